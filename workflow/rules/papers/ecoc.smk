# Error-correcting output codes with cross-validated predictions: MATLAB's examples, and a comparison of codes.


rule predict_ecoc:
    input:
        examples=expand("results/datasets/{dataset}.npz", dataset=PLAN.ecoc.example_datasets),
        compared=expand("results/datasets/{dataset}.npz", dataset=STUDY.ecoc.comparison.datasets),
    output:
        **figures_of_job("ecoc"),
        predictions=expand("results/ecoc/{example}/predictions.csv", example=STUDY.ecoc.examples),
        posteriors=expand("results/ecoc/{example}/posteriors.csv", example=STUDY.ecoc.examples),
        values=expand("results/ecoc/{example}/values.csv", example=STUDY.ecoc.examples),
        summary=expand("results/ecoc/{example}/summary.csv", example=STUDY.ecoc.examples),
        map=expand("results/ecoc/{example}/map.csv", example=STUDY.ecoc.examples),
        samples=expand("results/ecoc/{example}/samples.csv", example=STUDY.ecoc.examples),
        rows=expand("results/tables/ecoc/{example}_rows.csv", example=STUDY.ecoc.examples),
        classes=expand("results/tables/ecoc/{example}_classes.csv", example=STUDY.ecoc.examples),
        examples="results/tables/ecoc/examples.csv" if STUDY.ecoc.examples else [],
        by_dataset=expand("results/ecoc/comparison/{dataset}.csv", dataset=STUDY.ecoc.comparison.datasets),
        comparison="results/tables/ecoc/comparison.csv" if STUDY.ecoc.comparison.datasets else [],
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
        designs=STUDY.ecoc.comparison.designs,
        figures=specs_of_figures("ecoc"),
        code=code_of("predict_ecoc"),
    script:
        "../../scripts/predict_ecoc.py"
