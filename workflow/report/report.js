"use strict";

// Tables: a click on a heading sorts by it, scores from the best one, and the next click the other way round. Empty cells
// stay at the end.
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
  const isDescending = heading.ariaSort === "none" ? heading.classList.contains("gain") : heading.ariaSort === "ascending";
  const direction = isDescending ? -1 : 1;
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

// Of a long table the first rows, in whatever order they are sorted; the others by a click.
const ROWS_AT_FIRST = 15;
for (const table of document.querySelectorAll("table.sortable")) {
  const n = table.tBodies[0].rows.length;
  if (n <= ROWS_AT_FIRST) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "rows";
  const show = (all) => {
    table.classList.toggle("short", !all);
    button.textContent = all ? `First ${ROWS_AT_FIRST} rows` : `All ${n} rows`;
    button.setAttribute("aria-expanded", String(all));
  };
  button.addEventListener("click", () => show(table.classList.contains("short")));
  table.closest(".scroll").after(button);
  show(false);
}

// Thresholds: the confusion counts of each label at the threshold of a slider, from counts at each threshold.
for (const chooser of document.querySelectorAll(".chooser")) {
  const { thresholds, labels } = JSON.parse(chooser.dataset.decisions);
  const rows = [...chooser.querySelector("tbody").rows]; // in the order of the labels, however the table is sorted
  const slider = chooser.querySelector("input");
  const counts = ([n, positives, predicted, true_positives], at) =>
    [true_positives[at], predicted[at] - true_positives[at], positives - true_positives[at], n - positives - predicted[at] + true_positives[at]];
  const pooled = (at) => labels.map((label) => counts(label, at)).reduce((sum, each) => sum.map((x, k) => x + each[k]));
  const scores = {
    f1: ([tp, fp, fn]) => (2 * tp) / (2 * tp + fp + fn) || 0,
    mcc: ([tp, fp, fn, tn]) => (tp * tn - fp * fn) / Math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) || 0,
  };
  const ratio = (part, whole) => (whole ? (part / whole).toFixed(3) : "");
  const show = () => {
    const at = Number(slider.value);
    const threshold = thresholds[at].toFixed(2);
    chooser.querySelector("output").textContent = threshold;
    chooser.querySelector(".option").textContent = `--threshold ${threshold}`;
    slider.setAttribute("aria-valuetext", threshold); // the value is a position
    labels.forEach((label, k) => {
      const [tp, fp, fn, tn] = counts(label, at);
      const texts = [tp, fp, fn, tn, ratio(tp, tp + fp), ratio(tp, tp + fn)];
      texts.forEach((text, column) => {
        const cell = rows[k].cells[column + 2];
        cell.dataset.key = text;
        cell.textContent = typeof text === "number" ? text.toLocaleString("en") : text;
      });
    });
    const all = pooled(at);
    chooser.querySelector(".pooled").textContent =
      `All labels together: precision ${ratio(all[0], all[0] + all[1]) || "undefined"}, recall ${ratio(all[0], all[0] + all[2])}, ` +
      `F1 ${scores.f1(all).toFixed(3)}, MCC ${scores.mcc(all).toFixed(3)}`;
  };
  for (const button of chooser.querySelectorAll("button[data-score]")) {
    button.addEventListener("click", () => {
      const values = thresholds.map((_, at) => scores[button.dataset.score](pooled(at)));
      slider.value = values.indexOf(Math.max(...values));
      show();
    });
  }
  slider.disabled = chooser.querySelector(".best").hidden = false;
  slider.addEventListener("input", show);
  show();
}

// Certified decisions: the cells of each label at the target of a menu.
for (const chooser of document.querySelectorAll(".targets")) {
  const targets = JSON.parse(chooser.dataset.targets);
  const rows = [...chooser.querySelector("tbody").rows]; // in the order of the labels, however the table is sorted
  const menu = chooser.querySelector("select");
  const show = () => {
    const { said, cells, dots } = targets[menu.value];
    chooser.querySelector("output").textContent = said;
    chooser.querySelector(".option").textContent = `--precision ${menu.value}`;
    rows.forEach((row, k) => {
      cells[k].forEach((text, column) => (row.cells[column + 2].textContent = text));
      const dot = row.querySelector(".at");
      dot?.setAttribute("visibility", dots[k] ? "visible" : "hidden");
      if (dots[k]) ["cx", "cy"].forEach((name, axis) => dot.setAttribute(name, dots[k][axis]));
    });
  };
  menu.disabled = false;
  menu.addEventListener("change", show);
  show(); // A browser may keep the choice of an earlier visit.
}

// Figures: a click shows them at full size and back, in this page, so that it works without the files beside it.
for (const link of document.querySelectorAll("a.zoom")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    link.classList.toggle("full");
  });
}

// What a point of a figure is: the nearest one, a finger's breadth away at most, for who points at it; and one after the
// other by a slider, which keyboards and screen readers reach. Escape closes the note.
const REACH = 24;
for (const picture of document.querySelectorAll(".picture[data-points]")) {
  const points = JSON.parse(picture.dataset.points);
  const frame = picture.querySelector(".frame");
  const image = frame.querySelector("img");
  const note = document.createElement("span");
  const ring = document.createElement("span");
  const slider = document.createElement("input");
  note.className = "tooltip";
  note.role = "status"; // is read out when its text changes
  ring.className = "ring";
  slider.className = "step";
  slider.type = "range";
  slider.min = slider.step = 1;
  slider.max = points.length;
  slider.value = 1;
  slider.ariaLabel = `${points.length} points of the figure: ${image.alt}`;
  frame.append(ring, note);
  frame.after(slider);

  const hide = () => {
    ring.hidden = true;
    note.textContent = "";
  };
  const show = ([x, y, text]) => {
    const box = image.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    const left = box.left - outer.left + frame.scrollLeft + x * box.width;
    const top = box.top - outer.top + y * box.height;
    ring.hidden = false;
    note.textContent = text;
    ring.style.left = `${left}px`;
    ring.style.top = note.style.top = `${top}px`;
    const room = frame.scrollLeft + frame.clientWidth - note.offsetWidth - 4;
    note.style.left = `${Math.max(frame.scrollLeft + 4, Math.min(left + 10, room))}px`;
    note.classList.toggle("below", top < note.offsetHeight + 12);
  };
  const point = (event) => {
    const box = image.getBoundingClientRect();
    let nearest = null;
    let least = REACH;
    for (const each of points) {
      const [x, y] = each;
      const distance = Math.hypot(box.left + x * box.width - event.clientX, box.top + y * box.height - event.clientY);
      if (distance < least) [nearest, least] = [each, distance];
    }
    if (nearest) show(nearest);
    else hide();
  };
  const step = () => {
    const each = points[slider.value - 1];
    show(each);
    ring.scrollIntoView({ block: "nearest", inline: "nearest" });
    show(each); // where there is room for it now
  };
  image.addEventListener("pointermove", point);
  image.addEventListener("pointerdown", point);
  image.addEventListener("pointerleave", hide);
  slider.addEventListener("focus", step);
  slider.addEventListener("input", step);
  slider.addEventListener("blur", hide);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  hide();
}

// Sections: folded but for the answer; whatever a link leads to, and what is printed, is unfolded.
const folds = [...document.querySelectorAll("details.fold")];
const unfoldAll = document.getElementById("unfold");
const unfoldTarget = () => {
  const target = document.getElementById(location.hash.slice(1));
  const section = target?.matches("h2") ? target.closest("section") : null; // all of it, not what stands open in it
  const fold = target?.closest("details.fold") ?? section?.querySelector("details.fold");
  if (!fold || fold.open) return;
  fold.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", unfoldTarget);
addEventListener("beforeprint", () => { for (const fold of folds) fold.open = true; });
if (folds.length) {
  unfoldAll.hidden = false;
  unfoldAll.addEventListener("click", () => {
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  });
  const name = () => { unfoldAll.textContent = folds.some((fold) => !fold.open) ? "Unfold all" : "Fold all"; };
  for (const fold of folds) fold.addEventListener("toggle", name);
  unfoldTarget();
}

// Contents: folded on a phone; the section that is read stands open.
const toc = document.getElementById("toc");
if (toc) {
  document.documentElement.classList.add("scripted");
  const button = document.getElementById("toc-button");
  const unfold = (open) => button.setAttribute("aria-expanded", String(open));
  button.addEventListener("click", () => unfold(button.getAttribute("aria-expanded") !== "true"));
  toc.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    unfold(false);
    if (link.hash === location.hash) unfoldTarget(); // once more, which changes no address
  });

  const entries = new Map([...toc.querySelectorAll("#toc-list > li")].map((entry) => [entry.firstElementChild.hash, entry]));
  const headings = [...document.querySelectorAll("main h2[id], main .lead")];
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
