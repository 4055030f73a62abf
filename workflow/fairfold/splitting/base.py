"""What all splitters share: checked parameters, folds as an array, scikit-learn's ``split``, groups, train/test."""

from __future__ import annotations

import secrets
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from fairfold.core.seeds import seed_sequence
from fairfold.errors import SplitError, UnevenFoldsWarning
from fairfold.splitting.labels import Rows, labels_to_balance
from fairfold.splitting.measures import check_n_splits

if TYPE_CHECKING:
    from fairfold.splitting.group_folds import SizeBand


@dataclass(eq=False, repr=False)
class FoldSplitter(BaseEstimator, ABC):
    """Base of the splitters. A subclass says how rows get their folds; the rest is here.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    random_state : int or None
        Seed. The folds are a function of the labels, the parameters and this seed; ``None`` draws a fresh seed at
        each call.
    refine : {None, "anneal"}
        ``"anneal"`` improves the folds by simulated annealing over moves of single rows and brings their sizes within
        one row of the fair size. With ``groups``, sizes may differ by 5 % of the fair size or half of the largest
        group, whichever is less, and as much more as whole groups make necessary.
    sweeps : int or None
        Effort of the annealing, in passes over all positives. ``None`` for a second's worth or so, see
        ``fairfold.splitting.annealing.default_sweeps``; ten times more make the folds a little better.
    """

    n_splits: int = 5
    _: KW_ONLY
    random_state: int | None = None
    refine: str | None = None
    sweeps: int | None = None

    @abstractmethod
    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Fold of each row, shape (n_rows,), int64; ``proportions`` are the folds' shares of the samples."""

    def assign(self, Y: Any, groups: ArrayLike | None = None) -> np.ndarray:
        """Test fold of each sample.

        Parameters
        ----------
        Y : array-like or sparse matrix, shape (n_samples, n_labels)
            Labels, 0 or 1; never changed, never made dense. Where some are NaN, unmeasured, both the positives and the
            measured cells of a label are spread evenly.
        groups : array-like of shape (n_samples,), default=None
            Samples with the same value stay in one fold. Folds of whole groups are as even in size as the groups
            allow; a group that is larger than a fold should be has a fold of its own.

        Returns
        -------
        fold_of : ndarray of int64, shape (n_samples,)

        Raises
        ------
        SplitError
            For labels that are not 0, 1 or NaN, or more folds than rows or groups.

        Warns
        -----
        UnevenFoldsWarning
            If whole groups keep a fold more than 10 % from its fair size.
        """
        labels = labels_to_balance(Y)
        check_n_splits(self.n_splits, labels.shape[0])
        return self._assign(labels, np.full(self.n_splits, 1 / self.n_splits), groups)

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training and test indices of each fold, as scikit-learn's splitters give them.

        Parameters
        ----------
        X : ignored; there because scikit-learn passes it.
        y : array-like or sparse matrix, shape (n_samples, n_labels)
            Labels, 0 or 1.
        groups : array-like, shape (n_samples,), optional
            Samples with the same value stay in one fold.
        """
        if y is None:
            raise SplitError("y is missing: these splitters balance labels, pass them as split(X, Y)")
        fold_of = self.assign(y, groups)
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Number of folds; the arguments are ignored."""
        return self.n_splits

    def train_test(self, Y: Any, test_size: float, groups: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """One balanced split into training and test samples.

        Parameters
        ----------
        Y : array-like or sparse matrix, shape (n_samples, n_labels)
            Labels, 0 or 1.
        test_size : float
            Share of the samples to test on, between 0 and 1.
        groups : array-like, shape (n_samples,), optional
            Samples with the same value stay together.

        Returns
        -------
        train, test : ndarrays of int64
            Indices of the samples, ascending.

        Raises
        ------
        SplitError
            As :meth:`assign`, or if either side would be empty.
        """
        labels = labels_to_balance(Y)
        n_samples = labels.shape[0]
        if not isinstance(test_size, Real) or not 0 < test_size < 1:
            raise SplitError(f"test_size is {test_size!r}: give the share of the samples, between 0 and 1")
        if not 1 <= round(test_size * n_samples) < n_samples:
            raise SplitError(f"test_size {test_size} of {n_samples} rows leaves one side empty: change it or add rows")
        in_test = self._assign(labels, np.array([1 - test_size, test_size]), groups)
        return np.flatnonzero(in_test == 0), np.flatnonzero(in_test == 1)

    def _check_parameters(self) -> None:
        """Raise a :class:`SplitError` for a parameter that is not allowed."""
        if self.random_state is not None and not isinstance(self.random_state, Integral):
            raise SplitError(f"random_state is {self.random_state!r}: give an integer seed, or None for a fresh one")
        if self.refine not in (None, "anneal"):
            raise SplitError(f"refine is {self.refine!r}: use None or 'anneal'")
        if self.sweeps is not None and (not isinstance(self.sweeps, Integral) or self.sweeps < 1):
            raise SplitError(f"sweeps is {self.sweeps!r}: give a number of passes of at least 1, or None")

    def _assign(self, labels: sp.csr_array, proportions: np.ndarray, groups: ArrayLike | None) -> np.ndarray:
        self._check_parameters()
        # Each use of chance has a stream of its own: a search driven by the numbers that made its start is biased.
        seed = secrets.randbits(32) if self.random_state is None else int(self.random_state)
        rngs = {
            use: np.random.default_rng(seed_sequence(seed, type(self).__name__, use))
            for use in ("partition", "anneal", "sizes")
        }
        if groups is not None:
            return self._assign_groups(labels, proportions, groups, rngs)
        rows = Rows(labels, np.ones(labels.shape[0], dtype=np.int64))
        fold_of = self._partition(rows, proportions, rngs["partition"])
        return self._anneal(rows, fold_of, proportions, rngs["anneal"]) if self.refine else fold_of

    def _assign_groups(
        self, labels: sp.csr_array, proportions: np.ndarray, groups: ArrayLike, rngs: dict[str, np.random.Generator]
    ) -> np.ndarray:
        # Here, as they load Numba.
        from fairfold.splitting.group_folds import collapse_groups, even_folds, exchange_groups, uneven_sizes

        rows, row_of, names = collapse_groups(labels, groups, len(proportions))
        even = even_folds(rows.weights, proportions, rng=rngs["sizes"])
        fold_of, shares, band = even.fold_of, even.proportions, even.band
        part = rows if len(even.free) == len(names) else rows.of(even.free)
        if len(even.folds) > 1 and part.labels.nnz:
            start = self._partition(part, shares, rngs["partition"])
            found = exchange_groups(part, self._anneal(part, start, shares, rngs["anneal"], band), shares, band)
            fold_of[even.free] = even.folds[found]
        sizes = np.bincount(fold_of, rows.weights, len(proportions))
        if (uneven := uneven_sizes(sizes, rows.weights, names, proportions)) is not None:
            warnings.warn(f"groups: {uneven}.", UnevenFoldsWarning, stacklevel=4)
        return fold_of[row_of]

    def _anneal(
        self,
        rows: Rows,
        fold_of: np.ndarray,
        proportions: np.ndarray,
        rng: np.random.Generator,
        band: SizeBand | None = None,
    ) -> np.ndarray:
        from fairfold.splitting.annealing import anneal

        return anneal(rows, fold_of, proportions, rng, band=band, sweeps=self.sweeps)
