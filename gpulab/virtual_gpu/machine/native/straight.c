/* A checked launch is asked of waves that take a quick way (translate/straight.py) before they store anything.

   gpulab_ask   of all accesses of one wave

   What is common is answered by the rules of races.c, and noted. Where one of them would have something to say, or an
   access is of another kind, the answer is no: the wave then takes the ordinary way, in which the checker looks at
   everything once more. What was noted until then does no harm: it is the wave's own. */

#include "checked.h"

/* Reads of one lane. 0: nothing is wrong, and it is noted. */
static u32 ask_lane(Check *c, u32 access, u64 address, u32 lane) {
  const Role *role = c->roles + access;
  Region *r = region_of(c, access, address);
  if (!r) return 0;
  u64 offset = address - r->address, width = role->width;
  if (offset + role->bytes > r->size) return 1;
  if (r->bits && !bits_full((const u8 *)r->bits, offset, width)) return 1;
  if (r->cell == ~0ull) return 0;
  u32 old = c->wave_state->seen, mine = (u32)c->mine, epoch = ((u32)c->now << EVENT_SHIFT) + lane;
  u64 first = r->cell + (offset >> c->shift), last = r->cell + ((offset + width - 1) >> c->shift);
  use_cells(c, r, first, last);
  for (u64 cell = first; cell <= last; cell++) {
    u32 *read = c->read + cell, *other = c->other + cell, earlier = *read;
    if (c->write[cell] > old && c->write[cell] < mine) return 1;
    if (earlier >= mine) continue;
    if (earlier > old && !STAYS(earlier, *other, old, c->group_state->start, (u32)c->own)) *other = earlier;
    *read = epoch;
  }
  return 0;
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

/* One access of all lanes, the first of which is at an address. LANES_APART: that is where all addresses stand. 0: yes. */
static u32 may_go_on(Check *c, u32 access, const Access *a, u64 address, i32 step, u64 changed) {
  const Role *role = c->roles + access;
  u32 size = (u32)c->wave_size, low[64], high[64];
  c->log[++c->now] = (u16)access;
  if (role->flags & ROLE_ATOMIC) return 1;
  if (a->space == SPACE_SCALAR) return ask_lane(c, access, address, 63);
  if (a->action == READ && step == 0) return ask_lane(c, access, address, 0);
  if (a->action == READ && !(role->flags & ROLE_GLOBAL_READ)) return 1;
  if (step == (i32)a->bytes)
    return a->action == READ ? read_side_by_side(c, access, address, size, 0)
                             : global_range(c, access, WRITE, a->bytes, size, 0, address, c->all_lanes, changed);
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
    if (may_go_on(c, access, launch->accesses + access, told[i].address, step, told[i].changed)) return 1;
  }
  return 0;
}
