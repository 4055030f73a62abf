"""Tables on the data, the folds and the features of a study, for its publication."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import to_dense
from fairfold.core.files import read_arrays
from fairfold.core.folds import parts_of
from fairfold.core.precision import DistinctValues
from fairfold.datasets import Dataset
from fairfold.errors import DataError
from fairfold.final.importance import feature_groups

_COLUMNS_AT_ONCE = 500


def outcomes_of(data: Dataset) -> pd.DataFrame:
    """Count the positives, negatives and unmeasured cells of each label, and missing features by its values.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.

    Returns
    -------
    DataFrame
        Columns ``dataset, label, positives, negatives, unmeasured, missing_if_positive, missing_if_negative``. The last
        two are shares of the feature cells of samples with and without the label.
    """
    _, first = np.unique(_columns_of(data), return_index=True)
    gaps = _missing_cells(data)[:, first].mean(axis=1)
    Y, rows = sparse.csc_array(data.Y) if sparse.issparse(data.Y) else data.Y, []
    for number, label in enumerate(data.label_names):
        y = to_dense(Y[:, [number]], "labels", DataError).ravel()
        shares = [gaps[y == value].mean() if (y == value).any() else np.nan for value in (1, 0)]
        rows.append((data.id, label, (y == 1).sum(), (y == 0).sum(), np.isnan(y).sum(), *shares))
    names = ["dataset", "label", "positives", "negatives", "unmeasured", "missing_if_positive", "missing_if_negative"]
    return pd.DataFrame(rows, columns=names)


def predictors_of(data: Dataset) -> pd.DataFrame:
    """Summarize each feature, which can be one of several that encode a column of the table.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.

    Returns
    -------
    DataFrame
        Columns ``dataset, predictor, column, missing, mean, sd, q25, median, q75``. For text and dates, the last five
        are NaN.
    """
    blocks = [data.X[:, start : start + _COLUMNS_AT_ONCE] for start in range(0, data.shape[1], _COLUMNS_AT_ONCE)]
    dense = (pd.DataFrame(to_dense(block, "features", DataError)) for block in blocks)
    table = pd.concat([pd.DataFrame(columns=["count"]), *(block.describe().T for block in dense)])
    names = {"mean": "mean", "std": "sd", "25%": "q25", "50%": "median", "75%": "q75"}
    table.iloc[len(data.numbers) :, table.columns.get_indexer(list(names))] = np.nan
    about = {
        "dataset": data.id,
        "predictor": [*data.feature_names],
        "column": _columns_of(data),
        "missing": _missing_cells(data).sum(axis=0),
    }
    return pd.DataFrame(about).join(table.reset_index()[[*names]].rename(columns=names))


def _columns_of(data: Dataset) -> list[str]:
    """Return the column of the table that each feature encodes."""
    encoded = {} if data.categories is None else data.categories.values
    column_of = {f"{column}={value or '?'}": column for column, values in encoded.items() for value in values}
    return [column_of.get(name, name) for name in data.feature_names]


def _missing_cells(data: Dataset) -> np.ndarray:
    """Return which features encode a missing cell. Sparse features have none."""
    if sparse.issparse(data.X):
        return np.zeros(data.X.shape, dtype=bool)
    gaps, columns = np.isnan(data.X), np.array(_columns_of(data), dtype=object)
    for column in () if data.categories is None else data.categories.values:
        if (unknown := f"{column}=?") in data.feature_names:
            is_empty = data.X[:, [data.feature_names.index(unknown)]] == 1
            gaps[:, columns == column] |= is_empty
    return gaps


def n_rounded(data: Dataset) -> int:
    """Count the features with distinct values that single precision merges.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.

    Returns
    -------
    int
        Number of features that models shift or scale before they round them.
    """
    return len(DistinctValues().fit(data.X[:, : len(data.numbers)]).columns_)


def folds_of(data: Dataset, path: Path) -> pd.DataFrame:
    """Count the samples and the positives of the training and the test part of each fold.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.
    path : Path
        File with the array ``fold_of``.

    Returns
    -------
    DataFrame
        Columns ``dataset, fold, training_samples, training_positives, test_samples, test_positives``, without labels
        that are hidden on purpose. Empty if the file does not exist.
    """
    parts = parts_of(read_arrays(path)["fold_of"], data.shape[0]) if path.is_file() else []
    positives = np.asarray((data.Y == 1).sum(axis=1)).ravel()
    rows = [
        (data.id, fold, len(train), positives[train].sum(), len(test), positives[test].sum())
        for fold, (train, test) in enumerate(parts)
    ]
    names = ["dataset", "fold", "training_samples", "training_positives", "test_samples", "test_positives"]
    return pd.DataFrame(rows, columns=names)


def groups_of(data: Dataset) -> pd.DataFrame:
    """List the features that were permuted together to measure their importance.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.

    Returns
    -------
    DataFrame
        Columns ``dataset, group, feature``, with the group as ``feature_importance.csv`` names it.
    """
    rows = [(data.id, name, data.feature_names[j]) for name, places in feature_groups(data).items() for j in places]
    return pd.DataFrame(rows, columns=["dataset", "group", "feature"])
