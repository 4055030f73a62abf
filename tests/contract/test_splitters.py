"""Properties that every splitter guarantees."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from fairfold.errors import SplitError
from fairfold.splitting import (
    IterativeStratification,
    OptiSplit,
    PartitionedSampling,
    RandomSplit,
    StratifiedSampling,
)
from fairfold.splitting.measures import relative_label_distribution

SPLITTERS = {
    "OptiSplit": (OptiSplit, {}),
    "OptiSplit dcp": (OptiSplit, {"objective": "dcp"}),
    "OptiSplit anneal": (OptiSplit, {"refine": "anneal", "sweeps": 20}),
    "IS": (IterativeStratification, {}),
    "IS anneal": (IterativeStratification, {"refine": "anneal", "sweeps": 20}),
    "IS first-seen": (IterativeStratification, {"label_order": "first-seen"}),
    "SOIS": (IterativeStratification, {"order": 2}),
    "SOIS first-seen": (IterativeStratification, {"order": 2, "label_order": "first-seen"}),
    "SS": (StratifiedSampling, {}),
    "PMBSRS": (PartitionedSampling, {}),
    "PMBSRS anneal": (PartitionedSampling, {"refine": "anneal", "sweeps": 20}),
    "random": (RandomSplit, {}),
    "random anneal": (RandomSplit, {"refine": "anneal", "sweeps": 20}),
}
BALANCING = ["OptiSplit", "OptiSplit dcp", "OptiSplit anneal", "IS", "IS anneal", "SOIS"]
EXACT_SIZES = [name for name in SPLITTERS if "anneal" in name] + ["PMBSRS", "random"]


class Majority(ClassifierMixin, BaseEstimator):
    """Classifier that predicts the more frequent value of each label."""

    def __init__(self, ignored=None):
        self.ignored = ignored

    def fit(self, X, Y):
        self.majority_ = Y.mean(axis=0).round()
        return self

    def predict(self, X):
        return np.tile(self.majority_, (len(X), 1))


@pytest.fixture(params=SPLITTERS)
def make(request):
    splitter, settings = SPLITTERS[request.param]
    return lambda n_splits=4, random_state=0, **more: splitter(
        n_splits, random_state=random_state, **{**settings, **more}
    )


def some_labels(seed=0, n=203, q=10):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, q)) < np.geomspace(0.03, 0.7, q)).astype(np.int64)
    Y[:20] = 0
    return Y[rng.permutation(n)]


def test_folds_partition_the_rows(make):
    Y = some_labels()
    folds = make().assign(Y)
    assert folds.shape == (len(Y),)
    assert folds.dtype == np.int64
    assert np.unique(folds).tolist() == [0, 1, 2, 3]


def test_same_seed_same_folds_other_seed_other_folds(make):
    Y = some_labels()
    np.testing.assert_array_equal(make(random_state=7).assign(Y), make(random_state=7).assign(Y))
    assert (make(random_state=7).assign(Y) != make(random_state=8).assign(Y)).any()


def test_all_forms_of_the_labels_give_the_same_folds(make):
    Y = some_labels()
    expected = make().assign(Y)
    for form in (Y.astype(bool), Y.astype(float), Y.astype(np.int8), Y.tolist(), np.asfortranarray(Y)):
        np.testing.assert_array_equal(make().assign(form), expected)
    for form in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        for dtype in (bool, np.int64, float):
            np.testing.assert_array_equal(make().assign(form(Y.astype(dtype))), expected)


def test_inputs_and_global_random_state_are_left_alone(make):
    dense = some_labels()
    sparse = sp.csr_array(dense)
    arrays = [array.copy() for array in (dense, sparse.data, sparse.indices, sparse.indptr)]
    dense.setflags(write=False)
    state = np.random.get_state()  # noqa: NPY002 - the global state is what is watched
    make().assign(dense)
    make().assign(sparse)
    after = np.random.get_state()  # noqa: NPY002
    assert state[0] == after[0]
    assert state[2:] == after[2:]
    np.testing.assert_array_equal(state[1], after[1])
    for before, now in zip(arrays, (dense, sparse.data, sparse.indices, sparse.indptr), strict=True):
        np.testing.assert_array_equal(now, before)


def test_works_in_scikit_learn(make):
    Y = some_labels()
    X = np.random.default_rng(0).normal(size=(len(Y), 2))
    scores = cross_val_score(DummyClassifier(), X, Y, cv=make(), scoring="f1_micro")
    assert scores.shape == (4,)
    assert np.isfinite(scores).all()
    folds = make().assign(Y)
    for fold, (train, test) in enumerate(make().split(X, Y)):
        np.testing.assert_array_equal(test, np.flatnonzero(folds == fold))
        np.testing.assert_array_equal(train, np.flatnonzero(folds != fold))
    assert make().get_n_splits() == 4


def test_clones_have_the_parameters_and_deal_the_same_folds(make):
    Y, splitter = some_labels(), make()
    copy = clone(splitter)
    assert copy is not splitter and type(copy) is type(splitter)
    assert copy.get_params() == splitter.get_params() == vars(splitter)
    assert repr(copy) == repr(splitter)
    np.testing.assert_array_equal(copy.assign(Y), splitter.assign(Y))
    for (train, test), (own_train, own_test) in zip(copy.split(Y, Y), splitter.split(Y, Y), strict=True):
        np.testing.assert_array_equal(train, own_train)
        np.testing.assert_array_equal(test, own_test)


def test_parameters_can_be_changed_by_name(make):
    Y, splitter = some_labels(), make()
    assert splitter.set_params(n_splits=3, random_state=9) is splitter
    assert (splitter.get_n_splits(), splitter.get_params()["random_state"]) == (3, 9)
    np.testing.assert_array_equal(splitter.assign(Y), make(3, 9).assign(Y))
    assert splitter.set_params() is splitter


def test_a_name_that_is_no_parameter_is_refused(make):
    for wrong in ("n_split", "cv__n_splits"):
        with pytest.raises(ValueError, match="Invalid parameter"):
            make().set_params(**{wrong: 2})
    with pytest.raises(SplitError, match="n_splits: found 0"):  # values are checked on use
        make().set_params(n_splits=0).assign(some_labels())


def test_repr_makes_the_same_splitter(make):
    made = eval(repr(make(random_state=7)), {cls.__name__: cls for cls, _ in SPLITTERS.values()})
    assert made.get_params() == make(random_state=7).get_params()
    assert "=None" not in repr(make())  # defaults are omitted


def test_tools_of_scikit_learn_take_them_with_several_labels(make):
    Y = some_labels()
    X = Y + np.random.default_rng(0).normal(size=Y.shape)
    by_hand, predicted = {}, np.full(Y.shape, -1)
    for n_neighbors in (1, 15):
        model = KNeighborsClassifier(n_neighbors)
        by_hand[n_neighbors] = []
        for train, test in make().split(X, Y):
            predicted[test] = model.fit(X[train], Y[train]).predict(X[test])
            by_hand[n_neighbors].append(np.mean((predicted[test] == Y[test]).all(axis=1)))
        np.testing.assert_array_equal(cross_val_score(model, X, Y, cv=make()), by_hand[n_neighbors])
        np.testing.assert_array_equal(cross_val_predict(model, X, Y, cv=make()), predicted)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, cv=make())
    found = clone(search).set_params(cv__random_state=0).fit(X, Y).cv_results_
    for fold in range(4):
        np.testing.assert_array_equal(found[f"split{fold}_test_score"], [scores[fold] for scores in by_hand.values()])


def test_tools_of_scikit_learn_pass_groups_on(make):
    Y = some_labels()
    groups = np.random.default_rng(1).integers(0, 60, len(Y))
    folds = make().assign(Y, groups)
    by_hand = [np.mean((Y[folds == fold] == Y[folds != fold].mean(axis=0).round()).all(axis=1)) for fold in range(4)]
    np.testing.assert_array_equal(cross_val_score(Majority(), Y, Y, groups=groups, cv=make()), by_hand)
    search = GridSearchCV(Majority(), {"ignored": [0]}, cv=make()).fit(Y, Y, groups=groups)
    assert search.best_score_ == np.mean(by_hand)


def test_rows_without_labels_are_spread_evenly(make):
    Y = some_labels()
    without = ~Y.any(axis=1)
    assert 20 <= without.sum() < 60
    assert np.ptp(np.bincount(make().assign(Y)[without], minlength=4)) <= 1


def test_degenerate_labels_do_no_harm(make):
    Y = some_labels()
    padded = np.column_stack(
        [np.ones(len(Y), dtype=int), Y, np.zeros((len(Y), 2), dtype=int), np.eye(len(Y), 1, dtype=int)]
    )
    with np.errstate(all="raise"):
        folds = make().assign(padded)
    assert np.unique(folds).tolist() == [0, 1, 2, 3]
    single = make(2).assign(np.array([1, 0, 1, 0, 0, 0]))
    assert np.unique(single).tolist() == [0, 1]


def test_as_many_folds_as_rows(make):
    assert sorted(make(4).assign(np.ones((4, 1), dtype=int))) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((20, 3)),
        np.full((20, 3), 2),
        np.full((20, 3), 3),
        np.full((20, 3), np.nan),
        np.ones((20, 3, 2)),
        np.ones((3, 2)),
        np.ones((0, 2)),
        sp.csr_array(np.full((20, 3), 2)),
    ],
)
def test_bad_labels_are_refused_with_a_remedy(make, bad):
    with pytest.raises(SplitError, match=r":"):
        make().assign(bad)


@pytest.mark.parametrize("n_splits", [1, 0, -3, 204, 2.5, "5", None])
def test_bad_numbers_of_folds_are_refused(make, n_splits):
    with pytest.raises(SplitError, match="n_splits: found"):
        make(n_splits).assign(some_labels())


def test_groups_stay_together(make):
    Y = some_labels()
    groups = np.random.default_rng(1).integers(0, 60, len(Y))
    folds = make().assign(Y, groups)
    assert all(len(set(folds[groups == group])) == 1 for group in np.unique(groups))
    assert np.unique(folds).tolist() == [0, 1, 2, 3]


GROUPS = {  # number of rows per group
    "five sites": [28, 26, 20, 12, 4],
    "two sites": [30, 9],
    "one huge group": [180] + [2] * 10,
    "small groups": [1, 2] * 30,
    "mixed": [17, 3, 12, 9, 9, 5, 14, 2, 8, 11, 6, 1],
}


def labels_of_groups(groups, seed=0):
    """Draw labels; the first occurs in one group only, the second in all rows of the largest group."""
    Y = (np.random.default_rng(seed).random((len(groups), 5)) < 0.3).astype(int)
    Y[:, 0] = groups == groups[-1]
    Y[:, 1] |= groups == groups[0]
    return Y


@pytest.mark.filterwarnings("ignore::fairfold.errors.UnevenFoldsWarning")
@pytest.mark.parametrize("sizes", GROUPS.values(), ids=list(GROUPS))
def test_groups_of_any_size_make_folds(make, sizes):
    groups = np.repeat([f"site {number}" for number in range(len(sizes))], sizes)
    Y = labels_of_groups(groups)
    for n_splits in (2, 5):
        if n_splits > len(sizes):
            with pytest.raises(SplitError, match=rf"Use n_splits={len(sizes)}\."):
                make(n_splits).assign(Y, groups)
            continue
        folds = make(n_splits).assign(Y, groups)
        assert len({*zip(groups, folds, strict=True)}) == len(sizes)
        assert np.unique(folds).tolist() == list(range(n_splits))
        for fold, (train, test) in enumerate(make(n_splits).split(Y, Y, groups)):
            np.testing.assert_array_equal(test, np.flatnonzero(folds == fold))
            np.testing.assert_array_equal(train, np.flatnonzero(folds != fold))
    for test_size in (0.05, 0.5):
        train, test = make(2).train_test(Y, test_size, groups)
        assert len(train) and len(test) and not {*groups[train]} & {*groups[test]}
        assert sorted([*train, *test]) == list(range(len(Y)))


@pytest.mark.filterwarnings("ignore::fairfold.errors.UnevenFoldsWarning")
@pytest.mark.parametrize("seed", range(3))
def test_folds_of_whole_groups_are_as_even_as_can_be(make, seed):
    """Folds may exceed the fair size by 5 % or one row; no split is below the fair size in all folds."""
    rng, n_splits = np.random.default_rng(seed), 2 + seed % 3
    sizes = rng.integers(1, 40, 6)
    groups = np.repeat(np.arange(6), sizes)
    fair = len(groups) / n_splits
    largest = [np.bincount(split, sizes).max() for split in itertools.product(range(n_splits), repeat=6)]
    folds = make(n_splits).assign(labels_of_groups(groups), groups)
    assert np.bincount(folds).max() <= max(min(largest), fair + max(1, 0.05 * fair))


def test_training_and_test_sets_have_their_sizes(make):
    Y = some_labels()
    train, test = make(2).train_test(Y, 0.3)
    assert sorted([*train, *test]) == list(range(len(Y)))
    # Methods that move rows freely may change the size by up to 5 % of the rows to balance labels.
    assert abs(len(test) - 0.3 * len(Y)) <= 0.05 * len(Y)


def deviations_of_shares(name, Y, test_size):
    """Compute the relative deviation of each label's share in the test part from the target."""
    splitter, settings = SPLITTERS[name]
    _, test = splitter(random_state=0, **settings).train_test(Y, test_size)
    return np.abs(Y[test].sum(axis=0) / Y.sum(axis=0) / test_size - 1)


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("test_size", [0.1, 0.2, 0.3])
def test_test_parts_have_their_share_of_each_label(name, test_size):
    Y = some_labels(n=800)
    found, positives = deviations_of_shares(name, Y, test_size), Y.sum(axis=0)
    # A random part has a hypergeometric share, with a standard deviation below this binomial one. Chance exceeds 4 of
    # these for any of 10 labels once in 1,600 parts. No splitter should be further from the target.
    chance = np.sqrt((1 - test_size) / (test_size * positives))
    assert (found < 4 * chance).all()
    if name in BALANCING:  # half of the mean deviation of a random part (0.8 standard deviations)
        assert found.mean() < 0.4 * chance.mean()


@pytest.mark.parametrize("name", EXACT_SIZES)
@pytest.mark.parametrize("n", [200, 203])
def test_sizes_are_fair(name, n):
    splitter, settings = SPLITTERS[name]
    folds = splitter(4, random_state=0, **settings).assign(some_labels(n=n))
    assert np.abs(np.bincount(folds) - n / 4).max() <= 1


@pytest.mark.parametrize("name", BALANCING)
def test_rare_labels_go_to_as_many_folds_as_they_have_positives(name):
    splitter, settings = SPLITTERS[name]
    Y = np.zeros((100, 8), dtype=int)
    for label, size in enumerate([1, 2, 3, 4, 2, 3, 4, 2]):
        Y[10 * label : 10 * label + size, label] = 1
    folds = splitter(5, random_state=0, **settings).assign(Y)
    for column in Y.T:
        assert len(set(folds[column == 1])) == column.sum()


@pytest.mark.parametrize("name", BALANCING)
def test_balances_better_than_chance(name):
    splitter, settings = SPLITTERS[name]
    Y = some_labels(n=600)
    chance = relative_label_distribution(RandomSplit(4, random_state=0).assign(Y), Y)
    folds = splitter(4, random_state=0, **settings).assign(Y)
    assert relative_label_distribution(folds, Y) < 0.75 * chance
