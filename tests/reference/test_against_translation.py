"""Every row that is an expression, in random operand forms, on the reference machine and on translated host code.

The two machines share the rows and little else, so what differs is an error of one of them. NaNs count as equal
whatever their sign and payload, which hosts choose.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gpulab import architectures
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.row import Row
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.reference.machine import Workgroup
from gpulab.virtual_gpu.reference.memory import Regions

from .programs import Case, Generator, random_inputs

BATCH = 40


@pytest.fixture(scope="module")
def arena():
    return Arena()


def on_reference(program, inputs: np.ndarray, words: int, lanes: int) -> np.ndarray:
    memory = Regions()
    out, given = memory.allocate(words * lanes * 4), memory.allocate(inputs.tobytes())
    kernarg = struct.pack("<QQ", out, given)
    Workgroup(
        program, "k", memory=memory, grid=(1, 1, 1), block=(lanes, 1, 1), kernarg=kernarg,
        kernarg_address=memory.allocate(kernarg),
    ).run()  # fmt: skip
    return np.frombuffer(memory.read(out, words * lanes * 4), np.uint32).reshape(words, lanes)


def on_host(device: VirtualDevice, program, inputs: np.ndarray, words: int, lanes: int) -> np.ndarray:
    arena = device.arena
    out, given = arena.allocate(words * lanes * 4, "device", 0), arena.allocate(inputs.nbytes, "device", 0)
    arena.view(given, inputs.nbytes)[:] = inputs.tobytes()
    module = device.load(program)
    launch = device.launch(module.kernels["k"], (1, 1, 1), (lanes, 1, 1), 0, struct.pack("<QQ", out, given))
    assert launch.fault is None, launch.fault
    found = np.frombuffer(bytes(arena.view(out, words * lanes * 4)), np.uint32).reshape(words, lanes)
    module.unload()
    arena.free(out)
    arena.free(given)
    return found


def without_nan_payloads(case: Case, words: np.ndarray) -> np.ndarray:
    """The words with every NaN of the result's float type replaced by one and the same."""
    words = np.ascontiguousarray(words).copy()
    floats = {t.width for t in case.types if t.is_float}
    floats |= {width for name, width in (("f16", 16), ("bf16", 16), ("f32", 32)) if name == case.row.element}
    floats |= {16} if case.row.packed == "mix" and "f16" in case.row.mnemonic else set()  # one half of the register
    if 16 in floats:
        bf16 = case.row.element == "bf16" or any(t.kind == "bf" for t in case.types)
        exponent = 0x7F80 if bf16 else 0x7C00
        halves = words.view(np.uint16)
        halves[((halves & exponent) == exponent) & ((halves & (0x7FFF ^ exponent)) != 0)] = 0x7FFF
    if 32 in floats:
        words[np.isnan(words.view(np.float32))] = 0x7FFFFFFF
    if 64 in floats:
        doubles = (words[0].astype(np.uint64) | words[1].astype(np.uint64) << np.uint64(32)).view(np.float64)
        words[:2, np.isnan(doubles)] = 0x7FFFFFFF
    return words


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_rows_in_random_forms(arena, arch, seed):
    rows = [row for row in isa.table(arch).values() if isinstance(row, Row)]
    assert len(rows) > 500
    rows += 5 * [row for row in rows if row.packed == "mix"]  # three rows, whose sources have many forms
    compare(arena, arch, seed, rows)


@pytest.mark.parametrize(
    ("arch", "base", "least"),
    [("gfx90a", "gfx942", 5), ("gfx950", "gfx942", 50), ("gfx1030", "gfx1100", 5), ("gfx1201", "gfx1100", 150)],
)
def test_rows_that_further_architectures_add(arena, arch, base, least):
    known = isa.table(base)
    rows = [r for m, r in isa.table(arch).items() if isinstance(r, Row) and (m not in known or known[m] is not r)]
    assert len(rows) >= least
    compare(arena, arch, 3, rows)


def compare(arena, arch, seed, rows):
    """Both machines run these rows in random forms, with the same results."""
    device = VirtualDevice(architectures.get(arch), arena, 0)
    generator, numbers = Generator(arch, seed), np.random.default_rng(seed)
    generator.random.shuffle(rows)
    differing = []
    for first in range(0, len(rows), BATCH):
        cases = [generator.case(row) for row in rows[first : first + BATCH]]
        text, words = generator.program(cases, generator.random.choice((3, 3, 0)))
        program = parse(text)
        inputs = random_inputs(numbers, generator.lanes)
        reference = on_reference(program, inputs, words, generator.lanes)
        host = on_host(device, program, inputs, words, generator.lanes)
        for case in cases:
            own = slice(*case.slots)
            a, b = without_nan_payloads(case, reference[own]), without_nan_payloads(case, host[own])
            if not np.array_equal(a, b):
                word, lane = np.argwhere(a != b)[0]
                place = f"{case.stored} word {word} lane {lane}"
                differing.append(f"{case.text}: {place}: {a[word, lane]:#x} and {b[word, lane]:#x}")
    assert not differing, "\n".join(differing)
