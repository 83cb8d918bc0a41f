"""scikit-learn's own checks. docs/python.md lists what is excepted, and why: the same list."""

from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from liontsne import TSNE, LionTSNE

# Name of a check, and why it cannot hold. The same checks hold on a plane: see below.
LINE = "the check sets n_components to 1, and a map has 2 or 3 dimensions"
EXCEPTED = dict.fromkeys(
    [
        "check_dont_overwrite_parameters",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    ],
    LINE,
)
# The checks' own tables have as few as 10 rows: the perplexity is what they allow.
FEW = {"perplexity": "auto", "max_iter": 60}


@parametrize_with_checks([LionTSNE(**FEW), TSNE(**FEW)], expected_failed_checks=lambda _: EXCEPTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class PlaneLionTSNE(LionTSNE):
    """Takes one dimension for two."""

    def _fit_params(self, reducer, seed):
        self.__dict__["n_components"], given = 2, self.n_components
        params = super()._fit_params(reducer, seed)
        self.n_components = given
        return params


class PlaneTSNE(TSNE):
    """Takes one dimension for two."""

    def _fit_params(self):
        self.__dict__["n_components"], given = 2, self.n_components
        params = super()._fit_params()
        self.n_components = given
        return params


@pytest.mark.parametrize("kind", [PlaneLionTSNE, PlaneTSNE])
@pytest.mark.parametrize("name", EXCEPTED)
def test_excepted_checks_hold_on_a_plane(kind, name):
    checks = estimator_checks_generator(kind(**FEW), legacy=True)
    (check,) = (check for _, check in checks if check.func.__name__ == name)
    check(kind(**FEW))


def test_the_list_is_in_the_docs():
    text = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
    assert all(f"`{name}`" in text for name in EXCEPTED) and LINE in text
