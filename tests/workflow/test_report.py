"""The report as a reader sees it: in a browser, offline, on a desktop and on a phone."""

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading
import zipfile

import pytest
from PIL import Image

from fairfold.report.contents import load_contents, select

# Figures that say nothing of their points, and why a reader would not point at one.
WITHOUT_POINTS = {
    "figures/win_percentage_fig1_*.png": "a picture of boundaries; its samples have no names",
    "figures/win_percentage_fig2.png": "densities of an example, whose heights mean nothing by themselves",
    "figures/win_percentage_fig4.png": "densities, whose heights mean nothing by themselves",
}

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# Runs before anything of the page: what goes wrong is collected.
COLLECT = """<script>
window.wrong = [];
addEventListener("error", (event) => wrong.push(`error: ${event.message ?? event.target.src}`), true);
addEventListener("unhandledrejection", (event) => wrong.push(`rejection: ${event.reason}`));
addEventListener("securitypolicyviolation", (event) => wrong.push(`policy: ${event.violatedDirective}`));
console.error = (...words) => wrong.push(`console: ${words.join(" ")}`);
</script>"""

# Looks at a page in a frame of some width, and tells what it sees in the harness's own document.
HARNESS = """<!DOCTYPE html><meta charset="utf-8"><title>harness</title>
<iframe id="frame" style="width: %(width)dpx; height: 800px; border: 0"></iframe><pre id="seen"></pre>
<script>
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const frame = document.getElementById("frame");
const text = (cell) => cell.dataset.key ?? cell.textContent;
const column = (table, k) => [...table.tBodies[0].rows].map((row) => text(row.cells[k]));

function sort(page, heading) {
  const table = heading.closest("table"), button = heading.querySelector("button");
  const orders = [1, 2].map(() => {
    button.click();
    return [heading.getAttribute("aria-sort"), column(table, heading.cellIndex)];
  });
  button.focus();
  return { isNumber: heading.classList.contains("number"), orders, focusable: page.activeElement === button };
}

async function look() {
  frame.src = "%(page)s";
  await new Promise((resolve) => frame.addEventListener("load", resolve));
  const view = frame.contentWindow, page = frame.contentDocument, root = page.documentElement;
  const seen = { title: page.title, width: view.innerWidth, scrollWidth: root.scrollWidth };
  const toggle = page.getElementById("toc-button");
  seen.toggle = toggle ? view.getComputedStyle(toggle).display : null;
  seen.links = [];
  for (const link of page.querySelectorAll("#toc-list a")) {
    if (seen.toggle === "block") {
      toggle.click();
      await wait(0);
    }
    const shown = link.getClientRects().length > 0;
    link.click();
    await wait(20);
    const heading = page.getElementById(link.hash.slice(1));
    const place = heading.getBoundingClientRect();
    const top = page.elementFromPoint(place.left + 5, place.top + place.height / 2);
    seen.links.push([link.hash, shown, place.top >= 0 && place.bottom <= view.innerHeight && heading.contains(top)]);
  }
  seen.folded = page.querySelectorAll("details.fold:not([open])").length; // links have unfolded what they lead to
  // of an image that is wider than the page, a part is shown, and the others are reached by moving it sideways
  const frames = [...page.images].map((image) => image.closest("a").getBoundingClientRect().width);
  seen.images = [...page.images].map((image, k) => [image.naturalWidth, frames[k]]);
  seen.current = page.querySelectorAll("#toc-list [aria-current]").length;
  seen.tables = page.querySelectorAll("table.sortable").length;
  seen.columns = [...page.querySelectorAll("table.sortable th")].map((heading) => sort(page, heading));
  for (const link of page.querySelectorAll("a.zoom")) link.click();
  seen.scrollWidthAtFullSize = root.scrollWidth;
  await wait(100);
  seen.wrong = view.wrong;
  return seen;
}
look().catch((error) => ({ failed: String(error) })).then((seen) => {
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder that is served on the loopback interface, and its address."""
    folder = tmp_path_factory.mktemp("site")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def run_patiently(command, attempts=3):
    """What a command prints; a browser that hangs at its start, as happens on busy machines, is started anew."""
    for _ in range(attempts):
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"{command[0]} did not finish within a minute, {attempts} times")


@pytest.fixture
def look(browser, site, tmp_path):
    """What a browser without a network sees of a page that is so wide."""

    def see(source, width):
        folder, address = site
        page = source.read_text()
        (folder / "page.html").write_text(page.replace("<head>", f"<head>{COLLECT}", 1))
        (folder / "harness.html").write_text(HARNESS % {"width": width, "page": "page.html"})
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/browser"]
        options += ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--window-size=1400,900"]
        options += ["--virtual-time-budget=60000", "--dump-dom", f"{address}/harness.html"]
        seen = re.search(r'<pre id="seen">(.+?)</pre>', run_patiently([browser, *options]), re.DOTALL)
        assert seen, "the browser's page tells nothing"
        return json.loads(seen[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    return see


def assert_sorted(columns):
    """A click sorts upwards, the next one downwards; empty cells are last both times."""
    for each in columns:
        (first, up), (second, down) = each["orders"]
        assert (first, second) == ("ascending", "descending")
        assert each["focusable"]
        filled = [cell for cell in up if cell]
        if each["isNumber"]:
            assert filled == sorted(filled, key=float)
            assert [float(cell) for cell in down if cell] == sorted(map(float, filled), reverse=True)
        assert sorted(up) == sorted(down)
        assert not any(up[len(filled) :] + down[len(filled) :])


@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_in_a_browser(finished, look, width):
    study, _ = finished
    seen = look(study.folder / "results/report.html", width)
    assert "failed" not in seen, seen
    assert seen["wrong"] == []
    assert seen["width"] == width
    assert max(seen["scrollWidth"], seen["scrollWidthAtFullSize"]) <= width
    assert seen["folded"] == 0
    assert len(seen["images"]) > 15
    assert all(natural > 0 and 0 < shown <= width for natural, shown in seen["images"])
    assert seen["toggle"] == ("block" if width == 390 else "none")
    assert len(seen["links"]) > 30
    assert [link for link in seen["links"] if not link[2]] == []
    assert seen["current"] == 1
    assert seen["tables"] > 15
    assert_sorted(seen["columns"])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_of_a_table_in_a_browser(finished, look, width):
    study, _ = finished
    seen = look(study.folder / "results/tables/weak_label_scores.html", width)
    assert seen["wrong"] == []
    assert seen["tables"] == 1
    assert_sorted(seen["columns"])
    if width == 390:
        assert seen["scrollWidth"] <= width


def test_every_result_has_its_place(finished):
    """No figure or table of the tiny study is left to the end, where those go that no entry names."""
    study, _ = finished
    report = (study.folder / "results/report.html").read_text()
    assert "Other results" not in report
    absent = re.findall(r"Not made by this configuration: (.*?)\.</p>", report)
    assert len(absent) == 2 and absent[0].startswith("Scores in a hierarchy")  # no labels are below each other
    assert absent[1] == "Posterior probabilities"  # arrhythmia is downloaded
    for path in (study.folder / "results/tables").rglob("*.csv"):
        assert path.with_suffix(".html").is_file()
        assert path.relative_to(study.folder / "results").as_posix() in report


def test_every_figure_says_what_its_points_are(finished):
    """But for those that are listed; of all others the reader can point at what is drawn."""
    study, _ = finished
    results = study.folder / "results"
    files = [path.relative_to(results).as_posix() for path in results.rglob("*.png")]
    drawn = [item["figure"] for section in load_contents() for item in section["items"] if "draw" in item]
    silent, absent = set(), []
    for pattern in drawn:
        found = [results / file for file, _ in select(pattern, files)]
        for path in found:
            with Image.open(path) as image:
                points = json.loads(image.info.get("Points", "[]"))
            silent |= set() if points else {pattern}
            assert len(json.dumps(points)) < 100_000
        absent += [] if found else [pattern]
    assert silent == set(WITHOUT_POINTS)
    # not in the tiny study; test_points.py draws them
    assert absent == ["figures/fold_effect.png", "figures/ecoc_posterior_*.png"]


def test_links_lead_to_files(finished):
    study, _ = finished
    report = (study.folder / "results/report.html").read_text()
    links = {link for link in re.findall(r'href="([^"#]+)"', report) if not link.startswith("data:")}
    assert len(links) > 60
    assert [link for link in links if not (study.folder / "results" / link).is_file()] == []


def test_figures_for_a_paper(finished):
    study, _ = finished
    results = study.folder / "results"
    code, output = study.run("paper_figures", cores=1)
    assert code == 0, output
    archive = results / "paper_figures.zip"
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
    archive.unlink()  # other tests compare what the study alone makes
    figures = {f"figures/{path.name}" for path in results.rglob("*.p[dn][fg]")}
    tables = {path.relative_to(results).as_posix() for path in (results / "tables").rglob("*.csv")}
    assert len(figures) > 30
    assert names == {"README.txt", "config.yaml", *figures, *tables}


def test_the_report_of_snakemake_still_works(finished):
    study, _ = finished
    code, output = study.run("--report", "snakemake-report.html", cores=1)
    assert code == 0, output
    report = (study.folder / "snakemake-report.html").read_text()
    for name in ("percentile_ranks.png", "percentile_ranks.html", "weak_label_scores.html", "published.html"):
        assert name in report
