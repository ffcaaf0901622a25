// The wave stepper: one wave's life, moved through step by step. Its parts, each in a module of its own:
//
//   stepper_wave      what each step executes, EXEC at it, and the texts, unpacked
//   stepper_states    registers and LDS at a step, from windows of steps that Python sends (views/stepper.py)
//   stepper_values    bits as numbers            stepper_reading   which type a register's bits have
//   stepper_events    what a step does, in words
//   stepper_overview  active lanes over time     stepper_code      source and instructions (stepper_list)
//   stepper_flights   memory accesses in flight, and what waits wait for
//   stepper_lanes, stepper_registers, stepper_memory               the state at the step
//
// All parts share `view`, what the reader looks at; each has `draw`, and nothing else changes the page.
import { button, el, frame, number, tooltip } from "./common.js";
import { codePart } from "./stepper_code.js";
import { eventsOf } from "./stepper_events.js";
import { flightsOf, flightsPart } from "./stepper_flights.js";
import { lanesPart } from "./stepper_lanes.js";
import { memoryPart } from "./stepper_memory.js";
import { overviewPart } from "./stepper_overview.js";
import { readingOf } from "./stepper_reading.js";
import { registersPart } from "./stepper_registers.js";
import { statesOf } from "./stepper_states.js";
import { unpack } from "./stepper_wave.js";

const LOOK_BACK = 60;  // steps before a wanted one that a window starts at
/** @type {[string, string][]} */
const KEYS = [
  ["← →", "one step back, one step forward (on the lanes: from lane to lane)"], ["Home End", "first and last step"],
  ["N Shift+N", "next, previous source line"],
  ["D Shift+D", "next, previous divergence: a step at which the active lanes change"],
  ["B Shift+B", "next, previous barrier"],
  ["W Shift+W", "next, previous wait that has something to wait for"], ["F", "the lane's fault, if the kernel was stopped"],
  ["↑ ↓ Enter", "in the source or the instructions: choose a line, run to it"],
  ["Tab", "to the next part"],
];

/** @typedef {{step: number, lane: number, form: import("./stepper_values.js").Form}} View */

export default {
  /** @param {{model: import("./common.js").Model, el: HTMLElement}} widget */
  async render({ model, el: host }) {
    const data = model.get("data");
    const parts = frame(host, { title: data.title, sentence: data.sentence, keys: KEYS });
    parts.root.classList.add("gpulab-stepper");
    if (!data.count) {
      parts.body.append(el("p", { text: "No instruction was executed." }));
      return undefined;
    }
    const wave = await unpack(data), states = statesOf(model, wave);
    const { count, size, fault, divergences, barriers, executed, files } = wave;
    /** @type {View} */
    const view = { step: 0, lane: fault?.lane ?? 0, form: "auto" };
    const tip = tooltip(parts.root);
    const reading = readingOf(wave, states, view), flights = flightsOf(wave);
    const happens = eventsOf(wave, states, reading, flights, view);
    let turn = 0;  // a drawing that is waited for is forgotten when a later one begins

    // -- moving ----------------------------------------------------------------------------------------------

    const note = el("p", { class: "gpulab-note", role: "note" });

    /** @param {number} to */
    function go(to) {
      const next = Math.max(0, Math.min(count - 1, to));
      if (next === view.step && states.has(view.step)) return;
      view.step = next;
      draw(true);
    }

    /** @param {number[]} steps @returns {number | undefined} */
    const after = (steps) => steps.find((k) => k > view.step);

    /** To the next of these steps. @param {number[]} steps @param {boolean} back @param {string} what */
    function jump(steps, back, what) {
      const to = back ? steps.findLast((k) => k < view.step) : after(steps);
      if (to === undefined) parts.say(`No ${what} ${back ? "before" : "after"} this step.`);
      else go(to);
    }

    /** @param {number} a a step @param {number} b another */
    const sameLine = (a, b) => wave.at(a).file === wave.at(b).file && wave.at(a).line === wave.at(b).line;

    /** @param {boolean} back */
    function nextLine(back) {
      const by = back ? -1 : 1;
      let k = view.step;
      while (k + by >= 0 && k + by < count && sameLine(k, view.step)) k += by;
      if (back) while (k > 0 && sameLine(k - 1, k)) k--;
      go(k);
    }

    /** Run to the next step that fits, or else to the first one at all. @param {(instruction: number) => boolean} fits @param {string} what */
    function runTo(fits, what) {
      for (let k = 1; k <= count; k++) {
        const at = (view.step + k) % count;
        if (!fits(executed[at])) continue;
        parts.say(at <= view.step ? `${what}: from the start again, step ${at + 1}.` : `${what}: step ${at + 1}.`);
        go(at);
        return;
      }
      parts.say(`${what}: this wave never comes here.`);
      note.textContent = `${what}: this wave never comes here.`;
    }

    function toFault() {
      if (!fault) return;
      view.lane = fault.lane ?? view.lane;
      view.step = count - 1;
      draw(true);
    }

    // -- the page --------------------------------------------------------------------------------------------

    const redraw = () => draw(false);
    const overview = overviewPart(wave, view, go), code = codePart(wave, states, reading, view, runTo, tip);
    const strip = flightsPart(wave, flights, view, go);
    const lanes = lanesPart(wave, states, reading, view, redraw);
    const registers = registersPart(wave, states, reading, view, redraw);
    const memory = memoryPart(wave, reading, view, redraw);
    const now = el("div", { class: "gpulab-now" });
    const faultButton = fault
      ? button("✖ Fault", "To the step and the lane at which the kernel was stopped (F)", toFault, { class: "gpulab-button gpulab-fault" })
      : null;
    /** @type {{node: HTMLElement, off: () => boolean}[]} */
    const controls = [
      { node: button("|◀", "To the first step (Home)", () => go(0)), off: () => view.step === 0 },
      { node: button("◀ Back", "One step back (←)", () => go(view.step - 1)), off: () => view.step === 0 },
      { node: button("Step ▶", "One step forward (→)", () => go(view.step + 1)), off: () => view.step === count - 1 },
      { node: button("▶|", "To the last step (End)", () => go(count - 1)), off: () => view.step === count - 1 },
      { node: button("Next line", "To the next source line (N)", () => nextLine(false)), off: () => false },
      {
        node: button("Next divergence", "To the next step at which the active lanes change (D)", () => jump(divergences, false, "divergence")),
        off: () => after(divergences) === undefined,
      },
      {
        node: button("Next barrier", "To the next barrier (B)", () => jump(barriers, false, "barrier")),
        off: () => after(barriers) === undefined,
      },
      {
        node: button("Next wait", "To the next step that waits for memory (W)", () => jump(flights.waits, false, "wait")),
        off: () => after(flights.waits) === undefined,
      },
    ];
    parts.controls.append(...controls.map((control) => control.node), ...(faultButton ? [faultButton] : []));
    const leftOut = [
      wave.hidden ? `${number(wave.hidden)} instructions that were not executed are left out.` : "",
      count < wave.all ? `Shown are the first ${number(count)} of ${number(wave.all)} steps.` : "",
    ].filter(Boolean).join(" ");
    const legend = "▶ and yellow: this step. Bar at the left: belongs to the same source line. Grey text: this wave never " +
      `came here. Click a line: run to it. ${leftOut}`;
    parts.body.append(overview.nodes, now, note, code.nodes, el("p", { class: "gpulab-legend", text: legend }),
      ...strip.nodes, ...lanes.nodes, el("div", { class: "gpulab-state" }, registers.nodes, memory.nodes));

    /** @param {string} place @param {string[]} said */
    function drawNow(place, said) {
      const item = wave.at(view.step), head = ` · ${place} · ${wave.active[view.step]} of ${size} lanes active`;
      now.replaceChildren(
        el("div", { class: "gpulab-now-head" }, el("strong", { text: `Step ${number(view.step + 1)} of ${number(count)}` }), head),
        el("div", { class: "gpulab-code gpulab-now-code", text: item.text }), el("div", { text: item.meaning }),
        ...said.map((text) => el("div", { class: text.startsWith("✖") ? "gpulab-bad" : "gpulab-event", text })));
    }

    /** Draw what is known. @param {import("./stepper_states.js").State | null} state @param {boolean} moved @param {string} failed */
    function paint(state, moved, failed) {
      const item = wave.at(view.step);
      const file = files.length > 1 && item.line ? `${files[item.file].name}, ` : "";
      const place = item.line ? `${file}line ${item.line}` : "no source line";
      const said = failed ? [failed] : happens(state);
      drawNow(place, said);
      if (moved) note.textContent = "";
      note.hidden = !note.textContent;
      overview.mark(`step ${view.step + 1} of ${count}, ${place}`);
      // Not `disabled`: the focus would be lost, and with it the keys.
      for (const { node, off } of controls) node.setAttribute("aria-disabled", off() ? "true" : "false");
      tip.hide();
      if (moved) {
        code.draw();
        strip.draw();
      }
      lanes.draw(state);
      registers.draw(state);
      memory.draw(state, moved);
      if (moved) parts.say(`Step ${view.step + 1}, ${place}, ${wave.active[view.step]} lanes active. ${item.text}. ${said.join(" ")}`);
      parts.root.dataset.step = String(view.step + 1);
      parts.root.dataset.ready = String(Boolean(state));
    }

    /** Draw the step; a state that is not here is drawn when Python has answered. @param {boolean} moved whether the step changed */
    function draw(moved) {
      const mine = ++turn, state = states.at(view.step);
      paint(state, moved, "");
      if (state) {
        states.askAhead(view.step);
        return;
      }
      states.load(Math.max(0, view.step - LOOK_BACK)).then(
        () => { if (mine === turn) draw(moved); },
        (error) => { if (mine === turn) paint(null, moved, `Registers and memory are not here: ${error.message}`); });
    }

    parts.root.addEventListener("keydown", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(target.tagName)) return;
      const back = event.shiftKey;
      /** @type {Record<string, () => void>} */
      const actions = {
        ArrowRight: () => go(view.step + 1), ArrowLeft: () => go(view.step - 1), Home: () => go(0), End: () => go(count - 1),
        n: () => nextLine(back), d: () => jump(divergences, back, "divergence"), b: () => jump(barriers, back, "barrier"),
        w: () => jump(flights.waits, back, "wait"), f: toFault,
      };
      const letter = event.key.length === 1;
      const action = actions[letter ? event.key.toLowerCase() : event.key];
      if (!action || (target === overview.slide && !letter)) return;
      event.preventDefault();
      action();
    });

    if (data.first) await states.first(data.first);
    overview.draw(parts.body.clientWidth);
    strip.resized(parts.body.clientWidth);
    draw(true);
    let width = parts.body.clientWidth;
    const watch = new ResizeObserver(() => {
      if (parts.body.clientWidth === width) return;
      width = parts.body.clientWidth;
      overview.draw(width);
      strip.resized(width);
      code.resized();
    });
    watch.observe(parts.body);
    return () => watch.disconnect();
  },
};
