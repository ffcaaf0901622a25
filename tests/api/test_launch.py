"""Compile and launch through the public interface, on both virtual devices; what is refused, and how faults come."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest

import gpulab
from gpulab import ArgumentError, KernelNotFound, LaunchError, LaunchLimitError

SOURCE = """
__constant__ float table[4];
__device__ int total;
template <typename T> __global__ void scale(int n, T a, T* x) { int i = threadIdx.x; if (i < n) x[i] *= a; }
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void unguarded(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }
__global__ void where(int* out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block * 1000 + thread;
}
__global__ void reverse(int* x) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
__global__ void fixed(int* x) {
    __shared__ int tile[1024];
    tile[threadIdx.x] = x[0];
    __syncthreads();
    x[threadIdx.x] = tile[0];
}
__global__ __launch_bounds__(128) void bounded(int* x) { x[threadIdx.x] = 1; }
__global__ void forever(int* x) { while (true) atomicAdd(x, 1); }
__global__ void trap(int* x) { if (x[0] == 0) __builtin_trap(); }
__global__ void lookup(float* x) { x[threadIdx.x] = table[threadIdx.x]; }
__global__ void count() { atomicAdd(&total, 1); }
struct Settings { int n; float a; };
__global__ void fields(Settings s, float4 v, bool b, signed char c, double* out) {
    out[0] = s.n; out[1] = s.a; out[2] = v.x; out[3] = v.w; out[4] = b; out[5] = c;
}
"""
LINE_OF_UNGUARDED = next(i for i, line in enumerate(SOURCE.split("\n"), 1) if "void unguarded" in line)


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request: pytest.FixtureRequest) -> Iterator[gpulab.Module]:
    with gpulab.using(f"virtual:{request.param}"):
        yield gpulab.compile(SOURCE, name_expressions=["scale<float>", "scale<int>"])


def test_saxpy(module: gpulab.Module) -> None:
    x = np.random.default_rng(7).uniform(-1, 1, 1000).astype("float32")
    y = np.arange(1000, dtype="float32")
    device_y = gpulab.to_device(y)
    module["saxpy"][4, 256](1000, 2.0, gpulab.to_device(x), device_y)
    # 2x is exact, so a fused and an unfused multiply-add agree
    assert (device_y.to_host() == np.float32(2) * x + y).all()


def test_integers_and_numpy_scalars_as_sizes_and_arguments(module: gpulab.Module) -> None:
    x, y = gpulab.to_device(np.ones(10, "float32")), gpulab.zeros(10)
    module.saxpy[np.int64(1), (np.int32(64),)](np.int16(10), 3, x, y)
    module.saxpy[[1], [64]](10, np.float64(3), x, y)
    assert (y.to_host() == 6).all()


@pytest.mark.parametrize(("grid", "block"), [((2, 3, 4), (4, 2, 8)), ((5,), (3, 5)), (7, (1, 1, 9)), ((1, 4), 33)])
def test_grids_and_blocks_of_up_to_three_axes(module: gpulab.Module, grid: object, block: object) -> None:
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    out = gpulab.zeros(blocks * threads, "int32")
    module["where"][grid, block](out)
    expected = [b * 1000 + t for b in range(blocks) for t in range(threads)]
    assert out.to_host().tolist() == expected


def test_dynamic_lds(module: gpulab.Module) -> None:
    x = gpulab.to_device(np.arange(100, dtype="int32"))
    module.reverse[1, 100, 400](x)
    assert x.to_host().tolist() == list(range(99, -1, -1))


def test_streams_and_events(module: gpulab.Module) -> None:
    x, y = gpulab.to_device(np.ones(256, "float32")), gpulab.zeros(256)
    with gpulab.Stream() as stream:
        start = gpulab.Event()
        assert repr(start) == "Event(not recorded)"
        assert start.record(stream) is start
        assert repr(start) == "Event(recorded)"
        module.saxpy[1, 256, 0, stream](256, 1.0, x, y)
        stop = gpulab.Event().record(stream)
        assert stop.elapsed_ms(start) > 0
    assert (y.to_host() == 1).all()
    with pytest.raises(gpulab.GpulabError, match="destroyed"):
        module.saxpy[1, 256, 0, stream](256, 1.0, x, y)
    with pytest.raises(gpulab.GpulabError, match="never recorded"):
        gpulab.Event().elapsed_ms(start)


def test_structures_and_small_values(module: gpulab.Module) -> None:
    settings = np.array((3, 0.5), dtype=[("n", "i4"), ("a", "f4")])[()]
    out = gpulab.zeros(6, "float64")
    module.fields[1, 1](settings, (1.5, 0, 0, 2.5), True, -7, out)
    assert out.to_host().tolist() == [3, 0.5, 1.5, 2.5, 1, -7]


def test_variables_of_a_module(module: gpulab.Module) -> None:
    module.variable("table", "float32").copy_from(np.array([4, 3, 2, 1], "float32"))
    out = gpulab.zeros(4)
    module.lookup[1, 4](out)
    assert out.to_host().tolist() == [4, 3, 2, 1]
    total = module.variable("total", "int32").copy_from(np.zeros(1, "int32"))
    module.count[3, 64]()
    assert total.to_host().tolist() == [192]
    with pytest.raises(KernelNotFound, match="no variable named tabel"):
        module.variable("tabel")


def test_instances_of_templates(module: gpulab.Module) -> None:
    x = gpulab.to_device(np.array([1, 2, 3], "int32"))
    module["scale<int>"][1, 64](3, 5, x)
    assert x.to_host().tolist() == [5, 10, 15]
    with pytest.raises(KernelNotFound, match="2 kernels named scale"):
        module["scale"]


def test_names(module: gpulab.Module) -> None:
    assert module.saxpy is module["saxpy"]
    assert "saxpy" in module
    assert "saxpi" not in module
    assert not hasattr(module, "saxpi")
    assert "saxpy" in dir(module)
    assert str(module["saxpy"].signature) == "saxpy(int n, float a, const float *x, float *y)"
    with pytest.raises(KernelNotFound, match="did you mean saxpy"):
        module["saxpi"]
    with pytest.raises(KeyError):
        module["saxpi"]
    with pytest.raises(AttributeError):
        _ = module.saxpi


def test_what_the_compiler_says_of_a_kernel(module: gpulab.Module) -> None:
    kernel = module.fixed
    assert kernel.lds_bytes == 4096
    assert module.saxpy.lds_bytes == kernel.scratch_bytes == 0
    assert 0 < module.saxpy.vgprs <= 32
    assert 0 < module.saxpy.sgprs <= 106
    assert kernel.arch == gpulab.device().arch
    load = "global_load_dword" if kernel.arch == "gfx942" else "global_load_b32"
    assert module.saxpy.isa.count(load) == 2
    assert "s_endpgm" in module.saxpy.isa
    text = str(module.saxpy.isa)
    assert "if (i < n) y[i] = a * x[i] + y[i];" in text


def test_occupancy(module: gpulab.Module) -> None:
    """Few registers: first the wave slots of a unit limit (32 on a CU, 64 on a WGP), then LDS."""
    slots = 32 if gpulab.device().arch == "gfx942" else 64
    per_block = 256 // gpulab.device().wave_size
    free = module.saxpy.occupancy(256)
    assert (free.waves, free.max_waves, free.fraction) == (slots, slots, 1.0)
    assert free.blocks == slots // per_block
    assert free.limit == "wave slots"
    full = module.reverse.occupancy(block=(16, 16), dynamic_lds_bytes=40_000)
    # LDS in granules: 64 KiB / 40,448 bytes on a CU, 128 KiB / 40,960 bytes on a WGP
    assert full.blocks == (1 if slots == 32 else 3)
    assert full.waves == full.blocks * per_block
    assert full.limit == "LDS"
    assert str(full).endswith("limited by LDS")


def test_a_code_object_travels_as_bytes(module: gpulab.Module) -> None:
    again = gpulab.load(module.elf)
    y = gpulab.zeros(8)
    again.saxpy[1, 64](8, 2.0, gpulab.to_device(np.ones(8, "float32")), y)
    assert (y.to_host() == 2).all()
    assert again.source == module.source


# ---- refused launches


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((1, 0), "the block is 0; it must be at least 1"),
        ((0, 1), "launch only if n > 0"),
        ((-2, 1), "the grid is -2"),
        ((1, (8, -1)), "the block's y is -1"),
        ((1.5, 1), "divide with //"),
        ((4.0, 1), "divide with //"),
        ((1, "64"), "must be a whole number, not '64'"),
        ((True, 1), "must be a whole number"),
        ((1, (1, 1, 1, 1)), "there are three axes at most"),
        ((1, ()), "0 extents"),
        (((1, 2**33), 1), "the limit is"),
        ((4,), "has 1 part"),
        ((1, 2, 3, None, 5), "has 5 parts"),
        ((1, 1, -4), "dynamic_lds_bytes"),
        ((1, 1, "x"), "dynamic_lds_bytes"),
        ((1, 1, 0, "stream"), "gpulab.Stream()"),
    ],
)
def test_sizes_that_make_no_sense(module: gpulab.Module, sizes: tuple, said: str) -> None:
    with pytest.raises(LaunchLimitError) as error:
        module.saxpy[sizes]
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("name", "sizes", "value", "limit"),
    [
        ("where", (1, 1025), "1,025", "1,024"),
        ("where", (1, (32, 33)), "1,056", "1,024"),
        ("where", (1, (1, 1, 1025)), "1,025", "1,024"),
        ("bounded", (1, 129), "129", "128"),
        ("reverse", (1, 64, 65_537), "65,537", "65,536"),
        ("fixed", (1, 64, 61_441), "65,537", "65,536"),
    ],
)
def test_sizes_beyond_the_device(module: gpulab.Module, name: str, sizes: tuple, value: str, limit: str) -> None:
    """The message gives the value and the limit; nothing of the kernel has run."""
    out = gpulab.zeros(2048, "int32")
    with pytest.raises(LaunchLimitError) as error:
        module[name][sizes](out)
    assert value in str(error.value)
    assert limit in str(error.value)
    assert (out.to_host() == 0).all()


def test_the_largest_sizes_are_allowed(module: gpulab.Module) -> None:
    out = gpulab.zeros(1024, "int32")
    module["where"][1, (32, 32)](out)
    assert out.to_host()[-1] == 1023
    module.reverse[1, 1024, 65_536](out)
    assert out.to_host()[0] == 1023


def test_a_kernel_without_sizes(module: gpulab.Module) -> None:
    with pytest.raises(LaunchError, match=r"saxpy\[\(n \+ 255\) // 256, 256\]"):
        module.saxpy(1, 2.0, None, None)


def test_arguments_are_checked_before_the_launch(module: gpulab.Module) -> None:
    with pytest.raises(ArgumentError, match="missing: a"):
        module.saxpy[1, 64](8, gpulab.zeros(8), gpulab.zeros(8))


def test_code_for_another_architecture(module: gpulab.Module) -> None:
    other = "gfx1100" if module.arch == "gfx942" else "gfx942"
    with gpulab.using(f"virtual:{other}"), pytest.raises(LaunchError) as error:
        module.count[1, 1]()
    assert f"compiled for {module.arch}" in str(error.value)
    assert f'gpulab.use("{module.arch}")' in str(error.value)
    compiled = gpulab.compile(SOURCE, arch=other)
    assert compiled.arch == other
    assert compiled.saxpy.vgprs > 0
    with pytest.raises(LaunchError, match="compiled for"):
        compiled.count[1, 1]()


# ---- faults


def test_a_bad_address_is_raised_at_the_launch(module: gpulab.Module) -> None:
    """300 floats, 320 threads: thread 300 is the first one outside."""
    x = gpulab.zeros(300)
    with pytest.raises(gpulab.MemoryFault) as error:
        module.unguarded[5, 64](x)
    fault = error.value.fault
    assert fault is not None
    assert fault.where is not None
    assert fault.kernel == "unguarded"
    assert fault.where.line == LINE_OF_UNGUARDED
    assert (fault.workgroup, fault.thread, fault.access, fault.bytes) == ((4, 0, 0), (44, 0, 0), "write", 4)
    assert fault.nearest is not None
    assert (fault.nearest.size, fault.nearest.relation, fault.nearest.distance) == (1200, "after", 0)


def test_the_device_stays_usable_after_a_fault(module: gpulab.Module) -> None:
    for bad in (None, gpulab.zeros(10)):
        with pytest.raises(gpulab.MemoryFault):
            module.unguarded[1, 64](bad)
        x = gpulab.zeros(64)
        module.unguarded[1, 64](x)
        assert (x.to_host() == 1).all()


def test_a_kernel_that_never_ends_is_stopped(module: gpulab.Module) -> None:
    gpulab.set_limit(20_000)
    try:
        with pytest.raises(gpulab.KernelTimeout) as error:
            module.forever[1, 64](gpulab.zeros(1, "int32"))
    finally:
        gpulab.set_limit(None)
    assert "while (true) atomicAdd(x, 1);" in str(error.value)
    for limit in (0, -1, True, 1.5, "many"):
        with pytest.raises(gpulab.LaunchLimitError):
            gpulab.set_limit(limit)


@pytest.mark.parametrize("checked", [False, True])
def test_waves_that_take_turns_are_not_taken_for_endless(checked: bool) -> None:
    """64 waves of about 300,000 instructions each, under a limit of 400,000 for one: none ends for many times that."""
    module = gpulab.compile("""
        __global__ void turns(int n, float* x) {
            float* own = x + blockIdx.x * blockDim.x + threadIdx.x;
            float a = *own;
            #pragma nounroll
            for (int i = 0; i < n; i++) a = a * 0.5f + 1;
            *own = a;
        }
    """)
    wave = gpulab.device().wave_size
    x = gpulab.zeros(64 * wave)
    gpulab.set_limit(400_000)
    try:
        with gpulab.checked() if checked else contextlib.nullcontext():
            module.turns[8, 8 * wave](60_000, x)
    finally:
        gpulab.set_limit(None)
    assert (x.to_host() == 2).all()


def test_arguments_by_name_are_refused(module: gpulab.Module) -> None:
    with pytest.raises(gpulab.ArgumentError, match=r"by position, not by name \(n\)"):
        module.saxpy[1, 4](n=4)


def test_memory_of_another_device_is_refused(module: gpulab.Module) -> None:
    other = 1 - gpulab.devices()[0].index if module.arch == gpulab.devices()[0].arch else 0
    with gpulab.using(other):
        x = gpulab.zeros(4)
    with pytest.raises(gpulab.ArgumentError, match=rf"argument 3 \(x\) of saxpy is in the memory of device {other} "):
        module.saxpy[1, 4](4, 1.0, x, gpulab.zeros(4))
    module.saxpy[1, 4](4, 1.0, gpulab.Pointer(x.address, x.dtype), gpulab.zeros(4))


def test_a_number_that_is_no_stream_is_named(module: gpulab.Module) -> None:
    with pytest.raises(gpulab.LaunchLimitError, match="fourth part in the brackets is a stream, not 5"):
        module.saxpy[1, 4, 0, 5]


def test_a_trap(module: gpulab.Module) -> None:
    with pytest.raises(gpulab.KernelTrap):
        module.trap[1, 64](gpulab.zeros(1, "int32"))
    module.trap[1, 64](gpulab.to_device(np.ones(1, "int32")))


# ---- records


def test_profile(module: gpulab.Module) -> None:
    """1,000 elements in blocks of 256: 4 blocks of 256/wave_size waves, the last one partly idle."""
    x, y = gpulab.to_device(np.ones(1000, "float32")), gpulab.zeros(1000)
    with gpulab.profile() as run:
        module.saxpy[4, 256](1000, 2.0, x, y)
        module.unguarded[1, 64](y)
    assert [launch.grid for launch in run.launches] == [(4, 1, 1), (1, 1, 1)]
    first = run.launches[0]
    assert first.waves == first.counters["SQ_WAVES"] == 4 * 256 // gpulab.device().wave_size
    assert first.arch == module.arch
    assert first.time_us > 0
    assert first.time_is_modelled
    guarded = next(line for line in first.lines if "if (i < n)" in line.where.text)
    assert guarded.active_lanes < guarded.instructions * gpulab.device().wave_size
    assert len(run) == 2
    assert [launch.kernel for launch in run] == ["saxpy", "unguarded"]
    assert "saxpy" in str(run)
    assert "saxpy" in run._repr_html_()
    assert "if (i < n)" in str(run.lines(0))
    module.saxpy[4, 256](1000, 2.0, x, y)
    assert len(run) == 2, "a launch after the block is not part of it"


def test_records_are_the_same_every_time(module: gpulab.Module) -> None:
    x, y = gpulab.to_device(np.ones(1000, "float32")), gpulab.zeros(1000)
    with gpulab.profile() as run:
        for _ in range(3):
            module.saxpy[4, 256](1000, 2.0, x, y)
    assert len({str(launch.counters) + str(launch.lines) + str(launch.time_us) for launch in run}) == 1


def test_trace(module: gpulab.Module) -> None:
    """Workgroup 1 of 64 threads: the global index of lane 3 is 67, and the store leaves its value in memory."""
    x, y = gpulab.to_device(np.arange(128, dtype="float32")), gpulab.zeros(128)
    trace = gpulab.trace(module.saxpy, 2, 64, 128, 2.0, x, y, workgroup=1, wave=0)
    assert trace.kernel == "saxpy"
    assert trace.arch == module.arch
    assert trace.workgroup == (1, 0, 0)
    assert trace.wave_size == gpulab.device().wave_size
    assert any(value[3] == 67 for step in trace.steps for value in step.changes.values() if isinstance(value, tuple))
    assert (y.to_host() == 2 * np.arange(128)).all()


@pytest.mark.parametrize(
    ("chosen", "said"),
    [({"workgroup": 2}, "blockIdx.x = 2"), ({"workgroup": (0, 1)}, "blockIdx.y = 1"), ({"wave": 9}, "no wave 9"),
     ({"wave": -1}, "no wave -1")],
)  # fmt: skip
def test_trace_of_what_is_not_there(module: gpulab.Module, chosen: dict, said: str) -> None:
    with pytest.raises(LaunchLimitError, match=said):
        gpulab.trace(module.saxpy, 2, 64, 8, 2.0, gpulab.zeros(8), gpulab.zeros(8), **chosen)
