"""Write the configuration in use with defaults, and tabulate models, their appearance in figures, and the software."""

import yaml

from adapter import logged
from fairfold.core.files import write_table, write_text
from fairfold.core.versions import gather_versions
from fairfold.models.description import describe_models
from fairfold.models.legend import legend_table

with logged(snakemake.log):
    config, made = snakemake.params.config, snakemake.output
    own, trained = config["models"], config["weak_labels"]
    write_text(yaml.safe_dump(config, sort_keys=True, allow_unicode=True), made.config)
    write_table(describe_models(trained["models"], trained["variant"], own), made.models)
    write_table(gather_versions(), made.versions)
    write_table(legend_table(snakemake.params.used, own, trained["score"]), made.legend)
