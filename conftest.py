"""pytest's settings for the whole clone: what runs in which verb of make, the order, and notebooks.

`FULL` is the one place that says which tests `make test` leaves: they get the marker `full` (tests/README.md has the
reasons). Four fifths of `SELDOM` run in `make test-seldom` alone. Of several workers (`--dist loadfile`) each takes the
next file, the longest first by `tests/seconds.tsv`, so that no long one is left for the end; the tests of `APART` are
taken one by one. Notebooks under nbval get kernels that start quickly (`tests.warm`).

Where CI or BUILD_NUMBER is set, pytest reports a failing comparison in full. The difference of two long lists then
takes minutes to hours to work out, and a test that fails looks like one that hangs.

Where Python is told to write no bytecode (PYTHONDONTWRITEBYTECODE), every process that a test starts would compile
gpulab's modules again, which takes longer than the rest of many. So a session does it once, before its tests. On a new
clone each worker would also rewrite the asserts of all tests (12 s): it is done once for all.

While tests are collected, an empty cache is filled with what most of them ask for first (`tests.warm.cache`).
"""

from __future__ import annotations

import compileall
import gc
import os
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Generator, Sequence, Set
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent

FULL = (
    r"^tests/browser/",
    r"^tests/course/test_nbgrader\.py::(?!test_answers_cannot)",
    r"^tests/course/test_(other_architecture\.py|new\.py::test_a_new_exercise_is_whole)",
    r"^tests/views/test_(pictures\.py::test_(picture|what_is_left)|in_flight\.py::test_steps|.*::test_the_largest_records)",
    r"^tests/views/test_(exercise\.py::test_the_picture_and_the_size|stepper\.py::test_a_huge_kernel)",
    r"^tests/views/test_occupancy\.py::test_words_of_the_static_picture.*\[(?!8-|64-)",
    r"^tests/api/test_magic\.py::test_messages_of_cuda",
    r"^tests/course/test_answers\.py::test_(right_answers_pass|what_learners_get|wrong_answers_are_explained)",
    r"^tests/course/test_build\.py::test_check_rebuilds",
    r"^tests/course/test_check\.py::test_a_(course_that_is_right|released_exercise_that)",
    r"^tests/kernels/test_architectures\.py",
    # Triton takes seconds for each compile: two right ways on one device are left.
    r"^tests/languages/test_conformance\.py::test_(?!it_computes|errors_are).*\[triton-",
    r"^tests/languages/test_conformance\.py::.*\[triton-gfx1100\]",
    r"^tests/course/test_answers\.py::.*triton-",
    r"^(notebooks/19_triton|solutions/triton-.*)\.ipynb",
    r"^tests/checked/test_checked\.py::.*_without_optimisation\[",
    r"^tests/checked/test_checked\.py::test_(fences_of_other_architectures|numbers_that_run_out)",
    r"^tests/reference/test_against_translation\.py::test_rows_(in_random_forms\[(?!gfx942-1\])|that_further)",
    r"^tests/reference/test_kernels\.py::.*\[gfx(?!942|1100)",
    r"^tests/fuzz/.*::test_(random_programs|without_optimization|a_difference_is_found_and_reduced|programs_repeat_and)",
    r"^tests/headers/test_headers\.py::test_all_mathematical_names_on_every_target",
    r"^tests/translate/test_lanes\.py",
    r"^tests/translate/test_random_programs\.py::test_both_machines_agree\[.*-([3-9]|1\d)\]",
    r"^tests/test_(mutants\.py::test_every_source_has_tests|texts\.py::test_examples_of_docstrings)",
    r"^tests/toolchain/test_host\.py::test_memory_limit",
    r"^tests/machine/test_(balance\.py::test_a_pitch_of|observation_caches\.py)",
    r"^tests/translate/test_scratch\.py::test_private_memory\[-O[01]",
    r"^tests/translate/test_long_branches\.py::test_a_loop_over",
    r"^tests/toolchain/test_(cache\.py::test_(a_word_of|many_proc)|hosted\.py::test_a_function_that)",
    r"^tests/toolchain/test_binary\.py::test_\w+_come_back\[gfx(1030|1201|950)",
    r"^tests/porting/test_translate\.py::test_(ten_thousand|comments_and_strings)",
    r"^tests/programs/test_forks\.py::test_(what_is_loaded|another_environment|all_ends)",
    r"^tests/test_cores\.py::test_a_launch_takes",
    r"^tests/toolchain/test_hip_api\.py::test_the_page_is_up_to_date",
    r"^tests/toolchain/test_precompiled\.py::test_(programs_are_the_same_without|a_second_program_with)",
    r"^tests/views/test_outputs\.py::test_(gpulab_run|papermill_keeps|nbconvert_to_html_shows|nbconvert_to_latex|of_a_notebook_with|a_built_notebook|without_widgets)",
    r"^tests/toolchain/test_hostile_sources\.py::test_flood_of_output_is_cut",
    r"^tests/porting/test_programs\.py::test_(builds_for_both|runs_and_prints.*\[(?!atomics))",
    r"^tests/programs/test_(sources\.py::test_program|foreign\.py|start\.py::test_code_that_is_refused)",
    r"^tests/porting/test_magic\.py::test_whole_programs_run",
    r"^tests/programs/test_command\.py::test_(several_sources|objects_archives|device_code|a_program_and_its|a_c_source|parallel_alg|what_is_for_the|dependencies|steps_that|what_the_linker|messages_of)",
    r"^tests/programs/test_(host_libraries|installation)\.py::test_project",
    r"^tests/programs/test_linking\.py::test_a_program_links_what_it_compiled",
    r"^tests/providers/test_registry\.py::test_(several_processes_build|a_cache_folder_that_cannot|rocm_first|the_instruction_limit|control_c)",
    r"^tests/classroom/test_pool\.py::test_(workers_and_scheduler|without_scheduler|a_cluster_that_only|a_local_cluster_takes|a_client_that_failed|no_job_waits|local_cluster_with)",
    r"^tests/attacks/test_worker\.py::test_(nothing_stops_the_grader|a_time_out_ends|kill_9|forged_runs|the_verdict_is|a_seed_reaches|a_worker_that_dies)",
    r"^tests/attacks/test_(known_cases|hostile_class)\.py",
    r"^tests/attacks/test_programs_without_work\.py::(?!test_printed_constants)",
    r"^tests/attacks/test_blame\.py::test_(a_full_disk|without_fork|the_command_refuses|bubblewrap|a_program_where|what_is_wrong)",
    r"^tests/attacks/test_state_between_runs\.py::.*-gfx1100\]",
    r"^tests/classroom/test_(gradebook\.py|overview\.py::test_the_notebook_runs)",
    r"^tests/classroom/test_(command\.py::test_a_class_is_graded_and|run\.py::test_a_run_that_is_killed_ten)",
    r"^tests/grading/test_mutants\.py::test_a_mutant_is_judged",
    r"^tests/grading/test_program\.py::test_(a_right_program_passes|a_race_in_a_program|other_numbers|a_known_mistake|what_programs_do_wrong|requirements_look_at|how_far_right|a_cause_knows)",
    r"^tests/grading/test_evidence\.py::test_(a_cause_is_named_only_if|what_a_program_left)",
    r"^tests/grading/test_gpu\.py::test_(isolated_runs|a_submission_that_takes|a_grader_grades)",
    r"^tests/grading/test_failed\.py::test_(in_a_notebook|ten_million)",
    r"^tests/checked/test_checked\.py::test_memory_is_given_back",
    r"^tests/programs/test_jail\.py::test_(memory|threads|output|a_loop)_",
    r"^tests/programs/test_own_headers\.py::test_a_header_above",
    r"^tests/machine/test_timing\.py::(?!TestPeakRates::test_(?!matrix))",
    r"^tests/machine/test_observation\.py::.*gfx(?!942|1100)",
    r"^tests/translate/test_pieces\.py::test_pieces_compute",
    r"^tests/isa/test_row_fields\.py::test_atomics_that_commute",
    r"^tests/headers/test_(on_device\.py::test_(a_kernel_computes_the_bits|shuffles)|short_floats\.py)",
    r"^tests/headers/test_(heap\.py::test_lists_of_every|tiny_floats\.py::test_numbers_become)",
    r"^tests/attacks/test_programs\.py::test_what_others_handed_in",
    r"^tests/architectures/test_conformance\.py::test_(waves_by_registers|a_kernel_runs_on_it|the_headers_compile).*\[(?!gfx942|gfx1100\])",
    r"^tests/api/test_cli\.py::test_(lab_prints|grade|run)",
    r"^tests/fuzz/test_waves\.py::test_a_difference_is_found",
    r"^tests/hip/test_ahead\.py::test_(a_whole|it_begins|it_ends)",
    r"^tests/programs/test_building\.py::test_(the_command|records_of_a_run|advice_is_for_programs|messages_name_the|the_magic_with|a_profile_alone|checked_and_limited|interrupting)",
    r"^tests/test_packaging\.py::test_the_wheel",
    r"^tests/delivery/test_seed\.py::test_a_seed_serves",
    r"^tests/projects/test_projects\.py::test_(what_one_begins|a_solution|a_wrong)",
    r"^tests/delivery/test_bundle\.py::test_a_bundle_(installs|that_lacks)",
    r"^tests/services/test_(site\.py|hub\.py|files\.py::test_a_workflow_with)",
    r"^tests/test_(bench|style)\.py",
    r"^tests/course/test_(definitions\.py|check\.py::test_answers_that_are_judged)",
    r"^tests/headers/test_(mathematics|cooperative_groups\.py::test_(tiles|values_beyond|every_target)|fp8\.py::test_each_gpu.*\[gfx(?!942|1100))",
    r"^tests/fuzz/test_inputs\.py::test_wrong_inputs.*\[(?!zips)",
    r"^tests/guests/test_triton\.py::test_(a_kernel_against_numpy|kernels_|a_fault_names)",
    r"^tests/grading/test_weak\.py::test_a_class_is",
    r"^tests/headers/test_headers\.py::test_everything_else_on_every_target\[(?!gfx942|gfx1100)",
    r"^tests/classroom/test_learning\.py::test_a_class_with_files",
    r"^tests/views/test_(chip\.py::test_each_device.*\[(?!gfx942|gfx1100)|plots\.py::test_each_kind)",
    r"^tests/programs/test_(corpus|thrust|random|blas|primitives\.py::(?!test_refused))",
    r"^tests/headers/test_random\.py::test_distributions",
    r"^tests/programs/test_building\.py::test_programs_of_older",
    r"^tests/porting/test_(names\.py::test_device_functions_are_in|tokens\.py::test_scanning_takes)",
    r"^tests/libraries/test_third_library\.py::test_a_whole_program",
    r"^tests/toolchain/test_binary\.py::test_far_branches",
    r"^tests/classroom/test_(pool\.py::test_a_worker_of_another|pool_steps\.py::test_(a_client_is|dask_has|the_local_cl)|similar\.py::test_(disg|no_hon))",
    r"^tests/languages/test_triton\.py::test_(what_is_divisible|two_instances)",
    r"^tests/providers/test_rocprof\.py::test_(a_group|the_runner|launches_are)",
)
"""Patterns of what does not run in `make test`; tests/kernels/conftest.py marks one of its two architectures."""

SELDOM = re.compile(
    "|".join(
        (
            r"^tests/grading/test_mutants\.py::test_all_mutants",
            r"^tests/course/test_answers\.py::test_(wrong_answers_are_explained|right_answers_pass)",
            r"^tests/course/test_other_architecture\.py::test_runs_on_gfx1100",
            r"^tests/programs/test_(corpus|primitives|thrust|sources)\.py::test_(a_program|program|checked_launches)",
            r"^tests/kernels/.*gfx(942|1100)-O",
            r"^tests/machine/test_weak\.py",
            r"^tests/course/test_nbgrader\.py::test_solution_validates",
            r"^tests/grading/test_promises\.py::test_a_right_answer",
            r"^tests/browser/test_lab\.py::test_lesson_in_jupyterlab",
        )
    )
)
"""Of these tests in `FULL`, each of which asks much the same of another program or answer, `make test-rest` runs the
fifth that their names decide; `make test-seldom` runs the others."""

ONE_OF_TWO = (
    "tests/api/", "tests/checked/", "tests/grading/", "tests/guests/", "tests/headers/", "tests/languages/",
    "tests/machine/", "tests/reference/", "tests/toolchain/", "tests/translate/", "tests/views/",
    "tests/isa/test_buffers.py", "tests/isa/test_lds_forms.py", "tests/isa/test_mode.py",
    "tests/isa/test_operand_forms.py",
)  # fmt: skip
"""Folders and files of which `make test` runs, of a test on gfx942 and on gfx1100, the one that its name decides."""

OPTIMISED = re.compile(r"^tests/(isa/(?!test_(matrix|images\.py::test_\w+_of_every_))|kernels/|translate/|fuzz/)")
"""Tests whose kernels are optimised before they run, as those that run for long are; elsewhere they seldom are. (Matrix
and image instructions are calls of the machine's own functions, which optimising changes nothing about; of images those
are left out that go through every format or shape.) `make test` does so for half of them, which their names decide."""

FILLING = pytest.StashKey["subprocess.Popen[bytes]"]()

APART = (
    "tests/course/test_answers.py", "tests/course/test_nbgrader.py", "tests/course/test_other_architecture.py",
    "tests/programs/test_corpus.py", "tests/programs/test_thrust.py", "tests/programs/test_primitives.py",
    "tests/programs/test_sources.py", "tests/grading/test_mutants.py",
)  # fmt: skip
"""Files whose tests take long and share nothing."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reverse", action="store_true", help="run the tests in the opposite order")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: does not run in `make test` (tests/README.md)")
    config.addinivalue_line("markers", "seldom: runs in `make test-seldom` alone")
    config.addinivalue_line("markers", "part_of(name): left out where the test `name`, which asserts it too, runs")
    config.pluginmanager.register(Parts())
    for name in ("CI", "BUILD_NUMBER"):
        os.environ.pop(name, None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job, whose children would never stop
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if with_notebooks(config):
        if not config.option.nbval_sanitize_with:
            config.option.nbval_sanitize_with = str(ROOT / "tests" / "course" / "nbval_sanitize.cfg")
        from tests import warm

        warm.without_ports()
        if not is_worker(config):
            os.environ["JUPYTER_PATH"] = os.pathsep.join(
                filter(None, [str(warm.specs().added), os.environ.get("JUPYTER_PATH")])
            )
        config.option.nbval_kernel_name = config.option.nbval_kernel_name or "warm"
        if not with_full(config):
            os.environ["GPULAB_TESTS_UNDRAWN"] = "1"  # pictures, which nbval does not compare (tests/warm/server.py)


def pytest_sessionstart(session: pytest.Session) -> None:
    if is_worker(session.config):
        return
    if with_notebooks(session.config):
        session.config.stash[FILLING] = subprocess.Popen([sys.executable, "-m", "tests.warm.cache"], cwd=ROOT)
    if sys.dont_write_bytecode:
        compileall.compile_dir(ROOT / "gpulab", quiet=2)
    if session.config.getoption("numprocesses", None) and not any((ROOT / "tests").glob("__pycache__/test_*pytest*")):
        rewrite_asserts()


def rewrite_asserts() -> None:
    """Have pytest compile all tests, a part of them in each of some processes."""
    from gpulab import cores

    files = sorted((ROOT / "tests").rglob("test_*.py"), key=lambda path: -path.stat().st_size)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    count = min(cores.usable(), 4)
    parts = [
        subprocess.Popen(
            [*command, *map(str, files[part::count])], cwd=ROOT, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for part in range(count)
    ]  # fmt: skip
    for process in parts:
        process.wait()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    gc.disable()  # a quarter of the time: none of the objects of tests is garbage
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    wait_for_cache(node.config)


def pytest_collection_finish(session: pytest.Session) -> None:
    wait_for_cache(session.config)
    gc.freeze()  # 700,000 objects of tests that stay: a test that collects garbage need not look at them
    gc.set_threshold(20_000, 20, 20)  # looking for garbage after each 700 new objects takes 2 % of the time


def wait_for_cache(config: pytest.Config) -> None:
    """Until the cache is filled, if this process has begun that."""
    filling = config.stash.get(FILLING, None)
    if filling is not None and filling.wait():
        pytest.exit("a first kernel and a first program did not run: python -m tests.warm.cache", returncode=1)


def with_full(config: pytest.Config) -> bool:
    """Whether tests of the marker `full` run, too."""
    return config.option.markexpr != "not full"


def with_notebooks(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "nbval", False) or getattr(config.option, "nbval_lax", False))


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of pytest-xdist's processes, which run the tests for another."""
    return hasattr(config, "workerinput")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    full = re.compile("|".join(FULL))
    for item in items:
        if full.search(item.nodeid):
            item.add_marker("full")
    names = {item.nodeid for item in items}
    for item in items:
        if item.nodeid.startswith(ONE_OF_TWO) and left_to_the_other(item.nodeid, names):
            item.add_marker("full")
    for item in items:
        if SELDOM.search(item.nodeid) and item.get_closest_marker("full") and zlib.crc32(item.nodeid.encode()) % 5:
            item.add_marker("seldom")
    if is_worker(config):
        seconds = {}
        for line in (ROOT / "tests" / "seconds.tsv").read_text(encoding="utf-8").splitlines():
            number, path = line.split("\t")
            seconds[path] = float(number)
        items.sort(key=lambda item: -seconds.get(item.nodeid, seconds.get(path_of(item.nodeid), 0)))
    if config.getoption("reverse"):
        items[:] = opposite(items)


class Parts:
    """Leaves out tests that are a part of others (`part_of`) where those run in the same session."""

    @pytest.hookimpl(trylast=True)  # after -m and -k have chosen
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        names = {item.nodeid for item in items}
        left = [item for item in items if whole_of(item) in names]
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = [item for item in items if whole_of(item) not in names]


def whole_of(item: pytest.Item) -> str | None:
    """The test of the same file that has this one as a part: with the same parameters, if the marker names none."""
    marker = item.get_closest_marker("part_of")
    if marker is None:
        return None
    path, name = item.nodeid.split("::", 1)
    own = name[name.index("[") :] if "[" in name and "[" not in marker.args[0] else ""
    return f"{path}::{marker.args[0]}{own}"


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says at the end in a few lines why each test failed: pytest's own list of them has no room for reasons, and of a
    long output the end is what is kept."""
    failures = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
    if failures:
        terminalreporter.section("reasons")
    for report in failures:
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = " ".join(str(crash.message if crash else report.longrepr).split())
        short = reason if len(reason) <= REASON else f"{reason[: REASON - 200]} ... {reason[-200:]}"
        terminalreporter.write_line(f"{report.nodeid}: {short}")


REASON = 1000
"""Characters of a failure's reason that the last lines of a run have."""


def opposite(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests in the opposite order; a notebook's cells stay in theirs."""
    files = [list(tests) for _, tests in groupby(items, key=lambda item: path_of(item.nodeid))]
    return [item for tests in reversed(files) for item in (tests if is_notebook(tests[0]) else reversed(tests))]


def is_notebook(item: pytest.Item) -> bool:
    return path_of(item.nodeid).endswith(".ipynb")


@pytest.fixture(autouse=True)
def optimised(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    half = zlib.crc32(request.node.nodeid.encode()) % 2 == 0
    if OPTIMISED.match(request.node.nodeid) and (half or with_full(request.config)):
        from gpulab.virtual_gpu.machine import loading

        monkeypatch.setattr(loading, "QUICK_SECONDS", 0.0)


@pytest.fixture(autouse=True, scope="module")
def as_at_first() -> None:
    """Each file begins on the first device, and no address is known as freed, whatever the files before it in this
    process did: where a wild index leads, and what is said of it, depends on that."""
    registry = getattr(sys.modules.get("gpulab.providers.registry"), "_registry", None)
    if registry is not None and registry._primary is not None and registry.current():
        registry.select(0)
    runtime = getattr(sys.modules.get("gpulab.virtual_gpu.runtime"), "_instance", None)
    if runtime is not None:
        runtime.arena._freed.clear()
        runtime.arena.generation += 1


@pytest.fixture(autouse=True)
def nothing_left() -> Generator[None]:
    """A test has failed that leaves its limit of instructions, or checked or weak launches, to the tests after it."""
    before = launch_settings()
    yield
    after = launch_settings()
    if after != before:
        runtime = sys.modules["gpulab.virtual_gpu.runtime"].instance()
        runtime.instruction_limit, runtime.checking, runtime.weak = before
        names = ("instruction limit", "open `checked` blocks", "seeds of `weak`")
        changed = [
            f"{name}: {new}, not {old}" for name, old, new in zip(names, before, after, strict=True) if new != old
        ]
        pytest.fail(f"this test leaves what later ones would run with: {'; '.join(changed)}.")


def launch_settings() -> tuple[Any, Any, Any]:
    """Of the virtual GPU of this process: the limit of instructions, the open `checked` blocks, the seeds of `weak`."""
    runtime = getattr(sys.modules.get("gpulab.virtual_gpu.runtime"), "_instance", None)
    return (None, 0, None) if runtime is None else (runtime.instruction_limit, runtime.checking, runtime.weak)


def left_to_the_other(nodeid: str, names: Set[str]) -> bool:
    """Whether the same test on the other architecture is the one that `make test` runs."""
    twins = sorted({nodeid, nodeid.replace("gfx942", "gfx1100"), nodeid.replace("gfx1100", "gfx942")} & names)
    return len(twins) == 2 and twins[zlib.crc32(nodeid.replace("gfx1100", "gfx942").encode()) % 2] != nodeid


def path_of(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist there is nobody to ask
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Pieces(LoadScopeScheduling):
        """Files, and single tests of `APART`, in the order in which the workers have them."""

        def _split_scope(self, nodeid: str) -> str:
            return nodeid if path_of(nodeid) in APART else path_of(nodeid)

        def remove_node(self, node: Any) -> str | None:
            """The test at which a worker died, which has failed. pytest-xdist alone would run it again, endlessly.

            It would also give out again what the worker had done: files without a test, after which a worker that keeps
            its last test until it has another one waits for ever.
            """
            units = self.assigned_work[node]
            tests = [(unit, nodeid) for unit in units.values() for nodeid in unit if not unit[nodeid]]
            if tests:
                unit, crashed = tests[0]
                unit[crashed] = True
            self.assigned_work[node] = {scope: unit for scope, unit in units.items() if not all(unit.values())}
            super().remove_node(node)
            return crashed if tests else None

        def _reschedule(self, node: Any) -> None:
            """Give a worker work once it has said which tests it found: not while it is still starting."""
            if node in self.registered_collections:
                super()._reschedule(node)

        def schedule(self) -> None:
            """Give out work. A worker runs its last test when it is told that no other comes: also a late worker."""
            super().schedule()
            if not self.workqueue:
                for node in self.nodes:
                    node.shutdown()

    config.option.loadscopereorder = False
    return Pieces(config, log)
