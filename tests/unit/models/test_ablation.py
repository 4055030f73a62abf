"""Parts are left out one by one, and what each adds is a plain difference of means with a corrected interval."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from fairfold.forests.boosting import MultilabelBoosting
from fairfold.models import ablation, make_model
from fairfold.models.ablation import ADDED, PARTS, THRESHOLD, WHOLE, ablation_table, make_variant, scores_of_parts

SMALL = {"n_trees": 10, "max_levels": 1, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((240, 6))
    return X, (X[:, :3] + 0.3 * rng.normal(size=(240, 3)) > [0.5, 0.7, 0.9]).astype(np.int8)


def test_each_part_is_left_out(data):
    X, Y = data
    stacks = {part: make_variant(part, **SMALL).fit(X, Y) for part in (WHOLE, *PARTS)}
    stack = {part: model.estimator_ for part, model in stacks.items() if part != THRESHOLD}
    names = {part: [name for name, _ in each.estimators] for part, each in stack.items()}
    whole = ["forests", "boosting", "kernel ridge"]
    assert names[WHOLE] == names["weights"] == whole
    assert names["forests"] == whole[1:] and names["kernel ridge"] == whole[:-1]
    assert names["boosting"] == ["forests", "kernel ridge"]
    forests = {part: each.estimators_[0] for part, each in stack.items() if names[part][0] == "forests"}
    assert (forests[WHOLE].shape, forests["chosen shapes"].shape) == ("auto", "paper")
    assert len(forests["levels"].levels_) == 1 < len(forests[WHOLE].levels_)
    assert (forests[WHOLE].imputation, forests["imputation"].imputation) == (None, "fla")
    np.testing.assert_array_equal(stack["weights"].weights_, [1 / 3] * 3)
    assert stack["label frequency"].label_frequency_ == 1
    pooled = stack["calibration"]
    members = [getattr(each, "predict_observed_proba", each.predict_proba)(X) for each in pooled.estimators_]
    expected = np.clip(np.tensordot(pooled.weights_, np.stack(members), axes=1), 1e-3, 1 - 1e-3)
    np.testing.assert_allclose(pooled.predict_observed_proba(X), expected, rtol=0, atol=2e-3)
    assert set(stacks) == {WHOLE, *PARTS}


def test_members_in_common_are_fitted_once_and_scores_are_those_of_each_alone(data, monkeypatch):
    X, Y = data
    fits, fit = [], MultilabelBoosting.fit
    monkeypatch.setattr(MultilabelBoosting, "fit", lambda self, *given: fits.append(len(given[0])) or fit(self, *given))

    def score(make, fold):
        P = next(make(fold).fit(X[fold::2], Y[fold::2]).staged_predict_proba(X))
        return pd.DataFrame({"fold": fold, "metric": range(P.size), "value": P.ravel()})

    parts = ["levels", "weights", "kernel ridge", THRESHOLD]
    found = scores_of_parts(score, lambda fold: SMALL, 2, parts)
    assert fits == [len(X[fold::2]) for fold in range(2)]
    for (part, fold), rows in found.groupby(["part", "fold"]):
        expected = score(lambda _, part=part: make_variant(part, **SMALL), fold)
        np.testing.assert_array_equal(rows["value"], expected["value"], err_msg=part)


def test_one_half_is_where_the_threshold_was_and_the_order_stays(data):
    X, Y = data
    model, moved = make_model("Stack+", **SMALL).fit(X, Y), make_variant(THRESHOLD, **SMALL).fit(X, Y)
    before, after = model.predict_proba(X), next(moved.staged_predict_proba(X))
    np.testing.assert_array_equal(after > 0.5, model.predict(X, objective="mcc"))
    np.testing.assert_array_equal(np.argsort(before, axis=None), np.argsort(after, axis=None))
    assert after.min() >= 0 and after.max() <= 1


def test_gains_are_differences_of_means_with_corrected_intervals():
    rng = np.random.default_rng(1)
    cells = pd.MultiIndex.from_product(
        [["a", "b"], [0, 50], range(4), [WHOLE, "boosting", "imputation"], range(3), ["mcc", "hamming_loss"]],
        names=["dataset", "missing_rate", "repeat", "part", "fold", "metric"],
    )
    scores = pd.Series(rng.random(len(cells)), cells, name="value").reset_index().assign(reason="")
    found = ablation_table(scores, n_splits=3).set_index(["dataset", "missing_rate", "metric", "part"])
    assert len(found) == 3 * 2 * 2 * 2 and (found["n_repeats"] == 4).all()

    def mean_of(part, dataset, repeat, metric):
        rows = scores[(scores["part"] == part) & (scores["repeat"] == repeat) & (scores["metric"] == metric)]
        rows = rows[rows["missing_rate"] == 50]
        return np.mean([rows[rows["dataset"] == each]["value"].mean() for each in dataset])

    for name, datasets in (("a", ["a"]), ("all", ["a", "b"])):
        for metric, part, sign in (("mcc", "boosting", 1), ("hamming_loss", "boosting", -1), ("mcc", "imputation", -1)):
            lead = [
                sign * (mean_of(WHOLE, datasets, repeat, metric) - mean_of(part, datasets, repeat, metric))
                for repeat in range(4)
            ]
            row = found.loc[(name, 50, metric, part)]
            assert row["gain"] == pytest.approx(np.mean(lead), abs=1e-12)
            # cross-validations of the same samples: s² (1 / J + k / (k - 1))
            half = student.ppf(0.975, 3) * np.std(lead, ddof=1) * np.sqrt(1 / 4 + 3 / 2)
            assert (row["low"], row["high"]) == pytest.approx((np.mean(lead) - half, np.mean(lead) + half), abs=1e-9)


def test_a_single_split_has_no_interval():
    scores = pd.DataFrame(
        {"dataset": "a", "missing_rate": 0, "repeat": 0, "fold": 0, "metric": "mcc"}
        | {"part": [WHOLE, "levels"], "value": [0.5, 0.4], "reason": ""}
    )
    found = ablation_table(scores, n_splits=5)
    assert found["gain"].tolist() == pytest.approx([0.1, 0.1]) and found[["low", "high"]].isna().all(axis=None)


def test_a_fold_without_a_score_leaves_no_gain_but_its_reason():
    parts = [WHOLE, "levels", "weights"]
    cells = pd.MultiIndex.from_product([range(2), parts, range(2)], names=["repeat", "part", "fold"])
    scores = (
        pd.Series(0.5, cells, name="value").reset_index().assign(dataset="a", missing_rate=0, metric="mcc", reason="")
    )
    scores.loc[(scores["part"] == "levels") & (scores["fold"] == 1), ["value", "reason"]] = [np.nan, "too few samples"]
    found = ablation_table(scores, n_splits=2).set_index(["dataset", "part"])
    assert found["gain"].isna().tolist() == [True, False, True, False]
    row = found.loc[("a", "levels")]
    assert (row["n_failed"], row["reason"]) == (2, "too few samples")
    assert found.loc[("a", "weights"), "reason"] == "" and found["n_failed"].sum() == 2


def test_scores_of_parts_has_the_whole_model_and_every_part_with_the_folds_seed():
    made = []

    def score(make, fold):
        made.append(make(fold))
        return pd.DataFrame({"fold": [fold], "metric": "mcc", "value": 0.0})

    found = scores_of_parts(score, lambda fold: {**SMALL, "random_state": fold}, 2, ["levels", *ADDED])
    assert found["part"].unique().tolist() == [WHOLE, "levels", "imputation"]
    assert found["fold"].tolist() == [model.random_state for model in made] == [0] * 3 + [1] * 3
    assert ablation.MODEL == "Stack+"
