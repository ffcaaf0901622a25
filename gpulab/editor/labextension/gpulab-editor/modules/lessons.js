// Opens a lesson or an exercise: its notebook is looked for beside the notebook that is shown, and above it.

/**
 * The path of a notebook, or "" if it is not below the server's folder. Only folders that are there are asked for.
 * @param {any} contents the server's files @param {string} from the path of the notebook that is shown, or ""
 * @param {string} wanted e.g. "notebooks/06_lds.ipynb"
 */
export async function find(contents, from, wanted) {
  const parts = wanted.split("/"), name = parts[parts.length - 1];
  const above = from.split("/").slice(0, -1);
  for (let depth = above.length; depth >= 0; depth -= 1) {
    const folder = above.slice(0, depth).join("/");
    const beside = await list(contents, folder);
    if (beside.get(name) === "notebook") return join(folder, name);
    let inner = folder, known = beside;
    for (const [place, part] of parts.entries()) {
      if (!known.has(part)) break;
      inner = join(inner, part);
      if (place === parts.length - 1) return inner;
      known = await list(contents, inner);
    }
  }
  return "";
}

/** @param {string} folder @param {string} name */
const join = (folder, name) => folder ? `${folder}/${name}` : name;

/** Names and types of what is in a folder. @param {any} contents @param {string} folder @returns {Promise<Map<string, string>>} */
async function list(contents, folder) {
  const model = await contents.get(folder, { content: true });
  return new Map((model.content ?? []).map((/** @type {any} */ each) => [each.name, each.type]));
}

/** Show a section of a notebook, and make its cell the active one. A notebook that has just been opened goes to its first
 *  cell by itself, at a time of its own: so it is looked again, for ten seconds, or until somebody does something there.
 *  @param {any} panel @param {string} fragment */
async function reveal(panel, fragment) {
  await Promise.all([panel.context?.ready, panel.revealed]);
  let seen = 0, left = false;
  for (const kind of ["wheel", "pointerdown", "keydown"])
    panel.node.addEventListener(kind, () => { left = true; }, { once: true, passive: true });
  for (let attempt = 0; attempt < 40 && seen < 2 && !left; attempt += 1) {
    if (!seen) await panel.content.setFragment(`#${fragment}`);
    const heading = panel.node.querySelector(`[data-jupyter-id="${CSS.escape(fragment)}"], [id="${CSS.escape(fragment)}"]`);
    const cell = panel.content.widgets.findIndex((/** @type {any} */ each) => each.node.contains(heading));
    if (!seen && cell >= 0) panel.content.activeCellIndex = cell;
    await new Promise((resolve) => { setTimeout(resolve, 250); });
    const box = heading?.getBoundingClientRect(), frame = panel.node.getBoundingClientRect();
    seen = box && box.top >= frame.top && box.bottom <= frame.bottom ? seen + 1 : 0;
  }
}

/**
 * @param {any} app the application @param {any} lab its packages @param {() => any} current the notebook's panel, or null
 */
export function lessons(app, lab, current) {
  const { Notification } = lab.apputils;
  return {
    /** @param {string} wanted @param {string} [fragment] */
    async open(wanted, fragment = "") {
      const path = await find(app.serviceManager.contents, current()?.context.path ?? "", wanted);
      if (!path) {
        Notification.info(`${wanted} is not beside this notebook: open the folder of the course.`, { autoClose: 8000 });
        return;
      }
      if (app.name === "Jupyter Notebook") { // each notebook is a page of its own
        const base = lab.coreutils.PageConfig.getBaseUrl();
        const url = `${base}notebooks/${path.split("/").map(encodeURIComponent).join("/")}`;
        globalThis.open(fragment ? `${url}#${encodeURIComponent(fragment)}` : url, "_blank");
        return;
      }
      const widget = await app.commands.execute("docmanager:open", { path });
      if (widget && fragment) await reveal(widget, fragment);
    },
    /** In Notebook 7, where the address alone says which section: show it once the page has its notebook. @param {any} tracker */
    arrive(tracker) {
      const fragment = decodeURIComponent(globalThis.location.hash.slice(1));
      if (app.name !== "Jupyter Notebook" || !fragment) return;
      const show = (/** @type {any} */ _, /** @type {any} */ panel) => {
        tracker.widgetAdded.disconnect(show);
        void reveal(panel, fragment);
      };
      if (tracker.currentWidget) show(tracker, tracker.currentWidget);
      else tracker.widgetAdded.connect(show);
    },
    /** @param {string} word @param {string[]} place */
    openWord(word, place) {
      if (place.length) return this.open(`notebooks/${place[0]}.ipynb`, place[1]);
      Notification.info(`No lesson explains ${word}.`, { autoClose: 5000 });
    },
  };
}
