/* A checked launch is asked of waves that take a quick way (translate/straight.py) before they store anything.

   gpulab_ask        of all accesses of one wave
   gpulab_ask_loop   of the loads of a loop that each chunk of lanes has done by itself

   What is common is answered by the rules of races.c, and noted. Where one of them would have something to say, or an
   access is of another kind, the answer is no: the wave then takes the ordinary way, in which the checker looks at
   everything once more. What was noted until then does no harm: it is the wave's own. */

#include "checked.h"

/* Where the shadow cells of an access are. `region`: 0: in LDS. */
typedef struct { Check *c; Region *region; View view; u32 mine, width; } Place;

enum { NO_CELLS, CELLS, UNCLEAR };

/* Gives where an access of global memory goes that begins at an address. NO_CELLS: there are none, and nothing is
   wrong. UNCLEAR: it needs a closer look. */
static inline u32 find_cells(Check *c, u32 access, u64 address, Place *p) {
  const Role *role = c->roles + access;
  Region *r = p->region = region_of(c, access, address);
  if (!r) return NO_CELLS;
  if (r->cell == ~0ull) return r->bits ? UNCLEAR : NO_CELLS;
  p->c = c; p->mine = (u32)c->mine; p->width = role->width;
  p->view = view_of(c, r);
  return r->size < role->bytes ? UNCLEAR : CELLS;
}

static inline void cells_in_lds(Check *c, u32 access, Place *p) {
  p->c = c; p->region = 0; p->mine = (u32)c->mine; p->width = c->roles[access].width;
  p->view = c->lds;
}

/* A lane's read from an address on. 0: nothing is wrong, and it is noted. */
static inline u32 read_one(const Place *p, u64 address, u32 epoch) {
  const View *v = &p->view;
  u64 offset = address - v->start, width = p->width;
  if (offset > v->size - width || (v->bits && !bits_full(v->bits, offset, width))) return 1;
  u64 first = offset >> v->shift, last = (offset + width - 1) >> v->shift;
  if (p->region) use_cells(p->c, p->region, p->region->cell + first, p->region->cell + last);
  u32 bad = 0;
  for (u64 cell = first; cell <= last; cell++) {
    u32 w = v->write[cell], *read = v->read + cell, *other = v->other + cell, earlier = *read;
    bad |= (w > v->old) & (w < p->mine);
    if (!p->region) bad |= w <= v->unset;
    if (earlier >= p->mine) continue;
    if (earlier > v->old && (!p->region || !STAYS(earlier, *other, v->old, v->began, v->own))) *other = earlier;
    *read = epoch;
  }
  return bad;
}

/* A scalar load, or one by all lanes of the same element. */
static u32 ask_one(Check *c, u32 access, u64 address, u32 lane) {
  Place p;
  u32 there = find_cells(c, access, address, &p);
  return there == CELLS ? read_one(&p, address, ((u32)c->now << EVENT_SHIFT) + lane) : there;
}

/* Stores of lanes whose addresses are known: chunk by chunk, which must not overlap. */
static u32 ask_stores(Check *c, u32 access, u32 bytes, u64 changed, const u32 *low, const u32 *high) {
  u32 size = (u32)c->wave_size, count = size / LANES;
  u64 starts[64 / LANES];
  for (u32 n = 0; n < count; n++) {
    const u32 *l = low + n * LANES, *h = high + n * LANES;
    u32 differs = 0;
    for (u32 i = 1; i < LANES; i++) differs |= (l[i] ^ (l[0] + i * bytes)) | (h[i] ^ h[0]);
    if (differs || l[0] > ~0u - LANES * bytes) return 1;
    starts[n] = (u64)h[0] << 32 | l[0];
    for (u32 i = 0; i < n; i++)
      if (starts[n] - starts[i] < LANES * bytes || starts[i] - starts[n] < LANES * bytes) return 1;
  }
  u64 all = all_lanes(LANES);
  for (u32 n = 0; n < count; n++)
    if (global_range(c, access, WRITE, bytes, LANES, n * LANES, starts[n], all, changed >> n * LANES & all)) return 1;
  return 0;
}

/* One access of all lanes, the first of which is at an address. LANES_APART: that is where all addresses stand. 0: yes.
*/
static u32 may_go_on(Check *c, u32 access, const Access *a, u64 address, i32 step, u64 changed) {
  const Role *role = c->roles + access;
  u32 size = (u32)c->wave_size, low[64], high[64];
  c->log[++c->now] = (u16)access;
  if (role->flags & ROLE_ATOMIC) return 1;
  if (a->space == SPACE_SCALAR) return ask_one(c, access, address, 63);
  if (a->action == READ && step == 0) return ask_one(c, access, address, 0);
  if (a->action == READ && !(role->flags & ROLE_GLOBAL_READ)) return 1;
  if (step == (i32)a->bytes) {
    if (a->action != READ) return global_range(c, access, WRITE, a->bytes, size, 0, address, c->all_lanes, changed);
    Place p;
    u32 there = find_cells(c, access, address, &p);
    if (there != CELLS) return there;
    return read_consecutive(c, p.region, &p.view, p.mine, address, a->bytes, size, (u32)c->now << EVENT_SHIFT);
  }
  const u32 *l = (const u32 *)address, *h = l + size;
  if (step != LANES_APART) {
    for (u32 lane = 0; lane < size; lane++) {
      u64 its = address + (u64)((i64)step * lane);
      low[lane] = (u32)its;
      high[lane] = (u32)(its >> 32);
    }
    l = low; h = high;
  }
  return a->action == READ ? read_lanes(c, access, 0, l, h) : ask_stores(c, access, a->bytes, changed, l, h);
}

u32 gpulab_ask(Wave *wave, u64 number, u64 waves, u64 count, const Told *told, const ToldOf *of) {
  Launch *launch = launch_of(wave);
  Check *c = check_of(launch);
  (void)waves; /* one */
  Thread *thread = wave->thread;
  enter(thread, c, group_at(c, thread->order[thread->used]), (u32)number);
  for (u64 i = 0; i < count; i++) {
    i32 step = of[i].step == LANES_APART ? (i32)told[i].step : of[i].step;
    u32 access = of[i].access;
    if (may_go_on(c, access, launch->accesses + access, told[i].address, step, told[i].changed & c->all_lanes)) {
      c->again = 1;
      return 1;
    }
  }
  return 0;
}

/* Whether the LANES addresses from `log` on are those of cells side by side. */
static inline int is_run(const u64 *log, u64 shift) {
  u64 differs = 0;
  for (u64 i = 1; i < LANES; i++) differs |= log[i] ^ (log[0] + (i << shift));
  return !differs;
}

/* Rounds in which all lanes read a cell, each time the next one: LANES of them. 1: nothing is wrong, and it is noted. */
static inline int read_run(const Place *p, u64 address, u32 epoch, u32 step) {
  const View *v = &p->view;
  u64 offset = address - v->start, total = (u64)LANES << v->shift;
  if (total > v->size || offset > v->size - total || offset & ((1u << v->shift) - 1)) return 0;
  if (v->bits && !bits_full(v->bits, offset, total)) return 0;
  u64 cell = offset >> v->shift;
  if (p->region) use_cells(p->c, p->region, p->region->cell + cell, p->region->cell + cell + LANES - 1);
  return read_in_rounds(p->region, v, p->mine, cell, epoch, step);
}

/* A loop's reads of one access by a chunk of lanes, in so many rounds, of which `log` has the first lanes' addresses. */
static u32 ask_chunk(Place *p, u32 access, const u64 *log, u64 times, i32 step, u32 lanes, u32 first, u64 active,
                     u32 events) {
  Check *c = p->c;
  u32 epoch = ((u32)(c->now + 1) << EVENT_SHIFT) + first, bytes = c->roles[access].bytes, next = events << EVENT_SHIFT;
  int whole = active == all_lanes(lanes), cell = bytes == 1u << p->view.shift;
  for (u64 k = 0; k < times; k++, epoch += next) {
    u64 address = log[k];
    if (p->region && address - p->view.start >= p->view.size && find_cells(c, access, address, p) != CELLS) return 1;
    if (step == (i32)bytes && whole) {
      if (read_consecutive(c, p->region, &p->view, p->mine, address, bytes, lanes, epoch)) return 1;
      continue;
    }
    /* Lane by lane, of a run of rounds all at once. */
    u32 rounds = cell && k + LANES <= times && is_run(log + k, p->view.shift) ? LANES : 1;
    for (u64 left = step ? active : active & -active; left; left &= left - 1) {
      u32 one = (u32)__builtin_ctzll(left);
      u64 its = address + (u64)((i64)step * one);
      if (rounds == LANES && read_run(p, its, epoch + one, next)) continue;
      for (u32 i = 0; i < rounds; i++, its += bytes) {
        if (p->region && its - p->view.start >= p->view.size && find_cells(c, access, its, p) != CELLS) return 1;
        if (read_one(p, its, epoch + one + i * next)) return 1;
      }
    }
    k += rounds - 1;
    epoch += (rounds - 1) * next;
  }
  return 0;
}

static int is_same(const u64 *log, const u64 *other, u64 times) {
  u64 differs = 0;
  for (u64 k = 0; k < times; k++) differs |= log[k] ^ other[k];
  return !differs;
}

u32 gpulab_ask_loop(Wave *wave, u64 exec, u64 times, const u64 *log, const i32 *steps, const ToldLoop *loop) {
  Launch *launch = launch_of(wave);
  Check *c = check_of(launch);
  const u32 *order = (const u32 *)(loop + 1);
  u32 lanes = loop->lanes, chunks = launch->wave_size / lanes, count = loop->accesses;
  if (c->now + times * count > MOST_EVENTS) return 1;
  for (u32 i = 0; i < count; i++) if (c->roles[order[2 * i + 1]].flags & ROLE_ATOMIC) return 1;
  u16 *to = c->log + c->now + 1;
  for (u64 k = 0; k < times; k++, to += count)
    for (u32 i = 0; i < count; i++) to[i] = (u16)order[2 * i + 1];
  for (u32 i = 0; i < count; i++, c->now++) {
    u32 column = order[2 * i], access = order[2 * i + 1], space = launch->accesses[access].space;
    int scalar = space == SPACE_SCALAR, before = 0;
    for (u32 n = 0; n < (scalar ? 1 : chunks); n++) {
      u64 active = scalar ? 1 : exec >> n * lanes & all_lanes(lanes);
      const u64 *first = log + (column * chunks + n) * (u64)loop->most;
      i32 step = scalar ? 0 : steps[n * loop->columns + column];
      if (!active) { before = 0; continue; }
      if (before && active == all_lanes(lanes) && step == steps[(n - 1) * loop->columns + column] &&
          is_same(first, first - loop->most, times))
        continue;
      before = active == all_lanes(lanes);
      Place p;
      if (space == SPACE_LDS) cells_in_lds(c, access, &p);
      else {
        u32 there = find_cells(c, access, *first, &p);
        if (there == NO_CELLS) continue;
        if (there == UNCLEAR) return 1;
      }
      if (ask_chunk(&p, access, first, times, step, lanes, scalar ? 63 : n * lanes, active, count)) return 1;
    }
  }
  c->now += (times - 1) * count;
  return 0;
}
