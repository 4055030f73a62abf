# The report is a file of the workflow like any other: made when something is new, left alone when nothing is.

PICTURES = [path.removesuffix("pdf") + "png" for path in FIGURES]
REPORTED = ["results/tables/published.csv", *TABLES]


rule write_config:
    output:
        "results/config.yaml",
    log:
        "results/logs/write_config.log",
    params:
        config=config,
    script:
        "../scripts/write_config.py"


rule compare_published:
    input:
        config="results/config.yaml",
        cross_testing=CROSS_TESTING_POINTS,
        splits=["results/tables/split_summary.csv"] * bool(SPLITTING["datasets"]),
        scores="results/tables/weak_label_scores.csv",
        published_splits=workflow.source_path(
            "../../resources/published/split_quality.csv"
        ),
        published_scores=workflow.source_path(
            "../../resources/published/weak_labels.csv"
        ),
    output:
        "results/tables/published.csv",
    log:
        "results/logs/compare_published.log",
    benchmark:
        "results/benchmarks/compare_published.tsv"
    script:
        "../scripts/compare_published.py"


rule render_tables:
    input:
        REPORTED,
    output:
        [page_of(table) for table in REPORTED],
    log:
        "results/logs/render_tables.log",
    benchmark:
        "results/benchmarks/render_tables.tsv"
    params:
        # templates, style, captions and contents are read, too
        code=code_of(SCRIPTS / "render_tables.py", PAGES),
    script:
        "../scripts/render_tables.py"


rule render_report:
    input:
        sorted(
            {path for results in ALL_RESULTS_OF.values() for path in results}
            | {*PICTURES, *REPORTED, "results/legend.csv"}
        ),
        rules.render_tables.output,
        config="results/config.yaml",
    output:
        "results/report.html",
    log:
        "results/logs/render_report.log",
    benchmark:
        "results/benchmarks/render_report.tsv"
    params:
        # templates, style, captions and contents are read, too
        code=code_of(SCRIPTS / "render_report.py", PAGES),
    script:
        "../scripts/render_report.py"


rule pack_figures:
    input:
        FIGURES,
        PICTURES,
        REPORTED,
        config="results/config.yaml",
    output:
        "results/paper_figures.zip",
    log:
        "results/logs/pack_figures.log",
    benchmark:
        "results/benchmarks/pack_figures.tsv"
    params:
        # templates, style, captions and contents are read, too
        code=code_of(SCRIPTS / "pack_figures.py", PAGES),
    script:
        "../scripts/pack_figures.py"
