"""Words of texts that go with each label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.core.arrays import to_dense
from fairfold.datasets import Dataset
from fairfold.errors import DataError
from fairfold.features.text import TextEncoder

COLUMNS = ["label", "column", "words"]
_MOST_WORDS = 8  # for each label and column
_LEAST = 3.0  # standard errors from 0; with thousands of words, smaller log odds ratios occur by chance
_PRIOR = 10.0  # samples that the prior counts as
_LEAST_SAMPLES = 3  # with the label and the word


def strongest_words(data: Dataset, labels: np.ndarray) -> pd.DataFrame:
    """Find the words that occur more often in samples with a label than in samples without it.

    Words are ranked by the log odds ratio of containing the word, divided by its standard error. A prior at the
    frequency of the word in all samples keeps rare words from the top, as in [1]_. The words describe the table, not a
    model.

    Parameters
    ----------
    data : Dataset
        The data.
    labels : ndarray of int of shape (n_examined,)
        Positions of the labels.

    Returns
    -------
    DataFrame
        Columns ``label, column, words``, and a row for each label and column of text with such words. ``words`` has at
        most eight words, the strongest first. Samples in which a label is unmeasured do not count for it.

    References
    ----------
    .. [1] Monroe, Colaresi & Quinn (2008). "Fightin' words: lexical feature selection and evaluation for identifying
       the content of political conflict". Political Analysis 16.

    Examples
    --------
    >>> from fairfold.datasets.typed import TypedColumns
    >>> notes = [f"{tree} {number} by the river" for tree in ("oak", "ash") for number in range(30)]
    >>> typed = TypedColumns.find({"notes": notes}, source="plants.csv")
    >>> X, Y = typed.positions({"notes": notes}), np.repeat([[1.0], [0.0]], 30, axis=0)
    >>> data = Dataset("plants", "multilabel", X, Y, ("notes",), ("tree",), typed=typed)
    >>> strongest_words(data, np.array([0]))["words"].tolist()
    ['oak']
    """
    roles = [] if data.typed is None else [role for role in data.typed.roles if role.role == "text"]
    frame = data.samples.frame() if roles else pd.DataFrame()
    rows = []
    for role in roles:
        encoder = TextEncoder()
        contains = encoder.fit_transform(frame[role.column].to_numpy()) > 0
        terms = np.array(encoder.names(), dtype=object)
        are_words = np.array([not term.startswith("'") and " " not in term for term in terms], dtype=bool)
        contains, words = contains[:, are_words].astype(np.float64), terms[are_words]
        for label in labels:
            y = to_dense(data.Y[:, [label]], data.id, DataError)[:, 0]
            with_label, without = contains.T @ (y == 1), contains.T @ (y == 0)
            strength = _log_odds_ratios(with_label, without, (y == 1).sum(), (y == 0).sum())
            strength[with_label < _LEAST_SAMPLES] = 0
            order = np.argsort(-strength, kind="stable")[:_MOST_WORDS]
            if len(found := order[strength[order] > _LEAST]):
                rows.append((data.label_names[label], role.column, ", ".join(words[found])))
    return pd.DataFrame(rows, columns=COLUMNS)


def _log_odds_ratios(with_label: np.ndarray, without: np.ndarray, n_with: int, n_without: int) -> np.ndarray:
    """Divide the log odds ratio of each word by its standard error."""
    expected = _PRIOR * (with_label + without + 1) / (n_with + n_without + 2)
    counts = [(with_label, n_with), (without, n_without)]
    odds = [(found + expected, total - found + _PRIOR - expected) for found, total in counts]
    variance = sum(1 / present + 1 / absent for present, absent in odds)
    return (np.log(odds[0][0] / odds[0][1]) - np.log(odds[1][0] / odds[1][1])) / np.sqrt(variance)
