"""Image instructions: formats, shapes, filters, addresses; expected numbers by the documents' formulas (sampling.py).

`run` compares both machines bit by bit; here the result is compared with numpy's.
"""

from __future__ import annotations

import numpy as np
import pytest

from gpulab.errors import UnsupportedInstruction
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.translate.decode import Decoder
from tests.isa import sampling
from tests.isa.machines import run
from tests.isa.sampling import BORDER, CLAMP, MIRROR, MODES, WRAP, descriptor, padded, sampler, setup

DEVICES = ("gfx1100", "gfx1030", "gfx1201")
WAIT = {"gfx1201": "s_wait_samplecnt 0x0\ns_wait_loadcnt 0x0\n"}
DIMS = {"1d": "1D", "2d": "2D", "3d": "3D", "1d_array": "1D_ARRAY", "2d_array": "2D_ARRAY"}
BASE = {"u": np.uint64, "s": np.int64}


def random_image(format: str, size: tuple[int, int, int], seed: int = 1) -> np.ndarray:
    """image[z, y, x, channel] of a format, any bits but no infinities or NaNs."""
    *widths, kind = format.split("_")
    rng = np.random.default_rng(seed)
    shape = (size[2], size[1], size[0], len(widths))
    if kind == "float":
        return rng.uniform(-4, 4, shape).astype({"16": np.float16, "32": np.float32}[widths[0]])
    type = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(widths[0]) // 8}")
    bounds = np.iinfo(type)
    return rng.integers(bounds.min, bounds.max, shape, type, endpoint=True)


def converted(image: np.ndarray, format: str) -> np.ndarray:
    """The four channels as a shader sees them: floats, or integers as such."""
    kind = format.rsplit("_", 1)[1]
    bits = 8 * image.itemsize
    if kind == "unorm":
        given = image.astype(np.float64) / (2**bits - 1)
    elif kind == "snorm":
        given = np.maximum(image.astype(np.float64) / (2 ** (bits - 1) - 1), -1)
    else:
        given = image.astype(np.float64)
    missing = np.zeros((*image.shape[:3], 4 - image.shape[3]))
    if missing.shape[3]:
        missing[..., -1] = 1
    return np.concatenate([given, missing], axis=3)


def seen(found, format: str, first: int = 4) -> np.ndarray:
    """[lane, channel] of v[first] and on."""
    words = found.v[first : first + 4].T
    kind = format.rsplit("_", 1)[1]
    if kind == "uint":
        return words.astype(np.float64)
    return words.view(np.int32).astype(np.float64) if kind == "sint" else words.view(np.float32).astype(np.float64)


def floats(register: int, values: np.ndarray) -> str:
    """v[register] = values by lane."""
    bits = np.float32(values).view(np.uint32)
    return "\n".join(f"v_writelane_b32 v{register}, {int(b):#x}, {lane}" for lane, b in enumerate(bits)) + "\n"


def loaded(arch: str, format: str) -> None:
    """Texel by texel, and one column and row beyond the ends: zeros."""
    size = (7, 4, 1)
    image = random_image(format, size)
    found = run(
        arch,
        setup(descriptor(arch, "2d", format, size))
        + f"""
        v_and_b32 v1, 7, v0
        v_lshrrev_b32 v2, 3, v0
        v_mov_b32 v3, 4
        image_load v[4:7], [v1, v2], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D
        image_load v[8:9], [v1, v3], s[8:15] dmask:0x9 dim:SQ_RSRC_IMG_2D
        {WAIT.get(arch, "s_waitcnt vmcnt(0)")}
        """,
        data=padded(image),
    )
    expected = np.zeros((4, 8, 4))
    expected[:, :7] = converted(image, format)[0]
    assert np.allclose(seen(found, format), expected.reshape(32, 4), rtol=1e-7, atol=0)
    assert not found.v[8].any()
    assert not found.v[9].any()


@pytest.mark.parametrize("format", ["8_8_8_8_unorm", "32_float", "16_16_16_16_sint"])
def test_loads_convert_by_the_format(format):
    loaded("gfx1100", format)


@pytest.mark.full
@pytest.mark.parametrize("arch", DEVICES)
@pytest.mark.parametrize("format", sampling.FORMATS)
def test_loads_of_every_format(arch, format):
    loaded(arch, format)


def stored(arch: str, format: str) -> None:
    """Each texel of one image is loaded and stored into another, whose rows are 64 texels apart."""
    size, pitch = (8, 4, 1), 64 * 4
    image = random_image(format, size, 2)
    texel = image.itemsize * image.shape[3]
    data = np.concatenate([padded(image), np.full(4 * pitch * texel, 0x55, np.uint8)])
    found = run(
        arch,
        setup(descriptor(arch, "2d", format, size))
        + "s_add_u32 s20, s8, 4\ns_addc_u32 s21, s9, 0\n"  # 4 * 256 bytes further
        + "\n".join(
            f"s_mov_b32 s{20 + n}, {word:#x}"
            for n, word in enumerate(descriptor(arch, "2d", format, size, pitch))
            if n > 1
        )
        + f"""
        v_and_b32 v1, 7, v0
        v_lshrrev_b32 v2, 3, v0
        v_mov_b32 v3, 9
        image_load v[4:7], v[1:2], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D
        {WAIT.get(arch, "s_waitcnt vmcnt(0)")}
        image_store v[4:7], v[1:2], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D
        image_store v[4:7], v[2:3], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D
        """,
        data=data,
    )
    after = np.frombuffer(found.data, np.uint8)[4 * 256 :].reshape(4, pitch * texel)
    wanted = np.ascontiguousarray(image[0]).view(np.uint8).reshape(4, -1).copy()
    if "snorm" in format:  # the lowest number is one more than -1, and comes back as -1
        lowest = np.iinfo(image.dtype).min
        wanted = np.where(image[0] == lowest, lowest + 1, image[0]).astype(image.dtype).view(np.uint8).reshape(4, -1)
    assert np.array_equal(after[:, : 8 * texel], wanted)
    assert (after[:, 8 * texel :] == 0x55).all()


@pytest.mark.parametrize("format", ["8_8_8_8_unorm", "16_float"])
def test_stores_convert_to_the_format_and_stop_at_the_ends(format):
    stored("gfx1100", format)


@pytest.mark.full
@pytest.mark.parametrize("arch", DEVICES)
@pytest.mark.parametrize("format", sampling.FORMATS)
def test_stores_of_every_format(arch, format):
    stored(arch, format)


def test_values_beyond_a_format_are_clamped_and_dmask_leaves_channels_out():
    """-0.5, 0.5, 1.5 and NaN as 8-bit unorm: 0, 128 (127.5 to the even one), 255, 0. Without the last two channels: 0,
    on RDNA 4 the first one's value."""
    for arch, rest in (("gfx1100", 0), ("gfx1201", 128)):
        found = run(
            arch,
            setup(descriptor(arch, "2d", "8_8_8_8_unorm", (2, 1, 1)))
            + """
            s_mov_b32 exec_lo, 1
            v_mov_b32 v1, 0
            v_mov_b32 v2, 0
            v_mov_b32 v3, 1
            v_mov_b32 v4, -0.5
            v_mov_b32 v5, 0.5
            v_mov_b32 v6, 0x3fc00000
            v_mov_b32 v7, 0x7fc00000
            image_store v[4:7], v[1:2], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D
            v_mov_b32 v4, 0.5
            v_mov_b32 v5, 1.0
            image_store v[4:5], [v3, v2], s[8:15] dmask:0x3 dim:SQ_RSRC_IMG_2D
            """,
            data=bytes(256),
        )
        assert list(found.data[:4]) == [0, 128, 255, 0]
        assert list(found.data[4:8]) == [128, 255, rest, rest]


SIZES = {"1d": (9, 1, 1), "2d": (6, 5, 1), "3d": (5, 4, 3), "1d_array": (9, 1, 3), "2d_array": (6, 5, 3)}
DIRECTIONS = {"1d": 1, "2d": 2, "3d": 3, "1d_array": 1, "2d_array": 2}


def sampled(
    arch: str, shape: str, modes: tuple[str, ...], linear: bool, normalized: bool, form: str = "_lz",
    format: str = "32_32_float", border: int = 0,
) -> None:  # fmt: skip
    """32 places around an image, as `sampling.sample` has them; coordinates to 1/1024 of a texel, and halves."""
    size = SIZES[shape]
    image = random_image(format, size, 3)
    rng = np.random.default_rng(7)
    directions = DIRECTIONS[shape]
    coordinates = []
    for n in size[:directions]:
        at = np.round(rng.uniform(-2.2 * n, 3.2 * n, 32) * 1024) / 1024
        at[:8] = np.arange(8) * n / 8 + 0.5
        coordinates.append(np.float32(at / n) if normalized else np.float32(at))
    layer = np.float32(rng.uniform(-1, 4, 32)) if shape.endswith("array") else None
    extra = 2 * directions if form == "_d" else int(form == "_b")
    registers, lines = [], ""
    given = [*[np.ones(32)] * extra, *coordinates, *([layer] if layer is not None else [])]
    given += [np.ones(32)] if form == "_l" else []
    for n, values in enumerate(given):
        lines += floats(10 + n, values)
        registers.append(f"v{10 + n}")
    address = registers[0] if len(registers) == 1 else f"[{', '.join(registers)}]"
    if arch != "gfx1201" and len(registers) > 5:
        address = f"v[10:{9 + len(registers)}]"
    found = run(
        arch,
        setup(descriptor(arch, shape, format, size), sampler(modes, linear, normalized, border))
        + lines
        + f"""
        image_sample{form} v[4:7], {address}, s[8:15], s[16:19] dmask:0xf dim:SQ_RSRC_IMG_{DIMS[shape]}
        {WAIT.get(arch, "s_waitcnt vmcnt(0)")}
        """,
        data=padded(image),
    )
    expected = sampling.sample(
        converted(image, format), coordinates, linear=linear, modes=modes, normalized=normalized, layer=layer,
        border={0: 0.0, 2: 1.0}[border],
    )  # fmt: skip
    if BORDER in modes and not border:  # a border of transparent black: the missing channels are the format's 0 and 1
        image_like = converted(np.ones_like(image), format)
        weights = sampling.sample(
            image_like, coordinates, linear=linear, modes=modes, normalized=normalized, layer=layer
        )
        expected[:, 3] = np.where(format.count("_") < 4, 1, weights[:, 3])
    assert np.allclose(seen(found, "float_float"), expected, rtol=0, atol=3e-6)


@pytest.mark.parametrize(
    ("shape", "modes", "linear", "normalized"),
    [("2d", (WRAP, MIRROR), True, True), ("2d", (CLAMP, BORDER), False, False),
     ("3d", (CLAMP, WRAP, MIRROR), True, True), ("1d_array", (BORDER,), True, False)],
)  # fmt: skip
def test_samples(shape, modes, linear, normalized):
    sampled("gfx1100", shape, modes, linear, normalized)


@pytest.mark.full
@pytest.mark.parametrize("arch", DEVICES)
@pytest.mark.parametrize("shape", list(SIZES))
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_samples_of_every_shape_filter_and_address(arch, shape, mode, linear, normalized):
    sampled(arch, shape, (mode,) * 3, linear, normalized)


@pytest.mark.full
@pytest.mark.parametrize("arch", DEVICES)
@pytest.mark.parametrize("form", ["", "_l", "_b", "_d"])
@pytest.mark.parametrize("shape", list(SIZES))
def test_levels_of_detail_are_the_only_level(arch, form, shape):
    sampled(arch, shape, (CLAMP,) * 3, True, True, form)


@pytest.mark.full
@pytest.mark.parametrize(
    "format", ["8_unorm", "16_snorm", "8_8_8_8_unorm", "16_float", "16_16_16_16_unorm", "32_32_32_32_float"]
)
def test_filtered_formats(format):
    sampled("gfx1100", "2d", (WRAP, CLAMP), True, True, format=format)


def test_a_white_border():
    sampled("gfx1100", "2d", (BORDER, BORDER), True, True, format="32_32_32_32_float", border=2)


def test_weights_have_eight_bits():
    """Texels 0 and 1024 (a lookup table): between their centres the result goes in steps of 4, as 1024 / 256 is."""
    places = np.float32(0.5 + np.arange(32) / 1024)
    found = run(
        "gfx1100",
        setup(descriptor("gfx1100", "1d", "32_float", (2, 1, 1)), sampler((CLAMP,), True, False))
        + floats(1, places)
        + """
        image_sample_lz v4, v1, s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_1D
        s_waitcnt vmcnt(0)
        """,
        data=padded(np.array([0, 1024], np.float32).reshape(1, 1, 2, 1)),
    )
    assert found.floats(4).tolist() == [4 * ((i + 2) // 4) for i in range(32)]


def test_gather_goes_against_the_clock_from_the_lower_left():
    """Around the corner of texels (2, 1), (3, 1), (2, 2), (3, 2) of an image whose texels are 10 * y + x."""
    image = np.array([[10 * y + x for x in range(6)] for y in range(5)], np.float32).reshape(1, 5, 6, 1)
    found = run(
        "gfx1100",
        setup(descriptor("gfx1100", "2d", "32_float", (6, 5, 1)), sampler((CLAMP, CLAMP), False, False))
        + """
        v_mov_b32 v1, 0x40400000
        v_mov_b32 v2, 2.0
        image_gather4_lz v[4:7], v[1:2], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D
        image_gather4_lz v[8:11], v[1:2], s[8:15], s[16:19] dmask:0x8 dim:SQ_RSRC_IMG_2D
        s_waitcnt vmcnt(0)
        """,
        data=padded(image),
    )
    assert [found.floats(4 + n)[0] for n in range(4)] == [22, 23, 13, 12]
    assert [found.floats(8 + n)[0] for n in range(4)] == [1, 1, 1, 1]


def test_coordinates_and_slopes_of_sixteen_bits():
    """a16: two to a register, what is left over in the last one's low half; so are derivatives of _g16."""
    image = np.arange(30, dtype=np.float32).reshape(1, 5, 6, 1)
    volume = np.arange(60, dtype=np.float32).reshape(2, 5, 6, 1)
    half = lambda low, high=0.0: int.from_bytes(np.array([low, high], np.float16).tobytes(), "little")  # noqa: E731
    for size, shape, lines in (
        ((6, 5, 1), "2d", f"""
            v_mov_b32 v1, {half(2.5, 1.75):#x}
            image_sample_lz v4, v1, s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D a16
            v_mov_b32 v2, {half(1, 1):#x}
            v_mov_b32 v3, 2.5
            v_mov_b32 v6, 0x3fe00000
            image_sample_d_g16 v5, [v2, v2, v3, v6], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D
            v_mov_b32 v1, {2 | 1 << 16:#x}
            image_load v7, v1, s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D a16
            """),
        ((6, 5, 2), "3d", f"""
            v_mov_b32 v1, {half(2.5, 1.75):#x}
            v_mov_b32 v2, {half(1.0):#x}
            image_sample_lz v4, v[1:2], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_3D a16
            v_mov_b32 v3, 1
            v_mov_b32 v1, {2 | 1 << 16:#x}
            image_load v7, [v1, v3], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_3D a16
            """),
    ):  # fmt: skip
        setting = setup(descriptor("gfx1100", shape, "32_float", size), sampler((CLAMP,) * 3, True, False))
        found = run("gfx1100", setting + lines + "s_waitcnt vmcnt(0)", data=padded(volume if size[2] > 1 else image))
        if shape == "2d":
            assert [found.floats(r)[0] for r in (4, 5, 7)] == [9.5, 9.5, 8]
        else:  # half way between the slices
            assert [found.floats(r)[0] for r in (4, 7)] == [24.5, 38]


@pytest.mark.parametrize("arch", ["gfx1100", pytest.param("gfx1201", marks=pytest.mark.full)])
def test_data_of_sixteen_bits(arch):
    """d16: channels two to a register, rounded to halves; what has no channel stays. Stored again they are texels."""
    texels = np.array([[0.5, -2, 1 / 3, 4], [1, 2, 3, 5]], np.float32).reshape(1, 1, 2, 4)
    numbers = np.array([[7, -3, 300, -300], [1, 2, 3, 5]], np.int16).reshape(1, 1, 2, 4)
    for image, format in ((texels, "32_32_32_32_float"), (numbers, "16_16_16_16_sint")):
        found = run(
            arch,
            setup(descriptor(arch, "1d", format, (2, 1, 1)), sampler((CLAMP,), False, False))
            + f"""
            v_mov_b32 v1, 0
            v_mov_b32 v2, 1
            v_mov_b32 v3, 0.5
            v_mov_b32 v6, 0x77770000
            s_mov_b32 exec_lo, 1
            image_load v[4:5], v1, s[8:15] dmask:0xf dim:SQ_RSRC_IMG_1D d16
            image_sample_lz v6, v3, s[8:15], s[16:19] dmask:0x4 dim:SQ_RSRC_IMG_1D d16
            {WAIT.get(arch, "s_waitcnt vmcnt(0)")}
            image_store v[4:5], v2, s[8:15] dmask:0xf dim:SQ_RSRC_IMG_1D d16
            """,
            data=padded(image),
        )
        halves = image[0, 0, 0].astype(np.float16) if format.endswith("float") else image[0, 0, 0]
        assert found.v[4:6, 0].copy().view(halves.dtype).tolist() == halves.tolist()
        assert found.v[6, 0] == 0x77770000 | int(halves[2:3].view(np.uint16)[0])
        after = np.frombuffer(found.data, image.dtype)[4:8]
        assert after.tolist() == halves.astype(image.dtype).tolist()


@pytest.mark.parametrize("arch", DEVICES)
def test_what_the_descriptor_says_of_the_size(arch):
    found = run(
        arch,
        setup(descriptor(arch, "2d_array", "32_float", (19, 7, 5)))
        + f"""
        v_mov_b32 v1, 0
        image_get_resinfo v[4:7], v1, s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D_ARRAY
        {WAIT.get(arch, "s_waitcnt vmcnt(0)")}
        """,
        data=bytes(256),
    )
    assert [int(found.v[4 + n][0]) for n in range(4)] == [19, 7, 5, 1]


@pytest.mark.parametrize("arch", DEVICES)
def test_an_image_may_begin_at_a_later_layer(arch):
    """Of five layers those from the third on (bits 144 and up): three, the first of which is 0."""
    words = descriptor(arch, "2d_array", "32_float", (19, 7, 5))
    words[4] |= 2 << 16
    image = random_image("32_float", (19, 7, 5))
    found = run(
        arch,
        setup(words)
        + f"""
        v_mov_b32 v1, 3
        v_mov_b32 v2, 1
        v_mov_b32 v3, v0
        image_load v4, [v1, v2, v3], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY
        image_get_resinfo v[5:8], v2, s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D_ARRAY
        {WAIT.get(arch, "s_waitcnt vmcnt(0)")}
        """,
        data=padded(image),
    )
    assert found.floats(4)[:4].tolist() == [*image[2:, 1, 3, 0].tolist(), 0.0]
    assert [int(found.v[5 + n][0]) for n in range(4)] == [19, 7, 3, 1]


def test_lanes_that_are_not_active_keep_their_values_and_touch_nothing():
    """Lanes 8 to 31 are off: their coordinates are NaN."""
    found = run(
        "gfx1100",
        setup(descriptor("gfx1100", "1d", "32_float", (8, 1, 1)), sampler((CLAMP,), True, False))
        + floats(1, np.where(np.arange(32) < 8, np.arange(32) + 0.5, np.nan))
        + """
        v_mov_b32 v4, 7
        s_mov_b32 exec_lo, 0xff
        image_sample_lz v4, v1, s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_1D
        s_waitcnt vmcnt(0)
        s_mov_b32 exec_lo, -1
        """,
        data=padded(np.arange(8, dtype=np.float32).reshape(1, 1, 8, 1)),
    )
    assert found.floats(4)[:8].tolist() == list(range(8))
    assert found.v[4][8:].tolist() == [7] * 24


@pytest.mark.parametrize("arch", DEVICES)
def test_texels_of_a_buffer(arch):
    """What tex1Dfetch is: ten texels of four signed bytes, 0 beyond them; and a store."""
    texels = np.arange(-20, 20, dtype=np.int8)
    word3 = sampling.select(4) | sampling.number(arch, "8_8_8_8_sint") << 12
    scalar = "null" if arch == "gfx1201" else "0"
    found = run(
        arch,
        f"""
        s_mov_b32 s8, s2
        s_or_b32 s9, s3, {4 << 16:#x}
        s_mov_b32 s10, 10
        s_mov_b32 s11, {word3:#x}
        buffer_load_format_xyzw v[4:7], v0, s[8:11], {scalar} idxen
        buffer_load_format_x v8, v0, s[8:11], {scalar} idxen
        {WAIT.get(arch, "s_waitcnt vmcnt(0)")}
        v_mov_b32 v9, 1
        v_cmpx_eq_u32 9, v0
        buffer_store_format_x v9, v0, s[8:11], {scalar} idxen
        """.replace("v_cmpx_eq_u32 9, v0", "s_mov_b32 exec_lo, 0x200"),
        data=np.concatenate([texels, np.full(24, 99, np.int8)]),
    )
    wanted = np.zeros((32, 4), np.int64)
    wanted[:10] = texels.reshape(10, 4)
    assert np.array_equal(found.v[4:8].T.view(np.int32), wanted)
    assert np.array_equal(found.v[8].view(np.int32), wanted[:, 0])
    rest = 1 if arch == "gfx1201" else 0
    assert list(np.frombuffer(found.data, np.int8)[36:44]) == [1, rest, rest, rest, 99, 99, 99, 99]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("image_load v[4:7], v[1:3], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_CUBE", "cube maps"),
        ("image_load v[4:7], v[1:2], s[8:15] dmask:0x7 dim:SQ_RSRC_IMG_2D", r"channels \(3\)"),
        ("image_load v[4:7], v1, s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D", "takes 2"),
        ("image_load v[4:7], v[1:2], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D tfe", "not resident"),
        ("image_load v[4:7], v[1:2], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D d16", r"channels \(2\)"),
        ("image_atomic_add_u32 v4, v[1:2], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D", "atomicAdd"),
        ("image_sample_c_lz v4, v[1:3], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D", "comparison of depths"),
    ],
)
def test_what_is_refused_says_why(line, why):
    text = f"k:\n  {line.replace('_add_u32', '_add')}\n  s_endpgm\n"
    program = parse(f'.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n.text\n{text}')
    with pytest.raises(UnsupportedInstruction, match=why):
        Decoder(program, isa.table("gfx1100")).decode(0, "k")
