# Estimate the missing rate of each dataset and recommend models.

LEAST = min(WEAK_LABELS["missing_rates"], default=0)
CHECKED = [name for name in WEAK_LABELS["datasets"] if os.path.exists(f"{WEAK_LABELS['checked_cells']}/{name}.csv")]
AS_THEY_ARE = {"dataset": WEAK_LABELS["datasets"], "rate": 0}


rule estimate_label_frequency:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        predictions=predictions_of_reference,
    output:
        reference="results/weak_labels/{dataset}/rate-{rate}/reference.npz",
        missing_rate="results/weak_labels/{dataset}/rate-{rate}/missing_rate.csv",
        frequency="results/weak_labels/{dataset}/rate-{rate}/label_frequency.npz",
    log:
        "results/logs/estimate_label_frequency/{dataset}_{rate}.log",
    resources:
        mem_mb=memory_for,
    params:
        seed=config["seed"],
        unit=UNIT_OPTIONS,
        model=study.model_of_study(config, study.REFERENCE),
        # with many labels, a few represent all
        n_labels=lambda wildcards: study.REFERENCE_LABELS if wildcards.dataset in WITH_OWN_REFERENCE else None,
    script:
        "../scripts/estimate_label_frequency.py"


rule correct_scores:
    input:
        dataset="results/datasets/{dataset}.npz",
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        frequency="results/weak_labels/{dataset}/rate-{rate}/label_frequency.npz",
        predictions=expand(rules.train_and_score.output.predictions, part=PARTS_OF_UNIT, allow_missing=True),
    output:
        folds="results/weak_labels/{dataset}/rate-{rate}/corrected_folds.csv",
        scores="results/weak_labels/{dataset}/rate-{rate}/complete_scores.csv",
        verdicts="results/weak_labels/{dataset}/rate-{rate}/verdicts.csv",
        guessing="results/weak_labels/{dataset}/rate-{rate}/guessing.csv",
    log:
        "results/logs/correct_scores/{dataset}_{rate}.log",
    params:
        seed=config["seed"],
        threshold=WEAK_LABELS["forest"]["threshold"],
        score=WEAK_LABELS["score"],
        splitter=config["folds"]["method"],
        rope=WEAK_LABELS["rope"],
        compared_rate=LEAST,
    script:
        "../scripts/correct_scores.py"


rule score_checked_cells:
    input:
        dataset="results/datasets/{dataset}.npz",
        cells=f"{WEAK_LABELS['checked_cells']}/{{dataset}}.csv",
        predictions=expand(rules.train_and_score.output.predictions, rate=LEAST, part=PARTS_OF_UNIT, allow_missing=True),
    output:
        "results/recommendation/checked/{dataset}.csv",
    log:
        "results/logs/score_checked_cells/{dataset}.log",
    params:
        threshold=WEAK_LABELS["forest"]["threshold"],
        score=WEAK_LABELS["score"],
    script:
        "../scripts/score_checked_cells.py"


rule recommend_models:
    input:
        **{"sample_curves": "results/tables/sample_curves.csv"} if SAMPLE_CURVES["datasets"] else {},
        checked=expand(rules.score_checked_cells.output, dataset=CHECKED),
        missing_rates=expand(rules.estimate_label_frequency.output.missing_rate, **ESTIMATED),
        corrected_folds=expand(rules.correct_scores.output.folds, **UNITS),
        complete_scores=expand(rules.correct_scores.output.scores, **UNITS),
        verdicts=expand(rules.correct_scores.output.verdicts, **UNITS),
        guessing=expand(rules.correct_scores.output.guessing, **UNITS),
        scores="results/tables/weak_label_scores.csv",
        seconds="results/timings/models.csv",
    output:
        missing_rates="results/tables/missing_rates.csv",
        corrected_folds="results/recommendation/corrected_folds.csv",
        complete_scores="results/tables/complete_scores.csv",
        quality="results/tables/correction_quality.csv",
        regret="results/tables/regret.csv",
        choices="results/tables/choices.csv",
        numbers="results/tables/recommendation.csv",
        # these contain run times and memory, which vary between runs
        leaderboard="results/recommendation/leaderboard.csv",
        sentences="results/recommendation/sentences.csv",
    log:
        "results/logs/recommend_models.log",
    params:
        rope=WEAK_LABELS["rope"],
        score=WEAK_LABELS["score"],
        n_repeats=config["folds"]["repeats"],
        hierarchical=HIERARCHICAL["dataset"],
    script:
        "../scripts/recommend_models.py"


rule describe_predictions:
    input:
        dataset="results/datasets/{dataset}.npz",
        predictions=expand(rules.train_and_score.output.predictions, rate=LEAST, part=PARTS_OF_UNIT, allow_missing=True),
        leaderboard=rules.recommend_models.output.leaderboard,
    output:
        labels="results/tables/labels/{dataset}.csv",
        reliability="results/tables/reliability/{dataset}.csv",
        precision_recall="results/tables/precision_recall/{dataset}.csv",
        decisions="results/tables/decisions/{dataset}.csv",
    log:
        "results/logs/describe_predictions/{dataset}.log",
    params:
        seed=config["seed"],
    script:
        "../scripts/describe_predictions.py"


FILES_OF["recommendation"] = [
    *expand(rules.estimate_label_frequency.output, **ESTIMATED),
    *expand(rules.correct_scores.output, **UNITS),
    *rules.recommend_models.output,
    *expand(rules.describe_predictions.output, dataset=WEAK_LABELS["datasets"]),
    rules.describe_datasets.output.sizes,  # shown by `fairfold recommend`
]
