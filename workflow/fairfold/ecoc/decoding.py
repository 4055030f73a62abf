"""Decoding of binary learner scores into a loss for each class.

References
----------
- MATLAB documentation, ``kfoldPredict`` for ``ClassificationPartitionedECOC``, section "Binary Loss".
- E. L. Allwein, R. E. Schapire and Y. Singer, Reducing multiclass to binary, Journal of Machine Learning Research 1
  (2000), section 4: loss-based decoding.
- S. Escalera, O. Pujol and P. Radeva, On the decoding process in ternary error-correcting output codes, IEEE
  Transactions on Pattern Analysis and Machine Intelligence 32 (2010): loss-weighted decoding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairfold.ecoc.coding import check_entries
from fairfold.ecoc.losses import REAL, UNIT, BinaryLoss, find_loss
from fairfold.errors import ModelError, unknown_name

DECODINGS = ("lossweighted", "lossbased")
CustomLoss = Callable[[np.ndarray, np.ndarray], ArrayLike]


def neg_loss(
    coding: ArrayLike,
    scores: ArrayLike,
    loss: str | BinaryLoss | CustomLoss,
    decoding: str = "lossweighted",
    *,
    unit_scores: ArrayLike = False,
) -> np.ndarray:
    """Compute the negated average binary loss of each class.

    The class with the largest value is the prediction.

    Parameters
    ----------
    coding : array-like of shape (n_classes, n_learners)
        Coding matrix with entries -1, 0 and 1.
    scores : array-like of shape (n_samples, n_learners)
        Scores of the learners for their positive sides. NaN marks a missing score. The learner is then excluded from
        the averages of the sample.
    loss : str, BinaryLoss or callable
        Name of a binary loss, a :class:`BinaryLoss`, or a custom callable. A callable takes the coding matrix and the
        scores (n_learners,) of one sample, and returns n_classes losses. Smaller is better. For ``"lossweighted"``,
        zeros of the coding matrix are passed as NaN, so a function that ignores NaN excludes them.
    decoding : {"lossweighted", "lossbased"}, default="lossweighted"
        Average of the losses, see Notes. A custom callable computes its own average.
    unit_scores : bool or array-like of shape (n_learners,), default=False
        Whether the scores are probabilities, for all learners or for each learner. ``hamming`` then uses a threshold of
        0.5 instead of 0. Other losses on the real line do not accept probabilities.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Negated losses. NaN for a class if no learner with a score uses it.

    Raises
    ------
    ModelError
        If the loss or decoding is unknown, if shapes do not fit, if scores are infinite or outside the domain of the
        loss, or if a callable does not return one number per class.

    Notes
    -----
    With the coding matrix m, the scores s and the binary loss g, the value of class k is

    - ``"lossweighted"``: -sum_j |m_kj| g(m_kj, s_j) / sum_j |m_kj|, the average over the learners that use the class.
    - ``"lossbased"``: -sum_j |m_kj| g(m_kj, s_j) / L, the average over all L learners.

    For ``"lossbased"``, learners that do not use a class add no loss, as in MATLAB. Allwein et al. (section 4) add
    g(0, s) = 0.5 instead.

    Examples
    --------
    >>> from fairfold.ecoc import make_coding, neg_loss
    >>> neg_loss(make_coding("onevsone", 3), [[0.8, 0.2, -0.5]], "hinge").round(3)
    array([[-0.25 , -0.825, -0.425]])
    """
    M, S = check_answers(coding, scores, "scores")
    check_decoding(decoding)
    if isinstance(loss, str):
        loss = find_loss(loss)
    if not isinstance(loss, BinaryLoss):
        return -_custom_losses(M, S, loss, decoding)
    S = _in_domain(S, loss, np.broadcast_to(np.asarray(unit_scores, dtype=bool), S.shape[1]))
    return -_average_losses(M, S, loss, decoding)


def check_decoding(decoding: str) -> None:
    """Check the name of a decoding.

    Parameters
    ----------
    decoding : str
        Name to check.

    Raises
    ------
    ModelError
        If it is not in ``DECODINGS``.
    """
    if decoding not in DECODINGS:
        raise ModelError(unknown_name("decoding", decoding, DECODINGS) + f" Decodings: {', '.join(DECODINGS)}.")


def _average_losses(M: np.ndarray, S: np.ndarray, loss: BinaryLoss, decoding: str) -> np.ndarray:
    """Compute average binary losses (n_samples, n_classes) by matrix products over the learners."""
    answered = ~np.isnan(S)
    positive, negative = (np.where(answered, loss.elementwise(side, S), 0.0) for side in (1.0, -1.0))
    totals = positive @ (M == 1).T.astype(float) + negative @ (M == -1).T.astype(float)
    n_known = answered.astype(float) @ np.abs(M).T.astype(float)
    counts = n_known
    if decoding == "lossbased":
        counts = np.broadcast_to(answered.sum(axis=1, keepdims=True, dtype=float), totals.shape)
    return np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=n_known > 0)


def check_answers(coding: ArrayLike, answers: ArrayLike, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Check a coding matrix and learner scores, and convert them to arrays.

    Parameters
    ----------
    coding : array-like of shape (n_classes, n_learners)
        Coding matrix.
    answers : array-like of shape (n_samples, n_learners)
        Scores of the learners, finite or NaN.
    what : str
        Name of the scores for error messages.

    Returns
    -------
    coding : ndarray of shape (n_classes, n_learners), dtype=int8
        Coding matrix.
    answers : ndarray of shape (n_samples, n_learners)
        Scores as floats.

    Raises
    ------
    ModelError
        If a matrix is not valid, or if the shapes do not fit.
    """
    M = check_entries(coding)
    try:
        values = np.asarray(answers, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: expected numbers. Give a matrix with one column per learner.") from None
    if values.ndim != 2 or values.shape[1] != M.shape[1]:
        raise ModelError(f"{what}: found shape {values.shape}. Give (n_samples, {M.shape[1]}), one column per learner.")
    if len(wrong := np.argwhere(np.isinf(values))):
        row, column = wrong[0]
        raise ModelError(f"{what}, row {row}, column {column}: found infinity. Use finite numbers or NaN.")
    return M, values


def _in_domain(S: np.ndarray, loss: BinaryLoss, unit: np.ndarray) -> np.ndarray:
    """Check that scores are in the domain of the loss. Shift probabilities for ``hamming``."""
    if loss.name == "hamming" and unit.any():
        return np.where(unit, 2 * S - 1, S)
    if loss.domain == REAL and unit.any():
        needs = f"binary loss {loss.name!r} needs scores on the real line"
        raise ModelError(f"scores: {needs}, but found probabilities. Use 'quadratic' or 'hamming'.")
    if loss.domain == UNIT and len(wrong := np.argwhere((S < 0) | (S > 1))):
        row, column = wrong[0]
        found = f"binary loss {loss.name!r} needs probabilities, but found {S[row, column]}"
        raise ModelError(f"scores, row {row}, column {column}: {found}. Use another loss or other learners.")
    return S


def _custom_losses(M: np.ndarray, S: np.ndarray, loss: CustomLoss, decoding: str) -> np.ndarray:
    if not callable(loss):
        raise ModelError(f"binary loss: found {loss!r}. Give a name or a callable (M, s) that returns class losses.")
    codes = np.where(M == 0, np.nan, M) if decoding == "lossweighted" else M.astype(float)
    losses = np.empty((len(S), len(M)))
    for sample, scores in enumerate(S):  # A custom loss takes one sample at a time.
        found = np.asarray(loss(codes, scores))
        if found.shape != (len(M),) or found.dtype.kind not in "biuf":
            what = f"an array of shape {found.shape} and type {found.dtype}"
            raise ModelError(f"binary loss: the callable returned {what}. Return {len(M)} numbers, one per class.")
        losses[sample] = found
    return losses
