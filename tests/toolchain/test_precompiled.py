"""Headers that Clang reads once: which of a program's they are, and that nothing but time depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpulab import programs, toolchain
from gpulab.errors import CompileError
from gpulab.toolchain import cache, compiler, hosted, precompiled


@pytest.fixture(autouse=True)
def nothing_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests have opened is not taken."""
    monkeypatch.setattr(precompiled, "_opened", {})


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
        assert precompiled.program(f"#include <{name}>\n", tmp_path, (), run)
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


RUNTIME = "#include <hip/hip_runtime.h>\n"
LOADS = ("-Xclang", "-include-pch", "-Xclang", "/gpulab/headers.pch")


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[precompiled.Run, list[str]]:
    """A compiler that only names the headers in the file that it makes, and what it was given."""
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "cache"))
    given = []

    def run(options: Sequence[str], main: Path) -> compiler.Outcome:
        given.append(main.read_text())
        names = given[-1].replace("#include <", "/folder/").replace(">", "")
        (tmp_path / precompiled.FILE).write_text(f"/folder/cstdio\n/folder/vector\n{names}")
        return compiler.Outcome(0, "")

    return run, given


def test_kernels_with_options_have_it_from_the_second_time_on(
    reads: tuple[precompiled.Run, list[str]], tmp_path: Path
) -> None:
    run, given = reads
    assert precompiled.kernels(tmp_path, ("-O0",), run, sparing=True) == ()
    assert precompiled.kernels(tmp_path, ("-O1",), run, sparing=True) == ()
    assert given == []
    assert precompiled.kernels(tmp_path, ("-O0",), run, sparing=True) == LOADS
    assert precompiled.kernels(tmp_path, ("-O0",), run, sparing=True) == LOADS
    assert given == [RUNTIME]
    assert precompiled.kernels(tmp_path, (), run, sparing=False) == LOADS
    assert given == [RUNTIME] * 2


def test_programs_share_the_runtimes_headers(reads: tuple[precompiled.Run, list[str]], tmp_path: Path) -> None:
    run, given = reads
    for source in (f"#include <cstdio>\n{RUNTIME}int x;", f"// a comment\n{RUNTIME}#include <vector>\n", RUNTIME) * 3:
        assert precompiled.program(source, tmp_path, (), run) == LOADS
    assert given == [RUNTIME]
    assert precompiled.program(RUNTIME, tmp_path, ("-std=c++14",), run) == LOADS
    assert given == [RUNTIME] * 2
    for without in (f'#include "own.h"\n{RUNTIME}', f"#define N 4\n{RUNTIME}"):
        assert precompiled.program(without, tmp_path, (), run) == ()
    assert given == [RUNTIME] * 2


def test_a_program_with_more_headers_has_its_own_when_it_is_built_often(
    reads: tuple[precompiled.Run, list[str]], tmp_path: Path
) -> None:
    run, given = reads
    more = f"{RUNTIME}#include <thrust/sort.h>\n"
    for _ in range(precompiled.OFTEN - 1):
        assert precompiled.program(more, tmp_path, (), run) == LOADS
        assert "sort" not in (tmp_path / precompiled.FILE).read_text()
    for _ in range(2):
        assert precompiled.program(more, tmp_path, (), run) == LOADS
        assert "sort" in (tmp_path / precompiled.FILE).read_text()
    assert given == [RUNTIME, more]


@pytest.mark.parametrize(
    ("name", "brings"),
    [
        ("thrust/sort.h", True), ("hipcub/hipcub.hpp", True), ("rocprim/rocprim.hpp", True), ("hip/hip_ext.h", True),
        ("hip/hip_version.h", False), ("vector", False), ("cmath", False), ("no/such.h", False),
        ("../../../../tests/stored.py", False),
    ],
)  # fmt: skip
def test_headers_that_bring_the_runtime_share_its_own(
    reads: tuple[precompiled.Run, list[str]], tmp_path: Path, name: str, brings: bool
) -> None:
    run, given = reads
    source = f"#include <{name}>\n"
    assert precompiled.program(source, tmp_path, (), run) == LOADS
    assert given == [RUNTIME if brings else source]


def test_options_that_a_precompiled_header_depends_on() -> None:
    assert precompiled.seen(("-O3", "-Wextra", "-Wno-unused", "-w", "-g", "-ggdb"), "-O3") == ()
    kept = ("-O2", "-std=c++17", "-DW=2", "-UX", "-ffast-math", "-mwavefrontsize64", "-pedantic-errors")
    assert precompiled.seen(kept, "-O3") == kept
    assert precompiled.seen(("-O0", "-O3"), "-O3") == ("-O0", "-O3")


@pytest.mark.parametrize("options", [("-munsafe-fp-atomics",), ("-mno-unsafe-fp-atomics",), ("-g", "-Wextra")], ids=str)
def test_code_of_options_that_no_header_sees_is_the_same_without_precompiled_headers(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    source = "__global__ void add(float* p, float x) { atomicAdd(p, x); }"

    def assembly(*options: str) -> str:
        return toolchain.compile(source, arch="gfx90a", options=options, use_cache=False).assembly

    def instruction(text: str) -> str:
        return next(line.split()[0] for line in text.splitlines() if line.strip().startswith("global_atomic"))

    usual = assembly()
    with monkeypatch.context() as patch:
        patch.setattr(precompiled, "_made", lambda *_: pytest.fail("others were made"))
        shared = assembly(*options)
    monkeypatch.setattr(precompiled, "kernels", lambda *_, **__: ())
    assert shared == assembly(*options)
    unsafe = "-munsafe-fp-atomics" in options
    assert instruction(shared) == ("global_atomic_add_f32" if unsafe else "global_atomic_cmpswap")
    assert instruction(usual) == "global_atomic_cmpswap", "what gfx90a adds to memory of the host would be lost"


@on_hosts
@pytest.mark.full
def test_warnings_are_the_options_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same precompiled headers: -Wextra adds one, -w takes all away, an error is one."""

    def said(*options: str) -> list[str]:
        found = programs.build(PROGRAM.replace("twice(int x)", "twice(int x, int y = 0)"), options=options).warnings
        return [each.message for each in found]

    programs.build(PROGRAM)  # makes them
    monkeypatch.setattr(precompiled, "_made", lambda *_: pytest.fail("others were made"))
    usual = said("-g")
    assert ["unused variable" in each for each in usual] == [True]
    assert said("-Wextra") == ["unused parameter 'y'", "unused variable 'unused'"]
    assert said("-w") == []
    with pytest.raises(CompileError, match="unused variable 'unused'"):
        said("-Werror=unused-variable")


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
