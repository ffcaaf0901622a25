"""The port for GPUs: what a provider of devices does (`Provider`), and what only a virtual GPU can do (`Instruments`).

Everything here is gpulab's own: records, errors, plain numbers and bytes. Devices, addresses, modules, functions,
streams and events are integers that a provider gives out; nobody else looks into them. Moving parts: `DeviceInfo` with
`Limits`, `Sink` (where a provider puts the records of launches), `Provider`, `Instruments`, `Member` (how the registry
finds a provider). docs/add-a-provider.md goes through them step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gpulab.architectures import Occupancy
    from gpulab.counter_names import Counter
    from gpulab.records import (
        AccessCost,
        Activity,
        AllocationNote,
        Fidelity,
        InstructionCost,
        LastWriters,
        Launch,
        Trace,
    )

Triple = tuple[int, int, int]

CAPABILITIES: Mapping[str, str] = {
    "cooperative": "run cooperative launches",
    "counters": "count events of a launch",
    "variables": "give the address of a variable",
    "trace": "be traced",
    "checked": "run checked launches",
    "weak": "run launches whose stores become visible late and out of order by choice",
    "writers": "tell who changed an element last",
    "occupancy": "tell the occupancy by resource",
    "limit": "stop a kernel after a number of instructions",
    "costs": "give costs by source line",
}
"""What a provider may lack (`Provider.lacks`), and how an error says it: "... cannot be traced"."""

OF_INSTRUMENTS = ("trace", "checked", "weak", "writers", "occupancy", "limit", "costs")
"""The capabilities that come with `Instruments`: who has none lacks all of them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The sizes that a device allows: `block_threads` threads in a workgroup, `block` along each axis; `grid`:
    workgroups along each axis; `lds_bytes` of LDS in a workgroup; `unit_threads` resident threads of one compute unit
    (of the unit that `Provider.occupancy` counts in)."""

    block_threads: int
    block: Triple
    grid: Triple
    lds_bytes: int
    unit_threads: int


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device as gpulab numbers them.

    Attributes:
        index: its number; a provider counts its own from 0, and the registry puts them behind each other.
        arch: what code is compiled for: "gfx942", without target features.
        virtual: the device is a program on the CPU.
        limits: sizes that it allows.
        provider: the name of its provider.
        properties: what its library says of it under the library's own names (HIP: the fields of hipDeviceProp_t).
    """

    index: int
    name: str
    arch: str
    wave_size: int
    compute_units: int
    virtual: bool
    memory_bytes: int
    limits: Limits
    provider: str
    properties: Mapping[str, object] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """What a provider uses, for `gpulab doctor`: the library's path, interface and version ("HIP 7.15"), by which way
    it is reached, and the path of its profiler ("" if it was not found, None if it needs none)."""

    path: str
    version: str
    binding: str
    profiler: str | None = None


class Sink(Protocol):
    """Where a provider puts the records of a recording; places count the launches of all devices from 0."""

    def add(self, launch: Launch) -> int:
        """Append a launch, whose `device` is the provider's own number: its place."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int) -> Launch: ...

    def change(self, place: int, launch: Launch) -> None:
        """Put another record (made of the one that was read) in a place."""


Activities = Callable[[], "tuple[Activity, ...]"]
"""What streams did so far, in the order in which it was asked for; microseconds of the provider's own clock, from the
first activity on. `Activity.device` is the provider's own number, `launch` a place in the sink, `waits_for` a place
here."""


class Provider(Protocol):
    """One source of devices, and all that gpulab asks of it. One device is selected, for each thread by itself.

    A call that fails raises one of gpulab.errors: DeviceMemoryError for memory, LaunchLimitError for sizes,
    KernelFault (from a call that waits) for a kernel that was stopped, ProviderError for everything else.

    Attributes:
        name: a word: GPULAB_LIBRARY=NAME begins with this provider, gpulab.use("NAME:...") means one of its devices.
        formats: the kinds of code objects that it loads: "amdgpu".
        counters: the counters of its devices that `counter_names` does not have.
        lacks: what it can never do, of `CAPABILITIES`, each with the reason.
        instruments: what only a virtual GPU can do; None for hardware.
    """

    name: str
    formats: frozenset[str]
    counters: tuple[Counter, ...]
    lacks: Mapping[str, str]

    @property
    def instruments(self) -> Instruments | None: ...

    # Devices

    def devices(self) -> tuple[DeviceInfo, ...]:
        """All devices, numbered from 0."""

    def current(self) -> int:
        """The number of the device that is selected for this thread."""

    def select(self, index: int) -> None: ...

    def synchronize(self) -> None:
        """Wait until the selected device has done all its work; a kernel's fault is raised here, once."""

    def library(self) -> LibraryInfo: ...

    def environment(self, index: int) -> Mapping[str, str]:
        """The environment variables with which a process of its own has this device as its first one."""

    # Memory. Host memory is an address of this process, and stays there until the copy is done.

    def malloc(self, size: int) -> int:
        """Allocate memory of the selected device: its address (0 for 0 bytes)."""

    def free(self, address: int) -> None:
        """Free it; 0 is ignored, anything that is not the start of an allocation is a DeviceMemoryError. A kernel's
        fault is not raised here."""

    def malloc_host(self, size: int) -> int:
        """Host memory that copies in streams can use while the host goes on (page-locked): its address."""

    def free_host(self, address: int) -> None: ...

    def memset(self, address: int, value: int, size: int, stream: int = 0) -> None:
        """Fill `size` bytes with the byte `value`."""

    def copy_to_device(self, address: int, host: int, size: int, stream: int = 0) -> None: ...

    def copy_to_host(self, host: int, address: int, size: int, stream: int = 0) -> None: ...

    def copy_device(self, target: int, source: int, size: int, stream: int = 0) -> None: ...

    def memory_info(self) -> tuple[int, int]:
        """(free, total) bytes of the selected device."""

    # Code

    def load(self, code: bytes) -> int:
        """Load a code object (of one of `formats`) on the selected device: a module."""

    def unload(self, module: int) -> None: ...

    def function(self, module: int, symbol: str) -> int:
        """A kernel by its symbol."""

    def variable(self, module: int, symbol: str) -> tuple[int, int]:
        """(address, bytes) of a variable of the module by its symbol."""

    def occupancy(self, function: int, block_threads: int, lds: int = 0) -> int:
        """Workgroups that one unit holds at a time, as the library computes it."""

    # Launches. `kernarg` has the arguments at the offsets of the kernel's signature. Sizes are x, y, z.

    def launch(self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes) -> None: ...

    def launch_cooperative(
        self, function: int, grid: Triple, block: Triple, lds: int, stream: int, kernarg: bytes, offsets: Sequence[int]
    ) -> None:
        """A launch whose workgroups all run at the same time; `offsets`: where each argument stands in `kernarg`."""

    def record(self, sink: Sink, profile: bool, counters: Sequence[str] | None) -> AbstractContextManager[Activities]:
        """Put the record of every launch in the block into `sink`.

        Args:
            profile: collect all that costs time to collect.
            counters: names to collect, the usual ones if empty; None: nobody asked.
        """

    def check_counters(self, names: Sequence[str], arch: str) -> None:
        """Refuse names that the device does not define, or that this provider does not count (CounterNotFound)."""

    # Streams and events. 0 is the default stream.

    def stream_create(self) -> int: ...

    def stream_destroy(self, stream: int) -> None: ...

    def stream_synchronize(self, stream: int) -> None: ...

    def stream_wait_event(self, stream: int, event: int) -> None:
        """Work put into the stream from now on waits for the event."""

    def event_create(self) -> int: ...

    def event_destroy(self, event: int) -> None: ...

    def event_record(self, event: int, stream: int = 0) -> None: ...

    def event_synchronize(self, event: int) -> None: ...

    def event_elapsed_ms(self, start: int, stop: int) -> float:
        """Milliseconds of the device's clock between two recorded events."""


class Instruments(Protocol):
    """What only a virtual GPU can do. Handles and addresses are its provider's; the last three need no device."""

    def raise_fault(self) -> None:
        """After a launch, which has run when it returns: show what kernels printed, and raise their fault. The program
        does not wait: modelled time goes on as if this had not been called."""

    def trace(
        self, function: int, grid: Triple, block: Triple, lds: int, kernarg: bytes, workgroup: Triple, wave: int
    ) -> tuple[Launch, Trace]:
        """Launch, and record every instruction of one wave of one workgroup."""

    def checking(self) -> AbstractContextManager[None]:
        """Check every launch in the block; see `gpulab.checked`."""

    def weakening(self, seed: int) -> AbstractContextManager[None]:
        """Run every launch in the block on weak memory; see `gpulab.weak`."""

    def last_writers(self, address: int, size: int, count: int = 1) -> LastWriters:
        """Who was the last to change each of `count` elements of `size` bytes from an address on, in the launch that
        was checked last on the selected device: thread, wave, workgroup, source line, instruction. None stands for
        nobody; a store of the value that is there already is no change."""

    def occupancy(self, function: int, block_threads: int, lds: int = 0) -> Occupancy:
        """What the hardware holds, with the limit of each resource."""

    def set_instruction_limit(self, limit: int | None) -> None:
        """Wave instructions after which a wave is stopped (None: the default, 0: no limit)."""

    def renew(self, module: int) -> None:
        """Give a module's variables the values that they have after loading. (LDS and scratch memory are empty at each
        launch.)"""

    def apart(self, module: int) -> AbstractContextManager[None]:
        """For launches in the block, nothing is there of what was allocated before it, or freed, nor of other modules'
        variables."""

    def find_allocation(self, address: int) -> AllocationNote | None:
        """The allocation that holds or is nearest to an address."""

    def counter_kinds(self, arch: str) -> Mapping[str, str]:
        """How each counter of an architecture comes about that a virtual device counts: by name "exact", "modelled"
        (from caches or time) or "assumed" (what hardware counts is not public in this detail)."""

    def part(self, launch: Launch, instructions: Sequence[InstructionCost], accesses: Sequence[AccessCost]) -> Launch:
        """What some instructions of a profiled launch account for, as a record: the counters that instructions have (no
        waves, clocks or lines written back); none of a launch that hardware measured."""

    def fidelity(self, assembly: str, symbol: str, *, arch: str, name: str, sources: Mapping[str, str]) -> Fidelity:
        """How exactly a virtual device executes a kernel.

        Args:
            assembly: the text of the code object. symbol: the kernel's. name: what the record calls it.
            sources: source text by file name.

        Raises:
            UnsupportedInstruction: an instruction or an architecture that virtual devices do not execute.
        """


class Member(Protocol):
    """How the registry reaches a provider: a module with these, named in `registry.MEMBERS`; TITLE is its name in
    sentences."""

    TITLE: str

    def present(self) -> tuple[bool, str]:
        """Whether there is a device to use, and one sentence on what was found. Asked once per process; loads nothing
        that could end the process."""

    def open_provider(self) -> Provider:
        """The provider. Asked once, if it is `present`."""
