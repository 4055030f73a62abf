"""Steps of a study that fit the final model and examine the labels with it, from files to files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairfold.answer.elsewhere import sentences_on_elsewhere
from fairfold.core.files import read_arrays, read_table, write_tables, write_text
from fairfold.core.trainings import announce
from fairfold.datasets.columns import account_line
from fairfold.datasets.dataset import Dataset
from fairfold.final.card import model_card, recommended_model
from fairfold.final.dependence import partial_dependence
from fairfold.final.examined import certify_held_out, examine_labels
from fairfold.final.explanation import example
from fairfold.final.labels import examined_labels
from fairfold.final.model import fit_final, with_checked_frequency, with_checked_labels
from fairfold.final.settings import FITS_PER_FOLD
from fairfold.models.description import pool_weights
from fairfold.recommendation.certified_cells import known_cells

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin


def fit_and_examine(files: Any, made: Any, params: Any, *, key: str, n_jobs: int = 1) -> tuple[str, str]:
    """Fit the final model to all rows of a dataset, and examine the labels with it.

    Parameters
    ----------
    files : namespace of str or sequence of str
        Files ``dataset`` and ``folds``, and lists: ``checked``, and with at most one file ``held_out``,
        ``recommendation``, ``rates``, ``elsewhere``, ``scores``.
    made : mapping of str to str
        Files to write: ``model`` with others in its folder, ``card``, and the tables of
        :func:`~fairfold.final.examined.examine_labels`, ``dependence`` and ``weights``. ``certified`` is written if
        samples are held out.
    params : namespace
        ``model`` (its name, or None for the recommended one), ``sketch``, ``score``, ``seed``, ``hidden``, and the
        ``settings`` of each model that can be recommended.
    key : str
        Checksum of all input and code, by which an interrupted job finds its trainings in the cache.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    dataset : str
        Id of the dataset.
    sentence : str
        One sentence that describes the data.
    """
    data, options = Dataset.load(files.dataset), {"seed": params.seed, "n_jobs": n_jobs}
    name = params.model or recommended_model(read_table(*files.recommendation), data.id, params.score)
    scores, rates = (next(map(read_table, paths), None) for paths in (files.scores, files.rates))
    settings = with_checked_frequency(params.settings[name], rates)
    cells = known_cells(files.checked, data.version)
    if not params.sketch:  # The folder of a private model contains no row, name or text of the table.
        data = replace(data, sample_ids=None)
    corrected, checked = with_checked_labels(data, cells)
    certain, _ = with_checked_labels(replace(data, hierarchy=None), cells)
    fold_of = read_arrays(files.folds)["fold_of"][0]
    announce(1 + FITS_PER_FOLD * int(fold_of.max() + 1))
    fitted = fit_final(corrected, name, settings, sketch=params.sketch, **options)

    def explain(model: ClassifierMixin, test: np.ndarray) -> pd.DataFrame:
        return example(replace(fitted, model=model), data, test, seed=params.seed)

    how = {"hidden": params.hidden, "checked": certain.Y, "key": key, **options}
    how["explain"] = explain if params.sketch else None
    examined = examine_labels(data, name, params.settings[name], fold_of, **how)
    if not params.sketch:
        examined["words"] = examined["words"][:0]
    for path in files.held_out:
        examined |= certify_held_out(fitted, Dataset.load(path), examined_labels(data.Y))
    strongest = examined["importance"]
    more = {"dependence": partial_dependence(fitted.model, data, strongest), "weights": pool_weights(fitted.model)}
    of_model = {"dataset": data.id, "model": name}
    examined |= {kind: table.assign(**of_model)[[*of_model, *table]] for kind, table in more.items()}
    of_card = {"scores": scores, "checked": checked, "checked_scores": rates, "curves": examined["certificates"]}
    of_card["weights"] = examined["weights"]
    of_card["elsewhere"] = [each for path in files.elsewhere for each in sentences_on_elsewhere(read_table(path))]
    card = model_card(corrected, name, settings=settings, seed=params.seed, **of_card)
    # Nothing is written before all has been computed.
    fitted.save(Path(made["model"]).parent)
    write_text(card, made["card"])
    write_tables(examined, made)
    return data.id, f"{data.shape[0]:,} samples; {account_line(data)}."
