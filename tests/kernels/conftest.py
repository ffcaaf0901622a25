"""`gpu`: runs the kernels of the corpus on both virtual GPUs.

A test gives the HIP source and the arguments of a launch, gets the arrays back, and compares them with what Python or
numpy says. Every test runs on gfx942 (wave64) and gfx1100 (wave32) at -O3; `@levels` adds other compiler
options. `make test` runs an eighth of them, each on one of the two, at -O3; which, its name decides.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator

import pytest

import gpulab
from tests.kernels.harness import ARCHITECTURES, OPTIONS, SOURCES, Gpu

STANDARD = [(arch, OPTIONS or ("-O3",)) for arch in ARCHITECTURES]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "gpu" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("levels")
        more = mark.args if mark and not OPTIONS else ()
        # Each further option on one of the two, in turn: the time goes into compiling.
        turn = len(metafunc.definition.name)
        others = [list(ARCHITECTURES)[(turn + k) % len(ARCHITECTURES)] for k in range(len(more))]
        ways = STANDARD + [(arch, (option,)) for arch, option in zip(others, more, strict=True)]
        # Seven of eight tests are left to the long run altogether; three of four of those from machine code alone.
        one_of = 4 if "GPULAB_CORPUS_FOREIGN" in os.environ else 8
        first = zlib.crc32(metafunc.definition.name.encode()) % (one_of * len(STANDARD))
        parameters = [
            pytest.param(way, id=f"{way[0]}{way[1][0]}", marks=() if number == first else pytest.mark.full)
            for number, way in enumerate(ways)
        ]
        metafunc.parametrize("gpu", parameters, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SOURCES:  # nothing is to be compiled or run: only the tests that hand their sources to `gpu`, each once
        ways = [item for item in items if "gpu" in getattr(item, "fixturenames", ())]
        seen: dict[object, pytest.Item] = {}
        for item in ways:
            seen.setdefault((item.path, getattr(item, "originalname", item.name)), item)
        kept = list(seen.values())
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


@pytest.fixture
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    arch, options = request.param
    # GPULAB_CHECKED=1 runs the corpus checked: none of its kernels has a race, or reads what was never written.
    with gpulab.checked() if os.environ.get("GPULAB_CHECKED") else contextlib.nullcontext():
        yield from Gpu.opened(arch, options)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "levels(*options): run the test with these compiler options too")
