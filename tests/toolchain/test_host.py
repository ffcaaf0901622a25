"""Libraries for this machine, and the compiler process itself."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import compile_host_library, compiler


def test_c_library(tmp_path: Path) -> None:
    out = compile_host_library(
        "#include <stdint.h>\nint64_t cube(int64_t x) { return x * x * x; }", tmp_path / "deep" / "l.so"
    )
    library = ctypes.CDLL(str(out))
    library.cube.restype, library.cube.argtypes = ctypes.c_int64, [ctypes.c_int64]
    assert library.cube(2000) == 8_000_000_000
    assert [path.name for path in out.parent.iterdir()] == ["l.so"]


DIVIDES = "unsigned long g(unsigned long a, unsigned long b) { return (unsigned __int128)a * a / b; }\n"


@pytest.mark.full
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the compiler's own choice holds")
def test_the_compilers_runtime_library_is_built_where_something_lacks_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its functions (128-bit division is one) are in libcompiler_rt.a; building that takes seconds."""
    from gpulab.toolchain import cache

    def runtimes() -> list[str]:
        return [path.name for path in (tmp_path / "zig").rglob("libcompiler_rt.a")]

    (tmp_path / "zig").mkdir()
    monkeypatch.setattr(cache, "tool_folder", lambda name="zig": tmp_path / name)
    plain = compile_host_library('#include <dlfcn.h>\nvoid* f(void) { return dlsym(0, "f"); }', tmp_path / "a.so")
    assert ctypes.CDLL(str(plain)).f is not None
    module = compile_host_library("void* Py_(void); void* f(void) { return Py_(); }", tmp_path / "module.so")
    assert module.exists()
    assert runtimes() == []
    library = ctypes.CDLL(str(compile_host_library(DIVIDES, tmp_path / "b.so")))
    library.g.restype, library.g.argtypes = ctypes.c_uint64, [ctypes.c_uint64] * 2
    assert library.g(1 << 40, 3 << 20) == (1 << 80) // (3 << 20)
    assert runtimes() == ["libcompiler_rt.a"]


def test_library_from_a_file(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int three(void) { return 3; }")
    out = compile_host_library(source, tmp_path / "a.so", optimize="3", options=["-DUNUSED"])
    assert ctypes.CDLL(str(out)).three() == 3


def test_error_in_c(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="could not be built") as caught:
        compile_host_library("int f( { return 1; }", tmp_path / "bad.so")
    assert "error" in caught.value.log
    assert list(tmp_path.iterdir()) == []


def test_missing_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ziglang", None)
    compiler.package_folder.cache_clear()
    try:
        with pytest.raises(GpulabError, match="no compiler") as caught:
            compiler.package_folder()
        assert "pip install ziglang" in str(caught.value)
    finally:
        compiler.package_folder.cache_clear()


def test_environment_does_not_steer_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CPATH", "CCC_OVERRIDE_OPTIONS", "HIP_PATH"):
        monkeypatch.setenv(name, "/evil")
    assert not {"CPATH", "CCC_OVERRIDE_OPTIONS", "HIP_PATH"} & set(compiler.environment())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "of_cpath.h").write_text("int x;")
    (tmp_path / "a.c").write_text("#include <of_cpath.h>\n")
    monkeypatch.setenv("CPATH", str(tmp_path / "other"))
    outcome = compiler.run(["clang", "-fsyntax-only", str(tmp_path / "a.c")])
    assert "'of_cpath.h' file not found" in outcome.log


def test_log_is_cut(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("#warning " + "x" * 5000)
    outcome = compiler.run(["clang", "-fsyntax-only", str(source)], limits=compiler.Limits(log_bytes=1000))
    assert len(outcome.log) < 1100
    assert outcome.log.endswith("output was cut)\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of another process")
def test_memory_limit(tmp_path: Path) -> None:
    """A source of a few lines that expands to 10^9 numbers is stopped by its memory long before its time."""
    source = tmp_path / "a.c"
    ten = "".join(f"#define A{i} " + f"A{i - 1} " * 10 + "\n" for i in range(1, 10))
    source.write_text(f"#define A0 1,\n{ten}int x[] = {{ A9 }};")
    limits = compiler.Limits(seconds=60, memory_bytes=1 << 30)
    outcome = compiler.run(["clang", "-fsyntax-only", str(source)], limits=limits)
    assert outcome.code != 0
