"""Hierarchies of labels that follow the true-path rule: a sample with a label has all labels above it.

Labels are numbered by the columns of a label matrix. A hierarchy keeps the transitive closure of the parents, so
labels can be removed without losing the relations between the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.validation import check_label_matrix, with_nan
from fairfold.errors import DataError, ModelError, check_name

Reconciliation = Literal["isotonic", "maximum"]
"""Method that adjusts probabilities to the true-path rule; see :meth:`Hierarchy.reconcile`."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Directed acyclic graph of labels.

    Parameters
    ----------
    edges : array-like of int of shape (n_edges, 2)
        Pairs of a label and a label above it, in any order. Edges that follow from others are allowed and are removed
        from the attribute.
    n_labels : int
        Number of labels. Labels without edges are unrelated to the others.
    namespaces : tuple of str, default=()
        Namespace of each label. Namespaces are parts of an ontology that are scored separately. Empty for a single one.

    Attributes
    ----------
    edges : ndarray of int64 of shape (n_edges, 2)
        Labels and their parents, sorted. This is the transitive reduction of the graph.

    Raises
    ------
    DataError
        If an edge has an unknown label, connects a label to itself or closes a cycle, or the number of namespaces is
        wrong.

    Examples
    --------
    >>> hierarchy = Hierarchy([[2, 1], [1, 0]], n_labels=3)  # 2 is below 1, and 1 is below 0.
    >>> hierarchy.with_ancestors(np.array([[0, 0, 1], [1, 0, 0]]))
    array([[1, 1, 1],
           [1, 0, 0]])
    >>> hierarchy.reconcile(np.array([[0.2, 0.5, 0.6]]), by="maximum")
    array([[0.6, 0.6, 0.6]])
    """

    edges: np.ndarray
    n_labels: int
    namespaces: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges, dtype=np.int64).reshape(-1, 2)
        _check_edges(edges, self.n_labels)
        ancestors = _closure(edges, self.n_labels)
        # An edge follows from others if a label is between its ends.
        parents = sparse.coo_array(ancestors > (ancestors @ ancestors > 0))
        object.__setattr__(self, "edges", np.column_stack(parents.coords).astype(np.int64)[parents.data.astype(bool)])
        object.__setattr__(self, "n_labels", int(self.n_labels))
        if len(self.namespaces) not in (0, self.n_labels):
            raise DataError(
                f"namespaces: expected one for each of the {self.n_labels} labels, found {len(self.namespaces)}."
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.as_dict(), "namespaces": self.namespaces}  # Cached properties are not stored.

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters that models need, without namespaces.

        Returns
        -------
        dict
            Parameters by name.
        """
        return {"edges": self.edges, "n_labels": self.n_labels}

    @cached_property
    def ancestors(self) -> sparse.csr_array:
        """Matrix of shape (n_labels, n_labels) and type int32 with a 1 in row j for each label above label j."""
        return _closure(self.edges, self.n_labels)

    @cached_property
    def order(self) -> np.ndarray:
        """Labels of shape (n_labels,), each before all labels above it."""
        # A label has more ancestors than any label above it.
        return np.argsort(-np.diff(self.ancestors.indptr), kind="stable")

    def of(self, labels: ArrayLike) -> Hierarchy:
        """Return the hierarchy of some labels.

        Parameters
        ----------
        labels : array-like of int
            Labels to keep. They are renumbered 0, 1, ... in this order.

        Returns
        -------
        Hierarchy
            Hierarchy of these labels. Relations through removed labels are kept.

        Examples
        --------
        >>> Hierarchy([[2, 1], [1, 0]], n_labels=3).of([0, 2]).edges
        array([[1, 0]])
        """
        labels = np.asarray(labels, dtype=np.int64)
        kept = sparse.coo_array(self.ancestors[labels][:, labels])
        namespaces = tuple(self.namespaces[label] for label in labels) if self.namespaces else ()
        return Hierarchy(np.column_stack(kept.coords), len(labels), namespaces)

    def neighbors(self, *, below: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the children or the parents of all labels.

        Parameters
        ----------
        below : bool
            Whether to return children instead of parents.

        Returns
        -------
        neighbors : ndarray of int
            Neighbors, sorted by label.
        starts : ndarray of int of shape (n_labels + 1,)
            Position of each label's first neighbor.
        """
        label, neighbor = (self.edges[:, 1], self.edges[:, 0]) if below else self.edges.T
        starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=self.n_labels))])
        return neighbor[np.argsort(label, kind="stable")], starts

    # --- labels -------------------------------------------------------------------------------------------------------

    def by_namespace(self) -> dict[str, np.ndarray]:
        """Return the labels of each namespace.

        Returns
        -------
        dict of str -> ndarray
            Labels by namespace, or all labels as ``"all"`` if there are no namespaces.
        """
        names = np.array(self.namespaces or ["all"] * self.n_labels)
        return {str(name): np.flatnonzero(names == name) for name in np.unique(names)}

    def n_violations(self, values: Matrix, labels: ArrayLike | None = None) -> int:
        """Count how often a label has a larger value than one of its parents in the same sample.

        Parameters
        ----------
        values : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Probabilities or labels of 0/1. In labels of an integer type, every value other than 1 counts as 0.
        labels : array-like of int or None, default=None
            Labels to compare with their parents. None compares all labels.

        Returns
        -------
        int
            Number of violations.

        Examples
        --------
        >>> Hierarchy([[2, 1], [1, 0]], n_labels=3).n_violations(np.array([[0.2, 0.5, 0.6]]))
        2
        """
        edges = self.edges if labels is None else self.edges[np.isin(self.edges[:, 0], labels)]
        values = values if sparse.issparse(values) else np.asarray(values)
        columns = sparse.csc_array(values == 1 if values.dtype.kind in "iub" else values, dtype=np.float64)
        return int(((columns[:, edges[:, 0]] - columns[:, edges[:, 1]]).data > 0).sum())

    def first_violation(self, Y: Matrix) -> tuple[int, int, int] | None:
        """Find the first sample that has a label but not all labels above it.

        Parameters
        ----------
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1.

        Returns
        -------
        tuple of int or None
            Sample, label and missing label above it, or None if labels respect the true-path rule.
        """
        positive = sparse.csr_array(Y == 1).astype(np.int32)
        lacking = sparse.coo_array(((positive @ self.ancestors) > 0).astype(np.int8) > positive.astype(np.int8))
        lacking.eliminate_zeros()
        if not lacking.nnz:
            return None
        first = np.lexsort(lacking.coords[::-1])[0]
        row, above = (int(each[first]) for each in lacking.coords)
        has = positive[[row]].indices
        return row, int(has[self.ancestors[has][:, [above]].toarray().ravel() > 0][0]), above

    def with_ancestors(self, Y: Matrix) -> Matrix:
        """Set all labels above a 1 to 1.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1. NaN is an unmeasured label.

        Returns
        -------
        {ndarray, csr_array} of shape (n_samples, n_labels)
            Labels that respect the true-path rule, of the same dtype, or float32 if labels are unmeasured.
        """
        Y = check_label_matrix(Y, "Y", DataError, n_labels=self.n_labels)
        if sparse.issparse(Y):
            positive = sparse.csr_array(Y == 1).astype(np.int32)
            implied = sparse.csr_array((positive @ self.ancestors) > 0).astype(Y.dtype)
            rest = Y - Y.multiply(implied)  # The cells that are not implied.
            return with_nan(sparse.csr_array(rest + implied).astype(Y.dtype))
        return with_nan(np.where((Y == 1).astype(np.int32) @ self.ancestors > 0, np.ones((), dtype=Y.dtype), Y))

    # --- probabilities ------------------------------------------------------------------------------------------------

    def reconcile(self, P: np.ndarray, by: Reconciliation = "isotonic") -> np.ndarray:
        """Adjust probabilities to the true-path rule: no label has a larger probability than its parents.

        Parameters
        ----------
        P : array-like of shape (n_samples, n_labels)
            Probabilities.
        by : {"isotonic", "maximum"}, default="isotonic"
            Method of the adjustment. ``"maximum"`` raises each probability to the maximum of the label and all labels
            below it. ``"isotonic"`` computes the closest probabilities by least squares (Obozinski et al. 2008).

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_labels)
            Adjusted probabilities. Samples that respect the rule are unchanged.

        Raises
        ------
        DataError
            If the shape is wrong or the method is unknown.

        Notes
        -----
        ``"isotonic"`` uses the generalized pool-adjacent-violators algorithm (Burdakov et al. 2006). It is exact for
        trees and approximate if labels have several parents. Time grows with samples · edges, and with the number of
        violations for ``"isotonic"``.

        References
        ----------
        Obozinski et al. (2008). Consistent probabilistic outputs for protein function prediction. Genome Biology 9
        Suppl 1:S6.

        Burdakov, Sysoev, Grimvall & Hussian (2006). An O(n²) algorithm for isotonic regression.
        """
        check_name("reconciliation", by, get_args(Reconciliation), DataError)
        P = np.array(P, dtype=np.float64, order="C")
        if P.ndim != 2 or P.shape[1] != self.n_labels:
            raise DataError(f"probabilities have shape {P.shape}; the hierarchy has {self.n_labels} labels.")
        if not len(self.edges):
            return P
        if by == "isotonic":
            from fairfold.core.hierarchy_kernels import pool_violators  # Reading a dataset does not need Numba.

            pool_violators(P, self.order, *self.neighbors(below=True))
        upwards = np.argsort(np.argsort(self.order)[self.edges[:, 0]], kind="stable")
        for child, parent in self.edges[upwards]:  # Pooling can leave rounding errors.
            np.maximum(P[:, child], P[:, parent], out=P[:, parent])
        return P


def choose_free(
    rows: np.ndarray,
    label_starts: np.ndarray,
    n_wanted: np.ndarray,
    n_samples: int,
    order: np.ndarray,
    neighbors: np.ndarray,
    starts: np.ndarray,
) -> np.ndarray:
    """Choose cells label by label, and skip cells that a neighboring label blocks.

    A cell is blocked if its sample has an unchosen cell of a neighboring label. The first cells of each label that are
    not blocked are chosen.

    Parameters
    ----------
    rows : ndarray of int of shape (n_cells,)
        Sample of each cell, sorted by label and by preference.
    label_starts : ndarray of int of shape (n_labels + 1,)
        Position of each label's first cell.
    n_wanted : ndarray of int of shape (n_labels,)
        Maximum number of cells to choose for each label.
    n_samples : int
        Number of samples.
    order : ndarray of int of shape (n_labels,)
        Labels, each after all its neighbors.
    neighbors : ndarray of int
        Labels whose unchosen cells block a label, sorted by the blocked label.
    starts : ndarray of int of shape (n_labels + 1,)
        Position of each label's first neighbor.

    Returns
    -------
    ndarray of bool of shape (n_cells,)
        Whether each cell is chosen.
    """
    chosen, kept_by = np.zeros(len(rows), dtype=bool), np.full(n_samples, -1)
    for label in order:
        for other in neighbors[starts[label] : starts[label + 1]]:
            blocking = slice(label_starts[other], label_starts[other + 1])
            kept_by[rows[blocking][~chosen[blocking]]] = label
        cells = np.arange(label_starts[label], label_starts[label + 1])
        free = cells[kept_by[rows[cells]] != label]
        chosen[free[: n_wanted[label]]] = True
    return chosen


def check_hierarchy(hierarchy: Hierarchy | None, n_labels: int) -> None:
    """Check that a hierarchy and a model have the same number of labels.

    Parameters
    ----------
    hierarchy : Hierarchy or None
        Hierarchy of the labels. None is always accepted.
    n_labels : int
        Number of labels.

    Raises
    ------
    ModelError
        If the number of labels differs.
    """
    if hierarchy is not None and hierarchy.n_labels != n_labels:
        raise ModelError(
            f"the hierarchy has {hierarchy.n_labels} labels, but Y has {n_labels}. Select labels with Hierarchy.of."
        )


def _check_edges(edges: np.ndarray, n_labels: int) -> None:
    from scipy.sparse.csgraph import connected_components  # Most data have no hierarchy.

    outside = edges[(edges < 0) | (edges >= n_labels)]
    if outside.size:
        raise DataError(f"the hierarchy has label {outside[0]}, but labels go from 0 to {n_labels - 1}.")
    loops = edges[edges[:, 0] == edges[:, 1], 0]
    if loops.size:
        raise DataError(f"the hierarchy has label {loops[0]} above itself.")
    graph = sparse.coo_array((np.ones(len(edges)), edges.T), shape=(n_labels, n_labels))
    n_parts, part_of = connected_components(graph, directed=True, connection="strong")
    if n_parts < n_labels:
        cycle = np.flatnonzero(part_of == np.argmax(np.bincount(part_of)))
        raise DataError(f"the hierarchy has labels {', '.join(map(str, cycle))} above each other, in a cycle.")


def _closure(edges: np.ndarray, n_labels: int) -> sparse.csr_array:
    """Compute the transitive closure by repeated squaring."""
    ones = np.ones(len(edges), dtype=np.int32)
    reach = sparse.csr_array((ones, edges.T), shape=(n_labels, n_labels)) > 0
    while True:
        further = reach + (reach.astype(np.int32) @ reach.astype(np.int32) > 0) > 0
        if further.nnz == reach.nnz:
            result = sparse.csr_array(reach.astype(np.int32))
            result.sort_indices()
            return result
        reach = further
