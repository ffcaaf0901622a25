"""Random programs without an end: `python -m tests.fuzz.run [seconds] [first seed]`.

Prints each program whose results differ between the host and a virtual GPU, made smaller, and ends with status 1 if
there was one. Seeds go up from the first one (by default the time of day); each batch uses the next compiler level.
"""

from __future__ import annotations

import sys
import time

from tests.fuzz.execution import compare, reduce
from tests.fuzz.generator import generate

BATCH = 20
ROUNDS = (("-O3", 9, 3), ("-O1", 9, 3), ("-O2", 14, 3), ("-Os", 9, 4), ("-O0", 2, 2))  # level, statements, depth


def main(seconds: float = 3600.0, first: int | None = None) -> int:
    """Run for so many seconds; the number of programs that differed."""
    end = time.monotonic() + seconds
    seed = int(time.time()) % 10**8 * 100 if first is None else first
    found = tried = 0
    while time.monotonic() < end:
        level, statements, depth = ROUNDS[seed // BATCH % len(ROUNDS)]
        programs = [generate(seed + k, statements=statements, depth=depth) for k in range(BATCH)]
        for arch in ("gfx942", "gfx1100"):
            for k, difference in enumerate(compare(programs, arch, level, seed)):
                if difference:
                    found += 1
                    print(f"seed {seed + k} {arch} {level}: {difference}", flush=True)
                    print(reduce(programs[k], arch, level, seed).render("f_"), flush=True)
        tried += BATCH
        seed += BATCH
        print(f"{tried} programs, {found} differ; the next seed is {seed}", flush=True)
    return found


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]]
    sys.exit(1 if main(*numbers) else 0)
