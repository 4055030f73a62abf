"""Dataset in memory, saved to and loaded from disk."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical
from fairfold.core.files import read_arrays, write_arrays
from fairfold.core.folds import BEFORE
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.validation import (
    ESTIMATE,
    UNMEASURED,
    LabelFrequency,
    Negatives,
    capped_frequency,
    check_binary,
    unmeasured_cells,
    with_nan,
)
from fairfold.datasets.categories import Categories
from fairfold.datasets.typed import TypedColumns, TypedSamples
from fairfold.errors import DataError

Task = Literal["multilabel", "multiclass", "binary"]
LabelsAre = Literal["complete", "unknown", "incomplete"]
"""State of the labels: every zero was checked, not known, or some zeros are missing positives."""

PLACE = ("latitude", "longitude")
"""Roles of the columns with the coordinates of a sample."""

LEFT_OUT: Mapping[str, str] = {
    **{kind: kind for kind in ("id", "groups", "folds", "dates", "weights", *PLACE, "ignored")},
    "identifier": "identifiers without use",
    "constant": "constants",
    "filtered": "labels dropped by label_filter",
}
"""Kinds of columns that are neither features nor labels, and what logs and tables call them."""

FEATURES_OF_TEXT = 500
"""Number of features that a column of text counts as where memory is estimated: components, and terms in a cell."""

_FACTS: tuple[str, ...] = ("id", "task", "feature_names", "label_names", "left_out", "group_names")
_FACTS += ("labels_are", "missing_rate", "missing_value", "decimal_mark", "mixed_codings")
# One entry, or row of coordinates, per sample; or None.
_OF_SAMPLES = ("sample_ids", "groups", "fold_of", "published_split", "weights", "coordinates")


@dataclasses.dataclass(frozen=True)
class Dataset:
    """Features and labels of a prepared dataset.

    Parameters
    ----------
    id : str
        Name in the catalog or the configuration.
    task : {"multilabel", "multiclass", "binary"}
        Kind of labels.
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features as float64, dense or sparse like the file. It has no columns if the file contains only labels.
    Y : {ndarray, csr_array} of shape (n_samples, n_labels), or ndarray of shape (n_samples,)
        Labels. For a multilabel task, 0 and 1 as int8, or as float32 with NaN if some labels are unmeasured. For other
        tasks, the code of the class of each sample as int64.
    feature_names : tuple of str of length n_features
        Names of the features.
    label_names : tuple of str of length n_labels
        Names of the labels. For multiclass and binary tasks, the class of each code.
    left_out : mapping of str to tuple of str, default={}
        Columns of the file that are neither features nor labels, by kind. The kinds are the keys of ``LEFT_OUT``.
    sample_ids : ndarray of shape (n_samples,) or None, default=None
        Different texts from the column ``left_out["id"]``, or None without such a column.
    categories : Categories or None, default=None
        Values of the text columns that became features. These features are the last ones. None without text columns.
    typed : TypedColumns or None, default=None
        Texts, categories and dates, of which features are made in each training part. ``X`` contains positions of their
        cells, as its last columns. None without such columns.
    groups : ndarray of shape (n_samples,) or None, default=None
        Group of each sample as int64 from 0, from the column ``left_out["groups"]``, or None without groups.
    group_names : tuple of str, default=()
        Sorted names of the groups. Empty if the names are unknown.
    fold_of : ndarray of shape (n_samples,) or None, default=None
        Test fold of each sample as int64 from 0, and -1 for a sample that is never tested. The folds are those of the
        column ``left_out["folds"]``, the test periods by the column ``left_out["dates"]``, or ``published_split`` if
        the published test part is tested. Samples before the first period have the number ``BEFORE``, -2. None without
        folds.
    published_split : ndarray of shape (n_samples,) or None, default=None
        0 for samples of the published test part and -1 for samples of the training part, as int64. None if no published
        split is known.
    weights : ndarray of shape (n_samples,) or None, default=None
        Positive sample weights as float64, from the column ``left_out["weights"]``, or None without weights.
    coordinates : ndarray of shape (n_samples, 2) or None, default=None
        Latitude and longitude of each sample in degrees, from the columns ``left_out["latitude"]`` and
        ``left_out["longitude"]``, or None without coordinates.
    labels_are : {"complete", "unknown", "incomplete"}, default="unknown"
        Whether labels of 0 are known to be negative, nothing is known about them, or some are missing positives. Labels
        of an unknown state are scored as they are.
    missing_rate : float or None, default=None
        Declared share of positives that are missing, for incomplete labels. None estimates it.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels, or None. ``Y`` follows its true-path rule.
    missing_value : str or None, default=None
        Text of a missing feature in the file, in addition to the usual ones, or None.
    decimal_mark : {".", ","}, default="."
        Decimal mark of the numbers in the file.
    mixed_codings : mapping of str to tuple of str, default={}
        Features of truth values in several spellings, such as ``yes`` and ``1``, with the spellings.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Y = np.array([[1, 0, 1], [0, 0, 1]], dtype=np.int8)
    >>> data = Dataset("plants", "multilabel", X, Y, ("height", "width"), ("shade", "water", "soil"))
    >>> data.shape  # samples, features, labels
    (2, 2, 3)
    >>> data.label_density, data.label_cardinality
    (0.5, 1.5)
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
    typed: TypedColumns | None = None
    groups: np.ndarray | None = None
    group_names: tuple[str, ...] = ()
    fold_of: np.ndarray | None = None
    published_split: np.ndarray | None = None
    weights: np.ndarray | None = None
    coordinates: np.ndarray | None = None
    labels_are: LabelsAre = "unknown"
    missing_rate: float | None = None
    hierarchy: Hierarchy | None = None
    missing_value: str | None = None
    decimal_mark: str = "."
    mixed_codings: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of samples, of features, and of labels or classes."""
        return self.X.shape[0], self.X.shape[1], len(self.label_names)

    @property
    def negatives(self) -> Negatives:
        """Meaning of a 0: ``"confirmed"`` if labels are complete, else ``"unlabeled"``."""
        return "confirmed" if self.labels_are == "complete" else "unlabeled"

    def label_frequency(self, hidden_rate: float = 0) -> LabelFrequency:
        """Return the label frequency that models correct for; see :func:`~fairfold.models.make_model`.

        Parameters
        ----------
        hidden_rate : float, default=0
            Percentage of positives that a trial hides.

        Returns
        -------
        float, ndarray of shape (n_labels,) or "estimate"
            1.0 if nothing is known to be missing, the known frequency, or ``"estimate"``. A known frequency is per
            label if some label has fewer zeros than would be missing.
        """
        if self.declared(hidden_rate)["labels_are"] != "incomplete":
            return 1.0
        if self.missing_rate is None:
            return ESTIMATE
        return capped_frequency(self.Y, 1 - self.missing_rate) * (1 - hidden_rate / 100)

    def declared(self, hidden_rate: float = 0) -> dict[str, Any]:
        """Return what is known about the labels after a trial hides some.

        Parameters
        ----------
        hidden_rate : float, default=0
            Percentage of positives that a trial hides.

        Returns
        -------
        dict
            The state ``labels_are`` and the ``missing_rate``. Hidden positives make labels incomplete, unless labels
            are complete: then hidden ones become unmeasured.
        """
        is_incomplete = self.labels_are == "incomplete" or (self.labels_are == "unknown" and hidden_rate > 0)
        known = self.missing_rate
        return {
            "labels_are": "incomplete" if is_incomplete else self.labels_are,
            "missing_rate": None if known is None else 1 - (1 - known) * (1 - hidden_rate / 100),
        }

    @property
    def category_columns(self) -> tuple[tuple[int, ...], ...]:
        """Columns of X per category that models with native support receive as one feature (`as-is`)."""
        if self.categories is None or self.categories.encoding != "as-is":
            return ()
        sizes = [len(values) for values in self.categories.values.values()]
        ends = self.X.shape[1] - sum(sizes) + np.cumsum(sizes)
        return tuple(tuple(range(end - size, end)) for size, end in zip(sizes, ends.tolist(), strict=True))

    @property
    def samples(self) -> Matrix | TypedSamples:
        """Samples as models take them: ``X``, or rows of a table if there are texts, categories or dates."""
        return self.as_samples(self.X)

    def as_samples(self, X: Matrix) -> Matrix | TypedSamples:
        """Return rows like those of ``X`` as models take them.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        {ndarray, csr_array} or TypedSamples of shape (n_rows, n_features)
            The rows as they are, or with cells for positions.
        """
        return TypedSamples(X, self.numbers, self.typed) if self.typed and self.typed.names else X

    @property
    def features(self) -> dict[str, Any] | None:
        """How models make features of these samples; see :func:`~fairfold.models.make_model`."""
        if self.typed is None or not self.typed.names:
            return None
        roles = TypedSamples(self.X, self.numbers, self.typed).roles
        return {"roles": roles, "day_first": self.typed.with_day_first}

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the features that are numbers in the file, or were made before the study."""
        n_typed = 0 if self.typed is None else len(self.typed.names)
        return self.feature_names[: len(self.feature_names) - n_typed]

    @property
    def is_by_time(self) -> bool:
        """Whether folds are periods of time. The training part of a period then contains only earlier samples."""
        return self.fold_of is not None and bool((self.fold_of == BEFORE).any())

    @property
    def version(self) -> str:
        """A text that changes if samples or labels are added, removed, renamed or reordered.

        Samples without identifiers are known by their features.
        """
        names = self.label_names, () if self.sample_ids is None else self.sample_ids
        parts = [repr([self.Y.shape, *(list(map(str, each)) for each in names)]).encode()]
        if self.sample_ids is None:
            rows = canonical(self.X)
            parts += [each.astype(np.float64).tobytes() for each in (rows.indptr, rows.indices, rows.data)]
        return "v" + hashlib.sha256(b"".join(parts)).hexdigest()[:16]

    @property
    def sample_names(self) -> list[Any]:
        """Identifier of each sample, or its number from 1."""
        return list(range(1, self.shape[0] + 1) if self.sample_ids is None else self.sample_ids)

    @property
    def named_groups(self) -> np.ndarray | None:
        """Name of the group of each sample, its number if the names are unknown, or None without groups."""
        return np.array(self.group_names)[self.groups] if self.group_names else self.groups

    @property
    def label_density(self) -> float:
        """Share of the measured (sample, label) pairs that are positive. For one-label tasks, 1 / number of classes."""
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
        """Mean number of positives per sample, or 1 for one-label tasks.

        Unmeasured labels count with the density of the measured ones.
        """
        return self.label_density * len(self.label_names)

    def of(self, rows: np.ndarray) -> Dataset:
        """Select samples.

        Parameters
        ----------
        rows : ndarray of int or bool
            Indices or mask of the samples.

        Returns
        -------
        Dataset
            Dataset of these samples, with the same columns.
        """
        of_samples = {name: getattr(self, name) for name in ("X", "Y", *_OF_SAMPLES)}
        parts = {name: values[rows] for name, values in of_samples.items() if values is not None}
        if self.groups is not None:
            present, parts["groups"] = np.unique(parts["groups"], return_inverse=True)
            parts["group_names"] = tuple(self.group_names[group] for group in present) if self.group_names else ()
        return dataclasses.replace(self, **parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the dataset to a compressed ``.npz`` file of plain arrays.

        The file is written atomically.

        Parameters
        ----------
        path : str or path-like
            Path of the file.
        """
        codes = check_binary(self.Y, "Y", DataError, unmeasured=True) if self.task == "multilabel" else self.Y
        facts = {name: getattr(self, name) for name in _FACTS}
        if self.categories is not None:
            facts["categories"] = dataclasses.asdict(self.categories)
        if self.hierarchy is not None:
            facts["namespaces"] = self.hierarchy.namespaces
        arrays: dict[str, Any] = {"facts": _as_bytes(facts), **_pack("X", self.X), **_pack("Y", codes)}
        if self.typed is not None:
            arrays["typed"] = _as_bytes(self.typed.as_dict())
            arrays["facts"] = _as_bytes(facts | {"n_texts": sum("text" in each.role for each in self.typed.roles)})
        arrays |= {name: values for name in _OF_SAMPLES if (values := getattr(self, name)) is not None}
        if self.hierarchy is not None:
            arrays["edges"] = self.hierarchy.edges
        write_arrays(path, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """Load a dataset saved by :meth:`save`, without unpickling.

        Parameters
        ----------
        path : str or path-like
            Path of the file.

        Returns
        -------
        Dataset
            The dataset.

        Raises
        ------
        DataError
            If the file is missing, damaged, or not a dataset.
        """
        arrays = read_arrays(path, "a dataset written by fairfold")
        try:
            facts = json.loads(arrays["facts"].tobytes())
            facts.pop("n_texts", None)
            for name in ("feature_names", "label_names", "group_names"):
                facts[name] = tuple(map(str, facts[name]))
            facts["left_out"] = {kind: tuple(map(str, names)) for kind, names in facts["left_out"].items()}
            facts["mixed_codings"] = {name: tuple(each) for name, each in facts.get("mixed_codings", {}).items()}
            if categories := facts.get("categories"):
                values = {column: tuple(each) for column, each in categories["values"].items()}
                facts["categories"] = Categories(categories["encoding"], values)
            if (namespaces := facts.pop("namespaces", None)) is not None:
                facts["hierarchy"] = Hierarchy(arrays["edges"], len(facts["label_names"]), tuple(namespaces))
            if "typed" in arrays:
                facts["typed"] = TypedColumns.from_dict(json.loads(arrays["typed"].tobytes()))
            facts |= {name: arrays.get(name) for name in _OF_SAMPLES}
            data = cls(X=_unpack("X", arrays), Y=_unpack("Y", arrays), **facts)
            _check_parts(data)
            return dataclasses.replace(data, Y=with_nan(data.Y))
        except Exception as error:  # Arrays from other sources may have any type and shape.
            raise DataError(f"{path} is not a dataset written by fairfold ({error}). Prepare it again.") from None


def sizes_of(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Read the sizes of a dataset saved by :meth:`Dataset.save` without reading its values.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    n_samples : int
        Number of samples.
    n_features : int
        Number of features, or the mean number of stored features per sample of a sparse matrix, rounded up. A column
        of text counts as `FEATURES_OF_TEXT`.
    n_labels : int
        Number of labels.

    Raises
    ------
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> X, Y = sparse.csr_array(np.eye(4)), np.eye(4, 2, dtype=np.int8)
    >>> data = Dataset("plants", "multilabel", X, Y, ("a", "b", "c", "d"), ("leaf", "root"))
    >>> with TemporaryDirectory() as folder:
    ...     data.save(f"{folder}/plants.npz")
    ...     sizes_of(f"{folder}/plants.npz")
    (4, 1, 2)
    """
    shapes = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            with file.open(name) as stream:
                np.lib.format.read_magic(stream)
                shapes[name.removesuffix(".npy")] = np.lib.format.read_array_header_1_0(stream)[0]
        with file.open("facts.npy") as stream:
            n_texts = json.loads(np.lib.format.read_array(stream).tobytes()).get("n_texts", 0)
        if "Y" in shapes:
            n_labels = shapes["Y"][-1] if len(shapes["Y"]) == 2 else 1
        else:
            with file.open("Y_shape.npy") as stream:
                n_labels = int(np.lib.format.read_array(stream)[1])
    if "X" in shapes:
        n_samples, n_features = shapes["X"]
        return n_samples, n_features + n_texts * FEATURES_OF_TEXT, n_labels
    n_samples = shapes["X_indptr"][0] - 1
    return n_samples, -(-shapes["X_data"][0] // n_samples), n_labels


def _as_bytes(facts: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)


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
    matrix.check_format(full_check=True)  # Indices out of range would crash compiled code.
    if not matrix.has_canonical_format:
        raise ValueError(f"indices of {name} are unsorted or repeated")
    return matrix


def _check_parts(data: Dataset) -> None:
    """Raise ``ValueError`` if arrays of a dataset do not fit together."""
    n_samples, _, n_labels = data.shape
    is_multilabel = data.task == "multilabel"
    shapes = {"X": (n_samples, len(data.feature_names)), "Y": (n_samples, n_labels) if is_multilabel else (n_samples,)}
    shapes = {**dict.fromkeys(_OF_SAMPLES, (n_samples,)), **shapes, "coordinates": (n_samples, 2)}
    for name, shape in shapes.items():
        values = getattr(data, name)
        if values is not None and values.shape != shape:
            found = f"{name.replace('_', ' ')} are {values.dtype} of {values.shape}"
            raise ValueError(f"{found}, for {n_samples} samples and {n_labels} labels")
    if data.typed is not None:
        first = len(data.feature_names) - len(data.typed.cells)
        for column, (name, cells) in enumerate(data.typed.cells.items(), start=first):
            positions = data.X[:, column]
            if (
                data.feature_names[column] != name
                or not np.isin(positions[~np.isnan(positions)], range(len(cells))).all()
            ):
                raise ValueError(f"column {name!r} does not fit its cells")
    if data.Y.size and not UNMEASURED <= data.Y.min() <= data.Y.max() <= (1 if is_multilabel else n_labels - 1):
        raise ValueError("labels have unknown codes")
    if data.hierarchy is not None and data.hierarchy.first_violation(data.Y) is not None:
        raise ValueError("labels break the true-path rule of their hierarchy")
