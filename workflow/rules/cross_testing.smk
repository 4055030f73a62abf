# Choose among models by cross-testing.


rule cross_test_models:
    input:
        "results/datasets/{dataset}.npz",
    output:
        scores="results/cross_testing/models/{dataset}/from-{first}.csv",
        seconds="results/timings/cross_testing_models/{dataset}_{first}.csv",
    log:
        "results/logs/cross_test_models/{dataset}_{first}.log",
    benchmark:
        "results/benchmarks/cross_test_models/{dataset}_{first}.tsv"
    priority: 1  # start the longest jobs early; only tables depend on them
    conda:
        "../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        repetitions=numbers_of_job(PLAN.cross_testing.choices["first"]),
        unit=STUDY.cross_testing.models.model_dump(include={"missing_rate", "scoring"}),
        setting=STUDY.cross_testing.models.model_dump(
            include={"n_splits", "test_fraction", "n_permutations", "n_samples", "exchange"}
        ),
        splitter=STUDY.folds.method,
        models={
            model: models.model_settings(STUDY, model, STUDY.cross_testing.models)
            for model in STUDY.cross_testing.models.candidates
        },
        own=STUDY.models.entries(STUDY.cross_testing.models.candidates),
        code_of_models=code_of_models(STUDY.cross_testing.models.candidates),
        code=code_of("cross_test_models"),
    script:
        "../scripts/cross_test_models.py"
