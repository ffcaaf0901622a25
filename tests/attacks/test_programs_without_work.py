"""Programs that print the right numbers without having kernels compute them, and programs that tamper with their
report."""

import pytest

from gpulab.grading.judge import judged
from gpulab.grading.library import load

SUMS = """
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>
#include <hip/hip_runtime.h>
template <int wave> __global__ void row_sums(int rows, const int* in, int* sums)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / wave;
    if (row < rows && threadIdx.x % wave == 0) { KERNEL }
}
int main(int argc, char** argv)
{
    int rows = atoi(argv[1]), columns = atoi(argv[2]), wave;
    std::vector<int> right(rows), found(rows);
    for (int i = 0; i < rows * columns; i++) right[i / columns] += i % 11;
    int *in, *sums;
    (void)hipMalloc(&in, 4 * rows);
    (void)hipMalloc(&sums, 4 * rows);
    (void)hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0);
    BEFORE
    auto kernel = wave == 64 ? row_sums<64> : row_sums<32>;
    kernel<<<(rows + 3) / 4, 4 * wave>>>(rows, in, sums);
    AFTER
    for (int r = 0; r < rows; r++) printf("%d\\n", PRINTED[r]);
    return 0;
}
"""
SEND = "(void)hipMemcpy({}, right.data(), 4 * rows, hipMemcpyHostToDevice);"
READ = "(void)hipMemcpy(found.data(), sums, 4 * rows, hipMemcpyDeviceToHost);"


@pytest.mark.parametrize(
    ("kernel", "before", "after", "printed", "said"),
    [
        ("", "", "", "right", "nothing that a kernel stored came to the host"),
        ("", SEND.format("sums"), READ, "found", "nothing that a kernel stored came to the host"),
        ("sums[row] = row;", "", READ, "right", "does not hold the results that are printed"),
        ("sums[row] = in[row];", SEND.format("in"), READ, "found", "the host copied the results to the device"),
        ("if (row == 0) sums[row] = 1;", SEND.format("sums"), READ, "right", "does not hold the results"),
    ],
    ids=["on the host", "there and back", "junk", "handed through", "one of them"],
)
def test_kernels_must_compute_what_is_printed(kernel, before, after, printed, said):
    source = SUMS.replace("KERNEL", kernel).replace("BEFORE", before).replace("AFTER", after)
    verdict = judged(load("portable-kernel"), source.replace("PRINTED", printed), seed=1)
    assert verdict.cause == "from-kernels", verdict.text
    assert said in " ".join(verdict.text.split())
    assert {each.name: each.passed for each in verdict.criteria}["visible"]


def test_printed_constants_are_wrong_for_drawn_arguments():
    exercise = load("portable-kernel")
    lines = []
    for case in exercise.cases:
        rows, columns = case.arguments
        text = case.expected.replace("\n", "\\n")
        lines.append(f'if (atoi(argv[1]) == {rows} && atoi(argv[2]) == {columns}) printf("{text}");')
    source = "\n".join(
        ["#include <cstdio>", "#include <cstdlib>", "int main(int argc, char** argv)", "{", *lines, "return 0;", "}"]
    )
    verdict = judged(exercise, source, seed=1)
    found = {each.name: each.passed for each in verdict.criteria}
    assert found["visible"]
    assert found["hidden"] is False
    assert found["from-kernels"] is False


COPIES = """
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <fcntl.h>
#include <vector>
#include <hip/hip_runtime.h>
__constant__ int weights[3];
__global__ void weigh(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = weights[0] * (i > 0 ? in[i - 1] : 0) + weights[1] * in[i] + weights[2] * (i < n - 1 ? in[i + 1] : 0);
        if (i == 0) out[n] = 7;
    }
}
int main(int argc, char** argv)
{
    int n = atoi(argv[1]), block = atoi(argv[2]), three[3] = {1, 20, 300};
    std::vector<int> host(n);
    for (int i = 0; i < n; i++) host[i] = i % 10 + 1;
    int *in, *out;
    (void)hipMemcpyToSymbol(HIP_SYMBOL(weights), three, sizeof(three));
    (void)hipMalloc(&in, 4 * n);
    (void)hipMalloc(&out, 4 * n);
    (void)hipMemcpy(in, host.data(), 4 * n, hipMemcpyHostToDevice);
    BEFORE
    weigh<<<(n + block - 1) / block, block>>>(n, in, out);
    if (hipGetLastError() != hipSuccess) { printf("hipGetLastError failed\\n"); exit(3); }
    (void)hipMemcpy(host.data(), out, 4 * n, hipMemcpyDeviceToHost);
    AFTER
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        host[i] = 20 * (i % 10 + 1);
        if (i > 0) host[i] += (i - 1) % 10 + 1;
        if (i < n - 1) host[i] += 300 * ((i + 1) % 10 + 1);
    }
    for (int i = 0; i < n; i++) sum += host[i];
    printf("first %d, last %d, sum %lld\\n", host[0], host[n - 1], sum);
    LAST
    return 0;
}
"""


EACH = "for (int d = 3; d < 250; d++) "
OTHER = 'int nowhere = open("/dev/null", O_WRONLY); ' + EACH + "if (d != nowhere) dup2(nowhere, d);"
FORGED = EACH + '(void)!write(d, "{\\"launches\\":[]}\\n", 16);'


@pytest.mark.parametrize(
    ("before", "after", "last", "cause"),
    [
        ("", "", "", "kernel-fault"),
        ("", EACH + "(void)!ftruncate(d, 0);", "", "kernel-fault"),
        ("", EACH + "close(d);", "", "kernel-fault"),
        (EACH + "close(d);", "", "", "no-report"),
        (OTHER, "", "", "no-report"),
        (FORGED, "", "", "no-report"),
        (EACH + "close(d);", "", "fflush(stdout); _exit(0);", "no-report"),
    ],
    ids=["open", "truncated", "closed after", "closed before", "other file", "forged", "no end"],
)
def test_a_program_cannot_take_back_what_was_reported(before, after, last, cause):
    source = COPIES.replace("BEFORE", before).replace("AFTER", after).replace("LAST", last)
    verdict = judged(load("port-checks"), source)
    assert not verdict.passed
    assert verdict.cause == cause, verdict.text


def test_the_same_program_without_the_fault_and_the_tricks_passes():
    source = COPIES.replace("if (i == 0) out[n] = 7;", "")
    for name in ("BEFORE", "AFTER", "LAST"):
        source = source.replace(name, "")
    assert judged(load("port-checks"), source).passed
