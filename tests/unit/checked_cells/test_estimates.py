"""Scores from checked cells agree with closed forms, are unbiased over draws, and exact if every cell is checked."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.checked_cells.estimates import (
    CHECKED_METRICS,
    SHEET_COLUMNS,
    checked_scores,
    choose_cells,
    compare_checked,
)
from fairfold.errors import DataError, ModelError
from fairfold.metrics.registry import METRICS
from fairfold.metrics.scores import multilabel_scores


@pytest.fixture(scope="module")
def table():
    """True labels, observed labels that lack hard positives and contain wrong ones, and probabilities."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 1)) + rng.normal(size=(300, 6)) - np.linspace(0, 2, 6)
    Y = (z + rng.normal(size=z.shape) > 1).astype(int)
    P = 1 / (1 + np.exp(-(1.5 * z - 1.5)))
    hidden = rng.random(z.shape) > 0.3 + 0.6 * P
    observed = np.where(Y == 1, ~hidden, rng.random(z.shape) < 0.01).astype(int)
    return Y, observed, P


def fill(cells, Y):
    return cells.assign(label=Y[cells["sample"], cells["label_index"]])


def test_sheet(table):
    _, observed, P = table
    cells = choose_cells(P, observed, 50, random_state=0)
    assert list(cells) == SHEET_COLUMNS
    assert len(cells) == 50
    assert cells["label"].isna().all()
    assert cells["draw_probability"].between(0, 1, inclusive="right").all()
    assert not cells.duplicated(["sample", "label_index"]).any()
    assert cells["sample"].is_monotonic_increasing
    assert np.allclose(cells["prediction"], P[cells["sample"], cells["label_index"]])
    pd.testing.assert_frame_equal(cells, choose_cells(P, observed, 50, random_state=0))
    pd.testing.assert_frame_equal(cells, choose_cells(sparse.csr_array(P), observed, 50, random_state=0))


@pytest.mark.parametrize("design", ["optimal", "uniform", "samples"])
def test_draws_have_the_stated_probabilities(table, design):
    Y, observed, P = (each[:40, :4] for each in table)
    shape = Y.shape
    n_draws, count, inverse = 400, np.zeros(shape), np.zeros(shape)
    for seed in range(n_draws):
        cells = choose_cells(P, observed, 20, design=design, random_state=seed)
        at = cells["sample"], cells["label_index"]
        np.add.at(count, at, 1)
        inverse[at] = cells["draw_probability"]
    share, drawn = count / n_draws, inverse > 0
    error = np.sqrt(inverse * (1 - inverse) / n_draws)[drawn]
    assert np.all(np.abs(share - inverse)[drawn] <= 4.5 * error + 1e-9)
    assert np.isclose(inverse.sum(), 20, rtol=0.02)


def test_certain_cells_are_never_drawn(table):
    _, observed, P = table
    observed = observed.astype(float)
    observed[:, 2] = np.nan
    cells = choose_cells(P, observed, 400, wrong_positives=0, random_state=0)
    assert (observed[cells["sample"], cells["label_index"]] == 0).all()
    again = choose_cells(P, observed, 100, checked=cells.assign(label=0), random_state=1)
    assert len(again) == 500
    assert not again.duplicated(["sample", "label_index"]).any()


def test_census_is_exact(table):
    Y, observed, P = table
    cells = choose_cells(P, observed, Y.size, random_state=0)
    assert len(cells) == Y.size
    scores = checked_scores(observed, P, fill(cells, Y))
    expected = multilabel_scores(Y, P, metrics=CHECKED_METRICS)
    for name, value in expected.items():
        assert scores[name] == pytest.approx((value, value, value), abs=1e-12)
    assert scores["missing_rate"].estimate == pytest.approx(1 - observed[Y == 1].mean())
    assert scores["wrong_positives"].estimate == pytest.approx(1 - Y[observed == 1].mean())
    hidden = [1 - observed[Y[:, j] == 1, j].mean() for j in range(Y.shape[1])]
    assert scores.by_label["estimate"].tolist() == pytest.approx(hidden)


def test_without_predictions_it_is_the_horvitz_thompson_estimator(table):
    Y, observed, P = table
    constant = np.full(P.shape, 0.2)
    cells = fill(choose_cells(constant, observed, 600, design="uniform", random_state=3), Y)
    found = checked_scores(observed, constant, cells, metrics=["hamming_loss"])
    weights = 1 / cells["draw_probability"]
    at = observed[cells["sample"], cells["label_index"]]
    hidden = (weights * cells["label"] * (1 - at)).sum() / (weights * (1 - at)).sum() * (observed == 0).sum()
    right = (weights * cells["label"] * at).sum() / (weights * at).sum() * observed.sum()
    assert found["hamming_loss"].estimate == pytest.approx((hidden + right) / Y.size, abs=0.01)
    assert found["missing_rate"].estimate == pytest.approx(hidden / (hidden + right), abs=0.02)


def test_agrees_with_prediction_powered_inference(table):
    """The share of positives agrees with the closed form of prediction-powered inference."""
    Y, observed, P = table
    cells = fill(choose_cells(P, observed, 600, design="uniform", random_state=4), Y)
    found = checked_scores(observed, P, cells, metrics=["hamming_loss"])
    at = cells["sample"], cells["label_index"]
    residual = (cells["label"] - P[at]).to_numpy()
    positives = P.mean() + residual.mean()
    error = residual.std(ddof=1) * np.sqrt((1 - 600 / Y.size) / 600)
    hits = (P > 0.5) & (P > 0)
    wrong = (hits[at] != cells["label"]) - np.where(hits[at], 1 - P[at], P[at])
    loss = np.where(hits, 1 - P, P).mean() + wrong.mean()
    assert found["hamming_loss"].estimate == pytest.approx(loss, abs=1.5 * error)
    assert 0 < positives < 1
    width = found["hamming_loss"].high - found["hamming_loss"].low
    assert width == pytest.approx(2 * 1.96 * error, rel=0.35)


@pytest.mark.parametrize("design", ["optimal", "uniform", "samples"])
def test_estimates_are_unbiased_and_intervals_hold(table, design):
    Y, observed, P = table
    names = ["average_precision", "mcc", "hamming_loss", "ranking_loss"]
    true = multilabel_scores(Y, P, metrics=names) | {"missing_rate": 1 - observed[Y == 1].mean()}
    errors, held = [], []
    for seed in range(40):
        cells = fill(choose_cells(P, observed, 300, design=design, random_state=seed), Y)
        scores = checked_scores(observed, P, cells, metrics=names, n_draws=40, random_state=seed)
        errors.append([scores[name].estimate - value for name, value in true.items()])
        held.append([scores[name].low <= value <= scores[name].high for name, value in true.items()])
    errors = np.array(errors)
    assert np.all(np.abs(errors.mean(axis=0)) < 3.5 * errors.std(axis=0) / np.sqrt(40) + 0.004)
    assert np.mean(held) > 0.9


def test_rounds_combine(table):
    Y, observed, P = table
    errors = []
    for seed in range(25):
        first = fill(choose_cells(P, observed, 100, random_state=seed), Y)
        both = fill(choose_cells(P, observed, 200, checked=first, random_state=seed + 1000), Y)
        scores = checked_scores(observed, P, both, metrics=["average_precision"], n_draws=40)
        errors.append(scores["average_precision"].estimate)
    true = multilabel_scores(Y, P, metrics=["average_precision"])["average_precision"]
    assert abs(np.mean(errors) - true) < 3.5 * np.std(errors) / np.sqrt(25) + 0.004


def test_more_cells_reach_the_target_width(table):
    Y, observed, P = table
    first = fill(choose_cells(P, observed, 150, random_state=0), Y)
    scores = checked_scores(observed, P, first, metrics=["average_precision"])
    low, high = scores["average_precision"][1:]
    assert scores.cells_needed("average_precision", high - low + 1e-9) == 0
    assert scores.cells_needed("average_precision", (high - low) / 2) == pytest.approx(3 * scores.n_checked, abs=1)
    n = scores.cells_needed("average_precision", 0.75 * (high - low))
    both = fill(choose_cells(P, observed, n, checked=first, random_state=1), Y)
    low_of_both, high_of_both = checked_scores(observed, P, both)["average_precision"][1:]
    assert high_of_both - low_of_both < 0.9 * (high - low)


def test_estimates_are_finite_and_in_range(table):
    Y, observed, P = table
    for n in (1, 5, 30):
        scores = checked_scores(observed, P, fill(choose_cells(P, observed, n, random_state=1), Y), n_draws=40)
        for name, (estimate, low, high) in scores.items():
            metric = METRICS.get(name)
            least, most = (0, 1) if metric is None else metric.range
            assert least <= low <= estimate <= high <= most
            assert low < high


def test_models_are_compared(table):
    Y, observed, P = table
    noise = np.random.default_rng(1).normal(size=P.shape)
    models = {"worse": np.clip(P + 0.3 * noise, 0, 1), "best": P, "worst": np.full(P.shape, 0.3)}
    cells = fill(choose_cells(models, observed, 300, random_state=0), Y)
    found = compare_checked(observed, models, cells)
    assert found["model"].tolist() == ["best", "worse", "worst"]
    true = [multilabel_scores(Y, models[name])["average_precision"] for name in found["model"]]
    assert found["estimate"].tolist() == pytest.approx(true, abs=0.06)
    assert found["behind"].iloc[0] == found["behind_low"].iloc[0] == 0
    assert (found["behind_low"] <= true[0] - np.array(true) + 1e-12).all()


def test_cost_per_sample_favors_whole_samples(table):
    _, observed, P = table
    one = choose_cells(P, observed, 120, random_state=0)
    whole = choose_cells(P, observed, 120, cost_per_sample=50, random_state=0)
    assert whole["sample"].nunique() < one["sample"].nunique() / 2


def test_unfilled_rows_are_ignored(table):
    Y, observed, P = table
    cells = fill(choose_cells(P, observed, 200, random_state=0), Y).astype({"label": float})
    cells.loc[cells.index[::2], "label"] = np.nan
    scores = checked_scores(observed, P, cells, metrics=["average_precision"])
    assert scores.n_checked == 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "maybe"}, "row 0, column 'label': expected 0, 1 or an empty cell, found maybe"),
        ({"label": 2}, "expected 0, 1 or an empty cell, found 2"),
        ({"label": np.nan}, "the column 'label' is empty"),
        ({"sample": 300}, "expected a whole number from 0 to 299, found 300"),
        ({"draw_probability": 0}, "expected a number above 0 and at most 1, found 0"),
        ({"sample": 1, "label_index": 1}, "each cell only once"),
    ],
)
def test_sheets_are_checked(table, change, message):
    _, observed, P = table
    cells = choose_cells(P, observed, 20, random_state=0).assign(label=1)
    with pytest.raises(DataError, match=message):
        checked_scores(observed, P, cells.assign(**change))
    with pytest.raises(DataError, match="the column 'label' is missing"):
        checked_scores(observed, P, cells.drop(columns="label"))


def test_parameters_are_checked(table):
    _, observed, P = table
    with pytest.raises(ModelError, match="n is 0"):
        choose_cells(P, observed, 0)
    with pytest.raises(DataError, match="design"):
        choose_cells(P, observed, 10, design="best")
    with pytest.raises(DataError, match="wrong_positives: found 1"):
        choose_cells(P, observed, 10, wrong_positives=1)
    every = choose_cells(P, observed, P.size).assign(label=1)
    with pytest.raises(DataError, match=r"nothing to check\. Use the checked labels"):
        choose_cells(P, observed, 10, checked=every)
    with pytest.raises(DataError, match=r"nothing to check\. Use the observed labels"):
        choose_cells(P, np.ones_like(observed), 10, wrong_positives=0)
