# Nested cross-validation, testing and cross-testing side by side, with permutation tests, many times

CROSS_TESTING = config["cross_testing"]
EXPERIMENTS = CROSS_TESTING["experiments"]
CHOSEN_FROM = CROSS_TESTING["models"]
TEST_SHARE = CROSS_TESTING["test_share"]
CROSS_TESTING_FIGURES = sorted({each["figure"] for each in EXPERIMENTS.values()})
CROSS_TESTING_POINTS = expand(
    "results/tables/cross_testing_{figure}.csv", figure=CROSS_TESTING_FIGURES
)
RESULTS_OF["cross_testing"] = [
    *CROSS_TESTING_POINTS,
    *[
        "results/tables/cross_testing_models.csv",
        "results/timings/cross_testing_models.csv",
        "results/cross_testing/models.csv",
    ]
    * bool(CHOSEN_FROM["datasets"]),
    *["results/tables/test_shares.csv", "results/tables/test_share_sentences.csv"]
    * bool(TEST_SHARE["datasets"]),
    *["results/tables/interpretation.csv"]
    * bool(EXPERIMENTS or CHOSEN_FROM["datasets"]),
]
# What one job repeats is all that a killed run loses; a job is named by its first repetition.
MODEL_JOBS = {
    "dataset": CHOSEN_FROM["datasets"],
    "first": range(0, CHOSEN_FROM["repetitions"], CHOSEN_FROM["repetitions_per_job"]),
}
GATHERED |= {
    "repetitions": (
        expand(
            "results/cross_testing/{experiment}/from-{first}.csv",
            experiment=EXPERIMENTS,
            first=range(
                0, CROSS_TESTING["repetitions"], CROSS_TESTING["repetitions_per_job"]
            ),
        ),
        "results/cross_testing/repetitions.csv",
    ),
    "test_shares": (
        expand(
            "results/cross_testing/test_share/{dataset}/from-{first}.csv",
            dataset=TEST_SHARE["datasets"],
            first=range(
                0, TEST_SHARE["simulations"], TEST_SHARE["simulations_per_job"]
            ),
        ),
        "results/cross_testing/test_share.csv",
    ),
    "cross_tested_models": (
        expand("results/cross_testing/models/{dataset}/from-{first}.csv", **MODEL_JOBS),
        "results/cross_testing/models.csv",
    ),
    "seconds_of_cross_testing": (
        expand(
            "results/timings/cross_testing_models/{dataset}_{first}.csv", **MODEL_JOBS
        ),
        "results/timings/cross_testing_models.csv",
    ),
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
        repetitions=numbers_of_job(
            CROSS_TESTING["repetitions_per_job"], CROSS_TESTING["repetitions"]
        ),
        experiment=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        search={
            name: CROSS_TESTING[name]
            for name in ("parameters", "n_permutations", "alpha", "early_stop")
        },
    script:
        "../scripts/repeat_procedures.py"


rule summarise_cross_testing:
    input:
        repetitions="results/cross_testing/repetitions.csv",
        published=workflow.source_path("../../resources/published/cross_testing.csv"),
    output:
        "results/tables/cross_testing_{figure}.csv",
    log:
        "results/logs/summarise_cross_testing/{figure}.log",
    benchmark:
        "results/benchmarks/summarise_cross_testing/{figure}.tsv"
    wildcard_constraints:
        # "models" is a figure by itself
        figure="|".join(map(re.escape, CROSS_TESTING_FIGURES)) or "none",
    params:
        function="fairfold.cross_testing.experiment_summary:points_of_figure",
        options=lambda wildcards: {
            "figure": wildcards.figure,
            "alpha": CROSS_TESTING["alpha"],
        },
    script:
        "../scripts/tabulate.py"


rule tabulate_interpretation:
    output:
        "results/tables/interpretation.csv",
    log:
        "results/logs/tabulate_interpretation.log",
    params:
        function="fairfold.cross_testing.experiment_summary:interpretation_table",
    script:
        "../scripts/tabulate.py"


rule simulate_test_shares:
    input:
        "results/datasets/{dataset}.npz",
    output:
        "results/cross_testing/test_share/{dataset}/from-{first}.csv",
    log:
        "results/logs/simulate_test_shares/{dataset}_{first}.log",
    benchmark:
        "results/benchmarks/simulate_test_shares/{dataset}_{first}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        simulations=numbers_of_job(
            TEST_SHARE["simulations_per_job"], TEST_SHARE["simulations"]
        ),
        candidates=CROSS_TESTING["parameters"],
        setting={
            "test_fractions": TEST_SHARE["shares"],
            "n_permutations": TEST_SHARE["n_permutations"],
            "alpha": CROSS_TESTING["alpha"],
        },
    script:
        "../scripts/simulate_test_shares.py"


rule summarise_test_shares:
    input:
        "results/cross_testing/test_share.csv",
    output:
        "results/tables/test_shares.csv",
    log:
        "results/logs/summarise_test_shares.log",
    benchmark:
        "results/benchmarks/summarise_test_shares.tsv"
    params:
        function="fairfold.cross_testing.shares:summarise_test_shares",
        options={"alpha": CROSS_TESTING["alpha"]},
    script:
        "../scripts/tabulate.py"


rule describe_test_shares:
    input:
        "results/tables/test_shares.csv",
    output:
        "results/tables/test_share_sentences.csv",
    log:
        "results/logs/describe_test_shares.log",
    benchmark:
        "results/benchmarks/describe_test_shares.tsv"
    params:
        function="fairfold.cross_testing.shares:share_sentences",
        options={"alpha": CROSS_TESTING["alpha"]},
    script:
        "../scripts/tabulate.py"


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
        repetitions=numbers_of_job(
            CHOSEN_FROM["repetitions_per_job"], CHOSEN_FROM["repetitions"]
        ),
        unit={name: CHOSEN_FROM[name] for name in ("missing_rate", "scoring")},
        setting={
            name: CHOSEN_FROM[name]
            for name in (
                *("n_splits", "test_fraction", "n_permutations", "n_samples"),
                "exchange",
            )
        },
        splitter=config["folds"]["method"],
        models={
            model: study.model_settings(config, model, CHOSEN_FROM)
            for model in CHOSEN_FROM["candidates"]
        },
        code=code_of_models(
            "cross_test_models",
            CHOSEN_FROM["candidates"],
            *modules_of_splitters([config["folds"]["method"]]),
        ),
    script:
        "../scripts/cross_test_models.py"


rule summarise_cross_tested_models:
    input:
        "results/cross_testing/models.csv",
    output:
        "results/tables/cross_testing_models.csv",
    log:
        "results/logs/summarise_cross_tested_models.log",
    benchmark:
        "results/benchmarks/summarise_cross_tested_models.tsv"
    params:
        function="fairfold.cross_testing.models_summary:summarise_models",
        options={
            "candidates": CHOSEN_FROM["candidates"],
            "alpha": CROSS_TESTING["alpha"],
        },
    script:
        "../scripts/tabulate.py"
