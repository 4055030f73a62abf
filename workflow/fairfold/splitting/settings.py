"""Settings of folds and of the comparison of splitters."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fairfold.core.defaults import N_SPLITS
from fairfold.core.settings import DatasetsPart, Settings, SplitterName, SplitterNames, TwoOrMore


class Folds(Settings):
    """How samples are split into folds."""

    method: SplitterName = "annealed"
    """Method that splits the samples. `annealed` runs iterative stratification and then simulated annealing, and gives
    the most even folds. The others are published methods."""

    n_splits: TwoOrMore = N_SPLITS
    """Number of folds."""

    n_repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """Cross-validations of the weak-label study, each on another split. The run time grows in proportion. Parts that
    make separate splits have a separate key. The final model and `weak_labels.mechanisms` use the first split."""


class FoldEffect(DatasetsPart):
    """Effect of the splitter on cross-validated scores, for datasets without missing features or labels."""

    n_halvings: TwoOrMore = 10
    """Number of times that the samples are halved. Each half is cross-validated once and held out once."""

    n_repeats: TwoOrMore = 5
    """Splits of each half by each method."""


class Splitting(DatasetsPart):
    """Comparison of splitters."""

    methods: SplitterNames = [
        "random",
        "PMBSRS",
        "SS",
        "IS-first-seen",
        "SOIS-first-seen",
        "OptiSplit-DCP",
        "OptiSplit-rLD",
        "IS",
        "SOIS",
        "annealed",
    ]
    """Methods to compare."""

    n_repeats: TwoOrMore = 10
    """Splits of each dataset by each method."""

    fold_effect: FoldEffect = FoldEffect()
