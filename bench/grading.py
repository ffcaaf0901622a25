#!/usr/bin/env python3
"""`make bench-grading`: a class of 30 students and 10 exercises is graded as an instructor does it.

`make_class` writes the submissions: right and wrong answers of the exercises, each with a line of its own, so that
none is the same as another and each is compiled. `graded` runs `gpulab grade` with an empty cache of compiled code and
watches the memory of its processes. `killed` does the same with kill -9 in between. `serial_parts` measures what one
process does for a whole class whatever the number of workers, and `table_of_scale` works out from it which part is the
first to be as long as the grading itself. Rates need a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from gpulab.classroom.jobs import Job, Plain
from gpulab.grading.answers import right_answers, wrong_answers

ROOT = Path(__file__).resolve().parent.parent
EXERCISES = (
    "first-fill", "saxpy-guard", "grid-stride", "row-weights", "wave-sum", "copy-wide", "block-sum", "register-diet",
    "histogram-private", "matrix-tile",
)  # fmt: skip
"""One or two of each week of a course; from the quickest to grade to those with matrices."""

LIMITS = {"gradings a minute and core": 60.0, "MB a worker": 400.0, "two workers to one": 1.8}


def make_class(folder: Path, students: int, seed: int = 1) -> int:
    """Write the submissions of so many students, in the flat layout; how many there are."""
    pick = random.Random(seed)
    for exercise in EXERCISES:
        texts = [*right_answers(exercise).values(), *(each.source for each in wrong_answers(exercise))]
        for number in range(students):
            path = folder / f"student{number:04}" / f"{exercise}.hip"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{pick.choice(texts)}\n// handed in by student{number:04}\n", encoding="utf-8")
    return students * len(EXERCISES)


@dataclass(frozen=True)
class Measured:
    """One run: seconds in all, processor seconds of all processes, and the largest worker's memory in MB."""

    seconds: float
    processor: float
    megabytes: float


def start(submitted: Path, out: Path, cache: Path, workers: int) -> subprocess.Popen[bytes]:
    """`gpulab grade` in a session of its own."""
    words = ["grade", str(submitted), "--out", str(out), "--seed", "7", "--workers", str(workers)]
    return subprocess.Popen(
        [sys.executable, "-m", "gpulab", *words],
        env={**os.environ, "GPULAB_CACHE": str(cache), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def memory(process: psutil.Process) -> float:
    """MB of a process and of all below it, shared pages divided by their users (PSS)."""
    total = 0
    for each in [process, *process.children(recursive=True)]:
        try:
            total += each.memory_full_info().pss
        except (psutil.Error, OSError):
            continue
    return total / 1e6


def largest_worker(command: psutil.Process) -> float:
    """MB of the largest worker with the graders that it started; of the command itself, if it grades alone."""
    workers = []
    for each in command.children(recursive=True):
        try:
            if "multiprocessing.spawn" in " ".join(each.cmdline()):
                workers.append(each)
        except psutil.Error:
            continue
    return max(map(memory, workers), default=0.0)


def graded(submitted: Path, out: Path, cache: Path, workers: int) -> Measured:
    """Grade the class and watch."""
    before, began = os.times(), time.monotonic()
    process = start(submitted, out, cache, workers)
    most, command = 0.0, psutil.Process(process.pid)
    while process.poll() is None:
        try:
            most = max(most, largest_worker(command))
        except psutil.Error:
            pass
        time.sleep(4.0)
    if process.returncode != 0:
        raise SystemExit(f"gpulab grade ended with {process.returncode}")
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return Measured(time.monotonic() - began, used, most)


def killed(submitted: Path, out: Path, cache: Path, times: int, seconds: float, seed: int) -> int:
    """Grade the class with so many kill -9 at random; how many struck before the end."""
    pick, struck = random.Random(seed), 0
    for _ in range(times):
        process = start(submitted, out, cache, 2)
        try:
            process.wait(pick.uniform(0.05, 1.5) * seconds / times)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            struck += 1
    if start(submitted, out, cache, 2).wait() != 0:
        raise SystemExit("gpulab grade failed after it was killed")
    return struck


def reports(out: Path) -> dict[str, str]:
    """Digests of all that a run wrote for people; the store of results may have another order."""
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in ("results.jsonl", "run.json", "history.jsonl")
    }


def nothing(work: Mapping[str, Any]) -> Plain:
    """A grading that takes no time."""
    return {"exercise": work["exercise"], "status": "passed", "headline": "", "rows": []}


def serial_parts(submitted: Path, folder: Path) -> dict[str, float]:
    """Seconds a submission of what is done once for a class, in one process, from 300 submissions."""
    from gpulab.classroom import feedback, tables
    from gpulab.classroom.points import scheme_of
    from gpulab.classroom.pool import DaskPool
    from gpulab.classroom.results import rows
    from gpulab.classroom.store import Results
    from gpulab.classroom.submissions import submissions
    from gpulab.grading import load
    from gpulab.grading.report import stopped

    parts = {}

    def part(name: str, count: int, begun: float) -> None:
        parts[name] = (time.perf_counter() - begun) / count

    for id in EXERCISES:
        load(id)
    begun = time.perf_counter()
    found = submissions(submitted, None)
    part("submissions are read", len(found), begun)
    work = [Job(each.exercise, str(each.answer), 1, "1") for each in found]
    with DaskPool(workers=2, task=nothing) as pool:
        list(pool.done(work[:20]))
        begun = time.perf_counter()
        list(pool.done(work))
        part("Dask hands out and takes back", len(work), begun)
    verdict = stopped("first-fill", "x" * 2000).as_dict()
    with Results(folder / "store.jsonl") as store:
        begun = time.perf_counter()
        for job in work:
            store.put(job.key, verdict)
        part("a result is kept on the disk", len(work), begun)
    for id in EXERCISES:
        load(id)
    begun = time.perf_counter()
    made = rows(found, dict.fromkeys(found, verdict), {}, scheme_of(None))
    for text in (tables.report_csv, tables.report_json, tables.grades_csv, tables.moodle_csv, tables.canvas_csv):
        text(made)
    feedback.write(folder / "feedback", made)
    part("tables and pages for students", len(found), begun)
    return parts


def similar_seconds(answers: int) -> float:
    """Seconds to compare so many answers to one exercise: a right one with constants of each student's own."""
    from gpulab.classroom.similar import given_with, similar

    pick = random.Random(answers)
    body = max(right_answers("matrix-tile").values(), key=len)
    lines = body.split("\n")
    texts = []
    for number in range(answers):
        changed = list(lines)
        for _ in range(6):
            at = pick.randrange(len(changed))
            changed.insert(at, f"    int extra{pick.randrange(30)} = {pick.randrange(40)} * {pick.randrange(5)};")
        texts.append((f"student{number:05}", "\n".join(changed)))
    begun = time.perf_counter()
    similar(texts, given_with("matrix-tile"), "matrix-tile")
    return time.perf_counter() - begun


def table_of_scale(parts: Mapping[str, float], rate: float, similar: Mapping[int, float]) -> None:
    """What each part takes as classes grow, on ten workers; `rate`: gradings a second and worker."""
    few, many = sorted(similar)
    sizes = (300, 3000, 50_000)
    print("\nten workers, seconds (worked out)  " + "".join(f"{size:>12,}" for size in sizes))
    grading = {size: size / (10 * rate) for size in sizes}
    print(f"{'grading':35}" + "".join(f"{grading[size]:12,.0f}" for size in sizes))
    for name, seconds in parts.items():
        print(f"{name:35}" + "".join(f"{seconds * size:12,.1f}" for size in sizes))
    power = max(1.0, math.log(similar[many] / similar[few]) / math.log(many / few))
    each = {size: similar[many] * (size / len(EXERCISES) / many) ** power * len(EXERCISES) for size in sizes}
    print(f"{f'similar answers (power {power:.1f})':35}" + "".join(f"{each[size]:12,.1f}" for size in sizes))
    most = max(parts, key=lambda name: parts[name])
    print(f"the first part to saturate: {most!r}, with {1 / (parts[most] / (1 / rate)):,.0f} workers")


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--students", type=int, default=30)
    ask.add_argument("--kills", type=int, default=10, help="how often the second run is killed; 0: no such run")
    asked = ask.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gpulab-bench-"))
    try:
        submitted, shared = folder / "submitted", folder / "cache"
        count = make_class(submitted, asked.students)
        warm = folder / "warm"
        make_class(warm, 1, seed=2)
        graded(warm, folder / "warm-out", shared, 1)  # headers and the machine's code, which every machine builds once
        runs = {}
        for workers in (1, 2):
            cache = folder / f"cache{workers}"
            shutil.copytree(shared, cache, symlinks=True)
            runs[workers] = graded(submitted, folder / f"out{workers}", cache, workers)
        print(f"{count} submissions of {len(EXERCISES)} exercises, {asked.students} students")
        print("workers   seconds   gradings a minute and core   processor s a grading   MB of the largest worker")
        for workers, run in runs.items():
            rate = 60 * count / run.seconds / workers
            print(f"{workers:7}{run.seconds:10.1f}{rate:29.1f}{run.processor / count:24.2f}{run.megabytes:27.0f}")
        gain = runs[1].seconds / runs[2].seconds
        same = reports(folder / "out1") == reports(folder / "out2")
        print(f"two workers are {gain:.2f} times as fast as one; the same reports byte for byte: {same}")
        good = same
        if asked.kills:
            struck = killed(submitted, folder / "killed", folder / "cache2", asked.kills, runs[2].seconds, seed=3)
            alike = reports(folder / "killed") == reports(folder / "out2")
            print(f"killed {struck} times at random: the same reports byte for byte: {alike}")
            good = good and alike
        parts = serial_parts(submitted, folder)
        table_of_scale(parts, count / runs[1].seconds, {size: similar_seconds(size) for size in (250, 1000)})
        least = min(60 * count / run.seconds / workers for workers, run in runs.items())
        for name, value, fine in (
            ("gradings a minute and core", least, least >= LIMITS["gradings a minute and core"]),
            ("MB a worker", runs[2].megabytes, runs[2].megabytes <= LIMITS["MB a worker"]),
            ("two workers to one", gain, gain >= LIMITS["two workers to one"]),
        ):
            print(f"{name}: {value:.1f}, limit {LIMITS[name]:g}: {'kept' if fine else 'NOT KEPT'}")
        return 0 if good else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
