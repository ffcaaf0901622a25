"""The report's advice on PTX names the function that does what the instruction does."""

import pytest

from gpulab import hipify


@pytest.mark.parametrize(
    ("instruction", "advice"),
    [
        ("bfind.u32 %0, %1;", "31 - __clz(x)"),  # PTX ISA, "bfind": position of the most significant bit
        ("bfi.b32 %0, %1, %2, 0, 4;", "__bitinsert_u32"),
        ("shf.l.wrap.b32 %0, %1, %1, %2;", "__funnelshift_l"),  # PTX ISA, "shf": funnel shift
        ("shfl.sync.idx.b32 %0, %1, 0, 31, -1;", "__shfl"),
    ],
)
def test_advice(instruction, advice):
    source = f'__device__ unsigned f(unsigned x) {{ unsigned r; asm("{instruction}" : "=r"(r) : "r"(x)); return r; }}'
    [note] = [note for note in hipify(source).notes if note.kind == "inline-ptx"]
    assert advice in note.advice
