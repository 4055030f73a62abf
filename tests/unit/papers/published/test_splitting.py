"""Test the comparison of label matrices and split quality with the printed values."""

import numpy as np
import pandas as pd
import pytest

from fairfold.papers.published.splitting import compare_label_matrices, compare_packages, compare_splits
from fairfold.planning.check import check_config


@pytest.fixture
def used(config):
    config["splitting"] |= {"datasets": ["a"], "methods": ["IS", "IS-first-seen", "random"]}
    return check_config(config)


def summary(*rows):
    return pd.DataFrame(rows, columns=["dataset", "splitter", "measure", "mean", "sd", "n_repeats"])


def printed(*rows, columns=("dataset", "splitter", "measure", "value")):
    return pd.DataFrame(rows, columns=list(columns), dtype=str)


def test_label_matrices(used):
    published = printed(
        *(("a", "n_samples", "105", "digits exchanged"), ("a", "density", "0.015", ""), ("b", "density", "0.02", "")),
        columns=("dataset", "quantity", "value", "note"),
    )
    ours = pd.DataFrame({"dataset": ["a"], "n_samples": [150], "density": [0.0154]})
    table = compare_label_matrices(published, {"label_matrices": ours}, used)
    assert set(table["place"]) == {"Table 1"}
    assert table["what"].tolist() == ["a, n_samples", "a, density", "b, density"]
    np.testing.assert_allclose(table["difference_in_digits"], [45, 0.4, np.nan])
    assert table["note"].tolist() == ["digits exchanged", "", "not computed here: splitting.datasets needs b"]


def test_means_of_runs_beside_ours(used):
    published = printed(("a", "IS", "rLD", "0.40"), ("a", "random", "ED", "27"), ("a", "random", "seconds", "5"))
    ours = summary(
        *(
            ("a", "IS", "rLD", 0.2, 0.1, 4),
            ("a", "IS-first-seen", "rLD", 0.5, 0.1, 4),
            ("a", "random", "ED", 27.6, 0, 4),
        )
    )
    first, equal, seconds = compare_splits(published, {"splits": ours}, used).to_dict("records")
    error = np.sqrt(0.1**2 * (1 / 10 + 1 / 4) + 0.01**2 / 12)
    assert first["difference_in_se"] == pytest.approx(0.1 / error)
    assert first["note"] == "mean of 10 runs; ours the mean of 4 splits; ours IS-first-seen"
    assert equal["difference_in_digits"] == pytest.approx(0.6)
    assert np.isnan(seconds["ours"]) and seconds["published"] == 5
    assert seconds["note"].endswith("not compared; ours are in timings/quality_against_seconds.csv")


def test_seconds_stand_beside_ours_and_are_not_compared(used):
    published = printed(("a", "IS", "seconds", "50"), ("b", "IS", "seconds", "50"))
    times = pd.DataFrame({"dataset": "a", "splitter": ["IS", "IS-first-seen"] * 2, "seconds": [1.0, 2.0] * 2})
    ours = {"splits": summary(("a", "IS-first-seen", "rLD", 0.5, 0.1, 4)), "split_seconds": times}
    table = compare_splits(published, ours, used)
    assert table["ours"].tolist()[0] == 2 and np.isnan(table["ours"][1])
    assert table[["difference_in_se", "difference_in_digits"]].isna().all(axis=None)
    assert table["file"].tolist() == ["timings/quality_against_seconds.csv"] * 2
    assert table["note"][0].endswith("so not compared; ours the mean of our splits")
    assert table["note"][1] == "not computed here: splitting.datasets needs b"


def test_stand_ins_are_shown_and_not_compared(used):
    published = printed(*(("b", name, "rLD", "0.4") for name in ("IS", "random", "SS")), ("a", "IS", "seconds", "5"))
    names = ["IS", "IS-first-seen", "random", "random"]
    stand_ins = pd.DataFrame({"dataset": "b-like", "splitter": names, "repeat": [0, 0, 0, 1]})
    stand_ins = stand_ins.assign(rLD=[0.1, 0.2, 0.3, 0.5], seconds=1.0)
    table = compare_splits(published, {"stand_ins": stand_ins}, used)
    np.testing.assert_allclose(table["ours"], [0.2, 0.4, np.nan, np.nan])
    assert table[["difference_in_se", "difference_in_digits"]].isna().all(axis=None)
    assert table["note"].str.startswith("a stand-in").tolist() == [True, True, False, False]
    sizes = printed(("b", "max", "9", ""), columns=("dataset", "quantity", "value", "note"))
    matrices = pd.DataFrame({"dataset": ["b-like"], "max": [9]})
    row = compare_label_matrices(sizes, {"stand_in_matrices": matrices}, used).iloc[0]
    assert row["ours"] == 9 and row["note"].startswith("a stand-in") and np.isnan(row["difference_in_digits"])


def test_the_order_of_the_paper_is_that_of_pairs_too(used):
    published = printed(("a", "IS", "rLD", "0.40"), ("a", "SOIS", "rLD", "0.30"))
    ours = summary(*(("a", name, "rLD", value, 0.1, 4) for name, value in (("SOIS", 0.2), ("SOIS-first-seen", 0.3))))
    absent, pairs = compare_splits(published, {"splits": ours}, used).to_dict("records")
    assert np.isnan(absent["ours"]) and pairs["ours"] == 0.3
    assert pairs["note"] == "mean of 10 runs; ours the mean of 4 splits; ours SOIS-first-seen"


def test_without_the_order_of_the_paper_the_other_one_stands_beside_it(used):
    used.folds.n_splits = 2
    ours = summary(("a", "IS", "rLD", 0.2, 0.1, 4))
    published = printed(("a", "IS", "rLD", "0.40"), ("a", "SS", "rLD", "0.40"))
    row, absent = compare_splits(published, {"splits": ours}, used).to_dict("records")
    assert row["ours"] == 0.2
    assert row["note"] == ("mean of 10 runs; ours the mean of 4 splits; ours takes the rarest first; 5 folds, ours 2")
    assert absent["note"] == "not computed here: splitting.methods needs SS"


def test_splits_of_public_packages(used):
    public = printed(
        ("a", "IS", "rLD", "0.4", "package x 1.0; one run"),
        columns=("dataset", "splitter", "measure", "value", "source"),
    )
    row = compare_packages(public, {"splits": summary(("a", "IS", "rLD", 0.5, 0.1, 4))}, used).iloc[0]
    assert row["standard_error"] == pytest.approx(np.sqrt(0.1**2 * 1.25 + 0.1**2 / 12))
    assert (row["paper"], row["place"], row["what"]) == ("Public packages", "x 1.0", "a, IS, rLD")
    assert row["note"] == "one run; ours the mean of 4 splits"


def test_ten_runs_of_one_seed_are_one_run(used):
    published = printed(("a", "OptiSplit-rLD", "rLD", "0.40"), ("a", "SS", "rLD", "0.40"))
    used.splitting.methods = ["OptiSplit-rLD", "SS"]
    ours = summary(*(("a", name, "rLD", 0.5, 0.1, 4) for name in used.splitting.methods))
    one, ten = compare_splits(published, {"splits": ours}, used)["standard_error"]
    assert one == pytest.approx(np.sqrt(0.1**2 * (1 + 1 / 4) + 0.01**2 / 12))
    assert ten == pytest.approx(np.sqrt(0.1**2 * (1 / 10 + 1 / 4) + 0.01**2 / 12))
