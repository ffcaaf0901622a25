"""Numbers and texels as the reference machine converts them: numbers worked out by hand, or by numpy."""

import struct

import numpy as np
import pytest

from gpulab.virtual_gpu.isa.expression import TYPES
from gpulab.virtual_gpu.isa.images import Format
from gpulab.virtual_gpu.reference import images, values


def f32(number: float) -> int:
    return struct.unpack("<I", struct.pack("<f", number))[0]


@pytest.mark.parametrize(
    ("kind", "bits", "raw", "wanted"),
    [
        ("unorm", 8, 0, 0.0), ("unorm", 8, 255, 1.0), ("unorm", 8, 51, 0.2), ("unorm", 16, 65535, 1.0),
        ("unorm", 16, 13107, 0.2), ("snorm", 8, 127, 1.0), ("snorm", 8, 0x81, -1.0), ("snorm", 8, 0x80, -1.0),
        ("snorm", 8, 0, 0.0), ("snorm", 8, 64, 64 / 127), ("snorm", 8, 0xFF, -1 / 127), ("snorm", 16, 0x7FFF, 1.0),
        ("snorm", 16, 0x8000, -1.0), ("snorm", 16, 0xFFFF, -1 / 32767), ("uscaled", 8, 200, 200.0),
        ("uscaled", 16, 40000, 40000.0), ("sscaled", 8, 200, -56.0), ("sscaled", 8, 127, 127.0),
        ("sscaled", 16, 0x8000, -32768.0), ("float", 16, 0x3C00, 1.0), ("float", 16, 0xC500, -5.0),
        ("float", 32, f32(-2.5), -2.5),
    ],
)  # fmt: skip
def test_channels_that_are_read_as_floats(kind, bits, raw, wanted):
    assert images.as_channel(raw, Format(bits, 1, kind)) == f32(wanted)


@pytest.mark.parametrize(
    ("kind", "bits", "raw", "wanted"),
    [
        ("uint", 8, 200, 200), ("uint", 16, 65535, 65535), ("uint", 32, 2**32 - 1, 2**32 - 1), ("sint", 8, 127, 127),
        ("sint", 8, 128, 2**32 - 128), ("sint", 16, 0xFFFF, 2**32 - 1), ("sint", 32, 2**31, 2**31), ("sint", 8, 0, 0),
    ],
)  # fmt: skip
def test_channels_that_are_read_as_integers(kind, bits, raw, wanted):
    assert images.as_channel(raw, Format(bits, 1, kind)) == wanted


@pytest.mark.parametrize(
    ("kind", "bits", "value", "wanted"),
    [
        ("uint", 8, 255, 255), ("uint", 8, 256, 255), ("uint", 16, 70000, 65535), ("uint", 32, 2**32 - 1, 2**32 - 1),
        ("sint", 8, 127, 127), ("sint", 8, 128, 127), ("sint", 8, 2**32 - 128, 0x80), ("sint", 8, 2**32 - 129, 0x80),
        ("sint", 8, 2**32 - 1, 0xFF), ("sint", 16, 2**31, 0x8000), ("sint", 32, 2**31, 2**31),
        ("float", 32, f32(1.5), f32(1.5)), ("float", 16, f32(1.5), 0x3E00), ("float", 16, f32(1e9), 0x7C00),
        ("unorm", 8, f32(0.5), 128), ("unorm", 8, f32(1.5), 255), ("unorm", 8, f32(-1), 0),
        ("unorm", 16, f32(1), 65535),
        ("unorm", 8, f32(float("nan")), 0), ("snorm", 8, f32(1), 127), ("snorm", 8, f32(-2), 0x81),
        ("snorm", 8, f32(0.5), 64), ("snorm", 16, f32(-1), 0x8001), ("uscaled", 8, f32(300), 255),
        ("uscaled", 8, f32(2.5), 2), ("uscaled", 8, f32(3.5), 4), ("uscaled", 8, f32(-4), 0),
        ("sscaled", 8, f32(-200), 0x80), ("sscaled", 8, f32(200), 127), ("sscaled", 8, f32(-3), 0xFD),
    ],
)  # fmt: skip
def test_channels_that_are_stored(kind, bits, value, wanted):
    """Integers saturate; floats are rounded to the nearest, halves to even; a NaN is 0 among integers."""
    assert images.from_channel(value, Format(bits, 1, kind)) == wanted


@pytest.mark.parametrize(
    ("clamp", "wanted"),
    [
        (0, [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1]),  # wrap
        (1, [2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1]),  # mirror
        (2, [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3]),  # the last texel
        (6, [None] * 6 + [0, 1, 2, 3] + [None] * 3),  # the border's colour
    ],
)
def test_texels_outside_of_four(clamp, wanted):
    start = {0: -7, 1: -6, 2: -6, 6: -6}[clamp]
    assert [images.addressed(i, 4, clamp) for i in range(start, start + 13)] == wanted


def test_mirrored_once():
    """Clamp 3: texel -1 is 0, -2 is 1; what is farther is the last one on both sides."""
    assert [images.addressed(i, 4, 3) for i in range(-6, 7)] == [3, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 3, 3]


@pytest.mark.parametrize(
    ("u", "nearest", "linear"),
    [
        (0.0, 0, (-1, 128)), (0.5, 0, (0, 0)), (1.0, 1, (0, 128)), (2.75, 2, (2, 64)), (-0.25, -1, (-1, 64)),
        (0.5 + 1 / 256, 0, (0, 1)), (0.5 + 1 / 1024, 0, (0, 0)), (0.5 + 1 / 512, 0, (0, 1)),
        (float("nan"), 0, (-1, 128)),
        (1e30, 2**30, (2**30 - 1, 128)), (-1e30, -(2**30), (-(2**30) - 1, 128)),
    ],
)  # fmt: skip
def test_texels_and_weights_of_coordinates(u, nearest, linear):
    """fixed = floor(256 (u - 0.5) + 0.5): its upper bits are the texel, the lower eight the weight of the next one."""
    assert images.split(u, False) == (nearest, 0)
    assert images.split(u, True) == linear


def test_bfloat16_as_numbers():
    """The upper half of an f32; back, to the nearest, ties to even."""
    bf16 = TYPES["bf16"]
    bits = np.array([0x3F80, 0xC040, 0x7F80, 0x0001, 0x8000, 0x4049], np.uint16)
    numbers = values.to_float64(bits, bf16)
    assert numbers.tolist() == [1.0, -3.0, np.inf, 2.0**-133, 0.0, 3.140625]
    assert values.from_float64(numbers, bf16).tolist() == bits.tolist()
    between = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20, 1 + 2.0**-9, -1 - 2.0**-8])
    assert values.from_float64(between, bf16).tolist() == [0x3F80, 0x3F82, 0x3F81, 0x3F80, 0xBF80]
    assert values.from_float64(between, bf16).dtype == np.uint16
