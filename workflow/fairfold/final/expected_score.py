"""Average precision to expect on a new table without labels, from its predicted probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri

from fairfold.core.arrays import quotient
from fairfold.core.validation import check_weights
from fairfold.errors import ModelError
from fairfold.evaluation.certified import n_held_out_of
from fairfold.final.prevalence import LabelCounts, bins_of

DESIGN_EFFECT, WEIGHTED_EFFECT = "design_effect", "weighted_design_effect"
_LEAST_ROWS = 20  # of a new table
_LEAST_POSITIVES = 10  # out of fold, and expected in the new table
_LEAST_PROBABILITY = 1e-3  # Smaller probabilities are equal.
_SPREAD = 1.0  # standard deviation of the calibration of a label around that of all labels
_SPREAD_OF_ALL = 10.0
_SHARED_TRAINING = 2.25  # Factor of the variance of scores of five folds, by Nadeau & Bengio (2003): 1 + 5 / 4
_DECIMALS = 9  # Ties of labels must not be lost by rounding.
_N_STEPS = 50  # of Newton's method
_CONFIDENCE = 0.95


class Expected(NamedTuple):
    """Expected average precision on a new table.

    Attributes
    ----------
    out_of_fold : float
        Average precision of the out-of-fold probabilities of the training table, or of held-out samples.
    score, low, high : float
        Expected average precision, and its 95 % interval. NaN without an estimate.
    reason : str
        Why there is no estimate, or an empty text.
    rows : str
        Name of the rows that ``out_of_fold`` is about.
    """

    out_of_fold: float
    score: float = np.nan
    low: float = np.nan
    high: float = np.nan
    reason: str = ""
    rows: str = "left-out training rows"

    def sentences(self, n_rows: int, n_unlike: int = 0) -> list[str]:
        """Describe the estimate.

        Parameters
        ----------
        n_rows, n_unlike : int
            Number of rows, and of those that are unlike the training data.

        Returns
        -------
        list of str
            Sentences, or none without an estimate.
        """
        if self.reason:
            return []
        if 2 * n_unlike > n_rows:
            return ["No average precision can be expected, because most rows are unlike the training data."]
        change = "" if self.low <= self.out_of_fold <= self.high else " The two differ significantly."
        those = "the unlike row" if n_unlike == 1 else f"the {n_unlike:,} unlike rows"
        unlike = f", and not for {those}" if n_unlike else ""
        return [
            f"Expected average precision on these rows: {self.score:.2f} (95 % interval {self.low:.2f} to "
            f"{self.high:.2f}). On {self.rows} it was {self.out_of_fold:.2f}.{change}",
            f"This holds if labels depend on features as in training, which cannot be checked without labels{unlike}.",
        ]


class ExpectedScore(LabelCounts):
    """Estimate the average precision on a new table that is given in parts.

    Parameters
    ----------
    curves : DataFrame
        Table of ``fairfold.evaluation.certified.curve_table`` for out-of-fold probabilities of the training table, with
        the columns of :func:`with_design_effect`.

    Raises
    ------
    ModelError
        If the table comes from an earlier version.

    Notes
    -----
    The estimate assumes covariate shift: samples with the same probability of a label have it as often as in training.
    Out-of-fold counts calibrate the probabilities of each label by logistic regression. Calibrations of labels are
    drawn toward that of all labels. The expected average precision of calibrated probabilities is computed for the new
    table and for the training table. Their difference is added to the average precision out of fold, so a table with
    the probabilities of the training table has that score.

    The interval is that of the score which the new table would have if it were labeled. Its variance is that of the
    labels of the new table, of the calibrations and of the score out of fold, by the delta method. The design effect
    allows for labels of a sample that depend on each other. Models of folds share training samples, so the part of the
    training table is enlarged as by Nadeau & Bengio (2003) for five folds.

    References
    ----------
    C. Nadeau & Y. Bengio (2003), Inference for the generalization error, Machine Learning 52.

    Examples
    --------
    >>> from fairfold.evaluation.certified import curve_table
    >>> rng = np.random.default_rng(0)
    >>> P = rng.random((500, 2))
    >>> Y = (rng.random((500, 2)) < P).astype(int)
    >>> expected = ExpectedScore(with_design_effect(curve_table(Y, P, ["leaf", "root"]), Y, P))
    >>> expected.add(pd.DataFrame(P, columns=["leaf", "root"]))
    >>> found = expected.estimate()
    >>> round(found.out_of_fold, 2), round(found.score, 2), round(found.low, 2), round(found.high, 2)
    (0.85, 0.85, 0.8, 0.9)
    """

    def __init__(self, curves: pd.DataFrame) -> None:
        if DESIGN_EFFECT not in curves:
            raise ModelError(
                "expected score: the model was stored by an earlier version. Refit it with `fairfold study`."
            )
        self._training, self._is_held_out = _Bins(curves), n_held_out_of(curves) > 0
        self._of_new, self._of_training = curves[[DESIGN_EFFECT, WEIGHTED_EFFECT]].iloc[0]
        is_weighted = (curves["weight"] != curves["n_decisions"]).any()
        rows = "held-out rows" if self._is_held_out else "left-out training rows"
        self._rows = f"weighted {rows}" if is_weighted else rows
        super().__init__(self._training.thresholds)

    def estimate(self) -> Expected:
        """Estimate the average precision.

        Returns
        -------
        Expected
            The estimate, or the reason why there is none.
        """
        bins = self._training
        observed = _Curve(bins, bins.n_cells, bins.positives)
        if not bins.positives.sum() >= _LEAST_POSITIVES:
            return Expected(observed.score, reason=f"fewer than {_LEAST_POSITIVES} positives in {self._rows}")
        if self._n_rows < _LEAST_ROWS:
            return Expected(observed.score, reason=f"fewer than {_LEAST_ROWS} new rows")
        calibration = _Calibration(bins)
        counts, p = np.concatenate([*self._counts.values()]) * bins.measured[bins.label], calibration.p
        if (counts @ p) < _LEAST_POSITIVES:
            return Expected(observed.score, reason=f"fewer than {_LEAST_POSITIVES} positives are expected")
        before, new = (_Curve(bins, n, n * p, n * p * (1 - p)) for n in (bins.n_cells, counts))
        score = float(np.clip(observed.score + new.score - before.score, 0, 1))
        # Labels of the training table change the score out of fold and the calibration.
        change = new.slope * counts - before.slope * bins.n_cells
        of_training = self._of_training * bins.n_cells * (before.slope + calibration.response(change)) ** 2
        shared = 1.0 if self._is_held_out else _SHARED_TRAINING
        variance = (self._of_new * counts * new.slope**2 + shared * of_training) @ (p * (1 - p))
        margin = float(ndtri((1 + _CONFIDENCE) / 2) * np.sqrt(variance))
        return Expected(observed.score, score, max(score - margin, 0.0), min(score + margin, 1.0), rows=self._rows)


def with_design_effect(
    curves: pd.DataFrame,
    Y: np.ndarray,
    P: np.ndarray,
    groups: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> pd.DataFrame:
    """Add by how much dependent labels of a sample increase the variance of average precision.

    Parameters
    ----------
    curves : DataFrame
        Table of ``fairfold.evaluation.certified.curve_table`` for the labels and probabilities.
    Y : ndarray of shape (n_samples, n_labels)
        Recorded labels, 0 or 1. NaN marks an unmeasured label.
    P : ndarray of shape (n_samples, n_labels)
        Out-of-fold probabilities, or those of held-out samples.
    groups : ndarray of shape (n_samples,) or None, default=None
        Groups, whose samples depend on each other.
    weights : ndarray of shape (n_samples,) or None, default=None
        Weights of samples, as of the table.

    Returns
    -------
    DataFrame
        The table with the column ``design_effect``, the variance relative to that of independent labels, and
        ``weighted_design_effect``, which allows for the weights, too. Both are at least 1.
    """
    bins = _Bins(curves)
    p = _Calibration(bins).p
    slope = _Curve(bins, bins.n_cells, bins.n_cells * p).slope
    own = zip(bins.first, P.T, bins.thresholds.values(), strict=False)
    places = np.column_stack([first + bins_of(p_of_label, thresholds) for first, p_of_label, thresholds in own])
    influence = np.nan_to_num(slope[places] * (np.asarray(Y, dtype=float) - p[places]))

    def effect(w: np.ndarray) -> float:
        of_samples, of_cells = w * influence.sum(axis=1), float(w @ (influence**2).sum(axis=1))
        if groups is not None:
            of_samples = np.bincount(np.unique(groups, return_inverse=True)[1], of_samples)
        return max(float(of_samples @ of_samples) / of_cells, 1.0) if of_cells > 0 else 1.0

    one, w = np.ones(len(P)), check_weights(weights, len(P), ModelError)
    return curves.assign(**{DESIGN_EFFECT: effect(one), WEIGHTED_EFFECT: effect(one if w is None else w)})


class _Bins:
    """Out-of-fold probabilities of all labels, counted between the thresholds of each label."""

    def __init__(self, curves: pd.DataFrame) -> None:
        own = curves[curves["decision"] == 1]
        parts = {str(label): part for label, part in own.groupby("label", sort=False)}
        self.thresholds = {label: part["threshold"].to_numpy(float) for label, part in parts.items()}
        found = [_counted(part) for part in parts.values()]
        sizes = [len(p) for p, *_ in found]
        self.label = np.repeat(np.arange(len(sizes)), sizes)
        p, self.n_cells, self.positives = map(np.concatenate, zip(*found, strict=True))
        self.x = logit(np.clip(p, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY))
        self.first = np.cumsum([0, *sizes])
        of_labels = np.bincount(self.label, self.n_cells, minlength=len(sizes))
        self.measured = of_labels / max(of_labels.max(), 1)
        # Bins in the order of their probabilities. Equal probabilities form one group.
        self._group = np.unique(-p, return_inverse=True)[1]

    def in_groups(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._group, values)

    def of_bins(self, values: np.ndarray) -> np.ndarray:
        return values[self._group]


def _counted(curve: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean probability of each bin of a label, and the weights of its cells and of its positives."""
    above, recall = curve["weight"].to_numpy(float), np.nan_to_num(curve["recall"].to_numpy(float))
    n_measured = float(curve["n_cells"].iloc[0])
    n_positives = np.nan_to_num(float(curve["prevalence"].iloc[0])) * n_measured
    n_cells = np.maximum(np.diff(above, prepend=0, append=n_measured), 0)  # The last bin has probability 0.
    positives = n_positives * np.diff(recall, prepend=0, append=1)
    expected = np.diff(curve["expected"].to_numpy(float) * above, prepend=0)
    expected /= np.maximum(n_cells[:-1], np.finfo(float).tiny)
    p = np.minimum.accumulate(np.append(expected.round(_DECIMALS), 0))
    return np.clip(p, 0, 1), n_cells, np.clip(positives, 0, n_cells)


class _Curve:
    """Average precision of counts in bins, and its derivative with respect to the positives of each bin."""

    def __init__(
        self, bins: _Bins, n_cells: np.ndarray, positives: np.ndarray, variance: np.ndarray | None = None
    ) -> None:
        n, k = bins.in_groups(n_cells), bins.in_groups(positives)
        v = 0 if variance is None else bins.in_groups(variance)
        above, found, total = np.cumsum(n), np.cumsum(k), k.sum()
        inverse = quotient(1.0, above, 0.0)
        score = ((k * found + v) * inverse).sum() / total if total > 0 else np.nan
        below = np.cumsum((k * inverse)[::-1])[::-1]
        self.score = float(score)
        self.slope = bins.of_bins((found * inverse + below - score) / total) if total > 0 else np.zeros(len(n_cells))


class _Calibration:
    """Logistic regression of each label on the logits of its probabilities."""

    def __init__(self, bins: _Bins) -> None:
        self._label, self._n_labels = bins.label, len(bins.thresholds)
        self._X = np.column_stack([np.ones_like(bins.x), bins.x])
        one = np.zeros_like(bins.label)
        shared, _ = self._fitted(bins, one, 1, np.array([[0.0, 1.0]]), _SPREAD_OF_ALL)
        centers = np.repeat(shared, self._n_labels, axis=0)
        coefficients, self._hessian = self._fitted(bins, bins.label, self._n_labels, centers, _SPREAD)
        self.p = expit((self._X * coefficients[bins.label]).sum(axis=1))

    def response(self, change: np.ndarray) -> np.ndarray:
        """Return the effect of a label in each bin on a sum of calibrated probabilities with weights `change`."""
        weights = change * self.p * (1 - self.p)
        gradient = np.column_stack([np.bincount(self._label, weights * x, minlength=self._n_labels) for x in self._X.T])
        effect = np.linalg.solve(self._hessian, gradient[..., np.newaxis])[..., 0]
        return (self._X * effect[self._label]).sum(axis=1)

    def _fitted(
        self, bins: _Bins, label: np.ndarray, n_labels: int, centers: np.ndarray, spread: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Maximize the posterior density by Newton's method, with halved steps where it would fall."""
        found, X = centers.copy(), self._X

        def loss_of(coefficients: np.ndarray) -> np.ndarray:
            z = (X * coefficients[label]).sum(axis=1)
            of_bins = bins.n_cells * np.logaddexp(0, z) - bins.positives * z
            away = ((coefficients - centers) ** 2).sum(axis=1) / (2 * spread**2)
            return np.bincount(label, of_bins, minlength=n_labels) + away

        def hessian_of(p: np.ndarray) -> np.ndarray:
            w = bins.n_cells * p * (1 - p)
            parts = [np.bincount(label, w * a * b, minlength=n_labels) for a in X.T for b in X.T]
            return np.stack(parts, axis=1).reshape(n_labels, 2, 2) + np.eye(2) / spread**2

        loss = loss_of(found)
        for _ in range(_N_STEPS):
            p = expit((X * found[label]).sum(axis=1))
            error = bins.n_cells * p - bins.positives
            gradient = np.column_stack([np.bincount(label, error * x, minlength=n_labels) for x in X.T])
            gradient += (found - centers) / spread**2
            step = np.linalg.solve(hessian_of(p), gradient[..., np.newaxis])[..., 0]
            size = np.ones(n_labels)
            for _ in range(30):
                tried = loss_of(found - size[:, np.newaxis] * step)
                if not (is_worse := tried > loss + 1e-9).any():
                    break
                size[is_worse] /= 2
            found, loss = found - size[:, np.newaxis] * step, tried
            if np.abs(step).max(initial=0) < 1e-8:
                break
        return found, hessian_of(expit((X * found[label]).sum(axis=1)))
