"""What the packaged LLVM knows of a device: `mnemonics(arch)` by its assembler, `features(arch)` by its subtargets."""

from __future__ import annotations

import mmap
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import ziglang


@cache
def _program() -> Path:
    folder = Path(ziglang.__file__).parent
    return next(path for path in (folder / "zig", folder / "zig.exe") if path.exists())


@cache
def _table() -> tuple[str, ...]:
    """The mnemonics of all AMD GPUs: LLVM keeps them in one run of bytes, after a zero, each with its length before."""
    with open(_program(), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        place = content.rfind(b"\0", 0, content.find(b"\x09v_add_f32")) + 1
        found = []
        while re.fullmatch(rb"[\w.]+", name := content[place + 1 : place + 1 + content[place]]):
            found.append(name.decode())
            place += 1 + len(name)
    assert len(found) > 2000
    return tuple(found)


def _unknown(arch: str, names: tuple[str, ...]) -> set[int]:
    """Places in `names` of what the assembler calls unknown or not supported on this GPU. A mnemonic alone lacks its
    operands, which is said with other words."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "names.s")
        text.write_text("\n".join(names) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "ziglang", "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c"]
        command += [str(text), "-o", str(Path(folder, "names.o")), "-ferror-limit=0"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    return {
        int(number) - 1
        for number, message in re.findall(r"names\.s:(\d+):\d+: error: (.*)", said)
        if "not supported on this GPU" in message or "invalid instruction" in message
    }


@cache
def mnemonics(arch: str) -> frozenset[str]:
    """All that the assembler knows for a GPU, without suffixes of an encoding; of a pair what is behind v_dual_."""
    names = _table()
    unknown = _unknown(arch, names)
    known = (name for place, name in enumerate(names) if place not in unknown)
    return frozenset(re.sub(r"^v_dual_", "v_", re.sub(r"_(e32|e64|dpp|sdwa)$", "", name)) for name in known)


@cache
def features() -> dict[str, frozenset[str]]:
    """The subtarget features of each GPU, with LLVM's names."""
    command = [sys.executable, "-m", "ziglang", "targets"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\.(gfx\w+) = \.\{([^{}]*)\}", text)
    return {name: frozenset(re.findall(r'"([^"]+)"', listed.replace("_", "-"))) for name, listed in found}
