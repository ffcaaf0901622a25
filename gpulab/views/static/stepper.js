// The wave stepper. Python packs what each step executes and EXEC at it, and answers for the state in windows of steps
// (views/stepper.py); here the state at one step is put together from its window and drawn.

import { ask, button, choice, el, frame, number, roving, svg, tooltip, uid } from "./common.js";

const KEPT = 24, ROW = 20, FIRST_ROWS = 12, LDS_WORDS = 64, LDS_ACROSS = 8;
const FORMS = [["auto", "automatic"], ["hex", "hex"], ["int", "int"], ["uint", "unsigned"], ["float", "float"]];

async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Bytes of one place stand together: n numbers of `size` bytes as parts of 32 bits, [low words, high words]. */
function planes(bytes, size) {
  const count = bytes.length / size, parts = [];
  for (let word = 0; word < size / 4; word++) {
    const part = new Uint32Array(count), at = 4 * word * count;
    for (let k = 0; k < count; k++) {
      part[k] = (bytes[at + k] | (bytes[at + count + k] << 8) | (bytes[at + 2 * count + k] << 16) | (bytes[at + 3 * count + k] << 24)) >>> 0;
    }
    parts.push(part);
  }
  return parts;
}

function ones(word) {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Set a property of a node, if it is another one. */
function put(node, name, value) {
  if (node[name] !== value) node[name] = value;
}

const scratch = new DataView(new ArrayBuffer(8));
function float(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return Object.is(value, -0) ? "-0.0" : Number.isInteger(value) && Math.abs(value) < 1e7 ? value.toFixed(1) : String(Number(value.toPrecision(6)));
}
function half(bits, type) {
  if (type === "bf16") { scratch.setUint32(0, (bits << 16) >>> 0); return scratch.getFloat32(0); }
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, rest = bits & 1023;
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + rest) : 2 ** -24 * rest);
}

/** One 32-bit word in a form: "f32", "i32", "u32", "hex" ... */
function word(bits, form) {
  scratch.setUint32(0, bits);
  if (form === "float" || form === "f32") return float(scratch.getFloat32(0));
  if (form === "f16" || form === "bf16") return float(half(bits & 0xffff, form));
  if (form === "bits") {  // nobody says what they are: a float if that is a number of usual size, and the integer is not
    const value = Math.abs(scratch.getFloat32(0)), whole = Math.abs(bits | 0);
    return whole > 0x2000000 && value > 1e-9 && value < 1e12 ? float(scratch.getFloat32(0)) : String(bits | 0);
  }
  if (form === "int" || form === "i32") return String(bits | 0);
  if (form === "i16") return String((bits << 16) >> 16);
  if (form === "u16") return String(bits & 0xffff);
  if (form === "uint" || form === "u32") return String(bits >>> 0);
  return `0x${(bits >>> 0).toString(16)}`;
}

/** Two words as one number. */
function wide(low, high, form) {
  scratch.setUint32(0, high);
  scratch.setUint32(4, low);
  if (form === "f64") return float(scratch.getFloat64(0));
  if (form === "i64" || form === "int") return String(scratch.getBigInt64(0));
  if (form === "uint") return String(scratch.getBigUint64(0));
  return `0x${scratch.getBigUint64(0).toString(16)}`;
}

/** "0–3, 8": which lanes of a mask of words are set. */
function ranges(active, size) {
  const parts = [];
  for (let lane = 0; lane < size; lane++) {
    if (!active(lane)) continue;
    let end = lane;
    while (end + 1 < size && active(end + 1)) end++;
    parts.push(end > lane ? `${lane}–${end}` : String(lane));
    lane = end;
  }
  return parts.length > 6 ? `${parts.slice(0, 6).join(", ")} …` : parts.join(", ");
}

/** A list of many lines of which only those in view are in the page. line(k) gives {nodes, classes, tip, label}. */
function list(label, count, { line, onpick, onpoint }, tip) {
  const inner = el("div", { class: "gpulab-list-inner", style: { height: `${count() * ROW}px` } });
  const box = el("div", { class: "gpulab-list gpulab-code", role: "listbox", tabindex: 0, "aria-label": label }, inner);
  let cursor = 0, shown = "", top = 0, high = 0;
  const made = new Map();  // rows in the page, by number
  function build(k) {
    const { nodes, words } = line(k);
    const row = el("div", {
      role: "option", id: `${own}-${k}`, style: { top: `${k * ROW}px` },
      onclick: () => { cursor = k; onpick(k); }, onmouseenter: () => onpoint(k), onmouseleave: () => onpoint(null),
    }, nodes);
    if (words) tip.attach(row, words);
    row.removeAttribute("aria-describedby");
    inner.append(row);
    return row;
  }
  function draw(force) {
    high = high || box.clientHeight;
    const first = Math.max(0, Math.floor(top / ROW) - 2), last = Math.min(count(), first + Math.ceil((high || 280) / ROW) + 5);
    const key = `${first} ${last} ${cursor}`;
    if (!force && key === shown) return;
    shown = key;
    for (const [k, row] of made) if ((k < first || k >= last) && k !== cursor) { row.remove(); made.delete(k); }
    for (const k of [...Array.from({ length: last - first }, (_, n) => first + n), cursor]) {
      if (k >= count()) continue;
      const { classes, current } = line(k);
      let row = made.get(k);
      if (!row) made.set(k, row = build(k));
      row.className = `gpulab-line ${classes}${k === cursor ? " gpulab-cursor" : ""}`;
      row.setAttribute("aria-selected", current ? "true" : "false");
    }
    box.setAttribute("aria-activedescendant", `${own}-${cursor}`);
  }
  const own = uid("line");
  box.addEventListener("scroll", () => { top = box.scrollTop; tip.hide(); draw(false); });
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(high / ROW) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (by) cursor = Math.max(0, Math.min(count() - 1, cursor + by));
    else if (event.key === "Enter" || event.key === " ") onpick(cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (by) { reveal(cursor); onpoint(cursor); }
  });
  function reveal(k) {
    high = high || box.clientHeight;
    if (k * ROW < top || (k + 1) * ROW > top + high) {
      top = Math.max(0, Math.min(count() * ROW - high, k * ROW - high / 2 + ROW));
      box.scrollTop = top;
    }
    draw(true);
  }
  return { box, draw, reveal, resized() { high = box.clientHeight; draw(true); }, focused(k) { if (document.activeElement !== box) cursor = k; } };
}

export default {
  async render({ model, el: host }) {
    const data = model.get("data");
    const { title, sentence, waveSize: size, count, ldsBytes, fault } = data;
    const parts = frame(host, {
      title, sentence,
      keys: [
        ["← →", "one step back, one step forward (on the lanes: from lane to lane)"], ["Home End", "first and last step"],
        ["N Shift+N", "next, previous source line"], ["D Shift+D", "next, previous divergence: a step at which the active lanes change"],
        ["B Shift+B", "next, previous barrier"], ["F", "the lane's fault, if the kernel was stopped"],
        ["↑ ↓ Enter", "in the source or the instructions: choose a line, run to it"],
        ["Tab", "to the next part"],
      ],
    });
    parts.root.classList.add("gpulab-stepper");
    if (!count) { parts.body.append(el("p", { text: "No instruction was executed." })); return; }
    const texts = JSON.parse(new TextDecoder().decode(await inflate(data.texts)));
    const [executed] = planes(await inflate(data.instructions), 4);
    const masks = planes(await inflate(data.exec), size / 8);
    const { instructions, meanings, operands, files, registers, vectors, memory } = texts;
    const active = (step, lane) => ((masks[lane >> 5][step] >>> (lane & 31)) & 1) === 1;
    const population = (step) => masks.reduce((sum, part) => sum + ones(part[step]), 0);
    const isBarrier = instructions.map((item) => item[4] === "barrier" || item[0].startsWith("s_barrier"));
    const changes = [], stops = [], visits = new Uint32Array(instructions.length);
    for (let k = 0; k < count; k++) {
      visits[executed[k]]++;
      if (isBarrier[executed[k]]) stops.push(k);
      if (k && masks.some((part) => part[k] !== part[k - 1])) changes.push(k);
    }
    const counts = Uint8Array.from({ length: count }, (_, k) => population(k));
    const numbers = new Map(registers.map((name, k) => [name, k]));
    const bases = memory.map(([name, address, bytes]) => [name, BigInt(`0x${address}`), BigInt(bytes)]);

    let step = 0, lane = fault && fault.lane !== null ? fault.lane : 0, form = "auto", watched = null, all = false, page = 0, pointed = null, recent = null;
    const tip = tooltip(parts.root);

    // -- the state at a step ---------------------------------------------------------------------------------

    const windows = [];  // the latest last
    const asked = new Map();
    function decode(reply, buffers) {
      const words = (raw) => new Uint32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
      const lds = new Uint8Array(buffers[2].buffer.slice(buffers[2].byteOffset, buffers[2].byteOffset + buffers[2].byteLength));
      const moved = words(buffers[1]), at = [0];
      for (const row of reply.steps) at.push(at[at.length - 1] + row[0].length * size);
      return { ...reply, state: words(buffers[0]), moved, at, lds, cursor: null };
    }
    function keep(window) {
      windows.push(window);
      if (windows.length > KEPT) windows.shift();
    }
    const has = (k) => windows.find((w) => k >= w.first && k < w.first + w.count);
    function load(first) {
      if (!asked.has(first)) {
        asked.set(first, ask(model, { window: first }).then((reply) => keep(decode(reply, reply.buffers))).finally(() => asked.delete(first)));
      }
      return asked.get(first);
    }
    function around(k) {  // what is likely to be wanted next
      const here = has(k);
      if (!here) return;
      const next = here.first + here.count, before = Math.max(0, here.first - 200);
      if (next < count && k > next - 100 && !has(next)) load(next).catch(() => {});
      if (here.first > 0 && k < here.first + 50 && !has(here.first - 1)) load(before).catch(() => {});
    }
    /** Registers and LDS before step k, and what it changes. */
    function stateAt(k) {
      const w = has(k);
      const to = k - w.first;
      if (!w.cursor || w.cursor.to > to) w.cursor = { to: 0, vectors: w.state.slice(), scalars: [...w.scalars], last: [...w.last], lds: w.lds.slice() };
      const c = w.cursor;
      for (; c.to < to; c.to++) {
        const [moved, set, , pieces] = w.steps[c.to];
        moved.forEach((register, n) => {
          c.vectors.set(w.moved.subarray(w.at[c.to] + n * size, w.at[c.to] + (n + 1) * size), register * size);
          c.last[register] = w.first + c.to;
        });
        for (const [register, value] of set) { c.scalars[register - vectors] = value; c.last[register] = w.first + c.to; }
        for (const [offset, hex] of pieces) for (let n = 0; n < hex.length / 2; n++) c.lds[offset + n] = parseInt(hex.slice(2 * n, 2 * n + 2), 16);
      }
      const [moved, set, accesses, pieces] = w.steps[to];
      const own = new Map(moved.map((register, n) => [register, w.moved.subarray(w.at[to] + n * size, w.at[to] + (n + 1) * size)]));
      for (const [register, value] of set) own.set(register, value);
      const lds = c.lds.slice(), written = new Set();
      for (const [offset, hex] of pieces) {
        for (let n = 0; n < hex.length / 2; n++) {
          lds[offset + n] = parseInt(hex.slice(2 * n, 2 * n + 2), 16);
          written.add((offset + n) >> 2);
        }
      }
      return { before: c, own, accesses, lds, written };
    }
    /** The words of a register for a lane, before or after the step: [low, high]. */
    function words(state, register, of, after) {
      if (register < vectors) {
        const own = after ? state.own.get(register) : undefined;
        return [own ? own[of] : state.before.vectors[register * size + of]];
      }
      const value = after && state.own.has(register) ? state.own.get(register) : state.before.scalars[register - vectors];
      if (typeof value !== "string") return [value];
      const bits = BigInt(`0x${value}`);
      return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
    }
    const isMask = (name) => name === "vcc" || name === "exec";

    // -- how a register is shown -----------------------------------------------------------------------------

    const plain = /^(v_(dual_)?mov|v_cndmask|s_mov|v_readfirstlane|v_readlane|v_accvgpr|v_writelane|ds_bpermute|ds_permute)/;
    /** What a register's bits are, before or after this step: as the instruction says that uses it or wrote it last. Of
     *  mere bits (moves, loads) the next one that reads them says it. */
    function typeOf(state, register, later) {
      const here = instructions[executed[step]][5].map((o) => operands[o]).filter((o) => o[1].includes(register));
      const own = later && here.some((o) => o[3]);
      const read = own ? null : here.find((o) => !o[3] && o[2] !== "u32");
      if (read) return read[2];
      const at = own ? executed[step] : state.before.last[register] >= 0 ? executed[state.before.last[register]] : -1;
      const wrote = at < 0 ? null : instructions[at][5].map((o) => operands[o]).find((o) => o[3] && o[1].includes(register));
      if (wrote && (wrote[2] !== "u32" || !(plain.test(instructions[at][0]) || instructions[at][4] === "memory"))) return wrote[2];
      return readAs(at < 0 ? executed[step] : at, register);
    }
    function readAs(at, register) {
      for (let k = at + 1; k < Math.min(instructions.length, at + 60); k++) {
        const used = instructions[k][5].map((o) => operands[o]).filter((o) => o[1].includes(register));
        const typed = used.find((o) => !o[3] && (o[2] !== "u32" || !(plain.test(instructions[k][0]) || instructions[k][4] === "memory")));
        if (typed) return typed[2];
        if (used.some((o) => o[3])) break;
      }
      return "bits";
    }
    function show(state, bits, register, later) {
      const name = registers[register];
      if (isMask(name)) return size === 64 ? wide(bits[0], bits[1] ?? 0, "hex") : word(bits[0], "hex");
      if (form !== "auto") return word(bits[0], form);
      const type = typeOf(state, register, later);
      const address = register >= vectors && type === "u32" && bits[0] > 0xffffff;
      return word(bits[0], /64$/.test(type) || type === "b1" || address ? "hex" : type);
    }
    /** An operand's value for a lane: "v[2:3] = 0x40". Constants have no value of their own. */
    function valueOf(state, operand, of, after) {
      const [, used, type] = operand;
      if (!used.length) return null;
      if (used.length === 2 && (form === "auto" || form === "hex")) return wide(words(state, used[0], of, after)[0], words(state, used[1], of, after)[0], type === "f64" && form === "auto" ? "f64" : type === "i64" && form === "auto" ? "i64" : "hex");
      if (used.length > 1) return `(${used.slice(0, 4).map((r) => show(state, words(state, r, of, after), r, after)).join(", ")}${used.length > 4 ? ", …" : ""})`;
      return show(state, words(state, used[0], of, after), used[0], after);
    }
    function place(space, text, bytes) {
      const address = BigInt(`0x${text}`);
      if (space === "lds") return `LDS byte ${Number(address)}`;
      if (space === "scratch") return `scratch byte ${Number(address)}`;
      const range = bases.find(([, base, length]) => address >= base && address < base + length);
      if (!range) return `0x${text}`;
      const offset = Number(address - range[1]);
      if (/^(kernel arguments|device memory)$/.test(range[0])) return `${range[0]} + ${offset}`;
      return offset % bytes ? `${range[0]} + ${offset} bytes` : `${range[0]}[${offset / bytes}]`;
    }
    function data32(state, list_, at, bytes, register, later) {
      const n = Math.ceil(bytes / 4), part = list_.slice(at * n, at * n + n);
      const kind = form !== "auto" ? form : register === null ? "bits" : typeOf(state, register, later);
      if (n === 2 && /64$/.test(kind)) return wide(part[0], part[1], kind);
      const each = part.slice(0, 4).map((bits) => word(bits, /64$|b1/.test(kind) ? "hex" : kind));
      return each.length > 1 ? `(${each.join(", ")}${n > 4 ? ", …" : ""})` : each[0];
    }
    /** The register that a memory instruction loads into or stores from: what its data are. */
    function dataRegister(item, reads) {
      const vectorial = item[5].map((o) => operands[o]).filter((o) => o[1].length);
      const into = vectorial.find((o) => o[3]);
      if (reads) return into ? into[1][0] : null;
      const sources = vectorial.filter((o) => !o[3] && o[1][0] < vectors);
      return sources.length ? sources[sources.length - 1][1][0] : into ? into[1][0] : null;
    }

    // -- what happens at this step, in words -----------------------------------------------------------------

    function happens(state) {
      const item = instructions[executed[step]], kind = item[4], said = [];
      const used = item[5].map((o) => operands[o]);
      const last = fault && data.count === data.all && step === count - 1;
      const vectorial = kind === "vector" || kind === "cross-lane" || kind === "matrix" || (kind === "memory" && used.some((o) => o[1].some((r) => r < vectors)));
      const on = active(step, lane);
      const of = vectorial ? `Lane ${lane} of ${size}` : "The whole wave";
      if (vectorial && !on && kind !== "matrix") said.push(`Lane ${lane} is not active: it does nothing here.`);
      else if (state) {
        const becomes = [];
        for (const operand of used.filter((o) => !last && o[3] && o[1].length)) {
          if (operand[0] === "exec" || operand[1].some((r) => registers[r] === "exec")) continue;
          const was = valueOf(state, operand, lane, false), now = valueOf(state, operand, lane, true);
          const mask = operand[2] === "b1" && vectorial;
          if (mask) {
            const bits = operand[1].flatMap((r) => words(state, r, lane, true));
            becomes.push(`${operand[0]} gets ${(bits[lane >> 5] >>> (lane & 31)) & 1 ? "1 (true)" : "0 (false)"} for this lane`);
          } else becomes.push(was === now ? `${operand[0]} stays ${now}` : `${operand[0]} becomes ${now} (was ${was})`);
        }
        if (state.accesses.length) {
          for (const [space, action, bytes, which, addresses, values] of state.accesses) {
            const at = which.length ? which.indexOf(lane) : 0;
            if (at < 0) continue;
            const verb = { read: "reads", write: "writes", atomic: "changes" }[action];
            const value = data32(state, values, at, bytes, dataRegister(item, action === "read"), action === "read");
            said.push(`${which.length ? `Lane ${lane} of ${size}` : "The whole wave"} ${verb} ${place(space, addresses[at], bytes)}: ${action === "atomic" ? `now ${value}` : value}.`);
          }
          if (becomes.length) said.push(`${becomes.join("; ")}.`);
        } else if (kind === "cbranch" || kind === "branch") {
          const next = step + 1 < count ? executed[step + 1] : null;
          const jumped = next !== null && item[7] >= 0 && next === item[7] && next !== executed[step] + 1;
          const where = next !== null && instructions[next][2] ? `, line ${instructions[next][2]}` : "";
          if (next !== null) said.push(jumped ? `It jumps, to instruction ${next}${where}.` : `It does not jump; instruction ${next}${where} is next.`);
        } else if (kind === "barrier" || isBarrier[executed[step]]) said.push("The wave waits here until all waves of its workgroup have come this far.");
        else {
          const reads = used.filter((o) => !o[3] && o[1].length).map((o) => `${o[0]} = ${valueOf(state, o, lane, false)}`);
          const names = [...new Set(reads)].join(", ");
          if (names || becomes.length) said.push(`${of}: ${names}${names && becomes.length ? " → " : ""}${becomes.join("; ")}.`);
        }
      }
      if (step + 1 < count && counts[step + 1] !== counts[step] || (step + 1 < count && masks.some((p) => p[step] !== p[step + 1]))) {
        const which = ranges((l) => active(step + 1, l), size);
        said.push(`From here on ${counts[step + 1]} of ${size} lanes are active${counts[step + 1] && counts[step + 1] < size ? `: ${which}` : ""}.`);
      }
      if (last) said.push(`✖ ${fault.words}`);
      return said;
    }

    // -- the parts of the picture ----------------------------------------------------------------------------

    const go = (to) => {
      const next = Math.max(0, Math.min(count - 1, to));
      if (next === step && has(step)) return;
      step = next;
      draw(true);
    };
    const after = (found, from) => found.find((k) => k > from);
    const before = (found, from) => found.findLast((k) => k < from);
    const jump = (found, back, what) => {
      const to = back ? before(found, step) : after(found, step);
      if (to === undefined) parts.say(`No ${what} ${back ? "before" : "after"} this step.`);
      else go(to);
    };
    const sameLine = (a, b) => instructions[a][1] === instructions[b][1] && instructions[a][2] === instructions[b][2];
    function nextLine(back) {
      let k = step;
      const by = back ? -1 : 1;
      while (k + by >= 0 && k + by < count && sameLine(executed[k], executed[step])) k += by;
      if (back) while (k > 0 && sameLine(executed[k - 1], executed[k])) k--;
      go(k);
    }
    /** Run to the next step that fits, or else to the first one at all. */
    function runTo(fits, what) {
      for (let k = 1; k <= count; k++) {
        const at = (step + k) % count;
        if (!fits(executed[at])) continue;
        parts.say(at <= step ? `${what}: from the start again, step ${at + 1}.` : `${what}: step ${at + 1}.`);
        go(at);
        return;
      }
      parts.say(`${what}: this wave never comes here.`);
      note.textContent = `${what}: this wave never comes here.`;
    }
    const toFault = () => {
      if (!fault) return;
      if (fault.lane !== null) lane = fault.lane;
      step = count - 1;
      draw(true);
    };

    const controls = [
      button("|◀", "To the first step (Home)", () => go(0)), button("◀ Back", "One step back (←)", () => go(step - 1)),
      button("Step ▶", "One step forward (→)", () => go(step + 1)), button("▶|", "To the last step (End)", () => go(count - 1)),
      button("Next line", "To the next source line (N)", () => nextLine(false)),
      button("Next divergence", "To the next step at which the active lanes change (D)", () => jump(changes, false, "divergence")),
      button("Next barrier", "To the next barrier (B)", () => jump(stops, false, "barrier")),
      fault ? button("✖ Fault", "To the step and the lane at which the kernel was stopped (F)", toFault, { class: "gpulab-button gpulab-fault" }) : null,
    ];
    parts.controls.append(...controls.filter(Boolean));

    const slide = el("input", {
      type: "range", min: 1, max: count, step: 1, value: 1, class: "gpulab-time-slider", "aria-label": "Step", disabled: count === 1,
      oninput: (event) => go(Number(event.target.value) - 1),
    });
    const overview = el("div", { class: "gpulab-overview" });
    const note = el("p", { class: "gpulab-note", role: "note" });
    const now = el("div", { class: "gpulab-now" });

    // Source and instructions.
    const sourceRows = [];
    files.forEach((file, f) => {
      if (files.length > 1) sourceRows.push({ file: f, head: file.name });
      for (const [line, text] of file.lines) sourceRows.push(line ? { file: f, line, text } : { file: f, gap: true });
    });
    const rowOf = new Map(sourceRows.map((row, k) => [`${row.file}:${row.line}`, k]));
    const lineVisits = new Map();
    instructions.forEach((item, k) => lineVisits.set(`${item[1]}:${item[2]}`, (lineVisits.get(`${item[1]}:${item[2]}`) ?? 0) + visits[k]));
    const codeRows = [];
    const codeOf = [];
    instructions.forEach((item, k) => {
      for (const label of item[6] ? item[6].split(" ") : []) codeRows.push({ label });
      codeOf[k] = codeRows.length;
      codeRows.push({ at: k });
    });
    const same = (file, line) => {
      const at = pointed ?? { file: instructions[executed[step]][1], line: instructions[executed[step]][2] };
      return at.line > 0 && at.file === file && at.line === line;
    };
    function hover(k) {
      const item = instructions[k], state = has(step) ? stateAt(step) : null, said = [meanings[item[3]] || "(no description)"];
      const used = item[5].map((o) => operands[o]).filter((o) => o[1].length);
      if (state) {
        const seen = [...new Set(used.map((o) => `${o[0]} = ${valueOf(state, o, lane, k !== executed[step])}`))];
        if (seen.length) said.push(`Now, in lane ${lane}: ${seen.join(", ")}`);
      }
      said.push(visits[k] ? `Executed ${number(visits[k])} time${visits[k] === 1 ? "" : "s"} by this wave.` : "Never executed by this wave.");
      return said.join("\n");
    }
    const code = list("Instructions of the kernel; Enter runs to one", () => codeRows.length, {
      line(k) {
        const row = codeRows[k];
        if (row.label) return { nodes: [el("span", { class: "gpulab-label", text: `${row.label}:` })], classes: "" };
        const item = instructions[row.at], current = row.at === executed[step];
        return {
          nodes: [
            el("span", { class: "gpulab-pointer" }), el("span", { class: "gpulab-line-number", text: String(row.at) }),
            el("span", { text: item[0] }),
          ],
          classes: `${current ? "gpulab-current" : same(item[1], item[2]) ? "gpulab-same" : ""}${visits[row.at] ? "" : " gpulab-unvisited"}`,
          words: () => hover(row.at), current,
        };
      },
      onpick(k) { const at = codeRows[k].at; if (at !== undefined) runTo((e) => e === at, `Instruction ${at}`); },
      onpoint(k) {
        const at = k === null ? undefined : codeRows[k].at;
        point(at === undefined || !instructions[at][2] ? null : { file: instructions[at][1], line: instructions[at][2] }, "code");
      },
    }, tip);
    const source = list("Source lines; Enter runs to one", () => sourceRows.length, {
      line(k) {
        const row = sourceRows[k];
        if (row.head !== undefined) return { nodes: [el("span", { class: "gpulab-label", text: row.head })], classes: "" };
        if (row.gap) return { nodes: [el("span", { class: "gpulab-muted", text: "    ⋮" })], classes: "" };
        const item = instructions[executed[step]], current = item[1] === row.file && item[2] === row.line;
        const times = lineVisits.get(`${row.file}:${row.line}`);
        return {
          nodes: [
            el("span", { class: "gpulab-pointer" }), el("span", { class: "gpulab-line-number", text: String(row.line) }),
            el("span", { text: row.text }),
          ],
          classes: `${current ? "gpulab-current" : same(row.file, row.line) ? "gpulab-same" : ""}${times ? "" : " gpulab-unvisited"}`,
          words: times === undefined ? null : () => `${number(times)} step${times === 1 ? "" : "s"} of this wave on this line. Click: run to it.`,
          current,
        };
      },
      onpick(k) {
        const row = sourceRows[k];
        if (row.line) runTo((e) => instructions[e][1] === row.file && instructions[e][2] === row.line && (e !== executed[step]), `Line ${row.line}`);
      },
      onpoint(k) { const row = k === null ? null : sourceRows[k]; point(row?.line ? { file: row.file, line: row.line } : null, "source"); },
    }, tip);
    function point(at, from) {
      pointed = at;
      for (const row of code.box.querySelectorAll(".gpulab-line")) mark(row, codeRows, (r) => r.at !== undefined && same(instructions[r.at][1], instructions[r.at][2]));
      for (const row of source.box.querySelectorAll(".gpulab-line")) mark(row, sourceRows, (r) => r.line && same(r.file, r.line));
      if (at && document.activeElement === (from === "code" ? code.box : source.box)) {
        const first = from === "code" ? rowOf.get(`${at.file}:${at.line}`) : codeOf[instructions.findIndex((i) => i[1] === at.file && i[2] === at.line)];
        if (first !== undefined) (from === "code" ? source : code).reveal(first);
      }
    }
    function mark(node, rows, fits) {
      const row = rows[Number(node.id.slice(node.id.lastIndexOf("-") + 1))];
      node.classList.toggle("gpulab-same", Boolean(fits(row)) && !node.classList.contains("gpulab-current"));
    }

    // Lanes.
    const cells = Array.from({ length: size }, (_, l) => el("button", {
      type: "button", class: "gpulab-lane", "data-lane": l, onclick: () => { lane = l; draw(false); },
    }, el("span", { class: "gpulab-lane-number", text: String(l) }), el("span", { class: "gpulab-lane-value" })));
    const strip = el("div", { class: "gpulab-lanes", role: "group", "aria-label": "Lanes of the wave" }, cells);
    const across = () => Math.max(1, getComputedStyle(strip).gridTemplateColumns.split(" ").length);
    roving(strip, cells, { get columns() { return across(); } });
    const lanesHead = el("h4"), which = el("select", { "aria-label": "Register shown in the lanes", onchange: (e) => { watched = e.target.value === "auto" ? null : Number(e.target.value); draw(false); } },
      el("option", { value: "auto", text: "of this step" }), registers.slice(0, vectors).map((name, k) => el("option", { value: String(k), text: name })));

    // Registers.
    const wavePart = el("dl", { class: "gpulab-wave" });
    const registerHead = el("h4"), registerBody = el("tbody");
    const more = el("button", { type: "button", class: "gpulab-button", onclick: () => { all = !all; draw(false); } });
    // Memory.
    const touched = el("div", { class: "gpulab-touched", tabindex: 0, role: "region", "aria-label": "Memory that this step touches" });
    const ldsHead = el("h4"), ldsGrid = el("div", { class: "gpulab-lds" });
    const ldsControls = el("div", { class: "gpulab-controls" },
      button("◀", "Lower LDS addresses", () => { page = Math.max(0, page - 1); draw(false); }),
      button("▶", "Higher LDS addresses", () => { page = Math.min(Math.ceil(ldsBytes / 4 / LDS_WORDS) - 1, page + 1); draw(false); }));

    const hiddenNote = [
      data.hidden ? `${number(data.hidden)} instructions that were not executed are left out.` : "",
      data.count < data.all ? `Shown are the first ${number(data.count)} of ${number(data.all)} steps.` : "",
    ].filter(Boolean).join(" ");
    parts.body.append(
      overview, now, note,
      el("div", { class: "gpulab-codes" },
        files.length ? el("div", {}, el("h4", { text: files.length === 1 ? `Source: ${files[0].name}` : "Source" }), source.box) : null,
        el("div", {}, el("h4", { text: `Instructions (${data.arch})` }), code.box)),
      el("p", { class: "gpulab-legend", text: `▶ and yellow: this step. Bar at the left: belongs to the same source line. Grey text: this wave never came here. Click a line: run to it. ${hiddenNote}` }),
      el("div", { class: "gpulab-lanes-head" }, lanesHead, el("label", { class: "gpulab-field" }, el("span", { text: "Value shown:" }), which),
        choice("Numbers:", FORMS, form, (value) => { form = value; draw(false); })),
      strip,
      el("p", { class: "gpulab-legend" }, el("span", { class: "gpulab-key gpulab-lane gpulab-on", text: "7" }), " active: executes this instruction   ",
        el("span", { class: "gpulab-key gpulab-lane", text: "7" }), " inactive: skips it (EXEC bit 0)   ", el("span", { text: "● changed by this step   ◆ the lane you look at: click another" })),
      el("div", { class: "gpulab-state" },
        el("div", {}, registerHead, wavePart,
          el("table", { class: "gpulab-table gpulab-registers" }, el("thead", {}, el("tr", {},
            ["use", "register", "before", "after", "last changed"].map((text) => el("th", { scope: "col", text })))), registerBody), more),
        el("div", {}, el("h4", { text: "Memory that this step touches" }), touched, ldsBytes ? [ldsHead, ldsControls, ldsGrid] : null)),
    );

    function drawOverview() {
      const width = Math.max(300, Math.min(parts.body.clientWidth || 820, 1400) - 2), high = 44, top = 12, left = 8;
      const x = (k) => left + (count > 1 ? (k / (count - 1)) * (width - 2 * left) : (width - 2 * left) / 2);
      const y = (lanes) => top + high - (lanes / size) * high;
      let path = "";
      const columns = Math.min(count, Math.floor(width));
      for (let c = 0; c < columns; c++) {
        const from = Math.floor((c * count) / columns), to = Math.max(from + 1, Math.floor(((c + 1) * count) / columns));
        let least = size;
        for (let k = from; k < to; k++) least = Math.min(least, counts[k]);
        path += `${path ? "H" : `M${x(0)} ${y(0)}V${y(least)}H`}${x(from)}V${y(least)}`;
      }
      path += `H${x(count - 1)}V${y(0)}Z`;
      const thin = (found) => {  // one mark for a pixel
        let last = -9;
        return found.filter((k) => { const at = x(k); if (at - last < 3) return false; last = at; return true; });
      };
      const here = svg("path", { class: "gpulab-here-line" });
      const picture = svg("svg", {
        viewBox: `0 0 ${width} ${top + high + 12}`, width, height: top + high + 12, role: "img",
        "aria-label": `Active lanes over the ${count} steps: ${changes.length} divergences, ${stops.length} barriers`,
        onclick: (event) => {
          const at = picture.getBoundingClientRect();
          go(Math.round((((event.clientX - at.left) / at.width) * width - left) / (width - 2 * left) * (count - 1)));
        },
      },
      svg("rect", { x: left, y: top, width: width - 2 * left, height: high, class: "gpulab-life-back" }),
      svg("path", { d: path, class: "gpulab-life" }),
      thin(changes).map((k) => svg("path", { d: `M${x(k)} ${top + high}v7`, class: "gpulab-mark-divergence" })),
      thin(stops).map((k) => svg("path", { d: `M${x(k)} ${top}v${high}M${x(k) - 5} ${top - 10}h10l-5 9z`, class: "gpulab-mark-barrier" })),
      fault ? svg("path", { d: `M${x(count - 1) - 6} 1l10 10m0 -10l-10 10`, class: "gpulab-mark-fault" }) : null, here);
      overview.replaceChildren(picture, slide, el("p", { class: "gpulab-legend", text:
        `Blue: active lanes, 0 to ${size}, from the first step to the last.   ▏below: divergence (active lanes change)${stops.length ? "   ▼ barrier" : ""}${fault ? "   ✖ fault" : ""}   │ this step` }));
      cursorTo = () => here.setAttribute("d", `M${x(step)} 2V${top + high + 9}`);
      cursorTo();
    }
    let cursorTo = () => {};

    function drawLanes(state, item) {
      const target = item[5].map((o) => operands[o]);
      const best = target.find((o) => o[3] && o[1][0] < vectors) ?? target.find((o) => !o[3] && o[1].length && o[1][0] < vectors);
      const register = watched ?? (best ? best[1][0] : recent);
      recent = register;
      const name = register === null ? "" : registers[register];
      lanesHead.textContent = `Lanes: ${counts[step]} of ${size} active${name ? `, ${name} after this step` : ""}`;
      for (let l = 0; l < size; l++) {
        const cell = cells[l], on = active(step, l);
        let value = "", changed = false;
        if (state && register !== null) {
          const now_ = words(state, register, l, true), was = words(state, register, l, false);
          value = show(state, now_, register, true);
          changed = now_[0] !== was[0];
        }
        const bad = fault && step === count - 1 && fault.lane === l;
        put(cell, "className", `gpulab-lane${on ? " gpulab-on" : ""}${l === lane ? " gpulab-chosen" : ""}`);
        cell.setAttribute("aria-pressed", l === lane ? "true" : "false");
        cell.setAttribute("aria-label", `Lane ${l}, ${on ? "active" : "inactive"}${value ? `, ${name} is ${value}` : ""}${changed ? ", changed" : ""}${bad ? ", stopped the kernel" : ""}`);
        put(cell.firstChild, "textContent", `${bad ? "✖" : ""}${l === lane ? "◆" : ""}${l}${changed ? "●" : ""}`);
        put(cell.lastChild, "textContent", value.replace(/^0x(....)(....)$/, "$1 $2"));
      }
    }

    function drawRegisters(state, item) {
      registerHead.textContent = `Registers, in lane ${lane}`;
      const at = executed[step];
      const fixed = [["PC", `instruction ${at} of ${instructions.length}`, false]];
      for (const name of ["exec", "vcc", "scc", "m0"]) {
        const register = numbers.get(name);
        if (register === undefined || !state) continue;
        const bits = words(state, register, 0, true);
        const lanesSet = isMask(name) ? ` (${bits.reduce((n, w) => n + ones(w ?? 0), 0)} lanes)` : "";
        fixed.push([name.toUpperCase(), `${isMask(name) ? show(state, bits, register, true) : word(bits[0], name === "scc" ? "u32" : "hex")}${lanesSet}`, state.own.has(register)]);
      }
      wavePart.replaceChildren(...fixed.map(([name, value, changed]) => el("div", { class: changed ? "gpulab-changed" : "" }, el("dt", { text: name }), el("dd", { text: `${value}${changed ? " ●" : ""}` }))));
      if (!state) { registerBody.replaceChildren(); return; }
      const used = new Map();
      for (const o of item[5].map((n) => operands[n])) for (const r of o[1]) used.set(r, (used.get(r) ?? 0) | (o[3] ? 2 : 1));
      for (const r of state.own.keys()) used.set(r, (used.get(r) ?? 0) | 2);
      const special = new Set(["exec", "vcc", "scc", "m0", "mode"]);
      const rest = registers.map((_, r) => r).filter((r) => !used.has(r) && !special.has(registers[r]));
      rest.sort((a, b) => state.before.last[b] - state.before.last[a] || a - b);
      const order = [...[...used.keys()].filter((r) => !special.has(registers[r])).sort((a, b) => (used.get(b) & 2) - (used.get(a) & 2) || a - b), ...rest];
      const shown = all ? order : order.slice(0, FIRST_ROWS);
      registerBody.replaceChildren(...shown.map((r) => {
        const role = used.get(r) ?? 0, changed = state.own.has(r) && (r >= vectors || words(state, r, lane, true)[0] !== words(state, r, lane, false)[0]);
        const was = show(state, words(state, r, lane, false), r, false), is = show(state, words(state, r, lane, true), r, true);
        const last = state.own.has(r) ? step : state.before.last[r];
        return el("tr", { class: `${role ? "gpulab-used" : ""}${changed ? " gpulab-changed" : ""}` },
          el("td", { text: [role & 1 ? "read" : "", role & 2 ? "written" : ""].filter(Boolean).join(", ") }),
          el("td", { class: "gpulab-code", text: registers[r] }), el("td", { class: "gpulab-code", text: was }),
          el("td", { class: "gpulab-code", text: `${is}${changed ? " ●" : ""}` }),
          el("td", { class: "gpulab-code", text: last < 0 ? "start" : last === step ? "this step" : `step ${number(last + 1)}` }));
      }));
      more.hidden = order.length <= FIRST_ROWS;
      more.textContent = all ? "Fewer registers" : `All ${order.length} registers`;
    }

    function drawMemory(state, item) {
      if (!state || !state.accesses.length) {
        touched.replaceChildren(el("p", { class: "gpulab-muted", text: item[4] === "memory" ? "None: no lane reads or writes anything here." : "None: this instruction works on registers alone." }));
      } else {
        touched.replaceChildren(...state.accesses.map(([space, action, bytes, which_, addresses, values]) => {
          const verb = { read: "read", write: "written", atomic: "changed by an atomic" }[action];
          const register = dataRegister(item, action === "read");
          return el("table", { class: "gpulab-table" },
            el("caption", { text: `${{ global: "Global memory", lds: "LDS", scratch: "Scratch" }[space]}, ${verb}, ${bytes} bytes ${which_.length ? "by each active lane" : "for the whole wave"}` }),
            el("thead", {}, el("tr", {}, ["lane", "where", "address", action === "read" ? "value" : "value after"].map((text) => el("th", { scope: "col", text })))),
            el("tbody", {}, addresses.map((address, k) => el("tr", { class: which_[k] === lane ? "gpulab-used" : "" },
              el("td", { text: which_.length ? `${which_[k] === lane ? "◆" : ""}${which_[k]}` : "all" }), el("td", { text: place(space, address, bytes) }),
              el("td", { class: "gpulab-code", text: `0x${address}` }), el("td", { class: "gpulab-code", text: data32(state, values, k, bytes, register, action === "read") })))));
        }));
        const own = touched.querySelector("tr.gpulab-used");
        touched.scrollTop = own ? Math.max(0, own.offsetTop - 60) : 0;
      }
      if (!ldsBytes) return;
      const hits = new Map();
      for (const [space, action, bytes, which_, addresses] of state ? state.accesses : []) {
        if (space === "lds") addresses.forEach((address, k) => { for (let b = 0; b < bytes; b += 4) hits.set((parseInt(address, 16) + b) >> 2, [action, which_[k]]); });
      }
      const own = [...hits].find(([, [, l]]) => l === lane) ?? [...hits][0];
      if (own && moved) page = Math.floor(own[0] / LDS_WORDS);
      const first = page * LDS_WORDS, total = Math.ceil(ldsBytes / 4), last = Math.min(total, first + LDS_WORDS);
      ldsHead.textContent = `LDS of the workgroup: bytes ${number(4 * first)} to ${number(Math.min(ldsBytes, 4 * last) - 1)} of ${number(ldsBytes)}, after this step`;
      ldsControls.hidden = total <= LDS_WORDS;
      if (!state) { ldsGrid.replaceChildren(); ldsShown = ""; return; }
      const view = new DataView(state.lds.buffer);
      const kind = form !== "auto" ? form : ldsType();
      if (ldsShown !== `${first} ${last}`) {
        ldsShown = `${first} ${last}`;
        ldsWords = Array.from({ length: last - first }, () => el("span", { class: "gpulab-word" }));
        const nodes = [];
        ldsWords.forEach((node, n) => {
          if (n % LDS_ACROSS === 0) nodes.push(el("span", { class: "gpulab-lds-address", text: String(4 * (first + n)) }));
          nodes.push(node);
        });
        ldsGrid.replaceChildren(...nodes, el("p", { class: "gpulab-legend", text: "Number at the left: byte address. ● written since the step before   ○ read by this step" }));
      }
      ldsWords.forEach((node, n) => {
        const w = first + n, bits = 4 * w + 4 <= state.lds.length ? view.getUint32(4 * w, true) : 0, hit = hits.get(w), wrote = state.written.has(w);
        put(node, "className", `gpulab-word${hit ? " gpulab-hit" : ""}${wrote ? " gpulab-changed" : ""}`);
        put(node, "title", `byte ${4 * w}${hit ? `: lane ${hit[1]}, ${hit[0]}` : ""}${wrote && !hit ? ": written by another wave" : ""}`);
        put(node, "textContent", `${word(bits, kind)}${wrote ? "●" : hit ? "○" : ""}`);
      });
    }
    function storedAs(at, register) {
      if (!/^ds_(write|store)/.test(instructions[at][0])) return readAs(at, register);
      for (let k = at - 1; k >= Math.max(0, at - 60); k--) {
        const wrote = instructions[k][5].map((o) => operands[o]).find((o) => o[3] && o[1].includes(register));
        if (wrote) return plain.test(instructions[k][0]) || instructions[k][4] === "memory" ? "bits" : wrote[2];
      }
      return "bits";
    }
    let ldsShown = "", ldsWords = [];
    /** What LDS holds: as the registers that are stored there. */
    let ldsKind = null;
    function ldsType() {
      if (ldsKind === null) {
        ldsKind = "bits";
        for (let k = 0; k < instructions.length && ldsKind === "bits"; k++) {
          const item = instructions[k];
          if (item[4] !== "memory" || !item[0].startsWith("ds_")) continue;
          const register = dataRegister(item, /^ds_(read|load)/.test(item[0]));
          if (register !== null) ldsKind = storedAs(k, register);
        }
        if (/64$|b1/.test(ldsKind)) ldsKind = "bits";
      }
      return ldsKind;
    }

    let moved = true, turn = 0;
    function paint(state) {
      const item = instructions[executed[step]];
      const place_ = item[2] ? `${files.length > 1 ? `${files[item[1]].name}, ` : ""}line ${item[2]}` : "no source line";
      const said = state || !failed ? happens(state) : [failed];
      now.replaceChildren(
        el("div", { class: "gpulab-now-head" }, el("strong", { text: `Step ${number(step + 1)} of ${number(count)}` }), ` · ${place_} · ${counts[step]} of ${size} lanes active`),
        el("div", { class: "gpulab-code gpulab-now-code", text: item[0] }), el("div", { text: meanings[item[3]] }),
        ...said.map((text) => el("div", { class: text.startsWith("✖") ? "gpulab-bad" : "gpulab-event", text })));
      if (moved) note.textContent = "";
      note.hidden = !note.textContent;
      slide.value = step + 1;
      slide.setAttribute("aria-valuetext", `step ${step + 1} of ${count}, ${place_}`);
      // Not `disabled`: the focus would be lost, and with it the keys.
      const none = [step === 0, step === 0, step === count - 1, step === count - 1, false, after(changes, step) === undefined, after(stops, step) === undefined];
      none.forEach((off, k) => controls[k].setAttribute("aria-disabled", off ? "true" : "false"));
      cursorTo();
      tip.hide();
      if (moved) {
        const row = rowOf.get(`${item[1]}:${item[2]}`);
        if (row !== undefined) { source.focused(row); source.reveal(row); } else source.draw(true);
        code.focused(codeOf[executed[step]]);
        code.reveal(codeOf[executed[step]]);
      }
      drawLanes(state, item);
      drawRegisters(state, item);
      drawMemory(state, item);
      if (moved) parts.say(`Step ${step + 1}, ${place_}, ${counts[step]} lanes active. ${item[0]}. ${said.join(" ")}`);
      parts.root.dataset.step = String(step + 1);
      parts.root.dataset.ready = String(Boolean(state));
    }
    let failed = "";
    /** Draw; to: did the step change? What is not known yet is drawn when Python has answered. */
    function draw(to) {
      moved = to;
      const mine = ++turn;
      if (has(step)) {
        failed = "";
        paint(stateAt(step));
        around(step);
        return;
      }
      paint(null);
      load(Math.max(0, step - 60)).then(() => { if (mine === turn) draw(to); }, (error) => {
        if (mine !== turn) return;
        failed = `Registers and memory are not here: ${error.message}`;
        paint(null);
      });
    }

    parts.root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
      const back = event.shiftKey, onSlider = event.target === slide;
      const actions = {
        ArrowRight: () => go(step + 1), ArrowLeft: () => go(step - 1), Home: () => go(0), End: () => go(count - 1),
        n: () => nextLine(back), d: () => jump(changes, back, "divergence"), b: () => jump(stops, back, "barrier"), f: toFault,
      };
      const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!action || (onSlider && event.key.length > 1)) return;
      event.preventDefault();
      action();
    });

    if (data.first) {
      const reply = JSON.parse(new TextDecoder().decode(await inflate(data.first.reply)));
      const buffers = await Promise.all(data.first.buffers.map(async (text) => { const b = await inflate(text); return new DataView(b.buffer, b.byteOffset, b.byteLength); }));
      keep(decode(reply, buffers));
    }
    drawOverview();
    draw(true);
    let wide_ = parts.body.clientWidth;
    const watch = new ResizeObserver(() => {
      if (parts.body.clientWidth === wide_) return;
      wide_ = parts.body.clientWidth;
      drawOverview();
      source.resized();
      code.resized();
    });
    watch.observe(parts.body);
    return () => watch.disconnect();
  },
};
