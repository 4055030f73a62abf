"""Test the tables of a publication."""

from dataclasses import replace

import pandas as pd

from fairfold.publish.tables import PaperTable, paper_tables, write_table_files

OF_FINAL = ("feature_groups", "chosen_settings")


def test_scores_have_intervals_and_marks(make_facts):
    tables = {table.name: table for table in paper_tables(make_facts())}
    of_data = ["outcomes", "folds", "predictors"]
    assert [*tables] == ["data", "hyperparameters", "candidates", *of_data, *OF_FINAL, "scores", "labels"]
    scores = tables["scores"].cells.set_index("model")["micro average precision"]
    assert scores.to_dict() == {
        "RF+ET": "0.900 (0.850–0.950)",
        "logistic+": "0.800 (0.750–0.850)†",
        "kNN": "0.700 (0.650–0.750)",
    }
    assert tables["scores"].bold == [0]
    assert (
        "means over 5 folds" in tables["scores"].caption and "(corrected resampled t-test" in tables["scores"].caption
    )
    assert tables["outcomes"].cells["missing if positive"].tolist() == ["1", "0"]


def test_data_that_are_not_prepared_have_no_tables(make_facts):
    facts = make_facts({})
    none = pd.DataFrame(columns=["dataset"])
    names = ("outcomes", "predictors", "folds", "hyperparameters", *OF_FINAL)
    assert not [*paper_tables(replace(facts, **dict.fromkeys(names, none)))]


def test_models_without_a_test_have_no_mark(make_facts):
    facts = make_facts()
    numbers = facts.table("tables/recommendation.csv").assign(p_adjusted=float("nan"), is_top=True, low=-0.1)
    facts.memo["tables/recommendation.csv"] = numbers
    table = next(table for table in paper_tables(facts) if table.name == "scores")
    assert "†" not in table.caption and "†" not in table.cells.to_csv()
    assert table.cells.iloc[0, 1] == "0.900 (−0.100 to 0.950)"
    facts.memo["tables/recommendation.csv"] = numbers.assign(low=float("nan"))
    table = next(table for table in paper_tables(facts) if table.name == "scores")
    assert "means over 5 folds on the labels as they are." in table.caption


def test_long_and_wide_tables_fit_on_a_page(make_facts, tmp_path):
    facts, rows = make_facts(), pd.DataFrame({"label": range(50), "shift": "−1"}).astype(str)
    write_table_files(PaperTable("long", "Long.", rows, []), facts, tmp_path)
    assert r"\begin{longtable}" in (text := (tmp_path / "long.tex").read_text()) and "$-$1" in text
    assert pd.read_csv(tmp_path / "long.csv")["shift"].tolist() == [-1] * 50
    assert text.startswith("{\\footnotesize\n") and text.endswith("}\n")
    wide = pd.DataFrame([["0.9"] * 6], columns=[*"abcdef"])
    write_table_files(PaperTable("wide", "Wide.", wide, [0]), facts, tmp_path)
    text = (tmp_path / "wide.tex").read_text()
    assert "\\begin{adjustbox}{max width=\\linewidth}\n\\begin{tabular}" in text and r"\end{adjustbox}" in text


def test_files_suit_latex_and_word_processors(make_facts, tmp_path):
    for table in paper_tables(facts := make_facts()):
        write_table_files(table, facts, tmp_path)
    text = (tmp_path / "scores.tex").read_text()
    assert r"\toprule" in text and r"\bfseries 0.900 (0.850--0.950)" in text and r"95 \% intervals" in text
    assert "font-weight: bold" in (tmp_path / "scores.html").read_text()
    assert pd.read_csv(tmp_path / "labels.csv")["positives"].tolist() == [40, 4]
    assert pd.read_csv(tmp_path / "outcomes.csv")["unmeasured"].tolist() == [10, 0]


def test_names_of_the_user_are_escaped(make_facts, tmp_path):
    facts = make_facts()
    table = PaperTable("a", "A <b> & 5 %.", pd.DataFrame({"label": ["<script>", "x_1"]}), [])
    write_table_files(table, facts, tmp_path)
    text = (tmp_path / "a.html").read_text()
    assert "<script>" not in text and "&lt;script&gt;" in text and "A &lt;b&gt; &amp; 5 %." in text
    assert r"x\_1" in (tmp_path / "a.tex").read_text()


def test_no_name_is_a_formula_and_numbers_stay_numbers(make_facts, tmp_path):
    cells = pd.DataFrame(
        {"label": ["=1+1", "−a"], "shift": ["−0.5", "−0.5 (−0.7 to 0.1)"], "size": ["−1.2e−05", "1,234"]}
    )
    write_table_files(PaperTable("a", "A.", cells, []), make_facts(), tmp_path)
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert rows[1:] == ["'=1+1,-0.5,-1.2e-05", '−a,−0.5 (−0.7 to 0.1),"1,234"']
