"""Triton as a language: instances, errors at their lines, what is refused, and what its process cannot reach."""

from __future__ import annotations

import ast
import dataclasses
import importlib.machinery
import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab import languages
from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import compiler as processes
from gpulab.toolchain import triton as compiler
from gpulab.toolchain.request import Request, request
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


GOOD = {
    "name": "k", "symbol": "k", "parameters": [["x", "*fp32"]], "lds_bytes": 0, "scratch_bytes": 0,
    "assembly": ".text\n",
}  # fmt: skip
UNREADABLE = "mine: what its compilation left cannot be read: "


def asked(
    source: str = "one\n  two\nthree", *expressions: str, first_line: int = 11, use_cache: bool = False
) -> Request:
    return request(
        source, arch="gfx942", language="triton", name="mine", first_line=first_line, name_expressions=expressions,
        use_cache=use_cache,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([], UNREADABLE), (None, UNREADABLE), ({"kernels": 3}, UNREADABLE), ({"kernels": [3], "known": []}, UNREADABLE),
        ({"error": "x"}, UNREADABLE + "'line'."), ({"error": "x", "line": "y", "column": 0}, UNREADABLE),
        ({"kernels": [GOOD]}, UNREADABLE + "'known'."),
        ({"kernels": [GOOD], "known": []}, "the kernel k has no notes."),
        ({"kernels": [{**GOOD, "assembly": 7}], "known": []}, UNREADABLE + "a kernel's numbers are none."),
        ({"kernels": [{**GOOD, "lds_bytes": "7"}], "known": []}, UNREADABLE + "a kernel's numbers are none."),
        ({"kernels": [{**GOOD, "lds_bytes": -1}], "known": []}, UNREADABLE + "a kernel's numbers are none."),
        ({"kernels": [{**GOOD, "scratch_bytes": None}], "known": []}, UNREADABLE + "a kernel's numbers are none."),
        ({"kernels": [{**GOOD, "name": "k\n.incbin"}], "known": []}, UNREADABLE + "a kernel's name is none."),
        ({"kernels": [{**GOOD, "symbol": "k;"}], "known": []}, UNREADABLE + "a kernel's name is none."),
        ({"kernels": [{**GOOD, "symbol": ""}], "known": []}, UNREADABLE + "a kernel's name is none."),
        ({"kernels": [{**GOOD, "symbol": "k" * 1001}], "known": []}, UNREADABLE + "a kernel's name is none."),
        ({"kernels": [{**GOOD, "name": "k" * 1000}], "known": []}, f"the kernel {'k' * 1000} has no notes."),
        ({"kernels": [{**GOOD, "assembly": '.incbin "/etc/passwd"\n\t.amdgpu_metadata\n\t.end_amdgpu_metadata'}],
          "known": []}, "the notes of the kernel k cannot be read: "),
        ({"kernels": [{**GOOD, "assembly": "\t.amdgpu_metadata\n[[[[\n\t.end_amdgpu_metadata"}], "known": []},
         "the notes of the kernel k cannot be read: "),
        ({"kernels": [{**GOOD, "scratch_bytes": 6400}], "known": []},
         "the kernel k needs memory of its own beside its arguments (6,400 bytes for each program)."),
        ({"kernels": [], "known": ["k", "m"]}, "mine: there is no kernel in it whose types are known.\n"
         "Why: k, m: no parameter has a type."),
        ({"kernels": [], "known": []}, "mine: there is no kernel in it whose types are known.\n"
         "Why: a kernel is a function marked @triton.jit."),
        (b"\xff{", UNREADABLE),
        # Of an error the line and what is on it; a line that is not there is not shown.
        ({"error": " bad \n more \n", "line": 2, "column": 3}, "mine:12: bad \n more\n    two"),
        ({"error": "bad", "line": 3, "column": 0}, "mine:13: bad\n    three"),
        ({"error": "bad", "line": 1, "column": 0}, "mine:11: bad\n    one"),
        ({"error": "bad", "line": 4, "column": 0}, "mine did not compile: bad"),
        ({"error": "bad\n", "line": 0, "column": 0}, "mine did not compile: bad"),
    ],
)  # fmt: skip
def test_an_answer_of_any_form_is_a_compile_error(answer: object, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the process leaves is a stranger's."""
    raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    monkeypatch.setattr(compiler, "_run", lambda request: raw)
    with pytest.raises(CompileError) as caught:
        compiler.compile_request(asked(), languages.find("triton").guarantees)
    assert str(caught.value).startswith(said)


def test_an_error_has_a_place_and_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(error: str, line: int, column: int) -> tuple[object, ...]:
        raw = json.dumps({"error": error, "line": line, "column": column}).encode()
        monkeypatch.setattr(compiler, "_run", lambda request: raw)
        with pytest.raises(CompileError) as caught:
            compiler.compile_request(asked(), languages.find("triton").guarantees)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.where is not None
        assert diagnostic.rendered == str(caught.value)
        assert caught.value.log == error
        where = diagnostic.where
        return diagnostic.severity, diagnostic.message, where.file, where.line, where.column, where.text

    assert found(" bad \n more \n", 2, 3) == ("error", "bad ", "mine", 12, 3, "  two")
    assert found("bad", 1, 1) == ("error", "bad", "mine", 11, 1, "one")
    assert found("bad", 3, 0) == ("error", "bad", "mine", 13, 1, "three"), "columns count from 1"
    assert found("\n", 3, -5) == ("error", "it was refused", "mine", 13, 1, "three")


def with_notes(*loc: int) -> dict[str, object]:
    """A kernel whose text has an instruction that no assembler knows, on each of these lines of the source."""
    text = ["\t.text", "k:", '\t.file\t1 "/somewhere" "kernel.py"']
    for line in loc:
        text += [f"\t.loc\t1 {line} 0", f"\tnone_{line}"]
    text += ["\t.amdgpu_metadata", "amdhsa.kernels:", "  - .name: k"]
    text += ["    .args: [" + ", ".join(["{.value_kind: global_buffer}"] * 3) + "]", "\t.end_amdgpu_metadata", ""]
    return {**GOOD, "assembly": "\n".join(text)}


def test_lines_of_the_source_end_with_its_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = json.dumps({"kernels": [with_notes(1, 3, 4)], "known": ["k"]}).encode()
    monkeypatch.setattr(compiler, "_run", lambda request: raw)
    with pytest.raises(CompileError) as caught:
        compiler.compile_request(asked(), languages.find("triton").guarantees)
    assert [each.where.line if each.where else 0 for each in caught.value.diagnostics[:3]] == [11, 13, 0]


def test_of_many_kernels_the_first_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [{**GOOD, "name": f"k{number}"} for number in range(65)]
    raw = json.dumps({"kernels": listed, "known": []}).encode()
    monkeypatch.setattr(compiler, "_run", lambda request: raw)
    assert [each.name for each in compiler._kernels(asked())] == [f"k{number}" for number in range(64)]


def test_texts_are_kept_but_errors_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path))
    monkeypatch.setenv("GPULAB_CACHE_OWN", str(tmp_path / "own"))
    ran: list[str] = []

    def kernels(source: str, answer: dict[str, object], use_cache: bool) -> tuple[Compiled, ...]:
        def run(given: Request) -> bytes:
            ran.append(given.source)
            return json.dumps(answer).encode()

        monkeypatch.setattr(compiler, "_run", run)
        return compiler._kernels(asked(source, use_cache=use_cache))

    good = {"kernels": [GOOD], "known": []}
    for use_cache in (False, True, True, False, True):
        assert kernels("a", good, use_cache) == (Compiled("k", "k", (Parameter("x", "*fp32"),), 0, ".text\n"),)
    assert ran == ["a", "a", "a"], "from the cache where that is asked for, and once it is there"
    assert (tmp_path / "own" / "triton-text").is_dir(), "with what is made of learners' texts"
    for answer in ({"kernels": [], "known": []}, {"error": "x", "line": 0, "column": 0}):
        for _ in range(2):
            with pytest.raises(CompileError):
                kernels("b", answer, True)
    assert ran == ["a", "a", "a", "b", "b", "b", "b"]


@dataclasses.dataclass
class Ran:
    """How the process was started, and what lay in its folder."""

    arguments: list[str]
    options: dict[str, Any]
    files: dict[str, str]


def started(
    monkeypatch: pytest.MonkeyPatch, given: Request, log: str = "", answer: str | None = "{}"
) -> tuple[Ran, bytes]:
    found: list[Ran] = []

    def run(arguments: list[str], *, folder: Path, **options: Any) -> processes.Outcome:
        found.append(Ran(arguments, options, {file.name: file.read_text() for file in folder.iterdir()}))
        assert arguments[-1] == str(folder)
        if answer is not None:
            (folder / "answer.json").write_text(answer)
        return processes.Outcome(3, log)

    monkeypatch.setattr(processes, "run", run)
    raw = compiler._run(given)
    return found[0], raw


def test_the_process_is_started_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python finds nothing of the user's, and writes nothing but its answer and Triton's cache."""
    given = asked("a\nb\n", "k(*fp32, BLOCK=8)", "m()")
    for why in ("", "there are none here"):
        monkeypatch.setattr(compiler.walls, "available", lambda why=why: why)
        ran, raw = started(monkeypatch, given, "", '{"x": 1}')
        assert raw == b'{"x": 1}'
        assert json.loads(ran.files["request.json"]) == {
            "arch": "gfx942", "wave_size": 64, "instances": [["k", ["*fp32", " BLOCK=8"]], ["m", []]],
            "walls": "" if why else gpulab.walls.__file__,
        }  # fmt: skip
        assert ran.files["kernel.py"] == "a\nb\n"
        assert ran.arguments[:2] == ["-P", inside.__file__]
        limits = ran.options["limits"]
        assert (limits.seconds, limits.memory_bytes, limits.file_bytes) == (180, 12 * 1024**3, 256 * 1024**2)
        folder = ran.arguments[-1]
        assert ran.options["extra_environment"] == {
            "HOME": folder, "TRITON_HOME": folder, "TRITON_CACHE_DIR": f"{folder}/cache", "PYTHONPATH": "",
            "TRITON_BACKENDS_IN_TREE": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore",
            "TRITON_DEFAULT_FP_FUSION": "1",
        }  # fmt: skip
        assert (ran.options["what"], ran.options["tool"]) == ("Triton's compiler", Path(sys.executable))
        assert ran.options["read"] == compiler.readable()


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", "mine: Triton's compiler ended with code 3."),
        ("a\nb\n\n", "mine: Triton's compiler ended with code 3: b"),
        ("x" * 301, "mine: Triton's compiler ended with code 3: " + "x" * 300),
    ],
)
def test_a_process_without_an_answer_says_its_last_line(log: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CompileError) as caught:
        started(monkeypatch, asked(), log, None)
    assert (str(caught.value), caught.value.log) == (said, log)


@pytest.mark.parametrize(
    ("expression", "found"),
    [("k()", ("k", [])), (" _k1 (*fp32 , i32,, ) ", ("_k1", ["*fp32 ", " i32"])), ("k(a=1)", ("k", ["a=1"])),
     ("1k()", None), ("k(f(1))", None), ("k", None), ("k() + 1", None)],
)  # fmt: skip
def test_names_and_arguments_of_instances(expression: str, found: object) -> None:
    if found is not None:
        assert compiler._instance(asked(), expression) == found
        return
    with pytest.raises(CompileError, match=r"^mine: .* is no instance of a kernel\.") as caught:
        compiler._instance(asked(), expression)
    assert repr(expression) in str(caught.value)


def test_where_triton_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiler.missing() == ""
    folder = importlib.machinery.ModuleSpec("triton", None, is_package=True)  # a folder of that name is no package
    for spec in (None, folder):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, spec=spec: spec)
        monkeypatch.setattr(sys, "platform", "linux")
        assert compiler.missing() == "Triton is not installed"
        monkeypatch.setattr(sys, "platform", "darwin")
        assert compiler.missing() == "Triton is not installed (it exists for Linux alone)"
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(GpulabError) as caught:
        compiler.compile_request(asked(), languages.find("triton").guarantees)
    assert str(caught.value).startswith("mine is not compiled: Triton is not installed here.\n")
    assert compiler.COMMAND.endswith(" -m pip install 'gpulab[triton]'")
    assert compiler.COMMAND in str(caught.value)


def test_what_the_process_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The system's libraries, Python and its packages, Triton where that stands elsewhere, and its walls. Not all of an
    environment's folder."""
    for name in ("bin", "lib", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "pyvenv.cfg").touch()
    here = tmp_path / "elsewhere" / "triton"
    here.mkdir(parents=True)
    spec = importlib.machinery.ModuleSpec("triton", None, origin=str(here / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(compiler.sysconfig, "get_path", lambda name: str(tmp_path / "nowhere" / name))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    found = compiler.readable.__wrapped__()
    own = [str(tmp_path / name) for name in ("bin", "elsewhere/triton", "lib", "pyvenv.cfg")]
    assert found == (*compiler._SYSTEM, *own, gpulab.walls.__file__)
    for nothing in (None, importlib.machinery.ModuleSpec("triton", None, is_package=True)):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, nothing=nothing: nothing)
        assert set(own) - set(compiler.readable.__wrapped__()) == {str(here)}


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
    ("text", "defined"),
    [
        ("@triton.jit\ndef k(x): pass\n", True),
        ("@jit\ndef k (x): pass\n", True),
        ("if 1:\n\t@tl.jit\n\tdef\tk(x): pass\n", True),
        ("@triton.autotune([])\n@triton.jit(debug=True)\n\n@other\n  \ndef k(x): pass\n", True),
        ("@triton.jit\ndef kk(x): pass\n", False),
        ("@triton.jitter\ndef k(x): pass\n", False),
        ("@triton.jit\nx = 1\ndef k(x): pass\n", False),
        ("'@triton.jit'\ndef k(x): pass\n", False),
        ("'''\n@triton.jit\ndef k(x): pass\n'''\n", False),
        ("@triton.j\\\nit\ndef k(x): pass\n", True),
    ],
)
def test_which_kernels_a_text_defines(text: str, defined: bool) -> None:
    assert languages.answers("triton").defines(text, "k") is defined


def test_the_text_of_a_kernel_is_that_of_its_file() -> None:
    """Through up to seven decorators; of what has no code there is none."""
    text_of = languages.answers("triton").text_of

    def wrapped(times: int) -> object:
        found: object = asked
        for _ in range(times):
            found = types.SimpleNamespace(fn=found)
        return found

    own = Path(__file__).read_text(encoding="utf-8")
    assert [text_of(wrapped(times)) == own for times in (0, 1, 7)] == [True, True, True]
    assert [text_of(each) for each in (wrapped(8), 5, None)] == ["", "", ""]


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
