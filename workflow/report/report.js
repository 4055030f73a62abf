"use strict";

// Tables: a click on a heading sorts by it, the next one the other way round. Empty cells stay at the end.
function keyOf(row, column, isNumber) {
  const cell = row.cells[column];
  const text = cell.dataset.key ?? cell.textContent;
  if (text === "") return null;
  return isNumber ? Number(text.replace(/^([+-]?)inf$/i, "$1Infinity")) : text;
}

function compare(a, b, isNumber) {
  return isNumber ? a - b || 0 : a.localeCompare(b, "en", { numeric: true });
}

function sortBy(heading) {
  const table = heading.closest("table");
  const isNumber = heading.classList.contains("number");
  const direction = heading.ariaSort === "ascending" ? -1 : 1;
  const keyed = [...table.tBodies[0].rows].map((row) => [keyOf(row, heading.cellIndex, isNumber), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * compare(a, b, isNumber);
  });
  for (const other of table.tHead.rows[0].cells) other.ariaSort = "none";
  heading.ariaSort = direction === 1 ? "ascending" : "descending";
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}

for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => sortBy(button.closest("th")));
}

// Figures: a click shows them at full size and back, in this page, so that it works without the files beside it.
for (const link of document.querySelectorAll("a.zoom")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    link.classList.toggle("full");
  });
}

// Contents: folded on a phone; the section that is read stands open.
const toc = document.getElementById("toc");
if (toc) {
  document.documentElement.classList.add("scripted");
  const button = document.getElementById("toc-button");
  const unfold = (open) => button.setAttribute("aria-expanded", String(open));
  button.addEventListener("click", () => unfold(button.getAttribute("aria-expanded") !== "true"));
  toc.addEventListener("click", (event) => event.target.closest("a") && unfold(false));

  const entries = new Map([...toc.querySelectorAll("#toc-list > li")].map((entry) => [entry.firstElementChild.hash, entry]));
  const headings = [...document.querySelectorAll("main h2")];
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 160);
    const current = entries.get(`#${(passed.at(-1) ?? headings[0]).id}`);
    for (const entry of entries.values()) {
      entry.classList.toggle("current", entry === current);
      if (entry === current) entry.firstElementChild.setAttribute("aria-current", "true");
      else entry.firstElementChild.removeAttribute("aria-current");
    }
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
}
