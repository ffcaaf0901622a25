// Host conversions to bfloat16 round once, to nearest even; half and bfloat16 become each other; a half goes through
// `...` as its bits, as with ROCm's layout.
// OUT: 3f80 3f80 3f82 3f81 7f80 ff80 0000 0001 7fc0
// OUT: 4049 4000 1.5
// OUT: bits 3e00
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

static unsigned bits(__hip_bfloat16 x) {
  unsigned short word;
  memcpy(&word, &x, 2);
  return word;
}

__global__ void nothing() {}

int main() {
  volatile float tie_down = 0x1.01p0f, tie_up = 0x1.03p0f;
  volatile double nearly = 0x1.01p0 - 0x1p-50, just_above = 0x1.01p0 + 0x1p-50, huge = 3.4e38 * 1e300, low = -1e300;
  volatile double tiny = 0x1p-135, smallest = 0x1.8p-134;
  volatile float nan = __builtin_nanf("");
  printf("%04x %04x %04x %04x %04x %04x %04x %04x %04x\n", bits(float(tie_down)), bits(double(nearly)),
         bits(float(tie_up)), bits(double(just_above)), bits(double(huge)), bits(double(low)), bits(double(tiny)),
         bits(double(smallest)), bits(float(nan)));
  volatile float pi = 3.14159265f;
  hip_bfloat16 old(pi);
  __half half = static_cast<__half>(hip_bfloat16(2.0f));
  __half_raw raw = half;
  printf("%04x %04x %g\n", unsigned(old.data), unsigned(raw.x), float(static_cast<hip_bfloat16>(__half(1.5f))));
  __half passed = __half(1.5f);
#pragma clang diagnostic ignored "-Wformat"
  printf("bits %04x\n", passed);
}
