# Error-correcting output codes with cross-validated predictions: the documentation page's examples, and a comparison

ECOC = config["ecoc"]
ECOC_EXAMPLES = ECOC["examples"]
COMPARED = ECOC["comparison"]["datasets"]
RESULTS_OF["ecoc"] = [
    *expand(
        "results/tables/ecoc/{example}_{table}.csv",
        example=ECOC_EXAMPLES,
        table=["rows", "classes"],
    ),
    *["results/tables/ecoc/examples.csv"] * bool(ECOC_EXAMPLES),
    *["results/tables/ecoc/comparison.csv"] * bool(COMPARED),
]


rule predict_ecoc:
    input:
        lambda wildcards: f"results/datasets/{study.EXAMPLE_DATASETS[wildcards.example]}.npz",
    output:
        predictions="results/ecoc/{example}/predictions.csv",
        posteriors="results/ecoc/{example}/posteriors.csv",
        values="results/ecoc/{example}/values.csv",
        summary="results/ecoc/{example}/summary.csv",
        rows="results/tables/ecoc/{example}_rows.csv",
        classes="results/tables/ecoc/{example}_classes.csv",
    log:
        "results/logs/predict_ecoc/{example}.log",
    benchmark:
        "results/benchmarks/predict_ecoc/{example}.tsv"
    threads: lambda wildcards: 8 if wildcards.example == "arrhythmia" else 1
    params:
        seed=config["seed"],
        n_splits=ECOC["n_splits"],
        code=code("predict_ecoc"),
    message:
        "Codes, example {wildcards.example}"
    script:
        "../scripts/predict_ecoc.py"


rule map_posteriors:
    input:
        lambda wildcards: f"results/datasets/{study.EXAMPLE_DATASETS[wildcards.example]}.npz",
    output:
        map="results/ecoc/{example}/map.csv",
        samples="results/ecoc/{example}/samples.csv",
    log:
        "results/logs/map_posteriors/{example}.log",
    benchmark:
        "results/benchmarks/map_posteriors/{example}.tsv"
    params:
        seed=config["seed"],
        n_splits=ECOC["n_splits"],
        code=code("map_posteriors"),
    message:
        "Map of posteriors, example {wildcards.example}"
    script:
        "../scripts/map_posteriors.py"


rule compare_codes:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/ecoc/comparison/{dataset}.csv",
    log:
        "results/logs/compare_codes/{dataset}.log",
    benchmark:
        "results/benchmarks/compare_codes/{dataset}.tsv"
    params:
        seed=config["seed"],
        options={
            "n_splits": ECOC["n_splits"],
            "designs": ECOC["comparison"]["designs"],
        },
        code=code("compare_codes"),
    message:
        "Codes and scikit-learn's classifiers on {wildcards.dataset}"
    script:
        "../scripts/compare_codes.py"


rule tabulate_ecoc_examples:
    input:
        expand("results/ecoc/{example}/summary.csv", example=ECOC_EXAMPLES),
    output:
        "results/tables/ecoc/examples.csv",
    log:
        "results/logs/tabulate_ecoc_examples.log",
    benchmark:
        "results/benchmarks/tabulate_ecoc_examples.tsv"
    params:
        code=code("concat_tables"),
    message:
        "Table of the examples of codes"
    script:
        "../scripts/concat_tables.py"


rule tabulate_ecoc_comparison:
    input:
        expand("results/ecoc/comparison/{dataset}.csv", dataset=COMPARED),
    output:
        "results/tables/ecoc/comparison.csv",
    log:
        "results/logs/tabulate_ecoc_comparison.log",
    benchmark:
        "results/benchmarks/tabulate_ecoc_comparison.tsv"
    params:
        code=code("concat_tables"),
    message:
        "Table of the comparison of codes"
    script:
        "../scripts/concat_tables.py"
