"""Certificates: thresholds above which the decisions of a label are right often enough, with a confidence level.

The *decisions* of a label at a threshold are its cells with a probability above it. Their *recorded precision* is the
share of recorded positives among them. If recorded positives are right, the precision on complete labels is at least
as high under any mechanism of missing labels, so a lower bound of the recorded precision is a lower bound of both.

- *Test of a threshold*: the exact binomial test of "precision at most the target". The count of right decisions given
  the next lower probability is binomial, because the decided cells are a random sample of the cells above it.
- *Choice of the threshold*: fixed-sequence testing [1]_. A grid of thresholds and the one to begin with are chosen from
  the probabilities alone. The sequence goes on to more decisions as long as every test rejects at the full level. The
  grid has the numbers of decisions at which one more wrong decision is allowed. Missing labels scale probabilities,
  so the first threshold depends on their ratios only.
- *Checked cells*: a checked cell that is right counts as a recorded positive. The count of right decisions stays a
  lower bound of the true count, so cells may be chosen in any way, and checking may stop at any time.
- *Weights*: a decision counts by the ratio of its weight to the largest weight of the label. If decisions were kept
  with this probability, the precision of the kept ones would be the weighted precision. Wrong decisions may depend on
  the weight.
- *Groups*: counts are scaled to the effective sample size of Kish [2]_, as if the samples of a group were copies of
  each other. Wrong decisions must not depend on the size of the group.
- *Wrong recorded positives*: if up to a share s of the recorded positives among the decisions is wrong, the recorded
  precision must exceed target / (1 - s).

References
----------
.. [1] Angelopoulos, Bates, Candès, Jordan & Lei (2021), Learn then Test, arXiv:2110.01052.
.. [2] Kish (1965), Survey Sampling, Wiley.
"""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike
from scipy import optimize, special

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.defaults import CONFIDENCE, PRECISION
from fairfold.core.groups import numbered
from fairfold.core.validation import UNMEASURED, Negatives, check_negatives, check_weights, check_whole_number
from fairfold.errors import DataError
from fairfold.metrics.plain_scores import check_pair

_STEP = 1.2  # Ratio of the numbers of allowed wrong decisions at neighboring thresholds of the grid.
_N_STEPS = 80  # of the grid, which ends at ten million allowed wrong decisions
_LATEST_START = 2  # Last threshold of the grid to begin with; later ones need more right decisions, or more checks.
_FIRST_CELLS = 5  # Number of cells to check of each label before others get more.
_SHEET = ["sample", "label_index", "label"]


class Curve(NamedTuple):
    """Decisions of one label at every possible threshold, the fewest first.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
        Decisions have a probability above the threshold.
    n_decisions : ndarray of int of shape (n_thresholds,)
        Number of measured cells above the threshold.
    weight : ndarray of shape (n_thresholds,)
        Sum of the weights of the decisions. The mean weight of samples is 1.
    size : ndarray of shape (n_thresholds,)
        Effective number of decisions.
    right : ndarray of shape (n_thresholds,)
        Recorded positives among the decisions, scaled to the effective number.
    expected : ndarray of shape (n_thresholds,)
        Mean probability of the decisions.
    recall : ndarray of shape (n_thresholds,)
        Share of the recorded positives above the threshold.
    n_positives : float
        Effective number of recorded positives.
    """

    threshold: np.ndarray
    n_decisions: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    right: np.ndarray
    expected: np.ndarray
    recall: np.ndarray
    n_positives: float

    def at(self, places: np.ndarray) -> Curve:
        """Select thresholds.

        Parameters
        ----------
        places : ndarray of int
            Places of the thresholds.

        Returns
        -------
        Curve
            Curve at these thresholds.
        """
        return self._replace(**{name: getattr(self, name)[places] for name in self._fields[:-1]})

    def sequence(self, precision: float, alpha: float) -> Curve:
        """Select the thresholds to test, in this order, from the probabilities alone.

        Parameters
        ----------
        precision : float
            Target.
        alpha : float
            Level of each test.

        Returns
        -------
        Curve
            Curve at these thresholds. Empty if there are too few decisions for any certificate.
        """
        sizes = np.maximum.accumulate(self.size)
        wanted = critical_sizes(precision, alpha, sizes[-1] if len(sizes) else 0.0)
        if not len(wanted):
            return self.at(np.empty(0, dtype=np.int64))
        grid = self.at(np.unique(np.append(np.searchsorted(sizes, wanted - 1e-9), len(sizes) - 1)))
        ratio = (1 - (1 - precision) / 4) / max(grid.expected[0], np.finfo(float).tiny)
        power = (ratio * grid.expected - precision) * np.sqrt(grid.size)
        return grid.at(np.arange(min(int(power.argmax()), _LATEST_START), len(grid.size)))


def critical_sizes(precision: float, alpha: float, most: float) -> np.ndarray:
    """Return the numbers of decisions from which on a certificate allows one more wrong decision, on a rough grid.

    Parameters
    ----------
    precision : float
        Target.
    alpha : float
        Error probability of the certificate.
    most : float
        Largest number to return.

    Returns
    -------
    ndarray of int
        Ascending numbers. The first one is that of right decisions in a row that a certificate needs.

    Examples
    --------
    >>> critical_sizes(0.9, 0.05, 100)
    array([29, 46, 61, 76, 89])
    """
    sizes = _critical_sizes(precision, alpha)
    return sizes[: int(np.searchsorted(sizes, most + 1e-9, side="right"))]


@lru_cache
def _critical_sizes(precision: float, alpha: float) -> np.ndarray:
    wrong = np.unique(np.append(np.arange(6), np.floor(5 * _STEP ** np.arange(_N_STEPS))))
    return (wrong + 1 + scipy.stats.nbinom.ppf(1 - alpha, wrong + 1, 1 - precision)).astype(np.int64)


def p_value(right: ArrayLike, size: ArrayLike, target: float) -> np.ndarray:
    """Compute the p-value of the hypothesis that the precision is at most the target.

    Parameters
    ----------
    right : array-like
        Numbers of right decisions, which need not be whole.
    size : array-like
        Numbers of decisions, which need not be whole.
    target : float
        Precision under the hypothesis.

    Returns
    -------
    ndarray
        Probability of at least as many right decisions.

    Examples
    --------
    >>> p_value([28, 29], 29, 0.9).round(3)
    array([0.199, 0.047])
    """
    right, size = np.broadcast_arrays(np.asarray(right, dtype=np.float64), np.asarray(size, dtype=np.float64))
    target = min(target, 1.0)
    positive = np.maximum(right, np.finfo(float).tiny)
    return np.where(right > 0, special.betainc(positive, size - np.minimum(positive, size) + 1, target), 1.0)


def curve_of(
    y: np.ndarray, p: np.ndarray, weights: np.ndarray | None = None, groups: np.ndarray | None = None
) -> Curve:
    """Count the decisions of a label at every possible threshold.

    Parameters
    ----------
    y : ndarray of shape (n_cells,)
        Recorded labels, 0 or 1.
    p : ndarray of shape (n_cells,)
        Probabilities in [0, 1].
    weights : ndarray of shape (n_cells,) or None, default=None
        Weights.
    groups : ndarray of int of shape (n_cells,) or None, default=None
        Group of each cell.

    Returns
    -------
    Curve
        The curve.

    Examples
    --------
    >>> curve_of(np.array([1, 0, 1]), np.array([0.9, 0.4, 0.4])).right
    array([1., 2.])
    """
    order = np.argsort(-p)
    y, p = y[order].astype(np.float64), p[order]
    n = np.arange(1.0, len(p) + 1)
    total, right, size, expected = n, np.cumsum(y), n, np.cumsum(p)
    n_positives = y.sum()
    if weights is not None or groups is not None:
        w = np.ones(len(p)) if weights is None else weights[order]
        units = np.arange(len(p)) if groups is None else groups[order]
        total, right, expected, size = np.cumsum(w), np.cumsum(w * y), np.cumsum(w * p), _sizes(w, units)
        n_positives = _sizes(w[y == 1], units[y == 1])[-1] if n_positives else 0.0
    next_lower = np.append(p[1:], 0.0)
    last = np.flatnonzero(p > next_lower)
    share = right / total
    recall = right / right[-1] if n_positives else np.full(len(p), np.nan)
    mean = expected / total
    every = Curve(next_lower, n.astype(np.int64), total, size, size * share, mean, recall, float(n_positives))
    return every.at(last)


def _sizes(w: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the effective number of the first cells, for each number of them."""
    w = w / w.max(initial=0)
    by_unit = np.argsort(units, kind="stable")
    sums = np.cumsum(w[by_unit])
    starts = np.flatnonzero(np.diff(units[by_unit], prepend=-1))
    before = np.repeat((sums - w[by_unit])[starts], np.diff(np.append(starts, len(w))))
    own = np.empty(len(w))
    own[by_unit] = sums - before  # Sum of the group up to and including each cell.
    # Each cell is kept with probability w. The expected squares of the kept numbers of the groups grow by this.
    return np.cumsum(w) ** 2 / np.cumsum(w * (2 * (own - w) + 1))


def lower_limit(right: ArrayLike, size: ArrayLike, alpha: float) -> np.ndarray:
    """Compute the exact lower confidence limit of a share (Clopper & Pearson 1934).

    Parameters
    ----------
    right, size : array-like
        Numbers of right decisions and of decisions, which need not be whole.
    alpha : float
        Error probability.

    Returns
    -------
    ndarray
        Lower limits.

    Examples
    --------
    >>> lower_limit([0, 29], 29, 0.05).round(3)
    array([0.   , 0.902])
    """
    right, size = np.broadcast_arrays(np.asarray(right, dtype=np.float64), np.asarray(size, dtype=np.float64))
    positive = np.maximum(right, np.finfo(float).tiny)
    return np.where(right > 0, special.betaincinv(positive, size - np.minimum(positive, size) + 1, alpha), 0.0)


class Certificate(NamedTuple):
    """Certificate of a label, or the reason why it has none.

    Attributes
    ----------
    threshold, precision_low, n_decisions, recall, recall_low, recall_high : float
        As in the table of :func:`certify`. All are NaN if there is a reason, except 0 decisions.
    reason : str
        Sentence, empty for a certificate.
    """

    threshold: float = np.nan
    precision_low: float = np.nan
    n_decisions: int = 0
    recall: float = np.nan
    recall_low: float = np.nan
    recall_high: float = np.nan
    reason: str = ""


def certificate_of(
    curve: Curve, precision: float, alpha: float, *, recall: float | None = None, wrong_positives: float = 0.0
) -> Certificate:
    """Find the lowest threshold of a label whose precision is certified.

    Parameters
    ----------
    curve : Curve
        Curve of the label.
    precision : float
        Target.
    alpha : float
        Error probability.
    recall : float or None, default=None
        Target of the recall, which takes half of the error probability. It needs complete labels.
    wrong_positives : float, default=0.0
        Share of the recorded positives among decisions that may be wrong.

    Returns
    -------
    Certificate
        The certificate.

    Examples
    --------
    >>> p = np.linspace(0.9, 0.1, 100)
    >>> certificate_of(curve_of(p > 0.5, p), 0.9, 0.05).n_decisions
    46
    """
    if not curve.n_positives:
        return Certificate(reason="no recorded positive")
    of_precision = alpha if recall is None else alpha / 2
    target = precision / (1 - wrong_positives)
    if target >= 1:
        return Certificate(reason=f"{wrong_positives:.0%} of recorded positives may be wrong")
    tested = curve.sequence(target, of_precision)
    if not len(tested.size):
        least = math.ceil(math.log(of_precision) / math.log(target))
        size, n = curve.size.max(initial=0), curve.n_decisions.max(initial=0)
        kind, digits = _kind(size, n)
        found = f"{size:.{digits}f} {kind} above any threshold"
        return Certificate(reason=f"{found}; {least} right ones in a row are needed")
    fails = np.append(p_value(tested.right, tested.size, target) > of_precision, True)
    n_passed = int(fails.argmax())
    if not n_passed:
        return Certificate(reason=_shortfall(tested, target, of_precision))
    last = n_passed - 1
    # The threshold depends on the labels, so a limit above the target holds for all thresholds together.
    low = lower_limit(tested.right[last], tested.size[last], of_precision / len(tested.size)) * (1 - wrong_positives)
    precision_low = max(precision, float(low))
    threshold, share, n = float(tested.threshold[last]), float(tested.recall[last]), curve.n_positives
    low, high = (lower_limit(n * each, n, alpha / 2) for each in (share, 1 - share))
    # Lower thresholds have a higher limit, so this is the fixed sequence from the lowest threshold upward.
    if recall is not None and low < recall:
        found = f"precision is certified above {threshold:.3g} only, where recall is at least {low:.3g}"
        return Certificate(reason=f"{found}; {recall:g} is asked for")
    n_decisions = int(tested.n_decisions[last])
    return Certificate(threshold, precision_low, n_decisions, share, float(low), 1 - float(high))


def _least_right(size: float, target: float, alpha: float) -> float:
    """Return how many of the effective decisions must be right for a certificate. Infinity if all are too few."""
    if p_value(size, size, target) > alpha:
        return np.inf
    return optimize.brentq(lambda right: float(p_value(right, size, target)) - alpha, 0, size)


def _kind(size: float, n_decisions: int) -> tuple[str, int]:
    """Return a phrase for decisions and the number of digits of their number."""
    return ("decisions", 0) if size == n_decisions else ("effective decisions", 1)


def _shortfall(tested: Curve, target: float, alpha: float) -> str:
    """Return a sentence on the first test, which failed."""
    right, size = tested.right[0], tested.size[0]
    kind, digits = _kind(size, tested.n_decisions[0])
    least = math.ceil(_least_right(size, target, alpha) * 10**digits) / 10**digits
    found = f"{right:.{digits}f} of {size:.{digits}f} {kind} are recorded positives above {tested.threshold[0]:.3g}"
    return f"{found}; {least:.{digits}f} are needed"


def certify(
    Y: Matrix,
    P: Matrix,
    *,
    precision: float = PRECISION,
    confidence: float = CONFIDENCE,
    recall: float | None = None,
    checked: pd.DataFrame | None = None,
    negatives: Negatives = "unlabeled",
    wrong_positives: float = 0.0,
    groups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    joint: bool = False,
) -> pd.DataFrame:
    """Find a threshold for each label above which decisions are right often enough, with a confidence level.

    Parameters
    ----------
    Y : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_labels)
        Recorded labels, 0 or 1. NaN marks an unmeasured label. A 0 may be a missing positive, under any mechanism.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probabilities, corrected for missing labels or not.
    precision : float, default=0.9
        Share of the decisions that must be right.
    confidence : float, default=0.95
        Probability that the certificate of a label holds.
    recall : float or None, default=None
        Share of the positives that must be above the threshold, too. It needs complete labels: confirmed negatives, or
        a check of all cells without a recorded positive. It takes half of the error probability.
    checked : DataFrame or None, default=None
        Filled sheet with the columns ``sample, label_index, label``, as of :func:`cells_to_certify`. Its labels replace
        recorded ones. Rows with an empty label are ignored. Cells may be chosen in any way.
    negatives : {"unlabeled", "confirmed"}, default="unlabeled"
        Meaning of labels of 0. ``"confirmed"`` states that no positive is missing.
    wrong_positives : float, default=0.0
        Share of the recorded positives among the decisions that may be wrong.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample. Decisions count by their effective number, as if samples of a group were copies. Wrong
        decisions must not depend on the size of the group.
    weights : array-like of shape (n_samples,) or None, default=None
        Positive weight of each sample. A decision counts by the ratio of its weight to the largest one, so a few large
        weights cost certificates. Limit them beforehand.
    joint : bool, default=False
        Whether all certificates hold at once with this confidence, instead of each one (Bonferroni over the labels with
        enough decisions).

    Returns
    -------
    DataFrame
        One row per label with these columns:

        - ``label`` : name of the column of `Y`, or its index
        - ``threshold`` : decisions have a probability above it; NaN without a certificate
        - ``precision_low`` : certified precision: the target, or a higher limit that holds for all tested thresholds
        - ``n_decisions`` : number of measured cells above the threshold
        - ``recall``, ``recall_low``, ``recall_high`` : share of the recorded positives above the threshold, with its
          confidence interval. It is the recall if no positive is missing, or if positives are missing at random.
        - ``n_unmeasured`` : number of unmeasured cells, which are left out
        - ``reason`` : why there is no certificate; empty with one

    Raises
    ------
    DataError
        If an argument is out of range, labels or probabilities are invalid, the sheet does not fit, or a recall is
        asked for although positives may be missing.

    See Also
    --------
    cells_to_certify : Choose cells to check for more certificates.

    Notes
    -----
    ``fairfold.evaluation.certificates`` states the method. A certificate is about models that are trained on the other
    folds, and about new samples from the same population. Run time grows with n_samples · n_labels · log(n_samples).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.random((1000, 2)) ** [1, 9]
    >>> Y = (rng.random(P.shape) < P).astype(int)
    >>> table = certify(Y, P)
    >>> table[["label", "threshold", "precision_low", "n_decisions"]].round(2)
       label  threshold  precision_low  n_decisions
    0      0       0.86            0.9          142
    1      1        NaN            NaN            0
    >>> table["reason"][1]
    '26 of 29 decisions are recorded positives above 0.764; 29 are needed'
    """
    labels = _Labels(Y, P, checked, groups, weights)
    check_targets(precision, confidence, recall, wrong_positives)
    check_negatives(negatives, DataError)
    if recall is not None and negatives != "confirmed" and not labels.is_complete:
        raise DataError(
            "recall: expected complete labels, but a 0 may be a missing positive. Give negatives='confirmed' if labels "
            "are complete, or leave out the recall."
        )
    alpha = level_of(labels.curves, precision / (1 - wrong_positives), 1 - confidence, joint=joint)
    found = [
        certificate_of(curve, precision, alpha, recall=recall, wrong_positives=wrong_positives)
        for curve in labels.curves
    ]
    table = pd.DataFrame(found, columns=Certificate._fields)
    table.insert(0, "label", labels.names)
    n_unmeasured = (labels.Y == UNMEASURED).sum(axis=0)
    table.insert(len(table.columns) - 1, "n_unmeasured", n_unmeasured)
    table.loc[n_unmeasured == len(labels.Y), "reason"] = "no measured cell"
    return table


def cells_to_certify(
    Y: Matrix,
    P: Matrix,
    n: int,
    *,
    precision: float = PRECISION,
    confidence: float = CONFIDENCE,
    checked: pd.DataFrame | None = None,
    wrong_positives: float = 0.0,
    groups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> pd.DataFrame:
    """Choose the cells whose check can certify the most labels, then the most decisions.

    Each label without a certificate gets a few cells, then the labels that need the fewest right ones get all. The next
    cells lower the thresholds of labels with a certificate, those first that need the fewest right ones for each
    decision that is won. Cells of a label are among the decisions of the first test that fails, those with the lowest
    probabilities first, because a wrong one ends the check of a label early. Check a part of the cells, then choose
    again with `checked`.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Recorded labels, 0 or 1. NaN marks an unmeasured label.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Out-of-fold probabilities.
    n : int
        Number of cells.
    precision, confidence, wrong_positives, groups, weights
        As in :func:`certify`.
    checked : DataFrame or None, default=None
        Filled sheet of earlier rounds.

    Returns
    -------
    DataFrame
        At most `n` rows with the columns ``sample, label_index, label``. ``label`` is empty (NaN). No row if no check
        can certify more decisions.

    Raises
    ------
    DataError
        If an argument is invalid.

    See Also
    --------
    certify : Certify labels with the filled sheet.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.random((500, 2))
    >>> Y = (rng.random(P.shape) < P**0.2) & (rng.random(P.shape) < 0.8)
    >>> cells_to_certify(Y.astype(int), P, 3)
       sample  label_index  label
    0     335            0    NaN
    1     221            0    NaN
    2     395            0    NaN
    """
    labels = _Labels(Y, P, checked, groups, weights)
    check_targets(precision, confidence, None, wrong_positives)
    check_whole_number("n", n, 1)
    target, alpha = precision / (1 - wrong_positives), 1 - confidence
    firsts, seconds, further = [], [], []
    for label, curve in enumerate(labels.curves):
        tested = curve.sequence(target, alpha) if target < 1 else curve.at(np.empty(0, dtype=np.int64))
        fails = p_value(tested.right, tested.size, target) > alpha
        if not fails.any():
            continue
        place = int(fails.argmax())
        above = labels.P[:, label] > tested.threshold[place]
        is_open = above & (labels.Y[:, label] == 0) & ~labels.is_known[:, label]
        cells = np.flatnonzero(is_open)
        cells = cells[np.argsort(labels.P[cells, label], kind="stable")]
        weight = labels.weights[above & (labels.Y[:, label] != UNMEASURED)].sum()
        won = tested.size[place] * np.cumsum(labels.weights[cells]) / weight
        needed = _least_right(tested.size[place], target, alpha) - tested.right[place]
        missing = 1 + int(np.searchsorted(won, needed - 1e-9))
        if missing > len(cells):
            continue
        if place:
            gain = tested.n_decisions[place] - tested.n_decisions[place - 1]
            further.append((missing / gain, label, cells))
            continue
        n_first = max(_FIRST_CELLS - np.count_nonzero(above & labels.is_known[:, label]), 0)
        firsts.append((missing, label, cells[:n_first]))
        seconds.append((missing, label, cells[n_first:]))
    parts = [part for each in (firsts, seconds, further) for part in sorted(each, key=lambda part: part[:2])]
    samples = np.concatenate([np.empty(0, dtype=np.int64), *(cells for *_, cells in parts)])[:n]
    columns = np.repeat([label for _, label, _ in parts], [len(cells) for *_, cells in parts])[:n]
    return pd.DataFrame({"sample": samples, "label_index": columns.astype(np.int64), "label": np.nan})


def level_of(curves: list[Curve], target: float, alpha: float, *, joint: bool) -> float:
    """Return the error probability of each certificate.

    Parameters
    ----------
    curves : list of Curve
        Curves of all labels.
    target : float
        Precision to certify.
    alpha : float
        Error probability, of each label or of all.
    joint : bool
        Whether it is that of all labels.

    Returns
    -------
    float
        Error probability, divided by the number of labels with enough decisions if it is that of all.
    """
    if not joint or target >= 1:
        return alpha
    return alpha / max(sum(len(curve.sequence(target, alpha).size) > 0 for curve in curves), 1)


def check_targets(
    precision: float, confidence: float, recall: float | None, wrong_positives: float, name: str = "precision"
) -> None:
    """Check the numbers that define a certificate.

    Parameters
    ----------
    precision, confidence : float
        Target and confidence, above 0 and below 1.
    recall : float or None
        Second target.
    wrong_positives : float
        Share of recorded positives that may be wrong.
    name : str, default="precision"
        Name of the target in messages.

    Raises
    ------
    DataError
        If a number is out of range.
    """
    for where, value in ((name, precision), ("confidence", confidence), ("recall", recall)):
        if value is not None and not (isinstance(value, Real) and 0 < value < 1):
            raise DataError(f"{where}: expected a number above 0 and below 1, such as 0.9, found {value!r}.")
    if not (isinstance(wrong_positives, Real) and 0 <= wrong_positives < 1):
        raise DataError(f"wrong_positives: found {wrong_positives!r}. Give a share of at least 0 and below 1.")


class _Labels:
    """Checked input: labels with those of a filled sheet, probabilities, and the curve of each label."""

    def __init__(
        self,
        Y: Matrix,
        P: Matrix,
        checked: pd.DataFrame | None,
        groups: ArrayLike | None,
        weights: ArrayLike | None,
    ) -> None:
        codes, self.P = _checked_pair(Y, P)
        self.names = list(Y.columns) if isinstance(Y, pd.DataFrame) else list(range(codes.shape[1]))
        self.Y, self.is_known = codes.copy(), np.zeros(codes.shape, dtype=bool)
        if checked is not None:
            cells, values = cells_with_labels(checked, codes)
            self.Y[cells], self.is_known[cells] = values, True
        self.is_complete = not ((self.Y == 0) & ~self.is_known).any()
        checked_weights = check_weights(weights, len(codes), DataError)
        self.weights = np.ones(len(codes)) if checked_weights is None else checked_weights
        self.curves = _curves(self.Y, self.P, groups, checked_weights)


def _checked_pair(Y: Matrix, P: Matrix) -> tuple[np.ndarray, np.ndarray]:
    Y, P = check_pair(to_dense(Y, "Y", DataError), to_dense(P, "P", DataError), "Y")
    if not (P.min() >= 0 and P.max() <= 1):
        raise DataError("P: expected probabilities from 0 to 1, found other numbers. Give calibrated probabilities.")
    return Y, P


def _curves(Y: np.ndarray, P: np.ndarray, groups: ArrayLike | None, weights: ArrayLike | None) -> list[Curve]:
    weights = check_weights(weights, len(Y), DataError)
    units = None if groups is None else numbered(groups, len(Y), DataError)[1]
    found = []
    for y, p in zip(Y.T, P.T, strict=True):
        measured = slice(None) if (y != UNMEASURED).all() else y != UNMEASURED
        parts = (None if each is None else each[measured] for each in (weights, units))
        found.append(curve_of(y[measured], p[measured], *parts))
    return found


def curves_of(Y: Matrix, P: Matrix, groups: ArrayLike | None = None, weights: ArrayLike | None = None) -> list[Curve]:
    """Count the decisions of all labels.

    Parameters
    ----------
    Y, P, groups, weights
        As in :func:`certify`.

    Returns
    -------
    list of Curve
        Curve of each label.
    """
    return _curves(*_checked_pair(Y, P), groups, weights)


def cells_with_labels(checked: pd.DataFrame, Y: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return the cells of a filled sheet that have a label.

    Parameters
    ----------
    checked : DataFrame
        Sheet with the columns ``sample, label_index, label``.
    Y : ndarray of shape (n_samples, n_labels)
        Recorded labels, with ``UNMEASURED`` for unmeasured labels.

    Returns
    -------
    cells : tuple of ndarray of int
        Samples and labels.
    values : ndarray of int
        0 or 1.

    Raises
    ------
    DataError
        If a column is missing or a value does not fit.
    """
    if absent := [name for name in _SHEET if name not in checked]:
        raise DataError(f"checked: the column {absent[0]!r} is missing. Keep all columns of the sheet.")
    filled = checked[checked["label"].notna() & (checked["label"].astype(str).str.strip() != "")]
    sample, label, value = (pd.to_numeric(filled[name], errors="coerce").to_numpy(float) for name in _SHEET)
    fits = [np.isin(sample, np.arange(Y.shape[0])), np.isin(label, np.arange(Y.shape[1])), np.isin(value, (0, 1))]
    ranges = f"a row from 0 to {Y.shape[0] - 1}", f"a column from 0 to {Y.shape[1] - 1}", "0, 1 or an empty cell"
    for name, is_right, expected in zip(_SHEET, fits, ranges, strict=True):
        if not is_right.all():
            wrong = filled[name].iloc[int(np.argmin(is_right))]
            raise DataError(f"checked, column {name!r}: expected {expected}, found {wrong}. Correct the value.")
    cells = sample.astype(np.int64), label.astype(np.int64)
    if (Y[cells] == UNMEASURED).any():
        raise DataError("checked: found a cell that is unmeasured in Y. Leave it out, or enter its label in Y.")
    if len(np.unique(cells[0] * Y.shape[1] + cells[1])) < len(filled):
        raise DataError("checked: found a cell twice. Keep one row for each cell.")
    return cells, value.astype(np.int64)
