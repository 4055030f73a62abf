"""Test the regret against a loop over datasets, rates and strategies, and against hand-computed numbers."""

import numpy as np
import pandas as pd
import pytest

from fairfold.errors import DataError
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.comparison import compare_with_best
from fairfold.recommendation.regret import regret_tables

MODELS = ["A", "B", "C", "D"]
USED = ("mcc", "hamming_loss")
RATES = [0, 30, 70]


def study(n_datasets=7, n_folds=5, seed=0):
    """Return scores of four models, and estimates of the missing rate with errors up to 20."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset in range(n_datasets):
        for rate in RATES:
            skill = rng.normal([0.02, 0, -0.02, 0.01], 0.05)
            for metric in USED:
                for fold in range(n_folds):
                    true = 0.5 + BASIC_METRICS[metric].direction * (skill + 0.01 * rng.normal(size=len(MODELS)))
                    seen = true - 0.1 + 0.02 * rng.normal(size=len(MODELS))
                    for model, value, observed in zip(MODELS, true, seen, strict=True):
                        rows.append((f"d{dataset}", rate, model, fold, True, metric, value, observed))
    columns = ["dataset", "missing_rate", "model", "fold", "is_final", "metric", "value", "observed_value"]
    estimates = [(f"d{dataset}", rate, rate + 20 * rng.random()) for dataset in range(n_datasets) for rate in RATES]
    return pd.DataFrame(rows, columns=columns), pd.DataFrame(
        estimates, columns=["dataset", "hidden_rate", "estimated_rate"]
    )


def by_hand(scores, missing_rates, metric, dataset, rate, n_repeats=1):
    """Return the model that each strategy picks, one step at a time."""
    sign = BASIC_METRICS[metric].direction
    scores = scores[scores["metric"] == metric]
    estimate = missing_rates.set_index(["dataset", "hidden_rate"])["estimated_rate"][dataset, rate]
    nearest = min(RATES, key=lambda each: abs(each - estimate))
    ranks = {model: [] for model in MODELS}
    for other in scores["dataset"].unique():
        if other != dataset:
            part = scores[(scores["dataset"] == other) & (scores["missing_rate"] == nearest)]
            means = {model: sign * part.loc[part["model"] == model, "value"].mean() for model in MODELS}
            for model in MODELS:
                ranks[model].append(sum(means[each] > means[model] for each in MODELS))
    elsewhere = {model: -np.mean(ranks[model]) for model in MODELS}
    mine = scores[(scores["dataset"] == dataset) & (scores["missing_rate"] == rate)]
    own = compare_with_best(mine.assign(value=mine["observed_value"]), metric, n_repeats=n_repeats)
    top = set(own.loc[own["is_top"], "model"])
    observed = {model: sign * mine.loc[mine["model"] == model, "observed_value"].mean() for model in MODELS}
    return {
        "recommendation": max((model for model in MODELS if model in top), key=elsewhere.get),
        "other datasets": max(MODELS, key=elsewhere.get),
        "observed labels": max(MODELS, key=observed.get),
        **{f"always {model}": model for model in MODELS},
    }


def test_choices_are_those_of_a_loop():
    scores, missing_rates = study()
    choices = regret_tables(scores, missing_rates)["choices"]
    assert len(choices) == 7 * len(RATES) * len(USED) * (4 + len(MODELS))
    true = scores.groupby(["dataset", "missing_rate", "metric", "model"])["value"].mean()
    differ = set()
    for (dataset, rate, metric), part in choices.groupby(["dataset", "missing_rate", "metric"]):
        sign, means = BASIC_METRICS[metric].direction, true[dataset, rate, metric]
        best = (sign * means).max()
        expected = by_hand(scores, missing_rates, metric, dataset, rate)
        differ.add(expected["recommendation"] == expected["observed labels"])
        found = part.set_index("strategy")
        assert found["model"].dropna().to_dict() == expected
        for strategy, model in expected.items():
            assert found.loc[strategy, "value"] == pytest.approx(means[model], rel=1e-12)
            assert found.loc[strategy, "regret"] == pytest.approx(best - sign * means[model], abs=1e-12)
        assert found.loc["any model", "regret"] == pytest.approx(best - sign * means.mean(), abs=1e-12)
        np.testing.assert_allclose(found["best"], sign * best, rtol=1e-12)
        assert (found["regret"] >= 0).all()
    assert differ == {True, False}


def test_means_and_intervals_are_over_datasets():
    scores, missing_rates = study(n_datasets=20)
    tables = regret_tables(scores, missing_rates)
    units = ["strategy", "missing_rate", "metric"]
    for unit, part in tables["choices"].groupby(units):
        row = tables["regret"].set_index(units).loc[unit]
        assert (row["n_datasets"], row["worst"]) == (20, part["regret"].max())
        assert row["regret"] == pytest.approx(part["regret"].mean())
        draws = np.random.default_rng(1).choice(part["regret"], size=(9999, 20)).mean(axis=1)
        # The standard error of a 2.5 % quantile of 9,999 normal draws is 0.027 standard deviations. The tolerance is
        # five standard errors of two such quantiles.
        expected = pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.19 * draws.std())
        assert row[["low", "high"]].tolist() == expected
    again = regret_tables(scores, missing_rates)["regret"]
    pd.testing.assert_frame_equal(again, tables["regret"])


def test_the_last_dataset_decides_nothing_about_itself():
    scores, missing_rates = study()
    worse = scores.copy()
    worse.loc[worse["dataset"] == "d6", "value"] = worse["value"].max() + worse["value"].min() - worse["value"]
    before, after = (regret_tables(each, missing_rates)["choices"].query("dataset == 'd6'") for each in (scores, worse))
    assert before["model"].tolist() == after["model"].tolist()
    assert not before["best_model"].equals(after["best_model"])


def test_a_single_dataset_has_no_others():
    scores, missing_rates = study(n_datasets=1)
    choices = regret_tables(scores, missing_rates)["choices"].set_index("strategy")
    assert choices.loc[["recommendation", "other datasets"], "model"].isna().all()
    assert choices.loc[["recommendation", "other datasets"], "regret"].isna().all()
    assert choices.loc["observed labels", "regret"].notna().all()
    regret = regret_tables(scores, missing_rates)["regret"]
    assert {"recommendation", "other datasets"}.isdisjoint(regret["strategy"])
    assert regret[["low", "high"]].isna().all(axis=None)


def test_a_model_without_a_score_is_not_chosen():
    scores, missing_rates = study()
    failed = (scores["model"] == "A") & (scores["dataset"] == "d0")
    scores.loc[failed & (scores["fold"] == 2), ["value", "observed_value"]] = np.nan
    choices = regret_tables(scores, missing_rates)["choices"].query("dataset == 'd0'")
    assert not choices.loc[choices["strategy"] != "always A", "model"].eq("A").any()
    assert choices.loc[choices["strategy"] == "always A", "regret"].isna().all()
    assert choices.loc[choices["strategy"] != "always A", "regret"].notna().all()


def test_what_is_missing_is_named():
    scores, missing_rates = study(n_datasets=2)
    with pytest.raises(DataError, match="no column 'observed_value'"):
        regret_tables(scores.drop(columns="observed_value"), missing_rates)
    with pytest.raises(DataError, match="no estimate of 'd1' at the hidden rate 30"):
        regret_tables(scores, missing_rates.drop(index=4))
