"""Waves of checked launches that take a quick way (native/straight.c): what is found is what the rules say.

Each thread loads from two places, and stores to two, all of which go up evenly from thread to thread; or it loads in a
loop from two places that go up in each round. A store brings a number that is new, or what was there from the
beginning, which changes nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import re
from collections.abc import Callable

import numpy as np
import pytest

import gpulab
from gpulab.virtual_gpu.machine import checking, loading
from gpulab.virtual_gpu.schema import constant
from tests.translate.ways import Seen, without_it

KERNEL = """
#define OWN(at) (t * (long)at[1] + at[0])
#define STORES                                                                            \\
  const TYPE mine = (TYPE)(t % 100 + 8), one = t % step ? mine : 7, two = t % step ? 7 : mine; \\
  to[0] = sum == (TYPE)-9 ? 1 : one;                                                      \\
  behind[0] = sum == (TYPE)-9 ? 1 : two;

extern "C" __global__ void fill(TYPE* x, int n, int without) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n && t != without) x[t] = 7;
}

extern "C" __global__ void once(const int* at, int rounds, TYPE* x, TYPE* y) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, step = at[8];
  TYPE *to = y + OWN((at + 4)), *behind = x + OWN((at + 6));
  TYPE sum = x[OWN(at)] + x[OWN((at + 2))];
  STORES
}

extern "C" __global__ void in_rounds(const int* at, int rounds, TYPE* x, TYPE* y) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, step = at[8], next = at[9], other_next = at[10];
  TYPE *to = y + OWN((at + 4)), *behind = x + OWN((at + 6));
  const TYPE *from = x + OWN(at), *other = x + OWN((at + 2));
  TYPE sum = 0;
  for (int k = 0; k < rounds; k++, from += next, other += other_next) sum += *from + *other;
  STORES
}
"""
TYPES = {"int": "int32", "unsigned char": "uint8", "double": "float64"}
BLOCK, BLOCKS, FIRST = 128, 24, 7
THREADS = np.arange(BLOCK * BLOCKS)
SIZE = 4 * THREADS.size + 64
PROGRAMS = int(os.environ.get("GPULAB_PROGRAMS", "12"))
FIRST_SEED = int(os.environ.get("GPULAB_SEED", "0"))


class Program:
    """Where each thread loads and stores: of `x` and `y` the elements, by access and thread.

    Args:
        at: of each access the first thread's element, and how far the threads are apart: two loads, a store to `y`, one
            to `x`.
        step: of which threads one changes something in `x`, the others in `y`.
        rounds: of loads, and how far the two are apart from round to round.
    """

    def __init__(self, at: list[tuple[int, int]], step: int, rounds: int = 1, apart: tuple[int, int] = (0, 0)) -> None:
        self.at, self.step, self.rounds, self.apart = at, step, rounds, apart
        self.size = max(SIZE, at[3][0] + 2 * THREADS.size + 16)
        own = [first + stride * THREADS for first, stride in at]
        sweep = np.arange(rounds)[:, None]
        self.loads = np.concatenate([own[i] + sweep * apart[i] for i in range(2)])
        others = THREADS % step != 0
        self.stores = {"y": (own[2], others), "x": (own[3], ~others)}  # where, and whose store changes something

    @staticmethod
    def drawn(seed: int, loops: bool, calm: bool) -> Program:
        """calm: nothing is stored where others load."""
        random = np.random.default_rng(seed)
        n = THREADS.size
        rounds = int(random.choice([1, 3, 40])) if loops else 1
        one, other = (int(random.choice([0, 1, 1, 2, 64])) if loops else 0 for _ in range(2))
        step = int(random.choice([1, 2, 3, 1000]))
        room = SIZE - 64 * 40 if loops else SIZE
        at = []
        for stride in map(int, (*random.choice([0, 1, 1, 1, 2], 2), *random.choice([1, 1, 1, 2], 2))):
            far = room - stride * (n - 1) - 1
            at.append((min(int(random.choice([0, 0, 1, 64, random.integers(far)])), far), stride))
        if calm:  # x is stored to behind all loads
            ends = [first + stride * (n - 1) for first, stride in at[:2]]
            reach = max(ends[0] + (rounds - 1) * one, ends[1] + (rounds - 1) * other)
            at[3] = (reach // 16 * 16 + 16 + int(random.choice([0, 0, 3])), at[3][1])
        return Program(at, step, rounds, (one, other))

    def races(self, wave: int) -> set[tuple[int, int]]:
        """The pairs of threads of all races."""
        found: set[tuple[int, int]] = set()
        for name, loads in (("x", self.loads), ("y", self.loads[:0])):
            place, changes = self.stores[name]
            writer = np.full(self.size, -1)
            writer[place[changes]] = THREADS[changes]  # no two threads store to the same element
            for row in loads:
                by = writer[row]
                for thread, other in zip(THREADS[by >= 0].tolist(), by[by >= 0].tolist(), strict=True):
                    if thread // wave != other // wave:
                        found.add((min(thread, other), max(thread, other)))
        return found

    def run(
        self, kernel: gpulab.Kernel, type: str, x: gpulab.DeviceArray | None = None, watched: bool = True
    ) -> gpulab.records.Fault | None:
        """What a checked launch finds, or nothing of another one."""
        dtype = TYPES[type]
        self.x = gpulab.to_device(np.full(self.size, FIRST, dtype)) if x is None else x
        self.y = gpulab.to_device(np.full(SIZE, FIRST, dtype))
        self.given = gpulab.to_device(np.array([*itertools.chain(*self.at), self.step, *self.apart], "int32"))
        with gpulab.checked() if watched else contextlib.nullcontext():
            try:
                kernel[BLOCKS, BLOCK](self.given, np.int32(self.rounds), self.x, self.y)
            except gpulab.CheckedFault as error:
                return error.fault
        return None


def pair_of(fault: gpulab.records.Fault) -> tuple[int, int]:
    assert fault.other is not None
    sides = [side.workgroup[0] * BLOCK + side.thread[0] for side in (fault, fault.other) if side.thread is not None]
    one, other = sorted(sides)
    return one, other


def writers(array: gpulab.DeviceArray) -> list[int]:
    """The thread that was the last to change each element, -1: nobody."""
    count = array.shape[0]
    last = gpulab.providers.instruments("writers").last_writers(array.address, array.dtype.itemsize, count)
    return [-1 if who is None else who.workgroup[0] * BLOCK + who.thread[0] for who in (last[i] for i in range(count))]


ARCHITECTURES = pytest.mark.parametrize(("arch", "wave"), [("gfx942", 64), ("gfx1100", 32)])
KERNELS = pytest.mark.parametrize("name", ["once", "in_rounds"])


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], gpulab.Module]:
    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    return lambda type: gpulab.compile(KERNEL, options=(f"-DTYPE={type}",))


@KERNELS
@pytest.mark.parametrize("type", TYPES)
@ARCHITECTURES
def test_a_race_is_found_where_two_accesses_conflict(
    arch: str, wave: int, type: str, name: str, compiled: Callable[[str], gpulab.Module]
) -> None:
    with gpulab.using(f"virtual:{arch}"):
        kernel = compiled(type)[name]
        for seed in range(FIRST_SEED, FIRST_SEED + PROGRAMS):
            program = Program.drawn(seed, name == "in_rounds", calm=False)
            races, fault = program.races(wave), program.run(kernel, type)
            if fault is None:
                assert not races, seed
            else:
                assert fault.kind == "race", seed
                assert pair_of(fault) in races, seed


@ARCHITECTURES
def test_a_wave_that_is_looked_at_twice_does_not_hide_what_another_read(
    arch: str, wave: int, compiled: Callable[[str], gpulab.Module]
) -> None:
    """Each element is read by two waves before one of them changes it: what that one read itself is no race."""
    program = Program([(64, 1), (1, 1), (1, 1), (1, 1)], 1000)
    with gpulab.using(f"virtual:{arch}"):
        kernel = compiled("int")["once"]
        Program([(0, 1), (0, 1), (0, 1), (SIZE, 1)], 1).run(kernel, "int")  # now it is optimised
        fault = program.run(kernel, "int")
    assert fault is not None
    assert pair_of(fault) == (937, 1000) == min(program.races(wave))


@ARCHITECTURES
def test_races_are_found_when_events_are_numbered_anew(
    arch: str, wave: int, compiled: Callable[[str], gpulab.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch after others, in which there is room for a few stretches between switches of waves; it does not run out
    in the workgroup that has the race."""
    with gpulab.using(f"virtual:{arch}"):
        kernel = compiled("int")["once"]
        for _ in range(3):
            assert Program([(0, 1), (0, 1), (0, 1), (SIZE, 1)], 1).run(kernel, "int") is None
        monkeypatch.setattr(checking, "SEGMENTS", 12 if wave == 64 else 22)
        program = Program([(64, 1), (1, 1), (1, 1), (1, 1)], 1000)
        fault = program.run(kernel, "int")
    assert fault is not None
    assert pair_of(fault) in program.races(wave)


def test_shadow_memory_has_nothing_from_the_future(
    compiled: Callable[[str], gpulab.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the next launch it is used for other memory, and what is later than an access seems to be its wave's own."""
    checkers: list[checking.Checker] = []
    prepare = checking.Checker.prepare
    monkeypatch.setattr(
        checking.Checker, "prepare", lambda self, *arguments: (checkers.append(self), prepare(self, *arguments))
    )
    with gpulab.using("virtual:gfx942"):
        kernel = compiled("int")["once"]
        Program([(0, 1), (1, 1), (0, 1), (SIZE, 1)], 1).run(kernel, "int")  # rows are taken apart
        state = checkers[-1].state
        words = np.frombuffer((ctypes.c_uint32 * (state.room_bytes // 4)).from_address(state.room), np.uint32)
        assert words.max() >> constant("EVENT_SHIFT") == state.now


@KERNELS
@ARCHITECTURES
def test_code_for_checked_launches_runs_in_others(
    arch: str, wave: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch that nobody checks takes it while it is short; its sample is recorded in the ordinary way."""
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e9)
    monkeypatch.setattr(loading.jit, "is_kept", lambda ir: False)
    program = Program([(0, 1), (3, 1), (5, 1), (SIZE, 1)], 1, 40, (1, 2))
    with gpulab.using(f"virtual:{arch}"):
        kernel = gpulab.compile(KERNEL, options=("-DTYPE=int",))[name]
        assert program.run(kernel, "int") is None
        for _ in range(3):
            program.x.copy_from(np.full(program.size, FIRST, "int32"))
            kernel[BLOCKS, BLOCK](program.given, np.int32(program.rounds), program.x, program.y)
            wanted = np.full(program.size, FIRST)
            wanted[program.stores["x"][0]] = THREADS % 100 + 8
            assert program.x.to_host().tolist() == wanted.tolist()


@ARCHITECTURES
def test_a_profile_takes_code_for_checked_profiles(arch: str, wave: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is short. What a loop's rounds leave behind lies in another order there."""
    monkeypatch.setattr(loading, "QUICK_SECONDS", 1e9)
    monkeypatch.setattr(loading.jit, "is_kept", lambda ir: False)
    program = Program([(0, 1), (3, 1), (5, 1), (SIZE, 1)], 1, 40, (1, 2))
    counters = []
    with gpulab.using(f"virtual:{arch}"):
        for checked_before in (False, True):
            kernel = gpulab.compile(KERNEL, options=("-DTYPE=int",))["in_rounds"]
            program.run(kernel, "int", watched=False)
            if checked_before:
                with gpulab.profile():
                    assert program.run(kernel, "int") is None
            with gpulab.profile() as run:
                program.run(kernel, "int", watched=False)
            counters.append({name: value for name, value in run.launches[0].counters.items() if "LDS" not in name})
    assert counters[0] == counters[1]


@KERNELS
@pytest.mark.parametrize("type", TYPES)
@ARCHITECTURES
def test_the_last_writer_of_each_element_is_known(
    arch: str, wave: int, type: str, name: str, compiled: Callable[[str], gpulab.Module]
) -> None:
    with gpulab.using(f"virtual:{arch}"):
        kernel = compiled(type)[name]
        for seed in range(FIRST_SEED, FIRST_SEED + 3):
            program = Program.drawn(seed, name == "in_rounds", calm=True)
            assert program.run(kernel, type) is None
            for array, (place, changes) in zip((program.y, program.x), program.stores.values(), strict=True):
                expected = np.full(array.shape[0], -1)
                expected[place[changes]] = THREADS[changes]
                assert writers(array) == expected.tolist(), seed


@KERNELS
@ARCHITECTURES
def test_a_read_of_what_nobody_wrote_is_found(
    arch: str, wave: int, name: str, compiled: Callable[[str], gpulab.Module]
) -> None:
    """All was written but for a few elements."""
    with gpulab.using(f"virtual:{arch}"):
        module = compiled("int")
        kernel, fill = module[name], module["fill"]
        for seed in range(FIRST_SEED, FIRST_SEED + PROGRAMS):
            program = Program.drawn(seed, name == "in_rounds", calm=True)
            x = gpulab.empty(program.size, "int32")
            random = np.random.default_rng(seed)
            last = int(program.loads.max())
            missing = int(random.choice([*program.loads.flat[:: program.loads.size // 7], last + 1]))
            with gpulab.checked():
                fill[-(-program.size // BLOCK), BLOCK](x, np.int32(program.size), np.int32(missing))
            readers = {int(t) for row in program.loads for t in THREADS[row == missing]}
            fault = program.run(kernel, "int", x)
            if fault is None:
                assert not readers, seed
            else:
                assert fault.kind == "never written", seed
                assert fault.thread is not None
                assert fault.workgroup[0] * BLOCK + fault.thread[0] in readers, seed


@KERNELS
@ARCHITECTURES
def test_findings_are_those_of_the_ordinary_way(
    arch: str, wave: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last word but for addresses, and these kernels do go the quick way."""

    def findings(kernel: gpulab.Kernel) -> list[str]:
        programs = [Program.drawn(seed, name == "in_rounds", calm=seed % 2 == 0) for seed in range(PROGRAMS)]
        return [re.sub(r"\b(0x\w+|\d{12,})\b", "", repr(program.run(kernel, "int"))) for program in programs]

    monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)
    seen = Seen(monkeypatch)
    with gpulab.using(f"virtual:{arch}"):
        told = findings(gpulab.compile(KERNEL, options=("-DTYPE=int",))[name])
        if name == "once":
            assert seen.fits()
        with monkeypatch.context() as patch:
            without_it(patch)
            expected = findings(gpulab.compile(KERNEL, options=("-DTYPE=int", "-DSLOW"))[name])
            assert not seen.fits()
    assert told == expected
