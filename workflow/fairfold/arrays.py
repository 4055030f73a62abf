"""Kinds of arrays that all packages take."""

import numpy as np
from scipy import sparse

Matrix = np.ndarray | sparse.csr_array
"""Features or labels, (n_samples, n_columns), dense or sparse by rows."""


def append_columns(X: Matrix, *new: np.ndarray) -> Matrix:
    """The columns and new ones, sparse where the first are."""
    if not new:
        return X
    return sparse.hstack([X, *new], format="csr") if sparse.issparse(X) else np.hstack([X, *new])
