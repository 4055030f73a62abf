# catalog - fetch - verify - read - filter -> one .npz per dataset; what its columns are, and which look wrong

OWN_DATASETS = [
    dataset
    for dataset in dict.fromkeys(dataset for dataset, _ in study.used_datasets(config))
    if dataset in config["data"]["own"]
]
DESCRIBED_DATASETS = list(dict.fromkeys([*config["weak_labels"]["datasets"], *OWN_DATASETS]))
RESULTS_OF["data"] = [
    "results/tables/datasets.csv",
    "results/tables/columns.csv",
    *["results/tables/suspects.csv"] * bool(OWN_DATASETS),
]
if LEFT_OUT:
    RESULTS_OF["data"].append("results/tables/unavailable.csv")


rule prepare_dataset:
    input:
        own_files,
    output:
        "results/datasets/{dataset}.npz",
    log:
        "results/logs/prepare_dataset/{dataset}.log",
    cache: "omit-software"  # and so not measured: Snakemake has no benchmark of what it takes from a cache
    priority: 2  # all else waits for data and folds
    localrule: True  # downloads, for which a cluster's nodes often have no network
    params:
        dataset=lambda wildcards: wildcards.dataset,
        fingerprint=lambda wildcards: CATALOG[wildcards.dataset].fingerprint,
        versions=versions_of_own_files,
        code=code("prepare_dataset"),
    message:
        "Read {wildcards.dataset}"
    script:
        "../scripts/prepare_dataset.py"


rule describe_datasets:
    input:
        expand("results/datasets/{dataset}.npz", dataset=DESCRIBED_DATASETS),
    output:
        sizes="results/tables/datasets.csv",
        columns="results/tables/columns.csv",
    log:
        "results/logs/describe_datasets.log",
    params:
        labels_are=[CATALOG[dataset].labels_are for dataset in DESCRIBED_DATASETS],
        code=code("describe_datasets"),
    message:
        "Describe the datasets"
    script:
        "../scripts/describe_datasets.py"


rule inspect_dataset:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/datasets/{dataset}.suspects.csv",
    log:
        "results/logs/inspect_dataset/{dataset}.log",
    benchmark:
        "results/benchmarks/inspect_dataset/{dataset}.tsv"
    priority: 1  # before hours of training
    localrule: True  # its warnings are for the screen
    params:
        n_splits=config["folds"]["n_splits"],
        code=code("inspect_dataset"),
    message:
        "Check {wildcards.dataset} for warnings"
    script:
        "../scripts/inspect_dataset.py"


rule tabulate_suspects:
    input:
        expand("results/datasets/{dataset}.suspects.csv", dataset=OWN_DATASETS),
    output:
        "results/tables/suspects.csv",
    log:
        "results/logs/tabulate_suspects.log",
    benchmark:
        "results/benchmarks/tabulate_suspects.tsv"
    params:
        code=code("concat_tables"),
    message:
        "Table of warnings about your data"
    script:
        "../scripts/concat_tables.py"


rule list_unavailable_datasets:
    output:
        "results/tables/unavailable.csv",
    log:
        "results/logs/list_unavailable_datasets.log",
    localrule: True
    params:
        rows=LEFT_OUT,
        code=code("list_unavailable_datasets"),
    message:
        "List the datasets that are left out"
    script:
        "../scripts/list_unavailable_datasets.py"
