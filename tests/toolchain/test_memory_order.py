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
        # a fence of a block beside a barrier on one side only; others stay, whatever stands beside them
        ('  fence syncscope("workgroup") release\n  call void @llvm.amdgcn.s.barrier()\n', set()),
        ('  call void @llvm.amdgcn.s.barrier()\n  fence syncscope("workgroup-one-as") acquire\n', set()),
        ('  fence syncscope("workgroup") release\n  ret void\n  call void @llvm.amdgcn.s.barrier()\n',
         {"block-release"}),
        ('  fence syncscope("agent") release\n  call void @llvm.amdgcn.s.barrier()\n', {"release"}),
        ('  store atomic i32 1, ptr %p syncscope("workgroup") release, align 4\n'
         "  call void @llvm.amdgcn.s.barrier()\n", {"block-release"}),
        ('  store atomic i32 1, ptr %p syncscope("singlethread") seq_cst, align 4\n', set()),
        ("  store atomic i32 1, ptr %p seq_cst, align 4\n", {"release"}),
        ("  %1 = load atomic i32, ptr %p acquire, align 4\n", {"acquire"}),
        ("  %1 = cmpxchg ptr %p, i32 0, i32 1 release monotonic, align 4\n", {"release"}),
        ("  %1 = cmpxchg ptr %p, i32 0, i32 1 monotonic acquire, align 4\n", {"acquire"}),
        ("  fence release\n  fence seq_cst\n  %1 = atomicrmw add ptr %p, i32 1 acquire\n",
         {"release", "fence", "acquire"}),
        ("", set()),
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


BLOCK, DEVICE = 'syncscope("workgroup") ', 'syncscope("agent") '


@pytest.mark.parametrize(
    ("lines", "mark"),
    [
        ([f"store atomic i32 1, ptr %p {BLOCK}monotonic, align 4"], memory_order.NARROW),
        ([f"store atomic i32 1, ptr %p {DEVICE}monotonic, align 4"], memory_order.ATOMIC),
        (["store atomic i32 1, ptr %p monotonic, align 4"], memory_order.ATOMIC),
        (['%1 = atomicrmw add ptr %p, i32 1 syncscope("wavefront-one-as") monotonic'], memory_order.NARROW),
        (['%1 = cmpxchg ptr %p, i32 0, i32 1 syncscope("singlethread") monotonic monotonic'], memory_order.NARROW),
        (["%1 = load volatile i32, ptr %p, align 4"], memory_order.ATOMIC),
        (["%1 = call i32 @_ZL15atomicAdd_blockPii(ptr %p, i32 1)"], memory_order.NARROW),
        (["%1 = call i32 @_ZL9atomicAddPii(ptr %p, i32 1)"], memory_order.ATOMIC),
        (["%1 = call i32 @_Z15unsafeAtomicAddPff(ptr %p, float 1.0)"], memory_order.ATOMIC),
        (["%1 = call i32 @_Z6squarei(i32 1)", "%2 = load i32, ptr %p, align 4"], None),
        # of several at one place one that reaches beyond the block counts
        ([f"store atomic i32 1, ptr %p {scope}monotonic, align 4" for scope in (BLOCK, BLOCK)], memory_order.NARROW),
        ([f"store atomic i32 1, ptr %p {scope}monotonic, align 4" for scope in (BLOCK, DEVICE)], memory_order.ATOMIC),
        ([f"store atomic i32 1, ptr %p {scope}monotonic, align 4" for scope in (DEVICE, BLOCK)], memory_order.ATOMIC),
    ],
)
@pytest.mark.parametrize("second", ["3", "6"])
def test_how_far_an_atomic_access_reaches(lines: list[str], mark: str | None, second: str) -> None:
    """!6 is another location of the same line and column as !3."""
    same = "!6 = !DILocation(line: 3, column: 5, scope: !2, inlinedAt: !4)\n"
    body = "".join(f"  {line}, !dbg !{number}\n" for line, number in zip(lines, ("3", second), strict=False))
    found = memory_order.places(HEAD + body + TAIL + NODES + same)
    assert found == ({("cell.hip", 3, 5): mark} if mark else {})


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("line: 3, column: 5, scope: !2", ("cell.hip", 3, 5)),
        ("line: 12, scope: !2", ("cell.hip", 12, 0)),
        ("line: 3, column: 5, scope: !9", ("", 3, 5)),
        ("line: 3, column: 5, scope: !8", ("w.hip", 3, 5)),
        ("column: 5, scope: !2", None),
    ],
)
def test_places_by_their_nodes(location: str, place: memory_order.Place | None) -> None:
    nodes = f"!3 = !DILocation({location})\n" + NODES.replace("!3 = ", "!33 = ")
    nodes += '!7 = !DIFile(filename: "C:\\\\a\\\\w.hip", directory: "")\n!8 = distinct !DISubprogram(file: !7)\n'
    body = "  store volatile i32 1, ptr %p, align 4, !dbg !3\n"
    assert memory_order.places(HEAD + body + TAIL + nodes) == ({place: memory_order.ATOMIC} if place else {})
    plain = memory_order.orders(HEAD + body + TAIL + nodes)["k"].plain
    assert plain == (frozenset({place}) if place else frozenset())


def test_an_access_of_its_own_beside_a_bit_field_is_none() -> None:
    """Loads of one place of which one is not for a bit field; and what is cleared has to be what was loaded there."""
    field = "  %1 = load i32, ptr %p, align 4, !dbg !4\n  %2 = and i32 %1, -256, !dbg !4\n"
    other = "  %3 = load i32, ptr %p, align 4, !dbg !4\n"
    at = {("cell.hip", 4, 7): memory_order.PARTIAL}
    assert memory_order.places(HEAD + field + TAIL + NODES) == at
    assert memory_order.places(HEAD + field + other + TAIL + NODES) == {}
    assert memory_order.places(HEAD + field.replace("i32 %1,", "i32 %9,") + TAIL + NODES) == {}
    assert memory_order.places(HEAD + field.replace("-256, !dbg !4", "-256, !dbg !3") + TAIL + NODES) == {}
    assert memory_order.places(HEAD + field + TAIL + NODES.replace("DIFlagBitField", "")) == {}


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
