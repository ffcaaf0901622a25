/* The observer of profiled launches: what each memory access of the observed workgroups did to LDS banks and caches.

   gpulab_observe       is told of one access of a wave and adds to its totals
   gpulab_observe_begin, gpulab_observe_end   prepare and complete the totals

   The addresses of each access's first and worst execution are kept (`Sample`). */

#include "caches.h"

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

/* The waves of a workgroup go on without an observer, from their next entry into translated code on. */
static void unobserved(Wave *wave, const Launch *launch) {
  Wave *waves = wave - wave->index;
  if (wave == &wave->thread->template_wave) return; /* of waves that go straight through */
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

u32 lines_of(Observation *o, const Wave *wave, const Launch *launch, u32 access, u64 address) {
  const Access *a = launch->accesses + access;
  Site *site = o->sites + access;
  Totals *t = o->totals + access;
  o->segment = part_of(launch, address);
  follows(o, wave, launch, t);
  return cached(o, wave, launch, t, site, (Pattern *)site->last, a->bytes, a->action, (u32)address);
}

void worse(Observation *o, const Launch *launch, u32 access, const Wave *wave, u64 exec, const u32 *low,
           const u32 *high, u32 lines) {
  u32 bytes = launch->accesses[access].bytes;
  Site *site = o->sites + access;
  sample(o, access, site, wave, SPACE_GLOBAL, bytes, 0, exec, low, high, lines, 0, 0,
         (i32)lines - fewest(o, site->lanes * bytes));
}

static NOINLINE u32 through_caches(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low,
                                                    const u32 *high) {
  PARTS
  u32 lines = lines_of(o, wave, launch, access, address_at(low, high, (u32)__builtin_ctzll(exec), base));
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

u32 through_scalar_cache(Wave *wave, u32 access, u64 base) {
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

/* The common cases first: they need no more than a few registers. */
u32 gpulab_observe(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  Launch *launch = launch_of(wave);
  Observation *o = launch->observation;
  Site *site = o->sites + access;
  u32 space = site->space, number = sample_of(o->recording, wave->group);
  if (number != ~0u) record_locked(o, wave, number, access, base, exec, low, high, 0);
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
