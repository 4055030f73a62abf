"""Run one public splitter in its own environment; called by splitting.py. Keep this file compatible with Python 3.8.

Usage: python _splitting_peer.py PEER LABELS.npz N_SPLITS SEED FOLDS.npy

The script writes the test fold of each row and prints the CPU seconds of the call as the last line.
"""

import sys
import time

import numpy as np
import scipy.sparse as sp


def optisplit(Y, n_splits, seed):
    from optisplit.cv_balance import optisplit as published

    return [test for _, test in published(n_splits, sp.csr_matrix(Y, dtype=np.int64), seed=seed)]


def iterative_stratification(Y, n_splits, seed):
    from iterstrat.ml_stratifiers import MultilabelStratifiedKFold

    dense = Y.toarray()
    splitter = MultilabelStratifiedKFold(n_splits, shuffle=True, random_state=seed)
    return [test for _, test in splitter.split(np.zeros((len(dense), 1)), dense)]


def scikit_multilearn(Y, n_splits, seed, order=1):
    from skmultilearn.model_selection import IterativeStratification

    np.random.seed(seed)  # noqa: NPY002 - its own seed has no effect
    splitter = IterativeStratification(n_splits, order=order)
    return [test for _, test in splitter.split(np.zeros((Y.shape[0], 1)), Y)]


def scikit_multilearn_pairs(Y, n_splits, seed):
    return scikit_multilearn(Y, n_splits, seed, order=2)


PEERS = {
    function.__name__: function
    for function in (optisplit, iterative_stratification, scikit_multilearn, scikit_multilearn_pairs)
}


def main():
    peer, labels, n_splits, seed, folds = sys.argv[1:]
    Y = sp.load_npz(labels).tocsr()
    started = time.process_time()
    tests = PEERS[peer](Y, int(n_splits), int(seed))
    seconds = time.process_time() - started
    fold_of = np.empty(Y.shape[0], dtype=np.int64)
    for fold, test in enumerate(tests):
        fold_of[test] = fold
    np.save(folds, fold_of)
    print(seconds)


if __name__ == "__main__":
    main()
