# Folds of a dataset, how even those of different methods are, and what that does to scores

SPLITTING = config["splitting"]
FOLD_EFFECT = SPLITTING["fold_effect"]
RESULTS_OF["splitting"] = [
    *expand(
        "results/tables/{table}.csv",
        table=[
            "label_matrices",
            "split_quality",
            "split_summary",
            "label_deviations",
            "metric_behaviour",
        ],
    )
    * bool(SPLITTING["datasets"]),
    *["results/tables/fold_effect.csv"] * bool(FOLD_EFFECT["datasets"]),
]


rule split_dataset:
    input:
        "results/datasets/{dataset}.npz",
    output:
        folds="results/folds/{dataset}/{splitter}/{n_splits}-folds/repeats-{repeats}.npz",
    log:
        "results/logs/split_dataset/{dataset}_{splitter}_{n_splits}_{repeats}.log",
    cache: "omit-software"
    priority: 2  # all else waits for data and folds
    params:
        # A cache tells jobs apart by their parameters, not by wildcards: all that changes the folds is named here.
        splitter="{splitter}",
        repeats="{repeats}",
        seed=config["seed"],
        n_splits="{n_splits}",
        code=code("split_dataset"),
    message:
        "Folds of {wildcards.dataset} by {wildcards.splitter}"
    script:
        "../scripts/split_dataset.py"


rule compare_splitters:
    input:
        "results/datasets/{dataset}.npz",
    output:
        folds="results/splitting/{dataset}_folds.npz",
        quality="results/splitting/{dataset}.csv",
        labels="results/splitting/{dataset}_labels.csv",
        seconds="results/timings/folds/{dataset}.csv",
    log:
        "results/logs/compare_splitters/{dataset}.log",
    benchmark:
        "results/benchmarks/compare_splitters/{dataset}.tsv"
    threads: threads_of_each(len(SPLITTING["datasets"]), most=len(SPLITTING["methods"]))
    params:
        seed=config["seed"],
        n_splits=config["folds"]["n_splits"],
        repeats=SPLITTING["repeats"],
        splitters=SPLITTING["methods"],
        code=code("compare_splitters"),
    message:
        "Compare splitters on {wildcards.dataset}"
    script:
        "../scripts/compare_splitters.py"


rule describe_labels:
    input:
        expand("results/datasets/{dataset}.npz", dataset=SPLITTING["datasets"]),
    output:
        matrices="results/tables/label_matrices.csv",
        patterns="results/tables/metric_behaviour.csv",
    log:
        "results/logs/describe_labels.log",
    benchmark:
        "results/benchmarks/describe_labels.tsv"
    params:
        code=code("describe_labels"),
    message:
        "Describe the label matrices"
    script:
        "../scripts/describe_labels.py"


rule estimate_fold_effect:
    input:
        "results/datasets/{dataset}.npz",
    output:
        estimates="results/splitting/fold_effect/{dataset}_estimates.csv",
        summary="results/splitting/fold_effect/{dataset}.csv",
    log:
        "results/logs/estimate_fold_effect/{dataset}.log",
    benchmark:
        "results/benchmarks/estimate_fold_effect/{dataset}.tsv"
    params:
        seed=config["seed"],
        n_splits=config["folds"]["n_splits"],
        methods=list(dict.fromkeys(["random", *SPLITTING["methods"]])),
        effort={name: FOLD_EFFECT[name] for name in ("n_halvings", "n_repeats")},
        code=code("estimate_fold_effect"),
    message:
        "What folds do to estimates on {wildcards.dataset}"
    script:
        "../scripts/estimate_fold_effect.py"


rule tabulate_splitting:
    input:
        quality=expand("results/splitting/{dataset}.csv", dataset=SPLITTING["datasets"]),
        labels=expand("results/splitting/{dataset}_labels.csv", dataset=SPLITTING["datasets"]),
        seconds=expand("results/timings/folds/{dataset}.csv", dataset=SPLITTING["datasets"]),
        public_code=workflow.source_path("../../resources/published/split_quality.csv"),
    output:
        quality="results/tables/split_quality.csv",
        labels="results/tables/label_deviations.csv",
        summary="results/tables/split_summary.csv",
        seconds="results/timings/quality_against_seconds.csv",
    log:
        "results/logs/tabulate_splitting.log",
    benchmark:
        "results/benchmarks/tabulate_splitting.tsv"
    params:
        code=code("tabulate_splitting"),
    message:
        "Tables of splitting"
    script:
        "../scripts/tabulate_splitting.py"


rule tabulate_fold_effect:
    input:
        expand(
            "results/splitting/fold_effect/{dataset}.csv",
            dataset=FOLD_EFFECT["datasets"],
        ),
    output:
        "results/tables/fold_effect.csv",
    log:
        "results/logs/tabulate_fold_effect.log",
    benchmark:
        "results/benchmarks/tabulate_fold_effect.tsv"
    params:
        code=code("concat_tables"),
    message:
        "Table of the effect of folds"
    script:
        "../scripts/concat_tables.py"
