/* What translated kernels call and what runs them: exact address checks, faults, and the loop over workgroups.

   Compiled by the toolchain's own Clang, without a C library. The declaration of Wave (a wave's state) is put in
   front of this file from translate/layout.py.

   gpulab_run        one thread's part of a launch: takes workgroups until none is left
   gpulab_resolve    checks the addresses of a chunk's lanes one by one and turns them into host pointers
   gpulab_load       the same, and loads;   gpulab_store  the same, and stores
   gpulab_scalar     the same for a scalar load
   gpulab_stop       records a fault that translated code found itself */

enum { SPACE_GLOBAL, SPACE_FLAT, SPACE_LDS, SPACE_SCRATCH };
enum { READ, WRITE, ATOMIC };
enum { ENDED, BARRIER, YIELD, FAULT };
enum {
  FAULT_NONE, FAULT_BOUNDS, FAULT_NULL, FAULT_MISALIGNED, FAULT_FREED, FAULT_READ_ONLY, FAULT_LDS, FAULT_SCRATCH,
  FAULT_TIMEOUT, FAULT_TRAP, FAULT_BARRIER, FAULT_JUMP
};

typedef struct { u64 address, size; u64 flags; } Range; /* flags: 1 = read-only */

/* Everything that is the same for all threads of a launch. */
typedef struct {
  u64 entry;            /* int (*)(Wave *, vgprs) */
  u64 next;             /* the next workgroup to take; shared by the threads */
  u64 total;            /* workgroups */
  u64 ranges;           /* Range[range_count], sorted by address */
  u64 range_count;
  u64 freed;            /* Range[freed_count], lately freed */
  u64 freed_count;
  u64 lane_ids;         /* u32[waves][wave_size]: what VGPR 0 holds at the start */
  u64 exec;             /* u64[waves] */
  u64 zeroed;           /* u32[zeroed_count]: VGPRs that may be read before they are written */
  u64 zeroed_count;
  u64 limit;            /* instructions that one wave may execute */
  u64 slice;            /* instructions before a wave lets the others run */
  u64 arena;
  u64 faulted;          /* the lowest number of a workgroup that faulted; ~0 for none */
  u64 cancel;           /* everything is to end (Ctrl-C) */
  u32 grid[3];
  u32 waves, wave_size, vgprs, lds_bytes, scratch_bytes;
  u32 id_register[3];   /* SGPRs of the workgroup's coordinates; ~0 if the kernel does not want them */
  u32 first_pc;
  u32 residents;        /* workgroups that one thread keeps alive at the same time */
} Launch;

typedef struct {
  u32 kind, instruction, wave, lane;
  u32 group[3];
  u32 bytes, access, padding;
  u64 address;
  u64 number;           /* of the workgroup */
} Fault;

/* One host thread's own memory. */
typedef struct {
  Launch *launch;
  u64 memory;           /* `residents` slots of `slot_bytes` */
  u64 slot_bytes;
  Wave template_wave;   /* aligned to 64 */
  Fault fault;
  u64 executed;         /* waves */
  u64 since;            /* instructions since a wave of this thread ended */
  u64 grace;            /* slices that workgroups before a faulting one had since */
  u64 order[64];        /* slots; those in use are order[0 .. used-1] */
  u64 number[64];       /* of the i-th resident workgroup */
  u64 used, at;         /* residents, and whose turn it is */
  u64 ended;            /* workgroups that ended since the last pause */
} Thread;

static void clear(void *to, u64 bytes) {
  u64 *p = to;
  for (u64 i = 0; i < bytes / 8; i++) p[i] = 0;
}

static const Range *find(const Launch *launch, u64 address) {
  const Range *ranges = (const Range *)launch->ranges;
  u64 low = 0, high = launch->range_count;
  while (low < high) {
    u64 middle = (low + high) / 2;
    if (ranges[middle].address <= address) low = middle + 1; else high = middle;
  }
  if (low == 0) return 0;
  const Range *found = &ranges[low - 1];
  return address - found->address < found->size ? found : 0;
}

static int fault(Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 access) {
  Thread *thread = (Thread *)wave->thread;
  Launch *launch = thread->launch;
  Fault *f = &thread->fault;
  u64 number = wave->group[0] + (u64)launch->grid[0] * (wave->group[1] + (u64)launch->grid[1] * wave->group[2]);
  if (f->kind && f->number <= number) return 1;
  f->number = number;
  f->kind = kind; f->instruction = instruction; f->wave = wave->index; f->lane = lane;
  f->group[0] = wave->group[0]; f->group[1] = wave->group[1]; f->group[2] = wave->group[2];
  f->bytes = bytes; f->access = access; f->address = address;
  u64 lowest = __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED);
  while (number < lowest &&
         !__atomic_compare_exchange_n(&launch->faulted, &lowest, number, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  return 1;
}

int gpulab_stop(Wave *wave, u32 kind, u32 instruction) { return fault(wave, kind, instruction, ~0u, 0, 0, ~0u); }

static u32 outside(const Launch *launch, u64 address) {
  if (address < 65536) return FAULT_NULL;
  const Range *freed = (const Range *)launch->freed;
  for (u64 i = 0; i < launch->freed_count; i++)
    if (address - freed[i].address < freed[i].size) return FAULT_FREED;
  return FAULT_BOUNDS;
}

/* Why `bytes` at a global `address` may not be used; 0 if they may. `range` is the allocation. */
static u32 check(const Launch *launch, u64 address, u32 bytes, u32 align, u32 access, const Range **range) {
  const Range *found = find(launch, address);
  *range = found;
  if (!found) return outside(launch, address);
  if (found->address + found->size - address < bytes) return FAULT_BOUNDS;
  if (address & (align - 1)) return FAULT_MISALIGNED;
  if (access != READ && (found->flags & 1)) return FAULT_READ_ONLY;
  return 0;
}

/* Host pointers of a chunk's active lanes, if all lie in the allocation that the instruction used last. */
static int resolve_cached(Wave *wave, u32 slot, u32 what, i64 offset, u32 mask, const u32 *low, const u32 *high,
                          u64 *pointers) {
  u32 align = (what >> 8) & 255, bytes = (what >> 16) & 255;
  const u32 *cached = (const u32 *)wave->cache + 2 * slot;
  if (cached[1] < bytes) return 0;
  u64 start = wave->arena + cached[0], last = cached[1] - bytes;
  u64 bad = 0;
  for (u32 i = 0; i < 8; i++) {
    u64 address = (((u64)high[i] << 32) | low[i]) + (u64)offset;
    u64 active = (mask >> i) & 1;
    bad |= active & (u64)((address - start > last) | ((address & (align - 1)) != 0));
    pointers[i] = active ? address : (u64)wave->dummy;
  }
  return !bad;
}

/* Address `low, high + offset` of each active lane of a chunk -> host pointer. Returns 1 after a fault.
   `what` packs space, access, bytes of one lane's element (bits 16-23) and its alignment (bits 8-15); `slot` is the
   instruction's entry in the thread's table of last allocations. */
int gpulab_resolve(Wave *wave, u32 instruction, u32 slot, u32 what, i64 offset, u32 first_lane, u32 mask,
                   const u32 *low, const u32 *high, u64 *pointers) {
  Launch *launch = ((Thread *)wave->thread)->launch;
  u32 space = what & 15, access = (what >> 4) & 15, align = (what >> 8) & 255, bytes = (what >> 16) & 255;
  int outside_arena = space == SPACE_LDS || space == SPACE_SCRATCH;
  if (!outside_arena && resolve_cached(wave, slot, what, offset, mask, low, high, pointers)) return 0;
  for (u32 i = 0; i < 8; i++) {
    if (!((mask >> i) & 1)) { pointers[i] = (u64)wave->dummy; continue; }
    u32 lane = first_lane + i;
    if (outside_arena) {
      u64 address = (u32)(low[i] + (u32)offset); /* wraps: Clang folds constants into the offset */
      u32 size = space == SPACE_LDS ? wave->lds_bytes : wave->scratch_bytes;
      if (address + bytes > size || address > size)
        return fault(wave, space == SPACE_LDS ? FAULT_LDS : FAULT_SCRATCH, instruction, lane, address, bytes, access);
      if (address & (align - 1)) return fault(wave, FAULT_MISALIGNED, instruction, lane, address, bytes, access);
      pointers[i] = space == SPACE_LDS ? wave->lds + address : wave->scratch + (u64)lane * size + address;
      continue;
    }
    u64 address = (((u64)high[i] << 32) | low[i]) + (u64)offset;
    if (space == SPACE_FLAT) {
      u32 top = (u32)(address >> 32);
      if (top == SHARED_BASE || top == PRIVATE_BASE) {
        int shared = top == SHARED_BASE;
        u64 inside = (u32)address;
        u32 size = shared ? wave->lds_bytes : wave->scratch_bytes;
        if (inside + bytes > size)
          return fault(wave, shared ? FAULT_LDS : FAULT_SCRATCH, instruction, lane, inside, bytes, access);
        if (inside & (align - 1)) return fault(wave, FAULT_MISALIGNED, instruction, lane, inside, bytes, access);
        pointers[i] = shared ? wave->lds + inside : wave->scratch + (u64)lane * size + inside;
        continue;
      }
    }
    const Range *range;
    u32 kind = check(launch, address, bytes, align, access, &range);
    if (kind) return fault(wave, kind, instruction, lane, address, bytes, access);
    u32 *cached = (u32 *)wave->cache + 2 * slot;
    cached[0] = (u32)range->address;
    cached[1] = range->size > 0xffffffffu ? 0xffffffffu : (u32)range->size;
    pointers[i] = address;
  }
  return 0;
}

/* Eight lanes are put together as a vector and stored at once: the caller's vector load would have to wait for eight
   single stores. */
typedef u32 Lanes __attribute__((vector_size(32)));
typedef int SignedLanes __attribute__((vector_size(32)));
typedef u32 Loose32 __attribute__((aligned(1), may_alias));
typedef unsigned short Loose16 __attribute__((aligned(1), may_alias));

/* A load of one chunk's lanes from anywhere: word w of lane i goes to out[8 * w + i]. Bit 24 of `what`: sign-extend. */
int gpulab_load(Wave *wave, u32 instruction, u32 slot, u32 what, i64 offset, u32 first_lane, u32 mask, const u32 *low,
                const u32 *high, u32 *out) {
  u64 pointers[8];
  if (gpulab_resolve(wave, instruction, slot, what, offset, first_lane, mask, low, high, pointers)) return 1;
  u32 bytes = (what >> 16) & 255, sign = (what >> 24) & 1, words = bytes / 4;
  switch (bytes) {
  case 1: {
    Lanes v;
    for (u32 i = 0; i < 8; i++) v[i] = *(u8 *)pointers[i];
    if (sign) v = (Lanes)((SignedLanes)(v << 24) >> 24);
    *(Lanes *)out = v;
    return 0;
  }
  case 2: {
    Lanes v;
    for (u32 i = 0; i < 8; i++) v[i] = *(Loose16 *)pointers[i];
    if (sign) v = (Lanes)((SignedLanes)(v << 16) >> 16);
    *(Lanes *)out = v;
    return 0;
  }
  default:
    for (u32 w = 0; w < words; w++) {
      Lanes v;
      for (u32 i = 0; i < 8; i++) v[i] = *(Loose32 *)(pointers[i] + 4 * w);
      *(Lanes *)(out + 8 * w) = v;
    }
    return 0;
  }
}

/* The same for a store. Lanes are stored in their order. */
int gpulab_store(Wave *wave, u32 instruction, u32 slot, u32 what, i64 offset, u32 first_lane, u32 mask, const u32 *low,
                 const u32 *high, const u32 *data) {
  u64 pointers[8];
  if (gpulab_resolve(wave, instruction, slot, what, offset, first_lane, mask, low, high, pointers)) return 1;
  u32 bytes = (what >> 16) & 255, words = bytes / 4;
  for (u32 i = 0; i < 8; i++) {
    u8 *to = (u8 *)pointers[i];
    if (bytes == 1) *to = (u8)data[i];
    else if (bytes == 2) __builtin_memcpy(to, data + i, 2);
    else for (u32 w = 0; w < words; w++) __builtin_memcpy(to + 4 * w, data + 8 * w + i, 4);
  }
  return 0;
}

/* A scalar load's address -> host pointer; 0 after a fault. */
u64 gpulab_scalar(Wave *wave, u32 instruction, u32 slot, u64 address, u32 bytes) {
  Launch *launch = ((Thread *)wave->thread)->launch;
  const Range *range;
  u32 kind = check(launch, address, bytes, 4, READ, &range);
  if (kind) { fault(wave, kind, instruction, ~0u, address, bytes, READ); return 0; }
  u32 *cached = (u32 *)wave->cache + 2 * slot;
  cached[0] = (u32)range->address;
  cached[1] = range->size > 0xffffffffu ? 0xffffffffu : (u32)range->size;
  return address;
}

/* Clocks as a kernel sees them: instructions executed by this wave, so that runs repeat exactly. */
u64 gpulab_clock(Wave *wave) {
  return (u64)(((Thread *)wave->thread)->launch->limit - (u64)wave->steps - (u64)wave->budget);
}

typedef int (*Entry)(Wave *, void *);

static void start_group(Thread *thread, u8 *memory, u64 number) {
  Launch *launch = thread->launch;
  u32 group[3];
  group[0] = (u32)(number % launch->grid[0]);
  group[1] = (u32)(number / launch->grid[0] % launch->grid[1]);
  group[2] = (u32)(number / launch->grid[0] / launch->grid[1]);
  u32 size = launch->wave_size;
  u64 file = (u64)launch->vgprs * size * 4;
  u8 *vgprs = memory + sizeof(Wave) * launch->waves;
  u8 *lds = vgprs + file * launch->waves;
  u64 lds_room = (launch->lds_bytes + 63) / 64 * 64;
  u8 *scratch = lds + lds_room;
  clear(lds, lds_room);
  clear(scratch, (u64)launch->waves * size * launch->scratch_bytes);
  const u32 *ids = (const u32 *)launch->lane_ids, *zeroed = (const u32 *)launch->zeroed;
  for (u32 w = 0; w < launch->waves; w++) {
    Wave *wave = (Wave *)memory + w;
    u64 *to = (u64 *)wave;
    const u64 *from = (const u64 *)&thread->template_wave;
    for (u32 i = 0; i < sizeof(Wave) / 8; i++) to[i] = from[i];
    wave->thread = (u64)thread;
    wave->vgprs = (u64)(vgprs + w * file);
    wave->lds = (u64)lds;
    wave->scratch = (u64)(scratch + (u64)w * size * launch->scratch_bytes);
    wave->lds_bytes = launch->lds_bytes;
    wave->scratch_bytes = launch->scratch_bytes;
    wave->index = w;
    wave->status = YIELD;
    wave->pc = launch->first_pc;
    wave->budget = 0;
    wave->steps = (i64)launch->limit;
    for (u32 d = 0; d < 3; d++) {
      wave->group[d] = group[d];
      if (launch->id_register[d] != ~0u) wave->scalars[launch->id_register[d]] = group[d];
    }
    u64 exec = ((const u64 *)launch->exec)[w];
    wave->scalars[126] = (u32)exec;
    wave->scalars[127] = (u32)(exec >> 32);
    u32 *file0 = (u32 *)wave->vgprs;
    for (u32 z = 0; z < launch->zeroed_count; z++) clear(file0 + (u64)zeroed[z] * size, (u64)size * 4);
    for (u32 i = 0; i < size; i++) file0[i] = ids[w * size + i];
  }
}

/* Lets each live wave of a workgroup run once: until it ends, waits at a barrier or has used its slice.
   Returns the number of waves that are still live; ~0 after a fault. */
static u32 run_group(Thread *thread, u8 *memory) {
  Launch *launch = thread->launch;
  Entry entry = (Entry)launch->entry;
  Wave *waves = (Wave *)memory;
  for (;;) {
    u32 live = 0, yielded = 0;
    for (u32 w = 0; w < launch->waves; w++) {
      Wave *wave = waves + w;
      if (wave->status == ENDED) continue;
      if (wave->status != BARRIER) {
        i64 slice = (i64)launch->slice;
        if (wave->steps < slice) slice = wave->steps;
        if (slice <= 0) {
          fault(wave, FAULT_TIMEOUT, wave->first_instruction, ~0u, 0, 0, ~0u);
          return ~0u;
        }
        if (wave->budget <= 0) { wave->steps -= slice; wave->budget += slice; }
        i64 had = wave->budget;
        wave->status = (u32)entry(wave, (void *)wave->vgprs);
        if (wave->status == FAULT) return ~0u;
        if (wave->status == ENDED) { thread->since = 0; continue; }
        thread->since += (u64)(had - wave->budget);
        if (thread->since > 2 * launch->limit) {
          fault(wave, FAULT_TIMEOUT, wave->first_instruction, ~0u, 0, 0, ~0u);
          return ~0u;
        }
      }
      live++;
      if (wave->status == YIELD) yielded++;
    }
    if (!live) return 0;
    if (yielded) {
      return live; /* other workgroups get their turn */
    }
    /* Everyone alive is at the barrier: a wave that has ended counts as arrived. */
    for (u32 w = 0; w < launch->waves; w++) if (waves[w].status == BARRIER) waves[w].status = YIELD;
  }
}

/* Whether a workgroup need not go on. Of several faults that of the workgroup with the lowest number is reported,
   whatever the threads' speed: so after a fault the workgroups before it run on, if they do not wait for ever. */
static int dropped(Thread *thread, u64 number) {
  Launch *launch = thread->launch;
  if (__atomic_load_n(&launch->cancel, __ATOMIC_RELAXED)) return 1;
  u64 faulted = __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED);
  return faulted != ~0ull && (number >= faulted || thread->grace++ > 64);
}

/* Runs workgroups until there are none left, then returns 0. Returns 1 for a pause, to be called again: after each
   slice and every 256 workgroups, so that Python comes to see a Ctrl-C. */
int gpulab_run(Thread *thread) {
  Launch *launch = thread->launch;
  u8 *memory = (u8 *)thread->memory;
  for (;;) {
    if (thread->at >= thread->used) {
      /* All residents had their turn: a new workgroup if there is room, else round again. */
      int room = thread->used < launch->residents &&
                 __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED) == ~0ull &&
                 !__atomic_load_n(&launch->cancel, __ATOMIC_RELAXED);
      u64 next = room ? __atomic_fetch_add(&launch->next, 1, __ATOMIC_RELAXED) : ~0ull;
      if (next < launch->total) {
        if (!thread->used) for (u32 i = 0; i < 64; i++) thread->order[i] = i;
        start_group(thread, memory + thread->order[thread->used] * thread->slot_bytes, next);
        thread->executed += launch->waves;
        thread->number[thread->used] = next;
        thread->at = thread->used++;
      } else {
        if (!thread->used) return 0;
        thread->at = 0;
      }
    }
    u64 at = thread->at;
    u32 live = run_group(thread, memory + thread->order[at] * thread->slot_bytes);
    if (live && live != ~0u && !dropped(thread, thread->number[at])) {
      thread->at++;
      return 1;
    }
    u64 slot = thread->order[at], last = --thread->used;
    thread->order[at] = thread->order[last];
    thread->number[at] = thread->number[last];
    thread->order[last] = slot;
    if (++thread->ended >= 256) {
      thread->ended = 0;
      return 1;
    }
  }
}

/* Cross-lane patterns, numbered as in translate/crosslane.py. */
enum {
  QUAD_PERM, ROW_SHL, ROW_SHR, ROW_ROR, WAVE_SHL, WAVE_ROL, WAVE_SHR, WAVE_ROR, ROW_MIRROR, ROW_HALF_MIRROR, ROW_BCAST,
  ROW_NEWBCAST, ROW_SHARE, ROW_XMASK, DPP8, DS_PERMUTE, DS_BPERMUTE, DS_SWIZZLE, PERMLANE16, PERMLANEX16, PERMLANE64, MOVE
};

/* The lane that `lane` reads under a DPP pattern; -1 for none. */
static int dpp_source(u32 pattern, int lane, int argument, int size) {
  int row = lane & ~15, at = lane & 15;
  switch (pattern) {
  case QUAD_PERM: return (lane & ~3) + ((argument >> (2 * (lane & 3))) & 3);
  case ROW_SHL: return at + argument < 16 ? lane + argument : -1;
  case ROW_SHR: return at - argument >= 0 ? lane - argument : -1;
  case ROW_ROR: return row + ((at - argument) & 15);
  case WAVE_SHL: return lane + 1 < size ? lane + 1 : -1;
  case WAVE_ROL: return (lane + 1) & (size - 1);
  case WAVE_SHR: return lane - 1;
  case WAVE_ROR: return (lane - 1) & (size - 1);
  case ROW_MIRROR: return row + 15 - at;
  case ROW_HALF_MIRROR: return (lane & ~7) + 7 - (lane & 7);
  case ROW_BCAST: /* 15: the last lane of each row to the next row; 31: lane 31 to rows 2 and 3 */
    if (argument == 15) return lane >= 16 ? row - 1 : -1;
    return lane >= 32 ? 31 : -1;
  case ROW_NEWBCAST: case ROW_SHARE: return row + argument;
  case ROW_XMASK: return row + (at ^ argument);
  case DPP8: return (lane & ~7) + ((argument >> (3 * (lane & 7))) & 7);
  }
  return -1;
}

static int swizzle_source(int lane, u32 pattern) {
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
  if (pattern <= DPP8) {
    for (int lane = 0; lane < n; lane++) {
      int source = dpp_source(pattern, lane, (int)argument, n);
      int good = source >= 0 && source < n && ((flags & 1) || ((exec >> source) & 1));
      result[lane] = good ? from[source] : 0;
      valid |= (u64)good << lane;
    }
    for (int lane = 0; lane < n; lane++) to[lane] = result[lane];
    return valid;
  }
  u64 write = pattern == PERMLANE64 && n == 32 ? 0 : exec; /* v_permlane64 does nothing on wave32 */
  if (pattern == DS_PERMUTE) {
    for (int lane = 0; lane < n; lane++) result[lane] = 0;
    for (int lane = 0; lane < n; lane++)
      if ((exec >> lane) & 1) result[((from[lane] + argument) >> 2) & (size - 1)] = other[lane];
  } else {
    for (int lane = 0; lane < n; lane++) {
      int source = lane;
      const u32 *values = from;
      if (pattern == DS_BPERMUTE) { source = (int)(((from[lane] + argument) >> 2) & (size - 1)); values = other; }
      else if (pattern == DS_SWIZZLE) source = swizzle_source(lane, argument);
      else if (pattern == MOVE) source = lane;
      else if (pattern == PERMLANE64) source = n == 64 ? lane ^ 32 : lane;
      else {
        u32 choice = lane & 8 ? second >> (4 * (lane & 7)) : argument >> (4 * (lane & 7));
        source = (lane & ~15) + (int)(choice & 15);
        if (pattern == PERMLANEX16) source ^= 16;
      }
      int fetch = pattern >= PERMLANE64 || (pattern >= PERMLANE16 && (flags & 1));
      int good = fetch || ((exec >> source) & 1);
      result[lane] = good ? values[source] : 0;
      if (!good && (pattern == PERMLANE16 || pattern == PERMLANEX16) && !(flags & 2)) write &= ~(1ull << lane);
    }
  }
  for (int lane = 0; lane < n; lane++)
    if ((write >> lane) & 1) to[lane] = result[lane];
  return write;
}
