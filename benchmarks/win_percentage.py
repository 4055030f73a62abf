"""Our compiled evaluation of feature pairs and the loop a user would write with scikit-learn, in one run.

    python benchmarks/win_percentage.py [--pairs 200000]

`ratio`: CPU seconds of one thread per pair and classifier, the same folds on both sides: ours for all six Gaussian
classifiers, scikit-learn's for the four that it has. `projection`: all pairs of the paper's Table 5 (4.3e8 of them),
from the time of some pairs at each of its numbers of samples. Data are random: times do not depend on values.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import recall_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid

from fairfold.evaluation.plans import deal_folds
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS
from fairfold.win_percentage.pair_kernel import count_correct, fold_data
from fairfold.win_percentage.wrapper import evaluate_all_pairs, n_pairs, pairs_between

PEERS = (NearestCentroid(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), GaussianNB())
SAMPLES = (130, 340, 246)  # of the paper's endpoints: breast cancer, multiple myeloma, neuroblastoma
ALL_PAIRS, CORES = 4.3e8, 2


def draw(n: int, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes, and the folds of two three-fold cross-validations."""
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, n_features)) + 0.5 * y[:, None]
    return X, y, np.array([deal_folds(y, 3, rng) for _ in range(2)])


def scikit_learn(X: np.ndarray, y: np.ndarray, fold_of: np.ndarray, pair: tuple[int, int]) -> list[float]:
    """Mean of sensitivity and specificity of each peer on one pair."""
    part, performances = X[:, pair], []
    for model in PEERS:
        recalls = []
        for folds in fold_of:
            predicted = np.empty_like(y)
            for k in range(3):
                predicted[folds == k] = clone(model).fit(part[folds != k], y[folds != k]).predict(part[folds == k])
            recalls.append(recall_score(y, predicted, average="macro"))
        performances.append(float(np.mean(recalls)))
    return performances


def seconds_per_pair(n: int, n_some: int) -> float:
    X, y, fold_of = draw(n, 1000)
    folded, pairs = fold_data(X, y, fold_of), pairs_between(0, n_some, 1000)
    count_correct(folded, pairs[0][:2], pairs[1][:2])  # compiles
    start = time.process_time()
    count_correct(folded, *pairs)
    return (time.process_time() - start) / n_some


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000)
    n_some = min(parser.parse_args().pairs, n_pairs(1000))
    X, y, fold_of = draw(SAMPLES[0], 1000)
    start = time.process_time()
    for second in range(1, 21):
        scikit_learn(X, y, fold_of, (0, second))
    theirs = (time.process_time() - start) / 20 / len(PEERS)
    ours = seconds_per_pair(SAMPLES[0], n_some) / len(GAUSSIAN_CLASSIFIERS)
    print(f"n = {SAMPLES[0]}: {theirs * 1e3:.2f} ms per pair and classifier, ours {ours * 1e6:.3f} us: ", end="")
    print(f"{theirs / ours:,.0f}x")
    each = {n: seconds_per_pair(n, n_some) for n in SAMPLES}
    for n, seconds in each.items():
        print(f"n = {n}: {1 / seconds:,.0f} pairs a second, six classifiers, 2 x 3 folds")
    worst = ALL_PAIRS * max(each.values())
    hours = worst / 3600 / CORES
    print(f"{ALL_PAIRS:.1e} pairs, all at the slowest n: {worst:,.0f} CPU s, {hours:.2f} h on {CORES} cores")
    evaluate_all_pairs(X, y, stop=n_some)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit:,.0f} MiB")


if __name__ == "__main__":
    main()
