"""How a source is compiled: which options each pass has, what an object is made of, and what is kept; the compilers'
passes are written here."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.programs import units
from gpulab.programs.arguments import Command, Input
from gpulab.records import Diagnostic
from gpulab.toolchain import compiler, hosted, sources

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

COMMON = ("-O2", "-std=c++17", "-std=gnu11", "-Wall")


@pytest.mark.parametrize(
    ("language", "both"),
    [
        ("hip", ("-O2", "-std=c++17", "-Wall")), ("c++", ("-O2", "-std=c++17", "-Wall")),
        ("c", ("-O2", "-std=gnu11", "-Wall")), ("assembler", COMMON),
    ],
)  # fmt: skip
@pytest.mark.parametrize("openmp", [True, False])
def test_options_of_a_pass(language: str, both: tuple[str, ...], openmp: bool) -> None:
    command = Command(common=COMMON, host=("-H",), device=("-D",), openmp=openmp)
    one = units.Unit("", "a", language, command, hosted.setting(), ("-include", "x.h"))
    quiet = ("-Wno-source-uses-openmp",) if openmp else ()
    assert one.options("host") == (*both, "-H", "-include", "x.h")
    assert one.options("device") == (*both, *quiet, "-D", "-include", "x.h")


def test_a_source_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.hip").write_text("int a;\r\n")
    (tmp_path / "before.h").write_text("")
    command = Command(include=("/i",), quoted=("/q",), before=("before.h",))
    one = units.unit(Input("inner/a.hip", "hip"), command)
    assert (one.text, one.name, one.language, one.command) == (
        sources.normal("int a;\r\n"), "inner/a.hip", "hip", command
    )  # fmt: skip
    assert one.before == ("-include", "before.h")
    assert (one.setting.user, one.setting.quoted) == (("/i",), (str(tmp_path / "inner"), "/q"))
    assert len(one.setting.unit) == 16
    assert int(one.setting.unit, 16) >= 0
    assert units.unit(Input("inner/a.hip", "hip"), replace(command, side="host")).setting.unit == ""
    marks = {
        units.unit(Input("inner/a.hip", "hip"), replace(command, **changes)).setting.unit
        for changes in ({}, {"common": ("-O1",)}, {"host": ("-O1",)}, {"device": ("-O1",)}, {"output": "x"})
    }
    assert len(marks) == 4
    with pytest.raises(GpulabError, match=r"inner/b.hip cannot be read: No such file or directory\."):
        units.unit(Input("inner/b.hip", "hip"), command)


def test_a_source_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"int a; // \xff\n")))
    one = units.unit(Input("-", "c"), Command())
    assert (one.text, one.name) == ("int a; // \udcff\n", "<stdin>")
    assert one.setting.quoted == (os.getcwd(),)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the passes give, which a test changes; and which of them ran."""
    found: dict[str, Any] = {"host": b"code\0__hip_fatbin_1f\0", "log": "the host said", "ran": []}

    def device(one: units.Unit, arch: str) -> Any:
        found["ran"].append(arch)
        if "device" in found:
            return found["device"](arch)
        return made(arch)

    def made(arch: str) -> Any:
        return SimpleNamespace(arch=arch, elf=f"elf of {arch}".encode(), messages=f"{arch} said")

    def host(one: units.Unit, scratch: Path, action: Any) -> Any:
        found["ran"].append(one.language)
        return found["host"], compiler.Outcome(0, found["log"])

    monkeypatch.setattr(units, "device", device)
    monkeypatch.setattr(units, "host", host)
    monkeypatch.setattr(units.code_object, "CodeObject", SimpleNamespace)
    monkeypatch.setattr(units.bundles, "bundle", lambda codes: dict(codes))
    monkeypatch.setattr(
        hosted, "assemble_fat_binary", lambda names, fat, setting, weak: ("fat", names, fat, weak)
    )  # fmt: skip
    monkeypatch.setattr(hosted, "assemble_files", lambda files, setting: ("units", files))
    monkeypatch.setattr(hosted, "join", lambda files, setting, limits: files)
    return found


ARCHS = ("gfx942", "gfx1100")


def source(text: str, language: str = "hip", **changes: Any) -> units.Unit:
    setting = replace(hosted.setting(), own=SimpleNamespace(complete=True, files=()))
    return units.Unit(text, "a.hip", language, Command(archs=ARCHS, **changes), setting)


KERNEL = "__global__ void f() {}"


def fat(weak: bool = False) -> Any:
    return ("fat", ["__hip_fatbin_1f"], {arch: f"elf of {arch}".encode() for arch in ARCHS}, weak)


def test_an_object_with_device_code(passes: dict[str, Any]) -> None:
    made = units._compiled(source(KERNEL))
    assert made.object == {"host.o": passes["host"], "fat.o": fat()}
    assert made.messages == ("the host said", "gfx942 said", "gfx1100 said")
    assert sorted(passes["ran"]) == ["gfx1100", "gfx942", "hip"]


def test_an_object_without_device_code(passes: dict[str, Any]) -> None:
    passes["host"] = b"code"
    for one in (source("int a;"), source("int a;", "c"), source(KERNEL, side="host"), source("int a;", "c++")):
        passes["ran"].clear()
        assert units._compiled(one) == units.Compiled(b"code", ("the host said",))
        assert passes["ran"] == [one.language]
    passes["ran"].clear()
    assert units._compiled(source(KERNEL)).object == b"code"
    assert sorted(passes["ran"]) == ["gfx1100", "gfx942", "hip"]


def test_device_code_that_nobody_expected(passes: dict[str, Any]) -> None:
    """The host's pass says that there is some: the devices' passes follow."""
    assert units._compiled(source("MACRO")).object == {"host.o": passes["host"], "fat.o": fat()}
    assert passes["ran"][0] == "hip"
    assert sorted(passes["ran"][1:]) == ["gfx1100", "gfx942", "hip"]
    passes["ran"].clear()
    calls = source("#include <hiprand/hiprand.h>", "c++")
    assert units._compiled(calls).object == {"host.o": passes["host"], "fat.o": fat()}
    assert passes["ran"][0] == "c++"
    assert sorted(passes["ran"][1:]) == ["gfx1100", "gfx942", "hip"]
    for language in ("c++", "c"):
        with pytest.raises(CompileError, match="has a kernel or a device variable, and is compiled as C"):
            units._compiled(source(KERNEL, language))
    alone = units._compiled(source(KERNEL, side="host")).object
    assert alone == {"host.o": passes["host"], "fat.o": ("fat", ["__hip_fatbin_1f"], {}, True)}


def test_an_object_whose_device_code_is_linked_later(passes: dict[str, Any]) -> None:
    passes["device"] = lambda arch: arch.encode()
    start = f"{units.bundles.UNIT_SECTION}{units.bundles.unit_name('')}"
    made = units._compiled(source(KERNEL, rdc=True))
    assert made.object == {
        "host.o": passes["host"], "units.o": ("units", [(start + arch, arch.encode()) for arch in ARCHS]),
    }  # fmt: skip
    assert made.messages == ("the host said",)


def test_what_a_pass_refused(passes: dict[str, Any]) -> None:
    error = CompileError("no", diagnostics=(Diagnostic("error", "bad", None, ""),), log="the device said")
    passes["device"] = lambda arch: error
    with pytest.raises(CompileError, match="did not compile: 1 error"):
        units._compiled(source(KERNEL))
    outcome = compiler.Outcome(1, "it is odd")
    silent = CompileError("first")
    one = source("")
    assert units.refused(one, outcome, b"", [silent, CompileError("second")]) is silent
    assert str(units.refused(one, outcome, b"", [])) == "a.hip did not compile:\nit is odd"
    assert (
        len(str(units.refused(one, compiler.Outcome(1, "x" * 3000), b"", []))) == len("a.hip did not compile:\n") + 2000
    )
    died = units.refused(one, compiler.Outcome(-9, " "), b"", [])
    assert str(died) == str(compiler.explain_death(-9, "the host compiler"))


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("__global__ void f();", True), ("__device__ int a;", True), ("__constant__ int a;", True),
        ("__managed__ int a;", True), ("f<<<1, 1>>>();", True), ("#include <thrust/sort.h>", True),
        ('#include "hipcub/hipcub.hpp"', True), ("#include <rocrand/rocrand.h>", True), ("int global;", False),
        ("__globally", False), ("#include <hip/hip_runtime.h>", False),
    ],
)  # fmt: skip
def test_what_may_run_on_devices(tmp_path: Path, text: str, may: bool) -> None:
    header = tmp_path / "own.h"
    header.write_text(text)
    assert units._may_run_on_devices(source(text)) is may
    other = source("int a;")
    own = SimpleNamespace(complete=True, files=(str(header),))
    assert units._may_run_on_devices(replace(other, setting=replace(other.setting, own=own))) is may
    unknown = SimpleNamespace(complete=False, files=())
    assert units._may_run_on_devices(replace(other, setting=replace(other.setting, own=unknown)))
