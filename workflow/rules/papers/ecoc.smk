# Error-correcting output codes with cross-validated predictions: MATLAB's examples, and a comparison of codes.


rule predict_ecoc:
    input:
        expand("results/datasets/{dataset}.npz", dataset=PLAN.ecoc.example_datasets),
    output:
        predictions=expand("results/ecoc/{example}/predictions.csv", example=STUDY.ecoc.examples),
        posteriors=expand("results/ecoc/{example}/posteriors.csv", example=STUDY.ecoc.examples),
        values=expand("results/ecoc/{example}/values.csv", example=STUDY.ecoc.examples),
        summary=expand("results/ecoc/{example}/summary.csv", example=STUDY.ecoc.examples),
        map=expand("results/ecoc/{example}/map.csv", example=STUDY.ecoc.examples),
        samples=expand("results/ecoc/{example}/samples.csv", example=STUDY.ecoc.examples),
        rows=expand("results/tables/ecoc/{example}_rows.csv", example=STUDY.ecoc.examples),
        classes=expand("results/tables/ecoc/{example}_classes.csv", example=STUDY.ecoc.examples),
        examples="results/tables/ecoc/examples.csv",
    log:
        "results/logs/predict_ecoc.log",
    benchmark:
        "results/benchmarks/predict_ecoc.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 8 if "arrhythmia" in STUDY.ecoc.examples else 1
    params:
        seed=STUDY.seed,
        n_splits=STUDY.ecoc.n_splits,
        examples=STUDY.ecoc.examples,
        code=code_of("predict_ecoc"),
    script:
        "../../scripts/predict_ecoc.py"


rule compare_codes:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/ecoc/comparison/{dataset}.csv",
    log:
        "results/logs/compare_codes/{dataset}.log",
    benchmark:
        "results/benchmarks/compare_codes/{dataset}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        options={"n_splits": STUDY.ecoc.n_splits, "designs": STUDY.ecoc.comparison.designs},
        code=code_of("compare_codes"),
    script:
        "../../scripts/compare_codes.py"
