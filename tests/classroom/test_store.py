"""Results outlive a kill at any byte, a full disk, and a second process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpulab.classroom import store
from gpulab.classroom.store import Lines, Results, lines_of, replace_file
from gpulab.errors import CheckError

ROOT = Path(__file__).resolve().parents[2]
VALUES = {f"key-{number}": {"status": "wrong", "text": f"ü\n{number}"} for number in range(3)}


def filled(path: Path) -> bytes:
    with Results(path) as store:
        for key, value in VALUES.items():
            assert store.put(key, value)
    return path.read_bytes()


class Slow:
    """A file that takes three bytes at a time, and at times none; and not for ever."""

    def __init__(self, path: Path) -> None:
        self.file, self.calls = open(path, "a+b", buffering=0), 0  # noqa: SIM115

    def write(self, data: memoryview) -> int | None:
        self.calls += 1
        if self.calls > 200:
            raise RuntimeError("the same bytes are written again and again")
        return None if self.calls % 3 == 2 else self.file.write(data[:3])

    def fileno(self) -> int:
        return self.file.fileno()

    def truncate(self, size: int) -> int:
        return self.file.truncate(size)

    def close(self) -> None:
        self.file.close()


def test_a_file_that_takes_a_line_in_pieces(tmp_path: Path) -> None:
    with Lines(tmp_path / "lines") as lines:
        lines._file.close()
        lines._file = Slow(tmp_path / "lines")  # type: ignore[assignment]
        lines.add({"a": 1})
        assert lines._size == (tmp_path / "lines").stat().st_size == 32 + 1 + len('{"a":1}') + 1
        lines.add([2])
    assert list(lines_of(tmp_path / "lines")) == [{"a": 1}, [2]]


def test_a_kill_at_any_byte_loses_at_most_the_line_that_was_being_written(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole")
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 0x0A]
    assert len(ends) == 3
    path = tmp_path / "cut"
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = sum(end - 1 <= size for end in ends)  # all but the end of its line says it all
        with Results(path) as store:
            assert store.found == dict(list(VALUES.items())[:kept]), size
            for key, value in VALUES.items():
                store.put(key, value)
        with Results(path) as store:
            assert store.found == VALUES, size


def test_a_changed_byte_spoils_its_line_alone(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole")
    first = whole.index(b"\n")
    for at in (0, 10, 33, 50, first - 1):
        changed = bytearray(whole)
        changed[at] ^= 1
        (tmp_path / "changed").write_bytes(changed)
        with Results(tmp_path / "changed") as store:
            assert store.found == dict(list(VALUES.items())[1:])


def test_the_first_result_counts(tmp_path: Path) -> None:
    with Results(tmp_path / "store") as store:
        assert store.put("a", 1)
        assert not store.put("a", 2)
    with Lines(tmp_path / "store") as lines:
        lines.add(["a", 3])
    with Results(tmp_path / "store") as store:
        assert store.found == {"a": 1}


def test_lines_that_are_no_results_are_left_out(tmp_path: Path) -> None:
    with Lines(tmp_path / "store") as lines:
        for value in (3, [1, 2], ["a"], {"a": 1}, ["b", 2]):
            lines.add(value)
    with Results(tmp_path / "store") as store:
        assert store.found == {"b": 2}
    assert list(lines_of(tmp_path / "absent")) == []


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """In a process whose files may not grow over a limit: a write then stops in the middle of a line."""
    code = (
        "import resource, sys; from pathlib import Path; from gpulab.classroom.store import *\n"
        "path = Path(sys.argv[1])\n"
        "with Results(path) as store:\n"
        "    store.put('first', 'a' * 100)\n"
        "    size = path.stat().st_size\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 57, resource.RLIM_INFINITY))\n"
        "    for _ in range(3):\n"
        "        try: store.put('second', 'b' * 100)\n"
        "        except OSError as error: print(error.strerror, path.stat().st_size == size, 'second' in store.found)\n"
        "    try: replace_file(path.with_name('table'), b'new' * 999)\n"
        "    except OSError as error: print('table')\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n"
        "    store.put('third', 3)\n"
    )
    (tmp_path / "table").write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store")], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["File too large True False"] * 3 + ["table"]
    assert (tmp_path / "table").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store", "table"]
    with Results(tmp_path / "store") as store:
        assert store.found == {"first": "a" * 100, "third": 3}


def test_a_second_process_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "out" / "store"
    code = (
        "import sys; from pathlib import Path; from gpulab.classroom.store import *\n"
        "store = Results(Path(sys.argv[1])); store.put('a', 1); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(CheckError, match="Another run writes to"):
            Results(path)
        other.kill()
    with Results(path) as store:
        assert store.found == {"a": 1}


def test_a_file_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "table"
    replace_file(path, b"one")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert list(path.parent.iterdir()) == [path]


def test_what_stands_in_a_file_but_is_no_result(tmp_path: Path) -> None:
    with Lines(tmp_path / "store") as lines:
        for value in ("a", ["a"], ["a", 1, 2], [1, 2], {"a": 1}, ["b", None]):
            lines.add(value)
    with Results(tmp_path / "store") as store:
        assert store.found == {"b": None}
    assert list(lines_of(tmp_path / "absent")) == []


def test_a_line_says_its_digest(tmp_path: Path) -> None:
    """SHA-256 of its JSON, sorted and without spaces: 32 of the digits."""
    import hashlib

    with Lines(tmp_path / "lines") as lines:
        lines.add({"b": "ü", "a": [1, 2.5]})
    text = b'{"a":[1,2.5],"b":"\\u00fc"}'
    digits = hashlib.sha256(text).hexdigest()[:32].encode()
    line = digits + b" " + text + b"\n"
    assert (tmp_path / "lines").read_bytes() == line
    with Lines(tmp_path / "lines") as lines:
        lines.add({"b": "ü", "a": [1, 2.5]})
    assert (tmp_path / "lines").read_bytes() == line + line
    (tmp_path / "lines").write_bytes(line[:-1])
    with Lines(tmp_path / "lines"):
        pass
    assert (tmp_path / "lines").read_bytes() == line, "a new line begins behind one that was broken off"


@pytest.mark.parametrize("free", [True, False])
def test_the_lock_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: bool) -> None:
    """One byte at 1 TB, at once or not at all."""
    asked: list[tuple[int, int, int]] = []

    def locking(handle: int, mode: int, size: int) -> None:
        asked.append((os.lseek(handle, 0, os.SEEK_CUR), mode, size))
        if not free:
            raise OSError(36, "Resource deadlock avoided")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    with open(tmp_path / "file", "a+b", buffering=0) as file:
        assert store._locked(file) is free
    assert asked == [(1 << 40, 2, 1)]
