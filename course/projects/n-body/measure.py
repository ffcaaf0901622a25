"""Builds nbody with make, runs it, and says which milestones it reaches: python measure.py [--arch gfx1100]"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from gpulab.architectures import get
from gpulab.architectures.roofs import compute_roofs
from gpulab.errors import GpulabError
from gpulab.programs import make

BODIES, STEPS = 8192, 2
"""What is timed. All numbers of README.md are for this size."""

SMALL = ((1, 3), (77, 3), (1000, 2))
"""What is looked at beside it: bodies and steps."""

OPERATIONS = 20
"""Of one pair of bodies, however a program computes it."""

SHARES = {"gfx942": (0.10, 0.20), "gfx1100": (0.15, 0.28)}
"""Of the peak, for the two last milestones."""

STEP, SOFTENING = 0.05, 0.01


def begin(n):
    """The bodies that nbody.hip begins with: a row for each, with place, speed and mass."""
    state, numbers = 1, []
    for _ in range(7 * n):
        state = (state * 1664525 + 1013904223) % 2**32
        numbers.append((state >> 8) / 2**24)
    rows = np.array(numbers).reshape(n, 7)
    rows[:, 3:6] -= 0.5
    rows[:, 6] = (rows[:, 6] + 0.5) / n
    return rows


def places(n, steps):
    """Where the bodies are after so many steps, worked out without nbody."""
    rows = begin(n)
    place, speed, mass = rows[:, :3].copy(), rows[:, 3:6].copy(), rows[:, 6].astype(np.float32)
    for _ in range(steps):
        for first in range(0, n, 256):
            some = slice(first, first + 256)
            apart = (place[None, :, :] - place[some, None, :]).astype(np.float32)
            factor = mass / (np.einsum("ijk,ijk->ij", apart, apart) + np.float32(SOFTENING)) ** 1.5
            speed[some] += np.einsum("ijk,ij->ik", apart, factor) * STEP
        place += speed * STEP
    return place


def run(program, arch, n, steps, folder):
    """Run it; return the run, and how far its places are from right ones."""
    file = Path(folder) / "places"
    done = program.run(str(n), str(steps), str(file), arch=arch, profiled=n == BODIES, seconds=300)
    if done.exit_code or not file.is_file():
        raise GpulabError(f"nbody {n} {steps} ended with code {done.exit_code}.\n{done.stdout}{done.stderr}")
    found = np.fromfile(file, np.float32)
    if found.size != 3 * n:
        raise GpulabError(f"nbody {n} {steps} wrote {found.size} numbers in place of {3 * n}.")
    return done, float(np.abs(found.reshape(n, 3) - places(n, steps)).max())


def milestones(program, arch):
    """A row for each: what is asked, what was found, is it reached?"""
    with tempfile.TemporaryDirectory() as folder:
        apart = [run(program, arch, *size, folder)[1] for size in SMALL]
        timed, last = run(program, arch, BODIES, STEPS, folder)
    worst = max([*apart, last])
    kernels = [each for each in timed.activities if each.kind == "kernel"]
    if not kernels or not timed.launches:
        raise GpulabError("No kernel ran on a virtual device, so nothing was measured.")
    begun, ended = kernels[0].start_us, max(each.end_us for each in kernels)
    copies = sum(each.kind == "copy" and begun < each.start_us < ended for each in timed.activities)
    device = get(arch)
    pairs = BODIES * BODIES * STEPS
    vector = sum(each.counters["SQ_INSTS_VALU"] for each in timed.launches) * device.wave_size / pairs
    peak = next(roof.peak for roof in compute_roofs(device) if roof.key == "fp32 packed")
    share = OPERATIONS * pairs / ((ended - begun) * 1e-6) / (peak * 1e9)
    print(f"{BODIES} bodies on {arch}: {(ended - begun) / STEPS:.1f} µs a step (modelled), {share:.2%} of the peak")
    return [
        ("right", "at most 1e-5 from right places", f"{worst:.1e}", worst <= 1e-5),
        ("stays", "no copy between the first and the last kernel", f"{copies}", copies == 0),
        ("lean", "at most 20 vector instructions for a pair", f"{vector:.1f}", vector <= 20),
        *(
            (name, f"at least {least:.0%} of the peak", f"{share:.2%}", share >= least)
            for name, least in zip(("full", "fast"), SHARES[arch], strict=True)
        ),
    ]


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--arch", choices=sorted(SHARES), default="gfx942")
    ask.add_argument("--folder", default=Path(__file__).parent, help="with the Makefile (else this one)")
    asked = ask.parse_args()
    try:
        rows = milestones(make(asked.folder, "build/nbody", asked.arch, "--always-make"), asked.arch)
    except GpulabError as error:
        print(error, file=sys.stderr)
        return 1
    right = rows[0][3]
    for name, wanted, found, reached in rows:
        mark = "reached" if reached and right else "not yet" if right else "not yet: results are wrong"
        print(f"  {name:<6} {wanted:<46} {found:>8}  {mark}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
