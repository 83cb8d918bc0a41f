"""`cargo xtask bench clusters`: clusters by density beside HDBSCAN, and keywords of 20 newsgroups.

Every set is mapped by `lion fit`, with three clusters of 0.2 % of its rows planted in its columns. The places of that map are
clustered by `lion explain --by density` at its usual level, and by HDBSCAN of scikit-learn and of the package hdbscan at several
sizes of a cluster. The parameters of ours were chosen on the sets of CHOSEN_ON and not changed for the others.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "verdicts"), str(HERE.parent / "update")]

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from datasets import newsgroups  # noqa: E402
from packages import fetch  # noqa: E402
from sets import Sources, load  # noqa: E402
from topics import TOPICS  # noqa: E402

CHOSEN_ON = ["mnist", "pendigits", "newsgroups-lsa", "satellite"]
CONFIRMED_ON = ["optdigits", "texture", "letter", "fashion", "segment", "reuters"]
MOST_ROWS = 10000
PLANTED = 3
PLANTED_SHARE = 0.002
# A planted cluster is found if one that was found shares so much with it (Jaccard).
FOUND = 0.5


def planted(x, random):
    """Groups of rows as close as neighbours are, each apart from everything by four times what is far among neighbours."""
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=2).fit(x).kneighbors(x)[0][:, 1]
    rows = max(5, round(PLANTED_SHARE * len(x)))
    groups = []
    for _ in range(PLANTED):
        direction = random.normal(size=x.shape[1])
        centre = x[random.integers(len(x))] + direction / np.linalg.norm(direction) * 4 * np.quantile(nearest, 0.99)
        groups.append(centre + random.normal(size=(rows, x.shape[1])) * np.median(nearest) / np.sqrt(2 * x.shape[1]))
    return np.vstack(groups), np.repeat([f"planted {i}" for i in range(PLANTED)], rows)


def mapped(name, sources, folder, lion):
    """The places of a set, and the class of each; the map file is kept."""
    file, labels_file = folder / f"{name}.lion", folder / f"{name}.labels.npy"
    if not file.exists():
        x, labels = newsgroups(sources) if name == "newsgroups-lsa" else (lambda s: (s.x, s.labels))(load(name, sources, MOST_ROWS))
        first = np.sort(np.unique(x, axis=0, return_index=True)[1])
        x, labels = np.asarray(x, float)[first], np.asarray(labels).astype(str)[first]
        more, more_labels = planted(x, np.random.default_rng(0))
        rows = folder / f"{name}.npy"
        np.save(rows, np.vstack([x, more]).astype(np.float32))
        np.save(labels_file, np.concatenate([labels, more_labels]))
        subprocess.run([lion, "fit", rows, "-o", file, "-q"], check=True)
    return file, np.load(labels_file)


def of_lion(lion, file, folder):
    """The clusters of the usual level, the places, and the seconds that it took."""
    table = folder / "clusters.csv"
    start = time.perf_counter()
    command = [lion, "explain", file, "--by", "density", "-o", table, "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seconds = time.perf_counter() - start
    rows = pd.read_csv(table)
    found = rows[f"cluster_{said['usual_level']}"].fillna(-1).astype(int).to_numpy()
    return found, rows[["x", "y"]].to_numpy(float), seconds


def judged(found, labels):
    """Adjusted Rand index without the planted rows (rows in no cluster are a class of their own), the share in no cluster, planted clusters found,
    clusters."""
    from sklearn.metrics import adjusted_rand_score

    own = ~np.char.startswith(labels, "planted ")
    hits = 0
    for name in np.unique(labels[~own]):
        truth = labels == name
        ids = [i for i in np.unique(found[truth]) if i >= 0]
        hits += any((truth & (found == i)).sum() / (truth | (found == i)).sum() > FOUND for i in ids)
    return adjusted_rand_score(labels[own], found[own]), float((found < 0).mean()), hits, len(set(found[found >= 0]))


def rivals(y):
    """HDBSCAN at its default and at sizes that a person may try."""
    import hdbscan
    from sklearn.cluster import HDBSCAN

    n = len(y)
    for size in sorted({5, 15, max(5, round(0.002 * n)), round(0.01 * n)}):
        start = time.perf_counter()
        yield f"scikit-learn, {size}", HDBSCAN(min_cluster_size=size, copy=True).fit_predict(y), time.perf_counter() - start
    start = time.perf_counter()
    yield "hdbscan, 5", hdbscan.HDBSCAN(min_cluster_size=5).fit_predict(y), time.perf_counter() - start


def compare(names, sources, folder, lion):
    print("| set | rows | classes | clusters by | ARI | in none | planted found | clusters | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        file, labels = mapped(name, sources, folder, lion)
        found, y, seconds = of_lion(lion, file, folder)
        results = [("lion", found, seconds), *rivals(y)]
        for at, (tool, found, seconds) in enumerate(results):
            ari, none, hits, clusters = judged(found, labels)
            head = f"{name} | {len(labels)} | {len(set(labels)) - PLANTED}" if at == 0 else " | | "
            print(f"| {head} | {tool} | {ari:.3f} | {100 * none:.0f} % | {hits} of {PLANTED} | {clusters} | {seconds:.2f} |", flush=True)


def keywords(sources, folder, lion):
    """The first five keywords of each newsgroup, and whether one is of its topic: topics.py was written first."""
    frame = sources.orange("20newsgroups-train")[["Category", "Text"]].dropna()
    frame = frame[frame["Text"].astype(str).str.strip() != ""].reset_index(drop=True)
    table, rows, labels, file = (folder / name for name in ("texts.csv", "texts.npy", "texts.labels.txt", "texts.lion"))
    frame[["Text"]].to_csv(table, index=False)
    # The groups are the labels, so where the rows are on the map does not matter: any places will do.
    np.save(rows, np.random.default_rng(0).normal(size=(len(frame), 2)).astype(np.float32))
    labels.write_text("\n".join(frame["Category"].astype(str)) + "\n")
    subprocess.run([lion, "fit", rows, "--labels", labels, "--embedding", rows, "-o", file, "-q"], check=True)
    command = [lion, "explain", file, "--rows", table, "--text", "Text", "--by", "labels", "--json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    hits = 0
    print("\n| group | first five keywords | of its topic |\n|---|---|---|")
    for cluster in said["clusters"]:
        first = cluster["keywords"][:5]
        known = [word for word in first if word in TOPICS[cluster["name"]]]
        hits += bool(known)
        print(f"| {cluster['name']} | {', '.join(first)} | {', '.join(known) or 'none'} |")
    print(f"\n{hits} of {len(said['clusters'])} groups have a keyword of their topic among the first five.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, required=True, help="the target folder of cargo")
    parser.add_argument("--sets", nargs="*", help="these sets only")
    parser.add_argument("--no-keywords", action="store_true")
    options = parser.parse_args()
    folder = options.target / "bench/clusters"
    folder.mkdir(parents=True, exist_ok=True)
    packages = options.target / "bench/packages"
    for problem in fetch(packages):
        print(problem, file=sys.stderr)
    lion, sources = options.target / "release/lion", Sources(packages)
    if options.sets is not None:
        compare(options.sets, sources, folder, lion)
    else:
        print("Parameters chosen on these sets:\n")
        compare(CHOSEN_ON, sources, folder, lion)
        print("\nConfirmed on these:\n")
        compare(CONFIRMED_ON, sources, folder, lion)
    if not options.no_keywords:
        keywords(sources, folder, lion)


main()
