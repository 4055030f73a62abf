# Compare nested cross-validation, testing and cross-testing, with permutation tests, in many repetitions.

CROSS_TESTING = config["cross_testing"]
EXPERIMENTS = CROSS_TESTING["experiments"]
CHOSEN_FROM = CROSS_TESTING["models"]
CROSS_TESTING_FIGURES = sorted({each["figure"] for each in EXPERIMENTS.values()})
CHOICE_TABLES = ["cross_testing/models", "timings/cross_testing_models", "tables/cross_testing_models"]
CHOICE_OPTIONS = ("n_splits", "test_fraction", "n_permutations", "n_samples", "exchange")
# A job runs a range of repetitions and is named after the first one. A killed run loses only its running jobs.
EXPERIMENT_JOBS = {
    "experiment": EXPERIMENTS,
    "first": range(0, CROSS_TESTING["repetitions"], CROSS_TESTING["repetitions_per_job"]),
}
CHOICE_JOBS = {
    "dataset": CHOSEN_FROM["datasets"],
    "first": range(0, CHOSEN_FROM["repetitions"], CHOSEN_FROM["repetitions_per_job"]),
}


rule repeat_procedures:
    input:
        lambda wildcards: f"results/datasets/{EXPERIMENTS[wildcards.experiment]['dataset']}.npz",
    output:
        "results/cross_testing/{experiment}/from-{first}.csv",
    log:
        "results/logs/repeat_procedures/{experiment}_{first}.log",
    benchmark:
        "results/benchmarks/repeat_procedures/{experiment}_{first}.tsv"
    params:
        seed=config["seed"],
        repetitions=numbers_of_job(EXPERIMENT_JOBS["first"]),
        experiment=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        search={name: CROSS_TESTING[name] for name in ("parameters", "n_permutations", "folds")},
    script:
        "../scripts/repeat_procedures.py"


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
    params:
        seed=config["seed"],
        repetitions=numbers_of_job(CHOICE_JOBS["first"]),
        unit={name: CHOSEN_FROM[name] for name in ("missing_rate", "scoring")},
        setting={name: CHOSEN_FROM[name] for name in CHOICE_OPTIONS},
        splitter=config["folds"]["method"],
        models={model: study.model_settings(config, model, CHOSEN_FROM) for model in CHOSEN_FROM["candidates"]},
        code_of_models=code_of_models(CHOSEN_FROM["candidates"]),
    script:
        "../scripts/cross_test_models.py"


rule tabulate_cross_testing:
    input:
        repetitions=expand(rules.repeat_procedures.output, **EXPERIMENT_JOBS),
        published=workflow.source_path("../../resources/published/cross_testing.csv"),
        choices=expand(rules.cross_test_models.output.scores, **CHOICE_JOBS),
        seconds=expand(rules.cross_test_models.output.seconds, **CHOICE_JOBS),
    output:
        interpretation="results/tables/interpretation.csv",
        repetitions=["results/cross_testing/repetitions.csv"] * bool(EXPERIMENTS),
        points=expand("results/tables/cross_testing_{figure}.csv", figure=CROSS_TESTING_FIGURES),
        models=expand("results/{table}.csv", table=CHOICE_TABLES * bool(CHOSEN_FROM["datasets"])),
    log:
        "results/logs/tabulate_cross_testing.log",
    params:
        figures=CROSS_TESTING_FIGURES,
        candidates=CHOSEN_FROM["candidates"],
        alpha=CROSS_TESTING["alpha"],
    script:
        "../scripts/tabulate_cross_testing.py"


FILES_OF["cross_testing"] = [
    *expand(rules.repeat_procedures.output, **EXPERIMENT_JOBS),
    *expand(rules.cross_test_models.output, **CHOICE_JOBS),
    *[*rules.tabulate_cross_testing.output] * bool(EXPERIMENTS or CHOSEN_FROM["datasets"]),
]
