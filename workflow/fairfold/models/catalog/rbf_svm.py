"""Support vector machines with a Gaussian kernel, one per label: the baseline for small data.

Features are standardized. C is 1, and the kernel width is scikit-learn's "scale". Probabilities come from Platt
scaling. Run time grows with the square of the number of samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.models.spec import SCALED, ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make() -> BaseEstimator:
    """Create an unfitted support vector machine for each label.

    Returns
    -------
    estimator object
        Classifier of several labels.
    """
    from sklearn.svm import SVC

    from fairfold.models.binary import one_per_label

    return one_per_label(SVC(), scale=True)


SPECS = with_correction(
    ModelSpec(
        "RBF-SVM",
        make=f"{__name__}:make",
        phrase="a support vector machine with a Gaussian kernel for each label on standardized features, C = 1 "
        "[@pedregosa2011]",
        traits=("support vector machine", *SCALED),
    )
)
