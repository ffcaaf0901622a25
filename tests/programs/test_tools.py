"""The commands of an installation: what each starts, says and returns, with what stands behind them written here."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gpulab.porting.command
from gpulab import providers
from gpulab.errors import GpulabError
from gpulab.programs import command, device_tools, installation, options, tools
from gpulab.toolchain import compiler


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What reached the compiler's command."""
    found: list[Any] = []
    monkeypatch.setattr(command, "run", lambda words, plain=False: found.append((list(words), plain)) or 7)
    return found


@pytest.mark.parametrize(
    ("words", "reached"),
    [
        (["hipcc", "a.hip"], (["a.hip"], False)),
        (["clang", "a.cpp"], (["a.cpp"], True)),
        (["clang++", "a.cpp"], (["a.cpp"], True)),
        (["mpicc", "a.c", "-o", "a"], (["a.c", "-o", "a", "-lmpi"], True)),
        (["mpicxx", "-c", "a.cpp"], (["-c", "a.cpp", "-lmpi"], True)),
        (["mpicxx", "--version"], (["--version"], True)),
    ],
)
def test_compilers(ran: list[Any], words: list[str], reached: tuple[list[str], bool]) -> None:
    assert tools.main(words) == 7
    assert ran == [reached]


@pytest.mark.parametrize(
    ("word", "said"),
    [("-show", "amdclang++ -lmpi"), ("--show", "amdclang++ -lmpi"), ("-showme", "amdclang++ -lmpi"),
     ("--showme", "amdclang++ -lmpi"), ("--showme:link", "-lmpi"), ("-showme:link", "-lmpi"), ("--showme:compile", "")],
)  # fmt: skip
def test_what_the_compilers_of_mpi_say(
    ran: list[Any], capsys: pytest.CaptureFixture[str], word: str, said: str
) -> None:
    assert tools.main(["mpicxx", "-O2", word, "x.cpp"]) == 0
    assert capsys.readouterr().out == f"{said}\n"
    assert ran == []


@pytest.mark.parametrize(
    "words",
    ["", "-n 1", "-np 1", "--np 1", "-c 1", "--n 1", "-np=1", "--host a", "-H a", "--host=a", "-x A",
     "--bind-to core -n 1", "--mca a b", "-mca a b -np 1", "--oversubscribe", "-np 0"],
)  # fmt: skip
def test_mpirun_starts_the_program(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    started: list[Any] = []

    class Started(Exception):
        pass

    def start(name: str, given: list[str]) -> None:
        started.append((name, given))
        raise Started

    monkeypatch.setattr(os, "execvp", start)
    with pytest.raises(Started):
        tools.main(["mpirun", *words.split(), "./app", "-np", "3"])
    assert started == [("./app", ["./app", "-np", "3"])]


def test_mpirun_with_what_cannot_be_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = "mpirun: mpirun -np {}: MPI programs run as one process here.\n"
    for words, said in (
        ("-np 2 ./app", ranks.format("2")), ("-n x ./app", ranks.format("x")), ("-n=10 ./app", ranks.format("10")),
        ("-np", ranks.format("")), ("", "mpirun: mpirun was given no program.\n"),
        ("-np 1", "mpirun: mpirun was given no"),
        ("--host a", "mpirun: mpirun was given no"), ("--mca a b", "mpirun: mpirun was given no"),
    ):  # fmt: skip
        assert tools.main(["mpirun", *words.split()]) == 1
        assert capsys.readouterr().err.startswith(said), words

    def start(name: str, given: list[str]) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(os, "execvp", start)
    assert tools.main(["mpirun", "./app"]) == 1
    assert capsys.readouterr().err == "mpirun: ./app does not start: Permission denied.\n"


def test_archivers_and_tools_for_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(os, "execv", lambda *words: started.append(words))
    monkeypatch.setattr(compiler, "executable", lambda: Path("/zig"))
    for name in ("ar", "ranlib"):
        tools._archiver(name)(["rc", "x.a"])
        assert started.pop() == ("/zig", ["/zig", name, "rc", "x.a"])
    for number, (name, function) in enumerate(
        {
            "llvm-mc": "mc",
            "llvm-dis": "disassemble",
            "llvm-as": "assemble_ir",
            "clang-offload-bundler": "bundler",
        }.items()
    ):
        monkeypatch.setattr(device_tools, function, lambda words, number=number: number + len(words))
        assert tools.main([name, "a", "b"]) == number + 2


def test_options_of_hipify_may_have_one_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(gpulab.porting.command, "run", lambda found: asked.append(found) or 3)
    assert tools.main(["hipify", "--roc", "-examine", "--", "-roc", "a.cu"]) == 3
    assert tools.main(["hipify", "a.cu", "-o", "b.hip"]) == 3
    assert [(found.examine, found.output and str(found.output)) for found in asked] == [(True, None), (False, "b.hip")]


def test_how_tools_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def ends(error: BaseException) -> Any:
        def run(words: Any) -> int:
            raise error

        return run

    monkeypatch.setitem(tools._TOOLS, "hipcc", ends(GpulabError("no room.", hint="make room.")))
    assert tools.main(["hipcc"]) == 1
    assert capsys.readouterr() == ("", "hipcc: no room.\nTry: make room.\n")
    monkeypatch.setitem(tools._TOOLS, "hipcc", ends(KeyboardInterrupt()))
    assert tools.main(["hipcc"]) == 130
    monkeypatch.setitem(tools._TOOLS, "hipcc", ends(BrokenPipeError()))
    closed: list[Any] = []
    monkeypatch.setattr(os, "dup2", lambda *both: closed.append(both))
    monkeypatch.setattr("sys.stdout", SimpleNamespace(fileno=lambda: 77, flush=lambda: None))
    assert tools.main(["hipcc"]) == 141
    assert [both[1] for both in closed] == [77]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "root", lambda: Path("/rocm"))
    monkeypatch.setattr(command, "hip_version", lambda: "7.0.0")
    monkeypatch.setattr(command, "version", lambda: "HIP version: 7.0.0-gpulab\nclang version 20")
    devices = [SimpleNamespace(arch="gfx942", name="MI300X"), SimpleNamespace(arch="gfx1100", name="RX 7900 XTX")]
    monkeypatch.setattr(providers, "devices", lambda: devices)
    monkeypatch.setattr(options, "native", lambda: ["gfx942", "gfx1100"])


CPP = " -D__HIP_PLATFORM_AMD__= -I/rocm/include"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-p", "/rocm"), ("--path", "/rocm"), ("-R", "/rocm"), ("--rocmpath", "/rocm"), ("-C", CPP),
        ("--cpp_config", CPP),
        ("-c", "clang"), ("--compiler", "clang"), ("-P", "amd"), ("--platform", "amd"), ("-r", "rocclr"),
        ("--runtime", "rocclr"), ("-v", "7.0.0-gpulab"), ("--version", "7.0.0-gpulab"), ("-l", "/rocm/llvm/bin"),
        ("--hipclangpath", "/rocm/llvm/bin"), ("-a", "clang version 20"), ("--hipclangversion", "clang version 20"),
        ("-p -n", "/rocm\n"), ("--newline -P", "amd\n"), ("-P -v", "amd\n7.0.0-gpulab"),
    ],
)  # fmt: skip
def test_what_hipconfig_says(installed: None, capsys: pytest.CaptureFixture[str], words: str, said: str) -> None:
    assert tools.main(["hipconfig", *words.split()]) == 0
    assert capsys.readouterr().out == said


def test_all_that_hipconfig_says(installed: None, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (
        "HIP version: 7.0.0-gpulab\n\n==hipconfig\nHIP_PATH     : /rocm\nROCM_PATH    : /rocm\nHIP_COMPILER : clang\n"
        "HIP_PLATFORM : amd\nHIP_RUNTIME  : rocclr\nCPP_CONFIG   : -D__HIP_PLATFORM_AMD__= -I/rocm/include\n"
        "\n==hip-clang\nHIP_CLANG_PATH : /rocm/llvm/bin\nHIP version: 7.0.0-gpulab\nclang version 20\n"
    )
    for words in ("", "-f", "--full", "-n", "--newline", "--check", "-k"):
        assert tools.main(["hipconfig", *words.split()]) == 0
        assert capsys.readouterr().out == whole
    for word in ("-h", "--help"):
        assert tools.main(["hipconfig", word]) == 0
        said = capsys.readouterr().out.splitlines()
        assert (said[0], said[1], len(said)) == ("usage: hipconfig [OPTIONS]", "  -p, --path", 12)
        assert said[-2:] == ["  -f, --full", "  -n, --newline"]
    assert tools.main(["hipconfig", "-x"]) == 1
    assert capsys.readouterr().err == "hipconfig: hipconfig has no option '-x'.\nTry: hipconfig --help\n"


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("", "gfx000 gfx942 gfx1100"), ("-t GPU", "gfx942 gfx1100"), ("--type GPU", "gfx942 gfx1100"),
        ("-t CPU", "gfx000"), ("--type CPU", "gfx000"), ("-name", "gfx942 gfx1100"), ("-t", "gfx000 gfx942 gfx1100"),
    ],
)  # fmt: skip
def test_devices_in_lines(installed: None, capsys: pytest.CaptureFixture[str], words: str, lines: str) -> None:
    assert tools.main(["rocm_agent_enumerator", *words.split()]) == 0
    assert capsys.readouterr().out.split() == lines.split()
    assert tools.main(["offload-arch"]) == 0
    assert capsys.readouterr().out == "gfx942\ngfx1100\n"


def test_what_rocminfo_says(installed: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert tools.main(["rocminfo"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "=====================\nHSA Agents\n=====================\n*******\nAgent 1\n*******\n"
        "  Name:                      CPU\n  Device Type:               CPU\n*******\nAgent 2\n*******\n"
        "  Name:                    gfx942\n  Marketing Name:          MI300X\n  Device Type:             GPU\n"
        "  ISA Info:\n    ISA 1\n      Name:                    amdgcn-amd-amdhsa--gfx942\n*******\nAgent 3\n"
    )
    assert said.endswith("amdgcn-amd-amdhsa--gfx1100\n*** Done ***\n")
