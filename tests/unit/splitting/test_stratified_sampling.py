"""Stratified sampling computes the published scores, and its fold sizes do not drift."""

import numpy as np
import pytest

from fairfold.errors import SplitError
from fairfold.splitting import RandomSplit, StratifiedSampling
from fairfold.splitting.labels import check_labels
from fairfold.splitting.measures import relative_label_distribution
from fairfold.splitting.stratified_sampling import _threshold, row_scores


def some_labels(seed=0, n=400, q=15):
    rng = np.random.default_rng(seed)
    return (rng.random((n, q)) < np.geomspace(0.02, 0.4, q)).astype(int)


def scores_by_loops(Y, is_in, share, labels_per_row):
    score = []
    for column in Y.T:
        inside = column[is_in].sum() / column.sum() if column.sum() else 0
        value = (inside - share) / (1 - share) if inside >= share else (inside - share) / share
        if inside > 0.999:
            value += labels_per_row
        if inside < 0.001:
            value -= labels_per_row
        score.append(value if column.sum() > 1 else 0)
    return [
        sum(s if mine else -s for s, y in zip(score, row, strict=True) if y) for row, mine in zip(Y, is_in, strict=True)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_scores_equal_plain_loops(seed):
    Y = some_labels(seed, n=60)
    Y[:, 0] = 0
    Y[3, 0] = 1  # a single positive scores nothing
    is_in = np.random.default_rng(seed).random(60) < 0.2
    Y[:, 1] = is_in  # all inside
    Y[:, 2] = ~is_in  # all outside
    labels = check_labels(Y)
    got = row_scores(labels.astype(np.float32), Y.sum(axis=0), is_in, 0.2, 2.5)
    np.testing.assert_allclose(got, scores_by_loops(Y, is_in, 0.2, 2.5), atol=1e-5)


def test_threshold_is_the_published_quantile_and_never_negative():
    scores = np.array([0.0, 1.0, 2.0, 3.0, 50.0])
    assert _threshold(scores, 10.0, 0.25) == pytest.approx(2.25)  # of the four below 10
    assert _threshold(-scores - 1, 10.0, 0.1) == 0


def test_better_than_random():
    Y = some_labels(n=2000)
    stratified, random = (
        relative_label_distribution(splitter(random_state=0).assign(Y), Y)
        for splitter in (StratifiedSampling, RandomSplit)
    )
    assert stratified < random / 2


def test_the_last_fold_can_absorb_the_drift():
    """Without shared drift, every other fold aims at the same number of rows, as in the published comparison."""
    Y, sizes = some_labels(n=2000), {}
    for drift in ("shared", "last"):
        folds = [StratifiedSampling(drift=drift, random_state=seed).assign(Y) for seed in range(30)]
        sizes[drift] = np.array([np.bincount(fold_of) for fold_of in folds])
    spread = {drift: np.abs(each - 400).mean() for drift, each in sizes.items()}
    assert spread["last"] > 1.1 * spread["shared"]
    with pytest.raises(SplitError, match="drift"):
        StratifiedSampling(drift="first").assign(Y)
