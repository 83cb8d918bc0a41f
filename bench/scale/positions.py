"""What one process needs to give outliers their positions: seconds, and the most memory per outlier, beside the opened map."""

import json
import pickle
import sys
import time

import pyarrow as pa
from liontsne.distributed import placer


def memory(field):
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return int(fields[field].split()[0]) * 1024


def parts(path, count):
    """The first outliers of a file, part by part: none stays here."""
    with pa.OSFile(path) as file, pa.ipc.open_stream(file) as batches:
        for batch in batches:
            yield batch.column(0)[:count]
            count -= min(count, len(batch))
            if count == 0:
                return


def main():
    map, path, count, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    place = placer(map, threads=threads)
    # All that is set up with the first use.
    place.positions(parts(path, 1000))
    before = memory("VmRSS")
    begun, processor = time.perf_counter(), time.process_time()
    positions = place.positions(parts(path, count))
    seconds, processor = time.perf_counter() - begun, time.process_time() - processor
    print(json.dumps({
        "outliers": len(positions),
        "groups": len(positions.table["group"].unique()),
        "seconds": seconds,
        "cpu_seconds": processor,
        "bytes_per_outlier": (memory("VmHWM") - before) / count,
        "sent_per_outlier": len(pickle.dumps(positions)) / len(positions),
    }))


if __name__ == "__main__":
    main()
