// Progress: lessons with their exercises, each a link with its state; Refresh asks Python to read the file again.
import { el, frame, button, choice, ask } from "./common.js";

/** A notebook opens in a tab of its own: Jupyter's own way to open links does not reach into widgets. */
const link = (href, text) => el("a", { href, text, target: "_blank", rel: "noopener", title: `${text} opens in a new tab` });

/** The mistakes that checks named and the hints, folded: the browser's own element, which opens by keys. Which are open outlives a refresh. */
function folded(exercise, open) {
  if (!exercise.found.length) return null;
  const part = el("details", { class: "progress-found" },
    el("summary", { text: "Checks and hints", "aria-label": `Checks and hints: ${exercise.id}` }),
    el("ul", {}, exercise.found.map((text) => el("li", { text }))));
  part.open = open.has(exercise.id);
  part.addEventListener("toggle", () => (part.open ? open.add(exercise.id) : open.delete(exercise.id)));
  return part;
}

function render({ model, el: host }) {
  const data = model.get("data");
  const view = frame(host, { title: data.title, sentence: data.sentence });
  let lessons = data.lessons, which = "all";
  /** @type {Set<string>} */
  const open = new Set();
  const list = el("div", { class: "progress-list" });
  const bar = el("div", { class: "progress-whole", "aria-hidden": "true" });

  function draw() {
    const all = lessons.flatMap((lesson) => lesson.exercises);
    bar.replaceChildren(...["solved", "begun", "open"].map((state) => {
      const count = all.filter((exercise) => exercise.state === state).length;
      return el("span", { class: `progress-part progress-${state}`, style: { "flex-grow": count } });
    }));
    const wanted = (exercise) => which === "all" || (which === "open") === (exercise.state !== "solved");
    const parts = lessons.map((lesson) => ({ lesson, shown: lesson.exercises.filter(wanted) })).filter(({ shown }) => shown.length);
    list.replaceChildren(...parts.map(({ lesson, shown }) => {
      const solved = lesson.exercises.filter((exercise) => exercise.state === "solved").length;
      return el("section", { class: "progress-lesson" },
        el("div", { class: "progress-head" },
          lesson.link ? link(lesson.link, lesson.name) : el("b", { text: lesson.name }),
          el("span", { class: "progress-count", text: ` ${solved} of ${lesson.exercises.length}` })),
        el("ul", {}, shown.map((exercise) => el("li", { class: `progress-${exercise.state}` },
          el("span", { class: "progress-sign", "aria-hidden": "true", text: exercise.sign }),
          el("div", {},
            exercise.link ? link(exercise.link, exercise.id) : exercise.id,
            `: ${exercise.title} `,
            el("span", { class: "progress-note", text: `(${[exercise.state, `${exercise.minutes} minutes`, exercise.note].filter(Boolean).join(", ")})` }),
            folded(exercise, open))))));
    }));
    if (!parts.length) list.replaceChildren(el("p", { text: which === "solved" ? "None yet." : "Nothing is left to do." }));
  }

  async function refresh() {
    try {
      const reply = await ask(model, { ask: "refresh" });
      lessons = reply.lessons;
      view.caption(reply.sentence);
      view.say(reply.sentence);
      draw();
    } catch (error) {
      view.say(error.message);
      view.caption(error.message);
    }
  }

  view.controls.append(
    choice("Show", [["all", "all exercises"], ["open", "those not solved"], ["solved", "those solved"]], which, (value) => { which = value; draw(); }),
    button("Refresh", "Refresh: read the progress file again", refresh),
  );
  view.body.append(bar, list);
  draw();
}

export default { render };
