"""Sentences on labels that are hard to predict."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from fairfold.errors import count, shortened

_MOST = 3  # Labels that a sentence names.


def sentences_on_labels(labels: pd.DataFrame) -> Iterator[str]:
    """Name the labels that no model predicts better than by guessing, and the hardest ones.

    Parameters
    ----------
    labels : DataFrame
        Columns ``label, mcc, n_models_above_chance`` of the most common labels: scores by the best model.

    Yields
    ------
    str
        A sentence.

    Examples
    --------
    >>> labels = pd.DataFrame({"label": ["a", "b"], "mcc": [0.5, 0.0], "n_models_above_chance": [3, 0]})
    >>> [*sentences_on_labels(labels)]
    ['No model predicts 1 of 2 labels better than by guessing: b.', 'Hardest label: b (MCC 0.00).']
    """
    if len(unlearned := labels.loc[labels["n_models_above_chance"] == 0, "label"].astype(str).tolist()):
        n = f"{len(unlearned)} of {count(len(labels), 'label')}"
        yield f"No model predicts {n} better than by guessing: {shortened(unlearned, _MOST)}."
    if len(hardest := labels.dropna(subset="mcc").sort_values("mcc", kind="stable")):
        hardest = hardest[: min(_MOST, (len(labels) + 1) // 2)]
        named = [f"{label} (MCC {mcc:z.2f})" for label, mcc in zip(hardest["label"], hardest["mcc"], strict=True)]
        yield f"Hardest label{'s' if len(named) > 1 else ''}: {', '.join(named)}."
