"""Which labels scores are against: complete ones, or those that were observed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

_MOST_NAMED = 4


def labels_sentences(datasets: Collection[str], config: Mapping[str, Any]) -> str:
    """What the labels of datasets are, and what that does to scores where they are not complete.

    Parameters
    ----------
    datasets : ids. Those of the catalog are taken as complete, as they were published.
    config : the study's configuration, with defaults; ``labels_are`` of ``data.own`` tells of the user's own.

    Returns
    -------
    str
        A sentence for each kind that there is. Datasets whose labels are only observed are always named.
    """
    own = config["data"]["own"]
    observed = [dataset for dataset in datasets if dataset in own and _are_observed(own[dataset])]
    complete = [dataset for dataset in datasets if dataset not in observed]
    others = f"{'the other' if observed else 'all'} {len(complete)} datasets"
    sentences = []
    if complete:
        named = others if len(complete) > _MOST_NAMED else _listed(complete)
        sentences.append(f"The labels of {named} are taken as complete.")
    if observed:
        sentences.append(
            f"The labels of {_listed(observed)} are only those observed: a positive that is missing among them counts "
            "as a negative."
        )
    return " ".join(sentences)


def _are_observed(stanza: Mapping[str, Any]) -> bool:
    return stanza["labels_are"] == "observed" and stanza.get("negatives") != "confirmed"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
