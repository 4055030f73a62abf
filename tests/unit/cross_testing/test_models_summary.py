import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from fairfold.cross_testing.models_summary import summarize_models
from fairfold.errors import DataError
from fairfold.metrics.registry import BASIC_METRICS

CANDIDATES = ["A", "RF+ET", "never"]


@pytest.fixture
def repetitions():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        [
            {"dataset": dataset, "missing_rate": 50, "scoring": "mcc", "procedure": procedure, "repetition": repetition}
            for dataset in ("flags", "birds")
            for procedure in ("nested_cv", "cv_testing")
            for repetition in range(6)
        ]
    )
    numbers = ["score", "observed_score", *BASIC_METRICS, "p_randomized", "p_exact"]
    table[numbers] = rng.random((len(table), len(numbers)))
    is_nested = table["procedure"] == "nested_cv"
    table["n_fits"] = np.where(is_nested, 30, 7)
    table["chosen"] = np.where(is_nested, "A;RF+ET;A", "RF+ET")
    table["reason"] = None
    return table


def number(summary, metric, dataset="flags", procedure="nested_cv", candidate=None):
    rows = summary[(summary[["dataset", "procedure", "metric"]] == [dataset, procedure, metric]).all(axis=1)]
    return (rows if candidate is None else rows[rows["candidate"] == candidate]).iloc[0]


def test_means_and_intervals(repetitions):
    summary = summarize_models(repetitions, CANDIDATES)
    for (dataset, procedure), runs in repetitions.groupby(["dataset", "procedure"]):
        bias = runs["observed_score"] - runs["score"]
        for metric, values in {"score": runs["score"], "bias": bias, "pooled_mcc": runs["mcc"]}.items():
            row = number(summary, metric, dataset, procedure)
            np.testing.assert_allclose([row["low"], row["high"]], DescrStatsW(values).tconfint_mean(0.05), rtol=1e-9)
            assert row["value"] == pytest.approx(values.mean(), rel=1e-12) and row["n_repetitions"] == 6
        assert number(summary, "n_fits", dataset, procedure)["value"] == runs["n_fits"].iloc[0]


def test_shares_of_significant_tests(repetitions):
    summary = summarize_models(repetitions, CANDIDATES, alpha=0.4)
    runs = repetitions[(repetitions["dataset"] == "birds") & (repetitions["procedure"] == "cv_testing")]
    hits = (runs["p_randomized"] <= 0.4).sum()
    row = number(summary, "significant_fraction", "birds", "cv_testing")
    assert row["value"] == hits / 6
    np.testing.assert_allclose([row["low"], row["high"]], proportion_confint(hits, 6, method="wilson"), rtol=1e-9)


def test_without_permutations_no_share_is_significant_or_not(repetitions):
    row = number(summarize_models(repetitions.assign(p_randomized=np.nan), CANDIDATES), "significant_fraction")
    assert row[["value", "low", "high"]].isna().all()


def test_choices(repetitions):
    summary = summarize_models(repetitions, CANDIDATES)
    shares = [number(summary, "chosen", candidate=candidate)["value"] for candidate in CANDIDATES]
    assert shares == pytest.approx([2 / 3, 1 / 3, 0])
    assert number(summary, "chosen", procedure="cv_testing", candidate="RF+ET")["value"] == 1


def test_repetitions_with_a_reason_do_not_count(repetitions):
    failed = repetitions.copy()
    failed.loc[0, [*failed.columns.drop([*failed.columns[:5], "reason"])]] = np.nan
    failed.loc[failed["dataset"] == "birds", ["score", "chosen"]] = np.nan
    summary = summarize_models(failed, CANDIDATES)
    assert number(summary, "score")["n_repetitions"] == 5
    assert number(summary, "score")["value"] == pytest.approx(repetitions["score"][1:6].mean(), rel=1e-12)
    birds = summary[summary["dataset"] == "birds"]
    assert birds["value"].isna().all() and (birds["n_repetitions"] == 0).all()


def test_a_single_repetition_has_no_interval(repetitions):
    row = number(summarize_models(repetitions[repetitions["repetition"] == 0], CANDIDATES), "score")
    assert np.isfinite(row["value"]) and np.isnan(row["low"]) and np.isnan(row["high"])


def test_an_unknown_choice(repetitions):
    with pytest.raises(DataError, match=r"unknown candidate 'RF\+ET': did you mean 'RF-ET'"):
        summarize_models(repetitions, ["A", "RF-ET"])
