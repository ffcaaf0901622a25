// One wave's life, unpacked: which instruction each step executes, EXEC at it, and the texts that do not change.
//
// views/stepper.py packs what is read here; its rows become objects with named fields.
import { ones } from "./stepper_values.js";

/**
 * @typedef {{text: string, registers: number[], type: string, written: boolean, name: string}} Operand
 * @typedef {{text: string, file: number, line: number, meaning: string, kind: string, operands: Operand[], label: string,
 *   target: number, raises: string[], allows: [string, number][]}} Instruction `line` is 0 and `target` -1 where there is none;
 *   `raises`: wait counters; `allows`: of a wait, how many may be left in each counter
 * @typedef {{name: string, lines: [number, string][]}} SourceFile [0, ""] stands for lines that are left out
 * @typedef {{name: string, address: bigint, bytes: bigint}} Allocation
 * @typedef {{lane: number | null, kind: string, words: string}} Fault
 * @typedef {ReturnType<typeof unpack> extends Promise<infer T> ? T : never} Wave
 */

/** @param {string} text base64 of deflated bytes @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {string} text base64 of deflated JSON */
export async function inflateJson(text) {
  return JSON.parse(new TextDecoder().decode(await inflate(text)));
}

/**
 * Numbers of `size` bytes whose bytes of one place stand together, as parts of 32 bits: [low words, high words].
 * @param {Uint8Array} bytes @param {number} size @returns {Uint32Array[]}
 */
function planes(bytes, size) {
  const count = bytes.length / size, parts = [];
  for (let part = 0; part < size / 4; part++) {
    const words = new Uint32Array(count), at = 4 * part * count;
    for (let k = 0; k < count; k++) {
      words[k] = (bytes[at + k] | (bytes[at + count + k] << 8) | (bytes[at + 2 * count + k] << 16) |
        (bytes[at + 3 * count + k] << 24)) >>> 0;
    }
    parts.push(words);
  }
  return parts;
}

/** @param {any} row @returns {Operand} */
function operandOf([text, registers, type, written, name]) {
  return { text, registers, type, written: Boolean(written), name };
}

/** @param {any} row @param {string[]} meanings @param {Operand[]} operands @returns {Instruction} */
function instructionOf([text, file, line, meaning, kind, used, label, target, raises, allows], meanings, operands) {
  const named = used.map((/** @type {number} */ k) => operands[k]);
  return { text, file, line, meaning: meanings[meaning], kind, operands: named, label, target, raises, allows };
}

/** Memory accesses from the step that issued them to the one that waited for them, Infinity where none did.
 *  @param {any} data */
async function unpackFlights({ flights, counters, count }) {
  const [issued, until, counter] = planes(await inflate(flights), 12);
  return Array.from(issued, (step, k) =>
    ({ counter: String(counters[counter[k]]), issued: step, until: until[k] < count ? until[k] : Infinity }));
}

/** @param {any} data what views/stepper.py sends at first */
export async function unpack(data) {
  const texts = await inflateJson(data.texts);
  const [executed] = planes(await inflate(data.instructions), 4);
  const masks = planes(await inflate(data.exec), data.waveSize / 8);
  /** @type {Operand[]} */
  const operands = texts.operands.map(operandOf);
  /** @type {Instruction[]} */
  const instructions = texts.instructions.map((/** @type {any} */ row) => instructionOf(row, texts.meanings, operands));
  const { count, waveSize: size } = data;
  const isBarrier = instructions.map((item) => item.kind === "barrier");
  /** @type {number[]} */
  const divergences = [];
  /** @type {number[]} */
  const barriers = [];
  const visits = new Uint32Array(instructions.length);
  for (let k = 0; k < count; k++) {
    visits[executed[k]]++;
    if (isBarrier[executed[k]]) barriers.push(k);
    if (k && masks.some((part) => part[k] !== part[k - 1])) divergences.push(k);
  }
  return {
    arch: String(data.arch),
    /** Lanes. */ size: Number(size),
    /** Steps. */ count: Number(count),
    /** Steps of the whole wave, of which `count` are here. */ all: Number(data.all),
    hidden: Number(data.hidden),
    ldsBytes: Number(data.ldsBytes),
    /** @type {Fault | null} */ fault: data.fault,
    /** By step: the number of its instruction. */ executed,
    instructions,
    isBarrier,
    /** By instruction: how often this wave executed it. */ visits,
    /** The steps that run for other lanes than the step before them. */ divergences,
    /** The steps at which the wave comes to a barrier. */ barriers,
    /** By step: how many lanes are active. */
    active: Uint8Array.from({ length: count }, (_, k) => masks.reduce((sum, part) => sum + ones(part[k]), 0)),
    /** @type {string[]} */ counters: data.counters,
    /** By step of issue. */ flights: await unpackFlights(data),
    /** @type {SourceFile[]} */ files: texts.files,
    /** @type {string[]} */ registers: texts.registers,
    /** The first so many registers are vector registers. */ vectors: Number(texts.vectors),
    /** @type {Allocation[]} */
    memory: texts.memory.map((/** @type {[string, string, number]} */ [name, address, bytes]) =>
      ({ name, address: BigInt(`0x${address}`), bytes: BigInt(bytes) })),
    /** @param {number} step @param {number} lane */
    isActive: (step, lane) => ((masks[lane >> 5][step] >>> (lane & 31)) & 1) === 1,
    /** The instruction that a step executes. @param {number} step */
    at: (step) => instructions[executed[step]],
  };
}
