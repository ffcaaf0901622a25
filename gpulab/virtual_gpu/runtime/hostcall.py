"""Calls of the host by kernels, as AMD's device library makes them: what ROCm's and Triton's kernels print goes this
way.

A wave takes a packet from a stack of free ones, fills it in, puts it on a stack of ready ones, and waits until the host
has answered: `HostcallBuffer` is the host. The layout is AMD's (ROCm device libraries, ockl/src/hostcall_impl.cl; clr,
hostcall.cpp):

    buffer:  u64 headers | u64 payloads | u64 doorbell | u64 free stack | u64 ready stack | u64 index mask
    header:  u64 next | u64 active lanes | u32 service | u32 control (bit 0: ready)
    payload: u64[64 lanes][8]

A pointer to a packet is its index with a number above it that grows each time. A message is sent in pieces: of a lane's
eight words the first says which message (bits 8 up), how many words follow (bits 5 to 7), and whether it begins (bit 0)
or ends (bit 1) with them (devhcmessages.cpp). A printed message is a word (0: standard output, 1: standard error), the
format, and its arguments, as in a frame of `machine/printf.py` whose format is not constant.
"""

from __future__ import annotations

import ctypes
import struct

from gpulab.virtual_gpu.machine.arena import Arena

SERVICE_PRINTF = 2
_PACKET, _HEADER, _BUFFER, _SIGNAL = 64 * 64, 24, 64, 64
_FREE_HEADER = struct.Struct("<QQII")
_READY = 32  # in the buffer
_BEGIN, _END = 1, 2
_LONGEST = 1 << 20  # bytes of one message
_MOST = 1 << 14  # packets: more waves than any device here holds at the same time


class HostcallBuffer:
    """Where a device's kernels call the host."""

    def __init__(self, arena: Arena, device: int) -> None:
        self._arena, self._device = arena, device
        self.address = 0
        self._packets = 0
        self._messages: dict[int, bytearray] = {}
        self._texts: list[str] = []
        self._numbers = 0

    @property
    def ready(self) -> int:
        """The address of the word that is not 0 when a wave waits."""
        return self.address + _READY

    def start(self, waves: int) -> None:
        """Empty the buffer before a launch of which so many waves may wait at the same time."""
        packets = min(max(64, 1 << (waves - 1).bit_length()), _MOST)
        if packets > self._packets:
            if self.address:
                self._arena.free(self.address)
            size = _BUFFER + _SIGNAL + packets * (_HEADER + _PACKET) + 64
            self.address = self._arena.allocate(size, "internal", self._device, "calls of the host")
            self._packets = packets
        count, doorbell = self._packets, self.address + _BUFFER
        headers = doorbell + _SIGNAL
        self._headers, self._payloads = headers, headers + -(-count * _HEADER // 64) * 64
        # Pointers have the number 1 at first, so that none is 0.
        pointers = [count | index for index in range(count)]
        self._put(headers, b"".join(_FREE_HEADER.pack(following, 0, 0, 0) for following in (0, *pointers[:-1])))
        self._put(doorbell, bytes(_SIGNAL))
        self._put(self.address, struct.pack("<6Q", headers, self._payloads, doorbell, pointers[-1], 0, count - 1))
        self._messages.clear()
        self._texts.clear()

    @staticmethod
    def _put(address: int, raw: bytes) -> None:
        ctypes.memmove(address, raw, len(raw))

    def answer(self) -> None:
        """Answer all waves that wait. No wave runs meanwhile: a launch that may call the host has one thread."""
        word = ctypes.c_uint64.from_address(self.ready)
        pointer, word.value = word.value, 0
        waiting: list[tuple[int, int, int, int, int]] = []
        while pointer and len(waiting) <= self._packets:
            index = pointer & (self._packets - 1)
            header = self._headers + index * _HEADER
            pointer, lanes, service, control = struct.unpack("<QQII", ctypes.string_at(header, _HEADER))
            waiting.append((index, header, lanes, service, control))
        for index, header, lanes, service, control in reversed(waiting):  # the stack has the last one on top
            for lane in range(64):
                if lanes >> lane & 1:
                    place = self._payloads + index * _PACKET + lane * 64
                    words = struct.unpack("<8Q", ctypes.string_at(place, 64))
                    self._put(place, struct.pack("<Q", self._piece(service, words)))
            self._put(header + _HEADER - 4, struct.pack("<I", control & ~1))

    def _piece(self, service: int, words: tuple[int, ...]) -> int:
        """Take a piece of a message; what its lane gets back."""
        if service != SERVICE_PRINTF:
            return 0  # functions of the host, memory: none is offered
        head, count = words[0], min(words[0] >> 5 & 7, 7)
        if head & _BEGIN:
            self._numbers += 1
            head = head & 0xFF | self._numbers << 8
            self._messages[head >> 8] = bytearray()
        message = self._messages.get(head >> 8)
        if message is None:
            return 0
        if len(message) < _LONGEST:
            message += struct.pack(f"<{count}Q", *words[1 : 1 + count])
        if not head & _END:
            return head & ~_BEGIN
        del self._messages[head >> 8]
        from gpulab.virtual_gpu.machine import printf

        text = printf.called(bytes(message[8:]))
        self._texts.append(text)
        return len(text.encode())

    def text(self) -> str:
        """What was printed since `start`."""
        return "".join(self._texts)
