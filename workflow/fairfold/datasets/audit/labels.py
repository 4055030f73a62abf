"""Find labels that cannot be learned, scored or trusted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairfold.core.validation import unmeasured_cells
from fairfold.datasets.audit.duplicates import digest
from fairfold.datasets.audit.spec import Audited, Check, Finding

_N_DRAWS = 20
_FEWEST_ROWS = 50
_Z = 3.0  # standard deviations above chance
_MOST = 200  # labels
EXPLAINED = 0.3  # least explained variance of a label whose errors are listed
SURPRISE = 0.9  # least out-of-fold probability against a likely label error
_MOST_CELLS = 50  # likely label errors that are named


def find_alike(table: Audited) -> Iterator[Finding]:
    """Find labels that are identical to an earlier label or its complement, unless chance may explain it.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each label.
    """
    if table.data.task != "multilabel":
        return
    labels, measured, names = table.labels, table.measured, table.label_names
    first: dict[tuple[bytes, bytes], str] = {}
    for j in table.testable(len(names)):
        is_positive = labels[[j]].toarray()[0] > 0
        known = np.ones_like(is_positive) if measured is None else measured[j]
        other = first.setdefault((digest(known), digest(is_positive)), names[j])
        opposite = first.get((digest(known), digest(known & ~is_positive)))
        if other != names[j]:
            kind, finding = "identical labels", f"is identical to label {other!r}"
        elif opposite is not None:
            kind, finding = "complementary labels", f"is 1 exactly where label {opposite!r} is 0"
        else:
            continue
        sentence = f"label {names[j]!r} {finding}; remove one of the two columns from the table"
        yield Finding("warning", f"label {names[j]!r}", sentence, check=kind)


def find_single(table: Audited) -> Iterator[Finding]:
    """Find tables in which every row has exactly one of at least three labels.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        At most one warning.
    """
    if table.data.task != "multilabel" or table.measured is not None or len(table.label_names) < 3:
        return
    if table.n_samples and (np.asarray(table.labels.sum(axis=0)) == 1).all():
        message = (
            "every row has exactly one label, so this is a multiclass problem and no positive can be missing; judge "
        )
        message += "models by precision at 1, the accuracy, because other decision scores allow several labels or none"
        yield Finding("warning", "labels", message)


def find_implied(table: Audited) -> Iterator[Finding]:
    """Find labels that all samples with another label have.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A note for each label with a frequent label above it, unless the data have a hierarchy.
    """
    data = table.data
    if data.task != "multilabel" or data.hierarchy is not None or table.measured is not None:
        return
    k, n = table.counts
    chosen = np.argsort(-k, kind="stable")[:_MOST]
    together = (table.labels[chosen] @ table.labels[chosen].T).toarray()
    k, names = k[chosen], [table.label_names[j] for j in chosen]
    likely = k[:, np.newaxis] * np.log(
        np.maximum(k / n[chosen], 1e-12)
    )  # that chance gives all samples the other label
    implied = (together == k[:, np.newaxis]) & (k[:, np.newaxis] < k) & (likely < np.log(1e-3 / len(k) ** 2))
    for j in np.flatnonzero(implied.any(axis=1)):
        above = names[int(np.argmax(implied[j]))]
        message = f"all samples with label {names[j]!r} have label {above!r}; declare a hierarchy if that is a rule"
        yield Finding("note", f"label {names[j]!r}", message, f"{k[j]} samples", "implied label")


def find_unpredicted(table: Audited) -> Iterator[Finding]:
    """Find labels that a ridge regression predicts no better than chance, and likely label errors.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        Notes, and a warning if no label is predicted.
    """
    n = min(table.n_samples, 10_000)
    k, n_measured = table.counts
    if n < _FEWEST_ROWS or not table.data.X.shape[1]:
        return
    chosen = np.flatnonzero(np.minimum(k, n_measured - k) >= 10)[:_MOST]
    X, rng = table.alignment(n).features, table.rng("unpredicted")
    if not X.shape[1]:
        return
    Y = table.labels[chosen].T.toarray()[:n] - (k / np.maximum(n_measured, 1))[chosen]
    if table.measured is not None:
        Y = np.where(table.measured[chosen].T[:n], Y, 0)
    strengths = ((X.T @ Y) ** 2).sum(axis=0)
    chance = np.array([((X[rng.permutation(n)].T @ Y) ** 2).sum(axis=0) for _ in range(_N_DRAWS)])
    poor = chosen[(strengths - chance.mean(axis=0)) / np.maximum(chance.std(axis=0), 1e-12) < _Z]
    evidence = f"within {_Z:g} standard deviations of permuted labels"
    if len(poor) and len(poor) == len(chosen):
        message = "no label is predicted better than chance by ridge regression; check the features and the row order"
        yield Finding("warning", "labels", message, evidence)
    else:
        for j in poor:
            name = table.label_names[j]
            found = f"label {name!r} is not predicted better than chance by ridge regression"
            message = f"{found}; see its scores by other models"
            yield Finding("note", f"label {name!r}", message, evidence)
        clear = strengths > EXPLAINED * np.maximum((Y**2).sum(axis=0), 1e-12)
        yield from _likely_errors(table, chosen[clear], Y[:, clear], table.alignment(n).predictions(Y[:, clear]))


def _likely_errors(table: Audited, chosen: np.ndarray, Y: np.ndarray, predicted: np.ndarray) -> Iterator[Finding]:
    """Find cells whose leave-one-out prediction strongly contradicts the label, the clearest ones first."""
    against = np.abs(predicted - Y)
    rows, columns = np.nonzero(against > SURPRISE)
    if len(rows):
        order = np.argsort(-against[rows, columns], kind="stable")
        ids = table.data.sample_ids
        of_label: dict[str, list[str]] = {}
        for i in order[:_MOST_CELLS]:
            row = rows[i] + 1 if ids is None else ids[rows[i]]
            of_label.setdefault(table.label_names[chosen[columns[i]]], []).append(str(row))
        named = [
            f"label {label!r} of row{'s' if len(some) > 1 else ''} {', '.join(some)}"
            for label, some in of_label.items()
        ]
        if (n_more := len(rows) - _MOST_CELLS) > 0:
            named.append(f"{n_more} more cells")
        are = "cell contradicts its" if len(rows) == 1 else "cells contradict their"
        message = f"{len(rows)} label {are} features; check them, or list likely label errors with a study"
        yield Finding("note", "labels", message, "; ".join(named), "likely label errors")


def find_unmeasured(table: Audited) -> Iterator[Finding]:
    """Count the empty cells of labels, which some users write for 0.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        At most one note.
    """
    data = table.data
    if n_cells := data.n_unmeasured:
        are = "cell is empty and counts" if n_cells == 1 else "cells are empty and count"
        sentence = f"{n_cells} label {are} as unmeasured; if somebody looked and found nothing, write 0"
        n_rows = (unmeasured_cells(data.Y).sum(axis=1) > 0).sum()
        evidence = "1 row" if n_rows == 1 else f"{n_rows} rows"
        yield Finding("note", "labels", sentence, evidence, "unmeasured labels")


def find_unlearnable(table: Audited) -> Iterator[Finding]:
    """Find labels that cannot be learned or scored.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each label.
    """
    if table.data.task != "multilabel":
        return
    n_splits = table.n_splits
    counts = zip(*(each.tolist() for each in table.counts), strict=True)
    for name, (k, n) in zip(table.label_names, counts, strict=True):
        if n == 0:
            kind, finding = "label without values", "is empty in every row; remove its column from the table"
        elif k == 0:
            kind, finding = "label without positives", "has no positives; drop it with label_filter (min_positives: 1)"
        elif k == n < table.n_samples:
            kind = "label of 1 and empty cells"
            finding = "contains only 1 and empty cells, and empty cells are unmeasured; write 0 for its negatives"
        elif k == n:
            kind, finding = "label without negatives", "has no negatives; drop it with label_filter (min_negatives: 1)"
        elif k < n_splits:
            kind = "label with fewer positives than folds"
            advice = f"drop it with label_filter (min_positives: {n_splits})"
            finding = f"has {k} positive{'s' if k > 1 else ''}, fewer than the {n_splits} folds; {advice}"
        elif n - k < n_splits:
            kind = "label with fewer negatives than folds"
            advice = f"drop it with label_filter (min_negatives: {n_splits})"
            finding = f"has {n - k} negative{'s' if n - k > 1 else ''}, fewer than the {n_splits} folds; {advice}"
        else:
            continue
        yield Finding("warning", f"label {name!r}", f"label {name!r} {finding}", check=kind)


def find_groups(table: Audited) -> Iterator[Finding]:
    """Repeat warnings about groups that the caller knows.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each.
    """
    column = next(iter(table.data.left_out.get("groups", ())), "")
    for kind, sentence in table.about_groups if table.data.task == "multilabel" else ():
        yield Finding("warning", f"column {column!r}", sentence, check=kind)


SPECS = (
    Check("groups", find_groups),
    Check("alike labels", find_alike),
    Check("one label in each row", find_single),
    Check("implied label", find_implied),
    Check("unlearnable label", find_unlearnable),
    Check("unmeasured labels", find_unmeasured),
    Check("unpredicted label", find_unpredicted, ("likely label errors",)),
)
