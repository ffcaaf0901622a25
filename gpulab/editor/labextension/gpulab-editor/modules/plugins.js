// The plugins, and what they need of the application. docs/editor.md says what each does.
//
//   words.js       the table of names, words and lessons (words.json)
//   language.js    C++ with HIP's names in cells that begin with %%hip and its like

import { language } from "./language.js";
import { words } from "./words.js";

/** The packages that are taken from the running application, by the name that the other modules use. */
const PACKAGES = {
  state: "@codemirror/state",
  view: "@codemirror/view",
  language: "@codemirror/language",
  common: "@lezer/common",
  highlight: "@lezer/highlight",
  codemirror: "@jupyterlab/codemirror",
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
