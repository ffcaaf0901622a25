"""saturate-fp8: floats to FP8 E4M3 (OCP) with a scale: rounded to nearest even, saturated, NaN kept.

The right codes come from the OCP 8-bit floating point specification (revision 1.0, tables 1 and 2): a sign, four
exponent bits with bias 7, three fraction bits; 0x7f is NaN, 0x7e the largest number, 448; there is no infinity.
"""

import numpy as np

from gpulab.grading.case import Array, Case, Value, blocks_for, sentinel
from gpulab.grading.exercise import Cause, Exercise
from gpulab.grading.requirements import work_shared

NAN = 0x7F


def numbers_of(bias):
    """The value of each code without a sign, from 0 to 0x7F, of a format with three fraction bits."""
    code = np.arange(128)
    exponent, fraction = code >> 3, code & 7
    return np.where(exponent == 0, fraction / 8 * 2.0 ** (1 - bias), (1 + fraction / 8) * 2.0 ** (exponent - bias))


def encode(x, bias=7, largest=0x7E, beyond=None, infinite=None, nan=NAN, cut=False, flush=False, signed_zero=True,
           signed_nan=False):  # fmt: skip
    """The codes of x (float64).

    Args:
        bias, largest: those of the format; `largest` is a code.
        beyond: the code of numbers that round beyond the largest; by default that of the largest.
        infinite: the code of infinity; by default `beyond`.
        nan: the code of NaN.
        cut: round towards zero, not to nearest even.
        flush: numbers below the smallest normal one become zero.
        signed_zero, signed_nan: whether zero, and NaN, has a sign.
    """
    values = numbers_of(bias)
    size = np.abs(x)
    inside = np.where(np.isfinite(size), size, 0)
    # one step beyond the largest: what is nearer to it is too large
    low = np.clip(np.searchsorted(values, inside, side="right") - 1, 0, 127)
    high = np.minimum(low + 1, 127)
    half = (values[low] + values[high]) / 2
    up = (inside > half) | ((inside == half) & (low % 2 == 1) & (low != high))
    code = np.where(up & (not cut), high, low)
    if flush:
        code = np.where(code < 8, 0, code)
    beyond = largest if beyond is None else beyond
    step = values[largest] - values[largest - 1]
    limit = values[largest] + (step if cut else step / 2)
    code = np.where((inside > values[largest]) & (inside <= limit), largest, code)
    code = np.where(inside > limit, beyond, code)
    code = np.where(np.isinf(size), beyond if infinite is None else infinite, code)
    sign = np.where(np.signbit(x) & (signed_zero | (code != 0)), 0x80, 0)
    nan = nan | np.where(np.signbit(x) & signed_nan, 0x80, 0)
    return np.where(np.isnan(x), nan, code | sign).astype("uint8")


SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 448, -448, 449, 463, 465, 500, -1000, 1e30, 2**-9, 2**-10, 3 * 2**-10,
     -5 * 2**-10, 2**-11, 7.5 * 2**-9, 2**-6, 17, 19, 21, -23, 240, 247, 248, 249, 256],
    "float32",
)  # fmt: skip


def make(parameters, random):
    n, block, shift = parameters["n"], parameters["block"], parameters["shift"]
    values = np.ldexp(random.integers(-(1 << 12), 1 << 12, n), random.integers(-23, -2, n)).astype("float32")
    special = SPECIAL[: max(n - 1, 0)]
    values[random.permutation(n)[: len(special)]] = special
    scale = np.float32(2.0 ** (shift - 4))
    numbers = values * scale
    return Case(
        parameters,
        grid=(blocks_for(n, block), 1, 1),
        block=(block, 1, 1),
        arguments=(
            Value("n", np.int32(n)),
            Value("scale", scale),
            Array("in", numbers.astype("float32")),
            Array("out", sentinel("uint8", n), encode(values.astype("float64"))),
        ),
    )


def scaled(case):
    scale = next(argument.value for argument in case.arguments if argument.name == "scale")
    with np.errstate(over="ignore"):
        return (case.array("in").data / scale).astype("float64")


def leaves(**changed):
    """A `when`: is the output that of a conversion with this difference, whether NaN keeps its sign or not?"""
    return lambda o: any(
        o.looks_like("out", lambda case, signed=signed: encode(scaled(case), signed_nan=signed, **changed))
        for signed in (False, True)
    )


def any_of(*tests):
    return lambda o: any(test(o) for test in tests)


def of_scale(power):
    """A `when`: was the scale used `power` more times than it should have been as a factor?"""

    def predicted(case):
        scale = next(argument.value for argument in case.arguments if argument.name == "scale")
        with np.errstate(over="ignore", under="ignore"):
            return encode((scaled(case) * float(scale) ** power).astype("float32").astype("float64"))

    return lambda o: o.looks_like("out", predicted)


def only_wrong(o, here):
    """Are all wrong elements among these, and was every element written?"""
    wrong = o.wrong("out")
    return o.fault is None and bool(wrong.any() and (wrong <= here).all() and not o.untouched("out").any())


def nan_signed(o):
    """Is all right but that NaN has a sign in the output?"""
    return only_wrong(o, np.isnan(o.case.array("in").data) & (o.found("out") == NAN + 0x80))


def nan_lost(o):
    """Is NaN a number in the output, and is all else right?"""
    return only_wrong(o, np.isnan(o.case.array("in").data))


def ties_wrong(o):
    """Is all right but numbers that lie in the middle of two codes: have these the odd one?"""
    values, size = numbers_of(7), np.abs(scaled(o.case))
    low, high = o.case.array("out").wanted & 0x7F, o.found("out") & 0x7F
    next_to = np.abs(low.astype(int) - high) == 1
    with np.errstate(invalid="ignore"):
        return only_wrong(o, next_to & (size == (values[low] + values[high]) / 2))


def zero_unsigned(o):
    """Is all right but that -0 became 0?"""
    return only_wrong(o, (o.case.array("out").wanted == 0x80) & (o.found("out") == 0))


exercise = Exercise(
    id="saturate-fp8",
    title="float to FP8, with nothing lost at the edges",
    lesson="23_numbers",
    section="Fewer bits",
    kernel="to_fp8",
    signature="int n, float scale, const float* in, unsigned char* out",
    minutes=15,
    make=make,
    cases=(
        {"n": 200, "shift": 7, "block": 64},
        {"n": 100, "shift": 0, "block": 32},
        {"n": 257, "shift": 4, "block": 256},
        {"n": 31, "shift": 5, "block": 64},
        {"n": 1, "shift": 4, "block": 64},
        {"n": 0, "shift": 4, "block": 64},
        {"n": 10_000, "shift": 6, "block": 256},
    ),
    smallest={"n": 31, "shift": 0, "block": 32},
    shown={"n": 6, "shift": 5, "block": 4},
    kept=("block", "shift"),
    requirements=(work_shared(),),
    causes=(
        Cause(
            "not-saturated",
            "numbers that are too large become NaN, and should become the largest number",
            leaves(beyond=NAN, infinite=NAN),
            "There is no infinity in E4M3. Without saturation a number beyond 448 becomes NaN.",
            "Which argument of the conversion says what becomes of numbers that are too large?",
        ),
        Cause(
            "infinity-becomes-nan",
            "infinity becomes NaN, and should become the largest number",
            leaves(infinite=NAN),
            "HIP's conversion saturates finite numbers only.",
            "What has to be done with infinity before the conversion?",
        ),
        Cause(
            "nan-keeps-its-sign",
            "a NaN with its sign bit set becomes 0xFF, and should become 0x7F",
            nan_signed,
            "HIP's conversion keeps the sign of NaN, too.",
            "Which numbers need a code before the conversion, or after it?",
        ),
        Cause(
            "nan-lost",
            "NaN becomes a number",
            nan_lost,
            "Functions as fminf return the other operand if one is NaN. So NaN becomes a limit, or what was computed "
            "from it.",
            "Which comparison is false for NaN alone?",
        ),
        Cause(
            "other-format",
            "the codes are those of FNUZ, and should be those of OCP",
            any_of(
                leaves(bias=8, largest=0x7F, nan=0x80, signed_zero=False),
                leaves(bias=8, largest=0x7F, infinite=0x80, nan=0x80, signed_zero=False),
                leaves(bias=8, largest=0x7F, nan=0x80, infinite=0, signed_zero=False),
            ),
            "The two families have the same bits in other places: the bias of FNUZ is 8, that of OCP 7.",
            "What is the code of 1.0 in OCP, and what is it in your result?",
        ),
        Cause(
            "limit-of-fnuz",
            "numbers above 240 become 240",
            leaves(largest=0x77),
            "240 is the largest number of E4M3 in the format FNUZ. In the OCP format it is 448.",
            "With which number do you compare before you convert?",
        ),
        Cause(
            "cut-off",
            "digits that do not fit are cut off, and should be rounded",
            leaves(cut=True),
            "To nearest even: 17 lies between 16 and 18, and becomes 16; 19 becomes 20.",
            "Which function rounds a float to the nearest whole number, and to the even one if two are as near?",
        ),
        Cause(
            "odd-ties",
            "numbers in the middle of two codes become the odd code, and should become the even one",
            ties_wrong,
            "roundf and an added half round such numbers away from zero. The code must be the even one, also for "
            "numbers below 2 to the -6th.",
            "2.5 * 2**-9 lies in the middle of the codes 2 and 3. Which of them does your kernel store?",
        ),
        Cause(
            "zero-without-sign",
            "negative zero loses its sign",
            zero_unsigned,
            "-0 and negative numbers that are rounded to 0 have the code 0x80. The comparison x < 0 is false for -0.",
            "From where do you take the sign: from a comparison, or from the sign bit?",
        ),
        Cause(
            "denormals-lost",
            "numbers below 2 to the -6th become zero",
            leaves(flush=True),
            "E4M3 has denormals: multiples of 2**-9 from 2**-9 to 7 times that.",
            "What are the codes from 1 to 7?",
        ),
        Cause(
            "not-scaled",
            "the scale is left out, or multiplied by",
            any_of(of_scale(1), of_scale(2)),
            "What is stored is the number divided by the scale, so that code times scale gives the number again.",
            "Take scale = 8 and in[i] = 8: which number is to be stored?",
        ),
    ),
    hints=(
        "Divide by the scale. Then three kinds need care: NaN, infinity, and numbers beyond 448. Everything else is "
        "one call of HIP's conversion, whose arguments say how it saturates and which format it makes.",
        "With `__HIP_SATFINITE` the conversion saturates finite numbers, but infinity becomes NaN. Change infinity "
        "to a large finite number first. NaN stays NaN, but it keeps its sign: store `0x7F` for it.",
        "`if (isinf(x)) x = copysignf(448.0f, x);` and then `out[i] = isnan(x) ? 0x7F : __hip_cvt_float_to_fp8(x, "
        "__HIP_SATFINITE, __HIP_E4M3);`",
    ),
)
