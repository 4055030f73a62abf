"""Settings of error-correcting output codes."""

from __future__ import annotations

from typing import Annotated, Literal

from fairfold.core.settings import DatasetsPart, NonEmpty, Settings, TwoOrMore, Unique
from fairfold.ecoc.coding import Design

Example = Literal["linear", "custom-loss", "posterior", "arrhythmia"]


class Comparison(DatasetsPart):
    """Comparison of designs, binary losses, decodings and scikit-learn classifiers on data of three or more classes."""

    designs: Annotated[list[Design], Unique, NonEmpty] = [
        "onevsone",
        "onevsall",
        "ordinal",
        "denserandom",
        "sparserandom",
    ]
    """Coding designs."""


class ECOC(Settings):
    """Error-correcting output codes with cross-validated predictions."""

    examples: Annotated[list[Example], Unique] = []
    """Examples from the documentation of MATLAB's `kfoldPredict`. `arrhythmia` downloads its data, the others use iris.
    An empty list skips them."""

    n_splits: TwoOrMore = 10
    """Number of folds."""

    comparison: Comparison = Comparison()
