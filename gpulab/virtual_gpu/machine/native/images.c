/* Image instructions: `gpulab_image` reads and writes the texels of an image for the lanes of a wave.

   A `Picture` is what a resource descriptor (T#) says, a `Sampling` what a sampler (S#) says; isa/images.py has the
   layouts, their sources and the rules of addressing and filtering, which reference/images.py follows too. All
   images lie in memory row by row. The memory of an image is checked as a whole before its first texel is used.

   An observer is told of each tap (texel of a filter) as an access of its own, whose number says the texel's size. */

#include "support.h"

#pragma STDC FP_CONTRACT OFF

enum { NOTHING = 0, UNORM = 1, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT };
enum { WRAP, MIRROR, CLAMP_TEXEL, MIRROR_ONCE_TEXEL, CLAMP_BORDER = 6 };
enum { TYPE_1D = 8, TYPE_2D, TYPE_3D, TYPE_CUBE, TYPE_1D_ARRAY, TYPE_2D_ARRAY };

typedef struct {
  u64 base, row, slice, bytes;  /* row, slice: bytes from one to the next; bytes: of the whole image */
  u64 shift;                    /* from a device address to where that is in this process */
  u32 width, height, depth;     /* depth: or layers */
  u32 bits, channels, kind, size; /* size: bytes of a texel */
  u32 select[4];
  u32 layered;
} Picture;

typedef struct { u32 clamp[3], unnormalised, linear, linear_z, border; } Sampling;

/* A texel's channels as bits: of floats or, in formats of integers, of those. */
typedef struct { u32 channel[4]; } Texel;

static inline u32 field(const u32 *words, u32 first, u32 count) {
  u64 two = words[first / 32] | (first % 32 + count > 32 ? (u64)words[first / 32 + 1] << 32 : 0);
  return (u32)(two >> first % 32 & ((1ull << count) - 1));
}

/* bits, channels and kind of a format; 0: not one of those that are executed. Numbers are those of gfx10; from gfx11
   on those behind the formats of 10 and 11 bits are 14 less. */
static int of_format(Picture *v, u32 format, u32 set) {
  static const struct { u8 first, bits, channels, kinds; } GROUPS[] = {
    {1, 8, 1, 6}, {7, 16, 1, 7}, {14, 8, 2, 6}, {20, 32, 1, 3}, {23, 16, 2, 7}, {56, 8, 4, 6}, {62, 32, 2, 3},
    {65, 16, 4, 7}, {72, 32, 3, 3}, {75, 32, 4, 3},
  };
  if (set != SET_GFX10) {
    if (format >= 30 && format < 42) return 0;
    if (format >= 42) format += 14;
  }
  for (u32 i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
    u32 at = format - GROUPS[i].first;
    if (at >= GROUPS[i].kinds) continue;
    v->bits = GROUPS[i].bits;
    v->channels = GROUPS[i].channels;
    v->kind = at + (GROUPS[i].kinds == 3 ? UINT : UNORM);
    v->size = v->bits * v->channels / 8;
    return 1;
  }
  return 0;
}

static int of_resource(Picture *v, const u32 *t, u32 set, u32 shape) {
  u32 last = set == SET_GFX12, type = field(t, 124, 4);
  u32 formats = last ? 17 : 20, high = last ? 14 : 12;
  *v = (Picture){.base = ((u64)field(t, 32, 8) << 32 | t[0]) << 8};
  if (!of_format(v, field(t, 32 + formats, set == SET_GFX10 ? 9 : 8), set)) return 0;
  if (v->bits * v->channels == 96) return 0; /* three channels: of buffers only */
  v->width = (field(t, 62, 2) | field(t, 64, high) << 2) + 1;
  v->height = field(t, 78, last ? 16 : 14) + 1;
  v->depth = field(t, 128, last ? 14 : 13) + 1;
  for (u32 i = 0; i < 4; i++) v->select[i] = field(t, 96 + 3 * i, 3);
  if (field(t, 116, 5)) return 0; /* a tiled image: none that HIP makes here */
  static const u8 TYPES[] = {TYPE_1D, TYPE_2D, TYPE_3D, TYPE_1D_ARRAY, TYPE_2D_ARRAY};
  if (type != TYPES[shape]) return 0;
  v->layered = type == TYPE_1D_ARRAY || type == TYPE_2D_ARRAY;
  if (type == TYPE_1D || type == TYPE_1D_ARRAY) v->height = 1;
  u32 flat = type == TYPE_1D || type == TYPE_2D;
  u32 pitch = flat ? field(t, 128, last ? 16 : 14) : 0; /* elements less one; 0: the least */
  v->row = pitch ? (u64)(pitch + 1) * v->size : ((u64)v->width * v->size + 255) & ~255ull;
  if (flat) v->depth = 1;
  v->slice = v->row * v->height;
  u32 start = v->layered ? field(t, 144, 13) : 0; /* the first layer */
  if (start >= v->depth) return 0;
  v->base += v->slice * start;
  v->depth -= start;
  v->bytes = v->slice * (v->depth - 1) + v->row * (v->height - 1) + (u64)v->width * v->size;
  return 1;
}

static void of_sampler(Sampling *s, const u32 *words, u32 unorm) {
  u32 z = field(words, 88, 2);
  for (u32 i = 0; i < 3; i++) s->clamp[i] = field(words, 3 * i, 3);
  s->unnormalised = unorm | field(words, 15, 1);
  s->linear = field(words, 84, 2) & 1;
  s->linear_z = z ? z == 2 : s->linear;
  s->border = field(words, 126, 2);
}

/* ---------------------------------------------------------------------------------------------------------- texels */

static inline u32 as_channel(u32 raw, u32 bits, u32 kind) {
  i32 sign = (i32)(raw << (32 - bits)) >> (32 - bits);
  switch (kind) {
  case UNORM: return as_word((float)raw / (float)((1u << bits) - 1));
  case SNORM: {
    float x = (float)sign / (float)((1u << (bits - 1)) - 1);
    return as_word(x < -1.0f ? -1.0f : x);
  }
  case USCALED: return as_word((float)raw);
  case SSCALED: return as_word((float)sign);
  case SINT: return (u32)sign;
  case FLOAT: return bits == 16 ? as_word(from_half(raw)) : raw;
  default: return raw;
  }
}

static inline int of_integers(const Picture *v) { return v->kind == UINT || v->kind == SINT; }

static inline u32 selected(const Picture *v, const Texel *t, u32 i) {
  u32 from = v->select[i];
  return from >= 4 ? t->channel[from - 4] : from == 1 ? of_integers(v) ? 1 : 0x3f800000u : 0;
}

/* The four channels as a shader sees them. */
static inline Texel fetched(const Picture *v, u64 address) {
  address += v->shift;
  Texel raw = {{0, 0, 0, of_integers(v) ? 1 : 0x3f800000u}}, result;
  for (u32 i = 0; i < v->channels; i++) {
    u32 bits = v->bits == 8 ? ((u8 *)address)[i] : v->bits == 16 ? ((Loose16 *)address)[i] : ((Loose32 *)address)[i];
    raw.channel[i] = as_channel(bits, v->bits, v->kind);
  }
  for (u32 i = 0; i < 4; i++) result.channel[i] = selected(v, &raw, i);
  return result;
}

static inline u32 rounded_within(float x, float low, float high, float scale) {
  if (!(x == x)) return 0;
  x = (x < low ? low : x > high ? high : x) * scale;
  float whole = __builtin_rintf(x);
  return (u32)(i32)whole;
}

/* A channel as the format stores it. */
static inline u32 from_channel(u32 value, u32 bits, u32 kind) {
  u32 most = bits == 32 ? ~0u : (1u << bits) - 1, half = most >> 1;
  switch (kind) {
  case UNORM: return rounded_within(as_float(value), 0.0f, 1.0f, (float)most);
  case SNORM: return rounded_within(as_float(value), -1.0f, 1.0f, (float)half) & most;
  case USCALED: return rounded_within(as_float(value), 0.0f, (float)most, 1.0f);
  case SSCALED: return rounded_within(as_float(value), -(float)half - 1.0f, (float)half, 1.0f) & most;
  case UINT: return value > most ? most : value;
  case SINT: {
    i32 x = (i32)value, top = (i32)half;
    return (u32)(x > top ? top : x < -top - 1 ? -top - 1 : x) & most;
  }
  case FLOAT: return bits == 16 ? to_half(as_float(value)) : value;
  default: return 0;
  }
}

/* -------------------------------------------------------------------------------------------------------- sampling */

/* The texel that stands for one outside; -1: the border's colour. */
static inline i64 addressed(i64 i, i64 size, u32 mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
  case WRAP: { i64 at = i % size; return at < 0 ? at + size : at; }
  case MIRROR: {
    i64 at = i % (2 * size);
    if (at < 0) at += 2 * size;
    return at < size ? at : 2 * size - 1 - at;
  }
  case CLAMP_TEXEL: return i < 0 ? 0 : size - 1;
  case MIRROR_ONCE_TEXEL: { i64 at = i < 0 ? -1 - i : i; return at < size ? at : size - 1; }
  default: return -1;
  }
}

/* A coordinate in texels, as texel number and weight of the next one in 256ths. */
static inline i64 split(float x, int linear, u32 *weight) {
  double most = 1073741824.0, place = x == x ? (double)x : 0.0;
  place = place > most ? most : place < -most ? -most : place;
  if (linear) {
    i64 fixed = (i64)__builtin_floor(place * 256.0 - 128.0 + 0.5);
    *weight = (u32)(fixed & 255);
    return fixed >> 8;
  }
  *weight = 0;
  return (i64)__builtin_floor(place);
}

typedef struct {
  i64 at[3][2];  /* texels in each direction; -1: border */
  u32 weight[3]; /* of the second, in 256ths */
  u32 taps[3];
} Footprint;

static inline u64 place_of(const Picture *v, i64 x, i64 y, i64 z) {
  return v->base + (u64)z * v->slice + (u64)y * v->row + (u64)x * v->size;
}

static void footprint(Footprint *f, const Picture *v, const Sampling *s, const float *coordinate, u32 dimensions,
                      int gather) {
  u32 sizes[3] = {v->width, v->height, v->depth};
  for (u32 d = 0; d < 3; d++) { f->at[d][0] = f->at[d][1] = 0; f->weight[d] = 0; f->taps[d] = 1; }
  for (u32 d = 0; d < dimensions; d++) {
    float x = s->unnormalised ? coordinate[d] : coordinate[d] * (float)sizes[d];
    int linear = (d == 2 ? s->linear_z : s->linear) && !of_integers(v);
    linear |= gather;
    i64 first = split(x, linear, &f->weight[d]);
    f->taps[d] = linear ? 2 : 1;
    f->at[d][0] = addressed(first, sizes[d], s->clamp[d]);
    if (linear) f->at[d][1] = addressed(first + 1, sizes[d], s->clamp[d]);
  }
  if (v->layered) {
    float layer = __builtin_rintf(coordinate[dimensions]), last = (float)(v->depth - 1);
    f->at[2][0] = layer > 0.0f ? layer < last ? (i64)layer : (i64)v->depth - 1 : 0;
  }
}

static inline Texel border_of(const Picture *v, const Sampling *s) {
  u32 one = of_integers(v) ? 1 : 0x3f800000u, white = s->border == 2 ? one : 0;
  Texel raw = {{white, white, white, s->border ? one : 0}}, result;
  for (u32 i = 0; i < 4; i++) result.channel[i] = selected(v, &raw, i);
  return result;
}

/* ------------------------------------------------------------------------------------------------------- observers */

/* What an observer gets of each tap: low and high halves of the lanes' addresses, of a store also its words and the
   lanes that it changed (translate/lane_access.py, row_bytes). */
typedef struct { u32 row[7 * 64] __attribute__((aligned(64))); u64 lanes; } Tap;

typedef struct { Tap tap[MOST_TAPS]; u32 count, size; } Taps;

static inline void tapped(Taps *taps, u32 tap, u32 lane, u64 address, u32 wave_size) {
  Tap *t = taps->tap + tap;
  while (taps->count <= tap) taps->tap[taps->count++].lanes = 0;
  t->row[lane] = (u32)address;
  t->row[wave_size + lane] = (u32)(address >> 32);
  t->lanes |= 1ull << lane;
}

static int tell(Wave *wave, const Taps *taps, u32 first, u32 most) {
  u32 class = (u32)__builtin_ctz(taps->size), size = launch_of(wave)->wave_size;
  if (taps->size & (taps->size - 1)) class = 3; /* three channels of a buffer: by their first half */
  for (u32 i = 0; i < taps->count; i++) {
    const Tap *t = taps->tap + i;
    if (!t->lanes) continue;
    if (((Observer)wave->observer)(wave, first + class * most + i, 0, t->lanes, t->row, t->row + size)) return 1;
    if (!wave->observer) return 0;
  }
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- the lanes */

typedef struct {
  Wave *wave;
  u32 *vgprs;
  u64 what, address[2]; /* registers of the address, ten bits each, six in a word */
  u32 instruction, first, size;
} Call;

static inline u32 register_of(const Call *c, u32 n) { return (u32)(c->address[n / 6] >> 10 * (n % 6)) & 1023; }
static inline u32 given(const Call *c, u32 n, u32 lane) { return c->vgprs[register_of(c, n) * c->size + lane]; }

/* Coordinate n: of samples the bits of a float, and after `skip` registers of other things. */
static inline u32 coordinate_of(const Call *c, u32 skip, u32 n, u32 lane, int is_float) {
  if (!IMAGE_HALVES(c->what)) return given(c, skip + n, lane);
  u32 half = given(c, skip + n / 2, lane) >> 16 * (n & 1) & 0xffff;
  return is_float ? as_word(from_half(half)) : half;
}

static inline u32 *data_of(const Call *c, u32 n, u32 lane) {
  return c->vgprs + (u64)((u32)IMAGE_DATA(c->what) + n) * c->size + lane;
}

/* Channel n of a lane's data: a register, or half of one. */
static inline void put_channel(const Call *c, u32 n, u32 lane, u32 value, int integers) {
  if (!IMAGE_HALF_DATA(c->what)) { *data_of(c, n, lane) = value; return; }
  u32 *to = data_of(c, n / 2, lane), shift = 16 * (n & 1);
  u32 half = integers ? value & 0xffff : to_half(as_float(value));
  *to = (*to & ~(0xffffu << shift)) | half << shift;
}

static inline u32 channel_given(const Call *c, u32 n, u32 lane, u32 kind) {
  if (!IMAGE_HALF_DATA(c->what)) return *data_of(c, n, lane);
  u32 half = *data_of(c, n / 2, lane) >> 16 * (n & 1) & 0xffff;
  return kind == UINT ? half : kind == SINT ? (u32)((i32)(half << 16) >> 16) : as_word(from_half(half));
}

static void put(const Call *c, u32 lane, const Texel *t, int integers) {
  u32 mask = (u32)IMAGE_DMASK(c->what), n = 0;
  for (u32 i = 0; i < 4; i++)
    if (mask >> i & 1) put_channel(c, n++, lane, t->channel[i], integers);
}

static inline u32 taps_of(u32 action, u32 shape) {
  static const u8 MOST[] = {2, 4, 8, 2, 4, 1};
  return action == IMAGE_SAMPLE || action == IMAGE_GATHER ? MOST[shape] : 1;
}

static inline u32 directions_of(u32 shape) {
  return shape == SHAPE_3D ? 3 : shape == SHAPE_2D || shape == SHAPE_2D_ARRAY ? 2 : 1;
}

static void sample_lanes(const Call *c, const Picture *v, const Sampling *s, u64 exec, Taps *taps) {
  u32 shape = (u32)IMAGE_SHAPE(c->what), directions = directions_of(shape), level = (u32)IMAGE_LEVEL(c->what);
  u32 gather = IMAGE_ACTION(c->what) == IMAGE_GATHER, layered = v->layered, mask = (u32)IMAGE_DMASK(c->what);
  u32 slopes = IMAGE_HALF_SLOPES(c->what) ? (directions + 1) / 2 : directions;
  u32 skip = level == LEVEL_BIAS ? 1 : level == LEVEL_DERIVATIVES ? 2 * slopes : 0;
  Texel border = border_of(v, s);
  for (u64 rest = exec; rest; rest &= rest - 1) {
    u32 lane = (u32)__builtin_ctzll(rest);
    float coordinate[4];
    for (u32 d = 0; d < directions + layered; d++) coordinate[d] = as_float(coordinate_of(c, skip, d, lane, 1));
    Footprint f;
    footprint(&f, v, s, coordinate, directions, (int)gather);
    Texel found[MOST_TAPS], sum;
    float weights[MOST_TAPS];
    u32 n = 0;
    for (u32 z = 0; z < f.taps[2]; z++)
      for (u32 y = 0; y < f.taps[1]; y++)
        for (u32 x = 0; x < f.taps[0]; x++, n++) {
          i64 i = f.at[0][x], j = f.at[1][y], k = f.at[2][z];
          int outside = i < 0 || j < 0 || k < 0;
          u64 address = outside ? 0 : place_of(v, i, j, k);
          found[n] = outside ? border : fetched(v, address);
          u32 wx = f.taps[0] == 1 ? 256 : x ? f.weight[0] : 256 - f.weight[0];
          u32 wy = f.taps[1] == 1 ? 256 : y ? f.weight[1] : 256 - f.weight[1];
          u32 wz = f.taps[2] == 1 ? 256 : z ? f.weight[2] : 256 - f.weight[2];
          weights[n] = (float)wx * (float)wy * (float)wz * 0x1p-24f;
          if (taps && !outside) tapped(taps, n, lane, address, c->size);
        }
    if (gather) { /* the four texels against the clock, from the lower left */
      u32 channel = (u32)__builtin_ctz(mask ? mask : 1);
      static const u8 ORDER[] = {2, 3, 1, 0};
      for (u32 i = 0; i < 4; i++) put_channel(c, i, lane, found[ORDER[i]].channel[channel], of_integers(v));
      continue;
    }
    if (n == 1) sum = found[0];
    else
      for (u32 i = 0; i < 4; i++) {
        float total = as_float(found[0].channel[i]) * weights[0];
        for (u32 t = 1; t < n; t++) total = total + as_float(found[t].channel[i]) * weights[t];
        sum.channel[i] = as_word(total);
      }
    put(c, lane, &sum, of_integers(v));
  }
}

/* The address of the texel that a load or store names; 0 where there is none. */
static inline u64 texel_of(const Call *c, const Picture *v, u32 lane) {
  u32 shape = (u32)IMAGE_SHAPE(c->what), directions = directions_of(shape), n = directions + v->layered;
  u32 at[3] = {coordinate_of(c, 0, 0, lane, 0), 0, 0};
  for (u32 d = 1; d < directions; d++) at[d] = coordinate_of(c, 0, d, lane, 0);
  if (v->layered) at[2] = coordinate_of(c, 0, directions, lane, 0);
  if (IMAGE_MIP(c->what) && coordinate_of(c, 0, n, lane, 0)) return 0;
  return at[0] < v->width && at[1] < v->height && at[2] < v->depth ? place_of(v, at[0], at[1], at[2]) : 0;
}

/* The same in a buffer of texels; rules of isa/buffers.py, a texel being one element. */
static inline u64 element_of(const Call *c, const u32 *t, u32 size, u64 offset, u32 lane) {
  u32 n = 0, stride = t[1] >> 16 & 0x3fff, select = t[3] >> 28 & 3;
  u64 index = IMAGE_INDEX(c->what) ? given(c, n++, lane) : 0, within = IMAGE_OFFSET(c->what) ? given(c, n, lane) : 0;
  u64 scalar = offset >> 32, place;
  within += (u32)offset;
  place = within + index * stride;
  u32 in_stride = !stride || within + size <= stride;
  u32 inside = select == 0 ? index < t[2] && in_stride : select == 1 ? index < t[2]
             : select == 2 ? t[2] != 0 : place + size <= t[2];
  return inside ? ((u64)(t[1] & 0xffff) << 32 | t[0]) + scalar + place : 0;
}

static int move_lanes(const Call *c, Picture *v, const u32 *t, u64 offset, u64 exec, Taps *taps) {
  u32 shape = (u32)IMAGE_SHAPE(c->what), stores = IMAGE_ACTION(c->what) == IMAGE_STORE;
  u32 mask = (u32)IMAGE_DMASK(c->what), set = (u32)IMAGE_SET(c->what);
  const Texel none = {};
  for (u64 rest = exec; rest; rest &= rest - 1) {
    u32 lane = (u32)__builtin_ctzll(rest);
    u64 address = shape == SHAPE_BUFFER ? element_of(c, t, v->size, offset, lane) : texel_of(c, v, lane);
    if (address && shape == SHAPE_BUFFER) {
      u32 kind = reaches(launch_of(c->wave), address, v->size, stores ? WRITE : READ, &v->shift);
      if (kind) return fault(c->wave, kind, c->instruction, lane, address, v->size, stores ? WRITE : READ);
    }
    if (!stores) {
      Texel found = address ? fetched(v, address) : none;
      put(c, lane, &found, of_integers(v));
      if (address && taps) tapped(taps, 0, lane, address, c->size);
      continue;
    }
    if (!address) continue;
    u32 channel[4], n = 0;
    for (u32 i = 0; i < 4; i++) channel[i] = mask >> i & 1 ? channel_given(c, n++, lane, v->kind) : 0;
    if (set == SET_GFX12)
      for (u32 i = 0; i < 4; i++) if (!(mask >> i & 1)) channel[i] = channel_given(c, 0, lane, v->kind);
    u32 changed = 0, word[4] = {};
    u64 home = address + v->shift;
    for (u32 i = 0; i < v->channels; i++) {
      u32 from = 0; /* the channel that is read from here */
      while (from < 3 && v->select[from] != 4 + i) from++;
      u32 bits = from_channel(channel[from], v->bits, v->kind);
      word[i * v->bits / 32] |= bits << i * v->bits % 32;
      if (v->bits == 8) { changed |= ((u8 *)home)[i] != bits; ((u8 *)home)[i] = (u8)bits; }
      else if (v->bits == 16) { changed |= ((Loose16 *)home)[i] != bits; ((Loose16 *)home)[i] = (u16)bits; }
      else { changed |= ((Loose32 *)home)[i] != bits; ((Loose32 *)home)[i] = bits; }
    }
    if (!taps) continue;
    tapped(taps, 0, lane, address, c->size);
    for (u32 i = 0; i < 4; i++) taps->tap[0].row[(2 + i) * c->size + lane] = word[i];
    u8 *bit = (u8 *)(taps->tap[0].row + 6 * c->size) + lane / 8;
    *bit = (u8)((*bit & ~(1u << lane % 8)) | changed << lane % 8);
  }
  return 0;
}

static void size_lanes(const Call *c, const Picture *v, u64 exec) {
  for (u64 rest = exec; rest; rest &= rest - 1) {
    u32 lane = (u32)__builtin_ctzll(rest);
    Texel t = {{v->width, v->height, v->depth, 1}};
    put(c, lane, &t, 1);
  }
}

/* ids: the instruction, and << 32 the number of its first access. first, second: registers of the address, ten bits
   each. offset: a buffer's immediate offset, and << 32 its scalar one. Returns 1 after a fault. */
int gpulab_image(Wave *wave, u32 *vgprs, u64 ids, u64 what, u64 first, u64 second, u64 offset, u64 exec) {
  Call c = {wave, vgprs, what, {first, second}, (u32)ids, (u32)(ids >> 32), launch_of(wave)->wave_size};
  const u32 *t = wave->scalars + IMAGE_RESOURCE(what), *s = wave->scalars + IMAGE_SAMPLER(what);
  u32 shape = (u32)IMAGE_SHAPE(what), action = (u32)IMAGE_ACTION(what), set = (u32)IMAGE_SET(what);
  u32 access = action == IMAGE_STORE ? WRITE : READ;
  Picture view;
  Taps taps;
  if (!exec) return 0;
  u32 lane = (u32)__builtin_ctzll(exec);
  if (shape == SHAPE_BUFFER) {
    view = (Picture){};
    u32 good = of_format(&view, field(t, 108, set == SET_GFX10 ? 7 : 6), set) && !(t[1] >> 30) && !(t[3] & 0xc0800000);
    if (!good) return fault(wave, FAULT_IMAGE_DESCRIPTOR, c.instruction, lane, 0, 0, ~0u);
    for (u32 i = 0; i < 4; i++) view.select[i] = field(t, 96 + 3 * i, 3);
  } else {
    if (!of_resource(&view, t, set, shape))
      return fault(wave, FAULT_IMAGE_DESCRIPTOR, c.instruction, lane, 0, 0, ~0u);
    if (action != IMAGE_SIZE) {
      u32 kind = reaches(launch_of(wave), view.base, view.bytes, access, &view.shift);
      if (kind) return fault(wave, kind, c.instruction, lane, view.base, (u32)view.bytes, access);
    }
  }
  Taps *kept = wave->observer ? &taps : 0;
  taps.count = 0;
  taps.size = view.size;
  if (action == IMAGE_SIZE) { size_lanes(&c, &view, exec); return 0; }
  if (action == IMAGE_SAMPLE || action == IMAGE_GATHER) {
    Sampling sampling;
    of_sampler(&sampling, s, (u32)IMAGE_UNORM(what));
    for (u32 d = 0; d < directions_of(shape); d++)
      if (sampling.clamp[d] == 4 || sampling.clamp[d] == 5 || sampling.clamp[d] == 7 || sampling.border == 3)
        return fault(wave, FAULT_IMAGE_DESCRIPTOR, c.instruction, lane, 0, 0, ~0u);
    sample_lanes(&c, &view, &sampling, exec, kept);
  } else if (move_lanes(&c, &view, t, offset, exec, kept)) return 1;
  return kept ? tell(wave, kept, c.first, taps_of(action, shape)) : 0;
}
