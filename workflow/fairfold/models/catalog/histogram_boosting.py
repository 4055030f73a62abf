"""Histogram gradient boosting of scikit-learn, one ensemble per label.

The 200 rounds of 15 leaves at a learning rate of 0.05 match the settings for LightGBM. Early stopping is off, because
rare labels have too few positives for it. Sparse features are converted to dense ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make(categories: Sequence[Sequence[int]] = ()) -> BaseEstimator:
    """Create an unfitted histogram gradient boosting classifier for each label.

    Parameters
    ----------
    categories : sequence of sequence of int, default=()
        One-hot columns of each category; see :func:`~fairfold.models.registry.make_model`.

    Returns
    -------
    estimator object
        Classifier of several labels.
    """
    from fairfold.models.binary import as_dense, one_per_label
    from fairfold.models.exact_forests import MissingValueBoosting

    size = {"max_iter": 200, "max_leaf_nodes": 15, "learning_rate": 0.05, "early_stopping": False}
    boosting = MissingValueBoosting(**size, categorical_features=list(range(len(categories))) or None)
    return one_per_label(boosting, convert=as_dense, categories=categories)


SPECS = with_correction(
    ModelSpec(
        "HistGB",
        make=f"{__name__}:make",
        accepts_categories=True,
        phrase="histogram gradient boosting for each label, with 200 rounds of 15 leaves and a learning rate of 0.05 "
        "[@pedregosa2011]",
        traits=("boosting", "passed gaps"),
    )
)
