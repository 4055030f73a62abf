"""A configuration of a study of weak labels alone."""

import copy

import pytest

from fairfold.study import check_config

CONFIG = {
    "seed": 7,
    "data": {},
    "folds": {},
    "weak_labels": {
        "datasets": ["a", "b"],
        "missing_rates": [0, 50],
        "models": ["RF+ET", "SLCForest"],
        "variant": "authors-code",
    },
}


@pytest.fixture
def config():
    """A configuration, with defaults, of a study of weak labels alone."""
    filled = copy.deepcopy(CONFIG)
    check_config(filled)
    return filled
