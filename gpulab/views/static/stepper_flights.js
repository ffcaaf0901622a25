// What is in flight at a step: memory accesses that were issued and not yet waited for, by the counter that counts them.
//
// views/in_flight.py follows the counters; here are lookups (`flightsOf`) and the strip (`flightsPart`): a bar for each
// access around the step, from its issue to the wait for it, and below it the same in words, a button for each access.
import { choice, el, number, redraw, roving, svg } from "./common.js";
import { counted } from "./stepper_values.js";

const LEFT = 92, RIGHT = 14, TOP = 20, ROW = 17, BAR = 13, LETTER = 7;  // pixels
const MOST_ROWS = 8;  // of one counter
/** @type {[number, string][]} */
const SPANS = [[40, "40"], [120, "120"], [400, "400"]];

/** @typedef {{counter: string, issued: number, until: number}} Flight `until` is Infinity where no wait is for it
 *  @typedef {{flight: Flight, waited: boolean, issuing: boolean}} Seen an access at a step, and what the step does with it */

/** "3 accesses" @param {number} count */
const accesses = (count) => `${number(count)} ${count === 1 ? "access" : "accesses"}`;

/** The first place whose number is `least` or more, of numbers that do not fall.
 *  @param {number} length @param {(k: number) => number} at @param {number} least */
function firstFrom(length, at, least) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {import("./stepper_wave.js").Wave} wave */
export function flightsOf(wave) {
  /** @type {Map<string, Flight[]>} what came first is waited for first, so `until` does not fall either */
  const of = new Map(wave.counters.map((name) => [name, []]));
  for (const flight of wave.flights) of.get(flight.counter)?.push(flight);

  /** Those of a counter that are in flight at one of these steps. @param {string} counter @param {number} first @param {number} last */
  function between(counter, first, last) {
    const all = of.get(counter) ?? [];
    const begin = firstFrom(all.length, (k) => all[k].until, first);
    return all.slice(begin, Math.max(begin, firstFrom(all.length, (k) => all[k].issued, last + 1)));
  }

  /** @param {number} step @param {string} counter @returns {Seen[]} the oldest first */
  const at = (step, counter) => between(counter, step, step).map((flight) =>
    ({ flight, waited: flight.until === step, issuing: flight.issued === step }));

  /** The steps that wait for something, in order. */
  const waits = [...new Set(wave.flights.map((flight) => flight.until).filter(Number.isFinite))].sort((a, b) => a - b);

  /** "steps 4 and 6, lines 2 and 3" @param {Flight[]} flights */
  function whose(flights) {
    const steps = flights.map((flight) => number(flight.issued + 1));
    const lines = [...new Set(flights.map((flight) => wave.at(flight.issued).line).filter(Boolean))].sort((a, b) => a - b);
    /** @param {string} what @param {(string | number)[]} each */
    const listed = (what, each) => `${what}${each.length > 1 ? "s" : ""} ${each.length > 6
      ? `${each.slice(0, 5).join(", ")}, … and ${each[each.length - 1]}`
      : each.length > 1 ? `${each.slice(0, -1).join(", ")} and ${each[each.length - 1]}` : each[0]}`;
    return `${listed("step", steps)}${lines.length ? `, ${listed("line", lines)}` : ""}`;
  }

  /** What a step does with the counters, in sentences. @param {number} step @returns {string[]} */
  function told(step) {
    const item = wave.at(step), said = [];
    for (const [counter, left] of item.allows) {
      const seen = at(step, counter), waited = seen.filter((each) => each.waited).map((each) => each.flight);
      const stay = seen.length - waited.length;
      const rest = stay ? `${number(stay)} ${stay === 1 ? "stays" : "stay"} in flight` : "nothing stays in flight";
      if (!waited.length) {
        said.push(`${counter}(${left}): nothing to wait for; ${rest}.`);
        continue;
      }
      const apart = step - waited[waited.length - 1].issued - 1;
      said.push(`${counter}(${left}) waits for ${accesses(waited.length)}: ` +
        `${whose(waited)}; ${rest}. ${counted(apart, "instruction", number(apart))} since the newest of them.`);
    }
    for (const counter of item.raises) {
      const mine = at(step, counter).find((each) => each.issuing);
      if (!mine) continue;
      const { until } = mine.flight;
      said.push(Number.isFinite(until)
        ? `${counter} counts it; step ${number(until + 1)}${wave.at(until).line ? `, line ${wave.at(until).line},` : ""} waits for it.`
        : `${counter} counts it; no step of this trace waits for it.`);
    }
    return said;
  }

  return { at, between, waits, told };
}

/** @typedef {ReturnType<typeof flightsOf>} Flights */

/**
 * The strip.
 * @param {import("./stepper_wave.js").Wave} wave @param {Flights} flights @param {{step: number}} view
 * @param {(step: number) => void} go
 */
export function flightsPart(wave, flights, view, go) {
  const { count, counters } = wave;
  let span = SPANS[0][0], first = 0, width = 300;
  const head = el("h4"), picture = el("div", { class: "gpulab-flights-picture" }), lists = el("div", { class: "gpulab-flights" });
  const spans = choice("Steps shown:", SPANS, span, (value) => { span = Number(value); draw(); });
  const nodes = counters.length
    ? [el("div", { class: "gpulab-lanes-head" }, head, spans), picture,
        el("p", { class: "gpulab-legend", text: "A bar: a memory access, from its issue (●) to the wait that waits for it (┃); " +
          "→ goes on. The number in it is its source line. ▼ a wait that has something to wait for   │ this step" }), lists]
    : [];

  const wide = () => Math.min(span, count);
  const last = () => first + wide() - 1;
  /** @param {number} step */
  const x = (step) => LEFT + ((step - first + 0.5) / wide()) * (width - LEFT - RIGHT);

  /** Keep the step within the middle of what is shown. */
  function follow() {
    const edge = Math.floor(span / 5);
    if (view.step < first + edge || view.step > first + span - 1 - edge) first = view.step - Math.floor(span / 2);
    first = Math.max(0, Math.min(first, count - wide()));
  }

  /** Bars that do not overlap share a row. @param {Flight[]} shown @returns {number[]} the row of each */
  function rowsOf(shown) {
    /** @type {number[]} */
    const ends = [];
    return shown.map((flight) => {
      const free = ends.findIndex((end) => end <= flight.issued);
      const row = free < 0 ? ends.length : free;
      ends[row] = flight.until;
      return row;
    });
  }

  /** @param {Flight} flight @param {number} k of its counter @param {number} y */
  function bar(flight, k, y) {
    const begin = flight.issued < first ? LEFT : x(flight.issued);
    const ends = flight.until <= last(), end = ends ? x(flight.until) : width - RIGHT;
    const text = wave.at(flight.issued).line ? String(wave.at(flight.issued).line) : "";
    const fits = text && end - begin > LETTER * text.length + 14;
    const now = flight.issued === view.step ? " gpulab-flight-issuing" : flight.until === view.step ? " gpulab-flight-waited" : "";
    return [
      svg("rect", { x: begin, y, width: Math.max(end - begin, 2), height: BAR, rx: 2, class: `gpulab-flight gpulab-fill-${k}${now}` }),
      flight.issued >= first ? svg("circle", { cx: begin, cy: y + BAR / 2, r: 3.5, class: "gpulab-flight-mark" }) : null,
      ends ? svg("path", { d: `M${end} ${y - 1}v${BAR + 2}`, class: "gpulab-flight-end" })
        : svg("path", { d: `M${end} ${y + 1}l6 ${BAR / 2 - 1}l-6 ${BAR / 2 - 1}z`, class: "gpulab-flight-mark" }),
      fits ? svg("text", { x: begin + 7, y: y + BAR - 2.5, class: k ? "gpulab-flight-light" : "gpulab-flight-dark", text }) : null,
    ];
  }

  function drawPicture() {
    let y = TOP + 6;
    const drawn = counters.map((counter, k) => {
      const shown = flights.between(counter, first, last()), rows = rowsOf(shown), top = y;
      const most = Math.min(MOST_ROWS, Math.max(1, ...rows.map((row) => row + 1)));
      const over = rows.filter((row) => row >= MOST_ROWS).length;
      y += most * ROW + 8;
      return [
        svg("text", { x: 2, y: top + BAR - 2, class: "gpulab-flight-counter", text: counter }),
        over ? svg("text", { x: 2, y: top + ROW + BAR - 2, text: `+ ${number(over)} more` }) : null,
        svg("path", { d: `M${LEFT} ${y - 5}H${width - RIGHT}`, class: "gpulab-grid" }),
        shown.map((flight, n) => (rows[n] < MOST_ROWS ? bar(flight, k, top + rows[n] * ROW) : null)),
      ];
    });
    const high = y + 14, marked = flights.waits.filter((step) => step >= first && step <= last());
    const here = x(view.step);
    const near = [first, last()].filter((step) => Math.abs(x(step) - here) > 70);
    const words = counters.map((counter) => `${flights.at(view.step, counter).length} in ${counter}`).join(", ");
    picture.replaceChildren(svg("svg", {
      viewBox: `0 0 ${width} ${high}`, width, height: high, role: "img",
      "aria-label": `Memory accesses in flight in steps ${first + 1} to ${last() + 1}; at step ${view.step + 1}: ${words}`,
      onclick: (/** @type {MouseEvent} */ event) => {
        const at = /** @type {SVGElement} */ (event.currentTarget).getBoundingClientRect();
        const to = first + Math.floor((((event.clientX - at.left) / at.width) * width - LEFT) / (width - LEFT - RIGHT) * wide());
        go(Math.max(first, Math.min(last(), to)));
      },
    },
    drawn, svg("path", { d: `M${here} ${TOP - 16}V${y}`, class: "gpulab-here-line" }),
    marked.map((step) => svg("path", { d: `M${x(step) - 4.5} ${TOP - 9}h9l-4.5 8z`, class: "gpulab-flight-wait" })),
    near.map((step) => svg("text", { x: x(step), y: high - 2, "text-anchor": step === first ? "start" : "end", text: number(step + 1) })),
    svg("text", { x: here, y: high - 2, "text-anchor": here > width - 60 ? "end" : "middle", text: `step ${number(view.step + 1)}` })));
  }

  /** @param {Seen} seen */
  function chip({ flight, waited, issuing }) {
    const item = wave.at(flight.issued), place = item.line ? `line ${item.line}: ` : "";
    const sign = waited ? "✓ " : issuing ? "+ " : "";
    const more = waited ? ", this step waits for it" : issuing ? ", issued by this step" : "";
    const name = `${place}${item.text}, issued at step ${flight.issued + 1}${more}. Go there`;
    return el("button", {
      type: "button", class: `gpulab-button gpulab-chip${waited ? " gpulab-chip-waited" : ""}`, title: name, "aria-label": name,
      onclick: () => go(flight.issued), text: `${sign}${place}${item.text.slice(0, 50)}`,
    });
  }

  function drawLists() {
    redraw(lists, () => {
      lists.replaceChildren(...counters.map((counter) => {
        const seen = flights.at(view.step, counter), shown = seen.slice(-12);
        const chips = shown.map(chip), older = seen.length - shown.length;
        const row = el("div", { class: "gpulab-flights-row", role: "group", "aria-label": `In flight in ${counter}, the oldest first` },
          el("strong", { text: `${counter} ${seen.length}` }), older ? el("span", { text: `${number(older)} older,` }) : null,
          chips.length ? chips : el("span", { class: "gpulab-muted", text: "nothing" }));
        roving(row, chips, {});
        return row;
      }), el("p", { class: "gpulab-legend", text: "The oldest first. ✓ this step waits for it   + issued by this step   Click: go to where it was issued." }));
    });
  }

  function draw() {
    if (!counters.length) return;
    follow();
    const total = counters.reduce((sum, counter) => sum + flights.at(view.step, counter).length, 0);
    head.textContent = `In flight at this step: ${accesses(total)}`;
    drawPicture();
    drawLists();
  }

  return {
    nodes, draw,
    /** @param {number} available pixels */
    resized(available) {
      width = Math.max(300, Math.min(available || 820, 1400) - 2);
      draw();
    },
  };
}
