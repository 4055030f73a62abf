"""Binary losses, which measure the fit between a learner's score and the side of a class.

The formulas follow the table "Binary loss" in MATLAB's documentation of ``kfoldPredict`` for
``ClassificationPartitionedECOC``. y is an entry of the coding matrix and s is the score. Each loss is 0.5 at y = 0.
Losses for scores on the real line are 0.5 at y s = 0. ``quadratic`` takes probabilities and is 0.5 at s = 0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairfold.errors import ModelError, unknown_name

REAL, UNIT = "real", "[0,1]"
_LARGEST_EXPONENT = 700.0  # e^700 is finite, and so is its sum over any realistic number of learners.


@dataclass(frozen=True)
class BinaryLoss:
    """Binary loss g(y, s) of a side y and a score s.

    Attributes
    ----------
    name : str
        Name of the loss.
    domain : {"real", "[0,1]"}
        Domain of the scores.
    elementwise : callable
        Function g of entries y (-1, 0 or 1) and scores s, which are scalars or arrays that broadcast.

    Examples
    --------
    >>> from fairfold.ecoc import BINARY_LOSSES
    >>> hinge = BINARY_LOSSES["hinge"]
    >>> float(hinge.elementwise(1, 0.5)), float(hinge.elementwise(-1, 0.5))
    (0.25, 0.75)
    """

    name: str
    domain: str
    elementwise: Callable[[np.ndarray | float, np.ndarray | float], np.ndarray]


def _exponential(y: np.ndarray | float, s: np.ndarray | float) -> np.ndarray:
    """Compute exp(-y s) / 2, limited to e^700 / 2, because an infinite loss with weight 0 would give NaN."""
    return np.exp(np.minimum(-np.multiply(y, s), _LARGEST_EXPONENT)) / 2


def _softplus(x: np.ndarray) -> np.ndarray:
    """Compute log(1 + exp(x)) without overflow. NumPy's ``logaddexp`` would warn of NaN, which marks missing scores."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


_LOSSES = (
    BinaryLoss("hamming", REAL, lambda y, s: (1 - np.sign(np.multiply(y, s))) / 2),
    BinaryLoss("linear", REAL, lambda y, s: (1 - np.multiply(y, s)) / 2),
    BinaryLoss("logit", REAL, lambda y, s: _softplus(-np.multiply(y, s)) / (2 * np.log(2))),
    BinaryLoss("exponential", REAL, _exponential),
    BinaryLoss("binodeviance", REAL, lambda y, s: _softplus(-2 * np.multiply(y, s)) / (2 * np.log(2))),
    BinaryLoss("hinge", REAL, lambda y, s: np.maximum(0, 1 - np.multiply(y, s)) / 2),
    BinaryLoss("quadratic", UNIT, lambda y, s: (1 - np.multiply(y, 2 * np.asarray(s) - 1)) ** 2 / 2),
)
BINARY_LOSSES: Mapping[str, BinaryLoss] = {loss.name: loss for loss in _LOSSES}
DEFAULT_LOSSES: Mapping[str, str] = {
    "margin": "hinge",
    "probability": "quadratic",
    "exponential": "exponential",
    "logit": "binodeviance",
}


def find_loss(name: str) -> BinaryLoss:
    """Return the binary loss with a given name.

    Parameters
    ----------
    name : str
        Name in ``BINARY_LOSSES``.

    Returns
    -------
    BinaryLoss
        Binary loss.

    Raises
    ------
    ModelError
        If the name is unknown. The message lists the known names.
    """
    if name not in BINARY_LOSSES:
        raise ModelError(unknown_name("binary loss", name, BINARY_LOSSES) + f" Losses: {', '.join(BINARY_LOSSES)}.")
    return BINARY_LOSSES[name]


def default_loss(kinds: Sequence[str], *, fit_posterior: bool) -> str:
    """Return the name of MATLAB's default loss for the kinds of scores.

    Parameters
    ----------
    kinds : sequence of str
        Kind of the scores of each learner: ``"margin"`` (SVM), ``"probability"`` (tree, discriminant, nearest
        neighbors, naive Bayes, logistic regression), ``"exponential"`` (AdaBoost, GentleBoost) or ``"logit"``
        (LogitBoost).
    fit_posterior : bool
        Whether the scores are converted to probabilities.

    Returns
    -------
    str
        ``"quadratic"`` for probabilities, ``"hinge"`` for margins, ``"exponential"`` for exponential scores,
        ``"binodeviance"`` for logit scores, and ``"hamming"`` for learners of several kinds.

    Examples
    --------
    >>> from fairfold.ecoc import default_loss
    >>> default_loss(["margin", "margin"], fit_posterior=False)
    'hinge'
    >>> default_loss(["margin", "probability"], fit_posterior=False)
    'hamming'
    """
    if fit_posterior:
        return "quadratic"
    found = set(kinds)
    return DEFAULT_LOSSES[found.pop()] if len(found) == 1 else "hamming"
