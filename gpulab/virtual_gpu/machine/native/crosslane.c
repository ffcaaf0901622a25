/* Moves of data between lanes, whole registers at a time: gpulab_cross. */

#include "support.h"

/* The lane that `lane` reads under a DPP pattern; -1 for none. */
int dpp_source(u32 pattern, int lane, int argument, int size) {
  int row = lane & ~15, at = lane & 15;
  switch (pattern) {
  case CROSS_QUAD_PERM: return (lane & ~3) + ((argument >> (2 * (lane & 3))) & 3);
  case CROSS_ROW_SHL: return at + argument < 16 ? lane + argument : -1;
  case CROSS_ROW_SHR: return at - argument >= 0 ? lane - argument : -1;
  case CROSS_ROW_ROR: return row + ((at - argument) & 15);
  case CROSS_WAVE_SHL: return lane + 1 < size ? lane + 1 : -1;
  case CROSS_WAVE_ROL: return (lane + 1) & (size - 1);
  case CROSS_WAVE_SHR: return lane - 1;
  case CROSS_WAVE_ROR: return (lane - 1) & (size - 1);
  case CROSS_ROW_MIRROR: return row + 15 - at;
  case CROSS_ROW_HALF_MIRROR: return (lane & ~7) + 7 - (lane & 7);
  case CROSS_ROW_BCAST: /* 15: the last lane of each row to the next row; 31: lane 31 to rows 2 and 3 */
    if (argument == 15) return lane >= 16 ? row - 1 : -1;
    return lane >= 32 ? 31 : -1;
  case CROSS_ROW_NEWBCAST: case CROSS_ROW_SHARE: return row + argument;
  case CROSS_ROW_XMASK: return row + (at ^ argument);
  case CROSS_DPP8: return (lane & ~7) + ((argument >> (3 * (lane & 7))) & 7);
  }
  return -1;
}

int swizzle_source(int lane, u32 pattern) {
  int group = lane & ~31, mask = (int)(pattern & 31), amount = (int)(pattern >> 5 & 31);
  if (pattern >= 0xe000) { /* bits reversed, as in a Fourier transform's decomposition, but for the masked ones */
    int at = (lane & 1) << 4 | (lane & 2) << 2 | (lane & 4) | (lane & 8) >> 2 | (lane & 16) >> 4;
    return group | at >> __builtin_popcount((u32)mask) | (lane & mask);
  }
  if (pattern >= 0xc000) return group | (lane & mask) | ((lane + (pattern & 0x400 ? -amount : amount)) & 31 & ~mask);
  if (pattern & 0x8000) return (lane & ~3) + ((pattern >> (2 * (lane & 3))) & 3);
  u32 low = (u32)lane & 31;
  return (lane & ~31) + (int)((((low & pattern) | (pattern >> 5)) ^ (pattern >> 10)) & 31);
}

/* Moves data between lanes. For DPP every lane of `to` is written, with 0 where the source lane is not valid, and the
   valid lanes are returned; the others write the active lanes of `to` alone. Flags: bit 0 fetch inactive lanes,
   bit 1 (permlane) zero instead of keeping. */
u64 gpulab_cross(u32 size, u32 pattern, u32 *to, const u32 *from, const u32 *other, u64 exec, u32 argument, u32 second,
                 u32 flags) {
  u32 result[64];
  u64 valid = 0;
  int n = (int)size;
  if (pattern <= CROSS_DPP8) {
    for (int lane = 0; lane < n; lane++) {
      int source = dpp_source(pattern, lane, (int)argument, n);
      int good = source >= 0 && source < n && ((flags & 1) || ((exec >> source) & 1));
      result[lane] = good ? from[source] : 0;
      valid |= (u64)good << lane;
    }
    for (int lane = 0; lane < n; lane++) to[lane] = result[lane];
    return valid;
  }
  if (pattern >= CROSS_PERMLANE16_SWAP) { /* the upper lanes of `to` and the lower ones of `from` change places */
    u32 *low = (u32 *)from;
    int distance = pattern == CROSS_PERMLANE16_SWAP ? 16 : 32;
    for (int lane = 0; lane < n; lane++) {
      if (lane & distance) continue;
      int upper = lane + distance, above = (exec >> upper) & 1, below = (exec >> lane) & 1;
      u32 up = low[lane], down = to[upper];
      if (above && (below || (flags & 3))) to[upper] = below || (flags & 1) ? up : 0;
      if (below && (above || (flags & 3))) low[lane] = above || (flags & 1) ? down : 0;
    }
    return exec;
  }
  u64 write = pattern == CROSS_PERMLANE64 && n == 32 ? 0 : exec; /* v_permlane64 does nothing on wave32 */
  if (pattern == CROSS_DS_PERMUTE) {
    for (int lane = 0; lane < n; lane++) result[lane] = 0;
    for (int lane = 0; lane < n; lane++)
      if ((exec >> lane) & 1) result[((from[lane] + argument) >> 2) & (size - 1)] = other[lane];
  } else {
    for (int lane = 0; lane < n; lane++) {
      int source = lane;
      const u32 *values = from;
      if (pattern == CROSS_DS_BPERMUTE) { source = (int)(((from[lane] + argument) >> 2) & (size - 1)); values = other; }
      else if (pattern == CROSS_DS_BPERMUTE_FI) {
        source = (int)(((from[lane] + argument) >> 2) & (size - 1));
        values = other;
      }
      else if (pattern == CROSS_PERMLANE16_VAR) source = (lane & ~15) + (int)(other[lane] & 15);
      else if (pattern == CROSS_PERMLANEX16_VAR) source = ((lane & ~15) ^ 16) + (int)(other[lane] & 15);
      else if (pattern == CROSS_DS_SWIZZLE) source = swizzle_source(lane, argument);
      else if (pattern == CROSS_MOVE) source = lane;
      else if (pattern == CROSS_PERMLANE64) source = n == 64 ? lane ^ 32 : lane;
      else {
        u32 choice = lane & 8 ? second >> (4 * (lane & 7)) : argument >> (4 * (lane & 7));
        source = (lane & ~15) + (int)(choice & 15);
        if (pattern == CROSS_PERMLANEX16) source ^= 16;
      }
      int rows = pattern == CROSS_PERMLANE16 || pattern == CROSS_PERMLANEX16 ||
                 pattern == CROSS_PERMLANE16_VAR || pattern == CROSS_PERMLANEX16_VAR;
      int fetch = pattern == CROSS_PERMLANE64 || pattern == CROSS_MOVE || pattern == CROSS_DS_BPERMUTE_FI ||
                  (rows && (flags & 1));
      int good = fetch || ((exec >> source) & 1);
      result[lane] = good ? values[source] : 0;
      if (!good && rows && !(flags & 2)) write &= ~(1ull << lane);
    }
  }
  for (int lane = 0; lane < n; lane++)
    if ((write >> lane) & 1) to[lane] = result[lane];
  return write;
}
