"""Machines that die: workers and schedulers are killed, and nothing is lost or counted twice."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpulab.classroom import tables
from gpulab.classroom.points import Scheme
from gpulab.classroom.pool import DaskPool, Done, OneByOne, PoolError, _started, pool
from gpulab.classroom.run import grade_class
from tests.classroom import tasks
from tests.classroom.tasks import job, submission, summary
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]"}


def by_answer(ends: list[Done]) -> dict[str, Done]:
    assert max(Counter(end.job.answer for end in ends).values()) == 1
    return {end.job.answer: end for end in ends}


def test_local_cluster_with_workers_that_die(tmp_path: Path) -> None:
    """One deadly job, two that kill one worker each, one that raises, and others that suffer from none of it."""
    answers = [f"right {number}" for number in range(30)]
    answers[3:3] = ["deadly", f"once {tmp_path / 'a'}", "raise"]
    answers.append(f"right once {tmp_path / 'b'}")
    with DaskPool(workers=2, task=tasks.grade) as local:
        ends = by_answer(list(local.done([job(answer) for answer in answers])))
        client = local._client
        assert client.scheduler_info()["address"].startswith("tls://127.0.0.1:")
        pids = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
    assert ends.keys() == set(answers)
    assert ends["deadly"] == Done(job("deadly"), None, "the process that graded it died 3 times", True)
    assert ends["raise"].problem == "RuntimeError: the tool is missing"
    for answer in answers:
        if answer not in ("deadly", "raise"):
            assert ends[answer].result == tasks.verdict(answer), answer
    _, alive = psutil.wait_procs(pids, timeout=20)
    assert not alive


def test_a_local_cluster_takes_no_work_from_others_and_no_time_to_watch_itself() -> None:
    """Somebody else on the machine has no certificate. Dask's profiler is off in the worker."""
    import dask
    import distributed

    with DaskPool(workers=1, task=tasks.grade) as local:
        address = local._client.scheduler_info()["address"]
        for other in (address, address.replace("tls://", "tcp://")):
            client = functools.partial(distributed.Client, other, timeout=3, set_as_default=False)
            with pytest.raises((OSError, TypeError, ValueError)), contextlib.closing(_started(client)):
                pass
        enabled = functools.partial(dask.config.get, "distributed.worker.profile.enabled")
        assert local._client.submit(enabled, pure=False).result(timeout=60) is False
    assert enabled() is True


GARBAGE = """
import functools, gc, sys
import distributed
from gpulab.classroom.pool import _started

def starting(*arguments, start=distributed.utils._CollectErrorThread.__init__, **named):
    if gc.isenabled():  # the collector's run falls just here, where Dask holds its lock of loops
        gc.collect()
    start(*arguments, **named)

distributed.utils._CollectErrorThread.__init__ = starting
gc.set_threshold(1_000_000)
for _ in range(2):
    try:
        _started(functools.partial(distributed.Client, sys.argv[1], timeout=0.1, set_as_default=False))
    except (OSError, TypeError) as error:  # no certificates; its frames refer to the client
        kept = [error]
        kept.append(kept)  # a cycle, left for the collector
    del kept
print("ended")
"""


def test_a_client_that_failed_is_not_collected_while_another_one_starts() -> None:
    """Dask's lock of loops would be taken twice: it hung where the collector ran just then."""
    words = [sys.executable, "-c", GARBAGE, f"tls://127.0.0.1:{free_port()}"]
    done = subprocess.run(words, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "ended\n", done.stderr


def test_no_job_waits_on_a_worker_that_has_one() -> None:
    """A worker that dies takes along what was given to it: one job for each of its threads."""
    with DaskPool(workers=2, task=tasks.grade) as local:
        given = []
        for _ in local.done([job(f"right {number}") for number in range(9)]):
            given.append(len(local._client.futures))
    assert max(given) <= 3, "two that run, and the one that has ended"


def started(*words: str) -> subprocess.Popen[bytes]:
    """A part of a cluster that is made by hand, as docs/grading.md does it."""
    return subprocess.Popen(
        [sys.executable, "-m", *words], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@contextlib.contextmanager
def running(*parts: subprocess.Popen[bytes]) -> Iterator[list[subprocess.Popen[bytes]]]:
    listed = list(parts)
    try:
        yield listed
    finally:
        for part in listed:
            part.kill()
            part.wait(timeout=20)


def scheduler(port: int) -> subprocess.Popen[bytes]:
    return started("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")


def worker(port: int) -> subprocess.Popen[bytes]:
    return started(
        "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny", "--no-dashboard",
        "--death-timeout", "60",
    )  # fmt: skip


def test_workers_and_scheduler_are_killed_and_the_report_is_the_same(tmp_path: Path) -> None:
    """A cluster by hand: after a third of the work a worker dies, after two thirds the scheduler with all it knows."""
    port = free_port()
    given = [submission(f"s{number:02}", f"{'right' if number % 4 else 'bad'} slow {number}") for number in range(36)]
    with running(scheduler(port), worker(port), worker(port)) as parts:
        steps: list[int] = []

        class Killer:
            def step(self, total: int) -> None:
                steps.append(total)
                if len(steps) == 12:
                    parts[1].send_signal(signal.SIGKILL)
                if len(steps) == 24:
                    parts[0].send_signal(signal.SIGKILL)
                    parts[2].send_signal(signal.SIGKILL)
                    threading.Thread(target=again).start()

            def end(self) -> None:
                pass

        def again() -> None:
            parts[0].wait()
            time.sleep(1.0)
            parts.extend((scheduler(port), worker(port)))

        run = grade_class(
            given, tmp_path / "killed", lambda: DaskPool(f"tcp://127.0.0.1:{port}", task=tasks.grade, patience=60.0),
            Scheme(), 1, progress=Killer(),
        )  # fmt: skip
    assert len(steps) == 36
    assert (run.graded, run.taken) == (36, 0)
    alone = grade_class(given, tmp_path / "alone", lambda: OneByOne(tasks.grade), Scheme(), 1)
    assert tables.report_json(run.rows) == tables.report_json(alone.rows)
    assert {status for _, status in summary(run.rows)} == {"passed", "wrong"}


def test_without_scheduler_or_workers_the_run_ends_with_a_sentence() -> None:
    port = free_port()
    with (
        pytest.raises(PoolError, match="No scheduler of Dask answers"),
        DaskPool(f"tcp://127.0.0.1:{port}", task=tasks.grade, patience=0.5),
    ):
        pass
    with (
        running(scheduler(port)),
        DaskPool(f"tcp://127.0.0.1:{port}", task=tasks.grade, patience=5.0) as empty,
        pytest.raises(PoolError, match="no worker for 5 seconds"),
    ):
        list(empty.done([job("right")]))


def test_a_cluster_that_only_loses_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a broken installation: workers come and go."""
    with DaskPool(workers=1, task=tasks.grade) as local:
        names, ticks = iter(range(10_000)), iter(range(10_000))
        clock = types.SimpleNamespace(monotonic=lambda: 2.0 * next(ticks))
        monkeypatch.setattr("gpulab.classroom.pool.time", clock)
        monkeypatch.setattr(local, "_threads", lambda: {f"worker {next(names)}": 0})
        with pytest.raises(PoolError, match="workers ended, one after the other"):
            list(local.done([job("right")]))


def test_a_worker_of_another_edition_ends_the_run() -> None:
    with DaskPool(workers=1, task=tasks.grade) as local, pytest.raises(PoolError, match="another edition"):
        list(local.done([job("edition")]))


def test_a_real_worker_refuses_another_edition() -> None:
    from dataclasses import asdict

    from gpulab.classroom.jobs import Unfit, grade

    with pytest.raises(Unfit):
        grade(asdict(job("x")))


def test_without_dask_one_core_grades_and_more_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    one = pool(task=tasks.grade)
    assert "pip install 'gpulab[class]'" in one.words
    with one:
        ends = by_answer(list(one.done([job("right"), job("raise")])))
    assert ends["right"].result == tasks.verdict("right")
    assert ends["raise"].problem == "RuntimeError: the tool is missing"
    for wish in ({"cluster": "tcp://127.0.0.1:1"}, {"workers": 2}):
        with pytest.raises(PoolError, match="needs Dask"):
            pool(**wish)
