"""Parts of building a program, without a compiler: what is read, kept, joined, bundled and pruned."""

from __future__ import annotations

import json
import os
import re
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.programs import building, bundles
from gpulab.records import Diagnostic, SourceLine
from gpulab.toolchain import cache, diagnostics, hosted
from gpulab.toolchain.hosted import LinkedLibrary

MAIN = "int main() { return 0; }\n"


def said(message: str, line: int | None = 1, severity: str = "warning", column: int = 1) -> Diagnostic:
    where = None if line is None else SourceLine("a.hip", line, column)
    return Diagnostic(severity, message, where, rendered=f"{message} at {line}")


def test_each_message_once_and_errors_first() -> None:
    found = diagnostics.once(
        [said("w", 5), said("e", 7, "error"), said("w", 5), said("n", None), said("n", None), said("e", 7, "error", 2),
         said("e", 7, "error")]
    )  # fmt: skip
    assert [(each.severity, each.message, each.rendered) for each in found] == [
        ("error", "e", "e at 7"), ("error", "e", "e at 7"), ("warning", "w", "w at 5"), ("warning", "n", "n at None")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "rendered"),
    [
        ([3], "w at 3"), ([3, 9], "w at 3\n(the same in line 9)"), ([3, 9, 7], "w at 3\n(the same in lines 7, 9)"),
        ([1, *range(2, 14)], "w at 1\n(the same in lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)"),
        ([1, *range(2, 15)], "w at 1\n(the same in lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ...)"),
    ],
)  # fmt: skip
def test_warnings_of_the_same_words_are_one(lines: list[int], rendered: str) -> None:
    (one,) = diagnostics.joined([said("w", line) for line in lines])
    assert one.rendered == rendered
    assert len(diagnostics.joined([said("w", 1), said("x", 2)])) == 2
    assert len(diagnostics.joined([said("w", line, "error") for line in lines])) == len(lines)
    assert len(diagnostics.joined([said("w", 1), said("w", 2, "note")])) == 2


def test_the_layout_of_a_bundle() -> None:
    """By clang.llvm.org/docs/ClangOffloadBundler.html: magic, count, and (offset, size, length, name) of each."""
    images = [("gfx942", b"a" * 5000), ("gfx1100", b""), ("gfx90a", b"b" * 4096)]
    raw = bundles.bundle(images)
    assert raw[:24] == b"__CLANG_OFFLOAD_BUNDLE__"
    assert struct.unpack_from("<Q", raw, 24) == (4,)
    at, found = 32, []
    for _ in range(4):
        offset, size, length = struct.unpack_from("<QQQ", raw, at)
        found.append((raw[at + 24 : at + 24 + length].decode(), offset, raw[offset : offset + size]))
        at += 24 + length
    assert [(name, image) for name, _, image in found] == [
        ("host-x86_64-unknown-linux--", b""), *((f"hipv4-amdgcn-amd-amdhsa--{arch}", image) for arch, image in images)
    ]  # fmt: skip
    assert [offset for _, offset, _ in found] == [4096, 4096, 12288, 12288]
    assert len(raw) == 16384
    assert raw[at:4096] == bytes(4096 - at)
    # a head that fills its page to the last byte has no page more: one image's entry has 24 bytes and its name
    name = "x" * (4096 - 32 - (24 + 27) - (24 + len("hipv4-amdgcn-amd-amdhsa--")))
    assert struct.unpack_from("<Q", bundles.bundle([(name, b"c")]), 32) == (4096,)
    assert struct.unpack_from("<Q", bundles.bundle([(name + "x", b"c")]), 32) == (8192,)


ONE = LinkedLibrary("one", 7, True, None, {"f": 801, "g": "nothing", "h": 801})
TWO = LinkedLibrary("two", 2, False, None, {"k": 3})


@pytest.mark.parametrize(
    ("machine", "jump", "text", "number"),
    [
        ("x86_64", "jmp *.Lcall_f(%rip)", "leaq .Lnothing(%rip), %rax", "movq $801, %rax"),
        ("aarch64", "adrp x16, .Lcall_f\nldr x16, [x16, :lo12:.Lcall_f]\nbr x16",
         "adrp x0, .Lnothing\nadd x0, x0, :lo12:.Lnothing", "ldr x0, =801"),
    ],
)  # fmt: skip
def test_calls_go_through_tables(machine: str, jump: str, text: str, number: str) -> None:
    found = building.calls(machine, [ONE, TWO])
    assert f"f: {jump}\n" in found
    assert f".Lmissing_0: {number}\nret" in found
    assert f".Lmissing_1: {text}\nret" in found
    assert found.count("\nret") == 3, "the same answer once"
    tables = found[found.index("gpulab_libraries:\n") : found.index('.section .rodata.gpulab,"a"')].split("\n")
    assert tables == [
        "gpulab_libraries:", ".quad .Lfile_one, 7, .Lcalls_one", ".quad .Lfile_two, 2, .Lcalls_two", ".quad 0, 0, 0",
        ".Lcalls_one:", ".quad .Lname_f", ".Lcall_f: .quad .Lmissing_0", ".quad .Lname_g",
        ".Lcall_g: .quad .Lmissing_1", ".quad .Lname_h", ".Lcall_h: .quad .Lmissing_0", ".quad 0, 0", ".Lcalls_two:",
        ".quad .Lname_k", ".Lcall_k: .quad .Lmissing_2", ".quad 0, 0", "",
    ]  # fmt: skip
    names = found[found.index(".Lnothing: .asciz") :].split("\n")
    assert names[:4] == [
        '.Lnothing: .asciz ""', '.Lfile_one: .asciz "libone.so"', '.Lname_f: .asciz "f"', '.Lname_g: .asciz "g"'
    ]  # fmt: skip
    assert found.endswith('.section .note.GNU-stack,"",%progbits\n')


def test_what_a_program_knows_of_its_python() -> None:
    texts = dict(re.findall(r"^(gpulab_\w+): \.byte ([\d, ]+)$", building._places(), re.MULTILINE))
    raw = {name: bytes(map(int, text.split(", "))) for name, text in texts.items()}
    assert raw == {
        "gpulab_python": sys.executable.encode() + b"\0",
        "gpulab_home": str(Path(building.__file__).parents[2]).encode() + b"\0",
    }
    assert building._places().count(".hidden gpulab_") == 2


def test_programs_used_longest_ago_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert building._LIMIT == 512 * 1024 * 1024

    def made() -> dict[str, Path]:
        places = {}
        for number, name in enumerate("abcd"):
            places[name] = tmp_path / (name * 2) / name
            places[name].mkdir(parents=True, exist_ok=True)
            (places[name] / "one").write_bytes(bytes(60))
            (places[name] / "two").write_bytes(bytes(40))
            os.utime(places[name], (1000 + number, 1000 + number))
        return places

    for limit, keep, left in ((400, "a", "abcd"), (399, "d", "bcd"), (300, "d", "bcd"), (299, "d", "cd"),
                              (250, "a", "ad"), (0, "b", "b")):  # fmt: skip
        places = made()
        monkeypatch.setattr(building, "_LIMIT", limit)
        building._prune(tmp_path, places[keep])
        found = "".join(name for name, place in places.items() if place.exists())
        assert found == left, limit


# ------------------------------------------------------------------------------------------------------------ build


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """Programs that "were compiled": what was asked for each."""
    found: list[SimpleNamespace] = []

    def make(
        text: str, view: Any, asked: Any, setting: Any, called: str, others: Any, target: Path, keeps: bool
    ) -> Any:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("program")
        found.append(SimpleNamespace(text=text, view=view, asked=asked, setting=setting, called=called, others=others,
                                     target=target, keeps=keeps))  # fmt: skip
        return ["a.hip:2:3: warning: odd thing"]

    setting = hosted.Hosted("x86_64-linux-gnu", (), ())
    monkeypatch.setattr(hosted, "require", lambda: None)
    monkeypatch.setattr(hosted, "setting", lambda: setting)
    monkeypatch.setattr(building, "_make", make)
    monkeypatch.setattr(cache, "own_folder", lambda: tmp_path / "own")
    return found


def test_a_program_is_kept(made: list[SimpleNamespace], tmp_path: Path) -> None:
    first = building.build(MAIN, file="a.hip")
    again = building.build(MAIN, file="a.hip")
    assert len(made) == 1
    assert again == first
    assert (first.source, first.name, first.archs) == (MAIN, "program", ("gfx942", "gfx1100"))
    (warning,) = first.warnings
    assert warning.message == "odd thing"
    assert again.warnings == first.warnings
    key = first.path.parent.name
    assert first.path == tmp_path / "own" / "programs" / key[:2] / key / "program"
    assert json.loads((first.path.parent / "messages.json").read_text()) == ["a.hip:2:3: warning: odd thing"]
    os.utime(first.path.parent, (5, 5))
    building.build(MAIN, file="a.hip")
    assert first.path.parent.stat().st_mtime > 1000, "it was used just now"
    (first.path.parent / "messages.json").unlink()
    building.build(MAIN, file="a.hip")
    assert len(made) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"source": MAIN + "\n"}, {"name": "other"}, {"archs": ("gfx942",)}, {"options": ["-O1"]}, {"options": ["-g"]},
        {"first_line": 2}, {"file": "b.hip"}, {"options": ["-lhiprtc"]},
    ],
)  # fmt: skip
def test_another_program_is_another(made: list[SimpleNamespace], changes: dict[str, Any]) -> None:
    given = {"source": MAIN, "file": "a.hip", **changes}
    first, other = building.build(MAIN, file="a.hip"), building.build(**given)
    if changes.get("options") not in (["-lhiprtc"], ["-g"]):
        assert first.path != other.path
        assert len(made) == 2
    assert building.build(MAIN, file="a.hip").path == first.path


def test_an_output_is_always_made(made: list[SimpleNamespace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert building.build(MAIN, output="out").path == tmp_path / "out"
    assert len(made) == 2
    assert not (tmp_path / "messages.json").exists()
    assert (made[0].view.name, made[0].view.first_line, made[0].view.program) == ("program.hip", 1, True)


def test_a_file_is_read(made: list[SimpleNamespace], tmp_path: Path) -> None:
    source = tmp_path / "first.hip"
    source.write_text(MAIN)
    building.build(source, first_line=4)
    assert (made[0].view.name, made[0].view.first_line) == ("first.hip", 4)
    assert made[0].setting.quoted == (), "it includes nothing beside it"
    assert made[0].keeps
    building.build(source, file="other.hip")
    assert made[1].view.name == "other.hip"
    (tmp_path / "own.h").write_text("\n")
    source.write_text('#include "own.h"\n' + MAIN)
    building.build(source)
    assert made[2].setting.quoted == (str(tmp_path),)
    with pytest.raises(GpulabError, match=r"absent\.hip cannot be read: No such file"):
        building.build(tmp_path / "absent.hip")


@pytest.mark.parametrize("name", ["a", "a.b", "A_1", "a+b-c", "x" * 100])
def test_names_of_programs(made: list[SimpleNamespace], name: str) -> None:
    assert building.build(MAIN, name=name).path.name == name


@pytest.mark.parametrize("name", ["", ".a", "-a", "a b", "a/b", "x" * 101, "a\n"])
def test_what_is_no_name(made: list[SimpleNamespace], name: str) -> None:
    with pytest.raises(GpulabError, match="is no name for a program"):
        building.build(MAIN, name=name)


def test_libraries_that_are_asked_for(made: list[SimpleNamespace], monkeypatch: pytest.MonkeyPatch) -> None:
    from gpulab.providers.virtual import hosting

    with_headers = LinkedLibrary("two", 2, False, Path("/headers"), {"k": 3})
    monkeypatch.setattr(hosting, "libraries", lambda: (ONE, with_headers))
    monkeypatch.setattr(building.command_line, "parse", lambda options, archs: SimpleNamespace(
        archs=tuple(archs), common=(), host=(), include=(), debug=False, libraries=tuple(options)))  # fmt: skip
    building.build(MAIN)
    building.build(MAIN, options=["two"])
    assert [[library.name for library in each.others] for each in made] == [["two"], []]
    assert [".Lfile_two" in each.called for each in made] == [False, True]
    assert made[0].setting.more == ("/headers",)
    assert made[0].called == building.calls("x86_64", [ONE])


def test_a_source_without_main_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from gpulab.toolchain import build as kernels
    from gpulab.toolchain.diagnostics import Source

    monkeypatch.setattr(hosted, "compile_object", lambda *all: (b"code", SimpleNamespace(log="", code=0)))
    code = SimpleNamespace(arch="gfx942", elf=b"", messages="")
    monkeypatch.setattr(kernels, "compile", lambda *all, **more: code)
    asked: Any = SimpleNamespace(archs=("gfx942",), common=(), host=(), debug=False)
    for text in ("int domain() {}", "int main = 3;"):
        with pytest.raises(CompileError, match=r"a\.hip has no main\(\)"):
            building._make(text, Source(text, "a.hip"), asked, hosted.Hosted("x", (), ()), "", [], tmp_path, True)


@pytest.mark.parametrize("ready", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_what_links_take_is_built_beside(monkeypatch: pytest.MonkeyPatch, ready: bool, count: int) -> None:
    """Where something is not there. What fails is left to the link; with a driver, ROCm may do without our GPU."""
    done: list[str] = []

    def fails() -> None:
        done.append("libraries")
        raise CompileError("they could not be built")

    part = SimpleNamespace(title="the C++ library")
    library = SimpleNamespace(
        absent=lambda text: [] if ready else [part], require=lambda parts: done.append(f"{len(parts)} part")
    )
    setting: Any = SimpleNamespace(cxx_library=lambda: library)
    monkeypatch.setattr(building.cores, "usable", lambda: count)
    monkeypatch.setattr(hosted, "is_ready", lambda: ready)
    monkeypatch.setattr(hosted, "libraries", fails)
    monkeypatch.setattr(building, "_launcher", lambda setting, shared: done.append(f"launcher {shared}"))
    monkeypatch.setattr(building.cxx_library, "tell", lambda title: done.append(title))
    monkeypatch.setattr(building.hosting, "begin", lambda: done.append("begun"))
    every = ["1 part", "begun", "launcher True", "libraries", "the C++ library"]
    for drivers, begun in (((), True), (("/",), False)):
        monkeypatch.setattr(building, "_DRIVERS", drivers)
        with building.linkable("text", setting, shared=True):
            pass
        assert sorted(done) == ([] if ready or count == 1 else [one for one in every if begun or one != "begun"])
        done.clear()
