"""Find rows of a test file that repeat rows of the training file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from fairfold.datasets.audit.duplicates import digests, drawn_rows, must_repeat, near_copies
from fairfold.datasets.audit.spec import Audited, Check, Finding, Severity
from fairfold.datasets.dataset import Dataset

_FEWEST_ROWS = 30
_MOST_ROWS = 5_000  # of each file in the search for near copies
_ADVICE = "so scores on the test file are too high; remove these rows from one of the files"


def find(table: Audited) -> Iterator[Finding]:
    """Find copies and near copies of training rows in the test file.

    Parameters
    ----------
    table : Audited
        The table, with a test part.

    Yields
    ------
    Finding
        An error if at least half of the test rows are copies, and otherwise a warning.
    """
    if (test := table.test) is None or not test.X.shape[1] or must_repeat(table.data.X):
        return
    first = {each: row for row, each in reversed([*enumerate(digests(table.data.X))])}
    equal = np.array([first.get(each, -1) for each in digests(test.X)], dtype=np.int64)
    if copies := np.flatnonzero(equal >= 0).tolist():
        yield _about("copies", copies, equal[copies], table, test)
    elif table.n_samples + len(equal) >= _FEWEST_ROWS:
        rng = table.rng("parts")
        of_test, of_train = (drawn_rows(each.X.shape[0], rng, _MOST_ROWS) for each in (test, table.data))
        parts, n = [test.X[of_test], table.data.X[of_train]], len(of_test)
        both = sparse.vstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.vstack(parts)
        close, near = near_copies(both, rng)
        if copies := [row for row in close.tolist() if row < n <= near[row]]:
            yield _about("near copies", of_test[copies].tolist(), of_train[near[copies] - n], table, test)


def _about(kind: str, copies: list[int], equal: np.ndarray, table: Audited, test: Dataset) -> Finding:
    labels, of_test = table.labels, Audited(test).labels
    n = of_test.shape[1]
    share = f"all {n}" if len(copies) == n else f"{len(copies)} of {n}"
    message = f"{share} rows of the test file are {kind} of training rows, {_ADVICE}"
    same = 1 - np.mean(abs(of_test[:, copies] - labels[:, equal]).sum(axis=0) > 0)
    evidence = f"the first is test row {copies[0] + 1}, training row {equal[0] + 1}; {same:.0%} have the same labels"
    severity: Severity = "error" if 2 * len(copies) >= n else "warning"
    return Finding(severity, "test rows", message, evidence, f"{kind} in the test file")


SPECS = (Check("test file", find),)
