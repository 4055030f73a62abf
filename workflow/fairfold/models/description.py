"""Tables of the components, the hyperparameters and the chosen settings of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from fairfold.errors import ModelError
from fairfold.models.registry import make_model, settings_of, spec_of

_PARTS = ("new_features", "training_features", "crossing_over", "imputation")
_WRAPPER = "OneLevelModel"  # whose estimator is the model; its module is slow to import
_OF_LEVELS = ("max_levels", "early_stopping")  # without use in a model of a single level
_OF_OTHER_TREES = ("max_features", "min_samples_leaf")  # without use in symmetric trees
_POOLS = ("of_large", "of_many", "of_terms", "of_text")  # parameters with the members of a pool for other data
# Parameters that change no result, or that the seed of the study or the state of the labels sets.
_NOT_LISTED = (
    "n_jobs",
    "random_state",
    "verbose",
    "memory",
    "warm_start",
    "transform_input",
    "copy",
    "hierarchy",
    "cv",
    "pre_dispatch",
    "return_train_score",
    "error_score",
    "label_frequency",
    "are_terms",
)


# Attributes of fitted models with values that the training data choose, and their meaning.
_CHOSEN = {
    "best_params_": "parameters with the best score in the search",
    "best_level_": "last level used; the first is 0",
    "n_rounds_": "number of rounds",
    "min_samples_leaf_": "least number of samples in a leaf",
    "gamma_": "parameter of the Gaussian kernel; 0 is a linear kernel",
    "penalty_": "penalty of the ridge regression",
    "label_frequency_": "share of positives that are observed; 1 takes labels as given",
}


def describe_models(names: Iterable[str], variant: str = "text") -> pd.DataFrame:
    """Tabulate the components of models, as in Table 3 of Ilidio, Cerri, Vens & Nakano (2024).

    Parameters
    ----------
    names : iterable of str
        Names of the models.
    variant : str, default="text"
        Variant of the models that have variants.

    Returns
    -------
    DataFrame
        One row per model with these columns:

        - ``model`` and ``variant``; the variant is "none" for models without variants.
        - ``parameters``: "tuned" if the model searches its parameters in each training part, otherwise "as is".
        - ``new_features``: features that a level adds for the next one.
        - ``training_features``: whether these features of a training sample come from all trees or from out-of-bag
          trees.
        - ``crossing_over`` and ``imputation``; "none" for models without them.
        - ``length_control``: how the number of levels is chosen, or "single" for models with one level.

    Raises
    ------
    ModelError
        If a model or variant does not exist.

    Examples
    --------
    >>> from fairfold.models.description import describe_models
    >>> describe_models(["kNN", "gcForest"])[["model", "variant", "new_features", "length_control"]]
          model variant new_features length_control
    0       kNN    none         none         single
    1  gcForest    text       output     first-drop
    """
    return pd.DataFrame([_describe(name, variant) for name in names])


def _describe(name: str, variant: str) -> dict[str, str]:
    spec = spec_of(name)
    row = {"model": name, "variant": variant if spec.variants else "none"}
    row["parameters"] = "tuned" if spec.is_tuned else "as is"
    has_levels = "max_levels" in spec.settings
    parts = make_model(name, **settings_of(name, {}, variant)).get_params() if has_levels else {}
    length_control = parts.get("length_control")
    if "patience" in parts:
        length_control = f"best-oob, patience {parts['patience']}"
    if length_control in (None, "single"):
        return row | dict.fromkeys(_PARTS, "none") | {"length_control": "single"}
    return row | {
        "new_features": " + ".join(parts["features"]),
        "training_features": "in-bag" if spec.variants else "out-of-bag",
        "crossing_over": "yes" if parts.get("crossing_over") else "none",
        "imputation": parts["imputation"] or "none",
        "length_control": length_control,
    }


def hyperparameter_table(
    models: Mapping[str, Mapping[str, Any]], sizes: Sequence[tuple[int, int]] = (), *, has_text: bool = True
) -> pd.DataFrame:
    """List the hyperparameters of models.

    Parameters
    ----------
    models : mapping of str to mapping
        Settings of each model by its name; see :func:`~fairfold.models.registry.make_model`.
    sizes : sequence of (int, int), default=()
        Numbers of samples and labels of datasets. Members of a pool that no such dataset needs are left out. Without
        sizes, all are listed.
    has_text : bool, default=True
        Whether a dataset has text. Otherwise members of a pool for the terms of text are left out.

    Returns
    -------
    DataFrame
        Columns ``model, component, parameter, value, note``. A component is a class of the model, and a note explains
        ``auto`` and lists candidates. A model that cannot be created has no rows. Parameters without effect are left
        out.

    Examples
    --------
    >>> from fairfold.models.description import hyperparameter_table
    >>> table = hyperparameter_table({"kNN": {}})
    >>> table[table["parameter"] == "n_neighbors"].to_numpy().tolist()
    [['kNN', 'KNeighborsClassifier', 'n_neighbors', '10', '']]
    """
    from fairfold.forests.sketches import MOST_EXACT
    from fairfold.forests.trees import LARGE

    rows: list[tuple[str, ...]] = []
    for name, settings in models.items():
        try:
            rows += [(name, *row) for row in dict.fromkeys(_parameters(make_model(name, **settings), ()))]
        except ModelError:  # An optional package is missing.
            continue
    table = pd.DataFrame(rows, columns=["model", "component", "parameter", "value"])
    notes = _notes()
    classes = table["component"].str.rpartition(" > ")[2] if len(table) else []
    keys = zip(classes, table["parameter"], table["value"], strict=True)
    table["note"] = [notes.get((*key, value), notes.get((*key, ""), "")) for *key, value in keys]
    unused = {
        "of_large": all(n_samples < LARGE for n_samples, _ in sizes),
        "of_many": all(n_labels <= MOST_EXACT for _, n_labels in sizes),
        **dict.fromkeys(("of_terms", "of_text"), not has_text),
    }
    starts = tuple(f"{pool} > " for pool in _POOLS if sizes and unused[pool])
    return table[~table["component"].str.startswith(starts)].reset_index(drop=True) if starts else table


def _notes() -> dict[tuple[str, str, str], str]:
    """Explain values by component, parameter and value; any value if it is empty."""
    from fairfold.forests import boosting, shapes, sketches
    from fairfold.forests.trees import LARGE
    from fairfold.models import kernel_ridge, many_label_ridge

    large, auto = f"from {LARGE:,} samples on", "auto"
    leaves, features, samples = (
        " or ".join(dict.fromkeys(f"{shape[place]}" for shape in shapes.TOGETHER)) for place in range(3)
    )
    few, fewer = shapes.MOST_CONSIDERED
    forests = (
        f"least samples in a leaf {leaves}, features per split {features}, share of samples {samples}, and trees of "
        f"each label; a share is at most {few} features unless more are clearly better, and at most {fewer} {large}; "
        f"at most {shapes.N_KEPT} shapes are mixed"
    )
    sketched = f"{sketches.N_SKETCHED} with more than {sketches.MOST_EXACT} labels, otherwise none"

    def penalties(some: Sequence[float]) -> str:
        steps = "in equal steps of its logarithm"
        return f"penalty from {len(some)} values of {some[0]:g} to {some[-1]:g} times the mean eigenvalue, {steps}"

    rounds, symmetric, splits = boosting.ROUNDS, boosting.SYMMETRIC_ROUNDS, boosting.SPLITS
    return {
        ("OutOfBagCascade", "shape", auto): forests,
        ("OutOfBagCascade", "n_sketched", auto): sketched,
        ("CascadeForest", "n_sketched", auto): sketched,
        ("MultilabelBoosting", "max_rounds", auto): f"{rounds[0]}, and {rounds[1]} {large}",
        ("MultilabelBoosting", "n_splits", auto): f"{splits[0]}, and {splits[1]} {large}",
        ("MultilabelBoosting (symmetric)", "max_rounds", auto): f"{symmetric[0]}, and {symmetric[1]} {large}",
        ("MultilabelBoosting (symmetric)", "n_splits", auto): f"{splits[0]}, and {splits[1]} {large}",
        ("MultilabelBoosting", "min_samples_leaf", auto): f"{boosting.SMALL_LEAF}, and chosen {large}",
        ("MultilabelBoosting", "l2", auto): f"{boosting.L2:g}",
        ("MultilabelBoosting (symmetric)", "l2", auto): f"{boosting.L2:g}, and {boosting.SYMMETRIC_L2:g} {large}",
        ("KernelRidgeClassifier", "gammas", ""): f"candidates; {penalties(kernel_ridge.PENALTIES)}",
        **{
            (ridge, "n_landmarks", ""): penalties(many_label_ridge.PENALTIES)
            for ridge in ("ManyLabelRidge", "TextRidge")
        },
    }


def _name(estimator: Any) -> str:
    """Return the class of an estimator; a pool has boosting of two kinds."""
    kind = " (symmetric)" if vars(estimator).get("kind") == "symmetric" else ""
    return f"{type(estimator).__name__}{kind}"


def _parameters(estimator: Any, within: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield component, parameter and value of an estimator and of those that it contains."""
    path = (*within, _name(estimator))
    parameters = estimator.get_params(deep=False)
    unused: tuple[str, ...] = _OF_LEVELS if parameters.get("length_control") == "single" else ()
    unused += _OF_OTHER_TREES if parameters.get("kind") == "symmetric" else ()
    unused += ("min_samples_leaf",) if parameters.get("shape") == "auto" else ()
    for name, value in parameters.items():
        pairs = value if isinstance(value, list) and value and isinstance(value[0], tuple) else [(name, value)]
        inner = [each for _, each in pairs if hasattr(each, "get_params")]
        for each in inner:
            yield from _parameters(each, path if value is each else (*path, name))
        if not inner and name not in (*_NOT_LISTED, *unused):
            component = " > ".join([*(part for part in within if part in _POOLS), path[-1]])
            text = str(value)
            yield component.lstrip("_"), name, type(value).__name__ if " at 0x" in text else text


def chosen_settings(model: Any) -> pd.DataFrame:
    """List the settings that a fitted model chose by its training data.

    Parameters
    ----------
    model : estimator object
        Fitted model.

    Returns
    -------
    DataFrame
        Columns ``component, setting, value, meaning``: numbers of rounds and levels, shapes of trees, kernels,
        penalties, label frequencies, and weights of the members of a pool. Empty if the model chooses none.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models import make_model
    >>> from fairfold.models.description import chosen_settings
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> model = make_model("kernel-ridge", random_state=0).fit(X, (X > 0.5).astype(int))
    >>> chosen_settings(model)["setting"].tolist()
    ['gamma', 'penalty']
    """
    return pd.DataFrame(_chosen(model, ()), columns=["component", "setting", "value", "meaning"])


def _chosen(model: Any, within: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the chosen settings of a fitted estimator and of those that it contains."""
    name = _name(model).lstrip("_")
    path = within if name == _WRAPPER else (*within, name)
    component, found, parameters = " > ".join(path), vars(model), model.get_params(deep=False)
    has_levels = "max_levels" in parameters and parameters.get("length_control") != "single"
    unused = _OF_OTHER_TREES if parameters.get("kind") == "symmetric" else ()
    members = found.get("estimators_")
    if "weights_" in found and members is not None:
        for member, weight in zip(members, found["weights_"], strict=True):
            yield f"{component} > {_name(member)}", "weight", f"{weight:.6g}", "weight in the pool"
    for name, meaning in _CHOSEN.items():
        is_used = has_levels if name == "best_level_" else name.rstrip("_") not in unused
        if name in found and is_used:
            value = found[name]
            yield component, name.rstrip("_"), f"{value:.6g}" if isinstance(value, float) else str(value), meaning
    if parameters.get("shape") == "auto":
        yield from _shapes(component, found["levels_"][: found["best_level_"] + 1])
    for name, value in found.items():
        if name.endswith("_") and not name.startswith("_"):
            inner = value if isinstance(value, list) else [value]
            for each in inner:
                if hasattr(each, "get_params") and not isinstance(each, type):
                    yield from _chosen(each, path)


def pool_weights(model: Any) -> pd.DataFrame:
    """List the weights of the members of a fitted pool, such as ``Stack+``.

    Parameters
    ----------
    model : estimator object
        Fitted model.

    Returns
    -------
    DataFrame
        Columns ``member, weight``, the largest weight first. Empty if the model is no pool.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> pool = SimpleNamespace(estimators=[("trees", None), ("lines", None)], weights_=[0.25, 0.75], estimators_=[0, 1])
    >>> pool_weights(pool)["member"].tolist()
    ['lines', 'trees']
    """
    if hasattr(model, "weights_") and hasattr(model, "estimators_"):
        names = [name for name, _ in model.estimators]
        if len(names) != len(model.weights_):  # Members for text, or for large data.
            names = [_name(member).lstrip("_") for member in model.estimators_]
        table = pd.DataFrame({"member": names, "weight": model.weights_})
        return table.sort_values("weight", ascending=False, kind="stable", ignore_index=True)
    inner = (value for name, value in vars(model).items() if name.endswith("_") and hasattr(value, "get_params"))
    found = (table for each in inner if len(table := pool_weights(each)))
    return next(found, pd.DataFrame(columns=["member", "weight"]))


def _shapes(component: str, levels: Sequence[Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the shapes of the trees of a cascade."""
    meaning = "shapes: least samples in a leaf, features per split (share or sqrt), share of samples per tree"
    for number, level in enumerate(levels):
        for forest in level.predictors:
            shapes = [
                f"({leaf}, {features}, {samples:.3g}{', trees of each label' if labelwise else ''})"
                for leaf, features, samples, labelwise in forest.shapes_
            ]
            yield component, f"shapes_of_level_{number}_{forest.kind}", ", ".join(dict.fromkeys(shapes)), meaning
