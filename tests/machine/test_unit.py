"""The simulation of a unit by hand: streams of a few instructions whose clocks can be counted on paper."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine import unit
from gpulab.virtual_gpu.machine.unit import Cost, Loop, Op, Ops, Shape, Simulation
from tests.machine.test_timing_parts import KERNEL
from tests.translate.kernels import device

NONE = 0xFFFFFFFF
END = Op("end", 0, 1, 0)


def wait(queue: int, left: int = 0) -> Op:
    return Op("wait", 0, 1, 0, left=tuple(left if number == queue else NONE for number in range(5)))


def vector(*, issue: float = 1, reads: tuple[int, ...] = (), writes: tuple[int, ...] = ()) -> Op:
    return Op("vector", issue, 1, 5, reads=reads, writes=writes)


def load(kind: str = "vmem", queue: int = 0) -> Op:
    return Op(kind, 1, 1, 1, queue=queue)


def simulation(
    ops: Sequence[Op], costs: dict[int, Cost] | None = None, *, waves: int = 1, slots: int = 1, groups: int = 1,
    turns: float = 0, simds: int = 4, cus: int = 1, start: float = 0, interval: float = 0, burst: float = 0,
) -> Simulation:  # fmt: skip
    """A unit that runs these instructions; with `turns` they are the body of a loop."""
    blocks, counts, parts = [list(ops), [END]], [turns or 1.0, 1.0], (Loop((0,)), 1) if turns else (0, 1)
    shape = Shape(waves, slots, groups, simds, cus, start, interval, 8, burst)
    return Simulation(Ops(blocks), parts, counts, shape, costs or {})


def clocks(*arguments, free: Sequence[str] = (), **more) -> float:
    """The clocks up to the last instruction's end; that one takes one more."""
    return simulation(*arguments, **more).run(free).clocks - 1


def test_vector_instructions():
    """One a clock and SIMD; a result can be read five clocks after the issue."""
    chain = [vector(reads=(1,), writes=(1,))] * 4
    assert clocks([vector()] * 10) == 10
    assert clocks(chain) == 3 * 5 + 1
    assert clocks(chain, free=["latency"]) == 4
    assert clocks([vector(issue=4)] * 3) == 2 * 4 + 1
    # Waves of a workgroup go round the SIMDs: four do not meet, eight share them.
    assert clocks([vector()] * 10, waves=4) == 10
    assert clocks([vector()] * 10, waves=8) == pytest.approx(20, abs=1)
    assert clocks(chain, waves=20) == pytest.approx(20, abs=2)  # five waves fill the gaps of a chain
    assert clocks([vector()] * 10, waves=8, free=["vector"]) == 10


def test_transcendentals_run_beside_the_rest():
    trans = Op("trans", 1, 1, 9, 4)
    assert clocks([trans] * 5) == 4 * 4 + 1
    assert clocks([trans, vector(), vector(), vector()] * 5) == 20
    assert clocks([trans] * 5, free=["trans"]) == 5


def test_matrix_cores():
    product = Op("matrix", 4, 4, 32, 32, reads=(1,), writes=(1,))
    assert clocks([product] * 3) == 2 * 32 + 4
    assert clocks([product] * 3, waves=8) == pytest.approx(5 * 32 + 4)


def test_what_is_not_waited_for_costs_nothing():
    """A load of 100 clocks that is waited for after ten other instructions, at once, or not at all."""
    cost = {0: Cost(l1=2, latency=(100,) * 5)}
    work = [vector()] * 10
    assert clocks([load(), *work], cost) == 11
    assert clocks([load(), wait(0), *work], cost) == 102 + 1 + 10
    assert clocks([load(), *work, wait(0)], cost) == 102 + 1
    assert clocks([load(), *[vector()] * 200, wait(0)], cost) == 202
    assert clocks([load(), wait(0), *work], cost, free=["latency"]) == 2 + 1 + 10
    two = {0: Cost(l1=2, latency=(100,) * 5), 1: Cost(l1=30, latency=(100,) * 5)}
    assert clocks([load(), load(), wait(0, 1)], two) == 102 + 1
    assert clocks([load(), load(), wait(0)], two) == 132 + 1
    assert clocks([load(), load(queue=1), wait(0)], two) == 102 + 1
    found = simulation([load(), wait(0), *work], cost).run()
    assert found.stalls[1] == 101


def test_levels():
    """Of four loads one goes to the second level and two to the last."""
    latencies = (10, 20, 40, 80, 160)
    assert clocks([load(), wait(0)] * 4, dict.fromkeys((0, 2, 4, 6), Cost(latency=latencies))) == 4 * (10 + 1)
    ops = [load(), wait(0)]
    costs = {0: Cost(latency=latencies, beyond=(0.75, 2 / 3, 1, 1))}
    assert clocks(ops, costs, turns=256) == pytest.approx(64 * (10 + 20 + 2 * 160) + 256, rel=0.02)


def test_bandwidths_are_kept_whatever_the_latency():
    """16 waves with a load of 10 clocks of the unit's share each: 160 clocks, and what may come before its turn."""
    cost = {0: Cost(l1=1, dram=10, latency=(50,) * 5)}
    assert clocks([load(), wait(0)], cost, waves=16) == pytest.approx(1 + 16 * 10 + 50 + 1, abs=2)
    assert clocks([load(), wait(0)], cost, waves=16, free=["dram"]) == pytest.approx(16 + 50 + 1, abs=2)
    assert clocks([load(), wait(0)], cost, waves=16, burst=100) == pytest.approx(60 + 50 + 2, abs=3)
    # launch after launch of workgroups the burst does not help
    many = clocks([load(), wait(0)], cost, waves=16, burst=100, groups=64)
    assert many == pytest.approx(64 * 160, rel=0.05)


def test_lds_is_shared_and_has_a_port_for_each_pair_of_simds():
    read = Op("lds", 1, 1, 1, queue=2)
    cost = {0: Cost(lds=4, port=8, latency=(20, 0, 0, 0, 0))}
    assert clocks([read, wait(2)], cost) == 8 + 20 + 1
    assert clocks([read, wait(2)], cost, waves=4) == pytest.approx(16 + 20 + 1)  # two on each pair
    assert clocks([read, wait(2)], cost, waves=4, free=["lds"]) == 20 + 1


def test_each_cu_of_a_wgp_has_an_l1_and_a_way_into_it():
    """Four waves, one on each SIMD; the first two SIMDs are one CU."""
    cost = {0: Cost(l1=10, latency=(50,) * 5)}
    assert clocks([load(), wait(0)], cost, waves=4) == 4 * 10 + 50 + 1
    assert clocks([load(), wait(0)], cost, waves=4, cus=2) == 2 * 10 + 50 + 1
    cost = {0: Cost(fill=10, latency=(50,) * 5)}
    assert clocks([load(), wait(0)], cost, waves=4) == 4 * 10 + 50 + 1
    assert clocks([load(), wait(0)], cost, waves=4, cus=2) == 2 * 10 + 50 + 1
    assert clocks([load(), wait(0)], cost, waves=4, free=["l1"]) == 50 + 1
    # In a CU alone (two SIMDs) each SIMD has a port to LDS, in a WGP each pair.
    read = [Op("lds", 1, 1, 1, queue=2), wait(2)]
    cost = {0: Cost(port=8, latency=(20, 0, 0, 0, 0))}
    assert clocks(read, cost, waves=2, simds=2) == 8 + 20 + 1
    assert clocks(read, cost, waves=2, simds=4) == 16 + 20 + 1
    assert clocks(read, cost, waves=4, simds=4) == 16 + 20 + 1


def test_a_simd_issues_one_of_each_kind_at_a_time():
    """Five waves on one SIMD: what takes four clocks to be issued is issued every four clocks, other kinds beside."""
    for kind, free in (("scalar", "scalar"), ("branch", "scalar"), ("smem", "scalar"), ("vector", "vector")):
        op = Op(kind, 4, 4, 4)
        assert clocks([op], waves=5, simds=1) == 4 * 5, kind
        assert clocks([op], waves=5, simds=1, free=[free]) == 4, kind
        assert clocks([op], waves=4, simds=4) == 4, kind
    for kind in ("lds", "vmem", "store"):
        assert clocks([Op(kind, 4, 4, 4)], waves=5, simds=1) == 4 * 5, kind
        assert clocks([Op(kind, 4, 4, 4)], waves=4, simds=4) == 4, kind
    both = [Op("scalar", 4, 4, 4), Op("vector", 4, 4, 4)]
    assert clocks(both, waves=2, simds=1) == 4 + 4 + 4


def test_more_loads_under_way_than_the_unit_keeps():
    """Of 70 loads, one a clock with a latency of 200, the wait leaves three, 69 or all."""
    loads, cost = [load()] * 70, dict.fromkeys(range(70), Cost(latency=(200,) * 5))
    assert clocks([*loads, wait(0, 3)], cost) == 66 + 200 + 1
    assert clocks([*loads, wait(0, 63)], cost) == 6 + 200 + 1
    assert clocks([*loads, wait(0, 70)], cost) == 70 + 1


def test_waves_that_end_do_not_hold_up_a_barrier():
    """Half of the waves have a barrier and ten instructions more, the others end."""
    blocks = [[vector()], [Op("barrier", 1, 1, 1), *[vector()] * 10], [END]]
    shape = Shape(4, 1, 1, 4, 1, 0, 0, 8, 0)
    found = Simulation(Ops(blocks), (0, 1, 2), [1, 0.5, 1], shape, {}).run()
    assert found.clocks - 1 == pytest.approx(1 + 1 + 8 + 10, abs=1)


def test_stores_are_waited_for_at_the_end():
    store = Op("store", 1, 1, 1, queue=1)
    cost = {0: Cost(l1=1, latency=(70,) * 5)}
    found = simulation([store], cost).run()
    assert found.clocks == 71
    assert found.stalls[1] == 70


def test_barriers():
    """All waves wait for the slowest, here for one with a load of 100 clocks of its own queue."""
    barrier = Op("barrier", 1, 1, 1)
    cost = {0: Cost(l1=10, latency=(0,) * 5)}
    assert clocks([load(), wait(0), barrier], cost, waves=4) == pytest.approx(4 * 10 + 1 + 8, abs=1)
    assert clocks([barrier] * 3, waves=2) == 3 * 8


def test_workgroups_follow_each_other():
    """150 clocks to start and ten of work; as many at a time as fit, and no faster than they are dispatched."""
    work = [Op("other", 0, 1, 1)] * 10
    assert simulation(work, start=150, groups=1).run().clocks == 161
    assert simulation(work, start=150, groups=3).run().clocks == 3 * 161
    assert simulation(work, start=150, groups=4, slots=2).run().clocks == 2 * 161
    assert simulation(work, start=150, groups=100, slots=2).run().clocks == pytest.approx(50 * 161)
    assert simulation(work, groups=100, slots=50, interval=30).run().clocks == pytest.approx(100 * 30, rel=0.03)
    assert simulation(work, groups=100, slots=50, interval=30).run(["dispatch"]).clocks == pytest.approx(22)


def test_turns_of_loops_stand_for_more():
    body = [vector()] * 9 + [Op("branch", 1, 8, 1)]
    few, many = (simulation(body, turns=turns) for turns in (100, 100_000))
    assert few.run().clocks == pytest.approx(100 * 17 + 1)
    assert many.run().clocks == pytest.approx(100_000 * 17, rel=1e-4)
    assert many.run().issued < 10_000
    full = simulation(body, turns=100_000, waves=16, slots=4, groups=8).run()
    assert full.clocks == pytest.approx(2 * 100_000 * 9 * 16, rel=0.03)  # 16 waves on each SIMD


@pytest.mark.parametrize(("instructions", "turns"), [(5, 8), (6, 6), (10, 4), (13, 3), (20, 2), (21, 1), (41, 1)])
def test_as_many_turns_are_run_as_fit(monkeypatch: pytest.MonkeyPatch, instructions: int, turns: int) -> None:
    """Of a loop of 1,000 turns, with room for 41 instructions: the loop's own, and the program's end."""
    monkeypatch.setattr(unit, "MOST_OPS", 41)
    found = simulation([vector()] * instructions, turns=1000)
    assert found.turns == turns
    assert found.run().clocks == pytest.approx(1000 * instructions, rel=0.01)


def test_loads_ahead_of_the_work_hide_their_latency():
    """200 clocks of work a turn on one wave, and a load of 180."""
    cost = {0: Cost(l1=1, latency=(180,) * 5)}
    work = [vector()] * 200
    assert clocks([load(), wait(0), *work], cost, turns=100) == pytest.approx(100 * (182 + 200), rel=0.02)
    assert clocks([load(), *work, wait(0)], cost, turns=100) == pytest.approx(100 * 202, rel=0.02)


def test_nests_and_paths():
    """A loop of blocks 1 to 3 with one of block 2 in it."""
    parts = unit.nest(5, {1: (1, 2, 3), 2: (2,)})
    assert parts == (0, Loop((1, Loop((2,)), 3)), 4)
    (path,) = unit.streams(parts, [1, 3, 6, 3, 1], 1, 256)
    assert path == [(0, 1), *[(1, 1), (2, 1), (2, 1), (3, 1)] * 3, (4, 1)]
    (short,) = unit.streams(parts, [1, 30, 60, 30, 1], 1, 3)
    assert [block for block, _ in short] == [0, *[1, 2, 2, 3] * 3, 4]
    assert sum(weight for block, weight in short if block == 2) == pytest.approx(60)
    # A block that a quarter of the turns visit, and one for one wave of four.
    paths = unit.streams(unit.nest(4, {1: (1, 2)}), [1, 8, 2, 0.25], 4, 256)
    assert [sum(block == 2 for block, _ in path) for path in paths] == [2] * 4
    assert sum(weight for path in paths for block, weight in path if block == 3) == pytest.approx(1)


@pytest.mark.parametrize(
    ("turns", "weights"),
    [(8, [1, *[998 / 6] * 6, 1]), (4, [1, 499, 499, 1]), (3, [1, 999 / 2, 999 / 2]), (2, [1, 999]), (1, [1000])],
)
def test_the_first_and_the_last_turn_stand_for_themselves(turns: int, weights: list[float]) -> None:
    """Of 1,000 turns; those between stand for all the rest. In a loop around it each does so for that one's turns."""
    (path,) = unit.streams(unit.nest(1, {0: (0,)}), [1000], 1, turns)
    assert [weight for _, weight in path] == pytest.approx(weights)
    (path,) = unit.streams(unit.nest(3, {0: (0, 1, 2), 1: (1,)}), [1000, 10**6, 1000], 1, turns)
    inner = [weight for block, weight in path if block == 1]
    assert inner == pytest.approx([one * other for one in weights for other in weights])


def test_loops_in_many_loops_are_no_more_than_fits():
    """Twelve loops in each other, of 300 turns of the one around each."""
    depth = 12
    parts: tuple[int | Loop, ...] = (depth,)
    for head in reversed(range(depth)):
        parts = (Loop((head, *parts)),)
    counts = [300.0 ** (n + 1) for n in range(depth)] + [300.0**depth]
    shape = Shape(1, 1, 1, 4, 1, 0, 0, 8, 0)
    found = Simulation(Ops([[vector()]] * (depth + 1)), parts, counts, shape, {})
    assert found.turns <= 2
    assert found.run().clocks == pytest.approx(2 * 300.0**depth, rel=0.05)


@pytest.mark.parametrize(
    ("line", "clocks"),
    [
        ("v_fma_f32 v0, v1, v2, v3", 0),
        ("v_fma_f32 v0, v1, v5, v2", 0),
        ("v_fma_f32 v0, v1, v5, v9", 1),  # three registers of bank 1, which gives two a clock
        ("v_fma_f32 v0, v1, v1, v5", 0),  # one register is read once
        ("v_dual_fmac_f32 v0, v5, v10 :: v_dual_fmac_f32 v3, v6, v9", 0),
        ("v_dual_fmac_f32 v1, v5, v8 :: v_dual_fmac_f32 v0, v6, v9", 1),
    ],
)
def test_register_banks(line, clocks):
    text = KERNEL.format(arch="gfx1100", lines=f"  {line}", size=32, extra="")
    decoded = device("gfx1100").load(parse(text)).kernels["f"].code().translation.decoded
    assert unit.bank_conflicts(decoded[0], 2) == clocks
