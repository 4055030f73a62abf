"""Features that show how similar samples are, without a look at the labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.datasets.dataset import Dataset

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
    X = data.X if data.features is None else _encoded(data, data.features)
    if np.isin(X.data if sparse.issparse(X) else X, (0, 1)).all():
        return X, "jaccard"
    return X, "cosine" if sparse.issparse(X) else "euclidean"


def _encoded(data: Dataset, features: Mapping[str, Any]) -> Matrix:
    from fairfold.features.encoder import TableEncoder  # Few datasets need it.

    frame, roles = data.samples.frame(), features["roles"]
    if molecules := [name for name, role in roles.items() if role == "molecule"]:
        encoder = TableEncoder(roles=dict.fromkeys(molecules, "molecule"))
        X = encoder.fit_transform(frame[molecules])
        is_fingerprint = [": substructure " in name for name in encoder.get_feature_names_out()]
        return (X[:, is_fingerprint] > 0).astype(float)
    is_of_texts = _TEXTS.issuperset(role if isinstance(role, str) else "category" for role in roles.values())
    encoder = TableEncoder(**features, text="sparse" if is_of_texts else "dense", n_components=_N_COMPONENTS)
    return encoder.fit_transform(frame)
