"""Scores on complete labels, estimated from observed ones, are unbiased over all ways to hide labels of tiny tables."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.metrics import average_precision_score, f1_score, matthews_corrcoef, roc_auc_score

from fairfold.errors import DataError, ModelError
from fairfold.metrics.ranked_cells import Cells, Ranking, RankingLoss, chances_of_positives
from fairfold.metrics.registry import METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels import corrected
from fairfold.missing_labels.corrected import CORRECTED, corrected_draws, corrected_scores, frequency_if_hard

COMPLETE = ("average_precision", "roc_auc", "mcc", "hamming_loss", "ranking_loss")


@pytest.fixture(scope="module")
def table():
    """Labels and informative probabilities with ties."""
    rng = np.random.default_rng(0)
    Y = (rng.random((150, 5)) < [0.1, 0.2, 0.3, 0.5, 0.8]).astype(int)
    return Y, ((0.5 * Y + rng.random(Y.shape)) / 1.5).round(1)


@pytest.fixture(scope="module")
def many():
    """Enough samples to make random error small, with correlated labels and probabilities."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(6000, 1)) + rng.normal(size=(6000, 8)) + np.linspace(-2, 0, 8)
    return (z > 0.8).astype(int), 1 / (1 + np.exp(-2 * (z + rng.normal(size=z.shape) - 0.8)))


def hide(Y, frequency, seed=0):
    return Y * (np.random.default_rng(seed).random(Y.shape) < frequency)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_complete_labels_they_are_the_scores(table, weighted):
    Y, P = table
    weights = np.random.default_rng(2).integers(1, 5, size=len(Y)) / 2 if weighted else None
    found = corrected_scores(Y, P, 1.0, sample_weight=weights)
    expected = multilabel_scores(Y, P, sample_weight=weights)
    for metric in COMPLETE:
        assert found[metric] == pytest.approx(expected[metric], abs=1e-12)
    options, hits = {"sample_weight": weights}, P > 0.5
    flat = {} if weights is None else {"sample_weight": np.repeat(weights, Y.shape[1])}
    assert found["f1_micro"] == pytest.approx(f1_score(Y.ravel(), hits.ravel(), **flat), abs=1e-12)
    assert found["f1_macro"] == pytest.approx(f1_score(Y, hits, average="macro", **options), abs=1e-12)
    macro = {"average": "macro", **options}
    assert found["average_precision_macro"] == pytest.approx(average_precision_score(Y, P, **macro), abs=1e-12)
    assert found["roc_auc_macro"] == pytest.approx(roc_auc_score(Y, P, **macro), abs=1e-12)
    of_labels = [matthews_corrcoef(y, hit, **options) for y, hit in zip(Y.T, hits.T, strict=True)]
    assert found["mcc_macro"] == pytest.approx(np.mean(of_labels), abs=1e-12)


def test_unmeasured_labels_take_no_part(table):
    Y, P = table
    gone = np.random.default_rng(3).random(Y.shape) < 0.3
    found = corrected_scores(np.where(gone, np.nan, Y), P, 1.0)
    expected = multilabel_scores(np.where(gone, np.nan, Y), P)
    for metric in COMPLETE:
        assert found[metric] == pytest.approx(expected[metric], abs=1e-12)
    for metric, score in (("average_precision_macro", average_precision_score), ("roc_auc_macro", roc_auc_score)):
        by_label = [score(y[~no], p[~no]) for y, p, no in zip(Y.T, P.T, gone.T, strict=True)]
        assert found[metric] == pytest.approx(np.mean(by_label), abs=1e-12)


def test_sparse_labels_are_those_of_the_array(table):
    Y, P = table
    assert corrected_scores(sparse.csr_array(hide(Y, 0.5)), P, 0.5) == corrected_scores(hide(Y, 0.5), P, 0.5)


@pytest.mark.parametrize("threshold", [0.5, 0])
@pytest.mark.parametrize("frequency", [1, 0.6, "labels", "cells"])
def test_sparse_probabilities_are_those_of_the_array(table, frequency, threshold):
    """Cover ties, unmeasured labels, observed labels of probability 0, a label without positives, and weights."""
    (Y, P), rng = table, np.random.default_rng(5)
    Y, P = hide(Y, 0.6), np.where(P < 0.4, 0, P)
    Y = np.where(rng.random(Y.shape) < 0.1, np.nan, Y)
    Y[:, 4], P[:, 4] = np.where(rng.random(len(Y)) < 0.05, np.nan, 0), 0
    frequency = {"labels": rng.uniform(0.5, 1, Y.shape[1]), "cells": rng.uniform(0.5, 1, Y.shape)}.get(
        frequency, frequency
    )
    given = {"threshold": threshold, "sample_weight": rng.integers(1, 5, size=len(Y))}
    dense = corrected_scores(Y, P, frequency, **given)
    assert corrected_scores(sparse.csr_array(Y), sparse.csr_array(P), frequency, **given) == pytest.approx(dense)
    dense = corrected_draws(Y, P, frequency, n_draws=5, **given)
    for metric, draws in corrected_draws(Y, sparse.csr_array(P), frequency, n_draws=5, **given).items():
        np.testing.assert_allclose(draws, dense[metric])


def tiny():
    """Return labels, probabilities, the label frequency of each cell and the weight of each sample."""
    Y = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1]])
    P = np.array([[0.9, 0.4, 0.4], [0.4, 0.7, 0.2], [0.3, 0.9, 0.1], [0.5, 0.2, 0.6]])
    frequency = np.array([[0.5, 0.9, 0.3], [0.8, 0.4, 0.6], [0.7, 0.5, 0.5], [0.2, 0.3, 0.9]])
    return Y, P, frequency, np.array([1.0, 2.0, 0.5, 1.5])


def over_all_masks(Y, frequency, of):
    """Return the mean of ``of(observed)`` over all ways to hide positives, weighted by probability."""
    cells, total = np.argwhere(Y), 0.0
    for kept in product((0, 1), repeat=len(cells)):
        chance = np.prod([c if one else 1 - c for one, c in zip(kept, frequency[tuple(cells.T)], strict=True)])
        observed = np.zeros_like(Y)
        observed[tuple(cells.T)] = kept
        total = total + chance * np.array(of(observed))
    return total


def plain_sums(y, p, weight):
    """Compute the terms of average precision and AUROC, pair by pair."""
    n, at_least = range(len(y)), [weight[p >= each].sum() for each in p]
    hits = [sum(weight[k] * y[k] for k in n if p[k] >= p[i]) for i in n]
    precision = sum(weight[i] * y[i] * hits[i] / at_least[i] for i in n)
    pairs = [(i, k, weight[i] * y[i] * weight[k] * (1 - y[k])) for i in n for k in n if i != k]
    ordered = sum(size * ((p[k] < p[i]) + (p[k] == p[i]) / 2) for i, k, size in pairs)
    return precision, (weight * y).sum(), ordered, sum(size for *_, size in pairs)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("macro", [False, True])
def test_both_sides_of_each_fraction_are_right_on_average_over_all_masks(macro, kind):
    Y, P, frequency, weights = tiny()
    P = np.where(P < 0.3, 0, P)  # not stored
    parts = range(Y.shape[1]) if macro else [slice(None)]

    def sums_of(label, observed):
        cells = Cells.of(observed, kind(P)).divided_by(frequency)
        members = np.flatnonzero(cells.labels == label) if macro else None
        weighed = Ranking(cells, members).weigh(cells.w, weights)
        return [*weighed.precision_sums(), *weighed.order_sums()]

    for part in parts:
        found = over_all_masks(Y, frequency, lambda observed, part=part: sums_of(part, observed))
        of = np.repeat(weights[:, np.newaxis], Y.shape[1], axis=1)
        np.testing.assert_allclose(found, plain_sums(*(each[:, part].ravel() for each in (Y, P, of))), atol=1e-12)


def test_hamming_loss_is_right_on_average_over_all_masks():
    Y, P, _, weights = tiny()
    P = P / 2 + 0.49  # all are predicted, so no count is clipped
    options = {"threshold": 0.4, "metrics": ["hamming_loss"], "sample_weight": weights}
    some = Y.copy()
    some[:, 1] = 0
    found = over_all_masks(
        some,
        np.full(Y.shape, 0.9),
        lambda seen: corrected_scores(seen, P, 0.9, **options)["hamming_loss"] if seen.any() else 0,
    )
    none = 0.1 ** some.sum()  # Without an observed label the score is undefined; it would be 1.
    expected = corrected_scores(some, P, 1.0, **options)["hamming_loss"]
    assert found + none == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("n_positives", [1, 2, 3])
def test_ranking_loss_of_every_mask_in_its_share_is_that_of_complete_labels(n_positives):
    """The population contains each mask of a sample in proportion to the mask's probability."""
    rng = np.random.default_rng(4)
    Y = np.array([rng.permutation(np.arange(6) < n_positives) for _ in range(5)]).astype(int)
    P, frequency = rng.random(Y.shape).round(2), 0.6
    masks = [np.array(kept) for kept in product((0, 1), repeat=n_positives)]
    observed, chance = np.repeat(Y, len(masks), axis=0), []
    for row in range(len(observed)):
        kept = masks[row % len(masks)]
        observed[row, np.flatnonzero(observed[row])] = kept
        chance.append(frequency ** kept.sum() * (1 - frequency) ** (n_positives - kept.sum()))
    options = {"metrics": ["ranking_loss"]}
    found = corrected_scores(observed, np.repeat(P, len(masks), axis=0), frequency, sample_weight=chance, **options)
    assert found["ranking_loss"] == pytest.approx(corrected_scores(Y, P, 1.0, **options)["ranking_loss"], abs=2e-3)


def plain_ranking_loss(Y, P, frequency, weights):
    """Compute the loss by the definition of :class:`RankingLoss`, sample by sample."""
    drawn = weights > 0
    Y, P, weights = Y[drawn], P[drawn], weights[drawn]
    seen = [(y[y >= 0], p[y >= 0], weight) for y, p, weight in zip(Y, P, weights, strict=True)]
    k, q = (np.array(each) for each in zip(*((int(y.sum()), len(y)) for y, *_ in seen), strict=True))
    m, shares, chances = chances_of_positives(tuple(np.bincount(k, weights)), len(k), int(q.max()), frequency)
    known = [(y, p, weight, chances[int(y.sum())]) for y, p, weight in seen if y.any()]
    A, t, expected, weight = [], [], [], np.array([weight for *_, weight, _ in known])
    for y, p, _, chance in known:
        positives = p[y == 1]
        A.append(np.mean([(p >= each).sum() - 1 for each in positives]))
        ties = [((positives == each).sum() - 1) / (len(positives) - 1) for each in positives if len(positives) > 1]
        t.append(np.mean(ties) if ties else np.nan)
        expected.append(chance @ m)
    A, t, expected = map(np.array, (A, t, expected))
    t[np.isnan(t)] = np.average(t[~np.isnan(t)], weights=weight[~np.isnan(t)])
    slope = np.cov(expected, A, aweights=weight)[0, 1] / np.cov(expected, aweights=weight) if frequency < 1 else 0.0
    above, below = np.zeros(len(m)), np.zeros(len(m))
    for (y, _, of_sample, chance), a, tie, e in zip(known, A, t, expected, strict=True):
        for number in m:
            loss = 0.0
            if 0 < number < len(y):
                loss = (a + slope * (number - e) - (number - 1) * (1 + tie) / 2) / (len(y) - number)
            above[number] += of_sample * chance[number] * loss
            below[number] += of_sample * chance[number]
    return shares @ np.divide(above, below, out=np.zeros(len(m)), where=below > 0)


@pytest.mark.parametrize("frequency", [1.0, 0.8, 0.4])
@pytest.mark.parametrize("unmeasured", [False, True])
def test_ranking_loss_is_that_of_samples_one_by_one(table, frequency, unmeasured):
    """Cover ties, varying numbers of labels per sample, weights, and samples that are not drawn."""
    (Y, P), rng = table, np.random.default_rng(11)
    Y = hide(Y, frequency)
    Y = np.where((rng.random(Y.shape) < 0.3) & unmeasured, np.nan, Y)
    weights = rng.integers(0, 4, len(Y)) / 2
    found = RankingLoss(Cells.of(Y, P)).of(weights, frequency)
    assert found == pytest.approx(plain_ranking_loss(Y, P, frequency, weights), rel=1e-9)


def test_ranking_loss_where_no_sample_shows_two_positives():
    """Samples with several positives would sometimes show two, so each sample is estimated to have one."""
    rng = np.random.default_rng(0)
    Y = np.eye(4, dtype=int)[rng.integers(0, 4, 600)]
    P = np.clip(0.3 * Y + 0.7 * rng.random(Y.shape), 0, 1)
    observed = Y * (rng.random(Y.shape) < 0.3)
    found = corrected_scores(observed, P, 0.3, metrics=["ranking_loss"])["ranking_loss"]
    assert found == pytest.approx(multilabel_scores(Y, P)["ranking_loss"], rel=0.15)


@pytest.mark.parametrize("frequency", [0.7, 0.5, 0.3])
def test_they_are_close_where_samples_are_many(many, frequency):
    Y, P = many
    truth, naive = corrected_scores(Y, P, 1.0), corrected_scores(hide(Y, frequency), P, 1.0)
    found = [corrected_scores(hide(Y, frequency, seed), P, frequency) for seed in range(4)]
    for metric in CORRECTED:
        mean = np.mean([each[metric] for each in found])
        assert mean == pytest.approx(truth[metric], abs=0.02), metric
    for metric in ("average_precision", "average_precision_macro", "f1_micro", "mcc", "hamming_loss"):
        assert abs(naive[metric] - truth[metric]) > 2 * abs(found[0][metric] - truth[metric]) + 0.01


def test_frequencies_may_differ_between_labels_and_cells(many):
    Y, P = many
    by_label = np.linspace(0.3, 0.9, 8)
    observed, truth = hide(Y, by_label), corrected_scores(Y, P, 1.0)
    found, of_cells, alike = (
        corrected_scores(observed, P, c)
        for c in (by_label, np.broadcast_to(by_label, Y.shape), observed.sum() / Y.sum())
    )
    for metric in CORRECTED:
        assert found[metric] == pytest.approx(truth[metric], abs=0.03), metric
        assert of_cells[metric] == pytest.approx(found[metric], abs=1e-12)
    assert abs(alike["average_precision_macro"] - truth["average_precision_macro"]) > 0.05


def test_hard_positives_that_are_missing_more_often_lower_scores(many):
    Y, P = many
    odds = (1 / 0.5 - 1) * 4 ** (np.argsort(np.argsort(-P[Y == 1])) / Y.sum() - 0.5)
    observed = Y.copy()
    observed[Y == 1] = np.random.default_rng(0).random(Y.sum()) < 1 / (1 + odds)
    share, names = observed.sum() / Y.sum(), ("average_precision", "mcc")
    of_factors = {factor: frequency_if_hard(observed, P, share, factor) for factor in (0.25, 1, 4)}
    for frequency in of_factors.values():
        assert (1 / frequency[observed == 1]).sum() == pytest.approx(Y.sum())
    assert of_factors[1] == pytest.approx(np.full(Y.shape, share))
    easy, random, hard = (corrected_scores(observed, P, each, metrics=names) for each in of_factors.values())
    truth = multilabel_scores(Y, P, metrics=names)
    for name in names:
        assert easy[name] > random[name] > hard[name]
        assert hard[name] == pytest.approx(truth[name], abs=0.02)
        assert abs(random[name] - truth[name]) > 2 * abs(hard[name] - truth[name])


BY_LABEL = [name for name in METRICS if name.endswith("_macro") and METRICS[name].correction]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_labels_without_an_observed_positive_count_in_means_as_in_the_score_itself(table, kind):
    Y, P = table
    Y = np.column_stack([Y, np.zeros(len(Y), dtype=int), np.full(len(Y), np.nan)])
    P = np.column_stack([P, np.linspace(0, 1, len(P)), np.full(len(P), 0.5)])
    found = corrected_scores(Y, kind(P), 1.0, metrics=BY_LABEL)
    assert found == pytest.approx(multilabel_scores(Y, P, metrics=BY_LABEL), abs=1e-12)
    # Draws that contain all samples once give the same scores.
    once = np.ones((1, len(Y)), dtype=int)
    draws = corrected_draws(Y, kind(P), 1.0, metrics=BY_LABEL, counts=once)
    assert {name: values.tolist() for name, values in draws.items()} == {
        name: [pytest.approx(value)] for name, value in found.items()
    }


def test_a_label_whose_positives_are_not_drawn_counts_in_means_as_in_the_score_itself(table):
    Y, P = table
    rare = np.arange(len(Y)) == 3
    Y, P = np.column_stack([Y, rare.astype(int)]), np.column_stack([P, np.where(rare, 0.9, 0.1)])
    drawn = np.where(rare, 0, 1)[np.newaxis]
    draws = corrected_draws(Y, P, 1.0, metrics=BY_LABEL, counts=drawn)
    expected = multilabel_scores(Y[~rare], P[~rare], metrics=BY_LABEL)
    assert {name: values.item() for name, values in draws.items()} == pytest.approx(expected, abs=1e-12)


UNDEFINED = ("average_precision", "roc_auc", "mcc")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("frequency", [1.0, 0.6])
def test_what_needs_two_labels_is_undefined_for_one(table, kind, frequency):
    Y, P = (each[:, 2:3] for each in table)
    found = corrected_scores(Y, kind(P), frequency)
    assert {metric for metric, value in found.items() if np.isnan(value)} == {"ranking_loss"}
    draws = corrected_draws(Y, kind(P), frequency, n_draws=3)
    assert np.isnan(draws["ranking_loss"]).all() and np.isfinite(draws["mcc"]).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 151)])
def test_without_a_negative_there_is_nothing_to_order(table, kind, weights):
    _, P = table
    given = {"metrics": [*UNDEFINED, "ranking_loss", "mcc_macro", "average_precision_macro"], "sample_weight": weights}
    assert np.isnan([*corrected_scores(np.ones(P.shape, dtype=int), kind(P), 1.0, **given).values()]).all()
    half = np.ones(P.shape, dtype=int)  # consistent with a population of positives only
    half[::2] = 0
    if weights is None:
        assert np.isnan([*corrected_scores(half, kind(P), 0.5, **given).values()]).all()


def test_means_over_labels_leave_out_labels_without_a_negative(table):
    Y, P = table
    wide = np.column_stack([Y, np.ones(len(Y), dtype=int)]), np.column_stack([P, np.linspace(0, 1, len(P))])
    for metric in UNDEFINED:
        name = f"{metric}_macro"
        found = [corrected_scores(*each, 1.0, metrics=[name])[name] for each in (wide, (Y, P))]
        assert found[0] == found[1], metric


def test_ranking_loss_of_samples_without_both_labels(table):
    """Samples with all labels or without labels have a loss of 0, as in scikit-learn."""
    Y, P = table
    more = np.repeat([[0] * 5, [1] * 5], len(Y), axis=0)
    for labels in (Y, np.where(P > 0.95, np.nan, Y)):
        together, scores = np.vstack([labels, more]), np.vstack([P, P, P])
        found = corrected_scores(together, scores, 1.0, metrics=["ranking_loss"])["ranking_loss"]
        assert found == pytest.approx(multilabel_scores(together, scores)["ranking_loss"], abs=1e-12)


def test_a_metric_without_a_correction_is_named(table):
    with pytest.raises(DataError, match=r"metrics: 'recall_at_5' cannot be corrected for missing labels\. "):
        corrected_scores(*table, 0.5, metrics=["recall_at_5"])


def test_nothing_observed_states_nothing(table):
    Y, P = table
    assert all(np.isnan(value) for value in corrected_scores(0 * Y, P, 0.5).values())


def test_estimates_stay_in_the_range_of_their_score(table):
    Y, P = table
    found = corrected_scores(hide(Y, 0.9), P, 0.05)
    assert found["hamming_loss"] == 1 - (P > 0.5).mean() and found["f1_micro"] > 0
    left = {metric for metric, value in found.items() if np.isnan(value)}  # no negatives remain
    assert left == {"average_precision", "roc_auc", "mcc"} | {f"{name}_macro" for name in UNDEFINED}
    assert all(0 <= value <= 1 for metric, value in found.items() if metric not in left)


class TestDraws:
    def test_they_scatter_as_estimates_do(self, many):
        Y, P = (each[:1500] for each in many)
        metrics = ["average_precision", "roc_auc", "f1_micro", "hamming_loss", "ranking_loss"]
        draws = corrected_draws(hide(Y, 0.5), P, 0.5, metrics=metrics, n_draws=60)
        again = [
            corrected_scores(hide(Y[rows], 0.5, seed), P[rows], 0.5, metrics=metrics)
            for seed, rows in enumerate(np.random.default_rng(5).integers(0, 1500, size=(60, 1500)))
        ]
        for metric in metrics:
            ratio = draws[metric].std() / np.std([each[metric] for each in again])
            assert 0.6 < ratio < 1.6, metric

    def test_hits_that_are_all_hidden_are_not_taken_for_none(self):
        """All five predicted positives are correct but none is observed; the interval contains the true score."""
        Y, P = np.zeros((300, 1), dtype=int), np.zeros((300, 1))
        Y[:60], P[:5] = 1, 0.9
        observed = Y.copy()
        observed[:42] = 0
        truth = matthews_corrcoef(Y.ravel(), P.ravel() > 0.5)
        draws = corrected_draws(observed, P, 0.3, metrics=["mcc", "mcc_macro", "hamming_loss"], n_draws=400)
        assert draws["mcc_macro"].max() <= 0 < truth  # without draws for hidden positives
        assert np.quantile(draws["mcc"], 0.025) <= 0 and np.quantile(draws["mcc"], 0.975) > truth
        complete = corrected_draws(observed, P, 1.0, metrics=["mcc", "mcc_macro"], n_draws=20)
        np.testing.assert_allclose(complete["mcc"], complete["mcc_macro"])  # nothing can be hidden

    def test_draws_of_perfect_predictions_lie_on_both_sides_of_the_truth(self):
        """An estimate has no more true positives than predicted labels. With this limit, no draw exceeds the truth."""
        rng = np.random.default_rng(0)
        Y = (rng.random((600, 3)) < 0.4).astype(int)
        P = Y * (rng.random(Y.shape) < 0.8) * 0.9
        draws = corrected_draws(hide(Y, 0.7, 5), P, 0.7, metrics=["mcc", "precision_micro"], n_draws=200)
        truth = matthews_corrcoef(Y.ravel(), P.ravel() > 0.5)
        assert 0.2 < np.mean(draws["mcc"] < truth) < 0.8
        assert draws["precision_micro"].max() == 1
        assert corrected_scores(hide(Y, 0.7, 5), P, 0.6, metrics=["mcc"])["mcc"] < truth

    def test_new_samples_may_have_predicted_labels_where_there_are_none(self):
        Y = np.tile([[1], [0], [0], [0]], (40, 1))
        found = corrected_draws(Y, 0.4 * Y, 0.5, metrics=["mcc"], n_draws=400)["mcc"]
        assert found.min() == 0 and 0.3 < np.mean(found == 0) < 0.7 and 0 < np.quantile(found, 0.95) < 0.4
        assert corrected_draws(Y, 0.4 * Y, 1.0, metrics=["mcc"], n_draws=20)["mcc"].max() == 0

    @pytest.mark.parametrize("frequency", [0.3, 0.7])
    def test_hidden_hits_are_drawn_as_what_is_seen_leaves_them(self, monkeypatch, frequency):
        """With a uniform prior on totals T, seen as k ~ Bin(T, c), the mean of T - k matches that by enumeration.

        In a bootstrap sample, k has the mean k and nearly its variance. Each observed hit stands for (1 - c) / c hidden
        hits on average. Adding those of one more observed hit gives the mean of the enumerated distribution, at any k.
        """
        hidden = []
        counts = corrected._counts
        monkeypatch.setattr(corrected, "_counts", lambda *given: hidden.append(given[2]) or counts(*given))
        Y = np.zeros((50, 1), dtype=int)
        Y[:3] = 1
        corrected_draws(
            Y, Y * 0.9, frequency, metrics=["f1_micro"], n_draws=2000, counts=np.ones((2000, 50), dtype=int)
        )
        for k in (0, 3):
            totals = np.arange(k, 400)
            law = binom.pmf(k, totals, frequency)
            expected = ((totals - k) * law).sum() / law.sum()
            found = k * (1 - frequency) / frequency + np.mean(np.concatenate(hidden, axis=1), axis=1)
            np.testing.assert_allclose(found[:2], expected, rtol=0.08)
        added = np.concatenate(hidden, axis=1)[2]
        assert [np.mean(added == k) for k in range(4)] == pytest.approx([0.5, 0.25, 0.125, 0.0625], abs=0.05)

    def test_rows_are_those_of_the_seed_and_repeated_ones_are_weights(self, table, monkeypatch):
        of_draws = corrected._counts
        monkeypatch.setattr(corrected, "_counts", lambda *given: of_draws(*given[:2], None))
        Y, P = table
        drawn = []

        def half(rows):
            drawn.append(rows)
            return 0.5

        draws = corrected_draws(Y, P, half, n_draws=3, random_state=7)
        known = corrected_draws(Y, P, 0.5, n_draws=3, random_state=7)
        for metric in CORRECTED:
            np.testing.assert_allclose(draws[metric], known[metric], atol=1e-12)
        assert len(drawn) == 3 and all(len(rows) == len(Y) for rows in drawn)
        for number, rows in enumerate(drawn):
            counts = np.bincount(rows, minlength=len(Y))
            kept = counts > 0
            expected = corrected_scores(Y[kept], P[kept], 0.5, sample_weight=counts[kept])
            for metric in CORRECTED:
                assert draws[metric][number] == pytest.approx(expected[metric], abs=1e-9)

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_those_scored_together_are_those_scored_one_by_one(self, table, monkeypatch, kind):
        """Cover draws without observed labels for one label or for all, and frequencies of all shapes."""
        (Y, P), rng = table, np.random.default_rng(9)
        Y, P = hide(Y, 0.3), kind(np.where(P < 0.3, 0, P))
        rare = np.flatnonzero(Y.sum(axis=1) == 0)
        counts = np.array([rng.multinomial(len(Y), np.full(len(Y), 1 / len(Y))) for _ in range(8)])
        counts[3], counts[5, Y[:, 0] == 1] = np.isin(np.arange(len(Y)), rare), 0
        frequencies = [0.3, 0.5, rng.uniform(0.3, 1, 5), 1.0, rng.uniform(0.3, 1, Y.shape), 0.4, 0.3, 0.7]
        given = {"counts": counts, "sample_weight": rng.integers(1, 4, len(Y)), "random_state": 3}
        found = []
        for at_once in (1, 2 * Y.size, 1 << 20):
            of_draws = iter(frequencies)
            monkeypatch.setattr(corrected, "_CELLS_AT_ONCE", at_once)
            found.append(corrected_draws(Y, P, lambda rows, each=of_draws: next(each), **given))
        for metric in CORRECTED:
            assert np.flatnonzero(np.isnan(found[0][metric])).tolist() == [3]
            for other in found[1:]:
                np.testing.assert_allclose(other[metric], found[0][metric], rtol=1e-12)

    def test_frequencies_that_scatter_widen_the_interval(self, table):
        Y, P = table
        rng = np.random.default_rng(8)
        known = corrected_draws(hide(Y, 0.5), P, 0.5, n_draws=80, metrics=["f1_micro"])["f1_micro"]
        guessed = corrected_draws(
            hide(Y, 0.5), P, lambda rows: rng.uniform(0.3, 0.8), n_draws=80, metrics=["f1_micro"]
        )["f1_micro"]
        assert guessed.std() > 1.5 * known.std()

    def test_groups_are_drawn_whole(self, table):
        Y, P = table
        groups, seen = np.repeat(np.arange(30), 5), []
        corrected_draws(Y, P, lambda rows: seen.append(rows) or 1.0, groups=groups * 2 + 1, n_draws=4)
        for rows in seen:
            counts = np.bincount(rows, minlength=len(Y)).reshape(30, 5)
            assert (counts == counts[:, :1]).all() and counts[:, 0].sum() == 30

    def test_groups_that_are_none_are_refused(self, table):
        with pytest.raises(ModelError, match="groups have shape"):
            corrected_draws(*table, 0.5, groups=np.arange(3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Y_observed": np.full((150, 5), 2)}, "expected 0, 1 or NaN, found 2"),
        ({"P": np.zeros((150, 4))}, r"labels have shape \(150, 5\) and probabilities \(150, 4\)"),
        ({"P": np.full((150, 5), np.nan)}, "750 of 750 predicted probabilities are not finite"),
        ({"label_frequency": 0.0}, "label_frequency: .* above 0 and at most 1, found 0"),
        ({"label_frequency": [0.5, 0.5, 1.5, 1, 1]}, "label_frequency: .* found 1.5"),
        ({"label_frequency": np.nan}, "label_frequency: .* found nan"),
        ({"label_frequency": [0.5, 0.5]}, r"label_frequency: expected one number, 5 numbers .*, found shape \(2,\)"),
        ({"label_frequency": "half"}, "label_frequency: expected numbers above 0"),
        ({"metrics": ["accuracy"]}, "unknown corrected score 'accuracy'"),
        ({"sample_weight": np.zeros(150)}, "weights must be finite and above zero"),
    ],
)
def test_bad_input(table, change, message):
    with pytest.raises(DataError, match=message):
        corrected_scores(**{"Y_observed": table[0], "P": table[1], "label_frequency": 0.5, **change})
