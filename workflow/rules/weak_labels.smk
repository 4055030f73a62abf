# Hide labels, train models, score them on all measured labels, and rank them.


rule train_and_score:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(STUDY, STUDY.folds.n_splits, n_repeats=STUDY.folds.n_repeats),
    output:
        scores="results/weak_labels/{dataset}/rate-{rate}/scores_{part}.csv",
        imputation="results/weak_labels/{dataset}/rate-{rate}/imputation_{part}.csv",
        predictions="results/weak_labels/{dataset}/rate-{rate}/predictions_{part}.npz",
        seconds="results/timings/models/{dataset}_{rate}_{part}.csv",
    log:
        "results/logs/train_and_score/{dataset}_{rate}_{part}.log",
    benchmark:
        "results/benchmarks/train_and_score/{dataset}_{rate}_{part}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: threads_of_each(PLAN.weak_labels.n_jobs, most=PLAN.weak_labels.models_per_job)
    resources:
        mem_mb=lambda wildcards, input, threads, attempt: memory_to_request(
            input.dataset, min(threads, PLAN.weak_labels.models_per_job), attempt
        ),
    params:
        seed=STUDY.seed,
        unit=models.unit_options(STUDY),
        models=lambda wildcards: [
            models.model_of_study(STUDY, model) for model in PLAN.weak_labels.models_of_part[int(wildcards.part)]
        ],
        own=lambda wildcards: STUDY.models.entries(PLAN.weak_labels.models_of_part[int(wildcards.part)]),
        code=code_of("train_and_score"),
    script:
        "../scripts/train_and_score.py"


rule score_hierarchies:
    input:
        datasets=expand("results/datasets/{dataset}.npz", dataset=PLAN.weak_labels.hierarchical),
        predictions=expand(
            rules.train_and_score.output.predictions,
            dataset=PLAN.weak_labels.hierarchical,
            rate=STUDY.weak_labels.missing_rates,
            part=PLAN.weak_labels.parts,
        ),
    output:
        scores="results/tables/hierarchical_scores.csv",
        summary="results/tables/hierarchical_summary.csv",
    log:
        "results/logs/score_hierarchies.log",
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("score_hierarchies"),
    script:
        "../scripts/score_hierarchies.py"


rule score_many_labels:
    input:
        datasets=expand("results/datasets/{dataset}.npz", dataset=PLAN.weak_labels.many),
        hidden=expand(
            "results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
            dataset=PLAN.weak_labels.many,
            rate=STUDY.weak_labels.missing_rates,
        ),
        predictions=expand(
            rules.train_and_score.output.predictions,
            dataset=PLAN.weak_labels.many,
            rate=STUDY.weak_labels.missing_rates,
            part=PLAN.weak_labels.parts,
        ),
    output:
        at_k="results/tables/scores_at_k.csv",
        by_frequency="results/tables/scores_by_frequency.csv",
        at_k_summary="results/tables/scores_at_k_summary.csv",
        by_frequency_summary="results/tables/scores_by_frequency_summary.csv",
    log:
        "results/logs/score_many_labels.log",
    benchmark:
        "results/benchmarks/score_many_labels.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        options=STUDY.weak_labels.many_labels.model_dump(include={"bands", "propensity"}),
        code=code_of("score_many_labels"),
    script:
        "../scripts/score_many_labels.py"
