"""Binary losses: how badly a learner's score fits the side on which a class stands.

The formulas are those of the table "Binary loss" in MATLAB's documentation of ``kfoldPredict`` for
``ClassificationPartitionedECOC``; y is an entry of the coding matrix, s the score. Each is scaled to 0.5 at y = 0.
Those of scores on the real line are 0.5 at y s = 0; ``quadratic`` takes probabilities, and is so at s = 0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fairfold.errors import ModelError, unknown_name

REAL, UNIT = "real", "[0,1]"
_LARGEST_EXPONENT = 700.0  # e^700 is finite, and so is the sum over any number of learners that fits in memory


@dataclass(frozen=True)
class BinaryLoss:
    """A loss g(y, s).

    Attributes
    ----------
    name : what it is called.
    domain : ``"real"`` or ``"[0,1]"``, the scores that it is defined for.
    elementwise : g; takes entries y of -1, 0 and 1 and scores s, scalars or arrays that broadcast.
    """

    name: str
    domain: str
    elementwise: Callable[[np.ndarray | float, np.ndarray | float], np.ndarray]


def _exponential(y: np.ndarray | float, s: np.ndarray | float) -> np.ndarray:
    """exp(-y s) / 2, which stops growing at e^700 / 2: an infinite loss times the weight 0 would be no number."""
    return np.exp(np.minimum(-np.multiply(y, s), _LARGEST_EXPONENT)) / 2


def _softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)) without overflow. NumPy's ``logaddexp`` warns of NaN, which stands for no answer here."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


BINARY_LOSSES: Mapping[str, BinaryLoss] = MappingProxyType(
    {
        loss.name: loss
        for loss in (
            BinaryLoss("hamming", REAL, lambda y, s: (1 - np.sign(np.multiply(y, s))) / 2),
            BinaryLoss("linear", REAL, lambda y, s: (1 - np.multiply(y, s)) / 2),
            BinaryLoss("logit", REAL, lambda y, s: _softplus(-np.multiply(y, s)) / (2 * np.log(2))),
            BinaryLoss("exponential", REAL, _exponential),
            BinaryLoss("binodeviance", REAL, lambda y, s: _softplus(-2 * np.multiply(y, s)) / (2 * np.log(2))),
            BinaryLoss("hinge", REAL, lambda y, s: np.maximum(0, 1 - np.multiply(y, s)) / 2),
            BinaryLoss("quadratic", UNIT, lambda y, s: (1 - np.multiply(y, 2 * np.asarray(s) - 1)) ** 2 / 2),
        )
    }
)

DEFAULT_LOSSES: Mapping[str, str] = MappingProxyType(
    {"margin": "hinge", "probability": "quadratic", "exponential": "exponential", "logit": "binodeviance"}
)


def find_loss(name: str) -> BinaryLoss:
    """The loss of that name; a ``ModelError`` that lists the known ones if there is none."""
    if name not in BINARY_LOSSES:
        raise ModelError(unknown_name("binary loss", name, BINARY_LOSSES) + f" Losses: {', '.join(BINARY_LOSSES)}.")
    return BINARY_LOSSES[name]


def default_loss(kinds: Sequence[str], *, fit_posterior: bool) -> str:
    """Name of the loss that the page takes when none is asked for.

    Parameters
    ----------
    kinds : what each learner's scores are: ``"margin"`` (SVM), ``"probability"`` (tree, discriminant, nearest
        neighbours, naive Bayes, logistic regression), ``"exponential"`` (AdaBoost, GentleBoost) or ``"logit"``
        (LogitBoost).
    fit_posterior : whether the scores are turned into probabilities.

    Returns
    -------
    ``"quadratic"`` for probabilities, ``"hinge"``, ``"exponential"`` or ``"binodeviance"`` by kind, and ``"hamming"``
    for learners of several kinds.

    """
    if fit_posterior:
        return "quadratic"
    found = set(kinds)
    return DEFAULT_LOSSES[found.pop()] if len(found) == 1 else "hamming"
