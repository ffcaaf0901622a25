"""Host code that follows a device pointer: what is read of the signal, and what the reader is told."""

from __future__ import annotations

import ctypes
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gpulab.programs import touches
from gpulab.records import AllocationNote

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
