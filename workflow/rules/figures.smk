# Each figure that report/contents.yaml declares, where all of the tables that it reads are made

TABLES = [
    path
    for results in RESULTS_OF.values()
    for path in results
    if re.match(r"results/tables/.*\.csv$", path)
]
DRAWN = figures_of(CONTENTS, config, [path.removeprefix("results/") for path in TABLES])
FIGURES = [f"results/{path}.pdf" for figure in DRAWN for path in figure.paths]
# Stage -> all of its results
ALL_RESULTS_OF = {
    stage: [
        *results,
        *[
            f"results/{path}.pdf"
            for figure in DRAWN
            if figure.section == stage
            for path in figure.paths
        ],
    ]
    for stage, results in RESULTS_OF.items()
}


rule describe_looks:
    output:
        "results/legend.csv",
    log:
        "results/logs/describe_looks.log",
    localrule: True  # a moment; in a submission, figures of one part would wait for another
    params:
        function="fairfold.models.legend:legend_table",
        options={"models": study.used_models(config), "own": config["models"]},
    script:
        "../scripts/tabulate.py"


for figure in DRAWN:

    rule:
        name:
            figure.rule
        input:
            [f"results/{path}" for path in figure.reads],
        output:
            f"results/{figure.path}.pdf",
            report(
                f"results/{figure.path}.png",
                caption=figure.caption and f"../report/{figure.caption}",
                category=figure.category,
                labels={"figure": figure.label},
            ),
        log:
            f"results/logs/{figure.rule}{figure.log}.log",
        benchmark:
            f"results/benchmarks/{figure.rule}{figure.log}.tsv"
        wildcard_constraints:
            each="|".join(map(re.escape, figure.each)) or "none",
        params:
            draw=figure.draw,
            options=figure.options,
        script:
            "../scripts/plot_figure.py"
