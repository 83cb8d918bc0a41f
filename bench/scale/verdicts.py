"""Whether `lion place` called the strangers of a made table outliers."""

import json
import sys

import pyarrow.parquet as pq


def main():
    table, placed = (pq.ParquetFile(path) for path in sys.argv[1:])
    strangers = found = rows = false = 0
    given = table.iter_batches(65536, columns=["kind"])
    said = placed.iter_batches(65536, columns=["verdict"])
    for kinds, verdicts in zip(given, said, strict=True):
        strange = [kind == "stranger" for kind in kinds.column(0).to_pylist()]
        outlier = [verdict == "outlier" for verdict in verdicts.column(0).to_pylist()]
        strangers += sum(strange)
        found += sum(map(lambda a, b: a and b, strange, outlier))
        false += sum(map(lambda a, b: b and not a, strange, outlier))
        rows += len(strange)
    print(json.dumps({"strangers": strangers, "found": found, "false_share": false / (rows - strangers)}))


if __name__ == "__main__":
    main()
