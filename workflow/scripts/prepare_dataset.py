"""Fetch, verify, read and filter one dataset; refuse it where the study could learn nothing from it."""

from adapter import logged
from fairfold.datasets import load_catalog, prepare
from fairfold.datasets.dataset import environment_mirrors
from fairfold.datasets.demands import Demand, check_demands

with logged(snakemake.log):
    settings = snakemake.config["data"]
    data = prepare(
        snakemake.params.dataset,
        catalog=load_catalog().with_own(settings["own"]),
        mirrors=[*settings["mirrors"], *environment_mirrors()],
        cache=settings["cache"],
        offline=settings["offline"],
    )
    check_demands(data, [Demand(*each) for each in snakemake.params.demands])
    data.save(snakemake.output[0])
