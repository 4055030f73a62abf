import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.errors import DataError, ModelError
from fairfold.evaluation import Certified, certify
from fairfold.evaluation.certified import certified_table, curve_table


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    P = 1 / (1 + np.exp(1 - 3 * rng.normal(size=(1500, 3))))
    return (rng.random(P.shape) < P).astype(int), P


def test_stored_counts_certify_nearly_as_the_samples_do(drawn):
    Y, P = drawn
    curves = curve_table(Y, P, ["a", "b", "c"])
    assert len(curves) < 600
    for precision in (0.8, 0.9, 0.95):
        found, expected = Certified(precision).certificates(curves), certify(Y, P, precision=precision)
        assert (found["reason"] == "").tolist() == (expected["reason"] == "").tolist()
        # Thresholds of the grid have numbers of decisions that are up to 20 % apart.
        np.testing.assert_allclose(found["n_decisions"], expected["n_decisions"], rtol=0.2)
        above = [(P[:, label] > low).sum() for label, low in enumerate(found["threshold"])]
        assert above == found["n_decisions"].tolist()


def test_labels_without_decisions_keep_their_rows(drawn):
    Y, P = drawn
    curves = curve_table(np.where([True, False, True], Y, np.nan), P * [0, 1, 1], ["a", "b", "c"])
    empty = curves.groupby("label", sort=False).first()
    assert empty["n_decisions"].tolist() == [0, 0, 1] and empty["n_cells"].tolist() == [1500, 0, 1500]
    assert empty["prevalence"]["a"] == pytest.approx(Y[:, 0].mean()) and np.isnan(empty["prevalence"]["b"])
    assert curves["n_decisions"].dtype == np.int64
    found = certified_table(curves, len(Y)).groupby("label", sort=False)["reason"].first()
    assert found["a"].startswith("0 decisions above any threshold") and found["b"] == "no recorded positive"
    assert [*found.index] == ["a", "b", "c"]


def test_absence_is_decided_where_labels_are_complete(drawn):
    Y, P = drawn
    curves = curve_table(Y, P, ["a", "b", "c"], negatives="confirmed")
    opposite = certify(1 - Y, 1 - P, precision=0.95)
    absent = Certified(0.9, negative_precision=0.95).certificates(curves, 0)
    np.testing.assert_allclose(absent["n_decisions"], opposite["n_decisions"], rtol=0.2)
    table = pd.DataFrame(P, columns=["a", "b", "c"])
    decided = Certified(0.9, negative_precision=0.95).decide(table, curves)
    assert {*decided.to_numpy().ravel()} == {0, 1, "unsure"}
    assert (decided == 0).sum().tolist() == absent["n_decisions"].tolist()
    assert {*Certified(0.9).decide(table, curves).to_numpy().ravel()} == {1, "unsure"}
    unknown = Certified(0.5).decide(table.rename(columns={"a": "z"}), curves)["z"]
    assert (unknown == "unsure").all()
    with pytest.raises(ModelError, match="negative_precision: expected complete labels"):
        Certified(0.9, negative_precision=0.9).decide(table, curve_table(Y, P, ["a", "b", "c"]))


def test_counts_of_sparse_labels_equal_those_of_dense_ones(drawn):
    Y, P = drawn
    complete = {"labels": ["a", "b", "c"], "negatives": "confirmed"}
    found = curve_table(sparse.csr_array(Y), sparse.csr_array(P), **complete)
    pd.testing.assert_frame_equal(found, curve_table(Y, P, **complete))


@pytest.mark.parametrize("options", [{"precision": 0}, {"negative_precision": 1}, {"confidence": 95}])
def test_targets_out_of_range_are_refused(options):
    with pytest.raises(DataError, match=f"{next(iter(options))}: expected a number above 0 and below 1"):
        Certified(**options)
