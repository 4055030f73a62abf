# Each figure that a module of fairfold.figures declares, where all of the tables that it reads are made

TABLES = [path for results in RESULTS_OF.values() for path in results if re.match(r"results/tables/.*\.csv$", path)]
# Name of the file -> figure
DRAWN = {
    Path(figure.path).name: figure
    for figure in figures_of(CONTENTS, config, [path.removeprefix("results/") for path in TABLES])
}
FIGURES = [f"results/{figure.path}.pdf" for figure in DRAWN.values()]
PICTURES = [f"results/{figure.path}.png" for figure in DRAWN.values()]


rule draw_figure:
    input:
        lambda wildcards: [f"results/{table}" for table in DRAWN[wildcards.figure].reads],
    output:
        "results/{folder}/{figure}.pdf",
        report(
            "results/{folder}/{figure}.png",
            category=lambda wildcards: DRAWN[wildcards.figure].category,
            labels=lambda wildcards: {"figure": DRAWN[wildcards.figure].label},
        ),
    log:
        "results/logs/draw_figure/{folder}/{figure}.log",
    benchmark:
        "results/benchmarks/draw_figure/{folder}/{figure}.tsv"
    wildcard_constraints:
        folder="figures|timings",  # what depends on run times lies apart
        figure="|".join(map(re.escape, DRAWN)) or "none",
    params:
        figure=lambda wildcards: DRAWN[wildcards.figure].spec.name,
        options=lambda wildcards: DRAWN[wildcards.figure].options,
        code=code("draw_figure"),
    message:
        "Draw {wildcards.figure}"
    script:
        "../scripts/draw_figure.py"
