"""What the study has to know of a model before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class ModelSpec:
    """A model by its name, and all that configuration, rules, tables and figures need to know of it.

    Parameters
    ----------
    name : what configurations, tables and figures call it.
    make : where the callable is that makes it, as ``"package.module:name"``; it is looked up when a model is made. It
        returns an unfitted classifier of several labels, ``predict_proba`` as of scikit-learn's or (n_samples,
        n_labels).
    parameters : what it is called with.
    settings : the keys of ``weak_labels.forest`` that it takes besides.
    variants : whether it takes ``weak_labels.variant``.
    family : name of the model of which this is a variation, in whose colour it is drawn, dashed or hatched; itself
        otherwise.
    palette_index : of its colour and marker in the figures' palette; the next that is free where it has none.
    pools : names of the models that are like its members, of a pool.
    imputes : whether it imputes labels, and keeps a log of that.
    shares_first_level : whether its ``fit`` takes the first level that it has in common with others.
    is_tuned : whether it searches its parameters in each training part.
    takes_categories : whether it is called with ``categories``, too, columns of which each is one value of a category.
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
    takes_categories: bool = False

    def __post_init__(self) -> None:
        if not self.family:
            object.__setattr__(self, "family", self.name)


def with_correction(spec: ModelSpec) -> tuple[ModelSpec, ModelSpec]:
    """The model, and the same corrected for missing labels under its name with a plus sign.

    Parameters
    ----------
    spec : of a model without a correction.

    Returns
    -------
    spec, corrected : ModelSpec
        To be put into ``SPECS``.
    """
    corrected = ModelSpec(
        f"{spec.name}+",
        make="fairfold.models.correction:make_corrected",
        parameters={"of": spec.name},
        settings=(*spec.settings, "label_frequencies"),
        family=spec.family,
        takes_categories=spec.takes_categories,
    )
    return spec, corrected


def own_model(name: str, entry: Mapping[str, Any]) -> tuple[ModelSpec, ModelSpec]:
    """A model of the user's own, and the same corrected for missing labels under its name with a plus sign.

    Parameters
    ----------
    name : as the configuration calls it.
    entry : what the configuration says of it, with ``tuning``; see :func:`fairfold.models.own.make_estimator`.
    """
    plain = ModelSpec(
        name,
        make="fairfold.models.isolated:IsolatedClassifier",
        parameters={"name": name, "entry": entry},
        is_tuned=bool(entry["tune"]),
    )
    return plain, replace(plain, name=f"{name}+", parameters={**plain.parameters, "corrected": True})
