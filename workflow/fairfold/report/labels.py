"""Sentences on the labels that scores refer to: complete or observed labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

_MOST_NAMED = 4


def labels_sentences(datasets: Collection[str], config: Mapping[str, Any]) -> str:
    """Describe the labels of datasets and the effect of incomplete labels on scores.

    Parameters
    ----------
    datasets : collection of str
        Datasets. Labels of catalog datasets are considered complete.
    config : mapping
        Configuration of the study, with defaults. ``labels_are`` under ``data.own`` describes the labels of the user's
        own datasets.

    Returns
    -------
    str
        One sentence for each kind of labels. Datasets with observed labels are always listed.

    Examples
    --------
    >>> config = {"data": {"own": {"mine": {"labels_are": "observed"}}}}
    >>> labels_sentences(["flags"], config)
    'The labels of flags are taken as complete.'
    """
    own = config["data"]["own"]
    observed = [dataset for dataset in datasets if dataset in own and _are_observed(own[dataset])]
    complete = [dataset for dataset in datasets if dataset not in observed]
    others = f"{'the other' if observed else 'all'} {len(complete)} datasets"
    sentences = []
    if complete:
        named = others if len(complete) > _MOST_NAMED else listed(complete)
        sentences.append(f"The labels of {named} are taken as complete.")
    if observed:
        sentences.append(
            f"The labels of {listed(observed)} are only those observed: a positive that is missing among them counts "
            "as a negative."
        )
    return " ".join(sentences)


def _are_observed(stanza: Mapping[str, Any]) -> bool:
    return stanza["labels_are"] == "observed" and stanza.get("negatives") != "confirmed"


def listed(names: Sequence[str]) -> str:
    """Join names by commas and "and".

    Parameters
    ----------
    names : sequence of str
        Names to join.

    Returns
    -------
    str
        Names in one phrase.

    Examples
    --------
    >>> listed(["flags", "scene", "yeast"])
    'flags, scene and yeast'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
