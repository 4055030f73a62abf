# Draw the figures of fairfold.figures whose tables the study computes. A job draws the figures of one part.


rule draw_overview:
    input:
        **read_by_figures("overview"),
    output:
        **figures_of_job("overview"),
    log:
        "results/logs/draw_overview.log",
    conda:
        "../envs/environment.yaml"
    params:
        figures=lambda wildcards, output: {
            name: [PLAN.figures[name].spec.name, PLAN.figures[name].options] for name in output.keys()
        },
        code=code_of("draw_figures"),
    script:
        "../scripts/draw_figures.py"


use rule draw_overview as draw_splitting with:
    input:
        **read_by_figures("splitting"),
    output:
        **figures_of_job("splitting"),
    log:
        "results/logs/draw_splitting.log",


use rule draw_overview as draw_cross_testing with:
    input:
        **read_by_figures("cross_testing"),
    output:
        **figures_of_job("cross_testing"),
    log:
        "results/logs/draw_cross_testing.log",


use rule draw_overview as draw_win_percentage with:
    input:
        **read_by_figures("win_percentage"),
    output:
        **figures_of_job("win_percentage"),
    log:
        "results/logs/draw_win_percentage.log",


use rule draw_overview as draw_ecoc with:
    input:
        **read_by_figures("ecoc"),
    output:
        **figures_of_job("ecoc"),
    log:
        "results/logs/draw_ecoc.log",


use rule draw_overview as draw_published with:
    input:
        **read_by_figures("published"),
    output:
        **figures_of_job("published"),
    log:
        "results/logs/draw_published.log",
