"""Test the warnings of a study about few or uneven groups, by name."""

import re

import numpy as np
import pytest

from fairfold.splitting.group_warnings import fitting_folds, group_warnings


@pytest.mark.parametrize(
    ("sizes", "sentences"),
    [
        ([40, 40, 40], ["column 'site' has 3 groups for 5 folds; the study uses 3 folds$"]),
        (
            [60, 30, 20, 5, 5],
            [r"column 'site': folds of whole groups have .* instead of 24, .*, because of site 0 \(60"],
        ),
        ([70, 50], ["the study uses 2 folds", "has 2 groups, so models train on one", "; add groups, or"]),
        ([8] * 15, []),
    ],
)
def test_few_or_uneven_groups_are_reported_by_their_names(sizes, sentences):
    names = [f"site {number}" for number in range(len(sizes))]
    messages = [sentence for _, sentence in group_warnings(np.repeat(np.arange(len(sizes)), sizes), names, 5, "site")]
    assert len(messages) == len(sentences)
    for sentence, pattern in zip(messages, sentences, strict=True):
        assert re.search(pattern, sentence), sentence
        assert sentence.count("; ") == 1 and ". " not in sentence


def test_without_groups_nothing_is_reported():
    assert group_warnings(None, (), 5, "") == []


@pytest.mark.parametrize(("n_groups", "n_parts", "expected"), [(3, 1, 3), (9, 1, 5), (9, 2, 4), (3, 2, 2), (1, 1, 2)])
def test_folds_fit_the_groups(n_groups, n_parts, expected):
    assert fitting_folds(5, np.arange(n_groups), n_parts=n_parts) == expected
    assert fitting_folds(5, n_parts=n_parts) == 5
