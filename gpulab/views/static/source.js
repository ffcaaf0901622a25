// Profile by line: views/source.py gives rows of source with amounts; here they get heat, order and instructions.
import { choice, el, frame, number, table } from "./common.js";
import { LINE_KEYS, lineGrid, openAll } from "./lines.js";

const STEPS = 6;

/** A difference with its sign, which is there for zero, too. */
function signed(value) {
  return (value > 0 ? "+" : value < 0 ? "−" : "±") + number(Math.abs(value));
}

function percent(part, whole) {
  if (!whole) return "";
  const share = (100 * part) / whole;
  return `${share > 0 && share < 1 ? "<1" : Math.round(share)} %`;
}

export default {
  render({ model, el: host }) {
    const data = model.get("data");
    const two = data.sides.length === 2;
    let measure = data.by;
    const rows = data.rows.map((row) => ({ ...row, costly: row.amounts.some(Boolean) }));
    const amount = (row, side, part) => {
      if (part) return row.side === side ? row.amounts[measure] ?? 0 : null;
      return row.amounts[side] ? row.amounts[side][measure] ?? 0 : null;
    };
    const change = (row, part) => (amount(row, 1, part) ?? 0) - (amount(row, 0, part) ?? 0);
    const role = (side) => ["before", "after"].includes(data.sides[side]) ? data.sides[side] : `on ${data.sides[side]}`;
    let most = 1, farthest = 1;

    function heat(row, side, part) {
      const value = amount(row, side, part);
      if (value === null) return "";
      const share = value / most;
      const step = value ? Math.min(STEPS - 1, Math.floor(share * STEPS)) : -1;
      const bar = el("span", { class: `source-bar source-heat-${step}`, style: { width: `${Math.round(100 * share)}%` } });
      return el("span", { class: "source-heat" },
        el("span", { class: "source-track", "aria-hidden": "true" }, value ? bar : null),
        el("span", { class: `source-number${value ? "" : " source-zero"}`, text: number(value) }));
    }
    function plain(row, side, part) {
      const value = amount(row, side, part);
      return value === null ? "" : el("span", { class: value ? "" : "source-zero", text: number(value) });
    }
    function difference(row, part) {
      if (amount(row, 0, part) === null && amount(row, 1, part) === null) return "";
      const value = change(row, part);
      const width = 50 * Math.abs(value) / farthest;
      return el("span", { class: "source-heat" },
        el("span", { class: "source-track source-middle", "aria-hidden": "true" },
          value ? el("span", { class: `source-bar ${value > 0 ? "source-more" : "source-less"}`,
            style: { width: `${width}%`, "margin-left": `${value > 0 ? 50 : 50 - width}%` } }) : null),
        el("span", { class: `source-number${value ? "" : " source-zero"}`, text: signed(value) }));
    }
    function share(row, part) {
      const value = amount(row, 0, part);
      return value === null ? "" : percent(value, data.totals[0][measure]);
    }
    function words(row, part) {
      const values = data.sides.map((name, side) => [name, amount(row, side, part)]).filter(([, value]) => value !== null);
      const said = values.map(([name, value]) => `${number(value)} ${measure}${two ? ` ${name}` : ""}`).join(", ");
      const apart = two && values.length ? `, ${signed(change(row, part))}` : "";
      return `${part ? "instruction" : `line ${row.line}`}: ${row.text.trim() || "empty"}${said ? `; ${said}${apart}` : ""}`;
    }

    const ui = frame(host, { title: data.title, sentence: data.sentence, keys: LINE_KEYS });
    const columns = two
      ? [...data.sides.map((title, side) => ({ title, right: true, cell: (row, part) => plain(row, side, part) })),
         { title: "difference", right: true, cell: difference }]
      : [{ title: () => measure, right: true, cell: (row, part) => heat(row, 0, part) }, { title: "of all", right: true, cell: share }];
    const grid = lineGrid({ label: "Source lines with their cost", columns, words });
    const about = el("p", { class: "source-about" });
    let order = "source", shown = "all";

    function draw() {
      const values = rows.flatMap((row) => data.sides.map((_, side) => amount(row, side, false) ?? 0));
      most = Math.max(1, ...values);
      farthest = Math.max(1, ...rows.map((row) => Math.abs(change(row, false))));
      const size = (row) => two ? Math.abs(change(row, false)) : amount(row, 0, false) ?? -1;
      const ordered = order === "source" ? rows : [...rows].sort((a, b) => size(b) - size(a));
      grid.draw(ordered, shown === "costly" || order !== "source");
      const found = data.measures.find((each) => each.title === measure);
      about.textContent = `${found.title}: ${found.meaning}`;
    }

    ui.controls.append(
      choice("Heat", data.measures.map((each) => [each.title, each.title]), measure, (value) => {
        measure = value;
        draw();
        ui.say(data.sides.map((name, side) => `${measure} ${name}: ${number(data.totals[side][measure])}`).join("; "));
      }),
      choice("Order", [["source", "of the source"], ["cost", two ? "largest change first" : "hottest first"]], order, (value) => { order = value; draw(); }),
      choice("Lines", [["all", "all"], ["costly", "with a cost"]], shown, (value) => { shown = value; draw(); }),
      openAll(grid),
    );
    const legend = two
      ? el("p", { class: "source-legend" },
          el("span", { class: "source-key source-less" }), `− less ${role(1)} than ${role(0)}   `,
          el("span", { class: "source-key source-more" }), "+ more")
      : el("p", { class: "source-legend" }, "little ",
          [...Array(STEPS).keys()].map((k) => el("span", { class: `source-key source-heat-${k}` })), " much, of the hottest line");
    ui.body.append(about, legend, grid.root);

    const cost = rows.filter((row) => row.costly);
    const list = cost.map((row) => ({ row, line: row.line, source: row.text.trim(), at: rows.indexOf(row),
      ...Object.fromEntries(data.measures.map((each, k) => [`m${k}`, two
        ? (row.amounts[1]?.[each.title] ?? 0) - (row.amounts[0]?.[each.title] ?? 0) : row.amounts[0]?.[each.title] ?? 0])) }));
    const details = el("details", { class: "source-table" }, el("summary", { text: two ? "Table of all differences" : "Table of all numbers" }),
      el("div", { class: "source-scroll" }, table([
        { title: "line", key: "at", align: "right", cell: (each) => each.line },
        { title: "source", key: "source", cell: (each) => el("code", { text: each.source }) },
        ...data.measures.map((each, k) => ({ title: each.title, key: `m${k}`, align: "right", cell: (one) => two ? signed(one[`m${k}`]) : number(one[`m${k}`]) })),
      ], list, { caption: "Choose a heading to sort, a row to go to its line.", onrow: (each) => grid.go(each.row) })));
    ui.body.append(details);
    if (data.note) ui.body.append(el("p", { class: "source-about", text: data.note }));
    draw();
  },
};
