# Small jobs that go together as one, such as all models on a dataset at a missing rate, or all splitters on a dataset

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

UNIT_ORDER = study.longest_first(config, CATALOG)
# All together they count no more than one of the long jobs for which nothing but tables waits
UNIT_PRIORITY = {
    unit: round((1 - place / len(UNIT_ORDER)) / len(UNIT_ORDER), 6)
    for place, unit in enumerate(UNIT_ORDER)
}


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
        priority: lambda unit: UNIT_PRIORITY[unit.dataset, int(unit.rate)]
        threads: UNIT_THREADS
        params:
            # the jobs of each stage need those of the ones before
            stages=lambda unit: [
                [piece(rules.mask_labels, unit)],
                *training_stages(
                    unit,
                    UNIT_LEVELS[unit.dataset in WITH_OWN_REFERENCE],
                    UNIT_MODELS[unit.dataset in WITH_OWN_REFERENCE],
                ),
                [piece(rules.train_reference, unit)]
                * (unit.dataset in WITH_OWN_REFERENCE),
                [piece(rules.estimate_label_frequency, unit)],
                [piece(rules.correct_scores, unit)],
            ],
        message:
            "Train and score on {wildcards.dataset}, {wildcards.rate} % hidden"
        script:
            "../scripts/run_pieces.py"


ruleorder: score_models > mask_labels > grow_first_level > train_model
ruleorder: score_models > estimate_label_frequency > correct_scores
ruleorder: score_models_of_many_labels > mask_labels > grow_first_level > train_model
ruleorder: score_models_of_many_labels > train_reference > estimate_label_frequency
ruleorder: score_models_of_many_labels > correct_scores


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
    message:
        "Compare splitters on {wildcards.dataset}"
    script:
        "../scripts/run_pieces.py"


ruleorder: compare_splitters > split_and_time > measure_split


# What large studies do part by part is one job where it has one part
SEARCH_IS_WHOLE = (
    WIN_PERCENTAGE["jobs_per_dataset"] == 1
    and WIN_PERCENTAGE["n_permutations"] <= WIN_PERCENTAGE["permutations_per_job"]
)
SETS_ARE_WHOLE = (
    MODEL_SETS["n_sets"] <= MODEL_SETS["sets_per_job"]
    and MODEL_SETS["n_permutations"] <= MODEL_SETS["permutations_per_job"]
)
RANKS_ARE_WHOLE = (
    STABILITY["repeats"] <= STABILITY["repeats_per_job"]
    and len(STABILITY["missing_rates"]) == 1
)
EXPERIMENTS_ARE_WHOLE = (
    CROSS_TESTING["repetitions"] <= CROSS_TESTING["repetitions_per_job"]
)
CHOICES_ARE_WHOLE = CHOSEN_FROM["repetitions"] <= CHOSEN_FROM["repetitions_per_job"]
PERMUTED_PAIRS = [0] * bool(WIN_PERCENTAGE["n_permutations"])
PERMUTED_SETS = [1] * bool(MODEL_SETS["n_permutations"])
SMALL_EXAMPLES = [name for name in ECOC_EXAMPLES if name != "arrhythmia"]
WITH_MAP = [name for name in SMALL_EXAMPLES if name == "posterior"]


if SEARCH_IS_WHOLE:

    rule search_pairs:
        input:
            "results/datasets/{dataset}.npz",
        output:
            expand(rules.evaluate_pairs.output, part=0, allow_missing=True),
            expand(rules.permute_pairs.output, first=PERMUTED_PAIRS, allow_missing=True),
            rules.gather_pairs.output,
            rules.reevaluate_pairs.output,
        log:
            "results/logs/search_pairs/{dataset}.log",
        threads: threads_of_each(len(PAIRS_OF) + len(SETS_OF), most=2)
        params:
            stages=lambda unit: [
                [
                    piece(rules.evaluate_pairs, unit, part=0),
                    *[
                        piece(rules.permute_pairs, unit, first=first)
                        for first in PERMUTED_PAIRS
                    ],
                ],
                [piece(rules.gather_pairs, unit)],
                [piece(rules.reevaluate_pairs, unit)],
            ],
        message:
            "Pairs of features of {wildcards.dataset}"
        script:
            "../scripts/run_pieces.py"

    ruleorder: search_pairs > evaluate_pairs > permute_pairs > gather_pairs
    ruleorder: search_pairs > reevaluate_pairs


if SETS_ARE_WHOLE:

    rule search_feature_sets:
        input:
            dataset="results/datasets/{dataset}.npz",
            folds=folds_of(MODEL_SETS["n_splits"]),
        output:
            rules.mask_labels_for_feature_sets.output,
            expand(rules.evaluate_feature_sets.output, first=0, allow_missing=True),
            expand(
                rules.permute_feature_sets.output,
                first=PERMUTED_SETS,
                allow_missing=True,
            ),
        log:
            "results/logs/search_feature_sets/{dataset}_{rate}.log",
        priority: 1  # longest of what nothing but tables waits for: begun last, it would end alone
        threads: threads_of_each(len(PAIRS_OF) + len(SETS_OF), most=2)
        params:
            stages=lambda unit: [
                [piece(rules.mask_labels_for_feature_sets, unit)],
                [
                    piece(rules.evaluate_feature_sets, unit, first=0),
                    *[
                        piece(rules.permute_feature_sets, unit, first=first)
                        for first in PERMUTED_SETS
                    ],
                ],
            ],
        message:
            "Sets of features of {wildcards.dataset}, {wildcards.rate} % hidden"
        script:
            "../scripts/run_pieces.py"

    ruleorder: search_feature_sets > mask_labels_for_feature_sets
    ruleorder: search_feature_sets > evaluate_feature_sets > permute_feature_sets


if RANKS_ARE_WHOLE:

    rule rank_models:
        input:
            "results/datasets/{dataset}.npz",
        output:
            expand(
                rules.split_dataset.output,
                splitter=STABILITY["splitters"],
                n_splits=config["folds"]["n_splits"],
                repeats=STABILITY["repeats"],
                allow_missing=True,
            ),
            expand(
                rules.repeat_weak_labels.output,
                rate=STABILITY["missing_rates"],
                splitter=STABILITY["splitters"],
                first=0,
                allow_missing=True,
            ),
        log:
            "results/logs/rank_models/{dataset}.log",
        wildcard_constraints:
            dataset="|".join(map(re.escape, STABILITY["datasets"])) or "none",
        priority: 1  # begun last, it would end alone, and figures wait for it
        threads:
            threads_of_each(
                len(STABILITY["datasets"]) * len(STABILITY["splitters"]),
                most=len(STABILITY["splitters"]),
            )
        params:
            stages=lambda unit: [
                [
                    piece(
                        rules.split_dataset,
                        unit,
                        splitter=splitter,
                        n_splits=config["folds"]["n_splits"],
                        repeats=STABILITY["repeats"],
                    )
                    for splitter in STABILITY["splitters"]
                ],
                [
                    piece(
                        rules.repeat_weak_labels,
                        unit,
                        rate=rate,
                        splitter=splitter,
                        first=0,
                    )
                    for rate in STABILITY["missing_rates"]
                    for splitter in STABILITY["splitters"]
                ],
            ],
        message:
            "Ranks on {wildcards.dataset} with folds of each splitter"
        script:
            "../scripts/run_pieces.py"

    ruleorder: rank_models > split_dataset
    ruleorder: rank_models > repeat_weak_labels


if EXPERIMENTS_ARE_WHOLE:

    rule repeat_experiments:
        input:
            [
                f"results/datasets/{dataset}.npz"
                for dataset in dict.fromkeys(
                    each["dataset"] for each in EXPERIMENTS.values()
                )
            ],
        output:
            expand(rules.repeat_procedures.output, experiment=EXPERIMENTS, first=0),
        log:
            "results/logs/repeat_experiments.log",
        threads: threads_of_each(len(EXPERIMENTS), most=len(EXPERIMENTS))
        params:
            stages=lambda unit: [
                [
                    piece(
                        rules.repeat_procedures, unit, experiment=experiment, first=0
                    )
                    for experiment in EXPERIMENTS
                ]
            ],
        message:
            f"Cross-testing of {', '.join(EXPERIMENTS)}"
        script:
            "../scripts/run_pieces.py"

    ruleorder: repeat_experiments > repeat_procedures


if CHOICES_ARE_WHOLE:

    rule choose_models:
        input:
            expand("results/datasets/{dataset}.npz", dataset=CHOSEN_FROM["datasets"]),
        output:
            expand(
                rules.cross_test_models.output,
                dataset=CHOSEN_FROM["datasets"],
                first=0,
            ),
        log:
            "results/logs/choose_models.log",
        priority: rules.cross_test_models.rule.priority
        threads: threads_of_each(len(CHOSEN_FROM["datasets"]), most=len(CHOSEN_FROM["datasets"]))
        params:
            stages=lambda unit: [
                [
                    piece(rules.cross_test_models, unit, dataset=dataset, first=0)
                    for dataset in CHOSEN_FROM["datasets"]
                ]
            ],
        message:
            f"Cross-testing of forests on {', '.join(CHOSEN_FROM['datasets'])}"
        script:
            "../scripts/run_pieces.py"

    ruleorder: choose_models > cross_test_models


rule run_examples:
    input:
        lambda _: [
            f"results/datasets/{dataset}.npz"
            for dataset in dict.fromkeys(
                [*map(study.EXAMPLE_DATASETS.get, SMALL_EXAMPLES), *COMPARED]
            )
        ],
    output:
        expand(rules.predict_ecoc.output, example=SMALL_EXAMPLES),
        expand(rules.map_posteriors.output, example=WITH_MAP),
        expand(rules.compare_codes.output, dataset=COMPARED),
    log:
        "results/logs/run_examples.log",
    priority: 1  # nothing but tables waits for it: begun last, it would end alone
    threads:
        threads_of_each(
            len(SMALL_EXAMPLES) + len(COMPARED),
            most=len(SMALL_EXAMPLES) + len(COMPARED),
        )
    params:
        stages=lambda unit: [
            [
                *[
                    piece(rules.map_posteriors, unit, example=name)
                    for name in WITH_MAP
                ],
                *[
                    piece(rules.predict_ecoc, unit, example=name)
                    for name in SMALL_EXAMPLES
                ],
                *[
                    piece(rules.compare_codes, unit, dataset=dataset)
                    for dataset in COMPARED
                ],
            ]
        ],
    message:
        "Codes, small examples and comparison"
    script:
        "../scripts/run_pieces.py"


ruleorder: run_examples > predict_ecoc > map_posteriors
ruleorder: run_examples > compare_codes
