"""Support vector machines with a Gaussian kernel, one per label: the baseline of small data.

On standardised features, with C = 1 and the kernel's width by the variance of the features, scikit-learn's "scale";
probabilities by Platt scaling. Time grows with the square of the samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make() -> BaseEstimator:
    """Unfitted classifier of several labels."""
    from sklearn.svm import SVC

    from fairfold.models.binary import one_per_label

    return one_per_label(SVC(), scale=True)


SPECS = with_correction(ModelSpec("RBF-SVM", make=f"{__name__}:make"))
