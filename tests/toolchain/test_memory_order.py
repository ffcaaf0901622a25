"""What the front end's IR says about the order of memory accesses; expected: LLVM's Language Reference, by hand."""

from __future__ import annotations

import pytest

from gpulab.toolchain import listing, memory_order

HEAD = "define amdgpu_kernel void @k(ptr %p) {\n"
TAIL = "  ret void\n}\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('  fence syncscope("agent") seq_cst\n', {"fence"}),
        ("  fence acq_rel\n", {"fence"}),
        ('  fence syncscope("agent") release\n', {"release"}),
        ("  fence acquire\n", {"acquire"}),
        ('  fence syncscope("workgroup") seq_cst\n', {"block-release", "block-acquire"}),
        ('  fence syncscope("wavefront") release\n', set()),
        ('  store atomic i32 1, ptr %p syncscope("agent") release, align 4\n', {"release"}),
        ('  %1 = load atomic i32, ptr %p syncscope("agent") seq_cst, align 4\n', {"acquire"}),
        ('  %1 = load atomic i32, ptr %p syncscope("agent") monotonic, align 4\n', set()),
        (
            '  %1 = atomicrmw add ptr %p, i32 1 syncscope("workgroup") acq_rel, align 4\n',
            {"block-release", "block-acquire"},
        ),
        ("  %1 = cmpxchg ptr %p, i32 0, i32 1 release acquire, align 4\n", {"release", "acquire"}),
        (
            '  fence syncscope("workgroup") release\n  call void @llvm.amdgcn.s.barrier()\n'
            '  fence syncscope("workgroup") acquire\n',
            set(),
        ),
    ],
)  # fmt: skip
def test_the_orders_of_a_kernel(body: str, words: set[str]) -> None:
    assert memory_order.orders(HEAD + body + TAIL)["k"].words == words


def test_orders_of_functions_that_are_called_count() -> None:
    ir = HEAD + "  call void @f()\n" + TAIL + "define internal void @f() {\n  fence seq_cst\n" + TAIL
    ir += "define amdgpu_kernel void @other() {\n" + TAIL
    found = memory_order.orders(ir)
    assert found["k"].words == {"fence"}
    assert found["other"].words == set()


@pytest.mark.parametrize("body", ["  call void %1(ptr %p)\n", '  call void asm sideeffect "s_nop 0", ""()\n'])
def test_a_kernel_that_calls_what_is_not_known_is_left_out(body: str) -> None:
    assert "k" not in memory_order.orders(HEAD + body + TAIL)


NODES = """
!1 = !DIFile(filename: "a/cell.hip", directory: "/")
!2 = distinct !DISubprogram(name: "k", file: !1)
!3 = !DILocation(line: 3, column: 5, scope: !2)
!4 = !DILocation(line: 4, column: 7, scope: !2)
!5 = !DIDerivedType(tag: DW_TAG_member, flags: DIFlagBitField)
"""


def test_places_of_atomic_accesses_and_of_bit_fields() -> None:
    body = """  store atomic i32 1, ptr %p syncscope("workgroup") monotonic, align 4, !dbg !3
  %1 = load i32, ptr %p, align 4, !dbg !4
  %2 = and i32 %1, -256, !dbg !4
  %3 = or i32 %2, 7, !dbg !4
  store i32 %3, ptr %p, align 4, !dbg !4
"""
    places = memory_order.places(HEAD + body + TAIL + NODES)
    assert places == {("cell.hip", 3, 5): memory_order.NARROW, ("cell.hip", 4, 7): memory_order.PARTIAL}


def test_an_atomic_access_whose_place_clang_dropped_may_be_any_of_those_together() -> None:
    place = ("cell.hip", 3, 5)
    order = {"k": memory_order.Order(frozenset(), frozenset({place}))}
    text = """\t.type\tk,@function
\t.file\t1 "cell.hip"
\t.loc\t1 2 1
\ts_clause 0x1
\tglobal_store_b32 v0, v1, s[4:5]
\tglobal_store_b32 v0, v2, s[6:7]
"""
    lines = listing.mark_orders(text, {place: memory_order.ATOMIC}, order).split("\n")
    assert lines[4:6] == [
        "\tglobal_store_b32 v0, v1, s[4:5]", "\tglobal_store_b32 v0, v2, s[6:7] ; synchronising"
    ]  # fmt: skip
    there = text.replace(".loc\t1 2 1", ".loc\t1 3 5")
    assert "v2, s[6:7] ;" not in listing.mark_orders(there, {place: memory_order.ATOMIC}, order)


def test_a_place_that_is_missing_in_one_kernel_marks_nothing_in_another() -> None:
    place = ("cell.hip", 3, 5)
    orders = {
        "first": memory_order.Order(frozenset(), frozenset()),
        "second": memory_order.Order(frozenset(), frozenset({place})),
    }
    kernel = """\t.type\t{},@function
\t.loc\t1 2 1
\ts_clause 0x1
\tglobal_store_b32 v0, v1, s[4:5]
\tglobal_store_b32 v0, v2, s[6:7]
"""
    text = '\t.file\t1 "cell.hip"\n' + kernel.format("first") + kernel.format("second")
    lines = listing.mark_orders(text, {place: memory_order.ATOMIC}, orders).split("\n")
    marked = [number for number, line in enumerate(lines) if line.endswith("; synchronising")]
    assert marked == [10]
    assert lines[5] == "\tglobal_store_b32 v0, v2, s[6:7]"
