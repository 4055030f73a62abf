"""Test the state machines of the imputers: freezing, restarting and estimating."""

import numpy as np
import pytest

from fairfold.forests.imputers import FluidLabelAddition, LabelComplement, PosteriorImputer, StrictLabelComplement

OBSERVED = np.array([[1, 1], [1, 0], [0, 0], [0, 0], [0, 0], [0, 0]], dtype=np.int8)


def slc(**changes):
    settings = {"percentile": 1.0, "threshold": 0.5, "cap_rounding": "ceil", "threshold_on": "probability"}
    return StrictLabelComplement(OBSERVED, **{**settings, "freezes": True, **changes})


def proba(*columns):
    """Return the probabilities of two forests that agree."""
    return np.stack([np.column_stack(columns)] * 2).astype(float)


def test_strict_label_complement_freezes_a_full_label_and_restarts_the_others():
    imputer = slc()
    # Frequencies are 0.5 and 0.25, and therefore caps are 4 and 4.
    first = imputer.impute(1, proba([0.5, 0.4, 0.9, 0.8, 0.1, 0.7], [0.25, 0.9, 0.1, 0.1, 0.1, 0.1]))
    np.testing.assert_array_equal(first.T, [[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]])
    assert imputer.frozen.tolist() == [True, False] and imputer.active.tolist() == [1]
    # Only the active label is passed now. It forgets row 1, and its cap is that of level 1.
    second = imputer.impute(2, proba([1.0, 0.2, 0.9, 0.9, 0.9, 0.9]))
    np.testing.assert_array_equal(second.T, [[1, 1, 1, 1, 0, 0], [1, 0, 1, 1, 1, 0]])
    assert imputer.is_complete and imputer.cap.tolist() == [4, 4]
    np.testing.assert_array_equal(imputer.impute(3, np.empty((2, 6, 0))), second)
    assert [row["frozen"] for row in imputer.log] == [True, False, True, True, True, True]
    assert [row["imputed"] for row in imputer.log] == [2, 1, 2, 3, 2, 3]
    assert [row["level"] for row in imputer.log] == [1, 1, 2, 2, 3, 3]


def test_strict_label_complement_of_the_text_restarts_full_labels():
    imputer = slc(freezes=False)
    imputer.impute(1, proba([0.5, 0.4, 0.9, 0.8, 0.1, 0.7], [0.25, 0.9, 0.1, 0.1, 0.1, 0.1]))
    second = imputer.impute(2, proba([0.5, 0.4, 0.1, 0.8, 0.9, 0.7], [1.0, 0.2, 0.9, 0.9, 0.9, 0.9]))
    np.testing.assert_array_equal(second.T, [[1, 1, 0, 1, 1, 0], [1, 0, 1, 1, 1, 0]])
    assert not imputer.frozen.any() and imputer.cap.tolist() == [4, 4]


def test_strict_label_complement_as_published_thresholds_the_posterior_and_rounds_down():
    P = proba([0.6, 0.6, 0.35, 0.2, 0.1, 0.1], [0.4, 0.3, 0.1, 0.1, 0.1, 0.1])
    assert slc().impute(1, P)[:, 0].tolist() == [1, 1, 0, 0, 0, 0]
    published = slc(threshold_on="posterior", cap_rounding="floor")
    np.testing.assert_array_equal(published.impute(1, P).T, [[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
    assert published.cap.tolist() == [3, 2]


def test_fluid_label_addition_estimates_at_each_level_and_never_freezes():
    imputer = FluidLabelAddition(OBSERVED, percentile=1.0, threshold=0.5)
    first = imputer.impute(1, proba([0.5, 0.4, 0.3, 0.26, 0.25, 0.2], [0.4, 0.1, 0.1, 0.1, 0.1, 0.1]))
    np.testing.assert_array_equal(first.T, [[1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0]])
    second = imputer.impute(2, proba([1.0, 0.4, 0.3, 0.6, 0.2, 0.2], [0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))
    np.testing.assert_array_equal(second.T, [[1, 1, 0, 1, 0, 0], [1, 1, 1, 1, 1, 1]])
    assert not imputer.frozen.any()
    assert [row["label_frequency"] for row in imputer.log] == [0.5, 0.4, 1.0, 0.1]


def test_label_complement_needs_all_forests_and_keeps_its_overshoot():
    imputer = LabelComplement(OBSERVED, known_frequency=np.array([0.7, 0.5]), threshold=0.4, cap_rounding="ceil")
    agree, doubt = [0.9] * 5 + [0.3], [0.9, 0.9, 0.1, 0.1, 0.1, 0.1]
    P = np.stack([np.column_stack([agree, agree]), np.column_stack([agree, doubt])])
    labels = imputer.impute(1, P)
    np.testing.assert_array_equal(labels.T, [[1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 0, 0]])
    assert imputer.cap.tolist() == [3, 2]  # the first label now has 5
    assert imputer.frozen.all()


def test_notes_on_labels_with_one_class():
    observed = np.column_stack([OBSERVED[:, 0], np.zeros(6), np.ones(6)]).astype(np.int8)
    imputer = FluidLabelAddition(observed, percentile=0.95, threshold=0.5)
    imputer.impute(1, np.full((2, 6, 3), 0.4))
    notes = [row["note"] for row in imputer.log]
    assert notes[0] == ""
    assert notes[1].startswith("no observed positives") and notes[2].startswith("all samples are positive")
    assert imputer.log[1]["imputed"] == 0


@pytest.mark.parametrize("is_strict", [True, False])
def test_posterior_imputer_follows_bayes(is_strict):
    """With c = 0.5, an unobserved label is positive with odds p / (1 - p)."""
    seen = np.column_stack([[0.5, 0.45, 0.4, 0.3, 0.1, 0.0], [0.9, 0.1, 0.1, 0.1, 0.1, 0.1]])
    imputer = PosteriorImputer(OBSERVED, is_strict=is_strict, threshold=0.5)
    labels = imputer.impute(1, seen, 0.5)
    hidden = np.minimum(1, seen / (1 - seen))
    if is_strict:
        np.testing.assert_array_equal(labels.T, [[1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]])
        assert imputer.cap.tolist() == [4, 2]
    else:
        np.testing.assert_allclose(labels, np.where(OBSERVED == 1, 1, hidden))
    assert imputer.log[0]["imputed"] == pytest.approx(labels[:, 0].sum() - 2)
    assert imputer.log[0]["label_frequency"] == 0.5


@pytest.mark.parametrize("is_strict", [True, False])
def test_posterior_imputer_adds_nothing_where_nothing_is_hidden(is_strict):
    imputer = PosteriorImputer(OBSERVED, is_strict=is_strict, threshold=0.5)
    np.testing.assert_array_equal(imputer.impute(1, np.full(OBSERVED.shape, 0.9), 1.0), OBSERVED)
