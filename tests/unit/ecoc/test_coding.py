"""Coding matrices compared with their definitions."""

import numpy as np
import pytest

from fairfold.ecoc import coding
from fairfold.ecoc.coding import DESIGNS, check_coding, make_coding
from fairfold.errors import ModelError

HAND_MADE = {
    ("onevsone", 4): [
        [1, 1, 1, 0, 0, 0],
        [-1, 0, 0, 1, 1, 0],
        [0, -1, 0, -1, 0, 1],
        [0, 0, -1, 0, -1, -1],
    ],
    ("onevsall", 3): [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]],
    ("ordinal", 4): [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [1, 1, 1]],
    ("binarycomplete", 3): [[1, 1, 1], [-1, -1, 1], [-1, 1, -1]],
    ("ternarycomplete", 3): [[1, 1, 1, 1, 1, 0], [1, 0, -1, -1, -1, 1], [-1, -1, 1, 0, -1, -1]],
}


@pytest.mark.parametrize(("design", "n_classes"), HAND_MADE)
def test_designs_are_those_worked_by_hand(design, n_classes):
    M = make_coding(design, n_classes)
    assert M.dtype == np.int8
    np.testing.assert_array_equal(M, HAND_MADE[design, n_classes])


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("n_classes", [3, 5])
def test_every_design_is_valid(design, n_classes):
    M = make_coding(design, n_classes, n_candidates=50)
    assert len(M) == n_classes
    np.testing.assert_array_equal(check_coding(M), M)


@pytest.mark.parametrize("design", DESIGNS)
def test_two_classes_need_one_learner(design):
    assert make_coding(design, 2, n_candidates=20).shape == (2, 1)


def test_complete_designs_have_the_numbers_of_columns_of_their_formulas():
    for n_classes in (4, 6):
        assert make_coding("binarycomplete", n_classes).shape[1] == 2 ** (n_classes - 1) - 1
        assert make_coding("ternarycomplete", n_classes).shape[1] == (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    assert make_coding("binarycomplete", 17).shape[1] == 65_535  # the largest below the limit
    with pytest.raises(ModelError, match=r"131,071 columns for 18 classes.*random design"):
        make_coding("binarycomplete", 18)
    with pytest.raises(ModelError, match="261,625 columns for 12 classes"):
        make_coding("ternarycomplete", 12)


@pytest.fixture
def drawn(monkeypatch):
    """Return candidates of random designs, as drawn and with useless columns set to zero."""
    raw, cleaned = [], []
    original = coding._without_useless_columns

    def spy(candidates):
        raw.extend(candidates)
        cleaned.extend(original(candidates))
        return original(candidates)

    monkeypatch.setattr(coding, "_without_useless_columns", spy)
    return raw, cleaned


@pytest.mark.parametrize(
    ("design", "n_columns", "shares"), [("denserandom", 24, (0.5, 0, 0.5)), ("sparserandom", 35, (0.25, 0.5, 0.25))]
)
def test_random_designs_draw_entries_with_the_stated_chances(drawn, design, n_columns, shares):
    make_coding(design, 5, n_candidates=600)  # 10 log2 5 = 23.2, 15 log2 5 = 34.8
    entries = np.array(drawn[0])
    assert entries.shape == (600, 5, n_columns)
    found = [(entries == value).mean() for value in (-1, 0, 1)]
    np.testing.assert_allclose(found, shares, atol=0.01)  # five standard deviations of 60,000 draws


def row_distance(M):
    """Compute the defined distance, one pair of rows and one learner at a time."""
    smallest = np.inf
    for a in range(len(M)):
        for b in range(a):
            total = 0
            for u, v in zip(M[a], M[b], strict=True):
                total += abs(u) * abs(v) * abs(u - v) / 2
            smallest = min(smallest, total)
    return smallest


@pytest.mark.parametrize("design", ["denserandom", "sparserandom"])
def test_random_designs_keep_the_first_candidate_of_the_largest_smallest_distance(drawn, design):
    M = make_coding(design, 6, n_candidates=300)  # more candidates than fit in one batch
    candidates = [candidate[:, candidate.any(axis=0)] for candidate in drawn[1]]
    assert len(candidates) == 300
    distances = []
    for candidate in candidates:
        try:
            check_coding(candidate)
        except ModelError:
            distances.append(-1)
        else:
            distances.append(row_distance(candidate))
    assert len(set(distances)) > 2
    np.testing.assert_array_equal(M, candidates[int(np.argmax(distances))])


def test_useless_columns_are_removed_and_first_ones_stay():
    candidate = np.array([[1, 1, 1, -1, 0, 0, 1, 0], [-1, 1, -1, 1, 1, 0, 0, 0], [1, 1, 1, -1, -1, 0, 0, -1]])
    found = coding._without_useless_columns(candidate[None].astype(np.float32))[0]
    # Rows 0 and 4 are kept; 1 has one sign; 2 equals 0; 3 is opposite to 0; 5 is empty; 6 and 7 have one sign.
    np.testing.assert_array_equal(np.flatnonzero(found.any(axis=0)), [0, 4])
    np.testing.assert_array_equal(found[:, [0, 4]], candidate[:, [0, 4]])


def test_candidates_with_an_empty_row_or_two_equal_rows_never_win():
    empty = [[1, 1], [-1, 0], [0, 0]]
    equal = [[1, 1], [-1, 1], [-1, 1]]
    good = [[1, 1], [-1, 1], [0, -1]]
    found = coding._smallest_row_distances(np.array([empty, equal, good], np.float32))
    np.testing.assert_array_equal(found, [-1, -1, 1])


def test_random_designs_depend_on_the_seed_alone():
    first = make_coding("sparserandom", 7, random_state=3, n_candidates=40)
    np.random.seed(0)  # noqa: NPY002 - the global state must not matter
    np.testing.assert_array_equal(first, make_coding("sparserandom", 7, random_state=3, n_candidates=40))
    assert not np.array_equal(first, make_coding("sparserandom", 7, random_state=4, n_candidates=40))


def test_no_valid_candidate_is_an_error():
    with pytest.raises(ModelError, match="none of 1 sparserandom"):
        for seed in range(200):  # with three classes, a random row is soon empty or repeated
            make_coding("sparserandom", 3, random_state=seed, n_candidates=1)


def test_custom_matrices_are_taken():
    M = make_coding([[1, 0], [-1, 1], [0, -1]], 3)
    assert M.dtype == np.int8
    np.testing.assert_array_equal(M, [[1, 0], [-1, 1], [0, -1]])
    np.testing.assert_array_equal(make_coding(np.array([[1.0], [-1.0]]), 2), [[1], [-1]])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 2], [-1, 0]], "row 0, column 1: found 2"),
        ([[1, 1], [-1, np.nan]], "row 1, column 1: found nan"),
        ([[1, 1], [-1]], "expected a matrix of numbers"),
        ([["a"], ["b"]], "expected a matrix of numbers"),
        ([1, -1], "expected a matrix of numbers"),
        ([[1, -1]], r"shape \(1, 2\)"),
        ([[], []], r"shape \(2, 0\)"),
        ([[1], [-1], [0]], "row 2: all entries are 0"),
        ([[1, 1], [-1, 0], [0, 1]], "column 1: 1 or -1 is missing"),
        ([[1, -1], [-1, 0], [0, -1]], "column 1: 1 or -1 is missing"),
        ([[1, 1], [-1, 1], [1, -1], [-1, 1]], "rows 1 and 3 are equal"),
        ([[1, 0, 1], [-1, 1, -1], [0, -1, 0]], "columns 0 and 2 are equal or opposite"),
        ([[0, 1, 0], [1, -1, -1], [-1, 0, 1]], "columns 0 and 2 are equal or opposite"),
    ],
)
def test_invalid_matrices_state_what_is_wrong(matrix, message):
    with pytest.raises(ModelError, match=message):
        check_coding(matrix)


def test_bad_requests_are_errors():
    with pytest.raises(ModelError, match=r"did you mean 'onevsone'\?.*onevsall.*sparserandom"):
        make_coding("onevsonne", 3)
    with pytest.raises(ModelError, match=r"known are.*ternarycomplete"):
        make_coding("zzz", 3)
    for n_classes in (1, 0, 2.5):
        with pytest.raises(ModelError, match="at least 2"):
            make_coding("onevsone", n_classes)
    with pytest.raises(ModelError, match="2 rows for 3 classes"):
        make_coding([[1], [-1]], 3)
    with pytest.raises(ModelError, match="n_candidates is 0"):
        make_coding("denserandom", 3, n_candidates=0)
