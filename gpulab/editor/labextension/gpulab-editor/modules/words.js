// words.json: HIP's names, the glossary, the lessons and exercises. tools/editor_words.py writes it.

/**
 * @typedef {{kind: string, signature: string, text: string, place: string[]}} Name
 * @typedef {{word: string, text: string, place: string[]}} Term
 * @typedef {{id: string, title: string, lesson: string, minutes: number}} Exercise
 * @typedef {{magics: string[], names: Record<string, Name>, terms: Record<string, Term>,
 *   lessons: {file: string, title: string}[], exercises: Exercise[]}} Words
 */

/** The table, empty until it has come. @returns {{table: Words, ready: Promise<void>}} */
export function words() {
  /** @type {{table: Words, ready: Promise<void>}} */
  const known = {
    table: { magics: ["hip", "cuda", "hipcc"], names: {}, terms: {}, lessons: [], exercises: [] },
    ready: Promise.resolve(),
  };
  known.ready = fetch(new URL("words.json", import.meta.url))
    .then((answer) => answer.json())
    .then((table) => { known.table = table; });
  return known;
}

/** An editor's text up to the end of its first line with words. @param {any} doc @returns {string} */
export function beginning(doc) {
  let line = doc.line(1);
  while (!line.text.trim() && line.number < doc.lines) line = doc.line(line.number + 1);
  return doc.sliceString(0, line.to);
}

/** Whether a text is a cell of C++: its first line with words begins with %%hip or its like.
 *  @param {Words} table @param {string} text */
export function isHip(table, text) {
  const found = /^\s*%%(\w+)(?![\w-])/.exec(text);
  return Boolean(found && table.magics.includes(found[1]));
}

/** What is known of a word: one of HIP's names, or a word of the glossary.
 *  @param {Words} table @param {string} word @returns {(Name | Term) & {title: string} | null} */
export function explain(table, word) {
  if (Object.hasOwn(table.names, word)) return { ...table.names[word], title: table.names[word].signature || word };
  const lower = word.toLowerCase(), single = lower.replace(/e?s$/, "");
  for (const key of [word, lower, lower.replace(/s$/, ""), single]) {
    if (Object.hasOwn(table.terms, key)) return { ...table.terms[key], title: table.terms[key].word };
  }
  return null;
}
