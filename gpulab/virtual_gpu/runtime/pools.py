"""Memory pools: `Pools`, with `Pool` for each. From them hipMallocAsync takes, and into them hipFreeAsync gives back.

What a pool holds beside what is in use stays reserved until the host waits for something; then all beyond the release
threshold goes back to the device (HIP reference, "Stream Ordered Memory Allocator"). Reserved bytes are counted as the
device's; the arena gets freed memory at once, so nothing is handed out twice.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.memory import Memory

READ_WRITE = 3  # hipMemAccessFlagsProtReadWrite
REUSE = (1, 2, 3)  # hipMemPoolReuse*: by event dependencies, opportunistic, by internal dependencies
THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = 4, 5, 6, 7, 8
WHOLE_PAGES = 2 << 20  # what a pool reserves is a multiple of this (as ROCm's heap of 2 MiB pages)


@dataclass(slots=True, eq=False)
class Pool:
    """One pool. `limit`: bytes that it may reserve, 0 for as many as there are. `access`: by device, of others.
    `is_shared`: it can be exported; `origin`: the process and handle of an imported one (between.py).
    """

    handle: int
    device: Device
    limit: int = 0
    is_default: bool = False
    reuse: dict[int, int] = field(default_factory=lambda: dict.fromkeys(REUSE, 1))
    threshold: int = 0
    reserved: int = 0
    reserved_high: int = 0
    used: int = 0
    used_high: int = 0
    access: dict[int, int] = field(default_factory=dict)
    is_shared: bool = False
    origin: tuple[int, int] | None = None


class Pools:
    """All pools by handle; each device has a default one and a current one."""

    def __init__(self, context: Context, memory: Memory) -> None:
        self._context, self._memory = context, memory
        self._handles = itertools.count(0x8_0000_0000, 16)
        self._pools: dict[int, Pool] = {}
        self._default: dict[int, Pool] = {}
        self._current: dict[int, Pool] = {}
        self._taken: dict[int, Pool] = {}
        memory.pool_freed = self._freed
        context.at_waits.append(self._waited)

    def default(self, device: Device) -> Pool:
        found = self._default.get(device.index)
        if found is None:
            found = self._default[device.index] = self._make(device, 0)
            found.is_default = True
        return found

    def current(self, device: Device) -> Pool:
        """Where hipMallocAsync takes from."""
        return self._current.get(device.index) or self.default(device)

    def set_current(self, device: Device, pool: Pool) -> None:
        """hipDeviceSetMemPool.

        Raises:
            Failure: hipErrorInvalidValue: the pool is another device's.
        """
        if pool.device is not device:
            raise Failure(codes.INVALID_VALUE, f"the pool belongs to device {pool.device.index}")
        self._current[device.index] = pool

    def create(self, device: Device, limit: int, is_shared: bool = False) -> Pool:
        pool = self._make(device, limit)
        pool.is_shared = is_shared
        return pool

    def imported(self, device: Device, origin: tuple[int, int]) -> Pool:
        """A pool for memory of another one, maybe in another process."""
        pool = self._make(device, 0)
        pool.origin = origin
        return pool

    def holder(self, address: int) -> Pool | None:
        """The pool that the allocation at an address comes from."""
        return self._taken.get(address)

    def _make(self, device: Device, limit: int) -> Pool:
        pool = Pool(next(self._handles), device, limit)
        self._pools[pool.handle] = pool
        return pool

    def find(self, handle: int) -> Pool:
        """The pool of a handle.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        found = self._pools.get(handle)
        if found is None:
            raise Failure(codes.INVALID_VALUE, "there is no such pool")
        return found

    def destroy(self, handle: int) -> None:
        """Destroy a pool; what was taken from it stays until it is freed."""
        pool = self.find(handle)
        if pool.is_default:
            raise Failure(codes.INVALID_VALUE, "a device's default pool cannot be destroyed")
        del self._pools[handle]
        if self._current.get(pool.device.index) is pool:
            del self._current[pool.device.index]  # the default one is current again
        pool.threshold = 0
        self._keep(pool, pool.used)

    # Memory

    def allocate(self, pool: Pool, size: int) -> int:
        """Memory from a pool; the address.

        Raises:
            Failure: hipErrorOutOfMemory: the pool's limit is reached, or the device has no more.
        """
        if pool.origin is not None:
            raise Failure(
                codes.INVALID_VALUE, "an imported pool makes no memory; hipMemPoolImportPointer gives what it has"
            )
        needed = -(-(pool.used + size) // WHOLE_PAGES) * WHOLE_PAGES
        if pool.limit and needed > max(pool.limit, pool.reserved):
            raise Failure(
                codes.OUT_OF_MEMORY, f"the pool may reserve {pool.limit:,} bytes, and {pool.used:,} of them are in use"
            )
        address = self._memory.allocate(size, "device", device=pool.device)
        if address:
            self.took(pool, address, size)
            self._keep(pool, max(pool.reserved, needed))
        return address

    def took(self, pool: Pool, address: int, size: int) -> None:
        """Note that an allocation comes from a pool."""
        self._memory.blocks[address].pool = pool.handle
        pool.used += size
        pool.used_high = max(pool.used_high, pool.used)
        self._taken[address] = pool

    def _freed(self, address: int, size: int) -> None:
        self._taken.pop(address).used -= size

    def _keep(self, pool: Pool, reserved: int) -> None:
        pool.reserved = reserved
        pool.reserved_high = max(pool.reserved_high, reserved)

    def _waited(self, device: Device) -> None:
        """The host has waited for a device: pools give back what they need not hold."""
        for pool in {*self._pools.values()}:
            if pool.device is device and pool.reserved > pool.threshold:
                self.trim(pool, pool.threshold)

    def trim(self, pool: Pool, least: int) -> None:
        """Give back what is not in use, but hold `least` bytes if there are as many."""
        in_use = -(-pool.used // WHOLE_PAGES) * WHOLE_PAGES
        self._keep(pool, max(in_use, min(pool.reserved, -(-least // WHOLE_PAGES) * WHOLE_PAGES)))

    # Attributes

    def get(self, pool: Pool, attribute: int) -> int:
        """hipMemPoolGetAttribute.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        if attribute in REUSE:
            return pool.reuse[attribute]
        values = {
            THRESHOLD: pool.threshold,
            RESERVED: pool.reserved,
            RESERVED_HIGH: pool.reserved_high,
            USED: pool.used,
            USED_HIGH: pool.used_high,
        }
        if attribute not in values:
            raise Failure(codes.INVALID_VALUE, f"{attribute} is no attribute of a pool")
        return values[attribute]

    def set(self, pool: Pool, attribute: int, value: int) -> None:
        """hipMemPoolSetAttribute: high-water marks can be set to zero alone, which means what there is now.

        Raises:
            Failure: hipErrorInvalidValue.
        """
        if attribute in REUSE:
            pool.reuse[attribute] = value
        elif attribute == THRESHOLD:
            pool.threshold = value
        elif attribute == RESERVED_HIGH and not value:
            pool.reserved_high = pool.reserved
        elif attribute == USED_HIGH and not value:
            pool.used_high = pool.used
        else:
            raise Failure(codes.INVALID_VALUE, f"attribute {attribute} of a pool cannot be set to {value}")

    def set_access(self, pool: Pool, device: int, flags: int) -> None:
        """hipMemPoolSetAccess for one device.

        Raises:
            Failure: hipErrorInvalidValue, hipErrorInvalidDevice.
        """
        other = self._context.device(device)
        if flags not in (0, 1, READ_WRITE):
            raise Failure(codes.INVALID_VALUE, f"{flags} is no access")
        if other is pool.device and flags != READ_WRITE:
            raise Failure(codes.INVALID_VALUE, "a device has access to its own pool")
        pool.access[device] = flags

    def get_access(self, pool: Pool, device: int) -> int:
        other = self._context.device(device)
        return READ_WRITE if other is pool.device else pool.access.get(device, 0)

    def reset(self, device: Device) -> None:
        """hipDeviceReset: the pools of a device are gone, and so is what was taken from them."""
        for handle, pool in list(self._pools.items()):
            if pool.device is device:
                del self._pools[handle]
        self._default.pop(device.index, None)
        self._current.pop(device.index, None)
