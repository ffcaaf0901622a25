// The lanes of the wave: which are active, and one register's value in each.
import { choice, el, roving } from "./common.js";
import { FORMS } from "./stepper_values.js";

/** Set a property of a node, if it is another one: setting costs a layout. @param {any} node @param {string} name @param {string} value */
export function put(node, name, value) {
  if (node[name] !== value) node[name] = value;
}

/**
 * @param {import("./stepper_wave.js").Wave} wave @param {import("./stepper_states.js").States} states
 * @param {import("./stepper_reading.js").Reading} reading
 * @param {{step: number, lane: number, form: import("./stepper_values.js").Form}} view @param {() => void} redraw
 */
export function lanesPart(wave, states, reading, view, redraw) {
  const { size, vectors, registers, active, count, fault } = wave;
  /** @type {number | null} the register that the reader chose */
  let watched = null;
  /** @type {number | null} the one that was shown last */
  let recent = null;

  const cells = Array.from({ length: size }, (_, l) => {
    const lane = el("span", { class: "gpulab-lane-number", text: String(l) });
    const value = el("span", { class: "gpulab-lane-value" });
    const choose = () => { view.lane = l; redraw(); };
    const cell = el("button", { type: "button", class: "gpulab-lane", "data-lane": l, onclick: choose }, lane, value);
    return { cell, lane, value };
  });
  const strip = el("div", { class: "gpulab-lanes", role: "group", "aria-label": "Lanes of the wave" }, cells.map((each) => each.cell));
  roving(strip, cells.map((each) => each.cell), {
    get columns() { return Math.max(1, getComputedStyle(strip).gridTemplateColumns.split(" ").length); },
  });
  const head = el("h4");
  const which = el("select", {
    "aria-label": "Register shown in the lanes",
    onchange: () => { watched = which.value === "auto" ? null : Number(which.value); redraw(); },
  },
  el("option", { value: "auto", text: "of this step" }),
  registers.slice(0, vectors).map((name, k) => el("option", { value: String(k), text: name })));

  /** The vector register that an instruction writes, or else reads. @param {import("./stepper_wave.js").Instruction} item */
  function registerOf(item) {
    const vectorial = item.operands.filter((o) => o.registers.length && o.registers[0] < vectors);
    const best = vectorial.find((o) => o.written) ?? vectorial[0];
    return best ? best.registers[0] : recent;
  }

  return {
    nodes: [
      el("div", { class: "gpulab-lanes-head" }, head,
        el("label", { class: "gpulab-field" }, el("span", { text: "Value shown:" }), which),
        choice("Numbers:", FORMS, view.form, (value) => {
          view.form = /** @type {import("./stepper_values.js").Form} */ (value);
          redraw();
        })),
      strip,
      el("p", { class: "gpulab-legend" }, el("span", { class: "gpulab-key gpulab-lane gpulab-on", text: "7" }),
        " active: executes this instruction   ", el("span", { class: "gpulab-key gpulab-lane", text: "7" }),
        " inactive: skips it (EXEC bit 0)   ",
        el("span", { text: "● changed by this step   ◆ the lane you look at: click another" })),
    ],
    /** @param {import("./stepper_states.js").State | null} state */
    draw(state) {
      const register = watched ?? registerOf(wave.at(view.step));
      recent = register;
      const name = register === null ? "" : registers[register];
      head.textContent = `Lanes: ${active[view.step]} of ${size} active${name ? `, ${name} after this step` : ""}`;
      cells.forEach(({ cell, lane, value }, l) => {
        const on = wave.isActive(view.step, l), chosen = l === view.lane;
        let text = "", changed = false;
        if (state && register !== null) {
          const now = states.words(state, register, l, true), was = states.words(state, register, l, false);
          text = reading.show(state, now, register, true);
          changed = now[0] !== was[0];
        }
        const bad = fault && view.step === count - 1 && fault.lane === l;
        put(cell, "className", `gpulab-lane${on ? " gpulab-on" : ""}${chosen ? " gpulab-chosen" : ""}`);
        cell.setAttribute("aria-pressed", chosen ? "true" : "false");
        cell.setAttribute("aria-label", `Lane ${l}, ${on ? "active" : "inactive"}${text ? `, ${name} is ${text}` : ""}` +
          `${changed ? ", changed" : ""}${bad ? ", stopped the kernel" : ""}`);
        put(lane, "textContent", `${bad ? "✖" : ""}${chosen ? "◆" : ""}${l}${changed ? "●" : ""}`);
        put(value, "textContent", text.replace(/^0x(....)(....)$/, "$1 $2"));
      });
    },
  };
}
