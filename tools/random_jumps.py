"""Write gpulab/toolchain/include/gpulab/random_jumps.h: how the generator XORWOW gets far ahead.

A step is a linear map A of 160 bits, so that n steps are a polynomial in A: the remainder of x^n modulo A's
characteristic polynomial. The table has it for n = digit * 16^place and for 2^67 as much, the length of a subsequence.

    python tools/random_jumps.py
"""

from __future__ import annotations

from pathlib import Path

OUTPUT = Path(__file__).resolve().parents[1] / "gpulab/toolchain/include/gpulab/random_jumps.h"
WORD = 0xFFFFFFFF
BITS = 160
SUBSEQUENCE = 67


def step(x: list[int]) -> list[int]:
    """The xorshift part of XORWOW (Marsaglia 2003)."""
    t = x[0] ^ (x[0] >> 2)
    return [*x[1:], (x[4] ^ (x[4] << 4) ^ t ^ (t << 1)) & WORD]


def characteristic() -> int:
    """A's polynomial, from the bits of a run, by Berlekamp and Massey; bit i is the coefficient of x^i."""
    state, run = [1, 0, 0, 0, 0], []
    for _ in range(2 * BITS):
        run.append(state[4] & 1)
        state = step(state)
    now, before, length, since = 1, 1, 0, 1
    for n, _bit in enumerate(run):
        wrong = sum(run[n - i] for i in range(length + 1) if now >> i & 1) & 1
        if not wrong:
            since += 1
        elif 2 * length <= n:
            now, before, length, since = now ^ (before << since), now, n + 1 - length, 1
        else:
            now, since = now ^ (before << since), since + 1
    assert length == BITS
    return sum((now >> i & 1) << (BITS - i) for i in range(BITS + 1))


def product(a: int, b: int, modulus: int) -> int:
    """a * b, polynomials over two elements."""
    result = 0
    while b:
        if b & 1:
            result ^= a
        b >>= 1
        a <<= 1
        if a >> BITS:
            a ^= modulus
    return result


def rows(base: int, modulus: int) -> list[str]:
    """Powers digit * 16^place of the base, place by place, five words each."""
    lines = []
    for _place in range(16):
        power = 1
        for _digit in range(15):
            power = product(power, base, modulus)
            words = ", ".join(f"{power >> (32 * i) & WORD:#x}" for i in range(5))
            lines.append(f"    {{{words}}},")
        base = product(power, base, modulus)
    return lines


def text() -> str:
    modulus = characteristic()
    far = 2
    for _ in range(SUBSEQUENCE):
        far = product(far, far, modulus)
    return "\n".join(
        [
            "// XORWOW's jumps, written by tools/random_jumps.py: digit * 16^place numbers (row 15 * place + digit-1),",
            "// and as many subsequences of 2^67 numbers. Bit i is the coefficient of A^i, where A is one step.",
            "#pragma once",
            "static __device__ const unsigned int __gpulab_xorwow_numbers[240][5] = {",
            *rows(2, modulus),
            "};",
            "static __device__ const unsigned int __gpulab_xorwow_subsequences[240][5] = {",
            *rows(far, modulus),
            "};",
            "",
        ]
    )


if __name__ == "__main__":
    OUTPUT.write_text(text(), encoding="utf-8")
