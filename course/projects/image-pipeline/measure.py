"""Builds pipeline with make, runs it, and says which milestones it reaches: python measure.py [--arch gfx1100]"""

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

import numpy as np

from gpulab.errors import GpulabError
from gpulab.programs import make

TIMED = (16, 512, 256)
"""Frames, width and height of what is timed. All numbers of README.md are for this."""

SMALL = ((1, 1, 1), (3, 61, 37), (2, 130, 20), (5, 16, 300))
"""What is looked at beside it."""

LIMITS = {"gfx942": (10, 15.0, 13.0), "gfx1100": (10, 24.0, 22.5)}
"""Microseconds a frame, for the three last milestones: of the kernels alone, then of everything."""

RADIUS, SIGMA, STRENGTH = 5, 2.0, 0.5


def begin(frames, width, height):
    """The frames that pipeline.hip begins with: frame, row, column, colour."""
    frame, y, x = np.ogrid[:frames, :height, :width]
    frame, y, x = (each.astype(np.uint32) for each in (frame, y, x))
    noise = x * np.uint32(374761393) + y * np.uint32(668265263) + frame * np.uint32(974711)
    noise = (noise ^ (noise >> np.uint32(13))) * np.uint32(1274126177)
    ring = np.where((x * x + y * y + frame * np.uint32(2048)) >> np.uint32(11) & np.uint32(1), 180, 60)
    colours = [ring + (noise >> np.uint32(shift) & np.uint32(31)) for shift in (0, 8, 16)]
    return np.stack([*colours, np.full_like(ring, 255)], axis=-1).astype(np.uint8)


def drawn(frames):
    """What is to come back, worked out without pipeline."""
    weights = np.exp(-(np.arange(-RADIUS, RADIUS + 1) ** 2) / (2 * SIGMA**2))
    weights /= weights.sum()
    smooth = frames[..., :3] @ np.array([0.299, 0.587, 0.114])
    for axis in (1, 2):
        wide = np.pad(smooth, [(RADIUS, RADIUS) if each == axis else (0, 0) for each in range(3)], mode="edge")
        views = np.lib.stride_tricks.sliding_window_view(wide, 2 * RADIUS + 1, axis=axis)
        smooth = views @ weights
    slopes = []
    for axis in (1, 2):
        size = smooth.shape[axis]
        after, before = (smooth.take(range(by, size + by), axis, mode="clip") for by in (1, -1))
        slopes.append(after - before)
    keep = np.maximum(0, 1 - STRENGTH * np.hypot(*slopes) / 16)
    return np.concatenate([(keep[..., None] * frames[..., :3]).astype(np.uint8), frames[..., 3:]], axis=-1)


def run(program, arch, size, folder):
    """Run it; return the run, and the largest difference of a colour from the right one."""
    file = Path(folder) / "frames"
    done = program.run(*map(str, size), str(file), arch=arch, seconds=300)
    words = " ".join(map(str, size))
    if done.exit_code or not file.is_file():
        raise GpulabError(f"pipeline {words} ended with code {done.exit_code}.\n{done.stdout}{done.stderr}")
    frames, width, height = size
    found, wanted = np.fromfile(file, np.uint8), drawn(begin(frames, width, height))
    if found.size != wanted.size:
        raise GpulabError(f"pipeline {words} wrote {found.size} bytes in place of {wanted.size}.")
    return done, int(np.abs(found.astype(int) - wanted.ravel()).max())


def both(work):
    """The share of the time in which two or more of these run at once."""
    changes = sorted([(each.start_us, 1) for each in work] + [(each.end_us, -1) for each in work])
    running, total = 0, 0.0
    for (at, change), (after, _) in itertools.pairwise(changes):
        running += change
        total += (after - at) * (running > 1)
    return total / (changes[-1][0] - changes[0][0])


def milestones(program, arch):
    """A row for each: what is asked, what was found, is it reached?"""
    with tempfile.TemporaryDirectory() as folder:
        apart = [run(program, arch, size, folder)[1] for size in SMALL]
        timed, last = run(program, arch, TIMED, folder)
    worst = max([*apart, last])
    work = [each for each in timed.activities if each.us > 0 and each.kind in ("kernel", "copy", "fill")]
    if not timed.launches:
        raise GpulabError("No kernel ran on a virtual device, so nothing was measured.")
    frames, width, height = TIMED
    kernels = sum(each.us for each in work if each.kind == "kernel") / frames
    whole = (max(each.end_us for each in work) - min(each.start_us for each in work)) / frames
    print(f"{frames} frames of {width} x {height} on {arch}: {whole:.1f} µs a frame (modelled), kernels {kernels:.1f}")
    short, full, fast = LIMITS[arch]
    share = both(work)
    return [
        ("right", "at most 1 from right colours", f"{worst}", worst <= 1),
        ("both", "two things at once for half of the time", f"{share:.0%}", share >= 0.5),
        ("short", f"kernels take at most {short:g} µs a frame", f"{kernels:.1f}", kernels <= short),
        ("full", f"at most {full:g} µs a frame", f"{whole:.1f}", whole <= full),
        ("fast", f"at most {fast:g} µs a frame", f"{whole:.1f}", whole <= fast),
    ]


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--arch", choices=sorted(LIMITS), default="gfx942")
    ask.add_argument("--folder", default=Path(__file__).parent, help="with the Makefile (else this one)")
    asked = ask.parse_args()
    try:
        rows = milestones(make(asked.folder, "build/pipeline", asked.arch, "--always-make"), asked.arch)
    except GpulabError as error:
        print(error, file=sys.stderr)
        return 1
    right = rows[0][3]
    for name, wanted, found, reached in rows:
        mark = "reached" if reached and right else "not yet" if right else "not yet: results are wrong"
        print(f"  {name:<6} {wanted:<40} {found:>6}  {mark}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
