/* Reads of lanes that are not active, by the instructions that shuffles are made of. */

#include "checked.h"

/* Notes an active lane of `lanes` that reads one that is not, by a pattern of gpulab_cross. 1: the workgroup is to
   stop. */
u32 gpulab_shuffle(Wave *wave, u32 instruction, u32 pattern, const u32 *from, u64 exec, u64 lanes, u32 argument,
                   u32 second, u32 flags) {
  Launch *launch = launch_of(wave);
  Check *c = check_of(launch);
  int size = (int)launch->wave_size;
  if (!c) return 0;
  for (u64 rest = exec & lanes; rest; rest &= rest - 1) {
    int lane = __builtin_ctzll(rest), source = lane;
    if (pattern <= CROSS_DPP8) source = dpp_source(pattern, lane, (int)argument, size);
    else if (pattern == CROSS_DS_BPERMUTE) source = (int)(((from[lane] + argument) >> 2) & (u32)(size - 1));
    else if (pattern == CROSS_DS_SWIZZLE) source = swizzle_source(lane, argument);
    else if (!(flags & 1)) {
      u32 choice = lane & 8 ? second >> (4 * (lane & 7)) : argument >> (4 * (lane & 7));
      source = (lane & ~15) + (int)(choice & 15);
      if (pattern == CROSS_PERMLANEX16) source ^= 16;
    }
    if (source < 0 || source >= size || ((exec >> source) & 1)) continue;
    Finding *found = report_at(c, wave, FOUND_SHUFFLE, instruction, (u32)lane, 0, 0, ~0u);
    if (found) {
      found->other_lane = (u64)source;
      found->mask = launch->exec[wave->index];
    }
    return (u32)finished(c, wave->thread);
  }
  return 0;
}
