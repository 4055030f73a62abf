"""Registry of models by name.

The modules of ``fairfold.models.catalog`` declare the built-in models in a tuple ``SPECS``. Configuration, workflow
rules, tables and figures look models up here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal

from fairfold.core.plugins import declared
from fairfold.core.validation import check_label_frequency
from fairfold.errors import ModelError, unknown_name
from fairfold.models.spec import ModelSpec, own_model

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from fairfold.core.hierarchy import Hierarchy
    from fairfold.core.validation import LabelFrequency
    from fairfold.features import TableEncoder

DEFAULT = "Stack+"

_DECLARED = declared("fairfold.models.catalog")
_SPECS: dict[str, ModelSpec] = {name: spec for name, (spec, _) in _DECLARED.items()}
MODEL_NAMES = tuple(_SPECS)


def spec_of(name: str, own: Mapping[str, Any] | None = None) -> ModelSpec:
    """Return the specification of a model.

    Parameters
    ----------
    name : str
        Name of the model.
    own : mapping or None, default=None
        Entries of further models, which need not be registered.

    Returns
    -------
    ModelSpec
        Specification of the model.

    Raises
    ------
    ModelError
        If the model does not exist.

    Examples
    --------
    >>> from fairfold.models.registry import spec_of
    >>> spec_of("kNN+").family
    'kNN'
    """
    base = name.removesuffix("+")
    if own and base in own:
        return own_model(base, own[base])[name != base]
    if name not in _SPECS:
        raise ModelError(unknown_name("model", name, _SPECS))
    return _SPECS[name]


def home_of(name: str) -> str:
    """Return the dotted name of the module that declares a built-in model.

    Parameters
    ----------
    name : str
        Name of the model.

    Returns
    -------
    str
        Module of ``fairfold.models.catalog``. Empty for other models.

    Examples
    --------
    >>> from fairfold.models.registry import home_of
    >>> home_of("logistic+")
    'fairfold.models.catalog.logistic_regression'
    """
    return _DECLARED[name][1] if name in _DECLARED else ""


def stable_models() -> frozenset[str]:
    """Return the names of models whose predictions depend smoothly on the training samples.

    Returns
    -------
    frozenset of str
        Names of the specifications with ``is_stable``.

    Examples
    --------
    >>> from fairfold.models.registry import stable_models
    >>> "logistic+" in stable_models()
    True
    """
    return frozenset(name for name, spec in _SPECS.items() if spec.is_stable)


def register(spec: ModelSpec) -> None:
    """Add a model to the registry of this process.

    Parameters
    ----------
    spec : ModelSpec
        Specification of the model.

    Raises
    ------
    ModelError
        If the name is taken.
    """
    if spec.name in _SPECS:
        raise ModelError(f"the name {spec.name!r} is taken by another model. Choose another name.")
    _SPECS[spec.name] = spec


def register_own(entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Add the models of a configuration to the registry of this process.

    A calibrated version, which can correct for missing labels, is added as NAME+.

    Parameters
    ----------
    entries : mapping of str to mapping
        Entry by model, as from :meth:`fairfold.models.settings.Models.entries`.

    Raises
    ------
    ModelError
        If a name is taken.
    """
    for name, entry in entries.items():
        for spec in own_model(name, entry):
            if _SPECS.get(spec.name) != spec:
                register(spec)


def make_model(
    name: str,
    *,
    label_frequency: LabelFrequency = 1.0,
    categories: Sequence[Sequence[int]] = (),
    features: TableEncoder | Mapping[str, Any] | Literal["auto"] | None = None,
    hierarchy: Hierarchy | None = None,
    n_jobs: int | None = 1,
    random_state: Any = None,
    **settings: Any,
) -> ClassifierMixin:
    """Create an unfitted model from its name.

    Parameters
    ----------
    name : str
        One of ``MODEL_NAMES`` or the name of a registered model.
    label_frequency : float, array-like of shape (n_labels,) or "estimate", default=1.0
        Share of positives that are observed. 1.0 takes labels as given: nothing is imputed, and probabilities are those
        of observed labels. A number, or one per label, is the known share. ``"estimate"`` assumes that positives are
        missing at random, at the same rate in all labels. Models without a correction ignore it.
    categories : sequence of sequence of int, default=()
        One-hot columns of each categorical feature. Models with native support for categories join them into one
        feature. Other models use the columns as they are.
    features : TableEncoder, mapping, "auto" or None, default=None
        Encoder of data frames with text, categories and dates, fitted with the model; see
        :class:`~fairfold.features.TableEncoder`. ``"auto"`` chooses the features of text that suit the model, and a
        mapping contains further parameters of the encoder. None accepts numbers only. Arrays are used as they are.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. If given, the probability of a label is at most that of its parents, and a label is
        predicted or imputed only together with its ancestors.
    n_jobs : int or None, default=1
        Number of threads. It does not affect results.
    random_state : int, RandomState or None, default=None
        Seed of the model.
    **settings : object
        Settings of the model, which are the arguments of its constructor; the message of an error lists them. For those
        of the deep forests, see :func:`fairfold.forests.make_model`. Hyperparameters of other packages have the names
        that ``get_params`` returns, and ``set_params`` changes them.

    Returns
    -------
    estimator object
        Scikit-learn classifier with the methods ``fit(X, y)``, ``predict``, ``predict_proba`` and
        ``staged_predict_proba``. Probabilities have the shape (n_samples, n_labels). The last method yields them level
        by level.

    Raises
    ------
    ModelError
        If the model does not exist or does not have a setting.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models import make_model
    >>> X = np.arange(8.0)[:, np.newaxis]
    >>> Y = np.column_stack([X[:, 0] >= 4, X[:, 0] < 2]).astype(int)
    >>> model = make_model("RandomForest", n_trees=20, random_state=0).fit(X, Y)
    >>> model.predict([[0.5], [7.0]])
    array([[0, 1],
           [1, 0]], dtype=int8)
    """
    spec = spec_of(name)
    check_label_frequency(label_frequency)
    try:
        known = {"categories": categories} if categories and spec.accepts_categories else {}
        model = resolve_name(spec.make)(**spec.parameters, **settings, **known)
    except TypeError as error:
        taken = dict.fromkeys([*spec.settings, *_arguments(resolve_name(spec.make))]).keys() - spec.parameters.keys()
        raise ModelError(
            f"model {name} cannot be created: {error}. Its settings: {', '.join(sorted(taken)) or 'none'}. To change "
            "hyperparameters, pass names of get_params() to set_params()."
        ) from None
    if "label_frequency" in model.get_params(deep=False):
        model.set_params(label_frequency=label_frequency)
    if features is not None:
        encoder = features
        if features == "auto" or isinstance(features, Mapping):
            parameters = {} if features == "auto" else features
            encoder = _encoder_for(model, spec).set_params(**parameters)
        model = resolve_name("fairfold.models.one_level:OneLevelModel")(model, encoder=encoder)
    elif not hasattr(model, "staged_predict_proba"):
        model = resolve_name("fairfold.models.one_level:OneLevelModel")(model)
    if hierarchy is not None and "hierarchy" not in model.get_params(deep=False):
        raise ModelError(f"model {name} has levels but no parameter hierarchy. Add this parameter to the model.")
    parameters = {} if hierarchy is None else {"hierarchy": hierarchy}
    return model.set_params(**parameters, n_jobs=n_jobs, random_state=random_state)


def _arguments(function: Callable) -> list[str]:
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return [name for name, each in signature(function).parameters.items() if each.kind in kinds]


def _encoder_for(model: ClassifierMixin, spec: ModelSpec) -> TableEncoder:
    """Create an encoder: components and terms of text for a pool, terms for linear models, components for others."""
    from fairfold.features import TableEncoder

    if "are_terms" in model.get_params(deep=False):
        return TableEncoder(text="both")
    return TableEncoder(text="sparse" if "linear" in spec.traits else "dense")


def settings_of(name: str, forest: Mapping[str, Any], variant: str) -> dict[str, Any]:
    """Select the settings of a study that a model accepts.

    Parameters
    ----------
    name : str
        Name of the model.
    forest : mapping
        Settings for all models, ``weak_labels.forest`` of the configuration.
    variant : str
        Variant for models that have variants.

    Returns
    -------
    dict
        Settings for :func:`make_model`.

    Raises
    ------
    ModelError
        If the model does not exist.

    Examples
    --------
    >>> from fairfold.models.registry import settings_of
    >>> settings_of("RandomForest", {"n_trees": 50, "max_levels": 3}, variant="text")
    {'n_trees': 50}
    """
    spec = spec_of(name)
    taken = {setting: value for setting, value in forest.items() if setting in spec.settings}
    return {**taken, **({"variant": variant} if spec.variants else {})}


def first_level_from(model: ClassifierMixin, fitted: Mapping[str, ClassifierMixin]) -> dict[str, Any]:
    """Find a fitted first level that a model can reuse.

    Parameters
    ----------
    model : estimator object
        Unfitted model.
    fitted : mapping of str -> estimator object
        Models that were fitted to the same data with the same integer seed, by name.

    Returns
    -------
    dict
        Argument ``first_level`` of ``fit``: the first level of the first model with the same forests, or None if no
        model has them. Empty for a model that does not share first levels.
    """
    if not _shares(model):
        return {}

    def identity(classifier: ClassifierMixin) -> tuple:
        # A cascade on out-of-bag features has no shared_seed and draws like one with shared_seed=False.
        settings = (
            classifier.n_trees,
            classifier.min_samples_leaf,
            classifier.random_state,
            getattr(classifier, "shared_seed", False),
        )
        return *settings, getattr(classifier, "shape", "paper")

    same = (other.levels_[0] for other in fitted.values() if _shares(other) and identity(other) == identity(model))
    return {"first_level": next(same, None)}


def _shares(model: ClassifierMixin) -> bool:
    return "first_level" in signature(model.fit).parameters
