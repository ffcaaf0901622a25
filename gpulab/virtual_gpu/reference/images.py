"""`ImageRows`: image instructions, lane after lane, by the rules of isa/images.py."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.buffers import ADD_THREAD, SELECT
from gpulab.virtual_gpu.isa.expression import u32
from gpulab.virtual_gpu.isa.images import (
    DIRECTIONS,
    SHAPES,
    TYPES,
    Format,
    before_coordinates,
    coordinates,
    formats,
    layered,
)
from gpulab.virtual_gpu.isa.instruction import Keyword, Operand, Register
from gpulab.virtual_gpu.isa.row import Image
from gpulab.virtual_gpu.reference.accesses import MemoryRows
from gpulab.virtual_gpu.reference.operands import Writes
from gpulab.virtual_gpu.reference.state import Stop
from gpulab.virtual_gpu.reference.values import MASK32

if TYPE_CHECKING:
    from gpulab.virtual_gpu.reference.values import Bits

Channels = tuple[int, int, int, int]
"""The bits of four channels as a shader sees them."""

ONE = 0x3F800000


def bits_of(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


def float_of(bits: int) -> np.float32:
    return np.uint32(bits & MASK32).view(np.float32)


@dataclass(frozen=True, slots=True)
class View:
    """What a resource descriptor says. row, slice: bytes from one to the next."""

    base: int
    format: Format
    size: tuple[int, int, int]  # the last is the depth, or the number of layers
    row: int
    slice: int
    select: tuple[int, ...]

    @property
    def bytes(self) -> int:
        width, height, depth = self.size
        return self.slice * (depth - 1) + self.row * (height - 1) + width * self.format.size

    def place(self, x: int, y: int, z: int) -> int:
        return self.base + z * self.slice + y * self.row + x * self.format.size

    def seen(self, channels: Sequence[int]) -> Channels:
        """A texel's channels through dst_sel."""
        one = 1 if self.format.integers else ONE
        found = [channels[s - 4] if s >= 4 else one if s == 1 else 0 for s in self.select]
        return found[0], found[1], found[2], found[3]


class ImageRows(MemoryRows):
    """Executes them on one wave."""

    def image(self, row: Image) -> Writes:
        operands = list(self.item.operands)
        data = operands.pop(0)
        modifiers = self.item.modifiers
        for name in ("tfe", "lwe", "r128", "lds"):
            if modifiers.get(name):
                raise self.unsupported(f"the modifier {name}")
        if row.channels:
            return self.texel_buffer(row, data, operands)
        shape = SHAPES.get(str(modifiers.get("dim", "")))
        if shape is None:
            raise self.unsupported("this shape of image")
        sampler = self.descriptor(operands.pop(), 4) if row.action in ("sample", "gather") else []
        view = self.view(self.descriptor(operands.pop(), 8), shape)
        addresses = [word for o in operands if isinstance(o.value, Register) for word in self.words(o.value)]
        mask = self.offset("dmask") if "dmask" in modifiers else 1
        active = np.flatnonzero(self.wave.active()).tolist()
        if not active:
            return []
        found: dict[int, Sequence[int]] = {}
        if row.action == "size":
            width, height, depth = view.size
            found = dict.fromkeys(active, (width, height, depth, 1))
            return self.channels_into(data, found, mask)
        self.reach(view.base, view.bytes, active[0], "write" if row.action == "store" else "read")
        skip, halves = before_coordinates(row, shape), bool(modifiers.get("a16"))
        for lane in active:
            own = [int(word[lane]) for word in addresses[skip:]]
            if halves:
                own = [word >> shift & 0xFFFF for word in own for shift in (0, 16)]
                if row.action in ("sample", "gather"):
                    own = [from_half(n) for n in own]
            if row.action in ("sample", "gather"):
                found[lane] = self.sampled(row, view, shape, sampler, own, mask, lane)
            elif row.action == "load":
                at = self.texel(row, view, shape, own)
                found[lane] = (0, 0, 0, 0) if at is None else self.fetched(view, at, lane)
            else:
                at = self.texel(row, view, shape, own)
                if at is not None:
                    self.stored(view, at, data, mask, lane)
        if row.action == "store":
            return []
        return self.channels_into(data, found, 15 if row.action == "gather" else mask, view.format.integers)

    # -- descriptors

    def descriptor(self, operand: Operand, count: int) -> list[int]:
        register = operand.value
        if not isinstance(register, Register) or register.file != "s" or register.count != count:
            raise self.unsupported("this descriptor")
        return [self.wave.s[register.index + n] for n in range(count)]

    def cannot(self) -> Stop:
        return Stop("image descriptor", int(np.flatnonzero(self.wave.active())[0]))

    def view(self, words: list[int], shape: str) -> View:
        whole = sum(word << 32 * n for n, word in enumerate(words))
        set = isa.generation_of(self.machine.program.arch).name
        last = set == "gfx12"

        def field(first: int, bits: int) -> int:
            return whole >> first & ((1 << bits) - 1)

        format = formats(set).get(field(49 if last else 52, 9 if set == "gfx10" else 8))
        if format is None or format.channels == 3 or field(116, 5) or field(124, 4) != TYPES[shape]:
            raise self.cannot()
        width, depth = field(62, 16 if last else 14) + 1, field(128, 14 if last else 13) + 1
        height = field(78, 16 if last else 14) + 1 if DIRECTIONS[shape] > 1 else 1
        pitch = 0
        if shape in ("1d", "2d"):
            pitch, depth = field(128, 16 if last else 14), 1
        row = (pitch + 1) * format.size if pitch else (width * format.size + 255) // 256 * 256
        first = field(144, 13) if layered(shape) else 0
        if first >= depth:
            raise self.cannot()
        select = tuple(field(96 + 3 * n, 3) for n in range(4))
        base = (field(0, 40) << 8) + first * row * height
        return View(base, format, (width, height, depth - first), row, row * height, select)

    # -- memory

    def reach(self, address: int, size: int, lane: int, access: str) -> None:
        """The memory of a whole image has to be there before one texel is used."""
        self.device(lane, access, lambda: self.machine.memory.read(address, size))

    def fetched(self, view: View, address: int, lane: int) -> Channels:
        format = view.format
        raw = self.fetch(address, format.size, lane)
        channels = [0, 0, 0, 1 if format.integers else ONE]
        for n in range(format.channels):
            channels[n] = as_channel(raw >> format.bits * n & ((1 << format.bits) - 1), format)
        return view.seen(channels)

    def stored(self, view: View, address: int, data: Operand, mask: int, lane: int) -> None:
        format, register = view.format, data.value
        assert isinstance(register, Register)
        given = [int(word[lane]) for word in self.words(register)]
        if self.item.modifiers.get("d16"):
            halves = [word >> shift & 0xFFFF for word in given for shift in (0, 16)]
            signed = [n - (n >> 15 << 16) & MASK32 for n in halves]
            given = halves if format.kind == "uint" else signed if format.kind == "sint" else [*map(from_half, halves)]
        words = iter(given)
        channels = [next(words) if mask >> n & 1 else None for n in range(4)]
        spread = isa.generation_of(self.machine.program.arch).name == "gfx12"
        missing = given[0] if spread else 0
        bits = 0
        for n in range(format.channels):
            source = view.select.index(4 + n) if 4 + n in view.select else 3
            value = channels[source]
            bits |= from_channel(missing if value is None else value, format) << format.bits * n
        self.put(address, bits, format.size, lane)

    def channels_into(
        self, target: Operand, found: Mapping[int, Sequence[int]], mask: int, integers: bool = True
    ) -> Writes:
        register = target.value
        assert isinstance(register, Register)
        words = self.words(register)
        kept = [n for n in range(4) if mask >> n & 1]
        if self.item.modifiers.get("d16"):
            return [lambda: halves_into(words, found, kept, integers)]

        def write() -> None:
            for lane, channels in found.items():
                for place, n in enumerate(kept):
                    words[place, lane] = channels[n]

        return [write]

    # -- loads and stores

    def texel(self, row: Image, view: View, shape: str, own: list[int]) -> int | None:
        """The address of the texel that a load or store names; None outside."""
        at = [*own[: DIRECTIONS[shape]], 0, 0][:3]
        if layered(shape):
            at[2] = own[DIRECTIONS[shape]]
        if row.mip and own[coordinates(shape)]:
            return None
        if any(a >= size for a, size in zip(at, view.size, strict=True)):
            return None
        return view.place(*at)

    def texel_buffer(self, row: Image, data: Operand, operands: list[Operand]) -> Writes:
        address, resource, scalar = operands[:3]
        words = self.descriptor(resource, 4)
        set = isa.generation_of(self.machine.program.arch).name
        format = formats(set).get(words[3] >> 12 & (127 if set == "gfx10" else 63))
        if format is None or words[1] >> 30 or words[3] >> 30 or words[3] >> ADD_THREAD & 1:
            raise self.cannot()
        stride, records, select = words[1] >> 16 & 0x3FFF, words[2], words[3] >> SELECT & 3
        view = View(0, format, (1, 1, 1), 0, 0, tuple(words[3] >> 3 * n & 7 for n in range(4)))
        base = (words[0] | (words[1] & 0xFFFF) << 32) + self.scalar(scalar, u32)
        given = [] if isinstance(address.value, Keyword) else list(self.words(address.value))  # type: ignore[arg-type]
        mask, found = (1 << row.channels) - 1, {}
        for lane in np.flatnonzero(self.wave.active()).tolist():
            own = [int(word[lane]) for word in given]
            index = own.pop(0) if self.item.modifiers.get("idxen") else 0
            within = (own.pop(0) if self.item.modifiers.get("offen") else 0) + self.offset()
            place = within + index * stride
            fits = not stride or within + format.size <= stride
            inside = (index < records and fits, index < records, records != 0, place + format.size <= records)[select]
            if row.action == "store":
                if inside:
                    self.stored(view, base + place, data, mask, lane)
            else:
                found[lane] = self.fetched(view, base + place, lane) if inside else (0, 0, 0, 0)
        return [] if row.action == "store" else self.channels_into(data, found, mask)

    # -- sampling

    def sampled(
        self, row: Image, view: View, shape: str, sampler: list[int], own: list[int], mask: int, lane: int
    ) -> Sequence[int]:
        directions = DIRECTIONS[shape]
        whole = sum(word << 32 * n for n, word in enumerate(sampler))
        clamps = [whole >> 3 * n & 7 for n in range(3)]
        border_kind = whole >> 126 & 3
        if border_kind == 3 or any(c in (4, 5, 7) for c in clamps[:directions]):
            raise self.cannot()
        unnormalised = bool(self.item.modifiers.get("unorm")) or bool(whole >> 15 & 1)
        plane, along = bool(whole >> 84 & 1), whole >> 88 & 3
        one = 1 if view.format.integers else ONE
        white = one if border_kind == 2 else 0
        border = view.seen((white, white, white, one if border_kind else 0))
        axes: list[list[tuple[int | None, int]]] = []  # texel (None: border) and weight in 256ths, by direction
        for d in range(directions):
            x = float_of(own[d])
            with np.errstate(over="ignore", invalid="ignore"):
                u = x if unnormalised else x * np.float32(view.size[d])
            linear = (along == 2 if d == 2 and along else plane) and not view.format.integers
            first, weight = split(float(u), linear or row.action == "gather")
            size, clamp = view.size[d], clamps[d]
            axis = [(addressed(first, size, clamp), 256 - weight)]
            if linear or row.action == "gather":
                axis.append((addressed(first + 1, size, clamp), weight))
            axes.append(axis)
        while len(axes) < 2:
            axes.append([(0, 256)])
        if layered(shape):
            layer = float(np.rint(float_of(own[directions])))
            last = view.size[2] - 1
            axes.append([(0 if not layer > 0 else int(layer) if layer < last else last, 256)])
        elif directions < 3:
            axes.append([(0, 256)])
        total: list[np.float32] | None = None
        texels: list[Channels] = []
        for (z, wz), (y, wy), (x_, wx) in itertools.product(axes[2], axes[1], axes[0]):
            if x_ is None or y is None or z is None:
                texel = border
            else:
                texel = self.fetched(view, view.place(x_, y, z), lane)
            texels.append(texel)
            weight_ = np.float32(wx * wy * wz / (1 << 24))
            with np.errstate(all="ignore"):
                parts = [float_of(bits) * weight_ for bits in texel]
                total = parts if total is None else [t + p for t, p in zip(total, parts, strict=True)]
        if row.action == "gather":
            channel = (mask & -mask).bit_length() - 1
            return [texels[n][channel] for n in (2, 3, 1, 0)]
        if len(texels) == 1:
            return texels[0]
        assert total is not None
        return [bits_of(float(t)) if not math.isnan(t) else int(t.view(np.uint32)) for t in total]


def from_half(bits: int) -> int:
    """A half as the bits of a float."""
    return int(np.uint16(bits).view(np.float16).astype(np.float32).view(np.uint32))


def halves_into(words: Bits, found: Mapping[int, Sequence[int]], kept: Sequence[int], integers: bool) -> None:
    """Channels two to a register; a half without a channel stays."""
    for lane, channels in found.items():
        for place, n in enumerate(kept):
            bits, shift = channels[n] & 0xFFFF, 16 * (place & 1)
            if not integers:
                with np.errstate(over="ignore"):
                    bits = int(float_of(channels[n]).astype(np.float16).view(np.uint16))
            old = int(words[place // 2, lane])
            words[place // 2, lane] = old & ~(0xFFFF << shift) & MASK32 | bits << shift


def split(u: float, linear: bool) -> tuple[int, int]:
    """A coordinate in texels as texel number and weight of the next one in 256ths."""
    u = 0.0 if math.isnan(u) else min(max(u, -(2.0**30)), 2.0**30)
    if not linear:
        return math.floor(u), 0
    fixed = math.floor(u * 256 - 128 + 0.5)
    return fixed >> 8, fixed & 255


def addressed(i: int, size: int, clamp: int) -> int | None:
    """The texel that stands for one outside; None: the border's colour."""
    if 0 <= i < size:
        return i
    if clamp == 0:
        return i % size
    if clamp == 1:
        at = i % (2 * size)
        return at if at < size else 2 * size - 1 - at
    if clamp == 2:
        return 0 if i < 0 else size - 1
    if clamp == 3:
        return min(-1 - i if i < 0 else i, size - 1)
    return None


def as_channel(raw: int, format: Format) -> int:
    """A channel's bits as the texture unit converts them."""
    bits, kind = format.bits, format.kind
    signed = raw - (1 << bits) if raw >> (bits - 1) else raw
    if kind == "unorm":
        return bits_of(float(np.float32(raw) / np.float32((1 << bits) - 1)))
    if kind == "snorm":
        return bits_of(max(-1.0, float(np.float32(signed) / np.float32((1 << (bits - 1)) - 1))))
    if kind in ("uscaled", "sscaled"):
        return bits_of(raw if kind == "uscaled" else signed)
    if kind == "sint":
        return signed & MASK32
    if kind == "float" and bits == 16:
        return from_half(raw)
    return raw


def from_channel(value: int, format: Format) -> int:
    """A channel as the format stores it."""
    bits, kind = format.bits, format.kind
    most, half = (1 << bits) - 1, (1 << (bits - 1)) - 1
    if kind == "uint":
        return min(value, most)
    if kind == "sint":
        number = value - (1 << 32) if value >> 31 else value
        return max(min(number, half), -half - 1) & most
    if kind == "float":
        if bits == 32:
            return value
        with np.errstate(over="ignore"):
            return int(float_of(value).astype(np.float16).view(np.uint16))
    low, high, scale = {
        "unorm": (0.0, 1.0, most), "snorm": (-1.0, 1.0, half), "uscaled": (0.0, most, 1),
        "sscaled": (-half - 1, half, 1),
    }[kind]  # fmt: skip
    x = struct.unpack("<f", struct.pack("<I", value))[0]
    if math.isnan(x):
        return 0
    return int(np.rint(np.float32(min(max(x, low), high)) * np.float32(scale))) & most
