/* The observer of profiled launches: what each memory access of the observed workgroups did to LDS banks and caches.

   gpulab_observe       is told of one access of a wave and adds to its totals
   gpulab_observe_begin, gpulab_observe_end   prepare and complete the totals

   Three steps. A `Pattern` is what the addresses of a wave look like relative to the first active lane's; it is built
   once and found again by comparison, and knows the LDS banks' cycles and the spans of bytes. `blocks` cuts the spans
   into cache lines. The caches are sets of tags in the order of their last use. In a profile the addresses of each
   access's first and worst execution are kept (`Sample`). docs/counters.md has the rules, their sources and what is
   assumed. */

#include "support.h"

typedef u32 V16 __attribute__((vector_size(64)));
typedef u32 Loose16x __attribute__((vector_size(64), aligned(4)));

enum { SECTOR = 32, MAX_BLOCKS = 256 };
#define NO_SITE (~0u)

typedef struct { int from, to; } Span;

typedef struct {
  V16 relative[4], keep[4]; /* addresses of active lanes less the first one's; all ones for active lanes */
  u64 exec, serial;          /* serial: this pattern's, which no other ever has; 0: none */
  u32 shape, spans, lanes;
  u32 epoch;                 /* launch in which it was met last */
  u32 ascending;             /* spans in the order of addresses */
  u32 bank_cycles, conflict_cycles;
  u32 counts[32];            /* quads, and lines << 16, by the first address in 128 bytes, in dwords; ~0: not known */
  Span span[64];
} __attribute__((aligned(64))) Pattern;

_Static_assert(sizeof(Pattern) == PATTERN_BYTES, "Pattern differs from schema.py");

static inline u32 or_all(V16 v) { return __builtin_reduce_or(v); }

static const V16 COUNTING = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* ------------------------------------------------------------------------------------------------------- patterns */

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

static inline int matches(const Pattern *p, u32 shape, u64 exec, const u32 *low, u32 start, u32 lanes) {
  if (p->exec != exec || p->shape != shape) return 0;
  if (exec == ~0ull && lanes == 64) { /* nothing to leave out */
    V16 off = (*(const Loose16x *)low - start) ^ p->relative[0];
    off |= (*(const Loose16x *)(low + 16) - start) ^ p->relative[1];
    off |= (*(const Loose16x *)(low + 32) - start) ^ p->relative[2];
    off |= (*(const Loose16x *)(low + 48) - start) ^ p->relative[3];
    return !or_all(off);
  }
  V16 bad = ((*(const Loose16x *)low - start) & p->keep[0]) ^ p->relative[0];
  bad |= ((*(const Loose16x *)(low + 16) - start) & p->keep[1]) ^ p->relative[1];
  if (lanes == 64) {
    bad |= ((*(const Loose16x *)(low + 32) - start) & p->keep[2]) ^ p->relative[2];
    bad |= ((*(const Loose16x *)(low + 48) - start) & p->keep[3]) ^ p->relative[3];
  }
  return !or_all(bad);
}

static inline void settle(Totals *t, Site *site) {
  t->executed += site->repeats;
  t->lanes += site->repeats * site->lanes;
  t->bank_cycles += site->repeats * site->bank_cycles;
  t->conflict_cycles += site->repeats * site->conflict_cycles;
  t->quads += site->counts & 0xffffffffu;
  t->lines += site->counts >> 32;
  site->repeats = site->counts = 0;
}

/* The fewest lines that hold so many bytes. */
static inline i32 fewest(const Observation *o, u32 bytes) { return (i32)((bytes + (1u << o->shift) - 1) >> o->shift); }

/* Keep the addresses of an execution that has more `excess` than the worst so far. */
static NOINLINE void sample(const Observation *o, u32 access, Site *site, const Wave *wave, u32 space,
                                             u32 bytes, u64 base, u64 exec, const u32 *low, const u32 *high,
                                             u32 lines, u32 bank_cycles, u32 conflict_cycles, i32 excess) {
  Sample *pair = o->samples + 2 * access, *s = pair + 1;
  if (excess <= site->worst) return;
  site->worst = excess;
  site->limit = excess + fewest(o, site->lanes * bytes);
  s->exec = exec;
  for (u32 i = 0; i < 3; i++) s->group[i] = wave->group[i];
  s->wave = wave->index;
  s->known = 1;
  s->space = space;
  s->bytes = bytes;
  s->lines = lines;
  s->bank_cycles = bank_cycles;
  s->conflict_cycles = conflict_cycles;
  for (u64 rest = exec; rest; rest &= rest - 1) {
    u32 lane = (u32)__builtin_ctzll(rest);
    s->address[lane] = ((high ? (u64)high[lane] << 32 : 0) | low[lane]) + base;
  }
  if (!pair->known) *pair = *s;
}

static NOINLINE Pattern *adopt(Observation *o, u32 access, Pattern *p) {
  Site *site = o->sites + access;
  settle(o->totals + access, site);
  site->last = (u64)p;
  site->serial = p->serial;
  site->lanes = p->lanes;
  site->bank_cycles = p->bank_cycles;
  site->conflict_cycles = p->conflict_cycles;
  site->kept = 0;
  site->limit = site->worst + fewest(o, p->lanes * site->bytes);
  return p;
}

static NOINLINE Pattern *search(Observation *o, const Site *site, u32 shape, u32 bytes, u64 exec,
                                                 const u32 *low, u32 base, u32 first, u32 lanes) {
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

/* Requests of four lanes each: for each four consecutive lanes, the 64-byte blocks that they touch. */
static u32 quads_of(const Pattern *p, u32 start, u32 bytes, u32 lanes) {
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

typedef struct { u32 line, sectors; } Block;

/* The blocks of 1 << shift bytes that a pattern touches from `start` on, each with its 32-byte sectors as bits. */
static u32 blocks(Observation *o, const Pattern *p, u32 start, u32 shift, Block *out) {
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

/* --------------------------------------------------------------------------------------------------------- caches */

/* Addresses are the low 32 bits, within the 4 GiB of device memory that `o->segment` says; scratch has some for itself.
   Behind the first cache a tag has these in the low bits. FETCHED: two halves of 64 bytes; DIRTY: four sectors of 32
   bytes. */
enum { FETCHED = 1, DIRTY = 4 };
#define STATE 63u

static inline u32 part_of(const Launch *launch, u64 address) {
  return launch->wide ? (u32)((address - launch->arena) >> 32) : 0;
}

/* The number of a line in all of device memory. */
static inline u32 line_in(const Observation *o, u32 address, u32 shift) {
  return (o->segment << (32 - shift)) + (address >> shift);
}

/* Tags of lines, of which none is 0: those of the vector and the scalar caches, and those of the caches behind them,
   where a set's number tells the low two bits of a line's (Caches in observation.py). */
static inline u32 key_of(const Observation *o, u32 address, u32 shift) {
  return address >> shift << shift | (o->segment + 1);
}
static inline u32 far_key(const Observation *o, u32 address) { return address >> 9 << 9 | (o->segment + 1) << 6; }

typedef _Bool Bits16 __attribute__((ext_vector_type(16)));

static inline u32 bits_of(V16 yes) {
  Bits16 bits = __builtin_convertvector(yes, Bits16);
  unsigned short number;
  __builtin_memcpy(&number, &bits, 2);
  return number;
}

enum { EPOCH_SHIFT = 8 }; /* of Level.state */

/* The ways of a set that hold `key`. All are compared before anything is decided: no branch could foresee it. */
static inline u64 ways_with(const u32 *tags, u32 stride, u32 mask, u32 key) {
  u64 found = bits_of((V16)((*(const V16 *)tags & mask) == key));
  if (stride > 16) found |= (u64)bits_of((V16)((*(const V16 *)(tags + 16) & mask) == key)) << 16;
  if (stride > 32) {
    found |= (u64)bits_of((V16)((*(const V16 *)(tags + 32) & mask) == key)) << 32;
    found |= (u64)bits_of((V16)((*(const V16 *)(tags + 48) & mask) == key)) << 48;
  }
  return found;
}

static inline V16 lesser(V16 a, V16 b) {
  V16 less = (V16)(a < b);
  return (a & less) | (b & ~less);
}

/* The way of a set that has been without use for longest. */
static inline u32 oldest(const u32 *times, u32 stride) {
  V16 least = *(const V16 *)times;
  if (stride > 16) least = lesser(least, *(const V16 *)(times + 16));
  if (stride > 32) least = lesser(least, lesser(*(const V16 *)(times + 32), *(const V16 *)(times + 48)));
  return (u32)__builtin_ctzll(ways_with(times, stride, ~0u, __builtin_reduce_min(least)));
}

/* The tag of a line, which is in its set now and used at this moment. A line that was not there takes the place of the
   least lately used one. Its set keeps each line in one place, so that it can be found again without a search. */
static inline u32 *touch(Observation *o, const Level *level, u32 instance, u32 line, u32 key, int *hit) {
  u32 sets = level->sets, stride = level->stride;
  u64 number = (u64)instance * sets + (sets & (sets - 1) ? line % sets : line & (sets - 1));
  u32 *tags = (u32 *)level->tags + number * 2 * stride, *state = (u32 *)level->state + number;
  u32 now = ++o->clock, used = *state >> EPOCH_SHIFT == o->epoch ? *state & 255 : 0;
  u64 same = ways_with(tags, used > 16 ? stride : 16, ~0u, key) & ((1ull << (used & 63)) - 1 | -(u64)(used >> 6));
  u32 way;
  *hit = same != 0;
  if (same) way = (u32)__builtin_ctzll(same);
  else {
    way = used;
    if (!used) /* places that are no ways are never the oldest */
      for (u32 i = level->ways; i < stride; i++) tags[stride + i] = ~0u;
    if (used < level->ways) *state = o->epoch << EPOCH_SHIFT | (used + 1);
    else way = oldest(tags + stride, stride);
    tags[way] = key;
  }
  tags[stride + way] = now;
  return tags + way;
}

/* The same for sets of up to 16 ways that stand in the order of their last use: one line of the host's cache each. The
   tag of the line that had to go is left in `evicted`. */
static inline u32 *touch_first(Observation *o, const Level *level, u32 instance, u32 line, u32 key, int *hit,
                               u32 *evicted) {
  u32 sets = level->sets;
  u64 number = (u64)instance * sets + (sets & (sets - 1) ? line % sets : line & (sets - 1));
  u32 *tags = (u32 *)level->tags + number * 16, *state = (u32 *)level->state + number;
  V16 now = *(V16 *)tags;
  if (*state != o->epoch) { *state = o->epoch; now = (V16){}; }
  u32 same = bits_of((V16)((now & ~STATE) == key)), last = level->ways - 1;
  *hit = same != 0;
  u32 way = same ? (u32)__builtin_ctz(same) : last;
  *evicted = same ? 0 : now[15 & last];
  u32 tag = same ? tags[way] : key;
  V16 moved = __builtin_shufflevector(now, (V16){} + tag, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  V16 before = (V16)(COUNTING <= way);
  *(V16 *)tags = (moved & before) | (now & ~before);
  return tags;
}

static void drop(const Observation *o, const Level *level, u32 instance, u32 line, u32 key) {
  u64 number = (u64)instance * level->sets + line % level->sets;
  u32 *tags = (u32 *)level->tags + number * 2 * level->stride, state = *((u32 *)level->state + number);
  if (state >> EPOCH_SHIFT != o->epoch) return;
  for (u32 i = 0; i < (state & 255); i++)
    if (tags[i] == key) { tags[i] = 0; tags[level->stride + i] = 0; } /* the next to be taken */
}

static void drop_first(const Observation *o, const Level *level, u32 instance, u32 line, u32 key) {
  u64 number = (u64)instance * level->sets + line % level->sets;
  u32 *tags = (u32 *)level->tags + number * 16;
  if (*((u32 *)level->state + number) != o->epoch) return;
  for (u32 i = 0; i < level->ways; i++) {
    if ((tags[i] & ~STATE) != key) continue;
    for (; i + 1 < level->ways; i++) tags[i] = tags[i + 1];
    tags[i] = 0;
  }
}

/* The memory side of the L2: reads of 64 or 128 bytes, and the first write to a line since it came. */
static inline u64 *touched(Observation *o, u32 address) {
  u32 word = line_in(o, address, 12), *age = (u32 *)o->touched_epoch + word;
  u64 *bits = (u64 *)o->touched + word;
  if (*age != o->epoch) { *age = o->epoch; *bits = 0; }
  return bits;
}

static NOINLINE void look_at_allocations(Observation *o, const Launch *launch) {
  const Range *ranges = launch->ranges;
  u64 total = 0;
  for (u64 i = 0; i < launch->range_count; i++) total += ranges[i].size;
  o->fits = total <= o->memory_bytes;
}

static void from_memory(Observation *o, Totals *t, const Launch *launch, u32 address, u32 halves) {
  u32 bytes = halves == 3 ? 128 : 64, hit, evicted;
  if (bytes == 128) t->reads_128++; else t->reads_64++;
  if (o->has_memory) {
    if (o->fits == ~0u) look_at_allocations(o, launch);
    if (o->fits) {
      u64 *bits = touched(o, address), mask = (u64)halves << (address >> 6 & 62);
      u64 before = *bits;
      *bits = before | mask;
      if ((before & mask) == mask) { t->memory_hits++; return; }
    } else {
      u32 *tag = touch_first(o, &o->memory, 0, line_in(o, address, 7), far_key(o, address), (int *)&hit, &evicted);
      if (evicted & 15 * DIRTY) o->flows.dram_writes += 128;
      int there = (*tag & halves) == halves;
      *tag |= halves;
      if (there) { t->memory_hits++; return; }
    }
  }
  o->flows.dram_reads += bytes;
  t->dram_bytes += bytes;
}

static void to_memory(Observation *o, const Launch *launch, u32 address) {
  int hit;
  u32 evicted;
  if (!o->has_memory) return;
  if (o->fits == ~0u) look_at_allocations(o, launch);
  if (o->fits) { *touched(o, address) |= 3ull << (address >> 6 & 62); return; }
  u32 *tag = touch_first(o, &o->memory, 0, line_in(o, address, 7), far_key(o, address), &hit, &evicted);
  if (evicted & 15 * DIRTY) o->flows.dram_writes += 128;
  *tag |= DIRTY | FETCHED | FETCHED << 1;
}

/* Which halves of a line can be read: fetched, or written as a whole. */
static inline u32 readable(u32 tag) {
  u32 dirty = tag / DIRTY & 15, whole = dirty & dirty >> 1;
  return (tag & 3) | (whole & 1) | (whole >> 1 & 2);
}

/* The L2's tag of a line. */
static inline u32 *l2_tag(Observation *o, u32 address, int *hit) {
  u32 evicted, *tag = touch_first(o, &o->l2, o->xcd, line_in(o, address, 7), far_key(o, address), hit, &evicted);
  o->flows.evicted += evicted != 0;
  o->flows.evicted_dirty += (evicted & 15 * DIRTY) != 0;
  return tag;
}

static void l2_read(Observation *o, Totals *t, const Launch *launch, u32 address, u32 halves) {
  int hit;
  u32 *tag = l2_tag(o, address, &hit), missing = halves & ~readable(*tag);
  t->requests++;
  if (!missing) { t->l2_hits++; return; }
  *tag |= missing;
  from_memory(o, t, launch, address, missing);
}

/* Write or atomic requests of 64 bytes each to the line's `sectors` (four of 32 bytes). */
static void l2_write(Observation *o, Totals *t, const Launch *launch, u32 address, u32 sectors, int atomic) {
  int hit;
  u32 *tag = l2_tag(o, address, &hit), halves = (sectors & 3 ? 1 : 0) | (sectors & 12 ? 2 : 0);
  u32 requests = halves == 3 ? 2 : 1;
  t->requests += requests;
  if (atomic) {
    u32 missing = halves & ~readable(*tag);
    t->l2_hits += requests - (u32)__builtin_popcount(missing);
    for (u32 half = 1; half <= 2; half++)
      if (missing & half) from_memory(o, t, launch, address, half);
    *tag |= missing;
  } else t->l2_hits += requests - !hit; /* after the first request of a line the others find it */
  u32 old = *tag / DIRTY & 15, now = old | sectors;
  if (old == now) return;
  t->sectors += (u32)__builtin_popcount(now & ~old);
  *tag |= now * DIRTY;
  for (u32 half = 0; half < 4; half += 2) {
    u32 before = old >> half & 3, after = now >> half & 3;
    if (before == after) continue;
    if (before) o->flows.writebacks_32--;
    if (after == 3) o->flows.writebacks_64++; else o->flows.writebacks_32++;
  }
  if (!old) { o->flows.lines_written++; to_memory(o, launch, address); }
}

/* A line of the first cache or the scalar cache that was not there. */
static void miss(Observation *o, Totals *t, const Launch *launch, u32 address, u32 halves) {
  int hit;
  u32 evicted;
  if (o->has_array) {
    touch_first(o, &o->array, o->unit % o->array.instances, line_in(o, address, 7), far_key(o, address), &hit, &evicted);
    if (hit) { t->array_hits++; return; }
    halves = 3;
  }
  l2_read(o, t, launch, address, halves);
}

static void write_line(Observation *o, Totals *t, const Launch *launch, u32 instance, Block block, int atomic) {
  u32 shift = o->shift, address = block.line << shift;
  if (atomic) drop(o, &o->first, instance, line_in(o, address, shift), key_of(o, address, shift));
  if (o->has_array)
    drop_first(o, &o->array, o->unit % o->array.instances, line_in(o, address, 7), far_key(o, address));
  u32 sectors = shift == 7 ? block.sectors : block.sectors << (address & 64 ? 2 : 0);
  l2_write(o, t, launch, address & ~127u, sectors, atomic);
}

/* -------------------------------------------------------------------------------------------------------- accesses */

/* Where the wave's workgroup runs: round-robin over the XCDs, then over their units. */
static NOINLINE void move(Observation *o, const Wave *wave, const Launch *launch) {
  u64 number = wave->group[0] + (u64)launch->grid[0] * (wave->group[1] + (u64)launch->grid[1] * wave->group[2]);
  for (u32 i = 0; i < 3; i++) o->group[i] = wave->group[i];
  o->xcd = (u32)(number % o->xcds);
  o->unit = (u32)(number / o->xcds % o->units);
  o->instance = (o->xcd * o->units + o->unit) * o->cus;
}

/* The vector cache that a wave uses. The waves of a workgroup take turns with the CUs of its WGP. */
static inline u32 first_instance(const Observation *o, const Wave *wave) {
  return o->cus == 1 ? o->instance : o->instance + wave->index % o->cus;
}

/* Quads, and lines << 16, of a pattern at a first address. */
static NOINLINE u32 count(Observation *o, Pattern *p, u32 start, u32 bytes, u32 lanes) {
  Block found[MAX_BLOCKS];
  u32 counts = quads_of(p, start, bytes, lanes) | blocks(o, p, start, o->shift, found) << 16;
  if (!(start & 3)) p->counts[start >> 2 & 31] = counts;
  return counts;
}

static inline u64 counts_apart(u32 counts) { return (counts & 0xffff) | (u64)(counts >> 16) << 32; }

/* MOST_LOOKUPS: even of one workgroup. GROUP_LOOKUPS: what each workgroup counts as besides in a profile of more than
   MANY_GROUPS of them, as it begins with caches that the host does not have at hand. */
enum { MOST_LOOKUPS = 4000000, GROUP_LOOKUPS = 24, MANY_GROUPS = 2048 };

/* Whether an access is followed through the caches. A workgroup that was begun is followed to its end: what caches do
   changes while a kernel runs. */
static inline int follows(Observation *o, const Wave *wave, const Launch *launch, Totals *t) {
  if (!o->following) return 0;
  if (wave->group[0] != o->group[0] || wave->group[1] != o->group[1] || wave->group[2] != o->group[2]) {
    if (o->lookups <= 0) { o->following = 0; o->cut = wave->thread->own - 1; return 0; }
    if (o->novelty && launch->total > MANY_GROUPS) o->lookups -= GROUP_LOOKUPS;
    move(o, wave, launch);
  }
  if (o->lookups < -MOST_LOOKUPS) { o->following = 0; o->cut = wave->thread->own; return 0; }
  t->followed++;
  return 1;
}

/* Remember where the lines of a load lie, and for which first addresses they are the same lines: as long as the first
   and the last byte of each span stay in their lines. */
static void keep(Observation *o, Site *site, const Pattern *p, u32 start, u32 instance, u32 n) {
  u32 before = ~0u, after = ~0u, within = (1u << o->shift) - 1;
  for (u32 i = 0; i < p->spans; i++) {
    u32 ends[2] = {start + (u32)p->span[i].from & within, start + (u32)p->span[i].to - 1 & within};
    for (u32 end = 0; end < 2; end++) {
      if (ends[end] < before) before = ends[end];
      if (within - ends[end] < after) after = within - ends[end];
    }
  }
  site->kept = n;
  site->instance = instance;
  site->segment = o->segment;
  site->from = start - before;
  site->range = before + after;
}

/* The same for the one stretch of bytes that most loads of a wave make, without a list of blocks. */
static NOINLINE void load_stretch(Observation *o, const Launch *launch, Totals *t, Site *site,
                                                   const Pattern *p, u32 start, u32 instance) {
  u32 shift = o->shift, from = start + (u32)p->span[0].from, last = start + (u32)p->span[0].to - 1;
  u32 n = (last >> shift) - (from >> shift) + 1;
  for (u32 i = 0; i < n; i++) {
    u32 address = ((from >> shift) + i) << shift, key = key_of(o, address, shift);
    int hit;
    u32 *tag = touch(o, &o->first, instance, line_in(o, address, shift), key, &hit);
    if (i < KEPT) { site->key[i] = key; site->slot[i] = (u32)(tag - (u32 *)o->first.tags); }
    if (hit) t->first_hits++;
    else miss(o, t, launch, address, shift == 7 ? 3 : 1 << (address >> 6 & 1));
  }
  site->kept = 0;
  if (n <= KEPT) keep(o, site, p, start, instance, n);
}

static NOINLINE void load_lines(Observation *o, const Launch *launch, Totals *t, Site *site,
                                                 const Pattern *p, u32 start, u32 instance) {
  Block found[MAX_BLOCKS];
  u32 shift = o->shift, n = blocks(o, p, start, shift, found);
  for (u32 i = 0; i < n; i++) {
    u32 address = found[i].line << shift, key = key_of(o, address, shift);
    int hit;
    u32 *tag = touch(o, &o->first, instance, line_in(o, address, shift), key, &hit);
    if (i < KEPT) { site->key[i] = key; site->slot[i] = (u32)(tag - (u32 *)o->first.tags); }
    if (hit) t->first_hits++;
    else miss(o, t, launch, address, shift == 7 ? 3 : 1 << (address >> 6 & 1));
  }
  site->kept = 0;
  if (n <= KEPT && p->spans <= 2 * KEPT) keep(o, site, p, start, instance, n);
}

/* Loads of lines that the same access had before and that are still there: the common case in loops. */
static inline int load_kept(Observation *o, Totals *t, const Site *site, u32 start, u32 instance) {
  u32 n = site->kept, *tags = (u32 *)o->first.tags, stride = o->first.stride, bad = 0;
  if (!n || start - site->from > site->range || site->instance != instance || site->segment != o->segment) return 0;
  for (u32 i = 0; i < n; i++) bad |= tags[site->slot[i]] ^ site->key[i];
  if (bad) return 0;
  for (u32 i = 0; i < n; i++) tags[site->slot[i] + stride] = ++o->clock;
  t->first_hits += n;
  return 1;
}

static NOINLINE void store_lines(Observation *o, const Launch *launch, Totals *t, const Pattern *p,
                                                  u32 start, u32 instance, int atomic) {
  Block found[MAX_BLOCKS];
  u32 shift = o->shift, n;
  if (p->spans == 1) {
    u32 within = (1u << shift) - 1, from = start + (u32)p->span[0].from, last = start + (u32)p->span[0].to - 1;
    n = (last >> shift) - (from >> shift) + 1;
    for (u32 i = 0; i < n; i++) {
      u32 low = i ? 0 : (from & within) / SECTOR, high = i + 1 < n ? within / SECTOR : (last & within) / SECTOR;
      write_line(o, t, launch, instance, (Block){(from >> shift) + i, (2u << high) - (1u << low)}, atomic);
    }
    return;
  }
  n = blocks(o, p, start, shift, found);
  for (u32 i = 0; i < n; i++) write_line(o, t, launch, instance, found[i], atomic);
}

static inline u32 cached(Observation *o, const Wave *wave, const Launch *launch, Totals *t, Site *site, Pattern *p,
                          u32 bytes, u32 action, u32 start) {
  u32 counts = start & 3 ? ~0u : p->counts[start >> 2 & 31];
  if (counts == ~0u) counts = count(o, p, start, bytes, launch->wave_size);
  u32 lines = counts >> 16;
  t->quads += counts & 0xffff;
  t->lines += lines;
  if (!o->following) return lines;
  o->lookups -= lines;
  u32 instance = first_instance(o, wave);
  if (action != READ) store_lines(o, launch, t, p, start, instance, action == ATOMIC);
  else if (load_kept(o, t, site, start, instance)) return lines;
  else if (p->spans == 1) load_stretch(o, launch, t, site, p, start, instance);
  else load_lines(o, launch, t, site, p, start, instance);
  return lines;
}

/* Scratch: dword d of all lanes lies together. Each dword of a lane's element is an access of its own; a sample has the
   first. */
static NOINLINE void scratch(Observation *o, const Wave *wave, const Launch *launch, Totals *t,
                                              u32 access, Site *site, u64 exec, const u32 *low, u32 base) {
  const Access *a = launch->accesses + access;
  u32 lanes = launch->wave_size, moved[64], slot = first_instance(o, wave) * 32 + wave->index % 32;
  u32 start = o->scratch_base - (slot + 1) * wave->scratch_bytes * lanes;
  u32 first = (u32)__builtin_ctzll(exec), bytes = a->bytes < 4 ? a->bytes : 4;
  for (u32 i = 0; i < lanes; i++) {
    u32 at = low[i] + base;
    moved[i] = start + (at >> 2) * (lanes * 4) + i * 4 + (at & 3);
  }
  Pattern *p = search(o, site, bytes, bytes, exec, moved, 0, first, lanes);
  o->segment = SCRATCH_SEGMENT;
  for (u32 w = 0; w < (a->bytes + 3) / 4; w++) {
    site->kept = 0;
    u32 lines = cached(o, wave, launch, t, site, p, bytes, a->action, moved[first] + w * lanes * 4);
    if (!w)
      sample(o, access, site, wave, SPACE_SCRATCH, bytes, 0, exec, moved, 0, lines, 0, 0,
             (i32)lines - fewest(o, p->lanes * bytes));
  }
  site->kept = 0;
}

static NOINLINE void scalar(Observation *o, const Launch *launch, Totals *t, Site *site,
                                             u32 bytes, u32 address) {
  u32 instance = (o->xcd * o->units + o->unit) * o->scalar.instances / (o->xcds * o->units);
  u32 first = address >> 6, last = (address + bytes - 1) >> 6;
  site->kept = 0;
  for (u32 line = first; line <= last; line++) {
    int hit;
    u32 key = key_of(o, line << 6, 6), *tag = touch(o, &o->scalar, instance, line_in(o, line << 6, 6), key, &hit);
    if (hit) t->first_hits++;
    else miss(o, t, launch, line << 6, 1 << (line & 1));
    site->key[0] = key;
    site->slot[0] = (u32)(tag - (u32 *)o->scalar.tags);
  }
  if (first != last) return;
  site->kept = 1;
  site->from = first;
  site->instance = o->xcd * o->units + o->unit;
  site->segment = o->segment;
}

static inline u64 address_at(const u32 *low, const u32 *high, u32 lane, u64 base) {
  return ((u64)(high ? high[lane] : 0) << 32 | low[lane]) + base;
}

/* Those of `lanes` of a wave of so many whose addresses have the high half of the first one's. */
static inline u64 together(u64 lanes, const u32 *low, const u32 *high, u64 base, u32 size) {
  u32 first = (u32)(address_at(low, high, (u32)__builtin_ctzll(lanes), base) >> 32) - (u32)(base >> 32);
  u64 found = 0;
  for (u32 at = 0; at < size; at += 16) {
    V16 l = *(const Loose16x *)(low + at), carry = (V16)(l + (u32)base < l);
    V16 top = high ? *(const Loose16x *)(high + at) - carry : -carry;
    found |= (u64)bits_of((V16)(top == first)) << at;
  }
  return found & lanes;
}

/* Accesses through flat addresses: each lane by its aperture. (And others whose lanes have several high halves.) */
static NOINLINE void flat(Observation *o, const Wave *wave, const Launch *launch, Totals *t,
                                           u32 access, Site *site, u64 exec, const u32 *low, const u32 *high,
                                           u64 base) {
  const Access *a = launch->accesses + access;
  u32 lanes = launch->wave_size;
  u64 shared = 0, private = 0;
  for (u32 i = 0; i < lanes; i++) {
    u32 top = (u32)(address_at(low, high, i, base) >> 32);
    shared |= (u64)(top == SHARED_BASE) << i;
    private |= (u64)(top == PRIVATE_BASE) << i;
  }
  u64 global = exec & ~shared & ~private;
  shared &= exec;
  private &= exec;
  t->executed++;
  t->lanes += (u64)__builtin_popcountll(exec);
  if (exec & ~shared) follows(o, wave, launch, t);
  if (shared) {
    u32 first = (u32)__builtin_ctzll(shared);
    const Pattern *p = search(o, site, site->shape, a->bytes, shared, low, (u32)base, first, lanes);
    t->lds_executed++;
    t->lds_lanes += (u64)__builtin_popcountll(shared);
    t->bank_cycles += p->bank_cycles;
    t->conflict_cycles += p->conflict_cycles;
    sample(o, access, site, wave, SPACE_LDS, a->bytes, base, shared, low, high, 0, p->bank_cycles, p->conflict_cycles,
           (i32)p->conflict_cycles);
  }
  if (private) scratch(o, wave, launch, t, access, site, private, low, (u32)base);
  u32 found = 0;
  for (u64 rest = global, part; rest; rest &= ~part) {
    part = launch->wide ? together(rest, low, high, base, lanes) : rest;
    u32 first = (u32)__builtin_ctzll(part);
    Pattern *p = search(o, site, a->bytes, a->bytes, part, low, 0, first, lanes);
    o->segment = part_of(launch, address_at(low, high, first, base));
    site->kept = 0;
    found += cached(o, wave, launch, t, site, p, a->bytes, a->action, low[first] + (u32)base);
    site->kept = 0;
  }
  if (global)
    sample(o, access, site, wave, SPACE_GLOBAL, a->bytes, base, global, low, high, found, 0, 0,
           (i32)found - fewest(o, (u32)__builtin_popcountll(global) * a->bytes));
}

/* The number in the sample of a wave's workgroup; ~0 if it is not in it. */
static inline u32 sample_of(const Recording *r, const u32 *group) {
  u32 x = group[0] - r->begin[0], y = group[1] - r->begin[1], z = group[2] - r->begin[2];
  return x < r->size[0] && y < r->size[1] && z < r->size[2] ? x + r->size[0] * (y + r->size[1] * z) : ~0u;
}

/* The waves of a workgroup go on without an observer, from their next entry into translated code on. */
static void unobserved(Wave *wave, const Launch *launch) {
  Wave *waves = wave - wave->index;
  for (u32 w = 0; w < launch->waves; w++) {
    waves[w].observer = waves[w].blind = 0;
    waves[w].cache = wave->thread->template_wave.cache;
  }
}

static NOINLINE void rare(Observation *o, Wave *wave, Launch *launch, u32 access, u64 base, u64 exec,
                                           const u32 *low, const u32 *high) {
  const Access *a = launch->accesses + access;
  Totals *t = o->totals + access;
  Site *site = o->sites + access;
  if (!o->left) {
    if (!o->cut) o->cut = wave->thread->own;
    launch->observed = 0;
    if (sample_of(o->recording, wave->group) == ~0u) unobserved(wave, launch);
    return;
  }
  o->left--;
  if (!exec) {
    t->executed++;
    if (a->space == SPACE_LDS) { t->lds_executed++; t->bank_cycles += site->phases; }
  } else if (a->space != SPACE_SCRATCH) flat(o, wave, launch, t, access, site, exec, low, high, base);
  else {
    t->executed++;
    t->lanes += (u64)__builtin_popcountll(exec);
    follows(o, wave, launch, t);
    scratch(o, wave, launch, t, access, site, exec, low, (u32)base);
  }
}

#define PARTS \
  Launch *launch = launch_of(wave); \
  Observation *o = launch->observation; \
  const Access *a = launch->accesses + access; \
  Site *site = o->sites + access;

static NOINLINE u32 out_of_line(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low,
                                                 const u32 *high) {
  PARTS (void)a; (void)site;
  rare(o, wave, launch, access, base, exec, low, high);
  return 0;
}

/* An access to cached memory whose pattern is known, and counted. */
static NOINLINE u32 through_caches(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low,
                                                    const u32 *high) {
  PARTS
  u32 start = low[__builtin_ctzll(exec)] + (u32)base;
  o->segment = part_of(launch, address_at(low, high, (u32)__builtin_ctzll(exec), base));
  follows(o, wave, launch, o->totals + access);
  u32 lines = cached(o, wave, launch, o->totals + access, site, (Pattern *)site->last, a->bytes, a->action, start);
  if ((i32)lines > site->limit)
    sample(o, access, site, wave, SPACE_GLOBAL, a->bytes, base, exec, low, high, lines, 0, 0,
           (i32)lines - fewest(o, site->lanes * a->bytes));
  return 0;
}

/* An access whose pattern is not its last one. */
static NOINLINE u32 fresh(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low,
                                           const u32 *high) {
  PARTS
  u32 lanes = launch->wave_size, first = (u32)__builtin_ctzll(exec);
  const Site *twin = site->twin == NO_SITE ? 0 : o->sites + site->twin;
  Pattern *p = twin ? (Pattern *)twin->last : 0;
  if (!p || p->serial != twin->serial || p->shape != site->shape || p->exec != exec)
    p = search(o, site, site->shape, a->bytes, exec, low, (u32)base, first, lanes);
  if (site->serial != p->serial) adopt(o, access, p);
  site->partner = twin ? twin->serial : 0;
  site->repeats++;
  if (site->space != SPACE_LDS) return through_caches(wave, access, base, exec, low, high);
  if ((i32)p->conflict_cycles > site->worst)
    sample(o, access, site, wave, SPACE_LDS, a->bytes, base, exec, low, high, 0, p->bank_cycles, p->conflict_cycles,
           (i32)p->conflict_cycles);
  return 0;
}

static NOINLINE u32 through_scalar_cache(Wave *wave, u32 access, u64 base) {
  PARTS
  Totals *t = o->totals + access;
  t->executed++;
  t->lanes++;
  u32 address = (u32)base, *tags = (u32 *)o->scalar.tags, lines = ((address + a->bytes - 1) >> 6) - (address >> 6) + 1;
  t->lines += lines;
  if (!follows(o, wave, launch, t)) return 0;
  o->segment = part_of(launch, base);
  o->lookups -= lines;
  if (site->kept && address >> 6 == site->from && (address + a->bytes - 1) >> 6 == site->from &&
      site->segment == o->segment && site->instance == o->xcd * o->units + o->unit && tags[site->slot[0]] == site->key[0]) {
    tags[site->slot[0] + o->scalar.stride] = ++o->clock;
    t->first_hits++;
  } else scalar(o, launch, t, site, a->bytes, address);
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- recording */

/* A log is made of entries: a word with the access's number (16 bits), its active lanes (8) and the number of lines (8),
   and for each line of 128 bytes a word with its number and, in the low 4 bits, the 32-byte sectors that are used.
   Accesses to LDS have no entry but are counted, with the cycles of their banks. Of a wave that waits for another one
   the first look alone is recorded. */

static NOINLINE Pattern *recorded_pattern(Observation *o, Mark *mark, u32 access, u32 shape, u32 bytes, u64 exec,
                                          const u32 *low, u32 base, u32 lanes) {
  u32 first = (u32)__builtin_ctzll(exec);
  Pattern *p = (Pattern *)mark->last;
  if (p && p->serial == mark->serial && matches(p, shape, exec, low, low[first], lanes)) return p;
  p = search(o, o->sites + access, shape, bytes, exec, low, base, first, lanes);
  mark->last = (u64)p;
  mark->serial = p->serial;
  return p;
}

static inline void record_lines(Recording *r, u32 wave, u32 access, u32 lanes, const Block *lines, u32 n) {
  u32 *used = (u32 *)r->used + wave, *to = (u32 *)r->log + (u64)wave * r->words + *used;
  if (n > 255) n = 255;
  *to++ = access << 16 | lanes << 8 | n;
  for (u32 i = 0; i < n; i++) *to++ = lines[i].line << 4 | lines[i].sectors;
  *used += n + 1;
}

static inline void add_segment(Block *lines, u32 n, u32 segment) {
  if (segment)
    for (u32 i = 0; i < n; i++) lines[i].line += segment << 25;
}

/* The lines of an access where device memory has more than 4 GiB. */
static NOINLINE u32 lines_apart(Observation *o, const Launch *launch, Mark *mark, u32 access, u32 bytes, u64 base,
                                u64 exec, const u32 *low, const u32 *high, Block *found) {
  u32 n = 0, lanes = launch->wave_size;
  for (u64 rest = exec, part; rest; rest &= ~part) {
    part = together(rest, low, high, base, lanes);
    u32 first = (u32)__builtin_ctzll(part);
    const Pattern *p = recorded_pattern(o, mark, access, bytes, bytes, part, low, 0, lanes);
    u32 more = blocks(o, p, low[first] + (u32)base, 7, found + n);
    add_segment(found + n, more, part_of(launch, address_at(low, high, first, base)));
    n += more;
  }
  return n;
}

/* The wave goes on without an observer, from its next entry into translated code on, which is soon. */
static void forget(Wave *wave) {
  wave->observer = wave->blind = 0;
  wave->cache = wave->thread->template_wave.cache;
  wave->withheld = wave->budget;
  wave->budget = 0;
}

static NOINLINE int record(Observation *o, Wave *wave, u32 number, u32 access, u64 base, u64 exec, const u32 *low,
                           const u32 *high) {
  Launch *launch = launch_of(wave);
  Recording *r = o->recording;
  const Access *a = launch->accesses + access;
  u32 at = number * r->waves + wave->index, *used = (u32 *)r->used + at, *count = (u32 *)r->count + at;
  u32 lanes = launch->wave_size, space = a->space, low_base = (u32)base;
  if (*used & LOG_CUT) return 0;
  /* Of a wave with many accesses to LDS no others are waited for in the end. */
  u32 in_lds = *count >> 16;
  if (o->sites[access].waits) {
    u32 *waited = (u32 *)r->waited + at, bit = 1u << access % 32;
    if (*waited & bit) return 1;
    *waited |= bit;
  }
  if ((*count & 0xffff) >= r->events || *used + 257 > r->words || in_lds >= 8 * r->events || in_lds == 0xffff) {
    *used |= LOG_CUT;
    return 0;
  }
  *count += space == SPACE_LDS ? 1 << 16 : 1;
  if (space == SPACE_LDS && *count >> 16 > r->events) return 1;
  Block found[MAX_BLOCKS];
  if (space == SPACE_SCALAR) {
    u32 n = 0;
    for (u32 block = low_base >> 5, last = (low_base + a->bytes - 1) >> 5; block <= last && n < 32; block++) {
      if (n && found[n - 1].line == block >> 2) found[n - 1].sectors |= 1u << (block & 3);
      else found[n++] = (Block){block >> 2, 1u << (block & 3)};
    }
    add_segment(found, n, part_of(launch, base));
    record_lines(r, at, access, 1, found, n);
    return 1;
  }
  u32 active = (u32)__builtin_popcountll(exec);
  if (!exec) return 1;
  u32 first = (u32)__builtin_ctzll(exec);
  if (space == SPACE_FLAT) {
    u32 top = (u32)(address_at(low, high, first, base) >> 32);
    space = top == SHARED_BASE ? SPACE_LDS : top == PRIVATE_BASE ? SPACE_SCRATCH : SPACE_GLOBAL;
  }
  Mark *mark = (Mark *)r->marks + access;
  const Site *site = o->sites + access;
  if (space == SPACE_LDS) {
    const Pattern *p = recorded_pattern(o, mark, access, site->shape, a->bytes, exec, low, low_base, lanes);
    u64 *banked = (u64 *)r->banked + 3 * access;
    banked[0]++;
    banked[1] += active;
    banked[2] += p->bank_cycles;
    return 1;
  }
  if (space == SPACE_SCRATCH) { /* dword d of all lanes lies together, in a place that each wave has for itself */
    u32 offset = (low[first] + low_base) >> 2, dwords = (a->bytes + 3) / 4, n = 0;
    u32 start = o->scratch_base - (at % 2048 + 1) * wave->scratch_bytes * lanes + offset * lanes * 4;
    for (u32 block = start >> 7, last = (start + dwords * lanes * 4 - 1) >> 7; block <= last && n < 32; block++)
      found[n++] = (Block){block, 15};
    add_segment(found, n, SCRATCH_SEGMENT);
    record_lines(r, at, access, active, found, n);
    return 1;
  }
  if (launch->wide) {
    record_lines(r, at, access, active, found,
                 lines_apart(o, launch, mark, access, a->bytes, base, exec, low, high, found));
    return 1;
  }
  const Pattern *p = recorded_pattern(o, mark, access, a->bytes, a->bytes, exec, low, 0, lanes);
  record_lines(r, at, access, active, found, blocks(o, p, low[first] + low_base, 7, found));
  return 1;
}

/* Several host threads may run workgroups of a sample. */
static inline int record_locked(Observation *o, Wave *wave, u32 number, u32 access, u64 base, u64 exec, const u32 *low,
                                const u32 *high) {
  Recording *r = o->recording;
  if (launch_of(wave)->threads <= 1) return record(o, wave, number, access, base, exec, low, high);
  while (__atomic_exchange_n(&r->lock, 1u, __ATOMIC_ACQUIRE)) {}
  int kept = record(o, wave, number, access, base, exec, low, high);
  __atomic_store_n(&r->lock, 0u, __ATOMIC_RELEASE);
  return kept;
}

u32 gpulab_record(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  Observation *o = launch_of(wave)->observation;
  u32 number = sample_of(o->recording, wave->group);
  if (number == ~0u || record_locked(o, wave, number, access, base, exec, low, high)) return 0;
  if (wave->observer == (u64)gpulab_record) forget(wave); /* in a checked launch others are told, too */
  return 0;
}

/* Before a launch: its sample is empty. */
INTERNAL void record_begin(const Launch *launch) {
  Observation *o = launch->observation;
  Recording *r = launch->recording;
  u64 waves = (u64)r->waves * r->size[0] * r->size[1] * r->size[2], accesses = launch->access_count;
  o->recording = r;
  o->sites = launch->sites;
  if (!launch->observed) o->novelty = 0; /* nothing but the sample is wanted */
  for (u64 i = 0; i < waves; i++) ((u32 *)r->used)[i] = ((u32 *)r->count)[i] = ((u32 *)r->waited)[i] = 0;
  for (u64 i = 0; i < accesses; i++) ((Mark *)r->marks)[i] = (Mark){};
  for (u64 i = 0; i < 3 * accesses; i++) ((u64 *)r->banked)[i] = 0;
  r->lock = 0;
}

/* Writes the sample: what `banked` holds, words in use by wave, the logs one behind the other. Returns where it ends. */
INTERNAL u64 record_end(const Launch *launch, u64 *to) {
  const Recording *r = launch->recording;
  u64 waves = (u64)r->waves * r->size[0] * r->size[1] * r->size[2];
  for (u64 i = 0; i < 3 * launch->access_count; i++) *to++ = ((const u64 *)r->banked)[i];
  u32 *words = (u32 *)to;
  for (u64 w = 0; w < waves; w++) *words++ = ((const u32 *)r->used)[w];
  for (u64 w = 0; w < waves; w++) {
    const u32 *from = (const u32 *)r->log + w * r->words;
    u32 used = ((const u32 *)r->used)[w] & ~LOG_CUT;
    for (u32 i = 0; i < used; i++) *words++ = from[i];
  }
  return (u64)words;
}

/* ------------------------------------------------------------------------------------------- the observer of profiles */

/* The common cases first: they need no more than a few registers. */
u32 gpulab_observe(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  Launch *launch = launch_of(wave);
  Observation *o = launch->observation;
  Site *site = o->sites + access;
  u32 space = site->space, number = sample_of(o->recording, wave->group);
  if (number != ~0u) record_locked(o, wave, number, access, base, exec, low, high);
  if (!o->left || !exec ||
      (launch->wide && space == SPACE_GLOBAL && together(exec, low, high, base, launch->wave_size) != exec))
    return out_of_line(wave, access, base, exec, low, high);
  if (space == SPACE_LDS || space == SPACE_GLOBAL) {
    o->left--;
    const Pattern *p = (const Pattern *)site->last;
    if (site->twin != NO_SITE) {
      const Site *twin = o->sites + site->twin;
      if (!p || site->partner != twin->serial) return fresh(wave, access, base, exec, low, high);
    } else if (!p || p->serial != site->serial ||
               !matches(p, site->shape, exec, low, low[__builtin_ctzll(exec)], launch->wave_size))
      return fresh(wave, access, base, exec, low, high);
    site->repeats++;
    if (space == SPACE_LDS) return 0;
    if (!o->following) { /* nothing but counts is left to do */
      u32 start = low[__builtin_ctzll(exec)] + (u32)base;
      u32 counts = ((const Pattern *)site->last)->counts[start >> 2 & 31];
      if (!(start & 3) && counts != ~0u && (i32)(counts >> 16) <= site->limit) {
        site->counts += counts_apart(counts);
        return 0;
      }
    }
    return through_caches(wave, access, base, exec, low, high);
  }
  if (space == SPACE_SCALAR) {
    if (!o->following && o->totals[access].executed) return 0; /* what was followed stands for it */
    o->left--;
    return through_scalar_cache(wave, access, base);
  }
  return out_of_line(wave, access, base, exec, low, high);
}

/* Before a launch: the totals of its `count` accesses are 0, and where patterns are counted none is known yet. Without
   samples none could be worse than the worst. */
void gpulab_observe_begin(Observation *o, u64 count) {
  o->flows = (Flows){};
  o->group[0] = o->fits = ~0u; /* of no workgroup; not known */
  o->clock = 0;
  o->cut = 0;
  o->following = 1;
  for (u64 i = 0; i < count; i++) {
    o->totals[i] = (Totals){};
    o->sites[i].kept = 0;
    if (o->novelty) o->sites[i].last = o->sites[i].serial = o->sites[i].partner = 0;
    o->sites[i].repeats = o->sites[i].counts = 0;
    o->sites[i].worst = o->sites[i].limit = o->samples ? -(1 << 30) : 1 << 30;
    if (o->samples) o->samples[2 * i].known = o->samples[2 * i + 1].known = 0;
  }
}

/* Puts what is still counted apart into the totals. */
void gpulab_observe_end(Observation *o, u64 count) {
  for (u64 i = 0; i < count; i++) {
    Site *site = o->sites + i;
    Totals *t = o->totals + i;
    settle(t, site);
    if (site->space == SPACE_LDS) { t->lds_executed = t->executed; t->lds_lanes = t->lanes; }
  }
}
