"""Runs lines of assembly on both machines and gives back registers and memory: `run`.

The lines may use v1-v31 and s4-s79, vcc, exec, scc, m0; v0 is the thread, s[2:3] the address of `data`. All are zero at
the start. What both machines must agree on is compared here; expected numbers are the tests' own. Registers that the
lines do not name are stored as one, their bits together, since each one stored takes long to translate: all are
stored, in a second run, if that is not zero.
"""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from gpulab import architectures
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.machine.arena import Arena
from gpulab.virtual_gpu.machine.device import VirtualDevice
from gpulab.virtual_gpu.machine.launching import Plan
from gpulab.virtual_gpu.machine.tracing import ArenaMemory
from gpulab.virtual_gpu.reference.machine import Workgroup

VGPRS, SGPRS, SCALARS = 32, 80, 128
STATUS = (90, 92, 93, 94, 95, 91)
"""SGPRs in which the program keeps SCC, EXEC, VCC, and the bits of those that it does not store."""
WAVE64 = ("gfx90a", "gfx942", "gfx950")


@dataclass
class State:
    """v[i] has one u32 per lane; s[i], vcc, exec, scc are integers; data is the buffer afterwards, as bytes."""

    v: np.ndarray
    s: list[int]
    vcc: int
    exec: int
    scc: int
    data: bytes

    def floats(self, register: int) -> np.ndarray:
        return self.v[register].view(np.float32)

    def pairs(self, register: int) -> np.ndarray:
        return self.v[register].astype(np.uint64) | self.v[register + 1].astype(np.uint64) << np.uint64(32)


@cache
def _arena() -> Arena:
    return Arena()


@contextlib.contextmanager
def _nobody_looks() -> Iterator[None]:
    """Few workgroups are all observed, and their accesses go the long way. Here they go as those of large launches."""

    def known_sample(plan: Plan, kernarg: bytes) -> bytes:
        plan.launch.observer = 0
        return b""

    usual = Plan.known_sample
    Plan.known_sample = known_sample  # type: ignore[method-assign]
    try:
        yield
    finally:
        Plan.known_sample = usual  # type: ignore[method-assign]


@cache
def _device(arch: str) -> VirtualDevice:
    return VirtualDevice(architectures.get(arch), _arena(), 0)


def _named(body: str, kind: str) -> set[int]:
    """The registers v... or s... that the lines name, also as v[2:5]."""
    found: set[int] = set()
    for only, first, last in re.findall(rf"\b{kind}(?:(\d+)|\[(\d+)(?::(\d+))?\])", body):
        found.update(range(int(only or first), int(last or only or first) + 1))
    return found


def _text(
    arch: str, body: str, lanes: int, directives: str, agprs: bool, quads: Sequence[int], scalars: Sequence[int]
) -> str:
    """A program that runs the lines and stores four VGPRs for each of `quads`, the SGPRs `scalars` and `STATUS`; the
    bits of all others together are in s91, and behind the scalars, for each lane, of the VGPRs."""
    wide = arch in WAVE64
    old = wide or arch.startswith("gfx10")  # names of loads and stores as gfx9 has them
    store, load = ("global_store_dword", "s_load_dwordx4") if old else ("global_store_b32", "s_load_b128")
    store4 = "global_store_dwordx4" if old else "global_store_b128"
    b, exec_, vcc = ("b64", "exec", "vcc") if wide else ("b32", "exec_lo", "vcc_lo")
    first = 4 if "private_segment_buffer" in directives else 0  # where the arguments' address is
    wait = "s_wait_kmcnt 0x0" if arch.startswith("gfx12") else "s_waitcnt lgkmcnt(0)"
    lines = [f"s_mov_b32 s80, s{first}", f"s_mov_b32 s81, s{first + 1}", f"{load} s[84:87], s[80:81], 0x0", wait]
    lines += ["v_and_b32 v200, 0x3ff, v0", "v_lshlrev_b32 v201, 2, v200", "v_mov_b32 v0, v200"]
    lines += [f"v_mov_b32 v{i}, 0" for i in range(1, VGPRS)] + [f"s_mov_b32 s{i}, 0" for i in range(SGPRS)]
    lines += ["s_mov_b32 s2, s86", "s_mov_b32 s3, s87", f"s_mov_{b} {vcc}, 0", "s_cmp_lg_u32 0, 0"]
    lines += [line.strip() for line in body.strip().splitlines()]
    lines += ["s_cselect_b32 s90, 1, 0", f"s_mov_{b} {'s[92:93]' if wide else 's92'}, {exec_}"]
    lines += [f"s_mov_{b} {'s[94:95]' if wide else 's94'}, {vcc}", f"s_mov_{b} {exec_}, {(1 << lanes) - 1:#x}"]
    if wide:
        lines[-1:] = [f"s_mov_b32 exec_lo, {(1 << min(lanes, 32)) - 1:#x}"]
        lines += [f"s_mov_b32 exec_hi, {(1 << max(lanes - 32, 0)) - 1:#x}"]
    # few stores, as each takes long to translate: four VGPRs at once, and the scalars as lanes of a VGPR
    lines += ["v_lshlrev_b32 v202, 4, v200", "v_mov_b32 v205, 0"]
    add = "v_add_u32" if wide else "v_add_nc_u32"
    at = 0
    for i in range(0, VGPRS, 4):
        if i in quads:
            lines += [f"{add} v202, {4 * lanes * (i - at):#x}, v202"] if i > at else []
            lines.append(f"{store4} v202, v[{i}:{i + 3}], s[84:85]")
            at = i
        else:
            lines += [f"v_or_b32 v205, v205, v{register}" for register in range(i, i + 4)]
    lines += [f"{add} v203, {4 * (VGPRS * lanes + SCALARS):#x}, v201", f"{store} v203, v205, s[84:85]"]
    lines += ["s_mov_b32 s91, 0"]
    lines += [f"s_or_b32 s91, s91, s{i}" for i in range(SGPRS) if i not in (2, 3, *scalars)]
    names = [f"s{i}" for i in (*scalars, *STATUS)]
    size = 64 if wide else 32
    lines.append(f"s_mov_{b} {exec_}, -1")
    lines += ["v_mbcnt_lo_u32_b32 v203, -1, 0"]
    lines += ["v_mbcnt_hi_u32_b32 v203, -1, v203"] if wide else []
    lines += ["v_lshlrev_b32 v203, 2, v203", f"{add} v203, {4 * VGPRS * lanes:#x}, v203"]
    for first in range(0, len(names), size):
        lines += [f"v_writelane_b32 v204, {name}, {i}" for i, name in enumerate(names[first : first + size])]
        lines += [f"{store} v203, v204, s[84:85]", f"{add} v203, {4 * size:#x}, v203"]
    code = "\n".join("  " + line for line in [*lines, "s_endpgm"])
    accum = "  .amdhsa_accum_offset 256\n" if wide else ""
    registers = 512 if agprs else 256
    return f"""
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
k:
{code}
.rodata
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_private_segment_fixed_size 256
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_count {first + 2}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr {registers}
  .amdhsa_next_free_sgpr 96
{accum}{directives}.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 256
    .vgpr_count: {registers}
    .agpr_count: {256 if agprs else 0}
    .wavefront_size: {64 if wide else 32}
...
.end_amdgpu_metadata
"""


def run(
    arch: str, body: str, *, lanes: int = 0, data: np.ndarray | bytes = bytes(256), denormals: int = 3, ieee: int = 1,
    directives: str = "", agprs: bool = False,
) -> State:  # fmt: skip
    """The state after `body` in one wave of `lanes` threads (all of them if 0), the same on both machines."""
    lanes = lanes or (64 if arch in WAVE64 else 32)
    more = f"  .amdhsa_float_denorm_mode_32 {denormals}\n  .amdhsa_ieee_mode {ieee}\n"
    more += "".join(f"  .amdhsa_{line.strip()}\n" for line in directives.split(";") if line.strip())
    quads = sorted({0} | {4 * (register // 4) for register in _named(body, "v") if register < VGPRS})
    scalars = sorted(register for register in _named(body, "s") if register < SGPRS and register not in (2, 3))
    found, others = _on_both(arch, body, lanes, data, more, agprs, quads, scalars)
    if others:  # a register that no line names has changed
        every = [i for i in range(SGPRS) if i not in (2, 3)]
        found, _ = _on_both(arch, body, lanes, data, more, agprs, range(0, VGPRS, 4), every)
    return found


def _on_both(
    arch: str, body: str, lanes: int, data: np.ndarray | bytes, directives: str, agprs: bool, quads: Sequence[int],
    scalars: Sequence[int],
) -> tuple[State, bool]:  # fmt: skip
    """What `run` gives, and whether a register that is not stored has a bit that is not zero; see `_text`."""
    high = arch in WAVE64
    program = parse(_text(arch, body, lanes, directives, agprs, quads, scalars))
    contents = data if isinstance(data, bytes) else data.tobytes()
    device, arena = _device(arch), _arena()
    words = VGPRS * lanes + SCALARS + lanes
    found: list[State] = []
    others: list[tuple[int, bytes]] = []
    module = device.load(program)
    for machine in ("reference", "host", "host, as in a large launch"):
        out, given = arena.allocate(4 * words, "device", 0), arena.allocate(len(contents), "device", 0)
        arena.view(out, 4 * words)[:] = bytes(4 * words)
        arena.view(given, len(contents))[:] = contents
        kernarg = struct.pack("<QQ", out, given)
        try:
            if machine == "reference":
                place = arena.allocate(len(kernarg), "device", 0)
                arena.view(place, len(kernarg))[:] = kernarg
                Workgroup(
                    program, "k", memory=ArenaMemory(arena), grid=(1, 1, 1), block=(lanes, 1, 1), kernarg=kernarg,
                    kernarg_address=place,
                ).run()  # fmt: skip
                arena.free(place)
            else:
                with contextlib.nullcontext() if machine == "host" else _nobody_looks():
                    launch = device.launch(module.kernels["k"], (1, 1, 1), (lanes, 1, 1), 0, kernarg)
                assert launch.fault is None, launch.fault
            raw = np.frombuffer(bytes(arena.view(out, 4 * words)), np.uint32)
            buffer = bytes(arena.view(given, len(contents)))
        finally:
            arena.free(out)
            arena.free(given)
        v = raw[: VGPRS * lanes].reshape(VGPRS // 4, lanes, 4).transpose(0, 2, 1).reshape(VGPRS, lanes)
        s = [0] * SGPRS  # also s[2:3], the buffer's address, which differs
        stored = [int(n) for n in raw[VGPRS * lanes :][: len(scalars) + len(STATUS)]]
        for register, value in zip(scalars, stored, strict=False):
            s[register] = value
        scc, e0, e1, c0, c1, scalar_bits = stored[len(scalars) :]
        others.append((scalar_bits, raw[VGPRS * lanes + SCALARS :].tobytes()))
        found.append(State(v, s, c0 | c1 << 32 if high else c0, e0 | e1 << 32 if high else e0, scc, buffer))
    module.unload()
    reference, *hosts = found
    for host in hosts:
        assert np.array_equal(reference.v, host.v), np.argwhere(reference.v != host.v)[:4]
        assert reference.s == host.s
        assert (reference.vcc, reference.exec, reference.scc) == (host.vcc, host.exec, host.scc)
        assert reference.data == host.data
    assert others[0] == others[1] == others[2]
    return reference, any(others[0][1]) or others[0][0] != 0
