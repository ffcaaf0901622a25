"""How a program is judged, with made-up runs in place of builds: what is built, which runs there are, who is asked."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gpulab import cores, programs
from gpulab.errors import CompileError
from gpulab.grading import judge_program as judging
from gpulab.grading.program import ProgramExercise
from gpulab.grading.program_case import ProgramCase
from gpulab.programs import jail

CASES = (ProgramCase(("1",), "1"), ProgramCase(("2",), "2", stdin="in", devices=("gfx90a",)))


def made(**changes: Any) -> ProgramExercise:
    settings = {"id": "sum", "title": "a sum", "lesson": "02_simt", "section": "A", "cases": CASES, "causes": (),
                "hints": ("a", "b", "c"), "options": ("-O1",), "seconds": 9.0, "instruction_limit": 77}  # fmt: skip
    return ProgramExercise(**{**settings, **changes})


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What was asked: `builds`, and `runs` of the program, which prints what `prints` says of its word and device."""
    kept = SimpleNamespace(builds=[], runs=[], prints=lambda word, arch: word, ready=0)

    def run(word: str, **settings: Any) -> SimpleNamespace:
        kept.runs.append((word, settings))
        return SimpleNamespace(
            stdout=kept.prints(word, settings["arch"]), stderr="", exit_code=0, faults=(), launches=(1,), activities=(),
            complete=True, seconds_limit_hit=False, ending="", transfers=(),
        )  # fmt: skip

    def build(source: str, **settings: Any) -> SimpleNamespace:
        kept.builds.append((source, settings))
        return SimpleNamespace(run=run)

    def ready() -> None:
        kept.ready += 1

    monkeypatch.setattr(programs, "build", build)
    monkeypatch.setattr(jail, "ready", ready)
    monkeypatch.setattr(jail, "available", lambda: "no jail here")
    monkeypatch.setenv(cores.SETTING, "1")
    return kept


def test_a_program_is_built_once_and_run_with_each_case_on_each_device(built: SimpleNamespace) -> None:
    verdict = judging.judge_program(made(), "int main() {}", 3)
    assert verdict.passed
    assert verdict.rows[0].text == "4 runs on gfx942 (wave64) and gfx1100 (wave32): ./program 1; ./program 2 with 1 " \
        "lines of input"  # fmt: skip
    assert built.builds == [("int main() {}", {"name": "sum", "archs": ("gfx942", "gfx1100", "gfx90a"),
                                               "options": ("-O1",), "first_line": 3})]  # fmt: skip
    settings = {"seconds": 9.0, "jailed": False, "instruction_limit": 77, "checked": True}
    assert built.runs == [
        (word, {"arch": arch, "stdin": stdin, "further": further, **settings})
        for word, stdin, further in (("1", "", ()), ("2", "in", ("gfx90a",))) for arch in ("gfx942", "gfx1100")
    ]  # fmt: skip
    assert built.ready == 1
    judging.judge_program(made(), "")
    assert built.builds[1][1]["first_line"] == 1
    assert [(each.name, each.passed) for each in verdict.criteria] == [
        ("visible", True), ("hidden", None), ("faults", True)
    ]  # fmt: skip


def test_the_run_that_is_measured_is_a_profiled_one(built: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "available", lambda: "")
    exercise = made()
    program = programs.build("")
    outcome = judging.run_case(exercise, program, "source", CASES[0], "gfx1100")  # type: ignore[arg-type]
    assert (outcome.case, outcome.arch, outcome.wave_size, outcome.source) == (CASES[0], "gfx1100", 32, "source")
    assert built.runs[0][1]["jailed"] is True
    assert outcome.measured == (1,)
    checked, profiled = (settings for _, settings in built.runs)
    assert (checked.pop("checked"), profiled.pop("profiled")) == (True, True)
    assert checked == profiled


def test_the_first_case_that_fails_is_told_with_how_it_does_elsewhere(built: SimpleNamespace) -> None:
    for wrong, same in (("gfx942", "passes"), ("", "fails as well")):
        built.prints = lambda word, arch, wrong=wrong: "9" if word == "2" and wrong in ("", arch) else word
        rows = [(row.label, row.text) for row in judging.judge_program(made(), "").rows]
        assert rows[:4] == [
            ("tried", "2 runs on gfx942 (wave64) and gfx1100 (wave32): ./program 1: right so far"),
            ("fails with", "./program 2 with 1 lines of input, on gfx942 (wave64)"),
            ("and on", f"gfx1100 (wave32) the same input {same}"),
            ("output", "line 1 should be\n  2\nbut is\n  9"),
        ]
    assert len(built.runs) == 2 * 4


def test_drawn_cases_are_run_after_the_others_and_not_told(built: SimpleNamespace) -> None:
    exercise = made(drawn=lambda random: (ProgramCase(("7",), "7"),))
    assert judging.judge_program(exercise, "", seed=5).passed
    assert [word for word, _ in built.runs] == ["1", "1", "2", "2", "7", "7"]
    built.runs.clear()
    assert judging.judge_program(exercise, "").passed
    assert [word for word, _ in built.runs] == ["1", "1", "2", "2"]
    built.prints = lambda word, arch: "9" if word == "7" else word
    verdict = judging.judge_program(exercise, "", seed=5)
    assert [row.label for row in verdict.rows][:2] == ["tried", "fails with"]
    assert verdict.rows[1].text == "inputs that were drawn for this grading, on gfx942 (wave64)"
    assert [(each.name, each.passed) for each in verdict.criteria][:2] == [("visible", True), ("hidden", False)]


def test_outcomes_know_the_other_devices(built: SimpleNamespace) -> None:
    one, other = judging.run_everywhere(made(), programs.build(""), "", CASES[0])  # type: ignore[arg-type]
    assert [(each.arch, [seen.arch for seen in each.elsewhere], each.hidden) for each in (one, other)] == [
        ("gfx942", ["gfx1100"], False), ("gfx1100", ["gfx942"], False)
    ]  # fmt: skip


def test_an_interrupt_does_not_wait_for_programs(built: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs is left to its limit, what waits is not begun."""
    ended: list[dict[str, bool]] = []

    def submit(*words: Any) -> SimpleNamespace:
        raise KeyboardInterrupt

    pool = SimpleNamespace(submit=submit, shutdown=lambda **how: ended.append(how))
    monkeypatch.setattr(cores, "beside", lambda count: pool if count == 2 else None)
    with pytest.raises(KeyboardInterrupt):
        judging.run_everywhere(made(), programs.build(""), "", CASES[0])  # type: ignore[arg-type]
    assert ended == [{"wait": False, "cancel_futures": True}]


def test_what_does_not_compile(built: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, **settings: Any) -> Callable[[], None]:
        raise CompileError("line 2: expected ';'")

    monkeypatch.setattr(programs, "build", refuse)
    verdict = judging.judge_program(made(), "int main()")
    assert (verdict.status, verdict.rows[0].text, built.runs) == ("does not compile", "line 2: expected ';'", [])
