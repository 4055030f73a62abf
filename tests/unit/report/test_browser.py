"""The report in a real browser: what is folded, sorted, pointed at, and read on a phone."""

import json
import shutil
import subprocess

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fairfold.figures import STYLE, save_figure, tell
from fairfold.report.page import render_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--virtual-time-budget=3000", "--dump-dom"),
)
REPORT = """
<script>
addEventListener("load", async () => {
  const said = {};
  const settled = () => new Promise((done) => setTimeout(done, 100));
  const shown = (element) => element.checkVisibility();
  %s
  document.documentElement.innerHTML = "";
  document.documentElement.textContent = JSON.stringify(said);
});
</script>
"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


@pytest.fixture
def ask(results, files, config, tmp_path_factory):
    """What a script finds out in the report, in a window of this width, that is opened at an anchor."""
    folder = tmp_path_factory.mktemp("browser")
    pd.DataFrame({"dataset": [f"d{n}" for n in range(40)], "n_samples": np.arange(40) * 7 % 40}).to_csv(
        results / "tables/datasets.csv", index=False
    )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 3))
        (line,) = figure.subplots().plot([0, 1, 2], [0, 1, 0], "o")
    tell(line, ["a left one", "the “middle”", "a right one"])
    save_figure(figure, [results / "figures/percentile_ranks.png"])
    html = render_report(results, files, config)

    def ask_browser(script, width=1280, anchor=""):
        page = folder / "report.html"
        page.write_text(html.replace("</body>", REPORT % script + "</body>"), "utf-8")
        window = (f"--window-size={width},900", f"--user-data-dir={folder / 'profile'}")
        done = subprocess.run(
            [BROWSER, *OPTIONS, *window, f"{page.as_uri()}{anchor}"], capture_output=True, text=True, timeout=120
        )
        text = done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1]
        return json.loads(text)

    return ask_browser


def test_all_but_the_answer_is_folded(ask):
    said = ask("""
      const folds = [...document.querySelectorAll("details.fold")];
      said.folds = folds.length;
      said.open = folds.filter((fold) => fold.open).length;
      said.answer = shown(document.querySelector("#overview ~ .item"));
      said.table = shown(document.querySelector("table"));
      document.getElementById("unfold").click();
      await settled();
      said.unfolded = folds.every((fold) => fold.open) && shown(document.querySelector("table"));
      said.name = document.getElementById("unfold").textContent;
    """)
    assert said["folds"] > 1
    assert said == {
        "folds": said["folds"],
        "open": 0,
        "answer": True,
        "table": False,
        "unfolded": True,
        "name": "Fold all",
    }


def test_links_and_addresses_unfold_what_they_lead_to(ask):
    opened = """
      said.open = [...document.querySelectorAll("details.fold")].filter((fold) => fold.open)
        .map((fold) => fold.closest("section").id);
    """
    assert ask(opened, anchor="#data-1") == {"open": ["section-data"]}
    assert ask(f"document.querySelector('#toc a[href=\"#data\"]').click(); await settled(); {opened}") == {
        "open": ["section-data"]
    }
    assert ask(f"dispatchEvent(new Event('beforeprint')); {opened}")["open"][0] == "section-data"


def test_tables_show_fifteen_rows_of_any_order(ask):
    said = ask("""
      document.getElementById("unfold").click();
      await settled();
      const table = document.querySelector("#section-data table");
      const rows = () => [...table.tBodies[0].rows].filter(shown).map((row) => row.cells[1].textContent);
      const button = table.closest(".scroll").nextElementSibling;
      said.first = [rows().length, button.textContent];
      table.tHead.rows[0].cells[1].querySelector("button").click();
      said.sorted = rows();
      button.click();
      said.all = [rows().length, button.textContent, button.getAttribute("aria-expanded")];
    """)
    assert said["first"] == [15, "All 40 rows"]
    assert said["sorted"] == [str(n) for n in range(15)]
    assert said["all"] == [40, "First 15 rows", "true"]


POINT = """
  document.getElementById("unfold").click();
  await settled();
  const picture = [...document.querySelectorAll(".picture[data-points]")].at(-1);
  const image = picture.querySelector("img");
  image.scrollIntoView();
  const box = image.getBoundingClientRect();
  const point = (x, y) => image.dispatchEvent(
    new PointerEvent("pointermove", { clientX: box.left + x * box.width, clientY: box.top + y * box.height })
  );
  const [x, y] = JSON.parse(picture.dataset.points)[1];
"""


@pytest.mark.parametrize("width", [1280, 500])
def test_a_point_says_what_it_is(ask, width):
    said = ask(
        POINT
        + """
      const note = picture.querySelector(".told");
      said.before = shown(note);
      point(x + 0.003, y - 0.01);
      said.text = [shown(note), note.textContent];
      const ring = picture.querySelector(".ring").getBoundingClientRect();
      said.ring = Math.hypot(
        ring.left + ring.width / 2 - box.left - x * box.width, ring.top + ring.height / 2 - box.top - y * box.height
      );
      said.inside = note.getBoundingClientRect().right <= image.parentElement.getBoundingClientRect().right;
      point(x, y + 0.5);
      said.away = shown(note);
    """,
        width,
    )
    assert said.pop("ring") < 2
    assert said == {"before": False, "text": [True, "the “middle”"], "inside": True, "away": False}


def test_on_a_phone_letters_keep_their_size(ask):
    said = ask(
        POINT
        + """
      said.page = document.documentElement.scrollWidth <= innerWidth;
      said.image = [image.getBoundingClientRect().width, Number(image.getAttribute("width"))];
      said.moves = image.parentElement.scrollWidth > image.parentElement.clientWidth;
    """,
        width=500,  # the narrowest window that the browser opens
    )
    assert said["page"] and said["moves"]
    assert said["image"][0] == said["image"][1] > 500


def test_the_keyboard_reaches_all_that_can_be_done(ask):
    said = ask("""
      const active = ["summary", "th button", "a.zoom", ".scroll", "#unfold", ".rows"];
      said.reached = active.map((selector) => document.querySelector(selector).tabIndex);
      said.named = [...document.querySelectorAll("img")].every((image) => image.alt.length > 20);
      said.errors = [...document.querySelectorAll("button, summary")].filter((each) => !each.textContent.trim()).length;
    """)
    assert said == {"reached": [0] * 6, "named": True, "errors": 0}
