"""What the reference machine keeps: `Wave` has the registers of a wave, `Group` a workgroup's waves, LDS and memory.

`Touch` is an access that somebody follows; `Stop` ends the run of a wave with a fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpulab.virtual_gpu import dispatch, isa
from gpulab.virtual_gpu.isa.instruction import KernelDescriptor, Program
from gpulab.virtual_gpu.reference.memory import BadAccess, DeviceMemory

if TYPE_CHECKING:
    from gpulab.virtual_gpu.reference.values import Bits


VGPRS = 512
SGPRS = 128


class Touch(NamedTuple):
    """One access of a lane, or of the scalar unit (lane None): `bits` is what was read or written."""

    wave: int
    lane: int | None
    address: int
    size: int
    bits: int
    access: str


class Stop(Exception):
    """Ends the run of a wave with a fault."""

    def __init__(
        self, kind: str, lane: int | None = None, access: str = "", detail: str = "", bad: BadAccess | None = None
    ):
        super().__init__(kind)
        self.kind, self.lane, self.access, self.detail, self.bad = kind, lane, access, detail, bad


class Wave:
    """Registers of one wave. `v` and `a` are [register, lane] arrays of uint32; scalars are Python integers."""

    def __init__(self, wave_size: int, number: int) -> None:
        self.size, self.number = wave_size, number
        self.v = np.zeros((VGPRS, wave_size), np.uint32)
        self.a = np.zeros((VGPRS, wave_size), np.uint32)
        self.s = [0] * SGPRS
        self.vcc = self.exec = self.m0 = self.scc = self.mode = self.flat_scratch = self.xnack_mask = 0
        self.ttmp = [0] * 16
        self.pc = 0
        self.done = self.at_barrier = False
        self.steps = 0
        self.gpr_indexing = False  # s_set_gpr_idx_on; index and mode are in m0
        self.scratch = np.zeros((0, 0), np.uint8)

    @property
    def full(self) -> int:
        """A mask with one bit for each lane."""
        return (1 << self.size) - 1

    def lanes(self, mask: int) -> Bits:
        """A mask as one boolean per lane."""
        return np.array([mask >> i & 1 for i in range(self.size)], bool)

    def active(self) -> Bits:
        return self.lanes(self.exec)


class Group:
    """The state of one workgroup of a kernel: its waves, its LDS, and the memory it shares with the rest of the world.

    Args:
        program, kernel: what to run.
        memory: device memory; reads and writes raise `BadAccess`.
        grid, block: workgroups and threads in x, y, z. workgroup: which one this is.
        kernarg_address: where `kernarg` (the whole segment, see dispatch.fill_kernarg) lies in `memory`.
        lds: bytes of dynamic LDS. addresses: of the program's symbols, from the loader.
    """

    def __init__(
        self,
        program: Program,
        kernel: str,
        *,
        memory: DeviceMemory,
        grid: dispatch.Dim3,
        block: dispatch.Dim3,
        kernarg: bytes,
        kernarg_address: int,
        workgroup: dispatch.Dim3 = (0, 0, 0),
        lds: int = 0,
        addresses: Mapping[str, int] | None = None,
        dispatch_ptr: int = 0,
        queue_ptr: int = 0,
    ) -> None:
        self.program, self.memory, self.workgroup, self.block, self.grid = program, memory, workgroup, block, grid
        self.descriptor: KernelDescriptor = program.kernels[kernel]
        behind = self.descriptor.lds_bytes  # external LDS begins where the kernel's own LDS ends
        external = {n: -(-behind // max(d.align, 1)) * max(d.align, 1) for n, d in program.data.items() if d.is_lds}
        self.addresses = external | dict(addresses or {})
        self.table = isa.table(program.arch)
        self.lds = bytearray(self.descriptor.lds_bytes + lds)
        self.steps = 0
        self.touched: list[Touch] | None = None  # a list to keep what wave number `followed` touches
        self.followed = 0
        layout = dispatch.initial_registers(self.descriptor, program.arch)
        scalars = dispatch.scalar_values(
            layout,
            kernarg_address=kernarg_address,
            kernarg=kernarg,
            workgroup=workgroup,
            dispatch_ptr=dispatch_ptr,
            queue_ptr=queue_ptr,
            scratch_bytes=dispatch.scratch_bytes(self.descriptor),
        )
        size = program.wave_size
        ids = np.array(
            dispatch.work_item_ids(block, layout.work_item_dimensions, size, layout.unpacked_ids), np.uint32
        ).reshape(-1, dispatch.waves(block, size), size)
        self.waves = []
        for number in range(dispatch.waves(block, size)):
            wave = Wave(size, number)
            wave.s[: len(scalars)] = scalars
            wave.ttmp = dispatch.trap_registers(layout, workgroup)
            wave.v[: len(ids)] = ids[:, number]
            wave.exec = dispatch.active_lanes(block, number, size)
            wave.mode = dispatch.mode_register(self.descriptor, program.arch)
            wave.pc = self.descriptor.entry
            wave.scratch = np.zeros((size, dispatch.scratch_bytes(self.descriptor)), np.uint8)
            self.waves.append(wave)
