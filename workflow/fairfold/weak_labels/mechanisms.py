"""Which labels go missing: at random, or the hard ones, those of rare labels, of some samples, of some groups.

A mechanism says how many of each label's cells are hidden, and the odds of each cell to be among them. Sampling without
replacement by odds takes the cells with the least waiting times, exponential with the odds as rates (Efraimidis &
Spirakis 2006), so that the number that is hidden is exact whatever the mechanism.
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
_RARITY = 0.5  # the odds of a label to be missing go with its positives to the power of minus this
_SPREAD = 2.0  # of the missing rates of samples or groups: a and b of their beta distribution add up to it
_LEAST = 1e-3  # probability of a reference model

OddsOfCells = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(n_cells,) odds of cells, given by their rows and labels, to be hidden."""


class Odds(NamedTuple):
    """How cells go missing.

    rates : (n_labels,) share of each label's cells that is hidden.
    of_positives, of_zeros : odds of cells to be hidden, or None where all are alike.
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
    """Odds of the cells of a label matrix to be missing.

    Parameters
    ----------
    mechanism : ``"random"``: each label misses the same share, of all samples alike. ``"difficulty"``: odds are those
        of the reference model against what the label is, (1 - p) / p of a positive. ``"rarity"``: the odds of a label's
        share that is missing go with 1 / √(its positives); the share of all labels together is ``rate``. ``"sample"``
        and ``"group"``: each has a missing rate of its own, from a beta distribution with that mean and with parameters
        that add up to 2 (for half of the labels: any rate is as likely).
    rate : share of all positives to hide.
    n_positives : (n_labels,) of each label.
    n_samples : number of samples.
    random : of rates of samples and groups.
    reference : (n_samples, n_labels) probabilities by which labels are hard, for ``"difficulty"``; dense or CSR.
    groups : (n_samples,) what samples belong to, for ``"group"``.

    Raises
    ------
    DataError
        When there is no such mechanism, or what it needs is missing or of another shape.
    ModelError
        When groups are none.
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
        raise DataError("mechanism is 'group', but there are no groups: give one for each sample, or use 'sample'.")
    units = np.arange(n_samples) if mechanism == "sample" else group_codes(groups, n_samples)
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
    """Missing rate of each label; together they hide ``rate`` of all positives."""
    n = np.maximum(n_positives, 1)
    if rate == 0 or not n_positives.sum():
        return np.full(len(n), float(rate))

    def rates(shift: float) -> np.ndarray:
        return scipy.special.expit(shift - _RARITY * np.log(n))

    far = _RARITY * np.log(n.max()) + abs(scipy.special.logit(rate)) + 1
    shift = scipy.optimize.brentq(lambda at: rates(at) @ n_positives - rate * n_positives.sum(), -far, far, xtol=1e-12)
    return rates(shift)


def _checked_reference(reference: ArrayLike | sparse.csr_array | None, shape: tuple[int, int]) -> Matrix:
    if reference is None:
        raise DataError("mechanism is 'difficulty', which goes by a model's probabilities: give them as reference.")
    p = canonical(reference) if sparse.issparse(reference) else np.asarray(reference, dtype=np.float64)
    values = p.data if sparse.issparse(p) else p
    if p.shape != shape or not ((values >= 0) & (values <= 1)).all():
        raise DataError(
            f"reference has shape {p.shape}; give a probability from 0 to 1 for each of the {shape} labels."
        )
    return p
