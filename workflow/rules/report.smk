# The report is a file of the workflow like any other: made when something is new, left alone when nothing is.


rule write_config:
    output:
        "results/config.yaml",
    log:
        "results/logs/write_config.log",
    params:
        config=config,
    script:
        "../scripts/write_config.py"


rule render_report:
    input:
        SPLITTING_RESULTS,
        WEAK_LABEL_RESULTS,
        RANK_STABILITY_RESULTS,
        RECOMMENDATION_RESULTS,
        CROSS_TESTING_RESULTS,
        WIN_PERCENTAGE_RESULTS,
        ECOC_RESULTS,
        config="results/config.yaml",
    output:
        "results/report.html",
    log:
        "results/logs/render_report.log",
    localrule: True
    params:
        python=sys.executable,
        snakefile=workflow.main_snakefile,
    shell:
        "{params.python:q} -m snakemake splitting weak_labels recommendation cross_testing win_percentage ecoc --snakefile {params.snakefile:q} --configfile {input.config}"
        " --workflow-profile none --nolock --report {output} > {log} 2>&1"
