"""Boosting of other packages that learns all labels together: CatBoost, XGBoost and BOOMER.

The packages are optional: `make baselines` installs them in a checkout, `pip install fairfold[baselines]` elsewhere.
CatBoost minimizes the cross-entropy of all labels with one oblivious tree per round (Prokhorenkova et al. 2018).
XGBoost grows trees with a vector of all labels in each leaf (Chen & Guestrin 2016). BOOMER learns rules (Rapp et al.
2020). Numbers of rounds and learning rates are the defaults of the packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairfold.models.spec import ModelSpec, with_correction

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def make_catboost() -> BaseEstimator:
    """Create an unfitted CatBoost classifier.

    Returns
    -------
    estimator object
        Classifier of several labels.

    Raises
    ------
    ModelError
        If the package is not installed.
    """
    parameters: dict[str, Any] = {
        "loss_function": "MultiLogloss",
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }
    return _prepared("catboost", "CatBoostClassifier", random_state=0, **parameters)


def make_xgboost() -> BaseEstimator:
    """Create an unfitted XGBoost classifier with vector leaves.

    Returns
    -------
    estimator object
        Classifier of several labels.

    Raises
    ------
    ModelError
        If the package is not installed.
    """
    return _prepared("xgboost", "XGBClassifier", multi_strategy="multi_output_tree", n_jobs=1, random_state=0)


def make_boomer() -> BaseEstimator:
    """Create an unfitted BOOMER classifier with a decomposable logistic loss.

    Returns
    -------
    estimator object
        Classifier of several labels.

    Raises
    ------
    ModelError
        If the package is not installed.
    """
    parameters: dict[str, Any] = {"loss": "logistic-decomposable", "head_type": "complete", "random_state": 1}
    return _prepared("mlrl.boosting", "BoomerClassifier", least_seed=1, **parameters)


def _prepared(module: str, name: str, least_seed: int = 0, **parameters: Any) -> BaseEstimator:
    from fairfold.errors import ModelError, first_sentence
    from fairfold.models.binary import as_dense, prepared
    from fairfold.models.joint_labels import JointLabels

    try:
        made = getattr(import_module(module), name)(**parameters)
    except (ImportError, OSError) as error:
        raise ModelError(
            f"{name} cannot be loaded ({first_sentence(error)}). Install it with `make baselines` in a checkout or "
            "`pip install fairfold[baselines]` elsewhere, or remove the model."
        ) from error
    return prepared(JointLabels(made, least_seed), convert=as_dense, fills=True)


def _specs(name: str, package: str, maker: str, phrase: str) -> tuple[ModelSpec, ModelSpec]:
    make = f"{__name__}:{maker}"
    return with_correction(
        ModelSpec(name, make=make, package=package, phrase=phrase, traits=("boosting", "filled gaps"))
    )


SPECS = (
    *_specs(
        "CatBoost",
        "catboost",
        "make_catboost",
        "gradient boosting with one oblivious tree per round for all labels, with the defaults of CatBoost "
        "[@prokhorenkova2018]",
    ),
    *_specs(
        "XGBoost",
        "xgboost",
        "make_xgboost",
        "gradient boosting of trees with a vector of all labels in each leaf, with the defaults of XGBoost [@chen2016]",
    ),
    *_specs(
        "BOOMER",
        "mlrl.boosting",
        "make_boomer",
        "boosted rules for all labels with a decomposable logistic loss, with the defaults of BOOMER [@rapp2020]",
    ),
)
