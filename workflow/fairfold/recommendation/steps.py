"""Steps of a study of one dataset, from files to files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.files import read_arrays, read_table, write_arrays, write_table
from fairfold.core.folds import only_fold, parts_of
from fairfold.core.memory import trained
from fairfold.core.seeds import seed_for
from fairfold.core.trainings import announce, begin
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import read_predictions, score_on_folds, write_predictions
from fairfold.models import make_model
from fairfold.models.registry import register_own, spec_of
from fairfold.models.training import Model, Unit, train_models
from fairfold.recommendation.sample_curves import sample_curves, scores_by_samples, shares_of_training
from fairfold.recommendation.units import corrected_tables, estimate_of_unit, evidence_of_unit
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

_CORRECTED = ("folds", "scores", "verdicts", "guessing", "tests")


def train(unit: Unit, models: Sequence[Mapping[str, Any]], made: Mapping[str, str], n_jobs: int = 1) -> None:
    """Train models on every fold, and score them on all labels of the data.

    Parameters
    ----------
    unit : Unit
        Dataset at a missing rate.
    models : sequence of mapping
        Parameters of :class:`~fairfold.models.training.Model`.
    made : mapping of str to str
        Files ``scores, seconds, imputation, predictions`` to write.
    n_jobs : int, default=1
        Number of threads.
    """
    register_own(unit.own)
    found = train_models(unit, [Model(**model) for model in models], n_jobs)
    columns = {"dataset": unit.data.id, "missing_rate": unit.missing_rate}

    def write(tables: Mapping[str, pd.DataFrame], path: str) -> None:
        named = [table.assign(**columns, model=model)[[*columns, "model", *table]] for model, table in tables.items()]
        write_table(pd.concat(named or [pd.DataFrame(columns=[*columns, "model"])], ignore_index=True), path)

    write({model: tables.scores for model, tables in found.items()}, made["scores"])
    write({model: tables.seconds for model, tables in found.items()}, made["seconds"])
    imputed = {model: tables.findings for model, tables in found.items() if spec_of(model).imputes}
    write(imputed, made["imputation"])
    write_predictions({model: tables.predictions for model, tables in found.items()}, made["predictions"])


def correct(
    unit: Unit,
    predictions: Iterable[str],
    made: Mapping[str, str],
    *,
    reference: Mapping[str, Any],
    n_labels: int | None,
    n_jobs: int = 1,
    **options: Any,
) -> None:
    """Estimate missing labels, and the scores of all models on complete labels.

    Parameters
    ----------
    unit : Unit
        Dataset at a missing rate.
    predictions : iterable of str
        Files with the predictions of the models; none if the study trains no model at this rate.
    made : mapping of str to str
        Files ``hidden, reference, missing_rate, frequency, folds, scores, verdicts, guessing, tests`` to write.
    reference : mapping
        Parameters of the model whose predictions estimate missing labels.
    n_labels : int or None
        Number of labels that this model learns. None means all labels.
    n_jobs : int, default=1
        Number of threads.
    **options : object
        Parameters of :func:`~fairfold.recommendation.units.corrected_tables`.
    """
    begin("missing labels, corrected scores and verdicts", is_training=False)
    predicted = dict(read_predictions(predictions))
    of_reference, found = estimate_of_unit(unit, predicted, Model(**reference), n_labels, n_jobs)
    write_arrays(made["hidden"], hidden=unit.hidden, hidden_in_tests=unit.hidden_in_tests)
    of_reference.save(made["reference"])
    distribution = {} if found.frequency is None else found.frequency._asdict()
    bound = {} if found.bound is None else {"bound": np.array(found.bound)}
    write_arrays(made["frequency"], **distribution, **bound)
    columns = {"dataset": unit.data.id, "hidden_rate": unit.missing_rate}
    write_table(found.row.assign(**columns)[[*columns, *found.row]], made["missing_rate"])
    tables = corrected_tables(unit, predicted, found, **options) if predicted else {}
    if unit.missing_rate == 0:  # labels as they are
        row = read_table(made["missing_rate"]).fillna({"reason": ""})
        tables["tests"] = evidence_of_unit(unit, of_reference, found._replace(row=row))
    columns = {"dataset": unit.data.id, "missing_rate": unit.missing_rate}
    for name in _CORRECTED:
        table = tables.get(name, pd.DataFrame())
        write_table(table.assign(**columns)[[*columns, *table]], made[name])


def score_by_samples(
    dataset: str,
    folds: str,
    made: Mapping[str, str],
    *,
    model: str,
    missing_rate: int,
    settings: Mapping[str, Any],
    shares: Sequence[float],
    n_splits: int,
    threshold: float,
    seed: int,
    key: str | None = None,
    n_jobs: int = 1,
) -> None:
    """Train a model on shares of each fold's training part, and extrapolate its scores to more samples.

    Parameters
    ----------
    dataset, folds : str
        Files of the dataset and of its folds.
    made : mapping of str to str
        Files ``scores`` and ``curve`` to write.
    model : str
        Name of the model.
    missing_rate : int
        Percentage of positives to hide.
    settings : mapping of str to object
        Parameters of :func:`~fairfold.models.make_model`.
    shares : sequence of float
        Shares of the training part.
    n_splits : int
        Number of folds of the study.
    threshold : float
        Probability above which a label counts as predicted.
    seed : int
        Seed of the study.
    key : str or None, default=None
        Checksum of all input and code, by which an interrupted job finds its trainings in the cache.
    n_jobs : int, default=1
        Number of threads.
    """
    data = Dataset.load(dataset)
    unit = {"dataset": data.id, "missing_rate": missing_rate}
    names = ("sample curves", *unit.values())

    def curves_of(repeat: int, fold_of: np.ndarray) -> pd.DataFrame:
        rules: dict[str, Any] = {"seed": seed, "names": (*names, "hidden labels", repeat), "negatives": data.negatives}
        hidden = hide_in_training_parts(data.Y, fold_of, missing_rate / 100, **rules)

        def score(rows: np.ndarray, fold: int) -> pd.DataFrame:
            number = repeat * (fold_of.max() + 1) + fold + 1
            what = f"learning curve: {model} on {len(rows):,} samples, fold {number}"
            seen = observed_labels(data.Y, hidden, fold, negatives=data.negatives)[rows]
            found = score_on_folds(
                lambda _: make_model(
                    model,
                    **settings,
                    label_frequency=data.label_frequency(missing_rate),
                    categories=data.category_columns,
                    features=data.features,
                    n_jobs=n_jobs,
                    random_state=seed_for(seed, *names, model, repeat, fold),
                ),
                data.samples[rows],
                data.Y[rows],
                only_fold(fold_of[rows], fold),
                lambda _: seen,
                threshold=threshold,
                groups=None if data.groups is None else data.groups[rows],
                sample_weight=None if data.weights is None else data.weights[rows],
                run=lambda _, compute: trained(key, what, compute),
            )
            return found.scores.query("is_final").assign(fold=fold)

        cut = shares_of_training(fold_of, shares, seed=seed, names=(*names, "shares", repeat), groups=data.groups)
        return scores_by_samples(score, cut).assign(**unit, model=model, repeat=repeat)

    splits = read_arrays(folds)["fold_of"]
    announce(len(shares) * len([*parts_of(splits, data.shape[0])]))
    tables = [curves_of(repeat, fold_of) for repeat, fold_of in enumerate(splits)]
    columns = [*unit, "model", "repeat", "share", "n_train", "fold", "metric", "value", "reason"]
    write_table(pd.concat(tables, ignore_index=True)[columns], made["scores"])
    write_table(sample_curves(read_table(made["scores"]), n_splits=n_splits, seed=seed), made["curve"])
