"""Logistic regression, one per label: the linear baseline.

Features are standardized. The L2 penalty of `logistic` is the default of scikit-learn, C = 1. `logistic-C` chooses one
C for all labels in each training part, by average precision over three folds, which matters for many sparse features
such as words. The maximum number of iterations is raised for wide data, where the solver does not converge within the
default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import SCALED, ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make() -> BaseEstimator:
    """Create an unfitted logistic regression for each label.

    Returns
    -------
    estimator object
        Classifier of several labels.
    """
    from sklearn.linear_model import LogisticRegression

    from fairfold.models.binary import one_per_label

    return one_per_label(LogisticRegression(max_iter=1000), scale=True)


def make_chosen() -> BaseEstimator:
    """Create an unfitted logistic regression for each label whose penalty is chosen by cross-validation.

    Returns
    -------
    estimator object
        Search over classifiers of several labels.
    """
    from sklearn.linear_model import LogisticRegression

    from fairfold.models.binary import one_per_label
    from fairfold.models.tuning import tuned

    regression = LogisticRegression(max_iter=1000)
    return tuned(one_per_label(regression, scale=True), regression, {"C": [0.001, 0.01, 0.1, 1.0, 10.0]})


_PHRASE = "L2-penalized logistic regression for each label on standardized features"

SPECS = (
    *with_correction(
        ModelSpec(
            "logistic",
            make=f"{__name__}:make",
            is_stable=True,
            phrase=f"{_PHRASE}, C = 1 [@pedregosa2011]",
            traits=("linear", *SCALED),
        )
    ),
    *with_correction(
        ModelSpec(
            "logistic-C",
            make=f"{__name__}:make_chosen",
            is_tuned=True,
            is_stable=True,
            phrase=f"{_PHRASE}, with one C chosen in each training part [@pedregosa2011]",
            traits=("linear", *SCALED, "chosen C"),
        )
    ),
)
