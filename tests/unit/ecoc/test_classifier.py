"""ECOCClassifier: learners by column, decoding, posteriors, classes of all types, weights and bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from fairfold.ecoc import ECOCClassifier, PartitionedECOC, kl_posterior, make_coding, neg_loss, qp_posterior
from fairfold.ecoc.classifier import PosteriorError, choose
from fairfold.ecoc.learners import TEMPLATES, GentleBoost, PlattScaling, make_learner
from fairfold.errors import ModelError

NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def six():
    return make_classification(
        240, 6, n_informative=6, n_redundant=0, n_classes=6, n_clusters_per_class=1, random_state=0
    )


def test_scikit_learns_checks():
    check_estimator(ECOCClassifier(), on_skip=None)


@pytest.mark.filterwarnings("ignore:Solver terminated early")  # some checks have features of wild scales
def test_scikit_learns_checks_with_posteriors():
    few = "a sigmoid is fitted to left-out samples, and there a repeated sample is not a weight"
    other = "the class of the smallest loss need not be the most probable one, as in MATLAB"
    failing = {
        "check_sample_weight_equivalence_on_dense_data": few,
        "check_sample_weight_equivalence_on_sparse_data": few,
        "check_classifiers_train": other,
    }
    model = ECOCClassifier(make_learner("svm", tol=1e-6), fit_posterior=True, random_state=0)
    check_estimator(model, expected_failed_checks=failing, on_skip=None)


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("fit_posterior", [False, True])
def test_every_template_learns_iris(iris, name, fit_posterior):
    X, y = iris
    model = ECOCClassifier(make_learner(name, standardize=True), fit_posterior=fit_posterior, random_state=0)
    model.fit(X, NAMES[y])
    assert model.score(X, NAMES[y]) > 0.93
    assert (model.classes_ == NAMES).all() and len(model.estimators_) == 3
    assert hasattr(model, "predict_proba") == fit_posterior
    if fit_posterior:
        P = model.predict_proba(X)
        # Sums of three numbers.
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
        assert np.mean(P.argmax(axis=1) == y) > 0.93
        scores = model.binary_scores(X)
        assert scores.min() >= 0 and scores.max() <= 1


@pytest.mark.parametrize("seed", range(3))
def test_one_vs_all_with_hinge_is_one_vs_rest(seed):
    X, y = make_classification(
        150, 4, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=seed
    )
    svm = make_learner("svm")
    ours = ECOCClassifier(svm, coding="onevsall", binary_loss="hinge", decoding="lossbased").fit(X, y)
    theirs = OneVsRestClassifier(svm).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    # Both fit the same learners, so equal labels are no coincidence.
    np.testing.assert_allclose(ours.binary_scores(X), theirs.decision_function(X), rtol=1e-12)


def test_learners_see_their_classes_only(six):
    X, y = six
    M = make_coding("sparserandom", 6, random_state=1)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = ECOCClassifier(GaussianNB(), coding=M).fit(X, y, weights)
    for j, column in enumerate(M.T):
        rows = column[y] != 0
        alone = GaussianNB().fit(X[rows], column[y[rows]], weights[rows])
        np.testing.assert_allclose(model.binary_scores(X)[:, j], alone.predict_proba(X)[:, 1], rtol=1e-12)
        assert model.weights_[j] == pytest.approx(weights[rows].sum())
    np.testing.assert_array_equal(model.coding_matrix_, M)


def test_decoding_is_that_of_its_parameters(six):
    X, y = six
    for parameters in ({}, {"binary_loss": "logit", "decoding": "lossbased"}):
        model = ECOCClassifier("svm", **parameters).fit(X, y)
        expected = neg_loss(
            model.coding_matrix_, model.binary_scores(X), parameters.get("binary_loss", "hinge"),
            parameters.get("decoding", "lossweighted"),
        )  # fmt: skip
        np.testing.assert_array_equal(model.neg_loss(X), expected)
        np.testing.assert_array_equal(model.decision_function(X), expected)
        np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))


def test_posteriors_are_those_of_their_parameters(six):
    X, y = six
    weights = np.where(y == 0, 3.0, 1.0)
    model = ECOCClassifier("naive-bayes", fit_posterior=True, random_state=0).fit(X, y, weights)
    M, r = model.coding_matrix_, model.binary_scores(X)
    np.testing.assert_array_equal(model.predict_proba(X), kl_posterior(M, r, model.weights_))
    model.set_params(posterior_method="qp")
    np.testing.assert_array_equal(model.predict_proba(X), qp_posterior(M, r))
    random = model.posteriors(r, posterior_method="kl", num_kl_initializations=2)
    # The divergence of pairs has one minimum, found to within 1e-9 from any start.
    np.testing.assert_allclose(random, kl_posterior(M, r, model.weights_), atol=1e-3)
    np.testing.assert_array_equal(random, model.posteriors(r, posterior_method="kl", num_kl_initializations=2))


@pytest.mark.parametrize(
    ("learner", "fit_posterior", "loss"),
    [
        ("svm", False, "hinge"),
        ("svm", True, "quadratic"),
        ("tree", False, "quadratic"),
        ("gentleboost", False, "exponential"),
        ("logitboost", False, "binodeviance"),
        (["svm", "tree", "knn"], False, "hamming"),
        (["svm", "tree", "knn"], True, "quadratic"),
    ],
)
def test_default_losses(iris, learner, fit_posterior, loss):
    X, y = iris
    model = ECOCClassifier(learner, fit_posterior=fit_posterior, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.neg_loss(X), model.decode(model.binary_scores(X), binary_loss=loss))
    assert model.score(X, y) > 0.9


def test_losses_that_differ_by_rounding_are_ties():
    losses = np.array([[-0.1 - 0.2, -0.3, np.nan], [np.nan, -0.3, -0.1 - 0.2], [-0.1 - 0.2, -0.3, -0.2]])
    assert losses[0, 0] < losses[0, 1]
    assert choose(losses).tolist() == [0, 1, 2]


def test_a_custom_loss(iris):
    X, y = iris

    def median(M, s):
        return np.nanmedian((1 - M * s) / 2, axis=1)

    model = ECOCClassifier(make_learner("svm", standardize=True), binary_loss=median).fit(X, y)
    M = np.where(model.coding_matrix_ == 0, np.nan, model.coding_matrix_)
    expected = [-median(M, s) for s in model.binary_scores(X)]
    np.testing.assert_allclose(model.neg_loss(X), expected)


def test_classes_of_all_sorts(iris):
    X, y = iris
    sizes = np.array(["small", "middle", "large"])[y]
    number = ECOCClassifier("naive-bayes", coding="ordinal").fit(X, y * 2.0)
    assert number.predict(X).dtype == float and set(number.classes_) == {0, 2, 4}
    ordered = pd.Series(pd.Categorical(sizes, categories=["none", "small", "middle", "large"], ordered=True))
    for labels, order in ((ordered, None), (ordered.array, None), (sizes, ["small", "middle", "large"])):
        model = ECOCClassifier("naive-bayes", coding="ordinal", class_order=order).fit(X, labels)
        assert list(model.classes_) == ["small", "middle", "large"]
        assert model.classes_[0] == model.predict(X[:1])[0] == "small"
        np.testing.assert_array_equal(model.binary_scores(X), number.binary_scores(X))
    assert list(ECOCClassifier("naive-bayes", coding="ordinal").fit(X, sizes).classes_) == ["large", "middle", "small"]


def test_an_order_of_classes_that_is_not_its_own_inverse(iris):
    X, y = iris
    model = ECOCClassifier("naive-bayes", class_order=["virginica", "setosa", "versicolor"]).fit(X, NAMES[y])
    assert list(model.classes_) == ["virginica", "setosa", "versicolor"]
    assert model.score(X, NAMES[y]) > 0.9
    # Column 0 separates virginica from setosa.
    assert (model.binary_scores(X[y == 2])[:, 0] > 0.5).all() and (model.binary_scores(X[y == 0])[:, 0] < 0.5).all()


def test_a_sample_of_weight_0_is_left_out(iris):
    X, y = iris
    weights = np.arange(150) % 3 > 0
    model = ECOCClassifier("discriminant")  # does not accept weights
    left_out = clone(model).fit(X, y, weights).neg_loss(X)
    np.testing.assert_array_equal(left_out, model.fit(X[weights], y[weights]).neg_loss(X))


def test_a_class_of_weight_0_is_none(iris):
    X, y = iris
    labels = pd.Categorical(NAMES[y])
    model = ECOCClassifier("naive-bayes").fit(X, labels, sample_weight=y)
    assert list(model.classes_) == ["versicolor", "virginica"]
    np.testing.assert_array_equal(model.predict(X[y > 0]), ECOCClassifier("naive-bayes").fit(
        X[y > 0], NAMES[y[y > 0]], sample_weight=y[y > 0]).predict(X[y > 0]))  # fmt: skip


def test_two_classes(iris):
    X, y = iris[0][iris[1] > 0], iris[1][iris[1] > 0]
    model = ECOCClassifier("naive-bayes", fit_posterior=True).fit(X, y)
    assert model.decision_function(X).shape == (100,)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(model.decision_function(X) > 0).astype(int)])
    # The only learner's positive class is the first class. Its output is the posterior, up to the tolerance.
    np.testing.assert_allclose(model.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X), atol=1e-4)


def test_sparse_features_and_missing_values(six):
    X, y = scale(six[0]), six[1]
    thin = np.where(np.abs(X) < 0.7, 0, X)
    model = ECOCClassifier("svm")
    dense, csr = (clone(model).fit(A, y).neg_loss(A) for A in (thin, sparse.csr_array(thin)))
    # libsvm sums the products of sparse rows in another order and stops within its tolerance of 1e-9.
    np.testing.assert_allclose(csr, dense, atol=1e-7)
    holes = np.where(np.arange(X.size).reshape(X.shape) % 11 == 0, np.nan, X)
    assert ECOCClassifier(GentleBoost(10), random_state=0).fit(holes, y).score(holes, y) > 0.9
    with pytest.raises(ModelError, match=r"Input X contains NaN\. X must be a matrix"):
        ECOCClassifier("svm").fit(holes, y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        ECOCClassifier("naive-bayes").fit(sparse.csr_array(X), y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        ECOCClassifier(make_learner("svm", standardize=True)).fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("learner", ["svm", "discriminant"])
def test_the_same_bytes_for_any_number_of_jobs(iris, learner):
    X, y = iris
    learner = make_learner(learner, standardize=True)
    model = ECOCClassifier(learner, coding="sparserandom", fit_posterior=True, random_state=4)
    one, two, other = (
        clone(model).set_params(n_jobs=jobs, random_state=seed).fit(X, y) for jobs, seed in ((1, 4), (2, 4), (1, 5))
    )
    assert one.binary_scores(X).tobytes() == two.binary_scores(X).tobytes()
    assert one.predict_proba(X).tobytes() == two.predict_proba(X).tobytes()
    assert not np.array_equal(one.coding_matrix_, other.coding_matrix_)
    assert pickle.loads(pickle.dumps(one)).neg_loss(X).tobytes() == one.neg_loss(X).tobytes()


def test_seeds_of_learners(iris, untouched_chance):
    X, y = iris
    model = ECOCClassifier(RandomForestClassifier(3), random_state=1).fit(X, y)
    seeds = [each.random_state for each in model.estimators_]
    assert len(set(seeds)) == 3
    assert seeds == [each.random_state for each in clone(model).fit(X, y).estimators_]
    fixed = ECOCClassifier(RandomForestClassifier(3, random_state=7), random_state=1).fit(X, y)
    assert {each.random_state for each in fixed.estimators_} == {7}
    free = [ECOCClassifier(RandomForestClassifier(3)).fit(X, y).estimators_[0].random_state for _ in range(2)]
    assert free[0] != free[1]


def test_sigmoids_where_there_are_no_probabilities(iris):
    X, y = iris
    learners = ["svm", DecisionTreeClassifier(max_depth=2), "logitboost"]
    model = ECOCClassifier(learners, fit_posterior=True, random_state=0).fit(X, y)
    assert [isinstance(each, PlattScaling) for each in model.estimators_] == [True, False, True]
    np.testing.assert_array_equal(model.binary_scores(X)[:, 1], model.estimators_[1].predict_proba(X)[:, 1])


def test_a_learner_that_needs_more_samples(six):
    X, y = six
    keep = np.flatnonzero((y != 2) | (np.cumsum(y == 2) <= 1))
    X, y = X[keep], np.array(list("abcdef"))[y[keep]]
    with pytest.raises(
        ModelError, match=r"learner 1 \(class a against c\) cannot be fitted to .. against 1 samples: y: class"
    ):
        ECOCClassifier("svm", fit_posterior=True).fit(X, y)
    with pytest.raises(ModelError, match=r"cannot be fitted to .* n_neighbors <= n_samples_fit"):
        ECOCClassifier(make_learner("knn", n_neighbors=50)).fit(X, y)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"learner": "svn"},
            r"learner: unknown name 'svn'\. Use svm, tree, gentleboost, .*, linear or a classifier\.$",
        ),
        ({"learner": 5}, "learner: found 5. Give the name of a template or a scikit-learn classifier"),
        ({"learner": SVC}, "Give the name of a template or a scikit-learn classifier"),
        ({"learner": ["svm", "tree"]}, "found 2 learners for 3 columns"),
        ({"learner": []}, "found 0 learners for 3 columns"),
        ({"coding": "onevstwo"}, "unknown coding design 'onevstwo'"),
        ({"coding": [[1], [-1]]}, "found 2 rows for 3 classes"),
        ({"coding": [[1, 1], [-1, 1], [0, 1]]}, "coding, column 1: 1 or -1 is missing"),
        ({"binary_loss": "hinges"}, "unknown binary loss 'hinges': .*Losses: hamming, linear"),
        ({"binary_loss": "quadratic"}, "'quadratic' needs probabilities, but learners have scores of the kind margin"),
        ({"binary_loss": "hinge", "learner": "tree"}, "'hinge' needs scores on the real line, but learners give prob"),
        ({"binary_loss": "hinge", "fit_posterior": True}, "'hinge' needs scores on the real line"),
        ({"decoding": "weighted"}, "unknown decoding 'weighted'"),
        ({"posterior_method": "ml"}, "unknown posterior_method 'ml': known are kl, qp"),
        ({"class_order": [0, 1]}, r"class_order: found \[0, 1\], but y has \[0, 1, 2\]"),
        ({"class_order": [0, 1, 2, 3]}, r"class_order: found \[0, 1, 2, 3\]"),
        ({"class_order": [0, 1, 2, 2]}, r"class_order: found \[0, 1, 2, 2\]"),
        ({"random_state": 1.5}, "random_state: found 1.5"),
    ],
)
def test_bad_parameters(iris, change, sentence):
    with pytest.raises(ModelError, match=sentence):
        ECOCClassifier(**change).fit(*iris)


@pytest.mark.parametrize("form", [lambda y: y.astype(object), list, lambda y: y.astype(np.float32), pd.Series])
def test_classes_in_any_form_are_the_same(iris, form):
    X, y = iris
    expected = ECOCClassifier("naive-bayes").fit(X, y).predict(X)
    np.testing.assert_array_equal(ECOCClassifier("naive-bayes").fit(X, form(y)).predict(X), expected)


@pytest.mark.parametrize("make", [lambda: "discriminant", lambda: make_learner("discriminant", standardize=True)])
def test_a_discriminant_of_features_that_do_not_vary_is_one_sentence(iris, make):
    X, y = iris
    X = np.where((y == 2)[:, np.newaxis], X, [1.0, 2, 3, 4])
    sentence = "class 0 against 1.: no feature varies within its two sides, so the covariance matrix has rank 0"
    with pytest.raises(ModelError, match=sentence):
        ECOCClassifier(make()).fit(X, y)


def test_bad_data(iris):
    X, y = iris
    model = ECOCClassifier("naive-bayes")
    with pytest.raises(ModelError, match=r"y: found 1 class with positive weight\. Give samples of at least two"):
        model.fit(X[y == 2], y[y == 2])
    with pytest.raises(ModelError, match="y: found 1 class"):
        model.fit(X, y, sample_weight=y == 1)
    with pytest.raises(ModelError, match="Negative values in data passed to sample_weight"):
        model.fit(X, y, sample_weight=np.full(len(y), -1.0))
    with pytest.raises(ModelError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    without = "y: 50 samples have no class .NaN, None or masked.. Leave these samples out"
    for labels in (
        np.where(y == 0, np.nan, y),
        np.ma.masked_array(y, y == 0),
        pd.Series(y, dtype="Int64").mask(y == 0),
    ):
        with pytest.raises(ModelError, match=without):
            model.fit(X, labels)
    with pytest.raises(ModelError, match=r"y: rows differ in length\. Give one class per sample\."):
        model.fit(X, [[1], [1, 2]] * 75)
    with pytest.raises(ModelError, match=without):
        model.fit(X, np.array([1, "a", None], dtype=object)[y])
    with pytest.raises(ModelError, match="does not support weights"):
        ECOCClassifier("discriminant").fit(X, y, sample_weight=1 + y)
    model.fit(X, y)
    with pytest.raises(ModelError, match="X has 3 features, but ECOCClassifier is expecting 4"):
        model.predict(X[:, :3])


def test_posteriors_that_were_not_fitted(iris):
    X, y = iris
    model = ECOCClassifier("tree").fit(X, y)
    sentence = "this ECOC model was fitted without posteriors. Fit it with fit_posterior=True"
    with pytest.raises(PosteriorError, match=sentence):
        model.predict_proba(X)
    with pytest.raises(ModelError, match=sentence):
        model.posteriors(model.binary_scores(X))
    assert not hasattr(model, "predict_proba")
    svm = ECOCClassifier("svm").fit(X, y).set_params(fit_posterior=True)
    with pytest.raises(PosteriorError, match=sentence):
        svm.predict_proba(X)
    with pytest.raises(NotFittedError):
        ECOCClassifier(fit_posterior=True).predict_proba(X)


def test_losses_asked_later_are_checked(iris):
    X, y = iris
    model = ECOCClassifier("svm").fit(X, y)
    scores = model.binary_scores(X)
    with pytest.raises(ModelError, match="'quadratic' needs probabilities"):
        model.decode(scores, binary_loss="quadratic")
    with pytest.raises(ModelError, match="unknown decoding 'best'"):
        model.decode(scores, decoding="best")


class Recorder(ClassifierMixin, BaseEstimator):
    """Classifier that supports neither sample weights nor scores."""

    def fit(self, X, y):
        return self


def test_a_learner_without_scores(iris):
    with pytest.raises(ModelError, match="learner: Recorder has no scores"):
        ECOCClassifier(Recorder()).fit(*iris)


def test_verbose_shows_progress(iris, capsys):
    ECOCClassifier("naive-bayes", verbose=10).fit(*iris)
    shown = capsys.readouterr()
    assert "Done" in shown.out + shown.err
    ECOCClassifier("naive-bayes").fit(*iris)
    shown = capsys.readouterr()
    assert shown.out + shown.err == ""


@pytest.mark.parametrize("name", ["gentleboost", "logitboost", "adaboost"])
def test_scores_of_boosted_trees_are_calibrated(name):
    """Boosted trees that fit their training data are certain, also of labels that are wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.where(rng.random(150) < 0.5, rng.integers(3, size=150), (X[:, 0] > 0) + (X[:, 1] > 0))
    model = PartitionedECOC(ECOCClassifier(make_learner(name, n_estimators=30), fit_posterior=True), 3, random_state=0)
    found = model.fit(X, y).kfold_predict()
    raw = np.zeros(found.posterior.shape)
    for fold, each in enumerate(model.models_):
        test = model.fold_of_ == fold
        assert all(isinstance(learner, PlattScaling) for learner in each.estimators_)
        r = [learner.estimator_.predict_proba(X[test])[:, 1] for learner in each.estimators_]
        raw[test] = kl_posterior(each.coding_matrix_, np.column_stack(r), each.weights_)
    assert log_loss(y, found.posterior) < np.log(3) and log_loss(y, found.posterior) < log_loss(y, raw)
