"""count-workgroups: how many workgroups each AQL packet of an array starts."""

import struct

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, combinations, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared

LAYOUT = "<6H5I4Q"  # hsa_kernel_dispatch_packet_t
OTHER_TYPES = (0, 1, 3, 4, 5, 6, 0x0A, 0x12, 0x82)
"""Types that are no launches; some have the lowest bits of one."""
BLOCKS = ((64, 1, 1), (256, 1, 1), (16, 16, 1), (8, 8, 4), (100, 1, 1), (32, 4, 2))


def packet(random, number):
    """One packet: of three kinds of headers for launches, and packets of other types in between. Every fourth is large
    along one axis: it has more than 2 to the power of 16 threads, or of 24, or of 31. Every second one has bits in
    reserved0."""
    block = BLOCKS[random.integers(len(BLOCKS))]
    large = number % 4 == 1
    grid = [int(random.integers(1, 5 if large else 40)) * side - int(random.integers(side)) for side in block]
    if large:
        axis, low, high = int(random.integers(3)), *((1 << 24, 1 << 26) if number % 8 == 1 else (70_000, 1_000_000))
        grid[axis] = int(random.integers(low, high)) // block[axis] * block[axis] + 1
    if number % 16 == 9:
        axis, grid = block.index(max(block)), list(block)
        grid[axis] = ((1 << 31) + 654_321 * (number % 1000)) // block[axis] * block[axis] + 1
    header = 2 | int(random.choice([0x0000, 0x0100, 0x1500]))  # barrier bit; acquire and release scopes
    if number % 3 == 2:
        header = header & 0xFF00 | int(random.choice(OTHER_TYPES))
    reserved = number % 2 * int(random.integers(1, 1 << 16))
    address = int(random.integers(1 << 40))
    return struct.pack(LAYOUT, header, 3, *block, reserved, *grid, 0, 1024, address, 2 * address, 0, 64)


def make(parameters, random):
    n, block = parameters["n"], parameters["block"]
    raw = b"".join(packet(random, number) for number in range(n))
    packets = np.frombuffer(raw, "uint32").copy()
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Array("packets", packets),
            Array("groups", sentinel("int32", n), counted(packets, up, lambda header: header & 0xFF == 2)),
        ),
    )


def up(threads, size):
    return -(-threads // size)


def down(threads, size):
    return threads // size


def counted(packets, divide, launches):
    """Workgroups of each packet, with this division and this test of a header."""
    result = []
    for raw in packets.reshape(-1, 16):
        header, _, *sizes = struct.unpack(LAYOUT, raw.tobytes())[:9]
        block, grid = sizes[:3], sizes[4:7]
        groups = 1
        for threads, size in zip(grid, block, strict=True):
            groups *= divide(threads, size)
        result.append(groups if launches(header) else 0)
    return np.array(result, "int64").astype("int32")


def signed(threads, size):
    """Workgroups where the threads are taken for a number of 32 bits with a sign, rounded up in one of two ways."""
    threads -= (threads >> 31) << 32
    return int((threads + size - 1) / size)


def signed_rest(threads, size):
    threads -= (threads >> 31) << 32
    return int(threads / size) + (threads % size != 0)


def looks(divide, launches):
    return lambda o: o.looks_like("groups", lambda case: counted(case.array("packets").data, divide, launches))


def faulting_thread(o):
    """Number in the grid of the thread that was stopped; -1 if none was."""
    number = o.faulting_number()
    return -1 if number is None else number[0]


def fields_of(case):
    """Header, workgroup sizes, reserved0 and grid sizes of each packet, in eight columns."""
    rows = []
    for raw in case.array("packets").data.reshape(-1, 16):
        header, _, *sizes = struct.unpack(LAYOUT, raw.tobytes())[:9]
        rows.append([header, *sizes])
    return np.array(rows, "int64").reshape(-1, 8)


def sizes_of(case):
    """Workgroups along x, y and z of each packet, in three columns; zeros for packets of other types."""
    fields = fields_of(case)
    launch = fields[:, :1] & 0xFF == 2
    return np.where(launch, up(fields[:, 5:8], fields[:, 1:4]), 0)


def some_bits_of_type(o):
    """Of the packets of other types, are those and only those counted that have the lowest bits of type 2?"""
    if o.fault is not None or o.unwritten_indices("groups"):
        return False
    header, found = fields_of(o.case)[:, 0], o.found("groups")
    others = header & 0xFF != 2
    counted_others = found[others] != 0
    return bool(counted_others.any()) and any(
        (counted_others == (header[others] & (1 << bits) - 1 == 2)).all() for bits in range(2, 8)
    )


def launches_as(change):
    """Are the launches what they would be if the eight fields of each packet (those of `fields_of`) were changed so?"""

    def test(o):
        if o.fault is not None or o.unwritten_indices("groups"):
            return False
        fields = fields_of(o.case)
        launch = fields[:, 0] & 0xFF == 2
        change(fields)
        wrong = up(fields[:, 5:8], fields[:, 1:4]).prod(axis=1).astype("int32")[launch]
        found, wanted = o.found("groups")[launch], o.case.array("groups").wanted[launch]
        return bool((found == wrong).all() and (found != wanted).any())

    return test


def grid_cut(fields):
    fields[:, 5:8] &= 0xFFFF


def reserved_taken(fields):
    fields[:, 3] |= fields[:, 4] << 16


def sizes_exchanged(first, second):
    """A change for `launches_as`: the workgroup's sizes along two axes have changed places."""

    def change(fields):
        fields[:, [first, second]] = fields[:, [second, first]]

    return change


def of_all_threads(case):
    """What comes out if all threads of a grid are divided by those of a workgroup, rounded up."""
    fields = fields_of(case)
    threads = [int(x) * int(y) * int(z) for x, y, z in fields[:, 5:8]]
    groups = [up(all_, int(each)) for all_, each in zip(threads, fields[:, 1:4].prod(axis=1), strict=True)]
    return np.where(fields[:, 0] & 0xFF == 2, np.array(groups, "int64"), 0).astype("int32")


def without_parentheses(case):
    """What comes out if the three quotients are written as one product, without parentheses around them."""
    fields = fields_of(case)
    x, y, z = fields[:, 1:4].T
    threads = fields[:, 5:8].T
    groups = (threads[0] + x - 1) % (1 << 32) // x * (threads[1] + y - 1) % (1 << 32) // y
    groups = groups * (threads[2] + z - 1) % (1 << 32) // z
    return np.where(fields[:, 0] & 0xFF == 2, groups, 0).astype("int32")


def rounded(o):
    """Is all right but some numbers above 2 to the power of 24, and these almost?"""
    if o.fault is not None or o.unwritten_indices("groups"):
        return False
    found, wanted = o.found("groups").astype("int64"), o.case.array("groups").wanted.astype("int64")
    wrong = found != wanted
    large = fields_of(o.case)[:, 5:8].max(axis=1, initial=0) >= 1 << 24
    return bool(wrong.any() and large[wrong].all() and (abs(found - wanted) <= wanted * 1e-5)[wrong].all())


def one_axis_wrong(o):
    """Are all results multiples of the right numbers along two axes, of eight launches or more? (Large ones left out: a
    wrong result of theirs may not fit into 32 bits.)"""
    if o.fault is not None or o.unwritten_indices("groups") or not o.wrong_indices("groups"):
        return False
    found, sizes = o.found("groups").astype("int64"), sizes_of(o.case)
    launches = sizes.prod(axis=1) > 0
    if found[~launches].any() or not found.any():
        return False
    launches &= fields_of(o.case)[:, 5:8].max(axis=1) < 1 << 16
    if launches.sum() < 8:
        return False
    pairs = [np.delete(sizes[launches], axis, axis=1).prod(axis=1) for axis in range(3)]
    if (found[launches] % sizes[launches].prod(axis=1) == 0).all():  # then all three are there, and something else
        return False
    return any(((found[launches] % two == 0).all() and (two > 1).sum() >= 8) for two in pairs)


def added(o):
    """Are two of the three numbers of workgroups added up, or all of them, where they should be multiplied?"""

    def sums(x, y, z):
        return x + y + z, x * y + z, x + y * z, x * z + y, (x + y) * z, x * (y + z), (x + z) * y

    count = len(sums(0, 0, 0))
    return any(o.looks_like("groups", lambda case, k=k: sums(*sizes_of(case).T)[k]) for k in range(count))


def threads_only(packets):
    """The threads of the grid, without a division."""
    return counted(packets, lambda threads, size: threads, lambda header: header & 0xFF == 2)


exercise = Exercise(
    id="count-workgroups",
    title="decode packets",
    lesson="17_under_hip",
    section="Queue, doorbell, signal",
    kernel="decode",
    signature="int n, const unsigned* packets, int* groups",
    minutes=20,
    make=make,
    cases=combinations(n=(100, 1000, 63, 3, 1, 0), block=(64, 256)),
    smallest={"n": 1, "block": 4},
    shown={"n": 4, "block": 4},
    causes=(
        Cause(
            "header-not-masked",
            "packets whose header has other bits set as well are not recognised",
            looks(up, lambda header: header == 2),
            "Only the lowest 8 bits of the header are the type. Above them are the barrier bit and the scopes of cache "
            "flushes.",
            "What is 0x1502 & 0xFF?",
        ),
        Cause(
            "type-ignored",
            "packets of other types are counted as launches",
            looks(up, lambda header: True),
            "A barrier packet starts no workgroup. Its words have other meanings.",
            "Where does your kernel test the packet's type?",
        ),
        Cause(
            "some-bits-of-type",
            "packets of other types are counted whose lowest bits are those of type 2",
            some_bits_of_type,
            "The type has eight bits. The lowest bits of 0x12 are those of 2, and it is another type.",
            "How many bits of the header does your condition look at?",
        ),
        Cause(
            "grid-with-a-sign",
            "grid sizes are taken for numbers with a sign",
            lambda o: any(looks(divide, lambda header: header & 0xFF == 2)(o) for divide in (signed, signed_rest)),
            "A grid size has 32 bits and no sign: it may be 3,000,000,000, which is more than an int holds.",
            "Of which type are the words that you divide?",
        ),
        Cause(
            "grid-cut",
            "grid sizes are cut to 16 bits",
            launches_as(grid_cut),
            "A workgroup's size has 16 bits along each axis, a grid's size 32.",
            "What do you do with words 3, 4 and 5 before you divide?",
        ),
        Cause(
            "reserved-taken-along",
            "the reserved half of word 2 is taken for a part of workgroup_size_z",
            launches_as(reserved_taken),
            "Reserved bits may have any value, so they must be masked.",
            "How many bits of word 2 belong to workgroup_size_z?",
        ),
        Cause(
            "sizes-exchanged",
            "two of the workgroup's sizes have changed places",
            lambda o: any(launches_as(sizes_exchanged(*two))(o) for two in ((1, 2), (1, 3), (2, 3))),
            "In word 1 the lower half is the size along x, the upper half that along y; z is in word 2.",
            "Which half of a word does & 0xFFFF give, and which one >> 16?",
        ),
        Cause(
            "threads-divided-together",
            "all threads of the grid are divided by those of a workgroup, where each axis is rounded up by itself",
            lambda o: o.looks_like("groups", of_all_threads),
            "5 x 5 threads in workgroups of 4 x 4 need 2 x 2 of them; 25 divided by 16, rounded up, is 2.",
            "Along which axes is the last workgroup not full? Each of them has to be rounded up.",
        ),
        Cause(
            "rounded-as-float",
            "only packets with more than 2 to the power of 24 threads are wrong, and they are almost right",
            rounded,
            "A float has 24 bits: above 16,777,216 some integers are rounded to others.",
            "Which type do your quotients have, and their product? Integers can be divided rounding up, too.",
        ),
        Cause(
            "rounded-down",
            "a workgroup that is not full is forgotten",
            looks(down, lambda header: header & 0xFF == 2),
            "100 threads in workgroups of 64 need two of them. A division of integers rounds down.",
            "How do you divide rounding up?",
        ),
        Cause(
            "one-more",
            "one workgroup too many is counted along an axis where all workgroups are full",
            looks(lambda threads, size: threads // size + 1, lambda header: header & 0xFF == 2),
            "128 threads in workgroups of 64 are 2 workgroups, and 129 are 3.",
            "What does your division give for 128 threads in workgroups of 64?",
        ),
        Cause(
            "other-order-of-operations",
            "what is divided by a workgroup's size is a product already",
            lambda o: o.looks_like("groups", without_parentheses),
            "a * b / c is (a * b) / c. Each quotient has to be rounded before it is a factor.",
            "Put parentheses around each of the three quotients.",
        ),
        Cause(
            "one-axis-alone",
            "the workgroups along one axis are counted, and those along the other two are not",
            lambda o: any(o.looks_like("groups", lambda case, k=k: sizes_of(case)[:, k]) for k in range(3)),
            "A grid of 3 x 2 x 1 workgroups has 6 of them.",
            "Which words have the sizes along y and z?",
        ),
        Cause(
            "threads-not-workgroups",
            "these are threads, not workgroups",
            lambda o: o.looks_like("groups", lambda case: threads_only(case.array("packets").data)),
            "grid_size counts threads.",
            "By what must each of the three grid sizes be divided?",
        ),
        Cause(
            "types-exchanged",
            "packets of other types are counted, and launches are not",
            looks(up, lambda header: header & 0xFF != 2),
            "A packet that launches a kernel has type 2.",
            "For which packets is your condition true, and what happens then?",
        ),
        Cause(
            "added-not-multiplied",
            "the numbers of workgroups along the axes are added, where they should be multiplied",
            added,
            "A grid of 3 x 2 x 1 workgroups has 6 of them.",
            "Which operations stand between your three quotients?",
        ),
        Cause(
            "one-axis-wrong",
            "the number of workgroups is wrong along one axis, and right along the other two",
            one_axis_wrong,
            "Each result is a multiple of two of the three numbers that it should be the product of.",
            "Take a packet with a wrong result, and compute the three quotients by hand. Which one differs from yours, "
            "and which words does it come from?",
        ),
        Cause(
            "missing-guard",
            "threads without a packet work too",
            lambda o: bool(o.written_past("groups")) or faulting_thread(o) >= o.case.parameters["n"],
            "The last block has more threads than packets are left.",
            "What should a thread do whose i is not less than n?",
            guard=("n",),
        ),
        Cause(
            "wrong-stride",
            "packets are looked for too far apart",
            lambda o: o.read_outside() is not None and 0 <= o.read_outside()[1] - 64 * faulting_thread(o) < 16,
            "packets is an array of 32-bit numbers: a packet of 64 bytes is 16 of them.",
            "At which index does packet 1 begin?",
        ),
    ),
    requirements=(work_shared(),),
    hints=(
        "One thread for each packet, with a guard. Its words begin at `packets + 16 * i`. Test the type first: "
        "`word[0] & 0xFF`.",
        "The workgroup's sizes are halves of words 1 and 2: word & 0xFFFF is the lower one, word >> 16 the upper one. "
        "Divide the grid's size along each axis by the workgroup's, rounding up.",
        "Division that rounds up: `(word[3] + x - 1) / x`, where `x = word[1] & 0xFFFF, y = word[1] >> 16, z = "
        "word[2] & 0xFFFF`. The number of workgroups is the product of three such quotients.",
    ),
)
