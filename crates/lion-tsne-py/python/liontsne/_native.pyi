"""The compiled half: arrays and texts in, arrays and texts out. Use `liontsne` itself instead."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[str, int, int, float | None], bool | None]
"""Told stage, done, total and KL divergence; False stops the work."""

__version__: str

def main(args: Sequence[str]) -> int:
    """Does what the command `lion` does with these arguments, its own name first: the exit code."""

@final
class Map:
    """A fitted map: rows, their places, and how they came to be. It never changes."""

    @staticmethod
    def fit(
        x: NDArray[np.float32],
        *,
        places: NDArray[np.float32] | None = None,
        labels: Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        recipe: bytes | None = None,
        params: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Map: ...
    def update(
        self,
        x: NDArray[np.float32],
        *,
        labels: Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
        params: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> tuple[Map, dict[str, Any]]: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Map: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Map: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str | PathLike[str]) -> str: ...
    def projected_by(
        self,
        mean: NDArray[np.float32],
        components: NDArray[np.float32],
        variances: Sequence[float],
        total_variance: float,
        unit: bool,
    ) -> Map: ...
    def before_projection(self) -> Map | None: ...
    pca: Final[
        tuple[NDArray[np.float32], NDArray[np.float32], list[float], float] | None
    ]
    embedding: Final[NDArray[np.float32]]
    kl: Final[float | None]
    kl_history: Final[NDArray[np.float64]]
    n_iter: Final[int]
    learning_rate: Final[float]
    perplexity: Final[float]
    rows: Final[int]
    dims: Final[int]
    input_dims: Final[int]
    radius: Final[float | None]
    asked_radius: Final[str | None]
    r_y: Final[float | None]
    r_close: Final[float | None]
    power: Final[float | None]
    power_curve: Final[NDArray[np.float64]]
    checksum: Final[str]
    labels: Final[list[str] | None]
    ids: Final[list[str] | None]
    columns: Final[list[str] | None]
    recipe: Final[str | None]
    metric: Final[str]
    seed: Final[int]
    pca_components: Final[int | None]
    method: Final[str]
    stopped_early: Final[bool]
    adopted: Final[bool]
    sampled_from: Final[dict[str, Any] | None]
    version: Final[str]

@final
class Landmarks:
    """Landmarks in the making: rows are added, then a map is fitted."""

    def __new__(
        cls,
        count: int,
        *,
        stratified: bool = False,
        cover: bool = False,
        params: dict[str, Any] | None = None,
        expected: dict[str, int] | None = None,
    ) -> Landmarks: ...
    def add(
        self,
        x: NDArray[np.float32],
        *,
        ids: tuple[NDArray[np.int64], NDArray[np.uint8]] | None = None,
        labels: tuple[NDArray[np.int64], NDArray[np.uint8]] | None = None,
    ) -> None: ...
    seen: Final[int]
    cols: Final[int]
    complete: Final[bool]
    def to_bytes(self) -> bytes: ...
    def merge(self, bytes: bytes) -> None: ...
    def fit(
        self, *, columns: Sequence[str] | None = None, progress: Progress | None = None
    ) -> Map: ...

@final
class Placer:
    """A map made ready for placing. Each call is for itself: outliers know of those in the same call."""

    def __new__(cls, map: Map, options: dict[str, Any] | None = None) -> Placer: ...
    def coordinates(self, x: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def score(self, x: NDArray[np.float32]) -> NDArray[np.float64]: ...
    def judge(self, x: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float64]]: ...
    def place(self, x: NDArray[np.float32], ids: Sequence[str] | None = None) -> Placements: ...
    def neighbours_kept(self, x: NDArray[np.float32], k: int) -> NDArray[np.float64]: ...
    r_x: Final[float]
    r_y: Final[float]
    r_close: Final[float]
    power: Final[float]
    verdict_rule: Final[str]
    alpha: Final[float | None]
    promised: Final[float | None]

class Columns:
    """Columns for whoever reads them through Arrow's C interface."""

    columns: Final[list[str]]
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    def __getattr__(self, name: str) -> Any: ...

@final
class Placements(Columns):
    """Placed rows as columns, read by others through Arrow's C interface without a copy."""

    id: Final[list[str]]
    coordinates: Final[NDArray[np.float32]]
    verdict: Final[list[str]]
    verdict_codes: Final[NDArray[np.int8]]
    nearest: Final[NDArray[np.uint32]]

def choices(name: str) -> list[str] | None: ...
def verdicts() -> list[str]: ...
def explained(
    map: Map,
    *,
    columns: Sequence[tuple[str, Sequence[float] | Sequence[str | None]]] | None = None,
    text: str | None = None,
    by: str = "auto",
    rows: Sequence[int] | None = None,
) -> tuple[str, list[list[int | None]]]: ...
def placement_types(dims: int) -> list[tuple[str, str]]: ...
def resolve(placer: Placer, x: NDArray[np.float32]) -> Columns: ...
def find_outliers(
    keys: NDArray[np.uint8], offsets: NDArray[np.int64], bytes: NDArray[np.uint8]
) -> NDArray[np.int64]: ...
def problems(placer: Placer, x: NDArray[np.float32]) -> list[tuple[int, int | None, str]]: ...
@final
class PendingOutliers:
    """Pending outliers of a job, each different one once."""

    def __new__(cls, placer: Placer) -> PendingOutliers: ...
    def add(self, offsets: NDArray[np.int64], bytes: NDArray[np.uint8]) -> None: ...
    def positions(self) -> Columns: ...

@final
class Built:
    """Another way of placing, built from a map."""

    def __new__(
        cls,
        map: Map,
        name: str,
        params: dict[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Built: ...
    def coordinates(self, x: NDArray[np.float32]) -> NDArray[np.float32]: ...
    notes: Final[list[str]]
    name: Final[str]

def baseline_names() -> list[str]: ...
def shares(map: Map, places: NDArray[np.float32], labels: Sequence[str]) -> NDArray[np.float64]: ...
def percentiles(map: Map, places: NDArray[np.float32]) -> NDArray[np.float64]: ...
def distances(map: Map, places: NDArray[np.float32]) -> NDArray[np.float64]: ...
def auc(strange: NDArray[np.float64], ordinary: NDArray[np.float64]) -> float: ...
def joined_kl(
    map: Map, x: NDArray[np.float32], places: NDArray[np.float32]
) -> tuple[NDArray[np.float64], float]: ...

def prepare_table(
    bytes: bytes, format: str, *, scale: str, missing: str | None = None
) -> dict[str, Any]: ...
def encode_table(
    map: Map, bytes: bytes, format: str, *, look: bool = True
) -> tuple[NDArray[np.float32], list[str]]: ...
