"""Find tables that are too small or too empty for a study, and state what the others can show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from fairfold.datasets.audit.spec import Audited, Check, Finding
from fairfold.datasets.requirements import learnable


def find(table: Audited) -> Iterator[Finding]:
    """Find tables without usable rows, features or labels, and estimate the smallest difference that can be detected.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        Errors, or one note.
    """
    data, n = table.data, table.n_samples
    k, n_measured = table.counts
    both, least = learnable(k, n_measured - k), table.least_samples
    if table.is_small:
        message = (
            f"the table has {n} rows; add rows to have at least {least}, as a study with {table.n_splits} folds needs"
        )
        yield Finding("error", "rows", message, check="few rows")
    if not data.X.shape[1]:
        message = "no column is left as a feature; add features, or leave out fewer columns (ignore, id)"
        yield Finding("error", "features", message, check="no features")
    elif _is_empty(data.X):
        yield Finding("error", "features", "all features are empty or constant; add others", check="no features")
    if not both.any():
        message = "no label has two positives and two negatives; correct the labels, or add samples"
        yield Finding("error", "labels", message, check="no labels")
    elif not table.is_small:
        positives = np.minimum(k, n_measured - k)[both]
        # Half-width of an interval for the difference of two paired shares that differ in a tenth of the samples.
        width = 1.96 * np.sqrt(0.1 / n)
        message = (
            f"accuracies of two models whose predictions differ in 10 % of samples must differ by {width:.3f} to be "
            "significant"
        )
        evidence = f"{n} rows, {np.median(positives):.0f} samples of the rarer value in the median label"
        yield Finding("note", "rows", message, evidence)


def _is_empty(X: np.ndarray | sparse.csr_array) -> bool:
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        spans = np.asarray(abs(X.max(axis=0) - X.min(axis=0)).todense()).ravel()
        return not (spans > 0).any()
    high, low = (np.where(np.isnan(X), gap, X) for gap in (-np.inf, np.inf))
    return not (high.max(axis=0, initial=-np.inf) > low.min(axis=0, initial=np.inf)).any()


SPECS = (Check("size", find),)
