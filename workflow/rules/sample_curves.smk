# Learning curves: scores by number of training samples, and a power-law forecast for more samples.


rule score_by_samples:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(STUDY, STUDY.folds.n_splits, n_repeats=STUDY.weak_labels.sample_curves.n_repeats),
    output:
        scores="results/sample_curves/{dataset}/rate-{rate}/{model}.csv",
        curve="results/sample_curves/{dataset}/rate-{rate}/{model}_curve.csv",
    log:
        "results/logs/score_by_samples/{dataset}_{rate}_{model}.log",
    conda:
        "../envs/environment.yaml"
    params:
        curve=models.curve_options(STUDY),
        settings=lambda wildcards: models.model_settings(STUDY, wildcards.model, STUDY.weak_labels.sample_curves),
        own=lambda wildcards: STUDY.models.entries([wildcards.model]),
        code_of_models=lambda wildcards: code_of_models([wildcards.model]),
        code=code_of("score_by_samples"),
    script:
        "../scripts/score_by_samples.py"
