"""The tables of `cargo xtask bench verdicts`."""

import numpy as np

from common import markdown, number

INTRO = (
    "Sets are those that packages bundle, at most `--rows` rows of each, in random order; 70 % are fitted. All tools get the "
    "same columns: columns of mixed units were divided by their standard deviation, nothing else was done. PyOD's models "
    "have their defaults. Observed / promised is the share of ordinary rows with a score of at most alpha, over alpha; "
    "± is the standard error over splits, or that of as many independent rows where this is larger."
)
LOWEST, HIGHEST, ENOUGH = 0.8, 1.25, 400
MEASURES = ["auc", "found_1", "found_5"]
LION = "lion"


def all_of(records, alphas):
    """Titles and texts, of what was measured so far."""
    whole = [record for record in records if "error" not in record]
    texts = {"Calibration": calibration(records, alphas)}
    if whole:
        texts["Calibration, all sets"] = calibration_in_short(whole, alphas)
    with_unknown = [record for record in whole if record["unknown"]]
    if with_unknown:
        texts["Unknown classes, means over sets"] = means(with_unknown)
        texts["Unknown classes by set, AUC"] = by_set(with_unknown, "auc", 3)
        texts["Unknown classes by set, share found at 1 % false alarms"] = by_set(with_unknown, "found_1", 3)
    return texts


def ratios(record, alphas):
    """Observed over promised with its standard error, for each alpha."""
    return [(share / alpha, error / alpha) for share, error, alpha in zip(record["shares"], record["errors"], alphas)]


def outside(ratio, error):
    """Whether a rate is off by more than the tolerance and its standard error."""
    return ratio < LOWEST - error or ratio > HIGHEST + error


def calibration(records, alphas):
    """A line for each set; a flag where a set with enough rows is off."""
    head = ["set", "package", "training rows x columns", "splits", *(f"at {100 * alpha:.0f} %" for alpha in alphas)]
    head += ["called outliers %", "by the paper's rule %", "off"]
    lines = []
    for record in records:
        if "error" in record:
            lines.append([record["set"], f"not measured: {record['error']}"])
            continue
        found = ratios(record, alphas)
        line = [record["set"], record["source"], f"{record['training']} x {record['columns']}", str(record["splits"])]
        line += [number(ratio, 2, error) for ratio, error in found]
        line += [number(100 * record[key], 2) for key in ("called", "called_by_paper")]
        off = [f"{100 * alpha:.0f} %" for alpha, pair in zip(alphas, found) if outside(*pair)]
        lines.append([*line, ", ".join(off) if record["training"] >= ENOUGH else ""])
    return markdown(head, lines)


def calibration_in_short(records, alphas):
    """The means, the extremes, and how many sets are off."""
    lines = []
    for name, chosen in [(f"at least {ENOUGH}", True), ("fewer", False)]:
        some = [record for record in records if (record["training"] >= ENOUGH) == chosen]
        for at, alpha in enumerate(alphas if some else []):
            found = [ratios(record, alphas)[at] for record in some]
            values = [ratio for ratio, _ in found]
            off = sum(outside(*pair) for pair in found)
            line = [name, str(len(some)), f"{100 * alpha:.0f} %", number(np.mean(values), 2), number(min(values), 2)]
            lines.append([*line, number(max(values), 2), str(off)])
    head = ["training rows", "sets", "promised", "mean observed / promised", "lowest", "highest"]
    return markdown([*head, f"outside [{LOWEST}, {HIGHEST}] by more than an error"], lines)


def of_set(record, tool, measure):
    """The mean over the classes that were held out."""
    values = [found[tool][measure] for found in record["unknown"].values() if tool in found]
    return None if not values or None in values else float(np.mean(values))


def tools_of(records):
    return list(next(iter(records[0]["unknown"].values())))


def means(records):
    """A line for each tool; sets count alike, however many classes were held out."""
    head = ["tool", "AUC", "found at 1 % false alarms", "at 5 %", "sets where lion's AUC is no lower", "no lower by more than .01"]
    head += ["where lion finds no fewer at 1 %", "µs a row"]
    lines = []
    for tool in tools_of(records):
        line = [tool, *(number(mean(records, tool, measure), 3) for measure in MEASURES)]
        line += [no_lower(records, tool, *how) for how in [("auc", 0.0), ("auc", 0.01), ("found_1", 0.0)]]
        lines.append([*line, number(mean(records, tool, "microseconds"), 1)])
    kinds = sum(len(record["unknown"]) for record in records)
    words = f"{len(records)} sets, {kinds} classes held out. The first distance is lion's own, in the space of its map. "
    return markdown(head, lines) + f"\n\n{words}The paper's rule has no score: its verdict stands for one."


def mean(records, tool, measure):
    values = [of_set(record, tool, measure) for record in records]
    return None if None in values else float(np.mean(values))


def no_lower(records, tool, measure, slack):
    """In how many sets lion is at least as good as a tool, or nearly."""
    if tool == LION or LION not in tools_of(records):
        return "-"
    better = [of_set(record, LION, measure) >= of_set(record, tool, measure) - slack - 1e-9 for record in records]
    return f"{sum(better)} of {len(better)}"


def by_set(records, measure, digits):
    tools = tools_of(records)
    lines = []
    for record in records:
        values = [of_set(record, tool, measure) for tool in tools]
        lines.append([record["set"], str(len(record["unknown"])), *(number(value, digits) for value in values)])
    return markdown(["set", "classes", *tools], lines)
