"""What a model looks like, the same in every figure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from fairfold.figures import PALETTE

# The place of a family of models gives its colour and marker. Yellow, too light for thin lines, is that of CaFE-OS.
FAMILIES = ("RF+ET", "gcForest", "SLCForest", "FLAForest", "LCForest", "CaFE", "CaFE-OS", "CaFE-SLC", "CaFE-FLA")
MARKERS = "osD^vPX*h"


def families_of(models: Sequence[str]) -> list[str]:
    """Names without "+", each once."""
    return list(dict.fromkeys(model.removesuffix("+") for model in models))


def colours_of(models: Sequence[str]) -> list[str]:
    """A colour for each model; one with a "+" has that of the model without."""
    return [PALETTE[place % len(PALETTE)] for place in _places(models)]


def markers_of(models: Sequence[str]) -> list[str]:
    """A marker for each model; one with a "+" has that of the model without."""
    return [MARKERS[place % len(MARKERS)] for place in _places(models)]


def _places(models: Sequence[str]) -> list[int]:
    """Place of each model's family; those of other names take the free places in their order, then begin anew."""
    families = families_of(models)
    free = (place for place in count() if place >= len(FAMILIES) or FAMILIES[place] not in families)
    place_of = {name: FAMILIES.index(name) if name in FAMILIES else next(free) for name in families}
    return [place_of[model.removesuffix("+")] for model in models]
