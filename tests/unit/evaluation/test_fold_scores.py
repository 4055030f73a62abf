import numpy as np
import pandas as pd
import pytest

from fairfold.errors import DamagedFileError, ModelError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.evaluation.metrics import BASIC_METRICS, METRICS
from fairfold.evaluation.scores import multilabel_scores


class Oracle:
    """Two levels; remembers what it was trained on; predicts the feature itself."""

    best_levels_ = dict.fromkeys(BASIC_METRICS, 1) | {"roc_auc": 0}

    def __init__(self, fold, seen, broken):
        self.fold, self.seen, self.broken = fold, seen, broken

    def fit(self, X, Y):
        if self.broken == "fit":
            raise ModelError("too few samples.")
        self.seen[self.fold] = (X, Y)
        return self

    def staged_predict_proba(self, X):
        yield 1 - X
        yield X * (np.nan if self.broken == "predict" else 1)


def run(broken=lambda fold: None, folds=None, n_labels=3):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (30, 3))[:, :n_labels]
    fold_of, seen = np.arange(30) % 3, {}
    observed = [Y * (np.arange(30)[:, None] != fold) for fold in range(3)]
    tables = score_on_folds(
        lambda fold: Oracle(fold, seen, broken(fold)),
        Y.astype(float),
        Y,
        fold_of,
        lambda fold: observed[fold],
        folds=folds,
        examine=lambda estimator, truth: pd.DataFrame({"of": [estimator.fold] * 2, "positives": truth.sum()}),
    )
    return tables, seen, Y, fold_of, observed


def test_trains_on_observed_labels_and_scores_on_true_ones():
    (scores, *_), seen, Y, fold_of, observed = run()
    for fold in range(3):
        np.testing.assert_array_equal(seen[fold][0], Y[fold_of != fold])
        np.testing.assert_array_equal(seen[fold][1], observed[fold][fold_of != fold])
    assert (scores.loc[scores["is_final"] & (scores["metric"] == "mcc"), "value"] == 1).all()
    assert (scores.loc[(scores["level"] == 0) & (scores["metric"] == "mcc"), "value"] == -1).all()
    assert len(scores) == 3 * 2 * len(BASIC_METRICS)


def test_folds_that_are_asked_for_have_the_rows_that_they_have_among_all():
    all_of_them, one = run()[0], run(folds=[1])[0]
    for whole, part in zip(all_of_them[:1] + all_of_them[2:3], one[:1] + one[2:3], strict=True):
        pd.testing.assert_frame_equal(part, whole[whole["fold"] == 1].reset_index(drop=True))
    assert one.seconds["fold"].unique().tolist() == [1]


def test_what_is_left_of_the_labels_in_a_test_part_gives_scores_of_its_own():
    rng = np.random.default_rng(1)
    Y = rng.integers(0, 2, (30, 3))
    known = [Y * rng.integers(0, 2, Y.shape) for _ in range(3)]
    fold_of = np.arange(30) % 3
    given = (lambda fold: Oracle(fold, {}, None), Y.astype(float), Y, fold_of, lambda fold: Y)
    scores = score_on_folds(*given, observed_in_test=lambda fold: known[fold], threshold=0.4).scores
    final = scores[scores["is_final"]].set_index(["fold", "metric"])["observed_value"]
    for fold in range(3):
        stages = list(Oracle(fold, {}, None).staged_predict_proba(Y[fold_of == fold].astype(float)))
        for metric, level in Oracle.best_levels_.items():
            expected = multilabel_scores(known[fold][fold_of == fold], stages[level], 0.4)[metric]
            assert final[fold, metric] == expected
    assert scores.loc[~scores["is_final"], "observed_value"].isna().all()
    assert "observed_value" not in score_on_folds(*given).scores


def test_predictions_are_what_final_scores_are_of():
    (scores, _, _, predictions), _, Y, fold_of, _ = run()
    for row in scores[scores["is_final"]].itertuples():
        test = fold_of == row.fold
        assert multilabel_scores(Y[test], predictions.by(row.metric)[test])[row.metric] == pytest.approx(row.value)


def test_a_failure_is_a_row_with_its_reason():
    (scores, _, _, predictions), _, _, fold_of, _ = run(lambda fold: "fit" if fold == 1 else None)
    np.testing.assert_array_equal(np.isnan(predictions.by("mcc")).all(axis=1), fold_of == 1)
    failed = scores[scores["fold"] == 1]
    assert failed["value"].isna().all()
    assert failed["is_final"].all()
    assert set(failed["reason"]) == {"too few samples."}
    assert set(failed["metric"]) == set(BASIC_METRICS)
    assert scores.loc[scores["fold"] != 1, "value"].notna().all()


def test_an_undefined_metric_has_its_reason_and_fails_no_model():
    (scores, *_), *_ = run(n_labels=1)
    is_undefined = scores["metric"] == "ranking_loss"
    assert scores.loc[is_undefined, "value"].isna().all()
    assert set(scores.loc[is_undefined, "reason"]) == {METRICS["ranking_loss"].undefined}
    assert scores.loc[~is_undefined, "value"].notna().all() and set(scores.loc[~is_undefined, "reason"]) == {""}


def test_a_nan_from_a_model_is_a_failure_too():
    (scores, *_), *_ = run(lambda fold: "predict" if fold == 2 else None)
    failed = scores[(scores["fold"] == 2) & scores["is_final"]]
    assert failed["value"].isna().all()
    assert failed["reason"].str.contains("level 1 predicts probabilities that are not finite").all()


def test_the_final_level_is_that_of_the_metric():
    (scores, *_), *_ = run()
    final = scores[scores["is_final"]]
    assert len(final) == 3 * len(BASIC_METRICS)
    assert (final["level"] == (final["metric"] != "roc_auc")).all()


def test_times_and_findings_of_each_fold():
    (_, seconds, findings, _), _, Y, fold_of, _ = run(lambda fold: "fit" if fold == 1 else None)
    assert seconds[["fold", "step"]].to_numpy().tolist() == [[0, "fit"], [0, "predict"], [2, "fit"], [2, "predict"]]
    assert (seconds["seconds"] >= 0).all()
    assert findings["fold"].tolist() == [0, 0, 1, 2, 2]
    assert findings["of"].dropna().tolist() == [0, 0, 2, 2]
    assert findings["positives"].dropna().tolist() == [Y[fold_of != fold].sum() for fold in (0, 0, 2, 2)]
    assert findings["reason"].dropna().tolist() == ["too few samples."]


def test_each_fold_is_fitted_with_its_options():
    given = []

    class Optional(Oracle):
        def fit(self, X, Y, **options):
            given.append((self.fold, options))
            return super().fit(X, Y)

    Y, fold_of = np.array([[0, 1], [1, 0]] * 3), np.array([0, 0, 1, 1, 2, 2])
    score_on_folds(
        lambda fold: Optional(fold, {}, None),
        Y.astype(float),
        Y,
        fold_of,
        lambda fold: Y,
        fit_options=lambda fold: {"first_level": f"of fold {fold}"},
    )
    assert given == [(fold, {"first_level": f"of fold {fold}"}) for fold in range(3)]


def test_a_fitted_estimator_may_be_adjusted_by_the_truth():
    """What it chooses after that is final."""
    seen = []

    def adjust(estimator, truth):
        seen.append(truth)
        estimator.best_levels_ = dict.fromkeys(BASIC_METRICS, 0)

    Y, fold_of = np.random.default_rng(0).integers(0, 2, (30, 3)), np.arange(30) % 3
    make = lambda fold: Oracle(fold, {}, None)  # noqa: E731
    tables = score_on_folds(make, Y.astype(float), Y, fold_of, lambda fold: np.zeros_like(Y), adjust=adjust)
    for fold, truth in enumerate(seen):
        np.testing.assert_array_equal(truth, Y[fold_of != fold])
    assert (tables.scores["is_final"] == (tables.scores["level"] == 0)).all()


def test_folds_of_several_splits_follow_each_other():
    rng = np.random.default_rng(1)
    Y, X = rng.integers(0, 2, (30, 3)), rng.random((30, 3))
    splits = np.stack([rng.permutation(np.arange(30) % 3) for _ in range(2)])

    def on(folds, first=0):
        observed = [Y ^ (rng_of.random(Y.shape) < 0.2) for rng_of in map(np.random.default_rng, range(6))]
        return score_on_folds(
            lambda fold: Oracle(fold, {}, "fit" if fold + first == 4 else None),
            *(X, Y, folds, lambda fold: observed[fold + first]),
            observed_in_test=lambda fold: observed[0],
            examine=lambda estimator, truth: pd.DataFrame({"positives": truth.sum(axis=0)}),
        )

    found = on(splits)
    for number, tables in enumerate(zip(found[:3], on(splits[0])[:3], on(splits[1], 3)[:3], strict=True)):
        whole, first, second = (table.drop(columns="seconds") if number == 1 else table for table in tables)
        expected = pd.concat([first, second.assign(fold=second["fold"] + 3)], ignore_index=True)
        pd.testing.assert_frame_equal(whole, expected)
    P = found.predictions
    for fold in range(3):
        np.testing.assert_array_equal(P.in_fold("mcc", fold + 3), on(splits[1], 3).predictions.in_fold("mcc", fold))


def test_a_damaged_file_of_options_is_no_failure_of_the_estimator():
    def read(fold):
        raise DamagedFileError("first_level.npz", "a file of first levels", "its checksum is wrong")

    Y = np.tile([[0, 1], [1, 0]], (3, 1))
    with pytest.raises(DamagedFileError, match=r"first_level\.npz"):
        score_on_folds(Oracle, Y * 1.0, Y, np.arange(6) % 3, lambda fold: Y, fit_options=read)
