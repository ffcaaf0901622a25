"""The compiler program: where it is and how one of its processes is run under limits.

`executable()` finds the Clang that the package ziglang carries; `run(arguments, ...)` runs it with limits on
time, memory and output (`Limits`) and returns `Outcome`; `version()` names it for cache keys. The program is called
directly, never through a shell. Where the system can, it stands within walls (`gpulab.walls`): it reads its own
installation, gpulab's headers and what its arguments name, writes in its folder, and reaches nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpulab import walls
from gpulab.errors import CompileError, GpulabError, InternalError

SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/proc", "/sys/devices/system")
"""What a compiler reads beside its own installation to make code for this machine of gpulab's own sources."""
KEPT_ORDER = ("-mllvm", "-disable-machine-sink", "-mllvm", "-keep-loops")
"""For each pass that makes a device's machine code. Clang 22's machine code sinking takes a load past fences and
barriers into the branch that uses it (LLVM's issue 181708): a race that the source does not have. Without it, kernels
of the tests have 0.1 to 0.5 % more instructions. Clang 22's simplification of branches lets lanes pass a loop's head
whose condition is known for them, so that a barrier or a shuffle behind the head is reached without the others (LLVM's
request 204958 mends it in a later version): heads of loops stay."""

_ROOM = 8 << 20  # bytes; more than what a compile leaves
_OWN = str(Path(__file__).parent)
_PATH = re.compile(r"(?:-[A-Za-z]*)?=?(/.+)")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one compiler process may use: seconds of wall clock, bytes of address space, bytes in one file."""

    seconds: float = 60.0
    memory_bytes: int = 3 << 30
    file_bytes: int = 256 << 20
    log_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a compiler process ended. `code` is negative when a signal ended it, as subprocess has it."""

    code: int
    log: str


@functools.cache
def package_folder() -> Path:
    """The folder of the package ziglang, which holds the compiler and its headers.

    Raises:
        GpulabError: the package is not installed.
    """
    import importlib.util

    found = importlib.util.find_spec("ziglang")
    if found is None or not found.submodule_search_locations:
        raise GpulabError(
            "gpulab found no compiler.",
            why="the Python package ziglang, which carries Clang, is not installed in this environment.",
            hint=f"{sys.executable} -m pip install ziglang, or run `make lab` again; `gpulab doctor` checks the rest.",
        )
    return Path(next(iter(found.submodule_search_locations)))


@functools.cache
def executable() -> Path:
    """The path of the compiler program.

    Raises:
        GpulabError: the package or the program in it is missing.
    """
    for name in ("zig.exe", "zig") if os.name == "nt" else ("zig", "zig.exe"):
        path = package_folder() / name
        if path.is_file():
            return path
    raise GpulabError(
        f"the package ziglang in {package_folder()} holds no compiler program.",
        why="its installation is incomplete, or it is a build for another system.",
        hint=f"{sys.executable} -m pip install --force-reinstall ziglang",
    )


def builtin_headers() -> Path:
    """The folder of Clang's own freestanding headers (stdint.h, stddef.h, ...)."""
    return package_folder() / "lib" / "include"


@functools.cache
def version() -> str:
    """The compiler's identity for cache keys: package version, file size and date of the program."""
    from importlib import metadata

    try:
        package = metadata.version("ziglang")
    except metadata.PackageNotFoundError:
        package = "unknown"
    state = executable().stat()
    return f"ziglang {package} {state.st_size} {int(state.st_mtime)}"


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a compiler process: the user's, without the variables that change what Clang reads."""
    steering = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS",
                "CLANG_CONFIG_FILE_USER_DIR", "CLANG_CONFIG_FILE_SYSTEM_DIR", "ROCM_PATH", "HIP_PATH",
                "HIP_DEVICE_LIB_PATH", "SOURCE_DATE_EPOCH", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if name not in steering}
    kept["LC_ALL"] = "C.UTF-8"
    if extra:
        kept.update(extra)
    return kept


def _confine(process: subprocess.Popen[bytes], limits: Limits) -> None:
    """Put limits on a running child. Linux has prlimit for other processes; elsewhere only time is limited."""
    try:
        import resource
    except ImportError:
        return
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is None:
        return
    cpu = max(1, int(limits.seconds) + 1)
    for what, amount in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu),
    ):
        with contextlib.suppress(OSError, ValueError):
            prlimit(process.pid, what, (amount, amount))


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Wait for a child. Popen.wait(timeout) polls with pauses of up to 50 ms, as long as a whole compile takes."""
    until = time.monotonic() + seconds
    opened = getattr(os, "pidfd_open", None)  # Linux 5.3 and later
    if opened is not None:
        with contextlib.suppress(OSError):
            descriptor = opened(process.pid)
            try:
                import select

                select.select([descriptor], [], [], seconds)
            except ValueError:  # a descriptor beyond what select takes
                pass
            finally:
                os.close(descriptor)
    pause = 0.0005
    while (code := process.poll()) is None:
        if time.monotonic() >= until:
            raise subprocess.TimeoutExpired(process.args, seconds)
        time.sleep(pause)
        pause = min(pause * 1.25, 0.004)
    return code


@functools.cache
def loaders() -> tuple[str, ...]:
    """The system's programs that load others which are not static; kept, for within walls no folder can be searched."""
    return tuple(glob.glob("/lib*/ld-*.so*"))


def _allowed(
    tool: str,
    arguments: Sequence[str],
    folder: str | os.PathLike[str] | None,
    read: Sequence[str],
    write: Sequence[str],
) -> dict[str, list[str]]:
    """What the walls let a process with these arguments reach."""
    named = [match[1] for argument in arguments if (match := _PATH.fullmatch(argument)) and os.path.exists(match[1])]
    own = [] if folder is None else [os.path.abspath(folder)]
    return {
        "run": [tool, *([] if tool == str(executable()) else loaders())],  # the compiler is static
        "read": [str(package_folder()), _OWN, "/dev/urandom", *named, *read],
        "write": [*own, *write, "/dev/null"],
    }


def _expect_room(folder: str | os.PathLike[str]) -> None:
    """A compiler has failed: see that it was not for want of room, which it would report as an error of the source.

    Raises:
        GpulabError: nothing more can be written.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, _ROOM)
            else:
                file.write(bytes(_ROOM))
                file.flush()
    except OSError as error:
        raise GpulabError(
            f"the compiler had no room for its files: {error.strerror or error}.",
            why=f"less than {_ROOM >> 20} MiB can be written in {folder}.",
            hint="make room on the disk of temporary files, or set TMPDIR to a folder on another one.",
        ) from error


def run(
    arguments: Sequence[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    limits: Limits = Limits(),
    extra_environment: Mapping[str, str] | None = None,
    stdin: str | os.PathLike[str] | None = None,
    what: str = "the compiler",
    read: Sequence[str] = (),
    write: Sequence[str] = (),
    tool: Path | None = None,
) -> Outcome:
    """Run the compiler program with these arguments and wait for it.

    Args:
        arguments: what follows the program's name.
        folder: working directory.
        limits: see `Limits`; the log is cut at `log_bytes`.
        extra_environment: variables to add.
        stdin: a file that the program reads as its standard input; by default there is none.
        what: its name in error messages.
        read: files and folders that it may read beside its installation, gpulab's headers and what arguments name.
        write: folders that it may write beside `folder`.
        tool: another program than the compiler, which stands within the same walls.

    Raises:
        CompileError: it took longer than `limits.seconds`.
        GpulabError: the program cannot be started.
    """
    with tempfile.TemporaryFile() as log, open(stdin if stdin is not None else os.devnull, "rb") as given:
        tie, path = walls.Tie(), str(tool or executable())
        places = {} if folder is None else dict.fromkeys(("TMPDIR", "TMP", "TEMP"), os.path.abspath(folder))

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [path, *arguments],
                cwd=folder,
                env=environment({**places, **(extra_environment or {})}),
                stdin=given,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=tie.descriptors,
                process_group=tie.process_group,
            )

        try:
            process = walls.confined(start, _allowed(path, arguments, folder, read, write))
        except OSError as error:
            tie.release()
            raise GpulabError(
                f"{what} could not be started: {error}.",
                why=f"{path} is missing, is not executable, or is built for another system.",
                hint="gpulab doctor",
            ) from error
        try:
            tie.fasten(process.pid)
            _confine(process, limits)
            code = _wait(process, limits.seconds)
        except subprocess.TimeoutExpired:
            walls.end_group(process)
            raise CompileError(
                f"{what} was stopped after {limits.seconds:g} seconds.",
                why="most sources compile in a fraction of a second; this one keeps the compiler busy "
                "(endless template or constexpr recursion, or very large unrolled loops), or the machine is busy.",
                hint="look for a template that instantiates itself without an end, a huge constexpr loop, or "
                "`#pragma unroll` on a long loop.",
            ) from None
        except BaseException:
            walls.end_group(process)
            raise
        finally:
            tie.release()
        if code != 0 and folder is not None:
            _expect_room(folder)
        log.seek(0)
        raw = log.read(limits.log_bytes)
        cut = bool(log.read(1))
    text = raw.decode("utf-8", "replace")
    if cut:
        text += "\n(the rest of the compiler's output was cut)\n"
    return Outcome(code, text)


def explain_death(code: int, what: str) -> InternalError | CompileError:
    """The exception for a compiler process that neither succeeded nor printed an error."""
    name = ""
    if code < 0:
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
    if name in ("SIGKILL", "SIGXCPU", "SIGXFSZ", "SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP"):
        return CompileError(
            f"{what} died ({name}).",
            why="it ran out of the time, memory or stack that it may use, or met a bug of its own.",
            hint="make the source smaller: look for endless templates, very large arrays, or very deep nesting.",
        )
    return InternalError(f"{what} failed with code {code} and gave no reason.")
