"""Every exception that gpulab raises.

    GpulabError
    ├── CompileError            the source did not compile; carries diagnostics on the cell's own lines
    ├── LaunchError             a launch was refused before it ran (arguments, sizes, limits)
    │   ├── ArgumentError       wrong count or type of kernel arguments
    │   └── LaunchLimitError    grid, block or LDS beyond what the device allows
    ├── KernelFault             a kernel was stopped while it ran; carries a records.Fault
    │   ├── MemoryFault         bad address: out of bounds, null, misaligned, freed
    │   ├── KernelTimeout       the instruction limit was reached (a loop that never ends)
    │   ├── KernelTrap          the kernel itself asked to stop (trap, failed assert)
    │   └── CheckedFault        a checked launch found a race, a read of memory never written, waiting without end ...
    ├── UnsupportedInstruction  the virtual GPU has no row for an instruction of this kernel
    ├── AssemblyError           assembly text that cannot be read
    ├── DeviceMemoryError       allocation and copy errors (out of memory, double free, wrong shape)
    ├── DeviceNotFound          no such device or architecture
    ├── KernelNotFound          a module has no kernel (or variable) of this name; also a KeyError, an AttributeError
    ├── LaunchNotFound          a profiled run has no launch of this index; also an IndexError
    ├── CounterNotFound         a counter or metric that the device does not define, or was not counted; also a KeyError
    ├── TraceError              a trace file that cannot be read or written
    ├── ProfilerError           the profiler of a real GPU is missing, failed, or wrote what cannot be read
    ├── ProviderError           any other call to a device's library that failed; carries the code's name and number
    │   └── HipError            ... of HIP
    │       └── CapabilityError the selected device cannot do this, e.g. hardware cannot be traced
    ├── CheckError              a problem with an exercise or its check (not a wrong answer)
    └── InternalError           a bug in gpulab: please report; never the learner's mistake

Each message has up to three parts: what happened (with values and the source line), why, and
what to try. `GpulabError(what, why=..., hint=...)` lays them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpulab.records import Diagnostic, Fault, Trace


class GpulabError(Exception):
    """Base of all gpulab errors: what happened, why, what to try.

    Args:
        what: one or more sentences with the values and the source line.
        why: the reason, or "".
        hint: what the reader can try, or "".
    """

    def __init__(self, what: str, *, why: str = "", hint: str = "") -> None:
        self.what, self.why, self.hint = what, why, hint
        super().__init__(self.message())

    def message(self) -> str:
        """The whole text as it is shown to the reader."""
        parts = [self.what]
        if self.why:
            parts.append(f"Why: {self.why}")
        if self.hint:
            parts.append(f"Try: {self.hint}")
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.message()


class CompileError(GpulabError):
    """The compiler refused the source. `diagnostics` are in the order shown, first error first."""

    def __init__(
        self, what: str, *, why: str = "", hint: str = "", diagnostics: Sequence[Diagnostic] = (), log: str = ""
    ) -> None:
        self.diagnostics, self.log = tuple(diagnostics), log
        super().__init__(what, why=why, hint=hint)


class LaunchError(GpulabError):
    """A launch was refused before any of it ran."""


class ArgumentError(LaunchError):
    """Wrong number or wrong types of kernel arguments."""


class LaunchLimitError(LaunchError):
    """Grid, block or LDS outside what the device allows; the message gives value and limit."""


class KernelFault(GpulabError):
    """A kernel was stopped while it ran. `fault` says where; `trace` is there if `gpulab.trace` launched it."""

    def __init__(
        self, what: str, *, why: str = "", hint: str = "", fault: Fault | None = None, trace: Trace | None = None
    ) -> None:
        self.fault, self.trace = fault, trace
        super().__init__(what, why=why, hint=hint)


class MemoryFault(KernelFault):
    """A lane used an address that it must not use."""


class KernelTimeout(KernelFault):
    """The kernel ran into its instruction limit; `fault.line` is inside the loop that did not end."""


class KernelTrap(KernelFault):
    """The kernel executed a trap (for example __builtin_trap or a failed assert)."""


class CheckedFault(KernelFault):
    """A checked launch (`gpulab.checked`) found a mistake that hardware would not notice."""


class UnsupportedInstruction(GpulabError):
    """The virtual GPU does not know an instruction; raised when a module is loaded."""


class AssemblyError(GpulabError):
    """Assembly text that cannot be read; the message names the line."""


class DeviceMemoryError(GpulabError):
    """An allocation, a copy or a free that cannot be done."""


class DeviceNotFound(GpulabError):
    """No device with this index, name or architecture."""


class KernelNotFound(GpulabError, KeyError, AttributeError):
    """A module has no kernel of this name; the message names what there is, the nearest first."""


class LaunchNotFound(GpulabError, IndexError):
    """A profiled run has no launch of this index, or none at all."""


class CounterNotFound(GpulabError, KeyError):
    """A counter or metric that the architecture does not define, or that a launch has no number for."""


class TraceError(GpulabError):
    """A trace file that cannot be read or written; the message says what is wrong with it."""


class ProfilerError(GpulabError):
    """rocprofv3 is missing, failed, or wrote something that cannot be read."""


class ProviderError(GpulabError):
    """A call to a device's library failed. `name` and `code` are the library's own."""

    def __init__(self, what: str, *, name: str = "", code: int = 0, why: str = "", hint: str = "") -> None:
        self.name, self.code = name, code
        super().__init__(what, why=why, hint=hint)


class HipError(ProviderError):
    """A HIP call failed. `name` is hip's name (``hipErrorInvalidValue``), `code` its number."""


class CapabilityError(HipError):
    """The selected device cannot do this. It is a HipError for those who catch that, as they had to once."""


class CheckError(GpulabError):
    """An exercise or its check is broken or unknown; never says that an answer is wrong."""


class InternalError(GpulabError):
    """A bug in gpulab itself."""

    def __init__(self, what: str, **detail: Any) -> None:
        super().__init__(
            what,
            why="this is a bug in gpulab, not in your code.",
            hint="please report it with the kernel's source." + "".join(f" [{k}={v!r}]" for k, v in detail.items()),
        )
