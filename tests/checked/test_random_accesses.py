"""Random accesses by several waves and blocks: a race is found exactly where two of them conflict by the rules.

Each thread executes its own column of a table: in each step nothing, a load of one element or of three neighbours, or a
store. Some steps end with a barrier. Two accesses conflict if they use the same element, if one of them changes it, and
if neither the wave's order nor a barrier of the block orders them. Each store either brings a number that is new, or
what was in the element from the beginning; the latter changes nothing.
"""

from __future__ import annotations

import itertools
import os
from typing import NamedTuple

import numpy as np
import pytest

import gpulab

KERNEL = """
#define NOTHING 0
#define LOAD 1
#define NEIGHBOURS 2
#define STORE 3
#define ATOMIC 4

__device__ void steps(int steps, int n, int t, const int* sync, const int* kind, const int* index, const TYPE* value,
                      TYPE* x, TYPE* out) {
  TYPE sum = 0;
  for (int s = 0; s < steps; s++) {
    int what = kind[s * n + t], i = index[s * n + t];
    if (what == LOAD) sum += x[i];
    if (what == NEIGHBOURS) sum += x[i] + x[i + 1] + x[i + 2];
    if (what == STORE) x[i] = value[s * n + t];
#ifdef ATOMICS
    if (what == ATOMIC) atomicAdd(x + i, (TYPE)1000);
#endif
    if (sync[s]) __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void in_memory(int n_steps, const int* sync, const int* kind, const int* index,
                                     const TYPE* value, TYPE* x, TYPE* out) {
  steps(n_steps, gridDim.x * blockDim.x, blockIdx.x * blockDim.x + threadIdx.x, sync, kind, index, value, x, out);
}

extern "C" __global__ void in_lds(int n_steps, const int* sync, const int* kind, const int* index,
                                  const TYPE* value, TYPE* x, TYPE* out) {
  __shared__ TYPE tile[SIZE];
#ifndef UNWRITTEN
  for (int i = threadIdx.x; i < SIZE; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
#endif
  steps(n_steps, gridDim.x * blockDim.x, blockIdx.x * blockDim.x + threadIdx.x, sync, kind, index, value, tile, out);
}
"""
NOTHING, LOAD, NEIGHBOURS, STORE, ATOMIC = range(5)
PLAIN = LOAD, LOAD, NEIGHBOURS, STORE, STORE
TYPES = {"int": "int32", "unsigned char": "uint8", "short": "int16", "double": "float64"}
STEPS, BLOCK, SIZE, FIRST = 8, 128, 300, 7
PROGRAMS = int(os.environ.get("GPULAB_PROGRAMS", "4"))
FIRST_SEED = int(os.environ.get("GPULAB_SEED", "0"))


def places(random: np.random.Generator, wave: int) -> np.ndarray:
    """Elements for the lanes of a wave, each another one."""
    first = int(random.integers(SIZE - 2 * wave - 2))
    lanes = np.arange(wave)
    return [
        first + lanes,
        first // 8 * 8 + lanes,
        first + lanes[::-1],
        first + 2 * lanes,
        first + random.permutation(wave),
        (lanes * 9 + first) % (SIZE - 2),
        first + (lanes ^ 8),
    ][random.integers(7)]


def active(random: np.random.Generator, wave: int) -> np.ndarray:
    """Which lanes take part."""
    lanes = np.arange(wave)
    return [
        lanes >= 0, lanes % 2 == 1, lanes < random.integers(1, wave), lanes >= random.integers(wave),
        random.random(wave) < 0.8, lanes // 8 % 2 == 0, lanes == random.integers(wave),
    ][random.integers(7)]  # fmt: skip


class Access(NamedTuple):
    """An access of one element. phase: barriers of the block before it. writes: whether it changes the element.
    atomic: whether it may be at the same time as others that are."""

    element: int
    thread: int
    phase: int
    writes: bool
    atomic: bool


class Program:
    """A table, and what the rules say of it.

    kinds: of accesses; none: the table is empty. alone: there are no races; then `unwritten` has the threads that read
    what nobody has written before.
    """

    def __init__(
        self, seed: int, wave: int, blocks: int, lds: bool, kinds: tuple[int, ...] = PLAIN, alone: bool = False
    ) -> None:
        random = np.random.default_rng(seed)
        self.n, self.wave, self.lds, self.kinds = BLOCK * blocks, wave, lds, kinds
        self.kind = np.zeros((STEPS, self.n), "int32")
        self.index = np.zeros((STEPS, self.n), "int32")
        same = 0 if alone else random.choice([0.3, 0.97])
        self.same = random.random(SIZE) < same  # elements that stores never change
        self.sync = (random.random(STEPS) < 0.6).astype("int32")
        self.accesses: dict[int, list[Access]] = {}
        self.unwritten: set[int] = set()
        self.careful = alone and random.random() < 0.7  # loads leave out, with few exceptions, what nobody wrote
        left_out = (
            1 if alone else random.choice([0.2, 0.9, 1])
        )  # of the waves' accesses that conflict with an earlier one
        for step in range(STEPS if kinds else 0):
            for number in range(self.n // wave):
                if random.random() < 0.5:
                    self._add(random, step, number, left_out)

    def _add(self, random: np.random.Generator, step: int, number: int, left_out: float) -> None:
        """An access of a wave, perhaps."""
        threads = number * self.wave + np.flatnonzero(active(random, self.wave))
        index = places(random, self.wave)[threads % self.wave]
        what = random.choice(self.kinds)
        phase = int(self.sync[:step].sum())
        if what == ATOMIC:
            threads, index = threads[~self.same[index]], index[~self.same[index]]
        if what == LOAD and self.careful and random.random() < 0.98:
            known = np.array([self._is_written(i, t) for i, t in zip(index, threads, strict=True)], bool)
            threads, index = threads[known], index[known]
        new = [
            Access(element, int(thread), phase, what in (STORE, ATOMIC) and not self.same[element], what == ATOMIC)
            for thread, first in zip(threads, index, strict=True)
            for element in range(first, first + (3 if what == NEIGHBOURS else 1))
        ]
        if random.random() < left_out and any(
            self._conflict(a, b) for a in new for b in self.accesses.get(a.element, ())
        ):
            return
        self.kind[step, threads], self.index[step, threads] = what, index
        if what == LOAD:
            self.unwritten |= {int(t) for i, t in zip(index, threads, strict=True) if not self._is_written(i, t)}
        for access in new:
            self.accesses.setdefault(access.element, []).append(access)

    def _is_written(self, element: int, thread: int) -> bool:
        """Whether somebody has written an element that a thread reads."""
        blocks = {one.thread // BLOCK for one in self.accesses.get(element, ()) if one.writes}
        return thread // BLOCK in blocks if self.lds else bool(blocks)

    def _conflict(self, one: Access, other: Access) -> bool:
        """Whether two accesses of one element are a race."""
        if not (one.writes or other.writes) or one.thread // self.wave == other.thread // self.wave:
            return False
        if one.atomic and other.atomic:
            return False
        return not self.lds if one.thread // BLOCK != other.thread // BLOCK else one.phase == other.phase

    def races(self) -> dict[tuple[int, int], int]:
        """The pairs of threads of all races, with an element of each."""
        return {
            (min(one.thread, other.thread), max(one.thread, other.thread)): element
            for element, every in self.accesses.items()
            for one, other in itertools.combinations(every, 2)
            if self._conflict(one, other)
        }

    def arguments(self, dtype: str) -> list[object]:
        """Those of the kernel. No element gets a number twice, but those that never change."""
        value = np.full((STEPS, self.n), FIRST)
        stores = np.zeros(SIZE, "int32")
        for step, thread in zip(*np.nonzero(self.kind == STORE), strict=True):
            element = self.index[step, thread]
            if not self.same[element]:
                stores[element] += 1
                value[step, thread] = FIRST + stores[element]
        assert stores.max() < 120
        first = np.full(SIZE, FIRST, dtype)
        arrays = self.sync, self.kind, self.index, value.astype(dtype), first, np.zeros(self.n, dtype)
        return [np.int32(STEPS), *(gpulab.to_device(array) for array in arrays)]


def thread_of(side: gpulab.records.Fault | gpulab.records.Access) -> int:
    assert side.thread is not None
    return side.workgroup[0] * BLOCK + side.thread[0]


def found(kernel: gpulab.Kernel, program: Program, type: str, blocks: int) -> tuple[int, int] | None:
    """The two threads of the race that a checked launch finds."""
    with gpulab.checked():
        try:
            kernel[blocks, BLOCK](*program.arguments(TYPES[type]))
        except gpulab.CheckedFault as error:
            fault = error.fault
        else:
            return None
    assert fault is not None
    assert fault.kind == "race"
    assert fault.other is not None
    one, other = sorted((thread_of(fault), thread_of(fault.other)))
    return one, other


ARCHITECTURES = pytest.mark.parametrize(("arch", "wave"), [("gfx942", 64), ("gfx1100", 32)])
MEMORY = pytest.mark.parametrize("lds", [False, True], ids=["memory", "lds"])
BLOCKS = pytest.mark.parametrize("blocks", [3, *(pytest.param(n, marks=pytest.mark.full) for n in (1, 24))])


@BLOCKS
@MEMORY
@pytest.mark.parametrize("type", TYPES)
@ARCHITECTURES
def test_a_race_is_found_where_two_accesses_conflict(arch: str, wave: int, type: str, lds: bool, blocks: int) -> None:
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile(KERNEL, options=(f"-DTYPE={type}", f"-DSIZE={SIZE}"))
        kernel = module["in_lds" if lds else "in_memory"]
        for seed in range(FIRST_SEED, FIRST_SEED + PROGRAMS):
            program = Program(seed, wave, blocks, lds)
            races, pair = program.races(), found(kernel, program, type, blocks)
            assert (pair in races) if pair else not races, seed


@BLOCKS
@MEMORY
@ARCHITECTURES
def test_no_race_is_invented_among_atomics(arch: str, wave: int, lds: bool, blocks: int) -> None:
    """Some are missed: of an element the last write alone is kept, and after an atomic one that is not enough."""
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile(KERNEL, options=("-DTYPE=int", f"-DSIZE={SIZE}", "-DATOMICS"))
        kernel = module["in_lds" if lds else "in_memory"]
        for seed in range(FIRST_SEED, FIRST_SEED + PROGRAMS):
            program = Program(seed, wave, blocks, lds, (*PLAIN, *[ATOMIC] * 4))
            pair = found(kernel, program, "int", blocks)
            assert pair is None or pair in program.races(), seed


@BLOCKS
@MEMORY
@pytest.mark.parametrize("type", TYPES)
@ARCHITECTURES
def test_a_read_of_what_nobody_wrote_is_found(arch: str, wave: int, type: str, lds: bool, blocks: int) -> None:
    """Without races it is certain who reads what was not written before."""
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile(KERNEL, options=(f"-DTYPE={type}", f"-DSIZE={SIZE}", "-DUNWRITTEN"))
        kernel = module["in_lds" if lds else "in_memory"]
        for seed in range(FIRST_SEED, FIRST_SEED + PROGRAMS):
            program = Program(seed, wave, blocks, lds, (LOAD, *[STORE] * 3), alone=True)
            arguments = program.arguments(TYPES[type])
            arguments[5] = gpulab.empty(SIZE, TYPES[type])
            with gpulab.checked():
                try:
                    kernel[blocks, BLOCK](*arguments)
                except gpulab.CheckedFault as error:
                    fault = error.fault
                    assert fault is not None
                    assert fault.kind == "never written", seed
                    assert thread_of(fault) in program.unwritten, seed
                else:
                    assert not program.unwritten, seed


@MEMORY
@pytest.mark.parametrize("type", TYPES)
@ARCHITECTURES
def test_lanes_that_store_different_values_to_one_element_are_found(arch: str, wave: int, type: str, lds: bool) -> None:
    """Each lane of a wave stores one of three values, of which one is there already."""
    with gpulab.using(f"virtual:{arch}"):
        module = gpulab.compile(KERNEL, options=(f"-DTYPE={type}", f"-DSIZE={SIZE}"))
        kernel = module["in_lds" if lds else "in_memory"]
        for seed in range(FIRST_SEED, FIRST_SEED + 4 * PROGRAMS):
            random = np.random.default_rng(seed)
            program, lanes = Program(seed, wave, 1, lds, kinds=(), alone=True), np.arange(BLOCK)
            index = random.permutation(SIZE)[:BLOCK]
            for _ in range(random.choice([0, 1, 1, 2, 8])):  # lanes that have the element of another
                index[random.integers(BLOCK)] = index[random.integers(wave)]
            index = [index, lanes, lanes // 2, lanes ^ 1][random.choice(4, p=[0.5, 0.2, 0.1, 0.2])]
            value = FIRST + random.integers(3, size=BLOCK)
            value = np.where(random.random(BLOCK) < random.choice([0.0, 0.5, 1.0]), FIRST + index % 3, value)
            program.kind[0] = np.where((lanes < wave) & active(random, BLOCK), STORE, NOTHING)
            program.index[0] = index
            arguments = program.arguments(TYPES[type])
            arguments[4] = gpulab.to_device(np.tile(value, (STEPS, 1)).astype(TYPES[type]))
            stored: dict[int, set[int]] = {}
            for lane in np.flatnonzero(program.kind[0]):
                stored.setdefault(int(index[lane]), set()).add(int(value[lane]))
            with gpulab.checked():
                try:
                    kernel[1, BLOCK](*arguments)
                except gpulab.CheckedFault as error:
                    fault = error.fault
                    assert fault is not None
                    assert fault.kind == "lane conflict", seed
                    assert len(stored[int(index[thread_of(fault)])]) > 1, seed
                else:
                    assert all(len(values) == 1 for values in stored.values()), seed
