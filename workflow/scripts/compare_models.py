"""Split a small dataset, train models at all missing rates, correct their scores, and draw learning curves."""

from adapter import logged
from fairfold.core.files import write_arrays
from fairfold.datasets.dataset import Dataset
from fairfold.models.registry import register_own
from fairfold.models.training import Unit
from fairfold.recommendation import steps
from fairfold.splitting.methods import study_folds

TRAINED = ("scores", "imputation", "predictions", "seconds")

with logged(snakemake.log):
    made, params, own = snakemake.output, snakemake.params, snakemake.config["models"]
    dataset, seed = snakemake.input.dataset, params.seed
    register_own(own)
    write_arrays(made.folds, fold_of=study_folds(Dataset.load(dataset), **params.folds, seed=seed))
    for number, rate in enumerate(params.rates):
        unit = Unit.load(dataset, made.folds, rate, **params.unit, seed=seed, own=own)
        predictions = []
        if rate in params.trained:
            files = {name: made[name][params.trained.index(rate)] for name in TRAINED}
            steps.train(unit, params.models, files, snakemake.threads)
            predictions = [files["predictions"]]
        files = {
            name.removeprefix("corrected_"): made[name][number] for name, _ in made.items() if "corrected_" in name
        }
        steps.correct(unit, predictions, files, n_labels=params.n_labels, **params.correction, n_jobs=snakemake.threads)
    for (model, settings), scores, curve in zip(params.curves.items(), made.curve_scores, made.curves, strict=True):
        options = {"model": model, "missing_rate": params.curve_rate, "settings": settings, **params.curve}
        steps.score_by_samples(dataset, made.folds, {"scores": scores, "curve": curve}, **options)
