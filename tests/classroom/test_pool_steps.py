"""What a pool does with what Dask says, with a scheduler that is written here: nothing runs elsewhere."""

from __future__ import annotations

import os
import queue
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import dask
import distributed
import pytest
from distributed.scheduler import KilledWorker

from gpulab import cores
from gpulab.classroom import jobs
from gpulab.classroom import pool as pools
from gpulab.classroom.jobs import Job, Unfit
from gpulab.classroom.pool import DaskPool, Done, OneByOne, PoolError, pool
from tests.classroom import tasks
from tests.classroom.tasks import job


class Future:
    """What a scheduler gives for a job: it ends as told, as soon as somebody waits for it."""

    def __init__(self, work: Mapping[str, Any], end: Any, status: str) -> None:
        self.work, self.end, self.status, self.released, self.asked = work, end, status, 0, 0.0

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        call(self)

    def result(self, timeout: float) -> Any:
        self.asked = timeout
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end

    def release(self) -> None:
        self.released += 1


class Client:
    """A scheduler with these workers; `ends` has what becomes of each answer, one after the other."""

    def __init__(self, workers: Mapping[str, int], ends: Mapping[str, Sequence[Any]]) -> None:
        self.workers, self.ends = dict(workers), {answer: list(each) for answer, each in ends.items()}
        self.status, self.given, self.keys, self.closed = "running", [], [], 0
        self.futures: list[Future] = []

    def nthreads(self) -> Mapping[str, int]:
        return self.workers

    def submit(self, task: Any, work: Mapping[str, Any], key: str, pure: bool) -> Future:
        assert not pure
        answer = work["answer"]
        self.given.append(answer)
        assert len(self.given) < 100, "it does not end"
        self.keys.append(key)
        left = self.ends.get(answer, [])
        end = left.pop(0) if left else {"of": answer}
        status = "finished"
        if isinstance(end, tuple):
            end, status = end
        elif isinstance(end, BaseException):
            status = "error"
        self.futures.append(Future(work, end, status))
        return self.futures[-1]

    def close(self, timeout: float) -> None:
        self.closed += 1


def killed() -> KilledWorker:
    return KilledWorker("key", types.SimpleNamespace(), 0)


class Ends(queue.Queue[Any]):
    """Nobody waits: what has not ended yet does not end while somebody waits for it."""

    asked = 0

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        assert block
        assert timeout is not None
        assert 0 < timeout < 1
        self.asked += 1
        assert self.asked < 10_000, "it does not end"
        return super().get(block=False)


def ready(client: Client, **more: Any) -> DaskPool:
    made = DaskPool("tcp://x:1", task=tasks.grade, **more)
    made._client, made._ends = client, Ends()

    def connect() -> None:
        raise AssertionError("there is a connection")

    made._connect = connect  # type: ignore[method-assign]
    return made


def ends(client: Client, *answers: str, **more: Any) -> list[Done]:
    return list(ready(client, **more).done([job(answer) for answer in answers]))


def test_jobs_are_given_out_in_order_under_names_of_their_own() -> None:
    client = Client({"a": 1, "b": 1}, {})
    found = ends(client, "one", "two", "three")
    assert found == [Done(job(answer), {"of": answer}) for answer in ("one", "two", "three")]
    assert client.given == ["one", "two", "three"]
    assert client.keys == [
        f"gpulab-{job(answer).key[:16]}-{number}-{os.getpid()}"
        for number, answer in enumerate(("one", "two", "three"), 1)
    ]
    assert [future.work for future in client.futures] == [asdict(job(each)) for each in ("one", "two", "three")]
    assert [future.released for future in client.futures] == [1, 1, 1]
    assert {future.asked for future in client.futures} == {15}
    assert ends(client) == []


def test_no_more_are_under_way_than_there_are_threads() -> None:
    """What has ended is told when its worker has the next job."""
    client = Client({"a": 2, "b": 1}, {})
    given = [len(client.given) for _ in ready(client).done([job(str(number)) for number in range(8)])]
    assert given == [4, 5, 6, 7, 8, 8, 8, 8]


def test_a_job_whose_worker_dies_is_tried_again_and_at_last_alone() -> None:
    client = Client({"a": 1, "b": 1}, {"x": [killed() for _ in range(5)]})
    found = ends(client, "x", "one", "two", "three")
    assert found[-1] == Done(job("x"), None, "the process that graded it died 3 times", True)
    assert sorted(done.job.answer for done in found) == ["one", "three", "two", "x"]
    # once more behind the others, then when nothing else is left
    assert client.given == ["x", "one", "two", "three", "x", "x"]
    assert all(future.released == 1 for future in client.futures)


def test_the_last_death_counts_where_nothing_else_ran() -> None:
    """Three deaths beside others say nothing: the others may have taken the worker with them."""
    made = ready(Client({}, {}))
    deaths: Any = pools.Counter()
    future = Future({}, killed(), "error")
    assert [made._end(future, job("x"), deaths, solo=False) for _ in range(4)] == [None] * 4
    assert made._end(future, job("x"), deaths, solo=True) == Done(
        job("x"), None, "the process that graded it died 5 times", True
    )
    deaths = pools.Counter()
    assert made._end(future, job("y"), deaths, solo=True) is None
    assert made._end(future, job("y"), deaths, solo=True) is None
    end = made._end(future, job("y"), deaths, solo=True)
    assert end is not None
    assert end.deadly
    # a scheduler that allows failures of its own has seen more workers die
    several = Future({}, KilledWorker("key", types.SimpleNamespace(), 2), "error")
    end = made._end(several, job("z"), pools.Counter(), solo=True)
    assert end is not None
    assert end.problem == "the process that graded it died 3 times"


@pytest.mark.parametrize(
    ("first", "wanted"),
    [
        ((None, "cancelled"), {"of": "x"}),  # the scheduler has lost it
        ((OSError("gone"), "finished"), {"of": "x"}),  # the result was lost with its worker
        ((OSError("gone"), "lost"), {"of": "x"}),
        (RuntimeError("no tool"), None),
    ],
)
def test_what_is_lost_runs_again_and_what_failed_does_not(first: Any, wanted: Any) -> None:
    client = Client({"a": 1}, {"x": [first]})
    (found,) = ends(client, "x")
    assert found == Done(job("x"), wanted, "" if wanted else "RuntimeError: no tool")
    assert client.given == (["x", "x"] if wanted else ["x"])
    assert client.futures[0].released == 1


def test_a_worker_that_must_not_grade_ends_the_run() -> None:
    client = Client({"a": 1}, {"x": [Unfit("it has another edition.")]})
    with pytest.raises(PoolError) as found:
        ends(client, "x")
    assert found.value.what == "A worker must not grade this: it has another edition."
    assert found.value.hint == "docs/grading.md"


def test_a_lost_connection_is_made_again_and_what_was_under_way_is_given_out_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Quiet(Client):
        """Its jobs never end, and after the second it is gone."""

        def submit(self, *words: Any, **more: Any) -> Future:
            future = super().submit(*words, **more)
            future.add_done_callback = lambda call: None  # type: ignore[method-assign]
            if len(self.given) == 2:
                self.status = "closed"
            return future

    first, second = Quiet({"a": 3}, {}), Client({"a": 1}, {})
    made = ready(first)

    def connect() -> None:
        made._client = second

    monkeypatch.setattr(made, "_connect", connect)
    found = list(made.done([job(each) for each in ("one", "two", "three")]))
    assert first.given == ["one", "two"], "nothing goes to a scheduler that is gone"
    assert first.closed == 1
    assert sorted(second.given[:2]) == ["one", "two"]
    assert second.given[2:] == ["three"]
    assert {done.job.answer for done in found} == {"one", "two", "three"}
    assert len(found) == 3


class Clock:
    def __init__(self, step: float) -> None:
        self.now, self.step, self.slept = 100.0, step, []

    def monotonic(self) -> float:
        self.now += self.step
        assert self.now < 10_000 or not self.step, "it does not end"
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_workers_that_come_and_go_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than ten, and three for each that is there."""
    monkeypatch.setattr(pools, "time", Clock(2.0))
    for present, most in ((1, 13), (2, 16)):
        client = Client({}, {})
        looks = []

        def threads(present: int = present, looks: list[int] = looks) -> dict[str, int]:
            looks.append(len(looks))
            return {f"{len(looks)}.{number}": 0 for number in range(present)}

        made = ready(client)
        monkeypatch.setattr(made, "_threads", threads)
        with pytest.raises(PoolError) as found:
            list(made.done([job("x")]))
        first = -(-(most + 1) // present) * present  # so many are gone when there are more
        assert found.value.what == (f"{first} workers ended, one after the other, and nothing was graded in that time.")
        assert "look at the log of a worker" in found.value.hint


def test_patience_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(2.0)
    monkeypatch.setattr(pools, "time", clock)
    with pytest.raises(PoolError) as found:
        ends(Client({}, {}), "x", patience=30.0)
    assert found.value.what == "There has been no worker for 30 seconds on the cluster tcp://x:1."
    assert 130 < clock.now < 140
    assert DaskPool()._patience == pools.PATIENCE == 300
    assert DaskPool(patience=0.0)._patience == 0.0


def test_a_scheduler_that_does_not_answer_has_no_workers() -> None:
    client = Client({"a": 2}, {})
    made = ready(client)
    assert made._threads() == {"a": 2}

    def breaks() -> Mapping[str, int]:
        raise TimeoutError

    client.nthreads = breaks  # type: ignore[method-assign]
    assert made._threads() == {}


# ------------------------------------------------------------------------------------------------- the way to Dask


def test_a_client_is_asked_for_until_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, float]] = []
    errors: list[BaseException] = [OSError("no\nroute"), TimeoutError(), AssertionError("slow to start")]

    def client(address: str, timeout: float, set_as_default: bool) -> str:
        assert not set_as_default
        asked.append((address, timeout))
        if errors:
            raise errors.pop(0)
        return "client"

    clock = Clock(0.0)
    monkeypatch.setattr(pools, "time", clock)
    monkeypatch.setattr(distributed, "Client", client)
    made = DaskPool("tcp://x:1", patience=40.0)
    made._connect()
    assert made._client == "client"
    assert asked == [("tcp://x:1", 10.0)] * 4
    assert clock.slept == [0.2, 0.2]

    errors[:] = [OSError("no\nroute")] * 100
    with pytest.raises(PoolError) as found:
        DaskPool("tcp://x:1", patience=1.0)._connect()
    assert (found.value.what, found.value.why) == ("No scheduler of Dask answers at tcp://x:1.", "no")
    assert asked[-1][1] == 1.0
    assert 93 <= len(errors) <= 95, "five waits of 0.2 s in a second, or six"
    errors[:] = [ValueError("bad address"), OSError()]
    with pytest.raises(PoolError, match="bad address"):
        DaskPool("tcp://x:1")._connect()
    assert len(errors) == 1, "an address that is none is not tried again"
    errors[:] = [ValueError()]
    with pytest.raises(PoolError, match="answers at the local cluster") as found:
        DaskPool()._connect()
    assert found.value.why == ""


def test_dask_has_four_tries_to_start() -> None:
    for failures in range(5):
        left = [AssertionError] * failures

        def make(left: list[type] = left) -> str:
            if left:
                raise left.pop()
            return "made"

        if failures < 4:
            assert pools._started(make) == "made"
        else:
            with pytest.raises(AssertionError):
                pools._started(make)


def test_the_local_cluster_and_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    closed: list[tuple[str, float]] = []

    class Part:
        def __init__(self, *words: Any, **settings: Any) -> None:
            made.append({"words": words, **settings})
            self.name = "client" if words else "cluster"

        def close(self, timeout: float) -> None:
            closed.append((self.name, timeout))
            raise OSError("it is gone")

    monkeypatch.setattr(distributed, "LocalCluster", Part)
    monkeypatch.setattr(distributed, "Client", Part)
    names = ("distributed.scheduler.allowed-failures", "distributed.worker.profile.enabled",
             "distributed.admin.tick.interval", "distributed.admin.system-monitor.interval",
             "distributed.scheduler.http.routes", "distributed.worker.http.routes")  # fmt: skip
    before = [dask.config.get(name) for name in names]
    with DaskPool(workers=3, task=tasks.grade) as one:
        assert [dask.config.get(name) for name in names] == [0, False, "1s", "10s", [], []]
        cluster, client = made
        assert {name: cluster[name] for name in ("n_workers", "threads_per_worker", "processes", "host", "security",
                                                 "dashboard_address", "memory_limit")} == {
            "n_workers": 3, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "security": True,
            "dashboard_address": "127.0.0.1:0", "memory_limit": 0,
        }  # fmt: skip
        assert client["words"] == (one._cluster,)
    assert closed == [("client", 5), ("cluster", 10)]
    assert [dask.config.get(name) for name in names] == before
    assert (one._client, one._cluster) == (None, None)
    made.clear()
    with DaskPool("tcp://x:1") as other:
        assert [each["words"] for each in made] == [("tcp://x:1",)], "no cluster of its own"
        assert other.words == "on the cluster tcp://x:1"
    monkeypatch.setattr(distributed, "Client", lambda *words, **more: 1 / 0)
    closed.clear()
    with pytest.raises(ZeroDivisionError), DaskPool(workers=1):
        pass
    assert closed == [("cluster", 10)]
    assert [dask.config.get(name) for name in names] == before


def test_where_jobs_run_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "usable", lambda: 6)
    assert DaskPool(workers=1).words == "on this machine with 1 process"
    assert DaskPool(workers=2).words == "on this machine with 2 processes"
    assert DaskPool().words == "on this machine with 6 processes"
    made = pool("tcp://x:1", 2, tasks.grade)
    assert isinstance(made, DaskPool)
    assert (made._address, made._workers, made._task) == ("tcp://x:1", 2, tasks.grade)


def test_without_dask_one_process_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    assert isinstance(pool(workers=1), OneByOne)
    with pytest.raises(PoolError):
        pool(workers=2)
    with pytest.raises(PoolError):
        pool("tcp://x:1")


def test_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    monkeypatch.setattr(jobs, "close", lambda: closed.append(1))

    def task(work: Mapping[str, Any]) -> dict[str, Any]:
        if work["answer"] == "bad":
            raise ValueError("two\n  lines " + "x" * 400)
        if work["answer"] == "unfit":
            raise Unfit("no")
        return {"of": work["answer"]}

    with OneByOne(task) as one:
        found = list(one.done([job("a"), job("bad"), job("b")]))
        assert closed == []
        with pytest.raises(PoolError, match="must not grade this: no"):
            list(one.done([Job("first-fill", "unfit", 1, "v")]))
    assert closed == [1]
    assert [done.result for done in found] == [{"of": "a"}, None, {"of": "b"}]
    assert found[1].problem == "ValueError: " + ("two lines " + "x" * 400)[:300]
    assert not found[1].deadly


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_rests_while_dask_starts(enabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    collector = types.SimpleNamespace(
        isenabled=lambda: enabled, collect=lambda: calls.append("collect"), disable=lambda: calls.append("disable"),
        enable=lambda: calls.append("enable"),
    )  # fmt: skip
    monkeypatch.setattr(pools, "gc", collector)
    with pytest.raises(ZeroDivisionError), pools._without_collection():
        assert calls == ["collect", "disable"]
        raise ZeroDivisionError
    assert calls == ["collect", "disable", *(["enable"] if enabled else [])]
