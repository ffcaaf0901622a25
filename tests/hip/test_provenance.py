"""Where bytes come from in checked launches: small cases by hand. A bit is 1 for a byte that a kernel changed last."""

import ctypes

import numpy as np
import pytest

from gpulab.records import Transfer
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.runtime import provenance
from gpulab.virtual_gpu.runtime.provenance import Provenance

IN, OUT = "host to device", "device to host"


@pytest.fixture
def arena():
    return Arena()


@pytest.fixture
def seen(arena):
    return Provenance(arena)


def place(arena, kind, data):
    address = arena.allocate(len(data), kind, 0)
    arena.view(address, len(data))[:] = data
    return address, arena.find(address)


def bits(*numbers, size):
    return np.isin(np.arange(size), numbers)


def test_copies_in_and_out(arena, seen):
    host = np.frombuffer(b"abcdefghij", np.uint8).copy()
    address, device = place(arena, "global", b"0123456789")
    seen.copied(address + 2, device, host.ctypes.data, None, 4)
    seen.launched([(address, bits(1, 3, 9, size=10))])
    seen.copied(host.ctypes.data, None, address + 1, device, 9)
    seen.overwritten(address + 3, 1)
    seen.copied(host.ctypes.data, None, address + 1, device, 9)
    assert seen.transfers == [
        Transfer(IN, 4, 0, b"2345".hex(), "00"),
        # Bytes 1 to 9 of the allocation: the kernel changed 1, 3 and 9, of these the first, the third and the ninth.
        Transfer(OUT, 9, 3, b"abcdefghi".hex(), "0501"),
        Transfer(OUT, 9, 2, b"abcdefghi".hex(), "0101"),
    ]


def test_a_copy_on_the_device_takes_marks_along(arena, seen):
    (first, one), (second, two) = place(arena, "global", bytes(8)), place(arena, "global", bytes(8))
    seen.launched([(first, bits(0, 5, size=8)), (second, bits(7, size=8))])
    seen.copied(second + 2, two, first + 4, one, 3)
    assert seen.transfers == []
    seen.copied(0, None, second, two, 0)
    assert seen.transfers == []
    into = np.zeros(8, np.uint8)
    seen.copied(into.ctypes.data, None, second, two, 8)
    assert seen.transfers == [Transfer(OUT, 8, 2, bytes(8).hex(), "88")]  # bytes 3 and 7


def test_what_a_launch_leaves_in_memory_of_both(arena, seen):
    (pinned, _), (managed, _), (device, _) = (place(arena, kind, b"wxyz") for kind in ("host", "managed", "global"))
    seen.launched([(address, bits(2, size=4)) for address in (device, pinned, managed)])
    assert seen.transfers == [Transfer(OUT, 4, 1, b"wxyz".hex(), "04")] * 2
    seen.launched([(1 << 20, bits(2, size=4))])  # no allocation any longer
    assert len(seen.transfers) == 2


def test_pinned_memory_is_the_hosts(arena, seen):
    (pinned, host), (device, one), (managed, both) = (
        place(arena, kind, b"wxyz") for kind in ("host", "global", "managed")
    )
    for target, to, source, origin, direction in (
        (device, one, pinned, host, IN), (pinned, host, device, one, OUT), (pinned, host, pinned, host, OUT),
        (device, one, managed, both, None), (managed, both, device, one, None), (managed, both, pinned, host, IN),
    ):  # fmt: skip
        before = len(seen.transfers)
        seen.copied(target, to, source, origin, 4)
        assert [one.direction for one in seen.transfers[before:]] == ([direction] if direction else [])


def test_a_new_allocation_at_an_old_place_has_no_marks(arena, seen):
    address, _ = place(arena, "global", bytes(8))
    seen.launched([(address, bits(0, size=8))])
    seen.launched([(address, bits(1, size=8))])  # added to
    into = np.zeros(8, np.uint8)
    seen.copied(into.ctypes.data, None, address, arena.find(address), 8)
    assert seen.transfers[-1].kernels == "03"
    import dataclasses

    renewed = dataclasses.replace(arena.find(address))
    seen.copied(into.ctypes.data, None, address, renewed, 8)
    assert seen.transfers[-1].kernels == "00"


def test_of_large_transfers_only_sizes_are_kept(arena, seen):
    most, all_ = provenance.MOST_BYTES, provenance.ALL_BYTES
    into = np.zeros(all_, np.uint8)
    address, device = place(arena, "global", bytes(all_))
    sizes = [most + 1, *[most] * (all_ // most - 1), most - 8, 9, 8, 1]
    for size in sizes:
        seen.copied(into.ctypes.data, None, address, device, size)
    kept = [one.bytes for one in seen.transfers if one.data]
    assert [one.bytes for one in seen.transfers] == sizes
    assert kept == [*[most] * (all_ // most - 1), most - 8, 8]
    seen.copied(address, device, into.ctypes.data, None, 9)  # the other direction has its own room
    assert seen.transfers[-1].data
    while len(seen.transfers) < provenance.MOST_TRANSFERS:
        seen.copied(into.ctypes.data, None, address, device, 1)
    seen.copied(into.ctypes.data, None, address, device, 1)
    assert len(seen.transfers) == provenance.MOST_TRANSFERS


@pytest.fixture
def watched():
    """The runtime of this process, which notes where bytes come from."""
    from gpulab.virtual_gpu import runtime

    instance = runtime.instance()
    instance.provenance = Provenance(instance.arena)
    yield instance.provenance
    instance.provenance = None


def test_copies_and_fills_of_rows(call, watched):
    """Two slices of three rows of four bytes: each row is a transfer; bytes between the rows keep their marks."""
    from gpulab.virtual_gpu.runtime import structures

    address = call.address("hipMalloc", 128)
    given, got = np.arange(96, dtype=np.uint8), np.zeros(96, np.uint8)
    changed = np.zeros(128, bool)
    changed[3::4] = True  # a kernel was the last to change every fourth byte
    watched.launched([(address, changed)])
    p = structures.Memcpy3D(kind=1, extent=structures.Extent(4, 3, 2))
    p.srcPtr, p.srcPos = structures.PitchedPtr(given.ctypes.data, 8, 8, 5), structures.Position(1, 1, 0)
    p.dstPtr = structures.PitchedPtr(address, 16, 16, 3)
    assert call.hipMemcpy3D(ctypes.byref(p)) == 0
    rows = [given[40 * z + 8 * (y + 1) + 1 :][:4] for z in range(2) for y in range(3)]
    assert watched.transfers == [Transfer(IN, 4, 0, row.tobytes().hex(), "00") for row in rows]
    watched.transfers.clear()
    assert call.hipMemcpy2D(got.ctypes.data, 8, address, 16, 8, 6, 2) == 0
    # The first four bytes of each row came from the host, of the others the last one from the kernel.
    assert [(one.direction, one.bytes, one.stored, one.kernels) for one in watched.transfers] == [(OUT, 8, 1, "80")] * 6
    assert [one.data[:8] for one in watched.transfers] == [row.tobytes().hex() for row in rows]
    watched.transfers.clear()
    assert call.hipMemset2D(address, 16, 7, 8, 2) == 0
    assert call.hipMemcpy(got.ctypes.data, address, 48, 2) == 0
    (one,) = watched.transfers
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(one.kernels), np.uint8), bitorder="little").tolist()
    assert [n for n, bit in enumerate(bits) if bit] == [11, 15, 27, 31, 39, 43, 47]
    assert call.hipFree(address) == 0


def test_copies_of_rows_that_were_never_written(call):
    """In a checked block: the row that has such bytes is named by their place, and a row in order is not."""
    from gpulab.virtual_gpu import runtime

    instance = runtime.instance()
    address, got = call.address("hipMalloc", 64), np.zeros(64, np.uint8)
    assert call.hipMemset(address, 0, 24) == call.hipMemset(address + 32, 0, 8) == 0
    instance.checking = 1
    try:
        assert call.hipMemcpy2D(got.ctypes.data, 8, address, 16, 8, 3, 2) == 0
        assert instance.current.fault is None
        instance.reports_faults, was = True, instance.reports_faults
        code = call.hipMemcpy2D(got.ctypes.data, 8, address, 16, 8, 4, 2)
        fault = instance.current.fault
        assert (code, fault.kind, fault.address, fault.bytes, fault.access) == (
            0,
            "never written",
            address + 48,
            8,
            "copy",
        )
    finally:
        instance.checking, instance.current.fault, instance.reports_faults = 0, None, was
    assert call.hipFree(address) == 0
