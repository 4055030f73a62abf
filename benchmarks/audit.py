"""Inject faults into clean datasets and count those that the audit finds, beside cleanlab's Datalab and tabaudit.

    pip install cleanlab tabaudit        # optional
    python benchmarks/audit.py [--datasets emotions ...] [--faults FAULT ...] [--output FILE.csv]

The datasets are those of the mirror and of scikit-learn that have up to 8,000 rows and 13,000 features. A fault of
row order is left out if features and labels are related by less than 8 standard deviations, or if it costs less than
a fifth of the relation, such as a shift of sorted labels by one row. A function of labels is left out if there are
fewer than three labels, or if more than 90 % of the rows have its most frequent value. A fault counts as found if the
audit reports an error or warning of its kind; a function of labels must be an error. The table also lists errors and
warnings of the datasets as they are and with permuted rows, and `audit_false_alarms.csv` the share of these tables with
a finding of each check. Use one thread (`OMP_NUM_THREADS=1`).
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.seeds import seed_for
from fairfold.datasets import load_catalog, prepare
from fairfold.datasets.audit import audit_table
from fairfold.datasets.audit.alignment import Alignment
from fairfold.datasets.audit.row_order import rows_of
from fairfold.errors import DataError

KNOWN = ("GrampositivePseAAC", "VirusPseAAC", "CAL500")  # Rows are out of order as published.
PERMUTED = "permuted rows"
DETERMINED = ("determined by labels", "equal to a label", "complement of a label")
Table = tuple[np.ndarray, np.ndarray]


def _rows(order: Callable[[int, np.random.Generator], np.ndarray]) -> Callable[..., Table]:
    return lambda X, Y, rng: (X, Y[order(len(Y), rng)])


def _swapped(n: int, rng: np.random.Generator) -> np.ndarray:
    """Exchange two blocks of 12 to 30 % of the rows."""
    first, second, gap = (int(n * rng.uniform(*span)) for span in ((0.12, 0.3), (0.12, 0.3), (0, 0.2)))
    start = int(rng.integers(0, n - first - second - gap + 1))
    ends = np.cumsum([start, first, gap, second])
    a, b, c, d = (np.arange(*each) for each in zip(ends, [*ends[1:], n], strict=True))
    return np.concatenate([np.arange(start), c, b, a, d])


def _half(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> Table:
    order, half = np.lexsort(Y.T[::-1]), len(Y) // 2
    part, mixed = slice(half) if rng.random() < 0.5 else slice(half, None), order.copy()
    mixed[part] = rng.permutation(order[part])
    return X[order], Y[mixed]


def _copies(noise: float) -> Callable[..., Table]:
    def inject(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> Table:
        chosen = rng.choice(len(X), max(len(X) // 20, 5), replace=False)
        copies = X[chosen] + noise * np.nanstd(X, axis=0) * rng.normal(size=(len(chosen), X.shape[1]))
        order = rng.permutation(len(X) + len(chosen))
        return np.vstack([X, copies])[order], np.vstack([Y, Y[chosen]])[order]

    return inject


def _leak(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> Table:
    label = Y[:, np.argmin(np.abs(np.nanmean(Y, axis=0) - 0.5))]
    return np.column_stack([X, np.where(rng.random(len(Y)) < 0.05, 1 - label, label)]), Y


def _entropy(Y: np.ndarray) -> np.ndarray:
    share = np.clip(Y.mean(axis=1), 1e-12, 1 - 1e-12)
    return -share * np.log(share) - (1 - share) * np.log(1 - share)


FUNCTIONS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "number of labels": lambda Y, rng: Y.sum(axis=1),
    "weighted sum of labels": lambda Y, rng: Y @ rng.normal(size=Y.shape[1]),
    "any label": lambda Y, rng: Y.any(axis=1).astype(float),
    "no label": lambda Y, rng: 1.0 - Y.any(axis=1),
    "entropy of labels": lambda Y, rng: _entropy(Y),
}


def _function(name: str, noise: float) -> Callable[..., Table]:
    """Append a function of the labels, a share of whose values is replaced by those of other rows."""

    def inject(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> Table:
        values = FUNCTIONS[name](np.nan_to_num(Y), rng)
        rows = np.flatnonzero(rng.random(len(Y)) < noise)
        values[rows] = values[rng.permutation(rows)]
        return np.column_stack([X, values]), Y

    return inject


def _groups(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> Table:
    group = rng.permutation(np.arange(len(X)) // 5)
    effects = 1.5 * np.nanstd(X, axis=0) * rng.normal(size=(group.max() + 1, X.shape[1]))
    return np.column_stack([X + effects[group], group]), Y


def _placeholder(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> Table:
    X = X.copy()
    X[rng.random(len(X)) < 0.05, int(np.argmax(np.nanstd(X, axis=0) > 0))] = -float(
        "9" * (3 + len(str(int(np.nanmax(np.abs(X))))))
    )
    return X, Y


FAULTS: dict[str, tuple[Callable[..., Table], tuple[str, ...]]] = {
    "shift by 1": (_rows(lambda n, rng: np.roll(np.arange(n), 1)), ("row_order",)),
    "shift by 10 %": (_rows(lambda n, rng: np.roll(np.arange(n), n // 10)), ("row_order",)),
    "reversed": (_rows(lambda n, rng: np.arange(n)[::-1]), ("row_order",)),
    "two blocks swapped": (_rows(_swapped), ("row_order",)),
    "shuffled sorted half": (_half, ("row_order",)),
    "5 % copies": (_copies(0), ("duplicated rows",)),
    "5 % near copies": (_copies(0.01), ("near duplicates", "duplicated rows")),
    "leak, 5 % noise": (_leak, ("leak", "predicts a label", "equal to a label", *DETERMINED)),
    **{name: (_function(name, 0), DETERMINED) for name in FUNCTIONS},
    **{f"{name}, 5 % noise": (_function(name, 0.05), DETERMINED) for name in FUNCTIONS},
    "group effects": (_groups, ("group effects",)),
    "placeholder": (_placeholder, ("placeholder", "other unit")),
}


def clean_tables(names: list[str]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, dense features and 0/1 labels of the datasets that are available without a download."""
    for name, entry in load_catalog().items():
        is_wanted = name in names if names else not name.startswith(KNOWN)
        if not is_wanted or entry.generator.get("function") == "go_like":
            continue
        try:
            data = prepare(name, offline=True, progress=False)
        except DataError:
            continue
        if not 0 < data.X.shape[1] <= 13_000 or data.X.shape[0] > 8000:
            continue
        X, Y = (each.toarray() if sparse.issparse(each) else np.asarray(each, dtype=float) for each in (data.X, data.Y))
        yield (
            name,
            X,
            Y if data.task == "multilabel" else np.eye(len(data.label_names))[data.Y][:, data.task == "binary" :],
        )


def audited(X: np.ndarray, Y: np.ndarray) -> dict[str, object]:
    """Audit a table without an injected fault."""
    begin = time.process_time()
    table = audit_table(X, Y)
    seconds, severities = time.process_time() - begin, table["severity"].value_counts()
    counts = {"errors": severities.get("error", 0), "warnings": severities.get("warning", 0)}
    checks = sorted(set(table.loc[table["severity"] != "note", "check"]))
    return {**counts, "seconds": round(seconds, 2), "checks": "; ".join(checks)}


def relation(X: np.ndarray, Y: np.ndarray) -> float:
    """Return by how many standard deviations the relation exceeds that of permuted labels."""
    rng = np.random.default_rng(0)
    aligned = Alignment(X, Y, rng)
    chance = [aligned.strength(aligned.labels[rng.permutation(len(Y))]) for _ in range(50)]
    return (aligned.strength(aligned.labels) - np.mean(chance)) / np.std(chance)


def is_visible(fault: str, given: float, faulty: Table) -> bool:
    """Return whether a fault changes the relation of features and labels, or adds a column that varies enough."""
    X, Y = faulty
    if FAULTS[fault][1] == DETERMINED:
        return Y.shape[1] > 2 and np.unique(X[:, -1], return_counts=True)[1].max() <= 0.9 * len(X)
    return FAULTS[fault][1] != ("row_order",) or (given > 8 and relation(*faulty) < 0.8 * given)


def _most_even(Y: np.ndarray) -> np.ndarray:
    return Y[:, np.argmin(np.abs(np.nanmean(Y, axis=0) - 0.5))].astype(int)


def datalab_counts(X: np.ndarray, Y: np.ndarray) -> dict[str, int]:
    """Return the number of issues of each type that cleanlab's Datalab finds with the most even label."""
    from cleanlab import Datalab

    lab = Datalab({"X": X, "y": _most_even(Y)}, label_name="y", verbosity=0)
    lab.find_issues(features=np.nan_to_num(X), issue_types={"near_duplicate": {}, "non_iid": {}, "null": {}})
    return lab.get_issue_summary().set_index("issue_type")["num_issues"].to_dict()


def tabaudit_counts(X: np.ndarray, Y: np.ndarray) -> dict[str, int]:
    """Return the number of findings of each check of tabaudit with the most even label."""
    from tabaudit import run_audit

    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=_most_even(Y))
    found = run_audit(table, target="y").findings
    return Counter(f"{each.check} {each.severity}" for each in found)


PEERS = {"cleanlab": datalab_counts, "tabaudit": tabaudit_counts}


def peer_finds(before: dict[str, int], after: dict[str, int], n_rows: int) -> bool:
    """Return whether a type of issue is new, or has a fiftieth of the rows more."""
    return any(n > before.get(kind, 0) + (n_rows / 50 if before.get(kind, 0) else 0) for kind, n in after.items())


def draw_repairs(path: str) -> None:
    """Draw how well predictions agree with the labels along the rows, as published and repaired."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 8, "axes.titlesize": 9})
    figure, axes = plt.subplots(1, len(KNOWN), figsize=(7.2, 2.2), layout="constrained")
    for panel, name in zip(axes, KNOWN, strict=True):
        data, repaired = prepare(name, offline=True), prepare(f"{name}-repaired", offline=True)
        given, aligned = (Alignment(each.X, each.Y, np.random.default_rng(0)) for each in (data, repaired))
        predicted, window = aligned.predictions(aligned.labels), max(len(aligned) // 12, 1)
        signs = np.sign((given.labels[label_rows(name)] * aligned.labels).sum(axis=0))
        for labels, text in ((given.labels * signs, "as published"), (aligned.labels, "repaired")):
            agreement = pd.Series((predicted * labels).sum(axis=1)).rolling(window, center=True, min_periods=1).mean()
            panel.plot(agreement * len(aligned), label=text, linewidth=1.2)
        panel.set(title=name, xlabel="row")
        panel.axhline(0, color="#777777", linewidth=0.6)
    axes[0].set_ylabel("agreement with predictions")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path, dpi=160)


def label_rows(name: str) -> np.ndarray:
    """Return the order of the labels in the repaired dataset."""
    return rows_of(load_catalog()[f"{name}-repaired"].label_rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=[])
    parser.add_argument("--faults", nargs="+", default=[], choices=FAULTS, metavar="FAULT")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--output", default="")
    parser.add_argument("--figure", default="", help="draw the repaired datasets of the catalog instead")
    options = parser.parse_args()
    if options.figure:
        draw_repairs(options.figure)
        return
    peers = {name: count for name, count in PEERS.items() if find_spec(name) is not None}
    rows = []
    for name, X, Y in clean_tables(options.datasets):
        order = np.random.default_rng(0).permutation(len(X))
        clean, permuted = audited(X, Y), audited(X[order], Y[order])
        known = set(clean["checks"].split("; "))
        rows += [{"dataset": name, "fault": "none", **clean}, {"dataset": name, "fault": PERMUTED, **permuted}]
        before = {peer: count(X, Y) for peer, count in peers.items()}
        print(f"{name:24s} {rows[-1]}", flush=True)
        given = relation(X, Y)
        for fault in options.faults or FAULTS:
            inject, kinds = FAULTS[fault]
            for repeat in range(options.repeats):
                faulty = inject(X, Y, np.random.default_rng(seed_for(repeat, name, fault)))
                if not is_visible(fault, given, faulty) or (known & set(kinds) and kinds != DETERMINED):
                    continue
                table = audit_table(*faulty)
                least = ["error"] if kinds == DETERMINED else ["error", "warning"]
                found = bool(set(table.loc[table["severity"].isin(least), "check"]) & set(kinds))
                rows.append({"dataset": name, "fault": fault, "found": found})
                for peer, count in peers.items():
                    rows[-1][f"found_by_{peer}"] = peer_finds(before[peer], count(*faulty), len(X))
                if not found:
                    print(f"{name:24s} {fault} is not found", flush=True)
        if options.output:
            pd.DataFrame(rows).to_csv(options.output, index=False)
    results = pd.DataFrame(rows)
    is_clean = results["fault"].isin(["none", PERMUTED])
    kinds = results[is_clean].set_index("fault")["checks"].str.get_dummies("; ").drop(columns="", errors="ignore")
    silent = {kind for _, kinds_of_fault in FAULTS.values() for kind in kinds_of_fault} - set(kinds)
    alarms = kinds.assign(**dict.fromkeys(silent, 0)).groupby(level=0).mean().round(3).sort_index(axis=1)
    print(alarms.T.to_string())
    if options.output:
        alarms.to_csv(Path(options.output).with_name("audit_false_alarms.csv"))
    print(results[~is_clean].groupby("fault", sort=False).agg(n=("found", "size"), found=("found", "sum")))
    print(results[is_clean].groupby("fault")[["errors", "warnings", "seconds"]].agg(["sum", "max"]))


if __name__ == "__main__":
    main()
