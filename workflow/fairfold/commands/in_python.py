"""``fairfold.study``: a study of arrays or data frames from Python."""

from __future__ import annotations

import argparse
import contextlib
import glob
import io
import itertools
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_complex_dtype, is_numeric_dtype, is_timedelta64_dtype
from scipy import sparse

from fairfold.answer import Answer
from fairfold.console.running import LOG_OF
from fairfold.core.arrays import GAPS
from fairfold.core.files import atomic_open
from fairfold.errors import DataError, StudyError
from fairfold.features.cells import NUMBER, as_texts

_NAME, _NEW = "table", "new"
_GROUPS, _WEIGHTS = "group of each sample", "weight of each sample"
_COORDINATE = "coordinate of each sample"


def study(
    X: pd.DataFrame | ArrayLike,
    Y: pd.DataFrame | ArrayLike,
    *,
    models: Sequence[str] = (),
    scoring: str | None = None,
    labels_are: Literal["complete", "unknown", "incomplete"] = "unknown",
    missing_rates: Sequence[int] = (),
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_splits: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    hold_out: float | None = None,
    elsewhere: bool = False,
    predict_on: pd.DataFrame | ArrayLike | tuple[pd.DataFrame | ArrayLike, ArrayLike] | None = None,
    coordinates: ArrayLike | None = None,
    directory: str | os.PathLike[str] | None = None,
) -> Answer:
    """Compare models on a dataset, as ``fairfold study`` does, and return the answer.

    Parameters
    ----------
    X : {DataFrame, array-like} of shape (n_samples, n_features)
        Features. A data frame may contain text, categories, dates and durations. Text of digits, such as ``"007"``, is
        a category, and ordered categories keep their order. Missing values are NaN, None and ``""``.
    Y : {DataFrame, array-like} of shape (n_samples, n_labels)
        Labels, 0 or 1; NaN where unmeasured.
    models : sequence of str, default=()
        Names of models, from :data:`fairfold.models.MODEL_NAMES`. Empty chooses those of the command.
    scoring : str or None, default=None
        Name of the metric that ranks models. None is micro average precision.
    labels_are : {"complete", "unknown", "incomplete"}, default="unknown"
        State of the labels: every 0 was checked, it is not known, or some zeros are missing positives.
    missing_rates : sequence of int, default=()
        Percentages of positives to hide in trials, such as ``[0, 50]``. Empty chooses those of the command.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, which folds keep together.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights above 0.
    n_splits : int or None, default=None
        Number of folds. None is 5, or 3 for large tables.
    random_state : int or None, default=None
        Seed. None is 1.
    n_jobs : int or None, default=None
        Number of cores. None and -1 use all.
    hold_out : float or None, default=None
        Share of samples, such as 0.2, that are set aside before the study and certify the final model. Needs
        `directory`.
    elsewhere : bool, default=False
        Whether to score the best models on samples unlike the training samples, too, in folds of whole clusters.
    predict_on : {DataFrame, array-like} of shape (n_new, n_features), pair or None, default=None
        New samples with the columns of `X`. The best models are also scored on samples as far from the training samples
        as these. Implies `elsewhere`. With `coordinates`, a pair of the new samples and their coordinates.
    coordinates : array-like of shape (n_samples, 2), default=None
        Latitude and longitude of each sample in degrees, by which these clusters are made.
    directory : str or path-like, default=None
        Folder of the study, with its report and final model. A later call continues an interrupted study. None uses a
        temporary folder, and no final model is fitted.

    Returns
    -------
    Answer
        The answer. ``print(answer)`` and notebooks show the leaderboard and what is uncertain.

    Raises
    ------
    DataError
        If the arrays do not fit together, or the data cannot be studied.
    ConfigError
        If an option is not known, or the folder contains another study.
    StudyError
        If a step fails.

    Examples
    --------
    >>> import fairfold
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=3, random_state=0)
    >>> answer = fairfold.study(X, Y, models=["logistic", "kNN"], missing_rates=[0])  # doctest: +SKIP
    >>> answer.model  # doctest: +SKIP
    'logistic'
    """
    from fairfold.answer.answer import ANSWER, load
    from fairfold.commands import study as command

    if hold_out is not None and directory is None:
        raise DataError("study: hold_out certifies the final model, which needs a folder. Give directory, too.")
    if n_jobs is not None and n_jobs != -1 and n_jobs < 1:
        raise DataError(f"study: n_jobs is {n_jobs}. Give a number of cores, or -1 for all.")
    new = None if predict_on is None else _new_table(predict_on, has_coordinates=coordinates is not None)
    table, columns = _table(X, Y, groups, sample_weight, coordinates)
    parser = argparse.ArgumentParser()
    command.add_to(parser.add_subparsers())
    with contextlib.ExitStack() as stack:
        keeps = directory is not None
        folder = Path(directory or stack.enter_context(tempfile.TemporaryDirectory(prefix="fairfold-"))).absolute()
        path = folder / f"{_NAME}.parquet"
        _write(table, path)
        if new is not None:
            _write(new, new_path := folder / f"{_NEW}.parquet")
            columns["predict_on"] = str(new_path)
        options = parser.parse_args(["study", str(path), f"--directory={folder}"])
        chosen: dict[str, Any] = {"score": scoring, "folds": n_splits, "seed": random_state, "labels_are": labels_are}
        chosen |= {
            "hold_out": hold_out,
            "elsewhere": elsewhere or None,
            "models": [*models],
            "missing_rates": [*missing_rates],
            "final": keeps,
            **columns,
        }
        vars(options).update(chosen, cores="all" if n_jobs in (None, -1) else str(n_jobs))
        options.snakemake = [] if keeps else [f"results/{ANSWER}"]
        os.environ["PYTHONSAFEPATH"] = "1"  # Child processes import nothing from the current folder.
        if not keeps:
            stack.enter_context(_errors_without_logs())
        with contextlib.redirect_stdout(io.StringIO()):  # The answer is returned.
            options.run(options)
        return load(folder / "results" / ANSWER)[_NAME]


@contextlib.contextmanager
def _errors_without_logs() -> Iterator[None]:
    """Leave out the logs of a temporary folder in errors."""
    try:
        yield
    except StudyError as error:
        lines = [line for line in str(error).splitlines() if not line.startswith(LOG_OF)]
        if len(lines) < len(str(error).splitlines()):
            error.args = ("\n".join([*lines[:-1], "Give directory to keep the logs, and to continue the study."]),)
        raise


def _table(
    X: Any, Y: Any, groups: ArrayLike | None, sample_weight: ArrayLike | None, coordinates: ArrayLike | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Join all columns, and return them with the options that name labels, groups, weights and coordinates."""
    features, labels = _frame(X, "X", "x"), _frame(Y, "Y", "label_")
    _check_order({"X": X, "Y": Y, "groups": groups, "sample_weight": sample_weight, "coordinates": coordinates})
    further = {"groups": (_GROUPS, groups), "sample_weight": (_WEIGHTS, sample_weight)}
    of_samples = {
        key: (name, _frame(values, key, key)) for key, (name, values) in further.items() if values is not None
    }
    if wide := [key for key, (_, frame) in of_samples.items() if frame.shape[1] != 1]:
        raise DataError(f"study: {wide[0]} has {of_samples[wide[0]][1].shape[1]} columns. Give one value per sample.")
    parts = [features, labels, *(frame.set_axis([name], axis=1) for name, frame in of_samples.values())]
    if coordinates is not None:
        parts.append(_places(coordinates))
    if len(lengths := {len(part) for part in parts}) > 1:
        raise DataError(f"study: expected the same number of rows in all arrays, found {sorted(lengths)}.")
    table = pd.concat([part.reset_index(drop=True) for part in parts], axis=1)
    if table.columns.has_duplicates:
        twice = table.columns[table.columns.duplicated()][0]
        raise DataError(f"study: two columns of X and Y have the name {twice!r}. Rename one of them.")
    ordered = dict(_ordered_columns(features))
    codes = [name for name in _columns_of_codes(features) if name not in ordered]
    columns: dict[str, Any] = {"categorical": codes, "ordered": ordered}
    columns["labels"] = [_only_column(name, [*table]) for name in labels]
    if len(names := [*labels]) == 1 and not names[0][-1:].isalnum():
        raise DataError(f"study: the label {names[0]!r} must end with a letter or a digit. Rename it.")
    columns |= {} if coordinates is None else {"coordinates": [*parts[-1]]}
    columns |= {key: name for key, name in (("groups", _GROUPS), ("weights", _WEIGHTS)) if name in table}
    return table, columns


def _places(coordinates: ArrayLike) -> pd.DataFrame:
    found = _frame(np.asarray(coordinates), "coordinates", f"{_COORDINATE} ")
    if found.shape[1] != 2:
        raise DataError(f"study: coordinates have {found.shape[1]} columns. Give latitude and longitude.")
    return found


def _new_table(predict_on: Any, *, has_coordinates: bool) -> pd.DataFrame:
    """Return new samples, with their coordinates if the samples of the study have some."""
    if not has_coordinates:
        return _frame(predict_on, "predict_on", "x")
    if not (isinstance(predict_on, tuple) and len(predict_on) == 2):
        raise DataError(
            "study: the new samples have no coordinates, but the others do. Give predict_on=(X_new, coordinates_new), "
            "or leave out coordinates."
        )
    features, places = _frame(predict_on[0], "predict_on", "x"), _places(predict_on[1])
    if len(features) != len(places):
        raise DataError(f"study: predict_on has {len(features)} samples and {len(places)} coordinates. Give one each.")
    return pd.concat([features.reset_index(drop=True), places], axis=1)


def _check_order(arrays: dict[str, Any]) -> None:
    """Refuse data frames and series whose indexes contain the same names in another order."""
    indexes = {name: each.index for name, each in arrays.items() if isinstance(each, pd.DataFrame | pd.Series)}
    for (one, first), (other, index) in itertools.combinations(indexes.items(), 2):
        if not index.equals(first) and len(index) == len(first) and index.sort_values().equals(first.sort_values()):
            raise DataError(
                f"study: the index of {other} has the rows of {one} in another order. Sort it, as by "
                f"{other}.loc[{one}.index], or drop both indexes by .reset_index(drop=True)."
            )


def _only_column(name: str, columns: list[str]) -> str:
    """Return a text that selects this column as a label, also if it reads like a prefix of other columns."""
    is_prefix = not name[-1:].isalnum() and any(other.startswith(name) for other in columns if other != name)
    return f"{glob.escape(name[:-1])}[{name[-1:]}]" if is_prefix else name


def _frame(values: Any, name: str, stem: str) -> pd.DataFrame:
    """Convert an array to a data frame, whose columns are named after their positions."""
    if sparse.issparse(values):
        raise DataError(f"study: {name} is sparse. Convert it by .toarray(), or use `fairfold study` with a file.")
    if not isinstance(values, pd.DataFrame):
        values = np.asarray(values)
        if values.ndim == 1:
            return pd.DataFrame({name if stem == name else f"{stem}0": values})
        if values.ndim != 2:
            raise DataError(f"study: {name} has {values.ndim} dimensions. Give one row per sample, and columns.")
        values = pd.DataFrame(values, columns=[f"{stem}{number}" for number in range(values.shape[1])]).infer_objects()
    if isinstance(values.columns, pd.MultiIndex):
        raise DataError(
            f"study: the columns of {name} have {values.columns.nlevels} levels. Join their names, as by "
            f"{name}.columns = ['_'.join(map(str, each)) for each in {name}.columns]."
        )
    return values.set_axis(values.columns.astype(str), axis=1)


def _columns_of_codes(features: pd.DataFrame) -> Iterator[str]:
    """Yield the columns of text and of categories in which a reader of files would find numbers."""
    for name in features:
        cells = features[name].dropna()
        if isinstance(cells.dtype, pd.CategoricalDtype):
            cells = pd.Series(as_texts(cells))
        if len(cells) and all(
            isinstance(cell, str) and (NUMBER.fullmatch(cell) or cell.strip().casefold() in GAPS) for cell in cells
        ):
            yield name


def _ordered_columns(features: pd.DataFrame) -> Iterator[tuple[str, list[str]]]:
    """Yield the columns of ordered categories with the order of their values."""
    for name, dtype in features.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
            yield str(name), as_texts(pd.Series(dtype.categories, name=name)).tolist()


def _write(table: pd.DataFrame, path: Path) -> None:
    """Write the table unless the file contains it, because a newer file would repeat the study.

    A Parquet file distinguishes missing cells from texts such as ``"NA"``.
    """
    written = io.BytesIO()
    pd.DataFrame({name: _stored(column) for name, column in table.items()}).to_parquet(written, index=False)
    if not path.is_file() or path.read_bytes() != written.getvalue():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_open(path) as stream:
            stream.write(written.getvalue())


def _stored(column: pd.Series) -> pd.Series:
    """Return numbers, truth values as numbers, durations in days, and all other cells as text."""
    if is_timedelta64_dtype(column.dtype):
        return column / pd.Timedelta(days=1)
    if not is_numeric_dtype(column.dtype):
        return pd.Series([text or None for text in as_texts(column)], dtype="str")
    if is_complex_dtype(column.dtype):
        raise DataError(f"study: column {column.name!r} contains complex numbers. Split them into two columns.")
    column = column.sparse.to_dense() if isinstance(column.dtype, pd.SparseDtype) else column
    return column.astype(int) if column.dtype == bool else column
