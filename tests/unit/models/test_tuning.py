"""Test the hyperparameter search against a loop over combinations and folds."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import hamming_loss
from sklearn.model_selection import ParameterGrid

from fairfold.models.binary import one_per_label
from fairfold.models.one_level import OneLevelModel
from fairfold.models.tuning import tuned
from fairfold.splitting import IterativeStratification

RNG = np.random.default_rng(2)
X = RNG.normal(size=(90, 4))
Y = (X[:, :3] + RNG.normal(size=(90, 3)) > [0, 0.7, 1]).astype(int)
GRID = {"C": [1e-3, 1e-2, 1.0], "fit_intercept": [True, False]}


def search(**tuning):
    estimator = LogisticRegression()
    chosen = OneLevelModel(tuned(one_per_label(estimator), estimator, GRID, **tuning), random_state=5)
    return chosen.fit(X, Y).estimator_


def tried(search):
    """Return the score of each combination, without the path to the inner estimator."""
    scores = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    return {
        tuple(sorted((name.rpartition("__")[2], value) for name, value in found.items())): score
        for found, score in scores
    }


def losses(parameters, n_splits):
    """Compute the Hamming loss of each fold's test part."""
    fold_of = IterativeStratification(n_splits, random_state=5).assign(Y)
    for fold in range(n_splits):
        train, test = fold_of != fold, fold_of == fold
        machines = [LogisticRegression(**parameters).fit(X[train], y) for y in Y[train].T]
        yield hamming_loss(Y[test], np.column_stack([machine.predict(X[test]) for machine in machines]))


@pytest.mark.parametrize("n_splits", [2, 3])
def test_scores_are_those_of_a_loop_and_the_lowest_loss_is_best(n_splits):
    found = search(n_splits=n_splits, scoring="hamming_loss")
    expected = {tuple(each.items()): np.mean([*losses(each, n_splits)]) for each in ParameterGrid(GRID)}
    assert len({*expected.values()}) > 3, "the folds of other splitters must differ"
    assert tried(found) == {each: pytest.approx(-loss) for each, loss in expected.items()}
    assert found.best_score_ == pytest.approx(-min(expected.values()))


def test_no_more_is_tried_than_the_budget_allows():
    assert len(tried(search(n_splits=2, n_candidates=4))) == 4
    assert len(tried(search(n_splits=2, n_candidates=99))) == 6, "all, each once"


def test_models_of_one_fold_choose_on_the_same_folds_and_draw_the_same():
    assert tried(search(n_candidates=3)) == tried(search(n_candidates=3))
