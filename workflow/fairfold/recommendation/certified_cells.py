"""Cells whose check certifies decisions. They are chosen, not drawn, so they serve certificates and no scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.core.arrays import most_common_labels, to_dense
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError
from fairfold.evaluation.certificates import cells_to_certify
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.recommendation import predictions
from fairfold.recommendation.checked import ANSWER, NOT_DRAWN, read_checked, to_fill

FOLDER = "certify"
"""Folder of the filled sheets, in that of the checked cells."""


def known_cells(paths: Iterable[str | Path], version: str) -> pd.DataFrame | None:
    """Read the cells of a dataset with a checked label, whatever they were checked for.

    Parameters
    ----------
    paths : iterable of str or Path
        Files that ``fairfold check`` wrote.
    version : str
        Version of the dataset.

    Returns
    -------
    DataFrame or None
        Columns ``sample, label_index, label``, each cell once, with its label in the last file. None without a file.

    Raises
    ------
    DataError
        If samples or labels changed after the check.
    """
    if not (tables := [read_checked(Path(path), version) for path in paths]):
        return None
    cells = pd.concat(tables)[["sample", "label_index", "label"]].dropna(subset="label")
    return cells.drop_duplicates(["sample", "label_index"], keep="last", ignore_index=True)


def cells_among(cells: pd.DataFrame, is_used: np.ndarray, labels: np.ndarray) -> pd.DataFrame:
    """Select the cells of some samples and labels, and number both anew.

    Parameters
    ----------
    cells : DataFrame
        Columns ``sample, label_index, label``.
    is_used : ndarray of bool of shape (n_samples,)
        Whether each sample is used.
    labels : ndarray of int
        Ascending indices of the labels.

    Returns
    -------
    DataFrame
        The cells.

    Examples
    --------
    >>> cells = pd.DataFrame({"sample": [1, 2], "label_index": [4, 5], "label": [0, 1]})
    >>> cells_among(cells, np.array([False, True, True]), np.array([3, 5])).to_dict("list")
    {'sample': [1], 'label_index': [1], 'label': [1]}
    """
    own = cells[is_used[cells["sample"].to_numpy(int)] & cells["label_index"].isin(labels)]
    samples = np.cumsum(is_used)[own["sample"].to_numpy(int)] - 1
    places = np.searchsorted(labels, own["label_index"].to_numpy(int))
    return own.assign(sample=samples, label_index=places).reset_index(drop=True)


def sheet_to_certify(
    data: Dataset,
    predicted: FinalPredictions,
    metric: str,
    n: int,
    ids: Sequence[object],
    *,
    precision: float,
    known: pd.DataFrame | None = None,
    earlier: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Choose the cells whose check certifies the most labels, and return a sheet for a person to fill in.

    Parameters
    ----------
    data : Dataset
        The data.
    predicted : FinalPredictions
        Out-of-fold predictions of the recommended model.
    metric : str
        Metric that selects the level of a cascade.
    n : int
        Number of cells.
    ids : sequence of length n_samples
        Name of each sample.
    precision : float
        Precision to certify.
    known : DataFrame or None, default=None
        Cells with a checked label, from :func:`known_cells`.
    earlier : DataFrame or None, default=None
        Cells of earlier sheets of this kind. The sheet starts with them.

    Returns
    -------
    DataFrame
        Sheet as of :func:`~fairfold.recommendation.checked.sheet_to_fill`, with a ``draw_probability`` of 0. The cells
        to check first come first.

    Raises
    ------
    DataError
        If no check of cells certifies more decisions.
    """
    labels = most_common_labels(data.Y, predictions.MOST_LABELS)
    P = predictions.first_cross_validation(predicted, metric, labels)
    tested = np.isfinite(P).all(axis=1)
    Y = np.asarray(to_dense(data.Y[:, labels], "Y", DataError), dtype=float)[tested]
    groups, weights = (None if each is None else each[tested] for each in (data.groups, data.weights))
    checked = None if known is None else cells_among(known, tested, labels)
    options = {"precision": precision, "checked": checked, "groups": groups, "weights": weights}
    cells = cells_to_certify(Y, P[tested].clip(0, 1), n, **options)  # type: ignore[arg-type]
    if cells.empty:
        raise DataError(
            f"--certify: no check of cells certifies more decisions at {100 * precision:g} %. Use the labels that are "
            "certified, or choose a lower precision."
        )
    samples = np.flatnonzero(tested)[cells["sample"]]
    new = pd.DataFrame({"sample": samples, "label_index": labels[cells["label_index"]], "label": np.nan})
    if earlier is not None:
        new = pd.concat([earlier[[*new]].assign(label=pd.to_numeric(earlier["label"])), new], ignore_index=True)
    sheet = new.rename(columns={"label": ANSWER}).assign(draw_probability=NOT_DRAWN)
    return to_fill(sheet, ids, data.label_names)
