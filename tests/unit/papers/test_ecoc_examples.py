from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from fairfold.ecoc import ECOCClassifier, PartitionedECOC, make_learner
from fairfold.papers.ecoc_examples import (
    DECODINGS,
    EXAMPLES,
    REAL_LOSSES,
    VALUES,
    Example,
    compare_codes,
    median_loss,
    posterior_map,
    predict_example,
    random_rows,
    summarize_example,
)


@pytest.fixture(scope="module")
def iris():
    bunch = load_iris()
    return bunch.data, bunch.target_names[bunch.target]


def test_the_median_loss_by_hand():
    coding = np.array([[1, 1, np.nan], [-1, np.nan, 1], [np.nan, -1, -1]])
    scores = np.array([2.0, 0.5, -3.0])
    # (1 - m s) / 2: class 1 has -0.5 and 0.25, class 2 has 1.5 and 2, class 3 has 0.75 and -1.
    np.testing.assert_allclose(median_loss(coding, scores), [-0.125, 1.75, -0.125])


@pytest.mark.parametrize(("name", "largest_error"), [("linear", 0.06), ("custom-loss", 0.5), ("posterior", 0.07)])
def test_examples_predict_iris(iris, name, largest_error):
    X, y = iris
    example = EXAMPLES[name]
    X = X if example.features is None else X[:, example.features]
    predictions, posteriors, _, model = predict_example(example, X, y, n_splits=5, seed=1)
    np.testing.assert_array_equal(predictions["class"], y)
    np.testing.assert_array_equal(predictions["fold"], model.fold_of_)
    summary = summarize_example(predictions, posteriors, name=name).iloc[0]
    assert summary["error"] == (predictions["predicted"] != y).mean() <= largest_error
    assert np.isnan(summary["log_loss"]) == (name != "posterior")


def test_posteriors_are_those_of_the_model(iris):
    X, y = iris
    predictions, posteriors, _, model = predict_example(EXAMPLES["posterior"], X[:, 2:], y, n_splits=3)
    wide = posteriors.pivot(index="row", columns="candidate", values="posterior")[list(model.classes_)].to_numpy()
    with pytest.warns(ConvergenceWarning):
        again = model.kfold_predict(num_kl_initializations=10, update="page").posterior
    np.testing.assert_allclose(wide, again)
    found = summarize_example(predictions, posteriors, name="a")["log_loss"].iloc[0]
    assert found == pytest.approx(log_loss(y, wide))
    grid = posterior_map(model, X[:, 2:], ["length", "width"], n_points=5)
    np.testing.assert_allclose(grid.groupby(["x", "y"])["posterior"].sum(), 1)
    assert len(grid) == 75
    assert grid["x"].min() < X[:, 2].min() < X[:, 2].max() < grid["x"].max()


def test_random_rows_are_rows_of_the_predictions():
    table = pd.DataFrame({"row": range(40), "class": list("abcd") * 10})
    drawn = random_rows(table, seed=3)
    assert len(drawn) == 10 and drawn["row"].is_monotonic_increasing
    pd.testing.assert_frame_equal(drawn, table.loc[drawn["row"]])
    assert not drawn["row"].equals(random_rows(table, seed=4)["row"])


def test_the_comparison_holds_what_the_models_state(iris):
    X, y = iris
    table = compare_codes(X, y, designs=["onevsone", "onevsall"], n_splits=3, seed=5)
    own = table.dropna(subset="binary_loss").set_index(["coding", "binary_loss", "decoding"])
    assert len(own) == 2 * len(REAL_LOSSES) * len(DECODINGS)
    peers = table[table["binary_loss"].isna()].set_index("coding")["error"]
    assert set(peers.index) == {"OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"}
    # The support vector machines, the folds and the decision are the same.
    assert own.loc[("onevsall", "hinge", "lossbased"), "error"] == peers["OneVsRestClassifier"]
    assert own["log_loss"].groupby("coding").nunique().eq(1).all()
    assert own["error"].between(0, 0.6).all()


def test_a_sample_is_predicted_by_models_that_did_not_see_it():
    """The labels are random. A model that had seen its samples would remember them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.repeat(["a", "b", "c"], 30)
    model = PartitionedECOC(ECOCClassifier(make_learner("tree")), 5, random_state=0).fit(X, y)
    assert model.kfold_loss() > 0.5


@pytest.fixture(scope="module")
def printed():
    return pd.read_csv(Path(__file__).parents[3] / "resources/published/ecoc_examples.csv")


def test_the_printed_median_losses_keep_the_identity_of_ours(iris, printed):
    """Each of three pairs has a median of two values.

    The negated losses sum to -1.5, in the page's rows and in ours.
    """
    theirs = printed[printed["quantity"] == "neg_loss"]
    losses_of = ["setosa", "versicolor", "virginica"]
    np.testing.assert_allclose(theirs[losses_of].sum(axis=1), -1.5, atol=1.5e-4)  # five digits of numbers up to 4
    example = predict_example(EXAMPLES["custom-loss"], *iris, seed=1)
    np.testing.assert_allclose(example.model.kfold_predict(median_loss).neg_loss.sum(axis=1), -1.5, atol=1e-12)
    # All printed values are within the range of our samples of the same classes.
    long = theirs.melt(["true", "predicted", "quantity"], losses_of, var_name="candidate", value_name="printed")
    both = long.merge(example.values, on=["quantity", "true", "predicted", "candidate"])
    assert len(both) == 3 * 10
    assert both["printed"].between(both["low"], both["high"]).all()


def test_values_by_class_are_those_of_the_samples(iris):
    X, y = iris
    _, posteriors, values, _ = predict_example(EXAMPLES["posterior"], X[:, 2:], y, n_splits=3)
    assert list(values.columns) == VALUES and set(values["quantity"]) == {"neg_loss", "posterior"}
    setosa = posteriors[(posteriors["class"] == "setosa") & (posteriors["candidate"] == "setosa")]["posterior"]
    row = values.query("quantity == 'posterior' and true == predicted == candidate == 'setosa'").iloc[0]
    assert row["n"] == 50  # all predicted correctly
    expected = [setosa.mean(), setosa.std(), setosa.min(), setosa.max()]
    np.testing.assert_allclose(row[["mean", "sd", "low", "high"]].astype(float), expected)
    assert values.groupby(["quantity", "candidate"])["n"].sum().eq(len(y)).all()


def test_one_random_design_serves_all_folds(iris):
    X, y = iris
    example = Example(None, make_learner("naive-bayes"), coding="sparserandom", fit_posterior=True)
    model = predict_example(example, X, y, n_splits=3, seed=2).model
    scores = model.kfold_predict().pb_score
    assert scores.shape == (150, model.models_[0].coding_matrix_.shape[1]) and np.isfinite(scores).all()
    assert EXAMPLES["arrhythmia"].coding == "sparserandom"


def test_posteriors_of_separable_classes_are_as_printed(iris):
    X, y = iris
    example = EXAMPLES["posterior"]._replace(predict={"update": "page"})
    _, table, _, model = predict_example(example, X[:, 2:], y, seed=1)
    assert model.models_[0].estimators_[0].n_splits == 10
    own = table[(table["class"] == "setosa") & (table["candidate"] == "setosa")]["posterior"]
    assert (own >= 0.999).mean() > 0.9  # .96 and less with sigmoids
