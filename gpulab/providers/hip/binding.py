"""Two ways to the same C symbols: hip-python's modules and ctypes, both driven by one table of calls.

Moving parts: `CALLS` (what goes in and comes out of each C function that gpulab uses), `CtypesBinding`,
`HipPythonBinding`. ``binding.call("hipMalloc", 4096)`` returns ``(code, address)``: HIP's result first,
then the outputs as plain numbers. Nothing here raises for a HIP error; `calls` does that.
"""

from __future__ import annotations

import ctypes
from typing import Protocol

from gpulab.providers.provider import Triple

Input = int | bytes

# Type codes: p address or handle, z size_t, i int, u unsigned, f float, s a C string (in); k is hipMemcpyKind, "i" to C
# and named here for hip-python, which wants its own class.
_Scalar = ctypes.c_void_p | ctypes.c_size_t | ctypes.c_int | ctypes.c_uint | ctypes.c_float | ctypes.c_char_p
_C_TYPES: dict[str, type[_Scalar]] = {
    "p": ctypes.c_void_p,
    "z": ctypes.c_size_t,
    "i": ctypes.c_int,
    "u": ctypes.c_uint,
    "f": ctypes.c_float,
    "k": ctypes.c_int,
    "s": ctypes.c_char_p,
}

#: name -> (outputs, inputs). In C the outputs come first, as pointers.
CALLS: dict[str, tuple[str, str]] = {
    "hipGetDeviceCount": ("i", ""),
    "hipGetDevice": ("i", ""),
    "hipSetDevice": ("", "i"),
    "hipRuntimeGetVersion": ("i", ""),
    "hipDeviceSynchronize": ("", ""),
    "hipMalloc": ("p", "z"),
    "hipFree": ("", "p"),
    "hipHostMalloc": ("p", "zu"),
    "hipHostFree": ("", "p"),
    "hipMemset": ("", "piz"),
    "hipMemsetAsync": ("", "pizp"),
    "hipMemcpy": ("", "ppzk"),
    "hipMemcpyAsync": ("", "ppzkp"),
    "hipMemGetInfo": ("zz", ""),
    "hipMemGetAddressRange": ("pz", "p"),
    "hipModuleLoadData": ("p", "p"),
    "hipModuleUnload": ("", "p"),
    "hipModuleGetFunction": ("p", "ps"),
    "hipModuleGetGlobal": ("pz", "ps"),
    "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor": ("i", "piz"),
    "hipModuleLaunchKernel": ("", "puuuuuuuppp"),
    "hipModuleLaunchCooperativeKernel": ("", "puuuuuuupp"),
    "hipStreamCreateWithFlags": ("p", "u"),
    "hipStreamDestroy": ("", "p"),
    "hipStreamSynchronize": ("", "p"),
    "hipStreamWaitEvent": ("", "ppu"),
    "hipEventCreate": ("p", ""),
    "hipEventDestroy": ("", "p"),
    "hipEventRecord": ("", "pp"),
    "hipEventSynchronize": ("", "p"),
    "hipEventElapsedTime": ("f", "pp"),
    "hipGetLastError": ("", ""),
}

_PROPERTIES_BYTES = 4096  # hipDeviceProp_tR0600 has 1,472 bytes; room for longer ones


class _Function(Protocol):
    """A C function whose types are set: it returns HIP's code."""

    def __call__(self, *arguments: object) -> int: ...


class Binding(Protocol):
    """What gpulab needs of a binding."""

    kind: str  # "hip-python" or "ctypes"

    @property
    def path(self) -> str:
        """Of the library."""

    def call(self, name: str, *arguments: Input) -> tuple[int, ...]:
        """Call a function of `CALLS`: (code, outputs...)."""

    def elapsed(self, start: int, stop: int) -> tuple[int, float]:
        """hipEventElapsedTime: (code, milliseconds)."""

    def launch(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, extra: int) -> int:
        """hipModuleLaunchKernel with HIP_LAUNCH_PARAM buffers at address `extra`: the code."""

    def properties(self, index: int) -> tuple[int, dict[str, object]]:
        """hipGetDeviceProperties as a dictionary of plain values."""

    def error_text(self, code: int) -> tuple[str, str]:
        """Name and description of an error code."""


class CtypesBinding:
    """The C symbols through ctypes, for systems that hip-python has no wheel for and for a second library.

    Args:
        path: the library's path.
        properties_type: ctypes structure of hipDeviceProp_tR0600.
        in_process: the library is gpulab's own and calls back into this interpreter: keep the GIL.
    """

    kind = "ctypes"

    def __init__(self, path: str, properties_type: type[ctypes.Structure], *, in_process: bool = False) -> None:
        self.path = path
        self._properties_type = properties_type
        self._library = ctypes.PyDLL(path) if in_process else ctypes.CDLL(path)
        self._functions: dict[str, _Function] = {}
        for name in ("hipGetErrorName", "hipGetErrorString"):
            getattr(self._library, name).restype = ctypes.c_char_p
        self._launch = self._function("hipModuleLaunchKernel")

    def _function(self, name: str) -> _Function:
        outputs, inputs = CALLS[name]
        function = getattr(self._library, name)
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.POINTER(_C_TYPES[code]) for code in outputs] + [_C_TYPES[code] for code in inputs]
        found: _Function = function
        self._functions[name] = found
        return found

    def call(self, name: str, *arguments: Input) -> tuple[int, ...]:
        function = self._functions.get(name) or self._function(name)
        outputs = CALLS[name][0]
        if not outputs:
            return (function(*arguments),)
        cells = [_C_TYPES[code]() for code in outputs]
        code = function(*(ctypes.byref(cell) for cell in cells), *arguments)
        return (code, *(int(cell.value or 0) for cell in cells))

    def elapsed(self, start: int, stop: int) -> tuple[int, float]:
        milliseconds = ctypes.c_float()
        function = self._functions.get("hipEventElapsedTime") or self._function("hipEventElapsedTime")
        return function(ctypes.byref(milliseconds), start, stop), milliseconds.value

    def launch(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, extra: int) -> int:
        return self._launch(function, *grid, *block, lds, stream, None, extra)

    def properties(self, index: int) -> tuple[int, dict[str, object]]:
        room = ctypes.create_string_buffer(_PROPERTIES_BYTES)
        code = self._library.hipGetDevicePropertiesR0600(room, index)
        return code, structure_values(self._properties_type.from_buffer(room))

    def error_text(self, code: int) -> tuple[str, str]:
        name, text = self._library.hipGetErrorName(code), self._library.hipGetErrorString(code)
        return (name or b"").decode(), (text or b"").decode()


class HipPythonBinding:
    """The same calls through the installed package hip-python, unmodified."""

    kind = "hip-python"

    def __init__(self) -> None:
        from hip import hip  # takes the library that gpulab.providers.hip.library points it to

        self._hip = hip
        self._kinds = hip.hipMemcpyKind
        self._launch = hip.hipModuleLaunchKernel

    def has(self, symbol: str) -> bool:
        """Whether the library that hip-python loaded exports a symbol."""
        return bool(self._hip.has_symbol(symbol))

    @property
    def path(self) -> str:
        from rocm.bindings.util import paths

        return str(paths.get_library_path("amdhip64").decode())

    def call(self, name: str, *arguments: Input) -> tuple[int, ...]:
        inputs = CALLS[name][1]
        if "k" in inputs:
            place = inputs.index("k")
            code, *results = getattr(self._hip, name)(
                *arguments[:place], self._kinds(int(arguments[place])), *arguments[place + 1 :]
            )
        else:
            code, *results = getattr(self._hip, name)(*arguments)
        return (int(code), *(int(value) if value is not None else 0 for value in results))

    def elapsed(self, start: int, stop: int) -> tuple[int, float]:
        code, milliseconds = self._hip.hipEventElapsedTime(start, stop)
        return int(code), float(milliseconds or 0.0)

    def launch(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, extra: int) -> int:
        return int(self._launch(function, *grid, *block, lds, stream, None, extra)[0])

    def properties(self, index: int) -> tuple[int, dict[str, object]]:
        code, found = self._hip.hipGetDeviceProperties(index)
        values: dict[str, object] = {}
        for name in found.PROPERTIES():
            value = getattr(found, name)
            if isinstance(value, bytes):
                value = value.partition(b"\0")[0].decode(errors="replace")
            values[name] = value
        return int(code), values

    def error_text(self, code: int) -> tuple[str, str]:
        try:
            error = self._hip.hipError_t(code)
        except ValueError:
            return f"hipError {code}", "unknown error"
        return error.name, str(self._hip.hipGetErrorString(error)[-1])


def structure_values(structure: ctypes.Structure) -> dict[str, object]:
    """A ctypes structure as a dictionary: character arrays as text, other arrays as tuples."""
    values: dict[str, object] = {}
    for entry in structure._fields_:
        value = getattr(structure, entry[0])
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        elif isinstance(value, ctypes.Array):
            value = tuple(value)
        elif isinstance(value, ctypes.Structure):
            value = structure_values(value)
        values[entry[0]] = value
    return values
