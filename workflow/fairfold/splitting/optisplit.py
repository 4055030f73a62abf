"""OptiSplit: repeated balancing of the label with the largest loss."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fairfold.core.compiled import njit
from fairfold.core.folds import check_folds
from fairfold.errors import SplitError, unknown_name
from fairfold.splitting.base import FoldSplitter
from fairfold.splitting.iterative import IterativeStratification
from fairfold.splitting.labels import Rows, count_positives, label_sizes
from fairfold.splitting.measures import target_sizes
from fairfold.splitting.random import random_folds

_SPARSE = 8  # Computing all losses is faster if the moved rows have more than one in so many labels.
_RANKED = 256  # Labels whose order is computed at a time.
_ROUNDING = 1e-6  # Far above the rounding error of a total loss, which is below 1e-9 for a million labels.


@dataclass(eq=False, repr=False)
class OptiSplit(FoldSplitter):
    """OptiSplit, Algorithm 1 of Tiittanen, Holm & Törönen (2021).

    An epoch makes one attempt per label. An attempt balances the label with the largest loss, after skipping one label
    for each failed attempt of the epoch. Rows move from the folds with too many of its positives to those with too few,
    rows with the fewest labels first. An attempt is kept only if the total loss of all labels falls.

    A label that most rows have is balanced on its negatives. Its loss is also that of the negatives. Rows without
    labels never move and therefore remain evenly spread.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int or None, default=None
        Seed. ``None`` draws a new seed at each call.
    refine : {None, "anneal"}, default=None
        ``"anneal"`` replaces the epochs with simulated annealing, which minimizes rLD and DCP. It starts from
        ``initial_folds`` or, by default, from iterative stratification.
    sweeps : int or None, default=None
        Effort of the annealing, as for :class:`~fairfold.splitting.base.FoldSplitter`.
    objective : {"rld", "dcp"}, default="rld"
        Loss of each label: the summands of rLD or DCP. The search minimizes the sum over the labels.
    max_epochs : int, default=3
        Largest number of epochs. The search stops after an epoch without changes.
    initial_folds : array-like of int of shape (n_samples,) or None, default=None
        Fold of each sample to start from. ``None`` starts from random folds of equal size. This parameter cannot be
        combined with groups.
    ties : {"last", "random"}, default="last"
        Order of labels with the same loss: the last column first, or a random order that changes after each success, so
        that the skipped labels are not always those that failed. The published code leaves the order to an unstable
        sort, whose results are those of ``"random"``. With many rare labels, ``"last"`` gives more even folds.

    Notes
    -----
    An attempt computes the losses of the labels of the moved rows only. Equation 3 also divides by the sizes of folds,
    which every move changes, and with them rLD of all labels. It is convex in the reciprocal sizes, so a tangent bounds
    the change from below. All losses are computed only if this bound does not reject the attempt.

    The published code starts from the same random folds for every seed. It also moves rows with equal numbers of labels
    in another order.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting import OptiSplit
    >>> Y = np.eye(4, dtype=int)[np.arange(40) % 4]
    >>> train, test = OptiSplit(objective="dcp", random_state=0).train_test(Y, test_size=0.2)
    >>> Y[test].sum(axis=0)
    array([2, 2, 2, 2])
    """

    _: KW_ONLY
    objective: str = "rld"
    max_epochs: int = 3
    initial_folds: ArrayLike | None = None
    ties: str = "last"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.objective not in OBJECTIVES:
            raise SplitError(unknown_name("objective", self.objective, OBJECTIVES))
        if self.ties not in ("last", "random"):
            raise SplitError(unknown_name("ties", self.ties, ["last", "random"]))
        if not isinstance(self.max_epochs, int | np.integer) or self.max_epochs < 1:
            raise SplitError(f"max_epochs: found {self.max_epochs!r}. Give a whole number of at least 1.")

    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        start = self._start(rows, proportions, rng)
        if self.refine:
            return start
        labels, has_labels = minority_labels(rows.labels), np.diff(rows.labels.indptr) > 0
        search = _Search(labels, has_labels, start, proportions, self.objective, rng if self.ties == "random" else None)
        for _ in range(self.max_epochs):
            if not search.epoch():
                break
        return search.fold_of

    def _start(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the folds to start from."""
        if self.initial_folds is None:
            start = IterativeStratification()._partition if self.refine else random_folds
            return start(rows, proportions, rng)
        if rows.amounts is not None:
            raise SplitError("initial_folds: the option does not support groups. Leave one of them out.")
        return check_folds(self.initial_folds, rows.labels.shape[0], len(proportions), name="initial_folds")[0]


def minority_labels(labels: sp.csr_array) -> sp.csr_array:
    """Replace labels that more than half of the rows have with their negatives.

    Parameters
    ----------
    labels : csr_array of bool of shape (n_rows, n_labels)
        Labels of each row.

    Returns
    -------
    csr_array of bool of shape (n_rows, n_labels)
        Labels that at most half of the rows have.

    Examples
    --------
    >>> from fairfold.splitting.labels import check_labels
    >>> minority_labels(check_labels([[1, 0], [1, 1], [0, 0]])).toarray().astype(int)
    array([[0, 0],
           [0, 1],
           [1, 0]])
    """
    majority = sp.csr_array(label_sizes(labels)[np.newaxis] > labels.shape[0] / 2)
    if not majority.nnz:
        return labels
    # Full columns are affordable: more than half of the rows have such a label.
    full = sp.csr_array(np.ones((labels.shape[0], 1), dtype=bool)) @ majority
    flipped = sp.csr_array(labels != full)
    flipped.sort_indices()
    return flipped


class _Search:
    """Folds, positives of each label in each fold, and losses of the labels."""

    def __init__(
        self,
        labels: sp.csr_array,
        movable: np.ndarray,
        fold_of: np.ndarray,
        shares: np.ndarray,
        objective: str,
        rng: np.random.Generator | None,
    ) -> None:
        self.labels, self.fold_of = labels, fold_of
        self._shares, self._objective, self._rng = shares, objective, rng
        self._counts = count_positives(labels, fold_of, len(shares))
        self._fold_sizes = np.bincount(fold_of, minlength=len(shares))
        self._labels_per_row = labels.nnz / labels.shape[0]
        self._positives = label_sizes(labels)  # Moves do not change them.
        self._losses = self._losses_of(slice(None))
        self._loss = self._losses.sum()
        self._spare = self._losses.copy()  # Reused, because allocating such arrays takes longer than filling them.
        self._ranking, self._first = self._losses[:0], 0
        self._slopes: np.ndarray | None = None
        # Rows of each label in the order of their moves: fewest labels first.
        by_size = np.argsort(np.diff(labels.indptr), kind="stable")
        by_size = by_size[movable[by_size]]
        columns = labels[by_size].tocsc()
        columns.sort_indices()
        self._label_indptr, self._label_rows = columns.indptr, by_size[columns.indices]

    def epoch(self) -> bool:
        """Try to balance labels, once per label, and return whether any attempt succeeded."""
        changed, in_vain = False, 0
        for _ in range(len(self._losses)):
            if self.try_label(self._label_at(in_vain)):
                changed = True
            else:
                in_vain += 1
        return changed

    def _label_at(self, place: int) -> int:
        """Return the label at a place in the order of decreasing loss.

        The order of some labels is kept until losses change, because most attempts fail.
        """
        if not 0 <= place - self._first < len(self._ranking):
            until = min(place + _RANKED, len(self._losses)) - 1
            ascending = len(self._losses) - 1 - np.array([until, place])
            self._spare[:] = self._losses
            self._spare.partition(ascending)
            least, most = self._spare[ascending]
            some = np.flatnonzero((self._losses >= least) & (self._losses <= most))
            if self._rng is not None:
                some = self._rng.permutation(some)
            self._ranking = some[np.argsort(self._losses[some], kind="stable")[::-1]]
            self._first = int(np.count_nonzero(self._losses > most))
        return self._ranking[place - self._first]

    def try_label(self, label: int) -> bool:
        """Balance the label if this lowers the total loss, and return whether it did."""
        rows = self._label_rows[self._label_indptr[label] : self._label_indptr[label + 1]]
        held = self._counts[:, label]
        moved, to = _transfers(rows, self.fold_of, held - target_sizes(held.sum(), self._shares))
        if not len(moved):
            return False
        origin, old_sizes = self.fold_of[moved], self._fold_sizes.copy()
        is_small = _SPARSE * len(moved) * self._labels_per_row < len(self._losses)
        touched = self._labels_of(moved) if is_small else None
        slopes = None if touched is None else self._slopes_of_others(touched)
        self._move(moved, origin, to)
        losses = self._losses_after(touched, slopes, old_sizes)
        if losses is not None and (loss := losses.sum()) < self._loss:
            self._spare, self._losses, self._loss = self._losses, losses, loss
            self._ranking, self._slopes = self._ranking[:0], None
            return True
        self._move(moved, to, origin)
        return False

    def _labels_of(self, rows: np.ndarray) -> np.ndarray:
        is_touched = np.zeros(self.labels.shape[1], dtype=bool)
        _mark(rows, self.labels.indptr, self.labels.indices, is_touched)
        return np.flatnonzero(is_touched)

    def _slopes_of_others(self, touched: np.ndarray) -> np.ndarray:
        """Return the derivative of the total loss of the other labels by the reciprocal share of each fold."""
        if self._objective == "dcp":
            return np.zeros(len(self._shares))
        if self._slopes is None:
            self._slopes = _relative_slopes(self._counts, self._fold_sizes, self._positives)
        return self._slopes - _relative_slopes(self._counts[:, touched], self._fold_sizes, self._positives[touched])

    def _losses_after(
        self, touched: np.ndarray | None, slopes: np.ndarray | None, old_sizes: np.ndarray
    ) -> np.ndarray | None:
        """Return the losses of all labels after a move, or None if their total cannot have fallen."""
        if touched is None or slopes is None or not self._fold_sizes.all():
            return self._losses_of(slice(None))
        losses = self._losses_of(touched)
        others = slopes @ (1 / self._fold_sizes - 1 / old_sizes) * old_sizes.sum()
        if losses.sum() - self._losses[touched].sum() + others > _ROUNDING:
            return None
        if self._objective == "rld":
            return self._losses_of(slice(None))
        self._spare[:] = self._losses
        self._spare[touched] = losses
        return self._spare

    def _losses_of(self, labels: np.ndarray | slice) -> np.ndarray:
        counts, positives = self._counts[:, labels], self._positives[labels]
        return OBJECTIVES[self._objective](counts, self._fold_sizes, self._shares, positives)

    def _move(self, rows: np.ndarray, origin: np.ndarray, to: np.ndarray) -> None:
        _move(rows, origin, to, self.labels.indptr, self.labels.indices, self.fold_of, self._counts, self._fold_sizes)


def _transfers(label_rows: np.ndarray, fold_of: np.ndarray, surplus: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that leave folds with a surplus, and their new folds."""
    by_fold = label_rows[np.argsort(fold_of[label_rows], kind="stable")]
    home = fold_of[by_fold]
    place = np.arange(len(home)) - np.searchsorted(home, home)  # Place among the label's rows in the fold.
    rows = by_fold[place < surplus[home]]
    to, start = np.empty(len(rows), dtype=np.int64), 0
    for fold in np.flatnonzero(surplus < 0):
        until = start - surplus[fold]
        to[start:until], start = fold, until
        rows[start:].sort()  # The published code takes the remaining rows in row order.
    return rows, to


@njit(cache=True, nogil=True)
def _move(rows, origin, to, indptr, indices, fold_of, counts, fold_sizes):  # noqa: ANN001, ANN202
    """Move rows to other folds, and update the numbers of samples and of positives of each label."""
    for row, source, target in zip(rows, origin, to):  # noqa: B905 (Numba does not know the argument strict)
        fold_of[row] = target
        fold_sizes[source] -= 1
        fold_sizes[target] += 1
        for label in indices[indptr[row] : indptr[row + 1]]:
            counts[source, label] -= 1
            counts[target, label] += 1


@njit(cache=True, nogil=True)
def _mark(rows, indptr, indices, is_marked):  # noqa: ANN001, ANN202
    for row in rows:
        for entry in range(indptr[row], indptr[row + 1]):
            is_marked[indices[entry]] = True


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})  # The order of the sum does not matter.
def _relative_slopes(counts, fold_sizes, positives):  # noqa: ANN001, ANN202
    """Return the derivative of the total rLD by the reciprocal share of each fold."""
    slopes = np.empty(len(fold_sizes))
    for fold in range(len(fold_sizes)):
        share, held, total = fold_sizes[fold] / fold_sizes.sum(), counts[fold], 0.0
        for label in range(counts.shape[1]):
            rate = held[label] / max(positives[label], 1)
            total += rate if rate > share else -rate
        slopes[fold] = total / len(fold_sizes)
    return slopes


@njit(cache=True, nogil=True, error_model="numpy")  # A check for division by zero would prevent vectorization.
def relative_label_losses(counts, fold_sizes, proportions, positives):  # noqa: ANN001, ANN201
    """Compute rLD of each label (Equation 3).

    The loss is 0 for a label without positives, and infinite if a fold is empty. The equation divides by the size of
    each fold. Unequal ``proportions`` therefore need no correction.

    Parameters
    ----------
    counts : ndarray of int64 of shape (n_splits, n_labels)
        Positives of each label in each fold.
    fold_sizes : ndarray of int64 of shape (n_splits,)
        Number of rows in each fold.
    proportions : ndarray of float64 of shape (n_splits,)
        Ignored.
    positives : ndarray of int64 of shape (n_labels,)
        Number of positives of each label.

    Returns
    -------
    ndarray of float64 of shape (n_labels,)
        Loss of each label.
    """
    losses = np.zeros(counts.shape[1])
    for fold in range(len(fold_sizes)):
        if fold_sizes[fold] == 0:
            return np.full(len(losses), np.inf)
        share, held = fold_sizes[fold] / fold_sizes.sum(), counts[fold]
        for label in range(len(losses)):
            losses[label] += abs(1 - held[label] / (max(positives[label], 1) * share))
    for label in range(len(losses)):
        losses[label] = losses[label] / len(fold_sizes) if positives[label] > 0 else 0.0
    return losses


@njit(cache=True, nogil=True, error_model="numpy")
def class_proportion_losses(counts, fold_sizes, proportions, positives):  # noqa: ANN001, ANN201
    """Compute DCP of each label (Equation 4), with the target share of each fold in place of ``1 / n_splits``.

    The loss of a label without positives is 0.

    Parameters
    ----------
    counts : ndarray of int64 of shape (n_splits, n_labels)
        Positives of each label in each fold.
    fold_sizes : ndarray of int64 of shape (n_splits,)
        Number of rows in each fold.
    proportions : ndarray of float64 of shape (n_splits,)
        Target share of each fold.
    positives : ndarray of int64 of shape (n_labels,)
        Number of positives of each label.

    Returns
    -------
    ndarray of float64 of shape (n_labels,)
        Loss of each label.
    """
    losses = np.full(counts.shape[1], -np.inf)
    for fold in range(len(fold_sizes)):
        held = counts[fold]
        for label in range(len(losses)):
            losses[label] = max(losses[label], held[label] / max(positives[label], 1) - proportions[fold])
    for label in range(len(losses)):
        losses[label] = losses[label] if positives[label] > 0 else 0.0
    return losses


OBJECTIVES = {"rld": relative_label_losses, "dcp": class_proportion_losses}
