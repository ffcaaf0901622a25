// Timeline: streams as rows; kernels, copies and memsets as bars, events as marks, waits as arrows. Zoom and pan by
// buttons, keys and Ctrl with the wheel. What is selected is described below; a kernel also shows its workgroups.
import { el, svg, frame, button, choice, hatches, ask, number, uid } from "./common.js";

const ROW = 44, BAR = 24, TOP = 26, LEFT = 118, RIGHT = 12;
const KINDS = [[0, "kernel"], [1, "copy host to device"], [2, "copy device to host"], [3, "memset"], [4, "other copy"], [5, "several kinds, drawn as one"]];

function duration(us) {
  if (us >= 10000) return `${number(us / 1000)} ms`;
  if (us > 0 && us < 0.1) return `${number(us * 1000)} ns`;
  return `${number(us)} µs`;
}
function at(us, span) {
  const digits = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(span))));
  const shown = Math.abs(us) < 0.5 * 10 ** -digits ? 0 : us; // not "-0.0"
  return `${shown.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })} µs`;
}
function bytes(n) {
  if (n < 1024) return `${number(n)} bytes`;
  const [value, unit] = n < 1 << 20 ? [n / 1024, "KiB"] : n < 2 ** 30 ? [n / 2 ** 20, "MiB"] : [n / 2 ** 30, "GiB"];
  return `${number(Number(value.toPrecision(3)))} ${unit}`;
}
/** @returns {[number[], number]} the marks, and how far apart they are */
function ticks(from, to, most) {
  const raw = (to - from) / most, base = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5].map((k) => k * base).find((s) => s >= raw) ?? 10 * base;
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-6; k++) found.push(k * step || 0);
  return [found, step];
}
function fit(text, width) {
  const room = Math.floor((width - 8) / 6.8);
  return text.length <= room ? text : room >= 4 ? `${text.slice(0, room - 1)}…` : "";
}

function render({ model, el: host }) {
  const data = model.get("data");
  const view = frame(host, {
    title: data.title, sentence: data.sentence,
    keys: [
      ["← →", "the item before or after in the same stream"], ["↑ ↓", "the stream above or below"],
      ["Enter", "details of the item, and of a kernel its workgroups"],
      ["+ −", "zoom in, out"], ["[ ]", "move to earlier, to later"], ["0", "the whole time"],
      ["Ctrl + wheel", "zoom where the mouse is"],
    ],
  });
  const prefix = uid("timeline");
  const end = data.end || 1;
  let from = 0, to = end, items = data.items, grouped = data.grouped, chosen = null, wanted = 0;
  const picture = el("div", { class: "timeline-picture" });
  const detail = el("div", { class: "timeline-detail" });
  const inside = el("div", { class: "timeline-inside" });
  const range = el("span", { class: "timeline-range" });
  view.controls.append(
    button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
    button("◀", "Earlier", () => pan(-0.5)), button("▶", "Later", () => pan(0.5)),
    button("Whole", "Show the whole time", () => look(0, end)), range);
  const used = new Set(items.map((item) => item.colour));
  const legend = el("div", { class: "timeline-legend" },
    KINDS.filter(([k]) => used.has(k) && items.some((i) => i.colour === k && i.kind !== "event" && i.kind !== "wait"))
      .map(([k, text]) => el("span", { class: "timeline-item" }, sample(k), text)),
    items.some((i) => i.kind === "event") ? el("span", { class: "timeline-item" }, el("span", { "aria-hidden": "true", text: "▼" }), "event recorded") : null,
    items.some((i) => i.kind === "wait") ? [
      el("span", { class: "timeline-item" }, svg("svg", { width: 22, height: 12, class: "timeline-sample", "aria-hidden": "true" }, svg("path", { d: "M1 6H20M14 1L20 6L14 11", class: "timeline-arrow" })), "a stream waits for it"),
      el("span", { class: "timeline-item" }, el("span", { class: "timeline-wait-key", "aria-hidden": "true" }), "waiting")] : null);
  view.body.append(legend, picture, detail, inside);

  function sample(k) {
    const own = uid("key");
    return svg("svg", { width: 22, height: 14, class: "timeline-sample", "aria-hidden": "true" }, hatches(own), svg("rect", { width: 22, height: 14, fill: `url(#${own}-${k})` }));
  }
  const x = (time, wide) => LEFT + ((time - from) / (to - from)) * (wide - LEFT - RIGHT);

  function describe(item) {
    const where = data.rows[item.row];
    if (item.kind === "event") return `${item.name} recorded in ${where} at ${at(item.start, end)}`;
    if (item.kind === "wait") return `${where} waits for ${item.name}: ${item.end > item.start ? duration(item.end - item.start) : "no time, it was over"}`;
    const what = item.kind === "group" ? item.name : item.kind === "copy" ? `copy ${item.name}` : item.kind === "fill" ? "memset" : `kernel ${item.name}`;
    return `${what} in ${where}: ${duration(item.end - item.start)} from ${at(item.start, end)}${item.bytes ? `, ${bytes(item.bytes)}` : ""}`;
  }

  function draw(focus = false) {
    const wide = Math.max(480, Math.floor(view.body.clientWidth) || 820), rows = data.rows.length;
    const high = TOP + rows * ROW + 4;
    const root = svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, class: "timeline-svg", role: "group", "aria-label": `${rows} streams, ${number(items.length)} items; arrow keys go from one to the next` }, hatches(prefix));
    const clip = uid("clip");
    root.append(svg("clipPath", { id: clip }, svg("rect", { x: LEFT - 1, y: 0, width: wide - LEFT - RIGHT + 2, height: high })));
    const [marks, step] = ticks(from, to, Math.max(3, Math.floor((wide - LEFT) / 110)));
    for (const mark of marks) {
      root.append(svg("line", { x1: x(mark, wide), x2: x(mark, wide), y1: TOP - 6, y2: high - 4, class: "gpulab-grid" }),
        svg("text", { x: x(mark, wide), y: 13, "text-anchor": x(mark, wide) > wide - 45 ? "end" : "middle", text: at(mark, step * 10) }));
    }
    root.append(svg("text", { x: 0, y: 13, class: "timeline-muted", text: data.modelled ? "modelled time" : "measured time" }));
    data.rows.forEach((name, k) => {
      const y = TOP + k * ROW;
      root.append(svg("line", { x1: 0, x2: wide, y1: y, y2: y, class: "gpulab-axis" }), svg("text", { x: 0, y: y + ROW / 2 + 6, text: fit(name, LEFT) || name.slice(0, 14) }, svg("title", { text: name })));
    });
    root.append(svg("line", { x1: 0, x2: wide, y1: TOP + rows * ROW, y2: TOP + rows * ROW, class: "gpulab-axis" }));
    const inner = svg("g", { "clip-path": `url(#${clip})` });
    root.append(inner);
    const nodes = [];
    for (const item of items) {
      if (item.end < from || item.start > to) continue;
      const y = TOP + item.row * ROW + 14, left = Math.max(x(item.start, wide), LEFT - 4), right = Math.min(x(item.end, wide), wide);
      const width = Math.max(right - left, 2);
      const node = svg("g", { class: "timeline-thing", role: "button", tabindex: "-1", "aria-label": describe(item), "data-id": item.id });
      if (item.kind === "event") {
        const c = x(item.start, wide);
        node.append(svg("path", { d: `M${c - 6} ${y - 12}h12l-6 10z`, class: "timeline-event" }));
      } else if (item.kind === "wait") {
        node.append(svg("line", { x1: left, x2: Math.max(right, left + 2), y1: y + BAR / 2, y2: y + BAR / 2, class: "timeline-wait" }),
          svg("rect", { x: left - 2, y: y + 4, width: width + 4, height: BAR - 8, fill: "transparent" }));
      } else {
        node.append(svg("rect", { x: left, y, width, height: BAR, rx: 2, fill: `url(#${prefix}-${item.colour})`, class: `timeline-bar${width < 5 ? " timeline-thin" : ""}` }));
        const words = fit(item.name, width);
        if (words) {
          const room = Math.min(width, words.length * 7.4 + 8);
          node.append(svg("rect", { x: left + width / 2 - room / 2, y: y + 4, width: room, height: BAR - 8, rx: 2, class: "timeline-plate" }),
            svg("text", { x: left + width / 2, y: y + BAR / 2 + 4, "text-anchor": "middle", text: words }));
        }
      }
      node.append(svg("title", { text: describe(item) }));
      if (chosen && item.id >= 0 && chosen.id === item.id) node.classList.add("timeline-chosen");
      node.addEventListener("click", () => { current = nodes.findIndex((n) => n.node === node); choose(item); });
      nodes.push({ node, item });
      inner.append(node);
    }
    for (const arrow of data.events) {
      if (arrow.to < from || arrow.from > to) continue;
      const x1 = x(arrow.from, wide), x2 = x(arrow.to, wide), down = arrow.target > arrow.row;
      const y1 = TOP + arrow.row * ROW + (down ? 14 + BAR : 14), y2 = TOP + arrow.target * ROW + (down ? 12 : 16 + BAR);
      const bend = (y1 + y2) / 2;
      inner.append(svg("path", { d: `M${x1} ${y1}C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}`, class: "timeline-arrow" }),
        svg("path", { d: down ? `M${x2 - 5} ${y2 - 7}L${x2} ${y2}L${x2 + 5} ${y2 - 7}` : `M${x2 - 5} ${y2 + 7}L${x2} ${y2}L${x2 + 5} ${y2 + 7}`, class: "timeline-arrow" }));
    }
    picture.replaceChildren(root);
    range.textContent = `${at(from, to - from)} to ${at(to, to - from)}${grouped ? " · neighbours are drawn as one; zoom in to see each" : ""}`;
    wire(root, nodes, focus);
  }

  let current = 0;
  /** One item is in the tab order; arrows go along a stream and from stream to stream. */
  function wire(root, nodes, focus) {
    if (!nodes.length) return;
    const found = nodes.findIndex(({ item }) => chosen && item.id >= 0 && item.id === chosen.id);
    current = found >= 0 ? found : Math.min(current, nodes.length - 1);
    const go = (k, take = true) => {
      nodes[current].node.setAttribute("tabindex", "-1");
      current = k;
      nodes[k].node.setAttribute("tabindex", "0");
      if (take) nodes[k].node.focus();
    };
    go(current, focus);
    root.addEventListener("keydown", (event) => {
      const here = nodes[current].item;
      const row = (r) => nodes.map(({ item }, k) => [item, k]).filter(([item]) => item.row === r).sort(([a], [b]) => a.start - b.start || a.end - b.end);
      if (event.key === "Enter" || event.key === " ") choose(here);
      else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        const own = row(here.row), place = own.findIndex(([, k]) => k === current) + (event.key === "ArrowRight" ? 1 : -1);
        if (own[place]) go(own[place][1]);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        for (let r = here.row, by = event.key === "ArrowDown" ? 1 : -1; ;) {
          r += by;
          if (r < 0 || r >= data.rows.length) break;
          const own = row(r);
          if (!own.length) continue;
          go(own.reduce((best, one) => (Math.abs(one[0].start - here.start) < Math.abs(best[0].start - here.start) ? one : best))[1]);
          break;
        }
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  async function look(a, b) {
    const span = Math.min(Math.max(b - a, end * 1e-6), end);
    from = Math.max(0, Math.min(a, end - span));
    to = from + span;
    const focus = picture.contains(document.activeElement);
    draw(focus);
    view.say(`Shown: ${range.textContent}`);
    if (data.grouped) {
      const mine = ++wanted;
      const found = await ask(model, { from, to }).catch(() => null);
      if (found && mine === wanted) { items = found.items; grouped = found.grouped; draw(focus); }
    }
  }
  function zoom(by, middle = chosen && chosen.start >= from && chosen.end <= to ? (chosen.start + chosen.end) / 2 : (from + to) / 2) {
    const share = (middle - from) / (to - from), span = (to - from) * by;
    look(middle - share * span, middle - share * span + span);
  }
  function pan(by) { look(from + by * (to - from), to + by * (to - from)); }

  function choose(item) {
    chosen = item;
    const facts = [["what", item.kind === "fill" ? "memset" : item.kind === "event" ? "event recorded" : item.kind === "wait" ? "wait for an event" : item.kind === "group" ? "several, drawn as one" : item.kind], ["name", item.name], ["stream", data.rows[item.row]], ["from", at(item.start, item.end - item.start || end)], ["to", at(item.end, item.end - item.start || end)], ["took", duration(item.end - item.start)]];
    if (item.bytes) {
      facts.push(["bytes", `${number(item.bytes)}${item.bytes >= 1024 ? ` (${bytes(item.bytes)})` : ""}`]);
      if (item.end > item.start && item.kind !== "group") facts.push(["rate", `${number(item.bytes / (item.end - item.start) / 1000)} GB/s, with what it costs to start`]);
    }
    if (item.kind === "group") facts.push(["busy", duration(item.busy)], ["count", number(item.count)]);
    const list = el("dl", { class: "timeline-facts" }, facts.map(([k, v]) => [el("dt", { text: k }), el("dd", { text: v })]));
    detail.replaceChildren(el("h4", { class: "timeline-heading", text: describe(item) }), list);
    view.say(describe(item));
    inside.replaceChildren();
    draw(picture.contains(document.activeElement));
    if (item.kind === "kernel" && item.launch !== null && item.launch !== undefined) kernel(item, list, 0);
  }

  async function kernel(item, list, die) {
    const found = await ask(model, { launch: item.launch, die }).catch(() => null);
    if (!found || chosen !== item) return;
    if (die === 0 && !list.querySelector(".timeline-more")) {
      const more = [["launch", `${item.launch} of the run`], ["grid × block", `${found.grid} × ${found.block}`], ["waves", number(found.waves)]];
      if (found.limiter) more.push(["limited by", found.limiter], ["before it runs", duration(found.overhead)]);
      list.append(...more.flatMap(([k, v]) => [el("dt", { class: "timeline-more", text: k }), el("dd", { text: v })]));
    }
    if (!found.bars) { inside.replaceChildren(el("p", { text: "A real GPU does not say where its workgroups ran." })); return; }
    const wide = Math.max(480, Math.floor(view.body.clientWidth) || 820), lanes = Math.max(...found.bars.map((bar) => bar.place), 0) + 1;
    const lane = Math.max(5, Math.min(14, 40 / lanes)), row = Math.max(lanes * lane, 12) + 8;
    const high = TOP + found.shown * row + 4;
    const place = (time) => LEFT + (time / found.total) * (wide - LEFT - RIGHT);
    const own = uid("inside");
    const root = svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, class: "timeline-svg", role: "img", "aria-label": `Workgroups on ${found.shown} of ${found.units} ${found.unit}s` }, hatches(own));
    const [marks, step] = ticks(0, found.total, 6);
    for (const mark of marks) root.append(svg("line", { x1: place(mark), x2: place(mark), y1: TOP - 6, y2: high - 4, class: "gpulab-grid" }), svg("text", { x: place(mark), y: 13, "text-anchor": place(mark) > wide - 45 ? "end" : "middle", text: at(mark, step * 10) }));
    root.append(svg("text", { x: 0, y: 13, class: "timeline-muted", text: "since launch" }));
    for (let unit = 0; unit < found.shown; unit++) {
      const y = TOP + unit * row;
      root.append(svg("line", { x1: 0, x2: wide, y1: y, y2: y, class: "gpulab-axis" }), svg("text", { x: 0, y: y + row / 2 + 4, text: `${found.dies > 1 ? `XCD ${found.die} ` : ""}${found.unit} ${unit}` }));
    }
    for (const bar of found.bars) {
      const left = place(bar.start), width = Math.max(place(bar.end) - left - 1, 1), y = TOP + bar.unit * row + 4 + bar.place * lane;
      const last = bar.first + bar.count - 1;
      root.append(svg("rect", { x: left, y, width, height: lane - 1, fill: `url(#${own}-${bar.count > 1 ? 4 : 0})` },
        svg("title", { text: bar.count > 1 ? `${number(bar.count)} workgroups, one after the other, from workgroup ${number(bar.first)} on` : `workgroup ${number(last)}: ${duration(bar.end - bar.start)}` })));
      if (lane >= 12 && bar.count === 1 && width > 70) root.append(svg("text", { x: left + 4, y: y + lane - 3, class: "timeline-small", text: `workgroup ${bar.first}` }));
    }
    root.append(svg("line", { x1: 0, x2: wide, y1: high - 4, y2: high - 4, class: "gpulab-axis" }));
    const dies = Array.from({ length: found.dies }, (_, k) => [k, `XCD ${k}`]);
    inside.replaceChildren(
      el("h4", { class: "timeline-heading", text: `Inside this kernel: ${number(found.workgroups)} workgroups; ${found.used} of ${found.of} ${found.unit}s had work` }),
      ...(found.dies > 1 ? [choice("Die", /** @type {[number, string][]} */ (dies), die, (k) => kernel(item, list, Number(k)))] : []),
      root,
      el("p", { class: "timeline-muted", text: `Each bar is one workgroup of ${found.wavesEach} wave${found.wavesEach === 1 ? "" : "s"}, ${duration(found.each)} long${found.differ ? " on average" : ""}; below each other are those that a ${found.unit} holds at a time (${found.places} at most). ${found.shown} of ${found.units} ${found.unit}s${found.dies > 1 ? " of this XCD" : ""} are drawn. Placed by the model: see run.gpu_map().` }));
  }

  view.root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /** @type {Element} */ (event.target).tagName === "SELECT") return;
    const does = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => look(0, end), "[": () => pan(-0.5), "]": () => pan(0.5) }[event.key];
    if (!does) return;
    does();
    event.preventDefault();
  });
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = picture.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)));
    zoom(event.deltaY < 0 ? 0.8 : 1.25, from + share * (to - from));
  }, { passive: false });
  const resized = new ResizeObserver(() => {
    const wide = Math.max(480, Math.floor(view.body.clientWidth));
    const drawn = picture.firstElementChild;
    if (drawn && Number(drawn.getAttribute("width")) !== wide) draw(picture.contains(document.activeElement));
  });
  if (!data.rows.length) picture.append(el("p", { text: "Nothing was put into a stream." }));
  else { draw(); resized.observe(view.body); }
  detail.append(el("p", { class: "timeline-muted", text: data.rows.length ? "Select an item to see its details; a kernel also shows its workgroups." : "" }));
  return () => resized.disconnect();
}

export default { render };
