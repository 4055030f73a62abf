"""Test the contents of the report."""

import re

import pytest

from fairfold.core.project import REPORT
from fairfold.errors import ConfigError
from fairfold.figures import spec as specs
from fairfold.figures.spec import FigureSpec
from fairfold.report.contents import (
    Item,
    Section,
    figures_of,
    is_on,
    item_of_figure,
    load_contents,
    owner,
    select,
)


def test_files_come_in_natural_order_with_what_the_star_stands_for():
    files = [
        "figures/fig10_b.png",
        "figures/fig2_b.png",
        "figures/fig2_b.pdf",
        "other/fig1_b.png",
        "figures/x/fig1.png",
    ]
    assert select("figures/fig*_*.png", files) == [("figures/fig2_b.png", "2 b"), ("figures/fig10_b.png", "10 b")]
    assert select("figures/fig2_b.pdf", files) == [("figures/fig2_b.pdf", "")]


def test_dots_of_a_pattern_are_dots():
    assert select("figures/a.png", ["figures/axpng"]) == []


@pytest.mark.parametrize(
    ("when", "expected"),
    [("ecoc.examples", True), ("ecoc.none", False), ("ecoc.missing", False), ("ecoc.examples.deeper", False)],
)
def test_entries_may_hang_on_the_configuration(when, expected):
    assert is_on(Item("a", when=when), {"ecoc": {"examples": ["linear"], "none": []}}) is expected


def test_entries_without_a_condition_are_on():
    assert is_on(Item("a"), {})


def test_the_first_entry_that_fits_owns_a_file():
    items = [
        Item("one", "table", "tables/a.csv"),
        Item("all", "table", "tables/*.csv"),
    ]
    section = Section("s", "S", items)
    assert owner("tables/a.csv", [section]) == (section, items[0])
    assert owner("tables/b.csv", [section]) == (section, items[1])
    assert owner("tables/b.png", [section]) is None


def test_declared_contents_are_whole():
    """Anchors are unique, and every caption file exists."""
    contents = load_contents()
    ids = [section.id for section in contents]
    assert len(ids) == len(set(ids)) > 5
    texts = [section.intro for section in contents]
    texts += [item.caption for section in contents for item in section.items]
    named = [text for text in texts if text.endswith(".rst")]
    assert named
    assert all((REPORT / name).is_file() for name in named)


def test_each_caption_file_is_used():
    captions = {item.caption for section in load_contents() for item in section.items}
    captions |= {section.intro for section in load_contents()} | {"workflow.rst"}
    assert {path.name for path in REPORT.glob("*.rst")} == {name for name in captions if name.endswith(".rst")}


def test_each_figure_stands_once():
    shown = [item.spec.name for section in load_contents() for item in section.items if item.kind == "figure"]
    assert sorted(shown) == sorted(specs.figure_specs())
    assert len(shown) > 20


def test_entries_may_need_several_datasets():
    item = Item("a", several="weak_labels.datasets")
    assert not is_on(item, {"weak_labels": {"datasets": ["a"]}})
    assert is_on(item, {"weak_labels": {"datasets": ["a", "b"]}})


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{title: a, tabel: x}", "did you mean 'table'"),
        ("{title: a}", "'a': the entry shows nothing. Give it one of"),
        ("{table: x}", "has no title"),
        ("{figure: percentile_rank}", "unknown figure 'percentile_rank': did you mean 'percentile_ranks'"),
    ],
)
def test_messages_name_mistakes(tmp_path, item, message):
    path = tmp_path / "contents.yaml"
    path.write_text(f"sections: [{{id: a, title: A, items: [{item}]}}]")
    with pytest.raises(ConfigError, match=f"contents.yaml.*{re.escape(message)}"):
        load_contents(path)


@pytest.fixture
def declare(monkeypatch):
    """Declare figures that are visible only to this test."""
    specs.figure_specs()
    monkeypatch.setattr(specs, "_DECLARED", dict(specs._DECLARED))

    def declare(name, section, **options):
        spec = FigureSpec(name, section, "Mine", ["tables/a.csv"], "an empty field", "Nothing.", **options)
        spec(lambda table: None)
        return spec

    return declare


def test_a_figure_that_the_file_does_not_name_is_the_last_of_its_section(declare):
    before = {section.id: section.items for section in load_contents()}
    spec = declare("recall", "ecoc")
    after = {section.id: section.items for section in load_contents()}
    assert after.pop("ecoc") == [*before.pop("ecoc"), item_of_figure(spec)]
    assert after == before
    figures = figures_of(load_contents(), {"ecoc": None}, ["tables/a.csv"])
    assert [(each.path, each.section) for each in figures if each.label == "Mine"] == [("figures/recall", "ecoc")]


def test_a_figure_of_an_unknown_section_is_refused(declare):
    declare("recall", "ecok")
    with pytest.raises(ConfigError, match="figure 'recall': unknown section 'ecok': did you mean 'ecoc'"):
        load_contents()


CONFIG = {"part": {"jobs": {"a": {"name": "v"}, "b": {"name": "w"}, "c": {"name": "v"}}, "n": 3, "rates": [0]}}
ONE = FigureSpec("one", "win-percentage", "One", ["tables/a.csv", "b.csv"], "a line")
EACH = FigureSpec(
    "x_*",
    "win-percentage",
    "Each",
    ["x/*/c.csv"],
    "a line",
    each="part.jobs.*.name",
    only=["u", "v"],
    options={"color": "red"},
    settings={"n": "part.n"},
)
OFF = FigureSpec("off", "win-percentage", "Off", ["b.csv"], "a line", when="part.rates")
FIGURES = [
    Section(
        "win-percentage", "5 Wins", [*map(item_of_figure, (ONE, EACH, OFF)), Item("Table", "table", "tables/a.csv")]
    )
]


def test_figures_are_what_their_specs_declare():
    one, each = figures_of(FIGURES, CONFIG, ["tables/a.csv"])
    assert (one.section, one.path, one.spec) == ("win_percentage", "figures/one", ONE)
    assert one.reads == ["tables/a.csv", "b.csv"]
    assert (one.category, one.label) == ("5 Wins", "One")
    assert (each.path, each.reads) == ("figures/x_v", ["x/v/c.csv"])  # w is not among those of the entry
    assert (each.options, each.label) == ({"color": "red", "n": 3}, "Each: v")


def test_a_figure_of_a_table_that_is_not_made_is_not_drawn():
    assert [figure.path for figure in figures_of(FIGURES, CONFIG, [])] == ["figures/x_v"]
