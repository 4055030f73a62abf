"""Test that the texts of a publication state only what the folder shows."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from answers import change

from fairfold.models import MODEL_NAMES
from fairfold.publish.checklists import CHECKLISTS, answer_checklist
from fairfold.publish.folder import write_publication
from fairfold.publish.sentences import load_phrases, phrase_of, sentences

PATH = re.compile(r"\b(?:results|tables|model|environment|figures|workflow|checks)/[\w./+-]+\.[a-z]+\b")
COLUMNS = re.compile(r"columns? ([\w, ]+) of (\S+\.csv)")
SCORES = "tables/weak_label_scores.csv"


def of_other_models(facts, models):
    """Let other models take the scores of the study."""
    facts.study.weak_labels.models = models
    names = dict(zip(["RF+ET", "logistic+", "kNN"], models, strict=False))
    facts.memo[SCORES] = facts.table(SCORES).replace({"model": names})
    return facts


@pytest.fixture(scope="module", params=["as is", "with data", "by time", "unfinished", "several datasets"])
def publication(request, facts_in, make_config, tmp_path_factory):
    """Return the facts and the folder of a publication."""
    config, place = make_config(), tmp_path_factory.mktemp("publication")
    make_facts = facts_in(place, config)
    if request.param == "unfinished":
        facts = make_facts({}, is_done=False, is_recorded=False)
    elif request.param == "by time":
        config["data"]["own"]["plants"] |= {"dates": "day", "label_filter": {"min_positives": 3}}
        del config["data"]["own"]["plants"]["groups"]
        facts = of_other_models(make_facts(), ["dummy", "SLCForest", "logistic-C+"])
    else:
        facts = make_facts(with_data=request.param == "with data")
    if request.param == "several datasets":
        facts.study.weak_labels.datasets += ["yeast"]
    write_publication(facts, place / "publication")
    return facts, place / "publication"


def test_every_file_and_column_that_a_text_names_exists(publication):
    _, folder = publication
    for text in [path.read_text() for pattern in ("*.md", "model/*/README.md") for path in folder.glob(pattern)]:
        assert [path for path in PATH.findall(text) if not (folder / path).exists()] == []
        for columns, path in COLUMNS.findall(text):
            assert {*columns.split(", ")} <= {*pd.read_csv(folder / path).columns}, path


def test_every_filled_item_has_an_answer(publication):
    facts, folder = publication
    for answer in [answer for name in CHECKLISTS for answer in answer_checklist(name, facts, folder)]:
        assert answer.status == "to be filled in" or answer.text.partition("To be filled in")[0].strip()
        assert all((folder / path).exists() for path in answer.evidence)


def test_the_methods_contain_the_answers_that_name_them(publication):
    facts, folder = publication
    text = (folder / "methods.md").read_text()
    for item in [item for name in CHECKLISTS for item in load_phrases(name)["items"]]:
        if "methods.md" in item.get("evidence", ()):
            assert sentences(item["answers"][0], facts) in text, item["id"]


def test_evidence_of_each_item_can_exist(make_facts, tmp_path):
    facts = make_facts()
    for table in ("audit", "score_summary", "decisions/plants", "audit_rows/herbs"):
        (path := facts.results / f"tables/{table}.csv").parent.mkdir(exist_ok=True)
        pd.DataFrame({"dataset": ["plants"], "check": "a", "severity": "note", "message": "b", "sd": 0.1}).to_csv(path)
    write_publication(facts, folder := tmp_path / "publication")
    items = [item for name in CHECKLISTS for item in load_phrases(name)["items"]]
    patterns = {pattern for item in items for pattern in item.get("evidence", ())}
    missing = {pattern for pattern in patterns if not [*folder.glob(pattern)]}
    absent = {"figures/captions.md", "results/tables/reliability", "results/recommendation/checked"}
    assert missing <= absent  # no figure, no predictions and no checked cell here


def test_numbers_are_those_of_the_tables(make_facts, tmp_path):
    write_publication(facts := make_facts(), folder := tmp_path / "publication")
    answers = {each.id: each.text for each in answer_checklist("tripod-ai", facts, folder)}
    outcomes, folds = (pd.read_csv(folder / f"tables/{name}.csv") for name in ("outcomes", "folds"))
    measured = outcomes["positives"].sum() + outcomes["negatives"].sum()
    assert f"Of {measured} measured label cells, {outcomes['positives'].sum()} (" in answers["21"]
    train, test = (folds[f"{part} positives"] for part in ("training", "test"))
    assert f"train on 96 samples with {train.min()} to {train.max()} positive label cells, and test" in answers["21"]
    assert f"24 samples with {test.min()} to {test.max()} positive label cells (tables/folds.csv)" in answers["21"]
    board = pd.read_csv(folder / "results/recommendation/leaderboard.csv").set_index("verdict").loc["best"]
    assert f"{board.score:.3f} (95 % interval {board.low:.3f} to {board.high:.3f})" in answers["23a"]
    labels = pd.read_csv(folder / "results/final/plants/label_scores.csv").iloc[0]
    assert f"is {labels.label}: {labels.roc_auc:.3f} (95 % interval {labels.roc_auc_low:.3f} to" in answers["23a"]
    curve = pd.read_csv(folder / "results/tables/sample_curves.csv")["score"]
    assert f"reached {curve[0]:.3f} with 48 and {curve[1]:.3f} with 96 training samples on average" in answers["10"]
    assert f"it is {curve[2]:.3f} (95 % interval" in answers["10"]
    shares = pd.read_csv(folder / "results/tables/missing_rates.csv")["hidden_share"]
    assert f"In the test parts, {shares[1]} % of the positives were hidden" in (folder / "methods.md").read_text()
    hyperparameters = pd.read_csv(folder / "tables/hyperparameters.csv")
    assert f"lists the {len(hyperparameters)} hyperparameters" in answers["12c"]
    assert f"from {facts.n_draws} bootstrap samples of each fold" in sentences("intervals", facts)
    assert "plants come from 500 bootstrap samples" in sentences("label_intervals", facts)


def test_findings_of_the_data_are_limits(make_facts):
    facts = make_facts()
    rows = {"kind": ["features", "labels"], "row": [31, 40], "change": [1.25, 0.9], "is_point": True}
    facts.memo["tables/audit_rows/plants.csv"] = pd.DataFrame(rows)
    audit = {
        "check": ["likely label errors"],
        "severity": "note",
        "message": "3 label cells contradict their features; look",
    }
    facts.memo["datasets/plants.audit.csv"] = pd.DataFrame(audit)
    for name in ("audit", "limits_of_data"):
        text = sentences(name, facts)
        assert "3 label cells contradict their features" in text and "look" not in text
        assert (
            "Features change before row 31, by 1.25 times the 95 % limit of rows in random order" in text
            and "row 40" not in text
        )
    assert "Features change before row 31" in sentences("duplicates", facts)
    assert "at most 55 % of the positives are missing" in sentences("limits_of_data", facts)
    checks = sentences("audit_checks", facts)
    assert "unpredicted label, likely label errors" in checks
    assert "duplicates" in checks and "groups" in checks and "test file" not in checks


def test_numbers_of_hidden_positives_and_estimated_rates_are_given(make_facts):
    facts = make_facts()
    estimated = {"missing_rate": [0, 0, 50], "model": "SLCForest+", "estimated": [0.9, 1.0, 0.5]}
    facts.memo["tables/label_frequencies.csv"] = pd.DataFrame(estimated)
    assert "21 of the 44 positive label cells of plants were hidden" in sentences("analyses", facts)
    assert "joint-GB was fitted to 48 and 96 samples" in sentences("analyses", facts)
    assert "its mean was 0.950 in SLCForest+ (column" in sentences("correction", facts)


def test_tests_and_probabilities_are_described(make_facts):
    assert sentences("bayesian", make_facts()) == ""
    facts = make_facts()
    facts.memo["tables/recommendation.csv"] = facts.table("tables/recommendation.csv").assign(prob_best_better=0.5)
    assert "better by more than 0.01, practically equal (within 0.01)" in sentences("bayesian", facts)
    assert "By samples, the estimate is 0.010 (p = 0.900)." in sentences("random_method", facts)
    assert "detectable" not in sentences("performance", facts)
    facts.memo["tables/recommendation.csv"] = facts.table("tables/recommendation.csv").assign(detectable=0.06)
    facts.memo.pop("values")
    text = sentences("performance", facts)
    assert "Its Matthews correlation is 0.600 (95 % interval 0.850 to 0.950)." in text
    assert "the least true difference that the test finds in 80 % of cases is 0.060 before adjustment" in text
    assert "does not mean equal: logistic+ is 0.100 behind." in text
    assert "has the highest" not in text
    change(facts, leaderboard={"deciding": [0.6, 0.7, 0.5]})
    assert "logistic+ has the highest Matthews correlation: 0.700." in sentences("performance", facts)


def test_changed_features_and_calibration_are_stated(make_facts):
    facts = make_facts()
    assert "which merges no distinct values of plants." in sentences("rounding", facts)
    facts = replace(facts, n_rounded={"plants": 2}, memo={})
    assert "merges distinct values in 2 features of plants. RF+ET, logistic+ and kNN shift" in sentences(
        "rounding", facts
    )
    assert sentences("calibration", facts) == ""
    table = {"model": "RF+ET", "n": [30, 10], "probability": [0.1, 0.6], "share": [0.1, 0.8]}
    facts.memo["tables/reliability/plants.csv"] = pd.DataFrame(table)
    facts.memo.pop("values")
    assert "of RF+ET that a label is positive differ by 0.050" in sentences("calibration", facts)


def test_a_public_dataset_is_named(make_facts):
    def text_of(public):
        facts = make_facts()
        facts.sources[0] = facts.sources[0]._replace(public=public)
        return sentences("no_leak", facts)

    assert "public dataset" not in text_of("")
    expected = "The file of plants has the checksum of the public dataset leaves. The authors of fairfold chose"
    assert expected in text_of("leaves")
    assert "plants is a public dataset. The authors" in text_of("plants")


def test_scores_of_other_random_numbers_are_stated(make_facts):
    facts = of_other_models(make_facts(), ["joint-GB", "logistic+", "kNN"])
    assert sentences("refits", facts) == ""
    facts = make_facts()
    table = facts.table("tables/recommendation.csv").replace({"model": {"RF+ET": "joint-GB"}})
    facts.memo["tables/recommendation.csv"] = table
    change(facts, leaderboard={"behind": [0.0, 0.05, 0.2]})
    text = sentences("refits", facts)
    assert "joint-GB was 0.900 in the comparison and 0.800 in results/tables/sample_curves.csv." in text
    assert "larger than the lead of RF+ET over logistic+, so their order is uncertain." in text


def test_intervals_of_all_metrics_are_counted(make_facts):
    facts = make_facts()
    rows = facts.table("tables/complete_scores.csv")
    facts.memo["tables/complete_scores.csv"] = pd.concat([rows, rows.assign(metric="roc_auc", high=1.0)])
    assert "0 of 1 bootstrap intervals of micro average precision" in sentences("coverage", facts)
    assert "in other metrics, 1 of 1 (micro AUROC)" in sentences("coverage", facts)
    facts = make_facts()
    facts.memo["tables/complete_scores.csv"] = pd.concat([rows, rows.assign(metric="mcc")])
    quality = {"missing_rate": [50], "metric": "average_precision", "model": "all models", "width": 0.1}
    facts.memo["tables/correction_quality.csv"] = pd.DataFrame(quality).assign(bias_corrected=-0.02)
    text = sentences("coverage", facts)
    assert "0 of 1 (micro MCC, misses with 50 % hidden)" in text
    assert "With 50 % hidden, intervals of micro average precision were 0.10 wide on average" in text
    assert "mean error of the estimates was -0.020 (columns" in text


def test_all_fits_are_counted(make_facts):
    facts = make_facts()
    text = sentences("fits", facts)
    assert (
        "RF+ET, logistic+ and kNN 14 times in all, each once for each fold and each share of hidden positives (0 %)"
        in text
    )
    assert "joint-GB was fitted 10 more times" in text and "RF+ET was fitted to all samples of plants once" in text
    assert "joint-GB, which was fitted for this in further fits, and" in text and "The audit fitted" in text
    facts = make_facts()
    facts.study.weak_labels.models += ["joint-GB"]
    assert "joint-GB, without further fits of it, and" in sentences("fits", facts)


def test_members_of_a_pool_suit_the_number_of_labels(make_facts):
    facts = make_facts()
    assert "boosted symmetric trees as in CatBoost [@prokhorenkova2018], divided" in phrase_of("Stack+", facts)
    facts = replace(facts, hyperparameters=facts.hyperparameters.assign(component="of_many > ManyLabelRidge"))
    assert "or with more than 128 labels of a forest and ridge regression, divided" in phrase_of("Stack+", facts)
    facts = replace(facts, hyperparameters=facts.hyperparameters.assign(component="of_terms > TextRidge"))
    assert "for text or sparse counts also of ridge regression on the frequencies" in phrase_of("Stack+", facts)


def test_settings_that_are_no_defaults_are_named(make_facts, config):
    assert "not the defaults" not in sentences("hyperparameters", make_facts())
    config["weak_labels"]["forest"]["n_trees"] = 7
    assert "not the defaults of fairfold: n_trees = 7." in sentences("hyperparameters", make_facts())


@pytest.mark.parametrize(
    ("models", "has", "lacks"),
    [
        (["logistic", "kNN"], ["deviations that scale the features of logistic and kNN"], ["calibrates", "impute"]),
        (["dummy", "RandomForest"], [], ["deviations", "calibrates", "impute"]),
        (["HistGB+", "SLCForest"], ["probabilities of HistGB+ and", "labels that SLCForest imp"], ["deviations"]),
    ],
)
def test_the_training_part_determines_only_what_the_models_learn(make_facts, models, has, lacks):
    facts = of_other_models(make_facts(), models)
    text = sentences("no_leak", facts)
    assert all(words in text for words in has) and not any(words in text for words in lacks)
    assert ("standardized" in sentences("preprocessing", facts)) == ("logistic" in models)
    assert ("A forest has 150 trees" in sentences("hyperparameters", facts)) == ("logistic" not in models)
    assert ("SLCForest" in models) == ("length_control" in sentences("hyperparameters", facts))


def test_categories_are_joined_where_a_model_takes_them(make_facts, config):
    config["data"]["own"]["plants"]["categorical"] = "as-is"
    text = sentences("preprocessing", of_other_models(make_facts(), ["HistGB+", "kNN"]))
    assert "encoded as one-hot" in text and "joined into one feature in HistGB+. Other features" in text


def test_levels_that_hidden_labels_choose_are_stated(make_facts, config):
    config["weak_labels"]["levels_by"] = "complete"
    facts = of_other_models(make_facts(), ["SLCForest", "SLCForest+", "kNN"])
    assert "SLCForest chose the number of levels by labels that were hidden from them." in sentences("no_leak", facts)


def test_every_model_has_a_reason(make_facts):
    facts = make_facts()
    facts.study.weak_labels.models = [*MODEL_NAMES]
    score = facts.table(SCORES).iloc[:1]
    facts.memo[SCORES] = pd.concat([score.assign(model=name) for name in MODEL_NAMES])
    named = re.findall(r"\(([^()]+)\)\.", sentences("model_choice", facts))
    assert {*re.split(", | and ", " and ".join(named))} == {*MODEL_NAMES}


def test_items_that_the_study_cannot_answer_are_left_to_the_author(make_facts, config, tmp_path):
    def status(facts):
        return {each.id: each.status for each in answer_checklist("reforms", facts, tmp_path)}

    found = status(make_facts())
    assert {found[item] for item in ("2a", "3d", "6c")} == {"partly filled"}
    assert {found[item] for item in ("2c", "4a", "5b", "5f")} == {"filled"}
    found = status(make_facts(data_address="https://doi.org/10.1/a"))
    assert found["2a"] == "filled"
    config["data"]["own"]["plants"]["label_filter"] = {"min_positives": 5}
    config["models"]["own"] = {"rules": {"class": "lab.Rules", "tune": {}, "scale": True}}
    found = status(of_other_models(make_facts(is_recorded=False), ["rules"]))
    assert {found[item] for item in ("2c", "4a", "5b", "5f")} <= {"partly filled", "to be filled in"}


def test_a_card_describes_its_own_dataset(make_facts, config, tmp_path):
    config["weak_labels"]["datasets"] += ["herbs"]
    facts = make_facts()
    sizes = facts.table("tables/datasets.csv")
    facts.memo["tables/datasets.csv"] = pd.concat([sizes, sizes.assign(dataset="herbs")])
    write_publication(facts, tmp_path / "publication")
    assert "The dataset herbs has" in (tmp_path / "publication/data_statement.md").read_text()
    card = (tmp_path / "publication/model/plants/README.md").read_text()
    assert "standardized" not in card and "above all values in RF+ET." in card
    assert "herbs" not in card.partition("## Eval")[0]
