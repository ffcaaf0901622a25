"""An instruction in words: `sentence` says what it does with the registers that its text names, `operands` which
registers these are. Both follow from its row: formulas are the row's expression, written with the operands' names."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence

from gpulab.records import TraceOperand
from gpulab.virtual_gpu.isa.expression import Type, Value, b1, f32
from gpulab.virtual_gpu.isa.instruction import Instruction, Keyword, Literal, Operand, Register, Symbol
from gpulab.virtual_gpu.isa.row import AnyRow, Control, CrossLane, Image, Matrix, Memory, Row

LONGEST = 90
"""Characters of a formula; what is longer is said by the row's own words alone."""

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^", "shl": "<<",
    "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_CONDITIONS = {
    "scc0": "SCC is 0", "scc1": "SCC is 1", "vccz": "VCC is 0 (true for no lane)", "vccnz": "VCC is true for some lane",
    "execz": "EXEC is 0 (no lane is active)", "execnz": "some lane is active (EXEC is not 0)",
}  # fmt: skip
_WAIT = "Wait until earlier instructions of this wave have delivered what the next ones need."
_KINDS = {"float": ", floating point", "i": ", signed"}


def written(operand: Operand) -> str:
    """An operand as assembly writes it: "v[2:3]", "-v1", "|s4|", "0x40"."""
    value = operand.value
    if isinstance(value, Register):
        text = _register(value)
    elif isinstance(value, Literal):
        large = isinstance(value.value, int) and not -16 <= value.value <= 64
        text = hex(value.value) if large and isinstance(value.value, int) else str(value.value)
    elif isinstance(value, Symbol):
        text = value.name
    else:
        text = value.text
    if operand.half:
        text += f".{operand.half}"
    if operand.abs:
        text = f"|{text}|"
    return f"-{text}" if operand.neg else text


def _register(register: Register) -> str:
    if register.file == "special":
        if register.name in ("vcc", "exec") and register.count == 1 and register.index == 1:
            return f"{register.name}_hi"
        return f"{register.name}{register.index}" if register.name == "ttmp" else register.name
    last = register.index + register.count - 1
    return f"{register.file}{register.index}" if register.count == 1 else f"{register.file}[{register.index}:{last}]"


def _names(operand: Operand) -> tuple[str, ...]:
    """The registers of an operand, as traces name them."""
    value = operand.value
    if not isinstance(value, Register):
        return ()
    if value.file == "special":
        return (value.name,) if value.name in ("vcc", "exec", "scc", "m0") else ()
    return tuple(f"{value.file}{value.index + i}" for i in range(value.count))


# ------------------------------------------------------------------------------------------------ operands


def operands(item: Instruction, row: AnyRow | None) -> tuple[TraceOperand, ...]:
    """What the instruction reads and writes, sources before destinations; of a pair both halves."""
    found = list(_operands(item, row))
    return tuple(sorted(dict.fromkeys(found), key=lambda operand: operand.written))


def _operands(item: Instruction, row: AnyRow | None) -> Iterator[TraceOperand]:
    def made(operand: Operand, type: str, is_written: bool, name: str = "") -> TraceOperand:
        return TraceOperand(written(operand), _names(operand), type, is_written, name)

    if isinstance(row, Row):
        targets, sources = _split(item, row)
        results, _ = row.graph()
        explicit = iter(sources)
        for parameter in row.parameters:
            if not parameter.implicit:
                source = next(explicit, None)
                if source is not None:
                    yield made(source, parameter.type.name, False, parameter.name)
            elif parameter.name in ("dst", "sdst"):
                target = targets[min(parameter.name == "sdst", len(targets) - 1)]
                yield made(target, parameter.type.name, False, "dst")
            elif parameter.name in ("scc", "vcc", "exec", "m0"):
                type = "b1" if parameter.name in ("vcc", "exec") else "u32"
                yield TraceOperand(parameter.name, (parameter.name,), type, False, parameter.name)
        named = iter(targets)
        for result in results:
            if result.name in ("dst", "sdst"):
                yield made(next(named), result.type.name, True, result.name)
            else:
                type = "b1" if result.name in ("vcc", "exec") else "u32"
                yield TraceOperand(result.name, (result.name,), type, True, result.name)
    elif isinstance(row, Memory):
        writes = _memory_target(item, row)
        data = row.combine.parameters[0].type.name if row.combine is not None else f"u{max(32, row.element)}"
        if row.count > 1:
            data = "u32"
        both = row.action == "atomic" and row.space in ("buffer", "scalar")  # the data are where the result goes
        for operand in item.operands[1:] if writes and not both else item.operands:
            if _names(operand):
                yield made(operand, data if operand in _memory_data(item, row) else "u32", False)
        if writes:
            yield made(item.operands[0], data, True)
    elif isinstance(row, Image):
        for operand in item.operands[1:]:
            names = _names(operand)
            if names:
                is_place = row.action in ("sample", "gather") and names[0].startswith("v")  # not a descriptor
                yield made(operand, "f32" if is_place else "u32", False)
        yield made(item.operands[0], "u32", row.action != "store")
    elif isinstance(row, (CrossLane, Matrix)):
        for operand in item.operands[1:]:
            yield made(operand, "u32", False)
        for operand in item.operands[:1]:
            yield made(operand, "u32", True)
    elif isinstance(row, Control):
        if row.condition:
            name = row.register
            yield TraceOperand(name, (name,), "u32" if name == "scc" else "b1", False)
        gets = row.kind in ("getpc", "call", "time", "realtime", "sendmsg_rtn", "getreg")
        for place, operand in enumerate(item.operands):
            if _names(operand):
                yield made(operand, "u64" if len(_names(operand)) == 2 else "u32", gets and place == 0)


def _split(item: Instruction, row: Row) -> tuple[Sequence[Operand], Sequence[Operand]]:
    """Destinations and sources of the text."""
    results, _ = row.graph()
    count = sum(result.name in ("dst", "sdst") for result in results)
    explicit = sum(not parameter.implicit for parameter in row.parameters)
    given = item.operands
    if row.writes_exec and count == 0 and len(given) == explicit + 1:
        given = given[1:]  # v_cmpx_* of gfx10 and later, with EXEC in the text
    return given[:count], given[count:]


def _memory_target(item: Instruction, row: Memory) -> bool:
    """Does the first operand get a value?"""
    if row.to_lds or item.modifiers.get("lds") or not item.operands:
        return False
    if row.action == "load":
        return True
    if row.action != "atomic":
        return False
    if row.space == "lds":
        return row.returns
    if row.space in ("buffer", "scalar"):
        return bool(item.modifiers.get("sc0") or item.modifiers.get("glc"))
    return len(item.operands) > (3 if row.space != "flat" else 2)


def _memory_data(item: Instruction, row: Memory) -> Sequence[Operand]:
    """The operands of a store or atomic that hold what is written."""
    given = list(item.operands[1:] if _memory_target(item, row) else item.operands)
    if row.action == "load" or not given:
        return []
    if row.space in ("buffer", "scalar"):
        return item.operands[:1]
    if row.space == "lds":
        return given[1:]
    return [operand for operand in given[1:] if not isinstance(operand.value, Keyword)][:1]


# ------------------------------------------------------------------------------------------------- sentences


def sentence(item: Instruction, row: AnyRow | None) -> str:
    """What an instruction (of a pair: its first half) does, in one sentence; "" without a row."""
    if row is None:
        return ""
    meaning = " ".join(row.meaning.split())
    if isinstance(row, Row):
        return _computes(item, row, meaning)
    if isinstance(row, Memory):
        return _moves(item, row, meaning)
    if isinstance(row, Control):
        if row.condition:
            return f"Jump to {written(item.operands[0])} if {_CONDITIONS[row.condition]}; otherwise go on."
        if row.kind == "branch":
            return f"Jump to {written(item.operands[0])}."
        return _WAIT if row.kind == "wait" else meaning
    targets, sources = item.operands[:1], item.operands[1:]
    if isinstance(row, CrossLane) and targets and sources:
        return f"{meaning} Here {written(targets[0])} gets the result; from {', '.join(map(written, sources))}."
    return meaning


def _computes(item: Instruction, row: Row, meaning: str) -> str:
    targets, sources = _split(item, row)
    results, values = row.graph()
    explicit = [p for p in row.parameters if not p.implicit]
    names = {p.name: _number(source, p.type) or written(source) for p, source in zip(explicit, sources, strict=False)}
    for name, target in zip(("dst", "sdst"), targets, strict=False):
        names.setdefault(name, written(target))
    named = iter(targets)
    formulas: list[str] = []
    packed = bool(row.packed) or item.encoding.endswith("sdwa") or "dpp" in item.encoding
    for number, (result, value) in enumerate(zip(results, values, strict=True)):
        goal = written(next(named)) if result.name in ("dst", "sdst") else result.name
        if goal == "null" or (number and (result.name == "scc" or not formulas)):
            continue
        right = None if packed else formula(value, names, bool(item.modifiers.get("clamp")))
        if right is not None and len(right) <= LONGEST:
            formulas.append(f"{goal} = {right}")
    meaning = meaning.replace("SCC if not zero", "SCC is 1 if it is not zero")
    where = ", in each active lane" if row.unit == "valu" else ", once for the whole wave"
    type = next((p.type for p in row.parameters if not p.implicit and p.type != b1), None)
    kind = "" if type is None else _KINDS.get("float" if type.is_float else type.kind, "")
    if formulas:
        head = "Compare" if meaning.startswith("Compare:") else meaning.removesuffix(".")
        filled = re.sub(r"\b[a-z]+\b", lambda name: names.get(name[0], name[0]), head)
        said = "" if formulas[0].endswith(f" = {filled}") else f"{head}: "
        return f"{said}{', '.join(formulas)}{where}{kind}."
    given = [f"{name} is {names[name]}" for p in row.parameters if not p.implicit and (name := p.name) in names]
    into = " and ".join(written(target) for target in targets)
    here = f" Here {', '.join(given)}" if given else ""
    goes = f"; the result goes to {into}" if into and given else ""
    return f"{meaning}{here}{goes}{'.' if given else ''}"


def _number(operand: Operand, type: Type) -> str:
    """What an integer literal is as a source of type f32, or ""."""
    value = operand.value
    if type != f32 or not isinstance(value, Literal) or value.is_float or -16 <= value.value <= 64:
        return ""
    number: float = struct.unpack("<f", struct.pack("<I", int(value.value) & 0xFFFFFFFF))[0]
    return f"{'-' if operand.neg else ''}{number:.7g}"


def formula(value: Value, names: Mapping[str, str], clamp: bool = False, most: int = 24) -> str | None:
    """An expression as a formula, or None if there is none as short as that.

    Args:
        names: what parameters are called; others keep their names.
        clamp: whether the modifier of this name is set.
        most: operations and operands that the formula may have.
    """
    budget = [most]

    def told(node: Value) -> bool | None:
        """The truth of a condition that the text decides."""
        if node.op == "arg" and node.data[1] == "clamp":
            return clamp
        if node.op == "and":
            parts = [told(part) for part in node.args]
            return False if False in parts else None
        return None

    def text(node: Value, inner: bool) -> str | None:
        budget[0] -= 1
        if budget[0] < 0:
            return None
        if node.op == "arg":
            return names.get(node.data[1], node.data[1])
        if node.op == "const":
            number = node.data
            return hex(number) if isinstance(number, int) and number > 64 else str(number)
        if node.op in ("to", "bits"):
            below = node.args[0]
            if node.op == "to" and node.type.is_float and not below.type.is_float:
                inside = text(below, False)
                return None if inside is None else f"float({inside})"
            if node.op == "to" and below.type.is_float:
                inside = text(below, False)
                return None if inside is None else f"{'float' if node.type.is_float else 'int'}({inside})"
            return text(below, inner)
        if node.op == "select":
            known = told(node.args[0])
            if known is not None:
                return text(node.args[1 if known else 2], inner)
            condition, first, second = (text(part, True) for part in node.args)
            if condition is None or first is None or second is None:
                return None
            return _bracketed(f"{condition} ? {first} : {second}", inner)
        if node.op == "fma":
            a, b, c = (text(part, True) for part in node.args)
            return None if a is None or b is None or c is None else _bracketed(f"{a} * {b} + {c}", inner)
        if node.op in _INFIX:
            left_node, right_node = node.args
            if right_node.op == "to":
                right_node = right_node.args[0]
            masked = node.op in ("shl", "shr") and right_node.op == "and" and right_node.args[1].op == "const"
            left, right = text(left_node, True), text(right_node.args[0] if masked else right_node, True)
            return None if left is None or right is None else _bracketed(f"{left} {_INFIX[node.op]} {right}", inner)
        if node.op in ("not", "neg"):
            inside = text(node.args[0], True)
            return None if inside is None else f"{'~' if node.op == 'not' else '-'}{inside}"
        inside = text(node.args[0], False) if len(node.args) == 1 else None
        return None if inside is None else f"{node.op}({inside})"

    return text(value, False)


def _bracketed(text: str, inner: bool) -> str:
    return f"({text})" if inner else text


_SPACES = {"global": "global memory", "lds": "LDS", "scratch": "the lane's scratch memory", "buffer": "a buffer"}


def _moves(item: Instruction, row: Memory, meaning: str) -> str:
    """A load, store or atomic with its registers."""
    bits = row.element * row.count
    given = [written(operand) for operand in item.operands]
    if row.action == "prefetch" or not given:
        return meaning
    if row.space == "scalar" and len(given) > 1:
        place = " + ".join(text for text in given[1:] if text not in ("0", "0x0", "off", "null"))
        if row.action == "load":
            return f"Load {bits} bits into {given[0]} from memory at {place}, once for the whole wave."
        return f"{meaning.removesuffix('.')}: {given[0]} at {place}, once for the whole wave."
    space = _SPACES.get(row.space, "memory")
    data = [written(operand) for operand in _memory_data(item, row)]
    rest = item.operands[1:] if _memory_target(item, row) else item.operands
    at = " + ".join(
        written(o) for o in rest if not isinstance(o.value, Keyword) and written(o) not in data and written(o) != "0"
    )
    offset = item.modifiers.get("offset", 0)
    where = f" at {at}" if at else ""
    where += f"{' + ' if at else ' at '}{offset}" if isinstance(offset, int) and offset else ""
    if row.action == "load" and _memory_target(item, row):
        small = f" ({row.extend}-extended)" if row.extend and row.element < 32 else ""
        return f"Each active lane loads {bits} bits{small} into {given[0]} from {space}{where}."
    if row.action == "store":
        return f"Each active lane stores {bits} bits, {' and '.join(data)}, to {space}{where}."
    if row.action == "atomic":
        back = f"; {given[0]} gets what was there before" if _memory_target(item, row) else ""
        what = meaning.removesuffix(".")
        if row.implied == "count":
            return f"Once for the whole wave, {space}{where} is changed: {what}{back}."
        return f"Each active lane, one after another, changes {space}{where} with {' and '.join(data)}: {what}{back}."
    return meaning
