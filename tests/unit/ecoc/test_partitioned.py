"""PartitionedECOC: folds, out-of-fold predictions, losses, margins and bad input."""

import hashlib
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from fairfold.ecoc import ECOCClassifier, PartitionedECOC, kl_posterior
from fairfold.ecoc.classifier import PosteriorError
from fairfold.ecoc.learners import GentleBoost, make_learner
from fairfold.errors import ModelError, SplitError
from fairfold.splitting import OptiSplit, RandomSplit

NAMES = np.array(["setosa", "versicolor", "virginica"])
BAYES = ECOCClassifier("naive-bayes", fit_posterior=True, random_state=0)
HOLDOUT = StratifiedShuffleSplit(1, test_size=0.2, random_state=0)
MISSING = "One or more folds do not contain points from all the groups"


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, NAMES[y]


@pytest.fixture(scope="module")
def bayes(iris):
    return PartitionedECOC(BAYES, random_state=3).fit(*iris)


def test_iris_with_linear_svms_as_the_page_has_it(iris):
    model = ECOCClassifier(make_learner("svm", standardize=True))
    for seed in range(3):
        error = PartitionedECOC(model, n_splits=10, random_state=seed).fit(*iris).kfold_loss()
        # The literature reports this range for linear classifiers on iris.
        assert 0.02 <= error <= 0.06


def hashed_labels(X):
    """Return labels that cannot be predicted without having seen the row in training."""
    return np.array([hashlib.sha256(row.tobytes()).digest()[0] % 4 for row in X])


@pytest.mark.parametrize(
    "folds",
    [
        {},
        {"cv": StratifiedShuffleSplit(1, test_size=0.5, random_state=0)},
        {"cv": LeaveOneOut()},
        {"cv": KFold(5)},
        {"cv": OptiSplit(4, random_state=0)},
        {"cv": np.arange(240) % 3},
    ],
    ids=str,
)
def test_no_model_saw_the_sample_that_it_predicts(folds):
    X = np.random.default_rng(0).normal(size=(240, 3))
    y = hashed_labels(X)
    memory = ECOCClassifier(KNeighborsClassifier(1), coding="onevsall")
    assert memory.fit(X, y).score(X, y) == 1  # it memorizes its training data
    error = PartitionedECOC(memory, **folds, random_state=0).fit(X, y).kfold_loss()
    # Three of four guesses are wrong. The bound is 5 standard errors of 120 samples or more.
    assert abs(error - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 120)


def test_predictions_are_those_of_the_folds_models(iris, bayes):
    X, y = iris
    found = bayes.kfold_predict()
    assert found.labels.dtype == y.dtype and len(bayes.models_) == 10
    for fold, model in enumerate(bayes.models_):
        train, test = bayes.fold_of_ != fold, bayes.fold_of_ == fold
        alone = clone(model).fit(X[train], y[train])
        np.testing.assert_array_equal(found.labels[test], alone.predict(X[test]))
        np.testing.assert_array_equal(found.neg_loss[test], alone.neg_loss(X[test]))
        np.testing.assert_array_equal(found.pb_score[test], alone.binary_scores(X[test]))
        np.testing.assert_array_equal(found.posterior[test], alone.predict_proba(X[test]))


def test_options_of_prediction(iris, bayes):
    own = bayes.kfold_predict()
    based = bayes.kfold_predict("hamming", decoding="lossbased")
    fold = bayes.fold_of_ == 2
    np.testing.assert_array_equal(
        based.neg_loss[fold],
        bayes.models_[2].decode(own.pb_score[fold], binary_loss="hamming", decoding="lossbased"),
    )
    np.testing.assert_array_equal(based.labels, NAMES[based.neg_loss.argmax(axis=1)])
    quadratic = bayes.kfold_predict(posterior_method="qp").posterior
    assert np.abs(quadratic - own.posterior).max() > 0
    random = bayes.kfold_predict(num_kl_initializations=1).posterior
    np.testing.assert_allclose(random, own.posterior, atol=1e-3)
    assert (random != own.posterior).any()
    model = bayes.models_[2]
    np.testing.assert_array_equal(
        own.posterior[fold], kl_posterior(model.coding_matrix_, own.pb_score[fold], model.weights_)
    )


def test_none_means_what_the_estimator_has(iris):
    estimator = clone(BAYES).set_params(decoding="lossbased", binary_loss="hamming", posterior_method="qp")
    own = PartitionedECOC(estimator, random_state=3).fit(*iris).kfold_predict()
    asked = PartitionedECOC(BAYES, random_state=3).fit(*iris).kfold_predict("hamming", "lossbased", "qp")
    np.testing.assert_array_equal(own.neg_loss, asked.neg_loss)
    np.testing.assert_array_equal(own.posterior, asked.posterior)


def test_posteriors_on_request(iris, bayes):
    assert bayes.kfold_predict(return_posterior=False).posterior is None
    untrained = PartitionedECOC(ECOCClassifier("naive-bayes"), 3, random_state=0).fit(*iris)
    assert untrained.kfold_predict().posterior is None
    with pytest.raises(PosteriorError, match="fitted without posteriors"):
        untrained.kfold_predict(return_posterior=True)


def test_scores_of_designs_that_differ_between_folds(iris):
    for coding, same in (("onevsall", True), ("ternarycomplete", True), ("sparserandom", False)):
        model = PartitionedECOC(ECOCClassifier("naive-bayes", coding=coding, random_state=0), 4, random_state=1)
        codings = [each.coding_matrix_ for each in model.fit(*iris).models_]
        # Random designs of three classes have few columns and might agree by chance.
        assert all(np.array_equal(codings[0], each) for each in codings) == same
        scores = model.kfold_predict().pb_score
        assert (scores is not None) == same
        assert not same or scores.shape == (150, codings[0].shape[1])


def test_holdout_leaves_the_others_untested(iris):
    X, y = iris
    model = PartitionedECOC(BAYES, cv=HOLDOUT, random_state=0).fit(X, y)
    tested = model.fold_of_ == 0
    assert tested.sum() == 30 and (model.fold_of_[~tested] == -1).all() and len(model.models_) == 1
    assert [np.sum(y[tested] == name) for name in NAMES] == [10, 10, 10]
    found = model.kfold_predict()
    assert found.labels.dtype == object
    assert all(label is None for label in found.labels[~tested]) and set(found.labels[tested]) == set(NAMES)
    for numbers in (found.neg_loss, found.pb_score, found.posterior):
        assert np.isnan(numbers[~tested]).all() and np.isfinite(numbers[tested]).all()
    assert model.kfold_loss() == np.mean(found.labels[tested] != y[tested])
    assert np.isnan(model.kfold_margin()[~tested]).all()
    assert model.kfold_edge() == pytest.approx(model.kfold_margin()[tested].mean())


@pytest.mark.parametrize("learner", ["naive-bayes", make_learner("svm", standardize=True)], ids=["bayes", "svm"])
def test_holdout_predicts_each_sample_by_its_own_scores(iris, learner):
    """StratifiedShuffleSplit returns the test part in random order, and iris is sorted by class."""
    X, y = iris
    estimator = ECOCClassifier(learner, fit_posterior=True, random_state=0)
    holdout = StratifiedShuffleSplit(1, test_size=0.3, random_state=0)
    model = PartitionedECOC(estimator, cv=holdout, random_state=0).fit(X, y)
    test = np.flatnonzero(model.fold_of_ == 0)
    train = np.setdiff1d(np.arange(150), test)
    assert len(test) == 45
    alone = clone(model.models_[0]).fit(X[train], y[train])
    found, margin = model.kfold_predict(), model.kfold_margin()
    for number, sample in enumerate(test):
        one = X[[sample]]
        assert found.labels[sample] == alone.predict(one)[0]
        # A product of matrices may sum in another order for one row than for many.
        np.testing.assert_allclose(found.neg_loss[sample], alone.neg_loss(one)[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.pb_score[sample], alone.binary_scores(one)[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(found.posterior[sample], alone.predict_proba(X[test])[number])
        true = list(NAMES).index(y[sample])
        others = np.delete(found.neg_loss[sample], true).max()
        assert margin[sample] == found.neg_loss[sample, true] - others
    error = np.mean(alone.predict(X[test]) != y[test])
    assert error <= 0.1  # 1.4 errors are expected in 45 at a rate of 3 %; 5 or more have probability 1 %
    assert model.kfold_loss() == error
    assert model.kfold_loss(per_fold=True).tolist() == [error]
    assert model.kfold_edge() == pytest.approx(margin[test].mean(), rel=1e-12)


def test_given_holdouts_are_the_same_in_any_order_and_form(iris):
    X, y = iris
    test = np.arange(150) % 10 < 3
    shuffled = [np.random.default_rng(0).permutation(np.flatnonzero(part)) for part in (~test, test)]
    forms = [np.where(test, 0, -1), [(~test, test)], [tuple(shuffled)], iter([(shuffled[0].tolist(), test)])]
    models = [PartitionedECOC(BAYES, cv=cv, random_state=0).fit(X, y) for cv in forms]
    for model in models:
        np.testing.assert_array_equal(model.fold_of_, np.where(test, 0, -1))
        for one, other in zip(model.kfold_predict(), models[0].kfold_predict(), strict=True):
            np.testing.assert_array_equal(one, other)
        assert model.kfold_loss() == models[0].kfold_loss() <= 0.1


def test_a_sample_may_be_trained_on_repeatedly(iris):
    X, y = iris
    train = np.random.default_rng(0).choice(np.flatnonzero(np.arange(150) % 3 > 0), 100)
    test = np.arange(0, 150, 3)
    found = PartitionedECOC(BAYES, cv=[(train, test)]).fit(X, y).kfold_predict()
    alone = clone(BAYES).fit(X[np.sort(train)], y[np.sort(train)])
    np.testing.assert_array_equal(found.neg_loss[test], alone.neg_loss(X[test]))


def test_folds_of_all_sorts(iris):
    X, y = iris
    model = ECOCClassifier("naive-bayes")
    balanced = PartitionedECOC(model, 5, random_state=0).fit(X, y)
    for fold in range(5):
        assert [np.sum(y[balanced.fold_of_ == fold] == name) for name in NAMES] == [10, 10, 10]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        left = PartitionedECOC(model, cv=LeaveOneOut()).fit(X, y)
    np.testing.assert_array_equal(left.fold_of_, np.arange(150))
    splitter = StratifiedKFold(3, shuffle=True, random_state=2)
    by_splitter = PartitionedECOC(model, cv=splitter).fit(X, y)
    by_array = PartitionedECOC(model, cv=by_splitter.fold_of_).fit(X, y)
    np.testing.assert_array_equal(by_splitter.fold_of_[next(splitter.split(X, y))[1]], 0)
    np.testing.assert_array_equal(by_array.kfold_predict().neg_loss, by_splitter.kfold_predict().neg_loss)
    once = PartitionedECOC(model, cv=ShuffleSplit(1, test_size=0.3, random_state=0)).fit(X, y)
    assert np.sum(once.fold_of_ == 0) == 45


@pytest.mark.parametrize("splitter", [OptiSplit, RandomSplit])
def test_the_studys_own_splitters(iris, splitter):
    X, y = iris
    own = PartitionedECOC(ECOCClassifier("naive-bayes"), cv=splitter(4, random_state=0)).fit(X, y)
    indicators = (y[:, None] == NAMES).astype(int)
    np.testing.assert_array_equal(own.fold_of_, splitter(4, random_state=0).assign(indicators))


def test_losses_margins_and_edges(iris):
    X, y = iris
    weights = np.random.default_rng(0).uniform(0.5, 2, size=150)
    model = PartitionedECOC(ECOCClassifier("naive-bayes"), 5, random_state=1).fit(X, y, weights)
    found = model.kfold_predict()
    wrong = found.labels != y
    assert wrong.any()
    assert model.kfold_loss() == pytest.approx(np.average(wrong, weights=weights))
    by_fold = model.kfold_loss(per_fold=True)
    folds = [model.fold_of_ == fold for fold in range(5)]
    np.testing.assert_allclose(by_fold, [np.average(wrong[f], weights=weights[f]) for f in folds])
    true = (y[:, None] == NAMES).argmax(axis=1)
    margin = [row[k] - max(np.delete(row, k)) for row, k in zip(found.neg_loss, true, strict=True)]
    np.testing.assert_allclose(model.kfold_margin(), margin, atol=1e-15)
    assert model.kfold_edge() == pytest.approx(np.average(margin, weights=weights))
    based = model.kfold_predict("hamming", "lossbased").labels != y
    assert model.kfold_loss(binary_loss="hamming", decoding="lossbased") == pytest.approx(
        np.average(based, weights=weights)
    )
    asked = {"binary_loss": "hamming", "decoding": "lossbased"}
    assert model.kfold_edge(**asked) != model.kfold_edge()
    assert (model.kfold_margin(**asked) != model.kfold_margin()).any()


def test_samples_of_weight_0_are_not_trained_on_and_do_not_count(iris):
    X, y = iris
    folds = np.arange(150) % 5
    weights = (np.arange(150) % 4 > 0).astype(float)
    odd = np.where(weights == 0, "virginica", y)
    a, b = (PartitionedECOC(ECOCClassifier("naive-bayes"), cv=folds).fit(X, labels, weights) for labels in (y, odd))
    np.testing.assert_array_equal(a.kfold_predict().neg_loss, b.kfold_predict().neg_loss)
    assert a.kfold_loss() == b.kfold_loss() and a.kfold_edge() == b.kfold_edge()
    assert np.isnan(a.kfold_margin()[weights == 0]).all()
    np.testing.assert_array_equal(a.kfold_loss(per_fold=True), b.kfold_loss(per_fold=True))


@pytest.mark.parametrize("coding", ["onevsone", "onevsall", "ternarycomplete"])
def test_a_class_that_a_fold_does_not_train_on(iris, coding):
    X, y = iris
    keep = (y != "virginica") | (np.cumsum(y == "virginica") <= 4)
    X, y = X[keep], y[keep]
    folds = np.where(y == "virginica", 1, np.arange(len(y)) % 3)
    model = PartitionedECOC(clone(BAYES).set_params(coding=coding), cv=folds, random_state=0)
    with pytest.warns(UserWarning, match=MISSING) as caught:
        model.fit(X, y)
    message = str(caught[0].message)
    assert "the training part of fold 1 lacks class virginica" in message
    assert "the test part of fold 0 lacks class virginica" in message and "setosa" not in message
    assert caught[0].filename == __file__
    found = model.kfold_predict()
    without = folds == 1
    assert np.isnan(found.neg_loss[without, 2]).all() and np.isfinite(found.neg_loss[without, :2]).all()
    assert np.isfinite(found.neg_loss[~without]).all()
    assert "virginica" not in found.labels[without]
    assert (found.posterior[without, 2] == 0).all()
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1, rtol=1e-12)
    absent = [each is None for each in model.models_[1].estimators_]
    M = model.models_[1].coding_matrix_[:2]
    assert absent == [not {-1, 1} <= set(column) for column in M.T] and any(absent)
    np.testing.assert_array_equal(np.isnan(found.pb_score), np.outer(without, absent))
    # A class missing from training is an error for each of its samples and has no margin.
    assert (found.labels[y == "virginica"] != "virginica").all()
    assert np.isnan(model.kfold_margin()[y == "virginica"]).all()
    assert np.isfinite(model.kfold_margin()[y != "virginica"]).all() and np.isfinite(model.kfold_edge())
    assert model.kfold_loss() >= 4 / len(y)


def test_a_class_with_fewer_members_than_folds_warns_once_and_ours(iris):
    X, y = iris
    keep = (y != "virginica") | (np.cumsum(y == "virginica") <= 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PartitionedECOC(ECOCClassifier("naive-bayes"), 3, random_state=0).fit(X[keep], y[keep])
    assert len(caught) == 1 and str(caught[0].message).startswith(MISSING)
    assert "training" not in str(caught[0].message) and str(caught[0].message).count("test part") == 1


def test_the_same_bytes_for_any_number_of_jobs(iris):
    X, y = iris
    estimator = ECOCClassifier(GentleBoost(3), coding="sparserandom", fit_posterior=True, n_jobs=2)
    models = [PartitionedECOC(estimator, 3, random_state=5, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert [model.models_[0].n_jobs for model in models] == [2, 1]
    for a, b in zip(*(model.kfold_predict() for model in models), strict=True):
        assert (a is b is None) or a.tobytes() == b.tobytes()
    np.testing.assert_array_equal(models[0].fold_of_, models[1].fold_of_)


def test_seeds(iris, untouched_chance):
    def fold_of(seed, own=None):
        model = PartitionedECOC(clone(BAYES).set_params(random_state=own), 3, random_state=seed).fit(*iris)
        return model.fold_of_, [each.random_state for each in model.models_]

    (a, seeds), (b, again), (c, _) = fold_of(1), fold_of(1), fold_of(2)
    assert (a == b).all() and (a != c).any()
    assert seeds == again and len(set(seeds)) == 3
    assert set(fold_of(1, own=4)[1]).isdisjoint(seeds)  # the estimator's seed has an effect
    state = np.random.RandomState(4)
    assert fold_of(1, own=state)[1] == fold_of(1, own=state)[1]
    assert (fold_of(None)[0] != fold_of(None)[0]).any()


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"estimator": make_learner("svm")}, ModelError, "estimator: found a SVC. Give an ECOCClassifier"),
        ({"n_splits": 1}, SplitError, "n_splits: found 1. Give a whole number from 2 to 150"),
        ({"n_splits": 2.5}, SplitError, "n_splits: found 2.5"),
        ({"n_splits": 151}, SplitError, "n_splits: found 151"),
        ({"n_splits": 51}, SplitError, "cannot split the data: n_splits=51 cannot be greater than .*Use fewer folds"),
        ({"cv": "five"}, SplitError, "cv: found 'five'. Give a splitter"),
        ({"cv": 5}, SplitError, r"cv: found 5. Give a splitter with split\(X, y\), the test folds of the 150 samples"),
        ({"cv": np.zeros(150)}, SplitError, "cv contains values of type float64: fold numbers are integers"),
        ({"cv": np.arange(150) % 2 * 2}, SplitError, "cv has no sample in fold 1: number the folds from 0"),
        ({"cv": np.zeros(150, int)}, SplitError, "cv has all samples in fold 0, which leaves none to train on"),
        ({"cv": []}, SplitError, r"cv has shape \(0,\): give one fold number for each of the 150 samples"),
        ({"cv": [(np.arange(9),)]}, SplitError, "fold 0: expected a pair of training and test samples, found tuple"),
        ({"cv": KFold}, SplitError, "KFold is a class: pass an instance"),
        ({"cv": OptiSplit}, SplitError, "OptiSplit is a class: pass an instance"),
        ({"cv": np.full(150, -1)}, SplitError, "cv has no sample in fold 0"),
        ({"cv": ShuffleSplit(3, random_state=0)}, SplitError, r"sample \d+ is in the test parts of folds 0 and"),
        ({"cv": StratifiedKFold(60)}, SplitError, "cannot split the data: n_splits=60"),
        ({"random_state": "a"}, ModelError, "random_state: found 'a'"),
    ],
)
@pytest.mark.filterwarnings("ignore:One or more folds")
def test_bad_input(iris, change, error, sentence):
    parameters = {"estimator": ECOCClassifier("naive-bayes", coding="onevsone"), **change}
    with pytest.raises(error, match=sentence):
        PartitionedECOC(**parameters).fit(*iris)


class Leak:
    """Splitter with overlapping training and test parts."""

    def split(self, X, y):
        yield np.arange(150), np.arange(10)


def test_a_splitter_that_leaks_is_refused(iris):
    with pytest.raises(SplitError, match="sample 0 is in the training and the test part of fold 0"):
        PartitionedECOC(BAYES, cv=Leak()).fit(*iris)


@pytest.mark.filterwarnings("ignore:One or more folds")
def test_errors_name_the_fold(iris):
    X, y = iris
    with pytest.raises(ModelError, match=r"fold 0: learner 0 \(class setosa against versicolor\) cannot be fitted"):
        PartitionedECOC(ECOCClassifier(make_learner("knn", n_neighbors=99)), 5, random_state=0).fit(X, y)
    two = y != "virginica"
    folds = np.where(y[two] == "setosa", 0, 1)
    with pytest.raises(ModelError, match="fold 0: y: no learner has samples of both"):
        PartitionedECOC(BAYES, cv=folds).fit(X[two], y[two])


def test_unknown_losses_later(bayes):
    with pytest.raises(ModelError, match="unknown binary loss 'hing'"):
        bayes.kfold_predict("hing")
    with pytest.raises(ModelError, match="unknown posterior_method 'ml'"):
        bayes.kfold_predict(posterior_method="ml")


def test_verbose_shows_progress(iris, capsys):
    PartitionedECOC(ECOCClassifier("naive-bayes"), 2, verbose=10).fit(*iris)
    shown = capsys.readouterr()
    assert "Done" in shown.out + shown.err


def test_the_page_s_update_is_reached(iris):
    model = PartitionedECOC(clone(BAYES).set_params(coding="onevsall"), 3, random_state=0).fit(*iris)
    page = model.kfold_predict(update="page").posterior
    for fold, (each, scores) in enumerate(zip(model.models_, model._scores, strict=True)):
        expected = kl_posterior(each.coding_matrix_, scores, each.weights_, update="page")
        np.testing.assert_array_equal(page[model.fold_of_ == fold], expected)
    assert np.abs(page - model.kfold_predict().posterior).max() > 1e-4
    own = clone(BAYES).set_params(coding="onevsall", update="page")
    np.testing.assert_array_equal(PartitionedECOC(own, 3, random_state=0).fit(*iris).kfold_predict().posterior, page)
    with pytest.raises(ModelError, match="unknown update 'pages'"):
        model.kfold_predict(update="pages")


def test_samples_that_are_never_tested_have_no_label(iris, capsys):
    held = PartitionedECOC(ECOCClassifier("naive-bayes"), cv=HOLDOUT, random_state=0).fit(*iris)
    found = held.kfold_predict(verbose=1).labels
    assert capsys.readouterr().out == "fold 0: predicted 30 samples\n"
    np.testing.assert_array_equal(found == None, held.fold_of_ < 0)  # noqa: E711 - elementwise
    assert np.mean(found[held.fold_of_ == 0] == iris[1][held.fold_of_ == 0]) > 0.8


def test_a_fold_without_weight_has_no_loss(iris):
    X, y = iris
    fold_of = np.arange(len(y)) % 3
    folds = PartitionedECOC(ECOCClassifier("naive-bayes"), cv=fold_of, random_state=0)
    folds.fit(X, y, sample_weight=np.where(fold_of == 2, 0.0, 1.0))
    losses = folds.kfold_loss(per_fold=True)
    assert np.isnan(losses[2]) and (losses[:2] < 0.2).all() and folds.kfold_loss() < 0.2


@pytest.mark.parametrize("option", [{"update": "foo"}, {"posterior_method": "foo"}])
def test_unknown_options_are_refused_without_posteriors_too(iris, option):
    folds = PartitionedECOC(ECOCClassifier("naive-bayes"), 3, random_state=0).fit(*iris)
    with pytest.raises(ModelError, match="unknown"):
        folds.kfold_predict(**option)


def test_classes_that_are_missing_are_one_sentence(iris):
    X, y = iris
    for missing in (None, pd.NA):
        with pytest.raises(ModelError, match=r"y: 1 samples have no class .* Leave these samples out"):
            ECOCClassifier("naive-bayes").fit(X, np.array([missing, *y[1:]], dtype=object))


def test_threads_predict_the_same(iris, bayes):
    for one, two in zip(bayes.kfold_predict(), bayes.kfold_predict(n_jobs=2), strict=True):
        np.testing.assert_array_equal(one, two)
