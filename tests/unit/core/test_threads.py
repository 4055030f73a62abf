"""Numerical libraries use one thread, regardless of when they were loaded."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from joblib import effective_n_jobs

from fairfold.core.threads import set_n_jobs

LATER = """
import numpy
from threadpoolctl import threadpool_info
from fairfold.core.threads import one_thread_each

with one_thread_each():
    first = len(threadpool_info())
import sklearn.cluster

with one_thread_each():
    print(first, *[pool["num_threads"] for pool in threadpool_info()])
print(max(pool["num_threads"] for pool in threadpool_info()))
"""


def test_libraries_that_are_loaded_later_keep_to_one_thread_too():
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3] / "workflow")}
    environment |= {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", LATER], env=environment, capture_output=True, text=True, check=True)
    first, *threads, afterwards = map(int, done.stdout.split())
    assert len(threads) > first, "no library was loaded in between"
    assert set(threads) == {1}
    assert afterwards == 3


def test_all_parts_of_a_model_get_the_threads():
    inner = [SimpleNamespace(n_jobs=4, other=1) for _ in range(4)]
    parts = {"list": [inner[0]], "dict": {"a": (inner[1],)}, "array": np.array([inner[2], None], dtype=object)}
    model = SimpleNamespace(n_jobs=4, binning=SimpleNamespace(n_threads=2), parts=parts, rows=np.zeros(3), kind=int)
    inner[0].whole, inner[0].last = model, inner[3]  # a circular reference
    set_n_jobs(model, 1)
    assert {model.n_jobs, model.binning.n_threads, *(each.n_jobs for each in inner)} == {1}
    assert all(each.other == 1 for each in inner)
    set_n_jobs(model, -1)
    assert inner[3].n_jobs == -1 and model.binning.n_threads == effective_n_jobs(-1)
