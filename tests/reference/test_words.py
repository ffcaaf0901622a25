"""Instructions in words: what is said of lines of assembly, and which registers they read and write, as stored.

GPULAB_SCREENSHOTS=write stores the texts anew: read them first.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa import words
from gpulab.virtual_gpu.isa.assembly import parse
from tests.stored import compare_texts

from .run import KERNEL

LINES = {
    "gfx942": """
      s_mov_b32 s4, 0x64
      s_add_u32 s4, s5, s6
      s_cmp_lg_u32 s4, 0
      s_load_dwordx4 s[8:11], s[0:1], 0x10
      s_load_dword s8, s[0:1], s3
      s_atomic_add s4, s[0:1], 0x0
      s_store_dword s4, s[0:1], 0x8
      s_cbranch_scc1 .L1
      s_cbranch_vccz .L1
      s_cbranch_execz .L1
      s_branch .L1
      .L1:
      s_waitcnt vmcnt(0) lgkmcnt(0)
      s_barrier
      s_getpc_b64 s[4:5]
      s_swappc_b64 s[30:31], s[4:5]
      s_setpc_b64 s[30:31]
      s_memtime s[4:5]
      s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 4)
      s_and_saveexec_b64 s[4:5], vcc
      v_add_u32 v1, v2, v3
      v_mul_f32 v1, 2.0, v2
      v_fma_f32 v1, v2, v3, v4
      v_cmp_lt_u32 vcc, v1, v2
      v_cndmask_b32 v1, v2, v3, vcc
      v_lshlrev_b32 v1, 4, v2
      v_add_co_u32 v1, vcc, v2, v3
      v_addc_co_u32 v1, vcc, v2, v3, vcc
      v_pk_add_f16 v1, v2, v3
      v_cvt_f32_u32 v1, v2
      v_sqrt_f32 v1, v2
      v_bfe_u32 v1, v2, 3, 5
      v_readlane_b32 s4, v1, 3
      v_writelane_b32 v1, s4, 3
      v_readfirstlane_b32 s4, v1
      v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
      v_add_u32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_1
      ds_read_b32 v1, v2 offset:16
      ds_read2_b32 v[2:3], v1 offset0:1 offset1:2
      ds_write_b64 v1, v[2:3]
      ds_write2_b32 v1, v2, v3 offset1:1
      ds_add_rtn_u32 v1, v2, v3
      ds_add_u32 v1, v2
      ds_bpermute_b32 v1, v2, v3
      ds_swizzle_b32 v1, v2 offset:swizzle(SWAP,1)
      global_load_dword v1, v2, s[4:5]
      global_load_ubyte v1, v[2:3], off offset:4
      global_load_sbyte v1, v[2:3], off
      global_load_dwordx2 v[2:3], v[4:5], off
      global_store_dwordx2 v[4:5], v[2:3], off
      global_store_short v2, v1, s[4:5] offset:-8
      global_atomic_add v[2:3], v4, off
      global_atomic_add v1, v[2:3], v4, off sc0
      global_atomic_add v1, v2, v3, s[4:5] sc0
      flat_load_dword v1, v[2:3]
      flat_atomic_add v1, v[2:3], v4 sc0
      flat_atomic_add v[2:3], v4
      flat_store_dword v[2:3], v4
      buffer_load_dword v1, v2, s[8:11], s4 offen offset:8
      buffer_store_dword v1, off, s[8:11], 0
      buffer_atomic_add v1, v2, s[8:11], 0 offen sc0
      buffer_atomic_add v1, v2, s[8:11], 0 offen
      scratch_load_dword v1, off, off offset:4
      scratch_store_dword off, v1, s4
      v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]
      v_accvgpr_read_b32 v1, a2
      .L2:
      s_atomic_add s4, s[0:1], 0x0 glc
      s_mov_b32 s4, vcc_hi
      s_mov_b64 exec, -1
      s_mov_b32 m0, -17
      s_cmp_eq_i32 s4, 64
      s_cmp_gt_i32 s4, 65
      s_cselect_b32 s4, s5, s6
      s_bfe_u32 s4, s5, 0x30002
      s_cbranch_vccnz .L2
      s_cbranch_execnz .L2
      s_cbranch_scc0 .L2
      s_nop 0
      s_endpgm
      v_mul_f32_e64 v1, -v2, |v3|
      v_mul_f32 v1, 0x3fc00000, v2
      v_mul_f32_e64 v1, -|v2|, v3 clamp
      v_add_u32_e64 v1, v2, v3 clamp
      v_no_such_row v1, v2
      v_fmac_f32 v1, v2, v3
      v_and_b32 v1, 0xff, v2
      v_not_b32 v1, v2
      v_xor_b32 v1, v2, v3
      v_or_b32 v1, v2, v3
      v_sub_u32 v1, v2, v3
      v_ashrrev_i32 v1, 3, v2
      v_max_i32 v1, v2, v3
      v_min_f32 v1, v2, v3
      v_mul_lo_u32 v1, v2, v3
      v_mad_u64_u32 v[2:3], vcc, v4, v5, v[6:7]
      v_lshl_add_u64 v[2:3], v[4:5], 2, v[6:7]
      v_div_scale_f32 v1, vcc, v2, v3, v4
      v_cvt_i32_f32 v1, v2
      v_cvt_f64_f32 v[2:3], v1
      v_rcp_f32 v1, v2
      v_exp_f32 v1, v2
      v_cmp_class_f32 vcc, v1, v2
      v_cmp_le_f32 s[4:5], v1, v2
      v_cmpx_gt_u32_e64 s[4:5], 4, v0
      v_addc_co_u32_e64 v1, s[4:5], v2, v3, s[6:7]
      v_mbcnt_lo_u32_b32 v1, -1, v2
      v_alignbit_b32 v1, v2, v3, 8
      v_perm_b32 v1, v2, v3, v4
      global_load_lds_dword v[2:3], off
      ds_append v1 offset:4
      ds_read_u8_d16_hi v1, v2
      ds_write_b8_d16_hi v1, v2
      global_atomic_cmpswap v1, v[2:3], v[4:5], off sc0
      s_dcache_wb
      buffer_wbl2 sc1
      buffer_inv sc1
    """,
    "gfx1100": """
      v_cmpx_gt_u32_e32 4, v0
      v_cmpx_gt_u32_e64 4, v0
      v_add_f16_e32 v2.h, v1.l, v1.h
      s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)
      v_dual_mov_b32 v1, v2 :: v_dual_add_f32 v3, v4, v5
      image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D
      image_load v[0:3], v[4:5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D
      image_store v[0:3], v[4:5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D
      v_add_co_ci_u32_e64 v1, null, v2, v3, s4
    """,
    "gfx1201": """
      s_load_b128 s[8:11], s[0:1], 0x10
      s_wait_loadcnt 0x0
      s_prefetch_data s[0:1], 0x0, null, 3
      s_barrier_signal -1
      s_barrier_wait -1
    """,
}


@pytest.mark.parametrize("arch", LINES)
def test_lines_in_words(arch):
    """Of each line its sentence, and its operands: registers that are read (<) and written (>), type, and name."""
    text = KERNEL.format(arch=arch, body=LINES[arch], lds=0, scratch=0, denormals=3, ieee=0, after="", directives="")
    found, table = [], isa.table(arch)
    for item in parse(text).instructions[:-1]:
        row = table.get(re.sub("_(e32|e64|sdwa|dpp)$", "", item.mnemonic))
        found += [item.text, f"    {words.sentence(item, row)}"]
        for one in words.operands(item, row):
            names = ", ".join(one.registers)
            found.append(f"    {'>' if one.written else '<'} {one.text} ({names}) {one.type} {one.name}".rstrip())
    stored = Path(__file__).with_name("words") / f"{arch}.txt"
    compare_texts(found, stored, exact=len(found))
