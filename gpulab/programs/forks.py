"""A server that has loaded what a jailed run needs, and forks for each: most of what starting a run costs is loading.

`start` is for the process that wants a run; it starts the server when the first one is wanted, and the server ends with
it. The server gets nothing of any run before it forks: no program, no checks, and of the environment only what is the
same for all runs. Of a jailed run alone, as it has an environment of gpulab's own, and a system that has jails has all
that the server needs. `main` is the server.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from gpulab import walls
from gpulab.errors import GpulabError

OF_A_RUN = ("GPULAB_JAIL", "GPULAB_REPORT", "GPULAB_PROFILE", "GPULAB_CHECKED", "GPULAB_INSTRUCTION_LIMIT",
            "GPULAB_DEVICES", "GPULAB_CACHE_OWN", "GPULAB_LARGE_BAR", "HOME", "TMPDIR")  # fmt: skip
"""What of the environment is a run's own, and is not given to the server."""
_MOST_BYTES = 1 << 16  # of what is asked
_START = "from gpulab.programs import forks; forks.main()"


# --------------------------------------------------------------------------------- the process that wants a run


class ForkedRun:
    """A run that has been started: what of subprocess.Popen is used of it, with the same meaning.

    Its number stays its own until it is left as a context, also if it has ended: the server waits for it only then.
    """

    def __init__(self, pid: int, ending: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout, self.stderr = os.fdopen(stdout, "rb"), os.fdopen(stderr, "rb")
        self._ending, self._poll = ending, select.poll()
        self._poll.register(ending, select.POLLIN)

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("the program", timeout or 0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and self._poll.poll(None if timeout is None else max(timeout, 0) * 1000):
            said = os.read(self._ending, 32)
            # A server that has died says nothing: the kernel has killed its children.
            self.returncode = int(said) if said else -signal.SIGKILL
        return self.returncode

    def __enter__(self) -> ForkedRun:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()
        os.close(self._ending)


class _Server:
    """A server and the socket to it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)
        self._lock = threading.Lock()
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        tie = walls.Tie()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START], stdin=other.fileno(), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=dict(environment) | {"OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True, pass_fds=tie.descriptors,
            )  # fmt: skip
        tie.fasten(self._process.pid)
        self._tie = tie

    def ask(self, asked: bytes, descriptors: Sequence[int]) -> int:
        """The process that the server has forked.

        Raises:
            OSError: the server has ended, or could not fork.
        """
        with self._lock:
            socket.send_fds(self._socket, [asked], list(descriptors))
            reply = json.loads(self._socket.recv(_MOST_BYTES) or b'{"error": "the server of runs has ended"}')
        if "error" in reply:
            raise OSError(reply["error"])
        return int(reply["pid"])

    def end(self) -> None:
        self._socket.close()
        self._process.wait()
        self._tie.release()


_servers: list[_Server] = []  # one at most
_choosing = threading.Lock()


def _forget() -> None:
    """After a fork: the server is the parent's."""
    global _choosing
    _choosing = threading.Lock()
    for server in _servers:
        server._socket.close()
    _servers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _server(environment: Mapping[str, str]) -> _Server:
    """The server for runs with this environment."""
    common = {name: value for name, value in environment.items() if name not in OF_A_RUN}
    with _choosing:
        if _servers and _servers[0].environment != common:
            _servers.pop().end()
        if not _servers:
            _servers.append(_Server(common))
        return _servers[0]


def _asked(environment: Mapping[str, str], asked: bytes, given: Sequence[int]) -> int:
    """What the server has forked. One that was killed is replaced."""
    server = _server(environment)
    try:
        return server.ask(asked, given)
    except OSError:
        with _choosing:
            if server in _servers:
                _servers.remove(server)
                server.end()
        return _server(environment).ask(asked, given)


def prepare(environment: Mapping[str, str]) -> None:
    """Have the server for runs with this environment load what they need, while something else is done."""
    with contextlib.suppress(OSError):  # told to the run that needs it
        _server(environment)


def start(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    stdin: int,
    report: Sequence[int],
    kept: Sequence[int] = (),
) -> ForkedRun:
    """Fork a process that leads a session of its own and calls `start.main`.

    Args:
        command: the words of `start.main`.
        environment: of the run; GPULAB_REPORT is set here.
        folder: the working folder.
        stdin: the descriptor of the file that it reads.
        report: the descriptors of report.Reader.
        kept: further ones that it holds.

    Raises:
        GpulabError: no process could be started.
    """
    asked = json.dumps({"command": list(command), "environment": dict(environment), "folder": str(folder)}).encode()
    if len(asked) > _MOST_BYTES:
        raise GpulabError(
            "the program is not run: its arguments are too long.",
            why=f"they take {len(asked):,} bytes with the environment; a jailed run may have {_MOST_BYTES:,}.",
            hint="let it read long input from its standard input.",
        )
    out, of_run = os.pipe(), os.pipe()
    ending = os.pipe()
    given = (stdin, out[1], of_run[1], ending[1], *report, *kept)
    try:
        pid = _asked(environment, asked, given)
    except OSError as error:
        for end in (out[0], of_run[0], ending[0]):
            os.close(end)
        raise GpulabError(
            "the program is not run: its process could not be started.",
            why=f"{error}.",
            hint="look whether memory and processes are left on this machine, then try again.",
        ) from error
    finally:
        for end in (out[1], of_run[1], ending[1]):
            os.close(end)
    return ForkedRun(pid, ending[0], out[0], of_run[0])


# ------------------------------------------------------------------------------------------------- the server


def load() -> None:
    """Load what runs use."""
    from gpulab.programs import jail, report, start
    from gpulab.providers.virtual import hosting

    del jail, report, start
    hosting.load()


def main() -> NoReturn:
    """Serve until the other end of the socket, which is standard input, is closed."""
    control = socket.socket(fileno=0)
    try:
        load()
    except Exception as error:
        control.send(json.dumps({"error": f"gpulab cannot be loaded: {type(error).__name__}: {error}"[:4096]}).encode())
        os._exit(1)
    running: dict[int, tuple[int, int]] = {}  # by the descriptor of the process: its number, where its end is told
    told: dict[int, int] = {}  # by where its end was told: the number of a process that has ended
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor in running:
                pid, ending = running.pop(descriptor)
                poll.unregister(descriptor)
                os.close(descriptor)
                ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
                assert ended is not None
                code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
                with contextlib.suppress(OSError):
                    os.write(ending, b"%d" % code)
                poll.register(ending, 0)  # the kernel tells when the other end is closed: nobody needs the number then
                told[ending] = pid
                continue
            if descriptor in told:
                os.waitpid(told.pop(descriptor), 0)
                poll.unregister(descriptor)
                os.close(descriptor)
                continue
            message, given, _, _ = socket.recv_fds(control, _MOST_BYTES, 16)
            if not message:
                for pid, _ in running.values():
                    with contextlib.suppress(OSError):
                        os.killpg(pid, signal.SIGKILL)
                os._exit(0)
            try:
                pid = os.fork()
            except OSError as error:
                reply: dict[str, object] = {"error": str(error)}
            else:
                if pid == 0:
                    _child(json.loads(message), given)
                watched = os.pidfd_open(pid)
                running[watched] = pid, os.dup(given[3])
                poll.register(watched, select.POLLIN)
                reply = {"pid": pid}
            for each in given:
                os.close(each)
            control.send(json.dumps(reply).encode())


def _child(asked: Mapping[str, object], given: Sequence[int]) -> NoReturn:
    """The process of a run."""
    try:
        walls.end_with_parent()
        os.setsid()
        for number, descriptor in enumerate(given[:3]):
            os.dup2(descriptor, number)
        kept = sorted(given[4:])
        for first, last in zip([2, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
            os.closerange(first + 1, last)
        for each in kept:
            os.set_inheritable(each, True)
        os.environ.clear()
        os.environ.update({**asked["environment"], "GPULAB_REPORT": f"{given[4]},{given[5]}"})  # type: ignore[dict-item]
        os.chdir(str(asked["folder"]))
        from gpulab.programs import start as program

        program.main(asked["command"])  # type: ignore[arg-type]
    except BaseException:
        traceback.print_exc()
    os._exit(1)
