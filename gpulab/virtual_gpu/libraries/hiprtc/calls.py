"""hiprtc's calls: programs compiled at run time."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.hiprtc import results
from gpulab.virtual_gpu.libraries.hiprtc.programs import RtcPrograms
from gpulab.virtual_gpu.libraries.values import get64, need, put32, put64, rt, text

_programs = RtcPrograms(rt)
_names: dict[int, ctypes.Array[ctypes.c_char]] = {}


def hiprtcGetErrorString(result: int) -> int:
    found = _names.get(result)
    if found is None:
        name = results.NAMES.get(result, "Invalid HIPRTC error code")
        found = _names[result] = ctypes.create_string_buffer(name.encode())
    return ctypes.addressof(found)


def hiprtcVersion(major: int, minor: int) -> int:
    need(major, minor)
    put32(major, 7)
    put32(minor, 15)
    return 0


def hiprtcCreateProgram(program: int, source: int, name: int, count: int, headers: int, names: int) -> int:
    need(program, source)
    if count < 0 or (count and not (headers and names)):
        return results.INVALID_INPUT
    texts = {text(get64(names + 8 * i)): text(get64(headers + 8 * i)) for i in range(count)}
    put64(program, _programs.create(text(source), text(name) if name else "", texts))
    return 0


def hiprtcDestroyProgram(program: int) -> int:
    need(program)
    if _programs.known(program):  # the program itself where its address belongs (createRef() is missing)
        return results.INVALID_INPUT
    _programs.destroy(get64(program))
    put64(program, 0)
    return 0


def hiprtcAddNameExpression(program: int, expression: int) -> int:
    _programs.add_name(program, text(expression))
    return 0


def hiprtcCompileProgram(program: int, count: int, options: int) -> int:
    if count < 0 or (count and not options):
        return results.INVALID_INPUT
    return _programs.compile(program, [text(get64(options + 8 * i)) for i in range(count)])


def hiprtcGetLoweredName(program: int, expression: int, result: int) -> int:
    need(result)
    put64(result, _programs.lowered_name(program, text(expression)))
    return 0


def _log(program: int) -> bytes:
    return _programs.find(program).log.encode() + b"\0"


def hiprtcGetProgramLogSize(program: int, size: int) -> int:
    need(size)
    put64(size, len(_log(program)))
    return 0


def hiprtcGetProgramLog(program: int, log: int) -> int:
    need(log)
    raw = _log(program)
    ctypes.memmove(log, raw, len(raw))
    return 0


def hiprtcGetCodeSize(program: int, size: int) -> int:
    need(size)
    put64(size, len(_programs.image(program)))
    return 0


def hiprtcGetCode(program: int, code: int) -> int:
    need(code)
    image = _programs.image(program)
    ctypes.memmove(code, image, len(image))
    return 0


def hiprtcGetBitcode(program: int, bitcode: int) -> int:
    # There is bitcode only for programs compiled with -fgpu-rdc, which is not supported.
    _programs.find(program)
    return results.INVALID_PROGRAM


def hiprtcGetBitcodeSize(program: int, size: int) -> int:
    _programs.find(program)
    return results.INVALID_PROGRAM


# Linking takes bitcode, and the virtual GPU runs what a compiler made of one whole program.


def _no_linking(call: str) -> int:
    rt.tell(
        call, results.NAMES[results.LINKING],
        "the virtual GPU links no bitcode; give hiprtcCreateProgram the whole source, with what it includes as headers",
    )  # fmt: skip
    return results.LINKING


def hiprtcLinkCreate(count: int, options: int, values: int, state: int) -> int:
    return _no_linking("hiprtcLinkCreate")


def hiprtcLinkAddFile(state: int, kind: int, file: int, count: int, options: int, values: int) -> int:
    return _no_linking("hiprtcLinkAddFile")


def hiprtcLinkAddData(
    state: int, kind: int, image: int, size: int, name: int, count: int, options: int, values: int
) -> int:
    return _no_linking("hiprtcLinkAddData")


def hiprtcLinkComplete(state: int, binary: int, size: int) -> int:
    return _no_linking("hiprtcLinkComplete")


def hiprtcLinkDestroy(state: int) -> int:
    return _no_linking("hiprtcLinkDestroy")
