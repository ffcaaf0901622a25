"""Programs of several units: what one code object of their bitcode holds, and what does not link."""

from __future__ import annotations

import re

import pytest

from gpulab.errors import CompileError
from gpulab.toolchain import build, linking, request

FUNCTION = "__device__ int twice(int x) { return 2 * x + 5; }\n"
KERNEL = "__device__ int twice(int);\n__global__ void k(int* x) { x[0] = twice(x[1]); }\n"


def unit(source: str, arch: str = "gfx942", *expressions: str) -> tuple[bytes, dict[str, str]]:
    return build.unit(request.request(source, arch=arch, language="hip", name="a.hip", name_expressions=expressions))


def test_units_become_one_code_object() -> None:
    function, kernel = unit(FUNCTION)[0], unit(KERNEL)[0]
    assert function.startswith(linking.MAGIC)
    for units in ((kernel, function), (function, kernel)):
        code = linking.link(units, "gfx942")
        assert (code.name, code.arch, code.program) == ("linked program", "gfx942", False)
        assert [(one.name, one.symbol) for one in code.kernels.values()] == [("k", "_Z1kPi")]
        assert "s_swappc" not in code.assembly  # the call is inlined, as in one source
        assert '"/gpulab"' not in code.assembly
        assert any(line.lstrip().startswith(".file") and '"a.hip"' in line for line in code.assembly.split("\n"))
    assert linking.link((kernel, function), "gfx942", "mine", program=True).name == "mine"


def test_symbols_of_name_expressions() -> None:
    source = "template <typename T> __global__ void scale(T* x) { x[0] *= 2; }\n__constant__ int table[2];\n"
    bitcode, names = unit(source, "gfx1100", "scale<float>", "table")
    assert names == {"scale<float>": "_Z5scaleIfEvPT_", "table": "table"}
    code = linking.link([bitcode], "gfx1100")
    assert [kernel.symbol for kernel in code.kernels.values()] == ["_Z5scaleIfEvPT_"]
    assert "name_expression" not in code.assembly


def test_a_unit_that_is_optimised_alone_stays_bitcode() -> None:
    kernel = "__global__ void k(float* x) { x[0] = sinf(x[0]); }\n"
    made = linking.bitcode(unit(kernel)[0], "gfx942", "a.hip")
    assert made.startswith(linking.MAGIC)
    assert linking.link([made], "gfx942").kernels
    with pytest.raises(CompileError, match=r"^a\.hip did not compile:\n"):
        linking.bitcode(b"nothing", "gfx942", "a.hip")


def test_what_does_not_link() -> None:
    kernel = unit(KERNEL)[0]
    with pytest.raises(CompileError, match="what is to be linked is no LLVM bitcode") as caught:
        linking.link((kernel, b"\x7fELF"), "gfx942")
    assert "compile each source with -fgpu-rdc" in str(caught.value)
    with pytest.raises(CompileError, match=r"a unit was compiled for gfx942, and the program is for gfx90a\."):
        linking.link((kernel,), "gfx90a")
    with pytest.raises(CompileError, match=r"undefined (protected |hidden )?symbol: twice"):
        linking.link((kernel,), "gfx942")
    with pytest.raises(CompileError, match=r"the units do not link:\n.*twice") as caught:
        linking.link((kernel, *(unit(FUNCTION + more)[0] for more in ("", "// other"))), "gfx942")
    assert caught.value.log


def test_a_unit_that_does_not_compile_has_the_sources_lines() -> None:
    with pytest.raises(CompileError) as caught:
        unit("\n__global__ void k(int* x) { x[0] = nothing; }\n")
    where = caught.value.diagnostics[0].where
    assert where is not None
    assert (where.file, where.line) == ("a.hip", 2)


def test_a_static_variable_that_the_host_names_is_one() -> None:
    """Clang names it for this unit at the host's use, and has another one in functions above it."""
    source = "static __device__ int c = 7;\n__global__ void k(int* x) { x[0] = c; }\nint* host() { return &c; }\n"
    code = linking.link([unit(source)[0]], "gfx942")
    assert [kernel.symbol for kernel in code.kernels.values()] == ["_Z1kPi"]
    names = set(re.findall(r"^(_ZL1c[\w.]*):", code.assembly, re.MULTILINE))
    assert len(names) == 1
    assert ".static." in names.pop()
