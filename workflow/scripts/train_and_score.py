"""Train models on every fold of one dataset at one missing rate, and score them on all labels of the data."""

import pandas as pd

from adapter import logged
from fairfold import models
from fairfold.core.files import write_table
from fairfold.evaluation.fold_scores import write_predictions
from fairfold.models.registry import register_own, spec_of

with logged(snakemake.log):
    params, rate = snakemake.params, int(snakemake.wildcards.rate)
    register_own(snakemake.config["models"])
    unit = models.training.Unit.load(
        *snakemake.input, rate, **params.unit, seed=params.seed, own=snakemake.config["models"], code=params.code
    )
    chosen = [models.training.Model(**model) for model in params.models]
    found = models.training.train_models(unit, chosen, snakemake.threads)
    columns = {"dataset": unit.data.id, "missing_rate": rate}

    def write(tables: dict[str, pd.DataFrame], path: str) -> None:
        """Write the concatenated tables of some models."""
        named = [table.assign(**columns, model=model)[[*columns, "model", *table]] for model, table in tables.items()]
        write_table(pd.concat(named or [pd.DataFrame(columns=[*columns, "model"])], ignore_index=True), path)

    write({model: tables.scores for model, tables in found.items()}, snakemake.output.scores)
    write({model: tables.seconds for model, tables in found.items()}, snakemake.output.seconds)
    imputed = {model: tables.findings for model, tables in found.items() if spec_of(model).imputes}
    write(imputed, snakemake.output.imputation)
    write_predictions({model: tables.predictions for model, tables in found.items()}, snakemake.output.predictions)
