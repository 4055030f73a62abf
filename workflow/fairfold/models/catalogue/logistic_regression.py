"""Logistic regression, one per label: the linear baseline.

On standardised features, with scikit-learn's L2 penalty of C = 1; the many iterations are for wide data, on which its
solver does not end in the hundred that are its default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make() -> BaseEstimator:
    """Unfitted classifier of several labels."""
    from sklearn.linear_model import LogisticRegression

    from fairfold.models.binary import one_per_label

    return one_per_label(LogisticRegression(max_iter=1000), scale=True)


SPECS = with_correction(ModelSpec("logistic", make=f"{__name__}:make"))
