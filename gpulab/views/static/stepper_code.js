// Source and machine code side by side: two lists that point at each other, and to which the wave can be run.
import { el, number } from "./common.js";
import { list } from "./stepper_list.js";
import { counted } from "./stepper_values.js";

/** @param {string} [text] @param {string} kind */
const span = (kind, text) => el("span", { class: kind, text });

/**
 * @param {import("./stepper_wave.js").Wave} wave @param {import("./stepper_states.js").States} states
 * @param {import("./stepper_reading.js").Reading} reading @param {{step: number, lane: number}} view
 * @param {(fits: (instruction: number) => boolean, what: string) => void} runTo @param {import("./common.js").Tooltip} tip
 */
export function codePart(wave, states, reading, view, runTo, tip) {
  const { instructions, executed, visits, files } = wave;
  /** @type {{file: number, line: number} | null} the line that the mouse or the keys point at */
  let pointed = null;

  /** @typedef {{file: number, line: number, text: string, head?: string}} SourceRow `line` 0: a gap, or the file's name */
  /** @type {SourceRow[]} */
  const sourceRows = [];
  files.forEach((file, f) => {
    if (files.length > 1) sourceRows.push({ file: f, line: 0, text: "", head: file.name });
    for (const [line, text] of file.lines) sourceRows.push({ file: f, line, text });
  });
  const rowOfLine = new Map(sourceRows.map((row, k) => [`${row.file}:${row.line}`, k]));
  /** @type {Map<string, number>} */
  const visitsOfLine = new Map();
  /** @type {({label: string} | {at: number})[]} */
  const codeRows = [];
  /** @type {number[]} */
  const rowOfInstruction = [];
  instructions.forEach((item, k) => {
    const line = `${item.file}:${item.line}`;
    visitsOfLine.set(line, (visitsOfLine.get(line) ?? 0) + visits[k]);
    for (const label of item.label ? item.label.split(" ") : []) codeRows.push({ label });
    rowOfInstruction[k] = codeRows.length;
    codeRows.push({ at: k });
  });
  /** @param {number} k @returns {number} the instruction of a row, or -1 */
  const instructionAt = (k) => { const row = codeRows[k]; return "at" in row ? row.at : -1; };

  /** @param {number} file @param {number} line */
  function belongs(file, line) {
    const at = pointed ?? wave.at(view.step);
    return at.line > 0 && at.file === file && at.line === line;
  }

  /** What an instruction means, and what it works on in the lane. @param {number} k */
  function hover(k) {
    const item = instructions[k], state = states.at(view.step), said = [item.meaning || "(no description)"];
    if (state) {
      const after = k !== executed[view.step];
      const used = item.operands.filter((o) => o.registers.length);
      const seen = [...new Set(used.map((o) => `${o.text} = ${reading.valueOf(state, o, view.lane, after)}`))];
      if (seen.length) said.push(`Now, in lane ${view.lane}: ${seen.join(", ")}`);
    }
    const times = counted(visits[k], "time", number(visits[k]));
    said.push(visits[k] ? `Executed ${times} by this wave.` : "Never executed by this wave.");
    return said.join("\n");
  }

  /** @param {boolean} current @param {boolean} same @param {number | undefined} times */
  const classes = (current, same, times) =>
    `${current ? "gpulab-current" : same ? "gpulab-same" : ""}${times ? "" : " gpulab-unvisited"}`;

  const code = list("Instructions of the kernel; Enter runs to one", codeRows.length, {
    line(k) {
      const row = codeRows[k];
      if ("label" in row) return { nodes: [span("gpulab-label", `${row.label}:`)], classes: "" };
      const item = instructions[row.at], current = row.at === executed[view.step];
      return {
        nodes: [span("gpulab-pointer"), span("gpulab-line-number", String(row.at)), el("span", { text: item.text })],
        classes: classes(current, belongs(item.file, item.line), visits[row.at]),
        words: () => hover(row.at), current,
      };
    },
    onpick(k) {
      const at = instructionAt(k);
      if (at >= 0) runTo((executes) => executes === at, `Instruction ${at}`);
    },
    onpoint(k) {
      const at = k === null ? -1 : instructionAt(k);
      point(at < 0 || !instructions[at].line ? null : { file: instructions[at].file, line: instructions[at].line }, "code");
    },
  }, tip);

  const source = list("Source lines; Enter runs to one", sourceRows.length, {
    line(k) {
      const row = sourceRows[k];
      if (row.head !== undefined) return { nodes: [span("gpulab-label", row.head)], classes: "" };
      if (!row.line) return { nodes: [span("gpulab-muted", "    ⋮")], classes: "" };
      const item = wave.at(view.step), current = item.file === row.file && item.line === row.line;
      const times = visitsOfLine.get(`${row.file}:${row.line}`);
      return {
        nodes: [span("gpulab-pointer"), span("gpulab-line-number", String(row.line)), el("span", { text: row.text })],
        classes: classes(current, belongs(row.file, row.line), times),
        words: times === undefined
          ? null
          : () => `${counted(times, "step", number(times))} of this wave on this line. Click: run to it.`,
        current,
      };
    },
    onpick(k) {
      const { file, line } = sourceRows[k];
      if (!line) return;
      const fits = (/** @type {number} */ executes) => {
        const item = instructions[executes];
        return item.file === file && item.line === line && executes !== executed[view.step];
      };
      runTo(fits, `Line ${line}`);
    },
    onpoint(k) {
      const row = k === null ? null : sourceRows[k];
      point(row?.line ? { file: row.file, line: row.line } : null, "source");
    },
  }, tip);

  /** @param {{file: number, line: number} | null} at @param {"code" | "source"} from */
  function point(at, from) {
    pointed = at;
    code.mark((k) => {
      const item = instructions[instructionAt(k)];
      return item !== undefined && belongs(item.file, item.line);
    });
    source.mark((k) => sourceRows[k].line > 0 && belongs(sourceRows[k].file, sourceRows[k].line));
    const [here, there] = from === "code" ? [code, source] : [source, code];
    if (!at || document.activeElement !== here.box) return;
    const first = instructions.findIndex((item) => item.file === at.file && item.line === at.line);
    const row = from === "code" ? rowOfLine.get(`${at.file}:${at.line}`) : rowOfInstruction[first];
    if (row !== undefined) there.reveal(row);
  }

  const sourceHead = files.length === 1 ? `Source: ${files[0].name}` : "Source";
  return {
    nodes: el("div", { class: "gpulab-codes" },
      files.length ? el("div", {}, el("h4", { text: sourceHead }), source.box) : null,
      el("div", {}, el("h4", { text: `Instructions (${wave.arch})` }), code.box)),
    /** Bring the step's line and instruction into view. */
    draw() {
      const item = wave.at(view.step), row = rowOfLine.get(`${item.file}:${item.line}`);
      if (row !== undefined) source.follow(row);
      else source.draw(true);
      code.follow(rowOfInstruction[executed[view.step]]);
    },
    resized() { source.resized(); code.resized(); },
  };
}
