"""Random programs whose threads exchange values give on both virtual GPUs what a model of them gives on the host, at
all compiler levels; differences are found and reduced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpulab.virtual_gpu.machine import loading
from tests.fuzz import waves
from tests.fuzz.generator import Node
from tests.fuzz.waves import SETTINGS, Host, Phase, WaveProgram, compare_waves, generate_waves, inputs, reduce_waves

ARCHITECTURES = ("gfx942", "gfx1100")


@pytest.mark.parametrize("first", [1000, *(pytest.param(n, marks=pytest.mark.seldom) for n in (2000, 3000, 4000))])
def test_random_programs_of_many_threads(first: int) -> None:
    programs = [generate_waves(first + k) for k in range(45)]
    host = Host(programs, inputs(first))
    # Each at every level but -O0: one half of the levels on one architecture, the other half on the other.
    halves = SETTINGS[1::2], SETTINGS[2::2]
    assert sorted(halves[0] + halves[1]) == sorted(SETTINGS[1:])
    for arch, settings in zip(ARCHITECTURES, halves if first % 2000 else halves[::-1], strict=True):
        assert compare_waves(programs, arch, settings, first, host) == {}


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_without_optimization(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the programs in code that is optimised here: of such long kernels that takes half of the time."""
    programs = [generate_waves(5000 + k) for k in range(8)]
    given = inputs(1)
    for half, seconds in ((arch == "gfx942", 0.0), (arch != "gfx942", 1e9)):
        monkeypatch.setattr(loading, "QUICK_SECONDS", seconds)
        chosen = programs[half::2]
        assert compare_waves(chosen, arch, SETTINGS[:1], 1, Host(chosen, given)) == {}


def _program(exchange: str, result: str) -> WaveProgram:
    """One exchange of what w0, w1 and the thread's number give; then `result`."""
    body = [Node("s.x = (u32)g;"), Node("s.y = g * 3;"), Node("s.c = g & 1;"), Node("s.i = (u32)(g >> 7);")]
    phases = (
        Phase(Node("", kids=body, block=True), exchange),
        Phase(Node("", kids=[Node(result)], block=True), ""),
    )
    return WaveProgram((), (("g", "u64"),), "g = w0 ^ w1;", phases, False)


@pytest.mark.full
@pytest.mark.parametrize(("arch", "wave"), [("gfx942", 64), ("gfx1100", 32)])
def test_the_host_gives_what_a_wave_would(arch: str, wave: int) -> None:
    exchanging = _program("shuffle_from<0, 5>", "g = 0;")
    words, uniforms = given = inputs(3)
    g = (words[:, 0] ^ words[:, 1]).reshape(-1, wave)
    lanes = ((g >> np.uint64(7)).astype("uint32") % wave).astype("int64")
    x = np.take_along_axis(g, lanes, 1).ravel()
    y = np.repeat(g[:, 5] * np.uint64(3), wave)
    # The same result from what numpy has exchanged.
    direct = replace(_program("", "g = 0;"), start="g = 0; s.rx = (u32)w0; s.ry = w1;")
    expected, _ = Host([direct], (np.stack([x, y, y], 1), uniforms)).results(0, wave)
    got, _ = Host([exchanging], given).results(0, wave)
    assert (got == expected).all()
    assert compare_waves([exchanging], arch, ["-O3"], 3) == {}


def test_a_difference_is_found_and_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    twist = "\n#ifdef HOST\n#define TWIST 1\n#else\n#define TWIST 2\n#endif\n"
    monkeypatch.setattr(waves, "HEADER", waves.HEADER + twist)
    program = _program("votes<0, 0>", "g += s.rx * TWIST;")
    program = replace(program, phases=(*program.phases, *_program("shuffle_xor<0, 3>", "g ^= 1;").phases))
    (text,) = compare_waves([program], "gfx942", ["-O1"]).values()
    assert "threads differ" in text
    reduced = reduce_waves(program, "gfx942", "-O1")
    assert [phase.exchange for phase in reduced.phases] == [""]
    assert [node.form for node in reduced.phases[0].body.kids] == ["g += s.rx * TWIST;"]


def test_programs_repeat() -> None:
    assert generate_waves(5).render("f_") == generate_waves(5).render("f_") != generate_waves(6).render("f_")
