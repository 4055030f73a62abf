"""Catalog of datasets: their files, checksums, and expected contents."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairfold.core import config
from fairfold.core.project import PROJECT
from fairfold.datasets import hierarchies
from fairfold.datasets.categories import Encoding
from fairfold.datasets.dataset import PLACE, LabelsAre, Task
from fairfold.datasets.times import check_hold_out
from fairfold.errors import ConfigError, check_name, unknown_name
from fairfold.tables.names import composed

_GIT_BLOB = "git blob SHA-1"
CATALOG = PROJECT / "resources" / "datasets.yaml"

_OF_GROUPS = ("groups", "groups_by_scaffold")
_NOT_READ = ("id", "title", "files", "path", "folder", "published", "citation", "license", "used_by")


@dataclasses.dataclass(frozen=True)
class DataFile:
    r"""A file of a dataset, with its addresses and checksums.

    Attributes
    ----------
    name : str
        Plain file name without folders.
    urls : tuple of str
        HTTP or HTTPS addresses in order of preference.
    size : int or None
        Size in bytes.
    sha256 : str or None
        SHA-256 of the content in hexadecimal.
    git_blob : str or None
        SHA-1 that git gives the file, ``sha1(b"blob <size>\0" + content)``, in hexadecimal.
    """

    name: str
    urls: tuple[str, ...] = ()
    size: int | None = None
    sha256: str | None = None
    git_blob: str | None = None

    def digests(self) -> dict[str, str]:
        """Return the known digests by the name of their algorithm.

        Returns
        -------
        dict of str to str
            Algorithm and digest in hexadecimal.

        Examples
        --------
        >>> DataFile("yeast.csv", sha256="0" * 8).digests()
        {'SHA-256': '00000000'}
        """
        known = {"SHA-256": self.sha256, _GIT_BLOB: self.git_blob}
        return {algorithm: digest for algorithm, digest in known.items() if digest is not None}

    @property
    def is_unknown(self) -> bool:
        """Whether neither the size nor a digest is known, so that a truncated copy would not be recognized."""
        return self.size is None and not self.digests()

    def flaw_of(self, path: Path) -> str | None:
        """Describe the first difference between the content of a path and this file.

        The size is checked before the digests.

        Parameters
        ----------
        path : Path
            The copy to check.

        Returns
        -------
        str or None
            The difference, or None if the copy agrees.

        Raises
        ------
        OSError
            If the copy cannot be read.
        """
        if not path.is_file():
            return "there is no such file"
        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"its size is {size} bytes, expected {self.size}"
        for algorithm, expected in self.digests().items():
            git = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            start = git if algorithm == _GIT_BLOB else hashlib.sha256()
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, start.copy)
            if digest.hexdigest() != expected.lower():
                return f"its {algorithm} is {digest.hexdigest()}, expected {expected}"
        return None


@dataclasses.dataclass(frozen=True)
class Entry:
    """Dataset of the catalog or of a ``data.own`` stanza of the configuration.

    The fields have the meaning of the keys in the catalog and in the configuration. Fields that do not apply to a
    dataset keep their defaults.

    Attributes
    ----------
    id : str
        Name of the dataset in the configuration and in results.
    title : str
        Name of the dataset in tables.
    task : {"multilabel", "multiclass", "binary"}
        Kind of labels.
    format : str
        File format, or ``"generated"`` for data without files.
    files : tuple of DataFile
        Files of a catalog dataset, with their addresses and checksums.
    labels : mapping of str to Any
        Location of the labels, such as ``{"prefix": "label_"}``.
    hierarchy : mapping of str to Any
        Path and options of the label hierarchy of a user's file.
    hierarchical : bool
        Whether the labels have a hierarchy.
    presence : bool
        Whether labels are numbers of which those above 0 are read as 1.
    label_filter : mapping of str to int
        Minimum numbers of positives and negatives of a label.
    expected : mapping of str to float
        Shape and label density after the label filter.
    published : mapping of str to Any
        Published numbers of the file before the label filter, and their source.
    split : mapping of str to Any
        Size of the published training part, and the source of the split.
    tests_split : bool
        Whether a variant is tested on the published test part.
    label_rows : tuple of (int, int)
        Ranges of rows that restore the order of the labels, or none.
    header : bool
        Whether the first line of a CSV file names the columns.
    missing_value : str or None
        Text of a missing feature, in addition to the usual ones.
    missing_values : {"error", "drop-features"} or None
        Treatment of missing features in gene expression.
    samples : mapping of str to Any
        Sample table and selected samples of gene expression.
    quantity : str or None
        Columns of a MAGE-TAB matrix to read.
    folder : str or None
        Folder of the files in mirrors and in the cache. None stands for the id.
    generator : mapping of str to Any
        Function of ``fairfold.datasets.generate`` and its parameters.
    path : Path or None
        Path of a user's file, or None for a catalog dataset.
    id_column : str or None
        Column of sample ids in a user's file. The configuration calls it ``id``.
    groups : str or None
        Column of groups in a user's file.
    groups_by_scaffold : str or None
        Column of molecules in a user's file whose scaffolds are the groups.
    folds : str or None
        Column of folds in a user's file.
    weights : str or None
        Column of sample weights in a user's file.
    dates : str or None
        Column of dates in a user's file.
    coordinates : tuple of str
        Columns of latitude and longitude in a user's file, or none.
    day_first : bool
        Whether dates of a user's file have the day before the month.
    hold_out : mapping of str to Any
        Cut-offs or number of periods for the evaluation by time of a user's file.
    ignore : tuple of str
        Names and patterns of columns to omit from a user's file.
    categorical : {"one-hot", "ordinal", "as-is"} or None
        Encoding of text columns before the study, or None if features are made of them in each training part.
    features : mapping of str to (str or sequence of str)
        Declared roles of columns, by name; see :func:`~fairfold.features.find_roles`.
    labels_are : {"complete", "unknown", "incomplete"}
        State of the labels; see :class:`~fairfold.datasets.Dataset`.
    missing_rate : float or None
        Declared share of positives that are missing.
    citation : str
        Publication of the dataset.
    license : str
        License of the dataset.
    used_by : tuple of str
        Parts of the study that use the dataset.

    Examples
    --------
    >>> from fairfold.datasets import load_catalog
    >>> entry = load_catalog()["iris"]
    >>> entry.task, entry.format
    ('multiclass', 'generated')
    """

    id: str
    title: str
    task: Task
    format: str
    files: tuple[DataFile, ...] = ()
    labels: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    hierarchy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    hierarchical: bool = False
    presence: bool = False
    label_filter: Mapping[str, int] = dataclasses.field(default_factory=dict)
    expected: Mapping[str, float] = dataclasses.field(default_factory=dict)
    published: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    split: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    tests_split: bool = False
    label_rows: tuple[tuple[int, ...], ...] = ()
    header: bool = True
    missing_value: str | None = None
    missing_values: str | None = None
    samples: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    quantity: str | None = None
    folder: str | None = None
    generator: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    path: Path | None = None
    id_column: str | None = None
    groups: str | None = None
    groups_by_scaffold: str | None = None
    folds: str | None = None
    weights: str | None = None
    dates: str | None = None
    coordinates: tuple[str, ...] = ()
    day_first: bool = False
    hold_out: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    categorical: Encoding | None = None
    features: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    labels_are: LabelsAre = "unknown"
    missing_rate: float | None = None
    citation: str = ""
    license: str = ""
    used_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Normalize the names of columns, as the readers do."""
        for field in ("id_column", "groups", "groups_by_scaffold", "folds", "weights", "dates"):
            if (name := getattr(self, field)) is not None:
                object.__setattr__(self, field, composed(name))
        for field in ("coordinates", "ignore"):
            object.__setattr__(self, field, tuple(map(composed, getattr(self, field))))
        molecules = {} if self.groups_by_scaffold is None else {self.groups_by_scaffold: "molecule"}
        features = molecules | {composed(name): role for name, role in self.features.items()}
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", {way: _composed_labels(way, value) for way, value in self.labels.items()})

    @classmethod
    def from_stanza(cls, stanza: Mapping[str, Any]) -> Entry:
        """Create an entry from a catalog stanza that follows the schema.

        Parameters
        ----------
        stanza : mapping
            Checked stanza of the catalog.

        Returns
        -------
        Entry
            The entry.
        """
        files = tuple(DataFile(**{**file, "urls": tuple(file["urls"])}) for file in stanza.get("files", ()))
        label_rows = tuple(map(tuple, stanza.get("label_rows", ())))
        used_by = tuple(stanza.get("used_by", ()))
        return cls(**{**stanza, "files": files, "label_rows": label_rows, "used_by": used_by})

    @classmethod
    def from_own(cls, dataset: str, stanza: Mapping[str, Any]) -> Entry:
        """Create an entry for a user's file from a ``data.own`` stanza of the configuration.

        Parameters
        ----------
        dataset : str
            Id of the dataset.
        stanza : mapping
            Checked stanza of the configuration.

        Returns
        -------
        Entry
            The entry.
        """
        fields = {"title": dataset, "task": "multilabel", **stanza}
        if "missing_rate" in fields:
            fields["labels_are"] = "incomplete"
        fields |= {"path": Path(fields["path"]), "ignore": tuple(fields.get("ignore", ()))}
        labels = fields["labels"]
        fields["hierarchy"] = {key: labels[key] for key in hierarchies.KEYS if key in labels}
        fields["presence"] = labels.get("presence", False)
        fields["labels"] = {way: value for way, value in labels.items() if way not in (*hierarchies.KEYS, "presence")}
        fields["hierarchical"] = "hierarchy" in labels
        return cls(**{**fields, "id": dataset, "id_column": fields.get("id")})

    def variant(self, dataset: str, stanza: Mapping[str, Any]) -> Entry:
        """Return a variant of this entry, as described by a ``data.variants`` stanza of the configuration.

        Parameters
        ----------
        dataset : str
            Id of the variant.
        stanza : mapping
            Checked stanza of the configuration.

        Returns
        -------
        Entry
            The variant.

        Raises
        ------
        ConfigError
            If the stanza changes parameters, a label filter or a published split that the entry does not have.
        """
        where = f"config.data.variants.{dataset}"
        changes: dict[str, Any] = {"id": dataset, "title": stanza.get("title", self.title)}
        if "parameters" in stanza:
            known = self._check_parameters(stanza["parameters"], f"{where}.parameters")
            parameters = {**self.generator.get("parameters", {}), **stanza["parameters"]}
            sizes = {**self.expected, **parameters}
            expected = {name: sizes[name] for name in known if name in self.expected and isinstance(sizes[name], int)}
            changes |= {"generator": {**self.generator, "parameters": parameters}, "expected": expected}
        if "label_filter" in stanza:
            if self.task != "multilabel":
                raise ConfigError(f"{where}.label_filter: {self.id} is a {self.task} task. Leave it out.")
            expected = changes.get("expected", self.expected)
            kept = {key: value for key, value in expected.items() if key in ("n_samples", "n_features")}
            changes |= {"label_filter": stanza["label_filter"], "expected": kept}
        if "label_rows" in stanza:
            changes["label_rows"] = tuple(map(tuple, stanza["label_rows"]))
        if "folds" in stanza:
            if not self.split:
                raise ConfigError(f"{where}.folds: {self.id} has no published split. Leave it out.")
            changes["tests_split"] = True
        return dataclasses.replace(self, folder=self.folder or self.id, **changes)

    def _check_parameters(self, parameters: Mapping[str, Any], where: str) -> list[str]:
        """Return the names of the generator's parameters. The generator checks their values."""
        from fairfold.datasets import generate

        if self.format != "generated":
            raise ConfigError(f"{where}: {self.id} is not generated, but read from files. Leave it out.")
        known = list(inspect.signature(getattr(generate, self.generator["function"])).parameters)
        for name in parameters:
            check_name("parameter", name, known, ConfigError, where)
        return known

    @property
    def roles(self) -> dict[str, str]:
        """Columns that are neither features nor labels, by role. They are read as text."""
        names = (self.id_column, self.groups, self.folds, self.weights, self.dates)
        roles = zip(("id", "groups", "folds", "weights", "dates"), names, strict=True)
        of_place = dict(zip(PLACE, self.coordinates, strict=False))
        return {role: name for role, name in roles if name is not None} | of_place

    @property
    def own_files(self) -> list[Path]:
        """The user's files of the dataset. Empty for a dataset of the catalog."""
        if self.path is None:
            return []
        named = [self.labels.get("xml"), self.labels.get("table")]
        named += [self.samples.get("table"), self.hierarchy.get("hierarchy")]
        return [self.path, *(Path(path) for path in named if path is not None)]

    def check_keys(self, where: str) -> None:
        """Check that the format and the task of this dataset support all keys that the user set.

        Parameters
        ----------
        where : str
            Key of the dataset in the configuration, for messages.

        Raises
        ------
        ConfigError
            If a key is not supported.
        """
        is_table, has_labels = self.format in ("csv", "arff"), self.task == "multilabel"
        if not is_table and (self.ignore or self.id_column is not None):
            raise ConfigError(f"{where}: id and ignore are for csv and arff, not for {self.format}. Leave them out.")
        if self.groups is not None and self.groups_by_scaffold is not None:
            raise ConfigError(f"{where}: found groups and groups_by_scaffold. Leave out one of them.")
        for key in (*_OF_GROUPS, "categorical", "features", "folds", "weights", "dates", "coordinates"):
            if getattr(self, key) and not (is_table and has_labels):
                raise ConfigError(f"{where}: {key} is for csv and arff with several labels. Leave it out.")
        for key, is_given in {"labels_are": self.labels_are != "unknown", "hierarchy": self.hierarchical}.items():
            if is_given and not has_labels:
                raise ConfigError(f"{where}: {key} is for several labels. Leave it out.")

    @property
    def versions(self) -> list[tuple[int, int]]:
        """Modification time in nanoseconds and size in bytes of each of the user's files that exists."""
        found = [path.stat() for path in self.own_files if path.exists()]
        return [(each.st_mtime_ns, each.st_size) for each in found]

    def require(self, task: Task) -> None:
        """Raise :class:`~fairfold.errors.ConfigError` if the dataset has another task.

        Parameters
        ----------
        task : {"multilabel", "multiclass", "binary"}
            The required task.
        """
        if self.task != task:
            raise ConfigError(f"dataset {self.id!r} is a {self.task} task, but this part needs a {task} task.")

    def require_complete(self) -> None:
        """Raise ``ConfigError`` for a dataset of the catalog with missing values.

        A user's dataset with missing values is refused when it is read.
        """
        if self.path is None and self.missing_value is not None:
            raise ConfigError(f"dataset {self.id!r} has missing values, which these models do not accept.")

    @property
    def fingerprint(self) -> str:
        """Text that changes if the dataset must be prepared again. Titles, URLs and citations do not change it."""
        digests = [file.sha256 or file.git_blob or file.name for file in self.files]
        return repr((digests, {name: value for name, value in vars(self).items() if name not in _NOT_READ}))


class Catalog(dict[str, Entry]):
    """Mapping from dataset id to :class:`Entry`. An unknown id raises an error with the nearest known ids."""

    def __missing__(self, dataset: str) -> Entry:
        raise ConfigError(f"{unknown_name('dataset', dataset, self)}{_HOW_TO_ADD}")

    def with_labels(self, labels_are: LabelsAre) -> Catalog:
        """Return the catalog with a declared state of all labels.

        Parameters
        ----------
        labels_are : {"complete", "unknown", "incomplete"}
            State of the labels; see :class:`~fairfold.datasets.Dataset`.

        Returns
        -------
        Catalog
            A new catalog.
        """
        return Catalog({name: dataclasses.replace(entry, labels_are=labels_are) for name, entry in self.items()})

    def with_own(self, own: Mapping[str, Mapping[str, Any]]) -> Catalog:
        """Return the catalog with the user's datasets (``data.own``) added.

        Parameters
        ----------
        own : mapping of str to mapping
            Checked stanzas of the configuration by dataset id.

        Returns
        -------
        Catalog
            A new catalog.

        Raises
        ------
        ConfigError
            If an id exists already, a file does not exist, or keys of a stanza do not fit together.
        """
        entries = {dataset: Entry.from_own(dataset, stanza) for dataset, stanza in own.items()}
        for dataset, entry in entries.items():
            where = f"config.data.own.{dataset}"
            if dataset in self:
                raise ConfigError(f"{where}: the catalog has a dataset of that name. Choose another name.")
            entry.check_keys(where)
            check_hold_out(where, dates=entry.dates, hold_out=entry.hold_out, folds=entry.folds)
            for path in entry.own_files:
                with contextlib.suppress(OSError):  # such as a name that is too long
                    if path.is_file():
                        continue
                raise ConfigError(f"{where}: there is no file {path} in {Path.cwd()}. Correct the path.")
        return Catalog({**self, **entries})

    def with_variants(self, variants: Mapping[str, Mapping[str, Any]]) -> Catalog:
        """Return the catalog with variants of its datasets (``data.variants``) added.

        Parameters
        ----------
        variants : mapping of str to mapping
            Checked stanzas of the configuration by dataset id.

        Returns
        -------
        Catalog
            A new catalog.

        Raises
        ------
        ConfigError
            If an id exists already, the original dataset is unknown or a user's own, or it does not support the change.
        """
        entries = dict(self)
        for dataset, stanza in variants.items():
            where = f"config.data.variants.{dataset}"
            if dataset in entries:
                raise ConfigError(f"{where}: a dataset of that name exists. Choose another name.")
            check_name("dataset", stanza["of"], self, ConfigError, f"{where}.of")
            original = self[stanza["of"]]
            if original.path is not None:
                raise ConfigError(f"{where}.of: {original.id} is your own dataset. Change it under data.own.")
            entries[dataset] = original.variant(dataset, stanza)
        return Catalog(entries)


def _composed_labels(way: str, value: Any) -> Any:
    """Normalize the names of columns, but not paths."""
    if way in ("prefix", "column") and isinstance(value, str):
        return composed(value)
    return [composed(name) for name in value] if way in ("columns", "names") else value


_HOW_TO_ADD = " Your own files go under data.own in the configuration (see docs/guide/run-my-table.md)."


def load_catalog(path: str | os.PathLike[str] | None = None) -> Catalog:
    """Load and check the dataset catalog.

    Parameters
    ----------
    path : str, path-like or None, default=None
        YAML file. By default, ``resources/datasets.yaml`` of the project.

    Returns
    -------
    Catalog
        Mapping from dataset id to :class:`~fairfold.datasets.catalog.Entry`.

    Raises
    ------
    ConfigError
        If the file cannot be read, violates the schema, or lists a dataset twice.

    Examples
    --------
    >>> catalog = load_catalog()
    >>> catalog["emotions"].title
    'Emotions in music'
    """
    return _load(Path(path or CATALOG).resolve())


@functools.cache
def _load(path: Path) -> Catalog:
    from fairfold.datasets.settings import CatalogEntry  # Many jobs need no catalog.

    stanzas = config.load_yaml(path, is_ours=path == CATALOG)
    config.validated(stanzas, list[CatalogEntry], path.name)
    entries: dict[str, Entry] = {}
    for stanza in stanzas:
        entry = Entry.from_stanza(stanza)
        if entry.id in entries:
            raise ConfigError(f"{path.name}: dataset {entry.id!r} is listed twice. Remove one of the entries.")
        entries[entry.id] = entry
    return Catalog(entries)
