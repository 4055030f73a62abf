"""Probabilities of many labels as a few features of the next level.

A level that saw a thousand probabilities would find the few that tell something only by chance. Labels that go together
say about the same.
"""

from __future__ import annotations

import os

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from fairfold.forests.sketches import random_signs

N_GROUPS = 64


def label_groups(Y: sparse.csr_array, seed: int, n_groups: int = N_GROUPS) -> np.ndarray:
    how = os.environ.get("GROUPS_HOW", "signs")
    if how == "signs":
        return random_signs(Y.shape[1], n_groups, seed)
    counts = np.maximum(np.asarray(Y.sum(axis=0)).ravel(), 1)
    k = min(n_groups, min(Y.shape) - 1)
    if how == "svd":
        return svds(Y.astype(np.float64), k=k, random_state=seed)[2].T.astype(np.float32)
    V = svds(Y.astype(np.float64) @ sparse.diags_array(1 / np.sqrt(counts)), k=k, random_state=seed)[2].T
    if how == "svdn":
        return (V / np.sqrt(counts)[:, None]).astype(np.float32)
    from sklearn.cluster import KMeans

    V = V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-12)
    found = KMeans(n_groups, n_init=1, random_state=seed).fit(V, sample_weight=counts).labels_
    return (found[:, None] == np.arange(n_groups)).astype(np.float32)
