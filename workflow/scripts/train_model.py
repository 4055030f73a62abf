"""Train one model on every fold of one dataset at one missing rate, and score it on the true labels."""

import numpy as np

from adapter import logged
from fairfold.datasets import Dataset
from fairfold.evaluation.procedures import score_on_folds
from fairfold.files import write_table
from fairfold.forests import make_model
from fairfold.seeds import seed_for
from fairfold.weak_labels.masking import observed_labels

with logged(snakemake.log):
    data = Dataset.load(snakemake.input.dataset)
    hidden = np.load(snakemake.input.hidden)["hidden"]
    forest, seed = snakemake.params.forest, snakemake.params.seed
    unit = {"dataset": data.id, "missing_rate": int(snakemake.wildcards.rate), "model": snakemake.wildcards.model}
    scores = score_on_folds(
        lambda fold: make_model(unit["model"], **forest, random_state=seed_for(seed, *unit.values(), fold)),
        data.X,
        data.Y,
        fold_of=np.load(snakemake.input.folds)["fold_of"][0],
        observed=lambda fold: observed_labels(data.Y, hidden, fold),
        threshold=forest["threshold"],
    )
    write_table(scores.assign(**unit)[[*unit, *scores]], snakemake.output[0])
