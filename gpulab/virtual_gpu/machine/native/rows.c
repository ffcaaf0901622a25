/* Rows of shadow memory: neighbouring cells as one, where waves use them together.

   What most kernels do with most of their memory is to read or write consecutive elements by consecutive lanes. All
   cells of a row then have epochs of one event, and lanes that go up: each of the row's three epochs is that of its
   first cell. As soon as a part of a row is used the row is taken apart; where that happens often, all rows of an
   allocation are.

   gpulab_apart   all rows of a launch are taken apart: who reads the cells after it sees what they say */

#include "checked.h"

/* Instead of a row's last write: look at its cells. It is smaller than all epochs: the same memory is used for something
   else in the next launch, where what is old means nothing. */
enum { IN_CELLS = 1 };

/* Rows that may be taken apart before all are: so many, and this part of them. */
enum { FEW_ROWS = 64, PART = 8 };

static void to_cells(u32 *cells, u32 epoch, u32 each) {
  for (u32 i = 0; i < ROW_CELLS; i++) cells[i] = epoch ? epoch + i / each : 0;
}

static void take_apart(Check *c, Region *r, u64 row) {
  if (c->row_write[row] == IN_CELLS) return;
  u64 cell = row * ROW_CELLS;
  to_cells(c->write + cell, c->row_write[row], r->each);
  to_cells(c->read + cell, c->row_read[row], r->each);
  to_cells(c->other + cell, c->row_other[row], r->each);
  c->row_write[row] = IN_CELLS;
  r->taken++;
}

/* The rows that an allocation has whole. */
static inline u64 whole_rows(const Check *c, const Region *r) { return (r->size >> c->shift) / ROW_CELLS; }

static void all_apart(Check *c, Region *r) {
  u64 first = r->cell / ROW_CELLS, end = first + whole_rows(c, r);
  if (r->form == FORM_ROWS) for (u64 row = first; row < end; row++) take_apart(c, r, row);
  r->form = FORM_CELLS;
}

void take_cells(Check *c, Region *r, u64 first, u64 last) {
  if (r->form == FORM_UNUSED) { r->form = FORM_CELLS; return; }
  u64 end = r->cell / ROW_CELLS + whole_rows(c, r);
  for (u64 row = first / ROW_CELLS; row <= last / ROW_CELLS && row < end; row++) take_apart(c, r, row);
  if (r->taken > FEW_ROWS + whole_rows(c, r) / PART) all_apart(c, r);
}

/* Four rows at a time; those from `end` on are not meant. */
typedef u32 FourRows __attribute__((vector_size(16), aligned(4), may_alias));
#define NEXT_FOUR(row, end) ((Four)((Four){0, 1, 2, 3} < (Four){0} + (u32)((end) - (row))))
static inline Four of_four(const u32 *rows) { return *(const FourRows *)rows; }
static inline u32 one_of(Four v) { return __builtin_reduce_or((Four)(v != 0)) != 0; }
static inline void put_four(u32 *rows, Four v, Four which) {
  if (!one_of(which)) return; /* a store under a mask of none is slow where a page was never written */
  *(FourRows *)rows = (*(const FourRows *)rows & ~which) | (v & which);
}

/* Whether they are kept as rows, from `row` to `end`, of as many cells for each lane. */
static inline int are_rows(Check *c, Region *r, u64 row, u64 end, u32 each) {
  if (r->form == FORM_UNUSED) {
    r->form = FORM_ROWS;
    r->each = each;
    clear(c->row_write + r->cell / ROW_CELLS, whole_rows(c, r) * sizeof(u32));
  }
  if (r->form != FORM_ROWS || r->each != each) return 0;
  Four apart = {0};
  for (; row < end; row += 4) apart |= (Four)(of_four(c->row_write + row) == IN_CELLS) & NEXT_FOUR(row, end);
  return !one_of(apart);
}

u32 read_rows(Check *c, Region *r, u64 cell, u64 cells, u32 each, u32 epoch) {
  if ((cell | cells) % ROW_CELLS || ROW_CELLS % each) return 1;
  u64 row = cell / ROW_CELLS, end = row + cells / ROW_CELLS;
  if (!are_rows(c, r, row, end, each)) return 1;
  u32 old = c->wave_state->seen, mine = (u32)c->mine, began = c->group_state->start, own = (u32)c->own;
  u32 lanes = ROW_CELLS / each;
  Four bad = {0}, epochs = (Four){0, 1, 2, 3} * lanes + epoch;
  for (; row < end; row += 4, epochs += 4 * lanes) {
    Four its = NEXT_FOUR(row, end), w = of_four(c->row_write + row), read = of_four(c->row_read + row);
    bad |= (Four)((w > old) & (w < mine)) & its;
    Four renew = (Four)(read < mine) & its, keep = renew & (Four)(read > old);
    if (one_of(keep)) {
      Four other = of_four(c->row_other + row), stays = (Four)STAYS(read, other, old, began, own);
      put_four(c->row_other + row, read, keep & ~stays);
    }
    put_four(c->row_read + row, epochs, renew);
  }
  return one_of(bad);
}

/* Of four rows the lanes that change memory, from a mask of all; each row has so many lanes. */
static inline Four parts_of(u64 changed, u32 lanes) {
  u64 all = all_lanes(lanes);
  return (Four){(u32)(changed & all), (u32)(changed >> lanes & all), (u32)(changed >> 2 * lanes & all),
                (u32)(changed >> 3 * lanes & all)};
}

u32 write_rows(Check *c, Region *r, u64 cell, u64 cells, u32 each, u64 changed, u32 epoch) {
  if ((cell | cells) % ROW_CELLS || ROW_CELLS % each) return 1;
  u64 first = cell / ROW_CELLS, end = first + cells / ROW_CELLS;
  if (!are_rows(c, r, first, end, each)) return 1;
  u32 old = c->wave_state->seen, span = (u32)c->mine > old ? (u32)c->mine - old - 1 : 0;
  u32 lanes = ROW_CELLS / each;
  u32 all = (u32)all_lanes(lanes);
  Four bad = {0}, epochs = (Four){0, 1, 2, 3} * lanes + epoch;
  for (u64 row = first, left = changed; row < end; row += 4) {
    Four parts = parts_of(left, lanes);
    Four its = NEXT_FOUR(row, end) & (Four)(parts != 0);
    Four w = of_four(c->row_write + row), read = of_four(c->row_read + row), other = of_four(c->row_other + row);
    Four found = (Four)(w - old - 1 < span) | (Four)(read - old - 1 < span) | (Four)(other - old - 1 < span);
    bad |= its & (found | (Four)(parts != all));
    left = lanes < 16 ? left >> 4 * lanes : 0;
  }
  if (one_of(bad)) return 1;
  for (u64 row = first, left = changed; row < end; row += 4, epochs += 4 * lanes) {
    put_four(c->row_write + row, epochs, NEXT_FOUR(row, end) & (Four)(parts_of(left, lanes) != 0));
    left = lanes < 16 ? left >> 4 * lanes : 0;
  }
  return 0;
}

void gpulab_apart(Check *c) {
  Region *all = c->regions;
  for (u64 i = 0; i < c->region_count; i++) if (all[i].form == FORM_ROWS) all_apart(c, all + i);
}
