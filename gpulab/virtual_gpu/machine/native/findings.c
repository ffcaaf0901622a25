/* What is noted of what is wrong in a checked launch: the finding, its other side, and reads of memory without a value,
   which wait for something that says more. */

#include "checked.h"

/* Notes a finding as the launch's fault. 0: a workgroup before this one has one already. */
u32 report_at(Check *c, Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 action) {
  Thread *thread = wave->thread;
  u64 before = thread->fault.kind ? thread->fault.number : ~0ull;
  fault(wave, FAULT_CHECKED, instruction, lane, address, bytes, action);
  if (thread->fault.number >= before) return 0;
  clear(&c->found, sizeof(Finding));
  c->found.kind = kind;
  return 1;
}

u32 report(Check *c, Wave *wave, u32 kind, u32 access, u32 lane, u64 address) {
  const Access *a = launch_of(wave)->accesses + access;
  if (a->space == SPACE_SCALAR) lane = ~0u;
  if (!report_at(c, wave, kind, a->instruction, lane, address, a->bytes, a->action)) return 0;
  c->found.access = access;
  c->found.lane = lane;
  c->found.in_lds = c->in_lds;
  return 1;
}

/* A read of memory that nobody has written yet. Another wave may still write it: that is a race then, and says more. So
   the kernel goes on for now; the first such read is kept until its workgroup's next barrier (LDS), else to the end. */
void keep_unwritten(Check *c, Wave *wave, u32 access, u32 lane, u64 address) {
  if (c->pending.kind) return;
  Thread *thread = wave->thread;
  const Access *a = (const Access *)thread->launch->accesses + access;
  Finding none = {0};
  Fault f = {0};
  if (a->space == SPACE_SCALAR) lane = ~0u;
  f.kind = FAULT_CHECKED; f.instruction = a->instruction; f.wave = wave->index; f.lane = lane;
  for (u32 d = 0; d < 3; d++) f.group[d] = wave->group[d];
  f.bytes = a->bytes; f.access = a->action; f.address = address; f.number = c->my_group;
  c->pending = none;
  c->pending.kind = FOUND_UNWRITTEN; c->pending.access = access; c->pending.lane = lane;
  c->pending.in_lds = c->in_lds;
  c->pending_fault = f;
}

/* Makes the kept finding the launch's fault. */
int stop_for_unwritten(Check *c, Thread *thread) {
  c->found = c->pending;
  thread->fault = c->pending_fault;
  thread->launch->faulted = c->pending_fault.number;
  return 1;
}

/* The earlier access that left a epoch becomes the finding's other side. */
void add_other(Check *c, u32 epoch) {
  const Segment *s = segment_of(c, epoch);
  if (!s) return;
  c->found.other_access = c->log[epoch >> EVENT_SHIFT];
  c->found.other_lane = epoch & (ATOMIC_BIT - 1);
  c->found.other_wave = s->wave;
  c->found.other_group = s->group;
  c->found.other_known = OTHER_ACCESS;
}
