"""Train a model on shares of each fold's training part, and extrapolate its scores to more samples."""

import numpy as np
import pandas as pd

from adapter import logged
from fairfold.core.files import read_arrays, read_table, write_table
from fairfold.core.folds import only_fold
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.models import make_model
from fairfold.models.registry import register_own
from fairfold.recommendation.sample_curves import sample_curves, scores_by_samples, shares_of_training
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

with logged(snakemake.log):
    register_own(snakemake.config["models"])
    data, folds = Dataset.load(snakemake.input.dataset), read_arrays(snakemake.input.folds)["fold_of"]
    params, model = snakemake.params, snakemake.wildcards.model
    unit = {"dataset": data.id, "missing_rate": int(snakemake.wildcards.rate)}
    names = ("sample curves", *unit.values())

    def curves_of(repeat: int, fold_of: np.ndarray) -> pd.DataFrame:
        """Score models that are trained on shares of the training parts of one cross-validation."""
        hidden = hide_in_training_parts(
            *(data.Y, fold_of, unit["missing_rate"] / 100),
            seed=params.seed,
            names=(*names, "hidden labels", repeat),
            negatives=data.negatives,
        )

        def score(rows: np.ndarray, fold: int) -> pd.DataFrame:
            """Train on these samples of the fold and score the final predictions of its test part."""
            seen = observed_labels(data.Y, hidden, fold, negatives=data.negatives)[rows]
            found = score_on_folds(
                lambda _: make_model(
                    model,
                    **params.settings,
                    label_frequency=data.label_frequency(unit["missing_rate"]),
                    categories=data.category_columns,
                    n_jobs=snakemake.threads,
                    random_state=seed_for(params.seed, *names, model, repeat, fold),
                ),
                *(data.X[rows], data.Y[rows], only_fold(fold_of[rows], fold), lambda _: seen),
                threshold=params.threshold,
                groups=None if data.groups is None else data.groups[rows],
                sample_weight=None if data.weights is None else data.weights[rows],
            )
            return found.scores.query("is_final").assign(fold=fold)

        cut = shares_of_training(
            fold_of, params.shares, seed=params.seed, names=(*names, "shares", repeat), groups=data.groups
        )
        return scores_by_samples(score, cut).assign(**unit, model=model, repeat=repeat)

    tables = [curves_of(repeat, fold_of) for repeat, fold_of in enumerate(folds)]
    columns = [*unit, "model", "repeat", "share", "n_train", "fold", "metric", "value", "reason"]
    write_table(pd.concat(tables, ignore_index=True)[columns], snakemake.output.scores)
    curve = sample_curves(read_table(snakemake.output.scores), n_splits=params.n_splits, seed=params.seed)
    write_table(curve, snakemake.output.curve)
