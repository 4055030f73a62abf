# Tables of tables, those of a stage in one job; and what all stages are told about the models


rule describe_models:
    output:
        models="results/tables/models.csv",
        legend="results/legend.csv",
    log:
        "results/logs/describe_models.log",
    localrule: True  # a moment; in a submission, figures of one part would wait for another
    params:
        files=["results/tables/models.csv", "results/legend.csv"],
        steps=[
            step(
                "results/tables/models.csv",
                function="fairfold.models.description:describe_models",
                names=WEAK_LABELS["models"],
                variant=WEAK_LABELS["variant"],
                own=config["models"],
            ),
            step(
                "results/legend.csv",
                function="fairfold.models.legend:legend_table",
                models=study.used_models(config),
                own=config["models"],
            ),
        ],
        # the legend looks at all models
        code=" ".join(
            [
                code_of_models(
                    "tabulate",
                    WEAK_LABELS["models"],
                    "fairfold.models.description:describe_models",
                ),
                code("tabulate", "fairfold.models.legend:legend_table"),
            ]
        ),
    message:
        "Describe the models"
    script:
        "../scripts/tabulate.py"


for stage, steps in STEPS_OF.items():
    made = paths_of(steps, "output")
    read = [path for path in paths_of(steps, "tables") if path not in made]

    rule:
        name:
            f"tabulate_{stage}"
        input:
            [
                WORKFLOW.parent / path if path.startswith("resources/") else path
                for path in read
            ],
        output:
            made,
        log:
            f"results/logs/tabulate_{stage}.log",
        benchmark:
            f"results/benchmarks/tabulate_{stage}.tsv"
        params:
            files=[*read, *made],
            steps=steps,
            code=code(
                "tabulate", *[each["function"] for each in steps if each["function"]]
            ),
        message:
            f"Tables of {stage.replace('_', ' ')}"
        script:
            "../scripts/tabulate.py"
