"""Test every branch of the sentences, word by word."""

import numpy as np
import pandas as pd

from fairfold.recommendation.comparison import USES, recommend
from fairfold.recommendation.sentences import recommendation_sentences

RATES = pd.DataFrame(
    [
        ("mine", 0, 0.0, "incomplete", 14.2, 11.4, 17.9, ""),
        ("mine", 30, 29.0, "incomplete", 36.4, 30.0, 40.0, ""),
        ("mine", 70, 69.0, "incomplete", 66.0, 60.0, 71.0, ""),
    ],
    columns=["dataset", "hidden_rate", "hidden_share", "labels_are", "estimated_rate", "low", "high", "reason"],
)
MEANS = {"A": 0.8, "B": 0.79, "C": 0.5}
JITTER = np.array([0.0, 0.02, -0.02, 0.01, -0.01])


def scores(means=None, rate=30, n_folds=5, **of_metric):
    """Return scores of uncorrected models. ``of_metric`` overrides ``means``, and the folds of B are shuffled."""
    rows = []
    for metrics in USES.values():
        for metric in metrics:
            for model, mean in of_metric.get(metric, MEANS if means is None else means).items():
                values = mean + np.roll(JITTER, model == "B")[:n_folds]
                rows += [("mine", rate, model, fold, metric, value, np.nan) for fold, value in enumerate(values)]
    columns = ["dataset", "missing_rate", "model", "fold", "metric", "observed", "corrected"]
    return pd.DataFrame(rows, columns=columns)


def means_of(folds, share_best=None, **interval):
    """Return means over folds, with the same interval for all, and shares by model."""
    means = folds.groupby(["dataset", "missing_rate", "model", "metric"], sort=False)["observed"].mean().reset_index()
    shares = means["model"].map(share_best or {}).astype(float)
    return means.assign(**({"low": np.nan, "high": np.nan} | interval), share_best=shares)


def recommended(folds, rates=RATES, **estimated):
    return recommend(folds, means_of(folds, **estimated), rates)


LOSSES = {"ranking_loss": {"A": 0.1, "B": 0.11, "C": 0.5}, "hamming_loss": {"A": 0.1, "B": 0.11, "C": 0.5}}


def sentences_of(folds, use="ranking", rates=RATES, estimated=None, **evidence):
    """Return the sentences of a use."""
    sentences = recommendation_sentences(recommended(folds, rates, **(estimated or {})), rates, **evidence)
    return sentences.loc[sentences["use"] == use, "sentence"].tolist()


def test_reading_order():
    table = pd.concat([scores(), scores().assign(dataset="other")])
    rates = pd.concat([RATES, RATES.assign(dataset="other")])
    sentences = recommendation_sentences(recommended(table, rates), rates)
    assert list(sentences) == ["dataset", "use", "sentence"]
    blocks = sentences[["dataset", "use"]].drop_duplicates().to_numpy().tolist()
    assert blocks == [[name, use] for name in ("mine", "other") for use in ("data", "ranking", "threshold")]


# -- the missing rate --


SUPPOSED = (
    "This estimate and all scores below rest on the declaration that labels are incomplete. They assume that "
    "positives are missing at random, at the same rate in all labels, and that no positive is wrong. If the hard "
    "positives are the missing ones, more are missing than estimated."
)
ESTIMATES = "Their scores are estimates for complete labels."


def test_the_estimate_its_interval_and_its_errors():
    """The smaller error is 66.0 - 69.0. If 14.2 % are missing and 69 % of the rest are hidden, 73.4 % are missing."""
    assert sentences_of(scores(), "data") == [
        "State of the labels of mine: incomplete. Missing positives: about 14 % of positives (11 to 18 %).",
        "If no label is missing, the error of this estimate is 14 points, and up to 7 points with 30/70 % hidden "
        "on purpose. If 14 % are missing, the error is up to 7 points there.",
        SUPPOSED,
        "The models below learned from 70 % of their positive labels and were tested on left-out samples. " + ESTIMATES,
    ]


def test_checked_cells_replace_the_assumption():
    rates = RATES.assign(n_checked=[100.0, np.nan, np.nan])
    assert sentences_of(scores(), "data", rates=rates) == [
        "The missing rate of mine is about 14 % of positives (11 to 18 %). It and the leaderboard are based on 100 "
        "checked cells. They hold under any mechanism of missing labels.",
        "The models below learned from 70 % of their positive labels and were tested on left-out samples. Scores below "
        "do not use the checked cells.",
    ]
    assert sentences_of(scores(), rates=rates)[0].startswith(
        "Without the checked cells, A would have the best average precision of 3 models: 0.8"
    )


def test_labels_below_each_other_are_not_missing_at_random():
    plain, messages = (sentences_of(scores(), "data", hierarchical=names) for names in ((), ("mine",)))
    assert [each for each in messages if each not in plain] == [
        "These labels form a hierarchy. A label is missing only if all labels below it are, so labels are not missing "
        "at random. Estimated average precision and AUROC are too high, and their intervals do not hold."
    ]


def test_one_rate_and_one_point():
    rates = RATES[:2].assign(estimated_rate=[1.2, 29.6], low=1.0, high=1.4)
    assert sentences_of(scores(rate=0), "data", rates=rates)[1:] == [
        "If no label is missing, the error of this estimate is 1 point, and 1 point with 30 % hidden on purpose. "
        "If 1 % "
        "are missing, the error is 0 points there.",
        SUPPOSED,
        "The models below learned from the observed labels and were tested on left-out samples. " + ESTIMATES,
    ]


def test_nothing_seems_to_be_missing():
    rates = RATES.assign(estimated_rate=[0.1, 29.6, 60], low=0.0)
    assert sentences_of(scores(), "data", rates=rates)[:2] == [
        "State of the labels of mine: incomplete. Missing positives: none detected, up to 18 % possible.",
        "If no label is missing, the error of this estimate is 0 points, and up to 9 points with 30/70 % hidden on "
        "purpose.",
    ]


def test_nothing_was_hidden_on_purpose():
    assert sentences_of(scores(rate=0), "data", rates=RATES[:1])[1] == (
        "No labels were hidden on purpose in this study, so the error of this estimate is unknown."
    )


def test_no_estimate():
    rates = RATES.assign(estimated_rate=np.nan, reason="every fold is too small")
    assert sentences_of(scores(rate=70), "data", rates=rates) == [
        "State of the labels of mine: incomplete. Missing positives: not estimated.",
        "The models below learned from 30 % of their positive labels and were tested on left-out samples. Their scores "
        "are measured on observed labels and are not corrected for missing ones.",
    ]


def test_an_estimate_that_is_certain_is_no_count():
    rates = RATES.assign(estimated_rate=0.0, low=0.0, high=0.0)
    expected = "State of the labels of mine: incomplete. Missing positives: none detected."
    assert sentences_of(scores(rate=0), "data", rates=rates)[0] == expected


def test_complete_labels_and_labels_of_an_unknown_state_are_taken_as_they_are():
    follows = (
        "The models below learned from the observed labels and were tested on left-out samples. Their scores are on "
        "labels as they are."
    )
    complete = RATES.assign(labels_are="complete", estimated_rate=12.5, low=np.nan, high=np.nan)
    assert sentences_of(scores(rate=0), "data", rates=complete) == [
        "State of the labels of mine: complete. Missing positives: none, as declared; 12 % of labels unmeasured.",
        follows,
    ]
    unknown = RATES.assign(labels_are="unknown", estimated_rate=np.nan, low=0.0, high=45.0)
    assert sentences_of(scores(rate=0), "data", rates=unknown) == [
        "State of the labels of mine: unknown. Missing positives: unknown, at most 45 %.",
        follows,
    ]


def test_a_declared_rate_is_no_estimate():
    rates = RATES.assign(estimated_rate=30.0, low=np.nan, high=np.nan)
    assert sentences_of(scores(rate=0), "data", rates=rates) == [
        "State of the labels of mine: incomplete. Missing positives: 30 % of positives, as declared.",
        "The models below learned from the observed labels and were tested on left-out samples. Their scores are "
        "corrected for the declared missing rate.",
    ]


# -- the models --


def test_the_best_model_by_the_leading_metric():
    first, second = sentences_of(scores(**LOSSES))
    assert first == (
        "A has the best average precision of 3 models: 0.800 ± 0.016 (mean and standard deviation over 5 folds)."
    )
    assert second.startswith("A is better than B, the second best model, by more than 0.01 with probability ")


def test_an_estimated_score_has_an_interval_and_a_share_of_draws():
    table = scores(**LOSSES)
    table["corrected"] = table["observed"] + 0.05
    estimated = {"low": 0.81, "high": 0.9, "share_best": {"A": 0.7, "B": 0.25, "C": 0.05}}
    assert sentences_of(table, estimated=estimated)[:2] == [
        "A has the best average precision of 3 models: 0.85 on complete labels (95 % interval 0.81 to 0.90; "
        "0.80 on "
        "observed labels).",
        "If samples and the missing rate are drawn again, A stays the best in 70 % of draws, and B is the best "
        "in 25 %.",
    ]
    declared = RATES.assign(low=np.nan, high=np.nan)
    drawn = sentences_of(table, rates=declared, estimated=estimated)[1]
    assert drawn.startswith("If samples are drawn again, A stays the best in 70 % of draws")
    checked = {"rates": RATES.assign(n_checked=100.0), "estimated": estimated, "unchecked": declared}
    assert sentences_of(table, **checked)[1].startswith("If samples are drawn again,")
    always = {**estimated, "share_best": {"A": 0.998, "B": 0.002, "C": 0.0}}
    assert len(sentences_of(table, estimated=always)) == 2


IDENTICAL = pd.DataFrame(
    [("mine", 30, "A+", "A", "predictions")], columns=["dataset", "missing_rate", "model", "same_as", "identical"]
)


def test_models_with_identical_predictions_do_not_compete():
    means = {"A": 0.8, "A+": 0.8, "B": 0.79, "C": 0.5}
    table = scores(means, ranking_loss=dict(zip(means, (0.1, 0.1, 0.11, 0.5), strict=True)))
    table["corrected"] = table["observed"]
    shares = means_of(table, {"A": 0.35, "A+": 0.35, "B": 0.25, "C": 0.05}, low=0.7, high=0.9)
    numbers = recommend(table, shares, RATES, identical=IDENTICAL)
    sentences = recommendation_sentences(numbers, RATES)
    found = sentences.loc[sentences["use"] == "ranking", "sentence"].tolist()
    assert found[0].startswith("A has the best average precision of 3 models: 0.8")
    assert "A stays the best in 70 % of draws, and B is the best in 25 %." in found[1]
    assert any(sentence.startswith("A is better than B, the second best model,") for sentence in found)
    assert not any("A+" in sentence for sentence in found)


def test_how_right_such_estimates_were():
    table = scores()
    table["corrected"] = table["observed"]
    columns = ["missing_rate", "metric", "model", "n", "error_observed", "error_corrected", "coverage"]
    quality = pd.DataFrame(
        [
            (0, "average_precision", "all models", 9, 0.0, 0.5, 0.1),
            (50, "mcc", "all models", 9, 0.0, 0.5, 0.1),
            (50, "average_precision", "A", 9, 0.0, 0.5, 0.1),
            (30, "average_precision", "all models", 30, 0.2, 0.02, 1.0),
            (50, "average_precision", "all models", 10, 0.4, 0.06, 0.9),
        ],
        columns=columns,
    )
    sentence = (
        "Where labels were hidden on purpose, 98 % of 40 such intervals (all models and datasets) contained the "
        "score on "
        "all labels. The mean error was 0.030 for estimates and 0.250 for scores on observed labels."
    )
    estimated = {"low": 0.7, "high": 0.9}
    assert sentence in sentences_of(table, quality=quality, estimated=estimated)
    assert sentence not in sentences_of(table, quality=quality)  # no model was corrected
    assert sentence not in sentences_of(table, quality=quality[:3], estimated=estimated)


def test_the_only_model():
    assert sentences_of(scores({"A": 0.9})) == [
        "A has the best average precision: 0.900 ± 0.016 (mean and standard deviation over 5 folds).",
    ]


def test_a_single_fold():
    assert sentences_of(scores({"A": 0.9, "B": 0.7, "C": 0.5}, n_folds=1)) == [
        "A has the best average precision of 3 models: 0.900 (a single fold).",
    ]


def test_another_metric_leads_where_the_first_is_undefined():
    sentences = sentences_of(scores(**LOSSES, mcc=dict.fromkeys("ABC", np.nan)), "threshold")
    assert sentences[0] == (
        "A has the best Hamming loss of 3 models: 0.100 ± 0.016 (mean and standard deviation over 5 folds)."
    )


def test_a_use_without_a_defined_metric_names_no_model():
    undefined = {metric: dict.fromkeys("ABC", np.nan) for metric in USES["ranking"]}
    assert sentences_of(scores(**undefined)) == ["No model has a score in every fold, so no model is recommended."]


def test_models_that_failed():
    assert sentences_of(scores({"A": 0.9, "B": np.nan, "D": np.nan}))[0].startswith(
        "A has the best average precision: 0.900"
    )
    nothing = "No model has a score in every fold, so no model is recommended."
    assert sentences_of(scores({"A": np.nan, "B": np.nan})) == [nothing]


def test_digits_follow_the_spread():
    """The standard deviation of A is 0.0158, divided by 100 or by a million."""
    table = scores({"A": 0.9})
    assert sentences_of(table.assign(observed=0.99 + (table["observed"] - 0.9) / 100))[0].startswith(
        "A has the best average precision: 0.99000 ± 0.00016 (mean"
    )
    assert ": 0.990000 ± 0.000000 (" in sentences_of(table.assign(observed=0.99 + (table["observed"] - 0.9) / 1e6))[0]
    assert ": 0.990 ± 0.000 (" in sentences_of(table.assign(observed=0.99))[0]


def test_the_other_use_has_its_metrics():
    assert sentences_of(scores(**LOSSES), "threshold")[0].startswith(
        "A has the best Matthews correlation of 3 models: 0.800"
    )


def test_more_samples_are_reported_of_the_best_by_the_metric_that_leads():
    rows = [
        ("mine", metric, model, kind, times, 100 * times, score, 0.7, 0.9, 0)
        for metric, model, score in (
            ("average_precision", "A", 0.81),
            ("roc_auc", "A", 0.5),
            ("average_precision", "B", 0.4),
        )
        for kind, times in (("measured", 1), ("extrapolated", 2))
    ]
    columns = ["dataset", "metric", "model", "kind", "times", "n_train", "score", "low", "high", "missing_rate"]
    found = sentences_of(scores(), sample_curves=pd.DataFrame(rows, columns=columns))
    assert len(found) == 3 and found[2].startswith(
        "With twice the 100 training samples, A would reach about 0.81 on observed labels"
    )
