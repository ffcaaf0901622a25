// Coalescing: a strip of lanes, the cache lines that they need, and which bytes of these they use.

import { ask, choice, el, frame, number, redraw, roving, svg, uid } from "./common.js";

const KEYS = [
  ["Tab", "from the choices to the lanes and on to the cache lines"],
  ["← →", "the lane or line beside it"],
  ["Home, End", "the first, the last"],
  ["Esc", "no lane or line"],
];
const GUTTER = 92, STRIP = 22, GAP = 84, TALL = 128, TOP = 20, UNDER = 22;

const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** Numbers as ranges: 0–3, 20–23. */
function ranges(list) {
  const parts = [];
  for (const value of list) {
    const last = parts.at(-1);
    if (last && value === last[1] + 1) last[1] = value;
    else parts.push([value, value]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

function option(item) {
  const where = item.line ? `line ${item.line}` : item.text;
  return `${where} · ${item.action} · ${item.share} used · ${item.source || item.text}`;
}

export default {
  render({ model, el: host }) {
    const data = model.get("data");
    const f = frame(host, { title: data.title, sentence: data.sentence, keys: data.instructions.length ? KEYS : [] });
    if (!data.instructions.length) return;

    let at = 0, asked = 0, view = data.view, lanes = [], bars = [], links = [];
    const picked = choice("Instruction, worst first", data.instructions.map((item, k) => [k, option(item)]), 0,
      (value) => load(Number(value), 0));
    picked.classList.add("coalescing-pick");
    const executions = el("span", {});
    f.controls.append(picked, executions);

    const code = el("p", { class: "coalescing-code" });
    const words = el("p", { class: "coalescing-verdict" });
    const advice = el("p", { class: "coalescing-advice" });
    const picture = el("div", { class: "coalescing-picture" });
    const detail = el("p", { class: "coalescing-detail" });
    const mark = (kind, text) => el("span", { class: "coalescing-key" }, el("span", { class: `coalescing-swatch ${kind}`, "aria-hidden": "true" }), text);
    const legend = el("p", { class: "coalescing-legend" },
      mark("used", "bytes that lanes asked for"), mark("moved", "bytes that move with them and nobody asked for"),
      mark("shares", "lanes that share the chosen lane's line"), mark("off", "✕ lane that is not active"));
    const failed = el("p", { class: "coalescing-failed", role: "alert", hidden: true });
    f.body.append(code, words, advice, picture, legend, detail, failed);

    async function load(instruction, sample) {
      const mine = ++asked;
      try {
        const reply = await ask(model, { instruction, sample });
        if (mine !== asked) return;
        at = instruction;
        view = reply;
        failed.hidden = true;
        show();
        f.say(`${view.words}. ${numbers()}`);
      } catch (error) {
        failed.textContent = `That did not work: ${error.message}`;
        failed.hidden = false;
      }
    }

    function numbers() {
      return `This wave asked for ${number(view.asked)} bytes; ${plural(view.lines.length, "line")} of ${view.line_bytes} bytes ` +
        `moved, ${number(view.moved)} bytes: ${view.share} used.`;
    }

    function show() {
      const item = data.instructions[at];
      code.replaceChildren(...(item.line ? [el("span", { class: "coalescing-line", text: `line ${item.line}` }), el("code", { text: item.source })] : []),
        el("code", { class: "coalescing-isa", text: item.text }));
      words.replaceChildren(el("strong", { text: `${view.words}.` }), ` ${numbers()}`);
      advice.textContent = view.advice;
      redraw(executions, () => executions.replaceChildren(choice("Execution", view.samples.map((text, k) => [k, text]), view.sample, (value) => load(at, Number(value)))));
      draw();
    }

    const REST = "Point at a lane or a cache line, or go through them with the arrow keys: who uses what?";
    function select(lane, line) {
      const on = new Set(lane !== null ? [lane] : line !== null ? view.lines[line].lanes : []);
      const touched = new Set(lane !== null ? view.lanes[lane]?.lines ?? [] : line !== null ? [line] : []);
      const sharing = new Set(lane !== null ? [...touched].flatMap((n) => view.lines[n].lanes).filter((n) => n !== lane) : []);
      const any = on.size + touched.size > 0;
      lanes.forEach((node, k) => { node.classList.toggle("on", on.has(k)); node.classList.toggle("shares", sharing.has(k)); });
      bars.forEach((node, k) => node.classList.toggle("on", touched.has(k)));
      links.forEach(([node, from, to]) => {
        const mine = on.has(from) && touched.has(to);
        node.classList.toggle("on", mine);
        node.classList.toggle("dim", any && !mine);
      });
      detail.textContent = lane !== null ? ofLane(lane) : line !== null ? ofLine(line) : REST;
    }
    function ofLane(lane) {
      const one = view.lanes[lane];
      if (!one) return `Lane ${lane} is not active: it asks for nothing.`;
      const others = view.lines[one.lines[0]].lanes.filter((n) => n !== lane);
      const place = one.lines.length > 1 ? `lines ${one.lines[0] + 1} and ${one.lines[1] + 1}: it straddles two` : `line ${one.lines[0] + 1}, from byte ${one.from} of it`;
      return `Lane ${lane} asks for ${plural(view.bytes, "byte")} at ${one.at} (${place}). ` +
        (others.length ? `It shares the line with ${others.length === 1 ? "lane" : "lanes"} ${ranges(others)}.` : "No other lane uses this line.");
    }
    function ofLine(line) {
      const one = view.lines[line];
      return `Line ${line + 1} begins at ${one.at}. ${one.lanes.length === 1 ? "Lane" : "Lanes"} ${ranges(one.lanes)} ` +
        `${one.lanes.length === 1 ? "uses" : "use"} ${one.used} of its ${view.line_bytes} bytes.`;
    }

    function draw() {
      const width = Math.max(320, Math.floor(picture.clientWidth || 800)), room = width - GUTTER - 6;
      const count = view.lines.length, cell = room / view.lanes.length;
      const step = Math.min(room / Math.max(count, 1), 190), bar = step > 6 ? step - Math.min(10, step * 0.25) : step * 0.8;
      const left = GUTTER + (room - step * count) / 2, top = TOP + STRIP + GAP, scale = TALL / view.line_bytes;
      const middle = (k) => GUTTER + (k + 0.5) * cell;
      const hatch = uid("off");

      links = [];
      view.lanes.forEach((one, lane) => one?.lines.forEach((line, k) => {
        const x = middle(lane), y = TOP + STRIP, tox = left + line * step + bar / 2, toy = top + (k ? 0 : one.from * scale);
        const bend = (top - y) / 2;
        const path = `M${x} ${y}C${x} ${y + bend} ${tox} ${top - bend} ${tox} ${top}`;
        links.push([svg("path", { d: path, class: "coalescing-link" }), lane, line, toy]);
      }));
      lanes = view.lanes.map((one, lane) => svg("g", { class: one ? "coalescing-lane" : "coalescing-lane off", role: "img", "aria-label": ofLane(lane) },
        svg("rect", { x: GUTTER + lane * cell + 0.5, y: TOP, width: Math.max(cell - 1, 1), height: STRIP }),
        one ? null : svg("rect", { x: GUTTER + lane * cell + 0.5, y: TOP, width: Math.max(cell - 1, 1), height: STRIP, fill: `url(#${hatch})`, class: "coalescing-cross" })));
      bars = view.lines.map((line, n) => svg("g", { class: "coalescing-bar", role: "img", "aria-label": ofLine(n) },
        svg("rect", { class: "moved", x: left + n * step, y: top, width: bar, height: TALL }),
        line.spans.map(([from, to]) => svg("rect", { class: "used", x: left + n * step, y: top + from * scale, width: bar, height: (to - from) * scale }))));
      const marks = view.lanes.map((_, lane) => (lane % 8 && lane !== view.lanes.length - 1 ? null : svg("text", { x: middle(lane), y: TOP - 5, "text-anchor": "middle", text: String(lane) })));
      const apart = Math.max(1, Math.ceil(150 / step));
      const names = view.lines.map((line, n) => {
        const end = n === count - 1;
        if (n % apart && !end) return null;
        if (!end && n && count - 1 - n < apart) return null;
        const anchor = step >= 150 || count === 1 ? "middle" : n === 0 ? "start" : end ? "end" : "middle";
        const x = left + n * step + (anchor === "middle" ? bar / 2 : anchor === "end" ? bar : 0);
        return svg("text", { x, y: top + TALL + 15, "text-anchor": anchor, text: line.at });
      });
      const side = (y, ...rows) => rows.map((text, k) => svg("text", { x: GUTTER - 10, y: y + 15 * k, "text-anchor": "end", text }));
      const laneGroup = svg("g", { role: "group", tabindex: "-1", "aria-label": "Lanes of the wave" }, lanes);
      const barGroup = svg("g", { role: "group", tabindex: "-1", "aria-label": "Cache lines" }, bars);
      const defs = svg("defs", {}, svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
        svg("path", { d: "M0 0L6 6M6 0L0 6", class: "coalescing-x" })));
      picture.replaceChildren(svg("svg", { width, height: top + TALL + UNDER, viewBox: `0 0 ${width} ${top + TALL + UNDER}`, class: "coalescing-svg", role: "group", "aria-label": "Lanes of a wave above, the cache lines that they need below" },
        defs, links.map(([node]) => node), laneGroup, barGroup, marks, names,
        side(TOP + 15, `${view.lanes.length} lanes`),
        side(top + 10, "byte 0"), side(top + TALL / 2 - 10, plural(count, "line"), `of ${view.line_bytes} bytes`), side(top + TALL - 1, `byte ${view.line_bytes - 1}`)));
      roving(laneGroup, lanes, { onfocus: (k) => select(k, null) });
      roving(barGroup, bars, { onfocus: (k) => select(null, k) });
      lanes.forEach((node, k) => node.addEventListener("mouseenter", () => select(k, null)));
      bars.forEach((node, k) => node.addEventListener("mouseenter", () => select(null, k)));
      for (const node of [laneGroup, barGroup]) {
        node.addEventListener("mouseleave", () => select(null, null));
        node.addEventListener("focusout", () => select(null, null));
        node.addEventListener("keydown", (event) => { if (event.key === "Escape") select(null, null); });
      }
      select(null, null);
    }

    show();
    let wide = picture.clientWidth;
    const watch = new ResizeObserver(() => {
      if (Math.abs(picture.clientWidth - wide) < 2) return;
      wide = picture.clientWidth;
      draw();
    });
    watch.observe(picture);
    return () => watch.disconnect();
  },
};
