"""Reads files of strangers: no links followed, only regular files, with limits; a folder or a zip.

`entries(path)` lists what there is, as `Entry`s; `Entry.read()` gives the bytes or raises `Unreadable` with a sentence
for the instructor. `text_of` decodes. Nothing is unpacked to disk.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import stat
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

FILE_BYTES = 16 << 20
"""The largest file that is read: a notebook with many pictures has some MB."""

ZIP_BYTES = 512 << 20
"""The largest zip, and the most that is unpacked of one."""

ZIP_ENTRIES = 20_000
DEPTH = 6
"""Folders inside each other that are looked into."""

FOLDER_ENTRIES = 2_000
"""Files and folders in one folder below the first."""

EMPTY = "the folder is empty"
"""The problem of a folder with nothing in it that counts: its student is one who handed in nothing."""

IGNORED = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"}


class Unreadable(Exception):
    """Why a file or a folder is not read, one clause."""


class TooLarge(Unreadable):
    """It has more bytes than are read."""


@dataclass(frozen=True)
class Entry:
    """A file, or what is in the place of one.

    Args:
        parts: folders and name, from the top of the submissions.
        problem: why it is not read; "" for a regular file.
        read: its bytes. Raises Unreadable.
    """

    parts: tuple[str, ...]
    problem: str
    read: Callable[[], bytes]

    @property
    def where(self) -> str:
        """Its path below the top, safe to be printed."""
        return "/".join(shown(part) for part in self.parts)


def shown(name: str) -> str:
    """A name of a stranger as one line of text: controls visible, bytes that are no text as \\xNN."""
    from gpulab.toolchain.diagnostics import visible

    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return visible(text).replace("\n", "\u240a").replace("\t", "\u2409")


def student_name(name: str) -> str:
    """Whose a folder or a file is. macOS writes an accent as a character of its own: it is the same name, though."""
    return unicodedata.normalize("NFC", shown(name))


def entries(top: Path) -> Iterator[Entry]:
    """Everything in a folder or a zip, in the order of names. Raises Unreadable if `top` itself cannot be read."""
    try:
        if top.is_dir():
            yield from _folder(os.path.realpath(top), (), ())
            return
        data = read_file(os.path.realpath(top), ZIP_BYTES)
    except OSError as error:
        raise Unreadable(said(error)) from None
    yield from zip_entries(data, ())


def said(error: OSError) -> str:
    """What the system said, as the end of a sentence."""
    return (error.strerror or str(error)).lower()


def _ignored(name: str) -> bool:
    return name in IGNORED or name.startswith(".")


# ----------------------------------------------------------------------------------------------------------- folders


def _folder(top: str, parts: tuple[str, ...], inside: tuple[str, ...]) -> Iterator[Entry]:
    """The entries of the folder `parts` below `top`."""
    where = os.path.join(top, *parts)
    names = []
    with os.scandir(where) as listed:
        for entry in listed:
            if not _ignored(entry.name):
                names.append(entry.name)
            if parts and len(names) > FOLDER_ENTRIES:
                yield _refused(parts, f"the folder has more than {FOLDER_ENTRIES} files")
                return
    for name in sorted(names):
        yield from _one(top, (*parts, name))
    if parts and not names:
        yield _refused(parts, EMPTY)


def _one(top: str, parts: tuple[str, ...]) -> Iterator[Entry]:
    path = os.path.join(top, *parts)
    try:
        found = os.lstat(path)
    except OSError as error:
        yield _refused(parts, f"it cannot be read: {said(error)}")
        return
    problem = "" if stat.S_ISDIR(found.st_mode) else _kind(found)
    if problem:
        yield _refused(parts, problem)
    elif not stat.S_ISDIR(found.st_mode):
        yield Entry(parts, "", lambda: _below(top, parts))
    elif len(parts) >= DEPTH:
        yield _refused(parts, f"folders are more than {DEPTH} deep")
    else:
        try:
            yield from _folder(top, parts, parts)
        except OSError as error:
            yield _refused(parts, f"the folder cannot be read: {said(error)}")


def _refused(parts: tuple[str, ...], problem: str) -> Entry:
    def read() -> bytes:
        raise Unreadable(problem)

    return Entry(parts, problem, read)


def _kind(found: os.stat_result) -> str:
    """Why this is no file to be read; "" for a regular one."""
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", False):
        return "it is a symbolic link, which is not followed"
    for test, name in (
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(found.st_mode):
            return f"it is {name}, not a file"
    return "" if stat.S_ISREG(found.st_mode) else "it is not a file"


def _below(top: str, parts: tuple[str, ...]) -> bytes:
    """The bytes of a file below `top`; each folder on the way is opened without following links."""
    try:
        if os.open not in os.supports_dir_fd:
            return read_file(os.path.join(top, *parts), FILE_BYTES)
        at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = inner
            return read_file(parts[-1], FILE_BYTES, at)
        finally:
            os.close(at)
    except OSError as error:
        raise Unreadable(f"it cannot be read: {said(error)}") from None


def read_file(path: str | os.PathLike[str], most: int, at: int | None = None) -> bytes:
    """The bytes of a regular file; never follows a link, never waits for a FIFO.

    Raises Unreadable for anything else, and for more than `most` bytes; OSError as the system says.
    """
    before = os.stat(path, dir_fd=at, follow_symlinks=False)
    problem = _kind(before)
    if problem:
        raise Unreadable(problem)
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOCTTY"):
        flags |= getattr(os, name, 0)
    with os.fdopen(os.open(path, flags, dir_fd=at), "rb") as file:
        now = os.fstat(file.fileno())
        if _kind(now) or (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino):
            raise Unreadable("it changed while it was read")
        return _limited(file, most)


def _limited(file: IO[bytes], most: int) -> bytes:
    data = file.read(most + 1)
    if len(data) > most:
        raise TooLarge(f"it is larger than {most >> 20} MB")
    return data


# -------------------------------------------------------------------------------------------------------------- zips


def zip_entries(data: bytes, inside: tuple[str, ...]) -> Iterator[Entry]:
    """The entries of a zip, put below the folder `inside`. Raises Unreadable for a zip that cannot be listed."""
    import io

    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        found = archive.infolist()
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        ValueError,
        OverflowError,
        RuntimeError,  # of packings that zipfile does not know, and of encrypted files
        EOFError,
        OSError,
    ):
        raise Unreadable("it is not a zip file that can be read") from None
    if len(found) > ZIP_ENTRIES:
        raise Unreadable(f"the zip has more than {ZIP_ENTRIES} files")
    left = [ZIP_BYTES]
    names = [re.sub(r"[/\\]+", "/", each.filename).strip("/").casefold() for each in found]
    twice = {name for name, times in Counter(names).items() if times > 1}
    listed = []
    folders: list[tuple[str, ...]] = []
    for info, name in zip(found, names, strict=True):
        parts = tuple(part for part in info.filename.split("/") if part not in ("", "."))
        problem = _trick(info) or ("the zip has two files of that name" if name in twice else "")
        if not problem and info.is_dir():
            folders += [parts] if 0 < len(parts) <= DEPTH and not any(map(_ignored, parts)) else []
            continue
        safe = tuple(part for part in re.split(r"[/\\]", info.filename) if part not in ("", ".", "..")) or ("?",)
        if any(_ignored(part) for part in safe):
            continue
        if problem:
            listed.append(_refused((*inside, *safe), problem))
        elif len(parts) > DEPTH:
            listed.append(_refused((*inside, *parts), f"folders are more than {DEPTH} deep"))
        else:
            listed.append(Entry((*inside, *parts), "", _unpacker(archive, info, left)))
    used = {entry.parts[:size] for entry in listed for size in range(len(entry.parts) + 1)}
    for folder in sorted(set(folders), key=len, reverse=True):
        if (*inside, *folder) not in used:
            listed.append(_refused((*inside, *folder), EMPTY))
            used.update((*inside, *folder)[:size] for size in range(len(inside) + len(folder)))
    yield from sorted(listed, key=lambda entry: entry.parts)


def _trick(info: zipfile.ZipInfo) -> str:
    """Why an entry of a zip is refused by its header alone; "" if it is not."""
    name = getattr(info, "orig_filename", info.filename)
    parts = re.split(r"[/\\]", name)
    if not info.filename:
        return "it has no name in the zip"
    if "\0" in name:
        return "its name in the zip has a null character"
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return "its name in the zip is an absolute path"
    if ".." in parts:
        return "its name in the zip leads outside of the folder"
    if "\\" in name:
        return "its name in the zip has a backslash"
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is a symbolic link or a device in the zip"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is packed by a method that is not read here"
    if info.file_size > FILE_BYTES:
        return f"it is larger than {FILE_BYTES >> 20} MB"
    return ""


def _unpacker(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: list[int]) -> Callable[[], bytes]:
    def read() -> bytes:
        if info.file_size > left[0]:
            raise Unreadable(f"the zip holds more than {ZIP_BYTES >> 20} MB")
        import zlib

        try:
            with archive.open(info) as file:
                data = _limited(file, FILE_BYTES)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError):
            raise Unreadable("the zip is damaged at this file") from None
        left[0] -= len(data)
        return data

    return read


# -------------------------------------------------------------------------------------------------------------- text


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Marks at the beginning of a file; UTF-32's before UTF-16's, which begins like it."""


def text_of(data: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 and UTF-32 with a mark; bytes that are none of it become U+FFFD.

    Raises Unreadable for what is no text.
    """
    text = None
    for mark, name in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(name, "replace")
            break
    text = clean(data.decode("utf-8", "replace") if text is None else text)
    if "\0" in text:
        raise Unreadable("it is not text")
    if text.count("\ufffd") > 8 + len(text) // 20:
        raise Unreadable("it is not text in UTF-8")
    return text


def clean(text: str) -> str:
    """Without half characters, which no file can hold, and without a mark at the beginning."""
    with contextlib.suppress(UnicodeEncodeError):
        text.encode("utf-8")
        return text.removeprefix("\ufeff")
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").removeprefix("\ufeff")
