"""Which wait counters instructions raise and waits name, by generation, against the ISA manuals' tables."""

from __future__ import annotations

import pytest

from gpulab import architectures
from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa import waits
from gpulab.virtual_gpu.isa.assembly import parse

TEXT = '\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n\t.text\n{body}\n'


def read(arch: str, text: str):
    """An instruction and its row."""
    program = parse(TEXT.format(arch=arch, body=f"\t{text}"), {})
    (instruction,) = program.instructions
    return instruction, isa.table(arch).get(instruction.mnemonic)


# MI300 4.4, "Data dependency resolution"; RDNA 3 5.6; RDNA 4 5.7
@pytest.mark.parametrize(
    ("arch", "text", "counters", "any_order"),
    [
        ("gfx942", "global_load_dword v1, v[2:3], off", ("vmcnt",), False),
        ("gfx942", "global_store_dword v[2:3], v1, off", ("vmcnt",), False),
        ("gfx942", "scratch_load_dword v1, v2, off", ("vmcnt",), False),
        ("gfx942", "ds_read_b32 v1, v0", ("lgkmcnt",), False),
        ("gfx942", "ds_bpermute_b32 v1, v0, v2", ("lgkmcnt",), False),
        ("gfx942", "s_load_dword s4, s[0:1], 0x0", ("lgkmcnt",), True),
        ("gfx942", "s_memtime s[4:5]", ("lgkmcnt",), True),
        ("gfx942", "flat_load_dword v1, v[2:3]", ("vmcnt", "lgkmcnt"), True),
        ("gfx942", "global_load_lds_dword v[2:3], off", ("vmcnt",), False),
        ("gfx942", "flat_atomic_add v[2:3], v1", ("vmcnt", "lgkmcnt"), True),
        ("gfx942", "ds_add_u32 v0, v1", ("lgkmcnt",), False),
        ("gfx942", "s_memrealtime s[4:5]", ("lgkmcnt",), True),
        ("gfx942", "v_add_f32 v1, v2, v3", (), False),
        ("gfx942", "s_barrier", (), False),
        ("gfx1100", "global_load_b32 v1, v[2:3], off", ("vmcnt",), False),
        ("gfx1100", "global_store_b32 v[2:3], v1, off", ("vscnt",), False),
        ("gfx1100", "global_atomic_add_u32 v[2:3], v1, off", ("vscnt",), False),
        ("gfx1100", "ds_store_b32 v0, v1", ("lgkmcnt",), False),
        ("gfx1100", "flat_store_b32 v[2:3], v1", ("vscnt", "lgkmcnt"), True),
        ("gfx1100", "flat_load_b32 v1, v[2:3]", ("vmcnt", "lgkmcnt"), True),
        ("gfx1100", "image_load v1, v[2:3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("vmcnt",), False),
        ("gfx1100", "image_store v1, v[2:3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("vscnt",), False),
        ("gfx1100", "image_sample v1, v[2:3], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("vmcnt",), False),
        ("gfx1100", "image_get_resinfo v1, v2, s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("vmcnt",), False),
        ("gfx1100", "s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)", ("lgkmcnt",), True),
        ("gfx1201", "global_load_b32 v1, v[2:3], off", ("loadcnt",), False),
        ("gfx1201", "global_store_b32 v[2:3], v1, off", ("storecnt",), False),
        ("gfx1201", "ds_load_b32 v1, v0", ("dscnt",), False),
        ("gfx1201", "flat_load_b32 v1, v[2:3]", ("loadcnt", "dscnt"), True),
        ("gfx1201", "image_load v1, [v2, v3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("loadcnt",), False),
        ("gfx1201", "image_store v1, [v2, v3], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("storecnt",), False),
        ("gfx1201", "image_sample v1, [v2, v3], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("samplecnt",), False),
        ("gfx1201", "image_gather4 v[4:7], [v2, v3], s[4:11], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("samplecnt",),
         False),
        ("gfx1201", "image_get_resinfo v1, v2, s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", ("loadcnt",), False),
        ("gfx1201", "s_load_b32 s4, s[0:1], 0x0", ("kmcnt",), True),
    ],
)  # fmt: skip
def test_what_raises_a_counter(arch: str, text: str, counters: tuple[str, ...], any_order: bool) -> None:
    _, row = read(arch, text)
    assert row is not None
    assert waits.raised(row, False, architectures.get(arch)) == counters
    assert waits.any_order(row) == any_order


def test_an_atomic_that_returns_is_counted_as_a_load() -> None:
    _, row = read("gfx1100", "global_atomic_add_u32 v4, v[2:3], v1, off glc")
    assert waits.raised(row, True, architectures.get("gfx1100")) == ("vmcnt",)


@pytest.mark.parametrize(
    ("arch", "text", "left"),
    [
        ("gfx942", "s_waitcnt vmcnt(3)", (("vmcnt", 3),)),
        ("gfx942", "s_waitcnt vmcnt(0) lgkmcnt(1)", (("vmcnt", 0), ("lgkmcnt", 1))),
        ("gfx942", "s_waitcnt 0", (("vmcnt", 0), ("lgkmcnt", 0))),
        ("gfx942", "s_nop 0", ()),
        ("gfx942", "s_barrier", ()),
        ("gfx1100", "s_waitcnt_vscnt null, 0x2", (("vscnt", 2),)),
        ("gfx1100", "s_waitcnt expcnt(0)", ()),
        ("gfx1100", "s_delay_alu instid0(VALU_DEP_1)", ()),
        ("gfx1201", "s_wait_loadcnt 0x4", (("loadcnt", 4),)),
        ("gfx1201", "s_wait_loadcnt_dscnt 0x102", (("loadcnt", 1), ("dscnt", 2))),
    ],
)  # fmt: skip
def test_what_a_wait_allows(arch: str, text: str, left: tuple[tuple[str, int], ...]) -> None:
    assert waits.allowed(*read(arch, text)) == left


COUNTERS = {
    "gfx942": ("vmcnt", "lgkmcnt"),
    "gfx1100": ("vmcnt", "lgkmcnt", "vscnt"),
    "gfx1201": ("loadcnt", "storecnt", "samplecnt", "dscnt", "kmcnt"),
}


@pytest.mark.parametrize(("arch", "counter"), [(arch, each) for arch, found in COUNTERS.items() for each in found])
def test_the_wait_that_is_recommended_is_one(arch: str, counter: str) -> None:
    """The device has it, and it leaves nothing in this counter alone."""
    instruction, row = read(arch, waits.wait_for_all(counter))
    assert waits.allowed(instruction, row) == ((counter, 0),)
