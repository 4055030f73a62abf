"""Test the page of the report."""

import base64
import io
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest
from docutils.core import publish_doctree
from docutils.utils import SystemMessage
from PIL import Image

from fairfold.core.config import load_yaml
from fairfold.core.files import read_table
from fairfold.planning.check import check_config
from fairfold.report.contents import Item, Section, load_contents, pages_of
from fairfold.report.page import render_report
from fairfold.report.templates import plain_text, text_html

VERDICTS = ["best", "not different", "worse", "not tested", "same as RF+ET", "no score"]
VOID = {"meta", "link", "img", "br", "wbr", "hr", "input"}


class Page(HTMLParser):
    """HTML parser that collects elements and attributes, and requires tags to be closed in reverse order."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    def attributes(self, tag, name):
        return [attributes[name] for each, attributes in self.elements if each == tag and name in attributes]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture
def page(results, files, config):
    return Page(render_report(results, files, config))


def test_anchors_are_unique_and_links_lead_to_them(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert max(Counter(ids).values()) == 1
    anchors = [href[1:] for href in page.attributes("a", "href") if href.startswith("#")]
    assert len(anchors) > 10
    assert set(anchors) <= set(ids)


def test_the_page_needs_nothing_else(page):
    assert page.attributes("script", "src") == []
    assert page.attributes("link", "href") == ["data:,"]
    assert all(source.startswith("data:image/png;base64,") for source in page.attributes("img", "src"))
    assert not any(re.match(r"[a-z]+:|//", href) for href in page.attributes("a", "href"))
    assert any("default-src 'none'" in content for content in page.attributes("meta", "content"))


def test_figures_are_whole_and_described(page, results):
    source = page.attributes("img", "src")[0].partition(",")[2]
    with Image.open(io.BytesIO(base64.b64decode(source))) as image:
        assert image.size == (400, 100)
    assert len(page.attributes("img", "alt")) == 1
    assert all(len(alternative) > 20 for alternative in page.attributes("img", "alt"))
    captions = [attributes["id"] for tag, attributes in page.elements if tag == "figcaption"]
    assert page.attributes("img", "aria-describedby") == captions
    assert page.attributes("img", "width")[0] == "192"
    assert page.attributes("img", "height")[0] == "48"
    assert page.attributes("a", "href").count("figures/percentile_ranks.pdf") == 1


def test_what_users_name_is_escaped(page):
    assert "<script>alert(1)</script>" in page.text
    assert "</pre><b>" in page.text
    assert page.attributes("b", "id") == []
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 1


def test_numbers_follow_the_order_of_the_page(results, files, config):
    items = [
        Item("Folded", "table", "tables/datasets.csv"),
        Item("Open", "table", "tables/percentile_ranks.csv", open=True),
    ]
    text = Page(render_report(results, files, config, [Section("data", "Data", items)])).text
    assert text.index("Table 1 Open") < text.index("Table 2 Folded")


def test_sections_without_files_are_left_out(page):
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section" and "id" in attributes]
    assert sections == ["section-ranks", "section-data", "section-about"]


def test_missing_results_are_named(results, files, config):
    config.splitting.datasets = ["a"]
    (results / "tables/split_summary.csv").write_text("dataset\na\n")
    text = Page(render_report(results, [*files, "tables/split_summary.csv"], config, page="papers")).text
    assert re.search(r"Not made by this configuration: Behavior of the measures; Label matrices; Deviation", text)
    assert "Effect of folds on scores" not in text  # switched off and therefore not missing


def test_parts_of_papers_have_their_own_page(results, files, config):
    config.splitting.datasets = ["a"]
    (results / "tables/split_summary.csv").write_text("dataset\na\n")
    contents = load_contents()
    assert pages_of(contents, files, config) == ["report"]
    assert pages_of(contents, [*files, "tables/split_summary.csv"], config) == ["report", "papers"]
    report = Page(render_report(results, [*files, "tables/split_summary.csv"], config))
    papers = Page(render_report(results, [*files, "tables/split_summary.csv"], config, page="papers"))
    assert "Quality of splits" in papers.text and "Quality of splits" not in report.text
    assert "papers.html" in report.attributes("a", "href") and "report.html" in papers.attributes("a", "href")
    assert "papers.html" not in Page(render_report(results, files, config)).attributes("a", "href")


def test_the_title_is_the_verdict(results, files, config, write_answers):
    page = Page(render_report(results, [*files, write_answers("water")], config))
    assert page.text.startswith("Use RF+ET on water")
    assert page.text.count("Use RF+ET on water") == 2  # the title of the window and of the page
    two = Page(render_report(results, [*files, write_answers("water", "<b>")], config))
    assert two.text.startswith("Use RF+ET on water, RF+ET on <b>")
    many = Page(render_report(results, [*files, write_answers(*"abcde")], config))
    assert many.text.startswith("Verdicts on 5 datasets")
    assert Page(render_report(results, files, config)).text.startswith("Results of the study")


def test_the_leaderboard_has_eight_columns_and_honest_verdicts(results, files, config, write_answers):
    html = render_report(results, [*files, write_answers("water")], config)
    board = html[html.index('<table class="sortable leaderboard">') :].partition("</table>")[0]
    assert len(re.findall(r'<th scope="col"', board)) == 8
    tags = re.findall(r'<span class="tag">(.*?)</span>', board)
    assert [tag.removesuffix(", fastest") for tag in tags] == VERDICTS
    assert not re.search("nan|False|True", board)


def test_all_tables_fit_the_page(results, files, config):
    pd.DataFrame({f"c{n}": [n, n + 1] for n in range(30)}).to_csv(results / "tables/datasets.csv", index=False)
    html = render_report(results, files, config)
    assert max(table.count("<th scope") for table in html.split("</thead>")) <= 8
    assert "8 of 30 columns." in Page(html).text


def test_what_one_dataset_cannot_show_is_left_out(results, files, config, write_answers):
    config.weak_labels.datasets = ["a"]
    page = Page(render_report(results, [*files, write_answers("a")], config))
    assert "Percentile ranks" not in page.text
    assert page.attributes("img", "src") == []


def test_stale_files_are_left_alone(results, files, config):
    kept = [file for file in files if "percentile_ranks" not in file]
    text = Page(render_report(results, kept, config)).text
    assert "Table 1 Datasets" in text
    assert "RF+ET 0.5" not in text


def test_files_that_no_entry_names_come_last(results, files, config):
    (results / "tables/new_table.csv").write_text("x\n1\n")
    text = Page(render_report(results, [*files, "tables/new_table.csv"], config)).text
    assert "Other results 1 table Table 3 tables/new_table.csv" in text
    assert "Other results" not in Page(render_report(results, files, config)).text
    (results / "figures/new.png").write_bytes((results / "figures/percentile_ranks.png").read_bytes())
    page = Page(render_report(results, [*files, "figures/new.png"], config))
    assert page.attributes("img", "alt")[-1] == "figures/new.png"


def test_costs_versions_and_configuration_are_reported(page):
    assert "train_model" in page.text
    assert "300 MiB" in page.text
    assert "snakemake" in page.text


def test_tables_have_links_to_their_files(page):
    hrefs = page.attributes("a", "href")
    assert "tables/datasets.csv" in hrefs
    assert hrefs.count("tables/datasets.csv") == 2  # below the table and among all tables
    assert "CSV files with all rows" in page.text


AUDIT = "dataset,check,severity,where,message,evidence\n"


def test_warnings_stand_on_the_first_screen(results, files, config, write_answers):
    rows = "NA,named like a fold,warning,<cv>,x; leave it out,\nNA,size,note,rows,x; y,\n"
    rows += "NA,duplicated rows,warning,rows,3 rows; remove,\n"
    (results / "tables/audit.csv").write_text(AUDIT + rows)
    board = write_answers("NA", audit=read_table(results / "tables/audit.csv"))
    text = Page(render_report(results, [*files, "tables/audit.csv", board], config)).text
    first, rest = text.split("The audit looks for", 1)
    assert "Data warnings 2" in first
    assert "Named like a fold, duplicated rows." in first
    assert "<cv>" in rest
    text = Page(render_report(results, [*files, write_answers("NA")], config)).text
    assert "Data warnings none" in text and "Check your data" not in text


PUBLISHED = "paper,place,what,published,ours,standard_error,difference_in_se,difference_in_digits,note\n"


def test_published_numbers_stand_beside_ours(results, files, config):
    rows = 'paper,Table 1,"a, 50, mcc",0.25,0.3,0.1,0.5,,other folds\npaper,Table 1,"b, 50, mcc",0.5,,,,,not here\n'
    (results / "tables/published.csv").write_text(PUBLISHED + rows)
    text = Page(render_report(results, [*files, "tables/published.csv"], config, page="papers")).text
    assert "paper: 2 published numbers, 1 with a counterpart here; 1 of 1 that scatter are within two" in text
    assert "a, 50, mcc 0.2500 0.3000" in text and "b, 50, mcc 0.5000" in text
    assert "difference_ in_" in text


def test_no_published_number_is_reported(results, files, config):
    (results / "tables/published.csv").write_text(PUBLISHED)
    page = Page(render_report(results, [*files, "tables/published.csv"], config, page="papers"))
    assert "None of this configuration's data are those of a publication" in page.text
    assert "difference_ in_" not in page.text
    assert "Other results" not in page.text


def test_long_tables_are_cut_and_state_so(results, files, config):
    (results / "tables/datasets.csv").write_text("dataset\n" + "a\n" * 1234)
    text = Page(render_report(results, files, config)).text
    assert "First 60 of 1,234 rows. CSV" in text


def test_patterns_do_not_repeat_what_an_earlier_entry_shows(results, files, config):
    items = [Item("One", "table", "tables/datasets.csv"), Item("Rest", "table", "tables/*.csv")]
    page = Page(render_report(results, files, config, [Section("s", "S", items)]))
    assert page.text.count("CSV with all digits") == 2


def test_tables_may_be_links_only(results, files, config):
    item = Item("Numbers", "table", "tables/datasets.csv", embed=False)
    page = Page(render_report(results, files, config, [Section("s", "S", [item])]))
    assert "More tables Numbers: CSV" in page.text
    assert "1,500" not in page.text
    whole = Section("s", "S", [replace(item, embed=True)])
    assert "1,500" in Page(render_report(results, files, config, [whole])).text


def test_same_files_make_the_same_page(results, files, config):
    assert render_report(results, files, config) == render_report(results, files[::-1], config)


def test_every_caption_can_be_filled_in(root):
    """With the whole configuration, docutils reports no problem in the declared contents."""
    whole = check_config(load_yaml(root / "config" / "config.yaml"))
    strict = {"halt_level": 2, "report_level": 5}  # the report itself ignores warnings
    with pytest.raises(SystemMessage, match="Inline emphasis start-string"):
        publish_doctree("an *open end", settings_overrides=strict)
    for section in load_contents():
        for text in [section.intro, *(item.caption for item in section.items)]:
            publish_doctree(plain_text(text, whole), settings_overrides=strict)
            assert "{{" not in text_html(text, whole)


@pytest.mark.parametrize(("levels_by", "is_reported"), [("observed", False), ("complete", True)])
def test_levels_that_no_user_could_choose_are_reported(root, levels_by, is_reported):
    whole = load_yaml(root / "config" / "config.yaml")
    whole["weak_labels"]["levels_by"] = levels_by
    check_config(whole)
    assert ("labels that were hidden from them" in plain_text("overview.rst", whole).replace("\n", " ")) is is_reported


def test_a_study_that_hides_no_positives_does_not_say_that_it_does(root):
    whole = load_yaml(root / "config" / "config.yaml")
    check_config(whole)
    (intro,) = (section.intro for section in load_contents() if section.id == "weak-labels")
    texts = "overview.rst", "workflow.rst", intro
    hides = re.compile("is hidden|labels hidden|trial hides").search
    assert all(map(hides, _filled(texts, whole)))
    whole["weak_labels"]["missing_rates"] = [0]
    as_they_are = _filled(texts, whole)
    assert "the labels as they are, and scored" in as_they_are[0] and "hides no positives" in as_they_are[2]
    assert not any(map(hides, as_they_are))


def _filled(texts, config):
    return [" ".join(plain_text(text, config).split()) for text in texts]


SCORES = "dataset,missing_rate,model,fold,metric,value,reason\n"


def test_what_failed_is_reported_first_with_its_reason(results, files, config):
    failed = "NA,50,SLCForest,0,mcc,,level 1 is <not> finite.\nNA,50,SLCForest,1,mcc,,level 1 is <not> finite.\n"
    (results / "tables/weak_label_scores.csv").write_text(f"{SCORES}NA,0,RF+ET,0,mcc,0.5,\n{failed}")
    page = Page(render_report(results, [*files, "tables/weak_label_scores.csv"], config))
    (box,) = [attributes for _, attributes in page.elements if "failures" in attributes.get("class", "")]
    assert box["class"] == "item failures"
    assert "NA 50 SLCForest 2 level 1 is <not> finite." in page.text
    links = [attributes for tag, attributes in page.elements if tag == "a"]
    assert [link["href"] for link in links if link.get("class") == "alarm"] == ["#gaps-1"]
    assert "Missing from this study 2 not computed Not computed (2)" in page.text  # in the table of contents


def test_nothing_is_reported_where_nothing_failed(results, files, config):
    (results / "tables/weak_label_scores.csv").write_text(f"{SCORES}a,0,RF+ET,0,mcc,0.5,\n")
    html = render_report(results, [*files, "tables/weak_label_scores.csv"], config)
    assert "ot computed" not in html
    assert 'class="alarm"' not in html
