"""Fixtures: a cache folder of the test's own, and the architectures that the virtual GPU runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ARCHITECTURES = ("gfx942", "gfx1100")


@pytest.fixture(autouse=True, scope="session")
def cache_of_this_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing that these tests see was kept by an earlier run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPULAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, used instead of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GPULAB_CACHE", str(folder))
    return folder


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    """Each architecture in turn."""
    return str(request.param)
