/* Data races: two accesses of which at least one changes memory, and neither of which happens before the other.

   For each granule of memory, shadow memory has three epochs (a shadow cell): the last write and two reads by different
   segments (STAYS of checked.h says which), as FastTrack keeps one write and adapts what it keeps of reads. Whether an
   earlier access happens before the present one is answered by comparing epochs (happens_before): all events up to a
   wave's `seen` did (the launch's start, or what it learned from other workgroups), all of its own workgroup up to the
   last barrier did, its own did. As one wave runs at a time, the events of all waves have one order, and so a single
   number stands for what FastTrack keeps as a vector clock: it takes more for ordered than a clock for each wave would.

   A wave learns from others by atomics: what was released at an address is `learned` by who reads it, and `seen` from
   its next acquire on. Taking an atomic's whole past for ordered is more than the memory model grants: so races can be
   missed behind atomics, but none is invented.

   gpulab_check        the observer
   gpulab_keep_store   gpulab_store, which also notes which lanes changed memory
   gpulab_note         releases, acquires and steps */

#include "checked.h"

/* The segment of an event. */
const Segment *segment_of(Check *c, u32 epoch) {
  const Segment *all = c->segments;
  u64 low = 0, high = c->segment_count;
  while (low < high) {
    u64 middle = (low + high) / 2;
    if (all[middle].first <= epoch >> EVENT_SHIFT) low = middle + 1; else high = middle;
  }
  return low ? &all[low - 1] : 0;
}

/* Whether the access that left `epoch` happened before what the running wave does now. */
static int happens_before(Check *c, u32 epoch) {
  CheckedWave *w = c->wave_state;
  CheckedGroup *g = c->group_state;
  if (epoch <= w->seen || epoch >= c->mine) return 1;
  const Segment *s = segment_of(c, epoch);
  if (!s) return 1;
  if (s->group != c->my_group) return 0;
  return s->wave == c->me || epoch <= g->phase || epoch <= w->near;
}

/* Why the atomics that the wave has read since gave no order with the access that left `epoch`. */
static void add_lack(Check *c, Finding *found, u32 access, u32 epoch) {
  CheckedWave *w = c->wave_state;
  const Role *roles = c->roles;
  const Segment *s = segment_of(c, epoch);
  u32 earlier = roles[c->log[epoch >> EVENT_SHIFT]].flags, mine = roles[access].flags;
  if (mine & earlier & ROLE_ATOMIC) { found->lack = LACK_SCOPE; return; }
  if (!s) return;
  found->flag_access = w->learned_access;
  if (s->group != c->my_group && epoch <= w->learned) { found->lack = LACK_ACQUIRE; return; }
  const Segment *h = epoch < w->heard ? segment_of(c, w->heard) : 0;
  if (!h || h->group != s->group || h->wave != s->wave) return;
  found->flag_access = w->heard_access;
  found->lack = s->group == c->my_group ? LACK_BLOCK : LACK_RELEASE;
}

/* Notes a race. From here on what the other side did so far counts as ordered. 1: the workgroup is to stop. */
static int race(Check *c, Wave *wave, u32 access, u32 lane, u64 address, u32 epoch) {
  Finding *found = report(c, wave, FOUND_RACE, access, lane, address);
  if (found) {
    add_other(c, found, epoch);
    add_lack(c, found, access, epoch);
  }
  if (c->pending.finding.access == c->log[epoch >> EVENT_SHIFT]) c->pending.finding.kind = FOUND_NOTHING;
  CheckedWave *w = c->wave_state;
  const Segment *s = segment_of(c, epoch);
  u32 before = (u32)c->mine - 1;
  if (s && s->group == c->my_group) w->near = c->lds.old = before; else w->seen = before;
  return finished(c, wave->thread);
}

/* Whether a pair of accesses would be a race without an order: the present one, and the one that left `epoch`. */
static int conflicting(Check *c, u32 access, u32 epoch) {
  const Role *roles = c->roles;
  u32 earlier = c->log[epoch >> EVENT_SHIFT];
  u32 mine = roles[access].flags, its = roles[earlier].flags;
  if (!(mine & its & ROLE_ATOMIC)) return 1;
  if (!((mine | its) & ROLE_NARROW)) return 0;
  const Segment *s = segment_of(c, epoch);
  return s && s->group != c->my_group;
}

/* Whether the access that left `epoch` and the present one are a race. What costs less is asked first: the accesses,
   then their order. */
static int unordered(Check *c, u32 access, u32 epoch) {
  return conflicting(c, access, epoch) && !happens_before(c, epoch);
}

/* What the wave learns from a cell that it uses with an atomic operation. */
static void acquire(Check *c, u32 access, u32 epoch) {
  CheckedWave *w = c->wave_state;
  if (!(epoch & ATOMIC_BIT) || epoch >= c->mine) return;
  if (epoch > w->heard) { w->heard = epoch; w->heard_access = access; }
  if (epoch <= w->near || !c->ordering) return;
  const Segment *s = segment_of(c, epoch);
  if (s && s->group == c->my_group) {
    w->near = epoch;
    if (epoch > c->lds.old) c->lds.old = epoch;
    /* What the other wave knows of other workgroups it hands on. */
    CheckedWave *from = waves_of(c->group_state) + s->wave;
    if (from->seen > w->seen) w->seen = from->seen;
    if (from->learned > w->learned) w->learned = from->learned;
  }
}

static Release *release_at(Check *c, u64 address) {
  Release *all = c->releases;
  u64 mask = c->release_room - 1, at = (address * 0x9E3779B97F4A7C15ull >> 32) & mask;
  while (all[at].key && all[at].key != address) at = (at + 1) & mask;
  return all + at;
}

static void synchronise(Check *c, u32 access, u64 address, int reads, int writes) {
  CheckedWave *w = c->wave_state;
  address &= ~3ull;
  if (reads) {
    u32 got = (u32)c->release_floor;
    if (c->release_count) {
      Release *r = release_at(c, address);
      if (r->key && r->epoch > got) got = (u32)r->epoch;
    }
    if (got > w->learned) { w->learned = got; w->learned_access = access; }
  }
  if (writes) {
    u32 give = w->released;
    if (!give) return;
    if (2 * c->release_count >= c->release_room) {
      if (give > c->release_floor) c->release_floor = give;
      return;
    }
    Release *r = release_at(c, address);
    if (!r->key) { r->key = address; r->epoch = 0; c->release_count++; }
    if (give > r->epoch) r->epoch = give;
  }
}

/* What a checked kernel tells beside its memory accesses. Not 0: the workgroup is to stop. No checker: nobody listens.
   NOTE_RELEASE: the wave's writes so far become visible to other workgroups, with its next atomic write.
   NOTE_ACQUIRE: what it has learned by atomic reads becomes visible to it. NOTE_FENCE: both.
   NOTE_STEP: the wave is about to execute an instruction (in programs written in assembly). */
u32 gpulab_note(Wave *wave, u32 what, u32 instruction, u64 exec) {
  Check *c = check_of(launch_of(wave));
  if (!c) return 0;
  CheckedWave *w = c->wave_state;
  if (what == NOTE_STEP) return step(c, wave, instruction, exec);
  if (what != NOTE_ACQUIRE) w->released = (u32)(c->now << EVENT_SHIFT | LAST_LANE);
  if (what != NOTE_RELEASE && w->learned > w->seen) w->seen = w->learned;
  return 0;
}

/* For eight cells, whether the lanes that they belong to are in `mask`. (They never lie across lane 32.) */
static inline Full cells_of(u64 mask, const u32 *lanes) {
  Full of = *(const Cells *)lanes;
  return all_of(0) - (all_of((u32)(mask >> (of[0] & 32))) >> (of & 31) & 1);
}

/* `n` shadow cells that consecutive lanes read: of each, `lanes` has the lane, and those of lanes in `active` count. */
static inline int read_cells(Check *c, u32 *write, u32 *read, u32 *other, u32 n, const u32 *lanes, u64 active,
                             u32 epoch, u32 old, u32 unset, u32 began, int *missing) {
  Full bad = {0}, never = {0}, mine = all_of((u32)c->mine), limit = all_of(old), from = all_of(unset);
  Full own = all_of((u32)c->own), start = all_of(began);
  for (u32 i = 0; i < n; i += 8) {
    Full w = *(const Cells *)(write + i), r = *(const Cells *)(read + i), these = cells_of(active, lanes + i);
    bad |= (Full)((w > limit) & (w < mine)) & these;
    never |= (Full)(w <= from) & these;
    Full renew = (Full)(r < mine) & these;
    if (any(renew)) {
      Full keep = renew & (Full)(r > limit);
      if (any(keep)) {
        Full o = *(const Cells *)(other + i);
        keep &= ~(Full)STAYS(r, o, limit, start, own);
        *(Cells *)(other + i) = (o & ~keep) | (r & keep);
      }
      Full s = *(const Cells *)(lanes + i) + all_of(epoch);
      *(Cells *)(read + i) = (r & ~renew) | (s & renew);
    }
  }
  *missing = any(never);
  return any(bad);
}

/* The same of a store; the lanes in `changed` stored another value than there was. Where LDS was never written (up to
   `unset`), a store counts also if it changes nothing. 1: nothing is noted, and it needs a closer look. */
INLINE int write_cells(Check *c, u32 *write, u32 *read, u32 *other, u32 n, const u32 *lanes, u64 active, u64 changed,
                       u32 epoch, u32 old, u32 unset) {
  Full bad = {0}, limit = all_of(old), span = all_of((u32)c->mine > old ? (u32)c->mine - old - 1 : 0);
  for (u32 i = 0; i < n; i += 8) {
    Full w = *(const Cells *)(write + i), r = *(const Cells *)(read + i), o = *(const Cells *)(other + i);
    Full found = (Full)(w - limit - 1 < span) | (Full)(r - limit - 1 < span) | (Full)(o - limit - 1 < span);
    bad |= found & cells_of(changed, lanes + i);
  }
  if (any(bad)) return 1;
  for (u32 i = 0; i < n; i += 8) {
    Full w = *(const Cells *)(write + i), renew = cells_of(changed, lanes + i);
    if (unset) renew |= (Full)(w <= all_of(unset)) & cells_of(active, lanes + i);
    if (any(renew)) *(Cells *)(write + i) = (w & ~renew) | ((*(const Cells *)(lanes + i) + all_of(epoch)) & renew);
  }
  return 0;
}

/* One cell of one lane's access. 1: the workgroup is to stop. */
static int one_cell(Check *c, Wave *wave, u32 access, u32 action, u32 lane, u64 address, u32 *write,
                    u32 *read, u32 *other, u32 old, u32 unset, u32 epoch, u32 changed) {
  u32 w = *write, mine = (u32)c->mine;
  /* An atomic operation that changes nothing, a compare-and-swap that fails, is a read. */
  if (action == READ || (action == ATOMIC && !changed)) {
    if (unset && w <= unset && action == ATOMIC) *write = epoch;
    if (w > old && w < mine && unordered(c, access, w) &&
        race(c, wave, access, lane, address, w))
      return 1;
    u32 r = *read;
    if (r < mine) {
      if (r > old && (unset || !STAYS(r, *other, old, c->group_state->start, (u32)c->own))) *other = r;
      *read = epoch;
    }
    return 0;
  }
  u32 found = 0;
  if (w > old && w < mine && changed && unordered(c, access, w)) found = w;
  u32 r = *read, o = *other;
  if (!found && r > old && r < mine && changed && unordered(c, access, r)) found = r;
  if (!found && o > old && o < mine && changed && unordered(c, access, o)) found = o;
  if (found && race(c, wave, access, lane, address, found)) return 1;
  /* What a wave stored to LDS stays known behind its own atomic operation, where these order nothing: another wave's
     atomic operation may come before the store. */
  if (action == ATOMIC && unset && !c->ordering && w > old && !(w & ATOMIC_BIT) && happens_before(c, w))
    return 0;
  /* Who reads what a store did not change reads the same before and after. */
  if (changed || (unset && w <= unset)) *write = epoch;
  return 0;
}

Region *region_of(Check *c, u32 access, u64 address) {
  Region *all = c->regions;
  u32 *last = c->places + access;
  Region *r = all + *last;
  if (address - r->address < r->size) return r;
  u64 low = 0, high = c->region_count;
  while (low < high) {
    u64 middle = (low + high) / 2;
    if (all[middle].address <= address) low = middle + 1; else high = middle;
  }
  if (!low || address - all[low - 1].address >= all[low - 1].size) return 0;
  *last = (u32)(low - 1);
  return all + low - 1;
}

/* One lane's access to global memory. */
static int global_lane(Check *c, Wave *wave, u32 access, u32 action, u32 bytes, u32 lane, u64 address,
                       u32 epoch, u32 changed) {
  Region *r = region_of(c, access, address);
  if (!r) return 0;
  const Role *role = c->roles + access;
  u64 offset = address - r->address;
  if (r->bits) {
    if (action != WRITE) {
      const u8 *bits = (const u8 *)r->bits;
      int missing = c->compiled ? bits_absent(bits, offset, bytes) : !bits_full(bits, offset, bytes);
      if (missing && !(role->flags & ROLE_PARTIAL)) keep_unwritten(c, wave, access, lane, address);
    }
    if (action != READ) bits_set((u8 *)r->bits, offset, bytes);
  }
  if ((role->flags & (ROLE_ATOMIC | ROLE_NARROW)) == ROLE_ATOMIC) synchronise(c, access, address, 1, action != READ);
  if (r->cell == ~0ull) return 0;
  u32 old = c->wave_state->seen;
  u64 first = r->cell + (offset >> c->shift), last = r->cell + ((offset + bytes - 1) >> c->shift);
  if (role->width < bytes) last = r->cell + ((offset + role->width - 1) >> c->shift);
  use_cells(c, r, first, last);
  if (role->flags & ROLE_ATOMIC) {
    acquire(c, access, c->write[first]);
  }
  for (u64 i = first; i <= last; i++) {
    int bad = one_cell(c, wave, access, action, lane, address, c->write + i, c->read + i,
                       c->other + i, old, 0, epoch, changed);
    if (bad) return 1;
  }
  return 0;
}

static int lds_lane(Check *c, Wave *wave, u32 access, u32 action, u32 bytes, u32 lane, u32 address,
                    u32 epoch, u32 changed) {
  u32 *write = lds_cells(c, 0), *read = lds_cells(c, 1), *other = lds_cells(c, 2);
  CheckedGroup *g = c->group_state;
  CheckedWave *w = c->wave_state;
  const Role *role = c->roles + access;
  u32 first = address >> c->lds_shift, last = (address + bytes - 1) >> c->lds_shift;
  if (action != WRITE) {
    u32 absent = 0;
    for (u32 i = first; i <= last; i++) absent += write[i] <= g->start;
    if (absent && (!c->compiled || absent == last - first + 1) && !(role->flags & ROLE_PARTIAL))
      keep_unwritten(c, wave, access, lane, address);
  }
  if (role->flags & ROLE_ATOMIC) acquire(c, access, write[first]);
  u32 old = g->phase > w->near ? g->phase : w->near;
  for (u32 i = first; i <= last; i++) {
    int bad = one_cell(c, wave, access, action, lane, address, write + i, read + i, other + i, old,
                       g->start, epoch, changed);
    if (bad) return 1;
  }
  return 0;
}

/* Whether what those of `lanes` lanes that are in `active` use was written. */
static int all_written(const u8 *bits, u64 offset, u32 bytes, u32 lanes, u64 active) {
  if (active == all_lanes(lanes)) return bits_full(bits, offset, (u64)lanes * bytes);
  for (; active; active &= active - 1)
    if (!bits_full(bits, offset + (u64)__builtin_ctzll(active) * bytes, bytes)) return 0;
  return 1;
}

static void now_written(u8 *bits, u64 offset, u32 bytes, u32 lanes, u64 active) {
  if (active == all_lanes(lanes)) bits_set(bits, offset, (u64)lanes * bytes);
  else for (; active; active &= active - 1) bits_set(bits, offset + (u64)__builtin_ctzll(active) * bytes, bytes);
}

u32 global_range(Check *c, u32 access, u32 action, u32 bytes, u32 lanes, u32 first, u64 address, u64 active,
                        u64 changed) {
  Region *r = region_of(c, access, address);
  u64 total = (u64)lanes * bytes;
  if (!r || r->size - (address - r->address) < total) return ~0u;
  u64 offset = address - r->address;
  if (r->bits && action == READ && !all_written((u8 *)r->bits, offset, bytes, lanes, active)) return ~0u;
  if (r->cell != ~0ull) {
    if (offset & ((1u << c->shift) - 1)) return ~0u;
    u64 cell = r->cell + (offset >> c->shift);
    u32 k = bytes >> c->shift, old = c->wave_state->seen, epoch = ((u32)c->now << EVENT_SHIFT) + first;
    const u32 *table = c->lanes + LANE_ROW * k;
    u32 *write = c->write + cell, *read = c->read + cell, *other = c->other + cell;
    if (r->form != FORM_CELLS && active == all_lanes(lanes)) {
      u32 left = action == READ ? read_rows(c, r, cell, lanes * k, k, epoch)
                                : write_rows(c, r, cell, lanes * k, k, changed, epoch);
      if (!left) goto noted;
    }
    use_cells(c, r, cell, cell + lanes * k - 1);
    if (action == READ) {
      int missing;
      if (read_cells(c, write, read, other, lanes * k, table, active, epoch, old, 0, c->group_state->start, &missing)) return ~0u;
    } else if (changed && write_cells(c, write, read, other, lanes * k, table, active, changed, epoch, old, 0)) {
      return ~0u;
    }
  }
noted:
  if (r->bits && action == WRITE) now_written((u8 *)r->bits, offset, bytes, lanes, active);
  return 0;
}

static u32 lds_range(Check *c, u32 action, u32 bytes, u32 lanes, u32 first, u32 address, u64 active, u64 changed) {
  if (address & ((1u << c->lds_shift) - 1)) return ~0u;
  CheckedGroup *g = c->group_state;
  u32 near = c->wave_state->near, old = g->phase > near ? g->phase : near, epoch = ((u32)c->now << EVENT_SHIFT) + first;
  u32 k = bytes >> c->lds_shift, cell = address >> c->lds_shift;
  if (cell + lanes * k > c->lds_cells) return ~0u; /* lanes that are not active may lie behind it */
  const u32 *table = c->lanes + LANE_ROW * k;
  u32 *write = lds_cells(c, 0) + cell, *read = lds_cells(c, 1) + cell, *other = lds_cells(c, 2) + cell;
  if (action == READ) {
    int missing;
    if (read_cells(c, write, read, other, lanes * k, table, active, epoch, old, g->start, 0, &missing)) return ~0u;
    return missing ? ~0u : 0;
  }
  return write_cells(c, write, read, other, lanes * k, table, active, changed, epoch, old, g->start) ? ~0u : 0;
}

/* Whether those of the eight lanes from `low` on that are in `mask` use consecutive elements of `bytes`. Gives the half
   address of the first lane, in it or not. */
static inline int consecutive(const u32 *low, const u32 *high, u32 bytes, u32 mask, u32 *start) {
  const Full step = {0, 1, 2, 3, 4, 5, 6, 7};
  u32 one = (u32)__builtin_ctz(mask);
  *start = low[one] - one * bytes;
  if (*start > low[one] || *start > ~(u32)0 - 8 * bytes) return 0;
  Full these = all_of(0) - (all_of(mask) >> step & 1);
  if (any((Full)(*(const Cells *)low != all_of(*start) + step * bytes) & these)) return 0;
  return !high || !any((Full)(*(const Cells *)high != all_of(high[one])) & these);
}

static inline int uniform(const u32 *low, const u32 *high, u32 first) {
  if (any((Full)(*(const Cells *)(low + first) != all_of(low[first])))) return 0;
  return !high || !any((Full)(*(const Cells *)(high + first) != all_of(high[first])));
}

static inline u64 address_of(const u32 *low, const u32 *high, u32 lane, u64 base) {
  return (((u64)(high ? high[lane] : 0) << 32) | low[lane]) + base;
}

static void remember(Check *c, u32 access, u64 address, u32 lane, u32 in_lds, u64 exec) {
  CheckedWave *w = c->wave_state;
  w->access = access; w->address = address; w->lane = lane; w->in_lds = in_lds; w->exec = exec; w->watched = 1;
}

/* The values that two lanes stored to one address, for the message. */
static void add_values(Finding *found, const u32 *low, u32 size, u32 bytes) {
  const u32 *data = low + 2 * size;
  u64 mask = bytes >= 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
  for (int side = 0; side < 2; side++) {
    u64 lane = side ? found->other_lane : found->lane;
    u64 value = data[lane];
    if (bytes >= 8) value |= (u64)data[size + lane] << 32;
    if (side) found->other_value = value & mask; else found->value = value & mask;
  }
  found->has_values = bytes;
}

/* A lane before `lane` that stored to the same address in this instruction; ~0: none. */
static u32 same_place(const u32 *low, const u32 *high, u64 exec, u32 lane) {
  for (u64 rest = exec & ((1ull << lane) - 1); rest; rest &= rest - 1) {
    u32 i = (u32)__builtin_ctzll(rest);
    if (low[i] == low[lane] && (!high || high[i] == high[lane])) return i;
  }
  return ~0u;
}

/* One access of a wave; of a read only those chunks of eight lanes that are in `left`. */
u32 look(Check *c, Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high, u32 left) {
  Launch *launch = launch_of(wave);
  const Access *a = launch->accesses + access;
  u32 space = a->space, action = a->action, bytes = a->bytes, size = launch->wave_size;
  u32 epoch = (u32)c->now << EVENT_SHIFT;
  if (c->told && ((Observer)c->told)(wave, access, base, exec, low, high)) return 1;
  c->in_lds = 0;
  if (!low) { /* a scalar load */
    if (c->watching) remember(c, access, base, ~0u, 0, exec);
    return (u32)global_lane(c, wave, access, READ, bytes, 63, base, epoch, 0);
  }
  if (!exec) return 0;
  const Role *role = c->roles + access;
  if (c->watching) {
    u32 lane = (u32)__builtin_ctzll(exec);
    u64 address = address_of(low, high, lane, base);
    int local = space == SPACE_LDS || (space == SPACE_FLAT && address >> 32 == SHARED_BASE);
    int own = space == SPACE_SCRATCH || (space == SPACE_FLAT && address >> 32 == PRIVATE_BASE);
    if (!own) remember(c, access, local ? (u32)address : address, lane, (u32)local, exec);
  }
  u64 changed = exec;
  if (action != READ && space != SPACE_SCRATCH) {
    /* By the pieces in which it was stored just now: a load of several stores at once has to wait for them. */
    changed = 0;
    for (u32 i = 0; i < size; i += LANES) {
      const u8 *piece = (const u8 *)(low + 6 * size) + i / 8;
      changed |= (LANES == 16 ? (u64)*(const u16 *)piece : (u64)*piece) << i;
    }
    changed &= exec;
    /* A wave's own memory is part of its state: check_stopped looks at it. */
    u64 first = address_of(low, high, (u32)__builtin_ctzll(exec), base);
    if (changed && !(space == SPACE_FLAT && first >> 32 == PRIVATE_BASE)) c->changes++;
  }
  if (space == SPACE_SCRATCH) return (u32)scratch_lanes(c, wave, access, action, bytes, exec, base, low);
  if (role->flags & ROLE_ATOMIC) epoch |= ATOMIC_BIT;
  u32 shift = space == SPACE_LDS ? (u32)c->lds_shift : (u32)c->shift;
  int fast = action != ATOMIC && !(role->flags & ROLE_ATOMIC) && (bytes >> shift) <= 16;
  u64 previous = ~0ull;
  if (action == READ && left != 255) {
  } else if (fast && space != SPACE_FLAT && exec == (size == 64 ? ~0ull : 0xffffffffull)) {
    /* All lanes, one element after the other? */
    u32 ok = 1, start;
    for (u32 lane = 0; lane < size && ok; lane += 8)
      ok = consecutive(low + lane, high ? high + lane : 0, bytes, 255, &start) && start == low[0] + lane * bytes &&
           (!high || high[lane] == high[0]);
    if (ok) {
      u64 address = address_of(low, high, 0, base);
      u32 done = space == SPACE_LDS ? lds_range(c, action, bytes, size, 0, (u32)address, exec, changed)
                                    : global_range(c, access, action, bytes, size, 0, address, exec, changed);
      if (done == 0) return 0;
    }
  }
  u64 ranges[8], range_count = 0; /* of a store: where the chunks before stored, while none of them was scattered */
  for (u32 chunk = 0; chunk < size; chunk += 8) {
    u32 mask = (u32)(exec >> chunk) & 255;
    if (!mask || !((left >> (chunk >> 3)) & 1)) continue;
    int alone = 1;
    if (fast && space != SPACE_FLAT) {
      u32 start;
      int straight = consecutive(low + chunk, high ? high + chunk : 0, bytes, mask, &start);
      u64 address = start + base + ((u64)(high ? high[chunk + (u32)__builtin_ctz(mask)] : 0) << 32);
      if (action == WRITE && straight) {
        alone = range_count != ~0ull;
        for (u64 i = 0; i < range_count && alone; i++)
          alone = address - ranges[i] >= 8 * bytes && ranges[i] - address >= 8 * bytes;
        if (alone) ranges[range_count++] = address;
      }
      if (straight && alone) {
        u64 its = changed >> chunk & 255;
        u32 done = space == SPACE_LDS ? lds_range(c, action, bytes, 8, chunk, (u32)address, mask, its)
                                      : global_range(c, access, action, bytes, 8, chunk, address, mask, its);
        if (done == 0) continue;
      } else if (action == READ && mask == 255 && uniform(low, high, chunk)) {
        if (address_of(low, high, chunk, base) == previous) continue;
        mask = 1;
      }
    }
    range_count = ~0ull;
    for (u32 i = 0; i < 8; i++) {
      if (!((mask >> i) & 1)) continue;
      u32 lane = chunk + i;
      u64 address = address_of(low, high, lane, base);
      if (action == READ && address == previous) continue;
      previous = address;
      u32 lane_changed = (u32)(changed >> lane) & 1;
      int in_lds = space == SPACE_LDS;
      if (space == SPACE_FLAT) {
        u32 top = (u32)(address >> 32);
        if (top == SHARED_BASE) in_lds = 1;
        else if (top == PRIVATE_BASE) {
          u32 own[64];
          own[lane] = (u32)address;
          if (scratch_lanes(c, wave, access, action, bytes, 1ull << lane, 0, own)) return 1;
          continue;
        }
      }
      c->in_lds = (u64)in_lds;
      if (action == WRITE && lane_changed) {
        u32 twin = same_place(low, high, exec, lane);
        if (twin != ~0u) {
          Finding *found = report(c, wave, FOUND_LANES, access, lane, in_lds ? (u32)address : address);
          if (found) {
            found->other_access = access; found->other_lane = twin;
            found->other_wave = c->me; found->other_group = c->my_group;
            found->other_known = OTHER_ACCESS;
            add_values(found, low, size, bytes);
          }
          if (finished(c, wave->thread)) return 1;
        }
      }
      int bad = in_lds ? lds_lane(c, wave, access, action, bytes, lane, (u32)address, epoch + lane, lane_changed)
                       : global_lane(c, wave, access, action, bytes, lane, address, epoch + lane, lane_changed);
      if (bad) return 1;
    }
  }
  return 0;
}

static NOINLINE u32 look_at_all(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  return look(wave->checker, wave, access, base, exec, low, high, 255);
}

u32 gpulab_check(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  Check *c = wave->checker;
  const Role *role = c->roles + access;
  u64 event = ++c->now;
  u32 bytes = role->bytes, words = bytes == role->cells << 2;
  c->log[event] = (u16)access;
  if (exec == c->all_lanes && !c->watching && !c->told) {
    if (role->flags & ROLE_GLOBAL_READ) {
      if (words && bytes == 4) return global_read_word(wave, access, base, exec, low, high);
      if (words && bytes == 16) return global_read_four(wave, access, base, exec, low, high);
      return global_read_any(wave, access, base, exec, low, high);
    }
    if (role->flags & ROLE_LDS_READ) {
      if (words && bytes == 4) return lds_read_word(wave, access, base, exec, low, high);
      if (words && bytes == 16) return lds_read_four(wave, access, base, exec, low, high);
      return lds_read_any(wave, access, base, exec, low, high);
    }
  }
  return look_at_all(wave, access, base, exec, low, high);
}

/* gpulab_store that also notes which lanes changed memory (Wave.changed, one bit per lane of the chunk). */
int gpulab_keep_store(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  ChunkAccess a;
  unpack(&a, wave, ids, what, offset, mask, low);
  const u32 *data = buffer_of(wave)->data;
  u64 changed = 0;
  if (find_lanes(&a)) return 1;
  for (u32 i = 0; i < LANES; i++) {
    if (!((mask >> i) & 1)) continue;
    u32 differs = 0;
    for (u32 b = 0; b < a.bytes; b++) {
      u8 *to = byte_of(&a, i, b), value = (u8)(data[LANES * (b >> 2) + i] >> (8 * (b & 3)));
      differs |= *to ^ value;
      *to = value;
    }
    changed |= (u64)(differs != 0) << i;
  }
  wave->changed = changed;
  return 0;
}

void renumber(Thread *thread, Check *c) {
  Launch *launch = thread->launch;
  /* All of it: launches before this one may have used more of it. Pages that were never touched stay so. */
  for (u64 i = 0; i < c->room_bytes; i += 32) {
    Cells *v = (Cells *)(c->room + i);
    if (any(*v)) *v = all_of(0);
  }
  for (u64 slot = 0; slot < launch->residents; slot++) {
    CheckedGroup *g = group_at(c, slot);
    u32 *cells = (u32 *)((u8 *)g + c->lds_at);
    for (u64 i = 0; i < c->lds_cells; i++) cells[i] = cells[i] > g->start ? LAST_LANE : 0;
    for (u64 i = c->lds_cells; i < 3 * c->lds_cells; i++) cells[i] = 0;
    g->start = 1; g->phase = LAST_LANE;
    CheckedWave *w = waves_of(g);
    for (u32 i = 0; i < launch->waves; i++) {
      w[i].seen = w[i].near = LAST_LANE;
      w[i].released = w[i].released ? LAST_LANE : 0;
      w[i].learned = w[i].heard = 0;
    }
  }
  c->launch_start = LAST_LANE;
  Release *all = c->releases;
  for (u64 i = 0; i < c->release_room; i++) if (all[i].key) all[i].epoch = LAST_LANE;
  c->release_floor = 0;
  c->now = 0; c->segment_count = 0;
}
