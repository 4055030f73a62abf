# Estimate the missing rate of each dataset and recommend models.


rule correct_scores:
    input:
        dataset="results/datasets/{dataset}.npz",
        folds=folds_of(STUDY, STUDY.folds.n_splits, n_repeats=STUDY.folds.n_repeats),
        predictions=lambda wildcards: [
            f"results/weak_labels/{wildcards.dataset}/rate-{wildcards.rate}/predictions_{part}.npz"
            for part in PLAN.weak_labels.parts
            if int(wildcards.rate) in STUDY.weak_labels.missing_rates
        ],
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
    conda:
        "../envs/environment.yaml"
    resources:
        mem_mb=memory_for,
    params:
        seed=STUDY.seed,
        unit=models.unit_options(STUDY),
        n_labels=lambda wildcards: PLAN.weak_labels.n_reference_labels(wildcards.dataset),
        correction=models.correction_options(STUDY),
        code=code_of("correct_scores"),
    script:
        "../scripts/correct_scores.py"


rule score_checked_cells:
    input:
        dataset="results/datasets/{dataset}.npz",
        cells=f"{STUDY.weak_labels.checked_cells}/{{dataset}}.csv",
        predictions=expand(
            rules.train_and_score.output.predictions,
            rate=PLAN.weak_labels.least,
            part=PLAN.weak_labels.parts,
            allow_missing=True,
        ),
    output:
        "results/recommendation/checked/{dataset}.csv",
    log:
        "results/logs/score_checked_cells/{dataset}.log",
    conda:
        "../envs/environment.yaml"
    params:
        threshold=STUDY.weak_labels.forest.threshold,
        score=STUDY.weak_labels.scoring,
        code=code_of("score_checked_cells"),
    script:
        "../scripts/score_checked_cells.py"


rule recommend_models:
    input:
        datasets=expand("results/datasets/{dataset}.npz", dataset=STUDY.weak_labels.datasets),
        trained=expand(rules.train_and_score.output.scores, **PLAN.weak_labels.units, part=PLAN.weak_labels.parts),
        seconds=expand(rules.train_and_score.output.seconds, **PLAN.weak_labels.units, part=PLAN.weak_labels.parts),
        imputation=expand(
            rules.train_and_score.output.imputation, **PLAN.weak_labels.units, part=PLAN.weak_labels.imputing
        ),
        predictions=expand(
            rules.train_and_score.output.predictions,
            dataset=STUDY.weak_labels.datasets,
            rate=PLAN.weak_labels.least,
            part=PLAN.weak_labels.parts,
        ),
        missing_rates=expand(rules.correct_scores.output.missing_rate, **PLAN.weak_labels.estimated),
        corrected_folds=expand(rules.correct_scores.output.folds, **PLAN.weak_labels.units),
        complete_scores=expand(rules.correct_scores.output.scores, **PLAN.weak_labels.units),
        verdicts=expand(rules.correct_scores.output.verdicts, **PLAN.weak_labels.units),
        guessing=expand(rules.correct_scores.output.guessing, **PLAN.weak_labels.units),
        tests=expand(rules.correct_scores.output.tests, dataset=STUDY.weak_labels.datasets, rate=0),
        checked=expand(
            rules.score_checked_cells.output,
            dataset=[dataset for dataset in STUDY.weak_labels.datasets if checked_cells_of(dataset)],
        ),
        cells=[path for dataset in STUDY.weak_labels.datasets for path in known_cells_of(dataset)],
        curves=expand(rules.score_by_samples.output.curve, **PLAN.sample_curves.curves),
    output:
        **({"sample_curves": "results/tables/sample_curves.csv"} if STUDY.weak_labels.sample_curves.datasets else {}),
        scores="results/tables/weak_label_scores.csv",
        seconds="results/timings/models.csv",
        summary="results/tables/score_summary.csv",
        learning="results/tables/learning_curves.csv",
        imputation=PLAN.recommendation.imputation,
        printed=expand("results/tables/weak_labels/{dataset}.csv", dataset=STUDY.weak_labels.datasets),
        ranks="results/tables/percentile_ranks.csv",
        comparisons="results/tables/comparisons.csv",
        pairs="results/tables/pairs.csv",
        cliques="results/tables/cliques.csv" if len(STUDY.weak_labels.datasets) > 1 else [],
        of_paper=PLAN.recommendation.of_paper,
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
        labels=expand("results/tables/labels/{dataset}.csv", dataset=STUDY.weak_labels.datasets),
        reliability=expand("results/tables/reliability/{dataset}.csv", dataset=STUDY.weak_labels.datasets),
        precision_recall=expand("results/tables/precision_recall/{dataset}.csv", dataset=STUDY.weak_labels.datasets),
        decisions=expand("results/tables/decisions/{dataset}.csv", dataset=STUDY.weak_labels.datasets),
        # by out-of-fold predictions; held-out samples certify the final model instead
        certified=expand(
            "results/tables/certified/{dataset}.csv",
            dataset=[] if STUDY.data.set_aside else STUDY.weak_labels.datasets,
        ),
    log:
        "results/logs/recommend_models.log",
    conda:
        "../envs/environment.yaml"
    params:
        seed=STUDY.seed,
        datasets=STUDY.weak_labels.datasets,
        alpha=STUDY.weak_labels.alpha,
        rope=STUDY.weak_labels.rope,
        score=STUDY.weak_labels.scoring,
        n_repeats=STUDY.folds.n_repeats,
        hierarchical=PLAN.weak_labels.hierarchical,
        code=code_of("recommend_models"),
    script:
        "../scripts/recommend_models.py"


# A rule of its own, because a changed check of the data must not train the final model again.
rule write_answers:
    input:
        leaderboard=rules.recommend_models.output.leaderboard,
        numbers=rules.recommend_models.output.numbers,
        sentences=rules.recommend_models.output.sentences,
        missing_rates=rules.recommend_models.output.missing_rates,
        complete_scores=rules.recommend_models.output.complete_scores,
        summary=rules.recommend_models.output.summary,
        tests=rules.recommend_models.output.tests,
        labels=rules.recommend_models.output.labels,
        certified=expand("results/tables/certified/{dataset}.csv", dataset=STUDY.weak_labels.datasets),
        elsewhere=PLAN.elsewhere.scores,
        sizes=rules.describe_study.output.sizes,
        columns=rules.describe_study.output.columns,
        audit=rules.describe_study.output.audit,
    output:
        "results/recommendation/answer.json",
    log:
        "results/logs/write_answers.log",
    localrule: True  # short
    conda:
        "../envs/environment.yaml"
    params:
        code=code_of("write_answers"),
    script:
        "../scripts/write_answers.py"
