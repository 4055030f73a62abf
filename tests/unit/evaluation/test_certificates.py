import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairfold.errors import DataError
from fairfold.evaluation import cells_to_certify, certify
from fairfold.evaluation.certificates import critical_sizes, curve_of


def drawn(n=2000, n_labels=3, seed=0, spread=2.5):
    """Return probabilities that are right, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    P = 1 / (1 + np.exp(1.5 - spread * rng.normal(size=(n, n_labels))))
    return (rng.random(P.shape) < P).astype(int), P


def plain_certificate(y, p, precision, confidence):
    """Certify a label one threshold at a time, with SciPy's binomial distribution."""
    alpha = 1 - confidence
    thresholds = [low for low in sorted({*p, 0.0}, reverse=True) if (p > low).any()]
    sizes = np.array([(p > low).sum() for low in thresholds])
    wanted = list(critical_sizes(precision, alpha, sizes[-1]))
    grid = sorted({int(np.argmax(sizes >= n)) for n in wanted} | {len(sizes) - 1}) if wanted else []
    if not grid:
        return None
    means = np.array([p[p > thresholds[place]].mean() for place in grid])
    scaled = means * (1 - (1 - precision) / 4) / means[0]
    start = min(int(((scaled - precision) * np.sqrt(sizes[grid])).argmax()), 2)
    found = None
    for place in grid[start:]:
        decided = p > thresholds[place]
        n, k = int(decided.sum()), int(y[decided].sum())
        if stats.binom.sf(k - 1, n, precision) > alpha:
            break
        low = stats.binomtest(k, n).proportion_ci(1 - 2 * alpha / len(grid[start:]), "exact").low
        found = thresholds[place], max(precision, low), n, y[decided].sum() / y.sum()
    return found


@pytest.mark.parametrize(("precision", "confidence"), [(0.9, 0.95), (0.7, 0.8)])
def test_certificates_equal_a_plain_reference(precision, confidence):
    Y, P = drawn()
    P = P.round(2)  # with ties
    table = certify(Y, P, precision=precision, confidence=confidence)
    for label in range(3):
        expected = plain_certificate(Y[:, label], P[:, label], precision, confidence)
        assert (expected is None) == (table["reason"][label] != "")
        if expected is None:
            continue
        found = table.loc[label, ["threshold", "precision_low", "n_decisions", "recall"]].tolist()
        # The limits come from two implementations of the incomplete beta function.
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert (P[:, label] > table["threshold"][label]).sum() == table["n_decisions"][label]


def test_the_first_number_of_decisions_is_that_of_a_row_of_right_ones():
    assert critical_sizes(0.9, 0.05, 1000)[0] == 29  # 0.9 ** 29 = 0.047
    allowed = [stats.binom.cdf(wrong, size, 0.1) for wrong, size in enumerate(critical_sizes(0.9, 0.05, 100))]
    fewer = [stats.binom.cdf(wrong, size - 1, 0.1) for wrong, size in enumerate(critical_sizes(0.9, 0.05, 100))]
    assert max(allowed) <= 0.05 < min(fewer)


@pytest.mark.parametrize(("n", "n_certified"), [(28, 0), (29, 29)])
def test_a_row_of_right_decisions(n, n_certified):
    P = np.linspace(0.9, 0.5, n)[:, np.newaxis]
    table = certify(np.ones((n, 1), dtype=int), P)
    assert table["n_decisions"][0] == n_certified
    if not n_certified:
        assert table["reason"][0] == "28 decisions above any threshold; 29 right ones in a row are needed"
        assert np.isnan(table["threshold"][0])


@pytest.mark.parametrize("hide", ["random", "hard", "easy"])
def test_a_certificate_rarely_claims_too_much(hide):
    """The share of wrong certificates among all labels is below the level, for any mechanism of missing labels."""
    Y, P = drawn(n=600, n_labels=400, seed=1)
    true = np.sort(P, axis=0)[::-1].cumsum(axis=0) / np.arange(1, len(P) + 1)[:, np.newaxis]
    kept = {"random": 0.95, "hard": P > 0.5, "easy": P < 0.97}[hide]
    observed = Y * (np.random.default_rng(2).random(P.shape) < kept)
    table = certify(observed, P)
    certified = table[table["reason"] == ""]
    wrong = sum(true[row.n_decisions - 1, row.label] < 0.9 for row in certified.itertuples())
    assert wrong <= stats.binom.ppf(0.999, 400, 0.05)
    assert len(certified) > 20 or hide == "easy"


def test_tied_probabilities_are_decided_together():
    P = np.repeat([0.9, 0.5, 0.1], [40, 40, 40])[:, np.newaxis]
    Y = (P > 0.6).astype(int)
    table = certify(Y, P)
    assert table[["threshold", "n_decisions", "recall"]].iloc[0].tolist() == [0.5, 40, 1]
    Y[0] = 0  # The place of a wrong decision among equal probabilities does not matter.
    moved = np.concatenate([Y[:40][::-1], Y[40:]])
    pd.testing.assert_frame_equal(certify(Y, P), certify(moved, P))


def test_unmeasured_cells_are_left_out_and_counted():
    Y, P = drawn(n_labels=1)
    alone = certify(Y, P)
    rng = np.random.default_rng(0)
    more = np.vstack([Y, np.full((500, 1), np.nan)]), np.vstack([P, rng.random((500, 1))])
    table = certify(*more)
    assert table["n_unmeasured"][0] == 500
    pd.testing.assert_frame_equal(table.drop(columns="n_unmeasured"), alone.drop(columns="n_unmeasured"))


def test_the_order_of_samples_and_the_type_of_labels_do_not_matter():
    Y, P = drawn()
    expected, order = certify(Y, P), np.random.default_rng(0).permutation(len(Y))
    pd.testing.assert_frame_equal(certify(Y[order], P[order]), expected)
    named = certify(pd.DataFrame(Y, columns=["a", "b", "c"]), P)
    assert named["label"].tolist() == ["a", "b", "c"]
    pd.testing.assert_frame_equal(named.drop(columns="label"), expected.drop(columns="label"))


def test_copies_of_a_sample_in_one_group_add_nothing():
    Y, P = drawn(n=800, n_labels=2)
    P = P.round(3)
    expected = certify(Y, P)
    groups = np.tile(np.arange(len(Y)), 3)
    table = certify(np.tile(Y, (3, 1)), np.tile(P, (3, 1)), groups=groups)
    np.testing.assert_allclose(table["threshold"], expected["threshold"])
    np.testing.assert_allclose(table["precision_low"], expected["precision_low"])
    assert table["n_decisions"].tolist() == (3 * expected["n_decisions"]).tolist()


def test_groups_and_weights_count_by_the_effective_size():
    rng = np.random.default_rng(0)
    y, p, weights, groups = rng.integers(0, 2, 60), rng.random(60), rng.random(60) + 0.1, rng.integers(0, 9, 60)
    curve, kept = curve_of(y, p, weights, groups), weights / weights.max()
    for threshold, size, right in zip(curve.threshold, curve.size, curve.right, strict=True):
        w = np.where(p > threshold, kept, 0)
        expected = w.sum() ** 2 / ((np.bincount(groups, w) ** 2).sum() + (w * (1 - w)).sum())
        assert (size, right) == pytest.approx((expected, expected * (w * y).sum() / w.sum()))
    Y, P = drawn(n_labels=1)
    uneven = certify(Y, P, weights=np.random.default_rng(1).random(len(Y)) + 1)
    assert 0 < uneven["n_decisions"][0] < certify(Y, P)["n_decisions"][0]
    assert "effective decisions" in certify(Y[:40], P[:40], groups=np.arange(40) // 20)["reason"][0]


def test_wrong_decisions_of_heavy_samples_are_rarely_certified():
    rng = np.random.default_rng(0)
    weights = np.where(rng.random(400) < 0.05, 20, 1)
    P, is_wrong = rng.random((400, 150)), rng.random((400, 150)) < 0.12 * weights.sum() / weights[weights > 1].sum()
    table = certify(1 - (is_wrong & (weights > 1)[:, np.newaxis]), P, weights=weights)
    assert (table["reason"] == "").sum() <= stats.binom.ppf(0.999, 150, 0.05)


def test_the_effective_number_of_positives_is_that_of_the_positives_alone():
    y, p = np.repeat([0, 1], [1000, 100]), np.linspace(0, 0.9, 1100)
    assert curve_of(y, p, weights=1 + 99.0 * y).n_positives == 100
    groups = np.append(np.arange(1000), np.repeat([1000, 1001], [50, 50]))
    assert curve_of(y, p, groups=groups).n_positives == 2


def test_all_certificates_at_once_need_more():
    Y, P = drawn(n_labels=6)
    single, joint = certify(Y, P), certify(Y, P, joint=True)
    assert 0 < (joint["reason"] == "").sum() < (single["reason"] == "").sum()
    pd.testing.assert_frame_equal(joint, certify(Y, P, confidence=1 - 0.05 / 6))


def test_wrong_recorded_positives_raise_the_target():
    Y, P = drawn(n_labels=2)
    table, raised = certify(Y, P, wrong_positives=0.02), certify(Y, P, precision=0.9 / 0.98)
    assert table["n_decisions"].tolist() == raised["n_decisions"].tolist()
    np.testing.assert_allclose(table["precision_low"], 0.98 * raised["precision_low"])
    assert certify(Y, P, wrong_positives=0.1)["reason"][0] == "10% of recorded positives may be wrong"


def test_recall_needs_complete_labels():
    Y, P = drawn(spread=6)
    with pytest.raises(DataError, match="recall: expected complete labels"):
        certify(Y, P, recall=0.5)
    table = certify(Y, P, recall=0.5, negatives="confirmed")
    n = [(Y[P[:, label] > low, label].sum(), Y[:, label].sum()) for label, low in enumerate(table["threshold"])]
    limits = [stats.binomtest(int(k), int(m)).proportion_ci(0.95, "exact").low for k, m in n]
    np.testing.assert_allclose(table["recall_low"], limits)
    assert min(limits) > 0.5
    reason = certify(Y, P, recall=0.999, negatives="confirmed")["reason"][0]
    assert re.fullmatch(
        r"precision is certified above [\d.]+ only, where recall is at least [\d.]+; 0.999 is asked for", reason
    )
    rows, columns = np.nonzero(Y == 0)
    checked = pd.DataFrame({"sample": rows, "label_index": columns, "label": 0})
    pd.testing.assert_frame_equal(certify(Y, P, recall=0.5, checked=checked), table)


def test_checked_cells_certify_labels_with_missing_positives():
    Y, P = drawn(n_labels=4, spread=4)
    observed = Y * (np.random.default_rng(3).random(Y.shape) < 0.6)
    assert (certify(observed, P)["reason"] != "").all()
    sheet, decisions = None, []
    for _ in range(60):
        cells = cells_to_certify(observed, P, 10, checked=sheet)
        assert len(cells) <= 10
        assert (observed[cells["sample"], cells["label_index"]] == 0).all()
        cells["label"] = Y[cells["sample"], cells["label_index"]]
        sheet = cells if sheet is None else pd.concat([sheet, cells], ignore_index=True)
        assert not sheet.duplicated(["sample", "label_index"]).any()
        table = certify(observed, P, checked=sheet)
        decisions.append(table["n_decisions"].tolist())
    assert (np.diff(decisions, axis=0) >= 0).all()  # Further cells lower the thresholds of certified labels.
    assert sum(decisions[-1]) > 1.5 * sum(decisions[20])
    assert (np.array(decisions[-1]) <= certify(Y, P)["n_decisions"]).all()
    corrected = observed.copy()
    corrected[sheet["sample"], sheet["label_index"]] = sheet["label"]
    pd.testing.assert_frame_equal(table, certify(corrected, P))
    assert (table["reason"] == "").sum() >= 3
    empty = sheet.assign(label=np.nan)
    pd.testing.assert_frame_equal(certify(observed, P, checked=empty), certify(observed, P))


def test_cells_of_each_label_come_first():
    Y, P = drawn(n_labels=3)
    cells = cells_to_certify(Y * (np.random.default_rng(0).random(Y.shape) < 0.7), P, 25)
    assert cells["label_index"][:15].value_counts().tolist() == [5, 5, 5]
    assert cells["label_index"][15:].nunique() == 1
    assert cells_to_certify(np.zeros_like(Y), np.full(P.shape, 0.0), 5).empty
    assert cells_to_certify(Y, P, 5, wrong_positives=0.2).empty
    groups = np.arange(len(Y)) // 3  # Fewer effective decisions need a longer list of decisions.
    cells = cells_to_certify(0 * Y, P, len(Y), groups=groups)
    right = 0 * Y
    right[cells["sample"], cells["label_index"]] = 1
    assert (certify(right, P)["reason"] == "").any() and (certify(right, P, groups=groups)["reason"] == "").any()


@pytest.mark.parametrize("uneven", ["groups", "weights"])
def test_right_checks_certify_every_label_of_uneven_samples(uneven):
    rng = np.random.default_rng(0)
    P = rng.random((300, 20))
    Y = (rng.random(P.shape) < np.linspace(0.5, 0.9, 20)).astype(int)
    options = {uneven: {"groups": rng.integers(0, 150, 300), "weights": rng.random(300) + 0.5}[uneven]}
    before, cells = certify(Y, P, **options), cells_to_certify(Y, P, Y.size, **options)
    shortfall = (
        r"[\d.]+\.\d of [\d.]+\.\d effective decisions are recorded positives above [\d.]+; [\d.]+\.\d are needed"
    )
    assert before["reason"].str.fullmatch(shortfall).sum() > 10
    after = certify(Y, P, checked=cells.assign(label=1), **options)
    assert (after["n_decisions"] > before["n_decisions"]).all()


def test_checks_that_are_left_over_first_win_the_most_decisions_each():
    Y, P = drawn(n_labels=4, spread=3.5, seed=4)
    observed = Y * (np.random.default_rng(1).random(Y.shape) < 0.98)
    assert (certify(observed, P)["reason"] == "").all()  # All checks are left over.

    def cost(label):
        """Count the right checks that the label needs for further decisions, per decision."""
        y, p = observed[:, [label]], P[:, [label]]
        before = certify(y, p)["n_decisions"].iloc[0]
        for n in range(1, len(y)):
            gain = certify(y, p, checked=cells_to_certify(y, p, n).assign(label=1))["n_decisions"].iloc[0] - before
            if gain:
                return n / gain
        return np.inf

    order = cells_to_certify(observed, P, Y.size)["label_index"].unique()
    costs = [cost(label) for label in order]
    assert len(set(costs)) == 4 and costs == sorted(costs) and list(order) != sorted(order)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 1.0}, "precision: expected a number above 0 and below 1"),
        ({"precision": "high"}, "precision: expected a number above 0 and below 1"),
        ({"confidence": 95}, "confidence: expected a number above 0 and below 1"),
        ({"recall": 0.0, "negatives": "confirmed"}, "recall: expected a number above 0 and below 1"),
        ({"wrong_positives": -0.1}, "wrong_positives: found -0.1"),
        ({"negatives": "maybe"}, "unknown negatives 'maybe'"),
        ({"groups": [1, 2]}, "groups have shape"),
        ({"weights": np.zeros(50)}, "sample 0 has weight 0"),
        ({"P": np.full((50, 2), 1.5)}, "P: expected probabilities from 0 to 1"),
        ({"P": np.full((50, 2), np.nan)}, "not finite"),
        ({"P": np.ones((50, 3))}, "labels have shape"),
        (
            {"Y": pd.DataFrame(0, range(50), ["a", "b"]), "P": pd.DataFrame(0, range(50), ["b", "a"])},
            "P: column 0 is 'b'",
        ),
        ({"checked": pd.DataFrame({"sample": [0], "label": [1]})}, "the column 'label_index' is missing"),
        ({"checked": (50, 0, 1)}, "column 'sample': expected a row from 0 to 49, found 50"),
        ({"checked": (0, 0.5, 1)}, "column 'label_index': expected a column from 0 to 1, found 0.5"),
        ({"checked": (0, 0, 2)}, "column 'label': expected 0, 1 or an empty cell, found 2"),
        ({"checked": (1, 1, 1)}, "a cell that is unmeasured"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, message):
    Y, P = drawn(n=50, n_labels=2)
    Y = np.where(np.arange(100).reshape(50, 2) == 3, np.nan, Y)
    if isinstance(options.get("checked"), tuple):
        options = {"checked": pd.DataFrame([options["checked"]], columns=["sample", "label_index", "label"])}
    with pytest.raises(DataError, match=re.escape(message)):
        certify(**{"Y": Y, "P": P} | options)


def test_labels_without_a_positive_get_a_reason():
    Y, P = drawn(n=50, n_labels=2)
    Y = np.column_stack([np.zeros(50), np.full(50, np.nan)])
    assert certify(Y, P)["reason"].tolist() == ["no recorded positive", "no measured cell"]
