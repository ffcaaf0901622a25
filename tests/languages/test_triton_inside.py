"""What runs in the process of Triton's compiler (`inside.py`), called here directly: instances, constants, answers."""

from __future__ import annotations

import itertools
import json
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

triton = pytest.importorskip("triton", reason="the extra triton is not installed")

import triton.language as tl  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

from gpulab.toolchain.triton import inside  # noqa: E402

SOURCE = """import triton
import triton.language as tl
from triton.language.standard import cdiv

late = None
other = cdiv


@triton.jit
def early(x, n: "i32", BLOCK: tl.constexpr, KIND: tl.constexpr = 3):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def late(x: "*fp32", a: "fp32", num_warps: tl.constexpr = 2):
    tl.store(x, a)


@triton.jit
def bare(x, BLOCK: tl.constexpr):
    pass


@triton.jit
def half_typed(x: "*fp32", n):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the process is given one."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    (tmp_path / inside.SOURCE).write_text(SOURCE, encoding="utf-8")
    return tmp_path


def known(folder: Path) -> dict[str, Any]:
    return inside.kernels_of(inside.run("kernel", str(folder / inside.SOURCE)), JITFunction)


def test_kernels_are_those_of_the_source_in_its_order(folder: Path) -> None:
    """`late` is a name before `early` is; `cdiv` is a kernel of Triton's own."""
    found = known(folder)
    assert list(found) == ["early", "late", "bare", "half_typed"]
    assert all(kernel.fn.__name__ == name for name, kernel in found.items())
    assert inside.run("a_name", str(folder / inside.SOURCE)).__name__ == "a_name"


DIVISIBLE = [["tt.divisibility", 16]]


@pytest.mark.parametrize(
    ("kernel", "given", "signature", "constants", "promises", "options"),
    [
        (
            "early", ["*fp32:16", " i32 ", " BLOCK = 256"],
            {"x": "*fp32", "n": "i32", "BLOCK": "constexpr", "KIND": "constexpr"}, {(2,): 256, (3,): 3},
            {(0,): DIVISIBLE}, {},
        ),
        (
            "early",
            ["KIND=tl.float16", "num_warps=2", "*fp32", "num_stages=1", "i32:16", "waves_per_eu=3", "BLOCK=8",
             "matrix_instr_nonkdim=16"],
            {"x": "*fp32", "n": "i32", "BLOCK": "constexpr", "KIND": "constexpr"}, {(2,): 8, (3,): tl.float16},
            {(1,): DIVISIBLE},
            {"num_warps": 2, "num_stages": 1, "waves_per_eu": 3, "matrix_instr_nonkdim": 16},
        ),
        # Annotations: every pointer is a multiple of 16. A constant may have the name of an option, and is both.
        (
            "late", None, {"x": "*fp32", "a": "fp32", "num_warps": "constexpr"}, {(2,): 2}, {(0,): DIVISIBLE},
            {"num_warps": 2},
        ),
        (
            "late", ["*fp32", "fp32", "num_warps=8", "num_stages=1"],
            {"x": "*fp32", "a": "fp32", "num_warps": "constexpr"}, {(2,): 8}, {}, {"num_warps": 8, "num_stages": 1},
        ),
    ],
)  # fmt: skip
def test_an_instance_as_tritons_compiler_takes_it(
    folder: Path, kernel: str, given: list[str] | None, signature: object, constants: object, promises: object,
    options: object,
) -> None:  # fmt: skip
    found = inside.instance(known(folder)[kernel], given, tl)
    assert found == (signature, constants, promises, options)


@pytest.mark.parametrize(
    ("kernel", "given", "said", "line"),
    [
        ("bare", ["*fp32", "a=b=c"], "'a=b=c' is no type and no constant", 0),
        ("bare", ["*fp32", " BLOCK=3 = "], "'BLOCK=3 =' is no type and no constant", 0),
        ("bare", ["*fp32"], "the constant BLOCK of bare has no value", 20),
        ("bare", None, "the parameter x of bare has no type", 20),
        ("half_typed", None, "the parameter n of half_typed has no type", 25),
        ("bare", ["BLOCK=8"], "the parameter x of bare is given no type", 20),
        ("bare", ["*fp32:8", "BLOCK=8"], "'8' is no promise: 16 is the one there is", 0),
        ("bare", ["*fp32", "i32", "BLOCK=8"], "bare has no parameter for i32", 20),
        ("bare", ["*fp32", "i32", "BLOCK=8", "SIZE=2"], "bare has no parameter for i32, SIZE", 20),
        ("bare", ["*fp32", "BLOCK=8", "SIZE=2"], "bare has no parameter for SIZE", 20),
        ("late", ["*fp32", "fp32", "num_warp=2"], "late has no parameter for num_warp", 15),
        ("bare", ["*fp32", "BLOCK=eight"], "'eight' is no constant", 0),
    ],
)
def test_what_is_no_instance(folder: Path, kernel: str, given: list[str] | None, said: str, line: int) -> None:
    with pytest.raises(inside.Refused) as caught:
        inside.instance(known(folder)[kernel], given, tl)
    assert (str(caught.value), caught.value.line) == (said, line)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("-3", -3), ("1.5", 1.5), ("True", True), ("None", None), ("'a'", "a"), ("(1, 2)", (1, 2)),
        ("float16", tl.float16), ("tl.float16", tl.float16), ("tl.bfloat16", tl.bfloat16),
    ],
)  # fmt: skip
def test_constants(text: str, value: object) -> None:
    found = inside.constant(text, tl)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["float17", "tl.float17", "tl.load", "load", "1 +", "__import__('os')", "a.float16"])
def test_what_is_no_constant(text: str) -> None:
    with pytest.raises(inside.Refused, match=r"is no constant$") as caught:
        inside.constant(text, tl)
    assert str(caught.value) == f"{text!r} is no constant"


def asked(instances: Sequence[tuple[str, list[str]]], walls: str = "") -> dict[str, Any]:
    return {"arch": "gfx942", "wave_size": 64, "instances": instances, "walls": walls}


def test_the_answer_has_the_kernels_that_are_named(folder: Path) -> None:
    answer = inside.compiled(asked([("bare", ["*fp32", "BLOCK=8"]), ("late", ["*fp32:16", "fp32"])]), str(folder))
    texts = [kernel.pop("assembly") for kernel in answer["kernels"]]
    assert answer == {
        "kernels": [
            {"name": "bare", "symbol": "bare", "parameters": [["x", "*fp32"]], "lds_bytes": 0, "scratch_bytes": 0},
            {"name": "late", "symbol": "late", "parameters": [["x", "*fp32"], ["a", "fp32"]], "lds_bytes": 0,
             "scratch_bytes": 0},
        ],
        "known": ["early", "late", "bare", "half_typed"],
    }  # fmt: skip
    assert ".amdhsa_kernel bare" in texts[0]
    assert ".max_flat_workgroup_size: 256" in texts[0], "Triton's four warps, of 64 lanes each"
    assert ".max_flat_workgroup_size: 128" in texts[1], "the kernel's own two"
    assert [text.partition("\n")[0].endswith('-gfx942"') for text in texts] == [True, True]


def test_without_a_name_those_whose_parameters_have_types_are_compiled(folder: Path) -> None:
    """Of a kernel that has types for some of its parameters the others are asked for."""
    text = SOURCE.partition("@triton.jit\ndef half_typed")[0].replace('n: "i32"', "n")
    (folder / inside.SOURCE).write_text(text, encoding="utf-8")
    answer = inside.compiled(asked([]), str(folder))
    assert [kernel["name"] for kernel in answer["kernels"]] == ["late"]
    assert answer["known"] == ["early", "late", "bare"]
    (folder / inside.SOURCE).write_text(SOURCE, encoding="utf-8")
    with pytest.raises(inside.Refused, match="the parameter x of early has no type"):
        inside.compiled(asked([]), str(folder))


def test_a_kernel_that_is_not_there(folder: Path) -> None:
    with pytest.raises(inside.Refused) as caught:
        inside.compiled(asked([("bare", ["*fp32", "BLOCK=8"]), ("cdiv", [])]), str(folder))
    assert str(caught.value) == "there is no kernel cdiv: a kernel is a function marked @triton.jit"


def test_walls_stand_before_the_source_runs(folder: Path) -> None:
    walls = folder / "own_walls.py"
    walls.write_text(
        f"def program_filter():\n    return 'of a program'\n\n\ndef install(rules):\n"
        f"    open({str(folder / 'walls')!r}, 'w').write(rules)\n"
    )
    (folder / inside.SOURCE).write_text("raise RuntimeError(open(__file__.replace('kernel.py', 'walls')).read())\n")
    with pytest.raises(RuntimeError, match=r"^of a program$"):
        inside.compiled(asked([], str(walls)), str(folder))


def test_the_process_leaves_its_answer_in_the_folder(folder: Path) -> None:
    (folder / "request.json").write_text(json.dumps(asked([("bare", ["*i8", "BLOCK=1"])])), encoding="utf-8")
    inside.main(str(folder))
    answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    assert [kernel["parameters"] for kernel in answer["kernels"]] == [[["x", "*i8"]]]
    (folder / inside.SOURCE).write_text("x = 1\nraise SystemExit('no more')\n", encoding="utf-8")
    inside.main(str(folder))
    answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    assert answer == {"error": "SystemExit: no more", "line": 2, "column": 0}


def test_as_a_program_it_is_given_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported, it does nothing."""
    (folder / "request.json").write_text(json.dumps(asked([("none", [])])), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["inside.py", str(folder), "another"])
    runpy.run_path(inside.__file__, run_name="inside")
    assert not (folder / "answer.json").exists()
    runpy.run_path(inside.__file__, run_name="__main__")
    said = "there is no kernel none: a kernel is a function marked @triton.jit"
    assert json.loads((folder / "answer.json").read_text()) == {"error": said, "line": 0, "column": 0}


class InKernel(Exception):
    """An error as Triton's: with the text of a kernel, and a place in it."""

    def __init__(self, src: object, node: object, message: str | None = None) -> None:
        super().__init__("its own text")
        self.src, self.node, self.error_message = src, node, message


class Node:
    lineno, col_offset = 2, 4


def test_the_innermost_place_in_the_source_counts(folder: Path) -> None:
    """A kernel calls another one of the source, and that one a part of Triton's library."""
    first, second = (SOURCE[SOURCE.index(f"def {name}") :].partition("\n\n\n")[0] for name in ("early", "late"))

    def found(*chain: InKernel) -> tuple[str, int, int]:
        for outer, cause in itertools.pairwise(chain):
            outer.__cause__ = cause
        return tuple(inside.failure(chain[0], str(folder)).values())

    outer, inner = InKernel(first, Node, "outer"), InKernel(second, Node, "inner")
    assert found(outer, inner, InKernel("def of_the_library():\n    pass\n", Node, "library")) == ("inner", 17, 5)
    assert found(InKernel(first, Node), InKernel("", None)) == ("its own text", 11, 5)
    # Without a text, a node, or a node's line no place is known.
    for src, node in ((None, Node), (first, None), (first, object())):
        assert found(InKernel(src, node)) == ("InKernel: its own text", 0, 0)


def test_a_long_message_is_cut(folder: Path) -> None:
    said = inside.failure(ValueError("x" * 30000), str(folder))["error"]
    assert said == "ValueError: " + "x" * (20000 - len("ValueError: "))


def test_an_error_of_syntax_without_a_place(folder: Path) -> None:
    error = SyntaxError("bad", (str(folder / inside.SOURCE), None, None, None))
    assert inside.failure(error, str(folder)) == {"error": "SyntaxError: bad", "line": 0, "column": 0}
