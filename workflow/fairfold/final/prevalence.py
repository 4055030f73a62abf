"""Prevalence of each label in a new table, from the distribution of its predicted probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairfold.core.seeds import seed_sequence
from fairfold.errors import ModelError
from fairfold.evaluation.certified import n_held_out_of

COLUMNS = ["label", "in_training", "expected", "low", "high", "reason"]
_LEAST = 20  # positives and negatives out of fold, and new rows
_POSITIVES_OF_BIN = 5
_MOST_BINS = 10
_N_DRAWS = 400
_N_HALVINGS = 30
_N_CHAINS, _N_STEPS, _N_KEPT = 100, 60, 20  # of the Gibbs sampler
_SMOOTHING = 0.5  # added to each count, so that no probability is 0
_LEAST_FIT = 0.01  # p-value


class _Bins(NamedTuple):
    """Out-of-fold probabilities of a label, counted between thresholds."""

    thresholds: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray
    prevalence: float


class LabelCounts:
    """Probabilities of a new table that is given in parts, counted between the thresholds of each label.

    Parameters
    ----------
    thresholds : mapping of str to ndarray
        Thresholds of each label, the highest first.
    """

    def __init__(self, thresholds: Mapping[str, np.ndarray]) -> None:
        self._thresholds = thresholds
        self._counts = {label: np.zeros(len(each) + 1, dtype=np.int64) for label, each in thresholds.items()}
        self._n_rows = 0

    def add(self, P: pd.DataFrame) -> None:
        """Count the probabilities of the next rows.

        Parameters
        ----------
        P : DataFrame of shape (n_samples, n_labels)
            Probabilities, or posteriors of a model that corrects for missing labels, with the names of the labels.
        """
        self._n_rows += len(P)
        for label, counts in self._counts.items():
            counts += np.bincount(bins_of(P[label].to_numpy(), self._thresholds[label]), minlength=len(counts))


def bins_of(p: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the bin of each probability.

    Parameters
    ----------
    p : ndarray of shape (n_samples,)
        Probabilities.
    thresholds : ndarray of shape (n_bins - 1,)
        Lower limits of all bins but the last one, the highest first. A limit itself is in the bin below.

    Returns
    -------
    ndarray of shape (n_samples,)
        Numbers of the bins.

    Examples
    --------
    >>> bins_of(np.array([0.9, 0.8, 0.5, 0.1]), np.array([0.8, 0.4]))
    array([0, 1, 1, 2])
    """
    return len(thresholds) - np.searchsorted(thresholds[::-1], np.clip(p, 0, 1), side="left")


class ExpectedPrevalence(LabelCounts):
    """Estimate the prevalence of each label in a new table that is given in parts.

    Parameters
    ----------
    curves : DataFrame
        Table of ``fairfold.evaluation.certified.curve_table`` for out-of-fold probabilities of the training table, or
        for those of held-out samples.

    Raises
    ------
    ModelError
        If the table comes from an earlier version.

    Notes
    -----
    The estimate assumes label shift: the prevalence of a label may differ from that of the training table, but the
    probabilities of samples with the label, and of samples without it, are distributed as before. Probabilities are
    counted in at most ten bins. Estimate and interval are the mean and the central 95 % of the posterior distribution,
    in which all prevalences are equally likely beforehand, and so are all distributions over bins by Jeffreys' prior. A
    Gibbs sampler draws from it. It starts at estimates from parametric bootstrap draws of the out-of-fold counts and
    the new counts. Each of them maximizes the likelihood, as the EM algorithm of Saerens et al. (2002) does. These
    draws also show whether the new counts fit any prevalence: a label with a p-value below 0.01 has no estimate.

    References
    ----------
    M. Saerens, P. Latinne & C. Decaestecker (2002), Adjusting the outputs of a classifier to new a priori
    probabilities: a simple procedure, Neural Computation 14.

    Examples
    --------
    >>> from fairfold.evaluation.certified import curve_table
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random((2000, 1))
    >>> y = (rng.random((2000, 1)) < p).astype(int)
    >>> new = np.concatenate([rng.choice(p[y == 1], 800), rng.choice(p[y == 0], 200)])
    >>> counts = ExpectedPrevalence(curve_table(y, p, ["leaf"]))
    >>> counts.add(pd.DataFrame({"leaf": new}))
    >>> counts.table().round(1)[["label", "in_training", "expected"]]
      label  in_training  expected
    0  leaf          0.5       0.8
    """

    def __init__(self, curves: pd.DataFrame) -> None:
        if "n_cells" not in curves:
            raise ModelError("prevalence: the model was stored by an earlier version. Refit it with `fairfold study`.")
        own = curves[curves["decision"] == 1]
        rows = "among the held-out samples" if n_held_out_of(curves) else "out of fold"
        found = {str(label): _bins(part, rows) for label, part in own.groupby("label", sort=False)}
        self._reasons = {label: bins for label, bins in found.items() if isinstance(bins, str)}
        self._bins = {label: bins for label, bins in found.items() if not isinstance(bins, str)}
        self._labels = [*found]
        super().__init__({label: bins.thresholds for label, bins in self._bins.items()})

    def table(self) -> pd.DataFrame:
        """Estimate the prevalence of each label.

        Returns
        -------
        DataFrame
            Columns ``label``; ``in_training``, the prevalence among measured labels of the training table;
            ``expected`` with the 95 % interval ``low`` to ``high``; and ``reason`` if there is no estimate.
        """
        rows = []
        for label in self._labels:
            if label in self._reasons:
                rows.append((label, *[np.nan] * 4, self._reasons[label]))
            elif self._n_rows < _LEAST:
                rows.append((label, self._bins[label].prevalence, *[np.nan] * 3, f"fewer than {_LEAST} new rows"))
            else:
                rng = np.random.default_rng(seed_sequence(0, "prevalence", label))
                bins = self._bins[label]
                rows.append((label, bins.prevalence, *_estimated(bins, self._counts[label], rng)))
        return pd.DataFrame(rows, columns=COLUMNS)


def _bins(curve: pd.DataFrame, rows: str) -> _Bins | str:
    """Divide the curve of a label into bins with similar numbers of positives, or return why that is not possible."""
    recall, n_cells = curve["recall"].to_numpy(float), float(curve["n_cells"].iloc[0])
    n_positives = float(curve["n_positives"].iloc[0])
    few = f"fewer than {_LEAST} positives or negatives {rows}"
    if not n_positives >= _LEAST:
        return few
    above = curve["weight"].to_numpy(float) / n_cells
    prevalence = float(curve["prevalence"].iloc[0])
    n_negatives = n_positives * (1 / prevalence - 1)
    if n_negatives < _LEAST:
        return few
    n_bins = int(np.clip(n_positives // _POSITIVES_OF_BIN, 2, _MOST_BINS))
    places = np.searchsorted(recall, np.arange(1, n_bins) / n_bins)
    places = np.unique(places[places < len(recall)])
    if not len(places):
        return f"most positives {rows} have the probability 0"
    share = np.diff(recall[places], prepend=0, append=1)
    share_of_all = np.diff(above[places], prepend=0, append=1)
    of_negatives = np.maximum(share_of_all - prevalence * share, 0)
    positives, negatives = n_positives * share, n_negatives * of_negatives / of_negatives.sum()
    return _Bins(curve["threshold"].to_numpy(float)[places], positives, negatives, prevalence)


def _estimated(bins: _Bins, counts: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float, str]:
    """Return the prevalence with its interval, and the reason if there is none."""
    with_label, without = _densities(bins.positives), _densities(bins.negatives)
    found = float(most_likely(counts[np.newaxis], with_label[np.newaxis], without[np.newaxis])[0])
    mixture = found * with_label + (1 - found) * without
    drawn = rng.multinomial(counts.sum(), mixture, size=_N_DRAWS)
    n_positives, n_negatives = (max(round(each.sum()), 1) for each in (bins.positives, bins.negatives))
    drawn_with = _densities(rng.multinomial(n_positives, with_label, size=_N_DRAWS))
    drawn_without = _densities(rng.multinomial(n_negatives, without, size=_N_DRAWS))
    estimates = most_likely(drawn, drawn_with, drawn_without)
    expected = estimates[:, np.newaxis] * drawn_with + (1 - estimates[:, np.newaxis]) * drawn_without
    is_worse = _misfit(drawn, expected) >= _misfit(counts, mixture)
    if (1 + is_worse.sum()) / (1 + _N_DRAWS) < _LEAST_FIT:
        return np.nan, np.nan, np.nan, "the new probabilities fit no prevalence: more has changed than the prevalence"
    likely = posterior_draws(bins.positives, bins.negatives, counts, estimates[:_N_CHAINS], rng)
    low, high = np.quantile(likely, [0.025, 0.975])
    return float(likely.mean()), float(low), float(high), ""


def posterior_draws(
    positives: np.ndarray, negatives: np.ndarray, counts: np.ndarray, start: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw prevalences from their posterior distribution.

    Parameters
    ----------
    positives, negatives : ndarray of shape (n_bins,)
        Numbers of out-of-fold samples with and without the label in each bin.
    counts : ndarray of int of shape (n_bins,)
        Numbers of new samples.
    start : ndarray of shape (n_chains,)
        First prevalence of each chain.
    rng : Generator
        Random numbers.

    Returns
    -------
    ndarray of shape (n_chains * 20,)
        Prevalences.

    Notes
    -----
    The Gibbs sampler draws in turn the new samples with the label in each bin, the distributions over bins, and the
    prevalence.

    Examples
    --------
    >>> bins, new, start = np.array([900.0, 100.0]), np.array([300, 700]), np.full(100, 0.5)
    >>> posterior_draws(bins, bins[::-1], new, start, np.random.default_rng(0)).mean().round(2)
    np.float64(0.25)
    """
    prevalence = start[:, np.newaxis]
    with_label, without = (_drawn_densities(np.tile(each, (len(start), 1)), rng) for each in (positives, negatives))
    kept = []
    for step in range(_N_STEPS):
        mixture = prevalence * with_label + (1 - prevalence) * without
        n_with = rng.binomial(counts, np.minimum(prevalence * with_label / mixture, 1))
        with_label = _drawn_densities(positives + n_with, rng)
        without = _drawn_densities(negatives + counts - n_with, rng)
        n_of_label = n_with.sum(axis=1)
        prevalence = rng.beta(1 + n_of_label, 1 + counts.sum() - n_of_label)[:, np.newaxis]
        if step >= _N_STEPS - _N_KEPT:
            kept.append(prevalence[:, 0])
    return np.concatenate(kept)


def _drawn_densities(counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw from a Dirichlet distribution in each row. Tiny densities are kept above 0."""
    drawn = rng.standard_gamma(counts + _SMOOTHING) + 1e-12
    return drawn / drawn.sum(axis=1, keepdims=True)


def most_likely(counts: np.ndarray, with_label: np.ndarray, without: np.ndarray) -> np.ndarray:
    """Return the prevalence under which counts in bins are most likely.

    Parameters
    ----------
    counts : ndarray of shape (n_draws, n_bins)
        Numbers of samples in each bin.
    with_label, without : ndarray of shape (n_draws, n_bins)
        Probability of each bin for samples with and without the label, all above 0.

    Returns
    -------
    ndarray of shape (n_draws,)
        Prevalence.

    Notes
    -----
    The log-likelihood is concave in the prevalence, so halving an interval by the sign of its slope finds the maximum.

    Examples
    --------
    >>> most_likely(np.array([[50, 50]]), np.array([[0.8, 0.2]]), np.array([[0.3, 0.7]])).round(6)
    array([0.4])
    """
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    for _ in range(_N_HALVINGS):
        middle = ((low + high) / 2)[:, np.newaxis]
        slope = (counts * (with_label - without) / (middle * with_label + (1 - middle) * without)).sum(axis=1)
        low, high = np.where(slope > 0, middle[:, 0], low), np.where(slope > 0, high, middle[:, 0])
    return (low + high) / 2


def _densities(counts: np.ndarray) -> np.ndarray:
    smooth = counts + _SMOOTHING
    return smooth / smooth.sum(axis=-1, keepdims=True)


def _misfit(counts: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return Pearson's statistic."""
    wanted = expected * counts.sum(axis=-1, keepdims=True)
    return ((counts - wanted) ** 2 / wanted).sum(axis=-1)
