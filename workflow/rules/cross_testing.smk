# Nested cross-validation, testing and cross-testing side by side, with permutation tests, many times

CROSS_TESTING = config["cross_testing"]
EXPERIMENTS = CROSS_TESTING["experiments"]
SEARCH = {
    name: CROSS_TESTING[name]
    for name in ("parameters", "n_permutations", "alpha", "early_stop")
}
CROSS_TESTING_FIGURES = sorted(
    {experiment["figure"] for experiment in EXPERIMENTS.values()}
)
FORESTS = CROSS_TESTING["forests"]
CROSS_TESTING_POINTS = expand(
    "results/tables/cross_testing_{figure}.csv", figure=CROSS_TESTING_FIGURES
)
CROSS_TESTING_RESULTS = (
    CROSS_TESTING_POINTS
    + expand("results/figures/cross_testing_{figure}.pdf", figure=CROSS_TESTING_FIGURES)
    + [
        "results/tables/cross_testing_forests.csv",
        "results/figures/cross_testing_forests.pdf",
        "results/timings/cross_testing_forests.csv",
        "results/cross_testing/forests.csv",
    ]
    * bool(FORESTS["datasets"])
    + ["results/tables/interpretation.csv"] * bool(EXPERIMENTS or FORESTS["datasets"])
)
# What one job repeats is all that a killed run loses; a chunk is named by its first repetition.
CHUNKS = range(0, CROSS_TESTING["repetitions"], CROSS_TESTING["repetitions_per_job"])
FOREST_CHUNKS = range(0, FORESTS["repetitions"], FORESTS["repetitions_per_job"])
FOREST_UNIT = {name: FORESTS[name] for name in ("missing_rate", "scoring")}
# "forests" is a figure by itself
CROSS_TESTING_FIGURE = "|".join(map(re.escape, CROSS_TESTING_FIGURES)) or "none"


def data_of_experiment(wildcards):
    return f"results/datasets/{EXPERIMENTS[wildcards.experiment]['dataset']}.npz"


def repetitions_of(part):
    """Wildcards -> the repetitions of a chunk, from and to."""
    n, step = part["repetitions"], part["repetitions_per_job"]
    return lambda wildcards: [int(wildcards.first), min(int(wildcards.first) + step, n)]


def settings_of_candidate(model):
    """What make_model is told; a model with a "+" has no variants."""
    variant = "honest" if model.endswith("+") else config["weak_labels"]["variant"]
    settings = {**config["weak_labels"]["forest"], **FORESTS["forest"]}
    return {**settings, "variant": variant}


rule repeat_procedures:
    input:
        data_of_experiment,
    output:
        "results/cross_testing/{experiment}/from-{first}.csv",
    log:
        "results/logs/repeat_procedures/{experiment}_{first}.log",
    benchmark:
        "results/benchmarks/repeat_procedures/{experiment}_{first}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        repetitions=repetitions_of(CROSS_TESTING),
        experiment=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        search=SEARCH,
    script:
        "../scripts/repeat_procedures.py"


use rule gather_scores as gather_repetitions with:
    input:
        expand(
            "results/cross_testing/{experiment}/from-{first}.csv",
            experiment=EXPERIMENTS,
            first=CHUNKS,
        ),
    output:
        "results/cross_testing/repetitions.csv",
    log:
        "results/logs/gather_repetitions.log",
    benchmark:
        "results/benchmarks/gather_repetitions.tsv"


rule summarise_cross_testing:
    input:
        repetitions="results/cross_testing/repetitions.csv",
        published=workflow.source_path(
            "../../resources/published/cross_testing_fig4_fig8.csv"
        ),
    output:
        "results/tables/cross_testing_{figure}.csv",
    log:
        "results/logs/summarise_cross_testing/{figure}.log",
    benchmark:
        "results/benchmarks/summarise_cross_testing/{figure}.tsv"
    wildcard_constraints:
        figure=CROSS_TESTING_FIGURE,
    params:
        alpha=CROSS_TESTING["alpha"],
    script:
        "../scripts/summarise_cross_testing.py"


use rule plot_metric_behaviour as plot_cross_testing with:
    input:
        "results/tables/cross_testing_{figure}.csv",
    output:
        "results/figures/cross_testing_{figure}.pdf",
        report(
            "results/figures/cross_testing_{figure}.png",
            caption="../report/cross_testing.rst",
            category="4 Cross-testing",
            labels={"figure": "{figure}"},
        ),
    log:
        "results/logs/plot_cross_testing/{figure}.log",
    benchmark:
        "results/benchmarks/plot_cross_testing/{figure}.tsv"
    wildcard_constraints:
        figure=CROSS_TESTING_FIGURE,
    params:
        draw="fairfold.figures.cross_testing:plot_cross_testing",
        options={"alpha": CROSS_TESTING["alpha"]},


rule tabulate_interpretation:
    output:
        "results/tables/interpretation.csv",
    log:
        "results/logs/tabulate_interpretation.log",
    benchmark:
        "results/benchmarks/tabulate_interpretation.tsv"
    script:
        "../scripts/tabulate_interpretation.py"


rule judge_forests:
    input:
        "results/datasets/{dataset}.npz",
    output:
        scores="results/cross_testing/forests/{dataset}/from-{first}.csv",
        seconds="results/timings/cross_testing_forests/{dataset}_{first}.csv",
    log:
        "results/logs/judge_forests/{dataset}_{first}.log",
    benchmark:
        "results/benchmarks/judge_forests/{dataset}_{first}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        repetitions=repetitions_of(FORESTS),
        unit=FOREST_UNIT,
        setting={
            name: FORESTS[name]
            for name in ("n_splits", "test_fraction", "n_permutations", "n_samples")
        },
        splitter=config["folds"]["method"],
        models={model: settings_of_candidate(model) for model in FORESTS["candidates"]},
    script:
        "../scripts/judge_forests.py"


use rule gather_scores as gather_judgements with:
    input:
        expand(
            "results/cross_testing/forests/{dataset}/from-{first}.csv",
            dataset=FORESTS["datasets"],
            first=FOREST_CHUNKS,
        ),
    output:
        "results/cross_testing/forests.csv",
    log:
        "results/logs/gather_judgements.log",
    benchmark:
        "results/benchmarks/gather_judgements.tsv"


use rule gather_scores as gather_seconds_of_judgements with:
    input:
        expand(
            "results/timings/cross_testing_forests/{dataset}_{first}.csv",
            dataset=FORESTS["datasets"],
            first=FOREST_CHUNKS,
        ),
    output:
        "results/timings/cross_testing_forests.csv",
    log:
        "results/logs/gather_seconds_of_judgements.log",
    benchmark:
        "results/benchmarks/gather_seconds_of_judgements.tsv"


rule summarise_judgements:
    input:
        "results/cross_testing/forests.csv",
    output:
        "results/tables/cross_testing_forests.csv",
    log:
        "results/logs/summarise_judgements.log",
    benchmark:
        "results/benchmarks/summarise_judgements.tsv"
    params:
        candidates=FORESTS["candidates"],
        alpha=CROSS_TESTING["alpha"],
    script:
        "../scripts/summarise_judgements.py"


use rule plot_metric_behaviour as plot_cross_testing_forests with:
    input:
        "results/tables/cross_testing_forests.csv",
        "results/cross_testing/forests.csv",
    output:
        "results/figures/cross_testing_forests.pdf",
        report(
            "results/figures/cross_testing_forests.png",
            caption="../report/cross_testing_forests.rst",
            category="4 Cross-testing",
            labels={"figure": "forests"},
        ),
    log:
        "results/logs/plot_cross_testing_forests.log",
    benchmark:
        "results/benchmarks/plot_cross_testing_forests.tsv"
    params:
        draw="fairfold.figures.cross_testing_forests:plot_cross_testing_forests",
        options={"alpha": CROSS_TESTING["alpha"]},
