"""Host code that follows a device pointer: what is read of the signal, and what the reader is told."""

from __future__ import annotations

import ctypes
import platform
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.programs import touches
from gpulab.records import AllocationNote
from gpulab.toolchain import elf
from gpulab.toolchain.binary import lines

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="programs run on Linux")

# A process that touches device memory as a program does; the C code of a program is Python's here.
TOUCHING = """
import ctypes, signal, sys
from gpulab.programs import start, touches
from gpulab.providers.virtual import hosting
from gpulab.virtual_gpu import runtime
hosting.install(lambda *given: None, lambda *given: None)
memory = runtime.instance().memory
places = {kind: memory.allocate(4096, kind) for kind in ("device", "managed", "host", "signal")}
watch = touches.Watch(sys.executable, *hosting.device_addresses(), hosting.nearest)
def stop(number, info, context):
    start._say(watch.said(info, context) or "another fault")
    start.os._exit(3)
kept = touches.action(ctypes.CDLL(None), signal.SIGSEGV, stop)
for kind in ("managed", "host", "signal"):
    ctypes.memset(places[kind], 1, 4096)
assert sys.argv[1] != "none" or start.os._exit(0)
place = {"far": 64, "outside": places["device"] + (1 << 31)}.get(sys.argv[1], places["device"] + 40)
if sys.argv[1] == "freed":
    memory.free(places["device"], ("device",))
if sys.argv[1] == "write":
    ctypes.memset(place, 1, 1)
else:
    ctypes.string_at(place, 1)
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("read", "The program's host code reads device memory at 0x200000010028"),
        ("write", "host code writes device memory at 0x200000010028"),
        ("write", "\n  That is byte 40 of device memory (4,096 bytes from 0x200000010000).\nWhy: "),
        ("write", "hipMemcpy"),
        ("freed", "byte 40 of device memory (which was freed)"),
        ("outside", "an address of the device where nothing is allocated"),
        ("far", "another fault"),
        ("none", ""),
    ],
)
def test_what_is_said(what: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", TOUCHING, what], capture_output=True, text=True, check=False)
    assert done.returncode == (0 if what == "none" else 3)
    assert said in done.stderr
    assert bool(done.stderr) == bool(said)


def test_what_the_context_tells() -> None:
    room = bytearray(1024)
    at = ctypes.addressof((ctypes.c_char * 1024).from_buffer(room))
    struct.pack_into("<Q", room, 168, 0x1234)  # gregs[REG_RIP], sys/ucontext.h
    struct.pack_into("<Q", room, 192, 4)  # gregs[REG_ERR]: a page fault of user code that read
    assert touches.access(at, "x86_64") == (0x1234, "reads")
    struct.pack_into("<Q", room, 192, 6)
    assert touches.access(at, "x86_64") == (0x1234, "writes")
    assert touches.access(at, "riscv64") == (0, "uses")
    # arm64: the program counter, then a floating-point record and that of the exception syndrome, with bit 6 (WnR)
    room[:] = bytes(1024)
    struct.pack_into("<Q", room, 440, 0x5678)
    struct.pack_into("<II", room, 464, 0x46508001, 32)
    assert touches.access(at, "aarch64") == (0x5678, "uses")
    struct.pack_into("<IIQ", room, 496, 0x45535201, 16, 0x92000046)
    assert touches.access(at, "aarch64") == (0x5678, "writes")
    struct.pack_into("<IIQ", room, 496, 0x45535201, 16, 0x92000006)
    assert touches.access(at, "aarch64") == (0x5678, "reads")
    # what follows a record without a name or without a size is none; eight records are looked at
    for head in ((0, 16), (7, 0)):
        struct.pack_into("<II", room, 464, *head)
        struct.pack_into("<IIQ", room, 480, 0x45535201, 16, 0)
        assert touches.access(at, "aarch64") == (0x5678, "uses")
    for last, found in ((7, "reads"), (8, "uses")):
        for place in range(last):
            struct.pack_into("<II", room, 464 + 16 * place, 7, 16)
        struct.pack_into("<IIQ", room, 464 + 16 * last, 0x45535201, 16, 0)
        assert touches.access(at, "aarch64") == (0x5678, found)


def test_a_file_without_lines_or_symbols(tmp_path: Path) -> None:
    assert touches.source_line(tmp_path / "none", 16) == ""
    (tmp_path / "text").write_text("no program")
    assert touches.source_line(tmp_path / "text", 16) == ""


def test_the_place_is_part_of_the_message() -> None:
    near = AllocationNote(0x1000, 64, "inside", 0, "device memory")
    said = touches.message(0x1004, "reads", near, "a.hip, line 7")
    assert said.startswith("The program's host code reads device memory at 0x1004: a.hip, line 7.\n")
    assert "byte 4 of device memory (64 bytes from 0x1000)" in said
    assert platform.machine() in touches._CONTEXTS


def test_the_line_of_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last row that begins at the place or before it; without lines, the function whose bytes hold it."""
    program = tmp_path / "program"
    program.write_bytes(b"program")
    names = (".text", ".symtab", ".dynsym")
    sections = [SimpleNamespace(name=name, contents=name.encode()) for name in names]
    rows = [SimpleNamespace(address=at, file=file, line=line) for at, file, line in (
        (16, "/home/me/a.hip", 7), (24, "b.hip", 9), (32, "b.hip", 0), (40, "a.hip", 8))]  # fmt: skip
    symbols = [SimpleNamespace(kind=kind, address=at, size=size, name=name) for kind, at, size, name in (
        (elf.FUNCTION + 1, 0, 99, "data"), (elf.FUNCTION, 4, 4, "_Z3addPi"),
        (elf.FUNCTION, 32, 8, "main"))]  # fmt: skip

    def read(raw: bytes, machine: object) -> object:
        assert (raw, machine) == (b"program", None)
        return sections

    def rows_of(contents: dict[str, bytes]) -> object:
        assert contents == {name: name.encode() for name in names}
        return iter(rows)

    monkeypatch.setattr(elf, "read", read)
    monkeypatch.setattr(lines, "rows", rows_of)
    monkeypatch.setattr(elf, "symbols_of", lambda table, given: symbols if table is sections[1] else [symbols[0]])
    assert {at: touches.source_line(program, at) for at in (3, 4, 7, 8, 15, 16, 23, 24, 31, 32, 39, 40, 99)} == {
        3: "", 4: "function add", 7: "function add", 8: "", 15: "", 16: "a.hip, line 7",
        23: "a.hip, line 7", 24: "b.hip, line 9", 31: "b.hip, line 9", 32: "function main", 39: "function main",
        40: "a.hip, line 8", 99: "a.hip, line 8",
    }  # fmt: skip


NOTHING = "an address of the device where nothing is allocated"


@pytest.mark.parametrize(
    ("near", "what"),
    [
        (None, NOTHING),
        (AllocationNote(0x1000, 8, "after", 4, "device memory"), NOTHING),
        (AllocationNote(0x9000, 8, "before", 4, "device memory"), NOTHING),
        (AllocationNote(0x1000, 8192, "freed", 0, "device memory"), "byte 4,660 of device memory (which was freed)"),
        (AllocationNote(0x1000, 8192, "inside", 0, "managed memory"),
         "byte 4,660 of managed memory (8,192 bytes from 0x1000)"),
    ],
)  # fmt: skip
def test_the_whole_message(near: AllocationNote | None, what: str) -> None:
    assert touches.message(0x2234, "writes", near, "") == (
        f"The program's host code writes device memory at 0x2234.\n  That is {what}.\n"
        "Why: what hipMalloc returns is an address for kernels; host code cannot follow it.\n"
        "Try: copy with hipMemcpy, or allocate with hipMallocManaged or hipHostMalloc what both sides use."
    )


def test_where_in_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The innermost function that is the program's; a caller's address is that of the instruction behind its call."""
    files = {100: b"/lib/libc.so", 200: b"/my/program", 300: b"/usr/lib/_ctypes.so", 400: b"/usr/lib/libpython3.so",
             500: b"/bin/python3", 600: None, 800: b"/my/program"}  # fmt: skip
    stack: list[int | None] = []

    class Library:
        def dladdr(self, frame: int, place: Any) -> int:
            found = place._obj
            found.file, found.base = files.get(frame), {200: 150}.get(frame)
            return frame in files

        def backtrace(self, frames: Any, most: int) -> int:
            assert most == len(frames) == 64
            frames[: len(stack)] = stack
            return len(stack)

    monkeypatch.setattr(touches, "source_line", lambda file, offset: f"{file} at {offset}")
    watch = touches.Watch("/my/program", 1 << 40, 1 << 20, lambda place: None)
    monkeypatch.setattr(watch, "_library", Library())
    inside = "inside of a call of the virtual library, which is a mistake there"
    for counter, frames, said in (
        (200, [], "/my/program at 50"), (100, [1, 100, 600, 700, 200, 300], "/my/program at 49"), (100, [200, 1], ""),
        (100, [200, 100], ""), (100, [100, 300, 200], inside), (400, [], inside), (100, [100, 100, 500], inside),
        (700, [700, None, 200], "/my/program at 49"), (800, [], "/my/program at 800"),
    ):  # fmt: skip
        stack[:] = frames
        assert watch._where(counter) == said, frames
    monkeypatch.setattr(watch, "_library", SimpleNamespace(dladdr=Library().dladdr))  # a C library without backtrace
    assert (watch._where(200), watch._where(100)) == ("/my/program at 50", "")
    room = (ctypes.c_uint64 * 64)()
    for place, found in (((1 << 40) - 1, False), (1 << 40, True), ((1 << 40) + (1 << 20) - 1, True),
                         ((1 << 40) + (1 << 20), False)):  # fmt: skip
        room[2] = place
        said = watch.said(ctypes.addressof(room), ctypes.addressof(room))
        assert said.startswith(f"The program's host code reads device memory at 0x{place:x}.") == found
        assert bool(said) == found


def test_how_a_handler_is_installed() -> None:
    """struct sigaction of GNU's C library, 64 bits: the handler, a mask of 128 bytes, flags (SA_SIGINFO is 4)."""
    asked, calls = [], []

    def sigaction(number: int, given: Any, old: object) -> None:
        raw = ctypes.string_at(ctypes.addressof(given._obj), 152)
        asked.append((number, old, struct.unpack_from("<QQ", raw)[1], struct.unpack_from("<I", raw, 136)[0]))
        handler = struct.unpack_from("<Q", raw)[0]
        touches.HANDLER(handler)(11, 5, None)
        touches.HANDLER(handler)(11, None, 6)

    kept = touches.action(SimpleNamespace(sigaction=sigaction), 7, lambda *given: calls.append(given))
    assert asked == [(7, None, 0, 4)]
    assert calls == [(11, 5, 0), (11, 0, 6)]
    assert isinstance(kept, touches.HANDLER)
