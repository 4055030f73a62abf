"""Probabilities of left-out samples, as a model's final scores are of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from os import PathLike
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.files import read_arrays, write_arrays
from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.metrics import BASIC_METRICS

_PARTS = ("data", "indices", "indptr", "shape")


class FinalPredictions(NamedTuple):
    """Out-of-fold probabilities, each sample's from the model that was trained without its fold.

    Levels of a cascade differ, and the one that counts may differ by metric and fold; those that count are kept.

    Attributes
    ----------
    probabilities : (n_kept, n_samples, n_labels); NaN where there is none. Of a model whose probabilities are sparse,
        CSR of (n_kept · n_samples, n_labels), the rows of what is kept below each other; a row where there is none
        stores one NaN, see :func:`~fairfold.core.arrays.finite_rows`.
    kept : (n_metrics, n_folds) which of them counts, in the order of ``BASIC_METRICS``.
    fold_of : (n_samples,) fold in which a sample was left out, -1 for none.

    Where cross-validation was repeated, ``fold_of`` is (n_repeats, n_samples), of each split by itself, probabilities
    are (n_kept, n_repeats, n_samples, n_labels), and the folds of all splits follow each other in ``kept``.
    """

    probabilities: Matrix
    kept: np.ndarray
    fold_of: np.ndarray

    @classmethod
    def of_folds(
        cls,
        stages: Mapping[int, Mapping[int, Matrix]],
        best_levels: Mapping[int, Mapping[str, int]],
        fold_of: np.ndarray,
        n_labels: int,
    ) -> FinalPredictions:
        """From fold -> level -> probabilities of the fold's samples, and fold -> metric -> level that counts."""
        fold_of = fold_of[0] if fold_of.ndim == 2 and len(fold_of) == 1 else fold_of
        numbers = _numbers_of(fold_of)
        kept = np.zeros((len(BASIC_METRICS), int(numbers.max(initial=-1)) + 1), dtype=np.int8)
        levels = {fold: sorted({best[metric] for metric in BASIC_METRICS}) for fold, best in best_levels.items()}
        for fold, of_fold in levels.items():
            kept[:, fold] = [of_fold.index(best_levels[fold][metric]) for metric in BASIC_METRICS]
        chosen = {fold: [stages[fold][level] for level in of_fold] for fold, of_fold in levels.items()}
        is_sparse = any(sparse.issparse(P) for of_fold in chosen.values() for P in of_fold)
        return cls((_stacked if is_sparse else _filled)(chosen, numbers, n_labels), kept, fold_of)

    def by(self, metric: str) -> Matrix:
        """(n_samples, n_labels) probabilities that the metric scores; NaN where there is none.

        Of repeated cross-validations the mean over those that have some: no model behind it has seen the sample, and it
        depends less on the split. It is of no use for scores, as several models together are better than one.

        Raises
        ------
        DataError
            When there is no such metric.
        """
        numbers = np.atleast_2d(_numbers_of(self.fold_of))
        counts = self._kept_by(metric)[np.maximum(numbers, 0)]
        places = np.arange(numbers.size).reshape(numbers.shape)
        of_repeats = [self._rows(kept, at) for kept, at in zip(counts, places, strict=True)]
        return of_repeats[0] if len(of_repeats) == 1 else _mean_of_known(of_repeats)

    def in_fold(self, metric: str, fold: int) -> Matrix:
        """(n_tested, n_labels) probabilities of a fold's samples that the metric scores there.

        Raises
        ------
        DataError
            When there is no such metric.
        """
        return self._rows(self._kept_by(metric)[fold], np.flatnonzero(_numbers_of(self.fold_of) == fold))

    def _rows(self, kept: np.ndarray, places: np.ndarray) -> Matrix:
        """Probabilities of what is kept, at places among all samples of all splits."""
        P = self.probabilities
        rows = P if sparse.issparse(P) else P.reshape(-1, P.shape[-1])
        return rows[kept.astype(np.int64) * self.fold_of.size + places]

    def _kept_by(self, metric: str) -> np.ndarray:
        if metric not in BASIC_METRICS:
            raise DataError(unknown_name("metric", metric, BASIC_METRICS))
        return self.kept[list(BASIC_METRICS).index(metric)]

    def digest(self) -> bytes:
        """Compute a digest that two models share if their predictions are equal to the last bit."""
        P = self.probabilities
        parts = [getattr(P, part) for part in _PARTS] if sparse.issparse(P) else [P]
        found = hashlib.blake2b()
        for array in map(np.ascontiguousarray, [*parts, self.kept, self.fold_of]):
            found.update(str(array.shape).encode())
            found.update(array)
        return found.digest()

    def save(self, path: str | PathLike) -> None:
        """Write to an ``.npz`` file."""
        arrays = self._asdict()
        if sparse.issparse(self.probabilities):
            P = arrays.pop("probabilities")
            arrays |= {f"probabilities_{part}": np.asarray(getattr(P, part)) for part in _PARTS}
        write_arrays(path, **arrays)

    @classmethod
    def load(cls, path: str | PathLike) -> FinalPredictions:
        """Read what :meth:`save` wrote."""
        arrays = read_arrays(path)
        if "probabilities" in arrays:
            P = arrays["probabilities"]
        else:
            *content, shape = (arrays[f"probabilities_{part}"] for part in _PARTS)
            P = sparse.csr_array(tuple(content), shape=tuple(shape))
        return cls(P, arrays["kept"], arrays["fold_of"])


def _filled(chosen: Mapping[int, list[np.ndarray]], numbers: np.ndarray, n_labels: int) -> np.ndarray:
    """Probabilities of samples where the numbers say that they were tested."""
    n_kept = max(map(len, chosen.values()), default=1)
    probabilities = np.full((n_kept, *numbers.shape, n_labels), np.nan)
    for fold, of_fold in chosen.items():
        probabilities[: len(of_fold), numbers == fold] = of_fold
    return probabilities


def _stacked(chosen: Mapping[int, list[Matrix]], numbers: np.ndarray, n_labels: int) -> sparse.csr_array:
    """The same as rows of CSR, which store one NaN where there is none."""
    none = sparse.csr_array(([np.nan], ([0], [0])), shape=(1, n_labels))
    levels = []
    for number in range(max(map(len, chosen.values()))):
        parts, places, n_stacked = [none], np.zeros(numbers.size, dtype=np.int64), 1
        for fold, of_fold in chosen.items():
            if number < len(of_fold):
                rows = np.flatnonzero(numbers == fold)
                places[rows] = n_stacked + np.arange(len(rows))
                parts.append(sparse.csr_array(of_fold[number]))
                n_stacked += len(rows)
        levels.append(sparse.vstack(parts, format="csr")[places])
    return sparse.vstack(levels, format="csr")


def _mean_of_known(matrices: list[Matrix]) -> Matrix:
    """Mean of each row over the matrices that have it; NaN where none does."""
    known = np.array([finite_rows(P) for P in matrices])
    n_known = known.sum(axis=0)
    if not sparse.issparse(matrices[0]):
        total = np.where(known[..., np.newaxis], matrices, 0).sum(axis=0)
        return np.divide(total, n_known[:, np.newaxis], out=np.full(total.shape, np.nan), where=n_known[:, None] > 0)
    total = sum(_without_rows(P, ~has) for P, has in zip(matrices, known, strict=True))
    mean = sparse.diags_array(1 / np.maximum(n_known, 1)) @ total
    rows = np.flatnonzero(n_known == 0)
    none = sparse.csr_array((np.full(len(rows), np.nan), (rows, np.zeros_like(rows))), shape=mean.shape)
    return sparse.csr_array(mean + none)


def _without_rows(matrix: sparse.csr_array, rows: np.ndarray) -> sparse.csr_array:
    """Nothing in these rows."""
    counts = np.where(rows, 0, np.diff(matrix.indptr))
    stays = np.repeat(~rows, np.diff(matrix.indptr))
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((matrix.data[stays], matrix.indices[stays], starts), shape=matrix.shape)


def _numbers_of(fold_of: np.ndarray) -> np.ndarray:
    """Folds of several splits, numbered one after the other as in :func:`~fairfold.core.folds.parts_of`."""
    if fold_of.ndim == 1:
        return fold_of
    first = (int(fold_of.max(initial=-1)) + 1) * np.arange(len(fold_of))[:, np.newaxis]
    return np.where(fold_of < 0, -1, fold_of + first)
