"""Tree embeddings of samples from the nodes of a forest (Ilidio, Cerri, Vens & Nakano 2024, Eq. 3).

A sample has one feature per node of the forest: the weight of the node if the sample passes it, otherwise zero. Small
nodes have large weights, and nodes with nearly all training samples are omitted. A principal component analysis
reduces these features to few components.

The matrix of samples by nodes has tens of thousands of columns and is never built. Its principal components follow
from the inner products of the samples. In one tree, two samples share exactly the path from the root to their deepest
common node. A table of leaves by leaves therefore gives the product of any two samples in the tree, and the inner
product is a sum of table entries. The result is exact. The scores are the eigenvectors of the centered products times
the square roots of their eigenvalues. New samples need only their products with the training samples.

For n training samples, time is O(n² · n_trees + n³) and memory is O(n²). If n exceeds ``max_samples``, only a random
subset of this size is decomposed, and all samples are transformed like new samples (the Nyström approximation of
Williams & Seeger 2001). Beyond this limit, time and memory grow linearly with n.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal, lapack
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from fairfold.core.compiled import njit
from fairfold.core.rounding import ROUNDING, first_best
from fairfold.errors import ModelError

if TYPE_CHECKING:
    from fairfold.forests.trees import MultilabelForest

NODE_WEIGHTS = {"text": lambda draws: 1 / np.log(draws + 1), "authors-code": lambda draws: 1 / (np.log(draws) + 1)}
TREES_AT_ONCE = 4  # Number of table entries that _add_products sums at once.
LAPACK_BLOCK = 64  # Maximum block size of LAPACK's blocked routines, in columns.
ROWS_AT_ONCE = 4096  # Batch size of transform, which limits memory.

_blas_lock = threading.Lock()


@dataclass(eq=False, repr=False)
class TreeEmbedding(BaseEstimator):
    """Principal components of the nodes that a sample passes (Ilidio et al. 2024, Section 3 and Eq. 3).

    Parameters
    ----------
    max_share : float, default=0.95
        Maximum share of a tree's draws in a node, above 0 and at most 1. Nodes with a larger share are omitted. The
        paper uses 0.95 for a random forest and 0.8 for extra trees. The root is omitted or has no effect (if 1).
    weighting : {"text", "authors-code"}, default="text"
        Weight of a node with s draws: 1 / log(s + 1) as in Eq. 3 (``"text"``) or 1 / (log(s) + 1) as in the authors'
        code (``"authors-code"``).
    explained_variance : float, default=0.8
        Share of the variance to explain, above 0 and at most 1. The smallest number of components whose variances sum
        to more than this share is kept, as in scikit-learn's ``PCA(n_components=0.8)``. 1 keeps all components with
        positive variance.
    max_samples : int, default=4000
        Maximum number of training samples to decompose, at least 2. A larger training set is subsampled with a fixed
        seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_decomposed, n_components_)
        Scores of the decomposed samples, sorted by decreasing variance. The sign of a component makes its score of
        largest absolute value positive (the first one if several tie).
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the scores.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Variance of the scores as a share of the variance of all node features.
    mean_product_ : ndarray of shape (n_decomposed,)
        Mean inner product of each decomposed sample with all decomposed samples.
    leaf_of_ : ndarray of shape (n_decomposed, n_trees)
        Leaves of the decomposed samples.

    Notes
    -----
    If no node separates the samples, for example because each tree is a single leaf, the scores have no columns.

    The computation uses one BLAS thread, and the result does not depend on the number of cores. Embeddings that are
    fitted in several threads take turns at this step. A limit of threadpoolctl that is active in another thread takes
    precedence.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.embedding import TreeEmbedding
    >>> from fairfold.forests.trees import MultilabelForest
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> forest = MultilabelForest("extra_trees", n_trees=20, random_state=0).fit(X, X[:, :2] > 0)
    >>> embedding = TreeEmbedding(max_share=0.8).fit(forest)
    >>> embedding.n_components_
    6
    >>> embedding.transform(forest.apply(X[:5])).shape
    (5, 6)
    """

    _: KW_ONLY
    max_share: float = 0.95
    weighting: Literal["text", "authors-code"] = "text"
    explained_variance: float = 0.8
    max_samples: int = 4000

    @property
    def n_components_(self) -> int:
        """Number of components."""
        return self.scores_.shape[1]

    def fit(self, forest: MultilabelForest) -> TreeEmbedding:
        """Compute the principal components of the training samples of a forest.

        Parameters
        ----------
        forest : MultilabelForest
            Fitted forest. The embedding reads its arrays and keeps only rows of ``leaf_of_``.

        Returns
        -------
        TreeEmbedding
            The fitted embedding.

        Raises
        ------
        ModelError
            If the arrays of the forest are inconsistent.
        """
        self._trees = _read_trees(forest, self.max_share, self.weighting)
        leaves = _check_leaves(forest.leaf_of_, self._trees)
        if len(leaves) > self.max_samples:
            leaves = leaves[np.sort(np.random.default_rng(0).permutation(len(leaves))[: self.max_samples])]
        self.leaf_of_ = leaves
        gram = _inner_products(self._trees, self.leaf_of_)
        n_samples = len(gram)
        rounding = n_samples * np.finfo(float).eps * gram.diagonal().max()
        self.mean_product_ = (gram.sum(axis=0) + gram.sum(axis=1) - gram.diagonal()) / n_samples
        gram -= self.mean_product_
        gram -= self.mean_product_[:, None]
        gram += self.mean_product_.mean()
        values, vectors = _leading_eigenvectors(gram, self.explained_variance, rounding)
        kept = values[: vectors.shape[1]]
        largest = np.take_along_axis(vectors, first_best(np.abs(vectors), axis=0)[None], axis=0)
        self.scores_ = np.ascontiguousarray(vectors * np.sqrt(kept) * np.sign(largest))
        self.explained_variance_ = kept / (n_samples - 1)  # A single sample has no component.
        self.explained_variance_ratio_ = kept / values.sum()
        return self

    def training_scores(self, forest: MultilabelForest) -> np.ndarray:
        """Compute the scores of all training samples of the forest.

        Parameters
        ----------
        forest : MultilabelForest
            Forest that the embedding was fitted on.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            Scores.
        """
        leaves = forest.leaf_of_
        return self.scores_ if len(leaves) <= self.max_samples else self.transform(leaves)

    def transform(self, leaf_of: np.ndarray, *, skip: np.ndarray | None = None) -> np.ndarray:
        """Compute the scores of samples from their leaves.

        Parameters
        ----------
        leaf_of : ndarray of int of shape (n_samples, n_trees)
            Leaf of each sample in each tree, as returned by the ``apply`` method of the forest.
        skip : ndarray of bool of shape (n_samples, n_trees) or None, default=None
            Trees to ignore for each sample, for example the trees that drew it. The weight of the other trees increases
            accordingly. A sample that skips all trees gets the mean score, zero.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            Scores. For decomposed samples they equal ``scores_`` up to rounding.

        Raises
        ------
        ModelError
            If ``leaf_of`` contains indices that are not leaves of this forest.

        Notes
        -----
        Samples are transformed in batches, which limits the memory for their products with the decomposed samples.
        """
        check_is_fitted(self, "scores_")
        leaf_of = _check_leaves(leaf_of, self._trees)
        starts = range(0, max(len(leaf_of), 1), ROWS_AT_ONCE)
        parts = [slice(first, first + ROWS_AT_ONCE) for first in starts]
        return np.vstack([self._transform(leaf_of[part], None if skip is None else skip[part]) for part in parts])

    def _transform(self, leaf_of: np.ndarray, skip: np.ndarray | None) -> np.ndarray:
        products = _inner_products(self._trees, leaf_of, self.leaf_of_, skip)
        if skip is not None:
            n_kept = np.count_nonzero(~skip, axis=1)[:, None]
            products = np.where(n_kept > 0, products * (skip.shape[1] / np.maximum(n_kept, 1)), self.mean_product_)
        products -= self.mean_product_  # Every component sums to zero, which cancels the samples' own means.
        loadings = self.scores_ / (self.explained_variance_ * (len(self.scores_) - 1))
        with _one_blas_thread():
            return products @ loadings

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the trees, which the forest stores."""
        return {name: value for name, value in super().__getstate__().items() if name != "_trees"}

    def read_trees(self, forest: MultilabelForest) -> None:
        """Read the trees of the forest into an embedding that was copied or loaded.

        Parameters
        ----------
        forest : MultilabelForest
            Forest that the embedding was fitted on.

        Raises
        ------
        ModelError
            If the embedding belongs to another forest.
        """
        self._trees = _read_trees(forest, self.max_share, self.weighting)
        _check_leaves(self.leaf_of_, self._trees)


class _Trees(NamedTuple):
    """Trees with consecutive leaf numbers under each node."""

    starts: np.ndarray  # (n_trees + 1,) first node of each tree
    first_leaf: np.ndarray  # (n_nodes,) number of the first leaf under the node, within its tree
    n_leaves: np.ndarray  # (n_nodes,) number of leaves under the node
    shared: np.ndarray  # (n_nodes,) sum of squared weights from the root: product of samples that separate here


def _read_trees(forest: MultilabelForest, max_share: float, weighting: str) -> _Trees:
    starts = np.asarray(forest.tree_starts_, dtype=np.int64)
    draws = np.asarray(forest.weight_, dtype=np.float64)
    if not (draws >= 1).all():
        raise ModelError(f"a node of the forest has {draws.min():g} draws. Each node must have at least 1.")
    of_root = np.repeat(draws[starts[:-1]], np.diff(starts))
    shared = np.where(draws > max_share * of_root, 0.0, NODE_WEIGHTS[weighting](draws) ** 2)
    left, right = (np.ascontiguousarray(child, dtype=np.int32) for child in (forest.left_, forest.right_))
    first_leaf, n_leaves = _number_leaves(left, right, shared)
    if n_leaves.max() > np.iinfo(np.uint16).max:
        raise ModelError(f"a tree has {n_leaves.max()} leaves, but the limit is 65535. Increase min_samples_leaf.")
    return _Trees(starts, first_leaf.astype(np.uint16), n_leaves, shared)


def _check_leaves(leaf_of: np.ndarray, trees: _Trees) -> np.ndarray:
    leaf_of, n_trees = np.asarray(leaf_of), len(trees.starts) - 1
    if leaf_of.ndim == 2 and leaf_of.shape[1] == n_trees and leaf_of.dtype.kind in "iu":
        is_node = (leaf_of >= trees.starts[:-1]) & (leaf_of < trees.starts[1:])
        if is_node.all() and (trees.n_leaves[leaf_of] == 1).all():
            return leaf_of
    raise ModelError(
        f"leaf_of of type {leaf_of.dtype} and shape {leaf_of.shape} does not hold the leaves of the {n_trees} trees. "
        "Use the result of the method apply of the same forest."
    )


def _inner_products(
    trees: _Trees, rows: np.ndarray, columns: np.ndarray | None = None, skip: np.ndarray | None = None
) -> np.ndarray:
    """Compute inner products of samples given by their leaves; without ``columns``, the upper triangle for the rows.

    Trees that a row skips contribute zero.
    """
    symmetric = columns is None
    columns = rows if columns is None else columns
    products = np.zeros((len(rows), len(columns)))
    width = trees.n_leaves.max() + 1  # The extra leaf has product zero with all leaves.
    for start in range(0, rows.shape[1], TREES_AT_ONCE):
        batch = slice(start, start + TREES_AT_ONCE)
        tables = np.zeros((TREES_AT_ONCE, width, width))
        _fill_tables(trees.starts[start : start + TREES_AT_ONCE + 1], *trees[1:], tables)
        of_rows = _leaf_numbers(trees, rows[:, batch])
        if skip is not None:
            of_rows[: skip[:, batch].shape[1]][skip[:, batch].T] = width - 1
        of_columns = of_rows if symmetric else _leaf_numbers(trees, columns[:, batch])
        _add_products(tables, of_rows, of_columns, products, symmetric)
    return products


def _leaf_numbers(trees: _Trees, leaf_of: np.ndarray) -> np.ndarray:
    """Return leaf numbers (TREES_AT_ONCE, n) within each tree; missing trees of the last batch have zeros."""
    numbers = np.zeros((TREES_AT_ONCE, len(leaf_of)), dtype=np.uint16)
    numbers[: leaf_of.shape[1]] = trees.first_leaf[leaf_of].T
    return numbers


def _leading_eigenvectors(matrix: np.ndarray, share: float, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute all eigenvalues, in decreasing order, and the leading eigenvectors that explain more than ``share``.

    Typically about half of the components are kept, which makes iterative methods too slow. The steps follow LAPACK's
    ``syevd`` but transform back only the kept vectors. The function reads the upper triangle of ``matrix`` and
    overwrites it.
    """
    n = len(matrix)
    if matrix.trace() <= rounding:
        return np.zeros(n), np.zeros((n, 0))
    work = LAPACK_BLOCK * (n + LAPACK_BLOCK + 1)
    with _one_blas_thread():
        reflectors, diagonal, off_diagonal, scales, _ = lapack.dsytrd(matrix.T, lower=1, lwork=work, overwrite_a=1)
        values, vectors = eigh_tridiagonal(diagonal, off_diagonal, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        explained = np.cumsum(values) / values.sum()
        n_kept = min(np.searchsorted(explained, share + ROUNDING) + 1, np.count_nonzero(values > rounding))
        vectors = np.asfortranarray(vectors[:, :n_kept])
        vectors[1:] = lapack.dormqr("L", "N", reflectors[1:, :-1], scales, vectors[1:], work)[0]
    return values, vectors


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, because the number of threads changes the order of sums and thus their rounding."""
    with _blas_lock, threadpool_limits(1, user_api="blas"):
        yield


@njit(cache=True, nogil=True)
def _number_leaves(left: np.ndarray, right: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the first leaf and the number of leaves of each node; accumulate ``shared`` along paths."""
    n_leaves = np.ones(len(left), dtype=np.int64)
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            n_leaves[node] = n_leaves[left[node]] + n_leaves[right[node]]
    first_leaf = np.zeros(len(left), dtype=np.int64)
    for node in range(len(left)):
        if left[node] >= 0:
            first_leaf[left[node]] = first_leaf[node]
            first_leaf[right[node]] = first_leaf[node] + n_leaves[left[node]]
            shared[left[node]] += shared[node]
            shared[right[node]] += shared[node]
    return first_leaf, n_leaves


@njit(cache=True, nogil=True)
def _fill_tables(
    starts: np.ndarray, first_leaf: np.ndarray, n_leaves: np.ndarray, shared: np.ndarray, tables: np.ndarray
) -> None:
    """Write the product of samples in leaves a and b into ``tables[tree, a, b]``."""
    for tree in range(len(starts) - 1):
        for node in range(starts[tree], starts[tree + 1]):  # Parents come first and are overwritten by deeper nodes.
            begin, end = first_leaf[node], first_leaf[node] + n_leaves[node]
            tables[tree, begin:end, begin:end] = shared[node]


@njit(cache=True, nogil=True)
def _add_products(
    tables: np.ndarray, rows: np.ndarray, columns: np.ndarray, products: np.ndarray, symmetric: bool
) -> None:
    """Add the products of samples in four trees; if ``symmetric``, only from the diagonal on."""
    p, q, r, s = columns[0], columns[1], columns[2], columns[3]
    for i in range(len(products)):
        a, b, c, d = tables[0, rows[0, i]], tables[1, rows[1, i]], tables[2, rows[2, i]], tables[3, rows[3, i]]
        product = products[i]
        for j in range(i if symmetric else 0, len(product)):
            product[j] += a[p[j]] + b[q[j]] + c[r[j]] + d[s[j]]
