# Split datasets into folds, compare the evenness of the methods, and estimate the effect on scores.


rule split_dataset:
    input:
        "results/datasets/{dataset}.npz",
        strict_audit_of,
    output:
        folds="results/folds/{dataset}/{splitter}/{n_splits}-folds/repeats-{n_repeats}.npz",
    log:
        "results/logs/split_dataset/{dataset}_{splitter}_{n_splits}_{n_repeats}.log",
    cache: "omit-software"
    priority: 2  # all other jobs wait for data and folds
    conda:
        "../envs/environment.yaml"
    params:
        # The cache identifies jobs by parameters, not by wildcards, so list everything that changes the folds.
        splitter="{splitter}",
        n_repeats="{n_repeats}",
        seed=STUDY.seed,
        n_splits="{n_splits}",
        code=code_of("split_dataset"),
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
    conda:
        "../envs/environment.yaml"
    threads: threads_of_each(len(STUDY.splitting.datasets), most=len(STUDY.splitting.methods))
    params:
        seed=STUDY.seed,
        n_splits=STUDY.folds.n_splits,
        n_repeats=STUDY.splitting.n_repeats,
        splitters=STUDY.splitting.methods,
        code=code_of("compare_splitters"),
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
    conda:
        "../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        n_splits=STUDY.folds.n_splits,
        methods=list(dict.fromkeys(["random", *STUDY.splitting.methods])),
        effort=STUDY.splitting.fold_effect.model_dump(include={"n_halvings", "n_repeats"}),
        code=code_of("estimate_fold_effect"),
    script:
        "../scripts/estimate_fold_effect.py"


rule tabulate_splitting:
    input:
        datasets=expand("results/datasets/{dataset}.npz", dataset=STUDY.splitting.datasets),
        quality=expand(rules.compare_splitters.output.quality, dataset=STUDY.splitting.datasets),
        labels=expand(rules.compare_splitters.output.labels, dataset=STUDY.splitting.datasets),
        seconds=expand(rules.compare_splitters.output.seconds, dataset=STUDY.splitting.datasets),
        effect=expand(rules.estimate_fold_effect.output.summary, dataset=STUDY.splitting.fold_effect.datasets),
        public_code=workflow.source_path("../../resources/published/split_quality.csv"),
        legend=legend_of("splitting"),
    output:
        **figures_of_job("splitting"),
        **{"effect": "results/tables/fold_effect.csv"} if STUDY.splitting.fold_effect.datasets else {},
        **(
            {
                "matrices": "results/tables/label_matrices.csv",
                "patterns": "results/tables/metric_behavior.csv",
                "quality": "results/tables/split_quality.csv",
                "labels": "results/tables/label_deviations.csv",
                "summary": "results/tables/split_summary.csv",
                "seconds": "results/timings/quality_against_seconds.csv",
            }
            if STUDY.splitting.datasets
            else {}
        ),
    log:
        "results/logs/tabulate_splitting.log",
    conda:
        "../envs/environment.yaml"
    params:
        figures=specs_of_figures("splitting"),
        code=code_of("tabulate_splitting"),
    script:
        "../scripts/tabulate_splitting.py"
