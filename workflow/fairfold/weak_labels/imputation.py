"""Impute hidden positives between the levels of a cascade.

The module has three rules. Label complement (LC; Wang, Yang & Li 2020) requires that all forests agree. Strict label
complement (SLC) and fluid label addition (FLA) are rules of Ilidio et al. (2024). SLC adds the most probable candidates
up to a cap. FLA divides the probabilities by the label frequency and has no cap. All rules keep the observed positives,
start from them at each level (Equation 1), and impute nothing for labels without observed positives.

A label with probability 0 is never imputed, so only cells with an observed label or a probability above 0 are
processed. Imputed labels are sparse if the probabilities are. Time and memory grow with the number of stored cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, quotient, stored_cells, with_sparsity
from fairfold.core.defaults import THRESHOLD
from fairfold.core.validation import check_binary, check_label_matrix
from fairfold.errors import ModelError, check_name
from fairfold.weak_labels.rankings import check_shapes, places_in_labels

ROUNDINGS = ("ceil", "floor")


def positive_cap(observed: Matrix, frequency: np.ndarray, *, rounding: Literal["ceil", "floor"] = "ceil") -> np.ndarray:
    """Compute the maximum number of positives of each label, observed positives / c_j, at most n_samples.

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1.
    frequency : ndarray of shape (n_labels,)
        Label frequencies c_j in (0, 1].
    rounding : {"ceil", "floor"}, default="ceil"
        Whether to round up or down.

    Returns
    -------
    ndarray of int64 of shape (n_labels,)
        Maximum number of positives.

    Raises
    ------
    ModelError
        If shapes do not match, a frequency is out of range, or the rounding is unknown.

    Notes
    -----
    This is Equation 7 of Ilidio et al. (2024). Their code rounds down.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import positive_cap
    >>> positive_cap(np.array([[1], [1], [0], [0], [0]]), np.array([0.7]))
    array([3])
    """
    check_name("rounding", rounding, ROUNDINGS, ModelError)
    observed = check_label_matrix(observed, "observed", ModelError, unmeasured=False)
    n_positives = (observed != 0).sum(axis=0) / _checked_frequency(frequency, observed.shape)
    # The tolerance corrects rounding: 21 / 0.7 is 30.000000000000004 in floating point.
    whole = np.ceil(n_positives * (1 - 1e-12)) if rounding == "ceil" else np.floor(n_positives * (1 + 1e-12))
    return np.minimum(whole, observed.shape[0]).astype(np.int64)


def label_complement(
    observed: Matrix, probabilities: np.ndarray | Sequence[Matrix], *, threshold: float = 0.4
) -> Matrix:
    """Add unobserved labels that every forest finds likely, as in LCForest (Wang, Yang & Li 2020).

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1.
    probabilities : ndarray of shape (n_forests, n_samples, n_labels) or list of csr_array
        Cross-validated probabilities of each forest.
    threshold : float, default=0.4
        Probability that each forest must exceed.

    Returns
    -------
    {ndarray, csr_array} of int8 of shape (n_samples, n_labels)
        Labels of 0/1 after imputation, sparse if the probabilities are.

    Raises
    ------
    ModelError
        If shapes do not match, no forest is given, or the threshold is negative.

    Notes
    -----
    This is Equation 2 of Ilidio et al. (2024). It has neither a ranking nor a cap within a level, so a label can exceed
    its cap.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import label_complement
    >>> observed = np.array([[1], [0], [0]])
    >>> forests = np.array([[[0.9], [0.8], [0.6]], [[0.7], [0.5], [0.3]]])
    >>> label_complement(observed, forests).ravel()
    array([1, 1, 0], dtype=int8)
    """
    if len(probabilities) == 0:
        raise ModelError("probabilities: expected at least one forest, found none. Give the probabilities of each.")
    cells = _Cells.of(observed, list(probabilities))
    _check_threshold(threshold)
    return cells.added(np.logical_and.reduce([p > threshold for p in cells.probabilities]))


def strict_label_complement(
    observed: Matrix,
    probabilities: Matrix,
    cap: np.ndarray,
    *,
    threshold: float = THRESHOLD,
    frequency: np.ndarray | None = None,
) -> Matrix:
    """Add the most probable unobserved labels (SLC), up to a cap and above a threshold.

    The samples of label j are ranked by probability, with the observed positives first and ties in the order of rows.
    Only the first u_j samples can be positive. Unobserved ones also need a probability *above* the threshold (Ilidio
    et al. 2024, Equation 8, where "<" is a misprint).

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1.
    probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
        Mean out-of-bag probabilities of the forests.
    cap : ndarray of int of shape (n_labels,)
        Maximum number of positives u_j of each label. See :func:`positive_cap`.
    threshold : float, default=0.5
        Probability that an imputed label must exceed.
    frequency : ndarray of shape (n_labels,) or None, default=None
        Label frequencies c_j in (0, 1]. If given, p / c_j must exceed the threshold, as in
        :func:`fluid_label_addition`.

    Returns
    -------
    {ndarray, csr_array} of int8 of shape (n_samples, n_labels)
        Labels of 0/1 after imputation, sparse if the probabilities are.

    Raises
    ------
    ModelError
        If shapes do not match, a frequency is out of range, or the threshold is negative.

    Notes
    -----
    The published runs compare p / c_j with the threshold, because a base class overwrote the setting. ``frequency``
    reproduces this. They also rank by p / c_j clipped at 1, which ties all candidates with p above c_j in no defined
    order. This function ranks by p.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import strict_label_complement
    >>> observed = np.array([[1], [1], [0], [0], [0]])
    >>> probabilities = np.array([[0.9], [0.7], [0.8], [0.6], [0.1]])
    >>> strict_label_complement(observed, probabilities, cap=np.array([3])).ravel()
    array([1, 1, 1, 0, 0], dtype=int8)
    """
    cells, cap = _Cells.of(observed, [probabilities]), np.asarray(cap)
    if cap.shape != cells.shape[1:]:
        raise ModelError(f"cap: found shape {cap.shape}. Give {cells.shape[1]} numbers, one per label.")
    _check_threshold(threshold)
    p, labels = cells.probabilities[0], cells.labels
    rank = places_in_labels(cells.rows, labels, np.where(cells.is_observed, np.inf, p), cells.shape)
    share = p if frequency is None else p / _checked_frequency(frequency, cells.shape)[labels]
    return cells.added((share > threshold) & (rank < cap[labels]))


def fluid_label_addition(
    observed: Matrix, probabilities: Matrix, frequency: np.ndarray, *, threshold: float = THRESHOLD
) -> Matrix:
    """Add unobserved labels that are probably positive (FLA): p / c_j above a threshold, without a cap.

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1.
    probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
        Mean out-of-bag probabilities of the forests.
    frequency : ndarray of shape (n_labels,)
        Label frequencies c_j in (0, 1]. See :func:`~fairfold.weak_labels.label_frequency`.
    threshold : float, default=0.5
        Probability that an imputed label must exceed.

    Returns
    -------
    {ndarray, csr_array} of int8 of shape (n_samples, n_labels)
        Labels of 0/1 after imputation, sparse if the probabilities are.

    Raises
    ------
    ModelError
        If shapes do not match, a frequency is out of range, or the threshold is negative.

    Notes
    -----
    This is Equation 9 of Ilidio et al. (2024), where "<" is a misprint. By Equation 6, p / c_j is the probability of
    the true label. The caller estimates c_j at every level from the out-of-bag probabilities of the originally observed
    positives.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import fluid_label_addition
    >>> observed = np.array([[1], [1], [0], [0], [0]])
    >>> probabilities = np.array([[0.9], [0.7], [0.8], [0.3], [0.1]])
    >>> fluid_label_addition(observed, probabilities, frequency=np.array([0.5])).ravel()
    array([1, 1, 1, 1, 0], dtype=int8)
    """
    cells = _Cells.of(observed, [probabilities])
    _check_threshold(threshold)
    frequency = _checked_frequency(frequency, cells.shape)
    return cells.added(cells.probabilities[0] / frequency[cells.labels] > threshold)


def imputation_quality(truth: Matrix, observed: Matrix, imputed: Matrix) -> dict[str, np.ndarray]:
    """Measure how well an imputation finds hidden labels.

    Parameters
    ----------
    truth : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels of 0/1.
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1. Observed positives must be true.
    imputed : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels after imputation: 0/1, or weights from 0 to 1 for labels that are partly added. Observed positives must
        be 1.

    Returns
    -------
    dict of str -> ndarray of shape (n_labels,)
        The keys are:

        - ``"n_imputed"``: number of labels that were added to the observed ones;
        - ``"true_positives"``: number of added labels that are true;
        - ``"false_negatives"``: number of hidden labels that were not added;
        - ``"precision"``: true_positives / n_imputed, NaN if nothing was imputed;
        - ``"recall"``: true_positives / hidden labels, NaN if nothing was hidden.

        A partly added label counts by its weight, and the rest of it is a miss.

    Raises
    ------
    ModelError
        If shapes do not match, a weight is outside 0 to 1, or an observed label is not 1 in the other matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import imputation_quality
    >>> truth = np.array([[1], [1], [1], [1], [0]])
    >>> observed = np.array([[1], [1], [0], [0], [0]])
    >>> imputed = np.array([[1], [1], [1], [0], [1]])
    >>> quality = imputation_quality(truth, observed, imputed)
    >>> quality["true_positives"], quality["false_negatives"], quality["precision"]
    (array([1]), array([1]), array([0.5]))
    """
    truth, observed = check_binary(truth, "truth", ModelError), check_binary(observed, "observed", ModelError)
    for name, matrix in (("truth", truth), ("imputed labels", imputed)):
        if np.shape(matrix) != np.shape(observed):
            raise ModelError(f"{name}: found shape {np.shape(matrix)}, but observed has {np.shape(observed)}.")
    n_labels = np.shape(observed)[1]
    rows, labels, truth, observed, imputed = stored_cells(truth, observed, imputed)
    truth, observed = truth.astype(bool), observed.astype(bool)
    imputed = imputed.astype(np.int8) if imputed.dtype == bool else imputed
    _check_imputed(truth, observed, imputed, rows, labels)

    def sums(values: np.ndarray) -> np.ndarray:
        found = np.bincount(labels, values, minlength=n_labels)
        return found if values.dtype.kind == "f" else found.astype(np.int64)

    hidden = truth & ~observed
    n_imputed, true_positives = sums(np.where(observed, 0, imputed)), sums(np.where(hidden, imputed, 0))
    return {
        "n_imputed": n_imputed,
        "true_positives": true_positives,
        "false_negatives": sums(np.where(hidden, 1 - imputed, 0)),
        "precision": quotient(true_positives, n_imputed),
        "recall": quotient(true_positives, sums(hidden)),
    }


def _check_imputed(
    truth: np.ndarray, observed: np.ndarray, imputed: np.ndarray, rows: np.ndarray, labels: np.ndarray
) -> None:
    """Raise :class:`ModelError` for invalid weights and for observed labels that are not 1."""
    for name, values in (("truth", truth), ("imputed labels", imputed)):
        for is_wrong, sentence in (
            (~((values >= 0) & (values <= 1)), "Give values from 0 to 1."),
            (observed & (values < 1), "Observed positives must be 1."),
        ):
            if is_wrong.any():
                first = is_wrong.argmax()
                place = f"{name}, row {rows[first]}, label {labels[first]}"
                raise ModelError(f"{place}: found {values[first]}. {sentence}")


class _Cells(NamedTuple):
    """Cells with an observed label or a probability above 0, row by row."""

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
        """Return the observed positives and the chosen cells of labels with observed positives."""
        has_observed = np.bincount(self.labels[self.is_observed], minlength=self.shape[1]) > 0
        kept = self.is_observed | (chosen & has_observed[self.labels])
        ones = np.ones(np.count_nonzero(kept), dtype=np.int8)
        labels = sparse.csr_array((ones, (self.rows[kept], self.labels[kept])), shape=self.shape)
        return with_sparsity(labels, self.is_sparse)


def _check_threshold(threshold: float) -> None:
    if threshold < 0:
        raise ModelError(f"threshold: found {threshold}, which a probability of 0 exceeds. Give at least 0.")


def _checked_frequency(frequency: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    frequency = np.asarray(frequency)
    if frequency.shape != shape[1:]:
        raise ModelError(f"frequency: found shape {frequency.shape}. Give {shape[1]} label frequencies.")
    if len(wrong := np.flatnonzero(~((frequency > 0) & (frequency <= 1)))):
        raise ModelError(f"frequency, label {wrong[0]}: found {frequency[wrong[0]]}. Give a share above 0, at most 1.")
    return frequency
