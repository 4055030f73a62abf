"""Load a dataset from its source files: fetch, verify, read, filter and check it."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, append_columns, rows_of
from fairfold.core.config import setting
from fairfold.core.folds import BEFORE
from fairfold.core.validation import has_unmeasured, unmeasured_cells
from fairfold.datasets import expression, formats
from fairfold.datasets.catalog import Catalog, Entry, load_catalog
from fairfold.datasets.categories import Categories, natural_order
from fairfold.datasets.columns import account_line, identifiers, roles_of
from fairfold.datasets.dataset import LEFT_OUT, PLACE, Dataset
from fairfold.datasets.fetch import fetch
from fairfold.datasets.held_out import is_held_out
from fairfold.datasets.hierarchies import read_hierarchy
from fairfold.datasets.requirements import check_requirements
from fairfold.datasets.typed import TypedColumns
from fairfold.errors import ConfigError, DataError, shortened
from fairfold.tables import svmlight
from fairfold.tables.label_values import label_error
from fairfold.tables.names import check_unique, composed
from fairfold.tables.reading import read
from fairfold.tables.table import Table, first_cell, label_columns, position_of

logger = logging.getLogger(__name__)
_MAY_BE_FEATURES = ("dates", *PLACE)  # roles of columns that are features, too, if a role is declared for them


def prepare_for_study(
    dataset: str, config: Any, screen: logging.Handler | None = None, *, held_out: bool = False
) -> Dataset:
    """Prepare a dataset of a study.

    Parameters
    ----------
    dataset : str
        Id of the dataset.
    config : Study or mapping
        Checked configuration. Jobs have a mapping, so that new settings of other parts do not outdate the data.
    screen : logging.Handler or None, default=None
        Handler that also receives how decimal marks of a user's file are read.
    held_out : bool, default=False
        Whether to return the samples that are set aside, instead of the others.

    Returns
    -------
    Dataset
        The dataset, without the samples that are set aside if the study has a final model of it.

    Raises
    ------
    DataError
        If the data cannot be read, or a user's data are too small or too uniform for the study.
    """
    keys = ("own", "variants", "mirrors", "cache", "offline")
    own, variants, mirrors, cache, offline = (setting(f"data.{key}", config) for key in keys)
    is_own = dataset in own
    if is_own and screen:
        logging.getLogger("fairfold.tables.decimals").addHandler(screen)
    data = prepare(
        dataset,
        catalog=load_catalog().with_own(own).with_variants(variants),
        mirrors=[*mirrors, *environment_mirrors()],
        cache=cache,
        offline=offline,
    )
    share = setting("data.set_aside", config)
    if share is not None and dataset in (*setting("weak_labels.datasets", config), *setting("final.datasets", config)):
        if data.sample_ids is None:  # Later steps number the samples as the file does.
            data = dataclasses.replace(data, sample_ids=np.arange(1, data.shape[0] + 1).astype(str))
        is_aside = is_held_out(data, share, setting("seed", config))
        data = data.of(is_aside if held_out else ~is_aside)
    if is_own and not held_out:  # Datasets of the catalog are large enough.
        check_requirements(data, config)
    return data


def environment_mirrors() -> list[str]:
    """Return the folders listed in the environment variable ``FAIRFOLD_MIRROR``, separated as in ``PATH``.

    Returns
    -------
    list of str
        Paths of the folders.
    """
    return [folder for folder in os.environ.get("FAIRFOLD_MIRROR", "").split(os.pathsep) if folder]


def prepare(
    dataset: str | Entry,
    *,
    catalog: Catalog | None = None,
    mirrors: Sequence[str | os.PathLike[str]] | None = None,
    cache: str | os.PathLike[str] | None = None,
    offline: bool = False,
    progress: bool = True,
) -> Dataset:
    """Fetch, verify, read, filter and check a dataset.

    Parameters
    ----------
    dataset : str or Entry
        Id in the catalog, or an :class:`~fairfold.datasets.catalog.Entry`.
    catalog : Catalog or None, default=None
        Catalog that contains the id. By default, the project's catalog.
    mirrors : sequence of (str or path-like) or None, default=None
        Folders to search before the cache and the web. By default, those of ``FAIRFOLD_MIRROR``.
    cache : str, path-like or None, default=None
        Folder for downloads. By default, the cache folder of the platform.
    offline : bool, default=False
        Whether downloads are forbidden.
    progress : bool, default=True
        Whether to show progress bars.

    Returns
    -------
    Dataset
        The dataset, ready for the study.

    Raises
    ------
    ConfigError
        If the id is unknown, or the format does not support how the entry locates its labels.
    DataError
        If a file is missing or damaged, does not contain the data described by the entry, or lacks feature values that
        may not be missing.

    Notes
    -----
    Missing features are NaN. They are allowed in tables with several labels and in multiclass datasets of the catalog.

    Examples
    --------
    >>> data = prepare("iris")
    >>> data.shape, data.label_names
    ((150, 4, 3), ('setosa', 'versicolor', 'virginica'))
    """
    entry = (catalog or load_catalog())[dataset] if isinstance(dataset, str) else dataset
    if entry.format == "generated":
        read = _generate(entry)
    else:
        positions = environment_mirrors() if mirrors is None else mirrors
        options: dict[str, Any] = {"mirrors": positions, "cache": cache, "offline": offline, "progress": progress}
        folder = entry.folder or entry.id
        paths = [entry.path] if entry.path else [fetch(folder, file, **options) for file in entry.files]
        # CSV is the default format of a user's table, so its content is checked.
        kind = svmlight.format_of(entry.path) if entry.path and entry.format == "csv" else entry.format
        _check_features(entry, kind)
        read = _READERS[kind](entry, paths)
    _check_published(read, entry)
    read = _with_label_rows(read, entry)
    read = _with_split(_with_hierarchy(read, entry), entry)
    result = _filter_labels(read, entry) if read.task == "multilabel" else read
    _check_expectations(result, entry)
    if result.task == "binary" or (result.task == "multiclass" and entry.path is not None):
        _check_complete(result, entry)
    logger.info("%s: %s", entry.id, account_line(result))
    return result


# --- from files to a dataset ------------------------------------------------------------------------------------------


def _generate(entry: Entry) -> Dataset:
    from fairfold.datasets import generate

    function = getattr(generate, entry.generator["function"], None)
    if function is None:
        raise ConfigError(f"dataset {entry.id}: fairfold.datasets.generate has no {entry.generator['function']!r}.")
    made = function(**entry.generator.get("parameters", {}))
    if sparse.issparse(made):  # The generator returns labels only.
        made = sparse.csr_array((made.shape[0], 0)), made, (), [f"label_{j}" for j in range(made.shape[1])]
    X, Y, *names = made
    hierarchy = names[2] if len(names) > 2 else None
    feature_names = names[0] if names else [f"feature_{j}" for j in range(X.shape[1])]
    label_names = names[1] if names else [str(value) for value in np.unique(Y)]
    return dataclasses.replace(_dataset(entry, X, Y, feature_names, label_names), hierarchy=hierarchy)


def _read_table(entry: Entry, path: Path, paths: Sequence[Path], kind: Literal["csv", "arff"]) -> Table:
    """Read a table of the user or the catalog, with the labels as numbers unless they are one class per sample."""
    wanted, is_multilabel = entry.labels.get("column"), entry.task == "multilabel"
    is_apart = wanted is not None or "table" in entry.labels
    if is_multilabel and "table" not in entry.labels and entry.missing_value in ("0", "1"):
        raise ConfigError(
            f"dataset {entry.id}: missing_value is {entry.missing_value!r}, which is also a label. Leave the cells of "
            "missing features empty, or write another text there."
        )
    return read(
        path,
        kind=kind,
        header=entry.header,
        missing=entry.missing_value,
        gaps=is_multilabel,
        text=[name for name in (wanted, *entry.roles.values()) if name is not None],
        labels=None if is_apart else functools.partial(_label_columns, entry, paths=paths),
        ignored=entry.ignore,
        categorical=_known_text(entry) if kind == "csv" and is_multilabel else bool(entry.categorical),
    )


def _check_features(entry: Entry, kind: str) -> None:
    """Refuse declared roles of features that the reader would not use."""
    if entry.features and (kind != "csv" or entry.categorical):
        found = f"the format {kind}" if kind != "csv" else f"categorical: {entry.categorical}"
        raise ConfigError(f"dataset {entry.id}: features cannot be declared beside {found}. Leave out one of them.")
    if taken := [name for role, name in entry.roles.items() if name in entry.features and role not in _MAY_BE_FEATURES]:
        raise ConfigError(f"dataset {entry.id}: column {taken[0]!r} has another role and is no feature. Choose one.")


def _known_text(entry: Entry) -> bool | dict[str, bool]:
    """Return whether columns may contain text, and for declared columns whether they do."""
    return bool(entry.categorical) or {name: role not in ("number", "boolean") for name, role in entry.features.items()}


def _read_csv(entry: Entry, paths: Sequence[Path]) -> Dataset:
    wanted, path = entry.labels.get("column"), _only(entry, paths)
    table = _read_table(entry, path, paths, "csv")
    if wanted is not None:
        label = table.header[position_of(table.header, wanted, path)]
        data = _single_label(entry, table.values, table.text[label], table.columns)
        data = dataclasses.replace(data, **roles_of(entry, table, [label]))
    elif "table" in entry.labels:
        data = _split_labels(entry, *_with_label_table(entry, table))
    else:
        data = _split_labels(entry, table, _label_columns(entry, table.header, paths, table.ignored))
    codings = {name: spelled for name, spelled in table.mixed_codings.items() if name in data.feature_names}
    return dataclasses.replace(data, decimal_mark=table.decimal_mark, mixed_codings=codings)


def _read_arff(entry: Entry, paths: Sequence[Path]) -> Dataset:
    parts = [path for path in paths if path.suffix.lower() != ".xml"]
    tables = [_read_table(entry, path, paths, "arff") for path in parts]
    for path, table in zip(parts, tables, strict=True):
        if (table.header, *table.text) != (tables[0].header, *tables[0].text):
            raise DataError(f"{path}: its columns differ from those of {parts[0].name}. Give all files the same ones.")
    stack = sparse.vstack if sparse.issparse(tables[0].values) else np.vstack
    values = stack([table.values for table in tables])
    text = {name: np.concatenate([table.text[name] for table in tables]) for name in tables[0].text}
    weights = None
    if any(table.weights is not None for table in tables):
        weights = np.hstack(
            [np.ones(table.values.shape[0]) if table.weights is None else table.weights for table in tables]
        )
    table = dataclasses.replace(tables[0], values=values, text=text, weights=weights)
    entry = dataclasses.replace(entry, categorical=entry.categorical or "one-hot")  # Declared values need no choice.
    return _split_labels(entry, table, _label_columns(entry, table.header, paths, table.ignored))


def _read_svmlight(entry: Entry, paths: Sequence[Path]) -> Dataset:
    path = _only(entry, paths)
    is_located = entry.labels.keys() <= {"prefix", "names", "columns"}
    if entry.task != "multilabel" or entry.roles or entry.ignore or not is_located:
        raise ConfigError(
            f"dataset {entry.id}: {path} is an svmlight file. Locate its labels with labels.prefix (such as "
            f"{svmlight.LABEL}) or labels.columns, and leave out id, groups, folds, weights, dates and ignore. "
            "Otherwise write the data as CSV."
        )
    table = svmlight.read_svmlight(path)
    labels = _label_columns(entry, table.header, paths, table.ignored)
    kept = [j for j, name in enumerate(table.columns) if name in labels or not name.startswith(svmlight.LABEL)]
    columns = tuple(table.columns[j] for j in kept)
    return _split_labels(entry, Table(columns, table.values[:, kept], table.source), labels)


def _read_npz(entry: Entry, paths: Sequence[Path]) -> Dataset:
    path = _only(entry, paths)
    Y = formats.read_npz(path)
    table = Table(tuple(f"label_{j}" for j in range(Y.shape[1])), Y, path.name)
    return _split_labels(entry, table, _label_columns(entry, table.header, paths, table.ignored))


def _read_mat(entry: Entry, paths: Sequence[Path]) -> Dataset:
    path = _only(entry, paths)
    variables = entry.labels["per_class"]
    matrices = formats.read_mat(path, variables)
    X = np.vstack([matrices[name] for name in variables])
    classes = np.repeat(variables, [len(matrices[name]) for name in variables])
    return _single_label(entry, X, classes, [f"feature_{j}" for j in range(X.shape[1])])


def _read_rdata(entry: Entry, paths: Sequence[Path]) -> Dataset:
    table, classes = formats.read_rdata(_only(entry, paths), ("x", entry.labels["object"]))
    return _single_label(entry, table.values, classes, table.columns)


def _read_expression(entry: Entry, paths: Sequence[Path]) -> Dataset:
    """Read a series matrix, or a MAGE-TAB matrix with its sample table."""
    if entry.format == "series-matrix":
        matrix = _only(entry, paths)
        sheet, options = expression.read_series_samples(matrix), {}
    elif "table" in entry.samples:
        sample_table = _beside(entry.samples["table"], paths)
        matrix = _only(entry, [path for path in paths if path != sample_table])
        sheet, options = expression.read_mage_samples(sample_table, matrix), {"quantity": entry.quantity}
    else:
        raise ConfigError(f"dataset {entry.id}: format mage-tab needs a sample table. Name it as samples.table.")
    classes = _sample_classes(entry, sheet)
    read = expression.read_mage_table if options else expression.read_series_table
    table = read(matrix, tuple(classes), drop_missing=entry.missing_values == "drop-features", **options)
    return _single_label(entry, table.values, np.array(list(classes.values())), table.columns)


def _sample_classes(entry: Entry, sheet: expression.SampleSheet) -> dict[str, str]:
    """Return the class of each sample that the entry selects."""
    endpoint, draw = entry.labels.get("characteristic"), entry.labels.get("drawn")
    chosen = sheet.only(entry.samples.get("only", {}))
    if draw is not None:
        return chosen.drawn(draw["classes"], draw["name"])
    if endpoint is None:
        raise ConfigError(f"dataset {entry.id}: a {entry.format} file takes its classes from labels.characteristic.")
    drop_missing = endpoint.get("missing") == "drop"
    classes = chosen.classes(endpoint["key"], endpoint["classes"], drop_missing=drop_missing)
    if "cutoff" in endpoint:
        classes = chosen.by_cutoff(classes, **endpoint["cutoff"], drop_missing=drop_missing)
    return classes


_READERS = {
    "csv": _read_csv,
    "arff": _read_arff,
    "svmlight": _read_svmlight,
    "npz": _read_npz,
    "mat": _read_mat,
    "rdata": _read_rdata,
    "series-matrix": _read_expression,
    "mage-tab": _read_expression,
}


def _only(entry: Entry, paths: Sequence[Path]) -> Path:
    if len(paths) != 1:
        raise ConfigError(f"dataset {entry.id}: format {entry.format!r} takes one data file, found {len(paths)}.")
    return paths[0]


def _with_label_table(entry: Entry, table: Table) -> tuple[Table, list[str]]:
    """Join the table with the entry's table of labels by ids, and return it with the names of the label columns."""
    if entry.id_column is None:
        raise ConfigError(f"dataset {entry.id}: labels.table matches rows by id. Name the column of ids as id.")
    path, id_column = Path(entry.labels["table"]), entry.id_column
    labels_of = functools.partial(filter, composed(id_column).__ne__)
    labels = read(path, kind="csv", text=[id_column], labels=labels_of, categorical=False)
    _check_binary(labels.values, labels.columns, labels.source)  # Row numbers are still those of the file.
    ids, label_ids = (np.array(list(map(composed, identifiers(id_column, each)))) for each in (table, labels))
    for one, other, known, wanted in ((labels, table, label_ids, ids), (table, labels, ids, label_ids)):
        missing = wanted[~np.isin(wanted, known)]
        if missing.size:
            raise DataError(
                f"{one.source} lacks {missing.size} of the {wanted.size} ids of {other.source} "
                f"({shortened(list(map(str, missing)), 5)}). Both need the same ids. Add or remove rows."
            )
    check_unique([*table.header, *labels.columns], f"{table.source} and {labels.source}")
    values = np.hstack([table.values, labels.values[pd.Index(label_ids).get_indexer(ids)]])
    header, columns = (*table.header, *labels.columns), (*table.columns, *labels.columns)
    return dataclasses.replace(table, columns=columns, values=values, header=header), list(labels.columns)


def _split_labels(entry: Entry, table: Table, labels: Sequence[str]) -> Dataset:
    """Separate label columns from feature columns, and check that labels are 0, 1 or missing (unmeasured)."""
    columns = labels
    labels = [each for name in columns for each in table.label_lists.get(name, (name,))]
    left_out = roles_of(entry, table, {*columns, *labels})
    is_label = np.isin(table.columns, labels)
    names, features = (list(itertools.compress(table.columns, mask)) for mask in (is_label, ~is_label))
    X, Y = (table.values[:, np.flatnonzero(mask)] for mask in (~is_label, is_label))
    if entry.presence:
        Y = _presence(Y, names, table.source)
    _check_binary(Y, names, table.source)
    if not sparse.issparse(Y) and np.isnan(Y).any() and (Y == 1).any() and not (Y == 0).any():
        raise DataError(
            f"{table.source}: all labels contain only 1 and empty cells, and an empty cell is unmeasured, not "
            "negative. Write 0 for the negatives."
        )
    # Dates that decide folds, and coordinates, are features, too, if a role is declared for them.
    if places := [place for place, name in enumerate(entry.coordinates) if name in entry.features]:
        X = append_columns(X, left_out["coordinates"][:, places])
        features = [*features, *(entry.coordinates[place] for place in places)]
    taken = {name for role, name in entry.roles.items() if role != "dates" or name not in entry.features}
    categorical = [name for name in table.text if name not in taken]
    if entry.categorical and categorical:
        categories = Categories.of(entry.categorical, {name: table.text[name] for name in categorical}, table.source)
        X = append_columns(X, categories.encode(table.text, table.source))
        _check_distinct(features, categories, table.source)
        features, left_out = [*features, *categories.features], {**left_out, "categories": categories}
    elif categorical:
        text = {name: table.text[name] for name in categorical}
        known = {name: role for name, role in entry.features.items() if name in text}
        typed = TypedColumns.find(text, source=table.source, declared=known, day_first=entry.day_first)
        X = append_columns(X, typed.positions(text))
        features, left_out = [*features, *typed.names], {**left_out, "typed": typed}
        kinds = {kind: tuple(each.column for each in typed.without_use if each.role == kind) for kind in LEFT_OUT}
        left_out["left_out"] = {**left_out["left_out"], **{kind: names for kind, names in kinds.items() if names}}
    roles = left_out["typed"].roles if "typed" in left_out else ()
    if entry.day_first and not entry.dates and all(each.role != "date" for each in roles):
        raise DataError(f"{table.source}: no column contains dates. Leave out day_first, or declare dates (features).")
    return dataclasses.replace(_dataset(entry, X, Y, features, names), hierarchy=table.hierarchy, **left_out)


def _check_distinct(features: Sequence[str], categories: Categories, source: str) -> None:
    """Raise if the encoding of text columns gives two features the same name."""
    origins = {name: f"column {name!r}" for name in features}
    for column, values in categories.values.items():
        one = Categories(categories.encoding, {column: values})
        for name, value in zip(one.features, values, strict=False):
            origin = f"column {column!r} with {value!r}"
            if name in origins:
                raise DataError(
                    f"{source}: {origins[name]} and {origin} would both become the feature {name!r}. Rename one of "
                    "the columns."
                )
            origins[name] = origin


def _label_columns(
    entry: Entry, header: Sequence[str], paths: Sequence[Path], ignored: Sequence[str] = ()
) -> list[str]:
    """Return the names of the label columns among all columns of the file."""
    ((way, value),) = entry.labels.items()
    source = paths[0].name
    match way:
        case "names":
            found = label_columns(value, header, source)
        case "prefix":
            found = [column for column in header if column.startswith(value)]
            if value in found and len(found) > 1:
                found = label_columns([value], header, source)
        case "everything":
            found = [column for column in header if column not in {*ignored, *entry.roles.values()}]
        case "last":
            if value >= len(header):
                raise DataError(f"{source}: labels.last is {value}, but there are {len(header)} columns. Lower it.")
            found = list(header[-value:])
        case "columns" | "xml":
            found = value if way == "columns" else formats.read_label_names(_beside(value, paths))
            known = set(header)
            if missing := [name for name in found if name not in known]:
                raise DataError(f"{source}: no column for label {missing[0]!r} ({len(missing)} not found).")
        case _:
            fault = f"a {entry.format} file with the task {entry.task} does not support labels.{way}"
            raise ConfigError(f"dataset {entry.id}: {fault}. Locate the labels in another way.")
    if not found:
        raise DataError(f"{source}: no column name starts with {value!r}. Correct labels.{way} of {entry.id}.")
    return found


def _beside(name: str, paths: Sequence[Path]) -> Path:
    """Return the path of a second file: a fetched file for a catalog entry, or the path given by the user."""
    return next((path for path in paths if path.name == name), Path(name))


def _presence(Y: Matrix, names: Sequence[str], source: str) -> Matrix:
    """Return 1 for numbers above 0. Missing numbers stay missing."""
    if wrong := first_cell(Y, lambda cells: cells < 0):
        row, column = wrong
        found = f'data row {row + 1}, column "{names[column]}": found {Y[row, column]:g}'
        raise DataError(f"{source}, {found}, but numbers of presence are at least 0. Correct it or leave it empty.")
    if sparse.issparse(Y):
        return (Y > 0).astype(np.float64)
    return np.where(np.isnan(Y), np.nan, Y > 0)


def _check_binary(Y: Matrix, names: Sequence[str], source: str) -> None:
    if wrong := first_cell(Y, lambda cells: ~(np.isin(cells, (0, 1)) | np.isnan(cells))):
        row, column = wrong
        raise label_error(source, row + 1, str(names[column]), f"{Y[row, column]:g}")


def _single_label(entry: Entry, X: Matrix, classes: np.ndarray, feature_names: Sequence[str]) -> Dataset:
    """Make the dataset of a multiclass or binary task from the class name of each sample."""
    if entry.task == "multilabel":
        raise ConfigError(f"dataset {entry.id}: its labels are one class per sample. Set task to multiclass or binary.")
    names, codes = np.unique(classes, return_inverse=True)
    order = natural_order(names)
    return _dataset(entry, X, np.argsort(order)[codes], feature_names, names[order])


def _dataset(entry: Entry, X: Matrix, Y: Matrix, features: Sequence[str], labels: Sequence[str]) -> Dataset:
    Y = Y.astype(np.int64 if entry.task != "multilabel" else np.float32 if has_unmeasured(Y) else np.int8)
    names = tuple(map(str, features)), tuple(map(str, labels))
    X = X.astype(np.float64, copy=False)
    data = Dataset(entry.id, entry.task, X, Y, *names, missing_value=entry.missing_value)
    return dataclasses.replace(data, labels_are=entry.labels_are, missing_rate=entry.missing_rate)


# --- hierarchy, filter and checks -------------------------------------------------------------------------------------


def _with_hierarchy(data: Dataset, entry: Entry) -> Dataset:
    """Add the entry's hierarchy. Labels that violate its true-path rule are completed or refused."""
    if not entry.hierarchy:
        return data
    path, names = entry.hierarchy["hierarchy"], data.label_names
    prefixes = [name.removesuffix("*") for name in entry.labels.get("names", [entry.labels.get("prefix", "")])]
    hierarchy = read_hierarchy(path, names, prefixes=prefixes)
    if (violation := hierarchy.first_violation(data.Y)) is None:
        return dataclasses.replace(data, hierarchy=hierarchy)
    whole = hierarchy.with_ancestors(data.Y)
    n_lacking = int((whole == 1).sum() - (data.Y == 1).sum())
    row, label, above = violation
    found = f"data row {row + 1} has label {names[label]!r}, but not {names[above]!r}, which is above it in {path}"
    if not entry.hierarchy.get("propagate", False):
        raise DataError(
            f"{entry.path}: {found} (implied labels that are missing: {n_lacking:,}). Correct the labels, or set "
            "labels.propagate: true to add them."
        )
    logger.warning("%s: %s. It is added, and so is each implied label (%d in all).", entry.id, found, n_lacking)
    return dataclasses.replace(data, Y=whole, hierarchy=hierarchy)


def _with_label_rows(data: Dataset, entry: Entry) -> Dataset:
    """Restore the order of the labels."""
    if not entry.label_rows:
        return data
    rows, n_samples = rows_of(entry.label_rows), data.shape[0]
    if not np.array_equal(np.sort(rows), np.arange(n_samples)):
        raise DataError(
            f"dataset {entry.id}: label_rows has {len(rows)} rows, {len(np.unique(rows))} of them different, but the "
            f"data have {n_samples}. Name each row once, from 0 to {n_samples - 1}."
        )
    return dataclasses.replace(data, Y=data.Y[rows])


def _with_split(data: Dataset, entry: Entry) -> Dataset:
    """Add the published split, whose training part consists of the first samples. Variants may use it as folds."""
    if not entry.split:
        return data
    n_samples, n_train = data.shape[0], entry.split["n_train"]
    if n_train >= n_samples:
        raise DataError(f"dataset {entry.id}: split.n_train is {n_train}, but there are {n_samples} samples.")
    split = np.where(np.arange(n_samples) < n_train, -1, 0).astype(np.int64)
    return dataclasses.replace(data, published_split=split, fold_of=split if entry.tests_split else data.fold_of)


def _filter_labels(data: Dataset, entry: Entry) -> Dataset:
    """Drop labels with too few positives or negatives.

    With evaluation by time, only the samples up to the first cut-off count.
    """
    Y = data.Y[data.fold_of == BEFORE] if data.is_by_time else data.Y
    # A comparison with 0 would make a sparse matrix dense.
    cells = (Y == 1, unmeasured_cells(Y))
    positives, unmeasured = (np.asarray(each.sum(axis=0, dtype=np.int64)).ravel() for each in cells)
    negatives = Y.shape[0] - positives - unmeasured
    low, high = entry.label_filter.get("min_positives", 0), entry.label_filter.get("min_negatives", 0)
    kept = np.flatnonzero((positives >= low) & (negatives >= high))
    if kept.size == 0:
        raise DataError(
            f"dataset {entry.id}: the label filter (min_positives {low}, min_negatives {high}) leaves no label. The "
            f"most frequent has {positives.max(initial=0)} positives among {Y.shape[0]} samples. Relax label_filter."
        )
    if data.is_by_time and not positives[kept].all():
        unknown = [data.label_names[label] for label in kept if not positives[label]]
        raise DataError(
            f"{entry.path}: {len(unknown)} labels have no positive up to the first cut-off of hold_out "
            f"({shortened(unknown, 5)}), so they cannot be learned. Choose a later date, or leave them out with "
            "label_filter: {min_positives: 1}."
        )
    if kept.size == data.Y.shape[1]:
        return data
    names = np.array(data.label_names)
    left_out = {**data.left_out, "filtered": tuple(map(str, np.delete(names, kept)))}
    hierarchy = None if data.hierarchy is None else data.hierarchy.of(kept)
    of_kept = {"Y": data.Y[:, kept], "label_names": tuple(map(str, names[kept])), "hierarchy": hierarchy}
    return dataclasses.replace(data, **of_kept, left_out=left_out)


def _check_published(data: Dataset, entry: Entry) -> None:
    """Raise :class:`DataError` if the data before the label filter do not have the published numbers."""
    n_samples, n_features, n_labels = data.shape
    if data.categories is not None:  # The published number counts a text column once, not once per value.
        n_features += len(data.categories.values) - len(data.categories.features)
    found: dict[str, float] = {"n_samples": n_samples, "n_features": n_features, "n_labels": n_labels}
    found["label_cardinality"] = round(data.label_cardinality, 2)
    if key := _first_other(found, entry.published):
        raise DataError(
            f"dataset {entry.id}: {key} of the file is {found[key]}, but {entry.published[key]} is published "
            f"({entry.published['source']})."
        )


def _check_expectations(data: Dataset, entry: Entry) -> None:
    found, expected = dict(zip(("n_samples", "n_features", "n_labels"), data.shape, strict=True)), entry.expected
    if key := _first_other(found, expected):
        raise DataError(f"dataset {entry.id}: {key} is {found[key]}, but the catalog expects {expected[key]}.")
    density = expected.get("label_density", data.label_density)
    if abs(data.label_density - density) > 0.0005 + 1e-9:
        raise DataError(f"dataset {entry.id}: label density is {data.label_density:.4f}, expected {density}.")


def _first_other(found: Mapping[str, float], expected: Mapping[str, Any]) -> str | None:
    """Return the first key whose number differs from the expected one."""
    return next((key for key, number in found.items() if number != expected.get(key, number)), None)


def _check_complete(data: Dataset, entry: Entry) -> None:
    """Raise for missing feature values, because the models for one label do not support them."""
    stored = data.X.tocoo() if sparse.issparse(data.X) else None
    wrong = ~np.isfinite(data.X if stored is None else stored.data)
    if not wrong.any():
        return
    columns = np.unique(np.nonzero(wrong)[1] if stored is None else stored.coords[1][wrong])
    source = entry.path or f"dataset {entry.id}"
    names = shortened([data.feature_names[j] for j in columns], 5)
    raise DataError(
        f"{source}: {np.count_nonzero(wrong)} cells of {columns.size} feature columns have no finite value ({names}). "
        "Only tables with several labels may lack values. Fill them in, remove their rows, or leave the columns out "
        "(ignore)."
    )
