# The report is a file of the workflow like any other: made when something is new, left alone when nothing is.


rule render_tables:
    input:
        TABLES,
    output:
        [page_of(table) for table in TABLES],
    log:
        "results/logs/render_tables.log",
    benchmark:
        "results/benchmarks/render_tables.tsv"
    params:
        # templates, style, captions and contents are read, too
        code=code_of(SCRIPTS / "render_tables.py", PAGES),
    message:
        "Pages of all tables"
    script:
        "../scripts/render_tables.py"


rule render_report:
    input:
        sorted(
            {
                *[path for results in RESULTS_OF.values() for path in results],
                *FIGURES,
                *PICTURES,
                "results/legend.csv",
            }
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
    message:
        "Write the report"
    script:
        "../scripts/render_report.py"


rule pack_figures:
    input:
        FIGURES,
        PICTURES,
        TABLES,
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
    message:
        "Pack the figures"
    script:
        "../scripts/pack_figures.py"
