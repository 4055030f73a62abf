"""The deep forests by name: those of Ilidio, Cerri, Vens & Nakano (2024), Table 3, and ours on out-of-bag features."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal

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


def make_model(name: str, *, variant: Literal["text", "authors-code"] | None = None, **settings: Any) -> BaseCascade:
    """Unfitted deep forest by its name; the defaults are the paper's settings (Section 4.3).

    Parameters
    ----------
    name : one of ``MODEL_NAMES``. Those with a "+" work on out-of-bag features, those of training
        samples that come from trees which did not see them.
    variant : ``"text"``, what the paper's text says, or ``"authors-code"``, what its authors' code ran. None is
        ``"text"``. Those with a "+" have no variants.
    **settings : parameters of :class:`~fairfold.forests.cascade.CascadeForest` or, for a "+",
        :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`. Models with a "+" ignore ``percentile``, the others
        ``shape`` and ``label_frequencies``; ``"RF+ET"``, which has one level, ignores ``max_levels``.

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
    if name in OUT_OF_BAG_MODELS:
        if variant is not None:
            raise ModelError(f"variant of {name} is {variant!r}, but it has none; leave it out.")
        model, chosen, ignored = resolve_name(_OUT_OF_BAG_CASCADE), OUT_OF_BAG_MODELS[name], ("percentile",)
    else:
        if variant not in (None, *VARIANTS):
            allowed = ", ".join(map(repr, VARIANTS))
            raise ModelError(f"variant of {name} is {variant!r}; it must be one of {allowed}.")
        model, ignored = resolve_name(_CASCADE), ("shape", "label_frequencies")
        chosen = {**PUBLISHED_MODELS[name], **VARIANTS[variant or "text"]}
        if variant == "authors-code":
            chosen["full_samples"] = _AUTHORS_FULL_SAMPLES.get(name, ())
    parameters = {**chosen, **{setting: value for setting, value in settings.items() if setting not in ignored}}
    known = tuple(model().get_params())
    if unknown := sorted(set(parameters) - set(known)):
        raise ModelError(unknown_name(f"parameter of {name}", unknown[0], known))
    return model(**parameters)


def make_first_level(first_level: str, **settings: object) -> BaseCascade:
    """Unfitted model whose level 0 is that of all models that share it.

    Parameters
    ----------
    first_level : one of ``FIRST_LEVELS``.
    **settings : of :func:`make_model`.
    """
    return make_model(**{**settings, **FIRST_LEVELS[first_level], "max_levels": 0})
