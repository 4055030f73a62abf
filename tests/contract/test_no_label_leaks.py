"""No model uses hidden labels or labels of a test part: changing them does not change its predictions."""

import numpy as np
import pytest

from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.models import make_model
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

FORESTS = ("RF+ET", "SLCForest", "CaFE-FLA", "SLCForest+", "gcForest+", "Stack+")
OTHERS = ("logistic+", "joint-GB+", "kernel-ridge+", "ML-kNN", "chains")


def small(name, seed):
    settings = {"n_trees": 8, "max_levels": 1} if name in FORESTS else {}
    return make_model(name, random_state=seed, **settings)


class Recorder:
    """Wrapper that records the predictions of a model."""

    def __init__(self, model, predicted):
        self.model, self.predicted = model, predicted

    def fit(self, X, Y):
        self.model.fit(X, Y)
        self.best_levels_ = self.model.best_levels_
        return self

    def staged_predict_proba(self, X):
        for P in self.model.staged_predict_proba(X):
            self.predicted.append(P.tobytes())
            yield P


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((90, 5))
    Y = (X[:, :3] + 0.2 * rng.normal(size=(90, 3)) > 0.5).astype(np.int8)
    fold_of = np.arange(90) % 2
    return X, Y, fold_of, hide_in_training_parts(Y, fold_of, 0.4, seed=0, names=("hidden",))


def predictions(name, X, truth, fold_of, observed):
    predicted = []
    score_on_folds(
        lambda fold: Recorder(small(name, fold), predicted),
        *(X, truth, fold_of, observed),
    )
    return predicted


@pytest.mark.parametrize("name", [*FORESTS, *OTHERS])
def test_test_labels_and_hidden_labels_are_never_seen(data, name):
    X, Y, fold_of, hidden = data

    def poisoned(fold):
        return np.where((fold_of == fold)[:, np.newaxis], np.nan, observed_labels(Y, hidden, fold))

    other_truth = np.random.default_rng(1).permutation(Y)
    expected = predictions(name, X, Y, fold_of, lambda fold: observed_labels(Y, hidden, fold))
    assert len(expected) >= 2
    assert predictions(name, X, other_truth, fold_of, poisoned) == expected
    seen = [observed_labels(Y, hidden, fold)[fold_of != fold].sum() for fold in (0, 1)]
    assert sum(seen) < sum(Y[fold_of != fold].sum() for fold in (0, 1))  # some labels were hidden
