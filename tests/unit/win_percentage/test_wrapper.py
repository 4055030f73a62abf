"""Test the wrapper and its compiled kernel against a plain NumPy reference."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score

from fairfold.core.folds import stratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError, ModelError, SplitError, StudyError
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, make_gaussian
from fairfold.win_percentage.feature_sets import draw_feature_sets
from fairfold.win_percentage.gaussians import RIDGE, TIE
from fairfold.win_percentage.wrapper import Problem, evaluate_feature_sets


def samples(n=40, n_features=30, seed=0, whole=False):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < 0.4 * n).astype(int)
    X = rng.normal(size=(n, n_features)) + y[:, None] * rng.normal(size=n_features)
    X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=n)
    return (np.round(X), y) if whole else (X, y)


def folds(y, n_splits=3, n_repeats=2, random_state=0):
    rng = np.random.default_rng(seed_sequence(random_state, "folds"))
    return [stratified_folds(y, n_splits, rng) for _ in range(n_repeats)]


def parts(fold_of):
    """Yield training and test samples of every fold of every repeat."""
    return [(one != fold, one == fold) for one in fold_of for fold in np.unique(one)]


def covariance(Z):
    D = Z - Z.mean(axis=0)
    return np.einsum("npi,npj->pij", D, D) / (len(Z) - 1)


def covariances(first, second):
    """Yield the covariances (n_pairs, 2, 2) of the two classes per classifier, by the formulas of Table 4."""
    ridge = RIDGE * np.concatenate([first, second]).var(axis=0, ddof=1)[:, :, None] * np.eye(2)
    S0, S1 = covariance(first), covariance(second)
    n0, n1 = len(first) - 1, len(second) - 1
    full = [S + ridge for S in ((n0 * S0 + n1 * S1) / (n0 + n1), S0, S1)]
    spherical = [np.trace(S, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(2) for S in full]
    diagonal = [S * np.eye(2) for S in full]
    pooled = [(S[0], S[0]) for S in (spherical, diagonal, full)]
    return pooled + [(S[1], S[2]) for S in (spherical, diagonal, full)]


def log_density(new, train, S):
    Z = new - train.mean(axis=0)
    return -0.5 * (np.einsum("npi,pij,npj->np", Z, np.linalg.inv(S), Z) + np.linalg.slogdet(S)[1])


def reference(X, y, pairs, n_splits, n_repeats, random_state):
    """Return the performance (n_pairs, 6) in integer units, and the number of units that equals 1."""
    right = np.zeros((2, len(pairs), 6), dtype=int)
    for train, test in parts(folds(y, n_splits, n_repeats, random_state)):
        Z, new, truth = X[train][:, pairs], X[test][:, pairs], y[test]
        first, second = Z[y[train] == 0], Z[y[train] == 1]
        for m, (S0, S1) in enumerate(covariances(first, second)):
            says_second = log_density(new, second, S1) - log_density(new, first, S0) > TIE
            for k in (0, 1):
                right[k, :, m] += (says_second[truth == k] == k).sum(axis=0)
    n0, n1 = np.bincount(y).tolist()
    return right[0] * n1 + right[1] * n0, 2 * n_repeats * n0 * n1


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("n", "n_splits", "n_repeats", "seed"),
    [(40, 3, 2, 0), (40, 3, 2, 1), (53, 3, 2, 2), (53, 5, 3, 3), (31, 2, 1, 4), (31, 7, 2, -5)],
)
def test_kernel_equals_the_reference(n, n_splits, n_repeats, seed, whole):
    X, y = samples(n, seed=abs(seed), whole=whole)
    pairs = np.array(list(combinations(range(X.shape[1]), 2)))
    options = {"n_splits": n_splits, "n_repeats": n_repeats, "random_state": seed}
    found = evaluate_feature_sets(X, y, pairs, **options)
    units, one = reference(X, y, pairs, **options)
    top = units.max(axis=1, keepdims=True)
    assert found.classifiers == GAUSSIAN_CLASSIFIERS
    np.testing.assert_array_equal(found.winners, units == top)
    np.testing.assert_allclose(found.performances, units / one, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.performance, top[:, 0] / one, rtol=0, atol=1e-12)
    assert (found.winners.sum(axis=1) > 1).sum() > 20


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_any_size_is_a_plain_loop_over_scikit_learns_recalls(size):
    X, y = samples()
    sets = draw_feature_sets(30, size, 6, random_state=1)
    found = evaluate_feature_sets(X, y, sets, n_jobs=2 if size == 3 else 1)
    expected = np.empty((6, 6))
    for row, chosen in enumerate(sets):
        for column, name in enumerate(GAUSSIAN_CLASSIFIERS):
            recalls = []
            for fold_of in folds(y):
                predicted = np.empty_like(y)
                for train, test in parts([fold_of]):
                    predicted[test] = make_gaussian(name).fit(X[train][:, chosen], y[train]).predict(X[test][:, chosen])
                recalls.append(recall_score(y, predicted, average="macro"))
            expected[row, column] = np.mean(recalls)
    np.testing.assert_allclose(found.performances, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.winners, expected >= expected.max(axis=1, keepdims=True) - 1e-12)


def test_equal_densities_go_to_the_first_class():
    """In every fold, the second class is the shifted first class, and one sample is halfway between them."""
    y = np.repeat([0, 1], 30)
    (fold_of,) = folds(y, n_repeats=1)
    rng = np.random.default_rng(0)
    X, step = rng.normal(size=(60, 8)), rng.uniform(0.5, 1, size=8)
    for fold in range(3):
        first, second = (np.flatnonzero((fold_of == fold) & (y == k)) for k in (0, 1))
        X[first[0]] = step / 2
        X[first[1:]] -= X[first].sum(axis=0) / 9  # moves the mean of the first class to 0
        X[second] = X[first] + step
    X += 3.7  # sums are rounded
    pairs = np.array(list(combinations(range(8), 2)))
    options = {"n_splits": 3, "n_repeats": 1, "random_state": 0}
    units, one = reference(X, y, pairs, **options)
    np.testing.assert_array_equal(evaluate_feature_sets(X, y, pairs, **options).performances, units / one)
    models = {name: make_gaussian(name) for name in GAUSSIAN_CLASSIFIERS}
    slow = evaluate_feature_sets(X, y, pairs, classifiers=models, **options)
    np.testing.assert_array_equal(slow.performances, units / one)


def test_folds_are_dealt_from_the_seed_of_that_name():
    X, y = samples(n=41)
    for seed in (0, 7):
        np.testing.assert_array_equal(Problem.make(X, y, 3, 2, seed).fold_of, folds(y, random_state=seed))


@pytest.mark.parametrize(("n_splits", "n_repeats"), [(2, 1), (5, 3)])
def test_kernel_equals_the_estimators(n_splits, n_repeats):
    X, y = samples(n=53, seed=3)
    X *= np.logspace(-3, 3, X.shape[1])
    X += 10
    pairs = draw_feature_sets(X.shape[1], 2, 12, random_state=1)
    options = {"n_splits": n_splits, "n_repeats": n_repeats, "random_state": 5}
    found = evaluate_feature_sets(X, y, pairs, **options)
    models = {name: make_gaussian(name) for name in GAUSSIAN_CLASSIFIERS}
    slow = evaluate_feature_sets(X, y, pairs, classifiers=models, **options)
    assert (found.performances == slow.performances).all() and (found.winners == slow.winners).all()


def test_degenerate_pairs_equal_the_estimators():
    X, y = samples(n=36, whole=True)
    X[:, 2], X[:, 3], X[:, 4] = X[:, 0], y, 0
    X[5, 4] = 1  # constant in training parts without sample 5
    X[:, 6] = y * 10.0 ** -(np.arange(36) % 15 * 0.4)  # no variance in one class: only the ridge sets the scale
    X[:, 7] = X[:, 6] * 1.5
    pairs = [(0, 2), (0, 3), (3, 4), (0, 4), (2, 0), (4, 5), (6, 3), (6, 7), (5, 6)]
    models = {name: make_gaussian(name) for name in GAUSSIAN_CLASSIFIERS}
    found = evaluate_feature_sets(X, y, pairs, random_state=0)
    slow = evaluate_feature_sets(X, y, pairs, classifiers=models, random_state=0)
    np.testing.assert_array_equal(found.performances, slow.performances)


def test_subset_of_classifiers_is_a_subset_of_columns():
    X, y = samples()
    both = [
        evaluate_feature_sets(X, y, [(0, 5), (3, 4)], classifiers=c, random_state=0)
        for c in (["QDA", "NC"], GAUSSIAN_CLASSIFIERS)
    ]
    assert both[0].classifiers == ("QDA", "NC")
    assert (both[0].performances == both[1].performances[:, [5, 0]]).all()


def test_more_classes_larger_sets_and_other_classifiers():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], [10, 12, 14])
    X = rng.normal(size=(36, 6)) + 3 * (y == "b")[:, None]
    sets = [[0], [1, 2], [0, 3, 5]]
    six = evaluate_feature_sets(X, y, sets, random_state=0)
    assert six.performances.shape == (3, 6) and (six.performance > 0.5).all()
    models = {"logistic": LogisticRegression(), "LDA": make_gaussian("LDA")}
    other = evaluate_feature_sets(X, y, sets, classifiers=models, random_state=0)
    np.testing.assert_array_equal(other.performances[:, 1], six.performances[:, 2])


def test_many_classes_do_not_overflow():
    y = np.repeat(np.arange(18), np.arange(40, 58))  # a performance of 1 is 4e19 units, more than 64 bits
    X = np.random.default_rng(0).normal(size=(len(y), 2)) * 0.01 + y[:, None]
    found = evaluate_feature_sets(X, y, [[0, 1]], classifiers=["NC", "DLDA"], n_repeats=1, random_state=0)
    assert Problem.make(X, y, 3, 1, 0).top > 2**64
    assert found.performances.dtype == float and found.performance[0] == 1
    assert found.winners.dtype == bool and found.winners.all()


def test_same_seed_same_results_and_global_state_untouched():
    X, y = samples()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    pairs = draw_feature_sets(30, 2, 200, random_state=4)
    expected = evaluate_feature_sets(X, y, pairs, random_state=1).performances
    for n_jobs in (1, 2):
        found = evaluate_feature_sets(X, y, pairs, random_state=1, n_jobs=n_jobs).performances
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(pairs, draw_feature_sets(30, 2, 200, random_state=4))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def broken(column, value):
    X, y = samples()
    X[0 if np.isnan(value) else slice(None), column] = value
    return X, y


@pytest.mark.parametrize(
    ("data", "sets", "options", "error", "message"),
    [
        (lambda: (samples()[0], np.ones(40)), [[0, 1]], {}, DataError, "two or more classes"),
        (samples, [[0, 1]], {"n_splits": 17}, SplitError, "Decrease n_splits"),
        (lambda: broken(2, np.nan), [[0, 1]], {}, DataError, r"X\[0, 2\]: found nan"),
        (lambda: broken(2, 7.0), [[0, 1]], {}, DataError, "feature 2 and 0 others are constant"),
        (samples, [list(range(31))], {}, DataError, "0 to 29"),
        (samples, [[0, 30]], {}, DataError, "0 to 29"),
        (samples, [[0, 0]], {}, DataError, "each feature once"),
        (samples, [[0.5, 1]], {}, DataError, "as whole numbers"),
        (samples, [], {}, DataError, "empty"),
        (samples, [[0, 1]], {"n_splits": 1}, DataError, "n_splits: found 1"),
        (samples, [[0, 1]], {"classifiers": ["LDAA"]}, ModelError, "did you mean 'LDA'"),
        (samples, [[0, 1]], {"classifiers": "LDA"}, ModelError, "list of names"),
        (samples, [[0, 1]], {"classifiers": []}, ModelError, "empty"),
        (samples, [[0, 1]], {"classifiers": {"LR": LogisticRegression}}, ModelError, "not its class"),
        (lambda: (samples()[0], np.array(["a", None] * 20, dtype=object)), [[0, 1]], {}, DataError, "mixed values"),
        (samples, np.array([[0, 1], [3, 30]]), {}, DataError, r"feature_sets, set 1: found \[3, 30\]"),
        (samples, np.array([[0, 1], [3, 3]]), {}, DataError, "set 1: .* once"),
        (lambda: (samples()[0], np.ones(39)), [[0, 1]], {}, DataError, "one class per sample"),
        (samples, [[0, 1]], {"random_state": None}, DataError, r"random_state: found None\. Give a whole number"),
        (samples, [[0, 1]], {"n_jobs": 0}, DataError, "n_jobs: found 0"),
        (samples, [[0]], {"n_jobs": "all"}, DataError, "n_jobs: found 'all'"),
        (lambda: samples(n=600), [[0, 1]], {"n_splits": 128}, SplitError, "2 to 127"),
        (lambda: (samples()[0], np.arange(40) >= 38), [[0, 1]], {}, SplitError, "class True has 2 samples"),
        (
            lambda: (samples()[0], np.arange(40) >= 37),
            [[0, 1]],
            {"n_splits": 2},
            SplitError,
            "class True has 3 samples",
        ),
    ],
)
def test_mistakes_are_named(data, sets, options, error, message):
    X, y = data()
    with pytest.raises(error, match=message) as caught:
        evaluate_feature_sets(X, y, sets, **options)
    assert isinstance(caught.value, StudyError)
