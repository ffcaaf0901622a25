/* The observer of checked launches: data races, reads of memory never written, barriers that not all reach, deadlock.

   Checked launches run on one thread, one wave at a time. Every memory access of a wave is an event with a number.
   A stretch is what a wave does between two switches to other waves, a run of event numbers. For each granule of
   memory (a cell) the last write and the last two reads by different stretches are kept as stamps:

       event << 7 | whether it was atomic << 6 | lane

   Whether an earlier access happened before the present one is answered by comparing stamps: all events up to a
   wave's `seen` did (the launch's start, or what it learned from other workgroups), all of its own workgroup up to the
   last barrier did, its own did. A wave learns from others by atomics: what was released at an address is `learned` by
   who reads it, and `seen` from its next acquire on. Taking an atomic's whole past for ordered is more than the memory
   model grants: so races can be missed behind atomics, but none is invented.

   gpulab_check        the observer
   gpulab_keep_store   gpulab_store, which also notes which lanes changed memory
   check_*             called by support.c: groups that start, waves that go on, barriers, rounds */

enum { LANE_BITS = 6, ATOMIC_BIT = 1 << 6, EVENT_SHIFT = 7 };
enum { MOST_EVENTS = (1 << 25) - (1 << 21) };

/* What is wrong; the numbers are those of checking.py, FINDINGS. */
enum {
  FOUND_NOTHING, FOUND_RACE, FOUND_LANES, FOUND_UNWRITTEN, FOUND_BARRIER_ENDED, FOUND_BARRIER_LANES,
  FOUND_BARRIER_LINES, FOUND_DEADLOCK, FOUND_SHUFFLE, FOUND_VECTOR, FOUND_SCALAR,
  FOUND_WAIT, FOUND_WAIT_SCALAR, FOUND_WAIT_BARRIER
};

/* An allocation: `cell` is the number of its first cell; ~0 where races are not looked for. `bits`: which bytes were
   ever written, one bit each; 0: all. */
typedef struct { u64 address, size, cell, bits; } Region;

/* A memory access of the kernel, beside Access: how it takes part. */
typedef struct { u32 flags, width, bytes, cells; } Role; /* bytes that are wanted for certain; all bytes; cells of a lane */
/* RELOAD: of a register that the compiler spilled: it may be one without a value. PARTIAL: of a word in which a bit field
   is going to be written. NARROW: atomic among the threads of a workgroup only. */
enum {
  ROLE_ATOMIC = 1, ROLE_RELOAD = 2, ROLE_LDS_READ = 4, ROLE_GLOBAL_READ = 8, ROLE_PARTIAL = 16, ROLE_NARROW = 32
};

typedef struct { u32 first, wave; u64 group; } Stretch;

/* One wave and one workgroup as the checker knows them. */
typedef struct {
  u32 seen;       /* stamps up to here happened before, whoever made them */
  u32 near;       /* and up to here those of its own workgroup */
  u32 released;   /* what its last release covers */
  u32 learned;    /* of what others released it has read so much: with its next acquire that is `seen` */
  u32 learned_access;
  u32 heard, heard_access; /* an atomic write that it read, whatever order that gives; the reading access */
  u32 access;     /* while watched: the last access, */
  u64 address;    /* its address */
  u64 hash;       /* of its registers when it last gave way */
  u64 scratch;    /* of its scratch, if `hash` was the same as before */
  u32 same;       /* how often in a row they were the same */
  u32 lane, in_lds, watched;
  u64 exec;
} CheckedWave;

typedef struct {
  u64 number;
  u32 start, phase; /* stamps: of its start, of its last barrier */
} CheckedGroup;

typedef struct {
  u64 kind, access, lane, address, in_lds;
  u64 other_known, other_access, other_lane, other_wave, other_group, other_instruction;
  u64 value, other_value, has_values; /* of two stores, and their bytes */
  u64 mask, count;
  u64 lack, flag_access; /* of a race: why an atomic gave no order (LACK_), and where it was read */
  u64 at_barrier, barrier_instruction; /* of a deadlock: waves of the workgroup that wait at a barrier, and where */
} Finding;

enum { LACK_NOTHING, LACK_ACQUIRE, LACK_RELEASE, LACK_BLOCK, LACK_SCOPE };

/* Where cells of a plain read are: `size` bytes from `start` on, and what counts as ordered and as never written. */
typedef struct { u32 *write, *read, *other; u64 start, size; const u8 *bits; u32 shift, old, unset, padding; } View;

typedef struct {
  u64 now;              /* number of the last event */
  u64 launch_start;     /* stamps up to here are of earlier launches */
  u64 regions, region_count;
  u64 write, read, other;  /* u32 per cell of global memory */
  u64 room, room_bytes; /* the memory that they lie in */
  u64 log;              /* u16 per event: the access */
  u64 stretches, stretch_count, stretch_room;
  u64 roles;            /* Role[access_count] */
  u64 places;           /* u32 per access: the region it used last */
  u64 lanes;            /* u32[17][1024]: i / k */
  u64 lines;            /* u32 per instruction: its source line, or 0 */
  u64 groups;           /* per slot: CheckedGroup, CheckedWave[waves], cells of its LDS, masks of its scratch */
  u64 group_bytes, lds_at, scratch_at, steps_at;
  u64 steps;            /* Step per instruction; 0 in compiled programs */
  u64 first_scalars[3]; /* scalar registers that hold something at the start, a bit each */
  u64 lds_cells;
  u64 shift, lds_shift; /* bytes of a cell as a power of two */
  u64 compiled;         /* written by Clang: not by hand */
  u64 clocked;          /* the kernel reads a clock: that nothing changes is no proof then */
  u64 crowded;          /* the device holds more workgroups at a time than live here */
  u64 ordering;         /* the kernel has releases and acquires, of a workgroup or more: atomics may hand over in it */
  u64 changes;          /* stores that changed memory, and groups that started or ended */
  u64 round_changes, watching;
  u64 releases;         /* {u64 key, u64 stamp}[release_room] by address */
  u64 release_room, release_count, release_floor;
  /* the wave that runs */
  u64 mine;             /* first stamp of its stretch */
  u64 wave_state, group_state;
  u64 me, my_group;     /* number of the wave in its workgroup, of the workgroup */
  u64 in_lds;           /* whether the access that is looked at is one of LDS */
  u64 chained;          /* Observer that is to be told, too; 0: none */
  u64 all_lanes, wave_size;
  View lds;             /* the running wave's LDS */
  Finding found, pending;
  Fault pending_fault;
} Check;

typedef u32 Cells __attribute__((vector_size(32), aligned(4), may_alias));
typedef u32 Full __attribute__((vector_size(32)));

static inline Full all_of(u32 x) { return (Full){x, x, x, x, x, x, x, x}; }
static inline int any(Full v) {
  return __builtin_reduce_or((Full)(v != 0)) != 0;
}

static inline Check *check_of(const Launch *launch) { return (Check *)launch->checker; }
static inline CheckedGroup *group_at(Check *c, u64 slot) { return (CheckedGroup *)(c->groups + slot * c->group_bytes); }
static inline CheckedWave *waves_of(CheckedGroup *g) { return (CheckedWave *)(g + 1); }
static inline u32 *lds_cells(Check *c, int which) {
  return (u32 *)(c->group_state + c->lds_at) + (u64)which * c->lds_cells;
}

static u64 slot_of(Thread *thread, const void *memory) {
  return (u64)((u8 *)memory - (u8 *)thread->memory) / thread->slot_bytes;
}
static u8 *memory_of(Wave *wave) { return (u8 *)(wave - wave->index); }

/* The stretch of an event. */
static const Stretch *stretch_of(Check *c, u32 stamp) {
  const Stretch *all = (const Stretch *)c->stretches;
  u64 low = 0, high = c->stretch_count;
  while (low < high) {
    u64 middle = (low + high) / 2;
    if (all[middle].first <= stamp >> EVENT_SHIFT) low = middle + 1; else high = middle;
  }
  return low ? &all[low - 1] : 0;
}

/* Whether the access that left `stamp` happened before what the running wave does now. */
static int ordered(Check *c, u32 stamp) {
  CheckedWave *w = (CheckedWave *)c->wave_state;
  CheckedGroup *g = (CheckedGroup *)c->group_state;
  if (stamp <= w->seen || stamp >= c->mine) return 1;
  const Stretch *s = stretch_of(c, stamp);
  if (!s) return 1;
  if (s->group != c->my_group) return 0;
  return s->wave == c->me || stamp <= g->phase || stamp <= w->near;
}

/* Notes a finding as the launch's fault. 0: a workgroup before this one has one already. */
static u32 report_at(Check *c, Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 action) {
  Thread *thread = (Thread *)wave->thread;
  u64 before = thread->fault.kind ? thread->fault.number : ~0ull;
  fault(wave, FAULT_CHECKED, instruction, lane, address, bytes, action);
  if (thread->fault.number >= before) return 0;
  clear(&c->found, sizeof(Finding));
  c->found.kind = kind;
  return 1;
}

static u32 report(Check *c, Wave *wave, u32 kind, u32 access, u32 lane, u64 address) {
  const Access *a = (const Access *)((Thread *)wave->thread)->launch->accesses + access;
  if (a->space == SPACE_SCALAR) lane = ~0u;
  if (!report_at(c, wave, kind, a->instruction, lane, address, a->bytes, a->action)) return 0;
  c->found.access = access;
  c->found.lane = lane;
  c->found.address = address;
  c->found.in_lds = c->in_lds;
  return 1;
}

/* A read of memory that nobody has written yet. Another wave may still write it: that is a race then, and says more. So
   the kernel goes on for now; the first such read is kept until its workgroup's next barrier (LDS), else to the end. */
static void keep_unwritten(Check *c, Wave *wave, u32 access, u32 lane, u64 address) {
  if (c->pending.kind) return;
  Thread *thread = (Thread *)wave->thread;
  const Access *a = (const Access *)thread->launch->accesses + access;
  Finding none = {0};
  Fault f = {0};
  if (a->space == SPACE_SCALAR) lane = ~0u;
  f.kind = FAULT_CHECKED; f.instruction = a->instruction; f.wave = wave->index; f.lane = lane;
  for (u32 d = 0; d < 3; d++) f.group[d] = wave->group[d];
  f.bytes = a->bytes; f.access = a->action; f.address = address; f.number = c->my_group;
  c->pending = none;
  c->pending.kind = FOUND_UNWRITTEN; c->pending.access = access; c->pending.lane = lane;
  c->pending.address = address; c->pending.in_lds = c->in_lds;
  c->pending_fault = f;
}

/* Makes the kept finding the launch's fault. */
static int stop_for_unwritten(Check *c, Thread *thread) {
  c->found = c->pending;
  thread->fault = c->pending_fault;
  thread->launch->faulted = c->pending_fault.number;
  return 1;
}

/* The earlier access that left a stamp becomes the finding's other side. */
static void add_other(Check *c, u32 stamp) {
  const Stretch *s = stretch_of(c, stamp);
  if (!s) return;
  c->found.other_access = ((const unsigned short *)c->log)[stamp >> EVENT_SHIFT];
  c->found.other_lane = stamp & 63;
  c->found.other_wave = s->wave;
  c->found.other_group = s->group;
  c->found.other_known = 1;
}

/* Why the atomics that the wave has read since gave no order with the access that left `stamp`. */
static void add_lack(Check *c, u32 access, u32 stamp) {
  CheckedWave *w = (CheckedWave *)c->wave_state;
  const Role *roles = (const Role *)c->roles;
  const Stretch *s = stretch_of(c, stamp);
  u32 earlier = roles[((const unsigned short *)c->log)[stamp >> EVENT_SHIFT]].flags, mine = roles[access].flags;
  if (mine & earlier & ROLE_ATOMIC) { c->found.lack = LACK_SCOPE; return; }
  if (!s) return;
  c->found.flag_access = w->learned_access;
  if (s->group != c->my_group && stamp <= w->learned) { c->found.lack = LACK_ACQUIRE; return; }
  const Stretch *h = stamp < w->heard ? stretch_of(c, w->heard) : 0;
  if (!h || h->group != s->group || h->wave != s->wave) return;
  c->found.flag_access = w->heard_access;
  c->found.lack = s->group == c->my_group ? LACK_BLOCK : LACK_RELEASE;
}

static u32 race(Check *c, Wave *wave, u32 access, u32 lane, u64 address, u32 stamp) {
  if (report(c, wave, FOUND_RACE, access, lane, address)) {
    add_other(c, stamp);
    add_lack(c, access, stamp);
  }
  return 1;
}

/* Whether an unordered pair of accesses is a race: `role` of the present one, `stamp` of the earlier one. */
static int conflicting(Check *c, Launch *launch, u32 access, u32 stamp) {
  const Role *roles = (const Role *)c->roles;
  u32 earlier = ((const unsigned short *)c->log)[stamp >> EVENT_SHIFT];
  u32 mine = roles[access].flags, its = roles[earlier].flags;
  if (!(mine & its & ROLE_ATOMIC)) return 1;
  if (!((mine | its) & ROLE_NARROW)) return 0;
  const Stretch *s = stretch_of(c, stamp);
  return s && s->group != c->my_group;
}

/* What the wave learns from a cell that it uses with an atomic operation. */
static void acquire(Check *c, u32 access, u32 stamp) {
  CheckedWave *w = (CheckedWave *)c->wave_state;
  if (!(stamp & ATOMIC_BIT) || stamp >= c->mine) return;
  if (stamp > w->heard) { w->heard = stamp; w->heard_access = access; }
  if (stamp <= w->near || !c->ordering) return;
  const Stretch *s = stretch_of(c, stamp);
  if (s && s->group == c->my_group) {
    w->near = stamp;
    if (stamp > c->lds.old) c->lds.old = stamp;
    /* What the other wave knows of other workgroups it hands on. */
    CheckedWave *from = waves_of((CheckedGroup *)c->group_state) + s->wave;
    if (from->seen > w->seen) w->seen = from->seen;
    if (from->learned > w->learned) w->learned = from->learned;
  }
}

/* Fences and atomics between workgroups: what was released at an address, and how to find it. */
typedef struct { u64 key, stamp; } Release;

static Release *release_at(Check *c, u64 address) {
  Release *all = (Release *)c->releases;
  u64 mask = c->release_room - 1, at = (address * 0x9E3779B97F4A7C15ull >> 32) & mask;
  while (all[at].key && all[at].key != address) at = (at + 1) & mask;
  return all + at;
}

static void synchronise(Check *c, u32 access, u64 address, int reads, int writes) {
  CheckedWave *w = (CheckedWave *)c->wave_state;
  address &= ~3ull;
  if (reads) {
    u32 got = (u32)c->release_floor;
    if (c->release_count) {
      Release *r = release_at(c, address);
      if (r->key && r->stamp > got) got = (u32)r->stamp;
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
    if (!r->key) { r->key = address; r->stamp = 0; c->release_count++; }
    if (give > r->stamp) r->stamp = give;
  }
}

enum { NOTE_RELEASE, NOTE_STEP, NOTE_ACQUIRE, NOTE_FENCE };
static u32 step(Check *c, Wave *wave, u32 instruction, u64 exec);

/* What a checked kernel tells beside its memory accesses. Not 0: the kernel is to stop.
   NOTE_RELEASE: the wave's writes so far become visible to other workgroups, with its next atomic write.
   NOTE_ACQUIRE: what it has learned by atomic reads becomes visible to it. NOTE_FENCE: both.
   NOTE_STEP: the wave is about to execute an instruction (in programs written in assembly). */
u32 gpulab_note(Wave *wave, u32 what, u32 instruction, u64 exec) {
  Check *c = check_of(((Thread *)wave->thread)->launch);
  CheckedWave *w = (CheckedWave *)c->wave_state;
  if (what == NOTE_STEP) return step(c, wave, instruction, exec);
  if (what != NOTE_ACQUIRE) w->released = (u32)(c->now << EVENT_SHIFT | 127);
  if (what != NOTE_RELEASE && w->learned > w->seen) w->seen = w->learned;
  return 0;
}

/* The cells of `n` granules from `cell` on that consecutive lanes read; `k` cells each, `first` the first lane. */
static inline int read_cells(Check *c, u32 *write, u32 *read, u32 *other, u32 n, const u32 *lanes, u32 stamp, u32 old,
                             u32 unset, int *missing) {
  Full bad = {0}, never = {0}, mine = all_of((u32)c->mine), limit = all_of(old), from = all_of(unset);
  for (u32 i = 0; i < n; i += 8) {
    Full w = *(const Cells *)(write + i), r = *(const Cells *)(read + i);
    bad |= (Full)((w > limit) & (w < mine));
    never |= (Full)(w <= from);
    Full renew = (Full)(r < mine);
    if (any(renew)) {
      Full keep = renew & (Full)(r > limit);
      if (any(keep)) *(Cells *)(other + i) = (*(const Cells *)(other + i) & ~keep) | (r & keep);
      Full s = *(const Cells *)(lanes + i) + all_of(stamp);
      *(Cells *)(read + i) = (r & ~renew) | (s & renew);
    }
  }
  *missing = any(never);
  return any(bad);
}

static inline __attribute__((always_inline)) int write_cells(Check *c, u32 *write, u32 *read, u32 *other, u32 n, u32 old) {
  Full bad = {0}, limit = all_of(old), span = all_of((u32)c->mine > old ? (u32)c->mine - old - 1 : 0);
  for (u32 i = 0; i < n; i += 8) {
    Full w = *(const Cells *)(write + i), r = *(const Cells *)(read + i), o = *(const Cells *)(other + i);
    bad |= (Full)(w - limit - 1 < span) | (Full)(r - limit - 1 < span) | (Full)(o - limit - 1 < span);
  }
  return any(bad);
}

/* One cell of one lane's access. Returns 1 after a finding. */
static int one_cell(Check *c, Wave *wave, Launch *launch, u32 access, u32 action, u32 lane, u64 address, u32 *write,
                    u32 *read, u32 *other, u32 old, u32 unset, u32 stamp, u32 changed) {
  u32 w = *write, mine = (u32)c->mine;
  /* An atomic operation that changes nothing, a compare-and-swap that fails, is a read. */
  if (action == READ || (action == ATOMIC && !changed)) {
    if (unset && w <= unset && action == ATOMIC) *write = stamp;
    if (w > old && w < mine && !ordered(c, w) && conflicting(c, launch, access, w)) {
      race(c, wave, access, lane, address, w);
      return 1;
    }
    u32 r = *read;
    if (r < mine) {
      if (r > old) *other = r;
      *read = stamp;
    }
    return 0;
  }
  u32 found = 0;
  if (w > old && w < mine && changed && !ordered(c, w) && conflicting(c, launch, access, w)) found = w;
  u32 r = *read, o = *other;
  if (!found && r > old && r < mine && changed && !ordered(c, r) && conflicting(c, launch, access, r)) found = r;
  if (!found && o > old && o < mine && changed && !ordered(c, o) && conflicting(c, launch, access, o)) found = o;
  if (found) {
    race(c, wave, access, lane, address, found);
    return 1;
  }
  /* Who reads what a store did not change reads the same before and after. */
  if (changed || (unset && w <= unset)) *write = stamp;
  return 0;
}

static inline int bits_missing(const u8 *bits, u64 offset, u32 bytes) {
  for (u64 i = offset; i < offset + bytes; i++) if (!((bits[i >> 3] >> (i & 7)) & 1)) return 1;
  return 0;
}
static int bits_absent(const u8 *bits, u64 offset, u32 bytes) {
  for (u64 i = offset; i < offset + bytes; i++) if ((bits[i >> 3] >> (i & 7)) & 1) return 0;
  return 1;
}

/* Whether each of `bytes` from `offset` on was written. */
static int bits_full(const u8 *bits, u64 offset, u64 bytes) {
  u64 end = offset + bytes;
  while (offset < end && (offset & 63)) {
    if (!((bits[offset >> 3] >> (offset & 7)) & 1)) return 0;
    offset++;
  }
  while (offset + 64 <= end) {
    if (*(const u64 *)(bits + (offset >> 3)) != ~0ull) return 0;
    offset += 64;
  }
  while (offset < end) {
    if (!((bits[offset >> 3] >> (offset & 7)) & 1)) return 0;
    offset++;
  }
  return 1;
}

static void bits_set(u8 *bits, u64 offset, u64 bytes) {
  u64 end = offset + bytes;
  while (offset < end && (offset & 63)) {
    if (!(offset & 3) && offset + 4 <= end) { bits[offset >> 3] |= (u8)(15 << (offset & 7)); offset += 4; continue; }
    bits[offset >> 3] |= (u8)(1 << (offset & 7));
    offset++;
  }
  while (offset + 64 <= end) { *(u64 *)(bits + (offset >> 3)) = ~0ull; offset += 64; }
  while (offset < end) {
    if (!(offset & 3) && offset + 4 <= end) { bits[offset >> 3] |= (u8)(15 << (offset & 7)); offset += 4; continue; }
    bits[offset >> 3] |= (u8)(1 << (offset & 7));
    offset++;
  }
}

static Region *region_of(Check *c, u32 access, u64 address) {
  Region *all = (Region *)c->regions;
  u32 *last = (u32 *)c->places + access;
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
static int global_lane(Check *c, Wave *wave, Launch *launch, u32 access, u32 action, u32 bytes, u32 lane, u64 address,
                       u32 stamp, u32 changed) {
  Region *r = region_of(c, access, address);
  if (!r) return 0;
  const Role *role = (const Role *)c->roles + access;
  u64 offset = address - r->address;
  if (r->bits) {
    if (action != WRITE) {
      int missing = c->compiled ? bits_absent((u8 *)r->bits, offset, bytes) : bits_missing((u8 *)r->bits, offset, bytes);
      if (missing && !(role->flags & ROLE_PARTIAL)) keep_unwritten(c, wave, access, lane, address);
    }
    if (action != READ) bits_set((u8 *)r->bits, offset, bytes);
  }
  if ((role->flags & (ROLE_ATOMIC | ROLE_NARROW)) == ROLE_ATOMIC) synchronise(c, access, address, 1, action != READ);
  if (r->cell == ~0ull) return 0;
  u32 old = ((CheckedWave *)c->wave_state)->seen;
  u64 first = r->cell + (offset >> c->shift), last = r->cell + ((offset + bytes - 1) >> c->shift);
  if (role->width < bytes) last = r->cell + ((offset + role->width - 1) >> c->shift);
  if (role->flags & ROLE_ATOMIC) {
    acquire(c, access, ((u32 *)c->write)[first]);
  }
  for (u64 i = first; i <= last; i++) {
    int bad = one_cell(c, wave, launch, access, action, lane, address, (u32 *)c->write + i, (u32 *)c->read + i,
                       (u32 *)c->other + i, old, 0, stamp, changed);
    if (bad) return 1;
  }
  return 0;
}

static int lds_lane(Check *c, Wave *wave, Launch *launch, u32 access, u32 action, u32 bytes, u32 lane, u32 address,
                    u32 stamp, u32 changed) {
  u32 *write = lds_cells(c, 0), *read = lds_cells(c, 1), *other = lds_cells(c, 2);
  CheckedGroup *g = (CheckedGroup *)c->group_state;
  CheckedWave *w = (CheckedWave *)c->wave_state;
  const Role *role = (const Role *)c->roles + access;
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
    int bad = one_cell(c, wave, launch, access, action, lane, address, write + i, read + i, other + i, old,
                       g->start, stamp, changed);
    if (bad) return 1;
  }
  return 0;
}

/* The masks of lanes that wrote each byte of their scratch. */
static int scratch_lanes(Check *c, Wave *wave, u32 access, u32 action, u32 bytes, u64 exec, u64 base, const u32 *low) {
  u64 *masks = (u64 *)(c->group_state + c->scratch_at) + (u64)wave->index * wave->scratch_bytes;
  u64 left = exec;
  while (left) {
    u32 lane = (u32)__builtin_ctzll(left);
    u32 address = low[lane] + (u32)base;
    u64 same = 0; /* lanes at the same offset, as most are */
    for (u64 rest = left; rest; rest &= rest - 1) {
      u32 i = (u32)__builtin_ctzll(rest);
      if (low[i] + (u32)base == address) same |= 1ull << i;
    }
    left &= ~same;
    if (action != WRITE) {
      u64 some = 0, every = ~0ull;
      for (u32 b = 0; b < bytes; b++) { some |= masks[address + b]; every &= masks[address + b]; }
      u64 bad = same & ~(c->compiled ? some : every);
      if (bad && !(((const Role *)c->roles)[access].flags & (ROLE_RELOAD | ROLE_PARTIAL))) {
        c->in_lds = 0;
        keep_unwritten(c, wave, access, (u32)__builtin_ctzll(bad), address);
        return stop_for_unwritten(c, (Thread *)wave->thread);
      }
    }
    if (action != READ) for (u32 b = 0; b < bytes; b++) masks[address + b] |= same;
  }
  return 0;
}

static void bits_or_nothing(Region *r, u64 offset, u64 bytes) {
  if (r->bits) bits_set((u8 *)r->bits, offset, bytes);
}

/* Eight consecutive lanes, or all lanes of a wave, that use consecutive elements. Returns ~0: not handled here. */
static u32 global_range(Check *c, Wave *wave, u32 access, u32 action, u32 bytes, u32 lanes, u32 first, u64 address,
                        u32 stamp, u64 changed) {
  Region *r = region_of(c, access, address);
  u64 total = (u64)lanes * bytes;
  if (!r || r->size - (address - r->address) < total) return ~0u;
  u64 offset = address - r->address;
  if (r->bits) {
    if (action == READ) {
      if (!bits_full((u8 *)r->bits, offset, total)) return ~0u;
    }
  }
  if (r->cell != ~0ull) {
    if (offset & ((1u << c->shift) - 1)) return ~0u;
    u64 cell = r->cell + (offset >> c->shift);
    u32 k = bytes >> c->shift, old = ((CheckedWave *)c->wave_state)->seen;
    const u32 *table = (const u32 *)c->lanes + 1024 * k;
    u32 *write = (u32 *)c->write + cell, *read = (u32 *)c->read + cell, *other = (u32 *)c->other + cell;
    if (action == READ) {
      int missing;
      if (read_cells(c, write, read, other, lanes * k, table, stamp + first, old, 0, &missing)) return ~0u;
    } else {
      if (changed != (lanes == 64 ? ~0ull : (1ull << lanes) - 1)) {
        if (changed) return ~0u;
        bits_or_nothing(r, offset, total);
        return 0;
      }
      if (write_cells(c, write, read, other, lanes * k, old)) return ~0u;
      Full s = all_of(stamp + first);
      for (u32 i = 0; i < lanes * k; i += 8) *(Cells *)(write + i) = *(const Cells *)(table + i) + s;
    }
  }
  if (r->bits && action == WRITE) bits_set((u8 *)r->bits, offset, total);
  return 0;
}

static u32 lds_range(Check *c, u32 action, u32 bytes, u32 lanes, u32 first, u32 address, u32 stamp, u64 changed) {
  if (action == WRITE && changed != (lanes == 64 ? ~0ull : (1ull << lanes) - 1)) return ~0u;
  if (address & ((1u << c->lds_shift) - 1)) return ~0u;
  CheckedGroup *g = (CheckedGroup *)c->group_state;
  u32 near = ((CheckedWave *)c->wave_state)->near, old = g->phase > near ? g->phase : near;
  u32 k = bytes >> c->lds_shift, cell = address >> c->lds_shift;
  const u32 *table = (const u32 *)c->lanes + 1024 * k;
  u32 *write = lds_cells(c, 0) + cell, *read = lds_cells(c, 1) + cell, *other = lds_cells(c, 2) + cell;
  if (action == READ) {
    int missing;
    if (read_cells(c, write, read, other, lanes * k, table, stamp + first, old, g->start, &missing)) return ~0u;
    return missing ? ~0u : 0;
  }
  if (write_cells(c, write, read, other, lanes * k, old)) return ~0u;
  Full s = all_of(stamp + first);
  for (u32 i = 0; i < lanes * k; i += 8) *(Cells *)(write + i) = *(const Cells *)(table + i) + s;
  return 0;
}

/* Whether the eight lanes from `first` on use consecutive elements of `bytes`. */
static inline int consecutive(const u32 *low, const u32 *high, u32 first, u32 bytes) {
  const Full step = {0, 1, 2, 3, 4, 5, 6, 7};
  Full l = *(const Cells *)(low + first);
  if (any((Full)(l != all_of(low[first]) + step * bytes))) return 0;
  if (!high) return low[first] <= ~(u32)0 - 8 * bytes;
  return !any((Full)(*(const Cells *)(high + first) != all_of(high[first])));
}

static inline int uniform(const u32 *low, const u32 *high, u32 first) {
  if (any((Full)(*(const Cells *)(low + first) != all_of(low[first])))) return 0;
  return !high || !any((Full)(*(const Cells *)(high + first) != all_of(high[first])));
}

static inline u64 address_of(const u32 *low, const u32 *high, u32 lane, u64 base) {
  return (((u64)(high ? high[lane] : 0) << 32) | low[lane]) + base;
}

static void remember(Check *c, u32 access, u64 address, u32 lane, u32 in_lds, u64 exec) {
  CheckedWave *w = (CheckedWave *)c->wave_state;
  w->access = access; w->address = address; w->lane = lane; w->in_lds = in_lds; w->exec = exec; w->watched = 1;
}

/* The values that two lanes stored to one address, for the message. */
static void add_values(Check *c, const u32 *low, u32 size, u32 bytes) {
  if (c->found.kind != FOUND_LANES) return;
  const u32 *data = low + 2 * size;
  u64 mask = bytes >= 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
  for (int side = 0; side < 2; side++) {
    u64 lane = side ? c->found.other_lane : c->found.lane;
    u64 value = data[lane];
    if (bytes >= 8) value |= (u64)data[size + lane] << 32;
    if (side) c->found.other_value = value & mask; else c->found.value = value & mask;
  }
  c->found.has_values = bytes;
}

/* A lane before `lane` that stored to the same address in this instruction; ~0: none. */
static u32 same_place(const u32 *low, const u32 *high, u64 exec, u32 lane) {
  for (u64 rest = exec & ((1ull << lane) - 1); rest; rest &= rest - 1) {
    u32 i = (u32)__builtin_ctzll(rest);
    if (low[i] == low[lane] && (!high || high[i] == high[lane])) return i;
  }
  return ~0u;
}


/* As many lanes as the host's vectors hold. */
typedef u32 Wide __attribute__((vector_size(4 * LANES)));
typedef u32 WideCells __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef u32 Four __attribute__((vector_size(16)));
typedef u32 FourCells __attribute__((vector_size(16), aligned(4), may_alias));
static const u32 count_up[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static inline Wide wide(u32 x) { return (Wide){0} + x; }
static inline int some(Wide v) { return __builtin_reduce_or((Wide)(v != 0)) != 0; }

/* A bit per lane of a comparison. */
typedef _Bool LaneBits __attribute__((ext_vector_type(LANES)));
static inline u32 lanes_where(Wide v) {
  union { LaneBits lanes; unsigned short number; } u = {.number = 0};
  u.lanes = __builtin_convertvector(v, LaneBits);
  return u.number;
}

/* Lanes with another value than the lane before, a bit each; the first one of a chunk is one of them. If the second
   half of sixteen lanes repeats the first, only those of the first. */
static inline u32 own_values(Wide v) {
#if LANES == 16
  Wide before = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  Wide half = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  u32 own = lanes_where((Wide)(v != before)) | 1;
  return some((Wide)(v != half)) ? own : own & 255;
#else
  Wide before = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6);
  return lanes_where((Wide)(v != before)) | 1;
#endif
}

/* Plain reads by all lanes of a wave: chunks of consecutive elements at once, of others each address once. Returns the
   chunks of eight lanes that need a closer look, one bit each. */
static inline __attribute__((always_inline)) u32 patterns(int in_lds, u32 mine_, View v, u32 bytes, u32 size,
                                                          const u32 *table, u32 stamp, u64 base, const u32 *low) {
  const Wide step = *(const WideCells *)count_up * bytes, mine = wide(mine_), limit = wide(v.old), from = wide(v.unset);
  const u32 k = bytes >> v.shift, inside = (1u << v.shift) - 1;
  u32 left = 0, nowhere;
  Wide before = {0};
  base -= v.start;
  for (u32 chunk = 0; chunk < size; chunk += LANES) {
    Wide here = *(const WideCells *)(low + chunk);
    if (chunk && !some((Wide)(here != before))) continue; /* the same as the chunk before, and so what is left of it */
    before = here;
    if (!some((Wide)(here != step + low[chunk]))) {
      u64 offset = low[chunk] + base;
      if (offset > v.size - LANES * bytes || (offset & inside) || (v.bits && !bits_full(v.bits, offset, LANES * bytes))) {
        left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
        continue;
      }
      u64 cell = offset >> v.shift;
      u32 *write = v.write + cell, *read = v.read + cell, *other = v.other + cell;
      Wide wrong = {0};
      for (u32 i = 0; i < LANES * k; i += LANES) {
        Wide w = *(const WideCells *)(write + i), r = *(const WideCells *)(read + i);
        wrong |= (Wide)((w > limit) & (w < mine));
        if (in_lds) wrong |= (Wide)(w <= from);
        Wide renew = (Wide)(r < mine);
        if (some(renew)) {
          Wide keep = renew & (Wide)(r > limit);
          if (some(keep)) *(WideCells *)(other + i) = (*(const WideCells *)(other + i) & ~keep) | (r & keep);
          *(WideCells *)(read + i) = (r & ~renew) | ((*(const WideCells *)(table + i) + wide(stamp + chunk)) & renew);
        }
      }
      if (some((Wide)(wrong != 0))) left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
      continue;
    }
    u32 own = own_values(here);
    if (!in_lds && __builtin_popcount(own) > LANES / 2) /* else each lane would wait for memory by itself */
      for (u32 lane = chunk; lane < chunk + LANES; lane++) {
        u64 cell = (low[lane] + base) >> v.shift;
        __builtin_prefetch(v.write + cell); __builtin_prefetch(v.read + cell, 1); __builtin_prefetch(v.other + cell, 1);
      }
    for (; own; own &= own - 1) {
      u32 lane = chunk + (u32)__builtin_ctz(own), bad = 0;
      u64 offset = low[lane] + base, cell = offset >> v.shift;
      if (offset > v.size - bytes || (offset & inside) || (v.bits && !bits_full(v.bits, offset, bytes))) {
        left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
        continue;
      }
      u32 *write = v.write + cell, *read = v.read + cell, *other = v.other + cell;
      if (k == 4) {
        Four w = *(const FourCells *)write, r = *(const FourCells *)read, m = (Four){0} + mine_, l = (Four){0} + v.old;
        Four wrong = (Four)((w > l) & (w < m)), renew = (Four)(r < m);
        if (in_lds) wrong |= (Four)(w <= (Four){0} + v.unset);
        if (__builtin_reduce_or(renew)) {
          Four keep = renew & (Four)(r > l);
          *(FourCells *)other = (*(const FourCells *)other & ~keep) | (r & keep);
          *(FourCells *)read = (r & ~renew) | (((Four){0} + (stamp + lane)) & renew);
        }
        bad = __builtin_reduce_or(wrong) != 0;
      } else for (u32 i = 0; i < k; i++) {
        u32 w = write[i], r = read[i];
        bad |= ((w > v.old) & (w < mine_)) | (in_lds & (w <= v.unset));
        if (r < mine_) {
          *(r > v.old ? other + i : &nowhere) = r; /* no branch: which it is cannot be foreseen */
          read[i] = stamp + lane;
        }
      }
      if (bad) left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
    }
  }
  return left;
}

/* One access of a wave; of a read only those chunks of eight lanes that are in `left`. */
static __attribute__((noinline)) u32 look(Check *c, Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high, u32 left) {
  Launch *launch = ((Thread *)wave->thread)->launch;
  const Access *a = (const Access *)launch->accesses + access;
  u32 space = a->space, action = a->action, bytes = a->bytes, size = launch->wave_size;
  u32 stamp = (u32)c->now << EVENT_SHIFT;
  if (c->chained && ((Observer)c->chained)(wave, access, base, exec, low, high)) return 1;
  c->in_lds = 0;
  if (!low) { /* a scalar load */
    if (c->watching) remember(c, access, base, ~0u, 0, exec);
    return (u32)global_lane(c, wave, launch, access, READ, bytes, 63, base, stamp, 0);
  }
  if (!exec) return 0;
  const Role *role = (const Role *)c->roles + access;
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
      changed |= (LANES == 16 ? (u64)*(const unsigned short *)piece : (u64)*piece) << i;
    }
    changed &= exec;
    /* A wave's own memory is part of its state: check_stopped looks at it. */
    u64 first = address_of(low, high, (u32)__builtin_ctzll(exec), base);
    if (changed && !(space == SPACE_FLAT && first >> 32 == PRIVATE_BASE)) c->changes++;
  }
  if (space == SPACE_SCRATCH) return (u32)scratch_lanes(c, wave, access, action, bytes, exec, base, low);
  if (role->flags & ROLE_ATOMIC) stamp |= ATOMIC_BIT;
  u32 shift = space == SPACE_LDS ? (u32)c->lds_shift : (u32)c->shift;
  int fast = action != ATOMIC && !(role->flags & ROLE_ATOMIC) && (bytes >> shift) <= 16;
  u64 previous = ~0ull;
  if (action == READ && left != 255) {
  } else if (fast && space != SPACE_FLAT && exec == (size == 64 ? ~0ull : 0xffffffffull)) {
    /* All lanes, one element after the other? */
    u32 ok = 1;
    for (u32 lane = 0; lane < size && ok; lane += 8)
      ok = consecutive(low, high, lane, bytes) && low[lane] == low[0] + lane * bytes && (!high || high[lane] == high[0]);
    if (ok) {
      u64 address = address_of(low, high, 0, base);
      u32 done = space == SPACE_LDS ? lds_range(c, action, bytes, size, 0, (u32)address, stamp, changed)
                                    : global_range(c, wave, access, action, bytes, size, 0, address, stamp, changed);
      if (done == 0) return 0;
    }
  }
  u64 ranges[8], range_count = 0; /* of a store: where the chunks before stored, while none of them was scattered */
  for (u32 chunk = 0; chunk < size; chunk += 8) {
    u32 mask = (u32)(exec >> chunk) & 255;
    if (!mask || !((left >> (chunk >> 3)) & 1)) continue;
    int alone = 1;
    if (fast && mask == 255 && space != SPACE_FLAT) {
      u64 address = address_of(low, high, chunk, base);
      int straight = consecutive(low, high, chunk, bytes);
      if (action == WRITE && straight) {
        alone = range_count != ~0ull;
        for (u64 i = 0; i < range_count && alone; i++)
          alone = address - ranges[i] >= 8 * bytes && ranges[i] - address >= 8 * bytes;
        if (alone) ranges[range_count++] = address;
      }
      if (straight && alone) {
        u32 done = space == SPACE_LDS ? lds_range(c, action, bytes, 8, chunk, (u32)address, stamp, changed >> chunk & 255)
                                      : global_range(c, wave, access, action, bytes, 8, chunk, address, stamp, changed >> chunk & 255);
        if (done == 0) continue;
      } else if (action == READ && uniform(low, high, chunk)) {
        if (address == previous) continue;
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
          if (report(c, wave, FOUND_LANES, access, lane, in_lds ? (u32)address : address)) {
            c->found.other_access = access; c->found.other_lane = twin;
            c->found.other_wave = c->me; c->found.other_group = c->my_group;
            c->found.other_known = 1;
            add_values(c, low, size, bytes);
          }
          return 1;
        }
      }
      int bad = in_lds ? lds_lane(c, wave, launch, access, action, bytes, lane, (u32)address, stamp + lane, lane_changed)
                       : global_lane(c, wave, launch, access, action, bytes, lane, address, stamp + lane, lane_changed);
      if (bad) return 1;
    }
  }
  return 0;
}

/* Whether all high halves are the same. */
static inline int one_half(const u32 *high, u32 size) {
  Wide differs = {0}, h = wide(high[0]);
  for (u32 lane = 0; lane < size; lane += LANES) differs |= (Wide)(*(const WideCells *)(high + lane) != h);
  return !some(differs);
}

/* A plain read by all lanes, by `patterns`; `look` does the rest. `width` 0: that of the role. */
static inline __attribute__((always_inline)) u32 lds_read(u32 width, Wave *wave, u32 access, u64 base, u64 exec,
                                                          const u32 *low, const u32 *high) {
  Check *c = (Check *)wave->checker;
  const Role *role = (const Role *)c->roles + access;
  const u32 *table = (const u32 *)c->lanes + 1024 * (width ? width / 4 : role->cells);
  View v = c->lds;
  v.bits = 0;
  if (width) v.shift = 2;
  u32 left = patterns(1, (u32)c->mine, v, width ? width : role->bytes, (u32)c->wave_size, table,
                      (u32)c->now << EVENT_SHIFT, (u32)base, low);
  return left ? look(c, wave, access, base, exec, low, high, left) : 0;
}

static u32 global_read_any(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high);

static inline __attribute__((always_inline)) u32 global_read(u32 width, Wave *wave, u32 access, u64 base, u64 exec,
                                                             const u32 *low, const u32 *high) {
  Check *c = (Check *)wave->checker;
  const Role *role = (const Role *)c->roles + access;
  u32 left = 255, size = (u32)c->wave_size, bytes = width ? width : role->bytes;
  if (!high || one_half(high, size)) {
    u64 from = base + (high ? (u64)high[0] << 32 : 0);
    const Region *r = (const Region *)c->regions + ((const u32 *)c->places)[access];
    if (low[0] + from - r->address >= r->size) r = region_of(c, access, low[0] + from);
    if (r && r->bits && width) return global_read_any(wave, access, base, exec, low, high);
    if (r && r->cell != ~0ull && r->size >= LANES * bytes) {
      View v;
      v.write = (u32 *)c->write + r->cell; v.read = (u32 *)c->read + r->cell; v.other = (u32 *)c->other + r->cell;
      v.start = r->address; v.size = r->size; v.bits = width ? 0 : (const u8 *)r->bits; v.shift = width ? 2 : (u32)c->shift;
      v.old = ((CheckedWave *)c->wave_state)->seen; v.unset = 0;
      const u32 *table = (const u32 *)c->lanes + 1024 * (width ? width / 4 : role->cells);
      left = patterns(0, (u32)c->mine, v, bytes, size, table, (u32)c->now << EVENT_SHIFT, from, low);
    }
  }
  return left ? look(c, wave, access, base, exec, low, high, left) : 0;
}

/* Made for what is most common: words, four words at a time, anything else. */
#define READER(name, how, width) \
  static __attribute__((noinline)) u32 name(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) { \
    return how(width, wave, access, base, exec, low, high); \
  }
READER(lds_read_any, lds_read, 0)
READER(lds_read_word, lds_read, 4)
READER(lds_read_four, lds_read, 16)
READER(global_read_any, global_read, 0)
READER(global_read_word, global_read, 4)
READER(global_read_four, global_read, 16)

static __attribute__((noinline)) u32 look_at_all(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low,
                                                 const u32 *high) {
  return look((Check *)wave->checker, wave, access, base, exec, low, high, 255);
}

u32 gpulab_check(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  Check *c = (Check *)wave->checker;
  const Role *role = (const Role *)c->roles + access;
  u64 event = ++c->now;
  u32 bytes = role->bytes, words = bytes == role->cells << 2;
  ((unsigned short *)c->log)[event] = (unsigned short)access;
  if (exec == c->all_lanes && !c->watching && !c->chained) {
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

/* Stamps have run out: what was before counts as ordered from here on. */
static void renumber(Thread *thread, Check *c) {
  Launch *launch = thread->launch;
  /* All of it: launches before this one may have used more of it. Pages that were never touched stay so. */
  for (u64 i = 0; i < c->room_bytes; i += 32) {
    Cells *v = (Cells *)(c->room + i);
    if (any(*v)) *v = all_of(0);
  }
  for (u64 slot = 0; slot < launch->residents; slot++) {
    CheckedGroup *g = group_at(c, slot);
    u32 *cells = (u32 *)((u8 *)g + c->lds_at);
    for (u64 i = 0; i < c->lds_cells; i++) cells[i] = cells[i] > g->start ? 127 : 0;
    for (u64 i = c->lds_cells; i < 3 * c->lds_cells; i++) cells[i] = 0;
    g->start = 1; g->phase = 127;
    CheckedWave *w = waves_of(g);
    for (u32 i = 0; i < launch->waves; i++) {
      w[i].seen = w[i].near = 127;
      w[i].released = w[i].released ? 127 : 0;
      w[i].learned = w[i].heard = 0;
    }
  }
  Release *all = (Release *)c->releases;
  for (u64 i = 0; i < c->release_room; i++) if (all[i].key) all[i].stamp = 127;
  c->release_floor = 0;
  c->now = 0; c->stretch_count = 0;
}

/* Programs written in assembly: which registers hold something, and which still wait for memory. */
enum { STEP_OTHER, STEP_LOAD, STEP_STORE, STEP_LDS, STEP_LDS_STORE, STEP_SCALAR, STEP_WAIT, STEP_BARRIER };
enum { COUNT_VM, COUNT_LGKM, COUNT_VS };

/* An instruction: registers that it reads and writes, a bit each (v0.. and a0.., of active lanes; `cross`: of any lane),
   and what it does with the wait counters. */
typedef struct {
  u64 reads[8], writes[8], cross[8], scalar_reads[3], scalar_writes[3];
  u32 kind, counter;
  u32 waits[4]; /* how many accesses may be left by counter; ~0: any number */
} Step;

typedef struct {
  u64 written[512];     /* lanes of each vector register that were written */
  u64 scalars[3];
  u32 pending[512], pending_scalar[192]; /* number << 2 | counter of the access that brings the register's value */
  u32 by[512], by_scalar[192];           /* its instruction */
  u32 issued[3], done[3], last_scalar;   /* accesses of each counter: all; those that have arrived for certain */
  u32 last_lds_store, lds_store_by, padding;
} Progress;

static void start_steps(Check *c, Progress *p) {
  clear(p, sizeof *p);
  p->written[0] = ~0ull;
  for (int i = 0; i < 3; i++) p->scalars[i] = c->first_scalars[i];
}

static u32 report_register(Check *c, Wave *wave, u32 kind, u32 instruction, u32 lane, u32 number, u32 by, u32 counter) {
  if (!report_at(c, wave, kind, instruction, lane, 0, 0, ~0u)) return 1;
  c->found.value = number;
  c->found.count = counter;
  if (kind >= FOUND_WAIT) {
    c->found.other_known = 2;
    c->found.other_instruction = by;
    c->found.other_wave = c->me;
    c->found.other_group = c->my_group;
  }
  return 1;
}

static u32 step(Check *c, Wave *wave, u32 instruction, u64 exec) {
  const Step *s = (const Step *)c->steps + instruction;
  Progress *p = (Progress *)(c->group_state + c->steps_at) + wave->index;
  for (u32 word = 0; word < 8; word++) {
    for (u64 rest = s->reads[word] | s->writes[word] | s->cross[word]; rest; rest &= rest - 1) {
      u32 r = 64 * word + (u32)__builtin_ctzll(rest);
      if (p->pending[r]) {
        if (p->pending[r] >> 2 > p->done[p->pending[r] & 3])
          return report_register(c, wave, FOUND_WAIT, instruction, ~0u, r, p->by[r], p->pending[r] & 3);
        p->pending[r] = 0;
      }
      u64 bit = rest & -rest;
      if ((s->reads[word] & bit) && (exec & ~p->written[r]))
        return report_register(c, wave, FOUND_VECTOR, instruction, (u32)__builtin_ctzll(exec & ~p->written[r]), r, 0, 0);
      if ((s->cross[word] & bit) && !p->written[r]) return report_register(c, wave, FOUND_VECTOR, instruction, ~0u, r, 0, 0);
    }
  }
  for (u32 word = 0; word < 3; word++) {
    for (u64 rest = s->scalar_reads[word] | s->scalar_writes[word]; rest; rest &= rest - 1) {
      u32 r = 64 * word + (u32)__builtin_ctzll(rest);
      if (p->pending_scalar[r]) {
        if (p->pending_scalar[r] >> 2 > p->done[COUNT_LGKM])
          return report_register(c, wave, FOUND_WAIT_SCALAR, instruction, ~0u, r, p->by_scalar[r], COUNT_LGKM);
        p->pending_scalar[r] = 0;
      }
    }
    u64 unset = s->scalar_reads[word] & ~p->scalars[word];
    if (unset)
      return report_register(c, wave, FOUND_SCALAR, instruction, ~0u, 64 * word + (u32)__builtin_ctzll(unset), 0, 0);
    p->scalars[word] |= s->scalar_writes[word];
  }
  if (s->kind == STEP_WAIT) {
    for (u32 k = 0; k < 3; k++) {
      u32 left = s->waits[k];
      if (left == ~0u || left > p->issued[k]) continue;
      /* Scalar loads arrive in any order: until all are there, none is for certain. */
      if (k == COUNT_LGKM && left && p->last_scalar > p->done[k]) continue;
      if (p->issued[k] - left > p->done[k]) p->done[k] = p->issued[k] - left;
    }
    return 0;
  }
  if (s->kind == STEP_BARRIER && p->last_lds_store > p->done[COUNT_LGKM])
    return report_register(c, wave, FOUND_WAIT_BARRIER, instruction, ~0u, 0, p->lds_store_by, COUNT_LGKM);
  u32 number = 0;
  if (s->kind >= STEP_LOAD && s->kind <= STEP_SCALAR) {
    number = ++p->issued[s->counter];
    if (s->kind == STEP_SCALAR) p->last_scalar = number;
    if (s->kind == STEP_LDS_STORE) { p->last_lds_store = number; p->lds_store_by = instruction; }
  }
  for (u32 word = 0; word < 8; word++)
    for (u64 rest = s->writes[word]; rest; rest &= rest - 1) {
      u32 r = 64 * word + (u32)__builtin_ctzll(rest);
      p->written[r] |= exec;
      if (number) { p->pending[r] = number << 2 | s->counter; p->by[r] = instruction; }
    }
  if (s->kind == STEP_SCALAR)
    for (u32 word = 0; word < 3; word++)
      for (u64 rest = s->scalar_writes[word]; rest; rest &= rest - 1) {
        u32 r = 64 * word + (u32)__builtin_ctzll(rest);
        p->pending_scalar[r] = number << 2 | COUNT_LGKM;
        p->by_scalar[r] = instruction;
      }
  return 0;
}

static void check_start(Thread *thread, u8 *memory, u64 number) {
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  CheckedGroup *g = group_at(c, slot_of(thread, memory));
  g->number = number;
  g->start = g->phase = (u32)(c->now << EVENT_SHIFT | 127);
  CheckedWave *w = waves_of(g);
  for (u32 i = 0; i < launch->waves; i++) {
    clear(w + i, sizeof(CheckedWave));
    w[i].seen = (u32)c->launch_start;
    w[i].near = g->start;
  }
  clear((u8 *)g + c->lds_at, 12 * c->lds_cells);
  clear((u8 *)g + c->scratch_at, (u64)launch->waves * launch->scratch_bytes * 8);
  if (c->steps)
    for (u32 i = 0; i < launch->waves; i++) start_steps(c, (Progress *)((u8 *)g + c->steps_at) + i);
  u64 *lds = (u64 *)((Wave *)memory)->lds; /* what LDS holds at the start means nothing */
  for (u64 i = 0; i < (launch->lds_bytes + 63) / 64 * 8; i++) lds[i] = 0x7fc5a5a57fc5a5a5ull;
  c->changes++;
}

/* The wave runs from here on. */
static void check_resume(Wave *wave) {
  Thread *thread = (Thread *)wave->thread;
  Check *c = check_of(thread->launch);
  if (c->now > MOST_EVENTS || c->stretch_count >= c->stretch_room) renumber(thread, c);
  u8 *memory = memory_of(wave);
  CheckedGroup *g = group_at(c, slot_of(thread, memory));
  c->group_state = (u64)g;
  c->wave_state = (u64)(waves_of(g) + wave->index);
  c->me = wave->index;
  c->my_group = g->number;
  c->mine = (c->now + 1) << EVENT_SHIFT;
  CheckedWave *w = (CheckedWave *)c->wave_state;
  if (!c->watching) w->watched = 0;
  c->lds.write = lds_cells(c, 0); c->lds.read = lds_cells(c, 1); c->lds.other = lds_cells(c, 2);
  c->lds.start = 0; c->lds.size = wave->lds_bytes; c->lds.bits = 0; c->lds.shift = (u32)c->lds_shift;
  c->lds.old = g->phase > w->near ? g->phase : w->near;
  c->lds.unset = g->start;
  Stretch *all = (Stretch *)c->stretches;
  if (!c->stretch_count || all[c->stretch_count - 1].first <= c->now) c->stretch_count++;
  all[c->stretch_count - 1] = (Stretch){(u32)(c->now + 1), wave->index, g->number};
}

/* A wave has come to a halt: at a barrier, asleep, or out of its slice. Returns 1 after a finding. */
static int check_stopped(Wave *wave) {
  Thread *thread = (Thread *)wave->thread;
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  CheckedWave *w = (CheckedWave *)c->wave_state;
  if (wave->status == ENDED) {
    c->changes++;
    Wave *waves = (Wave *)memory_of(wave);
    for (u32 i = 0; i < launch->waves; i++) if (waves[i].status != ENDED) return 0;
    return c->pending.kind && c->pending.in_lds && c->pending_fault.number == c->my_group ?
      stop_for_unwritten(c, thread) : 0;
  }
  if (wave->status == BARRIER) {
    c->changes++;
    u64 exec = wave->scalars[126] | (u64)wave->scalars[127] << 32;
    if (launch->wave_size == 32) exec = (u32)exec;
    u64 missing = ((const u64 *)launch->exec)[wave->index] & ~exec;
    if (!missing || !c->compiled) return 0;
    if (report_at(c, wave, FOUND_BARRIER_LANES, wave->pc - 1, (u32)__builtin_ctzll(exec ? exec : 1), 0, 0, ~0u))
      c->found.mask = missing;
    return 1;
  }
  u64 hash = wave->pc * 0x9E3779B97F4A7C15ull;
  for (u32 i = 0; i < sizeof wave->scalars / 4; i++) hash = (hash ^ wave->scalars[i]) * 0x100000001B3ull;
  const u64 *file = (const u64 *)wave->vgprs;
  for (u64 i = 0; i < (u64)launch->vgprs * launch->wave_size / 2; i++) hash = (hash ^ file[i]) * 0x100000001B3ull;
  u64 scratch = 0;
  if (hash == w->hash) {
    const u64 *own = (const u64 *)wave->scratch;
    scratch = 1;
    for (u64 i = 0; i < (u64)wave->scratch_bytes * launch->wave_size / 8; i++) scratch = (scratch ^ own[i]) * 0x100000001B3ull;
  }
  w->same = hash == w->hash && scratch == w->scratch ? w->same + 1 : 0;
  w->hash = hash;
  w->scratch = scratch;
  return 0;
}

/* All waves of a workgroup that live have arrived at a barrier. Returns 1 after a finding. */
static int check_barrier(Wave *waves) {
  Thread *thread = (Thread *)waves->thread;
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  CheckedGroup *g = group_at(c, slot_of(thread, (u8 *)waves));
  CheckedWave *w = waves_of(g);
  const u32 *lines = (const u32 *)c->lines;
  if (c->pending.kind && c->pending.in_lds && c->pending_fault.number == g->number) return stop_for_unwritten(c, thread);
  u32 seen = 0, released = 0, learned = 0, learned_access = 0;
  Wave *first = 0, *ended = 0;
  for (u32 i = 0; i < launch->waves; i++) {
    if (w[i].seen > seen) seen = w[i].seen;
    if (w[i].learned > learned) { learned = w[i].learned; learned_access = w[i].learned_access; }
    if (w[i].released > released) released = w[i].released;
    if (waves[i].status == ENDED) { if (!ended) ended = waves + i; continue; }
    if (!first) first = waves + i;
    u32 here = lines[waves[i].pc - 1], there = lines[first->pc - 1];
    if (!c->compiled || !here || !there || here == there) continue;
    if (report_at(c, waves + i, FOUND_BARRIER_LINES, waves[i].pc - 1, ~0u, 0, 0, ~0u)) {
      c->found.other_known = 2;
      c->found.other_instruction = first->pc - 1;
      c->found.other_wave = first->index;
      c->found.other_group = g->number;
    }
    return 1;
  }
  if (ended && c->compiled) {
    if (report_at(c, first, FOUND_BARRIER_ENDED, first->pc - 1, ~0u, 0, 0, ~0u)) {
      c->found.other_wave = ended->index;
      for (u32 i = 0; i < launch->waves; i++) c->found.count += waves[i].status == ENDED;
    }
    return 1;
  }
  for (u32 i = 0; i < launch->waves; i++) {
    w[i].seen = seen; w[i].released = released;
    w[i].learned = learned; w[i].learned_access = learned_access;
  }
  g->phase = (u32)(c->now << EVENT_SHIFT | 127);
  return 0;
}

/* Each workgroup that lives had its turn. If nothing changed, neither memory nor any wave's registers, nothing ever will. */
static int check_round(Thread *thread) {
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  int stuck = c->changes == c->round_changes && !thread->fault.kind && !c->clocked;
  c->round_changes = c->changes;
  if (c->crowded && thread->own < thread->own_end) stuck = 0;
  u64 lowest = 0;
  for (u64 i = 0; i < thread->used && stuck; i++) {
    Wave *waves = (Wave *)((u8 *)thread->memory + thread->order[i] * thread->slot_bytes);
    CheckedWave *w = waves_of(group_at(c, thread->order[i]));
    for (u32 n = 0; n < launch->waves; n++)
      if (waves[n].status != ENDED && waves[n].status != BARRIER && !w[n].same) stuck = 0;
    if (thread->number[i] < thread->number[lowest]) lowest = i;
  }
  if (!stuck) { c->watching = 0; return 0; }
  if (++c->watching < 3) return 0; /* go on for what the waves wait for */
  Wave *waves = (Wave *)((u8 *)thread->memory + thread->order[lowest] * thread->slot_bytes);
  CheckedGroup *g = group_at(c, thread->order[lowest]);
  u32 n = 0;
  while (n + 1 < launch->waves && (waves[n].status == ENDED || waves[n].status == BARRIER)) n++;
  CheckedWave *w = waves_of(g) + n;
  c->group_state = (u64)g;
  u64 at_barrier = 0, barrier_instruction = 0;
  for (u32 i = 0; i < launch->waves; i++) {
    if (waves[i].status != BARRIER) continue;
    if (!at_barrier++) barrier_instruction = waves[i].pc - 1;
  }
  if (!w->watched) {
    report_at(c, waves + n, FOUND_DEADLOCK, waves[n].first_instruction, ~0u, 0, 0, ~0u);
    c->found.at_barrier = at_barrier; c->found.barrier_instruction = barrier_instruction;
    return 1;
  }
  if (!report(c, waves + n, FOUND_DEADLOCK, w->access, w->lane, w->address)) return 1;
  c->found.at_barrier = at_barrier; c->found.barrier_instruction = barrier_instruction;
  c->found.in_lds = w->in_lds;
  c->found.mask = w->exec;
  c->found.count = thread->own_end - thread->own; /* workgroups that have not started */
  u32 stamp = 0;
  if (w->in_lds) stamp = lds_cells(c, 0)[(u32)w->address >> c->lds_shift];
  else {
    Region *r = region_of(c, w->access, w->address);
    if (r && r->cell != ~0ull) stamp = ((u32 *)c->write)[r->cell + ((w->address - r->address) >> c->shift)];
  }
  if (stamp > (w->in_lds ? g->start : (u32)c->launch_start)) add_other(c, stamp);
  return 1;
}

/* Whether an active lane of `lanes` reads one that is not, by a pattern of gpulab_cross. 1: the kernel is to stop. */
u32 gpulab_shuffle(Wave *wave, u32 instruction, u32 pattern, const u32 *from, u64 exec, u64 lanes, u32 argument,
                   u32 second, u32 flags) {
  Launch *launch = ((Thread *)wave->thread)->launch;
  Check *c = check_of(launch);
  int size = (int)launch->wave_size;
  for (u64 rest = exec & lanes; rest; rest &= rest - 1) {
    int lane = __builtin_ctzll(rest), source = lane;
    if (pattern <= DPP8) source = dpp_source(pattern, lane, (int)argument, size);
    else if (pattern == DS_BPERMUTE) source = (int)(((from[lane] + argument) >> 2) & (u32)(size - 1));
    else if (pattern == DS_SWIZZLE) source = swizzle_source(lane, argument);
    else if (!(flags & 1)) {
      u32 choice = lane & 8 ? second >> (4 * (lane & 7)) : argument >> (4 * (lane & 7));
      source = (lane & ~15) + (int)(choice & 15);
      if (pattern == PERMLANEX16) source ^= 16;
    }
    if (source < 0 || source >= size || ((exec >> source) & 1)) continue;
    if (report_at(c, wave, FOUND_SHUFFLE, instruction, (u32)lane, 0, 0, ~0u)) {
      c->found.other_lane = (u64)source;
      c->found.mask = ((const u64 *)launch->exec)[wave->index];
    }
    return 1;
  }
  return 0;
}
