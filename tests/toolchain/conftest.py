"""Fixtures: a cache folder of the test's own, and the architectures that the virtual GPU runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulab.toolchain import cache

ARCHITECTURES = ("gfx942", "gfx1100")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without a compiled source, used instead of the user's: what all sources need is shared."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in ("headers", "library", "zig"):
        shared = cache.folder() / name
        shared.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(shared, target_is_directory=True)
    monkeypatch.setenv("GPULAB_CACHE", str(folder))
    return folder


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    """Each architecture in turn."""
    return str(request.param)
