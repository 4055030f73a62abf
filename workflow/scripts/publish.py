"""Write the folder of a publication and its archive."""

from pathlib import Path

from adapter import logged
from fairfold.commands.publish import publish

with logged(snakemake.log):
    publish(Path(), Path(snakemake.output[0]).with_suffix(""))
