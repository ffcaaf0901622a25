// The roofline chart. Rates, intensities, shares and sentences come from Python (views/roofline.py).

import { choice, el, frame, number, roving, svg, tooltip } from "./common.js";

const log = Math.log10;

/** 12,345 GB/s as "12.3 TB/s". */
function rate(gigas, unit) {
  /** @type {[number, string][]} */
  const steps = [[1e6, "P"], [1e3, "T"], [1, "G"], [1e-3, "M"], [1e-6, "k"]];
  const [factor, prefix] = steps.find(([f]) => gigas >= f) ?? [1e-9, ""];
  return `${Number((gigas / factor).toPrecision(3))} ${prefix}${unit}`;
}

/** Bytes, float operations or, of integer matrices, operations a second. */
const unit = (roof) => (roof.kind === "memory" ? "B/s" : / int\d/.test(roof.key) ? "OP/s" : "FLOP/s");
const percent = (share) => `${Number((100 * share).toPrecision(share >= 0.1 ? 3 : 2))} %`;
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Roofs of the same rate under one label. */
function merged(roofs) {
  const found = [];
  for (const roof of roofs) {
    const same = found.find((other) => Math.abs(log(other.rate / roof.rate)) < 0.01);
    if (same) same.names.push(roof.name);
    else found.push({ ...roof, names: [roof.name] });
  }
  return found;
}

export default {
  render({ model, el: host }) {
    const { title, sentence, roofs, level: firstLevel, sets, time, by } = model.get("data");
    const memory = roofs.filter((roof) => roof.kind === "memory"), compute = roofs.filter((roof) => roof.kind === "compute");
    const name = Object.fromEntries(roofs.map((roof) => [roof.key, roof.name]));
    let level = firstLevel, which = "achievable", grouped = by, selected = -1;
    const shown = new Set(roofs.filter((roof) => roof.used).map((roof) => roof.key));
    if (!compute.some((roof) => shown.has(roof.key))) shown.add(compute[0].key);
    const parts = frame(host, {
      title, sentence,
      keys: [["Tab", "to the points, then to the roofs"], ["← →", "from one point or roof to the next, with its numbers"],
        ["Home End", "first, last"], ["Esc", "take the numbers away"], ["Space", "on a box under Roofs: show or hide the roof"]],
    });
    const tip = tooltip(parts.root);
    const boxes = {};
    const levels = memory.filter((roof) => Object.values(sets).some((set) => set.points.some((point) => point.levels[roof.key])));
    parts.controls.append(
      choice("FLOP per byte of", [...levels.map((roof) => [roof.key, roof.name]), ["all", "all memories"]], level, (value) => {
        level = value;
        for (const roof of memory) show(roof.key, value === roof.key || (value === "all" && levels.includes(roof)));
        draw();
      }),
      choice("Rates", [["achievable", "achievable (as the model has them)"], ["peak", "peak (data sheet)"]], which, (value) => {
        which = value;
        if (selected >= 0) choose(selected); else draw();
      }),
      Object.keys(sets).length > 1
        ? choice("A point is", [["kernel", "a kernel, all launches"], ["launch", "a launch"]], grouped, (value) => { grouped = value; selected = -1; draw(); })
        : "");
    const list = (label, some) => el("fieldset", { class: "gpulab-roof-list" }, el("legend", { text: label }), some.map((roof) => {
      const box = el("input", { type: "checkbox", onchange: () => { show(roof.key, box.checked); draw(); } });
      box.checked = shown.has(roof.key);
      boxes[roof.key] = box;
      return el("label", {}, box, ` ${roof.name}`);
    }));
    const picture = el("div", { class: "gpulab-roofline" });
    const legend = el("p", { class: "gpulab-roof-legend" });
    const without = el("ul", { class: "gpulab-roof-facts" });
    parts.body.append(picture, legend, without,
      el("details", { class: "gpulab-roof-choice" }, el("summary", { text: "Roofs" }), list("Memories", memory), list("Arithmetic", compute)));

    function show(key, on) {
      if (on) shown.add(key); else shown.delete(key);
      boxes[key].checked = on;
    }

    function choose(k) {
      selected = k;
      const point = sets[grouped].points[k];
      parts.caption(point.words[which]);
      parts.say(point.words[which]);
      draw(false);
    }

    function draw(refocus = true) {
      const set = sets[grouped];
      const points = set.points.map((point, k) => ({ ...point, k }));
      const drawn = points.filter((point) => point.gflops > 0 && Object.keys(point.levels).some((key) => level === "all" || key === level));
      const lines = memory.filter((roof) => shown.has(roof.key)).map((roof) => ({ ...roof, rate: roof[which] }));
      const tops = compute.filter((roof) => shown.has(roof.key)).map((roof) => ({ ...roof, rate: roof[which] }));
      const top = Math.max(...tops.map((roof) => roof.rate), 0) || Math.max(...drawn.map((point) => 2 * point.gflops), 1000);
      const spots = drawn.flatMap((point) => Object.entries(point.levels)
        .filter(([key]) => (level === "all" ? shown.has(key) : key === level))
        .map(([key, at]) => ({ point, key, x: at.intensity, y: point.gflops })));
      const width = Math.max(Math.min(parts.body.clientWidth || 820, 1000) - 2, 320);
      const height = 430, left = 66, right = 14, upper = 14, lower = 46;
      const xs = [...spots.map((spot) => spot.x), ...lines.map((roof) => top / roof.rate)];
      const x0 = Math.floor(log(Math.min(...xs, 1)) - 0.15), x1 = Math.ceil(log(Math.max(...xs, 10)) + 0.25);
      const ys = [...spots.map((spot) => spot.y), ...lines.map((roof) => roof.rate * 10 ** x0), top];
      const y0 = Math.floor(log(Math.min(...ys)) - 0.1), y1 = log(Math.max(...ys)) + 0.35;
      const px = (value) => left + ((log(value) - x0) / (x1 - x0)) * (width - left - right);
      const py = (value) => height - lower - ((log(value) - y0) / (y1 - y0)) * (height - upper - lower);
      const xmin = 10 ** x0, xmax = 10 ** x1;
      const decades = (from, to) => Array.from({ length: Math.floor(to) - from + 1 }, (_, k) => 10 ** (from + k));
      const tick = (value) => (value < 0.001 ? value.toExponential(0) : value.toLocaleString("en-US", { maximumFractionDigits: 6 }));
      const grid = [
        decades(x0, x1).map((value) => [
          svg("path", { d: `M${px(value)} ${upper}V${height - lower}`, class: "gpulab-grid" }),
          svg("text", { x: px(value), y: height - lower + 16, "text-anchor": value === xmax ? "end" : "middle", class: "gpulab-roof-small", text: tick(value) }),
        ]),
        decades(y0, y1).map((value) => [
          svg("path", { d: `M${left} ${py(value)}H${width - right}`, class: "gpulab-grid" }),
          svg("text", { x: left - 6, y: py(value) + 4, "text-anchor": "end", class: "gpulab-roof-small", text: tick(value) }),
        ]),
        svg("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle", text: level === "all" ? "FLOP per byte of each memory" : `FLOP per byte of ${name[level]}` }),
        svg("text", { x: 13, y: (height - lower + upper) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(height - lower + upper) / 2})`, text: `GFLOP/s (${time})` }),
      ];

      // Roofs: the sloped ones run up to the highest flat one, the flat ones begin at the steepest sloped one.
      const steepest = Math.max(...lines.map((roof) => roof.rate), 0);
      const roofNodes = [], labels = [], hits = [];
      const chosen = (roof) => level === "all" || roof.key === level;
      const words = (roof) => {
        return `${roof.name}${roof.kind === "memory" ? " bandwidth" : ""}\nachievable: ${rate(roof.achievable, unit(roof))} (${roof.how})\npeak: ${rate(roof.peak, unit(roof))}`;
      };
      const line = (roof, d) => {
        roofNodes.push(svg("path", { d, class: `gpulab-roof-line${roof.kind === "memory" && !chosen(roof) ? " gpulab-roof-other" : ""}` }));
        const hit = svg("path", { d, class: "gpulab-roof-hit", role: "img", "aria-label": words(roof) });
        tip.attach(hit, () => words(roof));
        hits.push(hit);
      };
      for (const roof of lines) line(roof, `M${px(xmin)} ${py(xmin * roof.rate)}L${px(top / roof.rate)} ${py(top)}`);
      for (const roof of tops) line(roof, `M${px(steepest ? Math.max(roof.rate / steepest, xmin) : xmin)} ${py(roof.rate)}H${width - right}`);
      const slope = ((width - left - right) / (x1 - x0)), rise = ((height - upper - lower) / (y1 - y0));
      const angle = (-Math.atan2(rise, slope) * 180) / Math.PI;
      const apart = (a, b) => Math.abs(log(a.rate / b.rate)) * rise * Math.cos((angle * Math.PI) / 180);
      const taken = spots.map((spot) => [px(spot.x) - 8, py(spot.y) - 8, px(spot.x) + 8, py(spot.y) + 8]);
      const free = (box) => taken.every((b) => box[2] < b[0] || box[0] > b[2] || box[3] < b[1] || box[1] > b[3]) && box[2] < width && box[0] > left;
      const flat = merged([...tops].sort((a, b) => b.rate - a.rate));
      flat.forEach((roof, k) => {
        const under = k > 0 && Math.abs(log(flat[k - 1].rate / roof.rate)) * rise < 17;
        const text = `${roof.names.join(", ")} ${rate(roof.rate, unit(roof))}`, long = 6.8 * text.length, y = py(roof.rate) + (under ? 14 : -5);
        const x = [width - right - 2, left + 0.75 * (width - left), left + 0.55 * (width - left)].find((end) => free([end - long, y - 11, end, y + 3]));
        if (x === undefined) return;
        taken.push([x - long, y - 11, x, y + 3]);
        labels.push(svg("text", { x, y, "text-anchor": "end", class: "gpulab-roof-small gpulab-roof-halo", text }));
      });

      const sloped = merged([...lines].sort((a, b) => b.rate - a.rate));
      sloped.forEach((roof, k) => {
        const under = k > 0 && apart(sloped[k - 1], roof) < 17;
        const sides = under ? [14, -5] : [-5, 14], turn = (angle * Math.PI) / 180, whole = roof.names.join(", ");
        // The first place along the line where nothing else is; without the rate if there is none for all.
        const place = [`${whole} ${rate(roof.rate, "B/s")}`, whole].flatMap((text) => sides.flatMap((dy) => Array.from({ length: 40 }, (_, n) => {
          const x = left + 8 + 16 * n, y = py(xmin * roof.rate) - ((8 + 16 * n) * rise) / slope;
          const corners = [[0, dy - 11], [0, dy + 3], [6.6 * text.length, dy - 11], [6.6 * text.length, dy + 3]]
            .map(([u, v]) => [x + u * Math.cos(turn) - v * Math.sin(turn), y + u * Math.sin(turn) + v * Math.cos(turn)]);
          const [us, vs] = [corners.map(([u]) => u), corners.map(([, v]) => v)];
          return { text, dy, x, y, box: [Math.min(...us), Math.min(...vs), Math.max(...us), Math.max(...vs)] };
        }))).find(({ box }) => box[1] > py(top) - 14 && free(box));
        if (!place) return;
        taken.push(place.box);
        labels.push(svg("text", { x: place.x, y: place.y, dy: place.dy, transform: `rotate(${angle} ${place.x} ${place.y})`, class: "gpulab-roof-small gpulab-roof-halo", text: place.text }));
      });
      // Points. Names stand beside them where there is room.
      const names = [], nodes = [], joins = [];
      const seen = new Set();
      for (const spot of spots) {
        const { point } = spot, x = px(spot.x), y = py(spot.y);
        const shape = point.run === "after" ? `M${x} ${y - 9}L${x + 9} ${y}L${x} ${y + 9}L${x - 9} ${y}Z` : `M${x - 7} ${y}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0Z`;
        const at = point.levels[spot.key];
        const node = svg("path", { d: shape, class: `gpulab-roof-point gpulab-fill-${point.colour}`, role: "img", "data-point": point.k,
          "aria-label": `${point.kernel}${point.run ? ` (${point.run})` : ""}: ${number(at.intensity)} FLOP per byte of ${name[spot.key]}, ${rate(point.gflops, "FLOP/s")}` });
        tip.attach(node, () => `${point.kernel}${point.run ? ` (${point.run})` : ""}\n${number(at.intensity)} FLOP per byte of ${name[spot.key]}, ${rate(at.bytes / 1e9, "B")} at ${rate(at.gbps, "B/s")}\n`
          + `${rate(point.gflops, "FLOP/s")} in ${number(point.us)} µs\n${percent(point.shares[which][spot.key])} of ${name[spot.key]}, ${percent(point.shares[which].compute ?? 0)} of ${point.arithmetic}`);
        nodes.push(node);
      }
      for (const spot of [...spots].reverse()) {  // the farthest memory of a kernel first
        const { point } = spot, x = px(spot.x), y = py(spot.y);
        const whose = short(level === "all" && !point.name ? `${point.kernel} (${point.run})` : point.name, 34);
        const label = level !== "all" ? whose : seen.has(point.k) ? name[spot.key] : `${whose}, ${name[spot.key]}`;
        if (!label) continue;
        const long = 6.6 * label.length;
        /** @type {[number, number, string][]} */
        const places = [[x + 12, y + 4, "start"], [x - 12, y + 4, "end"], [x, y + 22, "middle"], [x, y - 14, "middle"], [x + 12, y + 18, "start"], [x - 12, y + 18, "end"],
          [x + 10, y - 12, "start"], [x - 10, y - 12, "end"], [x, y + 36, "middle"], [x, y - 28, "middle"]];
        const place = places.map(([tx, ty, anchor]) => ({ tx, ty, anchor, box: [tx - (anchor === "end" ? long : anchor === "middle" ? long / 2 : 0), ty - 11, tx + (anchor === "start" ? long : anchor === "middle" ? long / 2 : 0), ty + 3] }))
          .find(({ box }) => free(box));
        if (place) {
          taken.push(place.box);
          seen.add(point.k);
          names.push(svg("text", { x: place.tx, y: place.ty, "text-anchor": place.anchor, class: "gpulab-roof-small gpulab-roof-halo", text: label }));
        }
      }
      // From a point up to what its roofs allow at this intensity.
      const up = [];
      for (const spot of spots) {
        const { point } = spot;
        const allows = point.allows[which];
        if (level === "all" || !(drawn.length <= 4 || point.k === selected) || !allows[level]) continue;
        const by = allows.compute && allows.compute < allows[level] ? "compute" : level;
        const share = point.shares[which][by], y = py(allows[by]), x = px(spot.x);
        const text = `${percent(share)} of ${by === "compute" ? point.arithmetic : name[by]}`, long = 6.6 * text.length;
        up.push(svg("path", { d: `M${x} ${py(spot.y)}V${y}`, class: "gpulab-roof-gap" }));
        const place = py(spot.y) - y < 24 ? undefined : [0.5, 0.3, 0.7, 0.15, 0.85].flatMap((part) => {
          const ty = py(spot.y) + part * (y - py(spot.y)) + 4;
          /** @type {[number, string, number][]} */
          const beside = [[x - 6, "end", x - 6 - long], [x + 6, "start", x + 6]];
          return beside.map(([tx, anchor, from]) => ({ tx, ty, anchor, box: [from, ty - 11, from + long, ty + 3] }));
        }).find(({ box }) => free(box));
        if (place) {
          taken.push(place.box);
          up.push(svg("text", { x: place.tx, y: place.ty, "text-anchor": place.anchor, class: "gpulab-roof-small gpulab-roof-halo", text }));
        }
      }

      if (level === "all") {
        for (const point of drawn) {
          const own = spots.filter((spot) => spot.point === point).map((spot) => px(spot.x));
          if (own.length > 1) joins.push(svg("path", { d: `M${Math.min(...own)} ${py(point.gflops)}H${Math.max(...own)}`, class: "gpulab-roof-gap" }));
        }
      }
      const spotOf = (k) => spots.find((spot) => spot.point.k === k);
      const arrows = level === "all" ? [] : set.arrows.map(([from, to]) => [spotOf(from), spotOf(to)]).filter(([a, b]) => a && b).map(([a, b]) => {
        const ax = px(a.x), ay = py(a.y), bx = px(b.x), by = py(b.y), length = Math.hypot(bx - ax, by - ay) || 1;
        const ux = (bx - ax) / length, uy = (by - ay) / length, ex = bx - 11 * ux, ey = by - 11 * uy;
        return length < 26 ? "" : [
          svg("path", { d: `M${ax + 9 * ux} ${ay + 9 * uy}L${ex - 6 * ux} ${ey - 6 * uy}`, class: "gpulab-roof-arrow" }),
          svg("path", { d: `M${ex} ${ey}L${ex - 9 * ux + 5 * uy} ${ey - 9 * uy - 5 * ux}L${ex - 9 * ux - 5 * uy} ${ey - 9 * uy + 5 * ux}Z`, class: "gpulab-roof-arrow-head" }),
        ];
      });

      const before = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.point;
      const pointGroup = svg("g", { role: "group", "aria-label": "Kernels" }, nodes);
      const roofGroup = svg("g", { role: "group", "aria-label": "Roofs" }, hits);
      picture.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title },
        grid, roofNodes, roofGroup, up, joins, arrows.flat(), labels, names, pointGroup));
      if (hits.length) roving(roofGroup, hits);
      if (nodes.length) {
        roving(pointGroup, nodes, { onfocus: (k) => { if (spots[k].point.k !== selected) choose(spots[k].point.k); } });
        nodes.forEach((node, k) => node.addEventListener("click", () => choose(spots[k].point.k)));
      }
      if (!refocus && before !== undefined) nodes.find((node) => node.dataset.point === before)?.focus();
      const two = points.some((point) => point.run);
      legend.textContent = `${two ? "● before, ◆ after, → the change. " : ""}Right: more arithmetic for each byte. Up: faster. No kernel gets above a roof: a sloped one is a memory, a flat one arithmetic${lines.some((roof) => !chosen(roof)) ? `; dashed: a memory whose bytes are not those of this axis` : ""}.`;
      const rest = points.filter((point) => !(point.gflops > 0)).map((point) => el("li", { text: point.words[which] }));
      for (const point of points) {
        if (point.gflops > 0 && !drawn.includes(point)) rest.push(el("li", { text: `${point.kernel}: not on this axis, it moves no bytes of ${name[level]}.` }));
      }
      if (set.left_out) rest.push(el("li", { text: `${number(set.left_out)} more with less time are not shown.` }));
      without.replaceChildren(...rest);
    }

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
