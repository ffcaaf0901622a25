"""What the headers say while a source is compiled: numbers of limits.h, stdint.h, float.h and numeric_limits by the
widths of the types, dim3.h, the operators of hip_vector_types.h, min, max and the traits of standard.h, definitions.h.

Each check is a static_assert; a test compiles all of its checks at once, and no kernel runs.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable

import numpy as np
import pytest

from gpulab import toolchain
from gpulab.errors import CompileError
from gpulab.toolchain.build import INCLUDE

INTEGERS = {  # C's names: width and whether signed, of the data model LP64
    "signed char": (8, True), "unsigned char": (8, False), "char": (8, True), "short": (16, True),
    "unsigned short": (16, False), "int": (32, True), "unsigned int": (32, False), "long": (64, True),
    "unsigned long": (64, False), "long long": (64, True), "unsigned long long": (64, False),
}  # fmt: skip
PREFIXES = {
    "SCHAR": "signed char", "UCHAR": "unsigned char", "CHAR": "char", "SHRT": "short", "USHRT": "unsigned short",
    "INT": "int", "UINT": "unsigned int", "LONG": "long", "ULONG": "unsigned long", "LLONG": "long long",
    "ULLONG": "unsigned long long",
}  # fmt: skip


def check(*conditions: str, before: str = "") -> None:
    """Compile a source in which every condition has to hold."""
    asserts = "\n".join(f"static_assert({each});" for each in conditions)
    toolchain.compile(f"{before}\n{asserts}\n__global__ void k() {{}}", arch="gfx942")


def extremes(bits: int, signed: bool) -> dict[str, int]:
    return {"MIN": -(1 << bits - 1), "MAX": (1 << bits - 1) - 1} if signed else {"MAX": (1 << bits) - 1}


def literal(value: int) -> str:
    """A number of up to 64 bits as C++ writes it."""
    if value < 0:
        return f"(-{-value - 1}ll - 1)"
    return f"{value}ull" if value >> 63 else f"{value}ll"


def defined(header: str) -> list[str]:
    return re.findall(r"^#define (\w+) ", (INCLUDE / header).read_text(), re.M)


def test_the_checks_can_fail() -> None:
    with pytest.raises(CompileError, match="static assertion failed"):
        check("CHAR_BIT == 8", "CHAR_BIT == 9", before="#include <limits.h>")


def test_limits_h() -> None:
    wanted = {
        f"{prefix}_{end}": value
        for prefix, name in PREFIXES.items()
        for end, value in extremes(*INTEGERS[name]).items()
    }
    assert sorted(defined("limits.h")) == sorted([*wanted, "CHAR_BIT"])
    types = [f"__is_same(decltype({prefix}_MAX), {PREFIXES[prefix]})" for prefix in list(PREFIXES)[5:]]
    check(
        "CHAR_BIT == 8",
        *(f"{name} == {literal(value)}" for name, value in wanted.items()),
        *types,
        before="#include <limits.h>\n#include <climits>",
    )


def test_stdint_h() -> None:
    widths = {f"{sign}INT{bits}": (bits, not sign) for bits in (8, 16, 32, 64) for sign in ("", "U")}
    for name in ("INTPTR", "INTMAX", "UINTPTR", "UINTMAX", "PTRDIFF", "SIZE"):
        widths[name] = 64, not name.startswith(("U", "S"))
    wanted = {f"{name}_{end}": value for name, width in widths.items() for end, value in extremes(*width).items()}
    assert sorted(defined("stdint.h")) == sorted(wanted)
    types = [f"sizeof({kind}{bits}_t) == {bits // 8} && ({kind}{bits}_t)-1 {sign} 0" for bits in (8, 16, 32, 64)
             for kind, sign in (("int", "<"), ("uint", ">"), ("int_least", "<"), ("uint_least", ">"))]  # fmt: skip
    wide = [f"sizeof({kind}_t) == 8" for kind in ("intptr", "uintptr", "intmax", "uintmax", "size", "ptrdiff")]
    check(
        *(f"{name} == {literal(value)}" for name, value in wanted.items()),
        *types,
        *wide,
        "INT64_C(9223372036854775807) == INT64_MAX && UINT64_C(18446744073709551615) == UINT64_MAX",
        "UINT32_C(4294967295) == UINT32_MAX && INT8_C(1) + INT16_C(2) + INT32_C(3) + UINT8_C(4) + UINT16_C(5) == 15",
        "INTMAX_C(1) << 62 == (1ll << 62) && UINTMAX_C(1) << 63 == (1ull << 63)",
        before="#include <stdint.h>\n#include <cstdint>",
    )


@pytest.mark.parametrize(("name", "type"), [("FLT", "float"), ("DBL", "double")])
def test_limits_of_floating_point_types(name: str, type: str) -> None:
    numbers = np.finfo(np.float32 if type == "float" else np.float64)
    bits = numbers.nmant + 1
    large, small, epsilon, least = (
        float(each).hex() for each in (numbers.max, numbers.tiny, numbers.eps, numbers.smallest_subnormal)
    )
    decimals = {24: (6, 9), 53: (sys.float_info.dig, 17)}[bits]  # ISO C: floor and ceiling of digits * log10(2)
    limits = f"std::numeric_limits<{type}>"
    check(
        "FLT_RADIX == 2",
        f"{name}_MANT_DIG == {bits} && {limits}::digits == {bits}",
        f"{name}_DIG == {decimals[0]} && {limits}::digits10 == {decimals[0]}",
        f"{limits}::max_digits10 == {decimals[1]}",
        f"{name}_MAX_EXP == {numbers.maxexp} && {limits}::max_exponent == {numbers.maxexp}",
        f"{name}_MIN_EXP == {numbers.minexp + 1} && {limits}::min_exponent == {numbers.minexp + 1}",
        f"{name}_MAX == {large} && {limits}::max() == {large} && {limits}::lowest() == -{large}",
        f"{name}_MIN == {small} && {limits}::min() == {small}",
        f"{name}_EPSILON == {epsilon} && {limits}::epsilon() == {epsilon}",
        f"{name}_TRUE_MIN == {least} && {limits}::denorm_min() == {least}",
        f"{limits}::infinity() > {large} && {limits}::quiet_NaN() != {limits}::quiet_NaN()",
        f"{limits}::radix == 2 && {limits}::is_specialized && !{limits}::is_integer && !{limits}::is_exact",
        f"{limits}::is_signed && {limits}::has_infinity && {limits}::has_quiet_NaN",
        f"__is_same(decltype({limits}::max()), {type}) && __is_same(decltype({limits}::infinity()), {type})",
        before="#include <cfloat>\n#include <float.h>\n#include <limits>",
    )


@pytest.mark.parametrize("type", [*INTEGERS, "bool"])
def test_limits_of_integers(type: str) -> None:
    bits, signed = INTEGERS.get(type, (1, False))
    ends = extremes(bits, signed)
    digits = bits - signed
    limits = f"std::numeric_limits<{type}>"
    check(
        f"{limits}::max() == {literal(ends['MAX'])}",
        f"{limits}::min() == {literal(ends.get('MIN', 0))} && {limits}::lowest() == {limits}::min()",
        f"{limits}::digits == {digits} && {limits}::digits10 == {len(str((1 << digits) - 1)) - (digits != 1)}"
        if type != "bool"
        else f"{limits}::digits == 1 && {limits}::digits10 == 0",
        f"{limits}::is_signed == {str(signed).lower()} && {limits}::is_integer && {limits}::is_exact",
        f"{limits}::is_specialized && {limits}::radix == 2 && {limits}::epsilon() == 0",
        f"!{limits}::has_infinity && !{limits}::has_quiet_NaN",
        before="#include <limits>",
    )


def test_types_that_have_no_limits() -> None:
    check("!std::numeric_limits<one>::is_specialized", before="#include <limits>\nstruct one {};")


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv,
}  # fmt: skip
BITS: dict[str, Callable[[int, int], int]] = {
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift,
}  # fmt: skip
LEFT, RIGHT = (13, 6, 9, 12), (5, 3, 2, 4)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("type", ["int", "double"])
def test_operators_of_vectors(type: str, count: int) -> None:
    """By element, of two vectors, of a vector and a number, of a number and a vector; and assigned."""
    name = f"{type}{count}"

    def made(*numbers: float) -> str:
        return f"make_{name}({', '.join(map(str, numbers))})"

    a, b = LEFT[:count], RIGHT[:count]
    conditions = []
    for sign, work in (ARITHMETIC | (BITS if type == "int" else {})).items():
        if type == "double" and sign == "/":
            work = operator.truediv
        each = made(*(work(x, y) for x, y in zip(a, b, strict=True)))
        right, left = made(*(work(x, 2) for x in a)), made(*(work(20, y) for y in b))
        conditions += [
            f"({made(*a)} {sign} {made(*b)}) == {each}",
            f"({made(*a)} {sign} 2) == {right}",
            f"(20 {sign} {made(*b)}) == {left}",
            f"[] {{ auto v = {made(*a)}; auto& w = v {sign}= {made(*b)}; return &w == &v && v == {each}; }}()",
            f"[] {{ auto v = {made(*a)}; v {sign}= 2; return v == {right}; }}()",
        ]
    up, down = made(*(x + 1 for x in a)), made(*(x - 1 for x in a))
    conditions += [
        f"-{made(*a)} == {made(*(-x for x in a))} && +{made(*a)} == {made(*a)}",
        f"[] {{ auto v = {made(*a)}; return ++v == {up} && v == {up}; }}()",
        f"[] {{ auto v = {made(*a)}; return --v == {down} && v == {down}; }}()",
        f"[] {{ auto v = {made(*a)}; return v++ == {made(*a)} && v == {up}; }}()",
        f"[] {{ auto v = {made(*a)}; return v-- == {made(*a)} && v == {down}; }}()",
        f"{made(*a)}.x == {a[0]} && {made(*a)}[0] == {a[0]}",
        f"__is_same({name}::value_type, {type}) && sizeof({name}) == {count * (4 if type == 'int' else 8)}",
    ]
    if type == "int":
        conditions.append(f"~{made(*a)} == {made(*(~x for x in a))}")
    check(*conditions)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_vectors_are_equal_if_all_elements_are(count: int) -> None:
    name = f"short{count}"
    same = f"make_{name}({', '.join(['7'] * count)})"
    conditions = [f"{same} == {same} && !({same} != {same})", f"{same} == 7 && 7 == {same} && !({same} != 7)",
                  f"!(7 != {same}) && {same} != 8 && 8 != {same} && !({same} == 8) && !(8 == {same})",
                  f"{name}(7) == {same}", f"{name}{{}} == 0"]  # fmt: skip
    for place in range(count):
        other = f"make_{name}({', '.join('8' if each == place else '7' for each in range(count))})"
        conditions += [f"{same} != {other} && !({same} == {other})", f"{other} != 7 && !(7 == {other})"]
        conditions.append(f"{other}.{'xyzw'[place]} == 8")
    check(*conditions)


def test_sizes_of_a_grid() -> None:
    same = "[](dim3 d, unsigned x, unsigned y, unsigned z) { return d.x == x && d.y == y && d.z == z; }"
    check(
        *(f"{same}(dim3({given}), {sizes})" for given, sizes in
          (("", "1, 1, 1"), ("4", "4, 1, 1"), ("4, 5", "4, 5, 1"), ("4, 5, 6", "4, 5, 6")))
    )  # fmt: skip


def test_min_max_clamp_and_swap() -> None:
    check(
        "std::min(1, 2) == 1 && std::min(2, 1) == 1 && std::max(1, 2) == 2 && std::max(2, 1) == 2",
        "std::clamp(5, 1, 3) == 3 && std::clamp(0, 1, 3) == 1 && std::clamp(2, 1, 3) == 2",
        # of two that are equal the first: ISO C++, [alg.min.max] and [alg.clamp]
        "[] { int a = 1, b = 1; return &std::min(a, b) == &a && &std::max(a, b) == &a; }()",
        "[] { int a = 1, b = 1, c = 1; return &std::clamp(a, b, c) == &a; }()",
        "[] { int a = 1, b = 2; std::swap(a, b); return a == 2 && b == 1; }()",
        "[] { int n = 0; for (int i : {1, 2, 4}) n += i; return n == 7; }()",
        "std::initializer_list<int>().size() == 0",
        before="#include <algorithm>\n#include <utility>",
    )


def test_traits() -> None:
    """ISO C++, [meta]: the kinds of types, and what the transformations make of them."""
    kinds = {
        "is_integral": ("int", "float"), "is_floating_point": ("float", "int"), "is_arithmetic": ("char", "int*"),
        "is_signed": ("int", "unsigned"), "is_unsigned": ("unsigned", "int"), "is_pointer": ("int*", "int"),
        "is_enum": ("color", "int"), "is_class": ("plain", "int"), "is_const": ("const int", "int"),
        "is_void": ("void", "int"), "is_trivially_copyable": ("plain", "owner"),
    }  # fmt: skip
    pairs = {
        "is_same": ("int, int", "int, const int"), "is_convertible": ("int, float", "plain, int"),
        "is_base_of": ("plain, derived", "derived, plain"),
    }  # fmt: skip
    changed = {
        "remove_reference": ("int&", "int"), "remove_cv": ("const volatile int", "int"),
        "remove_const": ("const int", "int"), "remove_pointer": ("int*", "int"), "decay": ("const int&", "int"),
        "make_unsigned": ("int", "unsigned"), "make_signed": ("unsigned", "int"),
    }  # fmt: skip
    check(
        *(f"std::{n}<{yes}>::value && std::{n}_v<{yes}> && !std::{n}<{no}>::value && !std::{n}_v<{no}>"
          for n, (yes, no) in {**kinds, **pairs}.items()),
        *(f"__is_same(std::{n}_t<{old}>, {new}) && __is_same(std::{n}<{old}>::type, {new})"
          for n, (old, new) in changed.items()),
        "__is_same(std::conditional_t<true, int, char>, int) && __is_same(std::conditional_t<false, int, char>, char)",
        "__is_same(std::enable_if_t<true, int>, int) && __is_same(std::enable_if_t<true>, void)",
        "__is_same(std::underlying_type_t<color>, short)",
        "std::true_type::value && !std::false_type::value && std::integral_constant<int, 3>() == 3",
        before="#include <type_traits>\nenum color : short { red };\nstruct plain { int x; };\n"
        "struct derived : plain {};\nstruct owner { __device__ owner(const owner&); };",
    )  # fmt: skip


def test_a_kernels_source_knows_its_platform() -> None:
    """HIP_VERSION is the number that hipRuntimeGetVersion returns: 10000000 * major + 100000 * minor + patch."""
    from gpulab.virtual_gpu.libraries.hip import device

    check(
        f"HIP_VERSION == {device.HIP_VERSION}",
        f"HIP_VERSION_MAJOR == {device.HIP_VERSION // 10_000_000}",
        f"HIP_VERSION_MINOR == {device.HIP_VERSION // 100_000 % 100}",
        f"HIP_VERSION_PATCH == {device.HIP_VERSION % 100_000}",
        "__HIP_PLATFORM_AMD__ == 1 && __HIPCC__ == 1",
        "sizeof(ulonglong) == 8 && sizeof(ulong) == 8 && sizeof(uint) == 4",
        "sizeof(ushort) == 2 && sizeof(uchar) == 1",
    )
