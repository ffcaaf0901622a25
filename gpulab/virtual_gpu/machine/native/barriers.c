/* Where waves and workgroups of a checked launch begin and halt: barriers that not all reach, and deadlock.

   Deadlock is proved, not guessed: if each workgroup had its turn and neither memory nor any wave's registers changed,
   nothing ever will. */

#include "checked.h"

/* What a workgroup and its waves know at its start. */
static CheckedGroup *begin_group(Check *c, u64 slot, u64 number, u32 waves) {
  CheckedGroup *g = group_at(c, slot);
  g->number = number;
  g->start = g->phase = (u32)(c->now << EVENT_SHIFT | LAST_LANE);
  CheckedWave *w = waves_of(g);
  for (u32 i = 0; i < waves; i++) {
    clear(w + i, sizeof(CheckedWave));
    w[i].seen = (u32)c->launch_start;
    w[i].near = g->start;
  }
  c->changes++;
  return g;
}

void check_start(Thread *thread, u8 *memory, u64 number, u32 through) {
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  u64 slot = slot_of(thread, memory);
  CheckedGroup *g = through || c->again ? group_at(c, slot) : begin_group(c, slot, number, launch->waves);
  clear((u8 *)g + c->lds_at, 12 * c->lds_cells);
  clear((u8 *)g + c->scratch_at, (u64)launch->waves * launch->scratch_bytes * 8);
  if (c->steps)
    for (u32 i = 0; i < launch->waves; i++) start_steps(c, (Progress *)((u8 *)g + c->steps_at) + i);
  u64 *lds = (u64 *)((Wave *)memory)->lds; /* what LDS holds at the start means nothing */
  for (u64 i = 0; i < (launch->lds_bytes + 63) / 64 * 8; i++) lds[i] = 0x7fc5a5a57fc5a5a5ull;
}

/* Whether another observer is to be told of a workgroup's accesses, too. */
static int is_told(const Check *c, const Launch *launch, const u32 *group) {
  return c->chained && (c->chained != (u64)gpulab_record || is_recorded(launch->observation, group));
}

CheckedWave *enter(Thread *thread, Check *c, CheckedGroup *g, u32 index) {
  if (c->again) { /* what was noted of it counts as its own */
    c->again = 0;
    return c->wave_state;
  }
  if (c->now > MOST_EVENTS || c->segment_count >= c->segment_room) renumber(thread, c);
  if (c->group_state != g || c->my_group != g->number) c->own = (c->now + 1) << EVENT_SHIFT;
  c->group_state = g;
  c->wave_state = waves_of(g) + index;
  c->me = index;
  c->my_group = g->number;
  c->mine = (c->now + 1) << EVENT_SHIFT;
  Segment *all = c->segments;
  if (!c->segment_count || all[c->segment_count - 1].first <= c->now) c->segment_count++;
  all[c->segment_count - 1] = (Segment){(u32)(c->now + 1), index, g->number};
  return c->wave_state;
}

int check_straight(Thread *thread, u64 slot, u64 number, const u32 *group) {
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  if (c->watching || is_told(c, launch, group)) return 0;
  c->told = c->again = 0;
  begin_group(c, slot, number, launch->waves);
  return 1;
}

/* The wave runs from here on. */
void check_resume(Wave *wave) {
  Thread *thread = wave->thread;
  Check *c = check_of(thread->launch);
  CheckedGroup *g = group_at(c, slot_of(thread, memory_of(wave)));
  CheckedWave *w = enter(thread, c, g, wave->index);
  c->told = is_told(c, thread->launch, wave->group) ? c->chained : 0;
  thread->tell_loop = c->told || c->watching ? 0 : (u64)gpulab_ask_loop;
  if (!c->watching) w->watched = 0;
  c->lds.write = lds_cells(c, 0); c->lds.read = lds_cells(c, 1); c->lds.other = lds_cells(c, 2);
  c->lds.start = 0; c->lds.size = wave->lds_bytes; c->lds.bits = 0; c->lds.shift = (u32)c->lds_shift;
  c->lds.old = g->phase > w->near ? g->phase : w->near;
  c->lds.unset = g->start;
  c->lds.began = 0; c->lds.own = ~0u;
}

/* A wave has come to a halt: at a barrier, asleep, or out of its slice. Returns 1 after a finding. */
int check_stopped(Wave *wave) {
  Thread *thread = wave->thread;
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  CheckedWave *w = c->wave_state;
  if (wave->status == WAVE_ENDED) {
    c->changes++;
    Wave *waves = (Wave *)memory_of(wave);
    for (u32 i = 0; i < launch->waves; i++) if (waves[i].status != WAVE_ENDED) return 0;
    return c->pending.finding.kind && c->pending.finding.in_lds && c->pending.fault.number == c->my_group ?
      report_unwritten(c, thread) : 0;
  }
  if (wave->status == WAVE_BARRIER) {
    c->changes++;
    u64 exec = wave->scalars[EXEC] | (u64)wave->scalars[EXEC + 1] << 32;
    if (launch->wave_size == 32) exec = (u32)exec;
    u64 missing = launch->exec[wave->index] & ~exec;
    if (!missing || !c->compiled) return 0;
    Finding *found =
      report_at(c, wave, FOUND_BARRIER_LANES, wave->pc - 1, (u32)__builtin_ctzll(exec ? exec : 1), 0, 0, ~0u);
    if (found) found->mask = missing;
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
    u64 words = (u64)wave->scratch_bytes * launch->wave_size / 8;
    for (u64 i = 0; i < words; i++) scratch = (scratch ^ own[i]) * 0x100000001B3ull;
  }
  w->same = hash == w->hash && scratch == w->scratch ? w->same + 1 : 0;
  w->hash = hash;
  w->scratch = scratch;
  return 0;
}

/* All waves of a workgroup that live have arrived at a barrier. Returns 1 after a finding. */
int check_barrier(Wave *waves) {
  Thread *thread = waves->thread;
  Launch *launch = thread->launch;
  Check *c = check_of(launch);
  CheckedGroup *g = group_at(c, slot_of(thread, (u8 *)waves));
  CheckedWave *w = waves_of(g);
  const u32 *lines = c->lines;
  if (c->pending.finding.kind && c->pending.finding.in_lds && c->pending.fault.number == g->number &&
      report_unwritten(c, thread))
    return 1;
  u32 seen = 0, released = 0, learned = 0, learned_access = 0;
  Wave *first = 0, *ended = 0;
  for (u32 i = 0; i < launch->waves; i++) {
    if (w[i].seen > seen) seen = w[i].seen;
    if (w[i].learned > learned) { learned = w[i].learned; learned_access = w[i].learned_access; }
    if (w[i].released > released) released = w[i].released;
    if (waves[i].status == WAVE_ENDED) { if (!ended) ended = waves + i; continue; }
    if (!first) first = waves + i;
    u32 here = lines[waves[i].pc - 1], there = lines[first->pc - 1];
    if (!c->compiled || !here || !there || here == there) continue;
    Finding *found = report_at(c, waves + i, FOUND_BARRIER_LINES, waves[i].pc - 1, ~0u, 0, 0, ~0u);
    if (found) {
      found->other_known = OTHER_INSTRUCTION;
      found->other_instruction = first->pc - 1;
      found->other_wave = first->index;
      found->other_group = g->number;
    }
    return 1;
  }
  if (ended && c->compiled) {
    Finding *found = report_at(c, first, FOUND_BARRIER_ENDED, first->pc - 1, ~0u, 0, 0, ~0u);
    if (found) {
      found->other_wave = ended->index;
      for (u32 i = 0; i < launch->waves; i++) found->count += waves[i].status == WAVE_ENDED;
    }
    return 1;
  }
  for (u32 i = 0; i < launch->waves; i++) {
    w[i].seen = seen; w[i].released = released;
    w[i].learned = learned; w[i].learned_access = learned_access;
  }
  g->phase = (u32)(c->now << EVENT_SHIFT | LAST_LANE);
  return 0;
}

/* Each workgroup that lives had its turn. If neither memory nor any wave's registers changed, nothing ever will. */
int check_round(Thread *thread) {
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
      if (waves[n].status != WAVE_ENDED && waves[n].status != WAVE_BARRIER && !w[n].same) stuck = 0;
    if (thread->number[i] < thread->number[lowest]) lowest = i;
  }
  if (!stuck) { c->watching = 0; return 0; }
  if (++c->watching < 3) return 0; /* go on for what the waves wait for */
  Wave *waves = (Wave *)((u8 *)thread->memory + thread->order[lowest] * thread->slot_bytes);
  CheckedGroup *g = group_at(c, thread->order[lowest]);
  u32 n = 0;
  while (n + 1 < launch->waves && (waves[n].status == WAVE_ENDED || waves[n].status == WAVE_BARRIER)) n++;
  CheckedWave *w = waves_of(g) + n;
  c->group_state = g;
  u64 at_barrier = 0, barrier_instruction = 0;
  for (u32 i = 0; i < launch->waves; i++) {
    if (waves[i].status != WAVE_BARRIER) continue;
    if (!at_barrier++) barrier_instruction = waves[i].pc - 1;
  }
  Finding *found = w->watched
    ? report(c, waves + n, FOUND_DEADLOCK, w->access, w->lane, w->address)
    : report_at(c, waves + n, FOUND_DEADLOCK, waves[n].first_instruction, ~0u, 0, 0, ~0u);
  if (!found) return 1;
  found->at_barrier = at_barrier; found->barrier_instruction = barrier_instruction;
  if (!w->watched) return 1;
  found->in_lds = w->in_lds;
  found->mask = w->exec;
  found->count = thread->own_end - thread->own; /* workgroups that have not started */
  u32 epoch = 0;
  if (w->in_lds) epoch = lds_cells(c, 0)[(u32)w->address >> c->lds_shift];
  else {
    Region *r = region_of(c, w->access, w->address);
    u64 cell = r && r->cell != ~0ull ? r->cell + ((w->address - r->address) >> c->shift) : 0;
    if (cell) { use_cells(c, r, cell, cell); epoch = c->write[cell]; }
  }
  if (epoch > (w->in_lds ? g->start : (u32)c->launch_start)) add_other(c, found, epoch);
  return 1;
}
