# catalog - fetch - verify - read - filter -> one .npz per dataset


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
        code=code_of("datasets"),
    script:
        "../scripts/prepare_dataset.py"


rule describe_datasets:
    input:
        expand(
            "results/datasets/{dataset}.npz", dataset=config["weak_labels"]["datasets"]
        ),
    output:
        "results/tables/datasets.csv",
    log:
        "results/logs/describe_datasets.log",
    benchmark:
        "results/benchmarks/describe_datasets.tsv"
    params:
        code=code_of("datasets"),
    script:
        "../scripts/describe_datasets.py"
