"""Write the configuration in use, including defaults."""

import yaml

from adapter import logged
from fairfold.core.files import atomic_open

with logged(snakemake.log), atomic_open(snakemake.output[0], "w", encoding="utf-8") as stream:
    yaml.safe_dump(snakemake.params.config, stream, sort_keys=True, allow_unicode=True)
