// Registers and LDS at any step: put together from windows of steps, which Python sends when they are needed.
import { ask } from "./common.js";
import { inflate, inflateJson } from "./stepper_wave.js";

const MOST_WINDOWS = 24;

/**
 * @typedef {{space: "global" | "lds" | "scratch", action: "read" | "write" | "atomic", bytes: number, lanes: number[],
 *   addresses: string[], values: number[]}} Access addresses in hex; `lanes` is empty for a scalar access
 * @typedef {{registers: number[], scalars: [number, number | string][], accesses: Access[], lds: [number, string][]}} Change
 *   what a step changes: vector registers, scalar ones with their values, memory, LDS as [offset, bytes in hex]
 * @typedef {{to: number, vectors: Uint32Array, scalars: (number | string)[], last: number[], lds: Uint8Array}} Cursor
 * @typedef {{first: number, count: number, scalars: (number | string)[], last: number[], steps: Change[],
 *   vectors: Uint32Array, moved: Uint32Array, offsets: number[], lds: Uint8Array, cursor: Cursor | null}} Window
 * @typedef {{before: Cursor, changed: Map<number, Uint32Array | number | string>, accesses: Access[], lds: Uint8Array,
 *   written: Set<number>}} State the state before a step, and what the step changes; `written`: words of LDS
 */

/** @param {DataView} raw */
function wordsOf(raw) {
  return new Uint32Array(/** @type {ArrayBuffer} */ (raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength)));
}

/** @param {Uint8Array} lds @param {[number, string][]} pieces @param {Set<number>} [written] words that change */
function writeLds(lds, pieces, written) {
  for (const [offset, hex] of pieces) {
    for (let n = 0; n < hex.length / 2; n++) {
      lds[offset + n] = parseInt(hex.slice(2 * n, 2 * n + 2), 16);
      written?.add((offset + n) >> 2);
    }
  }
}

/** @param {any} row @returns {Change} */
function changeOf([registers, scalars, accesses, lds]) {
  return {
    registers, scalars, lds,
    accesses: accesses.map((/** @type {any} */ [space, action, bytes, lanes, addresses, values]) =>
      ({ space, action, bytes, lanes, addresses, values })),
  };
}

/**
 * The states of a wave.
 * @param {import("./common.js").Model} model @param {import("./stepper_wave.js").Wave} wave
 */
export function statesOf(model, wave) {
  const { size, vectors, count } = wave;
  /** @type {Window[]} the latest last */
  const windows = [];
  /** @type {Map<number, Promise<void>>} */
  const asked = new Map();

  /** @param {any} reply @param {DataView[]} buffers */
  function keep(reply, [state, moved, lds]) {
    const steps = reply.steps.map(changeOf), offsets = [0];
    for (const change of steps) offsets.push(offsets[offsets.length - 1] + change.registers.length * size);
    windows.push({
      ...reply, steps, offsets, vectors: wordsOf(state), moved: wordsOf(moved), cursor: null,
      lds: new Uint8Array(lds.buffer.slice(lds.byteOffset, lds.byteOffset + lds.byteLength)),
    });
    if (windows.length > MOST_WINDOWS) windows.shift();
  }

  /** @param {number} step */
  const windowOf = (step) => windows.find((w) => step >= w.first && step < w.first + w.count);

  /** Have the window that starts at a step. @param {number} first @returns {Promise<void>} */
  function load(first) {
    const under = asked.get(first);
    if (under) return under;
    const loading = ask(model, { window: first })
      .then((reply) => keep(reply, reply.buffers))
      .finally(() => asked.delete(first));
    asked.set(first, loading);
    return loading;
  }

  /** The values of a changed register, of all lanes. @param {Window} w @param {number} to @param {number} n */
  const movedTo = (w, to, n) => w.moved.subarray(w.offsets[to] + n * size, w.offsets[to] + (n + 1) * size);

  /** @param {Window} w @param {number} to @returns {Cursor} the state before step `to` of the window */
  function advance(w, to) {
    if (!w.cursor || w.cursor.to > to) {
      w.cursor = { to: 0, vectors: w.vectors.slice(), scalars: [...w.scalars], last: [...w.last], lds: w.lds.slice() };
    }
    const cursor = w.cursor;
    for (; cursor.to < to; cursor.to++) {
      const change = w.steps[cursor.to], step = w.first + cursor.to;
      change.registers.forEach((register, n) => {
        cursor.vectors.set(movedTo(w, cursor.to, n), register * size);
        cursor.last[register] = step;
      });
      for (const [register, value] of change.scalars) {
        cursor.scalars[register - vectors] = value;
        cursor.last[register] = step;
      }
      writeLds(cursor.lds, change.lds);
    }
    return cursor;
  }

  return {
    /** Keep the window that came with the first data. @param {{reply: string, buffers: string[]}} packed */
    async first(packed) {
      const buffers = await Promise.all(packed.buffers.map(async (text) => new DataView((await inflate(text)).buffer)));
      keep(await inflateJson(packed.reply), buffers);
    },
    load,
    /** @param {number} step */
    has: (step) => windowOf(step) !== undefined,
    /** Ask for what is likely to be wanted next. @param {number} step */
    askAhead(step) {
      const here = windowOf(step);
      if (!here) return;
      const next = here.first + here.count;
      /** @param {number} first */
      const quietly = (first) => { load(first).catch(() => {}); };  // a failure shows when the step is drawn
      if (next < count && step > next - 100 && !windowOf(next)) quietly(next);
      if (here.first > 0 && step < here.first + 50 && !windowOf(here.first - 1)) quietly(Math.max(0, here.first - 200));
    },
    /** The state at a step, or null if its window is not here. @param {number} step @returns {State | null} */
    at(step) {
      const w = windowOf(step);
      if (!w) return null;
      const to = step - w.first, before = advance(w, to), change = w.steps[to];
      /** @type {Map<number, Uint32Array | number | string>} */
      const changed = new Map(change.registers.map((register, n) => [register, movedTo(w, to, n)]));
      for (const [register, value] of change.scalars) changed.set(register, value);
      const lds = before.lds.slice(), written = /** @type {Set<number>} */ (new Set());
      writeLds(lds, change.lds, written);
      return { before, changed, accesses: change.accesses, lds, written };
    },
    /**
     * The words of a register for a lane, before or after the step: [low] or [low, high].
     * @param {State} state @param {number} register @param {number} lane @param {boolean} after @returns {number[]}
     */
    words(state, register, lane, after) {
      const changed = after ? state.changed.get(register) : undefined;
      if (register < vectors) {
        return [changed ? /** @type {Uint32Array} */ (changed)[lane] : state.before.vectors[register * size + lane]];
      }
      const value = /** @type {number | string} */ (changed ?? state.before.scalars[register - vectors]);
      if (typeof value !== "string") return [value];
      const bits = BigInt(`0x${value}`);
      return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
    },
  };
}

/** @typedef {ReturnType<typeof statesOf>} States */
