// A failing case of a check: each array as a grid of cells. What each cell is, and its story, comes from Python.
import { choice, el, frame, number, roving } from "./common.js";

const short = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
const STATES = { right: "right", wrong: "wrong", "never written": "never", "written outside": "outside", "read outside": "outside", given: "given" };

function render({ model, el: host }) {
  const data = model.get("data");
  const shown = frame(host, {
    title: data.title, sentence: data.sentence,
    keys: [["Tab", "from array to array"], ["← → ↑ ↓", "from element to element"], ["Home, End", "first and last element"]],
  });
  const cells = [];
  const story = el("div", { class: "gpulab-exercise-story" });
  function tell(cell) {
    story.replaceChildren(...cell.words.map((line, k) => el("p", { class: k ? "" : "gpulab-exercise-what", text: line })));
    for (const other of cells) {
      other.node.classList.toggle("gpulab-exercise-picked", other.cell === cell);
      other.node.classList.toggle("gpulab-exercise-same", Boolean(cell.by) && other.cell !== cell && other.cell.by === cell.by);
      other.node.classList.toggle("gpulab-exercise-input", other.cell.state === "given" && (cell.inputs ?? []).includes(other.key));
    }
  }

  function box(cell, name, wide) {
    const kind = STATES[cell.state];
    const found = ["right", "given"].includes(cell.state) ? cell.found : `${cell.sign} ${cell.found}`;
    const node = el("div", { class: `gpulab-exercise-cell gpulab-exercise-${kind}`, role: "img", "aria-label": `${name}[${cell.index}], ${cell.state}. ${cell.words.join(" ")}` },
      kind === "outside" ? el("span", { class: "gpulab-exercise-index", text: `[${cell.index}]` }) : null,
      el("span", { class: "gpulab-exercise-value", text: kind === "outside" ? cell.sign : short(found.trim(), wide) }),
      ["wrong", "never"].includes(kind) ? el("span", { class: "gpulab-exercise-not gpulab-exercise-value", text: short(`≠ ${cell.expected}`, wide) }) : null,
      el("span", { class: "gpulab-exercise-writer", text: kind === "never" ? "nobody" : cell.writer || (cell.owner ? `(${cell.owner})` : short(cell.found, wide)) }),
      cell.writer !== cell.owner && cell.owner && (cell.writer || kind === "never") ? el("span", { class: "gpulab-exercise-not gpulab-exercise-writer", text: `≠ ${cell.owner}` }) : null);
    cells.push({ node, cell, key: `${name}[${cell.index}]` });
    node.addEventListener("mouseenter", () => tell(cell));
    node.addEventListener("focus", () => tell(cell));
    return node;
  }

  function grid(array) {
    const wide = array.columns > 8 ? 6 : 11;
    const boxes = array.cells.map((cell) => box(cell, array.name, wide));
    const lines = [el("div", { class: "gpulab-exercise-head" }, array.two ? "row \\ column" : "")];
    array.heads.forEach((head) => lines.push(el("div", { class: "gpulab-exercise-head gpulab-exercise-mid", text: head })));
    for (let row = 0; row * array.columns < boxes.length; row++) {
      lines.push(el("div", { class: "gpulab-exercise-head", text: array.two ? array.rows[row] : `${short(array.name, 8)}[${array.rows[row]}]` }));
      lines.push(...boxes.slice(row * array.columns, (row + 1) * array.columns));
    }
    const made = el("div", {
      class: "gpulab-exercise-grid", role: "group", "aria-label": `Elements of ${array.name}; arrow keys move`,
      style: { "--columns": String(array.columns), "--cell": array.columns > 8 ? "2.65rem" : "5rem" },
    }, lines);
    const rove = roving(made, boxes, { columns: array.columns });
    const at = array.cells.findIndex((cell) => cell.index === array.first);
    if (at > 0) rove.go(at, false);
    return made;
  }

  function beside(array) {
    if (!array.beside.length) return null;
    const boxes = array.beside.map((cell) => box(cell, array.name, 8));
    const made = el("div", { class: "gpulab-exercise-strip", role: "group", "aria-label": `Used outside of ${array.name}; arrow keys move` }, boxes);
    roving(made, boxes, { columns: 8 });
    return el("div", { class: "gpulab-exercise-beside" },
      el("span", { class: "gpulab-exercise-label", text: `Outside of ${array.name}:` }), made,
      array.moreBeside ? el("span", { class: "gpulab-exercise-label", text: `and ${number(array.moreBeside)} more` }) : null);
  }

  function overview(array) {
    if (!array.overview.length) return null;
    const most = array.overview.map((part) => part.counts.reduce((a, b) => a + b));
    const bars = array.overview.map((part, k) => {
      const bar = el("div", { class: `gpulab-exercise-part${part.drawn ? " gpulab-exercise-drawn" : ""}`, role: "img", "aria-label": part.words, title: part.words },
        ["right", "wrong", "never"].map((kind, n) => part.counts[n]
          ? el("div", { class: `gpulab-exercise-share gpulab-exercise-${kind}`, style: { height: `${(100 * part.counts[n]) / most[k]}%` } }) : null));
      const say = () => story.replaceChildren(el("p", { class: "gpulab-exercise-what", text: part.words }));
      bar.addEventListener("mouseenter", say);
      bar.addEventListener("focus", say);
      return bar;
    });
    const made = el("div", { class: "gpulab-exercise-overview", role: "group", "aria-label": `The whole of ${array.name} in parts; arrow keys move` }, bars);
    roving(made, bars);
    return el("div", {}, el("p", { class: "gpulab-exercise-label", text: `The whole of ${array.name}, ${array.part} a bar: solid right, striped wrong, hatched never written. ${array.window} (underlined).` }), made);
  }

  const given = data.arrays.some((array) => array.given) ? [["given", "7", "an input; dotted: of the chosen element"]] : [];
  const legend = el("ul", { class: "gpulab-exercise-legend", "aria-label": "Legend" },
    [...given, ["right", "8", "right: the value"], ["wrong", "✗ 3 ≠ 8", "wrong: found ≠ what it should be"], ["never", "–", "never written"], ["outside", "!", "outside of the array: ! written, ? read"]]
      .map(([kind, sign, words]) => el("li", {}, el("span", { class: `gpulab-exercise-sample gpulab-exercise-${kind}`, text: sign, "aria-hidden": "true" }), el("span", { text: words }))));
  const stopped = data.stopped ? el("div", { class: "gpulab-exercise-stopped" },
    el("p", { text: data.stopped }),
    data.sides.length ? el("ol", { class: "gpulab-exercise-sides" }, data.sides.map((side) => el("li", {},
      side.when ? el("b", { text: `${side.when}: ` }) : "", `${side.who} ${side.does}, in `, el("code", { class: "gpulab-exercise-code", text: side.where })))) : null) : null;

  shown.controls.append(choice("In the cells", [["values", "values"], ["writers", "who wrote (b: block, t: thread)"]], "values", (what) => {
    shown.body.classList.toggle("gpulab-exercise-writers", what === "writers");
    const wrong = legend.querySelector(".gpulab-exercise-wrong + span");
    if (wrong) wrong.textContent = what === "writers" ? "wrong: who wrote it ≠ whose it is (in brackets: not seen, whose it is)" : "wrong: found ≠ what it should be";
    shown.say(what === "writers" ? "Cells show who wrote them." : "Cells show values.");
  }));
  const parts = data.arrays.map((array) => el("div", { class: "gpulab-exercise-array" },
    el("p", { class: "gpulab-exercise-name" }, el("b", { text: array.counts }), el("span", { class: "gpulab-exercise-label", text: `  ${array.type}` })),
    array.shift ? el("p", { class: "gpulab-exercise-shift", text: array.shift }) : null,
    el("div", { class: "gpulab-exercise-scroll" }, grid(array)), beside(array), overview(array)));
  const together = el("div", { class: "gpulab-exercise-arrays" }, parts);
  if (stopped) shown.body.append(stopped);
  shown.body.append(legend, together, story);
  const wanted = data.arrays.filter((array) => !array.given).flatMap((array) => [...array.cells, ...array.beside].filter((cell) => cell.index === array.first));
  const first = wanted.find((cell) => cell.state !== "right") ?? wanted[0];
  if (first) tell(first);
}

export default { render };
