"""Parts of the bench on virtual devices, each alone: which kernel is meant, what it may take, how it gets it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab import languages
from gpulab.grading import gpu_bench
from gpulab.grading.bench import WrongSignature
from gpulab.grading.case import Array, Asked, Prototype, Value
from gpulab.toolchain.code_object import KernelSignature, Parameter


def parameter(kind: str, dtype: str | None, offset: int = 0, name: str = "p") -> Parameter:
    return Parameter(name, f"some {kind}", kind, 4, dtype, offset)


ONE = Asked("x", "k", {"k": Prototype("k", "int n", ())})
TWO = Asked("x", "k", {"k": Prototype("k", "int n", ()), "m": Prototype("m", "float* a", ())})
CODE: Any = SimpleNamespace(kernels={"_k": KernelSignature("_k", "k<int>"), "_m": KernelSignature("_m", "m")})


def test_a_kernel_has_its_name_or_its_symbol() -> None:
    assert gpu_bench.find_kernel(CODE, TWO, "m").symbol == "_m"
    assert gpu_bench.find_kernel(CODE, TWO, "_k").name == "k<int>"


@pytest.mark.parametrize(
    ("kernels", "asked", "said"),
    [
        (CODE.kernels, ONE, "a kernel named k; the source has k<int>, m. It should start: __global__ void k(int n)"),
        (CODE.kernels, TWO, "2 kernels, one of them named k; the source has k<int>, m. It should start: __global__ "
                            "void k(int n)"),
        ({}, ONE, "a kernel named k; the source has none at all. It should start: __global__ void k(int n)"),
    ],
)  # fmt: skip
def test_a_kernel_that_is_not_there(kernels: Any, asked: Asked, said: str) -> None:
    with pytest.raises(WrongSignature) as error:
        gpu_bench.find_kernel(SimpleNamespace(kernels=kernels), asked, "k")  # type: ignore[arg-type]
    assert str(error.value) == f"This exercise asks for {said}"


ARRAY, INT, FLOAT = (True, "float32"), (False, "int32"), (False, "float32")


@pytest.mark.parametrize(
    ("given", "passed", "wrong"),
    [
        (("pointer", "float32"), ARRAY, False), (("pointer", None), ARRAY, False), (("pointer", "int32"), ARRAY, True),
        (("value", "float32"), ARRAY, True), (("value", "int32"), INT, False), (("value", "int64"), INT, False),
        (("value", "uint8"), INT, False), (("value", "float32"), INT, True), (("pointer", "int32"), INT, True),
        (("value", None), INT, True), (("value", "float64"), FLOAT, False), (("value", "int32"), FLOAT, True),
        (("value", "bool"), INT, True),
    ],
)  # fmt: skip
def test_what_a_parameter_may_be(given: tuple[str, str | None], passed: tuple[bool, str], wrong: bool) -> None:
    """A pointer to the same type, or to nothing; a value of the same kind, of any size, signed or not."""
    signature = KernelSignature("_k", "k", (parameter("value", "int32"), parameter(*given, name="q")))
    prototype = Prototype("k", "int n, T q", ((INT, passed),))
    if not wrong:
        gpu_bench.check_parameters(signature, prototype)
        return
    with pytest.raises(WrongSignature) as error:
        gpu_bench.check_parameters(signature, prototype)
    assert str(error.value) == (
        f"Parameter 2 of k is `some {given[0]} q`, which is not what the exercise passes there. "
        "It should start: __global__ void k(int n, T q)"
    )


def test_each_way_of_launching_is_compared() -> None:
    signature = KernelSignature("_k", "k", (parameter("value", "int32"),))
    gpu_bench.check_parameters(signature, Prototype("k", "int n", ((INT,), (INT,))))
    with pytest.raises(WrongSignature, match=r"^Parameter 1 of k is `some value p`"):
        gpu_bench.check_parameters(signature, Prototype("k", "int n", ((INT,), (ARRAY,))))
    with pytest.raises(WrongSignature) as error:
        gpu_bench.check_parameters(signature, Prototype("k", "int n", ((INT, INT),)))
    assert str(error.value) == (
        "k takes 1 parameters, the exercise passes 2. It should start: __global__ void k(int n)"
    )


def test_arguments_stand_at_their_offsets() -> None:
    """A value in its parameter's type, an array's address in eight bytes, zeros between them."""
    parameters = (parameter("value", "int16", 0), parameter("pointer", None, 8), parameter("value", "float32", 16),
                  parameter("value", "uint8", 20), parameter("pointer", "int32", 24))  # fmt: skip
    arguments = (Value("n", np.int32(258)), Array("a", np.zeros(1)), Value("f", np.float64(1)), Value("b", np.int32(7)),
                 Array("c", np.zeros(1)))  # fmt: skip
    block = gpu_bench.pack(KernelSignature("_k", "k", parameters), arguments, {"a": 0x1122334455667788, "c": 9})
    assert block == bytes.fromhex("0201 000000000000 8877665544332211 0000803f 07 000000 0900000000000000")


def test_how_an_answer_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(languages, "compile", lambda *words, **more: asked.append((words, more)))
    gpu_bench.compiled("source", Asked("my-exercise", "k", {}, expressions=("k<int>",)), "gfx1100", 5)
    gpu_bench.compiled("other", ONE, "gfx942")
    assert asked == [
        (("source", "hip"), {"arch": "gfx1100", "name": "my-exercise.hip", "first_line": 5,
                             "name_expressions": ("k<int>",)}),
        (("other", "hip"), {"arch": "gfx942", "name": "x.hip", "first_line": 1, "name_expressions": ()}),
    ]  # fmt: skip
