# Fetch, verify, read and filter the datasets of the catalog into one .npz each; describe the study and its data.

# The final models are a separate target.
USED_DATASETS = list(dict(study.used_datasets({**config, "final": {"datasets": []}})))
OWN_DATASETS = [name for name in dict(study.used_datasets(config)) if name in config["data"]["own"]]
EXAMPLE_DATASETS = [study.EXAMPLE_DATASETS[example] for example in config["ecoc"]["examples"]]
DESCRIBED_DATASETS = list(dict.fromkeys([*config["weak_labels"]["datasets"], *OWN_DATASETS]))
# With data.strict, a dataset is split only if its audit has no error.
# A later change of the configuration describes the study again without splitting again.
STRICT_AUDITS = {
    name: ancient(f"results/datasets/{name}.audit.csv") for name in DESCRIBED_DATASETS if config["data"]["strict"]
}


rule prepare_dataset:
    output:
        "results/datasets/{dataset}.npz",
    log:
        "results/logs/prepare_dataset/{dataset}.log",
    cache: "omit-software"  # Snakemake cannot benchmark cached rules
    priority: 2  # all other jobs wait for data and folds
    localrule: True  # downloads; the nodes of a cluster often have no network
    params:
        # A user's own files are not inputs: Snakemake would treat braces as wildcards and add a module's prefix.
        dataset=lambda wildcards: wildcards.dataset,
        fingerprint=lambda wildcards: CATALOG[wildcards.dataset].fingerprint,
        versions=lambda wildcards: CATALOG[wildcards.dataset].versions,
    script:
        "../scripts/prepare_dataset.py"


rule describe_study:
    input:
        expand("results/datasets/{dataset}.npz", dataset=DESCRIBED_DATASETS),
    output:
        **{"unavailable": "results/tables/unavailable.csv"} if LEFT_OUT else {},
        config="results/config.yaml",
        models="results/tables/models.csv",
        legend="results/legend.csv",
        versions="results/versions.csv",
        sizes="results/tables/datasets.csv",
        columns="results/tables/columns.csv",
        audit="results/tables/audit.csv",
        audits=expand("results/datasets/{dataset}.audit.csv", dataset=DESCRIBED_DATASETS),
        rows=expand("results/tables/audit_rows/{dataset}.csv", dataset=DESCRIBED_DATASETS),
    log:
        "results/logs/describe_study.log",
    priority: 1  # `fairfold study` shows data and plan first
    localrule: True  # shows its warnings on the screen
    params:
        config=config,
        used=study.used_models(config),
        code_of_models=code_of_models(config["weak_labels"]["models"]),
        labels_are=[CATALOG[dataset].labels_are for dataset in DESCRIBED_DATASETS],
        left_out=LEFT_OUT,
    script:
        "../scripts/describe_study.py"


FILES_OF["data"] = [
    *expand(rules.prepare_dataset.output, dataset=dict.fromkeys([*USED_DATASETS, *EXAMPLE_DATASETS])),
    *rules.describe_study.output,
]
