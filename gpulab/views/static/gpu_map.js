// GPU map: each unit (CU or WGP) is a square with the number of workgroups on it; play, steps and a slider move through
// modelled time; a selected unit shows its SIMDs and wave slots, which it asks Python for.
import { el, svg, frame, button, slider, roving, ask, number, uid } from "./common.js";

const level = (held, places) => Math.min(5, Math.floor((held / places) * 6 * 0.999));

function render({ model, el: host }) {
  const data = model.get("data");
  const count = data.dies * data.units, steps = data.times.length;
  const many = (n, what = "workgroup") => `${number(n)} ${what}${n === 1 ? "" : "s"}`;
  const us = (time) => `${number(time)} µs`;
  const view = frame(host, {
    title: data.title, sentence: data.sentence,
    keys: [
      ["P", "play or pause"],
      [", and .", "one step back, one step forward"],
      ["Home / End on the slider", "the launch, and its end"],
      ["← → ↑ ↓ on the map", `go from ${data.unit} to ${data.unit}; its wave slots are shown below`],
    ],
  });
  let step = data.fullest, timer = null, unit = 0, asked = 0, moved = false;

  // Controls
  const play = button("▶ Play", "Play the launch", () => (timer ? pause() : start()), { class: "gpulab-button gpu-map-play" });
  const time = slider("Time", { min: 0, max: steps - 1, value: step },
    (k) => `${us(data.times[k])} of ${us(data.times[steps - 1])} (modelled)`, (k) => { pause(); show(k); });
  view.controls.append(
    play,
    button("◀", "One step back", () => { pause(); show(step - 1); }),
    button("▶", "One step forward", () => { pause(); show(step + 1); }),
    time.field,
    button("Fullest moment", "Go to the moment at which most workgroups run", () => { pause(); show(data.fullest); }),
  );

  // The workgroups: waiting, running, done
  const kinds = [["waiting", "waiting for a place"], ["running", "running"], ["done", "done"]];
  const bars = kinds.map(([name]) => el("div", { class: `gpu-map-bar gpu-map-${name}` }));
  const words = kinds.map(([name, text]) => {
    const shown = el("b", { text: "0" });
    return { shown, node: el("span", { class: "gpu-map-count" }, el("span", { class: `gpu-map-key gpu-map-${name}`, "aria-hidden": "true" }), shown, ` ${text}`) };
  });
  const busy = el("b", { text: "0" });
  const flow = el("div", { class: "gpu-map-flow" },
    el("div", { class: "gpu-map-stack", "aria-hidden": "true" }, bars),
    el("div", { class: "gpu-map-counts" }, `Of ${many(data.workgroups)}: `, words.map(({ node }) => node),
      el("span", { class: "gpu-map-count" }, busy, ` of ${count} ${data.unit}s at work`)));

  // The map
  const cells = [], shown = [];  // by number; in the order in which they are drawn
  const blocks = data.parts.map((part) => {
    const box = el("div", { class: "gpu-map-cells", style: { "--columns": data.columns } });
    for (const k of part.units) {
      cells[k] = el("button", { type: "button", class: "gpu-map-cell", "data-unit": k });
      shown.push(k);
      box.append(cells[k]);
    }
    const total = el("span", { class: part.name.length > 8 ? "gpu-map-total gpu-map-below" : "gpu-map-total" });
    return { part, total, node: el("div", { class: "gpu-map-part" }, el("div", { class: "gpu-map-name" }, el("b", { text: part.name }), total), box) };
  });
  const map = el("div", {
    class: "gpu-map-device", role: "group", "aria-label": `${count} ${data.unit}s; arrow keys go from one to the next`,
    style: { "--across": data.across },
  }, blocks.map(({ node }) => node));
  const legend = el("div", { class: "gpu-map-legend" },
    el("span", { class: "gpu-map-item" }, el("span", { class: "gpu-map-sample" }), `a ${data.unit} with nothing to do`),
    [...new Set([1, Math.ceil(data.places / 2), data.places])].map((held) =>
      el("span", { class: "gpu-map-item" }, el("span", { class: "gpu-map-sample", "data-level": level(held, data.places), text: String(held) }),
        held === data.places ? `${many(held)}: full (${data.limit} allow no more)` : many(held))));

  // Units at work over time
  const working = data.held.map((now) => now.reduce((sum, held) => sum + (held > 0), 0));
  const place = el("div"), chart = { wide: 0, move: (/** @type {number} */ _step) => {} };
  const detail = el("div", { class: "gpu-map-detail" });
  const nameOf = (k) => (data.dies > 1 ? `XCD ${Math.floor(k / data.units)}, ${data.unit} ${k % data.units}` : `${data.unit} ${k}`);

  /** The chart in the width that there is, so that its text keeps its size. */
  function draw() {
    const wide = Math.max(420, Math.floor(view.body.clientWidth) || 800), high = 96, left = 44, low = 22, top = 14;
    const last = data.times[steps - 1];
    const x = (t) => left + ((wide - left - 10) * t) / last, y = (n) => high - low - ((high - low - top) * n) / count;
    let line = `M${x(0)} ${y(0)}`;
    working.forEach((n, k) => { line += `H${x(data.times[k])}V${y(n)}`; });
    const cursor = svg("line", { y1: top - 4, y2: high - low, class: "gpu-map-cursor" });
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * last);
    const picture = svg("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `${data.unit}s at work over modelled time: at most ${Math.max(...working)} of ${count}`, class: "gpu-map-chart" },
      svg("line", { x1: left, x2: wide - 10, y1: y(count), y2: y(count), class: "gpulab-grid" }),
      svg("path", { d: `${line}V${y(0)}Z`, class: "gpu-map-area" }),
      svg("path", { d: line, class: "gpu-map-line" }),
      svg("line", { x1: left, x2: wide - 10, y1: y(0), y2: y(0), class: "gpulab-axis" }),
      svg("text", { x: left - 5, y: y(count) + 4, "text-anchor": "end", text: String(count) }),
      svg("text", { x: left - 5, y: y(0) + 4, "text-anchor": "end", text: "0" }),
      svg("text", { x: left + 4, y: y(count) + 12, class: "gpu-map-muted", text: `${data.unit}s at work over modelled time` }),
      ticks.map((t, k) => svg("text", { x: x(t), y: high - 6, "text-anchor": k === 0 ? "start" : k === 4 ? "end" : "middle", text: us(t) })),
      cursor);
    place.replaceChildren(picture);
    chart.wide = wide;
    chart.move = (k) => { for (const end of ["x1", "x2"]) cursor.setAttribute(end, String(x(data.times[k]))); };
    chart.move(step);
  }

  function show(to) {
    step = Math.max(0, Math.min(steps - 1, to));
    const now = data.held[step];
    time.set(step);
    cells.forEach((cell, k) => {
      const held = now[k];
      if (cell.dataset.held === String(held)) return;
      cell.dataset.held = held;
      cell.textContent = held ? String(held) : "";
      if (held) cell.dataset.level = level(held, data.places);
      else delete cell.dataset.level;
      cell.setAttribute("aria-label", `${nameOf(k)}: ${held ? `${held} of ${data.places} places taken` : "nothing to do"}`);
    });
    const amounts = [data.waiting[step], data.running[step], data.done[step]];
    amounts.forEach((amount, k) => {
      bars[k].style.setProperty("flex-grow", String(amount));
      bars[k].hidden = !amount;
      words[k].shown.textContent = number(amount);
    });
    busy.textContent = String(working[step]);
    for (const { part, total } of blocks) {
      const here = part.units.reduce((sum, k) => sum + now[k], 0);
      total.textContent = here ? ` ${many(here)}` : " idle";
    }
    chart.move(step);
    if (!timer) {
      view.say(`After ${us(data.times[step])}: ${number(amounts[0])} waiting, ${number(amounts[1])} running, ${number(amounts[2])} done; ${working[step]} of ${count} ${data.unit}s at work.`);
      select(unit);
    }
  }

  function start() {
    if (!moved || step >= steps - 1) step = 0;
    moved = true;
    play.textContent = "⏸ Pause";
    play.setAttribute("aria-label", "Pause");
    timer = setInterval(() => {
      if (!view.root.isConnected || step >= steps - 1) pause();
      else show(step + 1);
    }, 90);
  }
  function pause() {
    moved = true;
    if (!timer) return;
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Play";
    play.setAttribute("aria-label", "Play the launch");
    show(step);
  }

  async function select(to) {
    cells[unit].removeAttribute("aria-current");
    unit = to;
    cells[unit].setAttribute("aria-current", "true");
    const mine = ++asked, at = step;
    let found;
    try {
      found = await ask(model, { die: Math.floor(unit / data.units), unit: unit % data.units, step: at });
    } catch (error) {
      detail.replaceChildren(el("p", { text: `${nameOf(unit)}: ${error.message}` }));
      return;
    }
    if (mine !== asked) return;
    const slots = Array.from({ length: data.simds }, () => Array(data.slots).fill(null));
    found.workgroups.forEach((group, k) => group.slots.forEach(([simd, slot], wave) => { slots[simd][slot] = { group, wave, k }; }));
    const taken = found.workgroups.length;
    const heading = uid("slots"), parted = data.slots === 16 && view.body.clientWidth < 800;
    detail.replaceChildren(
      el("h4", { class: "gpu-map-heading", id: heading, text: `${nameOf(unit)} after ${us(data.times[at])}` }),
      el("p", { text: taken
        ? `${taken} of ${data.places} places taken: ${many(taken)} of ${many(data.waves, "wave")} each. In all it gets ${many(found.total)} of this launch.`
        : found.total ? `Nothing runs here now. In all it gets ${many(found.total)} of this launch.`
          : "Nothing ever runs here in this launch: there are fewer workgroups than units." }),
      el("table", { class: "gpu-map-slots", "aria-labelledby": heading },
        parted ? null : el("thead", {}, el("tr", {}, el("td", { class: "gpu-map-corner" }), Array.from({ length: data.slots }, (_, k) => el("th", { scope: "col", text: `slot ${k}` })))),
        el("tbody", {}, slots.flatMap((row, simd) => (parted ? [0, 8] : [0]).map((first) => el("tr", {},
          el("th", { scope: "row", text: parted ? `SIMD ${simd}, slots ${first}–${first + 7}` : `SIMD ${simd}` }),
          row.slice(first, parted ? first + 8 : undefined).map((wave) => wave
            ? el("td", { "data-colour": wave.k % 7, title: `workgroup ${number(wave.group.workgroup)}, wave ${wave.wave}: ${us(wave.group.start)} to ${us(wave.group.end)}` },
                el("span", { text: String(wave.group.workgroup) }), el("small", { text: `wave ${wave.wave}` }))
            : el("td", { class: "gpu-map-free", text: "free" }))))))),
      el("p", { class: "gpu-map-muted", text: "In each slot: the number of the workgroup, and which of its waves it is." }));
  }

  roving(map, shown.map((k) => cells[k]), { columns: data.columns, onfocus: (at) => { const k = shown[at]; if (k !== unit) { select(k); view.say(cells[k].getAttribute("aria-label")); } } });
  view.root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "p" || event.key === "P") (timer ? pause : start)();
    else if (event.key === ",") { pause(); show(step - 1); }
    else if (event.key === ".") { pause(); show(step + 1); }
    else return;
    event.preventDefault();
  });
  view.body.append(flow, map, legend, place, detail, el("p", { class: "gpu-map-muted", text: data.note }));
  draw();
  show(step);
  const resized = new ResizeObserver(() => { if (view.body.clientWidth && Math.abs(chart.wide - view.body.clientWidth) > 2 && view.body.clientWidth >= 420) draw(); });
  resized.observe(view.body);
  return () => { resized.disconnect(); if (timer) clearInterval(timer); };
}

export default { render };
