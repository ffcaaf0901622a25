"""Memory rows: scalar, global, flat, scratch, buffer and LDS (DS) loads, stores and atomics.

Generations differ in names: gfx9 counts dwords (global_load_dwordx2), gfx11 bits (global_load_b64). One list of
shapes (`_ACCESS`) and one of atomics (`_ATOMICS`) make all of them. Sources: CDNA3 ISA manual chapters 9-11,
12.12-12.16; RDNA3 ISA manual 16.12-16.18.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gpulab.virtual_gpu.isa import functions as f
from gpulab.virtual_gpu.isa.expression import Value, select
from gpulab.virtual_gpu.isa.family import Family, body
from gpulab.virtual_gpu.isa.row import Memory, Row

MEMORY = Family("CDNA3 ISA manual chapters 9-11, 12.12-12.16 (DS, MUBUF, FLAT); RDNA3 ISA manual 16.12-16.18")


def _add(generation: str, row: Memory) -> None:
    MEMORY.add(row, generation)


# ------------------------------------------------------------------------------------------ loads and stores


@dataclass(frozen=True, slots=True)
class LoadStore:
    """One shape of load or store: its name on gfx9 and gfx11 ("" where it is missing), as Memory's fields."""

    gfx9: str
    gfx11: str
    element: int
    count: int = 1
    extend: str = ""
    half: str = ""


_LOADS = (
    LoadStore("load_ubyte", "load_u8", 8, 1, "zero"),
    LoadStore("load_sbyte", "load_i8", 8, 1, "sign"),
    LoadStore("load_ushort", "load_u16", 16, 1, "zero"),
    LoadStore("load_sshort", "load_i16", 16, 1, "sign"),
    LoadStore("load_dword", "load_b32", 32, 1),
    LoadStore("load_dwordx2", "load_b64", 32, 2),
    LoadStore("load_dwordx3", "load_b96", 32, 3),
    LoadStore("load_dwordx4", "load_b128", 32, 4),
    LoadStore("load_ubyte_d16", "load_d16_u8", 8, 1, "zero", "lo"),
    LoadStore("load_ubyte_d16_hi", "load_d16_hi_u8", 8, 1, "zero", "hi"),
    LoadStore("load_sbyte_d16", "load_d16_i8", 8, 1, "sign", "lo"),
    LoadStore("load_sbyte_d16_hi", "load_d16_hi_i8", 8, 1, "sign", "hi"),
    LoadStore("load_short_d16", "load_d16_b16", 16, 1, "", "lo"),
    LoadStore("load_short_d16_hi", "load_d16_hi_b16", 16, 1, "", "hi"),
)
_STORES = (
    LoadStore("store_byte", "store_b8", 8),
    LoadStore("store_byte_d16_hi", "store_d16_hi_b8", 8, 1, "", "hi"),
    LoadStore("store_short", "store_b16", 16),
    LoadStore("store_short_d16_hi", "store_d16_hi_b16", 16, 1, "", "hi"),
    LoadStore("store_dword", "store_b32", 32, 1),
    LoadStore("store_dwordx2", "store_b64", 32, 2),
    LoadStore("store_dwordx3", "store_b96", 32, 3),
    LoadStore("store_dwordx4", "store_b128", 32, 4),
)
SPACES = ("global", "flat", "scratch", "buffer")


def _meaning(action: str, access: LoadStore, space: str) -> str:
    bits = access.element * access.count
    extension = {"zero": ", zero-extended", "sign": ", sign-extended", "": ""}[access.extend]
    part = {"lo": ", low half of the register", "hi": ", high half of the register", "": ""}[access.half]
    return f"{action.capitalize()} {bits} bits, {space}{extension}{part}."


def _vector_accesses() -> None:
    for action, shapes in (("load", _LOADS), ("store", _STORES)):
        for access in shapes:
            for space in SPACES:
                meaning = _meaning(action, access, space)
                for generation, name in (("gfx9", access.gfx9), ("gfx11", access.gfx11)):
                    _add(
                        generation,
                        Memory(
                            f"{space}_{name}",
                            space,
                            action,
                            access.element,
                            access.count,
                            access.extend,
                            access.half,
                            meaning=meaning,
                        ),
                    )


def _loads_into_lds() -> None:
    """gfx940's loads that go past the registers; bytes and halves are extended to a dword."""
    for access in _LOADS[:5]:
        for space in ("global", "scratch"):
            name = f"{space}_{access.gfx9.replace('load_', 'load_lds_')}"
            meaning = _meaning("load", access, space).removesuffix(".") + ", into LDS at m0 + offset + 4 * lane."
            row = Memory(name, space, "load", access.element, 1, access.extend, meaning=meaning, to_lds=True)
            _add("gfx9", row)


def _scalar_accesses() -> None:
    for count in (1, 2, 4, 8, 16):
        meaning = f"Load {count} dwords into scalar registers."
        gfx9 = "s_load_dword" + (f"x{count}" if count > 1 else "")
        _add("gfx9", Memory(gfx9, "scalar", "load", 32, count, meaning=meaning))
        _add("gfx11", Memory(f"s_load_b{32 * count}", "scalar", "load", 32, count, meaning=meaning))
        meaning = f"Load {count} dwords of a buffer into scalar registers; 0 outside the buffer."
        buffer = gfx9.replace("s_load", "s_buffer_load")
        _add("gfx9", Memory(buffer, "scalar", "load", 32, count, meaning=meaning))
        _add("gfx11", Memory(f"s_buffer_load_b{32 * count}", "scalar", "load", 32, count, meaning=meaning))
        if count <= 4:
            _add("gfx9", Memory(gfx9.replace("load", "store"), "scalar", "store", 32, count, meaning="Store scalars."))
            meaning = "Store scalars into a buffer; nothing outside it."
            _add("gfx9", Memory(buffer.replace("load", "store"), "scalar", "store", 32, count, meaning=meaning))


_Shape = tuple[str, str, int, int, str, str]
_LDS_LOADS: tuple[_Shape, ...] = (
    ("read_u8", "load_u8", 8, 1, "zero", ""),
    ("read_i8", "load_i8", 8, 1, "sign", ""),
    ("read_u16", "load_u16", 16, 1, "zero", ""),
    ("read_i16", "load_i16", 16, 1, "sign", ""),
    ("read_b32", "load_b32", 32, 1, "", ""),
    ("read_b64", "load_b64", 32, 2, "", ""),
    ("read_b96", "load_b96", 32, 3, "", ""),
    ("read_b128", "load_b128", 32, 4, "", ""),
    ("read_u8_d16", "load_u8_d16", 8, 1, "zero", "lo"),
    ("read_u8_d16_hi", "load_u8_d16_hi", 8, 1, "zero", "hi"),
    ("read_i8_d16", "load_i8_d16", 8, 1, "sign", "lo"),
    ("read_i8_d16_hi", "load_i8_d16_hi", 8, 1, "sign", "hi"),
    ("read_u16_d16", "load_u16_d16", 16, 1, "", "lo"),
    ("read_u16_d16_hi", "load_u16_d16_hi", 16, 1, "", "hi"),
)
_LDS_STORES: tuple[_Shape, ...] = (
    ("write_b8", "store_b8", 8, 1, "", ""),
    ("write_b16", "store_b16", 16, 1, "", ""),
    ("write_b32", "store_b32", 32, 1, "", ""),
    ("write_b64", "store_b64", 32, 2, "", ""),
    ("write_b96", "store_b96", 32, 3, "", ""),
    ("write_b128", "store_b128", 32, 4, "", ""),
    ("write_b8_d16_hi", "store_b8_d16_hi", 8, 1, "", "hi"),
    ("write_b16_d16_hi", "store_b16_d16_hi", 16, 1, "", "hi"),
)


def _lds_accesses() -> None:
    for action, shapes in (("load", _LDS_LOADS), ("store", _LDS_STORES)):
        for gfx9, gfx11, element, count, extend, half in shapes:
            access = LoadStore(gfx9, gfx11, element, count, extend, half)
            row = Memory(
                "",
                "lds",
                action,
                access.element,
                access.count,
                access.extend,
                access.half,
                meaning=_meaning(action, access, "LDS"),
            )
            _add("gfx9", replace(row, mnemonic=f"ds_{gfx9}"))
            _add("gfx11", replace(row, mnemonic=f"ds_{gfx11}"))
        verb9, verb11 = ("read", "load") if action == "load" else ("write", "store")
        for bits in (32, 64):
            for stride9, stride11, scale in (("", "", 1), ("st64", "_stride64", 64)):
                row = Memory(
                    f"ds_{verb9}2{stride9}_b{bits}",
                    "lds",
                    action,
                    bits,
                    2,
                    two_address=True,
                    stride=scale * bits // 8,
                    meaning=f"{action.capitalize()} two times {bits} bits, LDS.",
                )
                _add("gfx9", row)
                _add("gfx11", replace(row, mnemonic=f"ds_{verb11}_2addr{stride11}_b{bits}"))


# ----------------------------------------------------------------------------------------------------- atomics

Combine = Callable[..., Value]


def _increment(memory: Value, data: Value) -> Value:
    """Up by one, back to 0 after `data`."""
    return select(memory >= data, 0, memory + 1)


def _decrement(memory: Value, data: Value) -> Value:
    """Down by one, back to `data` from 0 or from above it."""
    return select((memory == 0) | (memory > data), data, memory - 1)


def clamped_sub(memory: Value, data: Value) -> Value:
    return select(memory < data, 0, memory - data)


def _wrap(memory: Value, data: Value, data2: Value) -> Value:
    return select(memory >= data, memory - data, memory + data2)


def _exchange_marked(memory: Value, data: Value) -> Value:
    """Each half of the data replaces memory's, with bit 31 cleared, where it has bit 31 set."""
    halves = []
    for old, new in ((f.low(memory), f.low(data)), (f.high(memory), f.high(data))):
        halves.append(select((new >> 31) != 0, new & 0x7FFFFFFF, old))
    return f.join(halves[0], halves[1])


def lower(memory: Value, data: Value) -> Value:
    """Plain comparison: a NaN on either side leaves the memory as it is."""
    return select(data < memory, data, memory)


def higher(memory: Value, data: Value) -> Value:
    return select(data > memory, data, memory)


_INTEGER_ATOMICS: tuple[tuple[str, str, Combine, str, bool], ...] = (
    # gfx9's name, type letter, new value, meaning, whether any order leaves the same in memory
    ("add", "u", lambda memory, data: memory + data, "memory += data", True),
    ("sub", "u", lambda memory, data: memory - data, "memory -= data", True),
    ("smin", "i", f.minimum_int, "memory = min(memory, data), signed", True),
    ("umin", "u", f.minimum_int, "memory = min(memory, data), unsigned", True),
    ("smax", "i", f.maximum_int, "memory = max(memory, data), signed", True),
    ("umax", "u", f.maximum_int, "memory = max(memory, data), unsigned", True),
    ("and", "b", lambda memory, data: memory & data, "memory &= data", True),
    ("or", "b", lambda memory, data: memory | data, "memory |= data", True),
    ("xor", "b", lambda memory, data: memory ^ data, "memory ^= data", True),
    ("inc", "u", _increment, "memory = memory >= data ? 0 : memory + 1", False),
    ("dec", "u", _decrement, "memory = memory == 0 or memory > data ? data : memory - 1", False),
    ("swap", "b", lambda memory, data: data, "memory = data", False),
)


def combined(name: str, type: str, function: Combine, parameters: str = "memory data") -> Row:
    typed = " ".join(f"{p}:{type}" for p in parameters.split())
    names = parameters.split()
    wrapped: Combine = (lambda a, b: function(a, b)) if len(names) == 2 else (lambda a, b, c: function(a, b, c))
    return Row(name, "valu", body(wrapped, typed, "New value in memory."), "dst", False)


def _compare_first(memory: Value, compare: Value, data: Value) -> Value:
    return select(memory == compare, data, memory)


def exchange_if_equal(memory: Value, data: Value, compare: Value) -> Value:
    return select(memory == compare, data, memory)


def _global_atomic(
    name9: str, name11: str, bits: int, type: str, function: Combine, meaning: str, compare: bool = False,
    commutes: bool = False,
) -> None:  # fmt: skip
    if name9 and type[0] in "ui" and not name9.startswith("pk_"):  # gfx9 has them on scalars too
        for prefix in ("s", "s_buffer"):
            mnemonic = f"{prefix}_atomic_{name9}"
            combine = combined(mnemonic, type, function, "memory data compare" if compare else "memory data")
            row = Memory(mnemonic, "scalar", "atomic", bits, 1, combine=combine, meaning=meaning)
            _add("gfx9", replace(row, commutes=commutes))
    for space in ("global", "flat", "buffer"):
        for generation, name in (("gfx9", name9), ("gfx11", name11)):
            if not name:
                continue
            mnemonic = f"{space}_atomic_{name}"
            combine = combined(mnemonic, type, function, "memory data compare" if compare else "memory data")
            row = Memory(mnemonic, space, "atomic", bits, 1, combine=combine, meaning=meaning)
            _add(generation, replace(row, commutes=commutes))


def _atomics() -> None:
    for bits in (32, 64):
        wide = "_x2" if bits == 64 else ""
        for name, letter, function, meaning, commutes in _INTEGER_ATOMICS:
            type = f"{'u' if letter == 'b' else letter}{bits}"
            short = name[1:] if name in ("smin", "umin", "smax", "umax") else name
            _global_atomic(f"{name}{wide}", f"{short}_{letter}{bits}", bits, type, function, meaning, commutes=commutes)
        _global_atomic(
            f"cmpswap{wide}",
            f"cmpswap_b{bits}",
            bits,
            f"u{bits}",
            exchange_if_equal,
            "memory = data where it equals the comparand (the second half of the data registers)",
            compare=True,
        )
    _global_atomic("", "csub_u32", 32, "u32", clamped_sub, "memory = memory < data ? 0 : memory - data", commutes=True)
    add: Combine = lambda memory, data: memory + data  # noqa: E731
    _global_atomic("add_f32", "add_f32", 32, "f32", add, "memory += data, f32")
    _global_atomic("add_f64", "", 64, "f64", add, "memory += data, f64")
    _global_atomic("min_f64", "", 64, "f64", lower, "memory = min(memory, data), f64")
    _global_atomic("max_f64", "", 64, "f64", higher, "memory = max(memory, data), f64")
    _global_atomic("", "min_f32", 32, "f32", lower, "memory = min(memory, data), f32")
    _global_atomic("", "max_f32", 32, "f32", higher, "memory = max(memory, data), f32")
    _global_atomic(
        "",
        "cmpswap_f32",
        32,
        "f32",
        exchange_if_equal,
        "memory = data where it equals the comparand, f32",
        compare=True,
    )
    for name, type in (("pk_add_f16", "f16"), ("pk_add_bf16", "bf16")):
        _global_atomic(name, "", 32, "u32", packed_add(type), f"memory += data, two {type}")


def packed_add(type: str) -> Combine:
    """The sums of both halves. Of two NaNs memory's stays, quiet: an addition alone does not say which."""
    from gpulab.virtual_gpu.isa.expression import TYPES

    def half(memory: Value, data: Value) -> Value:
        old, added = memory.bits(TYPES[type]), data.bits(TYPES[type])
        return select(f.is_nan(old), f.quiet(old), old + added)

    def add(memory: Value, data: Value) -> Value:
        return f.join(half(f.low(memory), f.low(data)), half(f.high(memory), f.high(data)))

    return add


# DS: operation name, type letter, combine, parameters, meaning, whether any order leaves the same in memory
_DS_ATOMICS: tuple[tuple[str, str, Combine, str, str, bool], ...] = (
    ("add", "u", lambda memory, data: memory + data, "memory data", "memory += data", True),
    ("sub", "u", lambda memory, data: memory - data, "memory data", "memory -= data", True),
    ("rsub", "u", lambda memory, data: data - memory, "memory data", "memory = data - memory", False),
    ("inc", "u", _increment, "memory data", "memory = memory >= data ? 0 : memory + 1", False),
    ("dec", "u", _decrement, "memory data", "memory = memory == 0 or memory > data ? data : memory - 1", False),
    ("min", "i", f.minimum_int, "memory data", "memory = min(memory, data)", True),
    ("max", "i", f.maximum_int, "memory data", "memory = max(memory, data)", True),
    ("min", "u", f.minimum_int, "memory data", "memory = min(memory, data)", True),
    ("max", "u", f.maximum_int, "memory data", "memory = max(memory, data)", True),
    ("and", "b", lambda memory, data: memory & data, "memory data", "memory &= data", True),
    ("or", "b", lambda memory, data: memory | data, "memory data", "memory |= data", True),
    ("xor", "b", lambda memory, data: memory ^ data, "memory data", "memory ^= data", True),
    (
        "mskor",
        "b",
        lambda memory, mask, data: (memory & ~mask) | data,
        "memory mask data",
        "memory = (memory & ~first) | second",
        False,
    ),
    ("min", "f", lower, "memory data", "memory = min(memory, data)", False),
    ("max", "f", higher, "memory data", "memory = max(memory, data)", False),
)


def _ds_rows(generation: str, name: str, suffix: str, row: Memory) -> None:
    _add(generation, replace(row, mnemonic=f"ds_{name}_{suffix}"))
    _add(generation, replace(row, mnemonic=f"ds_{name}_rtn_{suffix}", returns=True))


def _ds_atomics() -> None:
    for bits in (32, 64):
        for name, letter, function, parameters, meaning, commutes in _DS_ATOMICS:
            suffix = f"{letter}{bits}"
            type = f"u{bits}" if letter == "b" else suffix
            combine = combined(f"ds_{name}_{suffix}", type, function, parameters)
            row = Memory("", "lds", "atomic", bits, combine=combine, meaning=meaning, commutes=commutes)
            _ds_rows("gfx9", name, suffix, row)
            _ds_rows("gfx11", name, suffix, row)
        type = f"u{bits}"
        swap = combined(f"ds_wrxchg_rtn_b{bits}", type, lambda memory, data: data)
        row = Memory(
            f"ds_wrxchg_rtn_b{bits}", "lds", "atomic", bits, combine=swap, returns=True, meaning="Exchange with memory."
        )
        _add("gfx9", row)
        _add("gfx11", replace(row, mnemonic=f"ds_storexchg_rtn_b{bits}"))
        for stride9, stride11, scale in (("", "", 1), ("st64", "_stride64", 64)):
            two = Memory(
                f"ds_wrxchg2{stride9}_rtn_b{bits}",
                "lds",
                "atomic",
                bits,
                2,
                two_address=True,
                stride=scale * bits // 8,
                combine=swap,
                returns=True,
                meaning="Exchange two registers with two places in memory.",
            )
            _add("gfx9", two)
            _add("gfx11", replace(two, mnemonic=f"ds_storexchg_2addr{stride11}_rtn_b{bits}"))
        # the order of new value and comparand was exchanged after gfx9/gfx10
        old = combined(
            f"ds_cmpst_b{bits}",
            type,
            _compare_first,
            "memory compare data",
        )
        new = combined(f"ds_cmpstore_b{bits}", type, exchange_if_equal, "memory data compare")
        meaning = "memory = data where it equals the comparand"
        _ds_rows("gfx9", "cmpst", f"b{bits}", Memory("", "lds", "atomic", bits, combine=old, meaning=meaning))
        _ds_rows(
            "gfx11",
            "cmpstore",
            f"b{bits}",
            Memory("", "lds", "atomic", bits, combine=new, meaning=meaning),
        )
    for bits, type in ((32, "f32"), (64, "f64")):
        old = combined(f"ds_cmpst_{type}", type, _compare_first, "memory compare data")
        new = combined(f"ds_cmpstore_{type}", type, exchange_if_equal, "memory data compare")
        meaning = "memory = data where it equals the comparand, as floats"
        _ds_rows("gfx9", "cmpst", type, Memory("", "lds", "atomic", bits, combine=old, meaning=meaning))
        _ds_rows("gfx11", "cmpstore", type, Memory("", "lds", "atomic", bits, combine=new, meaning=meaning))
    for old_name, name, action in (("read", "load", "load"), ("write", "store", "store")):
        row = Memory(
            "", "lds", action, 32, implied="lane", meaning=f"{action.capitalize()} 32 bits at m0 + 4 * lane, LDS."
        )
        _add("gfx9", replace(row, mnemonic=f"ds_{old_name}_addtid_b32"))
        _add("gfx11", replace(row, mnemonic=f"ds_{name}_addtid_b32"))
        row = replace(row, space="global", meaning=f"{action.capitalize()} 32 bits at the base + 4 * lane, global.")
        _add("gfx11", replace(row, mnemonic=f"global_{name}_addtid_b32"))
    for name, count, what in (
        ("ds_append", lambda memory, data: memory + data, "memory += active lanes"),
        ("ds_consume", lambda memory, data: memory - data, "memory -= active lanes"),
    ):
        combine = combined(name, "u32", count)
        MEMORY.add(
            Memory(
                name, "lds", "atomic", 32, combine=combine, returns=True, meaning=what, implied="count", commutes=True
            )
        )
    exchange = combined("ds_condxchg32_rtn_b64", "u64", _exchange_marked)
    meaning = "Two dwords; each is replaced, without its highest bit, where that bit is set in the data."
    MEMORY.add(Memory("ds_condxchg32_rtn_b64", "lds", "atomic", 64, combine=exchange, returns=True, meaning=meaning))
    wrap = combined("ds_wrap_rtn_b32", "u32", _wrap, "memory data data2")
    meaning = "memory = memory >= first ? memory - first : memory + second"
    MEMORY.add(Memory("ds_wrap_rtn_b32", "lds", "atomic", 32, combine=wrap, returns=True, meaning=meaning))
    add: Combine = lambda memory, data: memory + data  # noqa: E731
    single = Memory("", "lds", "atomic", 32, combine=combined("ds_add_f32", "f32", add), meaning="memory += data, f32")
    double = Memory("", "lds", "atomic", 64, combine=combined("ds_add_f64", "f64", add), meaning="memory += data, f64")
    for generation in ("gfx9", "gfx11"):
        _ds_rows(generation, "add", "f32", single)
    _ds_rows("gfx9", "add", "f64", double)
    for type in ("f16", "bf16"):
        packed = combined(f"ds_pk_add_{type}", "u32", packed_add(type))
        row = Memory("", "lds", "atomic", 32, combine=packed, meaning=f"memory += data, two {type}")
        _ds_rows("gfx9", "pk_add", type, row)


_vector_accesses()
_loads_into_lds()
_scalar_accesses()
_lds_accesses()
_atomics()
_ds_atomics()
