"""Scores at k, compared with napkinXC and with loops over the definitions."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score

from fairfold.errors import DataError
from fairfold.metrics.at_k import (
    TopLabels,
    count_positives,
    coverage_at_k,
    inverse_propensities,
    label_average_precisions,
    label_scores,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_precision_at_k,
    recall_at_k,
    scores_by_frequency_band,
    top_labels,
)

# The file has the scores of napkinXC 0.7.2 for `cases`, computed by `napkinxc_scores` in a separate environment.
RECORDED = Path(__file__).parent / "napkinxc.json"
K = 5


def cases():
    """Map names to training labels, labels and untied probabilities, built from integers and equal on all machines."""
    rows, labels = np.arange(60)[:, None], np.arange(23)[None, :]
    rank = (rows * 17 + labels * 5 + rows * labels * 3) % 101 * 23 + labels  # all different within a row
    Y = ((rows * 31 + labels * labels * 7 + rows * labels) % 41 < 1 + 9 / (1 + labels % 7)).astype(np.int8)
    Y[[3, 40]] = 0
    P = (rank + 1200.0 * Y) / 4096  # exact in any float format
    Y_train = ((rows * 13 + labels * 3 + rows * rows * labels) % 37 < 12 / (1 + labels)).astype(np.int8)
    sparse_P = np.where(-np.sort(-P, axis=1)[:, 8:9] <= P, P, 0)
    short_P = np.where((rows + labels * 2) % 11 < 2, P, 0) * (rows % 9 > 0)  # some rows store no entry
    return {
        "dense": (Y_train, Y, P),
        "sparse": (Y_train, Y, sparse.csr_matrix(sparse_P)),
        "short rows": (Y_train, Y, sparse.csr_matrix(short_P)),
    }


def napkinxc_scores(metrics, Y_train, Y, P):
    """Compute the scores with `napkinxc.metrics`, which was `napkinxc.measures` before version 0.7."""
    inverse = metrics.Jain_et_al_inverse_propensity(Y_train)
    scores = {name: getattr(metrics, f"{name}_at_k")(Y, P, k=K) for name in ("precision", "recall", "ndcg", "coverage")}
    scores |= {f"macro_{name}": getattr(metrics, f"macro_{name}_at_k")(Y, P, k=K) for name in ("precision", "recall")}
    scores["psprecision"] = metrics.psprecision_at_k(Y, P, inverse, k=K)
    scores["inverse_propensity"] = inverse
    scores["inverse_propensity_of_Amazon"] = metrics.Jain_et_al_inverse_propensity(Y_train, A=0.6, B=2.6)
    return {name: values.tolist() for name, values in scores.items()}


def our_scores(Y_train, Y, P):
    top, inverse = top_labels(P, K, zeros=not sparse.issparse(P)), inverse_propensities(Y_train)
    return {
        "precision": precision_at_k(Y, top, K).tolist(),
        "recall": recall_at_k(Y, top, K).tolist(),
        "ndcg": ndcg_at_k(Y, top, K).tolist(),
        "coverage": coverage_at_k(Y, top, K).tolist(),
        "psprecision": propensity_scored_precision_at_k(Y, top, inverse, K).tolist(),
        "inverse_propensity": inverse.tolist(),
        "inverse_propensity_of_Amazon": inverse_propensities(Y_train, A=0.6, B=2.6).tolist(),
    }


@pytest.mark.parametrize("case", cases())
def test_scores_are_those_that_napkinxc_gave(case):
    recorded = json.loads(RECORDED.read_text())["cases"][case]
    for name, values in our_scores(*cases()[case]).items():
        # Logarithms and powers differ by a bit or two between processors, and sums of 60 samples keep the difference.
        np.testing.assert_allclose(values, recorded[name], rtol=1e-14, atol=0, err_msg=name)


@pytest.mark.parametrize("case", ["dense", "sparse"])  # in short rows, labels of probability 0 fill the top places
def test_macro_scores_are_those_that_napkinxc_gave(case):
    recorded = json.loads(RECORDED.read_text())["cases"][case]
    _, Y, P = cases()[case]
    for place in range(1, K + 1):
        scores = label_scores(Y, P, place)
        for name in ("precision", "recall"):  # sums in another order
            assert np.mean(scores[name]) == pytest.approx(recorded[f"macro_{name}"][place - 1], rel=1e-14)


def random_case(seed, n_samples=400, n_labels=60, share_of_labels=0.05, share_of_probabilities=0.4):
    random = np.random.default_rng(seed)
    Y = (random.random((n_samples, n_labels)) < share_of_labels).astype(np.int8)
    P = random.random(Y.shape) * (random.random(Y.shape) < share_of_probabilities)
    return (random.random(Y.shape) < share_of_labels).astype(np.int8), Y, P


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_installed_napkinxc_to_the_last_bit(seed):
    metrics = pytest.importorskip("napkinxc.metrics")
    Y_train, Y, P = random_case(seed, share_of_probabilities=1 if seed % 2 else 0.05)
    for labels, probabilities in ((Y, P), (sparse.csr_matrix(Y), sparse.csr_matrix(P))):
        if seed % 2 or sparse.issparse(probabilities):  # napkinXC breaks ties of dense rows at random
            found = our_scores(Y_train, labels, probabilities)
            theirs = napkinxc_scores(metrics, Y_train, labels, probabilities)
            assert found == {name: theirs[name] for name in found}


def plain_top(P, k, unmeasured=None):
    """Sort each sample's labels and return the top places."""
    top = []
    for i, row in enumerate(P):
        allowed = [j for j in range(len(row)) if unmeasured is None or not unmeasured[i, j]]
        first = sorted(allowed, key=lambda j: (-row[j], j))[:k]
        top.append(first + [-1] * (k - len(first)))
    return np.array(top)


def plain_scores(Y, P, inverse, k, unmeasured=None):
    """Compute the scores by definition, sample by sample and place by place."""
    names = ("precision", "recall", "ndcg", "found", "possible")
    sums, covered, possible = {name: [0.0] * k for name in names}, [set() for _ in range(k)], [set() for _ in range(k)]
    n_measured, n_with_choice = 0, [0] * k
    for truth, first, gone in zip(
        Y == 1, plain_top(P, k, unmeasured), [0] * len(Y) if unmeasured is None else unmeasured, strict=True
    ):
        own, n_labels = sorted(inverse[truth], reverse=True), len(truth) - np.sum(gone)
        n_measured += n_labels > 0
        n_hits, gain, best_gain, worth, best_worth = 0, 0.0, 0.0, 0.0, 0.0
        for i, label in enumerate(first):
            is_hit = label >= 0 and truth[label]
            n_hits += is_hit
            gain += is_hit * (1 / math.log2(i + 2))
            best_gain += (1 / math.log2(i + 2)) if i < len(own) else 0
            worth += inverse[label] if is_hit else 0
            best_worth += own[i] if i < len(own) else 0
            sums["precision"][i] += n_hits / (i + 1)
            if len(own):
                sums["ndcg"][i] += gain / best_gain
            if n_labels > i + 1:
                n_with_choice[i] += 1
                sums["recall"][i] += n_hits / max(len(own), 1)
                sums["found"][i] += worth / (i + 1)
                sums["possible"][i] += best_worth / (i + 1)
                covered[i] |= {j for j in first[: i + 1] if j >= 0 and truth[j]}
                possible[i] |= set(np.flatnonzero(truth))

    def ratio(above, below):
        return above / below if below else np.nan

    scores = {name: [value / n_measured for value in sums[name]] for name in ("precision", "ndcg")}
    scores["recall"] = [ratio(*each) for each in zip(sums["recall"], n_with_choice, strict=True)]
    scores["coverage"] = [ratio(*map(len, each)) for each in zip(covered, possible, strict=True)]
    scores["psprecision"] = [ratio(*each) for each in zip(sums["found"], sums["possible"], strict=True)]
    return scores


def all_scores(Y, P, inverse, k, **options):
    return {
        "precision": precision_at_k(Y, P, k, **options).tolist(),
        "recall": recall_at_k(Y, P, k, **options).tolist(),
        "ndcg": ndcg_at_k(Y, P, k, **options).tolist(),
        "psprecision": propensity_scored_precision_at_k(Y, P, inverse, k, **options).tolist(),
        **({} if options else {"coverage": coverage_at_k(Y, P, k).tolist()}),
    }


@pytest.mark.parametrize("k", [1, 5, 63])
@pytest.mark.parametrize("decimals", [1, 12])  # with and without ties
@pytest.mark.parametrize("unmeasured", [0, 0.3])
def test_dense_and_sparse_are_as_the_definitions_state(k, decimals, unmeasured):
    Y_train, Y, P = random_case(k, n_samples=30)
    P = P.round(decimals)
    P[5], Y[7] = 0, 0
    left_out = np.random.default_rng(99).random(Y.shape) < unmeasured
    left_out[9] = unmeasured > 0
    Y = np.where(left_out, np.nan, Y)
    inverse = inverse_propensities(Y_train)
    plain = plain_scores(Y, P, inverse, k, left_out)
    top = plain_top(P, k, left_out)
    stored = sparse.csr_array(P)
    for labels, probabilities in ((Y, P), (sparse.csc_matrix(Y), stored), (sparse.csr_array(Y), sparse.coo_matrix(P))):
        np.testing.assert_equal(all_scores(labels, probabilities, inverse, k), plain)
    if decimals == 1:  # single precision gives the same ranking
        np.testing.assert_equal(all_scores(Y, P.astype(np.float32), inverse, k), plain)
    np.testing.assert_array_equal(top_labels(P, k, unmeasured=left_out).labels, top)
    np.testing.assert_array_equal(top_labels(stored, k, unmeasured=sparse.csr_array(left_out)).labels, top)
    wide = TopLabels(np.pad(top, ((0, 0), (0, 2)), constant_values=-1))
    np.testing.assert_equal(all_scores(Y, wide, inverse, k), plain)


def test_nothing_sparse_is_made_dense():
    n = 20_000  # a dense matrix would take 3 GB
    P = sparse.csr_array((np.full(n, 0.5), np.arange(n), np.arange(n + 1)), shape=(n, n))
    assert precision_at_k(P > 0, P, 2).tolist() == [1, 0.5]
    assert coverage_at_k(P > 0, P, 1).tolist() == [1]
    assert (label_average_precisions(P > 0, P) == 1).all()
    table = scores_by_frequency_band(P > 0, P, np.arange(n) % 30)
    assert table.loc[table["metric"] == "recall", "value"].dropna().tolist() == [1] * 4


def test_weights_count_as_repetitions():
    Y_train, Y, P = random_case(1)
    times = 1 + np.arange(len(Y)) % 3
    inverse = inverse_propensities(Y_train)
    weighted = all_scores(Y, P, inverse, K, sample_weight=times)
    repeated = all_scores(Y.repeat(times, axis=0), P.repeat(times, axis=0), inverse, K)
    for name, values in weighted.items():  # sums of a thousand terms below 1 have a smaller error
        np.testing.assert_allclose(values, repeated[name], rtol=1e-12)


def test_propensities_by_hand():
    Y = np.zeros((100, 3))
    Y[:7, 1], Y[:50, 2] = 1, 1
    expected = [1 + (math.log(100) - 1) * 2.5**0.55 * (count + 1.5) ** -0.55 for count in (0, 7, 50)]
    np.testing.assert_allclose(inverse_propensities(Y), expected, rtol=1e-14)
    unmeasured = Y.copy()
    unmeasured[60:, 0] = np.nan
    assert (inverse_propensities(sparse.csr_array(unmeasured)) == inverse_propensities(Y)).all()
    assert count_positives(sparse.csr_array(unmeasured)).tolist() == count_positives(unmeasured).tolist() == [0, 7, 50]


@pytest.mark.parametrize("decimals", [1, 12])
def test_average_precision_of_each_label_is_scikit_learns(decimals):
    _, Y, P = random_case(3, n_samples=150)
    P, unmeasured = P.round(decimals), np.random.default_rng(2).random(Y.shape) < 0.2
    Y[:, 4], unmeasured[:, 6], P[:, 8] = 0, True, 0
    for labels in (Y, np.where(unmeasured, np.nan, Y)):
        expected = [
            average_precision_score(y[y >= 0], p[y >= 0]) if (y == 1).any() else np.nan
            for y, p in zip(labels.T, P.T, strict=True)
        ]
        for probabilities in (P, sparse.csr_array(P)):
            for given in (labels, sparse.csr_array(labels)):  # sums of 150 terms below 1
                np.testing.assert_allclose(label_average_precisions(given, probabilities), expected, rtol=1e-12)
    assert np.isnan(expected).tolist()[4] and np.isnan(expected).tolist()[6]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_bands_are_means_over_their_labels(is_sparse):
    Y_train, Y, P = random_case(5, n_samples=120)
    Y[:, :3], Y_train[:, 10:13] = 0, 0
    counts = count_positives(Y_train)
    given = sparse.csr_array(P) if is_sparse else P
    table = scores_by_frequency_band(Y, given, counts, bands=(3, 4, 9), k=4)
    assert table["band"].unique().tolist() == ["0", "1-3", "4", "5-9", ">9"]
    per_label = label_scores(Y, given, 4)
    is_positive, top = Y.any(axis=0), plain_top(P, 4)
    for (band, least, most), part in table.groupby(["band", "least", "most"]):
        labels = np.flatnonzero((counts >= least) & (counts <= most))
        scored = [label for label in labels if is_positive[label]]
        assert (part[["n_labels", "n_scored"]] == [len(labels), len(scored)]).all(axis=None), band
        values = part.set_index("metric")["value"]
        hits = {j: np.count_nonzero((top == j).any(axis=1) & (Y[:, j] == 1)) for j in scored}
        shown = {j: np.count_nonzero(top == j) for j in scored}
        recall = [hits[j] / Y[:, j].sum() for j in scored]
        precision = [hits[j] / shown[j] if shown[j] else 0 for j in scored]
        assert values["recall"] == np.mean(recall) and values["precision"] == np.mean(precision)
        assert values["f1"] == np.mean([2 * hits[j] / (shown[j] + Y[:, j].sum()) for j in scored])
        assert values["coverage"] == np.mean([hits[j] > 0 for j in scored])
        assert values["average_precision"] == per_label["average_precision"][scored].mean()
    assert table["n_labels"].groupby(table["metric"]).sum().eq(Y.shape[1]).all()
    assert set(zip(table["metric"], table["k"], strict=True)) == {
        *(("average_precision", 0), ("precision", 4), ("recall", 4), ("f1", 4), ("coverage", 4))
    }


def test_what_no_label_or_sample_has_is_nan():
    Y, P = np.zeros((4, 3), dtype=int), np.full((4, 3), 0.5)
    for score in (precision_at_k, recall_at_k, ndcg_at_k):
        assert np.isnan(score(Y, P, 2)).all()
    assert np.isnan(propensity_scored_precision_at_k(Y, P, np.ones(3), 2)).all()
    assert np.isnan(coverage_at_k(Y, P, 2)).all()
    table = scores_by_frequency_band(Y, P, [0, 2, 200])
    n_labels = table.groupby("band", sort=False)["n_labels"].first()
    assert n_labels.to_dict() == {"0": 1, "1-5": 1, "6-20": 0, "21-100": 0, ">100": 1}
    assert table["value"].isna().all() and (table["n_scored"] == 0).all()


def test_what_is_given_stays_as_it_is():
    P = sparse.csr_array((np.array([0.2, 0.1, 0.7]), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))  # unsorted
    Y = sparse.csr_array((np.array([1, 0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    before = [part.copy() for given in (P, Y) for part in (given.data, given.indices, given.indptr)]
    assert precision_at_k(Y, P, 2).tolist() == [0, 0.5]  # the duplicate entries .1 and .7 of one cell add up to .8
    label_average_precisions(Y, P)
    for part, old in zip([p for g in (P, Y) for p in (g.data, g.indices, g.indptr)], before, strict=True):
        np.testing.assert_array_equal(part, old)


Y2, P2 = np.eye(3, dtype=int), np.full((3, 3), 0.5)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: precision_at_k(Y2, P2[:, :2]), "labels have shape"),
        (lambda: precision_at_k(Y2[:0], P2[:0]), "labels have shape"),
        (lambda: precision_at_k(Y2[0], P2[0]), "labels have shape"),
        (lambda: precision_at_k(Y2 * 2, P2), "Y_true, row 0, column 0: .* found 2"),
        (lambda: precision_at_k(Y2, P2, 0), "k: expected a positive integer, found 0"),
        (lambda: precision_at_k(Y2, P2, 2.0), "k: expected a positive integer, found 2.0"),
        (lambda: precision_at_k(Y2, P2 * np.nan), "9 of 9 predicted probabilities are not finite"),
        (lambda: precision_at_k(Y2, -sparse.csr_array(P2)), "negative number in sparse probabilities"),
        (lambda: precision_at_k(Y2, P2.astype(str)), "must be numbers"),
        (lambda: precision_at_k(Y2, P2[0]), "probabilities \\(3,\\)"),
        (lambda: precision_at_k(Y2, P2, sample_weight=[1, 0, 1]), "sample 1 has weight 0"),
        (lambda: precision_at_k(Y2, TopLabels(np.zeros((3, 1), dtype=int)), 2), "first labels: expected shape"),
        (lambda: propensity_scored_precision_at_k(Y2, P2, [1, 0, 1]), "one number above 0 for each of the 3 labels"),
        (lambda: inverse_propensities(Y2[:2]), "propensities need 3 or more"),
        (lambda: inverse_propensities(Y2, B=0), "A is 0.55 and B 0; both must be numbers above 0"),
        (lambda: label_average_precisions(Y2, P2[:2]), "labels have shape"),
        (lambda: scores_by_frequency_band(Y2, P2, [1, 2]), "one count of at least 0 for each of the 3 labels"),
        (lambda: scores_by_frequency_band(Y2, P2, [1, 2, -1]), "one count of at least 0"),
        (lambda: scores_by_frequency_band(Y2, P2, [1, 2, 3], bands=(5, 5)), "ascending integers from 1"),
        (lambda: scores_by_frequency_band(Y2, P2, [1, 2, 3], bands=()), "ascending integers from 1"),
    ],
)
def test_bad_input_is_reported_in_a_sentence(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()


@pytest.mark.parametrize("k", [1, 4, 30])
@pytest.mark.parametrize("decimals", [1, 12])  # with and without ties
@pytest.mark.parametrize("unmeasured", [0, 0.4])
@pytest.mark.parametrize("zeros", [True, False])
def test_places_are_those_that_sorting_gives(k, decimals, unmeasured, zeros):
    random = np.random.default_rng(k)
    P = (random.random((50, 25)) * (random.random((50, 25)) < 0.2)).round(decimals)
    left_out = random.random(P.shape) < unmeasured
    left_out[3] = unmeasured > 0
    expected = np.full((len(P), k), -1)
    for i, row in enumerate(P):
        allowed = [j for j in range(P.shape[1]) if not left_out[i, j] and (zeros or row[j])]
        first = sorted(allowed, key=lambda j: (-row[j], j))[:k]
        expected[i, : len(first)] = first
    for given, without in ((P, left_out), (sparse.csr_array(P), sparse.csr_array(left_out)), (P, None)):
        if without is None and unmeasured:
            continue
        np.testing.assert_array_equal(top_labels(given, k, unmeasured=without, zeros=zeros).labels, expected)


def test_zeros_are_ranked_last_and_negative_scores_of_dense_matrices_below_them():
    P = np.array([[0, 0.2, 0, 0.9], [0, 0, 0, 0]])
    np.testing.assert_array_equal(top_labels(P, 3).labels, [[3, 1, 0], [0, 1, 2]])
    np.testing.assert_array_equal(top_labels(sparse.csr_array(P), 3).labels, [[3, 1, 0], [0, 1, 2]])
    stored = sparse.csr_array((np.array([0.2, 0.0, 0.9]), np.array([1, 2, 3]), np.array([0, 3, 3])), shape=(2, 4))
    np.testing.assert_array_equal(top_labels(stored, 3).labels, [[3, 1, 0], [0, 1, 2]])
    for given in (P, stored):
        np.testing.assert_array_equal(top_labels(given, 3, zeros=False).labels, [[3, 1, -1], [-1, -1, -1]])
    np.testing.assert_array_equal(top_labels(np.array([[-2.0, 0, -1]]), 3).labels, [[1, 2, 0]])


def test_refusals_of_top_labels():
    with pytest.raises(DataError, match=r"^unmeasured: expected the shape"):
        top_labels(np.zeros((3, 3)), unmeasured=np.zeros((2, 3), dtype=bool))
    with pytest.raises(DataError, match="k: expected a positive integer, found True"):
        top_labels(np.zeros((3, 3)), True)
