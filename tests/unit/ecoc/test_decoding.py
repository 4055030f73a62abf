"""Decodings compared with numbers computed by hand and with a loop over the definitions."""

import numpy as np
import pytest

from fairfold.ecoc.coding import make_coding
from fairfold.ecoc.decoding import neg_loss
from fairfold.ecoc.losses import BINARY_LOSSES
from fairfold.errors import ModelError

PAIRS = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]  # pairs of three classes
SCORES = [[0.5, -1, 2]]  # hinge: g(+1, s) = 0.25, 1, 0 and g(-1, s) = 0.75, 0, 1.5


def test_hinge_by_hand():
    weighted = neg_loss(PAIRS, SCORES, "hinge")
    np.testing.assert_allclose(weighted, [[-1.25 / 2, -0.75 / 2, -1.5 / 2]], rtol=1e-15)
    based = neg_loss(PAIRS, SCORES, "hinge", "lossbased")
    np.testing.assert_allclose(based, [[-1.25 / 3, -0.75 / 3, -1.5 / 3]], rtol=1e-15)


def test_learners_without_an_answer_are_left_out_of_both_averages():
    scores = [[0.5, np.nan, 2], SCORES[0]]
    weighted = neg_loss(PAIRS, scores, "hinge")
    np.testing.assert_allclose(weighted[0], [-0.25, -0.75 / 2, -1.5], rtol=1e-15)
    based = neg_loss(PAIRS, scores, "hinge", "lossbased")
    np.testing.assert_allclose(based[0], [-0.25 / 2, -0.75 / 2, -1.5 / 2], rtol=1e-15)
    np.testing.assert_array_equal(weighted[1:], neg_loss(PAIRS, SCORES, "hinge"))


@pytest.mark.parametrize("decoding", ["lossweighted", "lossbased"])
def test_a_class_that_no_answering_learner_knows_gets_nan(decoding):
    found = neg_loss(PAIRS, [[np.nan, np.nan, 2], [np.nan] * 3], "hinge", decoding)
    np.testing.assert_array_equal(np.isnan(found), [[True, False, False], [True] * 3])


@pytest.mark.parametrize("decoding", ["lossweighted", "lossbased"])
@pytest.mark.parametrize("name", BINARY_LOSSES)
def test_matrix_products_equal_the_loop_over_the_definition(name, decoding):
    rng = np.random.default_rng(0)
    M = make_coding("sparserandom", 5, n_candidates=20)
    S = rng.random((20, M.shape[1])) if name == "quadratic" else rng.normal(size=(20, M.shape[1]))
    S[rng.random(S.shape) < 0.2] = np.nan
    found = neg_loss(M, S, name, decoding)
    for i, k in np.ndindex(found.shape):
        seen = [j for j in range(M.shape[1]) if M[k, j] and not np.isnan(S[i, j])]
        total = sum(float(BINARY_LOSSES[name].elementwise(M[k, j], S[i, j])) for j in seen)
        count = len(seen) if decoding == "lossweighted" else np.sum(~np.isnan(S[i]))
        assert found[i, k] == pytest.approx(-total / count, rel=1e-13)


def test_a_loss_object_does_as_its_name():
    np.testing.assert_array_equal(neg_loss(PAIRS, SCORES, BINARY_LOSSES["hinge"]), neg_loss(PAIRS, SCORES, "hinge"))


def test_one_against_all_with_hinge_chooses_the_largest_score():
    scores = np.random.default_rng(1).normal(size=(500, 6)) * 2
    found = neg_loss(make_coding("onevsall", 6), scores, "hinge", "lossbased")
    np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))


def test_hamming_takes_the_side_of_one_half_for_probabilities():
    # Learner 0 has a score of 0.3, so the prediction is negative. Learners 1 and 2 have positive margins.
    found = neg_loss(PAIRS, [[0.3, 0.3, 0.3]], "hamming", unit_scores=[True, False, False])
    np.testing.assert_array_equal(found, [[-0.5, 0, -1]])
    np.testing.assert_array_equal(neg_loss(PAIRS, [[0.3, 0.3, 0.3]], "hamming"), [[0, -0.5, -1]])


def test_custom_loss_is_the_page_s_median():
    calls = []

    def median(M, s):
        calls.append((M, s))
        return np.nanmedian(1 - M * s, axis=1) / 2

    # (1 - m s) / 2: class 0: 0.25, 1; class 1: 0.75, -0.5; class 2: 0, 1.5
    np.testing.assert_allclose(neg_loss(PAIRS, SCORES, median), [[-0.625, -0.125, -0.75]], rtol=1e-15)
    np.testing.assert_array_equal(calls[0][0], np.where(np.array(PAIRS) == 0, np.nan, PAIRS))
    np.testing.assert_array_equal(calls[0][1], SCORES[0])
    # Zeros count 1/2 in a loss-based median: 0.25, 1, 0.5; 0.75, 0.5, -0.5; 0.5, 0, 1.5.
    np.testing.assert_allclose(neg_loss(PAIRS, SCORES, median, "lossbased"), [[-0.5, -0.5, -0.5]], rtol=1e-15)
    np.testing.assert_array_equal(calls[1][0], PAIRS)


def test_custom_loss_is_called_once_per_sample():
    found = neg_loss(PAIRS, [[1, 2, 3], [4, 5, 6]], lambda M, s: s)
    np.testing.assert_array_equal(found, [[-1, -2, -3], [-4, -5, -6]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((PAIRS, SCORES, "hinges"), r"did you mean 'hinge'.*Losses: hamming, linear"),
        ((PAIRS, SCORES, 3), "Give a name or a callable"),
        ((PAIRS, SCORES, "hinge", "weighted"), "Decodings: lossweighted, lossbased"),
        ((PAIRS, [[1, 2]], "hinge"), r"scores: found shape \(1, 2\).*\(n_samples, 3\)"),
        ((PAIRS, [1, 2, 3], "hinge"), r"scores: found shape \(3,\)"),
        ((PAIRS, [["a", "b", "c"]], "hinge"), "scores: expected numbers"),
        ((PAIRS, [[1, np.inf, 2]], "hinge"), "row 0, column 1: found infinity"),
        (([[1, 3], [-1, 0]], [[1, 2]], "hinge"), "row 0, column 1: found 3"),
        ((PAIRS, [[0, 1, 0.5], [0, -0.5, 1]], "quadratic"), r"row 1, column 1: .* found -0\.5"),
        ((PAIRS, [[0, 1, 1.5]], "quadratic"), r"row 0, column 2: .* found 1\.5"),
        ((PAIRS, SCORES, lambda M, s: 1.0), r"shape \(\).*3 numbers"),
        ((PAIRS, SCORES, lambda M, s: ["a", "b", "c"]), "Return 3 numbers"),
    ],
)
def test_bad_input_states_what_is_wrong(arguments, message):
    with pytest.raises(ModelError, match=message):
        neg_loss(*arguments)


def test_options_that_do_not_fit_are_errors():
    with pytest.raises(ModelError, match=r"'hinge' needs scores on the real line.*quadratic"):
        neg_loss(PAIRS, [[0.1, 0.2, 0.3]], "hinge", unit_scores=True)
    neg_loss(PAIRS, [[0.1, 0.2, 0.3]], "quadratic", unit_scores=True)
