"""HIP's graphs: `Graphs` has all `Graph`s, their `Node`s and the `Executable`s that were made of them, by handle.

A node has a `Work` (graph_works.py): what it does when the graph is launched. A launch runs the nodes in an order that
keeps to their dependencies. In modelled time a node starts when those that it depends on have ended, so that branches
run at the same time; each branch beyond the first has a row of its own in a timeline. A kernel's launch costs less than
outside of a graph (`Architecture.graph_saving_us`).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.context import Context
from gpulab.virtual_gpu.runtime.device import NON_BLOCKING, Device, Stream
from gpulab.virtual_gpu.runtime.graph_works import (
    GRAPH,
    KERNEL,
    NAMES,
    TOPOLOGY_CHANGED,
    TYPE_CHANGED,
    UPDATED,
    AllocateWork,
    FreeWork,
    GraphMemory,
    Work,
    call_host,
)
from gpulab.virtual_gpu.runtime.memory import Memory
from gpulab.virtual_gpu.runtime.modules import Modules
from gpulab.virtual_gpu.runtime.moments import Moment, latest
from gpulab.virtual_gpu.runtime.streams import Streams

AUTO_FREE_ON_LAUNCH = 1  # hipGraphInstantiateFlagAutoFreeOnLaunch


@dataclass(frozen=True)
class ChildWork(Work):
    """A graph in a graph: the node's own clone of it."""

    graph: Graph
    kind: ClassVar[int] = GRAPH

    def update(self, new: Work) -> int:
        if not isinstance(new, ChildWork):
            return TYPE_CHANGED
        return compare(self.graph, new.graph)[0]


class Node:
    """A node of a graph. Its clones have the same `number`, and other handles; a disabled one does nothing."""

    __slots__ = ("buffers", "dependencies", "dependents", "enabled", "graph", "handle", "number", "work")

    def __init__(self, handle: int, number: int, graph: Graph, work: Work) -> None:
        self.handle, self.number, self.graph, self.work = handle, number, graph, work
        self.dependencies: list[Node] = []
        self.dependents: list[Node] = []
        self.enabled = True
        self.buffers: list[object] = []  # what the program was given addresses in

    @property
    def kind(self) -> int:
        return self.work.kind


class Graph:
    """Nodes in the order in which they were added. `original` is the graph that this one is a clone of."""

    __slots__ = (
        "by_hand", "device", "handle", "instantiated", "is_child", "nodes", "original", "owned", "references"
    )  # fmt: skip

    def __init__(self, handle: int, device: Device, original: Graph | None = None, is_child: bool = False) -> None:
        self.handle, self.device, self.original, self.is_child = handle, device, original, is_child
        self.nodes: list[Node] = []
        self.references: dict[UserObject, int] = {}
        self.owned: list[GraphMemory] = []
        self.instantiated = False
        self.by_hand: set[Node] = set()  # nodes that were there before, or added during, a capture into this graph

    def order(self) -> list[Node]:
        """The nodes so that each comes after what it depends on, else as they were added.

        Raises:
            Failure: hipErrorInvalidValue: they depend on each other in a circle.
        """
        place = {node: index for index, node in enumerate(self.nodes)}
        open_ = {node: len(node.dependencies) for node in self.nodes}
        ready = [place[node] for node in self.nodes if not open_[node]]
        heapq.heapify(ready)
        found = []
        while ready:
            node = self.nodes[heapq.heappop(ready)]
            found.append(node)
            for after in node.dependents:
                open_[after] -= 1
                if not open_[after]:
                    heapq.heappush(ready, place[after])
        if len(found) != len(self.nodes):
            raise Failure(codes.INVALID_VALUE, "nodes of the graph depend on each other in a circle")
        return found

    def edges(self) -> list[tuple[Node, Node]]:
        return [(node, after) for node in self.nodes for after in node.dependents]

    def roots(self) -> list[Node]:
        return [node for node in self.nodes if not node.dependencies]

    def leaves(self) -> list[Node]:
        return [node for node in self.nodes if not node.dependents]


class Executable:
    """An instantiated graph (hipGraphExec_t): a clone, whose nodes are found by the numbers of the original's."""

    __slots__ = ("by_number", "flags", "graph", "handle", "order")

    def __init__(self, handle: int, graph: Graph, flags: int) -> None:
        self.handle, self.graph, self.flags = handle, graph, flags
        self.order = graph.order()
        self.by_number = {node.number: node for node in graph.nodes}

    def node(self, original: Node) -> Node:
        """The node that stands for one of the original graph.

        Raises:
            Failure: hipErrorInvalidValue: it has none.
        """
        found = self.by_number.get(original.number)
        if found is None:
            raise Failure(codes.INVALID_VALUE, "the executable graph was not made of this node's graph")
        return found


class UserObject:
    """What a program wants to have destroyed with a graph: `count` references, then `destroy(pointer)` is called."""

    __slots__ = ("count", "destroy", "handle", "pointer")

    def __init__(self, handle: int, pointer: int, destroy: int, count: int) -> None:
        self.handle, self.pointer, self.destroy, self.count = handle, pointer, destroy, count


def compare(old: Graph, new: Graph) -> tuple[int, Node | None]:
    """Whether the works of `new` may replace those of `old`: (hipGraphExecUpdateResult, a node that differs)."""
    before, after = old.order(), new.order()
    if len(before) != len(after):
        return TOPOLOGY_CHANGED, None
    places = {node: place for place, node in enumerate(before)}
    others = {node: place for place, node in enumerate(after)}
    for mine, theirs in zip(before, after, strict=True):
        if mine.kind != theirs.kind:
            return TYPE_CHANGED, theirs
        if {places[node] for node in mine.dependencies} != {others[node] for node in theirs.dependencies}:
            return TOPOLOGY_CHANGED, theirs
        result = mine.work.update(theirs.work)
        if result != UPDATED:
            return result, theirs
    return UPDATED, None


class _Rows:
    """The streams of one launch: the first is the launch's own; a branch that is open at the same time has another."""

    def __init__(self, graphs: Graphs, stream: Stream, number: int) -> None:
        self._graphs, self._stream, self._number = graphs, stream, number
        self._rows: list[tuple[Stream, Node | None]] = []

    def take(self, node: Node, after: Iterable[Node]) -> Stream:
        """The stream for a node: that of a node before it if nothing followed there yet, else a new one."""
        waits = set(after)
        for place, (stream, last) in enumerate(self._rows):
            if last in waits:
                self._rows[place] = stream, node
                return stream
        stream = self._graphs.row(self._stream, len(self._rows), self._number)
        self._rows.append((stream, node))
        return stream

    def ended(self, node: Node, instead: Iterable[Node]) -> None:
        """What comes after `node` continues where one of `instead` was the last."""
        nodes = set(instead)
        for place, (stream, last) in enumerate(self._rows):
            if last in nodes:
                self._rows[place] = stream, node
                return


class Graphs:
    """All graphs, nodes, executables and user objects by handle."""

    def __init__(self, context: Context, memory: Memory, streams: Streams, modules: Modules) -> None:
        self._context = context
        self.memory, self.streams, self.modules = memory, streams, modules
        self._handles = itertools.count(0x9_0000_0010, 16)
        self._numbers = itertools.count(1)
        self._launches = itertools.count(1)
        self._graphs: dict[int, Graph] = {}
        self._nodes: dict[int, Node] = {}
        self._executables: dict[int, Executable] = {}
        self._objects: dict[int, UserObject] = {}
        self._rows: dict[int, list[int]] = {}
        self.high_bytes: dict[int, int] = {}
        self.high_reserved: dict[int, int] = {}

    # Finding

    def graph(self, handle: int, otherwise: int = codes.INVALID_VALUE) -> Graph:
        """The graph of a handle.

        Raises:
            Failure: with code `otherwise`.
        """
        found = self._graphs.get(handle)
        if found is None:
            raise Failure(otherwise)
        return found

    def node(self, handle: int, kind: int | None = None) -> Node:
        """The node of a handle.

        Raises:
            Failure: hipErrorInvalidValue: there is none, or it is of another kind than `kind`.
        """
        found = self._nodes.get(handle)
        if found is None:
            raise Failure(codes.INVALID_VALUE)
        if kind is not None and found.kind != kind:
            raise Failure(codes.INVALID_VALUE, f"this is a node of the kind {NAMES[found.kind]!r}, not {NAMES[kind]!r}")
        return found

    def executable(self, handle: int) -> Executable:
        found = self._executables.get(handle)
        if found is None:
            raise Failure(codes.INVALID_VALUE)
        return found

    # Construction

    def create(self, device: Device | None = None, original: Graph | None = None, is_child: bool = False) -> Graph:
        graph = Graph(next(self._handles), device or self._context.current, original, is_child)
        self._graphs[graph.handle] = graph
        return graph

    def add(self, graph: Graph, work: Work, dependencies: Sequence[Node], number: int = 0) -> Node:
        """A new node.

        Raises:
            Failure: hipErrorInvalidValue: a dependency of another graph, or twice the same.
        """
        if any(node.graph is not graph for node in dependencies) or len(set(dependencies)) != len(dependencies):
            raise Failure(codes.INVALID_VALUE, "dependencies are nodes of the same graph, each once")
        node = Node(next(self._handles), number or next(self._numbers), graph, work)
        graph.nodes.append(node)
        self._nodes[node.handle] = node
        for before in dependencies:
            self.connect(before, node)
        if isinstance(work, AllocateWork | FreeWork) and work.memory not in graph.owned:
            graph.owned.append(work.memory)
            work.memory.owners += 1
        return node

    @staticmethod
    def connect(before: Node, after: Node) -> None:
        before.dependents.append(after)
        after.dependencies.append(before)

    @staticmethod
    def disconnect(before: Node, after: Node) -> None:
        before.dependents.remove(after)
        after.dependencies.remove(before)

    def remove(self, node: Node) -> None:
        """hipGraphDestroyNode."""
        for before in list(node.dependencies):
            self.disconnect(before, node)
        for after in list(node.dependents):
            self.disconnect(node, after)
        node.graph.nodes.remove(node)
        node.graph.by_hand.discard(node)
        self._forget(node)

    def _forget(self, node: Node) -> None:
        self._nodes.pop(node.handle, None)
        if isinstance(node.work, ChildWork):
            self.destroy(node.work.graph)

    def clone(self, graph: Graph, is_child: bool = False) -> Graph:
        """A graph of the same nodes and edges; it has the same user objects and memory, too."""
        found = self.create(graph.device, graph, is_child)
        copies = {node: self.add(found, self._cloned(node.work), (), number=node.number) for node in graph.nodes}
        for node, copy in copies.items():
            copy.enabled = node.enabled
            copy.dependencies = [copies[before] for before in node.dependencies]
            copy.dependents = [copies[after] for after in node.dependents]
        for object_, count in graph.references.items():
            self.retain(found, object_, count, moved=False)
        return found

    def _cloned(self, work: Work) -> Work:
        """The work of a clone of its node: a child has a graph of its own."""
        return ChildWork(self.clone(work.graph, is_child=True)) if isinstance(work, ChildWork) else work

    def destroy(self, graph: Graph) -> None:
        """hipGraphDestroy."""
        self._graphs.pop(graph.handle, None)
        for node in graph.nodes:
            self._forget(node)
        for memory in graph.owned:
            memory.disown()
        for object_, count in list(graph.references.items()):
            self.release_from(graph, object_, count)

    def instantiate(self, graph: Graph, flags: int) -> Executable:
        """An executable of a graph as it is now.

        Raises:
            Failure: hipErrorInvalidValue: a circle; hipErrorNotSupported: a second one of a graph that allocates.
        """
        graph.order()
        if graph.instantiated and graph.owned:
            raise Failure(codes.NOT_SUPPORTED, "a graph that allocates memory can be instantiated once")
        executable = Executable(next(self._handles), self.clone(graph), flags)
        graph.instantiated = True
        self._graphs.pop(executable.graph.handle)  # nobody can name it
        self._executables[executable.handle] = executable
        return executable

    def destroy_executable(self, handle: int) -> None:
        executable = self.executable(handle)
        del self._executables[handle]
        self.destroy(executable.graph)

    def change(self, node: Node, work: Work) -> None:
        """Give a node other parameters.

        Raises:
            Failure: HIP's code for those that make no sense.
        """
        work.check(self)
        old = node.work
        node.work = work
        if isinstance(old, ChildWork):
            self.destroy(old.graph)

    def update(self, executable: Executable, graph: Graph) -> tuple[int, Node | None]:
        """hipGraphExecUpdate: (hipGraphExecUpdateResult, the first node that differs); all nodes change, or none."""
        result, node = compare(executable.graph, graph)
        if result == UPDATED:
            for mine, theirs in zip(executable.order, graph.order(), strict=True):
                self.change(mine, self._cloned(theirs.work))
        return result, node

    # Launches

    def row(self, stream: Stream, place: int, number_of_launch: int) -> Stream:
        """What orders a branch of a graph: the stream that the graph was launched into, or a row of its own."""
        number = stream.number
        if place:
            numbers = self._rows.setdefault(stream.device.index, [])
            while len(numbers) < place:
                numbers.append(self.streams.new_number())
            number = numbers[place - 1]
        found = Stream(stream.handle, stream.device, NON_BLOCKING, stream.priority, number)
        found.in_graph = number_of_launch
        return found

    def launch(self, executable: Executable, stream: Stream) -> None:
        """Run an executable's nodes; work that the stream gets later starts after all of them."""
        if executable.flags & AUTO_FREE_ON_LAUNCH:
            for memory in executable.graph.owned:
                memory.live = False
        begin = self.streams.ready(stream)
        ends = self._run(executable.order, (), begin, _Rows(self, stream, next(self._launches)))
        stream.last = latest(begin, *ends)

    def _run(self, order: Sequence[Node], after: tuple[Node, ...], begin: Moment, rows: _Rows) -> list[Moment]:
        """Run nodes; their ends. Those without dependencies start at `begin`, in the row of `after`."""
        ends: dict[Node, Moment] = {}
        for node in order:
            start = latest(*(ends[before] for before in node.dependencies)) if node.dependencies else begin
            row = rows.take(node, node.dependencies or after)
            row.last = start
            if isinstance(node.work, ChildWork):
                child = node.work.graph
                ends[node] = latest(start, *self._run(child.order(), (node,), start, rows))
                rows.ended(node, [node, *child.leaves()])
                continue
            if node.enabled:
                host = self.streams.host
                node.work.run(self, row)
                self.streams.host = host  # it waits for no copy within a graph
            ends[node] = row.last
        return list(ends.values())

    # Memory

    def allocate(self, size: int, device: Device) -> GraphMemory:
        """Memory for an allocation node.

        Raises:
            Failure: hipErrorOutOfMemory.
        """
        address = self.memory.allocate(size, "device", device=device)
        found = GraphMemory(self.memory, self.memory.blocks[address])
        self.count_memory()
        return found

    def graph_memory(self, address: int) -> GraphMemory | None:
        """The memory of an allocation node at this address."""
        block = self.memory.blocks.get(address)
        holder = block.holder if block is not None else None
        return holder if isinstance(holder, GraphMemory) else None

    def memory_in_use(self, device: Device) -> tuple[int, int]:
        """(bytes that are allocated, bytes that are held) of a device's allocation nodes."""
        held = [
            (block.size, block.holder.live)
            for block in self.memory.blocks.values()
            if isinstance(block.holder, GraphMemory) and block.device is device
        ]
        return sum(size for size, live in held if live), sum(size for size, _ in held)

    def count_memory(self) -> None:
        """Keep the high-water marks."""
        for device in self._context.devices:
            used, reserved = self.memory_in_use(device)
            self.high_bytes[device.index] = max(self.high_bytes.get(device.index, 0), used)
            self.high_reserved[device.index] = max(self.high_reserved.get(device.index, 0), reserved)

    # User objects

    def create_object(self, pointer: int, destroy: int, count: int) -> UserObject:
        found = UserObject(next(self._handles), pointer, destroy, count)
        self._objects[found.handle] = found
        return found

    def object(self, handle: int) -> UserObject | None:
        return self._objects.get(handle)

    def retain(self, graph: Graph, object_: UserObject, count: int, moved: bool) -> None:
        """Give references to a graph: the caller's own if `moved`, else new ones."""
        if not moved:
            object_.count += count
        graph.references[object_] = graph.references.get(object_, 0) + count

    def release(self, object_: UserObject, count: int) -> None:
        """Take references away; the last one destroys the object."""
        object_.count -= min(count, object_.count)
        if not object_.count and self._objects.pop(object_.handle, None) is not None:
            call_host(object_.destroy, object_.pointer)

    def release_from(self, graph: Graph, object_: UserObject, count: int) -> None:
        """Take references of a graph away."""
        count = min(count, graph.references.get(object_, 0))
        graph.references[object_] = graph.references.get(object_, 0) - count
        if not graph.references[object_]:
            del graph.references[object_]
        if count:
            self.release(object_, count)

    # Others

    def reset(self, device: Device) -> None:
        """hipDeviceReset."""
        for executable in list(self._executables.values()):
            if executable.graph.device is device:
                self.destroy_executable(executable.handle)
        for graph in list(self._graphs.values()):
            if graph.device is device and not graph.is_child:
                self.destroy(graph)

    def dot(self, graph: Graph, verbose: bool) -> str:
        """The graph for Graphviz; `verbose`: with parameters."""
        lines = ["digraph dot {"]
        self._dot(graph, lines, verbose)
        return "\n".join([*lines, "}", ""])

    def _dot(self, graph: Graph, lines: list[str], verbose: bool) -> None:
        lines += [f"subgraph cluster_{graph.handle:x} {{", 'label="graph"; graph[style="dashed"];']
        for place, node in enumerate(graph.nodes):
            words = node.work.words()
            shown = words if verbose else words[:1] if node.kind == KERNEL else []
            label = "\\n".join([f"{place}: {NAMES[node.kind]}", *shown]).replace('"', "'")
            shape = "octagon" if node.kind == KERNEL else "rectangle"
            lines.append(f'"n{node.handle:x}" [shape="{shape}", label="{label}"];')
        lines += [f'"n{before.handle:x}" -> "n{after.handle:x}";' for before, after in graph.edges()]
        lines.append("}")
        for node in graph.nodes:
            if isinstance(node.work, ChildWork):
                self._dot(node.work.graph, lines, verbose)
