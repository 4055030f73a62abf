"""Partial multi-label learning: `gcForest+` for labels with wrong and missing observed positives.

Out-of-bag probabilities determine the number of wrong positives and which ones are likely wrong
(:mod:`fairfold.models.wrong_positives`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairfold.models.spec import ModelSpec

if TYPE_CHECKING:
    from fairfold.models.wrong_positives import PartialLabelClassifier


def make(
    n_trees: int = 150, max_levels: int = 10, *, min_samples_leaf: int = 5, **options: Any
) -> PartialLabelClassifier:
    """Create an unfitted classifier for labels with wrong and missing positives.

    Parameters
    ----------
    n_trees : int, default=150
        Number of trees; see :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`.
    max_levels : int, default=10
        Maximum number of levels.
    min_samples_leaf : int, default=5
        Minimum number of samples in a leaf.
    **options : object
        Parameters of :class:`~fairfold.models.wrong_positives.PartialLabelClassifier`.

    Returns
    -------
    PartialLabelClassifier
        Classifier of several labels.
    """
    from fairfold.forests.out_of_bag import OutOfBagCascade
    from fairfold.models.wrong_positives import PartialLabelClassifier

    forests: dict[str, Any] = {"n_trees": n_trees, "max_levels": max_levels, "min_samples_leaf": min_samples_leaf}
    return PartialLabelClassifier(OutOfBagCascade(**forests, n_sketched=None), **options)


_SETTINGS = ("n_trees", "max_levels", "min_samples_leaf", "label_frequencies")

SPECS = (ModelSpec("PML+", make=f"{__name__}:make", settings=_SETTINGS),)
