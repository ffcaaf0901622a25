"""Programs compiled at run time, through hip-python."""

import ctypes

import numpy as np
import pytest

from tests.hip.conftest import ok, run_python

SOURCE = b"""
#include "scale.h"
template <typename T> __global__ void scale(T* x) { x[threadIdx.x] *= SCALE; }
__constant__ int limit = 4;
"""
HEADER = b"#define SCALE 3\n"


def log_of(hiprtc, program):
    log = bytearray(ok(hiprtc.hiprtcGetProgramLogSize(program)))
    ok(hiprtc.hiprtcGetProgramLog(program, log))
    assert log[-1] == 0
    return log[:-1].decode()


def code_of(hiprtc, program):
    code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
    ok(hiprtc.hiprtcGetCode(program, code))
    return code


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


def test_there_is_no_bitcode(hiprtc):
    program = ok(hiprtc.hiprtcCreateProgram(b"__global__ void k() {}", b"k.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, None))
    assert hiprtc.hiprtcGetBitcodeSize(program)[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_PROGRAM


def test_linking_is_answered_with_its_own_code_and_a_reason(hiprtc):
    result, _ = hiprtc.hiprtcLinkCreate(0, None, None)
    assert result == hiprtc.hiprtcResult.HIPRTC_ERROR_LINKING
    done = run_python("from hip import hiprtc\nimport gpulab\nprint(int(hiprtc.hiprtcLinkCreate(0, None, None)[0]))")
    assert done.stdout == "100\n"
    assert "links no bitcode" in done.stderr
