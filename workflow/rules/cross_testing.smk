# Nested cross-validation, testing and cross-testing side by side, with permutation tests, many times

CROSS_TESTING = config["cross_testing"]
EXPERIMENTS = CROSS_TESTING["experiments"]
CHOSEN_FROM = CROSS_TESTING["models"]
CROSS_TESTING_FIGURES = sorted({each["figure"] for each in EXPERIMENTS.values()})
CROSS_TESTING_POINTS = expand("results/tables/cross_testing_{figure}.csv", figure=CROSS_TESTING_FIGURES)
RESULTS_OF["cross_testing"] = [
    *CROSS_TESTING_POINTS,
    *[
        "results/tables/cross_testing_models.csv",
        "results/timings/cross_testing_models.csv",
        "results/cross_testing/models.csv",
    ]
    * bool(CHOSEN_FROM["datasets"]),
    *["results/tables/interpretation.csv"] * bool(EXPERIMENTS or CHOSEN_FROM["datasets"]),
]
# What one job repeats is all that a killed run loses; a job is named by its first repetition.
MODEL_JOBS = {
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
    threads: 1
    params:
        seed=config["seed"],
        repetitions=numbers_of_job(CROSS_TESTING["repetitions_per_job"], CROSS_TESTING["repetitions"]),
        experiment=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        search={name: CROSS_TESTING[name] for name in ("parameters", "n_permutations", "folds")},
        code=code("repeat_procedures"),
    message:
        "Cross-testing of {wildcards.experiment}, from repetition {wildcards.first}"
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
    priority: 1  # the longest jobs, for which nothing but tables waits: begun last, they would end last
    threads: 1
    params:
        seed=config["seed"],
        repetitions=numbers_of_job(CHOSEN_FROM["repetitions_per_job"], CHOSEN_FROM["repetitions"]),
        unit={name: CHOSEN_FROM[name] for name in ("missing_rate", "scoring")},
        setting={
            name: CHOSEN_FROM[name]
            for name in (
                *("n_splits", "test_fraction", "n_permutations", "n_samples"),
                "exchange",
            )
        },
        splitter=config["folds"]["method"],
        models={model: study.model_settings(config, model, CHOSEN_FROM) for model in CHOSEN_FROM["candidates"]},
        own=own_code(CHOSEN_FROM["candidates"]),
        code=code("cross_test_models"),
    message:
        "Cross-testing of forests on {wildcards.dataset}, from repetition {wildcards.first}"
    script:
        "../scripts/cross_test_models.py"


rule tabulate_cross_testing:
    input:
        repetitions=expand(
            "results/cross_testing/{experiment}/from-{first}.csv",
            experiment=EXPERIMENTS,
            first=range(0, CROSS_TESTING["repetitions"], CROSS_TESTING["repetitions_per_job"]),
        ),
        published=workflow.source_path("../../resources/published/cross_testing.csv"),
    output:
        repetitions="results/cross_testing/repetitions.csv",
        points=CROSS_TESTING_POINTS,
    log:
        "results/logs/tabulate_cross_testing.log",
    benchmark:
        "results/benchmarks/tabulate_cross_testing.tsv"
    params:
        figures=CROSS_TESTING_FIGURES,
        alpha=CROSS_TESTING["alpha"],
        code=code("tabulate_cross_testing"),
    message:
        "Tables of cross-testing"
    script:
        "../scripts/tabulate_cross_testing.py"


rule tabulate_cross_testing_models:
    input:
        repetitions=expand("results/cross_testing/models/{dataset}/from-{first}.csv", **MODEL_JOBS),
        seconds=expand("results/timings/cross_testing_models/{dataset}_{first}.csv", **MODEL_JOBS),
    output:
        repetitions="results/cross_testing/models.csv",
        seconds="results/timings/cross_testing_models.csv",
        summary="results/tables/cross_testing_models.csv",
    log:
        "results/logs/tabulate_cross_testing_models.log",
    benchmark:
        "results/benchmarks/tabulate_cross_testing_models.tsv"
    params:
        candidates=CHOSEN_FROM["candidates"],
        alpha=CROSS_TESTING["alpha"],
        code=code("tabulate_cross_testing_models"),
    message:
        "Tables of cross-testing on weak labels"
    script:
        "../scripts/tabulate_cross_testing_models.py"


rule tabulate_interpretation:
    output:
        "results/tables/interpretation.csv",
    log:
        "results/logs/tabulate_interpretation.log",
    localrule: True
    params:
        code=code("tabulate_interpretation"),
    message:
        "Table of what may be interpreted"
    script:
        "../scripts/tabulate_interpretation.py"
