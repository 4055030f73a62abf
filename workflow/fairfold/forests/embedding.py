"""Tree embeddings: where a sample comes by in a forest, as a few numbers (Ilidio, Cerri, Vens & Nakano 2024, Eq. 3).

A sample has one feature per node of the forest: the node's weight where the sample passes it on its way to a leaf, else
zero. Small nodes weigh most, and nodes that hold nearly all of the training samples are left out. A principal component
analysis shortens these features to the few that explain most of their variance.

The matrix of samples by nodes is wide: tens of thousands of nodes. It is never made. Its principal components follow
from the inner products between samples, and in one tree two samples share exactly the path from the root to their
deepest common node. So a table of leaves by leaves says for each tree what any two samples share, and the inner product
is a sum of look-ups. This is exact. The centred products' eigenvectors, times the square roots of their eigenvalues,
are the scores; new samples need only their products with the training samples.

For n training samples, time grows with n² times the trees, plus n³ for the eigenvectors, and memory with n²: while
fitting about 24 n² bytes (90 MB for 1,933 samples), afterwards 8 n bytes for each component. So of more than
``max_samples`` training samples as many, drawn at random, are decomposed, and all get the scores of new samples (the
Nyström approximation of Williams & Seeger 2001): from there on time and memory grow with n. benchmarks/README.md says
how much of the variance is lost.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numba import njit
from scipy.linalg import eigh_tridiagonal, lapack
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from fairfold.core.ties import ROUNDING, first_best
from fairfold.core.validation import check_whole_number
from fairfold.errors import ModelError, unknown_name

NODE_WEIGHTS = {"text": lambda draws: 1 / np.log(draws + 1), "authors-code": lambda draws: 1 / (np.log(draws) + 1)}
TREES_AT_ONCE = 4  # as many look-ups are added up before the sum is stored; written out in _add_products
LAPACK_BLOCK = 64  # columns; its blocked routines use at most as many at once
ROWS_AT_ONCE = 4096  # of samples to transform, which bounds memory

_blas_lock = threading.Lock()


class Forest(Protocol):
    """What the embedding reads of a forest. The nodes of all trees are numbered through, parents before children."""

    tree_starts_: np.ndarray  # (n_trees + 1,) first node of each tree, and the number of nodes
    left_: np.ndarray  # (n_nodes,) child, or -1 at a leaf
    right_: np.ndarray  # (n_nodes,)
    weight_: np.ndarray  # (n_nodes,) training samples drawn into the node, with repetition
    leaf_of_: np.ndarray  # (n_samples, n_trees) leaf of each training sample; needed to fit only


@dataclass(eq=False, repr=False)
class TreeEmbedding(BaseEstimator):
    """Principal components of the nodes that a sample passes (Ilidio et al. 2024, Section 3 and Eq. 3).

    Parameters
    ----------
    max_share : above 0, at most 1. A node is left out when it holds more than this share of its tree's draws. The paper
        has 0.95 for a random forest and 0.8 for extra trees. The root is left out, or has no effect (at 1).
    weighting : weight of a node with s draws: ``"text"`` is 1 / log(s + 1), as in Eq. 3; ``"authors-code"`` is
        1 / (log(s) + 1), as in the authors' code.
    explained_variance : above 0, at most 1. The fewest components are kept whose variances sum to more than this share,
        scikit-learn's ``PCA(n_components=0.8)``; 1 keeps all that have a variance.
    max_samples : training samples that are decomposed, at least 2; of more, so many drawn at random, always the same.

    Attributes
    ----------
    scores_ : (n_decomposed, n_components_) scores of the samples that are decomposed, by falling variance. Each
        component's sign is such that its largest score in size is positive (of equal ones, the first).
    explained_variance_ : (n_components_,) variance of the scores.
    explained_variance_ratio_ : (n_components_,) its share of the variance of all node features.
    mean_product_ : (n_decomposed,) mean inner product of each of these samples with all of them.
    leaf_of_ : (n_decomposed, n_trees) their leaves.

    Notes
    -----
    Where no node tells samples apart (each tree a single leaf, say) there are no components, and the scores have no
    columns. One BLAS thread is used, so that the number of cores changes no bit; embeddings that are fitted in several
    threads take turns at that. (Only while another thread holds a limit of threadpoolctl's, that limit is in force.)
    """

    _: KW_ONLY
    max_share: float = 0.95
    weighting: Literal["text", "authors-code"] = "text"
    explained_variance: float = 0.8
    max_samples: int = 4000

    @property
    def n_components_(self) -> int:
        """Number of components kept."""
        return self.scores_.shape[1]

    def fit(self, forest: Forest) -> TreeEmbedding:
        """Find the principal components of the forest's training samples.

        Parameters
        ----------
        forest : a fitted forest. Only its arrays are read, and none is kept but rows of ``leaf_of_``.

        Raises
        ------
        ModelError
            When a parameter is out of range, or the forest's arrays do not fit together.
        """
        self._check_parameters()
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
        self.explained_variance_ = kept / (n_samples - 1)  # a single sample has no component
        self.explained_variance_ratio_ = kept / values.sum()
        return self

    def training_scores(self, forest: Forest) -> np.ndarray:
        """(n_samples, n_components_) scores of all training samples of the forest that it was fitted on."""
        leaves = forest.leaf_of_
        return self.scores_ if len(leaves) <= self.max_samples else self.transform(leaves)

    def transform(self, leaf_of: np.ndarray, *, skip: np.ndarray | None = None) -> np.ndarray:
        """Scores of samples from their leaves; of those that were decomposed, ``scores_`` up to rounding.

        Parameters
        ----------
        leaf_of : (m, n_trees) the leaf of each sample in each tree, as the forest's ``apply`` gives.
        skip : (m, n_trees) bool, trees that a sample leaves out, those that it was drawn for, say; the others count the
            more. None leaves out none. A sample that leaves out all trees gets the mean score, zero.

        Returns
        -------
        (m, n_components_) array. Memory on the way: 8 bytes for each pair of some thousand samples and one that was
        decomposed.

        Raises
        ------
        ModelError
            When ``leaf_of`` does not hold leaves of this forest.
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
        products -= self.mean_product_  # the samples' own means fall out, because every component sums to zero
        loadings = self.scores_ / (self.explained_variance_ * (len(self.scores_) - 1))
        with _one_blas_thread():
            return products @ loadings

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the trees, which the forest has."""
        return {name: value for name, value in super().__getstate__().items() if name != "_trees"}

    def read_trees(self, forest: Forest) -> None:
        """Read the trees of the forest that it was fitted on, which a copy or a saved embedding lacks.

        Raises
        ------
        ModelError
            When the embedding belongs to another forest.
        """
        self._check_parameters()
        self._trees = _read_trees(forest, self.max_share, self.weighting)
        _check_leaves(self.leaf_of_, self._trees)

    def _check_parameters(self) -> None:
        for name in ("max_share", "explained_variance"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value <= 1:
                raise ModelError(f"{name} is {value!r}; it must be a number above 0 and at most 1.")
        check_whole_number("max_samples", self.max_samples, 2)
        if self.weighting not in NODE_WEIGHTS:
            raise ModelError(unknown_name("weighting", self.weighting, NODE_WEIGHTS))


class _Trees(NamedTuple):
    """Trees whose leaves are numbered so that those under a node follow one another."""

    starts: np.ndarray  # (n_trees + 1,) first node of each tree
    first_leaf: np.ndarray  # (n_nodes,) number of the first leaf under a node, within its tree
    n_leaves: np.ndarray  # (n_nodes,) number of leaves under a node
    shared: np.ndarray  # (n_nodes,) squared weights summed from the root: the product of two samples that part here


def _read_trees(forest: Forest, max_share: float, weighting: str) -> _Trees:
    starts = np.asarray(forest.tree_starts_, dtype=np.int64)
    draws = np.asarray(forest.weight_, dtype=np.float64)
    if not (draws >= 1).all():
        raise ModelError(f"a node of the forest holds {draws.min():g} draws; each must hold at least 1.")
    of_root = np.repeat(draws[starts[:-1]], np.diff(starts))
    shared = np.where(draws > max_share * of_root, 0.0, NODE_WEIGHTS[weighting](draws) ** 2)
    children = (np.ascontiguousarray(child, dtype=np.int32) for child in (forest.left_, forest.right_))
    first_leaf, n_leaves = _number_leaves(*children, shared)
    if n_leaves.max() > np.iinfo(np.uint16).max:
        raise ModelError(
            f"a tree has {n_leaves.max()} leaves; an embedding takes at most 65535; ask for more samples per leaf."
        )
    return _Trees(starts, first_leaf.astype(np.uint16), n_leaves, shared)


def _check_leaves(leaf_of: np.ndarray, trees: _Trees) -> np.ndarray:
    leaf_of = np.asarray(leaf_of)
    n_trees = len(trees.starts) - 1
    if leaf_of.ndim != 2 or leaf_of.shape[1] != n_trees or leaf_of.dtype.kind not in "iu":
        raise ModelError(
            f"leaf_of is {leaf_of.dtype} of shape {leaf_of.shape}; it must hold whole numbers, one row for each sample "
            f"and one column for each of the {n_trees} trees."
        )
    outside = (leaf_of < trees.starts[:-1]) | (leaf_of >= trees.starts[1:])
    wrong = outside | (trees.n_leaves[np.where(outside, 0, leaf_of)] > 1)
    if wrong.any():
        sample, tree = np.argwhere(wrong)[0]
        raise ModelError(
            f"leaf_of has {leaf_of[sample, tree]} for sample {sample} and tree {tree}, which is no leaf of that tree; "
            "use what the apply method of the same forest gives."
        )
    return leaf_of


def _inner_products(
    trees: _Trees, rows: np.ndarray, columns: np.ndarray | None = None, skip: np.ndarray | None = None
) -> np.ndarray:
    """Inner products of samples, given by their leaves; without ``columns`` of the rows, the upper triangle only.

    Rows share nothing in the trees that they skip.
    """
    symmetric = columns is None
    columns = rows if symmetric else columns
    products = np.zeros((len(rows), len(columns)))
    width = trees.n_leaves.max() + 1  # the last leaf is none: it shares nothing with any
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
    """(TREES_AT_ONCE, n) numbers within their trees, zero for trees that are missing in the last batch."""
    numbers = np.zeros((TREES_AT_ONCE, len(leaf_of)), dtype=np.uint16)
    numbers[: leaf_of.shape[1]] = trees.first_leaf[leaf_of].T
    return numbers


def _leading_eigenvectors(matrix: np.ndarray, share: float, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues, falling, and the eigenvectors of the first ones that sum to more than ``share`` of the total.

    Half the samples' number of components is usual, so iterative methods do not pay. These are the steps of LAPACK's
    ``syevd``, but only vectors that are kept are turned back. Overwrites ``matrix``; reads its upper triangle only.
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
    """The order of a BLAS sum, and so its last bits, follow the number of threads, a setting of the whole process."""
    with _blas_lock, threadpool_limits(1, user_api="blas"):
        yield


@njit(cache=True, nogil=True)
def _number_leaves(left: np.ndarray, right: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First leaf and number of leaves under each node; turns ``shared`` from a node's own into the sum of its path."""
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
    """Write into ``tables[tree, a, b]`` what samples in leaves a and b share: that of their deepest common node."""
    for tree in range(len(starts) - 1):
        for node in range(starts[tree], starts[tree + 1]):  # parents come first, so deeper nodes overwrite them
            begin, end = first_leaf[node], first_leaf[node] + n_leaves[node]
            tables[tree, begin:end, begin:end] = shared[node]


@njit(cache=True, nogil=True)
def _add_products(
    tables: np.ndarray, rows: np.ndarray, columns: np.ndarray, products: np.ndarray, symmetric: bool
) -> None:
    """Add what samples share in four trees; when ``symmetric``, only from the diagonal on."""
    p, q, r, s = columns[0], columns[1], columns[2], columns[3]
    for i in range(len(products)):
        a, b, c, d = tables[0, rows[0, i]], tables[1, rows[1, i]], tables[2, rows[2, i]], tables[3, rows[3, i]]
        product = products[i]
        for j in range(i if symmetric else 0, len(product)):
            product[j] += a[p[j]] + b[q[j]] + c[r[j]] + d[s[j]]
