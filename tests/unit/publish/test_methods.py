"""Test the methods section and its references."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from answers import change

from fairfold.core.project import REPORT
from fairfold.models import MODEL_NAMES
from fairfold.models.registry import spec_of
from fairfold.publish.cards import write_cards
from fairfold.publish.methods import as_latex, as_markdown, methods, references
from fairfold.publish.sentences import load_phrases, sentences, state
from fairfold.publish.tables import paper_tables
from fairfold.splitting.methods import METHOD_NAMES
from fairfold.splitting.methods import spec_of as splitter_spec


def text_of(facts):
    return as_markdown(methods(facts))


def test_features_are_the_columns_of_the_table(make_facts):
    facts = make_facts()
    encoded = facts.predictors.assign(column="height", missing=3)
    text = text_of(replace(facts, predictors=encoded))
    assert "1 features, 2 after encoding, and 2 labels" in text
    assert "Of the feature cells of plants, 2.5 % are missing" in text


def test_methods_state_what_ran(make_facts):
    text = text_of(make_facts())
    assert "The dataset plants (plants.csv, SHA-256 " in text
    assert "has 120 samples, 2 features and 2 labels." in text
    assert "All 2 features of plants were used" in text and "Of the feature cells of plants, 1.2 % are missing" in text
    assert "into 5 folds by iterative stratification [@sechidis2011] followed by simulated annealing" in text
    assert "All samples of plants with the same value of the column site are in the same fold." in text
    assert (
        "The labels of plants are declared incomplete: a 0 may be a missing positive, which was not observed. " in text
    )
    assert "About 8 % of the positives are missing (95 % interval 0 to 20 %), if they are missing at random." in text
    assert "This estimate rests on the declaration that labels are incomplete." in text
    assert "On plants, RF+ET has the best average precision: 0.900 (95 % interval 0.850 to 0.950)." in text
    assert "different from it by average precision. kNN is significantly worse than it by average" in text
    assert "1 of 1 bootstrap intervals" not in text
    assert (
        "0 of 1 bootstrap intervals of micro average precision contained the score of the same samples on all labels"
        in text
    )
    assert "found no errors and 1 warning. Warning: column 'height' has 3 empty cells." in text


def test_a_hierarchy_is_stated(make_facts):
    facts = make_facts()
    assert "hierarchy" not in text_of(facts).replace("Except in a hierarchy of labels", "")
    assert "on them and on the other labels" in text_of(facts)
    labels = facts.study.data.own["plants"].labels
    labels.hierarchy, labels.propagate = "above.csv", True
    facts.memo.clear()
    text = text_of(facts)
    assert "The labels of plants form a hierarchy: a sample with a label has all labels above it. Labels above" in text
    assert "no label is more probable than a label above it" in text and "[@obozinski2008]" in text
    assert "on them and on the other labels" not in text
    assert "Positives were hidden from the lowest labels up" in text and "[@clark2013]" not in text


def test_failures_and_rare_labels_come_first(make_facts):
    found = state(facts := make_facts())
    assert methods(facts)[0] == ("State of this study", " ".join(found))
    assert found[0] == "kNN failed on plants at a missing rate of 0 % in 1 case: It ran out of memory."
    assert found[1].endswith("whose scores are uncertain: moss (4).")


@pytest.mark.parametrize(("n_labels", "named"), [(12, True), (60, False)])
def test_all_names_are_listed_or_none(make_facts, n_labels, named):
    facts = make_facts()
    outcomes = pd.concat([facts.outcomes[:1]] * n_labels).assign(label=[f"label {n}" for n in range(n_labels)])
    facts = replace(facts, outcomes=outcomes.assign(positives=3))
    for text in (sentences("outcomes", facts), *state(facts)[-1:]):
        assert (f"label {n_labels - 1}" in text) == named and " more" not in text


def test_an_unfinished_study_claims_nothing_about_models(make_facts):
    text = text_of(make_facts({}, is_done=False))
    assert "files are missing or outdated (steps describe_study and recommend_models)." in text
    assert "compared" not in text and "test" not in text.replace("latest", "")
    assert "Models" not in text and "folds" not in text
    assert "Missing parts are left out." in text and "Outdated" not in text


def test_outdated_results_are_stated(make_facts):
    old = state(make_facts(is_done=False))[1]
    assert old.startswith("11 of these files come from older code") and "may not match the methods" in old


def test_every_verdict_is_stated(make_facts):
    verdicts = ["best", "same as RF+ET", "no score"]
    text = text_of(change(make_facts(), leaderboard={"verdict": verdicts, "missing_rate": 30}))
    assert "0.950), with 30 % of the positives hidden from training." in text
    assert "kNN lacks a score in a fold and was not compared." in text
    assert "logistic+ has the same scores as RF+ET." in text
    text = text_of(change(make_facts(), leaderboard={"verdict": ["best", "not tested", "not tested"]}))
    assert "logistic+ and kNN were not tested against it by average precision." in text
    text = text_of(change(make_facts(), leaderboard={"verdict": "no score"}))
    assert "On plants: No model has a score in every fold, so no model is recommended." in text


def test_failed_models_are_no_baselines(make_facts):
    facts = make_facts()
    scores = facts.table("tables/weak_label_scores.csv")
    is_knn = scores["model"] == "kNN"
    reason = scores["reason"].mask(is_knn, "It takes no weights. Remove the weights.")
    scores = scores.assign(value=scores["value"].mask(is_knn), reason=reason)
    facts.memo["tables/weak_label_scores.csv"] = scores
    assert "kNN has no score, because of failures, and is not compared." in text_of(facts)
    assert sentences("baselines", facts).startswith("The comparison contains baselines, trained")
    assert (
        "samples: linear (logistic+). The hyperparameters of logistic+ were not tuned. A name that ends"
        in sentences("baselines", facts)
    )
    assert "The study compares 2 models by" in sentences("objectives", facts)
    assert "in 5 cases: It takes no weights. Labels" in text_of(facts)


def test_settings_of_the_data_are_described(make_facts, config):
    own = config["data"]["own"]["plants"]
    own |= {"weights": "w", "labels_are": "complete", "categorical": "one-hot", "label_filter": {"min_positives": 5}}
    own |= {"samples": {"only": {"season": "summer"}}}
    text = text_of(make_facts())
    assert "The column w weights the samples of plants in training and in scores." in text
    assert "Equal shares of the positives and negatives of plants were hidden" in text
    assert "encoded as one-hot, by the values of all samples" in text and "joined" not in text
    assert "Labels of plants with fewer than 5 positives were excluded." in text
    assert "The samples of plants were selected from the file." in sentences("sample_size", make_facts())


def test_references_are_those_that_are_cited(make_facts):
    texts = [text for _, text in methods(make_facts())]
    keys = re.findall(r"@\w+\{([\w-]+),", references(texts))
    assert "sechidis2011" in keys and "breiman2001" in keys and "elkan2008" in keys
    assert "ke2017" not in keys and "tiittanen2021" not in keys


def test_every_citation_has_a_reference(root):
    entries = set(re.findall(r"@\w+\{([\w-]+),", (REPORT / "publish/references.bib").read_text()))
    texts = [path.read_text() for path in [REPORT / "publish/sentences.yaml", REPORT / "publish/methods.yaml"]]
    texts += [*[spec_of(name).phrase for name in MODEL_NAMES], *[splitter_spec(name).phrase for name in METHOD_NAMES]]
    cited = {
        key for text in texts for group in re.findall(r"\[(@[^\]]+)\]", text) for key in re.findall(r"@([\w-]+)", group)
    }
    cited |= {
        re.search("source: (.*)", path.read_text())[1]
        for path in (REPORT / "publish").glob("*i*.yaml")
        if "source" in path.read_text()
    }
    cited |= set(re.findall(r"@([\w-]+)", (root / "paper/paper.md").read_text()))
    assert cited == entries


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_every_model_has_a_phrase(name):
    spec = spec_of(name)
    assert "a model of" not in spec.phrase and spec.traits


def test_traits_of_models_are_those_of_the_texts():
    texts = load_phrases("methods")
    keys = ("reasons", "scaling", "rounded", "choices", "inside")
    known = {trait for key in keys for _, traits in texts[key] for trait in traits}
    known |= {*texts["baselines"], *[f"{way} gaps" for way in texts["ways"]]}
    assert {trait for name in MODEL_NAMES for trait in spec_of(name).traits} == known - {"calibrated", "imputes"}


def test_every_splitter_has_a_phrase():
    assert [name for name in METHOD_NAMES if "the method" in splitter_spec(name).phrase] == []


def test_latex_escapes_and_cites(make_facts):
    text = as_latex(methods(make_facts()))
    assert r"\citep{sechidis2011}" in text and "[@" not in text
    assert re.search(r"SHA-256 [0-9a-f]{8}\\allowbreak\{\}[0-9a-f]{8}", text)
    assert r"95 \% interval" in text and not re.search(r"(?<!\\)[%&_#]", text)


def test_models_of_the_user_are_described(make_facts, config):
    entry = {"class": "lab.Rules", "tune": {"depth": [1, 2]}}
    config["models"]["own"] = {"rules": entry}
    config["weak_labels"]["models"] = ["rules", "rules+", "kNN"]
    facts = make_facts()
    scores = facts.table("tables/weak_label_scores.csv")
    facts.memo["tables/weak_label_scores.csv"] = scores.replace({"model": {"RF+ET": "rules", "logistic+": "rules+"}})
    text = text_of(facts)
    assert "rules, a model of the authors of this study (lab.Rules); rules+, a model of the authors" in text
    assert "Hyperparameters of rules were searched in each training part with 20 candidates and 3 folds." in text
    assert "A forest has" not in text and "features become the median of the training part, with a" in text
    assert "marks them, in kNN. An unmeasured" in text


def test_scores_on_observed_labels_are_not_called_estimates(make_facts):
    facts = make_facts()
    for name in ("complete_scores", "recommendation"):
        facts.memo[f"tables/{name}.csv"] = facts.table(f"tables/{name}.csv").assign(low=float("nan"), high=float("nan"))
    text = text_of(facts)
    assert "The best model of a dataset has the highest micro average precision. The scores that" in text
    assert "estimated for complete labels" not in text and "intervals come from" not in text
    assert "estimated" not in next(table.caption for table in paper_tables(facts) if table.name == "scores")


def test_the_score_of_the_study_is_named(make_facts, config):
    config["weak_labels"]["scoring"] = "f1_macro"
    text = text_of(make_facts())
    assert "Models were ranked by macro F1, of the labels that each model predicts for this metric." in text
    assert "Other metrics: micro AUROC, micro average precision and ranking loss;" in text
    assert "The best model of a dataset has the highest macro F1. The scores that" in text
    assert "needs no threshold" not in text
    config["weak_labels"]["scoring"] = "hamming_loss"
    text = text_of(make_facts())
    assert "Models were ranked by Hamming loss at the threshold 0.5. Other metrics:" in text
    assert "has the lowest Hamming loss" in text and "; at the threshold 0.5, micro MCC." in text


def test_checked_cells_are_stated(make_facts):
    assert "person checked" not in text_of(make_facts())
    cells = {"n_checked": [60.0, float("nan")]}
    board = {"n_checked": 60.0, "best_unchecked": "RF+ET", "behind": [0.0, -0.0003, 0.2]}
    facts = change(make_facts(), leaderboard=board, missing_rates=cells)
    text = text_of(facts)
    assert "Missing positives by 60 checked cells: about 8 % of positives (0 to 20 %)." in text
    assert "A person checked 60 cells (a sample and a label) of plants" in text
    assert "stays recommended unless it is significantly worse" in text
    assert "Scores without the checked cells are means over folds" in text
    assert "On plants, RF+ET is recommended. Its average precision is 0.900 (95 % interval" in text
    assert "by 60 checked cells. logistic+ has the best average precision by the checked cells, but RF+ET is" in text
    assert "logistic+ may be as good. kNN is significantly worse." in text
    assert "Without the checked cells, each model was compared" in text
    assert "The final model of plants is RF+ET, the recommended model." in text and "chosen without" not in text


def test_tables_and_cards_have_checked_scores(make_facts, tmp_path):
    """All files of a publication have the same leader and the same scores."""
    facts = change(make_facts(), leaderboard={"n_checked": 60.0, "best_unchecked": "RF+ET"})
    models = ["logistic+", "RF+ET", "kNN"]
    rows = pd.DataFrame({"model": models, "estimate": [0.8003, 0.8, 0.5], "behind_low": [-0.04, 0.0, 0.1]})
    rows = rows.assign(dataset="plants", reference="RF+ET", low=0.4, high=0.9)
    checked = pd.concat([rows.assign(metric=metric) for metric in ("mcc", "average_precision")])
    facts.memo["recommendation/checked/plants.csv"] = checked
    table = next(table for table in paper_tables(facts) if table.name == "scores")
    assert [*table.cells] == ["model", "micro average precision", "micro MCC"]
    assert table.cells["model"][table.bold].tolist() == ["RF+ET"]
    found = table.cells.set_index("model")["micro average precision"]
    assert found["logistic+"] == "0.800 (0.400–0.900)†" and found["kNN"] == "0.500 (0.400–0.900)"
    assert "estimated from 60 checked cells" in table.caption and "not significantly worse than it" in table.caption
    write_cards(facts, tmp_path)
    scores = json.loads((tmp_path / "plants/scores.json").read_text())["scores"]
    assert next(each["value"] for each in scores if each["metric"] == "mcc") == 0.8


def test_certified_labels_are_stated(make_facts):
    facts = make_facts()
    assert "certified" not in text_of(facts)
    numbers = {"certified": [*"abcdefghi"], "n_examined": 15, "n_held_out": 200}
    answers = {name: replace(each, **numbers) for name, each in facts.answers.items()}
    facts.__dict__["answers"] = answers
    facts.memo.pop("values", None)
    text = text_of(facts)
    assert "200 samples of plants were held out" in text and "They only certify decisions of the final model." in text
    assert "predictions of the final model for the held-out samples" in text
    assert "In plants, 9 of 15 examined labels have a threshold above which a precision of 90 % is certified." in text
    assert "exact binomial bounds" in text and "if recorded positives are right" in text


def test_held_out_periods_and_unused_columns_are_stated(make_facts, config):
    own = config["data"]["own"]["plants"]
    own |= {"dates": "seen", "hold_out": {"n_splits": 5}, "coordinates": ["lat", "height"], "weights": "w"}
    facts = make_facts()
    facts.__dict__["answers"] = {name: replace(each, n_held_out=30) for name, each in facts.answers.items()}
    facts.memo.pop("values", None)
    text = text_of(facts)
    assert "has 120 samples without the 30 that were held out, 2 features and 2 labels." in text
    assert "30 samples of plants were held out, those of the latest test periods. They only" in text
    assert "The study has one table of 150 samples for plants, of which 30 were held out, no external data" in text
    assert "column site are in the same fold. Models of plants learn from earlier samples only" in text
    assert "These columns were not used as features: row, site, w, seen, lat." in text  # height is declared a feature


def test_scores_elsewhere_are_stated_where_there_are_some(make_facts):
    facts = make_facts()
    facts.__dict__["answers"] = {name: replace(each, elsewhere=["A."]) for name, each in facts.answers.items()}
    rows = {"size": [None, 0.05], "score": 0.9, "compared_by": "haversine", "dataset": "plants"}
    facts.memo["tables/elsewhere.csv"] = pd.DataFrame(rows)
    text = sentences("elsewhere", facts)
    assert "folds of whole clusters of nearby samples, by their coordinates [@steinbach2000]. A. Intervals on" in text
    facts.memo["tables/elsewhere.csv"] = facts.table("tables/elsewhere.csv")[:1]
    facts.memo.pop("values")
    assert sentences("elsewhere", facts) == "A."


def test_verbs_agree_with_the_number_of_models(make_facts):
    facts = make_facts()
    assert "RF+ET, logistic+ and kNN compute in single precision" in sentences("rounding", facts)
    scores = facts.table("tables/weak_label_scores.csv")
    facts.memo["tables/weak_label_scores.csv"] = scores[scores["model"] == "logistic+"]
    facts.memo.pop("values")
    assert sentences("rounding", facts).startswith("logistic+ computes in single precision")


def test_a_score_without_correction_is_named(make_facts, config):
    config["weak_labels"]["scoring"] = "subset_accuracy"
    text = text_of(make_facts())
    assert "estimated for complete labels, except subset accuracy. Their" in text
    assert "highest subset accuracy, on observed labels, because it cannot be corrected for missing labels." in text
    assert "Subset accuracy has no bootstrap interval." in text and "no labels were hidden" not in text
