"""Parts of the bench on virtual devices, each alone: which kernel is meant, what it may take, how it gets it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpulab import languages, providers
from gpulab.errors import CheckError, KernelFault
from gpulab.grading import gpu_bench
from gpulab.grading.bench import WrongSignature
from gpulab.grading.case import Array, Asked, Buffer, Case, Prototype, Step, Value
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


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a bench asks of the devices, in order: each call's name and arguments. Copies of arrays by their bytes."""
    made: list[Any] = []

    def noted(name: str, result: Any = None) -> Any:
        return lambda *words: made.append((name, *words)) or result

    @contextlib.contextmanager
    def within(*words: Any) -> Iterator[list[str]]:
        made.append(words)
        yield ["launched"]
        made.append((f"end of {words[0]}",))

    addresses = iter((0x1000, 0x2000, 0x3000))
    gpu = SimpleNamespace(
        load=noted("load", "module"), function=lambda module, symbol: f"{module} {symbol}", unload=noted("unload"),
        malloc=lambda size: made.append(("malloc", size)) or next(addresses), free=noted("free"),
        synchronize=noted("wait"), launch=noted("launch"), launch_cooperative=noted("together"),
    )  # fmt: skip
    instruments = SimpleNamespace(
        apart=lambda module: within("apart", module), set_instruction_limit=noted("limit"), renew=noted("renew"),
        weakening=lambda seed: within("weak", seed), checking=lambda: within("checked"),
        last_writers=lambda start, size, count: made.append(("writers", start, size, count)),
    )  # fmt: skip
    monkeypatch.setattr(providers, "find", lambda name: SimpleNamespace(wave_size=64, index=3))
    monkeypatch.setattr(providers, "current", lambda: 1)
    monkeypatch.setattr(providers, "select", noted("select"))
    monkeypatch.setattr(providers, "selected", lambda: gpu)
    monkeypatch.setattr(providers, "instruments", lambda name: instruments)
    monkeypatch.setattr(providers, "recording", lambda profiled: within("recording", profiled))
    monkeypatch.setattr(providers, "copy_to_device", lambda gpu, to, data: made.append(("to", to, data.tobytes())))
    monkeypatch.setattr(providers, "copy_to_host", lambda gpu, data, at: made.append(("back", data.nbytes, at)))
    monkeypatch.setattr(gpu_bench.Writers, "of", lambda found: tuple(found))
    gpu.noted = noted
    made.append(gpu)
    return made


SIGNATURE = KernelSignature("_k", "k", (parameter("pointer", "int32", 0), parameter("value", "int32", 8)))
OUT, NONE = Array("out", np.arange(3, dtype="int32")), Array("none", np.zeros(0, "int32"))


@pytest.mark.parametrize("manner", ["plain", "checked", "weak", "together", "fault"])
def test_a_run_from_the_first_call_to_the_last(calls: list[Any], manner: str) -> None:
    """All that is taken is given back, the limit too, and the device that was selected before is so again."""
    gpu = calls.pop()
    code: Any = SimpleNamespace(elf=b"elf")
    kernel = gpu_bench.GpuKernel(code, "k", {"k": SIGNATURE}, "gfx942")
    assert calls == [("select", 3), ("load", b"elf"), ("select", 1)]
    calls.clear()
    stopped = SimpleNamespace(kind="trap")
    if manner == "fault":

        def launch(*words: object) -> None:
            error = KernelFault("stopped")
            error.fault = stopped  # type: ignore[assignment]
            raise error

        gpu.launch = launch
    arguments = (OUT, Value("n", np.int32(5)), NONE)
    step = Step("k", (2, 1, 1), (64, 1, 1), ("out", "n"), 16, manner == "together")
    case = Case({}, arguments=arguments, steps=(step,))
    buffers = [Buffer(OUT, 2), Buffer(NONE, 0, 1)]
    settings: dict[str, dict[str, Any]] = {
        "weak": {"weak": 7, "checked": True},
        "checked": {"checked": True, "wanted": {"out": [0, 1]}},
        "together": {"profiled": True},
    }
    run = kernel.run(case, buffers, 99, **settings.get(manner, {}))
    size, guard = 4 * (3 + 2 * 2), 4 * 2
    kernarg = (0x1000 + guard).to_bytes(8, "little") + (5).to_bytes(4, "little")
    launched: Any = ("launch", "module _k", (2, 1, 1), (64, 1, 1), 16, 0, kernarg)
    if manner == "together":
        launched = ("together", *launched[1:], [0, 8])
    within: list[Any] = [launched, ("wait",)] if manner != "fault" else []
    if manner in ("checked", "weak"):
        words = ("weak", 7) if manner == "weak" else ("checked",)
        within = [words, *within, (f"end of {manner}",)]
    assert calls == [
        ("select", 3), ("apart", "module"), ("limit", 99), ("renew", "module"), ("malloc", size),
        ("to", 0x1000, buffers[0].contents.tobytes()), ("recording", manner == "together"), *within,
        ("end of recording",), *([("writers", 0x1000 + guard, 4, 2)] if manner == "checked" else []),
        ("back", size, 0x1000), ("limit", None), ("free", 0x1000), ("end of apart",), ("select", 1),
    ]  # fmt: skip
    assert run.addresses == {"out": 0x1000 + guard, "none": 0}
    assert {name: len(data) for name, data in run.after.items()} == {"out": 7, "none": 0}
    assert run.fault is (stopped if manner == "fault" else None)
    assert run.launches == ("launched",)
    assert run.writers == ((("out", range(2), None),) if manner == "checked" else ())
    calls.clear()
    kernel.close()
    assert calls == [("select", 3), ("unload", "module"), ("select", 1)]


def test_a_run_that_cannot_be_made_leaves_nothing_behind(calls: list[Any]) -> None:
    gpu = calls.pop()
    kernel = gpu_bench.GpuKernel(SimpleNamespace(elf=b""), "k", {"k": SIGNATURE}, "gfx942")  # type: ignore[arg-type]

    def launch(*words: object) -> None:
        raise KernelFault("stopped")

    gpu.launch = launch
    case = Case({"n": 5}, (1, 1, 1), (64, 1, 1), (OUT, Value("n", np.int32(5))))
    calls.clear()
    with pytest.raises(CheckError) as error:
        kernel.run(case, [Buffer(OUT, 2)], 99)
    assert error.value.what == ("The virtual GPU stopped n = 5; grid of 1 block, 64 threads each without saying why.")
    assert calls[-3:] == [("limit", None), ("free", 0x1000), ("select", 1)]


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([], []), ([3], [(3, 4)]), ([5, 3, 4, 4], [(3, 6)]), ([-3, -2, 6, 7, 8], [(-2, -1), (6, 8)]),
        ([0, 2, 3, 5], [(0, 1), (2, 4), (5, 6)]), (range(3), [(0, 3)]), (range(-9, 99), [(-2, 8)]),
        (range(8, 12), []), (range(0, 6, 2), [(0, 1), (2, 3), (4, 5)]), (range(2, 2), []),
    ],
)  # fmt: skip
def test_numbers_become_ranges(numbers: Any, found: list[tuple[int, int]]) -> None:
    assert gpu_bench.consecutive(numbers, range(-2, 8)) == [range(*each) for each in found]
