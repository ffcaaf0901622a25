"""Exercises that are answered by whole programs: what is judged, what a report says, and what is not run."""

import pytest

from gpulab.errors import CheckError
from gpulab.grading import isolated
from gpulab.grading import requirements as ask
from gpulab.grading.exercise import Cause
from gpulab.grading.judge_program import judge_program
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.report import exit_text

SUM = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void fill(int n, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i; KERNEL
}
int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    std::vector<int> host(n);
    int* device;
    if (hipMalloc(&device, n * sizeof(int)) != hipSuccess) return 3;
    fill<<<(n + 63) / 64, 64>>>(n, device);
    if (hipMemcpy(host.data(), device, n * sizeof(int), hipMemcpyDeviceToHost) != hipSuccess) return 4;
    long sum = 0;
    for (int value : host) sum += value;
    printf("sum %ld\\n", sum);
    HOST
    return 0;
}
"""


def program(kernel="", host=""):
    return SUM.replace("KERNEL", kernel).replace("HOST", host)


def as_thousand(stdout):
    return "" if stdout == "sum 499500\n" else "the sum of 0 to 999 is 499500"


def exercise(**changes):
    settings = {
        "id": "sum", "title": "a sum", "lesson": "02_simt", "section": "Neighbours",
        "cases": (ProgramCase(("10",), "sum 45\n"), ProgramCase(("1000",), as_thousand)),
        "causes": (Cause("twice", "everything counts twice", lambda o: "sum 90" in o.stdout, "why", "next"),),
        "hints": ("a", "b", "c"),
    }  # fmt: skip
    return ProgramExercise(**{**settings, **changes})


def test_a_right_program_passes_on_both_architectures():
    verdict = judge_program(exercise(), program())
    assert verdict.passed, verdict.text
    text = " ".join(verdict.text.split())
    assert "4 runs on gfx942 (wave64) and gfx1100 (wave32): ./program 10; ./program 1000" in text


def test_a_known_mistake_is_named_with_expected_and_found():
    verdict = judge_program(exercise(), program("if (i < n) out[i] = 2 * i;"))
    assert verdict.cause == "twice"
    text = " ".join(verdict.text.split())
    assert "fails with ./program 10, on gfx942 (wave64)" in text
    assert "gfx1100 (wave32) the same input fails as well" in text
    assert "line 1 should be sum 45 but is sum 90" in text
    assert 'gpulab.hint("sum")' in text


@pytest.mark.parametrize(
    ("kernel", "host", "cause", "said"),
    [
        ("", "return 7;", "exit-code", "7, expected is 0"),
        ("", "*(volatile int*)nullptr = 1;", "crashed", "SIGSEGV"),
        ("", "for (;;) { }", "never-ends", "limit"),
        ("for (;;) { }", "", "deadlock", "waits for ever"),
        ("out[i] = i;", "", "kernel-fault", "fill"),
        ("", 'printf("more\\n");', "", "line 2 is more"),
        ("", 'fprintf(stderr, "hipErrorInvalidValue\\n"); return 1;', "hip-error", "hipErrorInvalidValue"),
        ("", "puts(hipGetErrorString(hipErrorInvalidValue)); return 1;", "hip-error", "invalid argument"),
        ("", 'puts("hipMemcpy failed"); return 3;', "hip-error", "hipMemcpy failed"),
        ("int", "", "does-not-compile", "error"),
    ],
)
def test_what_programs_do_wrong_is_told_apart(kernel, host, cause, said):
    asked = exercise(seconds=5.0, instruction_limit=100_000)
    verdict = judge_program(asked, program(kernel, host))
    assert verdict.cause == cause, verdict.text
    assert said in " ".join(verdict.text.split())


@pytest.mark.full
def test_a_stopped_kernel_stands_alone_in_the_report():
    host = 'if (hipDeviceSynchronize() != hipSuccess) { fprintf(stderr, "I give up\\n"); return 9; }'
    verdict = judge_program(exercise(), program("out[n + i] = i;", host))
    said = [row.label for row in verdict.rows]
    assert "stopped" in said
    assert not {"exit code", "output", "messages"} & set(said), verdict.text


def test_a_cause_knows_how_the_other_architecture_did():
    alone = Cause("alone", "only here", lambda o: all(other.passed for other in o.elsewhere), "why", "next")
    both = Cause("both", "everywhere", lambda o: bool(o.elsewhere), "why", "next")
    asked = exercise(causes=(alone, both))
    assert judge_program(asked, program("if (warpSize == 64 && i < n) out[i] = 0;")).cause == "alone"
    assert judge_program(asked, program("if (i < n) out[i] = 0;")).cause == "both"


def test_a_race_in_a_program_is_found():
    verdict = judge_program(exercise(), program("if (n > 100) out[0] = i; if (n > 100 && i == 1) out[0] = 0;"))
    assert verdict.cause == "data-race", verdict.text


@pytest.mark.full
def test_a_machine_may_have_further_devices():
    source = """
#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void one(int* out) { *out = 7; }
int main()
{
    int count, found = 0, *out;
    hipDeviceProp_t last;
    if (hipGetDeviceCount(&count) != hipSuccess) return 1;
    if (hipGetDeviceProperties(&last, count - 1) != hipSuccess || hipSetDevice(count - 1) != hipSuccess) return 2;
    if (hipMalloc(&out, 4) != hipSuccess) return 3;
    one<<<1, 1>>>(out);
    if (hipMemcpy(&found, out, 4, hipMemcpyDeviceToHost) != hipSuccess || hipFree(out) != hipSuccess) return 4;
    printf("%s %d\\n", last.gcnArchName, found);
    return 0;
}
"""
    cases = (ProgramCase((), "gfx1151 7", devices=("gfx1151",)),)
    verdict = judge_program(exercise(cases=cases, causes=(), archs=("gfx942",)), source)
    assert verdict.passed, verdict.text


def test_other_numbers_than_those_that_are_given_are_seen():
    sent = (
        program()
        .replace(
            "    fill<<<",
            """
    std::vector<int> given(n);
    for (int i = 0; i < n; ++i) given[i] = 3 * i FIRST;
    if (hipMemcpy(device, given.data(), n * sizeof(int), hipMemcpyHostToDevice) != hipSuccess) return 5;
    fill<<<""",
        )
        .replace("out[i] = i;", "out[i] = out[i] / 3;")
    )
    cases = (ProgramCase(("10",), "sum 45\n", computed=(range(10),), given=(range(0, 30, 3),)),)
    assert judge_program(exercise(cases=cases, causes=()), sent.replace("FIRST", "")).passed
    assert judge_program(exercise(cases=cases, causes=()), sent.replace("FIRST", "+ 6")).cause == "other-input"


COMPUTED = (ProgramCase(("10",), "sum 45\n", computed=(range(10),)),)


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("fill<<<(n + 63) / 64, 64>>>(n, device);", "", "nothing-launched"),
        (
            "if (hipMemcpy(host.data(), device, n * sizeof(int), hipMemcpyDeviceToHost)",
            "if (hipSuccess",
            "nothing-came-back",
        ),
        ("sum += value;", "sum += value + 1;", "right-until-printed"),
        ("out[i] = i;", "out[i] = i + 1;", ""),
    ],
)
def test_how_far_right_results_came_is_known(old, new, cause):
    source = program()
    assert source.count(old) == 1
    verdict = judge_program(exercise(cases=COMPUTED, causes=()), source.replace(old, new))
    assert verdict.cause == cause, verdict.text


def test_nothing_printed_has_a_name():
    assert judge_program(exercise(), "int main() { return 0; }").cause == "nothing-printed"


def test_requirements_look_at_launches_activities_and_the_source():
    streams = ask.limited("copies", "copies", lambda o: sum("copy" in a.kind for a in o.activities), at_most=0)
    verdict = judge_program(exercise(requirements=(streams,)), program())
    assert verdict.cause == "copies", verdict.text
    assert "gfx1100 (wave32) the same input fails as well" in " ".join(verdict.text.split())
    counted = ask.executed("stores", "global stores", at_most=0)
    assert judge_program(exercise(requirements=(counted,)), program()).cause == "stores"
    structure = ask.source("sync", r"\bhipDeviceSynchronize\b", at_least=1)
    assert judge_program(exercise(requirements=(structure,)), program()).cause == "sync"
    assert judge_program(exercise(requirements=(structure,)), program(host="(void)hipDeviceSynchronize();")).passed


@pytest.mark.parametrize(
    ("expected", "found", "complaint"),
    [
        ("a\nb\n", "a  \nb", ""),
        ("a\nb\n", "a\n", "there are 1 line instead of 2: missing is\n  b"),
        ("a\n", "a\nb\n", "there is more than 1 line: line 2 is\n  b"),
        ("a\n", "x" * 500, "line 1 should be\n  a\nbut is\n  " + "x" * 119 + "…"),
    ],
)
def test_outputs_are_compared_line_by_line(expected, found, complaint):
    assert ProgramCase(expected=expected).complaint(found) == complaint


def test_exit_codes_in_words():
    assert exit_text(3) == "3"
    assert exit_text(-11) == "SIGSEGV (the system stopped it)"
    assert exit_text(-200) == "signal 200 (the system stopped it)"


def test_a_malformed_exercise_is_refused():
    with pytest.raises(CheckError, match="three hints"):
        exercise(hints=("a", "b", ""))
    with pytest.raises(CheckError, match="no cases"):
        exercise(cases=())


def test_without_a_jail_host_code_of_a_class_is_not_run(monkeypatch):
    from gpulab.programs import jail

    monkeypatch.setattr(isolated, "load", lambda id: exercise())
    monkeypatch.setattr(jail, "available", lambda: "this system has no Landlock")
    assert "not run without a jail: this system has no Landlock" in isolated.not_run("sum")
    monkeypatch.setattr(jail, "available", lambda: "")
    assert isolated.not_run("sum") == ""
