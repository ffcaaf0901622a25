"""Tensors in the memory of the host, such as PyTorch's for the CPU, as arguments of a kernel: `Copies`.

A tensor may be a view of others' memory, and a kernel may be given its strides. So the whole memory behind it, its
*storage*, is copied to the device before the launch, once for all tensors that share it, and what the kernel changed is
copied back after it.
"""

from __future__ import annotations

import copy
import ctypes
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from gpulab.memory import DeviceArray

_ALIGNMENT = 16
"""What Triton looks at of a pointer when it compiles: the copy stands as the original does."""

said: set[str] = set()


def say_once(text: str) -> None:
    """On standard error, once in a process."""
    if text not in said:
        said.add(text)
        print(text, file=sys.stderr)


class Address:
    """What Triton's launcher takes for a tensor: its address."""

    def __init__(self, address: int) -> None:
        self._address = address

    def data_ptr(self) -> int:
        return self._address


def is_on_host(argument: Any) -> bool:
    """Is it a tensor in the memory of the host? It says so itself, as PyTorch's do."""
    return getattr(argument, "is_cpu", False) is True and hasattr(argument, "data_ptr")


class Copies:
    """The storages of one launch that were copied."""

    def __init__(self) -> None:
        self._copied: dict[tuple[int, int], tuple[np.ndarray, DeviceArray, int]] = {}

    def on_device(self, argument: Any) -> Any:
        """The argument as the launcher takes it: of a tensor on the host its copy's address, all else as it is."""
        if is_on_host(argument):
            return Address(self._address(argument))
        if type(argument) is tuple:
            return tuple(self.on_device(each) for each in argument)
        if is_on_host(getattr(argument, "base", None)):  # a tensor descriptor
            moved = copy.copy(argument)
            moved.base = Address(self._address(argument.base))
            return moved
        return argument

    def _address(self, tensor: Any) -> int:
        import numpy as np

        from gpulab import providers
        from gpulab.memory import to_device

        start, size = _storage(tensor)
        if not size:
            return 0
        if (start, size) not in self._copied:
            say_once(
                "gpulab: tensors in the memory of the host are copied to "
                f"{providers.devices()[providers.current()].name} and back around each launch."
            )
            before = start % _ALIGNMENT
            there = to_device(np.concatenate([np.zeros(before, "uint8"), _bytes(start, size)]))
            self._copied[start, size] = _bytes(start, size), there, before
        _, there, before = self._copied[start, size]
        return int(there.address) + before + int(tensor.data_ptr()) - start

    def back(self) -> None:
        """Copy back what the kernel has changed, and only that: the rest may be memory that cannot be written."""
        import numpy as np

        for here, there, before in self._copied.values():
            found = there.to_host()[before:]
            np.copyto(here, found, where=found != here)


def _storage(tensor: Any) -> tuple[int, int]:
    """Address and bytes of the memory behind a tensor."""
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        return int(storage.data_ptr()), int(storage.nbytes())
    return int(tensor.data_ptr()), int(tensor.nbytes)


def _bytes(start: int, size: int) -> np.ndarray:
    import numpy as np

    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(start))
