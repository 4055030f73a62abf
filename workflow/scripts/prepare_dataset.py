"""Download, verify, read and filter one dataset, and reject data unfit for the study."""

import logging
import os

from adapter import logged
from fairfold.datasets.catalog import load_catalog
from fairfold.datasets.preparation import environment_mirrors, prepare
from fairfold.datasets.requirements import check_requirements

# Keep the original error stream before the log file replaces it.
screen = logging.StreamHandler(os.fdopen(os.dup(2), "w"))

with logged(snakemake.log):
    settings = snakemake.config["data"]
    if snakemake.params.dataset in settings["own"]:
        logging.getLogger("fairfold.tables.decimals").addHandler(screen)
    data = prepare(
        snakemake.params.dataset,
        catalog=load_catalog().with_own(settings["own"]).with_variants(settings["variants"]),
        mirrors=[*settings["mirrors"], *environment_mirrors()],
        cache=settings["cache"],
        offline=settings["offline"],
    )
    # This is not a parameter of the rule, because other settings do not change the data and must not trigger reruns.
    if snakemake.params.dataset in settings["own"]:  # Datasets of the catalog are large enough.
        check_requirements(data, snakemake.config)
    data.save(snakemake.output[0])
