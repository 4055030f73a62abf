"""Deep forests by name: the models of Ilidio et al. (2024), Table 3, and the models on out-of-bag features."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal

from fairfold.errors import ModelError, unknown_name

if TYPE_CHECKING:
    from fairfold.forests.base import BaseCascade

_OUTPUT, _EMBEDDING, _BOTH = ("output",), ("embedding",), ("embedding", "output")

# Columns of Table 3: new features, crossing-over, label imputation and length control.
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
# Relatives in Table 1 with two random forests and two extra trees per level (also Deep-Resp-Forest), or with MLDF's
# length control. Deep tree ensembles are CaFE. The others need other tasks, costs or boosting.
RELATED_MODELS: dict[str, dict] = {
    "gcForest-4": {**PUBLISHED_MODELS["gcForest"], "n_pairs": 2},
    "MLDF": {"crossing_over": False, "length_control": "training-tolerance"},
}
OUT_OF_BAG_MODELS: dict[str, dict] = {
    "gcForest+": {"features": _OUTPUT},
    "SLCForest+": {"features": _OUTPUT, "imputation": "slc"},
    "FLAForest+": {"features": _OUTPUT, "imputation": "fla"},
    "CaFE-SLC+": {"features": _BOTH, "imputation": "slc"},
    "CaFE-FLA+": {"features": _BOTH, "imputation": "fla"},
}
MODEL_NAMES = (*PUBLISHED_MODELS, *OUT_OF_BAG_MODELS)

# Differences between the text of the paper and the code of its authors. Each key is a parameter of CascadeForest.
VARIANTS: dict[str, dict] = {
    "text": {},
    "authors-code": {
        "shared_seed": True,
        "node_weights": "authors-code",
        "cap_rounding": "floor",
        "slc_threshold_on": "posterior",
        "slc_freezes": True,
        "imputer_features": "new",
        "tice_variant": "authors-code",
        "early_stopping": False,
    },
}
# The authors' result files list these settings. All other forests of these and other models draw half of the samples.
_AUTHORS_FULL_SAMPLES = {"SLCForest": ("encoder",), "FLAForest": ("encoder",), "LCForest": ("imputer",)}

# Name of a shared first level -> settings of the model that grows it. Models without variants draw the same random
# numbers as the "text" variant and share its first level, unless their trees have chosen shapes.
FIRST_LEVELS: dict[str, dict] = {variant: {"name": "RF+ET", "variant": variant} for variant in VARIANTS}
FIRST_LEVELS["chosen-shapes"] = {"name": "gcForest+", "shape": "auto"}

# These classes are imported on first use because importing Numba is slow.
_CASCADE = "fairfold.forests.cascade:CascadeForest"
_OUT_OF_BAG_CASCADE = "fairfold.forests.out_of_bag:OutOfBagCascade"


def make_model(name: str, *, variant: Literal["text", "authors-code"] | None = None, **settings: Any) -> BaseCascade:
    """Create an unfitted deep forest from its name.

    The defaults are the settings of Ilidio, Cerri, Vens & Nakano (2024), Section 4.3.

    Parameters
    ----------
    name : str
        Name of the model, one of ``MODEL_NAMES``, or a relative in Table 1 of the paper: ``"gcForest-4"``, the original
        gcForest with four forests per level, or ``"MLDF"``. Models with a "+" use out-of-bag features: the features of
        a training sample come from the trees that did not draw the sample.
    variant : {"text", "authors-code"} or None, default=None
        Variant of a published model. ``"text"`` follows the text of the paper and ``"authors-code"`` follows the code
        of its authors. None is equivalent to ``"text"``. Models with a "+" have no variants.
    **settings : Any
        Parameters of :class:`~fairfold.forests.cascade.CascadeForest` or, for a model with a "+", of
        :class:`~fairfold.forests.out_of_bag.OutOfBagCascade`. Models with a "+" ignore ``percentile``. The other models
        ignore ``shape``. ``"RF+ET"`` has one level and ignores ``max_levels``. All ignore
        ``minutes``, a setting of ``"Stack+"``.

    Returns
    -------
    CascadeForest or OutOfBagCascade
        The unfitted model; an ``OutOfBagCascade`` for a name with a "+".

    Raises
    ------
    ModelError
        If the name, the variant or a parameter is unknown.

    Examples
    --------
    >>> from fairfold.forests import make_model
    >>> make_model("gcForest")
    CascadeForest(crossing_over=False, length_control='first-drop')
    >>> make_model("SLCForest+", n_trees=20)
    OutOfBagCascade(imputation='slc', n_trees=20)
    """
    if name not in (names := (*MODEL_NAMES, *RELATED_MODELS)):
        raise ModelError(unknown_name("model", name, names))
    if name in OUT_OF_BAG_MODELS:
        if variant is not None:
            raise ModelError(f"variant of {name} is {variant!r}, but this model has no variants. Remove the variant.")
        model, chosen, ignored = resolve_name(_OUT_OF_BAG_CASCADE), OUT_OF_BAG_MODELS[name], ["percentile", "minutes"]
    else:
        if variant not in (None, *VARIANTS):
            allowed = ", ".join(map(repr, VARIANTS))
            raise ModelError(f"variant of {name} is {variant!r}; it must be one of {allowed}.")
        model, ignored = resolve_name(_CASCADE), ["shape", "minutes"]
        chosen = {**(PUBLISHED_MODELS | RELATED_MODELS)[name], **VARIANTS[variant or "text"]}
        if variant == "authors-code":
            chosen["full_samples"] = _AUTHORS_FULL_SAMPLES.get(name, ())
    parameters = {**chosen, **{setting: value for setting, value in settings.items() if setting not in ignored}}
    known = tuple(model().get_params())
    if unknown := sorted(set(parameters) - set(known)):
        raise ModelError(unknown_name(f"parameter of {name}", unknown[0], known))
    return model(**parameters)


def make_first_level(first_level: str, **settings: object) -> BaseCascade:
    """Create an unfitted model with a single level, which several models can share as their level 0.

    Parameters
    ----------
    first_level : {"text", "authors-code", "chosen-shapes"}
        Level to create. The published models of a variant share the level with its name. Models with a "+" share
        ``"chosen-shapes"`` if their ``shape`` is ``"auto"``, else ``"text"``.
    **settings : Any
        Further parameters of the models, as for :func:`make_model`.

    Returns
    -------
    CascadeForest or OutOfBagCascade
        The unfitted model.

    Raises
    ------
    ModelError
        If a parameter is unknown.

    Examples
    --------
    >>> from fairfold.forests.models import make_first_level
    >>> make_first_level("text", n_trees=50)
    CascadeForest(length_control='single', max_levels=0, n_trees=50)
    """
    return make_model(**{**settings, **FIRST_LEVELS[first_level], "max_levels": 0})
