"""A file is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from gpulab.delivery.whole import whole


def test_the_new_file_takes_the_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.txt"
    with whole(path) as part:
        part.write_text("one")
        assert not path.exists()
        assert part.parent == path.parent
    with whole(path) as part:
        part.write_text("two")
        assert path.read_text() == "one"
    assert path.read_text() == "two"
    assert list(path.parent.iterdir()) == [path]


def test_no_other_handle_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows replaces no file that somebody has open."""
    make, handles = tempfile.mkstemp, []

    def made(**more: str) -> tuple[int, str]:
        handle, name = make(**more)
        handles.append(handle)
        return handle, name

    monkeypatch.setattr(tempfile, "mkstemp", made)
    with whole(tmp_path / "a.txt"):
        (handle,) = handles
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    with pytest.raises(error), whole(path) as part:
        part.write_text("tw")
        raise error
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]
