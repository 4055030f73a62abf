import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.core.arrays import finite_rows
from fairfold.errors import DamagedFileError, DataError, ModelError
from fairfold.evaluation.fold_scores import FinalPredictions, score_on_folds, write_predictions
from fairfold.metrics.registry import BASIC_METRICS, METRICS
from fairfold.metrics.scores import multilabel_scores


class Oracle:
    """Model with two levels that records its training data and predicts the feature."""

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


def run(broken=lambda fold: None, n_labels=3):
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
    """Choices made in ``adjust`` are final."""
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


FOLD_OF = np.array([0, 1, 0, 1, -1])
LEVELS = {0: dict.fromkeys(BASIC_METRICS, 2) | {"mcc": 0}, 1: dict.fromkeys(BASIC_METRICS, 1)}


@pytest.fixture
def stages():
    """Probabilities after three levels of two folds."""
    random = np.random.default_rng(0)
    return {fold: {level: random.random((2, 3)) for level in range(3)} for fold in (0, 1)}


def test_each_metric_has_its_level_of_each_fold(stages, tmp_path):
    found = FinalPredictions.of_folds(stages, LEVELS, FOLD_OF, 3)
    write_predictions({"RF+ET": found}, tmp_path / "predictions.npz")
    for predictions in (found, FinalPredictions.load(tmp_path / "predictions.npz", "RF+ET")):
        for metric in BASIC_METRICS:
            expected = np.full((5, 3), np.nan)
            expected[[0, 2]] = stages[0][LEVELS[0][metric]]
            expected[[1, 3]] = stages[1][1]
            np.testing.assert_array_equal(predictions.by(metric), expected)
    assert found.probabilities.shape == (2, 5, 3)  # no more levels than needed


def test_a_fold_that_failed_has_none(stages):
    found = FinalPredictions.of_folds({0: stages[0]}, {0: LEVELS[0]}, FOLD_OF, 3)
    assert np.isnan(found.by("mcc")).all(axis=1).tolist() == [False, True, False, True, True]
    assert np.isnan(FinalPredictions.of_folds({}, {}, FOLD_OF, 3).by("mcc")).all()


def test_unknown_metrics_are_refused(stages):
    with pytest.raises(DataError, match="unknown metric 'gini'"):
        FinalPredictions.of_folds(stages, LEVELS, FOLD_OF, 3).by("gini")


def test_predictions_of_several_splits_follow_each_other(stages, tmp_path):
    splits = np.array([[0, 1, 0, 1], [1, 1, 0, 0]])
    stages |= {2: {0: np.full((2, 3), 0.25)}}  # fold 3, the last one of the second split, failed
    levels = {**LEVELS, 2: dict.fromkeys(BASIC_METRICS, 0)}
    write_predictions({"RF+ET": FinalPredictions.of_folds(stages, levels, splits, 3)}, tmp_path / "predictions.npz")
    found = FinalPredictions.load(tmp_path / "predictions.npz", "RF+ET")
    for metric in BASIC_METRICS:
        for fold in range(3):
            np.testing.assert_array_equal(found.in_fold(metric, fold), stages[fold][levels[fold][metric]])
        assert np.isnan(found.in_fold(metric, 3)).all()
        first = FinalPredictions.of_folds(stages, LEVELS, splits[0], 3).by(metric)
        np.testing.assert_allclose(found.by(metric), [*first[:2], *(first[2:] + 0.25) / 2])


def test_sparse_predictions_stay_sparse_and_are_those_of_the_array(stages, tmp_path):
    """Cover one split, several splits and failed folds. A row without predictions stores one NaN."""
    splits = np.array([[0, 1, 0, 1, -1], [1, 1, 0, 0, -1]])
    stages = {fold: {level: np.where(P < 0.4, 0, P) for level, P in of.items()} for fold, of in stages.items()}
    stages |= {2: {0: np.full((2, 3), 0.25)}}
    levels = {**LEVELS, 2: dict.fromkeys(BASIC_METRICS, 0)}
    for fold_of, folds in ((FOLD_OF, (0, 1)), (FOLD_OF, (0,)), (splits, (0, 1, 2)), (splits, (0, 2))):
        kept = {fold: levels[fold] for fold in folds}
        thin = {fold: {level: sparse.csr_array(P) for level, P in stages[fold].items()} for fold in folds}
        write_predictions({"RF+ET": FinalPredictions.of_folds(thin, kept, fold_of, 3)}, tmp_path / "predictions.npz")
        found, dense = (
            FinalPredictions.load(tmp_path / "predictions.npz", "RF+ET"),
            FinalPredictions.of_folds(stages, kept, fold_of, 3),
        )
        assert sparse.issparse(found.probabilities)
        for metric in BASIC_METRICS:
            pairs = [(found.by(metric), dense.by(metric))]
            pairs += [(found.in_fold(metric, fold), dense.in_fold(metric, fold)) for fold in folds]
            for thin_P, P in pairs:
                assert sparse.issparse(thin_P)
                known = finite_rows(P)
                np.testing.assert_array_equal(finite_rows(thin_P), known)
                np.testing.assert_allclose(thin_P.toarray()[known], P[known])


def test_one_split_is_the_same_in_either_form(stages):
    found = FinalPredictions.of_folds(stages, LEVELS, FOLD_OF[np.newaxis], 3)
    for array, expected in zip(found, FinalPredictions.of_folds(stages, LEVELS, FOLD_OF, 3), strict=True):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_digest_is_that_of_equal_predictions_alone(convert):
    P, kept = np.random.default_rng(0).random((5, 3)), np.zeros((2, 2), dtype=np.int8)
    P[4] = np.nan

    def digest(P, kept=kept):
        return FinalPredictions(P[np.newaxis] if convert is np.asarray else convert(P), kept, FOLD_OF).digest()

    assert digest(P) == digest(P.copy())
    nearly = np.where(P[0, 0] == P, np.nextafter(P, 1), P)
    assert len({digest(P), digest(nearly), digest(P[::-1]), digest(P, kept + 1)}) == 4


class Deciding(Oracle):
    """Oracle that has thresholds, and decides that every sample has all labels."""

    has_thresholds = True

    def decide(self, P, objective):
        return np.ones(P.shape, dtype=np.int8) if objective == "f1_macro" else P > 2


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_score_of_a_study_is_that_of_decisions_for_it(kind, tmp_path):
    Y = np.random.default_rng(3).integers(0, 2, (30, 3))
    given = {"X": Y.astype(float), "Y": Y, "fold_of": np.arange(30) % 3, "observed": lambda fold: Y}

    class Model(Deciding):
        def staged_predict_proba(self, X):
            yield from map(kind, super().staged_predict_proba(X))

        def decide(self, P, objective):
            return kind(super().decide(P, objective))

    plain = score_on_folds(lambda fold: Model(fold, {}, None), **given)
    found = score_on_folds(lambda fold: Model(fold, {}, None), **given, score="f1_macro", observed_in_test=lambda _: Y)
    further = found.scores[found.scores["metric"] == "f1_macro"]
    assert further["is_final"].all() and further["level"].eq(1).all()
    for row in further.itertuples():
        decided = np.ones((10, 3))
        expected = multilabel_scores(Y[row.fold :: 3], decided, metrics=["f1_macro"])["f1_macro"]
        assert row.value == row.observed_value == pytest.approx(expected)
        in_fold = found.predictions.in_fold("f1_macro", row.fold)
        np.testing.assert_array_equal(in_fold.toarray() if sparse.issparse(in_fold) else in_fold, decided)
    rest = found.scores[found.scores["metric"] != "f1_macro"].drop(columns="observed_value")
    pd.testing.assert_frame_equal(rest.reset_index(drop=True), plain.scores)
    write_predictions({"a": found.predictions}, tmp_path / "p.npz")
    again = FinalPredictions.load(tmp_path / "p.npz", "a")
    assert again.digest() == found.predictions.digest()
    with pytest.raises(DataError, match="unknown metric 'f1_macro'"):
        plain.predictions.by("f1_macro")
    # Without thresholds, the threshold of the study applies.
    oracle = score_on_folds(lambda fold: Oracle(fold, {}, None), **given, score="f1_macro").scores
    assert (oracle.loc[oracle["metric"] == "f1_macro", "value"] == 1).all()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_predictions_of_many_samples_are_in_single_precision(convert, monkeypatch):
    fold_of, P = np.arange(30) % 2, np.random.default_rng(0).random((30, 3))
    stages = {fold: {0: convert(P[fold_of == fold])} for fold in range(2)}
    given = stages, {fold: dict.fromkeys(BASIC_METRICS, 0) for fold in range(2)}, fold_of, 3
    few = FinalPredictions.of_folds(*given).by("mcc")
    monkeypatch.setattr("fairfold.evaluation.fold_scores.MANY_SAMPLES", 30)
    many = FinalPredictions.of_folds(*given).by("mcc")
    assert few.dtype == np.float64 and many.dtype == np.float32
    np.testing.assert_array_equal(to_array(few), P)
    np.testing.assert_array_equal(to_array(many), P.astype(np.float32))


def test_a_model_that_fails_on_sparse_labels_has_sparse_predictions():
    """Dense ones would need gigabytes for many labels."""
    Y = sparse.csr_array(np.eye(6, dtype=np.int8))
    fold_of = np.arange(6) % 2
    tables = score_on_folds(lambda fold: Oracle(fold, {}, "fit"), np.eye(6), Y, fold_of, lambda fold: Y)
    P = tables.predictions.by("mcc")
    assert sparse.issparse(P) and P.nnz == len(fold_of) and not finite_rows(P).any()


def to_array(P):
    return P.toarray() if sparse.issparse(P) else P
