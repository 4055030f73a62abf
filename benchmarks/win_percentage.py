"""Compare our compiled evaluation of feature pairs with a scikit-learn loop.

    python benchmarks/win_percentage.py [--pairs 1000000]

`ratio`: CPU seconds of one thread per pair and classifier, with the same data and folds on both sides. Ours evaluates
all six Gaussian classifiers, scikit-learn the four that it has. Nearest centroid and linear discriminant analysis are
the same model on both sides, so their performance is compared too; the other two divide variances by n, not n - 1.
`projection`: all pairs of the paper's Table 5 (4.0e8), extrapolated from some pairs at each number of samples. Data are
simulated with the width of a microarray; run times do not depend on values.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np
from _record import record
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import recall_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid

from fairfold.datasets.generate import expression_like
from fairfold.win_percentage import GAUSSIAN_CLASSIFIERS, evaluate_all_pairs, evaluate_feature_sets
from fairfold.win_percentage.wrapper import Problem

PEERS = {
    "NC": NearestCentroid(),
    "LDA": LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
    "UDA": GaussianNB(priors=[0.5, 0.5]),
    "QDA": QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]),
}
SAMPLES = (130, 340, 246)  # endpoints of the paper: breast cancer, multiple myeloma, neuroblastoma
FEATURES, ALL_PAIRS, CORES = 20_000, 4.0e8, 2
COMPARED = 20  # pairs that scikit-learn evaluates


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw features and classes of n samples."""
    return expression_like(
        (n - 2 * n // 5, 2 * n // 5), FEATURES, FEATURES // 2, n_informative=FEATURES // 2, effect=0.5
    )


def scikit_learn(X: np.ndarray, y: np.ndarray, fold_of: np.ndarray, pair: tuple[int, int]) -> list[float]:
    """Compute the mean of sensitivity and specificity of each peer on one pair."""
    part, performances = X[:, pair], []
    for model in PEERS.values():
        recalls = []
        for folds in fold_of:
            predicted = np.empty_like(y)
            for k in range(3):
                predicted[folds == k] = clone(model).fit(part[folds != k], y[folds != k]).predict(part[folds == k])
            recalls.append(recall_score(y, predicted, average="macro"))
        performances.append(float(np.mean(recalls)))
    return performances


def cpu_seconds(X: np.ndarray, y: np.ndarray, n_some: int) -> float:
    """Measure the seconds per pair without preparation."""
    evaluate_all_pairs(X, y, stop=1)  # compile before timing
    start = time.process_time()
    evaluate_all_pairs(X, y, stop=1)
    prepared = time.process_time()
    evaluate_all_pairs(X, y, stop=n_some + 1)
    return (time.process_time() - prepared - (prepared - start)) / n_some


def compare(X: np.ndarray, y: np.ndarray, seconds: float) -> None:
    """Print the ratio to scikit-learn and how often both give the same performance."""
    pairs = [(0, second) for second in range(1, COMPARED + 1)]
    fold_of = Problem.make(X, y, 3, 2, 0).fold_of
    start = time.process_time()
    theirs = np.array([scikit_learn(X, y, fold_of, pair) for pair in pairs])
    peer_seconds = (time.process_time() - start) / COMPARED / len(PEERS)
    own_seconds = seconds / len(GAUSSIAN_CLASSIFIERS)
    print(
        f"n = {len(y)}: {peer_seconds * 1e3:.2f} ms per pair and classifier, ours {own_seconds * 1e6:.3f} us: ", end=""
    )
    print(f"{peer_seconds / own_seconds:,.0f}x (wanted 2,000x)")
    record(f"pairs of features, n = {len(y)}, scikit-learn", peer_seconds / own_seconds)
    same = ["NC", "LDA"]  # the first columns of scikit-learn's results
    ours = evaluate_feature_sets(X, y, pairs, classifiers=same).performances
    equal = np.isclose(ours, theirs[:, : len(same)], rtol=0, atol=1e-12).sum(axis=0)
    print(f"the same performance of {' and '.join(same)} on {' and '.join(map(str, equal))} of {COMPARED} pairs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    n_some = parser.parse_args().pairs
    seconds = {}
    for n in SAMPLES:
        X, y = draw(n)
        seconds[n] = cpu_seconds(X, y, n_some)
        wanted = " (wanted 150,000)" if n == SAMPLES[0] else ""
        print(f"n = {n}: {1 / seconds[n]:,.0f} pairs a second{wanted}, six classifiers, 2 x 3 folds")
    compare(*draw(SAMPLES[0]), seconds[SAMPLES[0]])
    worst = ALL_PAIRS * max(seconds.values())
    hours = worst / 3600 / CORES
    print(f"{ALL_PAIRS:.1e} pairs, all at the slowest n: {worst:,.0f} CPU s, {hours:.2f} h on {CORES} cores (wanted 1)")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(f"peak memory {peak:,.0f} MiB, whatever the number of pairs")


if __name__ == "__main__":
    main()
