"""Helpers: run lines of assembly, or a whole kernel, on the reference machine."""

from __future__ import annotations

import struct

import numpy as np

from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.instruction import Program
from gpulab.virtual_gpu.reference.machine import Workgroup
from gpulab.virtual_gpu.reference.memory import Regions, load
from gpulab.virtual_gpu.reference.state import Wave

KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
k:
{body}
  s_endpgm
{after}
.rodata
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_private_segment_fixed_size {scratch}
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 96
  .amdhsa_float_denorm_mode_32 {denormals}
  .amdhsa_ieee_mode {ieee}
{directives}.end_amdhsa_kernel
"""


def group(body: str, arch: str = "gfx942", threads: int = 64, *, memory: Regions | None = None, out: int = 0, lds: int = 1024,  # noqa: E501
          scratch: int = 64, denormals: int = 3, ieee: int = 0, after: str = "",
          directives: str = "") -> Workgroup:  # fmt: skip
    """A workgroup that has run these lines; s[0:1] is the kernel argument segment, which holds `out`, v0 the thread."""
    text = KERNEL.format(arch=arch, body=body, lds=lds, scratch=scratch, denormals=denormals, ieee=ieee, after=after,
                         directives=directives)  # fmt: skip
    program = parse(text)
    memory = memory or Regions()
    kernarg = struct.pack("<QQ", out, 0)
    made = Workgroup(
        program, "k", memory=memory, grid=(1, 1, 1), block=(threads, 1, 1), kernarg=kernarg,
        kernarg_address=memory.allocate(kernarg), addresses=load(program, memory),
    )  # fmt: skip
    made.run(max_steps=100_000)
    return made


def wave(body: str, arch: str = "gfx942", **kwargs) -> Wave:
    """The first wave after these lines."""
    return group(body, arch, **kwargs).waves[0]


def launch(program: Program, kernel: str, arguments, grid=(1, 1, 1), block=(64, 1, 1), lds=0):
    """Run all workgroups; arrays are copied in and given back in their order."""
    memory = Regions()
    addresses = load(program, memory)
    descriptor = program.kernels[kernel]
    explicit = [a for a in descriptor.arguments if not a.kind.startswith("hidden")]
    segment, places = bytearray(descriptor.kernarg_size), []
    for argument, value in zip(explicit, arguments, strict=True):
        if isinstance(value, np.ndarray):
            address = memory.allocate(value.tobytes())
            places.append((address, value))
            segment[argument.offset : argument.offset + 8] = struct.pack("<Q", address)
        else:
            segment[argument.offset : argument.offset + argument.size] = value.tobytes()
    kernarg = dispatch.fill_kernarg(descriptor, bytes(segment), grid, block, lds)
    kernarg_address = memory.allocate(kernarg)
    packet = memory.allocate(
        dispatch.dispatch_packet(descriptor, grid, block, kernarg_address=kernarg_address, dynamic_lds=lds)
    )
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                Workgroup(
                    program, kernel, memory=memory, grid=grid, block=block, kernarg=kernarg,
                    kernarg_address=kernarg_address, workgroup=(x, y, z), lds=lds, addresses=addresses,
                    dispatch_ptr=packet,
                ).run()  # fmt: skip
    return [np.frombuffer(memory.read(address, value.nbytes), value.dtype) for address, value in places]
