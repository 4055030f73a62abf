# Folds of a dataset, and how even the folds of different methods are

SPLITTING = config["splitting"]
FOLD_EFFECT = SPLITTING["fold_effect"]
SPLITTING_RESULTS = [
    *expand(
        "results/tables/{table}.csv",
        table=[
            "label_matrices",
            "split_quality",
            "split_summary",
            "label_deviations",
            "metric_behaviour",
        ],
    ),
    *expand(
        "results/figures/{figure}.pdf",
        figure=["metric_behaviour", "label_deviations"],
    ),
    "results/timings/quality_against_seconds.pdf",
] * bool(SPLITTING["datasets"]) + [
    "results/tables/fold_effect.csv",
    "results/figures/fold_effect.pdf",
] * bool(
    FOLD_EFFECT["datasets"]
)


rule split_dataset:
    input:
        "results/datasets/{dataset}.npz",
    output:
        folds="results/folds/{dataset}/{splitter}/repeats-{repeats}.npz",
    log:
        "results/logs/split_dataset/{dataset}_{splitter}_{repeats}.log",
    cache: "omit-software"
    params:
        # A cache tells jobs apart by their parameters, not by wildcards: all that changes the folds is named here.
        splitter="{splitter}",
        repeats="{repeats}",
        seed=config["seed"],
        n_splits=config["folds"]["n_splits"],
    script:
        "../scripts/split_dataset.py"


# Folds whose making is timed are made here and now: seconds from a cache would be those of another machine.
use rule split_dataset as split_and_time with:
    output:
        folds="results/splitting/folds/{dataset}/{splitter}/repeats-{repeats}.npz",
        seconds="results/timings/folds/{dataset}_{splitter}_{repeats}.csv",
    log:
        "results/logs/split_and_time/{dataset}_{splitter}_{repeats}.log",
    benchmark:
        "results/benchmarks/split_and_time/{dataset}_{splitter}_{repeats}.tsv"
    cache: False


rule measure_split:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=expand(
            "results/splitting/folds/{{dataset}}/{splitter}/repeats-{repeats}.npz",
            splitter=SPLITTING["methods"],
            repeats=SPLITTING["repeats"],
        ),
    output:
        quality="results/splitting/{dataset}.csv",
        labels="results/splitting/{dataset}_labels.csv",
    log:
        "results/logs/measure_split/{dataset}.log",
    benchmark:
        "results/benchmarks/measure_split/{dataset}.tsv"
    params:
        splitters=SPLITTING["methods"],
    script:
        "../scripts/measure_split.py"


rule gather_split_quality:
    input:
        expand("results/splitting/{dataset}.csv", dataset=SPLITTING["datasets"]),
    output:
        "results/tables/split_quality.csv",
    log:
        "results/logs/gather_split_quality.log",
    benchmark:
        "results/benchmarks/gather_split_quality.tsv"
    script:
        "../scripts/gather_tables.py"


rule gather_label_deviations:
    input:
        expand("results/splitting/{dataset}_labels.csv", dataset=SPLITTING["datasets"]),
    output:
        "results/tables/label_deviations.csv",
    log:
        "results/logs/gather_label_deviations.log",
    benchmark:
        "results/benchmarks/gather_label_deviations.tsv"
    script:
        "../scripts/gather_tables.py"


rule summarise_splits:
    input:
        "results/tables/split_quality.csv",
        workflow.source_path("../../resources/published/split_quality.csv"),
    output:
        "results/tables/split_summary.csv",
    log:
        "results/logs/summarise_splits.log",
    benchmark:
        "results/benchmarks/summarise_splits.tsv"
    script:
        "../scripts/summarise_splits.py"


rule describe_labels:
    input:
        expand("results/datasets/{dataset}.npz", dataset=SPLITTING["datasets"]),
    output:
        "results/tables/label_matrices.csv",
    log:
        "results/logs/describe_labels.log",
    benchmark:
        "results/benchmarks/describe_labels.tsv"
    script:
        "../scripts/describe_labels.py"


rule measure_metric_behaviour:
    output:
        "results/tables/metric_behaviour.csv",
    log:
        "results/logs/measure_metric_behaviour.log",
    benchmark:
        "results/benchmarks/measure_metric_behaviour.tsv"
    script:
        "../scripts/measure_metric_behaviour.py"


rule time_splits:
    input:
        summary="results/tables/split_summary.csv",
        seconds=expand(
            "results/timings/folds/{dataset}_{splitter}_{repeats}.csv",
            dataset=SPLITTING["datasets"],
            splitter=SPLITTING["methods"],
            repeats=SPLITTING["repeats"],
        ),
    output:
        "results/timings/quality_against_seconds.csv",
    log:
        "results/logs/time_splits.log",
    benchmark:
        "results/benchmarks/time_splits.tsv"
    script:
        "../scripts/time_splits.py"


rule plot_metric_behaviour:
    input:
        "results/tables/metric_behaviour.csv",
    output:
        "results/figures/metric_behaviour.pdf",
        report(
            "results/figures/metric_behaviour.png",
            caption="../report/metric_behaviour.rst",
            category="2 Balanced folds",
            labels={"figure": "behaviour of the measures"},
        ),
    log:
        "results/logs/plot_metric_behaviour.log",
    benchmark:
        "results/benchmarks/plot_metric_behaviour.tsv"
    params:
        draw="fairfold.figures.splitting:plot_metric_behaviour",
    script:
        "../scripts/plot_table.py"


use rule plot_metric_behaviour as plot_label_deviations with:
    input:
        "results/tables/label_deviations.csv",
    output:
        "results/figures/label_deviations.pdf",
        report(
            "results/figures/label_deviations.png",
            caption="../report/label_deviations.rst",
            category="2 Balanced folds",
            labels={"figure": "deviation of each label"},
        ),
    log:
        "results/logs/plot_label_deviations.log",
    benchmark:
        "results/benchmarks/plot_label_deviations.tsv"
    params:
        draw="fairfold.figures.splitting:plot_label_deviations",


use rule plot_metric_behaviour as plot_quality_against_seconds with:
    input:
        "results/timings/quality_against_seconds.csv",
    output:
        "results/timings/quality_against_seconds.pdf",
        report(
            "results/timings/quality_against_seconds.png",
            caption="../report/quality_against_seconds.rst",
            category="2 Balanced folds",
            labels={"figure": "quality against seconds"},
        ),
    log:
        "results/logs/plot_quality_against_seconds.log",
    benchmark:
        "results/benchmarks/plot_quality_against_seconds.tsv"
    params:
        draw="fairfold.figures.splitting:plot_quality_against_seconds",


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
        methods=sorted({"random", *SPLITTING["methods"]}, key=METHOD_NAMES.index),
        effort={name: FOLD_EFFECT[name] for name in ("n_halvings", "n_repeats")},
    script:
        "../scripts/estimate_fold_effect.py"


rule gather_fold_effect:
    input:
        expand(
            "results/splitting/fold_effect/{dataset}.csv",
            dataset=FOLD_EFFECT["datasets"],
        ),
    output:
        "results/tables/fold_effect.csv",
    log:
        "results/logs/gather_fold_effect.log",
    benchmark:
        "results/benchmarks/gather_fold_effect.tsv"
    script:
        "../scripts/gather_tables.py"


use rule plot_metric_behaviour as plot_fold_effect with:
    input:
        "results/tables/fold_effect.csv",
    output:
        "results/figures/fold_effect.pdf",
        report(
            "results/figures/fold_effect.png",
            caption="../report/fold_effect.rst",
            category="2 Balanced folds",
            labels={"figure": "what folds do to scores"},
        ),
    log:
        "results/logs/plot_fold_effect.log",
    benchmark:
        "results/benchmarks/plot_fold_effect.tsv"
    params:
        draw="fairfold.figures.fold_effect:plot_fold_effect",
        options={"n_halvings": FOLD_EFFECT["n_halvings"]},
