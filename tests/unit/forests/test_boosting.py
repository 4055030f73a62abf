"""Boosting equals a plain reference implementation, and models predict only training samples that they did not see."""

import re

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.model_selection import KFold

from fairfold.core.seeds import seed_for
from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.boosting import ROUNDS_AT_ONCE, MultilabelBoosting, newton_steps
from fairfold.forests.symmetric import Residuals, SymmetricRules, grow_symmetric_tree
from fairfold.forests.trees import LARGE

KINDS = ("random_forest", "extra_trees", "symmetric")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((300, 9))
    X[X < 0.2] = 0
    noisy = X + 0.1 * rng.normal(size=X.shape)
    Y = np.column_stack([noisy[:, 0] > 0.5, noisy[:, 1] + noisy[:, 2] > 1.1, noisy[:, 3] > 0.8]).astype(np.int8)
    return X, Y


def small(**changes):
    return MultilabelBoosting(**{"max_rounds": 60, "n_splits": 3, "random_state": 4, **changes})


def test_a_leafs_step_is_newtons():
    rng = np.random.default_rng(1)
    labels, proba, leaf_of = rng.integers(2, size=(20, 2)), rng.random((20, 2)), rng.integers(3, size=20)
    seen, steps, weights = np.array([0, 3, 4, 9, 12, 19], dtype=np.uint32), np.zeros((4, 2)), rng.random(20)
    residuals = (labels - proba) * (scale := np.array([1.0, 3.0]))
    of_leaves = seen, weights, leaf_of.astype(np.int32)
    newton_steps(Residuals(labels.astype(float), proba, scale), *of_leaves, 0.3, 2.0, steps)
    for leaf in range(4):
        rows = [row for row in seen if leaf_of[row] == leaf]
        for label in range(2):
            gradient = sum(weights[row] * residuals[row, label] for row in rows)
            curvature = sum(weights[row] * proba[row, label] * (1 - proba[row, label]) for row in rows)
            assert steps[leaf, label] == pytest.approx(0.3 * gradient / (curvature + 2), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_log_odds_add_up_as_written_out(data, kind):
    """The steps of each stored tree follow from the previous trees and all samples."""
    X, Y = data
    model = small(kind=kind).fit(X, Y)
    trees, leaves = model.trees_, model.trees_.apply(X)
    log_odds = np.tile(logit((Y.sum(axis=0) + 0.5) / (len(Y) + 1)), (len(Y), 1))
    for tree in range(model.n_rounds_):
        p = expit(log_odds)
        for leaf in np.unique(leaves[:, tree]):
            rows = leaves[:, tree] == leaf
            step = 0.1 * (Y - p)[rows].sum(axis=0) / ((p * (1 - p))[rows].sum(axis=0) + 1)
            np.testing.assert_allclose(trees.value_[leaf], step, rtol=1e-5, atol=1e-6)
            log_odds[rows] += trees.value_[leaf]
    np.testing.assert_allclose(model.predict_proba(X), expit(log_odds), rtol=0, atol=1e-6)


def test_the_left_out_samples_decide_when_to_stop(data):
    X, Y = data
    model = small(max_rounds=400).fit(X, Y)
    assert 0 < model.n_rounds_ < 400 and model.n_rounds_ % ROUNDS_AT_ONCE == 0
    likelihood = {
        rounds: -log_loss(Y.ravel(), small(max_rounds=rounds, patience=400).fit(X, Y).out_of_fold_proba_.ravel())
        for rounds in (10, model.n_rounds_)
    }
    assert likelihood[model.n_rounds_] > likelihood[10]
    noise = np.random.default_rng(0).permutation(Y)
    assert small(max_rounds=400).fit(X, noise).n_rounds_ == ROUNDS_AT_ONCE


def test_no_sample_is_predicted_by_a_model_that_saw_it(data):
    """Changing the labels of one fold changes its predictions only through the mean log-odds."""
    X, Y = data

    def unseen(labels):
        P = small(max_rounds=ROUNDS_AT_ONCE).fit(X, labels).out_of_fold_proba_
        return logit(P) - logit((labels.sum(axis=0) + 0.5) / (len(labels) + 1))

    before = unseen(Y)
    for _, fold in KFold(3, shuffle=True, random_state=seed_for(4, "folds") % 2**32).split(X):
        changed = Y.copy()
        changed[fold] = 1 - changed[fold]
        after = unseen(changed)
        np.testing.assert_allclose(after[fold], before[fold], rtol=0, atol=1e-9)
        assert np.abs(np.delete(after, fold, axis=0) - np.delete(before, fold, axis=0)).min(axis=1).mean() > 0.1


def test_unseen_predictions_of_permuted_labels_are_at_chance():
    """The mean AUROC over labels and ten datasets is 0.5 within 3 standard errors."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, Y = rng.random((300, 6)), (rng.random((300, 3)) < 0.3).astype(np.int8)
        P = small(max_rounds=30, random_state=seed).fit(X, Y).out_of_fold_proba_
        found.append(np.mean([roc_auc_score(Y[:, label], P[:, label]) for label in range(3)]))
    assert abs(np.mean(found) - 0.5) < 3 * np.std(found, ddof=1) / np.sqrt(10), found


def test_it_is_as_good_as_scikit_learns_boosting(data):
    """Mean average precision on new samples is at most .02 below that of one ensemble per label."""
    X, Y = data
    ours = small(max_rounds=200, n_splits=5).fit(X[:200], Y[:200]).predict_proba(X[200:])
    theirs = np.column_stack(
        [
            GradientBoostingClassifier(random_state=0).fit(X[:200], Y[:200, label]).predict_proba(X[200:])[:, 1]
            for label in range(3)
        ]
    )
    score = [average_precision_score(Y[200:], P, average="macro") for P in (ours, theirs)]
    assert score[0] > score[1] - 0.02, score


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bytes_sparse_and_threaded(data, kind):
    X, Y = data

    def bytes_of(features, **changes):
        model = small(kind=kind, max_rounds=20, **changes).fit(features, Y)
        return model.predict_proba(X).tobytes() + model.out_of_fold_proba_.tobytes()

    expected = bytes_of(X)
    assert bytes_of(sparse.csr_array(X)) == expected
    assert bytes_of(X, n_jobs=4) == expected
    assert bytes_of(X, random_state=5) != expected


def test_labels_of_one_class_are_predicted_as_such(data):
    X, Y = data
    labels = np.column_stack([Y[:, 0], np.zeros(len(Y)), np.ones(len(Y))])
    P = small().fit(X, labels).predict_proba(X)
    assert (P[:, 1] < 0.01).all() and (P[:, 2] > 0.99).all() and np.isfinite(P).all()


def test_too_few_samples_are_refused(data):
    X, Y = data
    with pytest.raises(ModelError, match=r"2 samples are too few for 3 folds\. Reduce n_splits\."):
        small().fit(X[:2], Y[:2])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "trees"}, "kind is 'trees'; it must be 'random_forest', 'extra_trees' or 'symmetric'."),
        ({"max_rounds": 0}, "max_rounds is 0; it must be a whole number of at least 1."),
        ({"n_splits": 1}, "n_splits is 1; it must be a whole number of at least 2."),
        ({"learning_rate": -0.1}, "learning_rate is -0.1; it must be a number above 0."),
        ({"max_features": 0.0}, "max_features is 0.0; it must be an integer from 1 to 9"),
    ],
)
def test_parameters_out_of_range_are_refused(data, changes, sentence):
    with pytest.raises(ModelError, match=re.escape(sentence)):
        small(**changes).fit(*data)


def test_data_that_do_not_fit_are_refused(data):
    X, Y = data
    with pytest.raises(ModelError, match=r"Y: expected shape \(300, n_labels\), found \(299, 3\)"):
        small().fit(X, Y[1:])
    with pytest.raises(ModelError, match="finite"):
        small().fit(np.where(X > 0.9, np.inf, X), Y)
    with pytest.raises(ModelError, match=r"X has shape \(300, 8\); it must be \(n_samples, 9\), as in training"):
        small(max_rounds=10).fit(X, Y).predict_proba(X[:, 1:])


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr("fairfold.forests.boosting.LARGE", 1500)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 6))
    noise = rng.logistic(size=(1500, 2))
    return X, (X[:, :2] + noise > 0.5).astype(np.int8)


def test_leaves_of_large_data_are_chosen_by_likelihood(large):
    X, Y = large
    automatic = MultilabelBoosting(max_rounds=100).fit(X, Y)
    assert automatic.min_samples_leaf_ == 1500 // 2 // 30
    fixed = MultilabelBoosting(kind="random_forest", max_rounds=100, min_samples_leaf=5).fit(X, Y)
    assert fixed.min_samples_leaf_ == 5
    losses = [log_loss(Y.ravel(), model.out_of_fold_proba_.ravel()) for model in (automatic, fixed)]
    assert losses[0] < losses[1]


def test_large_data_give_the_same_bytes_with_any_number_of_threads(large):
    X, Y = large
    one, two = (MultilabelBoosting(max_rounds=20, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.out_of_fold_proba_, two.out_of_fold_proba_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("unmeasured", [0.0, 0.3])
def test_the_steps_on_large_data_are_newtons(large, unmeasured):
    """Single precision rounds the steps, but the choice of splits does not enter them."""
    X, Y = large
    is_measured = np.random.default_rng(4).random(Y.shape) >= unmeasured
    labels = np.where(is_measured, Y, np.nan)
    model = MultilabelBoosting(max_rounds=20, max_features="sqrt").fit(X, labels)
    base = logit((np.nansum(labels, axis=0) + 0.5) / (is_measured.sum(axis=0) + 1))
    leaves, log_odds = model.trees_.apply(X), np.tile(base, (len(Y), 1))
    for tree in range(model.n_rounds_):
        p = expit(log_odds)
        for leaf in np.unique(leaves[:, tree]):
            rows = leaves[:, tree] == leaf
            gradient, curvature = ((is_measured * each)[rows].sum(axis=0) for each in (Y - p, p * (1 - p)))
            step = 0.1 * gradient / (curvature + 1)
            np.testing.assert_allclose(model.trees_.value_[leaf], step, rtol=1e-4, atol=1e-5)
            log_odds[rows] += model.trees_.value_[leaf]
    np.testing.assert_allclose(model.predict_proba(X), expit(log_odds), rtol=0, atol=1e-5)


def test_groups_of_large_data_are_held_out_together(large):
    X, Y = large
    X, Y, groups = np.repeat(X[:500], 3, axis=0), np.repeat(Y[:500], 3, axis=0), np.repeat(np.arange(500), 3)
    weights = np.ones(len(Y))
    model = MultilabelBoosting(max_rounds=30).fit(X, Y, groups=groups, sample_weight=weights)
    grouped = log_loss(Y.ravel(), model.out_of_fold_proba_.ravel())
    copies = MultilabelBoosting(max_rounds=30).fit(X, Y)
    assert grouped > log_loss(Y.ravel(), copies.out_of_fold_proba_.ravel())


def test_smaller_data_keep_small_leaves(data):
    X, Y = data
    written_out = small(min_samples_leaf=5).fit(X, Y)
    np.testing.assert_array_equal(small().fit(X, Y).predict_proba(X), written_out.predict_proba(X))


def test_symmetric_trees_find_interactions():
    """Labels depend on signs of products of two features, which have no effect of their own, and on chance."""
    rng = np.random.default_rng(0)
    X, pairs = rng.normal(size=(3000, 30)), rng.permutation(30)[:12].reshape(6, 2)
    products = np.sign(X[:, pairs[:, 0]] * X[:, pairs[:, 1]])
    Y = (1.5 * products + rng.logistic(size=products.shape) > 1).astype(np.int8)
    scores = {}
    for kind in KINDS:
        P = MultilabelBoosting(kind=kind, max_features=1.0).fit(X[:1000], Y[:1000]).predict_proba(X[1000:])
        scores[kind] = average_precision_score(Y[1000:], P, average="micro")
    assert scores.pop("symmetric") > max(scores.values()) + 0.05, scores


def test_weights_of_symmetric_trees_are_counts(data):
    """A sample of weight 2 counts as much as two samples."""
    X, Y = data
    rules, weights = SymmetricRules(10_000, 100, 3, 1.0), 1.0 + (np.arange(len(Y)) % 2)
    twice = np.repeat(np.arange(len(Y)), weights.astype(int))
    residuals = Residuals(Y.astype(float), np.tile(Y.mean(axis=0), (len(Y), 1)), np.ones(3))
    repeats = Residuals(residuals.labels[twice], residuals.proba[twice], residuals.scale)
    one, two = BinnedMatrix.from_matrix(X, max_bins=32), BinnedMatrix.from_matrix(X, max_bins=32).samples(twice)
    seed = np.uint64(3)
    weighted, *_ = grow_symmetric_tree(one.binned, residuals, weights, rules, one.pool(), seed)
    repeated, *_ = grow_symmetric_tree(two.binned, repeats, np.ones(len(twice)), rules, two.pool(), seed)
    assert all(np.array_equal(*each, equal_nan=True) for each in zip(weighted, repeated, strict=True))


def test_symmetric_trees_of_large_data_may_have_more_rounds():
    """Early stopping ends them. A limit of 300 rounds cost average precision on tmc2007_500 and bibtex."""
    boosting = MultilabelBoosting(kind="symmetric")
    assert boosting.most_rounds(LARGE) >= 4 * boosting.most_rounds(LARGE - 1)
    assert MultilabelBoosting(kind="symmetric", max_rounds=7).most_rounds(LARGE) == 7


def test_rare_labels_choose_more_splits_on_large_data(monkeypatch):
    """A label with 2.5 % positives depends on the last feature, and common labels depend on the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    Y = (X + rng.logistic(size=X.shape) / 4 > [0, 0, 0, 0, 0, 2]).astype(np.int8)
    splits = []
    for large in (1001, 1000):
        monkeypatch.setattr("fairfold.forests.boosting.LARGE", large)
        trees = MultilabelBoosting(kind="symmetric", max_rounds=40, n_splits=2).fit(X, Y).trees_
        splits.append(np.sum(trees.feature_ == 5))
    assert splits[1] > 5 * splits[0]


def test_symmetric_trees_of_large_data_are_regularized_more(data, monkeypatch):
    X, Y = data

    def values(**changes):
        return small(kind="symmetric", max_rounds=20, **changes).fit(X, Y).trees_.value_.tobytes()

    usual = values()
    assert usual == values(l2=1.0)
    monkeypatch.setattr("fairfold.forests.boosting.LARGE", len(Y))
    monkeypatch.setattr("fairfold.forests.boosting.ROUNDS_AT_ONCE", 20)
    large = values()
    assert large == values(l2=5.0) != values(l2=1.0)
    monkeypatch.setattr("fairfold.forests.boosting.SMOOTHING", (30.0, 10.0))
    assert values() != large
