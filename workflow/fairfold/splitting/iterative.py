"""Iterative stratification of labels (order 1) and of label pairs (order 2), in time linear in the positives."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp

from fairfold.core.compiled import njit
from fairfold.errors import SplitError
from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.labels import Rows, count_positives
from fairfold.splitting.spread import spread

LABEL_ORDERS = ("rarest", "first-seen")


@dataclass(eq=False, repr=False)
class IterativeStratification(FoldSplitter):
    """Iterative stratification: assign the rows of the rarest remaining label first.

    Each row goes to the fold that lacks most positives of this label. Ties go to the fold that lacks most rows.
    Remaining ties are broken at random.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int or None, default=None
        Seed. ``None`` draws a new seed at each call.
    refine : {None, "anneal"}, default=None
        ``"anneal"`` refines the folds, as for :class:`~fairfold.splitting.base.FoldSplitter`.
    sweeps : int or None, default=None
        Effort of the annealing, as for :class:`~fairfold.splitting.base.FoldSplitter`.
    order : {1, 2}, default=1
        1 balances single labels [1]_ (Algorithm 1). 2 balances pairs of labels first and then single labels (SOIS)
        [2]_. Order 2 keeps the label pairs of all rows in memory.
    label_order : {"rarest", "first-seen"}, default="rarest"
        ``"first-seen"`` reproduces the iterative stratification of a published comparison [3]_. It takes labels by
        their first appearance in the rows and assigns the last row of each label first. It breaks ties between folds at
        random, without regard to their size. With order 2, it takes pairs and labels from a common list. If the next
        entry with unassigned rows is a label, the first pair with fewer unassigned rows comes before it.

    Notes
    -----
    Rows that share a label are assigned in random order. Public implementations and ``"first-seen"`` use the order of
    the rows in ``Y`` instead. Neighboring rows of a file then go to different folds in turn, even if they resemble each
    other, such as digits of one writer. The folds of different seeds also become similar.

    References
    ----------
    .. [1] Sechidis, Tsoumakas & Vlahavas (2011), On the stratification of multi-label data, ECML PKDD.
    .. [2] Szymański & Kajdanowicz (2017), A network perspective on stratification of multi-label data, LIDTA.
    .. [3] Tiittanen, Holm & Törönen (2021), A new approach to multilabel stratified cross validation with
       application to large and sparse Gene Ontology datasets.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting import IterativeStratification
    >>> Y = np.eye(2, dtype=int)[[0, 0, 0, 0, 0, 0, 1, 1, 1]]
    >>> fold_of = IterativeStratification(n_splits=3, random_state=0).assign(Y)
    >>> [Y[fold_of == fold].sum(axis=0).tolist() for fold in range(3)]
    [[2, 1], [2, 1], [2, 1]]
    """

    _: KW_ONLY
    order: int = 1
    label_order: str = "rarest"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.order not in (1, 2):
            raise SplitError(f"order: found {self.order!r}. Use 1 (labels) or 2 (label pairs first).")
        if self.label_order not in LABEL_ORDERS:
            raise SplitError(f"label_order: found {self.label_order!r}. Use {' or '.join(LABEL_ORDERS)}.")

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self.label_order == "first-seen":
            return self._deal(rows.labels, rows.weights, proportions, rng)
        turn = rng.permutation(rows.labels.shape[0])
        fold_of = np.empty(len(turn), dtype=np.int64)
        fold_of[turn] = self._deal(rows.labels[turn], rows.weights[turn], proportions, rng)
        return fold_of

    def _deal(
        self, labels: sp.csr_array, weights: np.ndarray, proportions: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the folds of rows that are assigned in this order."""
        fold_of = np.full(labels.shape[0], -1, dtype=np.int64)
        pairs = [label_pairs(labels)] if self.order == 2 else []
        if self.label_order == "rarest":
            for each in (*pairs, labels):
                stratify(each, weights, proportions, fold_of, rng)
        else:
            stratify_as_first_seen(labels, weights, proportions, fold_of, rng, *pairs)
        return spread(fold_of, weights, proportions, rng)


def stratify(
    labels: sp.csr_array, weights: np.ndarray, proportions: np.ndarray, fold_of: np.ndarray, rng: np.random.Generator
) -> None:
    """Assign rows with a label and without a fold by iterative stratification.

    Parameters
    ----------
    labels : csr_array of bool of shape (n_rows, n_labels)
        Labels of each row.
    weights : ndarray of int64 of shape (n_rows,)
        Number of samples in each row.
    proportions : ndarray of shape (n_splits,)
        Target share of the samples in each fold.
    fold_of : ndarray of int64 of shape (n_rows,)
        Fold of each row, -1 for a row without a fold. The array is filled in place.
    rng : numpy.random.Generator
        Source of the random order of equal labels and folds.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting.labels import check_labels
    >>> labels, fold_of = check_labels([[1], [1], [0]]), np.full(3, -1)
    >>> stratify(labels, np.ones(3, dtype=np.int64), np.array([0.5, 0.5]), fold_of, np.random.default_rng(0))
    >>> sorted(fold_of[:2].tolist()), int(fold_of[2])
    ([0, 1], -1)
    """
    assigned = np.flatnonzero(fold_of >= 0)
    columns = labels.tocsc()
    remaining = np.diff(columns.indptr).astype(np.int64)
    missing_positives = np.outer(remaining, proportions)
    missing_rows = weights.sum() * proportions
    if assigned.size:
        held = count_positives(labels[assigned], fold_of[assigned], len(proportions)).T
        missing_positives -= held
        remaining -= held.sum(axis=1)
        missing_rows -= np.bincount(fold_of[assigned], weights[assigned], minlength=len(proportions))
    by_row, by_label = (labels.indptr, labels.indices), (columns.indptr, columns.indices)
    order = rng.permutation(labels.shape[1])
    _rarest_first(by_row, by_label, weights, remaining, (missing_positives, missing_rows), order, fold_of, rng)


def stratify_as_first_seen(
    labels: sp.csr_array,
    weights: np.ndarray,
    proportions: np.ndarray,
    fold_of: np.ndarray,
    rng: np.random.Generator,
    pairs: sp.csr_array | None = None,
) -> None:
    """Assign rows by iterative stratification, with the order of scikit-multilearn 0.2.0.

    Labels are taken by their first appearance. A label is followed by its pairs with later labels. A pair replaces a
    label that has more unassigned rows.

    Parameters
    ----------
    labels : csr_array of bool of shape (n_rows, n_labels)
        Labels of each row.
    weights : ndarray of int64 of shape (n_rows,)
        Number of samples in each row.
    proportions : ndarray of shape (n_splits,)
        Target share of the samples in each fold.
    fold_of : ndarray of int64 of shape (n_rows,)
        Fold of each row, initially -1. The array is filled in place.
    rng : numpy.random.Generator
        Source of random numbers for ties between folds.
    pairs : csr_array of bool of shape (n_rows, n_pairs) or None, default=None
        Pairs of labels of each row, see :func:`label_pairs`. ``None`` balances single labels only.
    """
    pairs = sp.csr_array((labels.shape[0], 0), dtype=bool) if pairs is None else pairs
    n_pairs = pairs.shape[1]
    both = sp.csr_array(sp.hstack((pairs, labels), format="csr"), dtype=bool)
    columns = both.tocsc()
    missing = (np.outer(np.diff(columns.indptr), proportions), weights.sum() * proportions)
    own, of_pairs = (labels.indptr, labels.indices), (pairs.indptr, pairs.indices)
    order = _first_appearances(own, of_pairs, both.shape[1], n_pairs)
    by_row, by_column = (both.indptr, both.indices), (columns.indptr, columns.indices)
    _as_first_seen(by_row, by_column, weights, missing, order, n_pairs, fold_of, rng)


@njit(cache=True, nogil=True)
def _first_appearances(labels, pairs, n_columns, n_pairs):  # noqa: ANN001, ANN202
    """Return pairs and labels by first appearance, row by row: a label, then its pairs with later labels."""
    indptr, indices = labels
    is_seen = np.zeros(n_columns, dtype=np.bool_)
    order = np.empty(n_columns, dtype=np.int64)
    n_seen = 0
    for row in range(len(indptr) - 1):
        next_pair = pairs[0][row]
        for position in range(indptr[row], indptr[row + 1]):
            n_after = indptr[row + 1] - position - 1 if n_pairs > 0 else 0
            for each in range(n_after + 1):
                column = n_pairs + indices[position] if each == 0 else pairs[1][next_pair + each - 1]
                if not is_seen[column]:
                    is_seen[column] = True
                    order[n_seen] = column
                    n_seen += 1
            next_pair += n_after
    return order[:n_seen]


def label_pairs(labels: sp.csr_array) -> sp.csr_array:
    """Compute the pairs of labels of each row.

    Pairs are numbered by their first label, then by their second. Run time and memory grow with the pairs of all rows.

    Parameters
    ----------
    labels : csr_array of bool of shape (n_rows, n_labels)
        Labels of each row.

    Returns
    -------
    csr_array of bool of shape (n_rows, n_pairs)
        Pairs of each row, one column per pair that occurs.

    Examples
    --------
    >>> from fairfold.splitting.labels import check_labels
    >>> label_pairs(check_labels([[1, 1, 1], [1, 0, 1]])).toarray().astype(int)
    array([[1, 1, 1],
           [0, 1, 0]])
    """
    lengths = np.diff(labels.indptr).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths * (lengths - 1) // 2)])
    # SciPy widens both index arrays if their types differ.
    index_type = np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64
    occurring = sp.triu(labels.T.astype(np.int32) @ labels, k=1, format="csr")
    occurring.sort_indices()
    columns = np.empty(indptr[-1], dtype=index_type)
    _number_pairs((labels.indptr, labels.indices), (occurring.indptr, occurring.indices), columns)
    shape = (len(lengths), max(occurring.nnz, 1))
    return sp.csr_array((np.ones(len(columns), dtype=bool), columns, indptr.astype(index_type)), shape=shape)


@njit(cache=True, nogil=True)
def _number_pairs(by_row, occurring, columns):  # noqa: ANN001, ANN202
    """Fill in the number of each row's pairs among the pairs that occur."""
    indptr, indices = by_row
    n_written = 0
    for row in range(len(indptr) - 1):
        for position in range(indptr[row], indptr[row + 1]):
            place, end = occurring[0][indices[position]], occurring[0][indices[position] + 1]
            for other in indices[position + 1 : indptr[row + 1]]:
                place += np.searchsorted(occurring[1][place:end], other)
                columns[n_written] = place
                n_written += 1


@njit(cache=True, nogil=True)
def _as_first_seen(by_row, by_column, weights, missing, order, n_pairs, fold_of, rng):  # noqa: ANN001, ANN202
    """Assign the rows of one pair or label after another, the last row of each first."""
    indptr, indices = by_row
    column_indptr, column_rows = by_column
    remaining = column_indptr[1:] - column_indptr[:-1]
    # Lower bounds for the next place, possibly the same, of a pair with unassigned rows.
    after = np.arange(len(order) + 1)
    for place in range(len(order)):
        if order[place] >= n_pairs:
            after[place] = place + 1
    first = 0
    while True:
        while first < len(order) and remaining[order[first]] == 0:
            first += 1
        if first == len(order):
            return
        column = order[first]
        if column >= n_pairs:
            place = _next_pair(first, after, order, remaining)
            while place < len(order) and remaining[order[place]] >= remaining[column]:
                place = _next_pair(place + 1, after, order, remaining)
            column = order[place] if place < len(order) else column
        for row in column_rows[column_indptr[column] : column_indptr[column + 1]][::-1]:
            if fold_of[row] < 0:
                _give(row, _neediest_fold(column, missing, False, rng), by_row, weights, missing, fold_of)
                for other in indices[indptr[row] : indptr[row + 1]]:
                    remaining[other] -= 1


@njit(cache=True, nogil=True)
def _next_pair(place, after, order, remaining):  # noqa: ANN001, ANN202
    """Return the next place with a pair that has unassigned rows, and shorten the path for later calls."""
    found = place
    while found < len(order) and (after[found] > found or remaining[order[found]] == 0):
        after[found] = max(after[found], found + 1)
        found = after[found]
    while place < found:
        following = after[place]
        after[place] = found
        place = following
    return found


@njit(cache=True, nogil=True)
def _rarest_first(by_row, by_label, weights, remaining, missing, order, fold_of, rng):  # noqa: ANN001, ANN202
    """Assign the rows of the label with the fewest remaining rows until no rows remain."""
    indptr, indices = by_row
    label_indptr, label_rows = by_label
    buckets = _fill_buckets(remaining, order)
    head = buckets[0]
    touched = np.empty(len(remaining), dtype=np.int64)
    is_touched = np.zeros(len(remaining), dtype=np.bool_)
    rarity = 1
    while True:
        while rarity < len(head) and head[rarity] < 0:
            rarity += 1
        if rarity == len(head):
            return
        label = head[rarity]
        n_touched = 0
        for row in label_rows[label_indptr[label] : label_indptr[label + 1]]:
            if fold_of[row] >= 0:
                continue
            _give(row, _neediest_fold(label, missing, True, rng), by_row, weights, missing, fold_of)
            for other in indices[indptr[row] : indptr[row + 1]]:
                if not is_touched[other]:
                    is_touched[other] = True
                    touched[n_touched] = other
                    n_touched += 1
                    _take_out(buckets, other, remaining[other])
                remaining[other] -= 1
        for other in touched[:n_touched]:
            is_touched[other] = False
            _put_in(buckets, other, remaining[other])
            if 0 < remaining[other] < rarity:
                rarity = remaining[other]


@njit(cache=True, nogil=True)
def _give(row, fold, by_row, weights, missing, fold_of):  # noqa: ANN001, ANN202
    indptr, indices = by_row
    missing_positives, missing_rows = missing
    fold_of[row] = fold
    missing_rows[fold] -= weights[row]
    for label in indices[indptr[row] : indptr[row + 1]]:
        missing_positives[label, fold] -= 1


@njit(cache=True, nogil=True)
def _fill_buckets(remaining, labels):  # noqa: ANN001, ANN202
    """Build doubly linked lists of labels, one list for each number of remaining rows."""
    head = np.full(remaining.max() + 1, -1, dtype=np.int64)
    following = np.full(len(remaining), -1, dtype=np.int64)
    preceding = np.full(len(remaining), -1, dtype=np.int64)
    buckets = (head, following, preceding)
    for label in labels:
        _put_in(buckets, label, remaining[label])
    return buckets


@njit(cache=True, nogil=True)
def _put_in(buckets, label, size):  # noqa: ANN001, ANN202
    head, following, preceding = buckets
    following[label] = head[size]
    preceding[label] = -1
    if head[size] >= 0:
        preceding[head[size]] = label
    head[size] = label


@njit(cache=True, nogil=True)
def _take_out(buckets, label, size):  # noqa: ANN001, ANN202
    head, following, preceding = buckets
    if preceding[label] >= 0:
        following[preceding[label]] = following[label]
    else:
        head[size] = following[label]
    if following[label] >= 0:
        preceding[following[label]] = preceding[label]


@njit(cache=True, nogil=True)
def _neediest_fold(label, missing, size_breaks_ties, rng):  # noqa: ANN001, ANN202
    """Return the fold that lacks most positives of the label; ties go to size if requested, then to chance."""
    missing_positives, missing_rows = missing
    best, n_best = 0, 1
    for fold in range(1, len(missing_rows)):
        lead = missing_positives[label, fold] - missing_positives[label, best]
        if lead == 0 and size_breaks_ties:
            lead = missing_rows[fold] - missing_rows[best]
        if lead > 0:
            best, n_best = fold, 1
        elif lead == 0:
            n_best += 1
            if rng.random() * n_best < 1:
                best = fold
    return best
