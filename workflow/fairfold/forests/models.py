"""The deep forests by name: those of Ilidio, Cerri, Vens & Nakano (2024), Table 3, and ours on out-of-bag features."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairfold.errors import ModelError, unknown_name

if TYPE_CHECKING:
    from fairfold.forests.base import BaseCascade

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
OUT_OF_BAG_MODELS: dict[str, dict] = {
    "gcForest+": {"features": _OUTPUT},
    "SLCForest+": {"features": _OUTPUT, "imputation": "slc"},
    "FLAForest+": {"features": _OUTPUT, "imputation": "fla"},
    "CaFE-SLC+": {"features": _BOTH, "imputation": "slc"},
    "CaFE-FLA+": {"features": _BOTH, "imputation": "fla"},
}
MODEL_NAMES = (*PUBLISHED_MODELS, *OUT_OF_BAG_MODELS)

# Where the paper's text and the authors' code differ. Each is a parameter of CascadeForest.
VARIANTS: dict[str, dict] = {
    "text": {},
    "authors-code": {
        "shared_seed": True,
        "node_weights": "authors-code",
        "cap_rounding": "floor",
        "slc_threshold_on": "posterior",
        "imputer_features": "new",
        "tice_variant": "authors-code",
    },
}
# As their result files have it, beside the scores: all other forests, and those of the other models, draw half.
_AUTHORS_FULL_SAMPLES: dict[str, tuple[str, ...]] = {
    "SLCForest": ("encoder",),
    "FLAForest": ("encoder",),
    "LCForest": ("imputer",),
}

# First levels that several models share -> who grows it, and how. Models without variants share that of the text, as
# they draw the same random numbers, unless their trees have chosen shapes.
FIRST_LEVELS: dict[str, dict] = {variant: {"name": "RF+ET", "variant": variant} for variant in VARIANTS}
FIRST_LEVELS["chosen-shapes"] = {"name": "gcForest+", "shape": "auto"}

# Looked up when they are needed, because loading Numba takes a second that who reads names need not wait.
_CASCADE = "fairfold.forests.cascade:CascadeForest"
_OUT_OF_BAG_CASCADE = "fairfold.forests.out_of_bag:OutOfBagCascade"


def make_model(
    name: str,
    *,
    variant: Literal["text", "authors-code"] | None = None,
    n_trees: int = 150,
    max_levels: int = 10,
    min_samples_leaf: int = 5,
    threshold: float = 0.5,
    percentile: float = 0.95,
    shape: Literal["auto", "paper"] = "auto",
    label_frequencies: Literal["shared", "by-label"] = "shared",
    n_jobs: int | None = 1,
    random_state: int | np.random.RandomState | None = None,
    **options: object,
) -> BaseCascade:
    """Unfitted deep forest by its name; the defaults are the paper's settings (Section 4.3).

    Parameters
    ----------
    name : one of ``MODEL_NAMES``. Those with a "+" work on out-of-bag features, those of training
        samples that come from trees which did not see them.
    variant : ``"text"``, what the paper's text says, or ``"authors-code"``, what its authors' code ran. None is
        ``"text"``. Those with a "+" have no variants.
    n_trees, max_levels, min_samples_leaf, threshold, percentile, n_jobs, random_state : see
        :class:`~fairfold.forests.cascade.CascadeForest`. ``percentile`` says nothing to models with a "+", and
        ``max_levels`` nothing to ``"RF+ET"``, which has one level.
    shape, label_frequencies : of models with a "+", see :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`.
    **options : further parameters of the model's class, in place of the variant's.

    Returns
    -------
    CascadeForest, or OutOfBagCascade for a "+"

    Raises
    ------
    ModelError
        When there is no model, variant or parameter of that name.
    """
    if name not in MODEL_NAMES:
        raise ModelError(unknown_name("model", name, MODEL_NAMES))
    settings = {
        "n_trees": n_trees,
        "max_levels": max_levels,
        "min_samples_leaf": min_samples_leaf,
        "threshold": threshold,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    if name in OUT_OF_BAG_MODELS:
        if variant is not None:
            raise ModelError(f"variant of {name} is {variant!r}, but it has none; leave it out.")
        model, chosen = resolve_name(_OUT_OF_BAG_CASCADE), {**OUT_OF_BAG_MODELS[name], "shape": shape}
        chosen["label_frequencies"] = label_frequencies
    else:
        if variant not in (None, *VARIANTS):
            allowed = ", ".join(map(repr, VARIANTS))
            raise ModelError(f"variant of {name} is {variant!r}; it must be one of {allowed}.")
        model = resolve_name(_CASCADE)
        chosen = {**PUBLISHED_MODELS[name], **VARIANTS[variant or "text"], "percentile": percentile}
        if variant == "authors-code":
            chosen["full_samples"] = _AUTHORS_FULL_SAMPLES.get(name, ())
    parameters = {**settings, **chosen, **options}
    unknown = sorted(set(parameters) - set(model().get_params()))
    if unknown:
        raise ModelError(unknown_name(f"parameter of {name}", unknown[0], tuple(model().get_params())))
    return model(**parameters)


def make_first_level(first_level: str, **settings: object) -> BaseCascade:
    """Unfitted model whose level 0 is that of all models that share it.

    Parameters
    ----------
    first_level : one of ``FIRST_LEVELS``.
    **settings : of :func:`make_model`.
    """
    return make_model(**{**settings, **FIRST_LEVELS[first_level], "max_levels": 0})
