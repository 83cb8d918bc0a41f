"""Maps that take in new rows and keep their shape."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from liontsne import _params, _rows
from liontsne._native import Map

# What an estimator knows of the updates of its map beside the map itself.
OF_UPDATES = ("update_", "_row_count")


class UpdatesMap:
    """How `LionTSNE` takes new rows into its map."""

    def update(
        self,
        X: Any,
        y: Any = None,
        *,
        ids: Any = None,
        stability: float | None = None,
        keep: int | None = None,
        forget: Iterable[Any] = (),
        rows: Any = None,
    ) -> Self:
        """Returns a new estimator whose map also holds new rows. This one does not change.

        Old rows stay near where they were. New rows that are like old ones lie among them, and new
        rows that are like no old one but like each other become a cluster of their own. The map may
        turn, shift and widen as a whole. The perplexity stays that of the first fit. `update_` of
        the new estimator says what was done.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_new, n_features), or None
            The new rows. None adds no row: with `forget` or `keep`, old ones only go.
        y : array of shape (n_new,) or None
            Labels, as for `fit`. Rows without a label, old or new, have the label "".
        ids : sequence of distinct values or None
            Names of the new rows. If the map has ids, new rows need them; a pandas index that names
            each row will do. **A row with the id of an old row replaces it.** If the map has no ids,
            an index is not used, and rows have their numbers, counted from 0, as ids.
        stability : float from 0 to 1, or None
            How firmly old rows are held. At 0 nothing holds them. At 1 they do not move at all, but
            for a similarity transform of the whole map. None is 0.5, and 1 for positions made
            elsewhere.
        keep : int or None
            The new map has at most so many rows. A hash of the id decides which old rows go. Every
            cluster keeps 10 rows, or all it has.
        forget : sequence of ids
            The old rows that go.
        rows : array or frame of shape (n_samples, n_features), or None
            The rows of the old map in their order. The PCA is then made anew from old and new rows.
            If not, the PCA is kept, and widened where new rows stick out of it. Old rows are then
            taken to lie at 0 along the added components, and `transform` may miss their positions.

        Returns
        -------
        LionTSNE
            The estimator of the new map. Old rows come first, in their order, then new ones. Its
            `update_` is a dict:

            - `version`: 2 after the first update, 3 after the next; `parent`: the checksum of the
              old map.
            - `added` and `removed`: numbers of rows. A row that is replaced counts in both.
            - `kl`: the KL divergence, or None for positions made elsewhere.
            - `moved_median` and `moved_p90`: how far old rows moved, in radii of the map, without
              the similarity transform of the whole.
            - `stability`: what was used.
            - `new_clusters`: for each cluster of new rows alone, how many they are.
            - `emptied`: clusters of the old map that have no row left.
            - `widened`: components that the PCA was widened by.

        Examples
        --------
        >>> import numpy as np
        >>> from liontsne import LionTSNE
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(150, 4)) + 8 * rng.integers(0, 3, size=(150, 1))
        >>> lion = LionTSNE(perplexity=10).fit(X[:120])
        >>> newer = lion.update(X[120:])
        >>> lion.embedding_.shape, newer.embedding_.shape
        ((120, 2), (150, 2))
        >>> newer.update_["version"], newer.update_["added"], newer.update_["moved_median"] < 0.1
        (2, 30, True)
        """
        self._ready()
        options = self._update_options(stability, keep, forget, rows)
        updated = self._updated(X, y, ids, options)
        # A copy by `copy` would write the old map out and read it again.
        newer = object.__new__(type(self))
        newer.__dict__.update(self.__dict__)
        return newer._hold_update(*updated)

    def partial_fit(self, X: Any, y: Any = None, *, ids: Any = None, **options: Any) -> Self:
        """Fits the map to the first rows, and takes later rows into it.

        The first call is `fit`. Later ones are `update`, and change this estimator. If a call
        fails, the estimator stays as it was.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)
            The rows of this call. The perplexity stays that of the first call, so give enough rows
            there.
        y, ids
            As for `fit` and `update`.
        **options
            `stability`, `keep`, `forget` and `rows`, as for `update`. They have no effect at the
            first call.

        Examples
        --------
        >>> from liontsne import LionTSNE
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(150, 4))
        >>> lion = LionTSNE(perplexity=10)
        >>> for part in (X[:90], X[90:110], X[110:130], X[130:]):
        ...     lion = lion.partial_fit(part, keep=100)
        >>> lion.embedding_.shape, lion.update_["version"]
        ((100, 2), 4)
        """
        if "_map" not in self.__dict__:
            return self.fit(X, y, ids=ids)
        return self._hold_update(*self._updated(X, y, ids, self._update_options(**options)))

    def _update_options(
        self, stability: Any = None, keep: Any = None, forget: Any = (), rows: Any = None
    ) -> dict[str, Any]:
        """What an update is asked for, in the words of the native module."""
        options = {
            "stability": None if stability is None else _params.number("stability", stability),
            "keep": None if keep is None else _params.whole("keep", keep, 1),
            "forget": forgotten(self._map, forget),
            "seed": self._seed,
            "threads": _params.threads(self.n_jobs),
        }
        if rows is None:
            return options
        if self._reducer is not None:
            raise ValueError(
                "rows makes the PCA anew, and a map fitted to sparse rows keeps its PCA: leave rows out"
            )
        return options | {"rows": self._rows_to_place(rows)}

    def _updated(
        self, X: Any, y: Any, ids: Any, options: dict[str, Any]
    ) -> tuple[Map, dict[str, Any], int | None]:
        """The next map, what was done, and how many rows there ever were if they have no ids but
        their numbers."""
        if X is None:
            new = np.empty((0, self._map.input_dims), dtype=np.float32)
        else:
            new = self._rows_to_place(X)
        # Once rows went, the map has the numbers of the others as ids, though nobody gave any: new
        # rows then have the next numbers.
        before = getattr(self, "_row_count", None)
        if before is None and self._map.ids is None:
            before = self._map.rows
        if ids is None and before is not None:
            count = before + len(new)
            # The numbers in an index are no ids here: they would replace rows.
            names = None if self._map.ids is None else [str(row) for row in range(before, count)]
        else:
            count, names = None, _rows.ids_of(X, ids, len(new))
        with self._progress(self.callback) as progress:
            map, told = _rows.asked(
                new,
                self._map.update,
                of=self,
                labels=_rows.labels_of(y, len(new)),
                ids=names,
                params=options,
                progress=progress,
            )
        return map, told, count

    def _hold_update(self, map: Map, told: dict[str, Any], count: int | None) -> Self:
        """Takes the next map; radii that this estimator was told are found anew on it."""
        radii = {name: getattr(self, name) for name in ("r_y", "r_close")}
        radii = {name: value for name, value in radii.items() if value is not None}
        self._hold(map, self._reducer, self._seed, **radii | self._more)
        self.update_, self._row_count = told, count
        return self


def forgotten(map: Map, forget: Any) -> list[str]:
    """The ids of rows that go; each must be one of the map's."""
    if isinstance(forget, (str, bytes)) or not isinstance(forget, Iterable):
        raise ValueError(f"forget must be a list of ids, not {forget!r}")
    gone = [str(id) for id in (forget.tolist() if hasattr(forget, "tolist") else forget)]
    if gone:
        known = set(map.ids or (str(row) for row in range(map.rows)))
        unknown = next((id for id in gone if id not in known), None)
        if unknown is not None:
            raise ValueError(f"forget has the id {unknown!r}, and no row of the map has it")
    return gone
