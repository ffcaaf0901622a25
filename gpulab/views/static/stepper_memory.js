// Memory at a step: the addresses that it touches, with their values, and the workgroup's LDS.
import { button, el, number } from "./common.js";
import { put } from "./stepper_lanes.js";
import { word } from "./stepper_values.js";

const PAGE = 64, ACROSS = 8;  // words of LDS shown at a time, and in a row
const SPACES = { global: "Global memory", lds: "LDS", scratch: "Scratch" };
const VERBS = { read: "read", write: "written", atomic: "changed by an atomic" };

/**
 * @param {import("./stepper_wave.js").Wave} wave @param {import("./stepper_reading.js").Reading} reading
 * @param {{step: number, lane: number, form: import("./stepper_values.js").Form}} view @param {() => void} redraw
 */
export function memoryPart(wave, reading, view, redraw) {
  const { ldsBytes } = wave, total = Math.ceil(ldsBytes / 4);
  /** @typedef {import("./stepper_states.js").State} State @typedef {import("./stepper_states.js").Access} Access */
  let page = 0, shown = "";
  /** @type {HTMLElement[]} */
  let cells = [];
  const touched = el("div", {
    class: "gpulab-touched", tabindex: 0, role: "region", "aria-label": "Memory that this step touches",
  });
  const head = el("h4"), grid = el("div", { class: "gpulab-lds" });
  const turn = (/** @type {number} */ to) => { page = Math.max(0, Math.min(Math.ceil(total / PAGE) - 1, to)); redraw(); };
  const controls = el("div", { class: "gpulab-controls" },
    button("◀", "Lower LDS addresses", () => turn(page - 1)), button("▶", "Higher LDS addresses", () => turn(page + 1)));

  /** One access as a table with a row for each lane. @param {State} state @param {Access} access */
  function accessTable(state, access) {
    const { space, action, bytes, lanes, addresses } = access;
    const register = reading.dataRegister(wave.at(view.step), action === "read");
    const columns = ["lane", "where", "address", action === "read" ? "value" : "value after"];
    return el("table", { class: "gpulab-table" },
      el("caption", { text: `${SPACES[space]}, ${VERBS[action]}, ${bytes} bytes ${lanes.length ? "by each active lane" : "for the whole wave"}` }),
      el("thead", {}, el("tr", {}, columns.map((text) => el("th", { scope: "col", text })))),
      el("tbody", {}, addresses.map((address, k) => {
        const chosen = lanes[k] === view.lane;
        return el("tr", { class: chosen ? "gpulab-used" : "" },
          el("td", { text: lanes.length ? `${chosen ? "◆" : ""}${lanes[k]}` : "all" }),
          el("td", { text: reading.place(space, address, bytes) }),
          el("td", { class: "gpulab-code", text: `0x${address}` }),
          el("td", { class: "gpulab-code", text: reading.dataOf(state, access, k, register) }));
      })));
  }

  /** @param {State | null} state */
  function drawTouched(state) {
    if (!state || !state.accesses.length) {
      const none = wave.at(view.step).kind === "memory"
        ? "None: no lane reads or writes anything here."
        : "None: this instruction works on registers alone.";
      touched.replaceChildren(el("p", { class: "gpulab-muted", text: none }));
      return;
    }
    touched.replaceChildren(...state.accesses.map((access) => accessTable(state, access)));
    const own = /** @type {HTMLElement | null} */ (touched.querySelector("tr.gpulab-used"));
    touched.scrollTop = own ? Math.max(0, own.offsetTop - 60) : 0;
  }

  /** The words of LDS that this step touches, with what is done and the lane. @param {State | null} state */
  function hitsOf(state) {
    /** @type {Map<number, {action: string, lane: number}>} */
    const hits = new Map();
    for (const { space, action, bytes, lanes, addresses } of state?.accesses ?? []) {
      if (space !== "lds") continue;
      addresses.forEach((address, k) => {
        for (let b = 0; b < bytes; b += 4) hits.set((parseInt(address, 16) + b) >> 2, { action, lane: lanes[k] });
      });
    }
    return hits;
  }

  /** Have the cells of a page. @param {number} first @param {number} last */
  function lay(first, last) {
    if (shown === `${first} ${last}`) return;
    shown = `${first} ${last}`;
    cells = Array.from({ length: last - first }, () => el("span", { class: "gpulab-word" }));
    const address = (/** @type {number} */ n) =>
      n % ACROSS ? null : el("span", { class: "gpulab-lds-address", text: String(4 * (first + n)) });
    const nodes = cells.flatMap((cell, n) => [address(n), cell]).filter((node) => node !== null);
    const legend = "Number at the left: byte address. ● written since the step before   ○ read by this step";
    grid.replaceChildren(...nodes, el("p", { class: "gpulab-legend", text: legend }));
  }

  /** @param {State | null} state @param {boolean} moved */
  function drawLds(state, moved) {
    const hits = hitsOf(state);
    const own = [...hits].find(([, hit]) => hit.lane === view.lane) ?? [...hits][0];
    if (own && moved) page = Math.floor(own[0] / PAGE);
    const first = page * PAGE, last = Math.min(total, first + PAGE);
    head.textContent = `LDS of the workgroup: bytes ${number(4 * first)} to ${number(Math.min(ldsBytes, 4 * last) - 1)}` +
      ` of ${number(ldsBytes)}, after this step`;
    controls.hidden = total <= PAGE;
    if (!state) {
      grid.replaceChildren();
      shown = "";
      return;
    }
    lay(first, last);
    const bytes = new DataView(state.lds.buffer), form = view.form !== "auto" ? view.form : reading.ldsType;
    cells.forEach((cell, n) => {
      const w = first + n, bits = bytes.getUint32(4 * w, true);
      const hit = hits.get(w), written = state.written.has(w);
      const who = hit ? `: lane ${hit.lane}, ${hit.action}` : written ? ": written by another wave" : "";
      put(cell, "className", `gpulab-word${hit ? " gpulab-hit" : ""}${written ? " gpulab-changed" : ""}`);
      put(cell, "title", `byte ${4 * w}${who}`);
      put(cell, "textContent", `${word(bits, form)}${written ? "●" : hit ? "○" : ""}`);
    });
  }

  return {
    nodes: el("div", {}, el("h4", { text: "Memory that this step touches" }), touched,
      ldsBytes ? [head, controls, grid] : null),
    /** @param {State | null} state @param {boolean} moved whether the step changed */
    draw(state, moved) {
      drawTouched(state);
      if (ldsBytes) drawLds(state, moved);
    },
  };
}
