"""How many cores are used: the system's limit, the setting, and graders, which have one each."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpulab import cores
from gpulab.grading import remote


def in_process(code, **environment):
    out = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return out.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot bind a process to cores")
def test_cores_that_the_system_withholds_do_not_count():
    bind = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code = f"{bind}; from gpulab import cores; print(cores.usable())"
    assert in_process(code) == "1"


@pytest.mark.parametrize(
    ("wanted", "found"), [("1", 1), ("2", 2), ("4", 4), ("9", 4), ("0", 1), ("", 4), ("many", 4), ("-1", 4)]
)
def test_the_setting_is_a_limit_on_what_the_system_gives(monkeypatch, wanted, found):
    monkeypatch.setenv("GPULAB_CORES", wanted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5, 6}, raising=False)
    assert cores.usable() == found


def test_without_affinity_the_machine_says(monkeypatch):
    monkeypatch.delenv("GPULAB_CORES", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores.usable() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores.usable() == 1


def test_work_beside_has_a_thread_of_its_own_on_two_cores_and_the_callers_on_one(monkeypatch):
    monkeypatch.setattr(cores, "usable", lambda: 2)
    with cores.beside(1) as threads:
        assert threads.submit(threading.get_ident).result() != threading.get_ident()
    monkeypatch.setattr(cores, "usable", lambda: 1)
    with cores.beside(3) as threads:
        done = threads.submit(lambda number, more: (threading.get_ident(), number + more), 4, more=5)
        assert done.done()
        assert done.result() == (threading.get_ident(), 9)
        with pytest.raises(ZeroDivisionError):
            threads.submit(lambda: 1 // 0).result()


def test_never_more_threads_than_cores(monkeypatch):
    """Of eight pieces of work on two cores, no three are under way at the same time."""
    monkeypatch.setattr(cores, "usable", lambda: 2)
    under_way, most, lock = 0, 0, threading.Lock()

    def work():
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        threading.Event().wait(0.02)
        with lock:
            under_way -= 1

    with cores.beside(8) as threads:
        for each in [threads.submit(work) for _ in range(8)]:
            each.result()
    assert most == 2


def test_a_grader_takes_one_core(tmp_path):
    assert remote.environment(Path(tmp_path))["GPULAB_CORES"] == "1"


@pytest.mark.parametrize("number", sorted({1, cores.usable()}))
def test_a_launch_takes_as_many_threads_as_there_are_cores(number):
    code = (
        "import gpulab\nfrom gpulab.virtual_gpu.machine import device\n"
        "made = []\nreal = device.ThreadPoolExecutor\n"
        "device.ThreadPoolExecutor = lambda *each, **more: made.append(each) or real(*each, **more)\n"
        "source = 'extern \"C\" __global__ void fill(int* x) { x[blockIdx.x * 256 + threadIdx.x] = 1; }'\n"
        "gpulab.compile(source).fill[512, 256](gpulab.empty(512 * 256, 'int32'))\n"
        "gpulab.synchronize()\nprint(made)"
    )
    found = in_process(code, GPULAB_CORES=str(number), GPULAB_LIBRARY="virtual")
    assert found == ("[]" if number == 1 else f"[({number},)]")
