"""Groups are held out whole wherever a model holds samples out, so a sample's own group is never used."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from fairfold.core.groups import SampleMetadata, fit_arguments, group_codes, random_parts
from fairfold.errors import ModelError, UnevenFoldsWarning
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.boosting import MultilabelBoosting
from fairfold.forests.trees import MultilabelForest
from fairfold.models import make_model
from fairfold.models.binary import BinaryClassifier, one_per_label
from fairfold.models.kernel_ridge import KernelRidgeClassifier
from fairfold.models.out_of_fold import fit_out_of_fold
from fairfold.models.registry import register_own, spec_of
from fairfold.models.tuning import tuned
from fairfold.splitting import IterativeStratification

SIZE = 4


@pytest.fixture(scope="module")
def copies():
    """Four near-copies of each of 60 patients, with uninformative labels."""
    rng = np.random.default_rng(0)
    groups = np.repeat(rng.permutation(60), SIZE)
    X = rng.normal(size=(60, 8))[groups] + 0.01 * rng.normal(size=(240, 8))
    Y = (rng.random((60, 3)) < 0.4).astype(np.int8)[groups]
    order = rng.permutation(240)
    return X[order], Y[order], groups[order]


def auroc(Y, P):
    return np.mean([roc_auc_score(Y[:, label], P[:, label]) for label in range(Y.shape[1])])


# --- drawing and folds ------------------------------------------------------------------------------------------------


def test_codes():
    assert group_codes(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    with pytest.raises(ModelError, match=r"groups have shape \(2,\); give one for each of the 3 samples"):
        group_codes(["b", "a"], 3)
    for gap in ("NA", "nan", "", " ", "n/a", "?", None, np.nan):
        with pytest.raises(
            ModelError, match=r"groups: 1 of 3 values are missing, the first in row 2\. Give each row a group"
        ):
            group_codes(np.array(["b", gap, "a"]), 3)
        with pytest.raises(ModelError, match=r"groups: 1 of 3 values are missing, the first in row 2"):
            group_codes(["b", gap, "a"], 3)
    with pytest.raises(ModelError, match="all samples are in one group"):
        group_codes([1, 1, 1], 3)


def test_parts_are_of_whole_groups_and_no_more_than_there_are():
    groups = np.array([0, 1, 2, 0, 1, 2, 2])
    parts = list(random_parts(7, 5, groups, 3))
    assert len(parts) == 3 and sorted(np.concatenate([test for _, test in parts])) == list(range(7))
    for train, test in parts:
        assert not {*groups[train]} & {*groups[test]}
    assert len(list(random_parts(7, 5, None, 3))) == 5


def test_who_is_given_groups():
    codes = np.arange(3)
    assert fit_arguments(KernelRidgeClassifier(), codes) == {"groups": codes} and fit_arguments(SVC(), codes) == {}
    assert fit_arguments(GridSearchCV(SVC(), {}), codes) == {"groups": codes}
    assert fit_arguments(KernelRidgeClassifier(), None) == {}


def test_trees_draw_groups_whole(copies):
    X, Y, groups = copies
    binned = BinnedMatrix.from_matrix(X, groups=group_codes(groups, 240))
    for share in (0.5, 1.0):
        forest = MultilabelForest("random_forest", n_trees=30, max_samples=share, random_state=0).fit(binned, Y)
        for group in range(60):
            in_bag = forest.in_bag_[groups == group]
            assert (in_bag == in_bag[0]).all()
        draws = forest.weight_[forest.tree_starts_[:-1]]
        assert (draws >= 240 * share).all() and (draws < 240 * share + SIZE).all()
        assert 0.2 < 1 - forest.in_bag_.mean() < 0.75


def test_groups_of_one_are_no_groups(copies):
    X, Y, _ = copies
    forests = [
        MultilabelForest("extra_trees", n_trees=5, random_state=0).fit(BinnedMatrix.from_matrix(X, groups=groups), Y)
        for groups in (None, np.arange(240))
    ]
    assert forests[0].value_.tobytes() == forests[1].value_.tobytes()
    assert forests[0].in_bag_.tobytes() == forests[1].in_bag_.tobytes()


def kernel(Z, gamma):
    inner = Z @ Z.T / Z.shape[1]
    squares = np.diag(inner)
    return inner if gamma == 0 else np.exp(-gamma * (squares[:, None] + squares - 2 * inner))


def test_kernel_ridge_leaves_groups_out_as_fits_without_them_do(copies):
    X, Y, groups = copies
    codes, few = group_codes(groups, 240), groups < 6
    for gamma in (0.0, 0.3):
        model = KernelRidgeClassifier(gammas=(gamma,)).fit(X[few], Y[few], groups=codes[few])
        of_others, expected = np.empty((24, 3)), np.empty((24, 3))
        Z, y = (X[few] - X[few].mean(axis=0)) / X[few].std(axis=0), Y[few].astype(float)
        ratios = np.abs(Z).mean(axis=0)
        K = (kernel(Z, gamma) + kernel(Z * ratios / np.sqrt((ratios**2).mean()), gamma)) / 2
        for group in range(6):
            out = groups[few] == group
            center = np.eye(24) - 1 / 24
            penalty = model.penalty_ * np.trace(center @ K @ center) / 24
            kept = K[np.ix_(~out, ~out)]
            # ridge regression with an intercept, as a system of equations
            system = np.block([[kept + penalty * np.eye(20), np.ones((20, 1))], [np.ones((1, 20)), np.zeros((1, 1))]])
            solved = np.linalg.solve(system, np.vstack([y[~out], np.zeros((1, 3))]))
            expected[out] = K[np.ix_(out, ~out)] @ solved[:20] + solved[20]
            of_others[out] = y[~out].mean(axis=0)
        found = np.clip(expected - of_others + Y[few].mean(axis=0), 0, 1)
        np.testing.assert_allclose(model.out_of_fold_proba_, found, rtol=0, atol=1e-8)


# --- chance stays chance ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["Stack+", "gcForest+", "CaFE-FLA+", "joint-GB+", "kernel-ridge+", "logistic+", "kNN+"]
)
def test_unseen_predictions_of_copies_with_labels_without_meaning_stay_at_chance(copies, name):
    """The AUROC of out-of-fold predictions is at chance with groups; without them, near-copies raise it."""
    X, Y, groups = copies
    settings = {"n_trees": 30, "max_levels": 1} if name in ("Stack+", "gcForest+", "CaFE-FLA+") else {}
    found = {}
    for what, given in (("grouped", groups), ("ungrouped", None)):
        model = make_model(name, **settings, random_state=0).fit(X, Y, groups=given)
        found[what] = auroc(Y, model.out_of_fold_proba_)
    assert abs(found["grouped"] - 0.5) < 0.12, found
    if name != "logistic+":
        assert found["ungrouped"] > 0.7, found


def test_boosting_cross_fits_by_groups(copies):
    X, Y, groups = copies
    model = MultilabelBoosting(max_rounds=30).fit(X, Y, groups=groups)
    assert (
        abs(auroc(Y, model.out_of_fold_proba_) - 0.5)
        < 0.12
        < auroc(Y, MultilabelBoosting().fit(X, Y).out_of_fold_proba_) - 0.5
    )


def test_cross_fitting_and_tuning_leave_groups_out_whole(copies):
    X, Y, groups = copies
    seen = []

    class Watched(GaussianNB):
        def fit(self, X, y):
            seen.append({tuple(row) for row in X})
            return super().fit(X, y)

    _, P = fit_out_of_fold(one_per_label(Watched()), X, Y, n_splits=4, random_state=0, metadata=SampleMetadata(groups))
    assert abs(auroc(Y, P) - 0.5) < 0.12
    group_of = {tuple(row): group for row, group in zip(X, groups, strict=True)}
    for rows in seen[3:]:
        kept = {group_of[row] for row in rows}
        assert len(rows) == SIZE * len(kept)
    register_own(
        {
            "grouped-svc": {
                "class": "sklearn.svm.SVC", "file": None, "parameters": {"probability": False}, "scale": True,
                "labels": "one-per-label", "tune": {"gamma": [1e-3, 10.0]}, "minutes": 5,
                "tuning": {"n_splits": 3, "n_candidates": 5, "scoring": "average_precision"},
            }
        }
    )  # fmt: skip
    assert spec_of("grouped-svc").is_tuned
    model = make_model("grouped-svc", random_state=0).fit(X, Y, groups=groups)
    assert model.predict_proba(X).shape == Y.shape


def test_platt_scaling_leaves_groups_out(copies):
    """Without groups, near-copies in other folds inflate decision values, so the calibrated loss is larger."""
    X, Y, groups = copies
    codes, known = group_codes(groups, 240), groups < 40
    svc = BinaryClassifier(SVC(), random_state=0)
    losses = [
        log_loss(Y[~known, 0], svc.fit(X[known], Y[known, 0], **given).predict_proba(X[~known])[:, 1])
        for given in ({}, {"groups": codes[known]})
    ]
    assert losses[1] < losses[0] - 0.1, losses
    rare = (groups == 3).astype(np.int8)  # a label that occurs in one group only
    assert np.unique(svc.fit(X, rare, groups=codes).predict_proba(X)[:, 1]).tolist() == [rare.mean()]


@pytest.mark.parametrize("name", ["Stack+", "RF+ET", "logistic", "RBF-SVM"])
def test_scores_of_folds_of_whole_groups_are_at_chance(copies, name):
    X, Y, groups = copies
    fold_of = IterativeStratification(4, random_state=0).assign(Y, groups)
    settings = {"n_trees": 20, "max_levels": 1} if name == "Stack+" else {}
    found = {}
    for what, folds in (("grouped", fold_of), ("ungrouped", IterativeStratification(4, random_state=0).assign(Y))):
        scores = score_on_folds(
            lambda fold: make_model(name, **settings, random_state=fold),
            *(X, Y, folds, lambda fold: Y),
            groups=groups if what == "grouped" else None,
        ).scores
        found[what] = scores.query("is_final and metric == 'average_precision'")["value"].mean()
    assert found["grouped"] < 0.5 < found["ungrouped"] or name == "logistic", found
    assert found["grouped"] < Y.mean() + 0.1


def test_groups_of_sparse_data(copies):
    X, Y, groups = copies
    model = make_model("kernel-ridge+").fit(sparse.csr_array(X), Y, groups=groups)
    dense = make_model("kernel-ridge+").fit(X, Y, groups=groups)
    assert model.out_of_fold_proba_.shape == dense.out_of_fold_proba_.shape


def test_groups_that_do_not_fit_are_refused(copies):
    X, Y, groups = copies
    for name in ("gcForest", "gcForest+", "logistic", "Stack+"):
        with pytest.raises(ModelError, match=r"groups have shape \(239,\)"):
            make_model(name).fit(X, Y, groups=groups[1:])


def test_a_training_part_of_one_group_is_given_without_groups():
    known = SampleMetadata(np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    one, two = known.for_training(np.array([0, 1])), known.for_training(np.array([1, 2]))
    assert one.groups is None and one.weights.tolist() == [1, 2]
    assert two.groups.tolist() == [0, 1]
    assert "groups" not in one.as_options() and known.of(np.array([0, 1])).groups.tolist() == [0, 0]


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("name", ["RF+ET", "Stack+", "logistic+", "HistGB", "gcForest+", "kernel-ridge+"])
def test_models_are_scored_with_few_groups(name, n_groups):
    """A training part has one or two groups, and its held-out part has one or none."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n_groups), [40, 25, 12][:n_groups])
    X = rng.normal(size=(len(groups), 3))
    Y = (X[:, :2] + 0.5 * rng.normal(size=(len(groups), 2)) > 0.3).astype(np.int8)
    forest = {"n_trees": 5, "max_levels": 1} if name in ("RF+ET", "Stack+", "gcForest+") else {}
    tables = score_on_folds(
        lambda _: make_model(name, random_state=0, **forest), X, Y, groups, lambda _: Y, groups=groups
    )
    assert (tables.scores["reason"] == "").all(), tables.scores["reason"].unique()
    assert tables.scores["value"].notna().all()


def test_tuning_makes_as_many_folds_as_there_are_groups():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 2)), np.repeat([0, 1], [45, 15])
    Y = (X > 0).astype(int)
    model = KNeighborsClassifier()
    search = tuned(model, model, {"n_neighbors": [1, 5]}, n_splits=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnevenFoldsWarning)
        assert search.fit(X, Y, groups=groups).n_splits_ == 2
        assert search.fit(X, Y).n_splits_ == 3
