"""Each table as a page of its own beside its CSV."""

from pathlib import Path

from adapter import logged
from fairfold.report.tables import write_table_page

with logged(snakemake.log):
    for source, target in zip(snakemake.input, snakemake.output, strict=True):
        write_table_page(source, target, title=Path(source).stem.replace("_", " "))
