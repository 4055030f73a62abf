"""Comparisons of models by simultaneous intervals."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.errors import DataError, SplitError
from fairfold.evaluation import compare_models
from fairfold.evaluation.compare import samples_to_decide
from fairfold.evaluation.intervals import Joint, compare_with, total_variance, uncertainty

COLUMNS = ["model", "score", "difference", "low", "high", "p_adjusted", "verdict"]


def made(seed=0, n=200, noises=(0.0, 0.3, 3.0), n_labels=3):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, n_labels))
    Y = (latent + rng.normal(size=latent.shape) > 0).astype(float)
    P = {f"noise {noise}": 1 / (1 + np.exp(-latent - noise * rng.normal(size=latent.shape))) for noise in noises}
    return Y, P, np.arange(n) % 5


def same(first, second, **tolerance):
    assert first["model"].tolist() == second["model"].tolist()
    assert first["verdict"].tolist() == second["verdict"].tolist()
    np.testing.assert_allclose(first[COLUMNS[1:5]].astype(float), second[COLUMNS[1:5]].astype(float), **tolerance)


def test_table_lists_the_best_model_first():
    Y, P, fold_of = made()
    table = compare_models(Y, P, fold_of)
    assert list(table) == COLUMNS
    assert table["model"].tolist() == ["noise 0.0", "noise 0.3", "noise 3.0"]
    assert table["verdict"].tolist() == ["best", "not different", "worse"]
    assert table["difference"].tolist() == pytest.approx((table["score"][0] - table["score"]).tolist())
    assert table.loc[0, ["low", "high", "p_adjusted"]].isna().all()


@pytest.mark.parametrize("metric", ["ranking_loss", "hamming_loss"])
def test_best_model_has_the_lowest_loss(metric):
    table = compare_models(*made(), metric=metric)
    assert table["score"].is_monotonic_increasing and (table["difference"] >= 0).all()
    assert table["verdict"].iloc[-1] == "worse"


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_verdict_interval_and_p_value_agree(confidence):
    for seed in range(15):
        Y, P, fold_of = made(seed, n=60, noises=(0.0, 0.4, 0.8, 1.2))
        others = compare_models(Y, P, fold_of, confidence=confidence)[1:]
        is_worse = others["verdict"] == "worse"
        assert (is_worse == (others["low"] > 0)).all()
        assert (is_worse == (others["p_adjusted"] <= 1 - confidence)).all()


def test_equal_models_are_equivalent():
    Y, P, fold_of = made(noises=(0.0, 3.0))
    table = compare_models(Y, {**P, "copy": P["noise 0.0"]}, fold_of).set_index("model")
    assert table.loc["copy", ["difference", "low", "high", "p_adjusted"]].tolist() == [0, 0, 0, 1]
    assert table.loc["copy", "verdict"] == "equivalent"


def test_rope_separates_equivalent_from_not_different():
    Y, P, fold_of = made(noises=(0.0, 0.05))
    verdicts = [compare_models(Y, P, fold_of, rope=rope)["verdict"][1] for rope in (0.0, 0.2)]
    assert verdicts == ["not different", "equivalent"]


def test_copies_of_a_sample_in_one_group_add_no_information():
    Y, P, fold_of = made()
    twice = np.repeat(np.arange(len(Y)), 2)
    copies = {name: each[twice] for name, each in P.items()}
    grouped = compare_models(Y[twice], copies, fold_of[twice], groups=twice)
    same(grouped, compare_models(Y, P, fold_of), atol=1e-12)
    single = compare_models(Y[twice], copies, fold_of[twice])
    assert single["high"][2] - single["low"][2] < 0.8 * (grouped["high"][2] - grouped["low"][2])


def test_weight_of_two_equals_two_copies():
    Y, P, fold_of = made()
    weights = 1.0 + (np.arange(len(Y)) % 3 == 0)
    copies = np.repeat(np.arange(len(Y)), weights.astype(int))
    grouped = compare_models(
        Y[copies], {name: each[copies] for name, each in P.items()}, fold_of[copies], groups=copies
    )
    same(compare_models(Y, P, fold_of, weights=weights), grouped, atol=1e-12)


def test_sparse_predictions_have_the_same_table():
    Y, P, fold_of = made()
    P = {name: np.where(each < 0.4, 0, each) for name, each in P.items()}
    stored = compare_models(sparse.csr_array(Y), {name: sparse.csr_array(each) for name, each in P.items()}, fold_of)
    same(stored, compare_models(Y, P, fold_of), atol=1e-12)


def test_unmeasured_labels_and_untested_samples_are_ignored():
    Y, P, fold_of = made()
    Y[:, 2] = np.nan
    without = compare_models(Y[:, :2], {name: each[:, :2] for name, each in P.items()}, fold_of)
    same(compare_models(Y, P, fold_of), without, atol=1e-12)
    fold_of = np.where(np.arange(len(Y)) < 50, -1, fold_of)
    P = {name: np.where(fold_of[:, None] < 0, np.nan, each) for name, each in P.items()}
    assert compare_models(Y, P, fold_of)["verdict"].iloc[-1] == "worse"


def test_repeats_with_the_same_folds_change_nothing():
    Y, P, fold_of = made()
    repeated = compare_models(Y, {name: np.array([each, each]) for name, each in P.items()}, np.array([fold_of] * 2))
    same(repeated, compare_models(Y, P, fold_of), atol=1e-12)


def test_repeats_make_noisy_models_more_certain():
    Y, P, fold_of = made()
    rng = np.random.default_rng(1)
    folds = np.array([rng.permutation(fold_of) for _ in range(4)])
    noisy = {name: np.clip(each + 0.3 * rng.normal(size=(4, *each.shape)), 0, 1) for name, each in P.items()}
    one = compare_models(Y, {name: each[0] for name, each in noisy.items()}, folds[0])
    four = compare_models(Y, noisy, folds)
    widths = [(table["high"] - table["low"]).iloc[-1] for table in (one, four)]
    assert widths[1] < 0.9 * widths[0]


def test_uncertain_label_frequency_widens_intervals():
    Y, P, fold_of = made()
    Y = Y * (np.random.default_rng(5).random(Y.shape) < 0.7)
    given = SimpleNamespace(estimate=0.7, low=0.5, high=0.9)
    certain, uncertain = (compare_models(Y, P, fold_of, label_frequency=c) for c in (0.7, given))
    assert uncertain["score"].tolist() == certain["score"].tolist()
    assert uncertain["high"][2] > certain["high"][2]
    per_label = compare_models(Y, P, fold_of, label_frequency=[0.7, 0.7, 0.7])
    same(per_label, certain, atol=1e-12)


def test_scatter_of_folds_decides_if_each_fold_is_one_group():
    Y, P, fold_of = made()
    table = compare_models(Y, P, fold_of, groups=fold_of)
    # The variance is that of the five folds, which has four degrees of freedom, for three pairs of models.
    assert table["verdict"].iloc[-1] == "worse" and table["p_adjusted"].iloc[-1] > 1e-7


def test_groups_may_be_in_several_periods_of_time():
    Y, P, _ = made()
    periods = np.repeat([-2, 0, 1, 2], 50)  # Samples before the first test period have the number -2.
    assert compare_models(Y, P, periods, groups=np.arange(200) % 40)["verdict"].iloc[-1] == "worse"


def test_one_test_part_is_enough():
    Y, P, _ = made()
    table = compare_models(Y, P, np.where(np.arange(len(Y)) < 100, 0, -1))
    assert table["verdict"].tolist() == ["best", "not different", "worse"]


def test_undefined_folds_are_ignored():
    Y, P, fold_of = made()
    Y[fold_of == 3] = 0
    kept = fold_of != 3
    found = compare_models(Y, P, fold_of)
    table = compare_models(
        Y[kept], {name: each[kept] for name, each in P.items()}, np.unique(fold_of[kept], return_inverse=True)[1]
    )
    assert found["score"].tolist() == pytest.approx(table["score"].tolist())
    with pytest.raises(DataError, match="average precision is undefined: it needs a positive and a negative label"):
        compare_models(np.zeros_like(Y), P, fold_of)


@pytest.mark.parametrize("n_models", [2, 6])
def test_share_of_false_claims_without_training(n_models):
    """With fixed models, the part for training makes intervals wider than needed."""
    rng = np.random.default_rng(0)
    claims = 0
    for _ in range(200):
        latent = rng.normal(size=(100, 1)) + 0.5 * rng.normal(size=(100, n_models))
        influences = (latent - latent.mean(axis=0)).T[:, np.newaxis] / 100
        scores = latent.reshape(20, 5, n_models).mean(axis=0).T[:, np.newaxis]
        joint = Joint(scores, influences, 95, np.full(n_models, 1.0), *np.zeros((2, n_models)))
        pairs = compare_with(int(joint.means.argmax()), joint, 0.95)
        claims += (pairs.p_adjusted <= 0.05).any()
    assert claims / 200 < 0.05


def test_critical_value_of_independent_models_is_that_of_the_studentized_range():
    rng = np.random.default_rng(0)
    u, _ = np.linalg.qr(rng.normal(size=(4000, 5)))
    joint = Joint(np.zeros((5, 1, 1)), u.T[:, np.newaxis], 4000, *np.zeros((3, 5)))
    pairs = compare_with(0, joint, 0.95)
    # scipy.stats.studentized_range.ppf(0.95, 5, inf) is 3.858. The draws have a standard error of .01.
    assert pairs.high[1:] / uncertainty(joint).error[0, 1:] == pytest.approx([3.858 / np.sqrt(2)] * 4, abs=0.04)


def test_training_adds_less_variance_for_stable_models():
    Y, P, fold_of = made()
    tables = [compare_models(Y, P, fold_of, stable=stable) for stable in ((), ["noise 0.0"], list(P))]
    widths = [(table["high"] - table["low"])[2] for table in tables]
    assert [table["score"].tolist() for table in tables] == [tables[0]["score"].tolist()] * 3
    assert widths[2] < widths[1] < widths[0]
    # 0.8 times n_tested / n_train = 5/4 is added to 1. At most 0.48 times 5/4 are taken off.
    assert widths[2] / widths[0] > np.sqrt(1.4 / 2)


@pytest.mark.parametrize(("metric", "is_narrower"), [("hamming_loss", True), ("f1_micro", False), ("mcc", False)])
def test_scores_that_jump_at_a_threshold_have_no_reduction(metric, is_narrower):
    Y, P, fold_of = made()
    tables = [compare_models(Y, P, fold_of, metric=metric, stable=stable) for stable in ((), list(P))]
    widths = [(table["high"] - table["low"]).iloc[1:] for table in tables]
    assert (widths[1] < widths[0]).all() == is_narrower


def test_reduction_for_stable_models_grows_with_the_samples_that_matter():
    rng = np.random.default_rng(0)
    errors = []
    for n_positives in (5, 5000):  # A difference depends on few or on many samples.
        u = np.zeros((2, 1, 10_000))
        u[0, 0, :n_positives] = rng.choice([-1.0, 1.0], n_positives)
        joint = Joint(np.zeros((2, 1, 1)), u, 9_995, np.full(2, 1.0), np.full(2, 0.6), np.zeros(2))
        errors.append(uncertainty(joint).error[0, 1] / np.sqrt((u**2).sum()))
    assert errors[0] == pytest.approx(np.sqrt(2), rel=0.03)
    assert errors[1] == pytest.approx(np.sqrt(1.4), rel=0.03)


def test_scatter_of_folds_adds_the_part_that_training_samples_share():
    # The excess of 1 times k - 1 = 4 is larger than the share for training.
    variance = total_variance(np.array(1.0), np.array(1.0), np.array(2.0), n_free=np.inf, n_more=4, training=1.0)
    assert variance == pytest.approx(1 + 1 + 4 / 24 * (4 * (2 - 1) - 1))


def test_samples_to_decide():
    Y, P, fold_of = made()
    table = compare_models(Y, P, fold_of)
    model, n = samples_to_decide(table, len(Y))
    assert model == "noise 0.3" and n > 200
    assert samples_to_decide(table[table["verdict"] != "not different"], 200) is None
    rows = [("A", 0.8, 0.0, np.nan, np.nan, np.nan, "best"), ("B", 0.8, 0.0, -0.02, 0.02, 1.0, "not different")]
    assert samples_to_decide(pd.DataFrame(rows, columns=COLUMNS), 100) == ("B", 400)


def test_data_frames_and_lists_are_arrays():
    Y, P, fold_of = made()
    expected = compare_models(Y, P, fold_of)
    for form in (pd.DataFrame, np.ndarray.tolist):
        same(compare_models(form(Y), {name: form(each) for name, each in P.items()}, fold_of), expected)


def test_messages():
    Y, P, fold_of = made()
    with pytest.raises(DataError, match=r"Y: expected shape .* A single label is Y.reshape\(-1, 1\)"):
        compare_models(Y[:, 0], P, fold_of)
    with pytest.raises(DataError, match=r"predictions\['none'\]: expected 1 matrices of shape \(200, 3\)"):
        compare_models(Y, {"none": []}, fold_of)
    with pytest.raises(DataError, match="unknown model 'another'"):
        compare_models(Y, P, fold_of, stable=["another"])
    with pytest.raises(DataError, match="groups: the samples of group 0 are in several folds"):
        compare_models(Y, P, fold_of, groups=np.arange(len(Y)) // 2)
    named = pd.DataFrame(Y, columns=["a", "b", "c"])
    with pytest.raises(DataError, match=r"predictions\['P'\]: column 0 is 'c', but 'a' in Y"):
        compare_models(named, {"P": named[["c", "b", "a"]]}, fold_of)
    with pytest.raises(DataError, match="unknown metric 'accuracy'"):
        compare_models(Y, P, fold_of, metric="accuracy")
    with pytest.raises(DataError, match="predictions: found no model"):
        compare_models(Y, {}, fold_of)
    with pytest.raises(DataError, match="rope: expected a number of at least 0, found -1"):
        compare_models(Y, P, fold_of, rope=-1)
    with pytest.raises(DataError, match="confidence: expected a number above 0 and below 1"):
        compare_models(Y, P, fold_of, confidence=95)
    with pytest.raises(DataError, match=r"predictions\['short'\]: expected 1 matrices of shape \(200, 3\)"):
        compare_models(Y, {"short": Y[:10]}, fold_of)
    P["noise 0.0"][7] = np.nan
    with pytest.raises(DataError, match=r"predictions\['noise 0.0'\]: fold 2 has a test sample without a finite"):
        compare_models(Y, P, fold_of)
    with pytest.raises(SplitError):
        compare_models(Y, P, fold_of[:5])
