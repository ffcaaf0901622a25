"""The bench on the virtual GPU, and submissions in processes of their own."""

import re

import pytest

import gpulab
from gpulab.errors import CheckError
from gpulab.grading import Grader, check, run_isolated
from gpulab.grading.gpu_bench import consecutive

RIGHT = """
__global__ void fill(int n, float value, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
"""


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("GPULAB_PROGRESS", str(tmp_path / "progress.json"))


def test_numbers_as_ranges():
    inside = range(-2, 10)
    assert consecutive([], inside) == []
    assert consecutive([3], inside) == [range(3, 4)]
    assert consecutive([2, -1, 0, 7, 1, 9, 8, 0, 10, -3], inside) == [range(-1, 3), range(7, 10)]
    assert consecutive(range(3, 12), inside) == [range(3, 10)]
    assert consecutive(range(-5, 0), inside) == [range(-2, 0)]
    assert consecutive(range(10, 12), inside) == []
    assert consecutive(range(0, 12, 4), inside) == [range(1), range(4, 5), range(8, 9)]


def test_a_missing_kernel_and_wrong_parameters_are_explained():
    verdict = check("first-fill", RIGHT.replace("void fill", "void full"))
    assert verdict.status == "wrong signature"
    assert "a kernel named fill; the source has full" in " ".join(verdict.text.split())
    verdict = check("first-fill", RIGHT.replace("float value, ", "").replace("= value", "= 1"))
    assert "takes 2 parameters, the exercise passes 3" in " ".join(verdict.text.split())
    verdict = check("first-fill", RIGHT.replace("float* out", "int* out"))
    assert "Parameter 3 of fill is `int *" in " ".join(verdict.text.split())


def test_a_compile_error_is_a_report_with_the_line():
    verdict = check("first-fill", RIGHT.replace("out[i] = value;", "out[i] = valeu;"))
    assert verdict.status == "does not compile"
    assert "valeu" in verdict.text
    assert not verdict.passed


@pytest.mark.full
def test_other_integer_and_unsigned_parameters_are_taken():
    assert check("first-fill", RIGHT.replace("int n", "unsigned n").replace("int i", "unsigned i")).passed
    assert check("first-fill", RIGHT.replace("int n", "size_t n").replace("int i", "size_t i")).passed


@pytest.mark.full
def test_lines_are_those_that_the_learner_sees():
    from gpulab import module

    wrong = RIGHT.replace("if (i < n) ", "").lstrip()
    cell = module.compile(wrong, first_line=2)
    assert "4: out[i] = value;" in check("first-fill", wrong).text
    assert "5: out[i] = value;" in check("first-fill", cell).text
    assert "5: out[i] = value;" in check("first-fill", cell.fill).text


@pytest.mark.full
def test_the_device_in_use_stays_in_use_and_usable():
    import gpulab

    gpulab.use("virtual:gfx1100")
    try:
        assert not check("first-fill", RIGHT.replace("if (i < n) ", "")).passed
        assert gpulab.device().arch == "gfx1100"
        assert check("first-fill", RIGHT).passed
    finally:
        gpulab.use(0)


def test_isolated_runs_give_the_same_verdict_and_touch_no_progress(tmp_path):
    row = run_isolated("first-fill", RIGHT, who="ada")
    assert row.passed, row.verdict.text
    assert row.who == "ada"
    wrong = run_isolated("first-fill", RIGHT.replace("if (i < n) ", ""))
    assert wrong.verdict.cause == "missing-guard"
    assert wrong.verdict == check("first-fill", RIGHT.replace("if (i < n) ", ""), record=False)
    assert not (tmp_path / "progress.json").exists()


def test_a_grader_grades_one_after_the_other():
    with Grader() as grader:
        right = grader.grade("first-fill", RIGHT, "ada")
        wrong = grader.grade("first-fill", RIGHT.replace("if (i < n) ", ""), "bob")
        broken = grader.grade("first-fill", "no C++", "eve")
    assert [(row.who, row.status) for row in (right, wrong, broken)] == [
        ("ada", "accepted"), ("bob", "rejected"), ("eve", "does not compile"),
    ]  # fmt: skip


def test_a_submission_that_takes_too_long_or_dies_is_a_row():
    slow = run_isolated("first-fill", RIGHT, seconds=0.01)
    assert slow.verdict.status == "stopped"
    assert "longer than 0.01 seconds" in slow.verdict.text
    starved = run_isolated("first-fill", RIGHT, memory_bytes=1 << 26)
    assert starved.verdict.status == "stopped"
    assert "limit on memory" in starved.verdict.text  # at once, not after the limit on time
    assert not starved.passed
    with pytest.raises(CheckError, match="no exercise"):
        run_isolated("no-such", RIGHT)


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("__device__ char big[1ull << 40];\n" + "KERNEL(out[i] = value + big[n])", "unsupported"),
        (
            "__device__ int r(int a) { volatile int b[100]; b[a % 100] = a; return r(a + 1) + b[3]; }\n"
            "KERNEL(out[i] = value + r(i))",
            "private-memory",
        ),
    ],
)
def test_mistakes_of_any_exercise(source, cause):
    body = source.partition("KERNEL(")[2][:-1]
    kernel = "__global__ void fill(int n, float value, float* out) { int i = threadIdx.x; if (i < n) " + body + "; }"
    verdict = check("first-fill", source.partition("KERNEL(")[0] + kernel, record=False)
    assert not verdict.passed
    assert verdict.cause == cause


def test_a_name_in_quotation_marks_is_no_kernel():
    with pytest.raises(CheckError, match=r"without quotation marks: gpulab\.check\('first-fill', fill\)"):
        check("first-fill", "fill")


def test_a_shuffle_from_a_lane_that_is_not_active_is_told_as_such():
    inside = RIGHT.replace(
        "if (i < n) out[i] = value;", "if (i < n) out[i] = value + __shfl_up(i, 1) - __shfl_down(i, 1);"
    )
    verdict = check("first-fill", inside)
    assert verdict.cause == "inactive-lane"
    text = " ".join(verdict.text.split())
    assert "shuffles a value out of a lane that is not active" in text
    assert "bad address" not in text


@pytest.mark.full
def test_a_table_of_elements_without_owners_has_no_column_for_them():
    one_bin = "__global__ void count_keys(int n, int keys, const int* key, int* bins) { if (n > 5) bins[0] = 7; }"
    text = check("one-atomic-each", one_bin).text
    assert re.search(r"element +expected +found\n", text)
    assert "whose it is" not in text


@pytest.mark.full
@pytest.mark.parametrize("shift", [-200_000, 200_000])
@pytest.mark.parametrize(
    ("id", "source"),
    [
        ("first-fill", RIGHT.replace("out[i] =", "out[i + SHIFT] =")),
        (
            "saxpy-guard",
            "__global__ void saxpy(int n, float a, const float* x, float* y) {\n"
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = a * x[i + SHIFT] + y[i];\n}\n",
        ),
    ],
)
def test_a_wild_index_does_not_meet_the_arrays_of_a_notebook(id, source, shift):
    """Neither those that are there on both sides, never written, nor one that was freed, nor another module's."""
    others = gpulab.compile("__device__ float other[1 << 20]; __global__ void k(float* x) { x[0] = other[1]; }")
    others["k"][1, 1](gpulab.zeros(1))
    below = gpulab.empty(1 << 20, "float32")
    hole = gpulab.empty(1 << 14, "float32")
    above = gpulab.empty(1 << 20, "float32")
    hole.free()
    verdict = check(id, source.replace("SHIFT", str(shift)))
    assert (verdict.status, verdict.cause) == ("fault", "out-of-bounds"), verdict.text
    assert not below.to_host().any()
    assert not above.to_host().any()
    fill = gpulab.compile(RIGHT)["fill"]
    fill[1, 64](64, 2.0, above)  # they are there again
    assert above.to_host()[:65].tolist() == [2.0] * 64 + [0.0]
