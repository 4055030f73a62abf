# Join tables of several jobs, render the pages of the study, and pack its figures.


rule render_report:
    input:
        PLAN.shown,
        config="results/config.yaml",
        legend="results/legend.csv",
    output:
        **{page: f"results/{page}.html" for page in PLAN.pages},
    log:
        "results/logs/render_report.log",
    conda:
        "../envs/environment.yaml"
    params:
        study=STUDY,
        code=code_of("render_report", "report"),
    script:
        "../scripts/render_report.py"


rule pack_figures:
    input:
        PLAN.tables,
        files_of_figures(PLAN.figures.values()),
        config="results/config.yaml",
    output:
        "results/paper_figures.zip",
    log:
        "results/logs/pack_figures.log",
    conda:
        "../envs/environment.yaml"
    params:
        study=STUDY,
        code=code_of("pack_figures", "report"),
    script:
        "../scripts/pack_figures.py"


rule publish:
    input:
        PLAN.targets["study"].wanted,
    output:
        "results/publication.zip",
    log:
        "results/logs/publish.log",
    localrule: True  # runs Snakemake to list the jobs of the study
    conda:
        "../envs/environment.yaml"
    params:
        settings=STUDY.publish.model_dump(),
        code=code_of("publish", "report"),
    script:
        "../scripts/publish.py"


rule concat_tables:
    input:
        lambda wildcards: PLAN.joined[wildcards.joined],
    output:
        "results/tables/{joined}.csv",
    log:
        "results/logs/concat_tables/{joined}.log",
    wildcard_constraints:
        joined=one_of(name for name, parts in PLAN.joined.items() if parts),
    localrule: True  # short; in a submission, the tables of one part would wait for another part
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("concat_tables"),
    script:
        "../scripts/concat_tables.py"
