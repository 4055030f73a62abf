"""Models of a study, with the settings that their training takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfold.core.settings import ForestPart
from fairfold.errors import ModelError
from fairfold.models.code import code_of_model
from fairfold.models.registry import register_own, settings_of, spec_of
from fairfold.planning.parts import MULTILABEL_PARTS, part_of
from fairfold.settings import Study
from fairfold.splitting import methods as splitters

if TYPE_CHECKING:
    import pandas as pd

REFERENCE = "joint-GB"
"""Model whose predictions estimate missing labels.

It minimizes log loss, so its scores rise to the plateau of the observed share like a logistic curve. It is also one of
the fastest models.
"""

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


def used_models(study: Study) -> list[str]:
    """List the models that the parts of a study use, those of the weak-label study first.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    list of str
        Models without duplicates.
    """
    keys = [key for key in MULTILABEL_PARTS if key.startswith("weak_labels")]
    names = [name for key in (*keys, "win_percentage.models") for name in part_of(study, key).models or ()]
    return list(dict.fromkeys([*names, *study.cross_testing.models.candidates]))


def model_settings(study: Study, model: str, part: ForestPart | None = None) -> dict[str, Any]:
    """Return the settings that a study passes to ``make_model``.

    Parameters
    ----------
    study : Study
        Checked configuration.
    model : str
        Name of the model.
    part : ForestPart or None, default=None
        Part of the study whose ``forest`` overrides ``weak_labels.forest``.

    Returns
    -------
    dict
        Settings of the model.
    """
    return settings_of(model, forest_settings(study, part), study.weak_labels.variant)


def forest_settings(study: Study, part: ForestPart | None = None) -> dict[str, Any]:
    """Return the settings of the forests.

    Parameters
    ----------
    study : Study
        Checked configuration.
    part : ForestPart or None, default=None
        Part of the study whose ``forest`` overrides ``weak_labels.forest``.

    Returns
    -------
    dict
        Settings of all forests.
    """
    return study.weak_labels.forest.model_dump() | (part.forest.model_dump() if part else {})


def hyperparameters(study: Study, sizes: Sequence[tuple[int, int]] = (), *, has_text: bool = True) -> pd.DataFrame:
    """List the hyperparameters of the compared models.

    Parameters
    ----------
    study : Study
        Checked configuration.
    sizes : sequence of (int, int), default=()
        Numbers of samples and labels of the datasets; see
        :func:`~fairfold.models.description.hyperparameter_table`.
    has_text : bool, default=True
        Whether a dataset has text.

    Returns
    -------
    DataFrame
        Table of :func:`~fairfold.models.description.hyperparameter_table`.
    """
    from fairfold.models.description import hyperparameter_table

    register_own(study.models.entries())  # The configuration of a finished study is read without this.
    models = {name: model_settings(study, name) for name in study.weak_labels.models}
    return hyperparameter_table(models, sizes, has_text=has_text)


def specifications(study: Study) -> dict[str, Any]:
    """Return what the models and the splitter of a study declare about themselves.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    dict
        ``spec_of``, a function that returns the specification of a model by its name, and ``of_folds``, the phrase of
        the splitter.
    """
    return {
        "spec_of": partial(spec_of, own=study.models.entries()),
        "of_folds": splitters.spec_of(study.folds.method).phrase,
    }


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


def first_level(study: Study, model: str) -> str | None:
    """Return the name of the first level that a model shares with others.

    The name is the variant for models with variants, ``"chosen-shapes"`` for models whose trees choose their shapes,
    and ``"text"`` for other models, which use the random numbers of the text's variant.

    Parameters
    ----------
    study : Study
        Checked configuration.
    model : str
        Name of the model.

    Returns
    -------
    str or None
        Name of the level, or None if the model shares none.
    """
    spec, labels = spec_of(model), study.weak_labels
    if not spec.shares_first_level:
        return None
    if spec.variants:
        return labels.variant
    return "chosen-shapes" if labels.forest.shape == "auto" else "text"


def model_of_study(study: Study, model: str) -> dict[str, Any]:
    """Return the parameters of :class:`fairfold.models.training.Model` for a model of the weak-label study.

    Parameters
    ----------
    study : Study
        Checked configuration.
    model : str
        Name of the model.

    Returns
    -------
    dict
        Parameters by name.
    """
    return {
        "name": model,
        "settings": model_settings(study, model),
        "first_level": first_level(study, model),
        "forest": forest_settings(study),
        "most_labels": study.weak_labels.many_labels.most_labels.get(model),
        "code": code_of_model(model),
    }


def unit_options(study: Study) -> dict[str, Any]:
    """Return the options of :class:`fairfold.models.training.Unit` for the weak-label study.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    dict
        Options by name.
    """
    labels = study.weak_labels
    return {"threshold": labels.forest.threshold, "levels_by": labels.levels_by, "score": labels.scoring}


def curve_options(study: Study) -> dict[str, Any]:
    """Return the options of the scores by number of training samples.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    dict
        Options by name.
    """
    labels = study.weak_labels
    return {
        "n_splits": study.folds.n_splits,
        "shares": labels.sample_curves.shares,
        "threshold": labels.forest.threshold,
        "seed": study.seed,
    }


def correction_options(study: Study) -> dict[str, Any]:
    """Return the options of the correction of scores for missing labels.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    dict
        Options by name.
    """
    return {
        "reference": model_of_study(study, REFERENCE),
        "splitter": study.folds.method,
        "rope": study.weak_labels.rope,
        "compared_rate": min(study.weak_labels.missing_rates),
    }


def pair_setting(study: Study) -> dict[str, Any]:
    """Return the setting of the evaluation of feature pairs.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    dict
        Options by name.
    """
    part = study.win_percentage
    return {
        "n_splits": part.n_splits,
        "n_repeats": part.n_repeats,
        "kurtosis_multiple": part.kurtosis_multiple,
        "n_best": part.reevaluation.n_pairs,
    }
