"""How many positive labels a dataset lacks, estimated by forests and tried where labels were hidden on purpose.

The estimate is 1 − c for the label frequency c = P(observed | positive) of
:func:`~fairfold.weak_labels.shared_label_frequency` on out-of-bag predictions, as in the cascades on them. Of the
estimators in :mod:`fairfold.weak_labels` it erred least where 0, 30, 50 and 70 % of the positives of nine datasets
(flags, emotions, birds, CHD_49, yeast, scene and three of protein sequences) were hidden, taking their labels as
complete: by 9 points on average, against 19 for TIcE's largest label frequency, 26 for the 95th percentile of the
positives' probabilities, and 30 for TIcE label by label. It is no oracle: on data whose labels are hard to predict it
is much too high (49 points on VirusPseAAC), because a positive that no feature betrays looks like a missing one; and
it is too low by up to 10 points where 70 % are hidden. Those trials hid the same share of every label, which is what
one c for all labels supposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from fairfold.arrays import Matrix
from fairfold.errors import ModelError
from fairfold.folds import parts_of
from fairfold.forests.levels import Level
from fairfold.forests.trees import MultilabelForest
from fairfold.validation import UNMEASURED, Negatives
from fairfold.weak_labels.calibration import shared_label_frequency
from fairfold.weak_labels.masking import observed_labels

_NO_FOREST = "no forest could be grown on any fold; the reasons stand with the models' scores"


def estimate_missing_rate(observed: np.ndarray, forests: Sequence[MultilabelForest]) -> float:
    """Share of the positive labels that are missing, the same for all labels.

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were seen.
    forests : fitted on these labels, for example ``make_model("RF+ET").fit(X, observed).levels_[0].predictors``.

    Returns
    -------
    A number from 0 to below 1; 0 where the labels say nothing because too few are positive.

    Raises
    ------
    ModelError
        When there is no forest, or one was fitted on labels of another shape or predicts what is no number.
    """
    shapes = {forest.oob_proba_.shape for forest in forests}
    if shapes != {np.shape(observed)}:
        raise ModelError(
            f"labels have shape {np.shape(observed)}, the forests were fitted on "
            f"{' and '.join(map(str, sorted(shapes))) or 'nothing'}; give one or more fitted on these labels."
        )
    proba = np.mean([forest.centred_oob_proba() for forest in forests], axis=0)
    if not np.isfinite(proba).all():
        raise ModelError("out-of-bag predictions are not finite; fit the forests again, on finite features.")
    return 1 - shared_label_frequency(observed, proba)


def missing_rate_table(
    Y: Matrix,
    fold_of: np.ndarray,
    hidden: Mapping[int, np.ndarray],
    first_level: Callable[[int, int], Level | None],
    *,
    negatives: Negatives = "unlabelled",
) -> pd.DataFrame:
    """Estimates of the missing rate beside what was hidden on purpose, from the training part of each fold.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1, the labels as they are.
    fold_of : (n_samples,) fold of each sample, which is left out in its turn; -1 for one that never is.
    hidden : missing rate in percent -> (n_hidden, 3) fold, row and label of each hidden positive, see
        :func:`~fairfold.weak_labels.masking.hide_in_training_parts`.
    first_level : (missing rate, fold) -> forests fitted without that fold, or None where they could not be.
    negatives : whether labels of 0 are confirmed; then a label is missing where it is unmeasured, which is counted, and
        not estimated.

    Returns
    -------
    DataFrame with the columns ``hidden_rate, hidden_share, estimated_rate, lowest, highest, n_folds, reason``, a row
    per missing rate, all in percent
        ``hidden_share`` is what was hidden indeed, a little less than the rate because labels lose whole positives.
        ``estimated_rate`` is the mean over folds, from ``lowest`` to ``highest``. Folds share most of their samples, so
        other samples may differ by more than that. NaN without a fold, and ``reason`` says why.

    Raises
    ------
    SplitError
        As :func:`~fairfold.folds.parts_of`.
    """
    rows, parts = [], parts_of(fold_of, Y.shape[0])
    for rate, triples in hidden.items():
        shares, estimates = [], []
        for fold, (train, _) in enumerate(parts):
            level = first_level(rate, fold)
            if level is None:
                continue
            observed = _dense(observed_labels(Y, triples, fold, negatives)[train])
            shares.append(1 - (observed == 1).sum() / max(1, (Y[train] == 1).sum()))
            unlabelled = negatives == "unlabelled"
            unmeasured = (observed == UNMEASURED).mean()
            estimates.append(estimate_missing_rate(observed, level.predictors) if unlabelled else unmeasured)
        found = (np.mean(shares), np.mean(estimates), min(estimates), max(estimates)) if estimates else (np.nan,) * 4
        rows.append((rate, *(100 * np.array(found)), len(estimates), "" if estimates else _NO_FOREST))
    columns = ["hidden_rate", "hidden_share", "estimated_rate", "lowest", "highest", "n_folds", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _dense(Y: Matrix) -> np.ndarray:
    return Y if isinstance(Y, np.ndarray) else Y.toarray()
