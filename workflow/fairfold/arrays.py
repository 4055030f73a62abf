"""Kinds of arrays that all packages take."""

import numpy as np
from scipy import sparse

Matrix = np.ndarray | sparse.csr_array
"""Features or labels, (n_samples, n_columns), dense or sparse by rows."""
