# Last job of a target. It fails in each run if no model could be scored on some dataset.


rule check_scores:
    input:
        lambda wildcards: PLAN.targets[wildcards.target].files,  # makes this job the last one
        tables=lambda wildcards: sum(PLAN.targets[wildcards.target].scores.values(), []),
    output:
        touch("results/scored/{target}.done"),
    log:
        "results/logs/check_scores/{target}.log",
    wildcard_constraints:
        target=one_of(PLAN.targets),
    retries: 0
    localrule: True  # short, and the profile of a cluster would retry it
    conda:
        "../envs/environment.yaml"
    params:
        parts=lambda wildcards: [part for part, tables in PLAN.targets[wildcards.target].scores.items() for _ in tables],
        code=code_of("check_scores"),
    script:
        "../scripts/check_scores.py"
