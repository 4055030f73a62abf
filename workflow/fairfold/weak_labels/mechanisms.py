"""Mechanisms that decide which labels go missing.

A mechanism sets the number of hidden cells of each label and the odds of each cell. Cells are sampled without
replacement: those with the smallest exponential waiting times are hidden, with the odds as rates (Efraimidis & Spirakis
2006). The number of hidden cells is therefore exact for every mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical
from fairfold.core.groups import group_codes
from fairfold.errors import DataError, unknown_name

Mechanism = Literal["random", "difficulty", "rarity", "sample", "group"]
_RARITY = 0.5  # The odds of a label's missing rate are n_positives ** -_RARITY, times a constant.
_SPREAD = 2.0  # Sum of the parameters of the beta distribution of missing rates.
_LEAST = 1e-3  # Lower limit of the reference model's probabilities.

OddsOfCells = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function that returns the odds of cells to be hidden, by their rows and labels."""


class Odds(NamedTuple):
    """Missing rates of labels and odds of their cells.

    Attributes
    ----------
    rates : ndarray of shape (n_labels,)
        Share of each label's cells that is hidden.
    of_positives : callable or None, default=None
        Odds of positives to be hidden, by their rows and labels. None if all are equal.
    of_zeros : callable or None, default=None
        Odds of zeros to be hidden. None if all are equal.
    """

    rates: np.ndarray
    of_positives: OddsOfCells | None = None
    of_zeros: OddsOfCells | None = None


def odds_of(
    mechanism: Mechanism,
    rate: float,
    n_positives: np.ndarray,
    n_samples: int,
    random: np.random.Generator,
    *,
    reference: ArrayLike | sparse.csr_array | None = None,
    groups: ArrayLike | None = None,
) -> Odds:
    """Compute the odds of the cells of a label matrix to be missing.

    Parameters
    ----------
    mechanism : {"random", "difficulty", "rarity", "sample", "group"}
        Mechanism that hides labels:

        - ``"random"``: each label has the same missing rate, and all cells of a label have the same odds;
        - ``"difficulty"``: the odds of a positive are (1 - p) / p with the probability p of the reference model, and
          the odds of a zero are p / (1 - p);
        - ``"rarity"``: the odds of a label's missing rate are proportional to 1 / √(number of positives), and ``rate``
          is the share over all labels;
        - ``"sample"`` and ``"group"``: each sample or group has its own missing rate. It is drawn from a beta
          distribution with mean ``rate`` and parameters that add up to 2, which is uniform for a rate of one half.
    rate : float
        Share of all positives to hide.
    n_positives : ndarray of int of shape (n_labels,)
        Number of positives of each label.
    n_samples : int
        Number of samples.
    random : Generator
        Source of random numbers for the rates of samples and groups.
    reference : {array-like, csr_array} of shape (n_samples, n_labels) or None, default=None
        Predicted probabilities that define difficulty.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample.

    Returns
    -------
    Odds
        Missing rate of each label and odds of each cell.

    Raises
    ------
    DataError
        If the mechanism is unknown, or its input is missing or has the wrong shape.
    ModelError
        If the groups are invalid.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> odds_of("rarity", 0.5, np.array([4, 100]), 200, rng).rates.round(2)
    array([0.83, 0.49])
    """
    if mechanism not in get_args(Mechanism):
        raise DataError(unknown_name("mechanism", mechanism, get_args(Mechanism)))
    alike = np.full(len(n_positives), float(rate))
    if mechanism == "difficulty":
        return _odds_by_difficulty(alike, _checked_reference(reference, (n_samples, len(n_positives))))
    if mechanism == "rarity":
        return Odds(_rates_by_rarity(rate, n_positives))
    if mechanism == "random" or rate == 0:
        return Odds(alike)
    if mechanism == "group" and groups is None:
        raise DataError("mechanism: 'group' needs groups. Give a group for each sample, or use 'sample'.")
    units = np.arange(n_samples) if mechanism == "sample" or groups is None else group_codes(groups, n_samples)
    rates = np.clip(random.beta(_SPREAD * rate, _SPREAD * (1 - rate), size=units.max() + 1), _LEAST, 1 - _LEAST)
    odds = (rates / (1 - rates))[units]
    return Odds(alike, lambda rows, _: odds[rows], lambda rows, _: odds[rows])


def _odds_by_difficulty(rates: np.ndarray, reference: Matrix) -> Odds:
    def probability(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        p = reference[rows, labels]
        return np.clip(p.toarray().ravel() if sparse.issparse(p) else p, _LEAST, 1 - _LEAST)

    def of_positives(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        p = probability(rows, labels)
        return (1 - p) / p

    def of_zeros(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        p = probability(rows, labels)
        return p / (1 - p)

    return Odds(rates, of_positives, of_zeros)


def _rates_by_rarity(rate: float, n_positives: np.ndarray) -> np.ndarray:
    """Compute the missing rate of each label. Together the labels lose ``rate`` of all positives."""
    n = np.maximum(n_positives, 1)
    if rate == 0 or not n_positives.sum():
        return np.full(len(n), float(rate))

    def rates(shift: float) -> np.ndarray:
        return scipy.special.expit(shift - _RARITY * np.log(n))

    far = _RARITY * np.log(n.max()) + abs(scipy.special.logit(rate)) + 1
    shift = scipy.optimize.brentq(lambda x: rates(x) @ n_positives - rate * n_positives.sum(), -far, far, xtol=1e-12)
    return rates(shift)


def _checked_reference(reference: ArrayLike | sparse.csr_array | None, shape: tuple[int, int]) -> Matrix:
    if reference is None:
        raise DataError("mechanism: 'difficulty' needs probabilities of a model. Give them as reference.")
    p = canonical(reference) if sparse.issparse(reference) else np.asarray(reference, dtype=np.float64)
    values = np.asarray(p.data if sparse.issparse(p) else p)
    if p.shape != shape or not ((values >= 0) & (values <= 1)).all():
        raise DataError(f"reference: found shape {p.shape}. Give probabilities from 0 to 1 of shape {shape}.")
    return p
