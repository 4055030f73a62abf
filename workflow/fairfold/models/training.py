"""Train models on one dataset at one missing rate, and score their out-of-fold predictions."""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import SCORE, THRESHOLD
from fairfold.core.files import read_arrays
from fairfold.core.folds import check_repeats, parts_of
from fairfold.core.groups import SampleMetadata
from fairfold.core.memory import key_of, memory, trained
from fairfold.core.provenance import code_of_modules
from fairfold.core.seeds import seed_for
from fairfold.core.trainings import announce, begin
from fairfold.core.usage import cpu_seconds, max_rss, reset_peak_memory
from fairfold.datasets.dataset import Dataset
from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import FoldTables, score_on_folds
from fairfold.features.reuse import features_kept_in
from fairfold.forests.diagnostics import imputation_table
from fairfold.metrics.registry import FURTHER_METRICS, REPORTED
from fairfold.models.registry import make_model, register_own, spec_of
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts, observed_labels

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from fairfold.forests.levels import Level


_FOREST, _LEVEL = "fairfold.forests.models:make_first_level", "fairfold.forests.levels:Level"  # of models with levels


@dataclass(frozen=True)
class Unit:
    """Dataset with labels hidden at one missing rate.

    Parameters
    ----------
    data : Dataset
        Features and true labels.
    fold_of : ndarray of shape (n_repeats, n_samples)
        Test fold of each sample for each split.
    hidden : ndarray of shape (n_hidden, 3)
        Fold, sample and label of each label that is hidden from training.
    hidden_in_tests : ndarray of shape (n_hidden, 3)
        Fold, sample and label of each label of a test fold that is hidden to score on observed labels.
    missing_rate : int
        Percentage of positives that are hidden.
    seed : int
        Seed of the study.
    threshold : float, default=0.5
        Probability above which a label is predicted.
    levels_by : {"observed", "complete"}, default="observed"
        Labels on which cascades choose their last level.
    score : str, default="average_precision"
        Score of the study.
    own : mapping of str to mapping, default={}
        Entries of the user's own models, as from :meth:`fairfold.models.settings.Models.entries`.
    """

    data: Dataset
    fold_of: np.ndarray
    hidden: np.ndarray
    hidden_in_tests: np.ndarray
    missing_rate: int
    seed: int
    threshold: float = THRESHOLD
    levels_by: Literal["observed", "complete"] = "observed"
    score: str = SCORE
    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(
        cls, dataset: str | PathLike, folds: str | PathLike, missing_rate: int, *, seed: int, **options: Any
    ) -> Unit:
        """Read a dataset and its folds from files, and hide labels in the training part and test part of each fold.

        Labels hidden in test parts count as unobserved in scores on observed labels. They do not depend on the number
        of splits.

        Parameters
        ----------
        dataset : str or PathLike
            File of the dataset.
        folds : str or PathLike
            File with the array ``fold_of``.
        missing_rate : int
            Percentage of positives to hide.
        seed : int
            Seed of the study.
        **options : object
            Other parameters of the class.

        Returns
        -------
        Unit
            Dataset at this missing rate.

        Raises
        ------
        DataError
            If a file is missing.
        DamagedFileError
            If a file is damaged.
        """
        return cls.of(Dataset.load(dataset), read_arrays(folds)["fold_of"], missing_rate, seed=seed, **options)

    @classmethod
    def of(cls, data: Dataset, fold_of: np.ndarray, missing_rate: int, *, seed: int, **options: Any) -> Unit:
        """Hide labels in the training part and test part of each fold; see :meth:`load`.

        Parameters
        ----------
        data : Dataset
            Features and true labels.
        fold_of : ndarray of shape (n_repeats, n_samples)
            Test fold of each sample for each split.
        missing_rate : int
            Percentage of positives to hide.
        seed : int
            Seed of the study.
        **options : object
            Other parameters of the class.

        Returns
        -------
        Unit
            Dataset at this missing rate.
        """
        check_repeats(fold_of, f"dataset {data.id}")
        rules: dict[str, Any] = {"negatives": data.negatives, "hierarchy": data.hierarchy}
        rules |= {"seed": seed, "names": ("hidden labels", data.id, missing_rate)}
        hidden = hide_in_training_parts(data.Y, fold_of, missing_rate / 100, **rules)
        in_tests = hide_in_test_parts(data.Y, fold_of[0], missing_rate / 100, **rules)
        return cls(data, fold_of, hidden, in_tests, missing_rate, seed, **options)

    def with_labels(self, labels: np.ndarray) -> Unit:
        """Restrict the unit to some labels, and drop the hierarchy.

        Parameters
        ----------
        labels : ndarray of shape (n_kept,)
            Column numbers of the labels to keep.

        Returns
        -------
        Unit
            Unit with these labels.
        """
        number_of = np.full(len(self.data.label_names), -1)
        number_of[labels] = np.arange(len(labels))

        def of_labels(hidden: np.ndarray) -> np.ndarray:
            numbers = number_of[hidden[:, 2]]
            return np.column_stack([hidden[:, :2], numbers])[numbers >= 0]

        names = tuple(self.data.label_names[label] for label in labels)
        return replace(
            self,
            data=replace(self.data, Y=self.data.Y[:, labels], label_names=names, hierarchy=None),
            hidden=of_labels(self.hidden),
            hidden_in_tests=of_labels(self.hidden_in_tests),
        )

    def observed(self, fold: int) -> Matrix:
        """Return the labels that models are trained on in a fold.

        Parameters
        ----------
        fold : int
            Fold that is held out.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Observed labels.
        """
        return observed_labels(self.data.Y, self.hidden, fold, self.data.negatives)

    def seed_of(self, fold: int) -> int:
        """Compute the seed of a fold.

        All models use the same seed. They can therefore share first levels, and comparisons between them are paired.

        Parameters
        ----------
        fold : int
            Fold that is held out.

        Returns
        -------
        int
            Seed of the fold.
        """
        return seed_for(self.seed, self.data.id, self.missing_rate, fold)

    def key(self) -> str:
        """Compute a checksum of everything except the models that determines the results, including the code.

        Returns
        -------
        str
            Checksum.
        """
        data = self.data
        arrays = data.X, data.Y, data.groups, data.weights, self.fold_of, self.hidden, self.hidden_in_tests
        hierarchy = None if data.hierarchy is None else data.hierarchy.as_dict()
        columns = () if data.typed is None else (data.typed.key,)
        labels = data.labels_are, data.missing_rate, data.category_columns, hierarchy, *columns
        # Scores of every study are those without this setting.
        score = (self.score,) if self.score in FURTHER_METRICS else ()
        options = self.threshold, self.levels_by, code_of_modules(__name__), *score
        return key_of(arrays, labels, data.id, self.missing_rate, self.seed, *options)


@dataclass(frozen=True)
class Model:
    """Model of a study with its settings.

    Parameters
    ----------
    name : str
        Name in the registry.
    settings : mapping of str -> object
        Parameters of :func:`~fairfold.models.make_model`.
    first_level : str or None, default=None
        Name of the first level that the model shares with others.
    forest : mapping of str -> object, default={}
        Settings of the first level.
    most_labels : int or None, default=None
        Maximum number of labels for which the model is trained.
    code : str, default=""
        Checksum of the code of the model, from :func:`~fairfold.models.code.code_of_model`.
    """

    name: str
    settings: Mapping[str, Any]
    first_level: str | None = None
    forest: Mapping[str, Any] = field(default_factory=dict)
    most_labels: int | None = None
    code: str = ""


def train_models(unit: Unit, models: list[Model], n_jobs: int = 1) -> dict[str, FoldTables]:
    """Train models on every fold, and score their out-of-fold predictions on the true labels.

    Results of earlier calls in the same working directory come from a cache.

    Parameters
    ----------
    unit : Unit
        The data.
    models : list of Model
        The models.
    n_jobs : int, default=1
        Number of threads. Models are trained in parallel, each with an equal share of the threads. It does not affect
        results.

    Returns
    -------
    dict of str -> FoldTables
        Scores, run times with peak memory, imputations and predictions of each model. A model that cannot run has rows
        with a reason instead of values.

    Raises
    ------
    ModelError
        If a model does not exist.
    """
    train = memory().cache(train_model, ignore=["unit", "model", "levels", "n_jobs", "folder"])
    of_unit = unit.key()
    calls = [(key_of(of_unit, model), unit, model) for model in models]
    waiting = [model for model, call in zip(models, calls, strict=True) if not train.check_call_in_cache(*call)]
    logging.info("Train %s.", ", ".join(model.name for model in waiting) or "no model: all results are cached")
    can_share = unit.data.features is None  # Otherwise each model makes features before its first level.
    n_parts = len([*parts_of(unit.fold_of, unit.data.shape[0])])
    announce(len(waiting) * n_parts, (len(models) - len(waiting)) * n_parts)
    shared = {model.first_level: model.forest for model in waiting if model.first_level is not None and can_share}
    # Compiled code needs writable arrays. Memory maps are read-only.
    parallel = Parallel(n_jobs=n_jobs, max_nbytes=None)
    grown = parallel(delayed(grow_first_level)(unit, name, forest) for name, forest in shared.items())
    levels = dict(zip(shared, grown, strict=True))
    n_jobs_of_each = max(n_jobs // max(len(waiting), 1), 1)
    first_levels = [levels.get(model.first_level or "") for model in models]
    with _folder_for_features(unit, models, len(waiting)) as folder:
        jobs = ((*call, level, n_jobs_of_each, folder) for call, level in zip(calls, first_levels, strict=True))
        tables = parallel(delayed(train)(*job) for job in jobs)
    return {model.name: table for model, table in zip(models, tables, strict=True)}


@contextlib.contextmanager
def _folder_for_features(unit: Unit, models: Sequence[Model], n_waiting: int) -> Iterator[str | None]:
    """Name a folder that exists while models are trained; None if they share no features of texts.

    After a killed run, the same job uses and deletes the same folder.
    """
    caches = memory().location
    if unit.data.features is None or caches is None:
        yield None
        return
    folder = Path(caches, f"features-{key_of(unit.key(), [model.name for model in models])}")
    try:
        yield str(folder) if n_waiting > 1 else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def grow_first_level(unit: Unit, name: str, forest: Mapping[str, Any]) -> dict[int, tuple[list, float]]:
    """Grow a shared first level on every fold.

    A fold on which the first level cannot be grown is omitted. The models that use it report the reason.

    Parameters
    ----------
    unit : Unit
        The data.
    name : str
        Name of the first level.
    forest : mapping of str -> object
        Settings of the first level.

    Returns
    -------
    dict of int -> tuple of list and float
        State of the first level and its CPU time in seconds, by fold.
    """
    data, levels = unit.data, {}
    for fold, (train, _) in enumerate(parts_of(unit.fold_of, data.shape[0])):
        begin(f"first level of forests on fold {fold + 1}", is_training=False)
        start = cpu_seconds()
        with contextlib.suppress(ModelError):
            model = resolve_name(_FOREST)(name, **forest, random_state=unit.seed_of(fold))
            groups, weights = SampleMetadata(data.groups, data.weights).for_training(train)
            model.fit(data.X[train], unit.observed(fold)[train], groups=groups, sample_weight=weights)
            levels[fold] = model.levels_[0].to_states(), cpu_seconds() - start
    return levels


def train_model(
    key: str | None,
    unit: Unit,
    model: Model,
    levels: Mapping[int, tuple[list, float]] | None = None,
    n_jobs: int = 1,
    folder: str | None = None,
) -> FoldTables:
    """Train one model on every fold, and score its out-of-fold predictions.

    Parameters
    ----------
    key : str or None
        Checksum of everything that determines the result. It is the key of the cache. None caches nothing.
    unit : Unit
        The data.
    model : Model
        The model.
    levels : mapping of int -> tuple of list and float or None, default=None
        State of the shared first level and its CPU time, by fold. The table of run times lists the time as the step
        ``first_level``.
    n_jobs : int, default=1
        Number of threads.
    folder : str or None, default=None
        Folder with features of texts that several models use. The first model that needs them computes them.

    Returns
    -------
    FoldTables
        Scores, run times with peak memory, imputations and predictions.
    """
    reset_peak_memory()
    register_own(unit.own)
    data = unit.data
    seen = observed_labels(data.Y, unit.hidden_in_tests, None, data.negatives)
    known: dict[str, Any] = {
        "label_frequency": data.label_frequency(unit.missing_rate),
        "categories": data.category_columns,
        "hierarchy": data.hierarchy,
        "features": data.features,
    }

    def make(fold: int) -> ClassifierMixin:
        if model.most_labels is not None and len(data.label_names) > model.most_labels:
            allowed = f"config.weak_labels.many_labels.most_labels allows {model.most_labels} labels."
            raise ModelError(f"{model.name}: {allowed}")
        return make_model(model.name, **model.settings, **known, n_jobs=n_jobs, random_state=unit.seed_of(fold))

    def adjust(fitted: ClassifierMixin, truth: Matrix) -> None:
        if unit.levels_by == "complete" and hasattr(fitted, "choose_levels_by"):
            fitted.choose_levels_by(truth)

    def first_level_of(fold: int) -> dict[str, Level | None]:
        if levels is None:
            return {}
        return {"first_level": resolve_name(_LEVEL).of_states(levels[fold][0]) if fold in levels else None}

    with features_kept_in(folder):
        tables = score_on_folds(
            make,
            data.samples,
            data.Y,
            unit.fold_of,
            observed=unit.observed,
            observed_in_test=lambda fold: seen,
            threshold=unit.threshold,
            score=unit.score,
            reported=REPORTED,
            fit_options=first_level_of,
            adjust=adjust,
            groups=data.groups,
            sample_weight=data.weights,
            examine=imputation_table if spec_of(model.name).imputes else None,
            # A killed job loses at most its present fold.
            run=lambda fold, compute: trained(key, f"{model.name} on fold {fold + 1}", compute),
        )
    seconds = tables.seconds
    if levels:
        shared = [(fold, "first_level", took) for fold, (_, took) in levels.items()]
        seconds = pd.concat([seconds, pd.DataFrame(shared, columns=[*seconds])], ignore_index=True)
    if model.name.removesuffix("+") in unit.own:
        resolve_name("fairfold.models.isolated:stop_worker")()  # Most models do not need loky.
    return tables._replace(seconds=seconds.assign(max_rss=max_rss()))
