"""Numba is imported only with the compiled kernels."""

import subprocess
import sys


def test_numba_is_loaded_with_the_kernel_only(root):
    code = """if True:
        import sys
        from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, draws_needed, null_interval, win_percentage
        assert "numba" not in sys.modules
        from fairfold.win_percentage import evaluate_feature_sets
        assert "numba" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root / "workflow")
