"""The models of the study by name. Each module of ``fairfold.models.catalogue`` declares some, in a tuple ``SPECS``.

Nothing else has to know of a new one: configuration, rules, tables, colours and documents ask here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from fairfold.core.plugins import declared
from fairfold.core.validation import check_negatives
from fairfold.errors import ModelError, unknown_name
from fairfold.models.spec import ModelSpec, own_model

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from fairfold.core.hierarchy import Hierarchy
    from fairfold.core.validation import Negatives

DEFAULT = "Stack+"

_DECLARED = declared("fairfold.models.catalogue")
_SPECS: dict[str, ModelSpec] = {name: spec for name, (spec, _) in _DECLARED.items()}
MODEL_NAMES = tuple(_SPECS)
NO_OWN: Mapping[str, Any] = {"own": {}, "tuning": {}}


def spec_of(name: str) -> ModelSpec:
    """What is known of a model.

    Raises
    ------
    ModelError
        When there is no model of that name.
    """
    if name not in _SPECS:
        raise ModelError(unknown_name("model", name, _SPECS))
    return _SPECS[name]


def register(spec: ModelSpec) -> None:
    """Make a model known by its name until this process ends.

    Parameters
    ----------
    spec : its name, and where the callable is that makes it.

    Raises
    ------
    ModelError
        When the name is taken.
    """
    if spec.name in _SPECS:
        raise ModelError(f"there is a model {spec.name!r} already; give yours another name.")
    _SPECS[spec.name] = spec


def register_own(models: Mapping[str, Any]) -> None:
    """Make the models of a configuration known by their names until this process ends, each also corrected as NAME+.

    Parameters
    ----------
    models : the part ``models`` of a checked configuration, with ``own`` and ``tuning``.

    Raises
    ------
    ModelError
        When a name is taken.
    """
    for name, entry in models["own"].items():
        for spec in own_model(name, {**entry, "tuning": models["tuning"]}):
            if _SPECS.get(spec.name) != spec:
                register(spec)


def make_model(
    name: str,
    *,
    negatives: Negatives = "unlabelled",
    categories: Sequence[Sequence[int]] = (),
    hierarchy: Hierarchy | None = None,
    n_jobs: int | None = 1,
    random_state: Any = None,
    **settings: Any,
) -> ClassifierMixin:
    """Unfitted model by its name.

    Parameters
    ----------
    name : one of ``MODEL_NAMES``.
    negatives : what labels of 0 are: ``"unlabelled"``, not observed to be positive, or ``"confirmed"``, known to be
        negative. Models that impute labels, or correct for missing ones, then do not.
    categories : of each category the columns of the features, of 0/1, that stand for its values. Models that know
        categories make one of them again; to others they are features as all are.
    hierarchy : of the labels, or None. No probability that the model predicts is above that of a parent then, and no
        label is predicted or imputed without all that are above it.
    n_jobs, random_state : as of scikit-learn's estimators; any ``n_jobs`` gives the same result.
    **settings : as the model's own callable takes them; of the deep forests see
        :func:`fairfold.forests.make_model`.

    Returns
    -------
    scikit-learn classifier with ``fit(X, Y)``, ``predict``, ``predict_proba`` -> (n_samples, n_labels), and
    ``staged_predict_proba``, level by level

    Raises
    ------
    ModelError
        When there is no model of that name, or it has no such setting.
    """
    spec = spec_of(name)
    check_negatives(negatives, ModelError)
    try:
        known = {"categories": categories} if categories and spec.takes_categories else {}
        model = resolve_name(spec.make)(**spec.parameters, **settings, **known)
    except TypeError as error:
        raise ModelError(f"model {name} cannot be made: {error}.") from None
    if "negatives" in model.get_params(deep=False):
        model.set_params(negatives=negatives)
    if not hasattr(model, "staged_predict_proba"):
        model = resolve_name("fairfold.models.one_level:OneLevelModel")(model)
    if hierarchy is not None and "hierarchy" not in model.get_params(deep=False):
        raise ModelError(f"model {name} has levels, but does not take a hierarchy: give it such a parameter.")
    told = {} if hierarchy is None else {"hierarchy": hierarchy}
    return model.set_params(**told, n_jobs=n_jobs, random_state=random_state)


def settings_of(name: str, forest: Mapping[str, Any], variant: str) -> dict[str, Any]:
    """What a study tells :func:`make_model`: of its settings for all models, those that this one takes."""
    spec = spec_of(name)
    taken = {setting: value for setting, value in forest.items() if setting in spec.settings}
    return {**taken, **({"variant": variant} if spec.variants else {})}


def first_level_from(model: ClassifierMixin, fitted: Mapping[str, ClassifierMixin]) -> dict[str, Any]:
    """Level 0 for ``fit`` from a model that grew the same forests, as an argument by name.

    Parameters
    ----------
    model : unfitted.
    fitted : models, by name, that were just fitted on the same data with the same whole-number seed.

    Returns
    -------
    ``{"first_level": level 0}`` of the first one whose forests have the same settings and random numbers, or None where
    there is none; nothing for a model that shares none.
    """
    if not _shares(model):
        return {}

    def identity(of: ClassifierMixin) -> tuple:
        # a cascade on out-of-bag features draws its random numbers as one without a shared seed
        settings = of.n_trees, of.min_samples_leaf, of.random_state, getattr(of, "shared_seed", False)
        return *settings, getattr(of, "shape", "paper")

    same = (other.levels_[0] for other in fitted.values() if _shares(other) and identity(other) == identity(model))
    return {"first_level": next(same, None)}


def _shares(model: ClassifierMixin) -> bool:
    return "first_level" in signature(model.fit).parameters
