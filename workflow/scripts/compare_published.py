"""Compare published numbers with the results of this study."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.papers.published.comparison import compare_files

    write_table(compare_files(snakemake.input, snakemake.params.study), snakemake.output[0])
