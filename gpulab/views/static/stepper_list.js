// A list of many lines of which only those in view are in the page: a listbox moved about in by keys.
import { el, uid } from "./common.js";

const ROW = 20;  // pixels, as in stepper.css
const HIGH = 280;  // pixels in view, until the page says

/**
 * @typedef {{nodes: Node[], classes: string, current?: boolean, words?: (() => string) | null}} Line
 *   `words` are shown while the mouse or the cursor of the keys is on the line
 * @typedef {ReturnType<typeof list>} List
 */

/**
 * @param {string} label for screen readers @param {number} count
 * @param {{line: (k: number) => Line, onpick: (k: number) => void, onpoint: (k: number | null) => void}} about
 * @param {import("./common.js").Tooltip} tip
 */
export function list(label, count, { line, onpick, onpoint }, tip) {
  const own = uid("line");
  const inner = el("div", { class: "gpulab-list-inner", style: { height: `${count * ROW}px` } });
  const box = el("div", { class: "gpulab-list gpulab-code", role: "listbox", tabindex: 0, "aria-label": label }, inner);
  let cursor = 0, shown = "", top = 0, high = 0;
  /** @type {Map<number, HTMLElement>} */
  const made = new Map();  // rows in the page, by number

  /** @param {number} k */
  function build(k) {
    const { nodes, words } = line(k);
    const row = el("div", {
      role: "option", id: `${own}-${k}`, style: { top: `${k * ROW}px` },
      onclick: () => { cursor = k; onpick(k); }, onmouseenter: () => onpoint(k), onmouseleave: () => onpoint(null),
    }, nodes);
    if (words) tip.attach(row, words);
    row.removeAttribute("aria-describedby");
    inner.append(row);
    return row;
  }

  /** @param {boolean} force */
  function draw(force) {
    high = high || box.clientHeight;
    const first = Math.max(0, Math.floor(top / ROW) - 2);
    const last = Math.min(count, first + Math.ceil((high || HIGH) / ROW) + 5);
    const key = `${first} ${last} ${cursor}`;
    if (!force && key === shown) return;
    shown = key;
    for (const [k, row] of made) {
      if ((k >= first && k < last) || k === cursor) continue;
      row.remove();
      made.delete(k);
    }
    for (const k of [...Array.from({ length: last - first }, (_, n) => first + n), cursor]) {
      if (k >= count) continue;
      const { classes, current } = line(k);
      const row = made.get(k) ?? build(k);
      made.set(k, row);
      row.className = `gpulab-line ${classes}${k === cursor ? " gpulab-cursor" : ""}`;
      row.setAttribute("aria-selected", current ? "true" : "false");
    }
    box.setAttribute("aria-activedescendant", `${own}-${cursor}`);
  }

  /** @param {number} k */
  function reveal(k) {
    high = high || box.clientHeight;
    if (k * ROW < top || (k + 1) * ROW > top + high) {
      top = Math.max(0, Math.min(count * ROW - high, k * ROW - high / 2 + ROW));
      box.scrollTop = top;
    }
    draw(true);
  }

  /** Move the cursor of the keys. @param {number} by */
  function move(by) {
    cursor = Math.max(0, Math.min(count - 1, cursor + by));
    reveal(cursor);
    onpoint(cursor);
    const row = made.get(cursor), words = line(cursor).words;
    if (row && words) tip.show(row, words);
    else tip.hide();
  }

  box.addEventListener("scroll", () => {
    if (Math.abs(box.scrollTop - top) < 1) return;  // `reveal` has done it
    top = box.scrollTop;
    tip.hide();
    draw(false);
  });
  box.addEventListener("blur", () => tip.hide());
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(high / ROW) - 1);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) move(steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") onpick(cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    box, draw, reveal,
    resized() { high = box.clientHeight; draw(true); },
    /** Move the cursor too, unless the reader has it in hand. @param {number} k */
    follow(k) {
      if (document.activeElement !== box) cursor = k;
      reveal(k);
    },
    /** Mark the lines that belong to what is pointed at. @param {(k: number) => boolean} fits */
    mark(fits) {
      for (const [k, row] of made) {
        row.classList.toggle("gpulab-same", fits(k) && !row.classList.contains("gpulab-current"));
      }
    },
  };
}
