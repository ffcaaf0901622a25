"""What each command hands on, prints and returns, with the parts behind it written here."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import itertools
import os
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import papermill
import pytest
from nbclient.exceptions import CellTimeoutError, DeadKernelError

import gpulab.classroom.command
import gpulab.delivery.bundle
import gpulab.delivery.seed
import gpulab.porting.command
import gpulab.programs.command
import gpulab.programs.installation
from gpulab import cli, doctor, providers
from gpulab.errors import GpulabError
from gpulab.views.instrument import STILL, WIDGET


def given(**words: Any) -> argparse.Namespace:
    return argparse.Namespace(**words)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a quarter of a second after the one before."""
    times = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(times) / 4)


class Flushed(io.StringIO):
    """A stream that knows how much of it a reader has; `terminal`: it says that it is one."""

    def __init__(self, terminal: bool = False) -> None:
        super().__init__()
        self.terminal, self.read_so_far = terminal, ""

    def flush(self) -> None:
        self.read_so_far = self.getvalue()

    def isatty(self) -> bool:
        return self.terminal


def test_what_takes_long_is_said_before_and_after(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A reader of a pipe, too, sees what is being done: all that was printed has been handed on by then."""
    out, seen = Flushed(), []
    monkeypatch.setattr(sys, "stdout", out)

    def look() -> Any:
        seen.append((out.read_so_far == out.getvalue(), out.getvalue().rpartition("\n")[2]))
        return ""

    monkeypatch.setattr(cli, "setup_steps", lambda programs: iter([("one", look), ("two", look)]))
    cli.setup(given(make_seed=None, seed=None, programs=True))
    assert seen == [(True, "  one … "), (True, "  two … ")]
    seen.clear()

    def steps(programs: bool) -> Iterator[tuple[str, Any]]:
        yield "one", lambda: ""
        look()

    monkeypatch.setattr(cli, "setup_steps", steps)
    cli.setup(given(make_seed=None, seed=None, programs=True))
    monkeypatch.setattr(
        doctor, "examine", lambda: (SimpleNamespace(needed=True, works=True) for _ in range(3) if look() == "")
    )
    cli.doctor(given())
    (tmp_path / "a.ipynb").write_text("")
    monkeypatch.setattr(cli, "jupyter_environment", dict)
    monkeypatch.setattr(cli, "execute", lambda *words: (look() == "", ""))
    cli.run(given(notebooks=[str(tmp_path / "a.ipynb")] * 2, timeout=1.0, output=None, arch=None))
    cli.main(["isa", "v_add_f32"])
    look()
    assert seen[0] == seen[-1] == (True, "")
    assert seen[2:4] == [(True, "")] * 2, "what doctor found first"
    assert [done for done, _ in seen[5:]] == [True] * (len(seen) - 5)


def test_what_setup_prints(clock: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def steps(programs: bool) -> Iterator[tuple[str, Any]]:
        yield "one", lambda: "with words"
        yield f"programs: {programs}", lambda: ""

    monkeypatch.setattr(cli, "setup_steps", steps)
    assert cli.setup(given(make_seed=None, seed=None, programs=True)) == 0
    assert capsys.readouterr().out == (
        "  one … 0.2 s (with words)\n  programs: True … 0.2 s\n  all of it: 1.2 s\n"
    )  # fmt: skip


def test_a_step_of_setup_that_fails_is_the_last(
    clock: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> str:
        raise GpulabError("there is no room.")

    monkeypatch.setattr(cli, "setup_steps", lambda programs: iter([("one", broken), ("two", broken)]))
    assert cli.setup(given(make_seed=None, seed=None, programs=False)) == 1
    assert capsys.readouterr().out == (
        "  one … failed\n\nthere is no room.\n\n`gpulab doctor` looks at each part.\n"
    )  # fmt: skip


def test_seeds_are_made_and_taken(
    clock: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        gpulab.delivery.seed, "make_seed", lambda path, programs: f"  made: {path.relative_to(tmp_path)}, {programs}\n"
    )
    monkeypatch.setattr(cli, "setup_steps", lambda programs: iter(()))
    assert cli.setup(given(make_seed="x.tar", seed=None, programs=True)) == 0
    assert capsys.readouterr().out == (
        "  made: x.tar, True\n  the seed is in x.tar: others take it with `gpulab setup --seed`\n"
    )
    monkeypatch.setattr(gpulab.delivery.seed, "take", lambda path: (12, 34_400_000) if path == Path("y") else None)
    assert cli.setup(given(make_seed=None, seed="y", programs=False)) == 0
    assert capsys.readouterr().out == "  from the seed: 12 files, 34 MB, 0.2 s\n  all of it: 0.5 s\n"


def test_what_bundle_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gpulab.delivery.bundle, "bundle", lambda *words: asked.append(words) or ["3 packages"])
    assert cli.bundle(given(folder="out", wheel=None, seed=True)) == 0
    assert cli.bundle(given(folder="out", wheel="a.whl", seed=False)) == 0
    assert asked == [(tmp_path / "out", None, True), (tmp_path / "out", Path("a.whl"), False)]
    assert capsys.readouterr().out == "gpulab bundle: 3 packages. There: python3 out/install.py\n" * 2


@pytest.mark.parametrize(
    ("findings", "code", "said"),
    [
        ([(True, True), (False, False)], 0, "Everything that is needed works."),
        ([(True, False), (True, True)], 1, "1 part does not work. What to type stands below each."),
        ([(True, False), (True, False), (False, False)], 1, "2 parts do not work. What to type stands below each."),
    ],
)
def test_what_doctor_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], findings: list[tuple[bool, bool]], code: int,
    said: str,
) -> None:  # fmt: skip
    found = [SimpleNamespace(needed=needed, works=works) for needed, works in findings]
    monkeypatch.setattr(doctor, "examine", lambda: found)
    assert cli.doctor(given()) == code
    assert capsys.readouterr().out == "".join(f"{each}\n" for each in found) + f"\n{said}\n"


GRADE = {
    "files": [], "seconds": 60.0, "verbose": False, "trust_programs": False, "out": None, "exercises": None,
    "seed": None, "points": None, "cluster": "", "workers": 0, "gradebook": None, "require_jail": "none",
    "progress": None, "no_resume": False,
}  # fmt: skip
LAB = {
    "notebook": None, "port": 8888, "ip": "localhost", "no_browser": False, "folder": None, "solutions": False,
    "stored": False,
}  # fmt: skip
SETUP = {"programs": False, "seed": None, "make_seed": None}
HIPIFY = {
    "files": ["a.cu"], "inplace": False, "output": None, "examine": False, "print_stats": False,
    "quiet_warnings": False, "launches": "cuda",
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("lab", LAB),
        ("lab a.ipynb --port 1 --ip ::1 --no-browser --folder f --solutions --stored",
         LAB | {"notebook": "a.ipynb", "port": 1, "ip": "::1", "no_browser": True, "folder": "f", "solutions": True,
                "stored": True}),
        ("setup", SETUP),
        ("setup --programs --seed f --make-seed g", {"programs": True, "seed": "f", "make_seed": "g"}),
        ("bundle f", {"folder": "f", "wheel": None, "seed": False}),
        ("bundle f --wheel w --seed", {"folder": "f", "wheel": "w", "seed": True}),
        ("doctor", {}),
        ("devices", {}),
        ("counters", {"text": "", "arch": None, "formulas": False}),
        ("counters LDS --arch gfx1100 --formulas", {"text": "LDS", "arch": "gfx1100", "formulas": True}),
        ("isa", {"name": "", "grep": None, "arch": None}),
        ("isa v --grep t --arch a", {"name": "v", "grep": "t", "arch": "a"}),
        ("run a.ipynb b.ipynb", {"notebooks": ["a.ipynb", "b.ipynb"], "arch": None, "output": None, "timeout": 600.0}),
        ("run a.ipynb --arch a -o f --timeout 1.5",
         {"notebooks": ["a.ipynb"], "arch": "a", "output": "f", "timeout": 1.5}),
        ("grade f", GRADE | {"what": "f"}),
        ("grade e a.hip --seconds 5 -v --trust-programs --out f",
         GRADE | {"what": "e", "files": ["a.hip"], "seconds": 5.0, "verbose": True, "trust_programs": True,
                  "out": "f"}),
        ("report f", {"out": "f", "hide_names": False}),
        ("progress", {"export": None}),
        ("progress --export f", {"export": "f"}),
        ("hipify a.cu", HIPIFY),
        ("hipcc a.hip -o a", {"words": ["a.hip", "-o", "a"]}),
        ("env make -j", {"words": ["make", "-j"]}),
    ],
)  # fmt: skip
def test_options_of_each_command(words: str, expected: dict[str, Any]) -> None:
    found = vars(cli.parser().parse_args(words.split()))
    assert found.pop("function") is getattr(cli, words.split()[0])
    assert found == expected


def test_there_is_no_command_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["bundle"], ["run"], ["grade"], ["report"], ["hipify"], ["nothing"]):
        with pytest.raises(SystemExit, match="2"):
            cli.parser().parse_args(words)
    capsys.readouterr()
    assert set(cli.parser().parse_args(["isa"]).__dict__) == {"function", "name", "grep", "arch"}


@pytest.mark.parametrize(("names", "said"), [("rocm virtual", "ROCm's own is used"), ("virtual toy", "virtual, toy")])
def test_steps_of_setup(monkeypatch: pytest.MonkeyPatch, names: str, said: str) -> None:
    """What each builds, in their order; a kernel that gives wrong numbers is told."""
    from gpulab import architectures, toolchain
    from gpulab.providers import registry

    compiled: list[str] = []
    steps = dict(cli.setup_steps())
    what = [f"the compiler and the device headers for {arch}" for arch in architectures.defaults()]
    first, last = "the HIP library (the first time it builds a C library)", "a first kernel on each device"
    assert list(steps) == [first, *what, last]
    assert list(dict(cli.setup_steps(True))) == [*steps, "the C++ library for whole programs"]
    with monkeypatch.context() as patch:
        patch.setattr(registry._registry, "all", lambda: [SimpleNamespace(name=name) for name in names.split()])
        assert steps[first]() == said
    with monkeypatch.context() as patch:
        patch.setattr(toolchain, "compile", lambda text, arch, name: compiled.append((arch, name, "sqrtf" in text)))
        assert [steps[name]() for name in what] == [""] * len(what)
    assert compiled == [(arch, "setup.hip", True) for arch in architectures.defaults()]
    ran: list[Any] = []

    class Kernel:
        def __getitem__(self, sizes: tuple[int, int]) -> Any:
            return lambda factor, x, y: ran.append((sizes, factor, x.shape, y.shape))

    monkeypatch.setattr(gpulab, "compile", lambda text, name: {"first": Kernel()})
    with pytest.raises(GpulabError, match=r"^a kernel gave a wrong result on AMD Instinct MI300X \(virtual\)\."):
        steps[last]()
    assert ran == [((1, 256), 4.0, (256,), (256,))]


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"gpulab {version('gpulab')}\n")


def test_an_architecture_of_isa_is_one_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["isa", "--grep", "carry", "--arch", "gfx1"]) == 1
    assert "There is no virtual GPU of architecture 'gfx1'" in capsys.readouterr().err
    assert cli.main(["isa", "v_add_f32", "--arch", "gfx942"]) == 1
    assert "--arch goes with --grep" in capsys.readouterr().err


def test_isa_needs_a_name_or_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["isa"]) == 1
    assert capsys.readouterr() == (
        "", "gpulab: gpulab isa needs the name of an instruction, or --grep TEXT.\n"
        "Try: gpulab isa v_add_f32, for example.\n",
    )  # fmt: skip
    assert cli.main(["isa", "v_add_f32"]) == 0
    assert "dst = a + b" in capsys.readouterr().out
    assert cli.main(["isa", "--grep", "carry out", "--arch", "gfx942"]) == 0
    said = capsys.readouterr().out
    assert "v_addc_co_u32" in said
    assert "v_add_co_ci_u32" not in said
    assert cli.main(["isa", "--grep", "carry out"]) == 0
    assert "v_add_co_ci_u32" in capsys.readouterr().out
    assert cli.main(["isa", "v_ad_f32"]) == 1
    assert "is it" in capsys.readouterr().err


def test_commands_of_a_class_go_to_their_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, code in (("grade_folder", 11), ("grade_files", 12), ("report", 13)):
        monkeypatch.setattr(gpulab.classroom.command, name, lambda asked, code=code: code)
    assert cli.grade(given(files=[])) == 11
    assert cli.grade(given(files=["a"])) == 12
    assert cli.report(given()) == 13


def test_commands_of_programs_go_to_their_functions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpulab.porting.command, "run", lambda asked: 21)
    monkeypatch.setattr(gpulab.programs.command, "run", lambda words: 22 if words == ["--version", "-o"] else 0)
    assert cli.main(["hipify", "a.cu"]) == 21
    assert cli.main(["hipcc", "--version", "-o"]) == 22
    with pytest.raises(SystemExit, match="0"):
        cli.main(["hipcc", "--help"])
    assert "The options are hipcc's" in capsys.readouterr().out


def test_what_env_prints_and_starts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    installed: list[int] = []
    monkeypatch.setattr(gpulab.programs.installation, "install", lambda: installed.append(1))
    monkeypatch.setattr(gpulab.programs.installation, "environment", lambda: {"HIP_PATH": "/a b", "CC": "/cc"})
    assert cli.main(["env"]) == 0
    assert capsys.readouterr().out == "export HIP_PATH='/a b'\nexport CC=/cc\n"
    started: list[Any] = []

    def start(name: str, words: list[str], environment: dict[str, str]) -> None:
        started.append((name, words, environment["CC"], environment.get("KEPT")))
        raise OSError(errno.ENOENT, "No such file or directory")

    monkeypatch.setenv("KEPT", "yes")
    monkeypatch.setattr(os, "execvpe", start)
    for words in (["env", "make", "-j"], ["env", "--", "make", "-j"]):
        assert cli.main(words) == 1
        assert capsys.readouterr() == ("", "gpulab: make does not start: No such file or directory.\n")
    assert started == [("make", ["make", "-j"], "/cc", "yes")] * 2
    assert len(installed) == 3


def test_codes_of_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Any] = []
    for name, code in (("grade_files", 5), ("grade_folder", 6)):
        monkeypatch.setattr(
            gpulab.classroom.command, name, lambda found, code=code: asked.append((found.what, found.files)) or code
        )
    assert cli.main(["grade", "saxpy", "--verbose", "a.hip", "b.hip"]) == 5
    assert cli.main(["grade", "saxpy", "a.hip", "--verbose", "b.hip"]) == 5
    assert asked == [("saxpy", ["a.hip", "b.hip"])] * 2
    for words in (["grade", "saxpy", "--verbose", "a.hip", "--nothing"], ["devices", "nothing"]):
        with pytest.raises(SystemExit, match="2"):
            cli.main(words)
        assert f"unrecognized arguments: {'a.hip --nothing' if words[0] == 'grade' else 'nothing'}" in (
            capsys.readouterr().err
        )
    monkeypatch.setattr(sys, "argv", ["gpulab", "grade", "b"])
    assert cli.main() == 6
    assert asked[2] == ("b", [])


# ----------------------------------------------------------------------------------------------------- run


def test_run_says_a_line_for_each_notebook(
    clock: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def execute(path: Path, target: Path | None, timeout: float, arch: str | None) -> tuple[bool, str]:
        asked.append((path.name, target, timeout, arch, os.environ.get("OF_JUPYTER"), os.environ.get("OF_DEVICE")))
        return path.name != "b.ipynb", "" if path.name == "a.ipynb" else "cell 2"

    for name in ("a.ipynb", "b.ipynb"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "execute", execute)
    monkeypatch.setattr(cli, "jupyter_environment", lambda: {"OF_JUPYTER": "1"})
    monkeypatch.setattr(cli, "environment_for", lambda arch: {"OF_DEVICE": arch})
    words = {"timeout": 9.0, "output": None, "arch": None}
    assert cli.run(given(notebooks=["a.ipynb"], **words)) == 0
    assert capsys.readouterr() == ("ok      a.ipynb  0.2 s\n", "")
    words |= {"output": "deep/out", "arch": "gfx1100"}
    assert cli.run(given(notebooks=["a.ipynb", "b.ipynb"], **words)) == 1
    assert capsys.readouterr() == ("ok      a.ipynb  0.2 s\nfailed  b.ipynb  0.2 s  cell 2\n", "")
    assert asked == [
        ("a.ipynb", None, 9.0, None, "1", None),
        ("a.ipynb", Path("deep/out/a.ipynb"), 9.0, "gfx1100", "1", "gfx1100"),
        ("b.ipynb", Path("deep/out/b.ipynb"), 9.0, "gfx1100", "1", "gfx1100"),
    ]
    assert cli.run(given(notebooks=["b.ipynb", "a.ipynb"], **words)) == 1
    assert "OF_JUPYTER" not in os.environ
    capsys.readouterr()
    assert cli.run(given(notebooks=["a.ipynb", "c.ipynb", "d.ipynb"], **words)) == 2
    assert capsys.readouterr() == ("", "gpulab run: there is no c.ipynb, d.ipynb.\n")


def test_on_a_terminal_a_bar_shows_how_many_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the notebook that runs, and is taken away at the end; papermill's own bars go, too."""
    bar = Flushed(terminal=True)
    monkeypatch.setattr(sys, "stderr", bar)
    monkeypatch.setattr(cli, "jupyter_environment", dict)
    execute = cli.execute
    monkeypatch.setattr(cli, "execute", lambda *words: (True, ""))
    for name in ("a.ipynb", "b.ipynb"):
        (tmp_path / name).write_text("")
    cli.run(
        given(notebooks=[str(tmp_path / "a.ipynb"), str(tmp_path / "b.ipynb")], timeout=1.0, output=None, arch=None)
    )
    shown = [part.strip() for part in bar.getvalue().split("\r")]
    assert any(part.startswith("a.ipynb:   0%") for part in shown)
    assert any(part.startswith("b.ipynb:  50%") for part in shown)
    assert shown[-1] == ""
    asked: list[Any] = []
    monkeypatch.setattr(papermill, "execute_notebook", lambda *words, **more: asked.append(more["progress_bar"]))
    assert execute(made(tmp_path / "c.ipynb", []), None, 7.0) == (True, "1 cells")
    assert asked == [{"leave": False}]


def test_variables_are_those_before_behind_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE", "1")
    monkeypatch.delenv("TWO", raising=False)
    with contextlib.suppress(ZeroDivisionError), cli.environment({"ONE": "a", "TWO": "b"}):
        assert (os.environ["ONE"], os.environ["TWO"]) == ("a", "b")
        os.environ["THREE"] = "c"
        raise ZeroDivisionError
    assert (os.environ["ONE"], "TWO" in os.environ, "THREE" in os.environ) == ("1", False, False)


def test_variables_of_an_architecture() -> None:
    found = cli.environment_for("gfx1100")
    assert found == dict(providers.environment(providers.find("gfx1100")))
    assert type(found) is dict


def made(path: Path, *tags: list[str]) -> Path:
    cells = [nbformat.v4.new_code_cell("1", metadata={"tags": each}) for each in tags]
    nbformat.write(nbformat.v4.new_notebook(cells=[*cells, nbformat.v4.new_markdown_cell("text")]), path)
    return path


def test_how_a_notebook_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    cleaned: list[Path] = []
    monkeypatch.setattr(papermill, "execute_notebook", lambda *words, **more: asked.append((words, more)))
    monkeypatch.setattr(cli, "without_widgets", cleaned.append)
    plain, tagged = made(tmp_path / "plain.ipynb", [], []), made(tmp_path / "tagged.ipynb", ["x"], ["parameters"], [])
    settings = {
        "cwd": str(tmp_path), "kernel_name": "python3", "language": "python", "extra_arguments": ["--log-level=50"],
        "progress_bar": False, "execution_timeout": 7, "log_output": False, "store_widget_state": False,
    }  # fmt: skip
    assert cli.execute(plain, None, 7.9) == (True, "2 cells")
    assert cli.execute(plain, None, 7.0, "gfx942") == (True, "2 cells")
    assert cleaned == []
    assert cli.execute(tagged, tmp_path / "out.ipynb", 7.0, "gfx942") == (True, "3 cells")
    assert cleaned == [tmp_path / "out.ipynb"]
    assert cli.execute(tagged, None, 7.0) == (True, "3 cells")
    assert [words for words, _ in asked] == [
        (str(plain), None), (str(plain), None), (str(tagged), str(tmp_path / "out.ipynb")), (str(tagged), None),
    ]  # fmt: skip
    assert [more for _, more in asked] == [
        settings | {"parameters": None}, settings | {"parameters": None}, settings | {"parameters": {"arch": "gfx942"}},
        settings | {"parameters": None},
    ]  # fmt: skip


def error(cell: int, text: str = "no\nmore") -> papermill.PapermillExecutionError:
    return papermill.PapermillExecutionError(cell, 1, "1", "NameError", text, [])


@pytest.mark.parametrize(
    ("problem", "arch", "said"),
    [
        (error(0), None, "cell 1: NameError: no"),
        (error(2, ""), None, "cell 3: NameError: "),
        # the parameters are the second cell: papermill puts one behind it
        (error(1), "gfx942", "cell 2: NameError: no"),
        (error(3), "gfx942", "cell 3: NameError: no"),
        (error(3), None, "cell 4: NameError: no"),
        (CellTimeoutError("long"), None, "a cell took longer than 2.5 s"),
        (DeadKernelError("dead"), None, "the notebook's Python died"),
        (RuntimeError("no answer"), None, "the notebook's Python did not start: no answer"),
        (OSError("first\nsecond"), None, "cannot be run: first"),
        (ValueError("first\nsecond"), None, "cannot be run: first"),
    ],
)
def test_what_is_said_of_a_notebook_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception, arch: str | None, said: str
) -> None:
    def fail(*words: object, **more: object) -> None:
        raise problem

    monkeypatch.setattr(papermill, "execute_notebook", fail)
    assert cli.execute(made(tmp_path / "a.ipynb", [], ["parameters"], []), None, 2.5, arch) == (False, said)


@pytest.mark.parametrize(
    ("problem", "outcome", "times"),
    [
        (RuntimeError("a port"), (True, "1 cells"), 2),
        (DeadKernelError("dead"), (False, "the notebook's Python died"), 1),
    ],
)
def test_what_did_not_start_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception, outcome: tuple[bool, str], times: int
) -> None:
    tried: list[object] = []

    def first_fails(*words: object, **more: object) -> None:
        tried.append(words)
        if len(tried) == 1:
            raise problem

    monkeypatch.setattr(papermill, "execute_notebook", first_fails)
    assert cli.execute(made(tmp_path / "a.ipynb", []), None, 2.5) == outcome
    assert len(tried) == times


def test_a_file_that_is_no_notebook(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{")
    good, said = cli.execute(tmp_path / "a.ipynb", None, 1.0)
    assert not good
    assert said.startswith("cannot be run: Notebook does not appear to be JSON: ")
    good, said = cli.execute(tmp_path / "absent.ipynb", None, 1.0)
    assert (good, said) == (False, f"cannot be run: [Errno 2] No such file or directory: '{tmp_path / 'absent.ipynb'}'")


def test_json_that_is_no_notebook(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}')
    good, said = cli.execute(tmp_path / "a.ipynb", None, 1.0)
    assert (good, said) == (False, "cannot be run: The notebook is invalid and is missing an expected key: cells")


def test_folders_that_cannot_take_the_executed_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "execute", None)  # nothing runs
    monkeypatch.setattr(cli, "jupyter_environment", dict)
    for name in ("a.ipynb", "other/a.ipynb", "file"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    first, other = str(tmp_path / "a.ipynb"), str(tmp_path / "other/a.ipynb")
    for output, notebooks, said in (
        ("file", [first], "cannot be made: File exists."),
        ("out", [first, other], "several notebooks are called a.ipynb"),
        (".", [first], "a.ipynb itself would be overwritten"),
    ):
        words = {"output": str(tmp_path / output), "timeout": 9.0, "arch": None}
        assert cli.run(given(notebooks=notebooks, **words)) == 2
        assert said in capsys.readouterr().err
    assert (tmp_path / "a.ipynb").read_text() == ""


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "x"])
def test_limits_of_time_are_above_zero(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["run", "a.ipynb", "--timeout", limit], ["grade", "first-fill", "a.hip", "--seconds", limit]):
        with pytest.raises(SystemExit):
            cli.parser().parse_args(words)
        assert f"{limit} is no number of seconds above 0" in capsys.readouterr().err


def test_widgets_are_taken_out_of_outputs(tmp_path: Path) -> None:
    def output(**data: Any) -> Any:
        return nbformat.v4.new_output("display_data", {name.replace("_", "/", 1): text for name, text in data.items()})

    widget = nbformat.v4.new_output("display_data", {WIDGET: {"model_id": "1"}, "text/plain": "a"})
    cell = nbformat.v4.new_code_cell(
        "1", outputs=[widget, output(text_html=f"{STILL} picture"), output(text_html="<p>"), output(text_plain="b"),
                      nbformat.v4.new_output("stream", text="c")],
    )  # fmt: skip
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x"), cell]), tmp_path / "a.ipynb")
    cli.without_widgets(tmp_path / "a.ipynb")
    outputs = nbformat.read(tmp_path / "a.ipynb", as_version=4).cells[1].outputs
    assert [each.get("data", each.get("text")) for each in outputs] == [
        {"text/plain": "a"}, {"text/html": "<p>"}, {"text/plain": "b"}, "c",
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------------------- lab

PLACES = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
          "IPYTHONDIR": "ipython", "MPLCONFIGDIR": "matplotlib"}  # fmt: skip
NEWS = "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"


def test_where_jupyter_keeps_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PLACES, "JUPYTER_PREFER_ENV_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GPULAB_CACHE", str(tmp_path / "deep" / "cache"))
    monkeypatch.setenv("PATH", "/one")
    base = tmp_path / "deep" / "cache" / "jupyter"
    for _ in range(2):
        found = cli.jupyter_environment()
        assert {name: Path(found[name]) for name in PLACES} == {name: base / part for name, part in PLACES.items()}
        assert all((base / part).is_dir() for part in PLACES.values())
        assert found["PATH"] == f"{Path(sys.executable).parent}{os.pathsep}/one"
        assert found["JUPYTER_PREFER_ENV_PATH"] == "1"
        assert (base / "config" / NEWS).read_text() == '{"fetchNews": "false", "checkForUpdates": false}'
    assert "JUPYTER_DATA_DIR" not in os.environ
    (base / "config" / NEWS).unlink()
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "own" / "config"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    found = cli.jupyter_environment()
    assert found["JUPYTER_PREFER_ENV_PATH"] == "0"
    assert list((tmp_path / "own" / "config").iterdir()) == []
    assert not (base / "config" / NEWS).exists()
