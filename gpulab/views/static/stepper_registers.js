// Registers in the lane that the reader looks at: those of this step first, before and after it.
import { el, number } from "./common.js";
import { ones, word } from "./stepper_values.js";

const FIRST_ROWS = 12;
const WHOLE_WAVE = ["exec", "vcc", "scc", "m0"];
const SPECIAL = new Set([...WHOLE_WAVE, "mode"]);
const READ = 1, WRITTEN = 2;

/**
 * @param {import("./stepper_wave.js").Wave} wave @param {import("./stepper_states.js").States} states
 * @param {import("./stepper_reading.js").Reading} reading @param {{step: number, lane: number}} view
 * @param {() => void} redraw
 */
export function registersPart(wave, states, reading, view, redraw) {
  const { registers, vectors, executed, instructions } = wave;
  /** @typedef {import("./stepper_states.js").State} State */
  const numbers = new Map(registers.map((name, k) => [name, k]));
  let all = false;
  const head = el("h4"), whole = el("dl", { class: "gpulab-wave" }), body = el("tbody");
  const more = el("button", { type: "button", class: "gpulab-button", onclick: () => { all = !all; redraw(); } });

  /** The program counter and the registers of the whole wave. @param {State | null} state */
  function wholeWave(state) {
    const at = executed[view.step];
    const rows = [{ name: "PC", value: `instruction ${at} of ${instructions.length}`, changed: false }];
    for (const name of WHOLE_WAVE) {
      const register = numbers.get(name);
      if (register === undefined || !state) continue;
      const bits = states.words(state, register, 0, true), mask = reading.isMask(name);
      const value = mask
        ? `${reading.show(state, bits, register, true)} (${bits.reduce((n, w) => n + ones(w), 0)} lanes)`
        : word(bits[0], name === "scc" ? "u32" : "hex");
      rows.push({ name: name.toUpperCase(), value, changed: state.changed.has(register) });
    }
    return rows.map(({ name, value, changed }) => el("div", { class: changed ? "gpulab-changed" : "" },
      el("dt", { text: name }), el("dd", { text: `${value}${changed ? " ●" : ""}` })));
  }

  /** How this step uses each register that it uses. @param {State} state @returns {Map<number, number>} */
  function usedBy(state) {
    const used = new Map();
    const mark = (/** @type {number} */ r, /** @type {number} */ how) => used.set(r, (used.get(r) ?? 0) | how);
    for (const operand of wave.at(view.step).operands) {
      for (const r of operand.registers) mark(r, operand.written ? WRITTEN : READ);
    }
    for (const r of state.changed.keys()) mark(r, WRITTEN);
    return used;
  }

  /** @param {State} state @param {number} r @param {number} role */
  function row(state, r, role) {
    const before = states.words(state, r, view.lane, false), after = states.words(state, r, view.lane, true);
    const changed = state.changed.has(r) && (r >= vectors || after[0] !== before[0]);
    const last = state.changed.has(r) ? view.step : state.before.last[r];
    const use = [role & READ ? "read" : "", role & WRITTEN ? "written" : ""].filter(Boolean).join(", ");
    const when = last < 0 ? "start" : last === view.step ? "this step" : `step ${number(last + 1)}`;
    const code = (/** @type {string} */ text) => el("td", { class: "gpulab-code", text });
    return el("tr", { class: `${role ? "gpulab-used" : ""}${changed ? " gpulab-changed" : ""}` },
      el("td", { text: use }), code(registers[r]), code(reading.show(state, before, r, false)),
      code(`${reading.show(state, after, r, true)}${changed ? " ●" : ""}`), code(when));
  }

  const columns = ["use", "register", "before", "after", "last changed"];
  return {
    nodes: el("div", {}, head, whole,
      el("table", { class: "gpulab-table gpulab-registers" },
        el("thead", {}, el("tr", {}, columns.map((text) => el("th", { scope: "col", text })))), body), more),
    /** @param {State | null} state */
    draw(state) {
      head.textContent = `Registers, in lane ${view.lane}`;
      whole.replaceChildren(...wholeWave(state));
      if (!state) {
        body.replaceChildren();
        return;
      }
      const used = usedBy(state), last = state.before.last;
      const written = (/** @type {number} */ r) => (used.get(r) ?? 0) & WRITTEN;
      const first = [...used.keys()].filter((r) => !SPECIAL.has(registers[r]));
      first.sort((a, b) => written(b) - written(a) || a - b);
      const rest = registers.map((_, r) => r).filter((r) => !used.has(r) && !SPECIAL.has(registers[r]));
      rest.sort((a, b) => last[b] - last[a] || a - b);
      const order = [...first, ...rest];
      body.replaceChildren(...(all ? order : order.slice(0, FIRST_ROWS)).map((r) => row(state, r, used.get(r) ?? 0)));
      more.hidden = order.length <= FIRST_ROWS;
      more.textContent = all ? "Fewer registers" : `All ${order.length} registers`;
    },
  };
}
