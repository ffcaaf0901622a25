// The occupancy calculator. Python computes everything (views/occupancy.py); each change of a control asks for it.

import { ask, button, choice, el, frame, number, roving, svg, tooltip, uid } from "./common.js";

const SLIDERS = [
  ["vgprs", "VGPRs per lane", 1], ["agprs", "AccVGPRs per lane", 0], ["sgprs", "SGPRs per wave", 0],
  ["lds_bytes", "LDS per workgroup (B)", 0], ["block_threads", "Threads per workgroup", 1],
];

/** A slider in useful steps and, beside it, a field for the exact number. */
function amount(name, label, least, changed) {
  const id = uid(name);
  const range = el("input", { type: "range", "aria-label": `${label}, slider`, "data-name": name });
  const exact = el("input", { type: "number", id, min: least, step: 1, class: "gpulab-occ-exact" });
  const row = el("div", { class: "gpulab-occ-amount" }, el("label", { for: id, text: label }), range, exact);
  let most = 0;
  const take = (value) => {
    const whole = Math.round(Number(value));
    if (Number.isFinite(whole)) changed(name, Math.max(least, Math.min(most, whole)));
  };
  range.addEventListener("input", () => take(range.value));
  exact.addEventListener("change", () => take(exact.value));
  return {
    row,
    set(value, limit, step) {
      most = limit;
      row.hidden = limit === 0;
      exact.max = limit;
      Object.assign(range, { min: step > 1 ? 0 : least, max: limit, step });
      range.value = value;
      range.setAttribute("aria-valuetext", number(value));
      exact.value = value;
    },
  };
}

function bars(answer) {
  const cap = Math.max(1.5 * Math.max(answer.rows[0].allows, answer.blocks, 1), 1);
  const share = (value) => `${(100 * Math.min(value, cap)) / cap}%`;
  const rows = answer.rows.map((row) => {
    const bar = el("div", { class: `gpulab-occ-bar${row.binds ? " gpulab-occ-binds" : ""}`, style: { width: share(row.allows) } });
    const track = el("div", { class: "gpulab-occ-track" }, bar,
      el("div", { class: "gpulab-occ-here", style: { left: share(answer.blocks) } }));
    return el("div", { class: "gpulab-occ-limit", role: "listitem" },
      el("span", { class: "gpulab-limit-name", text: row.name }), track,
      el("span", { class: "gpulab-occ-limit-count", text: `${number(row.allows)}${row.allows > cap ? " →" : ""}${row.binds ? " ◀ limits" : ""}` }),
      el("span", { class: "gpulab-occ-limit-how", text: row.how }));
  });
  return el("div", { class: "gpulab-occ-panel" },
    el("h4", { text: `Workgroups that a ${answer.unit} could hold, by each resource alone` }),
    el("div", { class: "gpulab-occ-limits", role: "list" }, rows),
    el("p", { class: "gpulab-occ-legend", text: `┆ dashed line: what it holds, ${answer.blocks}. The shortest bar decides (hatched, ◀).` }));
}

function slots(answer) {
  const across = answer.slots[0].length, side = across > 8 ? 21 : 34, gap = 3, left = 52, high = 22;
  const width = left + across * (side + gap), height = answer.slots.length * (high + gap);
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": `${answer.waves} of ${answer.max_waves} wave slots are filled`,
  }, answer.slots.map((places, simd) => [
    svg("text", { x: 0, y: simd * (high + gap) + 16, text: `SIMD ${simd}` }),
    places.map((group, place) => {
      const x = left + place * (side + gap), y = simd * (high + gap);
      return [
        svg("rect", { x, y, width: side, height: high, rx: 2, class: group < 0 ? "gpulab-occ-slot-free" : `gpulab-occ-slot-${group % 2}` }),
        group < 0
          ? svg("path", { d: `M${x + 4} ${y + high - 4}L${x + side - 4} ${y + 4}`, class: "gpulab-occ-slot-stroke" })
          : svg("text", { x: x + side / 2, y: y + 16, "text-anchor": "middle", class: `gpulab-occ-slot-text-${group % 2}`, text: String(group) }),
      ];
    }),
  ]));
  return el("div", { class: "gpulab-occ-panel", style: { width: `${width}px` } },
    el("h4", { text: `Wave slots of one ${answer.unit}: ${answer.waves} of ${answer.max_waves} filled` }), picture,
    el("p", { class: "gpulab-occ-legend", text: "A box is a slot for one wave. Number: the workgroup whose wave is in it. ╱: empty." }));
}

/** Show another value in a labelled choice. @param {HTMLElement} field @param {string} value */
function chosen(field, value) {
  const select = field.querySelector("select");
  if (select) select.value = value;
}

/** Ticks that are easy to read: about so many of them. */
function ticks(last, many) {
  let step = 1;
  while (last / step > many) step *= 2;
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, k) => k * step);
}

function curve(answer, own, width, tip) {
  const { steps, at, axis, label } = answer.curve;
  const left = 46, right = 26, top = 24, bottom = 40, height = 230;
  const last = steps[steps.length - 1][1];
  const x = (value) => left + (value / last) * (width - left - right);
  const y = (waves) => height - bottom - (waves / answer.max_waves) * (height - top - bottom);
  const levels = [];
  for (const [from, to, waves] of steps) {
    if (levels.length && levels[levels.length - 1][2] === waves) levels[levels.length - 1][1] = to;
    else levels.push([from, to, waves]);
  }
  let path = "";
  for (const [from, to, waves] of levels) path += `${path ? "V" : `M${x(from - 1)} `}${y(waves)}H${x(to)}`;
  const falls = levels.every((level, k) => !k || level[2] < levels[k - 1][2]);
  const labels = falls
    ? levels.map(([, to, waves]) => {
      const text = width < 700 ? `≤ ${number(to)}: ${waves}` : `up to ${number(to)}: ${waves} waves`, room = x(to) + 7 * text.length < width;
      return svg("text", { x: x(to) + (room ? 4 : -4), y: y(waves) - 4, "text-anchor": room ? "start" : "end", class: "gpulab-occ-small gpulab-occ-halo", text });
    })
    : [];
  const cells = steps.map(([from, to, waves, blocks, limit]) => {
    const cell = svg("rect", {
      x: x(from - 1), y: top, width: Math.max(x(to) - x(from - 1), 1), height: height - top - bottom, class: "gpulab-occ-step",
      role: "img", "aria-label": `${number(from)} to ${number(to)}: ${waves} waves, ${blocks} workgroups, limit: ${limit}`,
    });
    tip.attach(cell, () => `${label}: ${number(from)}${to > from ? ` to ${number(to)}` : ""}\n${waves} waves (${blocks} workgroup${blocks === 1 ? "" : "s"})\nlimit: ${limit}`);
    return cell;
  });
  const group = svg("g", { role: "group", "aria-label": "Steps of the curve" }, cells);
  if (cells.length) roving(group, cells);
  const marks = [];
  const spot = (value, waves, kind, text, up) => {
    const cx = x(value), cy = y(waves);
    const end = cx > left + 8 * text.length + 12;
    marks.push(
      svg("path", { d: kind === "now" ? `M${cx} ${cy - 7}L${cx + 7} ${cy}L${cx} ${cy + 7}L${cx - 7} ${cy}Z` : `M${cx - 5} ${cy - 5}h10v10h-10Z`, class: `gpulab-occ-spot-${kind}` }),
      svg("text", { x: cx + (end ? -10 : 10), y: cy + up, "text-anchor": end ? "end" : "start", class: "gpulab-occ-small gpulab-occ-halo", text }));
  };
  if (own) spot(own.at, own.waves, "own", `${own.name}: ${number(own.at)}`, 20);
  const same = own && own.at === at && own.waves === answer.waves;
  if (!same) spot(at, answer.waves, "now", `now: ${number(at)}`, own && Math.abs(x(own.at) - x(at)) < 120 ? 36 : 20);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "data-axis": axis, role: "group", "aria-label": `Waves per ${answer.unit} by ${label}` },
    ticks(last, axis === "vgprs" ? 8 : 10).map((value) => [
      svg("path", { d: `M${x(value)} ${top}V${height - bottom}`, class: "gpulab-grid" }),
      svg("text", { x: x(value), y: height - bottom + 15, "text-anchor": "middle", class: "gpulab-occ-small", text: number(value) }),
    ]),
    ticks(answer.max_waves, 4).map((value) => [
      svg("path", { d: `M${left} ${y(value)}H${width - right}`, class: "gpulab-grid" }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "gpulab-occ-small", text: String(value) }),
    ]),
    svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", text: label }),
    svg("text", { x: 2, y: 12, text: `waves per ${answer.unit}` }),
    group, svg("path", { d: path, class: "gpulab-occ-curve" }), labels, marks);
}

export default {
  render({ model, el: host }) {
    const { title, sentence, devices, start, kernel, first, axes } = model.get("data");
    let state = { ...start }, axis = first.curve.axis, answer = first, asked = 0;
    const own = {};  // the start's waves by axis: what the kernel's mark shows
    const parts = frame(host, {
      title, sentence,
      keys: [
        ["Tab", "from one control to the next"], ["← →", "on a slider: one step (LDS: one granule; threads: one wave)"],
        ["Page up, Page down", "on a slider: large steps"], ["↑ ↓", "in a number field: one more, one less"],
        ["← → Home End", "on the curve: from step to step, with its numbers"], ["Esc", "take the numbers away"],
      ],
    });
    const tip = tooltip(parts.root);
    const device = () => devices.find((entry) => entry.arch === state.arch);
    const arch = choice("Device", devices.map((d) => [d.arch, `${d.arch} (${d.product}, ${d.family})`]), state.arch, (value) => change("arch", value));
    const mode = choice("A workgroup may use", [["wgp", "the whole WGP"], ["cu", "one CU (-mcumode)"]], state.cu_mode ? "cu" : "wgp",
      (value) => change("cu_mode", value === "cu"));
    const back = button(kernel ? "■ Back to the kernel" : "■ Back to the start", kernel ? `Back to the numbers of ${kernel}` : "Back to the first numbers", () => {
      state = { ...start };
      chosen(arch, state.arch);
      chosen(mode, state.cu_mode ? "cu" : "wgp");
      update();
    });
    parts.controls.append(arch, mode, back);
    const sliders = SLIDERS.map(([name, label, least]) => ({ name, slider: amount(name, label, least, change) }));
    const upper = el("div", { class: "gpulab-occ-two" }), lower = el("div", { class: "gpulab-occ-curve-panel" });
    const words = el("ul", { class: "gpulab-occ-facts" });
    const axisChoice = choice("Curve over", axes, axis, (value) => { axis = value; update(); });
    parts.body.append(el("div", { class: "gpulab-occ-amounts" }, sliders.map(({ slider }) => slider.row)), upper, words,
      el("div", { class: "gpulab-controls" }, axisChoice), lower);

    function change(name, value) {
      state = { ...state, [name]: value };
      if (name === "arch") {
        const d = device();
        for (const [key] of SLIDERS) state[key] = Math.min(state[key], d[key]);
        if (!d.modes) state.cu_mode = false;
      }
      update();
    }

    function draw() {
      const d = device();
      for (const { name, slider } of sliders) {
        slider.set(state[name], d[name], name === "lds_bytes" ? d.lds_granule : name === "block_threads" ? d.wave_size : 1);
      }
      mode.hidden = !d.modes;
      parts.caption(answer.sentence);
      upper.replaceChildren(bars(answer), slots(answer));
      words.replaceChildren(...[["One more workgroup: ", answer.more], ["Room left: ", answer.spare], ["What HIP says: ", answer.hip]]
        .filter(([, text]) => text).map(([head, text]) => el("li", {}, el("strong", { text: head }), text)));
      const width = Math.max(Math.min(parts.body.clientWidth || 820, 1000) - 2, 320);
      const mark = kernel && state.arch === start.arch && own[axis] ? { name: kernel.length > 24 ? `${kernel.slice(0, 23)}…` : kernel, at: start[axis], waves: own[axis] } : null;
      lower.replaceChildren(curve(answer, mark, width, tip));
    }

    /** A line where the facts stand, and for screen readers: no new numbers, and why. */
    function tell(text) {
      words.prepend(el("li", {}, el("strong", { text })));
      parts.say(text);
    }

    async function update() {
      tip.hide();
      const mine = ++asked;
      const silent = setTimeout(() => { if (mine === asked) tell("Python does not answer: run the cell again to change these numbers."); }, 5000);
      const reply = await ask(model, { ...state, axis }).catch((error) => ({ error: String(error.message) }));
      clearTimeout(silent);
      if (mine !== asked) return;  // a newer one is under way
      if (reply.error) { tell(reply.error); return; }
      answer = reply;
      draw();
      parts.say(answer.sentence);
    }

    for (const [key] of axes) own[key] = first.waves;
    draw();
    let drawnWidth = parts.body.clientWidth;
    const watch = new ResizeObserver(() => {
      if (parts.body.clientWidth === drawnWidth) return;
      drawnWidth = parts.body.clientWidth;
      draw();
    });
    watch.observe(parts.body);
    return () => watch.disconnect();
  },
};
