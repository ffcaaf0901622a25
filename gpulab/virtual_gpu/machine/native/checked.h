/* Checked launches: what their files share.

   races.c     happens-before by shadow memory: data races, and two lanes that store to one address
   lanes.c     the same for what is most common, plain reads by all lanes of a wave, many at a time
   straight.c  the same for waves that take a quick way, which go on only if nothing is wrong
   rows.c      neighbouring shadow cells as one
   written.c   which bytes were ever written: reads of memory without a value
   waits.c     wait counters and registers, in programs without guarantees
   shuffles.c  reads of lanes that are not active
   barriers.c  barriers that not all reach, deadlock; where waves and workgroups begin and halt
   findings.c  what is noted of what is wrong

   Checked launches run on one thread, one wave at a time. Every memory access of a wave is an event with a number. A
   segment is what a wave does between two switches to other waves, a run of event numbers. */

#ifndef GPULAB_CHECKED_H
#define GPULAB_CHECKED_H

#include "support.h"

/* An epoch says which access it was: event << EVENT_SHIFT | whether it was atomic (ATOMIC_BIT) | lane. The segment of
   the event has its wave, so that an epoch is what it is in FastTrack (Flanagan and Freund, PLDI 2009): a thread and
   its clock. LAST_LANE in place of the lane: all accesses up to the event. */
enum { LAST_LANE = ATOMIC_BIT * 2 - 1 };
enum { MOST_EVENTS = EVENTS - (1 << 21) };

typedef u32 Cells __attribute__((vector_size(32), aligned(4), may_alias));
typedef u32 Full __attribute__((vector_size(32)));
typedef u32 Four __attribute__((vector_size(16)));

static inline Full all_of(u32 x) { return (Full){x, x, x, x, x, x, x, x}; }
static inline int any(Full v) {
  return __builtin_reduce_or((Full)(v != 0)) != 0;
}

static inline u64 all_lanes(u32 lanes) { return ~0ull >> (64 - lanes); }

/* A cell has the last two reads: the last one goes to the other's place when a new one comes. But it is forgotten, and the
   other one `stays`, if the last one is by the same workgroup as the new one, and the other one by another workgroup: so
   whoever writes later finds a read of another workgroup, if there was one. Reads before `began` are by other workgroups,
   from `own` on by this one. (Between them it is not known: then the workgroups took turns.) For numbers and vectors. */
#define STAYS(r, o, old, began, own) (((r) >= (own)) & ((o) > (old)) & ((o) < (began)))

static inline Check *check_of(const Launch *launch) { return launch->checker; }
static inline CheckedGroup *group_at(Check *c, u64 slot) { return (CheckedGroup *)(c->groups + slot * c->group_bytes); }
static inline CheckedWave *waves_of(CheckedGroup *g) { return (CheckedWave *)(g + 1); }
static inline u32 *lds_cells(Check *c, int which) {
  return (u32 *)((u8 *)c->group_state + c->lds_at) + (u64)which * c->lds_cells;
}

/* Where the shadow cells of an allocation are, and what the running wave knows. */
static inline View view_of(const Check *c, const Region *r) {
  return (View){
    .write = c->write + r->cell, .read = c->read + r->cell, .other = c->other + r->cell,
    .start = r->address, .size = r->size, .bits = (const u8 *)r->bits, .shift = (u32)c->shift,
    .old = c->wave_state->seen, .began = c->group_state->start, .own = (u32)c->own,
  };
}

static inline u64 slot_of(Thread *thread, const void *memory) {
  return (u64)((u8 *)memory - (u8 *)thread->memory) / thread->slot_bytes;
}
static inline u8 *memory_of(Wave *wave) { return (u8 *)(wave - wave->index); }

/* The segment of an event; 0 if it is not known. (races.c) */
INTERNAL const Segment *segment_of(Check *c, u32 epoch);

/* Notes a finding: of an instruction, or of an access. Gives what is to be filled in; 0: it is known already, or a
   workgroup before this one has one. (findings.c) */
INTERNAL Finding *report_at(Check *c, Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes,
                            u32 action);
INTERNAL Finding *report(Check *c, Wave *wave, u32 kind, u32 access, u32 lane, u64 address);

/* After a finding: whether the workgroup is to stop. (findings.c) */
INTERNAL int finished(Check *c, Thread *thread);

/* The earlier access that left an epoch becomes the finding's other side. (findings.c) */
INTERNAL void add_other(Check *c, Finding *found, u32 epoch);

/* A read of memory that was never written yet. Another wave may still write it: that is a race then, and says more. So
   the first such read is kept until its workgroup's next barrier (LDS), else to the end. (findings.c) */
INTERNAL void keep_unwritten(Check *c, Wave *wave, u32 access, u32 lane, u64 address);

/* Notes the kept finding. 1: the workgroup is to stop. (findings.c) */
INTERNAL int report_unwritten(Check *c, Thread *thread);

/* The allocation that an address lies in; 0: none. (races.c) */
INTERNAL Region *region_of(Check *c, u32 access, u64 address);

/* Whether bytes from `offset` on were written: none of them, each of them; and: they are now. (written.c) */
INTERNAL int bits_absent(const u8 *bits, u64 offset, u64 bytes);
INTERNAL int bits_full(const u8 *bits, u64 offset, u64 bytes);
INTERNAL void bits_set(u8 *bits, u64 offset, u64 bytes);

/* An access of scratch, whose bytes have a mask of the lanes that wrote them. 1: the workgroup is to stop. (written.c) */
INTERNAL int scratch_lanes(Check *c, Wave *wave, u32 access, u32 action, u32 bytes, u64 exec, u64 base, const u32 *low);

/* One access of a wave; of a read only those chunks of eight lanes that are in `left`. 1: the workgroup is to stop.
   (races.c) */
INTERNAL NOINLINE u32 look(Check *c, Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high,
                           u32 left);

/* Someone uses cells from a first one to a last one of an allocation; they are numbered in the arrays. (rows.c) */
INTERNAL NOINLINE void take_cells(Check *c, Region *r, u64 first, u64 last);
static inline void use_cells(Check *c, Region *r, u64 first, u64 last) {
  if (r->form != FORM_CELLS) take_cells(c, r, first, last);
}

/* So many cells from one on, as many for each lane, are read, or written by lanes of which some change memory, if they
   are whole rows. Not 0: they are not, or it needs a closer look; nothing is noted of what is written then. (rows.c) */
INTERNAL u32 read_rows(Check *c, Region *r, u64 cell, u64 cells, u32 each, u32 epoch);
INTERNAL u32 write_rows(Check *c, Region *r, u64 cell, u64 cells, u32 each, u64 changed, u32 epoch);

/* Eight lanes, or all lanes of a wave, that use consecutive elements of global memory: those of `active`, the first of
   which would be at `address`, and is lane `first`. `changed`: lanes whose store changes memory. Not 0: nothing is noted,
   and it needs a closer look. (races.c) */
INTERNAL u32 global_range(Check *c, u32 access, u32 action, u32 bytes, u32 lanes, u32 first, u64 address, u64 active,
                          u64 changed);

/* Plain reads of global memory by all lanes: the chunks of eight lanes that need a closer look, a bit each. And by so
   many lanes (a multiple of LANES) of consecutive elements, in an allocation or LDS (0): not 0: it needs one. What needs
   none is noted. (lanes.c) */
INTERNAL NOINLINE u32 read_lanes(Check *c, u32 access, u64 base, const u32 *low, const u32 *high);
INTERNAL u32 read_consecutive(Check *c, Region *r, const View *v, u32 mine, u64 address, u32 bytes, u32 lanes,
                              u32 epoch);

/* LANES cells from one on are read by events that are `step` apart. Whether nothing is wrong. (lanes.c) */
INTERNAL int read_in_rounds(Region *r, const View *v, u32 mine, u64 cell, u32 epoch, u32 step);

/* Plain reads by all lanes of a wave, of LDS and of global memory. Made for what is most common: words, four words at a
   time, anything else. 1: the workgroup is to stop. (lanes.c) */
#define READER(name) \
  INTERNAL NOINLINE u32 name(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high)
READER(lds_read_any);
READER(lds_read_word);
READER(lds_read_four);
READER(global_read_any);
READER(global_read_word);
READER(global_read_four);
#undef READER

/* The numbers of events have run out: what was before counts as ordered from here on. (races.c) */
INTERNAL void renumber(Thread *thread, Check *c);

/* A wave's accesses are those that come now. (barriers.c) */
INTERNAL CheckedWave *enter(Thread *thread, Check *c, CheckedGroup *g, u32 index);

/* A wave is about to execute an instruction; 1: the workgroup is to stop. And: it has executed none. (waits.c) */
INTERNAL u32 step(Check *c, Wave *wave, u32 instruction, u64 exec);
INTERNAL void start_steps(Check *c, Progress *p);

#endif
