"""HIP's calls on graphs: nodes and their parameters, executable graphs, launches, user objects.

A call's name says of which node it reads or sets what: a graph's (hipGraphKernelNodeSetParams) or the one that stands
for it in an executable graph (hipGraphExecKernelNodeSetParams). Source: HIP's reference of the graph calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from gpulab.virtual_gpu.libraries.hip import streams as stream_calls
from gpulab.virtual_gpu.libraries.hip.capture import nodes
from gpulab.virtual_gpu.libraries.hip.memory import array_rows
from gpulab.virtual_gpu.libraries.hip.modules import host_function, symbol_bytes
from gpulab.virtual_gpu.libraries.values import get64, need, put32, put64, rt, text
from gpulab.virtual_gpu.runtime import codes
from gpulab.virtual_gpu.runtime import graph_works as w
from gpulab.virtual_gpu.runtime import graphs as g
from gpulab.virtual_gpu.runtime.codes import Failure
from gpulab.virtual_gpu.runtime.graph_structures import (
    BatchMemOpNodeParams,
    GraphNodeParams,
    HostNodeParams,
    InstantiateParams,
    KernelNodeParams,
    MemAllocNodeParams,
    MemsetParams,
    StreamMemoryOperation,
)
from gpulab.virtual_gpu.runtime.structures import (
    ATTRIBUTE_COOPERATIVE,
    DriverMemcpy3D,
    Memcpy3D,
)

_graphs, _streams, _modules, _captures = rt.graphs, rt.streams, rt.modules, rt.captures

#: hipGraphInstantiateFlags: free automatically, upload, launch from the device, priorities of nodes.
_FLAGS = (0, 1, 2, 4, 8)
_PINNED, _ON_DEVICE = 1, 1  # hipMemAllocationTypePinned, hipMemLocationTypeDevice
_TO_DEVICE, _TO_HOST = (1, 3, 4, 1024), (2, 3, 4, 1024)  # hipMemcpyKind of copies to and from variables
_MOST = (1 << 31) - 1
_MOST_LISTED = 1 << 20  # places of an array of nodes that anybody has
_ACCESS_POLICY, _PRIORITY = 1, 8  # hipLaunchAttributeAccessPolicyWindow, hipLaunchAttributePriority


# What calls give, as works


def _kernel_work(parameters: int) -> w.KernelWork:
    need(parameters)
    p = KernelNodeParams.from_address(parameters)
    if not p.func:
        raise Failure(codes.INVALID_VALUE)
    function = _modules.functions[host_function(p.func)]
    if p.extra:
        if p.kernelParams:
            raise Failure(codes.INVALID_VALUE, "a node takes its arguments as kernelParams or as extra, not as both")
        kernarg = _modules.unpack_extra(function, p.extra)
    else:
        kernarg = _modules.pack(function, p.kernelParams or 0)
    grid, block = p.gridDim, p.blockDim
    return w.KernelWork(
        p.func, function, (grid.x, grid.y, grid.z), (block.x, block.y, block.z), p.sharedMemBytes, kernarg
    )


def _copy_work(parameters: int) -> w.CopyWork:
    need(parameters)
    p = Memcpy3D.from_address(parameters)
    if not p.srcArray and not p.dstArray:
        return w.CopyWork.of(p)
    need(p.extent.width)
    source, target, extent = array_rows(p)
    rows = w.CopyWork.of_rows(*target, *source, extent, p.kind)
    return w.CopyWork(bytes(p), rows.bytes_of_parameters)


def _copy_1d(target: int, source: int, count: int, kind: int) -> w.CopyWork:
    need(target, source, count)
    return w.CopyWork.of_bytes(target, source, count, kind)


def _copy_to_symbol(symbol: int, source: int, count: int, offset: int, kind: int) -> w.CopyWork:
    need(source, count)
    if kind not in _TO_DEVICE:
        raise Failure(codes.INVALID_COPY_DIRECTION)
    return w.CopyWork.of_bytes(symbol_bytes(symbol, count, offset), source, count, kind)


def _copy_from_symbol(target: int, symbol: int, count: int, offset: int, kind: int) -> w.CopyWork:
    need(target, count)
    if kind not in _TO_HOST:
        raise Failure(codes.INVALID_COPY_DIRECTION)
    return w.CopyWork.of_bytes(target, symbol_bytes(symbol, count, offset), count, kind)


def _driver_copy_work(parameters: int) -> w.CopyWork:
    """A copy that HIP_MEMCPY3D describes."""
    need(parameters)
    p = DriverMemcpy3D.from_address(parameters)
    if p.srcArray or p.dstArray:
        raise Failure(
            codes.NOT_SUPPORTED, "a driver's node copies from or to no hipArray here: hipGraphAddMemcpyNode does it"
        )
    sides = []
    for memory_type, host, device in (
        (p.srcMemoryType, p.srcHost, p.srcDevice),
        (p.dstMemoryType, p.dstHost, p.dstDevice),
    ):
        address = host if memory_type == 1 else device or host
        if memory_type not in (1, 2, 3, 11) or not address:
            raise Failure(codes.INVALID_VALUE)
        sides.append((address, memory_type == 1))
    (source, from_host), (target, to_host) = sides
    source_pitch, target_pitch = p.srcPitch or p.WidthInBytes, p.dstPitch or p.WidthInBytes
    source_rows, target_rows = p.srcHeight or p.Height, p.dstHeight or p.Height
    return w.CopyWork.of_rows(
        target + (p.dstZ * target_rows + p.dstY) * target_pitch + p.dstXInBytes,
        target_pitch,
        target_rows,
        source + (p.srcZ * source_rows + p.srcY) * source_pitch + p.srcXInBytes,
        source_pitch,
        source_rows,
        (p.WidthInBytes, p.Height, p.Depth),
        (0 if to_host else 1) if from_host else (2 if to_host else 3),
    )


def _fill_work(parameters: int) -> w.FillWork:
    need(parameters)
    p = MemsetParams.from_address(parameters)
    return w.FillWork(p.dst or 0, p.elementSize, p.value, p.width, p.height, p.pitch)


def _host_work(parameters: int) -> w.HostWork:
    need(parameters)
    p = HostNodeParams.from_address(parameters)
    return w.HostWork(p.fn or 0, p.userData or 0)


def _child_work(graph: int) -> g.ChildWork:
    return g.ChildWork(_graphs.clone(_graphs.graph(graph), is_child=True))


def _allocate_work(parameters: int) -> w.AllocateWork:
    """An allocation; its address is written into the parameters."""
    need(parameters)
    p = MemAllocNodeParams.from_address(parameters)
    p.dptr = None
    location = p.poolProps.location
    if not p.bytesize or p.poolProps.allocType != _PINNED or location.type != _ON_DEVICE:
        raise Failure(codes.INVALID_VALUE)
    if not 0 <= location.id < len(rt.devices):
        raise Failure(codes.INVALID_VALUE)
    memory = _graphs.allocate(p.bytesize, rt.devices[location.id])
    p.dptr = memory.block.address
    return w.AllocateWork(memory, bytes(p))


def _free_work(address: int) -> w.FreeWork:
    memory = _graphs.graph_memory(address)
    if memory is None or memory.has_free_node:
        raise Failure(codes.INVALID_VALUE, "a node frees what an allocation node has allocated, and only one does")
    memory.has_free_node = True
    return w.FreeWork(memory)


def _operations_work(parameters: int) -> w.MemoryOperationsWork:
    need(parameters)
    p = BatchMemOpNodeParams.from_address(parameters)
    if not p.count or not p.paramArray or p.flags:
        raise Failure(codes.INVALID_VALUE)
    operations = ctypes.string_at(p.paramArray, p.count * ctypes.sizeof(StreamMemoryOperation))
    return w.MemoryOperationsWork(p.ctx or 0, operations, p.flags, stream_calls.perform_operations)


def _any_work(parameters: int) -> w.Work:
    """What hipGraphNodeParams describe."""
    need(parameters)
    p = GraphNodeParams.from_address(parameters)
    at = parameters + GraphNodeParams.of.offset
    makers: dict[int, Callable[[], w.Work]] = {
        w.KERNEL: lambda: _kernel_work(at),
        w.MEMCPY: lambda: _copy_work(ctypes.addressof(p.memcpy.copyParams)),
        w.MEMSET: lambda: _fill_work(at),
        w.HOST: lambda: _host_work(at),
        w.GRAPH: lambda: _child_work(p.graph or 0),
        w.EMPTY: w.EmptyWork,
        w.WAIT_EVENT: lambda: w.WaitWork(p.event or 0),
        w.EVENT_RECORD: lambda: w.EventWork(p.event or 0),
        w.MEM_ALLOC: lambda: _allocate_work(at),
        w.MEM_FREE: lambda: _free_work(p.dptr or 0),
    }
    if p.type in (8, 9):
        raise Failure(
            codes.NOT_SUPPORTED, "nodes of external semaphores are not supported: there is no other interface"
        )
    if p.type not in makers:
        raise Failure(
            codes.NOT_SUPPORTED,
            f"there is no node of type {p.type}; HIP has no conditional nodes: decide on the host, or in the kernel",
        )
    return makers[p.type]()


# Nodes


def _add(node: int, graph: int, dependencies: int, count: int, make: Callable[[], w.Work]) -> int:
    """Add a node to a graph, with what `make` makes once the other arguments are known to be right."""
    need(node)
    into = _graphs.graph(graph)
    after = nodes(dependencies, count)
    if any(each.graph is not into for each in after):
        return codes.INVALID_VALUE
    work = make()
    work.check(_graphs)
    added = _graphs.add(into, work, after)
    if _captures.is_captured_into(into):
        into.by_hand.add(added)
    put64(node, added.handle)
    return 0


def hipGraphAddKernelNode(node: int, graph: int, dependencies: int, count: int, parameters: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _kernel_work(parameters))


def hipGraphAddMemcpyNode(node: int, graph: int, dependencies: int, count: int, parameters: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _copy_work(parameters))


def hipDrvGraphAddMemcpyNode(
    node: int, graph: int, dependencies: int, count: int, parameters: int, context: int
) -> int:
    need(context)
    return _add(node, graph, dependencies, count, lambda: _driver_copy_work(parameters))


def hipGraphAddMemcpyNode1D(
    node: int, graph: int, dependencies: int, count: int, target: int, source: int, size: int, kind: int
) -> int:
    return _add(node, graph, dependencies, count, lambda: _copy_1d(target, source, size, kind))


def hipGraphAddMemcpyNodeToSymbol(
    node: int,
    graph: int,
    dependencies: int,
    count: int,
    symbol: int,
    source: int,
    size: int,
    offset: int,
    kind: int,
) -> int:
    return _add(node, graph, dependencies, count, lambda: _copy_to_symbol(symbol, source, size, offset, kind))


def hipGraphAddMemcpyNodeFromSymbol(
    node: int,
    graph: int,
    dependencies: int,
    count: int,
    target: int,
    symbol: int,
    size: int,
    offset: int,
    kind: int,
) -> int:
    return _add(node, graph, dependencies, count, lambda: _copy_from_symbol(target, symbol, size, offset, kind))


def hipGraphAddMemsetNode(node: int, graph: int, dependencies: int, count: int, parameters: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _fill_work(parameters))


def hipDrvGraphAddMemsetNode(
    node: int, graph: int, dependencies: int, count: int, parameters: int, context: int
) -> int:
    return hipGraphAddMemsetNode(node, graph, dependencies, count, parameters)


def hipGraphAddHostNode(node: int, graph: int, dependencies: int, count: int, parameters: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _host_work(parameters))


def hipGraphAddChildGraphNode(node: int, graph: int, dependencies: int, count: int, child: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _child_work(child))


def hipGraphAddEmptyNode(node: int, graph: int, dependencies: int, count: int) -> int:
    return _add(node, graph, dependencies, count, w.EmptyWork)


def hipGraphAddEventRecordNode(node: int, graph: int, dependencies: int, count: int, event: int) -> int:
    return _add(node, graph, dependencies, count, lambda: w.EventWork(event))


def hipGraphAddEventWaitNode(node: int, graph: int, dependencies: int, count: int, event: int) -> int:
    return _add(node, graph, dependencies, count, lambda: w.WaitWork(event))


def hipGraphAddMemAllocNode(node: int, graph: int, dependencies: int, count: int, parameters: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _allocate_work(parameters))


def hipGraphAddMemFreeNode(node: int, graph: int, dependencies: int, count: int, address: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _free_work(address))


def hipDrvGraphAddMemFreeNode(node: int, graph: int, dependencies: int, count: int, address: int) -> int:
    return hipGraphAddMemFreeNode(node, graph, dependencies, count, address)


def hipGraphAddBatchMemOpNode(node: int, graph: int, dependencies: int, count: int, parameters: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _operations_work(parameters))


def hipGraphAddNode(node: int, graph: int, dependencies: int, count: int, parameters: int) -> int:
    return _add(node, graph, dependencies, count, lambda: _any_work(parameters))


# Parameters of nodes


def _set(node: int, kind: int, make: Callable[[], w.Work]) -> int:
    found = _graphs.node(node, kind)
    _graphs.change(found, make())
    return 0


def _set_in(executable: int, node: int, kind: int, make: Callable[[], w.Work]) -> int:
    """Set what an executable's node does, as far as an executable may be changed."""
    original = _graphs.node(node, kind)
    found = _graphs.executable(executable).node(original)
    work = make()
    if found.work.update(work) != w.UPDATED:
        raise Failure(codes.INVALID_VALUE, "an executable's node keeps its kind, its device and its copy's direction")
    _graphs.change(found, work)
    return 0


def _kept(work: w.KernelWork, old: w.Work) -> w.KernelWork:
    """New parameters of a kernel node, which keeps its attributes."""
    assert isinstance(old, w.KernelWork)
    return w.KernelWork(
        work.symbol, work.function, work.grid, work.block, work.lds, work.kernarg, old.cooperative, old.priority
    )


def hipGraphKernelNodeGetParams(node: int, parameters: int) -> int:
    found = _graphs.node(node, w.KERNEL)
    need(parameters)
    work = found.work
    assert isinstance(work, w.KernelWork)
    values = ctypes.create_string_buffer(work.kernarg, max(len(work.kernarg), 1))
    places = [ctypes.addressof(values) + offset for offset, _ in work.function.arguments]
    addresses = (ctypes.c_void_p * max(len(places), 1))(*places)
    found.buffers = [values, addresses]
    p = KernelNodeParams.from_address(parameters)
    p.func, p.sharedMemBytes, p.extra = work.symbol, work.lds, None
    p.gridDim.x, p.gridDim.y, p.gridDim.z = work.grid
    p.blockDim.x, p.blockDim.y, p.blockDim.z = work.block
    p.kernelParams = ctypes.addressof(addresses) if places else None
    return 0


def hipGraphKernelNodeSetParams(node: int, parameters: int) -> int:
    return _set(node, w.KERNEL, lambda: _kept(_kernel_work(parameters), _graphs.node(node).work))


def hipGraphExecKernelNodeSetParams(executable: int, node: int, parameters: int) -> int:
    return _set_in(executable, node, w.KERNEL, lambda: _kept(_kernel_work(parameters), _graphs.node(node).work))


def hipGraphMemcpyNodeGetParams(node: int, parameters: int) -> int:
    work = _graphs.node(node, w.MEMCPY).work
    need(parameters)
    assert isinstance(work, w.CopyWork)
    ctypes.memmove(parameters, work.bytes_of_parameters, len(work.bytes_of_parameters))
    return 0


def hipGraphMemcpyNodeSetParams(node: int, parameters: int) -> int:
    return _set(node, w.MEMCPY, lambda: _copy_work(parameters))


def hipGraphExecMemcpyNodeSetParams(executable: int, node: int, parameters: int) -> int:
    return _set_in(executable, node, w.MEMCPY, lambda: _copy_work(parameters))


def hipDrvGraphMemcpyNodeGetParams(node: int, parameters: int) -> int:
    work = _graphs.node(node, w.MEMCPY).work
    need(parameters)
    assert isinstance(work, w.CopyWork)
    of, p = work.parameters, DriverMemcpy3D.from_address(parameters)
    ctypes.memset(parameters, 0, ctypes.sizeof(DriverMemcpy3D))
    from_host, to_host = of.kind in (0, 1), of.kind in (0, 2)
    p.srcMemoryType, p.dstMemoryType = 1 if from_host else 2, 1 if to_host else 2
    setattr(p, "srcHost" if from_host else "srcDevice", of.srcPtr.ptr)
    setattr(p, "dstHost" if to_host else "dstDevice", of.dstPtr.ptr)
    p.srcPitch, p.srcHeight, p.dstPitch, p.dstHeight = (
        of.srcPtr.pitch,
        of.srcPtr.ysize,
        of.dstPtr.pitch,
        of.dstPtr.ysize,
    )
    p.srcXInBytes, p.srcY, p.srcZ = of.srcPos.x, of.srcPos.y, of.srcPos.z
    p.dstXInBytes, p.dstY, p.dstZ = of.dstPos.x, of.dstPos.y, of.dstPos.z
    p.WidthInBytes, p.Height, p.Depth = of.extent.width, of.extent.height, of.extent.depth
    return 0


def hipDrvGraphMemcpyNodeSetParams(node: int, parameters: int) -> int:
    return _set(node, w.MEMCPY, lambda: _driver_copy_work(parameters))


def hipDrvGraphExecMemcpyNodeSetParams(executable: int, node: int, parameters: int, context: int) -> int:
    return _set_in(executable, node, w.MEMCPY, lambda: _driver_copy_work(parameters))


def hipGraphMemcpyNodeSetParams1D(node: int, target: int, source: int, size: int, kind: int) -> int:
    if target == source:
        return codes.INVALID_VALUE
    return _set(node, w.MEMCPY, lambda: _copy_1d(target, source, size, kind))


def hipGraphExecMemcpyNodeSetParams1D(
    executable: int, node: int, target: int, source: int, size: int, kind: int
) -> int:
    if target == source:
        return codes.INVALID_VALUE
    return _set_in(executable, node, w.MEMCPY, lambda: _copy_1d(target, source, size, kind))


def hipGraphMemcpyNodeSetParamsToSymbol(node: int, symbol: int, source: int, size: int, offset: int, kind: int) -> int:
    return _set(node, w.MEMCPY, lambda: _copy_to_symbol(symbol, source, size, offset, kind))


def hipGraphExecMemcpyNodeSetParamsToSymbol(
    executable: int, node: int, symbol: int, source: int, size: int, offset: int, kind: int
) -> int:
    return _set_in(executable, node, w.MEMCPY, lambda: _copy_to_symbol(symbol, source, size, offset, kind))


def hipGraphMemcpyNodeSetParamsFromSymbol(
    node: int, target: int, symbol: int, size: int, offset: int, kind: int
) -> int:
    return _set(node, w.MEMCPY, lambda: _copy_from_symbol(target, symbol, size, offset, kind))


def hipGraphExecMemcpyNodeSetParamsFromSymbol(
    executable: int, node: int, target: int, symbol: int, size: int, offset: int, kind: int
) -> int:
    return _set_in(executable, node, w.MEMCPY, lambda: _copy_from_symbol(target, symbol, size, offset, kind))


def hipGraphMemsetNodeGetParams(node: int, parameters: int) -> int:
    work = _graphs.node(node, w.MEMSET).work
    need(parameters)
    assert isinstance(work, w.FillWork)
    p = MemsetParams.from_address(parameters)
    p.dst, p.elementSize, p.value = work.address, work.element, work.value
    p.width, p.height, p.pitch = work.width, work.height, work.pitch
    return 0


def hipGraphMemsetNodeSetParams(node: int, parameters: int) -> int:
    return _set(node, w.MEMSET, lambda: _fill_work(parameters))


def hipGraphExecMemsetNodeSetParams(executable: int, node: int, parameters: int) -> int:
    return _set_in(executable, node, w.MEMSET, lambda: _fill_work(parameters))


def hipDrvGraphExecMemsetNodeSetParams(executable: int, node: int, parameters: int, context: int) -> int:
    return hipGraphExecMemsetNodeSetParams(executable, node, parameters)


def hipGraphHostNodeGetParams(node: int, parameters: int) -> int:
    work = _graphs.node(node, w.HOST).work
    need(parameters)
    assert isinstance(work, w.HostWork)
    p = HostNodeParams.from_address(parameters)
    p.fn, p.userData = work.function, work.data
    return 0


def hipGraphHostNodeSetParams(node: int, parameters: int) -> int:
    return _set(node, w.HOST, lambda: _host_work(parameters))


def hipGraphExecHostNodeSetParams(executable: int, node: int, parameters: int) -> int:
    return _set_in(executable, node, w.HOST, lambda: _host_work(parameters))


def hipGraphChildGraphNodeGetGraph(node: int, graph: int) -> int:
    work = _graphs.node(node, w.GRAPH).work
    need(graph)
    assert isinstance(work, g.ChildWork)
    put64(graph, work.graph.handle)
    return 0


def hipGraphExecChildGraphNodeSetParams(executable: int, node: int, child: int) -> int:
    original = _graphs.node(node, w.GRAPH)
    if _graphs.graph(child) is original.graph:
        return codes.UNKNOWN  # as HIP has it
    return _set_in(executable, node, w.GRAPH, lambda: _child_work(child))


def _event(node: int, kind: int, event: int) -> int:
    work = _graphs.node(node, kind).work
    need(event)
    assert isinstance(work, w.EventWork)
    put64(event, work.event)
    return 0


def hipGraphEventRecordNodeGetEvent(node: int, event: int) -> int:
    return _event(node, w.EVENT_RECORD, event)


def hipGraphEventRecordNodeSetEvent(node: int, event: int) -> int:
    return _set(node, w.EVENT_RECORD, lambda: w.EventWork(event))


def hipGraphExecEventRecordNodeSetEvent(executable: int, node: int, event: int) -> int:
    return _set_in(executable, node, w.EVENT_RECORD, lambda: w.EventWork(event))


def hipGraphEventWaitNodeGetEvent(node: int, event: int) -> int:
    return _event(node, w.WAIT_EVENT, event)


def hipGraphEventWaitNodeSetEvent(node: int, event: int) -> int:
    return _set(node, w.WAIT_EVENT, lambda: w.WaitWork(event))


def hipGraphExecEventWaitNodeSetEvent(executable: int, node: int, event: int) -> int:
    return _set_in(executable, node, w.WAIT_EVENT, lambda: w.WaitWork(event))


def hipGraphMemAllocNodeGetParams(node: int, parameters: int) -> int:
    work = _graphs.node(node, w.MEM_ALLOC).work
    need(parameters)
    assert isinstance(work, w.AllocateWork)
    ctypes.memmove(parameters, work.parameters, len(work.parameters))
    return 0


def hipGraphMemFreeNodeGetParams(node: int, address: int) -> int:
    work = _graphs.node(node, w.MEM_FREE).work
    need(address)
    assert isinstance(work, w.FreeWork)
    put64(address, work.memory.block.address)
    return 0


def hipGraphBatchMemOpNodeGetParams(node: int, parameters: int) -> int:
    found = _graphs.node(node, w.BATCH_MEM_OP)
    need(parameters)
    work = found.work
    assert isinstance(work, w.MemoryOperationsWork)
    shown = ctypes.create_string_buffer(work.operations, len(work.operations))
    found.buffers = [shown]
    p = BatchMemOpNodeParams.from_address(parameters)
    p.ctx, p.flags, p.paramArray = work.context, work.flags, ctypes.addressof(shown)
    p.count = len(work.operations) // ctypes.sizeof(StreamMemoryOperation)
    return 0


def hipGraphBatchMemOpNodeSetParams(node: int, parameters: int) -> int:
    return _set(node, w.BATCH_MEM_OP, lambda: _operations_work(parameters))


def hipGraphExecBatchMemOpNodeSetParams(executable: int, node: int, parameters: int) -> int:
    return _set_in(executable, node, w.BATCH_MEM_OP, lambda: _operations_work(parameters))


def _settable(kind: int) -> None:
    if kind in (w.MEM_ALLOC, w.MEM_FREE):
        raise Failure(codes.NOT_SUPPORTED, "nodes that allocate or free keep their parameters")


def hipGraphNodeSetParams(node: int, parameters: int) -> int:
    found = _graphs.node(node)
    need(parameters)
    _settable(found.kind)
    if GraphNodeParams.from_address(parameters).type != found.kind:
        return codes.INVALID_VALUE
    work = _any_work(parameters)
    _graphs.change(found, _kept(work, found.work) if isinstance(work, w.KernelWork) else work)
    return 0


def hipGraphExecNodeSetParams(executable: int, node: int, parameters: int) -> int:
    found = _graphs.node(node)
    need(parameters)
    _settable(found.kind)
    if GraphNodeParams.from_address(parameters).type != found.kind:
        return codes.INVALID_VALUE
    return _set_in(executable, node, found.kind, lambda: _any_work(parameters))


# Attributes of kernel nodes


def hipGraphKernelNodeSetAttribute(node: int, attribute: int, value: int) -> int:
    need(value)
    work = _graphs.node(node, w.KERNEL).work
    assert isinstance(work, w.KernelWork)
    number = ctypes.c_int32.from_address(value).value
    if attribute == _ACCESS_POLICY:
        raise Failure(
            codes.NOT_SUPPORTED, "the access policy window is not supported: AMD GPUs have no such cache policy"
        )
    if attribute not in (ATTRIBUTE_COOPERATIVE, _PRIORITY):
        return codes.INVALID_VALUE
    cooperative = bool(number) if attribute == ATTRIBUTE_COOPERATIVE else work.cooperative
    priority = number if attribute == _PRIORITY else work.priority
    changed = w.KernelWork(
        work.symbol, work.function, work.grid, work.block, work.lds, work.kernarg, cooperative, priority
    )
    _graphs.change(_graphs.node(node), changed)
    return 0


def hipGraphKernelNodeGetAttribute(node: int, attribute: int, value: int) -> int:
    need(value)
    work = _graphs.node(node, w.KERNEL).work
    assert isinstance(work, w.KernelWork)
    if attribute == _ACCESS_POLICY:
        raise Failure(
            codes.NOT_SUPPORTED, "the access policy window is not supported: AMD GPUs have no such cache policy"
        )
    if attribute not in (ATTRIBUTE_COOPERATIVE, _PRIORITY):
        return codes.INVALID_VALUE
    put32(value, int(work.cooperative) if attribute == ATTRIBUTE_COOPERATIVE else work.priority)
    return 0


def hipGraphKernelNodeCopyAttributes(source: int, target: int) -> int:
    theirs, found = _graphs.node(source, w.KERNEL).work, _graphs.node(target, w.KERNEL)
    assert isinstance(found.work, w.KernelWork)
    _graphs.change(found, _kept(found.work, theirs))
    return 0


# Graphs


def hipGraphCreate(graph: int, flags: int) -> int:
    need(graph)
    if flags:
        return codes.INVALID_VALUE
    put64(graph, _graphs.create().handle)
    return 0


def hipGraphDestroy(graph: int) -> int:
    need(graph)
    found = _graphs.graph(graph, codes.ILLEGAL_STATE)
    if found.is_child:
        raise Failure(codes.INVALID_VALUE, "this graph belongs to a node of another one, and goes with it")
    _graphs.destroy(found)
    return 0


def hipGraphClone(clone: int, graph: int) -> int:
    need(clone)
    found = _graphs.graph(graph)
    if found.owned:
        raise Failure(codes.NOT_SUPPORTED, "a graph that allocates memory cannot be cloned")
    put64(clone, _graphs.clone(found).handle)
    return 0


def hipGraphNodeFindInClone(node: int, original: int, clone: int) -> int:
    need(node)
    wanted, graph = _graphs.node(original), _graphs.graph(clone)
    if graph.original is not wanted.graph:
        return codes.INVALID_VALUE
    for each in graph.nodes:
        if each.number == wanted.number:
            put64(node, each.handle)
            return 0
    return codes.INVALID_VALUE


def hipGraphDestroyNode(node: int) -> int:
    found = _graphs.node(node)
    if found.kind in (w.MEM_ALLOC, w.MEM_FREE):
        raise Failure(codes.NOT_SUPPORTED, "nodes that allocate or free memory stay")
    _graphs.remove(found)
    return 0


def hipGraphNodeGetType(node: int, kind: int) -> int:
    found = _graphs.node(node)
    need(kind)
    put32(kind, found.kind)
    return 0


def _list(found: list[g.Node], handles: int, count: int) -> int:
    """Write handles into an array of `count` places, the rest of them NULL; without one, write how many there are."""
    need(count)
    room = get64(count)
    if not handles:
        put64(count, len(found))
        return 0
    if room > _MOST_LISTED:
        return codes.INVALID_VALUE
    for place in range(room):
        put64(handles + 8 * place, found[place].handle if place < len(found) else 0)
    put64(count, min(room, len(found)))
    return 0


def hipGraphGetNodes(graph: int, handles: int, count: int) -> int:
    return _list(_graphs.graph(graph).order(), handles, count)


def hipGraphGetRootNodes(graph: int, handles: int, count: int) -> int:
    return _list(_graphs.graph(graph).roots(), handles, count)


def hipGraphNodeGetDependencies(node: int, handles: int, count: int) -> int:
    return _list(_graphs.node(node).dependencies, handles, count)


def hipGraphNodeGetDependentNodes(node: int, handles: int, count: int) -> int:
    return _list(_graphs.node(node).dependents, handles, count)


def hipGraphGetEdges(graph: int, before: int, after: int, count: int) -> int:
    edges = _graphs.graph(graph).edges()
    need(count)
    if bool(before) != bool(after):
        return codes.INVALID_VALUE
    room = get64(count)
    code = _list([first for first, _ in edges], before, count)
    if not code and after:
        put64(count, room)
        code = _list([second for _, second in edges], after, count)
    return code


def _pairs(graph: int, before: int, after: int, count: int) -> list[tuple[g.Node, g.Node]]:
    found = _graphs.graph(graph)
    pairs = list(zip(nodes(before, count), nodes(after, count), strict=True))
    if any(first.graph is not found or second.graph is not found or first is second for first, second in pairs):
        raise Failure(codes.INVALID_VALUE)
    return pairs


def hipGraphAddDependencies(graph: int, before: int, after: int, count: int) -> int:
    pairs = _pairs(graph, before, after, count)
    if any(second in first.dependents for first, second in pairs) or len(set(pairs)) != len(pairs):
        return codes.INVALID_VALUE
    for first, second in pairs:
        _graphs.connect(first, second)
    return 0


def hipGraphRemoveDependencies(graph: int, before: int, after: int, count: int) -> int:
    pairs = _pairs(graph, before, after, count)
    if any(second not in first.dependents for first, second in pairs):
        return codes.INVALID_VALUE
    for first, second in pairs:
        _graphs.disconnect(first, second)
    return 0


def hipGraphDebugDotPrint(graph: int, path: int, flags: int) -> int:
    found = _graphs.graph(graph)
    try:
        with open(text(path), "w", encoding="utf-8") as file:
            file.write(_graphs.dot(found, bool(flags)))
    except OSError as error:
        raise Failure(codes.OPERATING_SYSTEM, str(error)) from error
    return 0


# Executable graphs


def hipGraphInstantiate(executable: int, graph: int, error_node: int, log: int, size: int) -> int:
    need(executable)
    put64(executable, _graphs.instantiate(_graphs.graph(graph), 0).handle)
    if error_node:
        put64(error_node, 0)
    if log and size:
        ctypes.c_char.from_address(log).value = b"\0"
    return 0


def hipGraphInstantiateWithFlags(executable: int, graph: int, flags: int) -> int:
    need(executable)
    if flags not in (0, 1, 8):
        return codes.INVALID_VALUE
    put64(executable, _graphs.instantiate(_graphs.graph(graph), flags).handle)
    return 0


def hipGraphInstantiateWithParams(executable: int, graph: int, parameters: int) -> int:
    need(executable, parameters)
    p = InstantiateParams.from_address(parameters)
    p.result_out, p.errNode_out = 1, None  # hipGraphInstantiateError
    if p.flags not in _FLAGS:
        return codes.INVALID_VALUE
    if p.flags == 4:
        p.result_out = 3  # hipGraphInstantiateNodeOperationNotSupported
        raise Failure(codes.NOT_SUPPORTED, "a graph cannot be launched from the device: HIP has no dynamic parallelism")
    found = _graphs.instantiate(_graphs.graph(graph), p.flags)
    put64(executable, found.handle)
    p.result_out = 0
    return hipGraphUpload(found.handle, p.uploadStream or 0) if p.flags == 2 else 0


def hipGraphExecGetFlags(executable: int, flags: int) -> int:
    need(flags)
    put64(flags, _graphs.executable(executable).flags)
    return 0


def hipGraphExecDestroy(executable: int) -> int:
    _graphs.destroy_executable(executable)
    return 0


def hipGraphUpload(executable: int, stream: int) -> int:
    _graphs.executable(executable)
    _streams.find(stream)
    return 0  # there is nothing to prepare


def hipGraphLaunch(executable: int, stream: int) -> int:
    found, where = _graphs.executable(executable), _streams.find(stream)
    if (capture := _captures.of(where)) is not None:
        capture.launch_graph(where, found)
    else:
        _graphs.launch(found, where)
    return 0


def hipGraphExecUpdate(executable: int, graph: int, error_node: int, result: int) -> int:
    need(error_node, result)
    code, node = _graphs.update(_graphs.executable(executable), _graphs.graph(graph))
    put32(result, code)
    put64(error_node, node.handle if node is not None else 0)
    return 0 if code == w.UPDATED else codes.GRAPH_EXEC_UPDATE_FAILURE


_CAN_BE_DISABLED = (w.KERNEL, w.MEMCPY, w.MEMSET)


def hipGraphNodeSetEnabled(executable: int, node: int, enabled: int) -> int:
    found = _graphs.executable(executable).node(_graphs.node(node))
    if found.kind not in _CAN_BE_DISABLED:
        return codes.INVALID_VALUE
    found.enabled = bool(enabled)
    return 0


def hipGraphNodeGetEnabled(executable: int, node: int, enabled: int) -> int:
    need(enabled)
    found = _graphs.executable(executable).node(_graphs.node(node))
    if found.kind not in _CAN_BE_DISABLED:
        return codes.INVALID_VALUE
    put32(enabled, int(found.enabled))
    return 0


# Memory of graphs


def hipDeviceGetGraphMemAttribute(device: int, attribute: int, value: int) -> int:
    found = rt.device(device)
    need(value)
    used, reserved = _graphs.memory_in_use(found)
    values = (used, _graphs.high_bytes.get(device, 0), reserved, _graphs.high_reserved.get(device, 0))
    if not 0 <= attribute < len(values):
        return codes.INVALID_VALUE
    put64(value, values[attribute])
    return 0


def hipDeviceSetGraphMemAttribute(device: int, attribute: int, value: int) -> int:
    found = rt.device(device)
    need(value)
    if attribute not in (1, 3) or get64(value):  # high-water marks can be set back to zero
        return codes.INVALID_VALUE
    used, reserved = _graphs.memory_in_use(found)
    if attribute == 1:
        _graphs.high_bytes[device] = used
    else:
        _graphs.high_reserved[device] = reserved
    return 0


def hipDeviceGraphMemTrim(device: int) -> int:
    rt.device(device)
    return 0  # what no graph holds any more is given back at once


# User objects


def hipUserObjectCreate(result: int, pointer: int, destroy: int, count: int, flags: int) -> int:
    need(result, destroy)
    if flags != 1 or not 0 < count <= _MOST:  # hipUserObjectNoDestructorSync
        return codes.INVALID_VALUE
    put64(result, _graphs.create_object(pointer, destroy, count).handle)
    return 0


def hipUserObjectRetain(handle: int, count: int) -> int:
    if not handle or not 0 < count <= _MOST:
        return codes.INVALID_VALUE
    found = _graphs.object(handle)
    if found is not None:  # HIP answers success to one that is gone
        found.count += count
    return 0


def hipUserObjectRelease(handle: int, count: int) -> int:
    if not handle or not 0 < count <= _MOST:
        return codes.INVALID_VALUE
    found = _graphs.object(handle)
    if found is not None and count <= found.count:
        _graphs.release(found, count)
    return 0


def hipGraphRetainUserObject(graph: int, handle: int, count: int, flags: int) -> int:
    if not handle or not 0 < count <= _MOST or flags not in (0, 1):  # hipGraphUserObjectMove
        return codes.INVALID_VALUE
    into, found = _graphs.graph(graph), _graphs.object(handle)
    if found is not None:
        _graphs.retain(into, found, count, moved=flags == 1)
    return 0


def hipGraphReleaseUserObject(graph: int, handle: int, count: int) -> int:
    if not handle or not 0 < count <= _MOST:
        return codes.INVALID_VALUE
    of, found = _graphs.graph(graph), _graphs.object(handle)
    if found is not None:
        _graphs.release_from(of, found, count)
    return 0
