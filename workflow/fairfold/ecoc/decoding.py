"""Decoding: from the scores of the binary learners to a loss for each class.

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
    """Negated average binary loss of each class; the class of the largest is the prediction.

    With the coding matrix m, the scores s and the loss g, class k gets

    - ``"lossweighted"``: -sum_j |m_kj| g(m_kj, s_j) / sum_j |m_kj|, the mean over the learners that saw the class;
    - ``"lossbased"``: -sum_j |m_kj| g(m_kj, s_j) / L, over all L learners.

    For ``"lossbased"``, learners that did not see a class add no loss, as in MATLAB. Allwein et al. (section 4) count
    g(0, s) = 0.5 for them.

    Parameters
    ----------
    coding : array-like, shape (n_classes, n_learners); entries -1, 0 and 1.
    scores : array-like, shape (n_samples, n_learners); of the positive side. NaN where a learner has no answer: it is
        left out of that sample's averages.
    loss : name of a binary loss, a :class:`BinaryLoss`, or a callable of one's own. The callable gets the coding
        matrix and the scores (n_learners,) of one sample and returns n_classes losses, smaller is better. For
        ``"lossweighted"`` the zeros of its coding matrix are NaN, so that a function that ignores NaN leaves them out.
    decoding : ``"lossweighted"`` or ``"lossbased"``; a callable of one's own averages itself.
    unit_scores : bool, or bool per learner; whether its scores are probabilities. ``hamming`` then takes the side of
        0.5 instead of 0. The other losses on the real line do not take probabilities.

    Returns
    -------
    ndarray, shape (n_samples, n_classes). NaN for a class of which no answering learner knows.

    Raises
    ------
    ModelError
        Unknown loss or decoding, shapes that do not fit, infinite scores, scores outside the domain of the loss, or a
        callable that does not return one number per class.
    """
    M, S = check_answers(coding, scores, "scores")
    if decoding not in DECODINGS:
        raise ModelError(unknown_name("decoding", decoding, DECODINGS) + f" Decodings: {', '.join(DECODINGS)}.")
    if isinstance(loss, str):
        loss = find_loss(loss)
    if not isinstance(loss, BinaryLoss):
        return -_custom_losses(M, S, loss, decoding)
    S = _in_domain(S, loss, np.broadcast_to(np.asarray(unit_scores, dtype=bool), S.shape[1]))
    return -_average_losses(M, S, loss, decoding)


def _average_losses(M: np.ndarray, S: np.ndarray, loss: BinaryLoss, decoding: str) -> np.ndarray:
    """Average binary losses, shape (n_samples, n_classes), by matrix products over the learners."""
    answered = ~np.isnan(S)
    positive, negative = (np.where(answered, loss.elementwise(side, S), 0.0) for side in (1.0, -1.0))
    totals = positive @ (M == 1).T.astype(float) + negative @ (M == -1).T.astype(float)
    n_known = answered.astype(float) @ np.abs(M).T.astype(float)
    counts = n_known
    if decoding == "lossbased":
        counts = np.broadcast_to(answered.sum(axis=1, keepdims=True, dtype=float), totals.shape)
    return np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=n_known > 0)


def check_answers(coding: ArrayLike, answers: ArrayLike, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Coding matrix (K, L) and the learners' answers (n, L) as arrays that fit each other.

    Parameters
    ----------
    coding : array-like, shape (n_classes, n_learners).
    answers : array-like, shape (n_samples, n_learners); finite or NaN.
    what : what the answers are called in errors.
    """
    M = check_entries(coding)
    try:
        values = np.asarray(answers, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"the {what} are not numbers: give a matrix with one column per learner.") from None
    if values.ndim != 2 or values.shape[1] != M.shape[1]:
        raise ModelError(
            f"the {what} have shape {values.shape}: the coding matrix asks for (n_samples, {M.shape[1]}), "
            "a column per learner."
        )
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0]
        raise ModelError(f"the {what} are infinite in row {row}, column {column}: use finite ones, NaN for no answer.")
    return M, values


def _in_domain(S: np.ndarray, loss: BinaryLoss, unit: np.ndarray) -> np.ndarray:
    """Scores as the loss takes them."""
    if loss.name == "hamming" and unit.any():
        return np.where(unit, 2 * S - 1, S)
    if loss.domain == REAL and unit.any():
        raise ModelError(
            f"binary loss '{loss.name}' is for scores on the real line, and these are probabilities: "
            "take 'quadratic' or 'hamming'."
        )
    if loss.domain == UNIT and ((S < 0) | (S > 1)).any():
        row, column = np.argwhere((S < 0) | (S > 1))[0]
        raise ModelError(
            f"binary loss '{loss.name}' is for scores in [0, 1], and row {row}, column {column} holds "
            f"{S[row, column]}: take another loss, or learners that give probabilities."
        )
    return S


def _custom_losses(M: np.ndarray, S: np.ndarray, loss: CustomLoss, decoding: str) -> np.ndarray:
    if not callable(loss):
        raise ModelError(
            f"the binary loss is {loss!r}: give a name, or a callable (M, s) that returns a loss per class."
        )
    codes = np.where(M == 0, np.nan, M) if decoding == "lossweighted" else M.astype(float)
    losses = np.empty((len(S), len(M)))
    for sample, scores in enumerate(S):  # the callable is of one sample by definition
        found = np.asarray(loss(codes, scores))
        if found.shape != (len(M),) or found.dtype.kind not in "biuf":
            raise ModelError(
                f"the custom loss returned an array of shape {found.shape} and type {found.dtype}: "
                f"it must return {len(M)} numbers, one per class."
            )
        losses[sample] = found
    return losses
