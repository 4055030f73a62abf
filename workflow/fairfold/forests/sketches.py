"""Random sketches of many labels that approximately preserve the scores of splits.

The score of a split is the squared distance between the mean labels of its two sides. Columns of random signs preserve
squared distances in expectation (Johnson & Lindenstrauss 1984; with signs, Achlioptas 2003). They therefore also
preserve the scores of splits of multi-output trees (Joly, Geurts & Wehenkel 2014, Theorem 1). SketchBoost (Iosipoi &
Vakhrushev 2022) calls this random projection. With k columns, the relative error of a squared distance is about
sqrt(2 / k) for any number of labels. Sums of signs are integers that single precision represents exactly, so scores
stay exact.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

MOST_EXACT = 128
"""With more labels, forests grow on sketches and predict probabilities as CSR arrays."""
N_SKETCHED = 32  # Number of columns for the search of splits, see benchmarks/many_labels.py.
N_NEW = 64  # Number of columns of probabilities passed to the next level.


def sketch(Y: sparse.csr_array, n_columns: int, seed: int) -> np.ndarray:
    """Compute sums of random signs over the labels of each sample.

    Parameters
    ----------
    Y : csr_array of shape (n_samples, n_labels)
        Labels of 0/1.
    n_columns : int
        Number of columns of the sketch. If it is at least ``n_labels``, the labels themselves are returned.
    seed : int
        Seed of the signs.

    Returns
    -------
    ndarray of float32 of shape (n_samples, min(n_columns, n_labels))
        Sketch of the labels.

    Examples
    --------
    >>> from scipy import sparse
    >>> from fairfold.forests.sketches import sketch
    >>> Y = sparse.csr_array([[1, 0, 1, 0], [0, 1, 0, 0]])
    >>> sketch(Y, 2, seed=0)
    array([[0., 2.],
           [1., 1.]], dtype=float32)
    >>> sketch(Y, 4, seed=0)
    array([[1., 0., 1., 0.],
           [0., 1., 0., 0.]], dtype=float32)
    """
    if n_columns >= Y.shape[1]:
        return Y.toarray().astype(np.float32)
    return Y.astype(np.float32) @ random_signs(Y.shape[1], n_columns, seed)


def random_signs(n_labels: int, n_columns: int, seed: int) -> np.ndarray:
    """Draw a matrix of random signs, 1 and -1 with equal probability.

    Parameters
    ----------
    n_labels : int
        Number of rows.
    n_columns : int
        Number of columns.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    ndarray of float32 of shape (n_labels, n_columns)
        Signs.
    """
    bits = np.random.default_rng(seed).integers(0, 2, (n_labels, n_columns), dtype=np.int8)
    return (2 * bits - 1).astype(np.float32)
