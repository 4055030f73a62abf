"""The pool's weights maximize the likelihood, and a stack is honest and not worse than its best."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from fairfold.core.probabilities import label_probabilities
from fairfold.errors import ModelError
from fairfold.forests.boosting import MultilabelBoosting
from fairfold.forests.out_of_bag import OutOfBagCascade
from fairfold.models import make_model
from fairfold.models.kernel_ridge import KernelRidgeClassifier
from fairfold.models.out_of_fold import fit_out_of_fold
from fairfold.models.stacking import StackedClassifier, pool_weights
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives
from fairfold.weak_labels.calibration import calibrate, fit_calibration, posterior, shared_label_frequency


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    Y = (X[:, :3] + 0.7 * rng.normal(size=(1500, 3)) > [0.2, 0.5, 0.9]).astype(np.int8)
    return X, Y, mask_positives(Y, 0.5, random_state=0)


def members():
    return [
        ("logistic", MultiOutputClassifier(LogisticRegression())),
        ("tree", DecisionTreeClassifier(max_depth=4)),
        ("kernel", KernelRidgeClassifier(gammas=(0.3,))),
    ]


@pytest.mark.parametrize(("order", "sure"), [([0, 1, 2], False), ([2, 1, 0], True)])
def test_weights_are_those_of_a_general_optimizer_as_far_as_they_gain(order, sure):
    """With the best member first, the gain is below one standard error. With the worst first, it is far larger."""
    rng = np.random.default_rng(1)
    truth = rng.random((500, 3))
    observed = (rng.random((500, 3)) < truth).astype(int)
    logits = np.log(truth / (1 - truth))
    noise = np.array([0.2, 1.0, 3.0])[:, None, None] * rng.normal(size=(3, 500, 3))
    members = 1 / (1 + np.exp(-(logits + noise)))

    def loss(w):
        P = np.tensordot(w, members, axes=1)
        prior = 10 / 3 * np.log(w).sum()
        return -(np.log(np.where(observed == 1, P, 1 - P)).sum() + prior) / observed.size

    sums_to_one = {"type": "eq", "fun": lambda w: w.sum() - 1}
    found = minimize(loss, np.full(3, 1 / 3), bounds=[(1e-6, 1)] * 3, constraints=sums_to_one)
    weights = pool_weights(observed, members[order])
    gains = []  # log-likelihood of each sample relative to the first member
    for sample in range(500):
        first, pooled = members[order][0, sample], found.x @ members[:, sample]
        seen = observed[sample] == 1
        gains.append(np.log(np.where(seen, pooled, 1 - pooled) / np.where(seen, first, 1 - first)).sum())
    trust = min(1, max(0, sum(gains)) / np.sqrt(500 * np.var(gains)))
    assert (trust == 1) == sure
    expected = trust * found.x[order] + (1 - trust) * np.array([1, 0, 0])
    np.testing.assert_allclose(weights, expected, rtol=0, atol=2e-3)
    assert weights.sum() == pytest.approx(1)


def test_a_member_that_is_as_good_as_the_first_by_chance_alone_changes_little():
    """Both members have the same truth and noise level. Half of the labels are hidden, in 40 datasets."""
    given = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.random((60, 2)) ** 3
        observed = (rng.random((60, 2)) < truth / 2).astype(int)
        first, second = np.clip(truth / 2 + 0.02 * rng.normal(size=(2, 60, 2)), 1e-3, 1 - 1e-3)
        given.append(pool_weights(observed, np.stack([first, second]))[0])
    assert np.mean(given) > 0.7, given


def test_many_cells_are_thinned_out(monkeypatch):
    rng = np.random.default_rng(2)
    observed, members = rng.integers(2, size=(100, 2)), rng.random((2, 100, 2))
    monkeypatch.setattr("fairfold.models.stacking._MOST_CELLS", 60)
    expected = pool_weights(observed[::4], members[:, ::4])
    np.testing.assert_array_equal(pool_weights(observed, members), expected)


def test_equals_the_stack_written_out(data):
    X, _, observed = data
    train, new = X[:300], X[300:]
    stack = StackedClassifier(members(), n_splits=3, label_frequency="estimate", random_state=7)
    stack.fit(train, observed[:300])
    seed = int(np.random.RandomState(7).randint(2**31 - 1))
    fold_of = IterativeStratification(3, random_state=seed).assign(observed[:300])
    unseen, seen = [], []
    for name, estimator in members():
        if name != "kernel":
            estimator.set_params(**{"random_state": seed} if name == "tree" else {})
        fitted = estimator.fit(train, observed[:300])
        seen.append(label_probabilities(fitted, new, 3))
        if name == "kernel":
            unseen.append(fitted.out_of_fold_proba_)
            continue
        P = np.empty((300, 3))
        for fold in range(3):
            rest = fold_of != fold
            P[~rest] = label_probabilities(estimator.fit(train[rest], observed[:300][rest]), train[~rest], 3)
        unseen.append(P)
    by = [fit_calibration(observed[:300], P) for P in unseen]
    unseen, seen = ([calibrate(P, c) for P, c in zip(Ps, by, strict=True)] for Ps in (unseen, seen))
    weights = pool_weights(observed[:300], np.stack(unseen))
    np.testing.assert_allclose(stack.weights_, weights, rtol=0, atol=1e-12)
    pooled = sum(w * P for w, P in zip(weights, unseen, strict=True))
    last = fit_calibration(observed[:300], pooled)
    np.testing.assert_allclose(stack.out_of_fold_proba_, calibrate(pooled, last), rtol=0, atol=1e-12)
    c = shared_label_frequency(observed[:300], calibrate(pooled, last))
    assert stack.label_frequency_ == pytest.approx(c)
    expected = posterior(calibrate(sum(w * P for w, P in zip(weights, seen, strict=True)), last), c)
    np.testing.assert_allclose(stack.predict_proba(new), expected, rtol=0, atol=1e-9)


def test_a_stack_is_not_worse_than_its_best_member(data):
    """Average precision on new samples is at most .01 below that of the best member, and above the mean of all."""
    X, truth, observed = data
    scores = {}
    for name, estimator in [*members(), ("stack", StackedClassifier(members(), random_state=0))]:
        P = label_probabilities(estimator.fit(X[:300], observed[:300]), X[300:], 3)
        scores[name] = average_precision_score(truth[300:], P, average="micro")
    stacked = scores.pop("stack")
    assert stacked > max(scores.values()) - 0.01 and stacked > np.mean(list(scores.values())), (stacked, scores)


def test_permuted_labels_stay_at_chance():
    """The AUROC of unseen training predictions, averaged over six datasets, is 0.5 within .03."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(300, 6)), (rng.random((300, 3)) < 0.4).astype(np.int8)
        pair = [("boosting", MultilabelBoosting(max_rounds=20)), ("kernel", KernelRidgeClassifier())]
        P = StackedClassifier(pair, random_state=seed).fit(X, Y).out_of_fold_proba_
        found.append(np.mean([roc_auc_score(Y[:, label], P[:, label]) for label in range(3)]))
    assert abs(np.mean(found) - 0.5) < 0.03, found


@pytest.mark.parametrize("name", ["Stack+", "joint-GB+", "kernel-ridge+"])
def test_hidden_labels_are_predicted_and_threads_change_nothing(data, name):
    """Half of the labels are hidden. At 0.5, posteriors make fewer errors than probabilities of being observed."""
    X, truth, observed = data
    settings = {"n_trees": 20, "max_levels": 1} if name == "Stack+" else {}
    settings["label_frequency"] = "estimate"
    model = make_model(name, **settings, random_state=0).fit(X[:300], observed[:300])
    P = model.predict_proba(X[300:])
    c = model.estimator_.label_frequency_
    assert c < 0.8 and np.mean((P > 0.5) != truth[300:]) < np.mean((c * P > 0.5) != truth[300:])
    again = make_model(name, **settings, random_state=0, n_jobs=3).fit(X[:300], observed[:300])
    assert again.predict_proba(X[300:]).tobytes() == P.tobytes()


def test_members_that_know_unseen_samples_are_fitted_once(data):
    X, truth, _ = data
    calls = []

    class Counting(KernelRidgeClassifier):
        def fit(self, X, Y):
            calls.append(len(X))
            return super().fit(X, Y)

    fitted, P = fit_out_of_fold(Counting(), X, truth, n_splits=5, random_state=0)
    assert calls == [1500] and P is fitted.out_of_fold_proba_


def test_nothing_to_pool_is_refused(data):
    X, truth, _ = data
    with pytest.raises(ModelError, match="estimators is empty"):
        StackedClassifier([]).fit(X, truth)


def test_large_data_have_other_members_with_fewer_trees(data, monkeypatch):
    X, truth, _ = data
    forest = ("forest", OutOfBagCascade(n_trees=90, max_levels=0, shape="paper"))
    stack = StackedClassifier(members()[:1], of_large=[members()[1], forest], random_state=0)
    assert len(stack.fit(X, truth).estimators_) == 1
    monkeypatch.setattr("fairfold.models.stacking.LARGE", 500)
    tree, grown = stack.fit(X, truth).estimators_
    assert (type(tree), grown.n_trees) == (DecisionTreeClassifier, 30)
    assert stack.weights_.sum() == pytest.approx(1) and stack.predict_proba(X).shape == truth.shape
    monkeypatch.setattr("fairfold.models.stacking.LARGE", 1501)
    assert len(stack.fit(X, truth).estimators_) == 1


def test_members_of_large_data_are_fitted_only_if_they_have_weight_on_a_sample(data, monkeypatch):
    """The labels are nearly linear. A stump has no weight beside a logistic regression, and the reverse is not true."""
    X, truth, _ = data
    monkeypatch.setattr("fairfold.models.stacking.LARGE", 1500)
    logistic, stump = members()[0], ("stump", DecisionTreeClassifier(max_depth=1))
    fitted_on = []

    class Counting(DecisionTreeClassifier):
        def fit(self, X, y, **more):
            fitted_on.append(len(X))
            return super().fit(X, y, **more)

    counting = ("stump", Counting(max_depth=1))
    stack = StackedClassifier([stump], of_large=[logistic, counting], random_state=0).fit(X, truth)
    assert [type(each) for each in stack.estimators_] == [MultiOutputClassifier]
    assert max(fitted_on) == 750
    stack = StackedClassifier([stump], of_large=[stump, logistic], random_state=0).fit(X, truth)
    assert len(stack.estimators_) == 2 and stack.weights_[1] > 0.5
    groups = np.arange(1500) // 3
    stack = StackedClassifier([stump], of_large=[logistic, counting], random_state=0).fit(X, truth, groups=groups)
    assert len(stack.estimators_) == 1
    stack = StackedClassifier([logistic], of_large=[logistic, stump], minutes=1000, random_state=0)
    assert len(stack.fit(X, truth).estimators_) == 1
