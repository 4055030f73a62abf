"""Compare models of other packages in the study's harness with direct calls of the same models.

    python benchmarks/harness.py [--dataset digits-segments] [--models logistic HistGB LightGBM] [--rounds 3]

`by hand`: CPU seconds of a loop over folds and labels that fits the package's own classifier with the same settings
and computes the same scores. `harness`: the same model by name through `score_on_folds`. `own`: the same model by the
name of its class from a configuration, in a separate process, in the first round only. Like a job of the study, it
includes the start of the process and a trial fit. The other times are the minimum of all rounds, which alternate
between the sides. Each side uses one thread. The scores of all sides must be equal.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairfold.core.threads import one_thread_each
from fairfold.core.usage import cpu_seconds
from fairfold.datasets import prepare
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.models.registry import register_own
from fairfold.splitting import IterativeStratification

BOOSTING = {"n_estimators": 200, "num_leaves": 15, "learning_rate": 0.05, "deterministic": True}
LIGHTGBM = {**BOOSTING, "force_row_wise": True, "n_jobs": 1, "verbose": -1}
HISTOGRAMS = {"max_iter": 200, "max_leaf_nodes": 15, "learning_rate": 0.05, "early_stopping": False}
# Name -> class, parameters, and whether features are standardized
WRITTEN_OUT = {
    "logistic": (LogisticRegression, {"max_iter": 1000}, True),
    "HistGB": (HistGradientBoostingClassifier, HISTOGRAMS, False),
    "LightGBM": (LGBMClassifier, LIGHTGBM, False),
}


def by_hand(name: str, X: np.ndarray, Y: np.ndarray, fold_of: np.ndarray) -> list[float]:
    make, parameters, scale = WRITTEN_OUT[name]
    steps = [StandardScaler(), make(**parameters, random_state=0)]
    estimator, found = make_pipeline(*steps[not scale :]), []
    for fold in range(fold_of.max() + 1):
        train, test = fold_of != fold, fold_of == fold
        columns = []
        with one_thread_each():
            for y in Y[train].T:
                fitted = clone(estimator).fit(X[train], y)
                columns.append(fitted.predict_proba(X[test])[:, 1])
        found += multilabel_scores(Y[test], np.column_stack(columns)).values()
    return found


def by_name(name: str, X: np.ndarray, Y: np.ndarray, fold_of: np.ndarray) -> list[float]:
    tables = score_on_folds(lambda fold: make_model(name, random_state=0), X, Y, fold_of, lambda fold: Y)
    return tables.scores["value"].tolist()


def register_as_own(name: str) -> str:
    """Register the model as a user's own model and return its name."""
    make, parameters, scale = WRITTEN_OUT[name]
    entry = {"class": f"{make.__module__}.{make.__name__}", "file": None, "parameters": parameters, "scale": scale}
    entry |= {"labels": "one-per-label", "tune": {}, "tuning": {}, "minutes": 60}
    register_own({f"own-{name}": entry})
    return f"own-{name}"


def seconds_of(run: Callable[[], list[float]]) -> tuple[float, list[float]]:
    start = cpu_seconds()
    scores = run()
    return cpu_seconds() - start, scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dataset", default="digits-segments")
    parser.add_argument("--models", nargs="+", choices=WRITTEN_OUT, default=list(WRITTEN_OUT))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    data = prepare(options.dataset)
    given = data.X, data.Y, IterativeStratification(5, random_state=0).assign(data.Y)
    print(
        f"{options.dataset}: {data.Y.shape[0]} samples, {data.X.shape[1]} features, {data.Y.shape[1]} labels, 5 folds"
    )
    print(
        f"{'model':10s} {'by hand':>9s} {'harness':>9s} {'ratio':>6s} {'own':>9s} {'ratio':>6s}  CPU s, least of rounds"
    )
    for name in options.models:
        own = register_as_own(name)
        sides = (partial(by_hand, name, *given), partial(by_name, name, *given), partial(by_name, own, *given))
        rounds = [[seconds_of(run) for run in sides] for _ in range(options.rounds)]
        for _, *others in rounds:
            if any(found != rounds[0][0][1] for _, found in others):
                raise SystemExit(f"{name}: scores differ")
        hand, harness = (min(each[side][0] for each in rounds) for side in range(2))
        isolated = rounds[0][2][0]  # includes the start of the process
        ratios = harness / hand, isolated / hand
        print(f"{name:10s} {hand:9.2f} {harness:9.2f} {ratios[0]:6.3f} {isolated:9.2f} {ratios[1]:6.3f}", flush=True)


if __name__ == "__main__":
    main()
