# Small jobs that go together as one: all models on a dataset at a missing rate, and all splitters on a dataset

# Whether a dataset has many labels, and so a model of its own by which missing ones are estimated -> what is trained
UNIT_MODELS = {
    False: list(dict.fromkeys([*WEAK_LABELS["models"], study.REFERENCE])),
    True: WEAK_LABELS["models"],
}
UNIT_LEVELS = {
    is_many: [
        name
        for name in dict.fromkeys(study.first_level(config, model) for model in models)
        if name is not None
    ]
    for is_many, models in UNIT_MODELS.items()
}
# All cores for one dataset after the other would leave some idle at the end of each
UNIT_THREADS = threads_of_each(
    len(WEAK_LABELS["datasets"]) * len(WEAK_LABELS["missing_rates"]),
    most=max(map(len, UNIT_MODELS.values())),
)
UNIT_RULES = {False: "score_models", True: "score_models_of_many_labels"}


for is_many, models in UNIT_MODELS.items():

    rule:
        name:
            UNIT_RULES[is_many]
        input:
            dataset="results/datasets/{dataset}.npz",
            folds=FOLDS,
        output:
            rules.mask_labels.output,
            expand(
                rules.grow_first_level.output,
                first_level=UNIT_LEVELS[is_many],
                allow_missing=True,
            ),
            expand(rules.train_model.output, model=models, allow_missing=True),
            rules.train_reference.output if is_many else [],
            rules.estimate_label_frequency.output,
            rules.correct_scores.output,
        log:
            f"results/logs/{UNIT_RULES[is_many]}/{{dataset}}_{{rate}}.log",
        wildcard_constraints:
            dataset="|".join(
                re.escape(dataset)
                for dataset in WEAK_LABELS["datasets"]
                if (dataset in WITH_OWN_REFERENCE) is is_many
            )
            or "none",
            rate="|".join(map(str, WEAK_LABELS["missing_rates"])),
        threads: UNIT_THREADS
        params:
            # the jobs of each stage need those of the ones before
            stages=lambda unit: [
                [piece(rules.mask_labels, unit)],
                [
                    piece(rules.grow_first_level, unit, first_level=name)
                    for name in UNIT_LEVELS[unit.dataset in WITH_OWN_REFERENCE]
                ],
                [
                    piece(rules.train_model, unit, model=model)
                    for model in UNIT_MODELS[unit.dataset in WITH_OWN_REFERENCE]
                ],
                [piece(rules.train_reference, unit)]
                * (unit.dataset in WITH_OWN_REFERENCE),
                [piece(rules.estimate_label_frequency, unit)],
                [piece(rules.correct_scores, unit)],
            ],
        script:
            "../scripts/run_pieces.py"


rule compare_splitters:
    input:
        "results/datasets/{dataset}.npz",
    output:
        expand(
            rules.split_and_time.output,
            splitter=SPLITTING["methods"],
            n_splits=config["folds"]["n_splits"],
            repeats=SPLITTING["repeats"],
            allow_missing=True,
        ),
        rules.measure_split.output,
    log:
        "results/logs/compare_splitters/{dataset}.log",
    threads: threads_of_each(len(SPLITTING["datasets"]), most=len(SPLITTING["methods"]))
    params:
        stages=lambda unit: [
            [
                piece(
                    rules.split_and_time,
                    unit,
                    splitter=splitter,
                    n_splits=config["folds"]["n_splits"],
                    repeats=SPLITTING["repeats"],
                )
                for splitter in SPLITTING["methods"]
            ],
            [piece(rules.measure_split, unit)],
        ],
    script:
        "../scripts/run_pieces.py"


# A profile that says what each of these jobs needs, as that of a cluster does, gets them one by one.
if "train_model" in workflow.resource_settings.overwrite_resources:

    ruleorder: mask_labels > score_models
    ruleorder: grow_first_level > score_models
    ruleorder: train_model > score_models
    ruleorder: estimate_label_frequency > score_models
    ruleorder: correct_scores > score_models
    ruleorder: mask_labels > score_models_of_many_labels
    ruleorder: grow_first_level > score_models_of_many_labels
    ruleorder: train_model > score_models_of_many_labels
    ruleorder: train_reference > score_models_of_many_labels
    ruleorder: estimate_label_frequency > score_models_of_many_labels
    ruleorder: correct_scores > score_models_of_many_labels
    ruleorder: split_and_time > compare_splitters
    ruleorder: measure_split > compare_splitters

else:

    ruleorder: score_models > mask_labels
    ruleorder: score_models > grow_first_level
    ruleorder: score_models > train_model
    ruleorder: score_models > estimate_label_frequency
    ruleorder: score_models > correct_scores
    ruleorder: score_models_of_many_labels > mask_labels
    ruleorder: score_models_of_many_labels > grow_first_level
    ruleorder: score_models_of_many_labels > train_model
    ruleorder: score_models_of_many_labels > train_reference
    ruleorder: score_models_of_many_labels > estimate_label_frequency
    ruleorder: score_models_of_many_labels > correct_scores
    ruleorder: compare_splitters > split_and_time
    ruleorder: compare_splitters > measure_split
