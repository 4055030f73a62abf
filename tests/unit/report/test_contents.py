"""What stands in the report."""

import subprocess
import sys
from pkgutil import resolve_name

import pytest

from fairfold.errors import ConfigError
from fairfold.figures import nothing_to_draw
from fairfold.figures.spec import FigureSpec
from fairfold.report import contents
from fairfold.report.contents import FOLDER, caption_file, figures_of, is_on, load_contents, owner, select


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
    assert is_on({"when": when}, {"ecoc": {"examples": ["linear"], "none": []}}) is expected


def test_entries_without_a_condition_are_on():
    assert is_on({}, {})


def test_the_first_entry_that_fits_owns_a_file():
    items = [{"title": "one", "table": "tables/a.csv"}, {"title": "all", "table": "tables/*.csv"}]
    contents = [{"title": "S", "items": [{"title": "key", "key_figure": "tables/a.csv"}, *items]}]
    assert owner("tables/a.csv", contents) == (contents[0], items[0])
    assert owner("tables/b.csv", contents) == (contents[0], items[1])
    assert owner("tables/b.png", contents) is None


def test_captions_fall_back_on_the_section():
    items = [{"table": "a", "caption": "own.rst"}, {"table": "b", "caption": "words"}]
    contents = [{"title": "S", "intro": "section.rst", "items": items}]
    assert caption_file("a", contents) == "own.rst"
    assert caption_file("b", contents) == "section.rst"
    assert caption_file("c", contents) is None


def test_declared_contents_are_whole():
    """Anchors are unique, and every caption that is a file is there."""
    contents = load_contents()
    ids = [section["id"] for section in contents]
    assert len(ids) == len(set(ids)) > 5
    texts = [section.get("intro", "") for section in contents]
    texts += [item.get("caption", "") for section in contents for item in section["items"]]
    named = [text for text in texts if text.endswith(".rst")]
    assert named
    assert all((FOLDER / name).is_file() for name in named)


def test_what_stands_open_is_the_answer_and_what_casts_doubt_on_it():
    doubts = ["Data that the study was made without", "Not computed", "Warnings about your data"]
    items = [item for section in load_contents() for item in section["items"] if item.get("open")]
    assert [item["title"] for item in items] == [*doubts, "The answer", "Which models lead"]


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ("{title: a, figur: x}", "did you mean 'figure'"),
        ("{title: a}", "figure"),
        ("{figure: x}", "title"),
        ("{title: a, figure: x.png, draw: 'x:plot_x', reads: [t.csv], caption: c}", "alt"),
        ("{title: a, key_figure: x.png, alt: what one sees}", "caption"),
    ],
)
def test_mistakes_are_told(tmp_path, item, told):
    path = tmp_path / "contents.yaml"
    path.write_text(f"sections: [{{id: a, title: A, items: [{item}]}}]")
    with pytest.raises(ConfigError, match=told):
        load_contents(path)


@pytest.fixture
def own_figure(monkeypatch):
    """Declares one more figure, of this name and section."""

    def declare(name, section):
        texts = ("Mine", "an empty field", "Nothing.")
        spec = FigureSpec(name, nothing_to_draw, ["tables/a.csv"], section, *texts, options={"reason": "none"})
        monkeypatch.setattr(contents, "_own_figures", lambda: [(spec, "fairfold.figures.catalogue.mine")])

    return declare


def test_a_figure_in_a_file_of_its_own_is_the_last_of_its_section(own_figure):
    before = {section["id"]: section["items"] for section in load_contents()}
    own_figure("recall", "ecoc")
    after = {section["id"]: section["items"] for section in load_contents()}
    assert after.pop("ecoc") == [
        *before.pop("ecoc"),
        {
            **{"title": "Mine", "figure": "figures/recall.png", "reads": ["tables/a.csv"]},
            **{"alt": "an empty field", "caption": "Nothing."},
            **{"draw": "catalogue.mine:nothing_to_draw", "options": {"reason": "none"}},
        },
    ]
    assert after == before
    figures = figures_of(load_contents(), {"ecoc": None}, ["tables/a.csv"])
    assert [(each.draw, each.section) for each in figures if each.label == "Mine"] == [
        ("fairfold.figures.catalogue.mine:nothing_to_draw", "ecoc")
    ]


@pytest.mark.parametrize(
    ("name", "section", "told"),
    [
        ("percentile_ranks", "ecoc", "there is a figure 'percentile_ranks' already"),
        ("recall", "ecok", "figure 'recall': unknown section 'ecok': did you mean 'ecoc'"),
    ],
)
def test_mistakes_of_a_figure_in_a_file_of_its_own_are_told(own_figure, name, section, told):
    own_figure(name, section)
    with pytest.raises(ConfigError, match=f"catalogue.mine.*{told}"):
        load_contents()


def test_without_such_figures_planning_waits_for_no_matplotlib():
    ask = "import sys, fairfold.report.contents as it; it.load_contents(); print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


FIGURES = [
    {
        "id": "win-percentage",
        "title": "5 Wins",
        "intro": "wins.rst",
        "items": [
            {"title": "One", "figure": "figures/one.png", "draw": "ones:plot_one", "reads": ["tables/a.csv", "b.csv"]},
            {
                **{"title": "Each", "figure": "figures/x_*.png", "draw": "ones:plot_each", "reads": ["x/*/c.csv"]},
                **{"each": "part.jobs.*.name", "only": ["u", "v"]},
                **{"options": {"colour": "red"}, "settings": {"n": "part.n"}},
            },
            {"title": "Off", "when": "part.rates", "figure": "o.png", "draw": "ones:plot_off", "reads": ["b.csv"]},
            {"title": "Table", "table": "tables/a.csv"},
        ],
    }
]
CONFIG = {"part": {"jobs": {"a": {"name": "v"}, "b": {"name": "w"}, "c": {"name": "v"}}, "n": 3, "rates": [0]}}


def test_figures_are_what_the_contents_declare():
    one, each = figures_of(FIGURES, CONFIG, ["tables/a.csv"])
    assert (one.section, one.path) == ("win_percentage", "figures/one")
    assert (one.draw, one.reads) == ("fairfold.figures.ones:plot_one", ["tables/a.csv", "b.csv"])
    assert (one.category, one.label, one.caption) == ("5 Wins", "One", "wins.rst")
    assert (each.path, each.reads) == ("figures/x_v", ["x/v/c.csv"])  # w is not among those of the entry
    assert (each.options, each.label) == ({"colour": "red", "n": 3}, "Each: v")


def test_a_figure_of_a_table_that_is_not_made_is_not_drawn():
    assert [figure.path for figure in figures_of(FIGURES, CONFIG, [])] == ["figures/x_v"]


def test_each_declared_figure_has_a_function_of_its_own():
    items = [item for section in load_contents() for item in section["items"] if "draw" in item]
    assert len({item["draw"] for item in items}) == len(items) > 20
    for item in items:
        module, function = item["draw"].split(":")
        assert callable(resolve_name(f"fairfold.figures.{module}:{function}"))
