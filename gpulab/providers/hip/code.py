"""Code objects of a HIP library: modules, kernels, variables, occupancy."""

from __future__ import annotations

import ctypes

from gpulab.providers.hip.calls import Calls


class Code(Calls):
    """The calls for modules and functions."""

    formats = frozenset({"amdgpu"})

    def load(self, code: bytes) -> int:
        pointer = ctypes.cast(ctypes.c_char_p(code), ctypes.c_void_p).value
        assert pointer is not None  # bytes have an address
        return self._call("hipModuleLoadData", pointer)[0]

    def unload(self, module: int) -> None:
        self._call("hipModuleUnload", module)

    def function(self, module: int, symbol: str) -> int:
        return self._call("hipModuleGetFunction", module, symbol.encode())[0]

    def variable(self, module: int, symbol: str) -> tuple[int, int]:
        address, size = self._call("hipModuleGetGlobal", module, symbol.encode())
        return address, size

    def occupancy(self, function: int, block_threads: int, lds: int = 0) -> int:
        return self._call("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", function, block_threads, lds)[0]
