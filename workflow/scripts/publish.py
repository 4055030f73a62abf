"""Write the folder of a publication and its archive."""

from pathlib import Path

from adapter import logged

with logged(snakemake.log):
    from fairfold.console.publication import publish

    publish(Path(), Path(snakemake.output[0]).with_suffix(""))
