"""Tables for the comparison of splitters.

The tables correspond to Tables 1 and 2 and Figure 1 of Tiittanen, Holm & Törönen (2021).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from fairfold.core.arrays import Matrix
from fairfold.core.files import concat_tables, read_table, write_table, write_tables
from fairfold.core.folds import check_folds
from fairfold.splitting.labels import check_labels
from fairfold.splitting.measures import (
    delta_class_proportion,
    example_distribution,
    label_distribution,
    lower_bound,
    relative_label_distribution,
)
from fairfold.splitting.methods import repeated_splits

MEASURES = {
    "ED": example_distribution,
    "LD": label_distribution,
    "DCP": delta_class_proportion,
    "rLD": relative_label_distribution,
}
_BOUNDED = ("ED", "DCP", "rLD")


def describe_labels(Y: Matrix) -> dict[str, float]:
    """Describe the size, the density and the label sizes of a label matrix (Table 1).

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1.

    Returns
    -------
    dict of str to float
        ``n_samples``, ``n_labels`` and ``density``, and the quantiles ``min``, ``q25``, ``median``, ``q75`` and ``max``
        of the numbers of positives per label.

    Examples
    --------
    >>> description = describe_labels([[1, 0], [1, 1], [1, 0], [0, 0]])
    >>> float(description["density"]), description["min"], description["max"]
    (0.5, 1.0, 3.0)
    """
    labels = check_labels(Y)
    sizes = labels.sum(axis=0, dtype=np.int64)
    quantiles = np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1])
    n_samples, n_labels = labels.shape
    named = dict(zip(("min", "q25", "median", "q75", "max"), map(float, quantiles), strict=True))
    return {"n_samples": n_samples, "n_labels": n_labels, "density": sizes.sum() / (n_samples * n_labels), **named}


def measure_splits(folds: np.ndarray, Y: Matrix) -> pd.DataFrame:
    """Compute the measures of several splits, with the lower bounds for folds of equal size.

    Parameters
    ----------
    folds : ndarray of shape (n_repeats, n_samples)
        Test fold of each sample, one row per split.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1.

    Returns
    -------
    DataFrame
        Columns ``repeat, measure, value, bound``. ``measure`` is ED, LD, DCP or rLD. LD has no bound. The rows
        ``largest fold`` and ``smallest fold`` hold the extreme fold sizes, because rLD is comparable only between
        splits with equal fold sizes.

    Raises
    ------
    SplitError
        If a row is not a partition of the samples into the number of folds of the first row.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.splitting.comparison import measure_splits
    >>> table = measure_splits(np.array([[0, 1, 0, 1], [0, 0, 1, 1]]), [[1], [1], [0], [0]])
    >>> table[table["measure"] == "DCP"]
       repeat measure  value  bound
    2       0     DCP    0.0    0.0
    8       1     DCP    0.5    0.0
    """
    n_samples = check_labels(Y).shape[0]
    _, n_splits = check_folds(folds[0], n_samples)
    bounds = {name: lower_bound(Y, n_splits, name) for name in _BOUNDED}
    rows = []
    for repeat, folds_of_repeat in enumerate(folds):
        fold_of, _ = check_folds(folds_of_repeat, n_samples, n_splits)
        sizes = np.bincount(fold_of, minlength=n_splits)
        values = {name: measure(fold_of, Y) for name, measure in MEASURES.items()}
        values |= {"largest fold": sizes.max(), "smallest fold": sizes.min()}
        rows += [(repeat, name, float(value), bounds.get(name, np.nan)) for name, value in values.items()]
    return pd.DataFrame(rows, columns=["repeat", "measure", "value", "bound"])


def label_deviations(fold_of: np.ndarray, Y: Matrix) -> pd.DataFrame:
    """Compute the measures of one split for each label.

    Parameters
    ----------
    fold_of : ndarray of shape (n_samples,)
        Test fold of each sample.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1.

    Returns
    -------
    DataFrame
        Columns ``label, positives, LD, DCP, rLD, rLD_bound``, one row per label with at least one positive.

    Raises
    ------
    SplitError
        If ``fold_of`` is not a partition of the samples into folds.

    Examples
    --------
    >>> from fairfold.splitting.comparison import label_deviations
    >>> Y = [[1, 1], [0, 1], [0, 0], [1, 0], [0, 0], [0, 0]]
    >>> label_deviations([0, 0, 0, 1, 1, 1], Y)
       label  positives   LD  DCP  rLD  rLD_bound
    0      0          2  0.0  0.0  0.0        0.0
    1      1          2  1.0  0.5  1.0        0.0
    """
    labels = check_labels(Y)
    positives = labels.sum(axis=0, dtype=np.int64)
    fold_of, n_splits = check_folds(fold_of, labels.shape[0])
    bound = lower_bound(Y, n_splits, "rld", per_label=True)
    values = {name: MEASURES[name](fold_of, Y, per_label=True) for name in ("LD", "DCP", "rLD")}
    table = pd.DataFrame({"label": np.arange(positives.size), "positives": positives, **values, "rLD_bound": bound})
    return table[table["positives"] > 0].reset_index(drop=True)


class Comparison(NamedTuple):
    """Splits by several methods, with tables of their quality and run time.

    Attributes
    ----------
    folds : dict of str to ndarray of shape (n_repeats, n_samples)
        Test fold of each sample, by method.
    quality : DataFrame
        Tables of :func:`measure_splits`, with a column ``splitter``.
    labels : DataFrame
        Tables of :func:`label_deviations` for the first split, with a column ``splitter``.
    seconds : DataFrame
        CPU time, in the columns ``splitter, repeat, seconds``.
    """

    folds: dict[str, np.ndarray]
    quality: pd.DataFrame
    labels: pd.DataFrame
    seconds: pd.DataFrame

    def tables_of(self, dataset: str) -> dict[str, pd.DataFrame]:
        """Return the three tables with the dataset in the first column.

        Parameters
        ----------
        dataset : str
            Name of the dataset.

        Returns
        -------
        dict of str to DataFrame
            Tables by name.
        """
        tables = {"quality": self.quality, "labels": self.labels, "seconds": self.seconds}
        return {name: table.assign(dataset=dataset)[["dataset", *table]] for name, table in tables.items()}


def compare_splitters(
    Y: Matrix,
    methods: Sequence[str],
    n_splits: int,
    n_repeats: int,
    *,
    seed: int,
    names: tuple,
    groups: np.ndarray | None = None,
    own_folds: np.ndarray | None = None,
    n_jobs: int = 1,
) -> Comparison:
    """Split the same samples by several methods, and measure the splits and their run time.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1.
    methods : sequence of str
        Names of splitters, see :func:`~fairfold.splitting.methods.make_splitter`.
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of splits by each method.
    seed : int
        Seed of the study.
    names : tuple
        Names that, together with ``seed``, determine the seed of each split.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample. Samples of a group stay in one fold.
    own_folds : ndarray of shape (n_samples,), default=None
        Folds that the dataset defines. If there is one split, they replace the folds of every method.
    n_jobs : int, default=1
        Number of methods that run in parallel.

    Returns
    -------
    Comparison
        Folds, and tables of their quality and run time.
    """
    if own_folds is not None and n_repeats == 1:
        found = [(own_folds[np.newaxis], np.zeros(1))] * len(methods)
    else:
        options = {"seed": seed, "names": names, "groups": groups}
        calls = (delayed(repeated_splits)(method, Y, n_splits, n_repeats, **options) for method in methods)
        found = Parallel(n_jobs=n_jobs)(calls)
    folds = {method: splits for method, (splits, _) in zip(methods, found, strict=True)}
    seconds = [pd.DataFrame({"repeat": np.arange(len(taken)), "seconds": taken}) for _, taken in found]
    tables = (
        {method: measure_splits(splits, Y) for method, splits in folds.items()},
        {method: label_deviations(splits[0], Y) for method, splits in folds.items()},
        dict(zip(methods, seconds, strict=True)),
    )
    named = (pd.concat(each, names=["splitter", None]).reset_index("splitter") for each in tables)
    return Comparison(folds, *named)


def summarize_splits(quality: pd.DataFrame, public_code: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compute the mean and the standard deviation of each measure over repeats (Table 2).

    Parameters
    ----------
    quality : DataFrame
        Columns ``dataset, splitter, repeat, measure, value, bound``.
    public_code : DataFrame, default=None
        Values of a public implementation of the same methods, in the columns ``dataset, splitter, measure, value``.

    Returns
    -------
    DataFrame
        Columns ``dataset, splitter, measure, mean, sd, n_repeats, bound, mean_over_bound``, and ``public_code`` if
        given, in order of first appearance. ``sd`` is NaN for a single repeat. ``mean_over_bound`` is NaN without a
        positive bound.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairfold.splitting.comparison import summarize_splits
    >>> quality = pd.DataFrame({
    ...     "dataset": "toy", "splitter": "IS", "repeat": [0, 1], "measure": "rLD", "value": [0.2, 0.4], "bound": 0.1
    ... })
    >>> float(summarize_splits(quality)["mean_over_bound"].round(3).item())
    3.0
    """
    keys = ["dataset", "splitter", "measure"]
    table = quality.groupby(keys, sort=False).agg(
        mean=("value", "mean"), sd=("value", "std"), n_repeats=("value", "size"), bound=("bound", "first")
    )
    table["mean_over_bound"] = table["mean"] / table["bound"].where(table["bound"] > 0)
    if public_code is not None:
        table = table.join(public_code.set_index(keys)["value"].rename("public_code"))
    return table.reset_index()


def quality_against_seconds(summary: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """Combine the rLD of each splitter with its mean CPU time per split.

    Parameters
    ----------
    summary : DataFrame
        Result of :func:`summarize_splits`.
    seconds : DataFrame
        Columns ``dataset, splitter, seconds``, one row per split.

    Returns
    -------
    DataFrame
        Rows of ``summary`` for rLD, with a column ``seconds`` for the mean CPU time.
    """
    mean = seconds.groupby(["dataset", "splitter"])["seconds"].mean().reset_index()
    return summary.query("measure == 'rLD'").merge(mean, on=["dataset", "splitter"], validate="one_to_one")


def tabulate_splits(
    datasets: Iterable[Any], patterns: Mapping[str, tuple[Matrix, np.ndarray]], files: Any, made: Mapping[str, str]
) -> None:
    """Tabulate the label matrices, the evenness of folds, the run time of each splitter, and the effect on scores.

    Parameters
    ----------
    datasets : iterable of Dataset
        The data.
    patterns : mapping of str to (matrix, ndarray)
        Labels and folds that show how the measures behave, by name.
    files : namespace of str or sequence of str
        Tables of all datasets ``quality, labels, seconds, effect``, and the table ``public_code`` of published numbers.
    made : mapping of str to str
        Files ``matrices, patterns, quality, labels, summary, seconds, effect`` to write. The last one is written if
        effects were estimated, and the others if splitters were compared.
    """
    if files.effect:
        write_table(concat_tables(files.effect), made["effect"])
    if not files.quality:
        return
    deviations = [label_deviations(fold_of, Y).assign(pattern=name) for name, (Y, fold_of) in patterns.items()]
    matrices = pd.DataFrame([{"dataset": data.id, **describe_labels(data.Y)} for data in datasets])
    joined = {name: concat_tables(files[name]) for name in ("quality", "labels")}
    write_tables({"matrices": matrices, "patterns": pd.concat(deviations), **joined}, made)
    write_table(summarize_splits(read_table(made["quality"]), read_table(files.public_code)), made["summary"])
    write_table(quality_against_seconds(read_table(made["summary"]), concat_tables(files.seconds)), made["seconds"])
