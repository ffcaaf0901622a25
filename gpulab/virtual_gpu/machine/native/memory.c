/* Memory accesses of translated code: exact address checks, then loads and stores.

   gpulab_resolve    checks the addresses of a chunk's lanes and turns them into host pointers
   gpulab_load       the same, and loads;   gpulab_store  the same, and stores
   gpulab_row        checks an access of scratch that is the same for all lanes
   gpulab_scalar     the same for a scalar load

   Translated code checks the common case itself, against the allocation that the instruction used last (Allocation). */

#include "support.h"

static const Range *find(const Launch *launch, u64 address) {
  const Range *ranges = launch->ranges;
  u64 low = 0, high = launch->range_count;
  while (low < high) {
    u64 middle = (low + high) / 2;
    if (ranges[middle].address <= address) low = middle + 1; else high = middle;
  }
  if (low == 0) return 0;
  const Range *found = &ranges[low - 1];
  return address - found->address < found->size ? found : 0;
}

static u32 outside(const Launch *launch, u64 address) {
  if (address < 65536) return FAULT_NULL;
  const Range *freed = launch->freed;
  for (u64 i = 0; i < launch->freed_count; i++)
    if (address - freed[i].address < freed[i].size) return FAULT_FREED;
  return FAULT_OUT_OF_BOUNDS;
}

/* Why `bytes` at a global `address` may not be used; 0 if they may. `range` is the allocation. */
static u32 check(const Launch *launch, u64 address, u32 bytes, u32 align, u32 access, const Range **range) {
  const Range *found = find(launch, address);
  *range = found;
  if (!found) return outside(launch, address);
  if (found->address + found->size - address < bytes) return FAULT_OUT_OF_BOUNDS;
  if (address & (align - 1)) return FAULT_MISALIGNED;
  if (access != READ && (found->flags & 1)) return FAULT_READ_ONLY;
  return 0;
}

u32 reaches(const Launch *launch, u64 address, u64 bytes, u32 access, u64 *shift) {
  const Range *range;
  if (bytes >> 32) return FAULT_OUT_OF_BOUNDS;
  u32 kind = check(launch, address, (u32)bytes, 1, access, &range);
  if (!kind) *shift = range->home - range->address;
  return kind;
}

static inline Allocation *allocation(const Wave *wave, u32 slot) {
  return (Allocation *)wave->thread->template_wave.cache + slot;
}

/* Where elements of `bytes` may begin in so many bytes. */
static inline u64 places(u64 size, u32 bytes, u32 shift) { return size < bytes ? 0 : ((size - bytes) >> shift) + 1; }

/* Have an entry's part be what its allocation has in the 4 GiB around an address. `away`: from addresses to homes. */
static NOINLINE void turn_to(Allocation *entry, u64 address, u64 away, u32 bytes, u32 shift) {
  u64 first = (address & ~0xffffffffull) + EDGE, last = first + 0x100000000ull - 2 * EDGE;
  u64 end = entry->places ? entry->start + ((entry->places - 1) << shift) + bytes : 0;
  if (first < entry->start) first = entry->start;
  if (last > end) last = end;
  u64 size = first < last ? last - first : 0;
  entry->from = first;
  entry->home = first + away;
  entry->single = (u32)places(size, bytes, shift);
  entry->wide = (u32)places(size, LANES * bytes, shift);
}

static inline void keep_allocation(Wave *wave, u32 slot, u64 address, const Range *range, u32 bytes, u32 align) {
  Allocation *entry = allocation(wave, slot);
  u32 shift = (u32)__builtin_ctz(align);
  entry->start = range->address;
  entry->places = places(range->size, bytes, shift);
  turn_to(entry, address, range->home - range->address, bytes, shift);
}

static inline void keep_lds(Wave *wave, u32 slot, u32 bytes, u32 align) {
  Allocation *entry = allocation(wave, slot);
  u32 shift = (u32)__builtin_ctz(align);
  entry->from = entry->home = wave->lds;
  entry->single = (u32)places(wave->lds_bytes, bytes, shift);
  entry->wide = (u32)places(wave->lds_bytes, LANES * bytes, shift);
}

#if LANES == 16
static const Lanes NUMBERS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
static const Lanes NUMBERS = {0, 1, 2, 3, 4, 5, 6, 7};
#endif

static inline Lanes active_lanes(u32 mask) { return (Lanes)(((mask >> NUMBERS) & 1) != 0); }

static inline int any_wide(WideLanes v) { return __builtin_reduce_or(v) != 0; }

static inline int any_lane(Lanes v) { return __builtin_reduce_or(v) != 0; }

/* Dword `address` / 4 of a lane's scratch: dwords of all lanes stand side by side. */
static inline u64 in_scratch(const Wave *wave, u32 lane, u64 address) {
  u32 size = launch_of(wave)->wave_size;
  return wave->scratch + (address >> 2) * 4 * size + 4 * lane + (address & 3);
}

/* The same as `all_cached` for all of the allocation. */
static NOINLINE int in_other_part(ChunkAccess *a, Allocation *entry, u32 shift) {
  u64 away = entry->home - entry->from, pointers[LANES];
  for (u32 rest = a->mask; rest; rest &= rest - 1) {
    u32 i = (u32)__builtin_ctz(rest);
    u64 address = ((a->high ? (u64)a->high[i] << 32 : 0) | a->low[i]) + a->offset, relative = address - entry->start;
    if (relative & ((1u << shift) - 1) || relative >> shift >= entry->places) return 0;
    pointers[i] = address + away;
  }
  for (u32 i = 0; i < LANES; i++) a->pointers[i] = (a->mask >> i) & 1 ? pointers[i] : (u64)a->wave->dummy;
  if (a->mask) turn_to(entry, a->pointers[__builtin_ctz(a->mask)] - away, away, a->bytes, shift);
  return 1;
}

/* All active lanes in the part of an allocation that the instruction used last. */
static inline int all_cached(ChunkAccess *a) {
  Allocation *entry = allocation(a->wave, a->slot);
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
  WideLanes relative = address - entry->from, found = relative + entry->home;
  if (shift) relative = relative >> shift | relative << (64 - shift);
  if (any_wide((WideLanes)(relative >= entry->single) & keep)) return in_other_part(a, entry, shift);
  *(WideLanes *)a->pointers = (found & keep) | ((u64)a->wave->dummy & ~keep);
  return 1;
}

/* Each active lane's address, low, high + offset -> host pointer in `pointers`. Returns 1 after a fault. */
int find_lanes(ChunkAccess *a) {
  Wave *wave = a->wave;
  Launch *launch = launch_of(wave);
  u32 space = a->space, bytes = a->bytes, align = a->align, access = a->action;
  if (all_cached(a)) return 0;
  u32 in_lds = 0, private = 0, held = 0;
  for (u32 i = 0; i < LANES; i++) {
    if (!((a->mask >> i) & 1)) { a->pointers[i] = (u64)wave->dummy; continue; }
    u32 lane = a->lane + i, own = space;
    u64 address;
    if (space >= SPACE_LDS) { /* wraps: Clang folds constants into the offset */
      address = (u32)(a->low[i] + (u32)a->offset);
    } else {
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
        return fault(wave, own == SPACE_LDS ? FAULT_LDS_OUT_OF_BOUNDS : FAULT_SCRATCH_OUT_OF_BOUNDS, a->instruction,
                     lane, address, bytes, access);
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
    u32 first = !held;
    held = 1;
    keep_allocation(wave, a->slot, address, range, bytes, align);
    if (first && all_cached(a)) return 0; /* most often all lanes are in one allocation */
    a->pointers[i] = address - range->address + range->home;
  }
  if (space == SPACE_LDS && in_lds) keep_lds(wave, a->slot, bytes, align);
  if (private == a->mask) a->step = 4 * launch->wave_size;
  else if (private) a->step = 0; /* of both kinds: see step_of */
  return 0;
}

/* Bytes from one word of lane i's element to the next. */
static inline u64 step_of(const ChunkAccess *a, u32 i) {
  if (a->step) return a->step;
  u64 at = a->pointers[i] - a->wave->scratch;
  u32 size = launch_of(a->wave)->wave_size;
  return at < (u64)a->wave->scratch_bytes * size ? 4 * size : 4;
}

/* Scratch whose address is no multiple of its dwords (assembly alone may do so) goes byte by byte. */
static inline int crosses(const ChunkAccess *a) {
  if (a->align >= 4 || a->bytes < 2 || a->align >= a->bytes) return 0;
  return a->space == SPACE_SCRATCH || a->step != 4;
}

u8 *byte_of(const ChunkAccess *a, u32 i, u32 byte) {
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

/* Addresses of the active lanes of a chunk -> host pointers, for atomics. Those of scratch work on a copy of 64-bit
   elements, whose halves lie apart, and are called again to put them back. */
int gpulab_resolve(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  ChunkAccess a;
  unpack(&a, wave, ids, what, offset, mask, low);
  if (find_lanes(&a)) return 1;
  Buffer *buffer = buffer_of(wave);
  u32 back = ACCESS_PUT_BACK(what);
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
#define gather_pairs(pointers, out) (void)0
#define gather_quads(pointers, out) (void)0
static inline Lanes gather(const u64 *pointers, u64 offset) {
  Lanes v;
  for (u32 i = 0; i < LANES; i++) v[i] = *(Loose32 *)(pointers[i] + offset);
  return v;
}
#endif

/* Whether all lanes of a chunk are active, and their words stand one behind the other. */
typedef u32 LooseLanes __attribute__((vector_size(4 * LANES), aligned(1), may_alias));
static inline int side_by_side(const ChunkAccess *a) {
  if (a->bytes != 4 || a->mask != (1u << LANES) - 1) return 0;
  WideLanes places = __builtin_convertvector(NUMBERS, WideLanes) * 4 + a->pointers[0];
  return !any_wide((WideLanes)(*(const WideLanes *)a->pointers != places));
}

/* A load of one chunk's lanes from anywhere: word w of the lanes goes to data[w] of the wave's buffer. */
int gpulab_load(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  ChunkAccess a;
  unpack(&a, wave, ids, what, offset, mask, low);
  u32 sign = ACCESS_SIGNED(what), words = a.bytes / 4;
  Lanes *out = (Lanes *)buffer_of(wave)->data;
  u64 row = scratch_row(&a);
  if (row) {
    for (u32 w = 0; w < words; w++)
      out[w] = *(Lanes *)(row + (u64)w * 4 * launch_of(wave)->wave_size);
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
    if (side_by_side(&a)) out[0] = *(const LooseLanes *)a.pointers[0];
    else if (WIDE_GATHERS && a.step == 4 && words == 2) gather_pairs(a.pointers, out);
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
      Lanes *to = (Lanes *)(row + (u64)w * 4 * launch_of(wave)->wave_size);
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
  case 4:
    if (side_by_side(&a)) *(LooseLanes *)a.pointers[0] = *(const Lanes *)data;
    else for (u32 i = 0; i < LANES; i++) *(Loose32 *)a.pointers[i] = data[i];
    return 0;
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
  u32 action = ACCESS_ACTION(what), align = ACCESS_ALIGN(what), bytes = ACCESS_BYTES(what);
  address = (u32)address;
  if (!exec) return 0;
  u32 lane = (u32)__builtin_ctzll(exec);
  if (address + bytes > wave->scratch_bytes)
    return fault(wave, FAULT_SCRATCH_OUT_OF_BOUNDS, instruction, lane, address, bytes, action);
  if (address & (align - 1)) return fault(wave, FAULT_MISALIGNED, instruction, lane, address, bytes, action);
  return 0;
}

/* Clang reads three dwords as four where they begin at a multiple of 16 bytes: no page ends in between, and the fourth is
   not used (SIISelLowering.cpp, widenLoad). So a scalar load that is aligned to its size may end beyond what it reads. */
static int widened(Launch *launch, u64 address, u32 bytes, const Range **range) {
  return bytes >= 16 && !(address & (bytes - 1)) && !check(launch, address, bytes / 4 * 3, 4, READ, range);
}

/* A scalar load's address -> host pointer; 0 after a fault. `number` is that of the access, for the observer. */
u64 gpulab_scalar(Wave *wave, u64 ids, u64 address, u32 bytes, u32 number) {
  Launch *launch = launch_of(wave);
  const Range *range;
  u32 instruction = (u32)ids, align = bytes < 4 ? bytes : 4;
  u32 kind = check(launch, address, bytes, align, READ, &range);
  if (kind && !(kind == FAULT_OUT_OF_BOUNDS && widened(launch, address, bytes, &range))) {
    fault(wave, kind, instruction, ~0u, address, bytes, READ);
    return 0;
  }
  keep_allocation(wave, (u32)(ids >> 32), address, range, bytes, 1);
  if (wave->blind && number != ~0u && ((Observer)wave->observer)(wave, number, address, 1, 0, 0)) return 0;
  return address - range->address + range->home;
}
