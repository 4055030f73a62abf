"""Partial multi-label learning: `gcForest+` for labels of which some observed positives are wrong, and others missing.

How many are wrong, and which, is read from out-of-bag probabilities (:mod:`fairfold.models.wrong_positives`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairfold.models.spec import ModelSpec

if TYPE_CHECKING:
    from fairfold.models.wrong_positives import PartialLabelClassifier


def make(
    n_trees: int = 150, max_levels: int = 10, *, min_samples_leaf: int = 5, shape: str = "auto", **options: Any
) -> PartialLabelClassifier:
    """Unfitted classifier of several labels.

    Parameters
    ----------
    n_trees, max_levels, min_samples_leaf, shape : of the cascade of forests; see
        :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`.
    **options : of :class:`~fairfold.models.wrong_positives.PartialLabelClassifier`.
    """
    from fairfold.forests.out_of_bag import OutOfBagCascade
    from fairfold.models.wrong_positives import PartialLabelClassifier

    forests = {"n_trees": n_trees, "max_levels": max_levels, "min_samples_leaf": min_samples_leaf, "shape": shape}
    return PartialLabelClassifier(OutOfBagCascade(**forests, n_sketched=None), **options)


_SETTINGS = ("n_trees", "max_levels", "min_samples_leaf", "label_frequencies")

SPECS = (ModelSpec("PML+", make=f"{__name__}:make", settings=_SETTINGS),)
