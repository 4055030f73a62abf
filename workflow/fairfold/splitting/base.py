"""Base class of the splitters: parameter checks, the scikit-learn interface, groups and train/test splits."""

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

from fairfold.core.defaults import N_SPLITS
from fairfold.core.seeds import seed_sequence
from fairfold.errors import SplitError, UnevenFoldsWarning
from fairfold.splitting.labels import Rows, labels_to_balance
from fairfold.splitting.measures import check_n_splits

if TYPE_CHECKING:
    from fairfold.splitting.group_folds import SizeBand

_STREAMS = ("partition", "anneal", "sizes")


@dataclass(eq=False, repr=False)
class FoldSplitter(BaseEstimator, ABC):
    """Base class of the splitters.

    A subclass implements ``_partition``, which assigns rows to folds. This class checks the parameters, keeps groups
    together, refines the folds and provides the scikit-learn interface.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int or None, default=None
        Seed. The same labels, parameters and seed always give the same folds. ``None`` draws a new seed at each call.
    refine : {None, "anneal"}, default=None
        ``"anneal"`` improves the folds by simulated annealing over moves of single rows. Each fold then has its fair
        size within one row. With ``groups``, a fold may differ by the smaller of 5 % of its fair size and half of the
        largest group, or by more if whole groups require it.
    sweeps : int or None, default=None
        Effort of the annealing: the number of passes over all positives. ``None`` uses
        ``fairfold.splitting.annealing.default_sweeps``. More sweeps give slightly better folds.
    """

    n_splits: int = N_SPLITS
    _: KW_ONLY
    random_state: int | None = None
    refine: str | None = None
    sweeps: int | None = None

    @abstractmethod
    def _partition(self, rows: Rows, proportions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the fold of each row, int64; ``proportions`` holds the target share of each fold."""

    def assign(self, Y: Any, groups: ArrayLike | None = None) -> np.ndarray:
        """Assign each sample to a test fold.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels, 0 or 1, or NaN if unmeasured. The matrix is neither changed nor made dense. For a label with
            unmeasured cells, both its positives and its measured cells are spread evenly.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. Samples of a group stay in one fold. Fold sizes are as even as the groups allow. A
            group that exceeds the fair size of a fold gets a separate fold.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            Test fold of each sample, from 0 to ``n_splits - 1``.

        Raises
        ------
        SplitError
            If a label is not 0, 1 or NaN, no label is positive, a parameter is invalid, or there are more folds than
            samples or groups.

        Warns
        -----
        UnevenFoldsWarning
            If whole groups keep the size of a fold more than 10 % from its fair size.

        Examples
        --------
        >>> from fairfold.splitting import RandomSplit
        >>> fold_of = RandomSplit(n_splits=2, random_state=0).assign([[1], [0], [1], [0]])
        >>> sorted(fold_of.tolist())
        [0, 0, 1, 1]

        Samples of a group share a fold:

        >>> Y, groups = [[1], [0], [1], [0]], ["a", "a", "b", "b"]
        >>> fold_of = RandomSplit(n_splits=2, random_state=0).assign(Y, groups)
        >>> bool(fold_of[0] == fold_of[1])
        True
        """
        labels = labels_to_balance(Y)
        check_n_splits(self.n_splits, labels.shape[0])
        return self._assign(labels, np.full(self.n_splits, 1 / self.n_splits), groups)

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Generate the training and test indices of each fold, like a scikit-learn splitter.

        Parameters
        ----------
        X : object
            Ignored. scikit-learn passes the features here.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels, as for :meth:`assign`. This argument is required.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. Samples of a group stay in one fold.

        Yields
        ------
        train : ndarray of int64
            Indices of the training samples, in ascending order.
        test : ndarray of int64
            Indices of the test samples, in ascending order.

        Raises
        ------
        SplitError
            If ``y`` is missing, or for the reasons given in :meth:`assign`.
        """
        if y is None:
            raise SplitError("y: the labels are missing. Pass them as split(X, Y).")
        fold_of = self._assign_split(X, y, groups)
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Ignored. The parameters exist for compatibility with scikit-learn.

        Returns
        -------
        int
            Number of folds.
        """
        return self.n_splits

    def train_test(self, Y: Any, test_size: float, groups: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Split the samples into one balanced pair of training and test samples.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels, as for :meth:`assign`.
        test_size : float
            Share of the test samples, between 0 and 1.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. Samples of a group stay together.

        Returns
        -------
        train : ndarray of int64
            Indices of the training samples, in ascending order.
        test : ndarray of int64
            Indices of the test samples, in ascending order.

        Raises
        ------
        SplitError
            If the training or test samples would be empty, or for the reasons given in :meth:`assign`.

        Examples
        --------
        >>> from fairfold.splitting import IterativeStratification
        >>> Y = [[1, 0], [0, 1]] * 10
        >>> train, test = IterativeStratification(random_state=0).train_test(Y, test_size=0.2)
        >>> len(train), len(test)
        (16, 4)
        """
        labels = labels_to_balance(Y)
        n_samples = labels.shape[0]
        if not isinstance(test_size, Real) or not 0 < test_size < 1:
            raise SplitError(f"test_size: found {test_size!r}. Give the share of the samples, between 0 and 1.")
        if not 1 <= round(test_size * n_samples) < n_samples:
            raise SplitError(f"test_size: {test_size} of {n_samples} rows leaves a part empty. Change it or add rows.")
        in_test = self._assign(labels, np.array([1 - test_size, test_size]), groups)
        return np.flatnonzero(in_test == 0), np.flatnonzero(in_test == 1)

    def _assign_split(self, X: Any, y: Any, groups: ArrayLike | None) -> np.ndarray:
        """Return the folds of :meth:`split`. Most splitters ignore the features."""
        return self.assign(y, groups)

    def _check_parameters(self) -> None:
        """Raise a :class:`SplitError` if a parameter is invalid."""
        if self.random_state is not None and not isinstance(self.random_state, Integral):
            raise SplitError(f"random_state: found {self.random_state!r}. Give an integer, or None for a new seed.")
        if self.refine not in (None, "anneal"):
            raise SplitError(f"refine: found {self.refine!r}. Use None or 'anneal'.")
        if self.sweeps is not None and (not isinstance(self.sweeps, Integral) or self.sweeps < 1):
            raise SplitError(f"sweeps: found {self.sweeps!r}. Give a whole number of at least 1, or None.")

    def _assign(self, labels: sp.csr_array, proportions: np.ndarray, groups: ArrayLike | None) -> np.ndarray:
        self._check_parameters()
        # Each random step uses a separate stream. A search that reuses the random numbers of its start is biased.
        rngs = {use: self._rng(use) for use in _STREAMS}
        if groups is not None:
            return self._assign_groups(labels, proportions, groups, rngs)
        rows = Rows(labels, np.ones(labels.shape[0], dtype=np.int64))
        fold_of = self._partition(rows, proportions, rngs["partition"])
        return self._anneal(rows, fold_of, proportions, rngs["anneal"]) if self.refine else fold_of

    def _rng(self, use: str) -> np.random.Generator:
        seed = secrets.randbits(32) if self.random_state is None else int(self.random_state)
        return np.random.default_rng(seed_sequence(seed, type(self).__name__, use))

    def _assign_groups(
        self, labels: sp.csr_array, proportions: np.ndarray, groups: ArrayLike, rngs: dict[str, np.random.Generator]
    ) -> np.ndarray:
        # Imported here because the module loads Numba.
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
        shares: np.ndarray,
        rng: np.random.Generator,
        band: SizeBand | None = None,
    ) -> np.ndarray:
        from fairfold.splitting.annealing import anneal  # Loads Numba.

        return anneal(rows, fold_of, shares, rng, band=band, sweeps=self.sweeps)
