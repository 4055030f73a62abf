# Draw the figures of fairfold.figures whose tables the study computes, but for those that are drawn with their tables.


rule draw_figures:
    input:
        dict.fromkeys(
            f"results/{table}" for figure in PLAN.drawn_by("overview").values() for table in figure.reads
        ).keys(),
    output:
        **figures_of_job("overview"),
    log:
        "results/logs/draw_figures.log",
    conda:
        "../envs/environment.yaml"
    params:
        figures=specs_of_figures("overview"),
        code=code_of("draw_figures"),
    script:
        "../scripts/draw_figures.py"
