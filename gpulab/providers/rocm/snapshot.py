"""A launch saved in a folder, so that another process can repeat it: `Snapshot`, `save`, `load`, `relocated`.

The folder holds the code object, the kernel's arguments, and the contents of the memory that the kernel can reach:
every allocation that an argument points into, those that pointers in their contents point into, and the module's
variables. Addresses differ in the other process: `relocated` exchanges all that lie in a saved allocation.
"""

from __future__ import annotations

import bisect
import json
import math
import shutil
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpulab.errors import ProfilerError

Triple = tuple[int, int, int]
_DESCRIPTION = "launch.json"
_SHT_DYNSYM, _STT_OBJECT, _GLOBAL, _WEAK, _WRITE = 11, 1, 1, 2, 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One saved launch.

    Attributes:
        folder: where the files are.
        symbol: the kernel's linker symbol.
        device: the device's number in its HIP library.
        offsets: where each argument stands in `kernarg`, for a cooperative launch; else empty.
        allocations: bytes by the address they had; the contents are in the file memory-ADDRESS.
        variables: bytes by symbol of the module's variables; the contents are in the file variable-NUMBER.
    """

    folder: Path
    symbol: str
    device: int
    grid: Triple
    block: Triple
    lds_bytes: int
    kernarg: bytes
    offsets: tuple[int, ...]
    allocations: Mapping[int, int]
    variables: Mapping[str, int]

    @property
    def elf(self) -> bytes:
        """The code object."""
        return (self.folder / "code.o").read_bytes()

    def contents(self, address: int) -> bytearray:
        """What an allocation held."""
        return bytearray((self.folder / f"memory-{address:x}").read_bytes())

    def variable(self, symbol: str) -> bytearray:
        """What a variable of the module held."""
        return bytearray((self.folder / f"variable-{list(self.variables).index(symbol)}").read_bytes())


def save(
    folder: Path,
    elf: bytes,
    symbol: str,
    device: int,
    grid: Sequence[int],
    block: Sequence[int],
    lds_bytes: int,
    kernarg: bytes,
    offsets: Sequence[int],
    allocations: Mapping[int, int],
    read: Callable[[int, int], bytes],
    variables: Mapping[str, tuple[int, int]],
) -> Snapshot:
    """Save a launch that is about to be made; its device must be idle.

    Args:
        folder: where to; made here.
        allocations: bytes by address of all allocations there are; those that the kernel can reach are saved.
        read: (address, bytes) -> contents of device memory.
        variables: (address, bytes) of the module's variables by symbol.

    Raises:
        ProfilerError: the memory to save is larger than the room on disk.
    """
    folder.mkdir(parents=True)
    (folder / "code.o").write_bytes(elf)
    starts = sorted(allocations)
    known = [(start, allocations[start]) for start in starts]
    room = shutil.disk_usage(folder).free // 2
    saved: dict[int, int] = {}
    pending = _pointed(kernarg, known)
    for number, (address, size) in enumerate(variables.values()):
        contents = read(address, size)
        (folder / f"variable-{number}").write_bytes(contents)
        pending |= _pointed(contents, known)
    while pending:
        address = pending.pop()
        size = allocations[address]
        room -= size
        if room < 0:
            raise ProfilerError(
                f"The memory that {symbol} can reach is too large to save: {sum(saved.values()) + size:,} bytes.",
                why="for counters a launch is repeated in a process of its own, with a copy of its memory on disk.",
                hint=f"make room in {folder.parent}, or profile a smaller launch.",
            )
        contents = read(address, size)
        (folder / f"memory-{address:x}").write_bytes(contents)
        saved[address] = size
        pending |= _pointed(contents, known) - saved.keys()
    description = {
        "symbol": symbol,
        "device": device,
        "grid": list(grid),
        "block": list(block),
        "lds_bytes": lds_bytes,
        "kernarg": kernarg.hex(),
        "offsets": list(offsets),
        "allocations": {f"{address:x}": size for address, size in saved.items()},
        "variables": {name: size for name, (_, size) in variables.items()},
    }
    (folder / _DESCRIPTION).write_text(json.dumps(description), encoding="utf-8")
    return load(folder)


def load(folder: Path) -> Snapshot:
    """A saved launch.

    Raises:
        ProfilerError: the folder holds none, or it cannot be read.
    """
    try:
        found = json.loads((folder / _DESCRIPTION).read_text(encoding="utf-8"))
        gx, gy, gz = found["grid"]
        bx, by, bz = found["block"]
        return Snapshot(
            folder=folder,
            symbol=found["symbol"],
            device=found["device"],
            grid=(gx, gy, gz),
            block=(bx, by, bz),
            lds_bytes=found["lds_bytes"],
            kernarg=bytes.fromhex(found["kernarg"]),
            offsets=tuple(found["offsets"]),
            allocations={int(address, 16): size for address, size in found["allocations"].items()},
            variables=found["variables"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ProfilerError(f"{folder} holds no saved launch that can be read: {error}.") from error


def _words(contents: bytes | bytearray, lowest: int, highest: int) -> list[tuple[int, int]]:
    """(offset, value) of the aligned 64-bit words whose value lies in a range."""
    import numpy as np

    values = np.frombuffer(contents, dtype="<u8", count=len(contents) // 8)
    places = np.nonzero((values >= lowest) & (values <= highest))[0]
    return [(int(place) * 8, int(values[place])) for place in places]


def _holder(value: int, known: Sequence[tuple[int, int]]) -> int | None:
    """The start of the allocation that an address points into, or just behind."""
    place = bisect.bisect_right(known, (value, math.inf)) - 1
    if place < 0:
        return None
    start, size = known[place]
    return start if value <= start + size else None


def _pointed(contents: bytes | bytearray, known: Sequence[tuple[int, int]]) -> set[int]:
    """The starts of the allocations that words of the contents point into."""
    if not known:
        return set()
    last, size = known[-1]
    found = (_holder(value, known) for _, value in _words(contents, known[0][0], last + size))
    return {start for start in found if start is not None}


def relocated(contents: bytes | bytearray, old: Mapping[int, int], new: Mapping[int, int]) -> bytearray:
    """Contents with every 64-bit word that points into an allocation (or just behind it) pointing into its copy.

    A number that happens to be such an address is changed as well: nothing tells it from a pointer.

    Args:
        old: bytes by address, as they were saved.
        new: the copies' addresses by the old ones.
    """
    changed = bytearray(contents)
    known = sorted(old.items())
    if known:
        last, size = known[-1]
        for offset, value in _words(contents, known[0][0], last + size):
            start = _holder(value, known)
            if start is not None:
                struct.pack_into("<Q", changed, offset, value - start + new[start])
    return changed


def variable_symbols(elf: bytes) -> tuple[str, ...]:
    """The variables of a code object that can be asked for by name: global objects in sections that are written to.

    Raises:
        GpulabError: the bytes are no code object.
    """
    from gpulab.toolchain import elf as reader

    sections = reader.read(elf)
    tables = [section for section in sections if section.type == _SHT_DYNSYM]
    names = next((section.contents for section in sections if section.name == ".dynstr"), b"")
    found = []
    for table in tables:
        for at in range(0, len(table.contents) - 23, 24):
            name, info, _, section, _, size = struct.unpack_from("<IBBHQQ", table.contents, at)
            if info & 15 != _STT_OBJECT or info >> 4 not in (_GLOBAL, _WEAK) or not size:
                continue
            if section < len(sections) and sections[section].flags & _WRITE:
                found.append(names[name : names.index(b"\0", name)].decode())
    return tuple(found)
