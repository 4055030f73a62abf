# Last job of a target. It fails in each run if no model could be scored on some dataset.

# Part of the configuration that trains models -> tables with their scores or the reasons for missing scores.
SCORES_OF = {
    "weak_labels": ["results/tables/weak_label_scores.csv"],
    "weak_labels.rank_stability": expand(rules.repeat_weak_labels.output, **STABILITY_JOBS),
    "weak_labels.sample_curves": expand(rules.score_by_samples.output.scores, **CURVES),
    "weak_labels.mechanisms": ["results/tables/mechanisms.csv"] * bool(MECHANISMS["datasets"]),
    "cross_testing.models": ["results/cross_testing/models.csv"] * bool(CHOSEN_FROM["datasets"]),
    "win_percentage.models": ["results/tables/win_percentage/model_sets.csv"] * bool(SETS_OF["dataset"]),
}
PAGE_FILES = [*rules.render_report.output, *rules.describe_study.output]
# Target -> its files, and the parts whose models it scores.
TARGETS = {
    "study": ([*STUDY_FILES, *FIGURES, *PAGE_FILES, *FINAL_OF_STUDY], [*SCORES_OF]),
    "weak_labels": (
        files_of("data", "weak_labels", "rank_stability", "sample_curves", "mechanisms"),
        [part for part in SCORES_OF if part.startswith("weak_labels")],
    ),
    "cross_testing": (files_of("cross_testing"), ["cross_testing.models"]),
    "win_percentage": (files_of("win_percentage"), ["win_percentage.models"]),
    "recommendation": (files_of("data", "recommendation"), ["weak_labels"]),
    "paper_figures": ([*FIGURES, *TABLES, "results/paper_figures.zip"], [*SCORES_OF]),
}


rule check_scores:
    input:
        lambda wildcards: TARGETS[wildcards.target][0],  # makes this job the last one
        tables=lambda wildcards: [path for part in TARGETS[wildcards.target][1] for path in SCORES_OF[part]],
    output:
        touch("results/scored/{target}.done"),
    log:
        "results/logs/check_scores/{target}.log",
    wildcard_constraints:
        target="|".join(TARGETS),
    retries: 0
    localrule: True  # short, and the profile of a cluster would retry it
    params:
        parts=lambda wildcards: [part for part in TARGETS[wildcards.target][1] for _ in SCORES_OF[part]],
    script:
        "../scripts/check_scores.py"
