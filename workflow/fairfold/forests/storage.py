"""Fitted cascades, or the first levels that several share, as files: arrays and JSON in ``.npz``, nothing pickled.

Each forest is stored once: an encoder whose forest is a predictor of the level below refers to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy import sparse

from fairfold.core.files import read_arrays, write_arrays
from fairfold.core.gaps import GapFiller
from fairfold.core.hierarchy import Hierarchy, check_hierarchy
from fairfold.core.precision import DistinctValues
from fairfold.errors import DataError, ModelError
from fairfold.forests.embedding import TreeEmbedding
from fairfold.forests.levels import FORESTS, Encoder, Level
from fairfold.forests.sketched import SketchedForest
from fairfold.forests.trees import MultilabelForest

Cascade = TypeVar("Cascade")

FORMAT = 6  # Earlier formats lack names, thresholds, missing features, distinct feature values or sparse_labels_.
# Attributes that JSON can hold; a model has those that its class sets.
_PLAIN = (
    "n_features_in_",
    "n_labels_",
    "sparse_labels_",
    "best_level_",
    "best_levels_",
    "oob_scores_",
    "training_scores_",
    "imputation_log_",
    "label_frequencies_",
    "thresholds_",
)
_NAMES = {"feature_names_in_": "n_features_in_", "label_names_": "n_labels_"}  # beside how many there are
_GAPS = ("medians_", "gapped_", "below_", "above_")
_STACKED = ("training_labels_", "calibrations_")  # lists of arrays of the same shape, one per level


def save_model(model: Cascade, path: str | Path) -> None:
    """Write a fitted cascade; ``load_model`` gives one with the same names that predicts the same bytes.

    Parameters
    ----------
    model : fitted.
    path : file to write, ``.npz``. A ``random_state`` that is no whole number is not kept.
    """
    parameters = model.get_params()
    if parameters["hierarchy"] is not None:
        parts = parameters["hierarchy"].as_dict()
        parameters["hierarchy"] = {**parts, "edges": parts["edges"].tolist()}
    if not isinstance(parameters["random_state"], (int, np.integer, type(None))):
        parameters["random_state"] = None
    description = {
        "format": FORMAT,
        "class": type(model).__name__,
        "parameters": parameters,
        "fitted": {name: getattr(model, name) for name in _PLAIN if hasattr(model, name)},
        "names": {name: list(getattr(model, name)) for name in _NAMES if hasattr(model, name)},
        "output": getattr(model, "_sklearn_output_config", {}),
        "n_levels": len(model.levels_),
    }
    arrays = {name: np.stack(getattr(model, name)) for name in _STACKED if _is_stacked(model, name)}
    arrays |= {f"gaps/{name}": getattr(model.gaps_, name) for name in _GAPS}
    arrays |= _prefixed(model.distinct_values_.to_arrays(), "distinct_values")
    below: list[MultilabelForest] = []
    for number, level in enumerate(model.levels_):
        arrays |= _level_arrays(level, below, f"level{number}")
        below = level.predictors
    text = json.dumps(description, default=_to_plain)
    write_arrays(path, description=np.array(text), **arrays)


def read_cascade(path: str | Path, classes: Sequence[type[Cascade]]) -> Cascade:
    """A cascade of one of these classes, as :func:`save_model` wrote it.

    Raises
    ------
    ModelError
        When the file is missing, is no saved cascade, or was written by another version.
    """
    try:
        arrays = read_arrays(path, "a saved cascade")
        description = json.loads(str(arrays.pop("description")))
        if description["format"] != FORMAT:
            raise ValueError(f"its format is {description['format']!r}, not {FORMAT}")
        class_of = {cls.__name__: cls for cls in classes}
        parameters = {name: tuple(v) if isinstance(v, list) else v for name, v in description["parameters"].items()}
        if parameters.get("hierarchy") is not None:
            parameters["hierarchy"] = Hierarchy.from_dict(parameters["hierarchy"])
        model = class_of[description["class"]](**parameters)
        for name in set(_PLAIN) & set(description["fitted"]):
            setattr(model, name, description["fitted"][name])
        for name in _STACKED:
            if name in arrays:
                setattr(model, name, list(arrays[name]))
        model.levels_ = _read_levels(model, arrays, description["n_levels"])
        forest = model.levels_[0].predictors[0]
        model.gaps_ = _read_gaps(_under(arrays, "gaps"), model.n_features_in_)
        values = _under(arrays, "distinct_values")
        model.distinct_values_ = DistinctValues.from_arrays(values, model.n_features_in_)
        n_inputs = model.n_features_in_ + len(model.gaps_.gapped_)
        if (forest.n_features_in_, forest.n_labels_) != (n_inputs, model.n_labels_):
            raise ValueError("its forests are of other numbers of features or labels")
        check_hierarchy(model.hierarchy, model.n_labels_)
        _read_names(model, description["names"])
        model.set_output(**description["output"])
    except DataError as error:
        raise ModelError(str(error)) from None
    except Exception as error:  # arrays and JSON of somebody else may hold anything
        raise ModelError(f"{path} is not a saved cascade ({error!r}); fit and save it again.") from None
    return model


def first_levels_to_arrays(levels: Mapping[int, Level]) -> dict[str, np.ndarray]:
    """Return level 0 of several folds as plain arrays, with what its forests know of their training samples.

    A pickled forest lacks its training samples, without which no model grows more levels.

    Parameters
    ----------
    levels : mapping of int -> Level
        Level 0 of a model that was fitted without a fold, by that fold.

    Returns
    -------
    dict of str -> ndarray
        The arrays.
    """
    arrays: dict[str, np.ndarray] = {}
    for fold, level in levels.items():
        for forest in level.predictors:
            arrays |= _prefixed(forest.to_arrays(with_samples=True), f"fold{fold}/{forest.kind}")
    return arrays


def first_level_from_arrays(arrays: Mapping[str, np.ndarray], fold: int) -> Level | None:
    """Return level 0 of a fold, for ``fit(..., first_level=)``; None if :func:`first_levels_to_arrays` had none."""
    of_fold = _under(arrays, f"fold{fold}")
    return Level([], [_read_forest(_under(of_fold, kind)) for kind in FORESTS]) if of_fold else None


def _is_stacked(model: Cascade, name: str) -> bool:
    """Whether a model has this list; labels that are sparse are not taken along."""
    return hasattr(model, name) and not any(map(sparse.issparse, getattr(model, name)))


def _read_forest(arrays: dict[str, np.ndarray]) -> MultilabelForest:
    return (SketchedForest if "leaf_samples" in arrays else MultilabelForest).from_arrays(arrays)


def _level_arrays(level: Level, below: list[MultilabelForest], prefix: str) -> dict[str, np.ndarray]:
    arrays = {}
    for kind, forest in zip(FORESTS, level.predictors, strict=True):
        arrays |= _prefixed(forest.to_arrays(), f"{prefix}/predictor/{kind}")
    for number, (kind, encoder) in enumerate(zip(FORESTS, level.encoders, strict=False)):
        if encoder.forest is not below[number]:
            arrays |= _prefixed(encoder.forest.to_arrays(), f"{prefix}/encoder/{kind}")
        if encoder.embedding is not None:
            arrays |= _prefixed(encoder.embedding.to_arrays(), f"{prefix}/embedding/{kind}")
        if encoder.signs is not None:
            arrays[f"{prefix}/signs/{kind}"] = encoder.signs
    return arrays


def _read_levels(model: Cascade, arrays: Mapping[str, np.ndarray], n_levels: int) -> list[Level]:
    levels: list[Level] = []
    for number in range(n_levels):
        prefix, encoders = f"level{number}", []
        for position, kind in enumerate(FORESTS if number else ()):
            stored = _under(arrays, f"{prefix}/encoder/{kind}")
            forest = _read_forest(stored) if stored else levels[-1].predictors[position]
            embedding = _under(arrays, f"{prefix}/embedding/{kind}")
            embedding = TreeEmbedding.from_arrays(embedding, forest) if embedding else None
            signs = arrays.get(f"{prefix}/signs/{kind}")
            encoders.append(Encoder(forest, embedding, with_output="output" in model.features, signs=signs))
        predictors = [_read_forest(_under(arrays, f"{prefix}/predictor/{kind}")) for kind in FORESTS]
        levels.append(Level(encoders, predictors))
    return levels


def _read_gaps(arrays: Mapping[str, np.ndarray], n_features: int) -> GapFiller:
    gaps = GapFiller(for_trees=True)
    for name in _GAPS:
        setattr(gaps, name, arrays[name])
    gapped = gaps.gapped_
    shapes = [getattr(gaps, name).shape for name in _GAPS]
    if shapes != [(n_features,), *[gapped.shape] * 3] or not np.isin(gapped, np.arange(n_features)).all():
        raise ValueError("it fills gaps of other features")
    gaps.n_features_in_ = n_features
    return gaps


def _read_names(model: Cascade, names: Mapping[str, list[str]]) -> None:
    """Give the model the names of its features and labels, where it has any."""
    for name, number in _NAMES.items():
        if name in names:
            if not all(isinstance(one, str) for one in names[name]) or len(names[name]) != getattr(model, number):
                raise ValueError(f"its {name} are not {getattr(model, number)} names")
            setattr(model, name, np.array(names[name], dtype=object))


def _prefixed(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _under(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(f"{prefix}/"): array for name, array in arrays.items() if name.startswith(f"{prefix}/")}


def _to_plain(value: object) -> object:
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored")
