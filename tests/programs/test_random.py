"""hipRAND's and rocRAND's calls of the host, which fill arrays with random numbers."""

from __future__ import annotations

import pytest

from gpulab import programs
from gpulab.toolchain import hosted
from tests.headers.test_random import apply, join, numbers, power_of_two, split, start

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

SOURCE = r"""
#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>
#include <rocrand/rocrand.h>
#include <cmath>
#include <cstdio>
#include <vector>
template <class T> std::vector<T> back(const T* p, size_t n) {
  std::vector<T> v(n);
  (void)hipMemcpy(v.data(), p, n * sizeof(T), hipMemcpyDeviceToHost);
  return v;
}
template <class T> void moments(const char* what, const std::vector<T>& v, double mean, double deviation) {
  double sum = 0, squares = 0;
  for (T x : v) sum += x, squares += (double)x * x;
  sum /= v.size();
  double found = std::sqrt(squares / v.size() - sum * sum);
  bool right = std::fabs(sum - mean) < 5 * deviation / std::sqrt(v.size()) && std::fabs(found / deviation - 1) < 0.05;
  printf("%s %s\n", what, right ? "right" : "wrong");
}
int main() {
  const size_t n = 20000;
  void* memory;
  (void)hipMalloc(&memory, n * 8);
  hiprandGenerator_t g;
  int codes = hiprandCreateGenerator(&g, HIPRAND_RNG_PSEUDO_XORWOW);
  codes += hiprandSetPseudoRandomGeneratorSeed(g, 77);
  codes += hiprandGenerate(g, (unsigned*)memory, 3);
  auto first = back((unsigned*)memory, 3);
  codes += hiprandGenerate(g, (unsigned*)memory, 4094);
  auto rest = back((unsigned*)memory, 4094);
  printf("%u %u %u %u %u\n", first[0], first[2], rest[0], rest[4092], rest[4093]);
  codes += hiprandSetGeneratorOffset(g, 4097);
  codes += hiprandGenerate(g, (unsigned*)memory, 1);
  printf("%u\n", back((unsigned*)memory, 1)[0]);
  const hiprandRngType_t types[] = {HIPRAND_RNG_PSEUDO_DEFAULT, HIPRAND_RNG_PSEUDO_MRG32K3A,
                                    HIPRAND_RNG_PSEUDO_PHILOX4_32_10};
  codes += hiprandDestroyGenerator(g);
  for (auto type : types) {
    codes += hiprandCreateGenerator(&g, type);
    codes += hiprandGenerateUniform(g, (float*)memory, n);
    moments("uniform", back((float*)memory, n), 0.5, 0.288675);
    codes += hiprandGenerateNormalDouble(g, (double*)memory, n, 5, 2);
    moments("normal", back((double*)memory, n), 5, 2);
    codes += hiprandGeneratePoisson(g, (unsigned*)memory, n, 100);
    moments("Poisson", back((unsigned*)memory, n), 100, 10);
    codes += hiprandDestroyGenerator(g);
  }
  rocrand_generator r;
  codes += rocrand_create_generator_host(&r, ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
  std::vector<unsigned char> bytes(n);
  codes += rocrand_generate_char(r, bytes.data(), n);
  moments("bytes", bytes, 127.5, 73.9);
  std::vector<float> logarithms(n);
  codes += rocrand_generate_log_normal(r, logarithms.data(), n, 0, 0.25f);
  for (float& x : logarithms) x = std::log(x);
  moments("log-normal", logarithms, 0, 0.25);
  codes += rocrand_destroy_generator(r);
  printf("codes %d\n", codes);
  printf("%d %d %d %d\n", hiprandCreateGenerator(&g, HIPRAND_RNG_QUASI_SOBOL32), hiprandGenerate(nullptr, nullptr, 1),
         rocrand_create_generator(&r, ROCRAND_RNG_PSEUDO_MT19937), hiprandCreateGenerator(nullptr, types[0]));
}
"""


def test_numbers_and_distributions() -> None:
    program = programs.build(SOURCE, options=("-lhiprand", "-lrocrand"))
    x, d = start(77)
    far, state, firsts = power_of_two(67), join(x), []
    for _ in range(4096):
        firsts.append(numbers(split(state), d, 1)[0])
        state = apply(far, state)
    second = numbers(x, d, 2)[1]
    third = numbers(split(apply(far, join(x))), d, 2)[1]
    expected = [
        f"{firsts[0]} {firsts[2]} {firsts[3]} {firsts[4095]} {second}", str(third),
        *["uniform right", "normal right", "Poisson right"] * 3, "bytes right", "log-normal right", "codes 0",
        "103 101 103 104",
    ]  # fmt: skip
    for arch in ("gfx942", "gfx1100"):
        run = program.run(arch=arch)
        assert run.stdout.splitlines() == expected
        assert run.stderr.count("Take XORWOW, MRG32K3A or PHILOX4_32_10.") == 2
        assert run.exit_code == 0


CLASSES = r"""
#include <hip/hip_runtime.h>
#include <hiprand/hiprand.hpp>
#include <rocrand/rocrand.hpp>
#include <cmath>
#include <cstdio>
#include <vector>
template <class T, class Engine, class Distribution> void filled(Engine& engine, Distribution give, double mean) {
  const size_t n = 4000;
  T* memory;
  (void)hipMalloc((void**)&memory, n * sizeof(T));
  give(engine, memory, n);
  std::vector<T> numbers(n);
  (void)hipMemcpy(numbers.data(), memory, n * sizeof(T), hipMemcpyDeviceToHost);
  (void)hipFree(memory);
  double sum = 0;
  bool inside = true;
  for (T number : numbers) sum += number, inside = inside && give.min() <= number && number <= give.max();
  printf("%d", inside && std::fabs(sum / n / mean - 1) < 0.05);
}
template <class Engine> void all(Engine&& engine) {
  filled<float>(engine, rocrand_cpp::uniform_real_distribution<>(), 0.5);
}
int main() {
  rocrand_cpp::default_random_engine one(7);
  filled<unsigned>(one, rocrand_cpp::uniform_int_distribution<unsigned>(), 2147483647.5);
  filled<unsigned char>(one, rocrand_cpp::uniform_int_distribution<unsigned char>(), 127.5);
  filled<double>(one, rocrand_cpp::normal_distribution<double>(10, 2), 10);
  filled<float>(one, rocrand_cpp::lognormal_distribution<>(0, 0.25f), std::exp(0.03125));
  filled<unsigned>(one, rocrand_cpp::poisson_distribution<>(50), 50);
  all(rocrand_cpp::mrg32k3a());
  all(rocrand_cpp::philox4x32_10(3, 5));
  // The same numbers as by the calls.
  unsigned *memory, numbers[4];
  (void)hipMalloc((void**)&memory, sizeof(numbers));
  hiprand_cpp::xorwow two(77, 1);
  two(memory, 2);
  hiprandGenerator_t g;
  (void)hiprandCreateGenerator(&g, HIPRAND_RNG_PSEUDO_XORWOW);
  (void)hiprandSetPseudoRandomGeneratorSeed(g, 77);
  (void)hiprandSetGeneratorOffset(g, 1);
  (void)hiprandGenerate(g, memory + 2, 2);
  (void)hipMemcpy(numbers, memory, sizeof(numbers), hipMemcpyDeviceToHost);
  printf(" %d %d", numbers[0] == numbers[2] && numbers[1] == numbers[3], two.type() == HIPRAND_RNG_PSEUDO_XORWOW);
  try {
    hiprand_cpp::poisson_distribution<>(-1)(two, memory, 1);
  } catch (const hiprand_cpp::error& caught) {
    printf(" %d %s\n", caught.error_code() == HIPRAND_STATUS_OUT_OF_RANGE, caught.what());
  }
}
"""


def test_classes_for_cpp() -> None:
    program = programs.build(CLASSES, archs=("gfx942",))
    assert program.run(arch="gfx942").stdout == "1111111 1 1 1 hipRAND failed with status 104\n"
