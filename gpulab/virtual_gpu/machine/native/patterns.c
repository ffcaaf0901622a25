/* What the addresses of a wave look like relative to the first active lane's: a `Pattern` is built once and found again by
   comparison, and knows the LDS banks' cycles and the spans of bytes, which `blocks` cuts into cache lines. */

#include "observed.h"

/* LDS cycles: in each phase, the most different dwords that lie in one bank. */
static void banks_of(const Observation *o, const Site *site, u32 bytes, u64 exec, const u32 *address, u32 lanes,
                     Pattern *p) {
  u32 dwords[64], next[64], head[64], count[64], phases = site->phases, each = lanes / phases;
  u32 total = 0;
  for (u32 phase = 0; phase < phases; phase++) {
    u32 used = 0, most = 1;
    for (u32 b = 0; b < o->banks; b++) { head[b] = ~0u; count[b] = 0; }
    for (u32 lane = 0; lane < lanes; lane++) {
      u32 mine = site->grouping ? o->grouped[lane] : lane / each;
      if (mine != phase || !((exec >> lane) & 1)) continue;
      u32 last = (address[lane] + bytes - 1) >> 2;
      for (u32 d = address[lane] >> 2; d <= last; d++) {
        u32 bank = d & (o->banks - 1), at = site->serialises ? ~0u : head[bank];
        while (at != ~0u && dwords[at] != d) at = next[at];
        if (at != ~0u) continue;
        if (used < 64) { dwords[used] = d; next[used] = head[bank]; head[bank] = used++; }
        if (++count[bank] > most) most = count[bank];
      }
    }
    total += most;
  }
  p->bank_cycles = total;
  p->conflict_cycles = total - phases;
}

/* Bytes from lane to lane of all active lanes. */
static i32 step_of_all(u64 exec, const u32 *relative) {
  u32 first = (u32)__builtin_ctzll(exec);
  u64 others = exec & (exec - 1);
  if (!others) return 0;
  u32 second = (u32)__builtin_ctzll(others);
  i32 apart = (i32)relative[second], step = apart / (i32)(second - first);
  for (; others; others &= others - 1) {
    u32 lane = (u32)__builtin_ctzll(others);
    if (relative[lane] != (lane - first) * (u32)step) return LANES_APART;
  }
  return step;
}

static NOINLINE void build(Pattern *p, Observation *o, const Site *site, u32 shape, u32 bytes, u64 exec,
                                            const u32 *low, u32 base, u32 first, u32 lanes) {
  u32 rounds = lanes / 16, start = low[first];
  p->exec = exec;
  p->shape = shape;
  p->serial = ++o->serial;
  p->epoch = 0;
  p->lanes = (u32)__builtin_popcountll(exec);
  for (u32 v = 0; v < 4; v++) {
    V16 keep = v < rounds ? (V16)((((u32)(exec >> (16 * v)) >> COUNTING) & 1) != 0) : (V16){};
    p->keep[v] = keep;
    p->relative[v] = v < rounds ? (*(const Loose16x *)(low + 16 * v) - start) & keep : (V16){};
  }
  const u32 *relative = (const u32 *)p->relative;
  p->step = step_of_all(exec, relative);
  u32 n = 0, ascending = 1;
  for (u64 rest = exec; rest; rest &= rest - 1) {
    int from = (int)relative[__builtin_ctzll(rest)], to = from + (int)bytes;
    if (n) {
      Span *s = &p->span[n - 1];
      if (from >= s->from && from <= s->to) { if (to > s->to) s->to = to; continue; }
      if (from < s->to) ascending = 0;
    }
    p->span[n++] = (Span){from, to};
  }
  p->spans = n;
  p->ascending = ascending;
  for (u32 i = 0; i < 32; i++) p->counts[i] = ~0u;
  p->bank_cycles = p->conflict_cycles = 0;
  if (shape >= 256) {
    u32 address[64];
    for (u32 i = 0; i < lanes; i++) address[i] = low[i] + base;
    banks_of(o, site, bytes, exec, address, lanes, p);
  }
}

Pattern *search(Observation *o, const Site *site, u32 shape, u32 bytes, u64 exec, const u32 *low, u32 base, u32 first,
                u32 lanes) {
  u32 start = low[first], final = 63 - (u32)__builtin_clzll(exec);
  u64 rest = exec & (exec - 1);
  u32 second = rest ? low[__builtin_ctzll(rest)] - start : 0;
  u64 hash = exec * 0x9e3779b97f4a7c15ull;
  hash ^= ((u64)second << 32 | (low[final] - start)) * 0xc2b2ae3d27d4eb4full;
  hash ^= shape * 0x165667b19e3779f9ull;
  Pattern *p = (Pattern *)o->patterns + ((hash ^ hash >> 29) >> 20 & (PATTERNS - 1));
  if (!matches(p, shape, exec, low, start, lanes)) build(p, o, site, shape, bytes, exec, low, base, first, lanes);
  if (p->epoch != o->epoch) { /* whether it was known before the launch makes no difference to what is looked at */
    p->epoch = o->epoch;
    o->left -= o->left < o->novelty ? o->left : o->novelty;
  }
  return p;
}

u32 quads_of(const Pattern *p, u32 start, u32 bytes, u32 lanes) {
  const u32 *relative = (const u32 *)p->relative;
  u32 total = 0;
  for (u32 lane = 0; lane < lanes; lane += 4) {
    u32 found[8], n = 0;
    for (u32 i = lane; i < lane + 4; i++) {
      if (!((p->exec >> i) & 1)) continue;
      u32 from = (start + relative[i]) >> 6, to = (start + relative[i] + bytes - 1) >> 6;
      for (u32 b = from;; b = to) {
        u32 k = 0;
        while (k < n && found[k] != b) k++;
        if (k == n) found[n++] = b;
        if (b == to) break;
      }
    }
    total += n;
  }
  return total;
}

u32 blocks(Observation *o, const Pattern *p, u32 start, u32 shift, Block *out) {
  u32 n = 0, within = (1u << shift) - 1;
  u64 *seen = (u64 *)o->seen, stamp = 0;
  if (!p->ascending) stamp = (u64)++o->stamp << 32;
  for (u32 i = 0; i < p->spans; i++) {
    u32 from = start + (u32)p->span[i].from, last = start + (u32)p->span[i].to - 1;
    for (u32 line = from >> shift;; line++) {
      u32 low = line == from >> shift ? (from & within) / SECTOR : 0;
      u32 high = line == last >> shift ? (last & within) / SECTOR : within / SECTOR;
      u32 sectors = (2u << high) - (1u << low);
      Block *block = 0;
      if (p->ascending) {
        if (n && out[n - 1].line == line) block = out + n - 1;
      } else {
        u32 at = line * 0x9e3779b1u >> 24;
        while (seen[at] >> 32 == stamp >> 32 && out[(u32)seen[at]].line != line) at = (at + 1) & 255;
        if (seen[at] >> 32 == stamp >> 32) block = out + (u32)seen[at];
        else seen[at] = stamp | n;
      }
      if (block) block->sectors |= sectors;
      else out[n++] = (Block){line, sectors};
      if (line == last >> shift) break;
    }
  }
  return n;
}
