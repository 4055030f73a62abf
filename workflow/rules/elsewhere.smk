# Scores of the best models on folds of clusters, whose test samples are unlike the training samples.


rule score_elsewhere:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(STUDY, STUDY.folds.n_splits, n_repeats=STUDY.folds.n_repeats),
        leaderboard=rules.recommend_models.output.leaderboard,
        numbers=rules.recommend_models.output.numbers,
        frequency=f"results/weak_labels/{{dataset}}/rate-{PLAN.weak_labels.least}/label_frequency.npz",
    output:
        "results/elsewhere/{dataset}.csv",
    log:
        "results/logs/score_elsewhere/{dataset}.log",
    benchmark:
        "results/benchmarks/score_elsewhere/{dataset}.tsv"
    conda:
        "../envs/environment.yaml"
    threads: threads_of_each(len(STUDY.weak_labels.elsewhere.datasets), most=3)
    resources:
        mem_mb=lambda wildcards, input, threads, attempt: memory_to_request(input.dataset, threads, attempt),
    params:
        seed=STUDY.seed,
        sizes=STUDY.weak_labels.elsewhere.sizes,
        most_models=STUDY.weak_labels.elsewhere.most_models,
        # A user's own files are not inputs, see prepare_dataset.
        predict_on=lambda wildcards: STUDY.weak_labels.elsewhere.predict_on.get(wildcards.dataset),
        version=lambda wildcards: new_table_of(wildcards.dataset),
        n_splits=STUDY.folds.n_splits,
        rate=PLAN.weak_labels.least,
        unit=models.unit_options(STUDY),
        models=[models.model_of_study(STUDY, model) for model in STUDY.weak_labels.models],
        own=STUDY.models.entries(STUDY.weak_labels.models),
        code=code_of("score_elsewhere"),
    script:
        "../scripts/score_elsewhere.py"
