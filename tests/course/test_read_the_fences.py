"""What the listing of the exercise read-the-fences does, run line by line on weak memory, against its answers."""

from __future__ import annotations

import re

import pytest

import gpulab
from gpulab.grading import load
from gpulab.grading.library import folder_of

LINES = {
    int(number): text.split("  ")[0].strip()
    for number, text in re.findall(
        r"\b(\d+)  ((?:global|buffer|s|v)_.*?)(?=\s{3,}\d+  |$)",
        (folder_of("read-the-fences") / "exercise.md").read_text("utf-8").split("```text")[1].split("```")[0],
        re.M,
    )
}
SENDERS = {"A": range(1, 4), "B": range(4, 8), "C": range(8, 11), "D": range(11, 15)}
RECEIVERS = {"E": range(19, 21), "F": range(21, 22), "G": range(22, 23), "H": range(23, 25)}
KERNEL = """
__global__ void message(int* box, int* flag, int* out)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        asm volatile("SENDER" :: "{v0}"(0), "{v1}"(42), "{v2}"(1), "{s[0:1]}"(box), "{s[2:3]}"(flag) : "memory");
    } else {
        int got, before = box[1 + __lane_id()];
        asm volatile("RECEIVER" : "={v4}"(got) : "{v0}"(0), "{s[0:1]}"(box), "{s[2:3]}"(flag) : "memory", "v3", "vcc");
        out[0] = got + before;
    }
}
"""


def block(numbers: range) -> str:
    return "\\n".join(LINES[number] for number in numbers)


@pytest.mark.full
@pytest.mark.parametrize("letter", "ABCDEFGH")
def test_a_sender_or_receiver_of_the_listing(letter: str) -> None:
    assert sorted(LINES) == list(range(1, 25))
    sender = block(SENDERS.get(letter, SENDERS["B"]))
    receiver = block(range(15, 19)).replace("wait_for_flag", ".Lwait%=")
    receiver = f".Lwait%=:\\n{receiver}\\n{block(RECEIVERS.get(letter, RECEIVERS['H']))}\\ns_waitcnt vmcnt(0)"
    with gpulab.using("virtual:gfx942"):
        kernel = gpulab.compile(KERNEL.replace("SENDER", sender).replace("RECEIVER", receiver)).message
        found = set()
        for seed in range(30):
            box, flag, out = (gpulab.zeros(64, "int32") for _ in range(3))
            with gpulab.weak(seed):
                kernel[2, 64](box, flag, out)
            found.add(int(out.to_host()[0]))
            if found == {0, 42}:
                break
    asked = load("read-the-fences")
    (answers,) = asked.case(asked.cases[0]).outputs
    assert found == ({42} if answers.wanted["ABCDEFGH".index(letter)] else {0, 42})
