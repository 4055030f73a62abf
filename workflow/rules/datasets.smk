# catalog - fetch - verify - read - filter -> one .npz per dataset; what its columns are, and which look wrong


OWN_DATASETS = list(
    dict.fromkeys(
        dataset for dataset, _ in used_datasets() if dataset in config["data"]["own"]
    )
)
DESCRIBED_DATASETS = list(
    dict.fromkeys([*config["weak_labels"]["datasets"], *OWN_DATASETS])
)
SUSPECTS = ["results/tables/suspects.csv"] * bool(OWN_DATASETS)
DATA_RESULTS = ["results/tables/datasets.csv", "results/tables/columns.csv", *SUSPECTS]


def own_file(wildcards):
    """The user's own files of a dataset, so that a change of theirs is noticed; nothing for the catalog's datasets."""
    return [str(path) for path in CATALOG[wildcards.dataset].own_files]


rule prepare_dataset:
    input:
        own_file,
    output:
        "results/datasets/{dataset}.npz",
    log:
        "results/logs/prepare_dataset/{dataset}.log",
    cache: "omit-software"  # and so not measured: Snakemake has no benchmark of what it takes from a cache
    localrule: True  # downloads, for which a cluster's nodes often have no network
    params:
        dataset=lambda wildcards: wildcards.dataset,
        fingerprint=lambda wildcards: CATALOG[wildcards.dataset].fingerprint,
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
    benchmark:
        "results/benchmarks/describe_datasets.tsv"
    params:
        labels_are=[CATALOG[dataset].labels_are for dataset in DESCRIBED_DATASETS],
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
    script:
        "../scripts/inspect_dataset.py"


rule gather_suspects:
    input:
        expand("results/datasets/{dataset}.suspects.csv", dataset=OWN_DATASETS),
    output:
        "results/tables/suspects.csv",
    log:
        "results/logs/gather_suspects.log",
    benchmark:
        "results/benchmarks/gather_suspects.tsv"
    script:
        "../scripts/gather_suspects.py"
