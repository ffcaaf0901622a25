"""Results that outlive a kill at any byte and a full disk: lines of JSON, each with a checksum, only ever appended.

A line that was written in part is not a line: its checksum does not fit. It is left behind, and the next one begins on
a new line. The first result of a key is the one that counts. One process writes at a time; another is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from gpulab.errors import CheckError


def plain_bytes(value: Any) -> bytes:
    """The same bytes for the same plain data: JSON with sorted names and without spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _sum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest()[:32].encode("ascii")


def lines_of(path: Path) -> Iterator[Any]:
    """The values of a file of lines, without those that are damaged; none where there is no file."""
    try:
        file = open(path, "rb")  # noqa: SIM115 (it is closed below)
    except FileNotFoundError:
        return
    with file:
        for line in file:
            found, _, data = line.rstrip(b"\n").partition(b" ")
            if line.endswith(b"\n") and found == _sum(data):
                yield json.loads(data)


class Lines:
    """A file of lines that is open for appending.

    Raises CheckError if another process has it open. `add` raises OSError if the line cannot be written, and leaves
    the file as it was before.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = open(path, "a+b", buffering=0)  # noqa: SIM115 (closed by `close`)
        if not _locked(self._file):
            self._file.close()
            raise CheckError(
                f"Another run writes to {path.parent} at this moment.", hint="wait for it, or choose another folder."
            )
        self._file.seek(0, os.SEEK_END)
        self._size = self._file.tell()
        if self._size:
            self._file.seek(self._size - 1)
            if self._file.read(1) != b"\n":
                self._write(b"\n")

    def add(self, value: Any) -> None:
        """Append one value and see to it that it is on the disk."""
        data = plain_bytes(value)
        self._write(_sum(data) + b" " + data + b"\n")

    def _write(self, line: bytes) -> None:
        try:
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) or 0 :]
            os.fsync(self._file.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                self._file.truncate(self._size)
            raise
        self._size += len(line)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _locked(file: IO[bytes]) -> bool:
    """Lock the file for this process until it is closed; False if another has it. The system frees it at a kill."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 40)  # far behind the end: locked bytes cannot be read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Results(Lines):
    """Results by key; those that the file had are in `found` from the beginning."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.found: dict[str, Any] = {}
        for value in lines_of(path):
            if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
                self.found.setdefault(value[0], value[1])

    def put(self, key: str, result: Any) -> bool:
        """Keep a result; False if there is one of this key already, which stays. Raises OSError as `add`."""
        if key in self.found:
            return False
        self.add([key, result])
        self.found[key] = result
        return True


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that it is either the old one or the new one, whole. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
