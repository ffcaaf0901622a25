"""Headers that Clang reads once: which of a program's they are, and that nothing but time depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpulab import programs
from gpulab.errors import CompileError
from gpulab.toolchain import cache, compiler, hosted, precompiled


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("#include <hip/hip_runtime.h>\n#include <cstdio>\nint main() {}\n", ["hip/hip_runtime.h", "cstdio"]),
        ("// what it does\n\n/* and\n why */ #  include  <vector> // for x\n#include<map>\n", ["vector", "map"]),
        ("/*\n#include <vector>\n*/\n#include <map>\n", ["map"]),
        ("// a comment that goes on \\\n#include <vector>\n#include <map>\n", []),
        ("#include <vector>\n#define _GNU_SOURCE\n#include <cstdio>\n", ["vector"]),
        ("#define NDEBUG\n#include <cassert>\n", []),
        ("#ifdef __HIPCC__\n#include <vector>\n#endif\n", []),
        ("#include <vector>\n#include \"mine.h\"\n#include <map>\n", ["vector"]),
        ("#include <vector", []),
        ("int main() {}", []),
        ("", []),
    ],
)  # fmt: skip
def test_headers_that_a_source_begins_with(source: str, names: list[str]) -> None:
    assert precompiled.included(source) == "".join(f"#include <{name}>\n" for name in names)


PROGRAM = """#include <hip/hip_runtime.h>
#include <cassert>
#include <cstdio>
#define NDEBUG
#include <cassert>
__device__ __host__ int twice(int x) { return 2 * x; }
__global__ void show() { printf("device %d, line %d\\n", twice(4), __LINE__); }
int main() {
  int unused;
  assert(false);
  show<<<1, 1>>>();
  int failed = hipDeviceSynchronize();
  printf("host %d, counter %d, line %d\\n", twice(5), __COUNTER__, __LINE__);
  return failed;
}
"""

on_hosts = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The arguments of every run of the compiler from now on."""
    found: list[Sequence[str]] = []
    run = compiler.run

    def noted(arguments: Sequence[str], **others: Any) -> compiler.Outcome:
        found.append(arguments)
        return run(arguments, **others)

    monkeypatch.setattr(compiler, "run", noted)
    return found


@on_hosts
def test_a_second_program_with_the_same_headers_reads_none(own_cache: Path, runs: list[Sequence[str]]) -> None:
    (own_cache / "headers").unlink()  # its own, too
    programs.build(PROGRAM)
    made = [each for each in runs if "-emit-pch" in each]
    assert len(made) == 3  # two devices and the host
    runs.clear()
    programs.build(PROGRAM.replace("twice(5)", "twice(6)"))
    passes = [each for each in runs if "-x" in each and "hip" in each]
    assert len(passes) == 5
    assert all("-include-pch" in each for each in passes)


def test_the_folder_keeps_to_its_limit(monkeypatch: pytest.MonkeyPatch, own_cache: Path, tmp_path: Path) -> None:
    (own_cache / "headers").unlink()
    monkeypatch.setattr(precompiled, "_STORE", cache.Store("headers", 3 << 20))

    def run(options: Sequence[str], main: Path) -> compiler.Outcome:
        main.with_name(precompiled.FILE).write_bytes(bytes(1 << 20))
        return compiler.Outcome(0, "")

    for name in "abcdefgh":
        assert precompiled.options(f"#include <{name}>\n", tmp_path, (), run)
        sizes = [entry.stat().st_size for entry in (own_cache / "headers").glob("*/*")]
        assert 0 < sum(sizes) <= 3 << 20


@on_hosts
def test_programs_are_the_same_without(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = programs.build(PROGRAM)
    with pytest.raises(CompileError) as refused:
        programs.build(PROGRAM.replace("return failed", "return fialed"))
    monkeypatch.setattr(precompiled, "included", lambda source: "")
    other = PROGRAM + "// another text, so that none of it is kept\n"
    anew = programs.build(other)
    with pytest.raises(CompileError) as refused_anew:
        programs.build(other.replace("return failed", "return fialed"))
    assert str(refused.value) == str(refused_anew.value)
    assert "did you mean 'failed'" in str(refused.value)
    assert [str(each) for each in usual.warnings] == [str(each) for each in anew.warnings] != []
    outputs = {program.run().stdout for program in (usual, anew)}
    assert outputs == {"device 8, line 7\nhost 10, counter 0, line 13\n"}


@on_hosts
def test_a_header_that_is_missing_is_named() -> None:
    with pytest.raises(CompileError) as refused:
        programs.build("#include <no/such/header.h>\nint main() {}\n")
    assert "no/such/header.h" in str(refused.value)


def test_what_sources_with_options_share() -> None:
    begin = "// a comment\n#include <vector>\n#include <hip/hip_runtime.h>\n"
    assert precompiled.runtime(f"{begin}int x;\n") == "#include <hip/hip_runtime.h>\n"
    assert precompiled.runtime(f'#include "own.h"\n{begin}') == ""
    assert precompiled.runtime(f"#define N 4\n{begin}") == ""
    assert precompiled.runtime("#include <vector>\n") == ""


def test_with_options_it_is_made_for_the_second_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "cache"))
    runs = []

    def run(options: Sequence[str], main: Path) -> compiler.Outcome:
        runs.append(main.read_text())
        (tmp_path / precompiled.FILE).write_bytes(b"headers")
        return compiler.Outcome(0, "")

    include = "#include <hip/hip_runtime.h>\n"
    assert precompiled.options(include, tmp_path, ("-O3",), run, sparing=True) == ()
    assert precompiled.options(include, tmp_path, ("-O2",), run, sparing=True) == ()
    assert runs == []
    loads = ("-Xclang", "-include-pch", "-Xclang", "/gpulab/headers.pch")
    assert precompiled.options(include, tmp_path, ("-O3",), run, sparing=True) == loads
    assert precompiled.options(include, tmp_path, ("-O3",), run, sparing=True) == loads
    assert runs == [include]


def test_a_folder_that_hides_a_header_shares_nothing(tmp_path: Path) -> None:
    setting = hosted.Hosted("x86_64-linux-gnu", (str(tmp_path / "system"),), (), user=(str(tmp_path / "own"),))
    (tmp_path / "system").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "system" / "vector").write_text("")
    (tmp_path / "own" / "tools.h").write_text("")
    shared = setting.shared()
    assert shared is not None
    assert shared.user == ()
    (tmp_path / "own" / "vector").write_text("")
    assert setting.shared() is None
    (tmp_path / "own" / "vector").unlink()
    (tmp_path / "own" / "hip").mkdir()
    assert setting.shared() is None
