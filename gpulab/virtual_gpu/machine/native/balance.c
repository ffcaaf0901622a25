/* A launch whose workgroups do different amounts of work, on all units of the device.

   gpulab_balance   says when the last of them ends, and if asked where and when each runs

   Workgroups go round the dies by their number. On a die each goes, when the dispatcher comes to it, to the unit that
   holds the fewest. All that run on a unit go on at one speed: at full speed as long as they are no more than `filled`,
   else they share that. If more run on the device than what all units use can serve, time passes more slowly for all.
   docs/timing.md has the rules. */

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

/* A die: its next workgroup, the unit behind the one that got the last, when the dispatcher is free, and which unit has
   something to do first. */
typedef struct { u64 next, turn, first; double open, soonest; } Die;

static void look_at_units(const Balance *b, Die *die, u64 number) {
  die->soonest = ENDLESS;
  for (u64 u = number * b->units; u < (number + 1) * b->units; u++)
    if (as_double(b->of_units[u].next) < die->soonest) { die->soonest = as_double(b->of_units[u].next); die->first = u; }
}

/* The unit of a die that holds the fewest workgroups, of several the next in turn; ~0 if all are full. */
static u64 emptiest(const Balance *b, const Die *die, u64 number) {
  u64 found = ~0ull, fewest = b->slots;
  for (u64 n = 0; n < b->units; n++) {
    u64 u = number * b->units + (die->turn + n) % b->units;
    if (b->of_units[u].taken < fewest) { fewest = b->of_units[u].taken; found = u; }
  }
  return found;
}

void gpulab_balance(Balance *b) {
#pragma STDC FP_CONTRACT OFF
  double each = as_double(b->each), start = as_double(b->start), step = as_double(b->step);
  double filled = as_double(b->filled), most = as_double(b->most), clocks = 0, now = 0, rate = 0;
  const u64 *amounts = b->amounts;
  u64 count = b->dies * b->units;
  Die dies[64];
  clear(b->of_units, sizeof *b->of_units * count);
  clear(b->places, sizeof *b->places * count * b->slots);
  for (u64 u = 0; u < count; u++) look_ahead(b, u, filled);
  for (u64 d = 0; d < b->dies; d++) dies[d] = (Die){d, 0, 0, 0, ENDLESS};
  for (;;) {
    /* What happens next: something on a unit, or the start of a workgroup. */
    u64 die = 0, unit = ~0ull;
    double soonest = ENDLESS;
    for (u64 d = 0; d < b->dies; d++)
      if (dies[d].soonest < soonest) { soonest = dies[d].soonest; die = d; }
    for (u64 d = 0; d < b->dies; d++) {
      double when = dies[d].open > now ? dies[d].open : now;
      if (dies[d].next >= b->groups || when >= soonest) continue;
      u64 to = emptiest(b, dies + d, d);
      if (to != ~0ull) { soonest = when; die = d; unit = to; }
    }
    if (soonest == ENDLESS) break;
    if (soonest > now) {
      clocks += (soonest - now) * (rate > most ? rate / most : 1);
      now = soonest;
    }
    if (unit != ~0ull) {
      BalancedPlace *p = b->places + unit * b->slots;
      while (p->taken) p++;
      *p = (BalancedPlace){of_double(now + start), dies[die].next, 1, 0};
      if (b->where) {
        b->where[p->number] = (u64)(p - b->places);
        b->starts[p->number] = of_double(clocks);
      }
      b->of_units[unit].taken++;
      dies[die].open = now + step;
      dies[die].next += b->dies;
      dies[die].turn = unit % b->units + 1;
    } else {
      unit = dies[die].first;
      BalancedUnit *u = b->of_units + unit;
      double before = speed(u, filled), done = as_double(u->done) + (now - as_double(u->at)) * before;
      u->done = of_double(done);
      u->at = of_double(now);
      rate -= (double)u->running * before;
      for (u64 s = 0; s < b->slots; s++) {
        BalancedPlace *p = b->places + unit * b->slots + s;
        double when = as_double(p->when);
        if (p->taken && !p->running && when <= now) {
          u64 amount = amounts ? amounts[p->number] : b->amount;
          p->running = 1;
          p->when = of_double(done + (double)amount * each);
          u->running++;
          u->amount += amount;
        } else if (p->taken && p->running && when - done <= AT_ONCE) {
          p->taken = 0;
          if (b->where) b->ends[p->number] = of_double(clocks);
          u->running--;
          u->taken--;
        }
      }
      rate += (double)u->running * speed(u, filled);
    }
    look_ahead(b, unit, filled);
    look_at_units(b, dies + die, die);
  }
  b->clocks = of_double(clocks);
  b->heaviest = 0;
  for (u64 i = 0; i < count; i++)
    if (b->of_units[i].amount > b->heaviest) b->heaviest = b->of_units[i].amount;
}
