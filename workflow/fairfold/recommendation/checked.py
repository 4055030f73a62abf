"""Use cells that a person has checked: sheets to fill in, and the recommendation that follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairfold.answer.leaderboard import DECIDING, NO_SCORE, SAME
from fairfold.checked_cells.estimates import (
    MISSING_RATE,
    WRONG_SHARE,
    CheckedScores,
    Estimate,
    checked_scores,
    choose_cells,
    compare_checked_pairs,
)
from fairfold.core.arrays import Matrix, finite_rows, to_dense
from fairfold.core.defaults import SCORE
from fairfold.core.files import read_table
from fairfold.core.formulas import protect
from fairfold.core.validation import with_nan
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError
from fairfold.evaluation.compare import BEST, GUESSING, UNDECIDED, WORSE
from fairfold.evaluation.fold_scores import FinalPredictions, read_predictions
from fairfold.metrics.corrections import SENSITIVITY
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.complete_scores import ALL_MODELS

if TYPE_CHECKING:
    from fairfold.answer import Answer

ANSWER = "correct_label"
"""Column of a sheet that a person fills in."""
NOT_DRAWN = 0.0
"""``draw_probability`` of the cells of a sheet that are chosen for certificates. They do not estimate scores."""
VERSION = "data_version"
"""Column of sheets and checked cells that identifies the samples and labels."""
_PLACES = ["id", "label", ANSWER]
_HIDDEN = ["sample", "label_index", "prediction", "draw_probability"]
_NOT_CHECKED = [*SENSITIVITY, "at_bound", "over_labels"]  # columns of scores that cells do not estimate
_N_DRAWS = 60  # enough for standard deviations, because intervals do not use quantiles of draws


def sheet_to_fill(
    Y: Matrix,
    predictions: Mapping[str, FinalPredictions],
    n: int,
    ids: Sequence[object],
    label_names: Sequence[str],
    *,
    shows_probabilities: bool = False,
    earlier: pd.DataFrame | None = None,
    **options: object,
) -> pd.DataFrame:
    """Choose cells and return a sheet for a person to fill in.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels.
    predictions : mapping of str to FinalPredictions
        Out-of-fold predictions of each model. The sheet serves to score and compare all of them.
    n : int
        Number of cells.
    ids : sequence of length n_samples
        Name of each sample.
    label_names : sequence of str of length n_labels
        Name of each label.
    shows_probabilities : bool, default=False
        Whether the sheet contains the mean probability of the models. It may influence the person.
    earlier : DataFrame or None, default=None
        Cells of earlier sheets, from :func:`cells_of_sheet`.
    **options : object
        Further parameters of :func:`~fairfold.checked_cells.choose_cells`.

    Returns
    -------
    DataFrame
        One row per cell with the columns ``id, label, correct_label, sample, label_index, draw_probability``, and
        ``prediction`` if probabilities are shown. ``correct_label`` is empty for new cells.

    Raises
    ------
    DataError
        If no cell is uncertain.
    """
    observed, P = _scored(Y, predictions)
    cells = choose_cells(P, observed, n, checked=earlier, **options)  # type: ignore[arg-type]
    shown = cells if shows_probabilities else cells.drop(columns="prediction")
    return to_fill(shown.rename(columns={"label": ANSWER}), ids, label_names)


def to_fill(cells: pd.DataFrame, ids: Sequence[object], label_names: Sequence[str]) -> pd.DataFrame:
    """Name the samples and labels of cells.

    Parameters
    ----------
    cells : DataFrame
        Columns ``sample, label_index, correct_label, draw_probability``, and ``prediction`` if it is shown.
    ids : sequence of length n_samples
        Name of each sample.
    label_names : sequence of str of length n_labels
        Name of each label.

    Returns
    -------
    DataFrame
        Sheet as of :func:`sheet_to_fill`.
    """
    sheet = cells.astype({ANSWER: "Int64"})
    sheet["id"] = [ids[row] for row in sheet["sample"]]
    sheet["label"] = [label_names[column] for column in sheet["label_index"]]
    return sheet[[*_PLACES, *(name for name in _HIDDEN if name in sheet)]]


def cells_of_sheet(sheet: pd.DataFrame, ids: Sequence[object], label_names: Sequence[str], where: str) -> pd.DataFrame:
    """Check a filled sheet and return its cells.

    Parameters
    ----------
    sheet : DataFrame
        Sheet of :func:`sheet_to_fill`, or of cells that are all chosen for certificates. Rows may be in any order.
    ids : sequence of length n_samples
        Name of each sample.
    label_names : sequence of str of length n_labels
        Name of each label.
    where : str
        Name of the sheet in messages.

    Returns
    -------
    DataFrame
        Table for :func:`~fairfold.checked_cells.checked_scores`.

    Raises
    ------
    DataError
        If a column is missing, an answer is not 0, 1 or empty, or a row does not match the data.
    """
    needed = [*_PLACES, *(name for name in _HIDDEN if name != "prediction")]
    if absent := [name for name in needed if name not in sheet]:
        raise DataError(f"{where}: the column {absent[0]!r} is missing. Keep all columns of the sheet.")
    text = sheet.astype("string").apply(lambda column: column.str.strip()).fillna("")
    text = text[(text != "").any(axis=1)]  # Excel may keep rows without content.
    values = text[[name for name in _HIDDEN if name in text]].apply(_numbers)
    _check_places(text, values, ids, label_names, where)
    answers = text[ANSWER]
    for row in np.flatnonzero(~answers.isin(["", "0", "1", "0.0", "1.0"]))[:1]:
        raise DataError(
            f"{where}, row {text.index[row] + 2}, column {ANSWER!r}: expected 0, 1 or an empty cell, found "
            f"{answers.iloc[row]!r}. Replace the value or leave the cell empty."
        )
    if (answers == "").all():
        raise DataError(f"{where}: the column {ANSWER!r} is empty. Enter 0 or 1 for the cells that you checked.")
    cells = values.astype({"sample": int, "label_index": int}).assign(label=_numbers(answers))
    return cells.sort_values(["sample", "label_index"], ignore_index=True)


def _numbers(column: pd.Series) -> pd.Series:
    """Convert text to numbers, also with a decimal comma; NaN where it is not a number."""
    return pd.to_numeric(column.str.replace(",", "."), errors="coerce").astype(float)


def _check_places(
    text: pd.DataFrame, values: pd.DataFrame, ids: Sequence[object], label_names: Sequence[str], where: str
) -> None:
    """Refuse rows that do not match the data, or that occur twice."""
    is_draw = values["draw_probability"].gt(0) & values["draw_probability"].le(1)
    is_draw |= values["draw_probability"].eq(NOT_DRAWN).all()
    is_again = values.duplicated(["sample", "label_index"])
    for place, number in enumerate(text.index):
        sample, index = values["sample"].iloc[place], values["label_index"].iloc[place]
        is_known = sample in range(len(ids)) and index in range(len(label_names))
        written, label = text["id"].iloc[place], text["label"].iloc[place]
        is_right = is_known and _is_same(written, ids[int(sample)]) and label in _spellings(label_names[int(index)])
        if not is_right:
            raise DataError(
                f"{where}, row {number + 2}: found sample {written!r} and label {label!r}, which do not match the data "
                "of the study. Restore the row, delete it if you added it, or write a new sheet with `fairfold check`."
            )
        if not is_draw.iloc[place]:
            found = text["draw_probability"].iloc[place]
            raise DataError(
                f"{where}, row {number + 2}, column 'draw_probability': found {found!r}. Restore the number of the "
                "sheet that `fairfold check` wrote."
            )
        if is_again.iloc[place]:
            raise DataError(f"{where}, row {number + 2}: the cell is in the sheet twice. Delete one of its rows.")


def _spellings(name: str) -> set[str]:
    """Return a name as it may be written: an Excel file that was saved from a CSV file keeps the apostrophes."""
    return {name.strip(), protect(name).strip()}


def _is_same(written: str, sample_id: object) -> bool:
    """Return whether an identifier is the same. Programs for tables change 007 to 7."""
    wanted = str(sample_id).strip()
    return written in _spellings(str(sample_id)) or (
        wanted.isdecimal() and written.isdecimal() and int(written) == int(wanted)
    )


def read_checked(path: Path, version: str) -> pd.DataFrame:
    """Read the checked cells of a dataset.

    Parameters
    ----------
    path : Path
        File that ``fairfold check`` wrote.
    version : str
        Version of the dataset.

    Returns
    -------
    DataFrame
        Cells of :func:`cells_of_sheet`.

    Raises
    ------
    DataError
        If samples or labels changed after the check.
    """
    cells = read_table(path)
    if VERSION in cells:  # A file that was written by hand has no version.
        check_version(cells, version, str(path))
    return cells.drop(columns=VERSION, errors="ignore")


def check_version(cells: pd.DataFrame, version: str, where: str) -> None:
    """Refuse cells of other samples or labels.

    Parameters
    ----------
    cells : DataFrame
        Sheet or checked cells.
    version : str
        Version of the dataset.
    where : str
        Name of the file in messages.

    Raises
    ------
    DataError
        If the version is missing, or samples or labels changed after the cells were chosen.
    """
    if VERSION not in cells:
        raise DataError(f"{where}: the column {VERSION!r} is missing. Keep all columns of the sheet.")
    if set(cells[VERSION]) - {""} != {version}:  # Excel may keep rows without content.
        raise DataError(
            f"{where}: the samples, their order or the labels changed after these cells were chosen. "
            "Restore the table, or delete this file and check new cells with `fairfold check`."
        )


def read_study_predictions(results: Path, dataset: str) -> dict[str, FinalPredictions]:
    """Read the predictions of all models at the lowest missing rate of a study.

    Parameters
    ----------
    results : Path
        Folder of results.
    dataset : str
        Name of the dataset.

    Returns
    -------
    dict of str to FinalPredictions
        Out-of-fold predictions of each model.
    """
    rates: dict[int, list[Path]] = {}  # A folder without predictions contains only the estimate of the missing rate.
    for path in sorted((results / "weak_labels" / dataset).glob("rate-*/predictions_*.npz")):
        rates.setdefault(int(path.parent.name.removeprefix("rate-")), []).append(path)
    return dict(read_predictions(rates[min(rates)])) if rates else {}


def checked_table(
    Y: Matrix,
    predictions: Mapping[str, FinalPredictions],
    cells: pd.DataFrame,
    threshold: float,
    score: str = SCORE,
    weights: np.ndarray | None = None,
) -> pd.DataFrame:
    """Estimate the scores of all models from checked cells.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels.
    predictions : mapping of str to FinalPredictions
        Out-of-fold predictions of each model.
    cells : DataFrame
        Checked cells.
    threshold : float
        A label is predicted if its probability exceeds this threshold.
    score : str, default="average_precision"
        Metric that is estimated in addition to ``BASIC_METRICS``, from the decisions of each model for it.
    weights : ndarray of shape (n_samples,) or None, default=None
        Weights of samples in scores. The missing rate and the share of wrong positives count samples once.

    Returns
    -------
    DataFrame
        One row per model, metric and model of the comparison with the columns ``model, metric, estimate, low, high,
        behind, behind_low, behind_high, reference, n_checked``; ``behind`` is the distance from ``reference``. The rows
        of all models together contain the missing rate and the share of wrong positives. Scores pool the test samples
        of all folds.
    """
    observed, P = _scored(Y, predictions)
    tables = []
    for name in dict.fromkeys([*BASIC_METRICS, score]):
        # The mean of repeats would score better than each of them.
        scored = {model: to_dense(predictions[model].of_repeat(0, name), model, DataError) for model in P}
        scored = {model: np.nan_to_num(each) for model, each in scored.items()}  # The labels there are unmeasured.
        options: dict[str, Any] = {"scored": scored, "sample_weight": weights, "n_draws": _N_DRAWS}
        tables.append(compare_checked_pairs(observed, P, cells, name, threshold, **options).assign(metric=name))
    first = checked_scores(observed, next(iter(P.values())), cells, threshold, metrics=(), n_draws=_N_DRAWS)
    shares = [{"model": ALL_MODELS, "metric": name, **first[name]._asdict()} for name in (MISSING_RATE, WRONG_SHARE)]
    table = pd.concat([*tables, pd.DataFrame(shares)], ignore_index=True).assign(n_checked=first.n_checked)
    return table[["model", "metric", *table.columns.drop(["model", "metric"])]]


def score_checked(
    dataset: str, predictions: Sequence[str], cells: str, *, threshold: float, score: str
) -> pd.DataFrame:
    """Estimate the scores of all models from the checked cells of a dataset.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    predictions : sequence of str
        Files with the predictions of the models.
    cells : str
        File of the checked cells.
    threshold : float
        A label is predicted if its probability exceeds this threshold.
    score : str
        Score of the study.

    Returns
    -------
    DataFrame
        Table of :func:`checked_table`, with the dataset in the first column.
    """
    data = Dataset.load(dataset)
    checked = read_checked(Path(cells), data.version)
    table = checked_table(data.Y, dict(read_predictions(predictions)), checked, threshold, score, data.weights)
    return table.assign(dataset=data.id)[["dataset", *table]]


def with_checked_rates(missing_rates: pd.DataFrame, checked: pd.DataFrame) -> pd.DataFrame:
    """Replace the estimated missing rates of the data by those from checked cells.

    Parameters
    ----------
    missing_rates : DataFrame
        Columns ``dataset, hidden_rate, estimated_rate, low, high, reason``, in percent.
    checked : DataFrame
        Tables of :func:`checked_table` with the column ``dataset``.

    Returns
    -------
    DataFrame
        The table with an additional column ``n_checked``.
    """
    rates = checked[checked["metric"] == MISSING_RATE].set_index("dataset")
    table = missing_rates.assign(n_checked=np.nan)
    for place, row in table.iterrows():
        if row["hidden_rate"] == 0 and row["dataset"] in rates.index:
            found = rates.loc[row["dataset"]]
            table.loc[place, ["estimated_rate", "low", "high"]] = [100 * found[x] for x in ("estimate", "low", "high")]
            table.loc[place, ["reason", "n_checked"]] = ["", found["n_checked"]]
    return table


def with_checked_scores(board: pd.DataFrame, checked: pd.DataFrame) -> pd.DataFrame:
    """Replace the scores and verdicts of the leaderboard by those from checked cells.

    Parameters
    ----------
    board : DataFrame
        Table of :func:`~fairfold.recommendation.leaderboard.leaderboard`.
    checked : DataFrame
        Tables of :func:`checked_table` with the column ``dataset``.

    Returns
    -------
    DataFrame
        The table with the additional columns ``n_checked`` and ``best_unchecked``, the best model without the cells. It
        stays the best unless another model is significantly better by the cells: the interval of their difference
        excludes 0. The same holds for a model that is worse than the best one. The best model of each dataset is first.
    """
    tables = []
    for dataset, part in board.groupby("dataset", sort=False):
        found = checked[(checked["dataset"] == dataset) & (checked["metric"] == part["metric"].iloc[0])]
        if found.empty:
            tables.append(part.assign(n_checked=np.nan, best_unchecked=None))
            continue
        part = part[part["verdict"] != GUESSING]  # Checked cells do not score it.
        is_own = ~part["verdict"].str.startswith(SAME)
        before = next(iter(part.loc[part["verdict"] == BEST, "model"]), None)
        best = _model_to_use(found[found["model"].isin(part.loc[is_own, "model"])], before)
        scores = found[found["reference"] == best].set_index("model").reindex(part["model"])
        deciding = checked[(checked["dataset"] == dataset) & (checked["metric"] == DECIDING)]
        deciding = deciding.drop_duplicates("model").set_index("model")["estimate"].reindex(part["model"])
        columns = ["low", "high", "behind", "behind_low", "behind_high", "n_checked"]
        part = part.assign(
            score=scores["estimate"].to_numpy(),
            deciding=deciding.to_numpy(),
            best_unchecked=before,
            **dict.fromkeys(_NOT_CHECKED, np.nan),
            **{name: scores[name].to_numpy() for name in columns},
        )
        is_best, is_worse, is_unknown = part["model"] == best, part["behind_low"] > 0, part["score"].isna()
        verdicts = np.select([is_best, is_worse, is_unknown], [BEST, WORSE, NO_SCORE], UNDECIDED)
        part["verdict"] = part["verdict"].where(~is_own, verdicts)
        behind = part["behind"].where(~is_best, -np.inf)
        tables.append(part.loc[behind.sort_values(kind="stable").index])
    return pd.concat(tables, ignore_index=True)


def _model_to_use(pairs: pd.DataFrame, before: str | None) -> str:
    """Return the best model without checked cells, or the best of those that are significantly better by them."""
    ranked = pairs["model"].drop_duplicates()
    if before not in set(ranked):
        return str(ranked.iloc[0])
    behind = pairs[pairs["model"] == before].set_index("reference")["behind_low"].reindex(ranked)
    return str(next(iter(behind.index[behind > 0]), before))


def precision_sentence(answer: Answer, within: float) -> str:
    """Describe how precisely the score of the best model is known, and how many more cells a target needs.

    Parameters
    ----------
    answer : Answer
        Answer that is based on checked cells.
    within : float
        Largest acceptable distance from the score to the ends of its interval.

    Returns
    -------
    str
        Two sentences, or that no model is recommended.
    """
    if (best := answer.best) is None:
        return answer.verdict
    name, found = answer.metric, Estimate(best["score"], best["low"], best["high"])
    scores = CheckedScores({name: found}, pd.DataFrame(), pd.DataFrame(), answer.n_checked)
    n_more = scores.cells_needed(name, 2 * within)
    needed = f"Check about {n_more:,} more cells" if n_more else "No more cells are needed"
    return f"The {name} of {best['model']} is known to ± {(found.high - found.low) / 2:.3f}. {needed} for ± {within:g}."


def _scored(Y: Matrix, predictions: Mapping[str, FinalPredictions]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return labels and probabilities; labels of samples without predictions count as unmeasured."""
    P = {name: to_dense(each.by(SCORE), name, DataError) for name, each in predictions.items()}
    P = {name: each for name, each in P.items() if finite_rows(each).any()}
    known = np.logical_and.reduce([finite_rows(each) for each in P.values()]) if P else np.zeros(1, dtype=bool)
    if not known.any():
        raise DataError("no sample has predictions of all models, so no cell can be checked. Run the study first.")
    observed = to_dense(with_nan(Y), "Y", DataError).astype(np.float64)
    observed[~known] = np.nan
    return observed, {name: np.where(known[:, np.newaxis], each, 0.0) for name, each in P.items()}
