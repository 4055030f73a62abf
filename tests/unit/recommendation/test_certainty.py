"""Test the columns next to the tests, and the sentences about them."""

import numpy as np
import pandas as pd
import pytest

from fairfold.evaluation.corrected_t import detectable_difference, equivalence_probabilities
from fairfold.recommendation.certainty import CERTAINTY, certainty_columns, certainty_sentences, curve_sentences
from fairfold.recommendation.comparison import compare_with_best


def as_table(values, models="abcd"):
    rows = [(models[i], fold, value) for (i, fold), value in np.ndenumerate(values)]
    return pd.DataFrame(rows, columns=["model", "fold", "value"])


@pytest.fixture
def values():
    return np.random.default_rng(0).normal([[0.7], [0.72], [0.6]], 0.02, size=(3, 5))


@pytest.mark.parametrize(("metric", "sign"), [("mcc", 1), ("hamming_loss", -1)])
def test_columns_are_of_the_best_against_each(values, metric, sign):
    table = compare_with_best(as_table(values), metric, alpha=0.1, rope=0.03)
    best = int((sign * values.mean(axis=1)).argmax())
    for i, row in table.iterrows():
        if i == best:
            assert row[CERTAINTY].isna().all()
            continue
        ahead = sign * (values[best] - values[i])
        worse, equivalent, better = equivalence_probabilities(ahead, rope=0.03, correlation=1 / 5)
        np.testing.assert_allclose(row[CERTAINTY[:3]].tolist(), [better, equivalent, worse], atol=1e-9)
        assert row["detectable"] == pytest.approx(detectable_difference(ahead, correlation=1 / 5, alpha=0.1))


def test_one_fold_has_none():
    found = certainty_columns(np.zeros((3, 1)), 0, correlation=0.2, rope=0.01, alpha=0.05)
    assert list(found) == CERTAINTY and np.isnan(list(found.values())).all()


def compared(*rows):
    table = pd.DataFrame(rows, columns=["model", "difference", *CERTAINTY]).set_index("model")
    return table.assign(rope=0.01, alpha=0.05, n_folds=5)


NONE = [np.nan] * 4


def test_the_sentence_is_about_the_next():
    table = compared(("C", 0.3, 1, 0, 0, 0.0521), ("A", 0.0, *NONE), ("B", 0.02, 0.7, 0.252, 0.0049, 0.0341))
    assert list(certainty_sentences(table, "A")) == [
        "A is better than B, the second best model, by more than 0.01 with probability 0.70. The two are practically "
        "equal with probability 0.25, and A is worse by more than 0.01 with probability below 0.01."
    ]
    table = compared(("A", 0.0, *NONE), ("B", 0.02, 0.999, 0.001, 0, 0.03))
    assert "with probability above 0.99. The two" in next(certainty_sentences(table, "A"))


def test_without_numbers_there_are_no_sentences():
    assert not list(certainty_sentences(compared(("A", 0.0, *NONE)), "A"))
    assert not list(certainty_sentences(compared(("A", 0.0, *NONE), ("B", 0.1, *NONE)), "A"))


def curve(rate=0):
    rows = [("measured", 0.5, 240, 0.70, 0.65, 0.75), ("measured", 1, 480, 0.75, 0.70, 0.80)]
    rows += [("extrapolated", times, 480 * times, 0.75 + times / 100, 0.71, 0.8213) for times in (2, 4)]
    table = pd.DataFrame(rows, columns=["kind", "times", "n_train", "score", "low", "high"])
    return table.assign(missing_rate=rate)


def test_what_twice_the_samples_would_give():
    assert list(curve_sentences(curve(), "A")) == [
        "With twice the 480 training samples, A would reach about 0.77 on observed labels (95 % interval 0.71 to "
        "0.82), compared with 0.75 now. This assumes that its score follows a power law."
    ]
    assert "about 0.77 on observed labels with 30 % hidden (" in next(curve_sentences(curve(30), "A"))
    assert not list(curve_sentences(curve()[:2], "A"))
