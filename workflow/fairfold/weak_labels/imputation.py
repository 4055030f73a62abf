"""Label imputation: which hidden positives a cascade level adds to the observed labels.

Three rules. Label complement (LC; Wang, Yang & Li 2020) asks all forests to agree. Strict label complement (SLC) and
fluid label addition (FLA) are those of Ilidio et al. (2024): SLC adds the likeliest candidates up to a cap, FLA divides
the probabilities by the label frequency and has no cap. All keep the observed positives, start anew from them at each
level (Equation 1), and impute nothing for a label without observed positives.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from fairfold.errors import ModelError, unknown_name

ROUNDINGS = ("ceil", "floor")


def positive_cap(
    observed: np.ndarray, frequency: np.ndarray, *, rounding: Literal["ceil", "floor"] = "ceil"
) -> np.ndarray:
    """Most positives that each label may have: u_j = observed positives / c_j in whole numbers, at most n_samples.

    Ilidio et al. (2024), Equation 7. Their code rounds down.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1.
    frequency : (n_labels,) label frequencies c_j in (0, 1].
    rounding : up (``"ceil"``) or down (``"floor"``).

    Returns
    -------
    (n_labels,) int64.

    Raises
    ------
    ModelError
        When shapes do not match, a frequency is out of range, or there is no such rounding.
    """
    if rounding not in ROUNDINGS:
        raise ModelError(unknown_name("rounding", rounding, ROUNDINGS))
    is_observed = np.asarray(observed, dtype=bool)
    n_positives = np.count_nonzero(is_observed, axis=0) / _checked_frequency(frequency, is_observed)
    # 21 / 0.7 is 30.000000000000004 in binary: a hair beside a whole number is that number
    whole = np.ceil(n_positives * (1 - 1e-12)) if rounding == "ceil" else np.floor(n_positives * (1 + 1e-12))
    return np.minimum(whole, len(is_observed)).astype(np.int64)


def label_complement(
    observed: np.ndarray, probabilities: np.ndarray, *, threshold: float = 0.4, inclusive: bool = False
) -> np.ndarray:
    """LC: add an unobserved label where every forest finds it likely enough (Wang, Yang & Li 2020, LCForest).

    Ilidio et al. (2024), Equation 2. There is neither a ranking nor a cap within a level, so that a label may overshoot
    its cap.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_forests, n_samples, n_labels), each forest's cross-validated probabilities.
    threshold : probability that each forest must exceed.
    inclusive : whether the threshold itself is enough, as in the code of Ilidio et al. (2024).

    Returns
    -------
    (n_samples, n_labels) int8 of 0/1.

    Raises
    ------
    ModelError
        When shapes do not match.
    """
    is_observed = np.asarray(observed, dtype=bool)
    probabilities = np.asarray(probabilities)
    if probabilities.ndim != 3 or len(probabilities) == 0:
        raise ModelError(
            f"probabilities have shape {probabilities.shape}; they must be (n_forests, *{is_observed.shape})."
        )
    _check_shape(probabilities[0], is_observed)
    agreed = probabilities >= threshold if inclusive else probabilities > threshold
    return _added(is_observed, agreed.all(axis=0))


def strict_label_complement(
    observed: np.ndarray,
    probabilities: np.ndarray,
    cap: np.ndarray,
    *,
    threshold: float = 0.5,
    frequency: np.ndarray | None = None,
) -> np.ndarray:
    """SLC: add the likeliest unobserved labels, up to the cap and only above the threshold.

    Candidates are ranked with the observed positives first, then by probability, ties by row; the first u_j of them may
    be positive, and those not observed only if their probability is *above* the threshold (Ilidio et al. 2024,
    Equation 8, whose "<" is a misprint).

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_samples, n_labels) mean out-of-bag probabilities of the forests.
    cap : (n_labels,) most positives per label, see :func:`positive_cap`.
    threshold : probability that an imputed label must exceed.
    frequency : (n_labels,) label frequencies c_j in (0, 1]. When given, p / c_j must exceed the threshold, as in
        :func:`fluid_label_addition`: so the published runs did, because a base class overwrote the setting. (They also
        ranked by p / c_j cut at 1, which ties all candidates with p above c_j in no certain order; here p ranks.)

    Returns
    -------
    (n_samples, n_labels) int8 of 0/1.

    Raises
    ------
    ModelError
        When shapes do not match or a frequency is out of range.
    """
    is_observed = np.asarray(observed, dtype=bool)
    probabilities, cap = np.asarray(probabilities), np.asarray(cap)
    _check_shape(probabilities, is_observed)
    if cap.shape != is_observed.shape[1:]:
        raise ModelError(f"cap has shape {cap.shape}; it must be ({is_observed.shape[1]},), a number per label.")
    order = np.argsort(np.where(is_observed, -np.inf, -probabilities), axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(order))[:, None], axis=0)
    share = probabilities if frequency is None else probabilities / _checked_frequency(frequency, is_observed)
    return _added(is_observed, (share > threshold) & (rank < cap))


def fluid_label_addition(
    observed: np.ndarray, probabilities: np.ndarray, frequency: np.ndarray, *, threshold: float = 0.5
) -> np.ndarray:
    """FLA: add the unobserved labels that would probably be positive if none were hidden, p / c_j above the threshold.

    Ilidio et al. (2024), Equation 9, whose "<" is a misprint; by Equation 6, p / c_j is the probability of the true
    label. There is no cap. The caller estimates c_j anew at every level, from the out-of-bag probabilities of the
    originally observed positives.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_samples, n_labels) mean out-of-bag probabilities of the forests.
    frequency : (n_labels,) label frequencies c_j in (0, 1], see :func:`~fairfold.weak_labels.label_frequency`.
    threshold : probability that an imputed label must exceed.

    Returns
    -------
    (n_samples, n_labels) int8 of 0/1.

    Raises
    ------
    ModelError
        When shapes do not match or a frequency is out of range.
    """
    is_observed = np.asarray(observed, dtype=bool)
    probabilities = np.asarray(probabilities)
    _check_shape(probabilities, is_observed)
    return _added(is_observed, probabilities / _checked_frequency(frequency, is_observed) > threshold)


def imputation_quality(truth: np.ndarray, observed: np.ndarray, imputed: np.ndarray) -> dict[str, np.ndarray]:
    """How well an imputation found the labels that were hidden on purpose.

    Parameters
    ----------
    truth, observed : (n_samples, n_labels) of 0/1, all labels and those that were seen. What is observed is true.
    imputed : (n_samples, n_labels), the labels after imputation: 0/1, or weights from 0 to 1 when labels were added in
        part. What is observed stays 1.

    Returns
    -------
    dict of (n_labels,) arrays: ``n_imputed``, the labels added to the observed ones; ``hits``, those of them that are
    true; ``misses``, hidden labels that were not added; ``precision``, hits / n_imputed, NaN when nothing was imputed;
    ``recall``, hits / hidden labels, NaN when nothing was hidden. A label added in part counts by its weight, as a miss
    by the rest. Counts are whole numbers when the imputed labels are.

    Raises
    ------
    ModelError
        When shapes do not match, a weight is outside 0 to 1, or an observed label is not true or not 1 among the
        imputed ones.
    """
    truth, observed, imputed = np.asarray(truth, dtype=bool), np.asarray(observed, dtype=bool), np.asarray(imputed)
    imputed = imputed.astype(np.int8) if imputed.dtype == bool else imputed
    for name, matrix in (("truth", truth), ("imputed labels", imputed)):
        if matrix.shape != observed.shape:
            raise ModelError(
                f"{name} have shape {matrix.shape}; they must match the observed labels' {observed.shape}."
            )
        if not ((matrix >= 0) & (matrix <= 1)).all():
            row, label = np.argwhere(~((matrix >= 0) & (matrix <= 1)))[0]
            raise ModelError(f"row {row}, label {label} is {matrix[row, label]} in the {name}; it must be from 0 to 1.")
        if (observed & (matrix < 1)).any():
            row, label = np.argwhere(observed & (matrix < 1))[0]
            raise ModelError(
                f"row {row}, label {label} is observed but {matrix[row, label]:g} in the {name}; "
                "observed positives must be 1."
            )
    hidden = truth & ~observed
    n_imputed = np.where(observed, 0, imputed).sum(axis=0)
    hits = np.where(hidden, imputed, 0).sum(axis=0)
    return {
        "n_imputed": n_imputed,
        "hits": hits,
        "misses": np.where(hidden, 1 - imputed, 0).sum(axis=0),
        "precision": _share(hits, n_imputed),
        "recall": _share(hits, np.count_nonzero(hidden, axis=0)),
    }


def _added(is_observed: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Observed positives and, for labels that have any, the chosen ones."""
    return (is_observed | (chosen & is_observed.any(axis=0))).astype(np.int8)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def _check_shape(probabilities: np.ndarray, is_observed: np.ndarray) -> None:
    if is_observed.ndim != 2 or probabilities.shape != is_observed.shape:
        raise ModelError(
            f"probabilities have shape {probabilities.shape} and labels {is_observed.shape}; both must be "
            "(n_samples, n_labels)."
        )


def _checked_frequency(frequency: np.ndarray, is_observed: np.ndarray) -> np.ndarray:
    frequency = np.asarray(frequency)
    if frequency.shape != is_observed.shape[1:]:
        raise ModelError(f"label frequencies have shape {frequency.shape}; they must be ({is_observed.shape[1]},).")
    if not ((frequency > 0) & (frequency <= 1)).all():
        label = np.flatnonzero(~((frequency > 0) & (frequency <= 1)))[0]
        raise ModelError(f"label {label} has frequency {frequency[label]}; it must be above 0 and at most 1.")
    return frequency
