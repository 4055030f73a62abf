"""Sentences on the labels that scores refer to, by their declared state."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fairfold.errors import listed

_MOST_NAMED = 4
_STATES = {
    "complete": "The labels of {} are declared complete.",
    "incomplete": "The labels of {} are declared incomplete: some zeros are missing positives.",
    "unknown": "The labels of {} are taken as they are: nothing is declared about missing positives.",
}


def labels_sentences(datasets: Collection[str], config: Mapping[str, Any]) -> str:
    """Describe the declared state of the labels of datasets, and what it means for scores.

    Parameters
    ----------
    datasets : collection of str
        Datasets.
    config : mapping
        Configuration of the study, with defaults.

    Returns
    -------
    str
        One sentence for each state.

    Examples
    --------
    >>> config = {"data": {"labels_are": "unknown", "own": {"mine": {"labels_are": "complete"}}}}
    >>> labels_sentences(["mine"], config)
    'The labels of mine are declared complete.'
    """
    left, sentences = list(datasets), list[str]()
    for state, sentence in _STATES.items():
        names = [dataset for dataset in left if state_of(dataset, config) == state]
        left = [dataset for dataset in left if dataset not in names]
        if names:
            others = f"{'the other' if sentences else 'all'} {len(names)} datasets"
            sentences.append(sentence.format(listed(names) if left or len(names) <= _MOST_NAMED else others))
    return " ".join(sentences)


def state_of(dataset: str, config: Mapping[str, Any]) -> str:
    """Return the declared state of the labels of a dataset.

    Parameters
    ----------
    dataset : str
        Dataset.
    config : mapping
        Configuration of the study, with defaults.

    Returns
    -------
    str
        ``"complete"``, ``"unknown"`` or ``"incomplete"``.

    Examples
    --------
    >>> config = {"data": {"labels_are": "unknown", "own": {"mine": {"labels_are": "unknown", "missing_rate": 0.3}}}}
    >>> state_of("mine", config), state_of("flags", config)
    ('incomplete', 'unknown')
    """
    declared = config["data"]["own"].get(dataset, config["data"])
    return "incomplete" if declared.get("missing_rate") is not None else declared["labels_are"]
