"""own-launch: a kernel reads grid, block and LDS bytes from its own dispatch packet."""

import re

import numpy as np

from gpulab.grading.case import Array, Case, sentinel
from gpulab.grading.exercise import Cause, Exercise, Requirement
from gpulab.grading.requirements import limited, source


DIMENSIONS = 3
"""HIP's launches have three dimensions, whatever the sizes."""


def make(parameters, random):
    grid = tuple(parameters[name] for name in ("blocks_x", "blocks_y", "blocks_z"))
    block = tuple(parameters[name] for name in ("threads_x", "threads_y", "threads_z"))
    threads = block[0] * block[1] * block[2]
    wanted = np.array([DIMENSIONS, *grid, threads, parameters["lds"]], "int32")
    return Case(
        parameters,
        grid=grid,
        block=block,
        lds=parameters["lds"],
        arguments=(Array("out", sentinel("int32", 6), wanted),),
    )


def sizes(blocks, threads, lds):
    names = ("blocks_x", "blocks_y", "blocks_z", "threads_x", "threads_y", "threads_z")
    return {**dict(zip(names, (*blocks, *threads), strict=True)), "lds": lds}


def found(o):
    return [int(value) for value in o.found("out")]


def wanted(o):
    return [int(value) for value in o.case.array("out").wanted]


def with_header(o):
    """The first 32 bits of the packet taken together, or the header or its type (2) in place of setup.

    Who types in a 2 loads nothing of the packet's first four bytes.
    """
    first = found(o)[0]
    if first == wanted(o)[0] or o.fault is not None or not setup_loads(o):
        return False
    return first == 2 or (first >> 16 == wanted(o)[0] and first & 0xFF == 2)


def from_sizes(o):
    """Are dimensions counted whose size is more than 1: threads, or blocks?"""
    p = o.case.parameters
    counted = (
        {axis for axis, letter in enumerate("xyz") if p[f"blocks_{letter}"] * p[f"threads_{letter}"] > 1},
        {axis for axis, letter in enumerate("xyz") if p[f"blocks_{letter}"] > 1},
    )
    guesses = {max(axes, default=0) + 1 for axes in counted} | {max(len(axes), 1) for axes in counted}
    return found(o)[0] != wanted(o)[0] and found(o)[0] in guesses


def threads_not_blocks(o):
    p = o.case.parameters
    threads = [p[f"blocks_{axis}"] * p[f"threads_{axis}"] for axis in "xyz"]
    return found(o)[1:4] == threads != wanted(o)[1:4]


def two_sizes_in_one(o):
    """The block's size computed from 32-bit words of the packet."""
    x, y, z = (o.case.parameters[f"threads_{axis}"] for axis in "xyz")
    taken = ((x, x | y << 16), (1, y, y | z << 16), (1, z))
    products = {(a * b * c) & 0xFFFFFFFF for a in taken[0] for b in taken[1] for c in taken[2]}
    other = found(o)[4] & 0xFFFFFFFF
    return finished(o) and other >= 1 << 16 and other != wanted(o)[4] and other in products


def half_of_a_field(o):
    """Are numbers of blocks wrong that come from more than 65,535 threads, by as many as the upper half holds?"""
    p = o.case.parameters
    halves = [(p[f"blocks_{axis}"] * p[f"threads_{axis}"] & 0xFFFF) // p[f"threads_{axis}"] for axis in "xyz"]
    return found(o)[1:4] == halves != wanted(o)[1:4]


def finished(o):
    """Did the launch come to its end, and write all six numbers and nothing else?"""
    return o.fault is None and not o.left_out() and not o.outside("out")


def alone(*places):
    """Are only these of the six numbers wrong, one of them or more?"""
    return lambda o: finished(o) and {k for k in range(6) if found(o)[k] != wanted(o)[k]} <= set(places)


def setup_loads(o):
    """Loads that begin in the first four bytes of what their base points to, but one: that of the argument out."""
    first = re.compile(r"s_load_\S+ .*, 0x0$|(global|flat)_load_(?!.*offset:(?![1-3]\b))")
    return max(sum(bool(first.match(text)) for isa in o.isa.values() for text in isa) - 1, 0)


STORED_AT_MOST = 12
"""Numbers that one thread may store: twice as many as there are, for those who go on computing in out."""


def stores(o):
    """What is stored in global memory."""
    return [
        access
        for launch in o.measured
        for access in launch.accesses
        if access.action != "load" and access.space in ("global", "flat")
    ]


def stored(o):
    """Numbers that all lanes together store in global memory."""
    return sum(access.lanes * access.bytes for access in stores(o)) // 4


def more_than_one_thread(o):
    """What is wrong where several threads store: each some of the numbers, or each all of them."""
    busiest = o.tight.writers.busiest()
    if busiest is not None and busiest[2] < 6:
        return f"no thread wrote more than {busiest[2]} of the six numbers: several threads write"
    if stored(o) > STORED_AT_MOST:
        return (
            f"{stored(o)} numbers are stored by all threads together, and at most {STORED_AT_MOST} are allowed: twice "
            "as many as out has"
        )
    if any(access.lanes > access.executed for access in stores(o)):
        return "several lanes of a wave store at once: several threads write"
    return ""


exercise = Exercise(
    id="own-launch",
    title="a kernel reads its own packet",
    lesson="17_under_hip",
    section="The packet",
    kernel="report",
    signature="int* out",
    minutes=15,
    make=make,
    owner=lambda case, index: None,  # whose an element is, the answer decides
    cases=(
        sizes((3, 1, 1), (64, 1, 1), 0),
        sizes((3, 2, 1), (64, 2, 1), 256),
        sizes((2, 3, 4), (8, 4, 3), 1024),
        sizes((1, 1, 1), (1, 1, 1), 0),
        sizes((5, 1, 1), (100, 1, 1), 64),
        sizes((1, 1, 2), (16, 16, 1), 4096),
        sizes((300, 1, 1), (256, 1, 1), 512),  # more threads along x than 16 bits count; blocks of four waves
    ),
    smallest=sizes((1, 1, 1), (1, 1, 1), 0),
    kept=("threads_x", "threads_y", "threads_z", "lds"),
    shown=sizes((3, 2, 1), (64, 2, 1), 256),
    causes=(
        Cause(
            "header-taken-along",
            "the header is in out[0], alone or together with setup",
            with_header,
            "The first 16 bits of the packet are the header, the next 16 are setup. A load of 32 bits gets both.",
            "Which type has a field of 16 bits? At which byte does setup begin?",
        ),
        Cause(
            "dimensions-from-sizes",
            "out[0] is how many dimensions the sizes need",
            lambda o: finished(o) and from_sizes(o),
            "The number of dimensions is in setup. It may be 3 where one or two of the sizes are 1.",
            "At which byte of the packet is setup?",
        ),
        Cause(
            "threads-not-blocks",
            "these are the threads of the grid, not its blocks",
            threads_not_blocks,
            "grid_size counts threads, over all blocks.",
            "How do you get the number of blocks from the threads of the grid and those of a block?",
        ),
        Cause(
            "sizes-taken-together",
            "two fields of 16 bits were read as one of 32",
            two_sizes_in_one,
            "The workgroup's sizes are 16 bits each: one 32-bit word of the packet holds two of them.",
            "What is at bytes 4 and 5, and what at 6 and 7?",
        ),
        Cause(
            "half-of-a-field",
            "a field of 32 bits was read as one of 16",
            half_of_a_field,
            "The grid's sizes are 32 bits each: a grid may have more than 65,535 threads along x.",
            "Which type has a field of 32 bits?",
        ),
        Cause(
            "lds-missing",
            "the bytes of LDS are wrong",
            alone(5),
            "group_segment_size is the fifth of the five 32-bit fields; private_segment_size is before it.",
            "Count bytes: 6 fields of 2, then 4 fields of 4. Where does group_segment_size begin?",
        ),
        Cause(
            "blocks-wrong",
            "numbers of blocks are wrong, and all else is right",
            alone(1, 2, 3),
            "The packet has the threads of the grid in x, y and z, and those of a workgroup.",
            "Take the first number that is wrong. Which two fields of the packet does it come from, and at which "
            "bytes are they?",
        ),
        Cause(
            "threads-wrong",
            "the number of threads in a block is wrong, and all else is right",
            alone(4),
            "It is the product of three sizes.",
            "At which bytes do the three sizes begin, how long is each, and what do you do with them?",
        ),
        Cause(
            "dimensions-wrong",
            "the number of dimensions is wrong, and all else is right",
            alone(0),
            "It is in the packet, in a field of its own: setup.",
            "At which byte of the packet is setup, and how many bits does it have?",
        ),
        Cause(
            "not-all-written",
            "some of the six numbers are never written",
            lambda o: o.fault is None and o.left_out() and not o.nothing_written(),
            "out has six elements: the dimensions, three numbers of blocks, the threads of a block, the bytes of LDS.",
            "Which line should write the first element that is missing, and which index does it use?",
        ),
    ),
    requirements=(
        source(
            "packet-not-used",
            r"__builtin_amdgcn_dispatch_ptr\s*\(",
            at_least=1,
            title="the numbers come from the packet",
            what="calls of __builtin_amdgcn_dispatch_ptr",
            next_step="__builtin_amdgcn_dispatch_ptr() is the address of the packet.",
        ),
        source(
            "grid-and-block-used",
            r"\b(gridDim|blockDim|hip(Grid|Block)Dim_[xyz]|__builtin_amdgcn_(grid_size|workgroup_size)_[xyz]|__ockl_get_\w+"
            r"|__builtin_amdgcn_implicitarg_ptr)\b",
            at_most=0,
            title="gridDim, blockDim and what stands for them are not used",
            what="uses of gridDim, blockDim, or builtins and hidden arguments that stand for them",
            next_step="Both are in the packet, too: the threads of the grid, and those of a workgroup.",
        ),
        limited(
            "setup-not-read",
            "loads of the packet's first four bytes, where setup is",
            setup_loads,
            at_least=1,
            title="the dimensions are read from setup",
            next_step="The packet has the number of dimensions in a field of its own: do not derive it from the sizes. At "
            "which byte is setup?",
        ),
        Requirement(
            "several-threads-write",
            "exactly one thread of the grid writes",
            more_than_one_thread,
            "For which threads is your condition true? A block has up to three indices, and so has a thread in it.",
            shrinks=False,
            watches=True,
        ),
    ),
    hints=(
        "Declare a structure with the packet's fields in their order, with types of the right sizes (unsigned short"
        " for 16 bits), and cast `__builtin_amdgcn_dispatch_ptr()` to a pointer to it.",
        "`out[0]` is setup; the next three are the numbers of blocks along x, y and z, `p->grid_size[axis] / "
        "p->workgroup_size[axis]`; `out[4]` is the product of the three workgroup sizes; `out[5]` is "
        "group_segment_size. Only the thread with all indices 0 in the block with all indices 0 writes.",
        "`struct packet { unsigned short header, setup, workgroup_size[3], reserved0; unsigned grid_size[3], "
        "private_segment_size, group_segment_size; };` and `const packet* p = (const "
        "packet*)__builtin_amdgcn_dispatch_ptr();`",
    ),
)
