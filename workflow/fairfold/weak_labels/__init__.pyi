from .calibration import (
    calibrate as calibrate,
    fit_calibration as fit_calibration,
    fitted_label_frequency as fitted_label_frequency,
    posterior as posterior,
    shared_label_frequency as shared_label_frequency,
)
from .frequency import label_frequency as label_frequency, tice as tice
from .imputation import (
    fluid_label_addition as fluid_label_addition,
    imputation_quality as imputation_quality,
    label_complement as label_complement,
    positive_cap as positive_cap,
    strict_label_complement as strict_label_complement,
)
from .masking import mask_labels as mask_labels, mask_positives as mask_positives
