"""Tabulate the models and their appearance in figures."""

from adapter import logged
from fairfold.core.files import write_table
from fairfold.models.description import describe_models
from fairfold.models.legend import legend_table

with logged(snakemake.log):
    params = snakemake.params
    write_table(describe_models(params.names, params.variant, params.own), snakemake.output.models)
    write_table(legend_table(params.used, params.own), snakemake.output.legend)
