"""Image instructions: one call of the support code (machine/native/images.c) on whole registers.

The descriptors are scalar registers in the wave's state when it is called. An observer is told of each tap of each size
that a texel may have (`observed`), as the size stands in the descriptor.
"""

from __future__ import annotations

from collections.abc import Callable

from gpulab.virtual_gpu import schema
from gpulab.virtual_gpu.isa.expression import u32
from gpulab.virtual_gpu.isa.images import taps
from gpulab.virtual_gpu.isa.instruction import Instruction, Register
from gpulab.virtual_gpu.isa.row import Image
from gpulab.virtual_gpu.translate import layout
from gpulab.virtual_gpu.translate.decode import ACC, Decoded, bits, image_operands, scalar_number
from gpulab.virtual_gpu.translate.emitter import ZERO, Emitter, Integer, Value, signed
from gpulab.virtual_gpu.translate.lane_access import Observed
from gpulab.virtual_gpu.translate.scalars import Scalars


def observed(index: int, row: Image, shape: str) -> list[Observed]:
    """What an observer may be told of: each tap, for texels of 1, 2, 4, 8 and 16 bytes."""
    action = "store" if row.action == "store" else "load"
    return [
        Observed(index, tap, "global", action, 1 << size)
        for size in range(schema.constant("TEXEL_SIZES"))
        for tap in range(taps(row, shape))
    ]


def _offset(instruction: Instruction) -> int:
    given = instruction.modifiers.get("offset", 0)
    return given if isinstance(given, int) else 0


def emit(
    e: Emitter,
    scalars: Scalars,
    decoded: Decoded,
    row: Image,
    generation: str,
    fault: str,
    observe: Callable[[Observed], int],
    operand: Callable[..., Value],
) -> None:
    """The call; what was in the vector registers before has been stored. `operand` gives a scalar operand's value."""
    instruction = decoded.instruction
    parts = image_operands(instruction, row)
    data, resource = parts.data.value, parts.resource.value
    assert isinstance(data, Register)
    assert isinstance(resource, Register)
    numbers = [scalar_number(resource), 0]
    live = bits(resource.index, resource.count)
    if parts.sampler is not None:
        assert isinstance(parts.sampler.value, Register)
        numbers[1] = scalar_number(parts.sampler.value)
        live |= bits(parts.sampler.value.index, parts.sampler.value.count)
    modifiers = instruction.modifiers
    what = schema.IMAGE_WORD.pack(
        action=schema.IMAGE_ACTIONS[row.action],
        shape=schema.IMAGE_SHAPES[parts.shape],
        level=schema.IMAGE_LEVELS[row.level] if row.level else 0,
        set=schema.IMAGE_SETS[generation],
        dmask=parts.dmask,
        unorm=bool(modifiers.get("unorm")),
        mip=row.mip,
        index=bool(modifiers.get("idxen")),
        offset=bool(modifiers.get("offen")),
        data=data.index + (ACC if data.file == "a" else 0),
        resource=numbers[0] or 0,
        sampler=numbers[1] or 0,
        halves=bool(modifiers.get("a16")),
        half_slopes=row.half_slopes,
        half_data=bool(modifiers.get("d16")),
    )
    first = 0
    if row.action != "size":
        places = [observe(access) for access in observed(decoded.index, row, parts.shape)]
        first = places[0]
    registers = parts.registers
    words = [sum(r << 10 * n for n, r in enumerate(registers[at : at + 6])) for at in (0, 6)]
    offset: Value = Integer(_offset(instruction))
    if parts.scalar is not None:
        scalar = operand(parts.scalar, u32, decoded.index)
        if scalar != ZERO:
            wide = e.let(f"shl i64 {e.let(f'zext i32 {scalar} to i64')}, 32")
            offset = e.let(f"or i64 {wide}, {offset}")
    scalars.flush(live)
    place = e.let(f"getelementptr i8, ptr %wave, i64 {layout.offset('image')}")
    function = e.let(f"load ptr, ptr {place}")
    mask = scalars.mask(layout.EXEC)
    failed = e.let(
        f"call i32 {function}(ptr %wave, ptr %vgprs, i64 {decoded.index | first << 32}, i64 {signed(what, 64)}, "
        f"i64 {words[0]}, i64 {words[1]}, i64 {offset}, i64 {mask})"
    )
    go = e.name("texels")
    e.branch(e.let(f"icmp eq i32 {failed}, 0"), go, fault, likely=True)
    e.label(go)
