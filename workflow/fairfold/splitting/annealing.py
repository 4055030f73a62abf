"""Our own finishing step: simulated annealing of folds over moves of single rows.

The loss is the sum over labels and folds of ``|count - fair count| / label size``. For folds of equal size it is rLD
up to a constant, and its minimum (the floor or the ceiling of the fair count everywhere) also minimises DCP. A move
changes it only through the labels of the moved row, so a step costs as much as the row has labels, whatever the
number of labels and rows.

Rows are visited in turn, and each draws its fold from the Boltzmann distribution of the loss (a heat bath): the fold
with the least cost after subtracting temperature times Gumbel noise is such a draw. The temperature falls from where
the rarest labels move freely to where the common ones settle, and the last sweeps run at zero. The fold size counts
as one more label that every row has. It is free to sway while it is hot, because a search within a narrow band finds
worse folds; in the last sweeps its weight doubles until every fold lies within its band.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numba
import numpy as np

from fairfold.splitting.measures import best_counts

if TYPE_CHECKING:
    from fairfold.splitting.base import Rows

START_TEMPERATURE = 0.4  # times the weight of the rarest label
END_TEMPERATURE = 0.02  # times the median weight of the labels
COLD_SHARE = 0.05  # of the sweeps, at temperature zero
IGNORED = 0.05  # times the temperature: labels that weigh less have no say yet
NOISE_SIZE = 1 << 16


def anneal(
    rows: Rows,
    fold_of: np.ndarray,
    proportions: np.ndarray,
    rng: np.random.Generator,
    *,
    sweeps: int | None = None,
    size_tolerance: float = 1,
    max_seconds: float | None = None,
) -> np.ndarray:
    """The best folds met on the way, those given included, of all whose sizes lie within their band.

    Parameters
    ----------
    rows : Rows
        What is dealt out. Rows without labels stay where they are.
    fold_of : ndarray of int64, shape (n_rows,)
        Folds to start from; not changed.
    proportions : ndarray, shape (n_splits,)
        Share of the samples that each fold should hold.
    rng : Generator
        Must not be the one that made ``fold_of``.
    sweeps : int or None
        Passes over all rows, by default :func:`default_sweeps`. Fewer are made when the loss can fall no further.
    size_tolerance : float
        How many samples a fold's size may differ from its fair size.
    max_seconds : float or None
        Time for all sweeps; where it is too short for them, the temperature falls faster.
    """
    state = _State(rows, fold_of, proportions, size_tolerance)
    state.keep_if_best()
    effort = (default_sweeps(rows.labels.nnz) if sweeps is None else sweeps) * rows.labels.nnz
    noise = rng.gumbel(size=NOISE_SIZE).astype(np.float32)
    started = time.monotonic()
    progress = 0.0
    while progress < 1 and not state.cannot_improve():
        state.sweep(_temperature(progress, state.weights), noise, rng.integers(NOISE_SIZE))
        progress += state.positives_weighed() / effort
        if max_seconds is not None:
            progress = max(progress, (time.monotonic() - started) / max_seconds)
    while not state.sizes_fit() and state.size_weight < state.weights.sum():
        state.sweep(np.float32(0), noise, 0)
    return state.fold_of if state.best is None else state.best


def default_sweeps(n_positives: int) -> int:
    """As many sweeps as weigh 150 million positives, a second or so, but 10 at least and 300 at most."""
    return int(np.clip(150_000_000 // n_positives, 10, 300))


def _temperature(progress: float, weights: np.ndarray) -> np.float32:
    """Falls geometrically with progress from 0 to 1, and is zero in the last part."""
    if progress >= 1 - COLD_SHARE:
        return np.float32(0)
    start, end = START_TEMPERATURE * weights.max(), END_TEMPERATURE * np.median(weights)
    return np.float32(start * (end / start) ** (progress / (1 - COLD_SHARE)))


class _State:
    """Folds, and how far each is from its fair number of samples and of each label's positives.

    Labels are numbered by rarity here, and the labels of a row sorted by it. Only the first ``n_active`` are weighed
    and kept up to date.
    """

    def __init__(self, rows: Rows, fold_of: np.ndarray, proportions: np.ndarray, size_tolerance: float) -> None:
        self.fold_of = fold_of.copy()
        labels = rows.labels
        positives = np.bincount(labels.indices, rows.amounts, minlength=labels.shape[1]).astype(np.int64)
        rarest_first = np.argsort(positives, kind="stable")
        positives = positives[rarest_first]
        self._row_arrays = _sort_labels(rows, rarest_first)
        self._fair = np.outer(positives, proportions)
        weights = 1 / np.maximum(positives, 1)
        self.weights = weights.astype(np.float32)
        self.deviations = np.empty(self._fair.shape, dtype=np.float32)
        self._n_active = 0
        self._activate(len(weights))
        n_entries = np.bincount(self._row_arrays[1], minlength=len(weights))
        self._entries_before = np.concatenate([[0], np.cumsum(n_entries)])
        tolerance = size_tolerance if rows.amounts is None else max(size_tolerance, rows.weights.max() / 2)
        self.sizes = np.bincount(fold_of, rows.weights, minlength=len(proportions))
        self._fair_sizes = proportions * rows.weights.sum()
        self._smallest = np.minimum(np.ceil(self._fair_sizes - tolerance), np.floor(self._fair_sizes))
        self._largest = np.maximum(np.floor(self._fair_sizes + tolerance), np.ceil(self._fair_sizes))
        best_sizes = best_counts(self.sizes.sum(keepdims=True), proportions)[:, 0]
        self._least_loss = float(weights @ np.abs(best_counts(positives, proportions).T - self._fair).sum(axis=1))
        self._least_loss += float(self.weights.min() * np.abs(best_sizes - self._fair_sizes).sum())
        self.size_weight = np.float32(END_TEMPERATURE * np.median(weights))
        self.best: np.ndarray | None = None
        self._best_loss = np.inf

    def sweep(self, temperature: np.float32, noise: np.ndarray, noise_from: int) -> None:
        """Let every row choose its fold once; at temperature zero, sizes are drawn into their band and kept there."""
        cold = temperature == 0
        if cold and not self.sizes_fit():
            self.size_weight *= np.float32(2)
        n_heard = int(np.searchsorted(-self.weights, -IGNORED * temperature, side="right"))
        # Counting takes a while, so only when many positives more are to be heard. Nobody is to be forgotten.
        if (
            n_heard < self._n_active
            or self._entries_before[n_heard] > 1.3 * self._entries_before[self._n_active]
            or cold
        ):
            self._activate(n_heard)
        size_arrays = (self.sizes, self._fair_sizes, self._smallest, self._largest)
        scales = (self.size_weight, temperature, cold, self._n_active)
        _sweep(self._row_arrays, self.fold_of, self.weights, self.deviations, size_arrays, scales, noise, noise_from)
        self.keep_if_best()

    def _activate(self, n_labels: int) -> None:
        """Weigh the rarest labels only; those that join are counted anew."""
        if n_labels > self._n_active:
            joining = slice(self._n_active, n_labels)
            self.deviations[joining] = -self._fair[joining]
            _count(self._row_arrays, self.fold_of, joining.start, joining.stop, self.deviations)
        self._n_active = n_labels

    def positives_weighed(self) -> int:
        """Work of the last sweep: the positives of active labels, and a look at each row."""
        return int(self._entries_before[self._n_active]) + len(self.fold_of)

    def loss(self) -> float:
        """Loss of the labels and of the sizes, which weigh as much as the most common label."""
        of_sizes = self.weights.min() * np.abs(self.sizes - self._fair_sizes).sum()
        return float((self.weights @ np.abs(self.deviations)).sum() + of_sizes)

    def sizes_fit(self) -> bool:
        return bool(np.all((self._smallest <= self.sizes) & (self.sizes <= self._largest)))

    def keep_if_best(self) -> None:
        """Keep a copy of the folds if their sizes fit and no folds before had a smaller loss."""
        if self._n_active == len(self.weights) and self.sizes_fit() and self.loss() < self._best_loss:
            self.best, self._best_loss = self.fold_of.copy(), self.loss()

    def cannot_improve(self) -> bool:
        """Whether the best folds spread every label as evenly as can be."""
        # A tenth of the least step of the loss: more than single precision loses on the way.
        least_step = 0.1 * self.weights.min() / len(self.sizes)
        return self._best_loss < self._least_loss + least_step


def _sort_labels(rows: Rows, rarest_first: np.ndarray) -> tuple:
    """``(indptr, indices, amounts, weights)`` of the rows, with labels numbered and sorted by rarity."""
    labels = rows.labels
    rank = np.empty(len(rarest_first), dtype=labels.indices.dtype)
    rank[rarest_first] = np.arange(len(rank))
    indices, amounts = rank[labels.indices], None if rows.amounts is None else rows.amounts.copy()
    _sort_rows(labels.indptr, indices, amounts)
    return labels.indptr, indices, amounts, rows.weights


@numba.njit(cache=True, nogil=True)
def _sort_rows(indptr, indices, amounts):  # noqa: ANN001, ANN202
    for row in range(len(indptr) - 1):
        start, stop = indptr[row], indptr[row + 1]
        if amounts is None:
            indices[start:stop].sort()
        else:
            order = np.argsort(indices[start:stop])
            indices[start:stop] = indices[start:stop][order]
            amounts[start:stop] = amounts[start:stop][order]


@numba.njit(cache=True, nogil=True)
def _sweep(row_arrays, fold_of, weights, deviations, size_arrays, scales, noise, noise_from):  # noqa: ANN001, ANN202
    indptr, indices, _, row_weights = row_arrays
    sizes, _, smallest, largest = size_arrays
    size_weight, temperature, hold_band, n_active = scales
    n_folds = len(sizes)
    cost = np.empty(n_folds, dtype=np.float32)
    for row in range(len(fold_of)):
        if indptr[row] == indptr[row + 1] or indices[indptr[row]] >= n_active:
            continue
        home, row_weight = fold_of[row], row_weights[row]
        _weigh_folds(row, home, row_arrays, weights, deviations, size_arrays, size_weight, n_active, cost)
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
            _move(row, home, best, row_arrays, n_active, fold_of, deviations, sizes)


@numba.njit(cache=True, nogil=True)
def _weigh_folds(  # noqa: ANN202
    row,
    home,
    row_arrays,
    weights,
    deviations,
    size_arrays,
    size_weight,
    n_active,
    cost,  # noqa: ANN001
):
    """Loss that the row adds to each fold, with the row itself taken out of its home."""
    indptr, indices, amounts, row_weights = row_arrays
    sizes, fair_sizes, _, _ = size_arrays
    for fold in range(len(cost)):
        excess = sizes[fold] - fair_sizes[fold]
        cost[fold] = size_weight * (abs(excess + row_weights[row]) - abs(excess))
    excess = sizes[home] - fair_sizes[home]
    at_home = np.float32(size_weight * (abs(excess) - abs(excess - row_weights[row])))
    for entry in range(indptr[row], indptr[row + 1]):
        label = indices[entry]
        if label >= n_active:
            break
        amount = _amount(amounts, entry)
        weight, deviation = weights[label], deviations[label]
        at_home += weight * (abs(deviation[home]) - abs(deviation[home] - amount))
        for fold in range(len(cost)):
            cost[fold] += weight * (abs(deviation[fold] + amount) - abs(deviation[fold]))
    cost[home] = at_home


@numba.njit(cache=True, nogil=True)
def _move(row, home, fold, row_arrays, n_active, fold_of, deviations, sizes):  # noqa: ANN001, ANN202
    indptr, indices, amounts, row_weights = row_arrays
    fold_of[row] = fold
    sizes[home] -= row_weights[row]
    sizes[fold] += row_weights[row]
    for entry in range(indptr[row], indptr[row + 1]):
        label = indices[entry]
        if label >= n_active:
            break
        amount = _amount(amounts, entry)
        deviations[label, home] -= amount
        deviations[label, fold] += amount


@numba.njit(cache=True, nogil=True)
def _count(row_arrays, fold_of, start, stop, deviations):  # noqa: ANN001, ANN202
    """Add the positives of the labels from ``start`` to ``stop`` to the folds that hold them."""
    indptr, indices, amounts, _ = row_arrays
    for row in range(len(fold_of)):
        for entry in range(indptr[row], indptr[row + 1]):
            label = indices[entry]
            if label >= stop:
                break
            if label >= start:
                deviations[label, fold_of[row]] += _amount(amounts, entry)


@numba.njit(cache=True, nogil=True)
def _amount(amounts, entry):  # noqa: ANN001, ANN202
    if amounts is None:
        return np.float32(1)
    return np.float32(amounts[entry])
