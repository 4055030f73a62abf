# What all stages are told about the models


rule describe_models:
    output:
        models="results/tables/models.csv",
        legend="results/legend.csv",
    log:
        "results/logs/describe_models.log",
    localrule: True  # a moment; in a submission, figures of one part would wait for another
    params:
        names=WEAK_LABELS["models"],
        variant=WEAK_LABELS["variant"],
        used=study.used_models(config),
        own=config["models"],
        own_code=own_code(WEAK_LABELS["models"]),
        code=code("describe_models"),
    message:
        "Describe the models"
    script:
        "../scripts/describe_models.py"
