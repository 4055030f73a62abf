"""Distributions of features, and pairs of labels that occur together or exclude each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import most_common_labels, with_sparsity
from fairfold.core.digits import bars
from fairfold.datasets.dataset import Dataset

PAIR_COLUMNS = ("label", "other_label", "n_measured", "n_both", "lift", "phi")
"""Columns of the table of pairs."""
MOST_FEATURES = 1000
MOST_LABELS = 300
MOST_PAIRS = 50
_N_BINS = 12


def feature_table(data: Dataset) -> pd.DataFrame:
    """Describe the distribution of each feature, of at most the first thousand.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.

    Returns
    -------
    DataFrame
        Columns ``feature, share_missing, n_distinct``, and for numbers ``share_zero, lowest, median, highest`` and
        ``histogram``, a bar for each twelfth of the range.

    Examples
    --------
    >>> X = np.array([[0.0], [0.0], [1.0], [np.nan]])
    >>> data = Dataset("plants", "multilabel", X, np.eye(4, dtype=np.int8), ("height",), ("a", "b", "c", "d"))
    >>> feature_table(data)[["feature", "share_missing", "lowest", "highest", "histogram"]]
      feature  share_missing  lowest  highest     histogram
    0  height           0.25     0.0      1.0  █▁▁▁▁▁▁▁▁▁▁▅
    """
    X = data.X[:, :MOST_FEATURES]
    columns = (with_sparsity(X[:, [column]], False) for column in range(X.shape[1]))
    rows = []
    for name, column in zip(data.feature_names, columns, strict=False):
        known = column[np.isfinite(column)]
        row = {"feature": name, "share_missing": 1 - len(known) / len(column), "n_distinct": len(np.unique(known))}
        if name in data.numbers and len(known):
            low, median, high = np.quantile(known, [0, 0.5, 1]).tolist()
            row |= {"share_zero": float((known == 0).mean()), "lowest": low, "median": median, "highest": high}
            counts, _ = np.histogram(known, bins=_N_BINS)
            row["histogram"] = bars(counts, 0, counts.max())
        rows.append(row)
    names = ["feature", "share_missing", "n_distinct", "share_zero", "lowest", "median", "highest", "histogram"]
    return pd.DataFrame(rows, columns=names)


def label_pairs(data: Dataset) -> pd.DataFrame:
    """List the pairs of labels whose correlation is strongest, among the most common labels.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.

    Returns
    -------
    DataFrame
        Columns ``PAIR_COLUMNS``: number of samples with both labels measured and with both positive, ``lift`` (how many
        times as often both are positive as independent labels), and ``phi``, the correlation of two labels.

    Examples
    --------
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    >>> data = Dataset("plants", "multilabel", np.zeros((4, 1)), Y, ("height",), ("a", "b", "c"))
    >>> label_pairs(data)[["label", "other_label", "n_both", "lift", "phi"]][:1]
      label other_label  n_both  lift  phi
    0     a           b       2   2.0  1.0
    """
    if data.task != "multilabel":
        return pd.DataFrame(columns=list(PAIR_COLUMNS))
    labels = most_common_labels(data.Y, MOST_LABELS)
    Y = data.Y[:, labels]
    if sparse.issparse(Y):
        positive = sparse.csr_array(Y == 1, dtype=np.float64)
        both, n = (positive.T @ positive).toarray(), np.full((len(labels),) * 2, float(Y.shape[0]))
        of_first = np.broadcast_to(both.diagonal()[:, None], both.shape)
    else:
        positive, measured = (np.asarray(each, dtype=np.float64) for each in (Y == 1, ~np.isnan(Y)))
        both, n, of_first = positive.T @ positive, measured.T @ measured, positive.T @ measured
    of_other = of_first.T
    spread = np.sqrt(of_first * (n - of_first) * of_other * (n - of_other))
    with np.errstate(divide="ignore", invalid="ignore"):
        lift, phi = n * both / (of_first * of_other), (n * both - of_first * of_other) / spread
    first, other = np.triu_indices(len(labels), 1)
    defined = np.isfinite(phi[first, other])
    first, other = first[defined], other[defined]
    order = np.argsort(-np.abs(phi[first, other]), kind="stable")[:MOST_PAIRS]
    chosen = first[order], other[order]
    names = np.array(data.label_names, dtype=object)[labels]
    numbers = (n[chosen].astype(int), both[chosen].astype(int), lift[chosen], phi[chosen])
    columns = zip(PAIR_COLUMNS, (names[chosen[0]], names[chosen[1]], *numbers), strict=True)
    return pd.DataFrame(dict(columns))
