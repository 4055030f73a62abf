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
CROSS_TESTING_RESULTS = [
    "results/tables/interpretation.csv",
    *expand("results/figures/cross_testing_{figure}.pdf", figure=CROSS_TESTING_FIGURES),
] * bool(EXPERIMENTS)
# What one job repeats is all that a killed run loses; a chunk is named by its first repetition.
CHUNKS = range(0, CROSS_TESTING["repetitions"], CROSS_TESTING["repetitions_per_job"])


def data_of_experiment(wildcards):
    return f"results/datasets/{EXPERIMENTS[wildcards.experiment]['dataset']}.npz"


def repetitions_of(wildcards):
    first = int(wildcards.first)
    last = min(
        first + CROSS_TESTING["repetitions_per_job"], CROSS_TESTING["repetitions"]
    )
    return [first, last]


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
        repetitions=repetitions_of,
        experiment=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        search=SEARCH,
        code=code_of("evaluation"),
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


rule summarise_cross_testing:
    input:
        repetitions="results/cross_testing/repetitions.csv",
        published=workflow.source_path(
            "../../resources/published/cross_testing_fig4_fig8.csv"
        ),
    output:
        report(
            "results/tables/cross_testing_{figure}.csv",
            caption="../report/cross_testing.rst",
            category="4 Cross-testing",
            labels={"table": "{figure}"},
        ),
    log:
        "results/logs/summarise_cross_testing/{figure}.log",
    params:
        alpha=CROSS_TESTING["alpha"],
        code=code_of("evaluation"),
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
    params:
        draw="cross_testing:plot_cross_testing",
        options={"alpha": CROSS_TESTING["alpha"]},
        code=code_of("figures"),


rule tabulate_interpretation:
    output:
        report(
            "results/tables/interpretation.csv",
            caption="../report/interpretation.rst",
            category="4 Cross-testing",
            labels={"table": "what may be interpreted"},
        ),
    log:
        "results/logs/tabulate_interpretation.log",
    params:
        code=code_of("evaluation"),
    script:
        "../scripts/tabulate_interpretation.py"
