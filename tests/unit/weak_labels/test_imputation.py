import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import ModelError
from fairfold.weak_labels import (
    fluid_label_addition,
    imputation_quality,
    label_complement,
    positive_cap,
    strict_label_complement,
)


def plain_slc(observed, P, cap, threshold, frequency):
    """Implement SLC label by label and candidate by candidate, as in the paper."""
    imputed = observed.copy()
    for j in range(observed.shape[1]):
        candidates = sorted(range(len(P)), key=lambda i: (-observed[i, j], -P[i, j], i))
        for i in candidates[: cap[j]]:
            if P[i, j] / frequency[j] > threshold and observed[:, j].sum() > 0:
                imputed[i, j] = 1
    return imputed


def plain_fla(observed, P, frequency, threshold):
    imputed = observed.copy()
    for i, j in np.ndindex(observed.shape):
        if P[i, j] / frequency[j] > threshold and observed[:, j].sum() > 0:
            imputed[i, j] = 1
    return imputed


def plain_lc(observed, P, threshold):
    imputed = observed.copy()
    for i, j in np.ndindex(observed.shape):
        votes = [forest[i, j] > threshold for forest in P]
        if sum(votes) == len(P) and observed[:, j].sum() > 0:
            imputed[i, j] = 1
    return imputed


@pytest.fixture(params=range(30))
def rng(request):
    return np.random.default_rng(request.param)


@pytest.fixture
def observed(rng):
    """Return six labels, the last without positives."""
    return (rng.random((40, 6)) < [0.3, 0.3, 0.1, 0.6, 0.95, 0]).astype(np.int8)


def ties(rng, *shape):
    return rng.choice([0.1, 0.4, 0.5, 0.6, 0.9], shape)


def test_slc_equals_the_plain_reference(rng, observed):
    P, cap = ties(rng, 40, 6), rng.integers(0, 41, 6)
    result = strict_label_complement(observed, P, cap, threshold=0.5)
    np.testing.assert_array_equal(result, plain_slc(observed, P, cap, 0.5, np.ones(6)))
    assert result.dtype == np.int8


def test_slc_with_a_frequency_equals_the_plain_reference(rng, observed):
    P, cap, frequency = ties(rng, 40, 6), rng.integers(0, 41, 6), rng.uniform(0.1, 1, 6)
    result = strict_label_complement(observed, P, cap, threshold=0.6, frequency=frequency)
    np.testing.assert_array_equal(result, plain_slc(observed, P, cap, 0.6, frequency))


def test_fla_equals_the_plain_reference(rng, observed):
    P, frequency = ties(rng, 40, 6), rng.choice([0.2, 0.8, 1.0], 6)  # 0.1 / 0.2, 0.4 / 0.8 and 0.5 / 1 are 0.5
    result = fluid_label_addition(observed, P, frequency, threshold=0.5)
    np.testing.assert_array_equal(result, plain_fla(observed, P, frequency, 0.5))
    assert result.dtype == np.int8


@pytest.mark.parametrize("n_forests", [1, 2, 4])
def test_lc_equals_the_plain_reference(rng, observed, n_forests):
    P = ties(rng, n_forests, 40, 6)
    result = label_complement(observed, P, threshold=0.4)
    np.testing.assert_array_equal(result, plain_lc(observed, P, 0.4))
    assert result.dtype == np.int8


def test_observed_positives_stay_and_nothing_comes_from_nothing(rng, observed):
    P, cap, frequency = ties(rng, 40, 6), np.full(6, 40), np.full(6, 0.2)
    for result in (
        strict_label_complement(observed, P, cap),
        fluid_label_addition(observed, P, frequency),
        label_complement(observed, P[None]),
    ):
        assert (result >= observed).all()
        assert result[:, :5].sum() > observed.sum()
        assert result[:, 5].sum() == 0


def test_slc_counts_observed_positives_in_the_cap():
    observed = np.array([[1], [1], [0], [0]])
    P = np.array([[0.1], [0.2], [0.9], [0.8]])
    assert strict_label_complement(observed, P, np.array([3])).ravel().tolist() == [1, 1, 1, 0]
    assert strict_label_complement(observed, P, np.array([2])).ravel().tolist() == [1, 1, 0, 0]


def test_probability_at_the_threshold_is_not_imputed():
    observed, P = np.array([[1], [0]]), np.array([[0.9], [0.5]])
    assert strict_label_complement(observed, P, np.array([2])).ravel().tolist() == [1, 0]
    assert strict_label_complement(observed, P / 2, np.array([2]), frequency=np.array([0.5])).ravel().tolist() == [1, 0]
    assert fluid_label_addition(observed, P / 2, np.array([0.5])).ravel().tolist() == [1, 0]
    assert label_complement(observed, P[None], threshold=0.5).ravel().tolist() == [1, 0]


def test_lc_needs_every_forest_and_its_published_threshold():
    observed = np.array([[1], [0], [0]])
    P = np.array([[[0.9], [0.41], [0.99]], [[0.9], [0.41], [0.39]]])
    assert label_complement(observed, P).ravel().tolist() == [1, 1, 0]


def test_cap_is_rounded_and_stays_within_the_samples():
    observed = np.zeros((60, 6))
    for label, n_positives in enumerate([21, 3, 10, 40, 0, 13]):
        observed[:n_positives, label] = 1
    # In binary, 21 / 0.7 is slightly above 30, and 3 / (3 / 59) is slightly below 59.
    frequency = np.array([0.7, 3 / 59, 0.3, 0.5, 1.0, 1.0])
    assert positive_cap(observed, frequency).tolist() == [30, 59, 34, 60, 0, 13]
    assert positive_cap(observed, frequency, rounding="floor").tolist() == [30, 59, 33, 60, 0, 13]
    assert positive_cap(observed, frequency).dtype == np.int64


def test_quality_equals_the_plain_count(rng):
    truth = (rng.random((30, 5)) < 0.4).astype(int)
    observed = truth & (rng.random(truth.shape) < 0.5)
    imputed = observed | (rng.random(truth.shape) < 0.3)
    truth[:, 3] = observed[:, 3]  # nothing hidden
    imputed[:, 4] = observed[:, 4]  # nothing imputed
    quality = imputation_quality(truth, observed, imputed)
    for j in range(5):
        added = {i for i in range(30) if imputed[i, j] and not observed[i, j]}
        hidden = {i for i in range(30) if truth[i, j] and not observed[i, j]}
        assert quality["n_imputed"][j] == len(added)
        assert quality["true_positives"][j] == len(added & hidden)
        assert quality["false_negatives"][j] == len(hidden - added)
        precision = len(added & hidden) / len(added) if added else np.nan
        recall = len(added & hidden) / len(hidden) if hidden else np.nan
        np.testing.assert_equal([quality["precision"][j], quality["recall"][j]], [precision, recall])
    assert np.isnan(quality["recall"][3])
    assert np.isnan(quality["precision"][4])


def test_labels_added_in_part_count_by_their_weight():
    truth, observed = np.array([[1], [1], [1], [0], [0]]), np.array([[1], [0], [0], [0], [0]])
    quality = imputation_quality(truth, observed, np.array([[1], [0.75], [0], [0.25], [0]]))
    assert {name: value.item() for name, value in quality.items()} == {
        "n_imputed": 1.0,
        "true_positives": 0.75,
        "false_negatives": 1.25,
        "precision": 0.75,
        "recall": 0.375,
    }


def test_weights_of_0_and_1_count_as_labels_do(rng):
    truth = rng.random((30, 5)) < 0.4
    observed = truth & (rng.random(truth.shape) < 0.5)
    imputed = observed | (rng.random(truth.shape) < 0.3)
    whole, weights = (imputation_quality(truth, observed, imputed.astype(kind)) for kind in (bool, float))
    for name in whole:
        np.testing.assert_array_equal(whole[name], weights[name])
    assert whole["true_positives"].dtype == whole["false_negatives"].dtype == np.int64


def test_sparse_labels_are_imputed_as_dense_ones(rng, observed):
    P = ties(rng, 2, 40, 6) * (rng.random((2, 40, 6)) < 0.5)
    cap, frequency = rng.integers(0, 41, 6), rng.choice([0.2, 0.8, 1.0], 6)
    for threshold in (0.0, 0.4, 0.5):
        for dense, stored in (
            (observed, sparse.csr_array(observed)),
            (observed, observed),  # probabilities decide
        ):
            one, each = sparse.csr_array(P[0]), [sparse.csr_array(p) for p in P]
            above = {"threshold": threshold}
            for found, expected in (
                (
                    strict_label_complement(stored, one, cap, **above),
                    strict_label_complement(dense, P[0], cap, **above),
                ),
                (
                    strict_label_complement(stored, one, cap, **above, frequency=frequency),
                    strict_label_complement(dense, P[0], cap, **above, frequency=frequency),
                ),
                (
                    fluid_label_addition(stored, one, frequency, **above),
                    fluid_label_addition(dense, P[0], frequency, **above),
                ),
                (label_complement(stored, each, **above), label_complement(dense, P, **above)),
            ):
                np.testing.assert_array_equal(found.toarray(), expected)
                assert (found.format, found.dtype, found.nnz) == ("csr", np.int8, expected.sum())
    for rounding in ("ceil", "floor"):
        found = positive_cap(sparse.csr_array(observed), frequency, rounding=rounding)
        np.testing.assert_array_equal(found, positive_cap(observed, frequency, rounding=rounding))


@pytest.mark.parametrize("weights", [False, True])
def test_quality_of_sparse_labels_is_that_of_dense_ones(rng, weights):
    truth = (rng.random((30, 5)) < 0.4).astype(np.int8)
    observed = truth & (rng.random(truth.shape) < 0.5)
    added = np.where(rng.random(truth.shape) < 0.3, 0.25 if weights else 1, 0)  # quarters are added without rounding
    imputed = np.maximum(observed, added)
    dense = imputation_quality(truth, observed, imputed)
    stored = imputation_quality(*map(sparse.csr_array, (truth, observed, imputed)))
    for name in dense:
        np.testing.assert_array_equal(stored[name], dense[name])
        assert stored[name].dtype == dense[name].dtype


SEEN, P, ONE = np.array([[1, 0], [0, 1]]), np.full((2, 2), 0.7), np.ones(2)
CSR = sparse.csr_array


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: positive_cap(SEEN, ONE, rounding="ceiling"), "did you mean 'ceil'"),
        (lambda: positive_cap(SEEN, np.ones(3)), r"found shape \(3,\)\. Give 2"),
        (lambda: positive_cap(SEEN, np.array([1, 0.0])), "label 1: found 0.0"),
        (lambda: positive_cap(SEEN, np.array([1.2, 1])), "label 0: found 1.2"),
        (lambda: positive_cap(SEEN, np.array([np.nan, 1])), "label 0: found nan"),
        (lambda: fluid_label_addition(SEEN, P, np.array([1, -0.5])), "label 1: found -0.5"),
        (lambda: fluid_label_addition(SEEN, P[:1], ONE), r"\(1, 2\)"),
        (lambda: fluid_label_addition(SEEN[:, 0], P[:, 0], ONE), "n_labels"),
        (lambda: strict_label_complement(SEEN, P.T[:1], ONE), r"\(1, 2\)"),
        (lambda: strict_label_complement(SEEN, P, np.ones(3)), "cap: found shape"),
        (lambda: strict_label_complement(SEEN, P, ONE, frequency=np.zeros(2)), "label 0: found 0.0"),
        (lambda: label_complement(SEEN, P), r"found shape \(2,\) for labels of shape \(2, 2\)"),
        (lambda: label_complement(SEEN, np.ones((0, 2, 2))), "at least one forest, found none"),
        (lambda: label_complement(SEEN, np.ones((2, 3, 2))), r"\(3, 2\)"),
        (lambda: imputation_quality(SEEN, SEEN, SEEN[:1]), r"imputed labels: found shape \(1, 2\)"),
        (
            lambda: imputation_quality(np.eye(2) * [0, 1], SEEN, SEEN),
            r"truth, row 0, label 0: found False\. Observed positives must be 1",
        ),
        (lambda: imputation_quality(SEEN, SEEN, SEEN * 1.5), "imputed labels, row 0, label 0: found 1.5"),
        (lambda: imputation_quality(SEEN, SEEN, SEEN * np.nan), "imputed labels, row 0, label 0: found nan"),
        (lambda: imputation_quality(SEEN, SEEN, SEEN * 0.5), "found 0.5"),
        (lambda: imputation_quality(SEEN, SEEN, np.eye(2) * [1, 0]), "imputed labels, row 1, label 1"),
        (
            lambda: imputation_quality(SEEN, SEEN, CSR(np.eye(2) * [1, 0])),
            "imputed labels, row 1, label 1: found",
        ),
        (lambda: imputation_quality(SEEN, SEEN, CSR(SEEN * 1.5)), "imputed labels, row 0, label 0: found 1.5"),
        (lambda: imputation_quality(CSR(SEEN), SEEN, CSR(SEEN[:1])), r"imputed labels: found shape \(1, 2\)"),
        (lambda: positive_cap(CSR(SEEN), np.ones(3)), r"found shape \(3,\)\. Give 2"),
        (lambda: fluid_label_addition(SEEN, CSR(P[:1]), ONE), r"\(1, 2\)"),
        (
            lambda: fluid_label_addition(SEEN, CSR(P), ONE, threshold=-0.1),
            "threshold: found -0.1, which a probability of 0",
        ),
        (lambda: strict_label_complement(SEEN, CSR(P), ONE, threshold=-0.1), "threshold: found -0.1, which"),
        (lambda: strict_label_complement(SEEN, CSR(P), np.ones(3)), "cap: found shape"),
        (lambda: label_complement(SEEN, [CSR(P), CSR(P[:1])]), r"\(1, 2\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ModelError, match=message):
        call()
