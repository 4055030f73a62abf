"""The report works in a browser: offline, on a desktop and on a phone."""

import json
import re
import zipfile

import pytest
from browser import find_browser, see, served
from PIL import Image

from fairfold.report.contents import load_contents, select

# Figures without descriptions of points, and the reasons.
WITHOUT_POINTS = {
    "figures/audit_changes_*.png": "no strong change in this study",
    "figures/audit_copies_*.png": "no copies in this study",
    "figures/win_percentage_fig1_*.png": "a picture of boundaries; its samples have no names",
    "figures/win_percentage_fig2.png": "densities of an example, whose heights mean nothing by themselves",
    "figures/win_percentage_fig4.png": "densities, whose heights mean nothing by themselves",
}

# Runs before the page loads and collects errors.
COLLECT = """<script>
window.wrong = [];
addEventListener("error", (event) => wrong.push(`error: ${event.message ?? event.target.src}`), true);
addEventListener("unhandledrejection", (event) => wrong.push(`rejection: ${event.reason}`));
addEventListener("securitypolicyviolation", (event) => wrong.push(`policy: ${event.violatedDirective}`));
console.error = (...words) => wrong.push(`console: ${words.join(" ")}`);
</script>"""

# Uses a page like a reader and returns the visible state.
LOOK = """
const text = (cell) => cell.dataset.key ?? cell.textContent;
const column = (table, k) => [...table.tBodies[0].rows].map((row) => text(row.cells[k]));

function sort(page, heading) {
  const table = heading.closest("table"), button = heading.querySelector("button");
  const orders = [1, 2].map(() => {
    button.click();
    return [heading.getAttribute("aria-sort"), column(table, heading.cellIndex)];
  });
  button.focus();
  const [isNumber, isGain] = ["number", "gain"].map((name) => heading.classList.contains(name));
  return { isNumber, isGain, orders, focusable: page.activeElement === button };
}

async function look() {
  await load("page.html");
  const view = frame.contentWindow, page = frame.contentDocument, root = page.documentElement;
  const seen = { title: page.title, width: view.innerWidth, scrollWidth: root.scrollWidth };
  const toggle = page.getElementById("toc-button");
  seen.toggle = toggle ? view.getComputedStyle(toggle).display : null;
  seen.links = [];
  for (const link of page.querySelectorAll("#toc-list a[href^='#']")) {
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
  const headings = [...page.querySelectorAll("table.sortable th:has(button)")];
  seen.columns = headings.filter((each) => each.getClientRects().length).map((heading) => sort(page, heading));
  for (const link of page.querySelectorAll("a.zoom")) link.click();
  seen.scrollWidthAtFullSize = root.scrollWidth;
  await wait(100);
  seen.wrong = view.wrong;
  return seen;
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Serve a folder; return it and its address."""
    find_browser()
    folder = tmp_path_factory.mktemp("site")
    with served(folder) as address:
        yield folder, address


@pytest.fixture
def look(site, tmp_path):
    """Return a function that opens a page of a given width in an offline browser."""

    def look(source, width):
        folder, address = site
        (folder / "page.html").write_text(source.read_text().replace("<head>", f"<head>{COLLECT}", 1))
        return see(folder, address, width, LOOK, tmp_path / "browser")

    return look


def assert_sorted(columns):
    """Check that one click sorts upwards, or a score downwards, and the next one the other way, empty cells last."""
    for each in columns:
        orders = dict(each["orders"])
        assert list(orders) == (["descending", "ascending"] if each["isGain"] else ["ascending", "descending"])
        up, down = orders["ascending"], orders["descending"]
        assert each["focusable"]
        filled = [cell for cell in up if cell]
        if each["isNumber"]:
            assert filled == sorted(filled, key=float)
            assert [float(cell) for cell in down if cell] == sorted(map(float, filled), reverse=True)
        assert sorted(up) == sorted(down)
        assert not any(up[len(filled) :] + down[len(filled) :])


@pytest.mark.parametrize(("page", "width"), [("report", 1280), ("report", 390), ("papers", 390)])
def test_a_page_in_a_browser(finished, look, width, page):
    study, _ = finished
    seen = look(study.folder / f"results/{page}.html", width)
    assert "failed" not in seen, seen
    assert seen["wrong"] == []
    assert seen["width"] == width
    assert max(seen["scrollWidth"], seen["scrollWidthAtFullSize"]) <= width
    assert seen["folded"] == 0
    assert len(seen["images"]) > 5
    assert all(natural > 0 and 0 < shown <= width for natural, shown in seen["images"])
    assert seen["toggle"] == ("block" if width == 390 else "none")
    assert len(seen["links"]) > 15
    assert [link for link in seen["links"] if not link[2]] == []
    assert seen["current"] == 1
    assert seen["tables"] > 7
    assert_sorted(seen["columns"])


def test_every_result_has_its_place(finished):
    """Every figure and table of the tiny study has an entry in the contents."""
    study, _ = finished
    pages = [(study.folder / f"results/{page}.html").read_text() for page in ("report", "papers")]
    assert not any("Other results" in page for page in pages)
    absent = re.findall(r"Not made by this configuration: (.*?)\.</p>", "".join(pages))
    assert len(absent) == 2 and absent[0].startswith("Scores in a hierarchy")  # the labels have no hierarchy
    assert absent[1] == "Posterior probabilities"  # arrhythmia is downloaded
    for path in (study.folder / "results/tables").rglob("*.csv"):
        assert path.relative_to(study.folder / "results").as_posix() in pages[0]
    assert max(map(len, pages)) < 4_000_000
    assert len(pages[0]) < 2_000_000


def test_every_figure_states_what_its_points_are(finished):
    """All figures except the listed ones describe their points on hover."""
    study, _ = finished
    results = study.folder / "results"
    files = [path.relative_to(results).as_posix() for path in results.rglob("*.png")]
    drawn = [item.source for section in load_contents() for item in section.items if item.kind == "figure"]
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
    # The tiny study lacks these; test_points.py draws them.
    several = ["percentile_ranks", "percentile_ranks_published", "regret"]
    assert absent == [f"figures/{name}.png" for name in ("elsewhere", *several, "fold_effect", "ecoc_posterior_*")]


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
    archive.unlink()  # other tests compare the files of the study
    figures = {f"figures/{path.name}" for path in results.rglob("*.p[dn][fg]")}
    tables = {path.relative_to(results).as_posix() for path in (results / "tables").rglob("*.csv")}
    assert len(figures) > 30
    assert names == {"README.txt", "config.yaml", *figures, *tables}


def test_the_report_of_snakemake_still_works(finished):
    study, _ = finished
    code, output = study.run("--report", "snakemake-report.html", cores=1)
    assert code == 0, output
    report = (study.folder / "snakemake-report.html").read_text()
    assert "learning_curves.png" in report
