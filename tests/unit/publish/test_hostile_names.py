"""Names of labels, features and groups that are code in HTML, Markdown, LaTeX or spreadsheets are shown as they are."""

import csv
import html.parser
import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from fairfold.core.files import write_table
from fairfold.core.markdown import escape_markdown, visible
from fairfold.publish.folder import write_publication
from fairfold.publish.methods import latex
from fairfold.publish.tables import PaperTable, write_table_files

MORE = ["[x](javascript:1)", "![x](y)", "**b**", "~~s~~", "# t", "1. a", "- a", "&lt;", "<!--", "a|b", "--", "_a_", "*"]
MORE += [
    "[@x]",
    "x\n\n# y",
    "\\",
    "`x`",
    "```",
    "$$",
    "@x",
    "a_b",
    "{% raw %}",
    "http://a.b",
    "=1",
    ": x",
    "]",
    "a\x07b",
]
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture(scope="module")
def names(root):
    return json.loads((root / "tests/cases/hostile-names.json").read_text()) + MORE


def shown(text):
    """Return the text and the kinds of markup of Markdown."""
    tokens = [child for token in READER.parse(text) for child in [token, *(token.children or [])]]
    content = "".join(token.content for token in tokens if token.type in ("text", "code_inline", "html_inline"))
    return content, {token.type for token in tokens} - {"text", "inline"}


@pytest.mark.parametrize("frame", ["{}", "Labels: {} (4).", "| a | {} |\n|---|---|\n| b | c |", "- {}"])
def test_markdown_shows_names_as_they_are(names, frame):
    _, plain = shown(frame.format("x"))
    for name in names:
        content, kinds = shown(frame.format(escape_markdown(name)))
        assert kinds == plain, name
        assert visible(name).strip() in content, name


def test_latex_has_no_command_of_a_name(names):
    ours = re.compile(
        r"\\text(backslash|asciitilde|asciicircum|asciigrave|less|greater|bar|dagger)\{\}|\\symbol\{34\}|\\[&%$#_{}]"
    )
    for name in names:
        left = ours.sub("", latex(name).replace("{[}", "").replace("{]}", "").replace("{*}", "").replace("-{}-", ""))
        assert not re.search(r"[\\&%$#_{}~^<>|\[\]*`\"]|--|\n|[\x00-\x1f]", left), (name, latex(name))
    assert (
        latex("[a") == "{[}a" and latex("x\n\ny") == "x y"
    )  # A row may start with a name, and a cell has no paragraphs.


class Reader(html.parser.HTMLParser):
    """Collects the tags of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text.append(data)


def test_a_publication_of_hostile_names(make_facts, names, tmp_path):
    facts = make_facts()
    counts = {"dataset": "plants", "label": names, "positives": 4, "negatives": 100, "unmeasured": 0}
    outcomes = pd.DataFrame({**counts, "missing_if_positive": 0.0, "missing_if_negative": 0.0})
    predictors = pd.concat([facts.predictors.iloc[:1].assign(predictor=name, column=name) for name in names])
    groups = pd.DataFrame({"dataset": "plants", "group": names, "feature": names})
    scores = facts.table("final/plants/label_scores.csv")
    scores = pd.concat([scores.iloc[:1].assign(label=name, roc_auc=0.1 * at) for at, name in enumerate(names)])
    write_table(scores, facts.results / "final/plants/label_scores.csv")
    audit = facts.table("datasets/plants.audit.csv")
    audit = pd.concat([audit.assign(message=f"column {name!r} is {name}; fix it") for name in names])
    write_table(audit, facts.results / "datasets/plants.audit.csv")
    own, named = facts.study.data.own, {"groups": names[0], "id": names[1], "ignore": names[:9]}
    own["plants"] = own["plants"].model_copy(update=named)
    facts.memo.clear()
    facts = replace(facts, outcomes=outcomes, predictors=predictors, feature_groups=groups)
    write_publication(facts, folder := tmp_path / "publication")
    texts = {path.name: path.read_text() for path in folder.rglob("*") if path.suffix in (".md", ".html", ".tex")}
    assert {"methods.md", "data_statement.md", "checklist-reforms.md", "README.md", "methods.tex"} <= texts.keys()
    for name, text in texts.items():
        if name.endswith(".md"):
            text = text.partition("\n---\n")[2] if text.startswith("---\n") else text  # the metadata are YAML
            kinds = shown(text)[1]
            assert (
                not {"html_inline", "html_block", "image", "em_open", "strong_open", "s_open", "link_open"} & kinds
            ), name
        elif name.endswith(".html"):
            (reader := Reader()).feed(text)
            assert not {"script", "img", "b", "a"} & reader.tags, name
        else:
            assert not re.search(r"\\(input|write)|\u202e|[^\\]%(?! *$)|[^\\]#", text), name
    assert (
        escape_markdown(names[0]) in texts["methods.md"]
        and escape_markdown(names[0]) in texts["checklist-tripod-ai.md"]
    )
    for path in (folder / "tables").glob("*.csv"):
        with path.open(newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        assert not [cell for cell in cells if re.match(r"\s*[=+@]|\s*-(?![0-9.,e+-]+$)", cell)], path


def test_a_cell_of_a_paper_table_keeps_its_row(make_facts, names, tmp_path):
    table = PaperTable("a", "A.", pd.DataFrame({"label": names, "n": "1"}), [])
    write_table_files(table, make_facts(), tmp_path)
    body = (tmp_path / "a.tex").read_text().partition("\\endlastfoot\n")[2].partition("\\end{longtable}")[0]
    rows = body.splitlines()
    assert len(rows) == len(names) and all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in rows)
    assert not [row for row in rows if row.startswith(("[", "*"))]
