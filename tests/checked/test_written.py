"""Which bytes count as written: random stores and loads of every width beside a list of bytes."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gpulab
from gpulab import providers
from gpulab.records import Fault
from gpulab.virtual_gpu import runtime
from tests.checked.test_assembly import assembly

WIDTHS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "Two", 16: "Four"}
SOURCE = """
typedef unsigned Two __attribute__((ext_vector_type(2)));
typedef unsigned Four __attribute__((ext_vector_type(4)));
extern "C" {
""" + "".join(
    f"""
__global__ void write_{width}(const int* at, const int* on, char* to) {{
  int i = threadIdx.x;
  if (on[i]) *({type}*)(to + at[i]) = ({type})i;
}}
__global__ void read_{width}(const int* at, const int* on, const char* from, {type}* out) {{
  int i = threadIdx.x;
  if (on[i]) out[i] = *(const {type}*)(from + at[i]);
}}
"""
    for width, type in WIDTHS.items()
) + "}"  # fmt: skip
SIZE = 1024


def places(random: np.random.Generator, width: int, lanes: int, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each lane goes, and which lanes do: consecutive elements, all at one place, or anywhere."""
    at = random.integers(0, SIZE // width, lanes)
    if trial % 3 == 0:
        at = random.integers(0, SIZE // width - lanes + 1) + np.arange(lanes)
    elif trial % 3 == 1:
        at[:] = at[0]
    on = random.random(lanes) < (1.1, 0.5, 0.1)[trial // 3 % 3]
    on[random.integers(0, lanes)] = True
    return (width * at).astype(np.int32), on.astype(np.int32)


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("width", WIDTHS)
def test_stores(arch: str, width: int) -> None:
    """A byte is written that a lane stored to, and no other one."""
    random = np.random.default_rng(width)
    with gpulab.using(f"virtual:{arch}"):
        store = gpulab.compile(SOURCE)[f"write_{width}"]
        for trial in range(9):
            at, on = places(random, width, 64, trial)
            there = gpulab.to_device(at), gpulab.to_device(on)
            target = gpulab.empty(SIZE, "uint8")
            with gpulab.checked(), contextlib.suppress(gpulab.CheckedFault):  # several lanes may store to one place
                store[1, 64](*there, target)
            wanted = np.zeros(SIZE, bool)
            for first in at[on > 0]:
                wanted[first : first + width] = True
            arena = runtime.instance().arena
            known = [arena.unwritten_run(target.address + place, 1) is None for place in range(SIZE)]
            assert known == wanted.tolist(), trial


def fault_of(kernel: gpulab.Kernel, *arguments: object) -> Fault | None:
    """What a checked launch of 64 threads finds."""
    with gpulab.checked():
        try:
            kernel[1, 64](*arguments)
        except gpulab.CheckedFault as error:
            return error.fault
    return None


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("width", WIDTHS)
def test_loads(arch: str, width: int) -> None:
    """A load of bytes of which none was written is found; with one that was, it may be padding."""
    random = np.random.default_rng(10 + width)
    with gpulab.using(f"virtual:{arch}"):
        load = gpulab.compile(SOURCE)[f"read_{width}"]
        found = 0
        for trial in range(18):
            at, on = places(random, width, 64, trial)
            there = gpulab.to_device(at), gpulab.to_device(on)
            source, out = gpulab.empty(SIZE, "uint8"), gpulab.zeros(64 * 16, "uint8")
            written = np.zeros(SIZE, bool)
            spans = [(int(first), width) for first in at[on > 0]] if trial % 2 else []
            if spans and trial % 4 == 1:
                spans[random.integers(0, len(spans))] = (0, 1)
            spans += [(int(random.integers(0, SIZE - 70)), int(random.integers(1, 70))) for _ in range(3)]
            for first, size in spans:
                providers.selected().memset(source.address + first, 0, size)
                written[first : first + size] = True
            bad = [lane for lane in range(64) if on[lane] and not written[at[lane] : at[lane] + width].any()]
            fault = fault_of(load, *there, source, gpulab.Pointer(out.address))
            assert (fault is not None) == bool(bad), trial
            if fault is not None:
                assert fault.kind == "never written"
                assert fault.address in {source.address + int(at[lane]) for lane in bad}
                found += 1
        assert 0 < found < 18


@pytest.mark.parametrize("missing", [None, 0, 1, 5, 63, 64, 127, 130, 255])
def test_loads_of_assembly(missing: int | None) -> None:
    """Nothing is known of padding in assembly: each byte of a load has to be written."""
    body = (
        "s_waitcnt lgkmcnt(0)\nglobal_load_dword v2, v1, s[2:3]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v2, s[2:3]"
    )
    with gpulab.using("virtual:gfx942"):
        kernel = gpulab.compile(assembly("gfx942", body), language="asm", name="f.s")["f"]
        x = gpulab.empty(64, "float32")
        for first, end in ((0, missing), (missing + 1, 256)) if missing is not None else ((0, 256),):
            if end > first:
                providers.selected().memset(x.address + first, 0, end - first)
        fault = fault_of(kernel, x)
        assert (fault is None) == (missing is None)
        if fault is not None:
            assert (fault.kind, fault.address) == ("never written", x.address + missing // 4 * 4)


@pytest.mark.parametrize("width", WIDTHS)
def test_one_byte_of_each_element_is_enough_and_those_beside_it_are_not(width: int) -> None:
    """Compiled code may load padding, so a load is right if one of its bytes was written, wherever in it that lies."""
    at, on = np.arange(64, dtype=np.int32) * width, np.ones(64, np.int32)
    with gpulab.using("virtual:gfx942"):
        load = gpulab.compile(SOURCE)[f"read_{width}"]
        there, out = (gpulab.to_device(at), gpulab.to_device(on)), gpulab.zeros(64 * 16, "uint8")
        for place in {0, width // 2, width - 1}:
            source = gpulab.empty(64 * width, "uint8")
            for first in at.tolist():
                providers.selected().memset(source.address + first + place, 0, 1)
            assert fault_of(load, *there, source, gpulab.Pointer(out.address)) is None, place
        for missing in (0, 7, 8, 63):
            source = gpulab.empty(64 * width, "uint8")
            for first, end in ((0, missing * width), ((missing + 1) * width, 64 * width)):
                if end > first:
                    providers.selected().memset(source.address + first, 0, end - first)
            fault = fault_of(load, *there, source, gpulab.Pointer(out.address))
            assert fault is not None
            assert (fault.kind, fault.address) == ("never written", source.address + missing * width)
