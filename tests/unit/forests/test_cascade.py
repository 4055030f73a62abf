"""The published cascades equal a plain implementation, level by level."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from fairfold.core.seeds import seed_for
from fairfold.errors import ModelError
from fairfold.forests import make_model
from fairfold.forests.cascade import CascadeForest
from fairfold.forests.embedding import TreeEmbedding
from fairfold.forests.levels import MAX_SHARE
from fairfold.forests.trees import MultilabelForest
from fairfold.metrics.registry import BASIC_METRICS, HIGHER_IS_BETTER
from fairfold.weak_labels import (
    fluid_label_addition,
    label_frequency,
    mask_positives,
    positive_cap,
    strict_label_complement,
    tice,
)

KINDS = ("random_forest", "extra_trees")
N_TREES, LEVELS = 15, 3
HALF, FULL = ({}, {}), ({"max_samples": 1.0}, {"bootstrap": False})


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((200, 8))
    truth = np.column_stack([X[:, 0] > 0.4, X[:, 1] + X[:, 2] > 0.9, X[:, 3] > 0.3]).astype(np.int8)
    return X[:150], mask_positives(truth[:150], 0.4, random_state=0), X[150:]


class Written:
    """Plain and slow cascade that follows the paper or the authors' code."""

    def __init__(self, *, embedding, crossing_over, imputation, published):
        self.embedding, self.crossing_over = embedding, crossing_over
        self.imputation, self.published = imputation, published

    def run(self, X, observed, new_X, random_state):
        """Return the probabilities of new samples and the labels, level by level."""
        self.seed = check_random_state(random_state).randint(2**31 - 1)
        labels, self.cap, self.frozen = observed, None, np.zeros(observed.shape[1], dtype=bool)
        predictors = self.pair([X, X], observed, 0, "predictor")
        yield self.mean(predictors, new_X), labels
        train = new = None
        for level in range(1, LEVELS + 1):
            encoders = predictors
            is_full = self.published and not self.embedding and self.imputation in ("slc", "fla")
            inputs, new_inputs = self.inputs(X, train, level), self.inputs(new_X, new, level)
            if is_full or (level > 1 and self.crossing_over):
                encoders = self.pair(inputs, labels, level, "encoder", draws=FULL if is_full else HALF)
            encoded = [self.encode(*pair) for pair in zip(encoders, new_inputs, strict=True)]
            train, new = zip(*encoded, strict=True)
            if self.imputation:
                labels = self.impute(level, X, observed, labels, np.hstack(train))
            predictors = self.pair([np.hstack([X, *train])] * 2, labels, level, "predictor")
            yield self.mean(predictors, np.hstack([new_X, *new])), labels

    def pair(self, inputs, labels, *names, draws=HALF):
        return [
            MultilabelForest(
                kind,
                n_trees=N_TREES,
                random_state=seed_for(self.seed, *(() if self.published else (*names, kind))),
                **drawn,
            ).fit(seen, labels)
            for kind, seen, drawn in zip(KINDS, inputs, draws, strict=True)
        ]

    def inputs(self, X, new, level):
        if level == 1:
            return [X, X]
        if not self.crossing_over:
            return [np.hstack([X, *new])] * 2
        return [np.hstack([X, new[1]]), np.hstack([X, new[0]])]

    def encode(self, forest, new_X):
        train, new = [], []
        if self.embedding:
            weighting = "authors-code" if self.published else "text"
            embedding = TreeEmbedding(max_share=MAX_SHARE[forest.kind], weighting=weighting).fit(forest)
            train.append(embedding.scores_)
            new.append(embedding.transform(forest.apply(new_X)))
        if self.embedding != "only":
            train.append(forest.training_proba_)
            new.append(forest.predict_proba(new_X))
        return np.hstack(train), np.hstack(new)

    def impute(self, level, X, observed, labels, new):
        active = np.flatnonzero(~self.frozen)
        if not len(active):
            return labels
        seen = new if self.published else np.hstack([X, new])
        if self.imputation == "lc":
            return self.complement(level, seen, observed, labels, active)
        forests = self.pair([seen, seen], labels[:, active], level, "imputer")
        oob = (forests[0].oob_proba_ + forests[1].oob_proba_) / 2
        if self.imputation == "fla":
            return fluid_label_addition(observed, oob, label_frequency(observed, oob))
        if self.cap is None:
            self.frequency = label_frequency(observed, oob)
            self.cap = positive_cap(observed, self.frequency, rounding="floor" if self.published else "ceil")
        frequency = self.frequency[active] if self.published else None
        labels = labels.copy()
        labels[:, active] = strict_label_complement(observed[:, active], oob, self.cap[active], frequency=frequency)
        self.frozen |= (labels.sum(axis=0) >= self.cap) & self.published
        return labels

    def complement(self, level, seen, observed, labels, active):
        if self.cap is None:
            variant = "authors-code" if self.published else "text"
            seed = seed_for(self.seed, "tice")
            frequency = tice(seen, observed, min_set_size=5, variant=variant, random_state=seed)
            self.cap = positive_cap(observed, frequency, rounding="floor" if self.published else "ceil")
        labels, votes = labels.copy(), np.ones((len(labels), len(active)), dtype=bool)
        folds = KFold(5, shuffle=True, random_state=seed_for(self.seed, level, "imputer")).split(seen)
        for fold, (train, test) in enumerate(folds):
            draws = FULL if self.published else HALF
            for forest in self.pair([seen[train]] * 2, labels[train][:, active], level, "imputer", fold, draws=draws):
                votes[test] &= forest.predict_proba(seen[test]) > 0.4
        labels[:, active] = observed[:, active] | votes
        self.frozen |= labels.sum(axis=0) >= self.cap
        return labels

    @staticmethod
    def mean(forests, X):
        return (forests[0].predict_proba(X) + forests[1].predict_proba(X)) / 2


@pytest.mark.parametrize("variant", ["text", "authors-code"])
@pytest.mark.parametrize(
    ("name", "embedding", "crossing_over", "imputation"),
    [
        ("gcForest", "", False, None),
        ("LCForest", "", False, "lc"),
        ("CaFE", "only", True, None),
        ("CaFE-OS", "also", True, None),
        ("SLCForest", "", True, "slc"),
        ("FLAForest", "", True, "fla"),
        ("CaFE-SLC", "also", True, "slc"),
        ("CaFE-FLA", "also", True, "fla"),
    ],
)
def test_equals_the_cascade_written_out(data, name, embedding, crossing_over, imputation, variant):
    X, observed, new_X = data
    model = make_model(name, variant=variant, n_trees=N_TREES, max_levels=LEVELS, random_state=7).fit(X, observed)
    written = Written(
        embedding=embedding, crossing_over=crossing_over, imputation=imputation, published=variant == "authors-code"
    )
    levels = list(model.staged_predict_proba(new_X))
    expected = list(written.run(X, observed, new_X, 7))[: len(levels)]
    assert len(levels) == len(model.training_labels_) == LEVELS + 1 or (name, variant) in (
        ("gcForest", "text"),
        ("LCForest", "text"),
    )
    for (P, labels), ours, our_labels in zip(expected, levels, model.training_labels_, strict=True):
        np.testing.assert_array_equal(our_labels, labels)
        np.testing.assert_allclose(ours, P, rtol=0, atol=1e-12)
    if imputation:
        assert (model.training_labels_[-1] != observed).any()


def test_full_samples(data):
    """Unweighted encoders draw all samples, and extra trees draw each one once. Predictors draw half of the samples."""
    X, observed, _ = data
    settings = {"n_trees": 20, "max_levels": 2, "random_state": 0}
    model = make_model("gcForest", **settings, full_samples=("encoder",)).fit(X, observed)
    for level in model.levels_[1:]:
        forest, trees = (encoder.forest for encoder in level.encoders)
        assert (forest.weight_[forest.tree_starts_[:-1]] == len(X)).all() and 0.6 < forest.in_bag_.mean() < 0.66
        assert trees.in_bag_.all() and (trees.weight_[trees.tree_starts_[:-1]] == len(X)).all()
        assert all(p.weight_[0] == len(X) // 2 for p in level.predictors)
    weights = np.where(np.arange(len(X)) < 50, 9.0, 1.0)
    weighted = make_model("FLAForest", variant="authors-code", **settings).fit(X, observed, sample_weight=weights)
    for encoder in weighted.levels_[1].encoders:
        in_bag = encoder.forest.in_bag_.mean(axis=1)
        assert in_bag[:50].mean() > 0.85 and in_bag[50:].mean() < 0.35


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"full_samples": "encoder"}, "full_samples is 'encoder'; it can contain 'encoder' and 'imputer'"),
        ({"full_samples": ["predictor"]}, r"full_samples is \['predictor'\]; it can contain"),
        ({"full_samples": ["imputer"], "imputation": "fla"}, "but imputation 'fla' needs out-of-bag probabilities"),
    ],
)
def test_full_samples_that_cannot_be(data, options, message):
    with pytest.raises(ModelError, match=message):
        CascadeForest(n_trees=2, max_levels=1, random_state=0, **options).fit(*data[:2])


def test_one_level_for_a_single_pair_of_forests(data):
    X, observed, new_X = data
    model = make_model("RF+ET", n_trees=N_TREES, random_state=7).fit(X, observed)
    assert len(model.levels_) == 1 and set(model.best_levels_.values()) == {0}
    cascade = make_model("gcForest", n_trees=N_TREES, max_levels=1, random_state=7).fit(X, observed)
    np.testing.assert_array_equal(model.predict_proba(new_X), next(cascade.staged_predict_proba(new_X)))


def test_lcforest_stops_when_every_label_has_reached_its_cap(data):
    X, observed, _ = data
    # All samples are positive where the features allow it, and the caps of TIcE are soon reached.
    settings = {"n_trees": N_TREES, "max_levels": 6, "lc_threshold": 0.05, "random_state": 0}
    model = make_model("LCForest", **settings).fit(X, observed)
    assert len(model.levels_) < 7
    whole = make_model("LCForest", **settings, early_stopping=False).fit(X, observed)
    assert len(whole.levels_) == 7 and whole.best_levels_ == model.best_levels_
    last = [row for row in model.imputation_log_ if row["level"] == len(model.levels_) - 1]
    assert len(last) == observed.shape[1]
    assert all(row["frozen"] and row["observed"] + row["imputed"] >= row["cap"] for row in last)
    assert set(model.best_levels_.values()) == {len(model.levels_) - 1}


def scored(length_control, values, metric="average_precision"):
    """Return a cascade with the given scores at levels 0, 1, 2, ..."""
    model = CascadeForest(length_control=length_control)
    model.levels_ = [None] * len(values)
    others = dict.fromkeys(BASIC_METRICS, 0.5)
    good = [{**others, metric: value} for value in values]
    bad = [dict(others) for _ in values]
    model.imputation_log_ = []
    training = "training" in length_control
    model.training_scores_, model.oob_scores_ = (good, bad) if training else (bad, good)
    return model


@pytest.mark.parametrize(
    ("length_control", "metric", "values", "level"),
    [
        ("best-oob", "average_precision", [0.9, 0.2, 0.5, 0.5, 0.1], 2),  # first of equal scores, never level 0
        ("best-oob", "hamming_loss", [0.0, 0.2, 0.1, 0.3, 0.4], 2),
        ("best-oob", "average_precision", [0.9, np.nan, 0.3, np.nan], 2),
        ("best-training", "mcc", [0.9, -0.2, 0.4, 0.3], 2),
        ("first-drop", "average_precision", [0.9, 0.2, 0.3, 0.3, 0.1, 0.8], 3),
        ("first-drop", "hamming_loss", [0.0, 0.3, 0.2, 0.4, 0.1], 2),
        ("first-drop", "average_precision", [0.9, 0.2, 0.3], 2),  # no drop: the last level
        ("best-oob", "average_precision", [0.9, 0.3, 0.1 + 0.2, 0.1], 1),  # equal up to rounding
        ("first-drop", "average_precision", [0.9, 0.1 + 0.2, 0.3, 0.1], 2),
        ("imputation-limit", "average_precision", [0.9, 0.5, 0.2], 2),
        ("training-tolerance", "mcc", [0.9, 0.1, 0.5, 0.5, 0.4, 0.5, 0.8], 2),  # three levels without a better score
        ("training-tolerance", "mcc", [0.9, 0.1, 0.5, 0.5, 0.4, 0.6, 0.3], 5),
        ("best-oob", "average_precision", [0.9], 0),
    ],
)
def test_length_control(length_control, metric, values, level):
    assert scored(length_control, values, metric)._choose_levels()[metric] == level


@pytest.mark.parametrize("crossing_over", [False, True])
def test_two_pairs_of_forests_per_level(data, crossing_over):
    X, observed, new_X = data
    settings = {"n_trees": 5, "max_levels": 2, "random_state": 3, "early_stopping": False}
    model = make_model("gcForest-4", crossing_over=crossing_over, **settings).fit(X, observed)
    single = make_model("gcForest", crossing_over=crossing_over, **settings).fit(X, observed)
    n_features, n_labels = X.shape[1], observed.shape[1]
    for level in model.levels_[1:]:
        assert [forest.kind for forest in level.predictors] == [*KINDS, *KINDS]
        assert {forest.n_features_in_ for forest in level.predictors} == {n_features + 4 * n_labels}
    n_seen = {encoder.forest.n_features_in_ for encoder in model.levels_[2].encoders}
    assert n_seen == {n_features + (3 if crossing_over else 4) * n_labels}
    first, pair = (each.levels_[0].predictors for each in (model, single))
    for ours, theirs in zip(first, pair, strict=False):
        np.testing.assert_array_equal(ours.predict_proba(new_X), theirs.predict_proba(new_X))
    assert not np.array_equal(first[0].predict_proba(new_X), first[2].predict_proba(new_X))
    mean = np.mean([forest.predict_proba(new_X) for forest in first], axis=0)
    np.testing.assert_allclose(next(model.staged_predict_proba(new_X)), mean, rtol=0, atol=1e-12)


def test_mldf_stops_after_three_levels_without_a_better_training_score(data):
    X, observed, _ = data
    settings = {"n_trees": 5, "max_levels": 20, "random_state": 3}
    model = make_model("MLDF", **settings).fit(X, observed)
    n_levels = len(model.levels_) - 1
    assert n_levels < 20 and max(model.best_levels_.values()) == n_levels - 3
    with pytest.raises(ModelError, match="n_pairs"):
        make_model("MLDF", n_pairs=0, **settings).fit(X, observed)


@pytest.mark.parametrize("name", ["gcForest", "CaFE-FLA", "LCForest", "RF+ET"])
def test_the_level_may_be_chosen_by_other_labels(name):
    """The level may be chosen on complete labels, as in the authors' code. The cascade itself does not change."""
    rng = np.random.default_rng(3)
    X = rng.random((120, 6))
    truth = (X[:, :4] + 0.3 * rng.random((120, 4)) > 0.7).astype(np.int8)
    observed = mask_positives(truth, 0.7, random_state=0)
    model = make_model(name, variant="authors-code", n_trees=10, max_levels=4, random_state=0).fit(X, observed)
    before, by_observed = list(model.staged_predict_proba(X)), dict(model.best_levels_)
    assert model.choose_levels_by(truth) is model
    proba = [np.mean([forest.oob_proba_ for forest in level.predictors], axis=0) for level in model.levels_]
    scores = [average_precision_score(truth.ravel(), each.ravel()) for each in proba]
    expected = np.argmax(scores)
    assert model.best_level_ == model.best_levels_["average_precision"] == expected
    assert name == "RF+ET" or model.best_levels_ != by_observed
    np.testing.assert_array_equal(before, list(model.staged_predict_proba(X)))
    np.testing.assert_array_equal(model.predict_proba(X), before[expected])


def test_growth_stops_when_every_score_has_dropped():
    model = scored("first-drop", [0.5, 0.6, 0.4])
    assert not model._is_long_enough(None)  # the other scores have not dropped
    for score, lower in zip(model.oob_scores_, (0.5, 0.6, 0.4), strict=True):
        score.update({metric: lower if more else 1 - lower for metric, more in HIGHER_IS_BETTER.items()})
    assert model._is_long_enough(None)


def test_imputation_lets_forests_find_hidden_labels(data):
    X, observed, new_X = data
    truth = np.column_stack([new_X[:, 0] > 0.4, new_X[:, 1] + new_X[:, 2] > 0.9, new_X[:, 3] > 0.3])
    wrong = {}
    for name in ("RF+ET", "SLCForest", "FLAForest", "CaFE-FLA", "LCForest"):
        model = make_model(name, variant="authors-code", n_trees=40, random_state=0).fit(X, observed)
        wrong[name] = np.mean(model.predict(new_X) != truth)
    assert all(wrong[name] < wrong["RF+ET"] for name in wrong if name != "RF+ET"), wrong


def test_a_single_level_of_sparse_labels_is_not_scored():
    rng = np.random.default_rng(0)
    X, Y = rng.random((60, 4)), sparse.csr_array((rng.random((60, 130)) < 0.1).astype(np.int8))
    model = CascadeForest(length_control="single", n_trees=5, random_state=0).fit(X, Y)
    assert model.oob_scores_ == [{}] and set(model.best_levels_.values()) == {0}
    assert model.predict_proba(X).shape == Y.shape
