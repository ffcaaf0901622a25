"""What programs of others take for granted: names that other compilers' headers bring along, std::complex in
kernels, kernels that count for long.

The lists of names are those that GNU's headers have (GCC 9 to 13, C++17): its release notes on header dependencies, and
the headers' own `#include`s.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab import programs
from gpulab.programs import command, start
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

_LIBRARY = 'std::printf(""); std::free(std::malloc(1)); (void)atoi("1"); if (rand() < 0) exit(1);'
_LOOPS = "int a[2] = {2, 1}; (void)std::min(a[0], a[1]); (void)std::max(1, 2); std::swap(a[0], a[1]);"
_CONTAINERS = (
    "std::vector<int> v{2, 1}; std::function<int()> f = [] { return 1; }; (void)f; "
    "std::unordered_map<int, int> m; std::array<int, 2> y{}; (void)y;"
)
BROUGHT = {
    "cmath": _LOOPS + "free(malloc(1)); if (rand() < 0) exit(1); (void)std::numeric_limits<float>::max();",
    "math.h": _LOOPS + "free(malloc(1)); (void)std::sqrt(2.0); (void)std::numeric_limits<float>::max();",
    "stdlib.h": "(void)std::abs(-1L); (void)abs(-1.5);",
    "algorithm": _LOOPS + _CONTAINERS + "std::sort(v.begin(), v.end(), std::greater<int>()); (void)rand();",
    "functional": _CONTAINERS + "std::sort(v.begin(), v.end());",
    "stdexcept": _LIBRARY + "std::string s = std::to_string(1); (void)isdigit(65);",
    "iomanip": "std::stringstream s; s << std::setw(3) << 1;",
    "iterator": "std::string s(\"a\"); std::back_insert_iterator<std::string> k(s); (void)k;",
    "memory": _LOOPS + "std::unique_ptr<int> u(new int); uint64_t x = 1; (void)x;",
    "regex": "std::vector<int> v; std::map<int, int> m; std::stringstream s; std::regex r(\"a\");",
    "iostream": _LOOPS + _LIBRARY + "try { throw std::runtime_error(\"\"); } catch (std::exception&) {}",
    "random": "std::vector<int> v(2); (void)std::accumulate(v.begin(), v.end(), 0); (void)std::sqrt(2.0);",
    "hip/hip_runtime.h": _LOOPS + _LIBRARY + _CONTAINERS + "std::thread t([] {}); t.join(); char b[2]; "
    "memset(b, 0, 2); (void)std::chrono::steady_clock::now(); std::unique_ptr<int> u; "
    "std::stringstream s; assert(b[0] == 0);",
    "thrust/random.h": "std::cout << 1;",
    "hipcub/device/device_reduce.hpp": "std::cout << 1;",
}  # fmt: skip


@pytest.mark.full
def test_headers_bring_along_what_gnus_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, (header, body) in enumerate(BROUGHT.items()):
        Path(f"unit{number}.cpp").write_text(f"#include <{header}>\nvoid unit{number}() {{ {body} }}\n")
    Path("main.cpp").write_text("int main() {}\n")
    assert command.run(["-std=c++17", *(f"unit{number}.cpp" for number in range(len(BROUGHT))), "main.cpp"]) == 0


def test_a_header_brings_along_the_c_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the above, and what must stay: a source in C, and a header between extern "C" and its brace."""
    monkeypatch.chdir(tmp_path)
    Path("cmath.cpp").write_text(f"#include <cmath>\nvoid f() {{ {BROUGHT['cmath']} }}\n")
    Path("c.c").write_text("#include <math.h>\n#include <stdlib.h>\nint f(void) { return (int)sqrt(abs(-4)); }\n")
    Path("both.cpp").write_text(
        'extern "C" {\n#include <math.h>\n#include <stdlib.h>\n}\ndouble f() { return std::sqrt(4.0); }\n'
    )
    for source in ("cmath.cpp", "c.c", "both.cpp"):
        assert command.run(["-c", source, "-o", "unit.o"]) == 0


def test_the_c_library_is_there_above_every_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clang reads <cmath>, <cstdlib>, <algorithm> and <complex> for HIP before a source's first line
    (__clang_hip_runtime_wrapper.h); for plain C++ it reads nothing."""
    monkeypatch.chdir(tmp_path)
    Path("sizes.h").write_text("inline size_t longest(size_t a, uint32_t b) { return std::max<size_t>(a, b); }\n")
    text = '#include "sizes.h"\n'
    Path("kernels.hip").write_text(text + "#include <hip/hip_runtime.h>\n__global__ void kernel() {}\n")
    Path("plain.cpp").write_text(text)
    assert command.run(["--offload-arch=gfx942", "-c", "kernels.hip", "-o", "unit.o"]) == 0
    assert command.run(["-x", "c++", "-c", "plain.cpp", "-o", "unit.o"]) == 1


COMPLEX = r"""
#include <complex>
#include <cstdio>
#include <hip/hip_runtime.h>
typedef std::complex<double> number;
__host__ __device__ void all(const number* a, number* out) {
  number x = a[0], y = a[1];
  std::complex<float> f(1.5f, -2.5f), g(0.5f, 2);
  f *= g; f /= std::complex<float>(2, 1); f += 1.0f; f -= g; f = -f;
  number values[] = {x * y, x / y, x + y - 1.0, std::exp(x), std::log(x), std::sqrt(x), std::pow(x, y),
                     std::polar(2.0, 0.5), std::conj(x), {std::abs(x), std::arg(x)}, {std::norm(x), x.real()},
                     std::sin(x), std::cos(y),
                     std::tan(x), std::sinh(x), std::tanh(y), {f.real(), f.imag()}, {double(x == y), double(x != y)},
                     std::proj(x), {0, std::abs(f)}, std::asin(x), std::acos(y), std::atan(x), std::asinh(y),
                     std::acosh(x), std::atanh(y), number(std::asin(std::complex<float>(x)))};
  for (int i = 0; i < 27; i++) out[i] = values[i];
}
__global__ void kernel(const number* a, number* out) { all(a, out); }
int main() {
  number *a, *out, expected[27];
  hipMallocManaged(&a, 2 * sizeof(number));
  hipMallocManaged(&out, sizeof expected);
  a[0] = {1.25, -0.75};
  a[1] = {-0.5, 2.0};
  kernel<<<1, 1>>>(a, out);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  all(a, expected);
  int wrong = 0;
  for (int i = 0; i < 27; i++) wrong += !(std::abs(out[i] - expected[i]) <= 1e-6 * std::abs(expected[i]));
  std::printf("%d wrong, %g %g\n", wrong, out[0].real(), out[0].imag());
}
"""


@pytest.mark.full
def test_complex_numbers_in_kernels() -> None:
    """As the host computes them; (1.25 - 0.75i)(-0.5 + 2i) = 0.875 + 2.875i by hand."""
    for arch, standard in (("gfx942", "-std=c++17"), ("gfx1100", "-std=c++23")):
        program = programs.build(COMPLEX, name="complex.hip", archs=(arch,), options=[standard])
        run = program.run(arch=arch, seconds=120)
        assert (run.stdout, run.exit_code) == ("0 wrong, 0.875 2.875\n", 0), run.stderr


LETTERS = r"""
#define N 64
#define T float
#define MAX 3
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_complex.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdio>
__global__ void k(T* x) { x[threadIdx.x] = threadIdx.x + MAX + A; }
int main() {
  T* x;
  hipMallocManaged(&x, N * sizeof(T));
  k<<<1, N>>>(x);
  hipDeviceSynchronize();
  std::printf("%g\n", x[N - 1]);
}
"""


@pytest.mark.full
def test_names_of_one_letter_may_be_macros() -> None:
    """63 + 3 + 1. ROCm's headers bear all of these but T, U and n."""
    options = [f"-D{letter}=1" for letter in "ABCDEFGHIJKLMOPQRSUVWXYZ"]
    run = programs.build(LETTERS, name="letters.hip", options=options).run(seconds=120)
    assert (run.stdout, run.exit_code) == ("67\n", 0), run.stderr


COUNTING = r"""
#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void count(long n, long* out) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += (i ^ sum) & 3;
  *out = sum;
}
int main() {
  long n = 100000000, *out;
  hipMallocManaged(&out, sizeof(long));
  count<<<1, 1>>>(n, out);
  int code = hipDeviceSynchronize();
  std::printf("%d\n", code);
}
"""


@pytest.mark.full
def test_a_kernel_may_count_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """7e8 wave instructions or more, where kernels of a lesson are stopped after 2 ** 29."""
    monkeypatch.delenv("GPULAB_INSTRUCTION_LIMIT", raising=False)
    run = programs.build(COUNTING, name="counting.hip").run(seconds=240)
    assert (run.stdout, run.exit_code) == ("0\n", 0), run.stderr
    assert start.INSTRUCTION_LIMIT == 1 << 33


THRUST = r"""
#include <thrust/device_vector.h>
#include <thrust/detail/type_traits.h>
#include <cstdio>
static_assert(thrust::detail::is_same<int, int>::value, "");
int main() {
  thrust::device_vector<int> a(5), b(5);
  thrust::sequence(a.begin(), a.end());
  thrust::inclusive_scan(a.begin(), a.end(), b.begin());
  thrust::sort(b.begin(), b.end(), thrust::greater<int>());
  int most = *thrust::max_element(b.begin(), b.end());
  std::printf("%d %d %d\n", thrust::reduce(b.begin(), b.end()), int(b[0]), most);
}
"""


@pytest.mark.full
def test_a_vector_of_thrust_brings_along_the_algorithms() -> None:
    """0 1 3 6 10 are the sums of 0 to 4: 20 together."""
    run = programs.build(THRUST, name="vector.hip").run(seconds=120)
    assert (run.stdout, run.exit_code) == ("20 10 10\n", 0), run.stderr


CALLS = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
int main() {
  hipError_t (*sum)(int*) = nullptr;
  hipDriverProcAddressQueryResult status = HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  int found = hipGetProcAddress("hipGetDeviceCount", (void**)&sum, HIP_VERSION, 0, &status), devices = 0, active = -1;
  std::printf("%d %d %d %d\n", found, status, sum(&devices), devices > 0);
  void* nothing = &active;
  found = hipGetProcAddress("hipNoSuchCall", &nothing, HIP_VERSION, 0, &status);
  std::printf("%d %d %d\n", found != hipSuccess, status == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, nothing == nullptr);
  std::printf("%d %d\n", hipProfilerStart(), hipProfilerStop());
  unsigned version = 0, flags = 0;
  hipCtx_t context;
  hipFuncCache_t cache;
  hipSharedMemConfig banks;
  int codes = hipDevicePrimaryCtxGetState(0, &flags, &active) | hipDevicePrimaryCtxRetain(&context, 0) |
              hipCtxGetApiVersion(context, &version) | hipCtxGetFlags(&flags) | hipCtxGetCacheConfig(&cache) |
              hipCtxGetSharedMemConfig(&banks) | hipDevicePrimaryCtxRelease(0);
  void* memory = nullptr;
  volatile int* shared = nullptr;
  codes |= hipHostMalloc(&shared, 4) | hipHostFree((void*)shared);
  int kept = hipExtMallocWithFlags(&memory, 64, hipDeviceMallocUncached);
  std::printf("%d %d %d %d\n", codes, version > 0, kept, hipFree(memory));
}
"""


@pytest.mark.full
def test_calls_that_few_programs_make_are_declared() -> None:
    """801 is hipErrorNotSupported, which HIP's reference has for the profiler's calls."""
    run = programs.build(CALLS, name="calls.hip", archs=("gfx942",)).run(seconds=120)
    assert (run.stdout, run.exit_code) == ("0 0 0 1\n1 1 1\n801 801\n0 1 0 0\n", 0), run.stderr
