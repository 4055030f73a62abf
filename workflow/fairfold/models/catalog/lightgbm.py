"""Gradient boosting of LightGBM (Ke et al. 2017), one ensemble per label.

The model uses 200 rounds of 15 leaves at a learning rate of 0.05. These are small steps with trees that suit rare
labels. Other settings are the defaults of LightGBM, except those that make results independent of the number of cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make(categories: Sequence[Sequence[int]] = ()) -> BaseEstimator:
    """Create an unfitted LightGBM classifier for each label.

    Parameters
    ----------
    categories : sequence of sequence of int, default=()
        One-hot columns of each category; see :func:`~fairfold.models.registry.make_model`.

    Returns
    -------
    estimator object
        Classifier of several labels.

    Raises
    ------
    ModelError
        If LightGBM cannot be loaded, for example because the system lacks OpenMP.
    """
    from fairfold.core.precision import DistinctValues
    from fairfold.errors import ModelError, first_sentence
    from fairfold.models.binary import as_csr_matrix, as_dense, one_per_label

    try:
        from lightgbm import LGBMClassifier
    except (ImportError, OSError) as error:
        raise ModelError(
            f"LightGBM cannot be loaded ({first_sentence(error)}). Install it with `pip install lightgbm` and OpenMP "
            "with `apt install libgomp1` or `brew install libomp`, or remove it from the models."
        ) from error
    same_everywhere: dict[str, Any] = {"deterministic": True, "force_row_wise": True, "n_jobs": 1}
    boosting = LGBMClassifier(n_estimators=200, num_leaves=15, learning_rate=0.05, verbose=-1, **same_everywhere)
    # LightGBM rounds whole numbers to single precision and treats numbers of up to 1e-35 as zero.
    distinct = DistinctValues(dtype="float64", least_gap=1e-34, moves=False)
    if not categories:
        return one_per_label(boosting, convert=as_csr_matrix, distinct=distinct)
    boosting.set_params(cat_feature=list(range(len(categories))))
    return one_per_label(boosting, convert=as_dense, distinct=distinct, categories=categories)


SPECS = with_correction(
    ModelSpec(
        "LightGBM",
        make=f"{__name__}:make",
        accepts_categories=True,
        phrase="gradient boosting for each label, with 200 rounds of 15 leaves and a learning rate of 0.05 [@ke2017]",
        traits=("boosting", "passed gaps", "close values"),
    )
)
