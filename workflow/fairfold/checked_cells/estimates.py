"""Scores on complete labels from a few cells that a person has checked.

A *cell* is a (sample, label) pair. :func:`choose_cells` draws cells with known probabilities. A person fills in their
true labels. :func:`checked_scores` combines these with the predictions of a model into estimates and confidence
intervals on complete labels. They hold under any mechanism of missing or wrong labels, because the probability of each
draw is known (Horvitz & Thompson 1952; Robins et al. 1994 for the augmented estimator; Angelopoulos et al. 2023 for
predictions in place of labels).

The design draws cells in proportion to their influence on the metrics times the standard deviation of their label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fairfold.checked_cells import cell_model
from fairfold.checked_cells.cell_model import Cells, Fit, fit_cells
from fairfold.core.arrays import Matrix, quotient, to_dense
from fairfold.core.defaults import SCORE, THRESHOLD
from fairfold.core.groups import group_codes
from fairfold.core.validation import UNMEASURED, check_whole_number
from fairfold.errors import DataError, check_name
from fairfold.metrics.plain_scores import check_pair
from fairfold.metrics.registry import METRICS, Metric
from fairfold.metrics.scores import checked_metrics, multilabel_scores

Design = Literal["optimal", "uniform", "samples"]
Values = dict[str, np.ndarray]
SHEET_COLUMNS = ["sample", "label_index", "prediction", "draw_probability", "label"]
"""Columns of a sheet of cells to check."""
WRONG_POSITIVES = 0.05
"""Default for the assumed share of wrong positives."""
MISSING_RATE, WRONG_SHARE = "missing_rate", "wrong_positives"
CHECKED_METRICS = tuple(name for name, metric in METRICS.items() if metric.use != "top")
_FLOOR = 0.15  # Share of the draws that ignores influences, in case the model is wrong.
_N_CENTER = 20  # Draws of the labels that nobody checked, for the estimate.
_BINS = np.linspace(0, 1, 11)  # Limits of the probabilities in the table of missing rates.


class Estimate(NamedTuple):
    """Estimate with a confidence interval.

    Attributes
    ----------
    estimate : float
        Estimate.
    low, high : float
        Limits of the confidence interval.
    """

    estimate: float
    low: float
    high: float


class CheckedScores(dict[str, Estimate]):
    """Estimates by metric, with the missing rates of parts of the data.

    The keys are the metrics, ``"missing_rate"`` and ``"wrong_positives"``.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        Estimates.
    by_label : DataFrame
        Missing rate of each label, with the columns ``label_index, estimate, low, high``.
    by_probability : DataFrame
        Missing rate of the positives in each range of probabilities, with the columns ``probability_low,
        probability_high, estimate, low, high``.
    n_checked : int
        Number of checked cells.
    """

    def __init__(
        self, estimates: Mapping[str, Estimate], by_label: pd.DataFrame, by_probability: pd.DataFrame, n_checked: int
    ) -> None:
        super().__init__(estimates)
        self.by_label, self.by_probability, self.n_checked = by_label, by_probability, n_checked

    def cells_needed(self, metric: str, target_width: float) -> int:
        """Return how many more cells make the confidence interval of a metric narrow enough.

        Parameters
        ----------
        metric : str
            Key of the estimate.
        target_width : float
            Width of the interval, such as 0.04 for a score that is known to ± 0.02.

        Returns
        -------
        int
            Approximate number of cells to add. 0 if the interval is narrow enough, so that checking can stop.

        Notes
        -----
        The width shrinks with the root of the number of cells. Checking may stop as soon as the interval is narrow
        enough: this rule depends on the width alone, so the coverage of the interval is asymptotically kept (Chow &
        Robbins 1965). A rule that depends on the estimate would not keep it.
        """
        ratio = (self[metric].high - self[metric].low) / target_width
        return max(0, math.ceil(self.n_checked * (ratio**2 - 1)))


def choose_cells(
    P: Matrix | Mapping[str, Matrix],
    Y_observed: Matrix,
    n: int,
    *,
    design: Design = "optimal",
    groups: ArrayLike | None = None,
    checked: pd.DataFrame | None = None,
    threshold: float = THRESHOLD,
    wrong_positives: float = WRONG_POSITIVES,
    cost_per_sample: float = 0.0,
    cost_per_cell: float = 1.0,
    random_state: int = 0,
) -> pd.DataFrame:
    """Choose the cells that a person should check.

    Parameters
    ----------
    P : {array-like, sparse matrix} of shape (n_samples, n_labels), or mapping of str to such matrices
        Out-of-fold probabilities of a model, or of several models that will be compared.
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1. Unmeasured labels (NaN) are never drawn.
    n : int
        Number of cells. If fewer cells are uncertain, all of them are returned.
    design : {"optimal", "uniform", "samples"}, default="optimal"
        Draw probabilities: by the influence of each cell on average precision and the Matthews correlation, equal for
        all cells, or equal for all labels of a sample, which is then checked as a whole. With ``"samples"`` the number
        of cells varies around `n`.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample. The cells are spread over the groups.
    checked : DataFrame or None, default=None
        Filled sheet of earlier rounds. These cells are not drawn again, and their labels improve the design.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    wrong_positives : float, default=0.05
        Share of observed positives that may be wrong, as a first guess. With 0, observed positives are certain and are
        never drawn.
    cost_per_sample, cost_per_cell : float, default=0.0 and 1.0
        Cost to open a sample and to check a cell. With a cost per sample, ``design="optimal"`` draws whole samples if
        that gives a smaller error at the same cost.
    random_state : int, default=0
        Seed.

    Returns
    -------
    DataFrame
        One row per cell, ordered by sample, with the columns ``sample, label_index, prediction, draw_probability,
        label``. ``label`` is empty (NaN). If `checked` is given, the table also contains its rows, and
        ``draw_probability`` is the probability for all rounds combined.

    Raises
    ------
    DataError
        If the input is invalid, or no cell is uncertain.

    See Also
    --------
    checked_scores : Estimate scores from the filled table.

    Notes
    -----
    Draws are systematic, in random order within groups, observed labels and ranges of probabilities.

    With several rounds, the estimate is the mean of the estimates of each round, weighted by their numbers of cells.
    A round is unbiased given the earlier ones, so its design may depend on their labels. The combined probability π of
    a cell is defined by its weight, 1 / π - 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> P = rng.random((50, 4))
    >>> Y_observed = (rng.random(P.shape) < 0.5 * P).astype(int)
    >>> cells = choose_cells(P, Y_observed, 10, random_state=0)
    >>> len(cells), int(cells["label"].count())
    (10, 0)
    """
    check_name("design", design, get_args(Design), DataError)
    check_whole_number("n", n, 1)
    table = _Table(P, Y_observed, wrong_positives)
    old = None if checked is None else table.filled(checked)
    importance, spread = table.importance(old, threshold)
    if not spread.any():
        where, use = ("Y_observed", "observed") if old is None else ("checked", "checked")
        raise DataError(f"{where}: no cell is uncertain, so there is nothing to check. Use the {use} labels.")
    rng = np.random.default_rng(random_state)
    order = table.order(groups, rng)
    plans = _plans(table, importance, spread, n, design, cost_per_sample)
    costs = [n * cost_per_cell + _n_samples(table, pi, whole) * cost_per_sample for whole, pi in plans]
    best = np.argmin([cost * _variance(pi, importance) for cost, (_, pi) in zip(costs, plans, strict=True)])
    by_sample, pi = plans[best]
    drawn = _systematic(pi, order, rng) if not by_sample else _systematic_samples(table, pi, order, rng, spread > 0)
    new = table.sheet(drawn, pi[drawn])
    if old is not None and checked is not None:
        new = _combined(checked.loc[old.rows], new)
    return new.sort_values(["sample", "label_index"], ignore_index=True)


def checked_scores(
    Y_observed: Matrix,
    P: Matrix,
    cells: pd.DataFrame,
    threshold: float = THRESHOLD,
    *,
    metrics: Iterable[str] = CHECKED_METRICS,
    wrong_positives: float = WRONG_POSITIVES,
    level: float = 0.95,
    n_draws: int = 200,
    random_state: int = 0,
) -> CheckedScores:
    """Estimate scores on complete labels from checked cells.

    Parameters
    ----------
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1. Unmeasured labels (NaN) are ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probabilities of the model to score.
    cells : DataFrame
        Table of :func:`choose_cells` with the true labels, 0 or 1, in the column ``label``. Rows with an empty label
        are ignored, as if the other rows had been drawn from the table at random.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    metrics : iterable of str, optional
        Metrics from ``METRICS``. By default, all except the metrics at k.
    wrong_positives : float, default=0.05
        Share of observed positives that may be wrong, as a first guess. With 0, observed positives are certain.
    level : float, default=0.95
        Level of the confidence intervals.
    n_draws : int, default=200
        Number of draws for the confidence intervals.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    CheckedScores
        Mapping from metric to ``Estimate``. It also contains ``"missing_rate"``, the share of true positives that
        is not observed, and ``"wrong_positives"``, the share of observed positives that is wrong.

    Raises
    ------
    DataError
        If the input is invalid, or no cell has a label.

    See Also
    --------
    choose_cells : Choose the cells to check.
    compare_checked : Compare models.

    Notes
    -----
    See ``fairfold.checked_cells.cell_model`` for the method. Run time grows with `n_draws` times the time to score the
    model once.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> P = rng.random((50, 4))
    >>> Y = (rng.random(P.shape) < P).astype(int)
    >>> Y_observed = Y * (rng.random(P.shape) < 0.5)
    >>> cells = choose_cells(P, Y_observed, 60, random_state=0)
    >>> cells["label"] = Y[cells["sample"], cells["label_index"]]
    >>> scores = checked_scores(Y_observed, P, cells)
    >>> bool(scores["missing_rate"].low < 0.5 < scores["missing_rate"].high)
    True
    """
    table = _Table(P, Y_observed, wrong_positives)
    entries = checked_metrics(metrics)
    filled = table.filled(cells)
    (P,) = table.P
    parts: dict[tuple[str, ...], list[str]] = {(): []}
    for name, entry in entries.items():
        parts.setdefault(_targets_of(name, entry), []).append(name)
    found = {}
    for targets, names in parts.items():
        fit = fit_cells(table.cells, *filled.cells, threshold, targets)

        def values_of(y: np.ndarray, names: list[str] = names) -> Values:
            if not names:
                return table.shares(y)
            scores = multilabel_scores(table.matrix(y), P, threshold, metrics=names)
            return {name: np.array([value]) for name, value in scores.items()}

        for name, values in _draw(fit, values_of, n_draws, random_state).items():
            ends = entries[name].range if name in entries else (0.0, 1.0)
            found[name] = _with_interval(_nanmean(values.center), values.error(level), ends, level)
    for name, value in ((MISSING_RATE, 0), (WRONG_SHARE, 1)):
        if not table.is_found(filled, observed=value):
            found[name][:, 1] *= 0.0  # stays NaN if the share is undefined
    by_label = pd.DataFrame(found.pop("by_label"), columns=Estimate._fields)
    by_label.insert(0, "label_index", np.arange(len(by_label)))
    by_probability = pd.DataFrame(found.pop("by_probability"), columns=Estimate._fields)
    by_probability.insert(0, "probability_low", _BINS[:-1])
    by_probability.insert(1, "probability_high", _BINS[1:])
    single = {name: Estimate(*rows[0].tolist()) for name, rows in found.items()}
    return CheckedScores(single, by_label, by_probability, len(filled.rows))


def compare_checked(
    Y_observed: Matrix,
    predictions: Mapping[str, Matrix],
    cells: pd.DataFrame,
    metric: str = SCORE,
    threshold: float = THRESHOLD,
    *,
    scored: Mapping[str, Matrix] | None = None,
    sample_weight: np.ndarray | None = None,
    wrong_positives: float = WRONG_POSITIVES,
    level: float = 0.95,
    n_draws: int = 200,
    random_state: int = 0,
) -> pd.DataFrame:
    """Compare models on complete labels, estimated from checked cells.

    Parameters
    ----------
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1. Unmeasured labels (NaN) are ignored.
    predictions : mapping of str to {array-like, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probabilities of each model.
    cells : DataFrame
        Filled table of :func:`choose_cells`, as in :func:`checked_scores`. Give the same predictions to both functions.
    metric : str, default="average_precision"
        Metric of the comparison.
    scored : mapping of str to {array-like, sparse matrix} of shape (n_samples, n_labels), default=None
        Predictions of the same models to score, such as decisions of 0 and 1. By default, `predictions` are scored.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights of samples in the scores. The choice of cells does not know them.
    threshold, wrong_positives, level, n_draws, random_state
        As in :func:`checked_scores`.

    Returns
    -------
    DataFrame
        One row per model, the best first, with the columns ``model, estimate, low, high, behind, behind_low,
        behind_high``. The last three are the distance to the best model and its confidence interval. These intervals
        hold for all models together.

    Raises
    ------
    DataError
        If the input is invalid, or no cell has a label.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> P = rng.random((50, 4))
    >>> Y = (rng.random(P.shape) < P).astype(int)
    >>> models = {"informed": P, "random": rng.random(P.shape)}
    >>> cells = choose_cells(models, Y, 60, random_state=0)
    >>> cells["label"] = Y[cells["sample"], cells["label_index"]]
    >>> compare_checked(Y, models, cells)["model"].tolist()
    ['informed', 'random']
    """
    options: dict[str, Any] = {"scored": scored, "sample_weight": sample_weight, "wrong_positives": wrong_positives}
    options |= {"level": level, "n_draws": n_draws, "random_state": random_state}
    pairs = compare_checked_pairs(Y_observed, predictions, cells, metric, threshold, **options)
    is_with_best = pairs["reference"] == pairs["model"].iloc[0]
    return pairs[is_with_best].drop(columns="reference").reset_index(drop=True)


def compare_checked_pairs(
    Y_observed: Matrix,
    predictions: Mapping[str, Matrix],
    cells: pd.DataFrame,
    metric: str = SCORE,
    threshold: float = THRESHOLD,
    *,
    scored: Mapping[str, Matrix] | None = None,
    sample_weight: np.ndarray | None = None,
    wrong_positives: float = WRONG_POSITIVES,
    level: float = 0.95,
    n_draws: int = 200,
    random_state: int = 0,
) -> pd.DataFrame:
    """Compare each model with each other one on complete labels, estimated from checked cells.

    Parameters
    ----------
    Y_observed, predictions, cells, metric, threshold
        As in :func:`compare_checked`.
    scored, sample_weight, wrong_positives, level, n_draws, random_state
        As in :func:`compare_checked`.

    Returns
    -------
    DataFrame
        The columns of :func:`compare_checked` and ``reference``, the model that a model is behind. The rows of a
        reference follow each other, the best model first, and so do the references.

    Raises
    ------
    DataError
        If the input is invalid, or no cell has a label.
    """
    table = _Table(predictions, Y_observed, wrong_positives)
    ((name, entry),) = checked_metrics([metric]).items()
    fit = fit_cells(table.cells, *table.filled(cells).cells, threshold, _targets_of(name, entry))

    matrices = table.P if scored is None else [scored[model] for model in predictions]

    def values_of(y: np.ndarray) -> Values:
        Y = table.matrix(y)
        scores = [multilabel_scores(Y, P, threshold, metrics=[name], sample_weight=sample_weight) for P in matrices]
        return {name: np.array([each[name] for each in scores])}

    values = _draw(fit, values_of, n_draws, random_state)[name]
    middle = _nanmean(values.center)
    width = entry.range[1] - entry.range[0]
    estimates = pd.DataFrame(_with_interval(middle, values.error(level), entry.range, level), columns=Estimate._fields)
    estimates.insert(0, "model", list(predictions))
    order = np.argsort(-entry.goodness(middle), kind="stable")
    together = 1 - (1 - level) / max(len(order) - 1, 1)  # Bonferroni
    quantile = scipy.stats.norm.ppf((1 + together) / 2)
    tables = []
    for reference in order:
        behind = entry.direction * (middle[reference] - middle)
        margin = quantile * values.behind(reference).error(together)
        limits = {"behind_low": np.maximum(behind - margin, -width), "behind_high": np.minimum(behind + margin, width)}
        found = estimates.assign(behind=behind, **limits, reference=estimates["model"].iloc[reference])
        tables.append(found.iloc[order])
    return pd.concat(tables, ignore_index=True)


def _targets_of(name: str, entry: Metric) -> tuple[str, ...]:
    """Return the targets of the correction for a metric. Fewer targets have less uncertainty."""
    if entry.use == "threshold":
        return ("counts",)
    return ("average_precision",) if name == "average_precision" else ("average_precision", "roc_auc")


class _Filled(NamedTuple):
    """Rows of a sheet with a label, and their cells, true labels and draw probabilities."""

    rows: pd.Index
    cells: tuple[np.ndarray, np.ndarray, np.ndarray]


class _Table:
    """Checked input: probabilities of each model and the cells with a measured label."""

    def __init__(self, P: Matrix | Mapping[str, Matrix], Y_observed: Matrix, wrong_positives: float) -> None:
        if not 0 <= wrong_positives < 1:
            raise DataError(f"wrong_positives: found {wrong_positives}. Give a share of at least 0 and below 1.")
        matrices = list(P.values()) if isinstance(P, Mapping) else [P]
        if not matrices:
            raise DataError("P: found no model. Give the probabilities of at least one model.")
        Y = to_dense(Y_observed, "Y_observed", DataError)
        pairs = [check_pair(Y, to_dense(each, "P", DataError), "Y_observed") for each in matrices]
        self.P = [pair[1] for pair in pairs]
        observed = pairs[0][0]
        self.n_samples, self.n_labels = observed.shape
        self.is_measured = observed != UNMEASURED
        samples, labels = np.nonzero(self.is_measured)
        scores = [each[self.is_measured] for each in self.P]
        self.cells = Cells(observed[self.is_measured] == 1, samples, labels, scores, wrong_positives)
        self.score = np.mean(scores, axis=0)
        self.bins = np.clip(np.digitize(self.score, _BINS) - 1, 0, len(_BINS) - 2)

    def filled(self, sheet: pd.DataFrame) -> _Filled:
        """Check a sheet and return its filled rows."""
        if absent := [name for name in SHEET_COLUMNS if name not in sheet and name != "prediction"]:
            raise DataError(f"cells: the column {absent[0]!r} is missing. Keep all columns of the sheet.")
        values = {name: pd.to_numeric(sheet[name], errors="coerce").to_numpy(float) for name in SHEET_COLUMNS[:2]}
        pi = pd.to_numeric(sheet["draw_probability"], errors="coerce").to_numpy(float)
        label = pd.to_numeric(sheet["label"], errors="coerce").to_numpy(float)
        is_text = np.isnan(label) & sheet["label"].notna().to_numpy() & (sheet["label"].astype(str).str.strip() != "")
        _refuse(sheet, "label", is_text | ~np.isin(label, (0, 1)) & ~np.isnan(label), "0, 1 or an empty cell")
        _refuse(sheet, "draw_probability", ~((pi > 0) & (pi <= 1)), "a number above 0 and at most 1")
        for name, size in zip(SHEET_COLUMNS, (self.n_samples, self.n_labels), strict=False):
            found = values[name]
            wrong = ~((found >= 0) & (found < size) & (found == np.floor(found)))
            _refuse(sheet, name, wrong, f"a whole number from 0 to {size - 1}")
        place = np.full(self.is_measured.shape, -1)
        place[self.is_measured] = np.arange(len(self.score))
        position = place[values["sample"].astype(int), values["label_index"].astype(int)]
        _refuse(sheet, "label_index", position < 0, "a label that is measured in Y_observed")
        _refuse(sheet, "sample", pd.Series(position).duplicated().to_numpy(), "each cell only once")
        known = ~np.isnan(label)
        if not known.any():
            raise DataError("cells: the column 'label' is empty. Enter 0 or 1 for the cells that were checked.")
        share = known.mean()  # As if the other cells had been drawn from the sheet at random.
        weight = (1 / pi[known] - 1 + (1 - share)) / share
        return _Filled(sheet.index[known], (position[known], label[known], 1 / (1 + weight)))

    def is_found(self, filled: _Filled, *, observed: int) -> bool:
        """Return whether a check has shown an observed label to be wrong."""
        cells, truth, _ = filled.cells
        return bool(np.any((self.cells.observed[cells] == observed) & (truth != observed)))

    def importance(self, old: _Filled | None, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the importance of each cell for the metrics, and the standard deviation of its label."""
        if old is None:
            q = scipy.special.expit(self.cells.prior()[1])
        else:
            q = fit_cells(self.cells, *old.cells, threshold).probabilities()
        spread = np.sqrt(q * (1 - q))
        ranking = np.array([cell_model.influence_on_average_precision(score, q) for score in self.cells.scores])
        deciding = [cell_model.influence_on_mcc(score > threshold, q) for score in self.cells.scores]
        differences = [ranking.std(axis=0)] * len(ranking)
        sizes = [np.abs(influence) * spread for influence in (*ranking, *deciding, *differences)]
        found = [size / size.sum() for size in sizes if size.any()]
        return (np.sqrt(np.mean(np.square(found), axis=0)) if found else spread), spread

    def order(self, groups: ArrayLike | None, rng: np.random.Generator) -> np.ndarray:
        """Return the order of the cells for systematic draws: random within ranges of probabilities."""
        codes = np.zeros(self.n_samples) if groups is None else group_codes(groups, self.n_samples)
        ranges = np.digitize(self.score, _BINS)
        return np.lexsort((rng.random(len(ranges)), ranges, self.cells.observed, codes[self.cells.samples]))

    def sheet(self, drawn: np.ndarray, pi: np.ndarray) -> pd.DataFrame:
        values = self.cells.samples[drawn], self.cells.labels[drawn], self.score[drawn], pi, np.full(len(drawn), np.nan)
        return pd.DataFrame(dict(zip(SHEET_COLUMNS, values, strict=True)))

    def matrix(self, y: np.ndarray) -> np.ndarray:
        """Return the labels of all cells as a matrix."""
        if self.is_measured.all():
            return y.reshape(self.is_measured.shape)
        Y = np.full(self.is_measured.shape, np.nan)
        Y[self.is_measured] = y
        return Y

    def shares(self, y: np.ndarray) -> dict[str, np.ndarray]:
        """Compute the missing rate, overall, by label and by probability, and the share of wrong positives."""
        observed = self.cells.observed
        true = y == 1
        hidden = true & ~observed

        def share(codes: np.ndarray, n: int) -> np.ndarray:
            return quotient(np.bincount(codes[hidden], minlength=n), np.bincount(codes[true], minlength=n))

        n_true, n_hidden, n_observed = map(np.count_nonzero, (true, hidden, observed))
        return {
            MISSING_RATE: quotient(np.array([n_hidden]), np.array([n_true])),
            WRONG_SHARE: quotient(np.array([n_observed - (n_true - n_hidden)]), np.array([n_observed])),
            "by_label": share(self.cells.labels, self.n_labels),
            "by_probability": share(self.bins, len(_BINS) - 1),
        }


def _refuse(sheet: pd.DataFrame, column: str, wrong: np.ndarray, expected: str) -> None:
    """Raise an error for the first wrong value of a column."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise DataError(
            f"cells, row {rows[0]}, column {column!r}: expected {expected}, found {sheet[column].iloc[rows[0]]}. "
            "Correct the value, or leave the label empty if nobody checked the cell."
        )


def _plans(
    table: _Table, importance: np.ndarray, spread: np.ndarray, n: int, design: Design, cost_per_sample: float
) -> list[tuple[bool, np.ndarray]]:
    """Return possible designs: whether they draw whole samples, and the draw probability of each cell."""
    plans = []
    if design == "uniform":
        plans.append((False, _probabilities((spread > 0).astype(float), n)))
    if design == "optimal":
        size = (1 - _FLOOR) * importance / importance.sum() + _FLOOR * spread / spread.sum()
        plans.append((False, _probabilities(size, n)))
    if design == "samples" or (design == "optimal" and cost_per_sample > 0):
        sums = np.bincount(table.cells.samples, importance**2, minlength=table.n_samples)
        n_cells = np.bincount(table.cells.samples, spread > 0, minlength=table.n_samples)
        size = np.sqrt(quotient(sums, n_cells, 0.0))
        size = (1 - _FLOOR) * size / size.sum() + _FLOOR * (n_cells > 0) / (n_cells > 0).sum()
        of_samples = _probabilities(size, n, n_cells)
        plans.append((True, np.where(spread > 0, of_samples[table.cells.samples], 0.0)))
    return plans


def _n_samples(table: _Table, pi: np.ndarray, by_sample: bool) -> float:
    """Return the expected number of samples with a drawn cell."""
    if by_sample:
        most = np.zeros(table.n_samples)
        np.maximum.at(most, table.cells.samples, pi)
        return float(most.sum())
    missed = np.bincount(table.cells.samples, np.log1p(-np.minimum(pi, 1 - 1e-12)), minlength=table.n_samples)
    return float((1 - np.exp(missed)).sum())


def _variance(pi: np.ndarray, importance: np.ndarray) -> float:
    drawn = pi > 0
    return float(np.sum((1 / pi[drawn] - 1) * importance[drawn] ** 2)) + 1e-300


def _probabilities(size: np.ndarray, n: int, n_cells: np.ndarray | None = None) -> np.ndarray:
    """Return draw probabilities in proportion to sizes, at most 1, so that n cells are expected."""
    n_cells = np.ones(len(size)) if n_cells is None else n_cells
    pi = np.zeros(len(size))
    is_sure = np.zeros(len(size), dtype=bool)
    while True:
        open_ = (size > 0) & ~is_sure
        rest = n - n_cells[is_sure].sum()
        pi[open_] = size[open_] * max(rest, 0) / max((size * n_cells)[open_].sum(), np.finfo(float).tiny)
        pi[is_sure] = 1.0
        over = open_ & (pi >= 1)
        if not over.any():
            return pi
        is_sure |= over


def _systematic(pi: np.ndarray, order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw items with the given probabilities at equal steps along their order."""
    ends = np.cumsum(pi[order])
    n = round(ends[-1])
    steps = (rng.random() + np.arange(n)) * (ends[-1] / n)
    return np.unique(order[np.minimum(np.searchsorted(ends, steps, side="right"), len(order) - 1)])


def _systematic_samples(
    table: _Table, pi: np.ndarray, order: np.ndarray, rng: np.random.Generator, is_open: np.ndarray
) -> np.ndarray:
    """Draw samples and return all their uncertain cells."""
    of_samples = np.zeros(table.n_samples)
    np.maximum.at(of_samples, table.cells.samples, pi)
    _, first = np.unique(table.cells.samples[order], return_index=True)
    by_first = table.cells.samples[order][np.sort(first)]
    ends = np.cumsum(of_samples[by_first])
    steps = np.arange(rng.random(), ends[-1], 1.0)
    drawn = by_first[np.searchsorted(ends, steps, side="right")]
    return np.flatnonzero(np.isin(table.cells.samples, drawn) & is_open)


def _combined(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Join rounds; each contributes to the estimate in proportion to its number of cells."""
    share = len(new) / (len(old) + len(new))
    of_old = (1 - share) * (1 / old["draw_probability"] - 1)
    of_new = share * (1 / new["draw_probability"] - 1) - (1 - share)
    weights = pd.concat([of_old, of_new], ignore_index=True)
    joined = pd.concat([old.astype({"label": float}), new], ignore_index=True)
    return joined.assign(draw_probability=1 / (1 + np.maximum(weights, 0.0)))


class _Draws(NamedTuple):
    """Values of draws of the labels.

    ``center`` has the values at the estimate, and ``varied`` those where the coefficients of `fit` vary by `deviates`.
    """

    fit: Fit
    center: np.ndarray
    varied: np.ndarray
    deviates: np.ndarray

    def behind(self, best: int) -> _Draws:
        """Return the differences to one of the values."""
        center, varied = (each[:, [best]] - each for each in (self.center, self.varied))
        return self._replace(center=center, varied=varied)

    def error(self, level: float) -> np.ndarray:
        """Compute standard errors, times the factor of a t distribution relative to a normal one."""
        known, z = ~np.isnan(self.varied), self.deviates
        slopes = np.where(known, self.varied - _nanmean(self.varied), 0.0).T @ z
        spread = np.einsum("dk,di,dj->kij", known.astype(float), z, z, optimize=True)
        slopes = np.linalg.solve(spread + 1e-9 * np.eye(z.shape[1]), slopes[..., np.newaxis])[..., 0].T
        quantile = (1 + level) / 2
        degrees = self.fit.degrees(slopes)
        variance = (slopes**2).sum(axis=0) * (1 + z.shape[1] / degrees) + _nanvar(self.center)
        return scipy.stats.t.ppf(quantile, degrees) / scipy.stats.norm.ppf(quantile) * np.sqrt(variance)


def _draw(fit: Fit, values_of: Callable[[np.ndarray], Values], n_draws: int, random_state: int) -> dict[str, _Draws]:
    """Compute values for draws of the labels."""
    rng = np.random.default_rng(random_state)
    parts = []
    for n, vary in ((_N_CENTER, False), (n_draws, True)):
        labels, deviates = zip(*((values_of(y), z) for y, z in fit.draws(n, rng, vary=vary)), strict=True)
        parts.append({name: np.array([row[name] for row in labels]) for name in labels[0]})
    return {name: _Draws(fit, center, parts[1][name], np.array(deviates)) for name, center in parts[0].items()}


def _nanmean(values: np.ndarray) -> np.ndarray:
    known = ~np.isnan(values)
    mean = quotient(np.where(known, values, 0).sum(axis=0), known.sum(axis=0))
    same = np.nanmax(np.where(known, values, -np.inf), axis=0)
    return np.where(np.nanmin(np.where(known, values, np.inf), axis=0) == same, same, mean)


def _nanvar(values: np.ndarray) -> np.ndarray:
    return _nanmean((values - _nanmean(values)) ** 2)


def _with_interval(middle: np.ndarray, spread: np.ndarray, ends: tuple[float, float], level: float) -> np.ndarray:
    """Return estimates with the limits of their intervals, shape (n_estimates, 3).

    A beta distribution on the range of the score has the estimate as its mean and `spread` as its standard deviation.
    The limits are its quantiles. Scores without an upper end have a normal distribution.
    """
    low, high = ends
    if np.isinf(high):
        margin = scipy.stats.norm.ppf((1 + level) / 2) * spread
        return np.column_stack([middle, np.maximum(middle - margin, low), middle + margin])
    mean = np.clip((middle - low) / (high - low), 1e-9, 1 - 1e-9)
    most = mean * (1 - mean)  # variance of a distribution on both ends alone
    variance = np.clip((spread / (high - low)) ** 2, 0, 0.99 * most)
    with np.errstate(divide="ignore"):
        size = most / variance - 1  # sum of both parameters
    is_exact = spread <= 1e-12

    def limit(share: float) -> np.ndarray:
        quantile = scipy.stats.beta.ppf(share, mean * size, (1 - mean) * size)
        return np.where(is_exact, middle, low + (high - low) * quantile)

    lower, upper = limit((1 - level) / 2), limit((1 + level) / 2)
    return np.column_stack([middle, np.fmin(lower, middle), np.fmax(upper, middle)])
