# Labels missing not at random: errors of estimates that assume missing at random, and evidence against the assumption.


rule score_mechanism:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(STUDY, STUDY.folds.n_splits),
    output:
        "results/mechanisms/{dataset}/{mechanism}_wrong-{wrong}.csv",
    log:
        "results/logs/score_mechanism/{dataset}_{mechanism}_{wrong}.log",
    benchmark:
        "results/benchmarks/score_mechanism/{dataset}_{mechanism}_{wrong}.tsv"
    conda:
        "../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        missing_rate=STUDY.weak_labels.mechanisms.missing_rate,
        compared=PLAN.mechanisms.models,
        reference=models.REFERENCE,
        difficulty_by=lambda wildcards: (
            models.difficulty_by([*PLAN.mechanisms.models, models.REFERENCE])
            if wildcards.mechanism == "difficulty"
            else None
        ),
        models={
            model: models.model_settings(STUDY, model, STUDY.weak_labels.mechanisms)
            for model in [*PLAN.mechanisms.models, models.REFERENCE]
        },
        threshold=STUDY.weak_labels.forest.threshold,
        splitter=STUDY.folds.method,
        own=STUDY.models.entries(PLAN.mechanisms.models),
        code_of_models=lambda wildcards: code_of_models(
            [
                *PLAN.mechanisms.models,
                models.REFERENCE,
                *(
                    [models.difficulty_by([*PLAN.mechanisms.models, models.REFERENCE])]
                    if wildcards.mechanism == "difficulty"
                    else []
                ),
            ]
        ),
        code=code_of("score_mechanism"),
    script:
        "../scripts/score_mechanism.py"
