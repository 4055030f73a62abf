"""The catalog: which datasets exist, where their files are, and what they must look like."""

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
from fairfold.core.home import PROJECT
from fairfold.core.validation import Negatives
from fairfold.datasets import hierarchies
from fairfold.datasets.categories import Encoding
from fairfold.datasets.dataset import LabelsAre, Task
from fairfold.datasets.names import composed
from fairfold.datasets.times import check_hold_out
from fairfold.errors import ConfigError, unknown_name

_GIT_BLOB = "git blob SHA-1"
CATALOG = PROJECT / "resources" / "datasets.yaml"

_NOT_READ = ("id", "title", "files", "path", "folder", "labels_are", "published", "citation", "licence", "used_by")


@dataclasses.dataclass(frozen=True)
class DataFile:
    """One file of a dataset: where it can be had and how to know that it is the right one.

    Attributes
    ----------
    name : plain file name, without folders.
    urls : http or https addresses, in order of preference.
    size : length in bytes.
    sha256 : SHA-256 of the content, in hexadecimal as all digests.
    git_blob : SHA-1 that git gives the file, ``sha1(b"blob <size>\\0" + content)``.
    record_sha256 : when no digest is published, record the SHA-256 of the first copy in the cache beside it, in
        ``<name>.sha256`` as ``sha256sum`` writes, and hold all later copies to it.
    """

    name: str
    urls: tuple[str, ...] = ()
    size: int | None = None
    sha256: str | None = None
    git_blob: str | None = None
    record_sha256: bool = False

    def digests(self) -> dict[str, str]:
        """The digests that are given, by the name of their algorithm."""
        known = {"SHA-256": self.sha256, _GIT_BLOB: self.git_blob}
        return {algorithm: digest for algorithm, digest in known.items() if digest is not None}

    @property
    def needs_record(self) -> bool:
        """Whether the SHA-256 of a copy is to be recorded, because no digest is known."""
        return self.record_sha256 and not self.digests()

    def flaw_of(self, path: Path) -> str | None:
        """What tells the content of ``path`` from this file, first its size; None when nothing does.

        Raises
        ------
        OSError
            When it cannot be read.
        """
        if not path.is_file():
            return "there is no such file"
        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"its size is {size} bytes, expected {self.size}"
        for algorithm, expected in self.digests().items():
            git_header = b"blob %d\0" % size
            digest = hashlib.sha1(git_header, usedforsecurity=False) if algorithm == _GIT_BLOB else hashlib.sha256()
            with path.open("rb") as stream:
                hashlib.file_digest(stream, lambda digest=digest: digest)
            if digest.hexdigest() != expected.lower():
                return f"its {algorithm} is {digest.hexdigest()}, expected {expected}"
        return None


@dataclasses.dataclass(frozen=True)
class Entry:
    """What the catalog (or a ``data.own`` stanza of the configuration) says about one dataset.

    The fields are those of ``fairfold.datasets.settings.CatalogEntry``. ``hierarchy``, ``path``, ``ignore``,
    ``groups``, ``folds``, ``weights``, ``dates``, ``hold_out`` and ``id_column``, which the configuration calls ``id``,
    are set for a user's own file only, and only there positives may be missing that samples have (``labels_are``; where
    ``negatives`` are confirmed, none is): published labels are taken as complete. ``tests_split`` is set for a dataset
    of the configuration (``data.variants``) that is tested on the published test part.
    """

    id: str
    title: str
    task: Task
    format: str
    files: tuple[DataFile, ...] = ()
    labels: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    hierarchy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    hierarchical: bool = False
    label_filter: Mapping[str, int] = dataclasses.field(default_factory=dict)
    expected: Mapping[str, float] = dataclasses.field(default_factory=dict)
    published: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    split: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    tests_split: bool = False
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
    folds: str | None = None
    weights: str | None = None
    dates: str | None = None
    hold_out: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    categorical: Encoding | None = None
    labels_are: LabelsAre = "complete"
    negatives: Negatives = "unlabelled"
    citation: str = ""
    licence: str = ""
    used_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Compose the names of columns, as readers do."""
        for field in ("id_column", "groups", "folds", "weights", "dates"):
            if (name := getattr(self, field)) is not None:
                object.__setattr__(self, field, composed(name))
        object.__setattr__(self, "ignore", tuple(map(composed, self.ignore)))
        object.__setattr__(self, "labels", {way: _composed_labels(way, value) for way, value in self.labels.items()})

    @classmethod
    def from_stanza(cls, stanza: Mapping[str, Any]) -> Entry:
        """Entry from a catalog stanza that has been checked against the schema."""
        files = tuple(DataFile(**{**file, "urls": tuple(file["urls"])}) for file in stanza.get("files", ()))
        return cls(**{**stanza, "files": files, "used_by": tuple(stanza.get("used_by", ()))})

    @classmethod
    def from_own(cls, dataset: str, stanza: Mapping[str, Any]) -> Entry:
        """Entry for a user's own file, from a checked ``data.own`` stanza of the configuration."""
        fields = {"title": dataset, "task": "multilabel", "labels_are": "observed", **stanza}
        fields |= {"path": Path(fields["path"]), "ignore": tuple(fields.get("ignore", ()))}
        labels = fields["labels"]
        fields["hierarchy"] = {key: labels[key] for key in hierarchies.KEYS if key in labels}
        fields["labels"] = {way: value for way, value in labels.items() if way not in hierarchies.KEYS}
        fields["hierarchical"] = "hierarchy" in labels
        if fields.get("negatives") == "confirmed":
            fields["labels_are"] = "complete"
        return cls(**{**fields, "id": dataset, "id_column": fields.get("id")})

    def variant(self, dataset: str, stanza: Mapping[str, Any]) -> Entry:
        """This entry taken otherwise, by a checked ``data.variants`` stanza of the configuration.

        Raises
        ------
        ConfigError
            When it has no parameters, no labels to filter or no published split, and the stanza asks for them.
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
                raise ConfigError(f"{where}.label_filter: {self.id} is a {self.task} task; leave it out.")
            expected = changes.get("expected", self.expected)
            kept = {key: value for key, value in expected.items() if key in ("n_samples", "n_features")}
            changes |= {"label_filter": stanza["label_filter"], "expected": kept}
        if "folds" in stanza:
            if not self.split:
                raise ConfigError(f"{where}.folds: no published split of {self.id} is known; leave it out.")
            changes["tests_split"] = True
        return dataclasses.replace(self, folder=self.folder or self.id, **changes)

    def _check_parameters(self, parameters: Mapping[str, Any], where: str) -> list[str]:
        """Names of the generator's parameters; their values are checked when it runs."""
        from fairfold.datasets import generate

        if self.format != "generated":
            raise ConfigError(f"{where}: {self.id} is not generated, but read from files; leave it out.")
        known = list(inspect.signature(getattr(generate, self.generator["function"])).parameters)
        for name in parameters:
            if name not in known:
                raise ConfigError(f"{where}: {unknown_name('parameter', name, known)}")
        return known

    @property
    def roles(self) -> dict[str, str]:
        """Columns that are neither features nor labels, read as text, by their role."""
        roles = {"id": self.id_column, "groups": self.groups, "folds": self.folds}
        roles |= {"weights": self.weights, "dates": self.dates}
        return {role: name for role, name in roles.items() if name is not None}

    @property
    def own_files(self) -> list[Path]:
        """The user's files that the dataset is read from; none for a dataset of the catalog."""
        if self.path is None:
            return []
        companions = (self.labels.get("xml"), self.labels.get("table"), self.samples.get("table"))
        companions += (self.hierarchy.get("hierarchy"),)
        return [self.path, *(Path(path) for path in companions if path is not None)]

    def check_keys(self, where: str) -> None:
        """Raise ``ConfigError`` for keys of a user's dataset that do not go with its format or task."""
        is_table, has_labels = self.format in ("csv", "arff"), self.task == "multilabel"
        if not is_table and (self.ignore or self.id_column is not None):
            raise ConfigError(f"{where}: id and ignore are for csv and arff; a {self.format} file has no such columns.")
        for key in ("categorical", "groups", "folds", "weights", "dates"):
            if getattr(self, key) is not None and not (is_table and has_labels):
                raise ConfigError(f"{where}: {key} is for csv and arff with several labels; leave it out.")
        for key, is_given in {"negatives": self.negatives == "confirmed", "hierarchy": self.hierarchical}.items():
            if is_given and not has_labels:
                raise ConfigError(f"{where}: {key} is for several labels; leave it out.")

    @property
    def versions(self) -> list[tuple[int, int]]:
        """Time of change and size of each of the user's own files that exists."""
        found = [path.stat() for path in self.own_files if path.exists()]
        return [(each.st_mtime_ns, each.st_size) for each in found]

    def require(self, task: Task) -> None:
        """Raise :class:`~fairfold.errors.ConfigError` when the dataset is of another task."""
        if self.task != task:
            raise ConfigError(f"dataset {self.id!r} is a {self.task} task; a {task} one is needed here.")

    def require_complete(self) -> None:
        """Raise ``ConfigError`` for a dataset of the catalog that lacks values; own ones are refused when read."""
        if self.path is None and self.missing_value is not None:
            raise ConfigError(f"dataset {self.id!r} has missing values, which the models compared here do not take.")

    @property
    def fingerprint(self) -> str:
        """Text that changes when the prepared dataset must be made anew (not with titles, URLs or citations)."""
        digests = [file.sha256 or file.git_blob or file.name for file in self.files]
        return repr((digests, {name: value for name, value in vars(self).items() if name not in _NOT_READ}))


class Catalog(dict[str, Entry]):
    """Mapping from dataset id to :class:`Entry`; a wrong id raises with the nearest known ones."""

    def __missing__(self, dataset: str) -> Entry:
        raise ConfigError(f"{unknown_name('dataset', dataset, self)}{_HOW_TO_ADD}")

    def with_own(self, own: Mapping[str, Mapping[str, Any]]) -> Catalog:
        """The catalog with the user's datasets (``data.own``) added.

        Raises
        ------
        ConfigError
            When an id is taken already, or a file does not exist.
        """
        entries = {dataset: Entry.from_own(dataset, stanza) for dataset, stanza in own.items()}
        for dataset, entry in entries.items():
            where = f"config.data.own.{dataset}"
            if dataset in self:
                raise ConfigError(f"{where}: the catalog has a dataset of that name; choose another.")
            entry.check_keys(where)
            by_time = {"dates": entry.dates, "hold_out": entry.hold_out, "folds": entry.folds}
            check_hold_out(where, **by_time)
            for path in entry.own_files:
                with contextlib.suppress(OSError):  # of a name that is too long, say
                    if path.is_file():
                        continue
                raise ConfigError(f"{where}: there is no file {path} (seen from {Path.cwd()}).")
        return Catalog({**self, **entries})

    def with_variants(self, variants: Mapping[str, Mapping[str, Any]]) -> Catalog:
        """The catalog with datasets of it that the configuration takes otherwise (``data.variants``).

        Raises
        ------
        ConfigError
            When an id is taken already, there is no dataset to vary, or it cannot be taken so.
        """
        entries = dict(self)
        for dataset, stanza in variants.items():
            where = f"config.data.variants.{dataset}"
            if dataset in entries:
                raise ConfigError(f"{where}: there is a dataset of that name; choose another.")
            if stanza["of"] not in self:
                raise ConfigError(f"{where}.of: {unknown_name('dataset', stanza['of'], self)}")
            original = self[stanza["of"]]
            if original.path is not None:
                raise ConfigError(
                    f"{where}.of: found {original.id}, which is your own (data.own): say there how it is to be read."
                )
            entries[dataset] = original.variant(dataset, stanza)
        return Catalog(entries)


def _composed_labels(way: str, value: Any) -> Any:
    """Compose names of columns, but not paths."""
    if way in ("prefix", "column") and isinstance(value, str):
        return composed(value)
    return [composed(name) for name in value] if way == "columns" else value


_HOW_TO_ADD = " Your own files go under data.own in the configuration (see docs/guide/own-data.md)."


def load_catalog(path: str | os.PathLike[str] | None = None) -> Catalog:
    """Read and check the dataset catalog.

    Parameters
    ----------
    path : YAML file; the project's ``resources/datasets.yaml`` when not given.

    Returns
    -------
    Catalog
        Mapping from dataset id to :class:`~fairfold.datasets.catalog.Entry`.

    Raises
    ------
    ConfigError
        When the file cannot be read, breaks the schema, or names a dataset twice.
    """
    return _load(Path(path or CATALOG).resolve())


@functools.cache
def _load(path: Path) -> Catalog:
    from fairfold.datasets.settings import CatalogEntry  # loaded here, because many jobs need no catalog

    stanzas = config.load_yaml(path, is_ours=True)
    config.validated(stanzas, list[CatalogEntry], path.name)
    entries: dict[str, Entry] = {}
    for stanza in stanzas:
        entry = Entry.from_stanza(stanza)
        if entry.id in entries:
            raise ConfigError(f"{path.name}: dataset {entry.id!r} is listed twice; remove one of the entries.")
        entries[entry.id] = entry
    return Catalog(entries)
