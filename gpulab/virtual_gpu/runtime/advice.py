"""What programs say of managed memory: `Advice`, by pages of 4 KiB, for hipMemRangeGetAttribute.

Managed memory lies in one place here, for host and devices, so advice and prefetching change nothing but what is asked
for afterwards (HIP reference, "Unified memory management").
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure

PAGE = 4096
INVALID, CPU = -2, -1  # hipInvalidDeviceId, hipCpuDeviceId
READ_MOSTLY, PREFERRED, ACCESSED_BY, LAST_PREFETCH, COHERENCY = 1, 2, 3, 4, 100  # hipMemRangeAttribute
FINE, COARSE, INDETERMINATE = 0, 1, 2  # hipMemRangeCoherencyMode


@dataclass(slots=True)
class _Page:
    read_mostly: bool = False
    preferred: int = INVALID
    users: frozenset[int] = frozenset()
    prefetched: int = INVALID
    coarse: bool = False


@dataclass(slots=True)
class Advice:
    """Of one allocation: pages that something was said of, by their number."""

    pages: dict[int, _Page] = field(default_factory=dict)

    def _over(self, offset: int, size: int) -> list[_Page]:
        numbers = range(offset // PAGE, -(-(offset + size) // PAGE))
        return [self.pages.setdefault(number, _Page()) for number in numbers]

    def advise(self, offset: int, size: int, advice: int, device: int) -> None:
        """hipMemAdvise.

        Raises:
            Failure: hipErrorInvalidValue: there is no such advice.
        """
        if advice not in (1, 2, 3, 4, 5, 6, 100, 101):
            raise Failure(codes.INVALID_VALUE, f"{advice} is no advice")
        for page in self._over(offset, size):
            if advice in (1, 2):
                page.read_mostly = advice == 1
            elif advice in (3, 4):
                page.preferred = device if advice == 3 else INVALID
            elif advice in (5, 6):
                page.users = page.users | {device} if advice == 5 else page.users - {device}
            else:
                page.coarse = advice == 100

    def prefetched(self, offset: int, size: int, device: int) -> None:
        for page in self._over(offset, size):
            page.prefetched = device

    def attribute(self, offset: int, size: int, attribute: int, count: int) -> list[int]:
        """hipMemRangeGetAttribute: one number; of ACCESSED_BY `count` devices, filled up with hipInvalidDeviceId.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        numbers = range(offset // PAGE, -(-(offset + size) // PAGE))
        pages = [self.pages.get(number) or _Page() for number in numbers]
        first = pages[0]
        if attribute == READ_MOSTLY:
            return [int(all(page.read_mostly for page in pages))]
        if attribute == PREFERRED:
            return [first.preferred if all(page.preferred == first.preferred for page in pages) else INVALID]
        if attribute == LAST_PREFETCH:
            return [first.prefetched if all(page.prefetched == first.prefetched for page in pages) else INVALID]
        if attribute == COHERENCY:
            coarse = {page.coarse for page in pages}
            return [INDETERMINATE if len(coarse) > 1 else COARSE if first.coarse else FINE]
        if attribute == ACCESSED_BY:
            users = sorted(frozenset.intersection(*(page.users for page in pages)))
            return [*users[:count], *[INVALID] * (count - len(users))]
        raise Failure(codes.INVALID_VALUE, f"{attribute} is no attribute of a range")
