// The C++ library beside HIP: names that both have, what hip_runtime.h brings in, the program's own operators.
// OUT: all 1 any 1 match ffffffff
// OUT: regex 1
// OUT: stream 3 1
// OUT: complex 5 sorted 1
// OUT: own 1 2 3 4
// OUT: scaled 9 9 9 9
// OUT: negated 7 sum 203
// OUT: theirs 10 12 14 16
// OUT: device 1 2 9 9 26 16
#include <hip/hip_runtime.h>
#include <bits/stdc++.h>
using namespace std;

__host__ __device__ float4 operator*(const float4& a, const float4& b) { return make_float4(1, 2, 3, 4); }
__host__ __device__ inline float4 operator*(float4 a, float s) { return make_float4(s, s, s, s); }
__host__ __device__ inline float3 operator-(float3 a) { return make_float3(7, 7, 7); }
__host__ __device__ inline float2 operator+(float2 a, float2 b) {
  a += b;
  a.x += 200;
  return a;
}
ostream& operator<<(ostream& out, const float4& v) { return out << v.x << ' ' << v.y << ' ' << v.z << ' ' << v.w; }

__global__ void votes(unsigned long long* out) {
  out[0] = __all(threadIdx.x < 32);
  out[1] = ::__any(threadIdx.x == 3);
  out[2] = __match_any(5);
}

__global__ void vectors(float4* p, int* q) {
  p[0] = p[0] * p[0];
  p[1] = p[1] * 9.0f;
  int4 i = make_int4(1, 2, 3, 4);
  i = (i << 2) % 5 | 8;
  i ^= 1;
  i <<= make_int4(1, 1, 1, 1);
  q[0] = i.x;
  q[1] = i.w;
}

int main() {
  unsigned long long* votes_of;
  if (hipMallocManaged(&votes_of, 64) != hipSuccess) return 1;
  votes<<<1, 32>>>(votes_of);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  printf("all %d any %d match %llx\n", int(votes_of[0]), int(votes_of[1]), votes_of[2]);
  printf("regex %d\n", int(regex_match("gfx942", regex("gfx[0-9]+"))));

  std::stringstream stream("3 4");
  int first;
  stream >> first;
  printf("stream %d %d\n", first, int(std::string("ab") < std::string("ac")));
  std::complex<double> number(3, 4);
  int numbers[] = {3, 1, 2};
  std::sort(numbers, numbers + 3);
  printf("complex %g sorted %d\n", std::abs(number), numbers[0]);

  float4 a = make_float4(5, 6, 7, 8);
  cout << "own " << a * a << "\n" << "scaled " << a * 9.0f << "\n";
  float2 sum = make_float2(1, 1) + make_float2(2, 2);
  cout << "negated " << (-make_float3(1, 1, 1)).y << " sum " << sum.x << "\n";
  cout << "theirs " << a + a << "\n";
  constexpr int2 known = make_int2(1, 2) + make_int2(3, 4) * 2;
  static_assert(known.y == 10);

  float4* p;
  int* q;
  if (hipMallocManaged(&p, 32) != hipSuccess || hipMallocManaged(&q, 8) != hipSuccess) return 3;
  p[0] = p[1] = a;
  vectors<<<1, 1>>>(p, q);
  if (hipDeviceSynchronize() != hipSuccess) return 4;
  cout << "device " << p[0].x << " " << p[0].y << " " << p[1].x << " " << p[1].w << " " << q[0] << " " << q[1] << "\n";
}
