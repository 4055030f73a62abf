"""Test whether observed labels contradict positives that are missing completely at random.

*Selected completely at random* (SCAR) means that each positive is observed with the same probability c, regardless of
its sample, its label and its difficulty. Corrected scores and estimated missing rates assume SCAR. Data only show the
product P(observed | x) = c(x) P(positive | x), so SCAR as a whole cannot be tested: labels with missing hard positives
look like complete, easy labels. The tests use the additional assumption of :mod:`~fairfold.missing_labels.plateau`:
samples are positive where higher scores no longer raise the observed share. Two departures are then visible:

- *samples* differ, for example because of their annotators. If one certain label of a sample is missing, others are
  more likely to be missing. The residuals of two labels of a sample have the covariance
  v (c π_j) (c π_k) + ρ c² √(π_j (1 - π_j) π_k (1 - π_k)), where π is the probability of being positive and v is the
  variance of the samples' frequencies over their squared mean. The second term describes dependent labels and vanishes
  if both labels are certain. The first term does not vanish. Least squares over all pairs fits both terms. Standard
  errors come from sums over samples, or over groups if groups are given, so pairs of one sample need not be
  independent.
- *groups* differ. The test is the same, with pairs of cells from two samples of a group.

The null hypothesis is v ≤ 0.15 instead of v = 0, because dependent labels do not have exactly this covariance. This
margin corresponds to a standard deviation of the frequencies of about 0.4 times their mean. It is the value of the
complete labels of CHD_49. The margin and all other constants were chosen on flags, emotions, CHD_49, VirusGO and yeast.
docs/evidence/missing-labels.md reports level and power.

Limitations
-----------
A p-value that is not small does not support SCAR. The test does not always keep its level on CHD_49, where v is at the
margin. It misses departures below the margin, and the following departures of any size:

- hard positives are missing and easy ones are observed;
- *labels* differ. Their observed shares have plateaus of different heights, but so do complete labels that differ in
  difficulty. A likelihood ratio test of equal plateaus rejected the complete labels of enron and had low power, so it
  is not included;
- the frequency depends on features in a way that is not shared by the samples of a group or the labels of a sample;
- observed positives are wrong.

Labels that exclude or complement another one are left out, because they are dependent however labels are missing.

Teisseyre, Furmańczyk & Mielniczuk (2024, "Verifying the selected completely at random assumption in positive-unlabeled
learning", arXiv 2404.00145) test a single label. They treat the samples with the highest probabilities as its
positives, label some of them at random, and compare the features of labeled samples and positives. If positives are not
known with certainty, the samples with the highest probabilities are the easy ones, whereas observed positives vary in
difficulty. The test then detects a departure although labels are missing at random. This module therefore uses pairs of
cells and only the samples with certain predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from fairfold.core.groups import group_codes
from fairfold.core.probabilities import logits
from fairfold.errors import ModelError
from fairfold.missing_labels.bound import check_given
from fairfold.missing_labels.plateau import Cells, fit_curves

TESTS = ("samples", "groups", "labels")
MARGIN = 0.15  # Largest relative variance of label frequencies that the null hypothesis allows.
_FEWEST = 5  # Minimum number of observed positives of a tested label.
_FEWEST_UNITS = 10  # Minimum number of samples or groups.
_OF_LABELS = "labels with more missing positives look like labels that are harder to predict"
_COLUMNS = ["test", "estimate", "margin", "p_value", "p_adjusted", "reason"]


class _Finding(NamedTuple):
    """Row of the result without the adjusted p-value."""

    test: str
    estimate: float = np.nan
    margin: float = np.nan
    p_value: float = np.nan
    reason: str = ""


def scar_tests(
    observed: np.ndarray, probabilities: np.ndarray, label_frequency: float, *, groups: np.ndarray | None = None
) -> pd.DataFrame:
    """Test whether label frequencies differ between samples or between groups.

    Parameters
    ----------
    observed : array-like of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label, which is ignored.
    probabilities : ndarray of shape (n_samples, n_labels)
        Probabilities that a label is observed, from a model that was not trained on the sample. See
        :func:`~fairfold.missing_labels.plateau.frequency_distribution`.
    label_frequency : float
        Share of positives that is observed, above 0 and at most 1, such as the median of the estimated distribution.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample.

    Returns
    -------
    DataFrame
        A row for each test in ``TESTS``, with these columns:

        - ``test``: name of the test;
        - ``estimate``: relative variance v of the frequencies;
        - ``margin``: largest v of the null hypothesis;
        - ``p_value``: one-sided p-value, NaN without a test;
        - ``p_adjusted``: p-value adjusted for the number of tests (Holm 1979);
        - ``reason``: why there is no test, otherwise empty.

    Raises
    ------
    ModelError
        If shapes differ, labels, probabilities or groups are invalid, or the frequency is out of range.

    Notes
    -----
    Time grows with n_samples · n_labels.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.missing_labels import scar_tests
    >>> rng = np.random.default_rng(0)
    >>> probabilities = rng.random((200, 3))
    >>> observed = (rng.random((200, 3)) < probabilities).astype(int)
    >>> scar_tests(observed, probabilities, label_frequency=1.0)["reason"].tolist()
    ['', 'the data have no groups', 'labels with more missing positives look like labels that are harder to predict']
    """
    observed, P = check_given(observed, probabilities)
    if not 0 < label_frequency <= 1:
        raise ModelError(f"label_frequency: found {label_frequency}. Give a number above 0 and at most 1.")
    codes = None if groups is None else group_codes(groups, len(observed))
    tested = ((observed == 1).sum(axis=0) >= _FEWEST) & ~_bound_to_others(observed)
    if tested.sum() < 2:
        reason = f"fewer than two labels have {_FEWEST} observed positives and neither exclude nor complement others"
        return _table([_Finding(test, reason=reason) for test in TESTS])
    observed = observed[:, tested]
    cells = Cells(logits(P[:, tested]), observed == 1, (observed >= 0).astype(np.float64))
    return _table([*_tests_of_units(cells, label_frequency, codes), _Finding("labels", reason=_OF_LABELS)])


def _bound_to_others(observed: np.ndarray) -> np.ndarray:
    """Return the labels that exclude or complement another one: both are never 1, or never 0, beyond chance.

    Such labels are dependent, so that their residuals do not show how labels are missing.
    """
    found = np.zeros(observed.shape[1], dtype=bool)
    for value in (0, 1):
        has = (observed == value).astype(np.float64)
        expected = np.outer(has.sum(axis=0), has.sum(axis=0)) / len(has)
        found |= ((has.T @ has == 0) & (expected >= _FEWEST)).any(axis=0)
    return found


def _table(findings: list[_Finding]) -> pd.DataFrame:
    table = pd.DataFrame(findings)
    return table.assign(p_adjusted=_holm(table["p_value"].to_numpy()))[_COLUMNS]


def _holm(p: np.ndarray) -> np.ndarray:
    """Adjust p-values by Holm's method (1979) and ignore NaN."""
    adjusted, known = np.full(len(p), np.nan), np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _tests_of_units(cells: Cells, c: float, codes: np.ndarray | None) -> list[_Finding]:
    positive = _curves_at(cells, c)
    sure, unsure = c * positive * cells.is_measured, c * np.sqrt(positive * (1 - positive)) * cells.is_measured
    residuals = (cells.is_observed - c * positive) * cells.is_measured
    in_samples = partial(_pairs_in_samples, codes=codes)
    found = [_test_of_spread("samples", in_samples, sure, unsure, residuals)]
    if codes is None:
        return [*found, _Finding("groups", reason="the data have no groups")]
    return [*found, _test_of_spread("groups", partial(_pairs_in_groups, codes=codes), sure, unsure, residuals)]


def _curves_at(cells: Cells, c: float) -> np.ndarray:
    """Return the probabilities of being positive from logistic curves that are fitted with the label frequency c."""
    pooled, _ = fit_curves(cells.pooled(), c, np.array([[1.0, 0.0]]), None)
    curves, _ = fit_curves(cells, c, np.repeat(pooled, cells.scores.shape[1], axis=0), None)
    return scipy.special.expit(cells.scores * curves[:, 0] + curves[:, 1])


def _pairs_in_samples(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    """Sum the products of the values of two labels in a sample. Each pair counts twice."""
    sums = values.sum(axis=1) ** 2 - (values**2).sum(axis=1)
    return sums if codes is None else np.bincount(codes, sums)


def _pairs_in_groups(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum the products of the values of two samples in a group, for all labels. Each pair counts twice."""
    of_samples = values.sum(axis=1)
    return np.bincount(codes, of_samples) ** 2 - np.bincount(codes, of_samples**2)


def _test_of_spread(
    test: str, pairs: Callable[[np.ndarray], np.ndarray], sure: np.ndarray, unsure: np.ndarray, residuals: np.ndarray
) -> _Finding:
    """Fit the products of residuals by least squares and test the spread with Student's t.

    Standard errors come from the sums over samples or groups.
    """
    factors = (sure * sure, sure * unsure, unsure * unsure, sure * residuals, unsure * residuals)
    ss, su, uu, sr, ur = units = np.array([pairs(factor) for factor in factors])
    n_units = int((ss > 0).sum())
    if n_units < _FEWEST_UNITS:
        return _Finding(test, reason=f"{n_units} {test} have pairs of cells; {_FEWEST_UNITS} are needed")
    total = units.sum(axis=1)
    rest = total[0] - total[1] ** 2 / total[2] if total[2] > 0 else total[0]
    if rest <= 1e-9 * total[0]:
        return _Finding(test, reason="the probabilities of the cells do not vary")
    share = total[1] / total[2] if total[2] > 0 else 0.0
    spread = (total[3] - share * total[4]) / rest
    dependence = (total[4] - spread * total[1]) / total[2] if total[2] > 0 else 0.0
    scores = (sr - spread * ss - dependence * su) - share * (ur - spread * su - dependence * uu)
    error = np.sqrt(n_units / (n_units - 1) * (scores**2).sum()) / rest
    p_value = scipy.special.stdtr(n_units - 1, -(spread - MARGIN) / error) if error > 0 else np.nan
    return _Finding(test, spread, MARGIN, p_value, "" if error > 0 else "residuals do not vary")
