"""The bench whose kernels are compiled and run in another process (worker.py): `Worker`, `Session`, `RemoteBench`.

A `Worker` is started once and kept; each submission gets a `Session`, which is a process of its own, forked where the
system has fork. What comes back is plain data, and checked: an array has the length and type of the one that was sent,
a record has its own fields. What a kernel does to its process ends the session, and raises `Stopped`; what this system
fails to do raises `NotJudged`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpulab import cores, errors, walls
from gpulab.grading.bench import WrongSignature
from gpulab.grading.case import Array, Asked, Buffer, Case, Run, Writers
from gpulab.grading.wire import BadMessage, Channel, Ended, Late, Message, decode
from gpulab.grading.worker import BASE
from gpulab.records import (
    AccessCost,
    Counters,
    Fault,
    InstructionCost,
    Later,
    Launch,
    LineCost,
    ModelledTime,
    Placement,
    SourceLine,
)

if TYPE_CHECKING:
    from gpulab.module import Resources

STARTING = 300.0
"""Seconds that a worker may take to start: the first one ever builds what submissions share."""
FORKS = sys.platform.startswith("linux")
"""Whether submissions' processes are forked. Elsewhere it does not exist, or not for processes with much loaded."""
_PREFIX = "gpulab-grader-"
_TYPES: dict[str, Any] = {
    "fault": Fault | None, "counters": Mapping[str, int], "lines": tuple[LineCost, ...],
    "instructions": tuple[InstructionCost, ...], "accesses": tuple[AccessCost, ...], "time": ModelledTime | None,
    "placement": Placement | None, "kernel": str, "arch": str, "device": int, "grid": tuple[int, int, int],
    "block": tuple[int, int, int], "lds_bytes": int, "waves": int, "sampled": tuple[int, int] | None,
    "measured_us": float, "time_is_modelled": bool, "host_us": float, "printed": str, "constants": Mapping[str, int],
    "metrics": Mapping[str, float],
}  # fmt: skip
_ERRORS: Mapping[str, type[errors.GpulabError]] = {
    kind.__name__: kind
    for kind in (errors.CompileError, errors.UnsupportedInstruction, errors.AssemblyError, errors.DeviceMemoryError)
}
_MOST_TEXT = 1 << 20


class Stopped(Exception):
    """A submission's process was stopped or ended by itself. The text is the reason, for the report."""


class NotJudged(Exception):
    """A part of this system failed. The text is the reason, for the report."""


class Worker:
    """A process that is ready for submissions, and the folder for what they leave."""

    def __init__(self) -> None:
        _remove_left()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        (self.folder / "owner").write_text(f"{os.getpid()} {socket.gethostname()}", encoding="utf-8")
        self._sessions = 0
        self._tie = walls.Tie()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        try:
            if FORKS:
                self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        from gpulab.toolchain import cache

        cache.folder().mkdir(parents=True, exist_ok=True)
        started = walls.wrapped(command(), (str(self.folder), str(cache.folder())))
        ours, theirs = socket.socketpair()
        with theirs, (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                started, stdin=theirs.fileno(), stdout=log, stderr=log, cwd=self.folder,
                env=environment(self.folder), pass_fds=self._tie.descriptors, process_group=self._tie.process_group,
            )  # fmt: skip
        self._tie.fasten(self._process.pid)
        self._control = ours
        self._answer(STARTING)

    def _answer(self, seconds: float) -> dict[str, Any]:
        assert self._control is not None
        self._control.settimeout(seconds)
        try:
            line = self._control.recv(1 << 16)
        except OSError as error:
            raise NotJudged(f"the worker does not answer ({error})") from error
        if not line:
            said = (self.folder / "log").read_text("utf-8", "replace").strip().splitlines()[-1:]
            raise NotJudged(f"the worker does not start: {said[0] if said else 'it said nothing'}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise NotJudged(f"the worker does not start: {answer['error']}")
        return answer

    @property
    def alive(self) -> bool:
        """Whether it still takes submissions."""
        return self._control is None or (self._process is not None and self._process.poll() is None)

    def session(self, seconds: float, memory_bytes: int) -> Session:
        """A process for one submission, which may take so long from now on, and so many bytes of addresses.

        Raises:
            Stopped: the limits are too small to begin. NotJudged: it cannot be started.
        """
        until = time.monotonic() + seconds
        self._sessions += 1
        folder = self.folder / str(self._sessions)
        folder.mkdir()
        asked = {
            "op": "begin", "folder": str(folder), "memory_bytes": memory_bytes, "seconds": max(int(seconds) + 1, 1),
        }  # fmt: skip
        if self._control is None:
            process = subprocess.Popen(
                [*command(), "--one", json.dumps(asked)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, cwd=folder, env=environment(folder),
            )  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            channel = Channel(process.stdout.fileno(), process.stdin.fileno())
            late = threading.Timer(max(until - time.monotonic(), 0), process.kill)
            late.daemon = True
            late.start()

            def finish() -> int:
                late.cancel()
                return _finish(process)

            return Session(channel, until, seconds, folder, finish)
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [json.dumps(asked).encode()], [theirs.fileno()])
        self._answer(30)

        def end() -> int:
            assert self._control is not None
            ours.close()
            self._control.sendall(b'{"op": "end"}')
            return os.waitstatus_to_exitcode(int(self._answer(30)["status"]))

        return Session(Channel(ours.fileno(), ours.fileno()), until, seconds, folder, end)

    def close(self) -> None:
        """End the process, and remove the folder."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._tie.release()
        shutil.rmtree(self.folder, ignore_errors=True)


def command() -> list[str]:
    """The command that starts a worker."""
    return [sys.executable, "-P", "-m", "gpulab.grading.worker"]


def environment(folder: Path) -> dict[str, str]:
    """The environment of a worker: nothing of the user's but gpulab's own settings."""
    from gpulab.toolchain import cache

    home = Path(__file__).resolve().parents[2]
    kept = ("GPULAB_DEVICES", "GPULAB_LANES", "SYSTEMROOT", "LD_LIBRARY_PATH")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PATH": "/usr/bin:/bin" if os.name != "nt" else os.environ.get("PATH", ""),
        "PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "PYTHONUTF8": "1",
        "HOME": str(folder), "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder), "LANG": "C.UTF-8",
        "GPULAB_CACHE": str(cache.folder()), "GPULAB_LIBRARY": "virtual", "GPULAB_BINDING": "ctypes",
        cores.SETTING: "1",
        # A process that has threads cannot be forked.
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    }  # fmt: skip


def _finish(process: subprocess.Popen[bytes]) -> int:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        return process.wait(0.5)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _remove_left() -> None:
    """Remove the folders of graders that ended without doing it."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            process, _, host = (folder / "owner").read_text(encoding="utf-8").partition(" ")
            if host == socket.gethostname() and not _is_running(int(process)):  # containers may share the folder
                shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    if os.name == "nt":
        return True  # os.kill would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


class Session:
    """One submission's process: requests and answers until a moment."""

    def __init__(self, channel: Channel, until: float, seconds: float, folder: Path, end: Any) -> None:
        self._channel, self._until, self._seconds, self._folder, self._end = channel, until, seconds, folder, end
        self._open = True
        self.forgotten: list[int] = []
        self.failure: Exception | None = None
        header, _ = self._receive()
        if "error" in header:
            self.close()
            if header["error"] == "MemoryError":
                raise Stopped("the limit on memory is too small to begin")
            raise NotJudged(f"the walls around a submission cannot be raised: {_text(header['parts'][0])}")

    def ask(self, header: Mapping[str, Any], arrays: Sequence[Any] = ()) -> Message:
        """The answer to a request.

        Raises:
            Stopped: there is none; GpulabError, WrongSignature: what the worker says of the source; NotJudged.
        """
        forgotten = self.forgotten[:]
        del self.forgotten[: len(forgotten)]  # the same list: tokens know it
        try:
            self._channel.send({**header, "forget": forgotten}, arrays)
        except Ended:
            self.failure = self._ended()
            raise self.failure from None
        answer, found = self._receive()
        if "error" in answer:
            raise _error(answer)
        return answer, found

    def _receive(self) -> Message:
        try:
            return self._channel.receive(self._until)
        except Late:
            self.close()
            self.failure = self._late()
        except Ended:
            self.failure = self._ended()
        except BadMessage as error:
            self.failure = Stopped(f"its process sent what is no answer ({error}) and was stopped")
            self.close()
        raise self.failure

    def _late(self) -> Exception:
        return Stopped(f"it took longer than {self._seconds:g} seconds and was stopped")

    def _ended(self) -> Exception:
        code = self.close()
        if time.monotonic() >= self._until:
            return self._late()
        how = f"exit code {code}"
        if code < 0:
            how = f"signal {-code}"
            with contextlib.suppress(ValueError):
                how = signal.Signals(-code).name
        return Stopped(f"its process ended without a verdict ({how})")

    def close(self) -> int:
        """End the process and remove its folder; how it ended, as subprocess has it."""
        if not self._open:
            return 0
        self._open = False
        try:
            return int(self._end())
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


def _error(answer: Mapping[str, Any]) -> Exception:
    """What a worker's failure means here."""
    try:
        name, parts = str(answer["error"]), [_text(part) for part in answer["parts"]]
        what, why, hint = parts
    except (TypeError, KeyError, ValueError):
        return Stopped("its process sent what is no answer")
    if name == "WrongSignature":
        return WrongSignature(what)
    if name in _ERRORS:
        return _ERRORS[name](what, why=why, hint=hint)
    if name == "MemoryError":
        return Stopped("it needs more memory than it may have")
    return NotJudged(f"{name}: {what}" if what else name)


def _text(value: object) -> str:
    """A text of a worker's, without characters that steer a terminal."""
    if not isinstance(value, str):
        raise TypeError("no text")
    kept = (c if c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160) else "�" for c in value[:_MOST_TEXT])
    return "".join(kept)


class _Token:
    """Stands for the records of a run that the worker keeps; when nobody needs them any more, it forgets them."""

    def __init__(self, session: Session, number: int) -> None:
        self.session, self.number = session, number
        weakref.finalize(self, session.forgotten.append, number)


class RemoteBench:
    """Compiles and runs in a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def prepare(self, source: str, asked: Asked, arch: str, first_line: int = 1) -> RemoteKernel:
        """Raises CompileError, WrongSignature, UnsupportedInstruction, Stopped, NotJudged."""
        kernels = {name: [one.parameters, one.passed, one.heading] for name, one in asked.kernels.items()}
        answer, _ = self._session.ask(
            {"op": "prepare", "source": source, "exercise": asked.exercise, "name": asked.kernel, "kernels": kernels,
             "arch": arch, "first_line": first_line, "language": asked.language, "expressions": asked.expressions}
        )  # fmt: skip
        try:
            number, wave_size = decode(int, answer["kernel"]), decode(int, answer["wave_size"])
        except (KeyError, BadMessage) as error:
            raise Stopped(f"its process sent what is no answer ({error})") from error
        return RemoteKernel(self._session, number, asked.kernel, arch, wave_size)


class RemoteKernel:
    """The kernels of one source in the session's process."""

    def __init__(self, session: Session, number: int, kernel: str, arch: str, wave_size: int) -> None:
        self._session, self._number, self._kernel = session, number, kernel
        self.arch, self.wave_size = arch, wave_size

    def close(self) -> None:
        """The session's end frees all."""

    @cached_property
    def resources(self) -> Mapping[str, Resources]:
        """Registers, LDS and scratch of each kernel, by its name."""
        from gpulab.module import Resources

        answer, _ = self._session.ask({"op": "resources", "kernel": self._number})
        found: Mapping[str, Resources] = _decoded(Mapping[str, Resources], answer.get("value"))
        return found

    @cached_property
    def isa(self) -> Mapping[str, tuple[str, ...]]:
        """The instructions of each kernel as text, by its name."""
        answer, _ = self._session.ask({"op": "isa", "kernel": self._number})
        found: Mapping[str, tuple[str, ...]] = _decoded(Mapping[str, tuple[str, ...]], answer.get("value"))
        return found

    @cached_property
    def unset(self) -> tuple[str, ...]:
        """What the compiler says of variables that are used before they have a value."""
        answer, _ = self._session.ask({"op": "unset", "kernel": self._number})
        found: tuple[str, ...] = _decoded(tuple[str, ...], answer.get("value"))
        return found

    def run(
        self,
        case: Case,
        buffers: Sequence[Buffer],
        limit: int,
        checked: bool = False,
        wanted: Mapping[str, Sequence[int]] | None = None,
        profiled: bool = False,
        weak: int | None = None,
    ) -> Run:
        """See `GpuKernel.run`. Expected values stay here."""
        import numpy as np

        steps = [
            {"kernel": step.kernel, "grid": step.grid, "block": step.block, "arguments": step.arguments,
             "lds": step.lds, "cooperative": step.cooperative}
            for step in case.launches(self._kernel)
        ]  # fmt: skip
        answer, arrays = self._session.ask(
            {
                "op": "run", "kernel": self._number, "steps": steps, "limit": limit, "checked": checked,
                "arguments": [[one.name, isinstance(one, Array)] for one in case.arguments],
                "buffers": [[one.array.name, one.guard, one.number] for one in buffers],
                "wanted": {
                    name: ["range", [one.start, one.stop, one.step]] if isinstance(one, range) else ["list", list(one)]
                    for name, one in (wanted or {}).items()
                },
                "profiled": profiled, "weak": weak,
            },
            [one.data if isinstance(one, Array) else np.asarray([one.value]) for one in case.arguments],
        )  # fmt: skip
        try:
            return self._run(answer, arrays, buffers)
        except (BadMessage, KeyError, TypeError, ValueError) as error:
            raise Stopped(f"its process sent what is no answer ({type(error).__name__}: {error})") from error

    def _run(self, answer: Mapping[str, Any], arrays: Sequence[Any], buffers: Sequence[Buffer]) -> Run:
        *arrays, rows = arrays
        after = dict(zip(decode(tuple[str, ...], answer["after"]), arrays, strict=True))
        wanted = {one.array.name: one.contents for one in buffers}
        if set(after) != set(wanted) or any(
            array.dtype != wanted[name].dtype or array.shape != wanted[name].shape for name, array in after.items()
        ):
            raise BadMessage("other arrays than were sent")
        token = _Token(self._session, decode(int, answer["run"]))
        launches = tuple(self._launch(token, place, one) for place, one in enumerate(answer["launches"]))
        writers = _writers(answer["places"], rows)
        addresses = decode(Mapping[str, int], answer["addresses"])
        return Run(after, decode(Fault | None, answer["fault"]), launches, addresses, writers)

    def _launch(self, token: _Token, place: int, given: Mapping[str, Any]) -> Launch:
        """A launch's record, of which the large parts are asked for when they are read."""

        def later(field: str) -> Later[Any]:
            def fetch() -> Any:
                asked = {"op": "launch", "run": token.number, "launch": place, "field": field}
                answer, _ = token.session.ask(asked)
                return _decoded(_TYPES[field], answer.get("value"))

            return Later(fetch)

        base = {name: decode(_TYPES[name], given[name]) for name in BASE}
        return Launch(
            **base, counters=Counters(later("counters")), lines=later("lines"), instructions=later("instructions"),
            accesses=later("accesses"), timing=later("time") if base["time_is_modelled"] else None,
            placed=later("placement"),
        )  # fmt: skip


def _writers(listed: Any, rows: Any) -> Writers:
    """Who wrote, of the table that a worker sent. Raises BadMessage."""
    places = decode(tuple[tuple[str, SourceLine | None, str, str], ...], listed)
    if str(rows.dtype) != "int64" or rows.size % Writers.COLUMNS:
        raise BadMessage("no table of writers")
    table = rows.reshape(-1, Writers.COLUMNS)
    if table.size and not (table[:, 0].min() >= 0 and table[:, 0].max() < len(places)):
        raise BadMessage("a place that is not listed")
    return Writers(places, table)


def _decoded(kind: Any, value: Any) -> Any:
    try:
        return decode(kind, value)
    except BadMessage as error:
        raise Stopped(f"its process sent what is no answer ({error})") from error
