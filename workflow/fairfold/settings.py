"""Typed configuration of a study."""

from __future__ import annotations

from fairfold.core.settings import NonNegative, Settings
from fairfold.cross_testing.settings import CrossTesting
from fairfold.datasets.settings import Data
from fairfold.ecoc.settings import ECOC
from fairfold.final.settings import Final
from fairfold.models.settings import MLCComparison, Models
from fairfold.publish.settings import Publish
from fairfold.splitting.settings import Folds, Splitting
from fairfold.weak_labels.settings import WeakLabels
from fairfold.win_percentage.settings import WinPercentage


class Study(Settings):
    """Configuration of a study."""

    seed: NonNegative
    """Every random stream is derived from this number and the names of the unit of work (dataset, missing rate, fold,
    method)."""

    data: Data = Data()

    models: Models = Models()

    folds: Folds = Folds()

    splitting: Splitting = Splitting()

    weak_labels: WeakLabels

    cross_testing: CrossTesting = CrossTesting()

    win_percentage: WinPercentage = WinPercentage()

    final: Final = Final()

    mlc_comparison: MLCComparison = MLCComparison()

    ecoc: ECOC = ECOC()

    publish: Publish = Publish()
