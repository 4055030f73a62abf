import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from fairfold.missing_labels.plateau import frequency_distribution
from fairfold.recommendation.missing_rate import estimate_missing_rate
from fairfold.weak_labels import mask_labels, mask_positives


@pytest.fixture(scope="module")
def data():
    """Return labels and the probabilities that generated them."""
    random = np.random.default_rng(0)
    P = expit(4 * random.normal(size=(800, 3)) - 1)
    return (random.random(P.shape) < P).astype(np.int8), P


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_row_states_what_the_distribution_does(data, form):
    Y, P = data
    observed = mask_positives(Y, 0.4, random_state=1)
    found = estimate_missing_rate(form(Y), form(observed), P, random_state=3)
    expected = frequency_distribution(observed, P, random_state=3)
    np.testing.assert_array_equal(found.frequency.probabilities, expected.probabilities)
    low, high = expected.interval()
    (row,) = found.row.to_dict("records")
    assert row == {
        "hidden_share": pytest.approx(100 * (1 - observed.sum() / Y.sum())),
        "labels_are": "incomplete",
        "estimated_rate": pytest.approx(100 * (1 - expected.median)),
        "low": pytest.approx(100 * (1 - high)),
        "high": pytest.approx(100 * (1 - low)),
        "reason": "",
    }


def test_samples_without_predictions_are_left_out(data):
    Y, P = data
    observed = mask_positives(Y, 0.4, random_state=1)
    gone = np.arange(len(Y)) % 4 == 0
    found = estimate_missing_rate(Y, observed, np.where(gone[:, None], np.nan, P))
    expected = frequency_distribution(observed[~gone], P[~gone])
    hidden = 100 * (1 - observed[~gone].sum() / Y[~gone].sum())
    assert found.row["hidden_share"].tolist() == [pytest.approx(hidden)]
    np.testing.assert_array_equal(found.frequency.probabilities, expected.probabilities)


def test_without_any_there_is_a_reason(data):
    Y, P = data
    found = estimate_missing_rate(Y, Y, np.full(P.shape, np.nan))
    assert found.frequency is None
    assert found.row[["estimated_rate", "low", "high"]].isna().all(axis=None)
    assert found.row["reason"].tolist() == ["the model by whose predictions it is estimated has none in any fold"]


def test_unmeasured_cells_of_complete_labels_are_counted(data):
    Y, P = data
    observed = mask_labels(Y, 0.3, negatives="confirmed", random_state=0)
    found = estimate_missing_rate(Y, observed, P, labels_are="complete")
    assert found.frequency.interval() == (1, 1)
    assert found.row["estimated_rate"].item() == 100 * np.isnan(observed).mean()
    assert found.row[["low", "high"]].isna().all(axis=None)


def test_labels_of_an_unknown_state_have_a_bound_only(data):
    Y, P = data
    found = estimate_missing_rate(Y, Y, P, labels_are="unknown")
    assert found.frequency.interval() == (1, 1)  # scored as they are
    (row,) = found.row.to_dict("records")
    assert np.isnan(row["estimated_rate"]) and row["low"] == 0
    assert row["high"] == pytest.approx(100 * (1 - found.bound)) and 0 < row["high"] < 100


def test_a_known_rate_is_taken(data):
    Y, P = data
    found = estimate_missing_rate(Y, Y, P, labels_are="incomplete", missing_rate=0.3)
    assert found.frequency.median == 0.7 and found.bound is None
    assert found.row["estimated_rate"].item() == pytest.approx(30)
    assert found.row[["low", "high"]].isna().all(axis=None)


def test_a_rate_counts_at_most_the_zeros_of_each_label():
    """The first label has one zero, so it can miss one positive. The second can miss nine."""
    Y = np.zeros((10, 2), dtype=np.int8)
    Y[:9, 0], Y[0, 1] = 1, 1
    found = estimate_missing_rate(Y, Y, np.full(Y.shape, 0.5), labels_are="incomplete", missing_rate=0.95)
    assert found.row["estimated_rate"].item() == pytest.approx(100 * (1 - 10 / 20))
