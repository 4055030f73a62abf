# Error-correcting output codes with cross-validated predictions: MATLAB's examples, and a comparison of codes.

ECOC = config["ecoc"]
ECOC_EXAMPLES = ECOC["examples"]
COMPARED = ECOC["comparison"]["datasets"]


rule predict_ecoc:
    input:
        lambda wildcards: f"results/datasets/{study.EXAMPLE_DATASETS[wildcards.example]}.npz",
    output:
        predictions="results/ecoc/{example}/predictions.csv",
        posteriors="results/ecoc/{example}/posteriors.csv",
        values="results/ecoc/{example}/values.csv",
        summary="results/ecoc/{example}/summary.csv",
        map="results/ecoc/{example}/map.csv",
        samples="results/ecoc/{example}/samples.csv",
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
    script:
        "../scripts/predict_ecoc.py"


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
        options={"n_splits": ECOC["n_splits"], "designs": ECOC["comparison"]["designs"]},
    script:
        "../scripts/compare_codes.py"


FILES_OF["ecoc"] = [
    *expand(rules.predict_ecoc.output, example=ECOC_EXAMPLES),
    *["results/tables/ecoc/examples.csv"] * bool(ECOC_EXAMPLES),
    *expand(rules.compare_codes.output, dataset=COMPARED),
    *["results/tables/ecoc/comparison.csv"] * bool(COMPARED),
]
