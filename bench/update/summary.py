"""What the cases of `bench update` come to: numbers of a case, medians over cases, tables, and the points of the picture."""

import statistics

from common import markdown, number
from tools import ALL, FIXED, FRESH, LION, NAMES, RIVALS

HELD_TOGETHER = 0.95  # a class of which so much hangs together counts as one component
MOST_SHOWN = 1.5  # KL ratios above it are told under the chart: they would flatten all others
# What is drawn, the tools of a line from the least stability to the greatest.
MARKS = [
    ("lion update, stability 0 to 1", LION[1:]),
    ("lion update, default", LION[:1]),
    (f"dynamic t-SNE, stability {FIXED[0].split('-')[1]} to {FIXED[-1].split('-')[1]}", FIXED),
    *((NAMES[tool], [tool]) for tool in (FRESH, *RIVALS)),
]

COLUMNS = {
    "kl_ratio": ("KL / fresh", 3),
    "label_points": ("label share - fresh, points", 2),
    "kept": ("neighbours kept, %", 1),
    "trustworthiness": ("trustworthiness", 4),
    "unchanged_median": ("unchanged rows' move, median", 3),
    "unchanged_p90": ("p90", 3),
    "moved_median": ("old rows' move, median", 3),
    "moved_p90": ("p90", 3),
    "spearman": ("Spearman of move and change", 2),
    "one_component": ("new class in one component, %", 0),
    "whole_median": ("move since the first map, median", 3),
    "whole_p90": ("p90", 3),
    "data_spearman": ("Spearman of move and move in the data", 2),
}


def measures(run, fresh):
    """The numbers of a tool in a case: quality after the last step, moves as medians over steps, beside a fresh fit of the same rows."""
    steps, last = run["steps"], run["steps"][-1]
    whole = run.get("whole") or {}
    found = {"kept": 100 * last["kept"], "trustworthiness": last["trustworthiness"], "spearman": middle(step["spearman"] for step in steps)}
    for name in ("moved", "unchanged"):
        found[f"{name}_median"], found[f"{name}_p90"] = (middle(step[name][at] for step in steps) for at in (0, 1))
    found["whole_median"], found["whole_p90"] = whole.get("moved", (None, None))
    found["data_spearman"] = middle((step["in_data"] or {}).get("spearman") for step in steps)
    if last["largest_component"] is not None:
        found["one_component"] = 100.0 * (last["largest_component"] >= HELD_TOGETHER)
    if fresh:
        beside = fresh["steps"][-1]
        found["kl_ratio"] = last["kl"] / beside["kl"]
        found["label_points"] = 100 * (last["label_share"] - beside["label_share"])
    return found


def middle(values):
    """The median of those that there are."""
    there = [value for value in values if value is not None]
    return statistics.median(there) if there else None


def over_cases(cases, tool):
    """Medians over the cases that a tool has done; of the component, the share of cases."""
    done = [measures(case["tools"][tool], case["tools"].get(FRESH)) for case in cases if "steps" in case["tools"].get(tool, {})]
    if not done:
        return None
    found = {name: middle(case.get(name) for case in done) for name in COLUMNS}
    together = [case["one_component"] for case in done if case.get("one_component") is not None]
    found["one_component"] = statistics.mean(together) if together else None
    return found | {"cases": len(done)}


def table(cases):
    found = {tool: summed for tool in ALL if (summed := over_cases(cases, tool))}
    shown = [name for name in COLUMNS if any(summed[name] is not None for summed in found.values())]
    lines = [
        [NAMES[tool], str(summed["cases"]), *(number(summed[name], COLUMNS[name][1]) for name in shown)]
        for tool, summed in found.items()
    ]
    return markdown(["tool", "cases", *(COLUMNS[name][0] for name in shown)], lines)


def by_step(cases):
    """Of chains: KL beside the fresh fit's, and how far unchanged rows moved, after each step."""
    steps = max(len(case["steps"]) - 1 for case in cases)
    lines = []
    for tool in ALL:
        pairs = [(case["tools"][tool], case["tools"][FRESH]) for case in cases if all("steps" in case["tools"].get(t, {}) for t in (tool, FRESH))]
        for what, value in [
            ("KL / fresh", lambda run, fresh, at: run["steps"][at]["kl"] / fresh["steps"][at]["kl"]),
            ("unchanged rows' move", lambda run, _, at: run["steps"][at]["unchanged"][0]),
        ]:
            if pairs:
                values = [middle(value(run, fresh, at) for run, fresh in pairs) for at in range(steps)]
                lines.append([NAMES[tool], what, *(number(found, 3) for found in values)])
    return markdown(["tool", "median of", *(str(at + 1) for at in range(steps))], lines)


def text(cases):
    """All that is told of a scenario."""
    rivals = [tool for tool in RIVALS if any("steps" in case["tools"].get(tool, {}) for case in cases)]
    common = [case for case in cases if all("steps" in case["tools"].get(tool, {}) for tool in rivals)]
    parts = [table(cases)]
    if rivals and 0 < len(common) < len(cases):
        parts += [f"The same on what rivals were run on ({', '.join(title(case) for case in common)}):", table(common)]
    if len(cases[0]["steps"]) > 2:
        parts += ["Step by step:", by_step(cases)]
    failed = [f"{title(case)}, {NAMES[tool]}: {run['error']}" for case in cases for tool, run in case["tools"].items() if "error" in run]
    return "\n\n".join([*parts, *(["Not measured: " + "; ".join(failed) + "."] if failed else [])])


def title(case):
    return case["set"] + (f" {case['class']}" if case["class"] else "")


def frontier(scenarios, titles):
    """For each scenario the marks of the picture: how far rows moved, and the KL divergence beside that of a fresh fit."""
    charts = []
    for scenario, cases in scenarios.items():
        found = {tool: summed for tool in ALL if (summed := over_cases(cases, tool)) and summed["kl_ratio"]}
        # Where so much is new that no row has the neighbours that it had, the moves of all old rows tell.
        move = "unchanged_median" if any(summed["unchanged_median"] for summed in found.values()) else "moved_median"
        marks = {tool: [summed[move], summed["kl_ratio"]] for tool, summed in found.items() if summed[move] is not None}
        far = {tool: marks.pop(tool) for tool in list(marks) if marks[tool][1] > MOST_SHOWN}
        series = [
            {"name": name, "points": points, "line": len(tools) > 1}
            for name, tools in MARKS
            if (points := [marks[tool] for tool in tools if tool in marks])
        ]
        if series:
            notes = [f"{NAMES[tool]} is above the chart: {ratio:.2f} at a move of {moved:.3f}." for tool, (moved, ratio) in far.items()]
            label = "median move of old rows" + (" with unchanged neighbours" if move == "unchanged_median" else "") + ", map radii"
            charts.append({"title": titles[scenario], "x": label, "y": "KL divergence / that of a fresh fit", "series": series, "notes": notes})
    return charts
