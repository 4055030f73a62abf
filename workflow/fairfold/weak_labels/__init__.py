"""Weak labels: hiding them, estimating how many are hidden, and imputing them."""

from fairfold.weak_labels.calibration import (
    LabelFrequencies,
    calibrate,
    estimated_label_frequency,
    fit_calibration,
    label_frequencies,
    posterior,
    shared_label_frequency,
)
from fairfold.weak_labels.imputation import (
    fluid_label_addition,
    imputation_quality,
    label_complement,
    positive_cap,
    strict_label_complement,
)
from fairfold.weak_labels.label_frequency import label_frequency, tice
from fairfold.weak_labels.masking import mask_labels, mask_positives

__all__ = [
    "LabelFrequencies",
    "calibrate",
    "estimated_label_frequency",
    "fit_calibration",
    "fluid_label_addition",
    "imputation_quality",
    "label_complement",
    "label_frequencies",
    "label_frequency",
    "mask_labels",
    "mask_positives",
    "positive_cap",
    "posterior",
    "shared_label_frequency",
    "strict_label_complement",
    "tice",
]
