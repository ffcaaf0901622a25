"""Programs compiled at run time, through hip-python."""

import ctypes

import numpy as np
import pytest
from hip import hip as hip_module

from gpulab.toolchain.code_object import CodeObject
from gpulab.virtual_gpu import runtime
from tests.hip.conftest import Calls, ok

SOURCE = b"""
#include "scale.h"
template <typename T> __global__ void scale(T* x) { x[threadIdx.x] *= SCALE; }
__constant__ int limit = 4;
"""
HEADER = b"#define SCALE 3\n"


def log_of(hiprtc, program):
    log = bytearray(ok(hiprtc.hiprtcGetProgramLogSize(program)))
    ok(hiprtc.hiprtcGetProgramLog(program, log))
    assert log[-1:] in (b"", b"\0")
    return log[:-1].decode()


def code_of(hiprtc, program):
    code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
    ok(hiprtc.hiprtcGetCode(program, code))
    return code


@pytest.mark.full
@pytest.mark.parametrize("device", [0, 1])
def test_name_expressions_and_headers(hip, hiprtc, device):
    ok(hip.hipSetDevice(device))
    arch = ok(hip.hipGetDeviceProperties(device)).gcnArchName
    program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"scale.hip", 1, [HEADER], [b"scale.h"]))
    names = [b"scale<float>", b" scale<int> ", b"&limit"]
    for name in names:
        ok(hiprtc.hiprtcAddNameExpression(program, name))
    r = hiprtc.hiprtcResult
    assert hiprtc.hiprtcGetLoweredName(program, names[0])[0] == r.HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION
    ok(hiprtc.hiprtcCompileProgram(program, 1, [b"--gpu-architecture=" + arch.encode()]))
    assert (
        hiprtc.hiprtcAddNameExpression(program, b"scale<char>")[0]
        == r.HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION
    )
    assert hiprtc.hiprtcGetLoweredName(program, b"scale<char>")[0] == r.HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID
    lowered = [str(ok(hiprtc.hiprtcGetLoweredName(program, name))) for name in names]
    assert lowered == ["_Z5scaleIfEvPT_", "_Z5scaleIiEvPT_", "limit"]
    assert str(ok(hiprtc.hiprtcGetLoweredName(program, b" scale<float>"))) == lowered[0]  # blanks around it are dropped
    module = ok(hip.hipModuleLoadData(code_of(hiprtc, program)))
    function = ok(hip.hipModuleGetFunction(module, lowered[1].encode()))
    data = np.arange(8, dtype=np.int32)
    pointer = ok(hip.hipMalloc(32))
    ok(hip.hipMemcpy(pointer, data, 32, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    ok(hip.hipModuleLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, None, None, (pointer,)))
    ok(hip.hipMemcpy(data, pointer, 32, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    assert list(data) == [0, 3, 6, 9, 12, 15, 18, 21]
    ok(hip.hipFree(pointer))
    ok(hip.hipModuleUnload(module))
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))


def test_a_source_that_does_not_compile(hiprtc):
    program = ok(
        hiprtc.hiprtcCreateProgram(b"__global__ void k(int* x) {\n  x[0] = y;\n}\n", b"bad.hip", 0, None, None)
    )
    r = hiprtc.hiprtcResult
    assert hiprtc.hiprtcCompileProgram(program, 0, None)[0] == r.HIPRTC_ERROR_COMPILATION
    log = log_of(hiprtc, program)
    assert "undeclared identifier 'y'" in log
    assert "2" in log
    assert hiprtc.hiprtcGetCodeSize(program)[0] == r.HIPRTC_ERROR_INVALID_PROGRAM


def test_options(hiprtc):
    source = b"#ifndef N\n#error no N\n#endif\n__global__ void k(int* x) { x[0] = N; }\n"
    program = ok(hiprtc.hiprtcCreateProgram(source, b"n.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 2, [b"-DN=5", b"-O2"]))
    other = ok(hiprtc.hiprtcCreateProgram(source, b"n.hip", 0, None, None))
    refused = hiprtc.hiprtcCompileProgram(other, 1, [b"-fplugin=/tmp/x.so"])[0]
    assert refused == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_OPTION


def test_versions_and_result_names(hiprtc):
    assert ok(hiprtc.hiprtcVersion()) == (7, 15)
    r = hiprtc.hiprtcResult
    assert str(ok(hiprtc.hiprtcGetErrorString(r.HIPRTC_ERROR_COMPILATION))) == "HIPRTC_ERROR_COMPILATION"


def test_wrong_programs(hiprtc):
    from gpulab.virtual_gpu import libraries

    r = hiprtc.hiprtcResult
    assert hiprtc.hiprtcCreateProgram(None, b"x", 0, None, None)[0] == r.HIPRTC_ERROR_INVALID_INPUT
    library = ctypes.PyDLL(str(libraries.path("hiprtc")))
    assert library.hiprtcCompileProgram(ctypes.c_void_p(12345), 0, None) == int(r.HIPRTC_ERROR_INVALID_PROGRAM)
    assert library.hiprtcDestroyProgram(None) == int(r.HIPRTC_ERROR_INVALID_INPUT)
    program = ok(hiprtc.hiprtcCreateProgram(b"x", b"x", 0, None, None))
    assert hiprtc.hiprtcDestroyProgram(program)[0] == r.HIPRTC_ERROR_INVALID_INPUT  # its address is asked for
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))


def test_a_log_with_nothing_in_it_has_no_bytes(hiprtc):
    """AMD's guide to hiprtc, "Compilation APIs": a size other than 0 means an error or a warning."""
    for source, empty in ((b"__global__ void k() {}", True), (b"__global__ void k() { int x = 1.5; }", False)):
        program = ok(hiprtc.hiprtcCreateProgram(source, b"k.hip", 0, None, None))
        ok(hiprtc.hiprtcCompileProgram(program, 0, None))
        size = ok(hiprtc.hiprtcGetProgramLogSize(program))
        log = bytearray(b"?" * (size + 4))
        ok(hiprtc.hiprtcGetProgramLog(program, log))
        assert (size == 0) is empty
        assert log[size:] == b"????"
        assert empty or (log[size - 1] == 0 and b"1.5" in log)


def test_there_is_no_bitcode(hiprtc):
    program = ok(hiprtc.hiprtcCreateProgram(b"__global__ void k() {}", b"k.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, None))
    assert hiprtc.hiprtcGetBitcodeSize(program)[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_PROGRAM


BITCODE = hip_module.hipJitInputType.hipJitInputLLVMBitcode
FIRST = b"""
extern __device__ int twice(int);
extern __device__ int table[4];
template <typename T> __global__ void fill(T* x) {
  x[threadIdx.x] = twice(threadIdx.x) + table[threadIdx.x & 3];
}
"""
SECOND = b"""
__device__ int table[4] = {100, 200, 300, 400};
static __device__ int factor() { return 2; }
__device__ int twice(int x) { return factor() * x; }
__global__ void plain(int* x) { x[0] = 7; }
"""


def unit(hiprtc, source, arch, expression=None):
    """Bitcode of a source, and the symbol of a name expression."""
    program = ok(hiprtc.hiprtcCreateProgram(source, b"unit.hip", 0, None, None))
    if expression is not None:
        ok(hiprtc.hiprtcAddNameExpression(program, expression))
    result = hiprtc.hiprtcCompileProgram(program, 2, [b"-fgpu-rdc", b"--gpu-architecture=" + arch.encode()])[0]
    assert int(result) == 0, log_of(hiprtc, program)
    raw = bytearray(ok(hiprtc.hiprtcGetBitcodeSize(program)))
    ok(hiprtc.hiprtcGetBitcode(program, raw))
    assert hiprtc.hiprtcGetCodeSize(program)[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_PROGRAM
    return bytes(raw), str(ok(hiprtc.hiprtcGetLoweredName(program, expression))) if expression else ""


def begin(hiprtc, *units):
    state = ok(hiprtc.hiprtcLinkCreate(0, None, None))
    for raw in units:
        ok(hiprtc.hiprtcLinkAddData(state, BITCODE, raw, len(raw), b"unit", 0, None, None))
    return state


@pytest.mark.full
@pytest.mark.parametrize("device", [0, 1])
def test_units_are_linked(hip, hiprtc, device, tmp_path):
    ok(hip.hipSetDevice(device))
    arch = ok(hip.hipGetDeviceProperties(device)).gcnArchName
    first, symbol = unit(hiprtc, FIRST, arch, b"fill<int>")
    assert symbol == "_Z4fillIiEvPT_"
    second, _ = unit(hiprtc, SECOND, arch)
    (tmp_path / "second.bc").write_bytes(second)
    state = begin(hiprtc, first)
    ok(
        hiprtc.hiprtcLinkAddFile(
            state,
            BITCODE,
            str(tmp_path / "second.bc").encode(),
            0,
            None,
            None,
        )
    )
    image, size = ok(hiprtc.hiprtcLinkComplete(state))
    assert size > 1000
    module = ok(hip.hipModuleLoadData(image))
    ok(hiprtc.hiprtcLinkDestroy(state))
    data = np.zeros(8, dtype=np.int32)
    pointer = ok(hip.hipMalloc(32))
    ok(hip.hipModuleLaunchKernel(ok(hip.hipModuleGetFunction(module, symbol.encode())), 1, 1, 1, 8, 1, 1, 0, None, None,
                                 (pointer,)))  # fmt: skip
    ok(hip.hipMemcpy(data, pointer, 32, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    assert list(data) == [100, 202, 304, 406, 108, 210, 312, 414]
    ok(hip.hipModuleGetFunction(module, b"_Z5plainPi"))
    ok(hip.hipFree(pointer))
    ok(hip.hipModuleUnload(module))


@pytest.mark.parametrize("device", [0, 1])
def test_bitcode_is_a_module(hip, hiprtc, device, tmp_path):
    """AMD's guide to hiprtc, "Compilation APIs": what hiprtcGetBitcode gives, hipModuleLoadData takes; so does
    hipModuleLoad as a file. The bytes behind it in memory are no part of it."""
    ok(hip.hipSetDevice(device))
    raw, _ = unit(hiprtc, SECOND, ok(hip.hipGetDeviceProperties(device)).gcnArchName)
    (tmp_path / "second.bc").write_bytes(raw)
    pointer = ok(hip.hipMalloc(4))
    for module in (
        ok(hip.hipModuleLoadData(bytearray(raw + bytes(range(64))))),
        ok(hip.hipModuleLoad(str(tmp_path / "second.bc").encode())),
    ):
        data = np.zeros(1, dtype=np.int32)
        ok(hip.hipMemset(pointer, 0, 4))
        function = ok(hip.hipModuleGetFunction(module, b"_Z5plainPi"))
        ok(hip.hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, (pointer,)))
        ok(hip.hipMemcpy(data, pointer, 4, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
        assert data[0] == 7
        ok(hip.hipModuleUnload(module))
    ok(hip.hipFree(pointer))


@pytest.mark.full
@pytest.mark.usefixtures("aloud")
def test_bitcode_that_is_no_module_says_why(hip, hiprtc, capfd):
    ok(hip.hipSetDevice(0))
    invalid = hip.hipError_t.hipErrorInvalidImage
    assert hip.hipModuleLoadData(bytearray(unit(hiprtc, FIRST, "gfx942", b"fill<int>")[0]))[0] == invalid
    assert "twice" in capfd.readouterr().err
    other = unit(hiprtc, SECOND, "gfx1100")[0]
    assert hip.hipModuleLoadData(bytearray(other))[0] == invalid
    assert "gfx1100" in capfd.readouterr().err
    assert hip.hipModuleLoadData(bytearray(other[:400] + bytes(100)))[0] == invalid


@pytest.fixture
def aloud(monkeypatch):
    """Reasons go to standard error, as where nobody makes exceptions of error codes."""
    monkeypatch.setattr(runtime.instance(), "reports_faults", False)


@pytest.mark.full
@pytest.mark.usefixtures("aloud")
@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([FIRST], "twice"),
        ([SECOND, SECOND + b"// again"], "'table': symbol multiply defined"),
        ([], "nothing was added"),
    ],
)
def test_what_does_not_link_says_why(hiprtc, capfd, sources, said):
    units = [unit(hiprtc, source, "gfx942", b"fill<int>" if source == FIRST else None)[0] for source in sources]
    state = begin(hiprtc, *units)
    assert hiprtc.hiprtcLinkComplete(state)[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_LINKING
    assert said in capfd.readouterr().err
    ok(hiprtc.hiprtcLinkDestroy(state))


@pytest.mark.usefixtures("aloud")
def test_units_of_another_device_do_not_link(hip, hiprtc, capfd):
    ok(hip.hipSetDevice(0))
    state = begin(hiprtc, unit(hiprtc, SECOND, "gfx1100")[0])
    assert hiprtc.hiprtcLinkComplete(state)[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_LINKING
    assert "gfx1100" in capfd.readouterr().err


@pytest.mark.usefixtures("aloud")
def test_a_finished_code_object_is_no_unit(hiprtc, capfd):
    program = ok(hiprtc.hiprtcCreateProgram(b"__global__ void k() {}", b"k.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, None))
    code = bytes(code_of(hiprtc, program))
    state = begin(hiprtc)
    r = hiprtc.hiprtcResult
    result = hiprtc.hiprtcLinkAddData(state, BITCODE, code, len(code), b"k", 0, None, None)[0]
    assert result == r.HIPRTC_ERROR_INVALID_INPUT
    assert "-fgpu-rdc" in capfd.readouterr().err
    assert hiprtc.hiprtcLinkAddFile(state, BITCODE, b"/not/there.bc", 0, None, None)[0] == (
        r.HIPRTC_ERROR_INVALID_INPUT
    )
    ok(hiprtc.hiprtcLinkDestroy(state))
    assert hiprtc.hiprtcLinkDestroy(state)[0] == r.HIPRTC_ERROR_INVALID_INPUT


def test_arguments_that_are_missing():
    """HIPRTC_ERROR_INVALID_INPUT is 3, HIPRTC_ERROR_INVALID_PROGRAM 4, NO_LOWERED_NAMES_BEFORE_COMPILATION 9."""
    call = Calls("hiprtc")
    handle, texts = ctypes.c_uint64(), (ctypes.c_char_p * 1)(b"x")
    place = ctypes.byref(handle)
    for given in ((-1, texts, texts), (1, None, texts), (1, texts, None), (1, None, None)):
        assert call.hiprtcCreateProgram(place, b"x", b"x", *given) == 3
    assert call.hiprtcCreateProgram(None, b"x", b"x", 0, None, None) == 3
    assert call.hiprtcCreateProgram(place, None, b"x", 0, None, None) == 3
    assert call.hiprtcCreateProgram(place, b"x", None, 0, texts, texts) == 0
    program = handle.value
    assert call.hiprtcCompileProgram(program, -1, texts) == call.hiprtcCompileProgram(program, 1, None) == 3
    name = ctypes.c_uint64()
    assert call.hiprtcGetLoweredName(program, b"x", ctypes.byref(name)) == 9  # it has not been compiled
    assert call.hiprtcDestroyProgram(place) == 0
    handle.value = program
    assert call.hiprtcDestroyProgram(place) == 4
    state = ctypes.c_uint64()
    assert call.hiprtcLinkCreate(0, None, None, ctypes.byref(state)) == 0
    for image, size in ((None, 4), (b"code", 0)):
        assert call.hiprtcLinkAddData(state.value, int(BITCODE), image, size, b"x", 0, None, None) == 3
    assert call.hiprtcLinkDestroy(state.value) == 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "arch"),
    [
        (["--offload-arch", "gfx1100"], "gfx1100"), (["--offload-arch=gfx1100"], "gfx1100"),
        (["--gpu-architecture", "gfx1100", "-DN=1"], "gfx1100"), (["-DN=1"], "gfx942"), (["--offload-arch"], None),
    ],
)  # fmt: skip
def test_the_architecture_of_a_program(hip, options, arch):
    """With "=", or as the next option; the current device's without."""
    call, handle, size = Calls("hiprtc"), ctypes.c_uint64(), ctypes.c_uint64()
    assert call.hiprtcCreateProgram(ctypes.byref(handle), b"__global__ void k() {}", b"k.hip", 0, None, None) == 0
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    code = call.hiprtcCompileProgram(handle.value, len(options), given)
    if arch is None:
        assert code == 5  # HIPRTC_ERROR_INVALID_OPTION
    else:
        assert code == 0
        assert call.hiprtcGetCodeSize(handle.value, ctypes.byref(size)) == 0
        image = ctypes.create_string_buffer(size.value)
        assert call.hiprtcGetCode(handle.value, image) == 0
        assert CodeObject.from_elf(image.raw).arch == arch
    assert call.hiprtcDestroyProgram(ctypes.byref(handle)) == 0


def test_names_of_a_program_that_did_not_compile():
    call, handle, name = Calls("hiprtc"), ctypes.c_uint64(), ctypes.c_uint64()
    assert call.hiprtcCreateProgram(ctypes.byref(handle), b"__global__ void k( {}", b"k.hip", 0, None, None) == 0
    assert call.hiprtcAddNameExpression(handle.value, b"k") == 0
    assert call.hiprtcCompileProgram(handle.value, 0, None) == 6  # HIPRTC_ERROR_COMPILATION
    assert call.hiprtcGetLoweredName(handle.value, b"k", ctypes.byref(name)) == 6
    assert call.hiprtcDestroyProgram(ctypes.byref(handle)) == 0


def test_a_program_from_its_source_to_its_code(hip):
    """Version, names, code and its size, and a handle that is NULL when its program is gone."""
    call, handle, size, place = Calls("hiprtc"), ctypes.c_uint64(), ctypes.c_uint64(7), ctypes.c_uint64()
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert call.hiprtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
    assert (major.value, minor.value) == (7, 15)
    assert call.hiprtcVersion(None, ctypes.byref(minor)) == call.hiprtcVersion(ctypes.byref(major), None) == 3
    source, names, headers = b'#include "n.h"\n__global__ void k(int* x) { *x = N; }', (b"n.h",), (b"#define N 5\n",)
    texts = [(ctypes.c_char_p * 1)(*each) for each in (headers, names)]
    assert call.hiprtcCreateProgram(ctypes.byref(handle), source, b"k.hip", 1, *texts) == 0
    program = handle.value
    assert call.hiprtcDestroyProgram(program) == 3  # the program where its address belongs
    for name in ("hiprtcGetCodeSize", "hiprtcGetBitcodeSize"):
        assert getattr(call, name)(program, ctypes.byref(size)) == 4  # it has not been compiled
    assert call.hiprtcAddNameExpression(program, b" k ") == 0
    assert call.hiprtcCompileProgram(program, 0, None) == 0
    assert call.hiprtcAddNameExpression(program, b"k") == 8
    assert call.hiprtcGetLoweredName(program, b"k", ctypes.byref(place)) == 0
    assert ctypes.string_at(place.value) == b"_Z1kPi"
    again = ctypes.c_uint64()
    assert call.hiprtcGetLoweredName(program, b" k", ctypes.byref(again)) == 0
    assert again.value == place.value
    assert call.hiprtcGetLoweredName(program, b"other", ctypes.byref(again)) == 10
    assert call.hiprtcGetProgramLogSize(program, ctypes.byref(size)) == 0
    assert size.value == 0
    assert call.hiprtcGetCodeSize(program, ctypes.byref(size)) == 0
    image = ctypes.create_string_buffer(b"\xee" * (size.value + 1))
    assert call.hiprtcGetCode(program, image) == 0
    assert (image.raw[:4], image.raw[size.value : size.value + 1]) == (b"\x7fELF", b"\xee")
    assert CodeObject.from_elf(image.raw[: size.value]).arch == "gfx942"
    assert call.hiprtcGetBitcodeSize(program, ctypes.byref(size)) == 4
    for name in ("hiprtcGetCode", "hiprtcGetCodeSize", "hiprtcGetProgramLog", "hiprtcGetProgramLogSize"):
        assert getattr(call, name)(program, None) == 3
    assert call.hiprtcDestroyProgram(ctypes.byref(handle)) == 0
    assert handle.value == 0


@pytest.mark.parametrize("form", ["-I{}", "-I {}", "-isystem {}", "--include-path={}"])
def test_headers_in_folders(hip, hiprtc, tmp_path, form):
    """-I and its like: the headers that the program includes, by way of others too; HIP's own stay gpulab's."""
    (tmp_path / "parts" / "hip").mkdir(parents=True)
    (tmp_path / "parts" / "first.h").write_text('#include "second.h"\n#include <hip/hip_fp16.h>\n')
    (tmp_path / "parts" / "second.h").write_text("#define SECOND 20\n")
    (tmp_path / "parts" / "hip" / "hip_fp16.h").write_text("#error not this one\n")
    source = b'#include <parts/first.h>\n#include "given.h"\n__global__ void k(int* x) { *x = SECOND + GIVEN; }'
    program = ok(hiprtc.hiprtcCreateProgram(source, b"k.hip", 1, [b"#define GIVEN 3\n"], [b"given.h"]))
    (tmp_path / "given.h").write_text("#define GIVEN 4\n")  # what was given by its text comes first
    more = ["-I", str(tmp_path / "parts"), "-I/no/such/folder"]
    options = [one.encode() for one in (*form.format(tmp_path).split(" "), *more)]
    ok(hiprtc.hiprtcCompileProgram(program, len(options), options))
    module = ok(hip.hipModuleLoadData(code_of(hiprtc, program)))
    function = ok(hip.hipModuleGetFunction(module, b"_Z1kPi"))
    pointer, data = ok(hip.hipMalloc(4)), np.zeros(1, np.int32)
    ok(hip.hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, (pointer,)))
    ok(hip.hipMemcpy(data, pointer, 4, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    assert data[0] == 23
    ok(hip.hipFree(pointer))
