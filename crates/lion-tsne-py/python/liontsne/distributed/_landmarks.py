"""Landmarks of a table whose parts stay where they are: what each part knows of its rows travels, and
is merged."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from liontsne import _landmarks
from liontsne._landmarks import Part
from liontsne._native import Landmarks
from liontsne.distributed import _columns

if TYPE_CHECKING:
    from liontsne import LionTSNE

# Up to so many columns no PCA is made by itself, so there are no moments.
WITHOUT_PCA = 50
# States that are merged at a time, where they are merged on the way.
TOGETHER = 8

# How many rows of each label a part has.
Counts = Mapping[str, int]


@dataclass(frozen=True)
class Sampler:
    """Chooses landmarks from parts that do not know of each other. It travels with each task."""

    options: dict[str, Any]
    """How they are chosen, in the words of the native module."""
    id: str
    label: str | None
    columns: tuple[str, ...] | None
    is_list: bool = False
    """Whether the features are in one column of lists."""
    expected: Counts | None = None
    """How many rows of each label there are in all parts."""

    # On the driver

    def held_to(self, schema: pa.Schema) -> "Sampler":
        """The same with the features that a table of this schema has. All columns must be there, and
        be numbers."""
        rows = pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in schema], schema=schema)
        wanted = None if self.columns is None else list(self.columns)
        used = _landmarks.chosen(Part(rows), self.id, self.label, wanted)
        is_list = len(used) == 1 and _columns.of_lists(schema.field(used[0]).type)
        for name in [] if is_list else used:
            _landmarks.numbers("the table", name, rows.column(name))
        return replace(self, columns=tuple(used), is_list=is_list)

    @property
    def features(self) -> list[str]:
        """The features, or the one column of lists that holds them."""
        return list(self.columns or ())

    @property
    def needed(self) -> list[str]:
        """All columns that tasks look at."""
        named = [self.id] if self.label is None else [self.id, self.label]
        return list(dict.fromkeys([*named, *self.features]))

    @property
    def has_moments(self) -> bool:
        """Whether states may hold moments, which are large where columns are many."""
        asked = self.options["params"]["pca"]
        few = not self.is_list and len(self.features) <= WITHOUT_PCA
        return asked != "none" and not (asked == "auto" and few)

    def merged(self, states: Iterable[bytes]) -> Landmarks:
        """The landmarks of all parts."""
        landmarks = Landmarks(**self.options)
        for state in states:
            landmarks.merge(state)
        return landmarks

    # On a worker

    def count(self, batches: Iterable[pa.RecordBatch]) -> Counter[str]:
        """How many rows of each label there are."""
        counts: Counter[str] = Counter()
        for batch in batches:
            found = pc.value_counts(_landmarks.texts_of(Part(batch), self.label or ""))
            counts.update({one["values"]: one["counts"] for one in found.to_pylist()})
        return counts

    def sample(self, batches: Iterable[pa.RecordBatch], together: str | None = None) -> bytes:
        """What is known of these rows. Their features may have been put `together` in one column of
        lists."""
        landmarks = Landmarks(**self._alone, expected=self.expected)
        parts = (Part(batch, id=self.id) for batch in batches)
        used, called = (self.features, None) if together is None else ([together], self.features)
        _landmarks.show(landmarks, parts, self.id, self.label, used, called)
        return landmarks.to_bytes()

    def merge(self, states: Iterable[bytes]) -> bytes:
        """What is known of the rows of some parts."""
        landmarks = Landmarks(**self._alone)
        for state in states:
            landmarks.merge(state)
        return landmarks.to_bytes()

    @property
    def _alone(self) -> dict[str, Any]:
        """The options of a task: engines run one for each core already."""
        return self.options | {"params": self.options["params"] | {"threads": 1}}


def packed(counts: Counts) -> bytes:
    """Counts as bytes, for engines whose tables hold bytes."""
    return json.dumps(counts).encode()


def total(parts: Iterable[bytes]) -> Counts:
    """The counts of all parts."""
    return sum((Counter(json.loads(part)) for part in parts), Counter[str]())


def sampler(
    n_landmarks: int,
    id: str,
    label: str | None,
    columns: Sequence[str] | None,
    stratify: bool,
    cover: bool,
    params: dict[str, Any],
) -> tuple["LionTSNE", Sampler]:
    """What is to be fitted, and who chooses its rows."""
    from liontsne import LionTSNE

    lion = LionTSNE(**params)
    options = lion._landmark_options(n_landmarks, label, stratify, cover)
    if not isinstance(id, str):
        raise ValueError(
            f"id must be the name of a column, not {id!r}: rows that are in many places have no "
            "numbers, so a hash of their ids decides"
        )
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, not one text: give [{columns!r}]")
    return lion, Sampler(options, id, label, None if columns is None else tuple(columns))


def fit(
    lion: "LionTSNE",
    choose: Sampler,
    count: Callable[[], Counts],
    states: Callable[[Sampler], Iterable[bytes]],
    save: str | os.PathLike[str] | None,
) -> "LionTSNE":
    """Fits the map. `count` says how many rows there are, of each label if they are shared out by
    label. `states` has an engine sample all parts."""
    landmarks = choose.merged(states(replace(choose, expected=dict(count()))))
    if not landmarks.complete:
        # Ids that come often, or rows that changed meanwhile: without a limit nothing is missed.
        landmarks = choose.merged(states(choose))
    if not landmarks.seen:
        raise ValueError("the table has no rows")
    width = landmarks.cols
    names = choose.features
    if choose.is_list:
        names = _columns.items(names[0], width)
    lion._fit_chosen(landmarks, names, width)
    if save is not None:
        lion.save(save)
    return lion
