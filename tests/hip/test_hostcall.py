"""Calls of the host, with the test in a wave's place: packets are taken, filled in and answered."""

from __future__ import annotations

import ctypes
import struct

import pytest

from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.runtime import hostcall
from gpulab.virtual_gpu.runtime.hostcall import SERVICE_PRINTF, HostcallBuffer

BEGIN, END = 1, 2


class Wave:
    """ockl/src/hostcall_impl.cl in Python: a stack of free packets and one of ready ones, with tagged pointers."""

    def __init__(self, host: HostcallBuffer) -> None:
        self.host = host

    def word(self, offset: int) -> ctypes.c_uint64:
        return ctypes.c_uint64.from_address(self.host.address + offset)

    def fields(self) -> tuple[int, ...]:
        return struct.unpack("<6Q", ctypes.string_at(self.host.address, 48))

    def call(self, service: int, lanes: dict[int, list[int]]) -> int:
        """Take a packet, fill it in and make it ready: its pointer."""
        headers, payloads, _, free, ready, mask = self.fields()
        header = headers + (free & mask) * 24
        self.word(24).value = ctypes.c_uint64.from_address(header).value
        active = sum(1 << lane for lane in lanes)
        ctypes.memmove(header, struct.pack("<QQII", ready, active, service, 1), 24)
        for lane, words in lanes.items():
            place = payloads + (free & mask) * 4096 + lane * 64
            ctypes.memmove(place, struct.pack("<8Q", *words, *[0] * (8 - len(words))), 64)
        self.word(32).value = free
        return free

    def answered(self, pointer: int, lane: int) -> int:
        """What a lane gets back; the packet is free again, with the next tag."""
        headers, payloads, _, free, _, mask = self.fields()
        header = headers + (pointer & mask) * 24
        assert struct.unpack("<I", ctypes.string_at(header + 20, 4))[0] & 1 == 0, "the ready flag is taken away"
        ctypes.c_uint64.from_address(header).value = free
        self.word(24).value = pointer + mask + 1
        return ctypes.c_uint64.from_address(payloads + (pointer & mask) * 4096 + lane * 64).value


def head(flags: int, words: int, message: int = 0) -> int:
    return flags | words << 5 | message << 8


def text(value: str) -> list[int]:
    raw = value.encode() + b"\0"
    raw = raw.ljust(-(-len(raw) // 8) * 8, b"\0")
    return list(struct.unpack(f"<{len(raw) // 8}Q", raw))


@pytest.fixture
def host() -> HostcallBuffer:
    found = HostcallBuffer(Arena(), 0)
    found.start(16)
    return found


def printed(host: HostcallBuffer, wave: Wave, lane: int, pieces: list[list[int]]) -> int:
    """A message in pieces, each after the answer to the one before."""
    message = back = 0
    for number, words in enumerate(pieces):
        flags = (BEGIN if number == 0 else 0) | (END if number == len(pieces) - 1 else 0)
        pointer = wave.call(SERVICE_PRINTF, {lane: [head(flags, len(words), message), *words]})
        host.answer()
        back = wave.answered(pointer, lane)
        message = back >> 8
    return back


def test_a_message_in_pieces(host: HostcallBuffer) -> None:
    wave = Wave(host)
    double = struct.unpack("<Q", struct.pack("<d", 2.5))[0]
    back = printed(host, wave, 3, [[0], text("%s has %d of %5.2f"), text("lane three"), [7, double]])
    assert host.text() == "lane three has 7 of  2.50"
    assert back == len("lane three has 7 of  2.50"), "printf gives the number of characters"
    assert printed(host, wave, 63, [[1, *text("again\n")]]) == 6
    assert host.text() == "lane three has 7 of  2.50again\n"


def test_lanes_and_waves_are_answered_in_their_order(host: HostcallBuffer) -> None:
    wave = Wave(host)
    pointers = [
        wave.call(SERVICE_PRINTF, {lane: [head(BEGIN | END, 2), 0, *text(f"{number}{lane};")] for lane in (0, 5, 40)})
        for number in range(3)
    ]
    assert len({pointer & 63 for pointer in pointers}) == 3
    host.answer()
    assert host.text() == "00;05;040;10;15;140;20;25;240;"
    assert [wave.answered(pointer, 5) for pointer in pointers] == [3, 3, 3]
    assert wave.fields()[4] == 0
    host.answer()  # nobody waits
    assert host.text().count(";") == 9


def test_packets_go_round(host: HostcallBuffer) -> None:
    """More calls than packets: what is free again is taken again, and no pointer is 0."""
    wave = Wave(host)
    for number in range(200):
        printed(host, wave, 0, [[0, *text(f"{number} ")]])
        assert wave.fields()[3] > 63
    assert host.text().split() == [str(number) for number in range(200)]
    host.start(16)
    assert host.text() == ""


@pytest.mark.parametrize(("waves", "packets"), [(1, 64), (64, 64), (65, 128), (1000, 1024), (1 << 20, 1 << 14)])
def test_there_are_as_many_packets_as_waves(waves: int, packets: int) -> None:
    host = HostcallBuffer(Arena(), 0)
    host.start(waves)
    headers, payloads, doorbell, free, ready, mask = Wave(host).fields()
    assert (mask, ready) == (packets - 1, 0)
    assert payloads >= headers + 24 * packets
    assert host.address < doorbell < headers
    seen = []
    while free:
        seen.append(free & mask)
        free = ctypes.c_uint64.from_address(headers + 24 * (free & mask)).value
    assert sorted(seen) == list(range(packets))


def test_what_is_no_message_is_answered_with_0(host: HostcallBuffer) -> None:
    wave = Wave(host)
    for service, words in ((1, [0x1234, 1]), (3, [4096]), (SERVICE_PRINTF, [head(END, 1, 77), 0])):
        pointer = wave.call(service, {0: words})
        host.answer()
        assert wave.answered(pointer, 0) == 0
    assert host.text() == ""


def test_an_endless_message_is_cut(host: HostcallBuffer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostcall, "_LONGEST", 1 << 12)
    wave = Wave(host)
    pointer = wave.call(SERVICE_PRINTF, {0: [head(BEGIN, 1), 0]})
    host.answer()
    message = wave.answered(pointer, 0) >> 8
    piece = [0x6161616161616161] * 7
    for _ in range((1 << 12) // 56 + 10):
        pointer = wave.call(SERVICE_PRINTF, {0: [head(0, 7, message), *piece]})
        host.answer()
        wave.answered(pointer, 0)
    wave.call(SERVICE_PRINTF, {0: [head(END, 1, message), 0]})
    host.answer()
    assert (1 << 12) - 64 <= len(host.text()) <= (1 << 12) + 64
