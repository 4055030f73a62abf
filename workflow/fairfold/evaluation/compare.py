"""Compare models by their out-of-fold predictions. :mod:`fairfold.evaluation.intervals` states the method."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.defaults import SCORE, THRESHOLD
from fairfold.core.folds import BEFORE, parts_of
from fairfold.core.groups import numbered
from fairfold.core.validation import check_label_matrix, check_same_columns, check_weights, with_nan
from fairfold.errors import DataError, check_name
from fairfold.evaluation.corrected_t import ROPE
from fairfold.evaluation.influence import FoldScores, fold_scores
from fairfold.evaluation.intervals import STABLE, Joint, compare_with
from fairfold.metrics.registry import METRICS

BEST, WORSE, EQUIVALENT, UNDECIDED = "best", "worse", "equivalent", "not different"
GUESSING = "guessing"
"""Name and verdict of the last row of a leaderboard: a model that knows label frequencies only."""


def compare_models(
    Y: Matrix,
    predictions: Mapping[str, Any],
    fold_of: ArrayLike,
    *,
    metric: str = SCORE,
    groups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    label_frequency: Any = None,
    rope: float = ROPE,
    confidence: float = 0.95,
    threshold: float = THRESHOLD,
    inverse_propensity: np.ndarray | None = None,
    stable: Collection[str] = (),
) -> pd.DataFrame:
    """Compare the cross-validated scores of models with the best one.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1. NaN marks an unmeasured label.
    predictions : mapping of str to {array-like, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probabilities of each model, or one such matrix for each repeat of the cross-validation, as an
        array of shape (n_repeats, n_samples, n_labels) or a list.
    fold_of : array-like of int of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample, or -1 for a sample that is never tested.
    metric : str, default="average_precision"
        Name of a metric in ``fairfold.metrics.registry.METRICS``.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample. Samples in a group are not independent.
    weights : array-like of shape (n_samples,) or None, default=None
        Positive weight of each sample.
    label_frequency : float, array-like, estimate or None, default=None
        Share of positives that is observed, by which scores are corrected: one number, one for each label or one for
        each cell. An object with the attributes ``estimate``, ``low`` and ``high`` (95 % interval) adds its
        uncertainty. None scores the labels as they are.
    rope : float, default=0.01
        Differences up to this value do not matter in practice, in units of the metric.
    confidence : float, default=0.95
        Probability that the intervals of all models hold.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    inverse_propensity : ndarray of shape (n_labels,) or None, default=None
        Inverse propensities for propensity-scored precision.
    stable : collection of str, default=()
        Models whose predictions depend smoothly on the training samples, such as logistic regression with a penalty.
        Less variance is added for their training, so intervals are narrower. Do not name trees, forests, boosting or
        nearest neighbors.

    Returns
    -------
    DataFrame
        One row per model, the best score first, with these columns:

        - ``model``, ``score`` : name and mean score over folds
        - ``difference`` : how much better the best score is, at least 0
        - ``low``, ``high`` : simultaneous confidence interval of the difference, NaN for the best model
        - ``p_adjusted`` : p-value of the difference, adjusted for all pairs of models, NaN for the best model
        - ``verdict`` : ``best`` for the best score; ``worse`` if the interval excludes 0; ``equivalent`` if it lies
          within ± `rope`; otherwise ``not different``

        Folds in which the score is undefined are ignored.

    Raises
    ------
    DataError
        If the metric is unknown or undefined in all folds, a prediction is missing, a group is in several folds, or an
        argument is out of range.
    SplitError
        If the folds are invalid.

    Notes
    -----
    The claims are about the algorithms, trained on samples of this size. See
    ``fairfold.evaluation.intervals`` for the method. The cost is that of sorting the predictions of each
    model, and O(n_samples · n_models²).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.normal(size=(200, 3))
    >>> Y = (latent + rng.normal(size=latent.shape) > 0).astype(int)
    >>> P = {"good": latent, "noisy": latent + 2 * rng.normal(size=latent.shape)}
    >>> table = compare_models(Y, P, np.arange(200) % 5)
    >>> table[["model", "score", "difference", "verdict"]].round(2)
       model  score  difference verdict
    0   good   0.86        0.00    best
    1  noisy   0.63        0.23   worse
    """
    _check_options(metric, predictions, rope, confidence)
    stable = [stable] if isinstance(stable, str) else stable
    for model in stable:
        check_name("model", model, predictions, DataError)
    labels, Y = Y, with_nan(check_label_matrix(Y, "Y", DataError))
    folds, of_samples = np.asarray(fold_of), check_weights(weights, Y.shape[0], DataError)
    parts = parts_of(folds, Y.shape[0])
    units = np.arange(Y.shape[0]) if groups is None else _units(groups, folds, Y.shape[0])
    frequency, error = _frequency_and_error(label_frequency)
    n_repeats = len(np.atleast_2d(folds))
    options: dict[str, Any] = {"units": units, "threshold": threshold, "weights": of_samples}
    options |= {"label_frequency": frequency, "inverse_propensity": inverse_propensity}
    found = []
    for model, P in predictions.items():
        matrices = _checked(P, labels, n_repeats, (Y.shape[0], Y.shape[1]), f"predictions[{model!r}]", parts)
        P_of = partial(_of_fold, matrices, parts)
        found.append(fold_scores(Y, P_of, parts, metric, **options))
    if not is_defined(found):
        raise DataError(f"{METRICS[metric].undefined}. Use another metric or labels that define it.")
    is_stable = [model in stable for model in predictions]
    joint = joint_of(found, parts, n_repeats, units, metric=metric, frequency_error=error, is_stable=is_stable)
    table = verdict_table(list(predictions), joint, metric, rope=rope, confidence=confidence)
    return table.drop(columns=["p_value", "error"])


def is_defined(found: Iterable[FoldScores]) -> bool:
    """Return whether all models have a score in at least one fold.

    Parameters
    ----------
    found : iterable of FoldScores
        Scores of each model.

    Returns
    -------
    bool
        False if the labels of no fold define the score.
    """
    return not np.isnan([each.scores for each in found]).any(axis=0).all()


def log_error(estimate: Any) -> float:
    """Return the standard error of the logarithm of an estimate.

    Parameters
    ----------
    estimate : object
        Estimate with the attributes ``low`` and ``high``, its 95 % interval.

    Returns
    -------
    float
        Standard error if the logarithm is normal.

    Raises
    ------
    DataError
        If the interval is not above 0.
    """
    low, high = float(estimate.low), float(estimate.high)
    if not 0 < low <= high:
        raise DataError(f"label_frequency: expected an interval above 0, found {low:g} to {high:g}.")
    return float(np.log(high / low) / (2 * scipy.special.ndtri(0.975)))


def joint_of(
    found: Sequence[FoldScores],
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
    n_repeats: int,
    units: np.ndarray,
    *,
    metric: str,
    frequency_error: float = 0.0,
    is_stable: Sequence[bool] = (),
) -> Joint:
    """Combine the scores of several models on the same folds.

    Parameters
    ----------
    found : sequence of FoldScores
        Scores and influences of each model.
    parts : sequence of tuple of ndarray
        Training and test samples of each fold, one repeat after the other.
    n_repeats : int
        Number of cross-validations.
    units : ndarray of int of shape (n_samples,)
        Number of the group of each sample.
    metric : str
        Name of the metric.
    frequency_error : float, default=0.0
        Standard error of the logarithm of the label frequency.
    is_stable : sequence of bool, default=()
        Whether each model is declared stable. Empty if none is.

    Returns
    -------
    Joint
        Scores and influences on a scale on which higher is better.
    """
    direction, n_folds = METRICS[metric].direction, len(parts) // n_repeats
    scores = direction * np.array([each.scores for each in found])
    is_kept = ~np.isnan(scores).any(axis=0)
    influences = np.zeros((len(found), n_repeats, int(units.max()) + 1))
    n_free = 0
    for fold in np.flatnonzero(is_kept).tolist():
        test = parts[fold][1]
        n_units = len(np.unique(units[test]))
        n_free += n_units - 1
        factor = direction * np.sqrt(n_units / max(n_units - 1, 1)) * n_repeats / np.count_nonzero(is_kept)
        for own, each in zip(influences[:, fold // n_folds], found, strict=True):
            own += factor * np.bincount(units[test], each.influences[fold], minlength=len(own))
    n_tested = sum(len(test) for _, test in parts) / n_repeats
    ratio = n_tested / float(np.mean([len(train) for train, _ in parts]))
    has_relief = len(is_stable) and not METRICS[metric].jumps
    relief = ratio * STABLE * np.array(is_stable) if has_relief else np.zeros(len(found))
    shifts = frequency_error * direction * np.array([each.slopes[is_kept].mean() for each in found])
    by_repeat = np.where(is_kept, scores, np.nan).reshape(len(found), n_repeats, n_folds)
    training = np.full(len(found), ratio * METRICS[metric].training)
    return Joint(by_repeat, influences, n_free // n_repeats, training, relief, shifts)


def verdict_table(
    models: Sequence[str], joint: Joint, metric: str, *, rope: float = ROPE, confidence: float = 0.95
) -> pd.DataFrame:
    """Compare all models with the one with the best score.

    Parameters
    ----------
    models : sequence of str
        Names of the models.
    joint : Joint
        Scores and influences.
    metric : str
        Name of the metric.
    rope : float, default=0.01
        Differences up to this value do not matter in practice.
    confidence : float, default=0.95
        Probability that the intervals of all models hold.

    Returns
    -------
    DataFrame
        Table as returned by :func:`compare_models`, and the columns ``p_value``, not adjusted for the number of models,
        and ``error``, the standard error of the difference.
    """
    means = joint.means
    best = int(means.argmax())
    pairs = compare_with(best, joint, confidence)
    is_worse = pairs.p_adjusted <= 1 - confidence
    is_equal = (pairs.low >= -rope) & (pairs.high <= rope)
    verdict = np.select([is_worse, is_equal], [WORSE, EQUIVALENT], UNDECIDED)
    scores = METRICS[metric].direction * means
    table = pd.DataFrame({"model": models, "score": scores, **pairs._asdict(), "verdict": verdict})
    table.loc[best, ["low", "high", "p_value", "error", "p_adjusted"]] = np.nan
    table.loc[best, "verdict"] = BEST
    return table.iloc[np.argsort(-means, kind="stable")].reset_index(drop=True)


def samples_to_decide(table: pd.DataFrame, n_samples: int, *, rope: float = ROPE) -> tuple[str, int] | None:
    """Estimate how many samples would decide the most important open comparison.

    Parameters
    ----------
    table : DataFrame
        Result of ``compare_models``.
    n_samples : int
        Number of samples, or of groups.
    rope : float, default=0.01
        Differences up to this value do not matter in practice.

    Returns
    -------
    tuple of str and int, or None
        The model with the best score among those that are not different from the best model, and the number of samples
        at which its interval would exclude 0 or lie within ± `rope`. None if no comparison is open.

    Notes
    -----
    The difference is assumed to stay, and the width of its interval to shrink with the square root of the number of
    samples.

    Examples
    --------
    >>> columns = ["model", "score", "difference", "low", "high", "p_adjusted", "verdict"]
    >>> rows = [("A", 0.8, 0, None, None, None, "best"), ("B", 0.78, 0.02, -0.02, 0.06, 0.4, "not different")]
    >>> samples_to_decide(pd.DataFrame(rows, columns=columns), 300)
    ('B', 1200)
    """
    open_ones = table[table["verdict"] == UNDECIDED]
    if open_ones.empty:
        return None
    first = open_ones.iloc[0]
    half, difference = (first["high"] - first["low"]) / 2, first["difference"]
    distance = max(difference, rope - difference)
    return str(first["model"]), int(np.ceil(n_samples * (half / distance) ** 2)) if distance > 0 else n_samples


def _check_options(metric: str, predictions: Mapping[str, Any], rope: float, confidence: float) -> None:
    check_name("metric", metric, METRICS, DataError)
    if not predictions:
        raise DataError("predictions: found no model. Give the out-of-fold probabilities of at least one.")
    if not rope >= 0:
        raise DataError(f"rope: expected a number of at least 0, found {rope!r}.")
    if not 0 < confidence < 1:
        raise DataError(f"confidence: expected a number above 0 and below 1, such as 0.95, found {confidence!r}.")


def _frequency_and_error(label_frequency: Any) -> tuple[ArrayLike | None, float]:
    """Return a label frequency and the standard error of its logarithm."""
    if not hasattr(label_frequency, "estimate"):
        return label_frequency, 0.0
    return label_frequency.estimate, log_error(label_frequency)


def _units(groups: ArrayLike, folds: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the number of the group of each sample. Each group must be in one fold, or in any periods of time."""
    names, units = numbered(groups, n_samples, DataError)
    for fold_of in np.atleast_2d(folds):
        tested = fold_of >= 0
        n_folds = pd.Series(fold_of[tested]).groupby(units[tested]).nunique()
        if n_folds.max() > 1 and BEFORE not in fold_of:
            group = names[n_folds.idxmax()]
            raise DataError(f"groups: the samples of group {group} are in several folds. Keep each group in one fold.")
    return units


def _checked(
    P: Any, labels: Matrix, n_repeats: int, shape: tuple[int, int], where: str, parts: Sequence[Any]
) -> list[Matrix]:
    """Return one matrix of probabilities for each repeat."""
    if isinstance(P, (list, tuple)):
        repeats = list(P) if len(P) and np.ndim(P[0]) == 2 else [P]
    else:
        repeats = list(P) if np.ndim(P) == 3 else [P]
    for each in repeats:
        check_same_columns(labels, each, ("Y", where))
    matrices = [each.tocsr() if hasattr(each, "tocsr") else np.asarray(each, dtype=np.float64) for each in repeats]
    shapes = [each.shape for each in matrices]
    if shapes != [shape] * n_repeats:
        found = f"{len(shapes)} of shape {shapes[0]}"
        raise DataError(f"{where}: expected {n_repeats} matrices of shape {shape}, one for each repeat, found {found}.")
    for fold, (_, test) in enumerate(parts):
        rows = matrices[fold * n_repeats // len(parts)][test]
        if not finite_rows(rows).all():
            raise DataError(f"{where}: fold {fold} has a test sample without a finite prediction. Predict all.")
    return matrices


def _of_fold(matrices: Sequence[Matrix], parts: Sequence[tuple[np.ndarray, np.ndarray]], fold: int) -> Matrix:
    return matrices[fold * len(matrices) // len(parts)][parts[fold][1]]
