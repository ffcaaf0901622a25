"""The failing case that a verdict carries: states, who wrote, whose it is, bounds, and the way through a file."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from gpulab.grading.answers import wrong_answer
from gpulab.grading.case import Array, Case, Run, blocks_for, combinations, distinct, guard_values, sentinel
from gpulab.grading.exercise import Exercise
from gpulab.grading.failed import failed_case
from gpulab.grading.gpu_bench import GpuBench
from gpulab.grading.judge import judge
from gpulab.grading.library import load
from gpulab.grading.outcome import Outcome
from gpulab.grading.plain import to_plain
from gpulab.grading.verdict import Verdict
from gpulab.views import exercise as view
from tests.grading.fakes import PythonBench
from tests.grading.test_judge import tiny

BOTH = pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])


def verdict_of(exercise: str | Exercise, source: str, arch: str = "gfx942") -> Verdict:
    known = load(exercise) if isinstance(exercise, str) else exercise
    return judge(replace(known, archs=(arch,)), source, GpuBench())


def fill(body: str) -> str:
    return "__global__ void fill(int n, float value, float* out)\n{\n    int i = blockIdx.x * blockDim.x + " + (
        "threadIdx.x;\n" + body + "\n}\n"
    )


@BOTH
def test_one_too_far_shows_who_wrote_whose_element(arch: str) -> None:
    """Thread i writes out[i + 1]: out[0] stays empty, and out[1] has the wrong writer but the right value."""
    verdict = verdict_of("first-fill", fill("    if (i < n - 1) out[i + 1] = value + i;"), arch)
    case = verdict.case
    assert case is not None
    assert (case.arch, case.larger, case.stopped) == (arch, True, "")
    (array,) = case.arrays
    assert array.shape[0] >= 10
    first, second, third, *_ = array.elements
    assert (first.state, first.writer) == ("never written", None)
    assert second.state == "right"  # value + 0
    assert third.state == "wrong"
    assert third.writer is not None
    assert third.owner is not None
    assert (third.writer.thread, third.writer.seen) == ((1, 0, 0), True)
    assert (third.owner.thread, third.owner.seen) == ((2, 0, 0), False)
    assert third.writer.where is not None
    assert third.writer.where.line == 4
    assert third.writer.where.text.strip() == "if (i < n - 1) out[i + 1] = value + i;"
    said = view.failing(case).sentence
    assert "each by the thread before its own" in said
    assert "out[2] should be" in said


@BOTH
def test_a_missing_guard_shows_what_was_written_outside(arch: str) -> None:
    case = verdict_of("first-fill", fill("    out[i] = value;"), arch).case
    assert case is not None
    (array,) = case.arrays
    size = array.shape[0]
    assert (array.right, array.wrong, array.never) == (size, 0, 0)
    threads = case.grid[0] * case.block[0]
    assert array.outside == threads - size
    assert [element.index for element in array.beside] == list(range(size, threads))
    for element in array.beside:
        assert element.state == "written outside"
        assert element.writer is not None
        assert element.writer.thread is not None
        assert element.writer.workgroup[0] * case.block[0] + element.writer.thread[0] == element.index
    assert (case.stopped, case.place) == ("out of bounds", f"out[{size}]")
    assert len(case.sides) == 1


def reverse(**changes: object) -> Exercise:
    def make(parameters, random):
        n, block = parameters["n"], parameters["block"]
        data = distinct(random, n)
        wanted = data.reshape(-1, block)[:, ::-1].reshape(-1).copy()
        arguments = (Array("in", data), Array("out", sentinel("float32", n), wanted))
        return Case(parameters, (n // block, 1, 1), (block, 1, 1), arguments)

    return Exercise(
        id="block-reverse", title="reverse", lesson="02_simt", section="x", kernel="reverse",
        signature="const float* in, float* out", make=make, cases=combinations(n=(512,), block=(128,)),
        smallest={"n": 128, "block": 128}, causes=(), hints=("a", "b", "c"), **changes,
    )  # fmt: skip


@BOTH
def test_a_missing_barrier_shows_both_sides(arch: str) -> None:
    case = verdict_of(
        reverse(),
        """__global__ void reverse(const float* in, float* out)
{
    __shared__ float s[128];
    s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}""",
        arch,
    ).case
    assert case is not None
    assert case.stopped == "race"
    assert case.place.startswith("shared memory, byte ")
    earlier, later = case.sides
    assert earlier.where is not None
    assert later.where is not None
    assert {(earlier.access, earlier.where.line), (later.access, later.where.line)} == {("read", 5), ("write", 4)}
    assert earlier.wave != later.wave
    sides = view.failing(case).data["sides"]
    assert [side["when"] for side in sides] == ["first", "then"]


def test_images_keep_their_rows_and_columns() -> None:
    source = wrong_answer("image-mirror", "column-off-by-one").source
    case = verdict_of("image-mirror", source).case
    assert case is not None
    array = next(array for array in case.arrays if array.name == "out")
    height, width = array.shape
    assert min(array.shape) > 2
    assert (array.rows, array.columns) == (height, width)
    assert (array.row, array.column) == (0, 0)
    assert array.elements[width].index == width
    for element in array.elements:
        if element.state == "wrong":
            assert element.writer is not None
            assert element.writer.seen


def test_a_store_that_the_compiler_made_of_two_has_no_line() -> None:
    source = wrong_answer("three-point-mean", "missing-parentheses").source
    case = verdict_of("three-point-mean", source).case
    assert case is not None
    wrong = next(element for element in case.arrays[-1].elements if element.state == "wrong")
    assert wrong.writer is not None
    assert wrong.writer.where is None or "out[i]" in wrong.writer.where.text
    assert wrong.writer.instruction.startswith("global_store")


def test_in_a_notebook_a_rejected_answer_shows_report_and_picture_and_nothing_on_stderr() -> None:
    import nbformat
    from nbclient import NotebookClient

    code = (
        "import gpulab\n"
        "gpulab.check('first-fill', '__global__ void fill(int n, float value, float* out) { out[0] = value; }', "
        "record=False).require()"
    )
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(made, timeout=60, kernel_name="python3", allow_errors=True).execute()
    report, widget, picture, numbers, error = made.cells[0].outputs
    assert "Not yet: first-fill" in report.data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in widget.data
    assert set(picture.data) == {"image/png"}
    assert "should be" in picture.metadata["image/png"]["alt"]
    assert "never written" in numbers.data["text/plain"]
    assert (error.output_type, error.ename) == ("error", "AnswerRejected")


MIRROR = """__global__ void mirror(int width, int height, const int* in, int* out)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height) out[row * width + column] = in[row * width + (column + 1) % width];
}
"""


@pytest.mark.full
@BOTH
def test_inputs_stand_beside_outputs(arch: str) -> None:
    """By the exercise's own mapping (of a mirrored image): in the report, in the case's table, in the picture."""
    verdict = verdict_of("image-mirror", MIRROR, arch)
    case = verdict.case
    assert case is not None
    given, array = case.arrays
    assert (given.name, given.given) == ("in", True)
    width = array.shape[1]
    values = {element.index: element.found for element in given.elements}
    assert {element.state for element in given.elements} == {"given"}
    wrong = [element for element in array.elements if element.state == "wrong"]
    for element in wrong:
        row, column = divmod(element.index, width)
        other = row * width + width - 1 - column
        assert element.inputs == ((f"in[{other}]", element.expected),)
        assert values[other] == element.expected
    name, value = wrong[0].inputs[0]
    small = load("image-mirror").case(verdict.smallest)  # the report's, where the picture has a larger one
    last = verdict.smallest["width"] - 1
    assert f"in[{last}] = {small.array('in').data[0, last]}" in verdict.text
    picture = view.failing(case)
    place = picture.table.columns.index("inputs")
    assert picture.table.rows[0][place] == f"{name} = {value}"
    assert f"Its inputs: {name} = {value}." in picture.sentence
    assert "in (" not in picture.sentence  # an input is not wrong, and needs no count
    assert Verdict.from_dict(json.loads(json.dumps(verdict.as_dict()))) == verdict


def test_what_an_array_held_before_is_an_input() -> None:
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = a * x[i] - y[i];\n}\n"
    text = verdict_of(
        "saxpy-guard", f"__global__ void saxpy(int n, float a, const float* x, float* y)\n{{\n    {body}"
    ).text
    exercise = load("saxpy-guard")
    assert "y[0] before = " in text
    assert list(exercise.inputs_of(exercise.case(exercise.cases[0]), "y", 0)) == [("x", 0), ("y", 0)]


@BOTH
def test_where_no_cause_is_known_it_says_so_and_who_wrote_what(arch: str) -> None:
    exercise = replace(load("first-fill"), causes=())
    text = verdict_of(exercise, fill("    if (i < n) out[i ^ 1] = value + i;"), arch).text
    assert "likely cause  not known: " in text
    assert "who wrote     thread 1 of block 0: out[0], which is wrong" in text
    assert "              thread 0 of block 0: out[1]\n" in text  # the value is the same for all, so it is right


def test_a_long_table_is_folded() -> None:
    case = verdict_of("first-fill", fill("    if (i < n) out[i] = 2 * value;")).case
    assert case is not None
    table = view.failing(case).table
    assert len(table.rows) > view.UNFOLDED
    assert table.html().startswith(
        f'<details class="gpulab-folded"><summary>All {len(table.rows)} elements as a table<'
    )
    assert "<details" not in replace(table, rows=table.rows[:2], summary="").html()


def test_the_same_each_time() -> None:
    source = fill("    if (i < n - 1) out[i + 1] = value + i;")
    assert verdict_of("first-fill", source).as_dict() == verdict_of("first-fill", source).as_dict()


def test_without_a_shadow_memory_only_the_owner_is_known() -> None:
    def skips_last(thread, n, x, out):
        if thread.number < n - 1:
            out[thread.number] = 10 * thread.number + 1

    case = judge(tiny(), "source", PythonBench(skips_last)).case
    assert case is not None
    given, array = case.arrays
    assert (given.name, given.given, array.given) == ("x", True, False)
    assert len(array.elements) == 10
    assert {element.writer for element in array.elements} == {None}
    assert array.elements[3].owner is not None
    assert array.elements[3].owner.thread == (3, 0, 0)
    assert "Who wrote it was not seen" in " ".join(view.story(array, array.elements[3]))


def test_requirements_and_compile_errors_have_no_case() -> None:
    assert verdict_of("first-fill", fill("    out[i] = ;")).case is None
    assert verdict_of("first-fill", fill("    if (i < n) out[i] = value;")).case is None


class Silent:
    """A kernel whose launches leave what they are told to."""

    arch, wave_size = "gfx942", 64

    def __init__(self, run: Run) -> None:
        self._run = run

    def run(self, *arguments: object) -> Run:
        return self._run

    def close(self) -> None:
        return


def large(shape: tuple[int, ...], wrong: object, value: int = 7) -> Outcome:
    """An output of zeros that should be ones at `wrong`, where it holds `value`."""
    wanted = np.ones(shape, "uint8")
    found = wanted.copy()
    found[wrong] = value  # type: ignore[call-overload]
    size, guard = wanted.size, 64
    edge = guard_values("uint8", guard, 0)
    run = Run({"out": np.concatenate([edge, found.reshape(-1), edge])})
    out = Array("out", sentinel("uint8", shape), wanted)
    case = Case({"n": size}, (blocks_for(size, 256), 1, 1), (256, 1, 1), (out,))
    return Outcome(case, "gfx942", 64, Run({"out": found}), run, guard)


def test_ten_million_elements_stay_small() -> None:
    outcome = large((10_000_000,), slice(7_654_321, 9_000_000, 3))
    case = failed_case(tiny(), Silent(outcome.guarded), outcome)
    (array,) = case.arrays
    assert array.wrong == len(range(7_654_321, 9_000_000, 3))
    assert array.right + array.wrong == 10_000_000
    assert len(array.elements) == 256
    assert 7_654_321 in [element.index for element in array.elements]
    assert len(array.overview) == 96
    assert [sum(column) for column in zip(*array.overview, strict=True)] == [array.right, array.wrong, array.never]
    assert array.overview[0] == (array.part, 0, 0)
    assert len(json.dumps(to_plain(case))) < 60_000
    shown = view.failing(case)
    assert len(json.dumps(shown.message())) < 200_000
    assert "256 of 10,000,000 elements are drawn" in shown.data["arrays"][0]["window"]
    assert shown.png().startswith(b"\x89PNG")


def test_the_rectangle_of_an_image_lies_around_the_first_wrong_element() -> None:
    outcome = large((300, 400), (slice(200, 210), slice(100, 120)))
    case = failed_case(tiny(), Silent(outcome.guarded), outcome)
    (array,) = case.arrays
    assert (array.row, array.column, array.rows, array.columns) == (196, 96, 16, 16)
    first = next(element for element in array.elements if element.state == "wrong")
    assert first.index == 200 * 400 + 100
    assert (first.expected, first.found) == ("1", "7")


@pytest.mark.parametrize(
    ("shape", "wrong", "rectangle"),
    [
        # four rows and four columns before the first wrong element, if they are there; 16 by 16 inside the array
        ((300, 400), (0, 0), (0, 0, 16, 16)),
        ((300, 400), (3, 5), (0, 1, 16, 16)),
        ((300, 400), (299, 399), (284, 384, 16, 16)),
        ((300, 400), (287, 389), (283, 384, 16, 16)),
        ((300, 3), (40, 2), (36, 0, 16, 3)),
        ((5, 400), (4, 40), (0, 36, 5, 16)),
        # an array of one dimension is cut into rows of 16, a small one of 8
        ((1000,), (500,), (500 // 16 - 4, 0, 16, 16)),
        ((1000,), (999,), (63 - 16, 0, 16, 16)),
        ((30,), (29,), (0, 0, 4, 8)),
    ],
)
def test_where_the_rectangle_lies(
    shape: tuple[int, ...], wrong: tuple[int, ...], rectangle: tuple[int, int, int, int]
) -> None:
    outcome = large(shape, wrong)
    (array,) = failed_case(tiny(), Silent(outcome.guarded), outcome).arrays
    assert (array.row, array.column, array.rows, array.columns) == rectangle
    row, column, rows, columns = rectangle
    width = shape[1] if len(shape) == 2 else 16 if shape[0] > 64 else 8
    inside = [(row + r) * width + column + c for r in range(rows) for c in range(columns)]
    assert [element.index for element in array.elements] == [i for i in inside if i < np.prod(shape)]
    (first,) = (element.index for element in array.elements if element.state == "wrong")
    assert first == int(np.ravel_multi_index(wrong, shape))


def test_what_still_holds_its_old_value_was_never_written() -> None:
    outcome = large((20,), 3, 0xA5)
    case = failed_case(tiny(), Silent(outcome.guarded), outcome)
    (array,) = case.arrays
    assert (array.never, array.elements[3].state) == (1, "never written")


def test_an_empty_array() -> None:
    outcome = large((0,), slice(0, 0))
    case = failed_case(tiny(), Silent(outcome.guarded), outcome)
    assert case.arrays[0].elements == ()
    assert view.failing(case).png().startswith(b"\x89PNG")
