"""Folds by sample dates: later samples are tested."""

import datetime

import numpy as np
import pytest
import yaml
from sklearn.model_selection import TimeSeriesSplit

from fairfold.core.folds import BEFORE, parts_of
from fairfold.datasets import Dataset, prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.datasets.times import cutoffs, folds_by_time
from fairfold.errors import ConfigError, DataError

DAYS = ["2021-03-01", "2019-05-17", "2020-01-01", "2020-01-02", "2022-12-31", "2020-01-01T23:59"]


def by(texts, **hold_out):
    return folds_by_time(np.array(texts), hold_out, "day", "mine.csv").tolist()


@pytest.mark.parametrize("n_splits", [2, 3, 6])
def test_even_periods_are_those_of_scikit_learn(n_splits):
    years = np.random.default_rng(0).permutation(40)
    order = np.argsort(years)
    parts = parts_of(folds_by_time(years.astype(str), {"n_splits": n_splits}, "year", "mine.csv"), 40)
    for (train, test), (before, after) in zip(parts, TimeSeriesSplit(n_splits).split(order), strict=True):
        assert set(train) == set(order[before]) and set(test) == set(order[after])


def test_samples_of_one_date_stay_together():
    assert by(["1", "1", "2", "2", "2", "3", "3", "4"], n_splits=2) == [BEFORE] * 5 + [0, 0, 1]


def test_a_day_belongs_to_what_is_before_it_whole():
    assert by(DAYS, after=datetime.date(2020, 1, 1)) == [0, BEFORE, BEFORE, 0, 0, BEFORE]
    assert by(DAYS, after="2020-01-01T12:00") == [0, BEFORE, BEFORE, 0, 0, 0]
    assert by(DAYS, after=["2019-12-31", "2020-06-30", "2021-12-31"]) == [1, BEFORE, 0, 0, 2, 0]
    assert by(["2019", "2020", "2021"], after=2020) == [BEFORE, BEFORE, 0]


@pytest.mark.parametrize(
    "text", ["2021-01-31", "'2021-01-31'", "[2020-01-01, 2021-01-31 12:30:00]", "2021", "[1.5, 2]"]
)
def test_cutoffs_are_what_yaml_reads(text):
    assert len(cutoffs(yaml.safe_load(text), "after")) == text.count(",") + 1


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("31.1.2021", "after: found '31.1.2021', expected a date such as 2021-01-31"),
        (True, "found 'True', expected a date"),
        ([], "found 'nothing', expected a date"),
        (["2021-01-31", 2021], "found '2021', expected a date such"),
        (["2021-01-31", "2020-01-31"], "found 2021-01-31, 2020-01-31. Sort the cut-offs in ascending order"),
        ([3, 3], "found 3, 3. Sort the cut-offs"),
    ],
)
def test_what_is_no_cutoff_is_one_sentence(given, sentence):
    with pytest.raises(ConfigError, match=sentence):
        cutoffs(given, "after")


@pytest.mark.parametrize(
    ("texts", "hold_out", "sentence"),
    [
        (
            ["2021-01-31", "31/1/2021"],
            {"n_splits": 1},
            "mine.csv, data row 2, column 'day' .dates.: found '31/1/2021', expected a",
        ),
        (["2021-01-31", ""], {"n_splits": 1}, "data row 2, column 'day' .dates.: found '', expected a date"),
        (["2021", "2021-13-01"], {"n_splits": 1}, "data row 1, column 'day' .dates.: found '2021', expected a date"),
        (
            ["2021", "2021.0"],
            {"n_splits": 1},
            "'day' .dates. contains '2021' in all rows. Give at least two",
        ),
        (
            DAYS,
            {"after": "2023-01-01"},
            "has no sample after 2023-01-01. The dates range from 2019-05-17 to 2022-12-31. C",
        ),
        (DAYS, {"after": "2018-01-01"}, "has no sample up to 2018-01-01. The dates range from"),
        (
            DAYS,
            {"after": ["2021-06-01", "2021-07-01"]},
            "has no sample after 2021-06-01 and up to 2021-07-01. The",
        ),
        (DAYS, {"after": 2020}, "contains dates, such as '2021-03-01'. Write a date as hold_out.after"),
        (["1", "2"], {"after": "2020-01-01"}, "contains numbers, such as '1'. Write a number as hold_out.after"),
        (["1", "2"], {"n_splits": 2}, "has 2 different dates of 2 samples, too few for"),
        (
            ["1", "1", "1", "2"],
            {"n_splits": 2},
            "2 different dates of 4 samples, too few for 2 test periods",
        ),
    ],
)
def test_dates_that_part_nothing_are_one_sentence(texts, hold_out, sentence):
    with pytest.raises(DataError, match=sentence):
        by(texts, **hold_out)


@pytest.fixture
def own(tmp_path):
    def make(table, **keys):
        path = tmp_path / "mine.csv"
        path.write_text(table)
        stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
        return load_catalog().with_own({"mine": stanza})["mine"]

    return make


TABLE = """year,who,a,label_a,label_b
2019,x,1,1,0
2020,y,2,0,1
2018,x,3,1,0
2021,z,4,1,1
"""


def test_dates_are_no_features(own, tmp_path):
    table = TABLE.replace("2019,x,1,1,0", "2019,x,1,1,1")
    data = prepare(own(table, ignore=["who"], dates="year", hold_out={"after": [2019, 2020]}))
    assert data.feature_names == ("a",) and data.left_out == {"dates": ("year",), "ignored": ("who",)}
    assert data.fold_of.tolist() == [BEFORE, 0, BEFORE, 1] and data.is_by_time
    data.save(tmp_path / "data.npz")
    assert Dataset.load(tmp_path / "data.npz").fold_of.tolist() == data.fold_of.tolist()


@pytest.mark.parametrize(
    ("keys", "error", "sentence"),
    [
        ({"dates": "year"}, ConfigError, "mine: dates needs hold_out. Name both"),
        ({"hold_out": {"n_splits": 1}}, ConfigError, "mine: hold_out needs dates"),
        (
            {"dates": "year", "hold_out": {"after": 1, "n_splits": 1}},
            ConfigError,
            "hold_out: found after, n_splits. Name either after or n_splits",
        ),
        (
            {"dates": "year", "folds": "who", "hold_out": {"after": 2019}},
            ConfigError,
            "folds and hold_out both define the test samples. Leave one out",
        ),
        ({"dates": "yaer", "hold_out": {"after": 2019}}, DataError, "unknown column 'yaer': did you mean 'year'"),
        (
            {"dates": "year", "groups": "who", "hold_out": {"after": 2018}},
            DataError,
            "data rows 1 and 3 are in one group but have the dates '2019' and '2018'. A group must be on one side",
        ),
        (
            {"dates": "year", "ignore": ["who"], "hold_out": {"after": 2019}},
            DataError,
            r"1 labels have no positive up to the first cut-off of hold_out \(label_b\), so they cannot be",
        ),
    ],
)
def test_what_cannot_be_by_time_is_one_sentence(own, keys, error, sentence):
    with pytest.raises(error, match=sentence):
        prepare(own(TABLE, **keys))


def test_the_filter_counts_what_is_learned_from(own):
    keys = {"dates": "year", "ignore": ["who"], "hold_out": {"after": 2019}}
    data = prepare(own(TABLE, **keys, label_filter={"min_positives": 1}))
    assert data.label_names == ("label_a",) and data.left_out["filtered"] == ("label_b",)


def test_dates_with_the_day_first_are_read_if_declared_and_refused_with_a_hint_otherwise():
    texts = np.array(["1/2/2020", "31.12.2020 10:30", "05-01-21", "2021-02-03"])
    hold_out = {"after": ["2020-06-30", "2021-01-31"]}
    assert folds_by_time(texts, hold_out, "day", "t.csv", day_first=True).tolist() == [-2, 0, 0, 1]
    with pytest.raises(DataError, match=r"found '1/2/2020', .* as in 31/12/2021, set day_first: true"):
        folds_by_time(texts, hold_out, "day", "t.csv")
    with pytest.raises(DataError, match=r"data row 2, .*found '12/31/2020'"):
        folds_by_time(np.array(["1/2/2020", "12/31/2020"]), hold_out, "day", "t.csv", day_first=True)
