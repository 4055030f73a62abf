"""Sheets of cells to check are read back with their draw probabilities, and the recommendation uses them."""

import numpy as np
import pandas as pd
import pytest

from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions, write_predictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.recommendation.checked import (
    ANSWER,
    cells_of_sheet,
    checked_table,
    read_study_predictions,
    sheet_to_fill,
    with_checked_rates,
    with_checked_scores,
)

NAMES = ("shade", "water", "soil")


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(0)
    P = rng.random((100, 3))
    Y = (rng.random(P.shape) < P).astype(int)
    observed = Y * (rng.random(P.shape) < 0.6)
    fold_of, kept = np.arange(100) % 2, np.zeros((len(BASIC_METRICS), 2), dtype=np.int8)
    predictions = {
        name: FinalPredictions(each[np.newaxis], kept, fold_of) for name, each in (("noise", P[::-1]), ("good", P))
    }
    ids = [f"leaf {row}" for row in range(100)]
    return Y, observed, predictions, ids


def filled(study, **options):
    Y, observed, predictions, ids = study
    sheet = sheet_to_fill(observed, predictions, 80, ids, NAMES, random_state=0, **options)
    return sheet.assign(**{ANSWER: Y[sheet["sample"], sheet["label_index"]]})


def test_predictions_of_the_lowest_rate_with_models_are_read(study, tmp_path):
    for rate in (0, 30, 50):
        (tmp_path / f"weak_labels/plants/rate-{rate}").mkdir(parents=True)
    for rate in (50, 30):
        path = tmp_path / f"weak_labels/plants/rate-{rate}/predictions_0.npz"
        write_predictions({f"of-{rate}": study[2]["good"]}, path)
    assert list(read_study_predictions(tmp_path, "plants")) == ["of-30"]


def test_sheet_is_read_back_in_any_order(study):
    ids = study[3]
    sheet = filled(study)
    assert list(sheet) == ["id", "label", ANSWER, "sample", "label_index", "draw_probability"]
    assert "prediction" in filled(study, shows_probabilities=True)
    cells = cells_of_sheet(sheet.sample(frac=1, random_state=0), ids, NAMES, "sheet.csv")
    assert cells["draw_probability"].tolist() == sheet["draw_probability"].tolist()
    assert cells["label"].tolist() == sheet[ANSWER].tolist()
    more = filled(study, earlier=cells)
    assert len(more) == 160


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({ANSWER: "maybe"}, "sheet.csv, row 2, column 'correct_label': expected 0, 1 or an empty cell, found 'maybe'"),
        ({ANSWER: ""}, "the column 'correct_label' is empty"),
        ({"id": "leaf x"}, "row 2: found sample 'leaf x' and label 'shade'"),
        ({"sample": 1000}, "do not match the data of the study"),
        ({"sample": ""}, "do not match the data of the study"),
        ({"draw_probability": "3%"}, "row 2, column 'draw_probability': found '3%'"),
        ({"sample": 0, "id": "leaf 0"}, "row 3: the cell is in the sheet twice"),
    ],
)
def test_sheets_are_checked(study, change, message):
    sheet = filled(study).assign(label="shade", label_index=0).drop_duplicates("sample", ignore_index=True)
    sheet["id"] = [study[3][row] for row in sheet["sample"]]
    with pytest.raises(DataError, match=message):
        cells_of_sheet(sheet.assign(**change), study[3], NAMES, "sheet.csv")
    with pytest.raises(DataError, match="the column 'id' is missing"):
        cells_of_sheet(sheet.drop(columns="id"), study[3], NAMES, "sheet.csv")


def test_sheets_may_come_from_a_program_for_tables(study):
    """Such programs change decimal marks, leading zeros and types, and keep empty rows."""
    sheet, ids = filled(study), [f"{row:03d}" for row in range(100)]
    expected = cells_of_sheet(sheet.assign(id=[ids[row] for row in sheet["sample"]]), ids, NAMES, "sheet.csv")
    text = sheet.assign(id=sheet["sample"].astype(str), sample=sheet["sample"].astype(float)).astype(str)
    text["draw_probability"] = text["draw_probability"].str.replace(".", ",")
    found = cells_of_sheet(pd.concat([text, text[:2].assign(**dict.fromkeys(text, ""))]), ids, NAMES, "sheet.csv")
    pd.testing.assert_frame_equal(found, expected)


def test_recommendation_uses_checked_cells(study):
    Y, observed, predictions, ids = study
    cells = cells_of_sheet(filled(study), ids, NAMES, "sheet.csv")
    table = checked_table(observed, predictions, cells, 0.5).assign(dataset="leaves")
    assert set(table["metric"]) == {*BASIC_METRICS, "missing_rate", "wrong_positives"}
    assert (table["n_checked"] == 80).all()
    rates = pd.DataFrame({"dataset": ["leaves", "leaves", "other"], "hidden_rate": [0, 30, 0], "reason": ["x", "", ""]})
    rates = with_checked_rates(rates.assign(estimated_rate=5.0, low=0.0, high=9.0), table)
    assert rates["estimated_rate"][0] == pytest.approx(100 * (1 - observed[Y == 1].mean()), abs=15)
    assert rates["estimated_rate"][1:].tolist() == [5, 5]
    assert rates["n_checked"].tolist()[0] == 80
    board = pd.DataFrame({"model": ["noise", "twin", "good"], "verdict": ["best", "same as noise", "worse"]})
    columns = ["score", "low", "high", "behind", "behind_low", "behind_high", "deciding"]
    board = board.assign(dataset="leaves", metric="average_precision", **dict.fromkeys(columns, 0.5))
    found = with_checked_scores(board, table)
    assert found["model"].tolist() == ["good", "noise", "twin"]
    assert found["verdict"].tolist() == ["best", "worse", "same as noise"]
    failed = with_checked_scores(board.replace({"twin": "failed", "same as noise": "no score"}), table)
    assert failed["verdict"].tolist() == ["best", "worse", "no score"]


def pairs_of(estimates, margin):
    """Return the table of checked cells of models with these scores, and intervals of differences of this margin."""
    ranked = sorted(estimates, key=estimates.get, reverse=True)
    rows = [
        (model, reference, estimates[model], behind, behind - margin, behind + margin)
        for reference in ranked
        for model in ranked
        for behind in [round(estimates[reference] - estimates[model], 4)]
    ]
    names = ["model", "reference", "estimate", "behind", "behind_low", "behind_high"]
    table = pd.DataFrame(rows, columns=names).assign(metric="average_precision", dataset="leaves")
    return table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1, n_checked=40)


@pytest.mark.parametrize(
    ("margin", "models", "verdicts"),
    [
        (0.05, ["A", "C", "B"], ["best", "not different", "worse"]),  # C leads A by .0003 only.
        (0.0002, ["C", "A", "B"], ["best", "worse", "worse"]),
    ],
)
def test_the_recommended_model_stays_unless_it_is_significantly_worse(margin, models, verdicts):
    board = pd.DataFrame({"model": [*"ABC"], "verdict": ["best", "worse", "not different"], "score": 0.5})
    board = board.assign(dataset="leaves", metric="average_precision")
    found = with_checked_scores(board, pairs_of({"A": 0.61, "B": 0.4, "C": 0.6103}, margin))
    assert found["model"].tolist() == models and found["verdict"].tolist() == verdicts
    assert set(found["best_unchecked"]) == {"A"}
    assert found["behind"].tolist() == (found["score"][0] - found["score"]).round(4).tolist()


def test_the_score_of_a_study_is_of_its_decisions(study):
    """A model that decides well for F1 leads, although a threshold of 0.5 is too high for its probabilities."""
    Y, observed, predictions, ids = study
    kept = np.vstack([np.zeros((len(BASIC_METRICS), 2), dtype=np.int8), np.ones(2, dtype=np.int8)])
    low = 0.4 * predictions["good"].probabilities[0]
    decided = {name: np.stack([low, P > 0.2]) for name, P in (("low", low), ("never", np.zeros_like(low)))}
    decided = {name: FinalPredictions(P, kept, predictions["good"].fold_of) for name, P in decided.items()}
    cells = cells_of_sheet(filled(study), ids, NAMES, "sheet.csv")
    table = checked_table(observed, decided, cells, 0.5, "f1_micro")
    assert set(table["metric"]) == {*BASIC_METRICS, "f1_micro", "missing_rate", "wrong_positives"}
    found = table[table["metric"] == "f1_micro"].drop_duplicates("model").set_index("model")["estimate"]
    true = multilabel_scores(Y, (low > 0.2).astype(float), metrics=["f1_micro"])["f1_micro"]
    assert found["low"] == pytest.approx(true, abs=0.12)
    assert found["never"] == 0


def test_checked_scores_are_of_the_first_repeat_and_weight_samples(study):
    """A mean of repeats would score better than each of them."""
    Y, observed, predictions, _ = study
    noise = np.random.default_rng(1).random((2, *Y.shape))
    P = (predictions["good"].probabilities[0] + noise) / 2
    kept, fold_of = np.zeros((len(BASIC_METRICS), 4), dtype=np.int8), np.stack([np.arange(100) % 2] * 2)
    samples, labels = (each.ravel() for each in np.indices(Y.shape))
    cells = pd.DataFrame({"sample": samples, "label_index": labels, "draw_probability": 1.0, "label": Y.ravel()})
    weights = np.linspace(0.1, 2, 100)
    table = checked_table(
        observed, {"good": FinalPredictions(P[np.newaxis], kept, fold_of)}, cells, 0.5, weights=weights
    )
    true = multilabel_scores(Y, P[0], metrics=["average_precision"], sample_weight=weights)["average_precision"]
    assert table.set_index("metric").loc["average_precision", "estimate"] == pytest.approx(true)
