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


def comparable_features(data: Dataset) -> tuple[Matrix, str]:
    """Return features by which samples are compared, and the metric that suits them.

    Parameters
    ----------
    data : Dataset
        The data.

    Returns
    -------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Coordinates if the data have some, or else fingerprints of molecules, or else all features. Columns of text,
        categories and dates are encoded.
    metric : {"haversine", "jaccard", "cosine", "euclidean"}
        Metric of :class:`~fairfold.splitting.SimilarityFolds`: ``"jaccard"`` for features of 0 and 1, and ``"cosine"``
        for other sparse features, such as frequencies of words.

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
    X = data.X if data.features is None else _encoding(data, data.features)(None)
    if np.isin(X.data if sparse.issparse(X) else X, (0, 1)).all():
        return X, "jaccard"
    return X, "cosine" if sparse.issparse(X) else "euclidean"


def comparable_new_rows(data: Dataset, source: str | Path) -> Matrix:
    """Return the features by which the rows of a new table are compared with samples.

    Parameters
    ----------
    data : Dataset
        The data.
    source : str or Path
        File with the columns of the features, and with those of the coordinates if the data have some.

    Returns
    -------
    {ndarray, csr_array} of shape (n_rows, n_features)
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
    encoding = None if data.coordinates is not None or data.features is None else _encoding(data, data.features)
    for table in read_new_rows(known, Path(source), unknown="missing"):
        if data.coordinates is not None:
            parts.append(table.values[:, [known.numeric.index(name) for name in places]])
            continue
        rows = known.with_text(table.values, table.text, table.source, unknown="missing")
        parts.append(with_sparsity(rows, sparse.issparse(data.X)) if encoding is None else encoding(rows))
    return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.vstack(parts)


def _encoding(data: Dataset, features: Mapping[str, Any]) -> Callable[[pd.DataFrame | None], Matrix]:
    """Return a function that encodes new rows, or the samples themselves for None."""
    from fairfold.features.encoder import TableEncoder  # Few datasets need it.

    frame, roles = data.samples.frame(), features["roles"]
    if molecules := [name for name, role in roles.items() if role == "molecule"]:
        encoder, columns = TableEncoder(roles=dict.fromkeys(molecules, "molecule")), molecules
    else:
        is_of_texts = _TEXTS.issuperset(role if isinstance(role, str) else "category" for role in roles.values())
        how: dict[str, Any] = {"text": "sparse" if is_of_texts else "dense", "n_components": _N_COMPONENTS}
        encoder, columns = TableEncoder(**features, **how), list(frame)
    X = encoder.fit_transform(frame[columns])
    is_fingerprint = [": substructure " in name for name in encoder.get_feature_names_out()]

    def encode(rows: pd.DataFrame | None) -> Matrix:
        found = X if rows is None else encoder.transform(rows[columns])
        return (found[:, is_fingerprint] > 0).astype(float) if molecules else found

    return encode
