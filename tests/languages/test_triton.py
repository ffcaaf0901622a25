"""Triton as a language: instances, errors at their lines, what is refused, and what its process cannot reach."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gpulab
from gpulab import languages
from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import triton as compiler
from gpulab.toolchain.triton import inside
from gpulab.toolchain.triton.text import Compiled, Parameter, assembly_of

pytest.importorskip("triton", reason="the extra triton is not installed")

HEAD = "import triton\nimport triton.language as tl\n\n\n"
TWO = (
    HEAD
    + """@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + at, mask=at < n, other=0), axis=0))


@triton.jit
def scale(x, a, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, a * tl.load(x + at))
"""
)
EXPRESSIONS = ("total(*i32:16, *i32, i32, BLOCK=512)", "scale(*fp32:16, fp32, BLOCK=256, num_warps=2)")


def refused(text: str, *expressions: str, arch: str = "gfx942") -> CompileError:
    with pytest.raises(CompileError) as caught:
        languages.compile(text, "triton", arch=arch, name_expressions=expressions)
    return caught.value


@pytest.mark.parametrize("arch", ["gfx942", pytest.param("gfx1100", marks=pytest.mark.full)])
def test_two_instances_of_one_text(arch: str) -> None:
    """Local labels and notes of both are in one assembly text; LDS belongs to the kernel, not to the launch."""
    with gpulab.using(f"virtual:{arch}") as device:
        module = gpulab.compile(TWO, "triton", name_expressions=EXPRESSIONS)
        assert [str(kernel.signature) for kernel in module.kernels] == [
            "total(*i32 x, *i32 out, i32 n)", "scale(*fp32 x, fp32 a)",
        ]  # fmt: skip
        x, out = gpulab.to_device(np.arange(512, dtype="i4")), gpulab.zeros(1, "i4")
        assert module["total"].resources.lds_bytes > 0
        module["total"][1, 4 * device.wave_size](x, out, 500)
        assert out.to_host()[0] == 500 * 499 // 2
        y = gpulab.to_device(np.arange(512, dtype="f4"))
        module["scale"][2, 2 * device.wave_size](y, 0.5)
        np.testing.assert_array_equal(y.to_host(), np.arange(512) / 2)


def test_what_is_divisible_by_16_is_loaded_together() -> None:
    texts = {}
    for hint in ("", ":16"):
        code = languages.compile(
            TWO, "triton", arch="gfx942", name_expressions=[f"scale(*fp32{hint}, fp32, BLOCK=1024)"]
        )
        texts[hint] = code.assembly
    assert "global_load_dwordx4" in texts[":16"]
    assert "global_load_dwordx4" not in texts[""]


@pytest.mark.parametrize(
    ("text", "expression", "line", "said"),
    [
        (HEAD + "x = 1 / 0\n", "k(i32)", 5, "ZeroDivisionError"),
        (HEAD + "raise SystemExit\n", "k(i32)", 5, "SystemExit"),
        (HEAD + "def k(x):\n    pass\n", "k(i32)", 0, "there is no kernel k"),
        (TWO, "total(*i32, *i32, i32)", 5, "the constant BLOCK of total has no value"),
        (TWO, "total(*i32, *i32, BLOCK=8)", 5, "the parameter n of total is given no type"),
        (TWO, "total(*i32, *i32, i32, i32, BLOCK=8)", 5, "total has no parameter for i32"),
        (TWO, "total(*i32, *i32, i32, BLOCK=7)", 7, "power of 2"),
        (TWO, "total(*i32, *i32, i32, BLOCK=8", 0, "is no instance"),
        (TWO.replace("tl.sum", "tl.summ"), EXPRESSIONS[0], 8, "summ"),
    ],
)
@pytest.mark.full
def test_errors_have_the_line(text: str, expression: str, line: int, said: str) -> None:
    error = refused(text, expression)
    assert said in str(error)
    where = error.diagnostics[0].where if error.diagnostics else None
    assert (where.line if where else 0) == line


def test_a_text_without_types_says_how_to_name_them() -> None:
    error = refused(TWO)
    assert "total, scale: no parameter has a type" in str(error)
    assert "name_expressions" in str(error)


@pytest.mark.parametrize(
    "attack",
    [
        "import socket\nsocket.socket()",
        pytest.param("import os\nos.fork()", marks=pytest.mark.full),
        pytest.param("import subprocess\nsubprocess.run(['/bin/true'])", marks=pytest.mark.full),
        "open('SECRET').read()",
        pytest.param("open('WRITTEN', 'w')", marks=pytest.mark.full),
        pytest.param("import os\nos.kill(os.getppid(), 9)", marks=pytest.mark.full),
        pytest.param("print('x' * (1 << 30))", marks=pytest.mark.full),
        pytest.param("import os\nos.execv('/bin/true', ['true'])", marks=pytest.mark.full),
    ],
)
def test_the_texts_python_reaches_nothing(attack: str, tmp_path: Path) -> None:
    """The process that compiles is within walls: what it tries ends it, or is an error at its line."""
    if gpulab.walls.available():
        pytest.skip("this system has no walls")
    (tmp_path / "secret").write_text("the secret word")
    written = tmp_path / "written"
    text = attack.replace("SECRET", str(tmp_path / "secret")).replace("WRITTEN", str(written))
    error = refused(HEAD + text + "\n" + TWO.removeprefix(HEAD), *EXPRESSIONS)
    assert "the secret word" not in str(error) + error.log
    assert not written.exists()


def test_an_answer_of_any_form_is_a_compile_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the process leaves is a stranger's."""
    good = {
        "name": "k", "symbol": "k", "parameters": [["x", "*fp32"]], "lds_bytes": 0, "scratch_bytes": 0,
        "assembly": ".text\n",
    }  # fmt: skip
    bad: list[object] = [
        [], None, {"kernels": 3}, {"kernels": [3], "known": []}, {"error": "x"},
        {"error": "x", "line": "y", "column": 0},
        {"kernels": [good], "known": []}, {"kernels": [{**good, "assembly": 7}], "known": []},
        {"kernels": [{**good, "name": "k\n.incbin"}], "known": []},
        {"kernels": [{**good, "lds_bytes": -1}], "known": []},
        {"kernels": [{**good, "assembly": '.incbin "/etc/passwd"\n\t.amdgpu_metadata\n\t.end_amdgpu_metadata'}],
         "known": []},
        {"kernels": [{**good, "assembly": "\t.amdgpu_metadata\n[[[[\n\t.end_amdgpu_metadata"}], "known": []},
        {"kernels": [{**good, "scratch_bytes": 64}], "known": []}, {"kernels": [], "known": ["k"]},
    ]  # fmt: skip
    for number, answer in enumerate(bad):
        raw = json.dumps(answer).encode()
        monkeypatch.setattr(compiler, "_run", lambda request, raw=raw: raw)
        refused(HEAD + f"# {number}\n", "k(*fp32)")
    monkeypatch.setattr(compiler, "_run", lambda request: b"\xff{")
    refused(HEAD + "# no JSON\n", "k(*fp32)")


def test_lines_of_what_is_inlined_are_those_of_the_call() -> None:
    assembly = """\t.text
k:
\t.file\t1 "/somewhere" "kernel.py"
\t.loc\t1 3 0 prologue_end              ; kernel.py:3:0
\ts_nop 1
\t.file\t2 "/lib" "standard.py"
\t.loc\t2 287 12                        ; standard.py:287:12 @[ standard.py:314:12 @[ kernel.py:4:9 ] ]
\ts_nop 2
\t.loc\t2 0 12                          ; standard.py:0:12
\ts_nop 3
\t.amdgpu_metadata
amdhsa.kernels:
  - .name: k
    .args: [{.value_kind: global_buffer}, {.value_kind: global_buffer}, {.value_kind: global_buffer}]
\t.end_amdgpu_metadata
"""
    text, lines = assembly_of([Compiled("k", "k", (Parameter("x", "*fp32"),), 8, assembly)], 11, 5)
    assert len(text.split("\n")) == len(lines)
    found = {line.strip(): at for line, at in zip(text.split("\n"), lines, strict=True) if "s_nop" in line}
    assert found == {"s_nop 1": 13, "s_nop 2": 14, "s_nop 3": 14}
    assert text.count("hidden_none") == 2
    assert ".group_segment_fixed_size: 8" in text


def test_where_triton_is_missing_the_error_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "missing", lambda: "Triton is not installed")
    with pytest.raises(GpulabError, match=r"gpulab\[triton\]") as caught:
        languages.compile(TWO, "triton", arch="gfx942", name_expressions=EXPRESSIONS[:1])
    assert not isinstance(caught.value, CompileError)


def test_comments_and_texts_are_no_code() -> None:
    language = languages.answers("triton")
    text = 'a = 1 # b\n"""c # d"""\ne("f", \'g\')\n# @triton.jit\ndef h(x): pass\n@triton.jit\n# k\ndef i(x): pass\n'
    assert language.code_only(text).split() == [
        "a", "=", "1", '""', 'e("",', '"")', "def", "h(x):", "pass", "@triton.jit", "def", "i(x):", "pass",
    ]  # fmt: skip
    assert language.defines(text, "i")
    assert not language.defines(text, "h")


@pytest.mark.parametrize(
    ("kind", "is_pointer", "dtype"),
    [("*fp32", True, "float32"), ("i32", False, "int32"), ("*ki64", True, "int64"), ("*bf16", True, None),
     ("bf16", False, None), ("u1", False, "bool"), ("fp64", False, "float64")],
)  # fmt: skip
def test_types_of_parameters(kind: str, is_pointer: bool, dtype: str | None) -> None:
    """As Triton spells them: "*" points to something, "k" to what is only read."""
    parameter = Parameter("x", kind)
    assert (parameter.is_pointer, parameter.dtype) == (is_pointer, dtype)


def test_where_an_error_is(tmp_path: Path) -> None:
    """Of syntax Python's own line and column; raised by the source, its line; raised elsewhere none."""

    def found(text: str) -> tuple[str, int, int]:
        path = tmp_path / inside.SOURCE
        path.write_text(text)
        try:
            exec(compile(text, str(path), "exec"), {"Refused": inside.Refused, "json": json})
        except Exception as error:
            return tuple(inside.failure(error, str(tmp_path)).values())
        pytest.fail("nothing was raised")

    said, line, column = found("a = 1\nb = (2\n")
    assert (said, line, column) == ("SyntaxError: '(' was never closed", 2, 5)
    assert found("def f():\n    return 1 / 0\n\nf()\n") == ("ZeroDivisionError: division by zero", 2, 0)
    assert found("x = 1\njson.loads('[')\n")[1:] == (2, 0)
    assert found("raise Refused('no kernel', 7)\n") == ("no kernel", 7, 0)
    assert inside.failure(SyntaxError("bad", ("another.py", 3, 4, "x")), str(tmp_path))["line"] == 0


def test_what_tritons_errors_say(tmp_path: Path) -> None:
    """The message of the innermost; without one, its cause, or at last Triton's own text, which begins with a place."""
    from triton.compiler.errors import CompilationError

    kernel = "def k(x):\n    return x.y\n"
    (tmp_path / inside.SOURCE).write_text(HEAD + kernel)
    node = ast.parse(kernel).body[0]
    assert isinstance(node, ast.FunctionDef)

    def found(message: str | None, cause: Exception | None) -> tuple[str, int, int]:
        error = CompilationError(kernel, node.body[0], message)
        error.__cause__ = cause
        return tuple(inside.failure(error, str(tmp_path)).values())

    assert found("no y here", ValueError("unknown")) == ("no y here", 6, 5)
    assert found("no y here", None) == ("no y here", 6, 5)
    assert found(None, ValueError("unknown")) == ("unknown", 6, 5)
    said, line, column = found(None, None)
    assert (said.partition("\n")[0], line, column) == ("at 2:4:", 6, 5)


def test_what_its_compiler_reads_is_asked_for_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    language = languages.find("triton")
    needs = language.needs
    assert needs["run"] == (sys.executable,)
    assert any(path.endswith("triton") or "site-packages" in path for path in needs["read"])
    monkeypatch.setattr(compiler, "missing", lambda: "it is not installed")
    assert language.needs == {}


@pytest.mark.full
def test_a_trace_cannot_answer_what_a_kernel_asks_of_the_host() -> None:
    text = HEAD + '@triton.jit\ndef tell(x):\n    tl.device_print("value", tl.load(x))\n    tl.store(x, 5)\n'
    with gpulab.using("virtual:gfx942") as device:
        kernel = gpulab.compile(text, "triton", name_expressions=["tell(*i32, num_warps=1)"])["tell"]
        x = gpulab.zeros(1, "int32")
        with pytest.raises(gpulab.CapabilityError, match="tell calls the host, which a trace cannot show"):
            gpulab.trace(kernel, 1, device.wave_size, x)
        assert x.to_host()[0] == 0
        kernel[1, device.wave_size](x)
        assert x.to_host()[0] == 5
