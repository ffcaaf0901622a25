/* What translated kernels call and what runs them: exact address checks, faults, and the loop over workgroups.

   Compiled by the toolchain's own Clang, without a C library. The declaration of Wave (a wave's state) is put in
   front of this file from translate/layout.py.

   gpulab_run        one thread's part of a launch: takes workgroups until none is left
   gpulab_resolve    checks the addresses of a chunk's lanes and turns them into host pointers
   gpulab_load       the same, and loads;   gpulab_store  the same, and stores
   gpulab_row        checks an access of scratch that is the same for all lanes
   gpulab_scalar     the same for a scalar load
   gpulab_stop       records a fault that translated code found itself */

enum { SPACE_GLOBAL, SPACE_FLAT, SPACE_LDS, SPACE_SCRATCH, SPACE_SCALAR };
enum { READ, WRITE, ATOMIC };
enum { ENDED, BARRIER, YIELD, FAULT, SLEEP };
enum {
  FAULT_NONE, FAULT_BOUNDS, FAULT_NULL, FAULT_MISALIGNED, FAULT_FREED, FAULT_READ_ONLY, FAULT_LDS, FAULT_SCRATCH,
  FAULT_TIMEOUT, FAULT_TRAP, FAULT_BARRIER, FAULT_JUMP, FAULT_GRID, FAULT_CHECKED
};

typedef struct { u64 address, size; u64 flags; } Range; /* flags: 1 = read-only */

/* A memory access as an observer knows it (translate/memory.py, Observed). */
typedef struct { u32 instruction, part, space, action, bytes, slot; } Access;

/* An observer is told of each memory access of a wave, after it was made: lane i of `exec` used address
   (high[i] << 32 | low[i]) + base, `high` being 0 for LDS, scratch and 32-bit indices (which wrap at 32 bits in LDS).
   A scalar load has no `low`: its address is `base`. Not 0: a fault was recorded, the kernel is to stop. */
typedef u32 (*Observer)(Wave *, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high);

/* Everything that is the same for all threads of a launch. */
typedef struct {
  u64 entry;            /* int (*)(Wave *, vgprs) */
  u64 next;             /* the next workgroup to take; shared by the threads */
  u64 batch;            /* how many a thread takes at once */
  u64 total;            /* workgroups */
  u64 ranges;           /* Range[range_count], sorted by address */
  u64 range_count;
  u64 freed;            /* Range[freed_count], lately freed */
  u64 freed_count;
  u64 lane_ids;         /* u32[waves][wave_size]: what VGPR 0 holds at the start; the same for v1, v2 */
  u64 exec;             /* u64[waves] */
  u64 zeroed;           /* u32[zeroed_count]: VGPRs that may be read before they are written */
  u64 zeroed_count;
  u64 limit;            /* instructions that one wave may execute */
  u64 slice;            /* instructions before a wave lets the others run */
  u64 arena;
  u64 faulted;          /* the lowest number of a workgroup that faulted; ~0 for none */
  u64 cancel;           /* everything is to end (Ctrl-C) */
  u64 observer;         /* Observer of the first `observed` workgroups, which run on thread 0 in their order */
  u64 observed;
  u64 accesses;         /* Access[access_count] */
  u64 access_count;
  u64 observation;      /* the observer's own state */
  u64 blind;            /* an empty table of allocations for observed waves; 0 if the kernel itself records */
  u64 grid_barrier;     /* u32: how many workgroups of a cooperative launch wait (low 16 bits), and the phase; 0: none */
  u64 gone;             /* workgroups of a cooperative launch that have ended */
  u64 checker;          /* Check of checked.c, when the launch is checked */
  u32 grid[3];
  u32 waves, wave_size, vgprs, lds_bytes, scratch_bytes;
  u32 id_register[3];   /* SGPRs of the workgroup's coordinates; ~0 if the kernel does not want them; y and z may share one */
  u32 id_vgprs;         /* VGPRs that lane_ids fills, each with u32[waves][wave_size] */
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
  u64 *order;           /* `residents` slots; those in use are order[0 .. used-1] */
  u64 *number;          /* of the i-th resident workgroup */
  u64 used, at;         /* residents, and whose turn it is */
  u64 ended;            /* workgroups that ended since the last pause */
  u64 own, own_end;     /* workgroups set aside for this thread, to be run first */
  u64 work;             /* instructions since the last pause, and some more for each turn */
  u64 awake, quiet;     /* waves that did more than sleep in this round; rounds without such */
} Thread;

typedef u64 Whole64 __attribute__((vector_size(64), aligned(8), may_alias));

static void clear(void *to, u64 bytes) {
  u64 *p = to;
  for (u64 i = 0; i < bytes / 8; i++) p[i] = 0;
}

/* Whole blocks of 64 bytes. */
static inline void clear_blocks(void *to, u64 bytes) {
  Whole64 *p = to;
  for (u64 i = 0; i < bytes / 64; i++) p[i] = (Whole64){};
}

static inline void copy_blocks(void *to, const void *from, u64 bytes) {
  for (u64 i = 0; i < bytes / 64; i++) ((Whole64 *)to)[i] = ((const Whole64 *)from)[i];
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

/* An instruction's entry in its thread's table: the allocation that it used last. An element may begin at `from` plus
   rotate_right(i, alignment's logarithm) for i below `single`; a whole chunk of consecutive ones for i below `wide`.
   An observed wave of a kernel that does not record itself has an empty table (Launch.blind) instead of the thread's. */
typedef struct { u64 from; u32 wide, single; } Allocation;

static inline Allocation *allocation(const Wave *wave, u32 slot) {
  return (Allocation *)((Thread *)wave->thread)->template_wave.cache + slot;
}

static inline u32 places(u64 size, u32 bytes, u32 align) {
  if (size > 0x7fffffff) size = 0x7fffffff;
  return size < bytes ? 0 : (u32)((size - bytes) / align) + 1;
}

static inline void keep_allocation(Wave *wave, u32 slot, u64 from, u64 size, u32 bytes, u32 align) {
  Allocation *entry = allocation(wave, slot);
  entry->from = from;
  entry->single = places(size, bytes, align);
  entry->wide = places(size, LANES * bytes, align);
}

typedef u32 Lanes __attribute__((vector_size(4 * LANES)));
typedef int SignedLanes __attribute__((vector_size(4 * LANES)));
typedef u64 WideLanes __attribute__((vector_size(8 * LANES)));
typedef i64 SignedWideLanes __attribute__((vector_size(8 * LANES)));
typedef u32 Loose32 __attribute__((aligned(1), may_alias));
typedef unsigned short Loose16 __attribute__((aligned(1), may_alias));
typedef u64 Loose64 __attribute__((aligned(1), may_alias));

#if LANES == 16
static const Lanes NUMBERS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
static const Lanes NUMBERS = {0, 1, 2, 3, 4, 5, 6, 7};
#endif

static inline Lanes active_lanes(u32 mask) { return (Lanes)(((mask >> NUMBERS) & 1) != 0); }

/* One access of a chunk, unpacked. Words of a lane's element lie `step` bytes apart. */
typedef struct {
  Wave *wave;
  u32 instruction, slot, space, access, align, bytes, mask, lane;
  u64 offset;
  const u32 *low, *high;
  u64 step;
  u64 pointers[LANES] __attribute__((aligned(64)));
} ChunkAccess;

static inline int any_wide(WideLanes v) { return __builtin_reduce_or(v) != 0; }

static inline int any_lane(Lanes v) { return __builtin_reduce_or(v) != 0; }

/* Bits 0-3 of `what`: space, 4-7 access, 8-15 alignment, 16-23 bytes of an element; 24: sign-extend, 25: no high halves,
   26: put 64-bit elements of scratch back after an atomic. */
static inline void unpack(ChunkAccess *a, Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  u32 size = ((Thread *)wave->thread)->launch->wave_size;
  a->wave = wave;
  a->instruction = (u32)ids; a->slot = (u32)(ids >> 32);
  a->space = what & 15; a->access = (what >> 4) & 15; a->align = (what >> 8) & 255; a->bytes = (what >> 16) & 255;
  a->mask = mask;
  a->lane = (u32)((u64)low / 4) & (size - 1); /* rows of addresses are aligned to their size */
  a->offset = offset;
  a->low = low;
  a->high = (what >> 25) & 1 ? 0 : low + size;
  a->step = 4;
}

/* Dword `address` / 4 of a lane's scratch: dwords of all lanes stand side by side. */
static inline u64 in_scratch(const Wave *wave, u32 lane, u64 address) {
  u32 size = ((Thread *)wave->thread)->launch->wave_size;
  return wave->scratch + (address >> 2) * 4 * size + 4 * lane + (address & 3);
}

/* All active lanes in the allocation that the instruction used last. */
static inline int all_cached(ChunkAccess *a) {
  const Allocation *entry = allocation(a->wave, a->slot);
  if (!entry->single || a->space == SPACE_SCRATCH) return 0;
  u32 shift = (u32)__builtin_ctz(a->align);
  WideLanes keep = (WideLanes)__builtin_convertvector((SignedLanes)active_lanes(a->mask), SignedWideLanes);
  if (a->space == SPACE_LDS) {
    Lanes offset = *(const Lanes *)a->low + (u32)a->offset, turned = offset;
    if (shift) turned = offset >> shift | offset << (32 - shift);
    if (any_lane((Lanes)(turned >= entry->single) & active_lanes(a->mask))) return 0;
    WideLanes found = __builtin_convertvector(offset, WideLanes) + a->wave->lds;
    *(WideLanes *)a->pointers = (found & keep) | ((u64)a->wave->dummy & ~keep);
    return 1;
  }
  WideLanes address = __builtin_convertvector(*(const Lanes *)a->low, WideLanes) + a->offset;
  if (a->high) address += __builtin_convertvector(*(const Lanes *)a->high, WideLanes) << 32;
  WideLanes relative = address - entry->from;
  if (shift) relative = relative >> shift | relative << (64 - shift);
  if (any_wide((WideLanes)(relative >= entry->single) & keep)) return 0;
  *(WideLanes *)a->pointers = (address & keep) | ((u64)a->wave->dummy & ~keep);
  return 1;
}

/* Each active lane's address, low, high + offset -> host pointer in `pointers`. Returns 1 after a fault. */
static int find_lanes(ChunkAccess *a) {
  Wave *wave = a->wave;
  Launch *launch = ((Thread *)wave->thread)->launch;
  u32 space = a->space, bytes = a->bytes, align = a->align, access = a->access;
  if (all_cached(a)) return 0;
  u32 in_lds = 0, private = 0;
  for (u32 i = 0; i < LANES; i++) {
    if (!((a->mask >> i) & 1)) { a->pointers[i] = (u64)wave->dummy; continue; }
    u32 lane = a->lane + i, own = space;
    u64 address;
    if (space >= SPACE_LDS) address = (u32)(a->low[i] + (u32)a->offset); /* wraps: Clang folds constants into the offset */
    else {
      address = ((a->high ? (u64)a->high[i] << 32 : 0) | a->low[i]) + a->offset;
      u32 top = (u32)(address >> 32);
      if (space == SPACE_FLAT && (top == SHARED_BASE || top == PRIVATE_BASE)) {
        own = top == SHARED_BASE ? SPACE_LDS : SPACE_SCRATCH;
        address = (u32)address;
      }
    }
    if (own >= SPACE_LDS) {
      u32 size = own == SPACE_LDS ? wave->lds_bytes : wave->scratch_bytes;
      if (address + bytes > size || address > size)
        return fault(wave, own == SPACE_LDS ? FAULT_LDS : FAULT_SCRATCH, a->instruction, lane, address, bytes, access);
      if (address & (align - 1)) return fault(wave, FAULT_MISALIGNED, a->instruction, lane, address, bytes, access);
      if (own == SPACE_LDS) {
        in_lds |= 1;
        a->pointers[i] = wave->lds + address;
      } else {
        private |= 1u << i;
        a->pointers[i] = in_scratch(wave, lane, address);
      }
      continue;
    }
    const Range *range;
    u32 kind = check(launch, address, bytes, align, access, &range);
    if (kind) return fault(wave, kind, a->instruction, lane, address, bytes, access);
    keep_allocation(wave, a->slot, range->address, range->size, bytes, align);
    a->pointers[i] = address;
  }
  if (space == SPACE_LDS && in_lds) keep_allocation(wave, a->slot, wave->lds, wave->lds_bytes, bytes, align);
  if (private == a->mask) a->step = 4 * launch->wave_size;
  else if (private) a->step = 0; /* of both kinds: see step_of */
  return 0;
}

/* Bytes from one word of lane i's element to the next. */
static inline u64 step_of(const ChunkAccess *a, u32 i) {
  if (a->step) return a->step;
  u64 at = a->pointers[i] - a->wave->scratch;
  u32 size = ((Thread *)a->wave->thread)->launch->wave_size;
  return at < (u64)a->wave->scratch_bytes * size ? 4 * size : 4;
}

/* Scratch whose address is no multiple of its dwords (assembly alone may do so) goes byte by byte. */
static inline int crosses(const ChunkAccess *a) {
  if (a->align >= 4 || a->bytes < 2 || a->align >= a->bytes) return 0;
  return a->space == SPACE_SCRATCH || a->step != 4;
}

static u8 *byte_of(const ChunkAccess *a, u32 i, u32 byte) {
  u64 step = step_of(a, i), at = a->pointers[i];
  if (step == 4) return (u8 *)at + byte;
  u64 from = ((at - a->wave->scratch) & 3) + byte;
  return (u8 *)((at & ~3ull) + (from >> 2) * step + (from & 3));
}

/* Of lanes that all have the same scratch address, the row: 0 if it is not so. */
static inline u64 scratch_row(const ChunkAccess *a) {
  if (!a->mask) return 0;
  if (a->space != SPACE_FLAT && a->space != SPACE_SCRATCH) return 0;
  if (a->bytes < 4) return 0;
  u32 first = (u32)__builtin_ctz(a->mask);
  Lanes keep = active_lanes(a->mask), low = *(const Lanes *)a->low;
  if (any_lane(((Lanes)(low != low[first])) & keep)) return 0;
  u64 address = low[first] + a->offset;
  if (a->space == SPACE_FLAT) {
    Lanes high = *(const Lanes *)a->high;
    if (any_lane(((Lanes)(high != PRIVATE_BASE)) & keep) || address >> 32) return 0;
  } else address = (u32)address;
  if (address + a->bytes > a->wave->scratch_bytes || address & (a->align - 1) || address & 3) return 0;
  return in_scratch(a->wave, a->lane, address);
}

static Buffer *buffer_of(const Wave *wave) { return (Buffer *)wave->addresses; }

/* Addresses of the active lanes of a chunk -> host pointers, for atomics. Those of scratch work on a copy of 64-bit
   elements, whose halves lie apart, and are called again to put them back. */
int gpulab_resolve(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  ChunkAccess a;
  unpack(&a, wave, ids, what, offset, mask, low);
  if (find_lanes(&a)) return 1;
  Buffer *buffer = buffer_of(wave);
  int back = (what >> 26) & 1;
  for (u32 i = 0; i < LANES; i++) {
    u64 at = a.pointers[i], step = a.bytes == 8 && (mask >> i) & 1 ? step_of(&a, i) : 4;
    if (step != 4) {
      u32 *to = (u32 *)(buffer->bounce + i);
      if (back) { *(u32 *)at = to[0]; *(u32 *)(at + step) = to[1]; }
      else { to[0] = *(u32 *)at; to[1] = *(u32 *)(at + step); }
      at = (u64)to;
    }
    if (!back) buffer->pointers[i] = at;
  }
  return 0;
}

/* A chunk's lanes are put together as a vector and stored at once: the caller's vector load would have to wait for
   as many single stores. */
#if LANES == 16 && defined(__AVX512F__)
typedef long long Gathered __attribute__((vector_size(64)));
typedef int Half __attribute__((vector_size(32)));
static inline Lanes gather(const u64 *pointers, u64 offset) {
  Half zero = {};
  Half low = __builtin_ia32_gatherdiv16si(zero, (void *)offset, *(const Gathered *)pointers, 0xff, 1);
  Half high = __builtin_ia32_gatherdiv16si(zero, (void *)offset, *(const Gathered *)(pointers + 8), 0xff, 1);
  return (Lanes)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* Two words of each lane. */
static inline void gather_pairs(const u64 *pointers, Lanes *out) {
  Gathered zero = {};
  Gathered low = __builtin_ia32_gatherdiv8di(zero, (void *)0, *(const Gathered *)pointers, 0xff, 1);
  Gathered high = __builtin_ia32_gatherdiv8di(zero, (void *)0, *(const Gathered *)(pointers + 8), 0xff, 1);
  Lanes l = (Lanes)low, h = (Lanes)high;
  out[0] = __builtin_shufflevector(l, h, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  out[1] = __builtin_shufflevector(l, h, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

/* Four words of each lane: whole elements, transposed in groups of four lanes. */
typedef u32 Quad __attribute__((vector_size(16)));
typedef u32 LooseQuad __attribute__((vector_size(16), aligned(1), may_alias));
typedef u32 Eight __attribute__((vector_size(32)));
static inline Lanes rows_of(const u64 *p) {
  Quad a = *(LooseQuad *)p[0], b = *(LooseQuad *)p[4], c = *(LooseQuad *)p[8], d = *(LooseQuad *)p[12];
  Eight low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  Eight high = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
#define LOW_OF(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH_OF(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
static inline void gather_quads(const u64 *pointers, Lanes *out) {
  Lanes r0 = rows_of(pointers), r1 = rows_of(pointers + 1), r2 = rows_of(pointers + 2), r3 = rows_of(pointers + 3);
  Lanes a = LOW_OF(r0, r1), b = HIGH_OF(r0, r1), c = LOW_OF(r2, r3), d = HIGH_OF(r2, r3);
  out[0] = LOW_PAIRS(a, c); out[1] = HIGH_PAIRS(a, c); out[2] = LOW_PAIRS(b, d); out[3] = HIGH_PAIRS(b, d);
}
#define WIDE_GATHERS 1
#else
#define WIDE_GATHERS 0
static inline void gather_pairs(const u64 *pointers, Lanes *out) {}
static inline void gather_quads(const u64 *pointers, Lanes *out) {}
static inline Lanes gather(const u64 *pointers, u64 offset) {
  Lanes v;
  for (u32 i = 0; i < LANES; i++) v[i] = *(Loose32 *)(pointers[i] + offset);
  return v;
}
#endif

/* A load of one chunk's lanes from anywhere: word w of the lanes goes to data[w] of the wave's buffer. */
int gpulab_load(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  ChunkAccess a;
  unpack(&a, wave, ids, what, offset, mask, low);
  u32 sign = (what >> 24) & 1, words = a.bytes / 4;
  Lanes *out = (Lanes *)buffer_of(wave)->data;
  u64 row = scratch_row(&a);
  if (row) {
    for (u32 w = 0; w < words; w++)
      out[w] = *(Lanes *)(row + (u64)w * 4 * ((Thread *)wave->thread)->launch->wave_size);
    return 0;
  }
  if (find_lanes(&a)) return 1;
  if (crosses(&a)) {
    for (u32 w = 0; w * 4 < a.bytes; w++) {
      Lanes v = {};
      for (u32 i = 0; i < LANES; i++)
        for (u32 b = 4 * w; b < 4 * w + 4 && b < a.bytes; b++)
          if ((mask >> i) & 1) v[i] |= (u32)*byte_of(&a, i, b) << (8 * (b & 3));
      if (a.bytes == 2 && sign) v = (Lanes)((SignedLanes)(v << 16) >> 16);
      out[w] = v;
    }
    return 0;
  }
  switch (a.bytes) {
  case 1: {
    Lanes v;
    for (u32 i = 0; i < LANES; i++) v[i] = *(u8 *)a.pointers[i];
    if (sign) v = (Lanes)((SignedLanes)(v << 24) >> 24);
    out[0] = v;
    return 0;
  }
  case 2: {
    Lanes v;
    for (u32 i = 0; i < LANES; i++) v[i] = *(Loose16 *)a.pointers[i];
    if (sign) v = (Lanes)((SignedLanes)(v << 16) >> 16);
    out[0] = v;
    return 0;
  }
  default:
    if (WIDE_GATHERS && a.step == 4 && words == 2) gather_pairs(a.pointers, out);
    else if (WIDE_GATHERS && a.step == 4 && words == 4) gather_quads(a.pointers, out);
    else if (a.step) for (u32 w = 0; w < words; w++) out[w] = gather(a.pointers, w * a.step);
    else for (u32 w = 0; w < words; w++) {
      Lanes v;
      for (u32 i = 0; i < LANES; i++) v[i] = (mask >> i) & 1 ? *(Loose32 *)(a.pointers[i] + w * step_of(&a, i)) : 0;
      out[w] = v;
    }
    return 0;
  }
}

/* The same for a store, of what the buffer's data[] holds. Lanes are stored in their order. */
int gpulab_store(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  ChunkAccess a;
  unpack(&a, wave, ids, what, offset, mask, low);
  const u32 *data = buffer_of(wave)->data;
  u32 words = a.bytes / 4;
  u64 row = scratch_row(&a);
  if (row) {
    Lanes keep = active_lanes(mask);
    for (u32 w = 0; w < words; w++) {
      Lanes *to = (Lanes *)(row + (u64)w * 4 * ((Thread *)wave->thread)->launch->wave_size);
      *to = (((const Lanes *)data)[w] & keep) | (*to & ~keep);
    }
    return 0;
  }
  if (find_lanes(&a)) return 1;
  if (crosses(&a)) {
    for (u32 i = 0; i < LANES; i++)
      for (u32 b = 0; b < a.bytes; b++)
        if ((mask >> i) & 1) *byte_of(&a, i, b) = (u8)(data[LANES * (b >> 2) + i] >> (8 * (b & 3)));
    return 0;
  }
  switch (a.bytes) {
  case 1: for (u32 i = 0; i < LANES; i++) *(u8 *)a.pointers[i] = (u8)data[i]; return 0;
  case 2: for (u32 i = 0; i < LANES; i++) *(Loose16 *)a.pointers[i] = (unsigned short)data[i]; return 0;
  case 4: for (u32 i = 0; i < LANES; i++) *(Loose32 *)a.pointers[i] = data[i]; return 0;
  default:
    for (u32 i = 0; i < LANES; i++) {
      if (!((mask >> i) & 1)) continue;
      u64 step = step_of(&a, i);
      for (u32 w = 0; w < words; w++) *(Loose32 *)(a.pointers[i] + w * step) = data[LANES * w + i];
    }
    return 0;
  }
}

/* Whether an access of scratch at the same address in all lanes is allowed. Returns 1 after a fault. */
int gpulab_row(Wave *wave, u32 instruction, u32 what, u64 address, u64 exec) {
  u32 access = (what >> 4) & 15, align = (what >> 8) & 255, bytes = (what >> 16) & 255;
  address = (u32)address;
  if (!exec) return 0;
  u32 lane = (u32)__builtin_ctzll(exec);
  if (address + bytes > wave->scratch_bytes) return fault(wave, FAULT_SCRATCH, instruction, lane, address, bytes, access);
  if (address & (align - 1)) return fault(wave, FAULT_MISALIGNED, instruction, lane, address, bytes, access);
  return 0;
}

/* A scalar load's address -> host pointer; 0 after a fault. `number` is that of the access, for the observer. */
u64 gpulab_scalar(Wave *wave, u64 ids, u64 address, u32 bytes, u32 number) {
  Launch *launch = ((Thread *)wave->thread)->launch;
  const Range *range;
  u32 instruction = (u32)ids, align = bytes < 4 ? bytes : 4;
  u32 kind = check(launch, address, bytes, align, READ, &range);
  if (kind) { fault(wave, kind, instruction, ~0u, address, bytes, READ); return 0; }
  keep_allocation(wave, (u32)(ids >> 32), range->address, range->size, bytes, 1);
  if (wave->blind && number != ~0u && ((Observer)wave->observer)(wave, number, address, 1, 0, 0)) return 0;
  return address;
}

/* Clocks as a kernel sees them: instructions executed by this wave, so that runs repeat exactly. */
u64 gpulab_clock(Wave *wave) {
  return (u64)(((Thread *)wave->thread)->launch->limit - (u64)wave->steps - (u64)wave->budget);
}

typedef int (*Entry)(Wave *, void *);

/* What a checked launch wants to know (checked.c). */
static __attribute__((noinline)) void check_start(Thread *thread, u8 *memory, u64 number);
static __attribute__((noinline)) void check_resume(Wave *wave);
static __attribute__((noinline)) int check_stopped(Wave *wave);
static __attribute__((noinline)) int check_barrier(Wave *waves);
static __attribute__((noinline)) int check_round(Thread *thread);

/* What is the same for all waves of a launch. */
static void prepare_template(Thread *thread) {
  Launch *launch = thread->launch;
  Wave *wave = &thread->template_wave;
  wave->thread = (u64)thread;
  wave->lds_bytes = launch->lds_bytes;
  wave->scratch_bytes = launch->scratch_bytes;
  wave->observer = wave->blind = 0;
  wave->status = YIELD;
  wave->pc = launch->first_pc;
  wave->budget = 0;
  wave->steps = (i64)launch->limit;
}

static void start_group(Thread *thread, u8 *memory, u64 number) {
  Launch *launch = thread->launch;
  u32 group[3] = {(u32)number, 0, 0};
  if (launch->grid[1] != 1 || launch->grid[2] != 1) {
    u64 row = number / launch->grid[0];
    group[0] = (u32)(number - row * launch->grid[0]);
    group[2] = launch->grid[2] == 1 ? 0 : (u32)(row / launch->grid[1]);
    group[1] = (u32)(row - (u64)group[2] * launch->grid[1]);
  }
  u32 size = launch->wave_size, waves = launch->waves, id_vgprs = launch->id_vgprs;
  u64 row = (u64)size * 4, file = launch->vgprs * row, own_scratch = (u64)size * launch->scratch_bytes;
  u8 *vgprs = memory + sizeof(Wave) * waves;
  u8 *lds = vgprs + file * waves;
  u64 lds_room = (launch->lds_bytes + 63) / 64 * 64;
  u8 *scratch = lds + lds_room;
  clear_blocks(lds, lds_room);
  clear_blocks(scratch, waves * own_scratch);
  const u8 *ids = (const u8 *)launch->lane_ids;
  const u32 *zeroed = (const u32 *)launch->zeroed;
  u64 zeroed_count = launch->zeroed_count;
  int observed = number < launch->observed && launch->observer;
  int shared_id = launch->id_register[1] == launch->id_register[2] && launch->id_register[1] != ~0u;
  for (u32 w = 0; w < waves; w++) {
    Wave *wave = (Wave *)memory + w;
    copy_blocks(wave, &thread->template_wave, sizeof(Wave));
    u8 *own = vgprs + w * file;
    wave->vgprs = (u64)own;
    wave->lds = (u64)lds;
    wave->scratch = (u64)(scratch + w * own_scratch);
    wave->index = w;
    if (observed) {
      wave->observer = launch->observer;
      wave->blind = launch->blind != 0;
      if (wave->blind) wave->cache = launch->blind;
    }
    for (u32 d = 0; d < 3; d++) {
      wave->group[d] = group[d];
      if (launch->id_register[d] != ~0u) wave->scalars[launch->id_register[d]] = group[d];
    }
    if (shared_id) wave->scalars[launch->id_register[1]] = group[1] | group[2] << 16;
    u64 exec = ((const u64 *)launch->exec)[w];
    wave->scalars[126] = (u32)exec;
    wave->scalars[127] = (u32)(exec >> 32);
    for (u64 z = 0; z < zeroed_count; z++) clear_blocks(own + zeroed[z] * row, row);
    for (u32 v = 0; v < id_vgprs; v++) copy_blocks(own + v * row, ids + ((u64)v * waves + w) * row, row);
  }
  if (launch->checker) check_start(thread, memory, number);
}

/* A new slice of instructions for a wave that has used its own; 0 after a fault: it has none left. */
static __attribute__((noinline)) int refill(const Launch *launch, Wave *wave) {
  i64 slice = (i64)launch->slice;
  if (wave->steps < slice) slice = wave->steps;
  if (slice <= 0) {
    fault(wave, FAULT_TIMEOUT, wave->first_instruction, ~0u, 0, 0, ~0u);
    return 0;
  }
  wave->steps -= slice;
  wave->budget += slice;
  return 1;
}

/* Instructions of several waves that take turns, of which none ends, that say nothing yet, however low the limit. */
enum { PATIENCE = 1 << 28 };

/* Lets each live wave of a workgroup run once: until it ends, waits at a barrier, sleeps or has used its slice.
   Returns the number of waves that are still live; ~0 after a fault. */
static u32 run_group(Thread *thread, u8 *memory) {
  Launch *launch = thread->launch;
  Entry entry = (Entry)launch->entry;
  Wave *waves = (Wave *)memory, *end = waves + launch->waves;
  int checked = launch->checker != 0;
  u64 work = 0, awake = 0, since = thread->since;
  u32 live;
  for (int released = 0;; released = 1) { /* in a round after a barrier all waves run, so a wait is for the next one */
    u32 yielded = 0;
    live = 0;
    for (Wave *wave = waves; wave < end; wave++) {
      if (wave->status == ENDED) continue;
      live++;
      if (wave->status == BARRIER && !released) continue;
      if (wave->budget <= 0 && !refill(launch, wave)) goto failed;
      i64 had = wave->budget;
      if (checked) check_resume(wave);
      u32 status = (u32)entry(wave, (void *)wave->vgprs);
      wave->status = status;
      if (status == FAULT) goto failed;
      if (checked && check_stopped(wave)) goto failed;
      u64 used = (u64)(had - wave->budget);
      work += used;
      awake += status != SLEEP;
      if (status == ENDED) { since = 0; live--; continue; }
      since += used;
      if (since > 2 * launch->limit && since > PATIENCE) {
        fault(wave, FAULT_TIMEOUT, wave->first_instruction, ~0u, 0, 0, ~0u);
        goto failed;
      }
      yielded += status != BARRIER;
    }
    if (!live || yielded) break; /* other workgroups get their turn */
    /* Everyone alive is at the barrier: a wave that has ended counts as arrived. */
    if (checked && check_barrier(waves)) goto failed;
  }
  goto done;
failed:
  live = ~0u;
done:
  thread->work += work;
  thread->awake += awake;
  thread->since = since;
  return live;
}

/* Whether a workgroup need not go on. Of several faults that of the workgroup with the lowest number is reported,
   whatever the threads' speed: so after a fault the workgroups before it run on, if they do not wait for ever. */
static int dropped(Thread *thread, u64 number) {
  Launch *launch = thread->launch;
  if (__atomic_load_n(&launch->cancel, __ATOMIC_RELAXED)) return 1;
  u64 faulted = __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED);
  return faulted != ~0ull && (number >= faulted || thread->grace++ > 64);
}

/* At the end of a round of a cooperative launch: whether its workgroups wait at the grid's barrier for others that have
   ended. They sleep there; that they do nothing else for many rounds is what a long wait looks like, too, so those
   that arrived and those that ended have to be all. Reports the first of them. */
static int waits_for_ended(Thread *thread) {
  Launch *launch = thread->launch;
  thread->quiet = thread->awake ? 0 : thread->quiet + 1;
  thread->awake = 0;
  if (thread->quiet < 64) return 0;
  u64 arrived = __atomic_load_n((u32 *)launch->grid_barrier, __ATOMIC_RELAXED) & 0xffff;
  u64 gone = __atomic_load_n(&launch->gone, __ATOMIC_RELAXED);
  if (!arrived || !gone || arrived + gone < launch->total) return 0;
  u64 first = 0;
  for (u64 i = 1; i < thread->used; i++) if (thread->number[i] < thread->number[first]) first = i;
  Wave *waves = (Wave *)((u8 *)thread->memory + thread->order[first] * thread->slot_bytes);
  for (u32 w = 0; w < launch->waves; w++)
    if (waves[w].status == SLEEP) return fault(waves + w, FAULT_GRID, waves[w].first_instruction, ~0u, 0, 0, ~0u);
  return 0;
}

/* Runs workgroups until there are none left, then returns 0. Returns 1 for a pause, to be called again: after about
   one slice's work and every 256 workgroups, so that Python comes to see a Ctrl-C. */
int gpulab_run(Thread *thread) {
  Launch *launch = thread->launch;
  u8 *memory = (u8 *)thread->memory;
  prepare_template(thread);
  for (;;) {
    if (thread->at >= thread->used) {
      /* All residents had their turn: a new workgroup if there is room, else round again. */
      u64 faulted = __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED), next = ~0ull;
      if (thread->used < launch->residents && !__atomic_load_n(&launch->cancel, __ATOMIC_RELAXED)) {
        if (thread->own >= thread->own_end && faulted == ~0ull) {
          thread->own = __atomic_fetch_add(&launch->next, launch->batch, __ATOMIC_RELAXED);
          thread->own_end = thread->own + launch->batch;
        }
        /* After a fault what was set aside and comes before it is still run: the lowest faulting one is reported. */
        if (thread->own < thread->own_end && thread->own < faulted) next = thread->own++;
      }
      if (next < launch->total) {
        if (!thread->used) for (u32 i = 0; i < launch->residents; i++) thread->order[i] = i;
        start_group(thread, memory + thread->order[thread->used] * thread->slot_bytes, next);
        thread->executed += launch->waves;
        thread->number[thread->used] = next;
        thread->at = thread->used++;
      } else {
        if (!thread->used) return 0;
        thread->at = 0;
        if (launch->grid_barrier) waits_for_ended(thread);
        if (launch->checker) check_round(thread);
      }
    }
    u64 at = thread->at;
    u32 live = run_group(thread, memory + thread->order[at] * thread->slot_bytes);
    if (live && live != ~0u && !dropped(thread, thread->number[at])) {
      thread->at++;
      thread->work += 64;
      if (thread->work >= launch->slice) {
        thread->work = 0;
        return 1;
      }
      continue;
    }
    if (launch->grid_barrier) __atomic_fetch_add(&launch->gone, 1, __ATOMIC_RELAXED);
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
  ROW_NEWBCAST, ROW_SHARE, ROW_XMASK, DPP8, DS_PERMUTE, DS_BPERMUTE, DS_SWIZZLE, PERMLANE16, PERMLANEX16, PERMLANE64, MOVE,
  PERMLANE16_VAR, PERMLANEX16_VAR, DS_BPERMUTE_FI, PERMLANE16_SWAP, PERMLANE32_SWAP
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
  if (pattern >= PERMLANE16_SWAP) { /* the upper lanes of `to` and the lower ones of `from` change places */
    u32 *low = (u32 *)from;
    int distance = pattern == PERMLANE16_SWAP ? 16 : 32;
    for (int lane = 0; lane < n; lane++) {
      if (lane & distance) continue;
      int upper = lane + distance, above = (exec >> upper) & 1, below = (exec >> lane) & 1;
      u32 up = low[lane], down = to[upper];
      if (above && (below || (flags & 3))) to[upper] = below || (flags & 1) ? up : 0;
      if (below && (above || (flags & 3))) low[lane] = above || (flags & 1) ? down : 0;
    }
    return exec;
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
      else if (pattern == DS_BPERMUTE_FI) {
        source = (int)(((from[lane] + argument) >> 2) & (size - 1));
        values = other;
      }
      else if (pattern == PERMLANE16_VAR) source = (lane & ~15) + (int)(other[lane] & 15);
      else if (pattern == PERMLANEX16_VAR) source = ((lane & ~15) ^ 16) + (int)(other[lane] & 15);
      else if (pattern == DS_SWIZZLE) source = swizzle_source(lane, argument);
      else if (pattern == MOVE) source = lane;
      else if (pattern == PERMLANE64) source = n == 64 ? lane ^ 32 : lane;
      else {
        u32 choice = lane & 8 ? second >> (4 * (lane & 7)) : argument >> (4 * (lane & 7));
        source = (lane & ~15) + (int)(choice & 15);
        if (pattern == PERMLANEX16) source ^= 16;
      }
      int rows = pattern == PERMLANE16 || pattern == PERMLANEX16 || pattern == PERMLANE16_VAR || pattern == PERMLANEX16_VAR;
      int fetch = pattern == PERMLANE64 || pattern == MOVE || pattern == DS_BPERMUTE_FI || (rows && (flags & 1));
      int good = fetch || ((exec >> source) & 1);
      result[lane] = good ? values[source] : 0;
      if (!good && rows && !(flags & 2)) write &= ~(1ull << lane);
    }
  }
  for (int lane = 0; lane < n; lane++)
    if ((write >> lane) & 1) to[lane] = result[lane];
  return write;
}
