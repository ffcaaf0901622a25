// Bits as numbers in words: the forms in which the wave stepper shows a register.

/** @typedef {"auto" | "hex" | "int" | "uint" | "float"} Form what the reader chose under "Numbers" */

/** @type {[Form, string][]} */
export const FORMS = [["auto", "automatic"], ["hex", "hex"], ["int", "int"], ["uint", "unsigned"], ["float", "float"]];

const eightBytes = new DataView(new ArrayBuffer(8));

/** @param {number} value @returns {string} */
function float(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) && Math.abs(value) < 1e7 ? value.toFixed(1) : String(Number(value.toPrecision(6)));
}

/** The value of 16 bits. @param {number} bits @param {string} type "f16" or "bf16" @returns {number} */
function half(bits, type) {
  if (type === "bf16") {
    eightBytes.setUint32(0, (bits << 16) >>> 0);
    return eightBytes.getFloat32(0);
  }
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}

/** Bits whose type is not known: a float if that has a usual size; small integers never have. @param {number} bits */
function guessed(bits) {
  eightBytes.setUint32(0, bits);
  const value = eightBytes.getFloat32(0), size = Math.abs(value);
  return size > 1e-9 && size < 1e12 ? float(value) : String(bits | 0);
}

/**
 * One 32-bit word in words.
 * @param {number} bits @param {string} form a `Form`, a type ("f32", "i16"), or "bits" @returns {string}
 */
export function word(bits, form) {
  switch (form) {
    case "float": case "f32":
      eightBytes.setUint32(0, bits);
      return float(eightBytes.getFloat32(0));
    case "f16": case "bf16": return float(half(bits & 0xffff, form));
    case "bits": return guessed(bits);
    case "int": case "i32": return String(bits | 0);
    case "i16": return String((bits << 16) >> 16);
    case "u16": return String(bits & 0xffff);
    case "uint": case "u32": return String(bits >>> 0);
    default: return `0x${(bits >>> 0).toString(16)}`;
  }
}

/** Two words as one number. @param {number} low @param {number} high @param {string} form @returns {string} */
export function wide(low, high, form) {
  eightBytes.setUint32(0, high);
  eightBytes.setUint32(4, low);
  if (form === "f64") return float(eightBytes.getFloat64(0));
  if (form === "i64" || form === "int") return String(eightBytes.getBigInt64(0));
  if (form === "uint") return String(eightBytes.getBigUint64(0));
  return `0x${eightBytes.getBigUint64(0).toString(16)}`;
}

/** How many bits of a word are set. @param {number} bits @returns {number} */
export function ones(bits) {
  let n = bits - ((bits >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** "0–3, 8": the active lanes. @param {(lane: number) => boolean} active @param {number} size lanes of the wave */
export function ranges(active, size) {
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

/** "3 steps". @param {number} count @param {string} what @param {string} [written] the count in words */
export function counted(count, what, written = String(count)) {
  return `${written} ${what}${count === 1 ? "" : "s"}`;
}
