"""gpulab's public functions on a third provider, which nothing in gpulab knows of: the toy, beside the virtual GPUs."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np
import pytest

import gpulab
from gpulab import doctor, errors
from gpulab.providers import registry
from gpulab.toolchain import CodeObject, KernelSignature
from gpulab.toolchain.code_object import Parameter
from tests.providers import toy

MEMBERS = {**registry.MEMBERS, "toy": "tests.providers.toy"}


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[gpulab.Module]:
    """The toy is in use; a module for it."""
    monkeypatch.setattr(registry, "_registry", registry.Registry(MEMBERS))
    pointer = [("x", "const float *"), ("y", "float *")]
    saxpy = KernelSignature(
        "saxpy",
        "saxpy",
        (
            Parameter("n", "int", "value", 4, "int32", 0),
            Parameter("a", "float", "value", 4, "float32", 4),
            *(Parameter(name, kind, "pointer", 8, "float32", 8 + 8 * i) for i, (name, kind) in enumerate(pointer)),
        ),
    )
    unguarded = KernelSignature("unguarded", "unguarded", (Parameter("x", "float *", "pointer", 8, "float32", 0),))
    kernels = {signature.symbol: signature for signature in (saxpy, unguarded)}
    code = CodeObject(
        arch=toy.ARCH, elf=toy.CODE, assembly="", source="", name="toy", kernels=kernels, format="toy"
    )  # fmt: skip
    with gpulab.using("toy1"):
        yield gpulab.Module(code)


def arrays(n: int) -> tuple[gpulab.DeviceArray, gpulab.DeviceArray]:
    return gpulab.to_device(np.arange(n, dtype=np.float32)), gpulab.to_device(np.ones(n, dtype=np.float32))


def test_its_device_stands_behind_the_others(toys: gpulab.Module) -> None:
    found = gpulab.devices()
    info = gpulab.device()
    assert (info.index, info.name, info.arch, info.wave_size, info.provider) == (2, "Toy 1000", "toy1", 32, "toy")
    assert [device.arch for device in found][:2] == ["gfx942", "gfx1100"]
    row = str(found).splitlines()[-1]
    assert "Toy 1000" in row
    assert row.endswith("in use")
    assert gpulab.use("toy:0").index == gpulab.use(2).index == 2
    with gpulab.using("virtual:gfx1100") as other:
        assert (other.index, gpulab.device().arch) == (1, "gfx1100")
    assert gpulab.device().arch == "toy1"


def test_memory_and_a_launch(toys: gpulab.Module) -> None:
    x, y = arrays(1000)
    before = gpulab.memory_info()
    assert (before.total, before.used) == (toy.MEMORY, 8000)
    toys.saxpy[4, 256](1000, 2.0, x, y)
    assert (y.to_host() == 2 * np.arange(1000) + 1).all()
    zero = gpulab.zeros(1000)
    assert (zero.to_host() == 0).all()
    assert (zero.copy_from(y).to_host() == y.to_host()).all()
    zero.free()
    pinned = gpulab.pinned(1000)
    assert (y.to_host(pinned) == pinned).all()
    with pytest.raises(errors.DeviceMemoryError, match="TOY_FULL"):
        gpulab.zeros(toy.MEMORY)


def test_arrays_stay_with_the_device_that_holds_them(toys: gpulab.Module) -> None:
    _, y = arrays(10)
    with gpulab.using("gfx942"):
        assert (y.to_host() == 1).all()
        there = gpulab.to_device(np.zeros(10, np.float32))
        with pytest.raises(errors.DeviceMemoryError, match="by way of the host"):
            there.copy_from(y)
        y.free()
    assert (there.to_host() == 0).all()
    assert gpulab.memory_info().used == 40


def test_code_of_one_provider_is_not_given_to_another(toys: gpulab.Module) -> None:
    x, y = arrays(10)
    hip = gpulab.compile("__global__ void k(float* x) { x[0] = 1; }", arch="gfx942")
    with pytest.raises(gpulab.LaunchError, match="compiled for gfx942"):
        hip.k[1, 1](x)
    with gpulab.using("gfx942"), pytest.raises(gpulab.LaunchError, match="compiled for toy1"):
        toys.saxpy[1, 64](10, 2.0, gpulab.zeros(10), gpulab.zeros(10))
    with pytest.raises(gpulab.LaunchLimitError, match="at most 256"):
        toys.saxpy[1, 512](10, 2.0, x, y)


def test_streams_and_events_have_its_own_clock(toys: gpulab.Module) -> None:
    x, y = arrays(500)
    start, stop = gpulab.Event(), gpulab.Event()
    with gpulab.Stream() as stream:
        start.record(stream)
        toys.saxpy[2, 250, 0, stream](500, 2.0, x, y)
        stop.record(stream)
        assert stop.elapsed_ms(start) == pytest.approx(0.5)  # a microsecond for each thread


def test_its_clock_is_read_a_hundred_times_after_a_warm_up(
    toys: gpulab.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the host's clock moves it by 100 ms; 250 ms are to be warmed up. There the host waits for each run:
    a kernel that takes long would else be put into the stream without an end."""
    looks = itertools.count(7.0, 0.1)
    monkeypatch.setattr(time, "perf_counter", lambda: next(looks))
    x, y = arrays(500)
    launches = itertools.count(1)
    order: list[str] = []
    waits = toy.Toy.synchronize
    monkeypatch.setattr(toy.Toy, "synchronize", lambda self: (order.append("wait"), waits(self))[1])

    def work() -> None:
        order.append("work")
        toys.saxpy[2, 250](500 - next(launches), 2.0, x, y)

    measured = gpulab.measure(work)
    assert (measured.modelled, measured.warm_up, len(measured.times_us), next(launches)) == (False, 2, 100, 103)
    assert measured.times_us == pytest.approx([500.0] * 100)  # a microsecond for each thread
    assert str(measured) == (
        "median 500.00 µs, 95 % interval 500.00 to 500.00, 80 % of the runs 500.00 to 500.00 "
        "(100 runs after 2 to warm up)"
    )
    assert order[:4] == ["work", "wait", "work", "wait"]
    assert gpulab.measure(work, 1, warm_up_ms=0).warm_up == 0


def test_a_profile_has_what_it_counts(toys: gpulab.Module) -> None:
    x, y = arrays(500)
    with gpulab.profile("toy_threads") as run:
        toys.saxpy[2, 256](500, 2.0, x, y)
        toys.saxpy[1, 256](200, 2.0, x, y)
    assert run.counters["toy_threads"] == 768
    assert [launch.device for launch in run] == [2, 2]
    assert run[0].time_us == pytest.approx(512)
    assert [(a.device, a.launch, round(a.us)) for a in run.activities] == [(2, 0, 512), (2, 1, 256)]
    table = str(run.table())
    assert all(word in table for word in ("toy_threads", "768", "measured", "threads that ran"))
    assert "saxpy" in str(run)
    assert "no cost by line" in str(run.lines())
    with pytest.raises(errors.CounterNotFound, match="the toy cannot give SQ_WAVES"):  # noqa: SIM117
        with gpulab.profile("SQ_WAVES"):
            pytest.fail("the block ran")


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (lambda kernel, x: gpulab.trace(kernel, 1, 64, 10, 2.0, x, x), "Toy 1000 cannot be traced"),
        (lambda kernel, x: gpulab.checked().__enter__(), "Toy 1000 cannot run checked launches"),
        (lambda kernel, x: kernel.cooperative[1, 64](10, 2.0, x, x), "Toy 1000 cannot run cooperative launches"),
    ],
    ids=["trace", "checked", "cooperative"],
)
def test_what_it_lacks_is_said_with_its_own_reason(toys: gpulab.Module, what, words: str) -> None:
    capability = {"traced": "trace", "checked": "checked"}.get(words.split()[4], "cooperative")
    with pytest.raises(errors.CapabilityError, match=words) as caught:
        what(toys.saxpy, gpulab.zeros(10))
    assert toy.Toy.lacks[capability] in str(caught.value)
    assert 'gpulab.use("virtual:gfx942")' in str(caught.value)


def test_occupancy_is_what_its_library_says(toys: gpulab.Module) -> None:
    found = toys.saxpy.occupancy(128)
    assert (found.blocks, found.waves, found.max_waves, found.limit) == (4, 16, 16, "")


def test_errors_are_its_own(toys: gpulab.Module) -> None:
    toys.unguarded[1, 64](gpulab.zeros(10))
    with pytest.raises(gpulab.KernelFault, match="unguarded: 4 bytes at"):
        gpulab.synchronize()
    gpulab.synchronize()
    with pytest.raises(errors.KernelNotFound):
        toys.variable("factor")
    gpulab.set_limit(1 << 40)  # of the virtual devices
    gpulab.set_limit(None)


def test_doctor_names_it(toys: gpulab.Module) -> None:
    said = "\n".join(str(finding) for finding in doctor._library())
    assert "the toy GPU" in said
    assert "toy 1, by Python" in said
    [found] = [finding for finding in doctor._devices() if "Toy 1000" in finding.part]
    assert (found.works, found.advice) == (True, "")
    assert found.said == "holds the right numbers; no language here makes code for it"


def test_what_no_compiler_here_makes_code_for(toys: gpulab.Module) -> None:
    with pytest.raises(errors.CapabilityError, match=r"gpulab has no compiler for Toy 1000 \(toy1\)"):
        gpulab.compile("__global__ void k() {}")
    assert gpulab.compile("__global__ void k() {}", arch="gfx942").arch == "gfx942"


def test_it_can_be_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULAB_LIBRARY", "toy")
    found = registry.Registry(MEMBERS)
    assert found.names() == ("toy",)
    assert found.states()["virtual"] == "not looked for: GPULAB_LIBRARY=toy"
    assert (found.current(), found.devices()[0].arch) == (0, "toy1")
