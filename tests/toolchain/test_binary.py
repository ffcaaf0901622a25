"""Code objects that others made: what is read back of their machine code is what the compiler's own text says."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpulab
from gpulab import architectures
from gpulab.errors import GpulabError
from gpulab.toolchain import CodeObject, binary, compile, compiler, elf
from gpulab.toolchain.binary import decoder, descriptor, lines
from gpulab.toolchain.binary import text as texts
from gpulab.virtual_gpu.isa import assembly
from gpulab.virtual_gpu.isa.instruction import Instruction, Literal, Operand, Program, Register, Symbol
from gpulab.virtual_gpu.runtime import codes, images
from gpulab.virtual_gpu.runtime.codes import Failure

pytestmark = pytest.mark.skipif(bool(decoder.missing()), reason="the disassembler is made for Linux on x86-64 alone")
SOURCE = r"""
#include <hip/hip_runtime.h>
__device__ int counter = 5;
__device__ float zeros[300];
__constant__ float table[4] = {1.5f, 2, 3, 4};
__device__ int* pointers[2] = {&counter, nullptr};
__device__ __attribute__((noinline)) float twice(float x) { return x * 2 + counter; }
__device__ __attribute__((noinline)) float thrice(float x) { return x * 3; }
__device__ float (*functions[2])(float) = {twice, thrice};
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  __shared__ float part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? a * x[i] : 0;
  __syncthreads();
  for (int k = 0; k < n; k += 7) part[threadIdx.x] += twice(part[(threadIdx.x + k) % 64]);
  if (i < n) y[i] = part[threadIdx.x] + functions[i & 1](y[i]) + table[i & 3] + *pointers[0] + zeros[i];
}
extern "C" __global__ __launch_bounds__(128) void large(int* out, int n) {
  int room[40];
  for (int i = 0; i < 40; i++) room[i] = i * n;
  out[threadIdx.x] = room[out[threadIdx.x] % 40];
}
"""
NULL = Operand(Register("special", 0, 1, "null"))
DEVICES = ("gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1030", "gfx1201")


def linked(text: str, arch: str, folder: Path, *options: str) -> bytes:
    """A code object of an assembly text by the packaged assembler and linker alone."""
    source, unit, out = folder / "k.s", folder / "k.o", folder / "k.co"
    source.write_text(text)
    target = ["--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", *options]
    for command in (
        ["clang", *target, "-x", "assembler", "-c", str(source), "-o", str(unit)],
        ["ld.lld", "-shared", str(unit), "-o", str(out)],
    ):
        outcome = compiler.run(command, folder=folder)
        assert outcome.code == 0, outcome.log
    return out.read_bytes()


def parsed(text: str, arch: str) -> Program:
    return assembly.parse(text, arch=arch)


def meant(program: Program, given: Operand) -> Any:
    """An operand without the names of places."""
    symbol = given.value
    if not isinstance(symbol, Symbol):
        return given
    if symbol.name in program.labels:
        return "code", program.labels[symbol.name], symbol.offset, symbol.relocation
    name = symbol.name.removesuffix("@got")
    return "data", program.data[name].contents, symbol.offset, symbol.relocation.replace("gotpcrel32", "rel32")


def instructions(program: Program) -> list[Any]:
    """What the instructions mean; without s_nop, with which the assembler fills up to a loop that is to be aligned."""
    kept = [number for number, each in enumerate(program.instructions) if each.mnemonic != "s_nop"]
    places = {number: sum(each < number for each in kept) for number in range(len(program.instructions) + 1)}
    moved = replace(program, labels={name: places[index] for name, index in program.labels.items()})

    def plain(one: Instruction) -> Any:
        operands = [meant(moved, each) for each in one.operands]
        if one.mnemonic.startswith("s_load") and operands[2:] == [Operand(Literal(0))]:
            operands[2] = NULL  # an offset of 0: the register null
        if one.mnemonic == "s_barrier_wait":
            operands = [Operand(Literal(each.value.value & 0xFFFF)) for each in operands]
        return one.mnemonic, one.encoding, tuple(operands), dict(one.modifiers), one.pair and plain(one.pair)

    return [plain(program.instructions[number]) for number in kept]


@pytest.fixture(scope="module", params=DEVICES)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[CodeObject, bytes, str]:
    """gpulab's code object, the same text assembled and linked, and what is read back of that."""
    code = compile(SOURCE, arch=request.param)
    foreign = linked(code.assembly, request.param, tmp_path_factory.mktemp("foreign"))
    return code, foreign, binary.assembly_of(foreign).text


def test_the_instructions_come_back(both: tuple[CodeObject, bytes, str]) -> None:
    code, _, text = both
    own, read = parsed(code.assembly, code.arch), parsed(text, code.arch)
    assert instructions(read) == instructions(own)
    assert list(own.functions) == list(read.functions)
    assert {"saxpy", "large", "_Z5twicef", "_Z6thricef"} <= set(read.functions)


def test_kernels_come_back(both: tuple[CodeObject, bytes, str]) -> None:
    """Each field of a descriptor is the directive from which the assembler made it."""
    code, _, text = both
    own, read = parsed(code.assembly, code.arch).kernels, parsed(text, code.arch).kernels
    assert set(own) == set(read) == {"saxpy", "large"}
    for name, kernel in own.items():
        other = read[name]
        known = {each: value for each, value in kernel.directives.items() if each in other.directives}
        assert len(known) >= 20
        different = {each: (value, other.directives[each]) for each, value in known.items()
                     if value != other.directives[each] and not each.startswith("next_free_")}  # fmt: skip
        assert not different
        assert (other.entry == 0) is (kernel.entry == 0)
        for field in ("arguments", "kernarg_size", "lds_bytes", "private_bytes", "vgprs", "agprs", "sgprs",
                      "max_flat_workgroup_size", "uses_dynamic_stack"):  # fmt: skip
            assert getattr(other, field) == getattr(kernel, field), field


def test_data_come_back(both: tuple[CodeObject, bytes, str]) -> None:
    code, _, text = both
    own, read = parsed(code.assembly, code.arch).data, parsed(text, code.arch).data
    for name in ("counter", "zeros", "table", "pointers", "functions"):
        one, other = own[name], read[name]
        assert (one.size, one.writable) == (other.size, other.writable), name
        assert one.contents.ljust(one.size, b"\0") == other.contents.ljust(one.size, b"\0"), name
        assert one.relocations == other.relocations, name
        assert other.align % one.align == 0
    assert struct.unpack("<4f", read["table"].contents) == (1.5, 2, 3, 4)
    assert [r.symbol for r in read["functions"].relocations] == ["_Z5twicef", "_Z6thricef"]


def test_lines_come_back(both: tuple[CodeObject, bytes, str]) -> None:
    code, _, text = both
    own, read = parsed(code.assembly, code.arch), parsed(text, code.arch)
    instructions = [[each for each in p.instructions if each.mnemonic != "s_nop"] for p in (own, read)]
    pairs = [
        (one.where.line, other.where.line)
        for one, other in zip(*instructions, strict=True)
        if one.where is not None and other.where is not None and one.where.line
    ]
    assert len(pairs) > 0.8 * len(own.instructions)
    assert sum(one == other for one, other in pairs) > 0.9 * len(pairs), "all but places in headers"
    assert {one for one, _ in pairs} >= {7, 8, 13, 15, 16, 20, 21}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_kernel_runs(arch: str, tmp_path: Path) -> None:
    foreign = linked(compile(SOURCE, arch=arch).assembly, arch, tmp_path)
    with gpulab.using(f"virtual:{arch}"):
        found = []
        for module in (gpulab.compile(SOURCE), gpulab.load(foreign)):
            x, y = gpulab.to_device(np.arange(100, dtype="f4")), gpulab.to_device(np.ones(100, "f4"))
            module["saxpy"][2, 64](np.int32(100), np.float32(2.0), x, y)
            room = gpulab.to_device(np.arange(64, dtype="i4"))
            module["large"][1, 64](room, np.int32(3))
            found.append((y.to_host(), room.to_host()))
        assert (found[0][0] == found[1][0]).all()
        assert (found[1][1] == np.arange(64) % 40 * 3).all()
        kernel = gpulab.load(foreign)["saxpy"]
        with gpulab.profile() as run:
            kernel[2, 64](np.int32(100), np.float32(2.0), x, y)
        assert run.launches[0].counters["SQ_INSTS_VALU"] > 0
        with pytest.raises(gpulab.errors.MemoryFault):
            kernel[2, 64](np.int32(100), np.float32(2.0), x, gpulab.Pointer(int(y.address) + (3 << 30), "f4"))
        with pytest.raises(gpulab.errors.ArgumentError, match=r"np\.int32\(5\) or np\.float32\(2\.5\)"):
            kernel[2, 64](100, 2.0, x, y)


def test_far_branches_and_names_that_need_quotes(tmp_path: Path) -> None:
    """A jump over more than 128 KiB goes through s_getpc_b64; a name may hold anything."""
    body = "".join(f"\tv_xor_b32_e32 v1, 0x{i + 70000:x}, v1\n" for i in range(17000))
    text = f"""
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl far
	.p2align 8
	.type far,@function
far:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	s_mov_b32 s6, 2
	v_mov_b32_e32 v1, 0
.Lagain:
{body}	s_sub_i32 s6, s6, 1
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 .Lend
	s_getpc_b64 s[8:9]
.Lhere:
	s_add_u32 s8, s8, (.Lagain-.Lhere)&4294967295
	s_addc_u32 s9, s9, (.Lagain-.Lhere)>>32
	s_setpc_b64 s[8:9]
.Lend:
	s_waitcnt lgkmcnt(0)
	v_lshlrev_b32_e32 v0, 2, v0
	global_store_dword v0, v1, s[2:3]
	s_endpgm
.Lover:
	.size far, .Lover-far
	.amdhsa_kernel far
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel
	.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: far
    .symbol: far.kd
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 4
    .max_flat_workgroup_size: 64
    .args: [{{.offset: 0, .size: 8, .value_kind: global_buffer}}]
	.end_amdgpu_metadata
"""
    expected = 0
    for i in range(17000):
        expected ^= i + 70000
    expected ^= expected  # twice round
    raw = linked(text, "gfx942", tmp_path)
    with gpulab.using("virtual:gfx942"):
        out = gpulab.to_device(np.ones(64, "u4"))
        gpulab.load(raw)["far"][1, 64](out)
        assert (out.to_host() == expected).all()
    quoted = text.replace("far", "fär").replace("fär", '"fär me"')
    quoted = quoted.replace('.name: "fär me"', ".name: fär me").replace('.symbol: "fär me".kd', '.symbol: "fär me.kd"')
    quoted = quoted.replace(body, "").replace(".Lover-", ".Lover - ")
    assert "fär me" in parsed(binary.assembly_of(linked(quoted, "gfx942", tmp_path)).text, "gfx942").kernels


def changed(raw: bytes, address: int, new: bytes) -> bytes:
    """The file with other bytes at an address of its code."""
    section = next(s for s in elf.read(raw) if s.name == ".text")
    at = raw.index(section.contents) + address - section.address
    return raw[:at] + new + raw[at + len(new) :]


def refused(raw: bytes) -> str:
    with pytest.raises(GpulabError) as caught:
        binary.assembly_of(raw)
    return str(caught.value)


def place_of(raw: bytes, mnemonic: str) -> tuple[int, bytes]:
    """Address and bytes of the first instruction of this name."""
    arch = binary.arch_of(raw)
    section = next(s for s in elf.read(raw) if s.name == ".text")
    wave = 64 if architectures.get(arch).wave_size == 64 else 32
    for each in decoder.decode([(section.address, section.contents)], arch, wave):
        if each.text.startswith(mnemonic):
            start = each.address - section.address
            return each.address, section.contents[start : start + each.size]
    raise AssertionError(mnemonic)


@pytest.fixture(scope="module")
def rdna(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return linked(compile(SOURCE, arch="gfx1100").assembly, "gfx1100", tmp_path_factory.mktemp("rdna"))


def test_what_is_not_certain_is_refused_by_name(rdna: bytes) -> None:
    address, given = place_of(rdna, "v_lshlrev_b64")
    # Bits 50 to 58 are a third source, which a shift does not have: 0 and the number of the constant 0 are known.
    for third, fine in ((0, True), (0x80, True), (0x81, False), (0x1FF, False)):
        word = int.from_bytes(given, "little") & ~(0x1FF << 50) | third << 50
        made = changed(rdna, address, word.to_bytes(8, "little"))
        if fine:
            assert "v_lshlrev_b64" in binary.assembly_of(made).text
        else:
            said = refused(made)
            assert "v_lshlrev_b64" in said
            assert f"at {address:#x} in saxpy" in said
            assert word.to_bytes(8, "little").hex(" ") in said
    start, _ = place_of(rdna, "s_getpc_b64")
    assert "are no instruction of gfx1100" in refused(changed(rdna, start, b"\xff\xff\xff\xc3"))
    nop = (0xBF800000).to_bytes(4, "little")
    assert "'s_getpc_b64 s[" in refused(changed(rdna, start + 4, nop * 2)), "the sums are not there"
    second = int.from_bytes(place_of(rdna, "s_cbranch")[1], "little") & 0xFFFF0000 | 0x7000
    assert "outside of it" in refused(changed(rdna, place_of(rdna, "s_cbranch")[0], second.to_bytes(4, "little")))


def test_addresses_where_nothing_is(rdna: bytes) -> None:
    section = next(s for s in elf.read(rdna) if s.name == ".text")
    start, _ = place_of(rdna, "s_getpc_b64")
    at = start + 8  # the literal of the first sum
    assert section.contents[at - 3 - section.address] == 0xFF, "s_add_u32 with a literal"
    assert "where nothing is" in refused(changed(rdna, at, (0x7FFF0000).to_bytes(4, "little")))


def test_files_that_are_something_else(rdna: bytes, tmp_path: Path) -> None:
    unit = (tmp_path / "k.o", linked(compile(SOURCE, arch="gfx1100").assembly, "gfx1100", tmp_path))[0].read_bytes()
    assert "not linked" in refused(unit)
    assert "version of the ABI is 1" in refused(rdna[:8] + b"\x01" + rdna[9:])
    for version in (2, 3, 4):
        assert binary.assembly_of(rdna[:8] + bytes([version]) + rdna[9:]).arch == "gfx1100"
    assert "gfx1177" in refused(rdna.replace(b"amdhsa--gfx1100", b"amdhsa--gfx1177"))
    assert binary.assembly_of(rdna.replace(b"amdhsa.target", b"amdhsa.tarxxx")).arch == "gfx1100"  # the header says it
    nothing = rdna[:48] + bytes(4) + rdna[52:]
    assert "e_flags" in refused(nothing.replace(b"amdhsa.target", b"amdhsa.tarxxx"))
    assert "say nothing of the kernel largx" in refused(rdna.replace(b"large.kd\0", b"largx.kd\0"))


def test_the_numbers_of_devices_are_those_that_llvm_writes(tmp_path: Path, rdna: bytes) -> None:
    unnamed = rdna.replace(b"amdhsa.target", b"amdhsa.tarxxx")
    (tmp_path / "k.s").write_text("s_nop 0\n")
    for arch in texts._MACHINES.values():
        words = ["clang", "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c", "k.s", "-o", f"{arch}.o"]
        outcome = compiler.run(words, folder=tmp_path)
        assert outcome.code == 0, outcome.log
        flags = (tmp_path / f"{arch}.o").read_bytes()[48:52]
        assert binary.arch_of(unnamed[:48] + flags + unnamed[52:]) == arch


def test_without_the_package(rdna: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder.importlib.util, "find_spec", lambda name: None)
    decoder._llvm.cache_clear()
    try:
        assert "no disassembler" in decoder.missing()
        said = refused(rdna)
    finally:
        decoder._llvm.cache_clear()
    assert "rocm-bindings-compiler" in said
    assert "pip install 'gpulab[binaries]'" in said


@pytest.mark.full
def test_wave_size_is_the_kernels_own(tmp_path: Path) -> None:
    """On RDNA a kernel says whether its waves have 32 or 64 lanes; EXEC and VCC are written accordingly."""
    code = compile("__global__ void k(int* x) { if (x[threadIdx.x]) x[threadIdx.x] = 1; }", arch="gfx1100",
                   options=("-mwavefrontsize64",))  # fmt: skip
    raw = linked(code.assembly, "gfx1100", tmp_path, "-mwavefrontsize64")
    text = binary.assembly_of(raw).text
    assert ".amdhsa_wavefront_size32 0" in text
    assert "s_and_saveexec_b64" in text or "v_cmpx" in text
    assert parsed(text, "gfx1100").wave_size == 64


def test_descriptors_bit_by_bit() -> None:
    """LLVM, User Guide for AMDGPU Backend, "Kernel Descriptor": where each field stands."""
    raw = bytearray(64)
    struct.pack_into("<IIIIq", raw, 0, 100, 200, 300, 0, -4096)
    struct.pack_into("<III", raw, 44, 5 | 1 << 16, 2 << 12 | 1 << 14 | 3 << 16 | 2 << 18 | 1 << 21 | 1 << 26,
                     1 | 9 << 1 | 1 << 8 | 2 << 11)  # fmt: skip
    struct.pack_into("<HH", raw, 56, 1 << 1 | 1 << 3 | 1 << 11, 4 | 2 << 7)
    found = descriptor.directives(bytes(raw), "gfx942")
    assert descriptor.entry(bytes(raw)) == -4096
    assert descriptor.wave_size(bytes(raw), "gfx942") == 64
    assert {name: value for name, value in found.items() if value} == {
        "group_segment_fixed_size": 100, "private_segment_fixed_size": 200, "kernarg_size": 300,
        "float_round_mode_32": 2, "float_round_mode_16_64": 1, "float_denorm_mode_32": 3, "float_denorm_mode_16_64": 2,
        "dx10_clamp": 1, "fp16_overflow": 1, "user_sgpr_count": 9, "system_sgpr_workgroup_id_y": 1,
        "system_vgpr_workitem_id": 2, "user_sgpr_dispatch_ptr": 1, "user_sgpr_kernarg_segment_ptr": 1,
        "user_sgpr_kernarg_preload_length": 4, "user_sgpr_kernarg_preload_offset": 2, "enable_private_segment": 1,
        "accum_offset": 24, "tg_split": 1, "uses_dynamic_stack": 1,
    }  # fmt: skip
    rdna = descriptor.directives(bytes(raw), "gfx1030")
    assert rdna["system_sgpr_private_segment_wavefront_offset"] == 1
    assert rdna["wavefront_size32"] == 0
    assert not {"accum_offset", "tg_split", "enable_private_segment"} & set(rdna)
    struct.pack_into("<H", raw, 56, 1 << 10)
    assert (descriptor.wave_size(bytes(raw), "gfx1030"), descriptor.wave_size(bytes(raw), "gfx90a")) == (32, 64)


# LLVM, User Guide for AMDGPU Backend, "Kernel Descriptor" and compute_pgm_rsrc1 to 3: directive, byte, first bit,
# width, and the first and last major version of the devices that have it.
FIELDS = [
    ("group_segment_fixed_size", 0, 0, 32, 9, 12), ("private_segment_fixed_size", 4, 0, 32, 9, 12),
    ("kernarg_size", 8, 0, 32, 9, 12), ("float_round_mode_32", 48, 12, 2, 9, 12),
    ("float_round_mode_16_64", 48, 14, 2, 9, 12), ("float_denorm_mode_32", 48, 16, 2, 9, 12),
    ("float_denorm_mode_16_64", 48, 18, 2, 9, 12), ("dx10_clamp", 48, 21, 1, 9, 11), ("ieee_mode", 48, 23, 1, 9, 11),
    ("fp16_overflow", 48, 26, 1, 9, 12), ("workgroup_processor_mode", 48, 29, 1, 10, 12),
    ("memory_ordered", 48, 30, 1, 10, 12), ("forward_progress", 48, 31, 1, 10, 12),
    ("user_sgpr_count", 52, 1, 5, 9, 12),
    ("system_sgpr_workgroup_id_x", 52, 7, 1, 9, 12), ("system_sgpr_workgroup_id_y", 52, 8, 1, 9, 12),
    ("system_sgpr_workgroup_id_z", 52, 9, 1, 9, 12), ("system_sgpr_workgroup_info", 52, 10, 1, 9, 12),
    ("system_vgpr_workitem_id", 52, 11, 2, 9, 12), ("user_sgpr_private_segment_buffer", 56, 0, 1, 9, 12),
    ("user_sgpr_dispatch_ptr", 56, 1, 1, 9, 12), ("user_sgpr_queue_ptr", 56, 2, 1, 9, 12),
    ("user_sgpr_kernarg_segment_ptr", 56, 3, 1, 9, 12), ("user_sgpr_dispatch_id", 56, 4, 1, 9, 12),
    ("user_sgpr_flat_scratch_init", 56, 5, 1, 9, 12), ("user_sgpr_private_segment_size", 56, 6, 1, 9, 12),
    ("wavefront_size32", 56, 10, 1, 10, 12), ("uses_dynamic_stack", 56, 11, 1, 9, 12),
]  # fmt: skip


@pytest.mark.parametrize("arch", DEVICES)
def test_each_bit_of_a_descriptor(arch: str) -> None:
    """Of each bit alone: the directive that it belongs to, with its value; no other is changed."""
    device = architectures.get(arch)
    none = descriptor.directives(bytes(64), arch)
    scratch = "enable_private_segment" if arch in ("gfx942", "gfx950", "gfx1100", "gfx1201") else (
        "system_sgpr_private_segment_wavefront_offset"
    )  # fmt: skip
    expected: dict[tuple[int, int], dict[str, int]] = {(52, 0): {scratch: 1}}
    for name, byte, first, width, oldest, newest in FIELDS:
        if oldest <= device.major <= newest:
            expected |= {(byte, first + bit): {name: 1 << bit} for bit in range(width)}
    if arch.startswith("gfx9"):
        expected |= {(44, bit): {"accum_offset": ((1 << bit) + 1) * 4} for bit in range(6)}
        expected[44, 16] = {"tg_split": 1}
    for bit in range(16):
        length, offset = (1 << bit, 0) if bit < 7 else (0, 1 << bit - 7)
        expected[58, bit] = {"user_sgpr_kernarg_preload_length": length, "user_sgpr_kernarg_preload_offset": offset}
    zeros = {name: 0 for names in expected.values() for name in names if "preload" not in name}
    assert none == zeros | ({"accum_offset": 4} if arch.startswith("gfx9") else {})
    for byte in (0, 4, 8, 12, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60):
        for bit in range(32):
            raw = bytearray(64)
            raw[byte : byte + 4] = struct.pack("<I", 1 << bit)
            found = descriptor.directives(bytes(raw), arch)
            where = (58, bit - 16) if byte == 56 and bit >= 16 else (byte, bit)
            changed = {name: value for name, value in found.items() if none.get(name) != value}
            assert changed == expected.get(where, {}), where
            lanes = 64 if arch.startswith("gfx9") or where != (56, 10) else 32
            assert descriptor.wave_size(bytes(raw), arch) == lanes


LOW, HIGH = "s_add_u32 s4, s4, 0x10", "s_addc_u32 s5, s5, 0"


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([LOW, HIGH], (0, 1, None)),
        (
            [
                "s_sext_i32_i16 s5, s5",
                "s_add_co_u32 s4, s4, 16",
                "s_wait_alu 0xfffe",
                "s_nop 0",
                "s_delay_alu 1",
                "s_waitcnt_depctr 0",
                "s_add_co_ci_u32 s5, s5, -1",
            ],
            (1, 6, None),
        ),
        (["s_add_nc_u64 s[4:5], s[4:5], 0x10"], (None, None, 0)),
        (["s_nop 0", "s_add_nc_u64 s[4:5], s[4:5], lit64(0x10)"], (None, None, 1)),
        ([], (None, None, None)),
        ([LOW], (None, None, None)),
        ([HIGH], (None, None, None)),
        ([HIGH, LOW], (None, None, None)),
        ([LOW, LOW, HIGH], (None, None, None)),
        ([LOW, "s_add_nc_u64 s[4:5], s[4:5], 0x10"], (None, None, None)),
        (["v_mov_b32 v0, 0", LOW, HIGH], (None, None, None)),
        ([LOW, "v_mov_b32 v0, 0", HIGH], (None, None, None)),
        # other registers, and additions of the other half's kind
        ([LOW.replace("s4, s4", "s6, s4"), HIGH], (None, None, None)),
        ([LOW.replace("s4, s4", "s4, s6"), HIGH], (None, None, None)),
        ([LOW, HIGH.replace("s5, s5", "s5, s6")], (None, None, None)),
        ([LOW, HIGH.replace("s5, s5", "s6, s5")], (None, None, None)),
        ([LOW, HIGH.replace("s5, s5", "s4, s4")], (None, None, None)),
        ([LOW.replace("add", "addc"), HIGH], (None, None, None)),
        ([LOW, HIGH.replace("addc", "add")], (None, None, None)),
        ([LOW, "s_add_co_u32 s5, s5, 0"], (None, None, None)),
        (["s_add_nc_u64 s[6:7], s[4:5], 0x10"], (None, None, None)),
        (["s_add_nc_u64 s[4:5], s[6:7], 0x10"], (None, None, None)),
    ],
)
def test_additions_that_make_an_address(texts: list[str], found: tuple[int | None, ...]) -> None:
    """Of the address in s[4:5]: the index of the addition to its lower half, to its upper half, or to the whole."""
    behind = [decoder.Decoded(4 * at, 4, text) for at, text in enumerate(texts)]
    wanted = tuple(None if at is None else behind[at] for at in found)
    assert binary.text._Writer.sums(SimpleNamespace(), 4, behind) == wanted  # type: ignore[arg-type]


BYTES = bytes(range(1, 133))


@pytest.mark.parametrize(
    ("raw", "size", "placed", "lines"),
    [
        (BYTES, 4, {}, [".long 0x4030201"]),
        (BYTES, 3, {}, [".byte 1, 2, 3"]),
        (BYTES, 9, {}, [".long 0x4030201, 0x8070605", ".byte 9"]),
        (bytes([7] * 128), 68, {}, [".long " + ", ".join(["0x7070707"] * 16), ".long 0x7070707"]),
        (bytes([7] * 128), 128, {}, [".long " + ", ".join(["0x7070707"] * 16)] * 2),
        (b"", 300, {}, [".zero 300"]),
        (b"\1", 8, {}, [".long 0x1, 0x0"]),  # what the file does not hold is zeros
        (BYTES, 0, {}, []),
        (BYTES, 16, {0x1000: "k"}, [".quad k", ".long 0xc0b0a09, 0x100f0e0d"]),
        (BYTES, 16, {0x1008: "k+8"}, [".long 0x4030201, 0x8070605", ".quad k+8"]),
        (BYTES, 25, {0x1001: "k", 0x1009: "m"}, [".byte 1", ".quad k", ".quad m", ".long 0x15141312, 0x19181716"]),
        (BYTES, 8, {0x1000: "k", 0x1008: "behind", 0xFF8: "before"}, [".quad k"]),
    ],
)
@pytest.mark.parametrize("before", [0, 5])
def test_data_as_directives(raw: bytes, size: int, placed: dict[int, str], lines: list[str], before: int) -> None:
    """The object at 0x1000 of a section that begins there or some bytes before it."""
    section = elf.Section(".data", 1, 3, 0x1000 - before, bytes(before) + raw)
    writer = SimpleNamespace(out=[])
    binary.text._Writer.contents(writer, section, 0x1000, size, placed)  # type: ignore[arg-type]
    assert [line.removeprefix("\t").replace("\t", " ") for line in writer.out] == lines


def test_which_data_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data without a name (.Lat_ and its address) is written where something leads to it; notes are no data."""
    monkeypatch.setattr(elf, "relocations", lambda raw: ())
    writer = object.__new__(binary.text._Writer)
    writer.elf = b""
    writer.sections = (
        elf.Section(".rodata", 1, 2, 0x1000, b"12345678", 8), elf.Section(".empty", 1, 2, 0x1800, b"1234", 4),
        elf.Section(".bss", 8, 3, 0x2000, b"", 16), elf.Section(".text", 1, 6, 0x3000, b"1234", 4),
        elf.Section(".note", 7, 2, 0x4000, b"1234", 4),
    )  # fmt: skip
    writer.objects = [
        (0x1000, 4, "a"), (0x1004, 4, ".Lat_1004"), (0x2000, 8, "b c"), (0x2008, 8, ".Lat_2008"), (0x3000, 4, "code"),
        (0x4000, 4, "note"),
    ]  # fmt: skip
    used = "\ts_add_u32 s0, s0, .Lat_1004@rel32@lo+4"
    writer.out = [used]
    writer.data()
    assert writer.out == [
        used, '\t.section\t".rodata","a",@progbits', "\t.p2align\t8", "\t.type\ta,@object", "a:", "\t.long\t0x34333231",
        "\t.size\ta, 4", "\t.p2align\t2", "\t.type\t.Lat_1004,@object", ".Lat_1004:", "\t.long\t0x38373635",
        "\t.size\t.Lat_1004, 4", '\t.section\t".bss","aw",@nobits', "\t.p2align\t8", '\t.type\t"b c",@object', '"b c":',
        "\t.zero\t8", '\t.size\t"b c", 8',
    ]  # fmt: skip
    placed = {8: ".Lat_2008+4"}
    assert [writer.is_used(name, placed) for name in (".Lat_1004", ".Lat_2008", ".Lat_9")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("a.b_$1", "a.b_$1"), ("1a", '"1a"'), ("b c", '"b c"'), ('a"\\\n\x7f', '"a____"'), ("", '""'), ("é", '"é"')],
)
def test_symbols_as_the_assembler_takes_them(name: str, quoted: str) -> None:
    assert binary.text._name(name) == quoted


@pytest.mark.parametrize(
    ("value", "whole"),
    [(0, 0), (7, 7), ((1 << 32) - 1, (1 << 32) - 1), (1 << 32, 0), (-1, 0), ("7", 0), (None, 0), (1.5, 0)],
)
def test_numbers_of_the_metadata(value: object, whole: int) -> None:
    assert binary.text._whole(value) == whole


def line_program(body: bytes, version: int = 5, tables: bytes | None = None) -> bytes:
    """A line number program by hand, of DWARF 4 or 5, with two files."""
    head = bytes([4, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    if tables is not None:
        middle = head + tables
    elif version == 4:
        names = b"above\0\0" + b"a.py\0\x01\x00\x00" + b"/b.py\0\x01\x00\x00\0"
        middle = head + names
    else:
        names = bytes([1, 1, 8, 2]) + b"/here\0above\0" + bytes([2, 1, 8, 2, 11, 2]) + b"c.py\0\x00a.py\0\x01"
        middle = head + names
    start = struct.pack("<H", version) + (b"\x08\x00" if version >= 5 else b"")
    text = start + struct.pack("<I", len(middle)) + middle + body
    return struct.pack("<I", len(text)) + text


SET_ADDRESS = b"\x00\x09\x02" + struct.pack("<Q", 0x1000)
END = b"\x00\x01\x01"


@pytest.mark.parametrize("version", [4, 5])
def test_line_programs_by_hand(version: int) -> None:
    """DWARF 5, 6.2.5: opcodes with line base -5, line range 14, opcode base 13, 4 bytes to an instruction."""
    body = (
        SET_ADDRESS + b"\x03\x09\x05\x07\x01"  # line 10, column 7, copy
        + bytes([13 + 14 * 2 + (3 + 5)])  # two instructions and three lines further
        + b"\x02\x04\x03\x7d\x01"  # four instructions further, three lines back, copy
        + b"\x08\x01"  # const_add_pc: (255 - 13) / 14 = 17 instructions
        + b"\x09\x10\x00\x06\x0a\x01"  # fixed_advance_pc 16 bytes, negate_stmt, prologue_end
        + END
    )  # fmt: skip
    rows = lines.rows({".debug_line": line_program(body, version)})
    name = "above/a.py"
    assert rows == [
        (0x1000, name, 10, 7), (0x1008, name, 13, 7), (0x1018, name, 10, 7), (0x1018 + 68, name, 10, 7),
        (0x1018 + 84, name, 10, 7),
    ]  # fmt: skip
    assert lines.rows({}) == []


A_PY, C_PY = "above/a.py", "/here/c.py"


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (b"\x01", [(0x1000, A_PY, 1, 0)]),
        (b"\x04\x00\x01", [(0x1000, C_PY, 1, 0)]),
        (b"\x04\x02\x01", [(0x1000, "", 1, 0)]),  # a file that is not there
        (b"\x05\x81\x01\x03\x02\x01", [(0x1000, A_PY, 3, 129)]),
        (b"\x06\x07\x0a\x0b\x01", [(0x1000, A_PY, 1, 0)]),
        (b"\x0c\x01\x0c\x81\x01\x01", [(0x1000, A_PY, 1, 0)]),  # set_isa has an operand
        (b"\x02\x81\x01\x01", [(0x1000 + 129 * 4, A_PY, 1, 0)]),
        (b"\x03\x70\x01", [(0x1000, A_PY, 0, 0)]),  # lines before the first
        (bytes([13]), [(0x1000, A_PY, 0, 0)]),
        (bytes([13 + 5]), [(0x1000, A_PY, 1, 0)]),
        (bytes([13 + 13]), [(0x1000, A_PY, 9, 0)]),
        (bytes([13 + 14 + 5]), [(0x1004, A_PY, 1, 0)]),
        (b"\x03\x09" + bytes([255]), [(0x1000 + 17 * 4, A_PY, 9, 0)]),
        (b"\x00\x03\x80\xaa\xbb\x01", [(0x1000, A_PY, 1, 0)]),  # an extended opcode that is not known
        (b"\x00\x05\x02\x00\x30\x00\x00\x01", [(0x3000, A_PY, 1, 0)]),  # an address of four bytes
        (b"\x03\x09\x05\x07\x04\x00\x01" + END + b"\x01", [(0, A_PY, 1, 0), (0x1000, C_PY, 10, 7)]),
        (b"\x00\x09\x02\x88\x77\x66\x55\x44\x33\x22\x11\x01", [(0x1122334455667788, A_PY, 1, 0)]),
        (b"", []),
    ],
)
def test_opcodes_of_line_programs(body: bytes, rows: list[tuple[int, str, int, int]]) -> None:
    assert lines.rows({".debug_line": line_program(SET_ADDRESS + body)}) == rows


def test_a_line_program_that_sets_no_address() -> None:
    assert lines.rows({".debug_line": line_program(b"\1")}) == [(0, A_PY, 1, 0)]


def test_files_of_dwarf_4() -> None:
    def named(number: int) -> str:
        (row,) = lines.rows({".debug_line": line_program(SET_ADDRESS + bytes([4, number, 1]), 4)})
        return row.file

    assert [named(number) for number in range(4)] == ["", "above/a.py", "/b.py", ""]


STRINGS = {".debug_line_str": b"abc\0x.py\0", ".debug_str": b"ab\0x.py\0"}
FOLDERS = bytes([1, 1, 8, 2]) + b"/here\0above\0"
FIRST = {8: b"c.py\0", 0x1F: bytes(4), 0x0E: bytes(4)}


@pytest.mark.parametrize(("form", "path"), [(8, b"x.py\0"), (0x1F, b"\4\0\0\0"), (0x0E, b"\3\0\0\0")])
@pytest.mark.parametrize(
    ("folder_form", "folder"), [(0x0B, b"\1"), (5, b"\1\0"), (6, b"\1" + bytes(3)), (7, b"\1" + bytes(7)), (15, b"\1")]
)
@pytest.mark.parametrize(
    ("content", "other"),
    [(None, b""), (0x1E, bytes(range(16))), (9, b"\3abc"), (15, b"\x81\1"), (8, b"zz\0"), (9, b"\0")],
)  # fmt: skip
def test_forms_of_dwarf_5(
    form: int, path: bytes, folder_form: int, folder: bytes, content: int | None, other: bytes
) -> None:
    """DWARF 5, 6.2.4.1: each form of a path and of a folder's number, with another field (0x2001) before them."""
    formats = [
        *([] if content is None else [b"\x81\x40" + bytes([content])]),
        bytes([1, form]),
        bytes([2, folder_form]),
    ]
    files = bytes([len(formats)]) + b"".join(formats) + b"\2"
    files += other + FIRST[form] + folder.replace(b"\1", b"\0") + other + path + folder
    found = lines.rows({".debug_line": line_program(SET_ADDRESS + b"\1", 5, FOLDERS + files), **STRINGS})
    assert found == [(0x1000, "above/x.py", 1, 0)]


def test_paths_without_a_folder() -> None:
    def named(folder: bytes, path: bytes, folders: bytes = FOLDERS) -> str:
        tables = folders + bytes([2, 1, 8, 2, 11, 2]) + b"c.py\0\0" + path + b"\0" + folder
        return lines.rows({".debug_line": line_program(SET_ADDRESS + b"\1", 5, tables)})[0].file

    assert named(b"\2", b"x.py") == "x.py"  # no such folder
    assert named(b"\1", b"/x.py") == "/x.py"
    assert named(b"\0", b"x.py", bytes([1, 1, 8, 1, 0])) == "x.py"
    assert named(b"\0", b"x.py", bytes([0, 0])) == "x.py"
    assert named(b"\0", b"x.py", bytes([0, 100])) == "x.py"  # folders without fields
    in_the_first = FOLDERS + bytes([1, 1, 8, 2]) + b"c.py\0x.py\0"
    (row,) = lines.rows({".debug_line": line_program(SET_ADDRESS + b"\1", 5, in_the_first)})
    assert row.file == "/here/x.py"
    other_last = FOLDERS + bytes([3, 1, 8, 2, 11, 3, 11, 2]) + b"c.py\0\0\1" + b"x.py\0\1\0"
    (row,) = lines.rows({".debug_line": line_program(SET_ADDRESS + b"\1", 5, other_last)})
    assert row.file == "above/x.py"
    unknown = FOLDERS + bytes([1, 1, 0x99, 1]) + b"c.py\0"
    assert lines.rows({".debug_line": line_program(SET_ADDRESS + b"\1", 5, unknown)}) == []


def test_several_line_programs() -> None:
    second, first = (line_program(b"\x00\x09\x02" + struct.pack("<Q", at) + b"\1") for at in (0x2000, 0x1000))
    rows = [(0x1000, A_PY, 1, 0), (0x2000, A_PY, 1, 0)]
    assert lines.rows({".debug_line": second + first}) == rows
    for other in (line_program(SET_ADDRESS + b"\1", 3), line_program(SET_ADDRESS + b"\1", 6)):
        assert lines.rows({".debug_line": second + other + first}) == rows  # of another version
    assert lines.rows({".debug_line": second + first + struct.pack("<I", 1) + bytes(1)}) == []
    for end in (b"\1", bytes(3), bytes(4), struct.pack("<I", 1) + bytes(0), struct.pack("<I", 0xFFFFFFFF) + bytes(12)):
        assert lines.rows({".debug_line": second + first + end}) == rows
    assert lines.rows({".debug_line": second + first[:-1]}) == rows[1:]


def test_damaged_line_programs_give_no_lines() -> None:
    good = line_program(SET_ADDRESS + b"\x03\x09\x01" + END)
    assert len(lines.rows({".debug_line": good})) == 1
    for at in range(len(good)):
        for byte in (0, 1, 127, 255):
            found = lines.rows({".debug_line": good[:at] + bytes([byte]) + good[at + 1 :]})
            assert all(row.line >= 0 for row in found)
        lines.rows({".debug_line": good[:at]})


def test_tables_of_symbols_and_relocations(rdna: bytes) -> None:
    symbols = {s.name: s for s in elf.symbols(rdna)}
    assert (symbols["counter"].size, symbols["counter"].kind) == (4, elf.OBJECT)
    assert (symbols["zeros"].size, symbols["saxpy"].kind) == (1200, elf.FUNCTION)
    assert symbols["saxpy.kd"].size == 64
    kinds = [(r.kind, r.symbol) for r in elf.relocations(rdna)]
    assert len(kinds) >= 3  # &counter, twice, thrice
    assert {kind for kind, _ in kinds} <= {3, 13}
    for name in (b".symtab", b".strtab"):  # without the full table, what is exported remains
        rdna = rdna.replace(name, b".xxxxxx")
    assert re.search(rb"\.xxxxxx", rdna)


@pytest.mark.parametrize("behind", ["nothing", "memory that nobody may read"])
def test_an_image_whose_headers_name_memory_that_is_not_there(rdna: bytes, behind: str) -> None:
    """Real memory ends behind the image; a damaged header says that the image goes on."""
    import ctypes
    import mmap

    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    far = 1 << 26
    for place, value in ((32, far), (40, far), (40, 1 << 29), (32, (1 << 64) - 64)):
        damaged = bytearray(rdna)
        damaged[place : place + 8] = value.to_bytes(8, "little")
        size = -(-len(damaged) // mmap.PAGESIZE) * mmap.PAGESIZE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        room = size + 2 * far
        address = int(libc.mmap(None, ctypes.c_size_t(room), 0, flags, -1, ctypes.c_long(0)))
        start = ctypes.c_void_p(address)
        try:
            assert libc.mprotect(start, ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_WRITE) == 0
            ctypes.memmove(address, bytes(damaged), len(damaged))
            if behind == "nothing":
                assert libc.munmap(ctypes.c_void_p(address + size), ctypes.c_size_t(room - size)) == 0
            with pytest.raises(Failure) as caught:
                images.image_at(address)
            assert caught.value.code == codes.INVALID_IMAGE
        finally:
            libc.munmap(start, ctypes.c_size_t(size if behind == "nothing" else room))


def test_an_object_without_code_has_no_kernels(tmp_path: Path) -> None:
    text = (
        '\t.section .rodata,"a",@progbits\n\t.globl table\n\t.type table,@object\ntable:\n\t.long 7\n\t.size table, 4\n'
    )
    notes = "amdhsa.kernels: []\namdhsa.target: amdgcn-amd-amdhsa--gfx942\namdhsa.version: [1, 2]\n"
    text += f"\t.amdgpu_metadata\n---\n{notes}...\n\t.end_amdgpu_metadata\n"
    assert "table" in binary.assembly_of(linked(text, "gfx942", tmp_path)).text


def test_what_is_no_image_is_refused_by_name() -> None:
    """Of bitcode, which has no length of its own, the blocks are counted (tests/hip/test_hiprtc.py loads some)."""
    import ctypes

    room = ctypes.create_string_buffer(b"\x7fNOT" + bytes(60))
    with pytest.raises(Failure, match=r"neither an ELF file, an offload bundle nor LLVM bitcode") as caught:
        images.image_at(ctypes.addressof(room))
    assert caught.value.code == codes.INVALID_IMAGE


@pytest.mark.parametrize(
    ("data", "unsigned", "signed"),
    [
        ("02", 2, 2), ("7f", 127, -1), ("8001", 128, 128), ("8101", 129, 129), ("b964", 12857, -3527), ("7e", 126, -2),
        ("ff00", 127, 127), ("807f", 16256, -128), ("ff7e", 16255, -129), ("80" * 9 + "01", 2**63, 2**63),
        ("ff" * 9 + "01", 2**64 - 1, 2**64 - 1), ("80" * 9 + "7f", 127 << 63, -(2**63)),
    ],
)  # fmt: skip
def test_numbers_of_any_length(data: str, unsigned: int, signed: int) -> None:
    """LEB128: DWARF 5, tables 7.7 and 7.8; ten bytes hold 64 bits. The next number is found behind it."""
    raw = bytes.fromhex(data) + b"\5"
    for name, value in (("unsigned", unsigned), ("signed", signed)):
        reader = lines._Reader(raw, 0, len(raw))
        assert (getattr(reader, name)(), reader.number(1)) == (value, 5)


def test_numbers_end_where_the_program_ends() -> None:
    for end in (3, 4):
        reader = lines._Reader(b"\1\2\3\4\5\6", 1, end)
        if end == 4:
            assert (reader.number(3), reader.at) == (0x040302, 4)
        else:
            with pytest.raises(IndexError):
                reader.number(3)


def test_so_many_lines_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines._MOST_ROWS == 1048576
    monkeypatch.setattr(lines, "_MOST_ROWS", 5)
    one, four, five = (line_program(SET_ADDRESS + b"\1" * count) for count in (1, 4, 5))
    for programs, count in ((five + one, 5), (four + one, 5), (four + five, 5), (four, 4), (one * 7, 5)):
        assert len(lines.rows({".debug_line": programs})) == count


def test_a_number_without_an_end_ends_with_its_tenth_byte() -> None:
    reader = lines._Reader(b"\x80" * 100, 0, 100)
    reader.unsigned()
    assert reader.at == 10
    reader.signed()
    assert reader.at == 20


# Steps of the writer alone: sections, symbols and instructions by hand


def writer(symbols: list[tuple[str, int, int, int]] = [], arch: str = "gfx942") -> Any:  # noqa: B006
    """A writer with code at 0x1000 and 0x2000, data at 0x3000 and 0x4000, and a note; symbols as name, address, size
    and kind."""
    made = object.__new__(binary.text._Writer)
    made.elf, made.arch, made.out, made.labels, made.objects, made.metadata = b"", arch, [], {}, [], {}
    made.sections = (
        elf.Section(".text", 1, 6, 0x1000, bytes(0x40), 0x40), elf.Section(".more", 1, 6, 0x2000, bytes(0x20), 0x20),
        elf.Section(".data", 1, 3, 0x3000, bytes(range(0x20)), 0x20), elf.Section(".bss", 8, 3, 0x4000, b"", 0x30),
        elf.Section(".note", 7, 2, 0x5000, bytes(16), 16),
    )  # fmt: skip
    made.symbols = [elf.Symbol(name, address, size, kind, 1) for name, address, size, kind in symbols]
    return made


def said_by(call: Any, *arguments: Any) -> str:
    with pytest.raises(GpulabError) as caught:
        call(*arguments)
    return str(caught.value.what)


REFUSED = "this code object cannot be run here: "


def test_bytes_at_an_address() -> None:
    made = writer()
    assert made.bytes_at(0x3000, 0x20) == bytes(range(0x20))
    assert made.bytes_at(0x3004, 2) == b"\4\5"
    for address, size in ((0x3001, 0x20), (0x2FFF, 1), (0x3020, 1), (0x5000, 4), (0x4000, 1)):
        said = said_by(made.bytes_at, address, size)
        assert said == f"{REFUSED}it has no {size} bytes at address {address:#x}, where a symbol says so."


def test_kernels_by_their_descriptors() -> None:
    made = writer([("k.kd", 0x1000, 64, elf.OBJECT), ("f.kd", 0x1000, 64, elf.FUNCTION), ("k", 0x1000, 4, 1)])
    assert made.kernels() == {"k": (0x1000, bytes(64))}


F, D = elf.FUNCTION, elf.OBJECT


def entered(offset: int) -> bytes:
    """A kernel descriptor whose code stands so far behind it."""
    return bytes(16) + struct.pack("<q", offset) + bytes(40)


@pytest.mark.parametrize(
    ("symbols", "kernels", "found"),
    [
        ([], {}, []),
        ([("f", 0x1000, 0x10, F)], {}, [(0x1000, 0x1010, "f")]),
        ([("f", 0x1000, 0, F)], {}, [(0x1000, 0x1040, "f")]),
        ([("f", 0x1004, 0x100, F)], {}, [(0x1004, 0x1040, "f")]),
        ([("g", 0x1010, 4, F), ("f", 0x1000, 0, F)], {}, [(0x1000, 0x1010, "f"), (0x1010, 0x1014, "g")]),
        ([("f", 0x1000, 0x18, F), ("g", 0x1010, 4, F)], {}, [(0x1000, 0x1010, "f"), (0x1010, 0x1014, "g")]),
        ([("f", 0x1000, 8, F), ("g", 0x1000, 4, F)], {}, [(0x1000, 0x1008, "f")]),
        ([("f", 0x1000, 0, F), ("g", 0x1000, 4, F)], {}, [(0x1000, 0x1004, "g")]),
        ([("f", 0x1000, 8, D), ("g", 0x1040, 4, F), ("h", 0xFFF, 4, F), ("i", 0x3000, 4, F)], {}, []),
        ([("f", 0x103F, 0, F), ("g", 0x2000, 0, F)], {}, [(0x103F, 0x1040, "f"), (0x2000, 0x2020, "g")]),
        ([], {"k": (0x3000, entered(-0x2000))}, [(0x1000, 0x1040, "k")]),
        ([("f", 0x1000, 8, F)], {"k": (0x3000, entered(-0x2000))}, [(0x1000, 0x1008, "k")]),
        ([("f", 0x1000, 8, F)], {"k": (0x1000, entered(0x101F))}, [(0x1000, 0x1008, "f"), (0x201F, 0x2020, "k")]),
    ],
)
def test_functions_in_the_code(
    symbols: list[tuple[str, int, int, int]],
    kernels: dict[str, tuple[int, bytes]],
    found: list[tuple[int, int, str]],
) -> None:
    made = writer(symbols)
    assert [(f.start, f.end, f.name) for f in made.functions(made.sections[:2], kernels)] == found


@pytest.mark.parametrize("offset", [-1, 0x40, 0x2000])
def test_kernels_that_begin_where_no_code_is(offset: int) -> None:
    made = writer()
    said = said_by(made.functions, made.sections[:2], {"k": (0x1000, entered(offset))})
    assert said == f"{REFUSED}the kernel k begins at {0x1000 + offset:#x}, where there is no code."


def code_of(*texts: str, start: int = 0x1000, size: int = 4) -> list[decoder.Decoded]:
    return [decoder.Decoded(start + size * at, size, text) for at, text in enumerate(texts)]


def test_functions_get_their_instructions() -> None:
    made = writer()
    one, two = binary.text._Function(0x1004, 0x100C, "one"), binary.text._Function(0x1010, 0x1014, "two")
    decoded = code_of("", "a", "b", "", "c", "d")
    made.share(decoded, [one, two])
    assert [each.instructions for each in (one, two)] == [decoded[1:3], decoded[4:5]]
    assert said_by(made.share, decoded, [binary.text._Function(0x1000, 0x1008, "three")]) == (
        f"{REFUSED}the bytes 00 00 00 00 at 0x1000 in three are no instruction of gfx942."
    )
    wrong = [decoded[1], replace(decoded[2], same=False, size=8)]
    with pytest.raises(GpulabError) as caught:
        made.share(wrong, [one])
    assert caught.value.what == (f"{REFUSED}the bytes 00 00 00 00 00 00 00 00 at 0x1008 in one are not those of 'b'.")
    assert "and its assembler writes others" in caught.value.why
    inside = binary.text._Function(0x1006, 0x100C, "inside")
    assert said_by(made.share, decoded, [inside]) == f"{REFUSED}inside begins at 0x1006, within an instruction."


@pytest.mark.parametrize(
    ("symbols", "found"),
    [
        ([], [(0x3000, 0x20, ".Lat_3000"), (0x4000, 0x30, ".Lat_4000")]),
        (
            [("b", 0x3010, 0x10, D), ("a", 0x3004, 8, D), ("c", 0x4000, 0x30, D)],
            [
                (0x3000, 4, ".Lat_3000"), (0x3004, 8, "a"), (0x300C, 4, ".Lat_300c"), (0x3010, 0x10, "b"),
                (0x4000, 0x30, "c"),
            ],
        ),
        # beyond the section, without a size, functions, descriptors, and second names for the same place
        (
            [("a", 0x3010, 0x11, D), ("b", 0x2FFF, 4, D), ("c", 0x3000, 0, D), ("d", 0x3000, 4, F),
             ("e.kd", 0x3000, 4, D), ("f", 0x4000, 0x30, D), ("g", 0x4000, 0x30, D), ("h", 0x402F, 1, D)],
            [(0x3000, 0x20, ".Lat_3000"), (0x4000, 0x30, "f")],
        ),
        ([("a", 0x3000, 4, 0), ("b", 0x3004, 4, D)], [
            (0x3000, 4, "a"), (0x3004, 4, "b"), (0x3008, 0x18, ".Lat_3008"), (0x4000, 0x30, ".Lat_4000"),
        ]),
    ],
)  # fmt: skip
def test_objects_in_the_data(symbols: list[tuple[str, int, int, int]], found: list[tuple[int, int, str]]) -> None:
    made = writer(symbols)
    made.find_objects()
    assert made.objects == found
    made.sections, made.objects = made.sections[::-1], []
    made.find_objects()
    assert made.objects == found


def test_sections_that_are_too_large() -> None:
    made = writer()
    made.sections = (elf.Section(".bss", 8, 3, 0x4000, b"", 1 << 30),)
    made.find_objects()
    assert made.objects == [(0x4000, 1 << 30, ".Lat_4000")]
    made.sections = (elf.Section(".bss", 8, 3, 0x4000, b"", (1 << 30) + 1),)
    assert said_by(made.find_objects) == f"{REFUSED}its section .bss has 1,073,741,825 bytes."


def test_names_of_addresses() -> None:
    made = writer()
    made.labels, made.objects = {0x1000: "f", 0x3004: "g"}, [(0x3000, 8, "a"), (0x3008, 4, "b")]
    names = {at: made.name_of(at) for at in (0x1000, 0x1001, 0x2FFF, 0x3000, 0x3004, 0x3008, 0x300C, 0x300D)}
    assert names == {
        0x1000: ("f", 0), 0x1001: ("", 0), 0x2FFF: ("", 0), 0x3000: ("a", 0), 0x3004: ("g", 0), 0x3008: ("b", 0),
        0x300C: ("b", 4), 0x300D: ("", 0),
    }  # fmt: skip
    assert made.name_of(0x3004, code=False) == ("a", 4)


def body_of(made: Any, *texts: str) -> list[str]:
    """The texts of a function at 0x1000."""
    function = binary.text._Function(0x1000, 0x1040, "f", code_of(*texts))
    made.labels[0x1000] = "f"
    return [text for _, text in made.body(function)]


def test_jumps_to_labels() -> None:
    made = writer()
    made.labels[0x2000] = "g"
    texts = ["s_branch 1", "s_nop 0", "s_cbranch_scc1 65533", "s_branch 65532", "s_call_b64 s[2:3], 1019", "s_nop 2"]
    assert body_of(made, *texts) == [
        "s_branch .LBB_1008", "s_nop 0", "s_cbranch_scc1 f", "s_branch f", "s_call_b64 s[2:3], g", "s_nop 2",
    ]  # fmt: skip
    assert made.labels == {0x1000: "f", 0x2000: "g", 0x1008: ".LBB_1008"}
    for text, target in (("s_branch 32767", 0x1004 + 4 * 32767), ("s_branch 32768", 0x1004 - 4 * 32768)):
        assert said_by(body_of, writer(), text) == (
            f"{REFUSED}{text!r} at 0x1000 in f leads to {target:#x}, outside of it."
        )


def test_addresses_by_symbols() -> None:
    """s_getpc_b64 gives the next instruction's address, 0x1004; a sum's offset counts from there to its literal."""
    made = writer()
    made.objects = [(0x3000, 0x20, "a")]
    low, high = "s_add_u32 s4, s4, 0x2004", "s_addc_u32 s5, s5, 0"
    pc = "s_getpc_b64 s[4:5]"
    assert body_of(made, pc, low, high) == [
        pc, "s_add_u32 s4, s4, a@rel32@lo+12", "s_addc_u32 s5, s5, a@rel32@hi+20",
    ]  # fmt: skip
    assert body_of(made, pc, "s_nop 0", low, "s_nop 1", high)[1:] == [
        "s_nop 0", "s_add_u32 s4, s4, a@rel32@lo+16", "s_nop 1", "s_addc_u32 s5, s5, a@rel32@hi+28",
    ]  # fmt: skip
    assert body_of(made, pc, "s_add_u32 s4, s4, 0x2005", high)[1] == "s_add_u32 s4, s4, a@rel32@lo+13"
    wide = "s_add_nc_u64 s[4:5], s[4:5], lit64(0x1ffc)"
    assert body_of(made, pc, wide)[1:] == ["s_add_nc_u64 s[4:5], s[4:5], a@rel64+4"]
    assert body_of(made, pc, "s_add_nc_u64 s[4:5], s[4:5], -4")[1:] == ["s_add_nc_u64 s[4:5], s[4:5], f@rel64+4"]
    assert body_of(made, pc, "s_add_u32 s4, s4, -4", "s_addc_u32 s5, s5, -1")[1] == "s_add_u32 s4, s4, f@rel32@lo+4"
    # a place within the function: a jump that is too far for s_branch
    texts = [pc, "s_add_u32 s4, s4, 4", high]
    assert body_of(made, *texts)[1:] == [
        "s_add_u32 s4, s4, (.LBB_1008-.Lpc_1004)&4294967295", "s_addc_u32 s5, s5, (.LBB_1008-.Lpc_1004)>>32",
    ]  # fmt: skip
    assert (made.labels[0x1004], made.labels[0x1008]) == (".Lpc_1004", ".LBB_1008")
    assert said_by(body_of, writer(), pc, "s_add_u32 s4, s4, 0x7000", high) == (
        f"{REFUSED}f uses the address 0x8004 (made at 0x1000), where nothing is."
    )
    assert said_by(body_of, writer(), pc, low) == f"{REFUSED}what is done with {pc!r} at 0x1000 in f is not known."
    near = [pc, *["s_nop 0"] * 6, low, high]
    assert body_of(made, *near)[-1] == "s_addc_u32 s5, s5, a@rel32@hi+44"
    far = [pc, *["s_nop 0"] * 7, low, high]
    assert said_by(body_of, writer(), *far) == f"{REFUSED}what is done with {pc!r} at 0x1000 in f is not known."


def test_words_that_the_loader_fills_in() -> None:
    made = writer([("a", 0x3000, 8, D), ("f", 0x1000, 4, F), ("lost", 0x9000, 4, D)])
    made.objects, made.labels = [(0x3000, 8, "a"), (0x3008, 8, "b c")], {0x1000: "f"}
    value = lambda kind, symbol, addend: made.value(elf.Relocation(0x3010, kind, symbol, addend))  # noqa: E731
    assert [value(13, "", addend) for addend in (0x3000, 0x3004, 0x3009, 0x1000)] == ["a", "a+4", '"b c"+1', "f"]
    assert [value(3, "a", 0), value(3, "a", 4), value(3, "f", 0)] == ["a", "a+4", "f"]
    assert said_by(value, 3, "none", 0) == f"{REFUSED}it needs the symbol none, which it does not have."
    assert said_by(value, 1, "a", 0) == f"{REFUSED}it has a relocation of kind 1."
    for kind, symbol, addend in ((13, "", 0x9000), (3, "lost", 0)):
        assert said_by(value, kind, symbol, addend) == (
            f"{REFUSED}a word at 0x3010 is to hold an address where nothing is."
        )


def test_a_function_with_its_lines() -> None:
    made = writer()
    made.labels = {0x1000: "f g", 0x1008: ".LBB_1008"}
    body = [(each, each.text) for each in code_of("a", "b", "c", "d")]
    rows = [lines.LineStart(*row) for row in ((0x1000, "x", 5, 1), (0x1004, "x", 5, 3), (0x1008, "x", 6, 2),
                                              (0x100C, "y", 6, 0))]  # fmt: skip
    made.function(binary.text._Function(0x1000, 0x1010, "f g"), body, rows, {"x": 1, "y": 2})
    assert made.out == [
        '\t.globl\t"f g"', "\t.p2align\t8", '\t.type\t"f g",@function', '"f g":', "\t.loc\t1 5 1", "\ta", "\tb",
        ".LBB_1008:", "\t.loc\t1 6 2", "\tc", "\t.loc\t2 6 0", "\td", ".Lfunc_end_1000:",
        '\t.size\t"f g", .Lfunc_end_1000-"f g"',
    ]  # fmt: skip
    made.out = []
    made.function(binary.text._Function(0x1000, 0x1010, "f"), body[:1], rows[1:], {"x": 1, "y": 2})
    assert made.out[4:] == ["\ta", ".Lfunc_end_1000:", "\t.size\tf, .Lfunc_end_1000-f"]


def test_a_descriptor_as_directives() -> None:
    made = writer(arch="gfx1100")
    made.metadata = {"amdhsa.kernels": [7, {".name": "k", ".vgpr_count": 9, ".sgpr_count": -1},
                                        {".symbol": "other.kd", ".vgpr_count": 3, ".sgpr_count": 2}]}  # fmt: skip
    made.descriptor("k", bytes(64))
    assert made.out[0] == "\t.amdhsa_kernel k"
    assert made.out[-3:] == ["\t\t.amdhsa_next_free_vgpr 9", "\t\t.amdhsa_next_free_sgpr 0", "\t.end_amdhsa_kernel"]
    assert len(made.out) == 4 + len(descriptor.directives(bytes(64), "gfx1100"))
    made.descriptor("other", bytes(64))
    assert made.out[-3:-1] == ["\t\t.amdhsa_next_free_vgpr 3", "\t\t.amdhsa_next_free_sgpr 2"]
    assert said_by(made.descriptor, "none", bytes(64)) == f"{REFUSED}its metadata say nothing of the kernel none."
    made.metadata = {"amdhsa.kernels": {".name": "k"}}
    assert made.described() == []


def test_kernels_of_both_wave_sizes() -> None:
    made = writer(arch="gfx1100")
    narrow, wide = bytes(56) + struct.pack("<H", 1 << 10) + bytes(6), bytes(64)
    made.kernels = lambda: {"a": (0x1000, narrow), "b": (0x1000, wide)}
    assert said_by(made.write) == f"{REFUSED}some of its kernels have waves of 32 lanes, others of 64."


@pytest.mark.parametrize(
    ("arch", "kernels", "lanes"),
    [
        ("gfx1100", {"k": 1 << 10}, 32), ("gfx1100", {"k": 0}, 64), ("gfx1100", {}, 32), ("gfx942", {"k": 1 << 10}, 64),
        ("gfx942", {}, 64), ("gfx1100", {"k": 1 << 10, "m": 1 << 10}, 32),
    ],
)  # fmt: skip
def test_a_whole_text(arch: str, kernels: dict[str, int], lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of two sections, data that something leads to, lines of two files, and the metadata, in their order."""
    asked: list[Any] = []

    def decode(pieces: Any, arch: str, wave_size: int) -> list[decoder.Decoded]:
        asked.append(([(at, len(code)) for at, code in pieces], arch, wave_size))
        return code_of("s_branch 0", "s_endpgm") + code_of("a", "b", start=0x2000)

    monkeypatch.setattr(decoder, "decode", decode)
    monkeypatch.setattr(elf, "relocations", lambda raw: ())
    monkeypatch.setattr(lines, "rows", lambda sections: [lines.LineStart(0x1004, "x.py", 3, 1),
                                                         lines.LineStart(0x2000, "y.py", 4, 0)])  # fmt: skip
    made = writer([("f", 0x1000, 8, F), ("g", 0x2000, 8, F), ("a", 0x3000, 4, D)], arch)
    made.metadata = {"amdhsa.kernels": [{".name": name} for name in kernels], "other": "x"}
    found = {
        name: (0x1000, entered(0x1000)[:56] + struct.pack("<H", properties) + bytes(6))
        for name, properties in kernels.items()
    }
    made.kernels = lambda: found
    whole = made.write()
    assert asked == [([(0x1000, 0x40), (0x2000, 0x20)], arch, lanes)]
    assert (whole.arch, whole.files) == (arch, ("x.py", "y.py"))
    text = whole.text.split("\n")
    second = [*kernels][-1] if kernels else "g"  # a descriptor's own name counts
    assert text[:21] == [
        f'\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"', "\t.text", '\t.file 1 "x.py"', '\t.file 2 "y.py"',
        "\t.globl\tf", "\t.p2align\t8", "\t.type\tf,@function", "f:", "\ts_branch .LBB_1004", ".LBB_1004:",
        "\t.loc\t1 3 1", "\ts_endpgm", ".Lfunc_end_1000:", "\t.size\tf, .Lfunc_end_1000-f", f"\t.globl\t{second}",
        "\t.p2align\t8", f"\t.type\t{second},@function", f"{second}:", "\t.loc\t2 4 0", "\ta", "\tb",
    ]  # fmt: skip
    at = text.index('\t.section\t".data","aw",@progbits')
    assert [row for row in text[21:at] if "amdhsa_kernel" in row] == [
        row for name in kernels for row in (f"\t.amdhsa_kernel {name}", "\t.end_amdhsa_kernel")
    ]
    assert text[at + 1 :] == [
        "\t.p2align\t8", "\t.type\ta,@object", "a:", "\t.long\t0x3020100", "\t.size\ta, 4",
        '\t.section\t".bss","aw",@nobits', "\t.amdgpu_metadata", json.dumps(made.metadata), "\t.end_amdgpu_metadata",
        "",
    ]  # fmt: skip


@pytest.mark.parametrize("arch", architectures.names())
def test_the_header_names_the_device_where_the_metadata_do_not(arch: str, tmp_path: Path) -> None:
    """Code objects of other assemblers (AITER's kernels) have metadata without amdhsa.target."""
    raw = linked(f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n.text\nf:\n  s_endpgm\n', arch, tmp_path)
    assert "amdhsa.target" not in elf.metadata(raw)
    assert binary.arch_of(raw) == arch
