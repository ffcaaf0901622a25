"""The port of a bench: what runs cases of a kernel's text. `gpu_bench.GpuBench` is the one that verdicts come from.

A bench prepares a source for an architecture, and then runs one case after the other. Cases and runs are plain data, so
that a bench may stand in another process or on another machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from gpulab.grading.case import Asked, Buffer, Case, Run

if TYPE_CHECKING:
    from gpulab.module import Resources


class Prepared(Protocol):
    """A kernel that is ready to be launched on one architecture."""

    arch: str
    wave_size: int

    def run(
        self,
        case: Case,
        buffers: Sequence[Buffer],
        limit: int,
        checked: bool = False,
        wanted: Mapping[str, Sequence[int]] | None = None,
        profiled: bool = False,
        weak: int | None = None,
    ) -> Run: ...

    @property
    def resources(self) -> Mapping[str, Resources]: ...

    @property
    def isa(self) -> Mapping[str, tuple[str, ...]]: ...

    @property
    def unset(self) -> tuple[str, ...]: ...

    def close(self) -> None: ...


class Bench(Protocol):
    """Compiles a kernel's text for an architecture."""

    def prepare(self, source: str, asked: Asked, arch: str, first_line: int = 1) -> Prepared: ...


class WrongSignature(Exception):
    """The kernel asked for is not in the source, or takes other parameters. The text is for the learner."""
