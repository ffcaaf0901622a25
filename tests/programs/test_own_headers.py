"""Sources that read headers of their own, and sources whose bytes are not UTF-8."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import gpulab
from gpulab import programs
from gpulab.programs import building
from gpulab.toolchain import hosted, sources

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

PROGRAM = """#include <hip/hip_runtime.h>
#include "../b/number.h"
#include <cstdio>
__global__ void k(int* p) { *p = NUMBER + 1; }
int main() {
  int* p;
  if (hipMallocManaged(&p, 4) != hipSuccess) return 1;
  k<<<1, 1>>>(p);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  std::printf("%d %d\\n", NUMBER, *p);
}
"""


def test_a_header_above_is_found_and_the_cache_knows_its_contents(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "main.hip").write_text(PROGRAM)
    (tmp_path / "b" / "number.h").write_text('#pragma once\n#include "deeper.h"\n')
    (tmp_path / "b" / "deeper.h").write_text("#define NUMBER 41\n")
    made = []
    make = building._make
    monkeypatch.setattr(building, "_make", lambda *given: made.append(1) or make(*given))

    def said() -> str:
        return programs.build(tmp_path / "a" / "main.hip", archs=["gfx942"]).run(arch="gfx942").stdout

    assert (said(), len(made)) == ("41 42\n", 1)
    assert (said(), len(made)) == ("41 42\n", 1)  # kept
    (tmp_path / "b" / "deeper.h").write_text("#define NUMBER 50\n")
    assert (said(), len(made)) == ("50 51\n", 2)  # a changed header is seen


def test_the_files_that_a_source_can_read(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "both.h").write_text("#include_next <both.h>\n")
    (first / "only.h").write_text("// nothing\n")
    text = '#include <both.h>\n#  inc\\\nlude "only.h"\n#include <vector>\n#if __has_include("absent.h")\n#endif\n'
    found = sources.headers(text, "", (), (str(first), str(second)))
    assert found.complete
    assert [Path(path).relative_to(tmp_path).as_posix() for path in found.files] == [
        "first/both.h", "first/only.h", "second/both.h",
    ]  # fmt: skip
    (first / "absent.h").write_text("")
    assert sources.headers(text, "", (), (str(first), str(second))).digest != found.digest
    assert not sources.headers("#define NAME <x>\n#include NAME\n", "", (), (str(first),)).complete


def test_the_root_as_a_folder_of_headers(tmp_path: Path) -> None:
    source = tmp_path / "main.hip"
    source.write_text('#define NAME <cstdio>\n#include NAME\nint main() { std::puts("fine"); }\n')
    assert programs.build(source, archs=["gfx942"], options=["-I/"]).run().stdout == "fine\n"


@pytest.mark.full
def test_bytes_that_are_not_utf8_stay_what_they_are(tmp_path: Path) -> None:
    source = tmp_path / "latin.hip"
    source.write_bytes(
        b"#include <hip/hip_runtime.h>\n#include <cstdio>\n// Gr\xfc\xdfe\n__global__ void k() {}\n"
        b'int main() { int wrong; std::puts("caf\xe9 \xc3\xa9"); }  // \xe9\n'
    )
    program = programs.build(source, archs=["gfx942"])
    done = subprocess.run([str(program.path)], capture_output=True, check=True)
    assert done.stdout == b"caf\xe9 \xc3\xa9\n"
    said = "\n".join(one.rendered for one in program.warnings)
    assert "unused variable 'wrong'" in said
    assert "caf\ufffd é" in said


def test_a_kernel_with_bytes_that_are_not_utf8() -> None:
    text = b'// \xe9\n__global__ void k(unsigned char* p) { *p = "\xe9"[0]; }'.decode("utf-8", "surrogateescape")
    with gpulab.using("gfx942"):
        module = gpulab.compile(text)
        out = gpulab.zeros(1, "uint8")
        module.k[1, 1](out)
        assert out.to_host()[0] == 0xE9
    assert module.source.startswith("// \ufffd\n")


def test_what_guards_a_header_is_defined_by_no_other() -> None:
    """hip/hip_complex.h had a macro of the name that guards <complex>, which then lacked what is guarded."""
    guards: dict[str, str] = {}
    defined: dict[str, set[str]] = {}
    for path in sorted(hosted.INCLUDE.rglob("*")):
        if path.is_file():
            text, name = path.read_text(encoding="utf-8"), str(path.relative_to(hosted.INCLUDE))
            for macro in re.findall(r"^#ifndef (\w+)\n#define \1$", text, re.MULTILINE):
                guards[macro] = name
            for macro in re.findall(r"^#\s*define (\w+)", text, re.MULTILINE):
                defined.setdefault(macro, set()).add(name)
    assert len(guards) > 3
    assert {macro: defined[macro] for macro, name in guards.items() if defined[macro] != {name}} == {}
