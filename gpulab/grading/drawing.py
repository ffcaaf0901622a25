"""Cases that are drawn anew for a grading: `drawn` (of kernels), `drawn_runs` (of programs),
`weak_seeds` (of their runs on weak memory).

Their sizes and data follow from the exercise and a seed, which is the instructor's secret. They stay within what the
exercise promises: blocks have sizes that its own cases have, other parameters are near those of one of its cases, and
not below the smallest. What breaks a promise of the exercise (`Exercise.promises`) is drawn again. An exercise whose
sizes depend on each other has a function of its own (`Exercise.drawn`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpulab.grading.case import Parameters
from gpulab.grading.exercise import Exercise
from gpulab.grading.program import ProgramExercise
from gpulab.grading.program_case import ProgramCase
from gpulab.weak import SEEDS

if TYPE_CHECKING:
    import numpy as np

Seed = int | str
"""What a grading draws from: a number or a text."""

COUNT = 4
"""Cases that are drawn for an exercise of kernels."""

FEW = 256
"""Up to this a size is drawn a quarter larger or smaller, beyond it a sixteenth: time grows with sizes."""

WHOLE = 64
"""What divides the sizes of the largest case and this number divides them as they are drawn, too."""


TRIES = 100
"""How often a case is drawn that breaks a promise, before one of the exercise's own sizes is taken."""


def generator(id: str, seed: Seed) -> np.random.Generator:
    """The random numbers of an exercise for a grading."""
    import hashlib

    import numpy as np

    digest = hashlib.sha256(f"{id}\n{seed}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(list(digest))


def drawn(exercise: Exercise, seed: Seed) -> tuple[tuple[Parameters, int], ...]:
    """Parameters of drawn cases, each with a number that their data are made from."""
    random = generator(exercise.id, seed)
    chosen = _usual(exercise, random) if exercise.drawn is None else exercise.drawn(random)
    return tuple((parameters, int(random.integers(1 << 62))) for parameters in chosen)


def drawn_runs(exercise: ProgramExercise, seed: Seed) -> tuple[ProgramCase, ...]:
    """Drawn cases of a program; none where the exercise has nothing to draw."""
    return () if exercise.drawn is None else tuple(exercise.drawn(generator(exercise.id, seed)))


def weak_seeds(count: int, secret: int | None) -> Sequence[int]:
    """The seeds of a case's runs on weak memory: the first ones for everybody, others of a case that was drawn, by the
    number that its data are made from."""
    import numpy as np

    if secret is None:
        return range(count)
    return [int(seed) for seed in np.random.default_rng([secret, count]).integers(0, SEEDS, count)]


def _usual(exercise: Exercise, random: np.random.Generator) -> Sequence[Parameters]:
    """Cases near some of the exercise's, and one that is at least as large as its largest.

    That one is for what is asked of large inputs alone: what its sizes are multiples of stays so.
    """
    largest = max(exercise.cases, key=lambda case: sum(case.values()))
    others = random.choice(len(exercise.cases), COUNT - 1)
    near = [_near(exercise, exercise.cases[int(index)], random) for index in others]
    return (*near, _near(exercise, largest, random, large=True))


def _near(exercise: Exercise, base: Parameters, random: np.random.Generator, large: bool = False) -> Parameters:
    tries = (_sizes(exercise, base, random, large) for _ in range(TRIES))
    return next((found for found in tries if exercise.promised(found)), base)


def _sizes(exercise: Exercise, base: Parameters, random: np.random.Generator, large: bool) -> Parameters:
    found = dict(base)
    for name, value in base.items():
        if name in exercise.kept:
            continue
        spread = max(value // 4, 3) if value <= FEW else value // 16
        step = math.gcd(value, WHOLE) if large and value > 0 else 1
        least = value if large else max(value - spread, exercise.smallest.get(name, value))
        found[name] = least + step * int(random.integers(0, max(value + spread - least, 0) // step, endpoint=True))
    return found
