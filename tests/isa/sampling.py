"""What the texture unit gives, by the documents' formulas, in numpy's doubles: `sample`, `descriptor`, `sampler`.

HIP's documentation ("Texture fetching") and CUDA's ("Texture fetching", linear filtering): with B = u - 0.5, the texels
floor(B) and floor(B) + 1 in each direction, weighted with 1 - a and a, where a is B's fraction in 8 bits. Addresses:
wrap i mod n; mirror the same of a row of 2n texels whose second half runs backwards; clamp the nearest; border a
colour.
"""

from __future__ import annotations

import itertools

import numpy as np

WRAP, CLAMP, MIRROR, BORDER = "wrap", "clamp", "mirror", "border"
MODES = (WRAP, CLAMP, MIRROR, BORDER)


def outside(i: np.ndarray, n: int, mode: str) -> np.ndarray:
    """The texel that stands for `i`; -1 for the border."""
    if mode == WRAP:
        return i % n
    if mode == MIRROR:
        at = i % (2 * n)
        return np.where(at < n, at, 2 * n - 1 - at)
    if mode == CLAMP:
        return np.clip(i, 0, n - 1)
    return np.where((i >= 0) & (i < n), i, -1)


def sample(
    image: np.ndarray, coordinates: list[np.ndarray], *, linear: bool, modes: tuple[str, ...], normalized: bool,
    layer: np.ndarray | None = None, border: float = 0.0,
) -> np.ndarray:  # fmt: skip
    """image[z, y, x, channel] at coordinates (x, then y, then z), each an array; of a layered one z is the layer."""
    sizes = image.shape[2::-1]
    axes = []
    for x, n, mode in zip(coordinates, sizes, modes, strict=False):
        u = np.float32(x) * np.float32(n) if normalized else np.float32(x)
        if linear:
            fixed = np.floor((u.astype(np.float64) - 0.5) * 256 + 0.5).astype(np.int64)
            first, weight = fixed >> 8, (fixed & 255) / 256
            axes.append([(outside(first, n, mode), 1 - weight), (outside(first + 1, n, mode), weight)])
        else:
            first = np.floor(u).astype(np.int64)
            axes.append([(outside(first, n, mode), np.ones(len(first)))])
    count = len(coordinates[0])
    while len(axes) < 3:
        axes.append([(np.zeros(count, np.int64), np.ones(count))])
    if layer is not None:
        axes[2] = [(np.clip(np.rint(layer), 0, image.shape[0] - 1).astype(np.int64), np.ones(count))]
    total = np.zeros((count, image.shape[3]))
    for (x, a), (y, b), (z, c) in itertools.product(*axes):
        texel = image[z, y, x].astype(np.float64)
        texel[(x < 0) | (y < 0) | (z < 0)] = border
        total += texel * (a * b * c)[:, None]
    return total


# Descriptors, from the tables of the ISA manuals: first bit and bits of each field.

TYPES = {"1d": 8, "2d": 9, "3d": 10, "1d_array": 12, "2d_array": 13}
FIELDS = {
    "gfx1030": {"format": (52, 9), "width": (62, 14), "height": (78, 14), "depth": (128, 13)},
    "gfx1100": {"format": (52, 8), "width": (62, 14), "height": (78, 14), "depth": (128, 13)},
    "gfx1201": {"format": (49, 8), "width": (62, 16), "height": (78, 16), "depth": (128, 14)},
}
# numbers of formats (LLVM, SIDefines.h): kind by channel width and count; those of gfx10 in brackets where they differ
FORMATS = {
    "8_unorm": 1, "8_snorm": 2, "8_uint": 5, "8_sint": 6, "16_unorm": 7, "16_snorm": 8, "16_uint": 11, "16_sint": 12,
    "16_float": 13, "8_8_unorm": 14, "8_8_uint": 18, "32_uint": 20, "32_sint": 21, "32_float": 22, "16_16_unorm": 23,
    "16_16_float": 29, "8_8_8_8_unorm": 42, "8_8_8_8_snorm": 43, "8_8_8_8_uint": 46, "8_8_8_8_sint": 47,
    "32_32_float": 50, "16_16_16_16_unorm": 51, "16_16_16_16_sint": 56, "16_16_16_16_float": 57, "32_32_32_32_uint": 61,
    "32_32_32_32_float": 63,
}  # fmt: skip


def number(arch: str, format: str) -> int:
    found = FORMATS[format]
    return found + 14 if arch == "gfx1030" and found >= 42 else found


def select(channels: int) -> int:
    """dst_sel: 4.. the texel's channels, 0, and 1 for the last one."""
    return sum((4 + n if n < channels else n == 3) << 3 * n for n in range(4))


def descriptor(arch: str, shape: str, format: str, size: tuple[int, int, int], pitch: int = 0) -> list[int]:
    """The eight words without the base address; `pitch` in texels."""
    fields, channels = FIELDS[arch], format.count("_")
    width, height, depth = size
    values = {"format": number(arch, format), "width": width - 1, "height": height - 1}
    values["depth"] = pitch - 1 if pitch else depth - 1 if shape not in ("1d", "2d") else 0
    whole = select(channels) << 96 | TYPES[shape] << 124
    for name, value in values.items():
        first, bits = fields[name]
        if name == "depth" and pitch:
            bits += 2 if arch == "gfx1201" else 1
        assert value < 1 << bits
        whole |= value << first
    return [whole >> 32 * n & 0xFFFFFFFF for n in range(8)]


CLAMPS = {WRAP: 0, MIRROR: 1, CLAMP: 2, BORDER: 6}


def sampler(modes: tuple[str, ...], linear: bool, normalized: bool, border: int = 0) -> list[int]:
    modes = (*modes, CLAMP, CLAMP)[:3]
    first = sum(CLAMPS[mode] << 3 * n for n, mode in enumerate(modes)) | (not normalized) << 15
    return [first, 0xFFF << 12, (linear << 20) | (linear << 22), border << 30]


def setup(words: list[int], sampling: list[int] | None = None) -> str:
    """s[8:15] a descriptor of what s[2:3] points to; s[16:19] a sampler."""
    lines = ["s_lshr_b64 s[8:9], s[2:3], 8", f"s_or_b32 s9, s9, {words[1]:#x}"]
    lines += [f"s_mov_b32 s{8 + n}, {words[n]:#x}" for n in range(2, 8)]
    lines += [f"s_mov_b32 s{16 + n}, {word:#x}" for n, word in enumerate(sampling or [])]
    return "\n".join(lines) + "\n"


def padded(image: np.ndarray) -> np.ndarray:
    """The bytes of image[z, y, x, channel] with rows at multiples of 256 bytes."""
    depth, height, width, channels = image.shape
    row = width * channels * image.itemsize
    raw = np.zeros((depth, height, -(-row // 256) * 256), np.uint8)
    raw[:, :, :row] = np.ascontiguousarray(image).view(np.uint8).reshape(depth, height, row)
    return raw.reshape(-1)
