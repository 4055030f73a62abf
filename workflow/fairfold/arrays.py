"""Kinds of arrays that all packages take."""

import numpy as np
from scipy import sparse

Matrix = np.ndarray | sparse.csr_array
"""Features or labels, (n_samples, n_columns), dense or sparse by rows."""


def with_short_indices(X: Matrix) -> Matrix:
    """The same matrix, sparse ones with indices of 32 bits where these suffice: many libraries take no others."""
    if not sparse.issparse(X) or X.format not in ("csr", "csc") or max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        return X
    parts = (X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False))
    return type(X)(parts, shape=X.shape)


def append_columns(X: Matrix, *new: np.ndarray) -> Matrix:
    """The columns and new ones, sparse where the first are."""
    if not new:
        return X
    return sparse.hstack([X, *new], format="csr") if sparse.issparse(X) else np.hstack([X, *new])
