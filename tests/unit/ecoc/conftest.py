"""Fixtures of the tests of error-correcting output codes."""

import numpy as np
import pytest


@pytest.fixture
def untouched_chance():
    """Fail when NumPy's global random state is used."""
    before = np.random.get_state()  # noqa: NPY002 - the global state is what is watched
    yield
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2] and (before[1] == after[1]).all()
