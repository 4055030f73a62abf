"""Reproduce the examples of MATLAB's page of ``kfoldPredict`` for ``ClassificationPartitionedECOC``, and compare codes.

The examples are linear support vector machines on iris, the same with a custom loss, Gaussian support vector machines
on the petals with posterior probabilities, and boosted trees on arrhythmia with a sparse random code.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

from fairfold.core.files import concat_tables, write_table
from fairfold.core.memory import key_of, reused
from fairfold.core.provenance import code_of_modules
from fairfold.core.seeds import seed_for
from fairfold.datasets.dataset import Dataset
from fairfold.ecoc.classifier import ECOCClassifier
from fairfold.ecoc.coding import DESIGNS, make_coding
from fairfold.ecoc.learners import PlattScaling, make_learner
from fairfold.ecoc.partitioned import FoldPredictions, PartitionedECOC
from fairfold.papers.planes import grid_around

_MARGIN = 0.1  # margin around the samples on a map, as a share of their range


def median_loss(coding: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Compute the custom loss of the page: the median over learners of (1 - m s) / 2.

    Parameters
    ----------
    coding : ndarray of shape (n_classes, n_learners)
        Coding matrix with entries m.
    scores : ndarray of shape (n_learners,)
        Positive-class scores s of one sample. Learners with a NaN score are ignored.

    Returns
    -------
    ndarray of shape (n_classes,)
        Loss of each class.

    Examples
    --------
    >>> coding = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    >>> median_loss(coding, np.array([0.8, 0.6, -0.2]))
    array([0.2, 0.6, 0.5])
    """
    return np.nanmedian(1 - coding * scores, axis=1) / 2


class Example(NamedTuple):
    """One example of the page.

    Attributes
    ----------
    features : tuple of int or None
        Columns of the dataset. None means all columns.
    learner : estimator
        Binary learner.
    coding : str, default="onevsone"
        Name of the coding design.
    fit_posterior : bool, default=False
        Whether to fit posterior probabilities.
    predict : mapping of str to object, default={}
        Parameters of the prediction.
    """

    features: tuple[int, ...] | None
    learner: ClassifierMixin
    coding: str = "onevsone"
    fit_posterior: bool = False
    predict: Mapping[str, Any] = {}


EXAMPLES: Mapping[str, Example] = {
    "linear": Example(None, make_learner("svm", standardize=True)),
    "custom-loss": Example(None, make_learner("svm", standardize=True), predict={"binary_loss": median_loss}),
    "posterior": Example(
        (2, 3),
        PlattScaling(make_learner("svm", standardize=True, kernel="rbf", gamma=1.0), n_splits=10, separable="step"),
        fit_posterior=True,
        predict={"num_kl_initializations": 10, "update": "page"},
    ),
    "arrhythmia": Example(
        None,
        PlattScaling(make_learner("gentleboost", n_estimators=50), n_splits=3),
        coding="sparserandom",
        fit_posterior=True,
    ),
}

VALUES = ["quantity", "true", "predicted", "candidate", "n", "mean", "sd", "low", "high"]
REAL_LOSSES = ("hinge", "linear", "logit", "exponential", "binodeviance", "hamming")  # losses for unbounded scores
DECODINGS = ("lossweighted", "lossbased")


class Predicted(NamedTuple):
    """Results of :func:`predict_example`.

    Attributes
    ----------
    predictions : DataFrame
        Columns ``row, fold, class, predicted``.
    posteriors : DataFrame
        Columns ``row, class, candidate, posterior``, with one row per sample and class. Empty without posteriors.
    values : DataFrame
        Table of :func:`values_by_class`.
    model : PartitionedECOC
        Fitted model.
    """

    predictions: pd.DataFrame
    posteriors: pd.DataFrame
    values: pd.DataFrame
    model: PartitionedECOC


def predict_example(
    example: Example, X: np.ndarray, y: np.ndarray, *, n_splits: int = 10, seed: int = 0, n_jobs: int = 1
) -> Predicted:
    """Compute the cross-validated predictions of an example.

    Parameters
    ----------
    example : Example
        Value of ``EXAMPLES``.
    X : ndarray of shape (n_samples, n_features)
        Features that the example uses.
    y : ndarray of shape (n_samples,)
        Class names.
    n_splits : int, default=10
        Number of folds.
    seed : int, default=0
        Seed of folds, codes, learners and starting points.
    n_jobs : int, default=1
        Number of processes.

    Returns
    -------
    Predicted
        Predictions, posteriors, their values by class, and the fitted model.
    """
    # Draw the design once. With a different design per fold, the learners' scores would have no common columns.
    coding = make_coding(example.coding, len(np.unique(y)), random_state=seed_for(seed, "coding"))
    estimator = ECOCClassifier(example.learner, coding=coding, fit_posterior=example.fit_posterior)
    model = PartitionedECOC(estimator, n_splits, random_state=seed, n_jobs=n_jobs).fit(X, y)
    with warnings.catch_warnings():
        # MATLAB's iteration also stops before its minimum; see fairfold.ecoc.posterior.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = model.kfold_predict(**example.predict)
    rows = np.arange(len(y))
    predictions = pd.DataFrame({"row": rows, "fold": model.fold_of_, "class": y, "predicted": found.labels})
    values = values_by_class(found, y, model.classes_)
    columns = ["row", "class", "candidate", "posterior"]
    if found.posterior is None:
        return Predicted(predictions, pd.DataFrame(columns=columns), values, model)
    wide = {"row": rows, "class": y, **dict(zip(model.classes_, found.posterior.T, strict=True))}
    posteriors = pd.DataFrame(wide).melt(columns[:2], var_name=columns[2], value_name=columns[3])
    return Predicted(predictions, posteriors, values, model)


def random_rows(predictions: pd.DataFrame, *, n_rows: int = 10, seed: int = 0) -> pd.DataFrame:
    """Draw random rows of the predictions, as on the page, in the order of the data.

    Parameters
    ----------
    predictions : DataFrame
        Predictions of an example.
    n_rows : int, default=10
        Number of rows.
    seed : int, default=0
        Seed of the study.

    Returns
    -------
    DataFrame
        The drawn rows.

    Examples
    --------
    >>> random_rows(pd.DataFrame({"row": range(5)}), n_rows=2).shape
    (2, 1)
    """
    drawn = np.random.default_rng(seed_for(seed, "random rows")).permutation(len(predictions))[:n_rows]
    return predictions.iloc[np.sort(drawn)]


def values_by_class(found: FoldPredictions, y: np.ndarray, classes: Sequence[object]) -> pd.DataFrame:
    """Summarize negated losses and posteriors of the samples with the same true and predicted class.

    The page prints rows from other folds and random numbers, so only samples of such classes are comparable.

    Parameters
    ----------
    found : FoldPredictions
        Output of :meth:`PartitionedECOC.kfold_predict`.
    y : ndarray of shape (n_samples,)
        Classes.
    classes : sequence of object
        Classes in the order of the columns of losses and posteriors.

    Returns
    -------
    DataFrame
        One row per quantity, pair of true and predicted class with samples, and candidate class. The columns are
        ``quantity, true, predicted, candidate, n, mean, sd, low, high``. ``quantity`` is ``neg_loss`` or ``posterior``;
        ``sd`` is NaN for a single sample.
    """
    quantities = {"neg_loss": found.neg_loss, "posterior": found.posterior}
    keys = {"true": y, "predicted": np.asarray(found.labels)}
    tables = []
    for quantity, values in quantities.items():
        if values is not None:
            wide = pd.DataFrame(values, columns=list(classes)).assign(**keys)
            tables.append(wide.melt(list(keys), var_name="candidate").assign(quantity=quantity))
    groups = pd.concat(tables).groupby(VALUES[:4], sort=False)["value"]
    return groups.agg(n="count", mean="mean", sd="std", low="min", high="max").reset_index()


def summarize_example(predictions: pd.DataFrame, posteriors: pd.DataFrame, *, name: str) -> pd.DataFrame:
    """Compute the error of an example, and its log-loss if it has posteriors.

    Parameters
    ----------
    predictions : DataFrame
        Columns ``class, predicted``.
    posteriors : DataFrame
        Columns ``row, candidate, posterior``. May be empty.
    name : str
        Name of the example.

    Returns
    -------
    DataFrame
        One row with the columns ``example, n_samples, error, log_loss``.

    Examples
    --------
    >>> predictions = pd.DataFrame({"class": ["a", "b", "b", "a"], "predicted": ["a", "b", "a", "a"]})
    >>> summarize_example(predictions, pd.DataFrame(), name="linear")
      example  n_samples  error  log_loss
    0  linear          4   0.25       NaN
    """
    loss = np.nan
    if len(posteriors):
        wide = posteriors.pivot(index="row", columns="candidate", values="posterior")
        loss = log_loss(predictions["class"], wide.to_numpy(), labels=list(wide.columns))
    error = (predictions["class"] != predictions["predicted"]).mean()
    return pd.DataFrame([{"example": name, "n_samples": len(predictions), "error": error, "log_loss": loss}])


def posterior_map(
    model: PartitionedECOC, X: np.ndarray, names: Sequence[str], *, n_points: int = 80, **options: object
) -> pd.DataFrame:
    """Compute posterior probabilities over the plane of two features, averaged over the models of all folds.

    Parameters
    ----------
    model : PartitionedECOC
        Model that was fitted to ``X`` with posteriors.
    X : ndarray of shape (n_samples, 2)
        Two features.
    names : sequence of str
        Names of the two features.
    n_points : int, default=80
        Number of grid points on each side.
    **options : dict
        Parameters of :meth:`~fairfold.ecoc.ECOCClassifier.posteriors`.

    Returns
    -------
    DataFrame
        Columns ``feature_1, feature_2, x, y, class, posterior``.
    """
    grid = grid_around(X, _MARGIN, n_points)
    posterior = np.mean([each.posteriors(each.binary_scores(grid), **options) for each in model.models_], axis=0)
    wide = pd.DataFrame(posterior, columns=model.classes_).assign(x=grid[:, 0], y=grid[:, 1])
    table = wide.melt(["x", "y"], var_name="class", value_name="posterior")
    return table.assign(feature_1=names[0], feature_2=names[1])


def compare_codes(
    X: np.ndarray,
    y: np.ndarray,
    *,
    designs: Sequence[str] = DESIGNS,
    n_splits: int = 10,
    seed: int = 0,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Compare coding designs, binary losses and decodings with scikit-learn's classifiers on the same folds.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Classes.
    designs : sequence of str, default=DESIGNS
        Names of coding designs.
    n_splits : int, default=10
        Number of folds.
    seed : int, default=0
        Seed of all random steps.
    n_jobs : int, default=1
        Number of processes.

    Returns
    -------
    DataFrame
        Columns ``coding, binary_loss, decoding, error, log_loss``. ``log_loss`` depends on the design only, because
        posteriors do not use a binary loss. Rows without a binary loss are ``OneVsOneClassifier``,
        ``OneVsRestClassifier`` and ``OutputCodeClassifier``, which give no probabilities with this learner.
    """
    learner = make_learner("svm", standardize=True)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed_for(seed, "folds"))
    rows = [row for design in designs for row in _rows_of(design, learner, X, y, folds, seed, n_jobs)]
    peers = {
        "OneVsOneClassifier": OneVsOneClassifier(clone(learner)),
        "OneVsRestClassifier": OneVsRestClassifier(clone(learner)),
        "OutputCodeClassifier": OutputCodeClassifier(clone(learner), code_size=2, random_state=seed_for(seed, "peer")),
    }
    for name, peer in peers.items():
        error = (cross_val_predict(peer, X, y, cv=folds) != y).mean()
        rows.append({"coding": name, "binary_loss": None, "decoding": None, "error": error, "log_loss": np.nan})
    return pd.DataFrame(rows)


def _rows_of(
    design: str, learner: ClassifierMixin, X: np.ndarray, y: np.ndarray, folds: StratifiedKFold, seed: int, n_jobs: int
) -> Iterator[dict[str, object]]:
    """Yield the error of each loss and decoding of one design, with the log-loss of its posteriors."""
    options = {"cv": folds, "random_state": seed_for(seed, design), "n_jobs": n_jobs}
    scored, probable = (
        PartitionedECOC(ECOCClassifier(learner, coding=design, fit_posterior=with_posterior), **options).fit(X, y)
        for with_posterior in (False, True)
    )
    posterior = probable.kfold_predict().posterior
    loss = log_loss(y, posterior, labels=probable.classes_)
    for binary_loss, decoding in product(REAL_LOSSES, DECODINGS):
        error = scored.kfold_loss(binary_loss=binary_loss, decoding=decoding)
        yield {"coding": design, "binary_loss": binary_loss, "decoding": decoding, "error": error, "log_loss": loss}


def compare_on_datasets(datasets: Sequence[str], made: Mapping[str, Any], *, n_jobs: int = 1, **options: Any) -> None:
    """Compare codes, binary losses and decodings on datasets. Tables of an earlier run are reused.

    Parameters
    ----------
    datasets : sequence of str
        Files of the datasets.
    made : mapping of str to str or sequence of str
        Files to write: a table for each dataset in ``by_dataset``, and all of them in ``comparison``.
    n_jobs : int, default=1
        Number of threads.
    **options : object
        Parameters of :func:`compare_codes`.
    """
    for path, table in zip(datasets, made["by_dataset"], strict=True):
        key = key_of(Path(path).read_bytes(), options, code_of_modules(__name__))
        write_table(reused(key, _compare_on, path, **options, n_jobs=n_jobs), table)
    if datasets:
        write_table(concat_tables(made["by_dataset"]), made["comparison"])


def _compare_on(dataset: str, **options: Any) -> pd.DataFrame:
    data = Dataset.load(dataset)
    table = compare_codes(data.X, np.array(data.label_names)[data.Y], **options)
    table.insert(0, "dataset", data.id)
    return table


def tables_of_example(name: str, dataset: str, *, n_splits: int, seed: int, n_jobs: int = 1) -> dict[str, pd.DataFrame]:
    """Compute cross-validated predictions of an example, and describe them.

    Parameters
    ----------
    name : str
        Name of the example, one of ``EXAMPLES``.
    dataset : str
        File of its dataset.
    n_splits : int
        Number of folds.
    seed : int
        Seed of the study.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    dict of str to DataFrame
        Tables ``predictions, posteriors, values, rows, summary, classes, map, samples``. The last two are empty for an
        example with more than two features.
    """
    data, example = Dataset.load(dataset), EXAMPLES[name]
    X, y = data.X if example.features is None else data.X[:, example.features], np.array(data.label_names)[data.Y]
    found = predict_example(example, X, y, n_splits=n_splits, seed=seed, n_jobs=n_jobs)
    predictions, posteriors = found.predictions, found.posteriors
    maps = pd.DataFrame(columns=["x", "y", "class", "posterior", "feature_1", "feature_2"])
    samples = pd.DataFrame(columns=["x", "y", "class"])
    if example.features is not None:
        names = [data.feature_names[column] for column in example.features]
        maps = posterior_map(found.model, X, names, **example.predict)
        samples = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": y})
    return {
        "predictions": predictions,
        "posteriors": posteriors,
        "values": found.values.assign(example=name),
        "rows": random_rows(predictions, seed=seed),
        "summary": summarize_example(predictions, posteriors, name=name),
        "classes": predictions["class"].value_counts().reindex(data.label_names).reset_index(),
        "map": maps,
        "samples": samples,
    }


def predict_examples(
    datasets: Mapping[str, str], made: Mapping[str, Any], *, n_splits: int, seed: int, n_jobs: int = 1
) -> None:
    """Compute the tables of examples. Those of an earlier run with the same settings are reused.

    Parameters
    ----------
    datasets : mapping of str to str
        File of the dataset of each example.
    made : mapping of str to str or sequence of str
        Files to write: a file per example for each table of :func:`tables_of_example`, and all summaries in
        ``examples``.
    n_splits : int
        Number of folds.
    seed : int
        Seed of the study.
    n_jobs : int, default=1
        Number of threads.
    """
    for number, (name, path) in enumerate(datasets.items()):
        key = key_of(name, Path(path).read_bytes(), seed, n_splits, code_of_modules(__name__))
        tables = reused(key, tables_of_example, name, path, n_splits=n_splits, seed=seed, n_jobs=n_jobs)
        for kind, table in tables.items():
            write_table(table, made[kind][number])
    if datasets:
        write_table(concat_tables(made["summary"]), made["examples"])
