"""Run five methods of QuaPy in its own environment; called by elsewhere.py.

Usage: python _quapy_peer.py ARRAYS.npz ESTIMATES.npz

Each label is a binary problem. All methods get the out-of-fold probabilities that fairfold gets.
"""

import sys
import warnings

import numpy as np
from quapy.method.aggregative import ACC, EMQ, PACC, HDy, KDEyML
from sklearn.base import BaseEstimator, ClassifierMixin

METHODS = {"acc": ACC, "pacc": PACC, "emq": EMQ, "hdy": HDy, "kdey": KDEyML}


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier, whose features are the probabilities."""

    def __init__(self):
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return X.argmax(axis=1)


def estimated(method, y, p, tables):
    quantifier = METHODS[method](Given(), fit_classifier=False, val_split=None)
    quantifier.fit(np.column_stack([1 - p, p]), y)
    return [quantifier.predict(np.column_stack([1 - new, new]))[1] for new in tables]


def main():
    warnings.simplefilter("ignore")
    source, target = sys.argv[1:]
    arrays, found = np.load(source), {}
    for number in [name.removeprefix("y") for name in arrays if name.startswith("y")]:
        y, p, tables = (arrays[f"{kind}{number}"] for kind in ("y", "p", "new"))
        found |= {f"{method}{number}": estimated(method, y, p, tables) for method in METHODS}
    np.savez(target, **found)


if __name__ == "__main__":
    main()
