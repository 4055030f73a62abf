# Split datasets into folds, compare the evenness of the methods, and estimate the effect on scores.

SPLITTING = config["splitting"]
FOLD_EFFECT = SPLITTING["fold_effect"]


rule split_dataset:
    input:
        "results/datasets/{dataset}.npz",
        lambda wildcards: STRICT_AUDITS.get(wildcards.dataset, []),
    output:
        folds="results/folds/{dataset}/{splitter}/{n_splits}-folds/repeats-{repeats}.npz",
    log:
        "results/logs/split_dataset/{dataset}_{splitter}_{n_splits}_{repeats}.log",
    cache: "omit-software"
    priority: 2  # all other jobs wait for data and folds
    params:
        # The cache identifies jobs by parameters, not by wildcards, so list everything that changes the folds.
        splitter="{splitter}",
        repeats="{repeats}",
        seed=config["seed"],
        n_splits="{n_splits}",
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
    script:
        "../scripts/compare_splitters.py"


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
    script:
        "../scripts/estimate_fold_effect.py"


rule tabulate_splitting:
    input:
        datasets=expand("results/datasets/{dataset}.npz", dataset=SPLITTING["datasets"]),
        quality=expand(rules.compare_splitters.output.quality, dataset=SPLITTING["datasets"]),
        labels=expand(rules.compare_splitters.output.labels, dataset=SPLITTING["datasets"]),
        seconds=expand(rules.compare_splitters.output.seconds, dataset=SPLITTING["datasets"]),
        public_code=workflow.source_path("../../resources/published/split_quality.csv"),
    output:
        matrices="results/tables/label_matrices.csv",
        patterns="results/tables/metric_behavior.csv",
        quality="results/tables/split_quality.csv",
        labels="results/tables/label_deviations.csv",
        summary="results/tables/split_summary.csv",
        seconds="results/timings/quality_against_seconds.csv",
    log:
        "results/logs/tabulate_splitting.log",
    script:
        "../scripts/tabulate_splitting.py"


FILES_OF["splitting"] = [
    *expand(rules.compare_splitters.output, dataset=SPLITTING["datasets"]),
    *expand(rules.estimate_fold_effect.output, dataset=FOLD_EFFECT["datasets"]),
    *[*rules.tabulate_splitting.output] * bool(SPLITTING["datasets"]),
    *["results/tables/fold_effect.csv"] * bool(FOLD_EFFECT["datasets"]),
]
