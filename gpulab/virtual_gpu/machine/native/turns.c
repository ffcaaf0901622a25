/* Workgroups that are alive at the same time take turns: slices of instructions, and whether any of them waits in vain.

   A wave gives way when it has used its slice. Three kinds of waiting have no end:
   - waves of the workgroups that are there take turns, none ends, and no more of them can start: `look_around` keeps more
     alive and, when no wave goes on (`went_on`) for long, reports one; `run_group` does if all work together is too much;
   - a cooperative launch's workgroups wait at the grid's barrier for some that have ended (`waits_for_ended`);
   - a workgroup before one with a fault waits for what that one would have done (`dropped`). */

#include "support.h"

/* Slices where workgroups wait for each other: of a wave that waits, and of others by Thread.shorter. */
enum { STILL_SLICE = 1 << 8, SHORT_SLICE = 1 << 16, SHORTER_SLICE = 1 << 14 };

/* A new slice of instructions for a wave that has used its own; 0 after a fault: it has none left. */
NOINLINE int refill(const Launch *launch, Wave *wave) {
  i64 slice = (i64)launch->slice;
  u64 shorter = wave->thread->shorter;
  if (shorter) slice = wave->still ? STILL_SLICE : shorter == 1 ? SHORT_SLICE : SHORTER_SLICE;
  if (wave->steps < slice) slice = wave->steps;
  if (slice <= 0) {
    fault(wave, FAULT_TIMEOUT, wave->first_instruction, ~0u, 0, 0, ~0u);
    return 0;
  }
  wave->steps -= slice;
  wave->budget += slice;
  wave->counted += slice;
  return 1;
}

/* Whether a wave that gives way has done something since it last did. */
NOINLINE int went_on(const Launch *launch, Wave *wave) {
  const Loose64 *scalars = (const Loose64 *)wave->scalars, *vgprs = (const Loose64 *)wave->vgprs;
  u64 found = wave->pc + 1, count = (u64)launch->vgprs * launch->wave_size / 2;
  for (u32 i = 0; i < SCALAR_REGISTERS / 2; i++) found = (found ^ scalars[i]) * 0x9e3779b97f4a7c15;
  for (u64 i = 0; i < count; i++) found = (found ^ vgprs[i]) * 0x9e3779b97f4a7c15;
  wave->still = found == wave->seen;
  wave->seen = found;
  return !wave->still;
}

/* Rounds for which a workgroup goes on after its first finding. */
enum { FURTHER = 8 };

/* Whether a workgroup need not go on. Of several faults that of the workgroup with the lowest number is reported,
   whatever the threads' speed: so after a fault the workgroups before it run on, if they do not wait for ever. In a
   checked launch its own does for a while: it may have more to find. */
int dropped(Thread *thread, u64 number) {
  Launch *launch = thread->launch;
  if (__atomic_load_n(&launch->cancel, __ATOMIC_RELAXED)) return 1;
  u64 faulted = __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED);
  if (faulted == ~0ull || number > faulted) return faulted != ~0ull;
  if (number == faulted && !launch->checker) return 1;
  return thread->grace++ > (number == faulted ? FURTHER : 64);
}

/* At the end of a round of a cooperative launch: whether its workgroups wait at the grid's barrier for others that have
   ended. They sleep there; that they do nothing else for many rounds is what a long wait looks like, too, so those
   that arrived and those that ended have to be all. Reports the first of them. */
int waits_for_ended(Thread *thread) {
  Launch *launch = thread->launch;
  thread->quiet = thread->awake ? 0 : thread->quiet + 1;
  thread->awake = 0;
  if (thread->quiet < 64 || thread->fault.kind) return 0; /* after a fault others end that would have gone on */
  u64 arrived = __atomic_load_n((u32 *)launch->grid_barrier, __ATOMIC_RELAXED) & 0xffff;
  u64 gone = __atomic_load_n(&launch->gone, __ATOMIC_RELAXED);
  if (!arrived || !gone || arrived + gone < launch->total) return 0;
  u64 first = 0;
  for (u64 i = 1; i < thread->used; i++) if (thread->number[i] < thread->number[first]) first = i;
  Wave *waves = (Wave *)((u8 *)thread->memory + thread->order[first] * thread->slot_bytes);
  for (u32 w = 0; w < launch->waves; w++)
    if (waves[w].status == WAVE_SLEEP)
      return fault(waves + w, FAULT_GRID_BARRIER, waves[w].first_instruction, ~0u, 0, 0, ~0u);
  return 0;
}

/* Rounds in which no wave ended, after which workgroups may wait for those that have not started. */
enum { ROUNDS = 4 };

/* At the end of a round in which no other workgroup could start: if those that are there seem to wait for others, more are
   kept alive from now on, and those that wait get short slices. They do if no wave has gone on, for certain; and perhaps if
   none has ended for some time, which a long kernel looks like, too. On a device the workgroups that it holds at the same
   time may wait for each other. Reports one of them if no wave of the launch goes on any more. */
NOINLINE void look_around(Thread *thread) {
  Launch *launch = thread->launch;
  u64 work = thread->since - (thread->since < thread->mark ? 0 : thread->mark);
  thread->mark = thread->since;
  int moved = thread->moved != 0;
  thread->moved = 0;
  thread->rounds++;
  if (moved) {
    __atomic_fetch_add(&launch->moves, 1, __ATOMIC_RELAXED);
    thread->waited = 0;
    if (!launch->fits || thread->rounds < ROUNDS) return;
  } else {
    u64 moves = __atomic_load_n(&launch->moves, __ATOMIC_RELAXED);
    thread->waited = moves == thread->moves ? thread->waited + work : 0;
    thread->moves = moves;
  }
  u64 allowed = moved ? 2 * thread->allowed : launch->room;
  if (allowed > launch->room) allowed = launch->room;
  for (u64 i = thread->allowed; i < allowed; i++) thread->order[i] = i;
  if (allowed > thread->allowed) thread->allowed = allowed, thread->waited = 0;
  thread->shorter = moved && thread->shorter < 2 ? 1 : 2;
  thread->rounds = 0;
  if (thread->waited <= PATIENCE || thread->fault.kind) return;
  Wave *waves = (Wave *)((u8 *)thread->memory + thread->order[0] * thread->slot_bytes);
  for (u32 w = 0; w < launch->waves; w++)
    if (waves[w].still)
      fault(waves + w, FAULT_TIMEOUT, waves[w].first_instruction, ~0u, 0, (u32)thread->used, ~0u);
}
