"""``gpulab hipcc``: what it builds, where, by which name, and what it says; the building itself is replaced."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab.errors import CompileError, GpulabError
from gpulab.programs import building, command
from gpulab.records import Diagnostic
from gpulab.toolchain import compiler, diagnostics, hosted


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What `build` was asked for."""
    asked: list[tuple[Any, ...]] = []

    def build(source: Path, *, name: str, options: list[str], output: Path) -> Any:
        asked.append((source, name, options, output))
        return SimpleNamespace(warnings=())

    monkeypatch.setattr(building, "build", build)
    monkeypatch.setattr(hosted, "unavailable", lambda: "")
    monkeypatch.setattr(hosted, "is_ready", lambda: True)
    return asked


@pytest.mark.parametrize(
    ("words", "name", "options", "output"),
    [
        (["a.hip"], "a.out", [], "a.out"),
        (["a.hip", "-o", "prog", "-O2"], "prog", ["-o", "prog", "-O2"], "prog"),
        (["-g", "a.hip", "-oout/my prog"], "my_prog", ["-g", "-oout/my prog"], "out/my prog"),
        (["a.hip", "-o", ".-hidden"], "hidden", ["-o", ".-hidden"], ".-hidden"),
        (["a.hip", "-o", "a+b_c-1.x"], "a+b_c-1.x", ["-o", "a+b_c-1.x"], "a+b_c-1.x"),
        (["a.hip", "-o", "..."], "program", ["-o", "..."], "..."),
    ],
)
def test_what_is_built(
    built: list[tuple[Any, ...]], words: list[str], name: str, options: list[str], output: str
) -> None:
    assert command.run(words) == 0
    assert built == [(Path("a.hip"), name, options, Path(output))]


@pytest.mark.parametrize("words", [[], ["-O2"], ["a.hip", "b.hip"]])
def test_one_source(built: list[tuple[Any, ...]], words: list[str]) -> None:
    count = sum(not word.startswith("-") for word in words)
    with pytest.raises(GpulabError, match=f"builds one source file; {count} were named"):
        command.run(words)
    assert built == []


@pytest.mark.parametrize(
    ("unavailable", "ready", "said"), [("", True, False), ("", False, True), ("no linker", False, False)]
)
def test_the_first_time_takes_long(
    built: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    unavailable: str, ready: bool, said: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(hosted, "unavailable", lambda: unavailable)
    monkeypatch.setattr(hosted, "is_ready", lambda: ready)
    assert command.run(["a.hip"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (hosted.FIRST_TIME + "\n" if said else "")


def test_messages_go_to_standard_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    warning = Diagnostic("warning", "unused variable 'x'", None)
    monkeypatch.setattr(building, "build", lambda *_, **__: SimpleNamespace(warnings=(warning,)))
    assert command.run(["a.hip"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", diagnostics.render((warning,)) + "\n")
    assert "unused variable 'x'" in err

    def refused(*_: object, **__: object) -> None:
        raise CompileError("a.hip does not compile.")

    monkeypatch.setattr(building, "build", refused)
    assert command.run(["a.hip"]) == 1
    assert capsys.readouterr() == ("", "a.hip does not compile.\n")


def test_its_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiler, "version", lambda: "ziglang 0.15.1 12345 678")
    assert command.run(["--version"]) == 0
    assert capsys.readouterr().out == "gpulab hipcc, with the Clang of ziglang 0.15.1\n"
