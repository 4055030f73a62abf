"""The sketch of the training data finds unlike rows and tables, raises few false alarms and contains no row."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import energy_distance

from fairfold.datasets import Dataset
from fairfold.datasets.typed import TypedColumns
from fairfold.errors import ModelError
from fairfold.final import load_final
from fairfold.final.model import fit_final
from fairfold.final.unlike import TableComparison, TrainingSketch, energy_test

NAMES = ("height", "width", "depth")


def dataset(X, names=NAMES, **more):
    labels = (np.arange(2 * X.shape[0]).reshape(-1, 2) % 3 == 0).astype(np.int8)
    return Dataset("toy", "multilabel", X, labels, names, ("x", "y"), **more)


def compared(sketch, samples):
    comparison = TableComparison(sketch)
    return comparison.add(samples), comparison


def normal(n_samples, seed, n_features=3):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


@pytest.fixture(scope="module")
def sketch():
    return TrainingSketch.of(dataset(normal(400, 0)), seed=1)


def test_the_energy_distance_is_that_of_scipy():
    first, second = normal(30, 1, 1), 1 + normal(25, 2, 1)
    distance, _ = energy_test(first, second, seed=0)
    assert distance == pytest.approx(energy_distance(first[:, 0], second[:, 0]) ** 2, abs=1e-12)


def test_rows_like_the_training_data_are_seldom_called_unlike():
    """Of 40 tables, 5 % differ by the test; more than 7 do with a probability of 0.1 %. Rows are exchangeable, too."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        sketch = TrainingSketch.of(dataset(rng.standard_t(3, size=(120, 3))), seed=seed)
        found.append(compared(sketch, rng.standard_t(3, size=(60, 3)))[1])
    assert sum(each.p_value() <= 0.05 for each in found) <= 7
    # The largest of 60 reference rows is the limit: 1 of 61 rows are above it on average.
    assert sum(each.n_unlike for each in found) / 2400 == pytest.approx(1 / 61, abs=0.013)


def test_unlike_rows_and_the_feature_that_differs_are_named(sketch):
    X = normal(200, 3)
    X[:20, 1] = 9
    rows, _ = compared(sketch, X)
    assert (rows["unlike_training"][:20] == "yes").all() and (rows["unlike_training"][20:] == "yes").sum() < 10
    assert ((rows["dissimilarity"] > 1) == (rows["unlike_training"] == "yes")).all()
    X[:, 1] += 1
    first, second = compared(sketch, X)[1].sentences()
    assert first.endswith("of 200 rows are unlike the training data; see column unlike_training.")
    assert second.startswith("The table as a whole differs from the training data (p < 0.001). Features that differ")
    assert second.endswith("most: width.")
    assert "No difference of the table as a whole was found" in compared(sketch, normal(200, 4))[1].sentences()[1]


def test_one_row_all_rows_and_constant_features(sketch):
    one, comparison = compared(sketch, normal(1, 0))
    assert len(one) == 1 and comparison.sentences() == [
        "0 of 1 rows are unlike the training data; see column unlike_training."
    ]
    assert compared(sketch, 50 + normal(30, 0))[1].n_unlike == 30
    constant = TrainingSketch.of(dataset(np.ones((60, 3))), seed=1)
    assert compared(constant, np.ones((20, 3)))[1].sentences()[1].endswith("found (p = 1.00).")
    assert "most: height, width, depth." in compared(constant, np.full((20, 3), 2.0))[1].sentences()[1]
    assert TrainingSketch.of(dataset(normal(9, 0)), seed=1) is None


def test_gaps_are_values_like_the_mean_and_a_column_with_new_ones_is_named(sketch):
    X = normal(100, 5)
    X[:, 2] = np.nan
    rows, comparison = compared(sketch, X)
    assert np.isfinite(rows["dissimilarity"]).all() and comparison.different_features() == ["depth"]


def test_a_column_with_gaps_in_training_is_not_named_without_a_change():
    """The distance of the few known values is large by chance."""
    rng = np.random.default_rng(0)

    def drawn(n_samples):
        X = rng.normal(size=(n_samples, 3))
        X[rng.random(n_samples) < 0.9, 2] = np.nan
        return X

    sketch = TrainingSketch.of(dataset(drawn(400)), seed=1)
    assert not any(compared(sketch, drawn(200))[1].different_features() for _ in range(10))
    assert compared(sketch, drawn(500) + np.array([0, 0, 3]))[1].different_features() == ["depth"]


def test_the_parts_of_a_table_do_not_matter(sketch):
    X = normal(900, 6)
    whole, comparison = compared(sketch, X)
    parts = TableComparison(sketch)
    rows = pd.concat([parts.add(X[start : start + 70]) for start in range(0, 900, 70)], ignore_index=True)
    pd.testing.assert_frame_equal(rows, whole)
    assert parts.sentences() == comparison.sentences()


@pytest.mark.parametrize("n_features", [30, 400])
def test_sparse_and_many_features(n_features):
    """Sparse rows are compared by their direction. Many features are projected."""
    rng = np.random.default_rng(0)
    kinds = rng.random((4, n_features)) < 0.1

    def rows(n_samples, kinds):
        return (kinds[rng.integers(len(kinds), size=n_samples)] & (rng.random((n_samples, n_features)) < 0.8)) * 1.0

    names = tuple(f"f{number}" for number in range(n_features))
    X = rows(300, kinds)
    for form in (np.asarray, sparse.csr_array):
        sketch = TrainingSketch.of(dataset(form(X), names), seed=1)
        assert compared(sketch, rows(100, kinds))[1].n_unlike <= 6
        away = compared(sketch, rows(100, rng.random((4, n_features)) < 0.1))[1]  # A prediction has dense features.
        assert away.n_unlike > 60 and away.p_value() < 0.01


def test_text_and_categories():
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(60)])

    def table(n_samples, words):
        notes = [" ".join(rng.choice(words, 8)) for _ in range(n_samples)]
        colors = rng.choice(["a", "b"], n_samples)
        return pd.DataFrame({"size": rng.normal(size=n_samples), "notes": notes, "color": colors})

    frame = table(200, words[:30])
    cells = {name: list(frame[name]) for name in ("notes", "color")}
    typed = TypedColumns.find(cells, source="plants.csv")
    X = np.hstack([frame[["size"]], typed.positions(cells)])
    sketch = TrainingSketch.of(dataset(X, ("size", *typed.names), typed=typed), seed=1)
    assert compared(sketch, table(60, words[:30]))[1].p_value() > 0.01
    rows, comparison = compared(sketch, table(60, words[30:]))
    assert (rows["unlike_training"] == "yes").mean() > 0.5 and comparison.different_features() == ["notes"]


def test_groups_have_no_test_because_their_rows_depend_on_each_other():
    groups = np.repeat(np.arange(40), 5)
    X = normal(200, 0) + 2 * normal(40, 1)[groups]
    sketch = TrainingSketch.of(dataset(X, groups=groups, group_names=tuple(map(str, range(40)))), seed=1)
    rng = np.random.default_rng(2)
    new = compared(sketch, rng.normal(size=(100, 3)) + 2 * np.repeat(rng.normal(size=(20, 3)), 5, axis=0))[1]
    assert new.p_value() is None and new.n_unlike <= 10


def test_no_row_is_in_the_sketch_which_is_stored_with_the_model(tmp_path):
    data = dataset(normal(90, 0).round(6))
    final = fit_final(data, "logistic", {}, seed=1)
    final.save(tmp_path)
    home = load_final(tmp_path)
    new = pd.DataFrame(normal(20, 1), columns=list(NAMES))
    rows, sentences = home.compare(new)
    pd.testing.assert_frame_equal(rows, final.compare(new)[0])
    assert sentences == final.compare(new.to_numpy())[1]
    sketch = home.sketch
    stored = (sketch.prototypes * sketch.scale + sketch.center).round(6)
    assert not {tuple(row) for row in stored} & {tuple(row) for row in np.asarray(data.X)}
    assert all(np.ndim(each) < 2 or len(each) < 20 for each in vars(sketch).values())

    private = fit_final(data, "logistic", {}, seed=1, sketch=False)
    assert private.predict(new)["probability"].equals(final.predict(new)["probability"])
    with pytest.raises(ModelError, match="stored without a sketch of its training data"):
        private.compare(new)
    assert replace(final, model=private.model).sketch is None
