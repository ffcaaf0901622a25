"""Memory rows in many address forms, on the reference machine and on translated host code: registers and memory agree.

A sample by default; `forms(row, arch)` has them all.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from gpulab.virtual_gpu import isa
from gpulab.virtual_gpu.isa.row import Memory
from tests.isa.machines import run

ROWS_TRIED = 40


def registers(file: str, count: int, first: int) -> str:
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def forms(row: Memory, arch: str) -> list[str]:
    """The address forms of a row. v1: 16 times the lane; v[2:3]: the data buffer plus v1; s[2:3]: the data buffer;
    s[20:23]: a resource for it; s24: 32; v15: below 128; v4-v7 old data, v[8:11] data."""
    name, words, new = row.mnemonic, max(1, row.element * row.count // 32), arch.startswith("gfx11")
    back = "glc" if new or row.space == "scalar" else "sc0"
    old = registers("v", words, 4)
    data = registers("v", words * (2 if row.compare else 1), 8)
    if row.space == "lds":
        count = len(row.combine.parameters) - 1 if row.combine else 1
        one = max(1, row.element // 32)
        if row.implied:
            return [f"{name} v4 offset:16"] if row.action != "store" else [f"{name} v8 offset:16"]
        if row.two_address:
            both = ", ".join(registers("v", one, 8 + 2 * i) for i in range(2))
            tail = "offset0:1 offset1:2"
        else:
            size = one if row.action == "atomic" else words
            both = ", ".join(registers("v", size, 8 + 2 * i) for i in range(count))
            tail = "offset:32"
        if row.action == "load":
            return [f"{name} {old}, v1 {tail}"]
        return [f"{name} {old}, v1, {both} {tail}" if row.returns else f"{name} v1, {both} {tail}"]
    if row.space == "scalar":
        base = "s[20:23]" if "buffer" in name else "s[2:3]"
        target = registers("s", words * (2 if row.compare else 1), 40)
        tail = back if row.action == "atomic" else ""
        return [f"{name} {target}, {base}, {place} {tail}" for place in ("0x10", "s24")]
    if row.space == "buffer":
        places = (("off", ""), ("v1", "offen"), ("v0", "idxen"), ("v[12:13]", "idxen offen"))
        tail = back if row.action == "atomic" else ""
        target = old if row.action == "load" else data
        return [f"{name} {target}, {at}, s[20:23], s24 {how} offset:16 {tail}" for at, how in places]
    if row.implied:
        return [f"{name} {'v4' if row.action == 'load' else 'v8'}, s[2:3] offset:16"]
    places = {
        "flat": ("v[2:3]",),
        "global": ("v[2:3], off", "v1, s[2:3]"),
        "scratch": ("v15, off", "off, s24", "v15, s24"),
    }
    found = []
    for place in places[row.space]:
        if row.to_lds:
            found.append(f"{name} {place} offset:16")
        elif row.action == "load":
            found.append(f"{name} {old}, {place} offset:16")
        else:
            first, _, last = place.partition(", ")
            last = f", {last}" if last else ""
            found.append(f"{name} {first}, {data}{last} offset:16")
            if row.action == "atomic":
                found.append(f"{name} {old}, {first}, {data}{last} offset:16 {back}")
    return found


def program(lines: list[str], arch: str) -> str:
    """The lines with fresh registers, one after another, and what they wrote mixed into v16-v23 and s50."""
    wide = arch == "gfx942"
    xor, load = "v_xor_b32", "global_load_dword" if wide else "global_load_b32"
    carry = "vcc" if wide else "vcc_lo"
    add = "v_add_u32" if wide else "v_add_nc_u32"
    carried = "v_addc_co_u32" if wide else "v_add_co_ci_u32"
    text = ["v_lshlrev_b32 v1, 4, v0", f"v_add_co_u32 v2, {carry}, s2, v1", "v_mov_b32 v3, s3"]
    text += [f"{carried} v3, {carry}, 0, v3, {carry}", "v_mov_b32 v12, v0", "v_mov_b32 v13, 8"]
    text += ["s_mov_b32 s20, s2", "s_or_b32 s21, s3, 0x80000", "s_mov_b32 s22, 60", "s_mov_b32 s24, 32"]
    text += [f"s_mov_b32 s23, {0x00027000 if wide else 0x11004000:#x}", "v_and_b32 v15, 0x70, v1"]
    for number, line in enumerate(lines):
        text += [f"{load} v{i}, v1, s[2:3] offset:{4 * (i % 4)}" for i in (8, 9, 10, 11)]
        text += [f"v_mov_b32 v{i}, {i}" for i in range(4, 8)]
        text += [f"s_mov_b32 s{40 + i}, {900 + i}" for i in range(16)]
        text += ["s_mov_b32 m0, 64", "s_waitcnt vmcnt(0) lgkmcnt(0)", f"{xor} v8, {number}, v8"]
        text += [line, "s_waitcnt vmcnt(0) lgkmcnt(0)"]
        text += [f"v_alignbit_b32 v{16 + i}, v{16 + i}, v{16 + i}, 5" for i in range(4)]
        text += [f"{xor} v{16 + i}, v{16 + i}, v{4 + i}" for i in range(4)] + [
            f"{xor} v20, v20, v8",
            f"{add} v21, v21, v9",
        ]
        text += [f"s_xor_b32 s50, s50, s{40 + i}" for i in range(8)]
    return "\n".join(text)


@pytest.mark.full
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_sample_of_forms(arch):
    pick = random.Random(arch)
    rows = [row for row in isa.table(arch).values() if isinstance(row, Memory) and row.action != "prefetch"]
    assert len(rows) > 300
    lines = [pick.choice(forms(row, arch)) for row in pick.sample(rows, ROWS_TRIED)]
    data = np.random.default_rng(1).normal(0, 50, 2048).astype(np.float32)
    for first in range(0, len(lines), 20):
        run(arch, program(lines[first : first + 20], arch), data=data)


def test_loads_of_different_kinds_from_the_same_registers():
    """In one run, so that what observes accesses sees them side by side."""
    lines = ["flat_load_dword v4, v[2:3] offset:16", "global_load_dword v5, v[2:3], off offset:16"]
    found = run("gfx942", program([*lines, "global_load_dword v6, v[2:3], off"], "gfx942"), data=bytes(2048))
    assert not found.v[6].any()  # (each line sets v4 and v5 anew)
