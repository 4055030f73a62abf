import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from fairfold.core.folds import only_fold, parts_of
from fairfold.errors import DataError
from fairfold.recommendation.sample_curves import fit_power_law, sample_curves, scores_by_samples, shares_of_training

SIZES = np.array([50, 90, 130, 200, 300])
FOLD_OF = np.arange(60) % 5


def cuts(shares=(0.25, 0.5, 1.0), **options):
    return list(shares_of_training(FOLD_OF, shares, seed=1, names=("test",), **options))


def test_shares_hold_smaller_ones_and_never_the_left_out_fold():
    found = cuts()
    assert [(fold, share, n) for fold, share, _, n in found] == [
        (fold, share, n) for fold in range(5) for share, n in ((0.25, 12), (0.5, 24), (1.0, 48))
    ]
    for at in range(0, 15, 3):
        fold, parts = found[at][0], [set(rows) for _, _, rows, _ in found[at : at + 3]]
        assert parts[0] < parts[1] < parts[2] == set(range(60))
        for (_, _, rows, n), part in zip(found[at : at + 3], parts, strict=True):
            assert (np.diff(rows) > 0).all() and (FOLD_OF[rows] != fold).sum() == n
            assert set(np.flatnonzero(fold == FOLD_OF)) <= part
    assert set(found[0][2]) - set(np.flatnonzero(FOLD_OF == 0)) != set(range(12))  # drawn, not the first ones


def test_untested_samples_are_trained_on():
    fold_of = np.where(np.arange(60) < 50, FOLD_OF, -1)
    *_, (_, _, rows, n) = shares_of_training(fold_of, [1.0], seed=1, names=())
    assert len(rows) == 60 and n == 50


def test_groups_are_taken_whole():
    groups = np.arange(60) // 5 * 0 + FOLD_OF * 10 + np.arange(60) // 20  # 3 groups of 4 per fold
    for fold, share, rows, n in cuts(groups=groups):
        train = rows[FOLD_OF[rows] != fold]
        assert len(train) == n >= share * 48 and n - share * 48 < 4
        counts = np.bincount(np.unique(groups, return_inverse=True)[1][train])
        assert set(counts[counts > 0]) == {4}


def test_scores_are_of_each_cut():
    seen = []

    def score(rows, fold):
        seen.append((len(rows), fold))
        return pd.DataFrame({"fold": [fold], "metric": ["mcc"], "value": [len(rows)], "reason": [""]})

    table = scores_by_samples(score, iter(cuts()))
    assert table["value"].tolist() == [n for n, _ in seen]
    assert [n for n, _ in seen] == [24, 36, 60] * 5
    assert table["n_train"].tolist() == [12, 24, 48] * 5 and table["share"].tolist() == [0.25, 0.5, 1.0] * 5


@pytest.mark.parametrize("higher", [True, False])
def test_a_power_law_is_found_again(higher):
    sign = -1 if higher else 1
    a, b, c = fit_power_law(SIZES, (0.8 if higher else 0.1) + sign * 2 * SIZES**-0.7, higher_is_better=higher)
    assert a == pytest.approx(0.8 if higher else 0.1, abs=0.01)
    ahead = a + sign * b * 1200.0**-c
    assert ahead == pytest.approx((0.8 if higher else 0.1) + sign * 2 * 1200**-0.7, abs=0.002)


def test_no_fit_of_scipy_is_nearer():
    """Compare with bounded least squares from many starts."""
    random = np.random.default_rng(0)
    for scores in 0.8 - 2 * SIZES**-0.6 + random.normal(0, 0.01, (5, len(SIZES))):
        a, b, c = fit_power_law(SIZES, scores)
        ours = ((a - b * SIZES**-c - scores) ** 2).sum()
        best = min(
            optimize.least_squares(
                lambda p, scores=scores: p[0] - p[1] * (SIZES / 300) ** -p[2] - scores,
                (0.8, 0.1, start),
                bounds=([-1, 0, 0.05], [1, np.inf, 4]),
            ).cost
            for start in (0.1, 0.5, 1, 2)
        )
        assert ours <= 2 * best * 1.01 + 1e-9


def test_bounds_hold():
    falling = fit_power_law(SIZES, np.array([0.6, 0.58, 0.57, 0.55, 0.5]))
    assert falling[1] == 0 and falling[0] == pytest.approx(0.56)  # more samples never reduce the score: the mean
    a, _, _ = fit_power_law(SIZES, np.log(SIZES) / 6)  # would exceed 1
    assert a <= 1
    a, _, _ = fit_power_law(SIZES, 1 - np.log(SIZES) / 6, higher_is_better=False)
    assert a >= 0


def table(n_folds=10, noise=0.02, seed=0, limit=0.8, metric="mcc", sizes=SIZES):
    random = np.random.default_rng(seed)
    rows = []
    for fold in range(n_folds):
        shift = random.normal(0, noise)
        for size in sizes:
            value = limit - 2 * size**-0.6 + shift + random.normal(0, noise / 4)
            rows.append(("mine", 30, "A", fold // 5, size / max(sizes), size, fold % 5, metric, value, ""))
    names = ["dataset", "missing_rate", "model", "repeat", "share", "n_train", "fold", "metric", "value", "reason"]
    return pd.DataFrame(rows, columns=names)


def test_means_are_measured_and_more_is_extrapolated():
    scores = table()
    found = sample_curves(scores, n_splits=5, seed=1)
    assert found["kind"].tolist() == ["measured"] * 5 + ["extrapolated"] * 2
    np.testing.assert_allclose(found["n_train"], [*SIZES, 600, 1200])
    np.testing.assert_allclose(found["score"][:5], scores.groupby("share")["value"].mean())
    a, b, c = fit_power_law(SIZES, found["score"][:5].to_numpy())
    np.testing.assert_allclose(found["score"][5:], [a - b * 600**-c, a - b * 1200**-c])
    assert found["limit"].eq(a).all() and found["exponent"].eq(c).all() and found["n_folds"].eq(10).all()
    assert ((found["low"] < found["score"]) & (found["score"] < found["high"])).all()
    pd.testing.assert_frame_equal(found, sample_curves(scores, n_splits=5, seed=1))


def test_intervals_of_what_is_measured_are_those_of_the_corrected_error():
    scores = table(n_folds=50)
    found = sample_curves(scores, n_splits=5, seed=1, n_draws=4000)
    sd = scores.groupby("share")["value"].std().to_numpy()
    width = (found["high"] - found["low"])[:5]
    np.testing.assert_allclose(width, 2 * 1.96 * sd * np.sqrt(1 / 50 + 1 / 4), rtol=0.06)


def test_a_fold_without_a_score_is_left_out_and_too_few_are_not_extrapolated():
    scores = table(n_folds=5)
    scores.loc[2, "value"] = np.nan
    assert sample_curves(scores, n_splits=5, seed=1)["n_folds"].eq(4).all()
    scores.loc[scores["fold"] > 0, "value"] = np.nan
    found = sample_curves(scores, n_splits=5, seed=1)
    assert found["kind"].eq("measured").all() and found["low"].isna().all()
    assert found["reason"].str.startswith("0 folds have scores at all of 5 sizes").all()
    few = sample_curves(table(sizes=SIZES[:2]), n_splits=5, seed=1)
    assert few["reason"].str.contains("of 2 sizes").all() and few["score"].notna().all()


def test_refusals():
    with pytest.raises(DataError, match="2 different numbers of samples"):
        fit_power_law([10, 20, 20], np.zeros(3))
    with pytest.raises(DataError, match="a share of the training part is 0"):
        cuts(shares=(0, 1))


def test_small_shares_of_few_groups_may_have_no_sample_of_another_fold():
    """A training part with one of two groups leaves a gap in the fold numbers."""
    groups = np.repeat([0, 1, 2], [20, 12, 5])
    gaps = 0
    for fold, _, rows, n_train in shares_of_training(groups, [0.3, 1], seed=0, names=("a",), groups=groups):
        gaps += len(np.unique(groups[rows])) < 3
        ((train, test),) = parts_of(only_fold(groups[rows], fold), len(rows))
        np.testing.assert_array_equal(rows[test], np.flatnonzero(groups == fold))
        assert len(train) == n_train and not (groups[rows[train]] == fold).any()
    assert gaps
