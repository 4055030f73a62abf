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

from fairfold.splitting.labels import count_positives
from fairfold.splitting.measures import best_counts

if TYPE_CHECKING:
    from fairfold.splitting.base import Rows

START_TEMPERATURE = 0.4  # times the weight of the rarest label
END_TEMPERATURE = 0.05  # times the mean weight of a positive
COLD_SHARE = 0.05  # of the sweeps, at temperature zero
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
    if sweeps is None:
        sweeps = default_sweeps(rows.labels.nnz)
    noise = rng.gumbel(size=NOISE_SIZE).astype(np.float32)
    started = time.monotonic()
    state.keep_if_best()
    for sweep in range(sweeps):
        progress = sweep / sweeps
        if max_seconds is not None:
            progress = max(progress, (time.monotonic() - started) / max_seconds)
        if progress >= 1 or state.cannot_improve():
            break
        state.sweep(_temperature(progress, state.weights, rows.labels.nnz), noise, rng.integers(NOISE_SIZE))
    while not state.sizes_fit() and state.size_weight < state.weights.sum():
        state.sweep(np.float32(0), noise, 0)
    return state.fold_of if state.best is None else state.best


def default_sweeps(n_positives: int) -> int:
    """As many sweeps as weigh 150 million positives, a second or so, but 10 at least and 300 at most."""
    return int(np.clip(150_000_000 // n_positives, 10, 300))


def _temperature(progress: float, weights: np.ndarray, n_positives: int) -> np.float32:
    """Falls geometrically with progress from 0 to 1, and is zero in the last part."""
    if progress >= 1 - COLD_SHARE:
        return np.float32(0)
    start = START_TEMPERATURE * weights.max()
    end = min(start, END_TEMPERATURE * len(weights) / n_positives)
    return np.float32(start * (end / start) ** (progress / (1 - COLD_SHARE)))


class _State:
    """Folds, and how far each is from its fair number of samples and of each label's positives."""

    def __init__(self, rows: Rows, fold_of: np.ndarray, proportions: np.ndarray, size_tolerance: float) -> None:
        self.rows = rows
        self.fold_of = fold_of.copy()
        counts = count_positives(rows.labels, fold_of, len(proportions), rows.amounts)
        positives = counts.sum(axis=0)
        fair = np.outer(proportions, positives)
        weights = 1 / np.maximum(positives, 1)
        self.weights = weights.astype(np.float32)
        self.deviations = np.ascontiguousarray((counts - fair).T, dtype=np.float32)
        tolerance = size_tolerance if rows.amounts is None else max(size_tolerance, rows.weights.max() / 2)
        self.sizes = np.bincount(fold_of, rows.weights, minlength=len(proportions))
        self._fair_sizes = proportions * rows.weights.sum()
        self._smallest = np.minimum(np.ceil(self._fair_sizes - tolerance), np.floor(self._fair_sizes))
        self._largest = np.maximum(np.floor(self._fair_sizes + tolerance), np.ceil(self._fair_sizes))
        best_sizes = best_counts(self.sizes.sum(keepdims=True), proportions)[:, 0]
        self._least_loss = float((np.abs(best_counts(positives, proportions) - fair) * weights).sum())
        self._least_loss += float(self.weights.min() * np.abs(best_sizes - self._fair_sizes).sum())
        self.size_weight = np.float32(END_TEMPERATURE * len(weights) / rows.labels.nnz)
        self.best: np.ndarray | None = None
        self._best_loss = np.inf

    def sweep(self, temperature: np.float32, noise: np.ndarray, noise_from: int) -> None:
        """Let every row choose its fold once; at temperature zero, sizes are drawn into their band and kept there."""
        cold = temperature == 0
        if cold and not self.sizes_fit():
            self.size_weight *= np.float32(2)
        labels, rows = self.rows.labels, self.rows
        row_arrays = (labels.indptr, labels.indices, rows.amounts, rows.weights)
        size_arrays = (self.sizes, self._fair_sizes, self._smallest, self._largest)
        scales = (self.size_weight, temperature, cold)
        _sweep(row_arrays, self.fold_of, self.weights, self.deviations, size_arrays, scales, noise, noise_from)
        self.keep_if_best()

    def loss(self) -> float:
        """Loss of the labels and of the sizes, which weigh as much as the most common label."""
        of_sizes = self.weights.min() * np.abs(self.sizes - self._fair_sizes).sum()
        return float((self.weights @ np.abs(self.deviations)).sum() + of_sizes)

    def sizes_fit(self) -> bool:
        return bool(np.all((self._smallest <= self.sizes) & (self.sizes <= self._largest)))

    def keep_if_best(self) -> None:
        """Keep a copy of the folds if their sizes fit and no folds before had a smaller loss."""
        if self.sizes_fit() and self.loss() < self._best_loss:
            self.best, self._best_loss = self.fold_of.copy(), self.loss()

    def cannot_improve(self) -> bool:
        """Whether the best folds spread every label as evenly as can be."""
        # A tenth of the least step of the loss: more than single precision loses on the way.
        least_step = 0.1 * self.weights.min() / len(self.sizes)
        return self._best_loss < self._least_loss + least_step


@numba.njit(cache=True, nogil=True)
def _sweep(row_arrays, fold_of, weights, deviations, size_arrays, scales, noise, noise_from):  # noqa: ANN001, ANN202
    indptr, _, _, row_weights = row_arrays
    sizes, _, smallest, largest = size_arrays
    size_weight, temperature, hold_band = scales
    n_folds = len(sizes)
    cost = np.empty(n_folds, dtype=np.float32)
    for row in range(len(fold_of)):
        if indptr[row] == indptr[row + 1]:
            continue
        home, row_weight = fold_of[row], row_weights[row]
        _weigh_folds(row, home, row_arrays, weights, deviations, size_arrays, size_weight, cost)
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
            _move(row, home, best, row_arrays, fold_of, deviations, sizes)


@numba.njit(cache=True, nogil=True)
def _weigh_folds(row, home, row_arrays, weights, deviations, size_arrays, size_weight, cost):  # noqa: ANN001, ANN202
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
        amount = _amount(amounts, entry)
        weight, deviation = weights[label], deviations[label]
        at_home += weight * (abs(deviation[home]) - abs(deviation[home] - amount))
        for fold in range(len(cost)):
            cost[fold] += weight * (abs(deviation[fold] + amount) - abs(deviation[fold]))
    cost[home] = at_home


@numba.njit(cache=True, nogil=True)
def _amount(amounts, entry):  # noqa: ANN001, ANN202
    if amounts is None:
        return np.float32(1)
    return np.float32(amounts[entry])


@numba.njit(cache=True, nogil=True)
def _move(row, home, fold, row_arrays, fold_of, deviations, sizes):  # noqa: ANN001, ANN202
    indptr, indices, amounts, row_weights = row_arrays
    fold_of[row] = fold
    sizes[home] -= row_weights[row]
    sizes[fold] += row_weights[row]
    for entry in range(indptr[row], indptr[row + 1]):
        amount = _amount(amounts, entry)
        deviations[indices[entry], home] -= amount
        deviations[indices[entry], fold] += amount
