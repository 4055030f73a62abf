import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from fairfold.errors import ModelError
from fairfold.forests.cascade import CascadeForest
from fairfold.forests.trees import MultilabelForest
from fairfold.seeds import seed_for
from fairfold.weak_labels import label_frequency, mask_positives, positive_cap, strict_label_complement


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((200, 8))
    truth = np.column_stack([X[:, 0] > 0.4, X[:, 1] + X[:, 2] > 0.9, X[:, 3] > 0.3]).astype(np.int8)
    return X, truth, mask_positives(truth, 0.3, random_state=0)


def slc(**changes):
    return CascadeForest(**{"n_trees": 20, "max_levels": 4, "imputation": "slc", "random_state": 7, **changes})


def reference_levels(X, observed, X_test, n_trees, max_levels, random_state):
    """The cascade written out level by level."""
    seed = check_random_state(random_state).randint(2**31 - 1)
    labels, cap, frozen = observed, None, None
    train, test = {"random_forest": X, "extra_trees": X}, {"random_forest": X_test, "extra_trees": X_test}
    for level in range(max_levels + 1):
        forests = {
            kind: MultilabelForest(
                kind, n_trees=n_trees, min_samples_leaf=5, n_jobs=1, random_state=seed_for(seed, level, kind)
            ).fit(train[kind], labels)
            for kind in train
        }
        oob = {kind: forest.oob_proba_ for kind, forest in forests.items()}
        out = {kind: forest.predict_proba(test[kind]) for kind, forest in forests.items()}
        yield (out["random_forest"] + out["extra_trees"]) / 2
        if frozen is not None and frozen.all():
            return
        mean = (oob["random_forest"] + oob["extra_trees"]) / 2
        if cap is None:
            cap = positive_cap(observed, label_frequency(observed, mean))
            frozen = np.zeros(observed.shape[1], dtype=bool)
        proposal = strict_label_complement(observed, mean, cap)
        labels = np.where(frozen, labels, proposal)
        frozen = frozen | (labels.sum(axis=0) >= cap)
        train = {
            "random_forest": np.hstack([X, oob["extra_trees"]]),
            "extra_trees": np.hstack([X, oob["random_forest"]]),
        }
        test = {
            "random_forest": np.hstack([X_test, out["extra_trees"]]),
            "extra_trees": np.hstack([X_test, out["random_forest"]]),
        }


def test_equals_the_cascade_written_out(data):
    X, _, observed = data
    model = slc().fit(X[:150], observed[:150])
    expected = list(reference_levels(X[:150], observed[:150], X[150:], 20, 4, 7))
    levels = list(model.staged_predict_proba(X[150:]))
    assert len(levels) == len(expected) == len(model.oob_scores_) == model.best_level_ + 1
    for level, reference in zip(levels, expected, strict=True):
        np.testing.assert_array_equal(level, reference)
    np.testing.assert_array_equal(model.predict_proba(X[150:]), expected[-1])
    np.testing.assert_array_equal(model.predict(X[150:]), expected[-1] > 0.5)


def test_threads_change_no_bit(data):
    X, _, observed = data
    one, four = (slc(n_jobs=n).fit(X, observed).predict_proba(X) for n in (1, 4))
    assert one.tobytes() == four.tobytes()


def test_seed_decides_and_fitting_twice_is_the_same(data):
    X, _, observed = data
    model = slc().fit(X, observed)
    first = model.predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, observed).predict_proba(X), first)
    assert (slc(random_state=8).fit(X, observed).predict_proba(X) != first).any()


def test_sparse_features_and_labels(data):
    X, _, observed = data
    dense = slc().fit(X, observed).predict_proba(X)
    csr = slc().fit(sparse.csr_array(X), sparse.csr_array(observed)).predict_proba(sparse.csr_array(X))
    np.testing.assert_array_equal(dense, csr)


def test_imputation_finds_hidden_labels(data):
    X, truth, _ = data
    observed = mask_positives(truth, 0.5, random_state=1)
    plain = CascadeForest(n_trees=40, max_levels=0, random_state=0).fit(X[:150], observed[:150])
    imputed = slc(n_trees=40, max_levels=8).fit(X[:150], observed[:150])
    wrong = [np.mean(model.predict(X[150:]) != truth[150:]) for model in (plain, imputed)]
    assert wrong[1] < wrong[0]


def test_log_tells_what_was_imputed(data):
    X, _, observed = data
    model = slc().fit(X, observed)
    levels = {row["level"] for row in model.imputation_log_}
    assert levels == set(range(model.best_level_))
    for row in model.imputation_log_:
        assert row["observed"] == observed[:, row["label"]].sum()
        assert row["observed"] + row["imputed"] <= row["cap"] == np.ceil(row["observed"] / row["label_frequency"])
        assert row["frozen"] == (row["observed"] + row["imputed"] == row["cap"])


def test_frozen_labels_keep_their_imputations(data):
    X, _, observed = data
    log = slc(max_levels=8).fit(X, observed).imputation_log_
    frozen = {}
    for row in log:
        assert frozen.get(row["label"], row["imputed"]) == row["imputed"]
        if row["frozen"]:
            frozen[row["label"]] = row["imputed"]
    assert frozen


def test_one_class_labels_still_fit(data):
    X, _, observed = data
    labels = np.column_stack([observed[:, 0], np.zeros(200), np.ones(200)])
    P = slc().fit(X, labels).predict_proba(X)
    assert (P[:, 1] == 0).all()
    assert (P[:, 2] == 1).all()


def test_follows_scikit_learns_parameter_conventions():
    model = slc()
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_trees": 0}, "n_trees is 0; it must be a whole number of at least 1"),
        ({"n_trees": 2.5}, r"n_trees is 2\.5"),
        ({"max_levels": -1}, "max_levels is -1"),
        ({"threshold": 1}, "threshold is 1"),
        ({"percentile": 0}, "percentile is 0"),
        ({"imputation": "SLC"}, "imputation is 'SLC'; it must be None or 'slc'"),
        ({"min_samples_leaf": 101}, "200 training samples are fewer than two leaves of 101"),
    ],
)
def test_bad_parameters(data, change, sentence):
    X, _, observed = data
    with pytest.raises(ModelError, match=sentence):
        slc(**change).fit(X, observed)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.zeros(200), r"labels have shape \(200,\)"),
        (np.zeros((100, 2)), r"must be \(200, n_labels\)"),
        (np.zeros((200, 0)), "shape"),
        (np.full((200, 1), 3), "other than 0 and 1"),
        (np.full((200, 1), np.nan), "other than 0 and 1"),
    ],
)
def test_bad_labels(data, labels, sentence):
    with pytest.raises(ModelError, match=sentence):
        slc().fit(data[0], labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_must_be_finite(data, bad):
    X, _, observed = data
    X = X.copy()
    X[3, 2] = bad
    with pytest.raises(ModelError, match=r"contains .* Features must be finite"):
        slc().fit(X, observed)
    model = slc().fit(data[0], observed)
    with pytest.raises(ModelError, match=r"contains .* Features must be finite"):
        model.predict(X)
