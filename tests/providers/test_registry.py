"""Which library is used: the environment, ROCm that works, ROCm that does not, the cache folder, several processes."""

import subprocess
import sys

import pytest

from gpulab import errors
from gpulab.providers import registry
from gpulab.providers.rocm import installation
from gpulab.toolchain.host import compile_host_library
from gpulab.virtual_gpu import libraries
from tests.hip.conftest import ROOT, run_python

# A library that answers as ROCm's does on a machine with one GPU; offsets are those of hipDeviceProp_tR0600.
ROCM = """
#include <string.h>
#include <stdlib.h>
#include <stddef.h>
static int device;
int hipGetDeviceCount(int *n) { *n = COUNT; return COUNT ? 0 : 100; }
int hipGetDevice(int *n) { *n = device; return 0; }
int hipSetDevice(int n) { device = n; return n == 0 ? 0 : 101; }
int hipGetLastError(void) { return 0; }
int hipRuntimeGetVersion(int *v) { *v = 71500001; return 0; }
const char *hipGetErrorName(int e) { return "hipErrorIllegalAddress"; }
const char *hipGetErrorString(int e) { return "an illegal memory access was encountered"; }
int hipGetDevicePropertiesR0600(char *p, int n) {
  memset(p, 0, 1472); strcpy(p, "AMD Instinct MI210"); strcpy(p + 1160, "gfx90a:sramecc+:xnack-");
  *(int *)(p + 308) = 64; *(int *)(p + 388) = 104; *(int *)(p + 360) = 9; return 0;
}
int hipModuleLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                          unsigned l, void *s, void **k, void **x) { return 0; }
int hipEventCreate(void **e) { *e = malloc(8); return 0; }
int hipEventDestroy(void *e) { free(e); return 0; }
int hipEventRecord(void *e, void *s) { return 0; }
int hipEventSynchronize(void *e) { return 0; }
int hipEventElapsedTime(float *ms, void *a, void *b) { *ms = 0.25f; return 0; }
int hipDeviceSynchronize(void) { return 700; }
"""


@pytest.fixture(scope="module")
def rocm(tmp_path_factory):
    """A folder laid out as a ROCm installation, for each of: one GPU, none, a library that crashes."""
    root = tmp_path_factory.mktemp("rocm")
    for name, text in (
        ("good", ROCM.replace("COUNT", "1")),
        ("empty", ROCM.replace("COUNT", "0")),
        ("crashing", "#include <stdlib.h>\nint hipGetDeviceCount(int *n) { abort(); }\n"),
    ):
        compile_host_library(text, root / name / "lib" / "libamdhip64.so", optimize="1")
    return root


@pytest.mark.parametrize(
    ("which", "devices", "words"),
    [
        ("good", 1, "with 1 GPU"),
        ("empty", 0, "no usable GPU (HIP error 100)"),
        ("crashing", 0, "does not work"),
    ],
)
def test_rocm_is_asked_in_a_process_of_its_own(rocm, monkeypatch, which, devices, words):
    monkeypatch.setenv("ROCM_PATH", str(rocm / which))
    monkeypatch.setattr(installation.os.path, "exists", lambda path: True)
    count, state = installation.devices()
    assert count == devices
    assert words in state


def test_without_a_driver_nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(installation.os.path, "exists", lambda path: False)
    monkeypatch.setattr(installation.subprocess, "run", lambda *_, **__: pytest.fail("a process was started"))
    count, state = installation.devices()
    assert (count, state) == (0, "no AMD GPU driver (there is no /dev/kfd)")


WITH_DRIVER = """
import os
real = os.path.exists
os.path.exists = lambda path: path == "/dev/kfd" or real(path)
import gpulab
from gpulab import providers, errors
"""


@pytest.mark.parametrize("binding", ["hip-python", "ctypes"])
def test_rocm_first_and_virtual_devices_by_name(rocm, binding):
    done = run_python(
        WITH_DRIVER
        + """
gpu = providers.selected
print([(d.index, d.arch, d.virtual, d.compute_units) for d in providers.devices()], providers.current(), gpu().name)
print(providers.find("virtual:gfx942").index, providers.find("gfx1100").index, providers.find("gfx90a").index)
with providers.recording() as records:
    providers.selected().launch(1, (2, 1, 1), (64, 1, 1), 0, 0, b"")
    providers.selected().launch(1, (2, 1, 1), (64, 1, 1), 0, 0, b"")
print(records[0].time_us, records[0].time_is_modelled, records[0].arch, records[0].waves)
print([(a.kind, a.device, a.start_us, a.end_us, a.launch, a.is_modelled) for a in records.activities()])
print(records[0].placement)
try:
    providers.selected().synchronize()
except errors.KernelFault as error:
    print(error.hint)
try:
    providers.instruments("trace")
except errors.HipError as error:
    print(error.what)
providers.select(2)
print(providers.current(), gpu().name, providers.selected().malloc(0), providers.selected().memory_info()[1])
providers.select(0)
print(providers.current(), gpu().name, gpu().library().binding)
""",
        ROCM_PATH=str(rocm / "good"),
        GPULAB_BINDING=binding,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 9, done.stderr
    assert lines[0] == "[(0, 'gfx90a', False, 104), (1, 'gfx942', True, 304), (2, 'gfx1100', True, 96)] 0 rocm"
    assert lines[1] == "1 2 0"
    assert lines[2] == "250.0 False gfx90a 2"
    # All events of this library are 250 microseconds apart.
    assert lines[3] == "[('kernel', 0, 0.0, 250.0, 0, False), ('kernel', 0, 250.0, 500.0, 1, False)]"
    assert lines[4] == "None"
    assert "virtual:gfx942" in lines[5]
    assert lines[6] == "AMD Instinct MI210 cannot be traced."
    assert lines[7] == "2 virtual 0 25753026560"
    assert lines[8] == f"0 rocm {binding}"


@pytest.mark.full
def test_the_virtual_library_can_be_chosen(rocm):
    done = run_python(
        WITH_DRIVER
        + """
from hip import hip
print([d.arch for d in providers.devices()], hip.hipGetDeviceCount()[1])
""",
        ROCM_PATH=str(rocm / "good"),
        GPULAB_LIBRARY="virtual",
    )
    assert done.stdout == "['gfx942', 'gfx1100'] 2\n", done.stderr


def test_a_rocm_without_a_gpu_that_hip_python_finds_first(rocm, tmp_path):
    """hip-python looks into the package rocm_sdk before ROCM_PATH; gpulab then uses ctypes."""
    package = tmp_path / "rocm_sdk"
    package.mkdir()
    path = rocm / "empty" / "lib" / "libamdhip64.so"
    (package / "__init__.py").write_text(f"def find_libraries(name):\n    return [{str(path)!r}]\n")
    import os

    done = run_python(
        WITH_DRIVER + "print([d.arch for d in providers.devices()], providers.selected().library().binding, "
        "providers.states()['rocm'])",
        PYTHONPATH=os.pathsep.join((str(ROOT), str(tmp_path))),
    )
    assert done.stdout.startswith("['gfx942', 'gfx1100'] ctypes "), done.stderr
    assert "no usable GPU" in done.stdout


@pytest.mark.parametrize(("value", "words"), [("rocm", "no GPU answers"), ("cuda", "virtual")])
def test_a_choice_that_cannot_be(monkeypatch, value, words):
    monkeypatch.setenv("GPULAB_LIBRARY", value)
    monkeypatch.setattr(installation, "devices", lambda: (0, "no libamdhip64 found"))
    with pytest.raises(errors.HipError, match=words):
        registry.Registry(registry.MEMBERS).names()


PLAIN = """
import sys
from hip import hip, hiprtc
def ok(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]
source = b'''extern "C" __global__ void k(int n, int* x) {
  int i = threadIdx.x;
  if (i < n) x[i] = i * i; else x[i + 100000] = 1;
}'''
program = ok(hiprtc.hiprtcCreateProgram(source, b"k.hip", 0, None, None))
ok(hiprtc.hiprtcCompileProgram(program, 0, None))
code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
ok(hiprtc.hiprtcGetCode(program, code))
kernel = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(code)), b"k"))
import ctypes
x = ok(hip.hipMalloc(40))
ok(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 10, 1, 1, 0, None, None, (ctypes.c_int(10), x)))
got = (ctypes.c_int * 10)()
ok(hip.hipMemcpy(got, x, 40, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
print(list(got))
ok(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 11, 1, 1, 0, None, None, (ctypes.c_int(10), x)))
print(hip.hipDeviceSynchronize()[0].name)
"""


@pytest.mark.full
def test_hip_python_alone_with_one_environment_variable():
    """No import of gpulab: ROCM_PATH is enough."""
    libraries.build()
    done = run_python(PLAIN, ROCM_PATH=str(libraries.rocm_path()))
    assert done.stdout == "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]\nhipErrorIllegalAddress\n", done.stderr
    assert "stopped kernel k at k.hip:3" in done.stderr


def test_hip_python_alone_where_gpulab_cannot_be_imported(tmp_path):
    """The library says why, once, and its calls fail; nothing crashes."""
    libraries.build()
    import os

    (tmp_path / "gpulab.py").write_text("raise ImportError('not this one')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ROCM_PATH": str(libraries.rocm_path())}
    program = "from hip import hip\nprint(*(hip.hipGetDeviceCount()[0].name for _ in range(2)))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "hipErrorNotInitialized hipErrorNotInitialized\n"
    assert done.stderr.count("cannot start in this interpreter") == 1
    assert "not this one" in done.stderr


def test_control_c_stops_a_kernel():
    done = run_python(
        """
import os, signal, struct, threading, time
from gpulab import providers, toolchain
code = toolchain.compile('extern "C" __global__ void k(volatile int* x) { while (*x == 0) {} }', arch="gfx942")
address = providers.selected().malloc(4)
kernel = providers.selected().function(providers.selected().load(code.elf), "k")
arguments = struct.pack("<Q", address)
providers.selected().instruments.set_instruction_limit(20_000_000)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        providers.selected().launch(kernel, (1, 1, 1), (64, 1, 1), 0, 0, arguments)
except KeyboardInterrupt:
    print("interrupted")
"""
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_importing_gpulab_is_enough():
    done = run_python("import gpulab, sys\nprint('hip' in sys.modules, 'ctypes' in sys.modules)\n" + PLAIN)
    assert done.stdout.splitlines()[0].startswith("False")
    assert done.stdout.splitlines()[1:] == ["[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]", "hipErrorIllegalAddress"], (
        done.stderr
    )


@pytest.mark.full
def test_importing_gpulab_after_a_call_that_found_no_library(tmp_path):
    """A cell that failed for want of a library does not have to be paid for with a new kernel."""
    done = run_python(
        """
from hip import hip
try:
    hip.hipGetDeviceCount()
except RuntimeError as error:
    print("failed to dlopen" in str(error))
import gpulab
from gpulab import providers
print(hip.hipGetDeviceCount()[1], providers.selected().library().binding)
""",
        ROCM_PATH=str(tmp_path),
    )
    assert done.stdout == "True\n2 hip-python\n", done.stderr


@pytest.mark.full
def test_importing_gpulab_after_hip_is_enough_too():
    done = run_python("from hip import hip, hiprtc\nimport gpulab\n" + PLAIN)
    assert done.stdout.splitlines()[0] == "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]", done.stderr


@pytest.mark.full
@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("gfx1100", ["gfx1100"]),
        ("gfx942,gfx942, gfx1100", ["gfx942", "gfx942", "gfx1100"]),
        ("", ["gfx942", "gfx1100"]),
    ],
)
def test_the_environment_chooses_devices(names, found):
    done = run_python(
        "import gpulab\nfrom gpulab import providers\nprint([d.arch for d in providers.devices()])",
        GPULAB_DEVICES=names,
    )
    assert done.stdout == f"{found}\n", done.stderr


def test_a_wrong_name_in_the_environment_is_explained():
    done = run_python(
        "from gpulab import providers, errors\n"
        "try: providers.devices()\nexcept errors.DeviceNotFound as error: print(error)",
        GPULAB_DEVICES="gfx803",
    )
    assert "no virtual GPU of architecture 'gfx803'" in done.stdout, done.stderr


def test_the_instruction_limit_of_the_environment():
    done = run_python(
        """
import struct
from gpulab import errors, providers, toolchain
code = toolchain.compile('extern "C" __global__ void k(volatile int* x) { while (*x == 0) {} }', arch="gfx942")
gpu = providers.selected()
address = gpu.malloc(4)
kernel = gpu.function(gpu.load(code.elf), "k")
gpu.launch(kernel, (1, 1, 1), (64, 1, 1), 0, 0, struct.pack("<Q", address))
try:
    providers.selected().synchronize()
except errors.KernelTimeout as error:
    print("stopped", error.fault.where.line)
""",
        GPULAB_INSTRUCTION_LIMIT="20_000",
    )
    assert done.stdout == "stopped 1\n", done.stderr


def test_several_processes_build_at_once(tmp_path):
    program = (
        "from gpulab.virtual_gpu import libraries\n"
        "print(libraries.path('hip').exists(), libraries.path('hiprtc').exists())"
    )
    import os

    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GPULAB_CACHE": str(tmp_path / "cache")}
    running = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate(timeout=300)[0] for process in running] == ["True True\n"] * 3
    folder = tmp_path / "cache" / "virtual-rocm" / "lib"
    names = {path.name for path in folder.iterdir()}
    assert names == {"libamdhip64.so", "libamdhip64.so.7", "libhiprtc.so", "libhiprtc.so.7"}


def test_a_cache_folder_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = run_python(
        "from gpulab.virtual_gpu import libraries; print(libraries.path('hip').exists())",
        GPULAB_CACHE=str(blocked),
        TMPDIR=str(tmp_path),
    )
    assert done.stdout == "True\n", done.stderr


def test_building_again_does_nothing():
    libraries.build()
    said = []
    assert libraries.build(said.append) is False
    assert said == []
