"""Write all figures and tables to one archive for a paper."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.report.archive import pack

    pack(snakemake.input, snakemake.output[0], snakemake.params.study)
