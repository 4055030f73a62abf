"""Binary losses compared with numbers computed by hand from the formulas of the documentation page."""

import math

import numpy as np
import pytest

from fairfold.ecoc.losses import BINARY_LOSSES, default_loss, find_loss
from fairfold.errors import ModelError

LN2 = math.log(2)
BY_HAND = {  # name -> (y, s, loss)
    "hamming": [(1, 2, 0), (1, -0.1, 1), (-1, 2, 1), (-1, -3, 0), (1, 0, 0.5), (0, 7, 0.5)],
    "linear": [(1, 2, -0.5), (1, -3, 2), (-1, 2, 1.5), (-1, -0.5, 0.25), (0, 7, 0.5)],
    "logit": [(1, LN2, math.log(1.5) / (2 * LN2)), (-1, LN2, math.log(3) / (2 * LN2)), (1, 0, 0.5), (0, 7, 0.5)],
    "exponential": [(1, LN2, 0.25), (-1, LN2, 1), (-1, -LN2, 0.25), (0, 7, 0.5)],
    "binodeviance": [(1, LN2, math.log(1.25) / (2 * LN2)), (-1, LN2, math.log(5) / (2 * LN2)), (0, 7, 0.5)],
    "hinge": [(1, 2, 0), (1, 0.5, 0.25), (-1, 2, 1.5), (-1, -1, 0), (0, 7, 0.5)],
    "quadratic": [(1, 1, 0), (1, 0, 2), (1, 0.75, 0.125), (-1, 0.75, 1.125), (-1, 0, 0), (-1, 0.5, 0.5), (0, 0.9, 0.5)],
}  # fmt: skip


def test_the_seven_losses_exist():
    assert set(BINARY_LOSSES) == set(BY_HAND)
    assert {name for name, loss in BINARY_LOSSES.items() if loss.domain == "[0,1]"} == {"quadratic"}
    assert all(loss.name == name for name, loss in BINARY_LOSSES.items())


@pytest.mark.parametrize(
    ("name", "y", "s", "expected"), [(name, *row) for name, rows in BY_HAND.items() for row in rows]
)
def test_losses_are_those_worked_by_hand(name, y, s, expected):
    assert BINARY_LOSSES[name].elementwise(y, s) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", BY_HAND)
def test_losses_broadcast_and_pass_nan_on(name):
    found = BINARY_LOSSES[name].elementwise(np.array([[1], [-1]]), np.array([0.3, np.nan, 0.9]))
    assert found.shape == (2, 3)
    np.testing.assert_array_equal(np.isnan(found), [[False, True, False]] * 2)


@pytest.mark.parametrize("name", ["logit", "exponential", "binodeviance"])
def test_huge_scores_give_finite_losses(name):
    g = BINARY_LOSSES[name].elementwise
    assert np.isfinite(g(1, -1e4)) and g(1, -1e4) > g(1, -300)
    assert g(1, 1e4) == 0


@pytest.mark.parametrize(
    ("kinds", "fit_posterior", "expected"),
    [
        (["margin", "margin"], False, "hinge"),
        (["probability"], False, "quadratic"),
        (["exponential"] * 3, False, "exponential"),
        (["logit"], False, "binodeviance"),
        (["margin", "probability"], False, "hamming"),
        (["exponential", "logit"], False, "hamming"),
        (["margin"], True, "quadratic"),
        (["margin", "probability"], True, "quadratic"),
    ],
)
def test_default_loss_is_the_page_s(kinds, fit_posterior, expected):
    assert default_loss(kinds, fit_posterior=fit_posterior) == expected


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ModelError, match=r"did you mean 'hinge'\?.*binodeviance.*quadratic"):
        find_loss("hinges")
    assert find_loss("logit") is BINARY_LOSSES["logit"]
