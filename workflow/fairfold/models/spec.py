"""Specifications of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

STANDARDIZED, SINGLE = "standardized", "single precision"
SCALED = (STANDARDIZED, SINGLE, "filled gaps")
OUT_OF_BAG = ("levels out of bag", "shapes out of bag")
"""Traits that several models share."""

_CORRECTED = ", with calibrated probabilities, divided by the label frequency where labels are incomplete [@elkan2008]"


@dataclass(frozen=True)
class ModelSpec:
    """Specification of a model: its name, its constructor and its properties.

    Parameters
    ----------
    name : str
        Name in configurations, tables and figures.
    make : str
        Location of a callable as ``"package.module:name"``, which is imported when a model is made. The callable
        returns an unfitted classifier of several labels. Its ``predict_proba`` returns an array of shape (n_samples,
        n_labels) or scikit-learn's list.
    parameters : mapping of str -> object, default={}
        Arguments of the callable.
    settings : sequence of str, default=()
        Keys of ``weak_labels.forest`` that the callable accepts as further arguments.
    variants : bool, default=False
        Whether the callable accepts ``weak_labels.variant``.
    family : str, default=""
        Name of the base model whose color the model has in figures. An empty string stands for the model itself. Other
        members of a family are dashed or hatched.
    palette_index : int or None, default=None
        Index of the color and marker in the palette of figures. None uses the next free index.
    pools : sequence of str, default=()
        For a pool of models, names of the models that correspond to its members.
    imputes : bool, default=False
        Whether the model imputes labels and logs the imputations.
    shares_first_level : bool, default=False
        Whether ``fit`` accepts a first level that other models use, too.
    is_tuned : bool, default=False
        Whether the model searches its hyperparameters in each training part.
    is_stable : bool, default=False
        Whether predictions depend smoothly on the training samples, as those of logistic regression with a penalty do.
        Intervals of differences between stable models are narrower. Trees, boosting and neighbors are not stable.
    accepts_categories : bool, default=False
        Whether the callable accepts ``categories``, the one-hot columns of each categorical feature.
    package : str, default=""
        Module of an optional package that the model needs. Empty if the package of the study is enough.
    phrase : str, default=""
        Noun phrase that describes the model in texts of a publication, with citations such as ``[@breiman2001]``. Their
        BibTeX entries are in ``workflow/report/publish/references.bib``. By default, the callable.
    additions : mapping of str to str, default={}
        Parts of `phrase` by their names, in braces there. A part applies where a pool uses the members of the parameter
        of this name.
    traits : sequence of str, default=()
        Type of the model and steps of its training, from the lists of ``workflow/report/publish/methods.yaml``. Texts
        of a publication state them. A model without traits appears by its phrase only.

    Examples
    --------
    >>> from fairfold.models import ModelSpec
    >>> spec = ModelSpec("prior", make="sklearn.dummy:DummyClassifier", parameters={"strategy": "prior"})
    >>> spec.family, spec.phrase
    ('prior', 'a model of sklearn.dummy.DummyClassifier')
    """

    name: str
    make: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Sequence[str] = ()
    variants: bool = False
    family: str = ""
    palette_index: int | None = None
    pools: Sequence[str] = ()
    imputes: bool = False
    shares_first_level: bool = False
    is_tuned: bool = False
    is_stable: bool = False
    accepts_categories: bool = False
    package: str = ""
    phrase: str = ""
    additions: Mapping[str, str] = field(default_factory=dict)
    traits: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.family:
            object.__setattr__(self, "family", self.name)
        if not self.phrase:
            object.__setattr__(self, "phrase", f"a model of {self.make.replace(':', '.')}")


def with_correction(spec: ModelSpec) -> tuple[ModelSpec, ModelSpec]:
    """Return the specifications of a model and of its calibrated version, which can correct for missing labels.

    The name of the calibrated version ends with a plus sign.

    Parameters
    ----------
    spec : ModelSpec
        Specification of a model without a correction.

    Returns
    -------
    spec : ModelSpec
        The given specification.
    corrected : ModelSpec
        Specification of the calibrated version.

    Examples
    --------
    >>> from fairfold.models.spec import ModelSpec, with_correction
    >>> specs = with_correction(ModelSpec("prior", make="sklearn.dummy:DummyClassifier"))
    >>> [spec.name for spec in specs]
    ['prior', 'prior+']
    """
    corrected = ModelSpec(
        f"{spec.name}+",
        make="fairfold.models.correction:make_corrected",
        parameters={"name": spec.name},
        settings=spec.settings,
        family=spec.family,
        accepts_categories=spec.accepts_categories,
        is_tuned=spec.is_tuned,
        is_stable=spec.is_stable,
        package=spec.package,
        phrase=spec.phrase + _CORRECTED,
        traits=spec.traits,
    )
    return spec, corrected


def own_model(name: str, entry: Mapping[str, Any]) -> tuple[ModelSpec, ModelSpec]:
    """Specify a user-defined model and its calibrated version, which can correct for missing labels.

    Parameters
    ----------
    name : str
        Name of the model in the configuration.
    entry : mapping
        Entry of ``models.own`` with the key ``tuning``; see :func:`fairfold.models.own.make_estimator`.

    Returns
    -------
    plain : ModelSpec
        Specification of the model.
    corrected : ModelSpec
        Specification of the calibrated version, whose name ends with a plus sign.
    """
    plain = ModelSpec(
        name,
        make="fairfold.models.isolated:IsolatedClassifier",
        parameters={"name": name, "entry": entry},
        is_tuned=bool(entry["tune"]),
        phrase=f"a model of the authors of this study ({entry['class']})",
        traits=(STANDARDIZED, SINGLE) if entry.get("scale") else (),
    )
    parameters, phrase = {**plain.parameters, "corrected": True}, plain.phrase + _CORRECTED
    return plain, replace(plain, name=f"{name}+", parameters=parameters, phrase=phrase)
