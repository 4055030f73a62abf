"""Model of the true label of each cell, fitted to a few checked cells.

A *cell* is a (sample, label) pair with the observed label s, the unknown true label y and the score p of a model. The
probability of y = 1 is modeled in two steps:

1. A logistic curve in the logit of p, for observed positives and observed negatives, with a small effect of each label.
   Its prior assumes that labels are missing at random. It is fitted to the checked cells.
2. A correction ε · h on the logit scale, where h contains the influence of the cell on the metrics. A checked cell with
   draw probability π has the weight 1 / π - 1. The correction therefore sets the weighted sums of the residuals y - q
   over h to 0. Together with the known labels of the checked cells, the predicted totals equal those of the augmented
   inverse-probability estimator, Σ q + Σ_checked (y - q) / π (Robins et al. 1994). This is a targeted estimate (van
   der Laan & Rubin 2006) that stays within the range of the metric. It is unbiased up to terms of order 1 / n, even if
   step 1 is wrong.

The uncertainty has two parts, which add up to the design variance Σ (1 / π - 1) h² (y - q)²: the sandwich covariance of
ε, and the unknown labels of cells that nobody checked. The covariance includes the error due to the shrinkage of ε.

A metric often depends on a few cells with a large weight and influence. The degrees of freedom of its variance are
therefore those of Satterthwaite (1946), (Σ v)² / Σ v², where v is the contribution of a checked cell to the variance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from fairfold.core.arrays import quotient
from fairfold.metrics import corrections

ASSUMED_MISSING = 0.4
"""Missing rate that the prior assumes. The checked cells replace it."""
_LEAST = 1e-4  # Scores are clipped to this distance from 0 and 1.
_FARTHEST = 12.0  # Largest absolute logit.
_CENTER, _SPREAD = -3.0, 2.0  # Scale of logits in the curve.
_CURVE_PRECISION = (0.3, 0.5, 4.0, 0.3, 2.0)  # Precisions of the prior of the coefficients of `_curve`.
_LABEL_PRECISION = 4.0
# Precision of ε in the fit, and its expected size, for the error due to shrinkage. Calibrated on half of the datasets
# of benchmarks/checked_cells.py. Few checks find a wrong positive, so the share of these is shrunk more.
_OF_COUNT, _OF_WRONG, _OF_INFLUENCE = (1.0, 0.6), (4.0, 0.4), (4.0, 0.36)
_NEWTON_STEPS = 50


class Cells(NamedTuple):
    """Cells as flat arrays, with the score of each model.

    Attributes
    ----------
    observed : ndarray of bool of shape (n_cells,)
        Observed labels.
    samples, labels : ndarray of int of shape (n_cells,)
        Sample and label of each cell.
    scores : list of ndarray of shape (n_cells,)
        Scores of each model.
    wrong_positives : float
        Share of the observed positives that the prior assumes to be wrong. 0 if they are certain.
    """

    observed: np.ndarray
    samples: np.ndarray
    labels: np.ndarray
    scores: Sequence[np.ndarray]
    wrong_positives: float

    def prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute the logit of the probability of an observed label, and of a true label before any check.

        Returns
        -------
        observed, true : ndarray of shape (n_cells,)
            Logits.
        """
        x = np.mean([_calibrated(_clipped_logit(score), self.observed) for score in self.scores], axis=0)
        if len(self.scores) > 1:
            x = _calibrated(x, self.observed)
        is_one, n_right = self.observed, self.observed.sum() * (1 - self.wrong_positives)
        true, n_zeros = np.full(len(x), np.inf), np.count_nonzero(~is_one)
        n_missing = min(0.9 * n_zeros, n_right * ASSUMED_MISSING / (1 - ASSUMED_MISSING))
        true[~is_one] = _shifted(x[~is_one], n_missing)
        if self.wrong_positives:
            true[is_one] = _shifted(x[is_one], n_right)
        return x, np.clip(true, -_FARTHEST, np.where(np.isinf(true), np.inf, _FARTHEST))


def influence_on_average_precision(score: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the derivative of average precision by the probability of each cell.

    Parameters
    ----------
    score : ndarray of shape (n_cells,)
        Scores.
    q : ndarray of shape (n_cells,)
        Probabilities of a true label.

    Returns
    -------
    ndarray of shape (n_cells,)
        Derivatives.

    Examples
    --------
    >>> influence_on_average_precision(np.array([0.9, 0.5, 0.1]), np.array([1.0, 0.0, 1.0])).round(2)
    array([0.75, 0.  , 0.08])
    """
    # With the probability q_r, the n_r cells and the Q_r true labels until rank r, and the sum Q of all probabilities,
    # the score is Σ q_r Q_r / n_r / Q. A cell of rank s enters q_s, all Q_r from rank s on, and Q.
    ranked = _Ranked(score, q)
    precision = ranked.true / ranked.cells
    from_rank_on = np.cumsum((ranked.new_true / ranked.cells)[::-1])[::-1]
    whole = max(q.sum(), _LEAST)
    average_precision = ranked.new_true @ precision / whole
    return (precision + from_rank_on - average_precision)[ranked.place] / whole


def influence_on_roc_auc(score: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the derivative of the area under the ROC curve by the probability of each cell.

    Parameters
    ----------
    score : ndarray of shape (n_cells,)
        Scores.
    q : ndarray of shape (n_cells,)
        Probabilities of a true label.

    Returns
    -------
    ndarray of shape (n_cells,)
        Derivatives.

    Examples
    --------
    >>> influence_on_roc_auc(np.array([0.9, 0.5, 0.1]), np.array([1.0, 0.0, 0.5])).round(2)
    array([ 0.44,  0.  , -0.44])
    """
    ranked = _Ranked(score, q)
    whole, n = max(q.sum(), _LEAST), len(q)
    rest = max(n - whole, _LEAST)
    new_false = np.diff(ranked.cells, prepend=0.0) - ranked.new_true
    below = rest - np.cumsum(new_false) + new_false / 2
    above = ranked.true - ranked.new_true / 2
    area = ranked.new_true @ below / (whole * rest)
    return ((below - above) / (whole * rest) - area * (1 / whole - 1 / rest))[ranked.place]


def influence_on_mcc(is_predicted: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the derivative of the Matthews correlation by the probability of each cell.

    Parameters
    ----------
    is_predicted : ndarray of bool of shape (n_cells,)
        Predicted labels.
    q : ndarray of shape (n_cells,)
        Probabilities of a true label.

    Returns
    -------
    ndarray of shape (n_cells,)
        Derivatives. All are 0 if the predicted labels are constant.

    Examples
    --------
    >>> influence_on_mcc(np.array([True, False, False]), np.array([1.0, 0.5, 0.0])).round(2)
    array([ 0.94, -0.47, -0.47])
    """
    sums = np.array([is_predicted @ q, q.sum()])
    if not 0 < is_predicted.sum() < len(q) or not 0 < sums[1] < len(q):
        return np.zeros(len(q))

    def mcc(counts: np.ndarray) -> float:
        return float(corrections.mcc(counts[0], counts[1], np.asarray(is_predicted.sum()), len(q)))

    of_hits, of_positives = scipy.optimize.approx_fprime(sums, mcc, 1e-6 * len(q))
    return of_positives + of_hits * is_predicted


class Fit(NamedTuple):
    """Fitted model of the true labels.

    Attributes
    ----------
    logits : ndarray of shape (n_cells,)
        Logits of step 1.
    H : ndarray of shape (n_cells, n_targets)
        Influences of each cell on the targets.
    target : ndarray of shape (n_targets,)
        Coefficients ε.
    root : ndarray of shape (n_targets, n_targets)
        Root of the covariance of ε.
    shares : ndarray of shape (n_checked, n_targets)
        Contribution of each checked cell to the columns of `root`.
    known : ndarray of shape (n_cells,)
        True label of the checked cells and of those that are certain, else NaN.
    """

    logits: np.ndarray
    H: np.ndarray
    target: np.ndarray
    root: np.ndarray
    shares: np.ndarray
    known: np.ndarray

    def probabilities(self, change: np.ndarray | float = 0.0) -> np.ndarray:
        """Compute the probability of a true label, 0 or 1 where it is known.

        Parameters
        ----------
        change : ndarray of shape (n_targets,) or float, default=0.0
            Change of the coefficients ε.

        Returns
        -------
        ndarray of shape (n_cells,)
            Probabilities.
        """
        q = scipy.special.expit(self.logits + self.H @ (self.target + change))
        return np.where(np.isnan(self.known), q, self.known)

    def degrees(self, slopes: np.ndarray) -> np.ndarray:
        """Compute the degrees of freedom of the variance of metrics.

        Parameters
        ----------
        slopes : ndarray of shape (n_targets, n_metrics)
            Slopes of each metric along the columns of `root`.

        Returns
        -------
        ndarray of shape (n_metrics,)
            Degrees of freedom, at least 1.
        """
        v = (self.shares @ slopes) ** 2
        return np.fmax(quotient(v.sum(axis=0) ** 2, (v**2).sum(axis=0)), 1.0)

    def draws(self, n_draws: int, rng: np.random.Generator, *, vary: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Draw the labels of all cells.

        Parameters
        ----------
        n_draws : int
            Number of draws, in pairs with opposite deviations.
        rng : Generator
            Source of random numbers.
        vary : bool
            Whether probabilities vary between draws by the uncertainty of ε.

        Yields
        ------
        labels : ndarray of int8 of shape (n_cells,)
            Labels.
        deviates : ndarray of shape (n_targets,)
            Standard normal deviates along the columns of `root`.
        """
        q = self.probabilities()
        pair, z = (q, q), np.zeros(len(self.target))
        for _ in range(n_draws // 2):
            uniform = rng.random(len(q))
            if vary:
                z = rng.standard_normal(len(z))
                pair = (self.probabilities(self.root @ z), self.probabilities(-self.root @ z))
            yield (uniform < pair[0]).astype(np.int8), z
            yield (1 - uniform < pair[1]).astype(np.int8), -z


def fit_cells(
    cells: Cells,
    checked: np.ndarray,
    truth: np.ndarray,
    pi: np.ndarray,
    threshold: float,
    targets: Sequence[str] = ("average_precision", "roc_auc", "counts"),
) -> Fit:
    """Fit the model of the true labels to the checked cells.

    Parameters
    ----------
    cells : Cells
        All cells.
    checked : ndarray of int of shape (n_checked,)
        Checked cells.
    truth : ndarray of shape (n_checked,)
        Their true labels.
    pi : ndarray of shape (n_checked,)
        Their draw probabilities.
    threshold : float
        A label is predicted if its score exceeds this threshold.
    targets : sequence of {"average_precision", "roc_auc", "counts"}, optional
        Targets of the correction. Fewer targets have less uncertainty. By default, all.

    Returns
    -------
    Fit
        The fitted model.
    """
    x, prior = cells.prior()
    logits = _curve_fit(cells, x, prior, checked, truth)
    known = np.where(np.isinf(logits), 1.0, np.nan)
    known[checked] = truth
    logits = np.clip(logits, -_FARTHEST, _FARTHEST)
    q = scipy.special.expit(logits)
    weights = 1 / pi - 1
    effective = weights.sum() ** 2 / max((weights**2).sum(), np.finfo(float).tiny)
    weights = weights * effective / max(weights.sum(), np.finfo(float).tiny)
    H, precision, size = _targets(cells, np.where(np.isnan(known), q, known), threshold, targets)
    spread = weights * q[checked] * (1 - q[checked])
    scale = np.sqrt(quotient(spread @ H[checked] ** 2, np.full(H.shape[1], spread.sum())))
    H = H / np.where(scale > 0, scale, 1.0)
    h = H[checked]
    target = _logistic(h, truth, logits[checked], weights, precision)
    q = scipy.special.expit(logits[checked] + h @ target)
    curvature = (h * (weights * q * (1 - q))[:, np.newaxis]).T @ h + np.diag(precision)
    inverse = np.linalg.inv(curvature)
    leverage = weights * q * (1 - q) * np.einsum("ij,jk,ik->i", h, inverse, h)
    residual = (truth - q) / (1 - np.minimum(leverage, 0.7))
    parts = _deviations(h, weights, residual, q, cells.samples[checked])
    rows = np.vstack([*parts, np.diag(precision * size)]) @ inverse
    root = np.linalg.cholesky(rows.T @ rows)
    shares = np.linalg.solve(root, rows[: len(checked)].T).T
    return Fit(logits, H, target, root, shares, known)


def _deviations(
    h: np.ndarray, weights: np.ndarray, residual: np.ndarray, q: np.ndarray, samples: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return roots of the covariance of the sum of weighted residuals, both model-based and empirical."""
    _, codes = np.unique(samples, return_inverse=True)
    sums = np.zeros((codes.max(initial=-1) + 1, h.shape[1]))
    np.add.at(sums, codes, h * (weights * residual)[:, np.newaxis])  # Cells of a sample may be drawn together.
    return h * (weights * np.sqrt(q * (1 - q) / 2))[:, np.newaxis], sums / np.sqrt(2)


def _targets(
    cells: Cells, q: np.ndarray, threshold: float, targets: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the influences of each cell on counts and metrics, and the precisions and sizes of the coefficients."""
    columns, priors = [~cells.observed], [_OF_COUNT]
    if cells.wrong_positives:
        columns, priors = [*columns, cells.observed], [*priors, _OF_WRONG]
    for target in targets:
        found = [_INFLUENCES[target](score, q, threshold) for score in cells.scores]
        if len(found) > 1:  # Differences between models have their own scale.
            middle = np.mean(found, axis=0)
            found = [middle, *(each - middle for each in found)]
        found = [each for each in found if np.ptp(each) > 0]
        columns += found
        priors += [_OF_COUNT if target == "counts" else _OF_INFLUENCE] * len(found)
    return np.column_stack(columns).astype(np.float64), *np.transpose(priors)


_INFLUENCES: dict[str, Callable[[np.ndarray, np.ndarray, float], np.ndarray]] = {
    "average_precision": lambda score, q, threshold: influence_on_average_precision(score, q),
    "roc_auc": lambda score, q, threshold: influence_on_roc_auc(score, q),
    "counts": lambda score, q, threshold: (score > threshold).astype(np.float64),
}


def _curve_fit(cells: Cells, x: np.ndarray, prior: np.ndarray, checked: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the logits of step 1. Labels with few checked cells follow the common curve."""
    x = (x - _CENTER) / _SPREAD
    is_one = cells.observed
    curve = np.column_stack([~is_one, ~is_one * x, ~is_one * x**2, is_one, is_one * x])
    present, codes = np.unique(cells.labels[checked], return_inverse=True)
    design = np.hstack([curve[checked], np.eye(len(present))[codes]])
    precision = np.concatenate([_CURVE_PRECISION, np.full(len(present), _LABEL_PRECISION)])
    used = np.isfinite(prior[checked])
    coef = _logistic(design[used], truth[used], prior[checked][used], np.ones(used.sum()), precision)
    of_labels = np.zeros(cells.labels.max(initial=0) + 1)
    of_labels[present] = coef[curve.shape[1] :]
    return prior + curve @ coef[: curve.shape[1]] + of_labels[cells.labels]


def _logistic(
    X: np.ndarray, y: np.ndarray, offset: np.ndarray, weights: np.ndarray, precision: np.ndarray
) -> np.ndarray:
    """Fit a weighted logistic regression with a normal prior around 0 by damped Newton steps."""
    coef = np.zeros(X.shape[1])
    for _ in range(_NEWTON_STEPS):
        q = scipy.special.expit(offset + X @ coef)
        slope = X.T @ (weights * (y - q)) - precision * coef
        step = np.linalg.solve((X * (weights * q * (1 - q))[:, np.newaxis]).T @ X + np.diag(precision), slope)
        coef = coef + step * min(1.0, 2 / max(np.abs(step).max(initial=0.0), 1e-300))
        if np.abs(step).max(initial=0.0) < 1e-8:
            break
    return coef


def _clipped_logit(p: np.ndarray) -> np.ndarray:
    return scipy.special.logit(np.clip(p, _LEAST, 1 - _LEAST))


def _calibrated(x: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Calibrate logits to the observed labels by a logistic regression with a slope near 1."""
    X = np.column_stack([np.ones(len(x)), x])
    coef = _logistic(X, observed.astype(float), x, np.ones(len(x)), np.array([0.1, 1.0]))
    return x + X @ coef


def _shifted(logits: np.ndarray, total: float) -> np.ndarray:
    """Shift logits so that their probabilities have the given sum."""
    if not 0 < total < len(logits):
        return logits
    far = 40 + np.abs(logits).max()
    return logits + scipy.optimize.brentq(lambda shift: scipy.special.expit(logits + shift).sum() - total, -far, far)


class _Ranked:
    """Cells in descending order of scores; cells with equal scores share a place."""

    def __init__(self, score: np.ndarray, q: np.ndarray) -> None:
        order = np.argsort(-score, kind="stable")
        ranked = score[order]
        last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
        self.cells = last + 1.0
        self.true = np.cumsum(q[order])[last]
        self.new_true = np.diff(self.true, prepend=0.0)
        self.place = np.empty(len(score), dtype=np.int64)
        self.place[order] = np.searchsorted(last, np.arange(len(score)))
