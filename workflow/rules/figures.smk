# Draw the figures of fairfold.figures whose tables the study computes. A job draws the figures of one part.

STUDY_FILES = list(dict.fromkeys(path for files in FILES_OF.values() for path in files))
TABLES = [path for path in STUDY_FILES if re.match(r"results/tables/.*\.csv$", path)]
DRAWN = {
    Path(figure.path).name: figure
    for figure in figures_of(CONTENTS, config, [path.removeprefix("results/") for path in TABLES])
}
FIGURES = [f"results/{figure.path}{suffix}" for figure in DRAWN.values() for suffix in (".pdf", ".png")]
# Parts that draw the figures of their section of the report; `overview` draws those of all other sections.
PARTS_WITH_FIGURES = ("splitting", "cross_testing", "win_percentage", "ecoc", "published")


rule draw_overview:
    input:
        **read_by_figures("overview"),
    output:
        **figures_for("overview"),
    log:
        "results/logs/draw_overview.log",
    params:
        figures=lambda wildcards, output: {name: [DRAWN[name].spec.name, DRAWN[name].options] for name in output.keys()},
    script:
        "../scripts/draw_figures.py"


use rule draw_overview as draw_splitting with:
    input:
        **read_by_figures("splitting"),
    output:
        **figures_for("splitting"),
    log:
        "results/logs/draw_splitting.log",


use rule draw_overview as draw_cross_testing with:
    input:
        **read_by_figures("cross_testing"),
    output:
        **figures_for("cross_testing"),
    log:
        "results/logs/draw_cross_testing.log",


use rule draw_overview as draw_win_percentage with:
    input:
        **read_by_figures("win_percentage"),
    output:
        **figures_for("win_percentage"),
    log:
        "results/logs/draw_win_percentage.log",


use rule draw_overview as draw_ecoc with:
    input:
        **read_by_figures("ecoc"),
    output:
        **figures_for("ecoc"),
    log:
        "results/logs/draw_ecoc.log",


use rule draw_overview as draw_published with:
    input:
        **read_by_figures("published"),
    output:
        **figures_for("published"),
    log:
        "results/logs/draw_published.log",
