# The figures that report/contents.yaml declares, where all of the tables that they read are made; those of a stage in one job

TABLES = [
    path
    for results in RESULTS_OF.values()
    for path in results
    if re.match(r"results/tables/.*\.csv$", path)
]
DRAWN = figures_of(CONTENTS, config, [path.removeprefix("results/") for path in TABLES])
FIGURES = [f"results/{figure.path}.pdf" for figure in DRAWN]
PICTURES = [f"results/{figure.path}.png" for figure in DRAWN]
# Figures of a section are drawn side by side where neither another section with many nor the recommendation, which is
# made meanwhile, waits for the cores.
MANY_FIGURES = 3
N_OF_SECTIONS = [
    sum(figure.section == section for figure in DRAWN)
    for section in {figure.section for figure in DRAWN}
]
THREADS_OF_FIGURES = {
    True: threads_of_each(1 + sum(n > MANY_FIGURES for n in N_OF_SECTIONS), most=4),
    False: 1,
}


for section in dict.fromkeys(figure.section for figure in DRAWN):
    drawn = [figure for figure in DRAWN if figure.section == section]
    read = sorted({f"results/{table}" for figure in drawn for table in figure.reads})

    rule:
        name:
            f"draw_{section}"
        input:
            read,
        output:
            [f"results/{figure.path}.pdf" for figure in drawn],
            [
                report(
                    f"results/{figure.path}.png",
                    caption=figure.caption and f"../report/{figure.caption}",
                    category=figure.category,
                    labels={"figure": figure.label},
                )
                for figure in drawn
            ],
        log:
            f"results/logs/draw_{section}.log",
        benchmark:
            f"results/benchmarks/draw_{section}.tsv"
        priority: int(len(drawn) > MANY_FIGURES)  # the longest of what the report waits for
        threads: THREADS_OF_FIGURES[len(drawn) > MANY_FIGURES]
        params:
            files=[
                *read,
                *[
                    f"results/{figure.path}.{kind}"
                    for kind in ("pdf", "png")
                    for figure in drawn
                ],
            ],
            figures=[
                {
                    "draw": figure.draw,
                    "tables": [f"results/{table}" for table in figure.reads],
                    "options": figure.options,
                    "paths": [
                        f"results/{figure.path}.{kind}" for kind in ("pdf", "png")
                    ],
                }
                for figure in drawn
            ],
            code=code("draw_figures", *{figure.draw: None for figure in drawn}),
        message:
            f"Figures of {section.replace('_', ' ')}"
        script:
            "../scripts/draw_figures.py"
