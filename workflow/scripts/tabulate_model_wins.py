"""Tabulate the win percentages of the models on random feature sets."""

from adapter import logged
from fairfold.core.files import concat_tables, write_table
from fairfold.win_percentage.multilabel_tables import multilabel_win_tables

with logged(snakemake.log):
    evaluated = concat_tables(snakemake.input)
    tables = multilabel_win_tables(evaluated, alpha=snakemake.params.alpha)
    for name, path in snakemake.output.items():
        write_table(tables[name], path)
