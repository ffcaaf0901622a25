/* Modelled caches: sets of tags in the order of their last use, from a compute unit's first one to memory. */

#ifndef GPULAB_CACHES_H
#define GPULAB_CACHES_H

#include "observed.h"

/* Addresses are the low 32 bits, within the 4 GiB of device memory that `o->segment` says; scratch has some for itself.
   Behind the first cache a tag has these in the low bits. FETCHED: two halves of 64 bytes; DIRTY: four sectors of 32
   bytes. */
enum { FETCHED = 1, DIRTY = 4 };
#define STATE 63u

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
  u64 same = 0;
  if (used) same = ways_with(tags, used > 16 ? stride : 16, ~0u, key) & ((1ull << (used & 63)) - 1 | -(u64)(used >> 6));
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

#endif
