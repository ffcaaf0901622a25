"""What launches of a test were set up for: which way their workgroups had."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

import gpulab
from gpulab.virtual_gpu.machine import loading
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.launching import Plan
from gpulab.virtual_gpu.translate import phases, straight


class Seen:
    """The launches, and whether their waves went straight through (translate/straight.py, phases.py)."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.plans: list[Plan] = []
        run = VirtualDevice._run

        def ran(machine: VirtualDevice, plan: Plan, *arguments: object) -> object:
            self.plans.append(plan)
            return run(machine, plan, *arguments)  # type: ignore[arg-type]

        patch.setattr(VirtualDevice, "_run", ran)

    def fits(self) -> bool:
        """Whether the last launch's kernel has that way, and its blocks fit."""
        return bool(self.plans[-1].launch.straight)

    def given_up(self) -> bool:
        """Whether the last workgroup that was tried could not go on, on the thread that did most of the last launch."""
        thread = max((context.thread for context in self.plans[-1].contexts), key=lambda each: each.executed)
        return bool(thread.turns)


def without_it(patch: pytest.MonkeyPatch) -> None:
    """Kernels that are translated from here on have neither way."""
    patch.setattr(straight.Straight, "_way", lambda self: None)
    patch.setattr(phases.Phases, "_split", lambda self: None)


@contextlib.contextmanager
def compiled_twice(source: str, arch: str) -> Iterator[tuple[gpulab.Module, gpulab.Module]]:
    """The same kernels twice, optimised at once: one module for that way, and one for tests without it."""
    with pytest.MonkeyPatch.context() as patch, gpulab.using(f"virtual:{arch}"):
        patch.setattr(loading, "QUICK_SECONDS", 0.0)
        yield gpulab.compile(source), gpulab.compile(source + "// without\n")
