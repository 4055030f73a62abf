"""Settings of your own models and of the search for hyperparameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from fairfold.core.defaults import SCORE
from fairfold.core.settings import (
    Count,
    DatasetsPart,
    MetricName,
    ModelName,
    NonEmpty,
    Proportion,
    Settings,
    Text,
    TwoOrMore,
)

_MEANING = 'a plain name (letters, digits, "_", "-" and "."); a "+" after it corrects for missing labels'
OwnModelName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$", json_schema_extra={"meaning": _MEANING})
]
DottedName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]


class OwnModel(Settings):
    """A classifier of your own."""

    class_: DottedName = Field(alias="class")
    """`package.module.Class` of a classifier, or of a function that returns one. With `file`, its name in that file."""

    file: Text | None = None
    """Python file in the folder where the study runs."""

    parameters: dict[str, Any] = {}
    """Arguments of the class."""

    labels: Literal["one-per-label", "together", "together-sparse", "chain"] = "one-per-label"
    """How the model is fitted to several labels. `one-per-label` fits one model to each label. `chain` fits ten
    classifier chains. `together` fits all labels at once and expects probabilities of shape (n_samples, n_labels) or
    scikit-learn's list. `together-sparse` does the same with a CSR array of labels, for thousands of labels; its
    probabilities may be sparse."""

    scale: bool = False
    """Whether features are standardized for the model. Sparse features are scaled but not centered."""

    tune: dict[str, Annotated[list[Any], NonEmpty]] = {}
    """Values to try, by parameter. `results/tables/models.csv` lists tuned models. The logs contain the choices."""

    minutes: Annotated[float, Field(gt=0)] = 60.0
    """Time limit of one fit, or of the prediction of one test part."""


class Tuning(Settings):
    """Hyperparameter search in each training part by observed labels.

    All models that have `tune` share the same folds and the same budget.
    """

    n_splits: TwoOrMore = 3
    """Folds of the training part."""

    n_candidates: Count = 20
    """Maximum number of parameter combinations. If there are more, this many are drawn at random."""

    scoring: MetricName = SCORE
    """Score to optimize, as in `cross_testing.models.scoring`."""


class MLCComparison(DatasetsPart):
    """Rank of a model among 28 methods of a published comparison, with all labels of each dataset.

    The id of each dataset is its name in the comparison, followed by `-all`. The part is computed by
    `snakemake mlc_comparison` and by a whole study.
    """

    model: ModelName = "Stack+"
    """Model with calibrated probabilities."""

    n_splits: TwoOrMore = 5
    """Number of splits into training and test samples."""

    test_size: Proportion = 0.4
    """Share of the test samples."""


class Models(Settings):
    """Your own classifiers."""

    own: dict[OwnModelName, OwnModel] = {}
    """Your models by name; see [my own model](/guide/my-own-model.md)."""

    tuning: Tuning = Tuning()

    def entries(self, names: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the entries of the registry for your own models, each with the settings of its search.

        Parameters
        ----------
        names : iterable of str or None, default=None
            Models to return, also with a plus sign. Names of other models are ignored. None returns all.

        Returns
        -------
        dict of str to dict
            Entry by model.
        """
        wanted = self.own if names is None else dict.fromkeys(name.removesuffix("+") for name in names)
        search = self.tuning.model_dump()
        found = {name: self.own[name] for name in wanted if name in self.own}
        return {
            name: {**entry.model_dump(by_alias=True), "tuning": search if entry.tune else {}}
            for name, entry in found.items()
        }
