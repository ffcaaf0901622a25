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
