// A word's explanation: in a box where the mouse rests on it, or at Shift+F1; F1 opens the lesson that explains it.

import { markTip } from "./markers.js";
import { tip } from "./tips.js";
import { beginning, explain, isHip } from "./words.js";

/** The word at a place of a text: {word, from, to} or null. @param {any} doc @param {number} at */
export function wordAt(doc, at) {
  const line = doc.lineAt(at);
  for (const found of line.text.matchAll(/[A-Za-z_]\w*/g)) {
    const from = line.from + found.index, to = from + found[0].length;
    if (from <= at && at <= to) return { word: found[0], from, to };
  }
  return null;
}

/**
 * @param {any} lab the application's packages @param {{table: import("./words.js").Words}} known
 * @param {any} field the field with the compiler's messages
 * @param {(word: string, place: string[]) => void} open opens a lesson
 */
export function explanations(lab, known, field, open) {
  const { Prec, StateEffect, StateField } = lab.state;
  const { EditorView, closeHoverTooltips, hasHoverTooltips, hoverTooltip, keymap, showTooltip } = lab.view;
  const show = StateEffect.define();

  /** @param {any} about */
  const box = (about) => tip({ kind: "word", title: about.title, text: about.text + (about.place.length ? `\nF1: lesson ${about.place[0].slice(0, 2)}` : "") });

  /** @param {any} state @param {number} at */
  function found(state, at) {
    if (!isHip(known.table, beginning(state.doc))) return null;
    const word = wordAt(state.doc, at), about = word && explain(known.table, word.word);
    return about ? { ...word, about } : null;
  }

  const hover = hoverTooltip((/** @type {any} */ view, /** @type {number} */ at) => {
    const doc = view.state.doc, line = doc.lineAt(at);
    const all = view.state.field(field, false) ?? [];
    const those = all.filter((/** @type {any} */ one) => one.from <= at && at <= Math.max(one.to, one.from + 1));
    if (those.length) return { pos: those[0].from, end: Math.min(those[0].to, line.to), above: true, create: () => ({ dom: markTip(doc, those) }) };
    const word = found(view.state, at);
    return word ? { pos: word.from, end: word.to, above: true, create: () => ({ dom: box(word.about) }) } : null;
  });

  const shown = StateField.define({
    create: () => /** @type {any} */ (null),
    /** @param {any} before @param {any} change */
    update(before, change) {
      for (const effect of change.effects) if (effect.is(show)) return effect.value;
      return change.docChanged || change.selection ? null : before;
    },
    provide: (/** @type {any} */ self) => showTooltip.from(self, (/** @type {any} */ word) => word
      ? { pos: word.from, end: word.to, above: true, create: () => ({ dom: box(word.about) }) } : null),
  });

  /** @param {any} view */
  function explainHere(view) {
    const word = found(view.state, view.state.selection.main.head);
    if (!word) return false;
    view.dispatch({ effects: [show.of(word), closeHoverTooltips, EditorView.announce.of(`${word.about.title}. ${word.about.text}`)] });
    return true;
  }

  /** @param {any} view */
  function openHere(view) {
    const word = found(view.state, view.state.selection.main.head);
    if (!word) return false;
    open(word.word, word.about.place);
    return true;
  }

  const keys = Prec.high(keymap.of([
    { key: "F1", run: openHere, shift: explainHere, preventDefault: true },
    { key: "Escape", run: (/** @type {any} */ view) => {
      if (!view.state.field(shown) && !hasHoverTooltips(view.state)) return false;
      view.dispatch({ effects: [show.of(null), closeHoverTooltips] });
      return true;
    } },
  ]));

  const leaving = EditorView.domEventHandlers({
    blur: (/** @type {Event} */ _event, /** @type {any} */ view) => {
      if (view.state.field(shown)) view.dispatch({ effects: show.of(null) });
    },
  });

  return { extension: [hover, shown, keys, leaving], explainHere, openHere };
}
