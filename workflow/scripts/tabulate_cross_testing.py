"""Tabulate the points of the cross-testing figures, the procedures on weak labels, and their interpretable results."""

from adapter import logged
from fairfold.core.files import concat_tables, read_table, write_table
from fairfold.cross_testing.models_summary import summarize_models
from fairfold.papers.cross_testing_points import interpretation_table, summarize

with logged(snakemake.log):
    files, made, params = snakemake.input, snakemake.output, snakemake.params
    write_table(interpretation_table(), made.interpretation)
    if files.repetitions:
        write_table(concat_tables(files.repetitions), made.repetitions[0])
        repetitions, published = read_table(made.repetitions[0]), read_table(files.published)
        for figure, path in zip(params.figures, made.points, strict=True):
            of_figure = repetitions[repetitions["figure"] == figure]
            write_table(summarize(of_figure, alpha=params.alpha, published=published), path)
    if files.choices:
        choices, seconds, summary = made.models
        write_table(concat_tables(files.choices), choices)
        write_table(concat_tables(files.seconds), seconds)
        write_table(summarize_models(read_table(choices), params.candidates, alpha=params.alpha), summary)
