"""Tabulate how much of a model's rank depends on the split."""

from adapter import logged

with logged(snakemake.log):
    from fairfold.core.files import concat_tables, write_table
    from fairfold.recommendation.rank_stability import rank_stability

    write_table(rank_stability(concat_tables(snakemake.input)), snakemake.output[0])
