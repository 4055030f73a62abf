"""A user's own file through the whole study, as config/README.md tells it."""

import re

import numpy as np
import pandas as pd
import yaml


def plants(n_samples):
    """A file like the worked example: same header, more rows."""
    rng = np.random.default_rng(0)
    height, area, ph = rng.random(n_samples), 3 * rng.random(n_samples), 5 + 3 * rng.random(n_samples)
    shade, drought = area > 1.5, ph + height > 7
    header = ["height", "leaf_area", "soil_ph", "label_shade", "label_drought"]
    columns = [height, area, ph, shade.astype(int), drought.astype(int)]
    return pd.DataFrame(dict(zip(header, columns, strict=True)))


def test_the_worked_example(root, study):
    text = (root / "config" / "README.md").read_text()
    header = re.search(r"```csv\n(.*)\n", text)[1]
    config = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    config["weak_labels"].update(forest={"n_trees": 5, "max_levels": 2}, missing_rates=[0, 50])
    mine = study(config)
    table = plants(150)
    assert ",".join(table) == header
    table.to_csv(mine.folder / "my-plants.csv", index=False)
    code, output = mine.run()
    assert code == 0, output
    sizes = pd.read_csv(mine.folder / "results/tables/datasets.csv")
    assert sizes[["dataset", "n_samples", "n_features", "n_labels"]].to_numpy().tolist() == [["my-plants", 150, 3, 2]]
    recommended = pd.read_csv(mine.folder / "results/timings/recommendation.csv")
    assert set(recommended["dataset"]) == {"my-plants"}
    assert list(recommended["use"].unique()) == ["data", "ranking", "threshold"]
    assert recommended["sentence"][0].startswith("About ")
    numbers = pd.read_csv(mine.folder / "results/tables/recommendation.csv").query("difference == 0")
    best = numbers.drop_duplicates("metric").set_index("metric")["model"]
    for use, metric in (("ranking", "average_precision"), ("threshold", "mcc")):
        first = recommended.loc[recommended["use"] == use, "sentence"].iloc[0]
        assert f"the best of 7 models is {best[metric]}: " in first
    before = mine.results()

    table["label_drought"] = 1 - table["label_drought"]
    table.to_csv(mine.folder / "my-plants.csv", index=False)
    scores = "weak_labels/my-plants/rate-50/RF+ET.csv"
    code, output = mine.run(f"results/{scores}")
    assert code == 0, output
    assert mine.results()[scores] != before[scores]


def own(**changes):
    stanza = {"path": "mine.csv", "format": "csv", "labels": {"prefix": "label_"}, **changes}
    return {
        "seed": 1,
        "data": {"own": {"mine": stanza}},
        "folds": {},
        "weak_labels": {"datasets": ["mine"], "missing_rates": [0], "models": ["RF+ET"], "forest": {"n_trees": 2}},
    }


def told(mine, table):
    """What the user reads when the study cannot go on with this file."""
    table.to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run()
    assert code != 0
    assert "Traceback" not in output
    return output


def test_mistakes_in_the_file_are_located(study):
    wrong = plants(40)
    wrong.loc[6, "label_shade"] = 2
    assert "DataError: mine.csv, data row 7, label 'label_shade': found 2" in told(study(own()), wrong)


def test_fewer_samples_than_folds(study):
    output = told(study(own(), "few"), plants(4))
    assert "SplitError" in output
    assert "n_splits is 5: it must lie between 2 and the number of rows, here 4" in output


def test_a_filter_that_leaves_nothing(study):
    output = told(study(own(label_filter={"min_positives": 41}), "none"), plants(40))
    assert "the label filter (min_positives 41, min_negatives 0) leaves no label" in output


def test_a_model_that_cannot_run_is_a_row_with_its_reason(study):
    config = own()
    config["weak_labels"]["forest"]["min_samples_leaf"] = 30
    mine = study(config)
    plants(40).to_csv(mine.folder / "mine.csv", index=False)
    code, output = mine.run()
    assert code == 0, output
    scores = pd.read_csv(mine.folder / "results/tables/weak_label_scores.csv")
    assert scores["value"].isna().all()
    assert scores["reason"].str.contains("training samples are fewer than two leaves of 30").all()
    told = pd.read_csv(mine.folder / "results/timings/recommendation.csv")["sentence"].tolist()
    assert "could not be estimated: no forest could be grown on any fold" in told[0]
    assert told[2:] == ["No model has a score in every fold, so that there is nothing to recommend."] * 2
