"""Typed configuration of the study that is compared."""

import pytest

from fairfold.planning.check import check_config


@pytest.fixture
def study(config):
    return check_config(config)
