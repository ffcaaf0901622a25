"""C and C++ files as an editor reads them: each by itself, with the compile_flags.txt of its folder or one above.

Files of the machine and of libraries have tests of their own (tests/machine/test_native.py, tests/libraries). The
device library is compiled with musl's sources from the compiler's package, and headers of kernels with kernels.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gpulab
from gpulab.toolchain import cache, compiler

PACKAGE = Path(gpulab.__file__).parent
pytestmark = pytest.mark.full
ELSEWHERE = ("virtual_gpu/machine/native", "toolchain/library", "toolchain/include")
FILES = sorted(
    path
    for path in [*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.cpp")]
    if not path.relative_to(PACKAGE).as_posix().startswith(ELSEWHERE)
)


def flags(path: Path) -> list[str]:
    """The words of the nearest compile_flags.txt, paths taken from its folder."""
    for folder in path.parents:
        found = folder / "compile_flags.txt"
        if found.exists():
            words = found.read_text(encoding="utf-8").split()
            return [f"-I{folder / word[2:]}" if word.startswith("-I") else word for word in words]
        if folder == PACKAGE:
            break
    return []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_file_compiles_without_a_warning(path: Path, tmp_path: Path) -> None:
    store = str(cache.tool_folder())
    tool = "c++" if path.suffix == ".cpp" else "cc"
    outcome = compiler.run(
        [tool, "-c", "-Wall", "-Wextra", *flags(path), str(path), "-o", str(tmp_path / "unit.o")],
        folder=str(tmp_path),
        extra_environment={"ZIG_GLOBAL_CACHE_DIR": store, "ZIG_LOCAL_CACHE_DIR": store},
        read=(*compiler.SYSTEM, str(PACKAGE)),
        write=(store,),
    )
    assert (outcome.code, outcome.log.strip()) == (0, "")
