"""A built program and its runs: `HostProgram`, `ProgramRun`."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gpulab import walls
from gpulab.errors import GpulabError
from gpulab.programs.report import Reader
from gpulab.records import Activity, Diagnostic, Fault, Launch, Transfer

if TYPE_CHECKING:
    from gpulab.programs.forks import ForkedRun
    from gpulab.views.timeline import Timeline

HOME = str(Path(__file__).resolve().parents[2])
MOST_OUTPUT = 4 << 20  # bytes of each stream that a run keeps
Output = Callable[[str, str], None]
_Begin = Callable[[IO[bytes], Reader, walls.Tie], "subprocess.Popen[bytes] | ForkedRun"]


@dataclass(frozen=True)
class HostProgram:
    """An executable file made of a HIP C++ source.

    Attributes:
        path: the file; it runs by itself from a shell.
        source: its text. name: of the file.
        archs: the device architectures that it has code for.
        warnings: what the compiler said.
    """

    path: Path
    source: str = field(repr=False)
    name: str = "program"
    archs: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = field(default=(), repr=False)

    def run(
        self,
        *args: str,
        arch: str | None = None,
        stdin: str = "",
        seconds: float = 60,
        jailed: bool = False,
        checked: bool = False,
        profiled: bool = False,
        instruction_limit: int | None = None,
        folder: str | Path | None = None,
        output: Output | None = None,
        further: Sequence[str] = (),
    ) -> ProgramRun:
        """Run the program in a process of its own and wait for it.

        Args:
            args: its arguments.
            arch: which device is number 0; by default the one in use here.
            stdin: what it reads from its standard input.
            seconds: after so long it is stopped.
            jailed: confine it (`jail`): for programs that nobody has read.
            checked: run its launches checked for races and more, as in ``with gpulab.checked()``.
            profiled: collect all counters of its launches.
            instruction_limit: of wave instructions, as gpulab.set_limit.
            folder: the working folder; by default the current one, of a jailed program an empty one.
            output: told of each piece of output as it comes: ("stdout" or "stderr", text).
            further: architectures of virtual devices that it sees behind those that are here.

        Raises:
            GpulabError: there is no jail on this system, or no such device.
        """
        with tempfile.TemporaryDirectory(prefix="gpulab-run-") as scratch:
            environment = {**os.environ, **self._devices(arch, further)}
            for name, wanted in (("GPULAB_PROFILE", profiled), ("GPULAB_CHECKED", checked)):
                environment.pop(name, None)
                if wanted:
                    environment[name] = "1"
            if instruction_limit is not None:
                environment["GPULAB_INSTRUCTION_LIMIT"] = str(instruction_limit)
            environment["GPULAB_PYTHON"] = sys.executable
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [HOME, os.environ.get("PYTHONPATH")]))
            command = [str(self.path), *map(str, args)]
            where = Path(folder) if folder is not None else None
            if not jailed:
                return _run(_started(command, environment, where), stdin, seconds, output, None, Path(scratch))
            from gpulab.programs import jail

            where = where or Path(scratch, "folder")
            where.mkdir(exist_ok=True)
            words, environment, watch = jail.prepare(command, environment, where, seconds)
            return _run(_forked(words, environment, where), stdin, seconds, output, watch, Path(scratch))

    def _devices(self, arch: str | None, further: Sequence[str] = ()) -> dict[str, str]:
        """Environment variables that make the wanted device number 0, with further virtual ones behind all others."""
        from gpulab import providers

        info = providers.find(arch if arch is not None else providers.current())
        if info.arch not in self.archs:
            raise GpulabError(
                f"{self.name} has no code for {info.arch}.",
                why=f"it was built for {', '.join(self.archs)}.",
                hint=f"build it with --offload-arch={info.arch}, or run it with arch=\"{self.archs[0]}\".",
            )  # fmt: skip
        environment = dict(providers.environment(info))
        if further and info.virtual:
            names = [*environment["GPULAB_DEVICES"].split(","), *further]
            every = ",".join(map(str, range(len(names))))
            visible = {name: every for name in environment if not name.startswith("GPULAB_")}
            environment |= {"GPULAB_DEVICES": ",".join(names), **visible}
        return environment


@dataclass(frozen=True)
class ProgramRun:
    """How a program ran.

    Attributes:
        stdout, stderr: what it wrote, at most 4 MiB of each.
        exit_code: 0 for success; negative: the signal that ended it.
        seconds_limit_hit: it was stopped because it took too long.
        faults: of its kernels. launches, activities: its records, of a virtual device.
        stopped: why it was stopped, in words, or "".
        unreturned: of `faults`, those whose code no HIP call returned.
        complete: it came to its end; else what it launched is unknown.
        seconds: how long it took.
        transfers: of a checked run: what went between host and device, and which of it kernels had stored.
    """

    stdout: str
    stderr: str
    exit_code: int
    seconds_limit_hit: bool = False
    faults: tuple[Fault, ...] = ()
    launches: tuple[Launch, ...] = ()
    activities: tuple[Activity, ...] = ()
    stopped: str = ""
    unreturned: tuple[Fault, ...] = ()
    complete: bool = True
    seconds: float = field(default=0.0, compare=False)
    transfers: tuple[Transfer, ...] = ()

    @property
    def ending(self) -> str:
        """How it ended, in a sentence; "" if well."""
        if self.stopped:
            return f"the program was stopped: {self.stopped}."
        if self.exit_code < 0:
            return f"the program was ended by signal {-self.exit_code}{_signal(-self.exit_code)}."
        return f"exit code {self.exit_code}" if self.exit_code else ""

    def timeline(self) -> Timeline:
        """What its streams did over time, as a profile's `timeline` shows it."""
        from gpulab.views.timeline import timeline

        return timeline(self.activities, self.launches)

    def __repr__(self) -> str:
        parts = [self.stdout.rstrip("\n"), self.stderr.rstrip("\n"), f"[{self.ending}]" if self.ending else ""]
        return "\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        from gpulab.views.table import preformatted

        parts = []
        for text, colour in ((self.stdout, ""), (self.stderr, "#b00020"), (self.ending, "#b00020")):
            if text.strip():
                parts.append(preformatted(text.rstrip(), colour=colour))
        return f'<div class="gpulab-program">{"".join(parts)}</div>'


def _signal(number: int) -> str:
    meanings = {
        "SIGSEGV": "it used memory of the host that is not its own",
        "SIGABRT": "it gave up: abort(), a failed assert, or an exception that nobody caught",
        "SIGFPE": "it divided an integer by zero",
        "SIGILL": "it came to an instruction that cannot be executed",
        "SIGKILL": "it was killed, perhaps because memory ran out",
        "SIGXCPU": "it used up its processor time",
        "SIGXFSZ": "it wrote a file that is too large",
        "SIGSYS": "it asked the system for something that it may not do",
        "SIGINT": "it was interrupted",
    }
    try:
        name = signal.Signals(number).name
    except ValueError:
        return ""
    return f" ({name}: {meanings[name]})" if name in meanings else f" ({name})"


class _Stream(threading.Thread):
    """Reads one output of a process to its end, keeps the first part of it, and puts pieces of text into a queue."""

    def __init__(self, pipe: IO[bytes], name: str, pieces: queue.Queue[tuple[str, str]]) -> None:
        super().__init__(daemon=True)
        self._pipe, self._stream, self._pieces = pipe, name, pieces
        self._kept = bytearray()
        self._cut = False
        self.start()

    def run(self) -> None:
        import codecs

        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            piece = os.read(self._pipe.fileno(), 1 << 16)
            room = MOST_OUTPUT - len(self._kept)
            if len(piece) > room and not self._cut:
                self._cut = True
                piece = piece[:room]
            elif self._cut and piece:
                continue
            self._kept += piece
            text = decoder.decode(piece, final=not piece)
            if text:
                self._pieces.put((self._stream, text))
            if not piece:
                self._pieces.put((self._stream, ""))
                return

    def text(self) -> str:
        cut = f"\n(the rest of {self._stream} was cut)\n" if self._cut else ""
        return self._kept.decode("utf-8", "replace") + cut


def _started(command: list[str], environment: dict[str, str], folder: Path | None) -> _Begin:
    """Starts a process."""
    return lambda stdin, report, tie: subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, start_new_session=True,
        env={**environment, "GPULAB_REPORT": report.place}, pass_fds=(*tie.descriptors, *report.descriptors),
    )  # fmt: skip


def _forked(words: list[str], environment: dict[str, str], folder: Path) -> _Begin:
    """Has the process of a jailed run forked."""
    from gpulab.programs import forks

    return lambda stdin, report, tie: forks.start(
        words, environment, folder, stdin.fileno(), report.descriptors, tie.descriptors
    )


def _run(
    begin: _Begin,
    stdin: str,
    seconds: float,
    output: Output | None,
    watch: Callable[[], str] | None,
    scratch: Path,
) -> ProgramRun:
    """Start the process, read its output, stop it in time, read its report."""
    given = scratch / "stdin"
    given.write_text(stdin, encoding="utf-8", errors="surrogateescape")
    begun = time.monotonic()
    report, tie = Reader(), walls.Tie()
    try:
        with given.open("rb") as source:
            process = begin(source, report, tie)
        report.started()
    finally:
        report.close()
    assert process.stdout is not None
    assert process.stderr is not None
    pieces: queue.Queue[tuple[str, str]] = queue.Queue()
    with process:
        streams = [_Stream(process.stdout, "stdout", pieces), _Stream(process.stderr, "stderr", pieces)]
        stopped, late, reading = "", False, len(streams)
        try:
            tie.fasten(process.pid)
            # Until both outputs are at their end and the process, too. A piece at a time is passed on.
            while reading or process.poll() is None:
                left = begun + seconds - time.monotonic()
                if left <= 0:
                    stopped, late = f"it took longer than {seconds:g} seconds", True
                    break
                if watch is not None and (stopped := watch()):
                    break
                if not reading:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(min(left, 0.1))
                    continue
                try:
                    name, text = pieces.get(timeout=min(left, 0.1))
                except queue.Empty:
                    if process.poll() is not None:
                        # Something that the program started may hold the outputs open: it ends with the program.
                        with contextlib.suppress(OSError):
                            os.killpg(process.pid, signal.SIGKILL)
                    continue
                reading -= not text
                if text and output is not None:
                    output(name, text)
        finally:
            # The whole session: what the program started ends with it.
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            tie.release()
            for stream in streams:
                stream.join(5)
    while output is not None and not pieces.empty():
        name, text = pieces.get()
        if text:
            output(name, text)
    found = report.report()
    shutil.rmtree(scratch / "folder", ignore_errors=True)
    return ProgramRun(
        streams[0].text(), streams[1].text(), code, late, found.faults, found.launches,
        found.activities, stopped, found.unreturned, found.complete, time.monotonic() - begun, found.transfers,
    )  # fmt: skip
