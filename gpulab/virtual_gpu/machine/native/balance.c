/* A launch whose workgroups do different amounts of work, on all units of the device.

   gpulab_balance   says when the last of them ends

   Workgroups go round the dies by their number, and on a die to the unit that has a free place first. All that run on a
   unit go on at one speed: at full speed as long as they are no more than `filled`, else they share that. If more run on
   the device than what all units use can serve, time passes more slowly for all. docs/timing.md has the rules. */

#include "support.h"

#define ENDLESS 1e300
#define AT_ONCE 1e-3 /* clocks */

static inline double speed(const BalancedUnit *u, double filled) {
  return (double)u->running <= filled ? 1 : filled / (double)u->running;
}

/* When a place has something to do next, by the clock and by what its unit has done. */
static inline double due(const BalancedUnit *u, const BalancedPlace *p, double rate) {
  if (!p->taken) return ENDLESS;
  return p->running ? as_double(u->at) + (as_double(p->when) - as_double(u->done)) / rate : as_double(p->when);
}

static void look_ahead(const Balance *b, u64 unit, double filled) {
  BalancedUnit *u = b->of_units + unit;
  double rate = speed(u, filled), next = ENDLESS;
  for (u64 s = 0; s < b->slots; s++) {
    double when = due(u, b->places + unit * b->slots + s, rate);
    if (when < next) next = when;
  }
  u->next = of_double(next);
}

/* The next workgroup of a die takes a place; from `now` on, and no sooner than the dispatcher is free. */
static void take_place(const Balance *b, BalancedPlace *p, u64 *next, double *open, double now) {
  double begin = *open > now ? *open : now;
  *open = begin + as_double(b->step);
  *p = (BalancedPlace){of_double(begin + as_double(b->start)), *next, 1, 0};
  *next += b->dies;
}

void gpulab_balance(Balance *b) {
#pragma STDC FP_CONTRACT OFF
  double each = as_double(b->each), filled = as_double(b->filled), most = as_double(b->most);
  double clocks = 0, now = 0, rate = 0, open[64];
  const u64 *amounts = b->amounts;
  u64 next[64], count = b->dies * b->units;
  clear(b->of_units, sizeof *b->of_units * count);
  clear(b->places, sizeof *b->places * count * b->slots);
  for (u64 d = 0; d < b->dies; d++) {
    next[d] = d;
    open[d] = 0;
    for (u64 s = 0; s < b->slots; s++)
      for (u64 u = d * b->units; u < (d + 1) * b->units && next[d] < b->groups; u++)
        take_place(b, b->places + u * b->slots + s, next + d, open + d, 0);
  }
  for (u64 u = 0; u < count; u++) look_ahead(b, u, filled);
  for (;;) {
    u64 unit = 0;
    double soonest = ENDLESS;
    for (u64 i = 0; i < count; i++) {
      double when = as_double(b->of_units[i].next);
      if (when < soonest) { soonest = when; unit = i; }
    }
    if (soonest == ENDLESS) break;
    if (soonest > now) {
      clocks += (soonest - now) * (rate > most ? rate / most : 1);
      now = soonest;
    }
    BalancedUnit *u = b->of_units + unit;
    double before = speed(u, filled), done = as_double(u->done) + (now - as_double(u->at)) * before;
    u64 die = unit / b->units;
    u->done = of_double(done);
    u->at = of_double(now);
    rate -= (double)u->running * before;
    for (u64 s = 0; s < b->slots; s++) {
      BalancedPlace *p = b->places + unit * b->slots + s;
      if (!p->taken) continue;
      double when = as_double(p->when);
      if (!p->running && when <= now) {
        u64 amount = amounts ? amounts[p->number] : b->amount;
        p->running = 1;
        p->when = of_double(done + (double)amount * each);
        u->running++;
        u->amount += amount;
      } else if (p->running && when - done <= AT_ONCE) {
        p->taken = 0;
        u->running--;
        if (next[die] < b->groups) take_place(b, p, next + die, open + die, now);
      }
    }
    rate += (double)u->running * speed(u, filled);
    look_ahead(b, unit, filled);
  }
  b->clocks = of_double(clocks);
  b->heaviest = 0;
  for (u64 i = 0; i < count; i++)
    if (b->of_units[i].amount > b->heaviest) b->heaviest = b->of_units[i].amount;
}
