/* What is noted of what is wrong in a checked launch: each finding, its other side, and reads of memory without a value,
   which wait for something that says more.

   A workgroup goes on after a finding as if what is missing were there: so that another mistake is found, too, and one
   mistake only once. Of barriers and waiting for ever that cannot be said; there it ends. */

#include "checked.h"

Found *keep_found(Check *c, const Fault *first, const Fault *one, u32 kind) {
  if (first->kind && first->number < one->number) return 0;
  if (!first->kind || first->number > one->number) c->found_count = 0;
  for (u64 i = 0; i < c->found_count; i++) {
    const Found *have = c->found + i;
    if (have->fault.kind == one->kind && have->finding.kind == kind && have->fault.instruction == one->instruction)
      return 0;
  }
  if (c->found_count == FOUND) return 0;
  Found *f = c->found + c->found_count++;
  clear(&f->finding, sizeof(Finding));
  f->fault = *one;
  f->finding.kind = kind;
  return f;
}

int finished(Check *c, Thread *thread) {
  return c->found_count == FOUND || thread->fault.number < c->my_group;
}

Finding *report_at(Check *c, Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 action) {
  Thread *thread = wave->thread;
  Fault one = fault_of(wave, FAULT_CHECKED, instruction, lane, address, bytes, action);
  Found *found = keep_found(c, &thread->fault, &one, kind);
  take_fault(thread, &one);
  return found ? &found->finding : 0;
}

Finding *report(Check *c, Wave *wave, u32 kind, u32 access, u32 lane, u64 address) {
  const Access *a = launch_of(wave)->accesses + access;
  if (a->space == SPACE_SCALAR) lane = ~0u;
  Finding *found = report_at(c, wave, kind, a->instruction, lane, address, a->bytes, a->action);
  if (!found) return 0;
  found->access = access;
  found->lane = lane;
  found->in_lds = c->in_lds;
  return found;
}

/* Whether the access is the earlier side of a race that is known: what it read came too early, and the race says so. */
static int raced(const Check *c, u32 access) {
  for (u64 i = 0; i < c->found_count; i++) {
    const Finding *f = &c->found[i].finding;
    if (f->kind == FOUND_RACE && f->other_known == OTHER_ACCESS && f->other_access == access) return 1;
  }
  return 0;
}

void keep_unwritten(Check *c, Wave *wave, u32 access, u32 lane, u64 address) {
  Found *pending = &c->pending;
  if (pending->finding.kind || raced(c, access)) return;
  const Access *a = launch_of(wave)->accesses + access;
  if (a->space == SPACE_SCALAR) lane = ~0u;
  pending->fault = fault_of(wave, FAULT_CHECKED, a->instruction, lane, address, a->bytes, a->action);
  clear(&pending->finding, sizeof(Finding));
  pending->finding.kind = FOUND_UNWRITTEN; pending->finding.access = access; pending->finding.lane = lane;
  pending->finding.in_lds = c->in_lds;
}

int report_unwritten(Check *c, Thread *thread) {
  Found *pending = &c->pending;
  Found *found = keep_found(c, &thread->fault, &pending->fault, FOUND_UNWRITTEN);
  if (found) found->finding = pending->finding;
  take_fault(thread, &pending->fault);
  pending->finding.kind = FOUND_NOTHING;
  return finished(c, thread);
}

void add_other(Check *c, Finding *found, u32 epoch) {
  const Segment *s = segment_of(c, epoch);
  if (!s) return;
  found->other_access = c->log[epoch >> EVENT_SHIFT];
  found->other_lane = epoch & (ATOMIC_BIT - 1);
  found->other_wave = s->wave;
  found->other_group = s->group;
  found->other_known = OTHER_ACCESS;
}
