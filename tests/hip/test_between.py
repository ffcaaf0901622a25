"""Memory and events of other processes: handles, what they name, and which ones are refused.

A process that only waits inherits the file behind an allocation, so that a handle may name it in place of this process.
"""

import ctypes
import os
import struct
import subprocess
import sys

import pytest

from gpulab.virtual_gpu import runtime

TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3
HANDLE = struct.Struct("<4sIIIQ")  # kind, process, descriptor, device, bytes
byref = ctypes.byref


@pytest.fixture
def exported(call):
    """An allocation of 4096 bytes 0..255, and its handle as another process would write it."""
    address = call.address("hipMalloc", 4096)
    data = bytes(range(256)) * 16
    assert call.hipMemcpy(address, data, 4096, TO_DEVICE) == 0
    handle = ctypes.create_string_buffer(64)
    assert call.hipIpcGetMemHandle(handle, address) == 0
    kind, process, descriptor, device, size = HANDLE.unpack(handle.raw[: HANDLE.size])
    assert (kind, process, device, size) == (b"gpm1", os.getpid(), 0, 4096)
    assert not any(handle.raw[HANDLE.size :])
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[descriptor]) as other:
        yield address, handle.raw, HANDLE.pack(kind, other.pid, descriptor, device, size).ljust(64, b"\0")
    call.hipFree(address)


def structure(raw):
    from gpulab.virtual_gpu.runtime.structures import IpcHandle

    return IpcHandle.from_buffer_copy(raw)


def opened(call, raw, flags=1):
    place = ctypes.c_uint64(7)
    return call.hipIpcOpenMemHandle(byref(place), structure(raw), flags), place.value


def read(call, address, size):
    got = ctypes.create_string_buffer(size)
    assert call.hipMemcpy(got, address, size, TO_HOST) == 0
    return got.raw


def test_memory_of_another_process_is_the_same_memory(call, exported):
    """What one stores the other sees; opened twice, it is closed twice; it is no allocation of this process."""
    address, own, theirs = exported
    descriptors = len(os.listdir("/proc/self/fd"))
    code, here = opened(call, theirs)
    assert code == 0
    assert here != address
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 1  # the mapping's own
    assert read(call, here, 4096) == read(call, address, 4096) == bytes(range(256)) * 16
    assert call.hipMemset(here + 16, 9, 4) == call.hipMemset(address + 20, 8, 4) == 0
    assert read(call, here + 15, 10) == read(call, address + 15, 10) == bytes([15, 9, 9, 9, 9, 8, 8, 8, 8, 24])
    assert opened(call, theirs) == (0, here)
    assert call.hipFree(here) == 1
    assert call.hipIpcGetMemHandle(ctypes.create_string_buffer(64), here) == 1
    assert call.hipIpcCloseMemHandle(here) == 0
    assert read(call, here, 4) == bytes(range(4))
    assert call.hipIpcCloseMemHandle(here) == 0
    assert call.hipIpcCloseMemHandle(here) == 1
    assert call.hipMemset(here, 0, 4) == 1
    assert read(call, address, 4) == bytes(range(4))
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert opened(call, own)[0] == 201  # hipErrorInvalidContext: a process's own
    again = ctypes.create_string_buffer(64)
    assert call.hipIpcGetMemHandle(again, address) == 0
    assert again.raw == own


@pytest.mark.parametrize(
    ("place", "value", "code"),
    [
        (0, b"gpe1", 400), (0, b"\0\0\0\0", 400), (4, 0, 400), (4, 8192, 205), (4, 4095, 205), (2, 0, 205),
        (2, 4_000_000, 205), (1, 0xFFFFFFF, 205), (3, 0, 0), (3, 99, 0),
    ],
)  # fmt: skip
def test_handles_that_name_no_memory(call, exported, place, value, code):
    """400 hipErrorInvalidHandle, 205 hipErrorMapFailed; a device that this process has not becomes its last one."""
    fields = list(HANDLE.unpack(exported[2][: HANDLE.size]))
    fields[place] = value
    descriptors = len(os.listdir("/proc/self/fd"))
    found, here = opened(call, HANDLE.pack(*fields).ljust(64, b"\0"))
    assert found == code
    if code:
        assert len(os.listdir("/proc/self/fd")) == descriptors
        return
    devices = runtime.instance().devices
    assert runtime.instance().memory.blocks[here].device is devices[value if value < len(devices) else -1]
    assert runtime.instance().memory.blocks[here].size == 4096
    assert call.hipIpcCloseMemHandle(here) == 0


def test_what_has_no_handle(call, exported):
    address, _, theirs = exported
    handle = ctypes.create_string_buffer(64)
    pinned, managed = call.address("hipHostMalloc", 64, 0), call.address("hipMallocManaged", 64, 1)
    for wrong in (address + 8, pinned, managed, ctypes.addressof(handle), None):
        assert call.hipIpcGetMemHandle(handle, wrong) == 1
    assert call.hipIpcGetMemHandle(None, address) == 1
    for flags in (0, 2, 3):
        assert opened(call, theirs, flags) == (1, 7)
    assert call.hipIpcOpenMemHandle(None, structure(theirs), 1) == 1
    assert call.hipIpcCloseMemHandle(None) == call.hipIpcCloseMemHandle(address) == 1
    assert call.hipHostFree(pinned) == call.hipFree(managed) == 0


def test_events_of_other_processes_are_over(call):
    """hipEventInterprocess 4 goes with hipEventDisableTiming 2; what is opened is an event like these, and complete."""
    plain, shared = call.address("hipEventCreateWithFlags", 2), call.address("hipEventCreateWithFlags", 6)
    handle = ctypes.create_string_buffer(64)
    assert call.hipIpcGetEventHandle(handle, plain) == call.hipIpcGetEventHandle(None, shared) == 1
    assert call.hipIpcGetEventHandle(handle, shared) == 0
    kind, process, *numbers = HANDLE.unpack(handle.raw[: HANDLE.size])
    assert (kind, process, numbers) == (b"gpe1", os.getpid(), [0, 0, shared])
    place = ctypes.c_uint64(7)
    assert call.hipIpcOpenEventHandle(byref(place), structure(handle.raw)) == 201
    other = HANDLE.pack(kind, os.getpid() + 1, *numbers).ljust(64, b"\0")
    assert call.hipIpcOpenEventHandle(None, structure(other)) == 1
    assert call.hipIpcOpenEventHandle(byref(place), structure(b"gpm1" + other[4:])) == 400
    assert place.value == 7
    assert call.hipIpcOpenEventHandle(byref(place), structure(other)) == 0
    assert runtime.instance().streams.find_event(place.value).flags == 6
    assert call.hipEventQuery(place.value) == 0
    for event in (plain, shared, place.value):
        assert call.hipEventDestroy(event) == 0
