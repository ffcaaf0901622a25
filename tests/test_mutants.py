"""What `make mutants` changes: each kind of place, and nothing in comments, strings, annotations or docstrings."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def mutants() -> Any:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["mutants"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def changed(points: Any, source: str) -> list[str]:
    data = source.encode()
    return [(data[:start] + new.encode() + data[end:]).decode() for start, end, new in points]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a + b # + c", ["x = a - b # + c"]),
        ("x = ä and b", ["x = ä or b"]),
        ("x = 'a' + b", []),
        ("x: int | None = 3", ["x: int | None = (3 + 1)"]),
        ("def f(a: int = 0) -> str | None:\n    'One + 1.'\n    g(a)", ["pass", "(0 + 1)"]),
        ("class A:\n    def f(a: int = 0) -> int: ...\n    def g(a: int = 1) -> int:\n        'G.'", []),
        ("x = f(99, 4_096, 0o600)", ["f((99 + 1),", "(4_096 * 2)", "(0o600 + 1)"]),
        ("if x:\n    y += 1", ["if (not x):", "y -= 1", "y += (1 + 1)"]),
        ("@dataclass(frozen=True, order=True)\nclass A: pass", ["frozen=True, order=False"]),
        ("def f():\n    return not x", ["return None", "return bool(x)"]),
        ("x = a[1].reshape(-1, 4)", ["a[(1 + 1)]", "reshape(-1, (4 + 1))"]),
    ],
)
def test_python(mutants: Any, source: str, expected: list[str]) -> None:
    found = changed(mutants.python_points(source), source)
    assert len(found) == len(expected)
    for text, part in zip(found, expected, strict=True):
        assert part in text
        compile(text, "mutant", "exec")


def test_words_of_c(mutants: Any) -> None:
    source = '#include <a.h>\nint f(int a) { /* 1 + 1 */ return a < 2 ? g("3 + 4") : a; }\n'
    found = changed(mutants.text_points(source), source)
    assert [text.split("return")[1].strip() for text in found] == [
        'a <= 2 ? g("3 + 4") : a; }',
        'a < (2 + 1) ? g("3 + 4") : a; }',
    ]


def test_hints_for_speed_stay(mutants: Any) -> None:
    assert list(mutants.text_points("  __builtin_prefetch(a + 8, 1); __builtin_prefetch(b + 8);\n")) == []


@pytest.mark.parametrize(
    ("line", "lines"), [(1, (1, 1)), (2, (2, 3)), (3, (2, 3)), (4, (4, 6)), (5, (4, 6)), (7, (7, 7))]
)
def test_the_statement_of_a_line(
    mutants: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: int, lines: tuple[int, int]
) -> None:
    (tmp_path / "a.py").write_text("import b\nif (b.c and\n        b.d):\n    b.e(\n        b.f,\n    )\n    b.g()\n")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    assert mutants.statement("a.py", line) == lines


def test_tests_that_run_a_line(mutants: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of its own file first; the usual ones if a module's import runs it, or nothing that was measured."""
    found = mutants.Coverage.__new__(mutants.Coverage)
    contexts = {
        3: ["tests.views.test_memory.test_one", "tests.api.test_trace.test_two", "tests.views.test_memory.test_b"],
        4: ["", "tests.api.test_trace.test_two"],
    }
    monkeypatch.setattr(found, "_of", lambda path: contexts, raising=False)
    monkeypatch.setattr(mutants, "statement", lambda path, line: (line, line))
    texts = {"tests/api/test_trace.py": "", "tests/views/test_memory.py": ""}
    monkeypatch.setattr(mutants, "test_texts", lambda: texts)
    words = [
        "tests/views/test_memory.py::test_b tests/views/test_memory.py::test_one",
        "tests/api/test_trace.py::test_two",
    ]
    assert found.tests("gpulab/views/memory.py", 3) == words
    assert found.tests("gpulab/views/memory.py", 4) is None
    assert found.tests("gpulab/views/memory.py", 5) is None
    assert found.tests("gpulab/virtual_gpu/machine/native/lanes.c", 3) is None


def test_a_statement_of_c_goes(mutants: Any) -> None:
    source = "void f(void) {\n  clear(x);\n  return g(x);\n}\n"
    assert changed(mutants.text_points(source), source) == ["void f(void) {\n  ;\n  return g(x);\n}\n"]


def test_a_seed_gives_one_sample_over_all_folders(mutants: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "files", lambda: ["gpulab/errors.py", "course/build.py", "gpulab/views/table.py"])

    def drawn(seed: int) -> list[Any]:
        asked = type("Asked", (), {"within": [], "changed": "", "only": "", "seed": seed, "count": 9})
        return list(mutants.sample(asked))

    assert drawn(3) == drawn(3) != drawn(4)
    assert {mutants.group(mutant.path) for mutant in drawn(3)} == {"gpulab", "course", "gpulab/views"}


def test_every_source_has_tests(mutants: Any) -> None:
    for path in mutants.files():
        assert mutants.tests_of(path), path


def test_the_tests_that_name_a_source_come_before_folders(mutants: Any) -> None:
    found = mutants.tests_of("gpulab/toolchain/include/gpulab/host/constants.h")
    assert found.index("tests/programs/test_headers.py") < found.index("tests/headers")
    assert mutants.tests_of("gpulab/views/lds_banks.py")[0] == "tests/views/test_lds_banks.py"
    assert "tests/machine/test_native.py" in mutants.tests_of("gpulab/virtual_gpu/schema.py")
    groups = mutants.tests_of("gpulab/toolchain/include/hip/hip_cooperative_groups.h")  # many tests name it
    assert groups[0] == "tests/headers/test_cooperative_groups.py"
    assert len(set(groups)) == len(groups)
    assert "tests/test_mutants.py" not in groups  # it cannot run in a worker's copy


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("course/projects/n-body/measure.py", "tests/projects/test_measure.py"),
        ("course/build.py", "tests/course/test_build.py"),
        (
            "gpulab/programs/host_libraries/openmp.cpp",
            "tests/programs/test_host_libraries.py::test_project_that_calls_all_of_openmp",
        ),
        (
            "gpulab/programs/host_libraries/mpi.cpp",
            "tests/programs/test_host_libraries.py::test_project_that_calls_all_of_mpi",
        ),
        ("gpulab/programs/forks.py", "tests/programs/test_forks.py"),
        ("gpulab/programs/objects.py", "tests/programs/test_objects.py"),
        ("gpulab/toolchain/include/gpulab/random_jumps.h", "tests/headers/test_random.py"),
        ("gpulab/toolchain/include/gpulab/random_host.h", "tests/programs/test_random.py"),
        ("gpulab/toolchain/include/hipblas/hipblas.h", "tests/programs/test_blas.py"),
        ("gpulab/virtual_gpu/machine/native/replay.c", "tests/machine/test_timing_parts.py"),
        ("gpulab/virtual_gpu/reference/weak.py", "tests/machine/test_weak.py"),
        (
            "gpulab/toolchain/include/gpulab/primitives/radix_sort.h",
            "tests/programs/test_primitives.py::test_a_program_agrees_with_the_host[device_sort]",
        ),
        ("gpulab/toolchain/include/thrust/reduce.h", "tests/programs/test_thrust.py::test_program[algorithms]"),
    ],
)
def test_a_sources_own_tests_come_first(mutants: Any, path: str, first: str) -> None:
    """Where a folder's tests in their order would take longer than a mutant has."""
    assert (ROOT / path).is_file()
    assert mutants.tests_of(path)[0].split()[0] == first


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("FAILED tests/a/test_b.py::test_c - assert 1 == 2", "tests/a/test_b.py::test_c"),
        ("FAILED tests/a/test_b.py::TestC::test_d[x-1]", "tests/a/test_b.py::TestC::test_d[x-1]"),
        ("FAILED tests/a/test_b.py::test_c[one way-[2] x] - E: a - b]", "tests/a/test_b.py::test_c[one way-[2] x]"),
        ("ERROR tests/a/test_b.py - SyntaxError: [x] - y", "tests/a/test_b.py"),
        ("1 passed in 0.1s", ""),
    ],
)
def test_the_test_that_failed_is_named_so_that_it_can_run_alone(mutants: Any, line: str, name: str) -> None:
    found = mutants.named(f"....F\n{line}\n!!!! stopping after 1 failures !!!!\n")
    assert found == name
    others = ["tests/c.py", "-k", "saxpy", "tests/d.py::test_e[f g]"]
    assert mutants.arguments(" ".join([name, *others])) == [*filter(None, [name]), *others]


def test_tests_that_fail_without_a_mutant_are_told_from_those_that_do_not(mutants: Any) -> None:
    class Worker:
        def __init__(self, *broken: str) -> None:
            self.broken, self.runs = broken, 0

        def run(self, tests: list[str], seconds: float) -> tuple[str, str]:
            self.runs += 1
            found = [name for words in tests for name in mutants.arguments(words) if name in self.broken]
            return ("killed", found[0]) if found else ("survived", "")

    names = ["tests/a.py::test_b[c d]", "tests/e.py"]
    idle, whole, half = Worker(), Worker(), Worker("tests/e.py")
    assert mutants.failing(idle, []) == set()
    assert idle.runs == 0, "no words would be the whole suite"
    assert mutants.failing(whole, names) == set()
    assert whole.runs == 1
    assert mutants.failing(half, names) == {"tests/e.py"}


@pytest.mark.parametrize(
    ("path", "answers", "verdict", "asked"),
    [
        ("gpulab/memory.py", ["killed"], ("killed", "1"), ["not full"]),
        ("gpulab/memory.py", ["survived", "killed"], ("killed", "2"), ["not full", "full and not seldom"]),
        ("gpulab/memory.py", ["survived", "stopped"], ("survived", "1"), ["not full", "full and not seldom"]),
        ("gpulab/walls.py", ["survived"], ("survived", "1"), ["faulthandler_timeout=250"]),
    ],
)
def test_what_no_quick_test_saw_is_tried_with_the_others(
    mutants: Any, tmp_path: Path, path: str, answers: list[str], verdict: tuple[str, str], asked: list[str]
) -> None:
    seen = []

    class Worker(mutants.Worker):
        def __init__(self) -> None:
            self.folder, self.seconds, self.coverage = tmp_path, 300, None

        def run(self, tests: list[str], seconds: float, options: Sequence[str] = ()) -> tuple[str, str]:
            seen.append(options[1] if options else "")
            return answers[len(seen) - 1], str(len(seen))

    (tmp_path / path).parent.mkdir(parents=True)
    outcome = Worker().try_(mutants.Mutant(path, 1, 0, 0, "", ""))
    assert (outcome.verdict, outcome.test) == verdict
    assert seen == asked
    assert not any("timeout" in word for word in mutants.REST), "a test of minutes would count as one that kills"


def test_a_report_is_gone_on_with(mutants: Any, tmp_path: Path) -> None:
    """The last word on each mutant of the sample; a line that was cut off says nothing, nor one of another sample."""
    one, other, unknown = (mutants.Mutant("gpulab/a.py", line, 5, 6, "<", "<=") for line in (1, 2, 3))
    outcomes = [
        mutants.Outcome(one, "stopped", "tests/a", 300.0), mutants.Outcome(unknown, "survived", "", 9.0),
        mutants.Outcome(one, "killed", "tests/a.py::test_b", 3.0), mutants.Outcome(other, "survived", "", 4.0),
    ]  # fmt: skip
    rows = [json.dumps(asdict(outcome)) for outcome in outcomes]
    report = tmp_path / "report.jsonl"
    assert mutants.reported(str(report), [one, other]) == []
    report.write_text("\n".join(rows[:3]) + "\n" + rows[3][:40])
    assert mutants.reported(str(report), [other, one]) == [outcomes[2]]


def test_a_cache_is_put_back(mutants: Any, tmp_path: Path) -> None:
    """What is new goes, what changed or is missing comes back, and what stayed is not copied again."""
    warm, cache = tmp_path / "warm", tmp_path / "cache"
    (warm / "code" / "empty").mkdir(parents=True)
    for name in ("same", "changed", "as long", "missing", "a folder now"):
        (warm / "code" / name).write_text(name)
    (warm / "current").symlink_to("code")
    mutants.put_back(warm, cache)
    (cache / "code" / "changed").write_text("something else")
    (cache / "code" / "as long").write_text("too big")
    os.utime(cache / "code" / "as long", ns=(1, 1))
    for name in ("missing", "a folder now"):
        (cache / "code" / name).unlink()
    (cache / "code" / "a folder now" / "with").mkdir(parents=True)
    (cache / "code" / "empty").rmdir()
    (cache / "new").mkdir()
    (cache / "new" / "file").write_text("new")
    (cache / "current").unlink()
    (cache / "current").mkdir()
    stayed = (cache / "code" / "same").stat().st_ino
    mutants.put_back(warm, cache)

    def contents(folder: Path) -> dict[str, str]:
        return {
            str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else
            "" if path.is_dir() else path.read_text()
            for path in folder.rglob("*")
        }  # fmt: skip

    assert contents(cache) == contents(warm)
    assert (cache / "code" / "same").stat().st_ino == stayed


def test_headers_that_have_a_program_of_their_own(mutants: Any) -> None:
    """There are the headers and the programs, and the words for pytest name one test."""
    for file, program, header in mutants.HEADERS_OF:
        assert (ROOT / "gpulab/toolchain/include" / header).exists(), header
        assert (ROOT / "tests/programs" / file / f"{program}.hip").exists(), program
    words = mutants.tests_of("gpulab/toolchain/include/thrust/sort.h")[0]
    assert mutants.arguments(words) == ["tests/programs/test_thrust.py::test_program[sorting]"]
