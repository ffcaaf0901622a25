"""Signatures from metadata nodes written by hand after the LLVM Language Reference; types as C++ spells them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gpulab.toolchain.debug_info import FormalParameter, Function, functions

INT = '!1 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)'


def derived(number: int, tag: str, base: int | None, more: str = "") -> str:
    reference = "null" if base is None else f"!{base}"
    return f"!{number} = !DIDerivedType(tag: DW_TAG_{tag}, baseType: {reference}{more})"


def kernel(*types: int | None) -> str:
    """The nodes of a function `k` whose parameters have these types."""
    listed = ", ".join("null" if number is None else f"!{number}" for number in (None, *types))
    return "\n".join((
        '!900 = distinct !DISubprogram(name: "k", scope: !901, line: 1, type: !902, spFlags: DISPFlagDefinition)',
        '!901 = !DIFile(filename: "k.hip", directory: "/a, b")',
        "!902 = !DISubroutineType(types: !903)",
        f"!903 = !{{{listed}}}",
    ))  # fmt: skip


def parameter(*nodes: str, type: int = 2) -> FormalParameter:
    return functions("\n".join((INT, *nodes, kernel(type))))["k"].parameters[0]


POINTER_TO_INT = derived(2, "pointer_type", 1, ", size: 64")
POINTER_TO_CONST = derived(2, "pointer_type", 3, ", size: 64") + "\n" + derived(3, "const_type", 1)


@pytest.mark.parametrize(
    ("nodes", "type", "spelled", "dtype", "pointer"),
    [
        ([], 1, "int", "int32", False),
        ([POINTER_TO_INT], 2, "int *", "int32", True),
        ([POINTER_TO_INT, derived(3, "pointer_type", 2)], 3, "int **", "uint64", True),
        ([derived(2, "pointer_type", None, ", size: 64")], 2, "void *", None, True),
        ([POINTER_TO_CONST], 2, "const int *", "int32", True),
        ([derived(2, "reference_type", 1)], 2, "int &", "int32", True),
        ([derived(2, "rvalue_reference_type", 1)], 2, "int &&", "int32", True),
        ([derived(2, "const_type", 1)], 2, "const int", "int32", False),
        ([derived(2, "const_type", 3), derived(3, "volatile_type", 1)], 2, "const volatile int", "int32", False),
        ([POINTER_TO_INT, derived(3, "restrict_type", 2)], 3, "int *__restrict", "int32", True),
        ([POINTER_TO_INT, derived(3, "volatile_type", 2), derived(4, "const_type", 3)], 4,
         "int *volatile const", "int32", True),
        ([derived(2, "reference_type", 3), derived(3, "const_type", 4), derived(4, "pointer_type", 1)], 2,
         "int *const &", "uint64", True),
        # a pointer to a function, to one without parameters or result, to an array
        ([derived(2, "pointer_type", 3), "!3 = !DISubroutineType(types: !4)", "!4 = !{!1, !5, null}",
          derived(5, "pointer_type", 1)], 2, "int (*)(int *, void)", None, True),
        ([derived(2, "pointer_type", 3), "!3 = !DISubroutineType(types: !4)", "!4 = !{null}"], 2,
         "void (*)()", None, True),
        ([derived(2, "pointer_type", 3), "!3 = !DISubroutineType()"], 2, "void (*)()", None, True),
        (["!2 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, size: 256, elements: !3)", "!3 = !{!4, !5}",
          "!4 = !DISubrange(count: 2)", "!5 = !DISubrange(count: 4)"], 2, "int[2][4]", None, False),
        (["!2 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, elements: !3)", "!3 = !{!4}",
          "!4 = !DISubrange(count: -1)"], 2, "int[]", None, False),
        (["!2 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, elements: !3)", "!3 = !{!4}",
          "!4 = !DISubrange(count: 0)"], 2, "int[0]", None, False),
        (["!2 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, size: 128, flags: DIFlagVector, elements: !3)",
          "!3 = !{!4, null}", "!4 = !DISubrange(count: 4)"], 2, "int vector[4]", None, False),
        ([derived(5, "pointer_type", 2), "!2 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, elements: !3)",
          "!3 = !{!4}", "!4 = !DISubrange(count: 4)"], 5, "int[4] *", "int32", True),
        ([derived(5, "pointer_type", 2), "!2 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, size: 128, "
          "flags: DIFlagVector, elements: !3)", "!3 = !{!4}", "!4 = !DISubrange(count: 4)"], 5, "int vector[4] *", None,
         True),
        (["!2 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !901, line: 3, size: 32)"], 2,
         "(unnamed structure)", None, False),
        (["!2 = !DICompositeType(tag: DW_TAG_union_type, size: 32)"], 2, "(unnamed union)", None, False),
        (['!2 = !DICompositeType(tag: DW_TAG_class_type, name: "P<int, 3>", scope: !3, size: 32)',
          '!3 = !DINamespace(name: "geo", scope: !4)', "!4 = !DINamespace(scope: null)"], 2,
         "(anonymous namespace)::geo::P<int, 3>", None, False),
        # a name of a file or a function is no part of a type's
        (['!2 = !DICompositeType(tag: DW_TAG_structure_type, name: "L", scope: !900, size: 32)'], 2, "L", None, False),
        ([derived(2, "typedef", 1, ', name: "index"')], 2, "index", "int32", False),
        ([derived(2, "atomic_type", 1, ', name: "a"')], 2, "a", "int32", False),
        ([derived(2, "pointer_type", 3), derived(3, "typedef", 1, ', name: "index", scope: !901')], 2,
         "index *", "int32", True),
        ([derived(2, "typedef", 3, ', name: "where"'), derived(3, "pointer_type", 1)], 2, "where", "int32", True),
    ],
)  # fmt: skip
def test_types(nodes: list[str], type: int, spelled: str, dtype: str | None, pointer: bool) -> None:
    assert parameter(*nodes, type=type) == FormalParameter("", spelled, dtype, pointer)


@pytest.mark.parametrize(
    ("node", "dtype"),
    [
        ('!DIBasicType(name: "bool", size: 8, encoding: DW_ATE_boolean)', "bool"),
        ('!DIBasicType(name: "char", size: 8, encoding: DW_ATE_signed_char)', "int8"),
        ('!DIBasicType(name: "unsigned char", size: 8, encoding: DW_ATE_unsigned_char)', "uint8"),
        ('!DIBasicType(name: "short", size: 16, encoding: DW_ATE_signed)', "int16"),
        ('!DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)', "uint32"),
        ('!DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)', "int64"),
        ('!DIBasicType(name: "char16_t", size: 16, encoding: DW_ATE_UTF)', "uint16"),
        ('!DIBasicType(name: "__int128", size: 128, encoding: DW_ATE_signed)', None),
        ('!DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)', "float32"),
        ('!DIBasicType(name: "double", size: 64, encoding: DW_ATE_float)', "float64"),
        ('!DIBasicType(name: "long double", size: 128, encoding: DW_ATE_float)', None),
        ('!DIBasicType(name: "_Float16", size: 16, encoding: DW_ATE_float)', "float16"),
        ('!DIBasicType(name: "__bf16", size: 16, encoding: DW_ATE_float)', None),
        ('!DIBasicType(name: "complex", size: 64, encoding: DW_ATE_complex_float)', None),
        ('!DIBasicType(tag: DW_TAG_unspecified_type, name: "decltype(nullptr)")', None),
        ('!DICompositeType(tag: DW_TAG_structure_type, name: "__half", size: 16)', "float16"),
        ('!DICompositeType(tag: DW_TAG_structure_type, name: "half2", size: 32)', None),
        ('!DICompositeType(tag: DW_TAG_enumeration_type, name: "E", baseType: !1, size: 32)', "int32"),
        ('!DICompositeType(tag: DW_TAG_class_type, name: "float", size: 32)', None),
    ],
)
def test_numpy_names(node: str, dtype: str | None) -> None:
    assert parameter(f"!2 = {node}").dtype == dtype


def chain(length: int, tag: str, more: str = "") -> list[str]:
    """Types 10, 11, ... each of the one after it, the last of int."""
    numbers = [*range(10, 10 + length), 1]
    return [derived(one, tag, base, more) for one, base in pairwise(numbers)]


def test_deep_types_end() -> None:
    """Metadata may go in a circle: each walk has its end, and what lies before it is given as it is."""
    assert parameter(*chain(24, "pointer_type"), type=10).type == "int " + "*" * 24
    assert parameter(*chain(25, "pointer_type"), type=10).type == "... " + "*" * 25
    assert parameter(*chain(24, "const_type"), type=10).type == "const " * 24 + "int"
    assert parameter(*chain(25, "const_type"), type=10).type == "const " * 25 + "..."
    assert parameter(*chain(32, "typedef", ', name: "t"'), type=10).dtype == "int32"
    assert parameter(*chain(33, "typedef", ', name: "t"'), type=10).dtype is None
    enumerations = [line.replace("Derived", "Composite") for line in chain(5, "enumeration_type", ', name: "E"')]
    assert parameter(*enumerations, type=11).dtype == "int32"
    assert parameter(*enumerations, type=10).dtype is None
    spaces = [f'!{n} = !DINamespace(name: "n", scope: !{n + 1})' for n in range(10, 60)]
    inside = '!2 = !DICompositeType(tag: DW_TAG_structure_type, name: "S", scope: !10)'
    assert parameter(inside, *spaces).type == "n::" * 31 + "S"
    function = ["!3 = !DISubroutineType(types: !4)", "!4 = !{!3}"]
    assert parameter(*function, type=3).type == "... " + "()() " * 24 + "()()"
    array = ["!3 = !DICompositeType(tag: DW_TAG_array_type, baseType: !3, elements: !4)", "!4 = !{}"]
    assert parameter(*array, type=3).type == "..."
    pointers = [derived(3, "pointer_type", 4), "!4 = !DISubroutineType(types: !5)", "!5 = !{!3}"]
    assert "..." in parameter(*pointers, type=3).type


def test_names_of_functions_and_parameters() -> None:
    ir = "\n".join((
        INT, POINTER_TO_INT, kernel(1, 2, 1),
        "!9 = !DILocalVariable(arg: 2, scope: !20, file: !901, line: 1, type: !2)",
        '!10 = !DILocalVariable(name: "n", arg: 1, scope: !900, file: !901, line: 1, type: !1)',
        '!11 = !DILocalVariable(name: "x", arg: 2, scope: !900, file: !901, line: 1, type: !2)',
        '!12 = !DILocalVariable(name: "inner", scope: !900, file: !901, line: 1, type: !1)',
        '!13 = !DILocalVariable(name: "other", arg: 3, scope: !20, file: !901, line: 1, type: !1)',
        '!20 = distinct !DISubprogram(name: "f<int, 2>", linkageName: "_ZN1a1fEv", scope: !21, type: !902, '
        "spFlags: DISPFlagDefinition | DISPFlagOptimized)",
        '!21 = !DINamespace(name: "a", scope: null)',
        '!22 = !DISubprogram(name: "declared", scope: !901, type: !902, spFlags: DISPFlagOptimized)',
        '!23 = distinct !DISubprogram(name: "bare", scope: !901, spFlags: DISPFlagDefinition)',
        r'!24 = distinct !DISubprogram(name: "\C3\A4\22, \FF", scope: !901, spFlags: DISPFlagDefinition)',
    ))  # fmt: skip
    number, pointer = FormalParameter("n", "int", "int32", False), FormalParameter("x", "int *", "int32", True)
    last = FormalParameter("", "int", "int32", False)
    assert functions(ir) == {
        "k": Function("k", (number, pointer, last)),
        "_ZN1a1fEv": Function("a::f<int, 2>", (
            FormalParameter("", "int", "int32", False), FormalParameter("", "int *", "int32", True),
            FormalParameter("other", "int", "int32", False),
        )),
        "bare": Function("bare", ()),
        'ä", \ufffd': Function('ä", \ufffd', ()),
    }  # fmt: skip
    assert functions("") == {}
