/* The simulation of one compute unit (or WGP) from which a launch's time is modelled.

   gpulab_unit   runs workgroups on the unit, instruction by instruction, and adds up their times

   A wave executes its instructions in their order. One is issued when its registers are ready, what it needs of its SIMD
   and of the unit is free: who is ready first has its turn first. What leaves the unit goes through queues that
   have the unit's share of what all units use. Loops stand for more turns than are run: each visit of a block has a
   weight, and a workgroup's time is the sum of its visits' times with their weights. What happens seldom takes less of
   what all units use, as it takes less of the time that it is run beside. Times are in 64ths of a clock, so
   that all hosts come to the same result. docs/timing.md has the rules. */

#include "support.h"

#define NEVER (~0ull)

/* What the waves of a unit share: until when each part is in use. */
typedef struct {
  u64 vector[4], trans[4], matrix[4], scalar[4], memory[4], lds_issue[4], branch[4], port[4];
  u64 lds, l1[2], fill[2], l2, last, dram, atomic;
} Parts;

typedef struct { u64 arrived, live, began, started, number; } Group;

static inline u64 later(u64 a, u64 b) { return a > b ? a : b; }

/* The same for the unit's share of what all units use. They seldom all want it at once, so that what one wants may be
   there before its turn, by half the latency of memory at most. */
static inline u64 occupy_share(u64 *part, u64 at, u64 time, u32 burst, u32 free) {
  if (free) return at;
  *part = later(*part, at) + time;
  return *part > at + burst ? *part - burst : at;
}

/* Takes a part for so long from `at` on; gives when it is done. */
static inline u64 occupy(u64 *part, u64 at, u64 time, u32 free) {
  if (free) return at;
  u64 begin = later(*part, at);
  *part = begin + time;
  return *part;
}

/* The wave that may go on first; of several the one that has waited for longest. */
static u64 soonest(const u64 *at, const u64 *progress, u32 n, u32 *which) {
  u64 least = NEVER, fewest = NEVER;
  for (u32 i = 0; i < n; i++) least = at[i] < least ? at[i] : least;
  for (u32 i = 0; i < n; i++) {
    u64 own = at[i] == least ? progress[i] : NEVER;
    if (own < fewest) { fewest = own; *which = i; }
  }
  return least;
}

static void start_resident(Unit *u, u32 slot, u64 from) {
  const u32 *streams = (const u32 *)u->streams;
  for (u32 w = 0; w < u->waves; w++) {
    Resident *r = u->residents + slot * u->waves + w;
    clear(r, sizeof *r);
    r->visit = streams[2 * w];
    r->last = streams[2 * w + 1];
    r->group = slot;
    r->simd = (slot * u->waves + w) % u->simds;
    r->began = r->entered = from;
    r->op = r->end = 0;
    ((u64 *)u->at)[slot * u->waves + w] = from;
    ((u64 *)u->at)[u->slots * u->waves + slot * u->waves + w] = 0;
  }
}

static inline void done(Resident *r, u32 queue, u64 at) {
  u64 *last = r->done + 64 * queue, n = r->issued[queue]++;
  u64 before = n ? last[(n - 1) & 63] : 0;
  last[n & 63] = later(before, at);
}

/* An access beyond the first cache's pipeline; gives when its data is there. */
static u64 beyond(Unit *u, Parts *p, Cost *c, u32 cu, u64 at, u64 part) {
  u32 level = 0, free = u->free;
  for (u32 i = 0; i < 4; i++) {
    c->credit[i] += c->beyond[i];
    if (c->credit[i] < 65536) break;
    c->credit[i] -= 65536;
    level = i + 1;
  }
  u32 burst = u->burst;
  u64 end = at;
  if (c->fill) end = later(end, occupy(&p->fill[cu], at, c->fill, free & FREE_L1));
  if (c->l2) end = later(end, occupy_share(&p->l2, at, c->l2 * part >> 16, burst, free & FREE_L2));
  if (c->last) end = later(end, occupy_share(&p->last, at, c->last * part >> 16, burst, free & FREE_LAST));
  if (c->dram) end = later(end, occupy_share(&p->dram, at, c->dram * part >> 16, burst, free & FREE_DRAM));
  if (c->atomic) end = later(end, occupy_share(&p->atomic, at, c->atomic * part >> 16, burst, free & FREE_ATOMIC));
  return end + (free & FREE_LATENCY ? 0 : c->latency[level]);
}

void gpulab_unit(Unit *u) {
  Parts parts = {0}, *p = &parts;
  Group groups[128];
  u64 *at = (u64 *)u->at, *progress = at + u->waves * u->slots;
  double *stalls = (double *)u->stalls, *times = (double *)u->times, *sums = (double *)u->sums;
  const Visit *visits = u->visits;
  u32 n = u->waves * u->slots, free = u->free, next_group = 0;
  u64 opening = 0, interval = free & FREE_DISPATCH ? 0 : u->interval;
  u64 start = u->start;
  u->issued = 0;
  for (u32 i = 0; i < n; i++) at[i] = NEVER;
  for (u32 s = 0; s < u->slots; s++) {
    times[s] = sums[s] = 0;
    if (next_group == u->groups) continue;
    groups[s] = (Group){0, u->waves, u->skew ? opening : 0, opening, next_group++};
    start_resident(u, s, opening + start);
    opening += interval + u->skew;
  }
  for (;;) {
    u32 w = 0;
    u64 now = soonest(at, progress, n, &w);
    if (now == NEVER) return;
    Resident *r = u->residents + w;
    if (r->op == r->end) { /* the next block */
      if (r->visits)
        r->sum = of_double(as_double(r->sum) + as_double(visits[r->visit - 1].weight) * (double)(now - r->entered));
      r->entered = now;
      if (r->visit == r->last) goto ended;
      r->op = visits[r->visit].from;
      r->end = visits[r->visit].to;
      r->visit++;
      r->visits++;
      if (r->op == r->end) continue;
    }
    const Op *op = u->ops + r->op;
    u32 s = (u32)r->simd, cu = u->cus == 2 ? s >> 1 : 0;
    u64 need = now;
    if (op->kind == OP_WAIT) {
      for (u32 q = 0; q < QUEUES; q++) {
        if (op->left[q] >= r->issued[q] || r->issued[q] - op->left[q] + 64 <= r->issued[q]) continue;
        need = later(need, r->done[64 * q + ((r->issued[q] - op->left[q] - 1) & 63)]);
      }
      if (need > now) {
        stalls[r->op] += as_double(visits[r->visit - 1].weight) * (double)(need - now);
        at[w] = need;
        continue;
      }
      u->issued++;
      progress[w] = u->issued;
      at[w] = now + op->next;
      r->op++;
      continue;
    }
    const u16 *registers = u->registers + op->at;
    u32 touched = op->reads + op->writes;
    for (u32 i = 0; i < touched; i++) need = later(need, r->ready[registers[i]]);
    if (need > now) { at[w] = need; continue; }
    /* First come, first served: who is ready takes the next free turn. */
    switch (op->kind) {
    case OP_MATRIX: now = later(now, later(p->matrix[s], p->vector[s])); break;
    case OP_TRANS: now = later(now, later(p->trans[s], p->vector[s])); break;
    case OP_VECTOR: now = later(now, p->vector[s]); break;
    case OP_SCALAR: case OP_SMEM: now = later(now, p->scalar[s]); break;
    case OP_LDS: now = later(now, p->lds_issue[s]); break;
    case OP_VMEM: case OP_STORE: now = later(now, p->memory[s]); break;
    case OP_BRANCH: now = later(now, p->branch[s]); break;
    default: break;
    }
    u->issued++;
    progress[w] = u->issued;
    u64 result = now + (free & FREE_LATENCY ? op->issue : op->latency);
    switch (op->kind) {
    case OP_VECTOR: if (!(free & FREE_VECTOR)) p->vector[s] = now + op->issue; break;
    case OP_MATRIX:
      if (!(free & FREE_VECTOR)) p->vector[s] = now + op->issue;
      if (!(free & FREE_MATRIX)) p->matrix[s] = now + op->matrix;
      break;
    case OP_TRANS:
      if (!(free & FREE_VECTOR)) p->vector[s] = now + op->issue;
      if (!(free & FREE_TRANS)) p->trans[s] = now + op->matrix;
      break;
    case OP_SCALAR: if (!(free & FREE_SCALAR)) p->scalar[s] = now + op->issue; break;
    case OP_BRANCH: if (!(free & FREE_SCALAR)) p->branch[s] = now + op->issue; break;
    case OP_SMEM: {
      if (!(free & FREE_SCALAR)) p->scalar[s] = now + op->issue;
      u64 there = now;
      if (op->access != ~0u) there = beyond(u, p, u->costs + op->access, cu, now, visits[r->visit - 1].part);
      done(r, op->queue, there);
      break;
    }
    case OP_LDS: {
      u64 there = now;
      p->lds_issue[s] = now + op->issue;
      if (op->access != ~0u) {
        const Cost *c = u->costs + op->access;
        u64 port = occupy(&p->port[s / 2 * 2 + (u->simds == 2 ? s & 1 : 0)], now, c->port, free & FREE_LDS);
        there = later(port, occupy(&p->lds, now, c->lds, free & FREE_LDS));
        there += free & FREE_LATENCY ? 0 : c->latency[0];
      }
      done(r, op->queue, there);
      break;
    }
    case OP_VMEM: case OP_STORE: {
      u64 there = now;
      p->memory[s] = now + op->issue;
      if (op->access != ~0u) {
        Cost *c = u->costs + op->access;
        u64 begin = occupy(&p->l1[cu], now, c->l1, free & FREE_L1);
        there = beyond(u, p, c, cu, begin, visits[r->visit - 1].part);
      }
      if (op->kind == OP_STORE) r->stored = later(r->stored, there);
      done(r, op->queue, there);
      break;
    }
    default: break;
    }
    for (u32 i = op->reads; i < touched; i++) r->ready[registers[i]] = result;
    at[w] = now + op->next;
    r->op++;
    if (op->kind == OP_END) {
      if (r->stored > now) {
        stalls[r->op - 1] += as_double(visits[r->visit - 1].weight) * (double)(r->stored - now);
        at[w] = r->stored;
      }
      continue;
    }
    if (op->kind != OP_BARRIER) continue;
    at[w] = NEVER;
    groups[r->group].arrived++;
    goto gather;
  ended:
    at[w] = NEVER;
    r->gone = 1;
    {
      Group *g = groups + r->group;
      g->live--;
      if (!g->live) {
        double most = 0;
        for (u32 i = 0; i < u->waves; i++) {
          double sum = as_double(u->residents[r->group * u->waves + i].sum);
          if (sum > most) most = sum;
        }
        double all = most + (double)start + (double)(g->started - g->began);
        times[r->group] = all;
        sums[r->group] += all;
        if (next_group < u->groups) {
          u64 when = later(opening, now);
          opening = when + interval;
          *g = (Group){0, u->waves, now, when, next_group++};
          start_resident(u, (u32)r->group, when + start);
        }
        continue;
      }
    }
  gather: {
    Group *g = groups + r->group;
    if (g->arrived < g->live || !g->arrived) continue;
    g->arrived = 0;
    for (u32 i = 0; i < u->waves; i++) {
      u32 other = (u32)r->group * u->waves + i;
      Resident *o = u->residents + other;
      if (at[other] == NEVER && !o->gone) at[other] = now + (free & FREE_LATENCY ? 0 : u->barrier);
    }
  }
  }
}
