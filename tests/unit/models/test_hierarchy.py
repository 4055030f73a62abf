"""Test models of hierarchical labels, from folds to scores, without violations of the true-path rule."""

import numpy as np
import pytest
from representatives import REPRESENTATIVES

from fairfold.core.hierarchy import Hierarchy
from fairfold.datasets import prepare
from fairfold.datasets.generate import gene_ontology_like
from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.evaluation.hierarchical import score_hierarchy
from fairfold.forests.imputers import FluidLabelAddition, PosteriorImputer
from fairfold.models import load_model, make_model
from fairfold.models.registry import settings_of
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels.masking import hide_in_training_parts, mask_positives, observed_labels

FEW = {"n_trees": 4, "max_levels": 1, "shape": "paper"}


@pytest.fixture(scope="module")
def data():
    X, Y, _, _, hierarchy = gene_ontology_like(120, 6, 5, noise=3)
    return X, mask_positives(Y.toarray(), 0.3, hierarchy=hierarchy, random_state=0), hierarchy


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_nothing_that_a_model_states_breaks_the_rule(data, name, tmp_path):
    X, Y, hierarchy = data
    model = make_model(name, hierarchy=hierarchy, random_state=0, **settings_of(name, FEW, "text"))
    model.fit(X[:80], Y[:80])
    predictions = [*model.staged_predict_proba(X[80:]), *model.training_labels_, model.predict(X[80:])]
    if name.endswith("+"):
        predictions += [model.out_of_fold_proba_]
        predictions += [model.predict_observed_proba(X[80:])]
        predictions += [model.predict(X[80:], objective="mcc", by="label")]
    assert [hierarchy.n_violations(each) for each in predictions] == [0] * len(predictions)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X[80:]), model.predict_proba(X[80:]))
    assert loaded.hierarchy.edges.tolist() == hierarchy.edges.tolist()


def test_without_a_hierarchy_the_rule_is_broken(data):
    X, Y, hierarchy = data
    assert hierarchy.n_violations(make_model("logistic").fit(X, Y).predict_proba(X)) > 0


@pytest.mark.parametrize("name", ["logistic", "RF+ET", "gcForest+"])
def test_a_hierarchy_of_other_labels_is_refused(data, name):
    model = make_model(name, hierarchy=Hierarchy([[1, 0]], 2), **settings_of(name, FEW, "text"))
    with pytest.raises(ModelError, match="the hierarchy has 2 labels, but Y has 6"):
        model.fit(*data[:2])


def test_what_is_above_an_imputed_label_is_imputed():
    observed = np.array([[1, 1], [1, 1], [0, 0], [np.nan, 0], [0, 0]])
    P = np.array([[[0.5, 0.5], [0.5, 0.5], [0.1, 0.9], [0.1, 0.9], [0.1, 0.1]]])
    imputer = FluidLabelAddition(observed, percentile=1.0, threshold=0.5, hierarchy=Hierarchy([[1, 0]], 2))
    assert imputer.impute(1, P).tolist() == [[1, 1], [1, 1], [1, 1], [1, 1], [0, 0]]
    alone = FluidLabelAddition(observed, percentile=1.0, threshold=0.5)
    np.testing.assert_array_equal(alone.impute(1, P), [[1, 1], [1, 1], [0, 1], [np.nan, 1], [0, 0]])
    shares = PosteriorImputer(observed, is_strict=False, threshold=0.5, hierarchy=Hierarchy([[1, 0]], 2))
    labels = shares.impute(1, np.full((5, 2), [0.1, 0.3]), 0.5)
    np.testing.assert_allclose(labels[2:, 0], labels[2:, 1])


def test_the_whole_chain_has_no_violation():
    data = prepare("gene-ontology-like")
    fold_of = IterativeStratification(3, random_state=0).assign(data.Y)
    hidden = hide_in_training_parts(data.Y, fold_of, 0.5, seed=1, names=("chain",), hierarchy=data.hierarchy)
    assert data.hierarchy.n_violations(data.Y) == 0
    found = score_on_folds(
        lambda fold: make_model("FLAForest", n_trees=4, max_levels=1, hierarchy=data.hierarchy, random_state=fold),
        *(data.X, data.Y, fold_of),
        observed=lambda fold: observed_labels(data.Y, hidden, fold),
    )
    scores = score_hierarchy(data.Y, found.predictions, data.hierarchy)
    assert (scores["n_violations"] == 0).all() and len(scores) == 9
    f_max = scores.query("metric == 'f_max'")["value"]
    prior = np.tile(np.asarray(data.Y.mean(axis=0)).ravel(), (len(fold_of), 1))
    predictions = found.predictions._replace(probabilities=np.stack([prior] * len(found.predictions.probabilities)))
    naive = score_hierarchy(data.Y, predictions, data.hierarchy).query("metric == 'f_max'")["value"]
    assert (f_max.to_numpy() > naive.to_numpy()).all()  # features predict the terms
