"""Do observed labels speak against positives that are missing completely at random?

*Selected completely at random* (SCAR): each positive is observed with the same probability c, whatever its sample, its
label, and how hard it is. Corrected scores and estimated missing rates suppose it. Of P(observed | x) = c(x) P(positive
| x) nothing but the product is ever seen, so that SCAR as a whole cannot be tested: labels of which the hard positives
are missing look like complete labels that are easy. What can be seen rests on one more supposition, that of
:mod:`~fairfold.weak_labels.plateau`: where scores stop raising the observed share, samples are positive, and what
is still missing there is missing. Two departures show then, each with a test of its own:

- *samples* differ (annotators, say): if one sure label of a sample is missing, others are, too. The residuals of two
  labels of a sample covary by v (c π_j) (c π_k) + ρ c² √(π_j (1 - π_j) π_k (1 - π_k)), where π are probabilities of
  being positive and v is the variance of samples' frequencies over their squared mean. The second term is what labels
  that depend on each other do, and dies out where both are sure; the first does not. Both are fitted by least squares
  over all pairs, and errors are from sums over samples (or groups, where there are some), so that pairs of one sample
  need not be independent.
- *groups* differ: the same of pairs of cells from two samples of a group.

Dependence has not quite that shape. So what is tested is no spread of zero, but one no larger than complete labels
seemed to have: v of at most 0.15, that of CHD_49's labels, or frequencies with a standard deviation of two fifths of
their mean. This margin and all else were chosen on flags, emotions, CHD_49, VirusGO and yeast;
docs/how-it-works/missing-labels.md has level and power. Smaller departures go unseen, and so do these, of whatever
size:

- hard positives are missing, and easy ones observed;
- *labels* differ: their observed shares end at plateaus of different height, but so do those of complete labels that
  are not as easy to predict. A likelihood ratio test of equal plateaus rejected enron's complete labels, and saw three
  of fifteen cases where half of the labels missed seven tenths and the others nothing, so there is none;
- the frequency goes with features, in ways that samples of a group or labels of a sample do not share;
- positives are wrong.

So a p-value that is not small says no more than that. On CHD_49, at the margin itself, the level is not kept always.

Teisseyre, Furmańczyk & Mielniczuk (2024, "Verifying the selected completely at random assumption in positive-unlabeled
learning", arXiv 2404.00145) test one label: they take the likeliest samples for its positives, label some of them at
random, and compare how features of labelled ones and positives differ. Where positives are not known for sure, the
likeliest are the easy ones, and those that are observed are of all kinds, as if labels had not gone missing at random;
hence pairs of cells here, and only what is left where models are sure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from fairfold.core.groups import group_codes
from fairfold.errors import ModelError
from fairfold.weak_labels.plateau import check_given, fit_curves, logits

TESTS = ("samples", "groups", "labels")
MARGIN = 0.15  # relative variance of label frequencies that complete labels may seem to have
_FEWEST = 5  # observed positives of a label that takes part
_FEWEST_UNITS = 10  # samples or groups
_OF_LABELS = "a label of which more is missing looks like one that is harder to predict"
_COLUMNS = ["test", "estimate", "margin", "p_value", "p_adjusted", "reason"]


class _Finding(NamedTuple):
    """A row but for the adjusted p-value."""

    test: str
    estimate: float = np.nan
    margin: float = np.nan
    p_value: float = np.nan
    reason: str = ""


class _Cells(NamedTuple):
    """Of labels that take part, (n_samples, n_labels) each; ``is_measured`` is 1 or 0."""

    scores: np.ndarray
    is_observed: np.ndarray
    is_measured: np.ndarray


def scar_tests(
    observed: np.ndarray, probabilities: np.ndarray, label_frequency: float, *, groups: np.ndarray | None = None
) -> pd.DataFrame:
    """Test whether label frequencies differ between samples or between groups.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen; NaN is an unmeasured one, which takes no part.
    probabilities : (n_samples, n_labels) that a label is observed, of a model that did not see the sample, as for
        :func:`~fairfold.weak_labels.plateau.frequency_distribution`.
    label_frequency : share of positives that are observed, above 0, at most 1; its median there.
    groups : (n_samples,) what samples belong to, or None.

    Returns
    -------
    DataFrame with the columns ``test, estimate, margin, p_value, p_adjusted, reason``
        A row for each of ``TESTS``: the relative variance v of frequencies; the value up to which the hypothesis holds;
        the one-sided p-value of what lies above, and the same adjusted over the tests that could be made (Holm 1979).
        NaN where there is no test, and why. Time grows with n·q.

    Raises
    ------
    ModelError
        When shapes differ, labels, probabilities or groups are none, or the frequency is no share.
    """
    observed, P = check_given(observed, probabilities)
    if not 0 < label_frequency <= 1:
        raise ModelError(f"the label frequency is {label_frequency}; it must be above 0 and at most 1.")
    codes = None if groups is None else group_codes(groups, len(observed))
    tested = (observed == 1).sum(axis=0) >= _FEWEST
    if tested.sum() < 2:
        reason = f"fewer than two labels have {_FEWEST} observed positives"
        return _table([_Finding(test, reason=reason) for test in TESTS])
    observed = observed[:, tested]
    cells = _Cells(logits(P[:, tested]), observed == 1, (observed >= 0).astype(np.float64))
    of_labels = _Finding("labels", reason=_OF_LABELS)
    return _table([*_tests_of_units(cells, label_frequency, codes), of_labels])


def _table(findings: list[_Finding]) -> pd.DataFrame:
    table = pd.DataFrame(findings)
    return table.assign(p_adjusted=_holm(table["p_value"].to_numpy()))[_COLUMNS]


def _holm(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values (Holm 1979), of those that are numbers."""
    adjusted, known = np.full(len(p), np.nan), np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _tests_of_units(cells: _Cells, c: float, codes: np.ndarray | None) -> list[_Finding]:
    positive = _curves_at(cells, c)
    sure, unsure = c * positive * cells.is_measured, c * np.sqrt(positive * (1 - positive)) * cells.is_measured
    residuals = (cells.is_observed - c * positive) * cells.is_measured
    in_samples = partial(_pairs_in_samples, codes=codes)
    found = [_test_of_spread("samples", in_samples, sure, unsure, residuals)]
    if codes is None:
        return [*found, _Finding("groups", reason="the data name no groups")]
    return [*found, _test_of_spread("groups", partial(_pairs_in_groups, codes=codes), sure, unsure, residuals)]


def _curves_at(cells: _Cells, c: float) -> np.ndarray:
    """(n_samples, n_labels) probabilities of being positive, of the logistic curves that fit with this frequency."""
    whole = [part.reshape(-1, 1) for part in cells]
    pooled, _ = fit_curves(*whole, c, np.array([[1.0, 0.0]]), None)
    curves, _ = fit_curves(*cells, c, np.repeat(pooled, cells.scores.shape[1], axis=0), None)
    return scipy.special.expit(cells.scores * curves[:, 0] + curves[:, 1])


def _pairs_in_samples(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    """(n_samples,) or (n_groups,) sums of products of two labels' values in a sample, each pair twice."""
    sums = values.sum(axis=1) ** 2 - (values**2).sum(axis=1)
    return sums if codes is None else np.bincount(codes, sums)


def _pairs_in_groups(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(n_groups,) sums of products of two samples' values in a group, of any labels, each pair twice."""
    of_samples = values.sum(axis=1)
    return np.bincount(codes, of_samples) ** 2 - np.bincount(codes, of_samples**2)


def _test_of_spread(
    test: str, pairs: Callable[[np.ndarray], np.ndarray], sure: np.ndarray, unsure: np.ndarray, residuals: np.ndarray
) -> _Finding:
    """Least squares of products of residuals on those of both, errors from the units' sums; Student's t."""
    factors = (sure * sure, sure * unsure, unsure * unsure, sure * residuals, unsure * residuals)
    ss, su, uu, sr, ur = units = np.array([pairs(factor) for factor in factors])
    n_units = int((ss > 0).sum())
    if n_units < _FEWEST_UNITS:
        return _Finding(test, reason=f"{n_units} {test} have pairs of cells; {_FEWEST_UNITS} are needed")
    total = units.sum(axis=1)
    rest = total[0] - total[1] ** 2 / total[2] if total[2] > 0 else total[0]
    if rest <= 1e-9 * total[0]:
        return _Finding(test, reason="no cell is surer than others")
    share = total[1] / total[2] if total[2] > 0 else 0.0
    spread = (total[3] - share * total[4]) / rest
    dependence = (total[4] - spread * total[1]) / total[2] if total[2] > 0 else 0.0
    scores = (sr - spread * ss - dependence * su) - share * (ur - spread * su - dependence * uu)
    error = np.sqrt(n_units / (n_units - 1) * (scores**2).sum()) / rest
    p_value = scipy.special.stdtr(n_units - 1, -(spread - MARGIN) / error) if error > 0 else np.nan
    return _Finding(test, spread, MARGIN, p_value, "" if error > 0 else "residuals do not vary")
