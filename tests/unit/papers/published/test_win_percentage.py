"""Test the comparison of win percentages with the published tables and numbers."""

import numpy as np
import pandas as pd
import pytest

from fairfold.papers.published.win_percentage import (
    _BY_EQUATION_2,
    compare_best_pairs,
    compare_draws,
    compare_endpoints,
    compare_text,
)
from fairfold.planning.check import check_config


@pytest.fixture
def used(config):
    config["win_percentage"] |= {"datasets": ["breast-pcr"], "kurtosis_multiple": 2}
    config["win_percentage"]["sampling"]["n_sampled"] = [1000]
    return check_config(config)


def printed(rows, *columns):
    return pd.DataFrame(rows, columns=list(columns), dtype=str)


def test_pairs_of_probes_in_either_order(used):
    published = printed(
        [("p", "q", "NC", "0.812", "1"), ("p", "q", "LDA", "0.700", "1"), ("r", "s", "NC", "0.600", "0")],
        *("probe_1", "probe_2", "classifier", "value", "is_marked"),
    )
    ours = pd.DataFrame(
        {
            "dataset": ["breast-pcr", "breast-pcr", "other"],
            "feature_1": ["q", "q", "r"],
            "feature_2": ["p", "p", "s"],
            "classifier": ["NC", "LDA", "NC"],
            "performance": [0.8, 0.7, 0.1],
            "standard_deviation": [0.02, 0.0, 0.1],
            "is_best": [True, False, True],
            "is_significant": [False, True, False],
        }
    )
    table = compare_best_pairs(published, {"best_pairs": ours}, used)
    first, second, absent, marked, unmarked, unknown = table.to_dict("records")
    assert marked["what"] == "p and q, NC, marked as not below the best (1: yes)"
    assert (marked["ours"], unmarked["ours"]) == (1, 0) and unmarked["difference_in_digits"] == -1
    assert np.isnan(unknown["ours"]) and unknown["note"] == absent["note"]
    assert first["what"] == "p and q, NC"
    assert first["difference_in_se"] == pytest.approx(-0.012 / np.sqrt(0.02**2 / 10 + 0.001**2 / 12))
    assert first["note"] == "other folds; 20 cross-validations, published 20"
    assert second["difference_in_digits"] == pytest.approx(0)
    assert np.isnan(absent["ours"]) and absent["note"] == "the pair is not among the 100 best here"
    used.win_percentage.datasets = ["other"]
    notes = compare_best_pairs(published, {"best_pairs": ours.iloc[2:]}, used)["note"]
    assert set(notes) == {"not computed here: win_percentage.datasets needs breast-pcr"}


def test_leaders_at_one_draw_and_who_wins_too_often(used):
    used.win_percentage.datasets = ["e", "g"]
    rows = [("e", 1, "QDA", 0.3), ("e", 1, "SDA", 0.3), ("e", 1, "LDA", 0.2), ("g", 1, "NC", 0.3), ("g", 1, "QDA", 0.1)]
    rows += [("e", 10, "LDA", 0.1), ("g", 1, "LDA", 0.2), ("g", 10**5, "LDA", 0.2), ("g", 10**6, "LDA", 0.1)]
    ours = pd.DataFrame(rows, columns=["dataset", "n_draws", "classifier", "win_percentage"]).assign(null_upper=0.17)
    what = ["a nonlinear classifier leads at N = 1, e", "a nonlinear classifier leads at N = 1, g"]
    what += ["LDA is significantly high for N up to 1e5, e", "LDA is significantly high for N up to 1e5, g"]
    published = printed([("Figure 5", each, "1", "") for each in what], "place", "what", "value", "note")
    assert compare_text(published, {"win_percentages": ours}, used)["ours"].tolist() == [1, 0, 0, 1]


def test_draws_are_compared_by_their_digits(used):
    published = printed([("0.001", "100", "0.0667"), ("1e-06", "10", "0.749")], "epsilon", "n_draws", "value")
    ours = pd.DataFrame({"epsilon": [1e-3, 1e-6], "n_draws": [100, 10], "p": [0.06673, 0.7488]})
    table = compare_draws(published, {"draws_needed": ours}, used)
    np.testing.assert_allclose(table["difference_in_digits"], [0.3, -0.2])
    assert table["what"].iloc[0] == "p of 100 draws, epsilon 0.001"
    assert "needs a dataset" in compare_draws(published, {}, used)["note"].iloc[0]


def test_endpoints(used):
    columns = ("panel", "dataset", "quantity", "value")
    published = printed(
        [
            ("A", "breast-pcr", "n_gaussian", "10404"),
            ("A", "breast-pcr", "n_pairs", "5.4e7"),
            ("H", "neuroblastoma-random", "n_pairs", "1e6"),
        ],
        *columns,
    )
    ours = pd.DataFrame(
        {"dataset": ["breast-pcr"], "title": ["t"], "n_features": [1], "n_gaussian": [10400], "n_pairs": [54_074_800]}
    )
    table = compare_endpoints(published, {"pairs_of_datasets": ours}, used)
    np.testing.assert_allclose(table["difference_in_digits"], [-4, 0.0748, np.nan])
    assert table["what"].iloc[0] == "panel A, breast-pcr, n_gaussian"
    assert table["note"].iloc[0].startswith("kurtosis within 2 standard errors")
    assert table["note"].iloc[2] == "not computed here: win_percentage.datasets needs neuroblastoma-random"


def test_numbers_of_the_text(used):
    whats = ["degrees of freedom, NC", "last N that c3 leads", "first N that c1 leads", "factor"]
    whats += ["least M/N for an error below 1 %", "RMSE in percent at M = 1000", "RMSE in percent at M = 10000"]
    places = ["Table 4", "example", "example", "Equation 2", "Equation 2", "synthetic study", "synthetic study"]
    values = ["5", "10", "27", "0.24", "750", "4.2", "1.0"]
    published = printed(
        zip(places, whats, values, ["", "why", "", "", "", "", ""], strict=True), "place", "what", "value", "note"
    )
    draws = np.arange(1, 31)
    leaders = {"c3": draws <= 11, "c2": (draws > 11) & (draws < 27), "c1": draws >= 27}
    curves = pd.concat(
        pd.DataFrame({"n_draws": draws, "classifier": name, "win_percentage": np.where(lead, 0.5, 0.2)})
        for name, lead in leaders.items()
    )
    ours = {
        "classifiers": pd.DataFrame({"classifier": ["NC"], "degrees_of_freedom": [5]}),
        "illustration": curves,
        "sampling_law": pd.DataFrame({"source": ["all", "x"], "factor": [0.2, 9], "exponent": [0.5, 9]}),
        "sampling_errors": pd.DataFrame(
            {
                "source": ["synthetic", "synthetic", "x"],
                "n_sampled": 1000,
                "n_draws": [1, 2, 1],
                "rmse": [0.03, 0.04, 9],
            }
        ),
    }
    table = compare_text(published, ours, used)
    rmse = 100 * np.sqrt((0.03**2 + 0.04**2) / 2)
    np.testing.assert_allclose(table["ours"], [5, 11, 27, 0.2, 400, rmse, np.nan])
    np.testing.assert_allclose(table["difference_in_digits"], [0, 1, 0, -4, -350, 10 * (rmse - 4.2), np.nan])
    assert table["note"].tolist() == [
        *("", "why", ""),
        *["theirs over the eight endpoints, ours over synthetic, breast-pcr; M = 1000, at most all pairs"] * 2,
        *("", "not computed here: win_percentage.sampling.n_sampled needs 10000"),
    ]
    used.win_percentage.datasets = []
    assert set(compare_text(published, {}, used)["note"]) == {
        "not computed here: win_percentage.datasets needs a dataset"
    }


def test_where_leads_change_is_compared_by_equation_2(used):
    rows = [("example", "last N that a leads", "10", ""), ("example", "first N that b leads", "13", "")]
    rows += [("Equation 2", "factor", "0.24", ""), ("Equation 2", "exponent", "0.48", "")]
    draws = np.arange(1, 31)
    shares = {"a": 0.5 - 0.01 * (draws - 11.5), "b": 0.5 + 0.01 * (draws - 11.5)}
    curves = pd.concat(
        pd.DataFrame({"n_draws": draws, "classifier": k, "win_percentage": v}) for k, v in shares.items()
    )
    table = compare_text(printed(rows, "place", "what", "value", "note"), {"illustration": curves}, used)
    error = 0.24 * (11 / 10_000) ** 0.48 * np.sqrt(2) / 0.02
    np.testing.assert_allclose(table["standard_error"].iloc[:2], np.hypot(error, 1 / np.sqrt(12)))
    np.testing.assert_allclose(table["difference_in_se"].iloc[:2], np.array([1, -1]) / table["standard_error"].iloc[:2])
    assert table["note"].iloc[0] == _BY_EQUATION_2
    without = compare_text(printed(rows[:2], "place", "what", "value", "note"), {"illustration": curves}, used)
    assert without["standard_error"].isna().all() and (without["note"] == "").all()


def test_who_leads_when_one_set_is_drawn(used):
    what = [f"rank of NC at N = 1, {name}" for name in ("breast-pcr", "myeloma-os", "neuroblastoma-random")]
    rows = [("Figure 5", each, "1", "") for each in what]
    ours = pd.DataFrame(
        {
            "dataset": "breast-pcr",
            "n_draws": [1, 1, 1, 10],
            "classifier": ["LDA", "NC", "QDA", "NC"],
            "win_percentage": [0.5, 0.3, 0.2, 0.9],
            "null_upper": 0.3,
        }
    )
    table = compare_text(printed(rows, "place", "what", "value", "note"), {"win_percentages": ours}, used)
    np.testing.assert_allclose(table["ours"], [2, np.nan, np.nan])
    assert table["note"].tolist() == [
        "",
        "not computed here: win_percentage.datasets needs myeloma-os",
        "not computed here: win_percentage.datasets needs neuroblastoma-random",
    ]
