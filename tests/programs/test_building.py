"""Building and running: hipcc's options, messages on the learner's lines, %%hipcc, the command, records of a run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import gpulab
from gpulab import architectures, cli, programs
from gpulab.errors import CompileError, GpulabError
from gpulab.programs import building, bundles, options
from gpulab.toolchain import cache, hosted
from gpulab.virtual_gpu.runtime import images

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
SOURCES = Path(__file__).parent / "sources"
ADD = (SOURCES / "vector_add.hip").read_text()


def test_options() -> None:
    line = "a.hip -o a -O2 -g -std=c++20 -DN=4 -I x --offload-arch=gfx90a,gfx942 -lm -Wextra"
    found = options.parse(line.split())
    assert (found.sources, found.output, found.archs) == (("a.hip",), "a", ("gfx90a", "gfx942"))
    assert found.common == ("-O2", "-std=c++20", "-DN=4", "-Wextra")
    assert found.include == (str(Path("x").absolute()),)
    assert found.debug
    assert "gfx942" in options.parse(["--offload-arch=native"]).archs


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("-lhipblaslt", "hipBLASLt is one of ROCm's libraries"),
        ("-lfoo", "there is no library foo here; beside those of C and C++ there are -lamdhip64, -lhiprtc"),
        ("-c", "built from one source in one step"),
        ("--hipstdpar", "rocThrust"),
        ("--cuda-host-only", "in one step, into one file"),
        ("-fplugin=x.so", "the compiler's internals"),
        ("-Wl,-rpath,x", "the linker's"),
        ("notes.txt", "no source file"),
        ("--offload-arch=sm_80", "not the name of an AMD GPU architecture"),
    ],
)
def test_refused_options(option: str, said: str) -> None:
    with pytest.raises(GpulabError) as raised:
        options.parse([option])
    assert said in str(raised.value)


def test_a_profile_alone_is_a_table_on_standard_error() -> None:
    program = programs.build(ADD, archs=("gfx942",))
    environment = {**os.environ, "GPULAB_DEVICES": "gfx942", "GPULAB_LIBRARY": "virtual", "GPULAB_PROFILE": "1"}
    done = subprocess.run([str(program.path)], capture_output=True, text=True, env=environment, check=True)
    assert "VALU" in done.stderr
    assert done.stderr.count("add") == 1


def test_programs_are_position_independent_anyway() -> None:
    assert options.parse(["-fPIE", "-pie", "-fPIC"]).common == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hiprtcLinkState state;", "no type hiprtcLinkState"),
        ("int twice; int twice;", "defined twice: rename or remove"),
    ],
)
def test_advice_is_for_programs(line: str, said: str) -> None:
    text = compile_error(f"#include <hip/hip_runtime.h>\nint main() {{ {line} }}\n")
    assert said in text
    assert "cell" not in text


def test_what_openmp_would_do_is_said() -> None:
    source = "int main() {\n#pragma omp target\n  for (int i = 0; i < 4; i++) {}\n}\n"
    (warning,) = programs.build(source, archs=("gfx942",)).warnings
    assert "Without -fopenmp this line does nothing" in warning.advice


def compile_error(source: str) -> str:
    with pytest.raises(CompileError) as raised:
        programs.build(source, archs=("gfx942",))
    return str(raised.value)


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        (("hipMalloc(&d_a", "hipMaloc(&d_a"), "hipMaloc", "did you mean 'hipMalloc'"),
        (("#include <hip/hip_runtime.h>", ""), "blockIdx", "#include <hip/hip_runtime.h>"),
        (("c[i] = a[i]", "c[i] = std::rand() + a[i]"), "std::rand", "rand is a function of the host"),
        (
            (
                "#include <cmath>",
                "#include <hip/hip_fp8.h>\n__global__ void k(__hip_fp8_e4m3* x) { *x = __hip_fp8_e4m3(1.f); }",
            ),
            "__hip_fp8_e4m3(1",
            "gfx942 the types with _fnuz",
        ),
        (("<<<blocks, threads>>>(", "("), "  vector_add(", "<<<blocks, threads>>>"),
        (("#include <cmath>", "#include <hipblaslt/hipblaslt.h>"), "hipblaslt", "ROCm's libraries"),
        (("#include <cmath>", "#include <hipblas.h>"), "hipblas", "<hipblas/hipblas.h> and <rocblas/rocblas.h>"),
        (
            ("int main() {", "int main() {\n  hipblasSgbmv(0);"),
            "hipblasSgbmv",
            "not banded or packed matrices",
        ),
        (
            ("#include <hip/hip_runtime.h>", '#include "hip/hip_runtime.h"\nhipFoo_t foo;'),
            "hipFoo_t",
            "no type hipFoo_t",
        ),
        (("#include <cmath>", "#include <hiprand/hiprand_mtgp32_host.h>"), "hiprand", "<hiprand/hiprand_kernel.h>"),
        (
            ("#include <cmath>", "#include <hiprand/hiprand.h>\nhiprandDiscreteDistribution_t d;"),
            "hiprandD",
            "of its distributions uniform",
        ),
        (("#include <cmath>", "#include <hiprand/hiprand_kernel.h>\nhiprandStateSobol32_t s;"), "hiprandS", "Philox"),
        (("#include <cmath>", "#include <helper_cuda.h>"), "helper", "belongs to samples"),
        (("#include <cmath>", "#include <cooperative_groups/scan.h>"), "coop", "<hip/cooperative_groups/hip_scan.h>"),
        (("#include <cmath>", "#include <cooperative_groups.h>"), "coop", "<hip/hip_cooperative_groups.h>"),
        (
            ("int main() {", "int main() {\n  hipResetDefaultAccelerator();"),
            "hipReset",
            "HIP has no function of this name",
        ),
        (("#include <hip/hip_runtime.h>", "#include <hip_runtime.h>"), "hip_runtime", "#include <hip/hip_runtime.h>"),
        (("void vector_add(", "void vector_add(hipLaunchParm lp, "), "hipLaunchParm", "hipLaunchKernelGGL(kernel"),
        (
            ("int main() {", "int main() {\n  hipLaunchKernel(vector_add, 1, 64, 0, 0);"),
            "hipLaunchKernel",
            "of pointers",
        ),
        (
            ("int main() {", "__device__ double atomicAdd(double* p, double x) { return *p += x; }\nint main() {"),
            "__device__ double",
            "#ifndef __HIP_PLATFORM_AMD__",
        ),
        (
            ("#include <cmath>", "#include <thrust/device_vector.h>\nthrust::host_vector<int> v;"),
            "thrust::host",
            "#include <thrust/host_vector.h>",
        ),
        (("#include <cmath>", "#include <mma.h>"), "mma", "AMD's matrix cores"),
        (("#include <cmath>", "#include <GL/glut.h>"), "GL", "draw no windows"),
        (("#include <cmath>", "#include <rocm_smi/rocm_smi.h>"), "rocm_smi", "ROCm's libraries"),
        (("int main() {", "int main() {\n  int w = 256 % warpSize;"), "int w", "p.warpSize"),
        (
            ("int main() {", "__device__ int f() { return 1; }\nint main() {\n  int w = f();"),
            "int w",
            "mark it __host__ __device__",
        ),
        (
            (
                "#include <cmath>",
                "#include <immintrin.h>\nvoid f(float* p) {\n  _mm256_storeu_ps(p, _mm256_set1_ps(1.0f));\n}",
            ),
            "  _mm256",
            "-mavx, or -march=native",
        ),
        (
            ("c[i] = a[i]", "__stcs(c + i, 0.0f), c[i] = __ldcs(a + i)"),
            "__stcs",
            "__builtin_nontemporal_load(p)",
        ),
        (("int main() {", "int helper(int);\nint main() { int q = helper(3);"), "int helper", "is declared"),
    ],
)
def test_messages_name_the_learners_line(change: tuple[str, str], place: str, said: str) -> None:
    assert change[0] in ADD
    source = ADD.replace(*change, 1)
    text = compile_error(source)
    line = source[: source.index(place)].count("\n") + 1
    assert f"program.hip:{line}:" in text
    assert said in text
    assert "Python" not in text


def test_an_array_of_the_host_whose_size_is_a_variable() -> None:
    source = (
        "#include <hip/hip_runtime.h>\nint main(int n, char**) {\n  float t[n];\n  t[0] = n;\n  return t[0] > 9;\n}\n"
    )
    (warning,) = programs.build(source, archs=("gfx942",)).warnings
    assert "std::vector" in warning.advice


def test_typed_forms_of_calls() -> None:
    """Pointers to anything and kernels by name, where HIP's headers have templates for them."""
    source = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
int main() {
  hipMemPool_t pool;
  float *x, *y, h[2] = {3, 4};
  int codes = hipDeviceGetDefaultMemPool(&pool, 0);
  codes += hipMallocAsync(&x, sizeof(h), pool, nullptr) + hipMallocAsync(&y, sizeof(h), nullptr);
  codes += hipMemcpy(x, h, sizeof(h), hipMemcpyHostToDevice);
  twice<<<1, 2>>>(x);
  codes += hipMemcpy(h, x, sizeof(h), hipMemcpyDeviceToHost) + hipFreeAsync(x, nullptr) + hipFreeAsync(y, nullptr);
  size_t one, two;
  codes += hipOccupancyAvailableDynamicSMemPerBlock(&one, twice, 1, 64);
  codes += hipOccupancyAvailableDynamicSMemPerBlock(&two, twice, 2, 64);
  printf("%d %g %g %d\n", codes, h[0], h[1], one >= 2 * two && two > 0);
}
"""
    assert programs.build(source, archs=("gfx942",)).run(arch="gfx942").stdout == "0 6 8 1\n"


@pytest.mark.full
def test_an_option_of_the_program_is_no_warning() -> None:
    """Clang would warn that -ffast-math overrides how products of complex numbers are made, which gpulab asks for."""
    source = "#include <hip/hip_runtime.h>\n__global__ void k(float* x) { *x /= 3; }\nint main() {}\n"
    assert not programs.build(source, archs=("gfx942",), options=("-ffast-math",)).warnings


def test_warnings_of_the_same_words_are_joined() -> None:
    """Results of HIP calls that nobody looks at, as Clang warns with AMD's headers, too."""
    lines = "".join("  hipDeviceSynchronize();\n" for _ in range(5))
    source = f"#include <hip/hip_runtime.h>\nint main() {{\n{lines}}}\n"
    (warning,) = programs.build(source, archs=("gfx942",)).warnings
    assert warning.where is not None
    assert warning.where.line == 3
    assert warning.rendered.endswith("(the same in lines 4, 5, 6, 7)")
    assert "Check it" in warning.advice


def test_without_main() -> None:
    assert "has no main()" in compile_error("#include <hip/hip_runtime.h>\n__global__ void k() {}\n")


def test_the_bundle_is_as_the_library_reads_it() -> None:
    raw = bundles.bundle([("gfx942", b"first"), ("gfx1100", b"second")])
    assert images.from_bundle(raw, architectures.get("gfx942")) == b"first"
    assert images.from_bundle(raw, architectures.get("gfx1100")) == b"second"


@pytest.mark.full
@pytest.mark.parametrize("due", [True, False])
def test_the_folder_of_programs_is_looked_at_when_it_is_due(monkeypatch: pytest.MonkeyPatch, due: bool) -> None:
    looked = []
    monkeypatch.setattr(building, "_prune", lambda folder, keep: looked.append(keep.parents[1] == folder))
    monkeypatch.setattr(cache.Store, "prune", lambda store: 0)
    monkeypatch.setattr(cache, "is_due", lambda key, size, limit: due and (size > 4096, limit) == (True, 512 << 20))
    source = f"const double now = {time.time()};\nint main() {{ return now == 0; }}"
    for _ in range(2):  # the second time it is there already
        programs.build(source, archs=("gfx942",))
    assert looked == [True] * due


def test_a_header_beside_the_source(tmp_path: Path) -> None:
    """It is found with quotes, and read anew when it has changed."""
    (tmp_path / "size.h").write_text("constexpr int size = 3;\n")
    source = tmp_path / "main.hip"
    source.write_text('#include "size.h"\n#include <cstdio>\nint main() { std::printf("%d\\n", size); }\n')
    assert programs.build(source, archs=("gfx942",)).run(arch="gfx942").stdout == "3\n"
    (tmp_path / "size.h").write_text("constexpr int size = 4;\n")
    assert programs.build(source, archs=("gfx942",)).run(arch="gfx942").stdout == "4\n"


def test_other_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("secret")
    assert "file not found" in compile_error(f'#include "{tmp_path}/secret.h"\nint main() {{}}\n')


def test_records_of_a_run() -> None:
    run = programs.build(ADD, name="vector_add").run(arch="gfx1100", profiled=True)
    assert run.exit_code == 0
    (launch,) = run.launches
    assert (launch.kernel, launch.arch) == ("vector_add", "gfx1100")
    assert (launch.grid, launch.block) == ((3907, 1, 1), (256, 1, 1))
    assert launch.counters["SQ_WAVES"] == 3907 * 8
    assert launch.time is not None
    assert launch.lines
    assert [activity.kind for activity in run.activities] == ["copy", "copy", "kernel", "copy"]
    assert run.activities[2].launch == 0


def test_checked_and_limited_runs() -> None:
    race = """#include <hip/hip_runtime.h>
__global__ void race(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  x[threadIdx.x] = s[(threadIdx.x + 33) % 64];
}
__global__ void endless(int* x) {
  while (*x == 0) *x = 0;
}
int main(int argc, char**) {
  int* x;
  if (hipMalloc(&x, 256) != hipSuccess || hipMemset(x, 0, 256) != hipSuccess) return 1;
  if (argc > 1) endless<<<1, 64>>>(x);
  else race<<<1, 64>>>(x);
  return hipDeviceSynchronize();
}
"""
    program = programs.build(race)
    assert program.run(arch="gfx1100").faults == ()
    run = program.run(arch="gfx1100", checked=True)
    assert [fault.kind for fault in run.faults] == ["race"]
    assert run.exit_code != 0
    run = program.run("endless", arch="gfx1100", instruction_limit=100_000)
    assert [fault.kind for fault in run.faults] == ["timeout"]
    assert run.exit_code == 702 % 256


def test_an_architecture_without_code() -> None:
    program = programs.build(ADD, archs=("gfx942",))
    with pytest.raises(GpulabError, match="has no code for gfx1100"):
        program.run(arch="gfx1100")


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(history_load_length=0)
    gpulab.load_ipython_extension(made)
    yield made
    InteractiveShell.clear_instance()


def cell(shell: InteractiveShell, text: str) -> tuple[str, str, BaseException | None]:
    with capture_output() as captured:
        result = shell.run_cell(text)
    shown = "".join(str(output.data.get("text/plain", "")) for output in captured.outputs)
    return captured.stdout + shown, captured.stderr, result.error_in_exec or result.error_before_exec


def test_the_magic(shell: InteractiveShell) -> None:
    out, err, error = cell(shell, "%%hipcc --name add\n" + ADD)
    assert (out, err, error) == ("PASSED: 1000000 sums\n", "", None)
    assert isinstance(shell.user_ns["add"], programs.HostProgram)


def test_the_magic_with_a_fault_and_an_exit_code(shell: InteractiveShell) -> None:
    """They are shown and fail nothing; the line is the cell's, where %%hipcc is line 1."""
    text = (SOURCES / "out_of_bounds.hip").read_text()
    out, err, error = cell(shell, "%%hipcc --arch gfx1100\n" + text)
    assert (out, error) == ("", None)
    assert "cell.hip, line 16" in err
    assert err.rstrip().endswith("[exit code 1]")


def test_the_magic_with_arguments_and_input(shell: InteractiveShell) -> None:
    text = (
        "#include <cstdio>\nint main(int c, char** v) {\n"
        ' char s[9]; if (fgets(s, 9, stdin)) printf("%d%s%s", c, v[1], s); }\n'
    )
    out, err, error = cell(shell, '%%hipcc -O1 --args "\'a b\' c" --stdin "hello"\n' + text)
    assert (out, err, error) == ("3a bhello", "", None)


def test_the_magic_with_a_mistake(shell: InteractiveShell) -> None:
    out, _, error = cell(shell, "%%hipcc\n" + ADD.replace("int n)", "int m)", 1))
    assert isinstance(error, CompileError)
    line = ADD[: ADD.index("if (i < n)")].count("\n") + 2  # %%hipcc is line 1
    assert f"cell.hip:{line}:" in out
    assert "undeclared identifier 'n'" in out


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["hipcc", str(SOURCES / "vector_add.hip"), "-o", "add", "-O2"]) == 0
    done = subprocess.run([str(tmp_path / "add")], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == ("PASSED: 1000000 sums\n", 0)
    Path("bad.hip").write_text("int main() { return x; }\n")
    assert cli.main(["hipcc", "bad.hip"]) == 1
    assert re.search(r"bad\.hip:1:\d+: error: use of undeclared identifier 'x'", capsys.readouterr().err)
    assert cli.main(["hipcc", "a.hip", "b.hip"]) == 1
    assert "a.hip cannot be read: No such file or directory" in capsys.readouterr().err


@pytest.mark.full
def test_a_program_without_its_python(tmp_path: Path) -> None:
    """Started with a Python that is not there, or without gpulab, it says what to do."""
    program = programs.build(ADD)
    done = subprocess.run(
        [str(program.path)], env={"GPULAB_PYTHON": str(tmp_path / "none"), "GPULAB_LIBRARY": "virtual"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 127
    assert "set GPULAB_PYTHON to the Python" in done.stderr
    done = subprocess.run(
        [str(program.path)], env={"GPULAB_LIBRARY": "rocm"}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 127
    assert "no AMD GPU answers" in done.stderr


OLD = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void add(int* out, int a, float b) { out[threadIdx.x] = a + (int)b + threadIdx.x; }
int main() {
  int *out, host[64];
  if (hipMalloc((void**)&out, sizeof host) != hipSuccess) return 1;
  hipLaunchKernelGGL(add, dim3(1), dim3(64), 0, 0, out, 3, 4.0f);
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 2;
  hipLaunchConfig_t one = {};
  one.gridDim = dim3(1);
  one.blockDim = dim3(64);
  if (hipLaunchKernelEx(&one, add, out, 5, 6) != hipSuccess) return 3;
  std::printf("%d ", host[63]);
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 4;
  std::printf("%d\\n", host[63]);
  return hipFree(out) != hipSuccess;
}
"""


@pytest.mark.parametrize("standard", ["c++11", pytest.param("c++14", marks=pytest.mark.full)])
def test_programs_of_older_standards(standard: str) -> None:
    assert programs.build(OLD, options=[f"-std={standard}"]).run(arch="gfx1100").stdout == "70 74\n"


CYCLIC = """
#include <cstdio>
double image[64 * 64], sums[64 * 64];
int main() {
  for (int i = 0; i < 64 * 64; ++i) image[i] = i % 101;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x)
      for (int j = -2; j <= 2; ++j)
        for (int i = -2; i <= 2; ++i)
          sums[y * 64 + x] += image[(y - j + 64) % 64 * 64 + (x - i + 64) % 64] * (1 + i * i + j * j);
  double total = 0;
  for (double sum : sums) total += sum;
  std::printf("%.0f\\n", total);
}
"""


@pytest.mark.parametrize("options", [(), pytest.param(("-O3",), marks=pytest.mark.full)])
def test_host_loops_with_indices_that_wrap(options: tuple[str, ...]) -> None:
    # each element is taken once with each of the 25 weights, whose sum is 125
    total = 125 * sum(i % 101 for i in range(64 * 64))
    assert programs.build(CYCLIC, options=options).run(arch="gfx942").stdout == f"{total}\n"


def test_interrupting_stops_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """KeyboardInterrupt while it runs ends its process."""
    import os
    import signal
    import threading
    import time

    program = programs.build('#include <unistd.h>\n#include <cstdio>\nint main() { std::printf("%d\\n", getpid()); '
                             "std::fflush(stdout); for (;;) sleep(1); }\n")  # fmt: skip
    said: list[str] = []

    def output(_: str, text: str) -> None:
        said.append(text)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        program.run(arch="gfx942", output=output, seconds=60)
    time.sleep(0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(int(said[0]), 0)
