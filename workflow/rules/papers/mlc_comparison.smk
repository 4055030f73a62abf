# A model among the methods of a published comparison.


rule compare_with_study:
    input:
        data="results/datasets/{dataset}.npz",
        published=workflow.source_path("../../../resources/published/mlc_comparison.csv"),
    output:
        "results/mlc_comparison/{dataset}.csv",
    log:
        "results/logs/compare_with_study/{dataset}.log",
    conda:
        "../../envs/environment.yaml"
    threads: 8
    params:
        seed=STUDY.seed,
        code_of_models=code_of_models([STUDY.mlc_comparison.model]),
        options={
            **STUDY.mlc_comparison.model_dump(include={"model", "n_splits", "test_size"}),
            "settings": models.settings_of(STUDY.mlc_comparison.model, models.forest_settings(STUDY), "text"),
        },
        code=code_of("compare_with_study"),
    script:
        "../../scripts/compare_with_study.py"
