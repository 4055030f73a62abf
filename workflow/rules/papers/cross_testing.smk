# Compare nested cross-validation, testing and cross-testing, with permutation tests, in many repetitions; tables.


rule repeat_procedures:
    input:
        lambda wildcards: (f"results/datasets/{STUDY.cross_testing.experiments[wildcards.experiment].dataset}.npz"),
    output:
        "results/cross_testing/{experiment}/from-{first}.csv",
    log:
        "results/logs/repeat_procedures/{experiment}_{first}.log",
    benchmark:
        "results/benchmarks/repeat_procedures/{experiment}_{first}.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        repetitions=numbers_of_job(PLAN.cross_testing.experiments["first"]),
        experiment=lambda wildcards: STUDY.cross_testing.experiments[wildcards.experiment].model_dump(),
        search=STUDY.cross_testing.model_dump(include={"parameters", "n_permutations", "folds"}),
        code=code_of("repeat_procedures"),
    script:
        "../../scripts/repeat_procedures.py"


rule tabulate_cross_testing:
    input:
        repetitions=expand(rules.repeat_procedures.output, **PLAN.cross_testing.experiments),
        published=workflow.source_path("../../../resources/published/cross_testing.csv"),
        choices=expand(rules.cross_test_models.output.scores, **PLAN.cross_testing.choices),
        seconds=expand(rules.cross_test_models.output.seconds, **PLAN.cross_testing.choices),
        legend=legend_of("cross_testing"),
    output:
        **figures_of_job("cross_testing"),
        interpretation="results/tables/interpretation.csv",
        repetitions=["results/cross_testing/repetitions.csv"] if STUDY.cross_testing.experiments else [],
        points=expand("results/tables/cross_testing_{figure}.csv", figure=PLAN.cross_testing.figures),
        models=(
            [
                "results/cross_testing/models.csv",
                "results/timings/cross_testing_models.csv",
                "results/tables/cross_testing_models.csv",
            ]
            if STUDY.cross_testing.models.datasets
            else []
        ),
    log:
        "results/logs/tabulate_cross_testing.log",
    conda:
        "../../envs/environment.yaml"
    params:
        panels=PLAN.cross_testing.figures,
        figures=specs_of_figures("cross_testing"),
        candidates=STUDY.cross_testing.models.candidates,
        alpha=STUDY.cross_testing.alpha,
        code=code_of("tabulate_cross_testing"),
    script:
        "../../scripts/tabulate_cross_testing.py"
