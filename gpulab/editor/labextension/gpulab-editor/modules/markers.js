// What the compiler said of the cell's last run, on its lines: a sign in the margin, a line under the place, the message
// where the mouse rests, and F8 for keys and screen readers.
//
// The messages come with the cell's outputs, as metadata (gpulab/magic.py, `marks`): they go when the output goes, and
// are there again when the notebook is opened again. A message whose line has another text by now is left out.

import { tip } from "./tips.js";
import { beginning } from "./words.js";

/**
 * @typedef {{severity: string, message: string, advice: string, line: number, column: number, text: string}} Message
 * @typedef {Message & {from: number, to: number}} Placed
 */

const SIGNS = { error: "✖", warning: "▲" };

/** All messages in the outputs of a cell. @param {any} outputs @returns {Message[]} */
export function messages(outputs) {
  const found = [];
  for (let number = 0; number < outputs.length; number += 1) {
    const given = outputs.get(number).metadata?.gpulab?.diagnostics;
    if (Array.isArray(given)) found.push(...given);
  }
  return found.filter((one) => typeof one?.message === "string" && Number.isInteger(one.line) && Object.hasOwn(SIGNS, one.severity));
}

/** Where messages stand in a text; those that do not fit it are left out. @param {any} doc @param {Message[]} given @returns {Placed[]} */
export function placed(doc, given) {
  const above = beginning(doc).split("\n").length; // IPython drops empty lines
  const found = [];
  for (const one of given) {
    const number = one.line + above - 1;
    if (number < 1 || number > doc.lines) continue;
    const line = doc.line(number);
    if (one.text && one.text.trim() !== line.text.trim()) continue;
    const indent = line.text.search(/\S|$/);
    const start = Math.min(line.from + Math.max(one.column - 1, indent), line.to);
    const word = /^(?:\w+|\S)/.exec(doc.sliceString(start, line.to))?.[0].length ?? 0;
    found.push({ ...one, from: start, to: start + word });
  }
  return found.sort((a, b) => a.from - b.from);
}

/** As it is told: "Error in line 4: ...". @param {any} doc @param {Placed} one */
function told(doc, one) {
  const name = one.severity === "error" ? "Error" : "Warning";
  return `${name} in line ${doc.lineAt(one.from).number}: ${one.message}`;
}

/** What a screen reader hears after a run. @param {Message[]} given */
function summary(given) {
  const errors = given.filter((one) => one.severity === "error").length, warnings = given.length - errors;
  const count = (/** @type {number} */ n, /** @type {string} */ noun) => n ? [`${n} ${noun}${n === 1 ? "" : "s"}`] : [];
  return `${[...count(errors, "error"), ...count(warnings, "warning")].join(", ")}. F8 in the cell goes to each.`;
}

/** @param {any} doc @param {Placed[]} those */
export function markTip(doc, those) {
  return tip(...those.map((one) => ({ kind: one.severity, title: `${SIGNS[/** @type {"error"} */ (one.severity)]} ${told(doc, one)}`, text: one.advice })));
}

/** The parts of editors that all cells share. @param {any} lab the application's packages */
export function markers(lab) {
  const { Prec, StateEffect, StateField, RangeSet } = lab.state;
  const { Decoration, EditorView, GutterMarker, ViewPlugin, closeHoverTooltips, gutter, keymap, showTooltip } = lab.view;
  /** New messages of a cell. */
  const set = StateEffect.define();
  /** The place whose messages are shown without the mouse; null for none. */
  const point = StateEffect.define();

  class Sign extends GutterMarker {
    /** @param {string} severity @param {string} words */
    constructor(severity, words) { super(); this.severity = severity; this.words = words; }
    /** @param {any} other */
    eq(other) { return other.words === this.words; } // the words say which severity it is
    toDOM() {
      const sign = document.createElement("span");
      sign.className = `gpulab-sign gpulab-sign-${this.severity}`;
      sign.textContent = SIGNS[/** @type {"error"} */ (this.severity)];
      sign.title = this.words;
      return sign;
    }
  }

  const field = StateField.define({
    create: () => /** @type {Placed[]} */ ([]),
    /** @param {Placed[]} before @param {any} change */
    update(before, change) {
      let now = before;
      if (change.docChanged) { // what is typed at the ends of a mark is outside of it
        now = now.map((one) => ({ ...one, from: change.changes.mapPos(one.from, 1), to: change.changes.mapPos(one.to) }))
          .filter((one) => one.from <= one.to);
      }
      for (const effect of change.effects) if (effect.is(set)) now = placed(change.state.doc, effect.value);
      return now;
    },
    provide: (/** @type {any} */ self) => [
      EditorView.decorations.from(self, (/** @type {Placed[]} */ those) => Decoration.set(
        those.filter((one) => one.from < one.to)
          .map((one) => Decoration.mark({
            class: `gpulab-mark gpulab-mark-${one.severity}`, attributes: { "aria-description": `${one.severity}: ${one.message}` },
          }).range(one.from, one.to)), true)),
    ],
  });

  const shown = StateField.define({
    create: () => /** @type {number | null} */ (null),
    /** @param {number | null} before @param {any} change */
    update(before, change) {
      for (const effect of change.effects) if (effect.is(point)) return effect.value;
      return change.docChanged || change.selection ? null : before;
    },
    provide: (/** @type {any} */ self) => showTooltip.compute([self, field], (/** @type {any} */ state) => {
      const at = state.field(self), those = state.field(field).filter((/** @type {Placed} */ one) => one.from === at);
      return those.length ? { pos: at, above: true, create: () => ({ dom: markTip(state.doc, those) }) } : null;
    }),
  });

  const margin = gutter({
    class: "gpulab-margin",
    markers: (/** @type {any} */ view) => {
      const doc = view.state.doc;
      /** @type {Map<number, Placed[]>} */
      const lines = new Map();
      for (const one of view.state.field(field)) {
        const start = doc.lineAt(one.from).from;
        lines.set(start, [...(lines.get(start) ?? []), one]);
      }
      return RangeSet.of([...lines].map(([start, those]) => new Sign(
        those.some((one) => one.severity === "error") ? "error" : "warning", those.map((one) => told(doc, one)).join("\n"),
      ).range(start)), true);
    },
  });

  /** To the next message, or the one before; says it. @param {any} view @param {boolean} forward */
  function go(view, forward) {
    const all = view.state.field(field), head = view.state.selection.main.head;
    if (!all.length) return false;
    const after = forward ? all.find((/** @type {Placed} */ one) => one.from > head) : all.findLast((/** @type {Placed} */ one) => one.from < head);
    const next = after ?? all.at(forward ? 0 : -1);
    const those = all.filter((/** @type {Placed} */ one) => one.from === next.from);
    view.dispatch({
      selection: { anchor: next.from },
      scrollIntoView: true,
      effects: [point.of(next.from), closeHoverTooltips, EditorView.announce.of(those.map((/** @type {Placed} */ one) => `${told(view.state.doc, one)}. ${one.advice}`).join(" "))],
    });
    return true;
  }

  const keys = Prec.high(keymap.of([
    { key: "F8", run: (/** @type {any} */ view) => go(view, true), shift: (/** @type {any} */ view) => go(view, false) },
    { key: "Escape", run: (/** @type {any} */ view) => {
      if (view.state.field(shown) === null) return false;
      view.dispatch({ effects: point.of(null) });
      return true;
    } },
  ]));
  const leaving = EditorView.domEventHandlers({
    blur: (/** @type {Event} */ _event, /** @type {any} */ view) => {
      if (view.state.field(shown) !== null) view.dispatch({ effects: point.of(null) });
    },
  });

  /** What belongs to one cell: its outputs are read again when they change. @param {any} outputs */
  function follow(outputs) {
    return ViewPlugin.define((/** @type {any} */ view) => {
      let here = true, asked = false, ran = false;
      const read = () => {
        if (asked) return;
        asked = true; // outputs change in many small steps, and an editor cannot be told while it updates
        setTimeout(() => {
          asked = false;
          if (!here) return;
          const given = messages(outputs);
          if (given.length || view.state.field(field).length) {
            const say = given.length && ran ? [EditorView.announce.of(summary(given))] : [];
            view.dispatch({ effects: [set.of(given), ...say] });
          }
        });
      };
      const changed = () => { ran = true; read(); };
      outputs.changed.connect(changed);
      read();
      return { destroy() { here = false; outputs.changed.disconnect(changed); } };
    });
  }

  return {
    field,
    /** For the editor of a cell with these outputs; others have no messages. @param {any} outputs */
    extension: (outputs) => outputs ? [field, shown, margin, keys, leaving, follow(outputs)] : [],
  };
}
