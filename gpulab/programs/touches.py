"""Host code of a program that follows a device pointer: `Watch` says where, when SIGSEGV has come of it.

On the virtual GPU, what a device has for itself lies elsewhere in the process than its addresses say, and at those the
system lets nobody read or write (virtual_gpu/machine/arena.py). What the signal tells (signal.h, ucontext.h) is read
here: the address, whether it was read or written, and the place in the program, with its line if the file has lines.
"""

from __future__ import annotations

import contextlib
import ctypes
import platform
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gpulab.errors import GpulabError
from gpulab.records import AllocationNote

_DEEPEST = 64  # frames that are looked at
#: machine -> places in ucontext_t: the program counter; a word and the bit of it that says "written".
_CONTEXTS = {"x86_64": (168, 192, 1), "aarch64": (440, 0, 6)}
_ESR_RECORDS, _ESR_MAGIC = 464, 0x45535201  # arm64: records of further state (asm/sigcontext.h)
_ADDRESS = 16  # of si_addr in siginfo_t
HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
"""A signal's handler in C: number, siginfo_t, ucontext_t."""


class _Place(ctypes.Structure):
    """Dl_info (dlfcn.h)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def access(context: int, machine: str) -> tuple[int, str]:
    """(program counter, "reads" or "writes" or "uses") of what was interrupted; `context` is a ucontext_t's address."""
    if machine not in _CONTEXTS:
        return 0, "uses"
    counter, word, bit = _CONTEXTS[machine]
    at = ctypes.c_uint64.from_address(context + counter).value
    if not word:
        place = context + _ESR_RECORDS
        for _ in range(8):
            magic, size = struct.unpack("<II", ctypes.string_at(place, 8))
            if magic == _ESR_MAGIC:
                word = place + 8 - context
                break
            if not magic or not size:
                return at, "uses"
            place += size
        else:
            return at, "uses"
    return at, "writes" if ctypes.c_uint64.from_address(context + word).value >> bit & 1 else "reads"


def source_line(file: Path, offset: int) -> str:
    """The line of a program's source at this place of its file, as "a.hip, line 7"; else the function; else ""."""
    from gpulab.providers.faults import plain_name
    from gpulab.toolchain import elf
    from gpulab.toolchain.binary import lines

    try:
        sections = elf.read(file.read_bytes(), machine=None)
    except (OSError, GpulabError):
        return ""
    contents = {section.name: section.contents for section in sections}
    found: lines.LineStart | None = None
    for row in lines.rows(contents):
        if row.address > offset:
            break
        found = row
    if found is not None and found.line:
        return f"{found.file.rpartition('/')[2]}, line {found.line}"
    for table in (section for section in sections if section.name == ".symtab"):
        for symbol in elf.symbols_of(table, sections):
            if symbol.kind == elf.FUNCTION and 0 <= offset - symbol.address < symbol.size:
                return f"function {plain_name(symbol.name)}"
    return ""


def message(place: int, action: str, near: AllocationNote | None, where: str) -> str:
    """What the reader is told."""
    if near is None or near.relation in ("after", "before"):
        what = "an address of the device where nothing is allocated"
    else:
        state = "which was freed" if near.relation == "freed" else f"{near.size:,} bytes from 0x{near.address:x}"
        what = f"byte {place - near.address:,} of {near.name} ({state})"
    return str(
        GpulabError(
            f"The program's host code {action} device memory at 0x{place:x}{f': {where}' if where else ''}.\n"
            f"  That is {what}.",
            why="what hipMalloc returns is an address for kernels; host code cannot follow it.",
            hint="copy with hipMemcpy, or allocate with hipMallocManaged or hipHostMalloc what both sides use.",
        )
    )


class Watch:
    """Tells touches of device memory from other reasons for SIGSEGV.

    Args:
        path: the program's file.
        base, size: the range of device addresses.
        nearest: the allocation of an address, or the one next to it.
    """

    def __init__(self, path: str, base: int, size: int, nearest: Callable[[int], AllocationNote | None]) -> None:
        self._path, self._base, self._size, self._nearest = path, base, size, nearest
        self._library = ctypes.CDLL(None)
        self._library.dladdr.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def said(self, info: int, context: int) -> str:
        """The message for a SIGSEGV; "" if no device memory was touched. Addresses of a siginfo_t and a ucontext_t."""
        place = ctypes.c_uint64.from_address(info + _ADDRESS).value
        if not 0 <= place - self._base < self._size:
            return ""
        counter, action = access(context, platform.machine())
        return message(place, action, self._nearest(place), self._where(counter))

    def _where(self, counter: int) -> str:
        for frame in [counter, *self._callers(counter)]:
            found = _Place()
            if not self._library.dladdr(frame, ctypes.byref(found)) or not found.file:
                continue
            file = found.file.decode(errors="replace")
            if file == self._path:
                back = 0 if frame == counter else 1  # a caller's address is that of the instruction behind the call
                return source_line(Path(file), frame - back - (found.base or 0))
            if file.rpartition("/")[2].startswith(("_ctypes", "libpython", "python")):
                return "inside of a call of the virtual library, which is a mistake there"
        return ""

    def _callers(self, counter: int) -> Sequence[int]:
        """Return addresses of the functions around the interrupted one, innermost first."""
        frames = (ctypes.c_void_p * _DEEPEST)()
        with contextlib.suppress(AttributeError):
            count = self._library.backtrace(frames, _DEEPEST)
            listed = [frame or 0 for frame in frames[:count]]
            return listed[listed.index(counter) + 1 :] if counter in listed else ()
        return ()


def action(library: Any, number: int, handler: Callable[[int, int, int], None]) -> object:
    """Have `handler` called with a signal's number and the addresses of its siginfo_t and ucontext_t (sigaction).

    Returns:
        What must stay alive.
    """
    called = HANDLER(lambda number, info, context: handler(number, info or 0, context or 0))

    class Action(ctypes.Structure):  # struct sigaction of GNU's C library
        _fields_ = (
            ("handler", ctypes.c_void_p),
            ("mask", ctypes.c_uint64 * 16),
            ("flags", ctypes.c_int),
            ("restorer", ctypes.c_void_p),
        )

    asked = Action(ctypes.cast(called, ctypes.c_void_p).value, flags=4)  # SA_SIGINFO
    library.sigaction(number, ctypes.byref(asked), None)
    return called
