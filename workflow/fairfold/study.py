"""A study as a whole: its configuration, checked against all that there is, and what follows from it for its parts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import IO, Any

from fairfold.core.config import validated
from fairfold.core.files import check_writable, remove_damaged, remove_leftovers
from fairfold.core.runs import RUN_AGAIN, lock_of_folder
from fairfold.core.settings import NonNegative, Settings
from fairfold.cross_testing.settings import CrossTesting
from fairfold.datasets.catalog import Catalog, load_catalog
from fairfold.datasets.settings import Data
from fairfold.ecoc.settings import ECOC
from fairfold.errors import ConfigError, ModelError
from fairfold.evaluation.metrics import BASIC_METRICS, MANY_LABELS
from fairfold.final.settings import Final
from fairfold.models.own_sources import check_entry, checksum_of
from fairfold.models.registry import MODEL_NAMES, register_own, settings_of, spec_of
from fairfold.models.settings import Models
from fairfold.splitting.methods import METHOD_NAMES
from fairfold.splitting.settings import Folds, Splitting
from fairfold.weak_labels.settings import WeakLabels
from fairfold.win_percentage.settings import WinPercentage

Config = Mapping[str, Any]
_MULTILABEL_PARTS = (
    *("weak_labels", "weak_labels.rank_stability", "weak_labels.sample_curves", "weak_labels.mechanisms"),
    *("splitting", "splitting.fold_effect", "cross_testing.models", "win_percentage.models", "final"),
)
_RANDOM_FOLDS = (  # parts that draw folds of their own and train on them
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

    ecoc: ECOC = ECOC()


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of configurations, for editors; printed by ``python -m fairfold.study``."""
    return _with_names(Study.model_json_schema(), _known_names({}))


def _with_names(node: Any, names: Mapping[str, Sequence[str]]) -> Any:
    """Return a JSON schema with the known names in place of ``names_of``."""
    if isinstance(node, list):
        return [_with_names(each, names) for each in node]
    if not isinstance(node, dict):
        return node
    filled = {key: _with_names(value, names) for key, value in node.items() if key != "names_of"}
    return {**filled, "enum": list(names[node["names_of"]])} if "names_of" in node else filled


def _known_names(config: Config) -> dict[str, Sequence[str]]:
    return {"models": (*MODEL_NAMES, *_own_names(config)), "splitters": METHOD_NAMES, "metrics": tuple(BASIC_METRICS)}


def check_config(config: dict[str, Any], files: Sequence[Path] = ()) -> Study:
    """Check each key of a configuration and fill in the defaults.

    Parameters
    ----------
    config : dict
        Content of a configuration file. Defaults are filled in place.
    files : sequence of Path, default=()
        Configuration files, whose lines messages name.

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
    """Names of the configuration's own models and of their corrected ones, before it is checked."""
    own = config
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
        Configuration files, whose lines messages name.

    Returns
    -------
    Catalog
        Datasets of the project and of the configuration.

    Raises
    ------
    ConfigError
        If a value is not allowed, a dataset is unknown or of the wrong kind for a part of the study, the file of a
        model of your own is missing, or two values contradict each other.
    """
    check_config(config, files)
    for name, entry in config["models"]["own"].items():
        check_entry(name, entry)
    register_own(config["models"])
    catalog = load_catalog().with_own(config["data"]["own"]).with_variants(config["data"]["variants"])
    for dataset, task in used_datasets(config):
        catalog[dataset].require(task)
    for dataset in config["ecoc"]["comparison"]["datasets"]:
        catalog[dataset].require_complete()
    _check_folds(config, catalog)
    _check_repeats(config, catalog)
    _check_many_labels(config)
    _check_mechanisms(config)
    _check_final(config)
    return catalog


def _check_folds(config: Config, catalog: Catalog) -> None:
    """Refuse folds drawn at random where a dataset is evaluated by time."""
    for key in _RANDOM_FOLDS:
        if by_time := [dataset for dataset in _part(config, key)["datasets"] if catalog[dataset].hold_out]:
            raise ConfigError(
                f"config.{key}.datasets: found {by_time[0]}, which is evaluated by time (hold_out), but here folds are "
                "drawn at random, in which models would learn from what comes later; leave it out."
            )


def _check_repeats(config: Config, catalog: Catalog) -> None:
    """Refuse several splits where a dataset has one."""
    if (repeats := config["folds"]["repeats"]) == 1:
        return
    for dataset in config["weak_labels"]["datasets"]:
        entry = catalog[dataset]
        if entry.folds is not None:
            flaw = f"the folds of {dataset} are those of its column {entry.folds!r}, of which there is one split"
            key = f"data.own.{dataset}.folds"
        elif entry.tests_split:
            flaw = f"{dataset} is tested on its published test part, of which there is one"
            key = f"data.variants.{dataset}.folds"
        elif entry.hold_out:
            flaw = f"{dataset} is evaluated by time (hold_out), for which there is one split"
            key = f"data.own.{dataset}.hold_out"
        else:
            continue
        raise ConfigError(f"config.folds.repeats: found {repeats}, but {flaw}; set repeats to 1, or leave {key} out.")


def _check_many_labels(config: Config) -> None:
    """Refuse datasets that are not scored."""
    many = config["weak_labels"]["many_labels"]
    if unscored := sorted({*(many["datasets"] or ())} - {*config["weak_labels"]["datasets"]}):
        raise ConfigError(
            f"config.weak_labels.many_labels.datasets: found {unscored[0]}, which weak_labels.datasets lacks; add it "
            "there."
        )


def _check_mechanisms(config: Config) -> None:
    """Refuse to compare all models by which labels could be called difficult."""
    mechanisms = config["weak_labels"]["mechanisms"]
    if mechanisms["datasets"] and "difficulty" in mechanisms["kinds"]:
        difficulty_by([*(mechanisms["models"] or config["weak_labels"]["models"]), REFERENCE])


def _check_final(config: Config) -> None:
    """Refuse datasets for which no final model is recommended or named."""
    final = config["final"]
    unscored = sorted({*final["datasets"]} - {*config["weak_labels"]["datasets"]})
    if unscored and final["model"] is None:
        raise ConfigError(
            f"config.final.datasets: found {unscored[0]}, which weak_labels.datasets lacks, so that no model is "
            "recommended for it; add it there, or name a model as final.model."
        )


def _part(config: Config, key: str) -> Config:
    """Return the part of a configuration under a key such as ``weak_labels.mechanisms``."""
    return reduce(getitem, key.split("."), config)


def used_datasets(config: Config) -> list[tuple[str, str]]:
    """Id of each dataset that a part of the study uses, with the task that the part takes; part by part."""
    experiments = [each["dataset"] for each in config["cross_testing"]["experiments"].values()]
    found = [(dataset, "multilabel") for key in _MULTILABEL_PARTS for dataset in _part(config, key)["datasets"]]
    found += [(dataset, "binary") for dataset in (*config["win_percentage"]["datasets"], *experiments)]
    return found + [(dataset, "multiclass") for dataset in config["ecoc"]["comparison"]["datasets"]]


EXAMPLE_DATASETS = {"linear": "iris", "custom-loss": "iris", "posterior": "iris", "arrhythmia": "arrhythmia"}
"""Example of ``ecoc.examples`` -> its dataset."""


def leave_out(config: dict[str, Any], reasons: Mapping[str, str]) -> list[dict[str, str]]:
    """Take datasets out of all parts of a study; the configuration is changed in place.

    Parameters
    ----------
    config : checked.
    reasons : dataset -> why it is left out, which ``data.left_out`` keeps.

    Returns
    -------
    rows with ``part``, the key of the configuration, ``dataset`` and ``reason``
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
    """Take datasets that cannot be had out of all parts of a study; the configuration is changed in place.

    The main process looks for them, and remembers what it found for the processes of its jobs.

    Parameters
    ----------
    config : dict
        A checked configuration.
    catalog : Catalog
        The project's datasets and those of the configuration.
    is_main_process : bool
        Whether this process plans the study.

    Returns
    -------
    list of dict
        See :func:`leave_out`.
    """
    settings = config["data"]
    if settings["unavailable"] == "stop":
        return leave_out(config, settings["left_out"])
    from fairfold.datasets.availability import remember, remembered, unavailable
    from fairfold.datasets.preparation import environment_mirrors

    if not is_main_process:
        return leave_out(config, remembered(UNAVAILABLE))
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
        print(f"{dataset} is left out: {reason}", file=sys.stderr)
    remember(UNAVAILABLE, found | settings["left_out"])
    return leave_out(config, found | settings["left_out"])


def _with_datasets(part: Config, key: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Parts of a configuration that have a list of datasets, by their keys."""
    if isinstance(part.get("datasets"), list):
        yield key, part
    for name, inner in part.items():
        if isinstance(inner, dict) and (key, name) != ("", "data"):
            yield from _with_datasets(inner, f"{key}.{name}".removeprefix("."))


def with_many_labels(config: Config, catalog: Catalog) -> list[str]:
    """Datasets of the weak-label study that are scored at k: the chosen ones, or those known to have many labels.

    How many labels own data have is known only when they are read, so that they are to be chosen.
    """
    labels = config["weak_labels"]
    if (chosen := labels["many_labels"]["datasets"]) is not None:
        return list(chosen)
    return [name for name in labels["datasets"] if catalog[name].expected.get("n_labels", 0) > MANY_LABELS]


REFERENCE = "joint-GB"
"""The model by whose predictions missing labels are estimated.

It is trained by log loss, so that its scores rise to the plateau of observed shares as a logistic curve does, and is
one of the fastest.
"""

REFERENCE_LABELS = 64
"""Most labels that it learns for that; the share of positives that is observed is taken to be the same for all."""


def with_own_reference(config: Config, catalog: Catalog) -> list[str]:
    """Datasets with so many labels that missing ones are estimated by predictions of the most common ones."""
    return [
        name
        for name in with_many_labels(config, catalog)
        if catalog[name].expected.get("n_labels", REFERENCE_LABELS + 1) > REFERENCE_LABELS
    ]


DIFFICULTY_BY = ("kernel-ridge", "logistic", "kNN")
"""Models by whose probabilities labels are hard, the first that is not compared."""


def difficulty_by(models: Sequence[str]) -> str:
    """Name of the model by whose probabilities labels are hard: of no family that is compared, or pooled.

    Labels that are hidden where a model is unsure are chosen for or against it. Kernel ridge regression comes first: it
    is fast, smooth, and no tree.

    Raises
    ------
    ModelError
        When all that would do are compared.
    """
    compared = [name for model in models for name in (model, *spec_of(model).pools)]
    families = {spec_of(model).family for model in compared}
    for name in DIFFICULTY_BY:
        if name not in families:
            return name
    raise ModelError(
        f"mechanism is 'difficulty', which goes by a model that is not compared, but {', '.join(DIFFICULTY_BY)} all "
        "are; leave one out of weak_labels.mechanisms.models, or difficulty out of weak_labels.mechanisms.kinds."
    )


def used_models(config: Config) -> list[str]:
    """Each model that a part of the study uses, once; those of the weak-label study first."""
    keys = [key for key in _MULTILABEL_PARTS if key.startswith("weak_labels")]
    names = [name for key in (*keys, "win_percentage.models") for name in _part(config, key)["models"] or ()]
    return list(dict.fromkeys([*names, *config["cross_testing"]["models"]["candidates"]]))


def model_settings(config: Config, model: str, part: Config | None = None) -> dict[str, Any]:
    """What ``make_model`` is given for a model of the study.

    Parameters
    ----------
    config : checked.
    model : name.
    part : of the configuration, with ``forest``, settings that differ from ``weak_labels.forest``.
    """
    labels = config["weak_labels"]
    return settings_of(model, {**labels["forest"], **(part["forest"] if part else {})}, labels["variant"])


def first_level(config: Config, model: str) -> str | None:
    """Name of the first level that a model shares with others; None where it shares none.

    That is the variant of those that have variants, and ``"chosen-shapes"`` where trees choose their shapes; others
    draw the random numbers of the text's.
    """
    spec, labels = spec_of(model), config["weak_labels"]
    if not spec.shares_first_level:
        return None
    if spec.variants:
        return labels["variant"]
    return "chosen-shapes" if labels["forest"]["shape"] == "auto" else "text"


def model_of_study(config: Config, model: str) -> dict[str, Any]:
    """Parameters of :class:`fairfold.models.training.Model` for a model of the weak-label study."""
    labels = config["weak_labels"]
    return {
        "name": model,
        "settings": model_settings(config, model),
        "first_level": first_level(config, model),
        "forest": labels["forest"],
        "most_labels": labels["many_labels"]["most_labels"].get(model),
        "own": checksums_of_own(config, [model]).get(spec_of(model).family, ""),
    }


def checksums_of_own(config: Config, models: Sequence[str]) -> dict[str, str]:
    """Return the checksums of the code of the user's own models among these, corrected or not."""
    return {name: checksum_of(entry) for name, entry in _own_entries(config, models).items()}


def _own_entries(config: Config, models: Sequence[str]) -> dict[str, str]:
    families = dict.fromkeys(spec_of(model).family for model in models)
    return {name: spec_of(name).parameters["entry"] for name in families if name in config["models"]["own"]}


def prepare_run(config: Config) -> IO[str]:
    """Check before the first job of a study that it can run, and return the lock of the working directory.

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
            print(f"Tried on 60 simulated samples, {failure}", file=sys.stderr)
    remove_leftovers("results")
    for path in _CHECKS.glob("*.log"):
        path.unlink()
    return lock


def explain_failure() -> int | str | None:
    """Return the exit status of a run that found damaged results, or the sentences about missing scores, if any."""
    if damaged := remove_damaged("results"):
        names = ", ".join(map(str, damaged))
        print(f"{names}: damaged and deleted. Run the same command again to write what is missing.", file=sys.stderr)
        return RUN_AGAIN
    texts = [path.read_text(encoding="utf-8") for path in _CHECKS.glob("*.log")]
    return "\n".join(sorted({text.partition("ModelError: ")[2].strip() for text in texts} - {""})) or None


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
