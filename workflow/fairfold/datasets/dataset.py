"""A dataset in memory and on disk."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Literal

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.files import read_arrays, write_arrays
from fairfold.core.folds import BEFORE
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.validation import UNMEASURED, Negatives, check_binary, check_weights, unmeasured_cells, with_nan
from fairfold.datasets.categories import Categories
from fairfold.errors import DataError

Task = Literal["multilabel", "multiclass", "binary"]
LabelsAre = Literal["complete", "observed"]

LEFT_OUT: Mapping[str, str] = {
    **{kind: kind for kind in ("id", "groups", "folds", "dates", "weights", "ignored")},
    "filtered": "labels left out by label_filter",
}
"""Kinds of columns that are neither features nor labels, and what logs and tables call them."""

_FACTS = ("id", "task", "feature_names", "label_names", "left_out", "group_names")
_FACTS += ("negatives", "missing_value", "decimal_mark")
_OF_SAMPLES = ("sample_ids", "groups", "fold_of", "published_split", "weights")  # one of each sample, or None


@dataclasses.dataclass(frozen=True)
class Dataset:
    """Features and labels, ready for the study.

    Parameters
    ----------
    id : name in the catalog or the configuration.
    task : ``"multilabel"``, ``"multiclass"`` or ``"binary"``.
    X : (n_samples, n_features) float64, dense or CSR, as its file had it; no columns when the file holds labels only.
    Y : multilabel: (n_samples, n_labels) of 0/1, dense or CSR, int8 or, where some are unmeasured, float32 with NaN;
        otherwise (n_samples,) int64 codes of the classes.
    feature_names : n_features names.
    label_names : n_labels names; for multiclass and binary tasks the class of each code.
    left_out : columns of the file that are neither features nor labels, by kind (those of ``LEFT_OUT``).
    sample_ids : (n_samples,) str, all different, from the column ``left_out["id"]``; None without one.
    categories : what columns of text became features, the last ones; None without any.
    groups : (n_samples,) int64 from 0, samples that belong together, from the column ``left_out["groups"]``, or None.
    group_names : what the column calls each group, sorted; empty where this is unknown.
    fold_of : (n_samples,) int64 from 0, the test fold of each sample, from the column ``left_out["folds"]``; -1 for one
        that is never tested. Or the period that tests it, by ``left_out["dates"]``; ``BEFORE``, -2, for the first
        samples. Or ``published_split``, where that is to be tested. None without any of these.
    published_split : (n_samples,) int64, 0 for samples of the published test part, -1 for those of the training part:
        folds that test nothing else. None where no split is published, or known.
    weights : (n_samples,) float64 above 0, how much a sample counts, from the column ``left_out["weights"]``, or None.
    negatives : ``"confirmed"`` where labels of 0 are known to be negative, ``"unlabelled"`` where they may be positive.
    hierarchy : which labels are above which, or None; Y keeps its true-path rule.
    missing_value : text that stood for a missing feature in the file, besides the usual ones, or None.
    decimal_mark : mark of the numbers in the file, a point or a comma.
    """

    id: str
    task: Task
    X: Matrix
    Y: Matrix
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    left_out: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    sample_ids: np.ndarray | None = None
    categories: Categories | None = None
    groups: np.ndarray | None = None
    group_names: tuple[str, ...] = ()
    fold_of: np.ndarray | None = None
    published_split: np.ndarray | None = None
    weights: np.ndarray | None = None
    negatives: Negatives = "unlabelled"
    hierarchy: Hierarchy | None = None
    missing_value: str | None = None
    decimal_mark: str = "."

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels (or classes)."""
        return self.X.shape[0], self.X.shape[1], len(self.label_names)

    @property
    def category_columns(self) -> tuple[tuple[int, ...], ...]:
        """Columns of X of each category that is one to models that know categories (``categorical: as-is``)."""
        if self.categories is None or self.categories.encoding != "as-is":
            return ()
        sizes = [len(values) for values in self.categories.values.values()]
        ends = self.X.shape[1] - sum(sizes) + np.cumsum(sizes)
        return tuple(tuple(range(end - size, end)) for size, end in zip(sizes, ends.tolist(), strict=True))

    @property
    def is_by_time(self) -> bool:
        """Whether folds are periods of time, each tested by what was learned before it."""
        return self.fold_of is not None and bool((self.fold_of == BEFORE).any())

    @property
    def named_groups(self) -> np.ndarray | None:
        """Group of each sample by its name, for messages; numbers where names are unknown, None without groups."""
        return np.array(self.group_names)[self.groups] if self.group_names else self.groups

    @property
    def label_density(self) -> float:
        """Share of the measured (sample, label) pairs that are positive; 1/classes for one-label tasks."""
        if self.task != "multilabel":
            return 1 / len(self.label_names)
        n_measured = np.prod(self.Y.shape, dtype=np.int64) - self.n_unmeasured
        return float((self.Y == 1).sum(dtype=np.int64) / max(n_measured, 1))

    @property
    def n_unmeasured(self) -> int:
        """Number of (sample, label) pairs that are unmeasured."""
        return int(unmeasured_cells(self.Y).sum()) if self.task == "multilabel" else 0

    @property
    def label_cardinality(self) -> float:
        """Mean number of positives of a sample, as many of unmeasured labels as of others; 1 for one-label tasks."""
        return self.label_density * len(self.label_names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a compressed ``.npz`` that holds plain arrays only, whole or not at all.

        Parameters
        ----------
        path : of the file.
        """
        is_multilabel = self.task == "multilabel"
        codes = check_binary(self.Y, "Y", DataError, unmeasured=True) if is_multilabel else self.Y
        facts = {name: getattr(self, name) for name in _FACTS}
        if self.categories is not None:
            facts["categories"] = dataclasses.asdict(self.categories)
        if self.hierarchy is not None:
            facts["hierarchy"] = {name: getattr(self.hierarchy, name) for name in ("reconciliation", "namespaces")}
        write_arrays(
            path,
            facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8),
            **_pack("X", self.X),
            **_pack("Y", codes),
            **{name: values for name in _OF_SAMPLES if (values := getattr(self, name)) is not None},
            **({} if self.hierarchy is None else {"edges": self.hierarchy.edges}),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """Read what :meth:`save` wrote; nothing is unpickled.

        Parameters
        ----------
        path : of the file.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            When the file is missing, damaged, or not a dataset.
        """
        arrays = read_arrays(path, "a dataset written by fairfold")
        try:
            facts = json.loads(arrays["facts"].tobytes())
            for name in ("feature_names", "label_names", "group_names"):
                facts[name] = tuple(map(str, facts[name]))
            facts["left_out"] = {kind: tuple(map(str, names)) for kind, names in facts["left_out"].items()}
            if categories := facts.get("categories"):
                values = {column: tuple(each) for column, each in categories["values"].items()}
                facts["categories"] = Categories(categories["encoding"], values)
            if told := facts.get("hierarchy"):
                of_hierarchy = told["reconciliation"], tuple(told["namespaces"])
                facts["hierarchy"] = Hierarchy(arrays["edges"], len(facts["label_names"]), *of_hierarchy)
            of_samples = {name: arrays.get(name) for name in _OF_SAMPLES}
            data = cls(X=_unpack("X", arrays), Y=_unpack("Y", arrays), **of_samples, **facts)
            _check_parts(data)
            data = dataclasses.replace(data, Y=with_nan(data.Y))
        except Exception as error:  # arrays of somebody else may be of any type and shape
            raise DataError(f"{path} is not a dataset written by fairfold ({error}); prepare it again.") from None
        return data


def _pack(name: str, matrix: Matrix) -> dict[str, np.ndarray]:
    if not sparse.issparse(matrix):
        return {name: matrix}
    csr = sparse.csr_array(matrix)
    csr.sort_indices()
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
    return {f"{name}_{part}": values for part, values in parts.items()}


def _unpack(name: str, arrays: Mapping[str, np.ndarray]) -> Matrix:
    if name in arrays:
        return arrays[name]
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    matrix = sparse.csr_array(parts, shape=tuple(arrays[f"{name}_shape"]))
    matrix.check_format(full_check=True)  # indices out of range would crash compiled code
    if not matrix.has_canonical_format:
        raise ValueError(f"indices of {name} are not in order, or repeat")
    return matrix


def _check_parts(data: Dataset) -> None:
    """Raise ``ValueError`` when arrays of a dataset are not what :class:`Dataset` says, or do not fit together."""
    n_samples, _, n_labels = data.shape
    multilabel, of_samples = data.task == "multilabel", (n_samples,)
    parts = {
        "X": ("f", (n_samples, len(data.feature_names)), None),
        "Y": ("i", (n_samples, n_labels), UNMEASURED) if multilabel else ("i", of_samples, 0),
        "sample_ids": ("U", of_samples, None),
        "groups": ("i", of_samples, 0),
        "fold_of": ("i", of_samples, BEFORE),
        "published_split": ("i", of_samples, -1),
    }
    for name, (kind, shape, least) in parts.items():
        if (values := getattr(data, name)) is None:
            continue
        found = f"{name.replace('_', ' ')} are {values.dtype} of {values.shape}"
        if values.dtype.kind != kind or values.shape != shape:
            raise ValueError(f"{found}, for {n_samples} samples and {n_labels} labels")
        if least is not None and values.size and values.min() < least:
            raise ValueError(f"{found}, with numbers below {least}")
    if data.Y.size and data.Y.max() > (1 if multilabel else n_labels - 1):
        raise ValueError("labels have codes that are not there")
    if data.weights is not None:
        check_weights(data.weights, n_samples, DataError)
    if data.hierarchy is not None and data.hierarchy.first_violation(data.Y) is not None:
        raise ValueError("labels break the true-path rule of their hierarchy")
