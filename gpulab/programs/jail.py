"""Running programs that nobody has read: what a jailed process may do, and how it gives up everything else.

`available()` says whether this system has what it takes: Linux with Landlock and seccomp. `prepare` makes the command
of a jailed run, `enter` is the first thing that its process does and `close` the last before the program is loaded.
What is forbidden stays so for all threads and whatever the program does, for it is the kernel that refuses:

- Files: reading the system, Python's environment, gpulab and what of its cache a run needs; writing in the run's own
  folder, which is limited in size. Everything else is refused (Landlock).
- No network, no new processes, no signals to others, no tracing, mounting and the like (seccomp): such a call ends
  the program with SIGSYS. Modes, owners and attributes of files cannot be changed.
- Limits on memory, processor time, open files and the size of files.

The virtual GPU works inside the program's process, so what that reports is as trustworthy as the program: it is read as
plain data (report.py).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gpulab.errors import GpulabError

MEMORY_BYTES = 2 << 30  # beside what the virtual GPU itself takes, device memory included
FILE_BYTES = 128 << 20  # of one file
FOLDER_BYTES = 64 << 20  # of all files of a run
FOLDER_ENTRIES = 4096
OPEN_FILES = 256
_CACHED = ("virtual-rocm", "host", "code", "library", "headers", "kernels", "jit")  # of the cache folder
_OLDEST_LANDLOCK = 3  # the first that can forbid truncating a file

_PR_SET_NO_NEW_PRIVS, _PR_GET_SECCOMP = 38, 21
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all machines
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Landlock's rights on files: include/uapi/linux/landlock.h.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _REFER = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 13
_ALL = (1 << 16) - 1
_READ = _READ_FILE | _READ_DIR | _EXECUTE
_WRITE = _READ | _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL  # what a rule on a single file may hold

#: System calls by name: their numbers on x86-64 and arm64 (None: not there).
_CALLS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "socketpair": (53, 199), "execve": (59, 221), "execveat": (322, 281), "fork": (57, None),
    "vfork": (58, None), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268), "swapon": (167, 224),
    "swapoff": (168, 225), "reboot": (169, 142), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162), "quotactl": (179, 60),
    "syslog": (103, 116), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "memfd_secret": (447, 447), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "fanotify_init": (300, 262),
    "iopl": (172, None), "ioperm": (173, None), "mknod": (133, None), "mknodat": (259, 33),
}  # fmt: skip
#: Refused with EPERM: a program may try them without harm.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "personality": (135, 92), "setpriority": (141, 140),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
}  # fmt: skip
_KILL, _CLONE, _CLONE3, _TGKILL = (62, 129), (56, 220), (435, 435), (234, 131)
_SETRLIMIT, _PRLIMIT, _MEMFD = (160, 164), (302, 261), (319, 279)
_CLONE_THREAD = 0x10000

_ALLOW, _END = 0x7FFF0000, 0x80000000  # SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS
_ERROR = 0x00050000  # SECCOMP_RET_ERRNO
_LOAD, _EQUAL, _ANY_BITS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06  # BPF: ld abs, jeq, jset, jge, ret


def available() -> str:
    """Why programs cannot be jailed on this system, or ""."""
    if not sys.platform.startswith("linux"):
        return f"it takes Linux (Landlock and seccomp); this is {platform.system()}"
    if platform.machine() not in _SECCOMP:
        return f"it is made for x86-64 and arm64; this is {platform.machine()}"
    version = _landlock_version()
    if version < _OLDEST_LANDLOCK:
        found = f"has version {version}" if version > 0 else "has none, or it is switched off"
        return f"it takes Landlock of version {_OLDEST_LANDLOCK} (Linux 6.2 and later); this kernel {found}"
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) < 0:
        return "this kernel has no seccomp"
    return ""


def _landlock_version() -> int:
    return _system_call(_CREATE_RULESET, None, 0, 1)


def _system_call(number: int, *arguments: object) -> int:
    """The result, or minus the error."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(library.syscall(ctypes.c_long(number), *values))
    return -ctypes.get_errno() if result < 0 else result


# ------------------------------------------------------------------------------------- outside: the command


def prepare(
    command: list[str], environment: Mapping[str, str], folder: Path, report: Path, seconds: float
) -> tuple[list[str], dict[str, str], Callable[[], str]]:
    """The command and environment of a jailed run, and a function that says why to stop it ("" if not).

    Args:
        command: the program's file and its arguments.
        environment: of the run; only gpulab's own variables are kept.
        folder: where the program may write.
        report: the file for the process's records.
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
    kept = {
        name: value
        for name, value in environment.items()
        if name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")
        or (name.startswith("GPULAB_") and name not in ("GPULAB_PYTHON", "GPULAB_PROGRESS", "GPULAB_COURSE"))
    }
    store = cache.folder()
    home = Path(__file__).resolve().parents[1]
    read = [
        "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
        "/sys/devices/system", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random",
        *_without_tmp(sys.prefix), *_without_tmp(sys.base_prefix),
        os.path.dirname(os.path.realpath(sys.executable)), str(home),
        str(Path(command[0]).absolute().parent),
        *(str(store / name) for name in _CACHED),
        *filter(None, environment.get("GPULAB_LIBRARIES", "").split(os.pathsep)),
        *(path for path in sys.path if path.rstrip("/").endswith(("site-packages", "dist-packages"))),
    ]  # fmt: skip
    kept |= {
        "GPULAB_CACHE": str(store), "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(home.parent),
        "GPULAB_JAIL": json.dumps(
            {
                "read": read, "list": [str(home.parent)], "write": [str(folder), "/dev/null"], "append": [str(report)],
                "seconds": seconds,
            }
        ),
    }  # fmt: skip
    start = "import sys; from gpulab.programs import start; start.main(sys.argv[1:])"
    return [sys.executable, "-P", "-c", start, command[0], *command], kept, lambda: _too_much(folder, report)


def _without_tmp(prefix: str) -> list[str]:
    """What lies in Python's environment, but for its folder for temporary files (`make lab` has one there)."""
    try:
        return [entry.path for entry in os.scandir(prefix) if entry.name != "tmp"]
    except OSError:
        return []


def _too_much(folder: Path, report: Path) -> str:
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
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _restrict_files(asked)
    _install(_first_filter())


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
    _install(_second_filter())


def _restrict_files(asked: Mapping[str, list[str]]) -> None:
    version = _landlock_version()
    handled = _ALL if version >= 5 else _ALL & ~_IOCTL
    # With version 4 came rules for TCP, with 6 scopes: no signals, no abstract sockets to the outside.
    words = [handled, *([3] if version >= 4 else []), *([3] if version >= 6 else [])]
    attributes = struct.pack(f"<{len(words)}Q", *words)
    ruleset = _system_call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(-ruleset, "landlock_create_ruleset")
    rights = {"read": _READ, "list": _READ_DIR, "write": _WRITE, "append": _WRITE_FILE | _READ_FILE | _TRUNCATE}
    own = f"/proc/{os.getpid()}"
    for kind, paths in (*((kind, asked[kind]) for kind in rights), ("read", [own])):
        _allow(ruleset, paths, rights[kind] & handled)
    result = _system_call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    if result < 0:
        raise OSError(-result, "landlock_restrict_self")


def _allow(ruleset: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no permission
        try:
            here = rights if os.path.isdir(path) else rights & _ON_FILES
            rule = struct.pack("<Qi", here, place)
            result = _system_call(_ADD_RULE, ruleset, 1, rule, 0) if here else 0
            if result < 0:
                raise OSError(-result, f"landlock_add_rule {path}")
        finally:
            os.close(place)


class _Filter:
    """A BPF program over struct seccomp_data: the call's number at 0, the machine at 4, arguments (8 bytes) from 16."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int, int, int]] = []
        self._machine = platform.machine()
        self._column = list(_SECCOMP).index(self._machine)
        self._add(_LOAD, 4)
        self._add(_EQUAL, _AUDIT[self._machine], 1, 0)
        self._add(_RETURN, _END)
        self._add(_LOAD, 0)
        if self._machine == "x86_64":  # the x32 calls of the same kernel
            self._add(_AT_LEAST, 0x40000000, 0, 1)
            self._add(_RETURN, _END)

    def _add(self, code: int, value: int, true: int = 0, false: int = 0) -> None:
        self._steps.append((code, true, false, value))

    def on(self, call: tuple[int | None, int | None], action: int) -> None:
        """An action for a call."""
        number = call[self._column]
        if number is not None:
            self._add(_EQUAL, number, 0, 1)
            self._add(_RETURN, action)

    def unless(self, call: tuple[int | None, int | None], argument: int, test: int, value: int, action: int) -> None:
        """An action for a call unless its argument (its low half) passes the test."""
        number = call[self._column]
        assert number is not None
        self._add(_EQUAL, number, 0, 4)
        self._add(_LOAD, 16 + 8 * argument)
        self._add(test, value, 1, 0)
        self._add(_RETURN, action)
        self._add(_LOAD, 0)

    def bytes(self) -> bytes:
        """The program, which allows all else."""
        self._add(_RETURN, _ALLOW)
        return b"".join(struct.pack("<HBBI", *step) for step in self._steps)


def _first_filter() -> bytes:
    rules = _Filter()
    for call in _CALLS.values():
        rules.on(call, _END)
    for call in _REFUSED.values():
        rules.on(call, _ERROR | errno.EPERM)
    rules.on(_CLONE3, _ERROR | errno.ENOSYS)  # its flags are in memory; the C library then takes clone
    rules.unless(_CLONE, 0, _ANY_BITS, _CLONE_THREAD, _END)
    # Signals go to this process alone.
    rules.unless(_KILL, 0, _EQUAL, os.getpid(), _END)
    rules.unless(_TGKILL, 0, _EQUAL, os.getpid(), _END)
    return rules.bytes()


def _second_filter() -> bytes:
    rules = _Filter()
    rules.on(_MEMFD, _ERROR | errno.EPERM)
    rules.on(_SETRLIMIT, _ERROR | errno.EPERM)
    # prlimit64 may ask for limits, but set none.
    rules.unless(_PRLIMIT, 2, _EQUAL, 0, _ERROR | errno.EPERM)
    return rules.bytes()


def _install(rules: bytes) -> None:
    class SocketFilterProgram(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    program = SocketFilterProgram(len(rules) // 8, rules)
    number = _SECCOMP[platform.machine()]
    result = _system_call(number, 1, 1, ctypes.byref(program))  # SECCOMP_SET_MODE_FILTER for all threads
    if result != 0:
        raise OSError(-result if result < 0 else errno.ESRCH, "seccomp")
