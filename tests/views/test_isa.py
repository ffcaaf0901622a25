"""Assembly beside its source: which instructions, which lines, what is escaped."""

import re

import pytest

from gpulab.views.isa import listing

SOURCE = "__global__ void k(int n, int* x) {\n  if (n < 3)\n    x[0] = 1;\n}\n"
ASSEMBLY = """
	.text
	.file	1 "/tmp/a" "cell.hip"
	.file	2 "include" "hip_runtime.h"
other:
	s_nop 0
.Lfunc_end0:
k:
.Lfunc_begin1:
	.loc	1 2 9
	s_load_dword s2, s[0:1], 0x0            ; a remark
.Ltmp3:
	s_waitcnt lgkmcnt(0)
	s_cmp_gt_i32 s2, 2
	s_cbranch_scc1 .LBB1_2
; %bb.1:
	.loc	2 77 1
	v_mov_b32_e32 v0, 1
	.loc	1 3 10
	global_store_dword v1, v0, s[0:1]
.LBB1_2:
	.loc	1 4 1
	s_endpgm
.Lfunc_end1:
	.size	k, .Lfunc_end1-k
	.section	.rodata
third:
	s_nop 1
"""
K = listing(ASSEMBLY, "k", source=SOURCE, name="cell.hip", arch="gfx942")


def test_exactly_the_kernels_own_instructions() -> None:
    assert K.instructions == (
        "s_load_dword s2, s[0:1], 0x0",
        "s_waitcnt lgkmcnt(0)",
        "s_cmp_gt_i32 s2, 2",
        "s_cbranch_scc1 .LBB1_2",
        "v_mov_b32_e32 v0, 1",
        "global_store_dword v1, v0, s[0:1]",
        "s_endpgm",
    )
    assert len(K) == 7
    assert list(K) == list(K.instructions)


def test_lines_come_from_the_source() -> None:
    assert [row.line for row in K.rows if row.text] == [2, 2, 2, 2, 0, 3, 4]
    assert {row.line: row.source.strip() for row in K.rows if row.line} == {2: "if (n < 3)", 3: "x[0] = 1;", 4: "}"}


def test_header_lines_are_named_by_their_file() -> None:
    (row,) = [row for row in K.rows if row.text.startswith("v_mov")]
    assert (row.line, row.file) == (0, "hip_runtime.h")
    assert "(hip_runtime.h)" in str(K)


def test_labels_that_are_jumped_to_are_kept() -> None:
    assert [row.label for row in K.rows if row.label] == [".LBB1_2"]


def test_counting_and_looking_for_instructions() -> None:
    assert K.count("s_") == 5
    assert "s_cbranch" in K
    assert "ds_read" not in K


def test_lines_shift_with_the_cells_first_line() -> None:
    """In a %%hip cell the source starts on line 2."""
    text = ASSEMBLY.replace(".loc	1 2", ".loc	1 3").replace(".loc	1 3 10", ".loc	1 4 10")
    moved = listing(text, "k", source=SOURCE, name="cell.hip", first_line=2)
    assert next(row.source.strip() for row in moved.rows if row.text) == "if (n < 3)"


def test_html_is_escaped() -> None:
    html = K._repr_html_()
    assert "if (n &lt; 3)" in html
    assert "if (n < 3)" not in html


def test_nothing_found_is_empty() -> None:
    assert len(listing(ASSEMBLY, "absent")) == 0


def test_headers_stand_over_their_columns() -> None:
    html = K._repr_html_()
    heads = re.findall(r'<th scope="col" style="text-align:(\w+)">(\w+)</th>', html)
    assert heads == [("right", "line"), ("left", "source"), ("left", "assembly")]
    for first_row in re.findall(r"<tr><td.*?</tr>", html):
        assert re.findall(r"<td style=\"text-align:(\w+)", first_row) == ["right", "left", "left"]


def test_a_mnemonic_carries_its_meaning_for_pointer_and_keyboard() -> None:
    said = {"s_waitcnt": "Wait for <loads>.", "s_endpgm": ""}
    shown = listing(ASSEMBLY, "k", source=SOURCE, name="cell.hip", explain=lambda name: said.get(name, ""))
    page = shown._repr_html_()
    meaning = "Wait for &lt;loads&gt;."
    assert f'<abbr tabindex="0" title="{meaning}" aria-description="{meaning}">s_waitcnt</abbr> lgkmcnt(0)' in page
    assert page.count("<abbr ") == 1
    assert "<loads>" not in page
    assert "Wait" not in str(shown)
    assert shown == listing(ASSEMBLY, "k", source=SOURCE, name="cell.hip")


@pytest.mark.parametrize(("length", "shown"), [(55, "x" * 55), (56, "x" * 56), (57, "x" * 55 + "…")])
def test_long_lines_of_source_are_cut(length, shown):
    source = SOURCE.replace("x[0] = 1;", "x" * length)
    text = str(listing(ASSEMBLY, "k", source=source, name="cell.hip", arch="gfx942"))
    (line,) = [line for line in text.splitlines() if "global_store" in line]
    assert line == f"   3  {shown:<{len(shown)}} |     global_store_dword v1, v0, s[0:1]"


def test_a_file_without_a_folder_is_known_by_its_name():
    """LLVM writes a folder and a name, or a name alone, and paths with either slash."""
    for file in ('.file	1 "cell.hip"', '.file	1 "/a/b/cell.hip"', '.file	1 "C:\\tmp" "x\\cell.hip"'):
        text = ASSEMBLY.replace('.file	1 "/tmp/a" "cell.hip"', file)
        found = listing(text, "k", source=SOURCE, name="cell.hip", arch="gfx942")
        assert [(row.line, row.file) for row in found.rows if row.text] == [
            (2, ""), (2, ""), (2, ""), (2, ""), (0, "hip_runtime.h"), (3, ""), (4, ""),
        ]  # fmt: skip


def test_labels_that_only_comments_name_are_left_out():
    assert [row.label for row in K.rows if row.label] == [".LBB1_2"]
    other = listing(
        ASSEMBLY.replace("s_cbranch_scc1 .LBB1_2", "s_nop 0 ; .LBB1_2"), "k", source=SOURCE, name="cell.hip"
    )
    assert [row.label for row in other.rows if row.label] == []
