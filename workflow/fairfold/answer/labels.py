"""Sentences on labels that are hard to predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from fairfold.core.defaults import CONFIDENCE, PRECISION
from fairfold.errors import count, shortened
from fairfold.metrics.registry import METRICS

HARDNESS = "roc_auc"
"""Score by which labels are called hard. Unlike others, it does not depend on the frequency of the label."""
_MOST = 3  # Labels that a sentence names.


def sentences_on_labels(labels: pd.DataFrame) -> Iterator[str]:
    """Name the labels without a true positive, those that are not ranked better than by guessing, and the hardest ones.

    Parameters
    ----------
    labels : DataFrame
        Columns ``dataset, model, label, n_positives, n_true_positives, roc_auc, n_models_above_chance`` of the most
        common labels of a dataset: numbers and scores of the best model. A true positive has a probability above 0.5.

    Yields
    ------
    str
        A sentence.

    Examples
    --------
    >>> rows = [("a", 30, 12, 0.8, 3), ("b", 9, 0, 0.5, 0)]
    >>> names = ["label", "n_positives", "n_true_positives", "roc_auc", "n_models_above_chance"]
    >>> table = pd.DataFrame(rows, columns=names).assign(dataset="plants", model="Stack+")
    >>> for sentence in sentences_on_labels(table):
    ...     print(sentence)
    At the threshold 0.5, Stack+ finds no positive of 1 of 2 labels: b (9 positives).
    By AUROC, no model beats guessing for 1 of 2 labels: b.
    Hardest labels for Stack+ by AUROC (0.5 by guessing, however rare a label is): b (0.50, 9 positives).
    """
    of_all, score = f"of {count(len(labels), 'label')}", METRICS[HARDNESS].name
    model = next(iter(labels["model"]), None)
    missed = labels[(labels["n_true_positives"] == 0) & (labels["n_positives"] > 0)]
    if len(missed):
        named = [f"{row.label} ({count(row.n_positives, 'positive')})" for row in missed.itertuples()]
        yield f"At the threshold 0.5, {model} finds no positive of {len(missed)} {of_all}: {shortened(named, _MOST)}."
    unlearned = labels.loc[labels["n_models_above_chance"] == 0, "label"].astype(str).tolist()
    if unlearned:
        n = f"{len(unlearned)} {of_all}"
        yield f"By {score}, no model beats guessing for {n}: {shortened(unlearned, _MOST)}."
    if max(len(missed), len(unlearned)) > _MOST:
        yield f"results/tables/labels/{labels['dataset'].iloc[0]}.csv lists them all."
    hardest = labels.dropna(subset=HARDNESS).sort_values(HARDNESS, kind="stable")
    if len(hardest):
        hardest = hardest[: min(_MOST, (len(labels) + 1) // 2)]
        named = [
            f"{row.label} ({getattr(row, HARDNESS):.2f}, {count(row.n_positives, 'positive')})"
            for row in hardest.itertuples()
        ]
        yield f"Hardest labels for {model} by {score} (0.5 by guessing, however rare a label is): {', '.join(named)}."


def sentence_on_certificates(
    certified: Sequence[str], n_examined: int, n_labels: int, n_held_out: int = 0
) -> str | None:
    r"""State which labels have a certified precision.

    Parameters
    ----------
    certified : sequence of str
        Labels with a certificate.
    n_examined, n_labels : int
        Numbers of examined labels, which are the most common ones, and of all labels.
    n_held_out : int, default=0
        Number of held-out samples that certify the final model. 0 if out-of-fold predictions are certified.

    Returns
    -------
    str or None
        Sentence, None without a label.

    Examples
    --------
    >>> print(sentence_on_certificates([], 2, 2).replace(" are right", "\nare right"))
    No label has a threshold above which at least 90 % of the positive predictions
    are right, with 95 % confidence (out-of-fold predictions).
    """
    if not n_examined:
        return None
    share = f"at least {100 * PRECISION:g} % of the positive predictions"
    by = f"the final model on {n_held_out:,} held-out samples" if n_held_out else "out-of-fold predictions"
    sure = f"are right, with {100 * CONFIDENCE:g} % confidence ({by})."
    examined = f"the {n_examined} most common labels" if n_labels > n_examined else count(n_examined, "label")
    if not certified:
        none = f"None of {examined}" if n_labels > n_examined else "No label"
        return f"{none} has a threshold above which {share} {sure}"
    labels = f"{len(certified)} of {examined} ({shortened(certified, _MOST)})"
    rest = f"`fairfold predict --precision {PRECISION:g}` decides above such thresholds only."
    return f"For {labels}, {share} above a threshold {sure} {rest}"
