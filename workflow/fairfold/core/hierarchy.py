"""Labels below each other: a sample that has a label has all that are above it, too, which is the true-path rule.

Labels are known by their numbers, the columns of a label matrix. Which are above which is kept whole, as the transitive
closure of their parents, so that labels can be left out without others losing what is above them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.validation import check_label_matrix, with_nan
from fairfold.errors import DataError, ModelError, unknown_name

Reconciliation = Literal["isotonic", "maximum"]
"""How probabilities are made to respect the true-path rule; see :meth:`Hierarchy.reconcile`."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Which labels are above which: a directed graph without cycles.

    Parameters
    ----------
    edges : (n_edges, 2) numbers of a label and of one above it, in any order; those that follow from others may be
        there or not, and are left out of the attribute.
    n_labels : number of labels; those in no edge stand alone.
    reconciliation : what ``reconcile`` does where it is not told otherwise.
    namespaces : (n_labels,) names of the parts of the ontology that labels are in, each of which is scored by itself;
        empty where it has one only.

    Attributes
    ----------
    edges : (n_edges, 2) int64 of labels and their parents, sorted: the fewest from which all others follow.

    Raises
    ------
    DataError
        When an edge names a label that is not there, joins a label to itself, or closes a cycle; or there is no such
        reconciliation.
    """

    edges: np.ndarray
    n_labels: int
    reconciliation: Reconciliation = "isotonic"
    namespaces: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges, dtype=np.int64).reshape(-1, 2)
        _check_edges(edges, self.n_labels)
        if self.reconciliation not in get_args(Reconciliation):
            raise DataError(unknown_name("reconciliation", self.reconciliation, get_args(Reconciliation)))
        ancestors = _closure(edges, self.n_labels)
        # An edge follows from others where there is a label between its ends.
        parents = sparse.coo_array(ancestors > (ancestors @ ancestors > 0))
        object.__setattr__(self, "edges", np.column_stack(parents.coords).astype(np.int64)[parents.data.astype(bool)])
        object.__setattr__(self, "n_labels", int(self.n_labels))
        if len(self.namespaces) not in (0, self.n_labels):
            raise DataError(
                f"{len(self.namespaces)} namespaces are given for {self.n_labels} labels; give one of each."
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.as_dict(), "namespaces": self.namespaces}  # without what is computed from it

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> Self:
        """What :meth:`as_dict` gave."""
        return cls(parts["edges"], int(parts["n_labels"]), str(parts["reconciliation"]))

    def as_dict(self) -> dict[str, Any]:
        """What models need of it: its parameters by name, without namespaces."""
        return {"edges": self.edges, "n_labels": self.n_labels, "reconciliation": self.reconciliation}

    @cached_property
    def ancestors(self) -> sparse.csr_array:
        """(n_labels, n_labels) of int32: 1 in row j where a label is above label j, directly or not."""
        return _closure(self.edges, self.n_labels)

    @cached_property
    def order(self) -> np.ndarray:
        """(n_labels,) the labels, each before all that are above it."""
        # Of two labels below each other, the lower has all that are above the upper, and the upper besides.
        return np.argsort(-np.diff(self.ancestors.indptr), kind="stable")

    @cached_property
    def depth(self) -> np.ndarray:
        """(n_labels,) edges on the longest way from a label to one that has none above it."""
        depth = np.zeros(self.n_labels, dtype=np.int64)
        for child, parent in self._edges_upwards[::-1]:
            depth[child] = max(depth[child], depth[parent] + 1)
        return depth

    @cached_property
    def _edges_upwards(self) -> np.ndarray:
        """Edges in the order of their lower ends: what goes through them one after the other, goes all the way up."""
        place = np.empty(self.n_labels, dtype=np.int64)
        place[self.order] = np.arange(self.n_labels)
        return self.edges[np.argsort(place[self.edges[:, 0]], kind="stable")]

    def of(self, labels: ArrayLike) -> Hierarchy:
        """The hierarchy of some of the labels, by their numbers; they become 0, 1, ... in the order given."""
        labels = np.asarray(labels, dtype=np.int64)
        kept = sparse.coo_array(self.ancestors[labels][:, labels])
        namespaces = tuple(self.namespaces[label] for label in labels) if self.namespaces else ()
        return Hierarchy(np.column_stack(kept.coords), len(labels), self.reconciliation, namespaces)

    def neighbours(self, *, below: bool) -> tuple[np.ndarray, np.ndarray]:
        """Children or parents of all labels, one label after the other, and (n_labels + 1,) where each one's begin."""
        of, neighbour = (self.edges[:, 1], self.edges[:, 0]) if below else self.edges.T
        starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=self.n_labels))])
        return neighbour[np.argsort(of, kind="stable")], starts

    # --- labels -------------------------------------------------------------------------------------------------------

    def by_namespace(self) -> dict[str, np.ndarray]:
        """Namespace -> its labels, by name; all of them as ``"all"`` where there are none."""
        names = np.array(self.namespaces or ["all"] * self.n_labels)
        return {str(name): np.flatnonzero(names == name) for name in np.unique(names)}

    def n_violations(self, values: Matrix, labels: ArrayLike | None = None) -> int:
        """How often a label has more than one of its parents has in the same sample.

        Parameters
        ----------
        values : (n_samples, n_labels) probabilities; or labels, of which only those of 1 count as more than others.
        labels : which labels are compared with their parents; None for all.
        """
        edges = self.edges if labels is None else self.edges[np.isin(self.edges[:, 0], labels)]
        values = values if sparse.issparse(values) else np.asarray(values)
        values = values == 1 if values.dtype.kind in "iub" else values
        if not sparse.issparse(values):
            return sum(int((values[:, child] > values[:, parent]).sum()) for child, parent in edges)
        columns = sparse.csc_array(values, dtype=np.float64)
        return int(((columns[:, edges[:, 0]] - columns[:, edges[:, 1]]).data > 0).sum())

    def first_violation(self, Y: Matrix) -> tuple[int, int, int] | None:
        """Sample, label and one above it where the sample has the label and not the other; None where none has."""
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
        """Labels of which all that follow from a 1 are 1, too, whatever they were; of Y's kind and dtype.

        Parameters
        ----------
        Y : (n_samples, n_labels) of 0/1, dense or CSR; NaN where unmeasured.
        """
        Y = check_label_matrix(Y, "Y", DataError, n_labels=self.n_labels)
        if sparse.issparse(Y):
            positive = sparse.csr_array(Y == 1).astype(np.int32)
            implied = sparse.csr_array((positive @ self.ancestors) > 0).astype(Y.dtype)
            rest = Y - Y.multiply(implied)  # The cells that are not implied.
            return with_nan(sparse.csr_array(rest + implied).astype(Y.dtype))
        return with_nan(np.where((Y == 1).astype(np.int32) @ self.ancestors > 0, np.ones((), dtype=Y.dtype), Y))

    # --- probabilities ------------------------------------------------------------------------------------------------

    def reconcile(self, P: np.ndarray, by: Reconciliation | None = None) -> np.ndarray:
        """Probabilities that respect the true-path rule: none is above that of a parent.

        Parameters
        ----------
        P : (n_samples, n_labels).
        by : ``"maximum"``: a label is as likely as the likeliest of itself and all below it, which raises only.
            ``"isotonic"``: the probabilities nearest to those given, by the sum of squares (Obozinski et al. 2008,
            "Consistent probabilistic outputs for protein function prediction", Genome Biology 9 Suppl 1:S6), by the
            generalised pooling of adjacent violators (Burdakov et al. 2006): exactly in a tree, and near to that where
            labels have several parents. None for what the hierarchy says.

        Returns
        -------
        (n_samples, n_labels) float64, the same where nothing was against the rule. Time grows with samples · edges, of
        ``"isotonic"`` more where many labels are against it.

        Raises
        ------
        DataError
            When probabilities have another shape, or there is no such reconciliation.
        """
        by = self.reconciliation if by is None else by
        if by not in get_args(Reconciliation):
            raise DataError(unknown_name("reconciliation", by, get_args(Reconciliation)))
        P = np.array(P, dtype=np.float64, order="C")
        if P.ndim != 2 or P.shape[1] != self.n_labels:
            raise DataError(f"probabilities have shape {P.shape}; the hierarchy has {self.n_labels} labels.")
        if not len(self.edges):
            return P
        if by == "isotonic":
            from fairfold.core.hierarchy_kernels import pool_violators  # Reading a dataset need not wait for Numba.

            pool_violators(P, self.order, *self.neighbours(below=True))
        for child, parent in self._edges_upwards:  # of equals pooled one after the other, rounding is left
            np.maximum(P[:, child], P[:, parent], out=P[:, parent])
        return P


def choose_free(
    rows: np.ndarray,
    label_starts: np.ndarray,
    n_wanted: np.ndarray,
    n_samples: int,
    order: np.ndarray,
    neighbours: np.ndarray,
    starts: np.ndarray,
) -> np.ndarray:
    """Choose cells of labels one label after the other, of each the first that no cell of its neighbours keeps.

    Parameters
    ----------
    rows : (n_cells,) samples of the cells, label by label, those to be chosen first come first.
    label_starts : (n_labels + 1,) where each label's cells begin.
    n_wanted : (n_labels,) how many to choose, at most.
    n_samples : number of samples.
    order : labels; each after all its neighbours.
    neighbours, starts : of each label the others whose cells, where they are not chosen, keep its own.

    Returns
    -------
    (n_cells,) whether each is chosen.
    """
    chosen, kept_by = np.zeros(len(rows), dtype=bool), np.full(n_samples, -1)
    for label in order:
        for other in neighbours[starts[label] : starts[label + 1]]:
            cells = slice(label_starts[other], label_starts[other + 1])
            kept_by[rows[cells][~chosen[cells]]] = label
        cells = np.arange(label_starts[label], label_starts[label + 1])
        free = cells[kept_by[rows[cells]] != label]
        chosen[free[: n_wanted[label]]] = True
    return chosen


def check_hierarchy(hierarchy: Hierarchy | None, n_labels: int) -> None:
    """Raise :class:`ModelError` for a hierarchy of another number of labels than a model learns; None is none."""
    if hierarchy is not None and hierarchy.n_labels != n_labels:
        raise ModelError(
            f"the hierarchy has {hierarchy.n_labels} labels, but {n_labels} are given: take that of these, which "
            "Hierarchy.of gives."
        )


def _check_edges(edges: np.ndarray, n_labels: int) -> None:
    from scipy.sparse.csgraph import connected_components  # here, as most data have no hierarchy to load it for

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
    """Everything above each label: as many products as the longest way has doublings."""
    ones = np.ones(len(edges), dtype=np.int32)
    reach = sparse.csr_array((ones, edges.T), shape=(n_labels, n_labels)) > 0
    while True:
        further = reach + (reach.astype(np.int32) @ reach.astype(np.int32) > 0) > 0
        if further.nnz == reach.nnz:
            result = sparse.csr_array(reach.astype(np.int32))
            result.sort_indices()
            return result
        reach = further
