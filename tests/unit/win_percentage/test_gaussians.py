import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid

from fairfold.errors import ModelError
from fairfold.win_percentage.gaussians import GAUSSIAN_CLASSIFIERS, GaussianBayes, gaussian_classifiers


def data(n_classes=2, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), 30)
    mixing = rng.normal(size=(n_classes, n_features, n_features))
    X = np.einsum("nf,nfg->ng", rng.normal(size=(len(y), n_features)), mixing[y]) + 0.7 * y[:, None]
    return X, y, rng.normal(size=(400, n_features)) * 2


def test_names_and_order_are_the_papers():
    assert list(GAUSSIAN_CLASSIFIERS) == ["NC", "DLDA", "LDA", "SDA", "UDA", "QDA"]
    assert [kind.pooled for kind in GAUSSIAN_CLASSIFIERS.values()] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_those_that_scikit_learn_has(n_classes, n_features):
    """Equal priors and, where scikit-learn divides by n, the unbiased variance put in."""
    X, y, new = data(n_classes, n_features)
    priors = np.full(n_classes, 1 / n_classes)
    peers = {
        "NC": NearestCentroid(),
        "LDA": LinearDiscriminantAnalysis(priors=priors),
        "QDA": QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True),
        "UDA": GaussianNB(priors=priors, var_smoothing=0),
    }
    ours = gaussian_classifiers()
    for name, peer in peers.items():
        peer.fit(X, y)
        if name == "UDA":
            peer.var_ *= 30 / 29
        if name == "QDA":
            divided_by_n = np.trace(peer.covariance_[0]) < 29.5 / 30 * np.trace(np.atleast_2d(np.cov(X[:30].T)))
            peer.scalings_ = [scaling * (30 / 29 if divided_by_n else 1) for scaling in peer.scalings_]
        np.testing.assert_array_equal(ours[name].fit(X, y).predict(new), peer.predict(new), err_msg=name)


def test_the_others_by_their_formulas():
    X, y, new = data(2, 3)
    groups = [X[y == k] for k in (0, 1)]
    means = [group.mean(axis=0) for group in groups]
    variances = [group.var(axis=0, ddof=1) for group in groups]
    pooled = (29 * variances[0] + 29 * variances[1]) / 58
    distance = [((new - mean) ** 2 / pooled).sum(axis=1) for mean in means]
    found = gaussian_classifiers(["DLDA"])["DLDA"].fit(X, y).decision_function(new)
    np.testing.assert_allclose(found, (distance[0] - distance[1]) / 2, rtol=1e-6, atol=1e-8)
    spheres = [variance.mean() for variance in variances]
    density = [
        -((new - mean) ** 2).sum(axis=1) / (2 * sphere) - 1.5 * np.log(sphere)
        for mean, sphere in zip(means, spheres, strict=True)
    ]
    found = gaussian_classifiers(["SDA"])["SDA"].fit(X, y).decision_function(new)
    np.testing.assert_allclose(found, density[1] - density[0], rtol=1e-6, atol=1e-7)


def test_singular_covariances_are_no_error():
    X, y, new = data(2, 2)
    X, new = X[:, [0, 0]], new[:, [0, 0]]
    for name, model in gaussian_classifiers().items():
        predictions = model.fit(X, y).predict(new)
        assert 0 < predictions.mean() < 1, name
    perfect = np.column_stack((y, np.zeros(60)))
    assert all((model.fit(perfect, y).predict(perfect) == y).all() for model in gaussian_classifiers().values())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gaussian_classifiers(["LDB"]), "unknown Gaussian classifier 'LDB': did you mean"),
        (lambda: GaussianBayes("round").fit(*data()[:2]), "covariance is 'round': give"),
        (lambda: GaussianBayes().fit(np.eye(3), [0, 0, 1]), "1 samples in the smallest"),
        (lambda: GaussianBayes().fit(np.eye(3), [0, 0, 0]), "1 classes with 3 samples"),
    ],
)
def test_mistakes_are_told(make, message):
    with pytest.raises(ModelError, match=message):
        make()
