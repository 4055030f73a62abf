"""napkinXC (Jasinska-Obuchowicz et al. 2020) with a scikit-learn interface, for benchmarks or as a user's own model.

Install it with `pip install -r benchmarks/requirements-many-labels.txt`; `config/napkinxc.yaml` adds it to the study of
many labels.
"""

from __future__ import annotations

import shutil
import tempfile
from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfTransformer


class NapkinXC(ClassifierMixin, BaseEstimator):
    """Classifier that predicts probabilities of the most likely labels, with the defaults of napkinXC.

    Parameters
    ----------
    model : {"PLT", "OVR"}
        Probabilistic label trees, or one linear model per label.
    n_predicted : int
        Maximum number of labels per sample with a probability. Other labels get 0.
    random_state : int
        Seed.
    """

    def __init__(self, model: Literal["PLT", "OVR"] = "PLT", n_predicted: int = 10, random_state: int = 0) -> None:
        self.model, self.n_predicted, self.random_state = model, n_predicted, random_state

    def fit(self, X: np.ndarray | sparse.csr_array, Y: np.ndarray | sparse.csr_array) -> NapkinXC:
        """Fit the model to features and 0/1 labels."""
        from napkinxc import models

        X = sparse.csr_array(X)
        counts = X.nnz and (X.data >= 0).all()  # napkinXC weights word counts only when it reads files
        self._weights = TfidfTransformer().fit(X) if counts else None
        self._folder = tempfile.mkdtemp()
        self._fitted = getattr(models, self.model)(self._folder, threads=1, seed=int(self.random_state) % 2**31)
        self._fitted.fit(self._weighted(X), [row.indices.tolist() for row in sparse.csr_array(Y)])
        self.n_labels_ = Y.shape[1]
        return self

    def predict_proba(self, X: np.ndarray | sparse.csr_array) -> sparse.csr_array:
        """Return probabilities of shape (n_samples, n_labels)."""
        found = self._fitted.predict_proba(self._weighted(sparse.csr_array(X)), top_k=self.n_predicted)
        rows = np.repeat(np.arange(len(found)), [len(row) for row in found])
        pairs = np.array([pair for row in found for pair in row]).reshape(-1, 2)
        shape = len(found), self.n_labels_
        return sparse.csr_array((np.clip(pairs[:, 1], 0, 1), (rows, pairs[:, 0].astype(int))), shape=shape)

    def __del__(self) -> None:
        if hasattr(self, "_folder"):
            shutil.rmtree(self._folder, ignore_errors=True)

    def _weighted(self, X: sparse.csr_array) -> sparse.csr_matrix:
        X = X if self._weights is None else self._weights.transform(X).tocsr()
        found = sparse.csr_matrix(X).astype(np.float32)
        found.indices, found.indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)
        return found
