"""Train Stack+ and the same without each of its parts on some splits of one dataset, at one missing rate."""

from functools import partial

import pandas as pd

from adapter import logged
from fairfold import models
from fairfold.core.files import read_arrays, write_table
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels

with logged(snakemake.log):
    data, folds = Dataset.load(snakemake.input.dataset), read_arrays(snakemake.input.folds)["fold_of"]
    params, unit = snakemake.params, {"dataset": data.id, "missing_rate": int(snakemake.wildcards.rate)}
    names, tables = ("ablation", *unit.values()), []
    rules = {"negatives": data.negatives, "hierarchy": data.hierarchy}
    for repeat in range(*params.repeats):
        rate, hidden_by = unit["missing_rate"] / 100, (*names, "hidden labels", repeat)
        hidden = hide_in_training_parts(data.Y, folds[repeat], rate, seed=params.seed, names=hidden_by, **rules)
        score = partial(
            score_on_folds,
            **{
                "X": data.X,
                "Y": data.Y,
                "fold_of": folds[repeat],
                "threshold": params.threshold,
                "groups": data.groups,
                "sample_weight": data.weights,
            },
            observed=partial(observed_labels, data.Y, hidden, negatives=data.negatives),
        )
        seed_of = partial(seed_for, params.seed, *names, repeat)
        found = models.ablation.scores_of_parts(
            lambda make, fold, score=score: score(make, folds=[fold]).scores.query("is_final"),
            lambda fold, seed_of=seed_of: {
                **params.settings,
                **rules,
                "n_jobs": snakemake.threads,
                "random_state": seed_of(fold),
            },
            n_splits=int(folds[repeat].max()) + 1,
        )
        tables.append(found.assign(**unit, repeat=repeat))
    columns = [*unit, "repeat", "part", "fold", "metric", "value", "reason"]
    write_table(pd.concat(tables, ignore_index=True)[columns], snakemake.output[0])
