"""Features that show how similar samples are, without a look at the labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, with_sparsity
from fairfold.datasets.dataset import PLACE, Dataset
from fairfold.datasets.new_rows import ColumnsOfDataset, read_new_rows

_TEXTS = {"text", "short text"}
_N_COMPONENTS = 20  # of a column of text beside other columns


def comparable_features(data: Dataset) -> tuple[Matrix | pd.DataFrame, str]:
    """Return features by which samples are compared, and the metric that suits them.

    Parameters
    ----------
    data : Dataset
        The data.

    Returns
    -------
    X : {ndarray, csr_array, DataFrame} of shape (n_samples, n_features)
        Coordinates if the data have some, or else fingerprints of molecules, or else all features. Columns of text and
        dates are encoded. Categories are columns of a data frame, or encoded if there are texts.
    metric : {"haversine", "jaccard", "cosine", "gower", "euclidean"}
        Metric of :class:`~fairfold.splitting.SimilarityFolds`: ``"jaccard"`` for features of 0 and 1, ``"cosine"`` for
        other sparse features, such as frequencies of words, and ``"gower"`` for a data frame.

    Raises
    ------
    DataError
        If no column gives a feature.

    Examples
    --------
    >>> X, Y = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[1], [0]])
    >>> comparable_features(Dataset("bits", "multilabel", X, Y, ("first", "second"), ("shade",)))[1]
    'jaccard'
    """
    if data.coordinates is not None:
        return data.coordinates, "haversine"
    X = data.X if (encoding := _encoding(data)) is None else encoding(None)
    if isinstance(X, pd.DataFrame):
        return X, "gower"
    if np.isin(X.data if sparse.issparse(X) else X, (0, 1)).all():
        return X, "jaccard"
    return X, "cosine" if sparse.issparse(X) else "euclidean"


def comparable_new_rows(data: Dataset, source: str | Path) -> Matrix | pd.DataFrame:
    """Return the features by which the rows of a new table are compared with samples.

    Parameters
    ----------
    data : Dataset
        The data.
    source : str or Path
        File with the columns of the features, and with those of the coordinates if the data have some.

    Returns
    -------
    {ndarray, csr_array, DataFrame} of shape (n_rows, n_features)
        Features as of :func:`comparable_features`. Categories that the data lack count as missing.

    Raises
    ------
    DataError
        If the file is not a table, lacks a column, or contains a cell that does not fit its column.
    """
    known = ColumnsOfDataset.of(data)
    places = [name for kind in PLACE for name in data.left_out.get(kind, ())]
    added = tuple(name for name in places if name not in known.numeric)
    known = replace(known, features=(*added, *known.features))
    parts = []
    encoding = None if data.coordinates is not None else _encoding(data)
    for table in read_new_rows(known, Path(source), unknown="missing"):
        if data.coordinates is not None:
            parts.append(table.values[:, [known.numeric.index(name) for name in places]])
            continue
        rows = known.with_text(table.values, table.text, table.source, unknown="missing")
        parts.append(with_sparsity(rows, sparse.issparse(data.X)) if encoding is None else encoding(rows))
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.vstack(parts)


def _encoding(data: Dataset) -> Callable[[Any], Matrix | pd.DataFrame] | None:
    """Return a function that encodes new rows, or the samples themselves for None. Arrays need no encoding."""
    if data.features is not None:
        return _encoding_of_typed(data, data.features)
    categories = data.categories
    if categories is None or categories.encoding == "ordinal" or sparse.issparse(data.X):
        return None
    n_numbers = len(data.feature_names) - len(categories.features)

    def encode(rows: np.ndarray | None) -> pd.DataFrame:
        X = np.asarray(data.X if rows is None else rows)
        numbers = pd.DataFrame(X[:, :n_numbers], columns=list(data.feature_names[:n_numbers]))
        return numbers.assign(**categories.decode(X[:, n_numbers:]))

    return encode


def _encoding_of_typed(data: Dataset, features: Mapping[str, Any]) -> Callable[[Any], Matrix | pd.DataFrame]:
    from fairfold.features.encoder import TableEncoder  # Few datasets need it.

    frame, roles = data.samples.frame(), features["roles"]
    kept: list[str] = []  # categories that are not encoded
    if molecules := [name for name, role in roles.items() if role == "molecule"]:
        encoder, columns = TableEncoder(roles=dict.fromkeys(molecules, "molecule")), molecules
    else:
        named = {role if isinstance(role, str) else "ordered" for role in roles.values()}
        how: dict[str, Any] = {"text": "sparse" if named <= _TEXTS else "dense", "n_components": _N_COMPONENTS}
        kept = [name for name, role in roles.items() if role == "category"] if not named & _TEXTS else []
        columns = [name for name in frame if name not in kept]
        encoder = TableEncoder(**{**features, "roles": {name: roles[name] for name in columns}}, **how)
    X = encoder.fit_transform(frame[columns]) if columns else np.empty((len(frame), 0))
    names = [*encoder.get_feature_names_out()] if columns else []
    is_fingerprint = [": substructure " in name for name in names]

    def encode(rows: pd.DataFrame | None) -> Matrix | pd.DataFrame:
        found = X if rows is None else encoder.transform(rows[columns]) if columns else np.empty((len(rows), 0))
        if kept:
            categories = (frame if rows is None else rows)[kept].reset_index(drop=True)
            return pd.concat([pd.DataFrame(found, columns=names), categories], axis=1)
        return (found[:, is_fingerprint] > 0).astype(float) if molecules else found

    return encode
