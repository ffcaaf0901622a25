"""The list that is taken out of precompiled headers: Clang reads less then, and everything else stays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gpulab.errors import CompileError
from gpulab.toolchain import ast_file, build, compiler, precompiled

KERNEL = "__global__ void half(float *x) { x[threadIdx.x] = sinf(x[threadIdx.x]) * 0.5f; }\n"


@pytest.fixture
def headers(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> list[bytes]:
    """The precompiled headers that are made from now on, as Clang made them."""
    (own_cache / "headers").unlink()
    monkeypatch.setattr(precompiled, "_opened", {})
    found: list[bytes] = []
    shorten = ast_file.without_functions_to_check

    def noted(made: bytes) -> bytes:
        found.append(made)
        return shorten(made)

    monkeypatch.setattr(ast_file, "without_functions_to_check", noted)
    return found


def identifiers_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many names of a precompiled header Clang has read, of each compile from now on, by its own statistics."""
    found: list[int] = []
    run = compiler.run

    def counted(arguments: Any, **others: Any) -> compiler.Outcome:
        if "-include-pch" not in arguments or "-emit-llvm" in arguments:
            return run(arguments, **others)
        told = run((*arguments[:-1], "-Xclang", "-print-stats", "-"), **others)
        found.extend(int(number) for number in re.findall(r"(\d+)/\d+ identifiers read", told.log))
        return run(arguments, **others)

    monkeypatch.setattr(compiler, "run", counted)
    return found


@pytest.mark.full
def test_clang_reads_what_a_source_uses(monkeypatch: pytest.MonkeyPatch, headers: list[bytes]) -> None:
    read = identifiers_read(monkeypatch)
    short = build.compile(KERNEL, arch="gfx942", use_cache=False)
    monkeypatch.setattr(ast_file, "without_functions_to_check", lambda made: made)
    monkeypatch.setattr(precompiled, "_FORMAT", "another")  # it is made again
    whole = build.compile(KERNEL, arch="gfx942", use_cache=False)
    assert read[0] < 200 < 500 < read[1]
    assert short.assembly == whole.assembly
    assert short.messages == whole.messages


@pytest.mark.full
def test_one_number_is_changed_once(headers: list[bytes]) -> None:
    build.compile(KERNEL, arch="gfx1100", use_cache=False)
    (made,) = headers
    shorter = ast_file.without_functions_to_check(made)
    assert len(shorter) == len(made)
    assert 1 <= sum(one != other for one, other in zip(made, shorter, strict=True)) <= 2
    assert ast_file.without_functions_to_check(shorter) == shorter


@pytest.mark.parametrize("data", [b"", b"CPCH", b"CPCH" + bytes(64), b"\x7fELF" + bytes(range(256))])
def test_what_has_no_such_list_stays(data: bytes) -> None:
    assert ast_file.without_functions_to_check(data) == data


# Bitstreams as LLVM's "LLVM Bitcode File Format" has them: texts of bits, the lowest first.


def fixed(value: int, width: int) -> str:
    return "".join(str(value >> at & 1) for at in range(width))


def vbr(value: int, width: int) -> str:
    low, rest = value & (1 << (width - 1)) - 1, value >> (width - 1)
    return fixed(low, width - 1) + ("1" + vbr(rest, width) if rest else "0")


def aligned(bits: str) -> str:
    return bits + "0" * (-len(bits) % 32)


def with_block(before: str, outer: int, number: int, width: int, body: str) -> str:
    """What stands before and a block; `outer` is the width of abbreviations around it, `width` that within it."""
    head, body = aligned(before + fixed(1, outer) + vbr(number, 8) + vbr(width, 4)), aligned(body)
    return head + fixed(len(body) // 32, 32) + body


def record(width: int, number: int, *values: int) -> str:
    return fixed(3, width) + vbr(number, 6) + vbr(len(values), 6) + "".join(vbr(value, 6) for value in values)


def defined(width: int, *operands: tuple[int, ...]) -> str:
    """An abbreviation: operands are (encoding,), (encoding, width), or (0, value) for one that is not written."""
    parts = [
        "1" + vbr(rest[0], 8) if not kind else "0" + fixed(kind, 3) + "".join(vbr(part, 5) for part in rest)
        for kind, *rest in operands
    ]
    return fixed(2, width) + vbr(len(operands), 5) + "".join(parts)


def file(bits: str, magic: bytes = b"CPCH") -> bytes:
    return magic + bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits), 8))


FIXED, VBR, ARRAY, CHAR6, BLOB = range(1, 6)
BEFORE = {
    "nothing": "",
    "other records": record(4, 65, 1, 31, 32, 1023, 1 << 20) + record(4, 1024) + record(4, 0, 64),
    "a block": with_block("", 4, 9, 3, record(3, 64) + fixed(0, 3)),
    "a block behind a record": with_block(record(4, 7, 9), 4, 200, 5, record(5, 64, 64) * 9),
    **{
        f"{width} bits": defined(4, (FIXED, width)) + fixed(4, 4) + fixed((1 << width) - 1, width)
        for width in range(1, 9)
    },
    "a fixed and a variable number": (
        defined(4, (FIXED, 5), (VBR, 6), (0, 300)) + (fixed(4, 4) + fixed(21, 5) + vbr(1 << 19, 6)) * 2
    ),
    "numbers without bits": defined(4, (FIXED, 0), (VBR, 0), (0, 1)) + fixed(4, 4) * 3,
    "a second abbreviation": (
        defined(4, (FIXED, 7)) + defined(4, (0, 5), (CHAR6,), (FIXED, 3)) + fixed(5, 4) + "1" * 9
        + fixed(4, 4) + "1" * 7
    ),
    "arrays": (
        defined(4, (FIXED, 3), (ARRAY,), (FIXED, 7)) + fixed(4, 4) + "111" + vbr(40, 6) + "1" * 280
        + defined(4, (ARRAY,), (CHAR6,)) + fixed(5, 4) + vbr(3, 6) + "1" * 18 + fixed(5, 4) + vbr(0, 6)
        + defined(4, (ARRAY,), (VBR, 4)) + fixed(6, 4) + vbr(2, 6) + vbr(77, 4) + vbr(5, 4)
    ),
    "blobs": (
        (aligned(defined(4, (FIXED, 3), (BLOB,)) + fixed(4, 4) + "111" + vbr(5, 6)) + "1" * 40 + "0" * 24)
        + aligned(fixed(4, 4) + "101" + vbr(4, 6)) + "1" * 32
        + aligned(fixed(4, 4) + "101" + vbr(0, 6))
    ),
}  # fmt: skip


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("values", [(), (1, 2, 300)])
def test_the_number_of_the_record_is_changed_wherever_it_stands(before: str, values: tuple[int, ...]) -> None:
    def made(number: int) -> bytes:
        body = BEFORE[before] + record(4, number, *values) + record(4, 64, 5) + fixed(0, 4)
        return file(with_block(with_block("", 2, 13, 5, record(5, 64)), 2, 8, 4, body))

    assert ast_file.without_functions_to_check(made(64)) == made(66)
    assert ast_file.without_functions_to_check(made(65)) != made(65)  # then the next one is


@pytest.mark.parametrize("width", [2, 3, 4, 5, 9])
def test_widths_of_abbreviations_and_the_end_of_the_file(width: int) -> None:
    def made(number: int) -> bytes:
        return file(with_block("", 2, 8, width, record(width, number)))

    assert ast_file.without_functions_to_check(made(64)) == made(66)


def test_a_record_that_is_not_the_list_stays() -> None:
    in_another_block = file(with_block("", 2, 9, 4, record(4, 64)))
    behind_the_end = file(with_block("", 2, 8, 4, fixed(0, 4) + record(4, 64)))
    another_file = file(with_block("", 2, 8, 4, record(4, 64)), b"BC\xc0\xde")
    behind_the_blocks = file(
        with_block("", 2, 9, 4, "") + aligned(fixed(2, 2)) + with_block("", 2, 8, 4, record(4, 64))
    )
    for data in (in_another_block, behind_the_end, another_file, behind_the_blocks):
        assert ast_file.without_functions_to_check(data) == data
    in_the_second = [
        file(with_block(with_block("", 2, 8, 4, record(4, 7) + fixed(0, 4)), 2, 8, 3, record(3, number)))
        for number in (64, 66)
    ]
    assert ast_file.without_functions_to_check(in_the_second[0]) == in_the_second[1]


HOST_CALL = """
__host__ int on_the_host();
inline __host__ __device__ int either(int x) { return x > 0 ? x : on_the_host(); }
__device__ inline int further(int x) { return either(x) + 1; }
"""


def test_errors_that_are_put_off_are_found_where_a_kernel_calls() -> None:
    with pytest.raises(CompileError) as refused:
        build.compile(HOST_CALL + "__global__ void call(int *x) { *x = further(*x); }\n", arch="gfx942")
    assert "on_the_host" in str(refused.value)
    quiet = build.compile(HOST_CALL + "__global__ void own(int *x) { *x += 1; }\n", arch="gfx942")
    assert [kernel.name for kernel in quiet.kernels.values()] == ["own"]
