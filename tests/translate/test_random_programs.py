"""Random programs with masks, branches, loops and memory, on translated code and on the reference machine.

What translation can get wrong lies between instructions: values kept too long or dropped too early, the order of memory
accesses, lanes that sleep. So programs are long, registers few, and every register is compared at the end.
"""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.reference.machine import Workgroup
from gpulab.virtual_gpu.reference.memory import Regions
from tests.translate.kernels import ARCHITECTURES, arena, device

VECTORS, SCALARS = range(1, 9), range(8, 24)
LANES = 64  # threads: one wave of 64 or two of 32
WORDS = len(VECTORS) * LANES + 2 * len(SCALARS)

TEXT = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
k:
  s_load_{two} s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v9, 2, v0
{start}
{body}
  s_mov_b{wave} exec{lo}, -1
{end}
  s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 40
  {more}
.end_amdhsa_kernel
"""


class Program:
    """Writes one program; names differ between generations."""

    def __init__(self, arch: str, seed: int) -> None:
        self.random, self.arch = random.Random(seed), arch
        self.wide = arch == "gfx942"
        self.labels = 0
        self.lines: list[str] = []

    def v(self) -> str:
        return f"v{self.random.choice(VECTORS)}"

    def s(self) -> str:
        return f"s{self.random.choice(SCALARS)}"

    def mask(self) -> str:
        if self.random.random() < 0.4:
            return "vcc" if self.wide else "vcc_lo"
        first = self.random.choice(SCALARS[::2])
        return f"s[{first}:{first + 1}]" if self.wide else f"s{first}"

    def source(self) -> str:
        return self.random.choice([self.v(), self.v(), self.s(), str(self.random.randint(-16, 64)), "0x12345"])

    def emit(self, *lines: str) -> None:
        self.lines += lines

    def step(self, depth: int) -> None:
        size = 64 if self.wide else 32
        exec_ = "exec" if self.wide else "exec_lo"
        add = "v_add_u32" if self.wide else "v_add_nc_u32"
        load, store = ("read", "write") if self.wide else ("load", "store")
        dword = "dword" if self.wide else "b32"
        choice = self.random.randrange(20)
        if choice < 5:
            name = self.random.choice([add, "v_xor_b32", "v_and_b32", "v_max_i32", "v_min_u32", "v_or_b32"])
            self.emit(f"{name} {self.v()}, {self.source()}, {self.v()}")
        elif choice == 5:
            first = self.random.choice(VECTORS[:-1])
            wide = f"v[{first}:{first + 1}]"
            self.emit(f"v_lshlrev_b64 {wide}, {self.random.randint(0, 40)}, {wide}")
        elif choice == 6:
            name = self.random.choice(["v_cmp_lt_u32", "v_cmp_gt_i32", "v_cmp_ne_u32"])
            self.emit(f"{name} {self.mask()}, {self.source()}, {self.v()}")
        elif choice == 7:
            self.emit(f"v_cndmask_b32 {self.v()}, {self.v()}, {self.v()}, {self.mask()}")
        elif choice == 8:
            carry, add_co = self.mask(), "v_add_co_u32"
            ci = "v_addc_co_u32" if self.wide else "v_add_co_ci_u32"
            self.emit(f"{add_co} {self.v()}, {carry}, {self.v()}, {self.v()}")
            self.emit(f"{ci} {self.v()}, {self.mask()}, {self.v()}, {self.v()}, {carry}")
        elif choice == 9:
            name = self.random.choice(["s_add_u32", "s_sub_u32", "s_and_b32", "s_xor_b32", "s_mul_i32"])
            self.emit(f"{name} {self.s()}, {self.s()}, {self.s()}")
        elif choice == 10:
            name = self.random.choice([f"s_and_b{size}", f"s_or_b{size}", f"s_xor_b{size}"])
            self.emit(f"{name} {self.mask()}, {self.mask()}, {self.random.choice([self.mask(), exec_])}")
        elif choice == 11:
            self.emit(f"s_cmp_lt_u32 {self.s()}, {self.s()}", f"s_cselect_b32 {self.s()}, {self.s()}, 7")
        elif choice == 12:
            self.emit(f"v_readlane_b32 {self.s()}, {self.v()}, {self.random.randrange(size)}")
        elif choice == 13:
            self.emit(f"v_readfirstlane_b32 {self.s()}, {self.v()}")
        elif choice == 14:
            self.emit(f"v_writelane_b32 {self.v()}, {self.s()}, {self.random.randrange(size)}")
        elif choice == 15:
            # an address anywhere in 256 bytes: lanes meet
            self.emit(f"v_and_b32 v10, 0xfc, {self.v()}")
            for _ in range(self.random.randint(1, 3)):
                if self.random.random() < 0.5:
                    self.emit(f"ds_{store}_b32 v10, {self.v()} offset:{4 * self.random.randrange(4)}")
                else:
                    self.emit(f"ds_{load}_b32 {self.v()}, v10 offset:{4 * self.random.randrange(4)}")
            self.emit("s_waitcnt lgkmcnt(0)")
        elif choice == 16:
            self.emit(f"v_and_b32 v10, 0xfc, {self.v()}")
            for _ in range(self.random.randint(1, 3)):
                if self.random.random() < 0.5:
                    self.emit(f"global_store_{dword} v10, {self.v()}, s[2:3]")
                else:
                    self.emit(f"global_load_{dword} {self.v()}, v10, s[2:3]")
            self.emit("s_waitcnt vmcnt(0)")
        elif choice == 17:
            moved = self.random.choice(["row_shr:1", "row_shl:3", "quad_perm:[1,0,3,2]", "row_mirror", "row_ror:5"])
            zero = self.random.choice([" bound_ctrl:0", ""])
            self.emit(f"v_mov_b32_dpp {self.v()}, {self.v()} {moved} row_mask:0xf bank_mask:0xf{zero}")
        elif choice == 18 and depth < 3:
            self.divergent(depth)
        elif choice == 19 and depth < 2:
            self.loop(depth)

    def divergent(self, depth: int) -> None:
        """if, sometimes with else, by EXEC; the saved mask is in its own register."""
        size = 64 if self.wide else 32
        exec_ = "exec" if self.wide else "exec_lo"
        saved = f"s[{24 + 2 * depth}:{25 + 2 * depth}]" if self.wide else f"s{24 + 2 * depth}"
        self.labels += 1
        label = f".Lskip{self.labels}"
        condition = self.mask()
        self.emit(
            f"v_cmp_gt_u32 {condition}, {self.source()}, {self.v()}", f"s_and_saveexec_b{size} {saved}, {condition}"
        )
        if self.random.random() < 0.6:
            self.emit(f"s_cbranch_execz {label}")
        for _ in range(self.random.randint(1, 6)):
            self.step(depth + 1)
        self.emit(f"{label}:")
        if self.random.random() < 0.5:
            self.emit(f"s_xor_b{size} {exec_}, {exec_}, {saved}")
            for _ in range(self.random.randint(1, 4)):
                self.step(depth + 1)
        self.emit(f"s_or_b{size} {exec_}, {exec_}, {saved}")

    def loop(self, depth: int) -> None:
        counter = f"s{32 + depth}"
        self.labels += 1
        self.emit(f"s_mov_b32 {counter}, {self.random.randint(1, 4)}", f".Lloop{self.labels}:")
        label = self.labels
        for _ in range(self.random.randint(2, 8)):
            self.step(depth + 1)
        self.emit(f"s_sub_u32 {counter}, {counter}, 1", f"s_cmp_lg_u32 {counter}, 0", f"s_cbranch_scc1 .Lloop{label}")

    def text(self, steps: int) -> str:
        dword = "dword" if self.wide else "b32"
        start = [f"v_mul_u32_u24 v{v}, {self.random.randrange(1, 60)}, v0" for v in VECTORS]
        start += [f"s_mov_b32 s{s}, {self.random.getrandbits(32):#x}" for s in SCALARS]
        start += [f"s_mov_b{64 if self.wide else 32} {'vcc' if self.wide else 'vcc_lo'}, 0x5a5a5a5a"]
        for _ in range(steps):
            self.step(0)
        end = [f"global_store_{dword} v9, v{v}, s[2:3] offset:{1024 + 256 * n}" for n, v in enumerate(VECTORS)]
        place = 256 + len(VECTORS) * 64  # in dwords; each wave writes its own scalars
        end += ["v_lshrrev_b32 v10, 5, v0", "v_lshlrev_b32 v10, 2, v10"]
        for n, s in enumerate(SCALARS):
            offset = 4 * (place + 2 * n)
            end += [f"v_mov_b32 v11, {s_name(s)}", f"v_add_u32 v12, {offset}, v10" if self.wide
                    else f"v_add_nc_u32 v12, {offset}, v10", f"global_store_{dword} v12, v11, s[2:3]"]  # fmt: skip
        return TEXT.format(
            arch=self.arch, two="dwordx2" if self.wide else "b64", wave=64 if self.wide else 32,
            lo="" if self.wide else "_lo", start="\n".join(start), body="\n".join(self.lines), end="\n".join(end),
            more=".amdhsa_accum_offset 16" if self.wide else ".amdhsa_wavefront_size32 1",
        )  # fmt: skip


def s_name(number: int) -> str:
    return f"s{number}"


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_both_machines_agree(arch, seed):
    program = parse(Program(arch, seed).text(70))
    size = 4 * (256 + WORDS)
    memory = Regions()
    out = memory.allocate(bytes(range(256)) * (size // 256 + 1))
    kernarg = struct.pack("<Q", out)
    Workgroup(
        program, "k", memory=memory, grid=(1, 1, 1), block=(LANES, 1, 1), kernarg=kernarg,
        kernarg_address=memory.allocate(kernarg),
    ).run(max_steps=200_000)  # fmt: skip
    expected = np.frombuffer(memory.read(out, size), np.uint32)

    address = arena().allocate(size, "device", 0)
    arena().view(address, size)[:] = (bytes(range(256)) * (size // 256 + 1))[:size]
    module = device(arch).load(program)
    launch = device(arch).launch(module.kernels["k"], (1, 1, 1), (LANES, 1, 1), 0, struct.pack("<Q", address))
    found = np.frombuffer(bytes(arena().view(address, size)), np.uint32)
    module.unload()
    arena().free(address)
    assert launch.fault is None
    differing = np.flatnonzero(found != expected)
    assert differing.size == 0, [(int(i), hex(found[i]), hex(expected[i])) for i in differing[:8]]
