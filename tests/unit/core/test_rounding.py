import numpy as np
import pytest

from fairfold.core.rounding import ROUNDING, equalize_ties, first_best


def test_what_differs_by_rounding_becomes_equal_and_the_rest_stays():
    values = np.array([[0.1 + 0.2, 0.3, 0.7], [0.3 + 2 * ROUNDING, -0.5, 0.3]])
    found = equalize_ties(values)
    assert found.tolist() == [[0.3, 0.3, 0.7], [0.3 + 2 * ROUNDING, -0.5, 0.3]]
    np.testing.assert_array_equal(equalize_ties([3, 1, 2]), [3.0, 1.0, 2.0])


def test_values_are_compared_along_the_axis_only():
    values = np.array([[0.1 + 0.2, 0.3, 0.5], [0.3, 0.7, 0.7 + 1e-15]])
    assert equalize_ties(values, axis=1).tolist() == [[0.3, 0.3, 0.5], [0.3, 0.7, 0.7]]
    assert equalize_ties(values, axis=0).tolist() == [[0.3, 0.3, 0.5], [0.3, 0.7, 0.7 + 1e-15]]
    for axis in (0, 1, 2):
        cube = np.random.default_rng(0).integers(4, size=(3, 4, 5)) / 3
        found = equalize_ties(cube + np.random.default_rng(1).normal(0, 1e-16, size=cube.shape), axis=axis)
        assert all(len(np.unique(line)) <= 4 for line in np.moveaxis(found, axis, -1).reshape(-1, cube.shape[axis]))
        np.testing.assert_allclose(found, cube, atol=1e-15)
    assert equalize_ties(np.empty((0, 3)), axis=1).shape == (0, 3)


def test_no_border_parts_a_tie():
    """Rounding to any fixed number of decimals separates some of these ties."""
    centers = np.arange(1, 4096) / 8192  # many have 5 as their last digit
    around = centers + np.array([-1e-16, 0.0, 1e-16])[:, None]
    found = equalize_ties(around)
    assert (np.ptp(found, axis=0) == 0).all()
    assert len(np.unique(found)) == len(centers)


def test_a_run_of_neighbors_is_one_tie():
    assert len(np.unique(equalize_ties(np.arange(10) * 0.9 * ROUNDING))) == 1


def test_settled_leaves_what_is_no_number():
    values = np.array([np.nan, np.inf, 1.0, -np.inf, np.nan, np.inf, 1.0 + 1e-16])
    np.testing.assert_array_equal(equalize_ties(values), [np.nan, np.inf, 1.0, -np.inf, np.nan, np.inf, 1.0])
    assert equalize_ties([]).shape == (0,)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([0.3, 0.1 + 0.2], 0),
        ([0.3, 0.3 + 2 * ROUNDING], 1),
        ([0.0, 0.1 + 0.2, 0.3], 1),
        ([-1e300, -1e300 * (1 + 1e-15)], 0),
        ([1e200, 1e200 * (1 + 1e-15)], 0),  # relative to large values
        ([-np.inf, -2.0], 1),
        ([-np.inf, -np.inf], 0),
        ([1.0, np.inf, np.inf], 1),
    ],
)
def test_the_first_of_those_that_tie_for_the_largest(values, place):
    assert first_best(values) == place


def test_first_best_along_an_axis():
    values = np.array([[0.3, 0.1], [0.1 + 0.2, 0.2]])
    assert first_best(values, axis=0).tolist() == [0, 1]
    assert first_best(values, axis=1).tolist() == [0, 0]
