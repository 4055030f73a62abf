# Error-correcting output codes with cross-validated predictions: MATLAB's examples, and a comparison of codes.

ECOC = config["ecoc"]
ECOC_EXAMPLES = ECOC["examples"]
COMPARED = ECOC["comparison"]["datasets"]


rule predict_ecoc:
    input:
        expand("results/datasets/{dataset}.npz", dataset=EXAMPLE_DATASETS),
    output:
        predictions=expand("results/ecoc/{example}/predictions.csv", example=ECOC_EXAMPLES),
        posteriors=expand("results/ecoc/{example}/posteriors.csv", example=ECOC_EXAMPLES),
        values=expand("results/ecoc/{example}/values.csv", example=ECOC_EXAMPLES),
        summary=expand("results/ecoc/{example}/summary.csv", example=ECOC_EXAMPLES),
        map=expand("results/ecoc/{example}/map.csv", example=ECOC_EXAMPLES),
        samples=expand("results/ecoc/{example}/samples.csv", example=ECOC_EXAMPLES),
        rows=expand("results/tables/ecoc/{example}_rows.csv", example=ECOC_EXAMPLES),
        classes=expand("results/tables/ecoc/{example}_classes.csv", example=ECOC_EXAMPLES),
        examples="results/tables/ecoc/examples.csv",
    log:
        "results/logs/predict_ecoc.log",
    benchmark:
        "results/benchmarks/predict_ecoc.tsv"
    threads: 8 if "arrhythmia" in ECOC_EXAMPLES else 1
    params:
        seed=config["seed"],
        n_splits=ECOC["n_splits"],
        examples=ECOC_EXAMPLES,
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
    *[*rules.predict_ecoc.output] * bool(ECOC_EXAMPLES),
    *expand(rules.compare_codes.output, dataset=COMPARED),
    *["results/tables/ecoc/comparison.csv"] * bool(COMPARED),
]
