"""Weak labels: hiding them, estimating how many are hidden, and imputing them."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.weak_labels.calibration import (
        LabelFrequencies,
        calibrate,
        estimated_label_frequency,
        fit_calibration,
        label_frequencies,
        posterior,
        shared_label_frequency,
    )
    from fairfold.weak_labels.frequency import label_frequency, tice
    from fairfold.weak_labels.imputation import (
        fluid_label_addition,
        imputation_quality,
        label_complement,
        positive_cap,
        strict_label_complement,
    )
    from fairfold.weak_labels.masking import mask_labels, mask_positives
    from fairfold.weak_labels.scar_test import scar_tests

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
