"""Many labels as a few sums of them, in which splits are worth about the same.

A split is worth the squared distance between the mean labels of its two sides. Columns of random signs keep squared
distances in expectation (Johnson & Lindenstrauss 1984; with signs, Achlioptas 2003), and so do what splits of output
trees are worth (Joly, Geurts & Wehenkel 2014, Theorem 1; SketchBoost, Iosipovici & Vakhrushev 2022, calls it random
projection): with k columns a squared distance errs by a share of sqrt(2 / k) of itself, whatever the number of labels.
Sums of signs over a sample's labels are whole numbers, which single precision holds, so that scores stay exact.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

MOST_EXACT = 128
"""Forests of more labels than this grow on sketches, and give probabilities as CSR."""
N_SKETCHED = 32  # columns, on which splits are searched; see benchmarks/many_labels.py
N_NEW = 64  # columns of probabilities that the next level sees


def sketch(Y: sparse.csr_array, n_columns: int, seed: int) -> np.ndarray:
    """(n_samples, n_columns) float32 sums over each sample's labels of their random signs.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1.
    n_columns : of the sketch. As many as there are labels or more: the labels themselves, which is exact.
    seed : of the signs.
    """
    if n_columns >= Y.shape[1]:
        return Y.toarray().astype(np.float32)
    return Y.astype(np.float32) @ random_signs(Y.shape[1], n_columns, seed)


def random_signs(n_labels: int, n_columns: int, seed: int) -> np.ndarray:
    """(n_labels, n_columns) float32 of 1 and -1, each as likely."""
    bits = np.random.default_rng(seed).integers(0, 2, (n_labels, n_columns), dtype=np.int8)
    return (2 * bits - 1).astype(np.float32)
