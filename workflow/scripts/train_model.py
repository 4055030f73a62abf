"""Train one model on every fold of one dataset at one missing rate, and score it on all labels that the data have."""

from typing import TYPE_CHECKING

from adapter import logged
from fairfold import forests
from fairfold.core.arrays import Matrix
from fairfold.core.files import read_arrays, write_table
from fairfold.core.seeds import seed_for
from fairfold.core.usage import max_rss
from fairfold.datasets import Dataset
from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.models import make_model
from fairfold.models.registry import register_own
from fairfold.weak_labels.masking import observed_labels

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

with logged(snakemake.log):
    register_own(snakemake.config["models"])
    data = Dataset.load(snakemake.input.dataset)
    arrays = read_arrays(snakemake.input.hidden)
    hidden = arrays["hidden"]
    seen = observed_labels(data.Y, arrays["hidden_in_tests"], None, data.negatives)
    name, settings = snakemake.wildcards.model, {**snakemake.params.settings, "n_jobs": snakemake.threads}
    settings |= {"negatives": data.negatives, "categories": data.category_columns, "hierarchy": data.hierarchy}
    unit = {"dataset": data.id, "missing_rate": int(snakemake.wildcards.rate)}
    shared = snakemake.input.get("first_level")

    def make(fold: int) -> "ClassifierMixin":
        most = snakemake.params.most_labels
        if most is not None and len(data.label_names) > most:
            raise ModelError(f"{name}: config.weak_labels.many_labels.most_labels allows {most} labels.")
        # The seed of grow_first_level, the same for all models: they share level 0, and are compared in pairs.
        return make_model(name, **settings, random_state=seed_for(snakemake.params.seed, *unit.values(), fold))

    def adjust(model: "ClassifierMixin", truth: Matrix) -> None:
        if snakemake.params.levels_by == "complete" and hasattr(model, "choose_levels_by"):
            model.choose_levels_by(truth)

    tables = score_on_folds(
        make,
        *(data.X, data.Y, read_arrays(snakemake.input.folds)["fold_of"]),
        observed=lambda fold: observed_labels(data.Y, hidden, fold, data.negatives),
        observed_in_test=lambda fold: seen,
        threshold=snakemake.params.threshold,
        fit_options=lambda fold: {"first_level": forests.storage.load_first_level(shared, fold)} if shared else {},
        adjust=adjust,
        groups=data.groups,
        sample_weight=data.weights,
        examine=forests.diagnostics.imputation_table,
    )
    tables = tables._replace(seconds=tables.seconds.assign(max_rss=max_rss()))  # of this job
    for table, path in zip(tables[:3], snakemake.output[:3], strict=True):
        write_table(table.assign(**unit, model=name)[[*unit, "model", *table]], path)
    tables.predictions.save(snakemake.output.predictions)
