"""Numerical libraries keep to one thread, whenever they were loaded."""

import os
import subprocess
import sys
from pathlib import Path

LATER = """
import numpy
from threadpoolctl import threadpool_info
from fairfold.threads import one_thread_each

with one_thread_each():
    first = len(threadpool_info())
import sklearn.cluster

with one_thread_each():
    print(first, *[pool["num_threads"] for pool in threadpool_info()])
print(max(pool["num_threads"] for pool in threadpool_info()))
"""


def test_libraries_that_are_loaded_later_keep_to_one_thread_too():
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "workflow")}
    environment |= {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", LATER], env=environment, capture_output=True, text=True, check=True)
    first, *threads, afterwards = map(int, done.stdout.split())
    assert len(threads) > first, "no library was loaded in between"
    assert set(threads) == {1}
    assert afterwards == 3
