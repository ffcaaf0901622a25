"""The numbers of walls and jail are Linux's own: system calls, Landlock's rights, seccomp's answers.

They come from the kernel's headers that the packaged compiler brings for both machines.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from gpulab import walls

HEADERS = Path(str(resources.files("ziglang"))) / "lib" / "libc" / "include"
DEFINE = re.compile(r"^#define\s+(\w+)\s+\(?(0x[0-9a-fA-F]+|\d+)(?:ULL|U)?(?:\s*<<\s*(\d+))?\)?", re.M)


def defined(*path: str) -> dict[str, int]:
    """The numbers that a header defines; a shift is carried out."""
    text = HEADERS.joinpath(*path).read_text(encoding="utf-8")
    return {name: int(number, 0) << int(shift or 0) for name, number, shift in DEFINE.findall(text)}


@pytest.mark.parametrize(("place", "folder"), [(0, "x86-linux-any"), (1, "aarch64-linux-any")])
def test_system_calls(place: int, folder: str) -> None:
    numbers = {
        name[5:]: number for name, number in defined(folder, "asm", "unistd_64.h").items() if name[:5] == "__NR_"
    }
    assert len(numbers) > 300
    single = {"kill": walls.KILL, "clone": walls.CLONE, "clone3": walls.CLONE3, "tgkill": walls.TGKILL}
    single |= {"tkill": walls.TKILL, "fcntl": walls.FCNTL, "ioctl": walls.IOCTL}
    single |= {"setpgid": walls.SETPGID, "setsid": walls.SETSID}
    single |= {"setrlimit": walls.SETRLIMIT, "prlimit64": walls.PRLIMIT, "memfd_create": walls.MEMFD}
    for name, each in {**walls.CALLS, **walls.REFUSED, **single}.items():
        assert each[place] == numbers.get(name), name
    machine = ("x86_64", "aarch64")[place]
    assert walls._SECCOMP[machine] == numbers["seccomp"]
    landlock = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
    assert tuple(numbers[name] for name in landlock) == (walls._CREATE_RULESET, walls._ADD_RULE, walls._RESTRICT_SELF)


def test_rights_of_landlock() -> None:
    header, prefix = defined("any-linux-any", "linux", "landlock.h"), "LANDLOCK_ACCESS_FS"
    rights = {name[len(prefix) :]: bit for name, bit in header.items() if name.startswith(prefix)}
    for name in ("_EXECUTE", "_WRITE_FILE", "_READ_FILE", "_READ_DIR", "_TRUNCATE", "_REMOVE_DIR", "_REMOVE_FILE",
                 "_MAKE_DIR", "_MAKE_REG", "_REFER"):  # fmt: skip
        assert getattr(walls, name) == rights[name], name
    assert rights["_IOCTL_DEV"] == walls._IOCTL
    assert sum(bit for bit in rights.values() if bit <= rights["_IOCTL_DEV"]) == walls._ALL


def test_answers_of_seccomp() -> None:
    answers = defined("any-linux-any", "linux", "seccomp.h")
    assert answers["SECCOMP_RET_ALLOW"] == walls.ALLOW
    assert answers["SECCOMP_RET_KILL_PROCESS"] == walls.END
    assert answers["SECCOMP_RET_ERRNO"] == walls.ERROR
    machines = defined("any-linux-any", "linux", "elf-em.h")
    wide_little = 0x80000000 | 0x40000000  # __AUDIT_ARCH_64BIT, __AUDIT_ARCH_LE
    assert walls._AUDIT["x86_64"] == machines["EM_X86_64"] | wide_little
    assert walls._AUDIT["aarch64"] == machines["EM_AARCH64"] | wide_little


def test_words_of_filters() -> None:
    """linux/bpf_common.h: a class, a size or an operation, and where the operand is."""
    words = defined("any-linux-any", "linux", "bpf_common.h")
    assert words["BPF_LD"] | words["BPF_W"] | words["BPF_ABS"] == walls._LOAD
    jump = words["BPF_JMP"] | words["BPF_K"]
    assert (
        jump | words["BPF_JEQ"], jump | words["BPF_JSET"], jump | words["BPF_JGE"],
    ) == (walls.EQUAL, walls.ANY_BITS, walls._AT_LEAST)  # fmt: skip
    assert words["BPF_RET"] | words["BPF_K"] == walls._RETURN


def test_other_numbers() -> None:
    controls = defined("any-linux-any", "linux", "prctl.h")
    assert controls["PR_SET_NO_NEW_PRIVS"] == walls._PR_SET_NO_NEW_PRIVS
    assert controls["PR_GET_SECCOMP"] == walls._PR_GET_SECCOMP
    assert defined("any-linux-any", "linux", "sched.h")["CLONE_THREAD"] == walls.CLONE_THREAD
    namespaces = [bit for name, bit in defined("any-linux-any", "linux", "sched.h").items() if name[:9] == "CLONE_NEW"]
    assert sum(bit for bit in namespaces if bit > 0xFF) == walls.CLONE_NAMESPACES
    assert controls["PR_SET_PDEATHSIG"] == walls._PR_SET_PDEATHSIG
    files = defined("any-linux-any", "asm-generic", "fcntl.h")
    assert tuple(files[name] for name in ("F_SETOWN", "F_SETSIG", "F_SETOWN_EX")) == walls._SENDING_FCNTL
    sockets = defined("any-linux-any", "asm-generic", "sockios.h")
    terminals = defined("any-linux-any", "asm-generic", "ioctls.h")
    assert (
        sockets["FIOSETOWN"], sockets["SIOCSPGRP"], terminals["TIOCSTI"], terminals["TIOCLINUX"],
    ) == walls._SENDING_IOCTL  # fmt: skip
