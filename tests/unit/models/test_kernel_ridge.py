"""Kernel ridge regression equals scikit-learn's, and leave-one-out predictions equal those of refitted models."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer

from fairfold.errors import ModelError
from fairfold.models import make_model
from fairfold.models.kernel_ridge import PENALTIES, KernelRidgeClassifier, _Kernel

GAMMAS = (0.0, 1.0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * [1, 5, 0.1, 1]
    X[:, 3] = X[:, 3] > 1
    Y = np.column_stack([X[:, 0] > 0.3, X[:, 1] / 5 + rng.normal(size=90) > 0]).astype(np.int8)
    return X, Y


def kernel(A, B, gamma, of):
    """Compute the mean kernel of two scalings of the features, with the variances and mean deviations of ``of``."""
    deviations = of.std(axis=0)
    ratios = np.abs(of - of.mean(axis=0)).mean(axis=0) / deviations
    kernels = []
    for scale in (1 / deviations, ratios / deviations / np.sqrt((ratios**2).mean())):
        if gamma == 0:
            kernels.append((A * scale) @ (B * scale).T / A.shape[1])
        else:
            kernels.append(rbf_kernel(A * scale, B * scale, gamma=gamma / A.shape[1]))
    return np.mean(kernels, axis=0)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_equals_scikit_learns_on_the_centered_kernel(data, gamma):
    X, Y = data
    model = KernelRidgeClassifier(gammas=(gamma,)).fit(X[:60], Y[:60])
    K, new = (kernel(part, X[:60], gamma, X[:60]) for part in (X[:60], X[60:]))
    center = KernelCenterer().fit(K)
    K = center.transform(K)
    mean = Y[:60].mean(axis=0)
    ridge = KernelRidge(alpha=model.penalty_ * np.trace(K) / 60, kernel="precomputed").fit(K, Y[:60] - mean)
    expected = np.clip(ridge.predict(center.transform(new)) + mean, 0, 1)
    np.testing.assert_allclose(model.predict_proba(X[60:]), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_leave_one_out_equals_models_fitted_without_the_sample(data, gamma):
    X, Y = data
    X, Y = X[:40], Y[:40]
    model = KernelRidgeClassifier(gammas=(gamma,)).fit(X, Y)
    K = kernel(X, X, gamma, X)
    strength = model.penalty_ * np.trace(KernelCenterer().fit_transform(K)) / 40
    for sample in range(0, 40, 7):
        rest = np.arange(40) != sample
        center = KernelCenterer().fit(K[np.ix_(rest, rest)])
        mean = Y[rest].mean(axis=0)
        ridge = KernelRidge(alpha=strength, kernel="precomputed")
        ridge.fit(center.transform(K[np.ix_(rest, rest)]), Y[rest] - mean)
        # Values are relative to the mean labels of the other samples.
        expected = np.clip(ridge.predict(center.transform(K[[sample]][:, rest]))[0] + Y.mean(axis=0), 0, 1)
        np.testing.assert_allclose(model.out_of_fold_proba_[sample], expected, rtol=0, atol=1e-9)


def test_the_penalty_has_the_least_leave_one_out_error(data):
    X, Y = data
    model = KernelRidgeClassifier(gammas=(1.0,)).fit(X, Y)
    K = KernelCenterer().fit_transform(kernel(X, X, 1.0, X))
    errors = []
    for penalty in PENALTIES:
        H = K @ np.linalg.inv(K + penalty * np.trace(K) / 90 * np.eye(90)) + 1 / 90
        fitted = H @ Y
        errors.append((((Y - fitted) / (1 - np.diag(H))[:, None]) ** 2).mean())
    assert model.penalty_ == PENALTIES[int(np.argmin(errors))]


@pytest.mark.parametrize("gamma", GAMMAS)
def test_as_many_landmarks_as_samples_but_one_change_little(data, gamma):
    X, Y = data
    exact = KernelRidgeClassifier(gammas=(gamma,)).fit(X, Y)
    landmarks = KernelRidgeClassifier(gammas=(gamma,), max_exact=80, n_landmarks=89).fit(X, Y)
    np.testing.assert_allclose(landmarks.predict_proba(X), exact.predict_proba(X), rtol=0, atol=0.02)
    np.testing.assert_allclose(landmarks.out_of_fold_proba_, exact.out_of_fold_proba_, rtol=0, atol=0.05)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_landmarks_leave_one_out_equals_ridge_regression_on_their_features(data, gamma, monkeypatch):
    """Compare with ridge regression on features of the approximated kernel, fitted without each sample."""
    X, Y = data
    monkeypatch.setattr("fairfold.models.kernel_ridge._AT_ONCE", 32)  # several parts
    model = KernelRidgeClassifier(gammas=(gamma,), max_exact=80, n_landmarks=20).fit(X, Y)
    chosen = np.sort(np.random.default_rng(0).permutation(90)[:20])
    w, Q = np.linalg.eigh(kernel(X[chosen], X[chosen], gamma, X))
    F = kernel(X, X[chosen], gamma, X) @ (Q / np.sqrt(np.maximum(w, 1e-300)))[:, w > w[-1] * 1e-10]
    strength = model.penalty_ * ((F - F.mean(axis=0)) ** 2).sum() / 90
    ridge = Ridge(alpha=strength).fit(F, Y)
    np.testing.assert_allclose(model.predict_proba(X), np.clip(ridge.predict(F), 0, 1), rtol=0, atol=1e-7)
    for sample in (0, 17, 55):
        rest = np.arange(90) != sample
        alone = Ridge(alpha=strength).fit(F[rest], Y[rest]).predict(F[[sample]])[0]
        expected = np.clip(alone - Y[rest].mean(axis=0) + Y.mean(axis=0), 0, 1)
        np.testing.assert_allclose(model.out_of_fold_proba_[sample], expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_single_precision_for_large_data_changes_little(data, gamma, is_sparse, monkeypatch):
    X, Y = data
    X = sparse.csr_array(X) if is_sparse else X
    monkeypatch.setattr("fairfold.models.kernel_ridge._AT_ONCE", 32)  # several parts
    settings = {"gammas": (gamma,), "max_exact": 80, "n_landmarks": 20}
    double = KernelRidgeClassifier(**settings).fit(X, Y)
    monkeypatch.setattr("fairfold.models.kernel_ridge.LARGE", 90)
    single = KernelRidgeClassifier(**settings).fit(X, Y)
    assert single.penalty_ == double.penalty_
    assert single.predict_proba(X).tobytes() != double.predict_proba(X).tobytes()
    np.testing.assert_allclose(single.predict_proba(X), double.predict_proba(X), rtol=0, atol=2e-3)
    np.testing.assert_allclose(single.out_of_fold_proba_, double.out_of_fold_proba_, rtol=0, atol=2e-3)


@pytest.mark.parametrize("share", [0.2, 0.8])  # two forms of the same linear system
@pytest.mark.parametrize("is_grouped", [False, True])
def test_unmeasured_cells_are_left_out_of_the_fit(data, share, is_grouped):
    """Compare with ridge regression on the features of landmarks, fitted to the measured samples of each label."""
    X, Y = data
    rng = np.random.default_rng(1)
    weights, groups = rng.integers(1, 4, 90).astype(float), np.arange(90) // 2 if is_grouped else np.arange(90)
    partly = np.where(rng.random(Y.shape) < share, np.nan, Y)
    model = KernelRidgeClassifier(gammas=(1.0,), max_exact=80, n_landmarks=20)
    model.fit(X, partly, groups=groups if is_grouped else None, sample_weight=weights)
    chosen = np.sort(np.random.default_rng(0).permutation(90)[:20])
    kernel_, Z = _Kernel(1.0, model._factors), X * model._scale
    w, Q = np.linalg.eigh(kernel_(Z[chosen], Z[chosen]))
    F = kernel_(Z, Z[chosen]) @ (Q / np.sqrt(w))
    share_of = weights / weights.sum()
    strength = model.penalty_ * (weights @ (F - share_of @ F) ** 2).sum() / 90
    for label in range(2):
        rows = np.flatnonzero(~np.isnan(partly[:, label]))
        y = Y[:, label]
        ridge = Ridge(alpha=strength).fit(F[rows], y[rows], sample_weight=weights[rows])
        np.testing.assert_allclose(model.predict_proba(X)[:, label], np.clip(ridge.predict(F), 0, 1), atol=1e-7)
        for sample in (*rows[:3], *np.setdiff1d(np.arange(90), rows)[:3]):
            rest = rows[groups[rows] != groups[sample]] if sample in rows else rows
            expected = Ridge(alpha=strength).fit(F[rest], y[rest], sample_weight=weights[rest]).predict(F[[sample]])[0]
            means = [np.average(y[part], weights=weights[part]) for part in (rows, rest)]
            expected = np.clip(expected + means[0] - means[1], 0, 1)
            assert model.out_of_fold_proba_[sample, label] == pytest.approx(expected, abs=1e-7)


def test_the_penalty_has_the_least_error_of_measured_cells(data):
    X, Y = data
    partly = np.where(np.random.default_rng(3).random(Y.shape) < 0.6, np.nan, Y)
    is_measured, filled = ~np.isnan(partly), np.where(np.isnan(partly), np.nanmean(partly, axis=0), partly)
    K = KernelCenterer().fit_transform(kernel(X, X, 1.0, X))
    errors = []
    for penalty in PENALTIES:
        H = K @ np.linalg.inv(K + penalty * np.trace(K) / 90 * np.eye(90)) + 1 / 90
        errors.append(((filled - H @ filled) / (1 - np.diag(H))[:, None]) ** 2)
    of_measured, of_all = ([error[cells].mean() for error in errors] for cells in (is_measured, filled >= 0))
    penalty = KernelRidgeClassifier(gammas=(1.0,)).fit(X, partly).penalty_
    assert penalty == PENALTIES[int(np.argmin(of_measured))] != PENALTIES[int(np.argmin(of_all))]


def test_a_label_without_measurements_is_never_predicted(data):
    X, Y = data
    model = KernelRidgeClassifier().fit(X, np.column_stack([Y[:, 0], np.full(90, np.nan)]))
    assert not model.predict_proba(X)[:, 1].any()


def test_sparse_features_give_the_same(data):
    X, Y = data
    dense, csr = (KernelRidgeClassifier().fit(part, Y) for part in (X, sparse.csr_array(X)))
    assert (csr.gamma_, csr.penalty_) == (dense.gamma_, dense.penalty_)
    np.testing.assert_allclose(csr.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), rtol=0, atol=1e-10)


def test_rare_features_without_a_signal_have_less_influence_than_a_frequent_one():
    """The second kernel multiplies the standardized features by factors that restore the scale of binary ones."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, 60)) < np.r_[0.5, np.full(59, 0.01)]).astype(float)
    factors = KernelRidgeClassifier().fit(X, X[:, :1])._factors
    shares = X.mean(axis=0)
    spread = np.sqrt(shares * (1 - shares))
    np.testing.assert_allclose(factors, spread / np.sqrt((spread[spread > 0] ** 2).mean()), rtol=1e-12)


def test_features_without_a_signal_show_nothing_of_the_sample_itself():
    """Leave-one-out predictions do not leak a sample's own label.

    More features than samples interpolate, and a leverage without the intercept's share would reveal every label. The
    mean AUROC of ten draws is at chance within 3 standard errors. It is not below chance, unlike that of the mean of
    the other samples.
    """
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(60, 200)), (rng.random((60, 1)) < 0.4).astype(np.int8)
        P = KernelRidgeClassifier(gammas=(0.0,)).fit(X, Y).out_of_fold_proba_
        found.append(roc_auc_score(Y[:, 0], P[:, 0]))
    assert abs(np.mean(found) - 0.5) < 3 * np.std(found, ddof=1) / np.sqrt(10), found


def test_labels_of_one_class_and_constant_features_are_taken(data):
    X, Y = data
    X = np.column_stack([X, np.ones(len(X))])
    P = KernelRidgeClassifier().fit(X, np.column_stack([Y[:, 0], np.zeros(90), np.ones(90)])).predict_proba(X)
    np.testing.assert_allclose(P[:, 1:], np.tile([0.0, 1.0], (90, 1)), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gammas": (-1.0,)}, "gammas is (-1.0,). Use numbers of at least 0"),
        ({"gammas": ()}, "gammas is (). Use numbers of at least 0"),
        ({"n_landmarks": 0}, "n_landmarks is 0; it must be a whole number of at least 1."),
    ],
)
def test_parameters_out_of_range_are_refused(data, changes, sentence):
    with pytest.raises(ModelError, match=re.escape(sentence)):
        KernelRidgeClassifier(**changes).fit(*data)


def test_data_that_do_not_fit_are_refused_in_one_sentence(data):
    X, Y = data
    with pytest.raises(ModelError, match=r"Y: expected shape \(90, n_labels\), found \(89, 2\)"):
        KernelRidgeClassifier().fit(X, Y[1:])
    with pytest.raises(ModelError, match=r"KernelRidgeClassifier cannot be fitted: .*infinity"):
        make_model("kernel-ridge").fit(np.where(X > 1, np.inf, X), Y)
    with pytest.raises(ValueError, match="X has 3 features, but KernelRidgeClassifier is expecting 4"):
        KernelRidgeClassifier().fit(X, Y).predict_proba(X[:, 1:])
