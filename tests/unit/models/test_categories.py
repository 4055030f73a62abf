"""Categorical features stay one feature for models that support them, and become one column per value for others."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier

from fairfold.datasets import prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.datasets.categories import Categories
from fairfold.final import load_final
from fairfold.final.model import fit_final
from fairfold.models import load_model, make_model
from fairfold.models.categories import CategoryCodes

KNOWING = {
    "HistGB": lambda: HistGradientBoostingClassifier(
        max_iter=200,
        max_leaf_nodes=15,
        learning_rate=0.05,
        early_stopping=False,
        categorical_features=[0, 1],
        random_state=0,
    ),
    "LightGBM": lambda: LGBMClassifier(
        n_estimators=200,
        num_leaves=15,
        learning_rate=0.05,
        deterministic=True,
        force_row_wise=True,
        n_jobs=1,
        verbose=-1,
        random_state=0,
    ),
}


@pytest.fixture(scope="module")
def table():
    """Return two categorical features and a number between them.

    Every other value of the first category implies the label.
    """
    rng = np.random.default_rng(0)
    soil, shade = rng.integers(0, 12, 300), rng.integers(0, 3, 300)
    texts = {"soil": np.array([f"s{value:02d}" for value in soil]), "shade": np.array(["low", "mid", "top"])[shade]}
    texts["soil"][:9] = ""
    number = rng.normal(size=300)
    Y = np.column_stack([(soil % 2 == 0) ^ (rng.random(300) < 0.1), shade + number > 1]).astype(np.int8)
    return texts, number, Y


@pytest.fixture(scope="module")
def data(table, tmp_path_factory):
    texts, number, Y = table
    frame = pd.DataFrame({**texts, "number": number, "label_a": Y[:, 0], "label_b": Y[:, 1]})
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    frame.to_csv(path, index=False)
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, "categorical": "as-is"}
    return prepare(load_catalog().with_own({"mine": stanza})["mine"])


def test_the_table_is_one_hot_and_knows_its_categories(data, table):
    texts, number, _ = table
    assert data.feature_names[:2] == ("number", "soil=?") and len(data.feature_names) == 1 + 13 + 3
    assert data.category_columns == (tuple(range(1, 14)), (14, 15, 16))
    one_hot = Categories.of("one-hot", texts, "x").encode(texts, "x")
    np.testing.assert_array_equal(data.X[:, 1:], one_hot)
    np.testing.assert_array_equal(data.X[:, 0], number)


def test_codes_are_the_places_of_the_values(data, table):
    found = CategoryCodes(data.category_columns).fit(data.X).transform(data.X)
    assert found.shape == (300, 3)
    _, places = np.unique(table[0]["soil"], return_inverse=True)
    np.testing.assert_array_equal(found[:, 0], places)
    np.testing.assert_array_equal(found[:, 2], table[1])
    gap = np.full((1, 17), np.nan)
    assert np.isnan(CategoryCodes(data.category_columns).transform(gap)).all()


@pytest.mark.parametrize("name", KNOWING)
def test_those_that_know_categories_are_those_called_by_hand(data, name, tmp_path):
    codes = CategoryCodes(data.category_columns).transform(data.X)
    model = make_model(name, categories=data.category_columns, random_state=0).fit(data.X, data.Y)
    for label in range(2):
        options = {"categorical_feature": [0, 1]} if name == "LightGBM" else {}
        by_hand = KNOWING[name]().fit(codes, data.Y[:, label], **options)
        np.testing.assert_array_equal(model.predict_proba(data.X)[:, label], by_hand.predict_proba(codes)[:, 1])
    without = make_model(name, random_state=0).fit(data.X, data.Y).predict_proba(data.X)
    assert (model.predict_proba(data.X) != without).any()
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(data.X), model.predict_proba(data.X))


@pytest.mark.parametrize("name", ["RF+ET", "gcForest+", "logistic", "kernel-ridge"])
def test_to_others_they_are_columns(data, name):
    few = {"n_trees": 5, "max_levels": 1} if "F" in name else {}
    categorical, plain = (
        make_model(name, **few, **known, random_state=0).fit(data.X, data.Y).predict_proba(data.X)
        for known in ({"categories": data.category_columns}, {})
    )
    np.testing.assert_array_equal(categorical, plain)


def test_corrected_and_with_weights_and_unmeasured_labels(data):
    Y = data.Y.astype(float)
    Y[::7, 1] = np.nan
    weights = 1 + np.arange(300) % 3
    model = make_model("LightGBM+", categories=data.category_columns, random_state=0)
    P = model.fit(data.X, Y, sample_weight=weights).predict_proba(data.X)
    assert np.isfinite(P).all() and P[data.Y[:, 0] == 1, 0].mean() > P[data.Y[:, 0] == 0, 0].mean() + 0.3


def test_the_model_to_take_home_reads_text(data, table, tmp_path):
    fit_final(data, "LightGBM", {}, seed=1).save(tmp_path)
    home = load_final(tmp_path)
    texts, number, _ = table
    new = pd.DataFrame({**texts, "number": number})[:20]
    codes = CategoryCodes(data.category_columns).transform(data.X)
    from fairfold.core.seeds import seed_for

    seed = seed_for(1, "final", "mine")
    by_hand = KNOWING["LightGBM"]().set_params(random_state=seed)
    expected = by_hand.fit(codes, data.Y[:, 1], categorical_feature=[0, 1]).predict_proba(codes[:20])[:, 1]
    np.testing.assert_array_equal(np.asarray(home.predict(new)["probability"])[:, 1], expected)
