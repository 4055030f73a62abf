"""Test ML-kNN against a direct implementation of the paper's formulas."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import ModelError
from fairfold.models.ml_knn import MLkNN


def by_the_paper(X, Y, new, k, s):
    """Implement Zhang & Zhou (2007), Figure 1, sample by sample and label by label."""
    n, q = Y.shape

    def neighbors(x, left_out=None):
        distances = [np.inf if i == left_out else np.sqrt(((x - X[i]) ** 2).sum()) for i in range(n)]
        return np.argsort(distances, kind="stable")[:k]

    P = np.empty((len(new), q))
    for label in range(q):
        prior = (s + Y[:, label].sum()) / (2 * s + n)
        c = {1: np.zeros(k + 1), 0: np.zeros(k + 1)}
        for i in range(n):
            delta = Y[neighbors(X[i], i), label].sum()
            c[Y[i, label]][delta] += 1
        for row, x in enumerate(new):
            j = Y[neighbors(x), label].sum()
            with_label = prior * (s + c[1][j]) / (s * (k + 1) + c[1].sum())
            without = (1 - prior) * (s + c[0][j]) / (s * (k + 1) + c[0].sum())
            P[row, label] = with_label / (with_label + without)
    return P


@pytest.mark.parametrize(("k", "s"), [(1, 1.0), (4, 0.5), (10, 1.0)])
def test_probabilities_are_the_papers(k, s):
    rng = np.random.default_rng(k)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(15, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + rng.normal(size=40) > 1, np.zeros(40)]).astype(int)
    model = MLkNN(k, smoothing=s).fit(X, Y)
    expected = by_the_paper(X, Y, new, k, s)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-14)
    np.testing.assert_array_equal(model.predict(new), expected > 0.5)
    of_sparse = MLkNN(k, smoothing=s).fit(sparse.csr_array(X), Y).predict_proba(sparse.csr_array(new))
    np.testing.assert_allclose(of_sparse, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_neighbors": 40}, "40 training samples are too few for n_neighbors=40"),
        ({"smoothing": 0}, "must be positive"),
    ],
)
def test_what_cannot_be(settings, sentence):
    with pytest.raises(ModelError, match=sentence):
        MLkNN(**settings).fit(np.eye(40), np.eye(40, dtype=int))
