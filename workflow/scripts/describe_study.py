"""Write the configuration in use, including defaults, and tabulate the models and their appearance in figures."""

import yaml

from adapter import logged
from fairfold.core.files import atomic_open, write_table
from fairfold.models.description import describe_models
from fairfold.models.legend import legend_table

with logged(snakemake.log):
    config, made = snakemake.params.config, snakemake.output
    own, trained = config["models"], config["weak_labels"]
    with atomic_open(made.config, "w", encoding="utf-8") as stream:
        yaml.safe_dump(config, stream, sort_keys=True, allow_unicode=True)
    write_table(describe_models(trained["models"], trained["variant"], own), made.models)
    write_table(legend_table(snakemake.params.used, own, trained["score"]), made.legend)
