"""Functions that take folds or a splitter give the results of a plain loop, for any order and form of the folds.

Each consumer is compared with a loop that uses the indices of the splitter directly. The model's predictions do not
depend on the order of its training samples. Labels and predictions must therefore be equal, and only sums over samples
may differ by rounding.
"""

import functools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from fairfold.core.folds import fold_of_parts
from fairfold.cross_testing.procedures import (
    cross_validate_and_cross_test,
    cross_validate_and_test,
    nested_cross_validate,
)
from fairfold.ecoc import ECOCClassifier, PartitionedECOC
from fairfold.errors import StudyError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels.corrected import corrected_scores
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.recommendation.complete_scores import complete_scores
from fairfold.recommendation.rank_stability import repeat_study
from fairfold.splitting import (
    IterativeStratification,
    OptiSplit,
    PartitionedSampling,
    RandomSplit,
    StratifiedSampling,
)
from fairfold.splitting.comparison import label_deviations, measure_splits
from fairfold.splitting.fold_effect import LeaveOutRidge, cross_validated_scores, fold_effect, micro_macro_scores
from fairfold.splitting.measures import relative_label_distribution
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts, n_hidden, observed_labels
from fairfold.win_percentage import evaluate_feature_sets
from fairfold.win_percentage.multilabel_sets import evaluate_multilabel_sets

N = 90
ROUNDING = {"rel": 1e-11, "abs": 1e-12, "nan_ok": True}  # of sums in a different order


@functools.cache
def data():
    """Return features, three dependent labels, one class, and partly hidden labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    Y = (X[:, :3] + rng.normal(size=(N, 3)) > 0.3).astype(np.int8)
    y = np.array(["a", "b", "c"])[(X[:, :3] + rng.normal(size=(N, 3))).argmax(axis=1)]
    return X, Y, y, Y * (rng.random((N, 3)) > 0.3)


# ---- splitters


def thirds(n):
    deal = np.random.default_rng(n).permutation(n) % 3
    return [(np.flatnonzero(deal != fold), np.flatnonzero(deal == fold)) for fold in range(3)]


def three_of_four(n):
    """Yield folds that never test a quarter of the samples and always train on it."""
    parts = [test[test % 4 > 0] for _, test in thirds(n)]
    return [(np.setdiff1d(np.arange(n), test), test) for test in parts]


def in_any_order(part, n):
    return np.random.default_rng(len(part)).permutation(part)


def as_mask(part, n):
    return np.isin(np.arange(n), part)


def as_list(part, n):
    return part[::-1].tolist()


class Dealer:
    """Splitter for any number of samples with parts in a custom form."""

    def __init__(self, deal, form=lambda part, n: part):
        self.deal, self.form = deal, form

    def split(self, X, y=None, groups=None):
        n = X.shape[0]
        for train, test in self.deal(n):
            yield self.form(train, n), self.form(test, n)


WHOLE = {
    "ascending": Dealer(thirds),
    "in any order": Dealer(thirds, in_any_order),
    "masks": Dealer(thirds, as_mask),
    "lists": Dealer(thirds, as_list),
    "KFold": KFold(3, shuffle=True, random_state=0),
}
PARTIAL = {
    "partial": Dealer(three_of_four),
    "partial in any order": Dealer(three_of_four, in_any_order),
    "partial masks": Dealer(three_of_four, as_mask),
    "ShuffleSplit": ShuffleSplit(1, test_size=0.3, random_state=0),
    "StratifiedShuffleSplit": StratifiedShuffleSplit(1, test_size=0.3, random_state=0),
}
ANY = WHOLE | PARTIAL
# Consumers of fold numbers; tests/unit/core/test_folds.py covers all forms of parts.
NUMBERED = {name: ANY[name] for name in ("in any order", "partial in any order")}
REPEATED = {
    "RepeatedKFold": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "ShuffleSplit": ShuffleSplit(4, test_size=0.4, random_state=0),
}
OWN = [
    OptiSplit(3, random_state=0),
    IterativeStratification(3, random_state=0),
    StratifiedSampling(3, random_state=0),
    PartitionedSampling(3, random_state=0),
    RandomSplit(3, random_state=0),
]


def given(splitters):
    return pytest.mark.parametrize("splitter", list(splitters.values()), ids=list(splitters))


def parts_as_given(splitter):
    X, _, y, _ = data()
    return list(splitter.split(X, y))


def fold_of(splitter):
    return fold_of_parts(parts_as_given(splitter), N)


class Neighbors(ClassifierMixin, BaseEstimator):
    """Predict the share of each label among the nearest neighbors; stores its training samples."""

    best_levels_ = dict.fromkeys(BASIC_METRICS, 0)

    def __init__(self, n_neighbors=5):
        self.n_neighbors = n_neighbors

    def fit(self, X, Y, first_level=None):
        self.model_ = KNeighborsRegressor(self.n_neighbors).fit(X, Y)
        self.levels_ = [np.sort(X[:, 0])]
        assert first_level is None or np.array_equal(first_level, self.levels_[0])
        return self

    def predict_proba(self, X):
        return self.model_.predict(X)

    def staged_predict_proba(self, X):
        yield self.predict_proba(X)


# ---- codes


CODES = ECOCClassifier(KNeighborsClassifier(5), coding="onevsall", fit_posterior=True)


@given(ANY)
def test_cross_validated_codes(splitter):
    X, _, y, _ = data()
    neg_loss, posterior = np.full((N, 3), np.nan), np.full((N, 3), np.nan)
    labels, fold, errors = np.full(N, None, dtype=object), np.full(N, -1), []
    for number, (train, test) in enumerate(parts_as_given(splitter)):
        model = clone(CODES).fit(X[train], y[train])
        neg_loss[test], posterior[test] = model.neg_loss(X[test]), model.predict_proba(X[test])
        labels[test], fold[test] = model.predict(X[test]), number
        errors.append(np.mean(model.predict(X[test]) != y[test]))
    for cv in (splitter, parts_as_given(splitter), fold_of(splitter)):
        found = PartitionedECOC(CODES, cv=cv).fit(X, y)
        predicted = found.kfold_predict()
        np.testing.assert_array_equal(found.fold_of_, fold)
        np.testing.assert_array_equal(predicted.labels, labels)
        np.testing.assert_array_equal(predicted.neg_loss, neg_loss)
        np.testing.assert_array_equal(predicted.posterior, posterior)
        assert found.kfold_loss() == np.mean(labels[fold >= 0] != y[fold >= 0])
        assert found.kfold_loss(per_fold=True).tolist() == errors


# ---- procedures


CANDIDATES = {"few": Neighbors(3), "many": Neighbors(15)}
SCORING = "average_precision"


def average_precision(Y, P):
    return multilabel_scores(Y, P)[SCORING]


def chosen_by(splitter, X, Y):
    """Return the candidate with the highest total over the folds of a splitter."""
    totals = dict.fromkeys(CANDIDATES, 0.0)
    for train, test in splitter.split(X, Y):
        for name, model in CANDIDATES.items():
            P = clone(model).fit(X[train], Y[train]).predict_proba(X[test])
            totals[name] += average_precision(Y[test], P) * len(Y[test])
    return max(totals, key=totals.get)


def rounds_of(procedure, splitter, X, Y):
    """Return the candidate and the sorted training and test samples of each test of a procedure."""
    rows = np.arange(N)
    if procedure is nested_cross_validate:
        for train, test in splitter.split(X, Y):
            train, test = np.sort(rows[train]), np.sort(rows[test])
            yield chosen_by(splitter, X[train], Y[train]), train, test
        return
    first, last = rows[: N // 2], rows[N // 2 :]
    name = chosen_by(splitter, X[first], Y[first])
    if procedure is cross_validate_and_test:
        yield name, first, last
        return
    for _, test in splitter.split(X[last], Y[last]):
        yield name, np.setdiff1d(rows, last[test]), np.sort(last[test])


PROCEDURES = (nested_cross_validate, cross_validate_and_test, cross_validate_and_cross_test)


@given(WHOLE | {repr(own): own for own in OWN})
@pytest.mark.parametrize("procedure", PROCEDURES, ids=lambda one: one.__name__)
def test_procedures(procedure, splitter):
    X, truth, _, Y = data()
    P, fold, scores, sizes = np.full(Y.shape, np.nan), np.full(N, -1), [], []
    for number, (name, train, test) in enumerate(rounds_of(procedure, splitter, X, Y)):
        P[test] = clone(CANDIDATES[name]).fit(X[train], Y[train]).predict_proba(X[test])
        fold[test] = number
        scores.append(average_precision(truth[test], P[test]))
        sizes.append(len(test))
    found = procedure(CANDIDATES, X, Y, Y_true=truth, splitter=splitter, n_splits=3, scoring=SCORING, random_state=0)
    np.testing.assert_array_equal(found.tested, np.flatnonzero(fold >= 0))
    np.testing.assert_array_equal(found.fold, fold[fold >= 0])
    np.testing.assert_array_equal(found.predictions, P[fold >= 0])
    assert found.score == pytest.approx(np.average(scores, weights=sizes), **ROUNDING)


# ---- scores on folds


@given(NUMBERED)
def test_scores_on_folds(splitter):
    X, truth, _, Y = data()
    expected = []
    for train, test in parts_as_given(splitter):
        P = Neighbors().fit(X[train], Y[train]).predict_proba(X[test])
        expected.append(multilabel_scores(truth[test], P))
    found = score_on_folds(lambda fold: Neighbors(), X, truth, fold_of(splitter), lambda fold: Y).scores
    found = found.pivot(index="fold", columns="metric", values="value")
    for fold, scores in enumerate(expected):
        assert found.loc[fold].to_dict() == pytest.approx(scores, **ROUNDING)
    assert len(found) == len(expected)


@given(NUMBERED)
def test_repeated_studies(splitter):
    X, truth, _, Y = data()
    splits = [fold_of(Dealer(thirds)), fold_of(splitter)]
    shown = []
    found = repeat_study(
        lambda model, repeat, training, fold: Neighbors(CANDIDATES[model].n_neighbors),
        *(dict.fromkeys(CANDIDATES, "text"), X, truth, splits),
        hide=lambda folds, repeat, training: shown.append(folds),
        observed=lambda hidden, fold: Y,
        make_first=lambda *_: Neighbors(CANDIDATES["few"].n_neighbors),
        repeats=[1],
        n_trainings=1,
    )
    np.testing.assert_array_equal(shown[0], splits[1])
    found = found.set_index(["model", "fold", "metric"])["value"]
    for fold, (train, test) in enumerate(parts_as_given(splitter)):
        for name, model in CANDIDATES.items():
            P = clone(model).fit(X[train], Y[train]).predict_proba(X[test])
            assert found[name, fold].to_dict() == pytest.approx(multilabel_scores(truth[test], P), **ROUNDING)


@given(NUMBERED)
def test_labels_hidden_from_training(splitter):
    _, Y, _, _ = data()
    hidden = hide_in_training_parts(Y, fold_of(splitter), 0.4, seed=0, names=("a",))
    for fold, (train, test) in enumerate(parts_as_given(splitter)):
        observed = observed_labels(Y, hidden, fold)
        np.testing.assert_array_equal(observed[test], Y[test])
        lost = Y[train].sum(axis=0) - observed[train].sum(axis=0)
        np.testing.assert_array_equal(lost, n_hidden(Y[train].sum(axis=0), 0.4))


@given(NUMBERED)
def test_scores_on_complete_labels(splitter):
    """Each left-out sample counts in its fold; other samples are ignored."""
    X, Y, _, _ = data()
    folds = fold_of(splitter)
    hidden = hide_in_test_parts(Y, folds, 0.4, seed=0, names=("a",))
    observed = observed_labels(Y, hidden, None)
    found = score_on_folds(lambda fold: Neighbors(), X, Y, folds, lambda fold: observed)
    predictions = found.predictions
    np.testing.assert_array_equal(np.isnan(predictions.by("mcc")).all(axis=1), folds < 0)
    tables = complete_scores(Y, observed, {"a": predictions}, FrequencyDistribution.certain(0.6), 0.6, n_draws=3)
    scores = tables["folds"].set_index(["fold", "metric"])
    for fold, (_, test) in enumerate(parts_as_given(splitter)):
        P = predictions.by("mcc")[test]
        assert scores.loc[(fold, "mcc"), "complete"] == pytest.approx(multilabel_scores(Y[test], P)["mcc"], **ROUNDING)
        corrected = corrected_scores(observed[test], P, 0.6, metrics=["mcc"])["mcc"]
        assert scores.loc[(fold, "mcc"), "corrected"] == pytest.approx(corrected, **ROUNDING)


# ---- win percentage


SETS = [[0, 1], [1, 2, 3]]


def win(folds, labels=None):
    X, truth, _, Y = data()
    return evaluate_multilabel_sets(CANDIDATES, X, truth, folds, lambda fold: Y, SETS, seeds=[0, 1])


def test_performance_on_feature_sets():
    splitter = WHOLE["in any order"]
    X, truth, _, Y = data()
    performance, reasons = win(fold_of(splitter))
    assert not reasons.any()
    for number, chosen in enumerate(SETS):
        for column, model in enumerate(CANDIDATES.values()):
            pooled = np.full(Y.shape, np.nan)
            for train, test in parts_as_given(splitter):
                pooled[test] = clone(model).fit(X[train][:, chosen], Y[train]).predict_proba(X[test][:, chosen])
            scores = multilabel_scores(truth, pooled)
            assert {metric: found[number, column] for metric, found in performance.items()} == {
                metric: scores[metric] for metric in performance
            }


# ---- effect and evenness of folds


def test_effect_of_folds():
    splitter = WHOLE["in any order"]
    X, Y, _, _ = data()
    model = LeaveOutRidge(X, Y, X[:5], 1.0)
    predictions, per_fold = np.full(Y.shape, np.nan), []
    for _, test in parts_as_given(splitter):
        predictions[test] = model.predict_left_out(np.arange(N)[test])
        per_fold.append(micro_macro_scores(Y[test], predictions[test], 0.5)[0])
    found, _ = cross_validated_scores(model, Y, fold_of(splitter))
    np.testing.assert_allclose(found[1], micro_macro_scores(Y, predictions, 0.5)[0], rtol=1e-11)
    np.testing.assert_allclose(found[0], np.mean(per_fold, axis=0), rtol=1e-11)


def test_effect_of_folds_in_any_order_is_that_of_the_same_in_order():
    X, Y, _, _ = data()
    tables = [
        fold_effect(
            {"given": lambda labels, seed, by=splitter: fold_of_parts(by.split(labels), len(labels))},
            *(X, Y),
            n_splits=3,
            n_halvings=2,
            n_repeats=2,
        )
        for splitter in (WHOLE["ascending"], WHOLE["in any order"], WHOLE["masks"])
    ]
    assert tables[0].equals(tables[1]) and tables[0].equals(tables[2])


def test_evenness_of_folds():
    splitter = WHOLE["in any order"]
    _, Y, _, _ = data()
    deviations = []
    for _, test in parts_as_given(splitter):
        deviations.append(abs(1 - Y[test].mean(axis=0) / Y.mean(axis=0)))
    folds, expected = fold_of(splitter), np.mean(deviations, axis=0)
    assert relative_label_distribution(folds, Y, per_label=True) == pytest.approx(expected, **ROUNDING)
    assert label_deviations(folds, Y)["rLD"].tolist() == pytest.approx(expected, **ROUNDING)
    table = measure_splits([folds, folds], Y).set_index(["repeat", "measure"])["value"]
    assert table[1, "rLD"] == pytest.approx(expected.mean(), **ROUNDING)
    sizes = [len(Y[test]) for _, test in parts_as_given(splitter)]
    assert (table[0, "largest fold"], table[0, "smallest fold"]) == (max(sizes), min(sizes))


def test_folds_to_start_from():
    splitter = WHOLE["in any order"]
    _, Y, _, _ = data()
    start = np.full(N, -1)
    for fold, (_, test) in enumerate(parts_as_given(splitter)):
        start[test] = fold
    by_hand = OptiSplit(3, random_state=0, initial_folds=start).assign(Y)
    np.testing.assert_array_equal(OptiSplit(3, random_state=0, initial_folds=fold_of(splitter)).assign(Y), by_hand)


# ---- splitters of the library


@pytest.mark.parametrize("splitter", OWN, ids=repr)
def test_own_splitters_deal_in_order(splitter):
    X, Y, y, _ = data()
    parts = list(splitter.split(X, Y))
    np.testing.assert_array_equal(fold_of_parts(parts, N), splitter.assign(Y))
    for train, test in parts:
        assert (np.diff(train) > 0).all() and (np.diff(test) > 0).all()
    indicators = y[:, None] == np.unique(y)
    labels = np.full(N, "?")
    for train, test in splitter.split(X, indicators):
        labels[test] = clone(CODES).fit(X[train], y[train]).predict(X[test])
    found = PartitionedECOC(CODES, cv=splitter).fit(X, y)
    np.testing.assert_array_equal(found.kfold_predict().labels, labels)
    np.testing.assert_array_equal(found.fold_of_, splitter.assign(indicators))


# ---- invalid folds


def codes(cv):
    X, _, y, _ = data()
    PartitionedECOC(CODES, cv=cv).fit(X, y)


def choose(splitter):
    X, Y, _, _ = data()
    nested_cross_validate(CANDIDATES, X, Y, splitter=splitter, n_splits=3, scoring=SCORING, random_state=0)


ACCEPTS_SPLITTERS = {"codes": codes, "procedures": choose}


def refusal(take, what):
    """Return the error message of a rejected input, which is one sentence."""
    with pytest.raises(StudyError) as caught:
        take(what)
    message = str(caught.value)
    assert "\n" not in message
    return message


@given(REPEATED)
@pytest.mark.parametrize("take", ACCEPTS_SPLITTERS.values(), ids=ACCEPTS_SPLITTERS)
def test_repeated_tests_of_a_sample_are_refused(take, splitter):
    assert "test parts must not overlap" in refusal(take, splitter)


def with_test_part(change):
    def deal(n):
        (train, test), *others = thirds(n)
        return [(train, change(test, train, n)), *others]

    return Dealer(deal)


BAD_PARTS = {
    "negative": (lambda test, train, n: test - n, "indices go from 0 to 89"),
    "out of range": (lambda test, train, n: np.append(test, n), "contains 90: indices go from 0 to 89"),
    "twice": (lambda test, train, n: np.append(test, test[0]), "is repeated in the test part of fold 0"),
    "no integers": (lambda test, train, n: test.astype(float), "float64 of shape (30,): give indices"),
    "names": (lambda test, train, n: test.astype(str), "give indices of samples, or a mask"),
    "a short mask": (lambda test, train, n: as_mask(test, n - 1), "is a mask of shape (89,): give one for 90"),
    "a table": (lambda test, train, n: test[:, None], "int64 of shape (30, 1): give indices"),
    "nothing": (lambda test, train, n: test[:0], "fold 0 has 60 training and 0 test samples"),
    "leaks": (lambda test, train, n: np.append(test, train[0]), "is in the training and the test part of fold 0"),
}


@pytest.mark.parametrize("case", BAD_PARTS.values(), ids=BAD_PARTS)
@pytest.mark.parametrize("take", ACCEPTS_SPLITTERS.values(), ids=ACCEPTS_SPLITTERS)
def test_bad_parts_are_refused(take, case):
    change, reason = case
    assert reason in refusal(take, with_test_part(change))


@pytest.mark.parametrize("what", [KFold, OptiSplit, "KFold", 3, object()], ids=lambda what: type(what).__name__)
@pytest.mark.parametrize("take", [codes, choose])
def test_what_is_no_splitter_is_refused(take, what):
    message = refusal(take, what)
    assert "Give a" in message or "pass an instance" in message


def test_a_splitter_that_needs_groups_is_refused():
    from sklearn.model_selection import GroupKFold

    for take in (codes, choose):
        assert "'groups' parameter" in refusal(take, GroupKFold(3))


def scores(folds):
    X, Y, _, _ = data()
    score_on_folds(lambda fold: Neighbors(), X, Y, folds, lambda fold: Y)


def study(folds):
    X, Y, _, _ = data()
    repeat_study(
        *(lambda *_: Neighbors(), {"few": "text"}, X, Y, [folds]),
        **{"make_first": lambda *_: Neighbors(), "hide": lambda *_: None, "observed": lambda *_: Y},
        **{"repeats": [0], "n_trainings": 1},
    )


def effect(folds):
    X, Y, _, _ = data()

    def of_half(labels, seed):
        return folds[: len(labels)] if np.shape(folds)[:1] == (N,) else folds

    fold_effect({"a": of_half}, X, Y, n_splits=3, n_halvings=2, n_repeats=2)


def codes_by(folds):
    codes(np.asarray(folds) if isinstance(folds, list) else folds)


ACCEPTS_FOLDS = {
    "codes": codes_by,
    "procedures": lambda folds: choose(lambda Y, seed: folds),
    "scores": scores,
    "study": study,
    "hiding": lambda folds: hide_in_training_parts(data()[1], folds, 0.3, seed=0, names=()),
    "hiding in tests": lambda folds: hide_in_test_parts(data()[1], folds, 0.3, seed=0, names=()),
    "win percentage": win,
    "effect": effect,
    "scores of one model": lambda folds: cross_validated_scores(
        LeaveOutRidge(data()[0], data()[1], data()[0], 1.0), data()[1], folds
    ),
    "measures": lambda folds: relative_label_distribution(folds, data()[1]),
    "splits": lambda folds: measure_splits([folds], data()[1]),
    "deviations": lambda folds: label_deviations(folds, data()[1]),
    "start": lambda folds: OptiSplit(3, initial_folds=folds).assign(data()[1]),
}
MAY_BE_PARTIAL = {"codes", "scores", "study", "hiding", "hiding in tests"}
IN_TURN = np.arange(N) % 3
BAD_FOLDS = {
    "short": IN_TURN[:-1],
    "two-dimensional": np.tile(IN_TURN, (2, 1)).T,
    "floats": IN_TURN.astype(float),
    "a mask": IN_TURN == 1,
    "from -2": IN_TURN - 2,
    "with a gap": np.where(IN_TURN == 1, 0, IN_TURN),
    "one fold": np.zeros(N, dtype=int),
    "no fold": np.full(N, -1),
    "names": IN_TURN.astype(str),
}


@pytest.mark.parametrize("folds", BAD_FOLDS.values(), ids=BAD_FOLDS)
@pytest.mark.parametrize("take", ACCEPTS_FOLDS.values(), ids=ACCEPTS_FOLDS)
def test_bad_folds_are_refused(take, folds):
    assert "give " in refusal(take, folds) or "number" in refusal(take, folds)


@pytest.mark.parametrize("name", sorted(ACCEPTS_FOLDS.keys() - MAY_BE_PARTIAL))
def test_untested_samples_are_refused_where_all_must_be_tested(name):
    assert "contains -1: fold numbers are integers from 0." in refusal(ACCEPTS_FOLDS[name], fold_of(PARTIAL["partial"]))


@pytest.mark.parametrize("name", sorted(ACCEPTS_FOLDS))
def test_a_splitter_in_place_of_folds_is_refused(name):
    if name != "codes":  # codes accept both
        assert "KFold" in refusal(ACCEPTS_FOLDS[name], KFold(3))


def test_a_splitter_in_place_of_a_number_of_folds_is_refused():
    X, Y, y, _ = data()
    for take in (
        lambda splitter: PartitionedECOC(CODES, splitter).fit(X, y),
        lambda splitter: nested_cross_validate(CANDIDATES, X, Y, n_splits=splitter),
        lambda splitter: evaluate_feature_sets(X, y, SETS, n_splits=splitter),
        lambda splitter: OptiSplit(splitter).assign(Y),
    ):
        assert "n_splits: found KFold" in refusal(take, KFold(3))
