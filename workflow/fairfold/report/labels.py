"""Sentences on the labels that scores refer to, by their declared state."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from fairfold.errors import listed

if TYPE_CHECKING:
    from fairfold.settings import Study

_MOST_NAMED = 4
_STATES = {
    "complete": "The labels of {} are declared complete.",
    "incomplete": "The labels of {} are declared incomplete: some zeros are missing positives.",
    "unknown": "The labels of {} are taken as they are: nothing is declared about missing positives.",
}


def labels_sentences(datasets: Collection[str], study: Study) -> str:
    """Describe the declared state of the labels of datasets, and what it means for scores.

    Parameters
    ----------
    datasets : collection of str
        Datasets.
    study : Study
        Checked configuration.

    Returns
    -------
    str
        One sentence for each state.

    Examples
    --------
    >>> from fairfold.settings import Study
    >>> mine = {"path": "mine.csv", "labels": {"last": 1}, "labels_are": "complete"}
    >>> study = Study(seed=1, data={"own": {"mine": mine}}, weak_labels={"datasets": ["mine"]})
    >>> labels_sentences(["mine"], study)
    'The labels of mine are declared complete.'
    """
    left, sentences = list(datasets), list[str]()
    for state, sentence in _STATES.items():
        names = [dataset for dataset in left if state_of(dataset, study) == state]
        left = [dataset for dataset in left if dataset not in names]
        if names:
            others = f"{'the other' if sentences else 'all'} {len(names)} datasets"
            sentences.append(sentence.format(listed(names) if left or len(names) <= _MOST_NAMED else others))
    return " ".join(sentences)


def state_of(dataset: str, study: Study) -> str:
    """Return the declared state of the labels of a dataset.

    Parameters
    ----------
    dataset : str
        Dataset.
    study : Study
        Checked configuration.

    Returns
    -------
    str
        ``"complete"``, ``"unknown"`` or ``"incomplete"``.

    Examples
    --------
    >>> from fairfold.settings import Study
    >>> mine = {"path": "mine.csv", "labels": {"last": 1}, "missing_rate": 0.3}
    >>> study = Study(seed=1, data={"own": {"mine": mine}}, weak_labels={"datasets": ["mine"]})
    >>> state_of("mine", study), state_of("flags", study)
    ('incomplete', 'unknown')
    """
    declared = study.data.own.get(dataset, study.data)
    return "incomplete" if getattr(declared, "missing_rate", None) is not None else declared.labels_are
