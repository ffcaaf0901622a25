"""portable-kernel: sums of rows, a wave for each row, by a template that the host instantiates for the device's wave."""

import numpy as np

from gpulab.grading.exercise import Cause, Requirement
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.requirements import source

WAVES = 4


def matrix(rows, columns):
    return (np.arange(rows * columns) % 11).reshape(rows, columns)


def text(values):
    return "".join(f"{value}\n" for value in values)


def case(rows, columns):
    return ProgramCase(
        arguments=(str(rows), str(columns)),
        expected=text(matrix(rows, columns).sum(axis=1)),
        parameters={"rows": rows, "columns": columns},
        computed=(matrix(rows, columns).sum(axis=1).tolist(),),
        given=(matrix(rows, columns).reshape(-1).tolist(),),
    )


def size(o):
    return o.case.parameters["rows"], o.case.parameters["columns"]


def half_of_each_wave(o):
    """Is the sum that of the lower 32 lanes of a wave of 64?"""
    rows, columns = size(o)
    taken = matrix(rows, columns)[:, np.arange(columns) % 64 < 32]
    return o.wave_size == 64 and o.stdout == text(taken.sum(axis=1))


def doubled(o):
    """What a reduction for 64 lanes leaves on waves of 32: the first step adds each lane to itself."""
    rows, columns = size(o)
    taken = matrix(rows, columns)[:, np.arange(columns) % 64 < 32]
    return o.wave_size == 32 and o.stdout == text(2 * taken.sum(axis=1))


def threads(o):
    """Of the launch: all threads of its grid."""
    total = 1
    for blocks, block in zip(o.launches[0].grid, o.launches[0].block, strict=True):
        total *= blocks * block
    return total


def too_few_threads(o):
    """Has the launch fewer waves than there are rows, and were rows copied that it did not store, or are some wrong?"""
    if not o.launches or threads(o) >= size(o)[0] * o.wave_size:
        return False
    if o.fault is not None:
        return o.fault.kind == "never written" and o.fault.access == "copy"
    return o.exit_code == 0 and bool(o.stdout.split()) and o.stdout != o.case.expected


def waves_complaint(o):
    rows, _ = size(o)
    if len(o.launches) != 1:
        return f"{len(o.launches)} launches instead of one"
    wanted = -(-rows // WAVES) * WAVES * o.wave_size
    if threads(o) != wanted:
        return (
            f"for {rows} rows, blocks of {WAVES} waves of {o.wave_size} lanes are {wanted} threads; "
            f"the launch had {threads(o)}"
        )
    return ""


def atomics_complaint(o):
    found = sum(access.lanes for launch in o.measured for access in launch.accesses if access.action == "atomic")
    return f"{found} lanes take part in atomic operations" if found else ""


exercise = ProgramExercise(
    id="portable-kernel",
    title="one source, an instance for each wave size",
    lesson="18_choosing",
    section="One file for all GPUs?",
    minutes=25,
    cases=(case(3, 100), case(9, 1000), case(8, 70), case(1, 1)),
    drawn=lambda random: [case(int(random.integers(4, 40)), int(random.integers(1, most))) for most in (64, 1500)],
    causes=(
        Cause(
            "not-begun",
            "no kernel is launched yet",
            lambda o: o.launched_nothing,
            "The printed values are the old contents of the memory for the sums.",
            "Begin with one instance, for the device in use; the host's choice comes after that.",
        ),
        Cause(
            "leaves-early",
            "lanes return before the shuffles",
            lambda o: o.fault is not None and o.fault.kind == "shuffle",
            "A lane that has returned gives no value to a shuffle.",
            "Let every lane of the wave execute the shuffles, with a 0 if it has nothing to add.",
        ),
        Cause(
            "steps-from-16",
            "the upper half of each wave is not in the sum",
            half_of_each_wave,
            "Steps of 16, 8, 4, 2, 1 add up 32 lanes.",
            "What should the first step be, in terms of the template's parameter?",
        ),
        Cause(
            "only-64",
            "the instance for 64 lanes runs on waves of 32",
            doubled,
            "A shuffle by 32 has no lane to read from in a wave of 32, and returns the lane's own value.",
            "What must the host read from the device before it launches?",
        ),
        Cause(
            "block-not-changed",
            "some rows are never summed",
            too_few_threads,
            "A block needs as many threads as its waves have lanes together.",
            "How many threads do 4 waves have on this device?",
        ),
    ),
    requirements=(
        Requirement(
            "a-wave-for-each-row",
            "a wave for each row, in blocks of 4 waves: no more and no fewer threads",
            waves_complaint,
            next_step="the host cannot know the wave size when it is compiled: macros such as __GFX9__ are for device code. "
            "It has to ask the device.",
        ),
        Requirement(
            "atomic-sums",
            "the wave adds up its lanes with shuffles",
            atomics_complaint,
            next_step="An atomic operation for each lane goes to memory 64 times for a row. Which function gives a lane the "
            "value of another one?",
            shrinks=False,
        ),
        source(
            "no-template",
            r"template\s*<\s*(?:const\s+)?(?:int|unsigned|unsigned int|size_t)\s+\w+",
            at_least=1,
            what="a template with the wave size as its parameter",
            title="the wave size is a template parameter",
            next_step="template <int wave> __global__ void row_sums(...)",
        ),
    ),
    hints=(
        "`template <int wave>` makes the wave size a compile-time constant in the kernel; the host chooses "
        "`row_sums<64>` or `row_sums<32>`.",
        "hipGetDeviceProperties, field warpSize. A block has 4 * warpSize threads, and there is a wave for each row.",
        "Lane l adds up the columns l, l + wave, l + 2 * wave ...; then shuffles from wave / 2 down to 1, by all "
        "lanes; then "
        "lane 0 writes.",
    ),
)
