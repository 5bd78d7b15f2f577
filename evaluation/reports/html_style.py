"""What the HTML report looks like, and what its script adds: filtering, sorting, and opening what a link points to."""

STYLE = """
:root { color-scheme: light dark; --text: #1c2024; --faint: #5a636e; --page: #ffffff; --panel: #f4f6f8;
  --line: #c9d0d8; --accent: #1f5fbf; --good: #1a7f4b; --bad: #b3261e; --mark: #ffe3b3; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --faint: #a5aeb9; --page: #14171b; --panel: #1e2329;
  --line: #3a424c; --accent: #8ab4f8; --good: #6ccb95; --bad: #ff8a80; --mark: #5c4310; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; color: var(--text); background: var(--page);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
a { color: var(--accent); }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible,
  .scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.faint, caption, dt { color: var(--faint); }
svg { display: block; width: 100%; height: 2.25rem; }
.track { fill: var(--line); } .range { fill: var(--accent); opacity: .45; } .point { fill: var(--accent); }
.passed { fill: var(--good); } .reason { fill: var(--bad); } .reason.odd { opacity: .6; }
.key { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: .5rem 0; font-size: .875rem; }
dd { margin: 0; font-family: ui-monospace, monospace; }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin: .5rem 0; }
input, select, button { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--faint);
  border-radius: 4px; padding: .25rem .5rem; max-width: 100%; }
th button { border: 0; padding: 0; background: none; font-weight: inherit; text-align: inherit; cursor: pointer; }
th button::after { content: " ↕"; color: var(--faint); } th[aria-sort="ascending"] button::after { content: " ↑"; }
th[aria-sort="descending"] button::after { content: " ↓"; }
.scroll { overflow-x: auto; max-width: 100%; overflow-wrap: break-word; }
table { border-collapse: collapse; font-size: .9375rem; }
caption { text-align: left; padding: .25rem 0; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
thead th { background: var(--panel); }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
#task-table { width: 100%; }
#task-table td:nth-child(-n+2), #task-table .number { white-space: nowrap; }
.pass { color: var(--good); font-weight: 600; } .fail { color: var(--bad); font-weight: 600; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: 0 .75rem .25rem; }
summary { cursor: pointer; padding: .5rem 0; font-weight: 600; }
summary span { font-weight: 400; }
.change { border-left: 4px solid var(--accent); padding-left: .75rem; font-weight: 600; }
.cells td { font-family: ui-monospace, monospace; white-space: pre-wrap; min-width: 6rem; max-width: 20rem; }
.cells .differs { background: var(--mark); font-weight: 700; text-decoration: underline; }
.cells .differs::before { content: "≠ "; }
.cells .nothing { color: var(--faint); font-style: italic; font-family: inherit; }
.cells .prediction { border-right: 2px solid var(--faint); }
.h0 { background: none; } .h1 { background: rgba(31, 95, 191, .12); } .h2 { background: rgba(31, 95, 191, .24); }
.h3 { background: rgba(31, 95, 191, .36); } .h4 { background: rgba(31, 95, 191, .48); }
.h5 { background: rgba(31, 95, 191, .6); } .diagonal { outline: 2px solid var(--good); outline-offset: -2px; }
@media (max-width: 40rem) { body { padding: .75rem; } h1 { font-size: 1.35rem; }
  #task-table, #task-table tbody, #task-table tr, #task-table td { display: block; }
  #task-table thead tr { display: flex; flex-wrap: wrap; border: 0; }
  #task-table tr { margin-bottom: .5rem; border: 1px solid var(--line); } #task-table td { border: 0; }
  #task-table td:empty { display: none; } #task-table .number { text-align: left; }
  #task-table .number::before { content: "cells right: "; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .25rem; } }
@media print { form, .skip { display: none; } html { font-size: 11px; }
  body { max-width: none; } .scroll { overflow: visible; }
  details { break-inside: avoid; } details::details-content { content-visibility: visible; height: auto; } }
"""

SCRIPT = """
(() => {
  "use strict";
  const table = document.getElementById("task-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const filter = () => {
    const words = form.elements.words.value.toLowerCase();
    const state = form.elements.state.value;
    let count = 0;
    for (const row of rows) {
      const link = row.querySelector("a");
      const details = link && document.getElementById(link.textContent);
      const found = !words || (row.textContent + (details ? details.textContent : "")).toLowerCase().includes(words);
      const states = [row.dataset.state, row.dataset.state === "passed" ? "" : "failed"];
      const fits = found && (!state || states.includes(state));
      row.hidden = !fits;
      if (details) details.hidden = !fits;
      if (fits) count += 1;
    }
    shown.textContent = count + " of " + rows.length + " tasks shown";
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  const compare = (one, other) => {
    const numbers = [Number(one), Number(other)];
    return numbers.some(Number.isNaN) ? (one < other ? -1 : one > other ? 1 : 0) : numbers[0] - numbers[1];
  };
  Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      rows.sort((one, other) => (up ? 1 : -1) * compare(one.cells[place].dataset.key, other.cells[place].dataset.key));
      body.append(...rows);
    });
  });
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  window.addEventListener("hashchange", open);
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  open();
  filter();
})();
"""
