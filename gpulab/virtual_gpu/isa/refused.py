"""Instructions that are known and not executed: `refusal` gives the reason as a sentence, by name.

Most belong to graphics pipelines, which kernels of a compute launch do not have; others need hardware or a privilege
that no compute kernel has. What Clang emits for HIP device code is not among them, but for some builtins of gfx950 and
gfx12 that are named here.
"""

from __future__ import annotations

import re

_REASONS: tuple[tuple[str, str], ...] = (
    (
        r"image_bvh\w*|ds_bvh\w*",
        "it belongs to ray tracing: it tests rays against a hierarchy of boxes in memory whose format the manual "
        "leaves open.",
    ),
    (
        r"image_atomic_\w+",
        "it is an atomic operation on a texel; HIP has none on textures and surfaces. Use atomicAdd and its like on "
        "plain memory.",
    ),
    (
        r"image_sample(?!(_(lz|l|b|d|d_g16))?$)\w*|image_gather4(?!(_(lz|l|b))?$)\w*",
        "it samples with an offset, with a comparison of depths, or with a clamp of the level, for graphics; HIP's "
        "texture functions use image_sample, _lz, _l, _b, _d and image_gather4, _lz, _l, _b, which are executed.",
    ),
    (
        r"image_(?!(load|store|load_mip|store_mip|get_resinfo)$|sample|gather4)\w+",
        "it reads or writes an image in a way that HIP's texture and surface functions do not use: without conversion, "
        "or one of several samples of a pixel.",
    ),
    (
        r"tbuffer_\w+|buffer_(load|store)_(?!format_x(y(z(w)?)?)?$)(d16_)?(hi_)?format_\w+",
        "it converts between registers and one of some eighty data formats of vertex buffers, or halves; gpulab's "
        "buffers hold plain integers and floats (buffer_load_dword and its kin), and on RDNA texels in the format of "
        "their descriptor (buffer_load_format_xyzw, which is HIP's tex1Dfetch).",
    ),
    (
        r"s_scratch_\w+",
        "it reads or writes scratch through scalars, which compilers do not use; scratch_load and scratch_store do it "
        "for each lane.",
    ),
    (
        r"v_interp\w*|(lds|ds)_(param|direct)_load|lds_param_load|lds_direct_load",
        "it interpolates attributes that a pixel shader gets from the rasteriser; a compute kernel has none.",
    ),
    (r"exp|export", "it exports colours or positions to the graphics pipeline; a compute kernel has none."),
    (
        r"ds_gws_\w+|ds_ordered_count|ds_(add|sub)_gs_reg_rtn",
        "it works on counters that workgroups of a whole device or a graphics pipeline share and that the driver has "
        "to set aside; HIP gives kernels none (grid.sync() uses global memory).",
    ),
    (
        r"ds_\w+_src2_\w+",
        "it combines two places in LDS whose distance stands in its offset; compilers do not use it, and GPUs since "
        "CDNA 2 do not have it. Load, combine in registers, store.",
    ),
    (r"v_screen_partition_4se_b32", "it maps screen tiles to shader engines, for graphics."),
    (
        r"s_rfe\w*|s_set_gpr_idx_restore",
        "it belongs to trap handlers, which run with privileges that a kernel does not have.",
    ),
    (
        r"s_setvskip",
        "from there on the wave passes over vector instructions, whatever EXEC has, until another one ends that; "
        "compilers branch instead, or use EXEC.",
    ),
    (r"s_sethalt|s_setkill", "it halts or kills the wave for a debugger, which has to be there to let it go on."),
    (
        r"s_cbranch_(g_fork|i_fork|join)",
        "it runs both sides of a branch with the hardware's stack of old GPUs; compilers use EXEC instead.",
    ),
    (
        r"s_subvector_loop_\w+",
        "it runs the halves of a 64-lane wave one after another; HIP's waves here have 32 lanes.",
    ),
    (
        r"v_mfma_(scale_)?f32_\w+_f8f6f4|v_mfma_ld_scale_b32|v_cvt_scalef32_(sr_)?(2x)?pk(16|32)_\w+",
        "it works on blocks of 8-, 6- or 4-bit floats with scales (MX formats), whose layout in registers the manual "
        "does not give without contradictions; v_mfma_f32_16x16x32_fp8_fp8 and v_cvt_scalef32_pk_* are executed.",
    ),
    (
        r"ds_read_b\d+_tr_b\d+|global_load_tr_b\d+",
        "it transposes a matrix while loading it; the manual does not say which lane gets which element. Load plainly "
        "and exchange between lanes.",
    ),
    (
        r"v_swmmac_\w+",
        "it multiplies a sparse matrix on gfx12; gpulab has the dense ones (v_wmma_*), and sparse ones on gfx942 and "
        "gfx950.",
    ),
    (
        r"buffer_store_lds_dword",
        "it moves dwords out of LDS past the registers; gpulab only loads into LDS so.",
    ),
    (
        r"s_barrier_(init|join|leave|signal_isfirst)|s_get_barrier_state",
        "it uses named barriers, which HIP does not give kernels; s_barrier_signal and s_barrier_wait are executed.",
    ),
    (
        r"s_alloc_vgpr|(global|scratch)_(load|store)_block",
        "it belongs to registers that a wave asks for while it runs, which HIP kernels do not.",
    ),
    (
        r"global_atomic_ordered_add_b64",
        "it adds in the order of a graphics pipeline's waves; HIP kernels have no such order.",
    ),
    (r"v_illegal", "it is the encoding that is kept illegal, to stop a wave that runs into data."),
)
_WITHOUT_TEXTURES = (
    re.compile(r"image_\w+|buffer_(load|store)_format_\w+"),
    "it goes through the descriptor of an image or of a buffer of texels; HIP gives GPUs before RDNA and CDNA's none "
    "(hipDeviceAttributeImageSupport is 0), and gpulab executes it on RDNA alone.",
)
_PATTERNS = tuple((re.compile(pattern), reason) for pattern, reason in _REASONS)


def refusal(mnemonic: str, generation: str = "") -> str:
    """Why an instruction (without encoding suffix) is not executed; "" if it is not such a one.

    Args:
        generation: one of isa.generation.NAMES, for what that generation alone is not executed of; "": any.
    """
    found = next((reason for pattern, reason in _PATTERNS if pattern.fullmatch(mnemonic)), "")
    if not found and generation == "gfx9" and _WITHOUT_TEXTURES[0].fullmatch(mnemonic):
        return _WITHOUT_TEXTURES[1]
    return found
