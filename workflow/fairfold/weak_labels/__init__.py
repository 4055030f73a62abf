"""Weak labels: hiding them, estimating how many are hidden, and imputing them."""

from fairfold.weak_labels.imputation import positive_cap, strict_label_complement
from fairfold.weak_labels.label_frequency import label_frequency
from fairfold.weak_labels.masking import mask_positives

__all__ = ["label_frequency", "mask_positives", "positive_cap", "strict_label_complement"]
