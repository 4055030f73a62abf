"""Features equal those of pandas and scikit-learn, and depend on training samples only."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from fairfold.errors import DataError, ModelError
from fairfold.features import TableEncoder
from fairfold.features.text import TextEncoder, reach
from fairfold.forests.storage import load_model, save_model

WORDS = ["leaf", "stem", "root", "green", "long", "river", "stone", "flower", "seed", "wing", "bark", "old", "north"]


def sentences(n, seed=0):
    random = np.random.default_rng(seed)
    return pd.Series([" ".join(random.choice(WORDS, 9)) for _ in range(n)], dtype="str")


def table(n=120, seed=0):
    """Return a table with a column of each role."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "height": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
            "alive": random.random(n) < 0.5,
            "color": random.choice(["red", "blue", "green"], n),
            "size": random.choice(["S", "M", "L"], n),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 20000, n), "h"),
            "name": [f"{a} {b}" for a, b in zip(random.choice(WORDS, n), random.choice(WORDS, n), strict=True)],
            "notes": sentences(n, seed),
            "remarks": sentences(n, seed + 1),
            "id": [f"P{number:04}" for number in range(n)],
            "country": "XY",
        }
    )


DECLARED = {"size": ["S", "M", "L"], "name": "short text"}


def test_numbers_pass_unchanged():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(50, 3)), columns=list("abc"))
    frame.loc[3, "b"], frame["one"], frame["big"] = np.nan, 1, 2**53 + np.arange(50)
    for data in (frame, frame.to_numpy()):
        found = TableEncoder().fit_transform(data)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, frame.to_numpy(dtype=np.float64))
    assert TableEncoder().fit(frame).get_feature_names_out().tolist() == ["a", "b", "c", "one", "big"]


def test_categories_equal_dummies():
    frame = pd.DataFrame({"color": ["red", "blue", "red", None, "blue", None], "kind": pd.Categorical(list("xyxyxy"))})
    encoder = TableEncoder().fit(frame)
    expected = pd.get_dummies(frame.fillna({"color": "?"}), dtype=float)[
        ["color_?", "color_blue", "color_red", "kind_x", "kind_y"]
    ]
    np.testing.assert_array_equal(encoder.transform(frame), expected)
    assert encoder.get_feature_names_out().tolist() == ["color=?", "color=blue", "color=red", "kind=x", "kind=y"]
    assert encoder.feature_columns_.tolist() == ["color"] * 3 + ["kind"] * 2


def test_rare_and_unknown_categories_share_a_feature():
    frame = pd.DataFrame({"color": ["red"] * 5 + ["blue"] * 5 + ["pink", "gray"]})
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["color=blue", "color=red", "color=rare"]
    found = encoder.transform(pd.DataFrame({"color": ["pink", "unseen", None, "red"]}))
    assert found.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 0]]
    without_rare = TableEncoder().fit(frame[:10])
    assert without_rare.transform(pd.DataFrame({"color": ["unseen"]})).tolist() == [[0, 0]]


def test_codes_are_the_same_with_and_without_missing_cells():
    """A missing cell makes whole numbers floats in pandas."""
    encoder = TableEncoder(roles={"code": "category"}).fit(pd.DataFrame({"code": [1, 2, 1, 2, None, None]}))
    assert encoder.get_feature_names_out().tolist() == ["code=?", "code=1", "code=2"]
    assert encoder.transform(pd.DataFrame({"code": [2]})).tolist() == [[0, 0, 1]]
    assert encoder.transform(pd.DataFrame({"code": ["2 "]})).tolist() == [[0, 0, 1]]


def test_ordered_categories_are_positions():
    frame = pd.DataFrame({"size": ["L", "S", None, "M"]})
    encoder = TableEncoder(roles={"size": ["S", "M", "L"]}).fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame)[:, 0], [2, 0, np.nan, 1])
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"size": ["XL"]}))[:, 0], [np.nan])
    ordered = pd.DataFrame({"size": pd.Categorical(["hi", "lo"], ["lo", "mid", "hi"], ordered=True)})
    assert TableEncoder().fit_transform(ordered).tolist() == [[2.0], [0.0]]


def test_booleans_are_numbers():
    frame = pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean"), "b": ["false", "TRUE", None]})
    frame["c"] = [" No", "yes", "no"]
    expected = [[1, 0, 0], [np.nan, 1, 1], [0, np.nan, 0]]
    np.testing.assert_array_equal(TableEncoder().fit_transform(frame), expected)


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@pytest.mark.parametrize("as_text", [False, True])
def test_dates_equal_pandas(zone, as_text):
    times = pd.Series(pd.date_range("1969-12-30 22:30", periods=400, freq="37h", tz=zone))
    times[7] = pd.NaT
    frame = pd.DataFrame({"t": times.map(lambda time: time.isoformat() if time == time else "") if as_text else times})
    encoder = TableEncoder().fit(frame)
    utc = times.dt.tz_convert("UTC").dt.tz_localize(None) if zone else times
    days = (utc - pd.Timestamp(0)).dt.total_seconds() / 86400
    parts = [utc.dt.year, utc.dt.month, utc.dt.day_of_week, utc.dt.day_of_year, days, utc.dt.hour]
    np.testing.assert_allclose(encoder.transform(frame), np.column_stack(parts), rtol=1e-15)
    assert encoder.get_feature_names_out().tolist() == [
        f"t: {part}" for part in ("year", "month", "weekday", "day of year", "days", "hour")
    ]


def test_dates_of_arrow_equal_those_of_pandas():
    times = pd.Series(pd.date_range("2020-01-01", periods=9, freq="35h"))
    expected = TableEncoder().fit_transform(times.to_frame("t"))
    for kind, found in (("timestamp[us][pyarrow]", expected), ("date32[pyarrow]", np.floor(expected[:, :5]))):
        np.testing.assert_array_equal(TableEncoder().fit_transform(times.astype(kind).to_frame("t")), found)


def test_hour_is_a_feature_only_if_it_varies():
    frame = pd.DataFrame({"t": pd.date_range("2020-01-01 12:00", periods=9)})
    assert "t: hour" not in TableEncoder().fit(frame).get_feature_names_out()


def test_dates_keep_the_format_of_training():
    encoder = TableEncoder().fit(pd.DataFrame({"t": ["31/12/2020", "01/02/2021"]}))
    assert encoder.transform(pd.DataFrame({"t": ["05/06/2021"]}))[0, :2].tolist() == [2021, 6]
    iso = pd.Series(["2021-06-05", "2021-06-05 00:00:00", None, pd.Timestamp(2021, 6, 5)], dtype=object)
    for column in (iso, pd.to_datetime(iso, format="mixed"), iso.astype(str).replace("None", "")):
        found = encoder.transform(column.to_frame("t"))
        assert found[[0, 1, 3], 1].tolist() == [6, 6, 6] and np.isnan(found[2]).all()
    with pytest.raises(DataError, match="row 2, column 't': expected a date such as 31/12/2021, found '2021/06/05'"):
        encoder.transform(pd.DataFrame({"t": ["05/06/2021", "2021/06/05"]}))


def test_frequencies_equal_scikit_learn():
    frame = pd.DataFrame({"notes": sentences(150), "height": np.arange(150.0)})
    found = TableEncoder(text="sparse").fit(frame).transform(frame)
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\w+", sublinear_tf=True, min_df=2)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=2)
    expected = [words.fit_transform(frame["notes"]), characters.fit_transform(frame["notes"]), frame[["height"]]]
    assert sparse.issparse(found) and found.format == "csr"
    np.testing.assert_allclose(found.toarray(), sparse.hstack(expected).toarray(), atol=1e-15)


def test_components_equal_scikit_learn():
    frame = pd.DataFrame({"notes": sentences(150)})
    frequencies = TableEncoder(text="sparse").fit_transform(frame)
    found = TableEncoder(text="dense", n_components=5).fit(frame)
    svd = TruncatedSVD(5, random_state=0).fit(frequencies)
    np.testing.assert_allclose(found.transform(frame), svd.transform(frequencies), atol=1e-12)
    assert found.get_feature_names_out()[[0, -1]].tolist() == ["notes: component 1", "notes: component 5"]
    np.testing.assert_array_equal(found.transform(frame), clone(found).fit_transform(frame))


def test_both_kinds_of_features_of_text():
    frame = table()
    found = TableEncoder(roles=DECLARED, text="both", n_components=20).fit(frame)
    both, are_terms = found.transform(frame), found.are_terms_
    dense = TableEncoder(roles=DECLARED, text="dense", n_components=20).fit_transform(frame)
    np.testing.assert_array_equal(both[:, np.flatnonzero(~are_terms)].toarray(), dense)
    terms = TableEncoder(roles=DECLARED, text="sparse").fit(frame)
    expected = terms.transform(frame)[:, np.flatnonzero(terms.are_terms_)]
    assert abs(both[:, np.flatnonzero(are_terms)] - expected).max() == 0
    assert set(found.feature_columns_[are_terms]) == {"name", "notes", "remarks"}


def test_names_and_codes_are_encoded_by_characters():
    frame = pd.DataFrame({"name": [f"{word}us {word}a" for word in WORDS] * 5})
    names = TableEncoder(roles={"name": "short text"}).fit(frame).get_feature_names_out()
    assert "name: 'lea'" in names and not any(name in names for name in ("name: leafus", "name: leaf"))


def test_number_of_terms_is_limited_by_the_most_frequent():
    texts = np.array(["a a b", "a b", "c a"] * 3, dtype=object)
    assert TextEncoder(most=2).fit_transform(texts).shape == (9, 4)
    encoder = TextEncoder(most=1)
    encoder.fit_transform(texts)
    assert encoder.names()[0] == "a"


@pytest.mark.parametrize("text", ["sparse", "dense"])
def test_words_of_test_samples_never_become_features(text):
    train = table()
    test = train.assign(
        notes="zyzzyva " * 9, remarks="щука щит", name="vext", color="mauve", id="Z9", size="XL", country="QQ", new=1
    )
    encoder = TableEncoder(roles=DECLARED, text=text, n_components=20).fit(train)
    before = encoder.transform(train)
    names = encoder.get_feature_names_out().tolist()
    unknown = ("zyz", "щ", "vext", "mauve", "Z9", "XL", "QQ", "new")
    assert not any(part in name for name in names for part in unknown)
    found = encoder.transform(test)
    assert found.shape == before.shape
    assert encoder.get_feature_names_out().tolist() == names
    after = encoder.transform(train)
    assert (abs(after - before).max() if text == "sparse" else np.nanmax(abs(after - before))) == 0
    columns = encoder.feature_columns_
    rest = found.toarray() if text == "sparse" else found
    assert not rest[:, (columns == "remarks")].any() and not rest[:, [name == "color=red" for name in names]].any()


@pytest.mark.parametrize("text", ["sparse", "dense"])
def test_every_column_has_its_features(text):
    frame = table()
    encoder = TableEncoder(roles=DECLARED, text=text, n_components=20).fit(frame)
    found = encoder.transform(frame)
    assert found.shape == (120, len(encoder.get_feature_names_out()))
    assert len(set(encoder.get_feature_names_out())) == found.shape[1]
    used = ["height", "alive", "color", "size", "seen", "name", "notes", "remarks"]
    assert list(dict.fromkeys(encoder.feature_columns_)) == used
    assert sparse.issparse(found) == (text == "sparse")
    assert {each.column: each.role for each in encoder.roles_}["id"] == "identifier"


def test_sparse_features_have_indicators_of_missing_cells():
    frame = pd.DataFrame({"height": [1.0, np.nan, 3.0, 8.0], "notes": sentences(4)})
    encoder = TableEncoder(text="sparse").fit(frame)
    found = encoder.transform(frame).toarray()
    assert encoder.get_feature_names_out()[:2].tolist() == ["height", "height is missing"]
    assert found[:, :2].tolist() == [[1, 0], [3, 1], [3, 0], [8, 0]]
    later = encoder.transform(pd.DataFrame({"height": [np.nan], "notes": [None]})).toarray()
    assert later[0, :2].tolist() == [3, 1] and not later[0, 2:].any()


def test_few_features_of_text_are_dense():
    frame = pd.DataFrame({"name": ["oak", "elm"] * 30 + ["ash"]})
    assert isinstance(TableEncoder(roles={"name": "short text"}).fit_transform(frame), np.ndarray)
    assert sparse.issparse(TableEncoder(roles={"name": "short text"}, text="sparse").fit_transform(frame))


@pytest.mark.parametrize("text", ["auto", "dense", "both"])
def test_model_is_saved_and_loaded(tmp_path, text):
    frame = table().fillna({"height": 0.0})
    model = make_pipeline(TableEncoder(roles=DECLARED, text=text, n_components=20), DummyClassifier())
    model.fit(frame, frame["alive"])
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    difference = abs(loaded[0].transform(frame) - model[0].transform(frame))
    assert np.nan_to_num(difference.max()) == 0
    assert loaded[0].get_feature_names_out().tolist() == model[0].get_feature_names_out().tolist()
    assert pickle.loads(pickle.dumps(model[0])).roles_ == model[0].roles_


def test_columns_may_come_in_any_order_but_not_be_missing():
    frame = table()
    encoder = TableEncoder(roles=DECLARED).fit(frame)
    found = encoder.transform(frame[frame.columns[::-1]])
    assert abs(found - encoder.transform(frame)).max() == 0
    with pytest.raises(DataError, match="table: no column 'notes'"):
        encoder.transform(frame.drop(columns="notes"))


def test_index_has_no_influence():
    frame = table().sort_values("height")
    found = TableEncoder(roles=DECLARED).fit_transform(frame)
    assert abs(found - TableEncoder(roles=DECLARED).fit_transform(frame.reset_index(drop=True))).max() == 0


def test_encoder_is_a_transformer_of_scikit_learn():
    encoder = TableEncoder(text="dense", n_components=7)
    assert clone(encoder).get_params() == encoder.get_params()
    frame = table()[["height", "color"]]
    found = encoder.set_output(transform="pandas").fit_transform(frame)
    assert found.columns.tolist() == encoder.get_feature_names_out().tolist()
    assert found.index.equals(frame.index)


@pytest.mark.parametrize(
    ("cells", "later"),
    [
        (["", None, "  "] * 40, ["word"]),  # empty text
        (["the same words in each cell"] * 120, ["other words"]),
        (["long " * 200_000, "words"], ["long"]),  # 1 MB
        (["x" * 1_000_000, "y"], ["x"]),  # a long word
        ([f"=SUM(A{number}) + 1" for number in range(120)], ["=1+1"]),
        (["<p>leaf &amp; stem</p><br/>\n\"quoted\", 'twice'"] * 60 + ["<b>"] * 60, ["<p>"]),
        (["🌿🌿 green 🌳", "🌵"] * 60, ["🌿"]),
        (["ورقة خضراء", "ساق"] * 60, ["ورقة"]),
        (["这片叶子是绿色的", "茎"] * 60, ["叶子"]),
        (["Ho\u0308he", "Höhe"] * 60, ["höhe"]),
        ([b"leaf", "stem"] * 60, [b"stem"]),
        ([1, "two", 3.5, None] * 30, [7]),
    ],
)
@pytest.mark.parametrize("text", ["sparse", "dense"])
def test_any_text_is_encoded(cells, later, text):
    frame = pd.DataFrame({"number": np.arange(float(len(cells))), "notes": pd.Series(cells, dtype=object)})
    encoder = TableEncoder(roles={"notes": "text"}, text=text, n_components=3).fit(frame)
    found = encoder.transform(pd.DataFrame({"number": 1.0, "notes": pd.Series(later, dtype=object)}))
    assert found.shape == (1, len(encoder.get_feature_names_out()))
    assert np.isfinite(found.toarray() if sparse.issparse(found) else found).all()


def test_scripts_without_spaces_and_emoji_have_terms():
    frame = pd.DataFrame({"notes": ["这片叶子是绿色的", "茎很长 🌿🌳"] * 60})
    names = TableEncoder(roles={"notes": "text"}, text="sparse").fit(frame).get_feature_names_out()
    assert {"notes: '叶子'", "notes: '🌿🌳'"} <= set(names)


def test_forms_of_unicode_are_one_word():
    frame = pd.DataFrame({"notes": ["Ho\u0308he", "Höhe"] * 60})
    found = TableEncoder(roles={"notes": "text"}, text="sparse").fit_transform(frame).toarray()
    np.testing.assert_array_equal(found[0], found[1])


def test_many_categories_are_encoded():
    frame = pd.DataFrame({"code": [f"c{number % 100_000}" for number in range(100_100)]})
    assert TableEncoder(roles={"code": "category"}).fit_transform(frame).shape == (100_100, 100)
    assert TableEncoder(roles={"code": "short text"}, max_terms=50).fit_transform(frame[:2000]).shape == (2000, 50)


def test_reach_limits_the_characters_of_a_column(monkeypatch):
    texts = np.array(["a" * 10, "b" * 100, "c" * 1000, ""], dtype=object)
    assert reach(texts) == 1000
    monkeypatch.setattr("fairfold.features.text.MOST_READ", 210)
    assert reach(texts) == 100
    monkeypatch.setattr("fairfold.features.text.MOST_READ", 100)
    assert reach(texts) == 45
    encoder = TextEncoder()
    encoder.fit_transform(texts)
    assert sum(len(text[: encoder.reach_]) for text in texts) == 100
    assert reach(np.array([], dtype=object)) == 0


def test_long_columns_have_no_word_pairs(monkeypatch):
    frame = pd.DataFrame({"notes": sentences(20)})
    pairs = {f"notes: {first} {second}" for first in WORDS for second in WORDS}
    assert pairs & {*TableEncoder().fit(frame).get_feature_names_out()}
    monkeypatch.setattr("fairfold.features.text.MOST_PAIRED", 100)
    encoder = TableEncoder().fit(frame)
    names = {*encoder.get_feature_names_out()}
    assert not pairs & names and "notes: leaf" in names
    assert encoder.transform(frame).shape == (20, len(names))


@pytest.mark.parametrize(
    ("roles", "cells", "message"),
    [
        ({"x": "number"}, ["1", "two"], "row 2, column 'x': expected a number, found 'two'"),
        ({"x": "number"}, ["1", "yes"], "row 2, column 'x': expected a number, found 'yes'"),
        ({"x": "boolean"}, [1, "maybe"], "row 2, column 'x': expected true, false, yes, no, 0 or 1, found 'maybe'"),
        ({"x": "date"}, ["2020-01-01", "yesterday"], "row 1, column 'x': expected dates of one format"),
        ({}, [None, None], "table: no column gives a feature"),
        ({}, ["same", "same"], "table: no column gives a feature"),
    ],
)
def test_useless_columns_are_named(roles, cells, message):
    with pytest.raises(DataError, match=message):
        TableEncoder(roles=roles).fit(pd.DataFrame({"x": pd.Series(cells, dtype=object)}))


def test_later_cells_that_do_not_fit_are_named():
    encoder = TableEncoder().fit(pd.DataFrame({"height": [1.0, 2.0]}))
    with pytest.raises(DataError, match="row 1, column 'height': expected a number, found 'tall'"):
        encoder.transform(pd.DataFrame({"height": ["tall"]}))
    assert encoder.transform(pd.DataFrame({"height": ["1.5"]})).tolist() == [[1.5]]


@pytest.mark.parametrize("parameters", [{"text": "words"}, {"n_components": 0}, {"max_terms": 1.5}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ModelError):
        TableEncoder(**parameters).fit(pd.DataFrame({"a": [1.0, 2.0]}))


def test_array_of_one_dimension_is_refused():
    with pytest.raises(DataError, match="expected rows and columns, found 1 dimensions"):
        TableEncoder().fit(np.arange(3))
