// The side panel: lessons with their exercises, how far the learner got, and hints.
//
// Lessons and exercises are in words.json. Progress and hints come from the kernel of the notebook that is shown, by a
// comm (gpulab/magic.py, `answer`); without one the panel has the lists alone and says how to get the rest.

const TARGET = "gpulab.editor";
const SIGNS = { solved: "✓", begun: "…", open: "○" };
const NO_KERNEL = "Progress and hints come from a notebook's kernel: open a notebook, run its cell with import gpulab, then press Refresh.";

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, string>} attributes @param {...(Node | string)} children @returns {HTMLElementTagNameMap[K]}
 */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Text whose parts between backticks are code. @param {string} text @returns {(Node | string)[]} */
function coded(text) {
  return text.split("`").map((part, at) => at % 2 ? el("code", {}, part) : part);
}

/** @param {string} text @param {string} label @param {() => void} does */
function button(text, label, does) {
  const made = el("button", { type: "button", class: "gpulab-panel-button", "aria-label": label, title: label }, text);
  made.addEventListener("click", does);
  return made;
}

/**
 * @param {{table: import("./words.js").Words, ready: Promise<void>}} known
 * @param {() => any} kernel the kernel's connection, or nothing @param {(path: string) => void} open opens a notebook
 */
export function panel(known, kernel, open) {
  const status = el("p", { class: "gpulab-panel-status", role: "status", "aria-live": "polite" });
  const live = el("div", { class: "gpulab-live", role: "log" }); // what only a screen reader is told
  const list = el("div", {});
  const node = el("section", { class: "gpulab-panel", "aria-label": "Course" },
    el("h2", {}, "Course"), status, button("Refresh", "Refresh progress", () => refresh()), list, live);
  /** @type {Record<string, {state: string, note: string}>} */
  let done = {};
  /** @type {Record<string, string>} */
  const hints = {};
  /** Lessons that are unfolded. @type {Set<string>} */
  const unfolded = new Set();

  /** Ask the kernel; its answer, or what went wrong, goes to `hear`. @param {any} question @param {(answer: any) => void} hear */
  function ask(question, hear) {
    const connection = kernel();
    if (!connection) { status.textContent = NO_KERNEL; return; }
    const comm = connection.createComm(TARGET);
    let heard = false;
    comm.onMsg = (/** @type {any} */ message) => {
      heard = true;
      const answer = message.content.data;
      if (answer.error) status.textContent = answer.error;
      else hear(answer);
      comm.close();
    };
    comm.onClose = () => { if (!heard) status.textContent = NO_KERNEL; };
    comm.open(question);
  }

  /** @param {() => void} [then] */
  function refresh(then) {
    ask({ ask: "progress" }, (answer) => {
      done = answer.exercises;
      status.textContent = answer.sentence;
      draw();
      then?.();
    });
  }

  /** @param {string} id */
  function hint(id) {
    ask({ ask: "hint", id }, (answer) => {
      hints[id] = answer.text;
      live.textContent = answer.text;
      refresh(() => /** @type {HTMLElement | null} */ (list.querySelector(`[data-hint="${CSS.escape(id)}"]`))?.focus());
    });
  }

  /** @param {import("./words.js").Exercise} each */
  function exercise({ id, title, minutes }) {
    const { state, note } = done[id] ?? { state: "", note: "" };
    const sign = SIGNS[/** @type {"open"} */ (state)] ?? "";
    const asking = button("Hint", `Hint for ${title}`, () => hint(id));
    asking.dataset.hint = id;
    const words = [`${minutes} minutes`, ...(state ? [`${sign} ${state}`] : []), ...(note ? [note] : [])].join(" · ");
    return el("li", {},
      button(title, `Open the exercise: ${title}`, () => open(`exercises/${id}/${id}.ipynb`)),
      el("span", { class: "gpulab-panel-note" }, words), asking,
      ...(hints[id] ? [el("p", { class: "gpulab-panel-hint" }, ...coded(hints[id]))] : []));
  }

  function draw() {
    const { lessons, exercises } = known.table;
    list.replaceChildren(...lessons.map(({ file, title }) => {
      const own = exercises.filter((each) => each.lesson === file);
      const solved = own.filter((each) => done[each.id]?.state === "solved").length;
      const count = own.length && Object.keys(done).length ? ` (${solved} of ${own.length} solved)` : "";
      const part = el("details", unfolded.has(file) ? { open: "" } : {}, el("summary", {}, title + count),
        button("Open the lesson", `Open the lesson: ${title}`, () => open(`notebooks/${file}.ipynb`)),
        ...(own.length ? [el("ul", {}, ...own.map(exercise))] : []));
      part.addEventListener("toggle", () => { if (part.open) unfolded.add(file); else unfolded.delete(file); });
      return part;
    }));
  }

  known.ready.then(draw);
  return { node, refresh };
}
