// What programs of several threads do together, once for the GPU and once for the host, where all threads of a block
// stand in an array: exchanges between the lanes of a wave, of a block through LDS, and atomics. Each takes what a
// thread has put into x (32 bits), y (64 bits), c (a condition) and i (an index), and leaves results in rx and ry.
// All threads of a block come to them together; only what is marked "active" may leave threads out, those without c.
#define BLOCK 128
#define BINS 16

#ifdef HOST
#define EXCHANGE(name) template <int a, int b, class S> static void name(S* s, int wave, u64* bins)
#define EACH for (int t = 0; t < BLOCK; ++t)
// The wave of thread t starts at START and has the lanes from there on.
#define START (t / wave * wave)
#define LANE (t % wave)
template <class T, class S, class F> static void lanes(S* s, T S::*from, T S::*to, F source) {
  T old[BLOCK];
  for (int t = 0; t < BLOCK; ++t) old[t] = s[t].*from;
  for (int t = 0; t < BLOCK; ++t) s[t].*to = old[source(t)];
}
#define SHUFFLE(name, source32, source64)                                     \
  EXCHANGE(name) {                                                            \
    lanes(s, &S::x, &S::rx, [=](int t) { int width = a ? a : wave; return source32; }); \
    lanes(s, &S::y, &S::ry, [=](int t) { int width = a ? a : wave; return source64; }); \
  }
SHUFFLE(shuffle_from, t / width * width + (int)(s[t].i % width), t / width * width + b % width)
SHUFFLE(shuffle_up, t % width < b ? t : t - b, t % width < b ? t : t - b)
SHUFFLE(shuffle_down, t % width + b >= width ? t : t + b, t % width + b >= width ? t : t + b)
SHUFFLE(shuffle_xor, t ^ (b % width), t ^ (b % width))
SHUFFLE(permuted, START + (int)(s[t].i % wave), START + (LANE ^ 1))
SHUFFLE(swizzled, START + ((LANE & ~31) | ((LANE & 31) ^ (b & 31))), t)
SHUFFLE(mirrored, t / 16 * 16 + 15 - t % 16, t)
SHUFFLE(quad, t / 4 * 4 + (b >> 2 * (t % 4) & 3), t)
EXCHANGE(row_shifted) {
  u32 old[BLOCK];
  EACH old[t] = s[t].x;
  EACH { s[t].rx = t % 16 < b ? 0 : old[t - b]; s[t].ry = s[t].y; }
}
EXCHANGE(votes) {
  EACH {
    u64 yes = 0;
    for (int l = 0; l < wave; ++l) yes |= (u64)s[START + l].c << l;
    u64 all = ~0ull >> (64 - wave);
    s[t].ry = yes;
    s[t].rx = (yes != 0) + 2 * (yes == all) + 4 * __builtin_popcountll(yes & ((1ull << LANE) - 1));
  }
}
EXCHANGE(active) {
  EACH {
    u64 yes = 0, odd = 0, same = 0;
    int first = -1;
    for (int l = 0; l < wave; ++l) {
      if (!s[START + l].c) continue;
      yes |= 1ull << l;
      odd |= (u64)(s[START + l].x & 1) << l;
      same |= (u64)(s[START + l].x % 4 == s[t].x % 4) << l;
      if (first < 0) first = START + l;
    }
    s[t].rx = s[t].c ? s[first].x : 7;
    s[t].ry = s[t].c ? odd * 3 ^ yes ^ same * 5 : 9;
  }
}
template <class T> static T combined(int how, T p, T q) {
  return how == 0 ? p + q : how == 1 ? (p < q ? p : q) : how == 2 ? (p > q ? p : q) : how == 3 ? p & q
         : how == 4 ? p | q : p ^ q;
}
EXCHANGE(reduced) {
  EACH {
    u64 mask = b ? 0 : ~0ull;
    if (b) for (int l = 0; l < wave; ++l) mask |= (u64)s[START + l].c << l;
    bool any = false;
    i32 x = 0;
    u64 y = 0;
    for (int l = 0; l < wave; ++l) {
      if (!(mask >> l & 1)) continue;
      x = any ? combined<i32>(a, x, (i32)s[START + l].x) : (i32)s[START + l].x;
      y = any ? combined<u64>(a, y, s[START + l].y) : s[START + l].y;
      any = true;
    }
    bool mine = !b || s[t].c;
    s[t].rx = mine ? (u32)x : 3;
    s[t].ry = mine ? y : 4;
  }
}
EXCHANGE(counted) {
  u32 yes = 0;
  EACH yes += s[t].c;
  EACH { s[t].rx = yes; s[t].ry = (u64)(yes == BLOCK) + 2 * (yes != 0); }
}
EXCHANGE(through_lds) {
  u32 x[BLOCK];
  u64 y[BLOCK];
  EACH { x[t] = s[t].x; y[(t * 5 + b) % BLOCK] = s[t].y; }
  EACH { s[t].rx = x[s[t].i % BLOCK]; s[t].ry = y[t]; }
}
EXCHANGE(lds_bins) {
  u32 x[BINS];
  u64 y[BINS];
  for (int k = 0; k < BINS; ++k) { x[k] = a == 3 ? ~0u : 5; y[k] = a == 3 ? ~0ull : 5; }
  EACH { if (s[t].c) { x[s[t].i % BINS] = combined<u32>(a, x[s[t].i % BINS], s[t].x); } }
  EACH y[t % BINS] = combined<u64>(a, y[t % BINS], s[t].y);
  EACH { s[t].rx = x[(t + b) % BINS]; s[t].ry = y[s[t].i % BINS]; }
}
EXCHANGE(own_atomics) {
  EACH {
    u32 cell = 77;
    u32 first = cell;
    cell = combined<u32>(a, cell, s[t].x);
    u32 second = cell;
    cell = s[t].i;
    u32 third = cell;
    if (cell == s[t].i) cell = (u32)s[t].y;
    s[t].rx = first ^ second * 3 ^ third * 5;
    s[t].ry = cell;
  }
}
EXCHANGE(global_bins) {
  EACH {
    if (s[t].c) bins[s[t].i % BINS] = combined<u64>(a, bins[s[t].i % BINS], s[t].y);
    u32* words = (u32*)(bins + BINS);
    words[s[t].i % BINS] = combined<u32>(a, words[s[t].i % BINS], s[t].x);
    s[t].rx = s[t].x;
    s[t].ry = s[t].y;
  }
}
#else
#define EXCHANGE(name) template <int a, int b, class S> FN void name(S& s, u64* bins)
#define WIDTH (a ? a : (int)warpSize)
EXCHANGE(shuffle_from) { s.rx = __shfl(s.x, (int)(s.i % (u32)WIDTH), WIDTH); s.ry = __shfl(s.y, b % WIDTH, WIDTH); }
EXCHANGE(shuffle_up) { s.rx = __shfl_up(s.x, b, WIDTH); s.ry = __shfl_up_sync(~0ull, s.y, b, WIDTH); }
EXCHANGE(shuffle_down) { s.rx = __shfl_down_sync(~0ull, s.x, b, WIDTH); s.ry = __shfl_down(s.y, b, WIDTH); }
EXCHANGE(shuffle_xor) { s.rx = __shfl_xor(s.x, b % WIDTH, WIDTH); s.ry = __shfl_xor(s.y, b % WIDTH, WIDTH); }
EXCHANGE(permuted) {
  s.rx = (u32)__hip_ds_bpermute((int)(s.i % (u32)warpSize) * 4, (int)s.x);
  int to = ((int)__lane_id() ^ 1) * 4;
  u32 low = (u32)__hip_ds_permute(to, (int)(u32)s.y), high = (u32)__hip_ds_permute(to, (int)(s.y >> 32));
  s.ry = (u64)high << 32 | low;
}
EXCHANGE(swizzled) { s.rx = (u32)__hip_ds_swizzle((int)s.x, (b & 31) << 10 | 31); s.ry = s.y; }
EXCHANGE(mirrored) { s.rx = (u32)__hip_move_dpp((int)s.x, 0x140, 0xf, 0xf, true); s.ry = s.y; }
EXCHANGE(quad) { s.rx = (u32)__hip_move_dpp((int)s.x, b & 255, 0xf, 0xf, true); s.ry = s.y; }
EXCHANGE(row_shifted) { s.rx = (u32)__hip_move_dpp((int)s.x, 0x110 + b, 0xf, 0xf, true); s.ry = s.y; }
EXCHANGE(votes) {
  s.ry = __ballot(s.c);
  s.rx = (u32)(__any(s.c) + 2 * __all(s.c)) + 4 * __popcll(s.ry & __lanemask_lt());
}
EXCHANGE(active) {
  s.rx = 7;
  s.ry = 9;
  if (s.c) {
    u64 yes = __activemask(), odd = __ballot(s.x & 1), same = __match_any(s.x % 4);
    s.rx = (u32)__builtin_amdgcn_readfirstlane((int)s.x);
    s.ry = odd * 3 ^ yes ^ same * 5;
  }
}
template <int how, class M, class T> FN T over(M mask, T value) {
  if constexpr (how == 0) return __reduce_add_sync(mask, value);
  else if constexpr (how == 1) return __reduce_min_sync(mask, value);
  else if constexpr (how == 2) return __reduce_max_sync(mask, value);
  else if constexpr (how == 3) return __reduce_and_sync(mask, value);
  else if constexpr (how == 4) return __reduce_or_sync(mask, value);
  else return __reduce_xor_sync(mask, value);
}
EXCHANGE(reduced) {
  s.rx = 3;
  s.ry = 4;
  if (!b) {
    s.rx = (u32)over<a>(~0ull, (i32)s.x);
    s.ry = over<a>(~0ull, s.y);
  } else if (s.c) {
    u64 mask = __activemask();
    s.rx = (u32)over<a>(mask, (i32)s.x);
    s.ry = over<a>(mask, s.y);
  }
}
EXCHANGE(counted) {
  s.rx = (u32)__syncthreads_count(s.c);
  s.ry = (u64)(__syncthreads_and(s.c) != 0) + 2 * (u64)(__syncthreads_or(s.c) != 0);
}
EXCHANGE(through_lds) {
  __shared__ u32 x[BLOCK];
  __shared__ u64 y[BLOCK];
  x[threadIdx.x] = s.x;
  y[(threadIdx.x * 5 + b) % BLOCK] = s.y;
  __syncthreads();
  s.rx = x[s.i % BLOCK];
  s.ry = y[threadIdx.x];
  __syncthreads();
}
template <int how, class T> FN void add_to(T* cell, T value) {
  if constexpr (how == 0) atomicAdd(cell, value);
  else if constexpr (how == 1) atomicMin(cell, value);
  else if constexpr (how == 2) atomicMax(cell, value);
  else if constexpr (how == 3) atomicAnd(cell, value);
  else if constexpr (how == 4) atomicOr(cell, value);
  else atomicXor(cell, value);
}
EXCHANGE(lds_bins) {
  __shared__ u32 x[BINS];
  __shared__ u64 y[BINS];
  if (threadIdx.x < BINS) { x[threadIdx.x] = a == 3 ? ~0u : 5; y[threadIdx.x] = a == 3 ? ~0ull : 5; }
  __syncthreads();
  if (s.c) add_to<a>(&x[s.i % BINS], s.x);
  add_to<a>(&y[threadIdx.x % BINS], s.y);
  __syncthreads();
  s.rx = x[(threadIdx.x + b) % BINS];
  s.ry = y[s.i % BINS];
  __syncthreads();
}
template <int how> FN u32 fetch(u32* cell, u32 value) {
  if constexpr (how == 0) return atomicAdd(cell, value);
  else if constexpr (how == 1) return atomicMin(cell, value);
  else if constexpr (how == 2) return atomicMax(cell, value);
  else if constexpr (how == 3) return atomicAnd(cell, value);
  else if constexpr (how == 4) return atomicOr(cell, value);
  else return atomicXor(cell, value);
}
EXCHANGE(own_atomics) {
  __shared__ u32 cells[BLOCK];
  u32* cell = &cells[threadIdx.x];
  *cell = 77;
  u32 first = fetch<a>(cell, s.x), second = atomicExch(cell, s.i), third = atomicCAS(cell, s.i, (u32)s.y);
  s.rx = first ^ second * 3 ^ third * 5;
  s.ry = *cell;
}
EXCHANGE(global_bins) {
  if (s.c) add_to<a>(&bins[s.i % BINS], s.y);
  add_to<a>(&((u32*)(bins + BINS))[s.i % BINS], s.x);
  s.rx = s.x;
  s.ry = s.y;
}
#endif
FN i32 exact(i32 p, i32 q, i32 r) {  // the same however it is rounded, contracted or put in another order
  return (i32)((f32)(p & 255) * (f32)(q & 255) + (f32)(r & 4095) - (f32)(p & 15) * 3.0f);
}
FN i64 exact64(i64 p, i64 q) { return (i64)((f64)(i32)p * 2.0 + (f64)(i16)q * (f64)(i32)p + 5.0); }
