"""How a run is told: endings, signals, what is cut; and processes that are started, stopped and left alone."""

from __future__ import annotations

import os
import queue
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gpulab import providers
from gpulab.errors import GpulabError
from gpulab.programs import program
from gpulab.programs.program import HostProgram, ProgramRun

SHELL = "/bin/sh"
posix = pytest.mark.skipif(not os.path.exists(SHELL), reason="there is no shell")


@pytest.mark.parametrize(
    ("run", "ending"),
    [
        (ProgramRun("", "", 0), ""),
        (ProgramRun("", "", 3), "exit code 3"),
        (ProgramRun("", "", -9, stopped="it took longer than 1 seconds"),
         "the program was stopped: it took longer than 1 seconds."),
        (ProgramRun("", "", -11),
         "the program was ended by signal 11 (SIGSEGV: it used memory of the host that is not its own)."),
        (ProgramRun("", "", -1), "the program was ended by signal 1 (SIGHUP)."),
        (ProgramRun("", "", -100), "the program was ended by signal 100."),
    ],
)  # fmt: skip
def test_endings(run: ProgramRun, ending: str) -> None:
    assert run.ending == ending
    assert repr(run) == (f"[{ending}]" if ending else "")


def test_a_run_as_text_and_as_html() -> None:
    run = ProgramRun("out <b>\n", "err\n", 2)
    assert repr(run) == "out <b>\nerr\n[exit code 2]"
    html = run._repr_html_()
    assert "out &lt;b&gt;" in html
    assert html.index("err") > html.index("out")
    assert html.count("#b00020") == 2
    assert "exit code 2" in html
    assert ProgramRun("  \n", "", 0)._repr_html_() == '<div class="gpulab-program"></div>'


class Pipe:
    """A pipe that gives these pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.read, write = os.pipe()
        for piece in pieces:
            os.write(write, piece)
        os.close(write)

    def fileno(self) -> int:
        return self.read


def stream(*pieces: bytes) -> tuple[str, list[tuple[str, str]]]:
    found: queue.Queue[tuple[str, str]] = queue.Queue()
    pipe = Pipe(*pieces)
    made = program._Stream(pipe, "stdout", found)  # type: ignore[arg-type]
    made.join(20)
    os.close(pipe.read)
    return made.text(), [found.get() for _ in range(found.qsize())]


def test_what_a_program_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stream(b"a\xc3\xa4\xff") == ("aä\ufffd", [("stdout", "aä\ufffd"), ("stdout", "")])
    assert stream() == ("", [("stdout", "")])
    assert stream(b"a\xc3") == ("a\ufffd", [("stdout", "a"), ("stdout", "\ufffd"), ("stdout", "")])
    monkeypatch.setattr(program, "MOST_OUTPUT", 4)
    assert stream(b"1234") == ("1234", [("stdout", "1234"), ("stdout", "")])
    cut = "\n(the rest of stdout was cut)\n"
    assert stream(b"12345") == (f"1234{cut}", [("stdout", "1234"), ("stdout", "")])


def test_of_a_flood_the_beginning_is_kept() -> None:
    """4 MiB."""
    assert program.MOST_OUTPUT == 4_194_304


def ran(tmp_path: Path, script: str, *, seconds: float = 20, **more: Any) -> tuple[ProgramRun, list[tuple[str, str]]]:
    pieces: list[tuple[str, str]] = []
    given = {"stdin": "", "output": lambda *piece: pieces.append(piece), "watch": None, **more}
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    begin = program._started([SHELL, "-c", script], {"PATH": os.environ["PATH"]}, folder)
    run = program._run(begin, given["stdin"], seconds, given["output"], given["watch"], tmp_path)
    return run, pieces


@posix
def test_a_process_that_ends(tmp_path: Path) -> None:
    run, pieces = ran(tmp_path, "cat; pwd; echo bad >&2; exit 3", stdin="giv\udcffen\n")
    assert (run.stdout, run.stderr, run.exit_code) == (f"giv\ufffden\n{tmp_path}/folder\n", "bad\n", 3)
    assert (run.stopped, run.seconds_limit_hit, run.complete) == ("", False, False)
    assert 0 < run.seconds < 20
    assert "".join(text for name, text in pieces if name == "stdout") == run.stdout
    assert "".join(text for name, text in pieces if name == "stderr") == run.stderr
    assert ("stdout", "") not in pieces
    assert not (tmp_path / "folder").exists()
    assert ran(tmp_path, "echo x", output=None)[0].stdout == "x\n"


@posix
def test_a_process_that_takes_too_long(tmp_path: Path) -> None:
    begun = time.monotonic()
    run, _ = ran(tmp_path, "echo begun; sleep 30 & sleep 30", seconds=0.5)
    assert (run.stdout, run.exit_code, run.seconds_limit_hit) == ("begun\n", -9, True)
    assert run.stopped == "it took longer than 0.5 seconds"
    assert time.monotonic() - begun < 15


@pytest.mark.full
@posix
def test_a_process_that_closes_its_outputs(tmp_path: Path) -> None:
    run, _ = ran(tmp_path, "exec >&- 2>&-; sleep 0.3; exit 4")
    assert (run.stdout, run.stderr, run.exit_code, run.stopped) == ("", "", 4, "")
    run, _ = ran(tmp_path, "exec >&- 2>&-; sleep 30", seconds=0.5)
    assert (run.exit_code, run.seconds_limit_hit) == (-9, True)


@posix
def test_what_a_process_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    begun = time.monotonic()
    run, _ = ran(tmp_path, "sleep 30 & echo done")
    assert (run.stdout, run.exit_code, run.stopped) == ("done\n", 0, "")
    assert time.monotonic() - begun < 15


@posix
def test_a_watched_process_is_stopped_with_the_reason(tmp_path: Path) -> None:
    answers = iter(["", "", "it wrote too much"])
    run, _ = ran(tmp_path, "echo begun; sleep 30", watch=lambda: next(answers))
    assert (run.stopped, run.exit_code, run.seconds_limit_hit) == ("it wrote too much", -9, False)
    assert run.stdout == "begun\n"


@posix
def test_a_program_cannot_be_started(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    with pytest.raises(OSError, match="absent"):
        program._run(program._started([str(tmp_path / "absent")], {}, tmp_path), "", 5, None, None, tmp_path)
    if before:
        assert len(os.listdir("/proc/self/fd")) <= len(before) + 4  # the ends that the process had are closed


def environment(monkeypatch: pytest.MonkeyPatch, *words: str, **options: Any) -> tuple[dict[str, str], list[Any]]:
    """The environment, and the rest, with which a run starts its process."""
    asked: list[Any] = []

    def begin(*given: Any) -> None:
        asked.extend(given)

    def run(_: None, *rest: Any) -> ProgramRun:
        asked.extend(rest)
        return ProgramRun("", "", 0)

    monkeypatch.setattr(program, "_started", begin)
    monkeypatch.setattr(program, "_forked", begin)
    monkeypatch.setattr(program, "_run", run)
    HostProgram(Path("/p/prog"), "", "prog", ("gfx942",)).run(*words, arch="gfx942", **options)
    return asked[1], [asked[0], *asked[2:]]


def test_what_a_run_hands_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPULAB_PROFILE", "1")
    monkeypatch.setenv("GPULAB_CHECKED", "1")
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.delenv("GPULAB_INSTRUCTION_LIMIT", raising=False)
    given, (command, folder, stdin, seconds, output, watch, _) = environment(monkeypatch, "a", "7")
    assert command == ["/p/prog", "a", "7"]
    assert (folder, stdin, seconds, output, watch) == (None, "", 60, None, None)
    for name in ("GPULAB_PROFILE", "GPULAB_CHECKED", "GPULAB_INSTRUCTION_LIMIT"):
        assert name not in given
    assert given["GPULAB_PYTHON"] == sys.executable
    assert given["PYTHONPATH"].split(os.pathsep)[1:] == ["/mine"]
    assert (Path(given["PYTHONPATH"].split(os.pathsep)[0]) / "gpulab" / "programs").is_dir()
    given, (_, folder, stdin, seconds, _, _, _) = environment(
        monkeypatch, profiled=True, checked=True, instruction_limit=5, folder=str(tmp_path), stdin="x", seconds=2
    )  # fmt: skip
    assert (given["GPULAB_PROFILE"], given["GPULAB_CHECKED"], given["GPULAB_INSTRUCTION_LIMIT"]) == ("1", "1", "5")
    assert (folder, stdin, seconds) == (tmp_path, "x", 2)
    monkeypatch.delenv("PYTHONPATH")
    assert os.pathsep not in environment(monkeypatch)[0]["PYTHONPATH"]


def test_the_wanted_device_is_number_0(monkeypatch: pytest.MonkeyPatch) -> None:
    built = HostProgram(Path("p"), "", "prog", ("gfx1100",))
    assert built._devices("gfx1100") == dict(providers.environment(providers.find("gfx1100")))
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    given = built._devices("gfx1100", ("gfx950", "gfx1151"))
    assert given["GPULAB_DEVICES"] == "gfx1100,gfx942,gfx950,gfx1151"
    assert given["HIP_VISIBLE_DEVICES"] == "0,1,2,3"
    with pytest.raises(GpulabError, match="prog has no code for gfx942") as raised:
        built._devices("gfx942")
    assert raised.value.why == "it was built for gfx1100."
    assert 'with arch="gfx1100"' in raised.value.hint
