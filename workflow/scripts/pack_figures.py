"""Write all figures and tables to one archive for a paper."""

from pathlib import Path

from adapter import logged
from fairfold.report.archive import write_archive

with logged(snakemake.log):
    results = Path(snakemake.output[0]).parent
    files = [Path(path).relative_to(results).as_posix() for path in snakemake.input]
    write_archive(results, files, snakemake.config, snakemake.output[0])
