/* The sample of a launch: accesses of the waves of some workgroups, in a log for each wave.

   gpulab_record   is told of one access of a wave

   A log is made of entries: a word with the access's number (16 bits), its active lanes (8) and the number of lines (8),
   and for each line of 128 bytes a word with its number and, in the low 4 bits, the 32-byte sectors that are used.
   Accesses to LDS have no entry but are counted, with the cycles of their banks. Of a wave that waits for another one
   the first look alone is recorded. */

#include "observed.h"

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
                           const u32 *high, Pattern *known) {
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
    const Pattern *p = known;
    if (known) *mark = (Mark){(u64)known, known->serial};
    else p = recorded_pattern(o, mark, access, site->shape, a->bytes, exec, low, low_base, lanes);
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
  const Pattern *p = known;
  if (known) *mark = (Mark){(u64)known, known->serial};
  else p = recorded_pattern(o, mark, access, a->bytes, a->bytes, exec, low, 0, lanes);
  record_lines(r, at, access, active, found, blocks(o, p, known ? low_base : low[first] + low_base, 7, found));
  return 1;
}

int record_locked(Observation *o, Wave *wave, u32 number, u32 access, u64 base, u64 exec, const u32 *low,
                  const u32 *high, Pattern *known) {
  Recording *r = o->recording;
  if (launch_of(wave)->threads <= 1) return record(o, wave, number, access, base, exec, low, high, known);
  while (__atomic_exchange_n(&r->lock, 1u, __ATOMIC_ACQUIRE)) {}
  int kept = record(o, wave, number, access, base, exec, low, high, known);
  __atomic_store_n(&r->lock, 0u, __ATOMIC_RELEASE);
  return kept;
}

u32 gpulab_record(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  Observation *o = launch_of(wave)->observation;
  u32 number = sample_of(o->recording, wave->group);
  if (number == ~0u || record_locked(o, wave, number, access, base, exec, low, high, 0)) return 0;
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
