import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import ModelError
from fairfold.forests import make_model
from fairfold.recommendation.missing_rate import estimate_missing_rate, missing_rate_table
from fairfold.weak_labels import mask_positives
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

FOLDS = 3


@pytest.fixture(scope="module")
def data():
    """Two labels that the features give away, so that a forest can be sure of some samples."""
    X = np.random.default_rng(0).random((500, 4))
    return X, (X[:, :2] > 0.6).astype(np.int8)


def forests(X, observed):
    model = make_model("RF+ET", n_trees=40, random_state=0)
    return model.fit(X, observed).levels_[0]


@pytest.mark.parametrize("rate", [0, 0.3, 0.5, 0.7])
def test_what_was_hidden_is_estimated_where_labels_are_easy(data, rate):
    X, Y = data
    masked = [mask_positives(Y, rate, random_state=seed) for seed in range(4)]
    found = [estimate_missing_rate(observed, forests(X, observed).predictors) for observed in masked]
    # c is a share of some 50 samples, known to 0.07; the largest of such shares is that much too large, and their mean
    # is known to half of it
    assert np.mean(found) == pytest.approx(rate, abs=0.14)


def test_it_is_that_of_an_honest_cascade_at_its_first_level(data):
    X, Y = data
    observed = mask_positives(Y, 0.5, random_state=1)
    honest = make_model("gcForest+", n_trees=20, max_levels=1, random_state=3).fit(X, observed)
    found = estimate_missing_rate(observed, honest.levels_[0].predictors)
    assert found == pytest.approx(1 - honest.label_frequencies_[0], rel=1e-12)


@pytest.mark.parametrize("given", [0, 1])
def test_forests_of_other_labels_are_refused(data, given):
    X, Y = data
    with pytest.raises(ModelError, match=r"labels have shape \(400, 2\)"):
        estimate_missing_rate(Y[:400], forests(X, Y).predictors[:given])


def test_predictions_that_are_no_numbers_are_refused(data):
    X, Y = data
    level = forests(X, Y)
    level.predictors[0].oob_proba_ = np.full(Y.shape, np.nan)
    with pytest.raises(ModelError, match="out-of-bag predictions are not finite"):
        estimate_missing_rate(Y, level.predictors)


@pytest.fixture(scope="module")
def parts(data):
    """Folds, what is hidden at each rate, and the forests of each fold."""
    X, Y = data
    fold_of = np.arange(len(Y)) % FOLDS
    hidden = {rate: hide_in_training_parts(Y, fold_of, rate / 100, seed=0, names=(rate,)) for rate in (0, 50)}
    levels = {
        (rate, fold): forests(X[fold_of != fold], observed_labels(Y, hidden[rate], fold)[fold_of != fold])
        for rate in hidden
        for fold in range(FOLDS)
    }
    return fold_of, hidden, levels


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_table_is_of_the_training_parts(data, parts, form):
    Y, (fold_of, hidden, levels) = data[1], parts
    table = missing_rate_table(form(Y), fold_of, hidden, lambda rate, fold: levels[rate, fold])
    for rate, row in table.set_index("hidden_rate").iterrows():
        shares, found = [], []
        for fold in range(FOLDS):
            train = fold_of != fold
            observed = observed_labels(Y, hidden[rate], fold)[train]
            shares.append(100 - 100 * observed.sum() / Y[train].sum())
            found.append(100 * estimate_missing_rate(observed, levels[rate, fold].predictors))
        expected = [np.mean(shares), np.mean(found), min(found), max(found)]
        numbers = row[["hidden_share", "estimated_rate", "lowest", "highest"]].to_numpy(dtype=float)
        np.testing.assert_allclose(numbers, expected, atol=1e-9)
        assert (row["n_folds"], row["reason"]) == (FOLDS, "")
    assert table["hidden_rate"].tolist() == [0, 50]
    assert table["hidden_share"].tolist() == pytest.approx([0, 50], abs=0.5)


def test_folds_without_forests_are_left_out(data, parts):
    fold_of, hidden, levels = parts
    whole = missing_rate_table(data[1], fold_of, hidden, lambda rate, fold: levels[rate, fold])
    one = missing_rate_table(data[1], fold_of, hidden, lambda rate, fold: levels[rate, 1] if fold == 1 else None)
    assert (one["n_folds"] == 1).all()
    assert (one["lowest"] == one["highest"]).all()
    assert (one["lowest"] >= whole["lowest"]).all()
    none = missing_rate_table(data[1], fold_of, hidden, lambda rate, fold: None)
    assert none[["hidden_share", "estimated_rate", "lowest", "highest"]].isna().all(axis=None)
    assert (none["n_folds"] == 0).all()
    assert (none["reason"] == "no forest could be grown on any fold; the reasons stand with the models' scores").all()
