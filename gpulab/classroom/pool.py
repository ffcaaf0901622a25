"""Where jobs run: one after the other in this process, on Dask's local cluster, or on a scheduler that exists.

Each pool takes jobs and yields a `Done` for each, once, in any order. Workers may die, machines vanish, the scheduler
start again: what was under way is given out anew. A job that was alone on its worker when it died, and that took three
workers with it, is done with a problem. A cluster that loses workers without finishing anything is given up.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import queue
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Protocol

from gpulab import cores
from gpulab.classroom import jobs
from gpulab.classroom.jobs import Job, Plain, Unfit
from gpulab.errors import GpulabError

DEATHS = 3
"""Workers that a job may take with it."""

PATIENCE = 300.0
"""Seconds without any worker, or without the scheduler, after which a run is given up."""

Task = Callable[[Mapping[str, Any]], Plain]


class PoolError(GpulabError):
    """The machines that should grade are not there, or are not fit for it. What is done is kept."""


@dataclass(frozen=True)
class Done:
    """A job's end: its verdict as plain data, or why there is none.

    Args:
        deadly: its worker died of it, again and again.
    """

    job: Job
    result: Plain | None
    problem: str = ""
    deadly: bool = False


class Pool(Protocol):
    """Runs jobs. `words` says where, for people."""

    @property
    def words(self) -> str: ...

    def done(self, work: Sequence[Job]) -> Iterator[Done]:
        """Each job's end, as it comes. Raises PoolError if no more can be done."""
        ...

    def __enter__(self) -> Pool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def pool(cluster: str = "", workers: int = 0, task: Task = jobs.grade) -> Pool:
    """The pool for these wishes.

    Args:
        cluster: the address of a scheduler ("tcp://host:8786"), or "" for this machine.
        workers: processes on this machine; 0: one for each core.
        task: what grades a job.

    Raises PoolError if Dask is needed and not installed.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        if cluster or workers > 1:
            raise PoolError(
                "Grading on several cores or machines needs Dask, which is not installed here.",
                hint="pip install 'gpulab[class]'; or leave out --cluster and --workers, and grade on one core.",
            ) from None
        return OneByOne(task)
    return DaskPool(cluster, workers, task)


class OneByOne:
    """A plain loop in this process."""

    words = "one after the other on one core (pip install 'gpulab[class]' uses them all)"

    def __init__(self, task: Task = jobs.grade) -> None:
        self._task = task

    def __enter__(self) -> OneByOne:
        return self

    def __exit__(self, *exception: object) -> None:
        jobs.close()

    def done(self, work: Sequence[Job]) -> Iterator[Done]:
        for job in work:
            try:
                result = self._task(asdict(job))
            except Unfit as error:
                raise _unfit(error) from None
            except Exception as error:
                yield Done(job, None, _problem(error))
            else:
                yield Done(job, result)


def _unfit(error: Unfit) -> PoolError:
    return PoolError(f"A worker must not grade this: {error}.".replace("..", "."), hint="docs/grading.md")


def _problem(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Python's garbage collector runs before, and not within.

    A client of Dask that could not connect is garbage in a cycle, and closes itself when it is collected. That takes
    a lock which Dask holds while it starts or stops a loop: collected then, in whichever thread, it waits forever.
    """
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _started(make: Callable[[], Any]) -> Any:
    """What `make` makes. Dask gives a thread of its own ten seconds to start, too few on a very busy machine."""
    with _without_collection():
        for _ in range(3):
            with contextlib.suppress(AssertionError):
                return make()
        return make()


@contextlib.contextmanager
def _deaf_to_the_keyboard() -> Iterator[None]:
    """Processes that are started within do not hear Ctrl-C: it is for the run, which ends them without their pages of
    words about it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class DaskPool:
    """Workers of Dask: a local cluster that lives as long as the pool, or those of a scheduler.

    The local cluster speaks TLS with certificates made for it: others on the machine cannot give it work.
    """

    def __init__(
        self, address: str = "", workers: int = 0, task: Task = jobs.grade, patience: float | None = None
    ) -> None:
        self._address, self._workers, self._task = address, workers or cores.usable(), task
        self._patience = PATIENCE if patience is None else patience
        self._cluster: Any = None
        self._client: Any = None
        self._ends: queue.Queue[Any] = queue.Queue()
        self._stack = contextlib.ExitStack()

    @property
    def words(self) -> str:
        if self._address:
            return f"on the cluster {self._address}"
        return f"on this machine with {self._workers} {'process' if self._workers == 1 else 'processes'}"

    def __enter__(self) -> DaskPool:
        import dask
        import distributed

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._stack.enter_context(
            dask.config.set(
                {
                    "distributed.scheduler.allowed-failures": 0,
                    "distributed.scheduler.http.routes": [],
                    "distributed.worker.http.routes": [],
                    # Dask's own watching takes a twentieth of a core that graders need.
                    "distributed.worker.profile.enabled": False,
                    "distributed.admin.tick.interval": "1s",
                    "distributed.admin.system-monitor.interval": "10s",
                }
            )
        )
        if not self._address:
            with _deaf_to_the_keyboard():
                self._cluster = _started(
                    lambda: distributed.LocalCluster(
                        n_workers=self._workers,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        security=True,
                        dashboard_address="127.0.0.1:0",
                        memory_limit=0,  # a worker holds little; the graders that it starts have limits of their own
                        silence_logs=logging.CRITICAL,
                    )
                )
        try:
            self._connect()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._disconnect()
        if self._cluster is not None:
            with contextlib.suppress(Exception), _without_collection():
                self._cluster.close(timeout=10)
            self._cluster = None
        self._stack.close()

    def _disconnect(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception), _without_collection():
                self._client.close(timeout=5)
            self._client = None

    def _connect(self) -> None:
        """A client, as soon as the scheduler answers. Raises PoolError when patience ends."""
        import distributed

        until = time.monotonic() + self._patience
        while True:
            try:
                self._client = _started(
                    lambda: distributed.Client(
                        self._address or self._cluster, timeout=min(10.0, self._patience), set_as_default=False
                    )
                )
                return
            except (OSError, TimeoutError, ValueError) as error:
                if isinstance(error, ValueError) or time.monotonic() > until:
                    raise PoolError(
                        f"No scheduler of Dask answers at {self._address or 'the local cluster'}.",
                        why=str(error).splitlines()[0] if str(error) else "",
                        hint="what is done is kept: the same command goes on from there.",
                    ) from None
                time.sleep(0.2)

    def _threads(self) -> dict[str, int]:
        """The workers and their threads; none if the scheduler does not answer."""
        try:
            return dict(self._client.nthreads())
        except Exception:
            return {}

    def done(self, work: Sequence[Job]) -> Iterator[Done]:
        waiting, alone = deque(work), deque[Job]()
        flying: dict[Any, Job] = {}
        deaths: Counter[str] = Counter()
        known: dict[str, int] = {}
        lost = number = 0
        seen = looked = time.monotonic()
        ended: Done | None = None  # it is given out when its worker has the next job
        while waiting or alone or flying or ended:
            now = time.monotonic()
            if self._client.status not in ("running", "connecting"):
                self._disconnect()
                self._connect()
                waiting.extendleft(flying.values())
                flying.clear()
            if now - looked > 1.0 or not known:
                current = self._threads()
                lost += len(known.keys() - current.keys())
                known, looked = current, now
                if current:
                    seen = now
                elif now - seen > self._patience:
                    raise PoolError(
                        f"There has been no worker for {self._patience:g} seconds {self.words}.",
                        hint="start workers (docs/grading.md); the same command then goes on from there.",
                    )
                if lost > 10 + 3 * len(current):
                    raise PoolError(
                        f"{lost} workers ended, one after the other, and nothing was graded in that time.",
                        hint="look at the log of a worker. What is done is kept: the same command goes on from there.",
                    )
            room = sum(known.values()) - len(flying)
            while (
                known
                and self._client.status == "running"
                and ((waiting and room > 0) or (alone and not waiting and not flying))
            ):
                job = waiting.popleft() if waiting else alone.popleft()
                number += 1
                room -= 1
                future = self._client.submit(
                    self._task, asdict(job), key=f"gpulab-{job.key[:16]}-{number}-{os.getpid()}", pure=False
                )
                flying[future] = job
                future.add_done_callback(self._ends.put)
            if ended is not None:
                yield ended
                ended = None
                continue
            try:
                future = self._ends.get(timeout=0.25)
            except queue.Empty:
                continue
            found = flying.pop(future, None)
            if found is None:
                continue  # of a connection that is gone
            end = self._end(future, found, deaths, solo=not flying)
            if end is not None:
                lost = 0
                ended = end
            elif deaths[found.key] > 1:
                alone.append(found)
            else:
                waiting.append(found)

    def _end(self, future: Any, job: Job, deaths: Counter[str], solo: bool) -> Done | None:
        """How a job ended; None if it is to run again."""
        from distributed.scheduler import KilledWorker

        try:
            if future.status == "cancelled":  # the scheduler was lost, with all that it knew
                return None
            return Done(job, dict(future.result(timeout=15)))
        except KilledWorker as error:
            deaths[job.key] += error.allowed_failures + 1
            if deaths[job.key] < DEATHS or not solo:
                return None
            return Done(job, None, f"the process that graded it died {deaths[job.key]} times", deadly=True)
        except Unfit as error:
            raise _unfit(error) from None
        except Exception as error:
            if future.status == "error":
                return Done(job, None, _problem(error))
            return None  # the worker that held the result died before it was fetched: graded again
        finally:
            with contextlib.suppress(Exception):
                future.release()
