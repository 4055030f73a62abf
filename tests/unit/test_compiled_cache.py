import os
import shutil
import subprocess
import sys
from pathlib import Path

import fairfold

CALLEE = "from numba import njit\n\n\n@njit(cache=True)\ndef inner():\n    return {}\n"
CALLER = """from numba import njit

from fairfold.callee import inner


@njit(cache=True)
def outer():
    return inner()
"""


def test_a_change_in_a_compiled_function_reaches_its_callers_in_other_files(tmp_path):
    package = tmp_path / "fairfold"
    package.mkdir()
    shutil.copy(Path(fairfold.__file__), package / "__init__.py")
    (package / "caller.py").write_text(CALLER)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["PYTHONPATH"] = str(tmp_path)
    command = [sys.executable, "-c", "from fairfold.caller import outer; print(outer(), len(outer.stats.cache_hits))"]
    seen = []
    for value in (1, 1, 22):
        (package / "callee.py").write_text(CALLEE.format(value))
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seen.append(run.stdout.split())
    assert seen == [["1", "0"], ["1", "1"], ["22", "0"]]
