"""Assembly texts between Clang and the assembler, line by line."""

from __future__ import annotations

import pytest

from gpulab.errors import CompileError
from gpulab.toolchain import listing, memory_order


@pytest.mark.parametrize(
    ("text", "lines", "place", "word"),
    [
        ('s_nop 0\n.incbin "x"', [4, 5], "k.s:5: ", ".incbin"),
        ('.INCLUDE "x"', [7], "k.s:7: ", ".include"),
        ('.include "x"', [], "inline assembly in k.s: ", ".include"),
        ('.include "x"', [0], "k.s: ", ".include"),
        ('s_nop 0\n.include "x"', [3], "k.s: ", ".include"),
        (".macro m", [1], "k.s:1: ", ".macro"),
        ("; a */ .macro m", [1], "k.s:1: ", ".macro"),
    ],
)
def test_directives_that_are_refused(text: str, lines: list[int], place: str, word: str) -> None:
    with pytest.raises(CompileError) as raised:
        listing.refuse_file_access(text, "k.s", lines)
    said = str(raised.value)
    assert f"{place}the directive {word} is not allowed.\n    " in said
    assert ("must not read files" in said) == (word in (".incbin", ".include"))
    assert ("macros could spell" in said) == (word == ".macro")


@pytest.mark.parametrize(
    "text", ["s_nop 0", '  .asciz "a .include b"', "; .include is not here", ".macros = 1", '.string ".macro" ; end']
)
def test_lines_that_are_harmless(text: str) -> None:
    listing.refuse_file_access(text, "k.s", [1])


def test_what_only_a_debugger_reads_is_dropped() -> None:
    text = "\n".join((
        '\t.file\t1 "/a" "k.hip" md5 0x00ff', "\t.text", "k:", ".Lfunc_begin0:", "\t.cfi_startproc", ".Ltmp0:",
        "\ts_nop 0", "\t;DEBUG_VALUE: x", ".Ltmp12:", "\ts_getpc_b64 .Ltmp12", ".LBB0_1:", "\ts_endpgm",
        "\t.section\t.debug_info,\"\"", "\t.long\t3", '\t.file\t2 "/a" "h.h"', "\t.section .rodata", "\t.long\t4",
        "\t.section\t.debug_str", "\t.asciz\t\"x\"", "\t.amdgpu_metadata", "\t.ident\t\"clang\"", "\t.addrsig", "", "",
    ))  # fmt: skip
    cleaned, pointed = listing.clean(text)
    assert cleaned.split("\n") == [
        '\t.file\t1 "/a" "k.hip"', "\t.text", "k:", "\ts_nop 0", ".Ltmp12:", "\ts_getpc_b64 .Ltmp12", ".LBB0_1:",
        "\ts_endpgm", '\t.file\t2 "/a" "h.h"', "\t.section .rodata", "\t.long\t4", "\t.amdgpu_metadata", "",
    ]  # fmt: skip
    assert pointed == {}
    assert listing.clean("\n \n") == ("\n", {})


def test_helpers_are_taken_out() -> None:
    text = "\n".join((
        "\t.type\ta,@object", "a:", "\t.quad\tfirst ; what it points to", "\t.quad\tsecond", "\t.size\ta, 8",
        "\t.type\tkept,@object", "\t.quad\tother", "\t.size\tkept, 8", "\t.type\tb,@object", "\t.size\tb, 0", "end:",
    ))  # fmt: skip
    cleaned, pointed = listing.clean(text, helpers=("a", "b"))
    assert cleaned == "\t.type\tkept,@object\n\t.quad\tother\n\t.size\tkept, 8\nend:\n"
    assert pointed == {"a": "first"}


def test_marks_of_lines() -> None:
    rows = [
        "k:", "  s_mov_b32 s0, 1", "  .amdgpu_metadata", "  s_nop: 3", "  .end_amdgpu_metadata", "  exp mrt0",
        "/* begins", "  s_nop 0", "ends */", "  v_nop /* whole */", "; s_nop", "  s_endpgm",
    ]  # fmt: skip
    numbers = list(range(101, 101 + len(rows)))
    marked, origin = listing.mark_lines("\n".join(rows), 'a"b\\c.s', numbers)
    lines = marked.split("\n")
    assert lines[0] == '\t.file\t1 "a\\"b\\\\c.s"'
    assert [line for line in lines if line.startswith("\t.loc")] == [
        f"\t.loc\t1 {number} 1" for number in (102, 106, 110, 112)
    ]
    assert len(origin) == len(lines)
    assert origin[:4] == [0, 101, 102, 102]
    assert [number for number, line in zip(origin, lines, strict=True) if line in rows] == numbers
    for line, number in zip(lines, origin, strict=True):
        assert not line.startswith("\t.loc") or line == f"\t.loc\t1 {number} 1"
    assert listing.without_marks(marked) == "\n".join(rows)


@pytest.mark.parametrize("own", ["\t.loc 1 2 3", '  .file 1 "a"'])
def test_a_text_with_marks_of_its_own_stays(own: str) -> None:
    text = own + "\n  s_nop 0"
    assert listing.mark_lines(text, "k.s", [5, 6]) == (text, [5, 6])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("v_mov_b32 v3, s7", (4, 8)),
        ("v_mov_b32 v[10:13], s[2:3]", (14, 4)),
        ("v_mov_b32 v0, 1 ; v9", (1, 0)),
        ("v_mov_b32 v600, s200", (512, 128)),
        ("v_mov_b32 xv7, a.s7", (0, 0)),
        (".set v99, s99", (0, 0)),
    ],
)
def test_registers_that_a_kernel_names(line: str, found: tuple[int, int]) -> None:
    text = f"\nother:\n\tv_mov_b32 v77, s77\n\nk:\n\t{line}\n\t.amdhsa_kernel k\n\tv_mov_b32 v88, s88\n"
    assert listing.registers_named(text, "k") == found
    assert listing.registers_named(text, "absent") == (0, 0)
    assert listing.registers_named(text.replace("amdhsa_kernel", "other"), "k") == (0, 0)


def test_the_source_of_a_line() -> None:
    text = "\n".join((
        '\t.file\t1 "/a" "k.hip"', '\t.file\t2 "h.h"', "\t.type\tk,@function", "k:", "\ts_nop 0", "\t.loc\t1 7 3",
        "\ts_nop 1", "\t.loc\t2 9", "\ts_nop 2", "\t.loc\t3 1 1", "\ts_nop 3",
    ))  # fmt: skip
    assert listing.source_line(text, 5) is None  # another function's mark would not count
    assert listing.source_line(text, 6) == ("k.hip", 7, 3)
    assert listing.source_line(text, 7) == ("k.hip", 7, 3)
    assert listing.source_line(text, 11) is None  # a file that is not named
    assert listing.source_line("\ts_nop 0", 1) is None
    assert listing.source_line(text.replace("2 9", "2 9 0"), 9) == ("h.h", 9, 0)


MARKED = (
    '\t.file\t1 "/a" "b/k.hip"', '\t.file\t2 "/c/h.h"', "\tglobal_load_dword v9", "\t.type\tk,@function", "k:",
    "\tglobal_load_dword v0", "\tglobal_store_dword v1", "\ts_clause 0x1", "\tds_read_b32 v2", "\ts_nop 0",
    "\tflat_load_dword v3", "\t.loc\t1 7 3", "\tds_write_b32 v4", "\tbuffer_load_dword v4", "\t.loc\t2 0 5",
    "\tglobal_load_dword v5", "\t.loc\t2 9 ", "\tflat_store_dword v6", "\t.type\tm,@function", "\tds_read_b32 v7",
    "\tds_read_b32 v8", "\t.loc\t3 1 1", "",
)  # fmt: skip
AT_K, AT_H, NOWHERE = ("k.hip", 7, 3), ("h.h", 9, 0), ("k.hip", 8, 1)
TOGETHER_IN_K, TOGETHER_IN_M = (6, 8, 14, 15), (20,)


@pytest.mark.parametrize(
    ("of_k", "of_m", "unsure"),
    [
        # a place that is in the text tells which access it is; of one that is missing any that follow another may be
        ({AT_K, AT_H}, set(), ()),
        ({AT_K, NOWHERE}, set(), TOGETHER_IN_K),
        (set(), {AT_K}, TOGETHER_IN_M),
        ({NOWHERE}, {NOWHERE}, (*TOGETHER_IN_K, *TOGETHER_IN_M)),
        (set(), None, TOGETHER_IN_M),  # of a function that is not known: each place but those of bit fields
    ],
)
def test_orders_are_written_behind_the_places(
    of_k: set[memory_order.Place], of_m: set[memory_order.Place] | None, unsure: tuple[int, ...]
) -> None:
    """Accesses stand together where nothing but s_clause, or a place of line 0, is between them."""
    places = {AT_K: memory_order.ATOMIC, AT_H: memory_order.PARTIAL}
    orders = {"k": memory_order.Order(frozenset(("release", "acquire")), frozenset(of_k))}
    if of_m is not None:
        orders["m"] = memory_order.Order(frozenset(), frozenset(of_m))
    lines = list(MARKED)
    lines[11] += " ; synchronising"
    lines[16] += " ; bit field"
    for number in unsure:
        lines[number] += " ; synchronising"
    lines[-1:-1] = ["; orders of k: acquire release", *(["; orders of m: "] if of_m is not None else [])]
    assert listing.mark_orders("\n".join(MARKED), places, orders) == "\n".join(lines)


def test_orders_without_places() -> None:
    orders = {name: memory_order.Order(frozenset((name,)), frozenset((NOWHERE,))) for name in ("z", "k")}
    assert listing.mark_orders("\n".join(MARKED), {}, orders) == "\n".join(
        (*MARKED[:-1], "; orders of k: k", "; orders of z: z", "")
    )
    assert listing.mark_orders("\n".join(MARKED), {}, {}) == "\n".join(MARKED)


def test_registers_of_a_kernel_that_the_text_begins_with() -> None:
    text = "\nk:\n\tv_mov_b32 v3, s7\n\t.amdhsa_kernel k\n"
    assert listing.registers_named(text, "k") == (4, 8)
    assert listing.registers_named("\t.amdhsa_kernel k\n" + text.replace("amdhsa_kernel", "x"), "k") == (0, 0)
