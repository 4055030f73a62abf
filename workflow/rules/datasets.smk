# Fetch, verify, read and filter the datasets of the catalog into one .npz each; describe the study and its data.


rule prepare_dataset:
    output:
        "results/datasets/{dataset}.npz",
    log:
        "results/logs/prepare_dataset/{dataset}.log",
    cache: "omit-software"  # Snakemake cannot benchmark cached rules
    priority: 2  # all other jobs wait for data and folds
    localrule: True  # downloads; the nodes of a cluster often have no network
    conda:
        "../envs/environment.yaml"
    params:
        # A user's own files are not inputs: Snakemake would treat braces as wildcards and add a module's prefix.
        dataset=lambda wildcards: wildcards.dataset,
        fingerprint=lambda wildcards: CATALOG[wildcards.dataset].fingerprint,
        versions=lambda wildcards: CATALOG[wildcards.dataset].versions,
        set_aside=lambda wildcards: set_aside_of(wildcards.dataset),
        held_out=False,
        code=code_of("prepare_dataset"),
    script:
        "../scripts/prepare_dataset.py"


# The table is read a second time, because few studies set samples aside.
rule set_samples_aside:
    output:
        "results/held_out/{dataset}.npz",
    log:
        "results/logs/set_samples_aside/{dataset}.log",
    localrule: True  # as the rule above
    conda:
        "../envs/environment.yaml"
    params:
        dataset=lambda wildcards: wildcards.dataset,
        fingerprint=lambda wildcards: CATALOG[wildcards.dataset].fingerprint,
        versions=lambda wildcards: CATALOG[wildcards.dataset].versions,
        set_aside=lambda wildcards: set_aside_of(wildcards.dataset),
        held_out=True,
        code=code_of("prepare_dataset"),
    script:
        "../scripts/prepare_dataset.py"


rule describe_study:
    input:
        expand("results/datasets/{dataset}.npz", dataset=PLAN.data.described),
    output:
        **{"unavailable": "results/tables/unavailable.csv"} if LEFT_OUT else {},
        config="results/config.yaml",
        models="results/tables/models.csv",
        legend="results/legend.csv",
        versions="results/versions.csv",
        sizes="results/tables/datasets.csv",
        columns="results/tables/columns.csv",
        audit="results/tables/audit.csv",
        audits=expand("results/datasets/{dataset}.audit.csv", dataset=PLAN.data.described),
        rows=expand("results/tables/audit_rows/{dataset}.csv", dataset=PLAN.data.described),
        features=expand("results/tables/features/{dataset}.csv", dataset=PLAN.data.described),
        pairs=expand("results/tables/label_pairs/{dataset}.csv", dataset=PLAN.data.described),
    log:
        "results/logs/describe_study.log",
    priority: 2  # `fairfold study` shows data and plan first, before a job that takes all cores
    localrule: True  # shows its warnings on the screen
    conda:
        "../envs/environment.yaml"
    params:
        study=STUDY,
        config=STUDY.model_dump(by_alias=True),  # a change outdates the description
        used=models.used_models(STUDY),
        code_of_models=code_of_models(models.used_models(STUDY)),
        labels_are=[CATALOG[dataset].labels_are for dataset in PLAN.data.described],
        left_out=LEFT_OUT,
        code=code_of("describe_study"),
    script:
        "../scripts/describe_study.py"
