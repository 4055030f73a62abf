# Files that tables and figures are made from. They are targets too: Snakemake looks for a missing file only where a
# target names it, so a deleted array or table would otherwise stay missing for as long as the report is up to date.

# Stage -> the arrays and tables that its rules write on the way
PARTS_OF = {
    "data": [
        *expand(
            rules.prepare_dataset.output,
            dataset=dict.fromkeys(
                [
                    *[
                        dataset
                        for dataset, _ in study.used_datasets(
                            {**config, "final": {"datasets": []}}  # a target of its own
                        )
                    ],
                    *map(study.EXAMPLE_DATASETS.get, ECOC_EXAMPLES),
                ]
            ),
        ),
        *rules.tabulate_suspects.input,
    ],
    "splitting": [
        *expand(rules.compare_splitters.output, dataset=SPLITTING["datasets"]),
        *expand(rules.estimate_fold_effect.output, dataset=FOLD_EFFECT["datasets"]),
        *[rules.tabulate_splitting.output.seconds] * bool(SPLITTING["datasets"]),
    ],
    "weak_labels": [
        *expand(rules.mask_labels.input.folds, **UNITS),
        *expand(rules.train_and_score.output, **UNITS, part=PARTS_OF_UNIT),
    ],
    "hierarchies": rules.tabulate_hierarchies.input,
    "many_labels": [
        *rules.tabulate_many_labels.input.at_k,
        *rules.tabulate_many_labels.input.by_frequency,
    ],
    "sample_curves": [
        *expand(rules.score_by_samples.input.folds, dataset=SAMPLE_CURVES["datasets"]),
        *SAMPLE_CURVES_PARTS,
    ],
    "mechanisms": [
        *expand(rules.score_mechanism.input.folds, dataset=MECHANISMS["datasets"]),
        *rules.tabulate_scar_tests.input,
        *rules.tabulate_mechanisms.input,
    ],
    "rank_stability": [
        *expand(
            rules.repeat_weak_labels.input.folds,
            dataset=STABILITY["datasets"],
            splitter=STABILITY["splitters"],
        ),
        *STABILITY_PARTS,
    ],
    "cross_testing": [
        *rules.tabulate_cross_testing.input.repetitions,
        *[rules.tabulate_cross_testing.output.repetitions] * bool(EXPERIMENTS),
        *rules.tabulate_cross_testing_models.input,
    ],
    "recommendation": [
        *expand(
            [*rules.mask_labels.output, *rules.estimate_label_frequency.output],
            dataset=WEAK_LABELS["datasets"],
            rate=ESTIMATED_AT,
        ),
        *expand(rules.correct_scores.output, **UNITS),
        rules.tabulate_recommendation.output.corrected_folds,
    ],
    "win_percentage": [
        *expand(rules.gather_pairs.input, dataset=PAIRS_OF),
        *expand(rules.gather_pairs.output, dataset=PAIRS_OF),
        *rules.tabulate_win_percentages.input.permuted,
        *expand(rules.reevaluate_pairs.output, dataset=PAIRS_OF),
        *expand(
            [
                rules.evaluate_feature_sets.input.folds,
                rules.evaluate_feature_sets.input.hidden,
            ],
            dataset=SETS_OF,
            rate=MODEL_SETS["missing_rate"],
        ),
        *rules.tabulate_model_wins.input,
    ],
    "ecoc": [
        *expand(rules.predict_ecoc.output, example=ECOC_EXAMPLES),
        *rules.tabulate_ecoc_comparison.input,
    ],
    "final": [
        *expand(rules.examine_labels.input.folds, dataset=FINAL_DATASETS),
        *expand(rules.fit_final_model.output, dataset=FINAL_DATASETS),
        *expand(rules.examine_labels.output, dataset=FINAL_DATASETS),
        *expand(rules.rate_suspects.output, dataset=FINAL_DATASETS),
        *expand(rules.write_dataset_page.output, dataset=FINAL_DATASETS),
        *rules.tabulate_final.output,
    ],
}


def files_of(*stages):
    """List all files of stages: tables, figures, and the files that they are made from."""
    found = []
    for stage in stages:
        found += RESULTS_OF.get(stage, [])
        found += PARTS_OF.get(stage, [])
    for figure in DRAWN.values():
        if figure.section in stages:
            files = [*figure.reads, f"{figure.path}.pdf", f"{figure.path}.png"]
            found += [f"results/{path}" for path in files]
    return list(dict.fromkeys(found))
