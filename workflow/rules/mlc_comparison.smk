# A model among the methods of a published comparison.

MLC = config["mlc_comparison"]


rule compare_with_study:
    input:
        data="results/datasets/{dataset}.npz",
        published=workflow.source_path("../../resources/published/mlc_comparison.csv"),
    output:
        "results/mlc_comparison/{dataset}.csv",
    log:
        "results/logs/compare_with_study/{dataset}.log",
    threads: 8
    params:
        seed=config["seed"],
        code_of_models=code_of_models([MLC["model"]]),
        options={
            **{name: MLC[name] for name in ("model", "n_splits", "test_size")},
            "settings": study.settings_of(MLC["model"], config["weak_labels"]["forest"], "text"),
        },
    script:
        "../scripts/compare_with_study.py"


FILES_OF["mlc_comparison"] = ["results/tables/mlc_comparison.csv"] * bool(MLC["datasets"])
