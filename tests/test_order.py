"""The order of the tests: `--reverse` turns it round, cells of a notebook stay; what took how long is written down."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import conftest


@dataclass
class Named:
    nodeid: str


def test_the_opposite_order_keeps_cells_in_theirs() -> None:
    names = [
        "tests/a.py::x",
        "tests/a.py::y",
        "n/1.ipynb::Cell 0",
        "n/1.ipynb::Cell 1",
        "n/2.ipynb::Cell 0",
        "tests/b.py::z",
    ]
    expected = [
        "tests/b.py::z",
        "n/2.ipynb::Cell 0",
        "n/1.ipynb::Cell 0",
        "n/1.ipynb::Cell 1",
        "tests/a.py::y",
        "tests/a.py::x",
    ]
    assert [item.nodeid for item in conftest.opposite([Named(name) for name in names])] == expected


@dataclass
class Part:
    nodeid: str
    whole: str = ""

    def get_closest_marker(self, name: str) -> SimpleNamespace | None:
        return SimpleNamespace(args=(self.whole,)) if self.whole and name == "part_of" else None


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        (["a.py::few[x]", "a.py::few[y]", "a.py::all[x]"], ["a.py::few[y]", "a.py::all[x]"]),
        (["a.py::few[x]", "b.py::all[x]"], ["a.py::few[x]", "b.py::all[x]"]),
        (["a.py::sizes[some]", "a.py::sizes[all]"], ["a.py::sizes[all]"]),
        (["a.py::sizes[some]", "a.py::all"], ["a.py::sizes[some]", "a.py::all"]),
        (["a.py::one", "a.py::all"], ["a.py::all"]),
    ],
)
def test_a_part_is_left_out_where_the_whole_runs(chosen: list[str], left: list[str]) -> None:
    wholes = {"few": "all", "one": "all", "sizes": "sizes[all]"}
    items = [Part(name, wholes.get(name.split("::")[1].split("[")[0], "")) for name in chosen]
    items = [Part(each.nodeid) if each.nodeid == "a.py::sizes[all]" else each for each in items]
    deselected: list[Part] = []
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items)))
    conftest.Parts().pytest_collection_modifyitems(cast(pytest.Config, config), cast(list[pytest.Item], items))
    assert [item.nodeid for item in items] == left
    assert {item.nodeid for item in deselected} == {*chosen} - {*left}


def test_seconds_are_renewed_from_what_a_run_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files that were not run keep their number; those that are gone leave the table."""
    spec = importlib.util.spec_from_file_location("seconds_tool", Path(conftest.ROOT, "tools", "seconds.py"))
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    here, answers = "tests/test_order.py", "tests/course/test_answers.py"
    table, report = tmp_path / "seconds.tsv", tmp_path / "report.xml"
    table.write_text(f"9\t{here}\n8\ttests/gone.py\n7\ttests/test_cores.py\n6\t{answers}::test_gone[a]\n")
    cases = [
        ("tests.test_order", "test_a", 1.6), ("tests.test_order.TestB", "test_c", 1.0),
        ("tests.course.test_answers", "test_right_answers_pass[saxpy-guard]", 4.0),
        ("notebooks.02_simt.ipynb", "Cell 0", 0.3), ("notebooks.02_simt.ipynb", "Cell 1", 2.0),
        ("tests.test_records", "test_quick", 0.1),
    ]  # fmt: skip
    rows = "".join(f'<testcase classname="{c}" name="{n}" time="{s}"/>' for c, n, s in cases)
    report.write_text(f"<testsuites><testsuite>{rows}</testsuite></testsuites>")
    monkeypatch.setattr(tool, "TABLE", table)
    assert tool.main([str(report)]) == 0
    assert table.read_text().splitlines() == [
        "7\ttests/test_cores.py", f"4\t{answers}::test_right_answers_pass[saxpy-guard]", f"3\t{here}",
        "2\tnotebooks/02_simt.ipynb",
    ]  # fmt: skip


DIES = """
import os, time
import pytest

@pytest.mark.parametrize("number", range(4))
def test_before(number): time.sleep(0.05)
"""
DIES_LATER = (
    DIES.replace("test_before", "test_more")
    + """
def test_dies(): os._exit(139)
def test_after(): pass
"""
)


@pytest.mark.full
def test_a_worker_that_dies_after_several_files_leaves_the_rest_to_others(tmp_path: Path) -> None:
    """pytest-xdist alone gives out the files that it had done, too, without a test: the session never ended."""
    for name in "abcdefghijkl":
        (tmp_path / f"test_{name}.py").write_text(DIES_LATER if name == "g" else DIES)
    done = run_in(tmp_path)
    assert "1 failed, 49 passed" in done.stdout, done.stdout[-2000:]
    assert "test_g.py::test_dies" in done.stdout


class Worker:
    """What the scheduler sees of a worker."""

    def __init__(self) -> None:
        self.gateway = SimpleNamespace(id="gw")
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


class Settings:
    option = SimpleNamespace(loadscopereorder=True)

    def getoption(self, name: str) -> str:
        return "loadfile"

    def getvalue(self, name: str) -> list[str]:
        return ["popen", "popen"]


def test_two_workers_die_at_the_same_time() -> None:
    """The one that takes the place of the first is still starting when the second dies: it gets no work yet."""
    tests = [f"tests/test_{name}.py::test_{number}" for name in "abcdef" for number in range(3)]
    scheduler = conftest.pytest_xdist_make_scheduler(cast(pytest.Config, Settings()), None)
    first, second, third, fourth = (Worker() for _ in range(4))
    for worker in (first, second):
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, tests)
    scheduler.schedule()
    assert scheduler.remove_node(first) == tests[first.given[0]]
    scheduler.add_node(third)
    assert scheduler.remove_node(second) == tests[second.given[0]]
    scheduler.add_node(fourth)
    scheduler.add_node_collection(fourth, tests)
    scheduler.schedule()
    assert not third.given
    scheduler.add_node_collection(third, tests)
    scheduler.schedule()
    while scheduler.has_pending:
        for worker in (third, fourth):
            for number in worker.given:
                scheduler.mark_test_complete(worker, number)
    died = {first.given[0], second.given[0]}
    assert sorted(third.given + fourth.given) == [number for number in range(len(tests)) if number not in died]
    assert third.shutting_down
    assert fourth.shutting_down


HANGS = """
import time

def test_before(): pass
def test_hangs(): time.sleep(600)
def test_after(): pass
"""


@pytest.mark.full
def test_a_test_that_hangs_has_failed_and_the_others_run(tmp_path: Path) -> None:
    """Its worker is ended; another one takes what is left, once. pytest-xdist alone tries the same test endlessly."""
    (tmp_path / "test_hanging.py").write_text(HANGS)
    (tmp_path / "test_other.py").write_text("def test_other(): pass")
    done = run_in(tmp_path)
    assert "1 failed, 3 passed" in done.stdout, done.stdout[-2000:]
    assert "test_hanging.py::test_hangs" in done.stdout


def run_in(folder: Path, workers: str = "2") -> subprocess.CompletedProcess[str]:
    settings = ["--noconftest", "-p", "conftest", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=10"]
    settings += ["-o", "faulthandler_exit_on_timeout=true"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", workers, "--dist", "loadfile", *settings],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(conftest.ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


LEAVES = """
import conftest
import gpulab

kept = gpulab.checked()

def test_leaves_a_limit():
    gpulab.set_limit(20_000)

def test_has_none():
    assert conftest.launch_settings() == (None, 0, None)

def test_leaves_checked_launches():
    kept.__enter__()

def test_frees_a_large_array():
    first, second = gpulab.empty(1 << 16, "uint8"), gpulab.empty(1 << 29, "uint8")
    first.free()  # where the next array comes to lie
    second.free()

def test_uses_the_second_device():
    assert gpulab.use(1).index == 1
"""
FINDS = """
import gpulab

def test_first():
    assert gpulab.device().index == 0

def test_a_wild_index():
    wild = gpulab.compile("__global__ void wild(int* x) { x[100000000] = 1; }")["wild"]
    try:
        wild[1, 1](gpulab.zeros(1, "int32"))
    except gpulab.MemoryFault as error:
        assert error.fault.kind == "out of bounds"
    else:
        assert False
"""


@pytest.mark.full
def test_what_a_test_leaves_to_later_ones_is_an_error_of_its_own(tmp_path: Path) -> None:
    """Of a limit of 20,000 instructions another file's kernel was stopped, when it came into the same process."""
    (tmp_path / "test_a.py").write_text(LEAVES)
    (tmp_path / "test_b.py").write_text(FINDS)
    done = run_in(tmp_path, "0")
    assert "7 passed, 2 errors" in done.stdout, done.stdout[-2000:]
    assert (
        "test_leaves_a_limit: Failed: this test leaves what later ones would run with: instruction limit: 20000, not"
        in done.stdout
    )
    assert (
        "test_leaves_checked_launches: Failed: this test leaves what later ones would run with: open `checked`"
        in done.stdout
    )
