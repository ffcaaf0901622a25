"""Random programs give the same bits on the host and on both virtual GPUs; the tools that find and reduce differences
work; programs that once differed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import execution
from tests.fuzz.execution import compare, inputs, on_device, on_host, reduce
from tests.fuzz.generator import Function, Node, Program, generate, smaller

ARCHITECTURES = ("gfx942", "gfx1100")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(("level", "statements", "first"), [("-O3", 8, 100), ("-O1", 8, 200), ("-O0", 2, 300)])
def test_random_programs(arch: str, level: str, statements: int, first: int) -> None:
    count = 8 if level != "-O0" else 4
    programs = [
        generate(seed, statements=statements, depth=3 if statements > 1 else 2) for seed in range(first, first + count)
    ]
    found = compare(programs, arch, level)
    assert {first + k: text for k, text in enumerate(found) if text} == {}


@settings(max_examples=2, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    seeds=st.lists(st.integers(0, 2**64), min_size=3, max_size=3, unique=True),
    data=st.integers(0, 2**32),
    level=st.sampled_from(["-O2", "-Os"]),
)
def test_random_programs_with_random_data(seeds: list[int], data: int, level: str) -> None:
    programs = [generate(seed, statements=6) for seed in seeds]
    for arch in ARCHITECTURES:
        assert compare(programs, arch, level, data) == [""] * len(programs)


def _program(text: str) -> Program:
    words = ", ".join([f"u64 w{i}" for i in range(6)] + [f"u64 q{i}" for i in range(4)])
    kids = [Node(line) for line in text.strip().split("\n")]
    return Program([Function(f"FN u64 @main({words})", Node("", kids=kids, block=True), "return h;\n")])


def test_a_difference_is_found_and_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "u64 h = w0 + 1;\nu32 x = (u32)w1 * 3;\nh ^= x;\nh += TWIST;\nx += 9;"
    program = _program(text)
    statements = program.functions[0].body.kids
    for node in statements[2:]:  # all but the declarations may go
        node.kids = [Node("w2", "u64")] if node.form == "x += 9;" else [Node("w3", "u64")]
    monkeypatch.setattr(
        execution, "PRELUDE",
        execution.PRELUDE + "#ifdef HOST\n#define TWIST (w3 & 1)\n#else\n#define TWIST (w3 & 1 ? w3 & 3 : 0)\n#endif\n",
    )  # fmt: skip
    assert "threads differ" in compare([program], "gfx942", "-O1")[0]
    reduced = reduce(program, "gfx942", "-O1")
    assert [n.form for n in reduced.functions[0].body.kids] == [
        "u64 h = w0 + 1;",
        "u32 x = (u32)w1 * 3;",
        "h += TWIST;",
    ]


@pytest.mark.full
def test_host_and_device_get_what_the_program_says() -> None:
    program = _program("u64 h = (w0 ^ q1) * 5 + (u64)(i64)(i8)w5;")
    given = inputs(7)
    words, uniforms = given
    expected = (words[:, 0] ^ uniforms[1]) * np.uint64(5) + words[:, 5].astype("int8").astype("int64").astype("uint64")
    assert (on_host([program], given)[0] == expected).all()
    (result,) = on_device([program], given, "gfx1100", "-O3")
    assert (result == expected).all()


@pytest.mark.full
def test_what_does_not_run_is_named() -> None:
    assert compare([_program("u64 h = w0;\n__builtin_trap();")][:0], "gfx942", "-O1") == []
    trapping = _program("u64 h = w0;\n#ifndef HOST\nif (w0 == w0) __builtin_trap();\n#endif")
    assert compare([trapping], "gfx942", "-O1")[0].startswith("KernelTrap")


def test_programs_repeat_and_shrink() -> None:
    assert generate(5).render("f_") == generate(5).render("f_") != generate(6).render("f_")
    for seed in range(3):
        program = generate(seed, statements=2, depth=2)
        size = len(program.render("f_"))
        cuts = list(smaller(program))
        assert len(cuts) > 20
        assert sum(len(cut.render("f_")) < size for cut in cuts) > 0.9 * len(cuts)
