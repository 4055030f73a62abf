"""Test the tables of a publication."""

import pandas as pd

from fairfold.report.publish.tables import PaperTable, paper_tables, write_table_files


def test_scores_have_intervals_and_marks(make_facts):
    tables = {table.name: table for table in paper_tables(make_facts())}
    assert [*tables] == ["data", "outcomes", "predictors", "scores", "labels"]
    scores = tables["scores"].cells.set_index("model")["micro average precision"]
    assert scores.to_dict() == {
        "RF+ET": "0.900 (0.850–0.950)",
        "logistic+": "0.800 (0.750–0.850)†",
        "kNN": "0.700 (0.650–0.750)",
    }
    assert tables["scores"].bold == [0]
    assert "means over 5 folds" in tables["scores"].caption


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
