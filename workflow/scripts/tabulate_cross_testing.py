"""Tabulate the points of the figures of the cross-testing paper."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.papers.cross_testing_points import summarise

with logged(snakemake.log):
    made, params = snakemake.output, snakemake.params
    write_table(concat_tables(snakemake.input.repetitions), made.repetitions)
    repetitions, published = read_table(made.repetitions), read_table(snakemake.input.published)
    for figure, path in zip(params.figures, made.points, strict=True):
        of_figure = repetitions[repetitions["figure"] == figure]
        write_table(summarise(of_figure, alpha=params.alpha, published=published), path)
