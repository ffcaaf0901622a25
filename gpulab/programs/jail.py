"""Running programs that nobody has read: what a jailed process may do, and how it gives up everything else.

`available()` says whether this system has what it takes: Linux with Landlock and seccomp. `prepare` makes what a jailed
run gets, `enter` is the first thing that its process does and `close` the last before the program is loaded.
What is forbidden stays so for all threads and whatever the program does, for it is the kernel that refuses:

- Files: reading the system, Python's environment, gpulab and what of its cache a run needs; writing in the run's own
  folder, which is limited in size. Everything else is refused (Landlock).
- No network, no new processes, no signals to others (nor by way of a file's owner), no tracing, mounting and the like
  (seccomp): such a call ends the program with SIGSYS. Modes, owners and attributes of files cannot be changed.
- Limits on memory, processor time, open files and the size of files.

The virtual GPU works inside the program's process, so what that reports is as trustworthy as the program: it is read as
plain data (report.py).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gpulab import course, walls
from gpulab.errors import GpulabError
from gpulab.walls import available as available

MEMORY_BYTES = 2 << 30  # beside what the virtual GPU itself takes, device memory included
FILE_BYTES = 128 << 20  # of one file
FOLDER_BYTES = 64 << 20  # of all files of a run
FOLDER_ENTRIES = 4096
OPEN_FILES = 256


# ------------------------------------------------------------------------------------- outside: what it gets


def prepare(
    command: list[str], environment: Mapping[str, str], folder: Path, seconds: float
) -> tuple[list[str], dict[str, str], Callable[[], str]]:
    """The words of start.main and the environment of a jailed run, and what says why to stop it ("" if not).

    Args:
        command: the program's file and its arguments.
        environment: of the run; only gpulab's own variables are kept.
        folder: where the program may write.
        seconds: of the run.

    Raises:
        GpulabError: there is no jail on this system.
    """
    why = available()
    if why:
        raise GpulabError(
            "the program is not run: it cannot be jailed here.",
            why=f"its host code is native code, which may do whatever you may do. {why[0].upper()}{why[1:]}.",
            hint="run it unjailed only if you have read it, or grade on a Linux machine.",
        )
    from gpulab.providers.virtual import hosting
    from gpulab.toolchain import cache

    hosting.prepare()
    store = cache.folder()
    home = Path(__file__).resolve().parents[1]
    read = [
        "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
        "/sys/devices/system", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random",
        *_without_tmp(sys.prefix), *_without_tmp(sys.base_prefix),
        os.path.dirname(os.path.realpath(sys.executable)), str(home),
        str(Path(command[0]).absolute().parent),
        *(str(store / name) for name in cache.SHARED),
        *filter(None, environment.get("GPULAB_LIBRARIES", "").split(os.pathsep)),
        *(path for path in sys.path if path.rstrip("/").endswith(("site-packages", "dist-packages"))),
    ]  # fmt: skip
    read, listed = without(read, hidden())
    kept = {
        **_kept(environment), "GPULAB_CACHE_OWN": str(folder.parent / "cache"),
        "HOME": str(folder), "TMPDIR": str(folder),
        "GPULAB_JAIL": json.dumps(
            {
                "read": read, "list": [str(home.parent), *listed], "write": [str(folder), "/dev/null"],
                "seconds": seconds,
            }
        ),
    }  # fmt: skip
    return [command[0], *command], kept, lambda: _too_much(folder)


def ready() -> None:
    """Have what runs need loaded in the background, if there are jails: a first run then waits less for it."""
    from gpulab.programs import forks

    if not available():
        forks.prepare(_kept(os.environ))


def _kept(environment: Mapping[str, str]) -> dict[str, str]:
    """What of an environment a jailed run has, and what is the same for all runs."""
    from gpulab.toolchain import cache

    kept = {
        name: value
        for name, value in environment.items()
        if name in ("PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")
        or (name.startswith("GPULAB_") and name not in ("GPULAB_PYTHON", "GPULAB_PROGRESS", "GPULAB_COURSE"))
    }
    return kept | {
        "GPULAB_CACHE": str(cache.folder()), "GPULAB_LIBRARY": "virtual", "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }  # fmt: skip


def hidden() -> list[Path]:
    """Folders beside gpulab that no program may read: the definitions and the answers of exercises, where installed."""
    return [path for path in (course.PACKAGE / "_course", course.PACKAGE.parent / course.INSTRUCTORS) if path.exists()]


def without(paths: Sequence[str], hidden: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Paths that hold all that `paths` hold but the hidden folders; and the folders above these, to be listed.

    What is listed is so with all below it: names can be seen everywhere, contents cannot.
    """
    secret = [os.path.realpath(path) for path in hidden]
    found: list[str] = []
    listed: list[str] = []
    todo = list(paths)
    while todo:
        path = todo.pop(0)
        real = os.path.realpath(path)
        if any(each == real or real.startswith(each + os.sep) for each in secret):
            continue
        if any(each.startswith(real.rstrip(os.sep) + os.sep) for each in secret):
            if real not in listed:
                listed.append(real)
                with contextlib.suppress(OSError):
                    todo += sorted(entry.path for entry in os.scandir(real))
        else:
            found.append(path)
    return found, listed


def _without_tmp(prefix: str) -> list[str]:
    """What lies in Python's environment, but for its folder for temporary files (`make lab` has one there)."""
    try:
        return [entry.path for entry in os.scandir(prefix) if entry.name != "tmp"]
    except OSError:
        return []


def _too_much(folder: Path) -> str:
    """What is too large of what a program has written."""
    total = entries = 0
    for place, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        if entries > FOLDER_ENTRIES:
            return f"it made more than {FOLDER_ENTRIES:,} files"
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    if total > FOLDER_BYTES:
        return f"it wrote more than {FOLDER_BYTES >> 20} MiB into files"
    return ""


# -------------------------------------------------------------------------------------- inside: giving up


def enter(description: str) -> None:
    """Give up everything that `prepare` has not listed. For the process's only thread: later ones inherit it.

    Raises:
        OSError: the kernel refused a step; then nothing may be run.
    """
    import resource

    asked = json.loads(description)
    if len(os.listdir("/proc/self/task")) != 1:
        raise OSError("this process has more than one thread")
    seconds = int(asked["seconds"])
    for what, amount in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, seconds * (os.cpu_count() or 1) + 5),
    ):
        resource.setrlimit(what, (amount, amount))
    walls.give_up_privileges()
    kinds = {kind: asked[kind] for kind in walls.RIGHTS if kind in asked}
    walls.restrict({**kinds, "read": [*asked["read"], f"/proc/{os.getpid()}"]})
    walls.install(first_filter())


def close() -> None:
    """The last step before the program is loaded: a limit on the memory that it may take, which stays."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    amount = used + MEMORY_BYTES
    for limit in (soft, hard):
        if limit != resource.RLIM_INFINITY:
            amount = min(amount, limit)
    resource.setrlimit(resource.RLIMIT_AS, (amount, amount))
    walls.install(_second_filter())


def first_filter() -> bytes:
    """What a process that runs a stranger's code may not do; for the calling process."""
    return walls.program_filter()


def _second_filter() -> bytes:
    rules = walls.Filter()
    rules.on(walls.MEMFD, walls.ERROR | errno.EPERM)
    rules.on(walls.SETRLIMIT, walls.ERROR | errno.EPERM)
    # prlimit64 may ask for limits, but set none.
    rules.unless(walls.PRLIMIT, 2, walls.EQUAL, 0, walls.ERROR | errno.EPERM)
    return rules.bytes()
