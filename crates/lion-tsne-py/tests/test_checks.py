"""scikit-learn's own checks. docs/python.md lists what is excepted, and why; this list is the same."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from liontsne import TSNE, LionTSNE

# Name of a check, and why it cannot hold.
EXCEPTED: dict[str, str] = {}


# The checks' own tables have as few as 10 rows, for which the default perplexity is too large.
@parametrize_with_checks(
    [LionTSNE(perplexity=2, max_iter=60), TSNE(perplexity=2, max_iter=60)],
    expected_failed_checks=lambda estimator: EXCEPTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
