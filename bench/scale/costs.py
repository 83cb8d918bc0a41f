"""What the parts of a distributed job cost, by the one Arrow function on one thread: settling a row, filling it in, giving
positions to outliers; the bytes that travel; the memory of a worker."""

import json
import pickle
import sys
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from liontsne.distributed import placer

BATCH = 16384


def memory():
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return int(fields["VmRSS"].split()[0]) / 1024


def main():
    map, table, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
    batches, left = [], rows
    begun = time.perf_counter()
    for batch in pq.ParquetFile(table).iter_batches(BATCH):
        batches.append(batch.slice(0, min(left, len(batch))))
        left -= len(batches[-1])
        if left == 0:
            break
    read = time.perf_counter() - begun
    before = memory()
    place = placer(map, id="id", keep=["kind"], threads=1)
    list(place.resolve(iter(batches[:1])))
    opened = memory()
    begun = time.perf_counter()
    settled = list(place.resolve(iter(batches)))
    settle = time.perf_counter() - begun
    held = sum(batch.nbytes for batch in batches + settled) / 2**20
    peak = memory()
    strangers = pa.concat_arrays([batch.column("stranger") for batch in settled]).drop_null()
    steps = {}
    for count in [1000, 2000, 5000, 10000, 20000, 50000]:
        if count <= len(strangers):
            some = strangers.take(pa.array(range(0, len(strangers), len(strangers) // count))[:count])
            begun = time.perf_counter()
            place.positions([some])
            steps[count] = time.perf_counter() - begun
    positions = place.positions([strangers])
    begun = time.perf_counter()
    filled = list(place.fill(iter(settled), positions))
    fill = time.perf_counter() - begun
    print(json.dumps({
        "rows": rows,
        "read_us": read / rows * 1e6,
        "settle_us": settle / rows * 1e6,
        "fill_us": fill / rows * 1e6,
        "stranger_share": len(strangers) / rows,
        "stranger_bytes": sum(pc.binary_length(strangers).to_pylist()) / max(len(strangers), 1),
        "positions_bytes": len(pickle.dumps(positions)) / max(len(positions), 1),
        "task_bytes": len(pickle.dumps(place)),
        "row_bytes": sum(batch.nbytes for batch in filled) / rows,
        "positions_s": steps,
        "map_mb": opened - before,
        "worker_mb": peak - held,
    }))


if __name__ == "__main__":
    main()
