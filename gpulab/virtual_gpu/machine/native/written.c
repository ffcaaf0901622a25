/* Which bytes were ever written: a bit per byte of global memory that was allocated and not filled, a mask of lanes per
   byte of scratch. (For LDS the shadow cells say it: races.c.) */

#include "checked.h"

/* Of a stretch of bytes from `offset` on up to `end`: the bits of those that are in the word of the first one. Gives
   where the next word begins. (There are whole words for each allocation, and one more: Arena._bits.) */
static inline u64 in_word(u64 offset, u64 end, u64 *mask) {
  u64 next = (offset | 63) + 1;
  *mask = ~0ull << (offset & 63);
  if (next > end) *mask &= ~0ull >> (next - end);
  return next;
}

int bits_absent(const u8 *bits, u64 offset, u64 bytes) {
  const Loose64 *words = (const Loose64 *)bits;
  for (u64 at = offset, end = offset + bytes, next, mask; at < end; at = next) {
    next = in_word(at, end, &mask);
    if (words[at / 64] & mask) return 0;
  }
  return 1;
}

int bits_full(const u8 *bits, u64 offset, u64 bytes) {
  const Loose64 *words = (const Loose64 *)bits;
  for (u64 at = offset, end = offset + bytes, next, mask; at < end; at = next) {
    next = in_word(at, end, &mask);
    if (~words[at / 64] & mask) return 0;
  }
  return 1;
}

void bits_set(u8 *bits, u64 offset, u64 bytes) {
  Loose64 *words = (Loose64 *)bits;
  for (u64 at = offset, end = offset + bytes, next, mask; at < end; at = next) {
    next = in_word(at, end, &mask);
    words[at / 64] |= mask;
  }
}

/* The masks of lanes that wrote each byte of their scratch. */
int scratch_lanes(Check *c, Wave *wave, u32 access, u32 action, u32 bytes, u64 exec, u64 base, const u32 *low) {
  u64 *masks = (u64 *)((u8 *)c->group_state + c->scratch_at) + (u64)wave->index * wave->scratch_bytes;
  u64 left = exec;
  while (left) {
    u32 lane = (u32)__builtin_ctzll(left);
    u32 address = low[lane] + (u32)base;
    u64 same = 0; /* lanes at the same offset, as most are */
    for (u64 rest = left; rest; rest &= rest - 1) {
      u32 i = (u32)__builtin_ctzll(rest);
      if (low[i] + (u32)base == address) same |= 1ull << i;
    }
    left &= ~same;
    if (action != WRITE) {
      u64 some = 0, every = ~0ull;
      for (u32 b = 0; b < bytes; b++) { some |= masks[address + b]; every &= masks[address + b]; }
      u64 bad = same & ~(c->compiled ? some : every);
      if (bad && !(c->roles[access].flags & (ROLE_RELOAD | ROLE_PARTIAL))) {
        c->in_lds = 0;
        keep_unwritten(c, wave, access, (u32)__builtin_ctzll(bad), address);
        if (report_unwritten(c, wave->thread)) return 1;
        for (u32 b = 0; b < bytes; b++) masks[address + b] |= same; /* found once */
      }
    }
    if (action != READ) for (u32 b = 0; b < bytes; b++) masks[address + b] |= same;
  }
  return 0;
}
