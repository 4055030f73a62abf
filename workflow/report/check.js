"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const ANSWER = data.columns.indexOf("correct_label");
const VERSION = data.columns.indexOf("data_version");
const PLACES = data.rows.map((row, at) => `${data.samples[at]} ${data.labels[at]}`);
const KEY = `fairfold-check ${data.file} ${VERSION < 0 ? "" : data.rows[0]?.[VERSION]}`;
const KEYS = { y: "1", n: "0", u: "?" };
const element = (id) => document.getElementById(id);

// Answers by cell: "1", "0", "?" if unsure, "" if not asked yet. Those of an earlier visit are kept.
const given = data.rows.map((row) => row[ANSWER]);
let answers = [...given];
let asked = [];
try {
  const kept = JSON.parse(localStorage.getItem(KEY));
  if (JSON.stringify(kept?.places) === JSON.stringify(PLACES)) ({ answers, asked } = kept);
} catch { /* Storage is not available, or damaged. */ }

function keep() {
  try {
    localStorage.setItem(KEY, JSON.stringify({ places: PLACES, answers, asked }));
  } catch { /* Storage is full or not available: answers last until the page is closed. */ }
}

function show() {
  const at = answers.indexOf("");
  const isDone = at < 0;
  element("question").textContent = isDone
    ? "All cells are answered. Save the sheet."
    : `Does sample ${data.ids[at]} have the label ${data.labels[at]}?`;
  const values = isDone ? [] : data.values[data.samples[at]] ?? [];
  element("values").replaceChildren(...values.map((value, k) => {
    const row = document.createElement("tr");
    const name = document.createElement("th");
    const cell = document.createElement("td");
    name.scope = "row";
    name.textContent = data.names[k];
    cell.textContent = value === "" ? "–" : value;
    row.append(name, cell);
    return row;
  }));
  const n_answered = answers.filter((answer) => answer !== "").length;
  const n_unsure = answers.filter((answer) => answer === "?").length;
  element("progress").textContent = `${n_answered} of ${answers.length} answered, ${n_unsure} unsure`;
  for (const button of document.querySelectorAll("[data-answer]")) button.disabled = isDone;
  element("undo").disabled = asked.length === 0;
}

function answer(value) {
  const at = answers.indexOf("");
  if (at < 0) return;
  answers[at] = value;
  asked.push(at);
  keep();
  show();
}

function undo() {
  if (!asked.length) return;
  answers[asked.pop()] = "";
  keep();
  show();
}

function sheet() {
  const quoted = (cell) => `"${String(cell).replaceAll('"', '""')}"`;
  const rows = data.rows.map((row, at) => row.with(ANSWER, answers[at] === "?" ? "" : answers[at]));
  return [data.columns, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

function save() {
  const link = document.createElement("a");
  link.download = data.file;
  link.href = URL.createObjectURL(new Blob([sheet()], { type: "text/csv" }));
  link.click();
  URL.revokeObjectURL(link.href);
}

for (const button of document.querySelectorAll("[data-answer]")) {
  button.addEventListener("click", () => answer(button.dataset.answer));
}
element("undo").addEventListener("click", undo);
element("save").addEventListener("click", save);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key in KEYS) answer(KEYS[key]);
  else if (key === "z" || key === "backspace") undo();
});
show();
