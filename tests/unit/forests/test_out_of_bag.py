"""Test the honest cascades against a plain implementation, with permuted labels and with hidden labels."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.utils import check_random_state

from fairfold.core.seeds import seed_for
from fairfold.forests import make_model
from fairfold.forests.out_of_bag import OutOfBagCascade
from fairfold.forests.trees import MultilabelForest
from fairfold.weak_labels import (
    calibrate,
    fit_calibration,
    imputation_quality,
    mask_positives,
    positive_cap,
    posterior,
    shared_label_frequency,
    strict_label_complement,
)

KINDS = ("random_forest", "extra_trees")
N_TREES, LEVELS = 20, 2


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((400, 8))
    noisy = X + 0.1 * rng.normal(size=X.shape)
    truth = np.column_stack([noisy[:, 0] > 0.4, noisy[:, 1] + noisy[:, 2] > 0.9, noisy[:, 3] > 0.6]).astype(np.int8)
    return X, truth, mask_positives(truth, 0.5, random_state=0)


def written_out(X, observed, new_X, imputation):
    """Return the posteriors of new samples, level by level."""
    seed = check_random_state(3).randint(2**31 - 1)

    def pair(seen, labels, *names):
        return [
            MultilabelForest(kind, n_trees=N_TREES, random_state=seed_for(seed, *names, kind)).fit(seen, labels)
            for kind in KINDS
        ]

    train, new, encoders, total, seen_proba = X, new_X, None, 0, []
    for level in range(LEVELS + 1):
        if level > 0:
            labels, mean = observed, np.mean(seen_proba, axis=0)
            hidden = np.minimum(1, mean / (1 - mean) * (1 - c) / c)  # noqa: F821
            if imputation == "slc":
                labels = strict_label_complement(observed, hidden, positive_cap(observed, np.full(3, c)))  # noqa: F821
            elif imputation == "fla":
                labels = np.where(observed == 1, 1.0, hidden)
            encoders = pair(train, labels, level, "encoder") if imputation else predictors  # noqa: F821
            encoded = [forest.centered_oob_proba() for forest in encoders]
            applied = [forest.predict_proba(new) for forest in encoders]
            train, new = np.hstack([X, *encoded]), np.hstack([new_X, *applied])
        predictors = pair(train, observed, level, "predictor")
        oob = (predictors[0].centered_oob_proba() + predictors[1].centered_oob_proba()) / 2
        coefficients = fit_calibration(observed, oob)
        seen_proba.append(calibrate(oob, coefficients))
        c = shared_label_frequency(observed, np.sum(seen_proba, axis=0))
        P = (predictors[0].predict_proba(new) + predictors[1].predict_proba(new)) / 2
        total = total + posterior(calibrate(P, coefficients), c)
        yield total / (level + 1), observed if level == 0 else labels, c


@pytest.mark.parametrize(("name", "imputation"), [("gcForest+", None), ("SLCForest+", "slc"), ("FLAForest+", "fla")])
def test_equals_the_cascade_written_out(data, name, imputation):
    X, _, observed = data
    settings = {"shape": "paper", "n_trees": N_TREES, "max_levels": LEVELS, "patience": 9, "random_state": 3}
    settings["label_frequency"] = "estimate"
    model = make_model(name, **settings).fit(X[:300], observed[:300])
    levels = model.staged_predict_proba(X[300:])
    expected = list(written_out(X[:300], observed[:300], X[300:], imputation))
    assert len(model.levels_) == LEVELS + 1
    for level, (P, labels, c) in enumerate(expected):
        np.testing.assert_allclose(next(levels), P, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.training_labels_[level], labels, rtol=0, atol=1e-12)
        assert model.label_frequencies_[level] == pytest.approx(c, abs=1e-12)


def mean_auroc(labels, P):
    return np.mean([roc_auc_score(labels[:, label], P[:, label]) for label in range(labels.shape[1])])


@pytest.fixture(scope="module")
def permuted():
    """Return six sets of labels that are unrelated to the features."""
    rng = np.random.default_rng(5)
    return [(rng.random((500, 8)), (rng.random((500, 3)) < 0.4).astype(np.int8)) for _ in range(6)]


def out_of_bag_aurocs(permuted, name, attribute, **options):
    """Return the mean AUROC over labels, of shape (data, levels)."""
    found = []
    for X, labels in permuted:
        model = make_model(name, n_trees=40, max_levels=2, random_state=0, **options).fit(X, labels)
        outputs = [[attribute(forest) for forest in level.predictors] for level in model.levels_]
        found.append([mean_auroc(labels, np.mean(pair, axis=0)) for pair in outputs])
    return np.array(found)


def test_published_features_leak_permuted_labels(permuted):
    """Forests on in-bag predictions fit meaningless labels."""
    aurocs = out_of_bag_aurocs(permuted, "gcForest", lambda forest: forest.oob_proba_, variant="authors-code")
    assert aurocs[:, 0].mean() < 0.53 and aurocs[:, 1:].min() > 0.85


@pytest.mark.parametrize("name", ["gcForest+", "FLAForest+", "CaFE-FLA+"])
def test_honest_features_do_not(permuted, name):
    """At every level, the AUROC is at most 0.5 plus 3 standard errors of its mean over datasets, and at least 0.45."""
    aurocs = out_of_bag_aurocs(permuted, name, MultilabelForest.centered_oob_proba, patience=9)
    mean, error = aurocs.mean(axis=0), aurocs.std(axis=0, ddof=1) / np.sqrt(len(aurocs))
    assert len(mean) == 3 and (mean < 0.5 + 3 * error).all() and (mean > 0.45 - 3 * error).all(), (mean, error)


def excess_among_duplicates(seed):
    """Return the excess of out-of-bag average precision over that of new samples of the same groups, by level.

    Samples of a group have the same features and labels. Half of the labels are hidden.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 15, 60)
    X = np.repeat(rng.random((60, 60)) < 0.15, sizes, axis=0).astype(float)
    truth = np.repeat(rng.random((60, 3)) < 0.3, sizes, axis=0).astype(np.int8)
    observed = truth * (rng.random(truth.shape) < 0.5)
    order = rng.permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    model = OutOfBagCascade(n_trees=60, max_levels=3, patience=9, random_state=0).fit(X[train], observed[train])
    levels = zip(model.oob_scores_, model.staged_predict_proba(X[test]), strict=True)
    truth = observed[test].ravel()
    return [score["average_precision"] - average_precision_score(truth, P.ravel()) for score, P in levels]


def test_out_of_bag_scores_hold_for_fresh_samples_even_among_duplicates(monkeypatch):
    """The excess is below 0.06 at every level.

    With the tree shape of the first level at higher levels, the excess is above 0.1.
    """
    mean = np.mean([excess_among_duplicates(seed) for seed in range(4)], axis=0)
    assert len(mean) == 4 and (np.abs(mean) < 0.06).all(), mean
    monkeypatch.setattr("fairfold.forests.levels.above_first_level", lambda shape: shape)
    assert np.mean([excess_among_duplicates(seed) for seed in range(4)], axis=0)[1:].min() > 0.1


@pytest.mark.parametrize("name", ["gcForest+", "SLCForest+", "FLAForest+", "CaFE-SLC+", "CaFE-FLA+"])
def test_hidden_labels_are_predicted(data, name):
    """Half of the labels are hidden. Plain forests predict few of them at 0.5, and posteriors predict many."""
    X, truth, observed = data
    wrong = {}
    for model in ("RF+ET", name):
        corrected = {"label_frequency": "estimate"} if model == name else {}
        fitted = make_model(model, n_trees=40, max_levels=3, random_state=0, **corrected)
        fitted.fit(X[:300], observed[:300])
        wrong[model] = np.mean(fitted.predict(X[300:]) != truth[300:])
    assert wrong[name] < 0.7 * wrong["RF+ET"], wrong
    assert abs(fitted.label_frequencies_[-1] - 0.5) < 0.1


@pytest.mark.parametrize("name", ["SLCForest+", "FLAForest+"])
def test_imputation_is_precise_at_every_level(data, name):
    X, truth, observed = data
    settings = {"n_trees": 40, "max_levels": 4, "patience": 9, "label_frequency": "estimate"}
    model = make_model(name, **settings, random_state=0).fit(X, observed)
    chance = (truth.sum() - observed.sum()) / (1 - observed).sum()
    assert len(model.training_labels_) > 1
    for labels in model.training_labels_[1:]:
        quality = imputation_quality(truth, observed, labels)
        assert quality["true_positives"].sum() / quality["n_imputed"].sum() > 1.5 * chance


def test_growth_stops_when_it_does_not_help(data, monkeypatch):
    X, _, observed = data
    scores = iter([0.5, 0.7, 0.6, 0.65, 0.9])
    monkeypatch.setattr(
        "fairfold.forests.out_of_bag.multilabel_scores",
        lambda *_, **__: dict.fromkeys(("average_precision",), next(scores)),
    )
    model = OutOfBagCascade(n_trees=5, max_levels=9, patience=2, random_state=0).fit(X, observed)
    assert len(model.levels_) == 4 and model.best_level_ == 1
    scores = iter([0.3, 0.1 + 0.2, 0.2, 0.2])  # better only by rounding
    model.fit(X, observed)
    assert len(model.levels_) == 3 and model.best_level_ == 0
    monkeypatch.setattr("fairfold.forests.out_of_bag.LARGE", len(X))
    scores = iter([0.5, 0.7, 0.701, 0.9, 0.95])  # a gain of 0.001 is too small for large data
    model.fit(X, observed)
    assert len(model.levels_) == 3 and model.best_level_ == 2


@pytest.mark.parametrize("name", ["gcForest+", "CaFE-SLC+"])
def test_predictions_walk_each_forest_once(data, name, monkeypatch):
    X, _, observed = data
    model = make_model(name, n_trees=5, max_levels=2, random_state=0).fit(X, observed)
    expected, new = [], []
    for level in model.levels_:
        new = [encoder.features(np.hstack([X, *new])) for encoder in level.encoders]
        expected.append(np.mean([forest.predict_proba(np.hstack([X, *new])) for forest in level.predictors], axis=0))
    walks, apply = [], MultilabelForest.apply
    monkeypatch.setattr(MultilabelForest, "apply", lambda forest, X: walks.append(id(forest)) or apply(forest, X))
    found = list(super(OutOfBagCascade, model)._staged_proba(X))
    np.testing.assert_array_equal(found, expected)
    if name == "gcForest+":
        assert len(walks) == len(set(walks)) == 2 * len(model.levels_)


def test_levels_of_large_data_stop_early_and_predict_the_same(data, monkeypatch):
    X, _, observed = data
    settings = {"n_trees": 10, "max_levels": 4, "patience": 4, "random_state": 0}
    full = make_model("gcForest+", **settings).fit(X, observed)
    monkeypatch.setattr("fairfold.forests.out_of_bag.LARGE", len(X))
    model = make_model("gcForest+", **settings).fit(X, observed)
    n_levels = model.best_level_ + 1
    assert len(model.levels_) == len(model.oob_scores_) == len(model.calibrations_) == n_levels <= len(full.levels_)
    assert model.oob_scores_ == full.oob_scores_[:n_levels]
    gains = np.diff([scores["average_precision"] for scores in full.oob_scores_])
    assert n_levels <= 1 + np.argmax([*(gains < 0.002), True])
    staged = zip(model.staged_predict_proba(X), full.staged_predict_proba(X), strict=False)
    assert all(first.tobytes() == second.tobytes() for first, second in staged)
    assert not any(hasattr(forest, "leaf_of_") for level in model.levels_[1:-1] for forest in level.predictors)
