"""The algorithm as a whole: its steps by hand give the same, and all pairs are what it comes near."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairfold.errors import DataError, ModelError
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, draw_feature_sets, evaluate_feature_sets, win_percentage
from fairfold.win_percentage.all_pairs import evaluate_all_pairs
from fairfold.win_percentage.monte_carlo import monte_carlo_win_percentage


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return rng.normal(size=(60, 12)) + y[:, None] * rng.normal(size=12), y


def test_it_is_its_steps(data):
    table = monte_carlo_win_percentage(*data, [1, 10], n_sets=200, n_splits=4, random_state=3)
    sets = draw_feature_sets(12, 2, 200, random_state=3)
    found = evaluate_feature_sets(*data, sets, n_splits=4, random_state=3)
    expected = win_percentage(found.performance, found.winners, [1, 10])
    assert table["classifier"].tolist() == 2 * list(GAUSSIAN_CLASSIFIERS)
    np.testing.assert_array_equal(table["win_percentage"], np.ravel(expected))
    assert (table["null_lower"] < 1 / 6).all() and (table["null_upper"] > 1 / 6).all()


def test_many_sets_come_near_all_pairs(data):
    """By Equation 2 the error with N / M of 10 / 20,000 is 0.24 (N / M)^0.48, 0.6 %; five of them."""
    table = monte_carlo_win_percentage(*data, [10], n_sets=20_000)
    exact = evaluate_all_pairs(*data).histogram.win_percentage([10])
    np.testing.assert_allclose(table["win_percentage"], exact[0], atol=5 * 0.24 * (10 / 20_000) ** 0.48)


def test_other_classifiers_and_sizes(data):
    models = {"NB": GaussianNB(), "3-NN": KNeighborsClassifier(3)}
    table = monte_carlo_win_percentage(*data, [5], n_sets=20, size={1: 1, 3: 2}, classifiers=models)
    assert table["classifier"].tolist() == ["NB", "3-NN"]
    assert table["win_percentage"].sum() == pytest.approx(1)


def test_bad_input(data):
    with pytest.raises(DataError, match="size"):
        monte_carlo_win_percentage(*data, [5], size=13)
    with pytest.raises(ModelError, match="draws"):
        monte_carlo_win_percentage(*data, [0], n_sets=10)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_features_whose_variances_are_no_numbers_are_refused(unit):
    """All classifiers would seem to be equal."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.repeat([0, 1], 15)
    X[:, 2] *= unit
    with pytest.raises(DataError, match=r"feature 2 spreads over .*, whose square no floating-point number holds"):
        monte_carlo_win_percentage(X, y, [1], n_sets=4)


def test_one_number_of_draws_will_do():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.repeat([0, 1], 15)
    one, listed = (monte_carlo_win_percentage(X, y, draws, n_sets=4) for draws in (5, [5]))
    pd.testing.assert_frame_equal(one, listed)
