// The plugins, and what they need of the application. docs/editor.md says what each does.
//
//   words.js       the table of names, words and lessons (words.json)
//   language.js    C++ with HIP's names in cells that begin with %%hip and its like
//   markers.js     what the compiler said, on the cell's lines
//   explain.js     a word's explanation, F1 to its lesson; tips.js: the box that shows it
//   lessons.js     finds and opens notebooks of the course

import { explanations } from "./explain.js";
import { language } from "./language.js";
import { lessons } from "./lessons.js";
import { markers } from "./markers.js";
import { words } from "./words.js";

/** The packages that are taken from the running application, by the name that the other modules use. */
const PACKAGES = {
  state: "@codemirror/state",
  view: "@codemirror/view",
  language: "@codemirror/language",
  common: "@lezer/common",
  highlight: "@lezer/highlight",
  codemirror: "@jupyterlab/codemirror",
  notebook: "@jupyterlab/notebook",
  apputils: "@jupyterlab/apputils",
  coreutils: "@jupyterlab/coreutils",
};

/** @param {(name: string) => Promise<any>} shared */
export async function plugins(shared) {
  /** @type {Record<string, any>} */
  const lab = {};
  const known = words();
  await Promise.all(Object.entries(PACKAGES).map(async ([name, full]) => { lab[name] = await shared(full); }));
  style();
  return [
    {
      id: "gpulab-editor:language",
      description: "C++ with HIP's names in cells that begin with %%hip, %%cuda or %%hipcc.",
      autoStart: true,
      requires: [lab.codemirror.IEditorExtensionRegistry, lab.codemirror.IEditorLanguageRegistry],
      /** @param {any} _app @param {any} extensions @param {any} languages */
      activate(_app, extensions, languages) {
        const one = language(lab, known, languages);
        extensions.addExtension({ name: "gpulab-editor:language", factory: () => constant(one) });
      },
    },
    {
      id: "gpulab-editor:messages",
      description: "Marks of compile errors, explanations of words, and the way to their lessons.",
      autoStart: true,
      requires: [lab.codemirror.IEditorExtensionRegistry],
      optional: [lab.notebook.INotebookTracker, lab.apputils.ICommandPalette],
      /** @param {any} app @param {any} extensions @param {any} tracker @param {any} palette */
      activate(app, extensions, tracker, palette) {
        const course = lessons(app, lab, () => tracker?.currentWidget ?? null);
        const marks = markers(lab);
        const about = explanations(lab, known, marks.field, (word, place) => { course.openWord(word, place); });
        extensions.addExtension({
          name: "gpulab-editor:messages",
          /** @param {any} options */
          factory: (options) => constant([marks.extension(options.model?.outputs), about.extension]),
        });
        /** @param {string} id @param {string} label @param {(view: any) => boolean} does */
        const command = (id, label, does) => {
          const view = () => tracker?.activeCell?.editor?.editor;
          app.commands.addCommand(id, { label, isEnabled: () => Boolean(view()), execute: () => { does(view()); } });
          palette?.addItem({ command: id, category: "gpulab" });
          app.contextMenu.addItem({ command: id, selector: ".jp-Notebook .jp-CodeCell .jp-Editor", rank: 20 });
        };
        command("gpulab-editor:lesson", "Open the Lesson on the Word at the Cursor", about.openHere);
        command("gpulab-editor:explain", "Explain the Word at the Cursor", about.explainHere);
      },
    },
  ];
}

/** An extension of editors that has no settings, as JupyterLab's registry wants it. @param {any} extension */
function constant(extension) {
  return { instance: () => extension, reconfigure: () => null };
}

/** Add the style sheet beside this module. */
function style() {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("style.css", import.meta.url).href;
  document.head.append(link);
}
