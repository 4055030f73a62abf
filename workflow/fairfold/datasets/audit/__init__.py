"""Checks of a table before models are compared on it.

Each module declares its checks in ``SPECS``, like other plug-ins. :func:`audit_table` runs all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import N_SPLITS
from fairfold.core.plugins import declared
from fairfold.core.threads import one_thread_each
from fairfold.datasets.audit.spec import Audited, Finding
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError, shortened

COLUMNS = ("check", "severity", "where", "message", "evidence")
"""Columns of the table of findings."""

SEVERITIES = ("error", "warning", "note")
_WRONG_SCORES = ("row_order", "determined by labels", "equal to a label", "complement of a label")
_NO_SCORES = ("no features", "no labels", "few rows")
_COPIES = ("copies in the test file", "duplicated rows", "near copies in the test file", "near duplicates")
_DEPENDENCE = ("order dependence", "group effects")
_LEAKS = ("nearly determined by labels", "predicts a label", "leak")
_NAMES = ("named like a label", "named like an identifier", "whole numbers that all differ", "named like a fold")
_LABELS = ("one label in each row", "unpredicted label", "unmeasured labels", "label of 1 and empty cells")
_TWIN_LABELS = ("identical labels", "complementary labels")
_VALUES = ("other unit", "mixed scales", "placeholder", "mixed codings")
_RARE_LABELS = ("label with fewer positives than folds", "label with fewer negatives than folds")
_OPTIMISTIC = (*_COPIES, *_DEPENDENCE, *_LEAKS, *_NAMES)
_BY_EFFECT = (*_WRONG_SCORES, *_NO_SCORES, *_OPTIMISTIC, *_LABELS, *_TWIN_LABELS, *_VALUES, *_RARE_LABELS)
"""Kinds of findings by their usual effect on scores, the largest first: wrong scores, optimistic folds, leaks."""

_MOST_TERMS = 2000  # of each kind in a text, to find leaks and copies


def audit_table(
    X: Any,
    Y: Any,
    *,
    groups: Any = None,
    ids: Any = None,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    random_state: int = 0,
    n_splits: int = N_SPLITS,
    test: tuple[Any, Any] | None = None,
) -> pd.DataFrame:
    """Check whether a table can be used to compare models.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features; NaN is missing.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1; NaN is unmeasured.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample. Copies within a group are no finding.
    ids : array-like of shape (n_samples,), default=None
        Names of the samples, for messages.
    names : tuple of (sequence of str, sequence of str), default=None
        Names of the features and of the labels. By default, they are numbered.
    random_state : int, default=0
        Seed of samples and permutations.
    n_splits : int, default=5
        Planned number of folds.
    test : tuple of (array-like, array-like), default=None
        Features and labels of test data in another file, which should not repeat rows of the table.

    Returns
    -------
    DataFrame
        One row for each kind of finding, errors first, then by effect on scores, with the columns ``check``,
        ``severity`` ("error", "warning" or "note"), ``where``, ``message`` ("finding; advice") and ``evidence``.

    Raises
    ------
    DataError
        If the shapes differ, or labels have other values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = X[:, :3] > 0
    >>> audit_table(X, Y).query("severity == 'error'").empty
    True
    >>> found = audit_table(X, np.roll(Y, 1, axis=0))
    >>> found.loc[0, "message"].partition(";")[0]
    'features and labels are in different row orders: the labels are shifted by 1 row'
    """
    X, Y = _arrays(X, Y, ("X", "Y"))
    features, labels = names or ([f"feature_{j}" for j in range(X.shape[1])], [f"label_{j}" for j in range(Y.shape[1])])
    numbers = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    sample_ids = None if ids is None else np.asarray(ids).astype(str)
    of_columns = tuple(map(str, features)), tuple(map(str, labels))
    data = Dataset("table", "multilabel", X, Y, *of_columns, groups=numbers, sample_ids=sample_ids)
    other = None
    if test is not None:
        X_test, Y_test = _arrays(*test, ("X of test", "Y of test"))
        if (X_test.shape[1], Y_test.shape[1]) != (X.shape[1], Y.shape[1]):
            raise DataError(
                f"test has {X_test.shape[1]} features and {Y_test.shape[1]} labels, the table {X.shape[1]} and "
                f"{Y.shape[1]}. Give both the same columns."
            )
        other = Dataset("test", "multilabel", X_test, Y_test, *of_columns)
    return audit_dataset(data, n_splits, random_state=random_state, test=other)


def _arrays(X: Any, Y: Any, names: tuple[str, str]) -> tuple[Matrix, Matrix]:
    X, Y = (sparse.csr_array(each) if sparse.issparse(each) else np.atleast_2d(np.asarray(each)) for each in (X, Y))
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    if X.shape[0] != Y.shape[0]:
        raise DataError(f"{names[0]} has {X.shape[0]} rows and {names[1]} has {Y.shape[0]}. Give both the same rows.")
    cells = Y.data if sparse.issparse(Y) else Y
    if not (np.isin(cells, (0, 1)) | np.isnan(cells)).all():
        raise DataError(f"{names[1]}: expected 0, 1 or NaN. Encode each label as a 0/1 column.")
    return X, Y


def audit_dataset(
    data: Dataset,
    n_splits: int = N_SPLITS,
    about_groups: Iterable[tuple[str, str]] = (),
    *,
    random_state: int = 0,
    test: Dataset | None = None,
) -> pd.DataFrame:
    """Check whether a prepared dataset can be used to compare models.

    Parameters
    ----------
    data : Dataset
        Prepared dataset. Each class of a multiclass task counts as a label.
    n_splits : int, default=5
        Number of folds of the study.
    about_groups : iterable of (str, str), default=()
        Kinds and sentences of warnings about groups, from ``fairfold.splitting.group_warnings.group_warnings``.
    random_state : int, default=0
        Seed of samples and permutations.
    test : Dataset, default=None
        Test data in another file, with the same columns.

    Returns
    -------
    DataFrame
        Table of :func:`audit_table`.

    Examples
    --------
    >>> X = np.column_stack([np.arange(40.0) % 7, np.linspace(0, 1, 40) ** 2])
    >>> Y = np.column_stack([np.arange(40) % 2, np.arange(40) % 4 == 0]).astype(np.int8)
    >>> data = Dataset("plants", "multilabel", X, Y, ("patient_id", "height"), ("shade", "water"))
    >>> audit_dataset(data).loc[1, ["check", "where"]].tolist()
    ['named like an identifier', "column 'patient_id'"]
    """
    by_check: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for name, finding in findings(data, n_splits, about_groups, random_state=random_state, test=test):
        by_check[finding.check or name, finding.severity].append(finding)
    rows = [_row(check, severity, found) for (check, severity), found in by_check.items()]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return sort_findings(table)


def sort_findings(table: pd.DataFrame) -> pd.DataFrame:
    """Sort findings by severity and effect on scores.

    Parameters
    ----------
    table : DataFrame
        Columns ``check, severity``, and others.

    Returns
    -------
    DataFrame
        The table, errors first, then by effect: a finding that makes all scores wrong precedes one that makes them
        optimistic, and this precedes one about a single label or column. Findings of equal effect keep their order.

    Examples
    --------
    >>> kinds = ["placeholder", "unmeasured labels", "order dependence"]
    >>> sort_findings(pd.DataFrame({"check": kinds, "severity": "warning"}))["check"].tolist()
    ['order dependence', 'unmeasured labels', 'placeholder']
    """
    severity = table["severity"].map(SEVERITIES.index).to_numpy(dtype=int)
    effect = (
        table["check"].map({check: place for place, check in enumerate(_BY_EFFECT)}).fillna(len(_BY_EFFECT)).to_numpy()
    )
    return table.iloc[np.lexsort((effect, severity))].reset_index(drop=True)


def finding_lines(table: pd.DataFrame) -> list[str]:
    """Format the errors and warnings of datasets, errors first.

    Parameters
    ----------
    table : DataFrame
        Result of :func:`audit_dataset` with a column ``dataset``.

    Returns
    -------
    list of str
        Lines to print.

    Examples
    --------
    >>> row = {"dataset": "plants", "severity": "warning", "message": "column 'x' is empty; leave it out"}
    >>> finding_lines(pd.DataFrame([row]))
    ["warning: plants: column 'x' is empty; leave it out"]
    """
    shown = table[table["severity"] != "note"].sort_values("severity", kind="stable")
    return [f"{row.severity}: {row.dataset}: {row.message}" for row in shown.itertuples()]


def stop_on_errors(table: pd.DataFrame) -> None:
    """Raise an error if the audit found one.

    Parameters
    ----------
    table : DataFrame
        Result of :func:`audit_dataset`.

    Raises
    ------
    DataError
        If a finding is an error.
    """
    if len(messages := table.loc[table["severity"] == "error", "message"]):
        errors = "1 error" if len(messages) == 1 else f"{len(messages)} errors"
        raise DataError(f"the audit found {errors}: {'. '.join(messages)}. Repair the data.")


def findings(
    data: Dataset,
    n_splits: int = N_SPLITS,
    about_groups: Iterable[tuple[str, str]] = (),
    *,
    random_state: int = 0,
    test: Dataset | None = None,
) -> Iterator[tuple[str, Finding]]:
    """Run all checks on a dataset.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.
    n_splits : int, default=5
        Number of folds of the study.
    about_groups : iterable of (str, str), default=()
        Kinds and sentences of warnings about groups.
    random_state : int, default=0
        Seed of samples and permutations.
    test : Dataset, default=None
        Test data in another file, with the same columns.

    Yields
    ------
    tuple of (str, Finding)
        Name of the check and one of its findings.
    """
    examined, other = with_features(data, test)
    table = Audited(examined, n_splits, random_state, tuple(about_groups), other, columns=data)
    with one_thread_each(), np.errstate(all="ignore"):
        for name, (check, _) in declared("fairfold.datasets.audit").items():
            if name != "size" and table.is_small:  # A study refuses it, and a row of a million columns takes minutes.
                continue
            yield from ((name, finding) for finding in check.find(table))


def with_features(data: Dataset, test: Dataset | None = None) -> tuple[Dataset, Dataset | None]:
    """Make features of texts, categories and dates, so that checks for numbers find leaks and copies in them, too.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.
    test : Dataset or None, default=None
        Test data with the same columns.

    Returns
    -------
    data : Dataset
        Data with numbers only.
    test : Dataset or None
        Test data with the same features.
    """
    if data.typed is None or not data.typed.names:
        return data, test
    from fairfold.features.encoder import TableEncoder  # Most tables do not need it.

    encoder = TableEncoder(data.typed.declared, max_terms=_MOST_TERMS, day_first=data.typed.with_day_first)
    numbers = data.numbers
    X = encoder.fit_transform(data.typed.frame(data.X, numbers))
    made: dict[str, Any] = {"feature_names": tuple(encoder.get_feature_names_out()), "typed": None}
    if test is None or test.typed is None:
        return replace(data, X=X, **made), None
    return replace(data, X=X, **made), replace(test, X=encoder.transform(test.typed.frame(test.X, numbers)), **made)


def _row(check: str, severity: str, found: list[Finding]) -> tuple[str, str, str, str, str]:
    """Join the findings of one kind."""
    first, where = found[0], shortened([each.where for each in found], 5)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return check, severity, where, first.message + more, first.evidence
