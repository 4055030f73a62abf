"""What the package exports, and when it loads Numba."""

import subprocess
import sys

import pytest

import fairfold.win_percentage as package


def test_every_name_is_there():
    assert all(hasattr(package, name) for name in package.__all__)
    assert dir(package) == sorted(package.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_numba_is_loaded_with_the_kernel_only(root):
    code = """if True:
        import sys
        from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, draws_needed, null_interval, win_percentage
        assert "numba" not in sys.modules
        from fairfold.win_percentage import evaluate_feature_sets
        assert "numba" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root / "workflow")
