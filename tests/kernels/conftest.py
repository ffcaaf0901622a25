"""`gpu`: runs the kernels of the corpus on both virtual GPUs.

A test gives the HIP source and the arguments of a launch, gets the arrays back, and compares them with what Python or
numpy says. Every test runs on gfx942 (wave64) and gfx1100 (wave32) at -O3; `@levels` adds other compiler
options.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernels.harness import ARCHITECTURES, Gpu

STANDARD = [(arch, ("-O3",)) for arch in ARCHITECTURES]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "gpu" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("levels")
        more = mark.args if mark else ()
        # Each further option on one of the two, in turn: the time goes into compiling.
        turn = len(metafunc.definition.name)
        others = [list(ARCHITECTURES)[(turn + k) % 2] for k in range(len(more))]
        ways = STANDARD + [(arch, (option,)) for arch, option in zip(others, more, strict=True)]
        metafunc.parametrize("gpu", ways, indirect=True, ids=[f"{arch}{option[0]}" for arch, option in ways])


@pytest.fixture
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    arch, options = request.param
    yield from Gpu.opened(arch, options)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "levels(*options): run the test with these compiler options too")
