"""A limit of instructions for these tests: waiting that is not noticed ends soon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gpulab


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    gpulab.set_limit(30_000_000)
    yield
    gpulab.set_limit(None)
