"""The named models of the weak-label study (Ilidio et al. 2024, Table 3)."""

from __future__ import annotations

import numpy as np

from fairfold.errors import ModelError, unknown_name
from fairfold.forests.cascade import CascadeForest

# Model -> label imputation; a model without imputation is a single level.
_IMPUTATION = {"RF+ET": None, "SLCForest": "slc"}

MODEL_NAMES = tuple(_IMPUTATION)


def make_model(
    name: str,
    *,
    n_trees: int = 150,
    max_levels: int = 10,
    min_samples_leaf: int = 5,
    threshold: float = 0.5,
    percentile: float = 0.95,
    n_jobs: int | None = 1,
    random_state: int | np.random.RandomState | None = None,
) -> CascadeForest:
    """Unfitted model by its name; the defaults are the paper's settings (Section 4.3).

    Parameters
    ----------
    name : one of ``MODEL_NAMES``: ``"RF+ET"``, a random forest and extra trees side by side; ``"SLCForest"``, a cascade
        of them on output-space features with strict label complement.
    n_trees, max_levels, min_samples_leaf, threshold, percentile, n_jobs, random_state : see
        :class:`~fairfold.forests.cascade.CascadeForest`. ``max_levels`` says nothing to ``"RF+ET"``, which has one.

    Raises
    ------
    ModelError
        When there is no model of that name.
    """
    if name not in _IMPUTATION:
        raise ModelError(unknown_name("model", name, MODEL_NAMES))
    imputation = _IMPUTATION[name]
    return CascadeForest(
        n_trees=n_trees,
        max_levels=max_levels if imputation else 0,
        imputation=imputation,
        min_samples_leaf=min_samples_leaf,
        threshold=threshold,
        percentile=percentile,
        n_jobs=n_jobs,
        random_state=random_state,
    )
