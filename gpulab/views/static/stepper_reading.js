// How bits are read: a register has no type, so the instructions that write and read it say what it holds.
import { wide, word } from "./stepper_values.js";

/** Instructions that only move bits: they say nothing about a type. */
const MOVES = /^(v_(dual_)?mov|v_cndmask|s_mov|v_readfirstlane|v_readlane|v_accvgpr|v_writelane|ds_bpermute|ds_permute)/;
const NEAR = 60;  // instructions searched for one that says more

/** @typedef {import("./stepper_wave.js").Instruction} Instruction @typedef {import("./stepper_wave.js").Operand} Operand
 *  @typedef {import("./stepper_states.js").State} State */

/**
 * @param {import("./stepper_wave.js").Wave} wave @param {import("./stepper_states.js").States} states
 * @param {{step: number, lane: number, form: import("./stepper_values.js").Form}} view
 */
export function readingOf(wave, states, view) {
  const { instructions, executed, registers, vectors, size, memory } = wave;

  /** @param {string} name */
  const isMask = (name) => name === "vcc" || name === "exec";
  /** @param {Instruction} item */
  const movesBits = (item) => MOVES.test(item.text) || item.kind === "memory";
  /** @param {Instruction} item @param {number} register */
  const using = (item, register) => item.operands.filter((o) => o.registers.includes(register));
  /** @param {Instruction} item @param {Operand} operand */
  const says = (item, operand) => operand.type !== "u32" || !movesBits(item);

  /** The type that the next instruction after `at` to read a register gives it. @param {number} at @param {number} register */
  function readAs(at, register) {
    for (let k = at + 1; k < Math.min(instructions.length, at + NEAR); k++) {
      const used = using(instructions[k], register);
      const typed = used.find((o) => !o.written && says(instructions[k], o));
      if (typed) return typed.type;
      if (used.some((o) => o.written)) break;
    }
    return "bits";
  }

  /**
   * What a register's bits are, before or after this step: as the instruction says that uses it or wrote it last.
   * @param {State} state @param {number} register @param {boolean} after
   */
  function typeOf(state, register, after) {
    const here = using(wave.at(view.step), register);
    const own = after && here.some((o) => o.written);
    const read = own ? undefined : here.find((o) => !o.written && o.type !== "u32");
    if (read) return read.type;
    const last = state.before.last[register];
    const at = own ? executed[view.step] : last >= 0 ? executed[last] : -1;
    const wrote = at < 0 ? undefined : using(instructions[at], register).find((o) => o.written);
    if (wrote && says(instructions[at], wrote)) return wrote.type;
    return readAs(at < 0 ? executed[view.step] : at, register);
  }

  /** The type of what an instruction stores from a register. @param {number} at @param {number} register */
  function storedAs(at, register) {
    if (!/^ds_(write|store)/.test(instructions[at].text)) return readAs(at, register);
    for (let k = at - 1; k >= Math.max(0, at - NEAR); k--) {
      const wrote = using(instructions[k], register).find((o) => o.written);
      if (wrote) return movesBits(instructions[k]) ? "bits" : wrote.type;
    }
    return "bits";
  }

  /** @param {State} state @param {number[]} bits @param {number} register @param {boolean} after */
  function show(state, bits, register, after) {
    if (isMask(registers[register])) return size === 64 ? wide(bits[0], bits[1] ?? 0, "hex") : word(bits[0], "hex");
    if (view.form !== "auto") return word(bits[0], view.form);
    const type = typeOf(state, register, after);
    const address = register >= vectors && type === "u32" && bits[0] > 0xffffff;
    return word(bits[0], /64$/.test(type) || type === "b1" || address ? "hex" : type);
  }

  /**
   * An operand's value for a lane; null for a constant, which has no value of its own.
   * @param {State} state @param {Operand} operand @param {number} lane @param {boolean} after
   */
  function valueOf(state, operand, lane, after) {
    const used = operand.registers, automatic = view.form === "auto";
    /** @param {number} register */
    const words = (register) => states.words(state, register, lane, after);
    if (!used.length) return null;
    if (used.length === 2 && (automatic || view.form === "hex")) {
      const form = automatic && (operand.type === "f64" || operand.type === "i64") ? operand.type : "hex";
      return wide(words(used[0])[0], words(used[1])[0], form);
    }
    if (used.length === 1) return show(state, words(used[0]), used[0], after);
    const each = used.slice(0, 4).map((r) => show(state, words(r), r, after));
    return `(${each.join(", ")}${used.length > 4 ? ", …" : ""})`;
  }

  /** An address in words: "x[3]". @param {string} space @param {string} text in hex @param {number} bytes of an access */
  function place(space, text, bytes) {
    const address = BigInt(`0x${text}`);
    if (space === "lds") return `LDS byte ${Number(address)}`;
    if (space === "scratch") return `scratch byte ${Number(address)}`;
    const range = memory.find((each) => address >= each.address && address < each.address + each.bytes);
    if (!range) return `0x${text}`;
    const offset = Number(address - range.address);
    if (/^(kernel arguments|device memory)$/.test(range.name)) return `${range.name} + ${offset}`;
    return offset % bytes ? `${range.name} + ${offset} bytes` : `${range.name}[${offset / bytes}]`;
  }

  /**
   * What the k-th lane of an access reads or writes.
   * @param {State} state @param {import("./stepper_states.js").Access} access @param {number} k
   * @param {number | null} register that holds it
   */
  function dataOf(state, access, k, register) {
    const count = Math.ceil(access.bytes / 4), words = access.values.slice(k * count, k * count + count);
    const kind = view.form !== "auto" ? view.form : register === null ? "bits" : typeOf(state, register, access.action === "read");
    if (count === 2 && /64$/.test(kind)) return wide(words[0], words[1], kind);
    const each = words.slice(0, 4).map((bits) => word(bits, /64$|b1/.test(kind) ? "hex" : kind));
    return each.length > 1 ? `(${each.join(", ")}${count > 4 ? ", …" : ""})` : each[0];
  }

  /** The register that a memory instruction loads into or stores from. @param {Instruction} item @param {boolean} reads */
  function dataRegister(item, reads) {
    const used = item.operands.filter((o) => o.registers.length);
    const into = used.find((o) => o.written);
    if (reads) return into ? into.registers[0] : null;
    const source = used.findLast((o) => !o.written && o.registers[0] < vectors);
    return source ? source.registers[0] : into ? into.registers[0] : null;
  }

  /** What LDS holds: the type of the first registers that are stored there. */
  function ldsType() {
    for (const [k, item] of instructions.entries()) {
      if (item.kind !== "memory" || !item.text.startsWith("ds_")) continue;
      const register = dataRegister(item, /^ds_(read|load)/.test(item.text));
      const type = register === null ? "bits" : storedAs(k, register);
      if (type !== "bits") return /64$|b1/.test(type) ? "bits" : type;
    }
    return "bits";
  }

  return { isMask, show, valueOf, place, dataOf, dataRegister, ldsType: ldsType() };
}

/** @typedef {ReturnType<typeof readingOf>} Reading */
