"""Learner templates, boosted trees compared with plain implementations, sigmoids, and the scale of scores."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from fairfold.ecoc.learners import (
    TEMPLATES,
    GentleBoost,
    LogitBoost,
    PlattScaling,
    fit_learner,
    learner_kind,
    make_learner,
    positive_scores,
    seed_from,
    weight_parameters,
)
from fairfold.errors import ModelError

KINDS = {
    "svm": "margin",
    "tree": "probability",
    "gentleboost": "exponential",
    "adaboost": "exponential",
    "logitboost": "logit",
    "discriminant": "probability",
    "knn": "probability",
    "naive-bayes": "probability",
    "linear": "margin",
}
TIES = (
    "splits of a small sample are often equally good, and rounding decides between them: so it is with scikit-learn's "
    "boosted trees"
)
SAME_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(120, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=3)
    return X.astype(np.float32), y


def tree(X, target, weights):
    # Without ties, as here, the random state of a tree has no effect.
    return DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, target, sample_weight=weights)


def test_gentleboost_is_algorithm_4(data):
    X, labels = data
    y = 2 * labels - 1
    w, F = np.full(len(y), 1 / len(y)), np.zeros(len(y))
    for _ in range(6):
        f = tree(X, y, w).predict(X)
        F = F + f
        w = w * np.exp(-y * f)
        w = w / w.sum()
    model = GentleBoost(6, max_depth=2, random_state=0).fit(X, labels)
    np.testing.assert_allclose(model.decision_function(X), F, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], np.exp(F) / (np.exp(F) + np.exp(-F)), rtol=1e-9)
    assert (model.predict(X) == (F > 0)).all()


def test_logitboost_is_algorithm_3(data):
    X, labels = data
    F, p = np.zeros(len(labels)), np.full(len(labels), 0.5)
    cut = 0
    for _ in range(12):
        z = np.where(labels == 1, 1 / p, -1 / (1 - p))
        cut += np.sum(np.abs(z) > 4)
        f = tree(X, np.clip(z, -4, 4), p * (1 - p)).predict(X)
        F = F + f / 2
        p = np.exp(F) / (np.exp(F) + np.exp(-F))
    assert cut > 0  # the bound takes effect
    model = LogitBoost(12, max_depth=2, random_state=0).fit(X, labels)
    np.testing.assert_allclose(model.decision_function(X), F, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], p, rtol=1e-9)


def test_logitboost_lowers_the_deviance_below_that_of_logistic_regression(data):
    X, labels = data
    y = 2 * labels - 1

    def deviance(F):
        return np.mean(np.logaddexp(0, -2 * y * F))

    # Newton steps of this size do not overshoot: each tree is a least squares fit, scaled by 0.1.
    deviances = [
        deviance(LogitBoost(n, max_depth=1, learning_rate=0.1, random_state=0).fit(X, labels).decision_function(X))
        for n in (1, 2, 5, 10, 50, 200)
    ]
    assert (np.diff([np.log(2), *deviances]) < 0).all()
    linear = LogisticRegression(C=np.inf).fit(X, labels).decision_function(X) / 2
    assert deviances[-1] < deviance(linear)


@pytest.mark.parametrize("boost", [GentleBoost, LogitBoost])
def test_the_learning_rate_shrinks_each_tree(data, boost):
    X, labels = data
    whole, half = (boost(1, learning_rate=rate, random_state=0).fit(X, labels) for rate in (1, 0.5))
    np.testing.assert_allclose(half.decision_function(X), whole.decision_function(X) / 2)
    two = boost(2, learning_rate=0.5, random_state=0).fit(X, labels)
    # The second tree is fitted to the residuals of the shrunken first tree.
    assert not np.allclose(
        two.decision_function(X), boost(2, random_state=0).fit(X, labels).decision_function(X) / 2, rtol=0.01
    )


@pytest.mark.parametrize("boost", [GentleBoost, LogitBoost])
def test_a_weight_is_a_repeated_sample_and_0_is_none(data, boost):
    X, labels = data
    counts = np.random.default_rng(0).integers(0, 3, size=len(labels))
    # For three trees of depth 1, rounding causes no tie between splits.
    weighted = boost(3, max_depth=1, random_state=0).fit(X, labels, counts)
    repeated = boost(3, max_depth=1, random_state=0).fit(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("boost", [GentleBoost, LogitBoost])
def test_boosting_survives_a_perfect_fit_missing_values_and_sparse_features(data, boost):
    X, labels = data
    apart = boost(1000, random_state=0).fit(labels[:, None].astype(float), labels)
    assert np.isfinite(apart.decision_function([[0.0], [1.0]])).all()
    assert (apart.predict([[0.0], [1.0]]) == [0, 1]).all()
    holes = X.copy()
    holes[::7, 0] = np.nan
    assert boost(20, random_state=0).fit(holes, labels).score(holes, labels) > 0.9
    thin = np.where(np.abs(X) < 0.5, 0, X)
    dense, csr = (boost(5, random_state=0).fit(A, labels).decision_function(A) for A in (thin, sparse.csr_array(thin)))
    # The sums run over samples in another order.
    np.testing.assert_allclose(dense, csr, rtol=1e-12)


@pytest.mark.parametrize("boost", [GentleBoost, LogitBoost])
def test_size_of_trees_and_seeds(data, boost, untouched_chance):
    X, labels = data
    model = boost(4, max_depth=2, min_samples_leaf=9, random_state=5).fit(X, labels)
    assert len(model.estimators_) == 4
    assert max(each.get_depth() for each in model.estimators_) == 2
    assert min(each.tree_.n_node_samples.min() for each in model.estimators_) >= 9
    assert len({each.random_state for each in model.estimators_}) == 4
    boost(1).fit(X, labels)


@pytest.mark.parametrize("boost", [GentleBoost, LogitBoost])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_estimators": 0}, "n_estimators is 0; it must be a whole number of at least 1"),
        ({"max_depth": 1.5}, "max_depth is 1.5"),
        ({"min_samples_leaf": True}, "min_samples_leaf is True"),
        ({"learning_rate": 0}, "learning_rate: found 0. Give a number above 0"),
        ({"learning_rate": np.inf}, "learning_rate: found inf"),
        ({"random_state": "a"}, "random_state: found 'a'. Give an integer"),
    ],
)
def test_bad_parameters_of_boosting(data, boost, change, sentence):
    with pytest.raises(ModelError, match=sentence):
        boost(**change).fit(*data)


def test_one_class_is_refused(data):
    X, labels = data
    with pytest.raises(ModelError, match=r"in 1 class\. Give samples of two classes"):
        GentleBoost(2).fit(X, labels, sample_weight=labels)
    with pytest.raises(ModelError, match=r"Only binary classification is supported\. The type of the target is multi"):
        GentleBoost(2).fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize("boost", [GentleBoost, LogitBoost])
def test_scikit_learns_checks(boost):
    check_estimator(boost(5), expected_failed_checks=dict.fromkeys(SAME_WEIGHTS, TIES), on_skip=None)


def test_scikit_learns_checks_of_sigmoids():
    few = "a sigmoid is fitted to left-out samples, and there a repeated sample is not a weight"
    check_estimator(
        PlattScaling(SVC(kernel="linear"), n_splits=2, random_state=0),
        expected_failed_checks=dict.fromkeys(SAME_WEIGHTS, few),
        on_skip=None,
    )


def test_a_sigmoid_has_the_largest_likelihood_of_platts_targets(data):
    X, labels = data
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(labels))

    class Identity(LinearSVC):
        """Classifier with scores that do not depend on the fit, which makes the out-of-fold scores known."""

        def fit(self, X, y, sample_weight=None):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return 3 * X[:, 0]

    model = PlattScaling(Identity(), random_state=0).fit(X, labels, weights)
    s = 3 * X[:, 0].astype(float)
    up, down = weights[labels == 1].sum(), weights[labels == 0].sum()
    target = np.where(labels == 1, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(a):
        return weights @ (np.logaddexp(0, -(a[0] * s + a[1])) + (1 - target) * (a[0] * s + a[1]))

    best = minimize(loss, [0, 0], method="BFGS", options={"gtol": 1e-9})
    # The line search of the general solver ends near the square root of the precision.
    np.testing.assert_allclose([model.slope_, model.intercept_], best.x, rtol=1e-5)
    # The features and scores have single precision.
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.slope_ * s + model.intercept_), rtol=1e-6)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("name", ["tree", "gentleboost", "adaboost", "logitboost"])
def test_trees_use_values_that_single_precision_merges(name, standardize):
    rng = np.random.default_rng(0)
    X = rng.choice(2**20, (200, 2), replace=False).astype(float)
    labels = (np.sin(X[:, 0] / 1e5) > 0).astype(int)
    expected = make_learner(name, standardize=standardize, random_state=0).fit(X[:150], labels[:150])
    for change in (lambda x: x + 2.0**44, lambda x: x * 2.0**-60, lambda x: x * 2.0**200):
        model = make_learner(name, standardize=standardize, random_state=0).fit(change(X[:150]), labels[:150])
        np.testing.assert_array_equal(model.predict(change(X[150:])), expected.predict(X[150:]))


def test_a_sigmoid_sees_left_out_scores_only():
    # Labels are random: the classifier fits its training data, but its out-of-fold scores are uninformative.
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(200, 5)), rng.integers(2, size=200)
    memory = SVC(kernel="rbf", gamma=0.5, C=1e6)
    assert (memory.fit(X, labels).predict(X) == labels).all()
    P = PlattScaling(memory, random_state=0).fit(X, labels).predict_proba(X)
    assert np.abs(P[:, 1] - 0.5).max() < 0.3


def test_a_sigmoid_is_close_to_scikit_learns(data):
    X, labels = data
    theirs = CalibratedClassifierCV(SVC(kernel="linear"), ensemble=False, cv=5).fit(X, labels)
    ours = PlattScaling(SVC(kernel="linear"), random_state=0).fit(X, labels)
    # The folds differ, so the out-of-fold scores differ by some percent.
    assert np.abs(theirs.predict_proba(X) - ours.predict_proba(X)).max() < 0.05
    np.testing.assert_array_equal(
        ours.estimator_.decision_function(X), SVC(kernel="linear").fit(X, labels).decision_function(X)
    )


def test_a_sigmoid_of_small_classes(data):
    X, _ = data
    labels = np.zeros(len(X), int)
    labels[:2] = 1
    assert PlattScaling(SVC(), random_state=0).fit(X, labels).predict_proba(X).shape == (120, 2)
    labels[0] = 0
    with pytest.raises(ModelError, match="class 1 has 1 sample, but posteriors"):
        PlattScaling(SVC()).fit(X, labels)
    labels[0] = 1  # this member has a weight of zero
    with pytest.raises(ModelError, match="class 1 has 1 sample"):
        PlattScaling(SVC()).fit(X, labels, np.arange(len(X)))
    labels[0] = 0
    boosted = GentleBoost(3, random_state=0)
    found = PlattScaling(boosted).fit(X, labels)
    np.testing.assert_array_equal(found.predict_proba(X), boosted.fit(X, labels).predict_proba(X))


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates(data, name):
    X, labels = data
    learner = make_learner(name)
    kind = learner_kind(learner)
    assert kind == KINDS[name]
    fitted = fit_learner(learner, X, 2 * labels - 1, None)
    assert learner_kind(fitted) == kind
    scores = positive_scores(fitted, X)
    assert scores.shape == (len(X),)
    middle = 0.5 if kind == "probability" else 0
    assert np.mean((scores > middle) == (labels == 1)) > 0.75
    if kind == "probability":
        assert scores.min() >= 0 and scores.max() <= 1
    else:
        assert scores.min() < 0 < scores.max()


def test_every_template_has_a_kind():
    assert set(KINDS) == set(TEMPLATES)


def test_parameters_of_templates():
    svm = make_learner("svm", kernel="rbf", gamma=2.0)
    assert (svm.kernel, svm.gamma, make_learner("svm").kernel) == ("rbf", 2.0, "linear")
    assert make_learner("svm", tol=1e-3).tol == 1e-3
    steps = make_learner("knn", standardize=True, n_neighbors=3)
    assert isinstance(steps[0], StandardScaler) and steps[-1].n_neighbors == 3
    with pytest.raises(ModelError, match=r"unknown name 'svn'\. Use svm, tree, gentleboost, adaboost, logitb"):
        make_learner("svn")
    with pytest.raises(ModelError, match="unknown parameter of learner svm 'kernal': did you mean 'kernel'"):
        make_learner("svm", kernal="rbf")


def test_kinds_of_other_classifiers():
    assert learner_kind(make_pipeline(StandardScaler(), AdaBoostClassifier())) == "exponential"
    assert learner_kind(make_pipeline(StandardScaler(), LogitBoost())) == "logit"
    assert learner_kind(RandomForestClassifier()) == learner_kind(LogisticRegression()) == "probability"
    assert learner_kind(RidgeClassifier()) == "margin"
    assert learner_kind(SVC(probability=True)) == "margin"  # a support vector machine, with or without probabilities
    assert learner_kind(PlattScaling(SVC())) == "probability"
    with pytest.raises(ModelError, match="learner: StandardScaler has no scores"):
        learner_kind(StandardScaler())


@pytest.mark.parametrize("steps", [0, 1])
def test_adaboosts_score_is_half_the_weighted_votes(data, steps):
    X, labels = data
    model = make_pipeline(*[StandardScaler()] * steps, AdaBoostClassifier(n_estimators=7, random_state=0))
    model.fit(X, labels)
    boost, Z = model[-1], model[:-1].transform(X) if steps else X
    votes = sum(
        a * (2 * tree.predict(Z) - 1) for a, tree in zip(boost.estimator_weights_, boost.estimators_, strict=True)
    )
    np.testing.assert_allclose(positive_scores(model if steps else boost, X), votes / 2)
    np.testing.assert_array_equal(positive_scores(model, X, "probability"), model.predict_proba(X)[:, 1])


def test_weights_reach_every_step_that_takes_them(data):
    X, labels = data[0].astype(float), data[1]
    weights = np.where(labels == 1, 5.0, 1.0)
    model = make_pipeline(StandardScaler(), SVC(kernel="linear", tol=1e-8))
    assert weight_parameters(model) == ["standardscaler__sample_weight", "svc__sample_weight"]
    fit_learner(model, X, labels, weights)
    repeated = make_pipeline(StandardScaler(), SVC(kernel="linear", tol=1e-8))
    counts = weights.astype(int)
    repeated.fit(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    # The tolerance is that of the solver, on scores of size 1.
    np.testing.assert_allclose(model.decision_function(X), repeated.decision_function(X), atol=1e-5)


def test_weights_are_not_ignored_in_silence(data):
    X, labels = data
    for learner in (make_learner("discriminant"), make_learner("knn", standardize=True)):
        fit_learner(learner, X, labels, np.full(len(X), 2.0))  # equal weights have no effect
        with pytest.raises(ModelError, match=r"does not support weights\. Use none, or one of"):
            fit_learner(learner, X, labels, 1.0 + labels)


def test_seeds(untouched_chance):
    assert seed_from(5) == seed_from(np.int64(5)) == 5
    assert seed_from(np.random.RandomState(1)) == seed_from(np.random.RandomState(1))
    assert len({seed_from(None) for _ in range(5)}) == 5


def test_a_step_for_separable_classes_only():
    X = np.array([-3.0, -2.5, -2.0, -2.2, 2.0, 2.5])[:, None]
    y = np.array([-1, -1, -1, -1, 1, 1])
    model = PlattScaling(make_learner("svm"), separable="step", random_state=0).fit(X, y)
    low, high, between = model.step_
    assert low < high and between == 1 / 3
    points = np.linspace(-3, 3, 601)[:, None]
    scores, positive = model.estimator_.decision_function(points), model.predict_proba(points)[:, 1]
    np.testing.assert_array_equal(positive[scores < low], 0)
    np.testing.assert_array_equal(positive[scores > high], 1)
    np.testing.assert_array_equal(positive[(scores >= low) & (scores <= high)], 1 / 3)
    assert len(set(positive)) == 3
    assert PlattScaling(make_learner("svm"), random_state=0).fit(X, y).step_ is None
    mixed = PlattScaling(make_learner("svm"), separable="step", random_state=0).fit(np.tile(X, (2, 1)), [*y, *-y])
    assert mixed.step_ is None and np.isfinite(mixed.slope_)
    with pytest.raises(ModelError, match="separable"):
        PlattScaling(make_learner("svm"), separable="no").fit(X, y)
