"""Whether `lion place` called the strangers of a made table outliers."""

import json
import sys
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq


def main():
    table, placed = (pq.ParquetFile(path) for path in sys.argv[1:])
    counts = Counter()
    given = table.iter_batches(65536, columns=["kind"])
    said = placed.iter_batches(65536, columns=["verdict"])
    for kinds, verdicts in zip(given, said, strict=True):
        both = pa.table({"kind": kinds.column(0), "verdict": verdicts.column(0)})
        for row in both.group_by(["kind", "verdict"]).aggregate([([], "count_all")]).to_pylist():
            kind = row["kind"] if row["kind"] in ("stranger", "family") else "ordinary"
            counts[kind, row["verdict"] == "outlier"] += row["count_all"]

    def of(kind):
        return {"rows": counts[kind, True] + counts[kind, False], "outliers": counts[kind, True]}

    print(json.dumps({kind: of(kind) for kind in ("stranger", "family", "ordinary")}))


if __name__ == "__main__":
    main()
