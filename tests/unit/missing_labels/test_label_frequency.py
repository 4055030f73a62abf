import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.errors import DataError, ModelError
from fairfold.missing_labels import corrected_scores, estimate_label_frequency
from fairfold.missing_labels.plateau import frequency_distribution

RNG = np.random.default_rng(3)
P = np.where(RNG.random((800, 4)) < 0.4, 0.97, 0.03)
TRUE = (RNG.random(P.shape) < P).astype(int)


@pytest.mark.parametrize("frequency", [0.4, 0.7])
def test_a_known_frequency_is_in_the_interval(frequency):
    Y = TRUE * (RNG.random(P.shape) < frequency)
    found = estimate_label_frequency(Y, P * frequency)
    assert found.low <= frequency <= found.high < 1
    expected = frequency_distribution(Y, P * frequency)
    assert found == (expected.median, *expected.interval(0.95))
    assert estimate_label_frequency(sparse.csr_array(Y), P * frequency) == found
    narrow = estimate_label_frequency(Y, P * frequency, confidence=0.5)
    assert found.low < narrow.low < narrow.high < found.high


def test_scores_may_estimate_the_frequency():
    Y = TRUE * (RNG.random(P.shape) < 0.5)
    estimate = estimate_label_frequency(Y, P / 2).estimate
    assert corrected_scores(Y, P / 2, metrics=["mcc"]) == corrected_scores(Y, P / 2, estimate, metrics=["mcc"])


def test_other_columns_and_confidences_are_refused():
    names = ["a", "b", "c", "d"]
    with pytest.raises(DataError, match="P: column 0 is 'd', but 'a' in Y_observed"):
        estimate_label_frequency(pd.DataFrame(TRUE, columns=names), pd.DataFrame(P, columns=names[::-1]))
    with pytest.raises(ModelError, match="confidence is 95"):
        estimate_label_frequency(TRUE, P, confidence=95)
