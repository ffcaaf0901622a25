"""What confines a process that handles strangers' texts: Landlock, seccomp, and a tie to the process that started it.

`available` says whether this system has what it takes: Linux with Landlock and seccomp. `restrict` gives up all files
but those listed, and `install` a `Filter`'s system calls; both hold for the calling thread, for what it starts and for
good, for it is the kernel that refuses. `confined` runs a function in a thread that has given them up: a process that
it starts stands within the walls from its first instruction, and no other thread is touched. `Tie` ends a group of
processes when this one ends, however it does.

`LEVELS` are in order of strength, and `level` says which is in force here.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

LEVELS = ("none", "limits", "landlock", "bubblewrap")
"""Nothing; limits on time, memory and files; those and Landlock with seccomp; those and namespaces by bubblewrap."""

_OLDEST_LANDLOCK = 3  # the first that can forbid truncating a file
_SCOPES = 6  # the first that keeps signals inside
_PR_SET_NO_NEW_PRIVS, _PR_GET_SECCOMP, _PR_SET_PDEATHSIG = 38, 21, 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all machines
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Landlock's rights on files: include/uapi/linux/landlock.h.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _REFER = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 13
_ALL = (1 << 16) - 1
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL  # what a rule on a single file may hold
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER
#: What a path may be listed for.
RIGHTS = {
    "read": _READ, "run": _READ | _EXECUTE, "list": _READ_DIR, "write": _WRITE,
    "append": _WRITE_FILE | _READ_FILE | _TRUNCATE,
}  # fmt: skip

Call = tuple[int | None, int | None]
#: System calls by name: their numbers on x86-64 and arm64 (None: not there).
CALLS: dict[str, Call] = {
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
REFUSED: dict[str, Call] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "personality": (135, 92), "setpriority": (141, 140),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
}  # fmt: skip
#: Calls with an argument that decides.
KILL, CLONE, CLONE3, TGKILL, TKILL = (62, 129), (56, 220), (435, 435), (234, 131), (200, 130)
SETRLIMIT, PRLIMIT, MEMFD, FCNTL, IOCTL = (160, 164), (302, 261), (319, 279), (72, 25), (16, 29)
SETPGID, SETSID = (109, 154), (112, 157)
CLONE_THREAD, CLONE_NAMESPACES = 0x10000, 0x7E020000
#: fcntl's F_SETOWN, F_SETSIG, F_SETOWN_EX: they have the kernel send signals, which no rule on kill sees.
_SENDING_FCNTL = (8, 10, 15)
#: ioctl's FIOSETOWN and SIOCSPGRP do the same; TIOCSTI and TIOCLINUX type into a terminal.
_SENDING_IOCTL = (0x8901, 0x8902, 0x5412, 0x541C)

ALLOW, END = 0x7FFF0000, 0x80000000  # SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS
ERROR = 0x00050000  # SECCOMP_RET_ERRNO
_LOAD, EQUAL, ANY_BITS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06  # BPF: ld abs, jeq, jset, jge, ret


@functools.cache
def available() -> str:
    """Why nothing can be confined on this system, or ""."""
    if not sys.platform.startswith("linux"):
        return f"it takes Linux (Landlock and seccomp); this is {platform.system()}"
    if platform.machine() not in _SECCOMP:
        return f"it is made for x86-64 and arm64; this is {platform.machine()}"
    version = landlock_version()
    if version < _OLDEST_LANDLOCK:
        found = f"has version {version}" if version > 0 else "has none, or it is switched off"
        return f"it takes Landlock of version {_OLDEST_LANDLOCK} (Linux 6.2 and later); this kernel {found}"
    if _library().prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) < 0:
        return "this kernel has no seccomp"
    refused = _refused()
    return f"this system refuses it ({refused})" if refused else ""


def _refused() -> str:
    """What the kernel says to a thread that raises the walls around itself; "" if it does."""
    said: list[str] = []

    def run() -> None:
        try:
            give_up_privileges()
            restrict({})
            install(tool_filter(), all_threads=False)
        except OSError as error:
            said.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return "".join(said)


@functools.cache
def landlock_version() -> int:
    """The version of Landlock's interface; 0 or less if there is none."""
    return _system_call(_CREATE_RULESET, None, 0, 1)


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _system_call(number: int, *arguments: object) -> int:
    """The result, or minus the error."""
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(_library().syscall(ctypes.c_long(number), *values))
    return -ctypes.get_errno() if result < 0 else result


def give_up_privileges() -> None:
    """No program that this thread starts gets more rights than it has. What `restrict` and `install` need."""
    if _library().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")


def end_with_parent() -> None:
    """Have this process killed when the thread that started it ends."""
    if sys.platform.startswith("linux"):
        _library().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)


def restrict(allowed: Mapping[str, Iterable[str]]) -> None:
    """Give up all files but those listed, by what they may be used for (`RIGHTS`); folders with all that is in them.

    Raises:
        OSError: the kernel refused a step.
    """
    version = landlock_version()
    handled = _ALL if version >= 5 else _ALL & ~_IOCTL
    # With version 4 came rules for TCP, with 6 scopes: no signals, no abstract sockets to the outside.
    words = [handled, *([3] if version >= 4 else []), *([3] if version >= _SCOPES else [])]
    attributes = struct.pack(f"<{len(words)}Q", *words)
    ruleset = _system_call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        raise OSError(-ruleset, "landlock_create_ruleset")
    try:
        for kind, paths in allowed.items():
            for path in dict.fromkeys(paths):
                _allow(ruleset, path, RIGHTS[kind] & handled)
        result = _system_call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    if result < 0:
        raise OSError(-result, "landlock_restrict_self")


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    try:
        here = rights if os.path.isdir(path) else rights & _ON_FILES
        rule = struct.pack("<Qi", here, place)
        if here and (result := _system_call(_ADD_RULE, ruleset, 1, rule, 0)) < 0:
            raise OSError(-result, f"landlock_add_rule {path}")
    finally:
        os.close(place)


class Filter:
    """A BPF program over struct seccomp_data: the call's number at 0, the machine at 4, arguments (8 bytes) from 16."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int, int, int]] = []
        self._actions: dict[int, int] = {}
        self._machine = platform.machine()
        self._column = list(_SECCOMP).index(self._machine)
        self._add(_LOAD, 4)
        self._add(EQUAL, _AUDIT[self._machine], 1, 0)
        self._add(_RETURN, END)
        self._add(_LOAD, 0)
        if self._machine == "x86_64":  # the x32 calls of the same kernel
            self._add(_AT_LEAST, 0x40000000, 0, 1)
            self._add(_RETURN, END)

    def _add(self, code: int, value: int, true: int = 0, false: int = 0) -> None:
        self._steps.append((code, true, false, value))

    def on(self, call: Call, action: int) -> None:
        """An action for a call."""
        number = call[self._column]
        if number is not None:
            self._actions[number] = action

    def unless(self, call: Call, argument: int, test: int, value: int, action: int) -> None:
        """An action for a call unless its argument (its low half) passes the test."""
        self._where(call, argument, test, value, action, False)

    def where(self, call: Call, argument: int, test: int, value: int, action: int) -> None:
        """An action for a call if its argument (its low half) passes the test."""
        self._where(call, argument, test, value, action, True)

    def _where(self, call: Call, argument: int, test: int, value: int, action: int, passes: bool) -> None:
        number = call[self._column]
        assert number is not None
        self._add(EQUAL, number, 0, 4)
        self._add(_LOAD, 16 + 8 * argument)
        self._add(test, value, 0 if passes else 1, 1 if passes else 0)
        self._add(_RETURN, action)
        self._add(_LOAD, 0)

    def refuse_sending(self) -> None:
        """Calls that have the kernel send a signal later, or type into a terminal, fail with EPERM."""
        for value in _SENDING_FCNTL:
            self.where(FCNTL, 1, EQUAL, value, ERROR | errno.EPERM)
        for value in _SENDING_IOCTL:
            self.where(IOCTL, 1, EQUAL, value, ERROR | errno.EPERM)

    def bytes(self) -> bytes:
        """The program, which allows all else."""
        steps = [*self._steps, *_tree(sorted(self._actions.items()))]
        return b"".join(struct.pack("<HBBI", *step) for step in steps)


def _tree(actions: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Steps that look for a call's number among sorted ones: each call of a process goes through them."""
    if len(actions) <= 4:
        found = []
        for number, action in actions:
            found += [(EQUAL, 0, 1, number), (_RETURN, 0, 0, action)]
        return [*found, (_RETURN, 0, 0, ALLOW)]
    half = len(actions) // 2
    low, high = _tree(actions[:half]), _tree(actions[half:])
    return [(_AT_LEAST, len(low), 0, actions[half][0]), *low, *high]


def install(rules: bytes, all_threads: bool = True) -> None:
    """Hold the calling thread, or all threads of the process, to a filter.

    Raises:
        OSError: the kernel refused it.
    """

    class SocketFilterProgram(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    program = SocketFilterProgram(len(rules) // 8, rules)
    number = _SECCOMP[platform.machine()]
    result = _system_call(number, 1, int(all_threads), ctypes.byref(program))  # SECCOMP_SET_MODE_FILTER
    if result != 0:
        raise OSError(-result if result < 0 else errno.ESRCH, "seccomp")


@functools.cache
def tool_filter(ties: bool = False) -> bytes:
    """For compilers: no network, nothing of the system's; they start processes, and signal none but their own.

    `ties`: for a process that starts compilers and ties them to itself.
    """
    rules = Filter()
    own = ("execve", "execveat", "fork", "vfork", "tkill")
    for name, call in {**CALLS, **REFUSED}.items():
        if name not in own:
            rules.on(call, ERROR | errno.EPERM)
    rules.on(CLONE3, ERROR | errno.ENOSYS)  # its flags are in memory; the C library then takes clone
    rules.where(CLONE, 0, ANY_BITS, CLONE_NAMESPACES, ERROR | errno.EPERM)
    rules.unless(SETPGID, 1, EQUAL, 0, ERROR | errno.EPERM)  # to lead a group, not to join one
    rules.on(SETSID, ERROR | errno.EPERM)
    if ties:
        return rules.bytes()
    rules.refuse_sending()
    if landlock_version() < _SCOPES:
        for call in (KILL, TKILL, TGKILL):
            rules.on(call, ERROR | errno.EPERM)
    return rules.bytes()


def program_filter() -> bytes:
    """What a process that runs a stranger's code may not do; for the calling process."""
    rules = Filter()
    for call in CALLS.values():
        rules.on(call, END)
    for call in REFUSED.values():
        rules.on(call, ERROR | errno.EPERM)
    rules.on(CLONE3, ERROR | errno.ENOSYS)  # its flags are in memory; the C library then takes clone
    rules.unless(CLONE, 0, ANY_BITS, CLONE_THREAD, END)
    # Signals go to this process alone.
    rules.unless(KILL, 0, EQUAL, os.getpid(), END)
    rules.unless(TGKILL, 0, EQUAL, os.getpid(), END)
    rules.refuse_sending()
    return rules.bytes()


def confined(start: Callable[[], T], allowed: Mapping[str, Iterable[str]]) -> T:
    """What `start` returns, called in a thread that can reach nothing but what is allowed (see `restrict`).

    What it starts, a compiler, inherits the walls. Without them (`available`) it is called as it is.

    Raises:
        OSError: the kernel refused a step; what `start` raises.
    """
    if available():
        return start()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            give_up_privileges()
            restrict(allowed)
            install(tool_filter(), all_threads=False)
            found.append(start())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="gpulab-walls")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process, with all that it has started if it leads a group, and wait for it."""
    if os.name != "nt":
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def level() -> tuple[str, str]:
    """The strongest of `LEVELS` that submissions are run with here, and why it is not a stronger one."""
    missing = available()
    if missing:
        return ("none" if os.name == "nt" else "limits"), missing
    if not shutil.which("bwrap"):
        return "landlock", "bubblewrap (the program bwrap) is not installed"
    return ("bubblewrap", "") if bubblewrap() else ("landlock", "bubblewrap is installed, but cannot make namespaces")


_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--die-with-parent",
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
)  # fmt: skip


@functools.cache
def bubblewrap() -> str:
    """The path of bubblewrap's program, if there is one that works here; else ""."""
    path = shutil.which("bwrap") if sys.platform.startswith("linux") else None
    if path is None:
        return ""
    try:
        tried = subprocess.run(
            [path, *_NAMESPACES, "--", sys.executable, "-c", ""], capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return path if tried.returncode == 0 else ""


def wrapped(command: Sequence[str], write: Iterable[str]) -> list[str]:
    """The command in namespaces of its own, where there is bubblewrap: no network, no other processes, and all files
    but those folders read-only."""
    path = bubblewrap()
    if not path or available():
        return list(command)
    binds = [word for folder in write for word in ("--bind", folder, folder)]
    return [path, *_NAMESPACES, *binds, "--", *command]


_leads = False


def lead_group() -> None:
    """Make this process the leader of a group, in which all that it starts by `Tie` stays."""
    global _leads
    os.setpgid(0, 0)
    _leads = True


class Tie:
    """Ends a process group with SIGKILL when this process ends, also by SIGKILL. Only Linux can do it.

    It is a pipe whose reading end the other process holds (`descriptors`, to be inherited); when the last writing end
    is closed, which this process alone has, the kernel sends the signal. The other process leads a group of its own
    (`process_group`), and is tied a moment after its start; or, if this process has made a group for itself
    (`lead_group`), it stays in that, and is tied from its start.
    """

    def __init__(self) -> None:
        self._read: int | None = None
        self._write: int | None = None
        self._shared = _leads
        self.process_group = None if _leads or os.name == "nt" else 0
        if sys.platform.startswith("linux"):
            self._read, self._write = os.pipe()
            if self._shared:
                self._arm(os.getpgrp())

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the process inherits."""
        return () if self._read is None else (self._read,)

    def _arm(self, group: int) -> None:
        import fcntl

        assert self._read is not None
        fcntl.fcntl(self._read, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(self._read, fcntl.F_SETOWN, -group)
        fcntl.fcntl(self._read, fcntl.F_SETFL, os.O_ASYNC)

    def fasten(self, process: int) -> None:
        """The process has been started. Who has waited for it meanwhile must not call this: it may not be there."""
        if self._read is not None and not self._shared:
            self._arm(process)
            os.close(self._read)
            self._read = None

    def release(self) -> None:
        """The process has ended: end what is left of its group, if it is its own."""
        if self._shared and self._read is not None:
            import fcntl

            fcntl.fcntl(self._read, fcntl.F_SETFL, 0)
        for end in (self._read, self._write):
            if end is not None:
                os.close(end)
        self._read = self._write = None
