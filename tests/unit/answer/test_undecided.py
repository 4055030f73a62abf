"""Test the sentence on the samples that would decide a comparison."""

import numpy as np
import pandas as pd
import pytest

from fairfold.answer.undecided import samples_sentence

COLUMNS = ["model", "verdict", "behind", "behind_low", "behind_high", "fit_seconds"]
REAL = "The difference between A and {} may be chance. If it is real, a table of about"
BEST, FAST = ("A", "best", 0.0, np.nan, np.nan, 2.0), ("C", "not different", 0.03, -0.03, 0.09, 1.0)
NEXT, EQUAL = ("B", "not different", 0.02, -0.02, 0.06, 3.0), ("D", "equivalent", 0.001, -0.004, 0.006, 0.1)


@pytest.mark.parametrize(
    ("rows", "n_samples", "sentence"),
    [
        ([BEST, NEXT], 300, f"{REAL.format('B')} 1,200 samples, instead of 300, would show it."),
        ([BEST, NEXT, FAST], 300, f"{REAL.format('C')} 1,200 samples, instead of 300, would show it."),
        ([BEST, EQUAL, NEXT, FAST], 300, f"{REAL.format('B')} 1,200 samples, instead of 300, would show it."),
        (
            [BEST, ("B", "not different", 0.019, -0.0001, 0.0381, np.nan)],
            300,
            f"{REAL.format('B')} 310 samples, instead of 300",
        ),
        (
            [BEST, ("B", "not different", 0.008, -0.05, 0.066, 3.0)],
            300,
            f"{REAL.format('B')} 16,000 samples, instead of 300",
        ),
        ([BEST, ("B", "not different", 0.005, -0.5, 0.51, 3.0)], 300, None),
        ([BEST, ("B", "not different", 0.02, np.nan, np.nan, 3.0)], 300, None),
        ([BEST, EQUAL], 300, None),
    ],
)
def test_the_pair_and_the_number(rows, n_samples, sentence):
    found = samples_sentence(pd.DataFrame(rows, columns=COLUMNS), n_samples)
    assert found is None if sentence is None else found.startswith(sentence)


def test_a_larger_region_of_practical_equality_needs_fewer_samples():
    board = pd.DataFrame([BEST, ("B", "not different", 0.005, -0.05, 0.06, 3.0)], columns=COLUMNS)
    assert samples_sentence(board, 300, rope=0.05) == f"{REAL.format('B')} 450 samples, instead of 300, would show it."
