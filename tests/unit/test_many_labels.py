"""Labels of shape (50,000, 10,000) are never converted to dense arrays, which need half a gigabyte even as bytes."""

import contextlib
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from fairfold.datasets import Dataset, prepare
from fairfold.datasets.catalog import Entry
from fairfold.metrics.decisions import all_thresholds
from fairfold.metrics.scores import multilabel_scores
from fairfold.weak_labels import (
    calibrate,
    fit_calibration,
    fitted_label_frequency,
    fluid_label_addition,
    imputation_quality,
    label_complement,
    label_frequency,
    mask_positives,
    positive_cap,
    posterior,
    strict_label_complement,
)
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

SHAPE = N, Q = 50_000, 10_000
N_STORED = 100_000
# Allow 40 numbers per stored cell, and 10 per sample and label. A dense byte array needs ten times that memory.
MOST_BYTES = 8 * (40 * N_STORED + 10 * (N + Q))


@pytest.fixture(scope="module")
def P():
    rng = np.random.default_rng(0)
    at = rng.integers(0, N, N_STORED), rng.integers(0, Q, N_STORED)
    stored = sparse.coo_array((rng.random(N_STORED) / 2, at), shape=SHAPE).tocsr()  # duplicates are summed
    stored.data = np.minimum(stored.data, 1)
    return stored


@pytest.fixture(scope="module")
def Y(P):
    rng = np.random.default_rng(1)
    kept = rng.random(P.nnz) < P.data
    labels = sparse.csr_array((kept.astype(np.int8), P.indices, P.indptr), shape=SHAPE)
    labels.eliminate_zeros()
    return labels


@contextlib.contextmanager
def little_memory():
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES < N * Q / 10
    finally:
        tracemalloc.stop()


def test_a_dense_array_would_be_noticed(P):
    with pytest.raises(AssertionError), little_memory():
        np.zeros((N, Q), dtype=np.int8)


def test_calibration_and_frequencies(P, Y):
    with little_memory():
        seen = calibrate(P, fit_calibration(Y, P))
        found = posterior(seen, fitted_label_frequency("estimate", Y, P))
    assert found.nnz == P.nnz and (found.data > 0).all()


def test_imputation(P, Y):
    with little_memory():
        c = label_frequency(Y, P)
        found = [
            strict_label_complement(Y, P, positive_cap(Y, c), threshold=0.2, frequency=c),
            fluid_label_addition(Y, P, c),
            label_complement(Y, [P, P]),
        ]
        quality = [imputation_quality(Y, Y, labels) for labels in found]
    assert [each["n_imputed"].sum() for each in quality] == [labels.nnz - Y.nnz for labels in found]


def test_scores_and_thresholds(P, Y):
    with little_memory():
        scores = multilabel_scores(Y, P)
        all_thresholds(P)
    # Samples without a stored probability rank below all positives, because each positive stores one.
    assert scores["roc_auc"] > 0.999 and scores["ranking_loss"] < 1e-3


@pytest.mark.parametrize("mechanism", ["random", "difficulty", "rarity", "sample", "group"])
def test_masking(P, Y, mechanism):
    by = {"difficulty": {"reference": P}, "group": {"groups": np.arange(N) // 100}}.get(mechanism, {})
    with little_memory():
        masked = mask_positives(Y, 0.5, mechanism=mechanism, **by, random_state=0)
    assert masked.format == "csr" and 0 < masked.nnz < Y.nnz


def test_hiding_in_folds(Y):
    fold_of = np.arange(N) % 2
    with little_memory():
        hidden = hide_in_training_parts(Y, fold_of, 0.5, seed=0, names=("many",))
        observed = observed_labels(Y, hidden, 0)
    assert observed.format == "csr" and observed.nnz < Y.nnz


def test_a_dataset_is_read_filtered_saved_and_loaded(Y, tmp_path):
    sparse.save_npz(tmp_path / "many.npz", Y)
    entry = Entry(
        id="many",
        title="Many labels",
        task="multilabel",
        format="npz",
        path=tmp_path / "many.npz",
        labels={"everything": True},
        label_filter={"min_positives": 2},
    )
    with little_memory():
        data = prepare(entry)
        data.save(tmp_path / "dataset.npz")
        again = Dataset.load(tmp_path / "dataset.npz")
        assert again.n_unmeasured == 0 and 0 < again.label_density < 1e-3
    n_positives = np.bincount(Y.indices, minlength=Q)
    assert again.shape == (N, 0, np.count_nonzero(n_positives >= 2))
    assert again.Y.format == "csr" and again.Y.nnz == n_positives[n_positives >= 2].sum()
