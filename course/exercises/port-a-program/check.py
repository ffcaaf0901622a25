"""port-a-program: a CUDA program of several kernels, with six traps in it, as a HIP program for both wave sizes."""

import re

import numpy as np

from gpulab.grading.exercise import Cause
from gpulab.grading.program import ProgramCase, ProgramExercise
from gpulab.grading.requirements import limited, source

WIDTH, HEIGHT, CELL, BINS, SALTS = 64, 48, 256, 16, 64
WORD = (1 << 32) - 1
KERNELS = ("push", "count_left", "move_left", "bin", "momentum", "sign")


def generator(seed):
    """The program's random numbers, one after the other."""
    state = seed
    while True:
        state = (state * 1664525 + 1013904223) & WORD
        yield state >> 8


def towards_zero(a, b):
    """The quotient as C++ computes it."""
    return np.sign(a) * (np.abs(a) // b)


def rotated(value, by):
    """To the left, within 32 bits."""
    return ((value << by) | (value >> (32 - by) if by else 0)) & WORD


def states(grains, steps, seed):
    """For each step the grains that are left, as rows (x, y, vx, vy, mass, id)."""
    numbers = generator(seed)
    rows = []
    for i in range(grains):
        x, y = next(numbers) % (WIDTH * CELL), next(numbers) % (HEIGHT * CELL)
        vx, vy = next(numbers) % 512 - 256, next(numbers) % 512 - 256
        rows.append((x, y, vx, vy, 1 + next(numbers) % 15, i))
    left = np.array(rows, dtype="int64")
    column, row = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    wind = 2 * ((column - WIDTH // 2) ** 2 + 2 * (row - HEIGHT // 3) ** 2) + 40 * (column % 7)
    padded = np.pad(wind, 1, mode="edge")  # a texture that clamps
    for _ in range(steps):
        x, y, vx, vy, mass, number = left.T.copy()
        c, r = x // CELL + 1, y // CELL + 1
        vx += towards_zero(padded[r, c - 1] - padded[r, c + 1], mass)
        vy += towards_zero(padded[r - 1, c] - padded[r + 1, c], mass) + 5
        x += vx
        y += vy
        lid = y < 0
        y[lid], vy[lid] = -y[lid], -vy[lid]
        on_plate = (x >= 0) & (x < WIDTH * CELL) & (y < HEIGHT * CELL)
        left = np.stack([x, y, vx, vy, mass, number], axis=1)[on_plate]
        yield left


def signature(left, salts, every, size, turn):
    """Bits and levels; `salts` maps the number of a group of `size` to its salt; `every` 2 leaves out each second
    group; `turn` rotates."""
    bits = levels = 0
    for start in range(0, -(-len(left) // 256) * 256, size * every):
        group = 0
        for lane, (x, y, _, _, _, number) in enumerate(left[start : start + size].tolist()):
            mixed = (number * 2654435761) ^ (x * 40503) ^ (y * 9973) ^ salts(start // size)
            group ^= turn(mixed & WORD, lane % 32)
        bits ^= group
        levels += group.bit_length()
    return bits, levels


def lines(grains, steps, seed, salt_of=lambda group: group, every=1, size=32, turn=rotated):
    """The program's output; `salt_of` says whose salt a group of `size` takes, `every` which groups sign, `turn` how."""
    numbers = generator(12345)
    table = [next(numbers) * 257 & WORD for _ in range(SALTS)]
    text = []
    for step, left in enumerate(states(grains, steps, seed), 1):
        if not len(left):
            return [*text, f"step {step}: nothing is left"]
        x, _, vx, vy, mass, _ = left.T
        text.append(
            f"step {step}: {len(left)} grains, mass {mass.sum()}, momentum {(mass * vx).sum()} {(mass * vy).sum()}"
        )
        stripes = np.bincount(x // CELL * BINS // WIDTH, minlength=BINS)
        text.append("  stripes " + " ".join(str(count) for count in stripes))
        bits, levels = signature(left, lambda group: table[salt_of(group) % SALTS], every, size, turn)
        text.append(f"  signature {bits:08x} {levels}")
    return text


def arguments(o):
    values = [int(value) for value in o.case.arguments]
    return values[0], values[1], values[2] if len(values) > 2 else 1


def differing(o):
    """Which kinds of lines of the first step that is wrong differ: "grains", "sums", "stripes", "signature"."""
    wanted, found = lines(*arguments(o)), o.stdout.split("\n")
    kinds: set[str] = set()
    for one, other in zip(wanted, found if o.stdout.strip() else [], strict=False):
        if one.startswith("step"):
            counts = [re.match(r"step \d+: (\d+) grains, (.*)", text) for text in (one, other)]
            if None in counts:
                kinds.add("grains")
                break
            if counts[0][1] != counts[1][1]:
                kinds.add("grains")
                break  # all that follows is about other grains
            if counts[0][2] != counts[1][2]:
                kinds.add("sums")
        elif one != other:
            kinds.add(one.split()[0])
        if kinds and other.startswith("  signature"):
            break  # the first step decides
    return kinds


def parts(text):
    """(bits, levels) of each signature in an output."""
    return re.findall(r"signature ([0-9a-f]{8}) (\d+)", text)


def salts_of_waves(o):
    """Do both halves of a wave of 64 take the salt of the lower one?"""
    return o.wave_size == 64 and "\n".join(lines(*arguments(o), lambda group: group // 2 * 2)) == o.stdout.rstrip()


def every_second_group(o):
    """Do only the lower halves of the waves of 64 sign?"""
    return o.wave_size == 64 and "\n".join(lines(*arguments(o), every=2)) == o.stdout.rstrip()


def groups_of_64(o):
    """Does sign work on 64 grains at a time, or is it wrong in another way on waves of 64 alone?"""
    if o.wave_size != 64 or differing(o) != {"signature"}:
        return False
    return "\n".join(lines(*arguments(o), size=64)) == o.stdout.rstrip() or all(other.passed for other in o.elsewhere)


def right_on_waves_of_32(o, *kernels):
    """Is what fails on waves of 64, in these kernels or the number of grains, right in the first step on waves of 32?"""
    return o.wave_size == 64 and all(
        other.wave_size == 32
        and "signature" in other.stdout
        and not in_kernel(other, *kernels)
        and "grains" not in differing(other)
        for other in o.elsewhere
    )


def ballots_halved(o):
    """Do the kernels with ballots fail on waves of 64 alone?"""
    kernels = "count_left", "move_left"
    return (in_kernel(o, *kernels) or "grains" in differing(o)) and right_on_waves_of_32(o, *kernels)


def too_small_on_waves_of_64(o):
    """Is the dynamic LDS of bin too small on waves of 64 alone?"""
    return (
        kind("lds out of bounds")(o)
        and in_kernel(o, "bin")
        and o.wave_size == 64
        and not any(kind("lds out of bounds")(other) and in_kernel(other, "bin") for other in o.elsewhere)
    )


def beyond_the_edge(o):
    """Does push read the wind one row or less before its beginning or behind its end?"""
    if not kind("out of bounds")(o) or not in_kernel(o, "push") or o.fault.access != "read":
        return False
    nearest, row = o.fault.nearest, 4 * WIDTH
    return (
        nearest is not None
        and nearest.size == row * HEIGHT
        and -row <= o.fault.address - nearest.address < nearest.size + row
    )


def nothing_between(o):
    """Is there a race in momentum, and do two additions of block_sum follow each other without anything between?"""
    found = in_kernel(o, "momentum") and kind("race", "lane conflict")(o) and o.fault.memory == "lds"
    return found and o.uses(r"(\w+)\[(\w+)\]\s*\+=\s*\1\[\2\s*\+\s*\d+\];\s*\1\[\2\]\s*\+=")


def rotated_otherwise(o):
    """Is the signature that of a rotation to the right, of none, of a shift, or of a rotation one further?"""
    ways = (
        lambda value, by: rotated(value, -by % 32),
        lambda value, by: value,
        lambda value, by: value << by & WORD,
        lambda value, by: value >> by,
        lambda value, by: rotated(value, (by + 1) % 32),
    )
    return any("\n".join(lines(*arguments(o), turn=way)) == o.stdout.rstrip() for way in ways)


def alone(what):
    """Is this kind of lines wrong, in the first step that is, and all others of that step right?"""
    return lambda o: o.fault is None and o.exit_code == 0 and differing(o) == {what}


def barrier_in_branch(o):
    """Is there a barrier in block_sum that only some threads of the block reach?"""
    found = in_kernel(o, "momentum") and kind("race", "lane conflict", "barrier", "never written")(o)
    return found and o.uses(r"\bif\s*\([^{;]*\)\s*\{(?:[^{}]|\{[^{}]*\}|\{)*?\b__syncthreads\s*\(")


def worked(o):
    """The share of the lanes at work in the kernel that is worst; 0 if one of them does nothing for most grains."""
    shares = []
    for name in KERNELS:
        costs = [
            cost
            for launch in o.measured
            if launch.kernel.split("(")[0] == name
            for cost in launch.instructions
            if cost.text.startswith("v_")
        ]
        active = sum(cost.active_lanes for cost in costs)
        grains, steps, _ = arguments(o)
        enough = active >= 4 * grains * steps
        shares.append(active / (sum(cost.executed for cost in costs) * o.wave_size) if enough else 0.0)
    return min(shares)


def places_from_counters(o):
    """How many atomic operations waves of move_left executed that return what was there before."""
    return sum(
        cost.executed
        for launch in o.measured
        if launch.kernel.split("(")[0] == "move_left"
        for cost in launch.instructions
        if re.match(r"ds_\w+_rtn|(?:global|flat)_atomic_.*\bsc0\b", cost.text)
    )


def only_levels(o):
    """Are the bits of the first signature right, and its levels wrong?"""
    wanted, found = parts("\n".join(lines(*arguments(o)))), parts(o.stdout)
    return bool(found) and found[0][0] == wanted[0][0] and found[0][1] != wanted[0][1]


def kind(*names):
    return lambda o: o.fault is not None and o.fault.kind in names


def in_kernel(o, *names):
    return o.fault is not None and o.fault.kernel.split("(")[0] in names


def case(*values):
    numbers = [int(value) for value in values]
    seed = numbers[2] if len(numbers) > 2 else 1
    text = lines(numbers[0], numbers[1], seed)
    return ProgramCase(tuple(values), "\n".join(text) + "\n", computed=tuple(computed(text)))


def computed(text):
    """The numbers in an output that kernels compute: stripes together, the others each for itself."""
    for line in text:
        if line.startswith("  stripes"):
            yield tuple(int(count) for count in line.split()[1:])
        elif line.startswith("  signature"):
            bits, levels = line.split()[1:]
            yield from ((int(bits, 16),), (int(levels),))
        elif found := re.match(r"step \d+: \d+ grains, mass (\d+), momentum (\S+) (\S+)", line):
            yield from ((int(number),) for number in found.groups())


def drawn(random):
    for most, steps in ((500, 2), (2000, 3)):
        yield case(*(str(value) for value in (random.integers(260, most), steps, random.integers(2, 10_000))))


exercise = ProgramExercise(
    id="port-a-program",
    title="a CUDA program with six traps",
    lesson="13_porting_traps",
    section="Textures and dynamic parallelism",
    minutes=60,
    cases=(case("300", "2"), case("3000", "3", "7"), case("1", "1"), case("40", "4", "3")),
    drawn=drawn,
    causes=(
        Cause(
            "warps-on-the-host",
            "the host and the kernel bin count warps differently, and the kernel needs more LDS than it gets",
            too_small_on_waves_of_64,
            "The bytes of dynamic LDS come from the launch; how many of them are used is decided in the kernel.",
            "Which wave size is used in main, and which in bin? They have to be the same one.",
        ),
        Cause(
            "no-clamp",
            "the wind is read beyond the edge of the plate",
            beyond_the_edge,
            "The texture had cudaAddressModeClamp: a coordinate beyond the edge reads the value at the edge.",
            "What does your function do for column -1, and for column WIDTH?",
        ),
        Cause(
            "half-of-the-ballot",
            "grains are lost or counted twice: a ballot of 64 lanes is kept in 32 bits",
            ballots_halved,
            "A ballot has a bit for each lane of the wave; the lanes from 32 on need the upper half.",
            "Look at both kernels that use a ballot: the mask's type, the shifted one, the counting function.",
        ),
        Cause(
            "barrier-in-branch",
            "a barrier in block_sum is in a branch that only some threads of the block take",
            barrier_in_branch,
            "The waves whose threads skip the branch do not wait there. They go on, and read sums that are not ready.",
            "Which threads must reach each __syncthreads(), and which of them must add?",
        ),
        Cause(
            "lanes-in-step",
            "the last steps of block_sum have nothing between them that orders memory",
            nothing_between,
            "The lanes run in lockstep, but the compiler may read all the values before it writes the first.",
            "What must be between the last six lines of block_sum, or in their place?",
        ),
        Cause(
            "salt-of-the-wave",
            "in a wave of 64 lanes the upper 32 use the salt of the lower 32",
            salts_of_waves,
            "A shuffle from lane 0 reads lane 0 of the wave, unless it has a width.",
            "How many grains belong to one salt, and which argument of the shuffle says that?",
        ),
        Cause(
            "lane-of-the-wave",
            "the lane's number counts to 63, where the signature means the place among 32 grains",
            every_second_group,
            "__lane_id() is the literal translation of the PTX line, but the program means the place among 32 grains.",
            "Which threads may be 'lane 0' on a wave of 64?",
        ),
        Cause(
            "groups-of-the-wave",
            "the signature is wrong on waves of 64 lanes alone: something in sign depends on the wave size",
            groups_of_64,
            "A group of sign has 32 grains for every wave size: they share a salt, count their places, and one of them "
            "adds the group's bits. WARP as warpSize makes it 64.",
            "Which lines of sign say how many grains belong together? And which argument of the shuffles says that?",
        ),
        Cause(
            "highest-bit",
            "the bits of the signature are right, its levels are not",
            only_levels,
            "bfind gives the number of the highest set bit, counted from below, and all bits set for 0.",
            "Write down what bfind gives for 1, for 0x80000000 and for 0; compare with your function.",
        ),
        Cause(
            "rotation",
            "the signature is that of another rotation",
            rotated_otherwise,
            "shf.l.wrap takes the lower five bits of the distance, and a rotation by 0 changes nothing.",
            "Try your rotation with the distances 0, 1 and 31 on paper.",
        ),
        Cause(
            "sign-alone",
            "the signature is wrong, and mass, momentum and stripes are right",
            alone("signature"),
            "So the grains are right, and what sign makes of them is not, or what it was given.",
            "Go through sign line by line: which grain, which salt, which lane, how often?",
        ),
        Cause(
            "momentum-alone",
            "mass or momentum is wrong, and the number of grains, stripes and signature are right",
            alone("sums"),
            "So the grains are right, and what momentum makes of them is not, or what it was given.",
            "Is momentum launched with all grains, does its sum begin with 0, and is it copied before it is printed?",
        ),
        Cause(
            "bin-alone",
            "the stripes are wrong, and the number of grains, mass, momentum and signature are right",
            alone("stripes"),
            "So the grains are right, and what bin makes of them is not, or what it was given.",
            "Is bin launched with all grains, do its counters begin with 0, and which counter does a grain go to?",
        ),
        Cause(
            "other-grains",
            "the number of grains is wrong",
            lambda o: o.fault is None and o.exit_code == 0 and "grains" in differing(o),
            "So push moves grains in another way, or count_left and move_left do not keep those that are on the plate.",
            "Take one grain and one step: where is it afterwards, and is it kept?",
        ),
    ),
    requirements=(
        source(
            "cuda-names",
            r"\bcuda[A-Z]\w*|\bcuda_runtime|\basm\b",
            at_most=0,
            title="no name of CUDA's and no assembly is left",
            next_step="gpulab hipify replaces the names; replace PTX by functions with the same effect.",
        ),
        limited(
            "kernels-do-the-work",
            "of the lanes at work in the least busy of the six kernels",
            worked,
            at_least=0.2,
            share=True,
            title="push, count_left, move_left, bin, momentum and sign do the work, with all their threads",
            when=lambda case: 250 <= int(case.arguments[0]) <= 500,
            archs=("gfx942",),
            next_step="The check goes by the kernels' names. 0 % means that one of the six does not run, or does "
            "nothing for most of the grains: results that the host computes are not a port.",
        ),
        limited(
            "order-by-chance",
            "atomic operations that return a number, executed by waves of move_left",
            places_from_counters,
            at_most=0,
            title="move_left keeps the order of the grains: no place comes from an atomic operation",
            when=lambda case: 250 <= int(case.arguments[0]) <= 500,
            archs=("gfx942",),
            next_step="A counter gives places in the order in which waves and lanes come to it. Here that is the right "
            "order; nothing promises it, and the signature depends on it. Take the ballots of the CUDA program.",
        ),
    ),
    hints=(
        "Begin with gpulab hipify and read its report to the end. Then fix the compiler's errors: PTX, the "
        "texture, 32-bit masks. What is left compiles and is wrong.",
        "Go through the program once for each question: Does this use more lanes than its group of 32? Is this a mask? "
        "Does this line rely on another one having been done by another lane? Is a number computed on the host "
        "and again in a "
        "kernel?",
        "The six: WARP where a shuffle or a ballot uses the whole wave (sign), unsigned masks (count_left, "
        "move_left), six lines "
        "without anything between (block_sum), three functions of PTX, the texture with clamping (push), and "
        "BLOCK / properties.warpSize on the host against BLOCK / WARP in bin.",
    ),
    seconds=60.0,
)
