"""Contributions of the columns of a table to single predictions: Shapley values, by the package shap.

A sample is compared with background rows. A column contributes by how much the mean probability changes if the column
has the value of the sample instead of the values of the background rows, on average over orders in which columns
change. Contributions and the mean probability of the background rows add up to the probability of the sample. Columns
are those of the table, before text, categories and dates are encoded.

The model predicts at most ``MOST_PREDICTED`` rows for each sample, so more columns have fewer background rows and fewer
orders. Each order has its reverse, so contributions are exact if no more than two columns interact.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numba
import numpy as np
import pandas as pd
from scipy import sparse
from tqdm import tqdm

from fairfold.core.arrays import evenly_spaced, with_sparsity
from fairfold.core.output import filled
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.errors import DataError, count, listed
from fairfold.tables.table import Table

MOST_PREDICTED = 20_000
"""Largest number of rows that the model predicts to explain a sample."""
COLUMNS = ("sample", "label", "column", "value", "contribution", "base")
"""Columns of an explanation, before the probability or posterior."""
NO_EXAMPLE = pd.DataFrame(columns=[*COLUMNS, "probability"])
MOST_BACKGROUND, LEAST_BACKGROUND = 50, 10
MOST_LABELS = 3
"""Number of labels that are explained, the most probable ones."""
MOST_SAMPLES = 10
"""Number of samples that are explained if none is named, the first ones."""
_MOST_PAIRS = 10  # orders of columns, each with its reverse
_MOST_SHOWN = 3  # columns or samples of a line
_MOST_CHARACTERS = 30
_OF_EXAMPLE = 4000  # rows that the model predicts to explain the example of a study
_UNCERTAIN = 0.75  # probability of its label


@dataclass(frozen=True)
class Rows:
    """Rows of a table with their names, by which a sample is not compared with itself.

    Attributes
    ----------
    table : Table
        Columns of the model.
    names : ndarray of shape (n_rows,)
        Identifiers, or numbers from 1. None for rows of another table.
    """

    table: Table
    names: np.ndarray

    def take(self, rows: np.ndarray) -> Rows:
        """Return some of the rows.

        Parameters
        ----------
        rows : ndarray of int
            Positions.

        Returns
        -------
        Rows
            These rows, with dense numbers.
        """
        values = with_sparsity(self.table.values[rows], False)
        text = {name: np.asarray(cells, dtype=object)[rows] for name, cells in self.table.text.items()}
        return Rows(replace(self.table, values=values, text=text), self.names[rows])

    def background(self) -> Rows:
        """Return at most ``MOST_BACKGROUND`` + 1 rows, evenly spaced.

        Returns
        -------
        Rows
            Rows, one more than are used, because a sample is not its own background.
        """
        return self.take(evenly_spaced(len(self.names), MOST_BACKGROUND + 1))


def explain(
    final: Any,
    samples: Rows,
    background: Rows,
    *,
    unknown: Literal["error", "missing"] = "error",
    most: int = MOST_PREDICTED,
    shows_progress: bool = False,
) -> pd.DataFrame:
    """Explain the most probable labels of samples.

    Parameters
    ----------
    final : FinalModel
        The model.
    samples : Rows
        Samples to explain.
    background : Rows
        Rows to compare them with. A row with the name of a sample is left out.
    unknown : {"error", "missing"}, default="error"
        As in :meth:`~fairfold.final.model.FinalModel.predict`.
    most : int, default=20000
        Largest number of rows that the model predicts for each sample.
    shows_progress : bool, default=False
        Whether a terminal shows a progress bar.

    Returns
    -------
    DataFrame
        As of :meth:`~fairfold.final.model.FinalModel.explain`.

    Raises
    ------
    DataError
        If there are too few background rows or too many columns, or shap is not installed.
    """
    is_sparse = sparse.issparse(background.table.values)
    parts = []
    for number in tqdm(
        range(len(samples.names)), desc="explain", leave=False, disable=None if shows_progress else True
    ):
        sample = samples.take(np.array([number]))
        others = background.take(np.flatnonzero(background.names != sample.names[0]))
        parts.append(_explained(final, sample, others, unknown, is_sparse, most))
    return pd.concat(parts, ignore_index=True)


def _explained(final: Any, sample: Rows, others: Rows, unknown: Any, is_sparse: bool, most: int) -> pd.DataFrame:
    columns = [*final.numeric, *final.text]
    n_numbers, n_evaluated = len(final.numeric), 2 * len(columns) + 1
    n_background = min(len(others.names), MOST_BACKGROUND, most // n_evaluated)
    if len(others.names) < LEAST_BACKGROUND:
        raise DataError(
            f"{others.table.source}: an explanation compares a sample with at least {LEAST_BACKGROUND} other rows, "
            f"found {len(others.names)}. Name a table with more rows, such as that of the study (--background)."
        )
    if n_background < LEAST_BACKGROUND:
        n_columns = (most // LEAST_BACKGROUND - 1) // 2
        raise DataError(f"{final.name}: {len(columns):,} columns cannot be explained, at most {n_columns:,} can.")
    used = others.take(evenly_spaced(len(others.names), n_background)).table
    numbers = np.vstack([used.values, sample.table.values])
    text = [np.append(used.text[name], sample.table.text[name]) for name in final.text]
    # A cell is represented by the first row with the same value, so shap need not understand what is in it.
    cells = np.column_stack([_first_rows(values) for values in (*numbers.T, *text)]).astype(float)

    def probabilities(rows: np.ndarray) -> np.ndarray:
        chosen = rows.astype(int)
        values = np.take_along_axis(numbers, chosen[:, :n_numbers], axis=0)
        words = {name: text[place][chosen[:, n_numbers + place]] for place, name in enumerate(final.text)}
        X = final.with_text(with_sparsity(values, is_sparse), words, used.source, unknown=unknown)
        return final.likely(X)[:, labels]

    labels = np.arange(len(final.labels))
    predicted = probabilities(cells[-1:])[0]
    labels = np.argsort(-predicted, kind="stable")[:MOST_LABELS]  # The function returns only these from here on.
    n_pairs = int(np.clip(most // (n_background * n_evaluated), 1, _MOST_PAIRS))
    values, base = _shapley(probabilities, cells[-1:], cells[:-1], n_pairs * n_evaluated)
    shown = [f"{value:.15g}" if np.isfinite(value) else "" for value in numbers[-1]] + [words[-1] for words in text]
    found = []
    for place, label in enumerate(labels):
        order = np.argsort(-np.abs(values[:, place]), kind="stable")
        found.append(
            pd.DataFrame(
                {
                    "sample": sample.names[0],
                    "label": final.labels[label],
                    "column": [columns[column] for column in order],
                    "value": [shown[column] for column in order],
                    "contribution": values[order, place],
                    "base": base[place],
                    "posterior" if final.corrects else "probability": predicted[label],
                }
            )
        )
    return pd.concat(found, ignore_index=True)


def _first_rows(cells: np.ndarray) -> np.ndarray:
    """Return the first row with the same value for each cell."""
    codes = pd.factorize(cells, use_na_sentinel=False)[0]
    return np.unique(codes, return_index=True)[1][codes]


def _shapley(
    model: Any, sample: np.ndarray, background: np.ndarray, n_evaluations: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the contributions of columns (rows) to outputs (columns), and the mean outputs of the background."""
    shap = _shap()
    before = np.random.get_state()  # noqa: NPY002, shap draws orders from the global stream.
    try:
        masker = shap.maskers.Independent(background, max_samples=len(background))
        explainer = shap.PermutationExplainer(model, masker, seed=0)
        found = explainer(sample, max_evals=n_evaluations, silent=True)
    finally:
        np.random.set_state(before)  # noqa: NPY002
    return np.reshape(found.values[0], (sample.shape[1], -1)), np.ravel(
        found.base_values
    )  # A single label is squeezed.


def _shap() -> Any:
    """Import shap. It would compile its small functions for eight seconds, which take milliseconds without it."""
    settings: Any = numba.config
    before, settings.DISABLE_JIT = settings.DISABLE_JIT, True
    try:
        return import_module("shap")
    except ImportError:
        raise DataError("Explanations need shap. Install it with pip install 'fairfold[explain]'.") from None
    finally:
        settings.DISABLE_JIT = before


def example(final: Any, data: Dataset, test: np.ndarray, *, seed: int) -> pd.DataFrame:
    """Explain one uncertain prediction of a study.

    Parameters
    ----------
    final : FinalModel
        Model that was not fitted to the test samples.
    data : Dataset
        The data.
    test : ndarray of int
        Test samples. Of at most 50 that are drawn, the one whose largest probability is nearest to .75 is explained.
    seed : int
        Seed of the study.

    Returns
    -------
    DataFrame
        As of :func:`explain`, for the most probable label, with shortened values. Empty if shap is not installed, or
        there are too few samples or too many columns.
    """
    most = (_OF_EXAMPLE // LEAST_BACKGROUND - 1) // 2
    if data.shape[0] <= LEAST_BACKGROUND or len(final.numeric) + len(final.text) > most or find_spec("shap") is None:
        return NO_EXAMPLE
    rng = np.random.default_rng(seed_for(seed, "labels", data.id, "example"))
    drawn = rng.choice(test, min(len(test), MOST_BACKGROUND), replace=False)
    likely = final.likely(data.as_samples(data.X[drawn])).max(axis=1)
    chosen = drawn[[np.abs(likely - _UNCERTAIN).argmin()]]
    others = rng.choice(data.shape[0], min(data.shape[0], MOST_BACKGROUND + 1), replace=False)
    found = explain(final, _rows_of(final, data, chosen), _rows_of(final, data, others), most=_OF_EXAMPLE)
    return found[found["label"] == found["label"].iloc[0]].assign(value=found["value"].map(_short))


def _rows_of(final: Any, data: Dataset, samples: np.ndarray) -> Rows:
    """Return samples of a dataset as rows of its table."""
    X, n_numbers = with_sparsity(data.X[samples], False), len(final.numeric)
    if data.categories is not None:
        text = data.categories.decode(X[:, n_numbers:])
    else:
        cells = pd.DataFrame() if data.typed is None else data.typed.frame(X, final.numeric)
        text = {name: cells[name].to_numpy() for name in final.text}
    values = with_sparsity(X[:, :n_numbers], sparse.issparse(data.X))
    return Rows(Table(final.numeric, values, data.id, text), np.array(data.sample_names, dtype=object)[samples])


def find_samples(parts: Iterable[Rows], wanted: Sequence[Any] | None) -> list[Rows]:
    """Find samples by their names.

    Parameters
    ----------
    parts : iterable of Rows
        Parts of a table. No more are read than necessary.
    wanted : sequence or None
        Names. None takes the first ``MOST_SAMPLES`` of the first part.

    Returns
    -------
    list of Rows
        The samples in each part, in the order of the table.

    Raises
    ------
    DataError
        If there is no such sample, or no row at all.
    """
    found, missing = [], {*map(str, wanted or ())}
    first: list[str] = []
    for part in parts:
        if not len(part.names):
            break
        first = first or [str(name) for name in part.names[:_MOST_SHOWN]]
        first_places = {str(name): len(part.names) - 1 - place for place, name in enumerate(part.names[::-1])}
        places = sorted(first_places[name] for name in missing & first_places.keys()) if wanted else None
        found.append(
            part.take(np.arange(min(len(part.names), MOST_SAMPLES)) if places is None else np.array(places, int))
        )
        missing -= {*map(str, found[-1].names)}
        if not missing:
            return found
    if not first:
        raise DataError("explain: the table has no rows. Give a table with at least one.")
    raise DataError(f"explain: there is no sample {min(missing)!r} in the table, which begins with {listed(first)}.")


def lines_on(explained: pd.DataFrame) -> Iterator[str]:
    """Describe the explanation of the first sample.

    Parameters
    ----------
    explained : DataFrame
        Table of :func:`explain`.

    Yields
    ------
    str
        Text for each label, with its strongest columns.

    Examples
    --------
    >>> rows = [("7", "oak", "height", "9.5", 0.3, 0.4, 0.75), ("7", "oak", "soil", "peat", 0.05, 0.4, 0.75)]
    >>> names = ["sample", "label", "column", "value", "contribution", "base", "probability"]
    >>> for line in lines_on(pd.DataFrame(rows, columns=names)):
    ...     print(line)
    Sample 7:
      oak: probability 0.75, on average 0.40. height = 9.5: +0.30, soil = peat: +0.05
    """
    kind = explained.columns[-1]
    first = explained[explained["sample"] == explained["sample"].iloc[0]]
    yield f"Sample {first['sample'].iloc[0]}:"
    for label, rows in first.groupby("label", sort=False):
        shown = [
            f"{row.column} = {_short(row.value)}: {_signed(row.contribution)}"
            for row in rows[:_MOST_SHOWN].itertuples()
        ]
        rest = rows["contribution"][_MOST_SHOWN:]
        shown += [f"{count(len(rest), 'other column')}: {_signed(rest.sum())}"] if len(rest) else []
        values = f"{kind} {rows[kind].iloc[0]:.2f}, on average {rows['base'].iloc[0]:.2f}"
        yield filled(f"  {label}: {values}. {', '.join(shown)}", rest="    ")


def _short(value: str) -> str:
    if re.fullmatch(r"-?\d+\.\d{5,}(e[-+]\d+)?", value):
        return f"{float(value):.4g}"
    return textwrap.shorten(value, _MOST_CHARACTERS) or "empty"


def _signed(contribution: float) -> str:
    return f"{round(contribution, 2) + 0.0:+.2f}"  # without a negative zero
