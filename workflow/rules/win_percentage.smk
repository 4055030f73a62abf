# Win percentages of models in random searches over feature sets.


rule evaluate_feature_sets:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(STUDY, STUDY.win_percentage.models.n_splits),
    output:
        "results/win_percentage/models/{dataset}/rate-{rate}/{order}-from-{first}.csv",
    log:
        "results/logs/evaluate_feature_sets/{dataset}_{rate}_{order}_{first}.log",
    benchmark:
        "results/benchmarks/evaluate_feature_sets/{dataset}_{rate}_{order}_{first}.tsv"
    wildcard_constraints:
        order="sets|permuted",
    conda:
        "../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        models={
            model: models.model_settings(STUDY, model, STUDY.win_percentage.models)
            for model in PLAN.win_percentage.models
        },
        threshold=STUDY.weak_labels.forest.threshold,
        set_size=STUDY.win_percentage.models.set_size,
        numbers=lambda wildcards: (
            {"sets": numbers_of_job(PLAN.win_percentage.sets)(wildcards), "permutations": [0, 1]}
            if wildcards.order == "sets"
            else {
                "sets": [0, PLAN.win_percentage.n_permuted_sets],
                "permutations": numbers_of_job(PLAN.win_percentage.permutations)(wildcards),
            }
        ),
        exchange=STUDY.win_percentage.models.exchange,
        own=STUDY.models.entries(PLAN.win_percentage.models),
        code_of_models=code_of_models(PLAN.win_percentage.models),
        code=code_of("evaluate_feature_sets"),
    script:
        "../scripts/evaluate_feature_sets.py"


rule tabulate_model_wins:
    input:
        expand(
            rules.evaluate_feature_sets.output,
            dataset=STUDY.win_percentage.models.datasets,
            rate=STUDY.win_percentage.models.missing_rate,
            order="sets",
            first=PLAN.win_percentage.sets,
        ),
        expand(
            rules.evaluate_feature_sets.output,
            dataset=STUDY.win_percentage.models.datasets,
            rate=STUDY.win_percentage.models.missing_rate,
            order="permuted",
            first=PLAN.win_percentage.permutations,
        ),
    output:
        **(
            {"permutations": "results/tables/win_percentage/model_permutations.csv"}
            if STUDY.win_percentage.models.n_permutations
            else {}
        ),
        wins="results/tables/win_percentage/models.csv",
        sets="results/tables/win_percentage/model_sets.csv",
    log:
        "results/logs/tabulate_model_wins.log",
    conda:
        "../envs/environment.yaml"
    params:
        alpha=STUDY.win_percentage.alpha,
        code=code_of("tabulate_model_wins"),
    script:
        "../scripts/tabulate_model_wins.py"
