"""Configuration of a study that contains only weak labels."""

import copy

import pytest

from fairfold.planning.check import check_config

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
    """Return a configuration, with defaults, of a study that contains only weak labels."""
    filled = copy.deepcopy(CONFIG)
    check_config(filled)
    return filled
