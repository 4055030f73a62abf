"""Ranks of stored cells among all samples equal those of a full sort."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import ModelError
from fairfold.weak_labels.rankings import Rankings, places_in_labels


@pytest.mark.parametrize("seed", range(20))
def test_places_are_those_among_all_samples(seed):
    rng = np.random.default_rng(seed)
    scores = rng.choice([-np.inf, 0, 0.2, 0.7, np.inf], (30, 4))
    given = (scores != 0) | (rng.random(scores.shape) < 0.4)  # only some of the zeros
    rows, labels = np.nonzero(given)
    found = places_in_labels(rows, labels, scores[rows, labels], scores.shape)
    for row, label, place in zip(rows, labels, found, strict=True):
        ranking = sorted(range(30), key=lambda other, label=label: (-scores[other, label], other))
        assert ranking.index(row) == place


@pytest.mark.parametrize("unmeasured", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(10))
def test_stored_probabilities_rank_as_all_do(seed, unmeasured):
    rng = np.random.default_rng(seed)
    P = np.round(rng.random((50, 6)), 1) * (rng.random((50, 6)) < 0.3)  # with ties
    observed = (rng.random(P.shape) < 0.2 + P / 2).astype(np.int8)
    observed[:, 5] = 0
    observed = np.where(rng.random(P.shape) < unmeasured, np.nan, observed)
    dense = Rankings.of(observed, P)
    stored = Rankings.of(sparse.csr_array(observed), sparse.csr_array(P))
    for name in ("labels", "n_positives", "n_measured"):
        np.testing.assert_array_equal(getattr(stored, name), getattr(dense, name))
    for top in range(1, 51):
        tops = np.full(len(dense.labels), top)
        np.testing.assert_array_equal(stored.true_positives(tops), dense.true_positives(tops))


def test_shapes_must_match():
    with pytest.raises(ModelError, match=r"observed: expected shape \(3, 2\), found \(2, 3\)\."):
        Rankings.of(np.zeros((2, 3)), sparse.csr_array((3, 2)))
