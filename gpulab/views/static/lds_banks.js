// LDS banks: lanes, the banks that they want, and how high the dwords pile up in each bank, phase by phase.

import { ask, choice, el, frame, number, redraw, roving, table } from "./common.js";

const KEYS = [
  ["Tab", "from field to field, then to the lanes, the phases and the banks"],
  ["Enter", "in the index: take it now"],
  ["← → ↑ ↓", "the lane or the dword beside it"],
  ["Home, End", "the first, the last"],
  ["Esc", "no lane"],
];
const MOST_ROWS = 12, PAUSE = 250;
const REST = "Point at a lane or at a dword, or go through them with the arrow keys.";

const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
const fields = ["index", "element", "action", "arch", "width"];

export default {
  render({ model, el: host }) {
    const data = model.get("data");
    const f = frame(host, { title: data.title, sentence: data.sentence, keys: data.view ? KEYS : [] });
    if (!data.view) return;

    let view = data.view, presets = data.view.presets, instruction = 0, sample = data.view.sample;
    let own = data.instructions.length > 0; // the addresses of the launch are shown, not those of an index
    let columns = 32, phase = 0, asked = 0, timer = null, cells = [], boxes = [];

    // ------------------------------------------------------------------------------------------------ controls
    const pick = el("div", { class: "lds-row" });
    const input = el("input", {
      type: "text", class: "lds-index", spellcheck: "false", autocomplete: "off", maxlength: 200, value: data.view.fitted,
      placeholder: "no simple formula: type an index to try", "aria-label": `Index of the element that a lane accesses. Names: ${data.names.join(", ")}`,
      oninput: () => { clearTimeout(timer); timer = setTimeout(typed, PAUSE); },
      onchange: typed,
      onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); typed(); } },
    });
    const problem = el("div", { class: "lds-problem", role: "alert", hidden: true });
    const tries = el("div", { class: "lds-row lds-tries", role: "group", "aria-label": "Indices to try" });
    const names = el("span", { class: "lds-names", text: `names: ${data.names.slice(0, 5).join(", ")}` });
    const settings = el("div", { class: "lds-row" });
    f.controls.append(el("div", { class: "lds-controls" },
      pick, el("div", { class: "lds-row" }, el("label", { class: "gpulab-field lds-grow" }, el("span", { text: "Index" }), input), names), problem, tries, settings));

    let values = {};
    function reset() {
      own = data.instructions.length > 0;
      input.value = view.fitted;
      values = Object.fromEntries(fields.map((name) => [name, view[name]]));
      drawSettings();
      drawTries();
    }
    function drawSettings() {
      const set = (name) => (value) => { values[name] = name === "element" || name === "width" ? Number(value) : value; change(); };
      const sizes = [...new Set([...data.sizes, values.element])].sort((a, b) => a - b);
      const width = el("input", { type: "number", min: 1, max: view.threads, value: values.width, class: "lds-width", onchange: (event) => set("width")(event.target.value) });
      settings.replaceChildren(
        choice("Bytes of a lane", sizes.map((size) => [size, String(size)]), values.element, set("element")),
        choice("Access", data.actions.map((name) => [name, name]), values.action, set("action")),
        choice("GPU", data.architectures, values.arch, set("arch")),
        el("label", { class: "gpulab-field", title: "threads of a block along x: x runs from 0 to one less" }, el("span", { text: "Block width" }), width));
    }
    function drawTries() {
      tries.replaceChildren(el("span", { text: "Try" }), ...presets.map(([name, index, why], k) => el("button", {
        type: "button", class: "gpulab-button", title: index ? `${index}: ${why}` : why, "aria-pressed": "false",
        onclick: () => { own = !index && k === 0 && data.instructions.length > 0; input.value = own ? view.fitted ?? fitted : index; change(); },
      }, name, index ? el("code", { text: index }) : null)));
      pressed();
    }
    let fitted = data.view.fitted;
    function pressed() {
      const buttons = [...tries.querySelectorAll("button")];
      buttons.forEach((node, k) => {
        const [, index] = presets[k];
        node.setAttribute("aria-pressed", String(own ? k === 0 && !index : Boolean(index) && index === input.value.trim()));
      });
    }

    function typed() {
      clearTimeout(timer);
      if (own && input.value === fitted) return;
      const index = input.value.trim();
      if (!own && index === values.index) return;
      own = !index && data.instructions.length > 0;
      change();
    }
    async function change() {
      clearTimeout(timer);
      values.index = own ? "" : input.value.trim();
      await question({ ...values, instruction, sample });
    }
    async function load(next, which) {
      const reply = await question({ instruction: next, sample: which });
      if (!reply) return;
      instruction = next;
      sample = which;
      presets = reply.presets;
      fitted = reply.fitted;
      reset();
      drawPick();
      compare();
    }
    async function question(what) {
      const mine = ++asked;
      try {
        const reply = await ask(model, what);
        if (mine !== asked) return null;
        if (reply.problem) { complain(reply.problem); return null; }
        problem.hidden = true;
        input.removeAttribute("aria-invalid");
        f.body.classList.remove("lds-stale");
        view = { ...reply, fitted };
        if (reply.fitted !== undefined) view.fitted = reply.fitted;
        worst();
        show();
        compare();
        f.caption(reply.sentence);
        f.say(reply.sentence);
        return reply;
      } catch (error) {
        if (mine === asked) complain({ message: error.message, start: -1, end: -1 });
        return null;
      }
    }
    function complain({ message, start, end }) {
      const text = input.value, from = text.length - text.trimStart().length;
      const marked = start >= 0 ? [el("code", { "aria-hidden": "true" }, text.slice(0, start + from), el("mark", { text: text.slice(start + from, end + from) || " " }), text.slice(end + from)), " "] : [];
      problem.replaceChildren("✕ ", ...marked, message, start >= 0 ? ` (at character ${start + 1})` : "");
      problem.hidden = false;
      input.setAttribute("aria-invalid", "true");
      f.body.classList.add("lds-stale");
      pressed();
    }
    function drawPick() {
      if (!data.instructions.length) return;
      const option = (item) => `${item.line ? `line ${item.line}` : item.text} · ${item.action} · ${plural(item.conflicts, "conflict cycle")} of ${number(item.cycles)} · ${item.source || item.text}`;
      redraw(pick, () => pick.replaceChildren(
        choice("Instruction, worst first", data.instructions.map((item, k) => [k, option(item)]), instruction, (value) => load(Number(value), 0)),
        choice("Execution", view.samples ? view.samples.map((text, k) => [k, text]) : samples.map((text, k) => [k, text]), sample, (value) => load(instruction, Number(value)))));
      if (view.samples) samples = view.samples;
    }
    let samples = data.view.samples;

    // ------------------------------------------------------------------------------------------------- picture
    const verdict = el("p", { class: "lds-verdict" });
    const strip = el("div", { class: "lds-lanes", role: "group", "aria-label": "Lanes and the banks that they want" });
    const phases = el("div", { class: "lds-row lds-phases", role: "group", "aria-label": "Phases: lanes that are served together" });
    const piles = el("div", { class: "lds-piles", role: "group", "aria-label": "Banks of the chosen phase, a row for each cycle" });
    const RULES = {
      plain: "A bank gives one dword (4 bytes) in a cycle. Dwords of the same bank stand below each other, with the lane that accesses them: the tallest pile says how many cycles the phase takes.",
      atomic: "A bank does one atomic in a cycle, also where several are for the same dword (4 bytes). Atomics of the same bank stand below each other, with their lane: the tallest pile says how many cycles the phase takes.",
    };
    const rule = el("p", { class: "lds-rule" });
    const detail = el("p", { class: "lds-detail" });
    const mark = (kind, text) => el("span", { class: "lds-key" }, el("span", { class: `lds-swatch ${kind}`, "aria-hidden": "true" }), text);
    const legend = el("p", { class: "lds-legend" });
    function explain() {
      const atomic = view.action === "atomic", what = atomic ? "atomic" : "dword";
      rule.textContent = atomic ? RULES.atomic : RULES.plain;
      legend.replaceChildren(mark("free", `first ${what} of a bank`), mark("bad", `one more ${what} in the same bank: one more cycle`),
        mark("off", "lane that is not active"), atomic ? "" : el("span", { text: "×3: three lanes access the same dword, in one cycle" }));
    }
    const note = el("p", { class: "lds-note", hidden: true, text: "The picture, its sentence and its table follow the fields. A table below the picture belongs to the access that it began with." });
    const numbers = el("div", { class: "lds-numbers" });
    const folded = el("details", {}, el("summary", { text: "Table of the picture: dwords by bank and phase" }), numbers);
    /** The table that stands beside the instrument is Python's: it does not change with the fields. */
    function compare() {
      note.hidden = instruction === 0 && sample === data.view.sample && fields.every((name) => view[name] === data.view[name]);
    }
    f.body.append(verdict, strip, phases, rule, piles, legend, detail, folded, note);

    function worst() {
      phase = view.phases.reduce((best, one, k) => (one.cycles > view.phases[best].cycles ? k : best), 0);
    }
    /** 32 lanes or banks in a row; half as many where numbers of 11 pixels would not fit. */
    function fits() { return f.body.clientWidth < 700 ? 16 : 32; }
    function show() {
      columns = fits();
      f.body.style.setProperty("--lds-columns", String(columns));
      const bad = view.conflicts > 0, least = view.phases.length;
      verdict.className = bad ? "lds-verdict bad" : "lds-verdict";
      verdict.replaceChildren(el("strong", { text: bad ? `✕ ${plural(view.cycles, "cycle")} instead of ${least}` : `✓ ${plural(view.cycles, "cycle")}: no bank conflict` }),
        ` ${view.lanes.filter(Boolean).length} lanes, ${plural(view.element, "byte")} each, ${view.banks} banks of 4 bytes, ${plural(least, "phase")}${bad ? `; ${plural(view.conflicts, "cycle")} lost to conflicts` : ""}.`,
        view.beyond ? ` ${view.beyond}` : "");
      cells = view.lanes.map((one, lane) => el("div", {
        class: `lds-lane${one ? (one.pile > 1 ? " bad" : "") : " off"}`, role: "img", "aria-label": ofLane(lane),
      }, el("b", { text: String(lane) }), el("span", { text: one ? String(one.banks[0]) : "–" })));
      const head = () => el("div", { class: "lds-head", "aria-hidden": "true" }, el("b", { text: "lane" }), el("span", { text: view.element > 4 ? "1st bank" : "bank" }));
      strip.replaceChildren(...cells.flatMap((node, k) => (k % columns ? [node] : [head(), node])));
      roving(strip, cells, { columns, onfocus: lanePointed });
      cells.forEach((node, k) => node.addEventListener("mouseenter", () => lanePointed(k)));
      explain();
      numbers.replaceChildren(table(view.table.columns.map((title, k) => ({ title, cell: (row) => row[k] })), view.table.rows, { caption: view.table.note, sortable: false }));
      showPhase();
      pressed();
    }
    function showPhase() {
      phases.replaceChildren(...view.phases.map((one, k) => el("button", {
        type: "button", class: "gpulab-button", "aria-pressed": String(k === phase),
        onclick: () => { phase = k; showPhase(); /** @type {HTMLElement} */ (phases.children[k]).focus(); f.say(`Phase ${k + 1}: ${plural(one.cycles, "cycle")}`); },
      }, view.phases.length > 1 ? `Phase ${k + 1}` : "One phase", el("span", { class: "lds-small", text: ` lanes ${one.lanes}: ${one.cycles > 1 ? "✕ " : ""}${plural(one.cycles, "cycle")}` }))));
      cells.forEach((node, k) => node.classList.toggle("other", view.lanes[k] !== null && view.lanes[k].phase !== phase));
      const chosen = view.phases[phase], bands = [];
      boxes = [];
      for (let start = 0; start < view.banks; start += columns) bands.push(band(chosen, start));
      piles.replaceChildren(...bands);
      roving(piles, boxes, { columns: 1, onfocus: (k) => boxPointed(boxes[k]) });
      boxes.forEach((node) => node.addEventListener("mouseenter", () => boxPointed(node)));
      point(new Set(), REST);
    }
    function band(chosen, start) {
      const tallest = Math.max(1, ...Array.from({ length: columns }, (_, k) => chosen.piles[start + k]?.length ?? 0));
      const rows = Math.min(tallest, MOST_ROWS);
      const grid = el("div", { class: "lds-band" });
      grid.append(el("div", { class: "lds-head", text: "bank" }), ...Array.from({ length: columns }, (_, k) => el("div", { class: "lds-bank", text: String(start + k) })));
      for (let row = 0; row < rows; row++) {
        const last = row === MOST_ROWS - 1 && tallest > MOST_ROWS;
        grid.append(el("div", { class: "lds-head", text: last ? `${row + 1} – ${tallest}` : `cycle ${row + 1}` }));
        for (let k = 0; k < columns; k++) {
          const bank = start + k, wants = chosen.piles[bank] ?? [];
          if (row >= wants.length) { grid.append(el("div", { class: "lds-empty" })); continue; }
          const more = last ? wants.slice(row) : [wants[row]], lanes = more.flat();
          const word = view.action === "atomic" ? "atomic" : "dword";
          const text = more.length > 1 ? "⋮" : lanes.length > 1 ? `×${lanes.length}` : String(lanes[0]);
          const box = Object.assign(el("div", {
            class: `lds-box${row ? " bad" : ""}${text.length > 2 ? " long" : ""}`, role: "img", text,
            "aria-label": `bank ${bank}, ${more.length > 1 ? `${more.length} more ${word}s` : `${word} ${row + 1} of ${wants.length}`}, ${lanes.length > 1 ? "lanes" : "lane"} ${ranges(lanes)}`,
          }), { lanes, where: [bank, row, wants.length, more.length] });
          boxes.push(box);
          grid.append(box);
        }
      }
      return grid;
    }
    function ranges(list) {
      const parts = [];
      for (const value of [...new Set(list)].sort((a, b) => a - b)) {
        const last = parts.at(-1);
        if (last && value === last[1] + 1) last[1] = value;
        else parts.push([value, value]);
      }
      return parts.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
    }
    function ofLane(lane) {
      const one = view.lanes[lane];
      if (!one) return `Lane ${lane} is not active.`;
      const where = one.banks.length > 1 ? `banks ${one.banks.join(", ")}` : `bank ${one.banks[0]}`;
      const fate = one.pile > 1 && view.action === "atomic" ? `${one.pile} atomics on one of its banks wait for each other in phase ${one.phase + 1}: ${one.pile} cycles.`
        : one.pile > 1 ? `${one.pile} different dwords of one of its banks are accessed in phase ${one.phase + 1}: ${one.pile} cycles.` : `No other ${view.action === "atomic" ? "atomic" : "dword"} of its banks is accessed in its phase.`;
      return `Lane ${lane} (x = ${one.x}, y = ${one.y}) accesses bytes ${number(one.address)}–${number(one.address + view.element - 1)} of LDS: ${where}. ${fate}`;
    }
    function lanePointed(lane) {
      const one = view.lanes[lane];
      if (one && one.phase !== phase) { phase = one.phase; showPhase(); }
      point(new Set(one ? [lane] : []), ofLane(lane), lane);
    }
    function boxPointed(box) {
      const [bank, row, count, more] = box.where, lanes = new Set(box.lanes);
      const what = view.action === "atomic" ? "atomic" : "dword", who = `${lanes.size > 1 ? "lanes" : "lane"} ${ranges(box.lanes)}`;
      point(lanes, more > 1 ? `Bank ${bank} has ${count} ${what === "atomic" ? "atomics" : "different dwords"} to serve: these ${more} are for ${who}, one cycle each.`
        : `Bank ${bank}, ${what} ${row + 1} of ${count}: for ${who}${lanes.size > 1 ? ", together" : ""}.${count > 1 ? ` The bank serves one ${what} in a cycle: ${count} cycles.` : ""}`);
    }
    function point(lanes, words, lane = null) {
      cells.forEach((node, k) => node.classList.toggle("on", lanes.has(k) || k === lane));
      boxes.forEach((node) => node.classList.toggle("on", node.lanes.some((k) => lanes.has(k))));
      detail.textContent = words;
    }
    for (const node of [strip, piles]) {
      node.addEventListener("mouseleave", () => point(new Set(), REST));
      node.addEventListener("focusout", () => point(new Set(), REST));
      node.addEventListener("keydown", (event) => { if (event.key === "Escape") point(new Set(), REST); });
    }

    worst();
    reset();
    drawPick();
    show();
    const watch = new ResizeObserver(() => { if (fits() !== columns) show(); });
    watch.observe(f.body);
    return () => { clearTimeout(timer); watch.disconnect(); };
  },
};
