"""port-checks: a CUDA program that pastes the names of its calls together, as a HIP program with working checks."""

import re

import numpy as np

from gpulab.grading.exercise import Cause
from gpulab.grading.patterns import combination
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.requirements import source

WEIGHTS = (1, 20, 300)


def numbers(n):
    return [i % 10 + 1 for i in range(n)]


def weighed(n):
    padded = [0, *numbers(n), 0]
    return [sum(weight * padded[i + k] for k, weight in enumerate(WEIGHTS)) for i in range(n)]


def line(values):
    return f"first {values[0]}, last {values[-1]}, sum {sum(values)}"


def case(n, block):
    return ProgramCase(
        arguments=(str(n), str(block)),
        expected=line(weighed(n)),
        parameters={"n": n, "block": block},
        computed=(weighed(n),),
        given=(numbers(n),),
    )


def failing(n, block):
    return ProgramCase(
        arguments=(str(n), str(block)),
        expected="hipGetLastError failed",
        exit_code=3,
        parameters={"n": n, "block": block},
    )


FAILING = failing(1000, 2048)
"""No GPU takes blocks of 2048 threads."""


def drawn(random):
    yield case(int(random.integers(2, 3000)), 64 * int(random.integers(1, 17)))
    yield case(int(random.integers(2, 300)), int(random.integers(20, 300)))
    yield failing(int(random.integers(2, 3000)), int(random.integers(1025, 5000)))


def too_large(o):
    return o.case.parameters["block"] > 1024


def read_by_a_kernel(o):
    """Did a kernel read what nobody has written?"""
    return o.fault is not None and o.fault.kind == "never written" and o.fault.access != "copy"


def sent(o):
    """Sizes of what was copied to the device, in bytes."""
    return [each.bytes for each in o.run.transfers if each.direction == "host to device"]


def other_weights(o):
    """Did the kernel store sums of the right three elements, with other weights?"""
    n = o.case.parameters["n"]
    padded = np.array([0, *numbers(n), 0])
    for each in o.run.transfers:
        if each.direction == "device to host" and each.bytes == each.stored == 4 * n and each.data:
            found = np.frombuffer(bytes.fromhex(each.data), "int32")
            weights = combination(found, [padded[k : k + n] for k in range(3)])
            if weights is not None and (np.rint(weights) != WEIGHTS).any():
                return True
    return False


exercise = ProgramExercise(
    id="port-checks",
    title="error checks with pasted names",
    lesson="12_porting",
    section="What hipify does",
    minutes=20,
    cases=(case(1000, 256), case(1, 64), FAILING),
    drawn=drawn,
    causes=(
        Cause(
            "message-says-cuda",
            "the message still says cuda",
            lambda o: "cuda" in o.stdout,
            "Names in string literals are not code: a translator does not change them.",
            "Look at the line that prints what failed.",
        ),
        Cause(
            "message-says-more",
            "the line with the message has more text than that of the CUDA program",
            lambda o: too_large(o) and re.search(r"^hipGetLastError failed.", o.stdout, re.M) is not None,
            "Output is compared with the CUDA program's, letter by letter.",
            "Print the name of the call and the word failed, and nothing behind it.",
        ),
        Cause(
            "goes-on",
            "the failure is reported, but the program goes on",
            lambda o: too_large(o) and "hipGetLastError failed" in o.stdout and o.exit_code == 0,
            "The CUDA program ends with exit code 3 at the first call that fails.",
            "What happens in your check after the message?",
        ),
        Cause(
            "message-to-stderr",
            "the message is written to stderr, and the CUDA program writes it to stdout",
            lambda o: too_large(o) and "failed" in o.stderr and "failed" not in o.stdout,
            "printf writes to stdout. What fprintf(stderr, ...) writes is not in the output that is compared.",
            "Look at the line that prints what failed.",
        ),
        Cause(
            "other-block",
            "the kernel runs, but in blocks of another size than the second argument says",
            lambda o: too_large(o) and bool(o.launches),
            "The second argument is the block size. If no GPU takes it, the program says so and ends.",
            "Which block size stands between <<< and >>>?",
        ),
        Cause(
            "launch-unchecked",
            "the program does not notice that the kernel never ran",
            lambda o: too_large(o) and "hipGetLastError failed" not in o.stdout + o.stderr and not o.launches,
            "A launch returns nothing: a call after it returns its error.",
            "Which line of the CUDA program is directly after the launch?",
        ),
        Cause(
            "counts-not-bytes",
            "the kernel reads numbers that were never copied",
            lambda o: read_by_a_kernel(o) and o.case.parameters["n"] in sent(o),
            "Sizes of memory are in bytes, in HIP as in CUDA.",
            "How many bytes does an array of n ints have? Look at each copy.",
        ),
        Cause(
            "input-not-copied",
            "the kernel reads numbers that were never copied",
            lambda o: read_by_a_kernel(o) and 4 * o.case.parameters["n"] not in sent(o),
            "What malloc gives is the host's memory; the kernel's is another one, and empty at first.",
            "Which line of the CUDA program copies the numbers to the device?",
        ),
        Cause(
            "result-not-copied",
            "the numbers on the host are still the input",
            lambda o: line(numbers(o.case.parameters["n"])) in o.stdout,
            "The kernel's result is in device memory until the program copies it.",
            "Which line of the CUDA program copies it back?",
        ),
        Cause(
            "symbol-by-address",
            "the weights never reached the device",
            lambda o: "failed" in o.stdout and not o.uses(r"MemcpyToSymbol") and not too_large(o),
            "On the host, the name of a __constant__ variable is not its address on the device. The copy fails, "
            "and if its error code is not checked, the next check reports it.",
            "There is a call for copies to such a variable.",
        ),
        Cause(
            "weights-cut",
            "the sums are those of the first weights alone",
            lambda o: any(size < 12 and size != 4 * o.case.parameters["n"] for size in sent(o)),
            "Sizes of memory are in bytes: three ints have 12 of them.",
            "How many bytes do you copy to weights?",
        ),
        Cause(
            "other-weights",
            "the sums have other weights than 1, 20 and 300",
            other_weights,
            "The elements themselves are the right ones. In the order before, same, after the weights are 1, 20, 300.",
            "Which numbers does the host copy, and which element of weights stands before which element of in?",
        ),
    ),
    requirements=(
        source(
            "cuda-names",
            r"\bcuda\w*",
            at_most=0,
            what="names that begin with cuda",
            title="no name of CUDA's is left",
            next_step="Write HIP's names: readers of the program know HIP.",
        ),
    ),
    hints=(
        "Start with gpulab hipify. Then look for what it cannot find: names that are pasted together with ##, and "
        "texts.",
        "The macro puts `hip##name` where it has put the CUDA name; the message is a text of its own. "
        "MemcpyToSymbol takes `HIP_SYMBOL(weights)`.",
        "The order at the launch: launch, then `CALL(GetLastError)`, then the copy back. The macro prints and then "
        "calls `exit(3)`.",
    ),
)
