"""Test the report in a real browser: folding, sorting, hovering and small screens."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from fairfold.core.files import write_table
from fairfold.core.formulas import unprotect_table
from fairfold.evaluation.certified import certified_table, curve_table
from fairfold.figures import STYLE, add_tooltips, save_figure
from fairfold.recommendation.checked import cells_of_sheet
from fairfold.recommendation.predictions import decisions as count_decisions
from fairfold.report.check_page import render_check_page
from fairfold.report.dataset_page import TABLES, render_dataset_page
from fairfold.report.page import render_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--remote-debugging-pipe"),
)
SCRIPT = """(async () => {
  const got = {};
  const rendered = () => new Promise((done) => setTimeout(done, 100));
  const shown = (element) => element.checkVisibility();
  %s
  return got;
})()"""
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
KEYS |= {"ArrowDown": 40, "y": 89, "n": 78, "u": 85, "z": 90}
PATIENCE = 120  # seconds; the machine may be busy

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
    pytest.mark.skipif(sys.platform == "win32", reason="pipes are handed over as on POSIX systems"),
]


class Browser:
    """Headless Chromium, controlled by its DevTools protocol over two pipes."""

    def __init__(self, profile):
        theirs, self.commands = os.pipe()
        self.answers, also_theirs = os.pipe()

        def hand_over():  # the browser reads from descriptor 3 and writes to 4
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs, also_theirs)]
            for number, end in enumerate(ends, start=3):
                os.dup2(end, number)

        command = [BROWSER, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=hand_over, **silent)
        os.close(theirs)
        os.close(also_theirs)
        self.number, self.rest = 0, b""

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)

    def receive(self):
        """Return the next message."""
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], PATIENCE)[0]:
                raise TimeoutError(f"{BROWSER} says nothing for {PATIENCE} seconds.")
            self.rest += os.read(self.answers, 1 << 16) or b"\0"
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, until=None, **parameters):
        """Return the result of a command, after the named event if one is given."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        os.write(self.commands, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        result = None
        while result is None or until is not None:
            message = self.receive()
            if message.get("id") == self.number:
                assert "error" not in message, message
                result = message["result"]
            elif message.get("method") == until:
                until = None
        return result

    def open(self, address, width):
        """Open a page in a new tab."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        page.call("Emulation.setFocusEmulationEnabled", enabled=True)
        page.call("Page.enable")
        page.call("Page.navigate", until="Page.loadEventFired", url=address)
        return page


class Page:
    """A browser tab that runs scripts and receives key presses."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def ask(self, script):
        """Return the value that a script has stored in ``got``."""
        options = {"awaitPromise": True, "returnByValue": True}
        done = self.call("Runtime.evaluate", expression=SCRIPT % script, **options)
        assert "exceptionDetails" not in done, done
        return done["result"]["value"]

    def press(self, key):
        code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def seen_by_screen_readers(self, role):
        """Return the name, description and value of the elements of a role."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        chosen = [node for node in nodes if not node["ignored"] and node["role"]["value"] == role]
        return [
            tuple(node.get(what, {}).get("value", "") for what in ("name", "description", "value")) for node in chosen
        ]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Start the browser once. Restart it if it hangs at startup, which happens on busy machines."""
    for attempt in range(3):
        started = Browser(tmp_path_factory.mktemp("profile"))
        try:
            started.call("Browser.getVersion")
        except TimeoutError:
            started.close()
            if attempt == 2:
                raise
            continue
        yield started
        started.close()
        return


@pytest.fixture
def open_page(browser, tmp_path):
    """Open HTML at an anchor in a window of this width."""
    opened = []

    def open_html(html, width=1280, anchor=""):
        path = tmp_path / f"page-{len(opened)}.html"
        path.write_text(html, "utf-8")
        opened.append(browser.open(f"{path.as_uri()}{anchor}", width))
        return opened[-1]

    yield open_html
    for page in opened:
        browser.call("Target.closeTarget", targetId=page.target)


@pytest.fixture
def html(results, files, config, write_answers):
    """Return the HTML of a report."""
    pd.DataFrame({"dataset": [f"d{n}" for n in range(40)], "n_samples": np.arange(40) * 7 % 40}).to_csv(
        results / "tables/datasets.csv", index=False
    )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 3))
        (line,) = figure.subplots().plot([0, 1, 2], [0, 1, 0], "o")
    add_tooltips(line, ["a left one", "the “middle”", "a right one"])
    save_figure(figure, [results / "figures/percentile_ranks.png", results / "figures/regret.png"])
    P = np.linspace(1, 0, 401)[:, np.newaxis]
    curves = curve_table(np.hstack([P > 0.5, P > 0.8, P > 2]), np.hstack([P, P, P]), ["leaf", "<i>", "rare"])
    (results / "tables/certified").mkdir()
    write_table(certified_table(curves, 401).assign(dataset="d1", model="kNN"), results / "tables/certified/d1.csv")
    return render_report(
        results, [*files, "figures/regret.png", "tables/certified/d1.csv", write_answers("d1")], config
    )


@pytest.fixture
def ask(open_page, html):
    """Open the report at an anchor in a window of this width, and return the result of a script."""
    return lambda script, width=1280, anchor="": open_page(html, width, anchor).ask(script)


def test_all_but_the_answer_is_folded(ask):
    got = ask("""
      const folds = [...document.querySelectorAll("details.fold")];
      got.folds = folds.length;
      got.open = folds.filter((fold) => fold.open).length;
      got.inside = document.querySelector("#section-ranks summary").textContent;
      got.tables = [...document.querySelectorAll("table")].filter(shown).map((table) => table.className);
      document.getElementById("unfold").click();
      await rendered();
      got.unfolded = folds.every((fold) => fold.open) && shown(document.querySelector("#section-data table"));
      got.name = document.getElementById("unfold").textContent;
    """)
    assert got["folds"] > 1
    assert got == {
        "folds": got["folds"],
        "open": 0,
        "inside": "1 figure, 1 table",
        "tables": ["sortable leaderboard", "sortable", "sortable short"],
        "unfolded": True,
        "name": "Fold all",
    }


def test_links_and_addresses_unfold_what_they_lead_to(ask):
    opened = """
      got.open = [...document.querySelectorAll("details.fold")].filter((fold) => fold.open)
        .map((fold) => fold.closest("section").id);
    """
    folded = "document.querySelector('#section-ranks details [id^=ranks-]').id"
    assert ask(f"location.hash = {folded}; await rendered(); {opened}") == {"open": ["section-ranks"]}
    assert ask(f"document.querySelector('#toc a[href=\"#ranks\"]').click(); await rendered(); {opened}") == {
        "open": ["section-ranks"]
    }
    assert ask(opened, anchor="#ranks-1") == {"open": []}  # is always open
    got = ask(f"dispatchEvent(new Event('beforeprint')); {opened} got.folds = folds.length;")
    assert len(got["open"]) == got["folds"] > 1


def test_tables_show_fifteen_rows_of_any_order(ask):
    got = ask("""
      document.getElementById("unfold").click();
      await rendered();
      const table = document.querySelector("#section-data table");
      const rows = () => [...table.tBodies[0].rows].filter(shown).map((row) => row.cells[1].textContent);
      const button = table.closest(".scroll").nextElementSibling;
      got.first = [rows().length, button.textContent];
      table.tHead.rows[0].cells[1].querySelector("button").click();
      got.sorted = rows();
      const score = document.querySelector("table.leaderboard th.gain");
      score.querySelector("button").click();
      got.best = score.ariaSort;
      button.click();
      got.all = [rows().length, button.textContent, button.getAttribute("aria-expanded")];
    """)
    assert got["first"] == [15, "All 40 rows"]
    assert got["sorted"] == [str(n) for n in range(15)]
    assert got["best"] == "descending"  # the best score first
    assert got["all"] == [40, "First 15 rows", "true"]


POINT = """
  document.getElementById("unfold").click();
  await rendered();
  const picture = [...document.querySelectorAll(".picture[data-points]")].at(-1);
  const image = picture.querySelector("img");
  image.scrollIntoView();
  const box = image.getBoundingClientRect();
  const point = (x, y) => image.dispatchEvent(
    new PointerEvent("pointermove", { clientX: box.left + x * box.width, clientY: box.top + y * box.height })
  );
  const [x, y] = JSON.parse(picture.dataset.points)[1];
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_point_states_what_it_is(ask, width):
    got = ask(
        POINT
        + """
      const note = picture.querySelector(".tooltip");
      got.before = note.textContent;
      point(x + 0.003, y - 0.01);
      got.text = note.textContent;
      const ring = picture.querySelector(".ring").getBoundingClientRect();
      got.ring = Math.hypot(
        ring.left + ring.width / 2 - box.left - x * box.width, ring.top + ring.height / 2 - box.top - y * box.height
      );
      got.inside = note.getBoundingClientRect().right <= image.closest(".frame").getBoundingClientRect().right;
      point(x, y + 0.5);
      got.away = note.textContent;
    """,
        width,
    )
    assert got.pop("ring") < 2
    assert got == {"before": "", "text": "the “middle”", "inside": True, "away": ""}


def test_on_a_phone_letters_keep_their_size(ask):
    got = ask(
        POINT
        + """
      got.page = document.documentElement.scrollWidth <= innerWidth;
      got.image = [image.getBoundingClientRect().width, Number(image.getAttribute("width"))];
      const frame = image.closest(".frame");
      got.moves = frame.scrollWidth > frame.clientWidth;
    """,
        width=390,
    )
    assert got["page"] and got["moves"]
    assert got["image"][0] == got["image"][1] > 500


@pytest.mark.parametrize("width", [1280, 390])
def test_keys_go_through_the_points_of_a_figure(open_page, html, width):
    page = open_page(html, width)
    read = """
      const note = document.querySelector(".tooltip");
      const ring = document.querySelector(".ring");
      const box = ring.getBoundingClientRect();
      const frame = ring.closest(".frame").getBoundingClientRect();
      got.text = note.textContent;
      got.seen = shown(ring) && box.left >= frame.left && box.right <= frame.right && box.bottom <= innerHeight;
    """
    page.ask("document.getElementById('unfold').click(); await rendered(); document.querySelector('.zoom').focus();")
    page.press("Tab")  # to the links below, after the slider between
    got = [page.ask(read)]
    for key in ("ArrowRight", "End", "ArrowLeft", "Home"):
        page.press(key)
        got.append(page.ask(read))
    texts = ["a left one", "the “middle”", "a right one", "the “middle”", "a left one"]
    assert got == [{"text": text, "seen": True} for text in texts]
    assert page.ask("got.opacity = getComputedStyle(document.activeElement).opacity;") == {"opacity": "1"}
    page.press("Escape")
    assert page.ask(read) == {"text": "", "seen": False}
    page.press("ArrowRight")
    assert page.ask(read)["text"] == "the “middle”"
    page.press("Tab")
    assert page.ask(f"{read} got.link = document.activeElement.textContent;") == {
        "text": "",
        "seen": False,
        "link": "PDF",
    }
    assert page.ask("got.width = document.documentElement.scrollWidth;")["width"] <= width


@pytest.mark.parametrize("width", [1280, 390])
def test_a_menu_chooses_the_certified_precision(open_page, html, width):
    page = open_page(html, width)
    look = """
      const chooser = document.querySelector(".targets");
      const dot = chooser.querySelector("tbody .at").getBoundingClientRect();
      const curve = chooser.querySelector("tbody svg").getBoundingClientRect();
      got.rows = [...chooser.querySelector("tbody").rows].map((row) => [...row.cells].map((cell) => cell.textContent));
      got.said = chooser.querySelector("output").textContent;
      got.option = chooser.querySelector(".option").textContent;
      got.inside = dot.left >= curve.left && dot.right <= curve.right && dot.bottom <= curve.bottom + 2;
      got.fits = Math.max(document.documentElement.scrollWidth, chooser.getBoundingClientRect().right) <= innerWidth;
      got.dots = [...chooser.querySelectorAll(".at")].map((each) => each.getAttribute("visibility") !== "hidden");
    """
    first = page.ask(look)
    assert first["said"] == "2 of 3 labels certified at 90 %" and first["option"] == "--precision 0.9"
    assert first["rows"][2] == ["rare", "", "", "", "", "", "no recorded positive"]
    page.ask("document.querySelector('.targets select').focus();")
    page.press("ArrowDown")
    page.press("ArrowDown")
    last = page.ask(look)
    assert last["option"] == "--precision 0.99" and last["said"] == "0 of 3 labels certified at 99 %"
    assert last["rows"][0][2:6] == [""] * 4 and "are needed" in last["rows"][0][6]
    assert first["fits"] and first["inside"] and last["fits"] and first["dots"] == [True] * 2
    assert page.seen_by_screen_readers("combobox")[0][0] == "Precision of kNN"


def test_escape_closes_what_the_pointer_has_opened(open_page, html):
    page = open_page(html)
    page.ask(POINT + "point(x, y);")
    assert page.ask(
        got := "got.texts = [...document.querySelectorAll('.tooltip')].map((note) => note.textContent);"
    ) == {"texts": ["", "the “middle”"]}
    page.press("Escape")
    assert page.ask(got) == {"texts": ["", ""]}


def test_what_screen_readers_have_of_a_figure(open_page, html):
    page = open_page(html)
    page.ask("document.getElementById('unfold').click(); await rendered();")
    (name, caption, _), (curve, *_), *_ = page.seen_by_screen_readers("image")
    assert curve == "leaf: decisions are certified up to a precision of 95 %"
    assert name == "box plots of the percentile ranks of each model, a panel for each metric and missing rate"
    assert caption.startswith("Percentile ranks of the models")
    (label, _, number), _ = page.seen_by_screen_readers("slider")
    assert label == f"3 points of the figure: {name}" and number == 1
    assert len(page.seen_by_screen_readers("status")) == 3  # exists before it has a message
    page.ask("document.querySelector('.step').focus(); await rendered();")
    page.press("ArrowRight")
    (_, _, number), _ = page.seen_by_screen_readers("slider")
    assert number == 2
    assert page.ask("got.text = document.querySelector('[role=status]').textContent;") == {"text": "the “middle”"}


def test_the_keyboard_reaches_all_that_can_be_done(ask):
    got = ask("""
      const active = ["summary", "th button", "a.zoom", ".step", ".scroll", "#unfold", ".rows"];
      got.reached = active.map((selector) => document.querySelector(selector).tabIndex);
      const images = [...document.querySelectorAll("img")];
      got.named = images.every((image) => image.alt.length > 20);
      const captions = images.map((image) => document.getElementById(image.getAttribute("aria-describedby")));
      got.described = captions.every((caption, k) =>
        caption === images[k].closest("figure").querySelector("figcaption"));
      got.errors = [...document.querySelectorAll("button, summary")].filter((each) => !each.textContent.trim()).length;
    """)
    assert got == {"reached": [0] * 7, "named": True, "described": True, "errors": 0}


@pytest.fixture
def decisions(results):
    """Write the decisions on two labels, and return the path of the table."""
    Y = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], dtype=float)
    P = np.array([[0.1, 0.2], [0.45, 0.8], [0.42, 0.9], [0.9, 0.3]])
    (results / "tables/decisions").mkdir()
    table = count_decisions(Y, P, ["leaf", "<b>"]).assign(dataset="d", model="kNN")
    table.to_csv(results / "tables/decisions/d.csv", index=False)
    return "tables/decisions/d.csv"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reader_chooses_the_threshold(open_page, results, files, config, decisions, width):
    page = open_page(render_report(results, [*files, decisions], config), width)
    look = """
      const chooser = document.querySelector(".chooser"), slider = chooser.querySelector("input");
      %s
      got.rows = [...chooser.querySelector("tbody").rows].map((row) => [...row.cells].map((cell) => cell.textContent));
      got.pooled = chooser.querySelector(".pooled").textContent.replace("All labels together: ", "");
      got.threshold = chooser.querySelector("output").textContent;
      got.options = [chooser.querySelector(".option").textContent, slider.getAttribute("aria-valuetext")];
      got.fits = document.documentElement.scrollWidth <= innerWidth;
    """
    assert page.ask(look % "") == {
        "rows": [
            ["leaf", "2", "1", "0", "1", "2", "1.000", "0.500"],
            ["<b>", "2", "2", "0", "0", "2", "1.000", "1.000"],
        ],
        "pooled": "precision 1.000, recall 0.750, F1 0.857, MCC 0.775",
        "threshold": "0.50",
        "options": ["--threshold 0.50", "0.50"],
        "fits": True,
    }
    got = page.ask(look % "slider.value = 39; slider.dispatchEvent(new Event('input'));")
    assert got["threshold"] == "0.40" and got["options"] == ["--threshold 0.40", "0.40"]
    assert got["rows"][0] == ["leaf", "2", "2", "1", "0", "1", "0.667", "1.000"]
    got = page.ask(look % """chooser.querySelector("[data-score=f1]").click();""")
    assert got["threshold"] == "0.30" and got["pooled"].startswith("precision 0.800, recall 1.000")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_answers_one_label_at_a_time(open_page, width, tmp_path):
    """Answers by keys and buttons survive a reload, and the saved sheet is one that `fairfold check` reads."""
    hostile = '=1+1,"</script><b>'
    sheet = pd.DataFrame({"id": ["p1", "p2", "p2", hostile], "label": ["leaf", "leaf", "<i>", "leaf"]})
    sheet = sheet.assign(correct_label=pd.array([None, 1, None, None], dtype="Int64"), sample=[0, 1, 1, 2])
    sheet = sheet.assign(label_index=[0, 0, 1, 0], draw_probability=0.1, data_version=f"v{width}")
    values = {0: ["6.5", "wet, <b>"], 1: ["7", ""], 2: ["5", "dry"]}
    page = open_page(render_check_page("plants", sheet, ["ph", "notes"], values, file="plants-check.csv"), width)
    look = """
      await rendered();
      %s
      got.question = document.getElementById("question").textContent;
      got.progress = document.getElementById("progress").textContent;
    """
    got = page.ask(look % "got.values = [...document.querySelectorAll('tr')].map((row) => row.textContent);")
    first = "Does sample p1 have the label leaf?"
    assert got == {"question": first, "progress": "1 of 4 answered, 0 unsure", "values": ["ph6.5", "noteswet, <b>"]}
    page.press("y")
    assert page.ask(look % "")["question"] == "Does sample p2 have the label <i>?"
    page.press("z")
    assert page.ask(look % "")["question"] == first
    page.press("n")
    page.ask("""document.querySelector("[data-answer='?']").click();""")
    page.browser.call("Page.reload", page.session, until="Page.loadEventFired")
    got = page.ask(look % "got.fits = document.documentElement.scrollWidth <= innerWidth;")
    assert got == {
        "question": f"Does sample {hostile} have the label leaf?",
        "progress": "3 of 4 answered, 1 unsure",
        "fits": True,
    }
    got = page.ask("""
      document.querySelector("[data-answer='1']").click();
      let blob;
      URL.createObjectURL = (saved) => { blob = saved; return "blob:sheet"; };
      HTMLAnchorElement.prototype.click = function () { got.file = this.download; };
      document.getElementById("save").click();
      got.text = await blob.text();
      got.done = document.getElementById("question").textContent;
    """)
    assert got["file"] == "plants-check.csv" and got["done"] == "All cells are answered. Save the sheet."
    (tmp_path / "saved.csv").write_text(got["text"], "utf-8")
    found = unprotect_table(pd.read_csv(tmp_path / "saved.csv", dtype=str, keep_default_na=False))
    assert found["id"].tolist() == sheet["id"].tolist() and [*found] == [*sheet]
    cells = cells_of_sheet(found, ["p1", "p2", hostile], ["leaf", "<i>"], "saved.csv")
    assert cells["label"].fillna(-1).tolist() == [0, 1, -1, 1]


@pytest.fixture
def dataset_html():
    """Return the page that is stored with the final model."""
    scores = pd.DataFrame({"label": [f"label {n}" for n in range(40)], "n_positives": 30, "n_expected": 33.3})
    scores["n_true_positives"] = 20
    for score in ("average_precision", "roc_auc", "mcc"):
        scores[score], scores[f"{score}_low"], scores[f"{score}_high"] = 0.8, 0.7, 0.9
    columns = ["kind", "rank", "sample", "label", "posterior", "share_of_neighbors", "neighbors"]
    rows = [("missing", n, f"s{n}", "label 0", 0.9, 0.5, ", ".join(f"s{m}" for m in range(20))) for n in range(30)]
    label_errors = pd.DataFrame(rows, columns=columns)
    columns = ["dataset", "model", "features", "n_features", "loss", "lowest", "highest"]
    tables = dict.fromkeys(TABLES, pd.DataFrame()) | {
        "label_scores": scores,
        "likely_label_errors": label_errors,
        "label_error_precision": pd.DataFrame({"depth": [20], "n_found": [13], "chance": [0.1], "hidden_rate": [30]}),
        "feature_importance": pd.DataFrame([("mine", "Stack+", "a", 1, 0.1, 0, 1)], columns=columns),
    }
    return render_dataset_page("mine", "gcForest+", "10 samples.", tables, "results/final/mine")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_a_dataset(open_page, dataset_html, width):
    page = open_page(dataset_html, width)
    got = page.ask("""
      const fits = () => document.documentElement.scrollWidth <= innerWidth;
      got.fits = fits();
      const tables = [...document.querySelectorAll("table")];
      got.rows = tables.map((table) => [...table.tBodies[0].rows].filter(shown).length);
      got.columns = Math.max(...tables.map((table) => table.tHead.rows[0].cells.length));
    """)
    assert got == {"fits": True, "rows": [15, 15, 1], "columns": 4}
