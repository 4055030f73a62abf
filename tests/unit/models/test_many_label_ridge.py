"""Ridge regression equals scikit-learn's, and leave-one-out predictions equal those of refitted models.

The tests cover word counts, other features, and single-precision kernels with landmarks.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize

from fairfold.errors import ModelError
from fairfold.models import make_model
from fairfold.models.many_label_ridge import GAMMA, LEAST, ManyLabelRidge, leading_directions


def words(n=70, n_words=30, n_labels=6, seed=0):
    random = np.random.default_rng(seed)
    X = (random.random((n, n_words)) < 0.2) * random.integers(1, 4, (n, n_words)).astype(float)
    noisy = X[:, :n_labels] + 0.3 * random.random((n, n_labels))
    return X, (noisy > 0.8).astype(np.int8)


def kept(P):
    return np.where(np.minimum(P, 1) >= LEAST, np.minimum(P, 1), 0)


def strength(model, Z, s):
    centered = s[:, np.newaxis] * (Z - s**2 @ Z / (s @ s))
    w = np.linalg.eigvalsh(centered.T @ centered)
    return model.penalty_ * w[w > w[-1] * (1e-10 if model.landmarks_ is None else 1e-6)].mean()


@pytest.mark.parametrize("n", [20, 60])  # fewer and more samples than features
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learns_on_weighted_words(n, weighted):
    X, Y = words()
    weights = np.linspace(0.5, 1.5, n) if weighted else None
    s = np.sqrt(weights / weights.mean()) if weighted else np.ones(n)
    model = ManyLabelRidge(n_landmarks=0).fit(sparse.csr_array(X[:n]), Y[:n], sample_weight=weights)
    idf = TfidfTransformer(norm="l2", smooth_idf=True).fit(X[:n])
    Z, new = (idf.transform(part).toarray() for part in (X[:n], X[n:]))
    ridge = Ridge(alpha=strength(model, Z, s), solver="svd").fit(Z, Y[:n], sample_weight=s**2)
    np.testing.assert_allclose(
        model.predict_proba(sparse.csr_array(X[n:])).toarray(), kept(ridge.predict(new)), atol=1e-6
    )


def test_dense_features_are_standardized():
    X, Y = words()
    X = X - 1.5
    model = ManyLabelRidge().fit(X[:60], Y[:60])
    Z = (X - X[:60].mean(axis=0)) / X[:60].std(axis=0)
    ridge = Ridge(alpha=strength(model, Z[:60], np.ones(60)), solver="svd").fit(Z[:60], Y[:60])
    np.testing.assert_allclose(model.predict_proba(X[60:]).toarray(), kept(ridge.predict(Z[60:])), atol=1e-6)


def kernels_with(model, X):
    """Return features whose inner products are the landmark approximation of the kernel.

    A small constant is added to the diagonal of the landmarks' kernel.
    """
    Z = TfidfTransformer(norm="l2").fit(X[:60]).transform(X)
    landmarks = model.landmarks_
    w, Q = np.linalg.eigh(rbf_kernel(landmarks, gamma=GAMMA) + 1e-5 * np.eye(landmarks.shape[0]))
    return rbf_kernel(Z, landmarks, gamma=GAMMA) @ Q / np.sqrt(w)


@pytest.mark.parametrize("n_landmarks", [60, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_of_few_words_equals_scikit_learns_on_kernels_with_landmarks(n_landmarks, weighted):
    X, Y = words(90)
    X[[3, 70]] = 0  # without words
    weights = np.linspace(0.5, 1.5, 60) if weighted else None
    s = np.sqrt(weights / weights.mean()) if weighted else np.ones(60)
    model = ManyLabelRidge(n_landmarks=n_landmarks).fit(sparse.csr_array(X[:60]), Y[:60], sample_weight=weights)
    assert model.coef_.shape == (n_landmarks, 6)
    F = kernels_with(model, X)
    ridge = Ridge(alpha=strength(model, F[:60], s), solver="svd").fit(F[:60], Y[:60], sample_weight=s**2)
    P = model.predict_proba(sparse.csr_array(X[60:])).toarray()
    np.testing.assert_allclose(P, kept(ridge.predict(F[60:])), atol=2e-4)


@pytest.mark.parametrize("grouped", [False, True])
def test_with_landmarks_too_samples_are_left_out_as_if_fitted_anew(grouped):
    X, Y = words(60)
    group_of = np.random.default_rng(0).permutation(60) // 4 if grouped else np.arange(60)
    groups = {"groups": group_of} if grouped else {}
    model = ManyLabelRidge(n_landmarks=40).fit(sparse.csr_array(X), Y, **groups)
    F, expected = kernels_with(model, X), np.empty(Y.shape)
    alpha = strength(model, F, np.ones(60))
    for group in np.unique(group_of):
        left = group_of == group
        ridge = Ridge(alpha=alpha, solver="svd").fit(F[~left], Y[~left])
        expected[left] = ridge.predict(F[left]) - Y[~left].mean(axis=0) + Y.mean(axis=0)
    np.testing.assert_allclose(model.out_of_fold_proba_.toarray(), kept(expected), atol=2e-4)


def test_landmarks_are_for_words_that_are_fewer():
    X, Y = words()
    X[1::2] = X[::2]  # duplicate samples are accepted
    for features, n_landmarks, replaced in (
        (sparse.csr_array(X), 40, True),
        (sparse.csr_array(X), 30, False),  # words are not fewer
        (sparse.csr_array(X[:25]), 40, False),  # more than samples
        (X, 40, False),  # not sparse
        (sparse.csr_array(-X), 40, False),  # no words
    ):
        model = ManyLabelRidge(n_landmarks=n_landmarks).fit(features, Y[: features.shape[0]])
        assert (model.landmarks_ is not None) == replaced
        assert np.isfinite(model.coef_).all()
    for wrong in (-1, 2.5, True, "many"):
        with pytest.raises(ModelError, match=r"n_landmarks is .*; it must be a whole number of at least 0\."):
            ManyLabelRidge(n_landmarks=wrong).fit(X, Y)


@pytest.mark.parametrize("n", [20, 60])
def test_unseen_predictions_are_those_of_models_without_the_sample(n):
    X, Y = words(n)
    model = ManyLabelRidge(n_landmarks=0).fit(sparse.csr_array(X), Y)
    Z = TfidfTransformer(norm="l2").fit_transform(X).toarray()
    alpha, expected = strength(model, Z, np.ones(n)), np.empty(Y.shape)
    for left in range(n):
        rows = np.delete(np.arange(n), left)
        ridge = Ridge(alpha=alpha, solver="svd").fit(Z[rows], Y[rows])
        expected[left] = ridge.predict(Z[[left]])[0] - Y[rows].mean(axis=0) + Y.mean(axis=0)
    np.testing.assert_allclose(model.out_of_fold_proba_.toarray(), kept(expected), atol=1e-6)


def test_of_groups_whole_ones_are_left_out():
    X, Y = words(60)
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(15), 4))
    model = ManyLabelRidge(n_landmarks=0).fit(sparse.csr_array(X), Y, groups=groups)
    Z = TfidfTransformer(norm="l2").fit_transform(X).toarray()
    alpha, expected = strength(model, Z, np.ones(60)), np.empty(Y.shape)
    for group in range(15):
        left = groups == group
        ridge = Ridge(alpha=alpha, solver="svd").fit(Z[~left], Y[~left])
        expected[left] = ridge.predict(Z[left]) - Y[~left].mean(axis=0) + Y.mean(axis=0)
    np.testing.assert_allclose(model.out_of_fold_proba_.toarray(), kept(expected), atol=1e-6)
    alone, of_none = (
        ManyLabelRidge(n_landmarks=0).fit(sparse.csr_array(X), Y, groups=groups) for groups in (np.arange(60), None)
    )
    np.testing.assert_allclose(alone.out_of_fold_proba_.toarray(), of_none.out_of_fold_proba_.toarray(), atol=1e-6)


def test_copies_of_a_sample_show_nothing_where_they_are_a_group():
    """Random labels and three copies per sample give chance, within four standard errors of 100 samples."""
    random = np.random.default_rng(2)
    X, Y = random.normal(size=(100, 60)), (random.random((100, 30)) < 0.3).astype(np.int8)
    groups = np.tile(np.arange(100), 3)
    given = np.tile(X, (3, 1)), np.tile(Y, (3, 1))
    margins = []
    for options in ({"groups": groups}, {}):
        P = ManyLabelRidge().fit(*given, **options).out_of_fold_proba_.toarray()[:100]
        P -= P.mean(axis=0)
        error = P.std() * np.sqrt(1 / Y.sum() + 1 / (Y.size - Y.sum()))
        margins.append((P[Y == 1].mean() - P[Y == 0].mean()) / error)
    assert abs(margins[0]) < 4 < margins[1]


def test_gaps_are_filled_as_by_the_kernel_ridge():
    X, Y = words()
    X[::7, 2] = np.nan
    filled = np.column_stack([np.where(np.isnan(X), np.nanmedian(X, axis=0), X), np.isnan(X[:, 2])])
    ours, theirs = ManyLabelRidge().fit(X, Y), ManyLabelRidge().fit(filled, Y)
    np.testing.assert_allclose(ours.predict_proba(X).toarray(), theirs.predict_proba(filled).toarray(), atol=1e-6)


def test_on_labels_by_chance_unseen_predictions_show_nothing():
    """Samples with and without a label differ by less than four standard errors, beyond the labels' means."""
    random = np.random.default_rng(0)
    X = normalize(random.normal(size=(400, 30)))
    Y = (random.random((400, 40)) < 0.3).astype(np.int8)
    P = ManyLabelRidge().fit(X, Y).out_of_fold_proba_.toarray()
    P -= P.mean(axis=0)
    n = Y.sum()
    error = P.std() * np.sqrt(1 / n + 1 / (Y.size - n))
    assert abs(P[Y == 1].mean() - P[Y == 0].mean()) < 4 * error


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_with_as_many_leading_directions_as_there_are_nothing_changes(monkeypatch, kind):
    """The results are equal up to single precision, which stores these directions."""
    X, Y = words()
    whole = ManyLabelRidge().fit(kind(X[:60]), Y[:60])
    monkeypatch.setattr("fairfold.models.many_label_ridge.MOST_DECOMPOSED", 5)
    monkeypatch.setattr("fairfold.models.many_label_ridge.N_LEADING", X.shape[1])
    found = ManyLabelRidge().fit(kind(X[:60]), Y[:60])
    assert found.penalty_ == whole.penalty_
    for ours, theirs in (
        (found.out_of_fold_proba_, whole.out_of_fold_proba_),
        (found.predict_proba(kind(X[60:])), whole.predict_proba(kind(X[60:]))),
    ):
        far = np.abs(ours.toarray() - theirs.toarray())
        # Values near LEAST may be kept by only one of the two.
        assert far[np.maximum(ours.toarray(), theirs.toarray()) > LEAST + 1e-4].max() < 1e-4


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_leading_directions_span_what_has_no_others(kind):
    random = np.random.default_rng(0)
    S = random.normal(size=(50, 4)) @ random.normal(size=(4, 30))
    R = leading_directions(kind(S), 4, 0)
    np.testing.assert_allclose(R.T @ R, np.eye(4), atol=1e-5)
    np.testing.assert_allclose(S @ R @ R.T, S, atol=1e-4)
    # One direction more than the rank adds only noise.
    np.testing.assert_allclose(S @ (Q := leading_directions(kind(S), 5, 0)) @ Q.T, S, atol=1e-4)


def test_leading_directions_show_nothing_of_labels_by_chance(monkeypatch):
    """Directions depend on features only, and the result is at chance within four standard errors."""
    monkeypatch.setattr("fairfold.models.many_label_ridge.MOST_DECOMPOSED", 20)
    monkeypatch.setattr("fairfold.models.many_label_ridge.N_LEADING", 10)
    random = np.random.default_rng(0)
    X = normalize(random.normal(size=(400, 30)))
    Y = (random.random((400, 40)) < 0.3).astype(np.int8)
    P = ManyLabelRidge().fit(X, Y).out_of_fold_proba_.toarray()
    P -= P.mean(axis=0)
    error = P.std() * np.sqrt(1 / Y.sum() + 1 / (Y.size - Y.sum()))
    assert abs(P[Y == 1].mean() - P[Y == 0].mean()) < 4 * error


def test_what_would_not_fit_into_memory_is_refused_before(monkeypatch):
    X, Y = words()
    monkeypatch.setattr("fairfold.models.many_label_ridge.NEVER_TOO_MUCH", 0)
    monkeypatch.setattr("fairfold.models.many_label_ridge.free_memory", lambda: 1000)
    with pytest.raises(ModelError, match=r"6 labels on 30 features of 70 samples needs about .* are free"):
        ManyLabelRidge().fit(X, Y)


def test_only_the_highest_are_kept(monkeypatch):
    X, Y = words()
    model = ManyLabelRidge().fit(sparse.csr_array(X), Y)
    whole = model.predict_proba(sparse.csr_array(X)).toarray()
    monkeypatch.setattr("fairfold.models.many_label_ridge.n_kept", lambda n_labels: 2)
    few = model.predict_proba(sparse.csr_array(X)).toarray()
    order = np.argsort(-whole, axis=1, kind="stable")
    np.put_along_axis(whole, order[:, 2:], 0, axis=1)
    np.testing.assert_array_equal(few, whole)


def test_labels_that_nobody_has_are_never_expected_and_others_are_checked():
    X, Y = words()
    Y[:, 0] = 0
    assert ManyLabelRidge().fit(X, Y).predict_proba(X)[:, [0]].nnz == 0
    with pytest.raises(ModelError, match="Give one row per sample"):
        ManyLabelRidge().fit(X, Y[:-1])


def test_the_default_model_pools_it_with_forests_where_labels_are_many(tmp_path):
    from fairfold.metrics.scores import multilabel_scores
    from fairfold.models import load_model

    random = np.random.default_rng(1)
    prototypes = random.normal(size=(130, 10))
    X = random.normal(size=(300, 10))
    Y = np.zeros((300, 130), dtype=np.int8)
    np.put_along_axis(Y, np.argsort(-X @ prototypes.T, axis=1)[:, :4], 1, axis=1)
    model = make_model("Stack+", n_trees=20, random_state=0).fit(X[:200], sparse.csr_array(Y[:200]))
    P = model.predict_proba(X[200:])
    stack = model.estimator_
    assert sparse.issparse(P) and len(stack.estimators_) == len(stack.weights_) == 2
    assert stack.weights_.sum() == pytest.approx(1)
    ours = multilabel_scores(Y[200:], P)["average_precision"]
    chance = Y[200:].mean()
    assert ours > 5 * chance
    again = make_model("Stack+", n_trees=20, random_state=0).fit(X[:200], Y[:200]).predict_proba(X[200:])
    np.testing.assert_array_equal(again, P.toarray())  # Dense labels give the same numbers in an array.
    model.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").predict_proba(X[200:]).data.tobytes() == P.data.tobytes()
    decided = model.predict(X[200:], objective="f1_micro")
    assert sparse.issparse(decided) and set(np.unique(decided.data)) <= {1}
