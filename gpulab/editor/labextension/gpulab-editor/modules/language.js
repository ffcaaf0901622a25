// C++ with HIP's names, for cells that begin with %%hip and its like; other cells stay as they are.
//
// The parser is the application's own for C++ (IEditorLanguageRegistry). It reads the cell through `Blanked`, which
// shows spaces where C++ has nothing to read: the line of the magic, and HIP's qualifiers. Names of HIP get the theme's
// colours from `names`, by their kind.

import { beginning, isHip } from "./words.js";

const QUALIFIERS = /\b__(?:global|device|host|shared|constant|managed|forceinline|noinline)__\b|\b__launch_bounds__\s*\([^()]*\)/g;

/** The text as the C++ parser gets it: as long as the cell's, line for line. @param {string} text */
export function blanked(text) {
  const spaces = (/** @type {string} */ part) => part.replace(/[^\n]/g, " ");
  return text.replace(/^\s*%%[^\n]*/, spaces).replace(QUALIFIERS, spaces);
}

/**
 * The extension for editors.
 * @param {any} lab the application's packages @param {{table: import("./words.js").Words, ready: Promise<void>}} known
 * @param {any} languages JupyterLab's registry of languages
 */
export function language(lab, known, languages) {
  const { Compartment, EditorState, Prec } = lab.state;
  const { Decoration, ViewPlugin } = lab.view;
  const { Language, highlightingFor, syntaxTree } = lab.language;
  const { tags } = lab.highlight;
  const mode = new Compartment();

  /** Filled when the parser has come. @type {any} */
  let chosen = [];
  const loaded = languages.getLanguage("text/x-c++src").then((/** @type {any} */ found) => {
    const { language: cpp, support } = found.support;
    chosen = [Prec.highest(new Language(cpp.data, hipParser(lab, cpp.parser), [], "hip")), support];
  });
  const ready = Promise.all([loaded, known.ready]);

  /** @param {any} doc */
  const wanted = (doc) => isHip(known.table, beginning(doc));

  const switching = EditorState.transactionExtender.of((/** @type {any} */ change) => {
    if (!change.docChanged) return null;
    const now = wanted(change.newDoc);
    return now === wanted(change.startState.doc) ? null : { effects: mode.reconfigure(now ? chosen : []) };
  });

  // An editor may be there before the parser.
  const late = ViewPlugin.define((/** @type {any} */ view) => {
    let here = true;
    ready.then(() => {
      if (here && wanted(view.state.doc)) view.dispatch({ effects: mode.reconfigure(chosen) });
    });
    return { destroy() { here = false; } };
  });

  /** @type {Record<string, any[]>} */
  const looks = {
    qualifier: [tags.keyword],
    type: [tags.typeName, tags.keyword],
    primitive: [tags.typeName, tags.keyword], // Jupyter's themes have no colour for types
    variable: [tags.standard(tags.variableName), tags.keyword],
    function: [tags.standard(tags.variableName), tags.keyword],
    magic: [tags.meta, tags.comment],
  };

  /** The theme's class for a kind of name, and ours. @param {any} state @param {string} kind */
  function look(state, kind) {
    const found = looks[kind].map((tag) => highlightingFor(state, [tag])).find(Boolean) ?? "";
    return `gpulab-${kind} ${found}`.trim();
  }

  /** @param {any} view */
  function decorate(view) {
    const { state } = view;
    if (!wanted(state.doc)) return Decoration.none;
    const tree = syntaxTree(state), magic = beginning(state.doc);
    const marks = [Decoration.mark({ class: look(state, "magic") }).range(magic.search(/\S/), magic.length)];
    for (const { from, to } of view.visibleRanges) {
      const first = Math.max(from, magic.length);
      for (const found of state.doc.sliceString(first, to).matchAll(/[A-Za-z_]\w*/g)) {
        const at = first + found.index, node = tree.resolveInner(at, 1).name;
        const name = Object.hasOwn(known.table.names, found[0]) ? known.table.names[found[0]] : null;
        const kind = name?.kind ?? (node === "PrimitiveType" ? "primitive" : "");
        if (!kind || /Comment|String|CharLiteral|FieldIdentifier/.test(node)) continue;
        marks.push(Decoration.mark({ class: look(state, kind) }).range(at, at + found[0].length));
      }
    }
    return Decoration.set(marks, true);
  }

  const names = ViewPlugin.fromClass(class {
    /** @param {any} view */
    constructor(view) { this.decorations = decorate(view); }
    /** @param {any} update */
    update(update) { this.decorations = decorate(update.view); }
  }, { decorations: (/** @type {any} */ plugin) => plugin.decorations });

  return [mode.of([]), switching, late, names];
}

/**
 * A parser that shows the C++ parser the blanked text.
 * @param {any} lab @param {any} cpp
 */
function hipParser(lab, cpp) {
  class Blanked {
    /** @param {any} input */
    constructor(input) { this.text = blanked(input.read(0, input.length)); }
    get length() { return this.text.length; }
    get lineChunks() { return false; }
    /** @param {number} from */
    chunk(from) { return this.text.slice(from); }
    /** @param {number} from @param {number} to */
    read(from, to) { return this.text.slice(from, to); }
  }
  return new class extends lab.common.Parser {
    /** @param {any} input @param {any} fragments @param {any} ranges */
    createParse(input, fragments, ranges) { return cpp.createParse(new Blanked(input), fragments, ranges); }
  }();
}
