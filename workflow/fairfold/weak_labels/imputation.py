"""Label imputation: which hidden positives a cascade level adds to the observed labels.

Three rules. Label complement (LC; Wang, Yang & Li 2020) asks all forests to agree. Strict label complement (SLC) and
fluid label addition (FLA) are those of Ilidio et al. (2024): SLC adds the likeliest candidates up to a cap, FLA divides
the probabilities by the label frequency and has no cap. All keep the observed positives, start anew from them at each
level (Equation 1), and impute nothing for a label without observed positives.

A probability of 0 imputes nothing, so only cells with a label or a probability are looked at. Labels are sparse where
probabilities are, and time and memory grow with what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, stored_cells, with_sparsity
from fairfold.core.validation import check_binary, check_label_matrix
from fairfold.errors import ModelError, unknown_name
from fairfold.weak_labels.rankings import check_shapes, places_in_labels

ROUNDINGS = ("ceil", "floor")


def positive_cap(observed: Matrix, frequency: np.ndarray, *, rounding: Literal["ceil", "floor"] = "ceil") -> np.ndarray:
    """Most positives that each label may have: u_j = observed positives / c_j in whole numbers, at most n_samples.

    Ilidio et al. (2024), Equation 7. Their code rounds down.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, dense or CSR.
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
    observed = check_label_matrix(observed, "observed", ModelError, unmeasured=False)
    n_positives = (observed != 0).sum(axis=0) / _checked_frequency(frequency, observed.shape)
    # 21 / 0.7 is 30.000000000000004 in binary: a hair beside a whole number is that number
    whole = np.ceil(n_positives * (1 - 1e-12)) if rounding == "ceil" else np.floor(n_positives * (1 + 1e-12))
    return np.minimum(whole, observed.shape[0]).astype(np.int64)


def label_complement(
    observed: Matrix, probabilities: np.ndarray | Sequence[Matrix], *, threshold: float = 0.4, inclusive: bool = False
) -> Matrix:
    """LC: add an unobserved label where every forest finds it likely enough (Wang, Yang & Li 2020, LCForest).

    Ilidio et al. (2024), Equation 2. There is neither a ranking nor a cap within a level, so that a label may overshoot
    its cap.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_forests, n_samples, n_labels), each forest's cross-validated probabilities; or a list of CSR
        matrices, one of each.
    threshold : probability that each forest must exceed.
    inclusive : whether the threshold itself is enough, as in the code of Ilidio et al. (2024).

    Returns
    -------
    (n_samples, n_labels) int8 of 0/1, CSR where probabilities are.

    Raises
    ------
    ModelError
        When shapes do not match.
    """
    if len(probabilities) == 0:
        raise ModelError("probabilities: expected at least one forest, found none. Give the probabilities of each.")
    cells = _Cells.of(observed, probabilities)
    _check_none_absent(threshold, inclusive=inclusive)
    return cells.added(np.logical_and.reduce([_exceeds(p, threshold, inclusive) for p in cells.probabilities]))


def strict_label_complement(
    observed: Matrix,
    probabilities: Matrix,
    cap: np.ndarray,
    *,
    threshold: float = 0.5,
    frequency: np.ndarray | None = None,
) -> Matrix:
    """SLC: add the likeliest unobserved labels, up to the cap and only above the threshold.

    Candidates are ranked with the observed positives first, then by probability, ties by row; the first u_j of them may
    be positive, and those not observed only if their probability is *above* the threshold (Ilidio et al. 2024,
    Equation 8, whose "<" is a misprint).

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_samples, n_labels) mean out-of-bag probabilities of the forests, dense or CSR.
    cap : (n_labels,) most positives per label, see :func:`positive_cap`.
    threshold : probability that an imputed label must exceed.
    frequency : (n_labels,) label frequencies c_j in (0, 1]. When given, p / c_j must exceed the threshold, as in
        :func:`fluid_label_addition`: so the published runs did, because a base class overwrote the setting. (They also
        ranked by p / c_j cut at 1, which ties all candidates with p above c_j in no certain order; here p ranks.)

    Returns
    -------
    (n_samples, n_labels) int8 of 0/1, CSR where probabilities are.

    Raises
    ------
    ModelError
        When shapes do not match or a frequency is out of range.
    """
    cells, cap = _Cells.of(observed, [probabilities]), np.asarray(cap)
    if cap.shape != cells.shape[1:]:
        raise ModelError(f"cap has shape {cap.shape}; it must be ({cells.shape[1]},), a number per label.")
    _check_none_absent(threshold)
    p, labels = cells.probabilities[0], cells.labels
    rank = places_in_labels(cells.rows, labels, np.where(cells.is_observed, np.inf, p), cells.shape)
    share = p if frequency is None else p / _checked_frequency(frequency, cells.shape)[labels]
    return cells.added((share > threshold) & (rank < cap[labels]))


def fluid_label_addition(
    observed: Matrix, probabilities: Matrix, frequency: np.ndarray, *, threshold: float = 0.5
) -> Matrix:
    """FLA: add the unobserved labels that would probably be positive if none were hidden, p / c_j above the threshold.

    Ilidio et al. (2024), Equation 9, whose "<" is a misprint; by Equation 6, p / c_j is the probability of the true
    label. There is no cap. The caller estimates c_j anew at every level, from the out-of-bag probabilities of the
    originally observed positives.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    probabilities : (n_samples, n_labels) mean out-of-bag probabilities of the forests, dense or CSR.
    frequency : (n_labels,) label frequencies c_j in (0, 1], see :func:`~fairfold.weak_labels.label_frequency`.
    threshold : probability that an imputed label must exceed.

    Returns
    -------
    (n_samples, n_labels) int8 of 0/1, CSR where probabilities are.

    Raises
    ------
    ModelError
        When shapes do not match or a frequency is out of range.
    """
    cells = _Cells.of(observed, [probabilities])
    _check_none_absent(threshold)
    frequency = _checked_frequency(frequency, cells.shape)
    return cells.added(cells.probabilities[0] / frequency[cells.labels] > threshold)


def imputation_quality(truth: Matrix, observed: Matrix, imputed: Matrix) -> dict[str, np.ndarray]:
    """How well an imputation found the labels that were hidden on purpose.

    Parameters
    ----------
    truth, observed : (n_samples, n_labels) of 0/1, all labels and those that were seen. What is observed is true.
    imputed : (n_samples, n_labels), the labels after imputation: 0/1, or weights from 0 to 1 when labels were added in
        part. What is observed stays 1. All three may be CSR.

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
    truth, observed = check_binary(truth, "truth", ModelError), check_binary(observed, "observed", ModelError)
    for name, matrix in (("truth", truth), ("imputed labels", imputed)):
        if np.shape(matrix) != np.shape(observed):
            raise ModelError(
                f"{name} have shape {np.shape(matrix)}; they must match the observed labels' {np.shape(observed)}."
            )
    n_labels = np.shape(observed)[1]
    rows, labels, truth, observed, imputed = stored_cells(truth, observed, imputed)
    truth, observed = truth.astype(bool), observed.astype(bool)
    imputed = imputed.astype(np.int8) if imputed.dtype == bool else imputed
    _check_imputed(truth, observed, imputed, rows, labels)

    def sums(values: np.ndarray) -> np.ndarray:
        found = np.bincount(labels, values, minlength=n_labels)
        return found if values.dtype.kind == "f" else found.astype(np.int64)

    hidden = truth & ~observed
    n_imputed, hits = sums(np.where(observed, 0, imputed)), sums(np.where(hidden, imputed, 0))
    return {
        "n_imputed": n_imputed,
        "hits": hits,
        "misses": sums(np.where(hidden, 1 - imputed, 0)),
        "precision": _share(hits, n_imputed),
        "recall": _share(hits, sums(hidden)),
    }


def _check_imputed(
    truth: np.ndarray, observed: np.ndarray, imputed: np.ndarray, rows: np.ndarray, labels: np.ndarray
) -> None:
    """Raise :class:`ModelError` for a weight that is none."""
    for name, values in (("truth", truth), ("imputed labels", imputed)):
        for is_wrong, sentence in (
            (~((values >= 0) & (values <= 1)), "is {0} in the {1}; it must be from 0 to 1."),
            (observed & (values < 1), "is observed but {0:g} in the {1}; observed positives must be 1."),
        ):
            if is_wrong.any():
                first = is_wrong.argmax()
                place = f"row {rows[first]}, label {labels[first]}"
                raise ModelError(f"{place} {sentence.format(values[first], name)}")


class _Cells(NamedTuple):
    """Cells in which a label is observed or a probability is not 0, row by row."""

    shape: tuple[int, int]
    rows: np.ndarray
    labels: np.ndarray
    is_observed: np.ndarray
    probabilities: list[np.ndarray]
    is_sparse: bool

    @classmethod
    def of(cls, observed: Matrix, probabilities: Sequence[Matrix]) -> _Cells:
        observed = check_binary(observed, "observed", ModelError)
        for each in probabilities:
            check_shapes(observed, each)
        rows, labels, seen, *p = stored_cells(observed, *probabilities)
        return cls(observed.shape, rows, labels, seen != 0, p, any(map(sparse.issparse, probabilities)))

    def added(self, chosen: np.ndarray) -> Matrix:
        """Observed positives and, for labels that have any, the chosen cells; dense where the probabilities are."""
        has_observed = np.bincount(self.labels[self.is_observed], minlength=self.shape[1]) > 0
        kept = self.is_observed | (chosen & has_observed[self.labels])
        ones = np.ones(np.count_nonzero(kept), dtype=np.int8)
        labels = sparse.csr_array((ones, (self.rows[kept], self.labels[kept])), shape=self.shape)
        return with_sparsity(labels, self.is_sparse)


def _check_none_absent(threshold: float, *, inclusive: bool = False) -> None:
    """Raise :class:`ModelError` for a threshold that a probability of 0 meets."""
    if threshold < 0 or (inclusive and threshold == 0):
        raise ModelError(f"threshold is {threshold}, which a probability of 0 meets. Give one above 0.")


def _exceeds(probabilities: np.ndarray, threshold: float, inclusive: bool) -> np.ndarray:
    return probabilities >= threshold if inclusive else probabilities > threshold


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def _checked_frequency(frequency: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    frequency = np.asarray(frequency)
    if frequency.shape != shape[1:]:
        raise ModelError(f"label frequencies have shape {frequency.shape}; they must be ({shape[1]},).")
    if not ((frequency > 0) & (frequency <= 1)).all():
        label = np.flatnonzero(~((frequency > 0) & (frequency <= 1)))[0]
        raise ModelError(f"label {label} has frequency {frequency[label]}; it must be above 0 and at most 1.")
    return frequency
