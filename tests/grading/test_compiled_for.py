"""What a verdict compiles: each architecture where it is explained, else those that a run comes to."""

from __future__ import annotations

from typing import Any

import pytest

from gpulab.grading import load
from gpulab.grading.answers import right_answers, wrong_answer
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judge import judge


class Noting(GpuBench):
    """Notes for which architectures sources are compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.archs: list[str] = []

    def prepare(self, source: str, asked: Any, arch: str, first_line: int) -> Any:
        self.archs.append(arch)
        return super().prepare(source, asked, arch, first_line)


@pytest.mark.full
@pytest.mark.parametrize(
    ("explained", "seed", "archs"),
    [(True, None, ["gfx942", "gfx1100"]), (False, None, ["gfx942"]), (False, 1, ["gfx942", "gfx1100"])],
)
def test_an_answer_that_fails_on_the_first(explained: bool, seed: int | None, archs: list[str]) -> None:
    bench = Noting()
    source = wrong_answer("first-fill", "guard-one-too-far").source
    verdict = judge(load("first-fill"), source, bench, explained=explained, seed=seed)  # type: ignore[arg-type]
    assert (verdict.cause, bench.archs) == ("guard-one-too-far", archs)


def test_a_right_answer_is_compiled_once_for_each() -> None:
    bench = Noting()
    verdict = judge(load("first-fill"), right_answers("first-fill")["usual"], bench, explained=False)  # type: ignore[arg-type]
    assert (verdict.status, bench.archs) == ("passed", ["gfx942", "gfx1100"])


@pytest.mark.parametrize("explained", [True, False])
def test_what_does_not_compile_says_so(explained: bool) -> None:
    verdict = judge(load("first-fill"), "__global__ void fill(", GpuBench(), explained=explained)  # type: ignore[arg-type]
    assert verdict.status == "does not compile"
