"""gfx11's named halves where a 32-bit instruction takes one: the shift of v_alignbit_b32 and v_alignbyte_b32.

RDNA3 ISA manual 16.12 (VOP3): S2 is 16 bits wide there, the low or the high half of a register.
"""

import pytest

from tests.isa.machines import run


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_shift_from_a_half(arch):
    lines = [
        "v_mov_b32 v1, 0x12345678", "v_mov_b32 v2, 0x9abcdef0", "v_mov_b32 v3, 0x00080004",
        "v_alignbit_b32 v4, v1, v2, v3.l", "v_alignbit_b32 v5, v1, v2, v3.h",
        "v_mov_b32 v3, 0x00030001",
        "v_alignbyte_b32 v6, v1, v2, v3.l", "v_alignbyte_b32 v7, v1, v2, v3.h",
    ]  # fmt: skip
    found = run(arch, "\n".join(lines))
    assert set(found.v[4]) == {0x89ABCDEF}
    assert set(found.v[5]) == {0x789ABCDE}
    assert set(found.v[6]) == {0x789ABCDE}
    assert set(found.v[7]) == {0x3456789A}
