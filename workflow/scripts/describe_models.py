"""What each model is made of."""

from adapter import logged
from fairfold.files import write_table
from fairfold.forests.models import describe_models

with logged(snakemake.log):
    write_table(describe_models(snakemake.params.models, variant=snakemake.params.variant), snakemake.output[0])
