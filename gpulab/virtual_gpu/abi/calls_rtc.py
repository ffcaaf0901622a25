"""hiprtc's calls: programs compiled at run time."""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.abi.common import get64, put32, put64, rt
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.rtc import INVALID_INPUT, INVALID_PROGRAM, RtcFailure

_programs = rt.programs
_names: dict[int, ctypes.Array[ctypes.c_char]] = {}


def _text(address: int) -> str:
    if not address:
        raise RtcFailure(INVALID_INPUT)
    return ctypes.string_at(address).decode(errors="replace")


def _need(*addresses: int) -> None:
    if not all(addresses):
        raise RtcFailure(INVALID_INPUT)


def hiprtcGetErrorString(result: int) -> int:
    found = _names.get(result)
    if found is None:
        name = codes.HIPRTC_NAMES.get(result, "Invalid HIPRTC error code")
        found = _names[result] = ctypes.create_string_buffer(name.encode())
    return ctypes.addressof(found)


def hiprtcVersion(major: int, minor: int) -> int:
    _need(major, minor)
    put32(major, 7)
    put32(minor, 15)
    return 0


def hiprtcCreateProgram(program: int, source: int, name: int, count: int, headers: int, names: int) -> int:
    _need(program, source)
    if count < 0 or (count and not (headers and names)):
        return INVALID_INPUT
    texts = {_text(get64(names + 8 * i)): _text(get64(headers + 8 * i)) for i in range(count)}
    put64(program, _programs.create(_text(source), _text(name) if name else "", texts))
    return 0


def hiprtcDestroyProgram(program: int) -> int:
    _need(program)
    if _programs.known(program):  # the program itself where its address belongs (createRef() is missing)
        return INVALID_INPUT
    _programs.destroy(get64(program))
    put64(program, 0)
    return 0


def hiprtcAddNameExpression(program: int, expression: int) -> int:
    _programs.add_name(program, _text(expression))
    return 0


def hiprtcCompileProgram(program: int, count: int, options: int) -> int:
    if count < 0 or (count and not options):
        return INVALID_INPUT
    return _programs.compile(program, [_text(get64(options + 8 * i)) for i in range(count)])


def hiprtcGetLoweredName(program: int, expression: int, result: int) -> int:
    _need(result)
    put64(result, _programs.lowered_name(program, _text(expression)))
    return 0


def _log(program: int) -> bytes:
    return _programs.find(program).log.encode() + b"\0"


def hiprtcGetProgramLogSize(program: int, size: int) -> int:
    _need(size)
    put64(size, len(_log(program)))
    return 0


def hiprtcGetProgramLog(program: int, log: int) -> int:
    _need(log)
    raw = _log(program)
    ctypes.memmove(log, raw, len(raw))
    return 0


def hiprtcGetCodeSize(program: int, size: int) -> int:
    _need(size)
    put64(size, len(_programs.image(program)))
    return 0


def hiprtcGetCode(program: int, code: int) -> int:
    _need(code)
    image = _programs.image(program)
    ctypes.memmove(code, image, len(image))
    return 0


def hiprtcGetBitcode(program: int, bitcode: int) -> int:
    # There is bitcode only for programs compiled with -fgpu-rdc, which is not supported.
    _programs.find(program)
    return INVALID_PROGRAM


def hiprtcGetBitcodeSize(program: int, size: int) -> int:
    _programs.find(program)
    return INVALID_PROGRAM
