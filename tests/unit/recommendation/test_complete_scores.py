import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.core.folds import BEFORE
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.corrections import SENSITIVITY
from fairfold.metrics.registry import BASIC_METRICS, METRICS, Metric
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels import corrected
from fairfold.missing_labels.corrected import corrected_draws, corrected_scores, frequency_if_hard
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.recommendation.complete_scores import (
    ALL_MODELS,
    WIDER,
    complete_scores,
    correction_quality,
    share_left,
    with_notes,
)
from fairfold.weak_labels import mask_positives

N, N_LABELS, N_DRAWS = 160, 4, 40
FREQUENCY = FrequencyDistribution(np.array([0.4, 0.5, 0.6, 1.0]), np.array([0.25, 0.5, 0.24, 0.01]))
FOLD_OF = np.arange(N) % 2


@pytest.fixture(scope="module")
def data():
    """Return labels, observed labels and the predictions of a good model and a noise model."""
    random = np.random.default_rng(0)
    P = random.random((N, N_LABELS))
    Y = (random.random(P.shape) < P**2).astype(np.int8)
    levels = {fold: dict.fromkeys(BASIC_METRICS, 0) | {"mcc": 1} for fold in (0, 1)}
    predictions = {}
    for name, probabilities in (("good", P), ("noise", random.random(P.shape))):
        stages = {fold: {0: probabilities[fold == FOLD_OF], 1: probabilities[fold == FOLD_OF] ** 2} for fold in (0, 1)}
        predictions[name] = FinalPredictions.of_folds(stages, levels, FOLD_OF, N_LABELS)
    return Y, mask_positives(Y, 0.5, random_state=1), predictions


@pytest.fixture(scope="module")
def tables(data):
    return complete_scores(*data, FREQUENCY, 0.5, n_draws=N_DRAWS, random_state=7)


@pytest.fixture
def no_optimism(monkeypatch):
    """Replace shifts of label frequencies by 0."""

    def no_shifts(observed, *_, **__):
        return np.zeros((2, observed.shape[1]))

    monkeypatch.setattr("fairfold.recommendation.complete_scores.frequency_shifts", no_shifts)


def test_folds_are_scored_by_all_that_is_known(data, tables):
    Y, observed, predictions = data
    assert list(tables["folds"].columns[:3]) == ["model", "fold", "metric"]
    assert len(tables["folds"]) == 2 * 2 * len(BASIC_METRICS)
    for row in tables["folds"].itertuples():
        test = row.fold == FOLD_OF
        P = predictions[row.model].by(row.metric)[test]
        assert row.complete == multilabel_scores(Y[test], P)[row.metric]
        assert row.observed == multilabel_scores(observed[test], P)[row.metric]
        for found, c in ((row.corrected, FREQUENCY.median), (row.known, 0.5)):
            assert found == corrected_scores(observed[test], P, c, metrics=[row.metric])[row.metric]


def test_means_over_folds(tables):
    means = tables["folds"].groupby(["model", "metric"])[["complete", "observed", "corrected", "known"]].mean()
    found = tables["scores"].set_index(["model", "metric"])
    np.testing.assert_allclose(found.loc[means.index, means.columns], means, rtol=1e-12)
    assert tables["scores"]["model"].unique().tolist() == ["good", "noise"]


def test_intervals_are_quantiles_of_paired_draws(data, tables):
    _, observed, predictions = data
    frequencies, drawn = FREQUENCY.draw(N_DRAWS, 7), {}
    for model in ("good", "noise"):
        folds = []
        for fold in (0, 1):
            test, of_draws = fold == FOLD_OF, iter(frequencies)
            P = predictions[model].by("mcc")[test]
            given = {"metrics": ["mcc"], "n_draws": N_DRAWS, "random_state": 7 + fold}
            folds.append(corrected_draws(observed[test], P, lambda rows, of=of_draws: next(of), **given)["mcc"])
        drawn[model] = np.mean(folds, axis=0)
    found = tables["scores"].query("metric == 'mcc'").set_index("model")
    optimism = tables["folds"].query("metric == 'mcc'").groupby("model")["optimism"].mean().clip(lower=0)
    for model in ("good", "noise"):
        low, high = np.quantile(drawn[model], [0.025, 0.975])
        ends = [low - optimism[model], high]
        np.testing.assert_allclose(found.loc[model, ["low", "high"]].astype(float), ends)
    assert found.loc["good", "share_best"] == np.mean(drawn["good"] >= drawn["noise"])
    assert found["share_best"].sum() == pytest.approx(1)


@pytest.mark.usefixtures("no_optimism")
@pytest.mark.parametrize(
    ("metric", "worse", "better"), [("average_precision", "low", "high"), ("ranking_loss", "high", "low")]
)
def test_intervals_for_labels_as_given_are_wider_and_moved_by_the_bias_of_few_samples(metric, worse, better):
    """Half of the samples are drawn twice or more, so ties among few positives raise the scores of draws."""
    random = np.random.default_rng(5)
    P = random.random((N, N_LABELS))
    Y = (random.random(P.shape) < P**6).astype(np.int8)
    predictions = {"m": FinalPredictions(P[np.newaxis], np.zeros((len(BASIC_METRICS), 2), dtype=int), FOLD_OF)}
    certain = FrequencyDistribution.certain(1.0)
    scores = complete_scores(Y, Y, predictions, certain, 1.0, n_draws=N_DRAWS, random_state=7)["scores"]
    found = scores.set_index("metric").loc[metric]
    given = {"metrics": [metric], "n_draws": N_DRAWS}
    parts = [(Y[test], P[test]) for test in (FOLD_OF == 0, FOLD_OF == 1)]
    drawn = np.mean(
        [corrected_draws(*part, 1.0, **given, random_state=7 + fold)[metric] for fold, part in enumerate(parts)], axis=0
    )
    score = found["corrected"]
    ends = dict(zip(("low", "high"), score + WIDER * (np.quantile(drawn, [0.025, 0.975]) - score), strict=True))
    bias = METRICS[metric].direction * (drawn.mean() - score)
    assert found[better] == pytest.approx(ends[better])
    assert found[worse] == pytest.approx(ends[worse] - METRICS[metric].direction * max(bias, 0))
    assert metric == "ranking_loss" or bias > 0


def test_worse_ends_of_intervals_are_moved_by_the_optimism_of_folds(request):
    """The probabilities are the frequencies of the labels in the data."""
    random = np.random.default_rng(2)
    Y = (random.random((N, 30)) < random.beta(1, 8, 30)).astype(np.int8)
    P = np.tile(Y.mean(axis=0), (N, 1))
    levels = np.zeros((len(BASIC_METRICS), 2), dtype=int)
    given = Y, Y, {"m": FinalPredictions(P[np.newaxis], levels, FOLD_OF)}, FrequencyDistribution.certain(1.0), 1.0
    with_optimism = complete_scores(*given, n_draws=N_DRAWS)
    request.getfixturevalue("no_optimism")
    without = complete_scores(*given, n_draws=N_DRAWS)
    assert (without["folds"]["optimism"] == 0).all()
    tables = (each["scores"].set_index("metric")[["low", "high"]] for each in (with_optimism, without))
    moves = next(tables) - next(tables)
    for metric, optimism in with_optimism["folds"].groupby("metric")["optimism"].mean().items():
        is_score = METRICS[metric].direction > 0
        move = optimism * (2 if metric == "roc_auc" else 1)
        expected = [-max(move, 0), 0] if is_score else [0, max(-move, 0)]
        np.testing.assert_allclose(moves.loc[metric], expected, atol=1e-12)
    assert moves.loc["average_precision", "low"] < 0 < moves.loc["ranking_loss", "high"]


def test_intervals_contain_the_estimate():
    """No predicted label is true, but draws of the observed labels may have true positives."""
    Y, P = np.zeros((N, 2), dtype=np.int8), np.full((N, 2), 0.1)
    Y[:10, 0], P[-4:, 1] = 1, 0.9
    predictions = {"m": FinalPredictions(P[np.newaxis], np.zeros((len(BASIC_METRICS), 2), dtype=int), FOLD_OF)}
    scores = complete_scores(Y, Y, predictions, FREQUENCY, 0.5, balanced=False, n_draws=N_DRAWS)["scores"]
    mcc = scores.set_index("metric").loc["mcc"]
    assert mcc["low"] == mcc["corrected"] < 0 < mcc["high"]
    assert (scores["low"] <= scores["corrected"]).all()
    assert (scores["corrected"] <= scores["high"]).all()


def test_folds_that_do_not_balance_labels_are_not_optimistic(data, tables):
    found = complete_scores(*data, FREQUENCY, 0.5, balanced=False, n_draws=N_DRAWS, random_state=7)
    assert (found["folds"]["optimism"] == 0).all()
    assert (found["scores"]["low"] >= tables["scores"]["low"]).all()
    assert (found["scores"]["low"] > tables["scores"]["low"]).any()


def test_periods_show_what_share_of_their_samples_is_tested():
    """The first period trains on 40 samples, the second on 100. Samples before both are in no score."""
    fold_of = np.repeat([BEFORE, 0, 1], [40, 60, 20])
    random = np.random.default_rng(3)
    P = random.random((120, N_LABELS))
    Y = (random.random(P.shape) < P).astype(np.int8)
    P[:40] = np.nan
    predictions = {"m": FinalPredictions(P[np.newaxis], np.zeros((len(BASIC_METRICS), 2), dtype=int), fold_of)}
    tables = complete_scores(Y, Y, predictions, FrequencyDistribution.certain(1.0), 1.0, n_draws=5)
    found = tables["folds"].drop_duplicates("fold").set_index("fold")["share_tested"]
    assert found.to_dict() == {0: 60 / 100, 1: 20 / 120}
    changed = np.where(fold_of[:, np.newaxis] == BEFORE, 1 - Y, Y)
    other = complete_scores(changed, changed, predictions, FrequencyDistribution.certain(1.0), 1.0, n_draws=5)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(other[name], table)


@pytest.mark.parametrize("never", [-1, BEFORE])
@pytest.mark.parametrize("as_matrix", [np.array, sparse.csr_matrix])
def test_share_that_is_left_is_of_what_is_tested(never, as_matrix):
    Y = np.array([[1, 1], [1, 1], [1, 0], [0, 1]])
    observed = np.array([[1, 1], [0, 1], [0, 0], [0, 1]])
    fold_of = np.array([never, 0, 1, 1])
    for folds in (fold_of, np.stack([fold_of, fold_of])):
        assert share_left(as_matrix(Y), as_matrix(observed), folds) == 2 / 4


def test_fewer_losses_are_better(tables):
    found = tables["scores"].set_index(["metric", "model"])["share_best"]
    assert found["ranking_loss", "good"] > 0.9


def test_sparse_predictions_are_those_of_the_array(data, tables):
    Y, observed, predictions = data
    thin = {
        model: each._replace(probabilities=sparse.csr_array(each.probabilities.reshape(-1, N_LABELS)))
        for model, each in predictions.items()
    }
    of_sparse = map(sparse.csr_array, (Y, observed))
    found = complete_scores(*of_sparse, thin, FREQUENCY, 0.5, n_draws=N_DRAWS, random_state=7)
    for name, table in found.items():
        assert table[SENSITIVITY].isna().all(axis=None)
        alike = (each.drop(columns=SENSITIVITY) for each in (table, tables[name]))
        pd.testing.assert_frame_equal(*alike, rtol=1e-9)


def test_hard_missing_positives_mean_lower_scores(data, tables):
    found = tables["scores"].set_index("model").loc["good"].set_index("metric")
    gains = found.drop(index=["hamming_loss", "ranking_loss"])
    assert (gains["if_hard"] < gains["corrected"]).all() and (gains["corrected"] < gains["if_easy"]).all()
    assert found.loc["hamming_loss", "if_hard"] > found.loc["hamming_loss", "if_easy"]
    Y, _, predictions = data
    complete = complete_scores(Y, Y, predictions, FrequencyDistribution.certain(1.0), 1.0, n_draws=2)["scores"]
    assert complete[SENSITIVITY].isna().all(axis=None)  # nothing is missing


def test_labels_as_they_are_have_observed_scores_with_intervals_and_scores_at_the_bound(data):
    _, observed, predictions = data
    given = {"bound": 0.4, "hierarchical": True, "n_draws": N_DRAWS}
    found = complete_scores(observed, observed, predictions, FrequencyDistribution.certain(1.0), 1.0, **given)
    scores, folds = found["scores"], found["folds"]
    np.testing.assert_allclose(scores["corrected"], scores["observed"], rtol=1e-9)
    assert scores[["low", "high"]].notna().all(axis=None)  # also of ranking loss: nothing is corrected
    for row in folds[folds["metric"] == "average_precision"].itertuples():
        test = row.fold == FOLD_OF
        P = predictions[row.model].by("average_precision")[test]
        c = np.maximum(0.4, observed.mean(axis=0))  # a label misses at most its zeros
        assert (
            row.at_bound == corrected_scores(observed[test], P, c, metrics=["average_precision"])["average_precision"]
        )


def test_no_label_has_more_hidden_positives_than_zeros(no_optimism):
    """The first label is 90 % positive, so that at most a tenth of its positives is hidden, not the declared half."""
    random = np.random.default_rng(4)
    P = random.random((N, 2))
    Y = np.column_stack([np.arange(N) % 20 < 18, P[:, 1] > 0.8]).astype(np.int8)
    predictions = {"m": FinalPredictions(P[np.newaxis], np.zeros((len(BASIC_METRICS), 2), dtype=int), FOLD_OF)}
    frequency = FrequencyDistribution.certain(0.5)
    found = complete_scores(Y, Y, predictions, frequency, 0.5, bound=0.4, n_draws=3)["folds"]
    for row in found.itertuples():
        test = row.fold == FOLD_OF
        for value, c in ((row.corrected, 0.5), (row.known, 0.5), (row.at_bound, 0.4)):
            capped = [Y[test, 0].mean(), c]
            assert value == corrected_scores(Y[test], P[test], capped, metrics=[row.metric])[row.metric]
    capped = np.array([[0.9, 0.5]]).repeat(3, axis=0)
    cells = frequency_if_hard(Y, P, 0.5, 2)
    n_hidden, n_zeros = ((1 / cells - 1) * Y).sum(axis=0), (Y == 0).sum(axis=0)
    assert n_hidden[0] == pytest.approx(n_zeros[0])
    assert n_hidden[1] < n_zeros[1]
    counts = np.ones((3, N), dtype=int)
    scorers = (corrected.Corrected(Y, P, 0.5, ("ranking_loss",)) for _ in range(2))
    drawn = next(scorers).draws(capped, counts, 0)["ranking_loss"]
    assert drawn.tolist() == [next(scorers).scores(capped[0])["ranking_loss"]] * 3


def test_in_a_hierarchy_ranking_loss_is_not_corrected(data, tables):
    found = complete_scores(*data, FREQUENCY, 0.5, hierarchical=True, n_draws=N_DRAWS, random_state=7)["scores"]
    is_left_out = found["metric"] == "ranking_loss"
    pd.testing.assert_frame_equal(found[~is_left_out], tables["scores"][~is_left_out])
    assert found.loc[is_left_out, ["corrected", "low", "known"]].isna().all(axis=None)
    assert found.loc[is_left_out, ["complete", "observed"]].notna().all(axis=None)


@pytest.fixture
def nothing_unseen(monkeypatch):
    """Draw only samples, without hidden hits."""
    counts = corrected._counts
    monkeypatch.setattr(corrected, "_counts", lambda *given: counts(*given[:2], None))


@pytest.mark.usefixtures("nothing_unseen")
def test_samples_of_a_group_are_drawn_together_and_weights_count(data):
    """Duplicating each sample in groups of two equals doubling its weight."""
    Y, observed, predictions = data
    rows = np.repeat(np.arange(N), 2)
    twice = {
        model: FinalPredictions(each.probabilities[:, rows], each.kept, FOLD_OF[rows])
        for model, each in predictions.items()
    }
    options = {"n_draws": N_DRAWS, "random_state": 7}
    found = complete_scores(Y[rows], observed[rows], twice, FREQUENCY, 0.5, groups=rows, **options)["scores"]
    weights = np.random.default_rng(0).choice([1, 3], size=N).astype(float)
    weighted, copied = (
        complete_scores(*each, FREQUENCY, 0.5, sample_weight=w, **options)["folds"]
        for each, w in ((data, weights), ((Y[rows], observed[rows], twice), np.repeat(weights, 2)))
    )
    single = complete_scores(*data, FREQUENCY, 0.5, **options)["scores"]
    linear = found["metric"] == "hamming_loss"  # other metrics treat a copy as another sample
    np.testing.assert_allclose(found.loc[linear, ["low", "high"]], single.loc[linear, ["low", "high"]])
    np.testing.assert_allclose(copied["complete"], weighted["complete"])


def test_without_a_frequency_nothing_is_corrected(data):
    found = complete_scores(*data, None, 0.5, n_draws=5)["scores"]
    assert found[["corrected", "low", "high", "share_best"]].isna().all(axis=None)
    assert found[["complete", "observed", "known"]].notna().all(axis=None)


def test_a_metric_without_a_correction_has_its_other_scores(data, monkeypatch):
    recall = Metric(1, "micro recall", "recall", "threshold", lambda p: float(p.predicted[p.truth == 1].mean()))
    for metrics in (METRICS, BASIC_METRICS):
        monkeypatch.setitem(metrics, "recall", recall)
    Y, observed, predictions = data
    given = {
        name: each._replace(kept=np.vstack([each.kept, np.zeros((1, 2), dtype=np.int8)]))
        for name, each in predictions.items()
    }
    found = complete_scores(Y, observed, given, FREQUENCY, 0.5, n_draws=5)["scores"].set_index("metric")
    assert found.loc["recall", ["complete", "observed"]].notna().all(axis=None)
    assert found.loc["recall", ["corrected", "low", "high", "share_best", "known"]].isna().all(axis=None)
    assert found.drop(index="recall", columns=["at_bound", "over_labels"]).notna().all(axis=None)
    noted = with_notes(found.reset_index()).set_index("metric")["note"]
    assert (noted["recall"] == "cannot be corrected").all() and (noted.drop("recall") == "").all()


def test_scores_have_no_note_where_all_can_be_corrected(tables):
    assert "note" not in with_notes(tables["scores"])
    noted = with_notes(tables["scores"], hierarchical=True)
    assert set(noted.loc[noted["note"] != "", "metric"]) == {"ranking_loss"}


def test_folds_in_which_a_metric_is_undefined_are_left_out_of_means(data):
    """All labels of the first fold are negative, and the means are those of the second fold."""
    Y, observed, predictions = (data[0].copy(), data[1].copy(), data[2])
    Y[FOLD_OF == 0], observed[FOLD_OF == 0] = 0, 0
    tables = complete_scores(Y, observed, predictions, FREQUENCY, 0.5, n_draws=10, random_state=7)
    found = tables["scores"].set_index(["metric", "model"]).sort_index()
    second = tables["folds"].query("fold == 1").set_index(["metric", "model"]).sort_index()
    defined_by_both = ["complete", "observed"]
    for metric in ("roc_auc", "average_precision", "ranking_loss", "mcc"):
        pd.testing.assert_frame_equal(found.loc[metric, defined_by_both], second.loc[metric, defined_by_both])
        np.testing.assert_allclose(found.loc[metric, "corrected"], second.loc[metric, "corrected"])
        assert found.loc[metric, ["low", "high"]].notna().all(axis=None)


def test_a_metric_that_is_undefined_in_all_folds_has_no_score(data, recwarn):
    Y, observed, predictions = data
    tables = complete_scores(
        *(Y[:, :1], observed[:, :1], {name: _of_one_label(each) for name, each in predictions.items()}, FREQUENCY, 0.5),
        n_draws=10,
    )
    found = tables["scores"].set_index("metric").drop(columns=["model", "at_bound", "over_labels"])
    assert found.loc["ranking_loss"].isna().all(axis=None)
    assert found.drop(index="ranking_loss").notna().all(axis=None)
    assert not list(recwarn)


def _of_one_label(predicted):
    return predicted._replace(probabilities=predicted.probabilities[..., :1])


def test_models_that_tie_share_the_draws(data):
    Y, observed, predictions = data
    twins = {"a": predictions["good"], "b": predictions["good"], "c": predictions["noise"]}
    found = complete_scores(Y, observed, twins, FREQUENCY, 0.5, n_draws=20)["scores"]
    shares = found.pivot(index="metric", columns="model", values="share_best")
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares["a"], shares["b"])


def test_a_model_that_failed_on_a_fold_has_no_mean(data):
    Y, observed, predictions = data
    lost = predictions["noise"].probabilities.copy()
    lost[:, FOLD_OF == 1] = np.nan
    given = {"noise": predictions["noise"]._replace(probabilities=lost), "good": predictions["good"]}
    tables = complete_scores(Y, observed, given, FREQUENCY, 0.5, n_draws=10)
    found = tables["scores"].set_index("model")
    assert found.loc["noise"].drop(columns="metric").isna().all(axis=None)
    assert (found.loc["good", "share_best"] == 1).all()
    assert tables["folds"].query("model == 'noise' and fold == 0")["corrected"].notna().all()


def test_with_complete_labels_estimates_are_the_scores(data):
    Y, _, predictions = data
    found = complete_scores(Y, Y, predictions, FrequencyDistribution.certain(1.0), 1.0, n_draws=10)["scores"]
    for column in ("observed", "corrected", "known"):
        np.testing.assert_allclose(found[column], found["complete"], rtol=1e-9)


QUALITY = pd.DataFrame(
    [
        ("one", 50, "a", "mcc", 0.5, 0.2, 0.55, 0.45, 0.6, 0.5, 0.52),
        ("two", 50, "a", "mcc", 0.5, 0.4, 0.40, 0.30, 0.45, 0.5, 0.46),
        ("one", 50, "b", "mcc", 0.3, 0.1, 0.30, 0.3, 0.35, 0.5, 0.3),
        ("two", 50, "b", "mcc", 0.3, 0.1, np.nan, np.nan, np.nan, np.nan, np.nan),
    ],
    columns=[
        *("dataset", "missing_rate", "model", "metric", "complete", "observed", "corrected", "low", "high"),
        *("share_best", "known"),
    ],
)


def test_quality_counts_by_hand():
    found = correction_quality(QUALITY).set_index("model")
    assert found.index.tolist() == [ALL_MODELS, "a", "b"]
    assert found["n"].tolist() == [3, 2, 1]
    of_a = {"bias_observed": -0.2, "error_observed": 0.2, "bias_corrected": -0.025, "error_corrected": 0.075}
    for column, value in {**of_a, "error_known": 0.03, "coverage": 0.5, "width": 0.15}.items():
        assert found.loc["a", column] == pytest.approx(value)
    assert found.loc[ALL_MODELS, "coverage"] == pytest.approx(2 / 3)


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="has no column 'low'"):
        correction_quality(QUALITY.drop(columns="low"))


def repeated(*splits):
    """Join the predictions of several splits."""
    return FinalPredictions(
        np.stack([each.probabilities for each in splits], axis=1),
        np.concatenate([each.kept for each in splits], axis=1),
        np.stack([each.fold_of for each in splits]),
    )


def test_a_split_that_is_repeated_shows_nothing_more(data, tables):
    Y, observed, predictions = data
    twice = {model: repeated(each, each) for model, each in predictions.items()}
    found = complete_scores(Y, observed, twice, FREQUENCY, 0.5, n_draws=N_DRAWS, random_state=7)
    values = ["complete", "observed", "corrected", "low", "high", "share_best", "known"]
    np.testing.assert_allclose(found["scores"][values], tables["scores"][values], rtol=1e-12)
    for model in predictions:
        of_model, once = (each["folds"].set_index("model").loc[model] for each in (found, tables))
        assert of_model["fold"].tolist() == [*once["fold"], *(once["fold"] + 2)]
        np.testing.assert_array_equal(of_model["corrected"], [*once["corrected"], *once["corrected"]])


@pytest.mark.usefixtures("nothing_unseen", "no_optimism")
@pytest.mark.parametrize("grouped", [False, True])
def test_all_splits_meet_the_same_draws_of_samples(data, grouped):
    """Compare with manual draws.

    Samples, or groups, are drawn within folds of the first split. They have the same counts in the second split.
    """
    _, observed, predictions = data
    groups = np.arange(N) // 4 if grouped else None
    fold_of = [np.arange(N) // 4 % 2, np.arange(N) * 4 // N % 2]
    P = predictions["good"].probabilities[:1]
    kept = np.zeros((len(BASIC_METRICS), 2), dtype=np.int8)
    both = repeated(*(FinalPredictions(P**power, kept, folds) for power, folds in zip((1, 1.5), fold_of, strict=True)))
    given = {"groups": groups, "n_draws": N_DRAWS, "random_state": 7}
    scores = complete_scores(data[0], observed, {"good": both}, FREQUENCY, 0.5, **given)["scores"].set_index("metric")
    units = np.arange(N) if groups is None else groups
    counts = np.zeros((N_DRAWS, N), dtype=int)
    for fold in (0, 1):
        random, names = np.random.default_rng(7 + fold), np.unique(units[fold_of[0] == fold])
        for draw in range(N_DRAWS):
            drawn = dict(zip(names, random.multinomial(len(names), np.full(len(names), 1 / len(names))), strict=True))
            counts[draw] += [drawn.get(unit, 0) for unit in units]
    assert (counts.sum(axis=1) == N).all()
    means = []
    for count, c in zip(counts, FREQUENCY.draw(N_DRAWS, 7), strict=True):
        of_folds = []
        for power, folds in zip((1, 1.5), fold_of, strict=True):
            for fold in (0, 1):
                rows = np.repeat(np.arange(N), count * (folds == fold))
                of_folds.append(corrected_scores(observed[rows], P[0, rows] ** power, c, metrics=["mcc"])["mcc"])
        means.append(np.mean(of_folds))
    np.testing.assert_allclose(scores.loc["mcc", ["low", "high"]].astype(float), np.quantile(means, [0.025, 0.975]))
