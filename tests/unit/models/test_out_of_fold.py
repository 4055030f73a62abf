"""Test probabilities of training samples from models that did not see them."""

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from fairfold.models.out_of_fold import fit_out_of_fold
from fairfold.models.sparse_labels import SparseLabels
from fairfold.splitting import IterativeStratification

RNG = np.random.default_rng(5)
X = RNG.random((60, 4))
Y = (RNG.random((60, 140)) < 0.15).astype(np.int8)


class OfSparse(KNeighborsClassifier):
    """Nearest-neighbor classifier with sparse labels and probabilities."""

    def fit(self, X, Y):
        return super().fit(X, Y.toarray())

    def predict_proba(self, X):
        shares = [P @ (classes == 1) for P, classes in zip(super().predict_proba(X), self.classes_, strict=True)]
        return sparse.csr_array(np.column_stack(shares))


def test_each_is_by_one_that_was_fitted_to_the_other_folds():
    dense = KNeighborsClassifier(7)
    fold_of = IterativeStratification(4, random_state=2).assign(Y)
    by_hand = np.empty(Y.shape)
    for fold in range(4):
        fitted = dense.fit(X[fold_of != fold], Y[fold_of != fold])
        parts = zip(fitted.predict_proba(X[fold_of == fold]), fitted.classes_, strict=True)
        by_hand[fold_of == fold] = np.column_stack([P @ (classes == 1) for P, classes in parts])
    _, P = fit_out_of_fold(dense, X, Y, n_splits=4, random_state=2)
    np.testing.assert_array_equal(P, by_hand)
    _, P = fit_out_of_fold(SparseLabels(OfSparse(7)), X, sparse.csr_array(Y), n_splits=4, random_state=2)
    assert sparse.issparse(P)
    np.testing.assert_array_equal(P.toarray(), by_hand)
