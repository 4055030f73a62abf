"""Tabulate the win percentages of the models on random feature sets."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import concat_tables, write_tables
    from fairfold.win_percentage.multilabel_tables import multilabel_win_tables

    tables = multilabel_win_tables(concat_tables(snakemake.input), alpha=snakemake.params.alpha)
    write_tables(tables, snakemake.output)
