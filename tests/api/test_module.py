"""Modules and launches at their edges: what is looked for and is not there, sizes and streams that are none."""

from __future__ import annotations

import gc
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab import providers
from gpulab.errors import KernelNotFound, LaunchError, LaunchLimitError
from gpulab.module import Occupancy, Resources, resources_of
from gpulab.toolchain import code_object, listing

SOURCE = "__device__ int table[4]; __global__ void fill(int* a) { a[threadIdx.x] = 7; }\n__global__ void other() {}"


@pytest.fixture(scope="module")
def module() -> gpulab.Module:
    return gpulab.compile(SOURCE)


def test_a_module_holds_its_kernels(module: gpulab.Module) -> None:
    assert [kernel.name for kernel in module] == ["fill", "other"]
    assert len(module) == 2
    assert ("fill" in module, "absent" in module, 3 in module) == (True, False, False)
    assert {"fill", "other", "kernels"} <= set(dir(module))
    assert module.fill is module["fill"]
    with pytest.raises(AttributeError, match="_private"):
        module._private  # noqa: B018
    with pytest.raises(KernelNotFound):
        module["absent"]
    assert repr(module).startswith("Module(")
    assert f"for {module.arch}: fill(int *a), other())" in repr(module)


def test_streams_that_are_none(module: gpulab.Module) -> None:
    array = gpulab.zeros(4, "int32")
    for stream in (3, 4095, -1, "s"):
        with pytest.raises(LaunchLimitError) as raised:
            module.fill[1, 4, 0, stream](array)
        assert f"fill: the fourth part in the brackets is a stream, not {stream!r}." in str(raised.value)
    for stream in (0, None):
        module.fill[1, 4, 0, stream](array)
    assert array.to_host().tolist() == [7] * 4


def test_sizes_at_their_limits(module: gpulab.Module) -> None:
    """1024 threads in a block (hipDeviceAttributeMaxThreadsPerBlock of AMD's GPUs)."""
    array = gpulab.zeros(1024, "int32")
    module.fill[1, 1024](array)
    assert (array.to_host() == 7).all()
    for block in (1025, (32, 33), (2, 2, 257)):
        with pytest.raises(LaunchLimitError):
            module.fill[1, block](array)
    most = providers.devices()[providers.current()].limits.grid
    for axis, name in enumerate("xyz"):
        grid = [1, 1, 1]
        grid[axis] = most[axis] + 1
        with pytest.raises(LaunchLimitError, match=f"the grid's {name} is {most[axis] + 1:,}; .* {most[axis]:,}"):
            module.other[tuple(grid), 1]()


MORE_BLOCKS = "(n + block - 1) // block gives enough blocks for n elements."
REFUSED = {  # what stands in the brackets: what is said, why, and what to try
    (0, 4): (
        "the grid is 0; it must be at least 1.", "there would be no workgroups at all.",
        "n = 0 elements need no launch: launch only if n > 0.",
    ),
    (-1, 4): ("the grid is -1; it must be at least 1.", "workgroups are counted.", ""),
    (1, 0): ("the block is 0; it must be at least 1.", "there would be no threads at all.", ""),
    (1, (2, -3)): ("the block's y is -3; it must be at least 1.", "threads are counted.", ""),
    ((1, 1, 0), 1): (
        "the grid's z is 0; it must be at least 1.", "there would be no workgroups at all.",
        "n = 0 elements need no launch: launch only if n > 0.",
    ),
    (2.0, 4): ("the grid must be a whole number, not 2.0.", "", f"divide with // instead of /: {MORE_BLOCKS}"),
    ("2", 4): ("the grid must be a whole number, not '2'.", "", ""),
    (1, True): ("the block must be a whole number, not True.", "", ""),
    (1, (1, 1, 1, 1)): ("the block has 4 extents.", "there are three axes at most: x, y and z.", ""),
    ((), 1): ("the grid has 0 extents.", "there are three axes at most: x, y and z.", ""),
    (2**31, 1): ("the grid is 2,147,483,648; the limit is 2,147,483,647.", "", ""),
    (1, 4, -1): (
        "dynamic_lds_bytes must be a number of bytes, not -1.",
        "the third part in the brackets is the size of dynamic LDS; a stream is the fourth.", "",
    ),
    (1, 4, 0.5): (
        "dynamic_lds_bytes must be a number of bytes, not 0.5.",
        "the third part in the brackets is the size of dynamic LDS; a stream is the fourth.", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("sizes", REFUSED, ids=str)
def test_what_is_said_of_sizes(module: gpulab.Module, sizes: tuple[object, ...]) -> None:
    for equal in ((2, 4), (1, 1)):  # (2.0, 4) and (1, True) are equal to these, which are known then
        module.fill[equal]
    with pytest.raises(LaunchLimitError) as raised:
        module.fill[sizes]
    what, why, hint = REFUSED[sizes]
    assert (raised.value.what, raised.value.why, raised.value.hint) == (f"fill: {what}", why, hint)


def test_how_many_parts_brackets_have(module: gpulab.Module) -> None:
    for sizes, said in ((4, "1 part."), ((4,), "1 part."), ((1, 2, 3, None, 5), "5 parts.")):
        with pytest.raises(LaunchLimitError) as raised:
            module.fill[sizes]
        assert raised.value.what == f"fill: a launch needs grid and block in the brackets, and has {said}"
        assert raised.value.hint.startswith("fill[grid, block](...), or fill[grid, block, dynamic_lds_bytes, stream](")


def test_what_brackets_give(module: gpulab.Module) -> None:
    """Extents that are missing are 1, and nothing else is left out: no LDS, no stream."""
    made = module.fill[2, (3, 4)]
    assert (made.grid, made.block, made.lds_bytes, made.stream, made.cooperative) == (
        (2, 1, 1),
        (3, 4, 1),
        0,
        None,
        False,
    )
    made = module.fill.cooperative[[5, 6, 7], np.array([8]), None, 0]
    assert (made.grid, made.block, made.lds_bytes, made.cooperative) == ((5, 6, 7), (8, 1, 1), 0, True)
    assert module.fill[2**31 - 1, np.int64(4), 17].grid == (2**31 - 1, 1, 1)
    assert repr(module.fill[2, 4, 17]) == (
        "fill[(2, 1, 1), (4, 1, 1), 17], not launched: its arguments follow in parentheses"
    )
    assert repr(module.fill.cooperative[2, 4]).startswith("fill.cooperative[(2, 1, 1), (4, 1, 1), 0], not")
    assert repr(module.fill.cooperative) == "fill.cooperative"
    assert repr(module.fill) == f"Kernel(fill(int *a) for {module.arch})"
    assert module.fill[2, 4] is module.fill[2, 4]
    assert module.fill[2, [4]] is not module.fill[2, [4]]  # a list cannot be looked up
    with gpulab.Stream() as stream:
        assert module.fill[2, 4, 0, stream] is not module.fill[2, 4, 0, stream]  # nor does a kernel keep streams
        assert module.fill[2, 4, 0, stream].stream is stream


def test_a_kernel_keeps_256_launchers() -> None:
    kernel = gpulab.compile("__global__ void nothing() {}").nothing
    assert all(kernel[n, 1] is kernel[n, 1] for n in range(1, 257))
    assert kernel[257, 1] is not kernel[257, 1]
    assert kernel[256, 1] is kernel[256, 1]


def test_calls_without_sizes(module: gpulab.Module) -> None:
    with pytest.raises(LaunchError) as raised:
        module.fill(1)
    assert raised.value.what == "fill was called without sizes."
    assert "fill[(n + 255) // 256, 256](...)" in raised.value.hint
    with pytest.raises(LaunchError) as raised:
        module.fill.cooperative(1)
    assert raised.value.what == "fill.cooperative was called without sizes."
    assert raised.value.hint == "fill.cooperative[grid, block](arguments)."


TAKES = """
__global__ __launch_bounds__(96) void bounded(int* a) { a[threadIdx.x] = 1; }
__global__ void holds(int* a) { __shared__ int t[1000]; t[threadIdx.x] = a[0]; __syncthreads(); a[1] = t[a[2]]; }
__global__ void free_of_it(int* a) { a[threadIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def takes() -> gpulab.Module:
    return gpulab.compile(TAKES)


@pytest.mark.parametrize(
    ("name", "most", "why"),
    [
        ("bounded", 96, "the kernel was compiled for no more (__launch_bounds__)."),
        ("free_of_it", 1024, "the threads of one workgroup share one compute unit."),
    ],
)
def test_blocks_that_are_too_large(takes: gpulab.Module, name: str, most: int, why: str) -> None:
    array, kernel = gpulab.zeros(2048, "int32"), takes[name]
    for refused in (lambda: kernel[1, most + 1](array), lambda: kernel.occupancy(most + 1)):
        with pytest.raises(LaunchLimitError) as raised:
            refused()
        assert raised.value.what == f"{name}: a block of {most + 1:,} threads is too large: the limit is {most:,}."
        assert raised.value.why == why
        assert f"a block of at most {most:,} threads" in raised.value.hint
    kernel[1, most](array)
    assert kernel.occupancy(most).blocks >= 1


def test_extents_of_a_block_are_multiplied(takes: gpulab.Module) -> None:
    array = gpulab.zeros(2048, "int32")
    with pytest.raises(LaunchLimitError, match="a block of 104 threads"):
        takes.bounded[1, (2, 4, 13)](array)
    with pytest.raises(LaunchLimitError, match="a block of 104 threads"):
        takes.bounded.occupancy((2, 4, 13))


def test_what_a_kernel_takes(takes: gpulab.Module) -> None:
    held = takes.holds.resources
    assert (held.lds_bytes, held.scratch_bytes, held.max_block_threads, held.cu_mode) == (4000, 0, 1024, False)
    assert (takes.holds.lds_bytes, takes.holds.scratch_bytes) == (4000, 0)
    assert (takes.holds.vgprs, takes.holds.sgprs, takes.holds.agprs) == (held.vgprs, held.sgprs, held.agprs)
    assert held.vgprs > 0
    assert held.sgprs > 0
    assert takes.bounded.resources.max_block_threads == 96


def test_lds_beyond_the_limit(takes: gpulab.Module) -> None:
    """A workgroup has 64 KiB."""
    array = gpulab.zeros(2048, "int32")
    takes.holds[1, 64, 65536 - 4000](array)
    with pytest.raises(LaunchLimitError) as raised:
        takes.holds[1, 64, 65536 - 4000 + 1](array)
    assert "holds needs 65,537 bytes of LDS (4,000 static and 61,537 dynamic); a workgroup on " in raised.value.what
    assert raised.value.what.endswith(" has 65,536.")
    with pytest.raises(LaunchLimitError) as raised:
        takes.free_of_it[1, 64, 70_000](array)
    assert "free_of_it needs 70,000 bytes of LDS (0 static and 70,000 dynamic)" in raised.value.what


def test_occupancy_in_words() -> None:
    held = Occupancy(2, 8, 32, "LDS", {"LDS": 2})
    assert (held.fraction, str(held)) == (0.25, "2 workgroups, 8 of 32 waves (25%), limited by LDS")
    plain = Occupancy(2, 8, 32)
    assert (plain.limit, dict(plain.limits), str(plain)) == ("", {}, "2 workgroups, 8 of 32 waves (25%)")
    assert Occupancy(0, 0, 0).fraction == 0


@pytest.mark.parametrize("name", [None, 3, b"saxpy"])
def test_a_name_is_a_text(module: gpulab.Module, name: object) -> None:
    with pytest.raises(KernelNotFound, match="kernels are found by their names, which are texts"):
        module[name]  # type: ignore[index]


@pytest.mark.parametrize("lds", [-5, 1.5, True])
def test_occupancy_with_dynamic_lds_that_cannot_be(module: gpulab.Module, lds: object) -> None:
    kernel = module.kernels[0]
    with pytest.raises(LaunchLimitError, match=f"dynamic_lds_bytes must be a number of bytes, not {lds}"):
        kernel.occupancy(64, lds)  # type: ignore[arg-type]


def test_variables_that_are_not_there(module: gpulab.Module) -> None:
    with pytest.raises(KernelNotFound) as raised:
        module.variable("tabel")
    assert raised.value.hint == ""
    used = gpulab.compile("__device__ int counts ; __global__ void add() { atomicAdd(&counts, 1); }", name="a.hip")
    with pytest.raises(KernelNotFound) as raised:
        used.variable("count")
    assert raised.value.what == "a.hip has no variable named count."
    assert raised.value.hint == "did you mean counts?"
    assert used.variable("counts").shape == (4,)
    assert used.variable("counts", "int32").shape == (1,)
    with pytest.raises(gpulab.DeviceMemoryError):
        used.variable("counts", "float64")


@pytest.mark.full
def test_a_module_that_hipDeviceReset_has_unloaded_goes_without_a_word() -> None:
    code = (
        "import gc, sys, gpulab\n"
        "from hip import hip\n"
        "sys.unraisablehook = lambda found: print('ignored:', found.exc_value)\n"
        "module = gpulab.compile('extern \"C\" __global__ void one(int* x) { x[threadIdx.x] = 1; }')\n"
        "module.one[1, 64](gpulab.zeros(64, 'int32'))\n"
        "print(int(hip.hipDeviceReset()[0]))\n"
        "del module\n"
        "gc.collect()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_code_object_that_does_not_say_what_its_kernels_take(monkeypatch: pytest.MonkeyPatch) -> None:
    module = gpulab.compile("__global__ void k(int* x) { x[0] = 1; }")
    monkeypatch.setattr(module, "_resources", {})
    assert module.k.resources == Resources(0, 0, 0, 0, 0, max_block_threads=1024)


def test_what_metadata_says_of_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves out takes nothing; registers that the text names beyond it count, too."""
    full = {
        ".symbol": "_Z1kv.kd", ".name": "k", ".vgpr_count": 20, ".sgpr_count": 30, ".agpr_count": 4,
        ".group_segment_fixed_size": 64, ".private_segment_fixed_size": 16, ".max_flat_workgroup_size": 256,
        ".workgroup_processor_mode": 0,
    }  # fmt: skip
    entries: list[dict[str, Any]] = [
        {".name": "bare"},
        full,
        {".name": "high", ".vgpr_count": 5, ".sgpr_count": 5, ".workgroup_processor_mode": 1},
    ]
    named = {"bare": (0, 0), "_Z1kv": (19, 29), "high": (6, 7)}
    monkeypatch.setattr(code_object, "kernel_metadata", lambda elf: entries)
    monkeypatch.setattr(listing, "registers_named", lambda text, symbol: named[symbol])
    code: Any = SimpleNamespace(format="amdgpu", elf=b"", assembly="")
    assert resources_of(code) == {
        "bare": Resources(0, 0, 0, 0, 0, 1024, cu_mode=False),
        "_Z1kv": Resources(20, 30, 4, 64, 16, 256, cu_mode=True),
        "high": Resources(6, 7, 0, 0, 0, 1024, cu_mode=False),
    }
    code.format = "another"
    assert resources_of(code) == {}


def test_a_launch_that_is_stopped_says_of_which_kernel(module: gpulab.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*words: object) -> None:
        raise KeyboardInterrupt

    array = gpulab.zeros(4, "int32")
    monkeypatch.setattr(providers.selected(), "launch", stopped)
    with pytest.raises(KeyboardInterrupt) as raised:
        module.fill[1, 4](array)
    assert str(raised.value) == (
        "fill was stopped while it ran; what it wrote until then stays. The device can be used."
    )  # fmt: skip
    assert raised.value.__cause__ is None


def test_occupancy_where_the_library_says_blocks_alone(module: gpulab.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,048 threads of one unit are 32 waves of 64; of blocks that do not fill their waves fewer threads fit."""
    provider = providers.selected()
    asked: list[Any] = []
    monkeypatch.setattr(type(provider), "instruments", None)
    monkeypatch.setattr(provider, "occupancy", lambda *words: asked.append(words[1:]) or 5)
    assert module.fill.occupancy(65, 12) == Occupancy(5, 10, 32)
    assert module.fill.occupancy((16, 4)) == Occupancy(5, 5, 32)
    assert module.fill.occupancy(1024) == Occupancy(5, 32, 32)
    assert module.fill.occupancy() == Occupancy(5, 20, 32)
    assert asked == [(65, 12), (64, 0), (1024, 0), (256, 0)]


def test_a_module_that_is_gone_is_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """From each device that it was loaded on, before the next use of a device; from none that it was not."""
    gc.collect()
    gpulab.zeros(1, "int32")  # what other tests have left goes now
    provider = providers.selected()
    loaded: list[int] = []
    unloaded: list[int] = []
    load, unload = provider.load, provider.unload
    monkeypatch.setattr(provider, "load", lambda code: loaded.append(load(code)) or loaded[-1])
    monkeypatch.setattr(provider, "unload", lambda handle: unloaded.append(handle) or unload(handle))
    used = gpulab.compile("__global__ void gone(int* x) { x[0] = 1; }")
    unused = gpulab.compile("__global__ void gone_too(int* x) { x[0] = 2; }")
    array = gpulab.zeros(1, "int32")
    for _ in range(2):
        used.gone[1, 1](array)
    assert (len(loaded), unloaded) == (1, [])
    del used, unused
    gc.collect()
    gpulab.zeros(1, "int32")
    assert unloaded == loaded


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"options": "-O1 -DN=4"}, "options=['-O1', '-DN=4']"),
        ({"options": [1]}, "options= takes a list of texts, and was given 1."),
        ({"name_expressions": "scale<float>"}, "name_expressions=['scale<float>']"),
        ({"first_line": "7"}, "first_line= takes the number of a line, and was given the text '7'."),
        ({"first_line": -1}, "and was given -1."),
        ({"headers": {"a.h": 3}}, "headers= takes a dictionary"),
        ({"headers": "a.h"}, "headers= takes a dictionary"),
        ({"language": ["hip"]}, "there is no language ['hip'] here."),
    ],
)
def test_arguments_of_compile_of_another_kind(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(gpulab.GpulabError) as raised:
        gpulab.compile(SOURCE, **arguments)
    assert said in str(raised.value)


def test_what_makes_no_module(module: gpulab.Module) -> None:
    for value in ("kernel.co", None, 5):
        with pytest.raises(gpulab.ArgumentError, match=r"gpulab\.load takes the bytes of a code object"):
            gpulab.load(value)  # type: ignore[arg-type]
    with pytest.raises(gpulab.ArgumentError, match=r"gpulab.load\(bytes\)"):
        gpulab.Module(module.elf)  # type: ignore[arg-type]
    with pytest.raises(KernelNotFound, match="a variable is named by a text"):
        module.variable(None)  # type: ignore[arg-type]
    with pytest.raises(LaunchLimitError, match="must be a whole number"):
        module.fill[[[1], [2, 3]], 4](gpulab.zeros(4, "int32"))


def test_streams_of_hip_python_are_streams(module: gpulab.Module) -> None:
    from hip import hip

    array = gpulab.zeros(4, "int32")
    error, stream = hip.hipStreamCreate()
    assert error == hip.hipError_t.hipSuccess
    module.fill[1, 4, 0, stream](array)
    assert array.to_host(stream=stream).tolist() == [7] * 4
    gpulab.Event().record(stream)
    hip.hipStreamDestroy(stream)
    for memory in (array, gpulab.Pointer(4096), 2**64):
        with pytest.raises(LaunchLimitError, match="the fourth part in the brackets is a stream"):
            module.fill[1, 4, 0, memory](array)


def test_what_is_no_event() -> None:
    stream, event = gpulab.Stream(), gpulab.Event()
    with pytest.raises(gpulab.ArgumentError, match=r"gpulab.Event\(\).record\(stream\) marks a point"):
        stream.wait(stream)  # type: ignore[arg-type]
    with pytest.raises(gpulab.ArgumentError, match=r"1\.5 is no event"):
        event.elapsed_ms(1.5)  # type: ignore[arg-type]
    with pytest.raises(gpulab.ArgumentError, match="'s' is no stream"):
        event.record("s")  # type: ignore[arg-type]


def test_a_stream_or_a_kernel_that_is_gone_is_named(module: gpulab.Module) -> None:
    from hip import hip

    _, stream = hip.hipStreamCreate()
    hip.hipStreamDestroy(stream)
    with pytest.raises(LaunchLimitError, match="there is no such stream") as raised:
        module.other[1, 1, 0, stream]()
    assert "smaller block" not in str(raised.value)
    for use in (lambda: gpulab.zeros(4).to_host(stream=stream), lambda: gpulab.Event().record(stream)):
        with pytest.raises(gpulab.HipError, match="there is no such stream"):
            use()
    with pytest.raises(gpulab.HipError, match="there is no such kernel"):
        providers.selected().launch(12345, (1, 1, 1), (1, 1, 1), 0, 0, b"")
