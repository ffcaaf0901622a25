// Completion in cells of HIP: HIP's names, C++'s keywords, and the names that stand in the cell.

import { isHip } from "./words.js";

const KEYWORDS = ("auto bool break case char class const constexpr continue default do double else enum extern false float for goto if "
  + "inline int long namespace nullptr operator private public return short signed sizeof static struct switch template this true "
  + "typedef typename union unsigned using void volatile while").split(" ");
const KINDS = { qualifier: "keyword", variable: "variable", type: "type", function: "function" };

/** The names that stand in a cell, comments, texts and the word from `start` to `end` apart.
 *  @param {string} text @param {number} start @param {number} end */
export function ownNames(text, start, end) {
  const spaces = (/** @type {string} */ part) => part.replace(/[^\n]/g, " ");
  const code = (text.slice(0, start) + spaces(text.slice(start, end)) + text.slice(end))
    .replace(/^\s*%%[^\n]*/, spaces)
    .replace(/\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, spaces);
  return [...new Set([...code.matchAll(/(?<![\w.])[A-Za-z_]\w+/g)].map((found) => found[0]))];
}

/** @param {{table: import("./words.js").Words}} known */
export function provider(known) {
  return {
    identifier: "gpulab-editor:completion",
    rank: 1200,
    renderer: null,
    /** @param {any} context */
    isApplicable: (context) => Promise.resolve(isHip(known.table, context.editor?.model.sharedModel.getSource() ?? "")),
    /** @param {{text: string, offset: number}} request */
    fetch({ text, offset }) {
      const { names } = known.table;
      const before = text.slice(0, offset), start = before.search(/\w*$/), typed = before.slice(start);
      const end = offset + text.slice(offset).search(/\W|$/);
      /** @type {{label: string, type: string, documentation?: string}[]} */
      const items = [];
      const member = text[start - 1] === ".";
      if (typed && !member && !/^\s*%%[^\n]*$/.test(before)) {
        const own = ownNames(text, start, end).filter((name) => !Object.hasOwn(names, name) && !KEYWORDS.includes(name));
        items.push(...own.sort().map((label) => ({ label, type: "name", documentation: "a name of this cell" })));
        for (const [label, { kind, signature, text: about }] of Object.entries(names)) {
          items.push({ label, type: KINDS[/** @type {"type"} */ (kind)], documentation: signature ? `${signature}\n${about}` : about });
        }
        items.push(...KEYWORDS.map((label) => ({ label, type: "keyword" })));
      }
      return Promise.resolve({ start, end: offset, items: items.filter(({ label }) => label.startsWith(typed) && label !== typed) });
    },
  };
}
