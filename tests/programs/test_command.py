"""``gpulab hipcc``: projects of several files, built by the commands that people type, and what it says of mistakes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab.errors import GpulabError
from gpulab.programs import bundles, command, units
from gpulab.toolchain import c_header, compiler, cxx_library, diagnostics, hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

#: Two files with a kernel and a device variable of the same name, a C file, and main: 2 * 1 + 2 = 4; 7 + 1; 70 + 10.
FILES = {
    "kernels.h": """
#pragma once
void launch_add(const float* a, const float* b, float* c, int n);
int count_first();
int count_second();
void bump();
""",
    "kernels.hip": """#include <hip/hip_runtime.h>
#include "kernels.h"
static __device__ int counter = 7;
__constant__ float scale[2] = {2, 3};
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = scale[0] * a[i] + b[i];
  if (i == 0) counter++;
}
void launch_add(const float* a, const float* b, float* c, int n) { add<<<(n + 255) / 256, 256>>>(a, b, c, n); }
int count_first() {
  int value = -1;
  (void)hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), sizeof value);
  return value;
}
""",
    "other.cpp": """#include <hip/hip_runtime.h>
#include "kernels.h"
static __device__ int counter = 70;
static __global__ void add() { counter += 10; }
void bump() { add<<<1, 1>>>(); }
int count_second() {
  int value = -1;
  (void)hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), sizeof value);
  return value;
}
""",
    "tool.c": """#include <math.h>
#include <stdio.h>
int tool_say(const char *what, int n) {
  int *class = 0; /* C, not C++ */
  printf("%s %g %d\\n", what, sqrt(n), class == 0);
  return 0;
}
""",
    "main.cpp": """#include <hip/hip_runtime.h>
#include <cstdio>
#include <stdexcept>
#include <vector>
#include "kernels.h"
extern "C" int tool_say(const char* what, int n);
int main() {
  const int n = 1000;
  std::vector<float> a(n, 1.f), b(n, 2.f), c(n);
  float *da, *db, *dc;
  (void)hipMalloc(&da, n * 4);
  (void)hipMalloc(&db, n * 4);
  (void)hipMalloc(&dc, n * 4);
  (void)hipMemcpy(da, a.data(), n * 4, hipMemcpyHostToDevice);
  (void)hipMemcpy(db, b.data(), n * 4, hipMemcpyHostToDevice);
  launch_add(da, db, dc, n);
  bump();
  if (hipMemcpy(c.data(), dc, n * 4, hipMemcpyDeviceToHost) != hipSuccess) throw std::runtime_error("copy");
  printf("%g %g %d %d\\n", c[0], c[n - 1], count_first(), count_second());
  return tool_say("root", 16);
}
""",
}
SAID = "4 4 8 80\nroot 4 1\n"
ARCH = "--offload-arch=gfx1100"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hipcc(line: str) -> int:
    return command.run(line.split())


def said_by(program: str, *arguments: str) -> str:
    environment = {**os.environ, "GPULAB_DEVICES": "gfx1100", "GPULAB_LIBRARY": "virtual"}
    done = subprocess.run([program, *arguments], capture_output=True, text=True, env=environment, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def test_several_sources_in_one_command(project: Path) -> None:
    assert hipcc(f"main.cpp kernels.hip other.cpp tool.c -o app -O2 -lm {ARCH}") == 0
    assert said_by("./app") == SAID


def test_objects_archives_and_libraries(project: Path) -> None:
    assert hipcc(f"-c main.cpp kernels.hip other.cpp {ARCH} -fPIC") == 0
    assert hipcc("-c tool.c -o tool.o") == 0
    assert hipcc("main.o kernels.o other.o tool.o -o app") == 0
    assert said_by("./app") == SAID
    assert hipcc("--emit-static-lib kernels.o other.o -o libk.a") == 0
    subprocess.run([sys.executable, "-m", "ziglang", "ar", "rcs", "libtool.a", "tool.o"], check=True)
    assert hipcc("main.o -L. -lk -ltool -lm -lpthread -ldl -lstdc++ -lrt -lamdhip64 -o archives") == 0
    assert said_by("./archives") == SAID
    assert hipcc(f"-shared -fPIC kernels.o other.cpp {ARCH} -o libks.so") == 0
    assert hipcc("-pie main.o tool.o -L. -lks -Wl,-rpath,$ORIGIN -Xlinker --as-needed -o shared") == 0
    assert said_by("./shared") == SAID
    (project / "elsewhere").mkdir()
    os.chdir("elsewhere")
    assert said_by("../shared") == SAID
    os.chdir(project)
    (project / "all.txt").write_text("main.o kernels.o\n'other.o' tool.o\n")
    assert hipcc("-r kernels.o other.o -o both.o") == 0
    assert hipcc("main.o both.o tool.o -o joined") == 0
    assert hipcc("@all.txt -o listed") == 0
    assert said_by("./joined") == said_by("./listed") == SAID


#: A device variable and functions of one file that another one uses, one of them by its address.
DEVICE = {
    "device.h": """#pragma once
extern __device__ int total;
extern __device__ float square(float x);
typedef float (*function)(float);
extern __device__ function table[2];
""",
    "device.hip": """#include <hip/hip_runtime.h>
#include "device.h"
__device__ int total = 5;
__device__ float square(float x) { return x * x; }
__device__ float cube(float x);
__device__ function table[2] = {square, cube};
""",
    "functions.hip": """#include <hip/hip_runtime.h>
__device__ float cube(float x) { return x * x * x; }
""",
    "main.hip": """#include <hip/hip_runtime.h>
#include <cstdio>
#include "device.h"
static __device__ int own = 1;
__global__ void k(float* x, int which) {
  x[threadIdx.x] = square(threadIdx.x) + table[which](threadIdx.x);
  if (threadIdx.x == 0) { total += 1; own += 2; }
}
int main() {
  float *d, h[4];
  int values[2];
  (void)hipMalloc(&d, sizeof h);
  k<<<1, 4>>>(d, 1);
  (void)hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost);
  (void)hipMemcpyFromSymbol(values, HIP_SYMBOL(total), 4);
  (void)hipMemcpyFromSymbol(values + 1, HIP_SYMBOL(own), 4);
  std::printf("%g %g %g %d %d\\n", h[1], h[2], h[3], values[0], values[1]);
}
""",
}
DEVICE_SAID = "2 12 36 6 3\n"  # n * n + n * n * n; 5 + 1; 1 + 2


def test_device_code_of_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in DEVICE.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert hipcc(f"-fgpu-rdc -c device.hip functions.hip main.hip {ARCH}") == 0
    assert hipcc(f"-fgpu-rdc --hip-link main.o device.o functions.o -o app {ARCH}") == 0
    assert said_by("./app") == DEVICE_SAID
    assert hipcc("--emit-static-lib device.o functions.o -o libdevice.a") == 0
    assert hipcc("-fgpu-rdc --hip-link main.o -L. -ldevice -o archive") == 0
    assert said_by("./archive") == DEVICE_SAID
    capsys.readouterr()
    assert hipcc(f"-fgpu-rdc main.o -o app {ARCH}") == 1
    assert "undefined hidden symbol: square(float)" in capsys.readouterr().err
    assert hipcc(f"main.hip device.hip functions.hip -o app {ARCH}") == 1
    assert "need gpulab hipcc -fgpu-rdc" in capsys.readouterr().err
    with pytest.raises(GpulabError, match=r"no object has device code for gfx942"):
        hipcc("-fgpu-rdc main.o device.o -o app --offload-arch=gfx942")


C_SOURCE = r"""#include <hip/hip_runtime.h>
#include <stdio.h>
void launch_twice(int *x, int n);
int main(void) {
  int h[4] = {1, 2, 3, 4}, *d;
  hipDeviceProp_t properties;
  hipStream_t stream;
  struct hipExtent extent = make_hipExtent(1, 2, 3);
  enum hipMemcpyKind kind = hipMemcpyDeviceToHost;
  hipError_t error = hipMalloc((void **)&d, sizeof h);
  if (error != hipSuccess || hipStreamCreate(&stream) != hipSuccess) return 1;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) return 2;
  if (hipMemcpyAsync(d, h, sizeof h, hipMemcpyHostToDevice, stream) != hipSuccess) return 3;
  launch_twice(d, 4);
  if (hipMemcpy(h, d, sizeof h, kind) != hipSuccess) return 4;
  printf("%d %d %d %zu %s\n", h[0], h[3], properties.warpSize, extent.depth, hipGetErrorString(error));
  return 0;
}
"""


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("int twice(int x) { return 2 * x; }\n", 0),
        (
            "#include <hip/hip_runtime.h>\nbool f() { int n; return hipGetDeviceCount(&n) == hipSuccess; }\n",
            0,
        ),
        ("#include <hip/hip_runtime.h>\n__attribute__((global)) void k() {}\nvoid f() { k<<<1, 1>>>(); }\n", 1),
        (
            "#include <hip/hip_runtime.h>\n__attribute__((global)) void k() {}\n",
            1,
        ),
        ('#include "kernels.h"\nint x;\n', 1),
    ],
)
def test_what_is_for_the_host_alone_is_not_compiled_for_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, passes: int
) -> None:
    (tmp_path / "kernels.h").write_text("#include <hip/hip_runtime.h>\ninline __device__ int one() { return 1; }\n")
    (tmp_path / "a.cpp").write_text(text)
    monkeypatch.chdir(tmp_path)
    made = []
    device = units.device
    monkeypatch.setattr(units, "device", lambda one, arch: made.append(arch) or device(one, arch))
    assert hipcc(f"-c a.cpp {ARCH}") == 0
    assert len(made) == passes
    assert bool(units.FAT_BINARY.search((tmp_path / "a.o").read_bytes())) == (passes == 1 and "kernels.h" not in text)


def test_a_c_source_calls_hip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.c").write_text(C_SOURCE)
    (tmp_path / "twice.hip").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void twice(int* x) { x[threadIdx.x] *= 2; }\n"
        'extern "C" void launch_twice(int* x, int n) { twice<<<1, n>>>(x); }\n'
    )
    monkeypatch.chdir(tmp_path)
    assert hipcc(f"-std=c99 -std=c++17 main.c twice.hip -o app {ARCH}") == 0
    assert said_by("./app") == "2 8 32 3 no error\n"


def test_parallel_algorithms_of_cpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sort.hip").write_text("""#include <algorithm>
#include <cstdio>
#include <execution>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void fill(int* x) { x[threadIdx.x] = 64 - threadIdx.x; }
int main() {
  std::vector<int> values(64);
  int* x;
  (void)hipMalloc(&x, 256);
  fill<<<1, 64>>>(x);
  (void)hipMemcpy(values.data(), x, 256, hipMemcpyDeviceToHost);
  std::sort(std::execution::par, values.begin(), values.end());
  std::printf("%d %d\\n", values[0], values[63]);
}
""")
    monkeypatch.chdir(tmp_path)
    assert hipcc(f"-std=c++17 sort.hip -o app {ARCH}") == 0
    assert said_by("./app") == "1 64\n"


def test_the_header_for_c_has_all_calls_of_the_header_for_cpp() -> None:
    text = c_header.text()
    declared = re.compile(r"^(?:const char\*|hip\w+_t|int|void\*?\*?) \*?((?:__)?hip\w+)\(", re.MULTILINE)
    calls = set()
    for name in ("runtime_api.h", "memory_api.h", "launches.h", "graphs.h"):
        whole = (hosted.INCLUDE / "gpulab" / "host" / name).read_text(encoding="utf-8")
        calls |= set(declared.findall(whole.partition("template <")[0]))
    assert len(calls) > 350
    assert calls <= set(declared.findall(text))
    assert not re.search(r"\b(template|nullptr|constexpr|operator)\b|&&? \w+[,)]", text)
    assert "typedef enum hipError_t hipError_t;" in text


LIBRARY = {
    "library.h": """#pragma once
#include <any>
#include <ostream>
#include <stdexcept>
#include <string>
struct MyError : std::runtime_error { using std::runtime_error::runtime_error; };
void throws(int kind);
void write(std::ostream& out);
std::any seven();
inline int& counter() { static int value = 0; return value; }
int bump();
""",
    "library.cpp": """#include "library.h"
#include <iostream>
#include <new>
#include <vector>
void throws(int kind) {
  if (kind == 0) throw std::runtime_error("runtime");
  if (kind == 1) throw MyError("mine");
  if (kind == 2) throw 42;
  if (kind == 3) (void)std::vector<int>().at(3);
  if (kind == 4) throw std::bad_alloc();
  throw std::string("text");
}
void write(std::ostream& out) { out << std::hex << 255 << std::dec << " "; std::cout << "library" << std::endl; }
std::any seven() { return 7; }
int bump() { return ++counter(); }
""",
    "main.cpp": """#include "library.h"
#include <iostream>
int main() {
  for (int kind = 0; kind < 6; kind++) {
    try { throws(kind); }
    catch (const MyError& e) { std::cout << "MyError " << e.what() << "; "; }
    catch (const std::bad_alloc& e) { std::cout << "bad_alloc; "; }
    catch (const std::exception& e) { std::cout << "exception " << e.what() << "; "; }
    catch (int value) { std::cout << value << "; "; }
    catch (const std::string& text) { std::cout << text << "; "; }
  }
  write(std::cout);
  counter() = 10;
  std::cout << bump() << " " << counter() << " " << std::any_cast<int>(seven()) << std::endl;
}
""",
}


@pytest.mark.full
def test_a_library_that_catches_pointers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compares types of pointers in the C++ library asks for names of types that another library may have."""
    caught = """
struct Base { virtual ~Base() {} };
struct Derived : Base {};
extern "C" int caught(int n)
{
    static Derived one;
    static int number;
    try {
        if (n == 0) throw &number;
        if (n == 1) throw nullptr;
        throw &one;
    } catch (Base*) { return 1; }
    catch (void*) { return 2; }
}
"""
    calls = """
#include <cstdio>
extern "C" int caught(int);
int main() { printf("%d %d %d\\n", caught(0), caught(1), caught(2)); }
"""
    (tmp_path / "caught.cpp").write_text(caught)
    (tmp_path / "calls.cpp").write_text(calls)
    monkeypatch.chdir(tmp_path)
    assert hipcc(f"-shared -fPIC caught.cpp -o libcaught.so {ARCH}") == 0
    assert hipcc(f"calls.cpp -L. -lcaught -o calls {ARCH}") == 0
    monkeypatch.setenv("LD_LIBRARY_PATH", ".")
    assert said_by("./calls") == "2 1 1\n"


def test_a_program_and_its_library_share_the_types_of_cpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in LIBRARY.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert hipcc(f"-shared library.cpp -o liblibrary.so {ARCH}") == 0
    assert hipcc(f"main.cpp -L. -llibrary -Wl,-rpath,$ORIGIN -o app {ARCH}") == 0
    assert said_by("./app") == (
        "exception runtime; MyError mine; 42; exception vector; bad_alloc; text; ff library\n11 11 7\n"
    )


def test_dependencies(project: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (project / "out").mkdir()
    assert hipcc(f"-c kernels.hip -o out/kernels.o {ARCH} -MMD -MP") == 0
    assert (project / "out" / "kernels.d").read_text() == "out/kernels.o: kernels.hip \\\n  kernels.h\n\nkernels.h:\n"
    assert hipcc(f"-c kernels.hip -o out/kernels.o {ARCH} -MD -MF k.dep -MT first -MT second") == 0
    assert (project / "k.dep").read_text() == "first second: kernels.hip \\\n  kernels.h\n"
    capfdbinary.readouterr()
    assert hipcc("-MM other.cpp") == 0
    assert capfdbinary.readouterr().out == b"other.o: other.cpp \\\n  kernels.h\n"


def test_steps_that_end_before_an_object(project: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert hipcc("-E -DNAME=4 -P tool.c") == 0
    assert b"int tool_say(const char *what, int n)" in capfdbinary.readouterr().out
    assert hipcc(f"-S --cuda-device-only kernels.hip {ARCH} -o -") == 0
    assert b"amdgcn-amd-amdhsa--gfx1100" in capfdbinary.readouterr().out
    assert hipcc("-S --cuda-host-only kernels.hip") == 0
    assert "launch_add" in (project / "kernels.s").read_text()
    assert hipcc("--genco kernels.hip -o kernels.co --offload-arch=gfx1100,gfx942") == 0
    raw = (project / "kernels.co").read_bytes()
    assert re.findall(rb"hipv4-[\w-]+", raw[:4096]) == [
        b"hipv4-amdgcn-amd-amdhsa--gfx1100", b"hipv4-amdgcn-amd-amdhsa--gfx942"
    ]  # fmt: skip
    assert hipcc(f"--save-temps -c kernels.hip {ARCH}") == 0
    names = {path.name for path in project.glob("kernels-*")}
    assert names == {
        "kernels-hip-amdgcn-amd-amdhsa-gfx1100.s", "kernels-hip-amdgcn-amd-amdhsa-gfx1100.out",
        f"kernels-host-{command._target()}.s",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("main.o kernels.o -o app", "error: undefined symbol: bump()\n    in main.o:(main)\n  -> no file"),
        ("kernels.o tool.o -o app", "a program starts in main(), which none of the files has"),
        ("main.o kernels.o other.o tool.o tool.o -o app", "two files define it"),
        ("main.o kernels.o other.o tool.o omp.o -o app", "it is one of OpenMP's: add -fopenmp to this command, too"),
        ("main.o kernels.o other.o tool.o range.o -o app", "it is one of ROCTX's: add -lroctx64"),
        ("main.o kernels.o other.o mangled.o -o app", 'is defined: declare it the same in both files'),
    ],
)  # fmt: skip
def test_what_the_linker_misses(project: Path, capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    (project / "omp.c").write_text("int omp_get_max_threads(void); int f(void) { return omp_get_max_threads(); }")
    (project / "mangled.cpp").write_text("int tool_say(const char*, int) { return 0; }\n")
    (project / "range.c").write_text("int roctxRangePop(void); int g(void) { return roctxRangePop(); }")
    assert hipcc(f"-c main.cpp kernels.hip other.cpp tool.c omp.c range.c mangled.cpp {ARCH}") == 0
    capsys.readouterr()
    assert hipcc(line) == 1
    assert said in capsys.readouterr().err


def test_messages_of_two_files_are_on_their_own_lines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "wrong.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k(int* p) { *p = nothing; }\n")
    assert hipcc(f"-c kernels.hip wrong.hip {ARCH}") == 1
    assert re.search(r"^wrong\.hip:2:34: error: .*nothing", capsys.readouterr().err, re.MULTILINE)


def test_its_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiler, "version", lambda: "ziglang 0.15.1 12345 678")
    assert command.run(["--version"]) == 0
    said = capsys.readouterr().out
    assert re.match(
        r"HIP version: 7\.\d+\.\d+-gpulab\nclang version \d+\.\d+\.\d+ \(gpulab: ziglang 0\.15\.1\)\n", said
    )
    assert command.run(["-dumpmachine"]) == 0
    assert capsys.readouterr().out.endswith("-linux-gnu\n")


def test_what_would_be_done_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hipcc(f"-### main.cpp tool.o -lm -o app {ARCH}") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-3:] == [
        "clang '[host]' -x hip main.cpp", "clang '[gfx1100]' -x hip main.cpp", "ld.lld -o app main.cpp tool.o -lm"
    ]  # fmt: skip
    assert not (project / "app").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-o app", "no source file and no object"),
        ("-c a.hip b.hip -o both.o", "-o both.o is one file, and 2 sources were named"),
        ("absent.hip -o app", "absent.hip cannot be read: No such file"),
        ("absent.o -o app", "absent.o cannot be read: No such file"),
        ("main.cpp -lnowhere -o app", "there is no library nowhere here"),
        ("-S --cuda-device-only main.cpp -o a.s --offload-arch=gfx942,gfx1100", "there are 2 architectures"),
        ("-c tool.c -o nowhere/tool.o", "nowhere/tool.o cannot be written: No such file or directory"),
    ],
)  # fmt: skip
def test_commands_that_cannot_be_done(project: Path, line: str, said: str) -> None:
    with pytest.raises(GpulabError) as raised:
        hipcc(line)
    assert said in str(raised.value)


def test_the_first_time_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def require(_: object) -> int:
        cxx_library.CxxLibrary("triple", (), ()).require(cxx_library.PARTS[:2])
        return 0

    def build(self: cxx_library.CxxLibrary, parts: list[cxx_library.Part]) -> None:
        for part in parts:
            self._path(part).touch()

    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    monkeypatch.setattr(cxx_library.CxxLibrary, "_build", build)
    monkeypatch.setattr(command, "_each", require)
    assert hipcc("-c a.hip") == 0
    assert hipcc("-c a.hip") == 0
    said = "gpulab: building the C++ library{} for whole programs (once; 3 to 20 seconds) ...\n"
    assert capsys.readouterr() == ("", said.format("") + said.format("'s clocks and threads"))


def test_units_in_damaged_files() -> None:
    raw = b"!<arch>\n" + b"x" * 48 + b"10        `\nabc"
    assert bundles.units_of(raw) == {}
    assert bundles.units_of(b"\x7fELF\x02\x01" + b"\xff" * 100) == {}
    assert bundles.units_of(b"") == {}
    assert diagnostics.visible("") == ""
