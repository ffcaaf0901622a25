"""What is said when a compiler process fails, and signatures from hand-written metadata; no compiler runs here."""

from __future__ import annotations

from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError, InternalError
from gpulab.records import Diagnostic, SourceLine
from gpulab.toolchain import assemble, code_object, diagnostics
from gpulab.toolchain.code_object import KernelSignature, Parameter
from gpulab.toolchain.compiler import Outcome
from gpulab.toolchain.debug_info import FormalParameter, Function

CRASH = "clang: error: clang frontend command failed with exit code 139 (use -v to see invocation)"


def found(severity: str, message: str) -> Diagnostic:
    rendered = f"k.hip:1:1: {severity}: {message}"
    return Diagnostic(severity, message, SourceLine("k.hip", 1, 1), rendered=rendered)


def failure(outcome: Outcome, *messages: Diagnostic) -> tuple[type, str]:
    with pytest.raises((CompileError, InternalError)) as raised:
        assemble.fail("k.hip", outcome, messages)
    return type(raised.value), str(raised.value)


def test_why_a_compiler_failed() -> None:
    warning = found("warning", "format specifies type 'char *' but the argument has type 'int'")
    other, error = found("warning", "unused variable 'a'"), found("error", "expected ';'")
    # a crash by a format: its warning is the error
    for outcome in (Outcome(1, CRASH), Outcome(1, "")):
        kind, said = failure(outcome, warning, other)
        assert kind is CompileError
        assert "error: format specifies type" in said
        assert "unused variable" not in said
    # any other crash: 128 + the signal's number, and 139 is SIGSEGV
    assert failure(Outcome(1, CRASH), other, error) == failure(Outcome(-11, ""))
    kind, said = failure(Outcome(1, CRASH))
    assert kind is CompileError
    assert "the compiler died (SIGSEGV)" in said
    # what the device has no instructions for: the compiler ends with 70, which is no signal
    no_code = (
        "fatal error: error in backend: Cannot select: {}\nzig: error: clang frontend command failed with exit code 70"
    )
    kind, said = failure(Outcome(1, no_code.format("intrinsic %llvm.amdgcn.mfma.f32.32x32x4bf16")))
    assert kind is CompileError
    assert "no instruction for __builtin_amdgcn_mfma_f32_32x32x4bf16" in said
    assert "gpulab isa --grep mfma" in said
    kind, said = failure(Outcome(1, no_code.format("0x5: i64 = \x1bfrobnicate")))
    assert kind is CompileError
    assert "Cannot select: 0x5: i64 = " in said
    assert "\x1b" not in said
    assert "error: format specifies type" in failure(Outcome(1, no_code.format("0x5: i32")), warning)[1]
    # errors in the source
    kind, said = failure(Outcome(1, "log"), warning, error)
    assert kind is CompileError
    assert "expected ';'" in said
    # a log that says nothing known, and none
    kind, said = failure(Outcome(1, " ld.lld: what\x1b is this \n"), other)
    assert kind is CompileError
    assert said.startswith("k.hip did not compile:\nld.lld: what")
    assert "\x1b" not in said
    assert failure(Outcome(3, " \n"))[0] is InternalError
    assert failure(Outcome(1, "a" * 3000))[1] == "k.hip did not compile:\n" + "a" * 2000


def argument(kind: str, size: object = 8, offset: object = 0, **more: str) -> dict[str, Any]:
    return {".value_kind": kind, ".size": size, ".offset": offset, **{f".{name}": text for name, text in more.items()}}


def signature(
    monkeypatch: pytest.MonkeyPatch, listed: list[Any], functions: dict[str, Function] | None = None
) -> KernelSignature:
    kernels = [{".name": "k", ".args": listed}]
    monkeypatch.setattr(code_object, "kernel_metadata", lambda machine: kernels)
    return assemble.signatures(b"", functions or {})["k"]


def test_signatures_without_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """By LLVM's AMDGPUUsage: kinds of arguments, those that begin with hidden_ are the runtime's."""
    listed = [
        argument("global_buffer", name="x", type_name="float*"), argument("by_value", 4, 8),
        argument("global_buffer", 8, 16),
        argument("hidden_block_count_x", 4, 24), "damaged",
    ]  # fmt: skip
    assert signature(monkeypatch, listed) == KernelSignature("k", "k", (
        Parameter("x", "float*", "pointer", 8, None, 0), Parameter("arg1", "", "value", 4, None, 8),
        Parameter("arg2", "void *", "pointer", 8, None, 16),
    ))  # fmt: skip
    with pytest.raises(GpulabError, match="has its argument arg3 of 0 bytes at byte 0 of the argument block"):
        signature(monkeypatch, [*listed, argument("by_value", "4", None)])


def test_signatures_with_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [argument("global_buffer"), argument("by_value", 8, 8), argument("by_value", 4, 16)]
    formal = (
        FormalParameter("x", "float *", "float32", True), FormalParameter("p", "int &", "int32", True),
        FormalParameter("", "int", "int32", False),
    )  # fmt: skip
    assert signature(monkeypatch, listed, {"k": Function("a::k", formal)}) == KernelSignature("k", "a::k", (
        Parameter("x", "float *", "pointer", 8, "float32", 0), Parameter("p", "int &", "pointer", 8, "int32", 8),
        Parameter("arg2", "int", "value", 4, "int32", 16),
    ))  # fmt: skip
    (only,) = signature(monkeypatch, listed[:1], {"k": Function("a::k", formal)}).parameters
    assert only == Parameter("arg0", "void *", "pointer", 8, None, 0)  # the source says otherwise: it is not believed


def test_references_are_warned_of_where_the_kernel_stands() -> None:
    view = diagnostics.Source("// kk\n/* ä */ void k(int& n);", "k.hip", 10)
    reference = Parameter("n", "int &", "pointer", 8, "int32", 0)
    value = Parameter("m", "int", "value", 4, "int32", 8)
    kernels = {"k": KernelSignature("k", "a::k<3>", (value, reference)), "z": KernelSignature("z", "z", (reference,))}
    assert assemble._references(kernels, view) == (
        "k.hip:11:15: warning: the kernel a::k<3> takes n by reference (int &)\n"
        "warning: the kernel z takes n by reference (int &)\n"
    )
    assert assemble._place_of("", view) == ""
