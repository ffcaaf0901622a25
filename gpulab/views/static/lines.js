// Source lines that open into their instructions: a tree grid that pictures put their own columns into.
import { button, el } from "./common.js";

export const LINE_KEYS = [
  ["↑ ↓", "to the line above or below"],
  ["Enter", "open a line into its instructions, or close it"],
  ["→ ←", "open, close"],
  ["Home End", "to the first, to the last"],
];

/** A button that opens all lines of a grid, and closes them again. @param {ReturnType<typeof lineGrid>} grid */
export function openAll(grid) {
  let opened = false;
  const made = button("Open all", "Open all lines into their instructions", () => {
    opened = !opened;
    grid.all(opened);
    made.textContent = opened ? "Close all" : "Open all";
    made.title = opened ? "Close all lines" : "Open all lines into their instructions";
    made.setAttribute("aria-label", made.title);
  });
  return made;
}

/**
 * columns: [{title (text, or a function that gives it), right, cell(row, isPart)}]; a row: {line, text, mark, parts: [{text}], costly}; words(row, isPart)
 * says what a row shows, for screen readers. onrow(row, isPart) hears of the row that has the focus.
 * Returns {root, draw(rows, costlyOnly), go(row), all(open)}; draw keeps what is open.
 * @param {{label: string, columns: any[], words: (row: any, isPart: boolean) => string, onrow?: (row: any, isPart: boolean) => void}} about
 */
export function lineGrid({ label, columns, words, onrow }) {
  const body = el("tbody");
  const heads = [{ title: "line", right: true }, { title: "source" }, ...columns].map((column) => ({
    column, cell: el("th", { scope: "col", role: "columnheader", class: column.right ? "gpulab-right" : "" }),
  }));
  const head = el("thead", {}, el("tr", { role: "row" }, heads.map(({ cell }) => cell)));
  const grid = el("table", { class: "lines-table", role: "treegrid", "aria-label": label }, head, body);
  const root = el("div", { class: "lines" }, grid);
  const open = new Set();
  let rows = [], only = false, shown = [], at = 0;

  function cells(row, part) {
    const mark = row.mark ? el("span", { class: "lines-mark", text: row.mark }) : null;
    return [
      el("td", { role: "gridcell", class: "gpulab-right lines-number" }, part ? "" : [mark, row.line]),
      el("td", { role: "gridcell", class: `gpulab-code lines-text${part ? " lines-part" : ""}` },
        part ? null : el("span", { class: "lines-sign", "aria-hidden": "true", text: row.parts.length ? (open.has(row) ? "▾" : "▸") : "" }),
        row.text || " "),
      ...columns.map((column) => {
        const value = column.cell(row, part);
        return el("td", { role: "gridcell", class: column.right ? "gpulab-right" : "" }, value ?? "");
      }),
    ];
  }

  function build(row, part) {
    const line = el("tr", {
      role: "row", tabindex: -1, "aria-level": part ? 2 : 1, "aria-label": words(row, part),
      "aria-expanded": part || !row.parts.length ? null : String(open.has(row)),
      class: `${part ? "lines-inner" : ""}${!part && !row.costly ? " lines-free" : ""}${row.mark ? (row.mark === "+" ? " lines-added" : " lines-gone") : ""}`,
    }, cells(row, part));
    const entry = { row, part, line };
    line.addEventListener("focus", () => { place(shown.indexOf(entry)); onrow?.(row, part); });
    line.addEventListener("click", () => { line.focus(); if (!part) toggle(row, !open.has(row)); });
    return entry;
  }

  function place(to) {
    if (to < 0) return;
    shown[at]?.line.setAttribute("tabindex", "-1");
    at = to;
    shown[at]?.line.setAttribute("tabindex", "0");
  }

  function refresh() {
    for (const { column, cell } of heads) cell.textContent = typeof column.title === "function" ? column.title() : column.title;
    const current = shown[at]?.row;
    const focused = root.contains(document.activeElement);
    shown = rows.filter((row) => !only || row.costly).flatMap((row) =>
      [build(row, false), ...(open.has(row) ? row.parts.map((part) => build(part, true)) : [])]);
    body.replaceChildren(...shown.map((entry) => entry.line));
    const kept = shown.findIndex((entry) => entry.row === current);
    const first = shown.findIndex((entry) => entry.row.costly);
    at = Math.max(kept >= 0 ? kept : first, 0);
    shown[at]?.line.setAttribute("tabindex", "0");
    if (focused) shown[at]?.line.focus();
  }

  function toggle(row, to) {
    if (!row.parts.length || open.has(row) === to) return;
    if (to) open.add(row); else open.delete(row);
    refresh();
  }

  function focus(to) {
    place(Math.max(0, Math.min(shown.length - 1, to)));
    shown[at]?.line.focus();
  }

  body.addEventListener("keydown", (event) => {
    const entry = shown[at];
    if (!entry) return;
    const parent = () => shown.findIndex((each) => !each.part && each.row.parts.includes(entry.row));
    const keys = {
      ArrowDown: () => focus(at + 1),
      ArrowUp: () => focus(at - 1),
      Home: () => focus(0),
      End: () => focus(shown.length - 1),
      ArrowRight: () => (entry.part ? null : toggle(entry.row, true)),
      ArrowLeft: () => (entry.part ? focus(parent()) : toggle(entry.row, false)),
      Enter: () => (entry.part ? null : toggle(entry.row, !open.has(entry.row))),
      " ": () => (entry.part ? null : toggle(entry.row, !open.has(entry.row))),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });

  return {
    root,
    draw(given, costlyOnly = false) {
      const begin = !rows.length;
      rows = given; only = costlyOnly;
      refresh();
      if (begin) requestAnimationFrame(() => { root.scrollTop = (shown[at]?.line.offsetTop ?? 0) - 100; });
    },
    go(row) { const to = shown.findIndex((entry) => entry.row === row); if (to >= 0) focus(to); },
    mark(row) { for (const entry of shown) entry.line.classList.toggle("lines-here", entry.row === row); },
    reveal(row) {
      const entry = shown.find((each) => each.row === row);
      if (entry) root.scrollTop = entry.line.offsetTop - root.clientHeight / 2;
    },
    all(to) { for (const row of rows) if (row.parts.length) { if (to) open.add(row); else open.delete(row); } refresh(); },
  };
}
