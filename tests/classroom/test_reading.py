"""Files of strangers: what is not a plain file is named and never opened, and zips do no harm."""

from __future__ import annotations

import io
import os
import socket
import stat
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import pytest

from gpulab.classroom import reading
from gpulab.classroom.reading import Entry, Unreadable, entries, shown, text_of, zip_entries

ROOT = Path(__file__).resolve().parents[2]


def found(top: Path) -> dict[str, Entry]:
    return {entry.where: entry for entry in entries(top)}


def zipped(files: dict[str, bytes | zipfile.ZipInfo]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data if isinstance(data, bytes) else b"")
    return out.getvalue()


def problem_of(data: bytes, name: str = "a.hip") -> str:
    (entry,) = zip_entries(data, ())
    assert entry.parts[-1] == name
    try:
        entry.read()
    except Unreadable as problem:
        return str(problem)
    return ""


def test_what_is_not_a_plain_file_is_named_and_not_opened(tmp_path: Path) -> None:
    """In a process with a time limit: a FIFO that is opened waits for ever, and a link to /dev/zero has no end."""
    folder = tmp_path / "eve"
    folder.mkdir()
    os.mkfifo(folder / "fifo.hip")
    (folder / "zero.hip").symlink_to("/dev/zero")
    (folder / "secret.hip").symlink_to("/etc/passwd")
    (folder / "up").symlink_to(tmp_path)
    (folder / "gone.hip").symlink_to(tmp_path / "nothing")
    (folder / "plain.hip").write_text("text")
    at = os.getcwd()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(folder)  # the address of a socket is short
        server.bind("socket.hip")
        os.chdir(at)
        code = (
            "import sys; from pathlib import Path; from gpulab.classroom.reading import *\n"
            "for e in entries(Path(sys.argv[1])):\n"
            "    try: print(e.where, '|', e.read().decode())\n"
            "    except Unreadable as p: print(e.where, '|', p)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
    assert done.stderr == ""
    lines = dict(line.split(" | ") for line in done.stdout.splitlines())
    link = "it is a symbolic link, which is not followed"
    assert lines == {
        "eve/fifo.hip": "it is a FIFO, not a file",
        "eve/socket.hip": "it is a socket, not a file",
        "eve/plain.hip": "text",
        **{f"eve/{name}": link for name in ("zero.hip", "secret.hip", "up", "gone.hip")},
    }


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_that_takes_the_place_of_a_file_between_listing_and_reading_is_not_followed(
    tmp_path: Path, swapped: str
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.hip").write_text("secret")
    (tmp_path / "top" / "eve").mkdir(parents=True)
    (tmp_path / "top" / "eve" / "a.hip").write_text("own")
    (entry,) = entries(tmp_path / "top")
    assert entry.read() == b"own"
    if swapped == "file":
        (tmp_path / "top" / "eve" / "a.hip").unlink()
        (tmp_path / "top" / "eve" / "a.hip").symlink_to(tmp_path / "other" / "a.hip")
    else:
        (tmp_path / "top" / "eve" / "a.hip").unlink()
        (tmp_path / "top" / "eve").rmdir()
        (tmp_path / "top" / "eve").symlink_to(tmp_path / "other")
    with pytest.raises(Unreadable):
        entry.read()


def test_sizes_and_depths_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FILE_BYTES", 1 << 20)
    monkeypatch.setattr(reading, "FOLDER_ENTRIES", 50)
    deep = tmp_path.joinpath("ann", *"abcdefgh")
    deep.mkdir(parents=True)
    (deep / "a.hip").write_text("text")
    many = tmp_path / "bob"
    many.mkdir()
    for number in range(60):
        (many / f"{number}.hip").touch()
    large = tmp_path / "cy"
    large.mkdir()
    with open(large / "a.hip", "wb") as file:
        file.truncate(5 << 20)
    problems = {where: entry.problem for where, entry in found(tmp_path).items()}
    assert problems.pop("cy/a.hip") == ""
    assert list(problems.values()) == ["folders are more than 6 deep", "the folder has more than 50 files"]
    with pytest.raises(Unreadable, match="larger than 1 MB"):
        found(tmp_path)["cy/a.hip"].read()


def test_a_file_that_may_not_be_read_is_a_problem_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.hip").write_text("text")
    (entry,) = entries(tmp_path)
    (tmp_path / "a" / "x.hip").unlink()
    with pytest.raises(Unreadable, match="it cannot be read: no such file"):
        entry.read()
    with pytest.raises(Unreadable):
        list(entries(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../../etc/a.hip", "leads outside"),
        ("ann/../../a.hip", "leads outside"),
        ("/etc/a.hip", "absolute"),
        ("C:/a.hip", "absolute"),
        ("c:a.hip", "absolute"),
        ("\\\\server\\share\\a.hip", "absolute"),
        ("..\\a.hip", "leads outside"),
        ("ann\\a.hip", "backslash"),
    ],
)
def test_tricks_with_paths_in_a_zip_are_refused(name: str, problem: str) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("placeholder")
        info.filename = name  # as it is: zipfile would tidy it
        archive.writestr(info, b"text")
    (entry,) = zip_entries(out.getvalue(), ())
    assert problem in entry.problem
    assert ".." not in entry.parts
    assert not any("/" in part or "\\" in part for part in entry.parts)
    with pytest.raises(Unreadable):
        entry.read()


def test_a_zip_bomb_is_cut() -> None:
    """64 MB that pack to some KB: with a header that says so, and with one that says 10 bytes."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = b"".join(packed.compress(bytes(1 << 20)) for _ in range(64)) + packed.flush()
    for said in (64 << 20, 10):
        whole = _raw_zip(b"a.hip", data, said)
        before = time.process_time()
        problem = problem_of(whole)
        assert "larger than 16 MB" in problem or "damaged" in problem
        assert time.process_time() - before < 5


def _raw_zip(name: bytes, data: bytes, size: int) -> bytes:
    crc = 0
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, crc, len(data), size, len(name), 0) + name + data
    central = struct.pack(
        "<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 0, crc, len(data), size, len(name), 0, 0, 0, 0, 0, 0
    )
    central += name
    return local + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), 0)


def test_all_files_of_a_zip_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ZIP_BYTES", 3 << 20)
    files = {f"{number}.hip": bytes(1 << 20) for number in range(5)}
    left = list(zip_entries(zipped(files), ()))
    assert sum(len(entry.read()) for entry in left[:3]) == 3 << 20
    for entry in left[3:]:
        with pytest.raises(Unreadable, match="the zip holds more than 3 MB"):
            entry.read()


def test_links_devices_encrypted_and_double_files_of_a_zip_are_refused() -> None:
    link = zipfile.ZipInfo("link.hip")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    device = zipfile.ZipInfo("device.hip")
    device.external_attr = (stat.S_IFCHR | 0o666) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr(device, "")
        archive.writestr("good.hip", "text")
        archive.writestr("twice.hip", "1")
        archive.writestr("Twice.hip", "2")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("twice.hip", "3")
    problems = sorted((entry.where, entry.problem) for entry in zip_entries(out.getvalue(), ()))
    assert [where for where, problem in problems if not problem] == ["good.hip"]
    assert [problem for where, problem in problems if "wice" in where] == ["the zip has two files of that name"] * 3
    assert {problem for where, problem in problems if where in ("link.hip", "device.hip")} == {
        "it is a symbolic link or a device in the zip"
    }
    locked = bytearray(zipped({"a.hip": b"text"}))
    locked[locked.index(b"PK\1\2") + 8] |= 1
    assert problem_of(bytes(locked)) == "it is encrypted"


@pytest.mark.parametrize("cut", [0, 3, 20, 45, -1, -10, -30])
def test_a_damaged_zip_is_a_sentence(cut: int) -> None:
    data = zipped({"a.hip": b"text" * 100})
    broken = bytearray(data)
    if cut > 25:
        broken[cut] ^= 0xFF
    else:
        broken = broken[:cut]
    with pytest.raises(Unreadable, match=r"it is not a zip file that can be read|the zip is damaged at this file"):
        for entry in zip_entries(bytes(broken), ()):
            entry.read()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("int \u00fc;".encode(), "int ü;"),
        ("\ufeffint ü;".encode(), "int ü;"),
        ("\ufeffint ü;".encode("utf-16-le"), "int ü;"),
        ("\ufeffint ü;".encode("utf-16-be"), "int ü;"),
        ("\ufeffint ü;".encode("utf-32-le"), "int ü;"),
        ("\ufeffint ü;".encode("utf-32-be"), "int ü;"),
        ("int x; // größer".encode("latin-1"), "int x; // gr\ufffd\ufffder"),
    ],
)
def test_encodings(data: bytes, text: str) -> None:
    assert text_of(data) == text


@pytest.mark.parametrize("data", [b"\x7fELF\0\0\0\0", bytes(range(128, 256)) * 10, "int x;".encode("utf-16-le")])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="not text"):
        text_of(data)


def test_names_cannot_act_on_a_terminal() -> None:
    assert shown("a\x1b[31m\nb\u202ec") == "a␛[31m␊b\\u202ec"
    assert shown(os.fsdecode(b"\xff\xfe")) == "\\xff\\xfe"


# -- limits by one, and each reason ------------------------------------------------------------------------------


def test_limits_are_met_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (reading.FILE_BYTES, reading.ZIP_BYTES) == (16 * 1024**2, 512 * 1024**2)
    assert (reading.ZIP_ENTRIES, reading.DEPTH, reading.FOLDER_ENTRIES) == (20_000, 6, 2_000)
    monkeypatch.setattr(reading, "FILE_BYTES", 1 << 20)
    monkeypatch.setattr(reading, "FOLDER_ENTRIES", 3)
    for folder in ("1/2/3/4/5", "1/2/3/4/5/6", "three", "four"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    for name in ("1/2/3/4/5/a", "three/a", "three/b", "three/c", "three/.hidden", "three/Thumbs.db", "four/a", "four/b",
                 "four/c", "four/d", ".hidden", "desktop.ini"):  # fmt: skip
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "large").write_bytes(b"x" * (1 << 20))
    (tmp_path / "larger").write_bytes(b"x" * ((1 << 20) + 1))
    listed = [(entry.where, entry.problem) for entry in entries(tmp_path)]
    assert listed == [
        ("1/2/3/4/5/6", "folders are more than 6 deep"), ("1/2/3/4/5/a", ""),
        ("four", "the folder has more than 3 files"), ("large", ""), ("larger", ""), ("three/a", ""), ("three/b", ""),
        ("three/c", ""),
    ]  # fmt: skip  # the first folder may have more
    assert len(found(tmp_path)["large"].read()) == 1 << 20
    with pytest.raises(Unreadable, match="it is larger than 1 MB"):
        found(tmp_path)["larger"].read()
    with pytest.raises(Unreadable, match="folders are more than 6 deep"):
        found(tmp_path)["1/2/3/4/5/6"].read()


def test_empty_folders_of_a_zip() -> None:
    """As deep as those with files; of folders inside each other the innermost."""
    names = ("./", "a/", "b/c/", "b/", "d/", "d/e/", "d/x", ".git/", "1/2/3/4/5/6/", "9/2/3/4/5/6/7/")
    listed = [(entry.where, entry.problem) for entry in zip_entries(zipped(dict.fromkeys(names, b"")), ("top",))]
    empty = "the folder is empty"
    assert listed == [
        ("top/1/2/3/4/5/6", empty), ("top/a", empty), ("top/b/c", empty), ("top/d/e", empty), ("top/d/x", "")
    ]  # fmt: skip


def test_limits_of_a_zip_are_met_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ZIP_ENTRIES", 2)
    assert [entry.where for entry in zip_entries(zipped({"b": b"", "a": b""}), ("top",))] == ["top/a", "top/b"]
    with pytest.raises(Unreadable, match="the zip has more than 2 files"):
        list(zip_entries(zipped({"a": b"", "b": b"", "c": b""}), ()))
    monkeypatch.setattr(reading, "ZIP_ENTRIES", 10)
    deep = [(entry.parts, entry.problem) for entry in zip_entries(zipped({"1/2/3/4/5/6": b"", "1/./2/3//4/5/6/7": b""}),
                                                                  ("x",))]  # fmt: skip
    assert deep == [
        (("x", *"123456"), ""), (("x", *"1234567"), "folders are more than 6 deep"),
    ]  # fmt: skip
    monkeypatch.setattr(reading, "ZIP_BYTES", 2 << 20)
    monkeypatch.setattr(reading, "FILE_BYTES", 1 << 20)
    files = {"a": bytes(1 << 20), "b": bytes(1 << 20), "c": b"x"}
    one, two, three = zip_entries(zipped(files), ())
    assert [len(one.read()), len(two.read())] == [1 << 20, 1 << 20]
    with pytest.raises(Unreadable, match="the zip holds more than 2 MB"):
        three.read()
    assert problem_of(zipped({"a.hip": bytes((1 << 20) + 1)})) == "it is larger than 1 MB"
    archive = tmp_path / "all.zip"
    archive.write_bytes(zipped({"d/": b"", "d/a": b"text", "__MACOSX/a": b"", "d/.git/x": b""}))
    ((where, entry),) = found(archive).items()
    assert (where, entry.read()) == ("d/a", b"text")
    with open(archive, "ab") as file:
        file.truncate((2 << 20) + 1)
    with pytest.raises(Unreadable, match="larger than 2 MB"):
        list(entries(archive))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({"filename": ""}, "it has no name in the zip"),
        ({"orig_filename": "a\0b"}, "its name in the zip has a null character"),
        ({"filename": "a/..b/c", "orig_filename": "a/..b/c"}, ""),
        ({"filename": "ab:c", "orig_filename": "ab:c"}, ""),
        ({"external_attr": 0o100644 << 16}, ""),
        ({"external_attr": 0o040755 << 16}, ""),
        ({"external_attr": 0o060644 << 16}, "it is a symbolic link or a device in the zip"),
        ({"external_attr": 0o120000}, ""),  # of another system: not the mode
        ({"flag_bits": 1}, "it is encrypted"),
        ({"flag_bits": 0x800}, ""),
        ({"compress_type": zipfile.ZIP_DEFLATED}, ""),
        ({"compress_type": zipfile.ZIP_BZIP2}, "it is packed by a method that is not read here"),
        ({"file_size": 16 << 20}, ""),
        ({"file_size": (16 << 20) + 1}, "it is larger than 16 MB"),
    ],
)
def test_what_a_header_alone_says(changes: dict[str, object], problem: str) -> None:
    info = zipfile.ZipInfo("a.hip")
    for name, value in changes.items():
        setattr(info, name, value)
    assert reading._trick(info) == problem


@pytest.mark.parametrize(
    ("mode", "problem"),
    [
        (stat.S_IFREG, ""), (stat.S_IFLNK, "it is a symbolic link, which is not followed"),
        (stat.S_IFIFO, "it is a FIFO, not a file"), (stat.S_IFSOCK, "it is a socket, not a file"),
        (stat.S_IFCHR, "it is a device, not a file"), (stat.S_IFBLK, "it is a device, not a file"),
        (stat.S_IFDIR, "it is not a file"),
    ],
)  # fmt: skip
def test_kinds_of_files(mode: int, problem: str) -> None:
    assert reading._kind(os.stat_result((mode | 0o644, *[0] * 9))) == problem


def test_a_file_that_is_replaced_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("one")
    other.write_text("other")
    opened = os.open

    def swapped(path: object, flags: int, **more: object) -> int:
        assert flags & os.O_NOFOLLOW
        assert flags & os.O_NONBLOCK
        return opened(other, flags)

    assert reading.read_file(one, 3) == b"one"
    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(Unreadable, match="it changed while it was read"):
        reading.read_file(one, 3)


def test_how_many_bytes_may_be_no_text() -> None:
    """Eight, and one of twenty characters."""
    for size in (0, 19, 20, 400):
        most = 8 + size // 20 if size < 400 else 29  # of 29 + 400 characters a twentieth are 21
        text = b"x" * size
        assert text_of(b"\xff" * most + text).count("\ufffd") == most
        with pytest.raises(Unreadable, match="it is not text in UTF-8"):
            text_of(b"\xff" * (most + 2) + text)
    with pytest.raises(Unreadable, match=r"^it is not text$"):
        text_of(b"a\0")


def test_text_of_a_notebook_is_cleaned() -> None:
    assert reading.clean("\ufeffa\ufeff") == "a\ufeff"
    assert reading.clean("\ufeffa\ud800b") == "a\ufffd\ufffd\ufffdb"
    assert reading.clean("größer") == "größer"
    assert reading.said(OSError(2, "No Such File")) == "no such file"
    assert reading.said(OSError("Odd")) == "odd"
