"""The process that compiles and runs strangers' kernels, for a grader elsewhere: `python -m gpulab.grading.worker`.

It knows no exercise: it gets a source, the kernels that it must have, arrays and launches (wire.py), and gives back
what memory holds afterwards. `main` is a fork server: it loads everything once, and forks for each submission, before
it has seen any of them; so nothing is shared between them. The child gives up all but its own folder (`gpulab.walls`),
and before the first kernel runs also to start compilers and to write. Without fork the process serves one submission.
"""

from __future__ import annotations

import array
import contextlib
import errno
import json
import mmap
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gpulab import walls
from gpulab.grading.wire import Channel, Ended, Message, encode

if TYPE_CHECKING:
    import numpy as np

    from gpulab.grading.gpu_bench import GpuKernel
    from gpulab.records import Launch

OPEN_FILES, FILE_BYTES = 256, 256 << 20
ROOM_BYTES = 64 << 20
"""What a child must still be able to map."""
BASE = ("kernel", "arch", "device", "grid", "block", "lds_bytes", "waves", "sampled", "measured_us", "time_is_modelled",
        "host_us", "printed", "fault", "constants", "metrics")  # fmt: skip
"""Fields of a launch that are sent at once."""
LATER = ("counters", "lines", "instructions", "accesses", "time", "placement")
"""Fields of a launch that are computed and sent when the grader asks for them."""
_WARM = "__global__ void warm(int* x) { x[threadIdx.x] += 1; }"


class Service:
    """Answers the requests about one submission."""

    def __init__(self, last_step: Callable[[], None] = lambda: None) -> None:
        self._kernels: list[GpuKernel] = []
        self._launches: dict[int, tuple[Launch, ...]] = {}
        self._number = 0
        self._last_step: Callable[[], None] | None = last_step

    def serve(self, channel: Channel) -> None:
        """Until the other side closes the channel."""
        while True:
            try:
                header, arrays = channel.receive()
            except Ended:
                return
            try:
                reply, found = self._answer(header, arrays)
            except Exception as error:
                reply, found = _failure(error), []
            channel.send(reply, found)

    def _answer(self, header: dict[str, Any], arrays: list[np.ndarray]) -> Message:
        for number in header.get("forget", ()):
            self._launches.pop(number, None)
        asked = header["op"]
        if asked == "prepare":
            return self._prepare(header), []
        if asked == "run":
            return self._run(header, arrays)
        if asked == "launch":
            launch = self._launches[header["run"]][header["launch"]]
            if header["field"] == "counters":
                return {"value": encode(launch.counters.counts)}, []
            return {"value": encode(getattr(launch, header["field"]) if header["field"] in LATER else None)}, []
        kernel = self._kernels[header["kernel"]]
        answers = {"resources": lambda: kernel.resources, "isa": lambda: kernel.isa, "unset": lambda: kernel.unset}
        return {"value": encode(answers[asked]())}, []

    def _prepare(self, header: dict[str, Any]) -> dict[str, Any]:
        from gpulab.grading.case import Asked, Prototype
        from gpulab.grading.gpu_bench import GpuBench

        if self._last_step is None:
            raise OSError(errno.EPERM, "nothing is compiled after a kernel has run")
        kernels = {
            name: Prototype(
                name,
                parameters,
                tuple(tuple((bool(array), str(kind)) for array, kind in one) for one in passed),
                str(heading),
            )
            for name, (parameters, passed, heading) in header["kernels"].items()
        }
        asked = Asked(
            header["exercise"], header["name"], kernels, header["language"], tuple(map(str, header["expressions"]))
        )
        kernel = GpuBench().prepare(header["source"], asked, header["arch"], header["first_line"])
        self._kernels.append(kernel)
        return {"kernel": len(self._kernels) - 1, "wave_size": kernel.wave_size}

    def _run(self, header: dict[str, Any], arrays: list[np.ndarray]) -> Message:
        from gpulab.grading.case import Array, Buffer, Case, Step, Value

        if self._last_step is not None:
            self._last_step()
            self._last_step = None
        given = iter(arrays)
        arguments: list[Array | Value] = []
        for name, is_array in header["arguments"]:
            data = next(given)
            arguments.append(Array(name, data) if is_array else Value(name, data[0]))
        steps = tuple(
            Step(one["kernel"], tuple(one["grid"]), tuple(one["block"]), tuple(one["arguments"]), one["lds"],
                 one["cooperative"])
            for one in header["steps"]
        )  # fmt: skip
        case = Case({}, arguments=tuple(arguments), steps=steps)
        buffers = [Buffer(case.array(name), guard, number) for name, guard, number in header["buffers"]]
        kernel = self._kernels[header["kernel"]]
        wanted = {name: range(*one) if kind == "range" else one for name, (kind, one) in header["wanted"].items()}
        manner = header["checked"], wanted, header["profiled"], header["weak"]
        run = kernel.run(case, buffers, header["limit"], *manner)
        self._number += 1
        self._launches[self._number] = run.launches
        names = list(run.after)
        reply = {
            "run": self._number, "after": names, "fault": encode(run.fault), "addresses": dict(run.addresses or {}),
            "launches": [{name: encode(getattr(launch, name)) for name in BASE} for launch in run.launches],
        }  # fmt: skip
        reply["places"] = encode(run.writers.places)
        return reply, [*(run.after[name] for name in names), run.writers.rows]


def _failure(error: Exception) -> dict[str, Any]:
    """An exception as plain data: its name, the parts of its text."""
    from gpulab.errors import GpulabError

    parts = [error.what, error.why, error.hint] if isinstance(error, GpulabError) else [str(error), "", ""]
    return {"error": type(error).__name__, "parts": parts, "system": isinstance(error, OSError)}


# ---------------------------------------------------------------------------------------------- the walls of a child


def confine(folder: Path, memory_bytes: int, seconds: int) -> Callable[[], None]:
    """Give up everything that a submission does not need; the function that gives up more before kernels run.

    Raises:
        OSError: the kernel refused a step.
        MemoryError: the limit leaves no room for a thread: where one cannot start, Python waits for it without end.
    """
    for name in ("work", "cache"):
        (folder / name).mkdir(exist_ok=True)
    os.chdir(folder / "work")
    for name in ("HOME", "TMPDIR", "TMP", "TEMP"):
        os.environ[name] = str(folder / "work")
    os.environ["GPULAB_CACHE_OWN"] = str(folder / "cache")
    tempfile.tempdir = None
    _limit(memory_bytes, seconds)
    with contextlib.closing(_room()):
        pass
    if walls.available():
        return lambda: None
    from gpulab.programs import jail

    read = _needed()
    walls.give_up_privileges()
    compilers, listed = jail.without(_of_languages("read"), jail.hidden())
    walls.restrict({"run": _tools(), "read": [*read, *compilers], "list": listed, "write": [str(folder), "/dev/null"]})
    walls.install(walls.tool_filter(ties=True))

    def last_step() -> None:
        walls.restrict({"read": [*read, str(folder)]})
        walls.install(jail.first_filter())

    return last_step


def _room() -> mmap.mmap:
    try:
        return mmap.mmap(-1, ROOM_BYTES)
    except OSError:
        raise MemoryError from None


def _limit(memory_bytes: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the grader's clock still holds
        return
    processors = os.cpu_count() or 1
    for what, amount in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, seconds * processors + 5),
    ):
        hard = resource.getrlimit(what)[1]
        wanted = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some sizes
            resource.setrlimit(what, (wanted, wanted))


def _tools() -> list[str]:
    from gpulab.toolchain import compiler

    own = _of_languages("run")
    return [str(compiler.executable()), *own, *(compiler.loaders() if own else ())]


def _of_languages(kind: str) -> list[str]:
    """What the compilers of languages need beside gpulab's own."""
    from gpulab import languages
    from gpulab.languages.language import Answers

    known = [language for language in languages.members().values() if isinstance(language, Answers)]
    return [path for language in known for path in language.needs.get(kind, ())]


def _needed() -> list[str]:
    """What a child reads: Python and its packages, gpulab without the course, gpulab's own parts of the cache."""
    from gpulab import course
    from gpulab.toolchain import cache, compiler

    home = Path(__file__).resolve().parents[1]
    package = [entry.path for entry in os.scandir(home) if entry.name != "_course"]
    python = []
    for folder in dict.fromkeys(filter(os.path.isdir, map(os.path.abspath, sys.path))):
        if folder != str(home.parent) or folder.endswith(("site-packages", "dist-packages")):
            entries = (entry for entry in os.scandir(folder) if not entry.name.endswith("-packages"))
            python += [entry.path for entry in entries if entry.name not in ("gpulab", course.INSTRUCTORS, "tmp")]
    return [
        "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/lib", "/lib64", "/etc/ld.so.cache", "/proc/cpuinfo",
        "/proc/meminfo", "/sys/devices/system", "/dev/null", "/dev/urandom", *python, *package,
        str(compiler.package_folder()), *(str(cache.folder() / name) for name in cache.SHARED),
    ]  # fmt: skip


# --------------------------------------------------------------------------------------------------- the fork server


def warm() -> None:
    """Load and build all that submissions share, with a kernel that is compiled, loaded and launched."""
    import numpy as np

    from gpulab import architectures
    from gpulab.grading.case import Array, Asked, Buffer, Case, Prototype
    from gpulab.grading.gpu_bench import GpuBench

    with tempfile.TemporaryDirectory(prefix="gpulab-") as own:
        os.environ["GPULAB_CACHE_OWN"] = own
        case = Case({}, (1, 1, 1), (1, 1, 1), (Array("x", np.zeros(1, "int32")),))
        asked = Asked("warm", "warm", {"warm": Prototype("warm", "int* x", (((True, "int32"),),))})
        for arch in architectures.defaults():
            kernel = GpuBench().prepare(_WARM, asked, arch)
            buffers = [Buffer(array, 0) for array in case.arrays]
            for checked, profiled in ((True, False), (False, True)):
                run = kernel.run(case, buffers, 1000, checked, profiled=profiled)
                for launch in run.launches:
                    encode({name: getattr(launch, name) for name in LATER if name != "counters"})
            kernel.close()


def main() -> NoReturn:
    """Serve until the grader's end of the socket, which is standard input, is closed."""
    control = socket.socket(fileno=0)
    try:
        warm()
    except Exception as error:
        control.sendall(json.dumps({"error": f"{type(error).__name__}: {error}"[:4096]}).encode() + b"\n")
        os._exit(1)
    control.sendall(b"{}\n")
    child = 0
    while True:
        message, descriptors = _receive(control)
        if not message:
            _end(child)
            os._exit(0)
        asked = json.loads(message)
        if asked["op"] == "begin":
            _end(child)
            child = os.fork()
            if child == 0:
                _child(control, descriptors[0], asked)
            os.close(descriptors[0])
            reply = {"child": child}
        else:
            reply = {"status": _end(child)}
            child = 0
        control.sendall(json.dumps(reply).encode() + b"\n")


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """The next line, and the descriptors that came with it."""
    size = array.array("i").itemsize
    message, found, _, _ = control.recvmsg(1 << 16, socket.CMSG_SPACE(size))
    descriptors = array.array("i")
    for level, kind, data in found:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % size])
    return message, list(descriptors)


def _end(child: int) -> int:
    """End a child with what it has started; how it ended, as os.waitpid has it."""
    if not child:
        return 0
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)  # what has ended keeps its number, and how it ended, until it is waited for
    return os.waitpid(child, 0)[1]


def _child(control: socket.socket, descriptor: int, asked: Mapping[str, Any]) -> NoReturn:
    """One submission's process."""
    code = 1
    try:
        walls.end_with_parent()
        walls.lead_group()
        control.close()
        os.open(os.devnull, os.O_RDWR)  # takes number 0, which the socket had: standard input
        channel = Channel(descriptor, descriptor)
        try:
            step = confine(Path(asked["folder"]), asked["memory_bytes"], asked["seconds"])
        except (OSError, MemoryError) as error:
            channel.send(_failure(error))
            os._exit(1)
        channel.send({})
        Service(step).serve(channel)
        code = 0
    except BaseException:
        code = 70
    os._exit(code)


def serve_one() -> None:
    """Without fork: this process serves one submission by its standard input and output."""
    out = os.dup(1)
    os.dup2(2, 1)
    asked = json.loads(sys.argv[2])
    warm()
    step = confine(Path(asked["folder"]), asked["memory_bytes"], asked["seconds"])
    channel = Channel(0, out)
    channel.send({})
    Service(step).serve(channel)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        serve_one()
    else:
        main()
