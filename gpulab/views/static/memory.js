// Memory hierarchy: a row for each kind of access, a column for each level. A band comes from the lanes; at each level
// what is served there ends in a block, and the rest goes on. Python says how much of what arrives where.
import { button, choice, el, frame, hatches, number, roving, svg, table, tooltip, uid } from "./common.js";

const LEFT = 132, RIGHT = 12, TOP = 80, WIDTH = 820, HALF = 15, MOST = 54, WORDS = 44;

function render({ model, el: host }) {
  const data = model.get("data");
  const shown = frame(host, {
    title: data.title, sentence: data.sentence,
    keys: [["Tab", "to the controls and the flow"], ["← → ↑ ↓", "from level to level, from kind to kind"], ["Esc", "close the note"]],
  });
  const tip = tooltip(shown.root);
  let log = false;
  const picked = data.launches.map(() => 0);
  const parts = data.launches.map(() => el("div", { class: "gpulab-memory-launch" }));

  const most = () => Math.max(1, ...data.launches.flatMap((launch, n) =>
    launch.choices[picked[n]].paths.flatMap((path) => [path.asked, ...path.steps.map((step) => step.bytes)])));
  const thickness = (bytes, all) => {
    if (!bytes) return 0;
    return Math.max(1.5, MOST * (log ? Math.log2(1 + bytes / 16) / Math.log2(1 + all / 16) : bytes / all));
  };

  function draw() {
    const all = most();
    data.launches.forEach((launch, n) => {
      const selected = launch.choices[picked[n]];
      const pick = choice("Show", launch.choices.map((one, k) => [k, (one.what === "instruction" ? "   " : "") + one.name]), picked[n], (value) => {
        picked[n] = Number(value);
        draw();
        parts[n].querySelector("select")?.focus();
        shown.say(`${launch.choices[picked[n]].name}. ${launch.choices[picked[n]].sentence}`);
      });
      const rows = selected.levels.map((row) => Object.fromEntries(row.map((cell, k) => [`c${k}`, cell])));
      parts[n].replaceChildren(...[
        data.launches.length > 1 ? el("h4", { class: "gpulab-memory-name", text: launch.name }) : null,
        el("div", { class: "gpulab-controls" }, pick, launch.leftOut ? el("span", { class: "gpulab-memory-small", text: `${number(launch.leftOut)} more lines and instructions are not in the list` }) : null),
        el("div", { class: "gpulab-memory-scroll" }, picture(launch, selected, all)),
        el("p", { class: "gpulab-memory-sentence", text: picked[n] ? selected.sentence : "" }),
        rows.length
          ? el("div", { class: "gpulab-memory-scroll" }, table(data.levelColumns.map((title, k) => ({ title, key: `c${k}`, align: k ? "right" : "left" })), rows,
              { caption: "Bytes by level. Of a row: bytes in = served here + passed on.", sortable: false }))
          : null,
        el("details", { class: "gpulab-keys" }, el("summary", { text: "Where latencies and rates come from" }), el("p", { text: launch.sources })),
      ].filter((part) => part !== null));
    });
  }

  function picture(launch, selected, all) {
    const step = (WIDTH - LEFT - RIGHT) / (launch.columns.length + 1);
    const x = (k) => LEFT + step * (k + 0.5);
    const column = {};
    launch.columns.forEach((one, k) => one.levels.forEach((level) => { column[level] = k + 1; }));
    const prefix = uid("memory");
    const cells = [];
    const bands = [];
    const labels = [];
    let y = TOP;
    const label = (at, top, text, more = "") => labels.push(svg("text", { x: at, y: top, "text-anchor": "middle", class: `gpulab-memory-number ${more}`, text }));
    selected.paths.forEach((path, row) => {
      const heights = [path.asked, ...path.steps.map((one) => one.bytes)].map((bytes) => thickness(bytes, all));
      const tall = Math.max(...heights), fill = `gpulab-fill-${path.colour}`, edge = { stroke: `var(--gpulab-${path.colour})` };
      labels.push(svg("text", { x: 4, y: y + Math.max(tall, 14) / 2 + 4, class: "gpulab-memory-kind", text: path.words }));
      let from = /** @type {number | null} */ (x(0) + HALF), before = heights[0];
      /** From x `left` to `right`, its height changing: pale, with an edge above and below. */
      const band = (left, right, top, first, last) => bands.push(
        svg("path", { d: `M${left} ${top} L${right} ${top} L${right} ${top + last} L${left} ${top + first} Z`, class: `${fill} gpulab-memory-band` }),
        svg("path", { d: `M${left} ${top} L${right} ${top} M${right} ${top + last} L${left} ${top + first}`, class: "gpulab-memory-edge", style: edge }));
      if (path.asked) {
        const cell = svg("g", { class: "gpulab-memory-cell", role: "img", "aria-label": path.tip },
          svg("rect", { x: x(0) - HALF, y: y - 3, width: 2 * HALF, height: tall + 6, class: "gpulab-memory-hit" }),
          svg("rect", { x: x(0) - HALF, y, width: 2 * HALF, height: before, class: `${fill} gpulab-memory-asked` }));
        cells.push({ cell, row, at: 0, words: path.tip });
        label(x(0), y + tall + 15, path.above);
        label(x(0), y + tall + 29, "asked for", "gpulab-memory-soft");
      } else from = null;
      for (const one of path.steps) {
        const at = x(column[one.level]), h = thickness(one.bytes, all);
        const on = one.passed ? (log ? h * one.passed / one.bytes : thickness(one.passed, all)) : 0;
        const end = one.served ? Math.max(h - on, 1.5) : 0;
        if (from !== null && one.bytes) band(from, at - HALF, y, before, h);
        if (on) band(at - HALF, at + HALF, y, on, on);
        const cell = svg("g", { class: "gpulab-memory-cell", role: "img", "aria-label": one.tip },
          svg("rect", { x: at - HALF, y: y - 3, width: 2 * HALF, height: tall + 6, class: "gpulab-memory-hit" }),
          end ? svg("rect", { x: at - HALF, y: y + on, width: 2 * HALF, height: end, fill: `url(#${prefix}-${path.colour})`, class: "gpulab-memory-end" }) : null);
        cells.push({ cell, row, at: column[one.level], words: one.tip });
        const named = ["LDS", "scalar cache"].includes(one.level) ? ` ${one.level}` : "";
        if (one.bytes || from !== null) {
          label(at, y + tall + 15, one.below + (named && one.level === "LDS" ? " in LDS" : ""), "gpulab-memory-share");
          label(at, y + tall + 29, one.bytes ? (named && one.level !== "LDS" ? `scalar cache, ${one.above}` : `of ${one.above}`) : "nothing comes", "gpulab-memory-soft");
        }
        from = one.passed ? at + HALF : null;
        before = on;
        if (!one.passed) break;
      }
      y += tall + WORDS;
    });
    if (!selected.paths.length) {
      labels.push(svg("text", { x: LEFT, y: y + 16, text: "No memory accesses were recorded here." }));
      y += 30;
    }
    /** @type {SVGElement[]} */
    const heads = [svg("text", { x: x(0), y: 16, "text-anchor": "middle", class: "gpulab-memory-head", text: "lanes" }),
      svg("text", { x: x(0), y: 31, "text-anchor": "middle", class: "gpulab-memory-soft gpulab-memory-number", text: "what the code" }),
      svg("text", { x: x(0), y: 45, "text-anchor": "middle", class: "gpulab-memory-soft gpulab-memory-number", text: "asks for" })];
    launch.columns.forEach((one, k) => {
      heads.push(svg("line", { x1: x(k + 1), x2: x(k + 1), y1: 66, y2: y - 8, class: "gpulab-grid" }),
        svg("text", { x: x(k + 1), y: 16, "text-anchor": "middle", class: "gpulab-memory-head", text: one.name }),
        svg("text", { x: x(k + 1), y: 31, "text-anchor": "middle", class: "gpulab-memory-soft gpulab-memory-number", text: one.latency }),
        svg("text", { x: x(k + 1), y: 45, "text-anchor": "middle", class: "gpulab-memory-soft gpulab-memory-number", text: one.rate }),
        svg("text", { x: x(k + 1), y: 59, "text-anchor": "middle", class: "gpulab-memory-soft gpulab-memory-number", text: one.size }));
    });
    const group = svg("g", {}, cells.map((one) => one.cell));
    const made = svg("svg", { viewBox: `0 0 ${WIDTH} ${y}`, width: WIDTH, height: y, class: "gpulab-memory-picture", role: "group", "aria-label": `Flow of ${launch.name} by kind of access and level; arrow keys move` },
      hatches(prefix), heads, bands, group, labels);
    cells.forEach(({ cell, words }) => tip.attach(cell, () => words));
    // Arrow keys: along a row, and to the nearest cell of the row above or below.
    const move = roving(group, cells.map((one) => one.cell), { columns: 0 });
    group.addEventListener("keydown", (event) => {
      const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!way) return;
      const now = cells[move.at];
      const there = cells.map((one, k) => [Math.abs(one.at - now.at), k]).filter(([, k]) => cells[k].row === now.row + way);
      if (there.length) move.go(there.reduce((a, b) => (b[0] < a[0] ? b : a))[1]);
      event.preventDefault();
      event.stopPropagation();
    }, true);
    return made;
  }

  const scale = button("Thin flows: enlarge", "Make thickness logarithmic, so that small flows can be seen", () => {
    log = !log;
    scale.setAttribute("aria-pressed", String(log));
    legend.textContent = words();
    draw();
    shown.say(legend.textContent);
  }, { "aria-pressed": "false" });
  const words = () => log
    ? "Thickness grows with the logarithm of bytes: compare the numbers, not the thickness."
    : "Thickness is bytes.";
  const legend = el("span", { text: words() });
  shown.controls.append(scale);
  const sample = svg("svg", { width: 34, height: 16, "aria-hidden": "true", class: "gpulab-memory-sample" }, hatches("gpulab-memory-legend"),
    svg("rect", { x: 0, y: 2, width: 34, height: 6, class: "gpulab-fill-0 gpulab-memory-band" }),
    svg("rect", { x: 0, y: 8, width: 12, height: 7, class: "gpulab-fill-0 gpulab-memory-band" }),
    svg("rect", { x: 12, y: 8, width: 22, height: 7, class: "gpulab-fill-0 gpulab-memory-end" }));
  shown.body.append(
    el("p", { class: "gpulab-memory-legend" }, sample, " Read from left to right. A framed block is what a level served: it ends there. The pale band goes on, to a slower level. Between lanes and L1 the accesses of a wave become whole cache lines (coalescing): a band that widens there moves bytes that nobody asked for. ", legend),
    ...parts);
  data.notes.forEach((note, n) => { if (note && data.launches.length > 1) parts[n].setAttribute("title", note); });
  draw();
}

export default { render };
