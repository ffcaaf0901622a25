"""Dot products of small integers and sums of four bytes, against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.headers.device import run

both = pytest.mark.parametrize("arch", ["gfx942 device", "gfx1100 device"])

#: HIP's type of the packed numbers, numpy's, how many of them are in a register, and the sum's type.
KINDS = [
    ("short2", "int16", 2, "int"),
    ("ushort2", "uint16", 2, "unsigned int"),
    ("char4", "int8", 4, "int"),
    ("uchar4", "uint8", 4, "unsigned int"),
    ("int", "int32", 8, "int"),
    ("unsigned int", "uint32", 8, "unsigned int"),
]


def nibbles(words: np.ndarray) -> np.ndarray:
    """The eight numbers of four bits of each word, the lowest first."""
    raw = words.view("uint32")[:, None] >> np.arange(0, 32, 4, dtype="uint32") & 15
    return np.where((raw > 7) & (words.dtype.kind == "i"), raw.astype("int64") - 16, raw.astype("int64"))


@both
@pytest.mark.parametrize(("packed", "dtype", "count", "total"), KINDS)
def test_dot_products(arch: str, packed: str, dtype: str, count: int, total: str) -> None:
    random, word = np.random.default_rng(5), "uint32" if "unsigned" in total else "int32"
    limits = np.iinfo(dtype)
    a, b = (random.integers(limits.min, limits.max, 64 * (count if count < 8 else 1), dtype, True) for _ in range(2))
    c = random.integers(np.iinfo(word).min, np.iinfo(word).max, 64, word, True)
    c[:16], c[16:32] = np.iinfo(word).max, np.iinfo(word).min
    source = f"""
    __global__ void dots(const {packed}* a, const {packed}* b, const {total}* c, {total}* plain, {total}* clamped) {{
        int i = threadIdx.x;
        plain[i] = amd_mixed_dot(a[i], b[i], c[i], false);
        clamped[i] = amd_mixed_dot(a[i], b[i], c[i], true);
    }}"""
    (*_, plain, clamped), _ = run(arch, source, a, b, c, np.zeros(64, word), np.zeros(64, word))
    x, y = (nibbles(each) if count == 8 else each.reshape(64, count).astype("int64") for each in (a, b))
    wanted = (x * y).sum(axis=1) + c.astype("int64")
    assert (plain.view("uint32") == (wanted & 0xFFFFFFFF).astype("uint32")).all()
    assert (clamped == np.clip(wanted, np.iinfo(word).min, np.iinfo(word).max)).all()
    assert (plain != clamped).any()


@both
def test_four_bytes(arch: str) -> None:
    source = """
    __global__ void bytes(const char4* a, const char4* b, char4* out) {
        int i = threadIdx.x;
        out[i] = __hip_hc_add8pk(a[i], b[i]);
        out[64 + i] = __hip_hc_sub8pk(a[i], b[i]);
        out[128 + i] = __hip_hc_mul8pk(a[i], b[i]);
    }"""
    a, b = (np.random.default_rng(seed).integers(-128, 128, 256).astype("int8") for seed in (1, 2))
    (*_, out), _ = run(arch, source, a, b, np.zeros(768, "int8"))
    x, y = a.astype("int64"), b.astype("int64")
    assert (out == np.concatenate([x + y, x - y, x * y]).astype("int8")).all()
