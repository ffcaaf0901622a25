"""What the report says of numbers that count lanes, one finding at a time."""

from __future__ import annotations

import pytest

import gpulab


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("for (int offset = 16; offset > 0; offset /= 2) x += __shfl_down_sync(m, x, offset);", True),
        ("x += __shfl_down_sync(m, x, 16);", True),
        ("x += __shfl_xor(x, 16);", True),
        ("x += __shfl_up(x, 16, 32);", True),
        ("x = __shfl_sync(m, x, 16);", False),  # lane 16 is there on both
        ("x += __shfl_down_sync(m, 16, 1);", False),  # the value, not the distance
        ("for (int k = 16; k > 0; k--) x += k;", False),
        ("x = max(x, 16);", False),
    ],
)
def test_a_reduction_of_32_lanes_starts_at_16(statement: str, found: bool) -> None:
    def said(qualifier: str) -> list[int]:
        text = f"{qualifier} void k(int x, unsigned long long m) {{\n  {statement}\n}}\n"
        return [
            note.line for note in gpulab.hipify(text).notes if "the steps 16, 8, 4, 2, 1 join 32 lanes" in str(note)
        ]

    assert said("__global__") == ([2] if found else [])
    assert said("static") == []  # host code has no lanes
