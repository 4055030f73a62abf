# One job for all steps of a small dataset up to corrected scores, because each step takes less time than its start.


ruleorder: compare_models > train_and_score > correct_scores > score_by_samples > split_dataset


rule compare_models:
    input:
        strict_audit_of,
        dataset="results/datasets/{dataset}.npz",
    output:
        **{
            f"corrected_{name}": expand(path, rate=PLAN.weak_labels.estimated["rate"], allow_missing=True)
            for name, path in rules.correct_scores.output.items()
        },
        **{
            name: expand(path, rate=STUDY.weak_labels.missing_rates, part=0, allow_missing=True)
            for name, path in rules.train_and_score.output.items()
        },
        folds=folds_of(STUDY, STUDY.folds.n_splits, n_repeats=STUDY.folds.n_repeats),
        curve_scores=expand(
            rules.score_by_samples.output.scores,
            rate=STUDY.weak_labels.sample_curves.missing_rate,
            model=PLAN.sample_curves.of_small,
            allow_missing=True,
        ),
        curves=expand(
            rules.score_by_samples.output.curve,
            rate=STUDY.weak_labels.sample_curves.missing_rate,
            model=PLAN.sample_curves.of_small,
            allow_missing=True,
        ),
    log:
        "results/logs/compare_models/{dataset}.log",
    benchmark:
        "results/benchmarks/compare_models/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.weak_labels.small),
    priority: 1  # start the longest jobs early
    conda:
        "../envs/environment.yaml"
    # A process takes as long to start as some models to train.
    threads: threads_of_each(PLAN.weak_labels.n_jobs, most=max(len(STUDY.weak_labels.models) // 3, 1))
    resources:
        mem_mb=lambda wildcards, input, threads, attempt: memory_to_request(input.dataset, threads, attempt),
    params:
        seed=STUDY.seed,
        folds={"splitter": STUDY.folds.method, "n_splits": STUDY.folds.n_splits, "n_repeats": STUDY.folds.n_repeats},
        rates=PLAN.weak_labels.estimated["rate"],
        trained=STUDY.weak_labels.missing_rates,
        unit=models.unit_options(STUDY),
        models=[models.model_of_study(STUDY, model) for model in STUDY.weak_labels.models],
        correction=models.correction_options(STUDY),
        n_labels=rules.correct_scores.params.n_labels,
        curves={
            model: models.model_settings(STUDY, model, STUDY.weak_labels.sample_curves)
            for model in PLAN.sample_curves.of_small
        },
        curve=models.curve_options(STUDY),
        curve_rate=STUDY.weak_labels.sample_curves.missing_rate,
        own=STUDY.models.entries([*STUDY.weak_labels.models, *PLAN.sample_curves.models]),
        code_of_models=code_of_models([*STUDY.weak_labels.models, *PLAN.sample_curves.models]),
        code=code_of("compare_models"),
    script:
        "../scripts/compare_models.py"
