/* Plain reads by all lanes of a wave in a checked launch: shadow cells many at a time.

   They do what `look` of races.c does, for what is most common, and leave the rest to it. (And to straight.c.) */

#include "checked.h"

/* As many lanes as the host's vectors hold. */
typedef u32 Wide __attribute__((vector_size(4 * LANES)));
typedef u32 WideCells __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef u32 FourCells __attribute__((vector_size(16), aligned(4), may_alias));
static const u32 count_up[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static inline Wide wide(u32 x) { return (Wide){0} + x; }
static inline int some(Wide v) { return __builtin_reduce_or((Wide)(v != 0)) != 0; }

/* A bit per lane of a comparison. */
typedef _Bool LaneBits __attribute__((ext_vector_type(LANES)));
static inline u32 lanes_where(Wide v) {
  union { LaneBits lanes; unsigned short number; } u = {.number = 0};
  u.lanes = __builtin_convertvector(v, LaneBits);
  return u.number;
}

/* Lanes with another value than the lane before, a bit each; the first one of a chunk is one of them. If the second
   half of sixteen lanes repeats the first, only those of the first. */
static inline u32 own_values(Wide v) {
#if LANES == 16
  Wide before = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  Wide half = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  u32 own = lanes_where((Wide)(v != before)) | 1;
  return some((Wide)(v != half)) ? own : own & 255;
#else
  Wide before = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6);
  return lanes_where((Wide)(v != before)) | 1;
#endif
}

/* As many cells from `cell` on that are read, each by the access that its lane of `epochs` names. Gives those where that
   needs a closer look. */
INLINE Wide read_row(int in_lds, View v, u32 mine, u64 cell, Wide epochs) {
  u32 *write = v.write + cell, *read = v.read + cell, *other = v.other + cell;
  Wide limit = wide(v.old), w = *(const WideCells *)write, r = *(const WideCells *)read;
  Wide wrong = (Wide)((w > limit) & (w < wide(mine)));
  if (in_lds) wrong |= (Wide)(w <= wide(v.unset));
  Wide renew = (Wide)(r < wide(mine));
  if (some(renew)) {
    Wide keep = renew & (Wide)(r > limit);
    if (some(keep)) {
      Wide o = *(const WideCells *)other;
      if (!in_lds) keep &= ~(Wide)STAYS(r, o, limit, wide(v.began), wide(v.own));
      *(WideCells *)other = (o & ~keep) | (r & keep);
    }
    *(WideCells *)read = (r & ~renew) | (epochs & renew);
  }
  return wrong;
}

/* Plain reads by all lanes of a wave: chunks of consecutive elements at once, of others each address once. Returns the
   chunks of eight lanes that need a closer look, one bit each. `region`: 0: LDS. */
INLINE u32 patterns(Check *c, Region *region, u32 mine, View v, u32 bytes, u32 size,
                                                          const u32 *table, u32 epoch, u64 base, const u32 *low) {
  const int in_lds = !region;
  const u64 own_cells = region ? region->cell : 0; /* where in the arrays */
  const Wide number = *(const WideCells *)count_up, step = number * bytes;
  const u32 k = bytes >> v.shift, inside = (1u << v.shift) - 1;
  u32 left = 0, nowhere;
  Wide before = {0};
  base -= v.start;
  for (u32 chunk = 0; chunk < size; chunk += LANES) {
    Wide here = *(const WideCells *)(low + chunk);
    if (chunk && !some((Wide)(here != before))) continue; /* the same as the chunk before, and so what is left of it */
    before = here;
    if (!some((Wide)(here != step + low[chunk]))) {
      u64 offset = low[chunk] + base;
      if (offset > v.size - LANES * bytes || (offset & inside) ||
          (v.bits && !bits_full(v.bits, offset, LANES * bytes))) {
        left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
        continue;
      }
      u64 cell = offset >> v.shift;
      Wide wrong = {0};
      if (region && region->form != FORM_CELLS) {
        if (!read_rows(c, region, own_cells + cell, LANES * k, k, epoch + chunk)) continue;
        use_cells(c, region, own_cells + cell, own_cells + cell + LANES * k - 1);
      }
      for (u32 i = 0; i < LANES * k; i += LANES)
        wrong |= read_row(in_lds, v, mine, cell + i, *(const WideCells *)(table + i) + wide(epoch + chunk));
      if (some((Wide)(wrong != 0))) left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
      continue;
    }
    if (k > 1 && k <= LANES && !some((Wide)(here != (number << v.shift) + low[chunk]))) {
      /* Each lane begins one cell behind the one before, as in stencils. A cell is its first reader's. */
      u64 offset = low[chunk] + base, total = (u64)(LANES + k - 1) << v.shift;
      if (offset <= v.size - total && total <= v.size && !(offset & inside) &&
          !(v.bits && !bits_full(v.bits, offset, total))) {
        u64 cell = offset >> v.shift;
        if (region) use_cells(c, region, own_cells + cell, own_cells + cell + LANES + k - 2);
        Wide first = (number - (k - 1)) & (Wide)(number >= wide(k - 1));
        Wide wrong = read_row(in_lds, v, mine, cell, first + wide(epoch + chunk));
        wrong |= read_row(in_lds, v, mine, cell + k - 1, number + wide(epoch + chunk));
        if (some((Wide)(wrong != 0))) left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
        continue;
      }
    }
    u32 own = own_values(here);
    if (!in_lds && __builtin_popcount(own) > LANES / 2) /* else each lane would wait for memory by itself */
      for (u32 lane = chunk; lane < chunk + LANES; lane++) {
        u64 cell = (low[lane] + base) >> v.shift;
        __builtin_prefetch(v.write + cell); __builtin_prefetch(v.read + cell, 1); __builtin_prefetch(v.other + cell, 1);
      }
    for (; own; own &= own - 1) {
      u32 lane = chunk + (u32)__builtin_ctz(own), bad = 0;
      u64 offset = low[lane] + base, cell = offset >> v.shift;
      if (offset > v.size - bytes || (offset & inside) || (v.bits && !bits_full(v.bits, offset, bytes))) {
        left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
        continue;
      }
      if (region) use_cells(c, region, own_cells + cell, own_cells + cell + k - 1);
      u32 *write = v.write + cell, *read = v.read + cell, *other = v.other + cell;
      if (k == 4) {
        Four w = *(const FourCells *)write, r = *(const FourCells *)read, m = (Four){0} + mine, l = (Four){0} + v.old;
        Four wrong = (Four)((w > l) & (w < m)), renew = (Four)(r < m);
        if (in_lds) wrong |= (Four)(w <= (Four){0} + v.unset);
        if (__builtin_reduce_or(renew)) {
          Four keep = renew & (Four)(r > l), o = *(const FourCells *)other;
          if (!in_lds) keep &= ~(Four)STAYS(r, o, l, (Four){0} + v.began, (Four){0} + v.own);
          *(FourCells *)other = (o & ~keep) | (r & keep);
          *(FourCells *)read = (r & ~renew) | (((Four){0} + (epoch + lane)) & renew);
        }
        bad = __builtin_reduce_or(wrong) != 0;
      } else for (u32 i = 0; i < k; i++) {
        u32 w = write[i], r = read[i];
        bad |= ((w > v.old) & (w < mine)) | (in_lds & (w <= v.unset));
        if (r < mine) {
          int keep = r > v.old && (in_lds || r < v.own || !STAYS(r, other[i], v.old, v.began, v.own));
          *(keep ? other + i : &nowhere) = r; /* no branch: which it is cannot be foreseen */
          read[i] = epoch + lane;
        }
      }
      if (bad) left |= (LANES == 16 ? 3u : 1u) << (chunk >> 3);
    }
  }
  return left;
}

/* Whether all high halves are the same. */
static inline int one_half(const u32 *high, u32 size) {
  Wide differs = {0}, h = wide(high[0]);
  for (u32 lane = 0; lane < size; lane += LANES) differs |= (Wide)(*(const WideCells *)(high + lane) != h);
  return !some(differs);
}

/* A plain read by all lanes, by `patterns`; `look` does the rest. `width` 0: that of the role. */
INLINE u32 lds_read(u32 width, Wave *wave, u32 access, u64 base, u64 exec,
                                                          const u32 *low, const u32 *high) {
  Check *c = wave->checker;
  const Role *role = c->roles + access;
  const u32 *table = c->lanes + LANE_ROW * (width ? width / 4 : role->cells);
  View v = c->lds;
  v.bits = 0;
  if (width) v.shift = 2;
  u32 left = patterns(c, 0, (u32)c->mine, v, width ? width : role->bytes, (u32)c->wave_size, table,
                      (u32)c->now << EVENT_SHIFT, (u32)base, low);
  return left ? look(c, wave, access, base, exec, low, high, left) : 0;
}

/* Plain reads of global memory by all lanes: the chunks of eight lanes that need a closer look, a bit each. */
INLINE u32 global_left(u32 width, Check *c, u32 access, u64 base, const u32 *low, const u32 *high) {
  const Role *role = c->roles + access;
  u32 size = (u32)c->wave_size, bytes = width ? width : role->bytes;
  if (high && !one_half(high, size)) return 255;
  u64 from = base + (high ? (u64)high[0] << 32 : 0);
  Region *r = (Region *)c->regions + c->places[access];
  if (low[0] + from - r->address >= r->size) r = region_of(c, access, low[0] + from);
  if (!r || r->cell == ~0ull || r->size < LANES * bytes) return 255;
  View v = view_of(c, r);
  if (width && v.bits) return read_lanes(c, access, base, low, high);
  if (width) { v.bits = 0; v.shift = 2; } /* known when this is compiled */
  const u32 *table = c->lanes + LANE_ROW * (width ? width / 4 : role->cells);
  return patterns(c, r, (u32)c->mine, v, bytes, size, table, (u32)c->now << EVENT_SHIFT, from, low);
}

INLINE u32 global_read(u32 width, Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) {
  Check *c = wave->checker;
  u32 left = global_left(width, c, access, base, low, high);
  return left ? look(c, wave, access, base, exec, low, high, left) : 0;
}

u32 read_lanes(Check *c, u32 access, u64 base, const u32 *low, const u32 *high) {
  return global_left(0, c, access, base, low, high);
}

u32 read_consecutive(Check *c, Region *r, const View *view, u32 mine, u64 address, u32 bytes, u32 lanes, u32 epoch) {
  View v = *view;
  u64 total = (u64)lanes * bytes, offset = address - v.start;
  u32 k = bytes >> v.shift, count = lanes * k;
  if (total > v.size || offset > v.size - total || offset & ((1u << v.shift) - 1)) return 1;
  if (v.bits && !bits_full(v.bits, offset, total)) return 1;
  u64 cell = offset >> v.shift;
  const u32 *table = c->lanes + LANE_ROW * k;
  Wide wrong = {0};
  if (r && r->form != FORM_CELLS) {
    if (!read_rows(c, r, r->cell + cell, count, k, epoch)) return 0;
    use_cells(c, r, r->cell + cell, r->cell + cell + count - 1);
  }
  for (u32 i = 0; i < count; i += LANES) {
    Wide epochs = *(const WideCells *)(table + i) + wide(epoch);
    wrong |= r ? read_row(0, v, mine, cell + i, epochs) : read_row(1, v, mine, cell + i, epochs);
  }
  return (u32)some(wrong);
}

int read_in_rounds(Region *r, const View *view, u32 mine, u64 cell, u32 epoch, u32 step) {
  View v = *view;
  Wide epochs = *(const WideCells *)count_up * step + epoch;
  return !some(r ? read_row(0, v, mine, cell, epochs) : read_row(1, v, mine, cell, epochs));
}

#define READER(name, how, width) \
  u32 name(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high) { \
    return how(width, wave, access, base, exec, low, high); \
  }
READER(lds_read_any, lds_read, 0)
READER(lds_read_word, lds_read, 4)
READER(lds_read_four, lds_read, 16)
READER(global_read_any, global_read, 0)
READER(global_read_word, global_read, 4)
READER(global_read_four, global_read, 16)
