"""Labels for new rows, and a number for how well a map shows them."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from liontsne._native import Placer

SCORED = 10  # neighbours that `score` looks for


class TransfersLabels:
    """The parts of `LionTSNE` that say what new rows are, and how well they are shown."""

    if TYPE_CHECKING:
        _map: Any

        def _ask(self, ask: Any, X: Any) -> Any: ...
        def _ready(self) -> "Placer": ...
        def place(self, X: Any, *, ids: Any = None) -> Any: ...

    def predict_label(
        self, X: Any, *, return_share: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Returns the label of each row: that of most of the neighbours on which its position rests.

        The map must have been fitted with labels, `fit(X, y)`. Labels are texts, as the map file
        keeps them. Outliers have None, because the map does not know what they are. A row that equals
        a row of the map has its label.

        Parameters
        ----------
        X : array, frame or sparse matrix
            The rows.
        return_share : bool, default=False
            Also return how likely each label is right, from 0 to 1, nan for outliers. It is
            calibrated by rows of the map that are left out: of rows with a share of 0.8, about 80 %
            are right.

        Examples
        --------
        >>> import numpy as np
        >>> from liontsne import LionTSNE
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat(["low", "high"], 60)
        >>> X = rng.normal(size=(120, 4)) + np.where(y == "high", 9, 0)[:, None]
        >>> lion = LionTSNE(perplexity=10, random_state=0).fit(X, y)
        >>> lion.predict_label([[0, 0, 0, 0], [9, 9, 9, 9], [500, 0, 0, 0]])
        array(['low', 'high', None], dtype=object)
        """
        self._ready()
        if self._map.labels is None:
            raise ValueError(
                "the map has no labels to give to new rows: fit it with labels, fit(X, y), where y "
                "has classes"
            )
        placed = self.place(X)
        return (placed.label, placed.label_share) if return_share else placed.label

    def score(self, X: Any, y: Any = None) -> float:
        """Returns how well the map shows these rows, from 0 to 1: the mean share of the 10 rows of the
        map most like a row that are among the 10 nearest to its position.

        Give rows that the map was not fitted to, as `GridSearchCV` does. An outlier has a position
        apart, and counts with what is kept there, mostly nothing. Neighbours are those of the rows
        after the map's preprocessing, so scores of maps with different `pca` or `metric` are not
        comparable. `y` is ignored.
        """
        return float(np.mean(self._ask(lambda rows: self._ready().neighbours_kept(rows, SCORED), X)))
