// What happens at a step, in words: for the lane that the reader looks at, or for the whole wave.
import { ranges } from "./stepper_values.js";

/**
 * @param {import("./stepper_wave.js").Wave} wave @param {import("./stepper_states.js").States} states
 * @param {import("./stepper_reading.js").Reading} reading @param {import("./stepper_flights.js").Flights} flights
 * @param {{step: number, lane: number}} view
 */
export function eventsOf(wave, states, reading, flights, view) {
  const { executed, instructions, registers, vectors, size, count, active, fault } = wave;
  /** @typedef {import("./stepper_states.js").State} State @typedef {import("./stepper_wave.js").Instruction} Instruction
   *  @typedef {import("./stepper_wave.js").Operand} Operand */

  /** @param {Instruction} item */
  const isVectorial = (item) => ["vector", "cross-lane", "matrix"].includes(item.kind) ||
    (item.kind === "memory" && item.operands.some((o) => o.registers.some((r) => r < vectors)));

  /** @param {Operand} operand */
  const holdsExec = (operand) => operand.text === "exec" || operand.registers.some((r) => registers[r] === "exec");

  /** "v3 becomes 4 (was 3)". @param {State} state @param {Operand} operand @param {boolean} vectorial */
  function becomes(state, operand, vectorial) {
    if (operand.type === "b1" && vectorial) {
      const bits = operand.registers.flatMap((r) => states.words(state, r, view.lane, true));
      const set = (bits[view.lane >> 5] >>> (view.lane & 31)) & 1;
      return `${operand.text} gets ${set ? "1 (true)" : "0 (false)"} for this lane`;
    }
    const was = reading.valueOf(state, operand, view.lane, false), now = reading.valueOf(state, operand, view.lane, true);
    return was === now ? `${operand.text} stays ${now}` : `${operand.text} becomes ${now} (was ${was})`;
  }

  /** @param {State} state @param {Instruction} item */
  function accessed(state, item) {
    const said = [];
    for (const access of state.accesses) {
      const k = access.lanes.length ? access.lanes.indexOf(view.lane) : 0;
      if (k < 0) continue;
      const verb = { read: "reads", write: "writes", atomic: "changes" }[access.action];
      const value = reading.dataOf(state, access, k, reading.dataRegister(item, access.action === "read"));
      const who = access.lanes.length ? `Lane ${view.lane} of ${size}` : "The whole wave";
      const where = reading.place(access.space, access.addresses[k], access.bytes);
      said.push(`${who} ${verb} ${where}: ${access.action === "atomic" ? `now ${value}` : value}.`);
    }
    return said;
  }

  /** @param {Instruction} item */
  function branched(item) {
    const { step } = view;
    if (step + 1 >= count) return [];
    const next = executed[step + 1], line = instructions[next].line;
    const jumped = item.target >= 0 && next === item.target && next !== executed[step] + 1;
    const where = line ? `, line ${line}` : "";
    return [jumped ? `It jumps, to instruction ${next}${where}.` : `It does not jump; instruction ${next}${where} is next.`];
  }

  /** @param {State} state @param {Instruction} item @param {boolean} last @param {boolean} vectorial */
  function done(state, item, last, vectorial) {
    const written = item.operands.filter((o) => !last && o.written && o.registers.length && !holdsExec(o));
    const changes = written.map((operand) => becomes(state, operand, vectorial)).join("; ");
    if (state.accesses.length) return [...accessed(state, item), ...(changes ? [`${changes}.`] : [])];
    if (item.kind === "cbranch" || item.kind === "branch") return branched(item);
    if (wave.isBarrier[executed[view.step]]) {
      return ["The wave waits here until all waves of its workgroup have come this far."];
    }
    const reads = item.operands.filter((o) => !o.written && o.registers.length);
    const names = [...new Set(reads.map((o) => `${o.text} = ${reading.valueOf(state, o, view.lane, false)}`))].join(", ");
    if (!names && !changes) return [];
    const who = vectorial ? `Lane ${view.lane} of ${size}` : "The whole wave";
    return [`${who}: ${names}${names && changes ? " → " : ""}${changes}.`];
  }

  /** Sentences on this step; without a state those that need none. @param {State | null} state @returns {string[]} */
  return (state) => {
    const { step, lane } = view, item = wave.at(step), said = [];
    const last = fault !== null && count === wave.all && step === count - 1;
    const vectorial = isVectorial(item);
    if (vectorial && !wave.isActive(step, lane) && item.kind !== "matrix") {
      said.push(`Lane ${lane} is not active: this instruction changes nothing in it.`);
    } else if (state) said.push(...done(state, item, last, vectorial));
    said.push(...flights.told(step));
    if (wave.divergences.includes(step + 1)) {
      const next = active[step + 1];
      const which = next && next < size ? `: ${ranges((l) => wave.isActive(step + 1, l), size)}` : "";
      said.push(`From here on ${next} of ${size} lanes are active${which}.`);
    }
    if (last) said.push(`✖ ${fault.words}`);
    return said;
  };
}
