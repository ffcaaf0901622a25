"""Buffer resources: where their fields lie (`Rules`, one for each generation), and the addressing both machines follow.

A resource is four scalar registers: base 47:0, stride 61:48, swizzle, number of records 95:64, and in the last register
index stride 22:21, add-thread-id 23 and, from gfx10 on, OOB_SELECT 29:28. For each lane

    index  = the index VGPR (idxen) + the lane (add-thread-id)          offset = the offset VGPR (offen) + immediate
    place  = offset + index * stride, or, swizzled, with i index strides and elements of e bytes:
             (index / i * stride + offset / e * e) * i + index % i * e + offset % e
    address = base + scalar offset + place

A word (or a narrower element, or a whole atomic) of `size` bytes that begins `at` bytes into the access is inside

    gfx9            structured (idxen, stride not 0): index < records;  else offset + scalar + at + size <= records
    OOB_SELECT 0    index < records and (stride 0, or offset + at + size <= stride)
               1    index < records
               2    records is not 0
               3    swizzled with a stride: as 0; else place + at + size <= records

Outside, a load gives 0 and a store or atomic does nothing. Loads and stores of several words are checked word by word,
atomics as a whole.

Sources: CDNA3 ISA manual 9.1.5 (buffer addressing), RDNA3 ISA manual 9.1; for NUM_RECORDS and OOB_SELECT also the
comments on buffer descriptors in Mesa's AMD drivers; LLVM's IntrinsicsAMDGPU.td on what soffset is checked against.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one generation.

    Attributes:
        swizzle: first bit of the swizzle field in the second register; it goes to bit 31.
        elements: bytes of a swizzle element by the field's value; 0 where it means "not swizzled".
        select: whether there is an OOB_SELECT field.
    """

    swizzle: int
    elements: tuple[int, ...]
    select: bool


INDEX_STRIDE, ADD_THREAD, SELECT = 21, 23, 28
"""First bits of fields in the fourth register."""


def inside(
    rules: Rules, select: int, records: int, stride: int, element: int, structured: bool, index: int, offset: int,
    scalar: int, place: int, end: int,
) -> bool:  # fmt: skip
    """Whether what ends `end` bytes after a lane's address lies in the buffer (see the module's table)."""
    if not rules.select:
        return index < records if structured and stride else offset + scalar + end <= records
    within_stride = stride == 0 or offset + end <= stride
    if select == 0:
        return index < records and within_stride
    if select == 1:
        return index < records
    if select == 2:
        return records != 0
    return index < records and within_stride if element and stride else place + end <= records


def linear(stride: int, element: int, index_stride: int, index: int, offset: int) -> int:
    """A lane's place in the buffer."""
    if not element:
        return offset + index * stride
    rest = offset % element
    return (index // index_stride * stride + offset - rest) * index_stride + index % index_stride * element + rest
