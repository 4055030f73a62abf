"""What the models are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fairfold.models.registry import NO_OWN, make_model, register_own, settings_of, spec_of

_PARTS = ("new_features", "training_features", "crossing_over", "imputation")


def describe_models(names: Iterable[str], variant: str = "text", own: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Table 3 of Ilidio, Cerri, Vens & Nakano (2024) for any models: what each is made of.

    Parameters
    ----------
    names : of models.
    variant : of those that have variants.
    own : the part ``models`` of a configuration, with the models of the user's own.

    Returns
    -------
    DataFrame with the columns ``model, variant, parameters`` ("tuned" where a model searches them in each training
    part, "as is" otherwise), ``new_features`` (what a level adds for the next: output-space features,
    tree embeddings or both), ``training_features`` (whether those of a training sample come from all trees, in-bag, or
    from those that did not see it), ``crossing_over, imputation, length_control``; "none" where a model has no such
    part, and ``length_control`` "single" where it has a single level.

    Raises
    ------
    ModelError
        When there is no model or variant of that name.
    """
    register_own(own or NO_OWN)
    return pd.DataFrame([_describe(name, variant) for name in names])


def _describe(name: str, variant: str) -> dict[str, str]:
    spec = spec_of(name)
    row = {"model": name, "variant": variant if spec.variants else "none"}
    row["parameters"] = "tuned" if spec.is_tuned else "as is"
    has_levels = "max_levels" in spec.settings
    parts = make_model(name, **settings_of(name, {}, variant)).get_params() if has_levels else {}
    length_control = parts.get("length_control")
    if "patience" in parts:
        length_control = f"best-oob, patience {parts['patience']}"
    if length_control in (None, "single"):
        return row | dict.fromkeys(_PARTS, "none") | {"length_control": "single"}
    return row | {
        "new_features": " + ".join(parts["features"]),
        "training_features": parts.get("output_features", "out-of-bag"),
        "crossing_over": "yes" if parts["crossing_over"] else "none",
        "imputation": parts["imputation"] or "none",
        "length_control": length_control,
    }
