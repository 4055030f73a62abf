"""Settings of the final model."""

from __future__ import annotations

from fairfold.core.settings import ModelName, Names, Settings

FITS_PER_FOLD = 2
"""Fits that examine the labels: to the labels as they are, and with hidden positives. A fit to all samples is added."""


class Final(Settings):
    """The final model, fitted to all samples by the target `final` in `results/final/<dataset>/`."""

    fit: bool = False
    """Whether a study fits the final models without this target. The report then links their pages."""

    datasets: Names = []
    """Datasets to fit a model for. An empty list stands for `weak_labels.datasets`."""

    model: ModelName | None = None
    """Name of the model. `null` takes the best model by average precision on the dataset."""

    sketch: bool = True
    """Whether the final model contains a sketch of the training data, by which `fairfold predict` finds
    [rows unlike them](/guide/will-it-hold-elsewhere.md). It has averages of rows, and words and categories of
    columns, but no row."""
