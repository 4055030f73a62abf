import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.preprocessing import StandardScaler

from fairfold.errors import DataError, SplitError
from fairfold.splitting.fold_effect import (
    AGGREGATIONS,
    AVERAGES,
    DEFAULT_PENALTY,
    METRICS,
    LeaveOutRidge,
    cross_validated_scores,
    fold_effect,
    label_scores,
    micro_macro_scores,
    summarize,
)

SCORERS = (average_precision_score, roc_auc_score, lambda y, p: f1_score(y, p > 0.5))


def random_folds(Y, seed):
    return np.random.default_rng(seed).permutation(len(Y)) % 5


def balanced_folds(Y, seed):
    """Balance the first label: assign its positives to folds in turn, then its negatives."""
    shuffled = np.random.default_rng(seed).permutation(len(Y))
    fold_of = np.empty(len(Y), dtype=int)
    fold_of[shuffled[np.argsort(-Y[shuffled, 0], kind="stable")]] = np.arange(len(Y)) % 5
    return fold_of


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 6))
    X[:, 4] = 3  # a constant feature
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(240, 4)) > 0).astype(int)
    Y[:, 2] *= rng.random(240) < 0.2  # a rare label
    return X, Y


@pytest.fixture
def numbered(data):
    """Append the row number to the labels as eight binary labels."""
    X, Y = data
    return X, np.column_stack([Y, np.unpackbits(np.arange(240, dtype=np.uint8)[:, None], axis=1)])


def row_numbers(labels):
    return np.packbits(labels[:, -8:].astype(bool), axis=1).ravel().astype(int)


@pytest.fixture
def predictions():
    rng = np.random.default_rng(1)
    Y = (rng.random((50, 5)) < [0.02, 0.1, 0.5, 0.9, 0.3]).astype(int)
    Y[7, 0] = 1
    P = rng.random(Y.shape)
    P[:, 3:] = np.round(P[:, 3:], 1)  # ties
    P[:, 4] = P[:, 4] > 0.7
    return Y, P


class TestScores:
    def test_each_label_as_scikit_learn_has_it(self, predictions):
        Y, P = predictions
        expected = [[score(Y[:, j], P[:, j]) for j in range(5)] for score in SCORERS]
        np.testing.assert_allclose(label_scores(Y, P), expected, rtol=1e-12)

    def test_labels_without_positive_or_negative_are_nan(self, predictions):
        Y, P = predictions
        Y[:, 1], Y[:, 2] = 0, 1
        assert np.isnan(label_scores(Y, P)).tolist() == [[False, True, True, False, False]] * 3

    def test_threshold_moves_f1_only(self, predictions):
        Y, P = predictions
        low, high = label_scores(Y, P, 0.2), label_scores(Y, P, 0.5)
        np.testing.assert_array_equal(low[:2], high[:2])
        np.testing.assert_allclose(low[2], [f1_score(Y[:, j], P[:, j] > 0.2) for j in range(5)], rtol=1e-12)

    def test_micro_pools_pairs_and_macro_averages_the_labels_that_can_be_scored(self, predictions):
        Y, P = predictions
        Y[:, 1] = 0
        (micro, macro), unscored = micro_macro_scores(Y, P)
        assert unscored == 1
        np.testing.assert_allclose(micro, [score(Y.ravel(), P.ravel()) for score in SCORERS], rtol=1e-12)
        expected = [np.mean([score(Y[:, j], P[:, j]) for j in (0, 2, 3, 4)]) for score in SCORERS]
        np.testing.assert_allclose(macro, expected, rtol=1e-12)

    def test_nothing_to_score_is_nan(self):
        scores, unscored = micro_macro_scores(np.zeros((4, 3), dtype=int), np.zeros((4, 3)))
        assert np.isnan(scores).all()
        assert unscored == 3

    @pytest.mark.parametrize("seed", range(3))
    def test_the_last_bits_of_predictions_decide_nothing(self, seed):
        """Equal values, 0.5 included, differ by a few units in the last place after matrix products."""
        rng = np.random.default_rng(seed)
        Y = rng.integers(2, size=(60, 5))
        P = rng.integers(1, 9, size=Y.shape) / 8
        as_computed = P + rng.normal(0, 1e-15, size=P.shape)
        assert (as_computed != P).mean() > 0.9
        assert ((as_computed > 0.5) != (P > 0.5)).any()
        np.testing.assert_array_equal(label_scores(Y, as_computed), label_scores(Y, P))
        np.testing.assert_array_equal(micro_macro_scores(Y, as_computed)[0], micro_macro_scores(Y, P)[0])


class TestLeaveOutRidge:
    @pytest.mark.parametrize("n_features", [6, 300])
    def test_as_if_trained_without_the_rows(self, data, n_features):
        _, Y = data
        X = np.random.default_rng(2).normal(3, 2, size=(240, n_features)) + Y[:, :1]
        pool, held_out, rows = np.arange(150), np.arange(150, 240), np.arange(20, 60)
        model = LeaveOutRidge(X[pool], Y[pool], X[held_out], 0.5)
        scaler = StandardScaler().fit(X[pool])
        keep = np.setdiff1d(pool, rows)
        ridge = Ridge(alpha=0.5 * 150).fit(scaler.transform(X[keep]), Y[keep])
        np.testing.assert_allclose(model.predict_left_out(rows), ridge.predict(scaler.transform(X[rows])), atol=1e-9)
        np.testing.assert_allclose(
            model.predict_held_out(rows), ridge.predict(scaler.transform(X[held_out])), atol=1e-9
        )

    def test_nothing_left_out_is_the_fit_on_the_pool(self, data):
        X, Y = data
        model = LeaveOutRidge(X, Y, X[:9], 2)
        ridge = Ridge(alpha=2 * 240).fit(StandardScaler().fit_transform(X), Y)
        expected = ridge.predict(StandardScaler().fit_transform(X))[:9]
        np.testing.assert_allclose(model.predict_held_out(np.array([], dtype=int)), expected, atol=1e-9)


class TestCrossValidatedScores:
    def test_against_a_plain_loop_with_folds_that_miss_a_label(self, data):
        X, Y = data
        fold_of = np.arange(240) % 5
        fold_of[Y[:, 2] == 1] = np.arange(Y[:, 2].sum()) % 2  # only folds 0 and 1 have positives of the third label
        model = LeaveOutRidge(X, Y, X, 0.5)
        scores, unscored = cross_validated_scores(model, Y, fold_of)
        P = np.empty(Y.shape)
        per_fold = []
        n_missing = 0
        for fold in range(5):
            test = fold_of == fold
            P[test] = model.predict_left_out(np.flatnonzero(test))
            scored = [j for j in range(4) if 0 < Y[test, j].sum() < test.sum()]
            n_missing += 4 - len(scored)
            per_fold.append(
                [
                    [score(Y[test].ravel(), P[test].ravel()) for score in SCORERS],
                    [np.mean([score(Y[test, j], P[test, j]) for j in scored]) for score in SCORERS],
                ]
            )
        assert unscored == n_missing >= 3
        np.testing.assert_allclose(scores[0], np.mean(per_fold, axis=0), rtol=1e-12)
        np.testing.assert_allclose(scores[1], micro_macro_scores(Y, P)[0], rtol=1e-12)


class TestFoldEffect:
    def test_table_is_complete_and_its_numbers_are_those_of_its_parts(self, data):
        X, Y = data
        table = fold_effect({"random": random_folds, "halves": balanced_folds}, X, Y, n_halvings=2, n_repeats=3, seed=4)
        assert len(table) == 2 * 2 * 2 * 3 * 12
        assert not table.isna().any().any()
        keys = ["method", "halving", "pool", "repeat", "aggregation", "average", "metric"]
        assert not table.duplicated(keys).any()
        for column, names in {"aggregation": AGGREGATIONS, "average": AVERAGES, "metric": METRICS}.items():
            assert set(table[column]) == set(names)
        truths = table.groupby(["halving", "pool", "average", "metric"])["truth"].nunique()
        assert (truths == 1).all()  # one truth per pool, for any method and aggregation

    def test_each_half_is_a_pool_scored_as_its_parts_state(self, numbered):
        X, Y = numbered
        pools = []

        def folds(labels, seed):
            pools.append(row_numbers(labels))
            return np.arange(120) % 5

        table = fold_effect({"random": folds}, X, Y, n_halvings=2, n_repeats=2, shuffle=False, seed=1)
        assert sorted([*pools[0], *pools[2]]) == list(range(240))
        np.testing.assert_array_equal(pools[0], pools[1])
        assert set(pools[4]) not in (set(pools[0]), set(pools[2]))  # another halving
        assert (np.diff(pools[0]) > 0).all()  # file order
        for pool, rows, held_out in ((0, pools[0], pools[2]), (1, pools[2], pools[0])):
            model = LeaveOutRidge(X[rows], Y[rows], X[held_out], DEFAULT_PENALTY)
            cells = table[(table["halving"] == 0) & (table["pool"] == pool) & (table["repeat"] == 1)]
            expected, unscored = cross_validated_scores(model, Y[rows], np.arange(120) % 5)
            np.testing.assert_allclose(cells["estimate"], expected.ravel(), rtol=1e-12)
            assert (cells["unscored"] == unscored).all()
            everything = micro_macro_scores(Y[held_out], model.predict_held_out(np.array([], dtype=int)))[0]
            # The truth is a mean over trainings on slightly fewer samples.
            np.testing.assert_allclose(cells["truth"], np.tile(everything.ravel(), 2), atol=0.05)
            assert (cells["truth"] != np.tile(everything.ravel(), 2)).all()

    def test_truth_is_that_of_training_sets_as_large_as_those_of_cross_validation(self, data):
        truths = []
        for n_splits in (2, 10):
            methods = {"random": lambda labels, seed, k=n_splits: np.arange(len(labels)) % k}
            table = fold_effect(methods, *data, n_splits=n_splits, n_halvings=4, n_repeats=2)
            truths.append(table["truth"].mean())
        assert truths[0] < truths[1]  # omitting a tenth costs less than omitting half

    def test_folds_follow_their_samples_through_the_shuffling(self, numbered):
        methods = {"random": lambda labels, seed: row_numbers(labels) % 5}
        options = {"n_halvings": 2, "n_repeats": 2}
        shuffled, in_order = (fold_effect(methods, *numbered, **options, shuffle=shuffle) for shuffle in (True, False))
        pd.testing.assert_frame_equal(shuffled, in_order)

    def test_groups_are_whole_in_halves_and_folds_and_trainings(self, numbered, monkeypatch):
        X, Y = numbered
        groups = np.random.default_rng(0).permutation(np.arange(240) % 50)
        trained = []
        predict = LeaveOutRidge.predict_held_out
        monkeypatch.setattr(
            LeaveOutRidge, "predict_held_out", lambda model, rows: trained.append(rows) or predict(model, rows)
        )
        pools = []

        def folds(labels, seed, given):
            pools.append(row_numbers(labels))
            np.testing.assert_array_equal(given, np.unique(groups, return_inverse=True)[1][pools[-1]])
            return np.unique(given, return_inverse=True)[1] % 5

        fold_effect({"random": folds}, X, Y, groups=groups * 3, n_halvings=2, n_repeats=2, shuffle=False)
        one, other = pools[0], pools[2]
        assert sorted([*one, *other]) == list(range(240))
        assert len({*groups[one]}) == len({*groups[other]}) == 25 and not {*groups[one]} & {*groups[other]}
        of_first_pool = trained[:20]  # each omits a fifth of the groups, as whole groups
        for rows in of_first_pool:
            left_out = {*groups[one[rows]]}
            assert len(left_out) == 5 and len(rows) == np.isin(groups[one], list(left_out)).sum()

    def test_groups_of_one_are_samples(self, data):
        X, Y = data
        options = {"n_halvings": 2, "n_repeats": 2, "seed": 9}
        alone = fold_effect({"random": random_folds}, X, Y, **options)
        of_one = fold_effect(
            {"random": lambda Y, seed, groups: random_folds(Y, seed)}, X, Y, groups=np.arange(len(Y)), **options
        )
        pd.testing.assert_frame_equal(alone, of_one)

    def test_same_seed_same_table_and_methods_do_not_disturb_each_other(self, data):
        X, Y = data
        options = {"n_halvings": 2, "n_repeats": 2, "seed": 9}
        alone = fold_effect({"random": random_folds}, X, Y, **options)
        both = fold_effect({"balanced": balanced_folds, "random": random_folds}, X, Y, **options)
        np.random.seed(3)  # noqa: NPY002
        again = fold_effect({"random": random_folds}, sparse.csr_array(X), sparse.csr_array(Y), **options)
        pd.testing.assert_frame_equal(alone, again)
        pd.testing.assert_frame_equal(alone, both[both["method"] == "random"].reset_index(drop=True))
        assert np.random.get_state()[1][0] == 3  # noqa: NPY002

    @pytest.mark.parametrize(
        ("change", "error", "sentence"),
        [
            ({"X": np.zeros((3, 2))}, DataError, r"X: found shape \(3, 2\) for labels of shape \(240, 4\)"),
            ({"X": np.full((240, 2), np.nan)}, DataError, "480 of 480 values are not finite"),
            ({"Y": np.full((240, 2), 2)}, DataError, "expected 0, 1 or NaN, found 2"),
            (
                {"Y": np.where(np.eye(240, 2, -1), np.nan, np.eye(240, 2))},
                DataError,
                r"Y, row 1, column 0: the label is unmeasured \(2 such labels\)",
            ),
            ({"Y": np.zeros((240, 2))}, DataError, "no label has a positive and a negative"),
            (
                {"make_folds": {"bad": lambda Y, seed: np.zeros(len(Y), dtype=int)}},
                SplitError,
                "by 'bad' has no sample in",
            ),
            (
                {"make_folds": {"bad": lambda Y, seed: np.arange(5)}},
                SplitError,
                "by 'bad' has shape .* 120",
            ),
        ],
    )
    def test_bad_input(self, data, change, error, sentence):
        X, Y = data
        arguments = {"make_folds": {"random": random_folds}, "X": X, "Y": Y, "n_halvings": 2, "n_repeats": 2} | change
        with pytest.raises(error, match=sentence):
            fold_effect(**arguments)


def errors_table(errors, method):
    """Return a table like that of fold_effect, from the errors (halvings, 2, repeats) of one metric."""
    halving, pool, repeat = (index.ravel() for index in np.indices(errors.shape))
    return pd.DataFrame(
        {
            "method": method,
            "halving": halving,
            "pool": pool,
            "repeat": repeat,
            "aggregation": "per-fold",
            "average": "macro",
            "metric": "f1",
            "estimate": 0.7 + halving / 10 + errors.ravel(),
            "truth": 0.7 + halving / 10,
            "unscored": repeat,
        }
    )


class TestSummarize:
    def test_numbers_worked_out_by_hand(self):
        base = np.array([[[0.0, 0.2], [0.1, 0.3]], [[0.4, 0.4], [0.4, 0.8]]])
        other = np.array([[[0.1, 0.1], [0.1, 0.2]], [[0.3, 0.4], [0.5, 0.5]]])
        table = pd.concat([errors_table(base, "random"), errors_table(other, "other")])
        first, second = summarize(table).to_dict("records")
        assert [first["method"], second["method"]] == ["random", "other"]
        # The means of the halvings are 0.15 and 0.5.
        assert first["bias"] == pytest.approx(0.325)
        assert first["bias_se"] == pytest.approx(0.35 / np.sqrt(2) / np.sqrt(2))
        # The variances of the pools are 0.02, 0.02, 0 and 0.08.
        assert first["sd"] == pytest.approx(np.sqrt(0.03))
        assert second["sd"] == pytest.approx(np.sqrt((0.005 + 0.005) / 4))
        assert second["variance_ratio"] == pytest.approx(0.0025 / 0.03)
        # The differences of the halvings are 0.125 - 0.15 and 0.425 - 0.5.
        assert second["bias_difference"] == pytest.approx(-0.05)
        assert second["bias_difference_se"] == pytest.approx(0.05 / 2)
        assert first["rmse"] == pytest.approx(np.sqrt((base**2).mean()))
        assert first["rmse_se"] == pytest.approx((0.28 - 0.035) / 2 / (2 * first["rmse"]))  # mean squares 0.035, 0.28
        assert first["split_share"] == pytest.approx(0.03 / (base**2).mean())
        assert first["unscored"] == 0.5
        # Omitting one halving gives the ratios 0.0025 / 0.04 and 0.0025 / 0.02, a factor of 2 apart; t is 12.706.
        factor = np.exp(12.7062 * np.log(2) / 2)
        assert second["ratio_low"] == pytest.approx(0.0025 / 0.03 / factor, rel=1e-4)
        assert second["ratio_high"] == pytest.approx(0.0025 / 0.03 * factor, rel=1e-4)
        assert first["sd_low"] == pytest.approx(np.sqrt(0.03 / factor), rel=1e-4)
        assert first["sd_high"] == pytest.approx(np.sqrt(0.03 * factor), rel=1e-4)
        assert (first["variance_ratio"], first["ratio_low"], first["ratio_high"]) == (1, 1, 1)

    def test_recovers_known_bias_and_variances_with_honest_intervals(self):
        # In 300 simulated studies, 95 % intervals cover the truth in 95 % of studies, within three standard errors.
        rng = np.random.default_rng(8)
        tables = []
        for study in range(300):
            pools, scale = rng.normal(0, 0.05, size=(8, 2, 1)), np.sqrt(rng.uniform(0.5, 1.5, size=(8, 2, 1)))
            base, other = (pools + scale * rng.laplace(0, sd, size=(8, 2, 6)) / 2**0.5 for sd in (0.03, 0.015))
            both = pd.concat([errors_table(base, "random"), errors_table(other - 0.01, "other")])
            tables.append(both.assign(metric=study))
        rows = summarize(pd.concat(tables)).query("method == 'other'")
        held = [
            rows["sd_low"].lt(0.015) & rows["sd_high"].gt(0.015),
            rows["ratio_low"].lt(0.25) & rows["ratio_high"].gt(0.25),
            (rows["bias_difference"] + 0.01).abs() < 2.365 * rows["bias_difference_se"],  # t, 7 degrees of freedom
        ]
        assert np.abs(np.mean(held, axis=1) - 0.95).max() < 3 * np.sqrt(0.95 * 0.05 / 300)

    @pytest.mark.parametrize("error", [0, 0.7])  # the mean of three equal numbers may differ
    def test_folds_that_never_vary(self, error):
        still = errors_table(np.full((2, 2, 3), error), "random")
        row = summarize(still).iloc[0]
        assert row["sd"] == 0
        assert row["rmse"] == pytest.approx(error, rel=1e-12)
        assert row[["sd_low", "sd_high", "variance_ratio", "ratio_low", "ratio_high"]].isna().all()
        assert row["split_share"] == 0 if error else np.isnan(row["split_share"])

    def test_baseline_must_exist(self):
        with pytest.raises(DataError, match=r"unknown method 'random'\. Use one of other"):
            summarize(errors_table(np.zeros((2, 2, 3)), "other"))


ON_A_KERNEL = """
import sys
import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info
from fairfold.splitting.fold_effect import fold_effect

Y = (np.random.default_rng(0).random((120, 3)) < [0.05, 0.3, 0.5]).astype(int)
methods = {"random": lambda Y, seed: np.random.default_rng(seed).permutation(len(Y)) % 4}
table = fold_effect(methods, np.ones((120, 2)), Y, n_splits=4, n_halvings=2, n_repeats=5)
print(*{pool.get("architecture") for pool in threadpool_info() if pool["internal_api"] == "openblas"}, file=sys.stderr)
print(table.to_csv())
"""


def test_no_kernel_of_the_matrix_products_decides_a_score(root):
    """Constant features leave only the intercept. Most predictions are then equal, within and across folds."""
    has = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    kernels = ["Prescott", "Nehalem", "Sandybridge"] + ["Haswell"] * ("X86_V3" in has or "AVX2" in has)
    tables = {}
    for kernel in kernels:
        environment = os.environ | {"OPENBLAS_CORETYPE": kernel, "PYTHONPATH": str(root / "workflow")}
        done = subprocess.run(
            [sys.executable, "-c", ON_A_KERNEL], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:  # a processor may lack the instructions of a kernel
            tables.setdefault(done.stderr.strip(), set()).add(done.stdout)
    if len(tables) < 2:
        pytest.skip(f"matrix products have one kernel only here: {', '.join(tables)}")
    assert len(set.union(*tables.values())) == 1


def test_pooled_ranking_scores_are_biased_by_unbalanced_folds():
    # Constant features leave only the intercept, and the true score is 0.5. A prediction is the share of positives
    # among the training samples. It is lower if its own fold has more positives (Parker et al. 2007).
    rng = np.random.default_rng(0)
    Y = np.zeros((400, 1), dtype=int)
    Y[rng.choice(400, 16, replace=False)] = 1
    methods = {"random": random_folds, "balanced": balanced_folds}
    table = fold_effect(methods, np.ones((400, 2)), Y, n_halvings=3, n_repeats=10)
    assert (table.query("metric == 'roc_auc'")["truth"] == 0.5).all()
    summary = summarize(table).set_index(["aggregation", "average", "metric", "method"]).sort_index()
    pooled = summary.loc["pooled", "macro", "roc_auc"]
    assert pooled.loc["random", "bias"] < -5 * pooled.loc["random", "bias_se"]
    assert pooled.loc["balanced", "bias_difference"] > 5 * pooled.loc["balanced", "bias_difference_se"]
    # With 8 positives in a pool of 200, 0.8 ** 8 = 17 % of random folds have none, unlike most balanced folds.
    per_fold = summary.loc["per-fold", "macro", "roc_auc"]["unscored"]
    assert per_fold["balanced"] < 0.5 < per_fold["random"]
