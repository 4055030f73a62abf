# Estimate the missing rate of each dataset and recommend models.

LEAST = min(WEAK_LABELS["missing_rates"], default=0)
CHECKED = [name for name in WEAK_LABELS["datasets"] if os.path.exists(f"{WEAK_LABELS['checked_cells']}/{name}.csv")]
AS_THEY_ARE = {"dataset": WEAK_LABELS["datasets"], "rate": 0}
CORRECTION = {
    "reference": study.model_of_study(config, study.REFERENCE),
    "splitter": config["folds"]["method"],
    "rope": WEAK_LABELS["rope"],
    "compared_rate": LEAST,
}
UNITS_AS_OBSERVED = {**UNITS, "rate": LEAST}


rule correct_scores:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=FOLDS,
        predictions=predictions_of_unit,
    output:
        hidden="results/weak_labels/{dataset}/rate-{rate}/hidden.npz",
        reference="results/weak_labels/{dataset}/rate-{rate}/reference.npz",
        missing_rate="results/weak_labels/{dataset}/rate-{rate}/missing_rate.csv",
        frequency="results/weak_labels/{dataset}/rate-{rate}/label_frequency.npz",
        folds="results/weak_labels/{dataset}/rate-{rate}/corrected_folds.csv",
        scores="results/weak_labels/{dataset}/rate-{rate}/complete_scores.csv",
        verdicts="results/weak_labels/{dataset}/rate-{rate}/verdicts.csv",
        guessing="results/weak_labels/{dataset}/rate-{rate}/guessing.csv",
        tests="results/weak_labels/{dataset}/rate-{rate}/scar_tests.csv",
    log:
        "results/logs/correct_scores/{dataset}_{rate}.log",
    resources:
        mem_mb=memory_for,
    params:
        seed=config["seed"],
        unit=UNIT_OPTIONS,
        # with many labels, a few represent all
        n_labels=lambda wildcards: study.REFERENCE_LABELS if wildcards.dataset in WITH_OWN_REFERENCE else None,
        correction=CORRECTION,
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
        datasets=expand("results/datasets/{dataset}.npz", dataset=WEAK_LABELS["datasets"]),
        trained=expand(rules.train_and_score.output.scores, **UNITS, part=PARTS_OF_UNIT),
        seconds=expand(rules.train_and_score.output.seconds, **UNITS, part=PARTS_OF_UNIT),
        imputation=expand(rules.train_and_score.output.imputation, **UNITS, part=IMPUTING_PARTS),
        predictions=expand(rules.train_and_score.output.predictions, **UNITS_AS_OBSERVED, part=PARTS_OF_UNIT),
        missing_rates=expand(rules.correct_scores.output.missing_rate, **ESTIMATED),
        corrected_folds=expand(rules.correct_scores.output.folds, **UNITS),
        complete_scores=expand(rules.correct_scores.output.scores, **UNITS),
        verdicts=expand(rules.correct_scores.output.verdicts, **UNITS),
        guessing=expand(rules.correct_scores.output.guessing, **UNITS),
        tests=expand(rules.correct_scores.output.tests, **AS_THEY_ARE),
        checked=expand(rules.score_checked_cells.output, dataset=CHECKED),
        curves=expand(rules.score_by_samples.output.curve, **CURVES),
    output:
        **{"sample_curves": "results/tables/sample_curves.csv"} if SAMPLE_CURVES["datasets"] else {},
        scores="results/tables/weak_label_scores.csv",
        seconds="results/timings/models.csv",
        summary="results/tables/score_summary.csv",
        learning="results/tables/learning_curves.csv",
        imputation=expand("results/tables/{table}.csv", table=IMPUTATION_TABLES),
        printed=expand("results/tables/weak_labels/{dataset}.csv", dataset=WEAK_LABELS["datasets"]),
        ranks="results/tables/percentile_ranks.csv",
        comparisons="results/tables/comparisons.csv",
        pairs="results/tables/pairs.csv",
        cliques="results/tables/cliques.csv" if len(WEAK_LABELS["datasets"]) > 1 else [],
        of_paper=expand("results/tables/{table}_published.csv", table=OF_PAPER),
        missing_rates="results/tables/missing_rates.csv",
        tests="results/tables/scar_tests.csv",
        corrected_folds="results/recommendation/corrected_folds.csv",
        complete_scores="results/tables/complete_scores.csv",
        quality="results/tables/correction_quality.csv",
        regret="results/tables/regret.csv",
        choices="results/tables/choices.csv",
        numbers="results/tables/recommendation.csv",
        # these contain run times and memory, which vary between runs
        leaderboard="results/recommendation/leaderboard.csv",
        sentences="results/recommendation/sentences.csv",
        labels=expand("results/tables/labels/{dataset}.csv", dataset=WEAK_LABELS["datasets"]),
        reliability=expand("results/tables/reliability/{dataset}.csv", dataset=WEAK_LABELS["datasets"]),
        precision_recall=expand("results/tables/precision_recall/{dataset}.csv", dataset=WEAK_LABELS["datasets"]),
        decisions=expand("results/tables/decisions/{dataset}.csv", dataset=WEAK_LABELS["datasets"]),
    log:
        "results/logs/recommend_models.log",
    params:
        seed=config["seed"],
        datasets=WEAK_LABELS["datasets"],
        alpha=WEAK_LABELS["alpha"],
        rope=WEAK_LABELS["rope"],
        score=WEAK_LABELS["score"],
        n_repeats=config["folds"]["repeats"],
        hierarchical=HIERARCHICAL["dataset"],
    script:
        "../scripts/recommend_models.py"


FILES_OF["recommendation"] = [
    *expand(rules.correct_scores.output, **ESTIMATED),
    *rules.recommend_models.output,
    rules.describe_study.output.sizes,  # shown by `fairfold recommend`
]
