/* The observers of memory accesses: what their files share.

   patterns.c  what the addresses of a wave look like: LDS banks, and cache lines
   caches.h    modelled caches: sets of tags in the order of their last use
   observe.c   profiled launches: what each access of the observed workgroups did to banks and caches
   tell.c      the same, told afterwards of waves that took a quick way
   record.c    all launches: the accesses of a sample of workgroups, from which the time is modelled

   docs/counters.md and docs/timing.md have the rules, their sources and what is assumed. */

#ifndef GPULAB_OBSERVED_H
#define GPULAB_OBSERVED_H

#include "support.h"

typedef u32 V16 __attribute__((vector_size(64)));
typedef u32 Loose16x __attribute__((vector_size(64), aligned(4)));

enum { SECTOR = 32, MAX_BLOCKS = 256 };

typedef struct { int from, to; } Span;

typedef struct {
  V16 relative[4], keep[4]; /* addresses of active lanes less the first one's; all ones for active lanes */
  u64 exec, serial;          /* serial: this pattern's, which no other ever has; 0: none */
  u32 shape, spans, lanes;
  u32 epoch;                 /* launch in which it was met last */
  u32 ascending;             /* spans in the order of addresses */
  i32 step;                  /* bytes from lane to lane; LANES_APART: not the same everywhere; of one lane, 0 */
  u32 bank_cycles, conflict_cycles;
  u32 counts[32];            /* quads, and lines << 16, by the first address in 128 bytes, in dwords; ~0: not known */
  Span span[64];
} __attribute__((aligned(64))) Pattern;

_Static_assert(sizeof(Pattern) == PATTERN_BYTES, "Pattern differs from schema.py");

typedef struct { u32 line, sectors; } Block;

static inline u32 or_all(V16 v) { return __builtin_reduce_or(v); }

typedef _Bool Bits16 __attribute__((ext_vector_type(16)));

static inline u32 bits_of(V16 yes) {
  Bits16 bits = __builtin_convertvector(yes, Bits16);
  unsigned short number;
  __builtin_memcpy(&number, &bits, 2);
  return number;
}

static const V16 COUNTING = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

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

static inline u32 part_of(const Launch *launch, u64 address) {
  return launch->wide ? (u32)((address - launch->arena) >> 32) : 0;
}

/* The number in the sample of a wave's workgroup; ~0 if it is not in it. */
static inline u32 sample_of(const Recording *r, const u32 *group) {
  u32 x = group[0] - r->begin[0], y = group[1] - r->begin[1], z = group[2] - r->begin[2];
  return x < r->size[0] && y < r->size[1] && z < r->size[2] ? x + r->size[0] * (y + r->size[1] * z) : ~0u;
}

/* Whether a pattern is what such an access of `lanes` lanes looks like, whose first active lane is at `start`. */
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

/* The pattern of an access, which is built where none is known. (patterns.c) */
INTERNAL NOINLINE Pattern *search(Observation *o, const Site *site, u32 shape, u32 bytes, u64 exec, const u32 *low,
                                  u32 base, u32 first, u32 lanes);

/* The blocks of 1 << shift bytes that a pattern touches from `start` on, each with its 32-byte sectors as bits; how
   many. (patterns.c) */
INTERNAL u32 blocks(Observation *o, const Pattern *p, u32 start, u32 shift, Block *out);

/* Requests of four lanes each: for each four consecutive lanes, the 64-byte blocks that they touch. (patterns.c) */
INTERNAL u32 quads_of(const Pattern *p, u32 start, u32 bytes, u32 lanes);

/* Records an access of a wave of the sample's workgroup `number`: whether the wave's log goes on. Several host threads
   may run workgroups of a sample. (record.c) */
INTERNAL int record_locked(Observation *o, Wave *wave, u32 number, u32 access, u64 base, u64 exec, const u32 *low,
                           const u32 *high, Pattern *known);

#define NO_SITE (~0u)

static inline u64 counts_apart(u32 counts) { return (counts & 0xffff) | (u64)(counts >> 16) << 32; }

/* An access to cached memory whose pattern is known, and counted; the first active lane's address. Gives the lines.
   (observe.c) */
INTERNAL u32 lines_of(Observation *o, const Wave *wave, const Launch *launch, u32 access, u64 address);

/* Keeps the addresses of an access that uses more lines than ever. (observe.c) */
INTERNAL NOINLINE void worse(Observation *o, const Launch *launch, u32 access, const Wave *wave, u64 exec,
                             const u32 *low, const u32 *high, u32 lines);

/* A scalar load in its cache. (observe.c) */
INTERNAL NOINLINE u32 through_scalar_cache(Wave *wave, u32 access, u64 base);

#endif
