# Folds of a dataset


rule split_dataset:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/folds/{dataset}.npz",
    log:
        "results/logs/split_dataset/{dataset}.log",
    benchmark:
        "results/benchmarks/split_dataset/{dataset}.tsv"
    params:
        seed=config["seed"],
        folds=config["folds"],
        code=code_of("splitting"),
    script:
        "../scripts/split_dataset.py"
