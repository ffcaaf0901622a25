"""`Runtime`: the context, and upon it memory, streams, modules and linked programs; what HIP's calls are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpulab.virtual_gpu.runtime.between import Between
from gpulab.virtual_gpu.runtime.capture import Captures
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import Device
from gpulab.virtual_gpu.runtime.graphs import Graphs
from gpulab.virtual_gpu.runtime.linked import Linked
from gpulab.virtual_gpu.runtime.mappings import Mappings
from gpulab.virtual_gpu.runtime.memory import Memory
from gpulab.virtual_gpu.runtime.modules import Modules, Triple
from gpulab.virtual_gpu.runtime.pools import Pools
from gpulab.virtual_gpu.runtime.streams import Streams
from gpulab.virtual_gpu.runtime.textures import Textures

if TYPE_CHECKING:
    from gpulab.architectures.residency import Occupancy
    from gpulab.records import LastWriters, Launch, Trace
    from gpulab.virtual_gpu.machine.arena import Arena
    from gpulab.virtual_gpu.machine.device import VirtualDevice


class Runtime(Context):
    """All of HIP's state on the virtual devices of this process."""

    def __init__(
        self,
        names: str | None = None,
        arena: Arena | None = None,
        machine_type: type[VirtualDevice] | None = None,
    ) -> None:
        super().__init__(names, arena, machine_type)
        self.streams: Streams = Streams(self)
        self.memory: Memory = Memory(self, self.streams)
        self.textures: Textures = Textures(self, self.memory)
        self.pools: Pools = Pools(self, self.memory)
        self.mappings: Mappings = Mappings(self, self.memory)
        self.between: Between = Between(self, self.memory, self.pools)
        self.modules: Modules = Modules(self, self.memory, self.streams)
        self.linked: Linked = Linked(self, self.memory, self.modules)
        self.graphs: Graphs = Graphs(self, self.memory, self.streams, self.modules)
        self.captures: Captures = Captures(self, self.streams, self.graphs)

    def reset(self, device: Device) -> None:
        """hipDeviceReset: everything that belongs to the device is gone."""
        with self.lock:
            self.graphs.reset(device)
            self.modules.reset(device)
            self.textures.reset(device)
            self.mappings.reset(device)
            self.memory.reset(device)
            self.pools.reset(device)
            self.streams.reset(device)
            device.forget()
            self.flush_printed(device)

    # What is asked for beside C calls

    def surface_now(self) -> int:
        """`surface` of the current device; the host does not wait: modelled time goes on as if nobody had asked."""
        return self.surface(self.current)

    def hardware_occupancy(self, function: int, block_threads: int, dynamic_lds: int) -> Occupancy:
        """What the hardware holds of a kernel at a time."""
        return self.modules.hardware_occupancy(function, block_threads, dynamic_lds)

    def launch_traced(
        self,
        function: int,
        grid: Triple,
        block: Triple,
        lds: int,
        kernarg: bytes,
        workgroup: Sequence[int] | int = 0,
        wave: int = 0,
    ) -> tuple[Launch, Trace]:
        """Run a kernel and record one wave; `workgroup` is its number or its (x, y, z).

        Raises:
            LaunchLimitError: sizes that the device does not allow, no such workgroup or wave.
        """
        return self.modules.launch_traced(function, grid, block, lds, kernarg, workgroup, wave)

    def last_writers(self, address: int, size: int, count: int) -> LastWriters:
        """Who last changed each of `count` elements of `size` bytes, in the current device's last checked launch."""
        return self.current.machine.last_writers(address, size, count)
