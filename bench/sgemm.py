"""Assembly of matrix products for gfx1100 whose multiply-adds are all dual-issued, with no conflict of register banks.

`text(name, unrolled, batched)`: C = A B of n x n floats, row major, n a multiple of 128, as the kernels of timing.hip
take them (n, a, b, c). 128 threads make 128 x 128 of C in steps of 8 in k, 16 x 8 each; the next step's tiles come from
global memory while this one's are worked on. unrolled: the eight products of a step stand one after another, not in a
loop. batched: addresses in global memory are scalars that move on by one addition, not a pair of vector registers for
each load.
"""

from __future__ import annotations

from collections.abc import Iterator

ROWS_OF_A = 528  # bytes of a row of 128 values of A in LDS, padded so that stores to it do not conflict
A_TILE = 4096  # A's tile is behind that of B

_HEAD = """\
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
"""
_TAIL = """\
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_next_free_vgpr 256
  .amdhsa_next_free_sgpr 64
  .amdhsa_wavefront_size32 1
  .amdhsa_workgroup_processor_mode 0
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 64
    .vgpr_count: 256
    .max_flat_workgroup_size: 128
    .args:
      - {{.name: n, .size: 4, .offset: 0, .value_kind: by_value}}
      - {{.name: a, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: b, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global}}
      - {{.name: c, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""

# Vector registers. 0: the thread. 1, 2: where its lane reads B and A in LDS; 3, 4: where it stores them. 5, 6: byte
# offsets of its first values of B and A in global memory. 16 on: of B and A what is multiplied. 48 on: the next tiles.
# 64 on: pairs of addresses. 128 on: results.
OF_B, OF_A, NEXT_B, NEXT_A, ADDRESS, RESULTS = 16, 32, 48, 56, 64, 128


def results() -> dict[tuple[int, int], int]:
    """The register of each result (x, y) of a thread.

    A block of two by two is made by two pairs of instructions, each of which reads B in two banks and A in two; the
    results are in the two others, or, where those are all four, in two of them by turns. The two of a pair are an even
    and an odd one.
    """
    free = {bank: [r for r in range(RESULTS, 256) if r % 4 == bank] for bank in range(4)}
    found: dict[tuple[int, int], int] = {}
    turns = 0
    for y in range(0, 8, 2):
        for x in range(0, 16, 2):
            of_b, of_a = x // 2 % 2, y // 2 % 2
            if of_b == of_a:
                high = 1 - of_b
            else:
                high, turns = turns % 2, turns + 1
            for dx, dy in ((0, 0), (1, 1), (1, 0), (0, 1)):
                found[x + dx, y + dy] = free[2 * high + dy].pop(0)
    return found


def products() -> Iterator[str]:
    """The multiply-adds of one k."""
    at = results()
    for y in range(0, 8, 2):
        for x in range(0, 16, 2):
            for (x0, y0), (x1, y1) in (((x, y), (x + 1, y + 1)), ((x + 1, y), (x, y + 1))):
                one, two = at[x0, y0], at[x1, y1]
                yield (
                    f"v_dual_fmac_f32 v{one}, v{OF_B + x0}, v{OF_A + y0} :: "
                    f"v_dual_fmac_f32 v{two}, v{OF_B + x1}, v{OF_A + y1}"
                )


def reads(k: int) -> Iterator[str]:
    """The values of B and A of one k, from LDS."""
    for i in range(4):
        yield f"ds_load_b128 v[{OF_B + 4 * i}:{OF_B + 4 * i + 3}], v1 offset:{512 * k + 128 * i}"
    for j in range(2):
        yield f"ds_load_b128 v[{OF_A + 4 * j}:{OF_A + 4 * j + 3}], v2 offset:{A_TILE + ROWS_OF_A * k + 64 * j}"


def loads(batched: bool) -> Iterator[str]:
    """The next tiles, from global memory; s[4:5] and s[6:7] are where those of A and B begin, s12 the bytes of a row,
    s13 those of 16 rows."""
    for r in range(8):
        if batched:
            # s[16:31], s[32:47]: a base for each row
            yield f"global_load_b32 v{NEXT_B + r}, v5, s[{16 + 2 * r}:{17 + 2 * r}]"
            yield f"global_load_b32 v{NEXT_A + r}, v6, s[{32 + 2 * r}:{33 + 2 * r}]"
            continue
        for base, offset, step, to in ((6, 5, 12, NEXT_B), (4, 6, 13, NEXT_A)):
            pair = ADDRESS + (4 * r + (0 if to == NEXT_B else 2)) % 32
            yield f"s_mul_i32 s14, s{step}, {r}"
            yield f"v_add_nc_u32_e32 v{pair}, s14, v{offset}"
            yield f"v_mov_b32_e32 v{pair + 1}, 0"
            yield f"v_add_co_u32 v{pair}, vcc_lo, s{base}, v{pair}"
            yield f"v_add_co_ci_u32_e32 v{pair + 1}, vcc_lo, s{base + 1}, v{pair + 1}, vcc_lo"
            yield f"global_load_b32 v{to + r}, v[{pair}:{pair + 1}], off"


def advance(batched: bool) -> Iterator[str]:
    """On to the next tiles: 32 bytes in A, 8 rows in B."""
    bases = (
        [(4, 32), (6, None)]
        if not batched
        else [(32 + 2 * r, 32) for r in range(8)] + [(16 + 2 * r, None) for r in range(8)]
    )
    for base, step in bases:
        yield f"s_add_u32 s{base}, s{base}, {'s15' if step is None else step}"
        yield f"s_addc_u32 s{base + 1}, s{base + 1}, 0"


def stores() -> Iterator[str]:
    """The next tiles into LDS."""
    for r in range(8):
        yield f"ds_store_b32 v3, v{NEXT_B + r} offset:{512 * r}"
        yield f"ds_store_b32 v4, v{NEXT_A + r} offset:{64 * r}"


def _lines(name: str, unrolled: bool, batched: bool) -> Iterator[str]:
    yield "s_load_b32 s8, s[0:1], 0x0"
    yield "s_load_b128 s[4:7], s[0:1], 0x8"
    yield "s_load_b64 s[10:11], s[0:1], 0x18"
    yield "v_and_b32_e32 v9, 7, v0"  # lane % 8
    yield "v_lshrrev_b32_e32 v10, 3, v0"  # thread / 8
    yield "v_and_b32_e32 v11, 3, v10"  # lane / 8
    yield "v_lshrrev_b32_e32 v12, 5, v0"  # wave
    yield "v_lshlrev_b32_e32 v1, 4, v9"
    yield "v_lshlrev_b32_e32 v2, 4, v11"
    yield "v_lshl_add_u32 v2, v12, 7, v2"
    yield "v_lshlrev_b32_e32 v3, 2, v0"
    yield f"v_mul_u32_u24_e32 v4, {ROWS_OF_A}, v9"
    yield "v_lshl_add_u32 v4, v10, 2, v4"
    yield f"v_add_nc_u32_e32 v4, {A_TILE}, v4"
    yield "s_waitcnt lgkmcnt(0)"
    yield "s_lshl_b32 s12, s8, 2"
    yield "s_lshl_b32 s13, s8, 6"
    yield "s_lshl_b32 s15, s8, 5"
    # A's row (y * 128 + thread / 8), column thread % 8; B's column x * 128 + thread
    yield "s_lshl_b32 s9, s3, 7"
    yield "v_add_nc_u32_e32 v13, s9, v10"
    yield "v_mul_lo_u32 v13, v13, s8"
    yield "v_add_nc_u32_e32 v13, v13, v9"
    yield "v_lshlrev_b32_e32 v6, 2, v13"
    yield "s_lshl_b32 s14, s2, 7"
    yield "v_add_nc_u32_e32 v14, s14, v0"
    yield "v_lshlrev_b32_e32 v5, 2, v14"
    for r in range(8 if batched else 0):
        yield f"s_mul_i32 s14, s12, {r}"
        yield f"s_add_u32 s{16 + 2 * r}, s6, s14"
        yield f"s_addc_u32 s{17 + 2 * r}, s7, 0"
        yield f"s_mul_i32 s14, s13, {r}"
        yield f"s_add_u32 s{32 + 2 * r}, s4, s14"
        yield f"s_addc_u32 s{33 + 2 * r}, s5, 0"
    for register in range(RESULTS, 256):
        yield f"v_mov_b32_e32 v{register}, 0"
    yield from loads(batched)
    yield from advance(batched)
    yield "s_waitcnt vmcnt(0)"
    yield from stores()
    yield "s_waitcnt lgkmcnt(0)"
    yield "s_barrier"
    yield "s_lshr_b32 s48, s8, 3"  # steps
    yield f"{name}_step:"
    yield "s_add_i32 s48, s48, -1"
    yield "s_cmp_eq_u32 s48, 0"
    yield "s_cselect_b32 s49, 1, 0"
    yield f"s_cbranch_scc1 {name}_loaded"
    yield from loads(batched)
    yield from advance(batched)
    yield f"{name}_loaded:"
    if unrolled:
        for k in range(8):
            yield from reads(k)
            yield "s_waitcnt lgkmcnt(0)"
            yield from products()
    else:
        yield "s_mov_b32 s50, 8"
        yield "v_mov_b32_e32 v126, v1"
        yield "v_mov_b32_e32 v127, v2"
        yield f"{name}_product:"
        for line in reads(0):
            yield line.replace(" v1 ", " v126 ").replace(" v2 ", " v127 ")
        yield "v_add_nc_u32_e32 v126, 0x200, v126"
        yield f"v_add_nc_u32_e32 v127, {ROWS_OF_A}, v127"
        yield "s_waitcnt lgkmcnt(0)"
        yield from products()
        yield "s_add_i32 s50, s50, -1"
        yield "s_cmp_lg_u32 s50, 0"
        yield f"s_cbranch_scc1 {name}_product"
    yield "s_barrier"
    yield "s_cmp_eq_u32 s49, 1"
    yield f"s_cbranch_scc1 {name}_done"
    yield "s_waitcnt vmcnt(0)"
    yield from stores()
    yield "s_waitcnt lgkmcnt(0)"
    yield "s_barrier"
    yield f"s_branch {name}_step"
    yield f"{name}_done:"
    # c[(y * 128 + wave * 32 + j * 16 + (lane / 8) * 4 + i) * n + x * 128 + ...]
    yield "v_lshlrev_b32_e32 v13, 5, v12"
    yield "v_lshl_add_u32 v13, v11, 2, v13"
    yield "v_add_nc_u32_e32 v13, s9, v13"
    yield "v_mul_lo_u32 v13, v13, s8"
    yield "s_lshl_b32 s14, s2, 7"
    yield "v_lshl_add_u32 v13, v9, 2, v13"
    yield "v_add_nc_u32_e32 v13, s14, v13"
    yield "v_lshlrev_b32_e32 v13, 2, v13"
    at = results()
    for y in range(8):
        yield f"s_mul_i32 s14, s12, {y // 4 * 16 + y % 4}"
        yield "v_add_nc_u32_e32 v14, s14, v13"
        for x in range(16):
            yield f"global_store_b32 v14, v{at[x, y]}, s[10:11] offset:{128 * (x // 4) + 4 * (x % 4)}"
    yield "s_endpgm"


def text(name: str, unrolled: bool, batched: bool) -> str:
    """The assembly of one kernel."""
    lines = (line if line.endswith(":") else f"  {line}" for line in _lines(name, unrolled, batched))
    lds = A_TILE + 8 * ROWS_OF_A
    return _HEAD.format(name=name) + "\n".join(lines) + "\n" + _TAIL.format(name=name, lds=lds)
