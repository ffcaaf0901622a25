"""The cache on disk: compiled code objects by the hash of everything that went into them.

`folder()` is the user's cache folder, shared with other parts of gpulab; `Store` keeps checked, compressed-free
entries with atomic writes and a size limit (least recently used go first). A folder that cannot be written costs
one warning and no more. What is made of a learner's text goes to `own_folder()`, which is another one where texts of
several people are handled: then nobody reads or fills the entries of others.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAGIC = b"gpulab cache 2\n"
_DIGEST = 32
_PIECE = 1 << 20
_LOOKS = 64  # so many times a folder is looked at until its limit has been written once
_ENTRY = 4096  # what an entry counts beside its contents
SHARED = ("virtual-rocm", "library", "headers", "support")
"""Parts of `folder()` that are made of gpulab's own sources alone, and that a process needs which runs kernels."""


def folder() -> Path:
    """The user's cache folder of gpulab (it may not exist yet).

    GPULAB_CACHE if set, else "gpulab" in the platform's own: $XDG_CACHE_HOME or ~/.cache (Linux and other Unix),
    ~/Library/Caches (macOS), %LOCALAPPDATA% (Windows, with a folder "Cache" below it).
    """
    chosen = os.environ.get("GPULAB_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("gpulab", appauthor=False)


def own_folder() -> Path:
    """Where entries made of learners' texts are kept: GPULAB_CACHE_OWN if set, else `folder()`."""
    chosen = os.environ.get("GPULAB_CACHE_OWN")
    return Path(chosen).expanduser().absolute() if chosen else folder()


def tool_folder(name: str = "zig") -> Path:
    """A folder for what the compiler keeps ("zig": its C runtime, in an order of its own) or made of its sources.

    One that lasts as long as this process, if the cache folder cannot be written.
    """
    path = folder() / name
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        _warn(path, error)
        other = lasting() / name
        other.mkdir(exist_ok=True)
        return other


def lasting() -> Path:
    """A folder of this process alone, which is removed at its end."""
    return Path(_instead().name)


@functools.cache
def _instead() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gpulab-")


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one process at a time is in this block for a folder; others wait. Zig's own locks can wait for each other
    for ever if two of its processes build the same libraries."""
    with contextlib.ExitStack() as held:
        try:
            import fcntl

            file = held.enter_context(open(folder / ".gpulab-lock", "wb"))  # closed at the end, which ends the lock
            fcntl.flock(file, fcntl.LOCK_EX)
        except (ImportError, OSError):  # Windows; a file system without locks
            pass
        yield


_warned = False


def _warn(path: Path, error: OSError) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"gpulab works without its cache: {path} cannot be written ({error.strerror or error}). "
            "Every compile then takes a little longer. Set GPULAB_CACHE to a folder that can be written.",
            RuntimeWarning,
            stacklevel=3,
        )


def key(*parts: str | bytes) -> str:
    """The hash of these parts, each with its length, so that no two lists of parts meet."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.hexdigest()


@functools.lru_cache(maxsize=16)
def _contents_hash(root: str, states: tuple[tuple[str, int, int], ...]) -> str:
    parts: list[str | bytes] = []
    for name, _, _ in states:
        parts += [name, Path(root, name).read_bytes()]
    return key(*parts)


def folder_hash(root: Path) -> str:
    """The hash of all files below a folder; they are read again only when a size or a date has changed."""
    return _contents_hash(str(root), tuple(sorted(_states(str(root), ""))) if root.is_dir() else ())


def sources_hash(root: Path) -> str:
    """`folder_hash` of one of gpulab's own folders, which a compile asks for several times: looked at once a second."""
    now = time.monotonic()
    known = _looked.get(root)
    if known is None or now - known[0] > 1:
        known = _looked[root] = now, folder_hash(root)
    return known[1]


_looked: dict[Path, tuple[float, str]] = {}


def _states(folder: str, prefix: str) -> Iterator[tuple[str, int, int]]:
    """Name below the root, bytes and date of each file. `os.walk` and paths made for each take twice as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _states(entry.path, f"{prefix}{entry.name}/")
            elif not entry.is_dir():
                state = entry.stat()
                yield prefix + entry.name, state.st_size, state.st_mtime_ns


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + body).digest()


class Entry:
    """A large entry that stays open: its digest was right when it was opened, and nobody changes a file that is there.

    It can be read when the entry has been removed, too. size: in bytes.
    """

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._start, self.size = file, start, size
        self._lock = threading.Lock()
        self._asked: dict[bytes, bool] = {}

    def parts(self) -> Iterator[bytes]:
        """The entry, piece by piece."""
        for at in range(self._start, self._start + self.size, _PIECE):
            count = min(_PIECE, self._start + self.size - at)
            if hasattr(os, "pread"):
                yield os.pread(self._file.fileno(), count, at)
            else:
                with self._lock:
                    self._file.seek(at)
                    yield self._file.read(count)

    def copy(self, path: Path) -> None:
        """Write it to a file."""
        with open(path, "wb") as file:
            for part in self.parts():
                file.write(part)

    def __contains__(self, word: bytes) -> bool:
        if word not in self._asked:
            before = b""
            self._asked[word] = False
            for part in self.parts():
                if word in before + part:
                    self._asked[word] = True
                    break
                before = part[-len(word) :]
        return self._asked[word]


@dataclass(frozen=True, slots=True)
class Store:
    """Entries of one kind: `name` is the sub-folder, `limit` the bytes kept on disk.

    They stand below `folder()`, or, if they are made of learners' texts (`own`), below `own_folder()`. An entry is
    bound to its key: its digest is of both.
    """

    name: str = "code"
    limit: int = 512 << 20
    own: bool = False

    @property
    def root(self) -> Path:
        """The folder of all entries."""
        return (own_folder() if self.own else folder()) / self.name

    def path(self, key: str) -> Path:
        """Where the entry of this key is kept."""
        return self.root / key[:2] / key

    def get(self, key: str) -> bytes | None:
        """The entry, or None if there is none or what is there is damaged (then it is removed)."""
        path = self.path(key)
        try:
            raw = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        body = raw[start:]
        whole = raw[: len(_MAGIC)] == _MAGIC and raw[len(_MAGIC) : start] == _digest(key, body)
        with contextlib.suppress(OSError):
            if whole:
                os.utime(path)  # last use, for `prune`
            else:
                path.unlink()
        return body if whole else None

    def open(self, key: str) -> Entry | None:
        """The same as `get` for a large entry, of which this process need not keep the bytes."""
        path, start = self.path(key), len(_MAGIC) + _DIGEST
        with contextlib.ExitStack() as opened:
            try:
                file = opened.enter_context(open(path, "rb"))
                size = os.fstat(file.fileno()).st_size - start
                head = file.read(start)
                entry, digest = Entry(file, start, max(size, 0)), hashlib.sha256(key.encode() + b"\0")
                for part in entry.parts():
                    digest.update(part)
            except OSError:
                return None
            whole = head == _MAGIC + digest.digest()
            if whole:
                opened.pop_all()  # it stays open
                with contextlib.suppress(OSError):
                    os.utime(path)
                return entry
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def put(self, key: str, body: bytes) -> None:
        """Keep an entry. Readers see the whole of it or nothing; a full or read-only disk only warns."""
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, made = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        except OSError as error:
            _warn(self.root.parent, error)
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + _digest(key, body) + body)
            os.replace(made, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(made)
            # On Windows another process that reads the entry keeps it from being replaced: it is there already.
            if not path.exists():
                _warn(self.root.parent, error)
            return
        if is_due(key, len(body), self.limit):
            self.prune()

    def prune(self) -> int:
        """Remove the entries used longest ago until the rest fits in `limit`; the number of bytes removed."""
        entries: list[tuple[float, int, str]] = []
        for folder in _inside(self.root):
            for entry in _inside(folder.path):
                with contextlib.suppress(OSError):
                    state = entry.stat()
                    entries.append((state.st_mtime, state.st_size, entry.path))
        excess, removed = sum(size for _, size, _ in entries) - self.limit, 0
        for _, size, path in sorted(entries) if excess > 0 else ():
            if removed >= excess:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
                removed += size
        return removed


def is_due(key: str, size: int, limit: int) -> bool:
    """Whether the whole folder is to be looked at after this write of so many bytes: when about a 64th of the limit has
    been written. The key decides which write does it, so it costs no state."""
    return int(key[-4:], 16) * (limit // _LOOKS) < (size + _ENTRY) << 16


def _inside(folder: str | Path) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing, if it is none. (`Path.glob` takes twice as long for 10,000 entries.)"""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
