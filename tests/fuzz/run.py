"""Random programs and inputs without an end: `python -m tests.fuzz.run [seconds] [first seed]`.

Prints each program whose results differ between the host and a virtual GPU, made smaller, and each input (`inputs`:
notebooks, zips, assembly, code objects, calls of HIP's C functions) that is not refused as it should be; ends with
status 1 if there was one. Seeds go up from the first one (by default the time of day). Batches of programs of one
thread, each at the next compiler level, take turns with batches of programs whose threads work together, at all levels.
The environment variable GPULAB_DEVICES names the architectures.

Read the assembly before looking for the mistake here: Clang 22 itself turns these into code that computes something
else, the same on all architectures, and the virtual GPUs execute what it says.
  `-x + 0.0` of f16 becomes `-x`, which differs for zeros (seed 424202 at -O1)
  the carry of __builtin_elementwise_add_sat(8, v * v) of u64 comes from a sum put together otherwise (880159 at -O3)
  a switch over a converted double overwrites a register in lanes that still need it (300169 of waves in a batch of 40)
  s_bitcmp0 with the sides of its select not exchanged (7000093, 14 statements, at -O1)
  v_mov_b16 into the upper half of a register from another scalar register than the one that has the value, in a branch
  (92000053 at -O1, on gfx1100, whose registers have halves)
"""

from __future__ import annotations

import os
import sys
import time

from tests.fuzz import inputs as inputs_
from tests.fuzz.execution import compare, reduce
from tests.fuzz.generator import generate
from tests.fuzz.waves import SETTINGS, Host, compare_waves, device_source, generate_waves, inputs, reduce_waves

ARCHITECTURES = os.environ.get("GPULAB_DEVICES", "gfx942,gfx1100").split(",")
BATCH = 20
INPUTS = 10
"""For each program."""
ROUNDS = (("-O3", 9, 3), ("-O1", 9, 3), ("-O2", 14, 3), ("-Os", 9, 4), ("-O0", 2, 2))  # level, statements, depth


def main(seconds: float = 3600.0, first: int | None = None) -> int:
    """Run for so many seconds; the number of programs that differed."""
    end = time.monotonic() + seconds
    seed = int(time.time()) % 10**8 * 100 if first is None else first
    found = tried = 0
    while time.monotonic() < end:
        number = seed // BATCH
        found += _together(seed) if number % 2 else _alone(seed, *ROUNDS[number // 2 % len(ROUNDS)])
        target = tuple(inputs_.TARGETS)[number % len(inputs_.TARGETS)]
        for finding in inputs_.batch(target, seed * INPUTS, BATCH * INPUTS):
            found += 1
            print(finding, flush=True)
        tried += BATCH
        seed += BATCH
        print(f"{tried} programs, {INPUTS * tried} inputs, {found} wrong; the next seed is {seed}", flush=True)
    return found


def _alone(seed: int, level: str, statements: int, depth: int) -> int:
    programs = [generate(seed + k, statements=statements, depth=depth) for k in range(BATCH)]
    found = 0
    for arch in ARCHITECTURES:
        for k, difference in enumerate(compare(programs, arch, level, seed)):
            if difference:
                found += 1
                print(f"seed {seed + k} {arch} {level}: {difference}", flush=True)
                print(reduce(programs[k], arch, level, seed).render("f_"), flush=True)
    return found


def _together(seed: int) -> int:
    programs = [generate_waves(seed + k) for k in range(BATCH)]
    host = Host(programs, inputs(seed))
    found = 0
    for arch in ARCHITECTURES:
        for (k, setting), difference in compare_waves(programs, arch, SETTINGS, seed, host).items():
            found += 1
            print(f"threads together, seed {seed + k} {arch} {setting}: {difference}", flush=True)
            print(device_source([reduce_waves(programs[k], arch, setting, seed)]), flush=True)
    return found


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]]
    sys.exit(1 if main(*numbers) else 0)
