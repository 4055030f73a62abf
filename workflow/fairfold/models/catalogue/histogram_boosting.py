"""Boosted trees of scikit-learn, one ensemble per label.

200 rounds of 15 leaves at a rate of 0.05, as of LightGBM here, whose design it shares; without early stopping, for
which rare labels have too few positives. It takes no sparse features: these are made dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make(categories: Sequence[Sequence[int]] = ()) -> BaseEstimator:
    """Unfitted classifier of several labels.

    Parameters
    ----------
    categories : see :func:`~fairfold.models.registry.make_model`.
    """
    from fairfold.models.binary import as_dense, one_per_label
    from fairfold.models.exact_forests import GapTolerantBoosting

    boosting = GapTolerantBoosting(
        max_iter=200,
        max_leaf_nodes=15,
        learning_rate=0.05,
        early_stopping=False,
        categorical_features=list(range(len(categories))) or None,
    )
    return one_per_label(boosting, convert=as_dense, categories=categories)


SPECS = with_correction(ModelSpec("HistGB", make=f"{__name__}:make", takes_categories=True))
