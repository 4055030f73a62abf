"""Compare our tree embeddings with a dense principal component analysis; forests.py calls this script.

Both sides get the same forests (scikit-learn's, 150 trees on four fifths of yeast) and use one core. The peer is
scikit-learn's ``PCA(svd_solver="full")`` on the matrix of samples by nodes; the construction of that matrix is not
timed. For new samples, the script also reports the share of their variance that the components keep, with components
from all training samples and from a subset.
"""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from threadpoolctl import threadpool_limits

from fairfold.datasets import prepare
from fairfold.forests.embedding import TreeEmbedding

FORESTS = {"random_forest": (RandomForestRegressor, 0.95), "extra_trees": (ExtraTreesRegressor, 0.8)}
REPEATS = 3
DECOMPOSED = (1000, 500)  # of about 2,000 samples


def forest_arrays(grown, X: np.ndarray) -> SimpleNamespace:
    """Convert a scikit-learn forest to the arrays that an embedding reads."""
    trees = [estimator.tree_ for estimator in grown.estimators_]
    starts = np.cumsum([0] + [tree.node_count for tree in trees])
    own = np.repeat(starts[:-1], np.diff(starts))
    left = np.concatenate([tree.children_left for tree in trees])
    right = np.concatenate([tree.children_right for tree in trees])
    return SimpleNamespace(
        tree_starts_=starts,
        left_=np.where(left < 0, -1, left + own),
        right_=np.where(right < 0, -1, right + own),
        weight_=np.concatenate([tree.weighted_n_node_samples for tree in trees]),
        leaf_of_=grown.apply(X) + starts[:-1],
    )


def node_matrix(grown, X: np.ndarray, forest: SimpleNamespace, max_share: float) -> np.ndarray:
    """Compute the dense matrix of Equation 3: samples by kept nodes."""
    of_root = np.repeat(forest.weight_[forest.tree_starts_[:-1]], np.diff(forest.tree_starts_))
    kept = np.flatnonzero(forest.weight_ <= max_share * of_root)
    return grown.decision_path(X)[0].tocsc()[:, kept].toarray() / np.log(forest.weight_[kept] + 1)


def seconds_of(action) -> tuple[float, object]:
    started = time.process_time()
    result = action()
    return time.process_time() - started, result


def compare_kind(kind: str, X: np.ndarray, X_new: np.ndarray, Y: np.ndarray) -> dict:
    forest_class, max_share = FORESTS[kind]
    grown = forest_class(
        150, min_samples_leaf=5, max_features="sqrt", bootstrap=True, max_samples=0.5, random_state=0
    ).fit(X, Y)
    forest = forest_arrays(grown, X)
    fits = [seconds_of(lambda: TreeEmbedding(max_share=max_share).fit(forest)) for _ in range(REPEATS)]
    ours, embedding = min(fit[0] for fit in fits), fits[0][1]
    new = grown.apply(X_new) + forest.tree_starts_[:-1]
    transform = min(seconds_of(lambda: embedding.transform(new))[0] for _ in range(REPEATS))
    Z = node_matrix(grown, X, forest, max_share)
    away = ((node_matrix(grown, X_new, forest, max_share) - Z.mean(axis=0)) ** 2).sum()
    with threadpool_limits(1):
        peer, scores = seconds_of(lambda: PCA(n_components=0.8, svd_solver="full").fit_transform(Z))
    signs = np.sign(np.sum(scores * embedding.scores_, axis=0))
    return {
        "part": f"embedding, {kind}",
        "samples x nodes": f"{Z.shape[0]} x {Z.shape[1]}",
        "components": embedding.n_components_,
        **{
            f"share_of_new_samples, {n} decomposed": share_kept(forest, new, away, max_share, n)
            for n in (len(X), *DECOMPOSED)
        },
        "largest_difference": np.abs(scores * signs - embedding.scores_).max(),
        "cpu_seconds": ours,
        "cpu_seconds_transform": transform,
        "peer": "dense full SVD",
        "peer_cpu_seconds": peer,
        "times_faster": peer / ours,
    }


def share_kept(forest: SimpleNamespace, new: np.ndarray, away: float, max_share: float, n: int) -> float:
    """Compute the share of the squared distance of new samples from the mean that the components keep."""
    return (TreeEmbedding(max_share=max_share, max_samples=n).fit(forest).transform(new) ** 2).sum() / away


def compare_embedding() -> list[dict]:
    """Return one row per kind of forest, with CPU seconds on one core; ours are the best of three runs."""
    dataset = prepare("yeast")
    order = np.random.default_rng(0).permutation(len(dataset.X))
    X, Y = np.asarray(dataset.X)[order], np.asarray(dataset.Y, dtype=float)[order]
    n = len(X) * 4 // 5
    return [compare_kind(kind, X[:n], X[n:], Y[:n]) for kind in FORESTS]


if __name__ == "__main__":
    table = pd.DataFrame(compare_embedding()).T
    sys.stdout.write(table.to_string(header=False, float_format="{:.3g}".format) + "\n")
