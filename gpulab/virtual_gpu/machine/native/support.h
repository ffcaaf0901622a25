/* What the files of the support code share, beside what they share with Python (shared.h).

   The files are one library: library.c includes them all, so that the compiler sees them together. Each can be compiled
   by itself, too. There is no C library: the host's process is not looked at for symbols. */

#ifndef GPULAB_SUPPORT_H
#define GPULAB_SUPPORT_H

#include "shared.h"

/* Of a function that other files of the library call, and nobody else. */
#define INTERNAL __attribute__((visibility("hidden")))
#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

/* An observer is told of each memory access of a wave, after it was made: lane i of `exec` used address
   (high[i] << 32 | low[i]) + base, `high` being 0 for LDS, scratch and 32-bit indices (which wrap at 32 bits in LDS).
   A scalar load has no `low`: its address is `base`. Not 0: a fault was recorded, the kernel is to stop. */
typedef u32 (*Observer)(Wave *, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high);

/* A translated kernel. It returns a status (WAVE_). */
typedef int (*Entry)(Wave *, void *vgprs);

/* What tells an observer of `count` accesses of each wave from a number on, so many, that went straight through. A
   checked kernel asks first, wave by wave: not 0: the wave is not to go that way. */
typedef u32 (*Teller)(Wave *, u64 number, u64 waves, u64 count, const Told *told, const ToldOf *of);

/* The function for waves that go straight through. That of a kernel that is not made for observers does not look for a
   teller. */
typedef u64 (*Through)(Wave *, const u32 *ids, u64 waves, Teller tell);

typedef u64 Whole64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef u32 Lanes __attribute__((vector_size(4 * LANES)));
typedef int SignedLanes __attribute__((vector_size(4 * LANES)));
typedef u64 WideLanes __attribute__((vector_size(8 * LANES)));
typedef i64 SignedWideLanes __attribute__((vector_size(8 * LANES)));
typedef u64 Loose64 __attribute__((aligned(1), may_alias));
typedef u32 Loose32 __attribute__((aligned(1), may_alias));
typedef u16 Loose16 __attribute__((aligned(1), may_alias));

static inline Launch *launch_of(const Wave *wave) { return wave->thread->launch; }
static inline Buffer *buffer_of(const Wave *wave) { return (Buffer *)wave->addresses; }

/* Bits and numbers. */
INLINE float as_float(u32 bits) { float x; __builtin_memcpy(&x, &bits, 4); return x; }
INLINE double as_double(u64 bits) { double x; __builtin_memcpy(&x, &bits, 8); return x; }
INLINE u64 of_double(double x) { u64 bits; __builtin_memcpy(&bits, &x, 8); return bits; }
INLINE u32 as_word(float x) { u32 bits; __builtin_memcpy(&bits, &x, 4); return bits; }

/* A float of 1 + `bits - 1 - fraction` + `fraction` bits and this bias, subnormals included; no infinity, no NaN. */
INLINE float small(u32 x, u32 bits, u32 fraction, u32 bias) {
  u32 magnitude = x & ((1u << (bits - 1)) - 1), sign = (x >> (bits - 1)) << 31;
  u32 wide = magnitude << (23 - fraction);
  float normal = as_float(wide + ((127 - bias) << 23));
  float tiny = as_float(wide + ((128 - bias) << 23)) - as_float((128 - bias) << 23);
  return as_float(as_word(magnitude < 1u << fraction ? tiny : normal) | sign);
}

INLINE float from_half(u32 x) {
  u32 special = 0x7f800000u | (x & 0x3ff) << 13 | (x & 0x8000) << 16;
  return (x & 0x7c00) == 0x7c00 ? as_float(special) : small(x & 0xffff, 16, 10, 15);
}

INLINE u32 to_half(float x) {
  u32 bits = as_word(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (magnitude < 0x38800000) /* adding 0.5 leaves the result in the lowest bits, rounded to nearest even */
    return sign | (as_word(as_float(magnitude) + 0.5f) - 0x3f000000);
  return sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
}

static inline void clear(void *to, u64 bytes) {
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

/* What translated code calls, through the addresses in Wave. */
int gpulab_resolve(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low);
int gpulab_load(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low);
int gpulab_store(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low);
int gpulab_keep_store(Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low);
int gpulab_row(Wave *wave, u32 instruction, u32 what, u64 address, u64 exec);
u64 gpulab_scalar(Wave *wave, u64 ids, u64 address, u32 bytes, u32 number);
int gpulab_stop(Wave *wave, u32 kind, u32 instruction);
u64 gpulab_clock(Wave *wave);
u64 gpulab_cross(u32 size, u32 pattern, u32 *to, const u32 *from, const u32 *other, u64 exec, u32 argument, u32 second,
                 u32 flags);
void gpulab_matrix(u32 *d, const u32 *a, const u32 *b, const u32 *c, u64 constant, u64 shape, u32 flags);
int gpulab_image(Wave *wave, u32 *vgprs, u64 ids, u64 what, u64 first, u64 second, u64 offset, u64 exec);
void gpulab_round(u32 what, u32 mode, u32 lanes, const u64 *a, const u64 *b, const u64 *c, u64 *out);
u32 gpulab_observe(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high);
u32 gpulab_record(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high);
u32 gpulab_tell(Wave *wave, u64 number, u64 waves, u64 count, const Told *told, const ToldOf *of);
void gpulab_apart(Check *check);
u32 gpulab_ask(Wave *wave, u64 number, u64 waves, u64 count, const Told *told, const ToldOf *of);
u32 gpulab_tell_loop(Wave *wave, u64 exec, u64 times, const u64 *log, const i32 *steps, const ToldLoop *loop);
u32 gpulab_ask_loop(Wave *wave, u64 exec, u64 times, const u64 *log, const i32 *steps, const ToldLoop *loop);
u32 gpulab_check(Wave *wave, u32 access, u64 base, u64 exec, const u32 *low, const u32 *high);
u32 gpulab_note(Wave *wave, u32 what, u32 instruction, u64 exec);
u32 gpulab_shuffle(Wave *wave, u32 instruction, u32 pattern, const u32 *from, u64 exec, u64 lanes, u32 argument,
                   u32 second, u32 flags);

/* What Python calls. */
i64 gpulab_launch(Launch *launch, Thread *thread, const u8 *given, u64 size);
void gpulab_begin(Thread *thread, Launch *launch);
int gpulab_run(Thread *thread);
void gpulab_merge(Thread *first, const Thread *other);
i64 gpulab_collect(const Thread *thread);
void gpulab_observe_begin(Observation *o, u64 count);
void gpulab_observe_end(Observation *o, u64 count);
void gpulab_replay(Replay *r);
void gpulab_unit(Unit *u);

/* Whether a workgroup belongs to the sample of its launch. */
INLINE int is_recorded(const Observation *o, const u32 *group) {
  const Recording *r = o->recording;
  return group[0] - r->begin[0] < r->size[0] && group[1] - r->begin[1] < r->size[1] && group[2] - r->begin[2] < r->size[2];
}

/* The sample of a launch: it begins empty; it is written to `to`, whose end is returned. (record.c) */
INTERNAL void record_begin(const Launch *launch);
INTERNAL u64 record_end(const Launch *launch, u64 *to);

/* Records a fault (FAULT_), if none of a workgroup before this one is recorded. `lane` and `access` are ~0 where there
   is none. Returns 1. (workgroups.c) */
INTERNAL int fault(Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 access);
INTERNAL Fault fault_of(Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 access);
INTERNAL void take_fault(Thread *thread, const Fault *found);

/* Instructions of several waves that take turns, of which none ends, that say nothing yet, however low the limit. */
enum { PATIENCE = 1 << 28 };

/* Workgroups take turns (turns.c): a new slice for a wave that has used its own, 0 after a fault: it has none left;
   whether a wave that gives way has done something since it last did; whether a workgroup need not go on; at the end of
   a round of a cooperative launch, and of another, whether its workgroups wait in vain. */
INTERNAL NOINLINE int refill(const Launch *launch, Wave *wave);
INTERNAL NOINLINE int went_on(const Launch *launch, Wave *wave);
INTERNAL int dropped(Thread *thread, u64 number);
INTERNAL int waits_for_ended(Thread *thread);
INTERNAL NOINLINE void look_around(Thread *thread);

/* One access of a chunk, unpacked from an ACCESS_ word. Words of a lane's element lie `step` bytes apart. */
typedef struct {
  Wave *wave;
  u32 instruction, slot, space, action, align, bytes, mask, lane;
  u64 offset;
  const u32 *low, *high;
  u64 step;
  u64 pointers[LANES] __attribute__((aligned(64)));
} ChunkAccess;

static inline void unpack(ChunkAccess *a, Wave *wave, u64 ids, u32 what, u64 offset, u32 mask, const u32 *low) {
  u32 size = launch_of(wave)->wave_size;
  a->wave = wave;
  a->instruction = (u32)ids; a->slot = (u32)(ids >> 32);
  a->space = ACCESS_SPACE(what); a->action = ACCESS_ACTION(what);
  a->align = ACCESS_ALIGN(what); a->bytes = ACCESS_BYTES(what);
  a->mask = mask;
  a->lane = (u32)((u64)low / 4) & (size - 1); /* rows of addresses are aligned to their size */
  a->offset = offset;
  a->low = low;
  a->high = ACCESS_NO_HIGH(what) ? 0 : low + size;
  a->step = 4;
}

/* Each active lane's address, low, high + offset -> host pointer in `pointers`. Returns 1 after a fault. (memory.c) */
INTERNAL int find_lanes(ChunkAccess *a);

/* Why `bytes` at a global `address`, the memory of an image or a texel, may not be used; 0 if they may: then `shift` is
   how far behind the address they lie in this process. (memory.c) */
INTERNAL u32 reaches(const Launch *launch, u64 address, u64 bytes, u32 access, u64 *shift);

/* Where a byte of lane i's element is. (memory.c) */
INTERNAL u8 *byte_of(const ChunkAccess *a, u32 i, u32 byte);

/* The lane that `lane` reads under a DPP pattern; -1 for none. (crosslane.c) */
INTERNAL int dpp_source(u32 pattern, int lane, int argument, int size);
INTERNAL int swizzle_source(int lane, u32 pattern);

/* Keeps a fault of a checked launch, before it is taken. 0: there is such a one, no room, or a workgroup before this
   one has one. (findings.c) */
INTERNAL Found *keep_found(Check *c, const Fault *first, const Fault *one, u32 kind);

/* A checked launch wants to know: a workgroup starts; a wave goes on; it has come to a halt; all live waves of a
   workgroup have arrived at a barrier; each workgroup had its turn. 1: something is wrong, the kernel is to stop. So many
   waves are through when a workgroup starts. Or it is to start so that its waves go straight through, in a slot: 0: not
   now. (barriers.c) */
INTERNAL NOINLINE void check_start(Thread *thread, u8 *memory, u64 number, u32 through);
INTERNAL NOINLINE int check_straight(Thread *thread, u64 slot, u64 number, const u32 *group);
INTERNAL NOINLINE void check_resume(Wave *wave);
INTERNAL NOINLINE int check_stopped(Wave *wave);
INTERNAL NOINLINE int check_barrier(Wave *waves);
INTERNAL NOINLINE int check_round(Thread *thread);

#endif
