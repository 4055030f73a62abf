"""Fit AutoGluon to each label in its own environment; called by autogluon.py.

Usage: python -P _autogluon_peer.py PRESET ARRAYS.npz PROBABILITIES.npz
"""

import resource
import sys
import tempfile

import numpy as np
import pandas as pd
from autogluon.tabular import TabularPredictor

SEQUENTIAL = {"fold_fitting_strategy": "sequential_local"}  # folds of an ensemble in this process


def probabilities(X, y, X_new, preset):
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor("label", "binary", "average_precision", path=folder, verbosity=0)
        table = pd.DataFrame(X).add_prefix("x").assign(label=y)
        predictor.fit(table, presets=preset, num_cpus=1, num_gpus=0, ag_args_ensemble=SEQUENTIAL)
        return predictor.predict_proba(pd.DataFrame(X_new).add_prefix("x"))[1].to_numpy()


def seconds():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main():
    preset, source, target = sys.argv[1:]
    arrays, start = np.load(source), seconds()
    P = [probabilities(arrays["X"], y, arrays["X_new"], preset) for y in arrays["Y"].T]
    np.savez(target, P=np.column_stack(P), seconds=seconds() - start)


if __name__ == "__main__":
    main()
