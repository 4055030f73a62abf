"""Select models on partly hidden labels by three procedures with permutation tests."""

import pandas as pd
from tqdm import tqdm

from adapter import logged
from fairfold.core.files import write_table
from fairfold.core.memory import key_of_job, reused
from fairfold.cross_testing.models import repeat_on_weak_labels
from fairfold.datasets.dataset import Dataset
from fairfold.models.registry import make_model, register_own
from fairfold.splitting.group_warnings import fitting_folds
from fairfold.splitting.methods import folds_by
from fairfold.weak_labels.masking import mask_labels

with logged(snakemake.log):
    register_own(snakemake.config["models"])

    def select() -> list[pd.DataFrame]:
        """Run the repetitions of this job."""
        data, params = Dataset.load(snakemake.input[0]), snakemake.params
        unit, rules = {"dataset": data.id, **params.unit}, {"negatives": data.negatives, "hierarchy": data.hierarchy}
        of_models = {"label_frequency": data.label_frequency(params.unit["missing_rate"]), "hierarchy": data.hierarchy}
        options = {**of_models, "categories": data.category_columns}
        # Procedures with a test part select models on half of the groups.
        n_splits = fitting_folds(params.setting["n_splits"], data.groups, n_parts=2)
        tables = repeat_on_weak_labels(
            lambda seed: {
                name: make_model(name, **given, **options, random_state=seed) for name, given in params.models.items()
            },
            *(data.X, data.Y, tqdm(range(*params.repetitions))),
            **{**params.setting, "scoring": params.unit["scoring"], "n_splits": n_splits},
            hide=lambda Y, seed: mask_labels(Y, params.unit["missing_rate"] / 100, **rules, random_state=seed),
            splitter=folds_by(params.splitter, n_splits),
            groups=data.groups,
            sample_weight=data.weights,
            seed=params.seed,
            names=("judged forests", data.id, params.unit["missing_rate"]),
        )
        return [table.assign(**unit)[[*unit, *table]] for table in tables]

    for table, path in zip(reused(key_of_job(snakemake), select), snakemake.output, strict=True):
        write_table(table, path)
