"""The steps of one command line of hipcc: the files that they write. The compilers are written here."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.programs import command, device_tools, installation, objects, units
from gpulab.programs.arguments import Command, Dependencies, Input
from gpulab.toolchain import compiler, hosted, linking

ONE, TWO = Input("sub/a.hip", "hip"), Input("b.cpp", "c++")
ARCHS = ("gfx942", "gfx1100")


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Compilers that write what they were asked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()

    def unit(given: Input, asked: Command) -> Any:
        return units.Unit("", given.path, given.language, asked, hosted.Hosted.__new__(hosted.Hosted))

    def host(one: units.Unit, scratch: Path, action: Any) -> tuple[bytes, compiler.Outcome]:
        if action[0] in ("-M", "-MM"):
            listed = f"x: {one.name} {tmp_path}/in.h \\\n  /usr/a\\ b.h $$c.h /gpulab/hip.h <stdin>\n"
            return listed.encode(), compiler.Outcome(0, "")
        return f"{one.name} {action}".encode(), compiler.Outcome(0, "")

    def device(one: units.Unit, arch: str) -> Any:
        if one.command.rdc:
            return f"bitcode {one.name} {arch}".encode()
        return SimpleNamespace(arch=arch, elf=f"elf {arch}".encode(), assembly=f"assembly {arch}", messages="")

    monkeypatch.setattr(units, "unit", unit)
    monkeypatch.setattr(units, "host", host)
    monkeypatch.setattr(units, "device", device)
    monkeypatch.setattr(units, "worded", lambda messages, view: "; ".join(filter(None, messages)))
    monkeypatch.setattr(units, "compiled", lambda one: units.Compiled(f"object {one.name}".encode(), ("warned",)))
    monkeypatch.setattr(linking, "link", lambda parts, arch, name, program: SimpleNamespace(
        assembly=f"linked {arch} {program}", elf=b"linked"))  # fmt: skip
    monkeypatch.setattr(linking, "bitcode", lambda found, arch, name: found + b"!")
    monkeypatch.setattr(device_tools, "ir", lambda made, word: b"text of " + made)
    monkeypatch.setattr(command.bundles, "bundle", lambda codes: repr(list(codes)).encode())
    monkeypatch.setattr(command, "_target", lambda: "x86_64-unknown-linux-gnu")
    return tmp_path


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def asked(*given: Input, **more: Any) -> Command:
    return Command(items=given, archs=ARCHS, **more)


BUNDLE = "[('gfx942', b'elf gfx942'), ('gfx1100', b'elf gfx1100')]"


@pytest.mark.parametrize(
    ("wish", "made"),
    [
        (asked(ONE, TWO, step="compile"), {"a.o": "object sub/a.hip", "b.o": "object b.cpp"}),
        (asked(ONE, step="compile", output="out/x.o"), {"out/x.o": "object sub/a.hip"}),
        (asked(ONE, step="assembly"), {"a.s": "sub/a.hip ('-S',)"}),
        (asked(ONE, step="assembly", output="out/x"), {"out/x": "sub/a.hip ('-S',)"}),
        (asked(ONE, step="preprocess", output="x.i"), {"x.i": "sub/a.hip ('-E',)"}),
        (asked(ONE, TWO, step="check"), {}),
        (asked(ONE, step="assembly", side="device"),
         {f"a-hip-amdgcn-amd-amdhsa-{arch}.s": f"assembly {arch}" for arch in ARCHS}),
        (asked(ONE, step="assembly", side="device", rdc=True),
         {f"a-hip-amdgcn-amd-amdhsa-{arch}.s": f"linked {arch} True" for arch in ARCHS}),
        (asked(ONE, step="compile", llvm=True),
         {f"a-hip-amdgcn-amd-amdhsa-{arch}.bc": f"bitcode sub/a.hip {arch}!" for arch in ARCHS}),
        (asked(ONE, step="assembly", llvm=True),
         {f"a-hip-amdgcn-amd-amdhsa-{arch}.ll": f"text of bitcode sub/a.hip {arch}!" for arch in ARCHS}),
        (asked(ONE, step="compile", side="device"), {"a.hipfb": BUNDLE}),
        (asked(ONE, step="compile", side="device", genco=True), {"a.co": BUNDLE}),
        (asked(ONE, step="compile", side="device", genco=True, output="x.co"), {"x.co": BUNDLE}),
        (asked(ONE, step="compile", saves=True, output="out/x.o"),
         {"out/x.o": "object sub/a.hip", "out/a-host-x86_64-unknown-linux-gnu.s": "sub/a.hip ('-S',)",
          **{f"out/a-hip-amdgcn-amd-amdhsa-{arch}.s": f"assembly {arch}" for arch in ARCHS},
          **{f"out/a-hip-amdgcn-amd-amdhsa-{arch}.out": f"elf {arch}" for arch in ARCHS}}),
        (asked(TWO, step="compile", saves=True),
         {"b.o": "object b.cpp", "b-host-x86_64-unknown-linux-gnu.s": "b.cpp ('-S',)"}),
        (asked(ONE, step="compile", saves=True, side="host"),
         {"a.o": "object sub/a.hip", "a-host-x86_64-unknown-linux-gnu.s": "sub/a.hip ('-S',)"}),
    ],
)  # fmt: skip
def test_files_of_steps(steps: Path, wish: Command, made: dict[str, str]) -> None:
    assert command._each(wish) == 0
    assert files(steps) == made


def test_one_output_for_several_results(steps: Path) -> None:
    with pytest.raises(GpulabError, match="-o x is one file, and 2 sources were named"):
        command._each(asked(ONE, TWO, step="compile", output="x"))
    with pytest.raises(GpulabError, match="-o x is one file, and there are 2 architectures"):
        command._each(asked(ONE, step="compile", llvm=True, output="x"))
    alone = replace(asked(ONE, step="compile", llvm=True, output="x"), archs=("gfx942",))
    assert command._each(alone) == 0
    assert command._each(asked(ONE, TWO, step="check", output="y")) == 0
    assert files(steps) == {"x": "bitcode sub/a.hip gfx942!"}


def test_what_a_pass_for_a_device_refuses(steps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(units, "device", lambda one, arch: tried.append(arch) or CompileError("no"))
    for wish in (asked(ONE, step="check"), asked(ONE, step="compile", llvm=True)):
        with pytest.raises(CompileError, match="no"):
            command._each(wish)
    assert command._each(asked(TWO, step="check")) == 0
    assert tried == ["gfx942", "gfx942"]
    refused: list[Any] = []
    monkeypatch.setattr(units, "host", lambda one, scratch, action: (b"", compiler.Outcome(1, "log")))
    monkeypatch.setattr(units, "refused", lambda *words: refused.append(words) or CompileError("refused"))
    for wish in (asked(TWO, step="assembly"), asked(TWO, step="depend")):
        with pytest.raises(CompileError, match="refused"):
            command._each(wish)
    assert [words[1].log for words in refused] == ["log", "log"]


NEEDED = "in.h \\\n  /usr/a\\ b.h \\\n  $$c.h\n"


@pytest.mark.parametrize(
    ("depends", "output", "made"),
    [
        (Dependencies("MD"), "", {"a.d": f"a.o: sub/a.hip \\\n  {NEEDED}"}),
        (Dependencies("MMD"), "out/x.o", {"out/x.d": f"out/x.o: sub/a.hip \\\n  {NEEDED}"}),
        (Dependencies("MD", "d#", ("t", "u v")), "", {"d#": f"t u v: sub/a.hip \\\n  {NEEDED}"}),
        (Dependencies("MD", "d", (), True), "x y#$",
         {"d": f"x\\ y\\#$$: sub/a.hip \\\n  {NEEDED}\nin.h:\n\n/usr/a\\ b.h:\n\n$$c.h:\n"}),
    ],
)  # fmt: skip
def test_files_for_make(steps: Path, depends: Dependencies, output: str, made: dict[str, str]) -> None:
    assert command._each(asked(ONE, step="compile", depends=depends, output=output)) == 0
    found = files(steps)
    assert found.pop(output or "a.o") == "object sub/a.hip"
    assert found == made


def test_dependencies_alone(steps: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert command._each(asked(ONE, step="depend")) == 0
    assert capsysbinary.readouterr().out.decode() == f"a.o: sub/a.hip \\\n  {NEEDED}"
    assert command._each(asked(Input("-", "hip"), step="depend", depends=Dependencies("", "d"))) == 0
    assert command._each(asked(ONE, step="depend", output="e", depends=Dependencies("", "d2"))) == 0
    assert sorted(files(steps)) == ["d", "e"]


def test_how_files_are_written(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    command.write("-", b"to the terminal")
    command.write(os.devnull, b"nowhere")
    assert capsysbinary.readouterr().out == b"to the terminal"
    before = os.umask(0o027)
    try:
        command.write(str(tmp_path / "a"), b"1")
        command.write(str(tmp_path / "a"), b"2")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"2"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]
    with pytest.raises(GpulabError, match=r"/b cannot be written: No such file or directory\."):
        command.write(str(tmp_path / "absent" / "b"), b"")


def test_what_is_linked(steps: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    linked: list[Any] = []

    def link(wish: Command, made: dict[Input, str], target: Path) -> str:
        linked.append(({one.path: (Path(path).name, Path(path).read_text()) for one, path in made.items()}, target))
        return "told"

    monkeypatch.setattr(objects, "link", link)
    monkeypatch.setattr(command, "_linkable", lambda every, wish: contextlib.nullcontext())
    both = {"sub/a.hip": ("a.o", "object sub/a.hip"), "b.cpp": ("b.o", "object b.cpp")}
    assert command._link(asked(ONE, TWO, ONE)) == 0
    assert linked.pop() == (both, steps / "a.out")
    assert capsys.readouterr() == ("", "warned\nwarned\ntold\n")
    assert command._link(asked(ONE, output="out/x", depends=Dependencies("MD"), saves=True)) == 0
    assert linked.pop()[1] == steps / "out" / "x"
    assert set(files(steps)) == {
        "out/x.d", "out/a-host-x86_64-unknown-linux-gnu.s",
        *(f"out/a-hip-amdgcn-amd-amdhsa-{arch}{end}" for arch in ARCHS for end in (".s", ".out")),
    }  # fmt: skip
    assert files(steps)["out/x.d"] == f"out/x: sub/a.hip \\\n  {NEEDED}"
    assert command._link(asked(ONE, TWO, output="y.so", depends=Dependencies("MD"))) == 0
    assert {"y-a.d", "y-b.d"} <= set(files(steps))
    with pytest.raises(GpulabError, match=r"no/x cannot be written: there is no folder .*/no\."):
        command._link(asked(ONE, output="no/x"))
    monkeypatch.setattr(objects, "archive", lambda given, target: linked.append((given, target)))
    old = Input("old.o", "object")
    linked.clear()
    assert command._link(asked(old, ONE, kind="archive")) == 0
    assert (linked[0][0][0], Path(linked[0][0][1]).name, linked[0][1]) == (str(steps / "old.o"), "a.o", steps / "a.a")
    monkeypatch.setattr(objects, "resolved", lambda wish, made: SimpleNamespace(words=("w",)))
    monkeypatch.setattr(hosted, "setting", lambda: "setting")
    monkeypatch.setattr(hosted, "join", lambda *words: repr((words[0], words[1], words[3])).encode())
    assert command._link(asked(ONE, kind="relocatable", output="r.o")) == 0
    assert files(steps)["r.o"] == "({}, 'setting', ('w',))"
    assert command._link(asked(ONE, side="device", step="compile")) == 0
    assert files(steps)["a.hipfb"] == BUNDLE


# ------------------------------------------------------------------------------------------- a command line


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "version", lambda: "the version")
    monkeypatch.setattr(command, "_clang_version", lambda: "20.1")
    monkeypatch.setattr(command, "hip_version", lambda: "7.0.0")
    monkeypatch.setattr(command, "_target", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(installation, "root", lambda: Path("/rocm"))
    monkeypatch.setattr(compiler, "package_folder", lambda: Path("/zig"))


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("--version", "the version"), ("a.hip --version", "the version"), ("-dumpversion", "20.1"),
        ("-dumpmachine", "x86_64-unknown-linux-gnu"), ("--print-target-triple", "x86_64-unknown-linux-gnu"),
        ("-print-target-triple", "x86_64-unknown-linux-gnu"), ("-print-multiarch", "x86_64-linux-gnu"),
        ("-print-resource-dir", "/zig/lib"), ("--print-resource-dir", "/zig/lib"),
        ("-print-search-dirs", "programs: =/zig\nlibraries: ="), ("-print-libgcc-file-name", "libclang_rt.builtins.a"),
        ("-print-file-name=a=b", "a=b"), ("-print-prog-name=ld", "ld"), ("--print-file-name=x", "x"),
        ("--print-prog-name=y", "y"),
    ],
)  # fmt: skip
def test_questions_of_build_systems(said: None, capsys: pytest.CaptureFixture[str], words: str, answer: str) -> None:
    assert command.run(words.split()) == 0
    assert capsys.readouterr() == (f"{answer}\n", "")


def test_help(said: None, capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("-h", "--help"):
        assert command.run([word]) == 0
        assert capsys.readouterr().out.startswith("usage: hipcc [OPTIONS] FILES\n")


def test_a_command_without_files(said: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["-v"]) == 0
    assert capsys.readouterr() == ("", "the version\nFound HIP installation: /rocm, version 7.0.0\n")
    for words in ([], ["-O2"], ["-###"]):
        with pytest.raises(GpulabError, match="gpulab hipcc was given no source file and no object"):
            command.run(words)


def test_steps_that_are_only_told(
    said: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "_link", lambda wish: pytest.fail("nothing is linked"))
    words = ["-###", "a.hip", "b.c", "-lm", "-O2", "--offload-arch=gfx942", "--offload-arch=gfx1100"]
    assert command.run([*words, "-o", "app"]) == 0
    lines = capsys.readouterr().err.splitlines()[2:]
    assert [line.split()[:2] for line in lines] == [
        ["clang", "'[host]'"], ["clang", "'[gfx942]'"], ["clang", "'[gfx1100]'"], ["clang", "'[host]'"],
        ["ld.lld", "-o"],
    ]  # fmt: skip
    assert all(" -O2" in line and line.endswith("a.hip") and " -x hip " in line for line in lines[:3])
    assert lines[4] == "ld.lld -o app a.hip b.c -lm"
    for word, sides in (("--cuda-host-only", ["'[host]'"] * 2), ("--cuda-device-only", ["'[gfx942]'", "'[gfx1100]'"])):
        assert command.run([*words, "-c", word]) == 0
        assert [line.split()[1] for line in capsys.readouterr().err.splitlines()[2:]] == sides


def test_what_a_command_line_runs(
    said: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(hosted, "require", lambda: ran.append("require"))
    monkeypatch.setattr(command, "_link", lambda wish: ran.append("link") or 5)
    monkeypatch.setattr(command, "_each", lambda wish: ran.append(wish.step) or 6)
    assert (command.run(["a.hip"]), command.run(["-c", "a.hip"]), command.run(["-v", "a.o"])) == (5, 6, 5)
    assert ran == ["require", "link", "require", "compile", "require", "link"]
    capsys.readouterr()

    def refuse(wish: Command) -> int:
        raise CompileError("it does not compile.")

    monkeypatch.setattr(command, "_each", refuse)
    assert command.run(["-c", "a.hip"]) == 1
    assert capsys.readouterr() == ("", "it does not compile.\n")
    monkeypatch.setattr(device_tools, "is_for_device", lambda words: words == ["x"])
    monkeypatch.setattr(device_tools, "clang", lambda words: 8)
    assert command.run(["x"]) == 8
