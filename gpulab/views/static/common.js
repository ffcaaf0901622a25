// What all instruments share: elements, charts, tables, keys, questions to Python.
//
// Text that comes from a learner (names, source, printed text) only ever becomes text: `el` and `svg` set textContent
// and attributes; nothing here or in an instrument parses HTML. tests/views/test_instrument.py looks for what would.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false} Part what `append` takes, and what it leaves out
 * @typedef {Part | Nested} Child
 * @typedef {{[k: number]: Child, readonly length: number, flat: any}} Nested an array of them
 * @typedef {Record<string, any>} Attributes names with values; null, undefined and false are left out
 * @typedef {{get(name: string): any, send(content: any): void, on(event: string, hear: Function): void,
 *   off(event: string, hear: Function): void}} Model anywidget's model
 */

/** @template {Element} T @param {T} node @param {Attributes | undefined} attributes @param {Child[]} children @returns {T} */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else if (name === "style") for (const [key, part] of Object.entries(value)) /** @type {any} */ (node).style.setProperty(key, part);
    else if (name === "value" && "value" in node) node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  const flat = /** @type {(Node | string | null | undefined | false)[]} */ (children.flat(Infinity));
  node.append(...flat.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/**
 * An HTML element: el("button", {class: "x", onclick: f, text: "Step", style: {"--n": 3}}, child, "text", ...).
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Attributes} [attributes] @param {Child[]} children @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * An SVG element, in the same way.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag @param {Attributes} [attributes] @param {Child[]} children @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** An id that no other element of the page has: each instrument has this module once more, and the page one counter.
 *  @param {string} stem */
export function uid(stem) {
  const page = /** @type {{gpulabIds?: number}} */ (globalThis);
  page.gpulabIds = (page.gpulabIds ?? 0) + 1;
  return `gpulab-${stem}-${page.gpulabIds}`;
}

/**
 * The frame of an instrument: heading, controls, picture, sentence, keys. Returns {root, controls, body, say, caption}.
 * say(text) tells a screen reader what has just changed; caption(text) replaces the sentence.
 * keys: [["→", "one step forward"], ...] for the list under "Keys".
 * @param {HTMLElement} host @param {{title: string, sentence: string, keys?: string[][]}} about
 * @returns {{root: HTMLElement, controls: HTMLElement, body: HTMLElement, say(text: string): void, caption(text: string): void}}
 */
export function frame(host, { title, sentence, keys = [] }) {
  const heading = uid("title"), words = uid("words");
  const controls = el("div", { class: "gpulab-controls", role: "toolbar", "aria-label": `Controls: ${title}` });
  const body = el("div", { class: "gpulab-body" });
  const said = el("p", { class: "gpulab-words", id: words, text: sentence });
  const live = el("div", { class: "gpulab-live", role: "status", "aria-live": "polite" });
  const help = keys.length
    ? el("details", { class: "gpulab-keys" }, el("summary", { text: "Keys" }),
        el("dl", {}, [...keys, ["Esc", "back to the cell"]].map(([key, does]) => [el("dt", {}, el("kbd", { text: key })), el("dd", { text: does })])))
    : null;
  const root = el("section", { class: "gpulab", "aria-labelledby": heading, "aria-describedby": words },
    el("h3", { class: "gpulab-title", id: heading, text: title }), controls, body, said, help, live);
  // Jupyter's own shortcuts must not answer to keys that are meant for the instrument: JupyterLab hears them on their
  // way out, Notebook 7 on their way in, where only this attribute of Lumino, their toolkit, keeps it from acting.
  root.addEventListener("focusin", (event) => /** @type {Element} */ (event.target).setAttribute("data-lm-suppress-shortcuts", "true"));
  // Escape takes away a tip that is shown, or else leads out, to the cell.
  root.addEventListener("keydown", (event) => {
    if (event.target !== root) event.stopPropagation();
    const tips = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".gpulab-tip"));
    const shown = [...tips].some((tip) => !tip.hidden), cell = /** @type {HTMLElement | null} */ (root.closest(".jp-Cell"));
    if (event.key === "Escape" && !event.defaultPrevented && !shown) cell?.focus();
  });
  host.replaceChildren(root);
  return {
    root, controls, body,
    /** @param {string} text */
    say(text) { live.textContent = text; },
    /** @param {string} text */
    caption(text) { said.textContent = text; },
  };
}

/**
 * A button with words or a sign, and what it does as its tooltip. A screen reader hears the words too, so that somebody
 * who says aloud what stands on the button is understood (WCAG 2.2, 2.5.3 Label in Name).
 * @param {string} text @param {string} label @param {(event: Event) => void} onclick @param {Attributes} [more]
 */
export function button(text, label, onclick, more = {}) {
  const words = (text.match(/[\p{L}\d][\p{L}\d .,-]*/gu) ?? []).join(" ").trim();
  const name = words.length < 2 || label.toLowerCase().includes(words.toLowerCase()) ? label : `${words}: ${label}`;
  return el("button", { type: "button", class: "gpulab-button", title: label, "aria-label": name, onclick, text, ...more });
}

/**
 * A labelled choice.
 * @param {string} label @param {[any, string][]} options value and text of each @param {any} value
 * @param {(value: string) => void} onchange
 */
export function choice(label, options, value, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) },
    options.map(([key, text]) => el("option", { value: String(key), text, selected: String(key) === String(value) })));
  return el("label", { class: "gpulab-field" }, el("span", { text: label }), select);
}

/** A labelled slider with its value in words beside it. say(value) gives the words. Returns {field, input, set}.
 *  @param {string} label @param {{min: number, max: number, step?: number, value: number}} range
 *  @param {(value: number) => string} say @param {(value: number) => void} oninput
 *  @returns {{field: HTMLElement, input: HTMLInputElement, set(now: number): void}} */
export function slider(label, { min, max, step = 1, value }, say, oninput) {
  const output = el("output", { text: say(value) });
  const input = el("input", {
    type: "range", min, max, step, value, "aria-valuetext": say(value),
    oninput: () => { set(Number(input.value)); oninput(Number(input.value)); },
  });
  /** @param {number} now */
  function set(now) {
    input.value = String(now);
    output.textContent = say(now);
    input.setAttribute("aria-valuetext", say(now));
  }
  return { field: el("label", { class: "gpulab-field" }, el("span", { text: label }), input, output), input, set };
}

/** A number as Python's tables show it: thousands apart, three digits of a fraction. @param {any} value @returns {string} */
export function number(value) {
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/**
 * A table that sorts by a click on a heading (or Enter on it). columns: [{title, key, align, cell}], rows: objects.
 * cell(row) may give a node or text; without it the value of `key` is shown. onrow(row) makes rows selectable.
 * @param {{title: string, key?: string, align?: string, cell?: (row: any) => Child}[]} columns @param {any[]} rows
 * @param {{caption?: string, sortable?: boolean, onrow?: (row: any, line: HTMLTableRowElement) => void}} options
 */
export function table(columns, rows, { caption, sortable = true, onrow } = {}) {
  let by = -1, down = true, shown = rows;
  const body = el("tbody");
  const heads = columns.map((column, at) => {
    const sort = () => {
      down = by === at ? !down : true;
      by = at;
      const key = columns[at].key ?? "";
      shown = [...rows].sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) * (down ? -1 : 1));
      heads.forEach((head, k) => head.setAttribute("aria-sort", k === at ? (down ? "descending" : "ascending") : "none"));
      draw();
    };
    const inner = sortable && column.key ? el("button", { type: "button", class: "gpulab-sort", onclick: sort, text: column.title }) : column.title;
    return el("th", { scope: "col", class: column.align === "right" ? "gpulab-right" : "", "aria-sort": sortable && column.key ? "none" : null }, inner);
  });
  function draw() {
    body.replaceChildren(...shown.map((row) => {
      const line = el("tr", {}, columns.map((column) => {
        const value = column.cell ? column.cell(row) : number(row[column.key ?? ""]);
        return el("td", { class: column.align === "right" ? "gpulab-right" : "" }, value);
      }));
      if (onrow) {
        line.tabIndex = 0;
        line.setAttribute("aria-label", [...line.cells].map((cell, k) => `${columns[k].title}: ${cell.textContent}`).join(", "));
        line.classList.add("gpulab-selectable");
        line.addEventListener("click", () => onrow(row, line));
        line.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); onrow(row, line); } });
      }
      return line;
    }));
  }
  draw();
  return el("table", { class: "gpulab-table" }, caption ? el("caption", { text: caption }) : null, el("thead", {}, el("tr", {}, heads)), body);
}

/** Draw part of an instrument anew. Whoever works in it with keys stays in the same place of the new one.
 *  @param {HTMLElement} part @param {() => void} draw */
export function redraw(part, draw) {
  const places = () => /** @type {HTMLElement[]} */ ([...part.querySelectorAll("button, select, input, [tabindex='0']")]);
  const at = places().indexOf(/** @type {HTMLElement} */ (document.activeElement));
  draw();
  if (at >= 0 && !part.contains(document.activeElement)) places()[at]?.focus();
}

/**
 * The arrow keys, Home and End go from one element of a group to the next, of which only one is in the tab order
 * (the "roving tabindex" of the ARIA Authoring Practices). columns: elements in a row, for up and down.
 * @param {Element} group @param {(HTMLElement | SVGElement)[]} elements
 * @param {{columns?: number, onfocus?: (k: number) => void}} options
 * @returns {{go(to: number, focus?: boolean): void, readonly at: number}}
 */
export function roving(group, elements, { columns = 1, onfocus } = {}) {
  let at = 0;
  const go = (/** @type {number} */ to, focus = true) => {
    if (!elements.length) return;
    elements[at]?.setAttribute("tabindex", "-1");
    at = Math.max(0, Math.min(elements.length - 1, to));
    elements[at].setAttribute("tabindex", "0");
    if (focus) elements[at].focus();
  };
  elements.forEach((element, k) => {
    element.setAttribute("tabindex", k ? "-1" : "0");
    element.addEventListener("focus", () => { go(k, false); onfocus?.(k); });
    element.addEventListener("click", () => go(k));
  });
  group.addEventListener("keydown", (pressed) => {
    const event = /** @type {KeyboardEvent} */ (pressed);
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    if (event.key in steps) go(at + steps[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(elements.length - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return { go, get at() { return at; } };
}

/**
 * Ask Python: ask(model, {any: "JSON"}) gives a promise of the reply; reply.buffers are DataViews. Without an answer
 * after `seconds` it fails with a text for the reader: a widget restored from a file has nobody to ask.
 * @param {Model} model @param {any} question @param {number} [seconds] @returns {Promise<any>}
 */
export function ask(model, question, seconds = 20) {
  const id = uid(`ask-${Date.now()}`);
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      model.off("msg:custom", heard);
      reject(new Error("Python does not answer. Is it busy with a cell, or was this cell not run since the notebook was opened?"));
    }, 1000 * seconds);
    const heard = (/** @type {any} */ message, /** @type {DataView[] | undefined} */ buffers) => {
      if (message?.id !== id) return;
      clearTimeout(late);
      model.off("msg:custom", heard);
      if (message.reply?.error) reject(new Error(message.reply.error));
      else resolve(Object.assign(message.reply, { buffers: buffers ?? [] }));
    };
    model.on("msg:custom", heard);
    model.send({ id, question });
  });
}

/** Hatch patterns 0 to 6 as <defs> for an SVG picture; use them as fill: `url(#${prefix}-${k})`. @param {string} prefix */
export function hatches(prefix) {
  const kinds = [
    [], ["M0 8 L8 0"], ["M2 2h.1", "M6 6h.1"], ["M0 0 L8 8", "M0 8 L8 0"], ["M0 0 L8 8"], ["M4 0V8", "M0 4H8"], ["M4 4h.1"],
  ];
  return svg("defs", {}, kinds.map((lines, k) =>
    svg("pattern", { id: `${prefix}-${k}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 8, height: 8, class: `gpulab-fill-${k}` }),
      lines.map((d) => svg("path", { d, class: "gpulab-hatch" })))));
}

/**
 * A tooltip that mouse and keyboard focus bring up, and Escape takes away.
 * @param {HTMLElement} root @returns {Tooltip}
 */
export function tooltip(root) {
  const box = el("div", { class: "gpulab-tip", role: "tooltip", id: uid("tip"), hidden: true });
  root.append(box);
  const hide = () => { box.hidden = true; };
  /** @type {Tooltip["show"]} */
  const show = (element, words) => {
    box.textContent = words();
    box.hidden = !box.textContent;
    const at = element.getBoundingClientRect(), all = root.getBoundingClientRect(), size = box.getBoundingClientRect();
    box.style.left = `${Math.max(0, Math.min(at.left - all.left, all.width - size.width))}px`;
    box.style.top = `${at.bottom - all.top + 4}px`;
  };
  root.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  return {
    show, hide,
    attach(element, words) {
      element.setAttribute("aria-describedby", box.id);
      element.addEventListener("mouseenter", () => show(element, words));
      element.addEventListener("focus", () => show(element, words));
      element.addEventListener("mouseleave", hide);
      element.addEventListener("blur", hide);
    },
  };
}

/**
 * @typedef {{attach(element: Element, words: () => string): void, show(element: Element, words: () => string): void,
 *   hide(): void}} Tooltip `attach` shows it for an element under the mouse or with the focus, `show` at once
 */
