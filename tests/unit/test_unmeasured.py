"""Labels have three states: 1, 0 and NaN. Unmeasured labels (NaN) affect no result."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from fairfold import forests
from fairfold.errors import ModelError
from fairfold.final.labels import label_scores, likely_label_errors
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.diagnostics import imputation_table
from fairfold.forests.growth import grow_tree, measured_values
from fairfold.forests.imputers import FluidLabelAddition, PosteriorImputer, StrictLabelComplement
from fairfold.forests.trees import MultilabelForest
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import MODEL_NAMES, load_model, make_model
from fairfold.models.kernel_ridge import KernelRidgeClassifier
from fairfold.models.measured import MeasuredRows, on_measured
from fairfold.models.registry import spec_of
from fairfold.models.stacking import pool_weights
from fairfold.splitting.methods import make_splitter
from fairfold.weak_labels import mask_positives
from fairfold.weak_labels.calibration import fit_calibration, shared_label_frequency

FEW = {"n_trees": 20, "max_levels": 1}
CASCADES = ("RF+ET", "LCForest", "SLCForest", "CaFE-FLA", "gcForest+", "CaFE-FLA+")
DEEP = (*CASCADES, "Stack+")
SHOWN = [*DEEP, "joint-GB+", "logistic+", "kNN+"]
BASELINES = [name for name in MODEL_NAMES if not name.endswith("+") and name not in forests.MODEL_NAMES]
SHOWN += [name for name in BASELINES if not spec_of(name).package]


@pytest.fixture(scope="module")
def data():
    """Return three labels without and with unmeasured cells: 40 % of the second and third label are unmeasured."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).round(1)
    truth = (X[:, :3] + 0.5 * rng.normal(size=(300, 3)) > [0.2, 0.5, 0.9]).astype(np.int8)
    Y = truth.astype(np.float32)
    Y[:, 1:][rng.random((300, 2)) < 0.4] = np.nan
    return X, Y, truth


def make(name):
    return make_model(name, **{key: FEW[key] for key in FEW if key in spec_of(name).settings}, random_state=0)


# --- scores and calibration -------------------------------------------------------------------------------------------


def test_scores_are_those_of_scikit_learn_on_what_is_measured(data):
    _, Y, _ = data
    rng = np.random.default_rng(1)
    P = np.round(rng.random(Y.shape), 1)
    found, seen = multilabel_scores(Y, P), Y >= 0
    truth, score = Y[seen], P[seen]
    assert found["average_precision"] == pytest.approx(metrics.average_precision_score(truth, score))
    assert found["roc_auc"] == pytest.approx(metrics.roc_auc_score(truth, score))
    assert found["hamming_loss"] == pytest.approx(np.mean(truth != (score > 0.5)))
    assert found["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, score > 0.5))
    losses = []
    for y, p in zip(Y, P, strict=True):
        y, p = y[y >= 0], p[y >= 0]
        has_both = 0 < y.sum() < len(y)
        losses.append(metrics.label_ranking_loss(y[np.newaxis], p[np.newaxis]) if has_both else 0.0)
    assert found["ranking_loss"] == pytest.approx(np.mean(losses))
    assert multilabel_scores(sparse.csr_array(Y), P) == found
    assert np.isnan(list(multilabel_scores(np.full((2, 2), np.nan), P[:2, :2]).values())).all()


def test_whatever_is_reported_of_unmeasured_cells_changes_no_score(data):
    _, Y, _ = data
    P = np.random.default_rng(1).random(Y.shape)
    assert multilabel_scores(Y, np.where(np.isnan(Y), 0.99, P)) == multilabel_scores(Y, P)


def test_a_label_s_calibration_is_that_of_its_measured_samples(data):
    _, Y, _ = data
    P = np.random.default_rng(2).random(Y.shape)
    rows = Y[:, 2] >= 0
    alone = fit_calibration(Y[rows][:, [2]], P[rows][:, [2]])
    np.testing.assert_allclose(fit_calibration(Y[:, [2]], P[:, [2]]), alone, rtol=0, atol=1e-9)
    found = shared_label_frequency(Y[:, [2]], P[:, [2]])
    assert found == shared_label_frequency(Y[rows][:, [2]], P[rows][:, [2]])
    wild = np.where(np.isnan(Y), 0.999, P)
    np.testing.assert_allclose(fit_calibration(Y, wild), fit_calibration(Y, P), rtol=0, atol=1e-9)
    assert shared_label_frequency(Y, wild) == shared_label_frequency(Y, P)
    members = np.random.default_rng(3).random((2, *Y.shape))
    noisy = np.where(np.isnan(Y), 0.001, members)
    np.testing.assert_allclose(pool_weights(Y, noisy), pool_weights(Y, members), rtol=0, atol=1e-12)


# --- forests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["random_forest", "extra_trees"])
def test_trees_of_one_label_are_those_of_its_measured_samples(data, kind):
    X, Y, _ = data
    rows = Y[:, 2] >= 0
    settings = {"n_trees": 25, "max_samples": 0.5, "min_samples_leaf": 2, "random_state": 3}
    whole = MultilabelForest(kind, **settings).fit(X, Y[:, [2]])
    alone = MultilabelForest(kind, **settings).fit(X[rows], Y[rows][:, [2]])
    fresh = np.random.default_rng(4).normal(size=(200, 5)).round(1)
    np.testing.assert_allclose(whole.predict_proba(fresh), alone.predict_proba(fresh), rtol=0, atol=1e-6)
    np.testing.assert_allclose(whole.oob_proba_[rows], alone.oob_proba_, rtol=0, atol=1e-6)
    assert not whole.in_bag_[~rows].any()


def test_nodes_hold_means_of_the_draws_that_are_measured(data):
    X, Y, _ = data
    forest = MultilabelForest("random_forest", n_trees=3, min_samples_leaf=5, max_samples=1.0, random_state=0)
    forest.fit(X, Y.astype(float))
    target = forest._target(BinnedMatrix.from_matrix(X), Y.astype(float))
    nodes, _, _, leaf_of, draws = grow_tree(
        BinnedMatrix.from_matrix(X).binned,
        target.padded,
        3,
        target.rules,
        target.pool,
        np.uint64(5),
    )
    means = np.nanmean(Y.astype(float), axis=0)
    values = measured_values(nodes[2], nodes[3], leaf_of, draws, Y.astype(float), means)
    under = {node: {node} for node in range(len(values))}
    for node in range(len(values) - 1, -1, -1):
        if nodes[2][node] >= 0:
            under[node] |= under[nodes[2][node]] | under[nodes[3][node]]
    parent = {child: node for node in range(len(values)) for child in (nodes[2][node], nodes[3][node]) if child >= 0}
    for node in range(len(values)):
        inside = np.isin(leaf_of, list(under[node]))
        for label in range(3):
            counts = draws * inside * (Y[:, label] >= 0)
            above = values[parent[node], label] if node else means[label]
            expected = np.nansum(counts * Y[:, label]) / counts.sum() if counts.sum() else above
            assert values[node, label] == pytest.approx(expected, abs=1e-6)


def test_complete_labels_give_the_same_bytes_beside_none(data):
    X, _, truth = data
    forests = [MultilabelForest("extra_trees", n_trees=5, random_state=0).fit(X, Y) for Y in (truth, truth * 1.0)]
    assert forests[0].value_.tobytes() == forests[1].value_.tobytes()


# --- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHOWN)
def test_every_model_learns_what_is_measured(data, name, tmp_path, recwarn):
    X, Y, truth = data
    model = make(name).fit(X[:200], Y[:200])
    P = model.predict_proba(X[200:])
    if name not in ("dummy", "dummy+"):
        assert metrics.roc_auc_score(truth[200:], P, average="macro") > 0.8
    assert not [each for each in recwarn if issubclass(each.category, DataConversionWarning)]
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").predict_proba(X[200:]).tobytes() == P.tobytes()
    if hasattr(model, "training_labels_"):
        for labels in model.training_labels_:
            assert np.isnan(labels[np.isnan(Y[:200])]).all()
    if name in CASCADES:
        assert len(imputation_table(model, truth[:200]))


@pytest.mark.parametrize("name", ["logistic", "LightGBM", "RBF-SVM", "kNN", "ML-kNN", "chains"])
def test_a_label_s_model_is_that_of_its_measured_samples(data, name):
    X, Y, _ = data
    P = make(name).fit(X, Y).predict_proba(X)
    for label in (1, 2):
        rows = Y[:, label] >= 0
        alone = make(name).fit(X[rows], Y[rows][:, [label]]).predict_proba(X)
        np.testing.assert_allclose(P[:, [label]], alone, rtol=0, atol=1e-12)


def test_a_label_that_is_measured_nowhere_is_never_expected(data):
    X, Y, _ = data
    Y = np.column_stack([Y, np.full(len(Y), np.nan)])
    for name in ("logistic", "gcForest+", "Stack+", "joint-GB+"):
        P = make(name).fit(X, Y).predict_proba(X)
        assert np.isfinite(P).all() and P[:, 3].max() < 0.1, name


def test_unmeasured_is_better_than_no(data):
    X, Y, truth = data
    gain = []
    for train, test in KFold(3).split(X):
        scores = [
            multilabel_scores(truth[test], make("gcForest+").fit(X[train], y[train]).predict_proba(X[test]))["mcc"]
            for y in (Y, np.nan_to_num(Y))
        ]
        gain.append(scores[0] - scores[1])
    assert np.mean(gain) > 0


def test_unseen_predictions_of_measured_samples_are_the_estimator_s_own(data):
    X, Y, _ = data
    model = MeasuredRows(KernelRidgeClassifier()).fit(X, Y)
    rows = Y[:, 2] >= 0
    alone = KernelRidgeClassifier().fit(X[rows], Y[rows][:, [2]])
    np.testing.assert_array_equal(model.out_of_fold_proba_[rows][:, [2]], alone.out_of_fold_proba_)
    assert on_measured(LogisticRegression(), np.nan_to_num(Y)).__class__ is LogisticRegression


def test_imputers_leave_unmeasured_cells_alone(data):
    _, Y, _ = data
    P = np.random.default_rng(5).random((2, *Y.shape))
    strict = StrictLabelComplement(
        Y, percentile=0.95, threshold=0.5, cap_rounding="ceil", threshold_on="probability", freezes=True
    )
    fluid = FluidLabelAddition(Y, percentile=0.95, threshold=0.5)
    for imputer in (strict, fluid):
        labels = imputer.impute(1, P)
        assert np.isnan(labels[np.isnan(Y)]).all() and (labels[Y == 1] == 1).all() and (labels[Y == 0] == 1).any()
        rows = Y[:, 2] >= 0
        settings = {name: getattr(imputer, name) for name in imputer.__dataclass_fields__ if name != "observed"}
        alone = type(imputer)(Y[rows][:, [2]], **settings).impute(1, P[:, rows][:, :, [2]])
        np.testing.assert_array_equal(labels[rows][:, [2]], alone)
    posterior = PosteriorImputer(Y, is_strict=False, threshold=0.5).impute(1, P[0], 0.5)
    assert np.isnan(posterior[np.isnan(Y)]).all() and (posterior[Y >= 0] >= 0).all()


# --- folds, masking and inspection ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["annealed", "OptiSplit-rLD", "IS"])
def test_folds_spread_unmeasured_cells_evenly_too(data, method):
    _, Y, _ = data
    splitter = make_splitter(method, 5, random_state=0)
    fold_of = splitter.assign(Y)
    np.testing.assert_array_equal(splitter.assign(sparse.csr_array(Y)), fold_of)
    beside = np.column_stack((Y == 1, np.isnan(Y[:, 1:])))  # as if unmeasured cells were two more labels
    np.testing.assert_array_equal(splitter.assign(beside), fold_of)
    unmeasured, by_positives = (
        np.array([np.sum(np.isnan(Y[folds == fold]), axis=0) for fold in range(5)])
        for folds in (fold_of, splitter.assign(np.nan_to_num(Y)))
    )
    assert np.ptp(unmeasured, axis=0).max() <= 2 < np.ptp(by_positives, axis=0).max()


def test_hiding_is_that_of_the_positives(data):
    _, Y, _ = data
    for labels in (Y, sparse.csr_array(Y)):
        masked = mask_positives(labels, 0.5, random_state=0)
        masked = masked.toarray() if sparse.issparse(masked) else masked
        np.testing.assert_array_equal(np.isnan(masked), np.isnan(Y))
        np.testing.assert_array_equal(np.nan_to_num(masked), mask_positives(np.nan_to_num(Y), 0.5, random_state=0))


def test_what_to_look_at_is_measured(data):
    X, Y, _ = data
    P = np.random.default_rng(6).random(Y.shape)
    names = ["a", "b", "c"]
    label_errors = likely_label_errors(X, Y, P, names, np.arange(300), most=1000)
    for row in label_errors.itertuples():
        expected = {"missing": 0, "wrong": 1, "unmeasured": np.nan}[row.kind]
        np.testing.assert_equal(Y[row.sample, names.index(row.label)], expected)
    first = label_errors[label_errors["kind"] == "unmeasured"].iloc[0]
    assert first["posterior"] == P[np.isnan(Y)].max()
    scores = label_scores(Y, P, names, seed=0).set_index("label")
    rows = Y[:, 2] >= 0
    assert scores.loc["c", "average_precision"] == pytest.approx(
        metrics.average_precision_score(Y[rows, 2], P[rows, 2])
    )
    assert scores.loc["c", "n_positives"] == (Y[:, 2] == 1).sum()


def test_other_numbers_are_refused(data):
    X, Y, truth = data
    for name in ("gcForest", "logistic", "joint-GB"):
        for labels in (2 * truth - 1, np.where(np.isnan(Y), -1, Y)):
            with pytest.raises(ModelError, match=r"found -1\..*Write 0 for negatives and NaN for unmeasured labels"):
                make(name).fit(X, labels)
    with pytest.raises(ModelError, match="Y, row 0, column 0: expected 0, 1 or NaN, found -2"):
        make("gcForest").fit(X, np.where(np.arange(900).reshape(300, 3) == 0, -2, Y))
