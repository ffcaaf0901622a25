/* The replay of the sample of a launch (the logs of a Recording): what its accesses do to caches in which each workgroup
   has its share.

   The waves of a workgroup take turns, one access each. The first caches are sets of tags; of what goes beyond them the
   lines in between say whether the workgroup's share of a level still has a line. What workgroups share is counted
   apart: of the lines that one uses for the first time, how many a neighbour uses, too. docs/timing.md says what is made
   of it. */

#include "support.h"

/* The place of a line in the table, taken if it is not there. */
static inline Line *line_of(const Replay *r, u64 key, int *there) {
  Line *table = (Line *)r->table;
  u64 hash = key * 0x9e3779b97f4a7c15ull;
  u32 at = (u32)(hash >> 32) & r->mask;
  while (table[at].key && table[at].key != key) at = (at + 1) & r->mask;
  *there = table[at].key != 0;
  table[at].key = key;
  return table + at;
}

static inline u64 line_key(u32 group, u32 line) { return (u64)(group + 1) << 32 | line; }

/* A number that looks like chance, the same each time (the finaliser of SplitMix64). */
static inline u64 mixed(u64 x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/* Whether a line is in the first cache (2: it came in this turn of the waves or the one before, and may still be on its
   way). It is there now, in place of the line that was used last the longest ago, or of any line (`random`). */
static inline int first_has(Replay *r, u32 cu, u32 line, u32 turn) {
  u64 *tags = (u64 *)r->tags + ((u64)cu * r->sets + line % r->sets) * r->ways, fresh = (u64)turn << 32 | (line + 1);
  u64 before = fresh;
  for (u32 n = 0; n < r->ways; n++) {
    u64 here = tags[n];
    int found = (u32)here == line + 1;
    if (!r->random || !here) tags[n] = before;
    if (found && !r->random) tags[0] = here;
    if (found) return turn - (u32)(here >> 32) <= 1 ? 2 : 1;
    if (!here) return 0;
    if (!r->random) before = here;
  }
  if (r->random) tags[mixed(++r->replaced) % r->ways] = fresh; /* wherever the arrays lie in memory */
  return 0;
}

static inline void add_flow(SiteFlow *to, const SiteFlow *from) {
  u64 line = to->line ? to->line : from->line;
  for (u32 i = 0; i < sizeof *to / 8; i++) ((u64 *)to)[i] += ((const u64 *)from)[i];
  to->line = line;
}

/* Adds up what each of so many turns of one workgroup, or of a row of them in x, asked of the memory's channels; from
   then on 0. */
static void add_turns(const Replay *r, u32 row, u32 turns) {
  u32 *asked = (u32 *)r->asked + (u64)row * SPREAD_TURNS * r->channels;
  for (u32 turn = 0; turn < turns; turn++, asked += r->channels) {
    Crowd *crowd = (Crowd *)r->crowds + turn;
    u32 most = 0, all = 0, used = 0;
    for (u32 c = 0; c < r->channels; c++) {
      all += asked[c];
      used += asked[c] != 0;
      if (asked[c] > most) most = asked[c];
      asked[c] = 0;
    }
    if (!row) {
      crowd->ones += used != 0;
      crowd->used_by_ones += used;
      continue;
    }
    crowd->rows += used != 0;
    crowd->used_by_rows += used;
    crowd->busiest += most;
    crowd->fair += (all + r->channels - 1) / r->channels;
  }
}

/* The most turns of any wave. */
static u32 most_turns(const Replay *r) {
  const u32 *log = (const u32 *)r->log, *used = (const u32 *)r->used;
  u32 waves = r->size[0] * r->size[1] * r->size[2] * r->waves, most = 0;
  for (u32 w = 0; w < waves; w++) {
    const u32 *end = log + (used[w] & ~LOG_CUT);
    u32 turns = 0;
    for (; log < end; log += (*log & 255) + 1) turns++;
    most = turns > most ? turns : most;
  }
  return most;
}

/* How many times a wave of a workgroup waits for what it asked for before it asks for more, the most of any; and once
   more, at its end. 0: some log does not reach to its wave's end. */
static u32 waits_of(const Replay *r, u32 g, const u32 *log) {
  const u32 *used = (const u32 *)r->used + (u64)g * r->waves, *kinds = (const u32 *)r->kinds;
  u32 most = 0;
  for (u32 w = 0; w < r->waves; w++) {
    const u32 *end = log + (used[w] & ~LOG_CUT);
    u32 waits = 0;
    if (used[w] & LOG_CUT) return 0;
    for (; log < end; log += (*log & 255) + 1) waits += kinds[*log >> 16] >> KIND_BITS;
    most = waits > most ? waits : most;
  }
  return most + 1;
}

/* A line that a workgroup asks for in a turn: of those who ask for the same one, the first counts. */
static void ask(const Replay *r, Line *own, u32 group, u32 turn, u32 line) {
  u32 *asked = (u32 *)r->asked + turn * r->channels + line / CHANNEL_LINES % r->channels;
  u32 groups = r->size[0] * r->size[1] * r->size[2], row = group / r->size[0] * SPREAD_TURNS + turn + 1;
  if (own->asked != row) *asked += 1;
  own->asked = row;
  int there;
  Line *all = line_of(r, line_key(groups, line), &there);
  if (all->asked != row) asked[SPREAD_TURNS * r->channels] += 1;
  all->asked = row;
}

/* Whether those around a workgroup are in the sample, in one direction: it is in the middle of the sample, and the one
   `step` before it is there, too; or the sample has all of the grid. */
static inline int judged(u32 at, u32 size, u32 grid, u32 step) {
  u32 from = size / 2, to = size - 1 - (size > 2);
  if (size == grid) return 1;
  if (step < size && step > from) from = step;
  return at >= from && (at <= to || from > to);
}

/* From a workgroup to the next in a direction that is on the same die or shader array, where `below` are one apart. */
static inline u32 next_there(u32 below, u32 stride) {
  u32 step = 1;
  while (step * (u64)below % stride) step++;
  return step;
}

/* A line that a workgroup uses for the first time: how far before it the last one is that used it, of all, and of those
   on the same die or shader array. A place in `reuse` is an offset in z, y and x; the last one has all lines. Only
   workgroups are counted that have others around them in the sample. `when` in its life, in 65536ths. */
static void note_use(const Replay *r, u32 g, u32 line, u32 site, int warm, u64 when) {
  const u32 *size = r->size, *grid = r->grid;
  u32 groups = size[0] * size[1] * size[2], at[3] = {g % size[0], g / size[0] % size[1], g / size[0] / size[1]};
  u32 below[3] = {1 % r->stride, grid[0] % r->stride, (u32)((u64)grid[0] * grid[1] % r->stride)};
  u32 residue = (at[0] * below[0] + at[1] * below[1] + at[2] * below[2]) % r->stride;
  int there;
  u8 *users = line_of(r, line_key(groups, line), &there)->users;
  for (u32 near = 0; near < 2; near++) {
    u32 last = users[residue], judge = 1;
    for (u32 i = 0; i < r->stride && !near; i++) last = users[i] > last ? users[i] : last;
    for (u32 d = 0; d < 3; d++) judge &= judged(at[d], size[d], grid[d], near ? next_there(below[d], r->stride) : 1);
    for (int later = 0; judge && later <= warm; later++) {
      u64 row = (((u64)later * r->accesses + site) * 2 + near) * (r->offsets + 1);
      u32 *found = (u32 *)r->reuse + row;
      found[r->offsets]++;
      if (!last) continue;
      u32 other = last - 1, dx = at[0] + size[0] - 1 - other % size[0];
      u32 dy = at[1] + size[1] - 1 - other / size[0] % size[1], dz = at[2] - other / size[0] / size[1];
      u32 at_offset = (dz * (2 * size[1] - 1) + dy) * (2 * size[0] - 1) + dx;
      found[at_offset]++;
      ((i64 *)r->shifts)[row + at_offset] += (i64)when - (i64)line_of(r, line_key(other, line), &there)->late;
    }
  }
  users[residue] = (u8)(g + 1);
}

enum { SCALAR_LINES = 1 << 30 }; /* lines of 64 bytes in the scalar cache: with numbers of their own */

void gpulab_replay(Replay *r) {
  const u32 *log = (const u32 *)r->log, *used = (const u32 *)r->used, *kinds = (const u32 *)r->kinds;
  u32 groups = r->size[0] * r->size[1] * r->size[2], *cursors = (u32 *)r->cursors, *ends = cursors + r->waves,
      *waits = ends + r->waves;
  u64 start = 0;
  u32 longest = 0, every = r->channels ? most_turns(r) / SPREAD_TURNS + 1 : 1;
  for (u32 g = 0; g < groups; g++) {
    u32 live = 0, stamp = 0, scalar_stamp = 0;
    for (u32 i = 0; i < r->array_sets + r->l2_sets; i++) ((u32 *)r->turns)[i] = 0;
    for (u64 i = 0; i < (u64)r->cus * r->sets * r->ways; i++) ((u64 *)r->tags)[i] = 0;
    u64 begin = start;
    for (u32 w = 0; w < r->waves; w++) {
      cursors[w] = (u32)(start - begin);
      waits[w] = 0;
      start += used[g * r->waves + w] & ~LOG_CUT;
      ends[w] = (u32)(start - begin);
      live += cursors[w] < ends[w];
    }
    const u32 *own = log + begin;
    u32 turn = 2, all_waits = waits_of(r, g, own);
    for (; live; turn++) {
      u32 looked_at = (turn - 2) % every ? ~0u : (turn - 2) / every;
      for (u32 w = 0; w < r->waves; w++) { /* the waves of a workgroup take turns */
        if (cursors[w] >= ends[w]) continue;
        u32 whole = used[g * r->waves + w], length = whole & ~LOG_CUT;
        u32 head = own[cursors[w]], n = head & 255, site = head >> 16, kind = kinds[site] & ((1 << KIND_BITS) - 1);
        /* What goes on after the log's end is like its second half, when caches are warm. */
        int warm = (whole & LOG_CUT) && ends[w] - cursors[w] <= length / 2;
        const u32 *lines = own + cursors[w] + 1;
        SiteFlow delta = {0}, *f = &delta;
        waits[w] += kinds[site] >> KIND_BITS;
        u64 when = all_waits ? ((u64)waits[w] << 16) / all_waits : 0;
        if (n) f->line = lines[0] >> 4;
        f->executed++;
        f->lanes += head >> 8 & 255;
        u32 missing = 0, waiting = 0;
        for (u32 i = 0; i < n; i++) {
          u32 line = lines[i] >> 4, sectors = lines[i] & 15, halves = (sectors & 3 ? 1 : 0) | (sectors & 12 ? 2 : 0);
          u32 lost = 0;
          int there;
          if (kind == KIND_SCALAR) {
            for (u32 half = 0; half < 2; half++) {
              if (!(halves >> half & 1)) continue;
              Line *l = line_of(r, line_key(g, SCALAR_LINES + 2 * line + half), &there);
              f->lookups++;
              if (there && scalar_stamp - l->stamp <= r->scalar_lines) f->first_hits++;
              else { lost |= 1u << half; l->stamp = ++scalar_stamp; }
            }
          } else if (kind == KIND_LOAD) {
            if (r->shift == 7) {
              f->lookups++;
              int has = first_has(r, w % r->cus, line, turn);
              if (has) f->first_hits++; else lost = halves;
              waiting |= has != 1;
            } else
              for (u32 half = 0; half < 2; half++) {
                if (!(halves >> half & 1)) continue;
                f->lookups++;
                int has = first_has(r, w % r->cus, 2 * line + half, turn);
                if (has) f->first_hits++; else lost |= 1u << half;
                waiting |= has != 1;
              }
          } else {
            f->lookups += r->shift == 7 ? 1 : (halves & 1) + (halves >> 1);
            f->requests += (halves & 1) + (halves >> 1);
            lost = halves;
          }
          if (!lost) continue;
          missing = 1;
          if (kind == KIND_LOAD && (r->array_sets || r->shift == 7)) lost = 3; /* whole lines */
          Line *l = line_of(r, line_key(g, line), &there);
          if (!there) {
            l->site = site;
            u32 at = g;
            for (u32 d = 0; d < 3; at /= r->size[d], d++)
              for (u32 apart = 0; apart < 4; apart++) f->pairs[4 * d + apart] += at % r->size[d] >= 1u << apart;
            l->counted = warm ? 3 : 1;
            note_use(r, g, line, site, warm != 0, when);
          }
          if (kind != KIND_SCALAR && r->channels && looked_at < SPREAD_TURNS) ask(r, l, g, looked_at, line);
          l->late = when;
          /* How many requests came since it was used: in its set of GL1 and of L2, and in all. */
          u32 distance = ++stamp - l->stamp, fetched = l->fetched, dirty = l->dirty, in_array = ~0u;
          u32 *turns = (u32 *)r->turns;
          if (r->array_sets && kind == KIND_LOAD) {
            u32 *mine = turns + (line & (r->array_sets - 1));
            in_array = ++*mine - l->in_array;
            l->in_array = *mine;
          }
          u32 *mine = turns + r->array_sets + (line & (r->l2_sets - 1)), in_l2 = ++*mine - l->in_l2;
          l->in_l2 = *mine;
          l->stamp = stamp;
          if (kind == KIND_STORE || kind == KIND_ATOMIC) {
            if (in_l2 > r->l2_ways) dirty = 0;
            u32 fresh = sectors & ~dirty;
            f->sectors += (u32)__builtin_popcount(fresh);
            l->dirty = dirty | sectors;
          }
          if (kind == KIND_ATOMIC) {
            Line *all = line_of(r, line_key(groups, line), &there);
            f->blocks += (u32)__builtin_popcount(lost & ~all->fetched);
            all->fetched |= lost;
          }
          if (kind == KIND_STORE) { /* nothing is read for it, and what was written whole can be read */
            l->fetched = fetched | ((sectors & 3) == 3) | ((sectors & 12) == 12) << 1;
            continue;
          }
          f->bytes += lost == 3 ? 128 : 64;
          if (lost & ~fetched) {
            f->first++;
            f->first_bytes += lost == 3 ? 128 : 64;
          }
          else if (in_array <= r->array_ways) f->array_hits++;
          else if (in_l2 <= r->l2_ways) f->l2_hits++;
          else if (distance <= r->last_lines) f->last_hits++;
          else f->again++;
          l->fetched = fetched | lost;
        }
        f->missing += missing;
        f->waiting += waiting | missing;
        add_flow((SiteFlow *)r->flows + site, f);
        if (warm) add_flow((SiteFlow *)r->warm + site, f);
        cursors[w] += n + 1;
        live -= cursors[w] >= ends[w];
      }
    }
    if (!r->channels) continue;
    if (g % r->size[0] == 0) longest = 0;
    u32 turns = (turn - 2 + every - 1) / every;
    longest = turns > longest ? turns : longest;
    add_turns(r, 0, turns < SPREAD_TURNS ? turns : SPREAD_TURNS);
    if ((g + 1) % r->size[0] == 0) add_turns(r, 1, longest < SPREAD_TURNS ? longest : SPREAD_TURNS);
  }
  /* What neighbours share: of each line that a workgroup used, whether those before it in x, y, z do. */
  const Line *table = (const Line *)r->table;
  for (u64 i = 0; i <= r->mask; i++) {
    u64 key = table[i].key;
    u32 g = (u32)(key >> 32) - 1, line = (u32)key, at = g, step = 1;
    if (!key || g >= groups || line >= SCALAR_LINES || !table[i].counted) continue;
    for (u32 d = 0; d < 3; step *= r->size[d], at /= r->size[d], d++)
      for (u32 apart = 0; apart < 4 && at % r->size[d] >= 1u << apart; apart++) {
        u64 wanted = line_key(g - (step << apart), line), hash = wanted * 0x9e3779b97f4a7c15ull;
        u32 place = (u32)(hash >> 32) & r->mask;
        while (table[place].key && table[place].key != wanted) place = (place + 1) & r->mask;
        if (!table[place].key) continue;
        ((SiteFlow *)r->flows + table[i].site)->shared[4 * d + apart]++;
        if (table[i].counted & 2) ((SiteFlow *)r->warm + table[i].site)->shared[4 * d + apart]++;
      }
  }
}
