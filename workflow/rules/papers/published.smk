# Compare published numbers with the results of this study.

from fairfold.papers.published.comparison import COMPARISONS, OUR_TABLES


rule compare_published:
    input:
        **{name: f"results/{path}" for name, path in OUR_TABLES.items() if f"results/{path}" in PLAN.files},
        **{
            f"published_{name}": workflow.source_path(f"../../../resources/published/{name}.csv")
            for name in COMPARISONS
        },
        cross_testing=rules.tabulate_cross_testing.output.points,
        ecoc_values=[
            f"results/ecoc/{example}/values.csv"
            for example in STUDY.ecoc.examples
            if example in ("custom-loss", "posterior")
        ],
        config="results/config.yaml",
    output:
        **figures_of_job("published"),
        table="results/tables/published.csv",
    log:
        "results/logs/compare_published.log",
    conda:
        "../../envs/environment.yaml"
    params:
        study=STUDY,
        figures=specs_of_figures("published"),
        code=code_of("compare_published"),
    script:
        "../../scripts/compare_published.py"
