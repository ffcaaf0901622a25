"""hiprtc's calls: programs compiled at run time."""

from __future__ import annotations

import ctypes
import os

from gpulab.errors import GpulabError
from gpulab.virtual_gpu.libraries.hiprtc import results
from gpulab.virtual_gpu.libraries.hiprtc.programs import Links, RtcPrograms
from gpulab.virtual_gpu.libraries.values import get64, need, put32, put64, rt, text

_programs = RtcPrograms(rt)
_links = Links(rt)
_BITCODE = b"BC\xc0\xde"  # how LLVM bitcode begins
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
    """The log, with a zero behind it; nothing if there is none. AMD's examples take any size but 0 for a warning."""
    log = _programs.find(program).log.encode()
    return log + b"\0" if log else b""


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
    need(bitcode)
    raw = _programs.bitcode(program)
    ctypes.memmove(bitcode, raw, len(raw))
    return 0


def hiprtcGetBitcodeSize(program: int, size: int) -> int:
    need(size)
    put64(size, len(_programs.bitcode(program)))
    return 0


def hiprtcLinkCreate(count: int, options: int, values: int, state: int) -> int:
    need(state)  # options tell the linker how to optimise: they change no result
    put64(state, _links.create())
    return 0


def _add(call: str, state: int, unit: bytes) -> int:
    units = _links.find(state)
    if not unit.startswith(_BITCODE):
        what = "a finished code object" if unit.startswith(b"\x7fELF") else "no LLVM bitcode"
        rt.tell(
            call, results.NAMES[results.INVALID_INPUT],
            f"this is {what}: compile each source with -fgpu-rdc and add what hiprtcGetBitcode gives",
        )  # fmt: skip
        return results.INVALID_INPUT
    units.append(unit)
    return 0


def hiprtcLinkAddFile(state: int, kind: int, file: int, count: int, options: int, values: int) -> int:
    try:
        with open(os.fsdecode(ctypes.string_at(file)) if file else "", "rb") as opened:
            unit = opened.read()
    except OSError as error:
        rt.tell("hiprtcLinkAddFile", results.NAMES[results.INVALID_INPUT], f"the file cannot be read: {error}")
        return results.INVALID_INPUT
    return _add("hiprtcLinkAddFile", state, unit)


def hiprtcLinkAddData(
    state: int, kind: int, image: int, size: int, name: int, count: int, options: int, values: int
) -> int:
    if not image or size <= 0:
        return results.INVALID_INPUT
    return _add("hiprtcLinkAddData", state, ctypes.string_at(image, size))


def hiprtcLinkComplete(state: int, binary: int, size: int) -> int:
    need(binary, size)
    if not _links.find(state):
        rt.tell("hiprtcLinkComplete", results.NAMES[results.LINKING], "nothing was added to link")
        return results.LINKING
    try:
        address, length = _links.complete(state)
    except GpulabError as error:
        rt.tell("hiprtcLinkComplete", results.NAMES[results.LINKING], str(error))
        return results.LINKING
    put64(binary, address)
    put64(size, length)
    return 0


def hiprtcLinkDestroy(state: int) -> int:
    _links.destroy(state)
    return 0
