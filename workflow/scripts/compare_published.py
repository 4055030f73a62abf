"""Compare published numbers with the results of this study, and draw them."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import write_table
    from fairfold.figures.saving import draw_figures
    from fairfold.papers.published.comparison import compare_files

    made = snakemake.output
    write_table(compare_files(snakemake.input, snakemake.params.study), made.table)
    draw_figures(snakemake.params.figures, [*made], made)
