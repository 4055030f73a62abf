# Join tables of several jobs, render the pages of the study, and pack its figures.

# Name -> tables with the same columns, which are concatenated.
JOINED = {
    "fold_effect": expand("results/splitting/fold_effect/{dataset}.csv", dataset=FOLD_EFFECT["datasets"]),
    "mechanisms": MECHANISM_PARTS,
    "ecoc/comparison": expand("results/ecoc/comparison/{dataset}.csv", dataset=COMPARED),
    "mlc_comparison": expand("results/mlc_comparison/{dataset}.csv", dataset=MLC["datasets"]),
}
SHOWN = [
    *TABLES,
    *FIGURES,
    *[path for path in FINAL_OF_STUDY if re.search("(_.*[.]csv|columns[.]json)$", path)],
    *[path for path in STUDY_FILES if re.search("(cross_testing/models|recommendation/.*|quality_.*)[.]csv$", path)],
]
# The report, and a page for the parts of papers if the study has some.
PAGES_OF_STUDY = pages_of(CONTENTS, [path.removeprefix("results/") for path in SHOWN], config)


rule render_report:
    input:
        SHOWN,
        config="results/config.yaml",
        legend="results/legend.csv",
    output:
        **{page: f"results/{page}.html" for page in PAGES_OF_STUDY},
    log:
        "results/logs/render_report.log",
    params:
        code=code_of(SCRIPTS / "render_report.py", REPORT),
    script:
        "../scripts/render_report.py"


rule pack_figures:
    input:
        TABLES,
        FIGURES,
        config="results/config.yaml",
    output:
        "results/paper_figures.zip",
    log:
        "results/logs/pack_figures.log",
    params:
        code=code_of(SCRIPTS / "pack_figures.py", REPORT),
    script:
        "../scripts/pack_figures.py"


# A target of its own.
rule publish:
    input:
        lambda wildcards: [*scored("study"), *FINAL_OF_STUDY],
    output:
        "results/publication.zip",
    log:
        "results/logs/publish.log",
    localrule: True  # runs Snakemake to list the jobs of the study
    params:
        settings=config["publish"],
        code=code_of(SCRIPTS / "publish.py", REPORT),
    script:
        "../scripts/publish.py"


rule concat_tables:
    input:
        lambda wildcards: JOINED[wildcards.joined],
    output:
        "results/tables/{joined}.csv",
    log:
        "results/logs/concat_tables/{joined}.log",
    wildcard_constraints:
        # An empty pattern would match every name; "(?!)" matches none.
        joined="|".join(name for name, parts in JOINED.items() if parts) or "(?!)",
    localrule: True  # short; in a submission, the tables of one part would wait for another part
    script:
        "../scripts/concat_tables.py"
