// Divergence: views/divergence.py gives lanes' activity by line, instruction and time; here they become strips and pictures.
import { choice, el, frame, number, slider, svg, table } from "./common.js";
import { LINE_KEYS, lineGrid, openAll } from "./lines.js";

const HIGH = 16;       // of a strip
const WIDE = 700;      // of the picture over time
const LEVELS = [0.33, 0.66, 0.999, 2];

/** "00ff80" as shares between 0 and 1. */
function sharesOf(text) {
  return Array.from({ length: text.length / 2 }, (_, k) => parseInt(text.slice(2 * k, 2 * k + 2), 16) / 255);
}

function percentOf(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  return `${share > 0 && share < 1 ? "<1" : Math.round(share)} %`;
}

/** Numbers of lanes as ranges: [0, 1, 2, 5] as "0–2, 5". */
function ranges(lanes) {
  const found = [];
  for (const lane of lanes) {
    const last = found[found.length - 1];
    if (last && last[1] === lane - 1) last[1] = lane;
    else found.push([lane, lane]);
  }
  const shown = found.slice(0, 6).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return shown.join(", ") + (found.length > 6 ? " and others" : "");
}

/** A bar for each lane, as high as its share. */
function strip(text, size, lane) {
  const shares = sharesOf(text);
  const bars = shares.map((share, k) => share ? `M${k * lane} ${HIGH}v${-Math.max(share * HIGH, 1)}h${lane - (lane > 3 ? 1 : lane > 2 ? 0.5 : 0.4)}V${HIGH}z` : "").join("");
  return svg("svg", { class: "divergence-strip", width: size * lane, height: HIGH, viewBox: `0 0 ${size * lane} ${HIGH}`, "aria-hidden": "true" },
    svg("rect", { width: size * lane, height: HIGH, class: "divergence-idle" }),
    svg("path", { d: bars, class: "divergence-active" }),
    size === 64 ? svg("path", { d: `M${32 * lane} 0v${HIGH}`, class: "divergence-half" }) : null);
}

export default {
  render({ model, el: host }) {
    const data = model.get("data");
    const two = data.sides.length === 2;
    const lane = two ? 2 : data.sides[0].waveSize === 64 ? 4 : 6;
    const rows = data.rows.map((row) => ({ ...row, costly: row.sides.some((side) => side && (side.executed || side.branch)) }));
    const timed = data.sides.some((side) => side.time.length);
    const ui = frame(host, {
      title: data.title, sentence: data.sentence,
      keys: timed ? [["← → on Time", "one column back, forward"], ...LINE_KEYS] : LINE_KEYS,
    });

    const of = (row, part, side) => (part ? (row.side === side ? row.found : null) : row.sides[side]);
    function words(row, part) {
      const said = data.sides.flatMap(({ name, waveSize, slots }, side) => {
        const found = of(row, part, side);
        if (!found) return [];
        const head = two ? `${name}: ` : "";
        if (!found.executed) return found.scalar ? [`${head}${number(found.scalar)} scalar instructions, which have no lanes`] : [];
        if (!found.vector) return [`${head}executed ${number(found.executed)} times for the whole wave`];
        const never = sharesOf(found.lanes).flatMap((share, k) => (share ? [] : [k]));
        const parts = [
          `${head}${part ? "executed" : "vector instructions executed"} ${number(found.executed)} ${found.executed === 1 ? "time" : "times"}, ${number(found.executed - found.whole)} of them with idle lanes`,
          `${number(Math.round((10 * found.active) / found.executed) / 10)} of ${waveSize} lanes active on average`,
          `${number(found.wasted)} lane-slots wasted (${percentOf(found.wasted, slots)} of the kernel's)`,
        ];
        if (never.length) parts.push(`never active: ${never.length === waveSize ? "all lanes" : `lanes ${ranges(never)}`}`);
        return [parts.join("; ")];
      });
      const text = row.text.trim() ? `“${row.text.trim()}”` : "empty";
      return `${part ? "Instruction" : `Line ${row.line},`} ${text}${said.length ? `: ${said.join(". ")}` : ""}.`;
    }

    const detail = el("p", { class: "divergence-detail", text: "Choose a line: what its lanes did stands here." });
    const columns = data.sides.flatMap(({ name, waveSize }, side) => [
      {
        title: two ? `${name}: lanes 0–${waveSize - 1}` : `lanes 0–${waveSize - 1}`,
        cell(row, part) {
          const found = of(row, part, side);
          if (!found) return "";
          if (found.vector && found.executed) return strip(found.lanes, waveSize, lane);
          return found.vector ? "" : el("span", { class: "divergence-scalar", text: "scalar" });
        },
      },
      { title: "active", right: true, cell: (row, part) => { const f = of(row, part, side); return f?.vector && f.executed ? percentOf(f.active, f.executed * waveSize) : ""; } },
      { title: "wasted", right: true, cell: (row, part) => { const f = of(row, part, side); return f?.vector && f.executed ? number(f.wasted) : ""; } },
    ]);
    const grid = lineGrid({
      label: "Source lines with the lanes that were active", columns, words,
      onrow: (row, part) => { detail.textContent = words(row, part); },
    });

    // what branches cost
    const branches = rows.filter((row) => row.sides.some((side) => side?.branch)).map((row) => ({
      row, at: rows.indexOf(row), line: row.line, source: row.text.trim(),
      ...Object.fromEntries(data.sides.flatMap((_, side) => [
        [`lines${side}`, row.sides[side]?.branch?.lines ?? "–"], [`partial${side}`, row.sides[side]?.branch?.partial ?? 0], [`wasted${side}`, row.sides[side]?.branch?.wasted ?? 0]])),
    })).sort((a, b) => Math.max(b.wasted0, b.wasted1 ?? 0) - Math.max(a.wasted0, a.wasted1 ?? 0));
    if (branches.length) {
      ui.body.append(el("div", { class: "divergence-branches" }, table([
        { title: "line", key: "at", align: "right", cell: (each) => each.line },
        { title: "branch", key: "source", cell: (each) => el("code", { class: "divergence-code", text: each.source }) },
        ...data.sides.flatMap((each, side) => [
          { title: two ? `${each.name}: ran with idle lanes` : "ran with idle lanes", key: `partial${side}`, align: "right" },
          { title: "in lines", cell: (one) => one[`lines${side}`] },
          { title: "slots wasted", key: `wasted${side}`, align: "right" },
          { title: "of all slots", key: `wasted${side}`, align: "right", cell: (one) => percentOf(one[`wasted${side}`], each.slots) },
        ]),
      ], branches, { caption: "What each branch costs: vector instructions that ran in it while lanes were idle, and the lane-slots of those lanes. Choose a row to go to its line.", onrow: (each) => { grid.go(each.row); } })));
    } else {
      ui.body.append(el("p", { class: "divergence-note", text: "No branch sent lanes of a wave different ways." }));
    }

    // one wave over time
    const longest = Math.max(...data.sides.map((side) => side.steps), 1);
    data.sides.forEach((side) => { if (side.time.length) ui.body.append(life(side)); });

    function life(side) {
      const cell = side.waveSize === 64 ? 2.5 : 5;
      const high = side.waveSize * cell, x = (step) => (step / longest) * WIDE, left = 52, top = 6, below = 36;
      const paths = LEVELS.map(() => "");
      for (const [begin, count, lanes] of side.time) {
        sharesOf(lanes).forEach((share, k) => {
          if (!share) return;
          const level = LEVELS.findIndex((limit) => share < limit);
          paths[level] += `M${(left + x(begin)).toFixed(1)} ${(top + k * cell).toFixed(1)}h${x(count).toFixed(2)}v${cell}h${(-x(count)).toFixed(2)}z`;
        });
      }
      const used = side.time.map((column) => column[3]).filter((row) => row >= 0);
      const first = Math.min(...used), last = Math.max(...used);
      const track = top + high + 14, tall = used.length ? Math.max(40, Math.min(90, 10 * (last - first + 1))) : 0;
      const y = (row) => track + (last === first ? tall / 2 : ((row - first) / (last - first)) * (tall - 6) + 3);
      const route = side.time.map(([begin, count, , row]) => row < 0 ? "" :
        `M${(left + x(begin)).toFixed(1)} ${y(row).toFixed(1)}h${Math.max(x(count), 0.8).toFixed(2)}`).join("");
      const cursor = svg("rect", { class: "divergence-cursor", x: left, y: top, width: 2, height: high + 14 + tall });
      const bottom = track + tall;
      const picture = svg("svg", {
        role: "img", class: "divergence-time", viewBox: `0 0 ${left + WIDE + 12} ${bottom + below}`, width: left + WIDE + 12, height: bottom + below,
        "aria-label": `Lanes of one wave over ${number(side.steps)} steps${two ? `, ${side.name}` : ""}. The slider below goes through them.`,
        onclick: (event) => {
          const box = picture.getBoundingClientRect();
          const step = ((event.clientX - box.left) / box.width * (left + WIDE + 12) - left) / WIDE * longest;
          const to = side.time.findIndex(([begin, count]) => step >= begin && step < begin + count);
          if (to >= 0) { control.set(to); show(to); control.input.focus(); }
        },
      },
      svg("rect", { x: left, y: top, width: x(side.steps), height: high, class: "divergence-idle" }),
      paths.map((d, level) => svg("path", { d, class: "divergence-active", "fill-opacity": [0.3, 0.55, 0.8, 1][level] })),
      svg("text", { x: left - 6, y: top + 10, "text-anchor": "end", text: "lane 0" }),
      svg("text", { x: left - 6, y: top + high, "text-anchor": "end", text: String(side.waveSize - 1) }),
      tall ? [svg("rect", { x: left, y: track, width: x(side.steps), height: tall, class: "divergence-track" }),
        svg("path", { d: route, class: "divergence-route" }),
        first === last ? null : svg("text", { x: left - 6, y: track + 10, "text-anchor": "end", text: `line ${data.rows[first].line}`.slice(0, 10) }),
        svg("text", { x: left - 6, y: bottom, "text-anchor": "end", text: `${first === last ? "line " : ""}${data.rows[last].line}`.slice(0, 10) })] : null,
      svg("text", { x: left, y: bottom + 16, text: "0" }),
      svg("text", { x: left + x(side.steps), y: bottom + 16, "text-anchor": "end", text: number(side.steps) }),
      svg("text", { x: left + Math.max(x(side.steps) / 2, 100), y: bottom + 28, "text-anchor": "middle", text: "step: instructions executed one after another" }),
      cursor);
      const said = el("p", { class: "divergence-detail" });
      const control = slider("Time", { min: 0, max: side.time.length - 1, value: 0 }, (k) => {
        const [begin, count] = side.time[k];
        return count === 1 ? `step ${begin}` : `steps ${begin}–${begin + count - 1}`;
      }, show);
      function show(k) {
        const [begin, count, lanes, at] = side.time[k];
        cursor.setAttribute("x", String(left + x(begin)));
        cursor.setAttribute("width", String(Math.max(x(count), 2)));
        const shares = sharesOf(lanes), active = shares.flatMap((share, n) => (share ? [n] : []));
        const row = at >= 0 ? rows[at] : null;
        const who = active.length === side.waveSize && shares.every((share) => share === 1) ? `all ${side.waveSize} lanes active`
          : active.length ? `${active.length} of ${side.waveSize} lanes active: ${ranges(active)}` : "no lane active";
        said.textContent = `${row ? `Line ${row.line}, “${row.text.trim()}”: ` : ""}${who}.`;
        if (row) { grid.mark(row); grid.reveal(row); }
      }
      const block = el("div", { class: "divergence-life" }, two ? el("h4", { class: "divergence-name", text: `${side.name}: one wave of ${side.waveSize} lanes` }) : null,
        el("p", { class: "divergence-legend" }, el("span", { class: "divergence-swatch divergence-on" }), "lane active ",
          el("span", { class: "divergence-swatch" }), "lane idle ", el("span", { class: "divergence-swatch divergence-at" }), "line executed",
          side.time.length < side.steps ? "; a column stands for several steps: the paler, the fewer with the lane active" : ""),
        el("div", { class: "divergence-scroll" }, picture), control.field, said);
      queueMicrotask(() => show(0));
      return block;
    }

    // lines
    const key = strip("00004080bfffffff", 8, 8);
    const legend = el("p", { class: "divergence-legend" }, key,
      el("span", { text: "one bar for each lane: full height = active in all executions, empty = in none" }));
    let shown = "all";
    ui.controls.append(
      choice("Lines", [["all", "all"], ["costly", "with vector instructions"]], shown, (value) => { shown = value; draw(); }),
      openAll(grid),
    );
    function draw() { grid.draw(rows, shown === "costly"); }
    ui.body.append(legend, grid.root, detail);
    const notes = ["Lane-slots: executions of vector instructions × lanes of a wave; wasted are those of idle lanes. Each is put down to the innermost branch around it."];
    data.sides.forEach((side) => { if (side.outside) notes.push(`${two ? `${side.name}: ` : ""}${number(side.outside)} wasted slots are in no branch: lanes without a thread.`); });
    if (data.note) notes.push(data.note);
    ui.body.append(el("p", { class: "divergence-note", text: notes.join(" ") }));
    draw();
  },
};
