"""scikit-learn's own checks, none excepted."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from liontsne import TSNE, LionTSNE

# The checks' own tables have as few as 10 rows: the perplexity is what they allow.
FEW = {"perplexity": "auto", "max_iter": 60}


@parametrize_with_checks([LionTSNE(**FEW), TSNE(**FEW)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
