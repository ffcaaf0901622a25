/* The observer of profiled launches is told afterwards of waves that took a quick way (translate/telling.py).

   gpulab_tell        of all accesses of waves that went straight through
   gpulab_tell_loop   of a loop that each chunk of lanes has done by itself

   What is certain is counted here: the access looks as it did the time before. Anything else goes to gpulab_observe, with
   the addresses of all lanes. */

#include "observed.h"

/* The addresses of so many lanes that go up by a step. */
static inline void expand(u32 lanes, u32 space, u64 address, i32 step, u32 *low, u32 *high) {
  for (u32 lane = 0; lane < lanes; lane++) low[lane] = (u32)address + (u32)step * lane;
  u32 top = space == SPACE_LDS ? 0 : (u32)(address >> 32);
  for (u32 lane = 0; lane < lanes; lane++) high[lane] = top;
  u64 last = address + (u64)((i64)step * (lanes - 1));
  if (space != SPACE_LDS && (u32)(last >> 32) != top)
    for (u32 lane = 0; lane < lanes; lane++) high[lane] = (u32)((address + (u64)((i64)step * lane)) >> 32);
}

/* An access whose pattern is the last one; the first active lane's address. Its lines, if they are more than ever. */
static inline u32 once_more(Observation *o, const Wave *wave, const Launch *launch, u32 access, u64 address) {
  Site *site = o->sites + access;
  u32 start = (u32)address;
  o->left--;
  site->repeats++;
  if (site->space == SPACE_LDS) return 0;
  if (!o->following) {
    u32 counts = ((const Pattern *)site->last)->counts[start >> 2 & 31];
    if (!(start & 3) && counts != ~0u && (i32)(counts >> 16) <= site->limit) {
      site->counts += counts_apart(counts);
      return 0;
    }
  }
  u32 lines = lines_of(o, wave, launch, access, address);
  return (i32)lines > site->limit ? lines : 0;
}

static inline void told_scalar(Observation *o, Wave *wave, u32 access, u64 address) {
  if (!o->following && o->totals[access].executed) return;
  o->left--;
  through_scalar_cache(wave, access, address);
}

/* No lane was active. */
static inline void told_none(Observation *o, u32 access) {
  const Site *site = o->sites + access;
  Totals *t = o->totals + access;
  o->left--;
  t->executed++;
  if (site->space == SPACE_LDS) { t->lds_executed++; t->bank_cycles += site->phases; }
}

/* Tells the sample's recorder of an access whose pattern is known. */
static inline void recorded(Observation *o, Wave *wave, u32 number, u32 access, u64 exec, u64 address, Pattern *p) {
  if (number != ~0u) record_locked(o, wave, number, access, address, exec, 0, 0, p);
}

/* A scalar load, and an access of which the first lane and the step are known, in the common cases: nothing but these is
   looked at. */
static inline int told_step(Observation *o, Wave *wave, Launch *launch, u32 number, u32 access, u64 address, u64 exec,
                            i32 step) {
  Site *site = o->sites + access;
  Pattern *p = (Pattern *)site->last;
  if (site->space == SPACE_SCALAR) {
    if (number != ~0u) return 0;
    told_scalar(o, wave, access, address);
    return 1;
  }
  if (!exec && number == ~0u) { told_none(o, access); return 1; }
  if (!exec || !p) return 0;
  if (site->twin != NO_SITE) {
    if (site->partner != o->sites[site->twin].serial) return 0;
  } else if (p->serial != site->serial || p->exec != exec || p->shape != site->shape) return 0;
  else if (p->step != step && p->lanes > 1) return 0;
  u64 first = address + (u64)((i64)step * __builtin_ctzll(exec));
  recorded(o, wave, number, access, exec, first, p);
  u32 lines = once_more(o, wave, launch, access, first);
  if (lines) {
    u32 low[64], high[64];
    expand(launch->wave_size, SPACE_GLOBAL, address, step, low, high);
    worse(o, launch, access, wave, exec, low, high, lines);
  }
  return 1;
}

static NOINLINE void told_lanes(Wave *wave, u32 access, u64 address, u64 exec, i32 step) {
  Launch *launch = launch_of(wave);
  u32 space = launch->accesses[access].space, low[64], high[64];
  if (space == SPACE_SCALAR) { gpulab_observe(wave, access, address, 1, 0, 0); return; }
  const u32 *lanes = (const u32 *)address;
  if (step != LANES_APART) expand(launch->wave_size, space, address, step, low, high);
  const u32 *l = step == LANES_APART ? lanes : low;
  const u32 *h = step == LANES_APART ? lanes + launch->wave_size : high;
  gpulab_observe(wave, access, 0, exec, l, space == SPACE_LDS ? 0 : h);
}

/* Accesses from row `at` on of waves that are not in the sample, of which nothing but counts is left to do: the first row
   of which that is not so. Each wave has `count` rows. */
static NOINLINE u64 told_counts(Observation *o, const Told *told, const ToldOf *of, u64 at, u64 rows, u64 count) {
  Site *sites = o->sites;
  u64 left = o->left, i = at % count;
  told += at;
  for (; at < rows; at++, told++, i = i + 1 < count ? i + 1 : 0) {
    u64 address = told->address, exec = of[i].exec;
    if (address == (u64)NOT_TOLD) continue;
    Site *site = sites + of[i].access;
    u32 space = site->space;
    if (!left) break;
    if (space == SPACE_SCALAR) {
      if (!o->totals[of[i].access].executed) break;
      continue;
    }
    i32 step = of[i].step;
    if (!exec) exec = told->exec;
    if (step == LANES_APART) step = (i32)told->step;
    const Pattern *p = (const Pattern *)site->last;
    if (!exec) {
      o->left = left;
      told_none(o, of[i].access);
      left = o->left;
      continue;
    }
    if (step == LANES_APART || !p) break;
    if (site->twin != NO_SITE) {
      if (site->partner != sites[site->twin].serial) break;
    } else if ((p->serial ^ site->serial) | (p->exec ^ exec) | (p->shape ^ site->shape)) break;
    else if (p->step != step && p->lanes > 1) break;
    if (space != SPACE_LDS) {
      u32 start = (u32)address + (u32)step * (u32)__builtin_ctzll(exec), counts = p->counts[start >> 2 & 31];
      if (space != SPACE_GLOBAL || start & 3 || counts == ~0u || (i32)(counts >> 16) > site->limit) break;
      site->counts += counts_apart(counts);
    }
    left--;
    site->repeats++;
  }
  o->left = left;
  return at;
}

/* One of a wave's accesses. */
static NOINLINE void told_one(Wave *wave, u32 sampled, const Told *told, const ToldOf *of) {
  Launch *launch = launch_of(wave);
  Observation *o = launch->observation;
  u64 exec = of->exec ? of->exec : told->exec;
  i32 step = of->step == LANES_APART ? (i32)told->step : of->step;
  if (launch->wide || !o->left || step == LANES_APART ||
      !told_step(o, wave, launch, sampled, of->access, told->address, exec, step))
    told_lanes(wave, of->access, told->address, exec, step);
}

u32 gpulab_tell(Wave *wave, u64 number, u64 waves, u64 count, const Told *told, const ToldOf *of) {
  Launch *launch = launch_of(wave);
  Observation *o = launch->observation;
  u32 sampled = sample_of(o->recording, wave->group);
  u64 rows = waves * count;
  for (u64 at = 0; at < rows; at++) {
    if (!o->following && sampled == ~0u && !launch->wide) {
      at = told_counts(o, told, of, at, rows, count);
      if (at == rows) return 0;
    }
    if (told[at].address == (u64)NOT_TOLD) continue;
    if (!o->left && !launch->observed && sampled == ~0u) return 0; /* nobody wants to know more */
    wave->index = (u32)(number + at / count);
    told_one(wave, sampled, told + at, of + at % count);
  }
  return 0;
}

/* The first lanes' addresses of up to eight chunks. */
typedef u64 V4 __attribute__((vector_size(32), aligned(8)));
typedef struct { V4 half[2]; } Firsts;

static inline V4 apart(const u64 *first, u64 begin, V4 active) { return (*(const V4 *)first - begin) & active; }

/* Of an access in the round before: its pattern's serial number, 0: not known; how far its chunks were apart. Where they
   are as far apart again the pattern is the same, as the steps are. */
typedef struct { u64 serial; Firsts apart; } Round;

static void expand_chunks(const ToldLoop *loop, u32 space, const u64 *first, const i32 *steps, u32 chunks, u32 *low,
                          u32 *high) {
  for (u32 c = 0; c < chunks; c++)
    expand(loop->lanes, space, first[c], steps[c * loop->columns], low + c * loop->lanes, high + c * loop->lanes);
}

/* With the addresses of all lanes: an access that is not the same as in the round before, or has `lines`, more than ever. */
static NOINLINE void told_round(Wave *wave, u32 access, u64 exec, const ToldLoop *loop, const u64 *first,
                                const i32 *steps, u32 lines) {
  Launch *launch = launch_of(wave);
  u32 low[64], high[64], space = launch->accesses[access].space;
  expand_chunks(loop, space, first, steps, launch->wave_size / loop->lanes, low, high);
  if (lines) worse(launch->observation, launch, access, wave, exec, low, high, lines);
  else gpulab_observe(wave, access, 0, exec, low, space == SPACE_LDS ? 0 : high);
}

u32 gpulab_tell_loop(Wave *wave, u64 exec, u64 times, const u64 *log, const i32 *steps, const ToldLoop *loop) {
  Launch *launch = launch_of(wave);
  Observation *o = launch->observation;
  const u32 *order = (const u32 *)(loop + 1);
  u32 chunks = launch->wave_size / loop->lanes, lane = (u32)__builtin_ctzll(exec), from = lane / loop->lanes;
  u32 sampled = sample_of(o->recording, wave->group);
  int narrow = !launch->wide;
  Round rounds[TOLD_COLUMNS];
  Firsts active = {};
  for (u32 c = 0; c < chunks; c++)
    if (loop->lanes == 64 || exec >> (c * loop->lanes) & ((1ull << loop->lanes) - 1)) active.half[c / 4][c % 4] = ~0ull;
  for (u32 i = 0; i < loop->accesses; i++) rounds[i].serial = 0;
  for (u64 k = 0; k < times; k++, log += loop->columns * chunks) {
    for (u32 i = 0; i < loop->accesses; i++) {
      u32 column = order[2 * i], access = order[2 * i + 1];
      const u64 *first = log + column * chunks;
      const Site *site = o->sites + access;
      Round *round = rounds + i;
      u64 begin = first[from];
      if (site->space == SPACE_SCALAR) {
        if (sampled == ~0u && o->left) told_scalar(o, wave, access, begin);
        else gpulab_observe(wave, access, begin, 1, 0, 0);
        continue;
      }
      Pattern *p = (Pattern *)site->last;
      Firsts now = {{apart(first, begin, active.half[0])}};
      if (chunks > 4) now.half[1] = apart(first + 4, begin, active.half[1]);
      int same = 0;
      if (narrow && o->left && p) {
        if (site->twin != NO_SITE) same = site->partner == o->sites[site->twin].serial;
        else if (p->serial == site->serial && round->serial == p->serial)
          same = !__builtin_reduce_or((now.half[0] ^ round->apart.half[0]) | (now.half[1] ^ round->apart.half[1]));
      }
      u32 lines = 0;
      if (same) {
        u64 active_first = begin + (u64)((i64)steps[from * loop->columns + column] * (lane % loop->lanes));
        recorded(o, wave, sampled, access, exec, active_first, p);
        lines = once_more(o, wave, launch, access, active_first);
        if (!lines) continue;
      }
      told_round(wave, access, exec, loop, first, steps + column, lines);
      round->serial = narrow ? site->serial : 0;
      round->apart = now;
    }
    if (!o->left && !launch->observed && sampled == ~0u) return 0; /* nobody wants to know more */
  }
  return 0;
}
