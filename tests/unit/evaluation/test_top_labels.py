import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import DataError
from fairfold.evaluation import top_labels as module
from fairfold.evaluation.top_labels import top_labels


@pytest.mark.parametrize("k", [1, 4, 30])
@pytest.mark.parametrize("decimals", [1, 12])  # with ties, and without
@pytest.mark.parametrize("unmeasured", [0, 0.4])
@pytest.mark.parametrize("zeros", [True, False])
def test_places_are_those_that_sorting_gives(monkeypatch, k, decimals, unmeasured, zeros):
    random = np.random.default_rng(k)
    P = (random.random((50, 25)) * (random.random((50, 25)) < 0.2)).round(decimals)
    left_out = random.random(P.shape) < unmeasured
    left_out[3] = unmeasured > 0
    expected = np.full((len(P), k), -1)
    for i, row in enumerate(P):
        allowed = [j for j in range(P.shape[1]) if not left_out[i, j] and (zeros or row[j])]
        first = sorted(allowed, key=lambda j: (-row[j], j))[:k]
        expected[i, : len(first)] = first
    for block in (module.BLOCK, 60):
        monkeypatch.setattr(module, "BLOCK", block)
        for given, without in ((P, left_out), (sparse.csr_array(P), sparse.csr_array(left_out)), (P, None)):
            if without is None and unmeasured:
                continue
            np.testing.assert_array_equal(top_labels(given, k, unmeasured=without, zeros=zeros).labels, expected)


def test_zeros_are_ranked_last_and_negative_scores_of_dense_matrices_below_them():
    P = np.array([[0, 0.2, 0, 0.9], [0, 0, 0, 0]])
    np.testing.assert_array_equal(top_labels(P, 3).labels, [[3, 1, 0], [0, 1, 2]])
    np.testing.assert_array_equal(top_labels(sparse.csr_array(P), 3).labels, [[3, 1, 0], [0, 1, 2]])
    stored = sparse.csr_array((np.array([0.2, 0.0, 0.9]), np.array([1, 2, 3]), np.array([0, 3, 3])), shape=(2, 4))
    np.testing.assert_array_equal(top_labels(stored, 3).labels, [[3, 1, 0], [0, 1, 2]])
    for given in (P, stored):
        np.testing.assert_array_equal(top_labels(given, 3, zeros=False).labels, [[3, 1, -1], [-1, -1, -1]])
    np.testing.assert_array_equal(top_labels(np.array([[-2.0, 0, -1]]), 3).labels, [[1, 2, 0]])


def test_bad_input_is_told_in_a_sentence():
    with pytest.raises(DataError, match="what is unmeasured"):
        top_labels(np.zeros((3, 3)), unmeasured=np.zeros((2, 3), dtype=bool))
    with pytest.raises(DataError, match="k is True"):
        top_labels(np.zeros((3, 3)), True)
