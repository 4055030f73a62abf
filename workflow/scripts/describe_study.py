"""Describe the configuration, models, software and datasets of the study, and audit the datasets."""

import sys

from adapter import logged

with logged(snakemake.log):
    from fairfold.recommendation.description import describe_study

    params = snakemake.params
    options = {"used": params.used, "labels_are": params.labels_are, "left_out": params.left_out}
    warnings = describe_study(snakemake.input, snakemake.output, study=params.study, **options)

sys.stderr.write(warnings)  # on the screen
