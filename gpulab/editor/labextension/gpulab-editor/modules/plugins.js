// The plugins, and what they need of the application. docs/editor.md says what each does.
//
//   words.js       the table of names, words and lessons (words.json)
//   language.js    C++ with HIP's names in cells that begin with %%hip and its like
//   markers.js     what the compiler said, on the cell's lines
//   explain.js     a word's explanation, F1 to its lesson; tips.js: the box that shows it
//   completion.js  HIP's names and the cell's own
//   lessons.js     finds and opens notebooks of the course
//   panel.js       the side panel: lessons, exercises, progress, hints
//   sight.js       brings a check's report into sight

import { provider } from "./completion.js";
import { explanations } from "./explain.js";
import { language } from "./language.js";
import { lessons } from "./lessons.js";
import { markers } from "./markers.js";
import { panel } from "./panel.js";
import { sight } from "./sight.js";
import { words } from "./words.js";

/** The packages that are taken from the running application, by the name that the other modules use. */
const PACKAGES = {
  state: "@codemirror/state",
  view: "@codemirror/view",
  language: "@codemirror/language",
  common: "@lezer/common",
  highlight: "@lezer/highlight",
  codemirror: "@jupyterlab/codemirror",
  completer: "@jupyterlab/completer",
  notebook: "@jupyterlab/notebook",
  apputils: "@jupyterlab/apputils",
  coreutils: "@jupyterlab/coreutils",
  widgets: "@lumino/widgets",
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
        if (tracker) course.arrive(tracker);
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
    {
      id: "gpulab-editor:completion",
      description: "Completion of HIP's names and of the cell's own.",
      autoStart: true,
      requires: [lab.completer.ICompletionProviderManager],
      /** @param {any} _app @param {any} manager */
      activate(_app, manager) { manager.registerProvider(provider(known)); },
    },
    {
      id: "gpulab-editor:sight",
      description: "A check's report comes into sight when its cell has run.",
      autoStart: true,
      requires: [lab.notebook.INotebookTracker],
      /** @param {any} _app @param {any} tracker */
      activate(_app, tracker) { sight(lab, tracker); },
    },
    {
      id: "gpulab-editor:panel",
      description: "Lessons, exercises, progress and hints beside the notebook.",
      autoStart: true,
      requires: [lab.notebook.INotebookTracker],
      optional: [lab.apputils.ICommandPalette],
      /** @param {any} app @param {any} tracker @param {any} palette */
      activate(app, tracker, palette) {
        const course = lessons(app, lab, () => tracker.currentWidget);
        const { node, refresh } = panel(known, () => tracker.currentWidget?.sessionContext?.session?.kernel,
          (path) => { course.open(path); });
        const side = new lab.widgets.Widget();
        side.id = "gpulab-editor-panel";
        side.addClass("gpulab-panel-host");
        side.title.label = "Course";
        side.title.caption = "gpulab: lessons, exercises, progress, hints";
        side.node.append(node);
        app.shell.add(side, "right", { rank: 900 });
        app.commands.addCommand("gpulab-editor:panel", {
          label: "Show Lessons, Exercises, Progress and Hints",
          execute: () => {
            app.shell.activateById(side.id);
            app.shell.expandRight?.(side.id);
            refresh();
            node.querySelector("button")?.focus();
          },
        });
        palette?.addItem({ command: "gpulab-editor:panel", category: "gpulab" });
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
