"""Assembly text to Program: operands, modifiers, labels, data, metadata, source lines, errors.

Expected values are those of LLVM's documents ("Syntax of AMDGPU Instruction Operands/Modifiers", "User Guide for
AMDGPU Backend") and of the assembler itself: the tests of expressions compare with what the object file holds.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from gpulab.errors import AssemblyError
from gpulab.toolchain import elf
from gpulab.virtual_gpu.isa.assembly import parse
from gpulab.virtual_gpu.isa.instruction import Keyword, Literal, Operand, Register, Relocation, Symbol
from gpulab.virtual_gpu.isa.instruction_text import hardware_register, instruction

TARGET = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"\n'


def only(text: str):
    return instruction(text)


def program(body: str, target: str = TARGET, **kwargs):
    return parse(target + ".text\n" + textwrap.dedent(body), **kwargs)


def special(name: str, index: int = 0, count: int = 1) -> Register:
    return Register("special", index, count, name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v5", Operand(Register("v", 5))),
        ("v[4:7]", Operand(Register("v", 4, 4))),
        ("v[9]", Operand(Register("v", 9))),
        ("a3", Operand(Register("a", 3))),
        ("a[0:15]", Operand(Register("a", 0, 16))),
        ("s[0:1]", Operand(Register("s", 0, 2))),
        ("[s2,s3]", Operand(Register("s", 2, 2))),
        ("vcc", Operand(special("vcc", 0, 2))),
        ("vcc_lo", Operand(special("vcc", 0, 1))),
        ("exec_hi", Operand(special("exec", 1, 1))),
        ("flat_scratch_lo", Operand(special("flat_scratch", 0, 1))),
        ("m0", Operand(special("m0"))),
        ("null", Operand(special("null"))),
        ("src_scc", Operand(special("scc"))),
        ("ttmp9", Operand(special("ttmp", 9))),
        ("src_shared_base", Operand(special("src_shared_base", 0, 2))),
        ("42", Operand(Literal(42))),
        ("-16", Operand(Literal(-16))),
        ("0x3f800000", Operand(Literal(0x3F800000))),
        ("-0x10", Operand(Literal(-16))),
        ("1.0", Operand(Literal(1.0, True))),
        ("-0.5", Operand(Literal(-0.5, True))),
        ("0.15915494", Operand(Literal(0.15915494, True))),
        ("1e-3", Operand(Literal(1e-3, True))),
        ("lit(0x10)", Operand(Literal(16))),
        ("-v1", Operand(Register("v", 1), neg=True)),
        ("neg(v1)", Operand(Register("v", 1), neg=True)),
        ("|v1|", Operand(Register("v", 1), abs=True)),
        ("abs(s4)", Operand(Register("s", 4), abs=True)),
        ("-|v0|", Operand(Register("v", 0), neg=True, abs=True)),
        ("-abs(v[2:3])", Operand(Register("v", 2, 2), neg=True, abs=True)),
        ("|s[0:1]|", Operand(Register("s", 0, 2), abs=True)),
        ("sext(v2)", Operand(Register("v", 2), sext=True)),
        ("v3.h", Operand(Register("v", 3), half="h")),
        ("-v1.l", Operand(Register("v", 1), neg=True, half="l")),
        ("off", Operand(Keyword("off"))),
        ("table@rel32@lo+4", Operand(Symbol("table", 4, "rel32@lo"))),
        ("table@gotpcrel32@hi+12", Operand(Symbol("table", 12, "gotpcrel32@hi"))),
        ("lds_object@abs32@lo", Operand(Symbol("lds_object", 0, "abs32@lo"))),
        (".LBB0_2", Operand(Symbol(".LBB0_2"))),
    ],
)
def test_operands(text, expected):
    assert only(f"v_any_b32 {text}").operands == (expected,)


def test_operand_list_and_encoding():
    item = only("v_cndmask_b32_e64 v1, -v0, |v2|, s[4:5]")
    assert (item.mnemonic, item.encoding) == ("v_cndmask_b32", "e64")
    assert [o.neg for o in item.operands] == [False, True, False, False]
    assert item.operands[3].value == Register("s", 4, 2)
    assert only("v_add_f32_e64_dpp v0, v1, v2 row_shl:1").encoding == "e64_dpp"
    assert only("v_mov_b32_sdwa v0, v1 src0_sel:WORD_1").encoding == "sdwa"
    assert only("v_mov_b32 v0, v1 src0_sel:WORD_1").encoding == "sdwa"
    assert only("v_add_u32 v0, v1, sext(v2)").encoding == "sdwa"
    assert only("v_mov_b32 v0, v1 row_shl:1").encoding == ""
    assert only("global_load_dword v1, v0, s[2:3]").encoding == ""


@pytest.mark.parametrize(
    ("blanks", "commas"),
    [
        ("v_add_f32 v1 v1 v1 row_shr:1 bound_ctrl:0", "v_add_f32 v1, v1, v1 row_shr:1 bound_ctrl:0"),
        ("v_lshl_add_u32 v2 v0 2 v0", "v_lshl_add_u32 v2, v0, 2, v0"),
        ("v_fma_f32 v2 -v0 |v1| -1.0 clamp", "v_fma_f32 v2, -v0, |v1|, -1.0 clamp"),
        ("s_mov_b64 s[4:5] vcc", "s_mov_b64 s[4:5], vcc"),
        ("global_load_dwordx2 v[2:3] v[0:1] off offset:8 glc", "global_load_dwordx2 v[2:3], v[0:1], off offset:8 glc"),
        ("v_mov_b32 v0 0x40", "v_mov_b32 v0, 0x40"),
    ],
)
def test_blanks_instead_of_commas(blanks: str, commas: str) -> None:
    """LLVM's assembler takes both, and libraries of kernels have such lines."""
    found, wanted = only(blanks), only(commas)
    assert (found.mnemonic, found.operands, found.modifiers) == (wanted.mnemonic, wanted.operands, wanted.modifiers)


@pytest.mark.parametrize(
    ("text", "modifiers"),
    [
        ("global_load_dword v1, v[2:3], off offset:-100 sc0 sc1 nt", {"offset": -100, "sc0": True, "sc1": True, "nt": True}),  # noqa: E501
        ("ds_read2_b32 v[0:1], v2 offset0:3 offset1:0x10", {"offset0": 3, "offset1": 16}),
        ("ds_write_b32 v0, v1 gds", {"gds": True}),
        ("buffer_load_dword v0, v1, s[4:7], 0 offen offset:4 glc slc dlc", {"offen": True, "offset": 4, "glc": True, "slc": True, "dlc": True}),  # noqa: E501
        ("buffer_wbl2 sc0 sc1", {"sc0": True, "sc1": True}),
        ("v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0x3 bound_ctrl:0", {"quad_perm": (1, 0, 3, 2), "row_mask": 15, "bank_mask": 3, "bound_ctrl": True}),  # noqa: E501
        ("v_mov_b32_dpp v0, v1 row_mirror row_mask:0xf bank_mask:0xf fi:1", {"row_mirror": True, "row_mask": 15, "bank_mask": 15, "fi": 1}),  # noqa: E501
        ("v_mov_b32_dpp v0, v1 dpp8:[7,6,5,4,3,2,1,0]", {"dpp8": (7, 6, 5, 4, 3, 2, 1, 0)}),
        ("v_mov_b32_dpp v0, v1 row_bcast:15", {"row_bcast": 15}),
        ("v_add_f16_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD",
         {"dst_sel": "BYTE_1", "dst_unused": "UNUSED_PRESERVE", "src0_sel": "WORD_1", "src1_sel": "DWORD"}),
        ("v_pk_fma_f16 v0, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[1,0,1] neg_lo:[1,0,0] neg_hi:[0,0,1] clamp",
         {"op_sel": (0, 1, 0), "op_sel_hi": (1, 0, 1), "neg_lo": (1, 0, 0), "neg_hi": (0, 0, 1), "clamp": True}),
        ("v_add_f32_e64 v1, v0, 1.0 clamp mul:2", {"clamp": True, "mul": 2}),
        ("v_add_f32_e64 v1, v0, 1.0 div:2", {"div": 2}),
        ("s_load_b32 s5, s[2:3], null offset:0x7d0", {"offset": 0x7D0}),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"00p11\")", {"offset": 3 << 5 | 4}),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)", {"offset": 16 << 10 | 31}),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,1,0,3,2)", {"offset": 0x8000 | 1 | 0 << 2 | 3 << 4 | 2 << 6}),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(REVERSE,8)", {"offset": 7 << 10 | 31}),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,5)", {"offset": 5 << 5 | 24}),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(ROTATE,1,7)", {"offset": 0xC000 | 1 << 10 | 7 << 5}),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(FFT,31)", {"offset": 0xE01F}),
    ],
)  # fmt: skip
def test_modifiers(text, modifiers):
    assert dict(only(text).modifiers) == modifiers


@pytest.mark.parametrize("last", ["-v2", "-7", "-|v2|", "-1.0", "|v2|", "off"])
def test_a_modifier_after_a_signed_operand(last):
    item = only(f"v_add_f32_e64 v0, v1, {last} clamp")
    assert item.operands == only(f"v_add_f32_e64 v0, v1, {last}").operands
    assert dict(item.modifiers) == {"clamp": True}


def test_whole_arguments_stay_text():
    assert only("s_waitcnt vmcnt(0) lgkmcnt(0)").operands[0].value == Keyword("vmcnt(0) lgkmcnt(0)")
    assert only("s_waitcnt 0xf70").operands[0].value == Literal(0xF70)
    text = "instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)"
    assert only(f"s_delay_alu {text}").operands[0].value == Keyword(text)
    assert only("s_sendmsg sendmsg(MSG_INTERRUPT)").operands[0].value == Keyword("sendmsg(MSG_INTERRUPT)")


def test_hardware_registers():
    named = only("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3")
    assert hardware_register(named.operands[0]) == ("MODE", 4, 2)
    assert hardware_register(only("s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)").operands[1]) == ("XCC_ID", 0, 32)
    assert hardware_register(only("s_getreg_b32 s0, 0x0901").operands[1]) == ("MODE", 4, 2)  # 1 | 4 << 6 | 1 << 11


def test_dual_instructions():
    item = instruction("v_dual_cndmask_b32 v0, v1, v2 :: v_dual_mov_b32 v3, 0x3f800000", wave_size=32)
    assert (item.mnemonic, item.encoding, item.pair.mnemonic) == ("v_cndmask_b32", "dual", "v_mov_b32")
    assert item.operands[-1].value == special("vcc", 0, 1)
    assert item.pair.operands[1].value == Literal(0x3F800000)
    assert "::" in item.text
    assert "::" not in item.pair.text


def test_labels_functions_and_branches():
    found = program(
        """
        .globl f
        .type f,@function
        f:  ; @f
          s_nop 0 // a comment
        .LBB0_1:
          s_cbranch_scc0 .LBB0_1
          s_branch 1f
          s_nop 1
        1: s_setpc_b64 s[30:31]
        .Lend:
        .size f, .Lend-f
        .type g,@function
        g: s_endpgm
        """
    )
    assert found.functions == {"f": (0, 5), "g": (5, 6)}
    assert found.labels[".LBB0_1"] == 1
    assert found.instructions[1].operands[0].value == Symbol(".LBB0_1")
    assert found.labels[found.instructions[2].operands[0].value.name] == 4
    assert [i.text for i in found.instructions][:2] == ["s_nop 0", "s_cbranch_scc0 .LBB0_1"]


def test_symbols_with_expressions():
    found = program(
        """
        .set leaf.num_vgpr, 41
        .set k.num_vgpr, max(7, leaf.num_vgpr)
        .set k.num_agpr, max(0, 3)
        .set k.private_seg_size, 32+max(leaf.private)
        .set leaf.private, 0x30
        width = 8*(2+1)-1
        .type k,@function
        k:
          s_mov_b32 s0, width
          s_add_u32 s0, s0, (.Lb-.La)&4294967295
        .La:
          s_nop 0
        .Lb:
          s_endpgm
        .section .rodata,"a",@progbits
        .amdhsa_kernel k
          .amdhsa_next_free_vgpr max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1, 0)
          .amdhsa_next_free_sgpr max(20+extrasgprs(1, 0, 1), 1, 0)-extrasgprs(1, 0, 1)
          .amdhsa_private_segment_fixed_size k.private_seg_size
          .amdhsa_accum_offset ((((((alignto(max(1, k.num_vgpr), 4))/4)-1)&~65536)&63)+1)*4
          .amdhsa_uses_dynamic_stack or(0, 1, 0)
        .end_amdhsa_kernel
        """
    )
    kernel = found.kernels["k"]
    assert kernel.directives["next_free_vgpr"] == 44 + 3  # AccVGPRs follow the VGPRs, aligned to four
    assert kernel.directives["next_free_sgpr"] == 20
    assert kernel.directives["accum_offset"] == 44
    assert kernel.private_bytes == 32 + 0x30
    assert kernel.uses_dynamic_stack
    assert found.instructions[0].operands[1].value == Literal(23)
    assert found.instructions[1].operands[2].value == Literal(
        8, places=(".Lb", ".La")
    )  # one instruction counts eight bytes


def test_data_objects():
    found = program(
        r"""
        f: s_endpgm
        .section .rodata,"a",@progbits
        .globl table
        .p2align 4, 0x0
        table:
          .long 1, 2
          .long -1
          .short 0x1234
          .byte 7, 8
        .size table, 16
        .L.str:
          .asciz "a;b\n\x41\101 // \"c\""
        .size .L.str, 14
        .data
        .p2align 3
        pointers:
          .quad table+4
          .quad f
          .quad .Lswitch-pointers_end
          .long 5-3
          .zero 4
        pointers_end:
        .Lswitch:
          .long 1.5
          .fill 2, 2, 0xabcd
        .section .bss,"aw",@nobits
        .p2align 2
        zeros: .zero 400
        .size zeros, 400
        .comm shared, 32, 8
        .section .debug_info,"",@progbits
          .long .Lnowhere-.Lelse
        .amdgpu_lds lds_table, 256, 16
        """
    )
    table = found.data["table"]
    assert table.contents == bytes.fromhex("01000000 02000000 ffffffff 3412 0708")
    assert (table.align, table.writable, table.size) == (16, False, 16)
    assert found.data[".L.str"].contents == b'a;b\nAA // "c"\0'
    pointers = found.data["pointers"]
    assert pointers.writable
    assert pointers.relocations == (Relocation(0, 8, "table", 4), Relocation(8, 8, "f", 0))
    assert pointers.contents[24:28] == b"\2\0\0\0"
    assert found.data["zeros"].contents == b""
    assert found.data["zeros"].size == 400
    assert (found.data["shared"].size, found.data["shared"].align) == (32, 8)
    assert found.data["lds_table"].is_lds
    assert (found.data["lds_table"].size, found.data["lds_table"].align) == (256, 16)
    switch = found.data["pointers_end"]
    assert switch.contents == bytes.fromhex("0000c03f cdab cdab")


def test_two_names_of_one_object():
    found = program(
        """
        f:
          s_add_u32 s0, s0, second@rel32@lo+4
          s_endpgm
        .data
        first:
        alias:
          .quad 1
        inside:
          .quad 2
        .size first, 16
        .set second, first+8
        """
    )
    assert list(found.data) == ["first"]
    assert found.instructions[0].operands[2].value == Symbol("first", 12, "rel32@lo")


def test_got_slot():
    found = program(
        """
        s_add_u32 s0, s0, table@gotpcrel32@lo+4
        .data
        table: .long 1
        """
    )
    assert found.data["table@got"].relocations == (Relocation(0, 8, "table", 0),)


METADATA = """
k: s_endpgm
.rodata
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 128
  .amdhsa_next_free_vgpr 6
  .amdhsa_next_free_sgpr 12
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.printf:
  - '1:1:4:%d\\n'
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 24
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 16
    .vgpr_count: 8
    .agpr_count: 4
    .sgpr_count: 18
    .vgpr_spill_count: 2
    .max_flat_workgroup_size: 256
    .reqd_workgroup_size: [64, 2, 1]
    .wavefront_size: 64
    .args:
      - { .address_space: global, .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .type_name: 'float*' }
      - .offset: 8
        .size: 4
        .value_kind: by_value
...
.end_amdgpu_metadata
"""


def test_metadata():
    found = program(METADATA)
    kernel = found.kernels["k"]
    assert found.printf_formats == (r"1:1:4:%d\n",)
    assert (kernel.kernarg_size, kernel.lds_bytes, kernel.private_bytes) == (24, 256, 16)
    assert (kernel.vgprs, kernel.agprs, kernel.sgprs, kernel.vgpr_spills) == (8, 4, 18, 2)
    assert kernel.required_workgroup_size == (64, 2, 1)
    assert kernel.max_flat_workgroup_size == 256
    out, number = kernel.arguments
    assert (out.name, out.kind, out.address_space, out.type_name) == ("out", "global_buffer", "global", "float*")
    assert (number.offset, number.size, number.kind) == (8, 4, "by_value")
    assert found.wave_size == 64


def test_kernel_without_metadata_uses_directives():
    text = METADATA[: METADATA.index(".amdgpu_metadata")]
    kernel = program(text).kernels["k"]
    assert (kernel.lds_bytes, kernel.vgprs, kernel.sgprs, kernel.arguments) == (128, 6, 12, ())


def test_wave_size_follows_the_architecture():
    assert parse("s_endpgm", arch="gfx1100").wave_size == 32
    assert parse("s_endpgm", arch="gfx942").wave_size == 64


LINES = """
.file 0 "/home/me" "cell.hip" md5 0x0123456789abcdef0123456789abcdef
.file 1 "/lib/include" "math.h" md5 0x0123456789abcdef0123456789abcdef
.type k,@function
k:
.loc 0 2 5 prologue_end ; cell.hip:2:5
\ts_nop 0
\t.loc\t1 70 3 is_stmt 0 ; /lib/include/math.h:70:3 @[ cell.hip:3:9 @[ cell.hip:8:1 ] ]
\ts_nop 1
\t.loc 0 0 3 ; cell.hip:0:3
\ts_nop 2
"""


def test_source_lines():
    source = "first\n  second\n    third\n"
    found = program(LINES, sources={"cell.hip": source}).instructions
    assert (found[0].where.file, found[0].where.line, found[0].where.column) == ("cell.hip", 2, 5)
    assert found[0].where.text == "  second"
    assert (found[1].where.line, found[1].where.column, found[1].where.text) == (3, 9, "    third")
    assert found[2].where == found[1].where  # line 0 is the compiler's own: the place stays
    header = program(LINES).instructions[1].where
    assert (header.file, header.line, header.text) == ("/lib/include/math.h", 70, "")


@pytest.mark.parametrize(
    ("body", "line", "expected"),
    [
        ("s_nop 0\nv_mov_b32 v0, v[4:", 2, "closing bracket"),
        ("v_mov_b32 v0, v[7:4]", 1, "register range"),
        ("v_mov_b32 v0,, v1", 1, "comma"),
        ("v_mov_b32 v0, 12abc", 1, "a register, a number"),
        ("V_MOV_B32 v0, v1", 1, "an instruction, a label or a directive"),
        ("s_branch nowhere", 1, "a label that is defined; nowhere is not"),
        ("a:\na:", 2, "a is defined a second time"),
        (".frobnicate 3", 1, ".frobnicate"),
        (".macro m\n.endm", 1, "macros"),
        ("v_dual_mov_b32 v0, v1 :: v_mov_b32 v1, v2", 1, "v_dual_"),
        (".data\ns_nop 0", 2, "data in this section"),
        (".long 5", 1, "instructions in a code section"),
        (".amdhsa_next_free_vgpr 5", 1, ".amdhsa_kernel before"),
        (".set x", 1, "comma"),
        ("ds_swizzle_b32 v0, v1 offset:swizzle(SPIN,3)", 1, "swizzle"),
        (".amdhsa_kernel lost\n.amdhsa_next_free_vgpr 5\n.end_amdhsa_kernel", 2, "a label lost"),
        (".data\nx: .long 1/", 2, "a value at the end"),
        (".data\nx: .long (1", 2, "a closing bracket"),
        (".data\nx: .long 1 2", 2, "the end of the expression '1 2' before '2'"),
        (".data\nx: .quad 1,,2", 2, "a value before and after each comma"),
        (".data\nx: .quad y-z*2", 2, "numbers in 'y-z*2': z has no value"),
        (".data\n.ascii x", 2, "a quoted string after .ascii"),
        (".data\n.fill x", 2, "numbers after .fill"),
        (".data\n.zero -1", 2, "a sensible number of bytes"),
        (".data\n.zero 1<<40", 2, "a sensible number of bytes"),
        ("s_mov_b64 s[0:1], [s2,s4]", 1, "registers that follow one another, not [s2,s4]"),
        ("global_load_dword v0, v[1:2], off 5x", 1, "a modifier such as offset:16 or glc, not '5x'"),
        ("ds_read_b32 v0, v1 offset:", 1, "a value after offset:"),
        ("v_mov_b32 v0, v1)", 1, "an opening bracket for ')'"),
        ("s_mov_b32 s200, s0", 1, "a register range that exists, not s200"),
        ("s_mov_b32 s0, nowhere*2", 1, "nowhere has no value known here"),
        ("s_branch 99f", 1, "a label 99: after this line"),
        ("s_branch 1b", 1, "a label 1: before this line"),
        ("s_nop 0\ns_branch 3", 2, "a label, not a distance"),
        ("s_call_b64 s[0:1], -1", 1, "a label, not a distance"),
        (".p2align x", 1, "a number after .p2align"),
        (".p2align 32", 1, "an exponent from 0 to 31"),
        (".balign", 1, "a number after .balign"),
        (".section", 1, "a section's name after .section"),
        (".popsection", 1, ".pushsection before .popsection"),
        (".end_amdhsa_kernel", 1, ".amdhsa_kernel before .end_amdhsa_kernel"),
        (".amdhsa_kernel", 1, "the kernel's name"),
        (".size x", 1, "a name, a comma and a size"),
        (".comm x", 1, "a name, a size and an alignment"),
        (".set x,", 1, "a name and an expression"),
        (".file", 1, "a quoted file name"),
        (".loc 0", 1, "a file number, a line and a column"),
        (".loc a b", 1, "a file number, a line and a column"),
        (".amdgcn_target", 1, "a target such as"),
    ],
)
def test_errors_name_the_line_and_what_was_expected(body, line, expected):
    with pytest.raises(AssemblyError) as caught:
        parse(body, arch="gfx942")
    assert f"line {line} " in str(caught.value)
    assert expected in str(caught.value)


def test_bad_metadata_and_missing_target():
    with pytest.raises(AssemblyError, match="not valid YAML"):
        program("s_endpgm\n.amdgpu_metadata\n{ [\n.end_amdgpu_metadata\n")
    with pytest.raises(AssemblyError, match=r"end_amdgpu_metadata"):
        program("s_endpgm\n.amdgpu_metadata\n---\n")
    with pytest.raises(AssemblyError, match=r"amdgcn_target"):
        parse("s_endpgm\n")


def test_accumulation_register_16_is_no_modifier():
    (item,) = program("v_accvgpr_read_b32 v3, a16").instructions
    assert (item.operands[1].value.file, item.operands[1].value.index, item.modifiers) == ("a", 16, {})


def encoded(lines: str, arch: str) -> list[int]:
    """The dwords that LLVM's assembler makes of a text."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "a.s"), Path(folder, "a.o")
        source.write_text(lines, encoding="utf-8")
        command = [sys.executable, "-m", "ziglang", "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}"]
        subprocess.run([*command, "-c", str(source), "-o", str(made)], check=True, capture_output=True)
        code = elf.sections(made.read_bytes())[".text"]
    return [number for (number,) in struct.iter_unpack("<I", code)]


EXPRESSIONS = (
    "-XX", "~XX", "!XX", "-(XX+1)", "XX + 4 & 7", "XX | 8", "XX|3 ^ 1", "XX << 2 + 1", "XX * 2 - 1", "(XX == 5)",
    "- XX", "~ XX", "-XX*3", "XX%3", "2+~XX", "-YY",
)  # fmt: skip


def test_integer_expressions_have_the_assemblers_values():
    text = ".set XX, 5\n.set YY, XX-9\n" + "".join(f"s_movk_i32 s5, {e}\n" for e in EXPRESSIONS)
    expected = [word & 0xFFFF for word in encoded(text, "gfx942")]
    found = [item.operands[1] for item in program(text).instructions]
    assert [int(o.value.value) & 0xFFFF for o in found] == expected
    assert not any(o.neg for o in found)


IN_DATA = (
    "+XX", "XX/2", "-7/2", "-7%3", "YY/3", "7/-2", "0x50 >> 2", "XX ^ 3", "XX && 0", "XX && 2", "0 && XX", "XX || 0",
    "0 || 0", "0 || 7", "!YY", "!0", "XX != 5", "XX != 4", "XX == 4", "XX < 5", "XX < 6", "XX <= 4", "XX <= 5",
    "XX > 5", "XX > 4", "XX >= 6", "XX >= 5", "0b101 + 1", "1 + 2 == 3", "4 | 3 & 2", "7 - 2 - 1", "2 * 3 + 4",
    "1 < 2 && 3 < 2", "1 || 0 && 0", "(1 + 2) * (3 - 1)", "1 << 3 >> 1", "7 * 3 / 2", "7 / 2 * 2",
    "7 * 5 % 3", "8 / 1 << 2", "XX - -2", "010 + 1", "max(3, XX, 4)", "max(XX-9, YY-1)", "or(1, 4, XX)",
    "alignto(XX, 4)", "alignto(8, 4)", "max(or(8, 1), alignto(1, 16))",
    "(0x4000000000000001 / 3) & 0xffff", "0x4000000000000001 % 1000", "(-0x4000000000000001 / 3) & 0xffff",
)  # fmt: skip
RESOURCES = (
    *(f"extrasgprs({v}, {f}, {x})" for v in (0, 1) for f in (0, 1) for x in (0, 1)),
    "totalnumvgprs(3, 5)", "totalnumvgprs(0, 5)", "totalnumvgprs(9, 8)",
)  # fmt: skip


@pytest.mark.parametrize(
    ("arch", "expressions"),
    [("gfx942", IN_DATA), *((arch, RESOURCES) for arch in ("gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100"))],
)
def test_expressions_in_data_have_the_assemblers_values(arch, expressions):
    symbols, lines = ".set XX, 5\n.set YY, XX-9\n", "".join(f".long {e}\n" for e in expressions)
    target = f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n'
    found = program(f"f: s_endpgm\n.data\n{symbols}x:\n{lines}", target).data["x"].contents
    expected = encoded(symbols + lines, arch)
    assert len(expected) == len(expressions)
    different = [
        (e, a, b) for e, a, (b,) in zip(expressions, expected, struct.iter_unpack("<I", found), strict=True) if a != b
    ]
    assert different == []


def test_bytes_of_code_to_fetch_ahead():
    """Units of 128 bytes, at most what six bits hold. (LLVM, AMDGPUMCExpr: instprefsize)"""
    values = ", ".join(f"instprefsize({n})" for n in (0, 1, 128, 129, 300, 8064, 100000))
    found = program(f"f: s_endpgm\n.data\nx: .byte {values}")
    assert list(found.data["x"].contents) == [0, 1, 1, 2, 3, 63, 63]


def test_sections_are_left_and_come_back():
    found = program(
        """
        f: s_endpgm
        .section .rodata,"a",@progbits
        first: .byte 1
        .pushsection .data
        second: .byte 2
        .pushsection .rodata
          .byte 3
        .popsection
          .byte 4
        .popsection
          .byte 5
        .data
          .byte 6
        .previous
          .byte 7
        .previous
          .byte 8
        .section .note,"",@note
        lost: .byte 9
        .section ".rodata.other","a",@progbits
        third: .byte 10
        .section .bss.mine,"aw",@nobits
        fourth: .zero 3
        .section .data.mine
        fifth: .byte 11
        .text
        .p2align 8
        g: s_endpgm
        """
    )
    contents = {name: list(item.contents) for name, item in found.data.items()}
    assert contents == {"first": [1, 3, 5, 7], "second": [2, 4, 6, 8], "third": [10], "fourth": [], "fifth": [11]}
    assert {name: item.writable for name, item in found.data.items()} == {
        "first": False, "second": True, "third": False, "fourth": True, "fifth": True
    }  # fmt: skip
    assert found.labels == {"f": 0, "g": 1}


def test_strings_comments_and_fillings():
    """As the C standard and the assembler's manual have escapes: octal digits, hexadecimal ones, letters."""
    found = program(
        r"""
        f: s_endpgm ; "not a string
        .data
        a: .ascii "\n\t\r\b\f\\\"\7\18\x41\x7e", "x;y//z" // "more"
        b: .string "" ; nothing but its end
        c: .asciz "p","q"
        d: .fill 2, 4, 0x11223344
        e: .fill 3
        g: .fill 2, 2
        h: .zero 2, 0xab
        i: .space 1+1
        j: .skip 1
        k: .short -2, 0x12345
        l: .quad -1
        n: .byte 0x1ff
        o: .fill 1, 1, -2
        """
    )
    contents = {name: item.contents for name, item in found.data.items()}
    assert contents == {
        "a": b'\n\t\r\b\f\\"\x07\x018A~x;y//z', "b": b"\0", "c": b"p\0q\0", "d": bytes.fromhex("4433221144332211"),
        "e": bytes(3), "g": bytes(4), "h": b"\xab\xab", "i": bytes(2), "j": bytes(1), "k": b"\xfe\xff\x45\x23",
        "l": b"\xff" * 8, "n": b"\xff", "o": b"\xfe",
    }  # fmt: skip


def test_alignment_of_data():
    found = program(
        """
        f: s_endpgm
        .data
        a: .byte 1
        .p2align 2
        b: .byte 2
        .balign 8
        c: .byte 3
        .align 1
        d: .byte 4
        .lcomm e, 12, 4
        .comm g, 7
        """
    )
    assert {name: (item.size, item.align) for name, item in found.data.items()} == {
        "a": (4, 1), "b": (4, 4), "c": (1, 8), "d": (1, 1), "e": (12, 4), "g": (7, 1)
    }  # fmt: skip
    assert found.data["b"].contents == b"\2\0\0\0"


def test_where_functions_end_and_their_second_names():
    found = program(
        """
        .type f,@function
        f: s_nop 0
          s_nop 1
        .Lf:
          s_nop 2
        .size f, .Lf-f
        .type g,@function
        g: s_endpgm
        .size g, 4096
        .type h,@function
        .set other, f
        .set number, 5
        """
    )
    assert found.functions == {"f": (0, 2), "g": (3, 4), "other": (0, 2)}
    assert found.labels["other"] == 0


PLACES = """
.file 0 "/home/me" "cell.hip" md5 0x0123456789abcdef0123456789abcdef
.file 1 "/home/me" "near.h"
.file 2 "/lib" "far.h"
.file 3 "/lib" "/usr/abs.h"
.file 4 "/other" "cell.hip"
.file 5 "alone.h"
k:
"""


@pytest.mark.parametrize(
    ("number", "sources", "expected"),
    [
        (0, {}, "cell.hip"),
        (1, {}, "near.h"),  # the compilation's own folder
        (2, {}, "/lib/far.h"),
        (3, {}, "/usr/abs.h"),
        (5, {}, "alone.h"),
        (4, {}, "/other/cell.hip"),
        (4, {"cell.hip": "a"}, "cell.hip"),
        (4, {"cell.hip": "a", "/other/cell.hip": "b"}, "/other/cell.hip"),
    ],
)
def test_names_of_files(number, sources, expected):
    found = program(f"{PLACES}.loc {number} 1 7\ns_nop 0\n", sources=sources).instructions[0].where
    assert (found.file, found.line, found.column) == (expected, 1, 7)
    assert found.text == sources.get(expected, "")


def test_a_line_beyond_the_text_and_one_without_a_column():
    text = f"{PLACES}.loc 0 2\ns_nop 0\n.loc 0 3 1\ns_nop 1\n.loc 0 2\ns_nop 2\ng: s_nop 3\n"
    found = [item.where for item in program(text, sources={"cell.hip": "one\ntwo"}).instructions]
    assert [(where.line, where.column, where.text) if where else None for where in found] == [
        (2, 0, "two"), (3, 1, ""), (2, 0, "two"), None
    ]  # fmt: skip


def test_marks_of_the_toolchain():
    """toolchain/memory_order.py marks places in the source and orders of kernels; Clang marks reloaded registers."""
    found = program(
        """
        ; orders of k: release acquire
        # a comment
        k:
        .loc 0 1 1 ; cell.hip:1:1 synchronising
          s_nop 0
        .loc 0 2 1 ; cell.hip:2:1
          s_nop 1
        .loc 0 3 1 ; cell.hip:3:1 synchronising in a block
          s_nop 2
        .loc 0 0 1
          s_nop 3
        .loc 0 4 1 ; bit field
          s_nop 4
        .loc 0 1 1 ; cell.hip:1:1 synchronising
          s_nop 5
        .loc 0 2 1 ; cell.hip:2:1
          v_mov_b32 v0, v1 ; 4-byte Folded Reload
          s_nop 7 ; bit field
        """
    )
    assert found.orders == {"k": frozenset({"release", "acquire"})}
    assert (found.synchronising, found.narrow, found.partial) == ({0, 2, 3, 5}, {2, 3}, {4, 7})
    assert found.reloads == {6}


def test_expressions_stand_in_modifiers_and_register_numbers():
    text = """
        .set XX, 5
        global_load_dword v1, v[2:3], off offset: 8
        global_load_dword v1, v[2:3], off offset : XX
        global_load_dword v1, v[2:3], off offset:XX + 4 glc
        v_mov_b32 v[XX], s[ XX+1 ]
        s_mov_b64 s[XX+1:XX + 2], 3
        global_load_dword v1, v[2 : 3], off
    """
    found = program(text, '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n').instructions
    words = encoded(text, "gfx90a")
    assert [item.modifiers.get("offset") for item in found[:3]] == [w & 0xFFF for w in words[:6:2]] == [8, 5, 9]
    assert found[2].modifiers["glc"] is True
    assert [o.value for o in found[3].operands] == [Register("v", 5), Register("s", 6)]
    assert (words[6] >> 17 & 255, words[6] & 511) == (5, 6)  # the same registers in the machine code
    assert found[4].operands[0].value == Register("s", 6, 2)
    assert found[5].operands[1].value == Register("v", 2, 2)


@pytest.mark.parametrize(
    ("arch", "short", "full"),
    [
        ("gfx942", "v_cmpx_eq_u32 1, v2", "v_cmpx_eq_u32_e32 vcc, 1, v2"),
        ("gfx942", "v_cmp_lt_f32_e32 s1, v2", "v_cmp_lt_f32_e32 vcc, s1, v2"),
        ("gfx942", "v_cndmask_b32 v0, v1, v2", "v_cndmask_b32_e32 v0, v1, v2, vcc"),
        ("gfx942", "v_add_co_u32 v0, v1, v2", "v_add_co_u32_e32 v0, vcc, v1, v2"),
        ("gfx1100", "v_cmp_lt_f32 s1, v2", "v_cmp_lt_f32_e32 vcc_lo, s1, v2"),
        ("gfx1100", "v_cndmask_b32 v0, v1, v2", "v_cndmask_b32_e32 v0, v1, v2, vcc_lo"),
    ],
)
def test_a_short_form_means_vcc(arch, short, full):
    assert encoded(short, arch) == encoded(full, arch)
    target = f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n'
    assert program(short, target).instructions[0].operands == program(full, target).instructions[0].operands


def test_a_comparison_into_exec_alone_stays_as_it_is_on_later_generations():
    (item,) = program("v_cmpx_eq_u32 1, v2", '.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n').instructions
    assert len(item.operands) == 2


def test_lines_of_one_character_or_none() -> None:
    """A comment without words, blanks, and instructions that begin at once or after blanks of each kind."""
    found = program("s_nop 0\n;\n\n \n\t\n\ts_nop 1\n  s_nop 2\n\t; \ns_endpgm\n;")
    assert [one.text for one in found.instructions] == ["s_nop 0", "s_nop 1", "s_nop 2", "s_endpgm"]
