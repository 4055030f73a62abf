"""Simulated annealing of folds over moves of single rows.

This refinement is original to fairfold. The loss is the sum over labels and folds of
``|count - fair count| / label size``. For folds of equal size it is proportional to rLD. At its minimum, each count is
the floor or the ceiling of the fair count, which also minimizes DCP. Moving a row changes only the terms of its
labels. The cost of a move therefore does not grow with the total number of labels and rows.

Each sweep visits the rows in turn. A row draws its fold from the Boltzmann distribution of the loss (a heat bath). The
draw takes the fold with the smallest cost minus temperature times Gumbel noise. The temperature starts where the rarest
labels move freely and falls to where common labels settle. The last sweeps run at temperature zero.

The fold size counts as an additional label that every row has. Sizes vary freely at high temperatures, because a
search within a narrow band finds worse folds. In the last sweeps, the weight of the size doubles until every fold is
within its band. Labels with a small weight relative to the temperature are ignored until the temperature has
fallen. Their counts are random at that stage, and they hold most positives.
"""

from __future__ import annotations

import numpy as np

from fairfold.core.compiled import njit
from fairfold.splitting.group_folds import SizeBand
from fairfold.splitting.labels import Rows, label_sizes
from fairfold.splitting.measures import best_counts

START_TEMPERATURE = 0.4  # Multiple of the weight of the rarest label.
END_TEMPERATURE = 0.05  # Multiple of the median weight of the labels.
COLD_SHARE = 0.06  # Share of the effort for the end: half for cooling to zero, half at zero.
IGNORED = 0.05  # Multiple of the temperature. Labels with a smaller weight are ignored.
SIZE_WEIGHT = 0.02  # Multiple of the median weight, before the last sweeps.
SIZE_TOLERANCE = 1  # Largest allowed difference of a fold from its fair size, in rows.
NOISE_SIZE = 1 << 16
VECTOR = 8  # Folds are padded to a multiple of this number, which the processor adds in one instruction.


def anneal(
    rows: Rows,
    fold_of: np.ndarray,
    proportions: np.ndarray,
    rng: np.random.Generator,
    sweeps: int | None = None,
    band: SizeBand | None = None,
) -> np.ndarray:
    """Improve folds by simulated annealing.

    Parameters
    ----------
    rows : Rows
        Rows to assign. Rows without labels keep their folds.
    fold_of : ndarray of int64 of shape (n_rows,)
        Folds to start from. The array is not changed.
    proportions : ndarray of shape (n_splits,)
        Target share of the samples in each fold.
    rng : numpy.random.Generator
        Source of randomness. It must not be the generator that made ``fold_of``.
    sweeps : int or None, default=None
        Effort, as the number of passes over all positives. ``None`` uses :func:`default_sweeps`. Passes that ignore
        some labels count less. The search stops early if the loss cannot fall further.
    band : SizeBand or None, default=None
        Allowed fold sizes. ``None`` allows fair sizes within ``SIZE_TOLERANCE``.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        Folds with the smallest loss among all visited folds of allowed sizes, including the start. If no visited folds
        have allowed sizes, the folds of ``band`` are returned or, without a band, the last visited ones.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting.labels import Rows, check_labels, count_positives
    >>> labels = check_labels([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> rows, start = Rows(labels, np.ones(4, dtype=np.int64)), np.array([0, 0, 1, 1])
    >>> fold_of = anneal(rows, start, np.array([0.5, 0.5]), np.random.default_rng(0))
    >>> count_positives(labels, fold_of, 2)
    array([[1, 1],
           [1, 1]])
    """
    state = _State(rows, fold_of, proportions, band)
    state.keep_if_best()
    effort = (default_sweeps(rows.labels.nnz) if sweeps is None else sweeps) * rows.labels.nnz
    noise = rng.gumbel(size=NOISE_SIZE).astype(np.float32)
    progress = 0.0
    while progress < 1 and not state.cannot_improve():
        state.sweep(_temperature(progress, state.weights), noise, int(rng.integers(NOISE_SIZE)))
        progress += state.positives_weighed() / effort
    while not state.sizes_fit() and state.size_weight < state.weights.sum():
        state.sweep(np.float32(0), noise, 0)
    if state.best is None:
        return state.fold_of if band is None else band.fold_of
    return state.best


def default_sweeps(n_positives: int) -> int:
    """Return the default number of sweeps.

    The sweeps visit 200 million positives in total. Their number is at least 14 and at most 600.

    Parameters
    ----------
    n_positives : int
        Number of positives of all labels.

    Returns
    -------
    int
        Number of sweeps.

    Examples
    --------
    >>> default_sweeps(1_000), default_sweeps(10_000_000)
    (600, 20)
    """
    return int(np.clip(200_000_000 // n_positives, 14, 600))


def _temperature(progress: float, weights: np.ndarray) -> np.float32:
    """Return the temperature at a progress from 0 to 1: first a geometric decline, then a linear one, then zero."""
    start, end = START_TEMPERATURE * weights.max(), END_TEMPERATURE * np.median(weights)
    if progress >= 1 - COLD_SHARE:
        return np.float32(end * max(0, 2 * (1 - progress) / COLD_SHARE - 1))
    return np.float32(start * (end / start) ** (progress / (1 - COLD_SHARE)))


class _State:
    """Folds, and their deviations from the fair number of samples and of positives of each label.

    Labels are numbered by rarity. Only the first ``n_active`` labels are weighed and kept up to date. Only rows with at
    least one active label are visited.
    """

    def __init__(self, rows: Rows, fold_of: np.ndarray, proportions: np.ndarray, band: SizeBand | None = None) -> None:
        self.fold_of = fold_of.copy()
        n_entries = label_sizes(rows.labels)
        positives = n_entries if rows.amounts is None else label_sizes(rows.labels, rows.amounts)
        rarest_first = np.argsort(positives, kind="stable")[np.count_nonzero(positives == 0) :]
        positives = positives[rarest_first]
        weights = 1 / positives
        self._entries_before = np.concatenate([[0], np.cumsum(n_entries[rarest_first])])
        self._fair = np.outer(positives, proportions)
        self.weights = weights.astype(np.float32)
        self._all = _renumber_labels(rows, rarest_first)
        self._n_active = 0
        self._activate(len(weights))
        self._set_sizes(rows, proportions, band)
        self.size_weight = np.float32(SIZE_WEIGHT * np.median(weights))
        best_sizes = best_counts(self.sizes.sum(keepdims=True), proportions)[:, 0]
        self._least_loss = float(weights @ np.abs(best_counts(positives, proportions).T - self._fair).sum(axis=1))
        self._least_loss += float(self.weights.min() * np.abs(best_sizes - self._fair_sizes).sum())
        self.best: np.ndarray | None = None
        self._best_loss = np.inf

    def _set_sizes(self, rows: Rows, proportions: np.ndarray, band: SizeBand | None) -> None:
        """Set the fold sizes and the band for their final values."""
        self._row_weights = rows.weights
        self.sizes = np.bincount(self.fold_of, rows.weights, minlength=len(proportions))
        self._fair_sizes = proportions * rows.weights.sum()
        if band is not None:
            self._smallest, self._largest = band.smallest, band.largest
            return
        self._smallest = np.minimum(np.ceil(self._fair_sizes - SIZE_TOLERANCE), np.floor(self._fair_sizes))
        self._largest = np.maximum(np.floor(self._fair_sizes + SIZE_TOLERANCE), np.ceil(self._fair_sizes))

    def sweep(self, temperature: np.float32, noise: np.ndarray, noise_from: int) -> None:
        """Let every row choose its fold once; at temperature zero, move the sizes into their band."""
        cold = temperature == 0
        if cold and not self.sizes_fit():
            self.size_weight *= np.float32(2)
        self._listen(temperature)
        size_arrays = (self.sizes, self._fair_sizes, self._smallest, self._largest)
        scales = (self.size_weight, temperature, cold)
        _sweep(self._active, self._row_weights, self.fold_of, self.tables, size_arrays, scales, noise, noise_from)
        self.keep_if_best()

    def _listen(self, temperature: np.float32) -> None:
        """Activate the rarest labels, those with enough weight at this temperature."""
        n_heard = int(np.searchsorted(-self.weights, -IGNORED * temperature, side="right"))
        heard, active = self._entries_before[[n_heard, self._n_active]]
        # The selection is slow. It is repeated only if the new labels hold many positives, or at temperature zero.
        if heard < active or heard > 1.3 * active or temperature == 0:
            self._activate(n_heard)

    def _activate(self, n_labels: int) -> None:
        """Restrict the loss to the rarest labels and recount their positives."""
        if n_labels == self._n_active:
            return
        self._n_active = n_labels
        self._active = self._all if n_labels == len(self.weights) else _select(self._all, n_labels)
        n_folds = self._fair.shape[1]
        width = -(-n_folds // VECTOR) * VECTOR
        deviations = np.zeros((n_labels, width), dtype=np.float32)
        deviations[:, :n_folds] = -self._fair[:n_labels]
        self.tables = (self.weights, deviations)
        _count(self._active, self.fold_of, deviations)

    @property
    def deviations(self) -> np.ndarray:
        """Positives of the active labels in each fold minus their fair number, shape (n_active, n_splits)."""
        return self.tables[1][:, : self._fair.shape[1]]

    def positives_weighed(self) -> int:
        """Return the work of the last sweep: the positives of active labels plus the visited rows."""
        return len(self._active[0]) + len(self._active[2])

    def loss(self) -> float:
        """Return the loss of the labels and of the sizes, which weigh the same as the most common label."""
        of_sizes = self.weights.min() * np.abs(self.sizes - self._fair_sizes).sum()
        # The last digits of a matrix product would depend on the number of threads.
        of_labels = np.einsum("i,ij->", self.weights, np.abs(self.deviations), dtype=np.float64)
        return float(of_labels + of_sizes)

    def sizes_fit(self) -> bool:
        return bool(np.all((self._smallest <= self.sizes) & (self.sizes <= self._largest)))

    def keep_if_best(self) -> None:
        """Keep a copy of the folds if their sizes fit and their loss is the smallest until now."""
        if self._n_active == len(self.weights) and self.sizes_fit() and self.loss() < self._best_loss:
            self.best, self._best_loss = self.fold_of.copy(), self.loss()

    def cannot_improve(self) -> bool:
        """Return whether the best folds spread every label as evenly as possible."""
        # A tenth of the smallest step of the loss exceeds the accumulated error of single precision.
        least_step = 0.1 * self.weights.min() / len(self.sizes)
        return self._best_loss < self._least_loss + least_step


def _renumber_labels(rows: Rows, rarest_first: np.ndarray) -> tuple:
    """Return ``(rows, indptr, labels, amounts)`` of the rows that have a label, with labels numbered by rarity."""
    labels = rows.labels
    rank = np.zeros(labels.shape[1], dtype=labels.indices.dtype)
    rank[rarest_first] = np.arange(len(rarest_first))
    labeled = np.flatnonzero(np.diff(labels.indptr))
    return labeled, np.append(labels.indptr[labeled], labels.indptr[-1:]), rank[labels.indices], rows.amounts


def _select(entries: tuple, n_labels: int) -> tuple:
    """Return the entries of the first labels, and the rows that have any."""
    rows, indptr, labels, amounts = entries
    is_kept = labels < n_labels
    lengths = np.diff(np.append(0, np.cumsum(is_kept))[indptr])
    starts = np.append(0, np.cumsum(lengths[lengths > 0])).astype(indptr.dtype)
    return rows[lengths > 0], starts, labels[is_kept], None if amounts is None else amounts[is_kept]


@njit(cache=True, nogil=True)
def _sweep(active, row_weights, fold_of, tables, size_arrays, scales, noise, noise_from):  # noqa: ANN001, ANN202
    sizes, _, smallest, largest = size_arrays
    size_weight, temperature, hold_band = scales
    n_folds = len(sizes)
    cost = np.empty(tables[1].shape[1], dtype=np.float32)
    for position, row in enumerate(active[0]):
        home, row_weight = fold_of[row], row_weights[row]
        _weigh_folds(position, home, active, row_weight, tables, size_arrays, size_weight, cost)
        if noise_from + n_folds > len(noise):
            noise_from = 0
        for fold in range(n_folds):
            cost[fold] -= temperature * noise[noise_from + fold]
        noise_from += n_folds
        best = home
        if not hold_band or sizes[home] - row_weight >= smallest[home]:
            for fold in range(n_folds):
                has_room = not hold_band or sizes[fold] + row_weight <= largest[fold]
                if has_room and cost[fold] < cost[best]:
                    best = fold
        if best != home:
            fold_of[row] = best
            sizes[home] -= row_weight
            sizes[best] += row_weight
            _move(position, home, best, active, tables[1])


@njit(cache=True, nogil=True)
def _weigh_folds(position, home, active, row_weight, tables, size_arrays, size_weight, cost):  # noqa: ANN001, ANN202
    """Compute the loss that the row adds to each fold after it is removed from its current fold."""
    _, indptr, labels, amounts = active
    weights, deviations = tables
    sizes, fair_sizes, _, _ = size_arrays
    cost[:] = 0
    for fold in range(len(sizes)):
        excess = sizes[fold] - fair_sizes[fold]
        cost[fold] = size_weight * (abs(excess + row_weight) - abs(excess))
    excess = sizes[home] - fair_sizes[home]
    at_home = np.float32(size_weight * (abs(excess) - abs(excess - row_weight)))
    for entry in range(indptr[position], indptr[position + 1]):
        label, amount = labels[entry], _amount(amounts, entry)
        weight = weights[label]
        at_home += weight * (abs(deviations[label, home]) - abs(deviations[label, home] - amount))
        for fold in range(len(cost)):
            cost[fold] += weight * (abs(deviations[label, fold] + amount) - abs(deviations[label, fold]))
    cost[home] = at_home


@njit(cache=True, nogil=True)
def _move(position, home, fold, active, deviations):  # noqa: ANN001, ANN202
    _, indptr, labels, amounts = active
    for entry in range(indptr[position], indptr[position + 1]):
        deviations[labels[entry], home] -= _amount(amounts, entry)
        deviations[labels[entry], fold] += _amount(amounts, entry)


@njit(cache=True, nogil=True)
def _count(active, fold_of, deviations):  # noqa: ANN001, ANN202
    """Add the positives of the active labels to their folds."""
    rows, indptr, labels, amounts = active
    for position, row in enumerate(rows):
        for entry in range(indptr[position], indptr[position + 1]):
            deviations[labels[entry], fold_of[row]] += _amount(amounts, entry)


@njit(cache=True, nogil=True)
def _amount(amounts, entry):  # noqa: ANN001, ANN202
    if amounts is None:
        return np.float32(1)
    return np.float32(amounts[entry])
