"""Memory of a HIP library: allocations, copies, fills."""

from __future__ import annotations

from gpulab.errors import DeviceMemoryError
from gpulab.providers import faults
from gpulab.providers.hip.calls import INVALID_VALUE, Calls
from gpulab.records import AllocationNote

_TO_DEVICE, _TO_HOST, _ON_DEVICE = 1, 2, 3  # hipMemcpyKind


class Memory(Calls):
    """The calls for memory."""

    def malloc(self, size: int) -> int:
        return self._call("hipMalloc", size)[0]

    def malloc_host(self, size: int) -> int:
        return self._call("hipHostMalloc", size, 0)[0]

    def free(self, address: int) -> None:
        code = self.binding.call("hipFree", address)[0]
        if code:
            self._free_failed(code, address)

    def _free_failed(self, code: int, address: int) -> None:
        if code != INVALID_VALUE:
            self.fail(code, "hipFree")
        self._forget_error()
        note = self._nearest(address)
        raise DeviceMemoryError(
            f"free: 0x{address:x} is not the start of a device allocation.",
            why=f"the address is {faults.nearest_text(note)}."
            if note is not None and faults.is_near(note)
            else "it was never allocated, or was freed before.",
            hint="free each allocation once, with the address that malloc returned.",
        )

    def _nearest(self, address: int) -> AllocationNote | None:
        """The allocation that holds or is nearest to an address, where the library knows."""
        return None

    def free_host(self, address: int) -> None:
        self._call("hipHostFree", address)

    def memset(self, address: int, value: int, size: int, stream: int = 0) -> None:
        if stream:
            self._call("hipMemsetAsync", address, value, size, stream)
        else:
            self._call("hipMemset", address, value, size)

    def copy_to_device(self, address: int, host: int, size: int, stream: int = 0) -> None:
        self._copy(address, host, size, _TO_DEVICE, stream)

    def copy_to_host(self, host: int, address: int, size: int, stream: int = 0) -> None:
        self._copy(host, address, size, _TO_HOST, stream)

    def copy_device(self, target: int, source: int, size: int, stream: int = 0) -> None:
        self._copy(target, source, size, _ON_DEVICE, stream)

    def _copy(self, target: int, source: int, size: int, kind: int, stream: int) -> None:
        if not size:
            return
        if stream:
            self._call("hipMemcpyAsync", target, source, size, kind, stream)
        else:
            self._call("hipMemcpy", target, source, size, kind)

    def memory_info(self) -> tuple[int, int]:
        free_bytes, total = self._call("hipMemGetInfo")
        return free_bytes, total
