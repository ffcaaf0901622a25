/* Matrix instructions: gpulab_matrix does D = A B + C on whole registers of a wave.

   A and B are taken apart into arrays [block][k][row of A or column of B] whose rows are contiguous lanes; C and D are
   worked on in place, a row of D being contiguous lanes of one register. Where that is not so (two registers or half a
   register per element, modifiers of C) C and D pass through an array [block][row][column]. The layouts are those of
   isa/matrix.py; sums are fused multiply-adds in the order of k. */

#include "support.h"

typedef float Float4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float Float8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int Int4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int Int8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double Double4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef u32 Word __attribute__((may_alias));

typedef struct {
  u32 m, n, k, blocks, wave;
  u32 layout;           /* LAYOUT_ */
  u32 plain;            /* C and D are arrays [block][row][column] */
  u32 cbsz, abid, clamp;
} Job;

INLINE float from_fp8(u32 x, u32 fraction, u32 bias) {
  return (x & 0xff) == 0x80 ? as_float(0x7fc00000u) : small(x & 0xff, 8, fraction, bias);
}

/* The formats of the Open Compute Project: E4M3 has NaN alone, E5M2 infinity and NaN as a half has them. */
INLINE float from_e4m3(u32 x) { return (x & 0x7f) == 0x7f ? as_float(0x7fc00000u) : small(x & 0xff, 8, 3, 7); }

/* To nearest even; NaN stays NaN. */
INLINE u32 to_bf16(float x) {
  u32 bits = as_word(x);
  return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static u32 element_bits(u32 kind) {
  switch (kind) {
  case ELEMENT_F64: return 64;
  case ELEMENT_F32: case ELEMENT_XF32: case ELEMENT_I32: return 32;
  case ELEMENT_F16: case ELEMENT_BF16: return 16;
  case ELEMENT_I4: case ELEMENT_U4: return 4;
  }
  return 8;
}

/* The lane whose B is taken for `lane`. */
static u32 b_lane(u32 lane, u32 blgp) {
  switch (blgp) {
  case 0: return lane;
  case 1: return lane & 31;
  case 2: return (lane & 31) + 32;
  case 3: return (lane + 16) & 63;
  }
  return (lane & 15) + 16 * (blgp - 4);
}

/* One matrix from its registers: to[(block * k + x) * outer + index], 32 bits each. */
static void take(Word *to, const u32 *from, u32 kind, const Job *job, u32 outer, u32 blgp) {
  u32 bits = element_bits(kind), lanes = job->layout == LAYOUT_WMMA ? 16 : job->wave;
  u32 elements = job->layout == LAYOUT_WMMA ? job->k : outer * job->k * job->blocks / job->wave;
  u32 per_register = 32 / bits;
  u32 words[64], values[64];
  for (u32 e = 0; e < elements; e++) {
    if (e % per_register == 0) {
      const u32 *source = from + (u64)(e / per_register) * job->wave;
      for (u32 i = 0; i < lanes; i++) words[i] = source[blgp ? b_lane(i, blgp) : i];
    }
    u32 shift = bits * (e % per_register);
    switch (kind) {
    case ELEMENT_F32: case ELEMENT_I32: for (u32 i = 0; i < lanes; i++) values[i] = words[i]; break;
    case ELEMENT_XF32: for (u32 i = 0; i < lanes; i++) values[i] = words[i] & 0xffffe000u; break;
    case ELEMENT_F16: for (u32 i = 0; i < lanes; i++) values[i] = as_word(from_half(words[i] >> shift)); break;
    case ELEMENT_BF16: for (u32 i = 0; i < lanes; i++) values[i] = words[i] >> shift << 16; break;
    case ELEMENT_FP8: for (u32 i = 0; i < lanes; i++) values[i] = as_word(from_fp8(words[i] >> shift, 3, 8)); break;
    case ELEMENT_BF8: for (u32 i = 0; i < lanes; i++) values[i] = as_word(from_fp8(words[i] >> shift, 2, 16)); break;
    case ELEMENT_E4M3: for (u32 i = 0; i < lanes; i++) values[i] = as_word(from_e4m3(words[i] >> shift)); break;
    case ELEMENT_E5M2:
      for (u32 i = 0; i < lanes; i++) values[i] = as_word(from_half((words[i] >> shift & 255) << 8));
      break;
    case ELEMENT_I8: for (u32 i = 0; i < lanes; i++) values[i] = (u32)((int)(words[i] << (24 - shift)) >> 24); break;
    case ELEMENT_U8: for (u32 i = 0; i < lanes; i++) values[i] = words[i] >> shift & 255; break;
    case ELEMENT_I4: for (u32 i = 0; i < lanes; i++) values[i] = (u32)((int)(words[i] << (28 - shift)) >> 28); break;
    case ELEMENT_U4: for (u32 i = 0; i < lanes; i++) values[i] = words[i] >> shift & 15; break;
    }
    u32 block = 0, k = e;
    for (u32 first = 0; first < lanes; first += outer) {
      Word *row = to + (block * job->k + k) * outer;
      if (outer == 32) __builtin_memcpy(row, values + first, 128);
      else if (outer == 16) __builtin_memcpy(row, values + first, 64);
      else __builtin_memcpy(row, values + first, 16);
      if (++block == job->blocks) { block = 0; k += elements; }
    }
  }
}

/* A sparse A made dense: element e of a lane goes to number 4 * (e / 2) + its 2-bit index among the lane's elements. */
static void spread(u32 *to, const u32 *from, const u32 *index, u32 kind, const Job *job) {
  u32 bits = element_bits(kind), stored = job->m * job->k / 128, per_register = 32 / bits;
  u32 set = job->cbsz ? 0 : job->abid % (16 / stored) * 2 * stored;
  for (u32 i = 0; i < 2 * stored / per_register * 64; i++) to[i] = 0;
  for (u32 lane = 0; lane < 64; lane++)
    for (u32 e = 0; e < stored; e++) {
      u32 value = from[e / per_register * 64 + lane] >> bits * (e % per_register) & (0xffffffffu >> (32 - bits));
      u32 place = 4 * (e / 2) + (index[lane] >> (set + 2 * e) & 3), shift = bits * (place % per_register);
      u32 *word = to + place / per_register * 64 + lane;
      *word = (*word & ~((0xffffffffu >> (32 - bits)) << shift)) | value << shift;
    }
}

/* The same as take for f64: one element per lane. */
static void take_double(double *to, const u32 *from, const Job *job, u32 outer, int negate) {
  for (u32 lane = 0; lane < 64; lane++) {
    u32 g = lane / outer;
    u64 bits = ((u64)from[64 + lane] << 32 | from[lane]) ^ (u64)negate << 63;
    __builtin_memcpy(to + ((g % job->blocks) * job->k + g / job->blocks) * outer + lane % outer, &bits, 8);
  }
}

/* Where row i of an n x n block of C or D begins, in elements; for f64 (`height` 1) the place of the low halves.
   Constants for `n` and `height` leave shifts alone. */
INLINE u32 row_at(const Job *job, u32 n, u32 height, u32 block, u32 i) {
  if (job->layout == LAYOUT_WMMA12) return 32 * (i & 7) + 16 * (i >> 3);
  if (job->layout) return job->wave == 32 ? 32 * (i >> 1) + 16 * (i & 1) : 64 * (i >> 2) + 16 * (i & 3);
  u32 side = 64 / n, groups = n / height, beside = side > groups ? side / groups : 1;
  u32 lane = n * (block % beside + beside * (i / height % side));
  u32 element = block / beside * (n * n / 64) + i / height / side * height + i % height;
  return (height == 1 ? 2 : 1) * element * 64 + lane;
}

INLINE u32 row_of_doubles(const Job *job, u32 block, u32 i) {
  return job->n == 16 ? row_at(job, 16, 1, block, i) : row_at(job, 4, 1, block, i);
}

INLINE u32 place(const Job *job, u32 n, u32 block, u32 i) {
  return job->plain ? (block * n + i) * n : row_at(job, n, 4, block, i);
}

INLINE u32 a_block(const Job *job, u32 block) {
  return (job->cbsz ? ((block >> job->cbsz << job->cbsz) + job->abid) : block) & (job->blocks - 1);
}

/* `rows` rows of D at a time, each of `parts` vectors, with everything in registers. */
#define MULTIPLY(name, T, V, width, parts, rows, FIRST, STEP, LAST)                                                    \
  static void name(const Job *job, const T *a, const T *b, const T *c, T constant, T *d) {                             \
    const u32 m = width * parts, depth = job->k;                                                                       \
    for (u32 block = 0; block < job->blocks; block++) {                                                                \
      const T *left = a + a_block(job, block) * depth * m, *right = b + block * depth * (width * parts);               \
      for (u32 i = 0; i < m; i += rows) {                                                                              \
        V sum[rows][parts], old[rows][parts];                                                                          \
        _Pragma("unroll") for (u32 r = 0; r < rows; r++)                                                               \
          _Pragma("unroll") for (u32 p = 0; p < parts; p++) {                                                          \
            old[r][p] = c ? *(const V *)(c + place(job, m, block, i + r) + p * width) : constant - (V){};  \
            sum[r][p] = FIRST(old[r][p]);                                                                              \
          }                                                                                                            \
        for (u32 k = 0; k < depth; k++)                                                                                \
          _Pragma("unroll") for (u32 r = 0; r < rows; r++) {                                                           \
            V x = left[k * m + i + r] - (V){};                                                                         \
            _Pragma("unroll") for (u32 p = 0; p < parts; p++)                                                          \
              sum[r][p] = STEP(x, *(const V *)(right + k * (width * parts) + p * width), sum[r][p]);                   \
          }                                                                                                            \
        _Pragma("unroll") for (u32 r = 0; r < rows; r++)                                                               \
          _Pragma("unroll") for (u32 p = 0; p < parts; p++)                                                            \
            *(V *)(d + place(job, m, block, i + r) + p * width) = LAST(job, sum[r][p], old[r][p]);         \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define KEEP(x) (x)
#define DONE(job, sum, old) (sum)
#define FUSED(x, y, z) __builtin_elementwise_fma(x, y, z)
#define NOTHING(x) ((x) ^ (x))
#define PRODUCT(x, y, z) ((x) * (y) + (z))
#define ADD(job, sum, old) ((job)->clamp ? __builtin_elementwise_add_sat(sum, old) : (sum) + (old))

MULTIPLY(multiply_f32_32, float, Float8, 8, 4, 2, KEEP, FUSED, DONE)
MULTIPLY(multiply_f32_16, float, Float8, 8, 2, 4, KEEP, FUSED, DONE)
MULTIPLY(multiply_f32_4, float, Float4, 4, 1, 4, KEEP, FUSED, DONE)
MULTIPLY(multiply_i32_32, int, Int8, 8, 4, 2, NOTHING, PRODUCT, ADD)
MULTIPLY(multiply_i32_16, int, Int8, 8, 2, 4, NOTHING, PRODUCT, ADD)
MULTIPLY(multiply_i32_4, int, Int4, 4, 1, 4, NOTHING, PRODUCT, ADD)
MULTIPLY(multiply_f64_16, double, Double4, 4, 4, 2, KEEP, FUSED, DONE)
MULTIPLY(multiply_f64_4, double, Double4, 4, 1, 4, KEEP, FUSED, DONE)

static void matrix_f64(Job *job, u32 *d, const u32 *a, const u32 *b, const u32 *c, u64 constant, u32 negate) {
  double left[64], right[64], sums[256];
  take_double(left, a, job, job->m, negate & 1);
  take_double(right, b, job, job->n, negate >> 1 & 1);
  job->plain = 1;
  for (u32 block = 0; block < job->blocks; block++)
    for (u32 i = 0; i < job->m; i++) {
      u32 at = row_of_doubles(job, block, i);
      for (u32 j = 0; j < job->n; j++) {
        u64 bits = c ? (u64)c[at + 64 + j] << 32 | c[at + j] : constant;
        bits ^= (u64)(negate >> 2 & 1) << 63;
        __builtin_memcpy(&sums[(block * job->m + i) * job->n + j], &bits, 8);
      }
    }
  (job->n == 16 ? multiply_f64_16 : multiply_f64_4)(job, left, right, sums, 0, sums);
  for (u32 block = 0; block < job->blocks; block++)
    for (u32 i = 0; i < job->m; i++) {
      u32 at = row_of_doubles(job, block, i);
      for (u32 j = 0; j < job->n; j++) {
        u64 bits;
        __builtin_memcpy(&bits, &sums[(block * job->m + i) * job->n + j], 8);
        d[at + j] = (u32)bits;
        d[at + 64 + j] = (u32)(bits >> 32);
      }
    }
}

/* neg_lo and neg_hi of A or B: signs of the elements with even and with odd k. */
static void flip(Word *matrix, u32 even, u32 odd) {
  for (u32 k = 0; k < 16; k++)
    for (u32 i = 0; i < 16; i++) matrix[16 * k + i] ^= (k & 1 ? odd : even) << 31;
}

/* Where row i of D begins in registers of two halves each (WMMA of gfx12): rows 2 r and 2 r + 1 share a register. */
INLINE u32 packed_row_at(u32 i) { return 32 * ((i & 7) >> 1) + 16 * (i >> 3); }

/* WMMA with f16 or bf16 sums (bits of `high` choose the half of each register), or with modifiers of C. */
static void matrix_wmma(Job *job, u32 *d, const float *a, const float *b, const u32 *c, u64 constant, u32 kind,
                        u32 negate, u32 absolute, u32 high) {
  float sums[256];
  int packed = job->layout == LAYOUT_WMMA12 && kind != ELEMENT_F32;
  for (u32 i = 0; i < 16; i++) {
    u32 at = packed ? packed_row_at(i) : row_at(job, 16, 4, 0, i);
    u32 shift = packed ? 16 * (i & 1) : high ? 16 : 0;
    for (u32 j = 0; j < 16; j++) {
      u32 word = c ? c[at + j] >> (kind == ELEMENT_F32 ? 0 : shift) : (u32)constant;
      u32 bits = kind == ELEMENT_F32 ? word : kind == ELEMENT_F16 ? as_word(from_half(word)) : word << 16;
      if (absolute) bits &= 0x7fffffff;
      sums[16 * i + j] = as_float(bits ^ negate << 31);
    }
  }
  job->plain = 1;
  multiply_f32_16(job, a, b, sums, 0, sums);
  for (u32 i = 0; i < 16; i++) {
    u32 at = packed ? packed_row_at(i) : row_at(job, 16, 4, 0, i);
    u32 shift = packed ? 16 * (i & 1) : high ? 16 : 0;
    for (u32 j = 0; j < 16; j++) {
      float x = sums[16 * i + j];
      if (kind == ELEMENT_F32) d[at + j] = as_word(x);
      else d[at + j] = (d[at + j] & ~(0xffffu << shift)) | (kind == ELEMENT_F16 ? to_half(x) : to_bf16(x)) << shift;
    }
  }
}

/* D = A B + C. `c` is null where C is a constant, whose bits are `constant`.
   `shape` is a SHAPE_ word, `flags` a MATRIX_ word. */
void gpulab_matrix(u32 *d, const u32 *a, const u32 *b, const u32 *c, u64 constant, u64 shape, u32 flags) {
  Job job = {SHAPE_M(shape), SHAPE_N(shape), SHAPE_K(shape), SHAPE_BLOCKS(shape), SHAPE_WAVE(shape),
             SHAPE_LAYOUT(shape), 0, MATRIX_CBSZ(flags), MATRIX_ABID(flags), MATRIX_CLAMP(flags)};
  u32 dense[16 * 64];
  if (job.layout == LAYOUT_SMFMAC) { /* sparse: c has the indices, and C is D before */
    spread(dense, a, c, MATRIX_A(flags), &job);
    a = dense; c = d;
    job.layout = LAYOUT_MFMA; job.cbsz = job.abid = 0;
  }
  u32 kind_a = MATRIX_A(flags), kind_b = MATRIX_B(flags), kind_d = MATRIX_D(flags), negate = MATRIX_NEG_LO(flags);
  u32 negate_high = MATRIX_NEG_HI(flags);
  if (kind_d == ELEMENT_F64) {
    matrix_f64(&job, d, a, b, c, constant, negate);
    return;
  }
  Word left[4096] __attribute__((aligned(32))), right[4096] __attribute__((aligned(32)));
  take(left, a, kind_a, &job, job.m, 0);
  take(right, b, kind_b, &job, job.n, MATRIX_BLGP(flags));
  if (job.layout && kind_d != ELEMENT_I32) {
    if ((negate | negate_high) & 1) flip(left, negate & 1, negate_high & 1);
    if ((negate | negate_high) & 2) flip(right, negate >> 1 & 1, negate_high >> 1 & 1);
    if (kind_d != ELEMENT_F32 || (negate | negate_high) & 4) {
      matrix_wmma(&job, d, (const float *)left, (const float *)right, c, constant, kind_d, negate >> 2,
                  negate_high >> 2, MATRIX_HIGH(flags));
      return;
    }
  }
  u32 words = job.m * job.n * job.blocks; /* of C and of D, in all lanes */
  u32 copy[32 * 64];
  if (c && c != d && c < d + words && d < c + words) {
    for (u32 i = 0; i < words; i++) copy[i] = c[i];
    c = copy;
  }
  if (kind_d == ELEMENT_I32)
    (job.n == 32 ? multiply_i32_32 : job.n == 16 ? multiply_i32_16 : multiply_i32_4)(
      &job, (const int *)left, (const int *)right, (const int *)c, (int)constant, (int *)d);
  else
    (job.n == 32 ? multiply_f32_32 : job.n == 16 ? multiply_f32_16 : multiply_f32_4)(
      &job, (const float *)left, (const float *)right, (const float *)c, as_float((u32)constant), (float *)d);
}
