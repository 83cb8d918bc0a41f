"""A small simulation of a distributed job: how long so many rows take on so many cores, and where the time goes.

Two stages of tasks, one for each partition, are dealt out to cores as they become free; between them is the one step that
is not shared, positions for outliers. Costs come from measurements on one core (`Costs`); cores are not all equally quick.
"""

import heapq
import math
from dataclasses import dataclass, field


@dataclass
class Costs:
    """Seconds and bytes, as measured on one core."""

    row_seconds: float  # read and settle a row
    fill_seconds: float  # fill in and write a row
    task_seconds: float  # what a task costs however small it is
    start_seconds: float  # a cluster, its workers and the map on each
    stranger_share: float
    stranger_bytes: float
    positions_bytes: float
    # Seconds of the second step for so many outliers; in between and beyond along straight lines in logarithms.
    positions_seconds: dict[int, float] = field(default_factory=dict)


@dataclass
class Cluster:
    """Where the job runs."""

    cores: int
    cores_per_machine: int = 16
    bytes_per_second: float = 1.25e9  # of each machine: 10 Gbit/s
    spread: float = 0.1  # how much slower or quicker than the mean a task is
    crowding: float = 1.0  # how much longer a core takes while those beside it are busy


@dataclass
class Outcome:
    """Seconds of each part."""

    start: float
    settle: float
    gather: float
    positions: float
    fill: float

    @property
    def total(self):
        return self.start + self.settle + self.gather + self.positions + self.fill


def simulate(rows, cluster, costs, partition=131072):
    """The time of a job."""
    tasks = partition_sizes(rows, partition)
    strangers = rows * costs.stranger_share
    machines = math.ceil(cluster.cores / cluster.cores_per_machine)
    there = strangers * costs.stranger_bytes / cluster.bytes_per_second
    # Every machine gets all positions; they pass them on to each other.
    back = strangers * costs.positions_bytes / cluster.bytes_per_second * (1 + math.log2(machines))
    return Outcome(
        start=costs.start_seconds,
        settle=stage(tasks, costs.row_seconds, cluster, costs, 1),
        gather=there + back,
        positions=interpolated(costs.positions_seconds, strangers),
        fill=stage(tasks, costs.fill_seconds, cluster, costs, 2),
    )


def partition_sizes(rows, partition):
    return [partition] * (rows // partition) + ([rows % partition] if rows % partition else [])


def stage(tasks, seconds, cluster, costs, seed):
    """When the last of these tasks ends, each given to the first core that is free."""
    free = [0.0] * min(cluster.cores, len(tasks))
    heapq.heapify(free)
    for number, rows in enumerate(tasks):
        # A golden-ratio sequence: as even as can be, and the same each time.
        luck = 2 * ((number * seed * 0.6180339887498949) % 1) - 1
        begun = heapq.heappop(free)
        heapq.heappush(free, begun + costs.task_seconds + rows * seconds * cluster.crowding * (1 + cluster.spread * luck))
    return max(free, default=0.0)


def interpolated(points, x):
    """Between and beyond measured points, along straight lines in logarithms."""
    if not points or x <= 0:
        return 0.0
    known = sorted(points.items())
    if x <= known[0][0] or len(known) == 1:
        return known[0][1] * min(1.0, x / known[0][0])
    at = next((i for i in range(1, len(known)) if x <= known[i][0]), len(known) - 1)
    (x0, y0), (x1, y1) = known[at - 1], known[at]
    slope = math.log(y1 / y0) / math.log(x1 / x0)
    return y0 * (x / x0) ** slope
