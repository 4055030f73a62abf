"""Cross-validated predictions of the study: the documentation page's examples, and a comparison of codes.

The page is that of MATLAB's ``kfoldPredict`` for ``ClassificationPartitionedECOC``. Its examples are linear support
vector machines on iris; the same with a loss of one's own; Gaussian ones on the petals, with posterior probabilities;
and boosted trees on arrhythmia with a sparse random code.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

from fairfold.core.seeds import seed_for
from fairfold.ecoc.classifier import ECOCClassifier
from fairfold.ecoc.coding import DESIGNS, make_coding
from fairfold.ecoc.learners import PlattScaling, make_learner
from fairfold.ecoc.partitioned import FoldPredictions, PartitionedECOC

_MARGIN = 0.1  # of the range of the samples, around them on a map


def median_loss(coding: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The page's custom loss: the median over learners of (1 - m s) / 2, learners without a score left out.

    Parameters
    ----------
    coding : ndarray, shape (n_classes, n_learners)
    scores : ndarray, shape (n_learners,); positive-class scores of one sample.
    """
    return np.nanmedian(1 - coding * scores, axis=1) / 2


class Example(NamedTuple):
    """One example of the page; ``features`` None stands for all of the dataset's."""

    features: tuple[int, ...] | None
    learner: ClassifierMixin
    coding: str = "onevsone"
    fit_posterior: bool = False
    predict: Mapping[str, object] = {}


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
        None, make_learner("gentleboost", n_estimators=50), coding="sparserandom", fit_posterior=True
    ),
}

VALUES = ["quantity", "true", "predicted", "candidate", "n", "mean", "sd", "low", "high"]
REAL_LOSSES = ("hinge", "linear", "logit", "exponential", "binodeviance", "hamming")  # for scores without bounds
DECODINGS = ("lossweighted", "lossbased")


class Predicted(NamedTuple):
    """What :func:`predict_example` gives."""

    predictions: pd.DataFrame
    posteriors: pd.DataFrame
    values: pd.DataFrame
    model: PartitionedECOC


def predict_example(
    example: Example, X: np.ndarray, y: np.ndarray, *, n_splits: int = 10, seed: int = 0, n_jobs: int = 1
) -> Predicted:
    """Cross-validated predictions of an example.

    Parameters
    ----------
    example : one of ``EXAMPLES``.
    X : ndarray, shape (n_samples, n_features); the features that the example uses.
    y : ndarray, shape (n_samples,); names of the classes.
    n_splits : folds.
    seed : of folds, codes, learners and starts.
    n_jobs : processes that share the folds.

    Returns
    -------
    predictions : DataFrame with the columns ``row, fold, class, predicted``
    posteriors : DataFrame with the columns ``row, class, candidate, posterior``
        A row for each sample and class; none for an example without posteriors.
    values : DataFrame of means, standard deviations and ranges of losses and posteriors, by true and predicted class
    model : PartitionedECOC, fitted.
    """
    # Drawn once: with a design of its own in each fold the learners' scores would have no common columns.
    coding = make_coding(example.coding, len(np.unique(y)), random_state=seed_for(seed, "coding"))
    estimator = ECOCClassifier(example.learner, coding=coding, fit_posterior=example.fit_posterior)
    model = PartitionedECOC(estimator, n_splits, random_state=seed, n_jobs=n_jobs).fit(X, y)
    with warnings.catch_warnings():
        # The page's iteration stops before its minimum too; see the head of fairfold.ecoc.posterior.
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
    """Some rows of the predictions, as the page shows them, in the order of the data."""
    drawn = np.random.default_rng(seed_for(seed, "random rows")).permutation(len(predictions))[:n_rows]
    return predictions.iloc[np.sort(drawn)]


def values_by_class(found: FoldPredictions, y: np.ndarray, classes: Sequence[object]) -> pd.DataFrame:
    """Negated losses and posteriors of the samples that have the same true and predicted class.

    The page prints rows of its own folds and random numbers, which ours can meet in such classes only.

    Parameters
    ----------
    found : what :meth:`PartitionedECOC.kfold_predict` gives.
    y : (n_samples,) classes.
    classes : in the order of the columns of losses and posteriors.

    Returns
    -------
    DataFrame with the columns ``quantity, true, predicted, candidate, n, mean, sd, low, high``
        ``quantity`` is ``neg_loss``, or ``posterior`` where there are any; ``candidate`` is the class that it is of. A
        row for each pair of a true and a predicted class that a sample has; ``sd`` is NaN for a single one.
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


def summarise_example(predictions: pd.DataFrame, posteriors: pd.DataFrame, *, name: str) -> pd.DataFrame:
    """Error of an example, and log-loss where it has posteriors: columns ``example, n_samples, error, log_loss``."""
    loss = np.nan
    if len(posteriors):
        wide = posteriors.pivot(index="row", columns="candidate", values="posterior")
        loss = log_loss(predictions["class"], wide.to_numpy(), labels=list(wide.columns))
    error = (predictions["class"] != predictions["predicted"]).mean()
    return pd.DataFrame([{"example": name, "n_samples": len(predictions), "error": error, "log_loss": loss}])


def posterior_map(
    model: PartitionedECOC, X: np.ndarray, names: Sequence[str], *, n_points: int = 80, **options: object
) -> pd.DataFrame:
    """Posterior probabilities over the plane of two features, the mean over the models of all folds.

    Parameters
    ----------
    model : fitted to ``X`` with posteriors.
    X : ndarray, shape (n_samples, 2)
    names : of the two features.
    n_points : grid points on each side.
    **options : of :meth:`~fairfold.ecoc.ECOCClassifier.posteriors`.

    Returns
    -------
    DataFrame with the columns ``feature_1, feature_2, x, y, class, posterior``
    """
    low, high = X.min(axis=0), X.max(axis=0)
    margin = _MARGIN * (high - low)
    sides = np.linspace(low - margin, high + margin, n_points)
    grid = np.stack(np.meshgrid(*sides.T), axis=-1).reshape(-1, 2)
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
    """Error and log-loss of designs, binary losses and decodings, and of scikit-learn's classifiers on the same folds.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
    designs : names of designs.
    n_splits : folds.
    seed : of everything random.
    n_jobs : processes.

    Returns
    -------
    DataFrame with the columns ``coding, binary_loss, decoding, error, log_loss``
        ``log_loss`` depends on the design only, as posteriors do not use a binary loss. Rows without a loss are
        ``OneVsOneClassifier``, ``OneVsRestClassifier`` and ``OutputCodeClassifier``; these give no probabilities for
        this learner.
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
    """Error of each loss and decoding of one design, and the log-loss of its posteriors."""
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
