"""LLVM's AMDGPU assembly text, read into a `Program`.

`parse` walks the lines once (`_Reader`): code goes to one list of instructions, the bytes of allocated
sections to `_Section` buffers, symbols to expressions that `_Reader.finish` evaluates at the end.
`operand` and `instruction` read one operand or one instruction; `_Expression` evaluates the assembler's
expressions (`max(a, b)`, `.Lend-.Lstart`). Metadata is YAML, read by PyYAML.

The text's instruction sizes are not modelled: for arithmetic on code addresses each instruction counts
`INSTRUCTION_BYTES`, here and in `virtual_gpu/dispatch.py`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NoReturn

from gpulab import architectures
from gpulab.errors import AssemblyError
from gpulab.records import NO_GUARANTEES, Guarantees, SourceLine
from gpulab.virtual_gpu.isa.generation import generation
from gpulab.virtual_gpu.isa.instruction import (
    Argument,
    DataObject,
    Instruction,
    KernelDescriptor,
    Keyword,
    Literal,
    Operand,
    Program,
    Register,
    Relocation,
    Symbol,
)

INSTRUCTION_BYTES = 8
"""Bytes that one instruction counts in the virtual GPU's code addresses. Eight makes LLVM's fixed sequence
s_getpc / s_add_u32 sym@rel32@lo+4 / s_addc_u32 sym@rel32@hi+12 come out right, as the literal of an
eight-byte instruction lies at its address + 4."""

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
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)$")
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?$")
_SYMBOL = re.compile(r'("[^"]+"|[A-Za-z_.$][\w.$]*)(?:@([A-Za-z]\w*(?:@\w+)?))?\s*([-+]\s*(?:0[xX][0-9a-fA-F]+|\d+))?$')
_NUMBERED = re.compile(r"\d+[bf]$")
_FUNCTION = re.compile(r"[A-Za-z_]\w*\(")
_LIST = re.compile(r"\[([vsa]\d+(?:\s*,\s*[vsa]\d+)*)\]$")
_NAMED_REGISTER_LIMIT = {"v": 512, "a": 512, "s": 128, "ttmp": 16}


_MOST_ARGUMENT_BYTES = 1 << 16


class _Bad(Exception):
    """What was expected, without the line; `_Reader.fail` adds it."""


@dataclass(frozen=True, slots=True)
class _Deferred:
    """An operand that is an expression over labels, evaluated when all labels are known."""

    text: str


def _integer(text: str) -> int:
    text = text.replace(" ", "")
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits.isdigit() and digits.startswith("0")
    value = int(digits, 8 if octal else 0)
    return -value if text.startswith("-") else value


def _metadata_number(kernel: str, key: str, value: object) -> int:
    """A number of a kernel's metadata. Raises AssemblyError for anything else."""
    if not _INTEGER.fullmatch(str(value)):
        raise AssemblyError(f"{key} of kernel {kernel} in the metadata is {value!r}, not a number.")
    return _integer(str(value))


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
            raise _Bad(f"registers that follow one another, not {text}")
        return Register(file, first, len(names)), ""
    file, single, low, high, half = match.groups()
    file = "a" if file == "acc" else file
    try:
        first = int(single if single is not None else low, 0)
        last = first if high is None else int(high, 0)
    except ValueError:
        raise _Bad(f"register numbers such as {file}[4:5], not {text}") from None
    if last < first or last >= _NAMED_REGISTER_LIMIT[file]:
        raise _Bad(f"a register range that exists, not {text}")
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
        raise _Bad(f"a register, a number, a symbol or a name, not {text!r}")
    return Operand(value, neg, absolute, sext, half)


def _plain(text: str) -> tuple[Register | Literal | Symbol | Keyword | None, str]:
    """An operand without source modifiers, and its register half; None if it is not one."""
    found = _register(text)
    if found is not None:
        return found
    if _INTEGER.match(text):
        return Literal(_integer(text)), ""
    if _FLOAT.match(text):
        return Literal(float(text), True), ""
    if text == "off":
        return Keyword(text), ""
    if _NUMBERED.match(text):
        return Symbol(text), ""
    match = _SYMBOL.match(text)
    if match is not None:
        name, relocation, offset = match.groups()
        return Symbol(name.strip('"'), _integer(offset) if offset else 0, relocation or ""), ""
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
_WHOLE_ARGUMENT = ("s_waitcnt", "s_waitcnt_depctr", "s_delay_alu", "s_wait_alu")
_OPERATORS = frozenset("+-*/&^<>~!%=")
_BETWEEN = re.compile(r"(?<!:)[ \t]*:[ \t]*(?!:)")  # blanks around the colon of ``offset: 8`` and ``v[2 : 3]``
_PLACE = re.compile(r"\[([^\[\],]*)\]")


def _modifier(text: str, into: dict[str, Any]) -> None:
    name, colon, value = text.partition(":")
    if not colon:
        if not re.match(r"[a-z_]\w*$", name):
            raise _Bad(f"a modifier such as offset:16 or glc, not {text!r}")
        into[name] = True
    elif name in ("bound_ctrl",):
        into[name] = True
    elif _INTEGER.match(value):
        into[name] = _integer(value)
    elif value.startswith("[") and value.endswith("]"):
        parts = [part.strip() for part in value[1:-1].split(",")]
        into[name] = tuple(_integer(part) for part in parts) if all(map(_INTEGER.match, parts)) else value
    elif value.startswith("swizzle("):
        into[name] = _swizzle(value)
    elif value:
        into[name] = value
    else:
        raise _Bad(f"a value after {name}:")


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
    raise _Bad(f"a swizzle such as swizzle(SWAP,16), not {text}")


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
    name = HARDWARE_REGISTERS.get(int(parts[0], 0), parts[0]) if _INTEGER.match(parts[0]) else parts[0]
    first, width = (int(parts[1], 0), int(parts[2], 0)) if len(parts) == 3 else (0, 32)
    return name.removeprefix("HW_REG_"), first, width


def _split_operands(text: str) -> list[str]:
    if "[" not in text and "(" not in text and '"' not in text and "]" not in text and ")" not in text:
        return [piece.strip() for piece in text.split(",")]
    pieces, depth, start, quoted = [], 0, 0, False
    for position, character in enumerate(text):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
            if depth < 0:
                raise _Bad(f"an opening bracket for {text[position:]!r}")
        elif character == '"':
            quoted = not quoted
        elif character == "," and depth == 0 and not quoted:
            pieces.append(text[start:position].strip())
            start = position + 1
    if depth:
        raise _Bad("a closing bracket")
    pieces.append(text[start:].strip())
    return pieces


def _joined(words: list[str]) -> list[str]:
    """The words of an operand and its modifiers, with an expression that is written with blanks as one word."""
    found = words[:1]
    for word in words[1:]:
        before = found[-1]
        opened = before.endswith("|") and before.count("|") % 2
        if opened or word[0] in _OPERATORS or before[-1:] in _OPERATORS or word in ("|", "||"):
            found[-1] = before + word
        else:
            found.append(word)
    return found


@lru_cache(maxsize=32768)
def _body(text: str) -> tuple[str, str, tuple[Operand | _Deferred, ...], Mapping[str, Any]]:
    """Mnemonic, encoding, operands and modifiers of one instruction's text."""
    match = _MNEMONIC.match(text)
    if match is None:
        raise _Bad("an instruction, a label or a directive")
    mnemonic, rest = match[1], (match[2] or "").strip()
    encoding = ""
    for suffix in _SUFFIXES:
        if mnemonic.endswith(suffix):
            mnemonic, encoding = mnemonic[: -len(suffix)], suffix[1:]
            break
    if not rest:
        return mnemonic, encoding, (), {}
    if mnemonic in _WHOLE_ARGUMENT:
        found = Literal(_integer(rest)) if _INTEGER.match(rest) else Keyword(rest)
        return mnemonic, encoding, (Operand(found),), {}
    if " :" in rest or ": " in rest or "\t" in rest:
        rest = _BETWEEN.sub(":", rest)
    operands: list[Operand | _Deferred] = []
    modifiers: dict[str, Any] = {}
    pieces = _split_operands(rest)
    for number, piece in enumerate(pieces):
        if not piece:
            raise _Bad(f"an operand before or after each comma in {rest!r}")
        if piece[0] == "[" and mnemonic.startswith("image_"):  # address registers, which need not follow one another
            operands += [operand(part.strip()) for part in _split_operands(piece.removesuffix("]")[1:])]
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
            except _Bad:
                if not re.search(r"[-+*/&|()<>~!%^=]", first) or not re.search(r"[\w.]", first) or "[" in first:
                    raise
                operands.append(_Deferred(first))
        for word in words[1:]:
            if word:
                _modifier(word, modifiers)
    return mnemonic, encoding, tuple(operands), modifiers


_WITH_VCC = ("v_cmp_", "v_cmpx_", "v_cndmask_b32", "v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32")
_VCC = {64: Operand(Register("special", 0, 2, "vcc")), 32: Operand(Register("special", 0, 1, "vcc"))}


def instruction(text: str, where: SourceLine | None = None, wave_size: int = 64) -> Instruction:
    """One instruction from its text (without label or comment); raises AssemblyError."""
    try:
        result = _instruction(text.strip(), where, wave_size)
    except _Bad as bad:
        raise AssemblyError(f"cannot read the instruction {text.strip()!r}: expected {bad}.") from None
    for item in result.operands:
        if isinstance(item, _Deferred):
            raise AssemblyError(f"the expression {item.text!r} in {text.strip()!r} needs a whole program's labels.")
    return result


def _instruction(text: str, where: SourceLine | None, wave_size: int) -> Instruction:
    if "::" in text:
        first, second = (half.strip() for half in text.split("::", 1))
        pair = _dual(second, second, where, wave_size, None)
        return _dual(first, text, where, wave_size, pair)
    mnemonic, encoding, operands, modifiers = _body(text)
    return Instruction(mnemonic, encoding, operands, modifiers, text, where)  # type: ignore[arg-type]


def _dual(half: str, text: str, where: SourceLine | None, wave_size: int, pair: Instruction | None) -> Instruction:
    mnemonic, _, operands, modifiers = _body(half)
    if not mnemonic.startswith("v_dual_"):
        raise _Bad(f"two v_dual_ instructions joined by ::, not {half!r}")
    mnemonic = "v_" + mnemonic[len("v_dual_") :]
    if mnemonic == "v_cndmask_b32" and len(operands) == 3:
        operands += (_VCC[wave_size],)
    return Instruction(mnemonic, "dual", operands, modifiers, text, where, pair)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------- expressions


@dataclass(slots=True)
class _Linear:
    """An integer plus symbols, each with a factor: what an assembler can put into a relocation."""

    value: int = 0
    symbols: dict[str, int] = field(default_factory=dict)

    def plus(self, other: _Linear, sign: int = 1) -> _Linear:
        symbols = dict(self.symbols)
        for name, factor in other.symbols.items():
            symbols[name] = symbols.get(name, 0) + sign * factor
        return _Linear(self.value + sign * other.value, {n: f for n, f in symbols.items() if f})


_TOKEN = re.compile(
    r'\s*(?:(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)(?![\w.$])|("[^"]+"|[A-Za-z_.$@][\w.$@]*)|(<<|>>|&&|\|\||==|!=|<=|>=|[-+*/%&|^~!(),<>]))'
)
_PRECEDENCE = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3,
    "+": 4, "-": 4, "|": 5, "^": 5, "&": 5, "*": 6, "/": 6, "%": 6, "<<": 6, ">>": 6,
}  # fmt: skip


class _Expression:
    """Evaluates one assembler expression; `lookup` gives a symbol's value or None if it has no number."""

    def __init__(self, text: str, lookup: Any, arch: str) -> None:
        self.text, self.lookup, self.arch = text, lookup, arch
        self.tokens: list[tuple[str, str]] = []
        position = 0
        stripped = text.rstrip()
        while position < len(stripped):
            match = _TOKEN.match(stripped, position)
            if match is None:
                raise _Bad(f"an expression, not {text!r}")
            kind = "number" if match[1] else "name" if match[2] else "operator"
            self.tokens.append((kind, match[match.lastindex or 0]))
            position = match.end()
        self.at = 0

    def evaluate(self) -> _Linear:
        result = self.binary(0)
        if self.at != len(self.tokens):
            raise _Bad(f"the end of the expression {self.text!r} before {self.tokens[self.at][1]!r}")
        return result

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def binary(self, least: int) -> _Linear:
        left = self.unary()
        while _PRECEDENCE.get(self.peek(), 0) > least and self.tokens[self.at][0] == "operator":
            sign = self.peek()
            self.at += 1
            right = self.binary(_PRECEDENCE[sign])
            if sign in "+-":
                left = left.plus(right, 1 if sign == "+" else -1)
            else:
                left = _Linear(_ARITHMETIC[sign](self.number(left), self.number(right)))
        return left

    def unary(self) -> _Linear:
        if self.at >= len(self.tokens):
            raise _Bad(f"a value at the end of {self.text!r}")
        kind, token = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return _Linear(_integer(token))
        if token == "-":
            return _Linear().plus(self.unary(), -1)
        if token == "+":
            return self.unary()
        if token in ("~", "!"):
            value = self.number(self.unary())
            return _Linear(~value if token == "~" else int(not value))
        if token == "(":
            inside = self.binary(0)
            self.expect(")")
            return inside
        if kind != "name":
            raise _Bad(f"a value in {self.text!r}, not {token!r}")
        if self.peek() == "(":
            self.at += 1
            arguments = []
            while self.peek() != ")":
                arguments.append(self.number(self.binary(0)))
                if self.peek() == ",":
                    self.at += 1
            self.expect(")")
            return _Linear(self.call(token, arguments))
        name = token.strip('"').partition("@")[0]
        found = self.lookup(name)
        return _Linear(0, {name: 1}) if found is None else found

    def expect(self, token: str) -> None:
        if self.peek() != token:
            raise _Bad(f"{token!r} in the expression {self.text!r}")
        self.at += 1

    def number(self, value: _Linear) -> int:
        if value.symbols:
            raise _Bad(f"numbers in {self.text!r}: {', '.join(value.symbols)} has no value known here")
        return value.value

    def call(self, name: str, a: list[int]) -> int:
        """The functions LLVM writes for resource usage (llvm/lib/Target/AMDGPU, AMDGPUMCExpr)."""
        if name == "max":
            return max(a)
        if name == "or":
            result = 0
            for x in a:
                result |= x
            return result
        if name == "alignto" and len(a) == 2:
            return (a[0] + a[1] - 1) // a[1] * a[1]
        if name == "totalnumvgprs" and len(a) == 2:
            agprs, vgprs = a
            if architectures.get(self.arch).unified_vgprs:
                return (vgprs + 3) // 4 * 4 + agprs if agprs else vgprs
            return max(vgprs, agprs)
        if name == "extrasgprs" and len(a) == 3:
            vcc, flat_scratch, xnack = a
            extra = 2 if vcc else 0
            device = architectures.get(self.arch)
            if not device.sgprs_per_simd:  # every wave has its own: beside VCC none is set apart
                return extra
            return 6 if flat_scratch or device.has("architected-flat-scratch") else 4 if xnack else extra
        if name == "instprefsize" and a:
            return min(63, (a[0] + 127) // 128)
        known = "max, or, alignto, extrasgprs, totalnumvgprs, instprefsize"
        raise _Bad(f"a known function ({known}), not {name}() of {len(a)} values")


_ARITHMETIC: dict[str, Any] = {
    "*": lambda a, b: a * b,
    "/": lambda a, b: int(a / b) if b else 0,
    "%": lambda a, b: a - int(a / b) * b if b else 0,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    "==": lambda a, b: -int(a == b),
    "!=": lambda a, b: -int(a != b),
    "<": lambda a, b: -int(a < b),
    ">": lambda a, b: -int(a > b),
    "<=": lambda a, b: -int(a <= b),
    ">=": lambda a, b: -int(a >= b),
}

# ------------------------------------------------------------------------------------------ whole programs

_LABEL = re.compile(r'\s*("[^"]*"|[A-Za-z_.$][\w.$]*|\d+)\s*:(?!:)')
_DATA = {".byte": 1, ".short": 2, ".half": 2, ".hword": 2, ".2byte": 2, ".value": 2, ".long": 4, ".int": 4, ".word": 4,
         ".4byte": 4, ".quad": 8, ".8byte": 8, ".xword": 8}  # fmt: skip
_STRINGS = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
_FILLS = (".zero", ".space", ".skip")
_IGNORED = frozenset(
    [
        ".globl",
        ".global",
        ".weak",
        ".local",
        ".protected",
        ".hidden",
        ".internal",
        ".ident",
        ".addrsig",
        ".addrsig_sym",
        ".amdhsa_code_object_version",
        ".amdgcn_target",
        ".amdgpu_hsa_kernel",
        ".line",
        ".reloc",
        ".symver",
        ".version",
    ]
)
_ANYWHERE = (  # directives that mean something while the section is one that is not loaded
    (
        ".section",
        ".text",
        ".data",
        ".bss",
        ".rodata",
        ".set",
        ".pushsection",
        ".popsection",
        ".previous",
        ".type",
        ".size",
        ".amdg",
        ".file",
        ".globl",
        ".comm",
        ".lcomm",
        ".equ",
    )
)
_UNSUPPORTED = (".macro", ".rept", ".rep", ".irp", ".irpc", ".if", ".ifdef", ".ifndef", ".include", ".incbin", ".endm")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "\\": 92, '"': 34, "v": 11, "a": 7}
_RELOAD = "Folded Reload"  # Clang's comment on reads of registers that it spilled
# The toolchain's marks (toolchain/memory_order.py): of places in the source, and of a kernel.
_MARKS = ("synchronising", "synchronising in a block", "bit field")
_ORDERS = re.compile(r"; orders of (\S+):(.*)")
_INLINED_AT = re.compile(r"@\[ (.+?):(\d+):(\d+)")
_SECTION_FLAGS = {".text": "ax", ".data": "aw", ".bss": "aw", ".rodata": "a"}


@dataclass(slots=True)
class _Section:
    """The bytes of one allocated section while it is read; `labels` are (name, offset, alignment)."""

    name: str
    writable: bool
    executable: bool
    allocated: bool
    align: int = 1
    bytes: bytearray = field(default_factory=bytearray)
    labels: list[tuple[str, int, int]] = field(default_factory=list)
    relocations: list[tuple[int, int, str, int]] = field(default_factory=list)  # offset, size, expression, line
    nobits: bool = False


def _unescape(text: str) -> bytes:
    out = bytearray()
    i = 0
    while i < len(text):
        if text[i] != "\\":
            out += text[i].encode()
            i += 1
            continue
        octal = re.match(r"[0-7]{1,3}", text[i + 1 : i + 4])
        hexadecimal = re.match(r"x([0-9a-fA-F]+)", text[i + 1 :])
        if octal:
            out.append(int(octal[0], 8) & 255)
            i += 1 + len(octal[0])
        elif hexadecimal:
            out.append(int(hexadecimal[1], 16) & 255)
            i += 2 + len(hexadecimal[1])
        else:
            out.append(_ESCAPES.get(text[i + 1], ord(text[i + 1]) & 255))
            i += 2
    return bytes(out)


def _without_comment(line: str) -> str:
    """The line without ``; comment`` and ``// comment``; strings are respected."""
    if '"' not in line:
        cut = line.find(";")
        if cut >= 0:
            line = line[:cut]
        cut = line.find("//")
        return line[:cut] if cut >= 0 else line
    inside = False
    i = 0
    while i < len(line):
        character = line[i]
        if inside and character == "\\":
            i += 1
        elif character == '"':
            inside = not inside
        elif not inside and (character == ";" or line.startswith("//", i)):
            return line[:i]
        i += 1
    return line


def _mark(comment: str) -> str:
    """Which of the toolchain's marks a `.loc` ends in, or none."""
    return next((mark for mark in _MARKS if comment.endswith(mark)), "")


class _Reader:
    """The state of one parse."""

    def __init__(self, text: str, sources: Mapping[str, str], arch: str) -> None:
        self.text, self.sources, self.arch = text, sources, arch
        self.source_lines = {name: source.split("\n") for name, source in sources.items()}
        self.line_number = 0
        self.line = ""
        self.instructions: list[Instruction] = []
        self.mark = ""
        self.marked: dict[str, list[int]] = {mark: [] for mark in _MARKS}
        self.orders: dict[str, frozenset[str]] = {}
        self.reloads: list[int] = []
        self.implied: list[tuple[int, int]] = []  # (instruction index, operand): VCC that the text leaves out
        self.deferred: list[tuple[int, int]] = []  # instruction index, text line: symbols to look at in the end
        self.labels: dict[str, int] = {}
        self.numbered: list[tuple[int, int]] = []  # numeric labels: (number, instruction index)
        self.sections: dict[str, _Section] = {}
        self.section = self.enter(".text", "ax")
        self.previous = self.section
        self.stack: list[_Section] = []
        self.set: dict[str, tuple[str, int]] = {}
        self.values: dict[str, _Linear | None] = {}
        self.types: dict[str, str] = {}
        self.sizes: dict[str, tuple[str, int]] = {}
        self.function_order: list[tuple[int, str]] = []
        self.lds: dict[str, tuple[int, int]] = {}
        self.common: dict[str, tuple[int, int]] = {}
        self.kernels: dict[str, dict[str, tuple[str, int]]] = {}
        self.kernel_block: dict[str, tuple[str, int]] | None = None
        self.metadata = ""
        self.files: dict[int, tuple[str, str]] = {}
        self.where: SourceLine | None = None
        self.places: dict[tuple[str, str], SourceLine | None] = {}
        self.pending_align = 1
        self.code_lines: list[int] = []
        self.wave_size = _wave_size(arch)

    # -- errors

    def fail(self, expected: str, line_number: int = 0) -> NoReturn:
        number = line_number or self.line_number
        line = self.text.split("\n")[number - 1].strip() if number else ""
        raise AssemblyError(
            f"cannot read line {number} of the assembly text: {line!r}.",
            why=f"expected {expected}.",
            hint="write it as LLVM's assembler for AMDGPU takes it; a compile with --isa shows many examples.",
        ) from None

    # -- lines

    def read(self) -> Program:
        lines = self.text.split("\n")
        count = len(lines)
        index = 0
        while index < count:
            line = lines[index]
            index += 1
            if not line or line.isspace():
                continue
            self.line_number = index
            if line[0] == "\t" and line[1:2].islower():  # the usual shape of an instruction
                self.code(line)
                continue
            stripped = line.strip()
            first = stripped[0]
            if first in ";#" or stripped.startswith("//"):
                orders = _ORDERS.match(stripped)
                if orders:
                    self.orders[orders[1]] = frozenset(orders[2].split())
                continue
            if stripped.startswith(".amdgpu_metadata"):
                start = index
                while index < count and not lines[index].strip().startswith(".end_amdgpu_metadata"):
                    index += 1
                if index >= count:
                    self.fail("a line .end_amdgpu_metadata after the metadata")
                self.metadata = "\n".join(lines[start:index])
                index += 1
                continue
            if not self.section.allocated and first == "." and not stripped.startswith(_ANYWHERE):
                continue  # debug information and compiler statistics
            label = _LABEL.match(line)
            if label is not None:
                self.define(label[1].strip('"'))
                line = line[label.end() :]
                stripped = line.strip()
                if not stripped or stripped[0] in ";#":
                    continue
                first = stripped[0]
            if first == "." and not stripped.startswith(".L"):
                try:
                    self.directive(stripped)
                except _Bad as bad:
                    self.fail(str(bad))
            elif re.match(r'[\w.$"]+\s*=(?!=)', stripped):
                name, _, value = _without_comment(stripped).partition("=")
                self.assign(name.strip().strip('"'), value.strip())
            else:
                self.code(line)
        return self.finish()

    def code(self, line: str) -> None:
        reload, mark = line.endswith(_RELOAD), self.mark or _mark(line)
        line = _without_comment(line).strip()
        if not line:
            return
        section = self.section
        if not section.executable:
            if not section.allocated:
                return
            self.fail("data in this section; instructions belong into .text")
        try:
            item = self.with_numbers(_instruction(line, self.where, self.wave_size))
        except _Bad as bad:
            try:
                item = _instruction(self.numbered_registers(line), self.where, self.wave_size)
            except _Bad:
                self.fail(str(bad))
        position = len(self.instructions)
        if item.mnemonic.startswith(_WITH_VCC):
            item = self.with_vcc(item, position)
        for value in item.operands:
            if isinstance(value, _Deferred) or isinstance(value.value, Symbol):
                self.deferred.append((position, self.line_number))
                break
        else:
            if item.mnemonic in _BRANCHES or item.pair is not None:
                self.deferred.append((position, self.line_number))
        if mark:
            self.marked[mark].append(len(self.instructions))
        if reload:
            self.reloads.append(len(self.instructions))
        self.instructions.append(item)

    def with_numbers(self, item: Instruction) -> Instruction:
        """The instruction with the value of each modifier that is an expression over known symbols."""
        changed: dict[str, int] = {}
        for name, text in item.modifiers.items():
            names = {match[2] for match in _TOKEN.finditer(text) if match[2]} if isinstance(text, str) else None
            if names is not None and names <= self.set.keys():
                try:
                    value = _Expression(str(text), self.lookup, self.arch).evaluate()
                except _Bad:
                    continue  # a word, such as scope:SCOPE_DEV, or a list
                if not value.symbols:
                    changed[name] = value.value
        return replace(item, modifiers={**item.modifiers, **changed}) if changed else item

    def numbered_registers(self, line: str) -> str:
        """The line with numbers for expressions in register brackets: ``v[FIRST:FIRST+1]``."""

        def number(match: re.Match[str]) -> str:
            return "[" + ":".join(str(self.number(part, self.line_number)) for part in match[1].split(":")) + "]"

        return _PLACE.sub(number, line)

    def with_vcc(self, item: Instruction, position: int) -> Instruction:
        """The instruction with the mask that its short form leaves out: VCC, as the assembler reads it."""
        device = architectures.find(self.arch)
        count, place = len(item.operands), 0
        if item.mnemonic.startswith("v_cmp_"):
            implied = count == 2
        elif item.mnemonic.startswith("v_cmpx_"):
            implied = count == 2 and device is not None and generation(device.generation).cmpx_names_mask
        else:
            implied, place = count == 3, 3 if item.mnemonic == "v_cndmask_b32" else 1
        if not implied or item.encoding in ("e64", "dual"):
            return item
        self.implied.append((position, place))
        operands = [*item.operands]
        operands.insert(place, _VCC[self.wave_size])
        return replace(item, operands=tuple(operands))

    def define(self, name: str) -> None:
        section = self.section
        if section.executable:
            if name.isdigit():
                self.numbered.append((int(name), len(self.instructions)))
                return
            if name in self.labels:
                self.fail(f"each label once; {name} is defined a second time")
            self.labels[name] = len(self.instructions)
            if not name.startswith("."):
                self.where = None
        elif section.allocated:
            section.labels.append((name, len(section.bytes), self.pending_align))
        self.pending_align = 1

    # -- sections

    def enter(self, name: str, flags: str | None = None, nobits: bool = False) -> _Section:
        section = self.sections.get(name)
        if section is None:
            if flags is None:
                stem = "." + name.split(".")[1] if name.startswith(".") and len(name) > 1 else name
                flags = _SECTION_FLAGS.get(stem, "")
            section = _Section(name, "w" in flags, "x" in flags, "a" in flags, nobits=nobits)
            self.sections[name] = section
        return section

    def switch(self, section: _Section) -> None:
        self.previous, self.section = self.section, section
        self.pending_align = 1

    # -- directives

    def directive(self, stripped: str) -> None:
        parts = stripped.split(None, 1)
        name = parts[0]
        if name == ".loc":
            self.locate(parts[1] if len(parts) > 1 else "")
            return
        if name == ".file":
            self.name_file(stripped)
            return
        if name.startswith((".cfi_", ".cv_")) or name in _IGNORED:
            if name == ".amdgcn_target":
                self.target(stripped)
            return
        rest = _without_comment(parts[1]).strip() if len(parts) > 1 else ""
        if self.kernel_block is not None and name.startswith(".amdhsa_"):
            if not rest:
                self.fail(f"a value after {name}")
            self.kernel_block[name[len(".amdhsa_") :]] = (rest, self.line_number)
        elif name == ".end_amdhsa_kernel":
            if self.kernel_block is None:
                self.fail(".amdhsa_kernel before .end_amdhsa_kernel")
            self.kernel_block = None
        elif name == ".amdhsa_kernel":
            if not rest:
                self.fail("the kernel's name after .amdhsa_kernel")
            self.kernel_block = self.kernels.setdefault(rest.strip('"'), {})
        elif name in _DATA:
            self.data(_DATA[name], rest)
        elif name in _STRINGS:
            found = _STRING.findall(rest)
            if not found:
                self.fail(f"a quoted string after {name}")
            for item in found:
                self.emit(_unescape(item) + _STRINGS[name])
        elif name in _FILLS or name == ".fill":
            self.fill(name, rest)
        elif name in (".p2align", ".p2alignl", ".p2alignw", ".align", ".balign"):
            self.align(name, rest)
        elif name in (".text", ".data", ".bss", ".rodata"):
            self.switch(self.enter(name, _SECTION_FLAGS[name], name == ".bss"))
        elif name in (".section", ".pushsection"):
            self.section_directive(name, rest)
        elif name == ".popsection":
            if not self.stack:
                self.fail(".pushsection before .popsection")
            self.switch(self.stack.pop())
        elif name == ".previous":
            self.switch(self.previous)
        elif name in (".set", ".equ", ".equiv"):
            symbol, comma, value = rest.partition(",")
            if not comma:
                self.fail(f"a name, a comma and an expression after {name}")
            self.assign(symbol.strip().strip('"'), value.strip())
        elif name == ".type":
            symbol, _, kind = rest.partition(",")
            self.types[symbol.strip().strip('"')] = kind.strip().lstrip("@%#")
        elif name == ".size":
            symbol, comma, value = rest.partition(",")
            if not comma:
                self.fail("a name, a comma and a size after .size")
            self.sizes[symbol.strip().strip('"')] = (value.strip(), self.line_number)
        elif name in (".comm", ".lcomm", ".amdgpu_lds"):
            values = [part.strip() for part in rest.split(",")]
            try:
                size, align = int(values[1], 0), int(values[2], 0) if len(values) > 2 else 1
            except (IndexError, ValueError):
                self.fail(f"a name, a size and an alignment after {name}")
            (self.lds if name == ".amdgpu_lds" else self.common)[values[0].strip('"')] = (size, max(1, align))
        elif name in _UNSUPPORTED:
            self.fail(f"no {name}: assembler macros and conditions are not expanded here")
        elif name.startswith(".amdhsa_"):
            self.fail(f".amdhsa_kernel before {name}")
        else:
            self.fail(f"a directive that is known here, not {name}")

    def target(self, stripped: str) -> None:
        match = re.search(r"\b(gfx[0-9a-z]+)", stripped)
        if match is None:
            self.fail('a target such as "amdgcn-amd-amdhsa--gfx942"')
        self.arch = match[1]
        self.wave_size = _wave_size(self.arch)

    def section_directive(self, name: str, rest: str) -> None:
        pieces = _split_operands(rest)
        section_name = pieces[0].strip('"')
        if not section_name:
            self.fail(f"a section's name after {name}")
        flags = pieces[1].strip('"') if len(pieces) > 1 and pieces[1].startswith('"') else None
        nobits = len(pieces) > 2 and pieces[2].lstrip("@%") == "nobits"
        if name == ".pushsection":
            self.stack.append(self.section)
        self.switch(self.enter(section_name, flags, nobits))

    def align(self, name: str, rest: str) -> None:
        value = rest.split(",")[0].strip()
        if not _INTEGER.match(value):
            self.fail(f"a number after {name}")
        amount = _integer(value)
        if name.startswith(".p2align"):
            if not 0 <= amount < 32:
                self.fail(f"an exponent from 0 to 31 after {name}")
            amount = 1 << amount
        section = self.section
        if amount < 1 or section.executable or not section.allocated:
            return
        section.bytes += bytes(-len(section.bytes) % amount)
        section.align = max(section.align, amount)
        self.pending_align = amount

    def emit(self, data: bytes) -> None:
        section = self.section
        if section.executable:
            self.fail("instructions in a code section; gpulab reads instructions as text, not as numbers")
        section.bytes += data
        self.pending_align = 1

    def data(self, size: int, rest: str) -> None:
        for text in _split_operands(rest):
            if _INTEGER.match(text):
                self.emit((_integer(text) & ((1 << 8 * size) - 1)).to_bytes(size, "little"))
            elif _FLOAT.match(text) and size in (4, 8):
                self.emit(struct.pack("<f" if size == 4 else "<d", float(text)))
            elif not text:
                self.fail("a value before and after each comma")
            else:
                section = self.section
                if section.allocated and not section.executable:
                    section.relocations.append((len(section.bytes), size, text, self.line_number))
                self.emit(bytes(size))

    def fill(self, name: str, rest: str) -> None:
        values = []
        for text in _split_operands(rest):
            try:
                values.append(_Expression(text, lambda _: None, self.arch).evaluate())
            except _Bad as bad:
                self.fail(str(bad))
        if any(v.symbols for v in values) or not values:
            self.fail(f"numbers after {name}")
        if self.section.executable:
            return  # padding between functions
        repeat, *more = (v.value for v in values)
        if name == ".fill":
            size, value = (more + [1, 0][len(more) :])[:2]
            unit = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        else:
            unit = bytes([(more[0] if more else 0) & 255])
        if repeat < 0 or repeat * len(unit) > 1 << 32:
            self.fail(f"a sensible number of bytes after {name}")
        self.emit(unit * repeat)

    def assign(self, name: str, value: str) -> None:
        if not name or not value:
            self.fail("a name and an expression")
        self.set[name] = (value, self.line_number)

    # -- source lines

    def name_file(self, stripped: str) -> None:
        number = re.match(r"\.file\s+(\d+)\s", stripped)
        strings = [_unescape(s).decode(errors="replace") for s in _STRING.findall(stripped)]
        if not strings:
            self.fail("a quoted file name after .file")
        if number is None:
            return
        directory, name = (strings[0], strings[1]) if len(strings) > 1 and "md5" not in strings[1] else ("", strings[0])
        self.files[int(number[1])] = (directory, name)

    def locate(self, rest: str) -> None:
        body, _, comment = rest.partition(";")
        key = (body.strip(), comment.strip())
        if key in self.places:
            found = self.places[key]
            if found is not None:
                self.where = found
                self.mark = _mark(comment)
            else:
                self.mark = _mark(comment) or self.mark
            return
        words = body.split()
        if len(words) < 2 or not words[0].isdigit() or not words[1].isdigit():
            self.fail("a file number, a line and a column after .loc")
        line = int(words[1])
        column = int(words[2]) if len(words) > 2 and words[2].isdigit() else 0
        if not line:  # made by the compiler: it keeps the place before
            self.places[key] = None
            self.mark = _mark(comment) or self.mark
            return
        directory, name = self.files.get(int(words[0]), ("", ""))
        if int(words[0]) and directory and directory != self.files.get(0, ("", ""))[0] and not name.startswith("/"):
            joined = f"{directory}/{name}"
            name = name if name in self.sources and joined not in self.sources else joined
        if self.sources and name not in self.sources:  # in a header: the learner's line is where it was inlined
            for file, at_line, at_column in _INLINED_AT.findall(comment):
                if file in self.sources and int(at_line):
                    name, line, column = file, int(at_line), int(at_column)
                    break
        lines = self.source_lines.get(name, ())
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        self.where = self.places[key] = SourceLine(name, line, column, text)
        self.mark = _mark(comment)

    # -- the end

    def value(self, text: str, line_number: int) -> _Linear:
        try:
            return _Expression(text, self.lookup, self.arch).evaluate()
        except _Bad as bad:
            self.fail(str(bad), line_number)

    def lookup(self, name: str) -> _Linear | None:
        if name in self.labels:
            return _Linear(self.labels[name] * INSTRUCTION_BYTES, {"": 1})
        if name not in self.set:
            return None
        if name not in self.values:
            self.values[name] = None  # a symbol defined by itself stays a symbol
            text, line_number = self.set[name]
            self.values[name] = self.value(text, line_number)
        return self.values[name]

    def number(self, text: str, line_number: int) -> int:
        if _INTEGER.match(text):
            return _integer(text)
        if re.match(r"[a-z_]+$", text) and text not in self.set:
            return {"true": 1, "false": 0}.get(text, 0)
        value = self.value(text, line_number)
        if value.symbols:
            self.fail(f"a number: {', '.join(n or 'a code address' for n in value.symbols)} has no value", line_number)
        return value.value

    def finish(self) -> Program:
        if not self.arch:
            raise AssemblyError(
                "the assembly text does not say for which GPU it is.",
                why='there is no line .amdgcn_target "amdgcn-amd-amdhsa--gfx942".',
                hint="add that line first.",
            )
        functions = self.functions()
        documents = self.load_metadata()
        data, aliases = self.data_objects(functions)
        self.resolve_operands(aliases)
        self.add_got_slots(data, aliases)
        kernels = self.kernel_descriptors(documents)
        wave_sizes = {descriptor[1] for descriptor in kernels.values()}
        if len(wave_sizes) > 1:
            raise AssemblyError("kernels of wave size 32 and of wave size 64 in one text.", hint="compile them apart.")
        wave_size = wave_sizes.pop() if wave_sizes else self.wave_size
        for position, place in self.implied:
            operands = [*self.instructions[position].operands]
            operands[place] = _VCC[wave_size]
            self.instructions[position] = replace(self.instructions[position], operands=tuple(operands))
        return Program(
            arch=self.arch,
            wave_size=wave_size,
            instructions=tuple(self.instructions),
            labels=self.labels,
            functions=functions,
            kernels={name: descriptor[0] for name, descriptor in kernels.items()},
            data=data,
            printf_formats=tuple(documents.get("amdhsa.printf") or ()),
            sources=dict(self.sources),
            synchronising=frozenset((*self.marked[_MARKS[0]], *self.marked[_MARKS[1]])),
            narrow=frozenset(self.marked[_MARKS[1]]),
            partial=frozenset(self.marked[_MARKS[2]]),
            orders=self.orders,
            reloads=frozenset(self.reloads),
        )

    def functions(self) -> dict[str, tuple[int, int]]:
        names = [n for n, kind in self.types.items() if kind == "function" and n in self.labels]
        names += [n for n in self.kernels if n in self.labels and n not in names]
        starts = sorted({self.labels[n] for n in names} | {len(self.instructions)})
        result = {}
        for name in names:
            start = self.labels[name]
            end = next((s for s in starts if s > start), len(self.instructions))
            if name in self.sizes:
                size = self.value(*self.sizes[name])
                if not size.symbols and 0 < size.value // INSTRUCTION_BYTES <= len(self.instructions) - start:
                    end = start + size.value // INSTRUCTION_BYTES
            result[name] = (start, end)
        for name, (text, _) in self.set.items():  # one function under two names
            target = text.strip('"')
            if target in result and name not in result:
                result[name] = result[target]
                self.labels[name] = self.labels[target]
        return result

    def load_metadata(self) -> dict[str, Any]:
        if not self.metadata.strip():
            return {}
        import yaml

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # all scalars as text: a kernel may be called `no`
        try:
            document = yaml.load(self.metadata, Loader=loader)
        except yaml.YAMLError as error:
            raise AssemblyError("the .amdgpu_metadata block is not valid YAML.", why=str(error)) from None
        if not isinstance(document, dict):
            raise AssemblyError("the .amdgpu_metadata block is not a YAML mapping with the key amdhsa.kernels.")
        return document

    def kernel_descriptors(self, documents: Mapping[str, Any]) -> dict[str, tuple[KernelDescriptor, int]]:
        by_name: dict[str, Mapping[str, Any]] = {}
        for entry in documents.get("amdhsa.kernels") or ():
            if not isinstance(entry, dict):
                raise AssemblyError("amdhsa.kernels in the metadata is not a list of mappings.")
            symbol = str(entry.get(".symbol", ""))
            by_name[symbol[:-3] if symbol.endswith(".kd") else symbol or str(entry.get(".name", ""))] = entry
        result = {}
        for name, block in self.kernels.items():
            if name not in self.labels:
                self.fail(f"a label {name}: before its .amdhsa_kernel", next(iter(block.values()))[1] if block else 0)
            directives = {key: self.number(text, line) for key, (text, line) in block.items()}
            entry = by_name.get(name, {})

            def integer(key: str, default: int, entry: Mapping[str, Any] = entry, name: str = name) -> int:
                return _metadata_number(name, key, entry.get(key, default))

            listed = entry.get(".args") or ()
            if not isinstance(listed, (list, tuple)) or not all(isinstance(each, dict) for each in listed):
                raise AssemblyError(f".args of kernel {name} in the metadata is not a list of mappings.")
            arguments = tuple(
                Argument(
                    name=str(a.get(".name", "")),
                    offset=integer(".offset", 0, a),
                    size=integer(".size", 0, a),
                    kind=str(a.get(".value_kind", "by_value")),
                    type_name=str(a.get(".type_name", "")),
                    address_space=str(a.get(".address_space", "")),
                )
                for a in listed
            )
            if any(not 0 <= a.offset <= a.offset + a.size <= _MOST_ARGUMENT_BYTES for a in arguments):
                raise AssemblyError(f"the metadata of kernel {name} has an argument outside of its argument block.")
            required = entry.get(".reqd_workgroup_size") or ("0", "0", "0")
            if not isinstance(required, (list, tuple)) or len(required) != 3:
                raise AssemblyError(f".reqd_workgroup_size of kernel {name} in the metadata is not three numbers.")
            x, y, z = (_metadata_number(name, ".reqd_workgroup_size", each) for each in required)
            size = (x, y, z) if entry.get(".reqd_workgroup_size") else None
            dynamic = entry.get(".uses_dynamic_stack")
            descriptor = KernelDescriptor(
                name=name,
                entry=self.labels[name],
                directives=directives,
                arguments=arguments,
                kernarg_size=integer(".kernarg_segment_size", directives.get("kernarg_size", 0)),
                lds_bytes=integer(".group_segment_fixed_size", directives.get("group_segment_fixed_size", 0)),
                private_bytes=integer(".private_segment_fixed_size", directives.get("private_segment_fixed_size", 0)),
                vgprs=integer(".vgpr_count", directives.get("next_free_vgpr", 0)),
                agprs=integer(".agpr_count", 0),
                sgprs=integer(".sgpr_count", directives.get("next_free_sgpr", 0)),
                max_flat_workgroup_size=integer(".max_flat_workgroup_size", 1024),
                uses_dynamic_stack=bool(directives.get("uses_dynamic_stack", dynamic == "true")),
                required_workgroup_size=size,
                vgpr_spills=integer(".vgpr_spill_count", 0),
                sgpr_spills=integer(".sgpr_spill_count", 0),
            )
            default = 64 if directives.get("wavefront_size32") == 0 else _wave_size(self.arch)
            result[name] = descriptor, integer(".wavefront_size", default)
        return result

    def data_objects(
        self, functions: Mapping[str, tuple[int, int]]
    ) -> tuple[dict[str, DataObject], dict[str, tuple[str, int]]]:
        """Cut the sections into objects; the second result maps other names to (object, offset)."""
        objects: dict[str, DataObject] = {}
        aliases: dict[str, tuple[str, int]] = {}
        raw: list[tuple[str, int, int, bytes, bool, list[tuple[int, int, str, int]]]] = []
        for section in self.sections.values():
            if section.executable or not section.allocated or not section.labels:
                continue
            labels = sorted(section.labels, key=lambda item: item[1])
            position = 0
            while position < len(labels):
                name, start, align = labels[position]
                same = [item for item in labels[position:] if item[1] == start]
                sized = next((item for item in same if item[0] in self.sizes), same[0])
                name, align = sized[0], max(item[2] for item in same)
                following = next((item[1] for item in labels[position:] if item[1] > start), len(section.bytes))
                size = following - start
                if name in self.sizes:
                    given = self.value(*self.sizes[name])
                    size = size if given.symbols else given.value
                end = start + size
                last = position
                while last < len(labels) and (labels[last][1] < end or labels[last][1] == start):
                    if labels[last][0] != name:
                        aliases[labels[last][0]] = (name, labels[last][1] - start)
                    last += 1
                contents = bytes(section.bytes[start:end])
                if section.nobits and not any(contents):
                    contents = b""
                relocations = [(o - start, s, t, n) for o, s, t, n in section.relocations if start <= o < end]
                raw.append((name, size, align, contents, section.writable, relocations))
                position = max(last, position + 1)
        for name, (size, align) in self.common.items():
            raw.append((name, size, align, b"", True, []))
        names = {item[0] for item in raw}
        for name in self.set:
            if name in names or name in aliases:
                continue
            value = self.lookup(name)
            if value is not None and len(value.symbols) == 1 and next(iter(value.symbols)) in names | set(aliases):
                target = next(iter(value.symbols))
                base, extra = aliases.get(target, (target, 0))
                aliases[name] = (base, extra + value.value)
        for name, size, align, contents, writable, found in raw:
            placed: list[Relocation] = []
            patched = bytearray(contents)
            for offset, width, text, line_number in found:
                symbol, addend = self.relocation(text, line_number, aliases)
                if symbol:
                    placed.append(Relocation(offset, width, symbol, addend))
                else:
                    patched[offset : offset + width] = (addend & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            objects[name] = DataObject(name, size, align, bytes(patched), writable, tuple(placed))
        for name, (size, align) in self.lds.items():
            objects[name] = DataObject(name, size, align, b"", True, (), is_lds=True)
        return objects, aliases

    def relocation(self, text: str, line_number: int, aliases: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
        """A data value as symbol and addend ("" for a plain number). A code label keeps its own name."""
        match = _SYMBOL.match(text)
        if match is not None and match[1].strip('"') in self.labels:
            return match[1].strip('"'), _integer(match[3]) if match[3] else 0
        value = self.value(text, line_number)
        total = _Linear(value.value)
        for name, factor in value.symbols.items():  # places within one object differ by a number
            base, extra = aliases.get(name, (name, 0))
            total = total.plus(_Linear(extra * factor, {base: factor}))
        if not total.symbols:
            return "", total.value
        (name, factor), *others = total.symbols.items()
        if others or factor != 1 or not name:
            self.fail(f"one symbol plus a number, not {text!r}", line_number)
        return name, total.value

    def resolve_operands(self, aliases: Mapping[str, tuple[str, int]]) -> None:
        for position, line_number in self.deferred:
            item = self.instructions[position]
            operands = tuple(self.resolve(o, item, position, line_number, aliases) for o in item.operands)
            if item.pair is not None:
                others = tuple(self.resolve(o, item, position, line_number, aliases) for o in item.pair.operands)
                item = replace(item, pair=replace(item.pair, operands=others))
            if operands != item.operands or item.pair is not None:
                self.instructions[position] = replace(item, operands=operands)

    def resolve(
        self, given: Operand | _Deferred, item: Instruction, position: int, line_number: int,
        aliases: Mapping[str, tuple[str, int]],
    ) -> Operand:  # fmt: skip
        if isinstance(given, _Deferred):
            value = self.value(given.text, line_number)
            if value.symbols:
                self.fail(f"an expression with a value, not {given.text!r}", line_number)
            return Operand(Literal(value.value, places=self.places_in(given.text)))
        inside = given.value
        if isinstance(inside, Literal) and item.mnemonic in _BRANCHES and not inside.is_float:
            why = "a label, not a distance: that counts encoded dwords, and the text does not say how many there are"
            self.fail(why, line_number)
        if not isinstance(inside, Symbol) or inside.name in self.labels:
            return given
        if inside.name in aliases and not inside.relocation.startswith("gotpcrel32"):
            name, offset = aliases[inside.name]
            return replace(given, value=Symbol(name, inside.offset + offset, inside.relocation))
        if inside.name in self.set and not inside.relocation:
            absolute = self.lookup(inside.name)
            if absolute is not None and not absolute.symbols:
                number = absolute.value + inside.offset
                return replace(given, value=Literal(number, places=self.places_in(inside.name)))
        if _NUMBERED.match(inside.name):
            return Operand(Symbol(self.numbered_label(inside.name, position, line_number)))
        if item.mnemonic in _BRANCHES:
            self.fail(f"a label that is defined; {inside.name} is not", line_number)
        return given

    def places_in(self, text: str) -> tuple[str, ...]:
        """The code labels that an expression names, itself or through symbols that are set to expressions."""
        found: dict[str, None] = {}
        work, seen = [text], set()
        while work:
            for match in _TOKEN.finditer(work.pop()):
                name = (match[2] or "").strip('"').partition("@")[0]
                if name in self.labels:
                    found[name] = None
                elif name in self.set and name not in seen:
                    seen.add(name)
                    work.append(self.set[name][0])
        return tuple(found)

    def add_got_slots(self, data: dict[str, DataObject], aliases: Mapping[str, tuple[str, int]]) -> None:
        """For each ``sym@gotpcrel32`` operand an object ``sym@got`` that holds the address of sym."""
        for position, _ in self.deferred:
            for given in self.instructions[position].operands:
                if isinstance(given.value, Symbol) and given.value.relocation.startswith("gotpcrel32"):
                    name = given.value.name
                    base, extra = aliases.get(name, (name, 0))
                    slot = Relocation(0, 8, base, extra)
                    data[f"{name}@got"] = DataObject(f"{name}@got", 8, 8, bytes(8), False, (slot,))

    def numbered_label(self, name: str, position: int, line_number: int) -> str:
        number, forward = int(name[:-1]), name.endswith("f")
        places = [index for n, index in self.numbered if n == number and (index > position) == forward]
        if not places:
            self.fail(f"a label {number}: {'after' if forward else 'before'} this line", line_number)
        return self.made_label(min(places) if forward else max(places))

    def made_label(self, index: int) -> str:
        name = f".Lat_{index}"
        self.labels[name] = index
        return name


_BRANCHES = frozenset(
    ["s_branch", "s_call_b64"]
    + [f"s_cbranch_{c}" for c in ("scc0", "scc1", "vccz", "vccnz", "execz", "execnz", "cdbgsys", "cdbguser")]
    + ["s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"]
)


def _wave_size(arch: str) -> int:
    """Lanes of a wave unless the kernel says otherwise; 32 as long as the architecture is not known."""
    device = architectures.find(arch)
    return 32 if device is None else device.wave_size


def parse(
    text: str, sources: Mapping[str, str] | None = None, arch: str = "", guarantees: Guarantees = NO_GUARANTEES
) -> Program:
    """Read a whole assembly text.

    Args:
        text: what ``clang -S`` prints for an AMDGPU target, or hand-written assembly of the same form.
        sources: source text by file name, for the text of source lines. Where an instruction's line is in a file
            that is not among them (a header), and it was inlined from one that is, it is given the latter's line.
        arch: the GPU, where the text itself has no ``.amdgcn_target``.
        guarantees: what the text's maker promises of it.

    Raises:
        AssemblyError: the text cannot be read; the message names the line and what was expected.
    """
    return replace(_Reader(text, sources or {}, arch).read(), guarantees=guarantees)
