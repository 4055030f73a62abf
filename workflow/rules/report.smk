# The report is a file of the workflow like any other: made when something is new, left alone when nothing is.

from fairfold.report.contents import FOLDER as PAGES  # noqa: E402
from fairfold.report.contents import caption_file, load_contents, owner  # noqa: E402

RESULTS = [
    *DATA_RESULTS,
    *SPLITTING_RESULTS,
    *WEAK_LABEL_RESULTS,
    *RANK_STABILITY_RESULTS,
    *RECOMMENDATION_RESULTS,
    *CROSS_TESTING_RESULTS,
    *WIN_PERCENTAGE_RESULTS,
    *ECOC_RESULTS,
]
TABLES = [
    "results/tables/published.csv",
    *[path for path in RESULTS if re.match(r"results/tables/.*\.csv$", path)],
]
FIGURES = [path for path in RESULTS if path.endswith(".pdf")]
PICTURES = [path.removesuffix("pdf") + "png" for path in FIGURES]
CONTENTS = load_contents()


def page_of(table):
    """The page of a table, in Snakemake's own report under the section that has the table in ours."""
    path = table.removeprefix("results/")
    found = owner(path, CONTENTS)
    caption = caption_file(path, CONTENTS)
    return report(
        table.removesuffix("csv") + "html",
        caption=caption and f"../report/{caption}",
        category=found[0]["title"] if found else "Other results",
        labels={
            "table": found[1]["title"] if found else path,
            "file": Path(path).stem,
        },
    )


rule write_config:
    output:
        "results/config.yaml",
    log:
        "results/logs/write_config.log",
    benchmark:
        "results/benchmarks/write_config.tsv"
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
    script:
        "../scripts/render_tables.py"


rule render_report:
    input:
        sorted({*RESULTS, *PICTURES, *TABLES}),
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
    script:
        "../scripts/pack_figures.py"
