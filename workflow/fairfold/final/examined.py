"""Examination of the labels of a dataset with out-of-fold predictions of the final model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix, most_common_labels, to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.errors import DataError
from fairfold.evaluation.certified import N_HELD_OUT, certified_table, curve_table
from fairfold.features.encoder import TableEncoder
from fairfold.final.expected_score import with_design_effect
from fairfold.final.explanation import NO_EXAMPLE
from fairfold.final.importance import feature_groups, permutation_losses, summarize_losses
from fairfold.final.labels import examined_labels, label_scores, likely_label_errors, precision_at
from fairfold.final.model import FinalModel
from fairfold.final.out_of_fold import posteriors_of_dataset
from fairfold.final.words import strongest_words
from fairfold.recommendation.predictions import MOST_LABELS
from fairfold.weak_labels.masking import mask_labels

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

_N_COMPONENTS = 20  # of a text, to find similar samples


def examine_labels(
    data: Dataset,
    name: str,
    settings: Mapping[str, Any],
    fold_of: np.ndarray,
    *,
    seed: int,
    hidden: int,
    checked: Matrix | None = None,
    explain: Callable[[ClassifierMixin, np.ndarray], pd.DataFrame] | None = None,
    key: str | None = None,
    n_jobs: int = 1,
) -> dict[str, pd.DataFrame]:
    """Score each label, list likely label errors with the precision of that list, and measure what the model uses.

    Parameters
    ----------
    data : Dataset
        The data.
    name : str
        Name of the final model.
    settings : mapping of str to object
        Parameters of :func:`~fairfold.models.make_model`.
    fold_of : ndarray of shape (n_samples,)
        Test fold of each sample.
    seed : int
        Seed of the study.
    hidden : int
        Percentage of positives that are hidden to measure the precision of the list of label errors.
    checked : {ndarray, sparse matrix} of shape (n_samples, n_labels) or None, default=None
        Labels with those that a person has checked, by which decisions are certified. None uses those of the data.
    explain : callable or None, default=None
        Function that explains a prediction of the model of the first fold for its test samples.
    key : str or None, default=None
        Checksum of all input and code, by which an interrupted job finds its trainings in the cache.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    dict of str to DataFrame
        Tables ``scores, label_errors, precision, importance, words, certificates, example``.
    """
    labels, feature_sets = examined_labels(data.Y), feature_groups(data)
    names = [data.label_names[label] for label in labels]

    def look(fold: int, model: ClassifierMixin, test: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
        of_fold = seed_for(seed, "labels", data.id, "permutations", fold)
        arguments = model, data.X[test], data.Y[test], feature_sets
        losses = permutation_losses(*arguments, seed=of_fold, as_samples=data.as_samples)
        return losses.assign(fold=fold), NO_EXAMPLE if fold or explain is None else explain(model, test)

    known: dict[str, Any] = {"seed": seed, "labels": labels, "n_jobs": n_jobs, "key": key}
    left_out = partial(posteriors_of_dataset, data, name, settings, fold_of=fold_of, **known)
    (P, looks), Y = left_out(Y=data.Y, look=look), data.Y[:, labels]
    losses, examples = zip(*looks, strict=True)
    resampled, drawn = (seed_for(seed, "labels", data.id, purpose) for purpose in ("resampling", "hidden"))
    rules: dict[str, Any] = {"negatives": data.negatives, "hierarchy": data.hierarchy}
    observed = mask_labels(data.Y, hidden / 100, **rules, random_state=drawn)
    of_hidden, _ = left_out(Y=observed, purpose=f", {hidden} % of positives hidden")
    precision = precision_at(Y, observed[:, labels], of_hidden)
    weights: dict[str, Any] = {"groups": data.groups, "sample_weight": data.weights}
    by_sample: dict[str, Any] = {"groups": data.groups, "negatives": data.negatives}
    certain = to_dense((data.Y if checked is None else checked)[:, labels], "Y", DataError)
    curves = curve_table(certain, P, names, weights=data.weights, **by_sample)
    tables = {
        "certificates": with_design_effect(curves, certain, P, data.groups, data.weights),
        "scores": label_scores(Y, P, names, seed=resampled, **weights),
        "label_errors": likely_label_errors(_numbers_of(data), Y, P, names, data.sample_names, **by_sample),
        "precision": precision.assign(hidden_rate=hidden),
        "importance": summarize_losses(pd.concat(losses), feature_sets),
        "words": strongest_words(data, labels),
        "example": examples[0],
    }
    return {
        kind: table.assign(dataset=data.id, model=name)[["dataset", "model", *table]] for kind, table in tables.items()
    }


def certify_held_out(final: FinalModel, held: Dataset, labels: np.ndarray) -> dict[str, pd.DataFrame]:
    """Certify decisions of a final model by samples that it was not fitted to.

    Parameters
    ----------
    final : FinalModel
        The model.
    held : Dataset
        The samples.
    labels : ndarray of int of shape (n_chosen,)
        Labels to certify.

    Returns
    -------
    dict of str to DataFrame
        ``certificates``, as of :func:`examine_labels`, and ``certified``, see
        :func:`~fairfold.evaluation.certified.certified_table`, for the most common labels. Both have a column of the
        number of samples.
    """
    names, n_samples = [held.label_names[label] for label in labels], held.shape[0]
    P = to_dense(final.model.predict_proba(held.samples)[:, labels], "probabilities", DataError)
    Y = to_dense(held.Y[:, labels], "Y", DataError)
    how: dict[str, Any] = {"negatives": held.negatives, "groups": held.groups, "weights": held.weights}
    curves = curve_table(Y, P, names, **how)
    shown = [held.label_names[label] for label in most_common_labels(held.Y, MOST_LABELS)]
    found = certified_table(curves[curves["label"].isin(shown)], n_samples)
    first = {"dataset": held.id, "model": final.name}
    tables = {"certificates": with_design_effect(curves, Y, P, held.groups, held.weights), "certified": found}
    return {kind: pd.DataFrame({**first, **table, N_HELD_OUT: n_samples}) for kind, table in tables.items()}


def _numbers_of(data: Dataset) -> Matrix:
    """Return features in which similar samples are near each other: a few components of each text."""
    if data.features is None:
        return data.X
    return TableEncoder(**data.features, text="dense", n_components=_N_COMPONENTS).fit_transform(data.samples.frame())
