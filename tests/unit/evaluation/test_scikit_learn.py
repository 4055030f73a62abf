import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

from fairfold.errors import DataError, ModelError
from fairfold.evaluation import cross_val_proba, make_scorer
from fairfold.metrics import METRICS, multilabel_scores
from fairfold.models import make_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, :3] + 0.5 * RNG.normal(size=(60, 3)) > 0.3).astype(int)
FOREST = RandomForestClassifier(20, random_state=0)
FOLDS = KFold(4)


def test_scores_are_those_of_scikit_learn():
    P = np.column_stack([each[:, 1] for each in cross_val_predict(FOREST, X, Y, cv=FOLDS, method="predict_proba")])
    expected = [average_precision_score(Y[test], P[test], average="micro") for _, test in FOLDS.split(X)]
    found = cross_val_score(FOREST, X, Y, cv=FOLDS, scoring=make_scorer("average_precision"))
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(cross_val_proba(FOREST, X, Y, cv=FOLDS), P)


def test_losses_are_negative():
    model = FOREST.fit(X[:40], Y[:40])
    P = np.column_stack([each[:, 1] for each in model.predict_proba(X[40:])])
    scores = multilabel_scores(Y[40:], P)
    for name in ("hamming_loss", "ranking_loss", "mcc"):
        assert make_scorer(name)(model, X[40:], Y[40:]) == METRICS[name].direction * scores[name]
    with pytest.raises(ModelError, match="unknown metric 'average_precisio': did you mean 'average_precision'"):
        make_scorer("average_precisio")


def test_unmeasured_labels_are_ignored():
    gaps = Y.astype(float)
    gaps[RNG.random(Y.shape) < 0.2] = np.nan
    model = make_model("logistic", random_state=0)
    P = cross_val_proba(model, X, gaps, cv=FOLDS)
    assert np.isfinite(P).all()
    parts = [(model.fit(X[train], gaps[train]), test) for train, test in FOLDS.split(X)]
    for fitted, test in parts[-1:]:
        np.testing.assert_array_equal(P[test], fitted.predict_proba(X[test]))
        expected = multilabel_scores(gaps[test], P[test])["average_precision"]
        assert make_scorer("average_precision")(fitted, X[test], gaps[test]) == expected


def test_folds_are_balanced_and_keep_groups():
    groups = np.repeat(np.arange(12), 5)
    seen = []

    class Recorder(RandomForestClassifier):
        def fit(self, X, y, **options):
            seen.append(set(X[:, -1]))
            return super().fit(X, y, **options)

    P = cross_val_proba(Recorder(5, random_state=0), np.column_stack([X, groups]), Y, cv=3, groups=groups)
    assert P.shape == Y.shape and np.isfinite(P).all() and len(seen) == 3
    assert sum(len(set(groups) - each) for each in seen) == 12  # Each group is left out once, as a whole.


def test_samples_of_no_test_part_have_no_prediction_and_of_several_are_refused():
    P = cross_val_proba(FOREST, X, Y, cv=[(np.arange(30), np.arange(50, 60))])
    assert np.isnan(P[:50]).all() and np.isfinite(P[50:]).all()
    with pytest.raises(DataError, match="cv has samples in several test parts"):
        cross_val_proba(FOREST, X, Y, cv=[(np.arange(30), np.arange(50, 60))] * 2)


def test_sparse_labels_and_data_frames():
    model = make_model("RandomForest", n_trees=5, random_state=0)
    dense = cross_val_proba(model, X, Y, cv=FOLDS)
    frame = cross_val_proba(model, pd.DataFrame(X, columns=[*"abcd"]), Y, cv=FOLDS)
    np.testing.assert_array_equal(frame, dense)
    found = cross_val_proba(make_model("Stack+", random_state=0), X, sparse.csr_array(Y), cv=FOLDS)
    assert found.shape == Y.shape
    for labels in (pd.DataFrame(Y), Y.tolist()):
        np.testing.assert_array_equal(cross_val_proba(model, X, labels, cv=FOLDS), dense)
    assert np.isfinite(cross_val_proba(model, X, Y, cv=np.int64(2))).all()


def test_bad_input_is_refused_in_one_sentence():
    with pytest.raises(DataError, match=r"Y: expected shape .* A single label is Y.reshape\(-1, 1\)"):
        cross_val_proba(FOREST, X, Y[:, 0])
    with pytest.raises(DataError, match="cv: found no fold"):
        cross_val_proba(FOREST, X, Y, cv=[])
    with pytest.raises(DataError, match=r"y: expected shape .* A single label is y.reshape\(-1, 1\)"):
        make_scorer("mcc")(FOREST, X, Y[:, 0])
