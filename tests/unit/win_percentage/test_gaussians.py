"""Test the six Gaussian classifiers against scikit-learn, and the kurtosis screening."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import check_estimator

from fairfold.errors import DataError, ModelError
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, GaussianBayes, gaussian_features, make_gaussian


def samples(n_classes=3, size=25, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), size)
    spread = rng.uniform(0.5, 2, size=(n_classes, n_features))
    mixing = rng.normal(size=(n_features, n_features))
    return (rng.normal(size=(len(y), n_features)) * spread[y] + rng.normal(size=(n_classes, n_features))[y]) @ mixing, y


def fitted(name, X, y):
    return make_gaussian(name).set_params(ridge=0).fit(X, y)


class Unbiased(BaseEstimator):
    def fit(self, X):
        self.covariance_ = np.atleast_2d(np.cov(X.T))
        return self


def relative(likelihoods):
    """Subtract a constant per sample from the log posteriors, which does not change the result."""
    return likelihoods - np.logaddexp.reduce(likelihoods, axis=1, keepdims=True)


def test_names_are_those_of_table_4():
    assert GAUSSIAN_CLASSIFIERS == ("NC", "DLDA", "LDA", "SDA", "UDA", "QDA")


@pytest.mark.parametrize("name", GAUSSIAN_CLASSIFIERS)
def test_scikit_learn_accepts_them(name):
    results = check_estimator(make_gaussian(name), on_skip=None)
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_nc_is_nearest_centroid(n_features):
    X, y = samples(n_features=n_features)
    assert (fitted("NC", X, y).predict(X) == NearestCentroid().fit(X, y).predict(X)).all()


@pytest.mark.parametrize("n_features", [1, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_lda_is_scikit_learns(n_classes, n_features):
    X, y = samples(n_classes, n_features=n_features)
    ours = fitted("LDA", X, y)
    # For classes of equal size, the mean of their unbiased covariances is the pooled one.
    theirs = LinearDiscriminantAnalysis(
        solver="lsqr", priors=[1 / n_classes] * n_classes, covariance_estimator=Unbiased()
    ).fit(X, y)
    expected = theirs.decision_function(X)
    if n_classes == 2:
        np.testing.assert_allclose(ours.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(relative(ours.decision_function(X)), relative(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_features", [1, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_qda_is_scikit_learns(n_classes, n_features):
    X, y = samples(n_classes, n_features=n_features)
    theirs = QuadraticDiscriminantAnalysis(priors=[1 / n_classes] * n_classes).fit(X, y)
    # Versions of scikit-learn use different divisors: set the variances to their unbiased values.
    theirs.scalings_ = [
        scaling * X[y == k].var(axis=0, ddof=1).sum() / scaling.sum() for k, scaling in enumerate(theirs.scalings_)
    ]
    ours, expected = fitted("QDA", X, y).decision_function(X), theirs.decision_function(X)
    if n_classes > 2:
        ours, expected = relative(ours), relative(expected)
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


def test_uda_is_gaussian_naive_bayes_with_unbiased_variances():
    X, y = samples()
    theirs = GaussianNB(priors=[1 / 3] * 3, var_smoothing=0).fit(X, y)
    theirs.var_ *= 25 / 24
    expected = theirs.predict_log_proba(X)
    np.testing.assert_allclose(relative(fitted("UDA", X, y).decision_function(X)), expected, rtol=1e-9, atol=1e-9)


def test_dlda_is_gaussian_naive_bayes_with_pooled_variances():
    X, y = samples()
    theirs = GaussianNB(priors=[1 / 3] * 3, var_smoothing=0).fit(X, y)
    theirs.var_[:] = theirs.var_.sum(axis=0) * 25 / (len(y) - 3)
    expected = theirs.predict_log_proba(X)
    np.testing.assert_allclose(relative(fitted("DLDA", X, y).decision_function(X)), expected, rtol=1e-9, atol=1e-9)


def test_sda_is_the_density_with_one_variance_per_class():
    X, y = samples(n_features=3)
    variances = [X[y == k].var(axis=0, ddof=1).mean() for k in range(3)]
    expected = [stats.multivariate_normal(X[y == k].mean(axis=0), variances[k]).logpdf(X) for k in range(3)]
    expected = relative(np.stack(expected, axis=1))
    np.testing.assert_allclose(relative(fitted("SDA", X, y).decision_function(X)), expected, rtol=1e-9, atol=1e-9)


def test_ridge_is_a_share_of_the_total_variance():
    X, y = samples(n_features=3)
    X /= X.std(axis=0, ddof=1)
    plain, default, ridged = (
        GaussianBayes("full", **o).fit(X, y).covariances_ for o in ({"ridge": 0}, {}, {"ridge": 0.5})
    )
    # Variances are about 1, and their sums are accurate to a few 1e-16.
    np.testing.assert_allclose(default[0] - plain[0], 1e-6 * np.eye(3), rtol=0, atol=1e-14)
    np.testing.assert_allclose(ridged[0] - plain[0], 0.5 * np.eye(3), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", GAUSSIAN_CLASSIFIERS)
def test_singular_covariance_still_classifies(name):
    X, y = samples(n_features=2)
    X = np.column_stack([X, X[:, 0], np.ones(len(X)), y])  # a copy, a constant, no variance within classes
    assert (make_gaussian(name).fit(X, y).predict(X) == y).mean() > 0.5
    perfect = np.column_stack([y, np.zeros(len(y))])
    assert (make_gaussian(name).fit(perfect, y).predict(perfect) == y).all()


@pytest.mark.parametrize("name", GAUSSIAN_CLASSIFIERS)
def test_tie_goes_to_the_first_class(name):
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["b", "b", "a", "a"])
    assert make_gaussian(name).fit(X, y).predict([[0.0]]) == ["a"]


def test_mistakes_are_named():
    X, y = samples(2)
    with pytest.raises(ModelError, match="only one class"):
        GaussianBayes().fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(ModelError, match="did you mean"):
        GaussianBayes("spherical_").fit(X, y)
    with pytest.raises(ModelError, match="one sample"):
        GaussianBayes(pooled=False).fit(X[:26], y[:26])
    with pytest.raises(ModelError, match="singular"):
        GaussianBayes(ridge=0).fit(np.column_stack([X, X[:, 0] * 0]), y)
    with pytest.raises(ModelError, match="ridge"):
        GaussianBayes(ridge=-1).fit(X, y)
    with pytest.raises(ModelError, match="NaN"):
        GaussianBayes().fit(X * np.nan, y)
    with pytest.raises(ModelError, match="3 features"):
        GaussianBayes().fit(X, y).predict(X[:, :3])
    with pytest.raises(ModelError, match="unknown classifier"):
        make_gaussian("XDA")


def test_screening_keeps_gaussian_features():
    rng = np.random.default_rng(1)
    heavy, constant = rng.standard_t(2, size=(300, 50)), np.ones((300, 1))
    X = np.column_stack([rng.normal(size=(300, 200)), heavy, constant])
    kept = gaussian_features(X, 2)
    assert (kept < 200).sum() > 180 and (kept >= 200).sum() <= 3 and 250 not in kept


def test_standard_error_of_kurtosis_matches_simulation():
    kurtosis = stats.kurtosis(np.random.default_rng(2).normal(size=(30, 20_000)), axis=0, bias=False)
    X = np.random.default_rng(2).normal(size=(30, 20_000))
    kept = np.isin(np.arange(20_000), gaussian_features(X, 1))
    # Values within one standard deviation are kept. The standard error of this deviation is about 2 %.
    assert np.abs(kurtosis[kept]).max() == pytest.approx(kurtosis.std(), rel=0.08)


@pytest.mark.parametrize(
    ("X", "multiple", "message"),
    [
        (np.eye(3), 2, "four"),
        (np.eye(5), 0, "multiple"),
        (np.full((5, 2), np.nan), 2, "finite"),
        (np.ones(5), 2, "matrix"),
        (np.array([["a"]]), 2, "number"),
    ],
)
def test_screening_names_mistakes(X, multiple, message):
    with pytest.raises(DataError, match=message):
        gaussian_features(X, multiple)
