"""Causes are named only where the evidence allows: real answers with one mistake, judged on the virtual GPU."""

import sys
from pathlib import Path

import pytest

from gpulab.grading import load
from gpulab.grading.answers import right_answers
from gpulab.grading.evidence import compares
from gpulab.grading.judge import judged

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import answer_mutants

INDEX = "blockIdx.x * blockDim.x + threadIdx.x"


def cause_of(id, answer, *changes):
    source = right_answers(id)[answer]
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    verdict = judged(load(id), source, explained=False)
    assert not verdict.passed
    return verdict.cause


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        (INDEX, "blockIdx.x * gridDim.x + threadIdx.x", "used-by-two-blocks"),
        (INDEX, "threadIdx.x", "used-by-two-blocks"),
        (INDEX, "blockIdx.x * blockDim.x - threadIdx.x", "out-of-bounds"),
        ("i < n", "!(i < n)", "out-of-bounds"),
        ("i < n", "true", "missing-guard"),
        ("i < n", "i <= n", "guard-one-too-far"),
    ],
)
def test_a_wrong_index_is_not_a_missing_guard(old, new, cause):
    assert cause_of("saxpy-guard", "usual", (old, new)) == cause


@pytest.mark.full
@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("(width - 1 - x)", "(height - 1 - x)", "out-of-bounds"),
        ("blockIdx.y * blockDim.y + threadIdx.y", "threadIdx.y", "left-out"),
        ("blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.y * blockDim.y - threadIdx.y", "out-of-bounds"),
        ("int x", "unsigned char x", "left-out"),
        ("x < width && y < height", "!(x < width && y < height)", "out-of-bounds"),
        ("x < width && y < height", "y < height", "missing-column-guard"),
        ("x < width && y < height", "x < width", "missing-row-guard"),
    ],
)
def test_a_mirror_with_a_right_guard_is_not_told_that_it_lacks_one(old, new, cause):
    assert cause_of("image-mirror", "usual", (old, new)) == cause


@pytest.mark.parametrize(
    ("id", "answer", "old", "new", "cause"),
    [
        ("argmax", "compare-and-swap", "half > 0;", "half > 1;", "smaller-element"),  # not: a thread gives up
        ("brighten", "usual", "out[i] = pixel", "out[i + 1] = pixel", "out-of-bounds"),  # not: left dark
        ("copy-wide", "one-thread-tail", "out4[i] =", "out4[i + 1] =", "out-of-bounds"),  # not: the last group
        ("count-workgroups", "halves", "all[i].header", "all[i + 1].header", "out-of-bounds"),  # not: the stride
        ("first-fill", "usual", "i < n", "i < n && blockIdx.x == 0", "left-out"),  # not: threadIdx alone
        ("grid-stride", "chunks", "+ 1.0f", "- 1.0f", "same-difference"),  # not: the stride
        ("halo-mean", "three-parts", "i = start + t", "i = start - t", "out-of-bounds"),  # not: the halo
        ("histogram-private", "usual", "own[b] = 0", "own[b] = 5", "same-difference"),  # not: added again
        ("histogram-private", "usual", "i = blockIdx.x * blockDim.x", "i = blockIdx.x * gridDim.x", ""),  # nor here
        ("histogram-private", "usual", "own[b] = 0", "own[b] = -1", ""),  # not: without atomic operations
        ("last-block-sum", "a-thread-for-each-total", "if (last) {", "if (!last) {", "too-early"),  # not: the tickets
        ("mystery-lines", "grid-stride", "in[i]", "in[i + 1]", "out-of-bounds"),  # not: the guard
        ("one-atomic-each", "one-key-after-another", "left = i < n", "left = i > n", "out-of-bounds"),  # nor here
        ("three-point-mean", "usual", "int i = blockIdx.x", "int i = blockIdx.y", "left-out"),  # not: the ends
        ("row-weights", "usual", "if (row >= rows) return;", "// 32", "too-many-rows"),  # not: waves of 32
        ("sgemm-share-of-peak", "doubled", "n + across]", "n + across - 1]", "out-of-bounds"),  # not: the conditions
        ("transpose-to-peak", "padded", "blockIdx.x * 64,", "blockIdx.x * 64 - 1,", "out-of-bounds"),  # nor here
    ],
)
def test_a_cause_is_named_only_if_nothing_else_leaves_the_same(id, answer, old, new, cause):
    assert cause_of(id, answer, (old, new)) == cause


@pytest.mark.parametrize(
    "id",
    [
        "saxpy-guard",
        *(
            pytest.param(id, marks=pytest.mark.full)
            for id in ("fahrenheit", "image-mirror", "wave-sum", "tiled-matmul")
        ),
    ],
)
def test_a_loop_without_an_end_is_named_before_causes_of_the_exercise(id):
    source = next(iter(right_answers(id).values()))
    begin = source.index("{", source.index("__global__")) + 1
    verdict = judged(load(id), source[:begin] + "\n    while (true) {}" + source[begin:], explained=False)
    assert (verdict.status, verdict.cause) == ("fault", "deadlock")
    assert "guard is missing" not in verdict.text


@pytest.mark.parametrize(
    ("source", "names", "found"),
    [
        ("if (i < n) y[i] = 1;", ("n",), True),
        ("if (i >= static_cast<unsigned>(n)) return;", ("n",), True),
        ("y[i] = n;  // i < n", ("n",), False),
        ("if (x < width) y[i] = height;", ("width", "height"), False),
        ("y[i << n] = p->n;", ("n",), False),
    ],
)
def test_comparisons_are_found_in_the_source(source, names, found):
    assert compares(source, names) is found


def test_mutants_are_the_same_every_time_and_each_kind_has_its_turn():
    found = answer_mutants.mutants("saxpy-guard")
    first, again = (list(answer_mutants.sample(found, 1)) for _ in range(2))
    assert first == again
    assert sorted(map(str, first)) == sorted(map(str, found))
    kinds = {mutant.kind for mutant in found}
    assert {mutant.kind for mutant in first[: len(kinds)]} == kinds >= {"guard", "index", "operator", "type", "loop"}
    for mutant in first:
        assert answer_mutants.text_of(mutant) != right_answers("saxpy-guard")[mutant.answer]


@pytest.mark.full
def test_a_mutant_that_compiles_to_the_same_code_is_none():
    mutant = next(each for each in answer_mutants.mutants("saxpy-guard") if each.old == "i < n" and each.new == "true")
    exercise = load("saxpy-guard")
    same = answer_mutants.Mutant(*[getattr(mutant, name) for name in mutant.__slots__[:-1]], "i < (n)")
    assert answer_mutants.judge(exercise, same) is None
    assert answer_mutants.judge(exercise, mutant).cause == "missing-guard"


DYNAMIC = """__global__ void reverse_parts(int n, float* data)
{
    extern __shared__ float tile[];
    int first = blockIdx.x * blockDim.x, size = min((int)blockDim.x, n - first), t = threadIdx.x;
    if (t < size) tile[t] = data[first + t];
    __syncthreads();
    if (t < size) data[first + t] = tile[size - 1 - t];
}
"""


@pytest.mark.parametrize(
    ("declared", "cause", "said"),
    [
        ("extern __shared__ float tile[];", "no-dynamic-lds", "but a block has 0 bytes of shared memory here: 0 that"),
        ("__shared__ float tile[32];", "lds-out-of-bounds", "has 128 bytes of shared memory here: 128 that the kernel"),
    ],
)
def test_shared_memory_that_is_too_small_is_told_with_both_sizes(declared, cause, said):
    exercise = load("reverse-in-block")
    source = DYNAMIC.replace("extern __shared__ float tile[];", declared)
    verdict = judged(exercise, source, explained=False)
    assert verdict.cause == cause
    text = " ".join(verdict.text.split())
    assert said in text
    assert "and 0 that the launch passes" in text


@pytest.mark.full
def test_a_mutant_that_is_wrong_at_another_size_alone_is_found():
    exercise, right = load("fahrenheit"), right_answers("fahrenheit")["usual"]
    own = {case["n"] for case in exercise.cases}
    other = next(given["n"] for given, _ in answer_mutants.inputs(exercise) if given["n"] not in own)
    source = right.replace("i < n", f"i < n && n != {other}")
    assert source != right
    assert judged(exercise, source, explained=False).passed
    assert answer_mutants.differs(exercise, right, source)
    assert not answer_mutants.differs(exercise, right, right.replace("i < n", "n > i"))


@pytest.mark.parametrize(
    ("id", "answer", "old", "new", "cause"),
    [
        ("choose-device", "properties", "argv[1]) : 1;", "argv[0]) : 1;", "too-little-memory"),  # not: the first
        ("port-a-program", "groups_of_32", "momentum<<<blocks, BLOCK>>>(n, grains, sums);", "", "momentum-alone"),
        (
            "port-a-program",
            "groups_of_32",
            "if (i >= n) return;\n    Grain g = grains[i];\n    int column",
            "Grain g = grains[i];\n    int column",
            "kernel-fault",  # of the grains, not: of the wind
        ),
        (
            "port-checks",
            "macro",
            "CALL(Memcpy, in, host, n * sizeof(int), hipMemcpyHostToDevice);",
            "",
            "input-not-copied",
        ),
        ("portable-kernel", "pointer", "(blockIdx.x * blockDim.x + threadIdx.x)", "threadIdx.x", "never-written"),
        ("without-blas", "one_kernel", "a + blockIdx.x", "a + threadIdx.x", "kernel-fault"),  # not: the guard
    ],
)
def test_what_a_program_left_is_not_taken_for_another_mistake(id, answer, old, new, cause):
    assert cause_of(id, answer, (old, new)) == cause
