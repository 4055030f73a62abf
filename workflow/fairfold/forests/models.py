"""The named models of the weak-label study (Ilidio et al. 2024, Table 3), and their honest relatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from fairfold.errors import ModelError, unknown_name
from fairfold.forests.cascade import CascadeForest
from fairfold.forests.honest import HonestCascade
from fairfold.forests.levels import Level

_OUTPUT, _EMBEDDING, _BOTH = ("output",), ("embedding",), ("embedding", "output")

# Table 3: new features, crossing-over, label imputation, length control.
PUBLISHED_MODELS: dict[str, dict] = {
    "RF+ET": {"length_control": "single"},
    "gcForest": {"crossing_over": False, "length_control": "first-drop"},
    "LCForest": {"crossing_over": False, "imputation": "lc", "length_control": "imputation-limit"},
    "CaFE": {"features": _EMBEDDING, "length_control": "best-training"},
    "CaFE-OS": {"features": _BOTH, "length_control": "best-training"},
    "SLCForest": {"imputation": "slc"},
    "FLAForest": {"imputation": "fla"},
    "CaFE-SLC": {"features": _BOTH, "imputation": "slc"},
    "CaFE-FLA": {"features": _BOTH, "imputation": "fla"},
}
HONEST_MODELS: dict[str, dict] = {
    "gcForest+": {"features": _OUTPUT},
    "SLCForest+": {"features": _OUTPUT, "imputation": "slc"},
    "FLAForest+": {"features": _OUTPUT, "imputation": "fla"},
    "CaFE-SLC+": {"features": _BOTH, "imputation": "slc"},
    "CaFE-FLA+": {"features": _BOTH, "imputation": "fla"},
}
MODEL_NAMES = (*PUBLISHED_MODELS, *HONEST_MODELS)

# Where the paper's text and the authors' code differ. Each is a parameter of CascadeForest.
VARIANTS: dict[str, dict] = {
    "paper": {},
    "published": {
        "shared_seed": True,
        "node_weights": "published",
        "cap_rounding": "floor",
        "slc_threshold_on": "posterior",
        "imputer_features": "new",
        "tice_variant": "published",
    },
}


def make_models(
    names: Iterable[str], *, variant: Literal["paper", "published"] = "paper", **settings: object
) -> dict[str, CascadeForest | HonestCascade]:
    """Unfitted models by name; see :func:`make_model`. Those with a "+" are the same for both variants."""
    return {name: make_model(name, variant=None if name in HONEST_MODELS else variant, **settings) for name in names}


def reused_first_level(
    model: CascadeForest | HonestCascade, fitted: Mapping[str, CascadeForest | HonestCascade]
) -> dict[str, Level | None]:
    """Level 0 for ``fit`` from a model that grew the same forests, as an argument by name.

    Parameters
    ----------
    model : unfitted.
    fitted : models, by name, that were just fitted on the same data with the same whole-number seed.

    Returns
    -------
    ``{"first_level": level 0}`` of the first one whose forests have the same settings and random numbers; None where
    there is none.
    """

    def identity(of: CascadeForest | HonestCascade) -> tuple:
        # an honest cascade draws its random numbers as one without a shared seed
        return of.n_trees, of.min_samples_leaf, of.random_state, getattr(of, "shared_seed", False)

    same = (other.levels_[0] for other in fitted.values() if identity(other) == identity(model))
    return {"first_level": next(same, None)}


def make_model(
    name: str,
    *,
    variant: Literal["paper", "published", "honest"] | None = None,
    n_trees: int = 150,
    max_levels: int = 10,
    min_samples_leaf: int = 5,
    threshold: float = 0.5,
    percentile: float = 0.95,
    n_jobs: int | None = 1,
    random_state: int | np.random.RandomState | None = None,
    **options: object,
) -> CascadeForest | HonestCascade:
    """Unfitted model by its name; the defaults are the paper's settings (Section 4.3).

    Parameters
    ----------
    name : one of ``MODEL_NAMES``. Those with a "+" are honest cascades, see :mod:`fairfold.forests.honest`.
    variant : ``"paper"``, what the text says; ``"published"``, what the authors' code ran; ``"honest"``, the model of
        the same name with a "+". None is ``"honest"`` for names with a "+" and ``"paper"`` for the others.
    n_trees, max_levels, min_samples_leaf, threshold, percentile, n_jobs, random_state : see
        :class:`~fairfold.forests.cascade.CascadeForest`. ``percentile`` says nothing to an honest model, and
        ``max_levels`` nothing to ``"RF+ET"``, which has one level.
    **options : further parameters of the model's class, in place of the variant's.

    Raises
    ------
    ModelError
        When there is no model, variant or parameter of that name.
    """
    if name not in MODEL_NAMES:
        raise ModelError(unknown_name("model", name, MODEL_NAMES))
    is_honest = name in HONEST_MODELS
    variants = ("honest",) if is_honest else (*VARIANTS, "honest") if f"{name}+" in HONEST_MODELS else tuple(VARIANTS)
    variant = variant or variants[0]
    if variant not in variants:
        raise ModelError(f"variant of {name} is {variant!r}; it must be one of {', '.join(map(repr, variants))}.")
    settings = {
        "n_trees": n_trees,
        "max_levels": max_levels,
        "min_samples_leaf": min_samples_leaf,
        "threshold": threshold,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    if variant == "honest":
        model, chosen = HonestCascade, HONEST_MODELS[name if is_honest else f"{name}+"]
    else:
        model, chosen = CascadeForest, {**PUBLISHED_MODELS[name], **VARIANTS[variant], "percentile": percentile}
    parameters = {**settings, **chosen, **options}
    unknown = sorted(set(parameters) - set(model().get_params()))
    if unknown:
        raise ModelError(unknown_name(f"parameter of {name}", unknown[0], tuple(model().get_params())))
    return model(**parameters)


def describe_models(
    names: Sequence[str] = MODEL_NAMES, *, variant: Literal["paper", "published"] = "paper"
) -> pd.DataFrame:
    """Table 3 of the paper: what each model is made of, the "+" ones included.

    Parameters
    ----------
    names : of ``MODEL_NAMES``.
    variant : of the models without a "+".

    Returns
    -------
    DataFrame with the columns ``model, variant, new_features`` (what a level adds for the next: output-space features,
    tree embeddings or both), ``training_features`` (whether those of a training sample come from all trees, in-bag, or
    from those that did not see it), ``crossing_over, imputation, length_control``; "none" where a model has no such
    part.

    Raises
    ------
    ModelError
        When there is no model or variant of that name.
    """
    rows = []
    for name in names:
        is_honest = name in HONEST_MODELS
        model = make_model(name, variant=None if is_honest else variant)
        parts = model.get_params()
        row = {"model": name, "variant": "honest" if is_honest else variant}
        length_control = parts.get("length_control", f"best-oob, patience {parts.get('patience')}")
        if length_control == "single":
            row |= dict.fromkeys(("new_features", "training_features", "crossing_over", "imputation"), "none")
        else:
            row["new_features"] = " + ".join(parts["features"])
            row["training_features"] = parts.get("output_features", "out-of-bag")
            row["crossing_over"] = "yes" if parts["crossing_over"] else "none"
            row["imputation"] = parts["imputation"] or "none"
        rows.append({**row, "length_control": length_control})
    return pd.DataFrame(rows)
