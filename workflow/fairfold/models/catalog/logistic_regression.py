"""Logistic regression, one per label: the linear baseline.

Features are standardized. The L2 penalty is the default of scikit-learn, C = 1. The maximum number of iterations is
raised for wide data, where the solver does not converge within the default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import ModelSpec, with_correction

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


SPECS = with_correction(ModelSpec("logistic", make=f"{__name__}:make"))
