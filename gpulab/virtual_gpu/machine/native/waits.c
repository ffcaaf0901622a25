/* Programs without guarantees (a person chose the instructions): which registers hold something, and which still wait
   for memory.

   Each access raises a wait counter, and s_waitcnt waits until so many of its accesses are left. A register that a load
   writes must not be used before a wait has made sure of its arrival: here the number of the access is kept with the
   register, and what has arrived for certain with the counter. */

#include "checked.h"

void start_steps(Check *c, Progress *p) {
  clear(p, sizeof *p);
  p->written[0] = ~0ull;
  for (int i = 0; i < 3; i++) p->scalars[i] = c->first_scalars[i];
}

static void report_register(Check *c, Wave *wave, u32 kind, u32 instruction, u32 lane, u32 number, u32 by,
                            u32 counter) {
  Finding *found = report_at(c, wave, kind, instruction, lane, 0, 0, ~0u);
  if (!found) return;
  found->value = number;
  found->count = counter;
  if (kind >= FOUND_WAIT) {
    found->other_known = OTHER_INSTRUCTION;
    found->other_instruction = by;
    found->other_wave = c->me;
    found->other_group = c->my_group;
  }
}

/* After a finding the register counts as written, and what is under way as arrived. */
static void look_at_step(Check *c, Wave *wave, u32 instruction, u64 exec) {
  const Step *s = c->steps + instruction;
  Progress *p = (Progress *)((u8 *)c->group_state + c->steps_at) + wave->index;
  for (u32 word = 0; word < 8; word++) {
    for (u64 rest = s->reads[word] | s->writes[word] | s->cross[word]; rest; rest &= rest - 1) {
      u32 r = 64 * word + (u32)__builtin_ctzll(rest);
      if (p->pending[r]) {
        if (p->pending[r] >> 2 > p->done[p->pending[r] & 3])
          report_register(c, wave, FOUND_WAIT, instruction, ~0u, r, p->by[r], p->pending[r] & 3);
        p->pending[r] = 0;
      }
      u64 bit = rest & -rest;
      if ((s->reads[word] & bit) && (exec & ~p->written[r])) {
        report_register(c, wave, FOUND_VECTOR, instruction, (u32)__builtin_ctzll(exec & ~p->written[r]), r, 0, 0);
        p->written[r] |= exec;
      }
      if ((s->cross[word] & bit) && !p->written[r]) {
        report_register(c, wave, FOUND_VECTOR, instruction, ~0u, r, 0, 0);
        p->written[r] = ~0ull;
      }
    }
  }
  for (u32 word = 0; word < 3; word++) {
    for (u64 rest = s->scalar_reads[word] | s->scalar_writes[word]; rest; rest &= rest - 1) {
      u32 r = 64 * word + (u32)__builtin_ctzll(rest);
      if (p->pending_scalar[r]) {
        if (p->pending_scalar[r] >> 2 > p->done[LGKMCNT])
          report_register(c, wave, FOUND_WAIT_SCALAR, instruction, ~0u, r, p->by_scalar[r], LGKMCNT);
        p->pending_scalar[r] = 0;
      }
    }
    u64 unset = s->scalar_reads[word] & ~p->scalars[word];
    if (unset)
      report_register(c, wave, FOUND_SCALAR, instruction, ~0u, 64 * word + (u32)__builtin_ctzll(unset), 0, 0);
    p->scalars[word] |= s->scalar_writes[word] | unset;
  }
  if (s->kind == STEP_WAIT) {
    for (u32 k = 0; k < 3; k++) {
      u32 left = s->waits[k];
      if (left == ~0u || left > p->issued[k]) continue;
      /* Scalar loads arrive in any order: until all are there, none is for certain. */
      if (k == LGKMCNT && left && p->last_scalar > p->done[k]) continue;
      if (p->issued[k] - left > p->done[k]) p->done[k] = p->issued[k] - left;
    }
    return;
  }
  if (s->kind == STEP_BARRIER && p->last_lds_store > p->done[LGKMCNT]) {
    report_register(c, wave, FOUND_WAIT_BARRIER, instruction, ~0u, 0, p->lds_store_by, LGKMCNT);
    p->last_lds_store = 0;
  }
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
        p->pending_scalar[r] = number << 2 | LGKMCNT;
        p->by_scalar[r] = instruction;
      }
}

u32 step(Check *c, Wave *wave, u32 instruction, u64 exec) {
  look_at_step(c, wave, instruction, exec);
  return wave->thread->fault.kind && finished(c, wave->thread);
}
