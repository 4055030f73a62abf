"""Check the configuration of a study, also across its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairfold.core.config import validated
from fairfold.datasets.catalog import Catalog, load_catalog
from fairfold.errors import ConfigError
from fairfold.metrics.registry import BASIC_METRICS, FURTHER_METRICS
from fairfold.models.own_sources import check_entry
from fairfold.models.registry import MODEL_NAMES, register_own
from fairfold.planning.models import REFERENCE, difficulty_by
from fairfold.planning.parts import part_of, used_datasets
from fairfold.settings import Study
from fairfold.splitting.methods import METHOD_NAMES, spec_of

_RANDOM_FOLDS = (  # Parts that draw random folds and train on them.
    "weak_labels.rank_stability",
    "weak_labels.sample_curves",
    "splitting.fold_effect",
    "cross_testing.models",
    "win_percentage.models",
)


def known_names(document: Any) -> dict[str, Sequence[str]]:
    """Return the names of models, splitters and metrics that a configuration can contain.

    Parameters
    ----------
    document : object
        Content of a configuration file, before any check. It can contain models of the user.

    Returns
    -------
    dict of str -> sequence of str
        Names by kind.
    """
    return {
        "models": (*MODEL_NAMES, *_own_names(document)),
        "splitters": METHOD_NAMES,
        "metrics": tuple(BASIC_METRICS),
        "scores": (*BASIC_METRICS, *FURTHER_METRICS),
    }


def _own_names(document: Any) -> list[str]:
    """Return the names of the user's own models and their corrected versions, before any check."""
    own: Any = document
    for key in ("models", "own"):
        own = own.get(key) if isinstance(own, dict) else None
    return [f"{name}{plus}" for name in (own if isinstance(own, dict) else ()) for plus in ("", "+")]


def check_config(config: dict[str, Any], files: Sequence[Path] = ()) -> Study:
    """Check each key of a configuration and fill in the defaults.

    Parameters
    ----------
    config : dict
        Content of a configuration file. Defaults are filled in place.
    files : sequence of Path, default=()
        Configuration files. Messages name their lines.

    Returns
    -------
    Study
        The same settings as a typed object.

    Raises
    ------
    ConfigError
        One sentence per violation.
    """
    study: Study = validated(config, Study, "config", names=known_names(config), files=files)
    config.clear()
    config.update(study.model_dump(by_alias=True))
    return study


def check_study(config: dict[str, Any], files: Sequence[Path] = ()) -> Study:
    """Check a whole configuration and fill in the defaults.

    The models of the user are added to the registry of this process.

    Parameters
    ----------
    config : dict
        Content of a configuration file. Defaults are filled in place.
    files : sequence of Path, default=()
        Configuration files. Messages name their lines.

    Returns
    -------
    Study
        The same settings as a typed object.

    Raises
    ------
    ConfigError
        If a value is not allowed or contradicts another one, a dataset is unknown or of the wrong kind for a part of
        the study, or the file of the user's own model is missing.
    """
    study = check_config(config, files)
    own = study.models.entries()
    for name, entry in own.items():
        check_entry(name, entry)
    register_own(own)
    catalog = catalog_of(study)
    for dataset, task in used_datasets(study):
        catalog[dataset].require(task)
    for dataset in study.ecoc.comparison.datasets:
        catalog[dataset].require_complete()
    _check_folds(study, catalog)
    _check_repeats(study, catalog)
    _check_set_aside(study, catalog)
    _check_splitters(study)
    _check_scored(study)
    _check_new_tables(study)
    _check_mechanisms(study)
    return study


def catalog_of(study: Study) -> Catalog:
    """Return the datasets of the project and of a study.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    Catalog
        Datasets by id.

    Raises
    ------
    ConfigError
        If a dataset of the study has the id of another one, or contradicts itself.
    """
    data: Mapping[str, Any] = study.data.model_dump(by_alias=True)
    return load_catalog().with_labels(data["labels_are"]).with_own(data["own"]).with_variants(data["variants"])


def _check_folds(study: Study, catalog: Catalog) -> None:
    """Refuse random folds for datasets that are evaluated by time."""
    for key in _RANDOM_FOLDS:
        if by_time := [dataset for dataset in part_of(study, key).datasets if catalog[dataset].hold_out]:
            raise ConfigError(
                f"config.{key}.datasets: found {by_time[0]}, which is evaluated by time (hold_out), but here folds are "
                "drawn at random. Models would learn from later samples. Exclude it."
            )


def _check_repeats(study: Study, catalog: Catalog) -> None:
    """Refuse several splits for datasets that have only one."""
    if (repeats := study.folds.n_repeats) == 1:
        return
    for dataset in study.weak_labels.datasets:
        entry = catalog[dataset]
        single = {
            "own.{}.folds": entry.folds,
            "variants.{}.folds": entry.tests_split,
            "own.{}.hold_out": entry.hold_out,
        }
        if key := next((f"data.{key.format(dataset)}" for key, value in single.items() if value), None):
            raise ConfigError(
                f"config.folds.n_repeats: found {repeats}, but {key} gives a single split. Set it to 1, or leave "
                f"{key} out."
            )


def _check_set_aside(study: Study, catalog: Catalog) -> None:
    """Refuse to set samples aside of datasets with folds of their own."""
    if study.data.set_aside is None:
        return
    for dataset in (*study.weak_labels.datasets, *study.final.datasets):
        if catalog[dataset].folds or catalog[dataset].tests_split:
            raise ConfigError(
                f"config.data.set_aside: found {study.data.set_aside:g}, but {dataset} has folds of its own. Leave out "
                "one of them."
            )


def _check_splitters(study: Study) -> None:
    """Refuse methods that compare features where only labels are split."""
    methods = {"splitting.methods": study.splitting.methods if study.splitting.datasets else []}
    methods["folds.method"] = [study.folds.method] if study.cross_testing.models.datasets else []
    for key, names in methods.items():
        if compared := [name for name in names if spec_of(name).compares_features]:
            part = "splitting" if key == "splitting.methods" else "cross_testing.models"
            raise ConfigError(
                f"config.{key}: found {compared[0]}, which compares features, but {part} splits labels only. Choose "
                "another method."
            )


def _check_scored(study: Study) -> None:
    """Refuse datasets that need scores of the weak-label study, but are not in it."""
    parts = "weak_labels.elsewhere", "weak_labels.many_labels"
    scored, advice = {*study.weak_labels.datasets}, dict.fromkeys(parts, "Add it there.")
    if study.final.model is None:
        advice["final"] = "Add it there for a recommended model, or name a model as final.model."
    for key, remedy in advice.items():
        if unscored := sorted({*(part_of(study, key).datasets or ())} - scored):
            raise ConfigError(f"config.{key}.datasets: found {unscored[0]}, which weak_labels.datasets lacks. {remedy}")


def _check_new_tables(study: Study) -> None:
    """Refuse new tables of other datasets, and files that do not exist."""
    elsewhere = study.weak_labels.elsewhere
    for name, path in elsewhere.predict_on.items():
        where = "config.weak_labels.elsewhere.predict_on"
        if name not in elsewhere.datasets:
            raise ConfigError(f"{where}: found {name}, which weak_labels.elsewhere.datasets lacks. Add it there.")
        if not Path(path).is_file():
            raise ConfigError(f"{where}: there is no file {path} in {Path.cwd()}. Correct the path.")


def _check_mechanisms(study: Study) -> None:
    """Refuse a comparison that includes all models that can define difficult labels."""
    mechanisms = study.weak_labels.mechanisms
    if mechanisms.datasets and "difficulty" in mechanisms.kinds:
        difficulty_by([*(mechanisms.models or study.weak_labels.models), REFERENCE])
