"""One operand or instruction of LLVM's AMDGPU assembly text: `operand` and `instruction` read it.

What is wrong is raised as `Expected`; `assembly.py`, which reads whole programs, knows the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gpulab.errors import AssemblyError
from gpulab.records import SourceLine
from gpulab.virtual_gpu.isa.instruction import Instruction, Keyword, Literal, Operand, Register, Symbol

# ---------------------------------------------------------------------------------------------- operands

_SPECIAL = {
    **{name: (name, 0, 1) for name in ("m0", "scc", "null", "vccz", "execz", "lds_direct", "pops_exiting_wave_id")},
    **{f"src_{name}": (name, 0, 1) for name in ("scc", "vccz", "execz", "lds_direct")},
    "src_pops_exiting_wave_id": ("pops_exiting_wave_id", 0, 1),
    **{
        spelled: (f"src_{name}", 0, 2)
        for name in ("shared_base", "shared_limit", "private_base", "private_limit")
        for spelled in (name, f"src_{name}")
    },
    **{
        spelled: (name, index, count)
        for name in ("vcc", "exec", "flat_scratch", "xnack_mask")
        for spelled, index, count in ((name, 0, 2), (f"{name}_lo", 0, 1), (f"{name}_hi", 1, 1))
    },
}
_REGISTER = re.compile(r"(v|s|a|acc|ttmp)(?:(\d+)|\[(\w+)(?::(\w+))?\])(?:\.([lh]))?$")
INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)$")
FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?$")
SYMBOL = re.compile(r'("[^"]+"|[A-Za-z_.$][\w.$]*)(?:@([A-Za-z]\w*(?:@\w+)?))?\s*([-+]\s*(?:0[xX][0-9a-fA-F]+|\d+))?$')
NUMBERED = re.compile(r"\d+[bf]$")
_FUNCTION = re.compile(r"[A-Za-z_]\w*\(")
_LIST = re.compile(r"\[([vsa]\d+(?:\s*,\s*[vsa]\d+)*)\]$")
_NAMED_REGISTER_LIMIT = {"v": 512, "a": 512, "s": 128, "ttmp": 16}


class Expected(Exception):
    """What was expected, without the line: who knows the line adds it."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """An operand that is an expression over labels, evaluated when all labels are known."""

    text: str


def integer(text: str) -> int:
    text = text.replace(" ", "")
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits.isdigit() and digits.startswith("0")
    value = int(digits, 8 if octal else 0)
    return -value if text.startswith("-") else value


def _register(text: str) -> tuple[Register, str] | None:
    special = _SPECIAL.get(text)
    if special is not None:
        return Register("special", special[1], special[2], special[0]), ""
    match = _REGISTER.match(text)
    if match is None:
        listed = _LIST.match(text)
        if listed is None:
            return None
        names = [name.strip() for name in listed[1].split(",")]
        file, first = names[0][0], int(names[0][1:])
        if names != [f"{file}{first + i}" for i in range(len(names))]:
            raise Expected(f"registers that follow one another, not {text}")
        return Register(file, first, len(names)), ""
    file, single, low, high, half = match.groups()
    file = "a" if file == "acc" else file
    try:
        first = int(single if single is not None else low, 0)
        last = first if high is None else int(high, 0)
    except ValueError:
        raise Expected(f"register numbers such as {file}[4:5], not {text}") from None
    if last < first or last >= _NAMED_REGISTER_LIMIT[file]:
        raise Expected(f"a register range that exists, not {text}")
    if file == "ttmp":
        return Register("special", first, last - first + 1, "ttmp"), ""
    return Register(file, first, last - first + 1), half or ""


@lru_cache(maxsize=8192)
def operand(text: str) -> Operand:
    """One operand with its modifiers, e.g. ``-|v3|``, ``s[0:1]``, ``0x3f800000``, ``table@rel32@lo+4``."""
    value, half = _plain(text)
    if value is not None:
        return Operand(value, half=half)
    neg = absolute = sext = False
    inner = text
    while True:
        if inner.startswith("-") and len(inner) > 1 and not inner[1].isdigit() and inner[1] != ".":
            neg, inner = not neg, inner[1:].strip()
        elif inner.startswith("|") and inner.endswith("|") and len(inner) > 2:
            absolute, inner = True, inner[1:-1].strip()
        elif inner.endswith(")") and inner.startswith(("neg(", "abs(", "sext(")):
            word, _, inner = inner[:-1].partition("(")
            neg, absolute, sext = neg ^ (word == "neg"), absolute or word == "abs", sext or word == "sext"
            inner = inner.strip()
        else:
            break
    value, half = _plain(inner)
    if value is None or (isinstance(value, Symbol) and text.startswith("-")):  # -SYMBOL is a number, with its own sign
        raise Expected(f"a register, a number, a symbol or a name, not {text!r}")
    return Operand(value, neg, absolute, sext, half)


def _plain(text: str) -> tuple[Register | Literal | Symbol | Keyword | None, str]:
    """An operand without source modifiers, and its register half; None if it is not one."""
    found = _register(text)
    if found is not None:
        return found
    if INTEGER.match(text):
        return Literal(integer(text)), ""
    if FLOAT.match(text):
        return Literal(float(text), True), ""
    if text == "off":
        return Keyword(text), ""
    if NUMBERED.match(text):
        return Symbol(text), ""
    match = SYMBOL.match(text)
    if match is not None:
        name, relocation, offset = match.groups()
        return Symbol(name.strip('"'), integer(offset) if offset else 0, relocation or ""), ""
    if text.startswith(("lit(", "lit64(")) and text.endswith(")"):
        return _plain(text[text.index("(") + 1 : -1].strip())
    if _FUNCTION.match(text) and text.endswith(")") and not text.startswith(("neg(", "abs(", "sext(")):
        return Keyword(text), ""
    return None, ""


# ------------------------------------------------------------------------------------------ instructions

_SPACE = re.compile(r"\s+(?![^\[\]]*\])(?![^()]*\))")
_MNEMONIC = re.compile(r"([a-z_][a-z0-9_]*)(?:\s+(.*))?$", re.S)
_SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa")
_FLAGS = frozenset(
    (
        "clamp",
        "glc",
        "slc",
        "dlc",
        "scc",
        "sc0",
        "sc1",
        "nt",
        "gds",
        "lds",
        "tfe",
        "lwe",
        "unorm",
        "da",
        "d16",
        "r128",
        "idxen",
        "offen",
        "addr64",
        "high",
        "done",
        "vm",
        "compr",
        "row_mirror",
        "row_half_mirror",
        "row_en",
    )
)
_PLAIN = re.compile(  # an operand that is no expression, and no modifier
    r"[-|]*(?:(?:v|s|a|ttmp)(?:\d+|\[[^\[\]]*\])(?:\.[lh])?|(?:vcc|exec)(?:_lo|_hi)?|m0|null|off"
    r"|0x[0-9a-fA-F]+|\d[\d.]*(?:e[-+]?\d+)?|(?:abs|neg|sext)\([^()]*\))\|?$"
)
_SDWA = frozenset(("dst_sel", "dst_unused", "src0_sel", "src1_sel"))
_WHOLE_ARGUMENT = ("s_waitcnt", "s_waitcnt_depctr", "s_delay_alu", "s_wait_alu")
_OPERATORS = frozenset("+-*/&^<>~!%=")
_BETWEEN = re.compile(r"(?<!:)[ \t]*:[ \t]*(?!:)")  # blanks around the colon of ``offset: 8`` and ``v[2 : 3]``
PLACE = re.compile(r"\[([^\[\],]*)\]")


def _modifier(text: str, into: dict[str, Any]) -> None:
    name, colon, value = text.partition(":")
    if not colon:
        if not re.match(r"[a-z_]\w*$", name):
            raise Expected(f"a modifier such as offset:16 or glc, not {text!r}")
        into[name] = True
    elif name in ("bound_ctrl",):
        into[name] = True
    elif INTEGER.match(value):
        into[name] = integer(value)
    elif value.startswith("[") and value.endswith("]"):
        parts = [part.strip() for part in value[1:-1].split(",")]
        into[name] = tuple(integer(part) for part in parts) if all(map(INTEGER.match, parts)) else value
    elif value.startswith("swizzle("):
        into[name] = _swizzle(value)
    elif value:
        into[name] = value
    else:
        raise Expected(f"a value after {name}:")


_SWIZZLE_LETTERS = {"0": (0, 0, 0), "1": (0, 1, 0), "p": (1, 0, 0), "i": (1, 0, 1)}  # and, or, xor


def _swizzle(text: str) -> int:
    """The offset field of ds_swizzle_b32 from ``swizzle(MODE, ...)`` (LLVM, "AMDGPU Instruction Modifiers")."""
    mode, *rest = (part.strip() for part in text[len("swizzle(") :].rstrip(")").split(","))
    if mode == "BITMASK_PERM" and len(rest) == 1 and re.match(r'"[01pi]{5}"$', rest[0]):
        ands = ors = xors = 0
        for letter in rest[0].strip('"'):
            a, o, x = _SWIZZLE_LETTERS[letter]
            ands, ors, xors = ands << 1 | a, ors << 1 | o, xors << 1 | x
        return xors << 10 | ors << 5 | ands
    numbers = [int(part) for part in rest if part.isdigit()]
    if len(numbers) == len(rest):
        if mode == "QUAD_PERM" and len(numbers) == 4:
            return 0x8000 | sum((lane & 3) << 2 * i for i, lane in enumerate(numbers))
        if mode == "SWAP" and len(numbers) == 1:
            return numbers[0] << 10 | 0x1F
        if mode == "REVERSE" and len(numbers) == 1:
            return (numbers[0] - 1) << 10 | 0x1F
        if mode == "BROADCAST" and len(numbers) == 2:
            return numbers[1] << 5 | (32 - numbers[0])
        if mode == "ROTATE" and len(numbers) == 2:
            return 0xC000 | numbers[0] << 10 | numbers[1] << 5
        if mode == "FFT" and len(numbers) == 1:
            return 0xE000 | numbers[0]
    raise Expected(f"a swizzle such as swizzle(SWAP,16), not {text}")


HARDWARE_REGISTERS = {
    1: "MODE", 2: "STATUS", 3: "TRAPSTS", 4: "HW_ID", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS", 15: "SH_MEM_BASES",
    20: "XCC_ID", 23: "HW_ID1", 24: "HW_ID2", 29: "SHADER_CYCLES",
}  # fmt: skip


def hardware_register(given: Operand) -> tuple[str, int, int]:
    """Name (without HW_REG_), first bit and width from ``hwreg(HW_REG_MODE, 4, 2)`` or the same as a number."""
    value = given.value
    if isinstance(value, Literal):
        number = int(value.value) & 0xFFFF
        return HARDWARE_REGISTERS.get(number & 63, str(number & 63)), number >> 6 & 31, (number >> 11) + 1
    text = value.text if isinstance(value, Keyword) else ""
    parts = [part.strip() for part in text.removeprefix("hwreg(").rstrip(")").split(",")]
    if not text.startswith("hwreg(") or len(parts) not in (1, 3):
        raise AssemblyError(f"not a hardware register: {text or value!r}.", hint="write hwreg(HW_REG_MODE, 4, 2).")
    name = HARDWARE_REGISTERS.get(int(parts[0], 0), parts[0]) if INTEGER.match(parts[0]) else parts[0]
    first, width = (int(parts[1], 0), int(parts[2], 0)) if len(parts) == 3 else (0, 32)
    return name.removeprefix("HW_REG_"), first, width


def split_operands(text: str) -> list[str]:
    if "[" not in text and "(" not in text and '"' not in text and "]" not in text and ")" not in text:
        return [piece.strip() for piece in text.split(",")]
    pieces, depth, start, quoted = [], 0, 0, False
    for position, character in enumerate(text):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
            if depth < 0:
                raise Expected(f"an opening bracket for {text[position:]!r}")
        elif character == '"':
            quoted = not quoted
        elif character == "," and depth == 0 and not quoted:
            pieces.append(text[start:position].strip())
            start = position + 1
    if depth:
        raise Expected("a closing bracket")
    pieces.append(text[start:].strip())
    return pieces


def _joined(words: list[str]) -> list[str]:
    """The words of an operand and its modifiers, with an expression that is written with blanks as one word."""
    found = words[:1]
    for word in words[1:]:
        before = found[-1]
        if _PLAIN.match(before) and _PLAIN.match(word) and not (INTEGER.match(before) and word[0] == "-"):
            found.append(word)
            continue
        opened = before.endswith("|") and before.count("|") % 2
        if opened or word[0] in _OPERATORS or before[-1:] in _OPERATORS or word in ("|", "||"):
            found[-1] = before + word
        else:
            found.append(word)
    return found


@lru_cache(maxsize=32768)
def _body(text: str) -> tuple[str, str, tuple[Operand | Deferred, ...], Mapping[str, Any]]:
    """Mnemonic, encoding, operands and modifiers of one instruction's text."""
    match = _MNEMONIC.match(text)
    if match is None:
        raise Expected("an instruction, a label or a directive")
    mnemonic, rest = match[1], (match[2] or "").strip()
    encoding = ""
    for suffix in _SUFFIXES:
        if mnemonic.endswith(suffix):
            mnemonic, encoding = mnemonic[: -len(suffix)], suffix[1:]
            break
    if not rest:
        return mnemonic, encoding, (), {}
    if mnemonic in _WHOLE_ARGUMENT:
        found = Literal(integer(rest)) if INTEGER.match(rest) else Keyword(rest)
        return mnemonic, encoding, (Operand(found),), {}
    if " :" in rest or ": " in rest or "\t" in rest:
        rest = _BETWEEN.sub(":", rest)
    operands: list[Operand | Deferred] = []
    modifiers: dict[str, Any] = {}
    pieces = split_operands(rest)
    for number, piece in enumerate(pieces):
        if not piece:
            raise Expected(f"an operand before or after each comma in {rest!r}")
        if piece[0] == "[" and mnemonic.startswith("image_"):  # address registers, which need not follow one another
            operands += [operand(part.strip()) for part in split_operands(piece.removesuffix("]")[1:])]
            continue
        words = _joined(_SPACE.split(piece)) if " " in piece or "\t" in piece else [piece]
        first = words[0]
        name = first.partition(":")[0]
        is_modifier = (first in _FLAGS and first != "scc") or (":" in first and name.isidentifier() and "[" not in name)
        if is_modifier and (number == len(pieces) - 1 or ":" in first or operands):
            words.insert(0, "")
        else:
            try:
                operands.append(operand(first))
            except Expected:
                if not re.search(r"[-+*/&|()<>~!%^=]", first) or not re.search(r"[\w.]", first) or "[" in first:
                    raise
                operands.append(Deferred(first))
        for word in words[1:]:
            if word and not modifiers and _PLAIN.match(word):  # LLVM's assembler takes operands without commas, too
                operands.append(operand(word))
            elif word:
                _modifier(word, modifiers)
    # A line may leave the suffix out, as hand-written ones do: LLVM's assembler then chooses by what stands there.
    if not encoding and (
        not _SDWA.isdisjoint(modifiers) or any(isinstance(one, Operand) and one.sext for one in operands)
    ):
        encoding = "sdwa"
    return mnemonic, encoding, tuple(operands), modifiers


WITH_VCC = ("v_cmp_", "v_cmpx_", "v_cndmask_b32", "v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32")
VCC = {64: Operand(Register("special", 0, 2, "vcc")), 32: Operand(Register("special", 0, 1, "vcc"))}


def instruction(text: str, where: SourceLine | None = None, wave_size: int = 64) -> Instruction:
    """One instruction from its text (without label or comment); raises AssemblyError."""
    try:
        result = read_instruction(text.strip(), where, wave_size)
    except Expected as bad:
        raise AssemblyError(f"cannot read the instruction {text.strip()!r}: expected {bad}.") from None
    for item in result.operands:
        if isinstance(item, Deferred):
            raise AssemblyError(f"the expression {item.text!r} in {text.strip()!r} needs a whole program's labels.")
    return result


def read_instruction(text: str, where: SourceLine | None, wave_size: int) -> Instruction:
    if "::" in text:
        first, second = (half.strip() for half in text.split("::", 1))
        pair = _dual(second, second, where, wave_size, None)
        return _dual(first, text, where, wave_size, pair)
    mnemonic, encoding, operands, modifiers = _body(text)
    return Instruction(mnemonic, encoding, operands, modifiers, text, where)  # type: ignore[arg-type]


def _dual(half: str, text: str, where: SourceLine | None, wave_size: int, pair: Instruction | None) -> Instruction:
    mnemonic, _, operands, modifiers = _body(half)
    if not mnemonic.startswith("v_dual_"):
        raise Expected(f"two v_dual_ instructions joined by ::, not {half!r}")
    mnemonic = "v_" + mnemonic[len("v_dual_") :]
    if mnemonic == "v_cndmask_b32" and len(operands) == 3:
        operands += (VCC[wave_size],)
    return Instruction(mnemonic, "dual", operands, modifiers, text, where, pair)  # type: ignore[arg-type]
