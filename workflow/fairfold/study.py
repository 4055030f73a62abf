"""Check the configuration of a study and derive the settings of its parts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fairfold.core.config import validated
from fairfold.core.files import check_writable, read_json, remove_leftovers, write_json
from fairfold.core.machine import ignore_closed_output
from fairfold.core.memory import prepare_cache
from fairfold.core.runs import lock_of_folder
from fairfold.core.settings import NonNegative, Settings
from fairfold.cross_testing.settings import CrossTesting
from fairfold.datasets.catalog import Catalog, load_catalog
from fairfold.datasets.dataset import Task
from fairfold.datasets.settings import Data
from fairfold.ecoc.settings import ECOC
from fairfold.errors import ConfigError, ModelError
from fairfold.final.settings import Final
from fairfold.metrics.registry import BASIC_METRICS, FURTHER_METRICS, MANY_LABELS, REFERENCE_LABELS
from fairfold.models.code import code_of_model
from fairfold.models.own_sources import check_entry
from fairfold.models.registry import MODEL_NAMES, register_own, settings_of, spec_of
from fairfold.models.settings import MLCComparison, Models
from fairfold.publish.settings import Publish
from fairfold.splitting import methods as splitters
from fairfold.splitting.methods import METHOD_NAMES
from fairfold.splitting.settings import Folds, Splitting
from fairfold.weak_labels.settings import WeakLabels
from fairfold.win_percentage.settings import WinPercentage

if TYPE_CHECKING:
    import pandas as pd

Config = Mapping[str, Any]
_MULTILABEL_PARTS = (
    *("weak_labels", "weak_labels.rank_stability", "weak_labels.sample_curves", "weak_labels.mechanisms"),
    *("splitting", "splitting.fold_effect", "cross_testing.models", "win_percentage.models", "final", "mlc_comparison"),
)
_RANDOM_FOLDS = (  # Parts that draw random folds and train on them.
    *("weak_labels.rank_stability", "weak_labels.sample_curves", "splitting.fold_effect"),
    *("cross_testing.models", "win_percentage.models"),
)
_CHECKS = Path("results", "logs", "check_scores")
UNAVAILABLE = Path(".snakemake", "fairfold-unavailable.json")


class Study(Settings):
    """Configuration of a study."""

    seed: NonNegative
    """Every random stream is derived from this number and the names of the unit of work (dataset, missing rate, fold,
    method)."""

    data: Data = Data()

    models: Models = Models()

    folds: Folds = Folds()

    splitting: Splitting = Splitting()

    weak_labels: WeakLabels

    cross_testing: CrossTesting = CrossTesting()

    win_percentage: WinPercentage = WinPercentage()

    final: Final = Final()

    mlc_comparison: MLCComparison = MLCComparison()

    ecoc: ECOC = ECOC()

    publish: Publish = Publish()


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of configurations, for editors; printed by ``python -m fairfold.study``.

    Returns
    -------
    dict
        JSON schema.
    """
    return _with_names(Study.model_json_schema(), _known_names({}))


def _with_names(node: Any, names: Mapping[str, Sequence[str]]) -> Any:
    """Replace ``names_of`` in a JSON schema by the known names."""
    if isinstance(node, list):
        return [_with_names(each, names) for each in node]
    if not isinstance(node, dict):
        return node
    filled = {key: _with_names(value, names) for key, value in node.items() if key != "names_of"}
    return {**filled, "enum": list(names[node["names_of"]])} if "names_of" in node else filled


def _known_names(config: Config) -> dict[str, Sequence[str]]:
    metrics = {"metrics": tuple(BASIC_METRICS), "scores": (*BASIC_METRICS, *FURTHER_METRICS)}
    return {"models": (*MODEL_NAMES, *_own_names(config)), "splitters": METHOD_NAMES, **metrics}


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
    study = validated(config, Study, "config", names=_known_names(config), files=files)
    config.clear()
    config.update(study.model_dump(by_alias=True))
    return study


def _own_names(config: Config) -> list[str]:
    """Return the names of the user's own models and their corrected versions, before any check."""
    own: Any = config
    for key in ("models", "own"):
        own = own.get(key) if isinstance(own, dict) else None
    return [f"{name}{plus}" for name in (own if isinstance(own, dict) else ()) for plus in ("", "+")]


def check_study(config: dict[str, Any], files: Sequence[Path] = ()) -> Catalog:
    """Check a whole configuration and fill in the defaults.

    Parameters
    ----------
    config : dict
        Content of a configuration file. Defaults are filled in place.
    files : sequence of Path, default=()
        Configuration files. Messages name their lines.

    Returns
    -------
    Catalog
        Datasets of the project and of the configuration.

    Raises
    ------
    ConfigError
        If a value is not allowed or contradicts another one, a dataset is unknown or of the wrong kind for a part of
        the study, or the file of the user's own model is missing.
    """
    check_config(config, files)
    for name, entry in config["models"]["own"].items():
        check_entry(name, entry)
    register_own(config["models"])
    data = config["data"]
    catalog = load_catalog().with_labels(data["labels_are"]).with_own(data["own"]).with_variants(data["variants"])
    for dataset, task in used_datasets(config):
        catalog[dataset].require(task)
    for dataset in config["ecoc"]["comparison"]["datasets"]:
        catalog[dataset].require_complete()
    _check_folds(config, catalog)
    _check_repeats(config, catalog)
    _check_scored(config)
    _check_mechanisms(config)
    return catalog


def _check_folds(config: Config, catalog: Catalog) -> None:
    """Refuse random folds for datasets that are evaluated by time."""
    for key in _RANDOM_FOLDS:
        if by_time := [dataset for dataset in _part(config, key)["datasets"] if catalog[dataset].hold_out]:
            raise ConfigError(
                f"config.{key}.datasets: found {by_time[0]}, which is evaluated by time (hold_out), but here folds are "
                "drawn at random. Models would learn from later samples. Exclude it."
            )


def _check_repeats(config: Config, catalog: Catalog) -> None:
    """Refuse several splits for datasets that have only one."""
    if (repeats := config["folds"]["repeats"]) == 1:
        return
    for dataset in config["weak_labels"]["datasets"]:
        entry = catalog[dataset]
        single = {
            "own.{}.folds": entry.folds,
            "variants.{}.folds": entry.tests_split,
            "own.{}.hold_out": entry.hold_out,
        }
        if key := next((f"data.{key.format(dataset)}" for key, value in single.items() if value), None):
            raise ConfigError(
                f"config.folds.repeats: found {repeats}, but {key} gives a single split. Set repeats to 1, or leave "
                f"{key} out."
            )


def _check_scored(config: Config) -> None:
    """Refuse datasets that need scores of the weak-label study, but are not in it."""
    scored, advice = {*config["weak_labels"]["datasets"]}, {"weak_labels.many_labels": "Add it there."}
    if config["final"]["model"] is None:
        advice["final"] = "Add it there for a recommended model, or name a model as final.model."
    for key, remedy in advice.items():
        if unscored := sorted({*(_part(config, key)["datasets"] or ())} - scored):
            raise ConfigError(f"config.{key}.datasets: found {unscored[0]}, which weak_labels.datasets lacks. {remedy}")


def _check_mechanisms(config: Config) -> None:
    """Refuse a comparison that includes all models that can define difficult labels."""
    mechanisms = config["weak_labels"]["mechanisms"]
    if mechanisms["datasets"] and "difficulty" in mechanisms["kinds"]:
        difficulty_by([*(mechanisms["models"] or config["weak_labels"]["models"]), REFERENCE])


def _part(config: Config, key: str) -> Config:
    """Return the part of a configuration under a key such as ``weak_labels.mechanisms``."""
    return reduce(getitem, key.split("."), config)


def used_datasets(config: Config) -> list[tuple[str, Task]]:
    """List the datasets that the parts of a study use, with the task of each part.

    Parameters
    ----------
    config : mapping
        Checked configuration.

    Returns
    -------
    list of tuple of str
        Dataset and task, part by part. Datasets can be repeated.
    """
    experiments = [each["dataset"] for each in config["cross_testing"]["experiments"].values()]
    found: list[tuple[str, Task]] = [
        (dataset, "multilabel") for key in _MULTILABEL_PARTS for dataset in _part(config, key)["datasets"]
    ]
    found += [(dataset, "binary") for dataset in (*config["win_percentage"]["datasets"], *experiments)]
    return found + [(dataset, "multiclass") for dataset in config["ecoc"]["comparison"]["datasets"]]


EXAMPLE_DATASETS = {"linear": "iris", "custom-loss": "iris", "posterior": "iris", "arrhythmia": "arrhythmia"}
"""Dataset of each example of ``ecoc.examples``."""


def leave_out(config: dict[str, Any], reasons: Mapping[str, str]) -> list[dict[str, str]]:
    """Exclude datasets from all parts of a study, in place.

    Parameters
    ----------
    config : dict
        Checked configuration. ``data.left_out`` stores the reasons.
    reasons : mapping of str -> str
        Reason for each excluded dataset.

    Returns
    -------
    list of dict
        Rows with ``part`` (key of the configuration), ``dataset`` and ``reason``.
    """
    experiments, examples = config["cross_testing"]["experiments"], config["ecoc"]["examples"]
    left = [(f"cross_testing.experiments.{name}", each["dataset"]) for name, each in experiments.items()]
    left += [(f"ecoc.examples.{name}", EXAMPLE_DATASETS[name]) for name in examples]
    left += [(key, dataset) for key, part in _with_datasets(config) for dataset in part["datasets"]]
    for _, part in _with_datasets(config):
        part["datasets"] = [dataset for dataset in part["datasets"] if dataset not in reasons]
    kept = {name: each for name, each in experiments.items() if each["dataset"] not in reasons}
    config["cross_testing"]["experiments"] = kept
    config["ecoc"]["examples"] = [name for name in examples if EXAMPLE_DATASETS[name] not in reasons]
    config["data"]["left_out"] = dict(reasons)
    return [{"part": part, "dataset": name, "reason": reasons[name]} for part, name in left if name in reasons]


def leave_out_unavailable(config: dict[str, Any], catalog: Catalog, is_main_process: bool) -> list[dict[str, str]]:
    """Exclude unavailable datasets from all parts of a study, in place.

    The main process searches for the datasets and stores the result for the processes of its jobs.

    Parameters
    ----------
    config : dict
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.
    is_main_process : bool
        Whether this process plans the study.

    Returns
    -------
    list of dict
        Excluded datasets. See :func:`leave_out`.
    """
    settings = config["data"]
    if settings["unavailable"] == "stop":
        return leave_out(config, settings["left_out"])
    from fairfold.datasets.availability import unavailable
    from fairfold.datasets.preparation import environment_mirrors

    if not is_main_process:
        return leave_out(config, read_json(UNAVAILABLE))
    used = [dataset for dataset, _ in used_datasets(config)]
    used += [EXAMPLE_DATASETS[name] for name in config["ecoc"]["examples"]]
    missing = [name for name in dict.fromkeys(used) if not Path(f"results/datasets/{name}.npz").exists()]
    found = unavailable(
        [catalog[dataset] for dataset in missing],
        mirrors=[*settings["mirrors"], *environment_mirrors()],
        cache=settings["cache"],
        offline=settings["offline"],
    )
    for dataset, reason in found.items():
        print(f"warning: {dataset} is left out: {reason}", file=sys.stderr)
    write_json(found | settings["left_out"], UNAVAILABLE)
    return leave_out(config, found | settings["left_out"])


def _with_datasets(part: dict[str, Any], key: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parts of a configuration that have a list of datasets, by their keys."""
    if isinstance(part.get("datasets"), list):
        yield key, part
    for name, inner in part.items():
        if isinstance(inner, dict) and (key, name) != ("", "data"):
            yield from _with_datasets(inner, f"{key}.{name}".removeprefix("."))


def with_many_labels(config: Config, catalog: Catalog) -> list[str]:
    """List the datasets of the weak-label study that are scored at k: the selected ones, or those with many labels.

    The number of labels of the user's own data is not known in advance, so these datasets must be selected.

    Parameters
    ----------
    config : mapping
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.

    Returns
    -------
    list of str
        Datasets.
    """
    labels = config["weak_labels"]
    if (chosen := labels["many_labels"]["datasets"]) is not None:
        return list(chosen)
    return [name for name in labels["datasets"] if catalog[name].expected.get("n_labels", 0) > MANY_LABELS]


REFERENCE = "joint-GB"
"""Model whose predictions estimate missing labels.

It minimizes log loss, so its scores rise to the plateau of the observed share like a logistic curve. It is also one of
the fastest models.
"""


def with_own_reference(config: Config, catalog: Catalog) -> list[str]:
    """List the datasets whose number of labels exceeds ``REFERENCE_LABELS``.

    Missing labels of these datasets are estimated from predictions of the most common labels only.

    Parameters
    ----------
    config : mapping
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.

    Returns
    -------
    list of str
        Datasets.
    """
    return [
        name
        for name in with_many_labels(config, catalog)
        if catalog[name].expected.get("n_labels", REFERENCE_LABELS + 1) > REFERENCE_LABELS
    ]


DIFFICULTY_BY = ("kernel-ridge", "logistic", "kNN")
"""Models whose probabilities can define difficult labels. The first one that is not compared is used."""


def difficulty_by(models: Sequence[str]) -> str:
    """Choose the model whose probabilities define difficult labels.

    Its family must not be compared or pooled, because labels that are hidden where a model is uncertain favor or harm
    that model. Kernel ridge regression is the first choice: it is fast, smooth and not a tree.

    Parameters
    ----------
    models : sequence of str
        Models that are compared.

    Returns
    -------
    str
        Name of the model.

    Raises
    ------
    ModelError
        If all candidates are compared.
    """
    compared = [name for model in models for name in (model, *spec_of(model).pools)]
    families = {spec_of(model).family for model in compared}
    if name := next((name for name in DIFFICULTY_BY if name not in families), None):
        return name
    raise ModelError(
        f"mechanism is 'difficulty', which goes by a model that is not compared, but {', '.join(DIFFICULTY_BY)} all "
        "are; leave one out of weak_labels.mechanisms.models, or difficulty out of weak_labels.mechanisms.kinds."
    )


def used_models(config: Config) -> list[str]:
    """List the models that the parts of a study use, those of the weak-label study first.

    Parameters
    ----------
    config : mapping
        Checked configuration.

    Returns
    -------
    list of str
        Models without duplicates.
    """
    keys = [key for key in _MULTILABEL_PARTS if key.startswith("weak_labels")]
    names = [name for key in (*keys, "win_percentage.models") for name in _part(config, key)["models"] or ()]
    return list(dict.fromkeys([*names, *config["cross_testing"]["models"]["candidates"]]))


def model_settings(config: Config, model: str, part: Config | None = None) -> dict[str, Any]:
    """Return the settings that a study passes to ``make_model``.

    Parameters
    ----------
    config : mapping
        Checked configuration.
    model : str
        Name of the model.
    part : mapping or None, default=None
        Part of the configuration whose ``forest`` overrides ``weak_labels.forest``.

    Returns
    -------
    dict
        Settings of the model.
    """
    labels = config["weak_labels"]
    return settings_of(model, {**labels["forest"], **(part["forest"] if part else {})}, labels["variant"])


def hyperparameters(config: Config, sizes: Sequence[tuple[int, int]] = ()) -> pd.DataFrame:
    """List the hyperparameters of the compared models.

    Parameters
    ----------
    config : mapping
        Checked configuration.
    sizes : sequence of (int, int), default=()
        Numbers of samples and labels of the datasets; see
        :func:`~fairfold.models.description.hyperparameter_table`.

    Returns
    -------
    DataFrame
        Table of :func:`~fairfold.models.description.hyperparameter_table`.
    """
    from fairfold.models.description import hyperparameter_table

    models = {name: model_settings(config, name) for name in config["weak_labels"]["models"]}
    return hyperparameter_table(models, config["models"], sizes)


def specifications(config: Config) -> dict[str, Any]:
    """Return what the models and the splitter of a study declare about themselves.

    Parameters
    ----------
    config : mapping
        Checked configuration.

    Returns
    -------
    dict
        ``spec_of``, a function that returns the specification of a model by its name, and ``of_folds``, the phrase of
        the splitter.
    """
    phrase = splitters.spec_of(config["folds"]["method"]).phrase
    return {"spec_of": partial(spec_of, own=config["models"]["own"]), "of_folds": phrase}


def chosen_by(dataset: str, path: Path) -> pd.DataFrame:
    """List the settings that a final model chose by its training data.

    Parameters
    ----------
    dataset : str
        Identifier of the dataset.
    path : Path
        File of the model.

    Returns
    -------
    DataFrame
        Column ``dataset`` and those of :func:`~fairfold.models.description.chosen_settings`. Empty if the file cannot
        be read.
    """
    import pandas as pd

    from fairfold.models import load_model
    from fairfold.models.description import chosen_settings

    try:
        found = chosen_settings(load_model(path))
    except ModelError:
        found = pd.DataFrame()
    return found.assign(dataset=dataset)


def first_level(config: Config, model: str) -> str | None:
    """Return the name of the first level that a model shares with others.

    The name is the variant for models with variants, ``"chosen-shapes"`` for models whose trees choose their shapes,
    and ``"text"`` for other models, which use the random numbers of the text's variant.

    Parameters
    ----------
    config : mapping
        Checked configuration.
    model : str
        Name of the model.

    Returns
    -------
    str or None
        Name of the level, or None if the model shares none.
    """
    spec, labels = spec_of(model), config["weak_labels"]
    if not spec.shares_first_level:
        return None
    if spec.variants:
        return labels["variant"]
    return "chosen-shapes" if labels["forest"]["shape"] == "auto" else "text"


def model_of_study(config: Config, model: str) -> dict[str, Any]:
    """Return the parameters of :class:`fairfold.models.training.Model` for a model of the weak-label study.

    Parameters
    ----------
    config : mapping
        Checked configuration.
    model : str
        Name of the model.

    Returns
    -------
    dict
        Parameters by name.
    """
    labels = config["weak_labels"]
    return {
        "name": model,
        "settings": model_settings(config, model),
        "first_level": first_level(config, model),
        "forest": labels["forest"],
        "most_labels": labels["many_labels"]["most_labels"].get(model),
        "code": code_of_model(model),
    }


def _own_entries(config: Config, models: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    families = dict.fromkeys(spec_of(model).family for model in models)
    return {name: spec_of(name).parameters["entry"] for name in families if name in config["models"]["own"]}


def prepare_run(config: Config) -> IO[str]:
    """Check before the first job of a study that it can run, and lock the working directory.

    Parameters
    ----------
    config : mapping
        Checked configuration.

    Returns
    -------
    file object
        Stream that holds the lock.

    Raises
    ------
    StudyError
        If another run works in this directory, or results cannot be written.
    """
    lock = lock_of_folder()
    check_writable("results")
    for name, entry in _own_entries(config, used_models(config)).items():
        from fairfold.models.isolated import try_out

        if failure := try_out(name, entry):
            print(f"warning: in a trial on 60 simulated samples, {failure}", file=sys.stderr)
    remove_leftovers("results")
    prepare_cache()
    for path in _CHECKS.glob("*.log"):
        path.unlink()
    return lock


def explain_failure() -> str | None:
    """Explain why a run failed.

    Returns
    -------
    str or None
        Sentences about missing scores. None if no score is missing.
    """
    texts = [path.read_text(encoding="utf-8") for path in _CHECKS.glob("*.log")]
    return "\n".join(sorted({text.partition("ModelError: ")[2].strip() for text in texts} - {""})) or None


if __name__ == "__main__":
    with ignore_closed_output():
        print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
