"""Instructions as tables: what they say, escaped, and with a text alternative."""

from __future__ import annotations

import pytest

import gpulab
from gpulab.errors import UnsupportedInstruction
from gpulab.records import InstructionEntry
from gpulab.views.instructions import found_table, instruction_table

ENTRY = InstructionEntry(
    mnemonic="v_lt<b>", meaning="a < b & more", formulas=("dst = a < b",), sources=("a: u32",), destinations=(),
    accuracy="exact", rate="full", devices=("gfx942", "gfx1100"), aliases={"v_other": ("gfx90a",)}, manual="a manual",
    file="virtual_gpu/isa/vector.py", line=7,
)  # fmt: skip


def test_a_table_escapes_and_says_all() -> None:
    shown = instruction_table([ENTRY])
    page = shown._repr_html_()
    assert "a &lt; b &amp; more" in page
    assert "v_lt&lt;b&gt;" in page
    assert "<b>" not in page
    text = str(shown)
    for part in (
        "dst = a < b",
        "v_other (gfx90a)",
        "gfx942, gfx1100",
        "virtual_gpu/isa/vector.py:7",
        "a manual",
        "none",
    ):
        assert part in text


def test_what_was_found_is_counted() -> None:
    assert str(found_table("less", [ENTRY])).endswith("1 instruction with 'less' in name, meaning or formula.")
    assert "0 instructions" in str(found_table("less", []))


def test_in_a_notebook() -> None:
    assert "dst = a + b" in gpulab.instruction("v_add_f32")._repr_html_()
    with pytest.raises(UnsupportedInstruction, match="v_add_f32"):
        gpulab.instruction("v_ad_f32")
